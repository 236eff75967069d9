// SPDX-License-Identifier: Apache-2.0
//
// Resampling of images.

#include "../Operators.h"

using namespace dlc::exporter;

static void writeResize(NodeContext &n) {
  bool isNew = !n.ints("axes").empty() || n.getBool("antialias", false) ||
               n.getString("keep_aspect_ratio_policy", "stretch") != "stretch";
  if (isNew && !n.needs(18, "resizing of some axes, with antialiasing or with "
                            "a policy of aspect ratios"))
    return;
  if (n.getString("coordinate_transformation_mode", "half_pixel") ==
          "half_pixel_symmetric" &&
      !n.needs(19, "resizing in mode half_pixel_symmetric"))
    return;
  n.result(
      "Resize", n.inputs(),
      isNew ? n.attributes()
            : n.attributes({"antialias", "keep_aspect_ratio_policy", "axes"}));
}

/// Older opsets sample images in two dimensions, and call modes otherwise.
static void writeGridSample(NodeContext &n) {
  if (n.opset() >= 20)
    return n.result("GridSample", n.inputs(), n.attributes());
  if (n.rankOf(0) != 4) {
    n.needs(20, "sampling of other tensors than images");
    return;
  }
  std::string mode = n.getString("mode", "linear");
  Attributes attributes = n.attributes({"mode"});
  attributes.push_back({"mode", mode == "linear"  ? "bilinear"
                                : mode == "cubic" ? "bicubic"
                                                  : mode});
  n.result("GridSample", n.inputs(), attributes);
}

/// Position `i` of `count` in [-1, 1].
static double positionOf(int64_t i, int64_t count, bool hasCorners) {
  auto at = static_cast<double>(i), cells = static_cast<double>(count);
  if (!hasCorners)
    return (2 * at + 1) / cells - 1;
  return count > 1 ? 2 * at / (cells - 1) - 1 : -1;
}

/// Older opsets have no name for products of matrices with the places of an
/// image's elements.
static void writeAffineGrid(NodeContext &n) {
  if (n.opset() >= 20)
    return n.result("AffineGrid", n.inputs(), n.attributes());
  std::optional<Ints> size = n.constantInts(1);
  if (!size) {
    n.needs(20, "grids of a size that is computed");
    return;
  }
  // In reverse: the last dimension has the first coordinate.
  Ints extents(size->begin() + 2, size->end());
  auto dims = static_cast<int64_t>(extents.size());
  bool hasCorners = n.getBool("align_corners", false);
  int64_t points = 1;
  for (int64_t extent : extents)
    points *= extent;
  std::vector<double> places;
  int64_t stride = 1;
  for (int64_t extent : llvm::reverse(extents)) {
    for (int64_t i = 0; i < points; ++i)
      places.push_back(positionOf(i / stride % extent, extent, hasCorners));
    stride *= extent;
  }
  places.insert(places.end(), points, 1);
  std::string moved =
      n.node("MatMul", {n.in(0), n.floatsLike(0, {dims + 1, points}, places)});
  std::string rows = n.node("Transpose", {moved}, {{"perm", Ints{0, 2, 1}}});
  Ints shape = {size->front()};
  shape.insert(shape.end(), extents.begin(), extents.end());
  shape.push_back(dims);
  n.result("Reshape", {rows, n.ints(shape)});
}

static constexpr Row rows[] = {
    {"affine_grid", "AffineGrid", 17, writeAffineGrid},
    {"col2im", "Col2Im", 18},
    {"det", "Det"},
    {"grid_sample", "GridSample", 17, writeGridSample},
    {"resize", "Resize", 17, writeResize},
};

llvm::ArrayRef<Row> dlc::exporter::imageRows() { return rows; }
