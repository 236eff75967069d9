// SPDX-License-Identifier: Apache-2.0
//
// Regions that may show something, out of what a network says of anchors
// (MXNet 1.9.1: proposal.cc, multi_proposal.cc).

#include "Choice.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

namespace {
/// Extents of the maps of scores: `anchors` for each of height x width.
struct Maps {
  int64_t batches, anchors, height, width;

  int64_t count() const { return anchors * height * width; }
};
} // namespace

/// Reads and checks the shapes of the operands; fails the node.
static bool readMaps(LoweringContext &n, Maps &maps) {
  for (int i : {0, 1})
    if (!isImage(n, n.in(i)))
      return false;
  Ints scores = n.shape(n.in(0), "proposals");
  if (n.b.failed())
    return false;
  for (Value x : n.inputs())
    if (GraphBuilder::elementOf(x) != n.b.f32()) {
      n.unsupported("proposals of other types than float32");
      return false;
    }
  size_t anchors =
      n.p.getFloats("ratios").size() * n.p.getFloats("scales").size();
  if (anchors == 0 || scores[1] != static_cast<int64_t>(2 * anchors)) {
    n.fail("expected 'cls_prob' of " + Twine(2 * anchors) +
           " channels, two for each of 'ratios' and 'scales', got " +
           Twine(scores[1]));
    return false;
  }
  maps = {scores[0], static_cast<int64_t>(anchors), scores[2], scores[3]};
  if (maps.height < 1 || maps.width < 1) {
    n.fail("expected some elements in 'cls_prob', got none");
    return false;
  }
  if (maps.height * maps.width > (1 << 22) / maps.anchors) {
    n.unsupported("as many anchors");
    return false;
  }
  return true;
}

/// The anchors of the place (0, 0), rounded as those were that networks were
/// trained with.
static std::vector<std::array<float, 4>> baseAnchors(LoweringContext &n) {
  std::vector<std::array<float, 4>> anchors;
  auto side = static_cast<float>(n.p.getInt("feature_stride"));
  float center = 0.5f * (side - 1);
  for (double ratio : n.p.getFloats("ratios"))
    for (double each : n.p.getFloats("scales")) {
      auto narrow = static_cast<float>(ratio), scale = static_cast<float>(each);
      float area = std::floor(side * side / narrow);
      float width = std::floor(std::sqrt(area) + 0.5f) * scale;
      float height = std::floor(width / scale * narrow + 0.5f) * scale;
      float x = 0.5f * (width - 1), y = 0.5f * (height - 1);
      anchors.push_back({center - x, center - y, center + x, center + y});
    }
  return anchors;
}

namespace {
/// The anchors of all places, as constants of 1 x count: corners, and the
/// places in rows and columns of the map.
struct Anchors {
  Corners corners;
  Value rows, columns;
};
} // namespace

static Anchors makeAnchors(LoweringContext &n, const Maps &maps) {
  std::array<std::vector<float>, 6> numbers;
  auto stride = static_cast<float>(n.p.getInt("feature_stride"));
  auto base = baseAnchors(n);
  for (int64_t row = 0; row < maps.height; ++row)
    for (int64_t at = 0; at < maps.width; ++at)
      for (const std::array<float, 4> &anchor : base) {
        auto y = static_cast<float>(row), x = static_cast<float>(at);
        for (int i = 0; i < 4; ++i)
          numbers[i].push_back(anchor[i] + (i % 2 ? y : x) * stride);
        numbers[4].push_back(y);
        numbers[5].push_back(x);
      }
  std::array<Value, 6> values;
  for (int i = 0; i < 6; ++i)
    values[i] = floats(n, {1, maps.count()}, numbers[i]);
  return {{values[0], values[1], values[2], values[3]}, values[4], values[5]};
}

/// Channels N x (A x numbers) x H x W as `numbers` tensors of N x (H x W x A).
static llvm::SmallVector<Value> perAnchor(LoweringContext &n, Value x,
                                          const Maps &maps, int64_t numbers) {
  x = n.b.reshapeTo(
      x, {maps.batches, maps.anchors, numbers, maps.height, maps.width});
  x = n.b.transpose(x, {2, 0, 3, 4, 1});
  llvm::SmallVector<Value> parts;
  for (int64_t i = 0; i < numbers; ++i)
    parts.push_back(
        n.b.reshapeTo(n.b.slice(x, 0, i, i + 1), {maps.batches, maps.count()}));
  return parts;
}

/// Anchors moved and scaled as the network says, inside of the image.
static Corners decodeRegions(LoweringContext &n, const Anchors &anchors,
                             llvm::ArrayRef<Value> moves, Value info) {
  Value one = n.scalarLike(info, 1), half = n.scalarLike(info, 0.5);
  Corners c;
  for (int axis : {0, 1}) {
    Value low = anchors.corners[axis], high = anchors.corners[axis + 2];
    if (n.p.getBool("iou_loss")) {
      c[axis] = n.b.add(low, moves[axis]);
      c[axis + 2] = n.b.add(high, moves[axis + 2]);
    } else {
      Value extent = n.b.add(n.b.sub(high, low), one);
      Value center = n.b.add(low, n.b.mul(half, n.b.sub(extent, one)));
      center = n.b.add(n.b.mul(moves[axis], extent), center);
      extent = n.b.mul(n.b.op("exp", {moves[axis + 2]}), extent);
      Value reach = n.b.mul(half, n.b.sub(extent, one));
      c[axis] = n.b.sub(center, reach);
      c[axis + 2] = n.b.add(center, reach);
    }
    Value last = n.b.sub(column(n, info, 1 - axis), one);
    for (int i : {axis, axis + 2})
      c[i] =
          n.b.op("max", {n.b.op("min", {c[i], last}), n.scalarLike(info, 0)});
  }
  return c;
}

/// Regions that are too small grow, and get the lowest score, as those get it
/// that are beside of the image.
static Value filterRegions(LoweringContext &n, const Anchors &anchors,
                           Corners &c, Value scores, Value info) {
  Value one = n.scalarLike(info, 1), lowest = n.scalarLike(info, -1);
  auto stride = static_cast<double>(n.p.getInt("feature_stride"));
  auto drop = [&](Value condition) {
    scores = n.b.op("select", {condition, lowest, scores});
  };
  for (int axis : {1, 0}) {
    Value real =
        n.b.cast(n.b.div(column(n, info, 1 - axis), n.scalarLike(info, stride)),
                 n.b.i64());
    drop(n.b.op("greater_equal", {axis == 1 ? anchors.rows : anchors.columns,
                                  n.b.castLike(real, info)}));
  }
  Value least = n.b.mul(
      n.scalarLike(info, static_cast<double>(n.p.getInt("rpn_min_size"))),
      column(n, info, 2));
  Value isSmall;
  for (int axis : {0, 1}) {
    Value extent = n.b.add(n.b.sub(c[axis + 2], c[axis]), one);
    Value isBelow = n.b.op("less", {extent, least});
    isSmall = isSmall ? n.b.op("logical_or", {isSmall, isBelow}) : isBelow;
  }
  Value margin = n.b.mul(least, n.scalarLike(info, 0.5));
  for (int i = 0; i < 4; ++i) {
    Value grown = i < 2 ? n.b.sub(c[i], margin) : n.b.add(c[i], margin);
    c[i] = n.b.op("select", {isSmall, grown, c[i]});
  }
  drop(isSmall);
  return scores;
}

/// The places of the `wanted` first regions that overlap none before; where
/// there are less, they come again.
static Value chooseRegions(LoweringContext &n, Value boxes, int64_t kept,
                           int64_t wanted) {
  Value all = n.b.op("expand",
                     {n.b.scalar(n.b.boolean(), 1), n.b.shapeOf(boxes, 0, 2)});
  Value isKept =
      n.b.op("suppress_boxes",
             {boxes, all, floatLike(n, boxes, n.p.getFloat("threshold"))},
             {{"inclusive", true}});
  Value total = n.b.reduce("reduce_sum", n.b.cast(isKept, n.b.i64()), {1},
                           /*keepDims=*/true);
  total = n.b.op("min", {total, n.b.intScalar(std::min(wanted, kept))});
  Value at = n.b.op("mod", {countTo(n, wanted), total});
  return rowsAt(n, placesWhere(n, isKept), at);
}

static void lowerProposals(LoweringContext &n) {
  Maps maps;
  if (!readMaps(n, maps))
    return;
  Value info = n.in(2);
  Anchors anchors = makeAnchors(n, maps);
  Value foreground = n.b.slice(n.in(0), 1, maps.anchors, 2 * maps.anchors);
  Value scores = perAnchor(n, foreground, maps, 1).front();
  Corners c = decodeRegions(n, anchors, perAnchor(n, n.in(1), maps, 4), info);
  scores = filterRegions(n, anchors, c, scores, info);

  int64_t most = n.p.getInt("rpn_pre_nms_top_n");
  int64_t kept = most > 0 ? std::min(most, maps.count()) : maps.count();
  int64_t wanted = n.p.getInt("rpn_post_nms_top_n");
  for (Value &each : c)
    each = n.b.unsqueeze(each, {2});
  Value order = placesOfGreatest(n, scores, kept);
  Value boxes = rowsAt(n, n.b.concat(c, 2), order);
  Value places = chooseRegions(n, boxes, kept, wanted);
  boxes = rowsAt(n, boxes, places);
  scores = rowsAt(n, rowsAt(n, scores, order), places);
  Value images = n.b.op(
      "expand",
      {n.b.reshape(n.b.castLike(countTo(n, maps.batches), boxes), {-1, 1, 1}),
       n.b.ints({maps.batches, wanted, 1})});
  auto give = [&](int64_t index, Value value, int64_t width) {
    value = n.b.reshapeTo(value, {maps.batches * wanted, width});
    n.set(index, n.b.op("stop_gradient", {value}));
  };
  give(0, n.b.concat({images, boxes}, 2), 5);
  give(1, scores, 1);
}

static void lowerProposal(LoweringContext &n) {
  if (int64_t batches = GraphBuilder::dimOf(n.in(0), 0); batches != 1)
    return n.fail("expected 'cls_prob' of 1 image, got " + Twine(batches));
  lowerProposals(n);
}

/// Four moves for each pair of scores; three numbers of each image.
static void relateProposals(ShapeRelation &r) {
  const Shape &scores = r.input(0);
  if (!scores || scores->size() != 4)
    return;
  std::vector<int64_t> moves = *scores;
  if (moves[1] != rt::kUnknownDim && moves[1] <= kMaxExtent)
    moves[1] *= 2;
  else
    moves[1] = rt::kUnknownDim;
  r.setInput(1, moves);
  r.setInput(2, std::vector<int64_t>{(*scores)[0], 3});
}

static Operator makeProposals(std::string_view name, std::string_view summary,
                              void (*lower)(LoweringContext &)) {
  return {.name = name,
          .summary = summary,
          .details =
              "A row is the image and two corners, which are pixels of the "
              "region. `im_info` has the height, the width and the scale of "
              "each image. Where there are too few regions, they come "
              "again.",
          .parameters =
              {optional("rpn_pre_nms_top_n", ParameterKind::Int, "6000",
                        "Regions that take part, the best ones; not positive: "
                        "all.")
                   .within(-kMaxExtent, kMaxExtent),
               optional("rpn_post_nms_top_n", ParameterKind::Int, "300",
                        "Regions of each image in the result.")
                   .within(1, 1 << 20),
               optional("threshold", ParameterKind::Float, "0.7",
                        "What regions may share of what both cover."),
               optional("rpn_min_size", ParameterKind::Int, "16",
                        "Extents below that, times the image's scale, are too "
                        "small.")
                   .within(-kMaxExtent, kMaxExtent),
               optional("scales", ParameterKind::Floats, "(4, 8, 16, 32)",
                        "Extents of anchors in strides."),
               optional("ratios", ParameterKind::Floats, "(0.5, 1, 2)",
                        "Heights of anchors over their widths."),
               optional("feature_stride", ParameterKind::Int, "16",
                        "Pixels of the image for one element of the maps.")
                   .within(1, 1 << 20),
               optional("output_score", ParameterKind::Bool, "False",
                        "Also give the scores."),
               optional("iou_loss", ParameterKind::Bool, "False",
                        "What the network says is added to corners.")},
          .inputs = {{"cls_prob"}, {"bbox_pred"}, {"im_info"}},
          .outputs = {{"output"}, {"score", {}, when("output_score")}},
          .relateShapes = relateProposals,
          .lower = lower};
}

std::span<const Operator> dlc::symbol::proposalOperators() {
  static const std::vector<Operator> rows = {
      makeProposals("_contrib_Proposal",
                    "Regions of an image that may show something, best first",
                    lowerProposal),
      makeProposals("_contrib_MultiProposal",
                    "Regions of images that may show something, best first",
                    lowerProposals)};
  return rows;
}
