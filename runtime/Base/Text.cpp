// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Text.h"

#include "dlc/runtime/Base/System.h"

#include <cstring>
#include <type_traits>

using namespace dlc::rt;

// What lies in the memory of arrays.
static_assert(sizeof(Text) == sizeof(void *) &&
              std::is_standard_layout_v<Text>);

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

Result<Text> Text::allocate(size_t length) {
  if (length == 0)
    return Text();
  // The system is asked for its limit, which takes a call, by long texts alone.
  constexpr size_t isLong = size_t(1) << 30;
  void *memory = nullptr;
  if (length < isLong || length < memoryLimit() - sizeof(Shared))
    memory = ::operator new(length + sizeof(Shared) + 1, std::nothrow);
  if (!memory)
    return makeError(StatusCode::OutOfMemory,
                     "no memory for a text of %zu bytes", length);
  Text text;
  text.shared = new (memory) Shared{1, length};
  text.shared->bytes()[length] = '\0';
  return text;
}

Result<Text> Text::make(std::string_view bytes) {
  return makeFilled(bytes.size(), [bytes](char *target) {
    std::memcpy(target, bytes.data(), bytes.size());
  });
}

//===----------------------------------------------------------------------===//
// UTF-8 (RFC 3629)
//===----------------------------------------------------------------------===//

size_t dlc::rt::utf8Length(uint32_t character) {
  if (character < 0x80)
    return 1;
  if (character < 0x800)
    return 2;
  if (character < 0x10000)
    return character >= 0xd800 && character < 0xe000 ? 0 : 3;
  return character < 0x110000 ? 4 : 0;
}

char *dlc::rt::putUtf8(uint32_t character, char *target) {
  size_t length = utf8Length(character);
  // The first byte tells the length by its highest bits.
  static constexpr uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = length; i-- > 1; character >>= 6)
    target[i] = static_cast<char>(0x80 | (character & 0x3f));
  if (length)
    target[0] = static_cast<char>(marks[length] | character);
  return target + length;
}

int32_t dlc::rt::takeUtf8(std::string_view &bytes) {
  auto first = static_cast<uint8_t>(bytes[0]);
  size_t length = first < 0x80   ? 1
                  : first < 0xc0 ? 0
                  : first < 0xe0 ? 2
                  : first < 0xf0 ? 3
                  : first < 0xf8 ? 4
                                 : 0;
  if (length == 0 || length > bytes.size())
    return -1;
  uint32_t character = length == 1 ? first : first & (0x7f >> length);
  for (size_t i = 1; i != length; ++i) {
    auto next = static_cast<uint8_t>(bytes[i]);
    if ((next & 0xc0) != 0x80)
      return -1;
    character = character << 6 | (next & 0x3f);
  }
  if (utf8Length(character) != length)
    return -1;
  bytes.remove_prefix(length);
  return static_cast<int32_t>(character);
}
