// SPDX-License-Identifier: Apache-2.0
//
// Pools over windows, over whole images, and over regions.

#include "Window.h"

#include <cmath>
#include <string>

using namespace dlc::onnx;
using mlir::Value;

/// The attributes that all pools share.
static llvm::SmallVector<NamedValue> poolAttributes(NodeContext &n,
                                                    Window &window) {
  Ints kernel = n.getInts("kernel_shape");
  if (kernel.empty())
    n.fail("expected attribute 'kernel_shape'");
  window = readWindow(n, n.in(0), kernel);
  resolveAutoPad(n, n.in(0), window);
  llvm::SmallVector<NamedValue> attributes = window.attributes();
  attributes.push_back(
      {"kernel_shape", llvm::ArrayRef<int64_t>(window.kernel)});
  attributes.push_back({"ceil_mode", n.getBool("ceil_mode", false)});
  return attributes;
}

static void importMaxPool(NodeContext &n) {
  Window window;
  llvm::SmallVector<NamedValue> attributes = poolAttributes(n, window);
  int64_t order = n.getInt("storage_order", 0);
  if (!n.wants(1))
    return n.set(0, n.b.op("max_pool", {n.in(0)}, attributes));
  attributes.push_back({"storage_order", order});
  n.setAll(n.b.ops("max_pool_with_indices", {n.in(0)}, attributes));
}

Value dlc::onnx::averagePool(NodeContext &n, Value x) {
  Window window;
  llvm::SmallVector<NamedValue> attributes = poolAttributes(n, window);
  attributes.push_back(
      {"count_include_pad", n.getBool("count_include_pad", false)});
  return n.b.op("avg_pool", {x}, attributes);
}

static void importAveragePool(NodeContext &n) {
  n.set(0, averagePool(n, n.in(0)));
}

/// `p` was a float in version 1.
static int64_t normOrder(NodeContext &n) {
  if (n.opset >= 2)
    return n.getInt("p", 2);
  float p = n.getFloat("p", 2.0f);
  if (!(p >= 1 && p < 1024) || p != std::floor(p))
    n.unsupported("norm of order " + std::to_string(p));
  return n.b.failed() ? 2 : static_cast<int64_t>(p);
}

static void importLpPool(NodeContext &n) {
  Window window;
  llvm::SmallVector<NamedValue> attributes = poolAttributes(n, window);
  attributes.push_back({"p", normOrder(n)});
  n.set(0, n.b.op("lp_pool", {n.in(0)}, attributes));
}

//===-- Global pools ------------------------------------------------------===//

template <Mnemonic name> static void importGlobal(NodeContext &n) {
  Ints axes = firstInts(n.rank(n.in(0)), 2);
  n.set(0, n.b.reduce(name.str(), n.in(0), axes, true));
}

static void importGlobalLpPool(NodeContext &n) {
  Value x = n.in(0);
  Ints axes = firstInts(n.rank(x), 2);
  auto p = static_cast<double>(normOrder(n));
  if (p < 1)
    return n.fail("expected a positive attribute 'p'");
  Value powers = n.b.op("pow", {n.b.op("abs", {x}), n.b.scalarLike(x, p)});
  Value sum = n.b.reduce("reduce_sum", powers, axes, true);
  n.set(0, n.b.op("pow", {sum, n.b.scalarLike(x, 1.0 / p)}));
}

//===-- Others ------------------------------------------------------------===//

static void importMaxUnpool(NodeContext &n) {
  Ints kernel = n.getInts("kernel_shape"), strides = n.getInts("strides"),
       pads = n.getInts("pads");
  llvm::SmallVector<Value> operands = {n.in(0), n.in(1)};
  if (n.has(2))
    operands.push_back(n.in(2));
  n.set(0, n.b.op("max_unpool", operands,
                  {{"kernel_shape", llvm::ArrayRef<int64_t>(kernel)},
                   {"strides", llvm::ArrayRef<int64_t>(strides)},
                   {"pads", llvm::ArrayRef<int64_t>(pads)}}));
}

static void importMaxRoiPool(NodeContext &n) {
  Ints shape = n.getInts("pooled_shape");
  n.set(0, n.b.op("max_roi_pool", {n.in(0), n.in(1)},
                  {{"pooled_shape", llvm::ArrayRef<int64_t>(shape)},
                   {"spatial_scale", n.getFloat("spatial_scale", 1.0f)}}));
}

static void importRoiAlign(NodeContext &n) {
  llvm::StringRef transform = "output_half_pixel";
  if (n.opset >= 16)
    transform = n.getChoice("coordinate_transformation_mode", "half_pixel",
                            {"half_pixel", "output_half_pixel"});
  llvm::StringRef mode = n.getChoice("mode", "avg", {"avg", "max"});
  n.set(0, n.b.op("roi_align", {n.in(0), n.in(1), n.in(2)},
                  {{"mode", mode},
                   {"output_height", n.getInt("output_height", 1)},
                   {"output_width", n.getInt("output_width", 1)},
                   {"sampling_ratio", n.getInt("sampling_ratio", 0)},
                   {"spatial_scale", n.getFloat("spatial_scale", 1.0f)},
                   {"coordinate_transformation_mode", transform}}));
}

static constexpr Operator rows[] = {
    {"AveragePool", 1, 1, 1, 1, importAveragePool},
    {"GlobalAveragePool", 1, 1, 1, 1, importGlobal<"reduce_mean">},
    {"GlobalLpPool", 1, 1, 1, 1, importGlobalLpPool},
    {"GlobalMaxPool", 1, 1, 1, 1, importGlobal<"reduce_max">},
    {"LpPool", 1, 1, 1, 1, importLpPool},
    {"MaxPool", 1, 1, 1, 1, importMaxPool},
    {"MaxPool", 8, 1, 1, 2, importMaxPool},
    {"MaxRoiPool", 1, 2, 2, 1, importMaxRoiPool},
    {"MaxUnpool", 9, 2, 3, 1, importMaxUnpool},
    {"RoiAlign", 10, 3, 3, 1, importRoiAlign},
};

llvm::ArrayRef<Operator> dlc::onnx::poolingOperators() { return rows; }
