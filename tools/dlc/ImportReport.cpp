// SPDX-License-Identifier: Apache-2.0
//
// dlc import-report: everything of a model that cannot be imported, as a table.

#include "CompilerCommand.h"

#include <algorithm>
#include <array>

using namespace dlc;
using namespace dlc::tool;

namespace {
struct ReportCommand {
  ModelOptions model;
  std::string output;

  int run();
};
} // namespace

using Row = std::array<std::string, 5>;

/// Names come from files of anyone: a cell stays one line of the table, and
/// sends nothing to a terminal but text.
static std::string cell(const std::string &text) {
  std::string result;
  for (char c : text)
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return result.empty() ? "-" : result;
}

static std::string toTable(const std::vector<Row> &rows) {
  std::array<size_t, 5> widths{};
  for (const Row &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row &row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i)
      text += row[i] + std::string(widths[i] + 2 - row[i].size(), ' ');
    text += row.back() + "\n";
  }
  return text;
}

/// A line for each: what it is, its name and its type.
static std::string portsOf(const char *kind,
                           const std::vector<ModelPort> &ports) {
  std::string text;
  for (const ModelPort &port : ports)
    text += std::string(kind) + " " + cell(port.name) + ": " +
            rt::toString(port.type) + "\n";
  return text;
}

int ReportCommand::run() {
  checkOutputs({{"the model", model.path}, {"--params", model.params}},
               {{"-o", isStandardOutput(output) ? "" : output}});
  if (model.isArtifact())
    throw Failure{model.path + ": expected a model, got an artifact, which is "
                               "compiled already"};
  Compilation compilation(makeCompileOptions(model));
  bool isImported = succeeded(compilation.import(model.path));
  std::vector<Row> rows = {
      {"node", "operator", "attribute", "reason", "nearest alternative"}};
  for (const frontend::Fault &fault : compilation.faults())
    rows.push_back({cell(fault.node), cell(fault.op), cell(fault.attribute),
                    cell(fault.reason), cell(fault.alternative)});
  if (compilation.unseenNodes())
    rows.push_back({"-", "-", "-",
                    "of nodes behind these only the operators were looked at, "
                    "which are known: " +
                        std::to_string(compilation.unseenNodes()),
                    "-"});
  std::string text;
  // One that is of no node is no table: the file itself is at fault.
  bool isOfNodes =
      compilation.faults().size() > 1 ||
      std::ranges::any_of(compilation.faults(), [](const auto &fault) {
        return !fault.node.empty() || !fault.op.empty();
      });
  if (isOfNodes)
    text = toTable(rows);
  else if (isImported)
    text = model.path + ": everything can be imported\n" +
           portsOf("input", compilation.inputs()) +
           portsOf("output", compilation.outputs());
  else
    check(llvm::failure(), compilation);
  writeOutput(output.empty() ? "-" : output, text);
  if (isImported)
    printWarnings(compilation);
  return isImported ? kOk : kBadInput;
}

void dlc::tool::addImportReport(CommandLine &line) {
  auto command = std::make_shared<ReportCommand>();
  Syntax syntax =
      line.add("import-report", "Report all of a model that cannot be imported",
               [command] { return command->run(); });
  ModelOptions &model = command->model;
  syntax.required("model", model.path, "Model (.onnx, -symbol.json, .mlir)");
  model.addParams(syntax);
  syntax.option("--shape", model.shapes,
                "Shape of an input, NAME=1x3x224x224, ? for an extent that "
                "stays open (repeatable)");
  model.addConstants(syntax);
  syntax.option("-o,--output", command->output, "Where to write the table");
}
