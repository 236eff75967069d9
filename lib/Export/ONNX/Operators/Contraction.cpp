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

static constexpr Row rows[] = {
    {"conv", "Conv", 17, writeConv},
    {"conv_transpose", "ConvTranspose"},
    {"deform_conv", "DeformConv", 19},
    {"einsum", "Einsum"},
    {"matmul", "MatMul"},
};

llvm::ArrayRef<Row> dlc::exporter::contractionRows() { return rows; }
