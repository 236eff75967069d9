// SPDX-License-Identifier: Apache-2.0
//
// The one place where bytes that nobody vouches for become values: every read
// is checked against the end, and what it says goes to the caller, who knows
// what to report.

#ifndef DLC_RUNTIME_BASE_BYTEREADER_H
#define DLC_RUNTIME_BASE_BYTEREADER_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace dlc::rt {

/// Reads borrowed bytes from front to back. A function that answers false has
/// moved nothing and written nothing. Values are little-endian and need no
/// alignment.
class ByteReader {
public:
  ByteReader() = default;
  explicit ByteReader(std::span<const std::byte> bytes) : all(bytes) {}

  size_t size() const { return all.size(); }
  size_t offset() const { return position; }
  size_t remaining() const { return all.size() - position; }
  bool isAtEnd() const { return position == all.size(); }

  /// Whether `count` things of at least `size` bytes each, `size` not 0, can
  /// follow. What a file claims to hold is asked here before it is allocated.
  bool canHold(uint64_t count, size_t size = 1) const {
    return count <= remaining() / size;
  }

  /// Moves to a place counted from the start, at most the end.
  bool seek(uint64_t target) {
    if (target > all.size())
      return false;
    position = target;
    return true;
  }
  bool skip(uint64_t count) {
    if (!canHold(count))
      return false;
    position += count;
    return true;
  }

  /// Reads values that stand one after another: all or none of them.
  template <typename... T> bool read(T &...values) {
    static_assert((std::is_arithmetic_v<T> && ...));
    static_assert(std::endian::native == std::endian::little);
    if (!canHold((sizeof(T) + ...)))
      return false;
    (readOne(values), ...);
    return true;
  }

  /// Takes the next `count` bytes, borrowed like the whole.
  bool take(uint64_t count, std::span<const std::byte> &part) {
    if (!canHold(count))
      return false;
    part = all.subspan(position, count);
    position += count;
    return true;
  }
  bool take(uint64_t count, std::string_view &text) {
    std::span<const std::byte> part;
    if (!take(count, part))
      return false;
    text = {reinterpret_cast<const char *>(part.data()), part.size()};
    return true;
  }

private:
  template <typename T> void readOne(T &value) {
    std::memcpy(&value, all.data() + position, sizeof(T));
    position += sizeof(T);
  }

  std::span<const std::byte> all;
  size_t position = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_BYTEREADER_H
