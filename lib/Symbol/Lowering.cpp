// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/Lowering.h"

#include "LoweringContext.h"
#include "NetworkTypes.h"

#include "dlc/Frontend/Faults.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <unordered_set>
#include <utility>

using namespace dlc;
using namespace dlc::symbol;
using llvm::SmallVector;
using mlir::Location;
using mlir::LogicalResult;
using mlir::ModuleOp;
using mlir::NameLoc;
using mlir::StringAttr;
using mlir::Value;

namespace {
class SymbolLowering {
public:
  SymbolLowering(mlir::MLIRContext &context, const Symbol &symbol,
                 const LoweringOptions &options)
      : context(context), options(options), graph(symbol), network(graph),
        builder(mlir::OpBuilder(&context)), values(graph.entryCount()),
        isMissing(graph.nodeCount(), false) {
    state.isTraining = options.isTraining;
  }

  mlir::OwningOpRef<ModuleOp> lower();

private:
  LogicalResult infer();
  template <typename Known> bool takeKnown(Known &known);
  void reportNode(IndexedGraph::NodeId id, const llvm::Twine &message,
                  llvm::StringRef alternative = "");
  void reportOpenShape(IndexedGraph::NodeId id);
  void reportOpenShapes();
  LogicalResult checkRandom();
  LogicalResult addInputs(mlir::func::FuncOp main);
  Value addConstant(const Node &node);
  LogicalResult lowerNodes();
  LogicalResult lowerOperator(IndexedGraph::NodeId id);
  LogicalResult updateStates(IndexedGraph::NodeId id,
                             llvm::ArrayRef<Value> newOperands);
  LogicalResult addOutputs(mlir::func::FuncOp main);
  void addUpdates(mlir::func::FuncOp main);
  void dropUnreadInputs(mlir::func::FuncOp main);
  Location fileLocation();
  Location locate(const Node &node);
  LogicalResult checkMirroring(const Node &node);
  mlir::NamedAttrList wishesOf(const Node &node);
  LogicalResult fail(const llvm::Twine &message) {
    builder.fail(message);
    return mlir::failure();
  }

  mlir::MLIRContext &context;
  const LoweringOptions &options;
  IndexedGraph graph;
  NetworkTypes network;
  GraphBuilder builder;
  std::vector<Value> values;   ///< By entry.
  std::vector<bool> isMissing; ///< By node: it failed.
  NetworkState state;
  /// Given for what is no variable, but may be the state of random numbers.
  std::optional<std::vector<int64_t>> randomShape;
};
} // namespace

Location SymbolLowering::fileLocation() {
  if (options.file.empty())
    return mlir::UnknownLoc::get(&context);
  return NameLoc::get(StringAttr::get(&context, options.file));
}

/// "net-symbol.json: node 'fc' (FullyConnected)".
Location SymbolLowering::locate(const Node &node) {
  std::string text = options.file.empty() ? "" : options.file + ": ";
  return NameLoc::get(StringAttr::get(&context, text + node.describe()));
}

/// That `__force_mirroring__` is a boolean, where there is one.
LogicalResult SymbolLowering::checkMirroring(const Node &node) {
  std::string key = attributeName("force_mirroring");
  auto found = node.attributes.find(key);
  if (found == node.attributes.end())
    return mlir::success();
  std::string text = llvm::StringRef(found->second).lower();
  if (text == "0" || text == "1" || text == "false" || text == "true")
    return mlir::success();
  return fail("attribute '" + llvm::Twine(key) +
              "': expected True, False, 1 or 0, got '" + found->second + "'");
}

/// What a node says of where and how often it is computed.
mlir::NamedAttrList SymbolLowering::wishesOf(const Node &node) {
  mlir::NamedAttrList wishes;
  auto valueOf = [&](std::string_view key) {
    auto found = node.attributes.find(attributeName(key));
    return found == node.attributes.end() ? llvm::StringRef()
                                          : llvm::StringRef(found->second);
  };
  if (llvm::StringRef group = valueOf("ctx_group"); !group.empty())
    wishes.set(graph::kGroupAttr, StringAttr::get(&context, group));
  llvm::StringRef mirrored = valueOf("force_mirroring");
  if (!node.isVariable() && (mirrored == "1" || mirrored.lower() == "true"))
    wishes.set(graph::kRecomputeAttr, mlir::UnitAttr::get(&context));
  return wishes;
}

/// Every node that contradicts itself is an error.
LogicalResult SymbolLowering::infer() {
  KnownShapes shapes = options.shapes;
  KnownTypes types = options.types;
  for (const auto &[name, constant] : options.constants) {
    types[name] = constant.type.type;
    shapes[name] = constant.type.shape;
  }
  // Only the lowering tells whether there is such a state.
  auto isRandom = [&](IndexedGraph::NodeId id) {
    return graph.node(id).name == graph::kRandomName;
  };
  if (auto given = options.shapes.find(graph::kRandomName.str());
      given != options.shapes.end() &&
      llvm::none_of(graph.inputNodes(), isRandom)) {
    randomShape = given->second;
    shapes.erase(given->first);
  }
  bool isComplete = takeKnown(shapes);
  isComplete = takeKnown(types) && isComplete;
  // What contradicts itself in one way often does in another.
  bool isOfNode = false;
  auto report = [&](IndexedGraph::NodeId id, const rt::Status &status) {
    isOfNode = true;
    isComplete = false;
    if (!isMissing[id] || graph.node(id).isVariable())
      reportNode(id, status.message());
    isMissing[id] = true;
  };
  auto goesOn = [&](const rt::Status &status) {
    bool isReported = std::exchange(isOfNode, false);
    return status.isOk() || isReported || succeeded(fail(status.message()));
  };
  if (!goesOn(network.inferTypes(types, report)) ||
      !goesOn(network.completeTypes(report)) ||
      !goesOn(network.inferShapes(shapes, context, report)))
    return mlir::failure();
  if (!isComplete)
    reportOpenShapes();
  return mlir::success(isComplete);
}

/// Leaves out, and reports, what is known of no variable.
template <typename Known> bool SymbolLowering::takeKnown(Known &known) {
  llvm::StringSet<> variables;
  for (IndexedGraph::NodeId id : graph.inputNodes())
    variables.insert(graph.node(id).name);
  bool isComplete = true;
  std::erase_if(known, [&](const auto &entry) {
    if (variables.contains(entry.first))
      return false;
    builder.fail("expected a variable of the symbol, got '" + entry.first +
                 "'; it has " + network.listVariables());
    builder.recover();
    isComplete = false;
    return true;
  });
  return isComplete;
}

void SymbolLowering::reportNode(IndexedGraph::NodeId id,
                                const llvm::Twine &message,
                                llvm::StringRef alternative) {
  const Node &node = graph.node(id);
  frontend::NodeScope faults(context, node.shownName(),
                             node.isVariable() ? "null" : node.shownOperator());
  builder.fail(message, alternative);
  builder.recover();
}

void SymbolLowering::reportOpenShape(IndexedGraph::NodeId id) {
  if (options.mayLackShapes)
    return;
  const Node &node = graph.node(id);
  builder.setLocation(locate(node));
  reportNode(id, "expected its shape to be given or to follow from others",
             "--shape " + node.name + "=...");
}

/// Of variables whose shape could follow from no node that is at fault.
void SymbolLowering::reportOpenShapes() {
  llvm::IntEqClasses parts(graph.nodeCount());
  for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id)
    for (const IndexedGraph::Use &use : graph.inputs(id))
      parts.join(id, use.node);
  parts.compress();
  llvm::BitVector isAtFault(parts.getNumClasses());
  for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id)
    if (isMissing[id])
      isAtFault.set(parts[id]);
  for (IndexedGraph::NodeId id : graph.inputNodes())
    if (!network.shape(graph.entryId(id, 0)) && !isAtFault[parts[id]])
      reportOpenShape(id);
}

LogicalResult SymbolLowering::checkRandom() {
  if (!randomShape)
    return mlir::success();
  std::string name = graph::kRandomName.str();
  if (!state.random)
    return fail("expected a variable of the symbol, got '" + name + "'");
  if (*randomShape != std::vector<int64_t>{2})
    return fail("expected a shape of (2,) for '" + name +
                "', the state of random numbers, got " +
                toText(Shape(randomShape)));
  return mlir::success();
}

/// Null where `options` have no value of the variable, or after a failure.
Value SymbolLowering::addConstant(const Node &node) {
  auto known = options.constants.find(node.name);
  if (known == options.constants.end())
    return {};
  const Constant &constant = known->second;
  builder.setLocation(locate(node));
  return builder.constant(constant.type, constant.bytes, constant.owner,
                          node.name);
}

LogicalResult SymbolLowering::addInputs(mlir::func::FuncOp main) {
  mlir::Block *body = main.addEntryBlock();
  mlir::OpBuilder &ops = builder.opBuilder();
  ops.setInsertionPointToEnd(body);
  SmallVector<mlir::Attribute> attributes;
  bool isComplete = true;
  for (auto nodes : {graph.argumentNodes(), graph.mutableNodes()})
    for (IndexedGraph::NodeId id : nodes) {
      const Node &node = graph.node(id);
      IndexedGraph::EntryId entry = graph.entryId(id, 0);
      Value constant = addConstant(node);
      if (builder.failed())
        return mlir::failure();
      if (constant && !options.keepsConstants) {
        values[entry] = constant;
        continue;
      }
      builder.setLocation(locate(node));
      if (!network.shape(entry)) {
        reportOpenShape(id);
        isComplete = false;
        continue;
      }
      values[entry] = body->addArgument(network.tensorType(context, entry),
                                        builder.location());
      mlir::NamedAttrList named = wishesOf(node);
      named.set(graph::GraphDialect::kNameAttr, ops.getStringAttr(node.name));
      if (constant) {
        named.set(graph::GraphDialect::kInitialAttr,
                  GraphBuilder::constantOf(constant));
        constant.getDefiningOp()->erase();
      }
      attributes.push_back(named.getDictionary(&context));
    }
  if (!isComplete)
    return mlir::failure();
  main.setType(ops.getFunctionType(body->getArgumentTypes(), {}));
  if (!attributes.empty())
    main.setAllArgAttrs(attributes);
  return mlir::success();
}

/// The rules of types and the lowering must say the same of a result.
static bool hasType(Value value, rt::DataType type) {
  auto element = llvm::cast<mlir::TensorType>(value.getType()).getElementType();
  return type == DLC_INVALID_TYPE
             ? element.isF32()
             : element == graph::toElementType(value.getContext(), type);
}

LogicalResult SymbolLowering::lowerOperator(IndexedGraph::NodeId id) {
  const Node &node = graph.node(id);
  builder.setLocation(locate(node));
  frontend::NodeScope faults(context, node.shownName(), node.shownOperator());
  if (failed(checkMirroring(node)))
    return mlir::failure();
  SmallVector<Value> operands;
  for (const IndexedGraph::Use &use : graph.inputs(id)) {
    if (isMissing[use.node]) {
      builder.failAgain();
      return mlir::failure();
    }
    operands.push_back(values[graph.entryId(use)]);
    if (!operands.back())
      return fail("unsupported: a read of the hidden output " +
                  graph.node(use.node).outputName(use.index));
  }
  mlir::Block *block = builder.opBuilder().getInsertionBlock();
  mlir::Operation *before = block->empty() ? nullptr : &block->back();
  if (node.outputCount() > 0)
    state.inferredShape = network.shape(graph.entryId(id, 0));
  auto [results, newOperands] = lowerNode(builder, node, operands, state);
  if (builder.failed())
    return mlir::failure();
  mlir::NamedAttrList wishes = wishesOf(node);
  for (mlir::Operation &op : llvm::reverse(*block)) {
    if (&op == before)
      break;
    if (!graph::isComputed(&op))
      continue;
    for (mlir::NamedAttribute wish : wishes)
      op.setDiscardableAttr(wish.getName(), wish.getValue());
  }
  for (uint32_t i = 0; i < results.size(); ++i) {
    IndexedGraph::EntryId entry = graph.entryId(id, i);
    if (results[i] && !hasType(results[i], network.type(entry)))
      return fail("internal: expected elements of " +
                  toText(network.type(entry)) + " in output " + llvm::Twine(i));
    values[entry] = results[i];
  }
  return updateStates(id, newOperands);
}

/// Nodes that read a state later on, and the next run, see the new value.
LogicalResult SymbolLowering::updateStates(IndexedGraph::NodeId id,
                                           llvm::ArrayRef<Value> newOperands) {
  for (auto [use, value] : llvm::zip_equal(graph.inputs(id), newOperands)) {
    if (!value)
      continue;
    if (value.getType() != values[graph.entryId(use)].getType())
      return fail("internal: expected an update of the state's type");
    values[graph.entryId(use)] = value;
  }
  return mlir::success();
}

LogicalResult SymbolLowering::lowerNodes() {
  bool isComplete = true;
  for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id) {
    if (graph.node(id).isVariable() || succeeded(lowerOperator(id)))
      continue;
    isComplete = false;
    isMissing[id] = true;
    builder.recover();
  }
  if (!isComplete)
    return mlir::failure();
  builder.setLocation(fileLocation());
  return mlir::success();
}

LogicalResult SymbolLowering::addOutputs(mlir::func::FuncOp main) {
  mlir::OpBuilder &ops = builder.opBuilder();
  SmallVector<Value> results;
  SmallVector<mlir::Attribute> attributes;
  std::unordered_set<std::string> names;
  for (auto [i, use] : llvm::enumerate(graph.outputs())) {
    std::string name = options.outputNames.empty()
                           ? graph.node(use.node).outputName(use.index)
                           : options.outputNames[i];
    results.push_back(values[graph.entryId(use)]);
    if (!results.back())
      return fail("unsupported: the hidden output " + name);
    if (!names.insert(name).second)
      return fail("expected distinct names of outputs, got '" + name +
                  "' twice");
    attributes.push_back(ops.getDictionaryAttr(
        ops.getNamedAttr("graph.name", ops.getStringAttr(name))));
  }
  mlir::func::ReturnOp::create(ops, builder.location(), results);
  main.setType(ops.getFunctionType(main.getArgumentTypes(),
                                   mlir::TypeRange(mlir::ValueRange(results))));
  if (!attributes.empty())
    main.setAllResultAttrs(attributes);
  return mlir::success();
}

/// A result for each state that has a new value; in training for each state, so
/// that nobody takes one that stays as it is for a parameter.
void SymbolLowering::addUpdates(mlir::func::FuncOp main) {
  llvm::StringMap<Value> newValues;
  for (IndexedGraph::NodeId id : graph.mutableNodes())
    newValues[graph.node(id).name] = values[graph.entryId(id, 0)];
  SmallVector<graph::Update> updates;
  for (mlir::BlockArgument argument : main.getArguments()) {
    StringAttr name =
        graph::givenName(main, argument.getArgNumber(), /*isResult=*/false);
    auto found = newValues.find(name.getValue());
    if (found != newValues.end() &&
        (state.isTraining || found->second != argument))
      updates.emplace_back(argument, found->second);
  }
  if (state.random) {
    builder.opBuilder().setInsertionPoint(
        main.getBody().front().getTerminator());
    updates.emplace_back(llvm::cast<mlir::BlockArgument>(state.random),
                         builder.add(state.random, builder.ints({0, 1})));
  }
  graph::addUpdates(main, updates);
}

void SymbolLowering::dropUnreadInputs(mlir::func::FuncOp main) {
  llvm::BitVector unread(main.getNumArguments());
  // Where constants are kept as inputs, a variable that the caller knows is an
  // input of his.
  auto isKnown = [&](mlir::BlockArgument argument) {
    std::string name =
        graph::givenName(main, argument.getArgNumber(), /*isResult=*/false)
            .str();
    return options.keepsConstants &&
           (options.shapes.contains(name) || options.constants.contains(name));
  };
  for (mlir::BlockArgument argument : main.getArguments())
    if (argument.use_empty() && !isKnown(argument))
      unread.set(argument.getArgNumber());
  (void)main.eraseArguments(unread);
}

mlir::OwningOpRef<ModuleOp> SymbolLowering::lower() {
  builder.setLocation(fileLocation());
  if (failed(infer()))
    return {};
  mlir::OwningOpRef<ModuleOp> module = ModuleOp::create(builder.location());
  mlir::OpBuilder &ops = builder.opBuilder();
  ops.setInsertionPointToEnd(module->getBody());
  auto main = mlir::func::FuncOp::create(ops, builder.location(), "main",
                                         ops.getFunctionType({}, {}));
  state.addRandom = [&] { return graph::addRandom(main); };
  if (failed(addInputs(main)) || failed(lowerNodes()) ||
      failed(checkRandom()) || failed(addOutputs(main)))
    return {};
  if (!options.dropsUpdates)
    addUpdates(main);
  (void)graph::eraseDead(main.getBody().front());
  if (options.dropsUnreadInputs)
    dropUnreadInputs(main);
  if (failed(mlir::verify(*module)))
    return {};
  return module;
}

mlir::OwningOpRef<ModuleOp>
symbol::lowerToGraph(mlir::MLIRContext &context, const Symbol &symbol,
                     const LoweringOptions &options) {
  context.loadDialect<mlir::func::FuncDialect, graph::GraphDialect>();
  if (!symbol.isOk()) {
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << symbol.status().message();
    return {};
  }
  return SymbolLowering(context, symbol, options).lower();
}
