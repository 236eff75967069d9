// SPDX-License-Identifier: Apache-2.0
//
// Activations on vectors. Polynomials are relative minimax fits, tanh and erf
// those of generated code (lib/Codegen/Common/VectorMath.cpp), to the bit where
// that has the same instructions; their errors were measured over all floats:
// exp 2.2 ulp, tanh 6.5 ulp, erf 6.7 ulp (4e-7 absolute), sigmoid 3.5 ulp. See
// Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_ACTIVATIONS_H
#define DLC_RUNTIME_KERNEL_CPU_ACTIVATIONS_H

#include "KernelSet.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// Horner's scheme, coefficients from the lowest.
template <typename... T>
[[gnu::always_inline]] inline Vec polynomial(Vec x, float first, T... rest) {
  if constexpr (sizeof...(rest) == 0)
    return splat(first);
  else
    return polynomial(x, rest...) * x + first;
}

/// e^x over the full range; two half scales keep denormal results right.
inline Vec expOf(Vec x) {
  constexpr float magic = 12582912.0f; // 1.5 * 2^23: the sum rounds to int
  x = maxOf(minOf(x, splat(89.0f)), splat(-104.0f));
  Vec shifted = x * 1.4426950408889634f + magic;
  Vec n = shifted - magic;
  Vec r = x - n * 0.693145751953125f;
  r = r - n * 1.42860677e-6f;
  Vec p = polynomial(r, 1.0f, 1.0f, 0.4999923f, 0.16667115f, 0.04189033f,
                     0.0083125f);
  IntVec exponent = reinterpret_cast<IntVec>(shifted) -
                    reinterpret_cast<IntVec>(splat(magic));
  IntVec half = exponent >> 1;
  IntVec other = exponent - half;
  return p * reinterpret_cast<Vec>((half + 127) << 23) *
         reinterpret_cast<Vec>((other + 127) << 23);
}

/// What e^x is zero below, in weights.
constexpr float kLeastExponent = -87.0f;

/// e^x for x that are not positive, as expOf(); zero where it would come near
/// numbers that are not normal, which take processors a hundred times as long,
/// here and as factors.
inline Vec weightOf(Vec x) {
  constexpr float magic = 12582912.0f; // 1.5 * 2^23: the sum rounds to int
  const Vec c = maxOf(x, splat(kLeastExponent));
  const Vec shifted = c * 1.4426950408889634f + magic;
  const Vec n = shifted - magic;
  Vec r = c - n * 0.693145751953125f;
  r = r - n * 1.42860677e-6f;
  const Vec p = polynomial(r, 1.0f, 1.0f, 0.4999923f, 0.16667115f, 0.04189033f,
                           0.0083125f);
  const IntVec exponent = reinterpret_cast<IntVec>(shifted) -
                          reinterpret_cast<IntVec>(splat(magic));
  const Vec weight = p * reinterpret_cast<Vec>((exponent + 127) << 23);
  return x < splat(kLeastExponent) ? Vec{} : weight;
}

/// a / b within 1.5 ulp, for b from 1 to 2^64: processors divide 16 floats in
/// 10 to 16 cycles, in which they multiply and add 20 to 32 times.
[[gnu::always_inline]] inline Vec ratioOf(Vec a, Vec b) {
#if DLC_VECTOR_BYTES == 64
  // Within 2^-14, and after a step of Newton's within a rounding.
  const Vec near = _mm512_rcp14_ps(b);
  return a * (near * (1.0f - b * near) + near);
#else
  return a / b;
#endif
}

/// What is beyond 1 at the ends, by their fits, and by a rounding near them.
inline Vec withinOne(Vec x) { return maxOf(minOf(x, splat(1)), splat(-1)); }

inline Vec tanhOf(Vec x) {
  Vec c = maxOf(minOf(x, splat(9.01f)), splat(-9.01f));
  Vec u = c * c;
  Vec p = polynomial(u, 0.999999923883118f, 0.13360179968555255f,
                     0.0034699678726303014f, 2.0159810771529718e-5f,
                     1.2706490166512732e-8f);
  Vec q = polynomial(u, 1.0f, 0.4669351349823457f, 0.025781719478220725f,
                     3.242411711949149e-4f, 7.514975730948217e-7f);
  return withinOne(ratioOf(c * p, q));
}

inline Vec erfOf(Vec x) {
  Vec c = maxOf(minOf(x, splat(3.925f)), splat(-3.925f));
  Vec u = c * c;
  Vec p = polynomial(u, 1.1283791570330126f, 0.16949944407853168f,
                     0.05063888441478689f, 0.00302719481739707f,
                     2.9730732714965336e-4f, 2.6175039061108333e-6f);
  Vec q = polynomial(u, 1.0f, 0.4835484271229411f, 0.10605926066046771f,
                     0.013493297977097803f, 0.0010355097414653284f,
                     4.4544941170498035e-5f);
  return withinOne(ratioOf(c * p, q));
}

inline Vec hardSigmoidOf(Vec x, float alpha, float beta) {
  return minOf(maxOf(x * alpha + beta, splat(0)), splat(1));
}

template <Activation kind>
[[gnu::always_inline]] inline Vec activate(Vec x, const Epilogue &epilogue) {
  if constexpr (kind == Activation::Relu)
    return maxOf(x, splat(0));
  else if constexpr (kind == Activation::Clamp)
    return minOf(maxOf(x, splat(epilogue.alpha)), splat(epilogue.beta));
  else if constexpr (kind == Activation::LeakyRelu)
    return x < splat(0) ? x * epilogue.alpha : x;
  else if constexpr (kind == Activation::Sigmoid)
    return 1.0f / (expOf(-x) + 1.0f);
  else if constexpr (kind == Activation::Tanh)
    return tanhOf(x);
  else if constexpr (kind == Activation::Gelu)
    return (x * 0.5f) * (erfOf(x * 0.70710678118654752f) + 1.0f);
  else if constexpr (kind == Activation::GeluTanh)
    return (x * 0.5f) *
           (tanhOf(x * (x * x * 0.035677408136300125f + 0.7978845608028654f)) +
            1.0f);
  else if constexpr (kind == Activation::Silu)
    return x / (expOf(-x) + 1.0f);
  else if constexpr (kind == Activation::HardSwish)
    return x * hardSigmoidOf(x, 1.0f / 6, 0.5f);
  else if constexpr (kind == Activation::HardSigmoid)
    return hardSigmoidOf(x, epilogue.alpha, epilogue.beta);
  else
    return x;
}

/// The block c[rows][columns], whose rows lie `stride` apart, in place.
template <Activation kind>
void activateBlock(float *c, int64_t stride, int64_t rows, int64_t columns,
                   const Epilogue &epilogue) {
  for (int64_t row = 0; row < rows; ++row, c += stride) {
    int64_t j = 0;
    for (; j + kLanes <= columns; j += kLanes)
      store(c + j, activate<kind>(load(c + j), epilogue));
    if (j < columns)
      storeFirst(c + j, activate<kind>(loadFirst(c + j, columns - j), epilogue),
                 columns - j);
  }
}

/// Activations that the microkernels apply in registers, as a clamp.
inline bool isClamp(const Epilogue &epilogue) {
  return epilogue.activation == Activation::Relu ||
         epilogue.activation == Activation::Clamp;
}

/// Applies every activation that isClamp() does not cover.
inline void activateRest(float *c, int64_t stride, int64_t rows,
                         int64_t columns, const Epilogue &epilogue) {
  using Function =
      void (*)(float *, int64_t, int64_t, int64_t, const Epilogue &);
  static constexpr Function functions[] = {
      nullptr,
      nullptr,
      nullptr,
      activateBlock<Activation::LeakyRelu>,
      activateBlock<Activation::Sigmoid>,
      activateBlock<Activation::Tanh>,
      activateBlock<Activation::Gelu>,
      activateBlock<Activation::GeluTanh>,
      activateBlock<Activation::Silu>,
      activateBlock<Activation::HardSwish>,
      activateBlock<Activation::HardSigmoid>,
  };
  if (Function function = functions[static_cast<int>(epilogue.activation)])
    function(c, stride, rows, columns, epilogue);
}

/// The bounds of an activation that isClamp().
inline float clampLow(const Epilogue &epilogue) {
  return epilogue.activation == Activation::Relu ? 0.0f : epilogue.alpha;
}
inline float clampHigh(const Epilogue &epilogue) {
  return epilogue.activation == Activation::Relu ? __builtin_inff()
                                                 : epilogue.beta;
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ACTIVATIONS_H
