// SPDX-License-Identifier: Apache-2.0
//
// The elements of arrays of text.

#ifndef DLC_RUNTIME_BASE_TEXT_H
#define DLC_RUNTIME_BASE_TEXT_H

#include "dlc/runtime/Base/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

namespace dlc::rt {

/// Bytes that do not change, usually UTF-8, which copies share: one pointer.
/// Zero bits are the empty text, so cleared memory is an array of empty texts.
/// Copies of one text may be used by several threads at once.
class Text {
public:
  Text() = default;
  Text(const Text &other) : shared(other.shared) {
    // Whoever copies a text has it: nothing to order.
    if (shared)
      shared->references.fetch_add(1, std::memory_order_relaxed);
  }
  Text(Text &&other) noexcept : shared(std::exchange(other.shared, nullptr)) {}
  Text &operator=(Text other) noexcept {
    std::swap(shared, other.shared);
    return *this;
  }
  ~Text() {
    // Release, so that reads of other owners come before the end; acquire, so
    // that they do for the last one.
    if (shared &&
        shared->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      ::operator delete(shared);
  }

  /// A copy of `bytes`, of which any may be zero. Errors: OutOfMemory.
  static Result<Text> make(std::string_view bytes);
  /// A text whose `length` bytes `fill`, called with their address, writes.
  template <typename Fill>
  static Result<Text> makeFilled(size_t length, Fill &&fill) {
    Result<Text> text = allocate(length);
    if (text.isOk() && length)
      fill(text->shared->bytes());
    return text;
  }

  /// Its bytes, and a zero that is not counted after them.
  std::string_view view() const {
    return shared ? std::string_view(shared->bytes(), shared->length)
                  : std::string_view("", 0);
  }
  bool operator==(const Text &other) const { return view() == other.view(); }

private:
  struct Shared {
    std::atomic<size_t> references;
    size_t length;
    char *bytes() { return reinterpret_cast<char *>(this + 1); }
  };
  static Result<Text> allocate(size_t length);

  Shared *shared = nullptr; ///< Null without bytes.
};

/// Takes the next character of UTF-8 from `bytes`, which are not empty; -1 for
/// what is none: overlong forms, surrogates, what lies beyond U+10FFFF.
int32_t takeUtf8(std::string_view &bytes);

/// How many bytes a character takes in UTF-8; 0 for what is none.
size_t utf8Length(uint32_t character);
/// Writes that many and returns the end.
char *putUtf8(uint32_t character, char *target);

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_TEXT_H
