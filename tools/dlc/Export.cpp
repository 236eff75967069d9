// SPDX-License-Identifier: Apache-2.0
//
// dlc export: a model as an ONNX model.

#include "CompilerCommand.h"

#include "dlc/Export/ONNX/Export.h"

using namespace dlc;
using namespace dlc::tool;

namespace {
struct ExportCommand {
  ModelOptions model;
  std::string output;
  unsigned opset = 0;

  int run();
};
} // namespace

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
  llvm::FailureOr<std::string> bytes = compilation.toOnnx(opset);
  check(llvm::success(succeeded(bytes)), compilation);
  writeOutput(output, *bytes);
  printWarnings(compilation);
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
