// SPDX-License-Identifier: Apache-2.0
//
// A symbol as a network: each request of an executor becomes a lowering of the
// symbol, the gradient of that where it has one, and a compilation.

#include "dlc/Compiler/Compiler.h"
#include "dlc/Executor/Executor.h"
#include "dlc/Symbol/FixedGammas.h"
#include "dlc/Symbol/Inference.h"
#include "dlc/Symbol/Lowering.h"

#include <algorithm>
#include <set>

using namespace dlc;
using pipeline::GradientOptions;
using rt::NetworkProgram;
using rt::NetworkTypes;
using rt::PortRole;
using rt::ProgramForm;
using rt::ProgramRequest;
using rt::Result;
using rt::Status;
using rt::StatusCode;
using rt::TensorType;
using symbol::Symbol;

namespace {
class SymbolNetwork final : public rt::Network {
public:
  SymbolNetwork(Symbol symbol, const NetworkOptions &options)
      : options(options), symbol(std::move(symbol)),
        internals(findInternals(this->symbol)),
        argumentNames(this->symbol.listArguments()),
        stateNames(this->symbol.listAuxiliaryStates()),
        outputNames(this->symbol.listOutputs()) {
    if (isPlaced())
      findContexts();
  }

  const std::vector<std::string> &arguments() const override {
    return argumentNames;
  }
  const std::vector<std::string> &auxiliaryStates() const override {
    return stateNames;
  }
  const std::vector<std::string> &outputs() const override {
    return outputNames;
  }

  Result<NetworkTypes> infer(const rt::KnownVariables &known) const override;
  Status check(const ProgramRequest &request) const override;
  Result<NetworkProgram> compile(const ProgramRequest &request) const override;
  std::vector<size_t>
  fixedArguments(std::span<const rt::GradientRequest> requests) const override;
  bool isPlaced() const override { return !options.groups.empty(); }
  std::optional<rt::Context> groupContext(PortRole role,
                                          size_t index) const override {
    auto found = contexts.find({role, index});
    return found == contexts.end() ? std::nullopt
                                   : std::optional(found->second);
  }
  std::string describe() const override { return symbol.print(); }

private:
  static Symbol findInternals(const Symbol &symbol);
  void findContexts();
  /// What a program computes.
  const Symbol &computed(const ProgramRequest &request) const {
    return isOfInternals(request.form) ? internals : symbol;
  }
  symbol::LoweringOptions loweringOf(const ProgramRequest &request) const;
  GradientOptions gradientOf(const ProgramRequest &request) const;
  CompileOptions optionsOf(const ProgramRequest &request) const;
  Status import(Compilation &compilation, const ProgramRequest &request) const;
  void addPorts(const ProgramRequest &request, const Compilation &compilation,
                NetworkProgram &program) const;

  NetworkOptions options;
  Symbol symbol, internals;
  std::vector<std::string> argumentNames, stateNames, outputNames;
  /// Of variables and outputs in groups that have one.
  std::map<std::pair<PortRole, size_t>, rt::Context> contexts;
};
} // namespace

/// All outputs of nodes that compute something.
Symbol SymbolNetwork::findInternals(const Symbol &symbol) {
  std::vector<symbol::Entry> entries = symbol.internals().outputs();
  std::erase_if(entries, [](const symbol::Entry &entry) {
    return entry.node->isVariable();
  });
  return Symbol(std::move(entries));
}

void SymbolNetwork::findContexts() {
  auto add = [&](PortRole role, size_t index, const symbol::Node &node) {
    auto group = node.attributes.find(symbol::attributeName("ctx_group"));
    if (group == node.attributes.end())
      return;
    if (auto found = options.groups.find(group->second);
        found != options.groups.end())
      contexts[{role, index}] = found->second;
  };
  symbol::IndexedGraph graph(symbol);
  for (size_t i = 0; i != graph.argumentNodes().size(); ++i)
    add(PortRole::Argument, i, graph.node(graph.argumentNodes()[i]));
  for (size_t i = 0; i != graph.mutableNodes().size(); ++i)
    add(PortRole::AuxiliaryState, i, graph.node(graph.mutableNodes()[i]));
  for (size_t i = 0; i != graph.outputs().size(); ++i)
    add(PortRole::Output, i, graph.node(graph.outputs()[i].node));
}

static bool isTraining(const ProgramRequest &request) {
  return request.form != ProgramForm::Inference &&
         request.form != ProgramForm::Internals;
}

static bool hasGradients(const ProgramRequest &request) {
  return isTraining(request) && !isOfInternals(request.form) &&
         std::ranges::any_of(request.gradients, [](rt::GradientRequest each) {
           return each != rt::GradientRequest::Null;
         });
}

/// MXNet's normalisation writes a gamma that it fixes if its gradient is part
/// of the graph: where it depends on what has one.
std::vector<size_t> SymbolNetwork::fixedArguments(
    std::span<const rt::GradientRequest> requests) const {
  symbol::IndexedGraph graph(symbol);
  std::vector<symbol::FixedGamma> gammas = symbol::findFixedGammas(graph);
  if (gammas.empty())
    return {};
  std::vector<bool> isVaried(graph.nodeCount());
  std::map<symbol::IndexedGraph::NodeId, size_t> numbers;
  for (size_t i = 0; i != graph.argumentNodes().size(); ++i) {
    symbol::IndexedGraph::NodeId node = graph.argumentNodes()[i];
    isVaried[node] = requests[i] != rt::GradientRequest::Null;
    numbers[node] = i;
  }
  for (symbol::IndexedGraph::NodeId node = 0; node != graph.nodeCount(); ++node)
    for (const symbol::IndexedGraph::Use &use : graph.inputs(node))
      if (isVaried[use.node])
        isVaried[node] = true;
  std::vector<size_t> arguments;
  for (const symbol::FixedGamma &gamma : gammas)
    if (std::ranges::any_of(gamma.readers,
                            [&](auto node) { return isVaried[node]; }))
      arguments.push_back(numbers.at(gamma.variable));
  return arguments;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Result<NetworkTypes>
SymbolNetwork::infer(const rt::KnownVariables &known) const {
  symbol::KnownShapes shapes(known.shapes.begin(), known.shapes.end());
  symbol::KnownTypes types(known.types.begin(), known.types.end());
  auto inferredShapes =
      symbol::inferShapes(symbol, shapes, symbol::Completeness::Full, types);
  if (!inferredShapes.isOk())
    return std::move(inferredShapes.status());
  auto inferredTypes =
      symbol::inferTypes(symbol, types, symbol::Completeness::Partial);
  if (!inferredTypes.isOk())
    return std::move(inferredTypes.status());
  // Of what nothing is said, elements are of f32.
  auto join = [](const std::vector<symbol::Shape> &shapes,
                 const std::vector<rt::DataType> &types) {
    std::vector<TensorType> joined;
    for (size_t i = 0; i < shapes.size(); ++i)
      joined.push_back(
          {types[i] == DLC_INVALID_TYPE ? DLC_F32 : types[i], *shapes[i]});
    return joined;
  };
  return NetworkTypes{
      join(inferredShapes->arguments, inferredTypes->arguments),
      join(inferredShapes->auxiliaryStates, inferredTypes->auxiliaryStates),
      join(inferredShapes->outputs, inferredTypes->outputs)};
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// Outputs of a program need distinct names, those of nodes may be alike:
/// behind the first, they are numbered.
static std::vector<std::string> programNames(std::vector<std::string> names) {
  std::set<std::string> known(names.begin(), names.end()), seen;
  for (std::string &name : names) {
    if (seen.insert(name).second)
      continue;
    std::string first = name;
    for (int count = 2; !known.insert(name).second; ++count)
      name = first + " " + std::to_string(count);
  }
  return names;
}

symbol::LoweringOptions
SymbolNetwork::loweringOf(const ProgramRequest &request) const {
  symbol::LoweringOptions lowering;
  lowering.file = options.name;
  lowering.isTraining = isTraining(request);
  // The run that follows updates, and draws the same random numbers.
  lowering.dropsUpdates = isOfInternals(request.form);
  lowering.outputNames = programNames(computed(request).listOutputs());
  auto add = [&](const std::vector<std::string> &names,
                 const std::vector<TensorType> &types) {
    for (size_t i = 0; i < names.size(); ++i) {
      lowering.shapes[names[i]] = types[i].shape;
      lowering.types[names[i]] = types[i].type;
    }
  };
  add(argumentNames, request.arguments);
  add(stateNames, request.auxiliaryStates);
  return lowering;
}

GradientOptions SymbolNetwork::gradientOf(const ProgramRequest &request) const {
  GradientOptions gradient;
  for (size_t i = 0; i < argumentNames.size(); ++i) {
    if (request.gradients[i] == rt::GradientRequest::Null)
      continue;
    gradient.wrt.push_back(argumentNames[i]);
    if (request.gradients[i] == rt::GradientRequest::Add)
      gradient.add.push_back(argumentNames[i]);
  }
  gradient.part =
      request.form == ProgramForm::Forward    ? GradientOptions::Part::Forward
      : request.form == ProgramForm::Backward ? GradientOptions::Part::Backward
                                              : GradientOptions::Part::Whole;
  return gradient;
}

CompileOptions SymbolNetwork::optionsOf(const ProgramRequest &request) const {
  CompileOptions compile;
  compile.target = options.target;
  compile.threads = options.threads;
  for (const auto &[group, context] : options.groups)
    compile.groups[group] = rt::toString(context);
  compile.memoryBudget = request.memoryBudget;
  if (hasGradients(request))
    compile.gradient = gradientOf(request);
  return compile;
}

/// The first error of a compilation that failed, as a status.
static Status failureOf(const Compilation &compilation) {
  llvm::StringRef text = compilation.messages();
  size_t at = text.starts_with("error: ") ? 0 : text.find("\nerror: ");
  if (at == llvm::StringRef::npos)
    return Status(StatusCode::Internal, "a compilation failed without a word");
  text = text.drop_front(at).ltrim("\n");
  text.consume_front("error: ");
  return Status(compilation.isUnsupported() ? StatusCode::Unsupported
                                            : StatusCode::InvalidArgument,
                text.rtrim().str());
}

Status SymbolNetwork::import(Compilation &compilation,
                             const ProgramRequest &request) const {
  if (failed(compilation.import(computed(request), loweringOf(request))))
    return failureOf(compilation);
  return Status::ok();
}

Status SymbolNetwork::check(const ProgramRequest &request) const {
  Compilation compilation(optionsOf(request));
  DLC_RETURN_IF_ERROR(import(compilation, request));
  if (failed(compilation.runTo(Phase::Placed)))
    return failureOf(compilation);
  return Status::ok();
}

void SymbolNetwork::addPorts(const ProgramRequest &request,
                             const Compilation &compilation,
                             NetworkProgram &program) const {
  auto add = [](std::vector<rt::PortUse> &ports, PortRole role, size_t index) {
    ports.push_back({role, static_cast<uint32_t>(index)});
  };
  for (size_t i = 0; i < argumentNames.size(); ++i)
    add(program.inputs, PortRole::Argument, i);
  for (size_t i = 0; i < stateNames.size(); ++i)
    add(program.inputs, PortRole::AuxiliaryState, i);
  size_t states = argumentNames.size() + stateNames.size();
  for (size_t i = states; i < compilation.inputs().size(); ++i)
    add(program.inputs, PortRole::Random, 0);
  bool isBackward = request.form == ProgramForm::Backward;
  std::vector<ModelPort> outputs = compilation.outputs();
  for (size_t i = 0; i < outputs.size() && !isBackward; ++i)
    add(program.outputs,
        isOfInternals(request.form) ? PortRole::Internal : PortRole::Output, i);
  if (isOfInternals(request.form))
    program.internals = internals.listOutputs();
  if (!hasGradients(request) || request.form == ProgramForm::Forward)
    return;
  for (size_t i = 0; i < outputNames.size(); ++i)
    if (rt::isFloat(outputs[i].type.type))
      add(program.inputs, PortRole::HeadGradient, i);
  for (size_t i = 0; i < argumentNames.size(); ++i) {
    if (request.gradients[i] == rt::GradientRequest::Add)
      add(program.inputs, PortRole::Gradient, i);
    if (request.gradients[i] != rt::GradientRequest::Null)
      add(program.outputs, PortRole::Gradient, i);
  }
}

Result<NetworkProgram>
SymbolNetwork::compile(const ProgramRequest &request) const {
  Compilation compilation(optionsOf(request));
  DLC_RETURN_IF_ERROR(import(compilation, request));
  llvm::FailureOr<rt::AlignedBuffer> bytes = compilation.toMemory();
  if (failed(bytes))
    return failureOf(compilation);
  NetworkProgram program;
  program.bytes = std::move(*bytes);
  addPorts(request, compilation, program);
  return program;
}

//===----------------------------------------------------------------------===//
// Making networks
//===----------------------------------------------------------------------===//

static Status checkDistinct(const std::vector<std::string> &variables) {
  std::set<std::string_view> known;
  for (const std::string &name : variables)
    if (!known.insert(name).second)
      return Status(StatusCode::InvalidArgument,
                    "expected distinct names of variables, got '" + name +
                        "' twice");
  return Status::ok();
}

/// Where groups have devices, each has one.
static Status checkGroups(const Symbol &symbol, const NetworkOptions &options) {
  if (options.groups.empty())
    return Status::ok();
  std::string known;
  for (const auto &[group, device] : options.groups)
    known += (known.empty() ? "" : ", ") + group;
  for (const std::shared_ptr<symbol::Node> &node : symbol.nodes()) {
    auto group = node->attributes.find(symbol::attributeName("ctx_group"));
    if (group != node->attributes.end() &&
        !options.groups.contains(group->second))
      return Status(StatusCode::InvalidArgument,
                    "node '" + node->name + "': expected a device of group '" +
                        group->second + "', got those of " + known);
  }
  return Status::ok();
}

Result<std::shared_ptr<const rt::Network>>
dlc::makeNetwork(const Symbol &given, const NetworkOptions &options) {
  Symbol symbol = given.copy();
  if (!symbol.isOk())
    return symbol.status();
  if (symbol.size() == 0)
    return Status(StatusCode::InvalidArgument,
                  "expected a symbol with outputs, got an empty group");
  if (std::string wrong = checkTarget(options.target); !wrong.empty())
    return Status(StatusCode::InvalidArgument, wrong);
  for (const std::shared_ptr<symbol::Node> &node : symbol.nodes())
    DLC_RETURN_IF_ERROR(node->checkApplied());
  DLC_RETURN_IF_ERROR(checkGroups(symbol, options));
  DLC_RETURN_IF_ERROR(checkDistinct(symbol.listInputs()));
  return std::shared_ptr<const rt::Network>(
      std::make_shared<SymbolNetwork>(std::move(symbol), options));
}
