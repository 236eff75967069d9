// SPDX-License-Identifier: Apache-2.0
//
// cudnn.conv: a convolution, and what is added behind it.

#include "Conv.h"

#include "ConvCall.h"
#include "Operands.h"

using namespace dlc::rt;
using namespace dlc::rt::cuda;

static Status planEpilogue(const KernelCall &call, ConvPlan &plan) {
  plan.bias = hasBias(call);
  plan.residual = hasResidual(call);
  std::string_view name = call.attributes.getString("activation");
  if (!name.empty() && name != "relu")
    return makeError(StatusCode::InvalidArgument,
                     "cuDNN has no activation '%.*s' there", int(name.size()),
                     name.data());
  plan.relu = name == "relu";
  if ((plan.relu || plan.residual) && !plan.bias)
    return makeError(StatusCode::InvalidArgument,
                     "expected a bias with a residual or an activation");
  return checkBiasAndResidual(call, call.outputs[0].shape.back());
}

/// All but the workspace.
static Status planConv(const KernelCall &call, ConvPlan &plan) {
  DLC_RETURN_IF_ERROR(checkOperands(call, {5, 5}, {4, 4}, {5, 5}));
  DLC_RETURN_IF_ERROR(readConvAttributes(call, plan));
  DLC_RETURN_IF_ERROR(
      readConvImage(call, call.inputs[0], plan.x, plan.isPlainX));
  DLC_RETURN_IF_ERROR(
      readConvImage(call, call.outputs[0], plan.y, plan.isPlainY));
  DLC_RETURN_IF_ERROR(readConvWeights(call, plan));
  DLC_RETURN_IF_ERROR(checkConvShapes(call, plan));
  return planEpilogue(call, plan);
}

bool cuda::isConvSupported(const KernelCall &call, std::string &why) {
  ConvPlan plan;
  Status status = planConv(call, plan);
  why = status.message();
  return status.isOk();
}

/// Those that cuDNN advises first want some bytes; others, the image in another
/// layout.
size_t cuda::convWorkspaceBytes(const KernelCall &) {
  return (size_t(16) << 20) + mostSkipped;
}

/// What lies outside of an image is zeros there, which are multiplied.
bool cuda::convWantsFinite(const KernelCall &call, size_t input) {
  ConvPlan plan;
  constexpr size_t weights = 1;
  return input == weights && planConv(call, plan).isOk() && isPadded(plan);
}

KernelCost cuda::convCost(const KernelCall &call) {
  ConvPlan plan;
  return planConv(call, plan).isOk() ? costOf(call, plan) : KernelCost();
}

/// On an H200 a ResNet-50 of short floats, whose convolutions are of 0.2 GF
/// each, takes 0.86 of the time that it takes with generated ones, and 0.59 for
/// 128 images; networks of smaller ones take as long or longer, as does one of
/// f32.
bool cuda::isConvFaster(const KernelCall &call) {
  constexpr uint64_t leastFlops = uint64_t(1) << 27;
  return call.inputs[0].type != DLC_F32 && convCost(call).flops >= leastFlops;
}

Status cuda::prepareConv(Device &device, const KernelCall &call,
                         std::shared_ptr<void> &library,
                         std::unique_ptr<DeviceCall> &prepared) {
  ConvPlan plan;
  DLC_RETURN_IF_ERROR(planConv(call, plan));
  return prepareConvPlan(device, call, plan, library, prepared);
}
