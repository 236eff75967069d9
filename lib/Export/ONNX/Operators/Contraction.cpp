// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices and convolutions.

#include "../Operators.h"

using namespace dlc::exporter;

static void writeConv(NodeContext &n) {
  if (!llvm::isa<mlir::FloatType>(n.elementOf(0)))
    return n.unsupported("convolutions of integers");
  if (n.getInt("channel_block", 0) != 0 || n.rankOf(0) != n.rankOf(1))
    return n.unsupported("channels in blocks");
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
    {"matmul", "MatMul"},
};

llvm::ArrayRef<Row> dlc::exporter::contractionRows() { return rows; }
