// SPDX-License-Identifier: Apache-2.0

#include "EinsumLoops.h"

#include "ShapeRule.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

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
  for (size_t label = 0; label < EinsumLoops::letterSlots; ++label)
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
                 EinsumLoops::slotCount - ellipsisRank + i);
  return slots;
}

static Status addOperand(const Term &term, const TensorType &type, size_t index,
                         EinsumLoops &loops,
                         std::optional<size_t> &ellipsisRank) {
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
    if (extent == EinsumLoops::unused)
      extent = type.shape[i];
    else if (!broadcastDim(extent, type.shape[i]))
      return DLC_INVALID("operand %zu: expected %" PRId64
                         " elements in dimension %zu, got %" PRId64,
                         index, extent, i, type.shape[i]);
  }
  return Status::ok();
}

Status ref::readEinsum(std::string_view text,
                       std::span<const TensorType> operands,
                       EinsumLoops &loops) {
  Equation equation;
  DLC_RETURN_IF_ERROR(parseEquation(text, equation));
  if (equation.operands.size() != operands.size())
    return DLC_INVALID("expected %zu operands for the equation, got %zu",
                       equation.operands.size(), operands.size());
  loops.extents.fill(EinsumLoops::unused);
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
