// SPDX-License-Identifier: Apache-2.0
//
// What a machine does at best, by measurement, to compare launches with.

#ifndef DLC_TOOLS_DLC_ROOFLINE_H
#define DLC_TOOLS_DLC_ROOFLINE_H

#include "dlc/runtime/Device/CPU/WorkerPool.h"

#include <cstdint>

namespace dlc::tool {

/// What is multiplied: floats, those that are rounded to bfloat16, or bytes.
enum class Factors { Floats, Rounded, Bytes };

/// The rates of all threads of a pool together.
struct Roofline {
  /// In products of matrices in the caches, for each of the factors.
  double flopsPerMicrosecond[3] = {};
  double bytesPerMicrosecond = 0; ///< Read and written by copies in memory.

  double gigaflops(Factors factors) const {
    return flopsPerMicrosecond[static_cast<int>(factors)] / 1e3;
  }
  double gigabytes() const { return bytesPerMicrosecond / 1e3; }
  /// What a launch would take if one of the two were all that holds it up. What
  /// the caches hold moves faster.
  double microsecondsOf(uint64_t flops, uint64_t bytes, Factors factors) const;
};

/// Takes about a tenth of a second. Throws a Failure.
Roofline measureRoofline(rt::WorkerPool &pool);

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_ROOFLINE_H
