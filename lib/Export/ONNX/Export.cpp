// SPDX-License-Identifier: Apache-2.0
//
// The model as a whole: what is left out, composed or newer than the opset;
// names; inputs and outputs.

#include "dlc/Export/ONNX/Export.h"

#include "Operators.h"

#include "dlc/Frontend/Faults.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/runtime/Base/Names.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace dlc;
using namespace dlc::exporter;
using llvm::StringRef;
using llvm::Twine;
using mlir::ElementsAttr;
using mlir::Operation;
using mlir::StringAttr;
using mlir::Value;
using mlir::func::FuncOp;

/// Messages of protobuf end here.
static constexpr size_t kMaxBytes = size_t(2) << 30;

/// Equal elements from this size on are made by a node.
static constexpr int64_t kSplatBytes = 1 << 20;

namespace {
/// One try to write the module for one opset.
class ModelExport {
public:
  ModelExport(FuncOp main, const ExportOptions &options, int64_t opset)
      : main(main), options(options) {
    state.opset = opset;
    state.neededOpset = opset;
    state.isFree = options.opset == 0;
    state.nameConstant = [this](Value value) { return addConstant(value); };
  }

  /// Empty after a failure, which was told, or where a newer opset is needed.
  std::string write();
  int64_t neededOpset() const { return state.neededOpset; }

private:
  void fail(const Twine &message) {
    mlir::emitError(main.getLoc()) << message;
    hasFailed = true;
  }
  Port portOf(unsigned number, bool isInput);
  void addInputs();
  void addOutputs();
  void addOperation(Operation &op);
  std::string addConstant(Value value);
  void addElements(StringRef name, ElementsAttr elements);

  FuncOp main;
  const ExportOptions &options;
  ModelState state;
  /// Those of an output that an input has, too, or another output, are changed:
  /// MXNet calls what a network gives on as it came.
  std::vector<std::string> inputNames, outputNames;
  /// Outputs that are inputs, constants or other outputs too.
  std::vector<std::pair<Value, std::string>> aliases;
  bool hasFailed = false;
};
} // namespace

//===-- Names -------------------------------------------------------------===//

/// The text of a location, as importers write it: "net.json: node 'fc' (Dense)"
static StringRef textOf(mlir::Location location) {
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location))
    return fused.getLocations().empty() ? StringRef()
                                        : textOf(fused.getLocations().front());
  if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(location))
    return textOf(call.getCallee());
  auto name = llvm::dyn_cast<mlir::NameLoc>(location);
  return name ? name.getName().getValue() : StringRef();
}

/// What stands between `begin` and `end`, or "".
static std::string between(StringRef text, StringRef begin, StringRef end) {
  size_t at = text.find(begin);
  if (at == StringRef::npos)
    return "";
  text = text.drop_front(at + begin.size());
  at = text.rfind(end);
  return at == StringRef::npos ? "" : text.take_front(at).str();
}

static std::string nodeNameOf(Operation &op) {
  return between(textOf(op.getLoc()), "node '", "' (");
}

//===-- Constants ---------------------------------------------------------===//

void ModelExport::addElements(StringRef name, ElementsAttr elements) {
  auto type = llvm::cast<mlir::RankedTensorType>(elements.getType());
  graph::RawElements raw =
      graph::RawElements::get(elements, /*keepSplat=*/true);
  if (!raw)
    return fail("expected the elements of constant '" + name + "'");
  StringRef bytes(raw.data().data(), raw.data().size());
  if (!raw.isSplat())
    return state.writer.addInitializer(name, type, bytes);
  int64_t all = type.getNumElements() * static_cast<int64_t>(bytes.size());
  if (all < kSplatBytes) {
    std::string repeated;
    repeated.reserve(all);
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      repeated += bytes;
    return state.writer.addInitializer(name, type, repeated);
  }
  std::string one =
      ModelState::unique(state.usedNames, (name + "_value").str());
  std::string shape =
      ModelState::unique(state.usedNames, (name + "_shape").str());
  state.writer.addInitializer(
      one, mlir::RankedTensorType::get({}, type.getElementType()), bytes);
  auto dims = graph::makeInts(main.getContext(), type.getShape());
  graph::RawElements dimBytes = graph::RawElements::get(dims);
  state.writer.addInitializer(
      shape, llvm::cast<mlir::RankedTensorType>(dims.getType()),
      {dimBytes.data().data(), dimBytes.data().size()});
  state.writer.addNode("Expand", "", {one, shape}, {name.str()}, {});
}

/// The name of a constant, which is written when a node first reads it.
std::string ModelExport::addConstant(Value value) {
  ElementsAttr elements = graph::getConstantElements(value);
  if (!elements)
    return "";
  std::string wish =
      between(textOf(value.getDefiningOp()->getLoc()), "variable '", "'");
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(elements);
      resource && wish.empty())
    wish = resource.getRawHandle().getKey().str();
  if (wish.empty())
    wish = "constant_" + std::to_string(state.constants++);
  std::string name = ModelState::unique(state.usedNames, wish);
  addElements(name, elements);
  return name;
}

//===-- Inputs and outputs ------------------------------------------------===//

Port ModelExport::portOf(unsigned number, bool isInput) {
  Port port;
  port.name = (isInput ? inputNames : outputNames)[number];
  port.type = isInput ? main.getArgument(number).getType()
                      : main.getResultTypes()[number];
  auto dims = isInput ? main.getArgAttrOfType<mlir::ArrayAttr>(
                            number, graph::GraphDialect::kDimsAttr)
                      : main.getResultAttrOfType<mlir::ArrayAttr>(
                            number, graph::GraphDialect::kDimsAttr);
  if (dims)
    for (mlir::Attribute dim : dims)
      port.dims.push_back(llvm::cast<StringAttr>(dim).str());
  auto tensor = llvm::dyn_cast<mlir::TensorType>(port.type);
  if (!tensor || elementNumber(tensor.getElementType()) == 0)
    fail("unsupported: " + Twine(isInput ? "input" : "output") + " '" +
         port.name + "', which is not a tensor of ONNX");
  else if (!state.usedNames.insert(port.name).second)
    fail("expected distinct names of inputs and outputs, got '" + port.name +
         "' twice");
  return port;
}

void ModelExport::addInputs() {
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    mlir::BlockArgument argument = main.getArgument(i);
    bool isRandom =
        main.getArgAttr(i, graph::GraphDialect::kRandomAttr) != nullptr;
    if (isRandom) // Who reads it is refused.
      continue;
    Port port = portOf(i, /*isInput=*/true);
    if (hasFailed)
      continue;
    state.names[argument] = port.name;
    auto initial = main.getArgAttrOfType<ElementsAttr>(
        i, graph::GraphDialect::kInitialAttr);
    if (initial)
      addElements(port.name, initial);
    else
      state.writer.addInput(port);
  }
}

void ModelExport::addOutputs() {
  Operation *end = main.getBody().front().getTerminator();
  for (unsigned i = 0; i < end->getNumOperands(); ++i) {
    if (auto updated = main.getResultAttrOfType<StringAttr>(
            i, graph::GraphDialect::kUpdatesAttr)) {
      auto argument = graph::findUpdates(main)[i];
      bool isRandom =
          argument && main.getArgAttr(argument.getArgNumber(),
                                      graph::GraphDialect::kRandomAttr);
      if (!isRandom)
        fail("unsupported: new values of '" + updated.getValue() +
             "', expected a model without state");
      continue;
    }
    Port port = portOf(i, /*isInput=*/false);
    if (hasFailed)
      continue;
    Value value = end->getOperand(i);
    state.writer.addOutput(port);
    // The node that computes it names it, unless it has a name.
    bool isComputed = value.getDefiningOp() &&
                      !graph::getConstantElements(value) &&
                      !state.names.contains(value);
    if (isComputed)
      state.names[value] = port.name;
    else
      aliases.emplace_back(value, port.name);
  }
}

//===-- Operations --------------------------------------------------------===//

void ModelExport::addOperation(Operation &op) {
  if (llvm::isa<graph::ConstantOp, graph::NoneOp>(op) ||
      op.hasTrait<mlir::OpTrait::IsTerminator>())
    return;
  std::string name = nodeNameOf(op);
  StringRef mnemonic = op.getName().stripDialect();
  frontend::NodeScope faults(*main.getContext(), name,
                             op.getName().getStringRef());
  NodeContext context(&op, name, state);
  const Row *row = findRow(mnemonic);
  if (!row || op.getName().getDialectNamespace() != "graph") {
    context.unsupported("operation " + op.getName().getStringRef() +
                        ", which no operator of ONNX computes");
  } else if (context.needs(row->since, row->node)) {
    for (Value result : op.getResults())
      if (!state.names.contains(result))
        state.names[result] = ModelState::unique(
            state.usedNames, name.empty() ? row->node.str() : name);
    if (row->write)
      row->write(context);
    else
      context.result(row->node, context.inputs(), context.attributes());
  }
  hasFailed |= context.failed();
}

std::string ModelExport::write() {
  auto nameOf = [&](unsigned i, bool isResult) {
    return graph::nameOf(graph::givenName(main, i, isResult), i);
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    inputNames.push_back(nameOf(i, /*isResult=*/false));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    outputNames.push_back(nameOf(i, /*isResult=*/true));
  outputNames = rt::makeDistinct(std::move(outputNames), inputNames);
  addInputs();
  addOutputs();
  if (hasFailed)
    return {};
  for (Operation &op : main.getBody().front())
    addOperation(op);
  for (auto &[value, name] : aliases)
    state.writer.addNode("Identity", "", {state.nameOf(value)}, {name}, {});
  if (hasFailed)
    return {};
  if (state.writer.size() >= kMaxBytes) {
    fail("unsupported: a model of " + Twine(state.writer.size()) +
         " bytes, expected less than 2 GiB");
    return {};
  }
  return state.writer.finish(options.name, state.opset);
}

//===-- Before it is written ----------------------------------------------===//

/// Layers that only have a gradient of their own are what they give forward.
static void dropGradients(FuncOp main) {
  main.walk([](Operation *op) {
    if (llvm::isa<graph::ReplaceGradientOp, graph::StopGradientOp>(op) &&
        op->getResult(0).getType() == op->getOperand(0).getType())
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  });
  (void)graph::eraseDead(main.getBody().front());
}

/// Composes what the opset lacks of what it has, as far as operations say how.
static void decompose(FuncOp main, int64_t opset) {
  bool isChanged = true;
  while (isChanged) {
    isChanged = false;
    for (Operation &op : llvm::make_early_inc_range(main.getBody().front())) {
      const Row *row = findRow(op.getName().stripDialect());
      auto composite = llvm::dyn_cast<graph::DecomposeOpInterface>(op);
      if (!composite || (row && row->since <= opset))
        continue;
      mlir::OpBuilder builder(&op);
      auto parts = composite.decompose(builder);
      if (failed(parts))
        continue;
      op.replaceAllUsesWith(*parts);
      op.erase();
      isChanged = true;
    }
  }
}

llvm::FailureOr<std::string> exporter::toOnnx(mlir::ModuleOp module,
                                              const ExportOptions &options) {
  if (options.opset != 0 &&
      (options.opset < kFirstOpset || options.opset > kLastOpset))
    return mlir::emitError(module.getLoc())
           << "expected an opset from " << kFirstOpset << " to " << kLastOpset
           << ", got " << options.opset;
  int64_t opset = options.opset ? options.opset : kFirstOpset;
  while (true) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
    auto main = copy->lookupSymbol<FuncOp>("main");
    if (!main || !main.getBody().hasOneBlock())
      return mlir::emitError(module.getLoc(),
                             "expected a function @main of Graph operations");
    dropGradients(main);
    decompose(main, opset);
    ModelExport model(main, options, opset);
    std::string bytes = model.write();
    if (!bytes.empty())
      return bytes;
    if (model.neededOpset() == opset)
      return llvm::failure();
    opset = model.neededOpset();
  }
}
