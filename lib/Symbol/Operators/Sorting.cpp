// SPDX-License-Identifier: Apache-2.0
//
// Order, the largest elements, and sequences whose lengths are data.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Order -------------------------------------------------------------===//

namespace {
struct Sorted {
  Value values, places, data;
  int64_t axis = 0;
};
} // namespace

/// The first `count` (0: all) of the elements in order along the parameter
/// `axis`; None: of all elements in a row.
static Sorted sorted(LoweringContext &n, int64_t count) {
  Sorted result;
  result.data = n.in(0);
  if (n.p.isNone("axis"))
    result.data = n.b.reshape(result.data, {-1});
  int64_t rank = n.rank(result.data);
  if (!n.p.isNone("axis"))
    result.axis = n.axisOf("axis", rank);
  if (n.b.failed())
    return {};
  int64_t extent = GraphBuilder::dimOf(result.data, result.axis);
  if (mlir::ShapedType::isDynamic(extent)) {
    n.unknown("an order of data of a shape");
    return {};
  }
  if (count > extent) {
    n.fail("parameter 'k': expected at most " + Twine(extent) + ", got " +
           Twine(count));
    return {};
  }
  auto both =
      n.b.ops("top_k", {result.data, n.b.ints({count > 0 ? count : extent})},
              {{"axis", result.axis}, {"largest", !n.p.getBool("is_ascend")}});
  result.values = both[0];
  result.places = both[1];
  return result;
}

static void lowerTopK(LoweringContext &n) {
  Sorted found = sorted(n, n.p.getInt("k"));
  if (n.b.failed())
    return;
  const std::string &wanted = n.p.getText("ret_typ");
  Value places = wanted == "mask"
                     ? Value()
                     : n.b.cast(found.places, typeParameter(n, "dtype"));
  if (wanted == "value")
    return n.set(0, found.values);
  if (wanted == "indices")
    return n.set(0, places);
  if (wanted == "both") {
    n.set(0, found.values);
    return n.set(1, places);
  }
  Value zeros =
      n.b.op("expand", {n.scalarLike(found.data, 0), n.b.shapeOf(found.data)});
  Value ones = n.b.op("expand",
                      {n.scalarLike(found.data, 1), n.b.shapeOf(found.places)});
  Value mask = n.b.op("scatter_elements", {zeros, found.places, ones},
                      {{"axis", found.axis}});
  n.set(0,
        n.b.op("reshape", {mask, n.b.shapeOf(n.in(0))}, {{"allowzero", true}}));
}

static void relateTopKTypes(TypeRelation &r) {
  const std::string &wanted = r.parameters.getText("ret_typ");
  if (wanted == "indices")
    return r.setOutput(0, r.parameters.getType("dtype"));
  r.equate(0, 0);
  if (wanted == "both")
    r.setOutput(1, r.parameters.getType("dtype"));
}

static void lowerSort(LoweringContext &n) {
  Sorted found = sorted(n, 0);
  n.set(0, found.values);
}

static void lowerArgSort(LoweringContext &n) {
  Sorted found = sorted(n, 0);
  if (!n.b.failed())
    n.set(0, n.b.cast(found.places, typeParameter(n, "dtype")));
}

//===-- Sequences ---------------------------------------------------------===//

static void relateSequence(ShapeRelation &r) {
  int64_t axis = r.parameters.getInt("axis");
  r.setInput(1, std::vector{r.inputDim(0, 1 - axis)});
}

static void relateReverse(ShapeRelation &r) {
  r.equate(0, 0);
  relateSequence(r);
}

static bool isSequence(LoweringContext &n) {
  if (int64_t rank = n.rank(n.in(0)); rank < 2) {
    n.fail("expected data of at least 2 dimensions, got " + Twine(rank));
    return false;
  }
  return !n.b.failed();
}

/// The last step of each sequence.
static void lowerSequenceLast(LoweringContext &n) {
  if (!isSequence(n))
    return;
  int64_t axis = n.p.getInt("axis");
  Value x = n.in(0);
  if (!n.p.getBool("use_sequence_length"))
    return n.set(0, n.b.squeeze(n.b.slice(x, axis, -1, INT64_MAX), {axis}));
  Value places = n.b.sub(n.b.cast(n.in(1), n.b.i64()), n.b.intScalar(1));
  n.set(0, n.b.op("gather_nd",
                  {moveAxis(n, x, axis, 1), n.b.unsqueeze(places, {1})},
                  {{"batch_dims", 1}}));
}

/// The steps of each sequence from its last to its first.
static void lowerSequenceReverse(LoweringContext &n) {
  if (!isSequence(n))
    return;
  Value x = n.in(0);
  if (!n.p.getBool("use_sequence_length"))
    return n.set(0, n.b.slice(x, 0, INT64_MAX, INT64_MIN, -1));
  n.set(0, n.b.op("reverse_sequence", {x, n.b.cast(n.in(1), n.b.i64())},
                  {{"batch_axis", 1}, {"time_axis", 0}}));
}

//===-- Places ------------------------------------------------------------===//

/// One element of each row.
static void lowerBatchTake(LoweringContext &n) {
  Value x = n.in(0), places = n.b.cast(n.in(1), n.b.i64());
  if (n.rank(x) != 2 || n.rank(places) != 1)
    return n.fail("expected 'a' of 2 dimensions and 'indices' of 1");
  Value last = n.b.sub(extentOf(n, x, 1), n.b.intScalar(1));
  places = n.b.op("clamp", {places, n.b.intScalar(0), last});
  Value y =
      n.b.op("gather_elements", {x, n.b.unsqueeze(places, {1})}, {{"axis", 1}});
  n.set(0, n.b.squeeze(y, {1}));
}

/// Zeros, but for the data at the places that the columns of indices name.
static void lowerScatterNd(LoweringContext &n) {
  int64_t rank = n.rank(n.in(1));
  if (rank < 2)
    return n.fail("expected 'indices' of at least 2 dimensions, got " +
                  Twine(rank));
  Value places = moveAxis(n, n.b.cast(n.in(1), n.b.i64()), 0, rank - 1);
  Value zeros =
      n.b.op("expand", {n.scalarLike(n.in(0), 0), n.b.ints(n.ints("shape"))});
  n.set(0, n.b.op("scatter_nd", {zeros, places, n.in(0)}));
}

/// Of a coordinate in each column its place in a row of all elements.
static void lowerRavel(LoweringContext &n) {
  Ints shape = n.ints("shape"), strides(shape.size(), 1);
  Value x = n.in(0);
  if (n.rank(x) < 1 ||
      GraphBuilder::dimOf(x, 0) != static_cast<int64_t>(shape.size()))
    return n.fail("expected " + Twine(shape.size()) +
                  " rows in 'data', one for each dimension");
  for (size_t i = shape.size(); i-- > 1;)
    if (__builtin_mul_overflow(strides[i], shape[i], &strides[i - 1]))
      return n.fail("parameter 'shape': expected a size within 64 bits");
  Value places = n.b.cast(x, n.b.i64());
  Value weights = n.perChannel(n.b.ints(strides), places, 0);
  Value sum = n.b.reduce("reduce_sum", n.b.mul(places, weights), {0}, false);
  n.set(0, n.b.castLike(sum, x));
}

/// The way back: coordinates as columns.
static void lowerUnravel(LoweringContext &n) {
  Ints shape = n.ints("shape");
  Value x = n.in(0), rest = n.b.cast(x, n.b.i64());
  if (shape.empty())
    return n.fail("parameter 'shape': expected dimensions, got none");
  llvm::SmallVector<Value> rows(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    Value extent = n.b.intScalar(std::max<int64_t>(shape[i], 1));
    Value place = i > 0 ? n.b.op("mod", {rest, extent}) : rest;
    rows[i] = n.b.unsqueeze(place, {0});
    rest = n.b.div(rest, extent);
  }
  n.set(0, n.b.castLike(n.b.concat(rows, 0), x));
}

//===-- Declarations ------------------------------------------------------===//

static Parameter axisParameter() {
  return optional("axis", ParameterKind::Int, "-1",
                  "The axis; None: all elements in a row.")
      .orNone();
}

static Parameter ascends(std::string_view fallback) {
  return optional("is_ascend", ParameterKind::Bool, fallback,
                  "The smallest first.");
}

static Operator sequence(std::string_view name, std::string_view summary,
                         void (*relate)(ShapeRelation &),
                         void (*lower)(LoweringContext &), int64_t lastAxis) {
  return {
      .name = name,
      .summary = summary,
      .parameters =
          {optional("use_sequence_length", ParameterKind::Bool, "False",
                    "Take lengths as an input; else sequences are whole."),
           optional("axis", ParameterKind::Int, "0",
                    "Axis of time; the other one of the first two is the "
                    "batch.")
               .within(0, lastAxis)},
      .inputs = {{"data"}, {"sequence_length", when("use_sequence_length")}},
      .relateShapes = relate,
      .relateTypes = keepsType,
      .lower = lower};
}

std::span<const Operator> dlc::symbol::sortingOperators() {
  static const std::vector<Operator> rows = {
      {.name = "topk",
       .aliases = {"_npx_topk"},
       .summary = "The largest or smallest elements along an axis",
       .details = "Places are numbers of type `dtype`; a mask is 1 at the "
                  "places and 0 elsewhere, in the data's shape.",
       .parameters = {axisParameter(),
                      optional("k", ParameterKind::Int, "1",
                               "How many; 0 means all.")
                          .within(0, kMaxExtent),
                      choice("ret_typ", {"both", "indices", "mask", "value"},
                             "indices", "What is given of them."),
                      ascends("False"),
                      optional("dtype", ParameterKind::Type, "float32",
                               "Type of places.")},
       .outputs = {{"output", when("ret_typ", "indices")},
                   {"output", when("ret_typ", "mask")},
                   {"output0", when("ret_typ", "value")},
                   {"output0", when("ret_typ", "both")},
                   {"output1", when("ret_typ", "both")}},
       .relateTypes = relateTopKTypes,
       .lower = lowerTopK},
      {.name = "sort",
       .aliases = {"_npi_sort"},
       .summary = "Elements in order along an axis",
       .parameters = {axisParameter(), ascends("True")},
       .outputs = {{"output0"}},
       .lower = lowerSort},
      {.name = "argsort",
       .aliases = {"_npi_argsort"},
       .summary = "Places of elements in order along an axis",
       .parameters = {axisParameter(), ascends("True"),
                      optional("dtype", ParameterKind::Type, "float32",
                               "Type of places.")},
       .relateTypes = convertsToDtype,
       .lower = lowerArgSort},
      sequence("SequenceLast", "The last step of each sequence", relateSequence,
               lowerSequenceLast, 1),
      sequence("SequenceReverse", "Each sequence from its last step on",
               relateReverse, lowerSequenceReverse, 0),
      {.name = "batch_take",
       .summary = "One element of each row",
       .inputs = {{"a"}, {"indices"}},
       .relateTypes = keepsType,
       .lower = lowerBatchTake},
      {.name = "scatter_nd",
       .summary = "Data at given places of zeros",
       .details = "The first dimension of `indices` counts the axes that "
                  "they name; places differ.",
       .parameters = {required("shape", ParameterKind::Ints, "The shape.")
                          .within(0, kMaxExtent)},
       .inputs = {{"data"}, {"indices"}},
       .relateTypes = keepsType,
       .lower = lowerScatterNd},
      {.name = "_ravel_multi_index",
       .aliases = {"ravel_multi_index"},
       .summary = "Places in a row of all elements, of coordinates",
       .parameters = {optional("shape", ParameterKind::Ints, "()",
                               "The shape that is a row.")
                          .within(0, kMaxExtent)},
       .lower = lowerRavel},
      {.name = "_unravel_index",
       .aliases = {"unravel_index"},
       .summary = "Coordinates of places in a row of all elements",
       .parameters = {optional("shape", ParameterKind::Ints, "()",
                               "The shape that is a row.")
                          .within(0, kMaxExtent)},
       .lower = lowerUnravel},
  };
  return rows;
}
