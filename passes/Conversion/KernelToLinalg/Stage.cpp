// SPDX-License-Identifier: Apache-2.0

#include "Stage.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;

ArrayRef<int64_t> dlc::conversion::shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

Value dlc::conversion::castSign(OpBuilder &builder, Location loc, Value value,
                                Type type) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

static Type getSignless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? IntegerType::get(type.getContext(), integer.getWidth())
                 : type;
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

/// Replaces loop `which` by two: outer * factor + inner.
static Index blockIndex(const Index &index, unsigned which, int64_t factor) {
  Index result = index;
  int64_t coefficient = index.coefficients[which];
  result.coefficients[which] = coefficient * factor;
  result.coefficients.insert(result.coefficients.begin() + which + 1,
                             coefficient);
  return result;
}

std::vector<Domain> dlc::conversion::cut(const Domain &domain,
                                         const LoopSplit &split) {
  auto map = [](Domain part, auto change) {
    for (Index &index : part.at)
      index = change(index);
    for (Index &index : part.source)
      index = change(index);
    return part;
  };
  unsigned loop = split.loop;
  if (split.isFactor) {
    Domain part = map(domain, [&](const Index &index) {
      return blockIndex(index, loop, split.at);
    });
    auto &extents = part.loops.extents;
    extents[loop] /= split.at;
    extents.insert(extents.begin() + loop + 1, split.at);
    part.reduced.insert(part.reduced.begin() + loop + 1, domain.reduced[loop]);
    return {part};
  }
  Domain low = domain;
  low.loops.extents[loop] = split.at;
  Domain high = map(domain, [&](const Index &index) {
    return index + index.coefficients[loop] * split.at;
  });
  high.loops.extents[loop] -= split.at;
  return {low, high};
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

StageBuilder::StageBuilder(MLIRContext *context, Location loc,
                           const Domain &domain, Policy policy)
    : builder(context), loc(loc), policy(policy) {
  stage.domain = domain;
  stage.body = std::make_unique<Block>();
  builder.setInsertionPointToEnd(stage.body.get());
}

Value StageBuilder::fail(llvm::Twine reason) {
  if (problem.reason.empty())
    problem.reason = reason.str();
  return {};
}

/// Arguments for inputs come first, in the order of `inputs`.
Value StageBuilder::read(Value tensor, const Position &at) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  BlockArgument argument =
      stage.body->insertArgument(stage.inputs.size(), type, loc);
  stage.inputs.push_back({tensor, at, argument});
  return castSign(builder, loc, argument, getSignless(type));
}

void StageBuilder::store(Value tensor, const Position &at, Value element) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  stage.body->addArgument(type, loc);
  stage.outputs.push_back(
      {tensor, at, castSign(builder, loc, element, type), {}});
}

void StageBuilder::accumulate(
    Value tensor, const Position &at, Value term,
    llvm::function_ref<Value(OpBuilder &, Value, Value)> combine) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  BlockArgument old = stage.body->addArgument(type, loc);
  Value signless = castSign(builder, loc, old, getSignless(type));
  Value value = castSign(builder, loc, combine(builder, signless, term), type);
  stage.outputs.push_back({tensor, at, value, old});
}

Value StageBuilder::element(Value tensor, const Position &at, bool compute) {
  std::pair<void *, std::vector<Index>> key(
      tensor.getAsOpaquePointer(), std::vector<Index>(at.begin(), at.end()));
  auto cached = cache.find(key);
  if (cached != cache.end())
    return cached->second;
  Treatment treatment = compute ? Treatment::Compute : policy(tensor, at);
  Value value = treatment == Treatment::Read || isa<BlockArgument>(tensor)
                    ? read(tensor, at)
                    : this->compute(tensor, at);
  if (!value)
    return {};
  if (treatment == Treatment::ComputeAndStore)
    store(tensor, at, value);
  cache[key] = value;
  return value;
}

Value StageBuilder::compute(Value tensor, const Position &at) {
  Operation *op = tensor.getDefiningOp();
  if (isa<graph::ConstantOp>(op))
    return constant(op);
  if (isa<graph::ElementwiseOpInterface>(op))
    return elementwise(op, at);
  auto view = dyn_cast<graph::InPlaceOpInterface>(op);
  if (view && view.isView())
    return reshape(op, at);
  return move(op, cast<OpResult>(tensor).getResultNumber(), at);
}

Value StageBuilder::constant(Operation *op) {
  auto elements = dyn_cast<DenseElementsAttr>(
      Attribute(cast<graph::ConstantOp>(op).getValue()));
  if (!elements || !elements.isSplat())
    return fail("a constant of different elements");
  Type type = getSignless(elements.getElementType());
  TypedAttr value;
  if (auto real = dyn_cast<FloatType>(type))
    value = FloatAttr::get(real, elements.getSplatValue<APFloat>());
  else
    value = IntegerAttr::get(type, elements.getSplatValue<APInt>());
  return arith::ConstantOp::create(builder, loc, value);
}

/// The position in an operand that is broadcast to the result at `at`.
static Position broadcastTo(Value operand, const Position &at,
                            const Loops &loops) {
  ArrayRef<int64_t> shape = shapeOf(operand);
  Position position(at.end() - shape.size(), at.end());
  for (auto [index, extent] : llvm::zip_equal(position, shape))
    if (extent == 1)
      index = Index::number(loops, 0);
  return position;
}

/// x / sum(e^...), the end of a softmax: the sum is at least 1, and its
/// reciprocal is taken once for the whole row.
static bool isSoftmaxQuotient(Operation *op) {
  auto div = dyn_cast<graph::DivOp>(op);
  auto sum = div ? div.getB().getDefiningOp<graph::ReduceSumOp>() : nullptr;
  return sum && sum.getX() == div.getA() &&
         div.getA().getDefiningOp<graph::ExpOp>() &&
         getElementTypeOrSelf(div.getType()).isF32();
}

/// e^(x - max x): of a number that is not positive.
static bool isSoftmaxPower(Operation *op) {
  auto exp = dyn_cast<graph::ExpOp>(op);
  auto sub = exp ? exp.getX().getDefiningOp<graph::SubOp>() : nullptr;
  auto max = sub ? sub.getB().getDefiningOp<graph::ReduceMaxOp>() : nullptr;
  return max && max.getX() == sub.getA() &&
         getElementTypeOrSelf(exp.getType()).isF32();
}

Value StageBuilder::elementwise(Operation *op, const Position &at) {
  SmallVector<Value> scalars;
  for (Value operand : op->getOperands()) {
    Value scalar =
        element(operand, broadcastTo(operand, at, stage.domain.loops));
    if (!scalar)
      return {};
    scalars.push_back(scalar);
  }
  if (isSoftmaxQuotient(op)) {
    Value one =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1.0f));
    Value inverse = arith::DivFOp::create(builder, loc, one, scalars[1]);
    return arith::MulFOp::create(builder, loc, scalars[0], inverse);
  }
  if (isSoftmaxPower(op))
    return math::ExpOp::create(builder, loc, scalars[0],
                               arith::FastMathFlags::afn);
  return cast<graph::ElementwiseOpInterface>(op).buildElement(builder, loc,
                                                              scalars);
}

Value StageBuilder::reshape(Operation *op, const Position &at) {
  Value source = op->getOperand(0);
  std::optional<Position> position =
      reshapeIndex(at, shapeOf(op->getResult(0)), shapeOf(source),
                   stage.domain.loops, problem.split);
  if (!position)
    return fail("a reshape that crosses loops");
  return element(source, *position);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

static int64_t wrap(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

Value StageBuilder::move(Operation *op, unsigned result, const Position &at) {
  const Loops &loops = stage.domain.loops;
  Position position = at;
  if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
    for (auto [to, from] : llvm::enumerate(transpose.getPerm()))
      position[from] = at[to];
    return element(transpose.getX(), position);
  }
  if (auto expand = dyn_cast<graph::ExpandOp>(op))
    return element(expand.getX(), broadcastTo(expand.getX(), at, loops));
  if (auto tile = dyn_cast<graph::TileOp>(op)) {
    for (auto [index, extent] :
         llvm::zip_equal(position, shapeOf(tile.getX()))) {
      if (extent == 0)
        continue;
      auto parts = divide(index, extent, loops, problem.split);
      if (!parts)
        return fail("a tile that crosses loops");
      index = parts->second;
    }
    return element(tile.getX(), position);
  }
  if (auto split = dyn_cast<graph::SplitOp>(op)) {
    int64_t axis = wrap(split.getAxis(), at.size());
    for (unsigned i = 0; i < result; ++i)
      position[axis] = position[axis] + shapeOf(split->getResult(i))[axis];
    return element(split.getX(), position);
  }
  if (isa<graph::ConcatOp>(op))
    return concat(op, at);
  if (isa<graph::PadOp>(op))
    return pad(op, at);
  if (isa<graph::MaxPoolOp, graph::AvgPoolOp>(op))
    return pool(op, at);
  std::optional<Position> moved;
  if (isa<graph::SliceOp>(op))
    moved = slice(op, at);
  else if (isa<graph::DepthToSpaceOp, graph::SpaceToDepthOp>(op))
    moved = blocks(op, at);
  if (moved)
    return element(op->getOperand(0), *moved);
  return fail("no generated form of " + op->getName().getStringRef());
}

Value StageBuilder::concat(Operation *op, const Position &at) {
  int64_t axis = wrap(cast<graph::ConcatOp>(op).getAxis(), at.size());
  Position position = at;
  for (Value operand : op->getOperands()) {
    int64_t extent = shapeOf(operand)[axis];
    int side =
        compareTo(position[axis], extent, stage.domain.loops, problem.split);
    if (side < 0)
      return element(operand, position);
    if (side == 0)
      return fail("a concatenation within a loop");
    position[axis] = position[axis] + -extent;
  }
  return fail("an empty concatenation");
}

Value StageBuilder::pad(Operation *op, const Position &at) {
  auto pad = cast<graph::PadOp>(op);
  auto pads = graph::getConstantInts(pad.getPads());
  auto axes = graph::getConstantInts(pad.getAxes());
  if (!pads || !axes || pad.getMode() != "constant")
    return fail("padding that is not constant");
  Position position = at;
  bool outside = false;
  for (auto [i, number] : llvm::enumerate(*axes)) {
    int64_t axis = wrap(number, at.size());
    position[axis] = position[axis] + -(*pads)[i];
    int64_t extent = shapeOf(pad.getX())[axis];
    int low = compareTo(position[axis], 0, stage.domain.loops, problem.split);
    if (low == 0)
      return fail("padding within a loop");
    if (low < 0) {
      outside = true;
      continue;
    }
    int high =
        compareTo(position[axis], extent, stage.domain.loops, problem.split);
    if (high == 0)
      return fail("padding within a loop");
    outside |= high > 0;
  }
  return outside ? element(pad.getValue(), {}) : element(pad.getX(), position);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

namespace {

/// The windows of a pooling operation, per spatial dimension.
struct Windows {
  SmallVector<int64_t> kernel, strides, dilations, begins, ends;
  int64_t taps = 1;
};

} // namespace

/// Windows of more taps than this are left to a loop elsewhere.
static constexpr int64_t kMaxTaps = 25;

template <typename Op> static std::optional<Windows> windowsOf(Op op) {
  Windows windows;
  windows.kernel.assign(op.getKernelShape().begin(), op.getKernelShape().end());
  size_t dims = windows.kernel.size();
  auto orOnes = [&](ArrayRef<int64_t> list) {
    return list.empty() ? SmallVector<int64_t>(dims, 1)
                        : SmallVector<int64_t>(list);
  };
  windows.strides = orOnes(op.getStrides());
  windows.dilations = orOnes(op.getDilations());
  windows.begins.assign(dims, 0);
  windows.ends.assign(dims, 0);
  if (op.getAutoPad() == "NOTSET" && !op.getPads().empty()) {
    windows.begins = SmallVector<int64_t>(op.getPads().take_front(dims));
    windows.ends = SmallVector<int64_t>(op.getPads().drop_front(dims));
  } else if (op.getAutoPad() != "NOTSET" && op.getAutoPad() != "VALID") {
    return std::nullopt;
  }
  for (int64_t extent : windows.kernel)
    windows.taps *= extent;
  if (windows.taps > kMaxTaps)
    return std::nullopt;
  return windows;
}

/// The taps of a window written out. Which of them fall into the padding is
/// known for whole loops: the borders are cut off.
Value StageBuilder::pool(Operation *op, const Position &at) {
  auto average = dyn_cast<graph::AvgPoolOp>(op);
  std::optional<Windows> windows =
      average ? windowsOf(average) : windowsOf(cast<graph::MaxPoolOp>(op));
  if (!windows)
    return fail("a window that is too large or padded automatically");
  Value x = op->getOperand(0);
  ArrayRef<int64_t> shape = shapeOf(x);
  Type type = cast<RankedTensorType>(x.getType()).getElementType();
  if (average && !type.isF32() && !type.isF64())
    return fail("a mean of short floats");
  size_t dims = windows->kernel.size();
  Value sum;
  int64_t counted = 0;
  for (int64_t tap = 0; tap < windows->taps; ++tap) {
    Position position = at;
    bool isInside = true, isCounted = true;
    int64_t rest = tap;
    for (size_t dim = dims; dim-- > 0;) {
      int64_t offset = rest % windows->kernel[dim] * windows->dilations[dim] -
                       windows->begins[dim];
      rest /= windows->kernel[dim];
      Index &index = position[dim + 2];
      index = index * windows->strides[dim] + offset;
      // Both borders, and the end of the padding.
      int64_t extent = shape[dim + 2];
      int64_t padded = extent + windows->ends[dim];
      const Loops &loops = stage.domain.loops;
      int low = compareTo(index, 0, loops, problem.split);
      int high = low ? compareTo(index, extent, loops, problem.split) : 0;
      int end = high ? compareTo(index, padded, loops, problem.split) : 0;
      if (!end)
        return fail("a border within a loop");
      isInside &= low > 0 && high < 0;
      isCounted &= end < 0;
    }
    bool includesPadding = average && average.getCountIncludePad();
    counted += includesPadding ? isCounted : isInside;
    if (!isInside)
      continue;
    Value term = element(x, position);
    if (!term)
      return {};
    if (!sum)
      sum = term;
    else if (average)
      sum = arith::AddFOp::create(builder, loc, sum, term);
    else if (isa<FloatType>(type))
      sum = arith::MaximumFOp::create(builder, loc, sum, term);
    else if (type.isUnsignedInteger())
      sum = arith::MaxUIOp::create(builder, loc, sum, term);
    else
      sum = arith::MaxSIOp::create(builder, loc, sum, term);
  }
  if (!sum)
    return fail("a window without elements");
  if (!average)
    return sum;
  Value count = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(type, static_cast<double>(counted)));
  return arith::DivFOp::create(builder, loc, sum, count);
}

//===----------------------------------------------------------------------===//
// Slices and blocks
//===----------------------------------------------------------------------===//

std::optional<Position> StageBuilder::slice(Operation *op, const Position &at) {
  auto slice = cast<graph::SliceOp>(op);
  auto starts = graph::getConstantInts(slice.getStarts());
  auto axes = graph::getConstantInts(slice.getAxes());
  auto steps = graph::getConstantInts(slice.getSteps());
  if (!starts || !axes || !steps)
    return std::nullopt;
  Position position = at;
  for (auto [start, number, step] : llvm::zip_equal(*starts, *axes, *steps)) {
    int64_t axis = wrap(number, at.size());
    int64_t extent = shapeOf(slice.getX())[axis];
    int64_t first = start < 0 ? start + extent : start;
    first = std::clamp<int64_t>(first, 0, step > 0 ? extent : extent - 1);
    position[axis] = position[axis] * step + first;
  }
  return position;
}

/// depth_to_space and space_to_depth, on (n, c, h, w).
std::optional<Position> StageBuilder::blocks(Operation *op,
                                             const Position &at) {
  const Loops &loops = stage.domain.loops;
  if (auto toDepth = dyn_cast<graph::SpaceToDepthOp>(op)) {
    int64_t block = toDepth.getBlocksize();
    int64_t channels = shapeOf(toDepth.getX())[1];
    auto channel = divide(at[1], channels, loops, problem.split);
    if (!channel)
      return std::nullopt;
    auto place = divide(channel->first, block, loops, problem.split);
    if (!place)
      return std::nullopt;
    return Position{at[0], channel->second, at[2] * block + place->first,
                    at[3] * block + place->second};
  }
  auto toSpace = cast<graph::DepthToSpaceOp>(op);
  int64_t block = toSpace.getBlocksize();
  int64_t channels = shapeOf(toSpace.getResult())[1];
  auto row = divide(at[2], block, loops, problem.split);
  if (!row)
    return std::nullopt;
  auto column = divide(at[3], block, loops, problem.split);
  if (!column)
    return std::nullopt;
  Index place = row->second * block + column->second;
  Index channel = toSpace.getMode() == "DCR" ? place * channels + at[1]
                                             : at[1] * (block * block) + place;
  return Position{at[0], channel, row->first, column->first};
}
