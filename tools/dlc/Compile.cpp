// SPDX-License-Identifier: Apache-2.0
//
// dlc compile: a model to an artifact, or to text at a phase.

#include "CompilerCommand.h"

#include <cstdio>
#include <unistd.h>

using namespace dlc;
using namespace dlc::tool;

namespace {
struct CompileCommand {
  ModelOptions model;
  std::string output, emit = "artifact";
  bool constants = false;

  int run();
  int emitText(Compilation &compilation, Phase phase);
};
} // namespace

int CompileCommand::emitText(Compilation &compilation, Phase phase) {
  check(compilation.runTo(phase), compilation);
  std::string text;
  llvm::raw_string_ostream os(text);
  compilation.print(os, constants);
  if (output.empty() || output == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kOk;
  }
  writeText(output, text);
  return kOk;
}

int CompileCommand::run() {
  std::optional<Phase> phase = pipeline::phaseOf(emit);
  if (!phase)
    throw Failure{"expected --emit=PHASE with one of " +
                      pipeline::phaseNames() + ", got '" + emit + "'",
                  kBadUsage};
  if (*phase == Phase::Artifact && output.empty())
    throw Failure{"expected -o FILE for the artifact", kBadUsage};
  CompileOptions options = makeCompileOptions(model);
  double begin = now();
  if (isatty(STDERR_FILENO))
    options.onPhase = [](Phase next) {
      std::fprintf(stderr, "\r\033[K%s ...", pipeline::nameOf(next).data());
    };
  Compilation compilation(options);
  check(compilation.import(model.path), compilation);
  int result = kOk;
  if (*phase < Phase::Codegen)
    result = emitText(compilation, *phase);
  else if (*phase == Phase::Codegen)
    throw Failure{"--emit=codegen has no text form; dlc dump shows an "
                  "artifact's code",
                  kBadUsage};
  else
    check(compilation.write(output), compilation);
  printWarnings(compilation);
  if (isatty(STDERR_FILENO))
    std::fprintf(stderr, "\r\033[Kcompiled %s in %.2f s\n", model.path.c_str(),
                 (now() - begin) / 1e3);
  return result;
}

void dlc::tool::addCompile(CommandLine &line) {
  auto command = std::make_shared<CompileCommand>();
  Syntax syntax = line.add("compile", "Compile a model",
                           [command] { return command->run(); });
  command->model.add(syntax, /*acceptsArtifact=*/false);
  syntax.option("-o,--output", command->output,
                "Where to write the artifact, or the text of --emit");
  syntax.option("--emit", command->emit,
                "Stop at a phase and print it: " + pipeline::phaseNames());
  syntax.flag("--constants", command->constants, "Print large constants too");
}

// This program has the compiler: nothing is handed on.
int dlc::tool::delegate(char **) { return kBadInput; }
