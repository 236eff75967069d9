// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the executor's tests: the object of Kernels.c, a small library
// and operations that fail or whose results have any shape.

#ifndef DLC_TEST_RUNTIME_EXECUTOR_TESTKERNELS_H
#define DLC_TEST_RUNTIME_EXECUTOR_TESTKERNELS_H

#include "dlc/runtime/Executor/Program.h"

#include <cstddef>
#include <vector>

namespace dlc::rt::test {

/// The shared object of Kernels.c with FACTOR 2, 3 or 4.
std::vector<std::byte> testObject(int factor = 2);

/// Library: "test.scale" multiplies by the attribute `factor`.
/// Operations: those of the runtime, and
///   refuse        fails
///   positives     the elements of a vector of f32 above 0
///   forget        promises a result of unknown shape and makes none
///   still         promises its input's type and touches nothing
///   twice_length  a vector of f32 to one twice as long
ProgramOptions testOptions();

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_EXECUTOR_TESTKERNELS_H
