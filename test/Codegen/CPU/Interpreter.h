// SPDX-License-Identifier: Apache-2.0
//
// Runs Graph operations by their definitions, the Reference kernels, on values
// made for tests.

#ifndef DLC_TEST_CODEGEN_CPU_INTERPRETER_H
#define DLC_TEST_CODEGEN_CPU_INTERPRETER_H

#include "dlc/runtime/Base/Tensor.h"

#include "mlir/IR/Block.h"

#include <string>
#include <vector>

namespace dlc::test {

/// A tensor in row-major order. A plain value.
struct Tensor {
  rt::TensorType type;
  std::vector<char> bytes;

  rt::TensorView view() { return {type.type, type.shape, bytes.data()}; }
};

/// A value for an argument of a static type, the same on every run. Floats are
/// numbers of a few units around zero, with some NaN and infinities when
/// `special`; integers are any bit patterns, or valid indices where the
/// argument is read as such.
Tensor makeArgument(mlir::BlockArgument argument, bool special = false);

/// What `body`, Graph operations of static types, hands to its terminator.
/// Records a test failure where an operation refuses its operands.
std::vector<Tensor> interpret(mlir::Block &body, std::vector<Tensor> &inputs);

/// Expects integers and bools to be equal and floats to be near, relative to
/// max(1, |expected|), or, of `areSums` whose terms cancel out, to the largest
/// of all; `name` says whose they are.
void compare(const std::string &name, Tensor &actual, Tensor &expected,
             bool areSums = false);

} // namespace dlc::test

#endif // DLC_TEST_CODEGEN_CPU_INTERPRETER_H
