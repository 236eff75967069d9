// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices and convolutions.

#include "../Operators.h"

using namespace dlc::exporter;

/// All elements are in [least, greatest].
static bool isWithin(const Ints &values, int64_t least, int64_t greatest) {
  return llvm::all_of(values, [=](int64_t value) {
    return value >= least && value <= greatest;
  });
}

/// An operand as the i8 or ui8 that it was made of; "" where it was not.
static std::string narrowed(NodeContext &n, unsigned index) {
  mlir::Operation *source = n.value(index).getDefiningOp();
  if (source && source->getName().getStringRef() == "graph.cast") {
    mlir::Value from = source->getOperand(0);
    auto type = llvm::dyn_cast<mlir::IntegerType>(
        llvm::cast<mlir::TensorType>(from.getType()).getElementType());
    return type && type.getWidth() == 8 ? n.nameOf(from) : "";
  }
  std::optional<Ints> values = n.constantInts(index);
  if (!values)
    return "";
  constexpr int64_t ui8 = 2, i8 = 3; // TensorProto.DataType
  bool isSigned = isWithin(*values, INT8_MIN, INT8_MAX);
  if (!isSigned && !isWithin(*values, 0, UINT8_MAX))
    return "";
  return n.node("Cast", {n.in(index)}, {{"to", isSigned ? i8 : ui8}});
}

/// ONNX has sums of products of small integers only.
static void writeConvInteger(NodeContext &n) {
  std::string x = narrowed(n, 0), w = narrowed(n, 1);
  bool isI32 = n.elementOf(0).isSignlessInteger(32);
  if (!isI32 || x.empty() || w.empty())
    return n.unsupported("convolutions of integers other than i8 and ui8, "
                         "which ONNX has no operators for");
  Attributes attributes = n.attributes({"channel_block"});
  if (!n.has(2))
    return n.result("ConvInteger", {x, w}, attributes);
  std::string sums = n.node("ConvInteger", {x, w}, attributes);
  Ints axes;
  for (int64_t i = 1, rank = n.rankOf(0); i + 1 < rank; ++i)
    axes.push_back(i);
  n.result("Add", {sums, n.node("Unsqueeze", {n.in(2), n.ints(axes)})});
}

/// An extent of operand `index`, the last one for 1, if it has so many.
static int64_t extentFromEnd(NodeContext &n, unsigned index, size_t fromEnd) {
  auto shape =
      llvm::cast<mlir::RankedTensorType>(n.value(index).getType()).getShape();
  return fromEnd <= shape.size() ? shape[shape.size() - fromEnd] : 1;
}

static void writeIntegerMatmul(NodeContext &n) {
  if (extentFromEnd(n, 2, 1) != 1 || extentFromEnd(n, 3, 2) != 1)
    return n.unsupported("zero points that differ within a sum");
  n.result("MatMulInteger", n.inputs());
}

static bool hasBlocks(NodeContext &n) {
  return n.getInt("channel_block", 0) != 0 || n.rankOf(0) != n.rankOf(1);
}

static void writeIntegerConv(NodeContext &n) {
  if (hasBlocks(n))
    return n.unsupported("channels in blocks");
  n.result("ConvInteger", n.inputs(), n.attributes({"channel_block"}));
}

static void writeConv(NodeContext &n) {
  if (hasBlocks(n))
    return n.unsupported("channels in blocks");
  if (!llvm::isa<mlir::FloatType>(n.elementOf(0)))
    return writeConvInteger(n);
  n.result("Conv", n.inputs(), n.attributes({"channel_block"}));
}

static Ints orElse(Ints values, size_t size, int64_t fallback) {
  return values.empty() ? Ints(size, fallback) : values;
}

/// SAME as the padding that it stands for: the result is as long as the input
/// times the stride, but ONNX Runtime makes it shorter where windows are
/// narrower than their steps.
static void writeConvTranspose(NodeContext &n) {
  std::string given = n.getString("auto_pad", "NOTSET");
  if (!llvm::StringRef(given).starts_with("SAME") ||
      !n.ints("output_shape").empty())
    return n.result("ConvTranspose", n.inputs(), n.attributes());
  auto weights = llvm::dyn_cast<mlir::RankedTensorType>(n.value(1).getType());
  if (!weights || !weights.hasStaticShape())
    return n.unsupported("SAME padding for a window that is not known");
  llvm::ArrayRef<int64_t> window = weights.getShape().drop_front(2);
  Ints strides = orElse(n.ints("strides"), window.size(), 1);
  Ints dilations = orElse(n.ints("dilations"), window.size(), 1);
  Ints extra = orElse(n.ints("output_padding"), window.size(), 0);
  Ints pads(2 * window.size(), 0);
  for (size_t i = 0; i < window.size(); ++i) {
    int64_t cut = (window[i] - 1) * dilations[i] + 1 + extra[i] - strides[i];
    if (cut < 0)
      extra[i] -= cut;
    int64_t less = std::max<int64_t>(0, cut) / 2;
    int64_t more = std::max<int64_t>(0, cut) - less;
    bool isUpper = given == "SAME_UPPER";
    pads[i] = isUpper ? less : more;
    pads[window.size() + i] = isUpper ? more : less;
  }
  Attributes attributes = n.attributes({"auto_pad", "output_padding", "pads"});
  attributes.push_back({"output_padding", extra});
  attributes.push_back({"pads", pads});
  n.result("ConvTranspose", n.inputs(), attributes);
}

static constexpr Row rows[] = {
    {"conv", "Conv", 17, writeConv},
    {"conv_transpose", "ConvTranspose", 17, writeConvTranspose},
    {"deform_conv", "DeformConv", 19},
    {"einsum", "Einsum"},
    {"integer_conv", "ConvInteger", 10, writeIntegerConv},
    {"integer_matmul", "MatMulInteger", 10, writeIntegerMatmul},
    {"matmul", "MatMul"},
};

llvm::ArrayRef<Row> dlc::exporter::contractionRows() { return rows; }
