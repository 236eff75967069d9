// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: any bytes as a list of MXNet's arrays. What is read is
// written again, which must give the same bytes, and made dense.

#include "../TemporaryFolder.h"
#include "dlc/runtime/IO/Params.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const TemporaryFolder folder;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  Result<ParamsList> list = parseParams(bytes);
  if (!list.isOk())
    return 0;
  for (const ParamsArray &array : list->arrays)
    (void)toDense(array, 1 << 20);
  std::string path = folder / "list.params";
  if (!writeParams(path, list->arrays, list->isNamed).isOk())
    __builtin_trap();
  Result<MappedFile> written = MappedFile::open(path);
  if (!written.isOk() || !std::ranges::equal(written->bytes(), bytes))
    __builtin_trap();
  return 0;
}
