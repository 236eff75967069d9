// SPDX-License-Identifier: Apache-2.0
//
// Work in several threads under the guard of the calling one.

#ifndef DLC_LIB_CODEGEN_CPU_PARALLEL_H
#define DLC_LIB_CODEGEN_CPU_PARALLEL_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace dlc::codegen {

/// Calls `work(i)` for each i below `count`, in no order, in up to `threads`
/// threads, of which the caller is one, and returns when all calls have. Where
/// the caller runs in a CrashRecoveryContext, a crash in any of the threads
/// becomes one of the caller's once the others are done with their calls.
/// Where the system has no thread to give, fewer do all the work.
void parallelFor(size_t count, unsigned threads,
                 llvm::function_ref<void(size_t)> work);

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_CPU_PARALLEL_H
