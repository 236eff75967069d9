// SPDX-License-Identifier: Apache-2.0
//
// Reductions over a set of axes. Floats accumulate in double, integers wrap.
// Over nothing, a sum is 0, a product 1, a maximum the least value of the
// type, a minimum the greatest, and a mean NaN (0 for integers).

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// Shape rule
//===----------------------------------------------------------------------===//

/// The axes are known: none given means all.
static Status reduceShape(TensorType &type,
                          std::optional<std::vector<int64_t>> axes,
                          bool keepDims) {
  if (!type.hasRank) {
    if (!axes && !keepDims)
      type.hasRank = true; // all axes go, whatever the rank
    return Status::ok();
  }
  if (axes)
    DLC_RETURN_IF_ERROR(normalizeAxes(*axes, type.rank()));
  std::vector<int64_t> shape;
  for (int64_t d = 0; d < type.rank(); ++d) {
    bool reduced =
        !axes || std::find(axes->begin(), axes->end(), d) != axes->end();
    if (!reduced)
      shape.push_back(type.shape[d]);
    else if (keepDims)
      shape.push_back(1);
  }
  type.shape = std::move(shape);
  return Status::ok();
}

/// Only the number of axes is known, or not even that.
static Status reduceShape(TensorType &type, const TensorType &axes,
                          bool keepDims) {
  int64_t count = axes.hasRank ? axes.shape[0] : kUnknownDim;
  if (!type.hasRank)
    return Status::ok();
  if (count > type.rank())
    return DLC_INVALID("expected at most %d axes, got %lld",
                       static_cast<int>(type.rank()),
                       static_cast<long long>(count));
  if (count == 0)
    return Status::ok();
  if (!keepDims && count < 0)
    type = unrankedOf(type.type);
  else
    type.shape.assign(type.rank() - (keepDims ? 0 : count), kUnknownDim);
  return Status::ok();
}

template <const TypeSet &types>
static Status inferReduce(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, types));
  DLC_RETURN_IF_ERROR(checkType(context, 1, i64Type));
  DLC_RETURN_IF_ERROR(checkRank(context, 1, 1));
  bool keepDims = context.attrs().getInt("keepdims", 1);
  TensorType type = context.operand(0).type;
  auto axes = context.intsOf(1);
  if (axes || !context.isPresent(1))
    DLC_RETURN_IF_ERROR(reduceShape(type, std::move(axes), keepDims));
  else
    DLC_RETURN_IF_ERROR(reduceShape(type, context.operand(1).type, keepDims));
  return addResult(results, std::move(type));
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

/// The loops of a reduction: over the results, and over what each reduces.
/// Both keep the offset into the operand.
namespace {
struct ReductionLoops {
  StridedLoop<1> kept, reduced;
  int64_t keptCount = 1, reducedCount = 1;
  bool keepsLast = false; ///< The last dimension that has several elements.
};
} // namespace

static Status makeLoops(ComputeContext &context, ReductionLoops &loops) {
  std::span<const int64_t> shape = context.input(0).shape;
  std::vector<int64_t> axes = context.intsOf(1);
  DLC_RETURN_IF_ERROR(normalizeAxes(axes, context.input(0).rank()));
  int64_t stride = 1;
  for (int64_t d = context.input(0).rank() - 1; d >= 0; --d) {
    bool isReduced = !context.isPresent(1) ||
                     std::find(axes.begin(), axes.end(), d) != axes.end();
    (isReduced ? loops.reduced : loops.kept).addOuter(shape[d], {stride});
    (isReduced ? loops.reducedCount : loops.keptCount) *= shape[d];
    if (stride == 1)
      loops.keepsLast = !isReduced;
    stride *= shape[d];
  }
  if (loops.keptCount != context.output(0).size())
    return DLC_INVALID("expected %lld results for these axes, got %lld",
                       static_cast<long long>(loops.keptCount),
                       static_cast<long long>(context.output(0).size()));
  return Status::ok();
}

/// Calls function(values, count) for all elements that the result at `base`
/// reduces, some at once.
template <typename T, typename F>
static void forEachBlock(const TensorView &x, const StridedLoop<1> &loop,
                         int64_t base, F &&function) {
  constexpr int64_t blockSize = 128;
  T block[blockSize];
  loop.forEachRun(
      [&](int64_t, const auto &offsets, const auto &strides, int64_t length) {
        for (int64_t begin = 0; begin < length; begin += blockSize) {
          int64_t count = std::min(blockSize, length - begin);
          loadRun(x, base + offsets[0] + begin * strides[0], strides[0], count,
                  block);
          function(block, count);
        }
      });
}

namespace {

struct SumReducer {
  template <typename T> static T start() { return 0; }
  template <typename T> static T step(T sum, T x) { return addWide(sum, x); }
  template <typename T> static T finish(T sum, int64_t, DataType) {
    return sum;
  }
};

struct MeanReducer : SumReducer {
  template <typename T> static T finish(T sum, int64_t count, DataType) {
    if constexpr (std::is_integral_v<T>)
      return count ? sum / static_cast<T>(count) : 0;
    return sum / static_cast<T>(count);
  }
};

struct ProductReducer : SumReducer {
  template <typename T> static T start() { return 1; }
  template <typename T> static T step(T product, T x) {
    return multiplyWide(product, x);
  }
};

/// The least or the greatest value of an element type, in its wide type T.
template <typename T> T limitOf(DataType type, bool least) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return least ? -Limits::infinity() : Limits::infinity();
  else {
    int bits = type == DLC_BOOL ? 1 : 8 * static_cast<int>(sizeOf(type));
    return (least ? Limits::min() : Limits::max()) >> (64 - bits);
  }
}

/// NaN wins over any number.
template <bool isMax> struct ExtremeReducer {
  template <typename T> static T start() {
    return limitOf<T>(DLC_I64, isMax); // of all 64 bits
  }
  template <typename T> static T step(T best, T x) {
    bool better = isMax ? x > best : x < best;
    return better || x != x ? x : best;
  }
  template <typename T> static T finish(T best, int64_t count, DataType type) {
    return count ? best : limitOf<T>(type, isMax);
  }
};

} // namespace

/// Results whose operand's elements lie behind each other, some at once.
template <typename Reducer, typename T>
static void reduceTogether(const TensorView &x, const ReductionLoops &loops,
                           int64_t first, int64_t last, TensorView &y) {
  constexpr int64_t blockSize = 128;
  T states[blockSize], block[blockSize];
  loops.kept.forEachRun(
      first, last,
      [&](int64_t at, const auto &offsets, const auto &strides,
          int64_t length) {
        for (int64_t begin = 0; begin < length; begin += blockSize) {
          const int64_t count = std::min(blockSize, length - begin);
          const int64_t base = offsets[0] + begin * strides[0];
          std::fill_n(states, count, Reducer::template start<T>());
          loops.reduced.forEach([&](int64_t, const auto &reduced) {
            loadRun(x, base + reduced[0], strides[0], count, block);
            for (int64_t i = 0; i < count; ++i)
              states[i] = Reducer::step(states[i], block[i]);
          });
          for (int64_t i = 0; i < count; ++i)
            states[i] = Reducer::finish(states[i], loops.reducedCount, x.type);
          storeRun(y, at + begin, count, states);
        }
      });
}

/// Results one after the other, each of parts.
template <typename Reducer, typename T>
static void reduceEach(const TensorView &x, const ReductionLoops &loops,
                       int64_t first, int64_t last, TensorView &y) {
  loops.kept.forEach(first, last, [&](int64_t at, const auto &offsets) {
    Parts<T> parts;
    parts.fill(Reducer::template start<T>());
    forEachBlock<T>(x, loops.reduced, offsets[0],
                    [&](const T *values, int64_t count) {
                      stepParts(parts, count, [&](T state, int64_t i) {
                        return Reducer::step(state, values[i]);
                      });
                    });
    for (size_t k = 1; k < parts.size(); ++k)
      parts[0] = Reducer::step(parts[0], parts[k]);
    T result = Reducer::finish(parts[0], loops.reducedCount, x.type);
    storeRun(y, at, 1, &result);
  });
}

template <typename Reducer>
static Status computeReduce(ComputeContext &context) {
  ReductionLoops loops;
  DLC_RETURN_IF_ERROR(makeLoops(context, loops));
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  return dispatchWide(x.type, [&](auto wide) {
    using T = decltype(wide);
    context.inParts(loops.keptCount, static_cast<double>(loops.reducedCount),
                    [&](int64_t begin, int64_t end) {
                      loops.keepsLast
                          ? reduceTogether<Reducer, T>(x, loops, begin, end, y)
                          : reduceEach<Reducer, T>(x, loops, begin, end, y);
                    });
    return Status::ok();
  });
}

std::span<const Operation> ref::reductionOperations() {
  static constexpr Operation operations[] = {
      {"reduce_max", inferReduce<anyType>, computeReduce<ExtremeReducer<true>>},
      {"reduce_mean", inferReduce<numericTypes>, computeReduce<MeanReducer>},
      {"reduce_min", inferReduce<anyType>,
       computeReduce<ExtremeReducer<false>>},
      {"reduce_prod", inferReduce<numericTypes>, computeReduce<ProductReducer>},
      {"reduce_sum", inferReduce<numericTypes>, computeReduce<SumReducer>},
  };
  return operations;
}
