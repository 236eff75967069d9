// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Artifact/Writer.h"
#include "../ProgramBuilder.h"
#include "../TemporaryFolder.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace dlc::rt;
using namespace dlc::rt::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::byte> repeated(size_t count, int value) {
  return std::vector<std::byte>(count, std::byte(value));
}

} // namespace

TEST(Writer, IsDeterministicInMemoryAndOnDisk) {
  TemporaryFolder folder;
  ProgramBuilder first = addReluBuilder(), second = addReluBuilder();
  ASSERT_TRUE(writeArtifact(first.contents(), folder / "a.dlc").isOk());
  AlignedBuffer memory = second.write();
  std::string disk = contentsOf(folder / "a.dlc");
  ASSERT_EQ(disk.size(), memory.size());
  EXPECT_EQ(std::memcmp(disk.data(), memory.data(), disk.size()), 0);
  // Writing again from the plan that the writer has filled in: the same.
  ASSERT_TRUE(writeArtifact(first.contents(), folder / "b.dlc").isOk());
  EXPECT_EQ(contentsOf(folder / "b.dlc"), disk);
  EXPECT_EQ(folder.count(), 2u);
}

TEST(Writer, PlacesSectionsOnPages) {
  ProgramBuilder builder = addReluBuilder();
  std::vector<std::byte> small = repeated(100, 1), large = repeated(5000, 2);
  builder.object(small, {"avx2", "fma"});
  builder.object(large);
  builder.constant<double>(DLC_F64, {2}, {1.5, 2.5});
  AlignedBuffer file = builder.write();
  Result<Artifact> artifact = Artifact::fromMemory(file.bytes());
  ASSERT_TRUE(artifact.isOk()) << artifact.status().message();
  const dlc::abi::Program &plan = artifact->program();
  EXPECT_EQ(plan.objects()->Get(0)->offset() % DLC_ARTIFACT_PAGE, 0u);
  EXPECT_EQ(plan.objects()->Get(1)->offset() % DLC_ARTIFACT_PAGE, 0u);
  EXPECT_EQ(plan.objects()->Get(0)->features()->Get(1)->str(), "fma");
  EXPECT_TRUE(std::ranges::equal(artifact->object(0), small));
  EXPECT_TRUE(std::ranges::equal(artifact->object(1), large));
  EXPECT_EQ(artifact->header().constants_offset % DLC_ARTIFACT_PAGE, 0u);
  // The second constant is at the next multiple of 64; the gap is zero.
  ASSERT_EQ(artifact->constants().size(), 64u + 16u);
  EXPECT_EQ(artifact->constants()[12], std::byte(0));
  double value;
  std::memcpy(&value, artifact->constants().data() + 72, sizeof(value));
  EXPECT_EQ(value, 2.5);
}

TEST(Writer, LeavesNothingBehindWhenItFails) {
  TemporaryFolder folder;
  std::string path = folder / "a.dlc";
  ASSERT_TRUE(writeArtifact(addReluBuilder().contents(), path).isOk());
  std::string before = contentsOf(path);
  ProgramBuilder bad = addReluBuilder();
  bad.program.launches[0]->kernel = 99;
  Status status = writeArtifact(bad.contents(), path);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "launch 0: kernel 99 does not exist");
  EXPECT_EQ(contentsOf(path), before);
  // A folder in the way.
  fs::create_directory(folder / "taken");
  status = writeArtifact(addReluBuilder().contents(), folder / "taken");
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(folder.count(), 2u);
  EXPECT_EQ(writeArtifact(addReluBuilder().contents(), "/no/such/a").code(),
            StatusCode::Unavailable);
}

TEST(Writer, GivesFilesTheUsualMode) {
  TemporaryFolder folder;
  mode_t mask = umask(022);
  ASSERT_TRUE(
      writeArtifact(addReluBuilder().contents(), folder / "a.dlc").isOk());
  umask(mask);
  struct stat facts;
  ASSERT_EQ(stat((folder / "a.dlc").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0644u);
}

TEST(Writer, RefusesConstantsOutOfPlace) {
  ProgramBuilder builder = addReluBuilder();
  std::vector<std::byte> bytes = repeated(8, 0);
  builder.constants.push_back({8, bytes}); // Inside the first one.
  EXPECT_EQ(writeArtifact(builder.contents()).status().message(),
            "expected a constant at or after 12, got 8");
  builder.constants.back().offset = 64;
  EXPECT_EQ(writeArtifact(builder.contents()).status().message(),
            "a constant of 8 bytes at 64 leaves the section of 12 bytes");
  builder.constants.back().offset = UINT64_MAX - 3;
  EXPECT_EQ(writeArtifact(builder.contents()).status().code(),
            StatusCode::InvalidArgument);
}

TEST(Writer, RefusesMissingObjects) {
  ProgramBuilder builder = addReluBuilder();
  builder.object({});
  builder.objects.clear();
  EXPECT_EQ(writeArtifact(builder.contents()).status().message(),
            "expected 1 objects, got 0");
}

TEST(Writer, RepeatsPatterns) {
  // 100,000 times three bytes: more than one block of the writer's.
  std::vector<std::byte> pattern = {std::byte(1), std::byte(2), std::byte(3)};
  std::vector<std::byte> whole;
  for (int i = 0; i < 100000; ++i)
    whole.insert(whole.end(), pattern.begin(), pattern.end());
  ProgramBuilder repeated = addReluBuilder(), plain = addReluBuilder();
  uint64_t offset = (plain.constantBytes + 63) & ~uint64_t(63);
  repeated.constants.push_back({offset, pattern, 100000});
  plain.constants.push_back({offset, whole});
  repeated.constantBytes = plain.constantBytes = offset + whole.size();
  AlignedBuffer first = repeated.write(), second = plain.write();
  ASSERT_EQ(first.size(), second.size());
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size()), 0);
}

TEST(Writer, RefusesPatternsThatLeaveTheSection) {
  std::vector<std::byte> pattern = repeated(8, 1);
  for (uint64_t repeats : {uint64_t(2), uint64_t(1) << 61, ~uint64_t(0)}) {
    ProgramBuilder builder = addReluBuilder();
    uint64_t offset = (builder.constantBytes + 63) & ~uint64_t(63);
    builder.constants.push_back({offset, pattern, repeats});
    builder.constantBytes = offset + 8;
    Status status = std::move(writeArtifact(builder.contents()).status());
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_NE(status.message().find("leaves the section"), std::string::npos)
        << status.message();
  }
}
