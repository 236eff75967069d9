// SPDX-License-Identifier: Apache-2.0
//
// Einstein summation: "bij,bjk->bik", with ellipses, repeated labels
// (diagonals) and implicit results, as in NumPy.

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

// Every loop has a slot: one for each letter, in ASCII order, then one for
// each dimension an ellipsis may stand for, aligned at the right.
static constexpr size_t letterSlots = 52;
static constexpr size_t slotCount = letterSlots + DLC_MAX_RANK;
static constexpr int64_t unusedSlot = -2;

/// Elements that are summed at once.
static constexpr int64_t kRun = 64;

namespace {

/// The labels of one tensor: slots of letters, with an ellipsis before
/// labels[ellipsisAt], if there is one.
struct Term {
  std::vector<size_t> labels;
  bool hasEllipsis = false;
  size_t ellipsisAt = 0;
};

struct Equation {
  std::vector<Term> operands;
  Term result;
};

/// The loops: extents by slot (unusedSlot, kUnknownDim or known), and the
/// slot of each dimension of each operand and of the result.
struct Loops {
  std::array<int64_t, slotCount> extents;
  std::vector<std::vector<size_t>> operands;
  std::vector<size_t> result;
  bool hasResultRank = true;
};

} // namespace

static Status parseTerm(std::string_view text, Term &term) {
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ' ')
      continue;
    if (c >= 'A' && c <= 'Z') {
      term.labels.push_back(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      term.labels.push_back(26 + (c - 'a'));
    } else if (text.substr(i, 3) == "..." && !term.hasEllipsis) {
      term.hasEllipsis = true;
      term.ellipsisAt = term.labels.size();
      i += 2;
    } else {
      return DLC_INVALID("expected letters and at most one ellipsis in a term "
                         "of the equation, got \"%s\"",
                         std::string(text).c_str());
    }
  }
  return Status::ok();
}

static size_t countLabel(const Equation &equation, size_t label) {
  size_t count = 0;
  for (const Term &term : equation.operands)
    count += std::count(term.labels.begin(), term.labels.end(), label);
  return count;
}

/// The dimensions of the ellipses, then the labels that come once.
static void deduceResult(Equation &equation) {
  equation.result.hasEllipsis = true;
  for (size_t label = 0; label < letterSlots; ++label)
    if (countLabel(equation, label) == 1)
      equation.result.labels.push_back(label);
}

static Status checkResult(const Equation &equation) {
  const std::vector<size_t> &labels = equation.result.labels;
  for (size_t label : labels) {
    if (countLabel(equation, label) == 0 ||
        std::count(labels.begin(), labels.end(), label) > 1)
      return DLC_INVALID("expected distinct labels of operands after the "
                         "arrow of the equation, got others");
  }
  return Status::ok();
}

static Status parseEquation(std::string_view text, Equation &equation) {
  size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  for (bool more = true; more;) {
    size_t comma = left.find(',');
    more = comma != std::string_view::npos;
    DLC_RETURN_IF_ERROR(
        parseTerm(left.substr(0, comma), equation.operands.emplace_back()));
    left.remove_prefix(more ? comma + 1 : left.size());
  }
  if (arrow == std::string_view::npos) {
    deduceResult(equation);
    return Status::ok();
  }
  DLC_RETURN_IF_ERROR(parseTerm(text.substr(arrow + 2), equation.result));
  return checkResult(equation);
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

/// The slots of a term whose ellipsis stands for `ellipsisRank` dimensions.
static std::vector<size_t> slotsOf(const Term &term, size_t ellipsisRank) {
  std::vector<size_t> slots(term.labels.begin(), term.labels.end());
  for (size_t i = 0; term.hasEllipsis && i < ellipsisRank; ++i)
    slots.insert(slots.begin() + term.ellipsisAt + i,
                 slotCount - ellipsisRank + i);
  return slots;
}

static Status addOperand(const Term &term, const TensorType &type, size_t index,
                         Loops &loops, std::optional<size_t> &ellipsisRank) {
  if (!type.hasRank) {
    for (size_t slot : term.labels)
      loops.extents[slot] = std::max(loops.extents[slot], kUnknownDim);
    if (term.hasEllipsis)
      ellipsisRank.reset();
    return Status::ok();
  }
  size_t rank = type.shape.size(), labels = term.labels.size();
  if (rank < labels || (rank > labels && !term.hasEllipsis))
    return DLC_INVALID("operand %zu: expected rank %zu%s, got %zu", index,
                       labels, term.hasEllipsis ? " at least" : "", rank);
  if (term.hasEllipsis && ellipsisRank)
    ellipsisRank = std::max(*ellipsisRank, rank - labels);
  loops.operands[index] = slotsOf(term, rank - labels);
  for (size_t i = 0; i < rank; ++i) {
    int64_t &extent = loops.extents[loops.operands[index][i]];
    if (extent == unusedSlot)
      extent = type.shape[i];
    else if (!broadcastDim(extent, type.shape[i]))
      return DLC_INVALID("operand %zu: expected %" PRId64
                         " elements in dimension %zu, got %" PRId64,
                         index, extent, i, type.shape[i]);
  }
  return Status::ok();
}

static Status makeLoops(const Equation &equation,
                        std::span<const TensorType> operands, Loops &loops) {
  if (equation.operands.size() != operands.size())
    return DLC_INVALID("expected %zu operands for the equation, got %zu",
                       equation.operands.size(), operands.size());
  loops.extents.fill(unusedSlot);
  loops.operands.resize(operands.size());
  std::optional<size_t> ellipsisRank = 0;
  bool isKnown = true;
  for (size_t i = 0; i < operands.size(); ++i) {
    DLC_RETURN_IF_ERROR(
        addOperand(equation.operands[i], operands[i], i, loops, ellipsisRank));
    isKnown &= ellipsisRank.has_value();
  }
  loops.hasResultRank = isKnown || !equation.result.hasEllipsis;
  loops.result = slotsOf(equation.result, isKnown ? *ellipsisRank : 0);
  return Status::ok();
}

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
  Equation equation;
  Loops loops;
  DLC_RETURN_IF_ERROR(
      parseEquation(context.attrs().getString("equation"), equation));
  DLC_RETURN_IF_ERROR(makeLoops(equation, operands, loops));
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

static std::vector<int64_t>
stepsOf(const Loops &loops, std::span<const TensorType> operands, size_t slot) {
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

static Nest makeNest(const Loops &loops, std::span<const TensorType> operands) {
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
  for (size_t slot = 0; slot < slotCount; ++slot)
    if (loops.extents[slot] != unusedSlot &&
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

template <typename E>
static void sumProducts(ComputeContext &context, Nest &nest) {
  std::vector<int64_t> offsets(context.inputCount() + 1);
  do {
    std::vector<int64_t> from = offsets;
    for (int64_t first = 0; first < nest.extent; first += kRun) {
      sumRun<E>(context, nest, from, std::min(kRun, nest.extent - first));
      for (size_t k = 0; k < from.size(); ++k)
        from[k] += kRun * nest.steps[k];
    }
  } while (nest.kept.next(offsets));
}

static Status computeEinsum(ComputeContext &context) {
  std::vector<TensorType> operands;
  for (size_t i = 0; i < context.inputCount(); ++i) {
    std::span<const int64_t> shape = context.input(i).shape;
    operands.push_back({context.input(i).type, {shape.begin(), shape.end()}});
  }
  Equation equation;
  Loops loops;
  DLC_RETURN_IF_ERROR(
      parseEquation(context.attrs().getString("equation"), equation));
  DLC_RETURN_IF_ERROR(makeLoops(equation, operands, loops));
  if (context.output(0).size() == 0)
    return Status::ok();
  Nest nest = makeNest(loops, operands);
  return dispatch(context.output(0).type, [&](auto element) {
    sumProducts<decltype(element)>(context, nest);
    return Status::ok();
  });
}

std::span<const Operation> ref::einsumOperations() {
  static constexpr Operation operations[] = {
      {"einsum", inferEinsum, computeEinsum},
  };
  return operations;
}
