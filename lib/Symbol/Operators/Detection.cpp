// SPDX-License-Identifier: Apache-2.0
//
// Choices of boxes one by one, in tensors whose shapes are known: what is not
// chosen is -1 (MXNet 1.9.1: bounding_box-inl.h, multibox_detection.cc,
// multibox_target.cc).

#include "Choice.h"

#include <cmath>
#include <limits>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Rows in another order ---------------------------------------------===//

Value symbol::placesOfGreatest(LoweringContext &n, Value scores,
                               int64_t count) {
  return n.b.ops("top_k", {scores, n.b.ints({count})}, {{"axis", 1}}).back();
}

Value symbol::placesOfGreatestWhere(LoweringContext &n, Value condition,
                                    Value scores, int64_t count) {
  Value least = n.scalarLike(scores, -std::numeric_limits<double>::infinity());
  return placesOfGreatest(n, n.b.op("select", {condition, scores, least}),
                          count);
}

Value symbol::placesWhere(LoweringContext &n, Value condition) {
  return placesOfGreatest(n, n.b.cast(condition, n.b.f32()),
                          GraphBuilder::dimOf(condition, 1));
}

Value symbol::rowsAt(LoweringContext &n, Value rows, Value places) {
  if (n.rank(rows) == 2)
    return n.b.op("gather_elements", {rows, places}, {{"axis", 1}});
  return n.b.op("gather_nd", {rows, n.b.unsqueeze(places, {2})},
                {{"batch_dims", 1}});
}

Value symbol::countTo(LoweringContext &n, int64_t count) {
  return n.b.op("range",
                {n.b.intScalar(0), n.b.intScalar(count), n.b.intScalar(1)});
}

static Value both(LoweringContext &n, Value a, Value b) {
  return n.b.op("logical_and", {a, b});
}

static Value isNot(LoweringContext &n, Value a) {
  return n.b.op("logical_not", {a});
}

static bool isFloat(Value x) {
  return llvm::isa_and_nonnull<mlir::FloatType>(GraphBuilder::elementOf(x));
}

//===-- Batches of matrices -----------------------------------------------===//

namespace {
/// The operand of an operator that works on each matrix of its last two
/// dimensions.
struct Matrices {
  Value data;
  Ints shape;
  int64_t batches = 1, rows = 0, columns = 0;
};
} // namespace

/// Reads the first operand, of floats; fails the node. `what` needs its shape,
/// and has `elements`.
static bool readMatrices(LoweringContext &n, const char *what,
                         const char *elements, Matrices &matrices) {
  matrices.data = n.in(0);
  Ints &shape = matrices.shape = n.shape(n.in(0), what);
  if (n.b.failed())
    return false;
  if (shape.size() < 2) {
    n.fail("expected 'data' of at least 2 dimensions, got " +
           Twine(shape.size()));
    return false;
  }
  if (!isFloat(n.in(0))) {
    n.unsupported(Twine(elements) + " of integers");
    return false;
  }
  for (size_t i = 0; i + 2 < shape.size(); ++i)
    matrices.batches *= shape[i];
  matrices.rows = shape[shape.size() - 2];
  matrices.columns = shape.back();
  return true;
}

/// Where extents may be 0.
static Value reshapeTo(LoweringContext &n, Value x,
                       llvm::ArrayRef<int64_t> shape) {
  return n.b.reshapeTo(x, shape);
}

//===-- Suppression -------------------------------------------------------===//

namespace {
/// What the columns of box_nms hold.
struct Layout {
  int64_t coordinates, score, id; ///< No ids: -1.
};
} // namespace

/// Reads which columns there are; fails the node when they are not `width`.
static bool readLayout(LoweringContext &n, int64_t width, Layout &layout) {
  layout = {n.p.getInt("coord_start"), n.p.getInt("score_index"),
            std::max<int64_t>(n.p.getInt("id_index"), -1)};
  auto check = [&](const char *parameter, int64_t at, int64_t last) {
    if (at >= 0 && at <= last)
      return true;
    n.fail("parameter '" + Twine(parameter) +
           "': expected a number from 0 to " + Twine(last) + " for 'data' of " +
           Twine(width) + " columns, got " + Twine(at));
    return false;
  };
  auto checkApart = [&](const char *parameter, int64_t at) {
    if (at < layout.coordinates || at > layout.coordinates + 3)
      return true;
    n.fail("parameter '" + Twine(parameter) +
           "': expected a column without coordinates, got " + Twine(at));
    return false;
  };
  if (width < 5) {
    n.fail("expected 'data' of at least 5 columns, got " + Twine(width));
    return false;
  }
  if (!check("coord_start", layout.coordinates, width - 4) ||
      !check("score_index", layout.score, width - 1) ||
      !checkApart("score_index", layout.score))
    return false;
  if (layout.id < 0)
    return true;
  if (layout.id != layout.score)
    return check("id_index", layout.id, width - 1) &&
           checkApart("id_index", layout.id);
  n.fail("parameter 'id_index': expected another column than 'score_index', "
         "got " +
         Twine(layout.id));
  return false;
}

/// Corners as centers and extents, or the reverse, as box_nms converts them:
/// boxes whose first number is negative stay as they are.
static Value convertBoxes(LoweringContext &n, Value boxes, bool toCenters) {
  Value half = n.scalarLike(boxes, 0.5);
  std::array<Value, 4> c;
  for (int axis : {0, 1}) {
    Value a = column(n, boxes, axis), b = column(n, boxes, axis + 2);
    c[axis] =
        toCenters ? n.b.mul(n.b.add(a, b), half) : n.b.sub(a, n.b.mul(b, half));
    c[axis + 2] = toCenters ? n.b.sub(b, a) : n.b.add(a, n.b.mul(b, half));
  }
  Value first = column(n, boxes, 0);
  Value isOut = n.b.op("less", {first, n.scalarLike(first, 0)});
  return n.b.op("select", {isOut, boxes, n.b.concat(c, n.rank(boxes) - 1)});
}

static Value convertRows(LoweringContext &n, Value rows, const Layout &layout,
                         int64_t width) {
  const std::string &to = n.p.getText("out_format");
  if (n.p.getText("in_format") == to)
    return rows;
  auto part = [&](int64_t begin, int64_t end) {
    return n.b.slice(rows, 2, begin, end);
  };
  int64_t begin = layout.coordinates, end = begin + 4;
  llvm::SmallVector<Value> parts;
  if (begin > 0)
    parts.push_back(part(0, begin));
  parts.push_back(convertBoxes(n, part(begin, end), to == "center"));
  if (end < width)
    parts.push_back(part(end, width));
  return n.b.concat(parts, 2);
}

/// Which of the rows of box_nms take part.
static Value findValid(LoweringContext &n, Value rows, const Layout &layout) {
  Value scores = n.b.squeeze(column(n, rows, layout.score), {2});
  Value isValid = n.b.op(
      "greater", {scores, floatLike(n, scores, n.p.getFloat("valid_thresh"))});
  if (layout.id < 0)
    return isValid;
  Value ids = n.b.squeeze(column(n, rows, layout.id), {2});
  Value background =
      n.scalarLike(ids, static_cast<double>(n.p.getInt("background_id")));
  return both(n, isValid, isNot(n, n.b.op("equal", {ids, background})));
}

/// The valid rows by falling score, without those that overlap one before.
static void lowerBoxNms(LoweringContext &n) {
  Matrices matrices;
  if (!readMatrices(n, "a choice of boxes", "boxes", matrices))
    return;
  auto &[x, shape, batches, count, width] = matrices;
  Layout layout;
  if (!readLayout(n, width, layout))
    return;
  int64_t most = n.p.getInt("topk");
  int64_t kept = most < 0 ? count : std::min(count, most);
  if (kept == 0)
    return n.set(0, x); // As it is, in the format that it has.
  Value rows = reshapeTo(n, x, {batches, count, width});
  Value isValid = findValid(n, rows, layout);
  Value scores = n.b.squeeze(column(n, rows, layout.score), {2});
  Value order = placesOfGreatestWhere(n, isValid, scores, kept);
  rows = rowsAt(n, rows, order);
  Value boxes = n.b.slice(rows, 2, layout.coordinates, layout.coordinates + 4);
  boxes = n.b.cast(boxes, n.b.wideFloat(boxes));
  llvm::SmallVector<Value> operands = {
      boxes, rowsAt(n, isValid, order),
      floatLike(n, boxes, n.p.getFloat("overlap_thresh"))};
  if (layout.id >= 0 && !n.p.getBool("force_suppress"))
    operands.push_back(
        n.b.cast(n.b.squeeze(column(n, rows, layout.id), {2}), n.b.i64()));
  Value isKept = n.b.op(
      "suppress_boxes", operands,
      {{"center_point_box", n.p.getText("in_format") == "center" ? 1 : 0}});
  Value places = placesWhere(n, isKept);
  Value y = n.b.op("select", {n.b.unsqueeze(rowsAt(n, isKept, places), {2}),
                              rowsAt(n, rows, places), n.scalarLike(rows, -1)});
  y = convertRows(n, y, layout, width);
  if (kept < count)
    y = n.b.concat({y, n.b.splat({batches, count - kept, width},
                                 GraphBuilder::elementOf(y), -1)},
                   1);
  n.set(0, reshapeTo(n, y, shape));
}

//===-- Pairs -------------------------------------------------------------===//

/// Rows and columns of a matrix of scores, each with one partner at most.
static void lowerBipartiteMatching(LoweringContext &n) {
  Matrices matrices;
  if (!readMatrices(n, "a matching", "scores", matrices))
    return;
  auto &[x, shape, batches, height, width] = matrices;
  Ints rows(shape.begin(), shape.end() - 1);
  Ints columns = rows;
  columns.back() = width;
  Value scores =
      reshapeTo(n, n.b.cast(x, n.b.wideFloat(x)), {batches, height, width});
  double threshold = n.p.getFloat("threshold");
  if (n.p.getBool("is_ascend")) {
    scores = n.b.op("neg", {scores});
    threshold = -threshold;
  }
  // MXNet stops after the match that is one too many.
  int64_t most = n.p.getInt("topk");
  auto pairs = n.b.ops("match_pairs", {scores, floatLike(n, scores, threshold)},
                       {{"limit", most > 0 ? most + 1 : 0}});
  if (n.b.failed())
    return;
  n.set(0, reshapeTo(n, n.b.castLike(pairs[0], x), rows));
  n.set(1, reshapeTo(n, n.b.castLike(pairs[1], x), columns));
}

static void relateMatching(ShapeRelation &r) {
  if (!r.input(0) || r.input(0)->size() < 2)
    return;
  std::vector<int64_t> rows = *r.input(0), columns = rows;
  rows.pop_back();
  columns.erase(columns.end() - 2);
  r.setOutput(0, rows);
  r.setOutput(1, columns);
}

//===-- Detections of anchors ---------------------------------------------===//

static bool checkVariances(LoweringContext &n) {
  size_t count = n.p.getFloats("variances").size();
  if (count == 4)
    return true;
  n.fail("parameter 'variances': expected 4 values, got " + Twine(count));
  return false;
}

/// Anchors 1 x A x 4, moved and scaled by what the network says, N x A x 4.
static Value decodeBoxes(LoweringContext &n, Value anchors, Value moves) {
  const std::vector<double> &variances = n.p.getFloats("variances");
  Value half = n.scalarLike(anchors, 0.5);
  std::array<Value, 4> c;
  for (int axis : {0, 1}) {
    Value low = column(n, anchors, axis), high = column(n, anchors, axis + 2);
    Value extent = n.b.sub(high, low);
    auto scaled = [&](int i) {
      return n.b.mul(column(n, moves, i), floatLike(n, moves, variances[i]));
    };
    Value center = n.b.add(n.b.mul(scaled(axis), extent),
                           n.b.mul(n.b.add(low, high), half));
    Value reach =
        n.b.mul(n.b.mul(n.b.op("exp", {scaled(axis + 2)}), extent), half);
    c[axis] = n.b.sub(center, reach);
    c[axis + 2] = n.b.add(center, reach);
  }
  Value boxes = n.b.concat(c, 2);
  if (!n.p.getBool("clip"))
    return boxes;
  return n.b.op("clamp",
                {boxes, n.scalarLike(boxes, 0), n.scalarLike(boxes, 1)});
}

namespace {
/// Of each anchor: whether it shows something, what, and how surely.
struct Classes {
  Value isShown, ids, scores;
};
} // namespace

/// Class 0 is the background, whatever parameter background_id says.
static Classes classify(LoweringContext &n, Value probabilities) {
  int64_t classes = GraphBuilder::dimOf(probabilities, 1);
  Value lowest = n.scalarLike(probabilities, -1);
  Value shown = n.b.slice(probabilities, 1, 1, classes);
  shown = n.b.op("select", {n.b.op("is_nan", {shown}), lowest, shown});
  Value ids = n.b.op("arg_max", {shown}, {{"axis", 1}, {"keepdims", false}});
  Value scores = n.b.reduce("reduce_max", shown, {1}, /*keepDims=*/false);
  Value threshold = floatLike(n, scores, n.p.getFloat("threshold"));
  return {both(n, n.b.op("greater", {scores, lowest}),
               n.b.op("greater_equal", {scores, threshold})),
          n.b.castLike(ids, scores), scores};
}

/// The threshold for overlaps as large as nms_threshold to be above it.
static Value leastOverlap(LoweringContext &n, Value like) {
  auto threshold = static_cast<float>(n.p.getFloat("nms_threshold"));
  double below = GraphBuilder::elementOf(like).isF64()
                     ? std::nextafter(static_cast<double>(threshold), 0.0)
                     : std::nextafter(threshold, 0.0f);
  return n.scalarLike(like, below);
}

/// The detections by falling score, of which suppressed ones lose their class.
/// Behind the first `most`, which alone are sorted, MXNet leaves what was
/// there: rows in the order of anchors, without a class.
static Value suppressDetections(LoweringContext &n, const Classes &found,
                                Value rows, int64_t most) {
  if (n.b.failed())
    return {};
  Value order = placesOfGreatestWhere(n, found.isShown, found.scores, most);
  Value best = rowsAt(n, rows, order);
  Value ids = n.b.slice(best, 2, 0, 1);
  Value boxes = n.b.slice(best, 2, 2, 6);
  llvm::SmallVector<Value> operands = {boxes, rowsAt(n, found.isShown, order),
                                       leastOverlap(n, boxes)};
  if (!n.p.getBool("force_suppress"))
    operands.push_back(n.b.cast(n.b.squeeze(ids, {2}), n.b.i64()));
  Value isKept = n.b.unsqueeze(n.b.op("suppress_boxes", operands), {2});
  ids = n.b.op("select", {isKept, ids, n.scalarLike(ids, -1)});
  return n.b.concat({ids, n.b.slice(best, 2, 1, 6)}, 2);
}

static void lowerMultiBoxDetection(LoweringContext &n) {
  Ints shape = n.shape(n.in(0), "detections");
  if (n.b.failed() || !checkVariances(n))
    return;
  Value anchors = n.in(2);
  if (!areBoxes(n, anchors, "anchor"))
    return;
  int64_t batches = shape[0], classes = shape[1], count = shape[2];
  if (count < 1 || classes < 1)
    return n.fail("expected 'cls_prob' of some classes and anchors, got (" +
                  Twine(batches) + ", " + Twine(classes) + ", " + Twine(count) +
                  ")");
  mlir::Type type = GraphBuilder::elementOf(n.in(0));
  if (n.b.failed())
    return;
  if (classes == 1) // Nothing but background.
    return n.set(0, n.b.splat({batches, count, 6}, type, -1));
  auto wide = [&](Value x) { return n.b.cast(x, n.b.wideFloat(x)); };
  Classes found = classify(n, wide(n.in(0)));
  Value moves = n.b.reshapeTo(wide(n.in(1)), {batches, count, 4});
  Value rows = n.b.concat({n.b.unsqueeze(found.ids, {2}),
                           n.b.unsqueeze(found.scores, {2}),
                           decodeBoxes(n, wide(anchors), moves)},
                          2);
  Value none = n.scalarLike(rows, -1);
  Value shown = rowsAt(n, rows, placesWhere(n, found.isShown));
  double overlap = n.p.getFloat("nms_threshold");
  if (overlap > 0 && overlap <= 1) {
    int64_t most = n.p.getInt("nms_topk");
    most = most > 0 ? std::min(most, count) : count;
    Value best = suppressDetections(n, found, rows, most);
    if (most < count) {
      Value rest = n.b.slice(shown, 1, most, count);
      Value ids = n.b.splat({batches, count - most, 1},
                            GraphBuilder::elementOf(rest), -1);
      best =
          n.b.concat({best, n.b.concat({ids, n.b.slice(rest, 2, 1, 6)}, 2)}, 1);
    }
    shown = best;
  }
  Value total = n.b.reduce("reduce_sum", n.b.cast(found.isShown, n.b.i64()),
                           {1}, /*keepDims=*/true);
  Value isRow = n.b.unsqueeze(n.b.op("less", {countTo(n, count), total}), {2});
  Value y = n.b.op("select", {isRow, shown, none});
  n.set(0, n.b.op("stop_gradient", {n.b.cast(y, type)}));
}

static void relateDetection(ShapeRelation &r) {
  int64_t batches = r.inputDim(0, 0), count = r.inputDim(0, 2);
  if (count == rt::kUnknownDim)
    count = r.inputDim(2, 1);
  r.setInput(0, std::vector{batches, rt::kUnknownDim, count});
  r.setInput(2, std::vector<int64_t>{1, count, 4});
  int64_t numbers = count == rt::kUnknownDim || count > kMaxExtent
                        ? rt::kUnknownDim
                        : count * 4;
  r.setInput(1, std::vector{batches, numbers});
  r.setOutput(0, std::vector<int64_t>{batches, count, 6});
}

//===-- Targets of anchors ------------------------------------------------===//

namespace {
/// What the anchors of MultiBoxTarget are matched with.
struct Targets {
  Value matches;    ///< A label of each anchor, N x A.
  Value isPositive; ///< The anchor shows it.
  Value overlaps;   ///< The largest of each anchor.
  Value hasLabels;  ///< There are labels at all, N x 1.
};
} // namespace

/// Each label gets the anchor that overlaps it most, one by one; other anchors
/// get the label that they overlap more than the threshold says.
static Targets matchAnchors(LoweringContext &n, Value anchors, Value labels) {
  Corners a, l;
  for (int i = 0; i < 4; ++i) {
    a[i] = column(n, anchors, i);
    l[i] = n.b.transpose(column(n, labels, i + 1), {0, 2, 1});
  }
  // Labels end where an identity is -1.
  Value ids = n.b.squeeze(column(n, labels, 0), {2});
  Value isEnd = n.b.op("equal", {ids, n.scalarLike(ids, -1)});
  Value ends = n.b.op("cumsum", {n.b.cast(isEnd, n.b.i64()), n.b.intScalar(1)});
  Value isLabel = n.b.op("equal", {ends, n.b.intScalar(0)});
  Value overlaps = overlapsOf(n, a, l);
  overlaps = n.b.op("select", {n.b.unsqueeze(isLabel, {1}), overlaps,
                               n.scalarLike(overlaps, -1)});
  Value pairs = n.b.op("match_pairs", {overlaps, floatLike(n, overlaps, 1e-6)});
  Value isPaired = n.b.op("greater_equal", {pairs, n.b.intScalar(0)});
  Value best =
      n.b.op("arg_max", {overlaps}, {{"axis", 2}, {"keepdims", false}});
  Targets targets;
  targets.overlaps =
      n.b.reduce("reduce_max", overlaps, {2}, /*keepDims=*/false);
  targets.matches = n.b.op("select", {isPaired, pairs, best});
  targets.isPositive = isPaired;
  targets.hasLabels = n.b.slice(isLabel, 1, 0, 1);
  if (double threshold = n.p.getFloat("overlap_threshold"); threshold > 0) {
    Value isNear =
        n.b.op("greater",
               {targets.overlaps, floatLike(n, targets.overlaps, threshold)});
    targets.isPositive = n.b.op("logical_or", {isPaired, isNear});
  }
  return targets;
}

/// Of the anchors that are not positive and far from every label, the first
/// few that the network takes least for background.
static Value mineNegatives(LoweringContext &n, const Targets &targets,
                           Value scores, double ratio) {
  Value far = n.b.op(
      "less",
      {targets.overlaps,
       floatLike(n, targets.overlaps, n.p.getFloat("negative_mining_thresh"))});
  Value isCandidate = both(n, isNot(n, targets.isPositive), far);
  Value background = n.b.squeeze(
      n.b.slice(n.b.op("softmax", {scores}, {{"axis", 1}}), 1, 0, 1), {1});
  int64_t count = GraphBuilder::dimOf(background, 1);
  Value order =
      placesOfGreatestWhere(n, isCandidate, n.b.op("neg", {background}), count);
  Value places = n.b.op("expand", {countTo(n, count), n.b.shapeOf(order)});
  Value ranks = n.b.op(
      "scatter_elements",
      {n.b.op("expand", {n.b.intScalar(0), n.b.shapeOf(order)}), order, places},
      {{"axis", 1}});
  Value positives =
      n.b.reduce("reduce_sum", n.b.cast(targets.isPositive, n.b.f32()), {1},
                 /*keepDims=*/true);
  Value wanted =
      n.b.cast(n.b.mul(positives, floatLike(n, positives, ratio)), n.b.i64());
  return both(n, isCandidate, n.b.op("less", {ranks, wanted}));
}

/// What moves each anchor to its box.
static Value encodeBoxes(LoweringContext &n, Value anchors, Value boxes) {
  const std::vector<double> &variances = n.p.getFloats("variances");
  std::array<Value, 4> c;
  for (int axis : {0, 1}) {
    auto extent = [&](Value x) {
      return n.b.sub(column(n, x, axis + 2), column(n, x, axis));
    };
    auto center = [&](Value x) {
      return n.b.mul(n.b.add(column(n, x, axis), column(n, x, axis + 2)),
                     n.scalarLike(x, 0.5));
    };
    auto divided = [&](Value x, int i) {
      return n.b.div(x, floatLike(n, x, variances[i]));
    };
    Value own = extent(anchors);
    c[axis] =
        divided(n.b.div(n.b.sub(center(boxes), center(anchors)), own), axis);
    c[axis + 2] =
        divided(n.b.op("log", {n.b.div(extent(boxes), own)}), axis + 2);
  }
  return n.b.concat(c, 2);
}

static void lowerMultiBoxTarget(LoweringContext &n) {
  Ints shape = n.shape(n.in(1), "targets of anchors"),
       scores = n.shape(n.in(2), "targets of anchors");
  if (n.b.failed() || !checkVariances(n) || !areBoxes(n, n.in(0), "anchor"))
    return;
  if (shape[1] < 1 || shape[2] < 5)
    return n.fail("expected 'label' of at least 1 row and 5 columns, got " +
                  Twine(shape[1]) + " and " + Twine(shape[2]));
  int64_t batches = shape[0], count = scores[2];
  if (count < 1 || scores[1] < 1)
    return n.fail("expected 'cls_pred' of some classes and anchors, got " +
                  Twine(scores[1]) + " and " + Twine(count));
  double ratio = n.p.getFloat("negative_mining_ratio");
  if (ratio > 0 && !(n.p.getFloat("negative_mining_thresh") > 0))
    return n.fail("parameter 'negative_mining_thresh': expected a number above "
                  "0");
  auto wide = [&](Value x) { return n.b.cast(x, n.b.wideFloat(x)); };
  Value anchors = wide(n.in(0)), labels = wide(n.in(1));
  Targets targets = matchAnchors(n, anchors, labels);
  Value isNegative = ratio > 0 ? mineNegatives(n, targets, wide(n.in(2)), ratio)
                               : isNot(n, targets.isPositive);
  isNegative = both(n, isNegative, targets.hasLabels);
  Value matched = rowsAt(n, n.b.slice(labels, 2, 0, 5), targets.matches);
  Value ids = n.b.squeeze(column(n, matched, 0), {2});
  Value classes = n.b.op(
      "select",
      {targets.isPositive, n.b.add(ids, n.scalarLike(ids, 1)),
       n.b.op("select", {isNegative, n.scalarLike(ids, 0),
                         floatLike(n, ids, n.p.getFloat("ignore_label"))})});
  Value isMoved = n.b.unsqueeze(targets.isPositive, {2});
  Value moves = encodeBoxes(n, anchors, n.b.slice(matched, 2, 1, 5));
  moves = n.b.op("select", {isMoved, moves, n.scalarLike(moves, 0)});
  Value mask = n.b.op(
      "expand", {n.b.castLike(isMoved, moves), n.b.ints({batches, count, 4})});
  auto give = [&](int64_t index, Value value, llvm::ArrayRef<int64_t> to) {
    value = reshapeTo(n, n.b.castLike(value, n.in(0)), to);
    n.set(index, n.b.op("stop_gradient", {value}));
  };
  give(0, moves, {batches, count * 4});
  give(1, mask, {batches, count * 4});
  give(2, classes, {batches, count});
}

static void relateTarget(ShapeRelation &r) {
  int64_t batches = r.inputDim(1, 0), count = r.inputDim(0, 1);
  if (batches == rt::kUnknownDim)
    batches = r.inputDim(2, 0);
  if (count == rt::kUnknownDim)
    count = r.inputDim(2, 2);
  r.setInput(0, std::vector<int64_t>{1, count, 4});
  r.setInput(1, std::vector{batches, rt::kUnknownDim, rt::kUnknownDim});
  r.setInput(2, std::vector{batches, rt::kUnknownDim, count});
}

//===-- Declarations ------------------------------------------------------===//

static Parameter number(std::string_view name, std::string_view fallback,
                        std::string_view summary) {
  return optional(name, ParameterKind::Float, fallback, summary);
}

static Parameter whole(std::string_view name, std::string_view fallback,
                       std::string_view summary) {
  return optional(name, ParameterKind::Int, fallback, summary)
      .within(-kMaxExtent, kMaxExtent);
}

static Parameter variances() {
  return optional("variances", ParameterKind::Floats, "(0.1, 0.1, 0.2, 0.2)",
                  "Factors of what moves and scales a box.");
}

static Operator makeBoxNms() {
  auto format = [](std::string_view name) {
    return choice(name, {"center", "corner"}, "corner",
                  "Centers and extents, or two corners.");
  };
  return {
      .name = "_contrib_box_nms",
      .aliases = {"_contrib_box_non_maximum_suppression"},
      .summary = "Rows by falling score, without boxes that overlap a "
                 "better one",
      .details = "Rows that are left out are -1, at the end. Where formats "
                 "differ, boxes whose first number is negative keep "
                 "theirs.",
      .parameters =
          {number("overlap_thresh", "0.5",
                  "What boxes may share of what both cover."),
           number("valid_thresh", "0", "Scores must be above that."),
           whole("topk", "-1",
                 "Rows that take part, the best ones; negative: "
                 "all; 0: the data as it is."),
           whole("coord_start", "2", "The first of the columns of the box."),
           whole("score_index", "1", "The column of the score."),
           whole("id_index", "-1", "The column of the class; negative: none."),
           whole("background_id", "-1", "The class that is left out."),
           optional("force_suppress", ParameterKind::Bool, "False",
                    "Also boxes of other classes suppress."),
           format("in_format"), format("out_format")},
      .outputs = {{"output0"}, {"output1", {}, never()}},
      .lower = lowerBoxNms};
}

static Operator makeDetection() {
  return {
      .name = "_contrib_MultiBoxDetection",
      .aliases = {"_npx_multibox_detection"},
      .summary = "Class, score and box of what anchors show, best first",
      .details = "Class 0 of the operand is the background; classes of the "
                 "result count without it. A row that is suppressed has "
                 "class -1, one that shows nothing is -1.",
      .parameters = {optional("clip", ParameterKind::Bool, "True",
                              "Keep boxes inside of the image."),
                     number("threshold", "0.01", "The least score."),
                     ignored("background_id", ParameterKind::Int, "0"),
                     number("nms_threshold", "0.5",
                            "Boxes that share as much of what both cover "
                            "are suppressed; none where it is not above 0 "
                            "and at most 1."),
                     optional("force_suppress", ParameterKind::Bool, "False",
                              "Also boxes of other classes suppress."),
                     variances(),
                     whole("nms_topk", "-1",
                           "The rows that keep a class at most; not "
                           "positive: all.")},
      .inputs = {{"cls_prob"}, {"loc_pred"}, {"anchor"}},
      .relateShapes = relateDetection,
      .lower = lowerMultiBoxDetection};
}

static Operator makeTarget() {
  return {.name = "_contrib_MultiBoxTarget",
          .aliases = {"_npx_multibox_target"},
          .summary = "What a network is to say of anchors: moves of boxes, "
                     "which of them count, and classes",
          .details = "Rows of `label` are a class and a box, and end with a "
                     "class of -1.",
          .parameters = {number("overlap_threshold", "0.5",
                                "Anchors that overlap a label more than that "
                                "show it, beside the best one of each."),
                         number("ignore_label", "-1",
                                "The class of anchors that do not count."),
                         number("negative_mining_ratio", "-1",
                                "Anchors of background for each that shows a "
                                "label; not positive: all."),
                         number("negative_mining_thresh", "0.5",
                                "They overlap labels less than that."),
                         ignored("minimum_negative_samples", ParameterKind::Int,
                                 "0"),
                         variances()},
          .inputs = {{"anchor"}, {"label"}, {"cls_pred"}},
          .outputs = {{"loc_target"}, {"loc_mask"}, {"cls_target"}},
          .relateShapes = relateTarget,
          .lower = lowerMultiBoxTarget};
}

static Operator makeMatching() {
  return {.name = "_contrib_bipartite_matching",
          .summary = "Rows and columns in pairs, best scores first",
          .details = "The column of each row and the row of each column; -1 "
                     "without a partner.",
          .parameters = {optional("is_ascend", ParameterKind::Bool, "False",
                                  "The smallest scores are the best."),
                         required("threshold", ParameterKind::Float,
                                  "Scores must be better than that."),
                         whole("topk", "-1",
                               "Pairs, less one, at most; not positive: any "
                               "number.")},
          .outputs = {{"output0"}, {"output1"}},
          .relateShapes = relateMatching,
          .lower = lowerBipartiteMatching};
}

std::span<const Operator> dlc::symbol::detectionOperators() {
  static const std::vector<Operator> rows = {makeBoxNms(), makeDetection(),
                                             makeTarget(), makeMatching()};
  return rows;
}
