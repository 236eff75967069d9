// SPDX-License-Identifier: Apache-2.0

#include "Einsum.h"

#include "../Reference/EinsumLoops.h"
#include "Check.h"
#include "Matmul.h"
#include "Steps.h"

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

namespace {

/// The loops of some dimensions, in an order.
using Slots = std::vector<size_t>;

/// A factor of the product, with the dimensions that have several elements, as
/// they lie in memory.
struct Factor {
  size_t input;
  Slots slots;
  bool isTransposed = false; ///< As the product is told.
  bool isCopied = false;     ///< To the order `wanted` before.
  Slots wanted = {};
};

/// result[batch][rows][columns] = sum of left[batch][rows][summed] *
/// right[batch][summed][columns] over `summed`.
struct EinsumPlan {
  ref::EinsumLoops loops;
  Slots batch, rows, columns, summed;
  Factor left, right;
  Slots result;
  bool copiesResult = false;

  int64_t countOf(const Slots &slots) const {
    int64_t count = 1; // No overflow: that of a tensor's elements.
    for (size_t slot : slots)
      count *= loops.extents[slot];
    return count;
  }
};

} // namespace

static Slots joined(std::initializer_list<Slots> parts) {
  Slots all;
  for (const Slots &part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

static bool has(const Slots &slots, size_t slot) {
  return std::ranges::find(slots, slot) != slots.end();
}

static Status refuse(const KernelCall &call, const char *expected) {
  return makeError(
      StatusCode::InvalidArgument, "expected %s, got \"%.*s\" of %s and %s",
      expected, int(call.attributes.getString("equation").size()),
      call.attributes.getString("equation").data(),
      toString(call.inputs[0]).c_str(), toString(call.inputs[1]).c_str());
}

/// Dimensions of `shape` with several elements. Fails where a loop has more
/// elements than its dimension, or comes twice.
static bool readSlots(const ref::EinsumLoops &loops, const Slots &all,
                      const std::vector<int64_t> &shape, Slots &slots) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (shape[i] != loops.extents[all[i]] || has(slots, all[i]))
      return false;
    if (shape[i] != 1)
      slots.push_back(all[i]);
  }
  return true;
}

/// Dimensions of a factor that the result does not have. Fails where the other
/// factor does not have one of them.
static bool readSummed(const Factor &factor, const Factor &other,
                       const Slots &result, Slots &summed) {
  for (size_t slot : factor.slots)
    if (!has(result, slot))
      summed.push_back(slot);
  return std::ranges::all_of(
      summed, [&](size_t slot) { return has(other.slots, slot); });
}

/// How a factor of the dimensions `outer`, `first` and `second` is given to the
/// product.
static void chooseForm(const Slots &outer, const Slots &first,
                       const Slots &second, Factor &factor) {
  factor.wanted = joined({outer, first, second});
  factor.isTransposed = factor.slots != factor.wanted &&
                        factor.slots == joined({outer, second, first});
  factor.isCopied = !factor.isTransposed && factor.slots != factor.wanted;
}

/// Elements that are copied where sums go along `summed`.
static int64_t chooseForms(const Slots &summed, EinsumPlan &plan) {
  plan.summed = summed;
  chooseForm(plan.batch, plan.rows, summed, plan.left);
  chooseForm(plan.batch, summed, plan.columns, plan.right);
  return (plan.left.isCopied ? plan.countOf(plan.left.slots) : 0) +
         (plan.right.isCopied ? plan.countOf(plan.right.slots) : 0);
}

static Status planEinsum(const KernelCall &call, EinsumPlan &plan) {
  DLC_RETURN_IF_ERROR(
      checkAttributes(call.attributes, {{"equation", AttributeKind::String}}));
  if (call.inputs.size() != 2 || call.outputs.empty())
    return makeError(StatusCode::InvalidArgument,
                     "expected two inputs and an output, got %zu and %zu",
                     call.inputs.size(), call.outputs.size());
  DLC_RETURN_IF_ERROR(
      checkTensor(call.inputs[0], DLC_F32, "a", 0, DLC_MAX_RANK));
  DLC_RETURN_IF_ERROR(
      checkTensor(call.inputs[1], DLC_F32, "b", 0, DLC_MAX_RANK));
  DLC_RETURN_IF_ERROR(
      checkTensor(call.outputs[0], DLC_F32, "y", 0, DLC_MAX_RANK));
  DLC_RETURN_IF_ERROR(ref::readEinsum(call.attributes.getString("equation"),
                                      call.inputs, plan.loops));
  const ref::EinsumLoops &loops = plan.loops;
  plan.left.input = 0;
  plan.right.input = 1;
  if (!loops.hasResultRank ||
      loops.result.size() != call.outputs[0].shape.size() ||
      !readSlots(loops, loops.operands[0], call.inputs[0].shape,
                 plan.left.slots) ||
      !readSlots(loops, loops.operands[1], call.inputs[1].shape,
                 plan.right.slots) ||
      !readSlots(loops, loops.result, call.outputs[0].shape, plan.result))
    return refuse(call, "operands that do not broadcast, and no diagonals");
  // In the order of each factor.
  Slots summed[2];
  if (!readSummed(plan.left, plan.right, plan.result, summed[0]) ||
      !readSummed(plan.right, plan.left, plan.result, summed[1]))
    return refuse(call, "sums along dimensions of both operands");
  if (summed[0].empty())
    return refuse(call, "a sum");
  for (size_t slot : plan.result) {
    const bool isOfLeft = has(plan.left.slots, slot);
    (isOfLeft && has(plan.right.slots, slot) ? plan.batch
     : isOfLeft                              ? plan.rows
                                             : plan.columns)
        .push_back(slot);
  }
  // The factor whose dimensions come first in the result is on the left.
  if (plan.result == joined({plan.batch, plan.columns, plan.rows})) {
    std::swap(plan.left, plan.right);
    std::swap(plan.rows, plan.columns);
  }
  plan.copiesResult =
      plan.result != joined({plan.batch, plan.rows, plan.columns});
  const int64_t copied = chooseForms(summed[0], plan);
  if (chooseForms(summed[1], plan) >= copied)
    chooseForms(summed[0], plan);
  return Status::ok();
}

/// A copy between tensors of the same dimensions in two orders, both dense.
static ref::ElementCopy copyOf(const EinsumPlan &plan, const Slots &source,
                               const Slots &target) {
  auto shapeOf = [&](const Slots &slots) {
    std::vector<int64_t> shape;
    for (size_t slot : slots)
      shape.push_back(plan.loops.extents[slot]);
    return shape;
  };
  const std::vector<int64_t> shape = shapeOf(target);
  const ref::Walk dense = ref::rowMajorWalk(shapeOf(source));
  ref::Walk from;
  for (size_t slot : target)
    from.strides.push_back(
        dense.strides[std::ranges::find(source, slot) - source.begin()]);
  return {ref::rowMajorWalk(shape), from, shape, sizeof(float)};
}

/// The product of matrices in the middle.
static StepCall productOf(const EinsumPlan &plan) {
  const int64_t batch = plan.countOf(plan.batch);
  const int64_t rows = plan.countOf(plan.rows);
  const int64_t columns = plan.countOf(plan.columns);
  const int64_t terms = plan.countOf(plan.summed);
  auto matrix = [&](int64_t height, int64_t width, bool isTransposed) {
    if (isTransposed)
      std::swap(height, width);
    return TensorType{DLC_F32, {batch, height, width}};
  };
  StepCall product;
  product.inputs = {matrix(rows, terms, plan.left.isTransposed),
                    matrix(terms, columns, plan.right.isTransposed)};
  product.outputs = {matrix(rows, columns, false)};
  if (plan.left.isTransposed)
    product.attributes.set("trans_a", int64_t(1));
  if (plan.right.isTransposed)
    product.attributes.set("trans_b", int64_t(1));
  return product;
}

static Status addEinsumSteps(const KernelCall &call, Steps &steps) {
  EinsumPlan plan;
  DLC_RETURN_IF_ERROR(planEinsum(call, plan));
  const StepCall product = productOf(plan);
  auto operandOf = [&](const Factor &factor, const TensorType &type) {
    if (!factor.isCopied)
      return StepOperand{factor.input};
    const StepOperand place = steps.reserve(bytesOfTensor(type));
    steps.addCopy(copyOf(plan, factor.slots, factor.wanted), {factor.input},
                  place);
    return place;
  };
  const StepOperand left = operandOf(plan.left, product.inputs[0]);
  const StepOperand right = operandOf(plan.right, product.inputs[1]);
  if (!plan.copiesResult)
    return steps.addCall(product, {left, right, steps.result});
  const StepOperand result = steps.reserve(bytesOfTensor(product.outputs[0]));
  DLC_RETURN_IF_ERROR(steps.addCall(product, {left, right, result}));
  steps.addCopy(
      copyOf(plan, joined({plan.batch, plan.rows, plan.columns}), plan.result),
      result, steps.result);
  return Status::ok();
}

bool cpu::isEinsumSupported(const KernelCall &call, std::string &why) {
  EinsumPlan plan;
  Status status = planEinsum(call, plan);
  why = status.message();
  return status.isOk() && isMatmulSupported(productOf(plan).view(), why);
}

size_t cpu::einsumWorkspaceBytes(const KernelCall &call) {
  return workspaceOfSteps(call, addEinsumSteps);
}

Status cpu::prepareEinsum(const KernelCall &call, Isa isa,
                          std::unique_ptr<PreparedKernel> &prepared) {
  return prepareSteps(call, addEinsumSteps, prepareMatmul, isa, prepared);
}

KernelCost cpu::einsumCost(const KernelCall &call) {
  EinsumPlan plan;
  if (!planEinsum(call, plan).isOk())
    return {};
  KernelCost cost = matmulCost(productOf(plan).view());
  cost.bytes += 2 * einsumWorkspaceBytes(call);
  return cost;
}

bool cpu::einsumFromOperation(std::string_view, const KernelCall &call,
                              ConstantOperands, Attributes &attributes) {
  attributes.set("equation",
                 std::string(call.attributes.getString("equation")));
  return true;
}
