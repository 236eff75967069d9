// SPDX-License-Identifier: Apache-2.0
//
// Pooling over windows and whole images, and enlarging images.

#include "Layers.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Pooling -----------------------------------------------------------===//

static Value poolGlobally(LoweringContext &n, Value x) {
  const std::string &type = n.p.getText("pool_type");
  Ints axes = range(2, n.rank(x));
  if (axes.empty()) {
    n.fail("expected data of at least 3 dimensions, got " + Twine(n.rank(x)));
    return {};
  }
  Value y;
  if (type == "lp") {
    double p = static_cast<double>(n.p.getInt("p_value"));
    Value power = n.b.op("pow", {n.b.op("abs", {x}), n.scalarLike(x, p)});
    Value sum = n.b.reduce("reduce_sum", power, axes, true);
    y = n.b.op("pow", {sum, n.scalarLike(x, 1 / p)});
  } else {
    y = n.b.reduce(type == "max"   ? "reduce_max"
                   : type == "avg" ? "reduce_mean"
                                   : "reduce_sum",
                   x, axes, true);
  }
  return y;
}

/// What windows reach beyond the padded data when their number is rounded up.
static Ints overhang(LoweringContext &n, Value x, const Window &window) {
  size_t spatial = window.kernel.size();
  Ints result(spatial, 0);
  if (n.p.getText("pooling_convention") != "full")
    return result;
  Ints extents = n.shape(x, "rounding up over data");
  if (n.b.failed())
    return result;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t stride = window.strides.empty() ? 1 : window.strides[i];
    int64_t padded =
        extents[i + 2] + (window.pads.empty() ? 0 : 2 * window.pads[i]);
    int64_t left = (padded - window.kernel[i]) % stride;
    result[i] = left > 0 ? stride - left : 0;
  }
  return result;
}

/// The sum is the mean of windows that are whole, by their size; zeros around
/// the data make them whole.
static Value poolSum(LoweringContext &n, Value x, Window window) {
  Ints pads(window.pads.begin(), window.pads.end());
  pads.resize(2 * window.kernel.size(), 0);
  Ints more = overhang(n, x, window);
  int64_t size = 1;
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    pads[window.kernel.size() + i] += more[i];
    size *= window.kernel[i];
  }
  Value padded = n.b.op("pad", {x, n.b.ints(pads), n.scalarLike(x, 0),
                                n.b.ints(range(2, n.rank(x)))});
  // In this order, because ONNX Runtime makes one pool of padding and means,
  // and then refuses more padding than the kernel's extents.
  Value scaled = n.b.mul(padded, n.scalarLike(x, static_cast<double>(size)));
  return n.b.op("avg_pool", {scaled},
                {{"kernel_shape", llvm::ArrayRef<int64_t>(window.kernel)},
                 {"strides", llvm::ArrayRef<int64_t>(window.strides)}});
}

/// Windows that begin behind the data do not exist in Graph. In MXNet their
/// largest element is the lowest number, and anything else is 0.
static Value addEmptyWindows(LoweringContext &n, Value x, Value y,
                             const Window &window) {
  Ints extents = n.shape(x, "rounding up over data"),
       found = n.shape(y, "rounding up over data");
  if (n.b.failed())
    return {};
  Ints pads(2 * extents.size(), 0);
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    int64_t stride = window.strides.empty() ? 1 : window.strides[i];
    int64_t pad = window.pads.empty() ? 0 : 2 * window.pads[i];
    int64_t steps = extents[i + 2] + pad - window.kernel[i] + stride - 1;
    pads[extents.size() + i + 2] = steps / stride + 1 - found[i + 2];
  }
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return y;
  double value = 0;
  if (n.p.getText("pool_type") == "max") {
    auto type = llvm::dyn_cast<mlir::FloatType>(GraphBuilder::elementOf(x));
    if (!type) {
      n.unsupported("windows in the padding of integers");
      return {};
    }
    llvm::APFloat lowest =
        llvm::APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true);
    bool losesInfo = false;
    lowest.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    value = lowest.convertToDouble();
  }
  return n.b.op("pad", {y, n.b.ints(pads), n.scalarLike(y, value),
                        n.b.ints(range(0, n.rank(y)))});
}

static Value poolWindows(LoweringContext &n, Value x, const Window &window) {
  const std::string &type = n.p.getText("pool_type");
  if (type == "sum")
    return poolSum(n, x, window);
  bool roundsUp = n.p.getText("pooling_convention") == "full";
  llvm::SmallVector<NamedValue> attributes = {
      {"kernel_shape", llvm::ArrayRef<int64_t>(window.kernel)},
      {"strides", llvm::ArrayRef<int64_t>(window.strides)},
      {"pads", llvm::ArrayRef<int64_t>(window.pads)},
      {"ceil_mode", roundsUp}};
  if (type == "lp")
    attributes.push_back({"p", n.p.getInt("p_value")});
  if (type == "avg")
    attributes.push_back(
        {"count_include_pad",
         n.p.isNone("count_include_pad") || n.p.getBool("count_include_pad")});
  Value y = n.b.op(type + "_pool", {x}, attributes);
  return roundsUp ? addEmptyWindows(n, x, y, window) : y;
}

/// Reads the window of a pooling; fails the node.
static bool readPoolWindow(LoweringContext &n, Value x, Window &window) {
  if (n.p.getInts("kernel").empty()) {
    n.fail("expected parameter 'kernel', got none");
    return false;
  }
  if (!readWindow(n, x, window))
    return false;
  for (size_t i = 0; i < window.kernel.size() && !window.pads.empty(); ++i)
    if (window.pads[i] >= window.kernel[i]) {
      n.fail("parameter 'pad': expected less than the kernel's " +
             Twine(window.kernel[i]) + ", got " + Twine(window.pads[i]));
      return false;
    }
  return true;
}

Value symbol::pool(LoweringContext &n, Value x, bool fillsWindows) {
  if (n.p.getText("pooling_convention") == "same") {
    n.unsupported("parameter 'pooling_convention' of same");
    return {};
  }
  if (n.p.getText("pool_type") == "lp" && n.p.isNone("p_value")) {
    n.fail("expected parameter 'p_value' for lp pooling, got none");
    return {};
  }
  x = toChannelsFirst(n, x);
  if (n.b.failed())
    return {};
  if (n.p.getBool("global_pool"))
    return fromChannelsFirst(n, poolGlobally(n, x));
  Window window;
  if (!readPoolWindow(n, x, window))
    return {};
  if (fillsWindows) {
    Ints pads(window.kernel.size(), 0);
    pads.append(overhang(n, x, window));
    x = n.b.op("pad", {x, n.b.ints(pads), n.scalarLike(x, 0),
                       n.b.ints(range(2, n.rank(x)))});
  }
  return fromChannelsFirst(n, poolWindows(n, x, window));
}

static void lowerPooling(LoweringContext &n) {
  n.set(0, pool(n, n.in(0), /*fillsWindows=*/false));
}

//===-- Enlarging ---------------------------------------------------------===//

static void relateUpSampling(ShapeRelation &r) {
  if (r.parameters.getText("sample_type") == "nearest")
    return;
  int64_t scale = r.parameters.getInt("scale"), kernel = 2 * scale - scale % 2;
  r.setInput(1, std::vector{r.inputDim(0, 1), int64_t(1), kernel, kernel});
}

/// Every element `factor` times along the two spatial dimensions.
static Value repeatPixels(LoweringContext &n, Value x, int64_t factor) {
  if (factor == 1)
    return x;
  Ints shape = n.shape(x, "enlarging data");
  if (n.b.failed())
    return {};
  Value apart = n.b.reshape(x, {shape[0], shape[1], shape[2], 1, shape[3], 1});
  Value wide = n.b.op("expand", {apart, n.b.ints({shape[0], shape[1], shape[2],
                                                  factor, shape[3], factor})});
  return n.b.reshape(
      wide, {shape[0], shape[1], shape[2] * factor, shape[3] * factor});
}

/// All operands become as large as the first.
static void enlargeNearest(LoweringContext &n) {
  int64_t scale = n.p.getInt("scale");
  Ints first = n.shape(n.in(0), "enlarging data");
  llvm::SmallVector<Value> parts;
  for (Value x : n.inputs()) {
    Ints shape = n.shape(x, "enlarging data");
    if (n.b.failed())
      return;
    int64_t height = first[2] * scale;
    if (shape[2] == 0 || height % shape[2] ||
        shape[3] * (height / shape[2]) != first[3] * scale)
      return n.fail("expected spatial extents that divide (" + Twine(height) +
                    ", " + Twine(first[3] * scale) + "), got (" +
                    Twine(shape[2]) + ", " + Twine(shape[3]) + ")");
    parts.push_back(repeatPixels(n, x, height / shape[2]));
  }
  if (n.p.getText("multi_input_mode") == "concat")
    return n.set(0, parts.size() == 1 ? parts[0] : n.b.concat(parts, 1));
  Value sum = parts.front();
  for (Value part : llvm::drop_begin(parts))
    sum = n.b.add(sum, part);
  n.set(0, sum);
}

/// A transposed convolution of each channel with the given kernel.
static void enlargeBilinear(LoweringContext &n) {
  int64_t scale = n.p.getInt("scale");
  int64_t pad = scale / 2;
  Ints strides = {scale, scale}, pads = {pad, pad, pad, pad};
  int64_t channels = GraphBuilder::dimOf(n.in(0), 1);
  if (mlir::ShapedType::isDynamic(channels))
    return n.unknown("a number of channels");
  n.set(0, n.b.op("conv_transpose", n.inputs(),
                  {{"strides", llvm::ArrayRef<int64_t>(strides)},
                   {"pads", llvm::ArrayRef<int64_t>(pads)},
                   {"group", channels}}));
}

static void lowerUpSampling(LoweringContext &n) {
  if (n.inputCount() == 0)
    return n.fail("expected at least 1 operand, got none");
  for (Value x : n.inputs()) {
    if (int64_t rank = n.rank(x); rank != 4)
      return n.fail("expected data of 4 dimensions, got " + Twine(rank));
    if (!checkExtents(n, x))
      return;
  }
  if (n.p.getText("sample_type") == "nearest")
    return enlargeNearest(n);
  enlargeBilinear(n);
}

//===-- Declarations ------------------------------------------------------===//

std::vector<Parameter> symbol::poolingParameters() {
  return {
      optional("kernel", ParameterKind::Ints, "()",
               "Extents of the window; needed unless `global_pool`.")
          .within(1, kMaxExtent),
      choice("pool_type", {"avg", "lp", "max", "sum"}, "max",
             "What becomes of a window: its mean, p-norm, largest element or "
             "sum."),
      optional("global_pool", ParameterKind::Bool, "False",
               "One window over everything; `kernel`, `stride` and `pad` then "
               "mean nothing."),
      choice("pooling_convention", {"full", "same", "valid"}, "valid",
             "How the number of windows is rounded: valid down, full up; same "
             "is not supported."),
      optional("stride", ParameterKind::Ints, "()",
               "Steps of the window; () means ones.")
          .within(1, kMaxExtent),
      optional("pad", ParameterKind::Ints, "()",
               "Padding on both sides of each dimension; () means none.")
          .within(0, kMaxExtent),
      optional("p_value", ParameterKind::Int, "None", "p of lp pooling.")
          .within(1, 3),
      optional("count_include_pad", ParameterKind::Bool, "None",
               "Padding counts in means, as zeros; None means it does."),
      layoutParameter(),
      ignored("cudnn_off", ParameterKind::Bool, "False"),
  };
}

std::span<const Operator> dlc::symbol::poolingOperators() {
  static const std::vector<Operator> rows = {
      {.name = "Pooling",
       .aliases = {"_npx_pooling", "Pooling_v1"},
       .summary = "One number for each window",
       .details = "With `full`, a last window may reach beyond the padding; "
                  "what lies there does not count.",
       .parameters = poolingParameters(),
       .lower = lowerPooling},
      {.name = "UpSampling",
       .summary = "Enlarging of images",
       .details = "nearest: every operand grows to the first one's extents "
                  "times `scale`. bilinear: the operands are data and a weight "
                  "(channels, 1, k, k) with k = 2 scale - scale mod 2, for a "
                  "transposed convolution of each channel.",
       .parameters = {required("scale", ParameterKind::Int,
                               "Factor of both extents.")
                          .within(1, 1 << 15),
                      requiredChoice("sample_type", {"bilinear", "nearest"},
                                     "How elements between are made."),
                      choice("multi_input_mode", {"concat", "sum"}, "concat",
                             "What becomes of several operands of nearest."),
                      optional("num_args", ParameterKind::Int, "0",
                               "Number of operands; filled in when composing.")
                          .within(0, kMaxOperands),
                      ignored("num_filter", ParameterKind::Int, "0"),
                      ignored("workspace", ParameterKind::Int, "512")},
       .inputs = {{"data"}, {"weight"}},
       .inputCount = "num_args",
       .countsInputs = when("sample_type", "nearest"),
       .relateShapes = relateUpSampling,
       .lower = lowerUpSampling},
  };
  return rows;
}
