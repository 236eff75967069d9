// SPDX-License-Identifier: Apache-2.0

#include "NpyText.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <cstring>
#include <utility>

using namespace dlc::rt;

static constexpr size_t characterBytes = 4;

std::string TextForm::name() const {
  return isUnicode ? "U" + std::to_string(width / characterBytes)
                   : "S" + std::to_string(width);
}

std::optional<TextForm> dlc::rt::textFormOf(std::string_view name) {
  if (name.size() < 2 || (name[0] != 'U' && name[0] != 'S'))
    return std::nullopt;
  TextForm form;
  form.isUnicode = name[0] == 'U';
  const char *end = name.data() + name.size();
  auto [rest, error] = std::from_chars(name.data() + 1, end, form.width);
  if (error != std::errc() || rest != end ||
      __builtin_mul_overflow(form.width, form.isUnicode ? characterBytes : 1,
                             &form.width))
    return std::nullopt;
  return form;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static uint32_t characterAt(std::span<const std::byte> data, size_t index) {
  uint32_t character; // Little-endian, as the machine.
  std::memcpy(&character, data.data() + index * characterBytes, characterBytes);
  return character;
}

static Result<Text> readCharacters(std::span<const std::byte> data) {
  size_t count = data.size() / characterBytes, length = 0;
  while (count && characterAt(data, count - 1) == 0)
    --count;
  for (size_t i = 0; i != count; ++i) {
    size_t bytes = utf8Length(characterAt(data, i));
    if (bytes == 0)
      return makeError(StatusCode::DataLoss,
                       "expected a character of Unicode, got 0x%" PRIx32,
                       characterAt(data, i));
    length += bytes;
  }
  return Text::makeFilled(length, [&](char *target) {
    for (size_t i = 0; i != count; ++i)
      target = putUtf8(characterAt(data, i), target);
  });
}

static Result<Text> readBytes(std::span<const std::byte> data) {
  size_t length = data.size();
  while (length && data[length - 1] == std::byte(0))
    --length;
  return Text::make({reinterpret_cast<const char *>(data.data()), length});
}

Status dlc::rt::readTexts(const TextForm &form, std::span<const std::byte> data,
                          std::span<Text> texts) {
  for (size_t i = 0; i != texts.size(); ++i) {
    std::span<const std::byte> own = data.subspan(i * form.width, form.width);
    Result<Text> text = form.isUnicode ? readCharacters(own) : readBytes(own);
    if (!text.isOk())
      return std::move(text.status());
    texts[i] = std::move(*text);
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Characters of a text of UTF-8; nullopt for other bytes.
static std::optional<size_t> countCharacters(std::string_view bytes) {
  size_t count = 0;
  for (; !bytes.empty(); ++count)
    if (takeUtf8(bytes) < 0)
      return std::nullopt;
  return count;
}

Status dlc::rt::chooseTextForm(std::span<const Text> texts, TextForm &form) {
  size_t characters = 1, bytes = 1; // NumPy has no texts of no width.
  form.isUnicode = true;
  for (const Text &text : texts) {
    std::string_view view = text.view();
    if (view.ends_with('\0'))
      return makeError(StatusCode::Unsupported,
                       "expected texts that .npy files can hold, got one that "
                       "ends in a zero");
    bytes = std::max(bytes, view.size());
    std::optional<size_t> count = countCharacters(view);
    form.isUnicode &= count.has_value();
    characters = std::max(characters, count.value_or(0));
  }
  // At most one character a byte: does not overflow.
  form.width = form.isUnicode ? characters * characterBytes : bytes;
  return Status::ok();
}

namespace {
/// Bytes on their way to a file, some at a time.
class PieceWriter {
public:
  explicit PieceWriter(const TakeBytes &take) : take(take) {}

  Status put(const void *bytes, size_t count) {
    const auto *from = static_cast<const std::byte *>(bytes);
    return fill(count, [&](std::byte *to, size_t part) {
      std::memcpy(to, from, part);
      from += part;
    });
  }
  Status putZeros(size_t count) {
    return fill(count,
                [](std::byte *to, size_t part) { std::memset(to, 0, part); });
  }
  Status flush() {
    return take(std::span(piece).first(std::exchange(used, 0)));
  }

private:
  template <typename Fill> Status fill(size_t count, Fill write) {
    while (count) {
      if (used == piece.size())
        DLC_RETURN_IF_ERROR(flush());
      size_t part = std::min(count, piece.size() - used);
      write(piece.data() + used, part);
      used += part;
      count -= part;
    }
    return Status::ok();
  }

  const TakeBytes &take;
  std::array<std::byte, 1 << 14> piece;
  size_t used = 0;
};
} // namespace

Status dlc::rt::writeTexts(const TextForm &form, std::span<const Text> texts,
                           const TakeBytes &take) {
  PieceWriter writer(take);
  for (const Text &text : texts) {
    std::string_view view = text.view();
    size_t rest = form.width;
    if (!form.isUnicode) {
      DLC_RETURN_IF_ERROR(writer.put(view.data(), view.size()));
      rest -= view.size();
    }
    for (; form.isUnicode && !view.empty(); rest -= characterBytes) {
      auto character = static_cast<uint32_t>(takeUtf8(view));
      DLC_RETURN_IF_ERROR(writer.put(&character, characterBytes));
    }
    DLC_RETURN_IF_ERROR(writer.putZeros(rest));
  }
  return writer.flush();
}
