// SPDX-License-Identifier: Apache-2.0
//
// cudnn.conv_transpose and cudnn.conv_weight_gradient: the gradients of a
// convolution's image and of its weights. Where a window reaches beyond the
// image, cuDNN multiplies zeros by the other factor, which has no term there by
// definition: that has to be finite.

#include "ConvGradients.h"

#include "ConvCall.h"
#include "Operands.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cuda;

/// The operand that is multiplied by zeros, if any are.
static constexpr size_t kFactor = 1;

static Status refuseEpilogue(const KernelCall &call) {
  if (!hasBias(call) && !hasResidual(call) &&
      call.attributes.getString("activation").empty())
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected nothing behind a gradient");
}

//===----------------------------------------------------------------------===//
// Of the image
//===----------------------------------------------------------------------===//

static Status planTranspose(const KernelCall &call, ConvPlan &plan) {
  DLC_RETURN_IF_ERROR(checkOperands(call, {5, 5}, {4, 5}, {5, 5}));
  DLC_RETURN_IF_ERROR(refuseEpilogue(call));
  plan.result = ConvResult::X;
  DLC_RETURN_IF_ERROR(readConvAttributes(call, plan));
  DLC_RETURN_IF_ERROR(
      readConvImage(call, call.inputs[0], plan.y, plan.isPlainY));
  DLC_RETURN_IF_ERROR(
      readConvImage(call, call.outputs[0], plan.x, plan.isPlainX));
  DLC_RETURN_IF_ERROR(readConvWeights(call, plan));
  return checkConvShapes(call, plan);
}

bool cuda::isConvTransposeSupported(const KernelCall &call, std::string &why) {
  ConvPlan plan;
  Status status = planTranspose(call, plan);
  why = status.message();
  return status.isOk();
}

/// With several taps elements at the edge miss some, with strides all do; what
/// cuDNN makes of these is its own business.
bool cuda::convTransposeWantsFinite(const KernelCall &call, size_t input) {
  constexpr std::array<int64_t, 2> one = {1, 1};
  ConvPlan plan;
  return input == kFactor && planTranspose(call, plan).isOk() &&
         (isPadded(plan) || plan.strides != one || plan.w[2] * plan.w[3] != 1);
}

KernelCost cuda::convTransposeCost(const KernelCall &call) {
  ConvPlan plan;
  return planTranspose(call, plan).isOk() ? costOf(call, plan) : KernelCost();
}

Status cuda::prepareConvTranspose(Device &device, const KernelCall &call,
                                  std::shared_ptr<void> &library,
                                  std::unique_ptr<DeviceCall> &prepared) {
  ConvPlan plan;
  DLC_RETURN_IF_ERROR(planTranspose(call, plan));
  return prepareConvPlan(device, call, plan, library, prepared);
}

//===----------------------------------------------------------------------===//
// Of the weights
//===----------------------------------------------------------------------===//

/// `g` says how many windows there are, so how far the last ones reach.
static void setPadsEnd(ConvPlan &plan) {
  for (size_t i = 0; i != 2; ++i) {
    const int64_t reach = (plan.y[2 + i] - 1) * plan.strides[i] +
                          (plan.w[2 + i] - 1) * plan.dilations[i] + 1;
    plan.padsEnd[i] =
        std::max<int64_t>(0, reach - plan.padsBegin[i] - plan.x[2 + i]);
  }
}

static Status planWeightGradient(const KernelCall &call, ConvPlan &plan) {
  DLC_RETURN_IF_ERROR(checkOperands(call, {4, 5}, {4, 5}, {4, 4}));
  DLC_RETURN_IF_ERROR(refuseEpilogue(call));
  plan.result = ConvResult::W;
  DLC_RETURN_IF_ERROR(readConvAttributes(call, plan));
  DLC_RETURN_IF_ERROR(
      readConvImage(call, call.inputs[0], plan.x, plan.isPlainX));
  DLC_RETURN_IF_ERROR(
      readConvImage(call, call.inputs[1], plan.y, plan.isPlainY));
  DLC_RETURN_IF_ERROR(
      readConvImage(call, call.outputs[0], plan.w, plan.isPlainW));
  if (call.attributes.getInt("w_channels_last"))
    return invalidShapes(call, "weights without channels last");
  // Of one tap the orders are the same, and cuDNN takes this one as it is.
  plan.isPlainW = plan.w[2] * plan.w[3] != 1;
  setPadsEnd(plan);
  return checkConvShapes(call, plan);
}

bool cuda::isConvWeightGradientSupported(const KernelCall &call,
                                         std::string &why) {
  ConvPlan plan;
  Status status = planWeightGradient(call, plan);
  why = status.message();
  return status.isOk();
}

bool cuda::convWeightGradientWantsFinite(const KernelCall &call, size_t input) {
  ConvPlan plan;
  return input == kFactor && planWeightGradient(call, plan).isOk() &&
         isPadded(plan);
}

KernelCost cuda::convWeightGradientCost(const KernelCall &call) {
  ConvPlan plan;
  return planWeightGradient(call, plan).isOk() ? costOf(call, plan)
                                               : KernelCost();
}

Status cuda::prepareConvWeightGradient(Device &device, const KernelCall &call,
                                       std::shared_ptr<void> &library,
                                       std::unique_ptr<DeviceCall> &prepared) {
  ConvPlan plan;
  DLC_RETURN_IF_ERROR(planWeightGradient(call, plan));
  return prepareConvPlan(device, call, plan, library, prepared);
}

//===----------------------------------------------------------------------===//
// Of both
//===----------------------------------------------------------------------===//

/// Room for sums and, as its planner asks for an A100, for a copy of what it
/// wants in another order: floats, and what has no channels last.
size_t cuda::convGradientWorkspaceBytes(const KernelCall &call) {
  uint64_t bytes = (uint64_t(16) << 20) + mostSkipped;
  auto add = [&](const TensorType &tensor) {
    if (tensor.type == DLC_F32 || tensor.shape.size() == 4)
      bytes += bytesOf({{&tensor, 1}, {}, call.attributes});
  };
  std::ranges::for_each(call.inputs, add);
  std::ranges::for_each(call.outputs.first(1), add);
  return size_t(bytes);
}

/// There are no times of them.
bool cuda::isConvGradientFaster(const KernelCall &) { return false; }
