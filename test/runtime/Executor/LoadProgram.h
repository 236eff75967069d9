// SPDX-License-Identifier: Apache-2.0
//
// Programs out of bytes, for tests.

#ifndef DLC_TEST_RUNTIME_EXECUTOR_LOADPROGRAM_H
#define DLC_TEST_RUNTIME_EXECUTOR_LOADPROGRAM_H

#include "TestKernels.h"

#include <gtest/gtest.h>

#include <memory>

namespace dlc::rt::test {

/// The program in `bytes`, which outlive it.
inline std::unique_ptr<Program>
loadProgram(const AlignedBuffer &bytes,
            const ProgramOptions &options = testOptions()) {
  Result<Artifact> artifact = Artifact::fromMemory(bytes.bytes());
  EXPECT_TRUE(artifact.isOk()) << artifact.status().message();
  auto program = Program::create(std::move(*artifact), options);
  EXPECT_TRUE(program.isOk()) << program.status().message();
  return std::move(*program);
}

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_EXECUTOR_LOADPROGRAM_H
