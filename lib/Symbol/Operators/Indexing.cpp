// SPDX-License-Identifier: Apache-2.0
//
// Elements that other elements name. Indices may be numbers of any type; what
// fractions they have is cut off.

#include "Layers.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Gathers -----------------------------------------------------------===//

/// Indices as i64, brought into [0, extent): limited to it (clip), or counted
/// around it (wrap).
static Value legalIndices(LoweringContext &n, Value indices, Value extent,
                          bool wraps) {
  Value whole = n.b.cast(indices, n.b.i64());
  if (wraps)
    return n.b.op("mod", {whole, extent});
  Value last = n.b.sub(extent, n.b.intScalar(1));
  return n.b.op("clamp", {whole, n.b.intScalar(0), last});
}

/// Fails for `raise`, where MXNet reports an index that is out of range;
/// gathers of the Graph dialect report none.
static bool checkMode(LoweringContext &n) {
  if (n.p.getText("mode") != "raise")
    return true;
  n.unsupported("parameter 'mode' of raise");
  return false;
}

void symbol::relateEmbedding(ShapeRelation &r) {
  r.setInput(1, std::vector{r.parameters.getInt("input_dim"),
                            r.parameters.getInt("output_dim")});
}

/// The weight decides; `dtype` where nothing is known of it.
static void relateEmbeddingTypes(TypeRelation &r) {
  r.setOutput(0, r.input(1));
  r.setInput(1, r.output(0));
  if (r.input(1) == DLC_INVALID_TYPE)
    r.setInput(1, r.parameters.getType("dtype"));
  r.setOutput(0, r.input(1));
}

void symbol::lowerEmbedding(LoweringContext &n) {
  Value weight = n.in(1);
  Value rows =
      legalIndices(n, n.in(0), extentOf(n, weight, 0), /*wraps=*/false);
  n.set(0, n.b.op("gather", {weight, rows}, {{"axis", 0}}));
}

static void lowerTake(LoweringContext &n) {
  Value x = n.in(0);
  int64_t axis = n.axisOf("axis", n.rank(x));
  if (n.b.failed() || !checkMode(n))
    return;
  Value indices = legalIndices(n, n.in(1), extentOf(n, x, axis),
                               n.p.getText("mode") == "wrap");
  n.set(0, n.b.op("gather", {x, indices}, {{"axis", axis}}));
}

/// An index that nothing is known of has no dimension for the axis, unless it
/// were a scalar then.
static void relatePick(ShapeRelation &r) {
  Shape index = r.input(0);
  if (!index || r.parameters.isNone("axis"))
    return;
  auto axis = axisWithin(r.parameters.getInt("axis"), index->size());
  if (!axis)
    return;
  const Shape &known = r.input(1);
  if (index->size() == 1 || (known && known->size() == index->size()))
    (*index)[*axis] = 1;
  else
    index->erase(index->begin() + *axis);
  suggestInput(r, 1, index);
}

/// One element of each row along the axis; the index has the other dimensions,
/// and maybe one of extent 1 for the axis.
static void lowerPick(LoweringContext &n) {
  Value x = n.in(0), index = n.in(1);
  int64_t rank = n.rank(x);
  if (n.p.isNone("axis"))
    return n.unsupported("parameter 'axis' of None");
  int64_t axis = n.axisOf("axis", rank);
  if (n.b.failed())
    return;
  if (n.rank(index) == rank - 1)
    index = n.b.unsqueeze(index, {axis});
  else if (n.rank(index) != rank || GraphBuilder::dimOf(index, axis) != 1)
    return n.fail("expected the dimensions of the data without axis " +
                  Twine(axis) + " of 'index'");
  index = legalIndices(n, index, extentOf(n, x, axis),
                       n.p.getText("mode") == "wrap");
  Value y = n.b.op("gather_elements", {x, index}, {{"axis", axis}});
  n.set(0, n.p.getBool("keepdims") ? y : n.b.squeeze(y, {axis}));
}

/// The first dimension of the indices counts the axes that they name.
static void lowerGatherNd(LoweringContext &n) {
  int64_t rank = n.rank(n.in(1));
  if (rank < 2)
    return n.fail("expected 'indices' of at least 2 dimensions, got " +
                  Twine(rank));
  Value indices = n.b.cast(n.in(1), n.b.i64());
  n.set(0, n.b.op("gather_nd", {n.in(0), moveAxis(n, indices, 0, rank - 1)}));
}

//===-- One-hot vectors, choices, order -----------------------------------===//

static void lowerOneHot(LoweringContext &n) {
  mlir::Type type = typeParameter(n, "dtype");
  Value depth = n.b.intScalar(n.p.getInt("depth"));
  Value positions =
      n.b.op("range", {n.b.intScalar(0), depth, n.b.intScalar(1)});
  int64_t rank = n.rank(n.in(0));
  Value indices = n.b.unsqueeze(n.b.cast(n.in(0), n.b.i64()), {rank});
  Value isOn = n.b.op("equal", {indices, positions});
  n.set(0, n.b.op("select", {isOn, n.b.scalar(type, n.p.getFloat("on_value")),
                             n.b.scalar(type, n.p.getFloat("off_value"))}));
}

static void relateWhere(ShapeRelation &r) {
  r.equateInputs(1, 2);
  r.equate(1, 0);
  r.equate(2, 0);
}

static void relateWhereTypes(TypeRelation &r) {
  r.equateInputs(1, 2);
  r.equate(1, 0);
  r.equate(2, 0);
}

/// A condition of one dimension chooses along the first one.
static void lowerWhere(LoweringContext &n) {
  Value condition = n.b.cast(n.in(0), n.b.boolean()), x = n.in(1);
  int64_t rank = n.rank(x), conditionRank = n.rank(n.in(0));
  if (conditionRank != rank && conditionRank != 1)
    return n.fail("expected a condition of " + Twine(rank) +
                  " dimensions or 1, got " + Twine(conditionRank));
  if (conditionRank != rank)
    condition = n.perChannel(condition, x, 0);
  n.set(0, n.b.op("select", {condition, x, n.in(2)}));
}

/// Places [0, length) of axis `axis`, whose rows differ along the other of the
/// first two axes.
static void lowerSequenceMask(LoweringContext &n) {
  Value x = n.in(0);
  if (!n.p.getBool("use_sequence_length"))
    return n.set(0, x);
  int64_t rank = n.rank(x), axis = n.p.getInt("axis");
  if (rank < 2)
    return n.fail("expected data of at least 2 dimensions, got " + Twine(rank));
  n.set(0, maskByLength(n, x, axis, n.perChannel(n.in(1), x, 1 - axis),
                        n.p.getFloat("value")));
}

static void relateSequenceMask(ShapeRelation &r) {
  r.equate(0, 0);
  r.setInput(1, std::vector{r.inputDim(0, 1 - r.parameters.getInt("axis"))});
}

//===-- Declarations ------------------------------------------------------===//

static Parameter mode() {
  return choice("mode", {"clip", "raise", "wrap"}, "clip",
                "Indices out of range are limited to it, are an error (not "
                "supported), or go around.");
}

std::vector<Parameter> symbol::embeddingParameters() {
  return {required("input_dim", ParameterKind::Int, "Rows of the weight.")
              .within(1, kMaxExtent),
          required("output_dim", ParameterKind::Int, "Columns of the weight.")
              .within(1, kMaxExtent),
          optional("dtype", ParameterKind::Type, "float32",
                   "Type of the weight, where nothing else says it."),
          ignored("sparse_grad", ParameterKind::Bool, "False")};
}

/// The same, of a matrix that MXNet stores by rows.
static Operator makeSparseEmbedding() {
  std::vector<Parameter> parameters = embeddingParameters();
  parameters.push_back(ignored("deterministic", ParameterKind::Bool, "False"));
  return {.name = "_contrib_SparseEmbedding",
          .summary = "Rows of a sparse matrix of weights",
          .details = "Indices out of range take the first or last row.",
          .parameters = std::move(parameters),
          .inputs = {{"data"}, {"weight"}},
          .relateShapes = relateEmbedding,
          .relateTypes = relateEmbeddingTypes,
          .lower = lowerEmbedding};
}

static std::vector<Operator> makeGatherRows() {
  return {
      makeSparseEmbedding(),
      {.name = "Embedding",
       .aliases = {"_npx_embedding"},
       .summary = "Rows of a matrix of weights",
       .details = "Indices out of range take the first or last row.",
       .parameters = embeddingParameters(),
       .inputs = {{"data"}, {"weight"}},
       .relateShapes = relateEmbedding,
       .relateTypes = relateEmbeddingTypes,
       .lower = lowerEmbedding},
      {.name = "gather_nd",
       .aliases = {"_npi_gather_nd", "_npx_gather_nd"},
       .summary = "Elements or parts by several indices each",
       .details = "The first dimension of `indices` counts the axes of the "
                  "data that they name.",
       .inputs = {{"data"}, {"indices"}},
       .relateTypes = keepsType,
       .lower = lowerGatherNd},
      {.name = "pick",
       .aliases = {"choose_element_0index", "_npx_pick"},
       .summary = "One element of each row along an axis",
       .parameters = {optional("axis", ParameterKind::Int, "-1",
                               "The axis; None is not supported.")
                          .orNone(),
                      optional("keepdims", ParameterKind::Bool, "False",
                               "Leave the dimension, with extent 1."),
                      choice("mode", {"clip", "wrap"}, "clip",
                             "Indices out of range are limited to it or go "
                             "around.")},
       .inputs = {{"data"}, {"index"}},
       .relateShapes = relatePick,
       .relateTypes = keepsType,
       .lower = lowerPick},
      {.name = "take",
       .aliases = {"_npi_take"},
       .summary = "Parts along an axis",
       .parameters = {optional("axis", ParameterKind::Int, "0", "The axis."),
                      mode()},
       .inputs = {{"a"}, {"indices"}},
       .relateTypes = keepsType,
       .lower = lowerTake},
  };
}

static std::vector<Operator> makeChoiceRows() {
  return {
      {.name = "SequenceMask",
       .aliases = {"_npx_sequence_mask"},
       .summary = "A value in the place of what lies behind sequences' ends",
       .parameters =
           {optional("use_sequence_length", ParameterKind::Bool, "False",
                     "Take lengths as an input; else it is the operand."),
            optional("value", ParameterKind::Float, "0", "The value."),
            optional("axis", ParameterKind::Int, "0",
                     "Axis of time, 0 or 1; the other one is the batch.")
                .within(0, 1)},
       .inputs = {{"data"}, {"sequence_length", when("use_sequence_length")}},
       .relateShapes = relateSequenceMask,
       .relateTypes = keepsType,
       .lower = lowerSequenceMask},
      {.name = "one_hot",
       .aliases = {"_npx_one_hot"},
       .summary = "A vector for each index, with one element set",
       .parameters = {required("depth", ParameterKind::Int,
                               "Length of the vectors.")
                          .within(1, kMaxExtent),
                      optional("on_value", ParameterKind::Float, "1",
                               "The element at the index."),
                      optional("off_value", ParameterKind::Float, "0",
                               "The others."),
                      optional("dtype", ParameterKind::Type, "float32",
                               "Type of the result.")},
       .inputs = {{"indices"}},
       .relateTypes = convertsToDtype,
       .lower = lowerOneHot},
      {.name = "where",
       .summary = "The one operand where a condition is not 0, else the other",
       .details = "A condition of one dimension chooses along the first axis.",
       .inputs = {{"condition"}, {"x"}, {"y"}},
       .relateShapes = relateWhere,
       .relateTypes = relateWhereTypes,
       .lower = lowerWhere},
  };
}

std::span<const Operator> dlc::symbol::indexingOperators() {
  static const std::vector<Operator> rows = [] {
    std::vector<Operator> rows = makeGatherRows();
    for (Operator &row : makeChoiceRows())
      rows.push_back(std::move(row));
    return rows;
  }();
  return rows;
}
