// SPDX-License-Identifier: Apache-2.0

#include "Window.h"

using namespace dlc::onnx;
using mlir::Value;

llvm::SmallVector<NamedValue> Window::attributes() const {
  return {{"strides", llvm::ArrayRef<int64_t>(strides)},
          {"pads", llvm::ArrayRef<int64_t>(pads)},
          {"dilations", llvm::ArrayRef<int64_t>(dilations)},
          {"auto_pad", autoPad}};
}

void dlc::onnx::padSame(Window &window, llvm::ArrayRef<int64_t> extents) {
  size_t rank = window.kernel.size();
  bool upper = window.autoPad == "SAME_UPPER";
  window.pads.assign(2 * rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    int64_t stride = window.strides.empty() ? 1 : window.strides[i];
    int64_t dilation = window.dilations.empty() ? 1 : window.dilations[i];
    int64_t outputs = (extents[i] + stride - 1) / stride;
    int64_t reach = (window.kernel[i] - 1) * dilation + 1;
    int64_t total =
        std::max<int64_t>(0, (outputs - 1) * stride + reach - extents[i]);
    window.pads[i] = upper ? total / 2 : total - total / 2;
    window.pads[i + rank] = total - window.pads[i];
  }
  window.autoPad = "NOTSET";
}

bool dlc::onnx::areExtents(llvm::ArrayRef<int64_t> values) {
  return llvm::all_of(values,
                      [](int64_t v) { return v > 0 && v < (1ll << 31); });
}

static bool checkList(NodeContext &n, const char *name,
                      llvm::ArrayRef<int64_t> values, size_t expected,
                      bool mustBePositive = true) {
  if (!values.empty() && values.size() != expected) {
    n.fail("expected " + llvm::Twine(expected) + " values in attribute '" +
           name + "', got " + llvm::Twine(values.size()));
    return false;
  }
  if (mustBePositive && !areExtents(values)) {
    n.fail(llvm::Twine("expected positive values of 31 bits in attribute '") +
           name + "'");
    return false;
  }
  return true;
}

Window dlc::onnx::readWindow(NodeContext &n, Value x, Ints kernel,
                             bool hasDilations) {
  Window window;
  window.kernel = std::move(kernel);
  window.strides = n.getInts("strides");
  window.pads = n.getInts("pads");
  if (hasDilations)
    window.dilations = n.getInts("dilations");
  window.autoPad = n.getChoice("auto_pad", "NOTSET",
                               {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  std::optional<int64_t> rank = GraphBuilder::rankOf(x);
  if (!rank)
    return window;
  if (*rank < 2) {
    n.fail("expected an operand of rank 3 or more, got " + llvm::Twine(*rank));
    return window;
  }
  auto spatial = static_cast<size_t>(*rank - 2);
  (void)(checkList(n, "kernel_shape", window.kernel, spatial) &&
         checkList(n, "strides", window.strides, spatial) &&
         checkList(n, "dilations", window.dilations, spatial) &&
         checkList(n, "pads", window.pads, 2 * spatial,
                   /*mustBePositive=*/false));
  return window;
}

void dlc::onnx::resolveAutoPad(NodeContext &n, Value x, Window &window) {
  if (window.autoPad == "NOTSET" || n.b.failed())
    return;
  // The specification forbids both; writers leave zeros behind.
  window.pads.clear();
  if (window.autoPad == "VALID") {
    window.autoPad = "NOTSET";
    return;
  }
  Ints extents;
  for (size_t i = 0; i < window.kernel.size(); ++i)
    extents.push_back(GraphBuilder::dimOf(x, static_cast<int64_t>(i) + 2));
  if (!extents.empty() && areExtents(extents))
    padSame(window, extents);
}
