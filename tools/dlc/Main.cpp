// SPDX-License-Identifier: Apache-2.0
//
// dlc: compiles, runs, measures and explains neural networks.

#include "Command.h"

#include <cstdio>
#include <exception>
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
  } catch (const CLI::RequiredError &error) {
    // CLI11 calls an unknown command a missing one.
    auto isNamed = [&](CLI::App *command) {
      return command->check_name(argv[1]);
    };
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(isNamed).empty())
      throw Failure{"expected a command (see dlc --help), got '" +
                        std::string(argv[1]) + "'",
                    kBadUsage};
    return app.exit(error) == 0 ? kOk : kBadUsage;
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
  } catch (const std::exception &error) {
    // Of the standard library: a folder that cannot be listed, no threads.
    std::fprintf(stderr, "dlc: error: %s\n", error.what());
    return kBadInput;
  }
}
