// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Plan/PlanDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

#include <limits>
#include <set>

using namespace mlir;
using namespace dlc;
using namespace dlc::plan;

/// Symbol names that are attributes of another kind print as @name too.
static ParseResult parseSymbolName(OpAsmParser &parser, StringAttr &name) {
  return parser.parseSymbolName(name);
}
static void printSymbolName(OpAsmPrinter &printer, Operation *,
                            StringAttr name) {
  printer.printSymbolName(name.getValue());
}

#include "dlc/dialects/Plan/PlanDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dlc/dialects/Plan/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Plan/PlanOps.cpp.inc"
      >();
}

bool dlc::plan::isRowMajor(BaseMemRefType type) {
  auto ranked = dyn_cast<MemRefType>(type);
  return !type.getMemorySpace() &&
         (!ranked || (ranked.getLayout().isIdentity() &&
                      (!ranked.hasStaticShape() || getByteSize(ranked))));
}

std::optional<int64_t> dlc::plan::getByteSize(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !memref.hasStaticShape())
    return std::nullopt;
  int64_t bytes = (memref.getElementTypeBitWidth() + 7) / 8;
  for (int64_t dim : memref.getShape())
    if (llvm::MulOverflow(bytes, dim, bytes))
      return std::nullopt;
  return bytes;
}

std::pair<Value, int64_t> dlc::plan::getBase(Value value) {
  int64_t offset = 0;
  while (auto view = value.getDefiningOp<ViewOp>()) {
    offset += view.getOffset();
    value = view.getSource();
  }
  return {value, offset};
}

MemoryRange dlc::plan::getRange(Value value) {
  auto [base, offset] = getBase(value);
  std::optional<int64_t> bytes = getByteSize(value.getType());
  if (!bytes)
    return {base};
  return {base, offset, offset + *bytes};
}

LogicalResult InputOp::verify() {
  auto wanted = MemRefType::get({2}, IntegerType::get(getContext(), 64));
  if (!getRandom() || getType() == wanted)
    return success();
  return emitOpError("expected a state of random numbers of ")
         << wanted << ", got " << getType();
}

/// Checks that `op`, one of the inputs or outputs, has the next number.
template <typename OpTy>
static LogicalResult verifyNumber(OpTy op, int64_t &next) {
  if (static_cast<int64_t>(op.getIndex()) != next)
    return op.emitOpError("expected number ")
           << next << ", got " << op.getIndex();
  ++next;
  return success();
}

/// Checks what `output` says to update; `updated` grows.
static LogicalResult verifyUpdate(OutputOp output, ArrayRef<InputOp> inputs,
                                  llvm::SmallDenseSet<int64_t> &updated) {
  if (!output.getUpdates())
    return success();
  auto number = static_cast<int64_t>(*output.getUpdates());
  if (number < 0 || number >= static_cast<int64_t>(inputs.size()))
    return output.emitOpError("expected the number of an input to update, got ")
           << number;
  InputOp input = inputs[number];
  Type type = input.getType();
  if (output.getType() != type || !getByteSize(type))
    return output.emitOpError("expected the static type of the input that it "
                              "updates, ")
           << type << ", got " << output.getType();
  if (!updated.insert(number).second)
    return output.emitOpError("expected one update of input ")
           << number << ", got a second";
  return success();
}

static LogicalResult verifyUpdates(ProgramOp program) {
  SmallVector<InputOp> inputs(program.getBody().getOps<InputOp>());
  llvm::SmallDenseSet<int64_t> updated;
  for (OutputOp output : program.getBody().getOps<OutputOp>())
    if (failed(verifyUpdate(output, inputs, updated)))
      return failure();
  return success();
}

/// The types of a program by rows and of one of its parts, which has as many
/// rows for each of `rows` examples where the former leaves them open.
static bool isOfRows(Type whole, Type part, int64_t rows, int64_t &each) {
  auto open = dyn_cast<MemRefType>(whole), own = dyn_cast<MemRefType>(part);
  if (!open || !own || !own.hasStaticShape() ||
      open.getRank() != own.getRank() ||
      open.getElementType() != own.getElementType())
    return false;
  for (int64_t dim = 0; dim < open.getRank(); ++dim)
    if (open.getDimSize(dim) != own.getDimSize(dim) &&
        (dim != 0 || !open.isDynamicDim(dim)))
      return false;
  if (open.hasStaticShape())
    return true;
  const int64_t first = own.getDimSize(0);
  if (first % rows != 0 || (each >= 0 && each != first / rows))
    return false;
  each = first / rows;
  return true;
}

/// Whether `part` has the inputs (or outputs) of `whole`: of each pair of types
/// `isOf` says whether they go together, called with its number. `what` they
/// are is for the message. `part` has `more` behind them.
template <typename Port, typename IsOf>
static LogicalResult verifyPorts(ProgramOp whole, ProgramOp part,
                                 StringRef what, IsOf isOf, size_t more = 0) {
  SmallVector<Port> ports(whole.getBody().getOps<Port>());
  SmallVector<Port> own(part.getBody().getOps<Port>());
  if (ports.size() + more != own.size())
    return part.emitOpError("expected the inputs and outputs of ")
           << whole.getSymNameAttr();
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].getName() != own[i].getName() ||
        !isOf(i, ports[i].getType(), own[i].getType()))
      return own[i].emitOpError("expected ")
             << what << " of " << ports[i].getNameAttr() << " of type "
             << ports[i].getType() << ", got " << own[i].getNameAttr()
             << " of type " << own[i].getType();
  return success();
}

/// `each` has the rows of each port that an example has; -1 where that is not
/// known yet.
template <typename Port>
static LogicalResult verifyRows(ProgramOp whole, ProgramOp part,
                                SmallVectorImpl<int64_t> &each) {
  return verifyPorts<Port>(
      whole, part, "rows", [&](size_t i, Type open, Type own) {
        each.resize(std::max(each.size(), i + 1), -1);
        return isOfRows(open, own, *part.getRows(), each[i]);
      });
}

/// Whether `own` is what `open` leaves open.
static bool isOfShape(BaseMemRefType open, BaseMemRefType own) {
  auto type = dyn_cast<MemRefType>(open), ranked = dyn_cast<MemRefType>(own);
  if (open.getElementType() != own.getElementType() || !type)
    return open.getElementType() == own.getElementType();
  return ranked && type.getRank() == ranked.getRank() &&
         llvm::all_of(llvm::zip_equal(type.getShape(), ranked.getShape()),
                      [](auto pair) {
                        auto [any, one] = pair;
                        return ShapedType::isDynamic(any) || any == one;
                      });
}

template <typename Port>
static LogicalResult verifyShapes(ProgramOp whole, ProgramOp part,
                                  size_t more = 0) {
  return verifyPorts<Port>(
      whole, part, "a shape",
      [](size_t, BaseMemRefType open, BaseMemRefType own) {
        return isOfShape(open, own);
      },
      more);
}

/// Counts the extents that are padded, or says what is wrong with them.
static FailureOr<size_t> countPadded(ProgramOp program) {
  std::set<int64_t> numbers;
  auto visit = [&](auto port, bool isInput) -> LogicalResult {
    auto padded = port.getPadded();
    if (!padded)
      return success();
    auto type = dyn_cast<MemRefType>(port.getType());
    bool isValid = program.getByShape() && type &&
                   static_cast<int64_t>(padded->size()) == type.getRank();
    for (int64_t dim = 0; isValid && dim < type.getRank(); ++dim) {
      const int64_t number = (*padded)[dim];
      isValid = number == -1 || (number >= 0 && type.isDynamicDim(dim) &&
                                 (isInput || numbers.contains(number)));
      if (isInput && number >= 0)
        numbers.insert(number);
    }
    if (isValid)
      return success();
    return port.emitOpError("expected of each dimension that a program by "
                            "shape leaves open -1 or the number of an extent, "
                            "which inputs have, got ")
           << port.getPaddedAttr();
  };
  for (auto input : program.getBody().getOps<InputOp>())
    if (failed(visit(input, /*isInput=*/true)))
      return failure();
  for (auto output : program.getBody().getOps<OutputOp>())
    if (failed(visit(output, /*isInput=*/false)))
      return failure();
  if (!numbers.empty() &&
      *numbers.rbegin() + 1 != static_cast<int64_t>(numbers.size()))
    return program.emitOpError("expected padded extents 0, 1, ..., got ")
           << *numbers.rbegin() << " of " << numbers.size();
  return numbers.size();
}

/// Whether the padded extents of `whole` are one size each in `part`, or open,
/// which takes how much of each there is.
static LogicalResult verifyPadded(ProgramOp whole, ProgramOp part,
                                  size_t count) {
  std::vector<std::optional<int64_t>> sizes(count);
  auto visit = [&](auto port, auto own) -> LogicalResult {
    if (auto padded = port.getPadded())
      for (auto [dim, number] : llvm::enumerate(*padded)) {
        if (number < 0)
          continue;
        const int64_t size = cast<MemRefType>(own.getType()).getDimSize(dim);
        std::optional<int64_t> &known = sizes[number];
        if (known && *known != size)
          return own.emitOpError("expected one size of padded extent ")
                 << number << ", got " << own.getType();
        known = size;
      }
    return success();
  };
  SmallVector<InputOp> inputs(part.getBody().getOps<InputOp>());
  for (auto [port, own] : llvm::zip(whole.getBody().getOps<InputOp>(), inputs))
    if (failed(visit(port, own)))
      return failure();
  for (auto [port, own] : llvm::zip(whole.getBody().getOps<OutputOp>(),
                                    part.getBody().getOps<OutputOp>()))
    if (failed(visit(port, own)))
      return failure();
  for (InputOp size : ArrayRef(inputs).take_back(count)) {
    auto type = dyn_cast<MemRefType>(size.getType());
    if (!type || type.getRank() != 0 || !type.getElementType().isInteger(64))
      return size.emitOpError("expected the size of an extent, memref<i64>, "
                              "got ")
             << size.getType();
  }
  return success();
}

static LogicalResult verifyByShape(ProgramOp whole,
                                   SymbolTableCollection &symbols) {
  if (whole.getByRows() || whole.getRows() || whole.getByShape()->empty())
    return whole.emitOpError("expected programs by shape or by rows");
  FailureOr<size_t> padded = countPadded(whole);
  if (failed(padded))
    return failure();
  for (auto name : whole.getByShape()->getAsRange<FlatSymbolRefAttr>()) {
    auto part = dyn_cast_or_null<ProgramOp>(
        symbols.lookupNearestSymbolFrom(whole->getParentOp(), name));
    if (!part || part.getByShape())
      return whole.emitOpError("expected the name of a program for one shape, "
                               "got ")
             << name;
    if (failed(verifyShapes<InputOp>(whole, part, *padded)) ||
        failed(verifyShapes<OutputOp>(whole, part)) ||
        failed(verifyPadded(whole, part, *padded)))
      return failure();
  }
  return success();
}

LogicalResult ProgramOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getByShape())
    return verifyByShape(*this, symbols);
  if (!getByRows())
    return success();
  SmallVector<int64_t> inputs, outputs;
  uint64_t before = std::numeric_limits<int64_t>::max();
  for (auto name : getByRows()->getAsRange<FlatSymbolRefAttr>()) {
    auto part = dyn_cast_or_null<ProgramOp>(
        symbols.lookupNearestSymbolFrom((*this)->getParentOp(), name));
    if (!part || !part.getRows() || *part.getRows() < 1 ||
        *part.getRows() >= before)
      return emitOpError("expected the name of a program of fewer rows, got ")
             << name;
    before = *part.getRows();
    if (failed(verifyRows<InputOp>(*this, part, inputs)) ||
        failed(verifyRows<OutputOp>(*this, part, outputs)))
      return failure();
  }
  if (before != 1)
    return emitOpError("expected a program of one row at last");
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  if (!getByShape() && failed(countPadded(*this)))
    return failure();
  if (getParts())
    for (Operation &op : getBody().front()) {
      auto output = dyn_cast<OutputOp>(op);
      if (!isa<InputOp, OutputOp>(op) || (output && output.getUpdates()))
        return op.emitOpError("expected inputs and outputs alone in a program "
                              "of others");
    }
  int64_t inputs = 0, outputs = 0;
  llvm::StringMap<int64_t> arenaSizes;
  llvm::SmallDenseSet<DeviceAttr> devices;
  for (Operation &op : getBody().front()) {
    if (auto input = dyn_cast<InputOp>(op)) {
      if (failed(verifyNumber(input, inputs)))
        return failure();
    } else if (auto output = dyn_cast<OutputOp>(op)) {
      if (failed(verifyNumber(output, outputs)))
        return failure();
    } else if (auto arena = dyn_cast<ArenaOp>(op)) {
      if (!arenaSizes.try_emplace(arena.getSymName(), arena.getSize()).second)
        return arena.emitOpError("expected a new name, got ")
               << arena.getSymNameAttr() << " again";
      if (!devices.insert(arena.getDevice()).second)
        return arena.emitOpError("expected one arena of a device, got a second "
                                 "one of ")
               << arena.getDevice();
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      auto arena = arenaSizes.find(slice.getArena());
      if (arena == arenaSizes.end())
        return slice.emitOpError("expected an arena before it, got ")
               << slice.getArenaAttr();
      int64_t begin = slice.getOffset(), size = slice.getSize();
      if (begin < 0 || size < 0 || begin > arena->second - size)
        return slice.emitOpError("expected a range within ")
               << arena->second << " bytes, got [" << begin << " for " << size
               << "]";
      if (getByteSize(slice.getType()).value_or(-1) > size)
        return slice.emitOpError("expected at least the memory's size, got ")
               << size << " bytes";
    }
  }
  return verifyUpdates(*this);
}

LogicalResult ArenaOp::verify() {
  int64_t size = getSize(), bound = getLowerBound();
  if (bound < 0 || bound > size)
    return emitOpError("expected a lower bound from 0 to ")
           << size << ", got " << bound;
  return success();
}

LogicalResult ConstantOp::verify() {
  auto memref = cast<BaseMemRefType>(getType());
  ShapedType value = getValue().getShapedType();
  if (!memref.hasRank() || memref.getShape() != value.getShape() ||
      memref.getElementType() != value.getElementType())
    return emitOpError("expected a value of the memory's type, got ") << value;
  return success();
}

LogicalResult ViewOp::verify() {
  auto source = cast<BaseMemRefType>(getSource().getType());
  auto result = cast<BaseMemRefType>(getType());
  if (source.getElementType() != result.getElementType())
    return emitOpError("expected element type ")
           << source.getElementType() << ", got " << result.getElementType();
  if (getOffset() < 0)
    return emitOpError("expected an offset of at least 0, got ") << getOffset();
  std::optional<int64_t> have = getByteSize(source), want = getByteSize(result);
  if (!have || !want)
    return success();
  if (*want > *have - static_cast<int64_t>(getOffset()))
    return emitOpError("expected ")
           << *want << " bytes, got " << *have << " at offset " << getOffset();
  return success();
}

/// The tensor type whose values memory of this type holds.
static Type toTensor(Type type) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return RankedTensorType::get(memref.getShape(), memref.getElementType());
  if (auto memref = dyn_cast<UnrankedMemRefType>(type))
    return UnrankedTensorType::get(memref.getElementType());
  return type;
}

LogicalResult LaunchOp::verify() {
  if (auto stream = static_cast<int64_t>(getStream()); stream < 0)
    return emitOpError("expected a stream of at least 0, got ") << stream;
  for (Value value : getWrites()) {
    Operation *source = getBase(value).first.getDefiningOp();
    if (isa_and_nonnull<InputOp, ConstantOp, NoneOp>(source))
      return emitOpError("expected writable memory, got an input or a "
                         "constant");
  }
  return success();
}

/// Compares the types of reads or writes with the kernel's.
static LogicalResult verifyTypes(LaunchOp launch, Operation *kernel,
                                 StringRef what, ValueRange values,
                                 TypeRange types) {
  auto fail = [&] {
    InFlightDiagnostic diagnostic = launch.emitOpError("expected ");
    diagnostic.attachNote(kernel->getLoc()) << "the kernel is here";
    return diagnostic;
  };
  if (values.size() != types.size())
    return fail() << types.size() << " " << what << ", got " << values.size();
  for (auto [i, value, type] : llvm::enumerate(values, types))
    if (!isTaken(toTensor(value.getType()), type))
      return fail() << what << " " << i << " of " << type << ", got "
                    << value.getType();
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = dyn_cast_or_null<LaunchableOpInterface>(
      symbols.lookupNearestSymbolFrom((*this)->getParentOp(), getKernelAttr()));
  if (!kernel)
    return emitOpError("expected the name of a kernel, got ")
           << getKernelAttr();
  FunctionType type = kernel.getLaunchType();
  return success(succeeded(verifyTypes(*this, kernel, "reads", getReads(),
                                       type.getInputs())) &&
                 succeeded(verifyTypes(*this, kernel, "writes", getWrites(),
                                       type.getResults())));
}
