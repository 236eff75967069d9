// SPDX-License-Identifier: Apache-2.0
//
// What devices send each other: copies and sums of arrays, ahead of
// computations.

#ifndef DLC_RUNTIME_BINDING_COMBINE_H
#define DLC_RUNTIME_BINDING_COMBINE_H

#include "dlc/runtime/NDArray/NDArray.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>

namespace dlc::rt {

// Each pushes one operation of urgent host work (as sums of MXNet's KVStore,
// src/kvstore/comm.h), those of higher priority first. In a per-device engine
// that has a lane where it waits for no computation; in others it has not.
// Arrays are of one engine, type and shape, on host devices, and share no
// memory.

/// target = source.
Status pushCopy(const NDArray &source, const NDArray &target, int priority);

/// What the last pushSend() into an array found: of the operations that write
/// the array, which come one after the other.
struct SentValues {
  struct Versions {
    uint64_t source, target;
    uint64_t hostWrites; ///< To both.
    bool operator==(const Versions &) const = default;
  };
  std::optional<Versions> known;
  std::shared_ptr<std::atomic<uint64_t>> bytes; ///< Copied, all in all.
};

/// target = source, which is not copied where the target has these values since
/// the last time: neither was written meanwhile (Engine::version(), and
/// NDArray::hostAccess() of the source). `sent` is that of the target.
Status pushSend(const NDArray &source, const NDArray &target,
                const std::shared_ptr<SentValues> &sent, int priority);

/// target = (target + terms[0] + terms[1] + ...) / divisor, in this order;
/// 16-bit floats in f32, rounded once. Errors: Unsupported (no floats of 16, 32
/// or 64 bits).
Status pushSum(std::span<const NDArray> terms, const NDArray &target,
               int divisor, int priority);

/// Whether pushSum() has a sum for elements of `type`.
bool isSummable(DataType type);

} // namespace dlc::rt

#endif // DLC_RUNTIME_BINDING_COMBINE_H
