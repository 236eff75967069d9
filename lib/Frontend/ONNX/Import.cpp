// SPDX-License-Identifier: Apache-2.0

#include "dlc/Frontend/ONNX/Import.h"

#include "ModelImporter.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/runtime/IO/Params.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Path.h"

#include <span>

using namespace dlc::onnx;
using namespace mlir;
using llvm::StringRef;
namespace graph = dlc::graph;
namespace rt = dlc::rt;

void dlc::onnx::loadImportDialects(MLIRContext &context) {
  context.loadDialect<func::FuncDialect, graph::GraphDialect>();
}

static Location fileLocation(MLIRContext &context, StringRef name) {
  return NameLoc::get(StringAttr::get(&context, name));
}

static OwningOpRef<ModuleOp> importBytes(MLIRContext &context, StringRef bytes,
                                         std::shared_ptr<const void> owner,
                                         StringRef name,
                                         const ImportOptions &options,
                                         ModelFolder *folder) {
  loadImportDialects(context);
  if (rt::isParams(std::as_bytes(std::span(bytes.data(), bytes.size())))) {
    emitError(fileLocation(context, name))
        << "expected a model, got values of parameters, which --params gives "
           "to a network (NAME-symbol.json)";
    return {};
  }
  rt::Result<Model> model = readModel({bytes.data(), bytes.size()});
  if (!model.isOk()) {
    emitError(fileLocation(context, name)) << model.status().message();
    return {};
  }
  return ModelImporter(context, *model, options, name, std::move(owner), folder)
      .import();
}

OwningOpRef<ModuleOp> dlc::onnx::importOnnxFile(MLIRContext &context,
                                                StringRef path,
                                                const ImportOptions &options) {
  StringRef name = llvm::sys::path::filename(path);
  rt::Result<std::shared_ptr<MappedFile>> file = MappedFile::open(path.str());
  if (!file.isOk()) {
    emitError(fileLocation(context, path)) << file.status().message();
    return {};
  }
  std::string folderPath = options.externalDataFolder;
  if (folderPath.empty())
    folderPath = llvm::sys::path::parent_path(path).str();
  ModelFolder folder(std::move(folderPath));
  folder.exclude(**file);
  std::string_view bytes = (*file)->bytes();
  return importBytes(context, StringRef(bytes.data(), bytes.size()), *file,
                     name, options, &folder);
}

OwningOpRef<ModuleOp>
dlc::onnx::importOnnxBuffer(MLIRContext &context, StringRef bytes,
                            std::shared_ptr<const void> owner, StringRef name,
                            const ImportOptions &options) {
  if (options.externalDataFolder.empty())
    return importBytes(context, bytes, std::move(owner), name, options,
                       nullptr);
  ModelFolder folder(options.externalDataFolder);
  return importBytes(context, bytes, std::move(owner), name, options, &folder);
}
