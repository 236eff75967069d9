// SPDX-License-Identifier: Apache-2.0

#include "CommandLine.h"
#include "Command.h"

#include <CLI/CLI.hpp>

using namespace dlc::tool;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

template <typename T>
void Syntax::option(const char *names, T &value, const std::string &help) {
  app->add_option(names, value, help);
}

template <typename T>
void Syntax::required(const char *names, T &value, const std::string &help) {
  app->add_option(names, value, help)->required();
}

template <typename T>
void Syntax::positive(const char *names, T &value, const std::string &help) {
  app->add_option(names, value, help)->check(CLI::PositiveNumber);
}

void Syntax::flag(const char *names, bool &value, const std::string &help) {
  app->add_flag(names, value, help);
}

void Syntax::anything() {
  app->prefix_command();
  app->set_help_flag();
}

namespace dlc::tool {
using Text = std::string;
using Texts = std::vector<std::string>;
template void Syntax::option(const char *, Text &, const Text &);
template void Syntax::option(const char *, Texts &, const Text &);
template void Syntax::option(const char *, unsigned &, const Text &);
template void Syntax::option(const char *, int64_t &, const Text &);
template void Syntax::option(const char *, uint64_t &, const Text &);
template void Syntax::option(const char *, double &, const Text &);
template void Syntax::required(const char *, Text &, const Text &);
template void Syntax::required(const char *, Texts &, const Text &);
template void Syntax::positive(const char *, int64_t &, const Text &);
template void Syntax::positive(const char *, double &, const Text &);
} // namespace dlc::tool

//===----------------------------------------------------------------------===//
// CommandLine
//===----------------------------------------------------------------------===//

CommandLine::CommandLine()
    : app(std::make_unique<CLI::App>(
          "Compiles, runs, measures and explains neural networks")) {
  app->name("dlc");
  app->require_subcommand(1);
  app->set_version_flag("--version", "dlc " DLC_VERSION);
}

CommandLine::~CommandLine() = default;

Syntax CommandLine::add(const char *name, const std::string &summary,
                        std::function<int()> run) {
  CLI::App *command = app->add_subcommand(name, summary);
  command->callback([this, run = std::move(run)] { chosen = run; });
  return Syntax(*command);
}

int CommandLine::run(int argc, char **argv) {
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // CLI11 calls an unknown command a missing one.
    auto isNamed = [&](CLI::App *command) {
      return command->check_name(argv[1]);
    };
    if (error.get_exit_code() == int(CLI::ExitCodes::RequiredError) &&
        argc > 1 && argv[1][0] != '-' && app->get_subcommands(isNamed).empty())
      throw Failure{"expected a command (see dlc --help), got '" +
                        std::string(argv[1]) + "'",
                    kBadUsage};
    return app->exit(error) == 0 ? kOk : kBadUsage;
  }
  return chosen();
}
