// SPDX-License-Identifier: Apache-2.0
//
// What operators of ai.onnx and of com.microsoft are made of that compute with
// small integers.

#ifndef DLC_LIB_FRONTEND_ONNX_OPERATORS_QUANTIZATION_H
#define DLC_LIB_FRONTEND_ONNX_OPERATORS_QUANTIZATION_H

#include "Simple.h"

namespace dlc::onnx {

/// A parameter of which there is one, a scalar then, or one for each channel or
/// column.
mlir::Value perChannel(NodeContext &n, mlir::Value parameter);

/// A factor of a product, of any rank, and its zero point; null for 0.
struct Factor {
  mlir::Value value, zero;
};

/// The sums of products, in i32.
mlir::Value multiplyIntegers(NodeContext &n, Factor a, Factor b);

/// Rounds sums to the type of the zero point. `scale` broadcasts with them;
/// those of the result are per tensor.
mlir::Value requantize(NodeContext &n, mlir::Value sums, mlir::Value scale,
                       mlir::Value resultScale, mlir::Value resultZero);

/// Floats in u8, with a scale and a zero point that they tell.
struct Quantized {
  mlir::Value value, scale, zero;
};
Quantized quantizeDynamically(NodeContext &n, mlir::Value x);

void importQuantizeLinear(NodeContext &n);
void importDequantizeLinear(NodeContext &n);

/// com.microsoft's LSTM of quantised weights, as one of floats: what it
/// quantises while it runs stays exact.
void importDynamicQuantizeLSTM(NodeContext &n);

} // namespace dlc::onnx

#endif // DLC_LIB_FRONTEND_ONNX_OPERATORS_QUANTIZATION_H
