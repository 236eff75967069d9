// SPDX-License-Identifier: Apache-2.0
//
// Functions of one operand, element by element.

#include "../Operators.h"

using namespace dlc::exporter;

static void writeRsqrt(NodeContext &n) {
  n.result("Reciprocal", {n.node("Sqrt", {n.in(0)})});
}

static void writeSilu(NodeContext &n) {
  n.result("Mul", {n.in(0), n.node("Sigmoid", {n.in(0)})});
}

static void writeMish(NodeContext &n) {
  if (n.opset() >= 18)
    return n.result("Mish", {n.in(0)});
  n.result("Mul", {n.in(0), n.node("Tanh", {n.node("Softplus", {n.in(0)})})});
}

/// x / 2 (1 + erf(x / sqrt 2)), or with the tanh that comes near it.
static void writeGelu(NodeContext &n) {
  if (n.opset() >= 20)
    return n.result("Gelu", {n.in(0)}, n.attributes());
  std::string x = n.in(0), inner;
  if (n.getString("approximate", "none") == "tanh") {
    std::string square = n.node("Mul", {x, x});
    std::string slope =
        n.node("Add", {n.node("Mul", {square, n.scalarLike(0, 0.044715)}),
                       n.scalarLike(0, 1)});
    std::string cubic = n.node("Mul", {x, slope});
    inner = n.node(
        "Tanh", {n.node("Mul", {cubic, n.scalarLike(0, 0.7978845608028654)})});
  } else {
    inner = n.node("Erf",
                   {n.node("Mul", {x, n.scalarLike(0, 0.7071067811865476)})});
  }
  std::string half = n.node("Mul", {x, n.scalarLike(0, 0.5)});
  n.result("Mul", {half, n.node("Add", {inner, n.scalarLike(0, 1)})});
}

static void writeSwish(NodeContext &n) {
  if (n.opset() >= 24)
    return n.result("Swish", {n.in(0)}, n.attributes());
  std::string scaled =
      n.node("Mul", {n.in(0), n.scalarLike(0, n.getFloat("alpha", 1))});
  n.result("Mul", {n.in(0), n.node("Sigmoid", {scaled})});
}

/// 8-bit floats, which `saturate` is about, are no types of Graph.
static void writeCast(NodeContext &n) {
  n.result("Cast", {n.in(0)}, n.attributes({"saturate"}));
}

/// Other floats than f32 and f64 came with opset 20.
static void writeIsInf(NodeContext &n) {
  unsigned width = n.elementOf(0).getIntOrFloatBitWidth();
  if (width < 32 && !n.needs(20, "infinity of 16-bit floats"))
    return;
  n.result("IsInf", {n.in(0)}, n.attributes());
}

/// What counts backward only.
static void writeIdentity(NodeContext &n) { n.result("Identity", {n.in(0)}); }

static constexpr Row rows[] = {
    {"abs", "Abs"},
    {"acos", "Acos"},
    {"acosh", "Acosh"},
    {"asin", "Asin"},
    {"asinh", "Asinh"},
    {"atan", "Atan"},
    {"atanh", "Atanh"},
    {"bit_cast", "BitCast", 26},
    {"bitwise_not", "BitwiseNot", 18},
    {"cast", "Cast", 17, writeCast},
    {"ceil", "Ceil"},
    {"celu", "Celu"},
    {"copy", "Identity", 17, writeIdentity},
    {"cos", "Cos"},
    {"cosh", "Cosh"},
    {"elu", "Elu"},
    {"erf", "Erf"},
    {"exp", "Exp"},
    {"floor", "Floor"},
    {"gelu", "Gelu", 17, writeGelu},
    {"hard_sigmoid", "HardSigmoid"},
    {"hard_swish", "HardSwish"},
    {"is_inf", "IsInf", 17, writeIsInf},
    {"is_nan", "IsNaN"},
    {"leaky_relu", "LeakyRelu"},
    {"log", "Log"},
    {"logical_not", "Not"},
    {"mish", "Mish", 17, writeMish},
    {"neg", "Neg"},
    {"reciprocal", "Reciprocal"},
    {"relu", "Relu"},
    {"replace_gradient", "Identity", 17, writeIdentity},
    {"round", "Round"},
    {"rsqrt", "Sqrt", 17, writeRsqrt},
    {"selu", "Selu"},
    {"shrink", "Shrink"},
    {"sigmoid", "Sigmoid"},
    {"sign", "Sign"},
    {"silu", "Sigmoid", 17, writeSilu},
    {"sin", "Sin"},
    {"sinh", "Sinh"},
    {"softplus", "Softplus"},
    {"softsign", "Softsign"},
    {"sqrt", "Sqrt"},
    {"stop_gradient", "Identity", 17, writeIdentity},
    {"swish", "Swish", 17, writeSwish},
    {"tan", "Tan"},
    {"tanh", "Tanh"},
    {"thresholded_relu", "ThresholdedRelu"},
};

llvm::ArrayRef<Row> dlc::exporter::unaryRows() { return rows; }
