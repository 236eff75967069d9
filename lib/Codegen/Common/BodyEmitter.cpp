// SPDX-License-Identifier: Apache-2.0

#include "BodyEmitter.h"

#include "VectorMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dlc::codegen;

//===----------------------------------------------------------------------===//
// Types and small helpers
//===----------------------------------------------------------------------===//

Type dlc::codegen::getComputeType(Type element) {
  MLIRContext *context = element.getContext();
  if (element.isIndex())
    return IntegerType::get(context, 64);
  if (element.isF16() || element.isBF16())
    return Float32Type::get(context);
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(context, integer.getWidth());
  return element;
}

/// The type that lies in memory: a byte for a bool, 16 bits for halves.
static Type getMemoryType(Type element) {
  MLIRContext *context = element.getContext();
  if (element.isInteger(1))
    return IntegerType::get(context, 8);
  if (element.isF16() || element.isBF16())
    return IntegerType::get(context, 16);
  return getComputeType(element);
}

static Type withWidth(Type element, int64_t width) {
  return width == 1 ? element : Type(VectorType::get({width}, element));
}

/// `element` in the shape of `like`: a scalar or a vector.
static Type shapedLike(Type element, Type like) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

static unsigned byteSize(Type memoryType) {
  return memoryType.getIntOrFloatBitWidth() / 8;
}

Value dlc::codegen::buildI64(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}

Value dlc::codegen::addI64(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}

Value dlc::codegen::mulI64(OpBuilder &builder, Location loc, Value a,
                           int64_t factor) {
  if (!a || factor == 0)
    return {};
  if (factor == 1)
    return a;
  return builder.createOrFold<arith::MulIOp>(loc, a,
                                             buildI64(builder, loc, factor));
}

/// A constant of an integer or float type, or of a vector of it.
static Value buildConstant(OpBuilder &builder, Location loc, Type type,
                           int64_t value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = isa<FloatType>(element)
                       ? TypedAttr(builder.getFloatAttr(element, value))
                       : TypedAttr(builder.getIntegerAttr(element, value));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

Value BodyEmitter::lookup(Value value, const ValueMap &values) const {
  if (Value mapped = values.lookup(value))
    return mapped;
  return outer.lookup(value);
}

Value BodyEmitter::broadcast(Location loc, Value value, int64_t width) {
  if (width == 1 || isa<VectorType>(value.getType()))
    return value;
  Type type = VectorType::get({width}, value.getType());
  return vector::BroadcastOp::create(builder, loc, type, value);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// f16 bits (i16) to f32 without F16C, where LLVM would call a function: the
/// exponent is rebased by a multiplication, which also normalises denormals.
static Value expandHalfToFloat(OpBuilder &b, Location loc, Value half) {
  Type i32 = shapedLike(b.getI32Type(), half.getType());
  Type f32 = shapedLike(b.getF32Type(), half.getType());
  auto integer = [&](int64_t v) { return buildConstant(b, loc, i32, v); };
  Value wide = arith::ExtUIOp::create(b, loc, i32, half);
  Value magnitude = arith::AndIOp::create(b, loc, wide, integer(0x7FFF));
  Value sign = arith::SubIOp::create(b, loc, wide, magnitude);
  Value shifted = arith::ShLIOp::create(b, loc, magnitude, integer(13));
  Value rebase =
      arith::BitcastOp::create(b, loc, f32, integer((127 + 112) << 23));
  Value scaled = arith::MulFOp::create(
      b, loc, arith::BitcastOp::create(b, loc, f32, shifted), rebase);
  Value bits = arith::BitcastOp::create(b, loc, i32, scaled);
  // Infinity and NaN keep an exponent of all ones.
  Value special = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge,
                                        magnitude, integer(0x7C00));
  Value full = arith::OrIOp::create(b, loc, bits, integer(0x7F800000));
  bits = arith::SelectOp::create(b, loc, special, full, bits);
  sign = arith::ShLIOp::create(b, loc, sign, integer(16));
  return arith::BitcastOp::create(b, loc, f32,
                                  arith::OrIOp::create(b, loc, bits, sign));
}

/// f32 to f16 bits, to nearest even, without F16C.
static Value expandFloatToHalf(OpBuilder &b, Location loc, Value value) {
  Type i32 = shapedLike(b.getI32Type(), value.getType());
  Type i16 = shapedLike(b.getI16Type(), value.getType());
  Type f32 = value.getType();
  using arith::CmpIPredicate;
  auto integer = [&](int64_t v) { return buildConstant(b, loc, i32, v); };
  auto less = [&](Value x, int64_t bound) -> Value {
    return arith::CmpIOp::create(b, loc, CmpIPredicate::ult, x, integer(bound));
  };
  Value bits = arith::BitcastOp::create(b, loc, i32, value);
  Value magnitude = arith::AndIOp::create(b, loc, bits, integer(0x7FFFFFFF));
  Value sign = arith::ShRUIOp::create(
      b, loc, arith::SubIOp::create(b, loc, bits, magnitude), integer(16));
  // Results that are denormal (below 2^-14): adding 0.5 rounds at 2^-24.
  Value asFloat = arith::BitcastOp::create(b, loc, f32, magnitude);
  Value half = arith::BitcastOp::create(b, loc, f32, integer(0x3F000000));
  Value shifted = arith::AddFOp::create(b, loc, asFloat, half);
  Value shiftedBits = arith::BitcastOp::create(b, loc, i32, shifted);
  Value small = arith::SubIOp::create(b, loc, shiftedBits, integer(0x3F000000));
  // Normal results: rebase the exponent and round to even on 13 bits.
  Value odd = arith::AndIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, magnitude, integer(13)),
      integer(1));
  Value rounded = arith::AddIOp::create(
      b, loc, magnitude,
      integer(static_cast<int32_t>(0xFFF - ((127 - 15) << 23))));
  rounded = arith::AddIOp::create(b, loc, rounded, odd);
  Value normal = arith::ShRUIOp::create(b, loc, rounded, integer(13));
  Value result = arith::SelectOp::create(b, loc, less(magnitude, 0x38800000),
                                         small, normal);
  // From 65520 on the result is infinity; NaN stays a quiet NaN.
  result = arith::SelectOp::create(b, loc, less(magnitude, 0x477FF000), result,
                                   integer(0x7C00));
  result = arith::SelectOp::create(b, loc, less(magnitude, 0x7F800001), result,
                                   integer(0x7E00));
  return arith::TruncIOp::create(b, loc, i16,
                                 arith::OrIOp::create(b, loc, result, sign));
}

Value BodyEmitter::halfToFloat(Location loc, Value value) {
  if (!target.has("f16c"))
    return expandHalfToFloat(builder, loc, value);
  Type f16 = shapedLike(builder.getF16Type(), value.getType());
  Type f32 = shapedLike(builder.getF32Type(), value.getType());
  Value half = arith::BitcastOp::create(builder, loc, f16, value);
  return arith::ExtFOp::create(builder, loc, f32, half);
}

Value BodyEmitter::floatToHalf(Location loc, Value value) {
  if (!target.has("f16c"))
    return expandFloatToHalf(builder, loc, value);
  Type f16 = shapedLike(builder.getF16Type(), value.getType());
  Type i16 = shapedLike(builder.getI16Type(), value.getType());
  Value half = arith::TruncFOp::create(builder, loc, f16, value);
  return arith::BitcastOp::create(builder, loc, i16, half);
}

static Value bfloatToFloat(OpBuilder &b, Location loc, Value value) {
  Type i32 = shapedLike(b.getI32Type(), value.getType());
  Value wide = arith::ExtUIOp::create(b, loc, i32, value);
  wide = arith::ShLIOp::create(b, loc, wide, buildConstant(b, loc, i32, 16));
  Type f32 = shapedLike(b.getF32Type(), value.getType());
  return arith::BitcastOp::create(b, loc, f32, wide);
}

/// To nearest even; NaN becomes the quiet NaN.
static Value floatToBfloat(OpBuilder &b, Location loc, Value value) {
  Type i32 = shapedLike(b.getI32Type(), value.getType());
  Type i16 = shapedLike(b.getI16Type(), value.getType());
  auto integer = [&](int64_t v) { return buildConstant(b, loc, i32, v); };
  Value bits = arith::BitcastOp::create(b, loc, i32, value);
  Value odd = arith::AndIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, bits, integer(16)), integer(1));
  Value rounded = arith::AddIOp::create(
      b, loc, bits, arith::AddIOp::create(b, loc, odd, integer(0x7FFF)));
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  rounded =
      arith::SelectOp::create(b, loc, isNaN, integer(0x7FC00000), rounded);
  return arith::TruncIOp::create(
      b, loc, i16, arith::ShRUIOp::create(b, loc, rounded, integer(16)));
}

Value BodyEmitter::fromMemory(Location loc, Value value, Type element) {
  if (element.isInteger(1))
    return arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne, value,
        buildConstant(builder, loc, value.getType(), 0));
  if (element.isF16())
    return halfToFloat(loc, value);
  if (element.isBF16())
    return bfloatToFloat(builder, loc, value);
  return value;
}

Value BodyEmitter::toMemory(Location loc, Value value, Type element) {
  if (element.isInteger(1))
    return arith::ExtUIOp::create(
        builder, loc, shapedLike(builder.getI8Type(), value.getType()), value);
  if (element.isF16())
    return floatToHalf(loc, value);
  if (element.isBF16())
    return floatToBfloat(builder, loc, value);
  return value;
}

Value BodyEmitter::address(Location loc, const View &view, Value offset) {
  if (!offset)
    return view.base;
  return LLVM::GEPOp::create(builder, loc, view.base.getType(),
                             getMemoryType(view.element), view.base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// Two whole vectors and a shuffle when every second element is wanted,
/// element by element otherwise. The second vector ends at the last element,
/// so that nothing beyond it is read.
Value BodyEmitter::loadStrided(Location loc, const View &view, Value offset,
                               int64_t stride, int64_t width) {
  Type memory = getMemoryType(view.element);
  unsigned align = byteSize(memory);
  auto loadAt = [&](int64_t at, int64_t count) -> Value {
    Value place =
        addI64(builder, loc, offset, at ? buildI64(builder, loc, at) : Value());
    return LLVM::LoadOp::create(builder, loc, withWidth(memory, count),
                                address(loc, view, place), align);
  };
  if (stride == 2) {
    SmallVector<int64_t> lanes;
    for (int64_t lane = 0; lane < width; ++lane)
      lanes.push_back(lane * 2 < width ? lane * 2 : lane * 2 + 1);
    return vector::ShuffleOp::create(builder, loc, loadAt(0, width),
                                     loadAt(width - 1, width), lanes);
  }
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < width; ++lane)
    elements.push_back(loadAt(lane * stride, 1));
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get({width}, memory), elements);
}

Value BodyEmitter::load(Location loc, const View &view, Value offset,
                        int64_t stride, int64_t width, Value mask) {
  Type memory = getMemoryType(view.element);
  unsigned align = byteSize(memory);
  if (width == 1 || stride == 0) {
    Value scalar = LLVM::LoadOp::create(builder, loc, memory,
                                        address(loc, view, offset), align);
    return fromMemory(loc, scalar, view.element);
  }
  Type type = VectorType::get({width}, memory);
  if (stride != 1)
    return fromMemory(loc, loadStrided(loc, view, offset, stride, width),
                      view.element);
  Value pointer = address(loc, view, offset);
  if (!mask) {
    if (vectorsAreAligned)
      align *= width;
    Value vector = LLVM::LoadOp::create(builder, loc, type, pointer, align);
    return fromMemory(loc, vector, view.element);
  }
  Value zero = buildConstant(builder, loc, type, 0);
  Value vector =
      LLVM::MaskedLoadOp::create(builder, loc, type, pointer, mask, zero,
                                 builder.getI32IntegerAttr(align), UnitAttr());
  return fromMemory(loc, vector, view.element);
}

void BodyEmitter::store(Location loc, Value value, const View &view,
                        Value offset, int64_t stride, int64_t width,
                        Value mask) {
  value = toMemory(loc, broadcast(loc, value, width), view.element);
  unsigned align = byteSize(getMemoryType(view.element));
  if (width == 1 || (stride == 1 && !mask)) {
    if (vectorsAreAligned)
      align *= width;
    LLVM::StoreOp::create(builder, loc, value, address(loc, view, offset),
                          align);
    return;
  }
  if (stride == 1) {
    LLVM::MaskedStoreOp::create(builder, loc, value, address(loc, view, offset),
                                mask, align);
    return;
  }
  for (int64_t lane = 0; lane < width; ++lane) {
    Value element = vector::ExtractOp::create(builder, loc, value, lane);
    Value at = addI64(builder, loc, offset,
                      lane ? buildI64(builder, loc, lane * stride) : Value());
    LLVM::StoreOp::create(builder, loc, element, address(loc, view, at), align);
  }
}

//===----------------------------------------------------------------------===//
// Operations of the body
//===----------------------------------------------------------------------===//

/// arith.index_cast and friends: `index` is i64 here.
static Value castInteger(OpBuilder &builder, Location loc, Value value,
                         Type element, bool isUnsigned) {
  Type type = shapedLike(element, value.getType());
  unsigned from = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  unsigned to = element.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  if (from > to)
    return arith::TruncIOp::create(builder, loc, type, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(builder, loc, type, value);
  return arith::ExtSIOp::create(builder, loc, type, value);
}

/// Conversions where compute types differ from the types in the IR; null for
/// any other operation.
Value BodyEmitter::emitConversion(Operation &op, Value operand, int64_t width) {
  Location loc = op.getLoc();
  if (op.getNumOperands() != 1 || op.getNumResults() != 1)
    return {};
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  Type computed = getComputeType(to);
  if (isa<UnrealizedConversionCastOp>(op))
    return operand;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return castInteger(builder, loc, operand, computed,
                       isa<arith::IndexCastUIOp>(op));
  bool fromHalf = from.isF16() || from.isBF16();
  bool toHalf = to.isF16() || to.isBF16();
  if (isa<arith::BitcastOp>(op) && (fromHalf || toHalf)) {
    Value bits = fromHalf ? toMemory(loc, operand, from) : operand;
    return toHalf ? fromMemory(loc, bits, to) : bits;
  }
  if (isa<arith::ExtFOp>(op) && fromHalf && to.isF32())
    return operand;
  // Casts to a half type round; the value itself stays f32.
  if (!toHalf || !isa<arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return {};
  if (isa<arith::TruncFOp>(op)) {
    if (!from.isF32() && !fromHalf)
      operand = arith::TruncFOp::create(
          builder, loc, shapedLike(computed, operand.getType()), operand);
  } else {
    Type type = shapedLike(computed, operand.getType());
    operand =
        isa<arith::SIToFPOp>(op)
            ? arith::SIToFPOp::create(builder, loc, type, operand).getResult()
            : arith::UIToFPOp::create(builder, loc, type, operand).getResult();
  }
  return fromMemory(loc, toMemory(loc, operand, to), to);
}

/// memref.load inside a body: a vector where the indices grow from lane to
/// lane by a stride that is known, one load per lane where they do not.
Value BodyEmitter::emitGather(memref::LoadOp op, int64_t width,
                              const ValueMap &values) {
  Location loc = op.getLoc();
  const View &view = views.find(op.getMemRef())->second;
  Value scalarPart = view.offset, vectorPart;
  int64_t rampStride = 0;
  for (auto [index, stride] : llvm::zip_equal(op.getIndices(), view.strides)) {
    Value mapped = lookup(index, values);
    auto ramp = ramps.find(mapped);
    if (isa<VectorType>(mapped.getType()) && ramp == ramps.end()) {
      Value factor = buildConstant(builder, loc, mapped.getType(), stride);
      Value part = arith::MulIOp::create(builder, loc, mapped, factor);
      vectorPart = addI64(builder, loc, vectorPart, part);
      continue;
    }
    if (isa<VectorType>(mapped.getType())) {
      mapped = ramp->second.first;
      rampStride += ramp->second.stride * stride;
    }
    scalarPart =
        addI64(builder, loc, scalarPart, mulI64(builder, loc, mapped, stride));
  }
  if (!vectorPart)
    return load(loc, view, scalarPart, rampStride, rampStride ? width : 1, {});
  Type memory = getMemoryType(view.element);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < width; ++lane) {
    Value index = vector::ExtractOp::create(builder, loc, vectorPart, lane);
    Value place = addI64(builder, loc, scalarPart, index);
    if (rampStride)
      place = addI64(builder, loc, place,
                     buildI64(builder, loc, lane * rampStride));
    elements.push_back(LLVM::LoadOp::create(
        builder, loc, memory, address(loc, view, place), byteSize(memory)));
  }
  Value gathered = vector::FromElementsOp::create(
      builder, loc, VectorType::get({width}, memory), elements);
  return fromMemory(loc, gathered, view.element);
}

/// A sum of a ramp and what is the same in all lanes is a ramp, as is a
/// multiple of one.
void BodyEmitter::followRamp(Operation &op, const ValueMap &values) {
  if (op.getNumOperands() != 2 || !isa<arith::AddIOp, arith::MulIOp>(op))
    return;
  for (unsigned i = 0; i < 2; ++i) {
    auto ramp = ramps.find(lookup(op.getOperand(i), values));
    Value other = lookup(op.getOperand(1 - i), values);
    if (ramp == ramps.end() || isa<VectorType>(other.getType()))
      continue;
    auto [first, stride] = ramp->second;
    Value result = lookup(op.getResult(0), values);
    if (isa<arith::AddIOp>(op))
      ramps[result] = {addI64(builder, op.getLoc(), first, other), stride};
    else if (auto factor = getConstantIntValue(other))
      ramps[result] = {mulI64(builder, op.getLoc(), first, *factor),
                       stride * *factor};
    return;
  }
}

static Value emitScalarConstant(OpBuilder &builder, arith::ConstantOp op) {
  Type type = getComputeType(op.getType());
  Attribute value = op.getValue();
  if (auto real = dyn_cast<FloatAttr>(value)) {
    APFloat number = real.getValue();
    bool lossy = false;
    number.convert(cast<FloatType>(type).getFloatSemantics(),
                   APFloat::rmNearestTiesToEven, &lossy);
    return arith::ConstantOp::create(builder, op.getLoc(),
                                     FloatAttr::get(type, number));
  }
  APInt bits = cast<IntegerAttr>(value).getValue();
  return arith::ConstantOp::create(
      builder, op.getLoc(),
      IntegerAttr::get(type, bits.sextOrTrunc(type.getIntOrFloatBitWidth())));
}

LogicalResult BodyEmitter::emitMapped(Operation &op, int64_t width,
                                      ValueMap &values) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(lookup(operand, values));
  bool anyVector = llvm::any_of(operands, [](Value operand) {
    return isa<VectorType>(operand.getType());
  });
  int64_t opWidth = anyVector ? width : 1;
  for (Value &operand : operands)
    operand = broadcast(op.getLoc(), operand, opWidth);

  Value result;
  if (!operands.empty())
    result = emitConversion(op, operands[0], opWidth);
  if (!result)
    result = expandMath(builder, &op, operands, target);
  if (result) {
    values[op.getResult(0)] = result;
    return success();
  }
  if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumRegions())
    return op.emitError("expected an operation with a vector form in the "
                        "body of a kernel, got ")
           << op.getName();
  OperationState state(op.getLoc(), op.getName());
  state.addOperands(operands);
  for (Type type : op.getResultTypes())
    state.addTypes(withWidth(getComputeType(type), opWidth));
  state.addAttributes(op.getAttrs());
  Operation *clone = builder.create(state);
  auto math = dyn_cast<arith::ArithFastMathInterface>(clone);
  if (math && !isa<arith::SubFOp>(clone)) {
    // Products may fuse with sums: more exact and faster. Not with differences:
    // in x - max(x) with x = a * b recomputed, the exact product would differ
    // from the rounded maximum, and exp makes much of that.
    arith::FastMathFlagsAttr old = math.getFastMathFlagsAttr();
    arith::FastMathFlags flags =
        (old ? old.getValue() : arith::FastMathFlags::none) |
        arith::FastMathFlags::contract;
    clone->setAttr(math.getFastMathAttrName(),
                   arith::FastMathFlagsAttr::get(op.getContext(), flags));
  }
  for (auto [old, replacement] :
       llvm::zip_equal(op.getResults(), clone->getResults()))
    values[old] = replacement;
  return success();
}

LogicalResult BodyEmitter::emit(Operation &op, int64_t width,
                                ValueMap &values) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    values[constant] = emitScalarConstant(builder, constant);
    return success();
  }
  if (auto gather = dyn_cast<memref::LoadOp>(op)) {
    if (!views.contains(gather.getMemRef()))
      return op.emitError("expected a memref of the kernel");
    values[gather] = emitGather(gather, width, values);
    return success();
  }
  if (failed(emitMapped(op, width, values)))
    return failure();
  if (width > 1)
    followRamp(op, values);
  return success();
}
