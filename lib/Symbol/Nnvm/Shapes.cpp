// SPDX-License-Identifier: Apache-2.0
//
// Shapes, parts and joins.

#include "Translation.h"

#include "dlc/runtime/Base/Names.h"

#include <algorithm>

using namespace dlc;
using namespace dlc::symbol;
using namespace dlc::symbol::nnvm;

//===-- Shapes ------------------------------------------------------------===//

/// Pad of MXNet, which leaves the first two of 4 or 5 dimensions alone.
static Attributes padAttributes(const Translation &t,
                                const std::vector<int64_t> &widths) {
  return {{"mode", "constant"},
          {"pad_width", toText(widths)},
          {"constant_value", textOf(t, "pad_value")}};
}

/// With dimensions in front of what has fewer.
static void padFew(Translation &t, std::vector<int64_t> widths) {
  size_t rank = widths.size() / 2, added = rank == 3 ? 2 : 4 - rank;
  Entry x = t.inputs[0];
  std::vector<int64_t> axes;
  for (size_t i = 0; i < added; ++i) {
    x = t.add("dim" + std::to_string(i), "expand_dims", {x}, {{"axis", "0"}});
    axes.push_back(static_cast<int64_t>(i));
  }
  widths.insert(widths.begin(), 2 * added, 0);
  Entry y = t.add("padded", "Pad", {x}, padAttributes(t, widths));
  t.finish("squeeze", {y}, {{"axis", toText(axes)}});
}

static void translatePad(Translation &t) {
  const std::string &text = t.p.getText("pad_width");
  std::optional<std::vector<int64_t>> widths = parsePairs(text, 0, kMaxExtent);
  if (!widths || widths->empty())
    return t.fail("parameter 'pad_width': expected pairs of numbers as ((1, "
                  "1), (0, 2)), got '" +
                  rt::toPrintable(text) + "'");
  size_t rank = widths->size() / 2;
  if (rank > 5)
    return t.unsupported("padding of more than 5 dimensions");
  if (rank < 4)
    return padFew(t, *widths);
  Entry x = t.inputs[0];
  std::vector<int64_t> first(widths->begin(), widths->begin() + 4);
  if (std::ranges::any_of(first, [](int64_t width) { return width != 0; })) {
    // The first two dimensions at the end, and back.
    std::vector<int64_t> there, back;
    for (size_t i = 0; i < rank; ++i) {
      there.push_back(static_cast<int64_t>((i + 2) % rank));
      back.push_back(static_cast<int64_t>((i + rank - 2) % rank));
    }
    first.insert(first.begin(), 2 * (rank - 2), 0);
    x = t.add("turned", "transpose", {x}, {{"axes", toText(there)}});
    x = t.add("first", "Pad", {x}, padAttributes(t, first));
    x = t.add("back", "transpose", {x}, {{"axes", toText(back)}});
    std::fill_n(widths->begin(), 4, 0);
  }
  t.finish("Pad", {x}, padAttributes(t, *widths));
}

static void translateConcatenate(Translation &t) {
  t.finish("Concat", t.inputs,
           {{"dim", textOf(t, "axis")},
            {"num_args", std::to_string(t.inputs.size())}});
}

/// A number of equal parts, or the places between them as a tuple, also of one.
static void translateSplit(Translation &t) {
  const std::string &given = t.p.getText("indices_or_sections");
  bool isCount = !given.empty() && given[0] >= '0' && given[0] <= '9';
  Parameter places =
      required("indices_or_sections", ParameterKind::Ints, "").atLeast(1);
  rt::Result<ParameterValue> value = parseValue(places, given);
  auto *indices =
      value.isOk() ? std::get_if<std::vector<int64_t>>(&*value) : nullptr;
  if (!indices || (isCount && indices->size() != 1) ||
      !std::ranges::is_sorted(*indices, std::less_equal()))
    return t.fail("parameter 'indices_or_sections': expected a number of parts "
                  "or rising places between them, got '" +
                  rt::toPrintable(given) + "'");
  if (isCount)
    return t.finish("SliceChannel", t.inputs,
                    {{"num_outputs", std::to_string(indices->front())},
                     {"axis", textOf(t, "axis")}});
  indices->insert(indices->begin(), 0);
  t.finish("_split_v2", t.inputs,
           {{"indices", toText(*indices)}, {"axis", textOf(t, "axis")}});
}

static void translateExpandDims(Translation &t) {
  Entry x = t.inputs[0];
  Attributes axis = {{"axis", textOf(t, "axis")}};
  for (int64_t i = 1; i < t.p.getInt("num_newaxis"); ++i)
    x = t.add("dim" + std::to_string(i), "expand_dims", {x}, axis);
  t.finish("expand_dims", {x}, axis);
}

static void translateSqueeze(Translation &t) {
  bool isAll = t.p.getInts("axis").empty();
  t.finish("squeeze", t.inputs, {{"axis", isAll ? "None" : textOf(t, "axis")}});
}

/// New dimensions at the axes, then as large as the other operand.
static void translateExpandLike(Translation &t) {
  std::vector<int64_t> axes = t.p.getInts("axis");
  if (t.p.getBool("exclude") || axes.empty())
    return t.unsupported("parameters without the axes that are new");
  std::ranges::sort(axes);
  Entry x = t.inputs[0];
  for (int64_t axis : axes)
    x = t.add("dim" + std::to_string(axis), "expand_dims", {x},
              {{"axis", std::to_string(axis)}});
  t.finish("broadcast_like", {x, t.inputs[1]});
}

static void translateFlip(Translation &t) {
  t.finish("reverse", t.inputs, {{"axis", textOf(t, "axis")}});
}

static void translateStridedSlice(Translation &t) {
  t.finish("slice", t.inputs,
           {{"begin", textOf(t, "begin")},
            {"end", textOf(t, "end")},
            {"step", textOf(t, "stride")}});
}

static void translateSliceLike(Translation &t) {
  t.finish("slice_like", t.inputs, {{"axes", textOf(t, "axis")}});
}

/// Without an axis of all elements in a row.
static void translateTake(Translation &t) {
  Entry x = t.inputs[0];
  if (t.p.isNone("axis"))
    x = t.add("flat", "Reshape", {x}, {{"shape", "(-1,)"}});
  t.finish("take", {x, t.inputs[1]},
           {{"axis", t.p.isNone("axis") ? "0" : textOf(t, "axis")}});
}

//===-- Declarations ------------------------------------------------------===//

std::vector<Rule> nnvm::shapeRules() {
  constexpr auto whole = ParameterKind::Int;
  constexpr auto list = ParameterKind::Ints;
  Rule concatenate = rule("concatenate", {optional("axis", whole, "1", "")},
                          translateConcatenate);
  concatenate.isVariadic = true;
  return {
      concatenate,
      rule("pad",
           {optional("pad_value", ParameterKind::Float, "0", ""),
            named("pad_width", ParameterKind::Text)},
           translatePad),
      rule("split",
           {named("indices_or_sections", ParameterKind::Text),
            optional("axis", whole, "1", "")},
           translateSplit),
      rule("expand_dims",
           {named("axis", whole),
            optional("num_newaxis", whole, "1", "").within(1, 32)},
           translateExpandDims),
      rule("squeeze", {optional("axis", list, "()", "")}, translateSqueeze),
      rule("expand_like", {ints("axis", "()", 0), flag("exclude", "False")},
           translateExpandLike, {{"input"}, {"shape_like"}}),
      rule("flip", {optional("axis", whole, "0", "")}, translateFlip),
      rule("strided_slice",
           {named("begin", list), named("end", list),
            optional("stride", list, "()", "")},
           translateStridedSlice),
      rule("slice_like", {optional("axis", list, "()", "")}, translateSliceLike,
           {{"data"}, {"slice_like"}}),
      rule("take", {optional("axis", whole, "None", "")}, translateTake,
           {{"data"}, {"indices"}}),
  };
}
