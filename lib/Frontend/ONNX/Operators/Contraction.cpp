// SPDX-License-Identifier: Apache-2.0
//
// Matrix products and convolutions.

#include "Window.h"

using namespace dlc::onnx;
using mlir::Value;

/// numpy.matmul: a vector is a row on the left and a column on the right.
static void importMatMul(NodeContext &n) {
  Value a = n.in(0), b = n.in(1);
  bool vectorA = n.rank(a) == 1, vectorB = n.rank(b) == 1;
  if (vectorA)
    a = n.b.unsqueeze(a, {0});
  if (vectorB)
    b = n.b.unsqueeze(b, {1});
  Value product = n.b.op("matmul", {a, b});
  Ints extra;
  if (vectorA)
    extra.push_back(-2);
  if (vectorB)
    extra.push_back(-1);
  n.set(0, n.b.squeeze(product, extra));
}

/// alpha * A' * B' + beta * C.
static void importGemm(NodeContext &n) {
  if (n.opset < 7)
    n.ignore({"broadcast"});
  auto scaled = [&](Value value, float factor) {
    return factor == 1.0f ? value
                          : n.b.mul(value, n.b.scalarLike(value, factor));
  };
  auto transposed = [&](Value value, const char *flag) {
    return n.getBool(flag, false) ? n.b.transpose(value, {1, 0}) : value;
  };
  Value a = transposed(n.in(0), "transA"), b = transposed(n.in(1), "transB");
  float alpha = n.getFloat("alpha", 1.0f), beta = n.getFloat("beta", 1.0f);
  Value result = scaled(n.b.op("matmul", {a, b}), alpha);
  if (n.has(2) && beta != 0.0f)
    result = n.b.add(result, scaled(n.in(2), beta));
  n.set(0, result);
}

static void importEinsum(NodeContext &n) {
  if (!n.hasAttr("equation"))
    return n.fail("expected attribute 'equation'");
  llvm::SmallVector<Value> operands;
  for (size_t i = 0; i < n.inputCount(); ++i)
    operands.push_back(n.in(i));
  n.set(0, n.b.op("einsum", operands,
                  {{"equation", n.getString("equation", "")}}));
}

//===-- Convolutions ------------------------------------------------------===//

/// The spatial dimensions of a filter; empty while unknown. The attribute is
/// redundant, but must not contradict.
static Ints filterKernel(NodeContext &n, Value filter) {
  Ints kernel = n.getInts("kernel_shape");
  std::optional<int64_t> rank = GraphBuilder::rankOf(filter);
  if (!rank || *rank < 2)
    return kernel;
  Ints actual;
  for (int64_t i = 2; i < *rank; ++i) {
    int64_t extent = GraphBuilder::dimOf(filter, i);
    if (mlir::ShapedType::isDynamic(extent))
      return kernel;
    actual.push_back(extent);
  }
  if (!kernel.empty() && kernel != actual)
    n.fail("expected attribute 'kernel_shape' to agree with the filter");
  return actual;
}

static void importConv(NodeContext &n) {
  Window window = readWindow(n, n.in(0), filterKernel(n, n.in(1)));
  resolveAutoPad(n, n.in(0), window);
  llvm::SmallVector<NamedValue> attributes = window.attributes();
  attributes.push_back({"group", n.getInt("group", 1)});
  llvm::SmallVector<Value> operands = {n.in(0), n.in(1)};
  if (n.has(2))
    operands.push_back(n.in(2));
  n.set(0, n.b.op("conv", operands, attributes));
}

/// An output shape, or SAME, tells the padding once the input is known. Where
/// the padding would be negative the operation's own rule applies.
static void resolveTransposedPads(NodeContext &n, Window &window,
                                  Ints &outputShape,
                                  llvm::ArrayRef<int64_t> outputPadding) {
  size_t rank = window.kernel.size();
  bool same = window.autoPad != "NOTSET";
  if (rank == 0 || (!same && outputShape.size() != rank))
    return;
  Ints pads(2 * rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    int64_t extent = GraphBuilder::dimOf(n.in(0), static_cast<int64_t>(i) + 2);
    if (!areExtents({extent}))
      return;
    int64_t stride = window.strides.empty() ? 1 : window.strides[i];
    int64_t dilation = window.dilations.empty() ? 1 : window.dilations[i];
    int64_t extra = outputPadding.size() == rank ? outputPadding[i] : 0;
    int64_t wanted =
        outputShape.size() == rank ? outputShape[i] : extent * stride;
    int64_t total = stride * (extent - 1) + extra +
                    (window.kernel[i] - 1) * dilation + 1 - wanted;
    if (total < 0)
      return;
    // Where an odd element goes changed with opset 11.
    bool beginIsSmaller = n.opset >= 11 ? window.autoPad == "SAME_UPPER"
                                        : window.autoPad != "SAME_UPPER";
    pads[i] = beginIsSmaller ? total / 2 : total - total / 2;
    pads[i + rank] = total - pads[i];
  }
  window.pads = pads;
  window.autoPad = "NOTSET";
  outputShape.clear();
}

static void importConvTranspose(NodeContext &n) {
  Window window = readWindow(n, n.in(0), filterKernel(n, n.in(1)));
  Ints outputShape = n.getInts("output_shape");
  Ints outputPadding = n.getInts("output_padding");
  std::optional<int64_t> rank = GraphBuilder::rankOf(n.in(0));
  // Some writers give the whole shape.
  if (rank && static_cast<int64_t>(outputShape.size()) == *rank)
    outputShape.erase(outputShape.begin(), outputShape.begin() + 2);
  if (window.autoPad == "VALID") {
    window.pads.clear();
    window.autoPad = "NOTSET";
  }
  if (rank && !n.b.failed())
    resolveTransposedPads(n, window, outputShape, outputPadding);
  llvm::SmallVector<NamedValue> attributes = window.attributes();
  attributes.push_back({"group", n.getInt("group", 1)});
  attributes.push_back(
      {"output_padding", llvm::ArrayRef<int64_t>(outputPadding)});
  attributes.push_back({"output_shape", llvm::ArrayRef<int64_t>(outputShape)});
  llvm::SmallVector<Value> operands = {n.in(0), n.in(1)};
  if (n.has(2))
    operands.push_back(n.in(2));
  n.set(0, n.b.op("conv_transpose", operands, attributes));
}

static void importDeformConv(NodeContext &n) {
  filterKernel(n, n.in(1));
  Ints strides = n.getInts("strides"), pads = n.getInts("pads"),
       dilations = n.getInts("dilations");
  n.set(0, n.b.op("deform_conv",
                  {n.in(0), n.in(1), n.in(2), n.b.orNone(n.in(3)),
                   n.b.orNone(n.in(4))},
                  {{"strides", llvm::ArrayRef<int64_t>(strides)},
                   {"pads", llvm::ArrayRef<int64_t>(pads)},
                   {"dilations", llvm::ArrayRef<int64_t>(dilations)},
                   {"group", n.getInt("group", 1)},
                   {"offset_group", n.getInt("offset_group", 1)}}));
}

static constexpr Operator rows[] = {
    {"Conv", 1, 2, 3, 1, importConv},
    {"ConvTranspose", 1, 2, 3, 1, importConvTranspose},
    {"DeformConv", 19, 3, 5, 1, importDeformConv},
    {"Det", 11, 1, 1, 1, importSimple<"det">},
    {"Einsum", 12, 1, kAny, 1, importEinsum},
    {"Gemm", 1, 3, 3, 1, importGemm},
    {"Gemm", 11, 2, 3, 1, importGemm},
    {"MatMul", 1, 2, 2, 1, importMatMul},
};

llvm::ArrayRef<Operator> dlc::onnx::contractionOperators() { return rows; }
