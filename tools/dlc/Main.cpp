// SPDX-License-Identifier: Apache-2.0
//
// dlc: compiles, runs, measures and explains neural networks.

#include "Command.h"
#include "Output.h"

#include <cstdio>
#include <exception>
#include <new>

using namespace dlc::tool;

static int dispatch(int argc, char **argv) {
  CommandLine line;
  for (auto add : {addCompile, addRun, addBench, addTest, addTrain, addExplain,
                   addDump, addPlanMemory, addExport, addImportReport})
    add(line);
  int result = line.run(argc, argv);
  finishStandardOutput();
  return result;
}

int main(int argc, char **argv) {
  prepareStreams();
  try {
    try {
      return dispatch(argc, argv);
    } catch (const NeedsCompiler &) {
      return delegate(argv);
    }
  } catch (const Failure &failure) {
    std::fflush(stdout);
    std::fprintf(stderr, "dlc: error: %s\n", failure.message.c_str());
    return failure.exitCode;
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "dlc: error: out of memory\n");
    return kBadInput;
  } catch (const std::exception &error) {
    // Of the standard library: a folder that cannot be listed, no threads.
    std::fprintf(stderr, "dlc: error: %s\n", error.what());
    return kBadInput;
  }
}
