// SPDX-License-Identifier: Apache-2.0
//
// The Plan dialect and its operations.

#ifndef DLC_DIALECTS_PLAN_PLANDIALECT_H
#define DLC_DIALECTS_PLAN_PLANDIALECT_H

#include "dlc/dialects/Base/BaseDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dlc/dialects/Plan/PlanDialect.h.inc"

namespace dlc::plan {
/// No layout but row-major, no memory space, and less than 2^63 bytes where the
/// shape is known. The element type has a width.
bool isRowMajor(mlir::BaseMemRefType type);
} // namespace dlc::plan

#define GET_OP_CLASSES
#include "dlc/dialects/Plan/PlanOps.h.inc"

namespace dlc::plan {

/// Bytes of a static memref with row-major layout, booleans one byte each;
/// nullopt when the shape is not static or the size overflows.
std::optional<int64_t> getByteSize(mlir::Type memref);

/// The operation that owns the memory of `value`, through views, and the
/// byte offset into it.
std::pair<mlir::Value, int64_t> getBase(mlir::Value value);

/// Some of its bytes: [begin, end). All of them where sizes are not known.
struct MemoryRange {
  mlir::Value base;
  int64_t begin = 0, end = INT64_MAX;

  /// One without bytes overlaps with itself: who reads it follows its writer.
  bool overlaps(const MemoryRange &other) const {
    if (begin == end || other.begin == other.end)
      return *this == other;
    return base == other.base && begin < other.end && other.begin < end;
  }
  bool operator==(const MemoryRange &) const = default;
};
MemoryRange getRange(mlir::Value value);

} // namespace dlc::plan

#endif // DLC_DIALECTS_PLAN_PLANDIALECT_H
