// SPDX-License-Identifier: Apache-2.0
//
// Operations along one axis: running sums and products, the positions of the
// largest and smallest elements, and ones there.

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"
#include "Walk.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// Running sums and products
//===----------------------------------------------------------------------===//

static Status axisOf(std::span<const int64_t> values, int64_t rank,
                     int64_t &axis) {
  if (values.size() != 1)
    return DLC_INVALID("expected one axis, got %zu", values.size());
  axis = values[0];
  return normalizeAxis(axis, rank);
}

static Status inferScan(const InferContext &context,
                        std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(checkType(context, 1, indexTypes));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 1));
  const TensorType &type = context.operand(0).type;
  const TensorType &axisType = context.operand(1).type;
  if (!mayHaveShape(axisType, {}) && !mayHaveShape(axisType, {{1}}))
    return DLC_INVALID("operand 1: expected one axis, got %s",
                       toString(axisType).c_str());
  auto values = context.intsOf(1);
  int64_t axis;
  if (values && type.hasRank)
    DLC_RETURN_IF_ERROR(axisOf(*values, type.rank(), axis));
  return addResultLike(context, results);
}

namespace {

struct Sum {
  static constexpr int start = 0;
  template <typename T> static T step(T a, T b) { return addWide(a, b); }
};

struct Product {
  static constexpr int start = 1;
  template <typename T> static T step(T a, T b) { return multiplyWide(a, b); }
};

} // namespace

/// A line whose elements are neighbours: read and written as a whole.
template <typename Function, typename T>
static void scanLine(const TensorView &x, const TensorView &y, int64_t start,
                     std::span<T> values, bool exclusive, bool reverse) {
  const auto length = static_cast<int64_t>(values.size());
  loadRun(x, start, 1, length, values.data());
  if (reverse)
    std::ranges::reverse(values);
  T state = T(Function::start);
  for (T &value : values) {
    const T before = state;
    state = Function::step(state, value);
    value = exclusive ? before : state;
  }
  if (reverse)
    std::ranges::reverse(values);
  storeRun(y, start, length, values.data());
}

/// The elements from `at` on join the states of as many lines.
template <typename Function, typename T>
static void stepRun(const TensorView &x, int64_t at, int64_t count, T *states) {
  (void)dispatch(x.type, [&](auto element) {
    using E = decltype(element);
    const auto *data = x.as<typename E::Storage>() + at;
    for (int64_t j = 0; j < count; ++j)
      states[j] = Function::step(states[j], convertTo<T>(E::decode(data[j])));
    return Status::ok();
  });
}

template <typename Function>
static Status computeScan(ComputeContext &context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  bool exclusive = context.attrs().getInt("exclusive", 0);
  bool reverse = context.attrs().getInt("reverse", 0);
  int64_t axis;
  DLC_RETURN_IF_ERROR(axisOf(context.intsOf(1), x.rank(), axis));
  const int64_t length = x.shape[axis];
  const int64_t outer = extentOf(x.shape, 0, axis);
  const int64_t inner = extentOf(x.shape, axis + 1, x.shape.size());
  // Lines that lie side by side go on together, in what they are read in.
  return dispatchWide(x.type, [&](auto wide) {
    using T = decltype(wide);
    if (inner == 1) {
      context.inParts(outer, static_cast<double>(length) * 2,
                      [&](int64_t begin, int64_t end) {
                        std::vector<T> line(length);
                        for (int64_t row = begin; row < end; ++row)
                          scanLine<Function, T>(x, y, row * length, line,
                                                exclusive, reverse);
                      });
      return Status::ok();
    }
    constexpr int64_t most = 512;
    const int64_t blocks = (inner - 1) / most + 1;
    auto scanBlock = [&](int64_t block) {
      const int64_t row = block / blocks, first = block % blocks * most;
      const int64_t count = std::min(most, inner - first);
      T states[most], before[most];
      std::fill_n(states, count, T(Function::start));
      for (int64_t i = 0; i < length; ++i) {
        const int64_t place = reverse ? length - 1 - i : i;
        const int64_t at = (row * length + place) * inner + first;
        if (exclusive)
          std::copy_n(states, count, before);
        stepRun<Function>(x, at, count, states);
        storeRun(y, at, count, exclusive ? before : states);
      }
    };
    if (inner > 0)
      forEachInParts(context, outer * blocks,
                     static_cast<double>(length) *
                         static_cast<double>(std::min(inner, most)),
                     scanBlock);
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// Positions of extremes
//===----------------------------------------------------------------------===//

static Status inferArg(const InferContext &context,
                       std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 1));
  TensorType type = context.operand(0).type;
  type.type = DLC_I64;
  if (!type.hasRank)
    return addResult(results, std::move(type));
  int64_t axis = context.attrs().getInt("axis", 0);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, type.rank()));
  if (type.shape[axis] == 0)
    return DLC_INVALID("expected elements along axis %d, got none",
                       static_cast<int>(axis));
  if (context.attrs().getInt("keepdims", 1))
    type.shape[axis] = 1;
  else
    type.shape.erase(type.shape.begin() + axis);
  return addResult(results, std::move(type));
}

/// Makes `value`, at place `at` of a line, the extreme of the line if it is
/// larger (or smaller) than the one so far, or as large and the last one is
/// wanted; NaN comes before all numbers, as in NumPy. Without branches: many
/// lines do so at once.
template <bool isMax, bool selectLast, typename T, typename Place>
static void takeBetter(T value, Place at, T &best, Place &place) {
  bool better = isMax ? value > best : value < best;
  better |= (value != value) & (best == best);
  if constexpr (selectLast)
    better |= (value == best) | ((value != value) & (best != best));
  best = better ? value : best;
  place = better ? at : place;
}

/// Elements at once, and those that do not wait for each other.
static constexpr int64_t kMostTogether = 128, kStrands = 8;

/// The extreme of some elements but NaN, and whether there is one.
template <bool isMax, typename T>
static T extremeOf(const T *values, int64_t count, bool &hasNaN) {
  T best[kStrands];
  std::fill_n(best, kStrands, values[0]);
  uint64_t isNaN[kStrands] = {}; // As wide as elements: of a vector, too.
  auto take = [&](T value, int64_t strand) {
    const bool isBetter = isMax ? value > best[strand] : value < best[strand];
    best[strand] = isBetter ? value : best[strand];
    isNaN[strand] |= value != value;
  };
  int64_t i = 0;
  for (; i + kStrands <= count; i += kStrands)
    for (int64_t j = 0; j < kStrands; ++j)
      take(values[i + j], j);
  for (int64_t j = 0; i + j < count; ++j)
    take(values[i + j], j);
  hasNaN = false;
  for (int64_t j = 0; j < kStrands; ++j) {
    hasNaN |= isNaN[j] != 0;
    best[0] =
        (isMax ? best[j] > best[0] : best[j] < best[0]) ? best[j] : best[0];
  }
  return best[0];
}

/// The first or last place of an element like `value`, which there is.
template <bool selectLast, typename T>
static int64_t placeOf(const T *values, int64_t count, T value) {
  auto isIt = [&](int64_t i) {
    return values[i] == value || (values[i] != values[i] && value != value);
  };
  int64_t i = selectLast ? count - 1 : 0;
  while (!isIt(i))
    i += selectLast ? -1 : 1;
  return i;
}

/// Lines of neighbours, one after the other: where some elements have a better
/// one than those before, which are few, its place is looked for.
template <bool isMax, bool selectLast, typename T>
static void findInEach(const TensorView &x, const Lines &lines, int64_t begin,
                       int64_t end, int64_t *places) {
  constexpr T none = std::numeric_limits<T>::quiet_NaN();
  T values[kMostTogether];
  lines.starts.forEach(begin, end, [&](int64_t at, const auto &offsets) {
    T best = T();
    bool isNaN = false;
    for (int64_t first = 0; first < lines.length; first += kMostTogether) {
      const int64_t count = std::min(kMostTogether, lines.length - first);
      loadRun(x, offsets[0] + first, 1, count, values);
      bool hasNaN;
      const T own = extremeOf<isMax>(values, count, hasNaN);
      bool isBetter = first == 0 || (isMax ? own > best : own < best) ||
                      (selectLast && own == best);
      if (isNaN || hasNaN)
        isBetter = hasNaN && (!isNaN || selectLast);
      if (!isBetter)
        continue;
      isNaN = hasNaN;
      best = own;
      places[at] =
          first + placeOf<selectLast>(values, count, hasNaN ? none : own);
    }
  });
}

/// Lines that lie side by side, some at once.
template <bool isMax, bool selectLast, typename T, typename Place>
static void findTogether(const TensorView &x, const Lines &lines, int64_t begin,
                         int64_t end, int64_t *places) {
  T values[kMostTogether], best[kMostTogether];
  Place place[kMostTogether];
  lines.starts.forEachRun(
      begin, end,
      [&](int64_t at, const auto &offsets, const auto &steps, int64_t length) {
        for (int64_t first = 0; first < length; first += kMostTogether) {
          const int64_t count = std::min(kMostTogether, length - first);
          const int64_t start = offsets[0] + first * steps[0];
          loadRun(x, start, steps[0], count, best);
          std::fill_n(place, count, Place(0));
          for (int64_t i = 1; i < lines.length; ++i) {
            loadRun(x, start + i * lines.stride, steps[0], count, values);
            for (int64_t j = 0; j < count; ++j)
              takeBetter<isMax, selectLast>(values[j], static_cast<Place>(i),
                                            best[j], place[j]);
          }
          std::copy_n(place, count, places + at + first);
        }
      });
}

using FindExtremes = void (*)(const TensorView &x, const Lines &lines,
                              int64_t begin, int64_t end, int64_t *places);

/// What finds the places of lines' extremes. Narrow places are compared with as
/// many elements at once.
template <bool isMax, bool selectLast, typename T>
static FindExtremes findExtremesOf(const Lines &lines) {
  if (lines.stride == 1)
    return findInEach<isMax, selectLast, T>;
  return lines.length <= std::numeric_limits<int32_t>::max()
             ? findTogether<isMax, selectLast, T, int32_t>
             : findTogether<isMax, selectLast, T, int64_t>;
}

template <bool isMax> static Status computeArg(ComputeContext &context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  int64_t axis = context.attrs().getInt("axis", 0);
  bool selectLast = context.attrs().getInt("select_last_index", 0);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  Lines lines = linesOf(x.shape, axis);
  if (lines.length == 0)
    return DLC_INVALID("expected elements along axis %d, got none",
                       static_cast<int>(axis));
  return dispatchWide(x.type, [&](auto wide) {
    using T = decltype(wide);
    const FindExtremes find = selectLast
                                  ? findExtremesOf<isMax, true, T>(lines)
                                  : findExtremesOf<isMax, false, T>(lines);
    context.inParts(lines.starts.size(), static_cast<double>(lines.length) / 2,
                    [&](int64_t begin, int64_t end) {
                      find(x, lines, begin, end, y.as<int64_t>());
                    });
    return Status::ok();
  });
}

/// One at the first largest element of each line, and zeros.
static Status computeHardmax(ComputeContext &context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  int64_t axis = context.attrs().getInt("axis", -1);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  const Lines lines = linesOf(x.shape, axis);
  if (lines.length == 0)
    return Status::ok();
  std::vector<int64_t> places(lines.starts.size());
  const FindExtremes find = findExtremesOf<true, false, double>(lines);
  auto clear = [&](int64_t start, int64_t count) {
    static constexpr double zeros[kMostTogether] = {};
    for (int64_t first = 0; first < count; first += kMostTogether)
      storeRun(y, start + first, std::min(kMostTogether, count - first), zeros);
  };
  constexpr double one = 1;
  auto fillLines = [&](int64_t at, const auto &offsets, const auto &steps,
                       int64_t count) {
    if (lines.stride == 1)
      for (int64_t line = 0; line < count; ++line)
        clear(offsets[0] + line * steps[0], lines.length);
    else // They lie side by side.
      for (int64_t i = 0; i < lines.length; ++i)
        clear(offsets[0] + i * lines.stride, count);
    for (int64_t line = 0; line < count; ++line)
      storeRun(y,
               offsets[0] + line * steps[0] + places[at + line] * lines.stride,
               1, &one);
  };
  context.inParts(lines.starts.size(), static_cast<double>(lines.length),
                  [&](int64_t begin, int64_t end) {
                    find(x, lines, begin, end, places.data());
                    lines.starts.forEachRun(begin, end, fillLines);
                  });
  return Status::ok();
}

std::span<const Operation> ref::scanOperations() {
  static constexpr Operation operations[] = {
      {"arg_max", inferArg, computeArg<true>},
      {"arg_min", inferArg, computeArg<false>},
      {"cumprod", inferScan, computeScan<Product>},
      {"cumsum", inferScan, computeScan<Sum>},
      {"hardmax", inferAlongAxis, computeHardmax},
  };
  return operations;
}
