// SPDX-License-Identifier: Apache-2.0
//
// graph-multiply-integers: products of what was quantised, before its scale.

#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Integers.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace dlc::graph {
#define GEN_PASS_DEF_MULTIPLYINTEGERSPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {

/// (x - zeroPoint) * scale, of floats, or x, of i32. Where its matrices were
/// turned round since, x is to be.
struct Factor {
  Value x;
  Value zeroPoint, scale; ///< Null where they are 0 and 1.
  TransposeOp turned;     ///< Null where they were not.
};

/// Builds what takes the place of one operation.
class Rewriter {
public:
  explicit Rewriter(Operation *op)
      : op(op), builder(op), before(op->getPrevNode()) {}

  LogicalResult rewrite(MatmulOp matmul);
  LogicalResult rewrite(ConvOp conv);
  LogicalResult rewrite(QuantizeLinearOp quantize);

private:
  /// Null where an operand is, or types do not fit.
  Value make(StringRef name, ValueRange operands,
             ArrayRef<NamedAttribute> attributes = {});
  Value bytesOf(Factor factor);
  Value zeroOf(Factor factor);
  Value multiply(Value a, Value b) { return make("graph.mul", {a, b}); }
  Value toFloat(Value sums);
  /// One element, or a vector of such of channels, which are dimension 1 of
  /// `rank`.
  Value alongChannels(Value vector, int64_t rank);
  /// Puts `y` in the place of the operation.
  LogicalResult replace(Value y);

  Operation *op;
  OpBuilder builder;
  Operation *before;
};

struct MultiplyIntegers
    : graph::impl::MultiplyIntegersPassBase<MultiplyIntegers> {
  using MultiplyIntegersPassBase::MultiplyIntegersPassBase;
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

static bool isOneElement(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

/// True if `transpose` swaps the last two dimensions and keeps the others.
static bool turnsMatrices(TransposeOp transpose, int64_t rank) {
  auto swapped = llvm::to_vector(llvm::seq<int64_t>(rank));
  if (rank < 2)
    return false;
  std::swap(swapped[rank - 2], swapped[rank - 1]);
  return transpose.getPerm() == ArrayRef(swapped);
}

static bool hasBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<IntegerType>(type.getElementType()) &&
         type.getElementType().getIntOrFloatBitWidth() == 8;
}

/// What `value` is where it is bytes as i32, or bytes times a scale, one for
/// all, or one for each place along dimension `axis`, counted from the back, if
/// that is given.
static std::optional<Factor> match(Value value,
                                   std::optional<int64_t> axis = {}) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  const int64_t rank = type.getRank();
  Factor factor;
  factor.turned = value.getDefiningOp<TransposeOp>();
  if (factor.turned) {
    if (!turnsMatrices(factor.turned, rank))
      return std::nullopt;
    value = factor.turned.getX();
  }
  if (auto cast = value.getDefiningOp<CastOp>()) {
    factor.x = cast.getX();
    return type.getElementType().isInteger(32) && hasBytes(factor.x)
               ? std::optional(factor)
               : std::nullopt;
  }
  auto of = value.getDefiningOp<DequantizeLinearOp>();
  if (!of || of.getBlockSize() != 0 || !hasBytes(of.getX()) ||
      !type.getElementType().isF32())
    return std::nullopt;
  factor.x = of.getX();
  factor.zeroPoint = of.getZeroPoint();
  factor.scale = of.getScale();
  if (isOneElement(factor.scale))
    return factor;
  if (axis && factor.turned)
    axis = *axis == -1 ? -2 : *axis == -2 ? -1 : *axis;
  if (axis && wrapAxis(static_cast<int64_t>(of.getAxis()), rank) ==
                  wrapAxis(*axis, rank))
    return factor;
  return std::nullopt;
}

/// Whether sums have so many terms at most.
static bool hasFewerTerms(ArrayRef<int64_t> extents, int64_t most) {
  int64_t terms = 1;
  for (int64_t extent : extents)
    if (ShapedType::isDynamic(extent) ||
        __builtin_mul_overflow(terms, extent, &terms))
      return false;
  return terms <= most;
}

/// Whether sums of so many products of 8 bits, each less than 2^16, are of 31,
/// as those that are to be floats have to be.
static bool fitSums(const Factor &factor, ArrayRef<int64_t> extents) {
  return !factor.scale || hasFewerTerms(extents, 1 << 15);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

Value Rewriter::make(StringRef name, ValueRange operands,
                     ArrayRef<NamedAttribute> attributes) {
  if (llvm::is_contained(operands, Value()))
    return {};
  Operation *made =
      createInferred(builder, op->getLoc(), name, operands, attributes);
  return made ? made->getResult(0) : Value();
}

Value Rewriter::bytesOf(Factor factor) {
  if (!factor.turned)
    return factor.x;
  return make("graph.transpose", {factor.x},
              {builder.getNamedAttr("perm", factor.turned.getPermAttr())});
}

Value Rewriter::zeroOf(Factor factor) {
  if (factor.zeroPoint)
    return factor.zeroPoint;
  auto type = RankedTensorType::get({}, typeOf(factor.x).getElementType());
  return ConstantOp::create(builder, op->getLoc(), makeSplat(type, 0));
}

Value Rewriter::toFloat(Value sums) {
  return make(
      "graph.cast", {sums},
      {builder.getNamedAttr("to", TypeAttr::get(builder.getF32Type()))});
}

Value Rewriter::alongChannels(Value vector, int64_t rank) {
  if (!vector || isOneElement(vector))
    return vector;
  SmallVector<int64_t> shape(rank - 1, 1);
  shape.front() = -1;
  return make(
      "graph.reshape",
      {vector, ConstantOp::create(builder, op->getLoc(),
                                  makeInts(builder.getContext(), shape))});
}

LogicalResult Rewriter::replace(Value y) {
  if (!y || y.getType() != op->getResult(0).getType())
    return failure();
  copyPlacement(op, before, builder);
  op->getResult(0).replaceAllUsesWith(y);
  op->erase();
  return success();
}

LogicalResult Rewriter::rewrite(MatmulOp matmul) {
  auto a = match(matmul.getA());
  auto b = a ? match(matmul.getB(), /*axis=*/-1) : std::nullopt;
  if (!b || !fitSums(*a, typeOf(matmul.getA()).getShape().take_back()))
    return failure();
  Value sums = make("graph.integer_matmul",
                    {bytesOf(*a), bytesOf(*b), zeroOf(*a), zeroOf(*b)});
  if (!a->scale)
    return replace(sums);
  Value floats = toFloat(sums);
  return replace(multiply(floats, multiply(a->scale, b->scale)));
}

LogicalResult Rewriter::rewrite(ConvOp conv) {
  auto type = dyn_cast<RankedTensorType>(conv.getW().getType());
  auto x = match(conv.getX());
  if (!x || x->turned || !type || !type.hasStaticShape() ||
      !areBytesMultiplied(type.getShape(),
                          static_cast<int64_t>(conv.getGroup())) ||
      conv.getChannelBlock() != 0 || conv.getAutoPad() != "NOTSET" ||
      typeOf(conv.getX()).getRank() != type.getRank() ||
      !fitSums(*x, type.getShape().drop_front()))
    return failure();
  auto w = match(conv.getW(), /*axis=*/-type.getRank());
  if (!w || w->turned)
    return failure();
  SmallVector<NamedAttribute> attributes;
  for (StringRef name : {"strides", "pads", "dilations", "group"})
    attributes.push_back(builder.getNamedAttr(name, conv->getAttr(name)));
  Value y = make("graph.integer_conv", {x->x, w->x, zeroOf(*x), zeroOf(*w)},
                 attributes);
  const int64_t rank = type.getRank();
  if (x->scale) {
    Value floats = toFloat(y);
    Value scale = multiply(x->scale, w->scale);
    y = multiply(floats, alongChannels(scale, rank));
  }
  if (conv.getBias())
    y = make("graph.add", {y, alongChannels(conv.getBias(), rank)});
  return replace(y);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The value of a constant of one number.
static std::optional<double> numberOf(Value value) {
  auto elements =
      dyn_cast_or_null<DenseElementsAttr>(getConstantElements(value));
  if (!elements || elements.getNumElements() != 1)
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().convertToDouble();
  auto type = dyn_cast<IntegerType>(elements.getElementType());
  if (!type)
    return std::nullopt;
  const auto number = elements.getSplatValue<APInt>();
  return type.isUnsigned() ? double(number.getZExtValue())
                           : double(number.getSExtValue());
}

/// Whether what `quantize` gives ends no later than `low` and `high`: limits
/// that change nothing then.
static bool isLimited(QuantizeLinearOp quantize, double low, double high) {
  auto scale = numberOf(quantize.getScale());
  auto zero = numberOf(quantize.getZeroPoint());
  if (!scale || !zero || !(*scale > 0))
    return false;
  auto type = cast<IntegerType>(
      getElementTypeOrSelf(quantize.getZeroPoint().getType()));
  const auto [least, most] = limitsOf(type);
  auto placeOf = [&](double limit) {
    return std::nearbyint(static_cast<float>(limit) /
                          static_cast<float>(*scale)) +
           *zero;
  };
  return placeOf(low) <= least && placeOf(high) >= most;
}

/// What limits of `value` are of, where `quantize`, which alone reads it,
/// limits it as well.
static Value withoutLimits(QuantizeLinearOp quantize, Value value) {
  if (!value.hasOneUse())
    return value;
  const double infinity = std::numeric_limits<double>::infinity();
  if (auto relu = value.getDefiningOp<ReluOp>())
    return isLimited(quantize, 0, infinity) ? relu.getX() : value;
  if (auto clamp = value.getDefiningOp<ClampOp>()) {
    auto low = numberOf(clamp.getLo()), high = numberOf(clamp.getHi());
    return low && high && isLimited(quantize, *low, *high) ? clamp.getX()
                                                           : value;
  }
  return value;
}

/// What sums of integers are computed by.
static bool isOfIntegers(Value value) {
  return value.getDefiningOp<IntegerMatmulOp>() ||
         value.getDefiningOp<IntegerConvOp>();
}

/// One side of an addition or a product that alone reads it, and the other.
template <typename Op, typename Of>
static std::optional<std::pair<Value, Value>> sidesOf(Value value, Of &&isOne) {
  auto op = value.getDefiningOp<Op>();
  if (!op || !value.hasOneUse())
    return std::nullopt;
  for (auto [one, other] :
       {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())})
    if (isOne(one))
      return std::pair(Value(one), Value(other));
  return std::nullopt;
}

/// What the elements of `value` are at most, without their signs; nullopt where
/// nobody knows. Of constants, and what little is done with them at first.
static std::optional<double> greatestSize(Value value) {
  if (ElementsAttr elements = getConstantElements(value)) {
    const Type type = elements.getElementType();
    RawElements raw = RawElements::get(elements, /*keepSplat=*/true);
    if (!raw || !(type.isF32() || type.isInteger(32)))
      return std::nullopt;
    double most = 0;
    for (size_t at = 0; at < raw.data().size(); at += 4) {
      float real;
      int32_t integer;
      std::memcpy(&real, raw.data().data() + at, sizeof(real));
      std::memcpy(&integer, raw.data().data() + at, sizeof(integer));
      const double size = std::fabs(type.isF32() ? double{real} : integer);
      most = size > most || std::isnan(size) ? size : most;
    }
    return most;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<UnsqueezeOp, ReshapeOp>(op))
    return greatestSize(op->getOperand(0));
  if (auto mul = dyn_cast_or_null<MulOp>(op)) {
    auto a = greatestSize(mul.getA()), b = greatestSize(mul.getB());
    return a && b ? std::optional(*a * *b) : std::nullopt;
  }
  return std::nullopt;
}

/// Whether sums and what is added to them in i32 may be floats on their own:
/// neither wraps around, nor is so large that what is left of both is rounded
/// visibly where they cancel.
static bool isSmallBias(Value added, Value scale, QuantizeLinearOp quantize) {
  constexpr double mostAdded = 1 << 30, mostSteps = 1 << 15;
  auto bias = greatestSize(added), factor = greatestSize(scale);
  auto step = numberOf(quantize.getScale());
  return bias && factor && step && *bias <= mostAdded &&
         *bias * *factor <= mostSteps * std::fabs(*step);
}

/// The terms of a sum.
static ArrayRef<int64_t> termsOf(Value sums) {
  if (auto matmul = sums.getDefiningOp<IntegerMatmulOp>())
    return typeOf(matmul.getA()).getShape().take_back();
  return typeOf(sums.getDefiningOp<IntegerConvOp>().getW())
      .getShape()
      .drop_front();
}

/// Of sums of integers, times a scale, with a bias before that or after it.
LogicalResult Rewriter::rewrite(QuantizeLinearOp quantize) {
  auto type = dyn_cast<RankedTensorType>(quantize.getY().getType());
  if (!type || type.getElementType().getIntOrFloatBitWidth() != 8 ||
      quantize.getPrecision() || !isOneElement(quantize.getScale()) ||
      !getElementTypeOrSelf(quantize.getScale().getType()).isF32())
    return failure();
  Value x = withoutLimits(quantize, quantize.getX());
  auto isScaled = [](Value value) {
    return value.getDefiningOp<MulOp>() && value.hasOneUse();
  };
  Value bias;
  if (auto sides = sidesOf<AddOp>(x, isScaled))
    std::tie(x, bias) = *sides;
  auto isCast = [](Value value) {
    auto cast = value.getDefiningOp<CastOp>();
    return cast && value.hasOneUse() &&
           getElementTypeOrSelf(cast.getX().getType()).isInteger(32) &&
           getElementTypeOrSelf(value.getType()).isF32();
  };
  auto scaled = sidesOf<MulOp>(x, isCast);
  if (!scaled)
    return failure();
  auto [floats, scale] = *scaled;
  Value sums = floats.getDefiningOp<CastOp>().getX(), added;
  if (auto sides = sidesOf<AddOp>(sums, isOfIntegers); sides && !bias) {
    std::tie(sums, added) = *sides;
    constexpr int64_t mostTerms = 1 << 14;
    if (!hasFewerTerms(termsOf(sums), mostTerms) ||
        !isSmallBias(added, scale, quantize))
      return failure();
  }
  if (!isOfIntegers(sums) || !sums.hasOneUse())
    return failure();
  Value multiplier = make("graph.div", {scale, quantize.getScale()});
  Value offset;
  if (added)
    offset = multiply(toFloat(added), multiplier);
  else if (bias)
    offset = make("graph.div", {bias, quantize.getScale()});
  else
    offset = ConstantOp::create(
        builder, op->getLoc(),
        makeSplat(RankedTensorType::get({}, builder.getF32Type()), 0));
  return replace(make("graph.requantize",
                      {sums, multiplier, offset, quantize.getZeroPoint()}));
}

void MultiplyIntegers::runOnOperation() {
  int64_t count = 0;
  // In their order: what rounds sums comes after these.
  getOperation().walk([&](Operation *op) {
    if (!isa<MatmulOp, ConvOp, QuantizeLinearOp>(op) ||
        !hasHostMemory(getDevice(op)))
      return;
    if (auto matmul = dyn_cast<MatmulOp>(op))
      count += succeeded(Rewriter(op).rewrite(matmul));
    else if (auto conv = dyn_cast<ConvOp>(op))
      count += succeeded(Rewriter(op).rewrite(conv));
    else
      (void)Rewriter(op).rewrite(cast<QuantizeLinearOp>(op));
  });
  if (count > 0)
    remark::passed(getOperation().getLoc(),
                   remark::RemarkOpts::name("MultiplyIntegers")
                       .category("graph-multiply-integers"))
        << remark::metric("Products", count);
}
