// SPDX-License-Identifier: Apache-2.0

#include "VectorMath.h"

#include "MathBuilder.h"

#include "dlc/Analysis/Cost.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numbers>

using namespace mlir;
using namespace dlc::codegen;

/// vmaxps: b when either is NaN.
static Value buildLarger(OpBuilder &builder, Location loc, Value a, Value b) {
  Value greater =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, a, b);
  return arith::SelectOp::create(builder, loc, greater, a, b);
}

/// The same operation, but either of two zeros may be the greater: on x86 an
/// instruction and what NaN needs, where the order of zeros takes three more.
template <typename Op>
static Value buildOfAnyZero(OpBuilder &builder, Op op, ValueRange operands) {
  return Op::create(builder, op.getLoc(), operands[0], operands[1],
                    op.getFastmath() | arith::FastMathFlags::nsz);
}

/// Whether it is a number and not 0, of which there are two. Asked of what is
/// emitted: where partial results are combined, that is no constant.
static bool isNonzero(Value value) {
  llvm::APFloat number(0.0f);
  if (auto all = value.getDefiningOp<vector::BroadcastOp>())
    value = all.getSource();
  return matchPattern(value, m_ConstantFloat(&number)) && !number.isNaN() &&
         !number.isZero();
}

/// a, or `bound`, a number, where that lies in the direction of `predicate`:
/// one instruction, which gives its second operand when either is NaN.
static Value buildBound(OpBuilder &builder, Location loc,
                        arith::CmpFPredicate predicate, Value a, Value bound) {
  Value isBeyond = arith::CmpFOp::create(builder, loc, predicate, bound, a);
  return arith::SelectOp::create(builder, loc, isBeyond, bound, a);
}

/// Whether whoever reads `value` rounds it to an integer, or asks whether it is
/// NaN.
static bool isRounded(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto compare = dyn_cast<arith::CmpFOp>(user);
    return isa<math::RoundEvenOp>(user) ||
           (compare && compare.getPredicate() == arith::CmpFPredicate::UNO &&
            compare.getLhs() == compare.getRhs());
  });
}

Value dlc::codegen::expandMath(OpBuilder &builder, Operation *op,
                               ValueRange operands,
                               const TargetOptions &target) {
  if (operands.empty())
    return {};
  Location loc = op->getLoc();
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op) &&
      isNonzero(operands[1]))
    return buildBound(builder, loc,
                      isa<arith::MaximumFOp>(op) ? arith::CmpFPredicate::OGT
                                                 : arith::CmpFPredicate::OLT,
                      operands[0], operands[1]);
  if (auto maximum = dyn_cast<arith::MaximumFOp>(op)) {
    if (arith::bitEnumContainsAll(maximum.getFastmath(),
                                  arith::FastMathFlags::nnan))
      return buildLarger(builder, loc, operands[0], operands[1]);
    return buildOfAnyZero(builder, maximum, operands);
  }
  if (auto minimum = dyn_cast<arith::MinimumFOp>(op))
    return buildOfAnyZero(builder, minimum, operands);
  Type type = operands[0].getType();
  if (!getElementTypeOrSelf(type).isF32())
    return {};
  MathBuilder b(builder, loc, type, target);
  Value x = operands[0];
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::DivFOp div) {
        llvm::APFloat divisor(0.0f);
        const bool isKnown =
            matchPattern(div.getRhs(), m_ConstantFloat(&divisor));
        return isKnown && isRounded(div)
                   ? b.roundedQuotient(x, divisor.convertToFloat())
                   : Value();
      })
      .Case([&](math::ExpOp exp) {
        // convert-kernel-to-linalg marks e^(x - max) of a softmax.
        bool isNegative = arith::bitEnumContainsAll(exp.getFastmath(),
                                                    arith::FastMathFlags::afn);
        return isNegative ? b.expOfNegative(x) : b.exp(x);
      })
      .Case([&](math::Exp2Op) { return b.exp2(x); })
      .Case([&](math::TanhOp) { return b.tanh(x); })
      .Case([&](math::ErfOp) { return b.erf(x); })
      .Case([&](math::LogOp) { return b.log(x); })
      .Case(
          [&](math::Log2Op) { return b.scaled(b.log(x), std::numbers::log2e); })
      .Case([&](math::Log10Op) {
        return b.scaled(b.log(x), std::numbers::log10e);
      })
      .Case([&](math::Log1pOp) { return b.log1p(x); })
      .Case([&](math::ExpM1Op) { return b.expm1(x); })
      .Case([&](math::AtanOp) { return b.atan(x); })
      .Case([&](math::AsinOp) { return b.asin(x); })
      .Case([&](math::AcosOp) { return b.acos(x); })
      .Case([&](math::RsqrtOp) { return b.rsqrt(x); })
      .Case([&](math::SinOp) { return b.sin(x); })
      .Case([&](math::CosOp) { return b.cos(x); })
      .Case([&](math::TanOp) { return b.tan(x); })
      .Case([&](math::SinhOp) { return b.sinh(x); })
      .Case([&](math::CoshOp) { return b.cosh(x); })
      .Case([&](math::AsinhOp) { return b.asinh(x); })
      .Case([&](math::AcoshOp) { return b.acosh(x); })
      .Case([&](math::AtanhOp) { return b.atanh(x); })
      .Case([&](math::PowFOp pow) {
        std::optional<double> exponent = analysis::plainExponentOf(pow);
        return exponent ? b.plainPow(x, *exponent) : b.pow(x, operands[1]);
      })
      .Default([](Operation *) { return Value(); });
}
