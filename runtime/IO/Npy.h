// SPDX-License-Identifier: Apache-2.0
//
// Shared by the readers and writers of .npy and .npz.

#ifndef DLC_RUNTIME_IO_NPY_H
#define DLC_RUNTIME_IO_NPY_H

#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"

#include <string>

namespace dlc::rt {

/// What stands before the data in an .npy file: 64-byte aligned. Errors:
/// Unsupported (an element type that the format has no name for).
Result<std::string> npyHeaderOf(const TensorView &tensor);

} // namespace dlc::rt

#endif // DLC_RUNTIME_IO_NPY_H
