// SPDX-License-Identifier: Apache-2.0
//
// Layers that operators on floats share with their forms on small integers.

#ifndef DLC_LIB_SYMBOL_OPERATORS_LAYERS_H
#define DLC_LIB_SYMBOL_OPERATORS_LAYERS_H

#include "Window.h"

namespace dlc::symbol {

std::vector<Parameter> convolutionParameters(std::string_view bias);
std::vector<Parameter> fullyConnectedParameters();
std::vector<Parameter> poolingParameters();
std::vector<Parameter> embeddingParameters();

/// Data, weight and, unless `no_bias`, bias.
void relateConvolution(ShapeRelation &r);
void relateFullyConnected(ShapeRelation &r);
/// The weight.
void relateEmbedding(ShapeRelation &r);

/// The convolution of the node's parameters; `bias` may be null.
mlir::Value convolve(LoweringContext &n, mlir::Value x, mlir::Value w,
                     mlir::Value bias);

/// Rows of `x` times the transposed weight.
mlir::Value multiplyByWeight(LoweringContext &n, mlir::Value x, mlir::Value w);

/// The pooling of the node's parameters. Zeros make windows whole that reach
/// beyond the padding, if `fillsWindows`: then they count in means.
mlir::Value pool(LoweringContext &n, mlir::Value x, bool fillsWindows);

/// Rows of the second operand that the first one names.
void lowerEmbedding(LoweringContext &n);

// Attention of parameter `heads`.

/// (length, batch, heads * parts * size) as `part` of parts of
/// (batch * heads, length, size).
mlir::Value headsOf(LoweringContext &n, mlir::Value x, int64_t parts,
                    int64_t part);
/// (batch * heads, length, size) as (length, batch, heads * size).
mlir::Value joinHeads(LoweringContext &n, mlir::Value x);
/// `x` times the transposed `y`, matrix by matrix.
mlir::Value multiplyByTransposed(LoweringContext &n, mlir::Value x,
                                 mlir::Value y);

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_OPERATORS_LAYERS_H
