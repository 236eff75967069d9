// SPDX-License-Identifier: Apache-2.0
//
// Any text is a table or a message; what is a table is printed and read again.

#include "dlc/Tuning/Table.h"

#include <cstdlib>

using namespace dlc::tuning;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto table = parse({reinterpret_cast<const char *>(data), size});
  if (!table.isOk())
    return 0;
  auto again = parse(print(*table));
  if (!again.isOk() || *again != *table)
    std::abort();
  return 0;
}
