// SPDX-License-Identifier: Apache-2.0
//
// MXNet's lists of arrays: the .params and .nd files of every release.
//
// Layout (MXNet src/ndarray/ndarray.cc, NDArray::Save and Load), all of it
// little-endian:
//
//   list  = u64 0x112; u64 0; u64 n; n arrays; u64 k, 0 or n; k names
//   name  = u64 length; bytes
//   shape = i32 rank; i64 dims[rank]
//   array = u32 magic; i32 layout; [shape of the values, when sparse]; shape;
//           i32 device kind; i32 device index; i32 element type;
//           [for each index block: i32 type; shape]; values; [index blocks]
//
// V1 has no layout; in V0 the magic is the rank and dimensions are u32. An
// array that was never given a shape ends after it.
//
// Also the dictionaries of NNVM and TVM (nnvm.compiler.save_param_dict), which
// are read only:
//
//   dictionary = u64 0xF7E58D4F05049CB7; u64 0; u64 n; n names;
//                u64 n; n tensors
//   tensor     = u64 0xDD5E40F096B4A13F; u64 0; i32 device kind;
//                i32 device index; i32 rank; u8 kind of elements; u8 bits;
//                u16 lanes; i64 dims[rank]; i64 bytes; elements

#ifndef DLC_RUNTIME_IO_PARAMS_H
#define DLC_RUNTIME_IO_PARAMS_H

#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"
#include "dlc/runtime/IO/Numpy.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::rt {

/// The form of an array's record.
enum class ParamsVersion : uint8_t {
  V0, ///< Until MXNet 0.10.
  V1, ///< MXNet 0.11: 64-bit dimensions.
  V2, ///< MXNet 0.12 to 1.9: sparse arrays.
  V3, ///< MXNet 1.5 and later with NumPy's shapes: scalars; no sparse arrays.
};

/// How elements are stored, in MXNet's numbers.
enum class ParamsLayout : int32_t {
  Dense = 0,
  RowSparse = 1, ///< Some rows (along dimension 0) and their numbers.
  Csr = 2,       ///< A matrix by compressed rows.
};

/// The device that held an array when it was saved, in MXNet's numbers (1 cpu,
/// 2 gpu, 3 cpu_pinned, 5 cpu_shared). Reading does not depend on it.
struct ParamsDevice {
  int32_t kind = 1;
  int32_t index = 0;

  friend bool operator==(ParamsDevice, ParamsDevice) = default;
};

/// A dense row-major block of an array; the memory is borrowed and read-only.
struct ParamsBlock {
  DataType type = DLC_INVALID_TYPE;
  std::vector<int64_t> shape;
  const void *data = nullptr; ///< Aligned for the type.

  TensorView view() const { return {type, shape, const_cast<void *>(data)}; }
};

struct ParamsArray {
  std::string name; ///< Empty in a list without names.
  ParamsVersion version = ParamsVersion::V2;
  ParamsLayout layout = ParamsLayout::Dense;
  ParamsDevice device;
  /// Of the array as a whole. Without an element type the array is undefined:
  /// its shape is 0-dimensional (V3: of unknown rank or dimensions) and it has
  /// no data.
  TensorType type;
  /// Dense: all elements. RowSparse: the rows that are stored. Csr: the
  /// elements that are stored, as a vector.
  ParamsBlock values;
  /// RowSparse: the row numbers, ascending. Csr: where each row's elements
  /// start (one more than rows, or none when nothing is stored), and their
  /// columns, ascending within a row. All are i64 vectors.
  std::vector<ParamsBlock> indices;

  bool isDefined() const { return type.type != DLC_INVALID_TYPE; }
};

/// A list with the memory that its arrays borrow, unless that is the caller's.
struct ParamsList {
  bool isNamed = false;
  std::vector<ParamsArray> arrays;

  MappedFile file;
  std::vector<AlignedBuffer> copies; ///< Of blocks that the file misaligns.

  /// The array of that name, or null.
  const ParamsArray *find(std::string_view name) const;
};

/// Whether the bytes of a file start as a list or a dictionary does.
bool isParams(std::span<const std::byte> bytes);

/// Reads a list or a dictionary from the bytes of a file, which outlive the
/// result: blocks are views into it wherever it aligns them. Tensors of a
/// dictionary are arrays with names, of V2, scalars of V3. Everything that the
/// types above say of an array has been checked. Errors, which name the array
/// by its position: DataLoss (malformed), Unsupported (more dimensions, or
/// another type of indices, than DLC has), OutOfMemory (while copying).
Result<ParamsList> parseParams(std::span<const std::byte> bytes);

/// The same from a file, which stays mapped; or the members of an .npz file, as
/// dense arrays with names. Errors name the path; also those of MappedFile and
/// parseNpz().
Result<ParamsList> readParams(const std::string &path);

/// Writes a file as a whole or not at all: byte for byte what was read. With
/// `isNamed`, names are unique. Errors: InvalidArgument (arrays that break the
/// rules above), Unsupported (an array that its version cannot express),
/// Unavailable.
Status writeParams(const std::string &path, std::span<const ParamsArray> arrays,
                   bool isNamed);

/// A dense copy of a defined array, with zeros for what is not stored. Errors:
/// InvalidArgument (undefined, or more than `byteLimit` bytes: a sparse array
/// of a few bytes can claim any size), those of `allocate`.
Result<HostTensor>
toDense(const ParamsArray &array, uint64_t byteLimit,
        const BufferAllocator &allocate = AlignedBuffer::allocate);

} // namespace dlc::rt

#endif // DLC_RUNTIME_IO_PARAMS_H
