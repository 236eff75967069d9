// SPDX-License-Identifier: Apache-2.0
//
// Compares a declaration of ours with that of a header of NVIDIA's.

#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_ALIKE_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_ALIKE_H

#include <type_traits>

namespace dlc::rt::test {

/// Types of equal representation in calls: numbers and enumerations of one
/// size, pointers.
template <typename A, typename B>
constexpr bool isAlike =
    (std::is_pointer_v<A> && std::is_pointer_v<B>) ||
    (!std::is_pointer_v<A> && !std::is_pointer_v<B> && sizeof(A) == sizeof(B));

/// Whether functions have alike results and arguments.
template <typename A, typename B> struct Alike;
template <typename R, typename... A, typename S, typename... B>
struct Alike<R (*)(A...), S (*)(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) == sizeof...(B))
      return isAlike<R, S> && (isAlike<A, B> && ...);
    return false;
  }();
};

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_DEVICE_CUDA_ALIKE_H
