// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are functions of a seed and a position, so that they do
// not depend on how many threads compute them, nor in which order: Philox
// 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3",
// SC'11).

#ifndef DLC_RUNTIME_BASE_RANDOM_H
#define DLC_RUNTIME_BASE_RANDOM_H

#include <array>
#include <cstdint>
#include <span>

namespace dlc::rt {

using RandomWords = std::array<uint32_t, 4>;

/// The block of Philox 4x32-10 with this counter and key.
constexpr RandomWords philox(RandomWords counter, uint32_t key0,
                             uint32_t key1) {
  for (int round = 0; round != 10; ++round) {
    uint64_t a = uint64_t(0xd2511f53) * counter[0];
    uint64_t b = uint64_t(0xcd9e8d57) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key0, uint32_t(b),
               uint32_t(a >> 32) ^ counter[3] ^ key1, uint32_t(a)};
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
  return counter;
}

/// From where a computation draws: the blocks of a seed and a stream, from a
/// position on. A plain value; the same draws give the same numbers.
struct RandomDraws {
  uint64_t seed = 0;
  uint32_t stream = 0;   ///< Independent sequences of a seed.
  uint64_t position = 0; ///< Of block 0, in blocks.

  /// Block `index`; `attempt` numbers independent blocks of one index, for
  /// computations that need an unknown number of them.
  constexpr RandomWords block(uint64_t index, uint32_t attempt = 0) const {
    uint64_t at = position + index;
    return philox({uint32_t(at), uint32_t(at >> 32), attempt, stream},
                  uint32_t(seed), uint32_t(seed >> 32));
  }
};

/// How many blocks `count` elements of any distribution below take at most: the
/// distance between the positions of two computations that share nothing.
constexpr uint64_t blocksFor(uint64_t count) { return count; }

// Each function writes elements [first, first + out.size()) of the sequence
// that `draws` and the parameters name: threads may share it in any way.
// Parameters are as said, or the results are of no use; nothing worse happens.
// Results beyond the range of the type, which finite parameters may ask for,
// are its largest number.

/// Uniform in [low, high), low < high, with a finite difference: 24 random bits
/// for float, 53 for double.
void fillUniform(const RandomDraws &draws, uint64_t first, std::span<float> out,
                 float low = 0, float high = 1);
void fillUniform(const RandomDraws &draws, uint64_t first,
                 std::span<double> out, double low = 0, double high = 1);

/// Each integer of [low, high), low < high, with the same probability (Lemire,
/// TOMACS 2019).
void fillUniform(const RandomDraws &draws, uint64_t first,
                 std::span<int64_t> out, int64_t low, int64_t high);

/// Normal (Box and Muller 1958). The largest distance from the mean is 6.7
/// deviations for float and 8.6 for double.
void fillNormal(const RandomDraws &draws, uint64_t first, std::span<float> out,
                float mean = 0, float deviation = 1);
void fillNormal(const RandomDraws &draws, uint64_t first, std::span<double> out,
                double mean = 0, double deviation = 1);

/// Exponential with mean 1 / rate, rate > 0.
void fillExponential(const RandomDraws &draws, uint64_t first,
                     std::span<float> out, float rate = 1);

/// Gamma with mean shape * scale, both > 0 (Marsaglia and Tsang, TOMS 2000).
void fillGamma(const RandomDraws &draws, uint64_t first, std::span<float> out,
               double shape, double scale = 1);

/// Poisson with mean `rate` >= 0 (Hoermann, "The Transformed Rejection Method
/// for Generating Poisson Random Variables", 1993).
void fillPoisson(const RandomDraws &draws, uint64_t first, std::span<float> out,
                 double rate);

/// Failures before `successes` > 0 successes, not necessarily a whole number,
/// of `probability` in (0, 1]: a Poisson variable of gamma distributed rate.
void fillNegativeBinomial(const RandomDraws &draws, uint64_t first,
                          std::span<float> out, double successes,
                          double probability);

/// 1 with `probability`, to within 2^-32, else 0.
void fillBernoulli(const RandomDraws &draws, uint64_t first,
                   std::span<uint8_t> out, double probability);

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_RANDOM_H
