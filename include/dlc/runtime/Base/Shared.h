// SPDX-License-Identifier: Apache-2.0
//
// Shared objects whose memory may be missing.

#ifndef DLC_RUNTIME_BASE_SHARED_H
#define DLC_RUNTIME_BASE_SHARED_H

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace dlc::rt {

namespace detail {

/// Hands out memory that is already there, for an `Object` and the counts of
/// its owners, which std::allocate_shared() makes one object `T` of.
template <typename Object, typename T> struct GivenMemory {
  using value_type = T;
  template <typename Other> struct rebind {
    using other = GivenMemory<Object, Other>;
  };
  static constexpr size_t bytes = sizeof(Object) + 8 * sizeof(void *);

  explicit GivenMemory(void *memory) : memory(memory) {}
  template <typename Other>
  GivenMemory(const GivenMemory<Object, Other> &other) : memory(other.memory) {}

  T *allocate(size_t) {
    static_assert(sizeof(T) <= bytes &&
                  alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return static_cast<T *>(memory);
  }
  void deallocate(T *block, size_t) { ::operator delete(block); }
  friend bool operator==(const GivenMemory &, const GivenMemory &) = default;

  void *memory;
};

} // namespace detail

/// As std::make_shared(), but null when there is no memory, where that ends a
/// process without exceptions.
template <typename T, typename... Arguments>
std::shared_ptr<T> makeShared(Arguments &&...arguments) {
  using Memory = detail::GivenMemory<T, T>;
  void *memory = ::operator new(Memory::bytes, std::nothrow);
  if (!memory)
    return nullptr;
  return std::allocate_shared<T>(Memory(memory),
                                 std::forward<Arguments>(arguments)...);
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_SHARED_H
