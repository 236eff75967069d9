// SPDX-License-Identifier: Apache-2.0
//
// Mutated plans, all the way: what loads is run. Sanitizers watch.

#include "../ProgramBuilder.h"
#include "TestKernels.h"
#include "dlc/runtime/Executor/Execution.h"

#include <gtest/gtest.h>
#include <random>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

/// Every kind of value and of kernel but machine code.
ProgramBuilder everythingBuilder() {
  ProgramBuilder builder = addReluBuilder();
  int v = builder.input("v", DLC_F32, {-1});
  int kept = builder.pool(DLC_F32, {-1});
  int longer = builder.output("longer", DLC_F32, {-1});
  int scaled = builder.output("scaled", DLC_F32, {2, 3});
  builder.reference("positives", {v}, {kept});
  builder.reference("twice_length", {kept}, {longer});
  int scale = builder.kernel(KernelKind::Library, "test.scale");
  builder.setInt(scale, "factor", 2);
  builder.launch(scale, {2}, {scaled});
  int axes = builder.constant<int64_t>(DLC_I64, {2}, {3, 2});
  int reshaped = builder.output("reshaped", DLC_F32, {3, 2});
  builder.reference("reshape", {2, axes}, {reshaped});
  int copied = builder.output("copied", DLC_F32, {-1});
  builder.launch(builder.kernel(KernelKind::Copy, "c"), {longer}, {copied});
  return builder;
}

/// Binds zeros of whatever shape is asked, within reason.
void tryToRun(const Program &program) {
  auto execution = Execution::create(program);
  if (!execution.isOk())
    return;
  std::vector<AlignedBuffer> memory;
  for (size_t i = 0; i != program.inputs().size(); ++i) {
    TensorType type = program.inputs()[i].type;
    for (int64_t &dim : type.shape)
      dim = dim < 0 ? 3 : dim;
    size_t bytes =
        elementCount(type.shape).value_or(1 << 30) * sizeOf(type.type);
    if (bytes > 1 << 20)
      return;
    memory.push_back(std::move(*AlignedBuffer::allocate(bytes)));
    std::memset(memory.back().data(), 0, bytes);
    if (!(*execution)
             ->bindInput(i, {type.type, type.shape, memory.back().data()})
             .isOk())
      return;
  }
  (void)(*execution)->run();
}

} // namespace

static void runMutated(ProgramBuilder builder) {
  AlignedBuffer original = builder.write();
  AlignedBuffer file = std::move(*AlignedBuffer::allocate(original.size()));
  DlcArtifactHeader header;
  std::memcpy(&header, original.data(), sizeof(header));
  std::mt19937 random(1729);
  size_t loaded = 0;
  for (int round = 0; round != 10000; ++round) {
    std::memcpy(file.data(), original.data(), file.size());
    for (int i = round ? random() % 3 : -1; i >= 0; --i)
      file.data()[header.plan_offset + random() % header.plan_size] ^=
          std::byte(1 << random() % 8);
    header.checksum = artifactChecksum(
        header, file.bytes().subspan(header.plan_offset, header.plan_size));
    std::memcpy(file.data(), &header, sizeof(header));
    Result<Artifact> artifact = Artifact::fromMemory(file.bytes());
    if (!artifact.isOk())
      continue;
    auto program = Program::create(std::move(*artifact), testOptions());
    if (!program.isOk()) {
      ASSERT_NE(round, 0) << program.status().message();
      continue;
    }
    ++loaded;
    tryToRun(**program);
  }
  EXPECT_GT(loaded, 100u);
}

TEST(Mutation, WhatLoadsCanBeRun) { runMutated(everythingBuilder()); }

TEST(Mutation, OfABatch) { runMutated(batchBuilder()); }

TEST(Mutation, OfSeveralShapes) { runMutated(shapesBuilder()); }

TEST(Mutation, OfSmallerShapes) { runMutated(paddedBuilder()); }

TEST(Mutation, OfAnyShapes) { runMutated(paddedBuilder(/*takesAny=*/true)); }
