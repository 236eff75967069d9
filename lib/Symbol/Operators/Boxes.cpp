// SPDX-License-Identifier: Apache-2.0
//
// Boxes: how much they overlap, what moves anchors to them, and anchors.

#include "Boxes.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

Value symbol::column(LoweringContext &n, Value boxes, int64_t i) {
  return n.b.slice(boxes, n.rank(boxes) - 1, i, i + 1);
}

Value symbol::floatLike(LoweringContext &n, Value like, double value) {
  return n.scalarLike(like, static_cast<float>(value));
}

bool symbol::areBoxes(LoweringContext &n, Value boxes, const char *what) {
  int64_t rank = n.rank(boxes);
  if (rank >= 1 && GraphBuilder::dimOf(boxes, rank - 1) == 4)
    return true;
  n.fail("expected 4 numbers in the last dimension of '" + Twine(what) + "'");
  return false;
}

/// The corners of boxes in the format of the node.
static Corners corners(LoweringContext &n, Value boxes) {
  Corners c;
  for (int i = 0; i < 4; ++i)
    c[i] = column(n, boxes, i);
  if (n.p.getText("format") == "corner")
    return c;
  Value half = n.scalarLike(boxes, 0.5);
  Value w = n.b.mul(c[2], half), h = n.b.mul(c[3], half);
  return {n.b.sub(c[0], w), n.b.sub(c[1], h), n.b.add(c[0], w),
          n.b.add(c[1], h)};
}

Value symbol::overlapsOf(LoweringContext &n, const Corners &a,
                         const Corners &b) {
  Value zero = n.scalarLike(a[0], 0);
  auto extent = [&](const Corners &box, int axis) {
    return n.b.op("max", {n.b.sub(box[axis + 2], box[axis]), zero});
  };
  auto common = [&](int axis) {
    Value first = n.b.op("max", {a[axis], b[axis]});
    Value last = n.b.op("min", {a[axis + 2], b[axis + 2]});
    return n.b.op("max", {n.b.sub(last, first), zero});
  };
  Value inside = n.b.mul(common(0), common(1));
  Value all = n.b.sub(n.b.add(n.b.mul(extent(a, 0), extent(a, 1)),
                              n.b.mul(extent(b, 0), extent(b, 1))),
                      inside);
  Value isSome = n.b.op("greater", {all, zero});
  Value safe = n.b.op("select", {isSome, all, n.scalarLike(all, 1)});
  return n.b.op("select", {isSome, n.b.div(inside, safe), zero});
}

/// Of each box of the one with each of the other: their common area over all.
static void lowerBoxIou(LoweringContext &n) {
  Value a = n.in(0), b = n.in(1);
  if (!areBoxes(n, a, "lhs") || !areBoxes(n, b, "rhs"))
    return;
  Ints shapeA = n.shape(a, "boxes"), shapeB = n.shape(b, "boxes");
  if (n.b.failed())
    return;
  auto rows = [&](Value x) { return n.b.reshape(x, {-1, 4}); };
  auto left = corners(n, rows(a)), right = corners(n, rows(b));
  for (Value &each : right)
    each = n.b.transpose(each, {1, 0});
  Value y = overlapsOf(n, left, right);
  Ints shape(shapeA.begin(), shapeA.end() - 1);
  shape.append(shapeB.begin(), shapeB.end() - 1);
  n.set(0, n.b.reshapeTo(y, shape));
}

/// Anchors moved and scaled by what a network says, as corners.
static void lowerBoxDecode(LoweringContext &n) {
  Value x = n.in(0), anchors = n.in(1);
  if (!areBoxes(n, x, "data") || !areBoxes(n, anchors, "anchors"))
    return;
  Corners a;
  for (int i = 0; i < 4; ++i)
    a[i] = column(n, anchors, i);
  Value half = n.scalarLike(anchors, 0.5);
  if (n.p.getText("format") == "corner") {
    Value w = n.b.sub(a[2], a[0]), h = n.b.sub(a[3], a[1]);
    a = {n.b.add(a[0], n.b.mul(w, half)), n.b.add(a[1], n.b.mul(h, half)), w,
         h};
  }
  auto delta = [&](int i) {
    std::string name = "std" + std::to_string(i);
    return n.b.mul(column(n, x, i), n.scalarLike(x, n.p.getFloat(name)));
  };
  auto center = [&](int i) {
    return n.b.add(n.b.mul(delta(i), a[i + 2]), a[i]);
  };
  auto reach = [&](int i) {
    Value d = delta(i);
    if (double clip = n.p.getFloat("clip"); clip > 0)
      d = n.b.op("min", {d, n.scalarLike(x, clip)});
    return n.b.mul(n.b.mul(n.b.op("exp", {d}), a[i]), half);
  };
  Value cx = center(0), cy = center(1), w = reach(2), h = reach(3);
  n.set(0, n.b.concat(
               {n.b.sub(cx, w), n.b.sub(cy, h), n.b.add(cx, w), n.b.add(cy, h)},
               n.rank(x) - 1));
}

/// From anchors to boxes, in the extents of the anchors: what decoding undoes.
static Value encoded(LoweringContext &n, Value anchors, Value boxes) {
  Value half = n.scalarLike(anchors, 0.5);
  llvm::SmallVector<Value> moves, scales;
  for (int axis : {0, 1}) {
    auto extent = [&](Value x) {
      return n.b.sub(column(n, x, axis + 2), column(n, x, axis));
    };
    auto center = [&](Value x) {
      return n.b.add(column(n, x, axis), n.b.mul(extent(x), half));
    };
    Value own = extent(anchors);
    moves.push_back(n.b.div(n.b.sub(center(boxes), center(anchors)), own));
    scales.push_back(n.b.op("log", {n.b.div(extent(boxes), own)}));
  }
  moves.append(scales);
  return n.b.concat(moves, n.rank(anchors) - 1);
}

/// What a network is to say of each anchor to get the box that it is matched
/// with, and where that counts. A match that names no box counts as the nearest
/// that does.
static void lowerBoxEncode(LoweringContext &n) {
  Value samples = n.in(0), matches = n.in(1), anchors = n.in(2), refs = n.in(3);
  if (!areBoxes(n, anchors, "anchors") || !areBoxes(n, refs, "refs"))
    return;
  if (n.rank(samples) != 2 || n.rank(matches) != 2 || n.rank(anchors) != 3 ||
      n.rank(refs) != 3)
    return n.fail("expected 'samples' and 'matches' of 2 dimensions, 'anchors' "
                  "and 'refs' of 3");
  if (GraphBuilder::dimOf(refs, 1) == 0)
    return n.fail("expected some boxes in 'refs', got none");
  Value last = n.b.sub(extentOf(n, refs, 1), n.b.intScalar(1));
  Value places =
      n.b.op("clamp", {n.b.cast(matches, n.b.i64()), n.b.intScalar(0), last});
  Value boxes = n.b.op("gather_nd", {refs, n.b.unsqueeze(places, {2})},
                       {{"batch_dims", 1}});
  Value targets =
      n.b.div(n.b.sub(encoded(n, anchors, boxes), n.in(4)), n.in(5));
  Value counts = n.b.unsqueeze(
      n.b.op("greater", {samples, n.scalarLike(samples, 0.5)}), {2});
  targets = n.b.op("select", {counts, targets, n.scalarLike(targets, 0)});
  Value mask =
      n.b.op("expand", {n.b.castLike(counts, anchors), n.b.shapeOf(anchors)});
  n.set(0, n.b.op("stop_gradient", {targets}));
  n.set(1, n.b.op("stop_gradient", {mask}));
}

/// Samples and matches of each anchor; means and deviations of four numbers.
static void relateBoxEncode(ShapeRelation &r) {
  r.equate(2, 0);
  r.equate(2, 1);
  r.setInput(4, std::vector<int64_t>{4});
  r.setInput(5, std::vector<int64_t>{4});
  std::vector each = {r.inputDim(2, 0), r.inputDim(2, 1)};
  r.setInput(0, each);
  r.setInput(1, each);
}

/// Boxes of all sizes and ratios around every element of an image.
static void lowerBoxPrior(LoweringContext &n) {
  if (!isImage(n, n.in(0)))
    return;
  Ints shape = n.shape(n.in(0), "boxes of an image");
  if (n.b.failed())
    return;
  const std::vector<double> &sizes = n.p.getFloats("sizes"),
                            &ratios = n.p.getFloats("ratios"),
                            &steps = n.p.getFloats("steps"),
                            &offsets = n.p.getFloats("offsets");
  if (sizes.empty() || ratios.empty() || steps.size() != 2 ||
      offsets.size() != 2)
    return n.fail("expected some 'sizes' and 'ratios', and two of 'steps' and "
                  "'offsets'");
  int64_t height = shape[2], width = shape[3];
  auto count = static_cast<int64_t>(sizes.size() + ratios.size() - 1);
  if (height * width > (1 << 22) / count)
    return n.unsupported("as many boxes");
  double stepY = steps[0] > 0 ? steps[0] : 1.0 / static_cast<double>(height);
  double stepX = steps[1] > 0 ? steps[1] : 1.0 / static_cast<double>(width);
  double aspect = static_cast<double>(height) / static_cast<double>(width);
  std::vector<std::pair<double, double>> halves; // Of widths and heights.
  double first = std::sqrt(ratios[0]);
  for (double size : sizes)
    halves.emplace_back(size * aspect * first / 2, size / first / 2);
  for (size_t i = 1; i < ratios.size(); ++i) {
    double root = std::sqrt(ratios[i]);
    halves.emplace_back(sizes[0] * aspect * root / 2, sizes[0] / root / 2);
  }
  std::vector<float> boxes;
  bool clips = n.p.getBool("clip");
  for (int64_t row = 0; row < height; ++row)
    for (int64_t at = 0; at < width; ++at) {
      double y = (static_cast<double>(row) + offsets[0]) * stepY;
      double x = (static_cast<double>(at) + offsets[1]) * stepX;
      for (auto [w, h] : halves)
        for (double each : {x - w, y - h, x + w, y + h})
          boxes.push_back(
              static_cast<float>(clips ? std::clamp(each, 0.0, 1.0) : each));
    }
  n.set(0, n.b.castLike(floats(n, {1, height * width * count, 4}, boxes),
                        n.in(0)));
}

//===-- Declarations ------------------------------------------------------===//

static Parameter format(std::string_view fallback) {
  return choice("format", {"center", "corner"}, fallback,
                "Centers and extents, or two corners.");
}

static Parameter deviation(std::string_view name) {
  return optional(name, ParameterKind::Float, "1", "Factor of that number.");
}

std::span<const Operator> dlc::symbol::boxOperators() {
  static const std::vector<Operator> rows = {
      {.name = "_contrib_box_iou",
       .summary = "Common areas of boxes over all of their areas",
       .parameters = {format("corner")},
       .inputs = {{"lhs"}, {"rhs"}},
       .lower = lowerBoxIou},
      {.name = "_contrib_box_decode",
       .summary = "Boxes out of anchors and what moves them",
       .parameters = {deviation("std0"), deviation("std1"), deviation("std2"),
                      deviation("std3"),
                      optional("clip", ParameterKind::Float, "-1",
                               "Largest logarithm of a scale; negative: none."),
                      format("center")},
       .inputs = {{"data"}, {"anchors"}},
       .lower = lowerBoxDecode},
      {.name = "_contrib_box_encode",
       .summary = "What makes boxes out of anchors, and where it counts",
       .inputs = {{"samples"},
                  {"matches"},
                  {"anchors"},
                  {"refs"},
                  {"means"},
                  {"stds"}},
       .outputs = {{"output0"}, {"output1"}},
       .relateShapes = relateBoxEncode,
       .lower = lowerBoxEncode},
      {.name = "_contrib_MultiBoxPrior",
       .aliases = {"_npx_multibox_prior"},
       .summary = "Boxes around every element of an image",
       .parameters = {optional("sizes", ParameterKind::Floats, "(1,)",
                               "Sizes, with the first ratio."),
                      optional("ratios", ParameterKind::Floats, "(1,)",
                               "Ratios, with the first size."),
                      optional("clip", ParameterKind::Bool, "False",
                               "Keep inside of the image."),
                      optional("steps", ParameterKind::Floats, "(-1, -1)",
                               "Distances of centers; negative: by the "
                               "extents."),
                      optional("offsets", ParameterKind::Floats, "(0.5, 0.5)",
                               "Of the first center, in steps.")},
       .lower = lowerBoxPrior},
  };
  return rows;
}
