// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Random.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numbers>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Fixed numbers of words
//===----------------------------------------------------------------------===//

/// Calls `write(i, lane, words)` for each element i of `out`: element
/// `first` + i is lane `lane` of the block that `perBlock` elements share.
template <unsigned perBlock, typename Write>
static void forEachLane(const RandomDraws &draws, uint64_t first, size_t count,
                        Write &&write) {
  for (size_t i = 0; i < count;) {
    RandomWords words = draws.block((first + i) / perBlock);
    for (unsigned lane = (first + i) % perBlock; lane != perBlock && i < count;
         ++lane, ++i)
      write(i, lane, words);
  }
}

/// In [0, 1), in steps of 2^-24 and 2^-53.
static float unitFloat(uint32_t word) { return float(word >> 8) * 0x1p-24f; }
static double unitDouble(uint32_t high, uint32_t low) {
  return double((uint64_t(high) << 32 | low) >> 11) * 0x1p-53;
}

/// low + u * (high - low), which may round to `high`, kept below it.
template <typename T> static T scaled(T u, T low, T high) {
  T value = low + u * (high - low);
  return value < high ? value : std::nextafter(high, low);
}

void dlc::rt::fillUniform(const RandomDraws &draws, uint64_t first,
                          std::span<float> out, float low, float high) {
  forEachLane<4>(draws, first, out.size(),
                 [&](size_t i, unsigned lane, const RandomWords &words) {
                   out[i] = scaled(unitFloat(words[lane]), low, high);
                 });
}

void dlc::rt::fillUniform(const RandomDraws &draws, uint64_t first,
                          std::span<double> out, double low, double high) {
  forEachLane<2>(draws, first, out.size(),
                 [&](size_t i, unsigned lane, const RandomWords &words) {
                   double u = unitDouble(words[2 * lane], words[2 * lane + 1]);
                   out[i] = scaled(u, low, high);
                 });
}

/// One of a pair of normal numbers. The radius never takes the logarithm of 0.
template <typename T> static T boxMuller(T u, T v, bool second) {
  T radius = std::sqrt(T(-2) * std::log(u));
  T angle = T(2 * std::numbers::pi) * v;
  return radius * (second ? std::sin(angle) : std::cos(angle));
}

/// The nearest number that the type has, other than infinity.
template <typename T> static T toFinite(T number) {
  return std::clamp(number, -std::numeric_limits<T>::max(),
                    std::numeric_limits<T>::max());
}
static float toFloat(double number) {
  return float(std::clamp(number, double(-FLT_MAX), double(FLT_MAX)));
}

void dlc::rt::fillNormal(const RandomDraws &draws, uint64_t first,
                         std::span<float> out, float mean, float deviation) {
  forEachLane<4>(draws, first, out.size(),
                 [&](size_t i, unsigned lane, const RandomWords &words) {
                   unsigned pair = lane & 2;
                   // In (0, 1]: all bits, for the tail.
                   float u = float(double(words[pair]) + 1) * 0x1p-32f;
                   float v = unitFloat(words[pair + 1]);
                   // In double: a product beyond the range of float may lead
                   // to a sum inside it.
                   out[i] =
                       toFloat(mean + double(deviation) *
                                          double(boxMuller(u, v, lane & 1)));
                 });
}

void dlc::rt::fillNormal(const RandomDraws &draws, uint64_t first,
                         std::span<double> out, double mean, double deviation) {
  forEachLane<2>(draws, first, out.size(),
                 [&](size_t i, unsigned lane, const RandomWords &words) {
                   double u = 1 - unitDouble(words[0], words[1]); // (0, 1]
                   double v = unitDouble(words[2], words[3]);
                   double z = boxMuller(u, v, lane), product = deviation * z;
                   out[i] = toFinite(
                       std::isfinite(product)
                           ? mean + product
                           : 2 * (mean / 2 + deviation / 2 * z)); // See above.
                 });
}

void dlc::rt::fillExponential(const RandomDraws &draws, uint64_t first,
                              std::span<float> out, float rate) {
  forEachLane<4>(draws, first, out.size(),
                 [&](size_t i, unsigned lane, const RandomWords &words) {
                   double u = (double(words[lane]) + 1) * 0x1p-32;
                   out[i] = toFinite(float(-std::log(u)) / rate);
                 });
}

void dlc::rt::fillBernoulli(const RandomDraws &draws, uint64_t first,
                            std::span<uint8_t> out, double probability) {
  // 2^32 itself when it is certain; NaN gives 0.
  double scaledUp = probability * 0x1p32;
  uint64_t bound = scaledUp >= 0x1p32 ? uint64_t(1) << 32
                   : scaledUp > 0     ? uint64_t(scaledUp)
                                      : 0;
  forEachLane<4>(draws, first, out.size(),
                 [&](size_t i, unsigned lane, const RandomWords &words) {
                   out[i] = words[lane] < bound;
                 });
}

//===----------------------------------------------------------------------===//
// As many words as it takes
//===----------------------------------------------------------------------===//

namespace {

/// The words of one element: the attempts of its block, one after the other.
class ElementWords {
public:
  ElementWords(const RandomDraws &draws, uint64_t element)
      : draws(draws), element(element) {}

  uint32_t next() {
    if (used == 4) {
      words = draws.block(element, attempt++);
      used = 0;
    }
    return words[used++];
  }
  /// In (0, 1), never an end.
  double uniform() { return (double(next()) + 0.5) * 0x1p-32; }
  double normal() {
    double u = uniform(), v = uniform();
    return boxMuller(u, v, false);
  }

private:
  const RandomDraws &draws;
  const uint64_t element;
  uint32_t attempt = 0;
  unsigned used = 4;
  RandomWords words = {};
};

} // namespace

/// Rejections before a computation settles for what it has. None comes near:
/// each is less likely than not, and parameters that are not as promised must
/// not hang it.
static constexpr int mostRejections = 1000;

void dlc::rt::fillUniform(const RandomDraws &draws, uint64_t first,
                          std::span<int64_t> out, int64_t low, int64_t high) {
  uint64_t range = uint64_t(high) - uint64_t(low);
  if (!range)
    range = 1;
  for (size_t i = 0; i != out.size(); ++i) {
    ElementWords words(draws, first + i);
    unsigned __int128 product = 0;
    for (int tries = 0; tries != mostRejections; ++tries) {
      uint64_t word = uint64_t(words.next()) << 32;
      product = static_cast<unsigned __int128>(word | words.next()) * range;
      // 2^64 mod range of the words are one too many.
      if (uint64_t(product) >= range || uint64_t(product) >= -range % range)
        break;
    }
    out[i] = int64_t(uint64_t(low) + uint64_t(product >> 64));
  }
}

static double gammaOf(ElementWords &words, double shape) {
  // Below 1 the method does not apply; a power of a uniform number makes up.
  double boost = 1;
  if (shape < 1) {
    boost = std::pow(words.uniform(), 1 / shape);
    shape += 1;
  }
  double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  double v = 1;
  for (int tries = 0; tries != mostRejections; ++tries) {
    double x = words.normal(), t = 1 + c * x;
    if (t <= 0)
      continue;
    v = t * t * t;
    if (std::log(words.uniform()) < x * x / 2 + d * (1 - v + std::log(v)))
      break;
  }
  return toFinite(boost * d * v);
}

/// Counts how many uniform factors bring a product below exp(-rate).
static double poissonByProduct(ElementWords &words, double rate) {
  double bound = std::exp(-rate), product = words.uniform();
  int count = 0;
  for (; product > bound && count != mostRejections; ++count)
    product *= words.uniform();
  return count;
}

/// Hoermann's algorithm PTRS, for rates of at least 10.
static double poissonByRejection(ElementWords &words, double rate) {
  double logRate = std::log(rate);
  double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  double inverseAlpha = 1.1239 + 1.1328 / (b - 3.4);
  double vr = 0.9277 - 3.6224 / (b - 2);
  double k = rate;
  for (int tries = 0; tries != mostRejections; ++tries) {
    double u = words.uniform() - 0.5, v = words.uniform();
    double us = 0.5 - std::abs(u);
    k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= vr)
      break;
    if (k < 0 || (us < 0.013 && v > us))
      continue;
    int sign; // lgamma() proper writes a global.
    if (std::log(v * inverseAlpha / (a / (us * us) + b)) <=
        k * logRate - rate - lgamma_r(k + 1, &sign))
      break;
  }
  return k;
}

static double poissonOf(ElementWords &words, double rate) {
  return rate < 10 ? poissonByProduct(words, rate)
                   : poissonByRejection(words, rate);
}

void dlc::rt::fillGamma(const RandomDraws &draws, uint64_t first,
                        std::span<float> out, double shape, double scale) {
  for (size_t i = 0; i != out.size(); ++i) {
    ElementWords words(draws, first + i);
    out[i] = toFloat(scale * gammaOf(words, shape));
  }
}

void dlc::rt::fillPoisson(const RandomDraws &draws, uint64_t first,
                          std::span<float> out, double rate) {
  for (size_t i = 0; i != out.size(); ++i) {
    ElementWords words(draws, first + i);
    out[i] = toFloat(poissonOf(words, rate));
  }
}

void dlc::rt::fillNegativeBinomial(const RandomDraws &draws, uint64_t first,
                                   std::span<float> out, double successes,
                                   double probability) {
  double scale = toFinite((1 - probability) / probability);
  for (size_t i = 0; i != out.size(); ++i) {
    ElementWords words(draws, first + i);
    double rate = toFinite(scale * gammaOf(words, successes));
    out[i] = toFloat(poissonOf(words, rate));
  }
}
