// SPDX-License-Identifier: Apache-2.0

#include "dlc/passes/Graph/Evaluate.h"

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Reference.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

/// Hands the memory of `tensor` to a constant.
static ElementsAttr toElements(MLIRContext *context,
                               rt::ref::OwnedTensor tensor) {
  rt::TensorView view = tensor.view();
  auto type = RankedTensorType::get(
      ArrayRef<int64_t>(view.shape.data(), view.shape.size()),
      toElementType(context, view.type));
  ArrayRef<char> bytes(static_cast<char *>(view.data), view.bytes());
  auto owner = std::make_shared<rt::ref::OwnedTensor>(std::move(tensor));
  AsmResourceBlob blob(
      bytes, DLC_ALIGNMENT,
      [owner](void *, size_t, size_t) mutable { owner.reset(); },
      /*dataIsMutable=*/false);
  return makeElements(type, std::move(blob));
}

rt::Status graph::evaluateOperation(Operation *op,
                                    ArrayRef<ElementsAttr> operands,
                                    SmallVectorImpl<ElementsAttr> &results) {
  SmallVector<RawElements> raws;
  SmallVector<rt::TensorType> types;
  for (ElementsAttr operand : operands) {
    raws.push_back(operand ? RawElements::get(operand) : RawElements());
    types.push_back(operand ? toTensorType(operand.getShapedType())
                            : rt::TensorType());
    if (operand && !raws.back())
      return rt::makeError(rt::StatusCode::InvalidArgument,
                           "the bytes of a constant are missing");
  }
  std::vector<rt::TensorView> inputs;
  for (auto [raw, type] : llvm::zip_equal(raws, types))
    inputs.push_back(
        {type.type, type.shape, const_cast<char *>(raw.data().data())});
  std::vector<rt::ref::OwnedTensor> outputs;
  DLC_RETURN_IF_ERROR(evaluateReference(op, inputs, outputs));
  for (rt::ref::OwnedTensor &output : outputs)
    results.push_back(toElements(op->getContext(), std::move(output)));
  return rt::Status::ok();
}

/// The one element of a splat as a scalar constant.
static ElementsAttr toScalar(ElementsAttr splat) {
  auto type = RankedTensorType::get({}, splat.getElementType());
  return makeElements(type, RawElements::get(splat, true).data());
}

static ElementsAttr repeat(ElementsAttr scalar, Type type) {
  auto dense = cast<DenseElementsAttr>(scalar);
  return dense.resizeSplat(cast<ShapedType>(type));
}

SmallVector<ElementsAttr>
graph::evaluateSplat(Operation *op, ArrayRef<ElementsAttr> operands) {
  auto isSplat = [](ElementsAttr value) {
    return value && isa<DenseElementsAttr>(value) && value.isSplat();
  };
  auto fusion = dyn_cast<FusionOpInterface>(op);
  if (!fusion || operands.empty() || !isSplat(operands.front()))
    return {};
  SmallVector<ElementsAttr> results;
  if (fusion.selectsElements()) {
    ElementsAttr scalar = toScalar(operands.front());
    for (Type type : op->getResultTypes())
      results.push_back(repeat(scalar, type));
    return results;
  }
  if (!isa<ElementwiseOpInterface>(op) || !llvm::all_of(operands, isSplat))
    return {};
  SmallVector<ElementsAttr> scalars = llvm::map_to_vector(operands, toScalar);
  if (!evaluateOperation(op, scalars, results).isOk())
    return {};
  results.front() = repeat(results.front(), op->getResult(0).getType());
  return results;
}
