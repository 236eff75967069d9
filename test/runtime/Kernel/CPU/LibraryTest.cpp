// SPDX-License-Identifier: Apache-2.0
//
// The lookup over libraries and the choice of the instruction set.

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"

#include <gtest/gtest.h>

using namespace dlc::rt;

TEST(LibraryTest, FindsEntriesByName) {
  for (const LibraryEntry &entry : cpu::libraryEntries()) {
    EXPECT_EQ(lookupLibraryEntry(entry.name), &entry);
    EXPECT_NE(entry.prepare, nullptr);
    EXPECT_NE(entry.isSupported, nullptr);
    EXPECT_NE(entry.cost, nullptr);
  }
  ASSERT_NE(lookupLibraryEntry("cpu.matmul"), nullptr);
  EXPECT_EQ(lookupLibraryEntry("cpu.matmu"), nullptr);
  EXPECT_EQ(lookupLibraryEntry(""), nullptr);
}

TEST(LibraryTest, ChoosesARunnableInstructionSet) {
  EXPECT_TRUE(cpu::canRun(cpu::Isa::Baseline));
  EXPECT_TRUE(cpu::canRun(cpu::bestIsa()));
  for (cpu::Isa isa :
       {cpu::Isa::Baseline, cpu::Isa::AVX2, cpu::Isa::AVX512, cpu::Isa::AMX})
    if (cpu::canRun(isa)) {
      EXPECT_GE(cpu::bestIsa(), isa);
    }
}
