// SPDX-License-Identifier: Apache-2.0
//
// Artifacts of every version load for ever and give the answers that they gave:
// each version has a frozen sample here.

#include "dlc/abi/Version.h"
#include "dlc/runtime/Executor/Execution.h"
#include "dlc/runtime/Executor/Program.h"
#include "dlc/runtime/IO/Numpy.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

using namespace dlc::rt;

static const std::string folder = DLC_TEST_COMPAT;

/// The samples of a version, `vN-NAME.dlc`.
static std::vector<std::string> samplesOf(uint32_t version) {
  std::string prefix = "v" + std::to_string(version) + "-";
  std::vector<std::string> paths;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".dlc" &&
        entry.path().filename().native().starts_with(prefix))
      paths.push_back(entry.path());
  return paths;
}

static void checkSample(const std::string &path, uint32_t version) {
  Result<Artifact> artifact = Artifact::open(path);
  ASSERT_TRUE(artifact.isOk()) << artifact.status().message();
  EXPECT_EQ(artifact->header().version, version);
  auto program = Program::create(std::move(*artifact));
  ASSERT_TRUE(program.isOk()) << program.status().message();
  auto execution = Execution::create(**program);
  ASSERT_TRUE(execution.isOk()) << execution.status().message();
  const bool isAttend = path.ends_with("-attend.dlc");
  const std::string values = folder + (isAttend ? "/attend-" : "/");
  Result<HostTensor> input = readNpy(values + "input.npy");
  Result<HostTensor> expected = readNpy(values + "expected.npy");
  ASSERT_TRUE(input.isOk() && expected.isOk());

  ASSERT_TRUE((*execution)->bindInput(0, input->view()).isOk());
  Status status = (*execution)->run();
  ASSERT_TRUE(status.isOk()) << status.message();
  TensorView found = (*execution)->output(0), wanted = expected->view();
  ASSERT_TRUE(std::ranges::equal(found.shape, wanted.shape));
  for (int64_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(found.as<float>()[i], wanted.as<float>()[i], 1e-5) << i;
}

/// Files from before inputs had roles call it `random`.
TEST(Compat, OldFilesHaveAStateOfRandomNumbers) {
  Result<Artifact> artifact = Artifact::open(folder + "/unmarked-random.dlc");
  ASSERT_TRUE(artifact.isOk()) << artifact.status().message();
  auto program = Program::create(std::move(*artifact));
  ASSERT_TRUE(program.isOk()) << program.status().message();
  ASSERT_EQ((*program)->inputs().size(), 1u);
  EXPECT_EQ((*program)->inputs()[0].name, "random");
  EXPECT_TRUE((*program)->inputs()[0].isRandomState);
}

TEST(Compat, EveryVersionHasASampleThatRuns) {
  for (uint32_t version = 1; version <= DLC_ARTIFACT_VERSION; ++version) {
    std::vector<std::string> paths = samplesOf(version);
    EXPECT_FALSE(paths.empty())
        << "version " << version << " has no frozen sample in " << folder;
    for (const std::string &path : paths) {
      SCOPED_TRACE(path);
      checkSample(path, version);
    }
  }
}
