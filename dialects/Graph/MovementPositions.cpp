// SPDX-License-Identifier: Apache-2.0
//
// Movement: where each element of a result comes from.

#include "ElementBuilder.h"
#include "Slices.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Position.h"
#include "dlc/dialects/Graph/Shapes.h"

using namespace mlir;
using namespace dlc::graph;

using Position = SmallVector<Index>;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

Value dlc::graph::detail::buildViewAt(Operation *op, ElementReader &reader,
                                      ArrayRef<Index> at) {
  Value source = op->getOperand(0);
  std::optional<Position> position =
      reader.reshape(at, shapeOf(op->getResult(0)), shapeOf(source));
  if (!position)
    return reader.fail("a reshape that crosses loops");
  return reader.read(source, *position);
}

Value TransposeOp::buildElementAt(ElementReader &reader, unsigned,
                                  ArrayRef<Index> at) {
  Position position(at);
  for (auto [to, from] : llvm::enumerate(getPerm()))
    position[from] = at[to];
  return reader.read(getX(), position);
}

Value ExpandOp::buildElementAt(ElementReader &reader, unsigned,
                               ArrayRef<Index> at) {
  return reader.read(getX(), reader.broadcast(at, shapeOf(getX())));
}

Value TileOp::buildElementAt(ElementReader &reader, unsigned,
                             ArrayRef<Index> at) {
  Position position(at);
  for (auto [index, extent] : llvm::zip_equal(position, shapeOf(getX()))) {
    auto parts = reader.divide(index, extent);
    if (!parts)
      return reader.fail("a tile that crosses loops");
    index = parts->second;
  }
  return reader.read(getX(), position);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value SplitOp::buildElementAt(ElementReader &reader, unsigned result,
                              ArrayRef<Index> at) {
  Position position(at);
  int64_t axis = wrapAxis(getAxis(), at.size());
  for (Value before : getParts().take_front(result))
    position[axis] = position[axis] + shapeOf(before)[axis];
  return reader.read(getX(), position);
}

Value ConcatOp::buildElementAt(ElementReader &reader, unsigned,
                               ArrayRef<Index> at) {
  int64_t axis = wrapAxis(getAxis(), at.size());
  Position position(at);
  for (Value operand : getInputs()) {
    int64_t extent = shapeOf(operand)[axis];
    int side = reader.compare(position[axis], extent);
    if (side < 0)
      return reader.read(operand, position);
    if (side == 0)
      return reader.fail("a concatenation within a loop");
    position[axis] = position[axis] + -extent;
  }
  return reader.fail("an empty concatenation");
}

std::optional<SmallVector<AxisSlice>> dlc::graph::slicesOf(SliceOp op) {
  auto starts = getConstantInts(op.getStarts());
  auto axes = getConstantInts(op.getAxes());
  auto steps = getConstantInts(op.getSteps());
  if (!starts || !axes || !steps)
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  SmallVector<AxisSlice> slices;
  for (auto [start, number, step] : llvm::zip_equal(*starts, *axes, *steps)) {
    int64_t axis = wrapAxis(number, static_cast<int64_t>(shape.size()));
    int64_t extent = shape[axis];
    int64_t begin = std::clamp<int64_t>(
        start < 0 ? start + extent : start, 0,
        step > 0 ? extent : std::max<int64_t>(extent - 1, 0));
    slices.push_back({axis, begin, step});
  }
  return slices;
}

Value SliceOp::buildElementAt(ElementReader &reader, unsigned,
                              ArrayRef<Index> at) {
  auto slices = slicesOf(*this);
  if (!slices)
    return reader.fail("a slice that is not constant");
  Position position(at);
  for (auto [axis, begin, step] : *slices)
    position[axis] = position[axis] * step + begin;
  return reader.read(getX(), position);
}

/// Where padding of mode `mode` takes its element from, that is `index` outside
/// of a dimension of that extent, below or above; nullopt where it is as far
/// away from it as the dimension is long, and further.
static std::optional<Index> takenFrom(ElementReader &reader, StringRef mode,
                                      const Index &index, int64_t extent,
                                      bool isAbove) {
  if (mode == "constant")
    return index;
  if (mode == "edge")
    return reader.number(isAbove ? extent - 1 : 0);
  Index place = mode == "wrap" ? index + (isAbove ? -extent : extent)
                               : index * -1 + (isAbove ? 2 * (extent - 1) : 0);
  auto [least, most] = reader.rangeOf(place);
  if (least < 0 || most >= extent)
    return std::nullopt;
  return place;
}

Value PadOp::buildElementAt(ElementReader &reader, unsigned,
                            ArrayRef<Index> at) {
  auto pads = getConstantInts(getPads());
  auto axes = getConstantInts(getAxes());
  if (!pads || !axes)
    return reader.fail("pads that are not constant");
  Position position(at);
  bool isOutside = false;
  for (auto [i, number] : llvm::enumerate(*axes)) {
    int64_t axis = wrapAxis(number, at.size());
    // What is removed is not there to be repeated.
    int64_t before = (*pads)[i], after = (*pads)[i + axes->size()];
    int64_t removed = std::max<int64_t>(-before, 0);
    int64_t extent =
        shapeOf(getX())[axis] - removed - std::max<int64_t>(-after, 0);
    position[axis] = position[axis] + -std::max<int64_t>(before, 0);
    int low = reader.compare(position[axis], 0);
    int high = low > 0 ? reader.compare(position[axis], extent) : -1;
    if (low == 0 || high == 0)
      return reader.fail("padding within a loop");
    if (low < 0 || high > 0) {
      isOutside = true;
      auto place =
          takenFrom(reader, getMode(), position[axis], extent, high > 0);
      if (!place)
        return reader.fail("padding by more than there is");
      position[axis] = *place;
    }
    position[axis] = position[axis] + removed;
  }
  return isOutside && getMode() == "constant" ? reader.read(getValue(), {})
                                              : reader.read(getX(), position);
}

//===----------------------------------------------------------------------===//
// Blocks of (n, c, h, w)
//===----------------------------------------------------------------------===//

Value SpaceToDepthOp::buildElementAt(ElementReader &reader, unsigned,
                                     ArrayRef<Index> at) {
  int64_t block = getBlocksize();
  auto channel = reader.divide(at[1], shapeOf(getX())[1]);
  auto place = channel ? reader.divide(channel->first, block) : channel;
  if (!place)
    return reader.fail("blocks that cross loops");
  return reader.read(getX(),
                     {at[0], channel->second, at[2] * block + place->first,
                      at[3] * block + place->second});
}

Value DepthToSpaceOp::buildElementAt(ElementReader &reader, unsigned,
                                     ArrayRef<Index> at) {
  int64_t block = getBlocksize();
  auto row = reader.divide(at[2], block);
  auto column = row ? reader.divide(at[3], block) : row;
  if (!column)
    return reader.fail("blocks that cross loops");
  Index place = row->second * block + column->second;
  Index channel = getMode() == "DCR" ? place * shapeOf(getY())[1] + at[1]
                                     : at[1] * (block * block) + place;
  return reader.read(getX(), {at[0], channel, row->first, column->first});
}

//===----------------------------------------------------------------------===//
// Elements that depend on the position itself
//===----------------------------------------------------------------------===//

/// 0 of a type of elements.
static Value zeroOf(ElementReader &reader, Type type) {
  return arith::ConstantOp::create(reader.getBuilder(), reader.getLoc(),
                                   numberOf(type, 0));
}

/// The number of the diagonal that `at` lies on, counted from the `k`-th of a
/// matrix. All that lie outside of the matrix count as the next one to it.
static Index diagonalOf(ArrayRef<Index> at, Value matrix, int64_t k) {
  ArrayRef<int64_t> shape = shapeOf(matrix).take_back(2);
  k = std::clamp(k, -shape[0], shape[1]);
  return at.back() + at.drop_back().back() * -1 + -k;
}

Value TriluOp::buildElementAt(ElementReader &reader, unsigned,
                              ArrayRef<Index> at) {
  auto k = getConstantInts(getK());
  if (!k)
    return reader.fail("a diagonal that is not constant");
  Value element = reader.read(getX(), at);
  if (!element)
    return {};
  OpBuilder &builder = reader.getBuilder();
  Location loc = reader.getLoc();
  Value place = reader.materialize(diagonalOf(at, getX(), k->front()));
  Value isKept = arith::CmpIOp::create(
      builder, loc,
      getUpper() ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle, place,
      arith::ConstantIndexOp::create(builder, loc, 0));
  Value zero = zeroOf(reader, getX().getType().getElementType());
  return arith::SelectOp::create(builder, loc, isKept, element, zero);
}

Value EyeLikeOp::buildElementAt(ElementReader &reader, unsigned,
                                ArrayRef<Index> at) {
  OpBuilder &builder = reader.getBuilder();
  Location loc = reader.getLoc();
  Value isOn =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            reader.materialize(diagonalOf(at, getY(), getK())),
                            arith::ConstantIndexOp::create(builder, loc, 0));
  Type type = ElementBuilder::signless(getY().getType().getElementType());
  Value one = arith::ConstantOp::create(builder, loc, builder.getOneAttr(type));
  return arith::SelectOp::create(builder, loc, isOn, one, zeroOf(reader, type));
}

/// `index` in the integer or float type `type`.
static Value toNumber(ElementReader &reader, const Index &index, Type type) {
  OpBuilder &builder = reader.getBuilder();
  Location loc = reader.getLoc();
  Type i64 = builder.getI64Type();
  Value value =
      arith::IndexCastOp::create(builder, loc, i64, reader.materialize(index));
  return ElementBuilder(builder, loc).convert(value, i64, type);
}

/// start + i * delta; integers wrap around.
Value RangeOp::buildElementAt(ElementReader &reader, unsigned,
                              ArrayRef<Index> at) {
  Type type = getY().getType().getElementType();
  if (isFloat(type))
    return reader.fail("a range of floats");
  Value start = reader.read(getStart(), {}),
        delta = reader.read(getDelta(), {});
  if (!start || !delta)
    return {};
  OpBuilder &builder = reader.getBuilder();
  Location loc = reader.getLoc();
  Value step =
      arith::MulIOp::create(builder, loc, delta, toNumber(reader, at[0], type));
  return arith::AddIOp::create(builder, loc, start, step);
}

//===----------------------------------------------------------------------===//
// Places given by data
//===----------------------------------------------------------------------===//

/// The index that `indices` holds at `position`, of type `index`.
static Value readIndex(ElementReader &reader, Value indices,
                       ArrayRef<Index> position) {
  Value index = reader.read(indices, position);
  if (!index)
    return {};
  OpBuilder &builder = reader.getBuilder();
  return arith::IndexCastOp::create(builder, reader.getLoc(),
                                    builder.getIndexType(), index);
}

Value GatherOp::buildElementAt(ElementReader &reader, unsigned,
                               ArrayRef<Index> at) {
  if (!getInBounds())
    return reader.fail("indices that are not checked");
  int64_t axis = wrapAxis(getAxis(), shapeOf(getX()).size());
  size_t rank = shapeOf(getIndices()).size();
  Value index = readIndex(reader, getIndices(), at.slice(axis, rank));
  if (!index)
    return {};
  SmallVector<Value> coordinates;
  for (const Index &before : at.take_front(axis))
    coordinates.push_back(reader.materialize(before));
  coordinates.push_back(index);
  for (const Index &after : at.drop_front(axis + rank))
    coordinates.push_back(reader.materialize(after));
  return reader.load(getX(), coordinates);
}

Value GatherElementsOp::buildElementAt(ElementReader &reader, unsigned,
                                       ArrayRef<Index> at) {
  if (!getInBounds())
    return reader.fail("indices that are not checked");
  int64_t axis = wrapAxis(getAxis(), at.size());
  Value index = readIndex(reader, getIndices(), at);
  if (!index)
    return {};
  SmallVector<Value> coordinates;
  for (auto [dim, place] : llvm::enumerate(at))
    coordinates.push_back(
        static_cast<int64_t>(dim) == axis ? index : reader.materialize(place));
  return reader.load(getX(), coordinates);
}

Value GatherNDOp::buildElementAt(ElementReader &reader, unsigned,
                                 ArrayRef<Index> at) {
  if (!getInBounds())
    return reader.fail("indices that are not checked");
  ArrayRef<int64_t> shape = shapeOf(getIndices());
  size_t tuples = shape.size() - 1;
  SmallVector<Value> coordinates;
  for (const Index &batch : at.take_front(getBatchDims()))
    coordinates.push_back(reader.materialize(batch));
  for (int64_t i = 0; i < shape.back(); ++i) {
    Position position(at.take_front(tuples));
    position.push_back(reader.number(i));
    coordinates.push_back(readIndex(reader, getIndices(), position));
    if (!coordinates.back())
      return {};
  }
  for (const Index &inner : at.drop_front(tuples))
    coordinates.push_back(reader.materialize(inner));
  return reader.load(getX(), coordinates);
}
