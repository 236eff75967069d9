// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy and .npz files.
//
// Element types are NumPy's, little-endian. NumPy has no bf16: it is written
// as the two-byte void type "<V2", as NumPy writes ml_dtypes.bfloat16, and
// that is read as bf16.
//
// Texts are read from "<U" and "S", whose texts are filled up with zeros to one
// width, and written as "<U" of the longest; as "S" where one is no UTF-8.

#ifndef DLC_RUNTIME_IO_NUMPY_H
#define DLC_RUNTIME_IO_NUMPY_H

#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"
#include "dlc/runtime/Base/Text.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dlc::rt {

/// A dense row-major tensor with memory of its own.
struct HostTensor {
  DataType type = DLC_INVALID_TYPE;
  std::vector<int64_t> shape;
  AlignedBuffer data;
  std::unique_ptr<Text[]> texts =
      nullptr; ///< The elements, when they are that.

  TensorView view() const {
    return {type, shape,
            texts ? static_cast<void *>(texts.get()) : data.data()};
  }
};

/// Which elements a reader takes.
enum class ElementKinds : uint8_t {
  Plain, ///< Those whose bytes are all there is to them.
  All,   ///< Text too.
};

/// A member of an .npz file, without the suffix ".npy".
struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

/// A tensor to write; borrowed.
struct NamedView {
  std::string name; ///< Without one: "arr_0", "arr_1", ..., as NumPy has it.
  TensorView tensor;
};

/// Reads the bytes of an .npy file, format 1 to 3; column-major data is
/// rearranged. Errors: DataLoss (malformed), Unsupported (an element type that
/// DLC lacks or is not wanted, big-endian data), OutOfMemory, those of
/// `allocate`, which gives the memory of elements that are no text.
Result<HostTensor>
parseNpy(std::span<const std::byte> bytes,
         ElementKinds kinds = ElementKinds::Plain,
         const BufferAllocator &allocate = AlignedBuffer::allocate);

/// Whether the bytes of a file start as a zip archive does.
bool isNpz(std::span<const std::byte> bytes);

/// Reads the bytes of an .npz file: a zip archive of .npy files, stored or
/// deflated, whose checksums must agree. Members keep the order of the
/// archive. Errors as above; DataLoss for names that are no UTF-8 or have "..";
/// Unsupported for members that unpack to more than 64 MiB and 64 times the
/// file's size together.
Result<std::vector<NamedTensor>>
parseNpz(std::span<const std::byte> bytes,
         ElementKinds kinds = ElementKinds::Plain,
         const BufferAllocator &allocate = AlignedBuffer::allocate);

/// The same from files. Errors name the path; also those of MappedFile.
Result<HostTensor> readNpy(const std::string &path);
Result<std::vector<NamedTensor>> readNpz(const std::string &path);

/// Writes a file as a whole or not at all. The bytes depend on the tensors
/// alone. Errors: Unavailable (also when the file system has no room),
/// Unsupported (an element type that the format has no name for, a text that
/// ends in a zero).
Status writeNpy(const std::string &path, const TensorView &tensor);

/// Writes the members, uncompressed, in order. Errors: Unavailable,
/// InvalidArgument (two of one name, a name that is no UTF-8, holds a zero or
/// has a part ".."), Unsupported (4 GiB or more, or more than 65,535 members).
Status writeNpz(const std::string &path, std::span<const NamedView> tensors);

} // namespace dlc::rt

#endif // DLC_RUNTIME_IO_NUMPY_H
