// SPDX-License-Identifier: Apache-2.0
//
// Functions of two or more elements, with the broadcasting of every version.

#include "Simple.h"

using namespace dlc::onnx;
using mlir::Value;

/// Before opset 7, B was broadcast to A only when `broadcast` was set, and
/// `axis` said where in A the dimensions of B begin (default: at the end).
static Value alignLegacy(NodeContext &n, Value a, Value b) {
  n.ignore({"consumed_inputs"});
  bool broadcasts = n.getBool("broadcast", false);
  bool hasAxis = n.hasAttr("axis");
  int64_t axis = n.getInt("axis", 0);
  if (!broadcasts || !hasAxis)
    return b;
  int64_t rankA = n.rank(a), rankB = n.rank(b);
  axis = n.axis(axis, rankA);
  int64_t trailing = rankA - axis - rankB;
  if (trailing < 0) {
    n.fail("expected an axis of at most " + llvm::Twine(rankA - rankB) +
           " to broadcast rank " + llvm::Twine(rankB) + " to rank " +
           llvm::Twine(rankA) + ", got " + llvm::Twine(axis));
    return {};
  }
  return n.b.unsqueeze(b, firstInts(rankB + trailing, rankB));
}

template <Mnemonic name> static void importLegacy(NodeContext &n) {
  n.set(0, n.b.op(name.str(), {n.in(0), alignLegacy(n, n.in(0), n.in(1))}));
}

/// Before opset 7 a vector of slopes means one slope per channel.
static void importPReluV1(NodeContext &n) {
  n.ignore({"consumed_inputs"});
  Value x = n.in(0), slope = n.in(1);
  int64_t rank = n.rank(x);
  if (rank > 2 && GraphBuilder::rankOf(slope) == 1 &&
      GraphBuilder::dimOf(slope, 0) != 1)
    slope = n.b.unsqueeze(slope, firstInts(rank - 1, 1));
  n.set(0, n.b.op("prelu", {x, slope}));
}

static void importMod(NodeContext &n) {
  n.set(0, n.b.op("mod", {n.in(0), n.in(1)},
                  {{"fmod", n.getBool("fmod", false)}}));
}

static void importSwiGLU(NodeContext &n) {
  Value gate =
      n.b.op("swish", {n.in(0)}, {{"alpha", n.getFloat("alpha", 1.0f)}});
  n.set(0, n.b.mul(gate, n.in(1)));
}

static void importBitShift(NodeContext &n) {
  bool left = n.getChoice("direction", "", {"LEFT", "RIGHT"}) == "LEFT";
  n.set(0, n.b.op(left ? "shift_left" : "shift_right", {n.in(0), n.in(1)}));
}

/// Folds any number of operands from the left, those of sums of several with no
/// rounding in between.
static Value chain(NodeContext &n, llvm::StringRef mnemonic, bool widens) {
  if (n.opset < 6)
    n.ignore({"consumed_inputs"});
  auto operand = [&](size_t i) {
    return widens ? n.b.widen(n.in(i)) : n.in(i);
  };
  Value result = operand(0);
  for (size_t i = 1; i < n.inputCount(); ++i) {
    if (!n.has(i)) {
      n.fail("expected every input, input " + llvm::Twine(i) + " is missing");
      return {};
    }
    result = n.b.op(mnemonic, {result, operand(i)});
  }
  return result;
}

template <Mnemonic name> static void importVariadic(NodeContext &n) {
  constexpr size_t operandsOfOne = 2;
  const bool isSum = name.str() == "add" && n.inputCount() > operandsOfOne;
  Value y = chain(n, name.str(), /*widens=*/isSum);
  n.set(0, isSum && y ? n.b.castLike(y, n.in(0)) : y);
}

static void importMean(NodeContext &n) {
  Value sum = chain(n, "add", /*widens=*/n.inputCount() > 1);
  if (n.inputCount() > 1)
    sum = n.b.div(sum, n.b.scalarLike(sum, n.inputCount()));
  n.set(0, sum ? n.b.castLike(sum, n.in(0)) : sum);
}

static constexpr Operator rows[] = {
    {"Add", 1, 2, 2, 1, importLegacy<"add">},
    {"Add", 7, 2, 2, 1, importSimple<"add">},
    {"And", 1, 2, 2, 1, importLegacy<"logical_and">},
    {"And", 7, 2, 2, 1, importSimple<"logical_and">},
    {"BitShift", 11, 2, 2, 1, importBitShift},
    {"BitwiseAnd", 18, 2, 2, 1, importSimple<"bitwise_and">},
    {"BitwiseOr", 18, 2, 2, 1, importSimple<"bitwise_or">},
    {"BitwiseXor", 18, 2, 2, 1, importSimple<"bitwise_xor">},
    {"Div", 1, 2, 2, 1, importLegacy<"div">},
    {"Div", 7, 2, 2, 1, importSimple<"div">},
    {"Equal", 1, 2, 2, 1, importLegacy<"equal">},
    {"Equal", 7, 2, 2, 1, importSimple<"equal">},
    {"Greater", 1, 2, 2, 1, importLegacy<"greater">},
    {"Greater", 7, 2, 2, 1, importSimple<"greater">},
    {"GreaterOrEqual", 12, 2, 2, 1, importSimple<"greater_equal">},
    {"Less", 1, 2, 2, 1, importLegacy<"less">},
    {"Less", 7, 2, 2, 1, importSimple<"less">},
    {"LessOrEqual", 12, 2, 2, 1, importSimple<"less_equal">},
    {"Max", 1, 1, kAny, 1, importVariadic<"max">},
    {"Mean", 1, 1, kAny, 1, importMean},
    {"Min", 1, 1, kAny, 1, importVariadic<"min">},
    {"Mod", 10, 2, 2, 1, importMod},
    {"Mul", 1, 2, 2, 1, importLegacy<"mul">},
    {"Mul", 7, 2, 2, 1, importSimple<"mul">},
    {"Or", 1, 2, 2, 1, importLegacy<"logical_or">},
    {"Or", 7, 2, 2, 1, importSimple<"logical_or">},
    {"PRelu", 1, 2, 2, 1, importPReluV1},
    {"PRelu", 7, 2, 2, 1, importSimple<"prelu">},
    {"Pow", 1, 2, 2, 1, importLegacy<"pow">},
    {"Pow", 7, 2, 2, 1, importSimple<"pow">},
    {"Sub", 1, 2, 2, 1, importLegacy<"sub">},
    {"Sub", 7, 2, 2, 1, importSimple<"sub">},
    {"Sum", 1, 1, kAny, 1, importVariadic<"add">},
    {"SwiGLU", 28, 2, 2, 1, importSwiGLU},
    {"Where", 9, 3, 3, 1, importSimple<"select">},
    {"Xor", 1, 2, 2, 1, importLegacy<"logical_xor">},
    {"Xor", 7, 2, 2, 1, importSimple<"logical_xor">},
};

llvm::ArrayRef<Operator> dlc::onnx::binaryOperators() { return rows; }
