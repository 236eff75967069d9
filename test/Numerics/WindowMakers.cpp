// SPDX-License-Identifier: Apache-2.0
//
// Pooling of windows and of regions.

#include "Generator.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::test;
using Shape = Generator::Shape;

static Value pickImage(Generator &g, int64_t minRank, int64_t maxRank) {
  Value x = g.pick([&](RankedTensorType type) {
    return isa<FloatType>(type.getElementType()) && type.getRank() >= minRank &&
           type.getRank() <= maxRank;
  });
  if (x)
    return x;
  return g.fresh(
      {g.between(1, 2), g.between(1, 4), g.between(3, 8), g.between(3, 8)},
      g.floats());
}

/// A window, of the extents of `x` on request.
static SmallVector<NamedAttribute> windowOf(Generator &g, Value x,
                                            bool isGlobal) {
  RankedTensorType type = g.typeOf(x);
  Shape kernel, strides, pads, dilations;
  for (int64_t extent : type.getShape().drop_front(2)) {
    kernel.push_back(isGlobal ? extent : g.between(1, 3));
    strides.push_back(isGlobal ? 1 : g.between(1, 2));
    dilations.push_back(g.oneOf<int64_t>({1, 1, 1, 2}));
  }
  for (int side = 0; side < 2; ++side)
    for (int64_t extent : kernel)
      pads.push_back(extent > 1 && !isGlobal ? g.below(2) : 0);
  SmallVector<NamedAttribute> attributes{g.list("kernel_shape", kernel),
                                         g.list("strides", strides)};
  if (g.chance(50))
    attributes.push_back(g.list("pads", pads));
  if (!isGlobal && g.chance(25))
    attributes.push_back(g.list("dilations", dilations));
  if (g.chance(20))
    attributes.push_back(g.flag("ceil_mode", true));
  return attributes;
}

static void makePool(Generator &g) {
  Value x = pickImage(g, 3, 5);
  StringRef name = g.oneOf<StringRef>(
      {"max_pool", "max_pool", "avg_pool", "avg_pool", "lp_pool"});
  SmallVector<NamedAttribute> attributes = windowOf(g, x, g.chance(20));
  if (name == "avg_pool" && g.chance(40))
    attributes.push_back(g.flag("count_include_pad", true));
  g.make(name, {x}, attributes);
}

static void makePoolWithIndices(Generator &g) {
  Value x = pickImage(g, 4, 4);
  NamedAttribute kernel = g.list("kernel_shape", {2, 2});
  NamedAttribute strides = g.list("strides", {2, 2});
  Operation *pool = g.make("max_pool_with_indices", {x}, {kernel, strides}, 2);
  if (!pool || !g.chance(70))
    return;
  Value shape = g.ints(g.typeOf(x).getShape());
  g.make("max_unpool", {pool->getResult(0), pool->getResult(1), shape},
         {kernel, strides});
}

static void makeRegions(Generator &g) {
  Value x = pickImage(g, 4, 4);
  Type element = g.typeOf(x).getElementType();
  int64_t batches = g.typeOf(x).getDimSize(0);
  if (g.typeOf(x).getNumElements() == 0)
    return;
  // Corners that no rounding moves to another bin.
  Generator::Numbers corners{0.25, 0.25, 2.25, 2.75, 0.75, 0.25, 3.25, 1.75};
  if (g.chance(50)) {
    g.make("roi_align",
           {x, g.constant({2, 4}, element, corners),
            g.constant({2}, g.b.getI64Type(),
                       {0, static_cast<double>(batches - 1)})},
           {g.num("output_height", 2), g.num("output_width", 2),
            g.num("sampling_ratio", 2),
            g.text("mode", g.chance(50) ? "avg" : "max")});
    return;
  }
  corners = {0, 0, 0, 2, 2};
  corners[0] = static_cast<double>(batches - 1);
  g.make("max_roi_pool", {x, g.constant({1, 5}, element, corners)},
         {g.list("pooled_shape", {2, 2})});
}

ArrayRef<WeightedMaker> dlc::test::windowMakers() {
  static constexpr WeightedMaker makers[] = {
      {6, makePool}, {1, makePoolWithIndices}, {1, makeRegions}};
  return makers;
}
