// SPDX-License-Identifier: Apache-2.0
//
// Many operands to one, and one to many.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Joining -----------------------------------------------------------===//

/// The axis of a parameter, if the rank is known and it is inside.
static std::optional<size_t> axisOf(int64_t axis, const Shape &shape) {
  if (!shape)
    return std::nullopt;
  auto rank = static_cast<int64_t>(shape->size());
  axis += axis < 0 ? rank : 0;
  return axis >= 0 && axis < rank ? std::optional<size_t>(axis) : std::nullopt;
}

/// All dimensions but the axis are alike, and of that one up to `mostAlike`
/// unknown extents share what the others leave.
static void relateJoined(ShapeRelation &r, int64_t mostAlike) {
  int64_t parameter = r.parameters.getInt("dim");
  Shape common;
  for (size_t i = 0; i <= r.inputCount(); ++i) {
    Shape shape = i < r.inputCount() ? r.input(i) : r.output(0);
    std::optional<size_t> axis = axisOf(parameter, shape);
    if (axis)
      (*shape)[*axis] = rt::kUnknownDim;
    if (axis && !common)
      common = shape;
    else if (axis)
      (void)unify(common, shape); // Contradictions show below.
  }
  for (size_t i = 0; i < r.inputCount(); ++i)
    r.setInput(i, common);
  r.setOutput(0, common);
  std::optional<size_t> axis = axisOf(parameter, r.output(0));
  if (!axis || r.failed() || (*r.output(0))[*axis] == rt::kUnknownDim)
    return;
  int64_t left = (*r.output(0))[*axis];
  llvm::SmallVector<size_t> open;
  for (size_t i = 0; i < r.inputCount(); ++i)
    if (int64_t extent = (*r.input(i))[*axis]; extent == rt::kUnknownDim)
      open.push_back(i);
    else
      left -= extent;
  auto count = static_cast<int64_t>(open.size());
  if (open.empty() || count > mostAlike || left < 0 || left % count)
    return;
  (*common)[*axis] = left / count;
  for (size_t i : open)
    r.setInput(i, common);
}

static void relateConcat(ShapeRelation &r) { relateJoined(r, 1); }

/// Of a network in two directions each may read data of an unknown width, which
/// is the same.
static void relateRnnParameters(ShapeRelation &r) { relateJoined(r, 2); }

static void lowerConcat(LoweringContext &n) {
  if (n.inputCount() == 0)
    return n.fail("expected at least 1 operand, got none");
  int64_t axis = n.axisOf("dim", n.rank(n.in(0)));
  n.set(0, n.b.op("concat", n.inputs(), {{"axis", axis}}));
}

static void relateStack(ShapeRelation &r) {
  for (size_t i = 1; i < r.inputCount(); ++i)
    r.equateInputs(0, i);
}

static void lowerStack(LoweringContext &n) {
  if (n.inputCount() == 0)
    return n.fail("expected at least 1 operand, got none");
  int64_t axis = n.axisOf("axis", n.rank(n.in(0)) + 1);
  llvm::SmallVector<Value> parts;
  for (Value x : n.inputs())
    parts.push_back(n.b.unsqueeze(x, {axis}));
  n.set(0, n.b.op("concat", parts, {{"axis", axis}}));
}

static void lowerAddN(LoweringContext &n) {
  if (n.inputCount() == 0)
    return n.fail("expected at least 1 operand, got none");
  Value sum = n.in(0);
  for (Value x : n.inputs().drop_front())
    sum = n.b.add(sum, x);
  n.set(0, sum);
}

//===-- Splitting ---------------------------------------------------------===//

static void splitAt(LoweringContext &n, int64_t axis,
                    llvm::ArrayRef<int64_t> cuts, bool squeezes) {
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    Value part = n.b.slice(n.in(0), axis, cuts[i], cuts[i + 1]);
    n.set(i, squeezes ? n.b.squeeze(part, {axis}) : part);
  }
}

/// One part tells the data, and these all parts.
static void relateSliceChannel(ShapeRelation &r) {
  const Parameters &p = r.parameters;
  int64_t count = p.getInt("num_outputs");
  bool squeezes = p.getBool("squeeze_axis");
  for (size_t i = 0; i < r.outputCount(); ++i) {
    Shape whole = r.output(i);
    if (!whole)
      continue;
    size_t rank = whole->size() + squeezes;
    std::optional<size_t> axis = axisWithin(p.getInt("axis"), rank);
    if (!axis)
      return;
    if (squeezes)
      whole->insert(whole->begin() + *axis, count);
    else
      (*whole)[*axis] = multiplied((*whole)[*axis], count);
    r.setInput(0, whole);
  }
  Shape part = r.input(0);
  if (!part)
    return;
  std::optional<size_t> axis = axisWithin(p.getInt("axis"), part->size());
  if (!axis)
    return;
  if (squeezes)
    part->erase(part->begin() + *axis);
  else
    (*part)[*axis] = divided((*part)[*axis], count);
  for (size_t i = 0; i < r.outputCount(); ++i)
    r.setOutput(i, part);
}

static void lowerSliceChannel(LoweringContext &n) {
  Value x = n.in(0);
  int64_t axis = n.axisOf("axis", n.rank(x));
  int64_t extent = GraphBuilder::dimOf(x, axis),
          count = n.p.getInt("num_outputs");
  if (n.b.failed())
    return;
  if (mlir::ShapedType::isDynamic(extent))
    return n.unknown("splitting an extent");
  if (extent % count)
    return n.fail("expected parameter 'num_outputs' to divide " +
                  Twine(extent) + ", got " + Twine(count));
  bool squeezes = n.p.getBool("squeeze_axis");
  if (squeezes && extent != count)
    return n.fail("expected " + Twine(extent) +
                  " outputs with 'squeeze_axis', got " + Twine(count));
  Ints cuts;
  for (int64_t i = 0; i <= count; ++i)
    cuts.push_back(i * (extent / count));
  splitAt(n, axis, cuts, squeezes);
}

/// `sections` equal parts, or those between `indices`, of which the first is 0.
static void splitAlong(LoweringContext &n, int64_t axis) {
  int64_t extent = GraphBuilder::dimOf(n.in(0), axis);
  if (n.b.failed())
    return;
  if (mlir::ShapedType::isDynamic(extent))
    return n.unknown("splitting an extent");
  int64_t sections = n.p.getInt("sections");
  Ints cuts = n.ints("indices");
  if (sections > 0) {
    if (extent % sections)
      return n.fail("expected parameter 'sections' to divide " + Twine(extent) +
                    ", got " + Twine(sections));
    cuts.clear();
    for (int64_t i = 0; i < sections; ++i)
      cuts.push_back(i * (extent / sections));
  }
  cuts.push_back(extent);
  for (size_t i = 0; i + 1 < cuts.size(); ++i)
    if (cuts[i] < 0 || cuts[i] > cuts[i + 1])
      return n.fail("expected parameter 'indices' to ascend from 0 to " +
                    Twine(extent) + ", got " + Twine(cuts[i]) + " before " +
                    Twine(cuts[i + 1]));
  bool squeezes = n.p.getBool("squeeze_axis");
  for (size_t i = 0; squeezes && i + 1 < cuts.size(); ++i)
    if (cuts[i + 1] - cuts[i] != 1)
      return n.fail("expected parts of extent 1 with parameter 'squeeze_axis', "
                    "got " +
                    Twine(cuts[i + 1] - cuts[i]));
  splitAt(n, axis, cuts, squeezes);
}

static void lowerSplit(LoweringContext &n) {
  splitAlong(n, n.axisOf("axis", n.rank(n.in(0))));
}

/// Along columns, of vectors along their only axis.
static void lowerColumnSplit(LoweringContext &n) {
  splitAlong(n, n.axis(n.rank(n.in(0)) > 1 ? 1 : 0, n.rank(n.in(0))));
}

static int64_t countParts(const Parameters &p) {
  int64_t sections = p.getInt("sections");
  return sections > 0 ? sections
                      : std::max<int64_t>(1, p.getInts("indices").size());
}

static Operator split(std::string_view name,
                      std::vector<std::string_view> aliases,
                      std::string_view summary,
                      void (*lower)(LoweringContext &)) {
  return {
      .name = name,
      .aliases = std::move(aliases),
      .summary = summary,
      .parameters = {required(
                         "indices", ParameterKind::Ints,
                         "Where parts begin, the first at 0; of no meaning "
                         "beside `sections`."),
                     optional("axis", ParameterKind::Int, "1", "The axis."),
                     optional("squeeze_axis", ParameterKind::Bool, "False",
                              "Leave the axis out, of extent 1 in each part."),
                     optional("sections", ParameterKind::Int, "0",
                              "Number of equal parts, or 0.")
                         .within(0, kMaxOperands)},
      .countOutputs = countParts,
      .lower = lower};
}

//===-- Declarations ------------------------------------------------------===//

static Parameter operandCount() {
  return optional("num_args", ParameterKind::Int, "0",
                  "Number of operands; filled in when composing.")
      .within(0, kMaxOperands);
}

static Operator concat(std::string_view name,
                       std::vector<std::string_view> aliases,
                       void (*relateShapes)(ShapeRelation &) = relateConcat) {
  return {.name = name,
          .aliases = std::move(aliases),
          .summary = "Operands one behind the other along an axis",
          .parameters = {operandCount(),
                         optional("dim", ParameterKind::Int, "1", "The axis.")},
          .inputCount = "num_args",
          .relateShapes = relateShapes,
          .lower = lowerConcat};
}

std::span<const Operator> dlc::symbol::joiningOperators() {
  static const std::vector<Operator> rows = {
      concat("Concat", {"concat"}),
      concat("_rnn_param_concat", {"_npi_rnn_param_concat"},
             relateRnnParameters),
      {.name = "SliceChannel",
       .aliases = {"split"},
       .summary = "Equal parts along an axis",
       .parameters =
           {required("num_outputs", ParameterKind::Int, "Number of parts.")
                .within(1, kMaxOperands),
            optional("axis", ParameterKind::Int, "1", "The axis."),
            optional("squeeze_axis", ParameterKind::Bool, "False",
                     "Leave the axis out, of extent 1 in each part.")},
       .outputCount = "num_outputs",
       .numbersOneOutput = true,
       .relateShapes = relateSliceChannel,
       .lower = lowerSliceChannel},
      split("_split_v2", {"_npi_split", "_npi_dsplit"}, "Parts along an axis",
            lowerSplit),
      split("_npi_hsplit", {}, "Parts along the second axis", lowerColumnSplit),
      {.name = "add_n",
       .aliases = {"ElementWiseSum", "_sum"},
       .summary = "Sum of operands of one shape",
       .parameters = {operandCount()},
       .inputCount = "num_args",
       .relateShapes = sameShapes,
       .lower = lowerAddN},
      {.name = "stack",
       .summary = "Operands of one shape along a new axis",
       .parameters = {optional("axis", ParameterKind::Int, "0",
                               "Place of the axis in the result."),
                      operandCount()},
       .inputCount = "num_args",
       .relateShapes = relateStack,
       .lower = lowerStack},
  };
  return rows;
}
