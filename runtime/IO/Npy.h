// SPDX-License-Identifier: Apache-2.0
//
// Shared by the readers and writers of .npy and .npz.

#ifndef DLC_RUNTIME_IO_NPY_H
#define DLC_RUNTIME_IO_NPY_H

#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"

#include <cstddef>
#include <span>
#include <string>

namespace dlc::rt {

/// The contents of an .npy file.
struct NpyParts {
  std::string header; ///< Fills a multiple of 64 bytes.
  std::span<const std::byte> data;
  AlignedBuffer converted; ///< What `data` refers to, unless the tensor is.
};

/// Errors: Unsupported (elements that the format cannot hold), OutOfMemory.
Result<NpyParts> encodeNpy(const TensorView &tensor);

} // namespace dlc::rt

#endif // DLC_RUNTIME_IO_NPY_H
