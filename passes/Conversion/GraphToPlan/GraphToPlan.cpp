// SPDX-License-Identifier: Apache-2.0
//
// convert-graph-to-plan: from values to memory.

#include "Updates.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Parts.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/dialects/Graph/Views.h"
#include "dlc/passes/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace dlc::conversion {
#define GEN_PASS_DEF_CONVERTGRAPHTOPLANPASS
#include "dlc/passes/Conversion/Passes.h.inc"
} // namespace dlc::conversion

using namespace mlir;
using namespace dlc;

/// The library entry that moves the bytes of a value.
static constexpr llvm::StringLiteral kCopyEntry = "copy";

/// The memory type of a tensor, in row-major order.
static Type toMemory(Type type) {
  if (auto ranked = dyn_cast<RankedTensorType>(type))
    return MemRefType::get(ranked.getShape(), ranked.getElementType());
  if (auto unranked = dyn_cast<UnrankedTensorType>(type))
    return UnrankedMemRefType::get(unranked.getElementType(), Attribute());
  return type;
}

static bool isStatic(Type memory) {
  auto ranked = dyn_cast<MemRefType>(memory);
  return ranked && ranked.hasStaticShape();
}

namespace {

/// Converts one function.
class ProgramBuilder {
public:
  ProgramBuilder(func::FuncOp function, SymbolTable &symbols)
      : function(function), symbols(symbols), builder(function.getContext()) {}
  LogicalResult build();

private:
  plan::ProgramOp beginProgram();
  void buildDeclaration();
  void replaceBy(plan::ProgramOp program);
  std::string nameOf(DictionaryAttr attributes, StringRef prefix, unsigned i);
  void buildInputs();
  void buildOutputs();
  void findParts();
  Value bufferOf(Value result, Location loc, DeviceAttr device);
  bool isMadeInPlace(OpOperand &operand);
  LogicalResult buildOperation(Operation &op);
  void buildCall(kernel::CallOp call);
  void buildCopies();
  FlatSymbolRefAttr getCopyKernel(Location loc, Type tensor);

  func::FuncOp function;
  SymbolTable &symbols;
  OpBuilder builder;
  IRMapping memory;                   // tensor value -> memory
  DenseMap<Value, Value> placed;      // call result -> output that it writes
  DenseMap<Value, OpOperand *> parts; // call result -> where it is joined
  SmallVector<std::pair<Value, plan::OutputOp>> copies; // tensor -> output
};

struct ConvertGraphToPlan
    : public conversion::impl::ConvertGraphToPlanPassBase<ConvertGraphToPlan> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (failed(ProgramBuilder(function, symbols).build()))
        return signalPassFailure();
  }
};

} // namespace

std::string ProgramBuilder::nameOf(DictionaryAttr attributes, StringRef prefix,
                                   unsigned i) {
  if (attributes)
    if (auto name =
            attributes.getAs<StringAttr>(graph::GraphDialect::kNameAttr))
      return name.str();
  return (prefix + Twine(i)).str();
}

/// The device of a launch as its attribute: none says cpu:0.
static DeviceAttr launchDevice(DeviceAttr device) {
  return device == getDefaultDevice(device.getContext()) ? DeviceAttr()
                                                         : device;
}

/// Copies between devices have a stream of their own, so that none of the
/// launches in front of a copy's reader waits for what is copied.
static constexpr int64_t kComputeStream = 0, kCopyStream = 1;

void ProgramBuilder::buildInputs() {
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    std::string name = nameOf(function.getArgAttrDict(i), "input", i);
    bool isRandom = !!function.getArgAttr(i, graph::GraphDialect::kRandomAttr);
    memory.map(argument, plan::InputOp::create(builder, argument.getLoc(),
                                               toMemory(argument.getType()), i,
                                               name, isRandom,
                                               /*padded=*/{}));
  }
}

void ProgramBuilder::buildOutputs() {
  Operation *terminator = function.getBody().front().getTerminator();
  conversion::UpdateOrder order(function, symbols);
  SmallVector<BlockArgument> updates = graph::findUpdates(function);
  for (OpOperand &result : terminator->getOpOperands()) {
    unsigned i = result.getOperandNumber();
    std::string name = nameOf(function.getResultAttrDict(i), "output", i);
    Value value = result.get(), base = graph::skipViews(value);
    BlockArgument updated = updates[i];
    auto output = plan::OutputOp::create(builder, value.getLoc(),
                                         toMemory(value.getType()), i, name);
    if (updated)
      output.setUpdates(updated.getArgNumber());
    // One launch can write the output itself unless it is not a launch's
    // result, feeds another output already, or would write over what is still
    // to be read.
    if (base.getDefiningOp<kernel::CallOp>() && !placed.contains(base) &&
        (!updated || order.tryWriteOver(cast<OpResult>(base), updated)))
      placed[base] = output;
    else
      copies.push_back({value, output});
  }
}

/// What is joined is made in the memory of the whole.
void ProgramBuilder::findParts() {
  for (Operation &op : function.getBody().front())
    if (auto join = dyn_cast<graph::InPlaceOpInterface>(op);
        join && join.joinsOperands())
      for (OpOperand &operand : op.getOpOperands())
        parts[graph::skipViews(operand.get())] = &operand;
}

/// New memory for a result, or its part of what it is joined to.
Value ProgramBuilder::bufferOf(Value result, Location loc, DeviceAttr device) {
  Type type = toMemory(result.getType());
  OpOperand *place = parts.lookup(result);
  if (!place)
    return plan::BufferOp::create(builder, loc, type, device);
  Operation *join = place->getOwner();
  Value whole = join->getResult(0);
  if (!memory.contains(whole))
    memory.map(whole, bufferOf(whole, join->getLoc(), device));
  int64_t offset = 0;
  for (Value before : join->getOperands().take_front(place->getOperandNumber()))
    offset += *plan::getByteSize(toMemory(before.getType()));
  return plan::ViewOp::create(builder, loc, type, memory.lookup(whole), offset);
}

/// Whether a call made the operand of a join where it is joined.
bool ProgramBuilder::isMadeInPlace(OpOperand &operand) {
  Value base = graph::skipViews(operand.get());
  Operation *maker = base.getDefiningOp();
  auto join = dyn_cast_or_null<graph::InPlaceOpInterface>(maker);
  return (isa_and_nonnull<kernel::CallOp>(maker) ||
          (join && join.joinsOperands())) &&
         parts.lookup(base) == &operand && !placed.contains(base) &&
         isStatic(toMemory(base.getType())) &&
         plan::getByteSize(toMemory(base.getType())) ==
             plan::getByteSize(toMemory(operand.get().getType()));
}

void ProgramBuilder::buildCall(kernel::CallOp call) {
  SmallVector<Value> reads = llvm::map_to_vector(
      call.getInputs(), [&](Value value) { return memory.lookup(value); });
  SmallVector<Value> writes;
  DeviceAttr device = graph::getDevice(call);
  for (Value result : call.getResults()) {
    Type type = toMemory(result.getType());
    Value target;
    if (Value output = placed.lookup(result)) {
      target = output;
      if (output.getType() != type)
        target = plan::ViewOp::create(builder, call.getLoc(), type, output);
    } else if (isStatic(type)) {
      target = bufferOf(result, call.getLoc(), device);
    } else {
      target = plan::PoolOp::create(builder, call.getLoc(), type, device);
    }
    memory.map(result, target);
    writes.push_back(target);
  }
  Operation *symbol = symbols.lookup(call.getCallee());
  if (int64_t bytes = kernel::getWorkspaceBytes(symbol)) {
    auto type = MemRefType::get({bytes}, builder.getI8Type());
    writes.push_back(
        plan::BufferOp::create(builder, call.getLoc(), type, device));
  }
  auto library = dyn_cast_or_null<kernel::LibraryOp>(symbol);
  bool isCopy = library && library.getEntry() == kCopyEntry;
  plan::LaunchOp::create(
      builder, call.getLoc(), call.getCalleeAttr(), reads, writes,
      builder.getI64IntegerAttr(isCopy ? kCopyStream : kComputeStream),
      launchDevice(device));
}

FlatSymbolRefAttr ProgramBuilder::getCopyKernel(Location loc, Type tensor) {
  auto type = FunctionType::get(builder.getContext(), tensor, tensor);
  for (auto library :
       cast<ModuleOp>(symbols.getOp()).getOps<kernel::LibraryOp>())
    if (library.getEntry() == kCopyEntry && library.getFunctionType() == type)
      return FlatSymbolRefAttr::get(library.getSymNameAttr());
  OpBuilder detached(builder.getContext());
  // The memory may be one: then there is nothing to move.
  auto library = kernel::LibraryOp::create(
      detached, loc, kCopyEntry, kCopyEntry, detached.getDictionaryAttr({}),
      type, /*workspace=*/IntegerAttr(), detached.getDenseI64ArrayAttr({0, 0}),
      /*note=*/StringAttr());
  return FlatSymbolRefAttr::get(symbols.insert(library));
}

void ProgramBuilder::buildCopies() {
  auto copy = [&](Value value, Value from, Value to) {
    FlatSymbolRefAttr kernel = getCopyKernel(value.getLoc(), value.getType());
    plan::LaunchOp::create(
        builder, to.getLoc(), kernel, from, to,
        builder.getI64IntegerAttr(kComputeStream),
        launchDevice(graph::getDevice(graph::skipViews(value))));
  };
  for (auto &[value, output] : copies) {
    Value from = memory.lookup(value);
    auto source = dyn_cast<BlockArgument>(graph::skipViews(value));
    bool isItself = source && output.getUpdates() &&
                    source.getArgNumber() == *output.getUpdates();
    // Arguments that trade places are read before any of them is written.
    if (source && output.getUpdates() && !isItself) {
      Value held = plan::BufferOp::create(builder, value.getLoc(),
                                          toMemory(value.getType()),
                                          graph::getDevice(source));
      copy(value, from, held);
      from = held;
    }
    copy(value, from, output.getMemory());
  }
}

LogicalResult ProgramBuilder::buildOperation(Operation &op) {
  if (auto call = dyn_cast<kernel::CallOp>(op)) {
    buildCall(call);
    return success();
  }
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    memory.map(constant.getResult(),
               plan::ConstantOp::create(
                   builder, op.getLoc(), toMemory(constant.getType()),
                   cast<ElementsAttr>(constant.getValue()), IntegerAttr()));
    return success();
  }
  if (isa<graph::NoneOp>(op)) {
    memory.map(op.getResult(0), plan::NoneOp::create(builder, op.getLoc(),
                                                     builder.getNoneType()));
    return success();
  }
  auto view = dyn_cast<graph::InPlaceOpInterface>(op);
  Type type = op.getNumResults() ? toMemory(op.getResult(0).getType()) : Type();
  if (view && view.isView() && isStatic(type)) {
    Value source = memory.lookup(op.getOperand(0));
    if (source.getType() != type)
      source = plan::ViewOp::create(builder, op.getLoc(), type, source);
    memory.map(op.getResult(0), source);
    return success();
  }
  if (view && view.joinsOperands() &&
      llvm::all_of(op.getOpOperands(),
                   [&](OpOperand &operand) { return isMadeInPlace(operand); }))
    return success();
  return op.emitOpError("expected a kernel call, a constant, a view or a join "
                        "of what calls make");
}

void ProgramBuilder::replaceBy(plan::ProgramOp program) {
  symbols.remove(function);
  function.erase();
  symbols.insert(program);
}

plan::ProgramOp ProgramBuilder::beginProgram() {
  builder.setInsertionPoint(function);
  auto program = plan::ProgramOp::create(
      builder, function.getLoc(), function.getSymNameAttr(),
      function->getAttrOfType<IntegerAttr>(graph::kRowsAttr),
      function->getAttrOfType<ArrayAttr>(graph::kByRowsAttr),
      function->getAttrOfType<ArrayAttr>(graph::kByShapeAttr));
  builder.setInsertionPointToStart(&program.getBody().emplaceBlock());
  return program;
}

/// What other functions compute: its inputs and outputs.
void ProgramBuilder::buildDeclaration() {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    plan::InputOp::create(
        builder, function.getLoc(), toMemory(type), i,
        nameOf(function.getArgAttrDict(i), "input", i),
        function.getArgAttr(i, graph::GraphDialect::kRandomAttr) != nullptr,
        function.getArgAttrOfType<DenseI64ArrayAttr>(i, graph::kPaddedAttr));
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    plan::OutputOp::create(
        builder, function.getLoc(), toMemory(type), i,
        nameOf(function.getResultAttrDict(i), "output", i), /*updates=*/{},
        function.getResultAttrOfType<DenseI64ArrayAttr>(i, graph::kPaddedAttr));
}

LogicalResult ProgramBuilder::build() {
  if (graph::isMadeOfParts(function)) {
    plan::ProgramOp program = beginProgram();
    buildDeclaration();
    replaceBy(program);
    return success();
  }
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected a body of one block, got ")
           << function.getBody().getBlocks().size();
  // What conversions left without users would take its place in the artifact.
  IRRewriter rewriter(function.getContext());
  (void)runRegionDCE(rewriter, function->getRegions());
  plan::ProgramOp program = beginProgram();
  buildInputs();
  buildOutputs();
  findParts();
  for (Operation &op : function.getBody().front().without_terminator())
    if (failed(buildOperation(op)))
      return failure();
  buildCopies();
  auto outputs = program.getBody().getOps<plan::OutputOp>();
  if (llvm::any_of(outputs,
                   [](plan::OutputOp output) { return output.getUpdates(); }) &&
      failed(conversion::orderUpdates(program)))
    return failure();
  replaceBy(program);
  return success();
}
