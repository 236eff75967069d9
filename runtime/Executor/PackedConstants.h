// SPDX-License-Identifier: Apache-2.0
//
// Constants in the form that calls of a library want them in, which nobody knew
// before the shapes of these calls came.

#ifndef DLC_RUNTIME_EXECUTOR_PACKEDCONSTANTS_H
#define DLC_RUNTIME_EXECUTOR_PACKEDCONSTANTS_H

#include "dlc/runtime/Base/Memory.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dlc::rt {

/// Those of a program, shared by its executions. Thread-safe.
class PackedConstants {
public:
  /// Null where there is no such form, or no memory for it.
  using Packed = std::shared_ptr<const AlignedBuffer>;

  /// The form `form` of the constant at that address, which `pack` makes where
  /// no call has it. What all calls have let go is gone.
  Packed find(const void *constant, const std::string &form,
              const std::function<Packed()> &pack);

  /// In which of several ways calls of `form` pack the constant at that address
  /// and those beside it: what `choose` said when it was asked first.
  int64_t packingOf(const void *constant, const std::string &form,
                    const std::function<int64_t()> &choose);

private:
  struct Known {
    const void *constant;
    std::string form;
    std::weak_ptr<const AlignedBuffer> packed;
  };

  struct Choice {
    const void *constant;
    std::string form;
    int64_t packing;
  };

  std::mutex mutex;
  std::vector<Known> known;
  std::vector<Choice> choices;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_PACKEDCONSTANTS_H
