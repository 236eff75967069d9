// SPDX-License-Identifier: Apache-2.0
//
// dlc export: a model as an ONNX model.

#include "CompilerCommand.h"

#include "dlc/Export/ONNX/Export.h"

#include <cstdio>

using namespace dlc;
using namespace dlc::tool;

namespace {
struct ExportCommand {
  ModelOptions model;
  std::string output;
  unsigned opset = 0;

  int run();
  void noteInputs(const std::vector<ModelPort> &inputs) const;
};
} // namespace

/// Parameters without values become inputs, which is what few want.
void ExportCommand::noteInputs(const std::vector<ModelPort> &inputs) const {
  if (!model.path.ends_with(".json") || !model.params.empty())
    return;
  auto shapes = model.inputShapes();
  std::string names;
  size_t count = 0;
  for (const ModelPort &input : inputs)
    if (!shapes.contains(input.name) && ++count <= 3)
      names += (count > 1 ? ", " : "") + input.name;
  if (count > 3)
    names += " and " + std::to_string(count - 3) + " more";
  if (count > 0)
    std::fprintf(stderr,
                 "warning: %s: without --params these are inputs of the ONNX "
                 "model and not its parameters: %s\n",
                 model.path.c_str(), names.c_str());
}

int ExportCommand::run() {
  if (output.empty())
    throw Failure{"expected -o FILE for the ONNX model", kBadUsage};
  checkOutputs({{"the model", model.path}, {"--params", model.params}},
               {{"-o", isStandardOutput(output) ? "" : output}});
  if (model.isArtifact())
    throw Failure{model.path + ": expected a model to export, got an artifact, "
                               "which is compiled already"};
  Compilation compilation(makeCompileOptions(model));
  check(compilation.import(model.path), compilation);
  std::vector<ModelPort> inputs = compilation.inputs();
  llvm::FailureOr<std::string> bytes = compilation.toOnnx(opset);
  check(llvm::success(succeeded(bytes)), compilation);
  writeOutput(output, *bytes);
  printWarnings(compilation);
  noteInputs(inputs);
  return kOk;
}

void dlc::tool::addExport(CommandLine &line) {
  auto command = std::make_shared<ExportCommand>();
  Syntax syntax = line.add("export", "Write a model as ONNX",
                           [command] { return command->run(); });
  ModelOptions &model = command->model;
  syntax.required("model", model.path, "Model (.onnx, -symbol.json, .mlir)");
  syntax.option("--params", model.params,
                "Values of parameters (.params): of an MXNet network, or "
                "instead of an ONNX model's own");
  syntax.option("--shape", model.shapes,
                "Shape of an input, NAME=1x3x224x224 (repeatable)");
  syntax.option("-o,--output", command->output, "Where to write the model");
  syntax.option("--opset", command->opset,
                "Version of ai.onnx; the oldest that has what the model needs "
                "without it",
                {.least = static_cast<unsigned>(exporter::kFirstOpset),
                 .most = static_cast<unsigned>(exporter::kLastOpset)});
}
