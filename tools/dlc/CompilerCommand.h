// SPDX-License-Identifier: Apache-2.0
//
// What the commands that compile share.

#ifndef DLC_TOOLS_DLC_COMPILERCOMMAND_H
#define DLC_TOOLS_DLC_COMPILERCOMMAND_H

#include "Command.h"

#include "dlc/Compiler/Compiler.h"

namespace dlc::tool {

/// The compiler's options; throws a Failure (usage) on malformed shapes.
CompileOptions makeCompileOptions(const ModelOptions &model);

/// Throws a Failure with the compilation's errors when `result` is one, after
/// its warnings are printed.
void check(llvm::LogicalResult result, const Compilation &compilation);

/// Throws where that is why the import of a network of MXNet failed: it is told
/// the shapes of arrays and cannot name the file of one that is no variable,
/// which `files` has by the names of arrays.
void checkVariables(const Compilation &compilation,
                    const std::map<std::string, std::string> &files);

/// Copies what a model's file says into the memory of that input.
void copyValue(const InitialValue &value, HostTensor &to);

/// Prints the warnings of a compilation that succeeded, once at its end.
void printWarnings(const Compilation &compilation);

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_COMPILERCOMMAND_H
