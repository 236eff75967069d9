// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/runtime/Kernel/Reference/Reference.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

/// Shape rules read parameters, not weights: values past this size are withheld
/// from them where handing over would mean a copy.
static constexpr int64_t kMaxCopiedElements = 1 << 16;

static LogicalResult fail(std::optional<Location> location, StringRef name,
                          const Twine &message) {
  return emitOptionalError(location, "'", name, "' op ", message);
}

LogicalResult graph::inferTypes(StringRef name, MLIRContext *context,
                                std::optional<Location> location,
                                TypeRange operandTypes,
                                ArrayRef<ElementsAttr> values,
                                DictionaryAttr attributes, size_t resultCount,
                                SmallVectorImpl<Type> &types) {
  StringRef mnemonic = name.split('.').second;
  const rt::ref::Operation *operation =
      rt::ref::lookup(std::string_view(mnemonic));
  if (!operation)
    return fail(location, name, "has no reference kernel");

  std::vector<rt::ref::Operand> operands;
  SmallVector<RawElements> raws(operandTypes.size());
  for (auto [i, type] : llvm::enumerate(operandTypes)) {
    rt::ref::Operand operand{toTensorType(type), nullptr};
    ElementsAttr value = values[i];
    if (value &&
        (!value.isSplat() || value.getNumElements() <= kMaxCopiedElements))
      raws[i] = RawElements::get(value);
    if (raws[i])
      operand.data = raws[i].data().data();
    operands.push_back(std::move(operand));
  }

  rt::Attributes plain = toAttributes(attributes);
  std::vector<rt::TensorType> results;
  rt::Status status = operation->infer(
      rt::ref::InferContext(operands, plain, resultCount), results);
  if (!status.isOk())
    return fail(location, name, status.message());
  for (const rt::TensorType &result : results)
    types.push_back(fromTensorType(context, result));
  return success();
}

LogicalResult graph::inferTypes(StringRef name, MLIRContext *context,
                                std::optional<Location> location,
                                ValueRange operands, DictionaryAttr attributes,
                                size_t resultCount,
                                SmallVectorImpl<Type> &types) {
  SmallVector<ElementsAttr> values;
  for (Value operand : operands)
    values.push_back(getConstantElements(operand));
  return inferTypes(name, context, location, operands.getTypes(), values,
                    attributes, resultCount, types);
}

bool graph::isCompatible(Type a, Type b) {
  auto first = dyn_cast<TensorType>(a), second = dyn_cast<TensorType>(b);
  if (!first || !second)
    return a == b;
  return first.getElementType() == second.getElementType() &&
         succeeded(verifyCompatibleShape(first, second));
}

bool graph::areCompatible(TypeRange a, TypeRange b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
           return isCompatible(std::get<0>(pair), std::get<1>(pair));
         });
}

Type graph::mergeTypes(Type a, Type b) {
  auto first = dyn_cast<RankedTensorType>(a);
  auto second = dyn_cast<RankedTensorType>(b);
  if (!first || !second)
    return first ? a : b;
  SmallVector<int64_t> shape(first.getShape());
  for (auto [dim, other] : llvm::zip_equal(shape, second.getShape()))
    if (ShapedType::isDynamic(dim))
      dim = other;
  return RankedTensorType::get(shape, first.getElementType());
}

LogicalResult graph::detail::checkTypes(Operation *op) {
  SmallVector<Type> inferred;
  if (failed(inferTypes(op->getName().getStringRef(), op->getContext(),
                        op->getLoc(), op->getOperands(),
                        op->getAttrDictionary(), op->getNumResults(),
                        inferred)))
    return failure();
  if (inferred.size() != op->getNumResults())
    return op->emitOpError() << "expected " << inferred.size()
                             << " results, got " << op->getNumResults();
  for (auto [i, expected, found] :
       llvm::enumerate(inferred, op->getResultTypes()))
    if (!isCompatible(expected, found))
      return op->emitOpError() << "expected result #" << i << " of type "
                               << expected << ", got " << found;
  return success();
}

size_t graph::detail::lengthOfSecond(ValueRange operands) {
  if (operands.size() < 2)
    return 0;
  auto type = dyn_cast<RankedTensorType>(operands[1].getType());
  if (!type || type.getRank() != 1 || type.isDynamicDim(0))
    return 0;
  return static_cast<size_t>(type.getDimSize(0));
}

Operation *graph::createInferred(OpBuilder &builder, Location location,
                                 StringRef name, ValueRange operands,
                                 ArrayRef<NamedAttribute> attributes,
                                 size_t resultCount) {
  OperationState state(location, name, operands, {}, attributes);
  SmallVector<Type> types;
  if (failed(inferTypes(name, builder.getContext(), location, operands,
                        state.attributes.getDictionary(builder.getContext()),
                        resultCount, types)))
    return nullptr;
  state.addTypes(types);
  return builder.create(state);
}
