// SPDX-License-Identifier: Apache-2.0
//
// Small integers for floats.

#include "../Operators.h"

using namespace dlc::exporter;

/// Blocks, and 16 bits, came with opset 21.
static bool checkOpset(NodeContext &n, mlir::Type integer) {
  bool isNew =
      n.getInt("block_size", 0) != 0 || integer.getIntOrFloatBitWidth() == 16;
  return !isNew || n.needs(21, "quantisation in blocks or to 16 bits");
}

static void writeQuantize(NodeContext &n) {
  if (!checkOpset(n, n.elementOf(2)))
    return;
  if (n.op->hasAttr("precision") && !n.needs(23, "a precision of quotients"))
    return;
  Attributes attributes = n.attributes({"saturate", "block_size"});
  if (int64_t size = n.getInt("block_size", 0))
    attributes.push_back({"block_size", size});
  n.result("QuantizeLinear", n.inputs(), attributes);
}

static void writeDequantize(NodeContext &n) {
  if (!checkOpset(n, n.elementOf(0)))
    return;
  Attributes attributes = n.attributes({"block_size"});
  if (int64_t size = n.getInt("block_size", 0))
    attributes.push_back({"block_size", size});
  n.result("DequantizeLinear", n.inputs(), attributes);
}

static void writeRequantize(NodeContext &n) {
  constexpr int64_t f32 = 1; // TensorProto.DataType
  auto zero = llvm::dyn_cast<mlir::RankedTensorType>(n.value(3).getType());
  if (!zero || !zero.hasStaticShape() || zero.getRank() > 1 ||
      zero.getNumElements() != 1)
    return n.unsupported("zero points that broadcast");
  std::string x = n.node("Cast", {n.in(0)}, {{"to", f32}});
  std::string sum = n.node("Add", {n.node("Mul", {x, n.in(1)}), n.in(2)});
  n.result("QuantizeLinear", {sum,
                              zero.getRank() == 0 ? n.scalarLike(1, 1)
                                                  : n.floatsLike(1, {1}, {1}),
                              n.in(3)});
}

static constexpr Row rows[] = {
    {"dequantize_linear", "DequantizeLinear", 17, writeDequantize},
    {"quantize_linear", "QuantizeLinear", 17, writeQuantize},
    {"requantize", "QuantizeLinear", 17, writeRequantize},
};

llvm::ArrayRef<Row> dlc::exporter::quantizationRows() { return rows; }
