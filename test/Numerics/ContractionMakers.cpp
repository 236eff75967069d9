// SPDX-License-Identifier: Apache-2.0
//
// Contractions, convolutions, normalisation and recurrent layers.

#include "Generator.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::test;
using Shape = Generator::Shape;

static void makeMatmul(Generator &g) {
  auto isMatrix = [](RankedTensorType type) {
    return type.getRank() >= 2 && type.getRank() <= 4 &&
           !type.getElementType().isInteger(1);
  };
  Value a = g.pick(isMatrix);
  if (!a)
    a = g.fresh({g.extent(), g.extent()}, g.floats());
  RankedTensorType type = g.typeOf(a);
  int64_t depth = type.getShape().back();
  Value b = g.chance(40) ? g.pick([&](RankedTensorType other) {
    return isMatrix(other) && other.getElementType() == type.getElementType() &&
           other.getDimSize(other.getRank() - 2) == depth;
  })
                         : Value();
  if (!b)
    b = g.fresh({depth, g.oneOf<int64_t>({1, 3, 8, 16, 17})},
                type.getElementType(), -1, 1);
  Value y = g.makeOne("matmul", {a, b});
  if (y && g.chance(50))
    y = g.makeOne("add", {y, g.fresh({g.typeOf(y).getShape().back()},
                                     type.getElementType())});
  if (y && g.chance(30))
    g.make(g.oneOf<StringRef>({"relu", "gelu", "tanh"}), {y});
}

static Type byteOf(Generator &g) {
  return g.chance(50) ? Type(g.b.getI8Type())
                      : Type(g.b.getIntegerType(8, false));
}

/// What makes bytes of a product of floats again.
static void makeQuantizedAgain(Generator &g, Value x) {
  if (x && g.chance(40))
    x = g.makeOne("relu", {x});
  Type element = byteOf(g);
  if (x)
    g.make("quantize_linear", {x, g.constant({}, g.b.getF32Type(), {0.37}),
                               g.constant({}, element, {0})});
}

/// Convolutions of integers, or of what they stand for.
static void makeByteConv(Generator &g) {
  const int64_t channels = g.oneOf<int64_t>({1, 3, 16});
  Type left = byteOf(g), right = byteOf(g);
  const bool isDepthwise = g.chance(30);
  const int64_t outputs = isDepthwise ? channels : g.oneOf<int64_t>({1, 4, 17});
  Value x = g.fresh({2, channels, 6, 5}, left, 0, 9);
  Value w = g.fresh({outputs, isDepthwise ? 1 : channels, 3, 2}, right, 0, 9);
  Generator::Shape ofW;
  if (g.chance(50))
    ofW.push_back(outputs);
  Value zeroX = g.fresh({}, left, 0, 3), zeroW = g.fresh(ofW, right, 0, 3);
  NamedAttribute pads = g.list("pads", {1, 0, 2, 1});
  NamedAttribute strides = g.list("strides", {1, g.oneOf<int64_t>({1, 2})});
  NamedAttribute group = g.num("group", isDepthwise ? channels : 1);
  if (g.chance(40)) {
    Value y =
        g.makeOne("integer_conv", {x, w, zeroX, zeroW}, {pads, strides, group});
    if (y && g.chance(50))
      g.make("requantize", {y, g.fresh({}, g.b.getF32Type(), 0.25, 0.5),
                            g.fresh({}, g.b.getF32Type(), 0.25, 0.5),
                            g.fresh({}, byteOf(g), 0, 3)});
    return;
  }
  Value scaleX = g.fresh({}, g.b.getF32Type(), 0.25, 0.5);
  Value scaleW = g.fresh(ofW, g.b.getF32Type(), 0.25, 0.5);
  Value a = g.makeOne("dequantize_linear", {x, scaleX, zeroX});
  Value b =
      g.makeOne("dequantize_linear", {w, scaleW, zeroW}, {g.num("axis", 0)});
  Value y =
      a && b ? g.makeOne("conv", {a, b}, {pads, strides, group}) : Value();
  makeQuantizedAgain(g, y);
}

/// Of integers, or of what they stand for.
static void makeByteProduct(Generator &g) {
  const int64_t rows = g.extent(), depth = g.oneOf<int64_t>({1, 4, 17, 64}),
                columns = g.oneOf<int64_t>({1, 3, 16, 17});
  Type left = byteOf(g), right = byteOf(g);
  Value a = g.fresh({2, rows, depth}, left, 0, 9);
  Value b = g.fresh({depth, columns}, right, 0, 9);
  Generator::Shape ofB;
  if (g.chance(50))
    ofB.push_back(columns);
  Value zeroA = g.fresh({}, left, 0, 3), zeroB = g.fresh(ofB, right, 0, 3);
  if (g.chance(50)) {
    g.make("integer_matmul", {a, b, zeroA, zeroB});
    return;
  }
  Value scaleA = g.fresh({}, g.b.getF32Type(), 0.25, 0.5);
  Value scaleB = g.fresh(ofB, g.b.getF32Type(), 0.25, 0.5);
  Value x = g.makeOne("dequantize_linear", {a, scaleA, zeroA});
  Value w = g.makeOne("dequantize_linear", {b, scaleB, zeroB});
  if (x && w)
    makeQuantizedAgain(g, g.makeOne("matmul", {x, w}));
}

/// A value of N, C, D1..Dn of floats; made if there is none.
static Value pickImage(Generator &g, int64_t minRank = 3, int64_t maxRank = 5) {
  Value x = g.pick([&](RankedTensorType type) {
    return isa<FloatType>(type.getElementType()) && type.getRank() >= minRank &&
           type.getRank() <= maxRank && type.getDimSize(1) > 0 &&
           type.getDimSize(1) <= 32;
  });
  if (x)
    return x;
  Shape shape{g.between(1, 2), g.oneOf<int64_t>({1, 2, 3, 4, 8, 16})};
  int64_t rank =
      std::max(minRank, std::min<int64_t>(maxRank, g.chance(75) ? 4 : 3));
  while (static_cast<int64_t>(shape.size()) < rank)
    shape.push_back(g.oneOf<int64_t>({3, 4, 5, 7, 8}));
  return g.fresh(shape, g.floats());
}

/// What follows convolutions in networks, and what passes merge into them.
static void addEpilogue(Generator &g, Value y) {
  int64_t channels = g.typeOf(y).getDimSize(1);
  Type element = g.typeOf(y).getElementType();
  Shape each(g.typeOf(y).getRank() - 1, 1);
  each[0] = channels;
  if (g.chance(40))
    y = g.makeOne("batch_norm",
                  {y, g.fresh({channels}, element),
                   g.fresh({channels}, element), g.fresh({channels}, element),
                   g.fresh({channels}, element, 0.5, 2)});
  if (y && g.chance(25))
    y = g.makeOne("mul", {y, g.fresh(each, element)});
  if (y && g.chance(25))
    y = g.makeOne("add", {y, g.fresh(each, element)});
  if (y && g.chance(25))
    y = g.makeOne("add", {y, g.pick([&](RankedTensorType type) {
                            return type == g.typeOf(y);
                          })});
  if (y && g.chance(40))
    g.make("relu", {y});
}

static void makeConv(Generator &g) {
  Value x = pickImage(g);
  RankedTensorType type = g.typeOf(x);
  int64_t channels = type.getDimSize(1), spatial = type.getRank() - 2;
  int64_t group = g.chance(25) ? channels : 1;
  if (channels % 2 == 0 && g.chance(15))
    group = 2;
  int64_t kernels = group * g.oneOf<int64_t>({1, 2, 3, 4});
  if (channels % 16 == 0 && g.chance(60)) // Channels that may be in blocks.
    kernels = group == channels ? channels : g.oneOf<int64_t>({16, 32});
  Shape weights{kernels, channels / group}, strides, dilations, pads;
  for (int64_t i = 0; i < spatial; ++i) {
    weights.push_back(g.oneOf<int64_t>({1, 1, 2, 3, 3}));
    strides.push_back(g.oneOf<int64_t>({1, 1, 2}));
    dilations.push_back(g.oneOf<int64_t>({1, 1, 1, 2}));
  }
  for (int64_t i = 0; i < 2 * spatial; ++i)
    pads.push_back(g.below(2));
  Type element = type.getElementType();
  SmallVector<Value> operands{x, g.fresh(weights, element, -1, 1)};
  if (g.chance(50))
    operands.push_back(g.fresh({kernels}, element));
  SmallVector<NamedAttribute> attributes{g.num("group", group)};
  if (g.chance(60))
    attributes.push_back(g.list("strides", strides));
  if (g.chance(40))
    attributes.push_back(g.list("dilations", dilations));
  if (g.chance(15))
    attributes.push_back(g.text("auto_pad", "SAME_UPPER"));
  else if (g.chance(70))
    attributes.push_back(g.list("pads", pads));
  if (Value y = g.makeOne("conv", operands, attributes))
    addEpilogue(g, y);
}

/// One whose result, and mostly its image, have their channels in blocks.
static void makeBlockedConv(Generator &g) {
  constexpr int64_t block = 16;
  if (g.isDifferentiable) // It has no gradient.
    return;
  Type element = g.b.getF32Type();
  bool isBlocked = g.chance(75);
  int64_t channels = isBlocked ? block * g.between(1, 2) : g.between(1, 4);
  int64_t kernels = block * g.between(1, 2);
  int64_t group = channels == kernels && g.chance(30) ? channels : 1;
  Shape image{g.between(1, 2), isBlocked ? channels / block : channels};
  Shape weights{kernels, channels / group}, strides, pads;
  for (int64_t i = g.between(1, 2); i > 0; --i) {
    image.push_back(g.between(3, 9));
    weights.push_back(g.oneOf<int64_t>({1, 3, 3}));
    strides.push_back(g.oneOf<int64_t>({1, 1, 2}));
    llvm::append_range(pads, Shape(2, g.below(2)));
  }
  if (isBlocked)
    image.push_back(block);
  SmallVector<NamedAttribute> attributes{
      g.num("group", group), g.list("strides", strides), g.list("pads", pads),
      g.num("channel_block", block)};
  if (g.chance(30)) {
    Type byte = byteOf(g);
    g.make("integer_conv",
           {g.fresh(image, byte, 0, 9), g.fresh(weights, byte, 0, 9),
            g.fresh({}, byte, 0, 3), g.fresh({kernels}, byte, 0, 3)},
           attributes);
    return;
  }
  SmallVector<Value> operands{g.fresh(image, element),
                              g.fresh(weights, element, -1, 1)};
  if (g.chance(50))
    operands.push_back(g.fresh({kernels}, element));
  Value y = g.makeOne("conv", operands, attributes);
  if (y && g.chance(40))
    y = g.makeOne("add", {y, g.fresh(g.typeOf(y).getShape(), element)});
  if (y && g.chance(40))
    g.make("relu", {y});
}

static void makeConvTranspose(Generator &g) {
  Value x = pickImage(g, 3, 4);
  RankedTensorType type = g.typeOf(x);
  int64_t channels = type.getDimSize(1), spatial = type.getRank() - 2;
  int64_t group = channels % 2 == 0 && g.chance(30) ? 2 : 1;
  Shape weights{channels, g.between(1, 3)}, strides;
  for (int64_t i = 0; i < spatial; ++i) {
    weights.push_back(g.between(1, 3));
    strides.push_back(g.between(1, 2));
  }
  Value w = g.fresh(weights, type.getElementType(), -1, 1);
  if (Value y = g.makeOne("conv_transpose", {x, w},
                          {g.num("group", group), g.list("strides", strides)}))
    addEpilogue(g, y);
}

static void makeDeformConv(Generator &g) {
  Type element = g.floats();
  Value x = g.fresh({1, 2, 4, 4}, element);
  Value w = g.fresh({2, 2, 2, 2}, element, -1, 1);
  Value offset = g.fresh({1, 8, 3, 3}, element, -0.5, 0.5);
  Value mask = g.chance(50) ? g.fresh({1, 4, 3, 3}, element, 0, 1) : g.none();
  g.make("deform_conv", {x, w, offset, g.none(), mask});
}

static void makeEinsum(Generator &g) {
  Value a = g.pickFloats(2, 2);
  if (!a)
    return;
  RankedTensorType type = g.typeOf(a);
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  Type element = type.getElementType();
  switch (g.below(4)) {
  case 0:
    g.make("einsum", {a, g.fresh({columns, 3}, element, -1, 1)},
           {g.text("equation", "ij,jk->ik")});
    return;
  case 1:
    g.make("einsum", {a, g.fresh({rows, columns}, element)},
           {g.text("equation", "ij,ij->i")});
    return;
  case 2:
    g.make("einsum", {a}, {g.text("equation", "ij->ji")});
    return;
  default:
    g.make("einsum", {a, g.fresh({2, rows}, element, -1, 1)},
           {g.text("equation", "ij,ki->kj")});
  }
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

static void makeNorm(Generator &g) {
  Value x = g.pickFloats(2, 4);
  if (!x)
    return;
  RankedTensorType type = g.typeOf(x);
  Type element = type.getElementType();
  int64_t rank = type.getRank(), axis = g.between(1, rank - 1);
  Shape normal(type.getShape().drop_front(axis));
  NamedAttribute epsilon = g.real("epsilon", 0.01);
  SmallVector<Value> operands{x, g.fresh(normal, element)};
  if (g.chance(35)) {
    g.make("rms_norm", operands, {g.num("axis", axis - rank), epsilon});
    return;
  }
  if (g.chance(70))
    operands.push_back(g.fresh(normal, element));
  g.make("layer_norm", operands, {g.num("axis", axis), epsilon});
}

static void makeChannelNorm(Generator &g) {
  Value x = pickImage(g, 2, 5);
  RankedTensorType type = g.typeOf(x);
  int64_t channels = type.getDimSize(1);
  Type element = type.getElementType();
  switch (g.below(3)) {
  case 0:
    g.make("batch_norm",
           {x, g.fresh({channels}, element), g.fresh({channels}, element),
            g.fresh({channels}, element),
            g.fresh({channels}, element, 0.5, 2)});
    return;
  case 1:
    g.make("group_norm",
           {x, g.fresh({channels}, element), g.fresh({channels}, element)},
           {g.num("num_groups", channels % 2 ? channels : channels / 2),
            g.real("epsilon", 0.01)});
    return;
  default:
    g.make("lrn", {x},
           {g.num("size", g.between(1, 5)), g.real("alpha", 0.25),
            g.real("beta", g.chance(50) ? 0.75 : 0.5)});
  }
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// softmax(q k^T) v.
static void makeAttention(Generator &g) {
  Type element = g.floats();
  int64_t length = g.oneOf<int64_t>({3, 5, 8}),
          width = g.oneOf<int64_t>({2, 4});
  Value q = g.fresh({2, length, width}, element);
  Value k = g.fresh({2, length, width}, element);
  Value t = g.makeOne("transpose", {k}, {g.list("perm", {0, 2, 1})});
  Value s = t ? g.makeOne("matmul", {q, t}) : Value();
  if (s && g.chance(50))
    s = g.makeOne("mul", {s, g.constant({}, element, {0.5})});
  if (s && g.chance(40)) {
    Value mask = g.fresh({length, length}, g.b.getI1Type());
    s = g.makeOne("select", {mask, s, g.constant({}, element, {-100})});
  }
  Value p = s ? g.makeOne("softmax", {s}) : Value();
  if (p)
    g.make("matmul", {p, g.chance(50) ? q : k});
}

/// What normalises by statistics of its own, written out.
static void makeStandardized(Generator &g) {
  Value x = g.pickFloats(1, 4);
  if (!x)
    return;
  Value axes = g.ints({g.below(g.typeOf(x).getRank())});
  Value mean = g.makeOne("reduce_mean", {x, axes});
  Value centred = mean ? g.makeOne("sub", {x, mean}) : Value();
  Value square = centred ? g.makeOne("mul", {centred, centred}) : Value();
  Value var = square ? g.makeOne("reduce_mean", {square, axes}) : Value();
  Type element = g.typeOf(x).getElementType();
  Value safe =
      var ? g.makeOne("add", {var, g.constant({}, element, {0.125})}) : Value();
  Value scale = safe ? g.makeOne("rsqrt", {safe}) : Value();
  if (scale)
    g.make("mul", {centred, scale});
}

static void makeRecurrent(Generator &g) {
  Type element = g.floats();
  StringRef name = g.oneOf<StringRef>({"rnn", "gru", "lstm"});
  int64_t gates = name == "rnn" ? 1 : name == "gru" ? 3 : 4;
  int64_t units = g.between(1, 3);
  bool isBoth = g.chance(40);
  int64_t directions = isBoth ? 2 : 1;
  SmallVector<Value> operands{
      g.fresh({g.between(1, 3), 2, 2}, element),
      g.fresh({directions, gates * units, 2}, element, -1, 1),
      g.fresh({directions, gates * units, units}, element, -1, 1),
      g.chance(50) ? g.fresh({directions, 2 * gates * units}, element, -1, 1)
                   : g.none()};
  size_t count = name == "lstm" ? 8 : 6;
  while (operands.size() < count)
    operands.push_back(g.none());
  g.make(name, operands,
         {g.num("hidden_size", units),
          g.text("direction", isBoth         ? "bidirectional"
                              : g.chance(50) ? "forward"
                                             : "reverse")},
         name == "lstm" ? 3 : 2);
}

ArrayRef<WeightedMaker> dlc::test::contractionMakers() {
  static constexpr WeightedMaker makers[] = {
      {9, makeMatmul},        {9, makeConv},        {3, makeBlockedConv},
      {3, makeConvTranspose}, {1, makeDeformConv},  {2, makeEinsum},
      {4, makeNorm},          {3, makeChannelNorm}, {2, makeAttention},
      {3, makeStandardized},  {2, makeRecurrent},   {2, makeByteProduct},
      {2, makeByteConv}};
  return makers;
}
