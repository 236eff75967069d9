// SPDX-License-Identifier: Apache-2.0
//
// Compiles functions of Graph operations to programs, and runs these.

#ifndef DLC_TEST_NUMERICS_PROGRAMRUNNER_H
#define DLC_TEST_NUMERICS_PROGRAMRUNNER_H

#include "dlc/Numerics/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace dlc::test {

/// Compiles a module with a function @main for this machine, checking the
/// numbers of every pass, and runs the program on copies of `inputs`. Returns
/// why that failed, or nothing and the outputs.
std::string runProgram(mlir::ModuleOp module,
                       llvm::ArrayRef<numerics::Tensor> inputs,
                       std::vector<numerics::Tensor> &outputs);

} // namespace dlc::test

#endif // DLC_TEST_NUMERICS_PROGRAMRUNNER_H
