// SPDX-License-Identifier: Apache-2.0
//
// Texts in .npy files: all of one width, filled up with zeros.

#ifndef DLC_RUNTIME_IO_NPYTEXT_H
#define DLC_RUNTIME_IO_NPYTEXT_H

#include "dlc/runtime/Base/Text.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dlc::rt {

/// How each text is stored.
struct TextForm {
  bool isUnicode = true; ///< In characters of four bytes ("U"), or in bytes.
  size_t width = 1;      ///< In bytes.

  /// NumPy's name of the type.
  std::string name() const;
};

/// The form of that name, such as "U5" and "S3", without the byte order;
/// nullopt for other names, and for a width that overflows.
std::optional<TextForm> textFormOf(std::string_view name);

/// Reads `texts.size()` texts out of as many times the width. Errors: DataLoss
/// (what is no character), OutOfMemory.
Status readTexts(const TextForm &form, std::span<const std::byte> data,
                 std::span<Text> texts);

/// What `texts` are written in: characters where all of them are UTF-8, else
/// bytes. Errors: Unsupported (a text that ends in a zero, which a reader would
/// drop).
Status chooseTextForm(std::span<const Text> texts, TextForm &form);

/// Receives bytes of a file in order.
using TakeBytes = std::function<Status(std::span<const std::byte>)>;

/// Hands the texts, each filled up with zeros to the width, to `take` in
/// pieces. Errors: those of `take`.
Status writeTexts(const TextForm &form, std::span<const Text> texts,
                  const TakeBytes &take);

} // namespace dlc::rt

#endif // DLC_RUNTIME_IO_NPYTEXT_H
