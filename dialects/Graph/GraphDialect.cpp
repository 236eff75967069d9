// SPDX-License-Identifier: Apache-2.0
//
// The dialect itself: its operations, attributes of functions, interfaces.

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Batches.h"
#include "dlc/dialects/Graph/Masks.h"
#include "dlc/dialects/Graph/OperandTypes.h"
#include "dlc/dialects/Graph/Parts.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Training.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

#include "dlc/dialects/Graph/GraphDialect.cpp.inc"
#include "dlc/dialects/Graph/GraphInterfaces.cpp.inc"

void GraphDialect::initialize() {
  addUnaryOps();
  addBinaryOps();
  addContractionOps();
  addPoolingOps();
  addReductionOps();
  addNormalizationOps();
  addMatrixOps();
  addMovementOps();
  addIndexingOps();
  addSequenceOps();
  addStructureOps();
  attachOperandTypes(getContext());
  attachBatches(getContext());
  attachMasks(getContext());
}

StringRef dlc::graph::stringifyFusionKind(FusionKind kind) {
  switch (kind) {
  case FusionKind::Elementwise:
    return "elementwise";
  case FusionKind::Movement:
    return "movement";
  case FusionKind::Reduction:
    return "reduction";
  case FusionKind::Row:
    return "row";
  case FusionKind::Anchor:
    return "anchor";
  case FusionKind::Opaque:
    return "opaque";
  }
  llvm_unreachable("all kinds are covered");
}

FusionKind dlc::graph::getFusionKind(Operation *op) {
  auto fusion = dyn_cast<FusionOpInterface>(op);
  return fusion ? fusion.getFusionKind() : FusionKind::Opaque;
}

SmallVector<std::pair<unsigned, unsigned>>
dlc::graph::detail::sameTypePairs(Operation *op) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape())
    return pairs;
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get().getType() == type)
      pairs.emplace_back(operand.getOperandNumber(), 0);
  return pairs;
}

//===----------------------------------------------------------------------===//
// Attributes of functions and operations
//===----------------------------------------------------------------------===//

static LogicalResult verifyName(Operation *op, NamedAttribute attribute) {
  auto name = dyn_cast<StringAttr>(attribute.getValue());
  if (!name || name.empty())
    return op->emitError() << "expected '" << attribute.getName().strref()
                           << "' to be a string that is not empty, got "
                           << attribute.getValue();
  return success();
}

static LogicalResult verifyDims(Operation *op, Type type, Attribute value) {
  auto dims = dyn_cast<ArrayAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!dims || !tensor)
    return op->emitError() << "expected '" << GraphDialect::kDimsAttr
                           << "' to be an array on a tensor with a rank, got "
                           << value << " on " << type;
  if (static_cast<int64_t>(dims.size()) != tensor.getRank())
    return op->emitError() << "expected " << tensor.getRank() << " names in '"
                           << GraphDialect::kDimsAttr << "', got "
                           << dims.size();
  for (auto [i, dim] : llvm::enumerate(dims)) {
    auto name = dyn_cast<StringAttr>(dim);
    if (!name)
      return op->emitError() << "expected strings in '"
                             << GraphDialect::kDimsAttr << "', got " << dim;
    if (!name.empty() && !tensor.isDynamicDim(i))
      return op->emitError()
             << "expected no name for dimension " << i << ", which is "
             << tensor.getDimSize(i) << ", got " << name;
  }
  return success();
}

/// The state of random numbers is a seed and a number.
static LogicalResult verifyRandom(Operation *op, Type type) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  if (!tensor || tensor.getShape() != ArrayRef<int64_t>{2} ||
      !tensor.getElementType().isInteger(64))
    return op->emitError() << "expected '" << GraphDialect::kRandomAttr
                           << "' on a tensor<2xi64>, got " << type;
  return success();
}

static LogicalResult verifyInitial(Operation *op, Type type, Attribute value) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return op->emitError() << "expected '" << GraphDialect::kInitialAttr
                           << "' to be elements of the argument's type " << type
                           << ", got " << value;
  return success();
}

static LogicalResult verifyFactor(Operation *op, NamedAttribute attribute) {
  auto factor = dyn_cast<FloatAttr>(attribute.getValue());
  if (!factor || !factor.getType().isF64() || !factor.getValue().isFinite() ||
      factor.getValueAsDouble() < 0)
    return op->emitError() << "expected '" << attribute.getName().strref()
                           << "' to be a finite f64 of at least 0, got "
                           << attribute.getValue();
  return success();
}

static LogicalResult verifyParts(Operation *op, NamedAttribute attribute) {
  auto names = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!cast<FunctionOpInterface>(op).isExternal() || !names || names.empty() ||
      !llvm::all_of(names, llvm::IsaPred<FlatSymbolRefAttr>))
    return op->emitError() << "expected names of functions in '"
                           << attribute.getName().strref()
                           << "' of a declaration, got "
                           << attribute.getValue();
  return success();
}

static LogicalResult verifyFixed(Operation *op, unsigned argument) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (function && function.getArgAttr(argument, GraphDialect::kInitialAttr))
    return success();
  return op->emitError() << "expected '" << GraphDialect::kInitialAttr
                         << "' beside '" << kFixedAttr << "'";
}

/// Of each dimension a number or -1.
static LogicalResult verifyPadded(Operation *op, Type type, Attribute value) {
  auto dims = dyn_cast<DenseI64ArrayAttr>(value);
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  bool isValid = dims && tensor && dims.size() == tensor.getRank();
  for (int64_t i = 0; isValid && i < tensor.getRank(); ++i)
    isValid = dims[i] >= -1 && (dims[i] < 0 || tensor.isDynamicDim(i));
  if (isValid)
    return success();
  return op->emitError() << "expected numbers of extents that are left open, "
                            "and -1, in '"
                         << kPaddedAttr << "', got " << value;
}

static LogicalResult verifyValueAttribute(Operation *op, Type type,
                                          NamedAttribute attribute) {
  if (attribute.getName() == GraphDialect::kNameAttr)
    return verifyName(op, attribute);
  if (attribute.getName() == GraphDialect::kDimsAttr)
    return verifyDims(op, type, attribute.getValue());
  if (attribute.getName() == kPaddedAttr)
    return verifyPadded(op, type, attribute.getValue());
  return op->emitError() << "'" << attribute.getName().strref()
                         << "' is no attribute of arguments or results";
}

LogicalResult GraphDialect::verifyRegionArgAttribute(Operation *op,
                                                     unsigned region,
                                                     unsigned argument,
                                                     NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type;
  if (function && argument < function.getNumArguments())
    type = function.getArgumentTypes()[argument];
  else if (region < op->getNumRegions() && !op->getRegion(region).empty() &&
           argument < op->getRegion(region).getNumArguments())
    type = op->getRegion(region).getArgument(argument).getType();
  if (attribute.getName() == kRandomAttr)
    return verifyRandom(op, type);
  if (attribute.getName() == kInitialAttr)
    return verifyInitial(op, type, attribute.getValue());
  if (attribute.getName() == kRateFactorAttr ||
      attribute.getName() == kDecayFactorAttr)
    return verifyFactor(op, attribute);
  if (attribute.getName() == kFixedAttr)
    return verifyFixed(op, argument);
  if (attribute.getName() == kGroupAttr ||
      attribute.getName() == kInitializerAttr)
    return verifyName(op, attribute);
  if (attribute.getName() == kArgumentDeviceAttr) {
    if (isa<DeviceAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "expected a #dlc.device in '"
                           << kArgumentDeviceAttr << "', got "
                           << attribute.getValue();
  }
  return verifyValueAttribute(op, type, attribute);
}

LogicalResult GraphDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type;
  if (function && result < function.getNumResults())
    type = function.getResultTypes()[result];
  if (attribute.getName() == kUpdatesAttr)
    return verifyName(op, attribute);
  return verifyValueAttribute(op, type, attribute);
}

LogicalResult GraphDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  if (attribute.getName() == kGroupAttr)
    return verifyName(op, attribute);
  if ((attribute.getName() == kRepeatedAttr ||
       attribute.getName() == kPartAttr ||
       (attribute.getName() == kSavedAttr && isa<FunctionOpInterface>(op))) &&
      isa<IntegerAttr>(attribute.getValue()))
    return success();
  if ((attribute.getName() == kRecomputeAttr ||
       (attribute.getName() == kGradientAttr &&
        isa<FunctionOpInterface>(op))) &&
      isa<UnitAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == kRowsAttr && isa<FunctionOpInterface>(op)) {
    auto rows = dyn_cast<IntegerAttr>(attribute.getValue());
    if (rows && rows.getInt() > 0)
      return success();
    return op->emitError() << "expected a number of rows in '" << kRowsAttr
                           << "', got " << attribute.getValue();
  }
  if (isa<FunctionOpInterface>(op) && (attribute.getName() == kByRowsAttr ||
                                       attribute.getName() == kByShapeAttr))
    return verifyParts(op, attribute);
  auto names = dyn_cast<ArrayAttr>(attribute.getValue());
  if (attribute.getName() == kNumbersAttr && isa<FunctionOpInterface>(op) &&
      names && llvm::all_of(names, llvm::IsaPred<StringAttr>))
    return success();
  return op->emitError() << "'" << attribute.getName().strref()
                         << "' is no attribute of operations";
}
