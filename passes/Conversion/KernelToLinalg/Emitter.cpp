// SPDX-License-Identifier: Apache-2.0

#include "Emitter.h"

#include "dlc/dialects/Graph/GraphOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;

namespace {

class Emitter {
public:
  Emitter(kernel::FuncOp kernel, KernelPlan &plan)
      : kernel(kernel), plan(plan), builder(kernel.getContext()),
        loc(kernel.getLoc()) {}

  void emit();

private:
  void bindArguments();
  void emitGrid();
  void emitScratch();
  void emitStage(Stage &stage);
  void emitFill(Value tensor, Value memref);
  Value viewAs(Value memref, ArrayRef<int64_t> shape);
  std::pair<Value, AffineMap> access(Value tensor, const Position &at,
                                     const Loops &loops);
  Value flatBlock(Value memref);
  OpFoldResult expand(AffineExpr expr);
  Value extentsOperand(ArrayRef<AffineMap> maps, const Loops &loops,
                       AffineMap &map);

  kernel::FuncOp kernel;
  KernelPlan &plan;
  OpBuilder builder;
  Location loc;
  Block *body = nullptr;
  Operation *terminator = nullptr;
  SmallVector<Value> gridIndices;
  llvm::DenseMap<Value, Value> memrefs; ///< By tensor of the old body.
  llvm::SmallDenseSet<Value> filled;
};

} // namespace

static MemRefType toMemRef(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// A contiguous memref in another shape.
Value Emitter::viewAs(Value memref, ArrayRef<int64_t> shape) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getShape() == shape)
    return memref;
  Type element = type.getElementType();
  if (type.getRank() != 1) {
    SmallVector<ReassociationIndices> all;
    if (type.getRank() > 1)
      all.push_back(llvm::to_vector(llvm::seq<int64_t>(type.getRank())));
    auto flat = MemRefType::get({type.getNumElements()}, element);
    if (type.getRank() == 0)
      memref = memref::ExpandShapeOp::create(builder, loc, flat, memref, all);
    else
      memref = memref::CollapseShapeOp::create(builder, loc, flat, memref, all);
  }
  if (shape.size() == 1)
    return memref;
  auto target = MemRefType::get(shape, element);
  SmallVector<ReassociationIndices> all;
  if (!shape.empty())
    all.push_back(llvm::to_vector(llvm::seq<int64_t>(shape.size())));
  if (shape.empty())
    return memref::CollapseShapeOp::create(builder, loc, target, memref, all);
  return memref::ExpandShapeOp::create(builder, loc, target, memref, all);
}

/// New arguments: memrefs of inputs, then of results. The old ones stay in
/// place until the body is replaced.
void Emitter::bindArguments() {
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getArguments())
    types.push_back(toMemRef(argument.getType()));
  for (Value result : terminator->getOperands())
    types.push_back(toMemRef(result.getType()));
  body = new Block();
  for (Type type : types)
    body->addArgument(type, loc);
  builder.setInsertionPointToStart(body);
  unsigned inputs = kernel.getNumArguments();
  for (BlockArgument argument : kernel.getArguments()) {
    Value memref = body->getArgument(argument.getArgNumber());
    bool isWhole = plan.flat && shapeOf(argument) == shapeOf(plan.sources[0]);
    memrefs[argument] = isWhole ? viewAs(memref, {plan.flat}) : memref;
  }
  for (auto [i, result] : llvm::enumerate(terminator->getOperands())) {
    Value memref = body->getArgument(inputs + i);
    Value source = plan.sources[i];
    memref = plan.flat ? viewAs(memref, {plan.flat})
                       : viewAs(memref, shapeOf(source));
    auto storage = plan.storage.find(source);
    bool isStored = storage != plan.storage.end() &&
                    storage->second.result == static_cast<int>(i);
    memrefs[isStored ? source : result] = memref;
  }
}

void Emitter::emitGrid() {
  if (plan.grid.empty())
    return;
  SmallVector<OpFoldResult> extents;
  for (int64_t extent : plan.grid)
    extents.push_back(builder.getIndexAttr(extent));
  auto grid = scf::ForallOp::create(builder, loc, extents, ValueRange(),
                                    /*mapping=*/std::nullopt);
  llvm::append_range(gridIndices, grid.getInductionVars());
  builder.setInsertionPointToStart(grid.getBody());
}

void Emitter::emitScratch() {
  for (auto &[value, storage] : plan.storage) {
    if (storage.result >= 0)
      continue;
    SmallVector<int64_t> shape;
    for (auto [grid, extent] : llvm::zip_equal(storage.grid, shapeOf(value)))
      if (int64_t held = heldOf(plan, grid, extent); held != 1)
        shape.push_back(held);
    Type element = getElementTypeOrSelf(value.getType());
    memrefs[value] =
        memref::AllocaOp::create(builder, loc, MemRefType::get(shape, element));
  }
}

/// The value of an expression of grid loops.
OpFoldResult Emitter::expand(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return builder.getIndexAttr(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return gridIndices[symbol.getPosition()];
  auto map = AffineMap::get(0, gridIndices.size(), expr);
  return affine::AffineApplyOp::create(builder, loc, map, gridIndices)
      .getResult();
}

/// The block of a vector that belongs to this tile; the last may be short.
Value Emitter::flatBlock(Value memref) {
  int64_t tiles = plan.grid[0];
  int64_t block = plan.stages[0].domain.loops.extents[1];
  if (tiles == 1)
    return memref;
  AffineExpr tile = getAffineSymbolExpr(0, kernel.getContext());
  OpFoldResult offset = expand(tile * block);
  OpFoldResult size = builder.getIndexAttr(block);
  if (plan.flat % block) {
    Value all = arith::ConstantIndexOp::create(builder, loc, plan.flat);
    Value most = arith::ConstantIndexOp::create(builder, loc, block);
    Value left = arith::SubIOp::create(builder, loc, all, cast<Value>(offset));
    size = arith::MinSIOp::create(builder, loc, left, most).getResult();
  }
  return memref::SubViewOp::create(builder, loc, memref, {offset}, {size},
                                   {builder.getIndexAttr(1)});
}

/// The memref and the indexing map that read or write `tensor` at `at`: what
/// depends on the grid alone becomes the offset of a subview.
std::pair<Value, AffineMap> Emitter::access(Value tensor, const Position &at,
                                            const Loops &loops) {
  MLIRContext *context = kernel.getContext();
  unsigned dims = loops.extents.size() - loops.grid;
  Value memref = memrefs.lookup(tensor);
  auto type = cast<MemRefType>(memref.getType());
  if (plan.flat && type.getRank() == 1 && type.getDimSize(0) == plan.flat)
    return {flatBlock(memref), AffineMap::getMultiDimIdentityMap(1, context)};

  Position position = at;
  auto storage = plan.storage.find(tensor);
  if (storage != plan.storage.end() && storage->second.result < 0) {
    position.clear();
    for (auto [index, grid, extent] :
         llvm::zip_equal(at, storage->second.grid, shapeOf(tensor))) {
      if (heldOf(plan, grid, extent) == 1)
        continue;
      position.push_back(index);
      if (grid >= 0)
        position.back().coefficients[grid] = 0;
    }
  }
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> results;
  bool isWhole = true;
  for (auto [index, extent] : llvm::zip_equal(position, type.getShape())) {
    Index local = index, shared = index;
    std::fill_n(local.coefficients.begin(), loops.grid, 0);
    local.constant = 0;
    std::fill(shared.coefficients.begin() + loops.grid,
              shared.coefficients.end(), 0);
    auto [low, high] = local.range(loops);
    if (low < 0) { // A loop that runs backwards: counted from the front.
      local.constant = -low;
      shared.constant += low;
      high -= low;
    }
    bool isDropped = local == Index::number(loops, 0);
    int64_t size = high + 1;
    offsets.push_back(expand(shared.toAffine(loops, context)));
    sizes.push_back(builder.getIndexAttr(size));
    strides.push_back(builder.getIndexAttr(1));
    isWhole &= size == extent && isConstantIntValue(offsets.back(), 0);
    if (!isDropped) {
      shape.push_back(size);
      results.push_back(local.toAffine(loops, context));
    }
  }
  if (!isWhole || shape.size() != position.size()) {
    auto reduced = memref::SubViewOp::inferRankReducedResultType(
        shape, type, offsets, sizes, strides);
    memref = memref::SubViewOp::create(builder, loc, cast<MemRefType>(reduced),
                                       memref, offsets, sizes, strides);
  }
  return {memref, AffineMap::get(dims, 0, results, context)};
}

/// Gives the part of `tensor` that belongs to this tile its first value.
/// `memref` is that part when the one stage that follows covers it.
void Emitter::emitFill(Value tensor, Value memref) {
  if (!filled.insert(tensor).second)
    return;
  Type element = getElementTypeOrSelf(tensor.getType());
  Value scalar = arith::ConstantOp::create(
      builder, loc,
      cast<graph::ReductionOpInterface>(tensor.getDefiningOp()).getIdentity());
  scalar = castSign(builder, loc, scalar, element);
  if (!memref) {
    const Storage &storage = plan.storage.find(tensor)->second;
    Loops loops{static_cast<unsigned>(plan.grid.size()), plan.grid};
    for (auto [grid, extent] : llvm::zip_equal(storage.grid, shapeOf(tensor)))
      if (int64_t held = heldOf(plan, grid, extent); held != 1)
        loops.extents.push_back(held);
    Position at;
    unsigned own = loops.grid;
    for (auto [grid, extent] : llvm::zip_equal(storage.grid, shapeOf(tensor))) {
      at.push_back(Index::number(loops, 0));
      if (grid >= 0)
        at.back() = Index::loop(loops, grid) * plan.blocks[grid];
      if (heldOf(plan, grid, extent) != 1)
        at.back() = at.back() + Index::loop(loops, own++);
    }
    memref = access(tensor, at, loops).first;
  }
  linalg::FillOp::create(builder, loc, scalar, memref);
}

/// Loops that no operand names on its own get an operand that is never read.
Value Emitter::extentsOperand(ArrayRef<AffineMap> maps, const Loops &loops,
                              AffineMap &map) {
  unsigned dims = loops.extents.size() - loops.grid;
  SmallVector<AffineExpr> missing;
  SmallVector<int64_t> shape;
  for (unsigned dim = 0; dim < dims; ++dim) {
    AffineExpr expr = getAffineDimExpr(dim, kernel.getContext());
    if (llvm::any_of(maps, [&](AffineMap m) {
          return llvm::is_contained(m.getResults(), expr);
        }))
      continue;
    missing.push_back(expr);
    shape.push_back(loops.extents[loops.grid + dim]);
  }
  if (missing.empty())
    return {};
  map = AffineMap::get(dims, 0, missing, kernel.getContext());
  // One byte seen at every position: strides of zero.
  Value byte = memref::AllocaOp::create(
      builder, loc, MemRefType::get({}, builder.getI8Type()));
  auto layout = StridedLayoutAttr::get(kernel.getContext(), 0,
                                       SmallVector<int64_t>(shape.size(), 0));
  auto type = MemRefType::get(shape, builder.getI8Type(), layout);
  return memref::ReinterpretCastOp::create(
      builder, loc, type, byte, 0, shape,
      SmallVector<int64_t>(shape.size(), 0));
}

void Emitter::emitStage(Stage &stage) {
  const Loops &loops = stage.domain.loops;
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps;
  for (StageInput &input : stage.inputs) {
    auto [memref, map] = access(input.tensor, input.at, loops);
    inputs.push_back(memref);
    maps.push_back(map);
  }
  SmallVector<AffineMap> outputMaps;
  SmallVector<Value> elements;
  for (StageOutput &output : stage.outputs) {
    auto [memref, map] = access(output.tensor, output.at, loops);
    outputs.push_back(memref);
    outputMaps.push_back(map);
    elements.push_back(output.element);
    if (output.old)
      emitFill(output.tensor, stage.isWhole ? memref : Value());
  }
  SmallVector<AffineMap> all = maps;
  llvm::append_range(all, outputMaps);
  AffineMap extentsMap;
  if (Value extents = extentsOperand(all, loops, extentsMap)) {
    inputs.push_back(extents);
    maps.push_back(extentsMap);
    stage.body->insertArgument(stage.inputs.size(), builder.getI8Type(), loc);
  }
  llvm::append_range(maps, outputMaps);
  SmallVector<utils::IteratorType> iterators;
  for (bool reduced : llvm::drop_begin(stage.domain.reduced, loops.grid))
    iterators.push_back(reduced ? utils::IteratorType::reduction
                                : utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(builder, loc, inputs, outputs, maps, iterators);
  for (StageCapture &capture : stage.captures) {
    Operation *placeholder = capture.placeholder.getDefiningOp();
    capture.placeholder.replaceAllUsesWith(capture.tensor
                                               ? memrefs.lookup(capture.tensor)
                                               : gridIndices[capture.gridLoop]);
    placeholder->erase();
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(stage.body.get());
  linalg::YieldOp::create(builder, loc, elements);
  generic.getRegion().push_back(stage.body.release());
}

void Emitter::emit() {
  Block &old = kernel.getBody().front();
  terminator = old.getTerminator();
  unsigned results = terminator->getNumOperands();
  bindArguments();
  emitGrid();
  emitScratch();
  for (Stage &stage : plan.stages)
    emitStage(stage);
  builder.setInsertionPointToEnd(body);
  kernel::ReturnOp::create(builder, loc);
  replaceBody(kernel, body, results, plan.grid, plan.inPlace);
}

void dlc::conversion::replaceBody(kernel::FuncOp kernel, Block *body,
                                  int64_t outputs, ArrayRef<int64_t> grid,
                                  ArrayRef<int64_t> inPlace) {
  OpBuilder builder(kernel.getContext());
  Block &old = kernel.getBody().front();
  kernel.getBody().push_back(body);
  old.dropAllReferences();
  old.dropAllUses();
  old.erase();
  kernel.setFunctionType(builder.getFunctionType(body->getArgumentTypes(), {}));
  kernel.setOutputs(outputs);
  kernel.setGrid(grid);
  SmallVector<Attribute> attributes;
  if (auto existing = kernel.getArgAttrs()) {
    llvm::append_range(attributes, *existing);
    attributes.resize(body->getNumArguments(), builder.getDictionaryAttr({}));
    kernel.setArgAttrsAttr(builder.getArrayAttr(attributes));
  }
  kernel->removeAttr(kernel.getResAttrsAttrName());
  if (inPlace.empty())
    kernel.removeInPlaceAttr();
  else
    kernel.setInPlace(inPlace);
}

void dlc::conversion::emitPlan(kernel::FuncOp kernel, KernelPlan &plan) {
  Emitter(kernel, plan).emit();
}
