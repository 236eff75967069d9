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

LoadedModel dlc::tool::compileModel(const ModelOptions &, const InputOptions &,
                                    const NamedTensors &) {
  throw NeedsCompiler();
}

/// Commands whose own options only the other program knows.
static void addDelegated(CommandLine &line, const char *name,
                         const char *summary) {
  line.add(name, summary, []() -> int { throw NeedsCompiler(); }).anything();
}

void dlc::tool::addCompile(CommandLine &line) {
  addDelegated(line, "compile", "Compile a model");
}

void dlc::tool::addExport(CommandLine &line) {
  addDelegated(line, "export", "Write a model as ONNX");
}

void dlc::tool::addImportReport(CommandLine &line) {
  addDelegated(line, "import-report",
               "Report all of a model that cannot be imported");
}

void dlc::tool::addTest(CommandLine &line) {
  addDelegated(line, "test", "Run ONNX conformance folders");
}

void dlc::tool::addTrain(CommandLine &line) {
  addDelegated(line, "train", "Train a model");
}

int dlc::tool::delegate(char **argv) {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  fs::path compiler = self.parent_path() / "dlc-compiler";
  execv(compiler.c_str(), argv);
  throw Failure{"this command needs the compiler: cannot run '" +
                compiler.native() + "': " + std::strerror(errno)};
}
