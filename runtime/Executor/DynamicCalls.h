// SPDX-License-Identifier: Apache-2.0
//
// Operations whose shapes are found while running, and that a library or
// generated code computes: calls of these, made ready for the shapes that come.

#ifndef DLC_RUNTIME_EXECUTOR_DYNAMICCALLS_H
#define DLC_RUNTIME_EXECUTOR_DYNAMICCALLS_H

#include "PackedConstants.h"

#include "dlc/runtime/Kernel/Library.h"

#include <functional>
#include <optional>

namespace dlc::rt {

/// What takes the place of a constant operand.
struct PackedOperand {
  size_t operand;
  PackedConstants::Packed packed;
};

/// A call for the shapes of one run.
struct DynamicCall {
  std::unique_ptr<PreparedKernel> kernel; ///< Null: there is none.
  std::vector<PackedOperand> packed;
  /// Of a sum: which input, or behind these which value that is added, each
  /// operand is; -1 for one that is absent.
  std::vector<int32_t> operands;
  size_t workspaceBytes = 0;
  uint64_t nanoseconds = 0; ///< Of each kernel of the chain.
  /// What people are told of it.
  std::string_view entry = {};
  std::string algorithm = {};
  int64_t channelBlock = 0;
  KernelCost cost = {};
};

/// A launch of any shape that adds values to the result of an operation, which
/// nothing else reads, and computes an activation of the sum, or rounds it with
/// these values.
struct FollowingSum {
  /// A value that is there before the operation.
  struct Added {
    uint32_t value;
    bool isLast; ///< Nothing else reads it from the operation on.
  };
  size_t launch;
  std::vector<Added> added;
  /// With `alpha` and `beta`, or kRoundingOperands.
  const Attributes *activation;
};

/// An operation that a library computes.
struct DynamicEntry {
  const LibraryEntry *entry;
  std::string_view operation;
  const Attributes *attributes;        ///< Of the operation.
  std::vector<const void *> constants; ///< Of each operand; null for others.
  bool anyAlgorithm =
      false; ///< Not only the one that is none of its algorithms.
  /// What the library may compute with it.
  std::optional<FollowingSum> sum = std::nullopt;
};

/// The call for tensors of these types, all known. Without a kernel where the
/// library does not take it, or there is nothing to compute.
DynamicCall makeCall(const DynamicEntry &from,
                     std::span<const TensorView> inputs,
                     std::span<const TensorView> outputs,
                     PackedConstants &packed);

/// The call for the operation and the sum behind it: `inputs` are those of the
/// operation and then what is added, `outputs` that of the sum, of the shape
/// that the operation gives.
DynamicCall makeSumCall(const DynamicEntry &from,
                        std::span<const TensorView> inputs,
                        std::span<const TensorView> outputs,
                        PackedConstants &packed);

/// The calls of one operation. Shapes that come again find theirs, among the
/// last few. Of one execution, and not safe to share.
class DynamicCalls {
public:
  /// The call for inputs of these types, all known, which `make` gives when
  /// they are new; null where it has no kernel. Valid until the next call.
  const DynamicCall *find(std::span<const TensorView> inputs,
                          const std::function<DynamicCall()> &make);

private:
  struct Known {
    std::vector<int64_t> shapes; ///< Of all inputs, one after the other.
    DynamicCall call;
  };

  static constexpr size_t mostKnown = 8;
  std::vector<Known> known;
  size_t oldest = 0;
  std::vector<int64_t> wanted; ///< Kept for its memory.
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_DYNAMICCALLS_H
