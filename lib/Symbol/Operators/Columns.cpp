// SPDX-License-Identifier: Apache-2.0
//
// Windows of images as columns of a matrix, and back (MXNet 1.9.1: im2col.cc).

#include "Window.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

/// More would be as many operations of which each moves an image.
static constexpr int64_t kMaxWindow = 1024;

namespace {
/// Windows over images of which all extents are known.
struct Windows {
  Window window;
  Ints counts;      ///< Of windows, for each spatial dimension.
  int64_t size = 1; ///< Elements of one.
  int64_t all = 1;  ///< The number of windows.
};
} // namespace

/// Reads the window of the node over images of these spatial extents; fails the
/// node.
static bool readWindows(LoweringContext &n, llvm::ArrayRef<int64_t> extents,
                        Windows &w) {
  size_t spatial = n.p.getInts("kernel").size();
  if (spatial != extents.size()) {
    n.fail("parameter 'kernel': expected " + Twine(extents.size()) +
           " values, got " + Twine(spatial));
    return false;
  }
  for (const char *name : {"stride", "dilate", "pad"})
    if (!checkLength(n, name, spatial))
      return false;
  auto read = [&](const char *name, int64_t fallback) {
    Ints values = n.ints(name);
    return values.empty() ? Ints(spatial, fallback) : values;
  };
  w.window.kernel = n.ints("kernel");
  w.window.strides = read("stride", 1);
  w.window.dilations = read("dilate", 1);
  w.window.pads = read("pad", 0);
  for (size_t i = 0; i < spatial; ++i) {
    int64_t reach = w.window.dilations[i] * (w.window.kernel[i] - 1) + 1;
    int64_t left = extents[i] + 2 * w.window.pads[i] - reach;
    if (left < 0) {
      n.fail("parameter 'kernel': expected windows within " +
             Twine(extents[i] + 2 * w.window.pads[i]) + " elements, got " +
             Twine(reach));
      return false;
    }
    w.counts.push_back(left / w.window.strides[i] + 1);
    w.all *= w.counts.back();
    if (w.size <= kMaxWindow)
      w.size *= w.window.kernel[i];
  }
  if (w.size > kMaxWindow)
    n.unsupported("windows of more than " + Twine(kMaxWindow) + " elements");
  w.window.pads.append(Ints(w.window.pads));
  return !n.b.failed();
}

/// For each element of a window, in order, all images at its place.
static void lowerIm2col(LoweringContext &n) {
  Value x = n.in(0);
  Ints shape = n.shape(x, "windows of images");
  if (n.b.failed() || !checkExtents(n, x))
    return;
  if (shape.size() < 3)
    return n.fail("expected data of at least 3 dimensions, got " +
                  Twine(shape.size()));
  Windows w;
  if (!readWindows(n, llvm::ArrayRef<int64_t>(shape).drop_front(2), w))
    return;
  auto rank = static_cast<int64_t>(shape.size());
  x = n.b.op("pad", {x, n.b.ints(w.window.pads), n.scalarLike(x, 0),
                     n.b.ints(range(2, rank))});
  llvm::SmallVector<Value> parts;
  for (int64_t i = 0; i < w.size; ++i) {
    Value part = x;
    int64_t rest = i;
    for (int64_t axis = rank - 1; axis >= 2; --axis) {
      size_t k = axis - 2;
      int64_t begin = rest % w.window.kernel[k] * w.window.dilations[k];
      rest /= w.window.kernel[k];
      int64_t end = begin + (w.counts[k] - 1) * w.window.strides[k] + 1;
      part = n.b.slice(part, axis, begin, end, w.window.strides[k]);
    }
    part = n.b.reshapeTo(part, {shape[0], shape[1], 1, w.all});
    parts.push_back(part);
  }
  Value columns = n.b.concat(parts, 2);
  n.set(0, n.b.reshapeTo(columns, {shape[0], shape[1] * w.size, w.all}));
}

/// Sums of the elements that windows have at a place: a transposed convolution
/// whose filters each have a one at one place.
static void lowerCol2im(LoweringContext &n) {
  Value x = n.in(0);
  Ints shape = n.shape(x, "images of windows"), extents = n.ints("output_size");
  if (n.b.failed() || !checkExtents(n, x))
    return;
  Windows w;
  if (!readWindows(n, extents, w))
    return;
  if (shape.size() != 3 || shape[1] % w.size || shape[2] != w.all)
    return n.fail("expected data of 3 dimensions, a multiple of " +
                  Twine(w.size) + " and " + Twine(w.all) +
                  " being the last two, for 'kernel' and 'output_size'");
  int64_t channels = shape[1] / w.size;
  Ints maps = {shape[0], shape[1]}, filters = {w.size, 1}, more;
  maps.append(w.counts);
  filters.append(w.window.kernel);
  for (size_t i = 0; i < extents.size(); ++i) {
    int64_t reach = w.window.dilations[i] * (w.window.kernel[i] - 1) + 1;
    more.push_back(extents[i] + 2 * w.window.pads[i] - reach -
                   (w.counts[i] - 1) * w.window.strides[i]);
  }
  std::vector<float> ones(w.size * w.size, 0);
  for (int64_t i = 0; i < w.size; ++i)
    ones[i * w.size + i] = 1;
  Value weight = n.b.castLike(floats(n, filters, ones), x);
  // The same filters for each channel.
  llvm::SmallVector<Value> all(channels, weight);
  weight = channels == 1 ? weight : n.b.concat(all, 0);
  x = n.b.reshapeTo(x, maps);
  llvm::SmallVector<NamedValue> attributes = w.window.attributes();
  attributes.push_back({"group", channels});
  attributes.push_back({"output_padding", llvm::ArrayRef<int64_t>(more)});
  n.set(0, n.b.op("conv_transpose", {x, weight}, attributes));
}

std::span<const Operator> dlc::symbol::columnOperators() {
  std::vector<Parameter> toImages = convolutionWindow();
  toImages.push_back(required("output_size", ParameterKind::Ints,
                              "Spatial extents of the images.")
                         .within(1, kMaxExtent));
  static const std::vector<Operator> rows = {
      {.name = "im2col",
       .summary = "Windows of images as columns of a matrix",
       .details = "The result is (batch, channels times elements of a window, "
                  "windows).",
       .parameters = convolutionWindow(),
       .lower = lowerIm2col},
      {.name = "col2im",
       .summary = "Sums of windows as the images that they are of",
       .parameters = toImages,
       .lower = lowerCol2im},
  };
  return rows;
}
