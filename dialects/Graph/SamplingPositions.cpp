// SPDX-License-Identifier: Apache-2.0
//
// Resizing: where each element of a result lies in the operand. Enlarged by a
// small whole factor, elements lie at linear positions with constant weights;
// else places and weights are computed where they are used, in doubles as the
// Reference kernel does.

#include "ElementBuilder.h"
#include "Resizing.h"

#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Position.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;
using namespace dlc::graph;

using Position = SmallVector<Index>;

//===----------------------------------------------------------------------===//
// Which dimensions
//===----------------------------------------------------------------------===//

std::optional<SmallVector<ResizedAxis>> dlc::graph::resizedBy(ResizeOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getX()), to = shapeOf(op.getY());
  auto rank = static_cast<int64_t>(from.size());
  SmallVector<int64_t> axes(op.getAxes());
  if (axes.empty())
    axes = llvm::to_vector(llvm::seq<int64_t>(rank));
  DenseElementsAttr scales;
  if (!isa<NoneType>(op.getScales().getType())) {
    scales = dyn_cast_or_null<DenseElementsAttr>(
        getConstantElements(op.getScales()));
    if (!scales)
      return std::nullopt;
  }
  SmallVector<ResizedAxis> resized;
  for (auto [number, given] : llvm::enumerate(axes)) {
    int64_t axis = wrapAxis(given, rank);
    double scale = scales ? scales.getValues<float>()[number]
                          : static_cast<double>(to[axis]) /
                                static_cast<double>(from[axis]);
    resized.push_back(
        {axis, static_cast<int64_t>(number), scale, from[axis], to[axis]});
  }
  return resized;
}

int64_t dlc::graph::wholeFactor(const ResizedAxis &along) {
  if (along.from == 0 || along.to % along.from != 0)
    return 0;
  int64_t factor = along.to / along.from;
  return along.scale == static_cast<double>(factor) ? factor : 0;
}

int64_t dlc::graph::phasesOf(ResizeOp op, const ResizedAxis &along) {
  int64_t factor = wholeFactor(along);
  bool isPhased = op.getCoordinateTransformationMode() != "align_corners" &&
                  factor && factor <= kMostPhases;
  return isPhased ? factor : kMostPhases + 1;
}

bool dlc::graph::isRepetition(ResizeOp op, ArrayRef<ResizedAxis> resized) {
  StringRef places = op.getCoordinateTransformationMode();
  StringRef rounding = op.getNearestMode();
  bool isCentered = places == "half_pixel" && rounding.starts_with("round");
  bool isAligned = places == "asymmetric" && rounding == "floor";
  return op.getMode() == "nearest" && (isCentered || isAligned) &&
         llvm::all_of(resized, wholeFactor);
}

namespace {

/// Scales that are the ratio of extents are the same as sizes, and dimensions
/// that stay need no mention: then a layout may have channels in blocks, and
/// all that a kernel must know are its types.
struct ScalesToSizes : OpRewritePattern<ResizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ResizeOp op,
                                PatternRewriter &rewriter) const override {
    if (!hasStaticTypes(op) || op.getKeepAspectRatioPolicy() != "stretch" ||
        op.getCoordinateTransformationMode() == "tf_crop_and_resize")
      return failure();
    auto resized = resizedBy(op);
    if (!resized)
      return failure();
    SmallVector<int64_t> axes, sizes;
    for (const ResizedAxis &each : *resized) {
      if (each.from == 0 || each.scale != static_cast<double>(each.to) /
                                              static_cast<double>(each.from))
        return failure();
      if (each.from == each.to)
        continue;
      axes.push_back(each.axis);
      sizes.push_back(each.to);
    }
    if (axes.empty()) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    if (isa<NoneType>(op.getScales().getType()) &&
        op.getAxes() == ArrayRef(axes))
      return failure();
    auto none = NoneOp::create(rewriter, op.getLoc());
    auto list = ConstantOp::create(rewriter, op.getLoc(),
                                   makeInts(rewriter.getContext(), sizes));
    rewriter.modifyOpInPlace(op, [&] {
      op.getRoiMutable().assign(none);
      op.getScalesMutable().assign(none);
      op.getSizesMutable().assign(list);
      op.setAxes(axes);
    });
    return success();
  }
};

} // namespace

void ResizeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<ScalesToSizes>(context);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// An element that a result is made of, along one axis.
struct Tap {
  Index place;
  double weight = 1;
};

/// The same where places are known only as the kernel runs.
struct MovingTap {
  Value place, weight; ///< index; f64, null for 1
};
} // namespace

std::optional<Coordinates> dlc::graph::coordinatesOf(ResizeOp op,
                                                     const ResizedAxis &along) {
  StringRef mode = op.getCoordinateTransformationMode();
  auto input = static_cast<double>(along.from);
  double output = along.scale * input; // May be fractional.
  if (mode == "asymmetric")
    return Coordinates{.divisor = along.scale};
  if (mode == "align_corners") {
    if (output == 1 || input == 1)
      return Coordinates{.divisor = HUGE_VAL};
    return Coordinates{.factor = input - 1, .divisor = output - 1};
  }
  if (mode == "pytorch_half_pixel" && output == 1)
    return Coordinates{.divisor = HUGE_VAL};
  bool isSymmetric = mode == "half_pixel_symmetric";
  if (mode != "half_pixel" && mode != "pytorch_half_pixel" && !isSymmetric)
    return std::nullopt;
  double shift = isSymmetric
                     ? input / 2 * (1 - static_cast<double>(along.to) / output)
                     : 0;
  return Coordinates{
      .hasCentres = true, .divisor = along.scale, .offset = shift - 0.5};
}

/// `place` within [0, extent); nullopt when not on the same side of a border
/// for all iterations.
static std::optional<Index> clampPlace(ElementReader &reader, Index place,
                                       int64_t extent) {
  int low = reader.compare(place, 0);
  int high = low > 0 ? reader.compare(place, extent) : 0;
  if (low < 0)
    return reader.number(0);
  if (high > 0)
    return reader.number(extent - 1);
  return low && high ? std::optional(place) : std::nullopt;
}

/// A result `factor` times as large repeats its weights every `factor`
/// elements: the loops are cut into those.
static std::optional<SmallVector<Tap>>
tapsOfPhase(ElementReader &reader, const ResizedAxis &along,
            const Coordinates &coordinates, int64_t factor, const Index &at) {
  auto parts = reader.divide(at, factor);
  if (!parts)
    return std::nullopt;
  int64_t phase = 0;
  for (; phase + 1 < factor; ++phase) {
    int side = reader.compare(parts->second, phase + 1);
    if (!side)
      return std::nullopt;
    if (side < 0)
      break;
  }
  double source = coordinates.at(static_cast<double>(phase));
  double left = std::floor(source), ratio = source - left;
  SmallVector<Tap> taps;
  for (int64_t side : {0, 1}) {
    double weight = side ? ratio : 1 - ratio;
    if (weight == 0)
      continue;
    auto place = clampPlace(
        reader, parts->first + (static_cast<int64_t>(left) + side), along.from);
    if (!place)
      return std::nullopt;
    taps.push_back({*place, weight});
  }
  return taps;
}

/// Keys' cubic, of parameter `a`, at a distance of up to 1, and from 1 to 2.
static Value nearCubic(ElementBuilder &e, Value x, double a) {
  Value slope = e.addf(e.mulf(x, a + 2), -(a + 3));
  return e.addf(e.mulf(e.mulf(slope, x), x), 1);
}
static Value farCubic(ElementBuilder &e, Value x, double a) {
  Value slope = e.addf(e.mulf(x, a), -5 * a);
  return e.addf(e.mulf(e.addf(e.mulf(slope, x), 8 * a), x), -4 * a);
}

/// Places and weights, by the arithmetic of the Reference kernel.
static SmallVector<MovingTap> movingTaps(ElementReader &reader, ResizeOp op,
                                         const ResizedAxis &along,
                                         const Coordinates &coordinates,
                                         const Index &at) {
  OpBuilder &b = reader.getBuilder();
  ElementBuilder e(b, reader.getLoc());
  auto toIndex = [&](Value place) {
    Value whole =
        arith::FPToSIOp::create(b, reader.getLoc(), b.getI32Type(), place);
    return arith::IndexCastOp::create(b, reader.getLoc(), b.getIndexType(),
                                      whole);
  };
  Value whole = arith::IndexCastOp::create(b, reader.getLoc(), b.getI32Type(),
                                           reader.materialize(at));
  // Of nearest elements as the standard's formulas are computed: what is a
  // whole number in floats may be a little less in doubles.
  Type type = op.getMode() == "nearest" ? b.getF32Type() : b.getF64Type();
  Value place = arith::SIToFPOp::create(b, reader.getLoc(), type, whole);
  if (coordinates.hasCentres)
    place = e.addf(place, 0.5);
  if (coordinates.factor != 1)
    place = e.mulf(place, coordinates.factor);
  Value source = e.addf(e.divf(place, e.number(place, coordinates.divisor)),
                        coordinates.offset);
  // Beyond an end all are the element there.
  auto clamped = [&](Value x, double low, double high) {
    x = e.make<arith::MaximumFOp>(x, e.number(x, low));
    return e.make<arith::MinimumFOp>(x, e.number(x, high));
  };
  auto last = static_cast<double>(along.from - 1);
  source = clamped(source, -1, last + 1);
  // The left neighbour; a whole coordinate counts as the right one.
  Value left = e.addf(e.make<math::CeilOp>(source), -1);
  Value ratio = e.subf(source, left);
  Value right = e.addf(left, 1);
  if (op.getMode() == "cubic") {
    double a = op.getCubicCoeffA().convertToDouble();
    Value rest = e.subf(e.number(ratio, 1), ratio);
    Value weights[] = {farCubic(e, e.addf(ratio, 1), a), nearCubic(e, ratio, a),
                       nearCubic(e, rest, a), farCubic(e, e.addf(rest, 1), a)};
    SmallVector<MovingTap> taps;
    for (auto [i, weight] : llvm::enumerate(weights))
      taps.push_back(
          {toIndex(clamped(e.addf(left, static_cast<double>(i) - 1), 0, last)),
           weight});
    return taps;
  }
  Value leftPlace = clamped(left, 0, last),
        rightPlace = clamped(right, 0, last);
  if (op.getMode() == "linear")
    return {{toIndex(leftPlace), e.subf(e.number(ratio, 1), ratio)},
            {toIndex(rightPlace), ratio}};
  StringRef rounding = op.getNearestMode();
  if (rounding == "ceil")
    return {{toIndex(rightPlace), {}}};
  auto predicate = rounding == "round_prefer_floor"
                       ? ElementBuilder::Float::OGT
                       : ElementBuilder::Float::OGE;
  Value isRight = e.compare(predicate, ratio,
                            e.number(ratio, rounding == "floor" ? 1 : 0.5));
  return {{toIndex(e.select(isRight, rightPlace, leftPlace)), {}}};
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {

/// Builds one element from taps along each resized axis.
class ResizedElement {
public:
  ResizedElement(ElementReader &reader, ResizeOp op, ArrayRef<Index> at)
      : reader(reader), op(op), at(at) {}

  Value build();

private:
  Value repeated(ArrayRef<ResizedAxis> resized);
  Value phased(ArrayRef<ResizedAxis> resized);
  Value moving(ArrayRef<ResizedAxis> resized);
  Value weighted(Value sum, Value element, Value weight);

  ElementReader &reader;
  ResizeOp op;
  ArrayRef<Index> at;
  SmallVector<Coordinates> coordinates;
};

} // namespace

Value ResizedElement::repeated(ArrayRef<ResizedAxis> resized) {
  Position position(at);
  for (const ResizedAxis &along : resized) {
    auto parts = reader.divide(at[along.axis], wholeFactor(along));
    if (!parts)
      return reader.fail("a repetition that crosses loops");
    position[along.axis] = parts->first;
  }
  return reader.read(op.getX(), position);
}

/// sum + element * weight, in f32 for shorter floats; both floats of one type.
Value ResizedElement::weighted(Value sum, Value element, Value weight) {
  ElementBuilder e(reader.getBuilder(), reader.getLoc());
  Value term = e.mulf(element, weight);
  return sum ? e.addf(sum, term) : term;
}

/// Calls `visit` with each choice of one tap per list: their numbers.
static bool forEachChoice(ArrayRef<size_t> counts,
                          function_ref<bool(ArrayRef<size_t>)> visit) {
  SmallVector<size_t> choice(counts.size(), 0);
  while (true) {
    if (!visit(choice))
      return false;
    size_t axis = counts.size();
    while (axis > 0 && ++choice[axis - 1] == counts[axis - 1])
      choice[--axis] = 0;
    if (axis == 0)
      return true;
  }
}

/// The type that a sum over elements of `type` is computed in.
static Type sumType(Type type) {
  return type.isF64() ? type : Float32Type::get(type.getContext());
}

Value ResizedElement::phased(ArrayRef<ResizedAxis> resized) {
  SmallVector<SmallVector<Tap>> lists;
  SmallVector<size_t> counts;
  for (auto [along, places] : llvm::zip_equal(resized, coordinates)) {
    auto taps =
        tapsOfPhase(reader, along, places, wholeFactor(along), at[along.axis]);
    if (!taps)
      return reader.fail("weights that change within a loop");
    counts.push_back(taps->size());
    lists.push_back(std::move(*taps));
  }
  Type type = cast<TensorType>(op.getX().getType()).getElementType();
  ElementBuilder e(reader.getBuilder(), reader.getLoc());
  Value sum;
  Position position(at);
  bool isRead = forEachChoice(counts, [&](ArrayRef<size_t> choice) {
    double weight = 1;
    for (auto [i, along] : llvm::enumerate(resized)) {
      const Tap &tap = lists[i][choice[i]];
      position[along.axis] = tap.place;
      weight *= tap.weight;
    }
    Value element = reader.read(op.getX(), position);
    if (!element)
      return false;
    element = e.convert(element, type, sumType(type));
    sum = weighted(sum, element, e.number(element, weight));
    return true;
  });
  return isRead ? e.convert(sum, sumType(type), type) : Value();
}

Value ResizedElement::moving(ArrayRef<ResizedAxis> resized) {
  OpBuilder &b = reader.getBuilder();
  ElementBuilder e(b, reader.getLoc());
  SmallVector<SmallVector<MovingTap>> lists;
  SmallVector<size_t> counts;
  for (auto [along, places] : llvm::zip_equal(resized, coordinates)) {
    lists.push_back(movingTaps(reader, op, along, places, at[along.axis]));
    counts.push_back(lists.back().size());
  }
  SmallVector<Value> place;
  for (const Index &index : at)
    place.push_back(reader.materialize(index));
  Type type = cast<TensorType>(op.getX().getType()).getElementType();
  bool isSum = op.getMode() != "nearest";
  Value sum;
  bool isRead = forEachChoice(counts, [&](ArrayRef<size_t> choice) {
    Value weight;
    for (auto [i, along] : llvm::enumerate(resized)) {
      const MovingTap &tap = lists[i][choice[i]];
      place[along.axis] = tap.place;
      weight = weight && tap.weight ? e.mulf(weight, tap.weight) : tap.weight;
    }
    Value element = reader.load(op.getX(), place);
    if (!element)
      return false;
    if (!isSum) {
      sum = element;
      return true;
    }
    element = e.convert(element, type, sumType(type));
    // What has no weight may be infinite or nan.
    Value isNothing =
        e.compare(ElementBuilder::Float::OEQ, weight, e.number(weight, 0));
    element = e.select(isNothing, e.number(element, 0), element);
    sum = weighted(sum, element,
                   e.convert(weight, weight.getType(), sumType(type)));
    return true;
  });
  if (!isRead)
    return {};
  return isSum ? e.convert(sum, sumType(type), type) : sum;
}

Value ResizedElement::build() {
  StringRef mode = op.getMode();
  Type type = cast<TensorType>(op.getX().getType()).getElementType();
  bool isWeighable =
      type.isF32() || type.isF64() || type.isF16() || type.isBF16();
  if (mode != "nearest" && !isWeighable)
    return reader.fail("weights of elements that are no plain floats");
  bool isStretched = op.getKeepAspectRatioPolicy() == "stretch";
  if (!isStretched || op.getAntialias() || op.getExcludeOutside())
    return reader.fail("resizing that filters or keeps a ratio");
  auto all = resizedBy(op);
  if (!all)
    return reader.fail("scales that are not constant");
  SmallVector<ResizedAxis> resized;
  int64_t phases = 1;
  for (const ResizedAxis &along : *all) {
    if (along.from == along.to && along.scale == 1 &&
        op.getCoordinateTransformationMode() != "tf_crop_and_resize")
      continue;
    auto places = coordinatesOf(op, along);
    // Places are counted in 32 bits.
    if (!places || along.from == 0 ||
        std::max(along.from, along.to) > INT32_MAX)
      return reader.fail("coordinates of " +
                         op.getCoordinateTransformationMode());
    phases = std::min(phases * phasesOf(op, along), kMostPhases + 1);
    resized.push_back(along);
    coordinates.push_back(*places);
  }
  if (resized.empty())
    return reader.read(op.getX(), at);
  if (isRepetition(op, resized))
    return repeated(resized);
  // Of four elements along each.
  size_t most = mode == "cubic" ? 2 : 3;
  if (resized.size() > most)
    return reader.fail("more than " + Twine(most) +
                       " dimensions that are resized");
  if (mode == "linear" && phases <= kMostPhases)
    return phased(resized);
  return moving(resized);
}

Value ResizeOp::buildElementAt(ElementReader &reader, unsigned,
                               ArrayRef<Index> at) {
  return ResizedElement(reader, *this, at).build();
}
