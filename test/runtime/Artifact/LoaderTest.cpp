// SPDX-License-Identifier: Apache-2.0
//
// Reading files, good and bad.

#include "dlc/runtime/Artifact/Loader.h"
#include "../ProgramBuilder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

using Bytes = std::span<std::byte>;

/// A copy of a good artifact, for spoiling.
AlignedBuffer goodFile() { return addReluBuilder().write(); }

DlcArtifactHeader headerOf(Bytes file) {
  DlcArtifactHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  return header;
}

/// Puts `header` in front of `file`, with its checksum when the plan is there.
void setHeader(Bytes file, DlcArtifactHeader header) {
  if (header.plan_offset <= file.size() &&
      header.plan_size <= file.size() - header.plan_offset)
    header.checksum = artifactChecksum(
        header, file.subspan(header.plan_offset, header.plan_size));
  std::memcpy(file.data(), &header, sizeof(header));
}

/// Why the file is refused; empty when it is not.
std::string failureOf(Bytes file) {
  Result<Artifact> artifact = Artifact::fromMemory(file);
  return artifact.isOk() ? "" : artifact.status().message();
}

/// Why the file with a changed header is refused.
template <typename Change> std::string failureWith(Change change) {
  AlignedBuffer file = goodFile();
  DlcArtifactHeader header = headerOf(file.bytes());
  change(header);
  setHeader(file.bytes(), header);
  return failureOf(file.bytes());
}

/// A file that goes away with the test.
class TemporaryFile {
public:
  explicit TemporaryFile(Bytes bytes) {
    int descriptor = mkstemp(name);
    EXPECT_EQ(::write(descriptor, bytes.data(), bytes.size()),
              ssize_t(bytes.size()));
    ::close(descriptor);
  }
  ~TemporaryFile() { std::filesystem::remove(name); }
  char name[32] = "/tmp/dlc-test-XXXXXX";
};

} // namespace

TEST(Loader, ReadsWhatTheWriterWrote) {
  AlignedBuffer file = goodFile();
  TemporaryFile onDisk(file.bytes());
  Result<Artifact> mapped = Artifact::open(onDisk.name);
  Result<Artifact> borrowed = Artifact::fromMemory(file.bytes());
  ASSERT_TRUE(mapped.isOk()) << mapped.status().message();
  ASSERT_TRUE(borrowed.isOk()) << borrowed.status().message();
  for (Artifact *artifact : {&*mapped, &*borrowed}) {
    EXPECT_EQ(artifact->program().launches()->size(), 2u);
    EXPECT_EQ(artifact->program().launches()->Get(1)->label()->str(), "relu1");
    ASSERT_EQ(artifact->constants().size(), 12u);
    float w[3];
    std::memcpy(w, artifact->constants().data(), sizeof(w));
    EXPECT_EQ(w[1], -2.f);
    EXPECT_TRUE(isAligned(artifact->constants().data(), DLC_ALIGNMENT));
  }
}

TEST(Loader, RefusesFilesItCannotRead) {
  Result<Artifact> missing = Artifact::open("/no/such/file");
  ASSERT_FALSE(missing.isOk());
  EXPECT_EQ(missing.status().code(), StatusCode::NotFound);
  EXPECT_EQ(missing.status().message(),
            "/no/such/file: cannot open the file: No such file or directory");
  Result<Artifact> folder = Artifact::open("/tmp");
  ASSERT_FALSE(folder.isOk());
  EXPECT_EQ(folder.status().message(),
            "/tmp: expected a regular file, found a folder");
}

TEST(Loader, ChecksEveryFieldOfTheHeader) {
  using Header = DlcArtifactHeader;
  EXPECT_EQ(failureWith([](Header &) {}), "");
  EXPECT_EQ(failureWith([](Header &h) { h.magic[0] = 'X'; }),
            "not a compiled program: the magic bytes differ");
  EXPECT_EQ(failureWith([](Header &h) { h.magic[7] = 'X'; }),
            "not a compiled program: the magic bytes differ");
  EXPECT_EQ(failureWith([](Header &h) { h.version = 0; }),
            "expected a version, got 0");
  EXPECT_EQ(failureWith([](Header &h) { h.version = 7; }),
            "artifact version 7 is newer than 6, the newest that this runtime "
            "reads");
  EXPECT_EQ(failureWith([](Header &h) { h.header_size = 32; }),
            "expected a header of 64 bytes, got 32");
  EXPECT_EQ(failureWith([](Header &h) { h.file_size += 1; }),
            "expected 4109 bytes, got 4108");
  EXPECT_EQ(failureWith([](Header &h) { h.plan_offset += 4; }),
            "expected the plan at a multiple of 8, got offset 68");
  EXPECT_EQ(
      failureWith([](Header &h) {
        h.plan_offset = 0;
        h.plan_size = 8;
      }),
      "the plan section of 8 bytes at 0 is outside the file of 4108 bytes");
  EXPECT_NE(failureWith([](Header &h) { h.plan_offset = 1 << 20; }), "");
  EXPECT_NE(failureWith([](Header &h) { h.plan_size = -8; }), "");
  EXPECT_EQ(failureWith([](Header &h) { h.plan_size = 8; }),
            "expected a plan below 2 GiB, got 8 bytes");
  EXPECT_NE(failureWith([](Header &h) { h.plan_size -= 8; }), "");
  EXPECT_EQ(failureWith([](Header &h) { h.constants_offset = 2048; }),
            "expected the constants at a multiple of 4096, got offset 2048");
  EXPECT_EQ(failureWith([](Header &h) { h.constants_offset = 8192; }),
            "the constants section of 12 bytes at 8192 is outside the file of "
            "4108 bytes");
  EXPECT_EQ(failureWith([](Header &h) { h.constants_size = 13; }),
            "the constants section of 13 bytes at 4096 is outside the file of "
            "4108 bytes");
  EXPECT_EQ(failureWith([](Header &h) { h.constants_size = 11; }),
            "value 1: 12 bytes at 0 leave the Constant of 11 bytes");
  AlignedBuffer file = goodFile();
  file.data()[56] ^= std::byte(1);
  EXPECT_EQ(failureOf(file.bytes()), "the checksum of header and plan differs");
}

TEST(Loader, NewerVersionsAreUnsupportedNotCorrupt) {
  AlignedBuffer file = goodFile();
  file.data()[8] = std::byte(DLC_ARTIFACT_VERSION + 1);
  EXPECT_EQ(Artifact::fromMemory(file.bytes()).status().code(),
            StatusCode::Unsupported);
}

TEST(Loader, RefusesMisalignedBytes) {
  AlignedBuffer file = goodFile();
  EXPECT_EQ(Artifact::fromMemory(file.bytes().subspan(8)).status().code(),
            StatusCode::InvalidArgument);
}

TEST(Loader, RefusesTruncationAtEveryLength) {
  AlignedBuffer whole = goodFile();
  for (size_t length = 0; length != whole.size(); ++length) {
    // A copy of its own, so that a read past the end is seen.
    Result<AlignedBuffer> part = AlignedBuffer::allocate(length);
    ASSERT_TRUE(part.isOk());
    if (length)
      std::memcpy(part->data(), whole.data(), length);
    ASSERT_NE(failureOf(part->bytes()), "") << length;
    if (length < sizeof(DlcArtifactHeader))
      continue;
    // The same with a header that agrees to the length.
    DlcArtifactHeader header = headerOf(part->bytes());
    header.file_size = length;
    setHeader(part->bytes(), header);
    ASSERT_NE(failureOf(part->bytes()), "") << length;
  }
}

TEST(Loader, NoticesEveryFlippedByteOfHeaderAndPlan) {
  AlignedBuffer file = goodFile();
  DlcArtifactHeader header = headerOf(file.bytes());
  size_t end = header.plan_offset + header.plan_size;
  for (size_t i = 0; i != end; ++i) {
    file.data()[i] ^= std::byte(0x10);
    ASSERT_NE(failureOf(file.bytes()), "") << i;
    file.data()[i] ^= std::byte(0x10);
  }
  EXPECT_EQ(failureOf(file.bytes()), "");
}

TEST(Loader, VerifyReadsObjectsAndConstants) {
  ProgramBuilder builder = addReluBuilder();
  std::vector<std::byte> object(100, std::byte(1));
  builder.object(object);
  builder.constant(DLC_F32, {3}, std::vector<float>{1, 2, 3});
  builder.constant(DLC_F32, {1}, std::vector<float>{4});
  AlignedBuffer file = builder.write();
  Result<Artifact> artifact = Artifact::fromMemory(file.bytes());
  ASSERT_TRUE(artifact.isOk());
  EXPECT_TRUE(artifact->verify().isOk());
  auto failureAt = [&](const std::byte *at) {
    std::byte &changed = const_cast<std::byte &>(*at);
    changed ^= std::byte(1);
    Status status = artifact->verify();
    changed ^= std::byte(1);
    EXPECT_EQ(status.code(), StatusCode::DataLoss);
    return status.message();
  };
  EXPECT_EQ(failureAt(&artifact->object(0)[50]),
            "the checksum of object 0 differs");
  // The padding between constants counts too.
  for (size_t i = 0; i != artifact->constants().size(); ++i)
    EXPECT_EQ(failureAt(&artifact->constants()[i]),
              "the checksum of the constants differs")
        << i;
}

// The checksum keeps accidents away from what is behind it; here it agrees
// each time. Whatever comes is refused or is a legal plan: no crash.
TEST(Loader, SurvivesMutatedPlans) {
  AlignedBuffer original = goodFile();
  AlignedBuffer file = goodFile();
  DlcArtifactHeader header = headerOf(original.bytes());
  std::mt19937 random(20220307);
  size_t accepted = 0;
  for (int round = 0; round != 10000; ++round) {
    std::memcpy(file.data(), original.data(), file.size());
    for (int i = random() % 4; i >= 0; --i) {
      std::byte &target =
          file.data()[header.plan_offset + random() % header.plan_size];
      target = random() % 2 ? std::byte(random())
                            : target ^ std::byte(1 << random() % 8);
    }
    setHeader(file.bytes(), header);
    accepted += failureOf(file.bytes()).empty();
  }
  // Names, notes and models of cost may be anything, so some must pass, but
  // most bytes count.
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, 5000u);
}
