// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: any bytes as a list of MXNet's arrays or as a dictionary
// of NNVM's tensors. What is read is made dense and written. A list gives the
// same bytes again; a dictionary, which is written as a list, the same arrays.

#include "../TemporaryFolder.h"
#include "dlc/runtime/IO/Params.h"

#include <algorithm>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::test;

static bool isDictionary(std::span<const std::byte> bytes) {
  constexpr uint64_t magic = 0xF7E58D4F05049CB7;
  return bytes.size() >= sizeof(magic) &&
         std::memcmp(bytes.data(), &magic, sizeof(magic)) == 0;
}

static std::string_view bytesOf(const ParamsBlock &block) {
  return {static_cast<const char *>(block.data), block.view().bytes()};
}

/// Of dense arrays.
static bool areEqual(const ParamsArray &a, const ParamsArray &b) {
  return a.name == b.name && a.version == b.version && a.device == b.device &&
         a.type.type == b.type.type && a.type.shape == b.type.shape &&
         bytesOf(a.values) == bytesOf(b.values);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const TemporaryFolder folder;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  Result<ParamsList> list = parseParams(bytes);
  if (!list.isOk())
    return 0;
  for (const ParamsArray &array : list->arrays)
    (void)toDense(array, 1 << 20);
  std::string path = folder / "list.params";
  Status status = writeParams(path, list->arrays, list->isNamed);
  if (isDictionary(bytes)) {
    // It has element types that MXNet's lists do not have.
    if (status.code() == StatusCode::Unsupported)
      return 0;
    Result<ParamsList> again = readParams(path);
    if (!status.isOk() || !again.isOk() ||
        !std::ranges::equal(again->arrays, list->arrays, areEqual))
      __builtin_trap();
    return 0;
  }
  Result<MappedFile> written = MappedFile::open(path);
  if (!status.isOk() || !written.isOk() ||
      !std::ranges::equal(written->bytes(), bytes))
    __builtin_trap();
  return 0;
}
