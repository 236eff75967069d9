// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions as short sequences of arith operations that work alike
// on f32 and on vectors of f32. LLVM would call libm once per lane.

#ifndef DLC_LIB_CODEGEN_COMMON_VECTORMATH_H
#define DLC_LIB_CODEGEN_COMMON_VECTORMATH_H

#include "dlc/Codegen/CPU/Target.h"

#include "mlir/IR/Builders.h"

namespace dlc::codegen {

/// Builds the operation `op` (arith or math, scalar) on `operands`, which are
/// f32 or vectors of f32, when this file has a better form of it than LLVM.
/// Returns null when it has none. Without fused multiply-add in `target` the
/// same polynomials are evaluated with two roundings, at a cost of about half
/// an ulp.
mlir::Value expandMath(mlir::OpBuilder &builder, mlir::Operation *op,
                       mlir::ValueRange operands, const TargetOptions &target);

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_COMMON_VECTORMATH_H
