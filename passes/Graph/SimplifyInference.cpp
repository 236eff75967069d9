// SPDX-License-Identifier: Apache-2.0
//
// graph-simplify-inference: what is constant per channel moves into weights.

#include "ChannelConstants.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace dlc::graph {
#define GEN_PASS_DEF_SIMPLIFYINFERENCEPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace dlc::graph;

static remark::RemarkOpts remarkOpts(StringRef name) {
  return remark::RemarkOpts::name(name).category("graph-simplify-inference");
}

//===----------------------------------------------------------------------===//
// Producers with weights
//===----------------------------------------------------------------------===//

namespace {

/// One side of weights: their dimension along the channels, and in how many
/// blocks these come, see scaleWeights().
struct Side {
  int64_t axis, groups;
};

/// A convolution or product: y = f(x, weights) + bias, with x its operand 0 and
/// weights its operand 1.
struct Weighted {
  Side inputs, outputs;
  bool isLast; ///< Channels are the last dimension of x and y, else 1.
  Value bias;  ///< Null when there is none.

  int64_t channelAxis(int64_t rank) const { return isLast ? rank - 1 : 1; }
};

/// One whose weights are known, with a channel along dimension `channelAxis` of
/// its result.
struct Producer {
  Operation *op;
  ElementsAttr weights;
  Side side;
  int64_t channelAxis, channels, rank; ///< Of the result.
  Floats bias;                         ///< Empty when there is none.
};

} // namespace

/// True where channels are dimension 1, not in blocks.
static bool isPlain(ConvOp conv) {
  auto x = dyn_cast<RankedTensorType>(conv.getX().getType());
  auto w = dyn_cast<RankedTensorType>(conv.getW().getType());
  return conv.getChannelBlock() == 0 &&
         (!x || !w || x.getRank() == w.getRank());
}

/// What `op` is where it is one; a product's matrix of weights is not batched.
static std::optional<Weighted> matchWeighted(Operation *op) {
  if (auto conv = dyn_cast<ConvOp>(op); conv && isPlain(conv))
    return Weighted{{1, static_cast<int64_t>(conv.getGroup())},
                    {0, 1},
                    false,
                    conv.getBias()};
  if (auto conv = dyn_cast<ConvTransposeOp>(op))
    return Weighted{{0, 1},
                    {1, static_cast<int64_t>(conv.getGroup())},
                    false,
                    conv.getBias()};
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    auto weights = dyn_cast<RankedTensorType>(matmul.getB().getType());
    if (weights && weights.getRank() == 2)
      return Weighted{{0, 1}, {1, 1}, true, nullptr};
  }
  return std::nullopt;
}

/// The producer of `value` when it is one of known floats and has no other use.
static std::optional<Producer> matchProducer(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type || !op || !value.hasOneUse() || type.getRank() < 2)
    return std::nullopt;
  auto weighted = matchWeighted(op);
  if (!weighted)
    return std::nullopt;
  int64_t axis = weighted->channelAxis(type.getRank());
  Producer producer{op,
                    getConstantElements(op->getOperand(1)),
                    weighted->outputs,
                    axis,
                    type.getDimSize(axis),
                    type.getRank(),
                    {}};
  if (type.isDynamicDim(axis) || !producer.weights)
    return std::nullopt;
  if (!isa<FloatType>(producer.weights.getElementType()))
    return std::nullopt;
  if (!weighted->bias)
    return producer;
  auto bias = readFloats(weighted->bias);
  if (!bias || static_cast<int64_t>(bias->size()) != producer.channels)
    return std::nullopt;
  producer.bias = std::move(*bias);
  return producer;
}

/// A constant of one float per channel, shaped to broadcast over `trailing`
/// dimensions.
static Value channelConstant(PatternRewriter &rewriter, Location loc,
                             Type element, ArrayRef<double> values,
                             int64_t trailing) {
  SmallVector<int64_t> shape(trailing + 1, 1);
  shape[0] = values.size();
  auto type = RankedTensorType::get(shape, element);
  return ConstantOp::create(rewriter, loc, makeFloats(type, values));
}

/// Replaces `consumer` by its producer with weights scaled by `factors` and the
/// bias times `factors` plus `summands`. Empty lists mean ones and zeros.
static LogicalResult rebuild(PatternRewriter &rewriter, Operation *consumer,
                             const Producer &producer, ArrayRef<double> factors,
                             ArrayRef<double> summands) {
  ElementsAttr weights = producer.weights;
  if (!factors.empty())
    weights = scaleWeights(weights, producer.side.axis, factors,
                           producer.side.groups);
  if (!weights)
    return failure();
  Floats bias(producer.channels, 0);
  for (int64_t i = 0; i < producer.channels; ++i) {
    double old = producer.bias.empty() ? 0 : producer.bias[i];
    bias[i] = old * (factors.empty() ? 1 : factors[i]) +
              (summands.empty() ? 0 : summands[i]);
  }
  bool hasBias = !producer.bias.empty() || !summands.empty();
  if (!fitsFloats(weights.getElementType(), bias))
    return failure();

  Operation *op = producer.op;
  Location loc =
      FusedLoc::get(rewriter.getContext(), {op->getLoc(), consumer->getLoc()});
  rewriter.setInsertionPoint(consumer);
  SmallVector<Value> operands = llvm::to_vector(op->getOperands());
  if (!factors.empty())
    operands[1] = ConstantOp::create(rewriter, loc, weights);
  bool isMatmul = isa<MatmulOp>(op);
  Type element = weights.getElementType();
  if (hasBias && !isMatmul) {
    operands.resize(2);
    operands.push_back(channelConstant(rewriter, loc, element, bias, 0));
  }
  OperationState state(loc, op->getName(), operands, consumer->getResultTypes(),
                       op->getAttrs());
  Operation *rebuilt = rewriter.create(state);
  Value result = rebuilt->getResult(0);
  if (hasBias && isMatmul)
    result = AddOp::create(
        rewriter, loc, consumer->getResultTypes(),
        ValueRange{result, channelConstant(rewriter, loc, element, bias, 0)});
  rewriter.replaceOp(consumer, result);
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// y = x * factor + shift per channel; nullopt when parameters are not known.
static std::optional<std::pair<Floats, Floats>> readNorm(BatchNormOp norm) {
  auto scale = readFloats(norm.getScale()), bias = readFloats(norm.getBias());
  auto mean = readFloats(norm.getMean()), var = readFloats(norm.getVar());
  if (!scale || !bias || !mean || !var || bias->size() != scale->size() ||
      mean->size() != scale->size() || var->size() != scale->size())
    return std::nullopt;
  double epsilon = norm.getEpsilon().convertToDouble();
  Floats factors, shifts;
  for (size_t i = 0; i < scale->size(); ++i) {
    factors.push_back((*scale)[i] / std::sqrt((*var)[i] + epsilon));
    shifts.push_back((*bias)[i] - (*mean)[i] * factors.back());
  }
  return std::pair(factors, shifts);
}

namespace {

/// batch_norm into the weights before it, else into mul and add.
struct FoldBatchNorm : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BatchNormOp norm,
                                PatternRewriter &rewriter) const override {
    auto norms = readNorm(norm);
    auto type = dyn_cast<RankedTensorType>(norm.getX().getType());
    Type element = norm.getX().getType().getElementType();
    if (!norms || !type)
      return rewriter.notifyMatchFailure(norm, "parameters are not known");
    auto &[factors, shifts] = *norms;
    Location loc = norm.getLoc();
    auto producer = matchProducer(norm.getX());
    if (producer && producer->channelAxis == 1 &&
        producer->channels == static_cast<int64_t>(factors.size()) &&
        succeeded(rebuild(rewriter, norm, *producer, factors, shifts))) {
      remark::passed(loc, remarkOpts("FoldBatchNorm"))
          << remark::add("batch_norm became weights");
      return success();
    }
    // Which is in one rounding what two operations would be in two.
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(norm, "short floats");
    int64_t trailing = type.getRank() - 2;
    Value factor = channelConstant(rewriter, loc, element, factors, trailing);
    Value shift = channelConstant(rewriter, loc, element, shifts, trailing);
    Value scaled =
        MulOp::create(rewriter, loc, TypeRange{norm.getY().getType()},
                      ValueRange{norm.getX(), factor});
    rewriter.replaceOpWithNewOp<AddOp>(norm, TypeRange{norm.getY().getType()},
                                       ValueRange{scaled, shift});
    remark::passed(loc, remarkOpts("FoldBatchNorm"))
        << remark::add("batch_norm became mul and add");
    return success();
  }
};

/// A constant per channel, beside the value of a producer.
struct ChannelOperand {
  Producer producer;
  Floats values;
};

} // namespace

/// The operands of a commutative operation as producer and constant.
static std::optional<ChannelOperand> matchChannel(Operation *op) {
  for (unsigned i = 0; i < 2; ++i) {
    auto producer = matchProducer(op->getOperand(i));
    if (!producer || op->getOperand(i).getType() != op->getResult(0).getType())
      continue;
    auto values = readPerChannel(op->getOperand(1 - i), producer->rank,
                                 producer->channelAxis, producer->channels);
    if (values)
      return ChannelOperand{std::move(*producer), std::move(*values)};
  }
  return std::nullopt;
}

namespace {

/// producer * factors: into the weights.
struct FoldScale : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    auto match = matchChannel(op);
    Location loc = op.getLoc();
    if (!match ||
        failed(rebuild(rewriter, op, match->producer, match->values, {})))
      return failure();
    remark::passed(loc, remarkOpts("FoldScale"))
        << remark::add("a factor became part of weights");
    return success();
  }
};

/// producer + summands: into the bias. A product has none.
struct FoldBias : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    auto match = matchChannel(op);
    Location loc = op.getLoc();
    if (!match || isa<MatmulOp>(match->producer.op) ||
        failed(rebuild(rewriter, op, match->producer, {}, match->values)))
      return failure();
    remark::passed(loc, remarkOpts("FoldBias"))
        << remark::add("a summand became a bias");
    return success();
  }
};

/// x * factors in front of weights: into them, along the channels of x.
struct FoldScaleBefore : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp scale,
                                PatternRewriter &rewriter) const override {
    if (!scale->hasOneUse())
      return failure();
    OpOperand &use = *scale->use_begin();
    Operation *op = use.getOwner();
    auto weighted = matchWeighted(op);
    if (!weighted || use.getOperandNumber() != 0)
      return failure();
    ElementsAttr weights = getConstantElements(op->getOperand(1));
    auto type = dyn_cast<RankedTensorType>(scale.getY().getType());
    if (!weights || !type || type.getRank() < 2)
      return failure();
    int64_t axis = weighted->channelAxis(type.getRank());
    for (unsigned i = 0; i < 2 && !type.isDynamicDim(axis); ++i) {
      if (scale->getOperand(i).getType() != type)
        continue;
      auto factors = readPerChannel(scale->getOperand(1 - i), type.getRank(),
                                    axis, type.getDimSize(axis));
      ElementsAttr scaled =
          factors ? scaleWeights(weights, weighted->inputs.axis, *factors,
                                 weighted->inputs.groups)
                  : ElementsAttr();
      if (!scaled)
        continue;
      Location loc =
          FusedLoc::get(rewriter.getContext(), {scale->getLoc(), op->getLoc()});
      rewriter.setInsertionPoint(op);
      Value constant = ConstantOp::create(rewriter, loc, scaled);
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(0, scale->getOperand(i));
        op->setOperand(1, constant);
      });
      remark::passed(op->getLoc(), remarkOpts("FoldScale"))
          << remark::add("a factor became part of weights");
      rewriter.eraseOp(scale);
      return success();
    }
    return failure();
  }
};

/// The transpose of a product is that of its operands the other way round,
/// which are smaller here: gradients of weights that are kept transposed.
struct TransposeOperands : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto matmul = op.getX().getDefiningOp<MatmulOp>();
    if (!matmul || !matmul->hasOneUse() ||
        op.getPerm() != ArrayRef<int64_t>({1, 0}))
      return failure();
    auto elements = [](Value x) {
      auto type = dyn_cast<RankedTensorType>(x.getType());
      return type && type.getRank() == 2 && type.hasStaticShape()
                 ? type.getNumElements()
                 : -1;
    };
    int64_t a = elements(matmul.getA()), b = elements(matmul.getB());
    if (a < 0 || b < 0 || a + b >= elements(matmul.getY()))
      return failure();
    auto turned = [&](Value x) {
      return TransposeOp::create(rewriter, op.getLoc(), x, op.getPerm());
    };
    Value left = turned(matmul.getB()), right = turned(matmul.getA());
    rewriter.replaceOpWithNewOp<MatmulOp>(op, op->getResultTypes(), left,
                                          right);
    return success();
  }
};

/// Small whole powers are products, which round less and need no function.
struct ExpandPower : OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PowOp op,
                                PatternRewriter &rewriter) const override {
    auto exponent = readFloats(op.getB());
    if (!exponent || exponent->empty() || !llvm::all_equal(*exponent) ||
        (exponent->front() != 2 && exponent->front() != 3) ||
        op.getA().getType() != op.getY().getType())
      return failure();
    TypeRange type(op->getResultTypes());
    Value x = op.getA();
    Value power = MulOp::create(rewriter, op.getLoc(), type, ValueRange{x, x});
    if (exponent->front() == 3)
      power = MulOp::create(rewriter, op.getLoc(), type, ValueRange{power, x});
    rewriter.replaceOp(op, power);
    return success();
  }
};

/// Dividing by a power of two is multiplying by its inverse, which is exact.
struct DivideByMultiplying : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DivOp op,
                                PatternRewriter &rewriter) const override {
    auto divisor =
        dyn_cast_or_null<DenseElementsAttr>(getConstantElements(op.getB()));
    if (!divisor || !divisor.isSplat() ||
        !isa<FloatType>(divisor.getElementType()))
      return failure();
    APFloat inverse(0.0);
    if (!divisor.getSplatValue<APFloat>().getExactInverse(&inverse))
      return failure();
    Value factor =
        ConstantOp::create(rewriter, op.getLoc(),
                           DenseElementsAttr::get(divisor.getType(), inverse));
    rewriter.replaceOpWithNewOp<MulOp>(op, op->getResultTypes(),
                                       ValueRange{op.getA(), factor});
    return success();
  }
};

/// x * sigmoid(x), which libraries compute with what makes x.
struct RecognizeSilu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [x, factor] :
         {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      auto sigmoid = factor.getDefiningOp<SigmoidOp>();
      if (!sigmoid || sigmoid.getX() != x || x.getType() != op.getType())
        continue;
      auto silu =
          SiluOp::create(rewriter, op.getLoc(), op->getResultTypes(), x);
      copyPlacement(op, silu);
      rewriter.replaceOp(op, silu);
      return success();
    }
    return failure();
  }
};

/// Whether the value is the number, as near as its type has it; of f32 and f64
/// also a neighbour of that, as exporters round what is no fraction.
static bool isNumber(Value value, double number) {
  auto elements =
      dyn_cast_or_null<DenseElementsAttr>(getConstantElements(value));
  if (!elements || !elements.isSplat() ||
      !isa<FloatType>(elements.getElementType()))
    return false;
  const APFloat held = elements.getSplatValue<APFloat>();
  APFloat near(number);
  bool isInexact;
  near.convert(held.getSemantics(), APFloat::rmNearestTiesToEven, &isInexact);
  if (held == near)
    return true;
  const bool isExact = number == 0 || number == 0.5 || number == 1;
  if (isExact || elements.getElementType().getIntOrFloatBitWidth() < 32)
    return false;
  APFloat above = near, below = near;
  above.next(/*nextDown=*/false);
  below.next(/*nextDown=*/true);
  return held == above || held == below;
}

/// What is multiplied by the number to give the value, or null.
static Value factorBeside(Value value, double number) {
  if (auto div = value.getDefiningOp<DivOp>())
    return isNumber(div.getB(), 1 / number) ? div.getA() : Value();
  auto mul = value.getDefiningOp<MulOp>();
  if (mul && isNumber(mul.getB(), number))
    return mul.getA();
  return mul && isNumber(mul.getA(), number) ? mul.getB() : Value();
}

/// What is added to the value `other` to give the value, or null.
template <typename Matches>
static Value summandBeside(Value value, Matches &&isOther) {
  auto add = value.getDefiningOp<AddOp>();
  if (add && isOther(add.getB()))
    return add.getA();
  return add && isOther(add.getA()) ? add.getB() : Value();
}

static bool isProductOf(Value value, Value a, Value b) {
  auto mul = value.getDefiningOp<MulOp>();
  return mul && ((mul.getA() == a && mul.getB() == b) ||
                 (mul.getA() == b && mul.getB() == a));
}

/// As `approximate` of a GELU of x has it, where the value is its sum of an odd
/// function and one.
static std::optional<StringRef> geluGate(Value value, Value x) {
  Value inner =
      summandBeside(value, [](Value one) { return isNumber(one, 1); });
  if (!inner)
    return std::nullopt;
  if (auto erf = inner.getDefiningOp<ErfOp>())
    if (factorBeside(erf.getX(), 1 / std::numbers::sqrt2) == x)
      return "none";
  auto tanh = inner.getDefiningOp<TanhOp>();
  Value sum = tanh ? factorBeside(tanh.getX(), std::sqrt(2 / std::numbers::pi))
                   : Value();
  if (!sum)
    return std::nullopt;
  Value scaled = summandBeside(sum, [&](Value other) { return other == x; });
  Value cube = scaled ? factorBeside(scaled, 0.044715) : Value();
  if (auto mul = cube ? cube.getDefiningOp<MulOp>() : MulOp())
    if ((mul.getA() == x && isProductOf(mul.getB(), x, x)) ||
        (mul.getB() == x && isProductOf(mul.getA(), x, x)))
      return "tanh";
  return std::nullopt;
}

/// x/2 * (1 + erf(x / sqrt 2)) and that by tanh, in any order: as
/// RecognizeSilu.
struct RecognizeGelu : OpRewritePattern<MulOp> {
  /// Before a factor that is left over becomes part of weights.
  RecognizeGelu(MLIRContext *context)
      : OpRewritePattern<MulOp>(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    // One side is a product of two of: a half, x and the gate.
    for (auto [side, third] :
         {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      auto mul = side.getDefiningOp<MulOp>();
      if (!mul)
        continue;
      Value parts[] = {mul.getA(), mul.getB(), third};
      for (auto [half, x, gate] :
           {std::tuple(0, 1, 2), std::tuple(0, 2, 1), std::tuple(1, 0, 2),
            std::tuple(1, 2, 0), std::tuple(2, 0, 1), std::tuple(2, 1, 0)}) {
        if (!isNumber(parts[half], 0.5) ||
            parts[x].getType() != op->getResult(0).getType())
          continue;
        auto approximate = geluGate(parts[gate], parts[x]);
        if (!approximate)
          continue;
        auto gelu = GeluOp::create(rewriter, op.getLoc(), op->getResultTypes(),
                                   parts[x], *approximate);
        copyPlacement(op, gelu);
        rewriter.replaceOp(op, gelu);
        return success();
      }
    }
    return failure();
  }
};

/// What a clamp from 0 to 6 of it and 3 gives the value of, or null.
static Value clampedBySix(Value value) {
  auto clamp = value.getDefiningOp<ClampOp>();
  if (!clamp || !isNumber(clamp.getLo(), 0) || !isNumber(clamp.getHi(), 6))
    return {};
  return summandBeside(clamp.getX(),
                       [](Value three) { return isNumber(three, 3); });
}

/// Whether the value is the hard sigmoid of a hard swish of x.
static bool isHardGate(Value value, Value x) {
  if (auto sigmoid = value.getDefiningOp<HardSigmoidOp>())
    return sigmoid.getX() == x &&
           sigmoid.getAlpha().convertToFloat() == float(1.0 / 6) &&
           sigmoid.getBeta().convertToFloat() == 0.5f;
  Value clamped = factorBeside(value, 1.0 / 6);
  return clamped && clampedBySix(clamped) == x;
}

/// The x of which the value is the hard swish, or null.
static Value hardSwishOf(Value value) {
  Value whole = factorBeside(value, 1.0 / 6);
  auto product = (whole ? whole : value).getDefiningOp<MulOp>();
  if (!product)
    return {};
  for (auto [x, gate] : {std::pair(product.getA(), product.getB()),
                         std::pair(product.getB(), product.getA())})
    if (whole ? clampedBySix(gate) == x : isHardGate(gate, x))
      return x;
  return {};
}

/// x * clamp(x + 3, 0, 6) / 6, in any order: as RecognizeSilu. Where that
/// product overflows, the hard swish need not.
template <typename Op> struct RecognizeHardSwish : OpRewritePattern<Op> {
  /// Before a factor that is left over becomes part of weights.
  RecognizeHardSwish(MLIRContext *context)
      : OpRewritePattern<Op>(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value x = hardSwishOf(op.getResult());
    if (!x || x.getType() != op.getType())
      return failure();
    auto swish =
        HardSwishOp::create(rewriter, op.getLoc(), op->getResultTypes(), x);
    copyPlacement(op, swish);
    rewriter.replaceOp(op, swish);
    return success();
  }
};

struct SimplifyInference
    : dlc::graph::impl::SimplifyInferencePassBase<SimplifyInference> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<FoldBatchNorm, FoldScale, FoldScaleBefore, FoldBias,
                 ExpandPower, DivideByMultiplying, RecognizeGelu, RecognizeSilu,
                 RecognizeHardSwish<DivOp>, RecognizeHardSwish<MulOp>,
                 TransposeOperands>(context);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (isa_and_nonnull<GraphDialect>(&name.getDialect()))
        name.getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk([](BatchNormOp norm) {
      remark::missed(norm.getLoc(), remarkOpts("FoldBatchNorm"))
          << remark::reason("its parameters are not known f32 or f64");
    });
  }
};

} // namespace
