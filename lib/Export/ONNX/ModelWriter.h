// SPDX-License-Identifier: Apache-2.0
//
// An ONNX model in the making, as encoded bytes: protobuf's wire format needs
// no more than tags, varints and lengths. Field numbers are those of onnx.proto
// (ONNX 1.22).

#ifndef DLC_LIB_EXPORT_ONNX_MODELWRITER_H
#define DLC_LIB_EXPORT_ONNX_MODELWRITER_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dlc::exporter {

/// One message of protobuf, encoded as it is filled in.
class Message {
public:
  void add(int field, uint64_t number);
  void add(int field, int64_t number) {
    add(field, static_cast<uint64_t>(number));
  }
  void add(int field, int number) { add(field, static_cast<int64_t>(number)); }
  void add(int field, float number);
  void add(int field, std::string_view bytes);
  void add(int field, const Message &message) {
    add(field, std::string_view(message.bytes));
  }
  std::string take() { return std::move(bytes); }
  size_t size() const { return bytes.size(); }

private:
  void addVarint(uint64_t number);
  std::string bytes;
};

/// An attribute of a node.
struct Attribute {
  std::string name;
  std::variant<int64_t, float, std::string, std::vector<int64_t>,
               std::vector<float>, std::vector<std::string>>
      value;
};

/// TensorProto.DataType of an element type, or 0.
int elementNumber(mlir::Type element);

/// What an edge of the graph is: its name, and its type as far as it is known.
struct Port {
  std::string name;
  mlir::Type type;
  std::vector<std::string> dims; ///< Names of open dimensions, or empty.
};

class ModelWriter {
public:
  void addInput(const Port &port) { graph.add(11, toValueInfo(port)); }
  void addOutput(const Port &port) { graph.add(12, toValueInfo(port)); }
  void addNode(std::string_view type, std::string_view name,
               const std::vector<std::string> &inputs,
               const std::vector<std::string> &outputs,
               const std::vector<Attribute> &attributes);
  /// `bytes`: row-major, little-endian, booleans one byte each.
  void addInitializer(std::string_view name, mlir::RankedTensorType type,
                      std::string_view bytes);
  /// Bytes so far.
  size_t size() const { return graph.size(); }
  /// The model; nothing can be added afterwards.
  std::string finish(std::string_view graphName, int64_t opset);

private:
  static Message toValueInfo(const Port &port);
  Message graph;
};

} // namespace dlc::exporter

#endif // DLC_LIB_EXPORT_ONNX_MODELWRITER_H
