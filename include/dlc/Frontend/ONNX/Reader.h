// SPDX-License-Identifier: Apache-2.0
//
// Decodes ONNX protobuf messages. The bytes may come from anyone: whatever
// they are, the answer is a model or a Status that names the offset and what
// was expected. No function here throws, recurses or copies weights; time and
// memory are linear in the number of bytes.

#ifndef DLC_FRONTEND_ONNX_READER_H
#define DLC_FRONTEND_ONNX_READER_H

#include "dlc/Frontend/ONNX/Model.h"
#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace dlc::onnx {

/// Decodes a ModelProto. The result points into `bytes`.
rt::Result<Model> readModel(std::string_view bytes);

/// Decodes a GraphProto, for instance Attribute::graph. The result points into
/// `bytes`.
rt::Result<Graph> readGraph(std::string_view bytes);

/// Decodes a TensorProto message; its elements stay encoded. The result points
/// into `bytes`.
rt::Result<Tensor> readTensor(std::string_view bytes);

/// The element type of the runtime, or DLC_INVALID_TYPE when it has none.
rt::DataType dataTypeOf(ElementType type);

/// The name that onnx.proto gives a type: "FLOAT8E4M3FN"; "type 99" for values
/// that it does not define.
std::string nameOf(ElementType type);

/// Elements of a tensor, row-major, aligned to the element size.
struct TensorContents {
  rt::TensorType type;
  std::span<const std::byte> data;
  /// Keeps `data` alive; null when the caller's bytes do.
  std::shared_ptr<const void> owner;
};

/// Finds the elements of a tensor that is not external. They are a view of the
/// encoded bytes when those are raw and aligned, else decoded into memory that
/// `owner` holds; `mapping` becomes the owner of views.
rt::Result<TensorContents>
decodeTensor(const Tensor &tensor, std::shared_ptr<const void> mapping = {});

/// The type of a tensor, or why it cannot be represented: element types
/// without a counterpart, negative dimensions, sizes beyond int64.
rt::Result<rt::TensorType> typeOf(const Tensor &tensor);

/// Turns raw little-endian bytes into contents: a view if they are aligned
/// (bool: and clean), else a copy. `type` and the size must agree.
rt::Result<TensorContents> viewRaw(rt::TensorType type, std::string_view raw,
                                   std::shared_ptr<const void> mapping);

/// A TensorProto with its elements, as in the files of the conformance suite.
struct NamedTensor {
  std::string name;
  TensorContents contents;
};
rt::Result<NamedTensor> readTensorProto(std::string_view bytes);

} // namespace dlc::onnx

#endif // DLC_FRONTEND_ONNX_READER_H
