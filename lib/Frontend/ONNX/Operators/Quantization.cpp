// SPDX-License-Identifier: Apache-2.0
//
// Quantised arithmetic.

#include "Quantization.h"
#include "Window.h"

using namespace dlc::onnx;
using mlir::ShapedType;
using mlir::Type;
using mlir::Value;

/// Zeros of `element` in the shape of `like`.
static Value zerosLike(NodeContext &n, Value like, Type element) {
  if (!element)
    return {};
  if (std::optional<Ints> shape = GraphBuilder::shapeIfStatic(like))
    return n.b.splat(*shape, element, 0);
  return n.b.op("expand", {n.b.scalar(element, 0), n.b.shapeOf(like)});
}

static Type optionalType(NodeContext &n, llvm::StringRef name, int64_t since) {
  if (n.opset < since || n.getInt(name, 0) == 0)
    return {};
  return n.getElementType(name);
}

Value dlc::onnx::perChannel(NodeContext &n, Value parameter) {
  return GraphBuilder::rankOf(parameter) != 1 ||
                 GraphBuilder::dimOf(parameter, 0) == 1
             ? asScalar(n, parameter)
             : parameter;
}

void dlc::onnx::importQuantizeLinear(NodeContext &n) {
  Value x = n.in(0), scale = n.in(1), zero = n.in(2);
  Type wanted = optionalType(n, "output_dtype", 21);
  if (!zero)
    zero = zerosLike(n, scale, wanted ? wanted : n.b.elementType(DLC_U8));
  if (wanted && GraphBuilder::elementOf(zero) != wanted)
    return n.fail("expected attribute 'output_dtype' to be the type of the "
                  "zero point");
  llvm::SmallVector<NamedValue> attributes;
  if (n.opset >= 13)
    attributes.push_back({"axis", n.getInt("axis", 1)});
  if (n.opset >= 19)
    attributes.push_back({"saturate", n.getBool("saturate", true)});
  if (n.opset >= 21)
    attributes.push_back({"block_size", n.getInt("block_size", 0)});
  if (Type precision = optionalType(n, "precision", 23))
    attributes.push_back({"precision", precision});
  n.set(0, n.b.op("quantize_linear", {x, scale, zero}, attributes));
}

void dlc::onnx::importDequantizeLinear(NodeContext &n) {
  Value x = n.in(0), scale = n.in(1), zero = n.in(2);
  if (!zero)
    zero = zerosLike(n, scale, GraphBuilder::elementOf(x));
  llvm::SmallVector<NamedValue> attributes;
  if (n.opset >= 13)
    attributes.push_back({"axis", n.getInt("axis", 1)});
  if (n.opset >= 21)
    attributes.push_back({"block_size", n.getInt("block_size", 0)});
  Value y = n.b.op("dequantize_linear", {x, scale, zero}, attributes);
  if (Type wanted = optionalType(n, "output_dtype", 23))
    y = n.b.cast(y, wanted);
  n.set(0, y);
}

Quantized dlc::onnx::quantizeDynamically(NodeContext &n, Value x) {
  Value zero = n.b.scalarLike(x, 0);
  Ints axes = firstInts(n.rank(x));
  Value low = n.b.op("min", {n.b.reduce("reduce_min", x, axes, false), zero});
  Value high = n.b.op("max", {n.b.reduce("reduce_max", x, axes, false), zero});
  Value top = n.b.scalarLike(x, 255);
  Value scale = n.b.div(n.b.sub(high, low), top);
  // All zeros have scale 0; any divisor gives the zeros back.
  Value divisor = n.b.op(
      "select", {n.b.op("equal", {scale, zero}), n.b.scalarLike(x, 1), scale});
  Value offset = n.b.op("neg", {n.b.div(low, divisor)});
  Value rounded = n.b.op("round", {n.b.op("clamp", {offset, zero, top})});
  Value zeroPoint = n.b.cast(rounded, n.b.elementType(DLC_U8));
  Value y = n.b.op("quantize_linear", {x, divisor, zeroPoint});
  return {y, scale, zeroPoint};
}

static void importDynamicQuantizeLinear(NodeContext &n) {
  auto [y, scale, zeroPoint] = quantizeDynamically(n, n.in(0));
  n.setAll({y, scale, zeroPoint});
}

//===-- Products ----------------------------------------------------------===//

/// A parameter per row of the left factor: a column.
static Value perRow(NodeContext &n, Value parameter, Value matrix) {
  parameter = perChannel(n, parameter);
  const bool isVector = GraphBuilder::rankOf(parameter) == 1;
  return isVector && n.rank(matrix) > 1 ? n.b.unsqueeze(parameter, {1})
                                        : parameter;
}

Value dlc::onnx::multiplyIntegers(NodeContext &n, Factor a, Factor b) {
  Ints extra;
  if (n.rank(a.value) == 1) {
    a.value = n.b.unsqueeze(a.value, {0});
    extra.push_back(-2);
  }
  if (n.rank(b.value) == 1) {
    b.value = n.b.unsqueeze(b.value, {1});
    extra.push_back(-1);
  }
  for (Factor *factor : {&a, &b})
    if (!factor->zero)
      factor->zero = n.b.scalarLike(factor->value, 0);
  return n.b.squeeze(
      n.b.op("integer_matmul", {a.value, b.value, a.zero, b.zero}), extra);
}

static void importMatMulInteger(NodeContext &n) {
  Value a = n.in(0);
  n.set(0, multiplyIntegers(n, {a, n.has(2) ? perRow(n, n.in(2), a) : Value()},
                            {n.in(1), n.in(3)}));
}

Value dlc::onnx::requantize(NodeContext &n, Value sums, Value scale,
                            Value resultScale, Value resultZero) {
  Value real = n.b.mul(n.b.cast(sums, n.b.f32()), scale);
  return n.b.op("quantize_linear",
                {real, asScalar(n, n.b.cast(resultScale, n.b.f32())),
                 asScalar(n, resultZero)});
}

static void importQLinearMatMul(NodeContext &n) {
  Value a = n.in(0);
  Value sums =
      multiplyIntegers(n, {a, perRow(n, n.in(2), a)}, {n.in(3), n.in(5)});
  // A vector of one element is a scalar.
  auto asFloat = [&](Value value) {
    return n.b.cast(perChannel(n, value), n.b.f32());
  };
  Value scale = n.b.mul(perRow(n, asFloat(n.in(1)), a), asFloat(n.in(4)));
  n.set(0, requantize(n, sums, scale, n.in(6), n.in(7)));
}

//===-- Convolutions ------------------------------------------------------===//

/// The sums of x and w without their zero points, of which null ones are 0.
static Value convolve(NodeContext &n, Factor x, Factor w) {
  Ints kernel = n.getInts("kernel_shape");
  const int64_t rank = n.rank(w.value);
  if (kernel.empty())
    for (int64_t i = 2; i < rank; ++i)
      if (!ShapedType::isDynamic(GraphBuilder::dimOf(w.value, i)))
        kernel.push_back(GraphBuilder::dimOf(w.value, i));
  Window window = readWindow(n, x.value, kernel);
  resolveAutoPad(n, x.value, window);
  llvm::SmallVector<NamedValue> attributes = window.attributes();
  attributes.push_back({"group", n.getInt("group", 1)});
  Value ofX = x.zero ? asScalar(n, x.zero) : n.b.scalarLike(x.value, 0);
  Value ofW = w.zero ? perChannel(n, w.zero) : n.b.scalarLike(w.value, 0);
  return n.b.op("integer_conv", {x.value, w.value, ofX, ofW}, attributes);
}

static void importConvInteger(NodeContext &n) {
  n.set(0, convolve(n, {n.in(0), n.has(2) ? n.in(2) : Value()},
                    {n.in(1), n.has(3) ? n.in(3) : Value()}));
}

/// Whether operand `index` is left out or a vector of one element for each
/// output channel, or, where `mayBeOne`, one for all.
static bool checkOfChannels(NodeContext &n, size_t index, bool mayBeOne) {
  if (!n.has(index))
    return true;
  auto rank = GraphBuilder::rankOf(n.in(index));
  const int64_t channels = GraphBuilder::dimOf(n.in(3), 0);
  if (!rank || (mayBeOne && *rank == 0))
    return true;
  const int64_t count = *rank == 1 ? GraphBuilder::dimOf(n.in(index), 0) : -1;
  if (*rank == 1 &&
      (ShapedType::isDynamic(count) || count == channels ||
       ShapedType::isDynamic(channels) || (mayBeOne && count == 1)))
    return true;
  n.fail("input " + llvm::Twine(unsigned(index)) + ": expected " +
         llvm::Twine(channels) + " elements, one for each output channel");
  return false;
}

static void importQLinearConv(NodeContext &n) {
  const int64_t rank = n.rank(n.in(0));
  if (!checkOfChannels(n, 4, true) || !checkOfChannels(n, 5, true) ||
      !checkOfChannels(n, 8, false))
    return;
  auto alongChannels = [&](Value values) {
    return GraphBuilder::rankOf(values) == 0
               ? values
               : n.b.unsqueeze(values, firstInts(rank - 1, 1));
  };
  Value sums = convolve(n, {n.in(0), n.in(2)}, {n.in(3), n.in(5)});
  if (n.has(8))
    sums = n.b.add(sums, alongChannels(n.in(8)));
  Value scale = n.b.mul(asScalar(n, n.in(1)), perChannel(n, n.in(4)));
  n.set(0, requantize(n, sums, alongChannels(scale), n.in(6), n.in(7)));
}

static constexpr Operator rows[] = {
    {"ConvInteger", 10, 2, 4, 1, importConvInteger},
    {"DequantizeLinear", 10, 2, 3, 1, importDequantizeLinear},
    {"DynamicQuantizeLinear", 11, 1, 1, 3, importDynamicQuantizeLinear},
    {"MatMulInteger", 10, 2, 4, 1, importMatMulInteger},
    {"QLinearConv", 10, 8, 9, 1, importQLinearConv},
    {"QLinearMatMul", 10, 8, 8, 1, importQLinearMatMul},
    {"QuantizeLinear", 10, 2, 3, 1, importQuantizeLinear},
};

llvm::ArrayRef<Operator> dlc::onnx::quantizationOperators() { return rows; }
