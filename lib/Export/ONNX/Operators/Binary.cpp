// SPDX-License-Identifier: Apache-2.0
//
// Functions of two and three operands, element by element.

#include "../Operators.h"

using namespace dlc::exporter;

/// ONNX has the remainder of floats with the dividend's sign only.
static void writeMod(NodeContext &n) {
  bool isFloat = llvm::isa<mlir::FloatType>(n.elementOf(0));
  if (!isFloat || n.getBool("fmod", false))
    return n.result("Mod", {n.in(0), n.in(1)}, n.attributes());
  std::string zero = n.scalarLike(0, 0);
  std::string rest = n.node("Mod", {n.in(0), n.in(1)}, {{"fmod", int64_t(1)}});
  std::string isOther = n.node(
      "Xor", {n.node("Less", {rest, zero}), n.node("Less", {n.in(1), zero})});
  std::string isSome = n.node("Not", {n.node("Equal", {rest, zero})});
  n.result("Where", {n.node("And", {isOther, isSome}),
                     n.node("Add", {rest, n.in(1)}), rest});
}

/// ONNX's slope broadcasts to x only.
static void writePrelu(NodeContext &n) {
  std::string isBelow = n.node("Less", {n.in(0), n.scalarLike(0, 0)});
  n.result("Where", {isBelow, n.node("Mul", {n.in(0), n.in(1)}), n.in(0)});
}

template <bool toLeft> static void writeShift(NodeContext &n) {
  auto type = llvm::cast<mlir::IntegerType>(n.elementOf(0));
  if (!type.isUnsigned())
    return n.unsupported("shifts of signed integers");
  n.result("BitShift", {n.in(0), n.in(1)},
           {{"direction", std::string(toLeft ? "LEFT" : "RIGHT")}});
}

/// ONNX's bounds are scalars.
static void writeClamp(NodeContext &n) {
  if (n.rankOf(1) == 0 && n.rankOf(2) == 0)
    return n.result("Clip", n.inputs());
  n.result("Min", {n.node("Max", {n.in(0), n.in(1)}), n.in(2)});
}

static constexpr Row rows[] = {
    {"add", "Add"},
    {"bitwise_and", "BitwiseAnd", 18},
    {"bitwise_or", "BitwiseOr", 18},
    {"bitwise_xor", "BitwiseXor", 18},
    {"clamp", "Clip", 17, writeClamp},
    {"div", "Div"},
    {"equal", "Equal"},
    {"greater", "Greater"},
    {"greater_equal", "GreaterOrEqual"},
    {"less", "Less"},
    {"less_equal", "LessOrEqual"},
    {"logical_and", "And"},
    {"logical_or", "Or"},
    {"logical_xor", "Xor"},
    {"max", "Max"},
    {"min", "Min"},
    {"mod", "Mod", 17, writeMod},
    {"mul", "Mul"},
    {"pow", "Pow"},
    {"prelu", "PRelu", 17, writePrelu},
    {"select", "Where"},
    {"shift_left", "BitShift", 17, writeShift<true>},
    {"shift_right", "BitShift", 17, writeShift<false>},
    {"sub", "Sub"},
};

llvm::ArrayRef<Row> dlc::exporter::binaryRows() { return rows; }
