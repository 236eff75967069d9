// SPDX-License-Identifier: Apache-2.0
//
// Indexing and resampling.

#include "Chain.h"
#include "ElementBuilder.h"

#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Numbers.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Position.h"
#include "dlc/dialects/Graph/Ranges.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

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
OpOperand &ScatterNDOp::getIndicesOperand() { return getIndicesMutable(); }

std::optional<SmallVector<int64_t>> GatherOp::getIndexedExtents() {
  return extentOf(getX(), getAxis());
}
std::optional<SmallVector<int64_t>> GatherElementsOp::getIndexedExtents() {
  return extentOf(getX(), getAxis());
}
/// Of indices that are tuples, for dimensions of `tensor` from `first` on.
static std::optional<SmallVector<int64_t>>
extentsOfTuples(Value tensor, Value indices, int64_t first) {
  auto type = dyn_cast<RankedTensorType>(indices.getType());
  if (!type || type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1))
    return std::nullopt;
  return extentsOf(tensor, first, type.getShape().back());
}
std::optional<SmallVector<int64_t>> GatherNDOp::getIndexedExtents() {
  return extentsOfTuples(getX(), getIndices(), getBatchDims());
}
std::optional<SmallVector<int64_t>> ScatterNDOp::getIndexedExtents() {
  return extentsOfTuples(getX(), getIndices(), 0);
}

void GatherOp::markInBounds() { setInBounds(true); }
void GatherElementsOp::markInBounds() { setInBounds(true); }
void GatherNDOp::markInBounds() { setInBounds(true); }
void ScatterNDOp::markInBounds() { setInBounds(true); }

bool GatherOp::isInBounds() { return getInBounds(); }
bool GatherElementsOp::isInBounds() { return getInBounds(); }
bool GatherNDOp::isInBounds() { return getInBounds(); }
bool ScatterNDOp::isInBounds() { return getInBounds(); }

bool dlc::graph::areWithin(Value indices, ArrayRef<int64_t> extents,
                           unsigned mostSteps) {
  std::optional<Bounds> range = rangeOfElements(indices, mostSteps);
  return range && range->low >= 0 && !extents.empty() &&
         range->high < static_cast<double>(*llvm::min_element(extents));
}

/// What is read without a check was checked before, or cannot be elsewhere.
/// Kernels trust it: that was seen where they were made.
static LogicalResult verifyInBounds(IndexedOpInterface op) {
  if (!op.isInBounds() || isInKernel(op))
    return success();
  Value indices = op.getIndicesOperand().get();
  while (auto copy = indices.getDefiningOp<CopyOp>()) // From another device.
    indices = copy.getX();
  auto extents = op.getIndexedExtents();
  if (!extents)
    return op->emitOpError("expected extents that are known, to be in bounds");
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
  if (areWithin(indices, *extents, kStepsToCheck))
    return success();
  return op->emitOpError("expected indices that are resolved, to be in bounds");
}

LogicalResult GatherOp::verify() { return verifyInBounds(*this); }
LogicalResult GatherElementsOp::verify() { return verifyInBounds(*this); }
LogicalResult GatherNDOp::verify() { return verifyInBounds(*this); }
LogicalResult ScatterNDOp::verify() { return verifyInBounds(*this); }

//===----------------------------------------------------------------------===//
// Gathers that are slices
//===----------------------------------------------------------------------===//

namespace {

/// Indices that are known and follow each other at one distance: first, first +
/// step, ...
struct Progression {
  int64_t first, step;
};

/// As when queries, keys and values are taken out of one tensor by number.
struct GatherToSlice : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override;
};

} // namespace

static std::optional<Progression> matchProgression(ArrayRef<int64_t> indices,
                                                   int64_t extent) {
  auto wrap = [&](int64_t index) { return index < 0 ? index + extent : index; };
  if (indices.empty())
    return std::nullopt;
  Progression found = {wrap(indices[0]), 1};
  if (indices.size() > 1)
    found.step = wrap(indices[1]) - found.first;
  for (auto [i, index] : llvm::enumerate(indices)) {
    const int64_t wrapped = wrap(index);
    if (wrapped < 0 || wrapped >= extent ||
        wrapped != found.first + static_cast<int64_t>(i) * found.step)
      return std::nullopt;
  }
  if (found.step == 0)
    return std::nullopt;
  return found;
}

LogicalResult GatherToSlice::matchAndRewrite(GatherOp op,
                                             PatternRewriter &rewriter) const {
  auto x = dyn_cast<RankedTensorType>(op.getX().getType());
  auto indices = dyn_cast<RankedTensorType>(op.getIndices().getType());
  // Shapes, which are vectors, are known before they are sliced.
  if (!hasStaticTypes(op) || x.getRank() < 2 || indices.getRank() > 1)
    return failure();
  const int64_t axis = wrapAxis(op.getAxis(), x.getRank());
  auto known = getConstantInts(op.getIndices());
  auto found =
      known ? matchProgression(*known, x.getDimSize(axis)) : std::nullopt;
  if (!found)
    return failure();
  Chain chain{rewriter, op.getLoc()};
  const auto count = static_cast<int64_t>(known->size());
  int64_t end = found->first + count * found->step;
  if (end < 0) // Which would be counted from the end.
    end = std::numeric_limits<int64_t>::min();
  Value y =
      chain.make<SliceOp>(op.getX(), chain.ints(found->first), chain.ints(end),
                          chain.ints(axis), chain.ints(found->step));
  copyPlacement(op, y.getDefiningOp());
  if (indices.getRank() == 0) {
    y = chain.make<SqueezeOp>(y, chain.ints(axis));
    copyPlacement(op, y.getDefiningOp());
  }
  rewriter.replaceOp(op, y);
  return success();
}

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<GatherToSlice>(context);
}

//===----------------------------------------------------------------------===//
// Scatters that are sums
//===----------------------------------------------------------------------===//

TypedAttr ScatterNDOp::getIdentity() {
  return numberOf(cast<TensorType>(getY().getType()).getElementType(), 0);
}

Value ScatterNDOp::buildFold(OpBuilder &builder, Location loc, Value a,
                             Value b) {
  return foldAs<arith::AddFOp, arith::AddIOp, arith::AddIOp>(
      cast<TensorType>(getY().getType()).getElementType(), builder, loc, a, b);
}

/// Each element looks at all updates, which threads do at once: the order is
/// always the same then.
std::optional<SmallVector<int64_t>> ScatterNDOp::getFoldedExtents() {
  if (getReduction() != "add")
    return std::nullopt;
  return SmallVector<int64_t>(shapeOf(getIndices()).drop_back());
}

/// A zero that is repeated, as decompose() makes it.
static bool isZeros(Value tensor) {
  auto expand = tensor.getDefiningOp<ExpandOp>();
  return expand && (matchPattern(expand.getX(), m_AnyZeroFloat()) ||
                    matchPattern(expand.getX(), m_Zero()));
}

Value ScatterNDOp::buildTermAt(ElementReader &reader, ArrayRef<Index> position,
                               ArrayRef<Index> folded) {
  // By estimate some ten milliseconds of a large GPU.
  constexpr int64_t most = int64_t{1} << 36;
  if (!getInBounds())
    return reader.fail("indices that are not checked");
  if (!reader.hasManyThreads())
    return reader.fail("a scatter, for which a host has a faster way");
  int64_t looks = 1;
  for (ArrayRef<int64_t> extents :
       {shapeOf(getY()), shapeOf(getIndices()).drop_back()})
    for (int64_t extent : extents)
      if (llvm::MulOverflow(looks, extent, looks) || looks > most)
        return reader.fail("too many updates for each element to look at all");
  if (!isZeros(getX()))
    return reader.fail("a scatter into other than zeros");
  OpBuilder &builder = reader.getBuilder();
  Location loc = reader.getLoc();
  const int64_t tuple = shapeOf(getIndices()).back();
  Value isHere;
  for (int64_t i = 0; i < tuple; ++i) {
    SmallVector<Index> at(folded);
    at.push_back(reader.number(i));
    Value index = reader.read(getIndices(), at);
    if (!index)
      return {};
    Value place = arith::IndexCastOp::create(builder, loc, index.getType(),
                                             reader.materialize(position[i]));
    Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       index, place);
    isHere = isHere ? arith::AndIOp::create(builder, loc, isHere, same) : same;
  }
  SmallVector<Index> at(folded);
  llvm::append_range(at, position.drop_front(tuple));
  Value update = reader.read(getUpdates(), at);
  if (!update || !isHere)
    return update;
  Value zero = arith::ConstantOp::create(builder, loc, getIdentity());
  return arith::SelectOp::create(builder, loc, isHere, update, zero);
}

bool OneHotOp::hasFasterParts() { return true; }

/// Places are compared with indices.
FailureOr<SmallVector<Value>> OneHotOp::decompose(OpBuilder &builder) {
  Type element = cast<TensorType>(getIndices().getType()).getElementType();
  // Those that no i64 holds name no place.
  if (!hasElements(*this) || element.isUnsignedInteger(64))
    return failure();
  Chain chain{builder, getLoc()};
  ArrayRef<int64_t> shape = shapeOf(getY());
  int64_t axis = wrapAxis(getAxis(), shape.size()), depth = shape[axis];
  SmallVector<int64_t> indexShape(shape);
  indexShape[axis] = 1;
  Value index = chain.make<ReshapeOp>(
      chain.cast(getIndices(), builder.getI64Type()), chain.ints(indexShape));
  Value isNegative = chain.make<LessOp>(index, chain.integer(0));
  index = chain.make<SelectOp>(
      isNegative, chain.make<AddOp>(index, chain.integer(depth)), index);
  SmallVector<int64_t> placeShape(shape.size(), 1);
  placeShape[axis] = depth;
  Value places =
      chain.make<ReshapeOp>(chain.iota(depth), chain.ints(placeShape));
  auto value = [&](int64_t i) {
    return GatherOp::create(builder, getLoc(), getValues(), chain.integer(i),
                            /*axis=*/0);
  };
  return SmallVector<Value>{chain.make<SelectOp>(
      chain.make<EqualOp>(index, places), value(1), value(0))};
}

/// Where the updates begin in `x`, if the indices are those of a box of
/// elements in their order: so exporters write what is assigned to slices.
static std::optional<SmallVector<int64_t>> boxOf(ScatterNDOp op) {
  if (op.getReduction() != "none" || !hasElements(op))
    return std::nullopt;
  auto type = typeOf(op.getIndices());
  const int64_t dims = type.getRank() - 1;
  if (type.getShape().back() != dims)
    return std::nullopt;
  Loops loops;
  llvm::append_range(loops.extents, type.getShape().drop_back());
  Block scratch;
  OpBuilder builder(op.getContext());
  builder.setInsertionPointToEnd(&scratch);
  NumberReader reader(
      builder, op.getLoc(), loops,
      [](Value value) { return getConstantElements(value); },
      [](Value) { return false; });
  SmallVector<int64_t> begins;
  for (int64_t dim = 0; dim < dims; ++dim) {
    SmallVector<Index> at;
    for (int64_t loop = 0; loop < dims; ++loop)
      at.push_back(Index::loop(loops, loop));
    at.push_back(Index::number(loops, dim));
    std::optional<Index> place = reader.numberAt(op.getIndices(), at);
    const int64_t extent = shapeOf(op.getX())[dim];
    if (!place)
      return std::nullopt;
    int64_t begin = place->constant;
    begin += begin < 0 ? extent : 0;
    place->constant = 0;
    const int64_t count = type.getDimSize(dim);
    // A loop of one has no say.
    for (int64_t loop = 0; loop < dims; ++loop)
      if (place->coefficients[loop] != (loop == dim) && loops.extents[loop] > 1)
        return std::nullopt;
    if (begin < 0 || begin + count > extent)
      return std::nullopt;
    begins.push_back(begin);
  }
  return begins;
}

/// `updates` between what is in front of them and behind them in `x`, along one
/// dimension after the other.
static Value insertBox(Chain &chain, Value x, Value updates,
                       ArrayRef<int64_t> begins, size_t dim) {
  while (dim < begins.size() && shapeOf(updates)[dim] == shapeOf(x)[dim])
    ++dim;
  if (dim == begins.size())
    return updates;
  const auto axis = static_cast<int64_t>(dim);
  auto slice = [&](int64_t first, int64_t end) -> Value {
    return chain.make<SliceOp>(x, chain.ints(first), chain.ints(end),
                               chain.ints(axis), chain.ints(1));
  };
  const int64_t begin = begins[dim], extent = shapeOf(x)[dim];
  const int64_t end = begin + shapeOf(updates)[dim];
  SmallVector<Value> parts;
  if (begin > 0)
    parts.push_back(slice(0, begin));
  parts.push_back(
      insertBox(chain, slice(begin, end), updates, begins, dim + 1));
  if (end < extent)
    parts.push_back(slice(end, extent));
  return ConcatOp::create(chain.builder, chain.loc, parts, axis);
}

/// The same of boxes that are large: a few rows are better written where they
/// are.
static std::optional<SmallVector<int64_t>> largeBoxOf(ScatterNDOp op) {
  constexpr int64_t fewTuples = 1024, smallPart = 16;
  if (!hasElements(op))
    return std::nullopt;
  const int64_t tuples = typeOf(op.getIndices()).getNumElements() /
                         shapeOf(op.getIndices()).back();
  const bool isSmall =
      tuples <= fewTuples && typeOf(op.getUpdates()).getNumElements() <
                                 typeOf(op.getX()).getNumElements() / smallPart;
  return isSmall ? std::nullopt : boxOf(op);
}

bool ScatterNDOp::hasFasterParts() { return largeBoxOf(*this).has_value(); }

/// What is added to zeros, in f32 if it is short, and that to `x`.
FailureOr<SmallVector<Value>> ScatterNDOp::decompose(OpBuilder &builder) {
  if (auto begins = largeBoxOf(*this)) {
    Chain chain{builder, getLoc()};
    return SmallVector<Value>{
        insertBox(chain, getX(), getUpdates(), *begins, 0)};
  }
  if (getReduction() != "add" || !hasStaticTypes(*this) || isZeros(getX()))
    return failure();
  Type element = cast<TensorType>(getX().getType()).getElementType();
  if (!element.isIntOrFloat() || element.isInteger(1)) // Of numbers alone.
    return failure();
  Chain chain{builder, getLoc()};
  Type wide = isa<FloatType>(element) ? computeType(element) : element;
  Value number = chain.constant(makeSplat(RankedTensorType::get({}, wide), 0));
  Value zeros = chain.make<ExpandOp>(number, chain.ints(shapeOf(getX())));
  Value sum = ScatterNDOp::create(builder, getLoc(), zeros, getIndices(),
                                  chain.cast(getUpdates(), wide),
                                  getReduction(), getInBounds());
  Value y = chain.make<AddOp>(chain.cast(getX(), wide), sum);
  return SmallVector<Value>{chain.cast(y, element)};
}
