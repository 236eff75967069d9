// SPDX-License-Identifier: Apache-2.0
//
// Which programs compute a batch of any size.

#ifndef DLC_RUNTIME_EXECUTOR_BATCHRUNS_H
#define DLC_RUNTIME_EXECUTOR_BATCHRUNS_H

#include <cstdint>
#include <span>

namespace dlc::rt {

/// A program for some examples of a batch.
struct BatchProgram {
  int64_t rows;         ///< Examples.
  uint64_t nanoseconds; ///< What it takes, modelled.
};

/// A run of a program over `count` examples from `first` on, where it has more
/// rows over the last one again and again.
struct BatchRun {
  uint32_t program;
  int64_t first, count;
};

/// The run that goes on with a batch of `count` examples of which `done` have
/// been computed (done < count). `programs`: the largest first, the last one of
/// a single example. Where it takes less time, a program that has more rows
/// than are left computes some of those before again, to values that
/// differ by rounding at most, so that it ends with the batch; or, of a batch
/// that has fewer, all of it.
BatchRun nextRun(std::span<const BatchProgram> programs, int64_t count,
                 int64_t done);

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_BATCHRUNS_H
