// SPDX-License-Identifier: Apache-2.0
//
// Any bytes give an error, or a symbol that is written to a file that reads
// back as the same one, and that inference accepts or refuses in words. So it
// does what is sound of a file that has faults.

#include "dlc/Symbol/Inference.h"
#include "dlc/Symbol/Json.h"

#include <cstdint>
#include <cstdlib>

using namespace dlc;
using namespace dlc::symbol;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view file{reinterpret_cast<const char *>(data), size};
  rt::Result<Symbol> symbol = fromJson(file);
  if (!symbol.isOk()) {
    require(!symbol.status().message().empty());
    FileFaults faults;
    require(!fromJson(file, &faults).isOk());
    auto rest = inferShapes(faults.rest, {}, Completeness::Partial);
    require(rest.isOk() || !rest.status().message().empty());
    return 0;
  }
  rt::Result<std::string> text = toJson(*symbol);
  require(text.isOk());
  rt::Result<Symbol> again = fromJson(*text);
  require(again.isOk() && again->print() == symbol->print());
  auto inferred = inferShapes(*symbol, {}, Completeness::Partial);
  require(inferred.isOk() || !inferred.status().message().empty());
  return 0;
}
