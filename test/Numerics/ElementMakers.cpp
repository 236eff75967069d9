// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations, casts and quantisation.

#include "Generator.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::test;

/// Operations that are asked for more often than all others.
static constexpr StringLiteral kCommon[] = {
    "add",    "add",  "mul",  "mul",  "sub",  "max", "min",
    "relu",   "div",  "neg",  "exp",  "tanh", "abs", "sigmoid",
    "select", "gelu", "sqrt", "less", "clamp"};

static bool isNumber(RankedTensorType type) {
  return !type.getElementType().isInteger(1);
}

/// Brings numbers to where an operation is defined and not steep.
static Value prepare(Generator &g, StringRef name, Value x) {
  if (!isa<FloatType>(g.typeOf(x).getElementType()))
    return x;
  Type element = g.typeOf(x).getElementType();
  auto plus = [&](Value value, double number) {
    return value ? g.makeOne("add", {value, g.constant({}, element, {number})})
                 : Value();
  };
  bool isUnit = name == "asin" || name == "acos" || name == "atanh";
  bool isPositive = name == "sqrt" || name == "rsqrt" || name == "log" ||
                    name == "reciprocal" || name == "pow";
  if (isUnit) {
    Value small = g.makeOne("tanh", {x});
    return small ? g.makeOne("mul", {small, g.constant({}, element, {0.75})})
                 : Value();
  }
  if (name == "acosh")
    return plus(g.makeOne("abs", {x}), 1.5);
  if (isPositive && g.chance(75))
    return plus(g.makeOne("abs", {x}), 0.5);
  return x;
}

static SmallVector<NamedAttribute> attributesOf(Generator &g, StringRef name) {
  if (name == "gelu" && g.chance(50))
    return {g.text("approximate", "tanh")};
  if (name == "mod" && g.chance(50))
    return {g.flag("fmod", true)};
  if ((name == "elu" || name == "celu" || name == "leaky_relu" ||
       name == "swish" || name == "thresholded_relu") &&
      g.chance(50))
    return {g.real("alpha", 0.375)};
  if (name == "shrink" && g.chance(50))
    return {g.real("bias", 0.25)};
  if (name == "is_inf")
    return {g.flag("detect_negative", g.chance(50))};
  return {};
}

/// Any elementwise operation: as many operands as it takes, of types that it
/// takes, found by trying.
static void makeElementwise(Generator &g) {
  ArrayRef<std::string> names = g.elementwise();
  std::string name = g.chance(50) ? kCommon[g.below(std::size(kCommon))].str()
                                  : names[g.below(names.size())];
  if (name == "select") {
    Value a = g.pickAny();
    Value condition = a ? g.partner(a, g.b.getI1Type()) : Value();
    if (condition)
      g.make(name, {condition, a, g.partner(a)});
    return;
  }
  for (int attempt = 0; attempt < 4; ++attempt) {
    Value x = g.pickAny();
    if (!x || !(x = prepare(g, name, x)))
      continue;
    SmallVector<Value> operands{x};
    SmallVector<NamedAttribute> attributes = attributesOf(g, name);
    for (int count = 1; count <= 3; ++count) {
      if (g.make(name, operands, attributes))
        return;
      if (count < 3)
        operands.push_back(name == "replace_gradient" ? x : g.partner(x));
    }
  }
}

/// Operations on types that few values have.
static void makeBits(Generator &g) {
  Type element = g.oneOf<Type>({g.b.getIntegerType(32, false),
                                g.b.getIntegerType(8, false), g.b.getI32Type(),
                                g.b.getI64Type()});
  Value x = g.fresh({g.extent(), g.extent()}, element, 0, 7);
  StringRef name =
      g.oneOf<StringRef>({"bitwise_and", "bitwise_or", "bitwise_xor",
                          "shift_left", "shift_right", "mod", "div"});
  Value y = g.make(name, {x, g.partner(x)}) ? x : Value();
  if (y && g.chance(50))
    g.make("bitwise_not", {y});
}

static void makeLogic(Generator &g) {
  Value x = g.fresh({g.extent(), g.extent()}, g.b.getI1Type());
  StringRef name =
      g.oneOf<StringRef>({"logical_and", "logical_or", "logical_xor"});
  if (Value y = g.makeOne(name, {x, g.partner(x)}); y && g.chance(50))
    g.make("logical_not", {y});
}

static void makeCast(Generator &g) {
  OpBuilder &b = g.b;
  Value x = g.pickAny();
  if (!x)
    return;
  Type to = g.isDifferentiable
                ? Type(b.getF64Type())
                : g.oneOf<Type>({b.getF32Type(), b.getF32Type(), b.getF64Type(),
                                 b.getF16Type(), b.getBF16Type(),
                                 b.getI32Type(), b.getI64Type(), b.getI8Type(),
                                 b.getI1Type(), b.getIntegerType(8, false)});
  // A sum that cancels is zero, or all but: true and false are as far apart.
  if (to.isInteger(1) && isa<FloatType>(g.typeOf(x).getElementType()))
    x = g.fresh({g.extent()}, g.typeOf(x).getElementType());
  g.make("cast", {x}, {g.type("to", to)});
}

static void makeBitCast(Generator &g) {
  Type element = g.oneOf<Type>({g.b.getI32Type(), g.b.getI64Type()});
  Value x = g.fresh({g.extent()}, element);
  g.make("bit_cast", {x},
         {g.type("to", g.b.getIntegerType(element.getIntOrFloatBitWidth(),
                                          /*isSigned=*/false))});
}

static void makeQuantized(Generator &g) {
  Value x = g.pickFloats(1, 4);
  if (!x || g.typeOf(x).getElementType().isF64())
    return;
  Type element = g.typeOf(x).getElementType();
  Type small =
      g.chance(50) ? Type(g.b.getI8Type()) : Type(g.b.getIntegerType(8, false));
  bool isPerAxis = g.chance(40);
  int64_t axis = g.below(g.typeOf(x).getRank());
  Generator::Shape shape;
  if (isPerAxis)
    shape.push_back(g.typeOf(x).getDimSize(axis));
  Value scale = g.fresh(shape, element, 0.25, 0.5);
  Value zero = g.fresh(shape, small, 0, 3);
  NamedAttribute along = g.num("axis", isPerAxis ? axis : 0);
  if (Value y = g.makeOne("quantize_linear", {x, scale, zero}, {along}))
    g.make("dequantize_linear", {y, scale, zero}, {along});
}

/// Integers as floats again.
static void makeDequantized(Generator &g) {
  Value x = g.fresh({g.extent(), g.extent()}, g.b.getI8Type(), -9, 9);
  g.make("dequantize_linear", {x, g.fresh({}, g.b.getF32Type(), 0.25, 0.5),
                               g.fresh({}, g.b.getI8Type(), -2, 2)});
}

/// The same value more than once, so that there are ties, and operations that
/// common subexpressions find.
static void makeTwice(Generator &g) {
  Value x = g.pick(isNumber);
  if (!x)
    return;
  StringRef name = g.oneOf<StringRef>({"max", "min", "add", "mul", "sub"});
  Value y = g.makeOne(name, {x, x});
  Value z = y ? g.makeOne(name, {x, x}) : Value();
  if (z)
    g.make("max", {y, z});
}

ArrayRef<WeightedMaker> dlc::test::elementMakers() {
  static constexpr WeightedMaker makers[] = {
      {34, makeElementwise}, {2, makeBits},    {2, makeLogic},
      {5, makeCast},         {1, makeBitCast}, {1, makeQuantized},
      {1, makeDequantized},  {2, makeTwice}};
  return makers;
}
