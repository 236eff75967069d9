// SPDX-License-Identifier: Apache-2.0
//
// Little-endian records under construction, for the writers of this folder.

#ifndef DLC_RUNTIME_IO_RECORD_H
#define DLC_RUNTIME_IO_RECORD_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dlc::rt {

class Record {
public:
  /// Appends the lowest `count` bytes of `value`.
  Record &put(uint64_t value, size_t count) {
    for (; count != 0; --count, value >>= 8)
      bytes += static_cast<char>(value & 0xff);
    return *this;
  }
  Record &put(std::string_view text) {
    bytes += text;
    return *this;
  }
  std::span<const std::byte> all() const {
    return std::as_bytes(std::span(bytes));
  }

private:
  std::string bytes;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_IO_RECORD_H
