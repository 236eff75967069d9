// SPDX-License-Identifier: Apache-2.0

#include "BatchRuns.h"

#include <algorithm>

using namespace dlc::rt;

/// What programs from number `from` on take for `left` examples, each as often
/// as it fits.
static uint64_t timeOf(std::span<const BatchProgram> programs, size_t from,
                       int64_t left) {
  uint64_t sum = 0;
  for (const BatchProgram &program : programs.subspan(from)) {
    sum += uint64_t(left / program.rows) * program.nanoseconds;
    left %= program.rows;
  }
  return sum;
}

BatchRun dlc::rt::nextRun(std::span<const BatchProgram> programs, int64_t count,
                          int64_t done) {
  const int64_t left = count - done;
  size_t fits = 0;
  while (programs[fits].rows > left)
    ++fits;
  // The smallest program for all that is left.
  if (fits > 0 && programs[fits].rows != left) {
    const BatchProgram &larger = programs[fits - 1];
    const int64_t rows = std::min(larger.rows, count);
    if (larger.nanoseconds <= timeOf(programs, fits, left))
      return {uint32_t(fits - 1), count - rows, rows};
  }
  return {uint32_t(fits), done, programs[fits].rows};
}
