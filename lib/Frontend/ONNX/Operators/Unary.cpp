// SPDX-License-Identifier: Apache-2.0
//
// Functions of one element, with or without parameters, and casts.

#include "Simple.h"

using namespace dlc::onnx;
using mlir::Type;
using mlir::Value;

/// An activation with one float attribute of the same name in both.
static void importAlpha(NodeContext &n, llvm::StringRef mnemonic, float alpha) {
  if (n.opset < 6)
    n.ignore({"consumed_inputs"});
  n.set(0,
        n.b.op(mnemonic, {n.in(0)}, {{"alpha", n.getFloat("alpha", alpha)}}));
}

static void importElu(NodeContext &n) { importAlpha(n, "elu", 1.0f); }
static void importCelu(NodeContext &n) { importAlpha(n, "celu", 1.0f); }
static void importSwish(NodeContext &n) { importAlpha(n, "swish", 1.0f); }
static void importLeakyRelu(NodeContext &n) {
  importAlpha(n, "leaky_relu", 0.01f);
}
static void importThresholdedRelu(NodeContext &n) {
  importAlpha(n, "thresholded_relu", 1.0f);
}

static void importSelu(NodeContext &n) {
  // Version 1 had shorter constants.
  bool old = n.opset < 6;
  if (old)
    n.ignore({"consumed_inputs"});
  float alpha = n.getFloat("alpha", old ? 1.6732f : 1.67326319217681884765625f);
  float gamma = n.getFloat("gamma", old ? 1.0507f : 1.05070102214813232421875f);
  n.set(0, n.b.op("selu", {n.in(0)}, {{"alpha", alpha}, {"gamma", gamma}}));
}

static void importHardSigmoid(NodeContext &n) {
  if (n.opset < 6)
    n.ignore({"consumed_inputs"});
  n.set(0, n.b.op("hard_sigmoid", {n.in(0)},
                  {{"alpha", n.getFloat("alpha", 0.2f)},
                   {"beta", n.getFloat("beta", 0.5f)}}));
}

static void importShrink(NodeContext &n) {
  n.set(0, n.b.op("shrink", {n.in(0)},
                  {{"bias", n.getFloat("bias", 0.0f)},
                   {"lambd", n.getFloat("lambd", 0.5f)}}));
}

static void importGelu(NodeContext &n) {
  llvm::StringRef form = n.getChoice("approximate", "none", {"none", "tanh"});
  n.set(0, n.b.op("gelu", {n.in(0)}, {{"approximate", form}}));
}

static void importIsInf(NodeContext &n) {
  n.set(0, n.b.op("is_inf", {n.in(0)},
                  {{"detect_positive", n.getBool("detect_positive", true)},
                   {"detect_negative", n.getBool("detect_negative", true)}}));
}

/// A cast that says how it treats floats of 8 bits; Graph has none of them, so
/// only the values of the attributes matter.
static Value castSaturating(NodeContext &n, Type element) {
  n.getChoice("round_mode", "up", {"up", "down", "nearest"});
  bool saturate = n.getBool("saturate", true);
  if (!element || GraphBuilder::elementOf(n.in(0)) == element)
    return n.in(0);
  return n.b.op("cast", {n.in(0)}, {{"to", element}, {"saturate", saturate}});
}

/// Version 1 names the type.
static void importCastV1(NodeContext &n) {
  llvm::StringRef wanted = n.getString("to", "");
  for (int i = 1; i <= static_cast<int>(ElementType::Int2); ++i) {
    auto candidate = static_cast<ElementType>(i);
    if (wanted != nameOf(candidate))
      continue;
    if (Type element = n.b.elementType(dataTypeOf(candidate)))
      return n.set(0, n.b.cast(n.in(0), element));
    return n.unsupported("element type " + wanted);
  }
  n.fail("expected the name of an element type in attribute 'to', got '" +
         wanted + "'");
}

static void importCast(NodeContext &n) {
  Type element = n.getElementType("to");
  if (!element)
    return n.fail("expected attribute 'to'");
  n.set(0, castSaturating(n, element));
}

static void importCastLike(NodeContext &n) {
  n.set(0, castSaturating(n, GraphBuilder::elementOf(n.in(1))));
}

static void importBitCast(NodeContext &n) {
  Type element = n.getElementType("to");
  if (!element)
    return n.fail("expected attribute 'to'");
  n.set(0, n.b.op("bit_cast", {n.in(0)}, {{"to", element}}));
}

static void clip(NodeContext &n, Value low, Value high) {
  Value x = n.in(0);
  if (low && high)
    n.set(0, n.b.op("clamp", {x, low, high}));
  else if (low)
    n.set(0, n.b.op("max", {x, low}));
  else if (high)
    n.set(0, n.b.op("min", {x, high}));
  else
    n.set(0, x);
}

static void importClipV1(NodeContext &n) {
  // Version 6 gave the bounds defaults, the largest floats; infinities are
  // clipped to them.
  bool hasDefaults = n.opset >= 6;
  constexpr float largest = 3.40282347e+38f;
  if (!hasDefaults)
    n.ignore({"consumed_inputs"});
  auto bound = [&](llvm::StringRef name, float defaultValue) {
    if (!n.hasAttr(name) && !hasDefaults)
      return Value();
    return n.b.scalarLike(n.in(0), n.getFloat(name, defaultValue));
  };
  Value low = bound("min", -largest);
  clip(n, low, bound("max", largest));
}

static void importClip(NodeContext &n) {
  auto bound = [&](size_t index) {
    return n.has(index) ? asScalar(n, n.in(index)) : Value();
  };
  Value low = bound(1);
  clip(n, low, bound(2));
}

static constexpr Operator rows[] = {
    {"Abs", 1, 1, 1, 1, importSimple<"abs">},
    {"Acos", 7, 1, 1, 1, importSimple<"acos">},
    {"Acosh", 9, 1, 1, 1, importSimple<"acosh">},
    {"Asin", 7, 1, 1, 1, importSimple<"asin">},
    {"Asinh", 9, 1, 1, 1, importSimple<"asinh">},
    {"Atan", 7, 1, 1, 1, importSimple<"atan">},
    {"Atanh", 9, 1, 1, 1, importSimple<"atanh">},
    {"BitCast", 26, 1, 1, 1, importBitCast},
    {"BitwiseNot", 18, 1, 1, 1, importSimple<"bitwise_not">},
    {"Cast", 1, 1, 1, 1, importCastV1},
    {"Cast", 6, 1, 1, 1, importCast},
    {"CastLike", 15, 2, 2, 1, importCastLike},
    {"Ceil", 1, 1, 1, 1, importSimple<"ceil">},
    {"Celu", 12, 1, 1, 1, importCelu},
    {"Clip", 1, 1, 1, 1, importClipV1},
    {"Clip", 11, 1, 3, 1, importClip},
    {"Cos", 7, 1, 1, 1, importSimple<"cos">},
    {"Cosh", 9, 1, 1, 1, importSimple<"cosh">},
    {"Elu", 1, 1, 1, 1, importElu},
    {"Erf", 9, 1, 1, 1, importSimple<"erf">},
    {"Exp", 1, 1, 1, 1, importSimple<"exp">},
    {"Floor", 1, 1, 1, 1, importSimple<"floor">},
    {"Gelu", 20, 1, 1, 1, importGelu},
    {"HardSigmoid", 1, 1, 1, 1, importHardSigmoid},
    {"HardSwish", 14, 1, 1, 1, importSimple<"hard_swish">},
    {"IsInf", 10, 1, 1, 1, importIsInf},
    {"IsNaN", 9, 1, 1, 1, importSimple<"is_nan">},
    {"LeakyRelu", 1, 1, 1, 1, importLeakyRelu},
    {"Log", 1, 1, 1, 1, importSimple<"log">},
    {"Mish", 18, 1, 1, 1, importSimple<"mish">},
    {"Neg", 1, 1, 1, 1, importSimple<"neg">},
    {"Not", 1, 1, 1, 1, importSimple<"logical_not">},
    {"Reciprocal", 1, 1, 1, 1, importSimple<"reciprocal">},
    {"Relu", 1, 1, 1, 1, importSimple<"relu">},
    {"Round", 11, 1, 1, 1, importSimple<"round">},
    {"Selu", 1, 1, 1, 1, importSelu},
    {"Shrink", 9, 1, 1, 1, importShrink},
    {"Sigmoid", 1, 1, 1, 1, importSimple<"sigmoid">},
    {"Sign", 9, 1, 1, 1, importSimple<"sign">},
    {"Sin", 7, 1, 1, 1, importSimple<"sin">},
    {"Sinh", 9, 1, 1, 1, importSimple<"sinh">},
    {"Softplus", 1, 1, 1, 1, importSimple<"softplus">},
    {"Softsign", 1, 1, 1, 1, importSimple<"softsign">},
    {"Sqrt", 1, 1, 1, 1, importSimple<"sqrt">},
    {"Swish", 24, 1, 1, 1, importSwish},
    {"Tan", 7, 1, 1, 1, importSimple<"tan">},
    {"Tanh", 1, 1, 1, 1, importSimple<"tanh">},
    {"ThresholdedRelu", 10, 1, 1, 1, importThresholdedRelu},
};

llvm::ArrayRef<Operator> dlc::onnx::unaryOperators() { return rows; }
