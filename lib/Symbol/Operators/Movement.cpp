// SPDX-License-Identifier: Apache-2.0
//
// Parts of tensors, tensors with more around them, and elements in other
// places.

#include "Rules.h"

#include "dlc/runtime/Base/Names.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Slices ------------------------------------------------------------===//

/// begin, end and step of one axis, where None means from the one end to the
/// other in the direction of the step.
static void addRange(Ints &begins, Ints &ends, Ints &steps,
                     std::optional<int64_t> begin, std::optional<int64_t> end,
                     int64_t step) {
  begins.push_back(begin.value_or(step > 0 ? 0 : INT64_MAX));
  ends.push_back(end.value_or(step > 0 ? INT64_MAX : INT64_MIN));
  steps.push_back(step);
}

static void setSlice(LoweringContext &n, const Ints &begins, const Ints &ends,
                     const Ints &axes, const Ints &steps) {
  n.set(0, n.b.op("slice", {n.in(0), n.b.ints(begins), n.b.ints(ends),
                            n.b.ints(axes), n.b.ints(steps)}));
}

static void lowerSlice(LoweringContext &n) {
  const auto &begin = n.p.getOptionalInts("begin"),
             &end = n.p.getOptionalInts("end"),
             &step = n.p.getOptionalInts("step");
  int64_t rank = n.rank(n.in(0));
  if (begin.size() != end.size() || static_cast<int64_t>(begin.size()) > rank ||
      (!step.empty() && step.size() != begin.size()))
    return n.fail("expected as many values of 'begin', 'end' and 'step', at "
                  "most " +
                  Twine(rank) + ", got " + Twine(begin.size()) + ", " +
                  Twine(end.size()) + " and " + Twine(step.size()));
  Ints begins, ends, steps;
  for (size_t i = 0; i < begin.size(); ++i) {
    int64_t by = step.empty() ? 1 : step[i].value_or(1);
    if (by == 0)
      return n.fail("parameter 'step': expected no 0");
    addRange(begins, ends, steps, begin[i], end[i], by);
  }
  setSlice(n, begins, ends, range(0, static_cast<int64_t>(begins.size())),
           steps);
}

static void lowerSliceAxis(LoweringContext &n) {
  int64_t axis = n.axisOf("axis", n.rank(n.in(0)));
  std::optional<int64_t> end;
  if (!n.p.isNone("end"))
    end = n.p.getInt("end");
  int64_t begin = n.p.getInt("begin"),
          extent = GraphBuilder::dimOf(n.in(0), axis);
  // An axis without elements is taken as it is, as MXNet does.
  if (!mlir::ShapedType::isDynamic(extent) && extent > 0) {
    auto fromFront = [&](int64_t at) { return at < 0 ? at + extent : at; };
    int64_t from = fromFront(begin), to = fromFront(end.value_or(extent));
    if (from < 0 || to > extent || from >= to)
      return n.fail("parameters 'begin' and 'end': expected 0 <= begin < end "
                    "<= " +
                    Twine(extent) + ", the extent of axis " + Twine(axis) +
                    ", got " + Twine(from) + " and " + Twine(to));
  }
  Ints begins, ends, steps;
  addRange(begins, ends, steps, begin, end, 1);
  setSlice(n, begins, ends, {axis}, steps);
}

/// Negative axes count from the last dimension of the data.
static void lowerSliceLike(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0)), rankLike = n.rank(n.in(1));
  Ints axes = n.axes(n.ints("axes"), rank);
  if (axes.empty()) {
    if (rank != rankLike)
      return n.fail("expected operands of one number of dimensions, got " +
                    Twine(rank) + " and " + Twine(rankLike));
    axes = range(0, rank);
  }
  Ints dims = n.shape(n.in(1), "slicing like data"), begins, ends, steps;
  if (n.b.failed())
    return;
  for (int64_t axis : axes) {
    if (axis >= rankLike)
      return n.fail("expected axis " + Twine(axis) + " in 'shape_like', got " +
                    Twine(rankLike) + " dimensions");
    int64_t extent = GraphBuilder::dimOf(n.in(0), axis);
    if (!mlir::ShapedType::isDynamic(extent) && extent < dims[axis])
      return n.fail("expected at most extent " + Twine(extent) + " of axis " +
                    Twine(axis) + " of 'shape_like', got " + Twine(dims[axis]));
    addRange(begins, ends, steps, 0, dims[axis], 1);
  }
  setSlice(n, begins, ends, axes, steps);
}

//===-- More around -------------------------------------------------------===//

static void lowerPad(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  const std::vector<int64_t> &width = n.p.getInts("pad_width");
  if (rank != 4 && rank != 5)
    return n.fail("expected data of 4 or 5 dimensions, got " + Twine(rank));
  if (static_cast<int64_t>(width.size()) != 2 * rank)
    return n.fail("parameter 'pad_width': expected " + Twine(2 * rank) +
                  " values, got " + Twine(width.size()));
  bool reflects = n.p.getText("mode") == "reflect";
  Ints begins, ends;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t begin = width[2 * i], end = width[2 * i + 1];
    if (i < 2 && (begin || end))
      return n.fail("parameter 'pad_width': expected 0 for batch and channels");
    // The edge itself is not repeated, and nothing is reflected twice.
    int64_t extent =
        llvm::cast<mlir::RankedTensorType>(x.getType()).getDimSize(i);
    if (reflects && extent >= 0 && std::max(begin, end) >= extent)
      return n.fail("parameter 'pad_width': expected less than the " +
                    Twine(extent) + " elements of dimension " + Twine(i) +
                    " to reflect, got " + Twine(std::max(begin, end)));
    begins.push_back(begin);
    ends.push_back(end);
  }
  begins.append(ends);
  n.set(0, n.b.op("pad",
                  {x, n.b.ints(begins),
                   n.scalarLike(x, n.p.getFloat("constant_value")),
                   n.b.ints(range(0, rank))},
                  {{"mode", llvm::StringRef(n.p.getText("mode"))}}));
}

/// Numbers of elements before and after, pairs of them.
static bool readWidths(LoweringContext &n, Ints &begins, Ints &ends) {
  const std::string &text = n.p.getText("pad_width");
  std::optional<std::vector<int64_t>> widths = parsePairs(text, 0, kMaxExtent);
  for (size_t i = 0; widths && i < widths->size(); i += 2) {
    begins.push_back((*widths)[i]);
    ends.push_back((*widths)[i + 1]);
  }
  if (!widths)
    n.fail("parameter 'pad_width': expected pairs of numbers as ((1, 1), (0, "
           "2)), got '" +
           rt::toPrintable(text) + "'");
  return widths.has_value();
}

/// Where the elements of a dimension come from that is mirrored at both ends,
/// with its ends once or, as `repeatsEnds`, twice.
static Ints mirroredPlaces(int64_t extent, int64_t begin, int64_t end,
                           bool repeatsEnds) {
  int64_t skipped = repeatsEnds ? 0 : 1;
  Ints places;
  for (int64_t i = begin; i > 0; --i)
    places.push_back(i - 1 + skipped);
  places.append(range(0, extent));
  for (int64_t i = 0; i < end; ++i)
    places.push_back(extent - 1 - skipped - i);
  return places;
}

static void lowerNumpyPad(LoweringContext &n) {
  Value x = n.in(0);
  const std::string &mode = n.p.getText("mode");
  Ints begins, ends;
  if (!readWidths(n, begins, ends))
    return;
  int64_t rank = n.rank(x);
  if (static_cast<int64_t>(begins.size()) != rank)
    return n.fail("parameter 'pad_width': expected " + Twine(rank) +
                  " pairs, got " + Twine(begins.size()));
  if (mode == "maximum" || mode == "minimum" ||
      (mode != "constant" && n.p.getText("reflect_type") != "even"))
    return n.unsupported("parameter 'mode' of " + mode +
                         " with 'reflect_type' "
                         "of " +
                         n.p.getText("reflect_type"));
  if (mode == "constant" || mode == "edge") {
    begins.append(ends);
    return n.set(0, n.b.op("pad",
                           {x, n.b.ints(begins),
                            n.scalarLike(x, n.p.getFloat("constant_value")),
                            n.b.ints(range(0, rank))},
                           {{"mode", llvm::StringRef(mode)}}));
  }
  Ints shape = n.shape(x, "mirroring data");
  for (size_t i = 0; i < shape.size() && !n.b.failed(); ++i) {
    int64_t most = shape[i] - (mode == "reflect" ? 1 : 0);
    if (begins[i] == 0 && ends[i] == 0)
      continue;
    if (std::max(begins[i], ends[i]) > most)
      return n.fail("parameter 'pad_width': expected at most " + Twine(most) +
                    " of dimension " + Twine(i) + ", got " +
                    Twine(std::max(begins[i], ends[i])));
    Ints places =
        mirroredPlaces(shape[i], begins[i], ends[i], mode == "symmetric");
    x = n.b.op("gather", {x, n.b.ints(places)},
               {{"axis", static_cast<int64_t>(i)}});
  }
  n.set(0, x);
}

/// More repetitions than dimensions add dimensions in front.
static void lowerTile(LoweringContext &n) {
  Value x = n.in(0);
  Ints repeats = n.ints("reps");
  int64_t rank = n.rank(x), count = static_cast<int64_t>(repeats.size());
  if (count < rank)
    repeats.insert(repeats.begin(), rank - count, 1);
  if (count > rank)
    x = n.b.unsqueeze(x, range(0, count - rank));
  n.set(0, n.b.op("tile", {x, n.b.ints(repeats)}));
}

/// Each element `repeats` times in a row.
static void lowerRepeat(LoweringContext &n) {
  Value x = n.in(0);
  int64_t repeats = n.p.getInt("repeats");
  int64_t axis = 0;
  if (n.p.isNone("axis"))
    x = n.b.reshape(x, {-1});
  else
    axis = n.axisOf("axis", n.rank(x));
  Ints shape = n.shape(x, "repeating data");
  if (n.b.failed())
    return;
  Ints wide(shape);
  wide.insert(wide.begin() + axis + 1, repeats);
  if (__builtin_mul_overflow(shape[axis], repeats, &shape[axis]))
    return n.fail("parameter 'repeats': expected a size within 64 bits");
  Value column = n.b.unsqueeze(x, {axis + 1});
  Value all = n.b.op("expand", {column, n.b.ints(wide)});
  n.set(0, n.b.reshapeTo(all, shape));
}

static void lowerReverse(LoweringContext &n) {
  Ints axes = n.axes(n.ints("axis"), n.rank(n.in(0)));
  Ints begins(axes.size(), INT64_MAX), ends(axes.size(), INT64_MIN),
      steps(axes.size(), -1);
  setSlice(n, begins, ends, axes, steps);
}

template <Mnemonic name> static void lowerBlocks(LoweringContext &n) {
  n.set(0, n.b.op(name.str(), {n.in(0)},
                  {{"blocksize", n.p.getInt("block_size")}}));
}

//===-- Declarations ------------------------------------------------------===//

static std::vector<Operator> makeSliceRows() {
  constexpr auto optionalInts = ParameterKind::OptionalInts;
  return {
      {.name = "slice",
       .aliases = {"_npx_slice", "_npi_slice", "crop"},
       .summary = "A part by ranges along the first axes",
       .parameters = {required("begin", optionalInts,
                               "First place along each axis; negative ones "
                               "count from the end."),
                      required("end", optionalInts,
                               "Place behind the last; None: the end."),
                      optional("step", optionalInts, "()",
                               "Distances; () means ones.")},
       .lower = lowerSlice},
      {.name = "slice_axis",
       .summary = "A part by a range along one axis",
       .parameters = {required("axis", ParameterKind::Int, "The axis."),
                      required("begin", ParameterKind::Int, "First place."),
                      required("end", ParameterKind::Int,
                               "Place behind the last; None: the end.")
                          .orNone()},
       .lower = lowerSliceAxis},
      {.name = "slice_like",
       .summary = "The beginning, as large as another operand",
       .parameters = {optional("axes", ParameterKind::Ints, "()",
                               "Axes that are cut; () means all.")},
       .inputs = {{"data"}, {"shape_like"}},
       .relateTypes = keepsType,
       .lower = lowerSliceLike},
  };
}

static std::vector<Operator> makePlaceRows() {
  Parameter block = required("block_size", ParameterKind::Int,
                             "Extent of the blocks, both ways.")
                        .within(1, 1 << 15);
  return {
      {.name = "Pad",
       .aliases = {"pad"},
       .summary = "Elements around the spatial dimensions",
       .parameters = {requiredChoice("mode", {"constant", "edge", "reflect"},
                                     "What is put there."),
                      required(
                          "pad_width", ParameterKind::Ints,
                          "Numbers of elements before and after, axis by axis.")
                          .within(0, kMaxExtent),
                      optional("constant_value", ParameterKind::Float, "0",
                               "The element of constant.")},
       .lower = lowerPad},
      {.name = "_npi_pad",
       .summary = "Elements around any dimensions",
       .parameters =
           {required("pad_width", ParameterKind::Text,
                     "Pairs of numbers of elements before and after, one for "
                     "each dimension: ((1, 1), (0, 2))."),
            choice("mode",
                   {"constant", "edge", "maximum", "minimum", "reflect",
                    "symmetric"},
                   "constant",
                   "What is put there; maximum and minimum are not supported."),
            optional("constant_value", ParameterKind::Float, "0",
                     "The element of constant."),
            choice("reflect_type", {"even", "odd"}, "even",
                   "even: mirrored as it is; odd is not supported.")},
       .lower = lowerNumpyPad},
      {.name = "depth_to_space",
       .summary = "Channels into blocks of the spatial dimensions",
       .parameters = {block},
       .lower = lowerBlocks<"depth_to_space">},
      {.name = "repeat",
       .aliases = {"_np_repeat"},
       .summary = "Each element several times in a row",
       .parameters = {required("repeats", ParameterKind::Int, "How often.")
                          .within(0, kMaxExtent),
                      optional("axis", ParameterKind::Int, "None",
                               "The axis; None: all elements in a row.")},
       .lower = lowerRepeat},
      {.name = "reverse",
       .aliases = {"flip"},
       .summary = "Elements in reverse order along axes",
       .parameters = {required("axis", ParameterKind::Ints, "The axes.")},
       .lower = lowerReverse},
      {.name = "space_to_depth",
       .summary = "Blocks of the spatial dimensions into channels",
       .parameters = {block},
       .lower = lowerBlocks<"space_to_depth">},
      {.name = "tile",
       .aliases = {"_npi_tile"},
       .summary = "The whole several times along axes",
       .parameters = {required("reps", ParameterKind::Ints,
                               "How often, for the last axes; more of them add "
                               "dimensions in front.")
                          .within(0, kMaxExtent)},
       .lower = lowerTile},
  };
}

std::span<const Operator> dlc::symbol::movementOperators() {
  static const std::vector<Operator> rows = [] {
    std::vector<Operator> rows = makeSliceRows();
    for (Operator &row : makePlaceRows())
      rows.push_back(std::move(row));
    return rows;
  }();
  return rows;
}
