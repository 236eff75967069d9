// SPDX-License-Identifier: Apache-2.0

#include "KernelWalker.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dlc::codegen;

//===----------------------------------------------------------------------===//
// The function and its grid
//===----------------------------------------------------------------------===//

scf::ForallOp dlc::codegen::findGrid(Block &body) {
  for (Operation &op : body)
    if (auto grid = dyn_cast<scf::ForallOp>(op))
      return grid;
  return {};
}

LogicalResult KernelWalker::bindMemRef(Value memref, Value base, Value offset) {
  auto type = cast<MemRefType>(memref.getType());
  View view;
  view.base = base;
  view.element = type.getElementType();
  view.offset = offset;
  int64_t staticOffset = 0;
  if (failed(type.getStridesAndOffset(view.strides, staticOffset)) ||
      llvm::any_of(view.strides, ShapedType::isDynamic))
    return kernel.emitError("expected memrefs with known strides, got ")
           << type;
  for (int64_t size : type.getShape())
    view.sizes.push_back(builder.getI64IntegerAttr(size));
  views[memref] = std::move(view);
  return success();
}

FailureOr<MemRefType> KernelWalker::checkArgument(Value argument) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (type && type.hasStaticShape())
    return type;
  return kernel.emitError("expected arguments to be memrefs of static "
                          "shape, got ")
         << argument.getType();
}

LogicalResult KernelWalker::emitTile(Value tile) {
  Block &body = kernel.getFunctionBody().front();
  if (scf::ForallOp grid = findGrid(body)) {
    std::optional<ArrayRef<int64_t>> extents = grid.getStaticUpperBound();
    if (!grid.isNormalized() || !extents ||
        llvm::any_of(*extents, [](int64_t extent) { return extent <= 0; }) ||
        !grid.getOutputs().empty())
      return grid.emitError("expected a grid of static extent from 0 by 1, "
                            "without empty dimensions");
    Value rest = tile;
    for (size_t dim = extents->size(); dim-- > 0;) {
      Value index = rest;
      if (dim > 0) {
        Value extent = buildI64(builder, loc, (*extents)[dim]);
        index = arith::RemUIOp::create(builder, loc, rest, extent);
        rest = arith::DivUIOp::create(builder, loc, rest, extent);
      }
      scalars[grid.getInductionVar(dim)] = index;
    }
  }
  return emitBlock(body);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult KernelWalker::emitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(emitOp(op)))
      return failure();
  return success();
}

LogicalResult KernelWalker::emitOp(Operation &op) {
  if (op.hasTrait<OpTrait::IsTerminator>())
    return success();
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](scf::ForallOp grid) { return emitBlock(*grid.getBody()); })
      .Case([&](scf::ForOp loop) { return emitFor(loop); })
      .Case([&](memref::AllocaOp alloca) { return emitAlloca(alloca); })
      .Case([&](memref::SubViewOp view) { return emitSubView(view); })
      .Case([&](memref::StoreOp store) { return emitStore(store); })
      .Case<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(
          [&](Operation *view) { return emitReshape(*view); })
      .Case([&](memref::ReinterpretCastOp view) {
        return emitReinterpretCast(view);
      })
      .Case([&](kernel::AttentionOp attention) {
        return emitAttention(attention);
      })
      .Case([&](affine::AffineApplyOp apply) { return emitAffineApply(apply); })
      .Case([&](linalg::LinalgOp linalg) { return emitLinalg(linalg); })
      .Default([&](Operation *scalar) {
        BodyEmitter body(builder, target, views, scalars);
        return body.emit(*scalar, 1, scalars);
      });
}

/// Whether memory only tells structured operations how far their loops go.
static bool isForExtents(memref::AllocaOp op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    auto cast = dyn_cast<memref::ReinterpretCastOp>(user);
    return cast && llvm::all_of(cast->getUses(), [](OpOperand &use) {
             auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
             return reader && reader.isDpsInput(&use) &&
                    !reader.payloadUsesValueFromOperand(&use);
           });
  });
}

LogicalResult KernelWalker::emitAlloca(memref::AllocaOp op) {
  MemRefType type = op.getType();
  if (isForExtents(op))
    return bindMemRef(op, /*base=*/{}, {});
  if (!type.hasStaticShape())
    return op.emitError("expected scratch of static shape");
  Type element = getComputeType(type.getElementType());
  int64_t bytes =
      type.getNumElements() * ((element.getIntOrFloatBitWidth() + 7) / 8);
  return bindMemRef(op, allocate(op.getLoc(), bytes), {});
}

Value KernelWalker::toI64(OpFoldResult value) {
  if (auto attr = dyn_cast<Attribute>(value))
    return buildI64(builder, loc, cast<IntegerAttr>(attr).getInt());
  return scalars.lookup(cast<Value>(value));
}

LogicalResult KernelWalker::emitSubView(memref::SubViewOp op) {
  View source = views.lookup(op.getSource());
  Value offset = source.offset;
  for (auto [start, stride] :
       llvm::zip_equal(op.getMixedOffsets(), source.strides))
    if (!isConstantIntValue(start, 0))
      offset = addI64(builder, loc, offset,
                      mulI64(builder, loc, toI64(start), stride));
  if (failed(bindMemRef(op, source.base, offset)))
    return failure();
  // Sizes that the type does not know.
  View &view = views[op];
  llvm::SmallBitVector dropped = op.getDroppedDims();
  unsigned kept = 0;
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes())) {
    if (dropped.test(dim))
      continue;
    if (isa<Value>(size))
      view.sizes[kept] = toI64(size);
    ++kept;
  }
  return success();
}

/// Same memory, same order: only strides change, and the type knows them.
LogicalResult KernelWalker::emitReshape(Operation &op) {
  View source = views.lookup(op.getOperand(0));
  if (!cast<MemRefType>(op.getResult(0).getType()).hasStaticShape())
    return op.emitError("expected a static shape");
  return bindMemRef(op.getResult(0), source.base, source.offset);
}

/// A place in the memory of an argument, or of scratch.
LogicalResult KernelWalker::emitReinterpretCast(memref::ReinterpretCastOp op) {
  View source = views.lookup(op.getSource());
  if (source.offset)
    return op.emitError("expected memory that begins at its start");
  Value offset;
  if (OpFoldResult start = op.getMixedOffsets()[0];
      !isConstantIntValue(start, 0))
    offset = toI64(start);
  if (failed(bindMemRef(op, source.base, offset)))
    return failure();
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes()))
    if (isa<Value>(size))
      views[op].sizes[dim] = toI64(size);
  return success();
}

LogicalResult KernelWalker::emitAttention(kernel::AttentionOp op) {
  return op.emitError("expected structured operations of linalg");
}

LogicalResult KernelWalker::emitStore(memref::StoreOp op) {
  const View &view = views.find(op.getMemRef())->second;
  Value offset = view.offset;
  for (auto [index, stride] : llvm::zip_equal(op.getIndices(), view.strides))
    offset = addI64(builder, loc, offset,
                    mulI64(builder, loc, scalars.lookup(index), stride));
  store(op.getLoc(), scalars.lookup(op.getValue()), view, offset);
  return success();
}

LogicalResult KernelWalker::emitFor(scf::ForOp op) {
  if (op.getNumResults())
    return op.emitError("expected a loop that carries no values");
  auto loop = scf::ForOp::create(
      builder, op.getLoc(), scalars.lookup(op.getLowerBound()),
      scalars.lookup(op.getUpperBound()), scalars.lookup(op.getStep()));
  scalars[op.getInductionVar()] = loop.getInductionVar();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  return emitBlock(*op.getBody());
}

Value KernelWalker::expandAffine(AffineExpr expr, ValueRange dims,
                                 ValueRange symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return scalars.lookup(dims[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return scalars.lookup(symbols[symbol.getPosition()]);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return buildI64(builder, loc, constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value a = expandAffine(binary.getLHS(), dims, symbols);
  Value b = expandAffine(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return builder.createOrFold<arith::AddIOp>(loc, a, b);
  case AffineExprKind::Mul:
    return builder.createOrFold<arith::MulIOp>(loc, a, b);
  case AffineExprKind::FloorDiv:
    return builder.createOrFold<arith::FloorDivSIOp>(loc, a, b);
  case AffineExprKind::Mod: // Of indices, which are not negative.
    return builder.createOrFold<arith::RemUIOp>(loc, a, b);
  default:
    return {};
  }
}

LogicalResult KernelWalker::emitAffineApply(affine::AffineApplyOp op) {
  AffineMap map = op.getAffineMap();
  Value result = expandAffine(map.getResult(0), op.getDimOperands(),
                              op.getSymbolOperands());
  if (!result)
    return op.emitError("expected sums, products, floordiv and mod");
  scalars[op] = result;
  return success();
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

/// True if `fill` only gives `output` of `reader` its first value: then the
/// loops start from that value and the fill is never written.
bool KernelWalker::isFillOf(linalg::LinalgOp reader, unsigned output,
                            linalg::FillOp fill) {
  OpOperand *init = reader.getDpsInitOperand(output);
  if (!fill || fill.getDpsInitOperand(0)->get() != init->get() ||
      fill->getBlock() != reader->getBlock())
    return false;
  // The fill covers exactly what the reader writes: a permutation of all
  // dimensions of the memref.
  AffineMap map = reader.getMatchingIndexingMap(init);
  if (!map.isProjectedPermutation() ||
      !reader.payloadUsesValueFromOperand(init))
    return false;
  for (Operation *op = fill->getNextNode(); op != reader;
       op = op->getNextNode())
    if (!op || !isa<linalg::FillOp, arith::ConstantOp, memref::AllocaOp,
                    memref::SubViewOp, memref::ReinterpretCastOp>(op))
      return false;
  return true;
}

static linalg::FillOp findFill(linalg::LinalgOp reader, unsigned output) {
  Value memref = reader.getDpsInitOperand(output)->get();
  for (Operation *op = reader->getPrevNode(); op; op = op->getPrevNode())
    if (auto fill = dyn_cast<linalg::FillOp>(op))
      if (fill.getDpsInitOperand(0)->get() == memref)
        return fill;
  return {};
}

LogicalResult KernelWalker::emitLinalg(linalg::LinalgOp op) {
  if (auto fill = dyn_cast<linalg::FillOp>(*op)) {
    // Left out when the next reader absorbs it.
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
      if (auto reader = dyn_cast<linalg::GenericOp>(next)) {
        linalg::LinalgOp linalgReader = reader;
        for (unsigned i = 0; i < reader.getNumDpsInits(); ++i)
          if (findFill(linalgReader, i) == fill &&
              isFillOf(linalgReader, i, fill))
            return success();
        break;
      }
  }
  SmallVector<Value> initial;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    linalg::FillOp fill = findFill(op, i);
    initial.push_back(
        isFillOf(op, i, fill) ? scalars.lookup(fill.getInputs()[0]) : Value());
  }
  return emitStructured(op, initial);
}
