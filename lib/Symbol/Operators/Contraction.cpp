// SPDX-License-Identifier: Apache-2.0
//
// Matrix products and convolutions.

#include "Layers.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Fully connected ---------------------------------------------------===//

void symbol::relateFullyConnected(ShapeRelation &r) {
  const Parameters &p = r.parameters;
  int64_t hidden = p.getInt("num_hidden");
  const Shape &data = r.input(0);
  int64_t length = rt::kUnknownDim;
  if (data && !data->empty())
    length =
        p.getBool("flatten") ? product(data, 1, data->size()) : data->back();
  r.setInput(1, std::vector{hidden, length});
  if (!p.getBool("no_bias"))
    suggestElements(r, 2, std::vector{hidden}); // Old files have a column.
  if (!data || data->empty())
    return;
  // Backwards: the rows, and the columns of a matrix.
  std::vector<int64_t> known(data->size(), rt::kUnknownDim);
  known.front() = r.outputDim(0, 0);
  if (data->size() == 2 || !p.getBool("flatten"))
    known.back() = r.inputDim(1, 1);
  r.setInput(0, known);
}

Value symbol::multiplyByWeight(LoweringContext &n, Value x, Value w) {
  int64_t rank = n.rank(x);
  if (rank < 2) {
    n.fail("expected data of at least 2 dimensions, got " + Twine(rank));
    return {};
  }
  if (rank > 2 && n.p.getBool("flatten"))
    x = n.b.op("flatten", {x}, {{"axis", 1}});
  return n.b.op("matmul", {x, n.b.transpose(w, {1, 0})});
}

static void lowerFullyConnected(LoweringContext &n) {
  Value y = multiplyByWeight(n, n.in(0), n.in(1));
  if (Value bias = n.named("bias")) {
    if (GraphBuilder::rankOf(bias) != 1)
      bias = n.b.reshape(bias, {n.p.getInt("num_hidden")});
    y = n.b.add(y, bias);
  }
  n.set(0, y);
}

//===-- Products ----------------------------------------------------------===//

/// Swaps the last two dimensions when the parameter says so.
static Value transposed(LoweringContext &n, Value x, const char *parameter) {
  return n.p.getBool(parameter) && n.rank(x) >= 2 ? turned(n, x) : x;
}

/// The last axis of a with the first of b; of what is transposed the other one,
/// without a change in the order of the rest.
static void lowerDot(LoweringContext &n) {
  auto prepared = [&](size_t index, const char *parameter) {
    Value x = n.in(index);
    Ints perm = range(0, n.rank(x));
    if (!n.p.getBool(parameter) || perm.empty())
      return x;
    auto middle = index == 0 ? perm.begin() + 1 : perm.end() - 1;
    std::rotate(perm.begin(), middle, perm.end());
    return n.b.transpose(x, perm);
  };
  Value a = prepared(0, "transpose_a"), b = prepared(1, "transpose_b");
  int64_t rankA = n.rank(a), rankB = n.rank(b);
  if (rankA < 1 || rankB < 1)
    return n.fail("expected operands of at least 1 dimension, got a scalar");
  Ints shapeA = n.shape(a, "an operand"), shapeB = n.shape(b, "an operand");
  if (n.b.failed())
    return;
  if (shapeA.back() != shapeB.front())
    return n.fail("expected " + Twine(shapeA.back()) +
                  " in the first dimension of 'rhs', got " +
                  Twine(shapeB.front()));
  Ints result(shapeA.begin(), shapeA.end() - 1);
  result.append(shapeB.begin() + 1, shapeB.end());
  if (result.empty())
    result.push_back(1); // Of two vectors.
  Ints left = {-1, shapeA.back()}, right = {shapeB.front(), -1};
  Value product =
      n.b.op("matmul", {n.b.reshape(a, left), n.b.reshape(b, right)});
  n.set(0, n.b.reshape(product, result));
}

static void lowerBatchDot(LoweringContext &n) {
  int64_t rankA = n.rank(n.in(0)), rankB = n.rank(n.in(1));
  if (rankA < 3 || rankA != rankB)
    return n.fail("expected operands of one rank of at least 3, got " +
                  Twine(rankA) + " and " + Twine(rankB));
  n.set(0, n.b.op("matmul", {transposed(n, n.in(0), "transpose_a"),
                             transposed(n, n.in(1), "transpose_b")}));
}

/// alpha a b [+ beta c], of the last two dimensions.
static void lowerGemm(LoweringContext &n) {
  n.expectDefault("axis");
  auto scaled = [&](Value x, const char *parameter) {
    double factor = n.p.getFloat(parameter);
    return factor == 1 ? x : n.b.mul(x, n.scalarLike(x, factor));
  };
  Value product = n.b.op("matmul", {transposed(n, n.in(0), "transpose_a"),
                                    transposed(n, n.in(1), "transpose_b")});
  Value y = scaled(product, "alpha");
  if (n.inputCount() > 2)
    y = n.b.add(y, scaled(n.in(2), "beta"));
  n.set(0, y);
}

//===-- Convolutions ------------------------------------------------------===//

/// Of a filter over `channels`, in the order of the weight's dimensions.
static Shape weightShape(const Parameters &p, int64_t first, int64_t second) {
  std::vector<int64_t> shape = {first, second};
  const std::vector<int64_t> &kernel = p.getInts("kernel");
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  return fromChannelsFirst(p, shape);
}

/// Dimension `axis` of an operand as if channels were second.
static int64_t channelsFirstDim(const ShapeRelation &r, size_t index,
                                size_t axis) {
  Shape shape = toChannelsFirst(r.parameters, r.input(index));
  return shape && axis < shape->size() ? (*shape)[axis] : rt::kUnknownDim;
}

/// What data with these channels look like.
static void setChannels(ShapeRelation &r, int64_t channels) {
  std::vector<int64_t> data(r.parameters.getInts("kernel").size() + 2,
                            rt::kUnknownDim);
  data[0] = r.outputDim(0, 0);
  data[1] = channels;
  r.setInput(0, fromChannelsFirst(r.parameters, data));
}

/// `count` filters or channels, if known, make equal groups.
static bool checkGroups(ShapeRelation &r, int64_t count, const char *what) {
  int64_t group = r.parameters.getInt("num_group");
  if (count == rt::kUnknownDim || count % group == 0)
    return true;
  r.fail("expected parameter 'num_group' to divide " + std::to_string(count) +
         " " + what + ", got " + std::to_string(group));
  return false;
}

void symbol::relateConvolution(ShapeRelation &r) {
  const Parameters &p = r.parameters;
  int64_t group = p.getInt("num_group"), filters = p.getInt("num_filter");
  // First, so that data are blamed that do not fit a weight which is known.
  setChannels(r, multiplied(channelsFirstDim(r, 1, 1), group));
  if (!checkGroups(r, filters, "filters") ||
      !checkGroups(r, channelsFirstDim(r, 0, 1), "channels"))
    return;
  r.setInput(
      1, weightShape(p, filters, divided(channelsFirstDim(r, 0, 1), group)));
  if (!p.getBool("no_bias"))
    r.setInput(2, std::vector{filters});
}

Value symbol::convolve(LoweringContext &n, Value x, Value w, Value bias) {
  x = toChannelsFirst(n, x);
  w = toChannelsFirst(n, w);
  Window window;
  if (!checkLength(n, "dilate", n.p.getInts("kernel").size()) ||
      !readWindow(n, x, window))
    return {};
  window.dilations = n.ints("dilate");
  llvm::SmallVector<NamedValue> attributes = window.attributes();
  attributes.push_back({"group", n.p.getInt("num_group")});
  llvm::SmallVector<Value> operands = {x, w};
  if (bias)
    operands.push_back(bias);
  return fromChannelsFirst(n, n.b.op("conv", operands, attributes));
}

static void lowerConvolution(LoweringContext &n) {
  n.set(0, convolve(n, n.in(0), n.in(1), n.named("bias")));
}

/// Each `adj` is below its stride; a target shape replaces them.
static void checkAdjust(ShapeRelation &r) {
  const Parameters &p = r.parameters;
  const std::vector<int64_t> &adjust = p.getInts("adj");
  const std::vector<int64_t> &strides = p.getInts("stride");
  const std::vector<int64_t> &target = p.getInts("target_shape");
  if (llvm::any_of(target, [](int64_t size) { return size != 0; }))
    return;
  for (size_t i = 0; i < adjust.size(); ++i) {
    int64_t stride = i < strides.size() ? strides[i] : 1;
    if (adjust[i] >= stride)
      return r.fail("parameter 'adj': expected less than the stride, " +
                    std::to_string(stride) + ", got " +
                    std::to_string(adjust[i]));
  }
}

static void relateDeconvolution(ShapeRelation &r) {
  const Parameters &p = r.parameters;
  int64_t group = p.getInt("num_group"), filters = p.getInt("num_filter");
  checkAdjust(r);
  if (!checkGroups(r, filters, "filters"))
    return;
  r.setInput(1, weightShape(p, channelsFirstDim(r, 0, 1), filters / group));
  r.setInput(2, std::vector{filters});
  setChannels(r, channelsFirstDim(r, 1, 0));
}

/// The size of the result decides over padding: what is too much is cut off on
/// both sides, one more at the beginning.
static void applyTargetShape(LoweringContext &n, Value x, Window &window,
                             Ints &adjust) {
  const std::vector<int64_t> &target = n.p.getInts("target_shape");
  if (llvm::all_of(target, [](int64_t size) { return size == 0; }))
    return;
  size_t spatial = window.kernel.size();
  adjust.assign(spatial, 0);
  window.pads.assign(2 * spatial, 0);
  Ints extents = n.shape(x, "a target shape for data");
  if (n.b.failed())
    return;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t stride = window.strides.empty() ? 1 : window.strides[i];
    int64_t dilation = window.dilations.empty() ? 1 : window.dilations[i];
    int64_t full =
        stride * (extents[i + 2] - 1) + dilation * (window.kernel[i] - 1) + 1;
    int64_t total = full - target[i];
    if (total < 0)
      return n.fail("parameter 'target_shape': expected at most " +
                    Twine(full) + ", got " + Twine(target[i]));
    adjust[i] = total % 2;
    window.pads[i] = window.pads[i + spatial] = (total + 1) / 2;
  }
}

static void lowerDeconvolution(LoweringContext &n) {
  Value x = toChannelsFirst(n, n.in(0)), w = toChannelsFirst(n, n.in(1));
  size_t spatial = n.p.getInts("kernel").size();
  Window window;
  if (!checkLength(n, "dilate", spatial) || !checkLength(n, "adj", spatial) ||
      !checkLength(n, "target_shape", spatial) || !readWindow(n, x, window))
    return;
  window.dilations = n.ints("dilate");
  Ints adjust = n.ints("adj");
  applyTargetShape(n, x, window, adjust);
  llvm::SmallVector<NamedValue> attributes = window.attributes();
  attributes.push_back({"group", n.p.getInt("num_group")});
  attributes.push_back({"output_padding", llvm::ArrayRef<int64_t>(adjust)});
  llvm::SmallVector<Value> operands = {x, w};
  if (Value bias = n.named("bias"))
    operands.push_back(bias);
  Value y = n.b.op("conv_transpose", operands, attributes);
  n.set(0, fromChannelsFirst(n, y));
}

//===-- Declarations ------------------------------------------------------===//

static std::vector<Input> weighted() {
  return {{"data"}, {"weight"}, {"bias", unless("no_bias")}};
}

static Parameter noBias(std::string_view fallback) {
  return optional("no_bias", ParameterKind::Bool, fallback,
                  "Leave the bias out.");
}

static Parameter transposes(std::string_view name, std::string_view what) {
  return optional(name, ParameterKind::Bool, "False", what);
}

std::vector<Parameter> symbol::fullyConnectedParameters() {
  return {required("num_hidden", ParameterKind::Int,
                   "Length of each row of the result.")
              .atLeast(1),
          noBias("False"),
          optional("flatten", ParameterKind::Bool, "True",
                   "Make rows out of all dimensions but the first; else the "
                   "last dimension is the row.")};
}

std::vector<Parameter> symbol::convolutionParameters(std::string_view bias) {
  std::vector<Parameter> parameters = convolutionWindow();
  for (Parameter parameter :
       {required("num_filter", ParameterKind::Int,
                 "Number of filters: channels of the result.")
            .within(1, kMaxExtent),
        optional("num_group", ParameterKind::Int, "1",
                 "Groups that channels and filters are split into.")
            .within(1, kMaxExtent),
        noBias(bias), layoutParameter(),
        ignored("workspace", ParameterKind::Int, "1024"),
        ignored("cudnn_tune", ParameterKind::Text, "None"),
        ignored("cudnn_off", ParameterKind::Bool, "False")})
    parameters.push_back(parameter);
  return parameters;
}

static std::vector<Parameter> deconvolutionParameters() {
  std::vector<Parameter> parameters = convolutionParameters("True");
  parameters.push_back(optional("adj", ParameterKind::Ints, "()",
                                "Elements added at the end of each dimension.")
                           .atLeast(0));
  parameters.push_back(
      optional("target_shape", ParameterKind::Ints, "()",
               "Spatial extents of the result, which then decide over `pad` "
               "and `adj`; () and zeros: not given.")
          .atLeast(0));
  return parameters;
}

static std::vector<Parameter> gemmParameters(bool addsThird) {
  std::vector<Parameter> parameters = {
      transposes("transpose_a", "Transpose the first operand."),
      transposes("transpose_b", "Transpose the second operand."),
      optional("alpha", ParameterKind::Float, "1", "Factor of the product."),
      optional("axis", ParameterKind::Int, "-2",
               "Axis of the rows; no other than -2 is supported.")};
  if (addsThird)
    parameters.push_back(optional("beta", ParameterKind::Float, "1",
                                  "Factor of the third operand."));
  return parameters;
}

static std::vector<Parameter> dotParameters() {
  return {transposes("transpose_a", "Transpose the first operand."),
          transposes("transpose_b", "Transpose the second operand."),
          ignored("forward_stype", ParameterKind::Text, "None")};
}

std::span<const Operator> dlc::symbol::contractionOperators() {
  static const std::vector<Operator> rows = {
      {.name = "Convolution",
       .aliases = {"_npx_convolution", "Convolution_v1"},
       .summary = "Cross-correlation of images with filters",
       .details = "Each spatial extent becomes floor((x + 2 pad - dilate "
                  "(kernel - 1) - 1) / stride) + 1. The weight is (num_filter, "
                  "channels / num_group, kernel...), with channels last where "
                  "`layout` has them last.",
       .parameters = convolutionParameters("False"),
       .inputs = weighted(),
       .relateShapes = relateConvolution,
       .lower = lowerConvolution},
      {.name = "Deconvolution",
       .aliases = {"_npx_deconvolution"},
       .summary = "Gradient of a convolution with respect to its data",
       .details = "Each spatial extent becomes stride (x - 1) + dilate (kernel "
                  "- 1) + 1 - 2 pad + adj. The weight is (channels, num_filter "
                  "/ num_group, kernel...).",
       .parameters = deconvolutionParameters(),
       .inputs = weighted(),
       .relateShapes = relateDeconvolution,
       .lower = lowerDeconvolution},
      {.name = "FullyConnected",
       .aliases = {"_npx_fully_connected"},
       .summary = "Product with a matrix of weights, plus a bias",
       .details = "data weight^T + bias; the weight is (num_hidden, length).",
       .parameters = fullyConnectedParameters(),
       .inputs = weighted(),
       .relateShapes = relateFullyConnected,
       .lower = lowerFullyConnected},
      {.name = "batch_dot",
       .aliases = {"_npx_batch_dot"},
       .summary = "Matrix product of the last two dimensions",
       .parameters = dotParameters(),
       .inputs = {{"lhs"}, {"rhs"}},
       .lower = lowerBatchDot},
      {.name = "dot",
       .summary = "Product over the last axis of the first operand and the "
                  "first axis of the second",
       .details = "Of two vectors it has shape (1,).",
       .parameters = dotParameters(),
       .inputs = {{"lhs"}, {"rhs"}},
       .lower = lowerDot},
      {.name = "_linalg_gemm",
       .aliases = {"linalg_gemm"},
       .summary = "alpha A B + beta C",
       .parameters = gemmParameters(true),
       .inputs = {{"A"}, {"B"}, {"C"}},
       .lower = lowerGemm},
      {.name = "_linalg_gemm2",
       .aliases = {"linalg_gemm2"},
       .summary = "alpha A B",
       .parameters = gemmParameters(false),
       .inputs = {{"A"}, {"B"}},
       .lower = lowerGemm},
  };
  return rows;
}
