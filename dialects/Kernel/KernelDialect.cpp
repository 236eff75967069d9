// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Kernel/KernelDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace dlc::kernel;

#include "dlc/dialects/Kernel/KernelDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dlc/dialects/Kernel/KernelOps.cpp.inc"

void KernelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Kernel/KernelOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Kernel symbols
//===----------------------------------------------------------------------===//

static Type toTensor(Type type) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return RankedTensorType::get(memref.getShape(), memref.getElementType());
  return type;
}

FunctionType dlc::kernel::getCallType(Operation *symbol) {
  if (auto library = dyn_cast_or_null<LibraryOp>(symbol))
    return library.getFunctionType();
  auto func = dyn_cast_or_null<FuncOp>(symbol);
  if (!func)
    return {};
  if (!func.isDestinationStyle())
    return func.getFunctionType();
  SmallVector<Type> types =
      llvm::map_to_vector(func.getArgumentTypes(), [&](Type type) -> Type {
        if (!func.isOfAnyShape())
          return toTensor(type);
        return UnrankedTensorType::get(getElementTypeOrSelf(type));
      });
  size_t inputs = types.size() - func.getOutputs().value_or(0);
  ArrayRef<Type> all(types);
  return FunctionType::get(func.getContext(), all.take_front(inputs),
                           all.drop_front(inputs));
}

bool dlc::kernel::isForGPU(FuncOp kernel) {
  auto kind = kernel->getAttrOfType<StringAttr>(kRunsOnAttr);
  return kind && kind.getValue() == stringifyDeviceKind(DeviceKind::CUDA);
}

int64_t dlc::kernel::getWorkspaceBytes(Operation *symbol) {
  std::optional<uint64_t> bytes;
  if (auto library = dyn_cast_or_null<LibraryOp>(symbol))
    bytes = library.getWorkspace();
  else if (auto func = dyn_cast_or_null<FuncOp>(symbol))
    bytes = func.getWorkspace();
  return static_cast<int64_t>(bytes.value_or(0));
}

/// The type of calls, with the workspace as a last result.
static FunctionType getTypeWithWorkspace(Operation *symbol) {
  FunctionType type = getCallType(symbol);
  const int64_t bytes = getWorkspaceBytes(symbol);
  if (bytes <= 0)
    return type;
  SmallVector<Type> results(type.getResults());
  Builder builder(symbol->getContext());
  results.push_back(RankedTensorType::get({bytes}, builder.getI8Type()));
  return builder.getFunctionType(type.getInputs(), results);
}

FunctionType FuncOp::getLaunchType() { return getTypeWithWorkspace(*this); }

FunctionType LibraryOp::getLaunchType() { return getTypeWithWorkspace(*this); }

ArrayRef<int64_t> dlc::kernel::getInPlacePairs(Operation *symbol) {
  std::optional<ArrayRef<int64_t>> pairs;
  if (auto library = dyn_cast<LibraryOp>(symbol))
    pairs = library.getInPlace();
  else if (auto func = dyn_cast<FuncOp>(symbol))
    pairs = func.getInPlace();
  return pairs.value_or(ArrayRef<int64_t>());
}

/// Checks that `pairs` are (input, output) pairs of a kernel of that type.
static LogicalResult verifyInPlace(Operation *op,
                                   std::optional<ArrayRef<int64_t>> pairs,
                                   FunctionType type) {
  if (!pairs)
    return success();
  if (pairs->size() % 2)
    return op->emitOpError("expected in-place pairs, got ")
           << pairs->size() << " numbers";
  for (size_t i = 0; i < pairs->size(); i += 2) {
    int64_t input = (*pairs)[i], output = (*pairs)[i + 1];
    if (input < 0 || input >= type.getNumInputs() || output < 0 ||
        output >= type.getNumResults())
      return op->emitOpError("expected an in-place pair within ")
             << type.getNumInputs() << " inputs and " << type.getNumResults()
             << " outputs, got (" << input << ", " << output << ")";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// FuncOp
//===----------------------------------------------------------------------===//

bool FuncOp::isDestinationStyle() { return getOutputs().has_value(); }

bool FuncOp::isOfAnyShape() {
  return getAnyShape() ||
         (!getArgumentTypes().empty() &&
          llvm::all_of(getArgumentTypes(), llvm::IsaPred<UnrankedTensorType>));
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

/// A workspace of any kernel.
static LogicalResult verifyWorkspace(Operation *symbol) {
  // The accessors are unsigned.
  if (int64_t bytes = getWorkspaceBytes(symbol); bytes < 0)
    return symbol->emitOpError("expected a workspace of at least 0 bytes, got ")
           << bytes;
  return success();
}

static LogicalResult verifyEntry(FuncOp kernel) {
  const bool hasEntry = kernel.getEntry().has_value();
  if (hasEntry != kernel.getConfig().has_value() ||
      hasEntry != kernel.getEntryOperands().has_value() ||
      hasEntry != kernel.getWorkspace().has_value())
    return kernel.emitOpError(
        "expected config, entryOperands and workspace exactly "
        "with an entry");
  const int64_t inputs = getCallType(kernel).getNumInputs();
  for (int64_t operand :
       kernel.getEntryOperands().value_or(ArrayRef<int64_t>()))
    if (operand < -1 || operand >= inputs)
      return kernel.emitOpError("expected operands of an entry within ")
             << inputs << " inputs, got " << operand;
  return verifyWorkspace(kernel);
}

static LogicalResult verifyEpilogue(FuncOp kernel) {
  std::optional<DictionaryAttr> epilogue = kernel.getEpilogue();
  if (!epilogue)
    return success();
  if (!kernel.isOfAnyShape())
    return kernel.emitOpError(
               "expected an epilogue of a kernel of any shape, got one of ")
           << kernel.getFunctionType();
  auto activation = epilogue->getAs<StringAttr>("activation");
  const bool rounds = activation && activation == "requantize";
  auto isKnown = [rounds](NamedAttribute attribute) {
    StringRef name = attribute.getName();
    if (name == "activation")
      return true;
    if (rounds && name == "zero_point")
      return isa<IntegerAttr>(attribute.getValue());
    return isa<FloatAttr>(attribute.getValue()) &&
           (rounds ? name == "multiplier" || name == "offset"
                   : name == "alpha" || name == "beta");
  };
  if (!activation || !llvm::all_of(*epilogue, isKnown))
    return kernel.emitOpError("expected an epilogue of ")
           << (rounds ? "requantize, multiplier, offset and zero_point"
                      : "an activation, alpha and beta")
           << ", got " << *epilogue;
  return success();
}

/// The arguments of a kernel of any shape are vectors of whole tiles.
static LogicalResult verifyAnyShape(FuncOp kernel) {
  if (!kernel.getAnyShape())
    return success();
  const auto tile = static_cast<int64_t>(*kernel.getAnyShape());
  auto isOfTiles = [&](Type type) {
    auto vector = dyn_cast<MemRefType>(type);
    return tile > 0 && vector && vector.getRank() == 1 &&
           vector.hasStaticShape() && vector.getDimSize(0) % tile == 0 &&
           vector.getShape() ==
               cast<MemRefType>(kernel.getArgumentTypes()[0]).getShape();
  };
  if (!llvm::all_of(kernel.getArgumentTypes(), isOfTiles))
    return kernel.emitOpError("expected vectors of whole tiles of ")
           << tile << " elements";
  if (kernel.getInPlace())
    return kernel.emitOpError("expected nothing in place of any shape");
  return success();
}

LogicalResult FuncOp::verify() {
  auto isMemRef = [](Type type) { return isa<MemRefType>(type); };
  bool any = llvm::any_of(getArgumentTypes(), isMemRef);
  if (any && !llvm::all_of(getArgumentTypes(), isMemRef))
    return emitOpError("expected all arguments to be memrefs or none");
  if (any != isDestinationStyle())
    return emitOpError("expected the number of outputs exactly when arguments "
                       "are memrefs");
  if (any) {
    int64_t outputs = *getOutputs();
    if (outputs < 1 || outputs > static_cast<int64_t>(getNumArguments()))
      return emitOpError("expected 1 to ")
             << getNumArguments() << " outputs, got " << outputs;
    if (!getResultTypes().empty())
      return emitOpError("expected no results in destination style, got ")
             << getResultTypes().size();
  }
  if (failed(verifyEntry(*this)) || failed(verifyEpilogue(*this)) ||
      failed(verifyAnyShape(*this)))
    return failure();
  return verifyInPlace(*this, getInPlace(), getCallType(*this));
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

/// Whether a mask broadcasts to scores of that many rows and columns.
static bool broadcasts(MemRefType mask, int64_t rows, int64_t columns) {
  const int64_t wanted[] = {rows, columns};
  return llvm::all_of(
      llvm::enumerate(llvm::reverse(mask.getShape())), [&](auto dim) {
        return dim.value() == 1 || dim.value() == wanted[1 - dim.index()];
      });
}

/// Whether rows can be copied 16 bytes at once, as far as the type tells.
static bool hasAlignedRows(MemRefType matrix) {
  constexpr int64_t together = 8;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(matrix.getStridesAndOffset(strides, offset)))
    return false;
  auto isAligned = [](int64_t number) {
    return ShapedType::isDynamic(number) || number % together == 0;
  };
  return strides[1] == 1 && isAligned(strides[0]) && isAligned(offset) &&
         isAligned(matrix.getDimSize(1));
}

LogicalResult AttentionOp::verify() {
  auto typeOf = [](Value value) { return cast<MemRefType>(value.getType()); };
  const MemRefType q = typeOf(getQ()), k = typeOf(getK()), v = typeOf(getV()),
                   y = typeOf(getY());
  for (MemRefType other : {k, v, y})
    if (other.getElementType() != q.getElementType())
      return emitOpError("expected one element type, got ")
             << q << " and " << other;
  const int64_t rows = q.getDimSize(0), keys = k.getDimSize(0);
  if (!k.hasStaticShape() || !v.hasStaticShape() ||
      ShapedType::isDynamic(q.getDimSize(1)) ||
      k.getDimSize(1) != q.getDimSize(1) || v.getDimSize(0) != keys ||
      y.getDimSize(0) != rows || y.getDimSize(1) != v.getDimSize(1))
    return emitOpError("expected M x K, N x K, N x P and M x P, got ")
           << q << ", " << k << ", " << v << " and " << y;
  for (MemRefType matrix : {q, k, v, y})
    if (!hasAlignedRows(matrix))
      return emitOpError("expected dense rows of multiples of 8 elements that "
                         "lie as many apart, got ")
             << matrix;
  if (keys == 0)
    return emitOpError("expected keys, got ") << k;
  auto forms = llvm::to_vector(getForms().getAsValueRange<StringAttr>());
  const auto causal = static_cast<size_t>(llvm::count(forms, "causal"));
  if (causal > 1 || getCausal().has_value() != (causal == 1))
    return emitOpError("expected an offset for one causal form");
  if (forms.size() != getMasks().size() + causal)
    return emitOpError("expected a form for each of ")
           << getMasks().size() << " masks, got " << forms.size() - causal;
  llvm::erase(forms, "causal");
  for (auto [mask, form] : llvm::zip_equal(getMasks(), forms)) {
    const bool isBoolean = typeOf(mask).getElementType().isInteger(1);
    if (form != "add" && form != "keep" && form != "drop")
      return emitOpError("expected forms add, keep, drop and causal, got ")
             << form;
    if (isBoolean == (form == "add") || !broadcasts(typeOf(mask), rows, keys))
      return emitOpError("expected a mask for ")
             << form << " that broadcasts to M x N, got " << mask.getType();
  }
  const int64_t most = static_cast<int64_t>(getRows());
  if (most < 1 || (!ShapedType::isDynamic(rows) && rows > most))
    return emitOpError("expected rows for all of ") << q << ", got " << most;
  return success();
}

//===----------------------------------------------------------------------===//
// ReturnOp, LibraryOp, CallOp
//===----------------------------------------------------------------------===//

LogicalResult ReturnOp::verify() {
  auto func = cast<FuncOp>((*this)->getParentOp());
  if (getOperandTypes() != TypeRange(func.getResultTypes()))
    return emitOpError("expected the kernel's result types ")
           << func.getResultTypes() << ", got " << getOperandTypes();
  return success();
}

LogicalResult LibraryOp::verify() {
  if (failed(verifyWorkspace(*this)))
    return failure();
  return verifyInPlace(*this, getInPlace(), getFunctionType());
}

static bool areTaken(TypeRange types, ArrayRef<Type> expected) {
  return types.size() == expected.size() &&
         llvm::all_of_zip(types, expected, dlc::isTaken);
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  FunctionType type = getCallType(symbol);
  if (!type)
    return emitOpError("expected the name of a kernel, got ")
           << getCalleeAttr();
  if (!areTaken(getOperandTypes(), type.getInputs()) ||
      !areTaken(getResultTypes(), type.getResults())) {
    InFlightDiagnostic diagnostic = emitOpError("expected the kernel's type ");
    diagnostic << type;
    diagnostic.attachNote(symbol->getLoc()) << "the kernel is here";
    return diagnostic;
  }
  return success();
}
