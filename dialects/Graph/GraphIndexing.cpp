// SPDX-License-Identifier: Apache-2.0
//
// Indexing and resampling.

#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphIndexing.cpp.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphSampling.cpp.inc"

void GraphDialect::addIndexingOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphIndexing.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphSampling.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// The extents of dimensions [first, first + count) of `tensor`, which the
/// shape rule has found to be there, when they are known.
static std::optional<SmallVector<int64_t>>
extentsOf(Value tensor, int64_t first, int64_t count) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return std::nullopt;
  SmallVector<int64_t> extents(type.getShape().slice(first, count));
  if (llvm::is_contained(extents, ShapedType::kDynamic))
    return std::nullopt;
  return extents;
}

static std::optional<SmallVector<int64_t>> extentOf(Value tensor,
                                                    int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type ? extentsOf(tensor, wrapAxis(axis, type.getRank()), 1)
              : std::nullopt;
}

OpOperand &GatherOp::getIndicesOperand() { return getIndicesMutable(); }
OpOperand &GatherElementsOp::getIndicesOperand() { return getIndicesMutable(); }
OpOperand &GatherNDOp::getIndicesOperand() { return getIndicesMutable(); }

std::optional<SmallVector<int64_t>> GatherOp::getIndexedExtents() {
  return extentOf(getX(), getAxis());
}
std::optional<SmallVector<int64_t>> GatherElementsOp::getIndexedExtents() {
  return extentOf(getX(), getAxis());
}
std::optional<SmallVector<int64_t>> GatherNDOp::getIndexedExtents() {
  auto type = dyn_cast<RankedTensorType>(getIndices().getType());
  if (!type || type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1))
    return std::nullopt;
  return extentsOf(getX(), getBatchDims(), type.getShape().back());
}

void GatherOp::markInBounds() { setInBounds(true); }
void GatherElementsOp::markInBounds() { setInBounds(true); }
void GatherNDOp::markInBounds() { setInBounds(true); }

bool GatherOp::isInBounds() { return getInBounds(); }
bool GatherElementsOp::isInBounds() { return getInBounds(); }
bool GatherNDOp::isInBounds() { return getInBounds(); }

/// What is read without a check was checked before: kernels trust it. Their own
/// arguments were checked where the kernel was made.
static LogicalResult verifyInBounds(IndexedOpInterface op) {
  if (!op.isInBounds())
    return success();
  Value indices = op.getIndicesOperand().get();
  while (auto copy = indices.getDefiningOp<CopyOp>()) // From another device.
    indices = copy.getX();
  auto extents = op.getIndexedExtents();
  if (!extents)
    return op->emitOpError("expected extents that are known, to be in bounds");
  if (auto argument = dyn_cast<BlockArgument>(indices))
    if (isa<dlc::LaunchableOpInterface>(argument.getOwner()->getParentOp()))
      return success();
  if (auto resolved = indices.getDefiningOp<ResolveIndicesOp>())
    if (resolved.getExtents() == ArrayRef<int64_t>(*extents))
      return success();
  if (auto known = getConstantInts(indices)) {
    size_t count = extents->size();
    bool areInBounds = llvm::all_of(llvm::enumerate(*known), [&](auto pair) {
      return pair.value() >= 0 &&
             pair.value() < (*extents)[pair.index() % count];
    });
    if (areInBounds)
      return success();
  }
  return op->emitOpError("expected indices that are resolved, to be in bounds");
}

LogicalResult GatherOp::verify() { return verifyInBounds(*this); }
LogicalResult GatherElementsOp::verify() { return verifyInBounds(*this); }
LogicalResult GatherNDOp::verify() { return verifyInBounds(*this); }
