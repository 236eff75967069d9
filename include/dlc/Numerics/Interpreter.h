// SPDX-License-Identifier: Apache-2.0
//
// Runs functions of Graph operations by their definitions, the Reference
// kernels: what every other form of a program is compared with.

#ifndef DLC_NUMERICS_INTERPRETER_H
#define DLC_NUMERICS_INTERPRETER_H

#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"
#include "dlc/runtime/Kernel/Reference/Evaluate.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <vector>

namespace dlc::numerics {

/// A dense row-major tensor that is not written any more. Copies share its
/// memory, which is aligned to DLC_ALIGNMENT where an operation computed it.
struct Tensor {
  rt::TensorType type;
  const void *data = nullptr;
  /// What keeps `data` alive; null where somebody else does.
  std::shared_ptr<const void> owner;

  int64_t size() const { return *rt::elementCount(type.shape); }
  size_t bytes() const { return *rt::byteCount(type.type, type.shape); }
  template <typename T> const T *as() const {
    return static_cast<const T *>(data);
  }
  /// Valid as long as this tensor is not moved. For readers, although a view
  /// could write.
  rt::TensorView view() const {
    return {type.type, type.shape, const_cast<void *>(data)};
  }
};

/// What an operation or somebody else computed, not copied.
Tensor toTensor(rt::ref::OwnedTensor memory);

/// The values of a block, computed one operation after the other. They have the
/// types that they turn out to have: declared ones may say less. Not
/// thread-safe.
class Interpreter {
public:
  void set(mlir::Value value, Tensor tensor);

  /// Computes the results of `op`: one of the Graph dialect, also a constant or
  /// a fusion, but no terminator. Fails where it is another, an operand is not
  /// known, or a kernel refuses its operands; the message names the operation.
  rt::Status compute(mlir::Operation *op);

  /// Null where `value` is not known; of an invalid type for `graph.none`.
  const Tensor *get(mlir::Value value) const;
  void forget(mlir::Value value) { values.erase(value); }

private:
  rt::Status computeKernel(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, std::unique_ptr<Tensor>> values;
};

/// Computes what `body` hands to its terminator, given its arguments, which may
/// be more than it has. Values are dropped behind their last use. `results` is
/// cleared first, and stays empty on failure.
rt::Status interpret(mlir::Block &body, llvm::ArrayRef<Tensor> arguments,
                     std::vector<Tensor> &results);

} // namespace dlc::numerics

#endif // DLC_NUMERICS_INTERPRETER_H
