// SPDX-License-Identifier: Apache-2.0
//
// Operators of com.microsoft, as ONNX Runtime's documentation of contributed
// operators defines them: those that its quantisation writes, and what its
// optimiser makes of transformers.

#include "Quantization.h"
#include "Window.h"

using namespace dlc::onnx;
using mlir::Value;

//===-- Small integers ----------------------------------------------------===//

/// Operands behind optional ones; false, and a failure, where one is missing.
static bool hasAll(NodeContext &n, std::initializer_list<size_t> places) {
  for (size_t place : places)
    if (!n.has(place)) {
      n.fail("expected input " + llvm::Twine(unsigned(place)));
      return false;
    }
  return true;
}

/// That of operand `place`, or zero in the type of `like`.
static Value zeroOr(NodeContext &n, size_t place, Value like) {
  return n.has(place) ? asScalar(n, n.in(place)) : n.b.scalarLike(like, 0);
}

/// What operand `place` stands for, with its scale and zero point behind it.
static Value dequantized(NodeContext &n, size_t place) {
  Value x = n.in(place);
  return n.b.op("dequantize_linear",
                {x, asScalar(n, n.in(place + 1)), zeroOr(n, place + 2, x)});
}

/// Of the type of operand 0, with the scale and the zero point of `place`.
static Value quantized(NodeContext &n, Value x, size_t place) {
  return n.b.op("quantize_linear",
                {x, asScalar(n, n.in(place)), zeroOr(n, place + 1, n.in(0))});
}

template <Mnemonic name> static void importBinary(NodeContext &n) {
  if (!hasAll(n, {3, 4, 6}))
    return;
  n.set(0,
        quantized(n, n.b.op(name.str(), {dequantized(n, 0), dequantized(n, 3)}),
                  6));
}

static void importSigmoid(NodeContext &n) {
  if (!hasAll(n, {3}))
    return;
  n.set(0, quantized(n, n.b.op("sigmoid", {dequantized(n, 0)}), 3));
}

static void importLeakyRelu(NodeContext &n) {
  if (!hasAll(n, {3}))
    return;
  Value y = n.b.op("leaky_relu", {dequantized(n, 0)},
                   {{"alpha", n.getFloat("alpha", 0.01f)}});
  n.set(0, quantized(n, y, 3));
}

static void importSoftmax(NodeContext &n) {
  if (!hasAll(n, {3}))
    return;
  n.ignore({"opset"});
  const int64_t rank = n.rank(n.in(0)), axis = n.getInt("axis", -1);
  if (n.getInt("opset", 13) < 13 && axis != -1 && axis != rank - 1)
    return n.unsupported("QLinearSoftmax of several dimensions");
  Value y = n.b.op("softmax", {dequantized(n, 0)}, {{"axis", axis}});
  n.set(0, quantized(n, y, 3));
}

static void importAveragePool(NodeContext &n) {
  if (!hasAll(n, {3}))
    return;
  if (n.getBool("channels_last", false))
    return n.unsupported("QLinearAveragePool of channels that are last");
  n.set(0, quantized(n, averagePool(n, dequantized(n, 0)), 3));
}

static void importGlobalAveragePool(NodeContext &n) {
  if (!hasAll(n, {3}))
    return;
  const int64_t rank = n.rank(n.in(0));
  const bool isLast = n.getBool("channels_last", false);
  Ints axes = isLast ? firstInts(rank - 1, 1) : firstInts(rank, 2);
  n.set(0, quantized(
               n, n.b.reduce("reduce_mean", dequantized(n, 0), axes, true), 3));
}

/// The scale and the zero point of the result come first.
static void importConcat(NodeContext &n) {
  if (n.inputCount() % 3 != 2)
    return n.fail("expected a value, a scale and a zero point for each part");
  llvm::SmallVector<Value> parts;
  for (size_t i = 2; i < n.inputCount(); i += 3) {
    if (!hasAll(n, {i, i + 1, i + 2}))
      return;
    parts.push_back(dequantized(n, i));
  }
  const int64_t axis = n.axis(n.getInt("axis", 0), n.rank(n.in(2)));
  n.set(0, n.b.op("quantize_linear",
                  {n.b.concat(parts, axis), asScalar(n, n.in(0)),
                   asScalar(n, n.in(1))}));
}

static Value orNull(NodeContext &n, size_t place) {
  return n.has(place) ? perChannel(n, n.in(place)) : Value();
}

/// Sums times the scales of both factors, plus a bias if operand `bias` is one.
static Value scaledSums(NodeContext &n, Value sums, Value scaleA, Value scaleB,
                        size_t bias) {
  Value y = n.b.mul(n.b.cast(sums, n.b.f32()), n.b.mul(scaleA, scaleB));
  return n.has(bias) ? n.b.add(y, n.in(bias)) : y;
}

static void importDynamicQuantizeMatMul(NodeContext &n) {
  auto [a, scale, zero] = quantizeDynamically(n, n.in(0));
  Value sums = multiplyIntegers(n, {a, zero}, {n.in(1), orNull(n, 3)});
  n.set(0, scaledSums(n, sums, scale, perChannel(n, n.in(2)), 4));
}

static void importMatMulIntegerToFloat(NodeContext &n) {
  Value sums =
      multiplyIntegers(n, {n.in(0), orNull(n, 4)}, {n.in(1), orNull(n, 5)});
  n.set(0,
        scaledSums(n, sums, asScalar(n, n.in(2)), perChannel(n, n.in(3)), 6));
}

/// Of floats where no scale of the result is given.
static void importQGemm(NodeContext &n) {
  auto turned = [&](Value value, const char *flag) {
    return n.getBool(flag, false) ? n.b.transpose(value, {1, 0}) : value;
  };
  Value sums =
      multiplyIntegers(n, {turned(n.in(0), "transA"), asScalar(n, n.in(2))},
                       {turned(n.in(3), "transB"), perChannel(n, n.in(5))});
  if (n.has(6))
    sums = n.b.add(sums, n.in(6));
  Value scale = n.b.mul(asScalar(n, n.in(1)), perChannel(n, n.in(4)));
  const float alpha = n.getFloat("alpha", 1.0f);
  if (alpha != 1.0f)
    scale = n.b.mul(scale, n.b.scalarLike(scale, alpha));
  if (!n.has(7))
    return n.set(0, n.b.mul(n.b.cast(sums, n.b.f32()), scale));
  n.set(0, requantize(n, sums, scale, n.in(7), zeroOr(n, 8, n.in(0))));
}

//===-- Floats ------------------------------------------------------------===//

static Value gelu(NodeContext &n, Value x, llvm::StringRef form) {
  return n.b.op("gelu", {x}, {{"approximate", form}});
}

static void importGelu(NodeContext &n) { n.set(0, gelu(n, n.in(0), "none")); }

static void importBiasGelu(NodeContext &n) {
  n.set(0, gelu(n, n.b.add(n.in(0), n.in(1)), "none"));
}

static void importFastGelu(NodeContext &n) {
  Value x = n.has(1) ? n.b.add(n.in(0), n.in(1)) : n.in(0);
  n.set(0, gelu(n, x, "tanh"));
}

static void importQuickGelu(NodeContext &n) {
  Value x = n.in(0);
  Value scaled = n.b.mul(x, n.b.scalarLike(x, n.getFloat("alpha", 1.702f)));
  n.set(0, n.b.mul(x, n.b.op("sigmoid", {scaled})));
}

static void importFusedMatMul(NodeContext &n) {
  if (n.getBool("transBatchA", false) || n.getBool("transBatchB", false))
    return n.unsupported("FusedMatMul of turned batches");
  auto turned = [&](Value value, const char *flag) {
    const int64_t rank = n.rank(value);
    if (!n.getBool(flag, false) || rank < 2)
      return value;
    Ints perm = firstInts(rank, 0);
    std::swap(perm[rank - 2], perm[rank - 1]);
    return n.b.transpose(value, perm);
  };
  Value a = turned(n.in(0), "transA"), b = turned(n.in(1), "transB");
  if (n.rank(a) < 2 || n.rank(b) < 2)
    return n.unsupported("FusedMatMul of vectors");
  Value y = n.b.op("matmul", {a, b});
  const float alpha = n.getFloat("alpha", 1.0f);
  n.set(0, alpha == 1.0f ? y : n.b.mul(y, n.b.scalarLike(y, alpha)));
}

/// The norm of a sum of two or three, which may be a result, too.
static void importSkipLayerNormalization(NodeContext &n) {
  if (n.wants(1) || n.wants(2))
    return n.unsupported("means and deviations of SkipLayerNormalization");
  Value sum = n.b.add(n.in(0), n.in(1));
  if (n.has(4))
    sum = n.b.add(sum, n.in(4));
  llvm::SmallVector<Value> operands = {sum, n.in(2)};
  if (n.has(3))
    operands.push_back(n.in(3));
  n.set(0, n.b.op("layer_norm", operands,
                  {{"axis", int64_t{-1}},
                   {"epsilon", n.getSize("epsilon", 1e-12f)}}));
  n.set(3, sum);
}

static constexpr Operator rows[] = {
    {"BiasGelu", 1, 2, 2, 1, importBiasGelu},
    {"DequantizeLinear", 1, 2, 3, 1, importDequantizeLinear},
    {"DynamicQuantizeLSTM", 1, 3, 12, 3, importDynamicQuantizeLSTM},
    {"DynamicQuantizeMatMul", 1, 3, 5, 1, importDynamicQuantizeMatMul},
    {"FastGelu", 1, 1, 2, 1, importFastGelu},
    {"FusedMatMul", 1, 2, 2, 1, importFusedMatMul},
    {"Gelu", 1, 1, 1, 1, importGelu},
    {"MatMulIntegerToFloat", 1, 4, 7, 1, importMatMulIntegerToFloat},
    {"QGemm", 1, 6, 9, 1, importQGemm},
    {"QLinearAdd", 1, 2, 8, 1, importBinary<"add">},
    {"QLinearAveragePool", 1, 2, 5, 1, importAveragePool},
    {"QLinearConcat", 1, 2, kAny, 1, importConcat},
    {"QLinearGlobalAveragePool", 1, 2, 5, 1, importGlobalAveragePool},
    {"QLinearLeakyRelu", 1, 2, 5, 1, importLeakyRelu},
    {"QLinearMul", 1, 2, 8, 1, importBinary<"mul">},
    {"QLinearSigmoid", 1, 2, 5, 1, importSigmoid},
    {"QLinearSoftmax", 1, 2, 5, 1, importSoftmax},
    {"QuantizeLinear", 1, 2, 3, 1, importQuantizeLinear},
    {"QuickGelu", 1, 1, 1, 1, importQuickGelu},
    {"SkipLayerNormalization", 1, 3, 5, 4, importSkipLayerNormalization},
};

llvm::ArrayRef<Operator> dlc::onnx::microsoftOperators() { return rows; }
