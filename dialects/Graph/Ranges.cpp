// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Ranges.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace dlc::graph;

using MaybeBounds = std::optional<Bounds>;

/// Integers up to it are floats, and so are what they are bounded by.
static constexpr double kMostExact = 1 << 24;

static bool isInteger(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  return isa<IntegerType>(type) && !type.isInteger(1);
}

static MaybeBounds rangeOfConstant(Value value) {
  constexpr size_t mostElements = 1 << 16;
  ElementsAttr elements = getConstantElements(value);
  if (!elements)
    return std::nullopt;
  if (isInteger(value)) {
    auto ints = getInts(elements, mostElements);
    if (!ints || ints->empty())
      return std::nullopt;
    auto [low, high] = std::minmax_element(ints->begin(), ints->end());
    return Bounds{static_cast<double>(*low), static_cast<double>(*high)};
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense || !dense.isSplat() || !isa<FloatType>(dense.getElementType()))
    return std::nullopt;
  APFloat number = dense.getSplatValue<APFloat>();
  bool losesInfo;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  if (!number.isFinite())
    return std::nullopt;
  return Bounds{number.convertToDouble(), number.convertToDouble()};
}

/// What is in the range of `type`, an integer's that does not wrap around then.
static MaybeBounds within(MaybeBounds range, Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!range || !integer)
    return std::nullopt;
  const unsigned digits =
      std::min(integer.getWidth() - !integer.isUnsigned(), 53u);
  const double end = std::ldexp(1.0, static_cast<int>(digits));
  const double begin = integer.isUnsigned() ? 0 : -end;
  return range->low >= begin && range->high < end ? range : std::nullopt;
}

static MaybeBounds rangeOf(Value value, unsigned depth);

/// From floats, NaN becomes 0.
static MaybeBounds rangeOfCast(CastOp op, unsigned depth) {
  MaybeBounds x = rangeOf(op.getX(), depth);
  if (!x || !isInteger(op.getY()))
    return std::nullopt;
  if (!isInteger(op.getX()))
    x = Bounds{std::min(std::trunc(x->low), 0.0),
               std::max(std::trunc(x->high), 0.0)};
  return within(x, op.getType());
}

static MaybeBounds rangeOfClamp(ClampOp op, unsigned depth) {
  MaybeBounds low = rangeOf(op.getLo(), depth),
              high = rangeOf(op.getHi(), depth);
  if (!low || !high || low->high > high->low ||
      std::max(std::fabs(low->low), std::fabs(high->high)) > kMostExact)
    return std::nullopt;
  return Bounds{low->low, high->high};
}

template <typename Op, typename Combine>
static MaybeBounds rangeOfBoth(Op op, unsigned depth, Combine combine) {
  MaybeBounds a = rangeOf(op.getA(), depth);
  MaybeBounds b = a ? rangeOf(op.getB(), depth) : std::nullopt;
  return b ? within(combine(*a, *b), op.getType()) : std::nullopt;
}

static MaybeBounds rangeOf(Value value, unsigned depth) {
  if (MaybeBounds constant = rangeOfConstant(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  --depth;
  return TypeSwitch<Operation *, MaybeBounds>(op)
      .Case([&](CastOp cast) { return rangeOfCast(cast, depth); })
      .Case([&](ClampOp clamp) { return rangeOfClamp(clamp, depth); })
      .Case([&](AddOp add) {
        return rangeOfBoth(add, depth, [](Bounds a, Bounds b) {
          return Bounds{a.low + b.low, a.high + b.high};
        });
      })
      .Case([&](SubOp sub) {
        return rangeOfBoth(sub, depth, [](Bounds a, Bounds b) {
          return Bounds{a.low - b.high, a.high - b.low};
        });
      })
      .Case([&](MulOp mul) {
        return rangeOfBoth(mul, depth, [](Bounds a, Bounds b) {
          auto [low, high] = std::minmax(
              {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
          return Bounds{low, high};
        });
      })
      .Case<ExpandOp, ReshapeOp, UnsqueezeOp, SqueezeOp, FlattenOp, TransposeOp,
            SliceOp, CopyOp>(
          [&](auto moved) { return rangeOf(moved->getOperand(0), depth); })
      .Case([&](FusionOp fusion) {
        const unsigned number = cast<OpResult>(value).getResultNumber();
        return rangeOf(
            fusion.getBody().front().getTerminator()->getOperand(number),
            depth);
      })
      .Default([](Operation *) { return MaybeBounds(); });
}

MaybeBounds dlc::graph::rangeOfElements(Value tensor, unsigned mostSteps) {
  return rangeOf(tensor, mostSteps);
}
