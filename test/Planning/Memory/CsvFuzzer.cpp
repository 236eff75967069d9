// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: any text is refused with a reason, or gives a problem that
// reads back from its own writing and whose packing is valid.

#include "dlc/Planning/Memory/Csv.h"
#include "dlc/Planning/Memory/InPlace.h"
#include "dlc/Planning/Memory/Validator.h"

#include <cstdio>
#include <cstdlib>

using namespace dlc::planning;

namespace {

void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "expected %s\n", what);
  std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  Problem problem;
  if (Error error = readCsv(text, problem)) {
    require(!error->empty(), "a reason");
    return 0;
  }
  require(!checkProblem(problem), "a well-formed problem");
  Problem again;
  require(!readCsv(writeCsv(problem), again), "text that reads back");
  require(again == problem, "the same problem");
  if (problem.buffers.size() > 100)
    return 0;
  const Solution solution = solve(problem, {.steps = 500});
  require(!validate(problem, solution), "a valid packing");
  require(lowerBound(problem) <= solution.lowerBound, "a bound that holds");
  return 0;
}
