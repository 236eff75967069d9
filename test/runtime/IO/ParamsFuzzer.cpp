// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: any bytes as a list of MXNet's arrays. What is read is
// written again, which must give the same bytes, and made dense.

#include "dlc/runtime/IO/Params.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

using namespace dlc::rt;

namespace {
/// A folder that goes away with the process.
struct Folder {
  Folder() {
    char name[] = "/tmp/dlc-params-fuzzer-XXXXXX";
    if (!mkdtemp(name))
      std::abort();
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Folder folder;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  Result<ParamsList> list = parseParams(bytes);
  if (!list.isOk())
    return 0;
  for (const ParamsArray &array : list->arrays)
    (void)toDense(array, 1 << 20);
  std::string path = folder.path + "/list.params";
  if (!writeParams(path, list->arrays, list->isNamed).isOk())
    __builtin_trap();
  Result<MappedFile> written = MappedFile::open(path);
  if (!written.isOk() || !std::ranges::equal(written->bytes(), bytes))
    __builtin_trap();
  return 0;
}
