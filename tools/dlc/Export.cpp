// SPDX-License-Identifier: Apache-2.0
//
// dlc export: a model as an ONNX model, or a network of MXNet as MXNet 1.9.1
// writes it.

#include "CompilerCommand.h"

#include "dlc/Export/ONNX/Export.h"
#include "dlc/Frontend/MXNet/Save.h"
#include "dlc/runtime/Base/Names.h"

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
  int writeNetwork() const;
};
} // namespace

/// Parameters without values become inputs, which is what few want.
void ExportCommand::noteInputs(const std::vector<ModelPort> &inputs) const {
  if (!model.path.ends_with(".json") || !model.params.empty())
    return;
  auto shapes = model.inputShapes();
  std::vector<std::string> names;
  for (const ModelPort &input : inputs)
    if (!shapes.contains(input.name))
      names.push_back(input.name);
  if (!names.empty())
    std::fprintf(stderr,
                 "warning: %s: without --params these are inputs of the ONNX "
                 "model and not its parameters: %s\n",
                 model.path.c_str(), rt::listSome(names, 3).c_str());
}

/// What MXNet calls the file of the values beside that of a network.
static std::string paramsBeside(const std::string &network) {
  constexpr std::string_view ending = "-symbol.json";
  if (!network.ends_with(ending))
    throw Failure{"expected -o NAME-symbol.json for a network of MXNet, got '" +
                      network + "'",
                  kBadUsage};
  return network.substr(0, network.size() - ending.size()) + "-0000.params";
}

/// A network of MXNet of any age as one of today.
int ExportCommand::writeNetwork() const {
  if (!model.path.ends_with(".json"))
    throw Failure{model.path + ": expected a network of MXNet "
                               "(-symbol.json) to write one, got none",
                  kBadUsage};
  mxnet::ImportOptions options;
  options.inputShapes = model.inputShapes();
  options.params = model.params;
  options.layers = model.layerHints();
  mxnet::SavedNetwork network = take(mxnet::readNetwork(model.path, options));
  (void)paramsBeside(output); // Refuses other names.
  if (!model.params.empty())
    check(rt::writeParams(paramsBeside(output), network.arrays,
                          /*isNamed=*/true));
  writeOutput(output, network.json);
  for (const std::string &note : network.notes)
    std::fprintf(stderr, "warning: %s\n", note.c_str());
  return kOk;
}

int ExportCommand::run() {
  if (output.empty())
    throw Failure{"expected -o FILE for the ONNX model, or NAME-symbol.json",
                  kBadUsage};
  bool isNetwork = output.ends_with(".json");
  if (isNetwork && opset != 0)
    throw Failure{"expected --opset with an ONNX model, got '" + output + "'",
                  kBadUsage};
  checkOutputs(
      {{"the model", model.path}, {"--params", model.params}},
      {{"-o", isStandardOutput(output) ? "" : output},
       {"the parameters",
        isNetwork && !model.params.empty() ? paramsBeside(output) : ""}});
  if (model.isArtifact())
    throw Failure{model.path + ": expected a model to export, got an artifact, "
                               "which is compiled already"};
  if (isNetwork)
    return writeNetwork();
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
  Syntax syntax =
      line.add("export", "Write a model as ONNX, or a network of MXNet",
               [command] { return command->run(); });
  ModelOptions &model = command->model;
  syntax.required("model", model.path, "Model (.onnx, -symbol.json, .mlir)");
  model.addParams(syntax);
  syntax.option("--shape", model.shapes,
                "Shape of an input, NAME=1x3x224x224, ? for an extent that "
                "stays open (repeatable)");
  syntax.option(
      "-o,--output", command->output,
      "Where to write the model; NAME-symbol.json writes a network of "
      "MXNet as MXNet 1.9.1 does, with NAME-0000.params");
  syntax.option("--opset", command->opset,
                "Version of ai.onnx; the oldest that has what the model needs "
                "without it",
                {.least = static_cast<unsigned>(exporter::kFirstOpset),
                 .most = static_cast<unsigned>(exporter::kLastOpset)});
}
