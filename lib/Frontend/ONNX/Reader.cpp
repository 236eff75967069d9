// SPDX-License-Identifier: Apache-2.0
//
// One function per message of onnx.proto, in the order of that file. Fields
// that carry no meaning for compilation (documentation, metadata, device
// configurations, value_info) are skipped, as are unknown ones.

#include "dlc/Frontend/ONNX/Reader.h"

#include "WireReader.h"

using namespace dlc::onnx;
using dlc::rt::Result;
using dlc::rt::Status;

namespace {
/// Decodes the messages of one buffer.
class Decoder {
public:
  explicit Decoder(std::string_view bytes) : buffer{bytes} {}

  Status read(std::string_view message, Attribute &attribute);
  Status read(std::string_view message, ValueInfo &info);
  Status read(std::string_view message, Node &node);
  Status read(std::string_view message, Model &model);
  Status read(std::string_view message, KeyValue &entry);
  Status read(std::string_view message, Graph &graph);
  Status read(std::string_view message, Tensor &tensor);
  Status read(std::string_view message, OpsetImport &opset);
  Status read(std::string_view message, Function &function);

private:
  /// Decodes the current field of `reader` into a new element of `list`.
  template <typename T> void append(WireReader &reader, std::vector<T> &list) {
    std::string_view message = reader.getBytes();
    if (reader.isOk())
      reader.absorb(read(message, list.emplace_back()));
  }
  Status readType(std::string_view message, ValueInfo &info);
  Status readTensorType(std::string_view message, ValueInfo &info);
  Status readShape(std::string_view message, ValueInfo &info);
  Status readDimension(std::string_view message, Dimension &dimension);

  WireBuffer buffer;
};
} // namespace

/// The kind that old files leave out (IR version 1 had no such field).
static AttributeKind guessKind(const Attribute &attribute) {
  if (!attribute.tensors.empty())
    return AttributeKind::Tensor;
  if (!attribute.ints.empty())
    return AttributeKind::Ints;
  if (!attribute.floats.empty())
    return AttributeKind::Floats;
  if (!attribute.strings.empty())
    return AttributeKind::Strings;
  return AttributeKind::Undefined;
}

Status Decoder::read(std::string_view message, Attribute &attribute) {
  WireReader reader(buffer, message, "AttributeProto");
  AttributeKind scalarKind = AttributeKind::Undefined;
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      attribute.name = reader.getBytes();
      break;
    case 2:
      attribute.f = reader.getFloat();
      scalarKind = AttributeKind::Float;
      break;
    case 3:
      attribute.i = reader.getInt();
      scalarKind = AttributeKind::Int;
      break;
    case 4:
      attribute.s = reader.getBytes();
      scalarKind = AttributeKind::String;
      break;
    case 5:
    case 10:
      append(reader, attribute.tensors);
      break;
    case 6:
      attribute.graph = reader.getBytes();
      break;
    case 7:
      reader.getFloats(attribute.floats);
      break;
    case 8:
      reader.getInts(attribute.ints);
      break;
    case 9:
      attribute.strings.push_back(reader.getBytes());
      break;
    case 20:
      attribute.kind = static_cast<AttributeKind>(reader.getInt());
      break;
    case 21:
      attribute.reference = reader.getBytes();
      break;
    default:
      reader.skip();
    }
  }
  if (attribute.kind == AttributeKind::Undefined)
    attribute.kind = scalarKind != AttributeKind::Undefined
                         ? scalarKind
                         : guessKind(attribute);
  return reader.takeStatus();
}

/// What some exporters, as Paddle's, write for extents that the model leaves
/// open and that need not be equal.
static constexpr int64_t kOpen = -1;
static constexpr std::string_view kOpenName = "?";

Status Decoder::readDimension(std::string_view message, Dimension &dimension) {
  WireReader reader(buffer, message, "TensorShapeProto.Dimension");
  while (reader.next()) {
    switch (reader.field()) {
    case 1: // A oneof: the last of the two wins.
      dimension.value = reader.getInt();
      dimension.hasValue = dimension.value != kOpen;
      dimension.name = {};
      break;
    case 2:
      dimension.name = reader.getBytes();
      if (dimension.name == kOpenName)
        dimension.name = {};
      dimension.hasValue = false;
      break;
    default:
      reader.skip();
    }
  }
  return reader.takeStatus();
}

Status Decoder::readShape(std::string_view message, ValueInfo &info) {
  WireReader reader(buffer, message, "TensorShapeProto");
  while (reader.next()) {
    if (reader.field() != 1) {
      reader.skip();
      continue;
    }
    std::string_view dimension = reader.getBytes();
    if (reader.isOk())
      reader.absorb(readDimension(dimension, info.shape.emplace_back()));
  }
  return reader.takeStatus();
}

Status Decoder::readTensorType(std::string_view message, ValueInfo &info) {
  WireReader reader(buffer, message, "TypeProto.Tensor");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      info.element = static_cast<ElementType>(reader.getInt());
      break;
    case 2: {
      info.hasShape = true;
      info.shape.clear();
      std::string_view shape = reader.getBytes();
      if (reader.isOk())
        reader.absorb(readShape(shape, info));
      break;
    }
    default:
      reader.skip();
    }
  }
  return reader.takeStatus();
}

Status Decoder::readType(std::string_view message, ValueInfo &info) {
  WireReader reader(buffer, message, "TypeProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1: {
      info.kind = TypeKind::Tensor;
      std::string_view tensor = reader.getBytes();
      if (reader.isOk())
        reader.absorb(readTensorType(tensor, info));
      break;
    }
    case 4:
      info.kind = TypeKind::Sequence;
      reader.skip();
      break;
    case 5:
      info.kind = TypeKind::Map;
      reader.skip();
      break;
    case 8:
      info.kind = TypeKind::SparseTensor;
      reader.skip();
      break;
    case 9:
      info.kind = TypeKind::Optional;
      reader.skip();
      break;
    default:
      reader.skip();
    }
  }
  return reader.takeStatus();
}

Status Decoder::read(std::string_view message, ValueInfo &info) {
  WireReader reader(buffer, message, "ValueInfoProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      info.name = reader.getBytes();
      break;
    case 2: {
      std::string_view type = reader.getBytes();
      if (reader.isOk())
        reader.absorb(readType(type, info));
      break;
    }
    default:
      reader.skip();
    }
  }
  return reader.takeStatus();
}

Status Decoder::read(std::string_view message, Node &node) {
  WireReader reader(buffer, message, "NodeProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      node.inputs.push_back(reader.getBytes());
      break;
    case 2:
      node.outputs.push_back(reader.getBytes());
      break;
    case 3:
      node.name = reader.getBytes();
      break;
    case 4:
      node.type = reader.getBytes();
      break;
    case 5:
      append(reader, node.attributes);
      break;
    case 7:
      node.domain = reader.getBytes();
      break;
    case 8:
      node.overload = reader.getBytes();
      break;
    default:
      reader.skip();
    }
  }
  return reader.takeStatus();
}

Status Decoder::read(std::string_view message, Model &model) {
  WireReader reader(buffer, message, "ModelProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      model.irVersion = reader.getInt();
      break;
    case 7: {
      model.hasGraph = true;
      std::string_view graph = reader.getBytes();
      if (reader.isOk())
        reader.absorb(read(graph, model.graph));
      break;
    }
    case 8:
      append(reader, model.opsets);
      break;
    case 20:
      model.hasTraining = true;
      reader.skip();
      break;
    case 25:
      append(reader, model.functions);
      break;
    default:
      reader.skip();
    }
  }
  return reader.takeStatus();
}

Status Decoder::read(std::string_view message, KeyValue &entry) {
  WireReader reader(buffer, message, "StringStringEntryProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      entry.key = reader.getBytes();
      break;
    case 2:
      entry.value = reader.getBytes();
      break;
    default:
      reader.skip();
    }
  }
  return reader.takeStatus();
}

Status Decoder::read(std::string_view message, Graph &graph) {
  WireReader reader(buffer, message, "GraphProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      append(reader, graph.nodes);
      break;
    case 2:
      graph.name = reader.getBytes();
      break;
    case 5:
      append(reader, graph.initializers);
      break;
    case 11:
      append(reader, graph.inputs);
      break;
    case 12:
      append(reader, graph.outputs);
      break;
    case 15:
      graph.hasSparseInitializers = true;
      reader.skip();
      break;
    default:
      reader.skip();
    }
  }
  return reader.takeStatus();
}

Status Decoder::read(std::string_view message, Tensor &tensor) {
  WireReader reader(buffer, message, "TensorProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      reader.getInts(tensor.dims);
      break;
    case 2:
      tensor.type = static_cast<ElementType>(reader.getInt());
      break;
    case 3:
      tensor.hasSegment = true;
      reader.skip();
      break;
    case 4:
      reader.getChunk(WireReader::kFixed32, tensor.floats);
      break;
    case 5:
      reader.getChunk(WireReader::kVarint, tensor.int32s);
      break;
    case 6:
      tensor.hasStrings = true;
      reader.skip();
      break;
    case 7:
      reader.getChunk(WireReader::kVarint, tensor.int64s);
      break;
    case 8:
      tensor.name = reader.getBytes();
      break;
    case 9:
      tensor.raw = reader.getBytes();
      tensor.hasRaw = true;
      break;
    case 10:
      reader.getChunk(WireReader::kFixed64, tensor.doubles);
      break;
    case 11:
      reader.getChunk(WireReader::kVarint, tensor.uint64s);
      break;
    case 13:
      append(reader, tensor.external);
      break;
    case 14:
      tensor.isExternal = reader.getInt() == 1;
      break;
    default:
      reader.skip();
    }
  }
  return reader.takeStatus();
}

Status Decoder::read(std::string_view message, OpsetImport &opset) {
  WireReader reader(buffer, message, "OperatorSetIdProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      opset.domain = reader.getBytes();
      break;
    case 2:
      opset.version = reader.getInt();
      break;
    default:
      reader.skip();
    }
  }
  return reader.takeStatus();
}

Status Decoder::read(std::string_view message, Function &function) {
  WireReader reader(buffer, message, "FunctionProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      function.name = reader.getBytes();
      break;
    case 4:
      function.inputs.push_back(reader.getBytes());
      break;
    case 5:
      function.outputs.push_back(reader.getBytes());
      break;
    case 6:
      function.attributes.push_back(reader.getBytes());
      break;
    case 7:
      append(reader, function.nodes);
      break;
    case 9:
      append(reader, function.opsets);
      break;
    case 10:
      function.domain = reader.getBytes();
      break;
    case 11:
      append(reader, function.defaults);
      break;
    case 13:
      function.overload = reader.getBytes();
      break;
    default:
      reader.skip();
    }
  }
  return reader.takeStatus();
}

template <typename T> static Result<T> readMessage(std::string_view bytes) {
  T value;
  if (Status status = Decoder(bytes).read(bytes, value); !status.isOk())
    return status;
  return value;
}

Result<Model> dlc::onnx::readModel(std::string_view bytes) {
  return readMessage<Model>(bytes);
}

Result<Graph> dlc::onnx::readGraph(std::string_view bytes) {
  return readMessage<Graph>(bytes);
}

Result<Tensor> dlc::onnx::readTensor(std::string_view bytes) {
  return readMessage<Tensor>(bytes);
}
