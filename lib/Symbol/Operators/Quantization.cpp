// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on small integers, of which two more operands tell the least and
// the greatest float that they stand for. The results are those of oneDNN's
// kernels, which alone MXNet 1.9.1 has for most of these operators on CPUs
// (src/operator/quantization): numbers go to the nearest integer, halves to
// even ones, and what is too large to the end of the type.

#include "Quantization.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Numbers and ranges ------------------------------------------------===//

bool symbol::isUnsigned(Value x) {
  auto type =
      llvm::dyn_cast_or_null<mlir::IntegerType>(GraphBuilder::elementOf(x));
  return type && type.isUnsigned();
}

bool symbol::isSmall(LoweringContext &n, Value x) {
  mlir::Type type = GraphBuilder::elementOf(x);
  if (type == n.b.elementType(DLC_I8) || type == n.b.elementType(DLC_U8))
    return true;
  if (!n.b.failed())
    n.fail("expected data of int8 or uint8");
  return false;
}

Value symbol::number(LoweringContext &n, double value) {
  return n.b.scalar(n.b.f32(), value);
}

Value symbol::asFloat(LoweringContext &n, Value x) {
  return n.b.cast(x, n.b.f32());
}

Value symbol::rangeOperand(LoweringContext &n, size_t index) {
  return n.b.reshape(n.in(index), {1});
}

Value symbol::largest(LoweringContext &n, Value low, Value high) {
  return n.b.op("max", {n.b.op("abs", {low}), n.b.op("abs", {high})});
}

Value symbol::scaleOf(LoweringContext &n, Value x, Value low, Value high) {
  return n.b.div(number(n, rangeOf(x)), largest(n, low, high));
}

Value symbol::rounded(LoweringContext &n, Value x, rt::DataType type) {
  return n.b.op("quantize_linear",
                {x, number(n, 1), n.b.scalar(n.b.elementType(type), 0)});
}

bool symbol::isMeasured(const Parameters &p) {
  return !p.isNone("min_calib_range") && !p.isNone("max_calib_range");
}

std::pair<Value, Value> symbol::measuredRange(LoweringContext &n) {
  if (!isMeasured(n.p))
    return {};
  auto one = [&](const char *name) {
    return n.b.splat({1}, n.b.f32(), n.p.getFloat(name));
  };
  return {one("min_calib_range"), one("max_calib_range")};
}

std::pair<Value, Value> symbol::rangeOfElements(LoweringContext &n, Value x) {
  auto one = [&](const char *mnemonic) {
    Value y = n.b.reduce(mnemonic, x, range(0, n.rank(x)), /*keepDims=*/false);
    return n.b.reshape(y, {1});
  };
  return {one("reduce_min"), one("reduce_max")};
}

void symbol::setWithRange(LoweringContext &n, Value y, Value low, Value high) {
  n.set(0, y);
  n.set(1, low);
  n.set(2, high);
}

/// The results keep the range of the operands `index` and the next.
static void setWithRangeOf(LoweringContext &n, Value y, size_t index) {
  setWithRange(n, y, rangeOperand(n, index), rangeOperand(n, index + 1));
}

void symbol::setSums(LoweringContext &n, Value y, Value data, double dataLevels,
                     Value weight) {
  Value level = n.b.mul(n.b.div(data, number(n, dataLevels)),
                        n.b.div(weight, number(n, 127)));
  Value high = n.b.mul(level, number(n, kInt32Range));
  setWithRange(n, y, n.b.op("neg", {high}), high);
}

/// The ranges of data and weight are those of operands from `index` on.
static void setSumsOf(LoweringContext &n, Value y, size_t index,
                      double dataLevels) {
  auto most = [&](size_t at) {
    return largest(n, rangeOperand(n, at), rangeOperand(n, at + 1));
  };
  setSums(n, y, most(index), dataLevels, most(index + 2));
}

//===-- From floats and back ----------------------------------------------===//

static rt::DataType chosenType(const Parameters &p) {
  const std::string &type = p.getText("out_type");
  if (type != "auto")
    return type == "uint8" ? DLC_U8 : DLC_I8;
  return isMeasured(p) && p.getFloat("min_calib_range") >= 0 ? DLC_U8 : DLC_I8;
}

/// Data that is quantised already, with the range that it has.
static void passIntegers(LoweringContext &n, rt::DataType type) {
  Value x = n.in(0);
  if (GraphBuilder::elementOf(x) != n.b.elementType(type))
    return n.unsupported("integers of another type than the result's");
  auto [low, high] = measuredRange(n);
  double range = rangeOf(x);
  if (!low) {
    low = n.b.splat({1}, n.b.f32(), isUnsigned(x) ? 0 : -range);
    high = n.b.splat({1}, n.b.f32(), range);
  }
  setWithRange(n, x, low, high);
}

/// `range` is the integer of the largest float.
static void quantizeInto(LoweringContext &n, rt::DataType type, double range,
                         Value low, Value high) {
  Value most = largest(n, low, high);
  Value scale = n.b.div(number(n, range), most);
  Value y = rounded(n, n.b.mul(n.in(0), scale), type);
  if (type == DLC_U8)
    return setWithRange(n, y, low, high);
  setWithRange(n, y, n.b.op("neg", {most}), most);
}

static void lowerQuantizeV2(LoweringContext &n) {
  rt::DataType type = chosenType(n.p);
  mlir::Type from = GraphBuilder::elementOf(n.in(0));
  if (!n.b.failed() && llvm::isa<mlir::IntegerType>(from))
    return passIntegers(n, type);
  if (n.b.failed() || from != n.b.f32())
    return n.unsupported("quantisation of other types than float32");
  auto [low, high] = measuredRange(n);
  if (!low)
    std::tie(low, high) = rangeOfElements(n, n.in(0));
  quantizeInto(n, type, type == DLC_U8 ? kUint8Range : kInt8Range, low, high);
}

static void lowerQuantize(LoweringContext &n) {
  bool isByte = n.p.getText("out_type") == "uint8";
  quantizeInto(n, isByte ? DLC_U8 : DLC_I8, isByte ? kUint8Range : 127,
               rangeOperand(n, 1), rangeOperand(n, 2));
}

static void lowerDequantize(LoweringContext &n) {
  Value x = n.in(0);
  if (!isSmall(n, x))
    return;
  Value step = n.b.div(largest(n, rangeOperand(n, 1), rangeOperand(n, 2)),
                       number(n, rangeOf(x)));
  n.set(0, n.b.mul(asFloat(n, x), step));
}

/// Sums as small integers again.
static void lowerRequantize(LoweringContext &n) {
  Value x = n.in(0);
  rt::DataType type = chosenType(n.p);
  Value step = n.b.div(largest(n, rangeOperand(n, 1), rangeOperand(n, 2)),
                       number(n, kInt32Range));
  Value most;
  if (auto [low, high] = measuredRange(n); low) {
    most = largest(n, low, high);
  } else {
    auto [least, greatest] = rangeOfElements(n, x);
    most = n.b.mul(largest(n, asFloat(n, least), asFloat(n, greatest)), step);
  }
  Value scale =
      n.b.mul(step, n.b.div(number(n, type == DLC_U8 ? 255 : 127), most));
  Value y = rounded(n, n.b.mul(asFloat(n, x), scale), type);
  Value low =
      type == DLC_U8 ? n.b.splat({1}, n.b.f32(), 0) : n.b.op("neg", {most});
  setWithRange(n, y, low, most);
}

//===-- Sums of products --------------------------------------------------===//

Value symbol::asSum(LoweringContext &n, Value x) {
  return n.b.cast(x, n.b.elementType(DLC_I32));
}

/// Where the ranges begin.
static size_t rangesOf(LoweringContext &n) {
  return n.p.getBool("no_bias") ? 2 : 3;
}

/// The bias is as it is: its range means nothing.
static void lowerQuantizedConv(LoweringContext &n) {
  if (!isSmall(n, n.in(0)))
    return;
  Value bias = n.named("bias");
  Value y = convolve(n, asSum(n, n.in(0)), asSum(n, n.in(1)),
                     bias ? asSum(n, bias) : Value());
  setSumsOf(n, y, rangesOf(n), 127);
}

static void lowerQuantizedFullyConnected(LoweringContext &n) {
  Value x = n.in(0), w = n.in(1);
  if (!isSmall(n, x))
    return;
  size_t first = rangesOf(n);
  Value y = multiplyByWeight(n, asSum(n, x), asSum(n, w));
  if (Value bias = n.named("bias")) {
    auto scale = [&](Value of, size_t index) {
      return scaleOf(n, of, rangeOperand(n, index), rangeOperand(n, index + 1));
    };
    Value factor = n.b.mul(scale(x, first), scale(w, first + 2));
    factor = n.b.mul(factor, largest(n, rangeOperand(n, first + 4),
                                     rangeOperand(n, first + 5)));
    factor = n.b.div(factor, number(n, kInt8Range));
    bias = n.b.reshape(bias, {n.p.getInt("num_hidden")});
    y = n.b.add(y, asSum(n, n.b.mul(asFloat(n, bias), factor)));
  }
  setSumsOf(n, y, first, isUnsigned(x) ? 255 : 127);
}

//===-- Layers without weights --------------------------------------------===//

static void lowerQuantizedPooling(LoweringContext &n) {
  Value x = n.in(0);
  if (!isSmall(n, x))
    return;
  rt::DataType type = isUnsigned(x) ? DLC_U8 : DLC_I8;
  const std::string &kind = n.p.getText("pool_type");
  if (kind == "max")
    return setWithRangeOf(n, pool(n, x, /*fillsWindows=*/false), 1);
  if (kind != "avg")
    return n.unsupported("parameter 'pool_type' of " + kind);
  bool countsPadding =
      n.p.isNone("count_include_pad") || n.p.getBool("count_include_pad");
  Value y = pool(n, asFloat(n, x), countsPadding);
  setWithRangeOf(n, rounded(n, y, type), 1);
}

static void lowerQuantizedAct(LoweringContext &n) {
  Value x = n.in(0);
  if (!isSmall(n, x))
    return;
  if (n.p.getText("act_type") != "relu")
    return n.unsupported("parameter 'act_type' of " + n.p.getText("act_type"));
  // Numbers of uint8 stay, but are called int8.
  Value y = isUnsigned(x) ? n.b.cast(x, n.b.elementType(DLC_I8))
                          : n.b.op("max", {x, n.scalarLike(x, 0)});
  setWithRangeOf(n, y, 1);
}

static void lowerQuantizedFlatten(LoweringContext &n) {
  if (isSmall(n, n.in(0)))
    setWithRangeOf(n, n.b.op("flatten", {n.in(0)}, {{"axis", 1}}), 1);
}

static void lowerQuantizedEmbedding(LoweringContext &n) {
  lowerEmbedding(n);
  n.set(1, rangeOperand(n, 2));
  n.set(2, rangeOperand(n, 3));
}

/// All operands in one range that holds the ranges of all.
static void lowerQuantizedConcat(LoweringContext &n) {
  size_t count = n.inputCount() / 3;
  if (count == 0)
    return n.fail("expected at least 1 operand, got none");
  Value low = n.b.splat({1}, n.b.f32(), 0), high = low;
  bool isByte = true;
  for (size_t i = 0; i < count; ++i) {
    if (!isSmall(n, n.in(i)))
      return;
    isByte &= isUnsigned(n.in(i));
    low = n.b.op("min", {low, rangeOperand(n, count + 2 * i)});
    high = n.b.op("max", {high, rangeOperand(n, count + 2 * i + 1)});
  }
  Value scale = n.b.div(number(n, isByte ? kUint8Range : kInt8Range),
                        largest(n, low, high));
  llvm::SmallVector<Value> parts;
  for (size_t i = 0; i < count; ++i) {
    Value x = n.in(i);
    Value own = scaleOf(n, x, rangeOperand(n, count + 2 * i),
                        rangeOperand(n, count + 2 * i + 1));
    parts.push_back(rounded(n, n.b.mul(asFloat(n, x), n.b.div(scale, own)),
                            isByte ? DLC_U8 : DLC_I8));
  }
  int64_t axis = n.axisOf("dim", n.rank(n.in(0)));
  if (!n.b.failed())
    setWithRange(n, n.b.concat(parts, axis), low, high);
}

//===-- Sums and products -------------------------------------------------===//

static rt::DataType sumType(rt::DataType a, rt::DataType b,
                            const Parameters &p) {
  if (!isMeasured(p))
    return DLC_I32;
  return a == DLC_U8 && b == DLC_U8 ? DLC_U8 : DLC_I8;
}

/// Of integers of both kinds, those of uint8 are first made int8 in the range
/// of the result.
static void lowerQuantizedAdd(LoweringContext &n) {
  if (!isSmall(n, n.in(0)) || !isSmall(n, n.in(1)))
    return;
  auto typeOf = [](Value x) { return isUnsigned(x) ? DLC_U8 : DLC_I8; };
  rt::DataType type = sumType(typeOf(n.in(0)), typeOf(n.in(1)), n.p);
  auto [low, high] = measuredRange(n);
  if (!low) {
    high = n.b.add(largest(n, rangeOperand(n, 2), rangeOperand(n, 3)),
                   largest(n, rangeOperand(n, 4), rangeOperand(n, 5)));
    low = n.b.op("neg", {high});
  }
  double range = type == DLC_I32  ? kInt32Range
                 : type == DLC_U8 ? kUint8Range
                                  : kInt8Range;
  Value scale = n.b.div(number(n, range), largest(n, low, high));
  bool isMixed = isUnsigned(n.in(0)) != isUnsigned(n.in(1));
  Value y;
  for (size_t i : {0, 1}) {
    Value x = n.in(i);
    Value own =
        scaleOf(n, x, rangeOperand(n, 2 * i + 2), rangeOperand(n, 2 * i + 3));
    Value part = n.b.mul(asFloat(n, x), n.b.div(scale, own));
    if (isMixed && isUnsigned(x))
      part = asFloat(n, rounded(n, part, DLC_I8));
    y = y ? n.b.add(y, part) : part;
  }
  y = type == DLC_I32 ? asSum(n, n.b.op("round", {y})) : rounded(n, y, type);
  setWithRange(n, y, low, high);
}

/// Products lose what is behind the point, and what is too large for int8.
static void lowerQuantizedMul(LoweringContext &n) {
  mlir::Type i8 = n.b.elementType(DLC_I8);
  Value a = n.in(0), b = n.in(1);
  for (Value x : {a, b})
    if (GraphBuilder::elementOf(x) != i8)
      return n.fail("expected 'lhs' and 'rhs' of int8");
  Value product = n.b.mul(asSum(n, a), asSum(n, b));
  Value scales = n.b.mul(scaleOf(n, a, rangeOperand(n, 2), rangeOperand(n, 3)),
                         scaleOf(n, b, rangeOperand(n, 4), rangeOperand(n, 5)));
  if (n.p.getBool("enable_float_output"))
    return n.set(0, n.b.div(asFloat(n, product), scales));
  auto [low, high] = measuredRange(n);
  if (!low)
    return setSumsOf(n, product, 2, 127);
  Value scale =
      n.b.div(n.b.div(number(n, kInt8Range), largest(n, low, high)), scales);
  Value y = asSum(n, n.b.mul(asFloat(n, product), scale));
  setWithRange(n, n.b.cast(y, i8), low, high);
}

//===-- Batch normalisation -----------------------------------------------===//

/// A factor and a summand for each channel, with the given statistics.
static void lowerQuantizedBatchNorm(LoweringContext &n) {
  Value x = n.in(0);
  if (!isSmall(n, x))
    return;
  auto [low, high] = measuredRange(n);
  if (!low)
    return n.fail("expected parameters 'min_calib_range' and "
                  "'max_calib_range', got none");
  int64_t axis = n.axisOf("axis", n.rank(x));
  if (n.b.failed())
    return;
  Value data = asFloat(n, x);
  if (isUnsigned(x))
    data = asFloat(
        n,
        rounded(n, n.b.mul(data, number(n, kInt8Range / kUint8Range)), DLC_I8));
  Value gamma = n.in(1), beta = n.in(2), mean = n.in(3);
  double epsilon = n.p.getFloat("eps");
  Value slope =
      n.b.div(gamma, n.b.op("sqrt", {n.b.add(n.in(4), number(n, epsilon))}));
  Value most = largest(n, low, high);
  // The kernel divides once more, by the deviation of normalised data.
  Value unit = number(n, 1 / std::sqrt(1 + epsilon));
  Value factor = n.b.mul(n.b.div(n.b.mul(slope, largest(n, rangeOperand(n, 5),
                                                        rangeOperand(n, 6))),
                                 most),
                         unit);
  Value offset = n.b.div(
      n.b.mul(n.b.sub(beta, n.b.mul(mean, slope)), number(n, kInt8Range)),
      most);
  Value y = n.b.add(n.b.mul(data, n.perChannel(factor, x, axis)),
                    n.perChannel(offset, x, axis));
  setWithRange(n, rounded(n, y, DLC_I8), low, high);
}

//===-- Shapes and types --------------------------------------------------===//

/// Operands from `first` on, and the results but the first one, are ranges.
void symbol::relateRanges(ShapeRelation &r, size_t first) {
  for (size_t i = first; i < r.inputCount(); ++i)
    r.setInput(i, std::vector<int64_t>{1});
  for (size_t i = 1; i < r.outputCount(); ++i)
    r.setOutput(i, std::vector<int64_t>{1});
}

static void relateElements(ShapeRelation &r) {
  r.equate(0, 0);
  relateRanges(r, 1);
}

static void relateLayer(ShapeRelation &r) { relateRanges(r, 1); }

static void relateQuantizedConv(ShapeRelation &r) {
  relateRanges(r, r.parameters.getBool("no_bias") ? 2 : 3);
  relateConvolution(r);
}

static void relateQuantizedFullyConnected(ShapeRelation &r) {
  relateRanges(r, r.parameters.getBool("no_bias") ? 2 : 3);
  relateFullyConnected(r);
}

static void relateQuantizedEmbedding(ShapeRelation &r) {
  relateEmbedding(r);
  relateRanges(r, 2);
}

static void relateBoth(ShapeRelation &r) {
  r.equateInputs(0, 1);
  r.equate(0, 0);
  r.equate(1, 0);
  relateRanges(r, 2);
}

static void relateQuantizedConcat(ShapeRelation &r) {
  relateRanges(r, r.inputCount() / 3);
}

static void relateQuantizedBatchNorm(ShapeRelation &r) {
  r.equate(0, 0);
  int64_t axis = r.parameters.getInt("axis");
  for (size_t i : {1, 2, 3, 4})
    r.setInput(i, std::vector{r.inputDim(0, axis)});
  relateRanges(r, 5);
}

/// Ranges are floats.
static void rangeTypes(TypeRelation &r, size_t first) {
  for (size_t i = first; i < r.inputCount(); ++i)
    r.setInput(i, DLC_F32);
  for (size_t i = 1; i < r.outputCount(); ++i)
    r.setOutput(i, DLC_F32);
}

static void quantizeTypes(TypeRelation &r) {
  r.setInput(0, DLC_F32);
  r.setOutput(0, r.parameters.getText("out_type") == "uint8" ? DLC_U8 : DLC_I8);
  rangeTypes(r, 1);
}

static void quantizeV2Types(TypeRelation &r) {
  r.setOutput(0, chosenType(r.parameters));
  rangeTypes(r, 1);
}

static void dequantizeTypes(TypeRelation &r) {
  r.setOutput(0, DLC_F32);
  rangeTypes(r, 1);
}

static void requantizeTypes(TypeRelation &r) {
  r.setInput(0, DLC_I32);
  quantizeV2Types(r);
}

static void sumTypes(TypeRelation &r) {
  size_t first = r.parameters.getBool("no_bias") ? 2 : 3;
  for (size_t i = 1; i < first; ++i)
    r.setInput(i, DLC_I8);
  r.setOutput(0, DLC_I32);
  rangeTypes(r, first);
}

static void keepsSmallType(TypeRelation &r) {
  r.equate(0, 0);
  rangeTypes(r, 1);
}

static void actTypes(TypeRelation &r) {
  r.setOutput(0, DLC_I8);
  rangeTypes(r, 1);
}

static void embeddingTypes(TypeRelation &r) {
  r.setInput(1, DLC_I8);
  r.setOutput(0, DLC_I8);
  rangeTypes(r, 2);
}

static void concatTypes(TypeRelation &r) {
  size_t count = r.inputCount() / 3;
  bool isKnown = true, isByte = true;
  for (size_t i = 0; i < count; ++i) {
    isKnown &= r.input(i) != DLC_INVALID_TYPE;
    isByte &= r.input(i) == DLC_U8;
  }
  if (isKnown)
    r.setOutput(0, isByte ? DLC_U8 : DLC_I8);
  rangeTypes(r, count);
}

static void addTypes(TypeRelation &r) {
  if (r.input(0) != DLC_INVALID_TYPE && r.input(1) != DLC_INVALID_TYPE)
    r.setOutput(0, sumType(r.input(0), r.input(1), r.parameters));
  rangeTypes(r, 2);
}

static void mulTypes(TypeRelation &r) {
  r.setInput(0, DLC_I8);
  r.setInput(1, DLC_I8);
  if (r.parameters.getBool("enable_float_output"))
    r.setOutput(0, DLC_F32);
  else
    r.setOutput(0, sumType(DLC_I8, DLC_I8, r.parameters));
  rangeTypes(r, 2);
}

//===-- Declarations ------------------------------------------------------===//

static Parameter measured(std::string_view name, std::string_view what) {
  return optional(name, ParameterKind::Float, "None", what);
}

std::vector<Parameter> symbol::withRange(std::vector<Parameter> parameters) {
  parameters.push_back(measured("min_calib_range",
                                "The least float of the result; None: not "
                                "measured."));
  parameters.push_back(measured("max_calib_range", "The greatest."));
  return parameters;
}

static std::vector<Output> ranged(std::string_view first = "output") {
  return {{first}, {"min_output"}, {"max_output"}};
}

static std::vector<Output> numbered() {
  return {{"output0"}, {"output1"}, {"output2"}};
}

static std::vector<Operator> makeConversions() {
  Parameter type = choice("out_type", {"auto", "int8", "uint8"}, "int8",
                          "auto: uint8 where the range has no negative "
                          "numbers.");
  return {
      {.name = "_contrib_quantize",
       .summary = "Floats as small integers, and the range of them",
       .parameters = {choice("out_type", {"int8", "uint8"}, "uint8",
                             "Type of the integers.")},
       .inputs = {{"data"}, {"min_range"}, {"max_range"}},
       .outputs = numbered(),
       .relateShapes = relateElements,
       .relateTypes = quantizeTypes,
       .lower = lowerQuantize},
      {.name = "_contrib_quantize_v2",
       .summary = "Floats as small integers, and the range of them",
       .details = "Integers of that type stay as they are.",
       .parameters = withRange({type}),
       .outputs = numbered(),
       .relateShapes = relateElements,
       .relateTypes = quantizeV2Types,
       .lower = lowerQuantizeV2},
      {.name = "_contrib_dequantize",
       .summary = "Small integers as floats",
       .parameters = {choice("out_type", {"float32"}, "float32",
                             "Type of the floats.")},
       .inputs = {{"data"}, {"min_range"}, {"max_range"}},
       .relateShapes = relateElements,
       .relateTypes = dequantizeTypes,
       .lower = lowerDequantize},
      {.name = "_contrib_requantize",
       .summary = "Sums of products of small integers as such integers",
       .parameters = withRange({type}),
       .inputs = {{"data"}, {"min_range"}, {"max_range"}},
       .outputs = numbered(),
       .relateShapes = relateElements,
       .relateTypes = requantizeTypes,
       .lower = lowerRequantize},
  };
}

/// The ranges of data, weight and bias behind them.
static std::vector<Input> weighted() {
  Condition hasBias = unless("no_bias");
  return {{"data"},
          {"weight"},
          {"bias", hasBias},
          {"min_data"},
          {"max_data"},
          {"min_weight"},
          {"max_weight"},
          {"min_bias", hasBias},
          {"max_bias", hasBias}};
}

static std::vector<Operator> makeLayers() {
  std::vector<Input> data = {{"data"}, {"min_data"}, {"max_data"}};
  return {
      {.name = "_contrib_quantized_conv",
       .summary = "Cross-correlation of images of small integers",
       .details = "The bias is added as it is.",
       .parameters = convolutionParameters("False"),
       .inputs = weighted(),
       .outputs = ranged(),
       .relateShapes = relateQuantizedConv,
       .relateTypes = sumTypes,
       .lower = lowerQuantizedConv},
      {.name = "_contrib_quantized_fully_connected",
       .summary = "Product of small integers with a matrix of weights, plus a "
                  "bias",
       .parameters = fullyConnectedParameters(),
       .inputs = weighted(),
       .outputs = ranged(),
       .relateShapes = relateQuantizedFullyConnected,
       .relateTypes = sumTypes,
       .lower = lowerQuantizedFullyConnected},
      {.name = "_contrib_quantized_pooling",
       .summary = "One small integer for each window",
       .details = "What lies beyond the padding counts in means as zeros, too.",
       .parameters = poolingParameters(),
       .inputs = data,
       .outputs = ranged(),
       .relateShapes = relateLayer,
       .relateTypes = keepsSmallType,
       .lower = lowerQuantizedPooling},
      {.name = "_contrib_quantized_act",
       .summary = "An activation of small integers",
       .parameters = {requiredChoice(
           "act_type", {"relu", "sigmoid", "softrelu", "softsign", "tanh"},
           "relu; others are not supported.")},
       .inputs = data,
       .outputs = ranged(),
       .relateShapes = relateElements,
       .relateTypes = actTypes,
       .lower = lowerQuantizedAct},
      {.name = "_contrib_quantized_flatten",
       .summary = "Small integers as rows",
       .inputs = data,
       .outputs = ranged(),
       .relateShapes = relateLayer,
       .relateTypes = keepsSmallType,
       .lower = lowerQuantizedFlatten},
      {.name = "_contrib_quantized_embedding",
       .summary = "Rows of a matrix of small integers",
       .parameters = embeddingParameters(),
       .inputs = {{"data"}, {"weight"}, {"min_weight"}, {"max_weight"}},
       .outputs = ranged(),
       .relateShapes = relateQuantizedEmbedding,
       .relateTypes = embeddingTypes,
       .lower = lowerQuantizedEmbedding},
  };
}

static std::vector<Operator> makeCombinations() {
  std::vector<Input> both = {{"lhs"},     {"rhs"},     {"lhs_min"},
                             {"lhs_max"}, {"rhs_min"}, {"rhs_max"}};
  Condition hasRange = unless("enable_float_output");
  return {
      {.name = "_contrib_quantized_concat",
       .summary = "Small integers one behind the other along an axis",
       .details = "The least and the greatest float of each operand come "
                  "behind all of the operands.",
       .parameters = {optional("num_args", ParameterKind::Int, "0",
                               "Number of operands; filled in when composing.")
                          .within(0, kMaxOperands / 3),
                      optional("dim", ParameterKind::Int, "1", "The axis.")},
       .inputCount = "num_args",
       .inputsOfEach = 3,
       .outputs = ranged(),
       .relateShapes = relateQuantizedConcat,
       .relateTypes = concatTypes,
       .lower = lowerQuantizedConcat},
      {.name = "_contrib_quantized_elemwise_add",
       .summary = "Sum of small integers",
       .parameters = withRange({}),
       .inputs = both,
       .outputs = ranged(),
       .relateShapes = relateBoth,
       .relateTypes = addTypes,
       .lower = lowerQuantizedAdd},
      {.name = "_contrib_quantized_elemwise_mul",
       .summary = "Product of small integers",
       .details = "With a range, what is behind the point is cut off, and what "
                  "is too large loses its upper bits.",
       .parameters =
           withRange({optional("enable_float_output", ParameterKind::Bool,
                               "False", "Give floats, without a range.")}),
       .inputs = both,
       .outputs = {{"output", {}},
                   {"min_output", hasRange},
                   {"max_output", hasRange}},
       .relateShapes = relateBoth,
       .relateTypes = mulTypes,
       .lower = lowerQuantizedMul},
      {.name = "_contrib_quantized_batch_norm",
       .summary = "Normalisation of small integers with given statistics",
       .details = "gamma counts, whatever `fix_gamma` says.",
       .parameters = withRange(
           {optional("eps", ParameterKind::Float, "0.001",
                     "Added to variances."),
            ignored("momentum", ParameterKind::Float, "0.9"),
            ignored("fix_gamma", ParameterKind::Bool, "True"),
            ignored("use_global_stats", ParameterKind::Bool, "False"),
            ignored("output_mean_var", ParameterKind::Bool, "False"),
            optional("axis", ParameterKind::Int, "1", "Axis of the channels."),
            ignored("cudnn_off", ParameterKind::Bool, "False")}),
       .inputs = {{"data"},
                  {"gamma"},
                  {"beta"},
                  {"moving_mean", {}, InputRole::Auxiliary},
                  {"moving_var", {}, InputRole::Auxiliary},
                  {"min_data"},
                  {"max_data"}},
       .outputs = ranged(),
       .relateShapes = relateQuantizedBatchNorm,
       .relateTypes = actTypes,
       .lower = lowerQuantizedBatchNorm},
  };
}

std::span<const Operator> dlc::symbol::quantizationOperators() {
  static const std::vector<Operator> rows = [] {
    std::vector<Operator> rows;
    for (auto part : {makeConversions, makeLayers, makeCombinations})
      for (Operator &row : part())
        rows.push_back(std::move(row));
    return rows;
  }();
  return rows;
}
