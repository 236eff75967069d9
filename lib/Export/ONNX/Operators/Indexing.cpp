// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes at places given by data, and choices of such places.

#include "../Operators.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace dlc::exporter;

// That indices are known to be in bounds is no part of ONNX.

static void writeGather(NodeContext &n) {
  n.result("Gather", n.inputs(), n.attributes({"in_bounds"}));
}

static void writeGatherElements(NodeContext &n) {
  n.result("GatherElements", n.inputs(), n.attributes({"in_bounds"}));
}

static void writeGatherND(NodeContext &n) {
  n.result("GatherND", n.inputs(), n.attributes({"in_bounds"}));
}

/// Reductions came one by one.
static bool checkReduction(NodeContext &n) {
  std::string reduction = n.getString("reduction", "none");
  return (reduction != "max" && reduction != "min") ||
         n.needs(18, "scattering with reduction " + reduction);
}

static void writeScatterElements(NodeContext &n) {
  if (checkReduction(n))
    n.result("ScatterElements", n.inputs(), n.attributes());
}

static void writeScatterND(NodeContext &n) {
  if (checkReduction(n))
    n.result("ScatterND", n.inputs(), n.attributes({"in_bounds"}));
}

/// i + extent where i is negative.
static void writeResolveIndices(NodeContext &n) {
  Ints extents = n.ints("extents");
  std::string added = n.ints(extents);
  mlir::Type i64 = mlir::IntegerType::get(n.op->getContext(), 64);
  if (n.elementOf(0) != i64)
    added = n.node("Cast", {added},
                   {{"to", int64_t(elementNumber(n.elementOf(0)))}});
  std::string isNegative = n.node("Less", {n.in(0), n.scalarLike(0, 0)});
  n.result("Where", {isNegative, n.node("Add", {n.in(0), added}), n.in(0)});
}

//===-- Choices of boxes --------------------------------------------------===//

static constexpr int64_t kFloat = 1, kBool = 9; ///< TensorProto.DataType

static std::string cast(NodeContext &n, std::string x, int64_t type) {
  return n.node("Cast", {std::move(x)}, {{"to", type}});
}

/// begin, begin + step, ... before `end`.
static std::string range(NodeContext &n, int64_t begin, int64_t end,
                         int64_t step) {
  return n.node("Range",
                {n.intScalar(begin), n.intScalar(end), n.intScalar(step)});
}

/// The shape of an operand; fails where it is not known.
static Ints shapeOf(NodeContext &n, unsigned index) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(n.value(index).getType());
  if (type && type.hasStaticShape())
    return Ints(type.getShape().begin(), type.getShape().end());
  n.unsupported("a choice out of tensors of a shape that is not known");
  return {};
}

/// Boxes as NonMaxSuppression takes them: with corners in order, for it would
/// give those an area that are the wrong way round.
static std::string orderedBoxes(NodeContext &n) {
  std::string boxes = cast(n, n.in(0), kFloat);
  auto part = [&](int64_t begin) {
    return n.node("Slice",
                  {boxes, n.ints({begin}), n.ints({begin + 2}), n.ints({2})});
  };
  std::string low = part(0), high = part(2);
  if (n.getBool("inclusive", false))
    high = n.node("Add", {high, cast(n, n.intScalar(1), kFloat)});
  bool isCentered = n.getInt("center_point_box", 0) == 1;
  high =
      n.node("Max", {high, isCentered ? cast(n, n.intScalar(0), kFloat) : low});
  return n.node("Concat", {low, high}, {{"axis", int64_t(2)}});
}

/// Candidates score by their places, others 0; N x classes x B. A group is the
/// class that has the number of its first box.
static std::string placeScores(NodeContext &n, int64_t count) {
  std::string zero = cast(n, n.intScalar(0), kFloat);
  std::string falling = cast(n, range(n, count, 0, -1), kFloat);
  std::string scores = n.node("Where", {n.in(1), falling, zero});
  scores = n.node("Unsqueeze", {scores, n.ints({1})});
  if (!n.has(3))
    return scores;
  std::string same =
      n.node("Equal", {n.node("Unsqueeze", {n.in(3), n.ints({2})}),
                       n.node("Unsqueeze", {n.in(3), n.ints({1})})});
  std::string first =
      n.node("ArgMax", {cast(n, same, kFloat)}, {{"axis", int64_t(1)}});
  std::string classes =
      n.node("Unsqueeze", {range(n, 0, count, 1), n.ints({1})});
  return n.node("Where", {n.node("Equal", {first, classes}), scores, zero});
}

static void writeSuppressBoxes(NodeContext &n) {
  Ints shape = shapeOf(n, 0);
  if (n.failed())
    return;
  mlir::DenseFPElementsAttr threshold;
  if (mlir::matchPattern(n.value(2), mlir::m_Constant(&threshold)) &&
      threshold.getValues<llvm::APFloat>()[0].isNegative())
    return n.unsupported("an iou_threshold below 0");
  // Vectors of one element: not everybody reads scalars there.
  std::string most = n.ints({shape[1]});
  std::string overlap =
      n.node("Reshape", {cast(n, n.in(2), kFloat), n.ints({1})});
  // Between the 0 of what is no candidate and 1.
  std::string score = n.node(
      "Div", {cast(n, n.ints({1}), kFloat), cast(n, n.ints({2}), kFloat)});
  std::string chosen =
      n.node("NonMaxSuppression",
             {orderedBoxes(n), placeScores(n, shape[1]), most, overlap, score},
             {{"center_point_box", n.getInt("center_point_box", 0)}});
  std::string places =
      n.node("Gather", {chosen, n.ints({0, 2})}, {{"axis", int64_t(1)}});
  std::string count =
      n.node("Shape", {places}, {{"start", int64_t(0)}, {"end", int64_t(1)}});
  std::string ones = n.node("Expand", {cast(n, n.intScalar(1), kBool), count});
  n.result("ScatterND", {n.node("Xor", {n.in(1), n.in(1)}), places, ones});
}

/// Pairs one by one; a loop would be longer.
static void writeMatchPairs(NodeContext &n) {
  constexpr int64_t most = 64;
  Ints shape = shapeOf(n, 0);
  if (n.failed())
    return;
  int64_t height = shape[1], width = shape[2];
  int64_t steps = std::min(height, width), limit = n.getInt("limit", 0);
  if (limit > 0)
    steps = std::min(steps, limit);
  if (steps > most)
    return n.unsupported("more than " + llvm::Twine(most) + " pairs, got " +
                         llvm::Twine(steps));
  std::string none = n.scalarLike(0, -INFINITY);
  std::string scores =
      n.node("Where", {n.node("Greater", {n.in(0), n.in(1)}), n.in(0), none});
  std::string flat = n.ints({shape[0], height * width});
  auto empty = [&](int64_t count) {
    return n.node("Expand", {n.intScalar(-1), n.ints({shape[0], count})});
  };
  std::string columns = empty(height), rows = empty(width);
  std::string heights = range(n, 0, height, 1), widths = range(n, 0, width, 1);
  for (int64_t i = 0; i < steps; ++i) {
    scores = n.node("Reshape", {scores, flat});
    std::string best = n.node("ArgMax", {scores}, {{"axis", int64_t(1)}});
    std::string score =
        n.node("GatherElements", {scores, best}, {{"axis", int64_t(1)}});
    std::string isPair = n.node("Greater", {score, none});
    std::string row = n.node("Div", {best, n.intScalar(width)});
    std::string column = n.node("Mod", {best, n.intScalar(width)});
    std::string isRow =
        n.node("And", {isPair, n.node("Equal", {row, heights})});
    std::string isColumn =
        n.node("And", {isPair, n.node("Equal", {column, widths})});
    columns = n.node("Where", {isRow, column, columns});
    rows = n.node("Where", {isColumn, row, rows});
    std::string isUsed =
        n.node("Or", {n.node("Unsqueeze", {isRow, n.ints({2})}),
                      n.node("Unsqueeze", {isColumn, n.ints({1})})});
    scores = n.node("Where", {n.node("Reshape", {isUsed, flat}), none, scores});
  }
  n.result("Split",
           {n.node("Concat", {columns, rows}, {{"axis", int64_t(1)}}),
            n.ints({height, width})},
           {{"axis", int64_t(1)}});
}

static constexpr Row rows[] = {
    {"compress", "Compress"},
    {"gather", "Gather", 17, writeGather},
    {"gather_elements", "GatherElements", 17, writeGatherElements},
    {"gather_nd", "GatherND", 17, writeGatherND},
    {"match_pairs", "Split", 17, writeMatchPairs},
    {"non_max_suppression", "NonMaxSuppression"},
    {"non_zero", "NonZero"},
    {"one_hot", "OneHot"},
    {"resolve_indices", "Where", 17, writeResolveIndices},
    {"scatter_elements", "ScatterElements", 17, writeScatterElements},
    {"scatter_nd", "ScatterND", 17, writeScatterND},
    {"suppress_boxes", "NonMaxSuppression", 17, writeSuppressBoxes},
    {"tensor_scatter", "TensorScatter", 24},
    {"top_k", "TopK"},
    {"unique", "Unique"},
};

llvm::ArrayRef<Row> dlc::exporter::indexingRows() { return rows; }
