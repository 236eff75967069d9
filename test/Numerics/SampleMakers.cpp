// SPDX-License-Identifier: Apache-2.0
//
// Resampling, signals, text and random numbers.

#include "Generator.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::test;

static void makeResize(Generator &g) {
  Value x = g.pick([](RankedTensorType type) {
    return type.getRank() == 4 && isa<FloatType>(type.getElementType()) &&
           type.getNumElements() > 0;
  });
  if (!x)
    x = g.fresh({1, 2, 3, 4}, g.floats());
  RankedTensorType type = g.typeOf(x);
  Value sizes = g.ints({type.getDimSize(0), type.getDimSize(1), g.between(1, 6),
                        g.between(1, 6)});
  g.make("resize", {x, g.none(), g.none(), sizes},
         {g.text("mode", g.oneOf<StringRef>({"nearest", "linear", "cubic"})),
          g.text("coordinate_transformation_mode",
                 g.oneOf<StringRef>(
                     {"half_pixel", "align_corners", "asymmetric"}))});
}

static void makeGridSample(Generator &g) {
  Type element = g.floats();
  Value theta = g.fresh({1, 2, 3}, element, -0.75, 0.75);
  NamedAttribute corners = g.flag("align_corners", g.chance(50));
  Value grid =
      g.makeOne("affine_grid", {theta, g.ints({1, 2, 3, 2})}, {corners});
  if (!grid)
    return;
  g.make("grid_sample", {g.fresh({1, 2, 4, 3}, element), grid},
         {corners, g.text("mode", g.oneOf<StringRef>({"linear", "cubic"})),
          g.text("padding_mode",
                 g.oneOf<StringRef>({"zeros", "border", "reflection"}))});
}

static void makeCol2Im(Generator &g) {
  g.make("col2im",
         {g.fresh({1, 8, 4}, g.floats()), g.ints({3, 3}), g.ints({2, 2})});
}

static void makeDet(Generator &g) {
  g.make("det", {g.fresh({2, 3, 3}, g.floats())});
}

/// The product of a matrix with its transposed one, and something on the
/// diagonal: positive definite, and far from singular.
static Value makeDefinite(Generator &g, Type element) {
  Value x = g.fresh({2, 3, 3}, element, -1, 1);
  Value turned = g.makeOne("transpose", {x}, {g.list("perm", {0, 2, 1})});
  Value square = turned ? g.makeOne("matmul", {x, turned}, {}) : Value();
  Value ones = g.constant({3, 3}, element, {2, 0, 0, 0, 2, 0, 0, 0, 2});
  return square ? g.makeOne("add", {square, ones}, {}) : Value();
}

static void makeFactors(Generator &g) {
  Type element = g.floats();
  Value x = makeDefinite(g, element);
  if (!x)
    return;
  StringRef name = g.oneOf<StringRef>(
      {"cholesky", "inverse", "log_det", "triangular_solve"});
  if (name == "triangular_solve")
    g.make(name, {x, g.fresh({2, 3, 2}, element)},
           {g.flag("upper", g.chance(50)), g.flag("transposed", g.chance(50))});
  else
    g.make(name, {x});
}

/// With eigenvalues that are not near each other.
static void makeEigh(Generator &g) {
  Type element = g.floats();
  Value x = g.fresh({3, 3}, element, -0.25, 0.25);
  Value turned = g.makeOne("transpose", {x}, {g.list("perm", {1, 0})});
  Value both = turned ? g.makeOne("add", {x, turned}, {}) : Value();
  Value apart = g.constant({3, 3}, element, {1, 0, 0, 0, 4, 0, 0, 0, 8});
  if (Value sum = both ? g.makeOne("add", {both, apart}, {}) : Value())
    g.make("eigh", {sum});
}

static void makeLq(Generator &g) {
  Type element = g.floats();
  Value x = g.fresh({2, 2, 3}, element, -0.5, 0.5);
  Value apart = g.constant({2, 3}, element, {2, 0, 0, 0, 2, 0});
  if (Value sum = g.makeOne("add", {x, apart}, {}))
    g.make("lq", {sum});
}

static void makeDft(Generator &g) {
  bool isComplex = g.chance(50);
  Value x = g.fresh({2, g.between(2, 6), isComplex ? 2 : 1}, g.floats());
  g.make("dft", {x, g.none(), g.scalar(1)},
         {g.flag("inverse", g.chance(40)),
          g.flag("onesided", !isComplex && g.chance(40))});
}

static void makeStft(Generator &g) {
  Type element = g.floats();
  Value window = g.chance(50) ? g.fresh({4}, element, 0.5, 1) : g.none();
  g.make("stft",
         {g.fresh({1, 12, 1}, element), g.scalar(4), window, g.scalar(4)});
}

static void makeMel(Generator &g) {
  Type f32 = g.b.getF32Type();
  g.make("mel_weight_matrix",
         {g.scalar(4), g.scalar(8), g.scalar(4000), g.constant({}, f32, {100}),
          g.constant({}, f32, {1500})},
         {g.type("dtype", f32)});
}

static void makeTfidf(Generator &g) {
  g.make("tfidf_vectorizer", {g.indices({6}, 9, false)},
         {g.num("max_gram_length", 2), g.num("max_skip_count", 1),
          g.num("min_gram_length", 1), g.text("mode", "TF"),
          g.list("ngram_counts", {0, 2}), g.list("ngram_indexes", {0, 1, 2}),
          g.list("pool_int64s", {5, 7, 1, 2})});
}

static void makeRandom(Generator &g) {
  Value state = g.constant({2}, g.b.getI64Type(), {7, 1});
  NamedAttribute stream = g.num("stream", g.below(3));
  if (g.chance(50)) {
    g.make("random_uniform", {state, g.ints({g.extent(), g.extent()})},
           {stream});
    return;
  }
  Value parameter =
      g.fresh({g.extent(), g.extent()}, g.b.getF32Type(), 0.25, 20);
  g.make(g.oneOf<StringRef>({"random_gamma", "random_poisson"}),
         {state, parameter}, {stream});
}

ArrayRef<WeightedMaker> dlc::test::sampleMakers() {
  static constexpr WeightedMaker makers[] = {
      {2, makeResize},  {2, makeGridSample}, {1, makeCol2Im}, {1, makeDet},
      {1, makeFactors}, {1, makeEigh},       {1, makeLq},     {1, makeDft},
      {1, makeStft},    {1, makeMel},        {1, makeTfidf},  {1, makeRandom}};
  return makers;
}
