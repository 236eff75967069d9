// SPDX-License-Identifier: Apache-2.0
//
// Kernels of any shape, walked in runs, against loops over all elements.

#include "runtime/Executor/ElementRuns.h"

#include <gtest/gtest.h>
#include <random>

using namespace dlc::rt;

namespace {

constexpr int64_t tileOf = DLC_KERNEL_ANY_SHAPE_TILE;

/// y = a + 2 b + 4 c, of 8, 64 and 16 bits, over tiles of `tile` elements.
template <int64_t tile>
void addTiles(void *const *args, int64_t begin, int64_t end) {
  const auto *a = static_cast<const uint8_t *>(args[0]);
  const auto *b = static_cast<const int64_t *>(args[1]);
  const auto *c = static_cast<const int16_t *>(args[2]);
  auto *y = static_cast<int32_t *>(args[3]);
  for (int64_t i = begin * tile; i < end * tile; ++i)
    y[i] = static_cast<int32_t>(a[i] + 2 * b[i] + 4 * c[i]);
}

using Shape = std::vector<int64_t>;

/// The element of `shape` that broadcasts to position `at` of `whole`.
int64_t sourceOf(const Shape &shape, const Shape &whole, int64_t at) {
  int64_t source = 0, step = 1;
  for (size_t fromEnd = 1; fromEnd <= whole.size(); ++fromEnd) {
    const int64_t index = at % whole[whole.size() - fromEnd];
    at /= whole[whole.size() - fromEnd];
    if (fromEnd > shape.size())
      continue;
    const int64_t extent = shape[shape.size() - fromEnd];
    source += (extent == 1 ? 0 : index) * step;
    step *= extent;
  }
  return source;
}

template <int64_t tile>
void compare(const Shape (&shapes)[3], const Shape &whole, uint32_t seed) {
  std::mt19937 random(seed);
  auto count = [](const Shape &shape) { return *elementCount(shape); };
  std::vector<uint8_t> a(count(shapes[0]));
  std::vector<int64_t> b(count(shapes[1]));
  std::vector<int16_t> c(count(shapes[2]));
  for (auto &value : a)
    value = static_cast<uint8_t>(random());
  for (auto &value : b)
    value = static_cast<int64_t>(random() % 2000) - 1000;
  for (auto &value : c)
    value = static_cast<int16_t>(random() % 2000);
  // Nothing but the result is written.
  constexpr int32_t guard = 0x5a5a5a5a;
  std::vector<int32_t> y(count(whole) + 2, guard);
  const TensorView inputs[] = {{DLC_U8, shapes[0], a.data()},
                               {DLC_I64, shapes[1], b.data()},
                               {DLC_I16, shapes[2], c.data()}};
  const TensorView result = {DLC_I32, whole, y.data() + 1};
  const ElementRuns kernel(addTiles<tile>, tile, inputs, result);
  void *arguments[] = {a.data(), b.data(), c.data(), y.data() + 1};
  // In parts, the last one first: tiles are independent.
  const int64_t middle = kernel.tiles() / 2;
  kernel.run(arguments, middle, kernel.tiles());
  kernel.run(arguments, 0, middle);
  for (int64_t i = 0; i != count(whole); ++i)
    ASSERT_EQ(y[i + 1], a[sourceOf(shapes[0], whole, i)] +
                            2 * b[sourceOf(shapes[1], whole, i)] +
                            4 * c[sourceOf(shapes[2], whole, i)])
        << i;
  EXPECT_EQ(y.front(), guard);
  EXPECT_EQ(y.back(), guard);
}

} // namespace

TEST(ElementRuns, OneShape) {
  for (int64_t length :
       {1, 2, 63, 64, 65, 127, 128, 200, 4095, 4096, 4097, 10000}) {
    const Shape shape = {length};
    compare<64>({shape, shape, shape}, shape, length);
    compare<1>({shape, shape, shape}, shape, length);
    compare<tileOf>({shape, shape, shape}, shape, length);
  }
}

TEST(ElementRuns, Broadcasts) {
  const Shape whole = {2, 3, 5, 70};
  for (const Shape &other : std::vector<Shape>{{},
                                               {70},
                                               {1},
                                               {3, 1, 1},
                                               {2, 1, 5, 1},
                                               {2, 3, 1, 1},
                                               {5, 70},
                                               {1, 1, 5, 1},
                                               {2, 1, 1, 70}}) {
    compare<64>({whole, other, {}}, whole, 1);
    compare<64>({other, whole, other}, whole, 2);
    compare<7>({other, {70}, whole}, whole, 3);
  }
  // The result is larger than each of them.
  compare<64>({{4, 1}, {1, 9}, {1}}, {4, 9}, 4);
  compare<64>({{300, 1}, {1, 300}, {300, 1}}, {300, 300}, 5);
  compare<64>({{}, {1}, {1, 1}}, {1, 1}, 6);
}

TEST(ElementRuns, RandomShapes) {
  std::mt19937 random(7);
  for (uint32_t round = 0; round != 400; ++round) {
    Shape whole(random() % 6);
    int64_t left = 20000;
    for (int64_t &extent : whole) {
      extent = 1 + static_cast<int64_t>(random() % std::min<int64_t>(left, 90));
      left /= extent;
    }
    Shape shapes[3];
    for (Shape &shape : shapes) {
      shape.assign(whole.begin() +
                       static_cast<int64_t>(random() % (whole.size() + 1)),
                   whole.end());
      for (int64_t &extent : shape)
        if (random() % 3 == 0)
          extent = 1;
    }
    // Each extent is some operand's.
    shapes[random() % 3] = whole;
    compare<64>(shapes, whole, round);
    compare<16>(shapes, whole, round);
  }
}

// What repeats along a run, as factors of channels in blocks do, in whole tiles
// or in parts of one, beside what is one element for all.
TEST(ElementRuns, Repeated) {
  uint32_t seed = 1;
  for (int64_t block : {2, 4, 8, 16})
    for (int64_t width : {1, 3, 8, 33, 500}) {
      const Shape whole = {2, 3, 5, width, block};
      const Shape factors = {3, 1, 1, block}, one = {1}, pixels = {5, width, 1};
      SCOPED_TRACE(std::to_string(block) + " " + std::to_string(width));
      compare<16>({whole, factors, one}, whole, seed++);
      compare<16>({factors, whole, factors}, whole, seed++);
      compare<tileOf>({factors, {block}, whole}, whole, seed++);
      compare<16>({pixels, factors, whole}, whole, seed++);
      compare<16>({factors, one, pixels}, whole, seed++);
    }
}
