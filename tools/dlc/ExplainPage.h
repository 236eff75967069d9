// SPDX-License-Identifier: Apache-2.0
//
// The page that dlc explain writes: plain HTML with inline SVG, no scripts.

#ifndef DLC_TOOLS_DLC_EXPLAINPAGE_H
#define DLC_TOOLS_DLC_EXPLAINPAGE_H

#include "Roofline.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlc::tool {

struct LaunchReport {
  std::string label, kernel, kind, note;
  std::string memory; ///< "in place", "add to", "done" or "".
  std::string bound;  ///< What results may be off by; "" where it is not told.
  uint64_t flops = 0, bytes = 0;
  double microseconds = 0;
  /// The share of what the machine does at best; absent on other devices, whose
  /// best was not measured.
  std::optional<double> roof;
  std::optional<double> peer; ///< Microseconds of the peer's library.
};

/// Bytes [offset, offset + bytes) of the arena during launches [first, last].
struct MemoryRange {
  uint64_t offset, bytes;
  size_t first, last;
};

struct ExplainReport {
  std::string model;
  std::string peer;  ///< "oneDNN 2.6.3"; "" where nobody asked for it.
  std::string batch; ///< What of a batch ran how often; "" for others.
  std::vector<LaunchReport> launches;
  std::vector<MemoryRange> ranges;
  std::vector<std::string> code; ///< What there is for which machines.
  Roofline roof;
  uint64_t arenaBytes = 0, lowerBoundBytes = 0, constantBytes = 0;
  uint64_t peakBytes = 0; ///< Of the host, with what is sized while running.
};

/// The whole page.
std::string makePage(const ExplainReport &report);

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_EXPLAINPAGE_H
