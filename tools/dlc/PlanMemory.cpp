// SPDX-License-Identifier: Apache-2.0
//
// dlc plan-memory: packs the buffers of a CSV file.

#include "Command.h"

#include "dlc/Planning/Memory/Csv.h"
#include "dlc/runtime/Base/File.h"

#include <cstdio>

using namespace dlc;
using namespace dlc::tool;

namespace {
struct PlanMemoryCommand {
  std::string input, output;
  int64_t capacity = 0, steps = 300'000;
  int run();
};
} // namespace

int PlanMemoryCommand::run() {
  bool isPrinted = isStandardOutput(output);
  checkOutputs({{"the problem", input}}, {{"-o", isPrinted ? "" : output}});
  rt::MappedFile file = take(rt::MappedFile::open(input));
  std::string_view problem(reinterpret_cast<const char *>(file.bytes().data()),
                           file.bytes().size());
  planning::SolverOptions options;
  options.steps = steps;
  std::optional<int64_t> limit;
  if (capacity > 0)
    limit = capacity;
  std::string text;
  planning::PlanReport report;
  if (planning::Error error =
          planning::planCsv(problem, limit, options, text, report))
    throw Failure{input + ": " + *error};
  if (!output.empty())
    writeOutput(output, text);
  // A file on standard output is to stay one.
  std::fprintf(isPrinted ? stderr : stdout, "%s\n", report.summary().c_str());
  return kOk;
}

void dlc::tool::addPlanMemory(CommandLine &line) {
  auto command = std::make_shared<PlanMemoryCommand>();
  Syntax syntax = line.add("plan-memory", "Pack the buffers of a CSV file",
                           [command] { return command->run(); });
  syntax.required("problem", command->input,
                  "CSV with columns id, lower, upper, size");
  syntax.option("-o,--output", command->output,
                "Write the problem with a column of offsets");
  syntax.positive("--capacity", command->capacity,
                  "Bytes to fit into; without it the smallest arena is sought");
  syntax.option("--steps", command->steps, "Branches the search may expand",
                {.least = 0});
}
