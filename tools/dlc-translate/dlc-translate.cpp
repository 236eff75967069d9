// SPDX-License-Identifier: Apache-2.0
//
// Reads a model of a foreign format and prints its Graph form. With several
// models, tells for each whether it imports.

#include "dlc/Frontend/ONNX/Import.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

static cl::list<std::string> models(cl::Positional, cl::OneOrMore,
                                    cl::desc("<model.onnx>..."));
static cl::opt<std::string> output("o", cl::desc("Where to write the IR"),
                                   cl::init("-"));
static cl::list<std::string>
    shapes("shape", cl::desc("Shape of an input; ? keeps a dimension dynamic"),
           cl::value_desc("name=1x3x?x224"));
static cl::opt<bool> check("check",
                           cl::desc("Print one line per model instead of IR"));
static cl::opt<bool>
    printDebugInfo("locations", cl::desc("Print the locations of operations"));

/// Parses "data=1x3x?x224"; an empty shape is a scalar.
static bool parseShape(llvm::StringRef text,
                       dlc::onnx::ImportOptions &options) {
  auto [name, dims] = text.rsplit('=');
  SmallVector<StringRef> parts;
  if (!dims.empty())
    dims.split(parts, 'x');
  SmallVector<int64_t> shape;
  for (StringRef part : parts) {
    int64_t dim = -1;
    if (part != "?" && (part.getAsInteger(10, dim) || dim < 0))
      return false;
    shape.push_back(dim);
  }
  bool isNew =
      options.inputShapes.insert({name.str(), std::move(shape)}).second;
  return !name.empty() && text.contains('=') && isNew;
}

/// Prints diagnostics as `model.onnx: node 'x' (Conv): error: ...`.
static void printDiagnostics(MLIRContext &context) {
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    StringRef severity =
        diagnostic.getSeverity() == DiagnosticSeverity::Error     ? "error"
        : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning"
                                                                  : "note";
    // Locations of the importer are names; a call site is told inside out.
    std::string where;
    llvm::raw_string_ostream stream(where);
    Location location = diagnostic.getLocation();
    while (auto call = dyn_cast<CallSiteLoc>(location)) {
      if (auto name = dyn_cast<NameLoc>(call.getCallee()))
        stream << name.getName().getValue() << ": called from ";
      location = call.getCaller();
    }
    if (auto name = dyn_cast<NameLoc>(location))
      stream << name.getName().getValue();
    else
      stream << location;
    llvm::errs() << where << ": " << severity << ": " << diagnostic << "\n";
    return success();
  });
}

/// The exit code of dlc; LLVM's own would be that of bad input.
static constexpr int kBadUsage = 2;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  if (!cl::ParseCommandLineOptions(argc, argv, "DLC model reader\n",
                                   &llvm::errs()))
    return kBadUsage;
  dlc::onnx::ImportOptions options;
  for (const std::string &shape : shapes) {
    if (!parseShape(shape, options)) {
      llvm::errs() << "expected --shape name=1x3x224x224, got '" << shape
                   << "'\n";
      return kBadUsage;
    }
  }
  if (!check && models.size() != 1) {
    llvm::errs() << "expected one model, got " << models.size() << "\n";
    return kBadUsage;
  }
  std::error_code error;
  llvm::ToolOutputFile file(output, error, llvm::sys::fs::OF_Text);
  if (error) {
    llvm::errs() << "cannot open '" << output << "': " << error.message()
                 << "\n";
    return 1;
  }
  bool allImport = true;
  for (const std::string &model : models) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    printDiagnostics(context);
    OwningOpRef<ModuleOp> module =
        dlc::onnx::importOnnxFile(context, model, options);
    allImport &= static_cast<bool>(module);
    if (check)
      file.os() << (module ? "ok      " : "refused ") << model << "\n";
    else if (module)
      module->print(file.os(),
                    OpPrintingFlags().enableDebugInfo(printDebugInfo));
  }
  if (allImport || check)
    file.keep();
  return allImport ? 0 : 1;
}
