// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: any bytes as the plan of an artifact. The header around
// them is right, so that the fuzzer need not find a checksum, and the mutator
// starts from a good plan. Machine code is not loaded.

#include "../ProgramBuilder.h"
#include "dlc/runtime/Executor/Program.h"

using namespace dlc::rt;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

/// `plan` as a file with a page of constants.
static AlignedBuffer wrap(std::span<const std::byte> plan, uint32_t version) {
  DlcArtifactHeader header = {};
  std::memcpy(header.magic, DLC_ARTIFACT_MAGIC, sizeof(header.magic));
  header.version = version;
  header.header_size = sizeof(header);
  header.plan_offset = sizeof(header);
  header.plan_size = plan.size();
  header.constants_offset =
      alignUp(sizeof(header) + plan.size(), DLC_ARTIFACT_PAGE);
  header.constants_size = DLC_ARTIFACT_PAGE;
  header.file_size = header.constants_offset + header.constants_size;
  header.checksum = artifactChecksum(header, plan);
  AlignedBuffer file = std::move(*AlignedBuffer::allocate(header.file_size));
  std::memset(file.data(), 0, file.size());
  std::memcpy(file.data(), &header, sizeof(header));
  if (!plan.empty())
    std::memcpy(file.data() + sizeof(header), plan.data(), plan.size());
  return file;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t limit, unsigned) {
  static const AlignedBuffer seeds[] = {
      test::addReluBuilder().write(), test::batchBuilder().write(),
      test::shapesBuilder().write(), test::paddedBuilder().write(),
      test::paddedBuilder(/*takesAny=*/true).write()};
  const AlignedBuffer &seed = seeds[size % std::size(seeds)];
  DlcArtifactHeader header;
  std::memcpy(&header, seed.data(), sizeof(header));
  if (size < 64 && header.plan_size <= limit) {
    size = header.plan_size;
    std::memcpy(data, seed.data() + header.plan_offset, size);
  }
  return LLVMFuzzerMutate(data, size, limit);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (uint32_t version = 1; version <= DLC_ARTIFACT_VERSION; ++version) {
    AlignedBuffer file = wrap(std::as_bytes(std::span(data, size)), version);
    Result<Artifact> artifact = Artifact::fromMemory(file.bytes());
    if (!artifact.isOk())
      continue;
    ProgramOptions options;
    options.loadsCode = false;
    (void)Program::create(std::move(*artifact), options);
  }
  return 0;
}
