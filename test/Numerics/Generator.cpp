// SPDX-License-Identifier: Apache-2.0

#include "Generator.h"

#include "dlc/Numerics/Comparison.h"
#include "dlc/Numerics/Inputs.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/IR/Verifier.h"

#include <cmath>

using namespace mlir;
using namespace dlc;
using namespace dlc::test;
using numerics::Tensor;

static constexpr int64_t kMostElements = 4096;
static constexpr double kLargest = 500;
/// A shadow rounds each result this many times more coarsely than toleranceOf
/// says, and may be off by this many such roundings.
static constexpr double kCoarseness = 6, kMostAmplified = 30;

func::FuncOp dlc::test::mainOf(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

Generator::Generator(MLIRContext &context, uint64_t seed, bool isDifferentiable)
    : b(&context), isDifferentiable(isDifferentiable), seed(seed) {
  module = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(b, b.getUnknownLoc(), "main",
                                  b.getFunctionType({}, {}));
  body = function.addEntryBlock();
  b.setInsertionPointToEnd(body);
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasInterface<graph::ElementwiseOpInterface>())
      elementwiseNames.push_back(name.stripDialect().str());
  llvm::sort(elementwiseNames);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

uint64_t Generator::random() {
  rt::RandomWords words = rt::RandomDraws{seed}.block(draws++);
  return static_cast<uint64_t>(words[0]) << 32 | words[1];
}

int64_t Generator::extent() { return extents[below(extents.size())]; }

Type Generator::floats() {
  return isa<FloatType>(element) ? element : b.getF32Type();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void Generator::set(Value value, const Tensor &tensor) {
  exact.set(value, tensor);
  for (numerics::Interpreter &shadow : shadows)
    shadow.set(value, tensor);
}

void Generator::addValue(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType());
      type && type.hasStaticShape())
    pool.push_back(value);
}

/// The numbers as bytes of a type, and what holds them.
Tensor Generator::makeTensor(RankedTensorType type, const Numbers &numbers) {
  Tensor tensor;
  rt::Status status =
      numerics::makeTensor(graph::toTensorType(type), numbers, tensor);
  return status.isOk() ? tensor : Tensor();
}

Value Generator::constant(ArrayRef<int64_t> shape, Type element,
                          ArrayRef<double> numbers) {
  auto type = RankedTensorType::get(shape, element);
  Tensor tensor = makeTensor(type, numbers);
  auto op = graph::ConstantOp::create(
      b, b.getUnknownLoc(),
      graph::makeElements(type, ArrayRef(tensor.as<char>(), tensor.bytes())));
  set(op.getY(), tensor);
  return op.getY();
}

Value Generator::argument(RankedTensorType type, const Numbers &numbers) {
  Tensor tensor = makeTensor(type, numbers);
  Value value = body->addArgument(type, b.getUnknownLoc());
  std::string name = "a" + std::to_string(argumentAttributes.size());
  argumentAttributes.push_back(b.getDictionaryAttr(
      {b.getNamedAttr(graph::GraphDialect::kNameAttr, b.getStringAttr(name)),
       b.getNamedAttr(graph::GraphDialect::kInitialAttr,
                      graph::makeElements(type, ArrayRef(tensor.as<char>(),
                                                         tensor.bytes())))}));
  set(value, tensor);
  addValue(value);
  return value;
}

Value Generator::fresh(ArrayRef<int64_t> shape, Type element, double low,
                       double high) {
  auto type = RankedTensorType::get(shape, element);
  Numbers numbers(type.getNumElements());
  bool isWhole = element.isInteger();
  // Numbers that sums and products do not round, and many equal ones.
  bool isCoarse = isDyadic && chance(50);
  for (double &number : numbers) {
    number = real(low, high);
    if (element.isInteger(1))
      number = chance(50);
    else if (isWhole)
      number =
          std::floor(real(element.isUnsignedInteger() ? 0 : low, high + 1));
    else if (isCoarse)
      number = std::clamp(std::round(number * 4) / 4, low, high);
  }
  bool mayBeArgument = !isDifferentiable || element.isF64();
  if (mayBeArgument && chance(60))
    return argument(type, numbers);
  Value value = constant(shape, element, numbers);
  pool.push_back(value);
  return value;
}

Value Generator::ints(ArrayRef<int64_t> values) {
  return constant({static_cast<int64_t>(values.size())}, b.getI64Type(),
                  Numbers(values.begin(), values.end()));
}

Value Generator::scalar(int64_t value) {
  return constant({}, b.getI64Type(), static_cast<double>(value));
}

Value Generator::none() {
  auto op = graph::NoneOp::create(b, b.getUnknownLoc(), b.getNoneType());
  set(op.getY(), Tensor());
  return op.getY();
}

Value Generator::indices(ArrayRef<int64_t> shape, int64_t extent,
                         bool isNegativeToo) {
  int64_t count = *rt::elementCount(shape);
  Numbers numbers;
  bool hasNegative = isNegativeToo && chance(40);
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(
        static_cast<double>(between(hasNegative ? -extent : 0, extent - 1)));
  auto type = RankedTensorType::get(shape, b.getI64Type());
  return isDifferentiable || chance(50)
             ? constant(shape, b.getI64Type(), numbers)
             : argument(type, numbers);
}

Value Generator::pick(function_ref<bool(RankedTensorType)> fits) {
  SmallVector<Value> fit;
  for (Value value : pool)
    if (fits(typeOf(value)))
      fit.push_back(value);
  if (fit.empty())
    return {};
  size_t late = std::min<size_t>(fit.size(), 4);
  return chance(65) ? fit[fit.size() - 1 - below(late)]
                    : fit[below(fit.size())];
}

Value Generator::pickFloats(int64_t minRank, int64_t maxRank) {
  auto fits = [&](RankedTensorType type) {
    return isa<FloatType>(type.getElementType()) && type.getRank() >= minRank &&
           type.getRank() <= maxRank;
  };
  if (Value value = pick(fits))
    return value;
  Shape shape;
  for (int64_t i = 0, rank = between(minRank, std::min(maxRank, minRank + 1));
       i < rank; ++i)
    shape.push_back(extent());
  return *rt::elementCount(shape) <= kMostElements ? fresh(shape, floats())
                                                   : Value();
}

Value Generator::pickAny(int64_t minRank, int64_t maxRank) {
  Value value = pick([&](RankedTensorType type) {
    return type.getRank() >= minRank && type.getRank() <= maxRank;
  });
  return value ? value : pickFloats(minRank, maxRank);
}

static bool broadcasts(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  int64_t count = 1;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return false;
    count *= std::max(x, y);
  }
  return count <= kMostElements;
}

Value Generator::partner(Value value, Type element) {
  RankedTensorType type = typeOf(value);
  if (!element)
    element = type.getElementType();
  auto fits = [&](RankedTensorType other) {
    return other.getElementType() == element &&
           broadcasts(type.getShape(), other.getShape());
  };
  if (Value found = chance(75) ? pick(fits) : Value())
    return found;
  Shape shape(type.getShape());
  if (!shape.empty() && chance(40))
    shape.erase(shape.begin(), shape.begin() + below(shape.size() + 1));
  for (int64_t &extent : shape)
    if (chance(25))
      extent = 1;
  return fresh(shape, element);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

NamedAttribute Generator::num(StringRef name, int64_t value) {
  return b.getNamedAttr(name, b.getI64IntegerAttr(value));
}
NamedAttribute Generator::real(StringRef name, double value) {
  return b.getNamedAttr(name, b.getF32FloatAttr(static_cast<float>(value)));
}
NamedAttribute Generator::flag(StringRef name, bool value) {
  return b.getNamedAttr(name, b.getBoolAttr(value));
}
NamedAttribute Generator::text(StringRef name, StringRef value) {
  return b.getNamedAttr(name, b.getStringAttr(value));
}
NamedAttribute Generator::list(StringRef name, ArrayRef<int64_t> values) {
  return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
}
NamedAttribute Generator::type(StringRef name, Type value) {
  return b.getNamedAttr(name, TypeAttr::get(value));
}

Operation *Generator::make(StringRef name, ValueRange operands,
                           ArrayRef<NamedAttribute> attributes,
                           size_t results) {
  if (llvm::any_of(operands, [](Value operand) { return !operand; }))
    return nullptr;
  // What does not fit is refused without a word.
  ScopedDiagnosticHandler quiet(b.getContext(),
                                [](Diagnostic &) { return success(); });
  std::string full = ("graph." + name).str();
  Operation *op = graph::createInferred(b, b.getUnknownLoc(), full, operands,
                                        attributes, results);
  if (!op)
    return nullptr;
  if (failed(verify(op)) || (isDifferentiable && !mayDifferentiate(op)) ||
      !compute(op)) {
    op->erase();
    return nullptr;
  }
  return op;
}

/// Operations whose gradient is not their derivative, by intention.
static bool hasOtherGradient(Operation *op) {
  return isa<graph::StopGradientOp, graph::ReplaceGradientOp>(op);
}

bool Generator::mayDifferentiate(Operation *op) {
  auto isReal = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  bool isOnTheWay = llvm::any_of(op->getOperandTypes(), isReal) &&
                    llvm::any_of(op->getResultTypes(), isReal);
  return !isOnTheWay ||
         (graph::hasStaticTypes(op) && !hasOtherGradient(op) &&
          isa<graph::GradientOpInterface, graph::DecomposeOpInterface>(op));
}

bool Generator::compute(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return false;
    if (tensor.hasStaticShape() && tensor.getNumElements() > kMostElements)
      return false;
  }
  if (!exact.compute(op).isOk())
    return false;
  for (unsigned i = 0; i < kShadows; ++i) {
    if (!shadows[i].compute(op).isOk())
      return false;
    perturb(op, i);
  }
  for (Value result : op->getResults())
    if (!isUseful(result))
      return false;
  for (Value result : op->getResults())
    addValue(result);
  return true;
}

/// True of numbers that an operation is likely not to have rounded.
static bool isExact(double number) {
  return std::abs(number) <= 4096 && number * 256 == std::round(number * 256);
}

/// Rounds what a shadow has computed. What was only moved stays as it was, so
/// that equal numbers stay equal.
void Generator::perturb(Operation *op, unsigned shadow) {
  if (graph::getFusionKind(op) == graph::FusionKind::Movement)
    return;
  for (Value result : op->getResults()) {
    Tensor tensor = *shadows[shadow].get(result);
    rt::DataType type = tensor.type.type;
    if (!rt::isFloat(type))
      continue;
    double coarse = kCoarseness * std::max(numerics::toleranceOf(type),
                                           numerics::toleranceOf(DLC_F32));
    Numbers numbers;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      double number = numerics::numberAt(tensor, i);
      numbers.push_back(isExact(number) ? number
                                        : number * (1 + real(-coarse, coarse)));
    }
    Tensor coarser;
    if (numerics::makeTensor(tensor.type, numbers, coarser).isOk())
      shadows[shadow].set(result, coarser);
  }
}

bool Generator::isUseful(Value result) {
  const Tensor &value = *exact.get(result);
  if (*rt::elementCount(value.type.shape) > kMostElements)
    return false;
  for (int64_t i = 0; i < value.size(); ++i)
    if (double number = numerics::numberAt(value, i);
        !std::isfinite(number) ||
        (rt::isFloat(value.type.type) && std::abs(number) > kLargest))
      return false;
  double own = numerics::toleranceOf(value.type.type);
  double coarsest = std::max(own * numerics::toleranceFactorOf(result),
                             numerics::toleranceOf(DLC_F32));
  double factor = own > 0 ? kCoarseness * kMostAmplified * coarsest / own : 1;
  return llvm::all_of(shadows, [&](const numerics::Interpreter &shadow) {
    return !numerics::findDifference(value, *shadow.get(result), factor);
  });
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

void Generator::makeArguments() {
  static constexpr int64_t some[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 32};
  for (int i = 0; i < 4; ++i)
    extents.push_back(some[below(std::size(some))]);
  if (!isDifferentiable && chance(4))
    extents.push_back(0);
  isDyadic = !isDifferentiable && chance(25);
  int64_t kind = below(100);
  element = isDifferentiable || kind < 10 ? b.getF64Type()
            : kind < 72                   ? b.getF32Type()
            : kind < 78                   ? b.getF16Type()
            : kind < 84                   ? b.getBF16Type()
            : kind < 92                   ? b.getI32Type()
                                          : Type(b.getI64Type());
  for (int64_t i = 0, count = between(1, 3); i < count; ++i) {
    Shape shape;
    for (int64_t d = 0, rank = oneOf<int64_t>({1, 2, 2, 3, 3, 4, 4, 5});
         d < rank; ++d)
      shape.push_back(extent());
    while (*rt::elementCount(shape) > kMostElements / 2)
      shape.pop_back();
    if (i == 0) { // Something to differentiate by.
      auto type = RankedTensorType::get(shape, element);
      Numbers numbers(type.getNumElements());
      for (double &number : numbers)
        number = element.isInteger() ? static_cast<double>(between(-3, 3))
                                     : real(-2, 2);
      argument(type, numbers);
      continue;
    }
    fresh(shape, element);
  }
}

/// Some graphs have operations that ask for a place.
void Generator::chooseGroups() {
  if (isDifferentiable || !chance(25))
    return;
  for (Operation &op : *body)
    if (graph::isComputed(&op) && chance(30))
      op.setAttr("graph.group", b.getStringAttr("head"));
}

/// Hands out what nobody uses, and sometimes what somebody does.
void Generator::chooseResults() {
  SmallVector<Value> results;
  for (Operation &op : *body)
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()) &&
          !isa<graph::ConstantOp>(op) && results.size() < 6 &&
          (result.use_empty() ? !chance(10) : chance(6)))
        results.push_back(result);
  if (results.empty())
    results.push_back(pool.back());
  SmallVector<DictionaryAttr> attributes;
  llvm::DenseSet<unsigned> updated;
  for (Value result : results) {
    SmallVector<NamedAttribute> named{
        text(graph::GraphDialect::kNameAttr,
             "y" + std::to_string(attributes.size()))};
    for (BlockArgument argument : body->getArguments())
      if (!isDifferentiable && argument.getType() == result.getType() &&
          !isa<BlockArgument>(result) && chance(15) &&
          updated.insert(argument.getArgNumber()).second) {
        named.push_back(text(graph::GraphDialect::kUpdatesAttr,
                             "a" + std::to_string(argument.getArgNumber())));
        break;
      }
    attributes.push_back(b.getDictionaryAttr(named));
  }
  func::ReturnOp::create(b, b.getUnknownLoc(), results);
  function.setFunctionType(b.getFunctionType(body->getArgumentTypes(),
                                             ValueRange(results).getTypes()));
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(attributes);
}

RandomGraph Generator::generate() {
  SmallVector<WeightedMaker> makers;
  for (ArrayRef<WeightedMaker> family :
       {elementMakers(), movementMakers(), contractionMakers(), windowMakers(),
        indexMakers(), sampleMakers()})
    llvm::append_range(makers, family);
  unsigned total = 0;
  for (const WeightedMaker &maker : makers)
    total += maker.weight;
  makeArguments();
  size_t wanted = pool.size() + between(3, 18);
  for (int attempt = 0; attempt < 80 && pool.size() < wanted; ++attempt) {
    int64_t at = below(total);
    for (const WeightedMaker &maker : makers)
      if ((at -= maker.weight) < 0) {
        maker.make(*this);
        break;
      }
  }
  chooseGroups();
  chooseResults();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isa<graph::ConstantOp, graph::NoneOp>(op) && op.use_empty())
      op.erase();
  return std::move(module);
}
