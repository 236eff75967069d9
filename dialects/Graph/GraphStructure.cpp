// SPDX-License-Identifier: Apache-2.0
//
// Constants and absent operands.

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphStructure.h.inc"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphStructure.cpp.inc"

void GraphDialect::addStructureOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphStructure.cpp.inc"
      >();
  addOperations<CopyOp>();
}

Operation *GraphDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getShapedType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult ConstantOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getY().getType());
  if (!type || !type.hasStaticShape())
    return emitOpError() << "expected a static type, got " << getY().getType();
  auto resource = dyn_cast<DenseResourceElementsAttr>(getValue());
  if (!resource) {
    if (isa<DenseElementsAttr>(getValue()))
      return success();
    return emitOpError() << "expected a dense or dense_resource value";
  }
  StringRef key = resource.getRawHandle().getKey();
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return emitOpError() << "expected a resource '" << key
                         << "', found none of that name";
  if (!RawElements::get(resource))
    return emitOpError() << "expected the bytes of " << type << " in resource '"
                         << key << "', got " << blob->getData().size()
                         << " bytes";
  return success();
}

LogicalResult YieldOp::verify() {
  auto fusion = cast<FusionOp>((*this)->getParentOp());
  if (getOperandTypes() != fusion.getResultTypes())
    return emitOpError("expected the types of the group's results ")
           << fusion.getResultTypes() << ", got " << getOperandTypes();
  return success();
}

/// "i1_m3" for [1, -3]; empty when the value gives no name.
static std::string nameOf(ElementsAttr value) {
  if (value.getNumElements() == 0 || value.getNumElements() > 4)
    return "";
  auto values = getInts(value);
  if (!values)
    return "";
  std::string name = "i";
  for (auto [i, number] : llvm::enumerate(*values)) {
    name += i ? "_" : "";
    std::string digits = std::to_string(number);
    if (digits.front() == '-')
      digits.front() = 'm';
    name += digits;
  }
  return name;
}

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  std::string name = nameOf(getValue());
  setName(getResult(), name.empty() ? "c" : name);
}

void NoneOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "none");
}
