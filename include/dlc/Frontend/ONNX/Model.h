// SPDX-License-Identifier: Apache-2.0
//
// An ONNX model as decoded: plain structures whose strings and byte ranges
// point into the file. Nothing here owns weights, and nothing recurses: a
// graph inside an attribute stays encoded until somebody asks for it.

#ifndef DLC_FRONTEND_ONNX_MODEL_H
#define DLC_FRONTEND_ONNX_MODEL_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace dlc::onnx {

/// TensorProto.DataType, with the values of the format.
enum class ElementType : int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26,
};

/// A StringStringEntryProto.
struct KeyValue {
  std::string_view key;
  std::string_view value;
};

/// A TensorProto. At most one of `raw`, the typed chunks and `external` holds
/// the elements; decodeTensor() checks that.
struct Tensor {
  std::string_view name;
  ElementType type = ElementType::Undefined;
  std::vector<int64_t> dims;
  bool hasRaw = false;
  std::string_view raw;
  /// The encoded values of a typed field in order; a chunk is a packed run or
  /// one unpacked value, which have the same encoding.
  std::vector<std::string_view> floats, int32s, int64s, doubles, uint64s;
  bool hasStrings = false;
  bool hasSegment = false;
  bool isExternal = false;
  std::vector<KeyValue> external;
};

/// A dimension: a value, a name, or nothing at all.
struct Dimension {
  bool hasValue = false;
  int64_t value = 0;
  std::string_view name;
};

/// What a TypeProto holds. Only tensors are decoded further.
enum class TypeKind { None, Tensor, Sequence, Map, Optional, SparseTensor };

struct ValueInfo {
  std::string_view name;
  TypeKind kind = TypeKind::None;
  ElementType element = ElementType::Undefined;
  bool hasShape = false;
  std::vector<Dimension> shape;
};

/// AttributeProto.AttributeType, with the values of the format.
enum class AttributeKind : int32_t {
  Undefined = 0,
  Float = 1,
  Int = 2,
  String = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Strings = 8,
  Tensors = 9,
  Graphs = 10,
  SparseTensor = 11,
  SparseTensors = 12,
  Type = 13,
  Types = 14,
};

struct Attribute {
  std::string_view name;
  /// In a function: the caller's attribute to take instead.
  std::string_view reference;
  AttributeKind kind = AttributeKind::Undefined;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<Tensor> tensors; ///< One for Tensor, any number for Tensors.
  /// Encoded GraphProto; readGraph() decodes it.
  std::string_view graph;
};

struct Node {
  std::string_view name, type, domain, overload;
  std::vector<std::string_view> inputs, outputs; ///< "" means absent.
  std::vector<Attribute> attributes;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  bool hasSparseInitializers = false;
  std::vector<ValueInfo> inputs, outputs;
};

struct OpsetImport {
  std::string_view domain;
  int64_t version = 0;
};

struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<std::string_view> attributes; ///< Names without a default.
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  std::vector<OpsetImport> opsets;
};

struct Model {
  int64_t irVersion = 0;
  std::vector<OpsetImport> opsets;
  bool hasGraph = false;
  Graph graph;
  std::vector<Function> functions;
  bool hasTraining = false;
};

} // namespace dlc::onnx

#endif // DLC_FRONTEND_ONNX_MODEL_H
