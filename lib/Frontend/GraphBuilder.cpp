// SPDX-License-Identifier: Apache-2.0

#include "dlc/Frontend/GraphBuilder.h"

#include "dlc/Frontend/Faults.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Reference.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "llvm/ADT/APSInt.h"

using namespace dlc::frontend;
using namespace mlir;
using llvm::StringRef;
namespace graph = dlc::graph;
namespace rt = dlc::rt;

/// Shape arithmetic is folded while importing; anything larger is left to the
/// passes.
static constexpr int64_t kFoldElements = 256;

Value GraphBuilder::fail(const llvm::Twine &message, StringRef alternative) {
  if (!hasFailed) {
    InFlightDiagnostic error = emitError(loc) << message;
    addAlternative(error, alternative);
  }
  hasFailed = true;
  return {};
}

//===-- Operations --------------------------------------------------------===//

NamedAttribute GraphBuilder::convert(const NamedValue &attribute) {
  struct Converter {
    Builder &b;
    mlir::Attribute operator()(int64_t v) { return b.getI64IntegerAttr(v); }
    mlir::Attribute operator()(bool v) { return b.getBoolAttr(v); }
    mlir::Attribute operator()(float v) { return b.getF32FloatAttr(v); }
    mlir::Attribute operator()(StringRef v) { return b.getStringAttr(v); }
    mlir::Attribute operator()(ArrayRef<int64_t> v) {
      return b.getDenseI64ArrayAttr(v);
    }
    mlir::Attribute operator()(ArrayRef<float> v) {
      return b.getDenseF32ArrayAttr(v);
    }
    mlir::Attribute operator()(Type v) { return TypeAttr::get(v); }
  };
  return builder.getNamedAttr(attribute.name,
                              std::visit(Converter{builder}, attribute.value));
}

static bool isSmallConstant(Value value) {
  ElementsAttr constant = GraphBuilder::constantOf(value);
  return constant && constant.getNumElements() <= kFoldElements;
}

/// Runs an operation on constants; no values when it cannot be run, which is
/// then for its own verifier or the run to report.
static SmallVector<ElementsAttr> evaluate(Operation *op) {
  SmallVector<graph::RawElements> storage; // Views point into it.
  SmallVector<rt::TensorType> types;
  for (Value operand : op->getOperands()) {
    ElementsAttr constant = GraphBuilder::constantOf(operand);
    storage.push_back(constant ? graph::RawElements::get(constant)
                               : graph::RawElements());
    types.push_back(graph::toTensorType(operand.getType()));
  }
  std::vector<rt::TensorView> inputs;
  for (auto [raw, type] : llvm::zip(storage, types))
    inputs.push_back(
        {type.type, type.shape, const_cast<char *>(raw.data().data())});
  std::vector<rt::ref::OwnedTensor> outputs;
  SmallVector<ElementsAttr> results;
  if (!graph::evaluateReference(op, inputs, outputs).isOk())
    return results;
  for (const rt::ref::OwnedTensor &output : outputs) {
    rt::TensorView view = output.view();
    auto type = RankedTensorType::get(
        ArrayRef(view.shape.data(), view.shape.size()),
        graph::toElementType(op->getContext(), view.type));
    results.push_back(graph::makeElements(
        type, ArrayRef(static_cast<const char *>(view.data), view.bytes())));
  }
  return results;
}

SmallVector<Value> GraphBuilder::fold(Operation *op) {
  auto isFoldable = [](Value operand) {
    return isa<NoneType>(operand.getType()) || isSmallConstant(operand);
  };
  auto isSmall = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           tensor.getNumElements() <= kFoldElements;
  };
  // Matrices of bytes that a scale makes floats are weights, which products of
  // integers need as they were.
  auto isWeights = [](Operation *op) {
    return op->getNumOperands() > 1 &&
           elementOf(op->getOperand(0)).isInteger(8) &&
           isa<FloatType>(elementOf(op->getResult(0))) &&
           rankOf(op->getResult(0)) > 1;
  };
  SmallVector<ElementsAttr> values;
  if (op->getNumOperands() != 0 && !isWeights(op) &&
      llvm::all_of(op->getOperands(), isFoldable) &&
      llvm::all_of(op->getResultTypes(), isSmall))
    values = evaluate(op);
  if (values.empty())
    return SmallVector<Value>(op->getResults());
  op->erase();
  SmallVector<Value> results;
  for (ElementsAttr value : values)
    results.push_back(constant(value));
  return results;
}

SmallVector<Value> GraphBuilder::ops(StringRef mnemonic, ValueRange operands,
                                     ArrayRef<NamedValue> attributes) {
  // Enough nulls for any caller that indexes results.
  SmallVector<Value> nothing(8, Value());
  if (hasFailed)
    return nothing;
  for (Value operand : operands) {
    if (!operand) {
      fail("internal: missing operand of graph." + mnemonic);
      return nothing;
    }
  }
  OperationState state(loc, ("graph." + mnemonic).str());
  state.addOperands(operands);
  for (const NamedValue &attribute : attributes)
    state.attributes.push_back(convert(attribute));

  std::optional<RegisteredOperationName> name = state.name.getRegisteredInfo();
  auto *inference = name ? name->getInterface<InferTypeOpInterface>() : nullptr;
  if (!inference) {
    fail("internal: no operation graph." + mnemonic);
    return nothing;
  }
  int errors = 0;
  ScopedDiagnosticHandler counter(context(), [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // Let the next handler print it.
  });
  if (mlir::failed(inference->inferReturnTypes(
          context(), loc, operands, state.attributes.getDictionary(context()),
          /*properties=*/nullptr, /*regions=*/{}, state.types))) {
    if (errors == 0)
      emitError(loc) << "cannot infer the result type of graph." << mnemonic;
    hasFailed = true;
    return nothing;
  }
  return fold(builder.create(state));
}

Value GraphBuilder::op(StringRef mnemonic, ValueRange operands,
                       ArrayRef<NamedValue> attributes) {
  return ops(mnemonic, operands, attributes).front();
}

Value GraphBuilder::none() {
  if (hasFailed)
    return {};
  OperationState state(loc, "graph.none");
  state.addTypes(builder.getNoneType());
  return builder.create(state)->getResult(0);
}

//===-- Constants ---------------------------------------------------------===//

Value GraphBuilder::constant(ElementsAttr value) {
  if (hasFailed)
    return {};
  OperationState state(loc, "graph.constant");
  state.addAttribute("value", value);
  state.addTypes(value.getShapedType());
  return builder.create(state)->getResult(0);
}

Type GraphBuilder::elementType(rt::DataType type) {
  return graph::toElementType(context(), type);
}

Value GraphBuilder::constant(const rt::TensorType &type,
                             std::span<const std::byte> bytes,
                             std::shared_ptr<const void> owner,
                             StringRef name) {
  if (hasFailed)
    return {};
  auto tensor = RankedTensorType::get(type.shape, elementType(type.type));
  ArrayRef<char> data(reinterpret_cast<const char *>(bytes.data()),
                      bytes.size());
  // The blob keeps the owner, so the bytes live as long as the context.
  AsmResourceBlob blob = UnmanagedAsmResourceBlob::allocateWithAlign(
      data, rt::sizeOf(type.type),
      [owner = std::move(owner)](void *, size_t, size_t) {});
  return constant(graph::makeElements(tensor, std::move(blob), name));
}

Value GraphBuilder::ints(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(static_cast<int64_t>(values.size()),
                                    builder.getI64Type());
  return constant(DenseElementsAttr::get(type, values));
}

Value GraphBuilder::intScalar(int64_t value) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return constant(DenseElementsAttr::get(type, value));
}

/// Towards 0, and where `type` ends, its end; NaN is 0.
static APInt toInteger(double value, IntegerType type) {
  APSInt result(type.getWidth(),
                /*isUnsigned=*/type.isUnsigned() || type.getWidth() == 1);
  bool isExact;
  (void)APFloat(value).convertToInteger(result, APFloat::rmTowardZero,
                                        &isExact);
  return result;
}

Value GraphBuilder::splat(ArrayRef<int64_t> shape, Type element, double value) {
  if (hasFailed || !element)
    return {};
  auto type = RankedTensorType::get(shape, element);
  if (isa<FloatType>(element))
    return constant(
        DenseElementsAttr::get(type, builder.getFloatAttr(element, value)));
  return constant(DenseElementsAttr::get(
      type, ArrayRef(toInteger(value, cast<IntegerType>(element)))));
}

Value GraphBuilder::scalar(Type element, double value) {
  return splat({}, element, value);
}

Value GraphBuilder::scalarLike(Value like, double value) {
  return scalar(elementOf(like), value);
}

//===-- Movement and reductions -------------------------------------------===//

Value GraphBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  return op("reshape", {x, ints(shape)});
}

Value GraphBuilder::reshapeTo(Value x, ArrayRef<int64_t> shape) {
  if (!llvm::is_contained(shape, 0))
    return reshape(x, shape);
  return op("reshape", {x, ints(shape)}, {{"allowzero", true}});
}

Value GraphBuilder::unsqueeze(Value x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : op("unsqueeze", {x, ints(axes)});
}

Value GraphBuilder::squeeze(Value x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : op("squeeze", {x, ints(axes)});
}

Value GraphBuilder::transpose(Value x, ArrayRef<int64_t> perm) {
  return op("transpose", {x}, {{"perm", perm}});
}

Value GraphBuilder::slice(Value x, int64_t axis, int64_t begin, int64_t end,
                          int64_t step) {
  return op("slice",
            {x, ints({begin}), ints({end}), ints({axis}), ints({step})});
}

Value GraphBuilder::concat(ValueRange parts, int64_t axis) {
  return op("concat", parts, {{"axis", axis}});
}

Value GraphBuilder::reduce(StringRef mnemonic, Value x, ArrayRef<int64_t> axes,
                           bool keepDims) {
  return op(mnemonic, {x, ints(axes)}, {{"keepdims", keepDims}});
}

Value GraphBuilder::cast(Value x, Type element) {
  if (!x || elementOf(x) == element)
    return x;
  return op("cast", {x}, {{"to", element}});
}

Value GraphBuilder::castLike(Value x, Value like) {
  return cast(x, elementOf(like));
}

Value GraphBuilder::widen(Value x) {
  Type element = elementOf(x);
  return element && (element.isF16() || element.isBF16())
             ? cast(x, builder.getF32Type())
             : x;
}

Value GraphBuilder::shapeOf(Value x, int64_t begin, int64_t end) {
  if (std::optional<Ints> shape = shapeIfStatic(x)) {
    auto rank = static_cast<int64_t>(shape->size());
    auto clamp = [rank](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    begin = clamp(begin);
    end = std::max(begin, clamp(end));
    return ints(ArrayRef(*shape).slice(begin, end - begin));
  }
  return op("shape", {x}, {{"start", begin}, {"end", end}});
}

Type GraphBuilder::wideFloat(Value x) {
  Type element = elementOf(x);
  return element && element.isF64() ? element : Type(builder.getF32Type());
}

//===-- Queries -----------------------------------------------------------===//

mlir::TensorType GraphBuilder::typeOf(Value value) {
  return value ? dyn_cast<mlir::TensorType>(value.getType())
               : mlir::TensorType();
}

Type GraphBuilder::elementOf(Value value) {
  mlir::TensorType type = typeOf(value);
  return type ? type.getElementType() : Type();
}

std::optional<int64_t> GraphBuilder::rankOf(Value value) {
  mlir::TensorType type = typeOf(value);
  if (!type || !type.hasRank())
    return std::nullopt;
  return type.getRank();
}

int64_t GraphBuilder::dimOf(Value value, int64_t axis) {
  std::optional<int64_t> rank = rankOf(value);
  if (!rank || axis < 0 || axis >= *rank)
    return ShapedType::kDynamic;
  return typeOf(value).getDimSize(axis);
}

std::optional<Ints> GraphBuilder::shapeIfStatic(Value value) {
  mlir::TensorType type = typeOf(value);
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  return Ints(type.getShape());
}

ElementsAttr GraphBuilder::constantOf(Value value) {
  ElementsAttr constant;
  if (value && matchPattern(value, m_Constant(&constant)))
    return constant;
  return {};
}

std::optional<Ints> GraphBuilder::intsOf(Value value) {
  return value ? graph::getConstantInts(value) : std::nullopt;
}

std::optional<SmallVector<double>> GraphBuilder::floatsOf(Value value) {
  auto dense = dyn_cast_or_null<DenseFPElementsAttr>(constantOf(value));
  if (!dense)
    return std::nullopt;
  SmallVector<double> values;
  for (APFloat element : dense.getValues<APFloat>()) {
    bool losesInfo;
    element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    values.push_back(element.convertToDouble());
  }
  return values;
}
