// SPDX-License-Identifier: Apache-2.0

#include "NetworkTypes.h"

#include "Bodies.h"
#include "LoweringContext.h"

#include "dlc/dialects/Graph/OperandTypes.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/runtime/Base/Names.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::SmallVector;
using mlir::Value;
using rt::Status;
using rt::StatusCode;

using VariableNames = std::unordered_set<std::string_view>;

/// Takes the failures of all nodes where somebody wants to know them, and gives
/// the first.
namespace {
class Failures {
public:
  explicit Failures(NetworkTypes::Report report) : report(report) {}

  /// Whether to go on.
  bool take(IndexedGraph::NodeId node, Status status) {
    if (status.isOk())
      return true;
    if (report)
      report(node, status);
    if (first.isOk())
      first = std::move(status);
    return bool(report);
  }

  Status first;

private:
  NetworkTypes::Report report;
};
} // namespace

/// The names of all variables; a failure when two share one.
static bool collectVariables(const IndexedGraph &graph, VariableNames &names,
                             Failures &failures) {
  VariableNames twice;
  for (IndexedGraph::NodeId id : graph.inputNodes()) {
    const std::string &name = graph.node(id).name;
    if (names.insert(name).second || !twice.insert(name).second)
      continue;
    if (!failures.take(id, Status(StatusCode::InvalidArgument,
                                  "expected distinct names of variables, got "
                                  "'" +
                                      name + "' twice")))
      return false;
  }
  return true;
}

std::string NetworkTypes::listVariables() const {
  std::vector<std::string> names;
  for (IndexedGraph::NodeId id : graph.inputNodes())
    names.push_back(graph.node(id).name);
  return rt::listSome(names);
}

/// Every name in `known` is that of a variable.
template <typename Known>
Status NetworkTypes::checkNames(const Known &known) const {
  for (const auto &[name, fact] : known)
    if (!variables.contains(name))
      return Status(StatusCode::InvalidArgument,
                    "expected a variable of the symbol, got '" + name +
                        "'; it has " + listVariables());
  return Status::ok();
}

//===-- Element types -----------------------------------------------------===//

/// `__dtype__` is a number.
static Status typeOfVariable(const Node &node, rt::DataType &type) {
  auto text = node.attributes.find("__dtype__");
  if (text == node.attributes.end())
    return Status::ok();
  Parameter number = required("__dtype__", ParameterKind::Int, "");
  rt::Result<ParameterValue> value = parseValue(number, text->second);
  if (value.isOk())
    type = typeOfNumber(std::get<int64_t>(*value));
  // -1: whatever it will be.
  if (type != DLC_INVALID_TYPE || text->second == "-1")
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                node.describe() +
                    ": attribute '__dtype__': expected the number of an "
                    "element type, got '" +
                    text->second + "'");
}

Status NetworkTypes::inferTypes(const KnownTypes &known, Report report) {
  for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id)
    DLC_RETURN_IF_ERROR(graph.node(id).checkApplied());
  Failures failures(report);
  if (!collectVariables(graph, variables, failures))
    return std::move(failures.first);
  DLC_RETURN_IF_ERROR(checkNames(known));
  auto start = [&](IndexedGraph::NodeId id) {
    rt::DataType declared = DLC_INVALID_TYPE;
    DLC_RETURN_IF_ERROR(typeOfVariable(graph.node(id), declared));
    DLC_RETURN_IF_ERROR(types.start(id, declared));
    if (auto given = known.find(graph.node(id).name); given != known.end())
      DLC_RETURN_IF_ERROR(types.start(id, given->second));
    return Status::ok();
  };
  for (IndexedGraph::NodeId id : graph.inputNodes())
    if (!failures.take(id, start(id)))
      return std::move(failures.first);
  Status status = relateTypes(report);
  return failures.first.isOk() ? std::move(status) : std::move(failures.first);
}

Status NetworkTypes::completeTypes(Report report) {
  for (IndexedGraph::NodeId id : graph.inputNodes())
    if (type(graph.entryId(id, 0)) == DLC_INVALID_TYPE)
      DLC_RETURN_IF_ERROR(types.start(id, DLC_F32));
  return relateTypes(report);
}

Status NetworkTypes::relateTypes(Report report) {
  auto relate = [&](IndexedGraph::NodeId id, TypeRelation &relation) {
    if (auto *relateNode = graph.node(id).op->relateTypes)
      relateNode(relation);
    else if (auto *relateNode = graph.node(id).op->relateNodeTypes)
      relateNode(graph.node(id), relation);
    else if (graph.node(id).op->bodyCount > 0)
      relateBodyTypes(graph.node(id), relation);
    else
      relation.equateAll();
  };
  return types.run(relate, report);
}

//===-- Shapes ------------------------------------------------------------===//

/// `__shape__`, in which 0 and -1 are unknown dimensions and () an unknown
/// rank.
static Status shapeOfVariable(const Node &node, Shape &shape) {
  auto text = node.attributes.find("__shape__");
  if (text == node.attributes.end() || text->second == "None")
    return Status::ok();
  Parameter dims = required("__shape__", ParameterKind::Ints, "").atLeast(-1);
  rt::Result<ParameterValue> value = parseValue(dims, text->second);
  if (!value.isOk())
    return std::move(value.status())
        .withContext(node.describe() + ": attribute '__shape__'");
  auto &read = std::get<std::vector<int64_t>>(*value);
  for (int64_t &dim : read)
    dim = dim == 0 ? rt::kUnknownDim : dim;
  if (!read.empty())
    shape = std::move(read);
  return Status::ok();
}

/// No shape that leaves 64 bits or DLC's ranks behind is believed.
static Status checkShape(const Shape &shape) {
  if (!shape)
    return Status::ok();
  auto bad = [&](const std::string &expected) {
    return Status(StatusCode::InvalidArgument,
                  "expected " + expected + ", got " + toText(shape));
  };
  if (shape->size() > DLC_MAX_RANK)
    return bad("at most " + std::to_string(DLC_MAX_RANK) + " dimensions");
  int64_t bytes = 16; // More than any element takes.
  for (int64_t dim : *shape) {
    if (dim < rt::kUnknownDim)
      return bad("dimensions of at least 0");
    if (dim > 1 && __builtin_mul_overflow(bytes, dim, &bytes))
      return bad("a size within 64 bits");
  }
  return Status::ok();
}

/// Results out of operands: lowers nodes into a block that is thrown away.
class NetworkTypes::Forward {
public:
  Forward(NetworkTypes &network, mlir::MLIRContext &context)
      : network(network), context(context),
        wasStatic(network.graph.nodeCount(), false) {}

  void operator()(IndexedGraph::NodeId id, ShapeRelation &relation);

private:
  SmallVector<Value> makeOperands(IndexedGraph::NodeId id,
                                  const ShapeRelation &relation,
                                  rt::DataType standIn);
  SmallVector<Value> build(const Node &node, llvm::ArrayRef<Value> operands,
                           const Shape &inferred, size_t &bodyNodes);
  void inferBackward(mlir::Operation *before, llvm::ArrayRef<Value> operands,
                     llvm::ArrayRef<Value> results, ShapeRelation &relation);

  NetworkTypes &network;
  mlir::MLIRContext &context;
  mlir::Block block;
  std::vector<bool> wasStatic; ///< Nothing new can come of the node.
};

/// A tensor of `shape` of the elements that `type`, a tensor or an element
/// type, has.
static mlir::Type withShape(mlir::Type type, const Shape &shape) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  if (!shape)
    return mlir::UnrankedTensorType::get(element);
  SmallVector<int64_t> dims(shape->begin(), shape->end());
  for (int64_t &dim : dims)
    if (dim == rt::kUnknownDim)
      dim = mlir::ShapedType::kDynamic;
  return mlir::RankedTensorType::get(dims, element);
}

static mlir::Type makeTensorType(mlir::MLIRContext &context, const Shape &shape,
                                 rt::DataType type) {
  return withShape(
      graph::toElementType(&context, type == DLC_INVALID_TYPE ? DLC_F32 : type),
      shape);
}

mlir::Type NetworkTypes::tensorType(mlir::MLIRContext &context,
                                    IndexedGraph::EntryId entry) const {
  return makeTensorType(context, shape(entry), type(entry));
}

static Shape shapeOf(Value value) {
  auto type = llvm::cast<mlir::TensorType>(value.getType());
  if (!type.hasRank())
    return std::nullopt;
  std::vector<int64_t> dims;
  for (int64_t dim : type.getShape())
    dims.push_back(mlir::ShapedType::isDynamic(dim) ? rt::kUnknownDim : dim);
  return dims;
}

/// What Graph operations say of themselves is of no use to who wrote the node:
/// the same without their name, and what the node's operands are.
static std::string ofNode(llvm::StringRef message, const Node &node,
                          const ShapeRelation &relation) {
  if (message.starts_with("'graph."))
    message = message.split("' op ").second;
  std::string text = message.str(), names;
  if (message.starts_with("unsupported: "))
    return text;
  std::vector<std::string> inputs = node.inputNames();
  for (size_t i = 0; i < relation.inputCount(); ++i)
    names +=
        (i ? ", '" : "'") + inputs[i] + "' of " + toText(relation.input(i));
  return names.empty() ? text : text + ", for " + names;
}

/// Operands of what is known of them, elements of an unknown type of `standIn`.
SmallVector<Value>
NetworkTypes::Forward::makeOperands(IndexedGraph::NodeId id,
                                    const ShapeRelation &relation,
                                    rt::DataType standIn) {
  SmallVector<Value> operands;
  for (size_t i = 0; i < relation.inputCount(); ++i) {
    rt::DataType type =
        network.type(network.graph.entryId(network.graph.inputs(id)[i]));
    operands.push_back(block.addArgument(
        makeTensorType(context, relation.input(i),
                       type == DLC_INVALID_TYPE ? standIn : type),
        mlir::UnknownLoc::get(&context)));
  }
  return operands;
}

/// The node's results, or none, and how many nodes its bodies have.
SmallVector<Value> NetworkTypes::Forward::build(const Node &node,
                                                llvm::ArrayRef<Value> operands,
                                                const Shape &inferred,
                                                size_t &bodyNodes) {
  mlir::OpBuilder builder(&context);
  builder.setInsertionPointToEnd(&block);
  GraphBuilder b(builder);
  // Types do not depend on the mode: that of inference has less to build.
  NetworkState state;
  state.addRandom = [&]() -> Value {
    auto type = mlir::RankedTensorType::get({2}, builder.getI64Type());
    return block.addArgument(type, builder.getUnknownLoc());
  };
  state.inferredShape = inferred;
  SmallVector<Value> results = lowerNode(b, node, operands, state).results;
  bodyNodes = state.bodyNodes;
  return results;
}

/// For elements that nobody knows the type of: operators take all, floats,
/// integers, or bytes of one kind.
static constexpr rt::DataType kStandIns[] = {DLC_F32, DLC_I32, DLC_I8, DLC_U8,
                                             DLC_BOOL};

void NetworkTypes::Forward::operator()(IndexedGraph::NodeId id,
                                       ShapeRelation &relation) {
  if (wasStatic[id] || relation.failed())
    return;
  const Node &node = network.graph.node(id);
  const Shape inferred =
      relation.outputCount() > 0 ? relation.output(0) : std::nullopt;
  // What nothing but its readers tells the shape of.
  if (relation.inputCount() == 0 && node.op->relateShapes &&
      !isStatic(inferred))
    return;
  bool allStatic = true, isTyped = true;
  for (size_t i = 0; i < relation.inputCount(); ++i) {
    const Shape &shape = relation.input(i);
    if (!shape)
      return;
    if (Status status = checkShape(shape); !status.isOk())
      return relation.fail(status.message());
    allStatic &= isStatic(shape);
    isTyped &=
        network.type(network.graph.entryId(network.graph.inputs(id)[i])) !=
        DLC_INVALID_TYPE;
  }
  wasStatic[id] = allStatic;
  std::string message;
  mlir::ScopedDiagnosticHandler collect(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          if (message.empty())
                                            message = diagnostic.str();
                                          return mlir::success();
                                        });
  mlir::Operation *before = block.empty() ? nullptr : &block.back();
  SmallVector<Value> operands, results;
  size_t bodyNodes = 0;
  for (rt::DataType standIn : kStandIns) {
    operands = makeOperands(id, relation, standIn);
    results = build(node, operands, inferred, bodyNodes);
    if (!results.empty() || isTyped)
      break;
  }
  network.addBodyNodes(bodyNodes);
  // With open dimensions a lowering may not know what to build: no
  // contradiction yet, and there will be one if they close to what is wrong.
  if (results.empty() && allStatic)
    return relation.fail(ofNode(message, node, relation));
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i])
      continue;
    Shape shape = shapeOf(results[i]);
    if (Status status = checkShape(shape); !status.isOk())
      return relation.fail(status.message());
    relation.setOutput(i, shape);
  }
  if (!allStatic && !relation.failed())
    inferBackward(before, operands, results, relation);
}

/// Operands out of results, as the operations behind `before` (all, if null),
/// which the node became, demand it.
void NetworkTypes::Forward::inferBackward(mlir::Operation *before,
                                          llvm::ArrayRef<Value> operands,
                                          llvm::ArrayRef<Value> results,
                                          ShapeRelation &relation) {
  for (size_t i = 0; i < results.size(); ++i)
    if (Value result = results[i]; result && relation.output(i))
      result.setType(withShape(result.getType(), relation.output(i)));
  for (mlir::Operation &op : llvm::reverse(block)) {
    if (&op == before)
      break;
    graph::refineOperands(&op, [](Value) { return true; });
  }
  for (size_t i = 0; i < operands.size(); ++i)
    relation.setInput(i, shapeOf(operands[i]));
}

Status NetworkTypes::inferShapes(const KnownShapes &known,
                                 mlir::MLIRContext &context, Report report) {
  DLC_RETURN_IF_ERROR(checkNames(known));
  auto start = [&](IndexedGraph::NodeId id) {
    Shape declared;
    DLC_RETURN_IF_ERROR(shapeOfVariable(graph.node(id), declared));
    DLC_RETURN_IF_ERROR(
        checkShape(declared).withContext(graph.node(id).describe()));
    DLC_RETURN_IF_ERROR(shapes.start(id, declared));
    if (auto given = known.find(graph.node(id).name); given != known.end()) {
      DLC_RETURN_IF_ERROR(
          checkShape(given->second).withContext(graph.node(id).describe()));
      DLC_RETURN_IF_ERROR(shapes.start(id, given->second));
    }
    return Status::ok();
  };
  Failures failures(report);
  for (IndexedGraph::NodeId id : graph.inputNodes())
    if (!failures.take(id, start(id)))
      return std::move(failures.first);
  Forward forward(*this, context);
  auto relateShapes = [&](IndexedGraph::NodeId id, ShapeRelation &relation) {
    if (auto *relate = graph.node(id).op->relateShapes)
      relate(relation);
    if (graph.node(id).op->bodyCount > 0) {
      if (loweredBodyNodes > kMaxInferredBodyNodes)
        return relation.fail("unsupported: loops of more than " +
                             std::to_string(kMaxInferredBodyNodes) +
                             " nodes in a network when they are written down "
                             "step by step");
      addBodyNodes(relateBodyShapes(graph.node(id), relation, context,
                                    loweredBodyNodes));
    }
    forward(id, relation);
  };
  Status status = shapes.run(relateShapes, report);
  return failures.first.isOk() ? std::move(status) : std::move(failures.first);
}
