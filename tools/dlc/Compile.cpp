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
  bool constants = false, locations = false;

  int run();
  Phase checkOptions() const;
  void emitText(Compilation &compilation, Phase phase);
  void emitArtifact(Compilation &compilation);
};
} // namespace

void CompileCommand::emitText(Compilation &compilation, Phase phase) {
  check(compilation.runTo(phase), compilation);
  std::string text;
  llvm::raw_string_ostream os(text);
  compilation.print(os, constants, locations);
  os << '\n';
  writeOutput(output.empty() ? "-" : output, text);
}

void CompileCommand::emitArtifact(Compilation &compilation) {
  if (!isStandardOutput(output))
    return check(compilation.write(output), compilation);
  llvm::FailureOr<rt::AlignedBuffer> bytes = compilation.toMemory();
  check(llvm::success(succeeded(bytes)), compilation);
  writeOutput(output,
              {reinterpret_cast<const char *>(bytes->data()), bytes->size()});
}

/// Says what makes the program slow, if anything, and what to do about it.
static void printNotes(const Compilation &compilation,
                       const ModelOptions &model) {
  std::string open;
  bool hasBatch = false;
  for (const ModelPort &port : compilation.inputs())
    if (!port.type.isStatic()) {
      hasBatch |= !port.type.hasRank || port.type.shape.front() < 0;
      open += (open.empty() ? "" : ", ") + port.name + " " +
              rt::toString(port.type);
    }
  if (compilation.shapes() > 1) {
    using SmallerSizes = Compilation::SmallerSizes;
    const SmallerSizes smaller = compilation.smallerSizes();
    const size_t others = compilation.takesOtherShapes();
    std::string rest;
    if (others) {
      const auto only = compilation.onlySize();
      rest = "; those above " + std::to_string(compilation.largestSize());
      if (only)
        rest += ", and batches other than " + std::to_string(*only) + ",";
      rest += " are slow, where the model has them: --extent NAME=... gives "
              "other sizes";
    }
    std::fprintf(stderr, "note: programs for %zu shapes (%s), %s%s\n",
                 compilation.shapes() - others, open.c_str(),
                 smaller == SmallerSizes::OfAll
                     ? "which compute smaller ones, too"
                 : smaller == SmallerSizes::OfSome
                     ? "which compute smaller sizes of some extents, too; "
                       "--remarks says why not of all"
                     : "and no others; --remarks says why",
                 rest.c_str());
  }
  if (!hasBatch && !model.batches.empty() && model.batches != "none")
    std::fprintf(stderr, "note: --batches changes nothing: %s\n",
                 open.empty() ? "all inputs have one shape"
                              : "no input leaves its first extent open");
  std::string batches;
  for (int64_t size : compilation.batches())
    batches += (batches.empty() ? "" : ", ") + std::to_string(size);
  if (!batches.empty())
    std::fprintf(stderr,
                 "note: a batch of any size (%s) is computed by programs for "
                 "%s examples\n",
                 open.c_str(), batches.c_str());
  if (compilation.leavesOpen()) {
    std::string sizes;
    for (const std::string &name : compilation.openExtents())
      sizes += " --extent " + name + "=...";
    std::fprintf(stderr,
                 "note: shapes are dynamic (%s): --shape NAME=... makes a "
                 "faster program for one shape,%s for several\n",
                 open.c_str(), sizes.c_str());
    for (const std::string &why : compilation.whyOpen())
      std::fprintf(stderr, "note: %s\n", why.c_str());
  }
  tuning::Tuner::Counts tuned = compilation.tunedCalls();
  if (tuned.known + tuned.measured + tuned.missing)
    std::fprintf(stderr,
                 "note: times of %zu kernels were known, %zu were measured, "
                 "%zu are modelled\n",
                 tuned.known, tuned.measured, tuned.missing);
  LaunchCounts launches = compilation.launches();
  auto tell = [&](const std::map<std::string, size_t> &counts,
                  const char *format) {
    size_t all = 0;
    std::string operators;
    for (const auto &[name, count] : counts) {
      all += count;
      operators += (operators.empty() ? "" : ", ") + name + " (" +
                   std::to_string(count) + ")";
    }
    if (all)
      std::fprintf(stderr, format, all, launches.all, operators.c_str());
  };
  tell(launches.byReferenceKernel,
       "note: %zu of %zu launches run as Reference kernels, which are slow for "
       "large tensors: %s; --remarks says why\n");
  tell(launches.byLibraryOfShapes,
       "note: %zu of %zu launches take library kernels once their shapes are "
       "known: %s\n");
}

/// The phase to stop at; throws a Failure when the options contradict it.
Phase CompileCommand::checkOptions() const {
  std::optional<Phase> phase = pipeline::phaseOf(emit);
  if (!phase)
    throw Failure{"expected --emit=PHASE with one of " +
                      pipeline::phaseNames() + ", got '" + emit + "'",
                  kBadUsage};
  if (*phase == Phase::Codegen)
    throw Failure{"expected --emit=PHASE of a phase with a text form, got "
                  "'codegen'",
                  kBadUsage};
  if (*phase == Phase::Artifact && output.empty())
    throw Failure{"expected -o FILE for the artifact", kBadUsage};
  if (*phase == Phase::Artifact && (constants || locations))
    throw Failure{std::string("expected --emit=PHASE with ") +
                      (constants ? "--constants" : "--locations") +
                      ", got none",
                  kBadUsage};
  // Values would be nowhere in what is written.
  if (model.training && !model.params.empty())
    throw Failure{"expected no --params beside --training, which leaves "
                  "parameters inputs of the program, got " +
                      model.params,
                  kBadUsage};
  checkOutputs({{"the model", model.path}, {"--params", model.params}},
               {{"-o", isStandardOutput(output) ? "" : output},
                {"--tuning-cache", model.tuningOutput()},
                {"--reproducer", model.reproducer}});
  if (model.isArtifact())
    throw Failure{model.path + ": expected a model to compile, got an "
                               "artifact, which is compiled already"};
  return *phase;
}

int CompileCommand::run() {
  Phase phase = checkOptions();
  CompileOptions options = makeCompileOptions(model);
  double begin = now();
  if (isatty(STDERR_FILENO))
    options.onPhase = [](Phase next) {
      std::fprintf(stderr, "\r\033[K%s ...", pipeline::nameOf(next).data());
    };
  Compilation compilation(options);
  check(compilation.import(model.path), compilation);
  if (phase == Phase::Artifact)
    emitArtifact(compilation);
  else
    emitText(compilation, phase);
  if (isatty(STDERR_FILENO))
    std::fputs("\r\033[K", stderr);
  printWarnings(compilation);
  if (phase == Phase::Artifact)
    printNotes(compilation, model);
  if (isatty(STDERR_FILENO))
    std::fprintf(stderr, "compiled %s in %.2f s\n", model.path.c_str(),
                 (now() - begin) / 1e3);
  return kOk;
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
  command->model.addTraining(syntax);
  syntax.flag("--locations", command->locations,
              "Print what each operation is made of: names of nodes are kept");
  syntax.flag("--constants", command->constants, "Print large constants too");
}

// This program has the compiler: nothing is handed on.
int dlc::tool::delegate(char **) { return kBadInput; }
