// SPDX-License-Identifier: Apache-2.0
//
// Arrays from and to files: NumPy's .npy and .npz, MXNet's .params.

#ifndef DLC_RUNTIME_NDARRAY_FILE_H
#define DLC_RUNTIME_NDARRAY_FILE_H

#include "dlc/runtime/NDArray/NDArray.h"

#include <string>

namespace dlc::rt {

struct NamedArray {
  std::string name; ///< Empty in a file without names.
  NDArray array;
};

enum class ArrayFormat : uint8_t {
  Npy,    ///< One array; its name is not stored.
  Npz,    ///< Arrays with names.
  Params, ///< MXNet's: arrays with names, or all without.
};

struct LoadOptions {
  Context context = Context::cpu();
  /// Sparse arrays become dense ones of at most this many bytes: a few bytes of
  /// a file can claim any size.
  uint64_t sparseByteLimit = uint64_t(1) << 30;
};

/// Reads all arrays of a file, whose first bytes tell the format, into memory
/// of the storage: the file is not needed any more. What is unpacked or aligned
/// on the way is not the storage's, and gone at the end. Undefined arrays
/// become null handles. Errors name the path; they are those of readNpy(),
/// readNpz() and readParams(), of NDArray::create() and of
/// StorageManager::allocate().
Result<std::vector<NamedArray>>
loadArrays(const std::shared_ptr<ArrayRuntime> &runtime,
           const std::string &path, const LoadOptions &options = {});

/// Writes a file as a whole or not at all, as one operation that reads the
/// arrays: what is pushed later does not show. Params are written as V2, or as
/// V3 when an array needs that, with names unless all are empty. Errors: those
/// of writeNpy(), writeNpz() and writeParams(); InvalidArgument (a null handle,
/// arrays of several engines, more than one array for Npy), Unsupported (arrays
/// that are not on the host).
Status saveArrays(const std::string &path, std::span<const NamedArray> arrays,
                  ArrayFormat format);

} // namespace dlc::rt

#endif // DLC_RUNTIME_NDARRAY_FILE_H
