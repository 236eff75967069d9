// SPDX-License-Identifier: Apache-2.0
//
// Each elementwise operation, built for one element on constants and folded by
// arith and math, gives what its Reference kernel computes. New operations are
// tested without being named here.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/runtime/Kernel/Reference/Evaluate.h"
#include "dlc/runtime/Kernel/Reference/Reference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {

struct Element : testing::Test {
  Element() {
    context.loadDialect<GraphDialect, arith::ArithDialect, math::MathDialect>();
  }

  /// Values at which definitions differ.
  SmallVector<TypedAttr> samples(rt::DataType type, bool few) {
    SmallVector<TypedAttr> values;
    Type element = toElementType(&context, type);
    if (auto floating = dyn_cast<FloatType>(element)) {
      SmallVector<double> numbers{0.0, -0.0, 1.0, -2.5, HUGE_VAL, NAN};
      if (!few)
        numbers.append({-1.0, 0.5, 3.75, -0.5, 1.5, 100.0, -100.0, -HUGE_VAL,
                        3e9, -3e9, 0.4375});
      for (double number : numbers) {
        APFloat value(number);
        bool losesInfo;
        value.convert(floating.getFloatSemantics(),
                      APFloat::rmNearestTiesToEven, &losesInfo);
        values.push_back(FloatAttr::get(floating, value));
      }
      return values;
    }
    unsigned width = element.getIntOrFloatBitWidth();
    SmallVector<APInt> numbers{APInt(width, 0), APInt(width, 1)};
    if (width > 1) {
      numbers.append({APInt(width, -1, true, true),
                      APInt::getSignedMinValue(width), APInt(width, 3)});
      if (!few)
        numbers.append({APInt::getSignedMaxValue(width), APInt(width, 7),
                        APInt(width, -5, true, true),
                        APInt(width, 33, false, true)});
    }
    Type signless = IntegerType::get(&context, width);
    for (const APInt &number : numbers)
      values.push_back(IntegerAttr::get(signless, number));
    return values;
  }

  void check(StringRef mnemonic, ArrayRef<rt::DataType> types,
             DictionaryAttr attributes);
  void checkAll(StringRef mnemonic, DictionaryAttr attributes);

  MLIRContext context;
  int64_t compared = 0, unfolded = 0;
  std::set<std::string> seen;
};

/// The value of constants after folding in program order; null when unknown.
struct Folder {
  DenseMap<Value, Attribute> known;

  Attribute valueOf(Value value) const { return known.lookup(value); }

  void fold(Operation *op) {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(valueOf(operand));
    SmallVector<OpFoldResult> results;
    // An operation may first change itself (operands in order), then fold.
    for (int round = 0; round < 3 && results.empty(); ++round) {
      if (failed(op->fold(operands, results)))
        return;
      operands.clear();
      for (Value operand : op->getOperands())
        operands.push_back(valueOf(operand));
    }
    if (results.empty())
      return;
    auto value = dyn_cast<Value>(results.front());
    known[op->getResult(0)] =
        value ? valueOf(value) : cast<Attribute>(results.front());
  }
};

} // namespace

/// The bytes of one element; bool takes one.
static SmallVector<char> bytesOf(Attribute value) {
  APInt bits = isa<FloatAttr>(value)
                   ? cast<FloatAttr>(value).getValue().bitcastToAPInt()
                   : cast<IntegerAttr>(value).getValue();
  uint64_t word = bits.getZExtValue();
  SmallVector<char> bytes(std::max(1u, bits.getBitWidth() / 8));
  std::memcpy(bytes.data(), &word, bytes.size());
  return bytes;
}

static bool isClose(double a, double b, rt::DataType type) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b))
    return a == b;
  double tolerance = type == DLC_F64   ? 1e-13
                     : type == DLC_F32 ? 2e-6
                     : type == DLC_F16 ? 2e-3
                                       : 1.6e-2;
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(b)});
}

static double toDouble(Attribute value) {
  return cast<FloatAttr>(value).getValueAsDouble();
}

void Element::check(StringRef mnemonic, ArrayRef<rt::DataType> types,
                    DictionaryAttr attributes) {
  std::string name = ("graph." + mnemonic).str();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder(module->getBodyRegion());
  SmallVector<Type> tensorTypes;
  for (rt::DataType type : types)
    tensorTypes.push_back(
        RankedTensorType::get({}, toElementType(&context, type)));
  SmallVector<Type> resultTypes;
  SmallVector<ElementsAttr> noValues(types.size());
  if (failed(inferTypes(name, &context, std::nullopt, tensorTypes, noValues,
                        attributes, 1, resultTypes)))
    return; // not defined on these types
  Block arguments;
  for (Type type : tensorTypes)
    arguments.addArgument(type, builder.getUnknownLoc());
  OperationState state(builder.getUnknownLoc(), name, arguments.getArguments(),
                       resultTypes, attributes.getValue());
  Operation *op = builder.create(state);
  if (failed(verify(op, false))) {
    op->erase();
    return; // the dialect is stricter than the rule
  }
  seen.insert(mnemonic.str());
  auto elementwise = cast<ElementwiseOpInterface>(op);
  rt::DataType resultType = toTensorType(resultTypes.front()).type;
  const rt::ref::Operation *reference =
      rt::ref::lookup(std::string_view(mnemonic));

  // Every combination of samples.
  SmallVector<SmallVector<TypedAttr>> choices;
  for (rt::DataType type : types)
    choices.push_back(samples(type, types.size() > 2));
  SmallVector<size_t> at(types.size(), 0);
  for (;;) {
    Block block;
    OpBuilder inner(&context);
    inner.setInsertionPointToEnd(&block);
    SmallVector<Value> scalars;
    std::vector<SmallVector<char>> bytes;
    for (size_t i = 0; i < types.size(); ++i) {
      TypedAttr sample = choices[i][at[i]];
      scalars.push_back(
          arith::ConstantOp::create(inner, inner.getUnknownLoc(), sample));
      bytes.push_back(bytesOf(sample));
    }
    Value result =
        elementwise.buildElement(inner, inner.getUnknownLoc(), scalars);
    Folder folder;
    for (Operation &each : block)
      folder.fold(&each);
    Attribute folded = folder.valueOf(result);

    std::vector<rt::TensorView> inputs;
    for (size_t i = 0; i < types.size(); ++i)
      inputs.push_back({types[i], {}, bytes[i].data()});
    std::vector<rt::ref::OwnedTensor> outputs;
    ASSERT_TRUE(rt::ref::evaluate(*reference, inputs, toAttributes(attributes),
                                  1, outputs)
                    .isOk());
    if (!folded || !isa<FloatAttr, IntegerAttr>(folded)) {
      ++unfolded;
    } else {
      ++compared;
      std::string what = name;
      for (size_t i = 0; i < types.size(); ++i) {
        llvm::raw_string_ostream(what) << " " << choices[i][at[i]];
      }
      llvm::raw_string_ostream(what)
          << " " << attributes << " gives " << folded;
      ArrayRef<char> expected(static_cast<char *>(outputs[0].data()),
                              rt::sizeOf(resultType));
      if (rt::isFloat(resultType)) {
        APInt bits(8 * expected.size(), 0);
        uint64_t word = 0;
        std::memcpy(&word, expected.data(), expected.size());
        bits = APInt(8 * expected.size(), word);
        double value =
            APFloat(cast<FloatType>(toElementType(&context, resultType))
                        .getFloatSemantics(),
                    bits)
                .convertToDouble();
        EXPECT_TRUE(isClose(toDouble(folded), value, resultType))
            << what << ", reference " << value;
      } else {
        EXPECT_EQ(ArrayRef<char>(bytesOf(folded)), expected) << what;
      }
    }
    block.dropAllReferences();
    size_t i = 0;
    while (i < at.size() && ++at[i] == choices[i].size())
      at[i++] = 0;
    if (i == at.size())
      break;
  }

  // The same operations map over vectors.
  Block block;
  OpBuilder inner(&context);
  inner.setInsertionPointToEnd(&block);
  SmallVector<Value> vectors;
  for (size_t i = 0; i < types.size(); ++i) {
    auto type = VectorType::get({4}, choices[i][0].getType());
    vectors.push_back(block.addArgument(type, inner.getUnknownLoc()));
  }
  Value result =
      elementwise.buildElement(inner, inner.getUnknownLoc(), vectors);
  EXPECT_TRUE(isa<VectorType>(result.getType())) << name;
  for (Operation &each : block) {
    EXPECT_TRUE(succeeded(verify(&each))) << name;
    EXPECT_TRUE(OpTrait::hasElementwiseMappableTraits(&each) ||
                each.hasTrait<OpTrait::ConstantLike>())
        << each.getName().getStringRef().str();
  }
  block.dropAllReferences();
  op->erase();
}

void Element::checkAll(StringRef mnemonic, DictionaryAttr attributes) {
  for (int id = DLC_BOOL; id <= DLC_F64; ++id) {
    auto type = static_cast<rt::DataType>(id);
    check(mnemonic, {type}, attributes);
    check(mnemonic, {type, type}, attributes);
    if (mnemonic != "select")
      check(mnemonic, {type, type, type}, attributes);
    check(mnemonic, {DLC_BOOL, type, type}, attributes);
  }
}

TEST_F(Element, EveryOperationAgreesWithItsReference) {
  Builder builder(&context);
  auto none = builder.getDictionaryAttr({});
  std::set<std::string> expected;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!name.hasInterface<ElementwiseOpInterface>())
      continue;
    expected.insert(name.stripDialect().str());
    StringRef mnemonic = name.stripDialect();
    if (mnemonic == "cast" || mnemonic == "bit_cast") {
      for (int id = DLC_BOOL; id <= DLC_F64; ++id) {
        Type to = toElementType(&context, static_cast<rt::DataType>(id));
        checkAll(mnemonic, builder.getDictionaryAttr(
                               builder.getNamedAttr("to", TypeAttr::get(to))));
      }
      continue;
    }
    checkAll(mnemonic, none);
  }
  checkAll("gelu", builder.getDictionaryAttr(builder.getNamedAttr(
                       "approximate", builder.getStringAttr("tanh"))));
  checkAll("mod", builder.getDictionaryAttr(
                      builder.getNamedAttr("fmod", builder.getBoolAttr(true))));
  for (StringRef flag : {"detect_positive", "detect_negative"})
    checkAll("is_inf", builder.getDictionaryAttr(builder.getNamedAttr(
                           flag, builder.getBoolAttr(false))));
  for (rt::DataType exponent : {DLC_I32, DLC_U8, DLC_I64, DLC_F32})
    for (rt::DataType base : {DLC_F32, DLC_I32, DLC_U16, DLC_F64})
      check("pow", {base, exponent}, none);
  for (rt::DataType zeroPoint : {DLC_U8, DLC_I8})
    check("requantize", {DLC_I32, DLC_F32, DLC_F32, zeroPoint}, none);

  EXPECT_EQ(seen, expected) << "an operation was never built";
  // Some functions have no folder; most must have been compared.
  EXPECT_GT(compared, 20000);
  EXPECT_LT(unfolded * 4, compared);
  RecordProperty("compared", static_cast<int>(compared));
  RecordProperty("unfolded", static_cast<int>(unfolded));
}
