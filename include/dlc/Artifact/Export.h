// SPDX-License-Identifier: Apache-2.0
//
// From the plan phase to a .dlc file.

#ifndef DLC_ARTIFACT_EXPORT_H
#define DLC_ARTIFACT_EXPORT_H

#include "dlc/Codegen/CPU/Codegen.h"
#include "dlc/Codegen/NVPTX/Codegen.h"
#include "dlc/runtime/Base/Memory.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace dlc::artifact {

/// What the file says of its origin.
struct ExportInfo {
  std::string model;   ///< The model's file name, without its folder.
  std::string options; ///< The options it was compiled with, as text.
  /// Results are those of sums of products (`fp32-strict`), whatever else a
  /// library could do.
  bool isStrict = false;
  /// The kernels that run on GPUs, for each of some GPUs, the newest first; a
  /// GPU runs the first that it can. Without kernels all are empty.
  llvm::ArrayRef<codegen::GPUCode> gpus = {};
};

/// Writes the only `plan.program` of `module` with the machine code of its
/// generated kernels, for each of some machines, of which one that can run
/// several runs the first, to `path`, whole or not at all. Requires
/// `plan-verify`. Constants are streamed from where they are. Equal inputs give
/// equal bytes. On failure a diagnostic has been emitted.
llvm::LogicalResult writeProgram(mlir::ModuleOp module,
                                 llvm::ArrayRef<codegen::ObjectCode> code,
                                 const ExportInfo &info,
                                 const std::string &path);

/// The same bytes in memory.
llvm::FailureOr<rt::AlignedBuffer>
writeProgram(mlir::ModuleOp module, llvm::ArrayRef<codegen::ObjectCode> code,
             const ExportInfo &info);

} // namespace dlc::artifact

#endif // DLC_ARTIFACT_EXPORT_H
