// SPDX-License-Identifier: Apache-2.0
//
// dlc without the compiler: commands that need it run in dlc-compiler, the
// program beside this one. Loading MLIR takes 30 ms and 80 MB, which running a
// compiled program should not pay.

#include "Command.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace dlc::tool;
namespace fs = std::filesystem;

LoadedModel dlc::tool::compileModel(const ModelOptions &, const NamedTensors &) {
  throw NeedsCompiler();
}

/// Commands whose own options only the other program knows.
static void addDelegated(CLI::App &app, Action &run, const char *name,
                         const char *summary) {
  CLI::App *sub = app.add_subcommand(name, summary);
  sub->prefix_command();
  sub->set_help_flag();
  sub->callback([&run] { run = []() -> int { throw NeedsCompiler(); }; });
}

void dlc::tool::addCompile(CLI::App &app, Action &run) {
  addDelegated(app, run, "compile", "Compile a model");
}

void dlc::tool::addTest(CLI::App &app, Action &run) {
  addDelegated(app, run, "test", "Run ONNX conformance folders");
}

int dlc::tool::delegate(char **argv) {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  fs::path compiler = self.parent_path() / "dlc-compiler";
  execv(compiler.c_str(), argv);
  throw Failure{"this command needs the compiler: cannot run '" +
                compiler.native() + "': " + std::strerror(errno)};
}
