// SPDX-License-Identifier: Apache-2.0
//
// Operations that select elements by their values: top_k, non_zero, unique,
// compress. All but top_k have results whose shapes depend on data.

#include "Element.h"
#include "Families.h"
#include "Parameter.h"
#include "ShapeRule.h"
#include "Walk.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstring>
#include <numeric>

using namespace dlc::rt;
using namespace dlc::rt::ref;

/// A total order of elements: NaNs are equal and greater than all else.
template <typename T> static int compareValues(T a, T b) {
  bool aIsNan = a != a, bIsNan = b != b;
  if (aIsNan || bIsNan)
    return aIsNan - bIsNan;
  return a < b ? -1 : a > b;
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

static Status inferTopK(const InferContext &context,
                        std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 1));
  std::optional<int64_t> k;
  DLC_RETURN_IF_ERROR(readScalar(context, 1, k));
  TensorType values = context.operand(0).type;
  if (values.hasRank) {
    int64_t axis = context.attrs().getInt("axis", -1);
    DLC_RETURN_IF_ERROR(normalizeAxis(axis, values.rank()));
    int64_t &dim = values.shape[axis];
    if (k && (*k < 0 || (dim >= 0 && *k > dim)))
      return DLC_INVALID("expected k in [0, %" PRId64 "], got %" PRId64,
                         dim >= 0 ? dim : INT64_MAX, *k);
    dim = k.value_or(kUnknownDim);
  }
  TensorType indices = values;
  indices.type = DLC_I64;
  DLC_RETURN_IF_ERROR(addResult(results, std::move(values)));
  return addResult(results, std::move(indices));
}

/// The order of compareValues() as a number, of floats of up to 32 bits.
static uint32_t orderOf(float value) {
  if (value != value)
    return UINT32_MAX;
  const auto bits = std::bit_cast<uint32_t>(value + 0.0f); // No -0.
  return bits >> 31 ? ~bits : bits | uint32_t(1) << 31;
}

/// The float of such a number.
static float valueOf(uint32_t order) {
  return std::bit_cast<float>(order >> 31 ? order & INT32_MAX : ~order);
}

/// The first `k` of the numbers that are added to a buffer.
class FirstNumbers {
public:
  /// `buffer` has room for all that is added, or for twice as many as `k` and
  /// some more.
  FirstNumbers(std::span<int64_t> buffer, int64_t k)
      : buffer(buffer), k(k),
        capacity(std::min<int64_t>(buffer.size(), 2 * k + 64)) {}

  /// What is greater than that is none of them.
  int64_t limit() const { return most; }
  void add(int64_t number) {
    if (k <= fewest)
      return insert(number);
    buffer[count++] = number;
    if (count < capacity || capacity == k)
      return;
    keepFirst();
    most = buffer[k - 1];
  }
  /// Leaves them in front, in order.
  void finish() {
    if (k <= fewest)
      return;
    keepFirst();
    std::ranges::sort(buffer.first(k));
  }

private:
  /// So few are kept in order: what is none of them is told at once.
  static constexpr int64_t fewest = 16;

  void insert(int64_t number) {
    int64_t at = count < k ? count++ : k - 1;
    for (; at > 0 && buffer[at - 1] > number; --at)
      buffer[at] = buffer[at - 1];
    buffer[at] = number;
    if (count == k)
      most = buffer[k - 1];
  }
  void keepFirst() {
    std::ranges::nth_element(buffer.first(count), buffer.begin() + (k - 1));
    count = k;
  }

  std::span<int64_t> buffer;
  const int64_t k, capacity;
  int64_t count = 0, most = INT64_MAX;
};

/// selectFirst() of floats of up to 32 bits. With the index behind it, each is
/// one number; most are none of the first, which a look at some at a time tells.
template <typename E>
static void selectFirstFloats(const TensorView &x, int64_t from, int64_t stride,
                              int sign, int64_t k, std::span<int64_t> order) {
  constexpr int64_t block = 16;
  constexpr int64_t toSigned = INT64_MIN; // Added, keeps the order.
  const auto extent = static_cast<int64_t>(order.size());
  const uint32_t flip = sign < 0 ? UINT32_MAX : 0;
  FirstNumbers first(order, k);
  float last = valueOf(UINT32_MAX ^ flip); // NaN: nothing is behind it.
  // Numbers alone are told so; others, and what is like the last one, may be
  // among the first.
  auto isBehind = [&](const float *values) {
    int behind = 0;
    if (sign < 0)
      for (int64_t i = 0; i < block; ++i)
        behind += values[i] < last;
    else
      for (int64_t i = 0; i < block; ++i)
        behind += values[i] > last;
    return behind == block;
  };
  float copies[block];
  for (int64_t begin = 0; begin < extent; begin += block) {
    const int64_t count = std::min(extent - begin, block);
    const float *values = copies;
    if (std::is_same_v<typename E::Storage, float> && stride == 1)
      values = static_cast<const float *>(x.data) + from + begin;
    else
      for (int64_t i = 0; i < count; ++i)
        copies[i] = static_cast<float>(
            loadElement<E>(x.data, from + (begin + i) * stride));
    if (count == block && isBehind(values))
      continue;
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t key = orderOf(values[i]) ^ flip;
      const int64_t number =
          int64_t(uint64_t(key) << 32 | uint64_t(begin + i)) ^ toSigned;
      if (number <= first.limit())
        first.add(number);
    }
    last = valueOf(
        static_cast<uint32_t>(uint64_t(first.limit() ^ toSigned) >> 32) ^ flip);
  }
  first.finish();
  for (int64_t &each : order.first(k))
    each &= UINT32_MAX;
}

/// The indices of the first `k` of a line in its order, with `sign` that of
/// compareValues(); of equal elements the lower index comes first.
template <typename E>
static void selectFirst(const TensorView &x, int64_t from, int64_t stride,
                        int sign, int64_t k, std::span<int64_t> order) {
  if constexpr (std::is_floating_point_v<typename E::Wide> &&
                sizeof(typename E::Storage) <= sizeof(float))
    if (order.size() <= size_t(UINT32_MAX))
      return selectFirstFloats<E>(x, from, stride, sign, k, order);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::partial_sort(
      order, order.begin() + k, [&](int64_t a, int64_t b) {
        int order =
            sign * compareValues(loadElement<E>(x.data, from + a * stride),
                                 loadElement<E>(x.data, from + b * stride));
        return order != 0 ? order < 0 : a < b;
      });
}

static Status computeTopK(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferTopK));
  const TensorView &x = context.input(0);
  TensorView &values = context.output(0), &indices = context.output(1);
  int64_t axis = context.attrs().getInt("axis", -1);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  int sign = context.attrs().getInt("largest", 1) ? -1 : 1;
  int64_t extent = x.shape[axis], k = values.shape[axis];
  int64_t inner = extentOf(x.shape, axis + 1, x.shape.size());
  int64_t rows = extentOf(x.shape, 0, axis) * inner;
  size_t size = sizeOf(x.type);
  if (values.size() == 0)
    return Status::ok();
  return dispatch(x.type, [&]<typename E>(E) {
    auto selectRow = [&](int64_t row, std::span<int64_t> order) {
      int64_t from = row / inner * extent * inner + row % inner;
      int64_t to = row / inner * k * inner + row % inner;
      selectFirst<E>(x, from, inner, sign, k, order);
      for (int64_t i = 0; i < k; ++i) {
        const int64_t index = order[i];
        indices.as<int64_t>()[to + i * inner] = index;
        std::memcpy(values.as<char>() + (to + i * inner) * size,
                    x.as<char>() + (from + index * inner) * size, size);
      }
    };
    context.inParts(rows, static_cast<double>(extent) * 3,
                    [&](int64_t begin, int64_t end) {
                      std::vector<int64_t> order(extent);
                      for (int64_t row = begin; row < end; ++row)
                        selectRow(row, order);
                    });
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// non_zero
//===----------------------------------------------------------------------===//

static Status inferNonZero(const InferContext &context,
                           std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  const TensorType &x = context.operand(0).type;
  int64_t rank = x.hasRank ? x.rank() : kUnknownDim;
  return addResult(results, {DLC_I64, {rank, kUnknownDim}});
}

static Status computeNonZero(ComputeContext &context) {
  const TensorView &x = context.input(0);
  std::vector<uint8_t> isSet(x.size());
  DLC_RETURN_IF_ERROR(dispatch(x.type, [&]<typename E>(E) {
    for (int64_t i = 0; i < x.size(); ++i)
      isSet[i] = loadElement<E>(x.data, i) != 0;
    return Status::ok();
  }));
  int64_t count = 0;
  for (uint8_t set : isSet)
    count += set;
  int64_t shape[] = {x.rank(), count};
  DLC_RETURN_IF_ERROR(context.allocate(0, shape));
  if (x.rank() == 0 || count == 0)
    return Status::ok();
  // Row by row; places in a row are written whether they count or not, so there
  // is one more at the end.
  const int64_t last = x.rank() - 1, length = x.shape[last];
  int64_t *result = context.output(0).as<int64_t>();
  std::vector<int64_t> places(count + 1);
  const uint8_t *row = isSet.data();
  int64_t end = 0;
  for (IndexCounter at(x.shape.first(last)); !at.isDone(); at.next()) {
    const int64_t begin = end;
    for (int64_t i = 0; i < length; ++i) {
      places[end] = i;
      end += row[i];
    }
    row += length;
    for (int64_t d = 0; d < last; ++d)
      std::fill(result + d * count + begin, result + d * count + end, at[d]);
  }
  std::copy_n(places.data(), count, result + last * count);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// unique
//===----------------------------------------------------------------------===//

namespace {
/// What unique compares: `count` slices of the operand along an axis; slice i
/// is `outer` runs of `inner` elements.
struct Slices {
  int64_t outer = 1, count = 0, inner = 1;

  int64_t position(int64_t slice, int64_t run) const {
    return (run * count + slice) * inner;
  }
};

/// Equal slices: the first of each group, the group of each slice and the
/// size of each group.
struct Groups {
  std::vector<int64_t> first, groupOf, counts;
};
} // namespace

static Status sliceForUnique(const Attributes &attributes, const TensorView &x,
                             Slices &slices) {
  if (!attributes.has("axis")) {
    slices.count = x.size();
    return Status::ok();
  }
  int64_t axis = attributes.getInt("axis", 0);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  slices = {extentOf(x.shape, 0, axis), x.shape[axis],
            extentOf(x.shape, axis + 1, x.shape.size())};
  if (x.size() == 0)
    slices.outer = slices.inner = 0; // whatever the other dimensions are
  return Status::ok();
}

template <typename E>
static int compareSlices(const TensorView &x, const Slices &slices, int64_t a,
                         int64_t b) {
  for (int64_t run = 0; run < slices.outer; ++run) {
    for (int64_t i = 0; i < slices.inner; ++i) {
      int order =
          compareValues(loadElement<E>(x.data, slices.position(a, run) + i),
                        loadElement<E>(x.data, slices.position(b, run) + i));
      if (order != 0)
        return order;
    }
  }
  return 0;
}

template <typename E>
static Groups groupSlices(const TensorView &x, const Slices &slices) {
  std::vector<int64_t> order(slices.count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](int64_t a, int64_t b) {
    int order = compareSlices<E>(x, slices, a, b);
    return order != 0 ? order < 0 : a < b;
  });
  Groups groups;
  groups.groupOf.resize(slices.count);
  for (int64_t slice : order) {
    bool isNew = groups.first.empty() ||
                 compareSlices<E>(x, slices, groups.first.back(), slice) != 0;
    if (isNew) {
      groups.first.push_back(slice);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.groupOf[slice] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  return groups;
}

/// Renumbers the groups in the order of their first slices.
static void sortByOccurrence(Groups &groups) {
  std::vector<int64_t> order(groups.first.size()), rankOf(order.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t g) { return groups.first[g]; });
  Groups sorted = groups;
  for (size_t i = 0; i < order.size(); ++i) {
    sorted.first[i] = groups.first[order[i]];
    sorted.counts[i] = groups.counts[order[i]];
    rankOf[order[i]] = static_cast<int64_t>(i);
  }
  for (int64_t &group : sorted.groupOf)
    group = rankOf[group];
  groups = std::move(sorted);
}

static Status inferUnique(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  TensorType y = context.operand(0).type;
  bool hasAxis = context.attrs().has("axis");
  if (!hasAxis) {
    y = {y.type, {kUnknownDim}};
  } else if (y.hasRank) {
    int64_t axis = context.attrs().getInt("axis", 0);
    DLC_RETURN_IF_ERROR(normalizeAxis(axis, y.rank()));
    y.shape[axis] = kUnknownDim;
  }
  DLC_RETURN_IF_ERROR(addResult(results, std::move(y)));
  for (int i = 0; i < 3; ++i)
    DLC_RETURN_IF_ERROR(addResult(results, {DLC_I64, {kUnknownDim}}));
  return Status::ok();
}

static Status allocateIndices(ComputeContext &context, size_t index,
                              const std::vector<int64_t> &values) {
  int64_t shape[] = {static_cast<int64_t>(values.size())};
  DLC_RETURN_IF_ERROR(context.allocate(index, shape));
  std::ranges::copy(values, context.output(index).as<int64_t>());
  return Status::ok();
}

static Status computeUnique(ComputeContext &context) {
  const TensorView &x = context.input(0);
  const Attributes &attributes = context.attrs();
  Slices slices;
  DLC_RETURN_IF_ERROR(sliceForUnique(attributes, x, slices));
  // First, for it may be refused: the dimensions of an empty operand are
  // bounded by nothing but this result.
  int64_t sliceCount[] = {slices.count};
  DLC_RETURN_IF_ERROR(context.allocate(2, sliceCount));
  Groups groups;
  DLC_RETURN_IF_ERROR(dispatch(x.type, [&]<typename E>(E) {
    groups = groupSlices<E>(x, slices);
    return Status::ok();
  }));
  if (attributes.getInt("sorted", 1) == 0)
    sortByOccurrence(groups);

  int64_t count = static_cast<int64_t>(groups.first.size());
  std::vector<int64_t> shape{count};
  if (attributes.has("axis")) {
    int64_t axis = attributes.getInt("axis", 0);
    DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
    shape.assign(x.shape.begin(), x.shape.end());
    shape[axis] = count;
  }
  DLC_RETURN_IF_ERROR(context.allocate(0, shape));
  size_t size = sizeOf(x.type), bytes = slices.inner * size;
  char *target = context.output(0).as<char>();
  for (int64_t run = 0; bytes && run < slices.outer; ++run)
    for (int64_t first : groups.first) {
      std::memcpy(target, x.as<char>() + slices.position(first, run) * size,
                  bytes);
      target += bytes;
    }
  DLC_RETURN_IF_ERROR(allocateIndices(context, 1, groups.first));
  std::ranges::copy(groups.groupOf, context.output(2).as<int64_t>());
  return allocateIndices(context, 3, groups.counts);
}

//===----------------------------------------------------------------------===//
// compress
//===----------------------------------------------------------------------===//

static Status inferCompress(const InferContext &context,
                            std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 1, boolType));
  DLC_RETURN_IF_ERROR(checkRank(context, 1, 1));
  const TensorType &x = context.operand(0).type;
  const TensorType &condition = context.operand(1).type;
  int64_t extent = kUnknownDim;
  TensorType result{x.type, {kUnknownDim}};
  if (context.attrs().has("axis")) {
    result = x;
    if (x.hasRank) {
      int64_t axis = context.attrs().getInt("axis", 0);
      DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
      std::swap(extent, result.shape[axis]);
    }
  } else if (x.isStatic()) {
    extent = extentOf(x.shape, 0, x.shape.size());
  }
  if (condition.hasRank && extent >= 0 && condition.shape[0] > extent)
    return DLC_INVALID("operand 1: expected at most %" PRId64
                       " values, got %" PRId64,
                       extent, condition.shape[0]);
  return addResult(results, std::move(result));
}

static Status computeCompress(ComputeContext &context) {
  const TensorView &x = context.input(0), &condition = context.input(1);
  int64_t outer = 1, extent = x.size(), axis = 0;
  size_t size = sizeOf(x.type), bytes = size;
  std::vector<int64_t> shape(1);
  if (context.attrs().has("axis")) {
    axis = context.attrs().getInt("axis", 0);
    DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
    shape.assign(x.shape.begin(), x.shape.end());
    outer = extentOf(x.shape, 0, axis);
    extent = x.shape[axis];
    bytes = extentOf(x.shape, axis + 1, x.shape.size()) * size;
  }
  const uint8_t *isKept = condition.as<uint8_t>();
  int64_t length = condition.size();
  shape[axis] = 0;
  for (int64_t i = 0; i < length; ++i)
    shape[axis] += isKept[i] != 0;
  DLC_RETURN_IF_ERROR(context.allocate(0, shape));
  char *target = context.output(0).as<char>();
  for (int64_t run = 0; bytes && run < outer; ++run) {
    for (int64_t i = 0; i < length; ++i) {
      if (!isKept[i])
        continue;
      std::memcpy(target, x.as<char>() + (run * extent + i) * bytes, bytes);
      target += bytes;
    }
  }
  return Status::ok();
}

std::span<const Operation> ref::selectOperations() {
  static constexpr Operation table[] = {
      {"compress", inferCompress, computeCompress, /*allocatesResults=*/true},
      {"non_zero", inferNonZero, computeNonZero, /*allocatesResults=*/true},
      {"top_k", inferTopK, computeTopK},
      {"unique", inferUnique, computeUnique, /*allocatesResults=*/true},
  };
  return table;
}
