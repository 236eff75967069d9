// SPDX-License-Identifier: Apache-2.0
//
// Small integers and the ranges of floats that they stand for.

#ifndef DLC_LIB_SYMBOL_OPERATORS_QUANTIZATION_H
#define DLC_LIB_SYMBOL_OPERATORS_QUANTIZATION_H

#include "Layers.h"

namespace dlc::symbol {

/// The integer that the largest float of a range stands for, with the half that
/// still goes there.
inline constexpr double kInt8Range = 127.5, kUint8Range = 255.5;
inline constexpr double kInt32Range = 2147483648.0; ///< As f32.

bool isUnsigned(mlir::Value x);

/// Fails the node unless the operand is of int8 or uint8.
bool isSmall(LoweringContext &n, mlir::Value x);

inline double rangeOf(mlir::Value x) {
  return isUnsigned(x) ? kUint8Range : kInt8Range;
}

/// A scalar of f32.
mlir::Value number(LoweringContext &n, double value);
mlir::Value asFloat(LoweringContext &n, mlir::Value x);
mlir::Value asSum(LoweringContext &n, mlir::Value x); ///< As i32.

/// The one float that operand `index` holds, as a vector.
mlir::Value rangeOperand(LoweringContext &n, size_t index);

mlir::Value largest(LoweringContext &n, mlir::Value low, mlir::Value high);

/// Integers for one float: rangeOf(x) over the largest of its range.
mlir::Value scaleOf(LoweringContext &n, mlir::Value x, mlir::Value low,
                    mlir::Value high);

/// To the nearest integer of `type`, halves to even ones.
mlir::Value rounded(LoweringContext &n, mlir::Value x, rt::DataType type);

/// The range that is a parameter of the node; null where it was not measured.
bool isMeasured(const Parameters &p);
std::pair<mlir::Value, mlir::Value> measuredRange(LoweringContext &n);

/// The least and the greatest element, as vectors of one.
std::pair<mlir::Value, mlir::Value> rangeOfElements(LoweringContext &n,
                                                    mlir::Value x);

void setWithRange(LoweringContext &n, mlir::Value y, mlir::Value low,
                  mlir::Value high);

/// Sums of products of data with weights of int8, and their range. `data` and
/// `weight` are the largest floats of their ranges.
void setSums(LoweringContext &n, mlir::Value y, mlir::Value data,
             double dataLevels, mlir::Value weight);

/// Operands from `first` on are ranges, and so are the results but the first.
void relateRanges(ShapeRelation &r, size_t first);

/// `parameters`, and the range of the result.
std::vector<Parameter> withRange(std::vector<Parameter> parameters);

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_OPERATORS_QUANTIZATION_H
