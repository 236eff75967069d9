// SPDX-License-Identifier: Apache-2.0
//
// Movement, often such that nothing moves, and reductions.

#include "Generator.h"

#include <numeric>

using namespace mlir;
using namespace dlc;
using namespace dlc::test;
using Shape = Generator::Shape;

static Shape shapeOf(Value value) {
  return Shape(Generator::typeOf(value).getShape());
}

/// A dimension of a value, counted from the end at times.
static int64_t axisOf(Generator &g, Value value) {
  int64_t rank = g.typeOf(value).getRank();
  return g.below(rank) - (g.chance(30) ? rank : 0);
}

static void makeTranspose(Generator &g) {
  Value x = g.pickAny(1);
  if (!x)
    return;
  Shape perm(g.typeOf(x).getRank());
  std::iota(perm.begin(), perm.end(), 0);
  if (!g.chance(10))
    for (size_t i = perm.size(); i-- > 1;)
      std::swap(perm[i], perm[g.below(i + 1)]);
  g.make("transpose", {x}, {g.list("perm", perm)});
}

/// Dimensions joined or split.
static void makeReshape(Generator &g) {
  Value x = g.pickAny(1);
  if (!x)
    return;
  Shape shape = shapeOf(x), other;
  if (llvm::is_contained(shape, 0))
    return;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!other.empty() && g.chance(35)) {
      other.back() *= shape[i];
      continue;
    }
    int64_t part = g.chance(40) ? g.oneOf<int64_t>({2, 3, 4}) : 1;
    if (part > 1 && shape[i] % part == 0)
      other.append({part, shape[i] / part});
    else
      other.push_back(shape[i]);
  }
  if (g.chance(30))
    other[g.below(other.size())] = -1;
  g.make("reshape", {x, g.ints(other)});
}

static void makeView(Generator &g) {
  Value x = g.pickAny();
  if (!x)
    return;
  int64_t rank = g.typeOf(x).getRank();
  switch (g.below(3)) {
  case 0:
    g.make("flatten", {x}, {g.num("axis", g.between(0, rank))});
    return;
  case 1:
    if (rank < 5)
      g.make("unsqueeze", {x, g.ints({g.between(-rank - 1, rank)})});
    return;
  default:
    if (llvm::is_contained(shapeOf(x), 1))
      g.make("squeeze", {x});
  }
}

static void makeExpand(Generator &g) {
  Value x = g.pickAny(0, 4);
  if (!x)
    return;
  Shape shape = shapeOf(x);
  for (int64_t &extent : shape)
    if (extent == 1 && g.chance(70))
      extent = g.extent();
  if (shape.size() < 4 && g.chance(40))
    shape.insert(shape.begin(), g.extent());
  g.make("expand", {x, g.ints(shape)});
}

static void makeTile(Generator &g) {
  Value x = g.pickAny(1);
  if (!x)
    return;
  Shape repeats(g.typeOf(x).getRank(), 1);
  if (!g.chance(15))
    repeats[g.below(repeats.size())] = g.between(1, 3);
  g.make("tile", {x, g.ints(repeats)});
}

static void makeConcat(Generator &g) {
  Value x = g.pickAny(1);
  if (!x)
    return;
  int64_t axis = axisOf(g, x), rank = g.typeOf(x).getRank();
  int64_t along = axis < 0 ? axis + rank : axis;
  SmallVector<Value> inputs{x};
  auto fits = [&](RankedTensorType type) {
    if (type.getElementType() != g.typeOf(x).getElementType() ||
        type.getRank() != rank)
      return false;
    for (int64_t i = 0; i < rank; ++i)
      if (i != along && type.getDimSize(i) != g.typeOf(x).getDimSize(i))
        return false;
    return true;
  };
  for (int64_t i = 0, more = g.below(4); i < more; ++i)
    inputs.push_back(g.pick(fits));
  g.make("concat", inputs, {g.num("axis", axis)});
}

static void makeSplit(Generator &g) {
  Value x = g.pickAny(1);
  if (!x)
    return;
  int64_t axis = axisOf(g, x), rank = g.typeOf(x).getRank();
  int64_t extent = g.typeOf(x).getDimSize(axis < 0 ? axis + rank : axis);
  Shape sizes;
  int64_t left = extent;
  for (int64_t i = 0, more = g.below(3); i < more; ++i) {
    sizes.push_back(g.below(left + 1));
    left -= sizes.back();
  }
  sizes.push_back(left);
  g.make("split", {x, g.ints(sizes)}, {g.num("axis", axis)}, sizes.size());
}

static void makeSlice(Generator &g) {
  Value x = g.pickAny(1);
  if (!x)
    return;
  int64_t axis = axisOf(g, x), rank = g.typeOf(x).getRank();
  int64_t extent = g.typeOf(x).getDimSize(axis < 0 ? axis + rank : axis);
  int64_t start = g.chance(25) ? 0 : g.below(extent);
  int64_t end = g.chance(25) ? INT32_MAX : g.between(start, extent);
  int64_t step = g.oneOf<int64_t>({1, 1, 1, 2, 3});
  if (g.chance(20)) {
    std::swap(start, end);
    step = -step;
  }
  g.make("slice",
         {x, g.ints({start}), g.ints({end}), g.ints({axis}), g.ints({step})});
}

static void makePad(Generator &g) {
  Value x = g.pickAny(1, 4);
  if (!x)
    return;
  int64_t axis = axisOf(g, x);
  StringRef mode = g.oneOf<StringRef>(
      {"constant", "constant", "constant", "reflect", "edge", "wrap"});
  int64_t begin = g.between(mode == "constant" ? -1 : 0, 2);
  int64_t end = g.chance(20) ? -begin : g.between(0, 2);
  Type element = g.typeOf(x).getElementType();
  Value value = g.constant({}, element, {g.chance(50) ? 0. : 1.});
  g.make("pad", {x, g.ints({begin, end}), value, g.ints({axis})},
         {g.text("mode", mode)});
}

static void makeBlocks(Generator &g) {
  int64_t channels = g.oneOf<int64_t>({4, 8});
  Value x = g.pick([&](RankedTensorType type) {
    return type.getRank() == 4 && type.getDimSize(1) % 4 == 0 &&
           type.getDimSize(1) > 0;
  });
  if (!x)
    x = g.fresh({1, channels, g.oneOf<int64_t>({2, 4}), 2}, g.element);
  if (Value y = g.makeOne("depth_to_space", {x},
                          {g.num("blocksize", 2),
                           g.text("mode", g.chance(50) ? "DCR" : "CRD")});
      y && g.chance(60))
    g.make("space_to_depth", {y}, {g.num("blocksize", 2)});
}

static void makeReverse(Generator &g) {
  Value x = g.pickAny(2);
  if (!x)
    return;
  int64_t batches = g.typeOf(x).getDimSize(0),
          steps = g.typeOf(x).getDimSize(1);
  Generator::Numbers lengths;
  for (int64_t i = 0; i < batches; ++i)
    lengths.push_back(static_cast<double>(g.between(0, steps)));
  g.make("reverse_sequence",
         {x, g.constant({batches}, g.b.getI64Type(), lengths)},
         {g.num("batch_axis", 0), g.num("time_axis", 1)});
}

static void makeTriangle(Generator &g) {
  if (Value x = g.pickAny(2))
    g.make("trilu", {x, g.scalar(g.between(-2, 2))},
           {g.flag("upper", g.chance(50))});
}

/// Tensors that no elements of others are in, only their shapes.
static void makeFromShape(Generator &g) {
  Value x = g.pickAny();
  if (!x)
    return;
  OpBuilder &b = g.b;
  switch (g.below(4)) {
  case 0:
    g.make("shape", {x}, {g.num("start", g.between(0, 1))});
    return;
  case 1:
    g.make("size", {x});
    return;
  case 2:
    if (g.typeOf(x).getRank() == 2)
      g.make("eye_like", {x},
             {g.type("dtype", g.oneOf<Type>({b.getF32Type(), b.getI64Type()})),
              g.num("k", g.between(-1, 1))});
    return;
  default:
    g.make("range", {g.scalar(g.between(-2, 2)), g.scalar(g.between(4, 9)),
                     g.scalar(g.oneOf<int64_t>({1, 2, 3}))});
  }
}

/// A reshape by a shape that is computed, and so is folded.
static void makeShapeArithmetic(Generator &g) {
  Value x = g.pickAny(2);
  if (!x)
    return;
  Value shape = g.makeOne("shape", {x});
  Value first = shape ? g.makeOne("gather", {shape, g.ints({0})}) : Value();
  if (first)
    g.make("reshape",
           {x, g.makeOne("concat", {first, g.ints({-1})}, {g.num("axis", 0)})});
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static void makeReduction(Generator &g) {
  Value x = g.pick([](RankedTensorType type) {
    return !type.getElementType().isInteger(1);
  });
  if (!x)
    return;
  StringRef name = g.oneOf<StringRef>(
      {"reduce_sum", "reduce_sum", "reduce_mean", "reduce_mean", "reduce_max",
       "reduce_max", "reduce_min", "reduce_prod"});
  // Where elements are equal, each has the whole gradient: no derivative.
  if (g.isDifferentiable && (name == "reduce_max" || name == "reduce_min"))
    return;
  SmallVector<Value> operands{x};
  Shape axes;
  int64_t rank = g.typeOf(x).getRank();
  for (int64_t i = 0; i < rank; ++i)
    if (g.chance(45))
      axes.push_back(g.chance(25) ? i - rank : i);
  if (!g.chance(10))
    operands.push_back(g.ints(axes));
  g.make(name, operands, {g.flag("keepdims", g.chance(60))});
}

static void makeArg(Generator &g) {
  Value x = g.pick([](RankedTensorType type) {
    return !type.getElementType().isInteger(1) && type.getRank() > 0;
  });
  if (!x)
    return;
  g.make(g.oneOf<StringRef>({"arg_max", "arg_min"}), {x},
         {g.num("axis", axisOf(g, x)), g.flag("keepdims", g.chance(50)),
          g.flag("select_last_index", g.chance(40))});
}

static void makeScan(Generator &g) {
  Value x = g.pickFloats(1, 4);
  if (!x)
    return;
  g.make(g.chance(70) ? "cumsum" : "cumprod", {x, g.scalar(axisOf(g, x))},
         {g.flag("exclusive", g.chance(40)), g.flag("reverse", g.chance(40))});
}

static void makeSoftmax(Generator &g) {
  Value x = g.pickFloats(1, 4);
  if (!x)
    return;
  g.make(g.oneOf<StringRef>({"softmax", "softmax", "log_softmax", "hardmax"}),
         {x}, {g.num("axis", axisOf(g, x))});
}

ArrayRef<WeightedMaker> dlc::test::movementMakers() {
  static constexpr WeightedMaker makers[] = {
      {9, makeTranspose},  {7, makeReshape},
      {4, makeView},       {4, makeExpand},
      {3, makeTile},       {6, makeConcat},
      {5, makeSplit},      {6, makeSlice},
      {5, makePad},        {2, makeBlocks},
      {2, makeReverse},    {2, makeTriangle},
      {2, makeFromShape},  {1, makeShapeArithmetic},
      {10, makeReduction}, {3, makeArg},
      {2, makeScan},       {6, makeSoftmax}};
  return makers;
}
