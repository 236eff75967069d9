// SPDX-License-Identifier: Apache-2.0
//
// Operations whose shapes are found while running, and that a library computes:
// its calls, made ready for the shapes that come.

#ifndef DLC_RUNTIME_EXECUTOR_DYNAMICCALLS_H
#define DLC_RUNTIME_EXECUTOR_DYNAMICCALLS_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt {

/// A call for the shapes of one run.
struct DynamicCall {
  std::unique_ptr<PreparedKernel> kernel; ///< Null: the library does not.
  size_t workspaceBytes = 0;
  uint64_t nanoseconds = 0; ///< Of each kernel of the chain.
};

/// The calls of one operation. Shapes that come again find theirs, among the
/// last few. Of one execution, and not safe to share.
class DynamicCalls {
public:
  /// The call that `entry` has for an operation on tensors of these types, all
  /// known; null where it has none. Valid until the next call.
  const DynamicCall *find(const LibraryEntry &entry, std::string_view operation,
                          std::span<const TensorView> inputs,
                          std::span<const TensorView> outputs,
                          const Attributes &attributes);

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
