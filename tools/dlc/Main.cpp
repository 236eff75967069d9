// SPDX-License-Identifier: Apache-2.0
//
// dlc: compiles, runs, measures and explains neural networks.

#include "Command.h"

#include <cstdio>
#include <new>

using namespace dlc::tool;

static int dispatch(int argc, char **argv) {
  CLI::App app("Compiles, runs, measures and explains neural networks");
  app.name("dlc");
  app.require_subcommand(1);
  app.set_version_flag("--version", "dlc " DLC_VERSION);
  Action run;
  for (auto add : {addCompile, addRun, addBench, addTest, addExplain, addDump,
                   addPlanMemory, addLater})
    add(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kOk : kBadUsage;
  }
  return run();
}

int main(int argc, char **argv) {
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
  }
}
