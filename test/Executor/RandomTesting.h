// SPDX-License-Identifier: Apache-2.0
//
// What tests of random operators share.

#ifndef DLC_TEST_EXECUTOR_RANDOMTESTING_H
#define DLC_TEST_EXECUTOR_RANDOMTESTING_H

#include "ExecutorTesting.h"

namespace dlc::test {

inline std::unique_ptr<Executor> bindRandom(const Symbol &numbers) {
  return take(simpleBind(numbers, makeRuntime(), {}));
}

/// Within five standard deviations.
inline void expectMoments(std::span<const float> numbers, double mean,
                          double variance, double kurtosis) {
  double sum = 0, squares = 0, count = static_cast<double>(numbers.size());
  for (float number : numbers) {
    sum += number;
    squares += (number - mean) * (number - mean);
  }
  EXPECT_NEAR(sum / count, mean, 5 * std::sqrt(variance / count));
  EXPECT_NEAR(squares / count, variance,
              5 * variance * std::sqrt((kurtosis - 1) / count));
}

} // namespace dlc::test

#endif // DLC_TEST_EXECUTOR_RANDOMTESTING_H
