// SPDX-License-Identifier: Apache-2.0

#include "../ProgramBuilder.h"
#include "TestKernels.h"
#include "dlc/runtime/Executor/Execution.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::test;

TEST(Trace, RecordsEachLaunch) {
  ProgramBuilder builder = addReluBuilder();
  builder.program.launches[0]->label = "a \"b\"\n";
  builder.program.launches[1]->label = "";
  builder.program.kernels[0]->flops = 6;
  AlignedBuffer bytes = builder.write();
  auto program = std::move(*Program::create(
      std::move(*Artifact::fromMemory(bytes.bytes())), testOptions()));
  auto execution = std::move(*Execution::create(*program));
  float x[6] = {};
  int64_t shape[] = {2, 3};
  ASSERT_TRUE(execution->bindInput(0, {DLC_F32, shape, x}).isOk());
  TraceRecorder trace(*program, /*capacity=*/3);
  EXPECT_EQ(trace.toJSON(),
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n");
  execution->setObserver(&trace);
  ASSERT_TRUE(execution->run().isOk());
  ASSERT_TRUE(execution->run().isOk());
  EXPECT_EQ(trace.dropped(), 1u);
  execution->setObserver(nullptr);
  ASSERT_TRUE(execution->run().isOk());
  EXPECT_EQ(trace.dropped(), 1u);
  std::string json = trace.toJSON();
  EXPECT_NE(json.find("{\"name\":\"a \\\"b\\\"\\u000a\",\"ph\":\"X\",\"pid\":0,"
                      "\"tid\":0,\"ts\":0.000,"),
            std::string::npos)
      << json;
  // Without a label the kernel names the event.
  EXPECT_NE(json.find("{\"name\":\"reference.relu\""), std::string::npos);
  EXPECT_NE(json.find("\"args\":{\"launch\":0,\"flops\":6,\"bytes\":0,"
                      "\"kernel\":\"reference.add\"}}"),
            std::string::npos);
}

TEST(Trace, SaysWhenItCannotWrite) {
  ProgramBuilder builder = addReluBuilder();
  AlignedBuffer bytes = builder.write();
  auto program = std::move(*Program::create(
      std::move(*Artifact::fromMemory(bytes.bytes())), testOptions()));
  TraceRecorder trace(*program);
  EXPECT_EQ(trace.write("/no/such/folder/t.json").code(),
            StatusCode::Unavailable);
}
