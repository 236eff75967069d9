// SPDX-License-Identifier: Apache-2.0

#include "ModelWriter.h"

#include "dlc/dialects/Graph/Plain.h"

#include <bit>
#include <cstring>

using namespace dlc;
using namespace dlc::exporter;

//===-- The wire format ---------------------------------------------------===//

// Wire types.
static constexpr int kVarint = 0, kLength = 2, kFixed32 = 5;

void Message::addVarint(uint64_t number) {
  for (; number >= 128; number >>= 7)
    bytes += static_cast<char>(number | 128);
  bytes += static_cast<char>(number);
}

void Message::add(int field, uint64_t number) {
  addVarint(field << 3 | kVarint);
  addVarint(number);
}

void Message::add(int field, float number) {
  addVarint(field << 3 | kFixed32);
  auto bits = std::bit_cast<uint32_t>(number);
  for (int i = 0; i < 4; ++i)
    bytes += static_cast<char>(bits >> (8 * i));
}

void Message::add(int field, std::string_view text) {
  addVarint(field << 3 | kLength);
  addVarint(text.size());
  bytes += text;
}

//===-- Parts of a model --------------------------------------------------===//

int exporter::elementNumber(mlir::Type element) {
  switch (graph::toDataType(element)) {
  case DLC_F32:
    return 1;
  case DLC_U8:
    return 2;
  case DLC_I8:
    return 3;
  case DLC_U16:
    return 4;
  case DLC_I16:
    return 5;
  case DLC_I32:
    return 6;
  case DLC_I64:
    return 7;
  case DLC_BOOL:
    return 9;
  case DLC_F16:
    return 10;
  case DLC_F64:
    return 11;
  case DLC_U32:
    return 12;
  case DLC_U64:
    return 13;
  case DLC_BF16:
    return 16;
  default:
    return 0;
  }
}

Message ModelWriter::toValueInfo(const Port &port) {
  auto tensor = llvm::cast<mlir::TensorType>(port.type);
  Message type, tensorType, info;
  tensorType.add(1, elementNumber(tensor.getElementType()));
  if (tensor.hasRank()) {
    Message shape;
    for (auto [i, dim] : llvm::enumerate(tensor.getShape())) {
      Message dimension;
      if (!mlir::ShapedType::isDynamic(dim))
        dimension.add(1, dim);
      else if (i < port.dims.size() && !port.dims[i].empty())
        dimension.add(2, std::string_view(port.dims[i]));
      shape.add(1, dimension);
    }
    tensorType.add(2, shape);
  }
  type.add(1, tensorType);
  info.add(1, std::string_view(port.name));
  info.add(2, type);
  return info;
}

/// AttributeProto: the value in the field of its kind, and the kind.
static Message toProto(const Attribute &attribute) {
  Message proto;
  proto.add(1, std::string_view(attribute.name));
  struct Writer {
    Message &proto;
    int operator()(int64_t value) { return proto.add(3, value), 2; }
    int operator()(float value) { return proto.add(2, value), 1; }
    int operator()(const std::string &value) {
      return proto.add(4, std::string_view(value)), 3;
    }
    int operator()(const std::vector<int64_t> &values) {
      for (int64_t value : values)
        proto.add(8, value);
      return 7;
    }
    int operator()(const std::vector<float> &values) {
      for (float value : values)
        proto.add(7, value);
      return 6;
    }
    int operator()(const std::vector<std::string> &values) {
      for (const std::string &value : values)
        proto.add(9, std::string_view(value));
      return 8;
    }
  };
  int kind = std::visit(Writer{proto}, attribute.value);
  proto.add(20, kind);
  return proto;
}

void ModelWriter::addNode(std::string_view type, std::string_view name,
                          const std::vector<std::string> &inputs,
                          const std::vector<std::string> &outputs,
                          const std::vector<Attribute> &attributes) {
  Message node;
  for (const std::string &input : inputs)
    node.add(1, std::string_view(input));
  for (const std::string &output : outputs)
    node.add(2, std::string_view(output));
  if (!name.empty())
    node.add(3, name);
  node.add(4, type);
  for (const Attribute &attribute : attributes)
    node.add(5, toProto(attribute));
  graph.add(1, node);
}

void ModelWriter::addInitializer(std::string_view name,
                                 mlir::RankedTensorType type,
                                 std::string_view bytes) {
  Message tensor;
  for (int64_t dim : type.getShape())
    tensor.add(1, dim);
  tensor.add(2, elementNumber(type.getElementType()));
  tensor.add(8, name);
  tensor.add(9, bytes);
  graph.add(5, tensor);
}

/// The IR version that came with an opset (ONNX, docs/Versioning.md).
static int64_t irVersionOf(int64_t opset) {
  return opset <= 18   ? 8
         : opset <= 20 ? 9
         : opset <= 22 ? 10
         : opset == 23 ? 11
         : opset == 24 ? 12
                       : 13;
}

std::string ModelWriter::finish(std::string_view graphName, int64_t opset) {
  graph.add(2, graphName);
  Message model, import;
  model.add(1, irVersionOf(opset));
  model.add(2, std::string_view("dlc"));
  model.add(3, std::string_view(DLC_VERSION));
  model.add(7, graph);
  graph = {};
  import.add(1, std::string_view());
  import.add(2, opset);
  model.add(8, import);
  return model.take();
}
