// SPDX-License-Identifier: Apache-2.0
//
// Tasks of a given length.

#ifndef DLC_TOOLS_BENCHMARKS_ENGINE_CALIBRATE_H
#define DLC_TOOLS_BENCHMARKS_ENGINE_CALIBRATE_H

namespace dlc::bench {

/// Makes task() take about `nanoseconds` while it lives.
class ScopedTaskLength {
public:
  explicit ScopedTaskLength(double nanoseconds);
  ~ScopedTaskLength();
  ScopedTaskLength(const ScopedTaskLength &) = delete;
};

} // namespace dlc::bench

#endif // DLC_TOOLS_BENCHMARKS_ENGINE_CALIBRATE_H
