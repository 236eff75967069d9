// SPDX-License-Identifier: Apache-2.0
//
// Pools over windows and regions.

#include "../Operators.h"

using namespace dlc::exporter;

static bool isDilated(NodeContext &n) {
  return llvm::any_of(n.ints("dilations"), [](int64_t d) { return d != 1; });
}

namespace {
/// The windows of a pool as lists for all its spatial dimensions.
struct Windows {
  Ints kernel, strides, dilations, begins, ends;
  bool roundsUp = false;
};
} // namespace

static Ints orElse(Ints values, size_t size, int64_t fallback) {
  return values.empty() ? Ints(size, fallback) : values;
}

static Windows windowsOf(NodeContext &n) {
  Windows windows;
  windows.kernel = n.ints("kernel_shape");
  size_t size = windows.kernel.size();
  windows.strides = orElse(n.ints("strides"), size, 1);
  windows.dilations = orElse(n.ints("dilations"), size, 1);
  Ints pads = orElse(n.ints("pads"), 2 * size, 0);
  windows.begins.assign(pads.begin(), pads.begin() + size);
  windows.ends.assign(pads.begin() + size, pads.end());
  windows.roundsUp = n.getBool("ceil_mode", false);
  return windows;
}

/// Of the tensor and the result.
static std::pair<mlir::TensorType, mlir::TensorType> tensorsOf(NodeContext &n) {
  return {llvm::cast<mlir::TensorType>(n.value(0).getType()),
          llvm::cast<mlir::TensorType>(n.op->getResult(0).getType())};
}

/// Whether pads and shapes are numbers.
static bool isKnown(NodeContext &n) {
  auto [from, to] = tensorsOf(n);
  return n.getString("auto_pad", "NOTSET") == "NOTSET" &&
         from.hasStaticShape() && to.hasStaticShape();
}

/// Rounding up, of which versions of ONNX disagree whether a window may begin
/// behind the tensor, said as padding at the ends. What lies there must not
/// count. Stays as it is where shapes are not known.
static void padForRoundingUp(NodeContext &n, Windows &windows) {
  if (!windows.roundsUp || !isKnown(n))
    return;
  auto [from, to] = tensorsOf(n);
  windows.roundsUp = false;
  for (size_t i = 0; i < windows.kernel.size(); ++i) {
    int64_t extent = (windows.kernel[i] - 1) * windows.dilations[i] + 1;
    int64_t last = (to.getDimSize(i + 2) - 1) * windows.strides[i];
    windows.ends[i] = std::max<int64_t>(
        0, last + extent - from.getDimSize(i + 2) - windows.begins[i]);
  }
}

static void write(NodeContext &n, llvm::StringRef type, const Windows &windows,
                  std::initializer_list<llvm::StringRef> except = {}) {
  Attributes attributes;
  for (Attribute &attribute : n.attributes(except))
    if (attribute.name != "pads" && attribute.name != "ceil_mode")
      attributes.push_back(std::move(attribute));
  Ints pads = windows.begins;
  pads.insert(pads.end(), windows.ends.begin(), windows.ends.end());
  if (n.getString("auto_pad", "NOTSET") == "NOTSET")
    attributes.push_back({"pads", pads});
  if (windows.roundsUp)
    attributes.push_back({"ceil_mode", int64_t(1)});
  n.result(type, n.inputs(), attributes);
}

static void writeMaxPool(NodeContext &n) {
  Windows windows = windowsOf(n);
  padForRoundingUp(n, windows);
  write(n, "MaxPool", windows);
}

/// Whether a window is left out that would begin behind the tensor: so it is
/// said since opset 22.
static bool leavesWindowOut(NodeContext &n, const Windows &windows) {
  if (!isKnown(n))
    return false;
  auto [from, to] = tensorsOf(n);
  for (size_t i = 0; i < windows.kernel.size(); ++i) {
    int64_t extent = (windows.kernel[i] - 1) * windows.dilations[i] + 1;
    int64_t room =
        from.getDimSize(i + 2) + windows.begins[i] + windows.ends[i] - extent;
    if (to.getDimSize(i + 2) <
        llvm::divideCeilSigned(room, windows.strides[i]) + 1)
      return true;
  }
  return false;
}

/// What a window counts that reaches beyond the padding is said since 19.
static void writeAveragePool(NodeContext &n) {
  bool dilated = isDilated(n);
  if (dilated && !n.needs(19, "mean pooling with dilations"))
    return;
  Windows windows = windowsOf(n);
  bool counts = n.getBool("count_include_pad", false);
  if (!counts)
    padForRoundingUp(n, windows);
  else if (windows.roundsUp &&
           !n.needs(leavesWindowOut(n, windows) ? 22 : 19,
                    "mean pooling that rounds up and counts padding"))
    return;
  if (dilated)
    return write(n, "AveragePool", windows);
  write(n, "AveragePool", windows, {"dilations"});
}

static void writeLpPool(NodeContext &n) {
  Windows windows = windowsOf(n);
  padForRoundingUp(n, windows);
  bool dilated = isDilated(n);
  if ((dilated || windows.roundsUp) &&
      !n.needs(18, "lp pooling with dilations or rounding up"))
    return;
  if (dilated)
    return write(n, "LpPool", windows);
  write(n, "LpPool", windows, {"dilations"});
}

static constexpr Row rows[] = {
    {"avg_pool", "AveragePool", 17, writeAveragePool},
    {"lp_pool", "LpPool", 17, writeLpPool},
    {"max_pool", "MaxPool", 17, writeMaxPool},
    {"max_pool_with_indices", "MaxPool", 17, writeMaxPool},
    {"max_roi_pool", "MaxRoiPool"},
    {"max_unpool", "MaxUnpool"},
    {"roi_align", "RoiAlign"},
};

llvm::ArrayRef<Row> dlc::exporter::poolingRows() { return rows; }
