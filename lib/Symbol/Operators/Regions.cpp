// SPDX-License-Identifier: Apache-2.0
//
// Regions of images, each of which gives a map of one size (MXNet 1.9.1:
// roi_pooling.cc, roi_align.cc, rroi_align.cc, psroi_pooling.cc).

#include "Rules.h"

#include <numbers>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Regions -----------------------------------------------------------===//

static bool isPooledSize(LoweringContext &n) {
  if (n.p.getInts("pooled_size").size() == 2)
    return true;
  n.fail("parameter 'pooled_size': expected 2 values, got " +
         Twine(n.p.getInts("pooled_size").size()));
  return false;
}

static void lowerRoiPooling(LoweringContext &n) {
  if (!isPooledSize(n))
    return;
  Ints size = n.ints("pooled_size");
  n.set(0, n.b.op("max_roi_pool", {n.in(0), n.in(1)},
                  {{"pooled_shape", llvm::ArrayRef<int64_t>(size)},
                   {"spatial_scale",
                    static_cast<float>(n.p.getFloat("spatial_scale"))}}));
}

/// Of maps of all channels: each element has a channel of its own, whose map
/// has it at the same place.
static Value takeOwnChannels(LoweringContext &n, Value maps,
                             llvm::ArrayRef<int64_t> size) {
  Ints shape = n.shape(maps, "position-sensitive regions");
  if (n.b.failed())
    return {};
  int64_t places = size[0] * size[1];
  if (shape[1] % places) {
    n.fail("expected 'data' of a multiple of " + Twine(places) +
           " channels, for 'pooled_size', got " + Twine(shape[1]));
    return {};
  }
  int64_t channels = shape[1] / places;
  auto reshape = [&](Value x, llvm::ArrayRef<int64_t> to) {
    return n.b.reshapeTo(x, to);
  };
  Value pairs = reshape(maps, {shape[0], channels, places * places});
  Value own = n.b.slice(pairs, 2, 0, places * places, places + 1);
  return reshape(own, {shape[0], channels, size[0], size[1]});
}

static void lowerRoiAlign(LoweringContext &n) {
  if (!isPooledSize(n))
    return;
  if (n.rank(n.in(1)) != 2)
    return n.fail("expected 'rois' of 2 dimensions, got " +
                  Twine(n.rank(n.in(1))));
  Ints size = n.ints("pooled_size");
  Value images =
      n.b.cast(n.b.squeeze(n.b.slice(n.in(1), 1, 0, 1), {1}), n.b.i64());
  Value y = n.b.op(
      "roi_align", {n.in(0), n.b.slice(n.in(1), 1, 1, 5), images},
      {{"mode", "avg"},
       {"output_height", size[0]},
       {"output_width", size[1]},
       {"sampling_ratio", std::max<int64_t>(0, n.p.getInt("sample_ratio"))},
       {"spatial_scale", static_cast<float>(n.p.getFloat("spatial_scale"))},
       {"coordinate_transformation_mode",
        n.p.getBool("aligned") ? "half_pixel" : "output_half_pixel"}});
  if (n.p.getBool("position_sensitive"))
    y = takeOwnChannels(n, y, size);
  n.set(0, y);
}

//===-- Rotated regions ---------------------------------------------------===//

/// The numbers (i + 1/2) / samples - count / 2 for all samples of `count`
/// parts: distances from the center of a region, in parts.
static Value distances(LoweringContext &n, int64_t count, int64_t samples) {
  std::vector<float> values;
  for (int64_t i = 0; i < count * samples; ++i)
    values.push_back((static_cast<float>(i) + 0.5f) /
                         static_cast<float>(samples) -
                     static_cast<float>(count) / 2);
  return floats(n, {count * samples}, values);
}

namespace {
/// The elements on both sides of places along one axis.
struct Neighbours {
  Value low, high; ///< Their numbers, f32.
  Value weight;    ///< Of the second one.
};
} // namespace

/// Of places that are in the image: what is on its border has one neighbour.
static Neighbours neighboursOf(LoweringContext &n, Value places,
                               int64_t extent) {
  Value zero = n.scalarLike(places, 0),
        last = n.scalarLike(places, static_cast<double>(extent - 1));
  places = n.b.op("clamp", {places, zero, last});
  Value low = n.b.op("floor", {places});
  Value high = n.b.op("min", {n.b.add(low, n.scalarLike(low, 1)), last});
  return {low, high, n.b.sub(places, low)};
}

/// Means of samples, whose places turn around the center of the region.
static void lowerRotatedRoiAlign(LoweringContext &n) {
  Value x = n.in(0), rois = n.in(1);
  if (!isPooledSize(n) || !isImage(n, x))
    return;
  Ints shape = n.shape(x, "regions of images"),
       regions = n.shape(rois, "regions of images"),
       size = n.ints("pooled_size");
  int64_t samples = n.p.getInt("sampling_ratio");
  if (n.b.failed())
    return;
  if (regions.size() != 2 || regions[1] != 6)
    return n.fail("expected 'rois' of 2 dimensions and 6 columns");
  if (samples < 1)
    return n.unsupported("parameter 'sampling_ratio' of " + Twine(samples) +
                         ": as many samples as values say");
  int64_t count = regions[0], height = size[0] * samples,
          width = size[1] * samples, points = height * width;
  rois = n.b.cast(rois, n.b.f32());
  auto reshape = [&](Value value, llvm::ArrayRef<int64_t> to) {
    return n.b.reshapeTo(value, to);
  };
  auto column = [&](int64_t at) { // R x 1 x 1
    return reshape(n.b.slice(rois, 1, at, at + 1), {count, 1, 1});
  };
  Value scale = n.scalarLike(rois, n.p.getFloat("spatial_scale")),
        one = n.scalarLike(rois, 1);
  auto scaled = [&](int64_t at) { return n.b.mul(column(at), scale); };
  auto part = [&](int64_t at, int64_t parts) {
    Value extent = n.b.op("max", {scaled(at), one});
    return n.b.div(extent, n.scalarLike(extent, static_cast<double>(parts)));
  };
  Value down = n.b.mul(reshape(distances(n, size[0], samples), {1, height, 1}),
                       part(4, size[0]));
  Value right = n.b.mul(reshape(distances(n, size[1], samples), {1, 1, width}),
                        part(3, size[1]));
  Value angle = n.b.mul(column(5), n.scalarLike(rois, std::numbers::pi / 180));
  Value cosine = n.b.op("cos", {angle}), sine = n.b.op("sin", {angle});
  Value across =
      n.b.add(n.b.add(n.b.mul(right, cosine), n.b.mul(down, sine)), scaled(1));
  Value along =
      n.b.add(n.b.sub(n.b.mul(down, cosine), n.b.mul(right, sine)), scaled(2));
  auto isNear = [&](Value at, int64_t extent) {
    return n.b.op(
        "logical_and",
        {n.b.op("greater_equal", {at, n.scalarLike(at, -1)}),
         n.b.op("less_equal",
                {at, n.scalarLike(at, static_cast<double>(extent))})});
  };
  Value isInside = n.b.op("logical_and",
                          {isNear(along, shape[2]), isNear(across, shape[3])});
  Neighbours rows = neighboursOf(n, along, shape[2]),
             columns = neighboursOf(n, across, shape[3]);
  // Elements as rows of their channels.
  Value elements = reshape(n.b.transpose(x, {0, 2, 3, 1}),
                           {shape[0] * shape[2] * shape[3], shape[1]});
  Value first = n.b.mul(n.b.cast(column(0), n.b.i64()),
                        n.b.intScalar(shape[2] * shape[3]));
  auto corner = [&](Value row, Value column, Value weight) {
    Value place =
        n.b.add(n.b.mul(n.b.cast(row, n.b.i64()), n.b.intScalar(shape[3])),
                n.b.cast(column, n.b.i64()));
    place = reshape(n.b.add(place, first), {count * points});
    Value values = n.b.op("gather", {elements, place}, {{"axis", 0}});
    weight = n.b.op("select", {isInside, weight, n.scalarLike(weight, 0)});
    return n.b.mul(values,
                   n.b.castLike(reshape(weight, {count * points, 1}), values));
  };
  auto rest = [&](Value weight) { return n.b.sub(one, weight); };
  Value sum = corner(rows.low, columns.low,
                     n.b.mul(rest(rows.weight), rest(columns.weight)));
  sum = n.b.add(sum, corner(rows.low, columns.high,
                            n.b.mul(rest(rows.weight), columns.weight)));
  sum = n.b.add(sum, corner(rows.high, columns.low,
                            n.b.mul(rows.weight, rest(columns.weight))));
  sum = n.b.add(sum, corner(rows.high, columns.high,
                            n.b.mul(rows.weight, columns.weight)));
  sum = reshape(sum, {count, size[0], samples, size[1], samples, shape[1]});
  Value means = n.b.reduce("reduce_mean", sum, {2, 4}, /*keepDims=*/false);
  n.set(0, n.b.transpose(means, {0, 3, 1, 2}));
}

//===-- Parts with channels of their own ----------------------------------===//

namespace {
/// The parts of regions along one axis of images, for `count` of each.
struct Parts {
  Value isInside; ///< R x count x extent, 1 where a part has the element.
  Value sizes;    ///< R x count.
};
} // namespace

/// Parts begin at whole elements, and end at them.
static Parts divideRegions(LoweringContext &n, Value rois, int64_t axis,
                           int64_t count, int64_t extent) {
  Value scale = n.scalarLike(rois, n.p.getFloat("spatial_scale"));
  auto corner = [&](int64_t column, double more) {
    Value at = n.b.slice(rois, 1, column, column + 1); // R x 1
    Value whole = n.b.op(
        "floor", {n.b.add(n.b.op("abs", {at}), n.scalarLike(rois, 0.5))});
    at = n.b.mul(n.b.op("sign", {at}), whole);
    return n.b.mul(n.b.add(at, n.scalarLike(rois, more)), scale);
  };
  Value first = corner(1 + axis, 0), last = corner(3 + axis, 1);
  Value size = n.b.op("max", {n.b.sub(last, first), n.scalarLike(rois, 0.1)});
  Value step = n.b.div(size, n.scalarLike(rois, static_cast<double>(count)));
  auto border = [&](int64_t from, const char *rounding) {
    Value numbers = n.b.castLike(
        n.b.op("range", {n.b.intScalar(from), n.b.intScalar(from + count),
                         n.b.intScalar(1)}),
        rois);
    Value at = n.b.op(rounding, {n.b.add(n.b.mul(numbers, step), first)});
    return n.b.op("clamp", {at, n.scalarLike(rois, 0),
                            n.scalarLike(rois, static_cast<double>(extent))});
  };
  Value begin = border(0, "floor"), end = border(1, "ceil");
  Value places =
      n.b.castLike(n.b.op("range", {n.b.intScalar(0), n.b.intScalar(extent),
                                    n.b.intScalar(1)}),
                   rois);
  Value isInside =
      n.b.op("logical_and",
             {n.b.op("greater_equal", {places, n.b.unsqueeze(begin, {2})}),
              n.b.op("less", {places, n.b.unsqueeze(end, {2})})});
  return {n.b.castLike(isInside, rois),
          n.b.op("max", {n.b.sub(end, begin), n.scalarLike(rois, 0)})};
}

/// Means of parts of regions, of which each has channels of its own: products
/// of images with the parts along both axes.
static void lowerPositionSensitivePooling(LoweringContext &n) {
  Value x = n.in(0), rois = n.in(1);
  if (!isImage(n, x))
    return;
  Ints shape = n.shape(x, "regions of images"),
       regions = n.shape(rois, "regions of images");
  int64_t outputs = n.p.getInt("output_dim"),
          pooled = n.p.getInt("pooled_size");
  int64_t group = n.p.getInt("group_size");
  group = group == 0 ? pooled : group;
  if (n.b.failed())
    return;
  if (regions.size() != 2 || regions[1] != 5)
    return n.fail("expected 'rois' of 2 dimensions and 5 columns");
  if (shape[1] != outputs * group * group)
    return n.fail("expected 'data' of " + Twine(outputs * group * group) +
                  " channels, for 'output_dim' and 'group_size', got " +
                  Twine(shape[1]));
  Parts rows = divideRegions(n, rois, 1, pooled, shape[2]),
        columns = divideRegions(n, rois, 0, pooled, shape[3]);
  auto reshape = [&](Value value, llvm::ArrayRef<int64_t> to) {
    return n.b.reshapeTo(value, to);
  };
  int64_t batches = shape[0], count = regions[0];
  Value parts =
      reshape(x, {batches, outputs, group, group, shape[2], shape[3]});
  Ints groups;
  for (int64_t i = 0; i < pooled; ++i)
    groups.push_back(i * group / pooled);
  // P x H x R, as the sums along rows below have them.
  Value inRows = n.b.transpose(rows.isInside, {1, 2, 0});
  Value images = n.b.cast(n.b.slice(rois, 1, 0, 1), n.b.i64()); // R x 1
  Value isImage = n.b.op(
      "equal", {n.b.op("range", {n.b.intScalar(0), n.b.intScalar(batches),
                                 n.b.intScalar(1)}),
                images});
  Value ofImage = reshape(n.b.transpose(n.b.castLike(isImage, x), {1, 0}),
                          {batches, 1, 1, count});
  llvm::SmallVector<Value> sums;
  for (int64_t i = 0; i < pooled && !n.b.failed(); ++i) {
    Value own = n.b.squeeze(n.b.slice(parts, 3, groups[i], groups[i] + 1), {3});
    Value column = n.b.squeeze(n.b.slice(columns.isInside, 1, i, i + 1), {1});
    Value sum =
        n.b.op("matmul",
               {reshape(own, {batches, outputs * group * shape[2], shape[3]}),
                n.b.transpose(column, {1, 0})});
    sum = reshape(sum, {batches, outputs, group, shape[2], count});
    sum = n.b.op("gather", {sum, n.b.ints(groups)}, {{"axis", 2}});
    sum = n.b.reduce("reduce_sum", n.b.mul(sum, inRows), {3},
                     /*keepDims=*/false);
    sum = n.b.reduce("reduce_sum", n.b.mul(sum, ofImage), {0},
                     /*keepDims=*/false); // O x P x R
    sums.push_back(n.b.unsqueeze(sum, {3}));
  }
  Value y = n.b.transpose(n.b.concat(sums, 3), {2, 0, 1, 3});
  Value sizes = n.b.mul(n.b.unsqueeze(rows.sizes, {2}),
                        n.b.unsqueeze(columns.sizes, {1}));
  sizes = n.b.op("max", {sizes, n.scalarLike(sizes, 1)});
  n.set(0, n.b.div(y, n.b.unsqueeze(sizes, {1})));
}

//===-- Declarations ------------------------------------------------------===//

static std::vector<Operator> makeRows() {
  Parameter size =
      required("pooled_size", ParameterKind::Ints, "Extents of each result.")
          .within(1, 1 << 15);
  Parameter scale = required("spatial_scale", ParameterKind::Float,
                             "What coordinates are multiplied by.");
  return {
      {.name = "ROIPooling",
       .aliases = {"_npx_roi_pooling"},
       .summary = "The largest elements of parts of regions",
       .parameters = {size, scale},
       .inputs = {{"data"}, {"rois"}},
       .lower = lowerRoiPooling},
      {.name = "_contrib_ROIAlign",
       .summary = "Means of samples of parts of regions",
       .parameters = {size, scale,
                      optional("sample_ratio", ParameterKind::Int, "-1",
                               "Samples along each axis of a part; -1: by its "
                               "size.")
                          .within(-1, 1 << 10),
                      optional("position_sensitive", ParameterKind::Bool,
                               "False",
                               "Each part has channels of its own, as many "
                               "times as there are parts."),
                      optional("aligned", ParameterKind::Bool, "False",
                               "Coordinates are of centers of elements.")},
       .inputs = {{"data"}, {"rois"}},
       .lower = lowerRoiAlign},
      {.name = "_contrib_RROIAlign",
       .summary = "Means of samples of parts of regions that are turned",
       .details = "Regions are images, centers, extents and angles in degrees.",
       .parameters = {size, scale,
                      optional("sampling_ratio", ParameterKind::Int, "-1",
                               "Samples along each axis of a part; to go by "
                               "its size, -1, is not supported.")
                          .within(-1, 1 << 5)},
       .inputs = {{"data"}, {"rois"}},
       .lower = lowerRotatedRoiAlign},
      {.name = "_contrib_PSROIPooling",
       .summary = "Means of parts of regions, each with channels of its own",
       .details = "The data has group_size x group_size channels for each of "
                  "the result.",
       .parameters = {scale,
                      required("output_dim", ParameterKind::Int,
                               "Channels of the result.")
                          .within(1, 1 << 15),
                      required("pooled_size", ParameterKind::Int,
                               "Parts along each axis.")
                          .within(1, 1 << 7),
                      optional("group_size", ParameterKind::Int, "0",
                               "Kinds of parts along each axis; 0: as many as "
                               "parts.")
                          .within(0, 1 << 7)},
       .inputs = {{"data"}, {"rois"}},
       .lower = lowerPositionSensitivePooling},
  };
}

std::span<const Operator> dlc::symbol::regionOperators() {
  static const std::vector<Operator> rows = makeRows();
  return rows;
}
