// SPDX-License-Identifier: Apache-2.0
//
// Results of sums of floats, of which some are bfloat16. See Vector.h for who
// may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_WRITERESULTS_H
#define DLC_RUNTIME_KERNEL_CPU_WRITERESULTS_H

#include "Activations.h"
#include "GridRuns.h"
#include "PairRows.h"

namespace dlc::rt::cpu {
namespace {

/// Bounds that leave everything as it is where the activation is no clamp.
struct Bounds {
  explicit Bounds(const Epilogue &epilogue)
      : low(splat(isClamp(epilogue) ? clampLow(epilogue) : -__builtin_inff())),
        high(splat(isClamp(epilogue) ? clampHigh(epilogue)
                                     : __builtin_inff())) {}
  [[gnu::always_inline]] Vec of(Vec value) const {
    return minOf(maxOf(value, low), high);
  }
  const Vec low, high;
};

/// Two vectors of each row, of which nothing is left out.
template <bool hasResidual>
inline void writeTwoShort(const float *sums, int64_t sumStride,
                          const float *bias, const uint16_t *residual,
                          uint16_t *c, int64_t stride, int64_t rows,
                          const Bounds &bounds) {
  const Vec bias0 = bias ? load(bias) : Vec{};
  const Vec bias1 = bias ? load(bias + kLanes) : Vec{};
  for (int64_t row = 0; row < rows; ++row) {
    Vec value0 = load(sums) + bias0, value1 = load(sums + kLanes) + bias1;
    if constexpr (hasResidual) {
      value0 += loadShort(residual);
      value1 += loadShort(residual + kLanes);
      residual += stride;
    }
    storeTwoShort(c, bounds.of(value0), bounds.of(value1));
    sums += sumStride;
    c += stride;
  }
}

/// Where rows of elements begin, or nowhere, and how far they are apart.
template <typename Element> struct Rows {
  Element *first;
  int64_t stride;

  Element *at(int64_t row, int64_t column) const {
    return first + row * stride + column;
  }
};

/// c = act(sums + bias + residual), rounded where c is bfloat16, `columns` of
/// each row; bias and residual are null where absent. Sums may be overwritten.
template <typename Residual, typename Result>
inline void writeResults(float *sums, int64_t sumStride, const float *bias,
                         Rows<const Residual> residual, Rows<Result> c,
                         int64_t rows, int64_t columns,
                         const Epilogue &epilogue) {
  constexpr bool isShort = sizeof(Result) == sizeof(uint16_t);
  const bool isActivatedLast =
      epilogue.activation != Activation::None && !isClamp(epilogue);
  const Bounds bounds(epilogue);
  int64_t j = 0;
  if constexpr (isShort)
    if (!isActivatedLast) {
      const auto write =
          residual.first ? writeTwoShort<true> : writeTwoShort<false>;
      for (; j + 2 * kLanes <= columns; j += 2 * kLanes)
        write(sums + j, sumStride, bias ? bias + j : nullptr,
              residual.first ? residual.first + j : nullptr, c.first + j,
              c.stride, rows, bounds);
    }
  for (; j < columns; j += kLanes)
    for (int64_t row = 0; row < rows; ++row) {
      float *sum = sums + row * sumStride + j;
      const int64_t count = columns - j;
      Vec value = load(sum);
      if (bias)
        value += loadFirst(bias + j, count);
      if (residual.first)
        value += loadElements(residual.at(row, j), count);
      if (isActivatedLast)
        storeFirst(sum, value, count);
      else
        storeElements(c.at(row, j), bounds.of(value), count);
    }
  if (!isActivatedLast)
    return;
  activateRest(sums, sumStride, rows, columns, epilogue);
  for (int64_t row = 0; row < rows; ++row)
    if constexpr (isShort)
      roundTerms(sums + row * sumStride, columns, c.at(row, 0));
    else
      __builtin_memcpy(c.at(row, 0), sums + row * sumStride,
                       columns * sizeof(float));
}

/// Calls function(residual, c) with arguments 3 and 4 as what they hold.
template <typename Function>
inline void forResults(bool isShortResidual, bool isShortResult,
                       void *const *arguments, Function &&function) {
  const auto *floats = static_cast<const float *>(arguments[3]);
  const auto *shorts = static_cast<const uint16_t *>(arguments[3]);
  if (isShortResult)
    function(shorts, static_cast<uint16_t *>(arguments[4]));
  else if (isShortResidual)
    function(shorts, static_cast<float *>(arguments[4]));
  else
    function(floats, static_cast<float *>(arguments[4]));
}

/// Results of a matrix, whose first one is element `at` of c.
inline void writeMatrix(const MatmulPlan &plan, void *const *arguments,
                        float *sums, int64_t sumStride, int64_t column,
                        int64_t at, int64_t rows, int64_t columns) {
  const auto *bias = static_cast<const float *>(arguments[2]);
  forResults(plan.isShortResidual, plan.isShortC, arguments,
             [&]<typename Residual, typename Result>(const Residual *residual,
                                                     Result *c) {
               writeResults<Residual, Result>(
                   sums, sumStride, bias ? bias + column : nullptr,
                   {residual ? residual + at : nullptr, plan.n},
                   {c + at, plan.n}, rows, columns, plan.epilogue);
             });
}

/// Results of some pixels of a run, in blocks of channels, from a whole block
/// of the group on.
inline void writePixels(const ConvRun &part, void *const *arguments,
                        float *sums, int64_t sumStride, int64_t channel,
                        int64_t channels, int64_t pixel, int64_t count) {
  const BlockedPlan &plan = part.plan;
  const float *bias = part.biasOf(arguments);
  forResults(plan.isShortResidual, plan.isShortY, arguments,
             [&]<typename Residual, typename Result>(const Residual *residual,
                                                     Result *y) {
               auto rowsOf =
                   [&]<typename Element>(Element *elements,
                                         int64_t first) -> Rows<Element> {
                 constexpr int64_t block = blockOf<Element>;
                 if (!elements)
                   return {nullptr, block};
                 return {elements + part.outputOffset() +
                             first / block * block * plan.outPlane +
                             pixel * block + first % block,
                         block};
               };
               constexpr int64_t step = blockOf<Result>;
               for (int64_t j = 0; j < channels; j += step)
                 writeResults<Residual, Result>(
                     sums + j, sumStride, bias ? bias + channel + j : nullptr,
                     rowsOf(residual, channel + j), rowsOf(y, channel + j),
                     count, least(step, channels - j), plan.epilogue);
             });
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_WRITERESULTS_H
