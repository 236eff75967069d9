// SPDX-License-Identifier: Apache-2.0
//
// Convolutions with one input channel a group. See Vector.h for who may
// include it.
//
// A plane is walked in strips one vector wide, from top to bottom. Each input
// row is loaded once per strip and added to the sums of all output rows that
// it reaches, which stay in registers. Strips at the left and right border use
// masked loads, the others plain ones.

#ifndef DLC_RUNTIME_KERNEL_CPU_DEPTHWISETILES_H
#define DLC_RUNTIME_KERNEL_CPU_DEPTHWISETILES_H

#include "Activations.h"
#include "KernelSet.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// One output plane.
struct DepthwisePlane {
  const DepthwisePlan &plan;
  const float *x, *w;
  float bias;
  const float *residual; ///< Null when absent.
  float *y;

  void finish(int64_t row, int64_t column, Vec sum) const {
    const int64_t count = plan.outW - column;
    const int64_t at = row * plan.outW + column;
    if (residual)
      sum += loadFirst(residual + at, count);
    if (isClamp(plan.epilogue))
      sum = minOf(maxOf(sum, splat(clampLow(plan.epilogue))),
                  splat(clampHigh(plan.epilogue)));
    storeFirst(y + at, sum, count);
  }
};

/// The elements that the taps of one input row read, for one strip.
template <int kernelW, int stride, bool masked> struct StripRow {
  Vec taps[kernelW];

  /// `source` is the element of lane 0 at tap 0; `begin` and `end` bound the
  /// elements of the row relative to it.
  [[gnu::always_inline]] void read(const float *source, int64_t begin,
                                   int64_t end) {
    auto at = [&](int64_t offset) __attribute__((always_inline)) {
      if constexpr (masked)
        return maskedLoad(source + offset, lanes(begin - offset, end - offset));
      else
        return load(source + offset);
    };
    if constexpr (stride == 1) {
      DLC_UNROLL for (int i = 0; i < kernelW; ++i) taps[i] = at(i);
    } else {
      DLC_UNROLL for (int i = 0; i < kernelW; i += 2) {
        Vec low = at(i), high = at(i + kLanes);
        taps[i] = evenOf(low, high);
        if (i + 1 < kernelW)
          taps[i + 1] = oddOf(low, high);
      }
    }
  }
};

/// One strip of a kernel known at compile time, without dilation.
template <int kernel, int stride, bool masked>
void runStrip(const DepthwisePlane &p, int64_t column) {
  const DepthwisePlan &plan = p.plan;
  Vec w[kernel][kernel];
  for (int i = 0; i < kernel; ++i)
    for (int j = 0; j < kernel; ++j)
      w[i][j] = splat(p.w[i * kernel + j]);
  const Vec bias = splat(p.bias);
  const int64_t left = column * stride - plan.padLeft;
  for (int64_t row = 0; row < plan.outH; ++row) {
    Vec sum = bias;
    const int64_t top = row * stride - plan.padTop;
    DLC_UNROLL for (int i = 0; i < kernel; ++i) {
      if (top + i < 0 || top + i >= plan.inH)
        continue;
      StripRow<kernel, stride, masked> in;
      in.read(p.x + (top + i) * plan.inW + left, -left, plan.inW - left);
      DLC_UNROLL for (int j = 0; j < kernel; ++j) sum += w[i][j] * in.taps[j];
    }
    p.finish(row, column, sum);
  }
}

template <int kernel, int stride> void runStrips(const DepthwisePlane &p) {
  const DepthwisePlan &plan = p.plan;
  // Elements that the plain loads of a strip touch from its left edge on.
  constexpr int64_t reach =
      stride == 1 ? kLanes + kernel - 1 : 2 * kLanes + (kernel - 1) / 2 * 2;
  for (int64_t column = 0; column < plan.outW; column += kLanes) {
    const int64_t left = column * stride - plan.padLeft;
    if (left >= 0 && left + reach <= plan.inW)
      runStrip<kernel, stride, false>(p, column);
    else
      runStrip<kernel, stride, true>(p, column);
  }
}

/// Any kernel, stride and dilation.
inline void runAnyStrips(const DepthwisePlane &p) {
  const DepthwisePlan &plan = p.plan;
  for (int64_t row = 0; row < plan.outH; ++row) {
    for (int64_t column = 0; column < plan.outW; column += kLanes) {
      Vec sum = splat(p.bias);
      for (int64_t i = 0; i < plan.kernelH; ++i) {
        const int64_t inY =
            row * plan.strideH - plan.padTop + i * plan.dilationH;
        if (inY < 0 || inY >= plan.inH)
          continue;
        const float *inRow = p.x + inY * plan.inW;
        for (int64_t j = 0; j < plan.kernelW; ++j) {
          const int64_t left =
              column * plan.strideW - plan.padLeft + j * plan.dilationW;
          Vec taps = {};
          if (plan.strideW == 1) {
            taps = maskedLoad(inRow + left, lanes(-left, plan.inW - left));
          } else {
            for (int lane = 0; lane < kLanes; ++lane) {
              const int64_t inX = left + lane * plan.strideW;
              if (inX >= 0 && inX < plan.inW)
                taps[lane] = inRow[inX];
            }
          }
          sum += p.w[i * plan.kernelW + j] * taps;
        }
      }
      p.finish(row, column, sum);
    }
  }
}

inline void runPlane(const DepthwisePlane &p) {
  const DepthwisePlan &plan = p.plan;
  const bool square = plan.kernelH == plan.kernelW &&
                      plan.strideH == plan.strideW && plan.dilationH == 1 &&
                      plan.dilationW == 1;
  const int64_t kernel = plan.kernelH, stride = plan.strideH;
  if (square && kernel == 3 && stride == 1)
    runStrips<3, 1>(p);
  else if (square && kernel == 3 && stride == 2)
    runStrips<3, 2>(p);
  else if (square && kernel == 5 && stride == 1)
    runStrips<5, 1>(p);
  else if (square && kernel == 5 && stride == 2)
    runStrips<5, 2>(p);
  else
    runAnyStrips(p);
  activateRest(p.y, plan.outW, plan.outH, plan.outW, plan.epilogue);
}

void runDepthwise(const DepthwisePlan &plan, void *const *arguments,
                  int64_t begin, int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  const auto *w = static_cast<const float *>(arguments[1]);
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *y = static_cast<float *>(arguments[4]);
  const int64_t outSize = plan.outH * plan.outW;
  const int64_t first = begin * plan.planeBlock;
  const int64_t last = least(end * plan.planeBlock, plan.planes);
  for (int64_t plane = first; plane < last; ++plane) {
    const int64_t channel = plane % plan.channels;
    runPlane(
        {plan, x + plane / plan.multiplier * plan.inH * plan.inW,
         w + channel * plan.kernelH * plan.kernelW, bias ? bias[channel] : 0.0f,
         residual ? residual + plane * outSize : nullptr, y + plane * outSize});
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_DEPTHWISETILES_H
