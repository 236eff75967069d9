// SPDX-License-Identifier: Apache-2.0
//
// Runs one operation from operands to results: shape rule, memory,
// computation. For constant folding, checks and tests; programs prepare their
// memory once instead.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_EVALUATE_H
#define DLC_RUNTIME_KERNEL_REFERENCE_EVALUATE_H

#include "dlc/runtime/Kernel/Reference/Reference.h"

#include <memory>

namespace dlc::rt::ref {

/// A dense row-major tensor with memory of its own, aligned to DLC_ALIGNMENT.
class OwnedTensor {
public:
  OwnedTensor() = default;

  /// Uninitialised memory for `shape`, which must be static; OutOfMemory when
  /// there is none.
  static Status allocate(DataType type, std::span<const int64_t> shape,
                         OwnedTensor &tensor);

  DataType type() const { return elementType; }
  std::span<const int64_t> shape() const { return dims; }
  void *data() const { return memory.get(); }
  /// Valid as long as this tensor is neither moved nor destroyed.
  TensorView view() const { return {elementType, dims, memory.get()}; }

private:
  struct Free {
    void operator()(void *memory) const;
  };
  DataType elementType = DLC_INVALID_TYPE;
  std::vector<int64_t> dims;
  std::unique_ptr<void, Free> memory;
};

/// Infers the result types of `operation` and computes the results. Absent
/// inputs have DLC_INVALID_TYPE. `results` is cleared first, and stays empty
/// on failure. Thread-safe.
Status evaluate(const Operation &operation, std::span<const TensorView> inputs,
                const Attributes &attributes, size_t resultCount,
                std::vector<OwnedTensor> &results);

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_EVALUATE_H
