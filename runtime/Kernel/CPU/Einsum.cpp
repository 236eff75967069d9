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
  Slots ofLeft, summed;
  for (size_t slot : plan.left.slots) {
    const bool isKept = has(plan.result, slot);
    if (!isKept && !has(plan.right.slots, slot))
      return refuse(call, "sums along dimensions of both operands");
    if (!isKept)
      summed.push_back(slot);
  }
  for (size_t slot : plan.right.slots)
    if (!has(plan.result, slot) && !has(plan.left.slots, slot))
      return refuse(call, "sums along dimensions of both operands");
  if (summed.empty())
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
  Slots inRight;
  for (size_t slot : plan.right.slots)
    if (has(summed, slot))
      inRight.push_back(slot);
  Slots inLeft;
  for (size_t slot : plan.left.slots)
    if (has(summed, slot))
      inLeft.push_back(slot);
  const int64_t copied = chooseForms(inLeft, plan);
  if (chooseForms(inRight, plan) >= copied)
    chooseForms(inLeft, plan);
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

namespace {

/// The product of matrices in the middle.
struct Product {
  explicit Product(const EinsumPlan &plan) {
    const int64_t batch = plan.countOf(plan.batch);
    const int64_t rows = plan.countOf(plan.rows);
    const int64_t columns = plan.countOf(plan.columns);
    const int64_t terms = plan.countOf(plan.summed);
    auto matrix = [&](int64_t height, int64_t width, bool isTransposed) {
      if (isTransposed)
        std::swap(height, width);
      return TensorType{DLC_F32, {batch, height, width}};
    };
    inputs[0] = matrix(rows, terms, plan.left.isTransposed);
    inputs[1] = matrix(terms, columns, plan.right.isTransposed);
    output = matrix(rows, columns, false);
    if (plan.left.isTransposed)
      attributes.set("trans_a", int64_t(1));
    if (plan.right.isTransposed)
      attributes.set("trans_b", int64_t(1));
  }
  KernelCall view() const { return {inputs, {&output, 1}, attributes}; }
  TensorType inputs[2], output;
  Attributes attributes;
};

} // namespace

/// The steps of a plan, without the kernel of the product where it is null.
static Steps stepsOf(const EinsumPlan &plan, const Product &product,
                     std::unique_ptr<PreparedKernel> kernel) {
  Steps steps(/*inputs=*/2);
  const Factor *factors[2] = {&plan.left, &plan.right};
  StepOperand operands[2];
  for (size_t i = 0; i < 2; ++i) {
    operands[i] = {factors[i]->input};
    if (!factors[i]->isCopied)
      continue;
    operands[i] = steps.reserve(bytesOfTensor(product.inputs[i]));
    steps.addCopy(copyOf(plan, factors[i]->slots, factors[i]->wanted),
                  {factors[i]->input}, operands[i]);
  }
  const StepOperand result = plan.copiesResult
                                 ? steps.reserve(bytesOfTensor(product.output))
                                 : steps.result;
  if (kernel)
    steps.add(std::move(kernel), {operands[0], operands[1], result});
  if (plan.copiesResult)
    steps.addCopy(copyOf(plan, joined({plan.batch, plan.rows, plan.columns}),
                         plan.result),
                  result, steps.result);
  return steps;
}

bool cpu::isEinsumSupported(const KernelCall &call, std::string &why) {
  EinsumPlan plan;
  Status status = planEinsum(call, plan);
  why = status.message();
  return status.isOk() && isMatmulSupported(Product(plan).view(), why);
}

size_t cpu::einsumWorkspaceBytes(const KernelCall &call) {
  EinsumPlan plan;
  if (!planEinsum(call, plan).isOk())
    return 0;
  return stepsOf(plan, Product(plan), nullptr).workspaceBytes();
}

Status cpu::prepareEinsum(const KernelCall &call, Isa isa,
                          std::unique_ptr<PreparedKernel> &prepared) {
  EinsumPlan plan;
  DLC_RETURN_IF_ERROR(planEinsum(call, plan));
  const Product product(plan);
  std::unique_ptr<PreparedKernel> kernel;
  DLC_RETURN_IF_ERROR(prepareMatmul(product.view(), isa, kernel));
  Steps steps = stepsOf(plan, product, std::move(kernel));
  DLC_RETURN_IF_ERROR(checkWorkspace(call, steps.workspaceBytes()));
  prepared = std::move(steps).finish();
  return Status::ok();
}

KernelCost cpu::einsumCost(const KernelCall &call) {
  EinsumPlan plan;
  if (!planEinsum(call, plan).isOk())
    return {};
  KernelCost cost = matmulCost(Product(plan).view());
  cost.bytes += 2 * einsumWorkspaceBytes(call);
  return cost;
}

bool cpu::einsumFromOperation(std::string_view, const KernelCall &call,
                              Attributes &attributes) {
  attributes.set("equation",
                 std::string(call.attributes.getString("equation")));
  return true;
}
