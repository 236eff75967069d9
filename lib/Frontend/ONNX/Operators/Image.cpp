// SPDX-License-Identifier: Apache-2.0
//
// Resampling of images.

#include "Simple.h"

using namespace dlc::onnx;
using mlir::DenseElementsAttr;
using mlir::RankedTensorType;
using mlir::Value;

//===-- Resize ------------------------------------------------------------===//

/// Upsample, and Resize of opset 10: pixel i of the result comes from
/// floor(i / scale).
static void resizeAsymmetric(NodeContext &n, Value scales) {
  llvm::StringRef mode =
      n.getChoice("mode", "nearest", {"nearest", "linear", "bilinear"});
  if (mode == "bilinear")
    mode = "linear";
  Value none = n.b.none();
  n.set(0, n.b.op("resize", {n.in(0), none, scales, none},
                  {{"mode", mode},
                   {"coordinate_transformation_mode", "asymmetric"},
                   {"nearest_mode", "floor"}}));
}

static Value floatVector(NodeContext &n, llvm::ArrayRef<float> values) {
  auto type =
      RankedTensorType::get(static_cast<int64_t>(values.size()), n.b.f32());
  return n.b.constant(DenseElementsAttr::get(type, values));
}

static void importUpsampleV1(NodeContext &n) {
  resizeAsymmetric(n,
                   floatVector(n, {1.0f, 1.0f, n.getFloat("height_scale", 1.0f),
                                   n.getFloat("width_scale", 1.0f)}));
}

static void importUpsampleV7(NodeContext &n) {
  resizeAsymmetric(n, floatVector(n, n.getFloats("scales")));
}

static void importResizeV10(NodeContext &n) { resizeAsymmetric(n, n.in(1)); }

/// Version 11 could not leave operands out and used empty vectors instead;
/// later models do so too.
static Value unlessEmpty(NodeContext &n, size_t index) {
  if (!n.has(index) || NodeContext::lengthOf(n.in(index)) == 0)
    return n.b.none();
  return n.in(index);
}

static void importResize(NodeContext &n) {
  Value roi = unlessEmpty(n, 1), scales = unlessEmpty(n, 2),
        sizes = unlessEmpty(n, 3);
  auto isPresent = [](Value value) {
    return GraphBuilder::typeOf(value) != nullptr;
  };
  if (isPresent(scales) == isPresent(sizes))
    return n.fail("expected either scales or sizes");
  if (isPresent(sizes))
    sizes = n.asI64(sizes);
  llvm::SmallVector<NamedValue> attributes = {
      {"mode", n.getChoice("mode", "nearest", {"nearest", "linear", "cubic"})},
      {"coordinate_transformation_mode",
       n.getString("coordinate_transformation_mode", "half_pixel")},
      {"nearest_mode", n.getChoice("nearest_mode", "round_prefer_floor",
                                   {"round_prefer_floor", "round_prefer_ceil",
                                    "floor", "ceil"})},
      {"cubic_coeff_a", n.getFloat("cubic_coeff_a", -0.75f)},
      {"exclude_outside", n.getBool("exclude_outside", false)},
      {"extrapolation_value", n.getFloat("extrapolation_value", 0.0f)}};
  Ints axes;
  if (n.opset >= 18) {
    if (n.hasAttr("axes"))
      axes = n.axes(n.getInts("axes"), n.rank(n.in(0)));
    attributes.push_back({"axes", llvm::ArrayRef<int64_t>(axes)});
    attributes.push_back({"antialias", n.getBool("antialias", false)});
    attributes.push_back(
        {"keep_aspect_ratio_policy",
         n.getChoice("keep_aspect_ratio_policy", "stretch",
                     {"stretch", "not_larger", "not_smaller"})});
  }
  n.set(0, n.b.op("resize", {n.in(0), roi, scales, sizes}, attributes));
}

//===-- Others ------------------------------------------------------------===//

static void importGridSample(NodeContext &n) {
  // Version 16 had the names of the two-dimensional cases.
  llvm::StringRef mode =
      n.opset < 20
          ? n.getChoice("mode", "bilinear", {"bilinear", "nearest", "bicubic"})
          : n.getChoice("mode", "linear", {"linear", "nearest", "cubic"});
  mode.consume_front("bi");
  llvm::StringRef padding =
      n.getChoice("padding_mode", "zeros", {"zeros", "border", "reflection"});
  n.set(0, n.b.op("grid_sample", {n.in(0), n.in(1)},
                  {{"mode", mode},
                   {"padding_mode", padding},
                   {"align_corners", n.getBool("align_corners", false)}}));
}

static void importAffineGrid(NodeContext &n) {
  n.set(0, n.b.op("affine_grid", {n.in(0), n.asI64(n.in(1))},
                  {{"align_corners", n.getBool("align_corners", false)}}));
}

static void importCol2Im(NodeContext &n) {
  Ints dilations = n.getInts("dilations"), pads = n.getInts("pads"),
       strides = n.getInts("strides");
  n.set(0, n.b.op("col2im", {n.in(0), n.asI64(n.in(1)), n.asI64(n.in(2))},
                  {{"dilations", llvm::ArrayRef<int64_t>(dilations)},
                   {"pads", llvm::ArrayRef<int64_t>(pads)},
                   {"strides", llvm::ArrayRef<int64_t>(strides)}}));
}

static constexpr Operator rows[] = {
    {"AffineGrid", 20, 2, 2, 1, importAffineGrid},
    {"Col2Im", 18, 3, 3, 1, importCol2Im},
    {"GridSample", 16, 2, 2, 1, importGridSample},
    {"Resize", 10, 2, 2, 1, importResizeV10},
    {"Resize", 11, 1, 4, 1, importResize},
    {"Upsample", 1, 1, 1, 1, importUpsampleV1},
    {"Upsample", 7, 1, 1, 1, importUpsampleV7},
    {"Upsample", 9, 2, 2, 1, importResizeV10},
    {"Upsample", 10, 0, kAny, kAny, nullptr},
};

llvm::ArrayRef<Operator> dlc::onnx::imageOperators() { return rows; }
