// SPDX-License-Identifier: Apache-2.0
//
// Shared by the readers and writers of .npy and .npz.

#ifndef DLC_RUNTIME_IO_NPY_H
#define DLC_RUNTIME_IO_NPY_H

#include "NpyText.h"

#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"
#include "dlc/runtime/IO/Numpy.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace dlc::rt {

/// The contents of an .npy file; refer to the tensor.
struct NpyParts {
  std::string header;                   ///< Fills a multiple of 64 bytes.
  std::span<const std::byte> data = {}; ///< Elements as they lie in the file,
  std::span<const Text> texts = {};     ///< or texts,
  TextForm form = {};                   ///< written so.

  /// Of the elements; UINT64_MAX when no file has so many.
  uint64_t dataBytes() const;
  /// Hands all bytes to `take`, in order and in pieces: padded texts may be
  /// more than there is memory for. Ends with the first error of `take`.
  Status visit(const TakeBytes &take) const;
  /// What is written, for messages: "2 texts of 12 bytes each".
  std::string describe() const;
};

/// Whether the first bytes of a file of `size` bytes say that it has as many;
/// they hold its header, or are all of it. Errors: those of parseNpy().
Status checkNpyStart(std::span<const std::byte> start, uint64_t size,
                     ElementKinds kinds);

/// Errors: Unsupported (elements that the format cannot hold).
Result<NpyParts> encodeNpy(const TensorView &tensor);

} // namespace dlc::rt

#endif // DLC_RUNTIME_IO_NPY_H
