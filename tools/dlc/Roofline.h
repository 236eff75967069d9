// SPDX-License-Identifier: Apache-2.0
//
// What a machine does at best, by measurement, to compare launches with.

#ifndef DLC_TOOLS_DLC_ROOFLINE_H
#define DLC_TOOLS_DLC_ROOFLINE_H

#include "dlc/runtime/Device/CPU/WorkerPool.h"

#include <cstdint>

namespace dlc::tool {

/// The rates of all threads of a pool together.
struct Roofline {
  double flopsPerMicrosecond = 0;   ///< In products of matrices in the caches.
  double roundedPerMicrosecond = 0; ///< The same, of floats that are rounded.
  double bytesPerMicrosecond = 0;   ///< Read and written by copies in memory.

  /// What a launch would take if one of the two were all that holds it up. What
  /// the caches hold moves faster.
  double microsecondsOf(uint64_t flops, uint64_t bytes,
                        bool isRounded = false) const;
};

/// Takes about a tenth of a second. Throws a Failure.
Roofline measureRoofline(rt::WorkerPool &pool);

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_ROOFLINE_H
