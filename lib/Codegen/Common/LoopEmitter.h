// SPDX-License-Identifier: Apache-2.0
//
// Turns one structured operation on memrefs into loops over vectors.

#ifndef DLC_LIB_CODEGEN_COMMON_LOOPEMITTER_H
#define DLC_LIB_CODEGEN_COMMON_LOOPEMITTER_H

#include "BodyEmitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace dlc::codegen {

/// Emits `op` at the builder's insertion point. `views` maps its memrefs and
/// `outer` the scalars that its body captures. `initial` holds, by output,
/// the value that the output is known to start with, or null to read it.
///
/// Loops: parallel dimensions outside, dimensions that an output accumulates
/// over inside, one dimension in vectors. Accumulators stay in registers; a
/// loop may store elements and accumulate at once. Fails with a diagnostic.
llvm::LogicalResult
emitStructuredOp(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
                 const TargetOptions &target, const ViewMap &views,
                 const ValueMap &outer, llvm::ArrayRef<mlir::Value> initial);

} // namespace dlc::codegen

#endif // DLC_LIB_CODEGEN_COMMON_LOOPEMITTER_H
