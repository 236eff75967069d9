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

static constexpr Row rows[] = {
    {"affine_grid", "AffineGrid", 20},
    {"col2im", "Col2Im", 18},
    {"det", "Det"},
    {"grid_sample", "GridSample", 17, writeGridSample},
    {"resize", "Resize", 17, writeResize},
};

llvm::ArrayRef<Row> dlc::exporter::imageRows() { return rows; }
