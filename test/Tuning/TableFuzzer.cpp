// SPDX-License-Identifier: Apache-2.0
//
// Any text is a table or a message, also with a right first line and a right
// checksum; what is a table is printed and read again.

#include "dlc/Tuning/Table.h"
#include "dlc/runtime/Base/Hash.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

using namespace dlc::tuning;

static void check(std::string_view text) {
  auto table = parse(text);
  if (!table.isOk())
    return;
  auto again = parse(print(*table));
  if (!again.isOk() || *again != *table)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  check(text);
  std::string whole = "dlc-tuning 1\n" + text + "\n";
  char line[32];
  std::snprintf(line, sizeof line, "checksum %016" PRIx64 "\n",
                dlc::rt::xxHash64(std::as_bytes(std::span(whole))));
  check(whole + line);
  return 0;
}
