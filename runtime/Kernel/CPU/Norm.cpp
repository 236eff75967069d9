// SPDX-License-Identifier: Apache-2.0

#include "Norm.h"

#include "Check.h"
#include "Isa.h"
#include "PreparedPlan.h"
#include "Steps.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

enum Operands { X, Scale, Bias };

/// The operand has the trailing dimensions of x from `axis` on.
static Status checkTrailing(const KernelCall &call, size_t operand,
                            int64_t axis) {
  const TensorType &x = call.inputs[X], &own = call.inputs[operand];
  const char *role = operand == Scale ? "the scale" : "the bias";
  DLC_RETURN_IF_ERROR(checkTensor(own, DLC_F32, role, 0, DLC_MAX_RANK));
  auto leading = std::ranges::find_if(
      own.shape, [](int64_t extent) { return extent > 1; });
  const std::span<const int64_t> trailing(leading, own.shape.end());
  std::span<const int64_t> wanted(x.shape.begin() + axis, x.shape.end());
  while (!wanted.empty() && wanted.front() == 1)
    wanted = wanted.subspan(1);
  if (std::ranges::equal(trailing, wanted))
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected %s to have the dimensions of %s from %" PRId64
                   " on, got %s",
                   role, toString(x).c_str(), axis, toString(own).c_str());
}

static Status planTrailing(const KernelCall &call, NormPlan &plan) {
  const TensorType &x = call.inputs[X];
  int64_t axis = call.attributes.getInt("axis", -1);
  axis += axis < 0 ? x.rank() : 0;
  if (axis < 0 || axis >= x.rank())
    return makeError(StatusCode::InvalidArgument,
                     "expected an axis of %s, got %" PRId64,
                     toString(x).c_str(), call.attributes.getInt("axis", -1));
  DLC_RETURN_IF_ERROR(checkTrailing(call, Scale, axis));
  if (plan.hasBias)
    DLC_RETURN_IF_ERROR(checkTrailing(call, Bias, axis));
  plan.rows = plan.length = 1;
  for (int64_t d = 0; d < x.rank(); ++d)
    (d < axis ? plan.rows : plan.length) *= x.shape[d];
  return Status::ok();
}

static Status planGroups(const KernelCall &call, NormPlan &plan) {
  const TensorType &x = call.inputs[X];
  const int64_t groups = call.attributes.getInt("num_groups");
  if (groups < 1)
    return makeError(StatusCode::InvalidArgument,
                     "expected num_groups of at least 1, got %" PRId64, groups);
  if (x.rank() < 2 || x.shape[1] % groups != 0)
    return makeError(StatusCode::InvalidArgument,
                     "expected channels in %" PRId64 " equal groups, got %s",
                     groups, toString(x).c_str());
  for (size_t operand : {Scale, Bias}) {
    if (operand == Bias && !plan.hasBias)
      continue;
    const char *role = operand == Scale ? "the scale" : "the bias";
    DLC_RETURN_IF_ERROR(checkTensor(call.inputs[operand], DLC_F32, role, 1, 1));
    if (call.inputs[operand].shape[0] != x.shape[1])
      return makeError(StatusCode::InvalidArgument,
                       "expected %s to have %" PRId64
                       " numbers, one for each channel, got %s",
                       role, x.shape[1],
                       toString(call.inputs[operand]).c_str());
  }
  plan.channels = x.shape[1];
  plan.rows = x.shape[0] * groups;
  plan.inner = 1;
  for (int64_t d = 2; d < x.rank(); ++d)
    plan.inner *= x.shape[d];
  plan.length = x.shape[1] / groups * plan.inner;
  return Status::ok();
}

/// Rows that the first cache holds are read three times there by one tile;
/// others are shared in parts, of which moments are known before any is
/// written.
static void planParts(NormPlan &plan) {
  constexpr int64_t wanted = 4096, most = 1 << 14;
  plan.rowBlock = std::max<int64_t>(1, wanted / plan.length);
  plan.part = plan.length <= most ? plan.length : wanted;
  plan.parts = ceilDiv(plan.length, plan.part);
}

static Status planNorm(const KernelCall &call, NormPlan &plan) {
  DLC_RETURN_IF_ERROR(
      checkAttributes(call.attributes, {{"operation", AttributeKind::String},
                                        {"axis", AttributeKind::Int},
                                        {"epsilon", AttributeKind::Float},
                                        {"num_groups", AttributeKind::Int}}));
  if (call.inputs.size() < 2 || call.inputs.size() > 3 || call.outputs.empty())
    return makeError(StatusCode::InvalidArgument,
                     "expected two or three inputs and an output, got %zu and "
                     "%zu",
                     call.inputs.size(), call.outputs.size());
  for (const TensorType *type : {&call.inputs[X], &call.outputs[0]})
    DLC_RETURN_IF_ERROR(
        checkTensor(*type, DLC_F32, "x and y", 1, DLC_MAX_RANK));
  if (call.inputs[X].shape != call.outputs[0].shape)
    return makeError(StatusCode::InvalidArgument, "expected y to be %s, got %s",
                     toString(call.inputs[X]).c_str(),
                     toString(call.outputs[0]).c_str());
  DLC_RETURN_IF_ERROR(checkElements(call.inputs.first(1)));
  const std::string_view operation = call.attributes.getString("operation");
  const bool isOfGroups = operation == "group_norm";
  if (!isOfGroups && operation != "layer_norm" && operation != "rms_norm")
    return makeError(StatusCode::InvalidArgument,
                     "expected a known norm, got '%.*s'", int(operation.size()),
                     operation.data());
  plan.isCentered = operation != "rms_norm";
  plan.epsilon = call.attributes.getFloat("epsilon", 1e-5f);
  plan.hasBias =
      call.inputs.size() == 3 && call.inputs[Bias].type != DLC_INVALID_TYPE;
  plan.inputs = static_cast<uint8_t>(call.inputs.size());
  DLC_RETURN_IF_ERROR(isOfGroups ? planGroups(call, plan)
                                 : planTrailing(call, plan));
  planParts(plan);
  return Status::ok();
}

/// Those of parts, which lie in the workspace.
static size_t momentBytesOf(const NormPlan &plan) {
  return plan.parts == 1 ? 0
                         : static_cast<size_t>(plan.rows * plan.parts) *
                               sizeof(NormMoments);
}

bool cpu::isNormSupported(const KernelCall &call, std::string &why) {
  NormPlan plan = {};
  Status status = planNorm(call, plan);
  why = status.message();
  return status.isOk();
}

size_t cpu::normWorkspaceBytes(const KernelCall &call) {
  NormPlan plan = {};
  if (!planNorm(call, plan).isOk())
    return 0;
  Steps steps(call);
  steps.reserve(momentBytesOf(plan));
  return steps.workspaceBytes();
}

KernelCost cpu::normCost(const KernelCall &call) {
  NormPlan plan = {};
  if (!planNorm(call, plan).isOk())
    return {};
  constexpr uint64_t ofElement = 8;
  return {ofElement * static_cast<uint64_t>(plan.rows) *
              static_cast<uint64_t>(plan.length),
          bytesOf(call)};
}

bool cpu::normFromOperation(std::string_view operation, const KernelCall &call,
                            ConstantOperands, Attributes &attributes) {
  if (call.outputs.size() != 1)
    return false;
  attributes.set("operation", std::string(operation));
  attributes.set("epsilon", call.attributes.getFloat("epsilon", 1e-5f));
  if (operation == "group_norm")
    attributes.set("num_groups", call.attributes.getInt("num_groups"));
  else
    attributes.set("axis", call.attributes.getInt("axis", -1));
  return true;
}

Status cpu::prepareNorm(const KernelCall &call, Isa isa,
                        std::unique_ptr<PreparedKernel> &prepared) {
  using Prepared = PreparedPlan<NormPlan>;
  const RowKernels *kernels = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, kernels));
  NormPlan plan = {};
  DLC_RETURN_IF_ERROR(planNorm(call, plan));
  if (plan.parts == 1) {
    prepared = std::make_unique<Prepared>(
        plan, ceilDiv(plan.rows, plan.rowBlock), kernels->normRows);
    return Status::ok();
  }
  Steps steps(call);
  std::vector<StepOperand> operands;
  for (size_t i = 0; i < call.inputs.size(); ++i)
    operands.push_back({i});
  operands.push_back(steps.result);
  operands.push_back(steps.reserve(momentBytesOf(plan)));
  DLC_RETURN_IF_ERROR(checkWorkspace(call, steps.workspaceBytes()));
  for (Prepared::Function run : {kernels->normMoments, kernels->normParts})
    steps.add(std::make_unique<Prepared>(plan, plan.rows * plan.parts, run),
              operands);
  prepared = std::move(steps).finish();
  return Status::ok();
}
