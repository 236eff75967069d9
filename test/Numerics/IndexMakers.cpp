// SPDX-License-Identifier: Apache-2.0
//
// Operations that read and write at places given by data, and those whose
// results are as large as data says.

#include "Generator.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::test;
using Shape = Generator::Shape;

static Value pickFilled(Generator &g, int64_t minRank, int64_t maxRank) {
  Value x = g.pick([&](RankedTensorType type) {
    return type.getRank() >= minRank && type.getRank() <= maxRank &&
           type.getNumElements() > 0;
  });
  return x ? x : g.fresh({4, 3}, g.element);
}

static void makeGather(Generator &g) {
  Value x = pickFilled(g, 1, 4);
  RankedTensorType type = g.typeOf(x);
  int64_t axis = g.below(type.getRank());
  NamedAttribute along = g.num("axis", axis);
  switch (g.below(3)) {
  case 0: {
    Shape shape;
    for (int64_t i = 0, rank = g.below(3); i < rank; ++i)
      shape.push_back(g.between(1, 4));
    g.make("gather", {x, g.indices(shape, type.getDimSize(axis))}, {along});
    return;
  }
  case 1: {
    Shape shape(type.getShape());
    shape[axis] = g.between(1, 4);
    g.make("gather_elements", {x, g.indices(shape, type.getDimSize(axis))},
           {along});
    return;
  }
  default:
    g.make("gather_nd",
           {x, g.indices({g.between(1, 4), 1}, type.getDimSize(0))});
  }
}

static StringRef reductionOf(Generator &g) {
  return g.oneOf<StringRef>({"none", "add", "mul", "max", "min"});
}

/// Distinct places, as writing one twice depends on the order.
static Value distinct(Generator &g, int64_t count, int64_t extent,
                      ArrayRef<int64_t> shape) {
  Generator::Numbers places;
  int64_t first = g.below(extent);
  for (int64_t i = 0; i < count; ++i)
    places.push_back(static_cast<double>((first + i) % extent));
  return g.constant(shape, g.b.getI64Type(), places);
}

static void makeScatter(Generator &g) {
  Value x = pickFilled(g, 1, 3);
  RankedTensorType type = g.typeOf(x);
  Type element = type.getElementType();
  StringRef reduction = reductionOf(g);
  if (g.chance(50)) {
    int64_t rows = g.between(1, type.getDimSize(0));
    Value places = reduction == "none"
                       ? distinct(g, rows, type.getDimSize(0), {rows, 1})
                       : g.indices({rows, 1}, type.getDimSize(0));
    Shape shape(type.getShape());
    shape[0] = rows;
    g.make("scatter_nd", {x, places, g.fresh(shape, element)},
           {g.text("reduction", reduction)});
    return;
  }
  int64_t axis = g.below(type.getRank());
  Shape shape(type.getShape());
  shape[axis] = 1; // Places of different rows are distinct.
  g.make("scatter_elements",
         {x, g.indices(shape, type.getDimSize(axis)), g.fresh(shape, element)},
         {g.num("axis", axis), g.text("reduction", reduction)});
}

static void makeCacheUpdate(Generator &g) {
  Value x = pickFilled(g, 3, 4);
  RankedTensorType type = g.typeOf(x);
  if (type.getRank() < 3)
    return;
  int64_t axis = type.getRank() - 2, extent = type.getDimSize(axis);
  Shape shape(type.getShape());
  shape[axis] = 1;
  g.make("tensor_scatter",
         {x, g.fresh(shape, type.getElementType()),
          g.indices({type.getDimSize(0)}, extent, false)},
         {g.text("mode", g.chance(50) ? "linear" : "circular")});
}

static void makeTopK(Generator &g) {
  Value x = pickFilled(g, 1, 3);
  RankedTensorType type = g.typeOf(x);
  int64_t axis = g.below(type.getRank());
  g.make("top_k", {x, g.ints({g.between(1, type.getDimSize(axis))})},
         {g.num("axis", axis), g.flag("largest", g.chance(50))}, 2);
}

static void makeOneHot(Generator &g) {
  Type element = g.element;
  g.make("one_hot",
         {g.indices({g.between(1, 4)}, 5), g.scalar(5),
          g.constant({2}, element, {0, 1})},
         {g.num("axis", g.chance(50) ? -1 : 0)});
}

static void makeResolved(Generator &g) {
  Value x = pickFilled(g, 1, 3);
  int64_t extent = g.typeOf(x).getDimSize(0);
  Value places = g.makeOne("resolve_indices", {g.indices({3}, extent)},
                           {g.list("extents", {extent})});
  if (places)
    g.make("gather", {x, places}, {g.flag("in_bounds", true)});
}

/// Choices of boxes, whose shapes are known.
static void makeChoice(Generator &g) {
  int64_t batches = g.between(1, 2), count = g.between(1, 5);
  Type f32 = g.b.getF32Type();
  if (g.chance(50)) {
    Value scores = g.fresh({batches, count, g.between(1, 3)}, f32, 0, 1);
    g.make("match_pairs", {scores, g.constant({}, f32, {0.25})},
           {g.num("limit", g.below(3))}, 2);
    return;
  }
  Value boxes = g.fresh({batches, count, 4}, f32, 0, 1);
  SmallVector<Value> operands = {boxes,
                                 g.fresh({batches, count}, g.b.getI1Type()),
                                 g.constant({}, f32, {0.1})};
  if (g.chance(50))
    operands.push_back(g.indices({batches, count}, 3));
  bool isCentered = g.chance(50);
  g.make("suppress_boxes", operands,
         {g.num("center_point_box", isCentered),
          g.flag("inclusive", !isCentered && g.chance(50))});
}

/// Tensors whose size is data; what follows is dynamic.
static void makeDataDependent(Generator &g) {
  if (g.isDifferentiable)
    return;
  Value x = pickFilled(g, 1, 3);
  RankedTensorType type = g.typeOf(x);
  switch (g.below(4)) {
  case 0:
    g.make("non_zero", {x});
    return;
  case 1:
    g.make("unique", {x}, {}, 4);
    return;
  case 2:
    g.make("compress", {x, g.fresh({type.getDimSize(0)}, g.b.getI1Type())},
           {g.num("axis", 0)});
    return;
  default: {
    Type f32 = g.b.getF32Type();
    Value boxes =
        g.constant({1, 3, 4}, f32, {0, 0, 1, 1, 0, 0.25, 1, 1.25, 4, 4, 5, 5});
    Value scores = g.fresh({1, 1, 3}, f32, 0, 1);
    g.make("non_max_suppression",
           {boxes, scores, g.scalar(2), g.constant({}, f32, {0.375}),
            g.constant({}, f32, {0.25})});
  }
  }
}

ArrayRef<WeightedMaker> dlc::test::indexMakers() {
  static constexpr WeightedMaker makers[] = {
      {8, makeGather}, {5, makeScatter},      {1, makeCacheUpdate},
      {2, makeTopK},   {1, makeOneHot},       {1, makeResolved},
      {1, makeChoice}, {1, makeDataDependent}};
  return makers;
}
