// SPDX-License-Identifier: Apache-2.0
//
// Einstein summation, as nested loops.

#include "EinsumLoops.h"
#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

/// Elements that are summed at once.
static constexpr int64_t kRun = 64;

static Status inferEinsum(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1, SIZE_MAX));
  std::vector<TensorType> operands;
  for (size_t i = 0; i < context.operandCount(); ++i) {
    if (!context.isPresent(i))
      return DLC_INVALID("operand %zu: expected a tensor, got none", i);
    DLC_RETURN_IF_ERROR(checkType(context, i, numericTypes));
    DLC_RETURN_IF_ERROR(checkSameType(context, 0, i));
    operands.push_back(context.operand(i).type);
  }
  EinsumLoops loops;
  DLC_RETURN_IF_ERROR(
      readEinsum(context.attrs().getString("equation"), operands, loops));
  if (!loops.hasResultRank)
    return addResult(results, unrankedOf(operands[0].type));
  TensorType type{operands[0].type, {}};
  for (size_t slot : loops.result)
    type.shape.push_back(loops.extents[slot]);
  return addResult(results, std::move(type));
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

namespace {

/// Counts through some of the loops and keeps the offset into each operand.
class Counter {
public:
  void add(int64_t extent, std::vector<int64_t> strides) {
    extents.push_back(extent);
    steps.push_back(std::move(strides));
    index.push_back(0);
  }

  int64_t size() const {
    int64_t product = 1;
    for (int64_t extent : extents)
      product *= extent;
    return product;
  }

  /// Goes to element `at`; offsets are 0 where this is at the first one.
  void start(int64_t at, std::vector<int64_t> &offsets) {
    for (size_t d = extents.size(); d-- > 0; at /= extents[d]) {
      index[d] = at % extents[d];
      for (size_t k = 0; k < offsets.size(); ++k)
        offsets[k] += steps[d][k] * index[d];
    }
  }

  bool isEmpty() const {
    return std::find(extents.begin(), extents.end(), 0) != extents.end();
  }

  /// Advances; false after the last element, with everything back at 0.
  bool next(std::vector<int64_t> &offsets) {
    for (size_t d = extents.size(); d-- > 0;) {
      bool wraps = ++index[d] == extents[d];
      for (size_t k = 0; k < offsets.size(); ++k)
        offsets[k] += steps[d][k] * (wraps ? 1 - extents[d] : 1);
      if (!wraps)
        return true;
      index[d] = 0;
    }
    return false;
  }

private:
  std::vector<int64_t> extents, index;
  std::vector<std::vector<int64_t>> steps;
};

} // namespace

/// How far a step of the loop `slot` moves in an operand: repeated labels add
/// up, dimensions of extent 1 stay.
static int64_t strideOf(const TensorType &type, std::span<const size_t> slots,
                        size_t slot) {
  int64_t stride = 0, step = 1;
  for (size_t i = slots.size(); i-- > 0; step *= type.shape[i])
    if (slots[i] == slot && type.shape[i] != 1)
      stride += step;
  return stride;
}

namespace {

/// The loops of a computation. Offsets are those into all operands and, the
/// last one, into the result.
struct Nest {
  Counter kept, summed;
  /// The longest loop that is kept is the innermost one.
  int64_t extent = 1;
  std::vector<int64_t> steps;
};

} // namespace

static std::vector<int64_t> stepsOf(const EinsumLoops &loops,
                                    std::span<const TensorType> operands,
                                    size_t slot) {
  std::vector<int64_t> steps;
  for (size_t i = 0; i < operands.size(); ++i)
    steps.push_back(strideOf(operands[i], loops.operands[i], slot));
  int64_t step = 0, size = 1;
  for (size_t i = loops.result.size(); i-- > 0;) {
    if (loops.result[i] == slot)
      step = size;
    size *= loops.extents[loops.result[i]];
  }
  steps.push_back(step);
  return steps;
}

static Nest makeNest(const EinsumLoops &loops,
                     std::span<const TensorType> operands) {
  Nest nest;
  nest.steps.assign(operands.size() + 1, 0);
  const auto longest = std::ranges::max_element(
      loops.result, {}, [&](size_t slot) { return loops.extents[slot]; });
  for (auto slot = loops.result.begin(); slot != loops.result.end(); ++slot)
    if (slot != longest)
      nest.kept.add(loops.extents[*slot], stepsOf(loops, operands, *slot));
  if (longest != loops.result.end()) {
    nest.extent = loops.extents[*longest];
    nest.steps = stepsOf(loops, operands, *longest);
  }
  for (size_t slot = 0; slot < EinsumLoops::slotCount; ++slot)
    if (loops.extents[slot] != EinsumLoops::unused &&
        std::ranges::find(loops.result, slot) == loops.result.end())
      nest.summed.add(loops.extents[slot], stepsOf(loops, operands, slot));
  return nest;
}

/// `count` elements along the innermost loop, from `offsets` on.
template <typename E>
static void sumRun(ComputeContext &context, Nest &nest,
                   std::vector<int64_t> offsets, int64_t count) {
  using Acc = Accumulator<E>;
  const size_t operands = context.inputCount();
  Acc sums[kRun] = {}, products[kRun];
  const bool isEmpty = nest.summed.isEmpty();
  for (bool more = !isEmpty; more; more = nest.summed.next(offsets)) {
    for (size_t k = 0; k < operands; ++k) {
      const void *data = context.input(k).data;
      for (int64_t i = 0; i < count; ++i) {
        const Acc value = static_cast<Acc>(
            loadElement<E>(data, offsets[k] + i * nest.steps[k]));
        products[i] = k ? products[i] * value : value;
      }
    }
    for (int64_t i = 0; i < count; ++i)
      sums[i] += products[i];
  }
  for (int64_t i = 0; i < count; ++i)
    storeElement<E>(context.output(0).data,
                    offsets[operands] + i * nest.steps[operands], sums[i]);
}

/// Of elements [begin, end) of the loops that are kept but the innermost one.
template <typename E>
static void sumProducts(ComputeContext &context, Nest nest, int64_t begin,
                        int64_t end) {
  std::vector<int64_t> offsets(context.inputCount() + 1);
  nest.kept.start(begin, offsets);
  for (int64_t at = begin; at < end; ++at) {
    std::vector<int64_t> from = offsets;
    for (int64_t first = 0; first < nest.extent; first += kRun) {
      sumRun<E>(context, nest, from, std::min(kRun, nest.extent - first));
      for (size_t k = 0; k < from.size(); ++k)
        from[k] += kRun * nest.steps[k];
    }
    nest.kept.next(offsets);
  }
}

static Status computeEinsum(ComputeContext &context) {
  std::vector<TensorType> operands;
  for (size_t i = 0; i < context.inputCount(); ++i) {
    std::span<const int64_t> shape = context.input(i).shape;
    operands.push_back({context.input(i).type, {shape.begin(), shape.end()}});
  }
  EinsumLoops loops;
  DLC_RETURN_IF_ERROR(
      readEinsum(context.attrs().getString("equation"), operands, loops));
  if (context.output(0).size() == 0)
    return Status::ok();
  Nest nest = makeNest(loops, operands);
  return dispatch(context.output(0).type, [&](auto element) {
    context.inParts(nest.kept.size(),
                    static_cast<double>(nest.summed.size()) *
                        static_cast<double>(nest.extent) * 2,
                    [&](int64_t begin, int64_t end) {
                      sumProducts<decltype(element)>(context, nest, begin, end);
                    });
    return Status::ok();
  });
}

std::span<const Operation> ref::einsumOperations() {
  static constexpr Operation operations[] = {
      {"einsum", inferEinsum, computeEinsum},
  };
  return operations;
}
