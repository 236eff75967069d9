// SPDX-License-Identifier: Apache-2.0

#include "dlc/Frontend/MXNet/Import.h"

#include "Parameters.h"

#include "dlc/Frontend/Faults.h"
#include "dlc/Symbol/FixedGammas.h"
#include "dlc/Symbol/Json.h"
#include "dlc/Symbol/Lowering.h"
#include "dlc/dialects/Graph/Gradients.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/dialects/Graph/Training.h"
#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Base/Names.h"
#include "dlc/runtime/IO/Params.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

using namespace dlc;
using namespace dlc::mxnet;
namespace func = mlir::func;
using llvm::StringRef;
using mlir::MLIRContext;
using mlir::ModuleOp;
using mlir::NameLoc;
using mlir::OwningOpRef;
using mlir::StringAttr;
using rt::Status;
using rt::StatusCode;

/// A few bytes of a sparse array may claim any size.
static constexpr uint64_t kMaxDenseBytes = uint64_t(1) << 31;

/// The value of a variable, dense.
static Status addConstant(const std::string &name, const rt::ParamsArray &array,
                          const std::shared_ptr<rt::ParamsList> &list,
                          symbol::LoweringOptions &options) {
  if (!array.isDefined())
    return Status(StatusCode::InvalidArgument,
                  "array '" + rt::toPrintable(array.name) +
                      "': expected a value, got an array that was never given "
                      "one");
  symbol::Constant constant;
  constant.type = array.type;
  if (array.layout == rt::ParamsLayout::Dense) {
    rt::TensorView view = array.values.view();
    constant.bytes = {static_cast<const std::byte *>(view.data), view.bytes()};
    constant.owner = list;
  } else {
    rt::Result<rt::HostTensor> dense = rt::toDense(array, kMaxDenseBytes);
    if (!dense.isOk())
      return std::move(dense.status())
          .withContext("array '" + rt::toPrintable(array.name) + "'");
    auto owner = std::make_shared<rt::HostTensor>(std::move(*dense));
    rt::TensorView view = owner->view();
    constant.bytes = {static_cast<const std::byte *>(view.data), view.bytes()};
    constant.owner = std::move(owner);
  }
  options.constants.emplace(name, std::move(constant));
  return Status::ok();
}

/// Operands that networks learn, by the names that operators give them.
static bool isLearnt(StringRef operand) {
  static const std::set<StringRef> names = {
      "weight",      "bias",       "gamma",        "beta",
      "moving_mean", "moving_var", "running_mean", "parameters"};
  return names.contains(operand);
}

/// Parameters that a file of them has no values of are inputs, which few want.
static void warnOfMissing(mlir::Location location, const symbol::Symbol &symbol,
                          const symbol::LoweringOptions &known,
                          const std::vector<std::string> &leftOver) {
  symbol::IndexedGraph graph(symbol);
  std::vector<std::string_view> names;
  for (const std::string &array : leftOver)
    names.push_back(array);
  std::set<symbol::IndexedGraph::NodeId> learnt;
  for (symbol::IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id) {
    if (graph.node(id).isVariable())
      continue;
    std::vector<std::string> operands = graph.node(id).inputNames();
    for (auto [use, operand] : llvm::zip(graph.inputs(id), operands))
      if (isLearnt(operand))
        learnt.insert(use.node);
  }
  for (symbol::IndexedGraph::NodeId id : graph.inputNodes()) {
    const std::string &name = graph.node(id).name;
    if (!learnt.contains(id) || known.constants.contains(name) ||
        known.shapes.contains(name))
      continue;
    std::string_view nearest = frontend::nearestName("arg:" + name, names);
    mlir::InFlightDiagnostic warning = mlir::emitWarning(location)
                                       << "variable '" << name
                                       << "' has no value and is an input";
    if (!nearest.empty())
      warning << "; '" << rt::toPrintable(std::string(nearest))
              << "' comes nearest";
  }
}

/// Reports all that is wrong with the values of parameters.
static mlir::LogicalResult addConstants(MLIRContext &context,
                                        Parameters &parameters,
                                        const std::string &path,
                                        symbol::LoweringOptions &options) {
  for (const auto &[variable, array] : parameters.byVariable)
    if (Status status = addConstant(variable, *array, parameters.list, options);
        !status.isOk())
      parameters.faults.push_back(
          {variable, "null",
           std::move(status).withContext(llvm::sys::path::filename(path).str()),
           ""});
  for (const symbol::NodeFault &fault : parameters.faults) {
    frontend::NodeScope scope(context, fault.node, fault.op);
    mlir::emitError(mlir::UnknownLoc::get(&context)) << fault.status.message();
  }
  return mlir::success(parameters.faults.empty());
}

/// A number of a variable's attributes; nothing where it has none.
static llvm::FailureOr<std::optional<double>>
factorOf(func::FuncOp main, StringRef variable,
         const symbol::Attributes &attributes, StringRef key) {
  auto found = attributes.find(key.str());
  if (found == attributes.end())
    return std::optional<double>();
  const std::string &text = found->second;
  double factor = 0;
  if (StringRef(text).trim().getAsDouble(factor) ||
      !(factor >= 0 && std::isfinite(factor)))
    return main.emitError("variable '")
           << variable << "': expected a number of at least 0 as " << key
           << ", got '" << text << "'";
  return std::optional<double>(factor);
}

/// How variables are trained, as attributes of the arguments: what they say
/// with __init__, __lr_mult__ and __wd_mult__, and MXNet's rule for what does
/// not say it (Optimizer.set_wd_mult): only weights and gammas decay, by their
/// names.
static mlir::LogicalResult addFactors(ModuleOp module,
                                      const symbol::Symbol &symbol) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  auto attributes = symbol.allAttributes();
  mlir::Builder builder(module.getContext());
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    StringRef name = graph::givenName(main, i, /*isResult=*/false).getValue();
    const symbol::Attributes &own = attributes[name.str()];
    llvm::FailureOr<std::optional<double>> rate =
        factorOf(main, name, own, "__lr_mult__");
    llvm::FailureOr<std::optional<double>> decay =
        factorOf(main, name, own, "__wd_mult__");
    if (failed(rate) || failed(decay))
      return mlir::failure();
    bool decays = name.ends_with("_weight") || name.ends_with("_gamma");
    if (!*decay && !decays && graph::isContinuous(main.getArgumentTypes()[i]))
      *decay = 0;
    if (*rate)
      main.setArgAttr(i, graph::kRateFactorAttr,
                      builder.getF64FloatAttr(**rate));
    auto init = own.find("__init__");
    if (init != own.end() && !init->second.empty())
      main.setArgAttr(i, graph::kInitializerAttr,
                      builder.getStringAttr(init->second));
    if (*decay)
      main.setArgAttr(i, graph::kDecayFactorAttr,
                      builder.getF64FloatAttr(**decay));
  }
  return mlir::success();
}

/// MXNet writes ones to them where it trains, so they begin and stay so here.
static void fixGammas(ModuleOp module, const symbol::Symbol &symbol) {
  std::set<std::string> fixed;
  symbol::IndexedGraph graph(symbol);
  for (const symbol::FixedGamma &gamma : symbol::findFixedGammas(graph))
    fixed.insert(graph.node(gamma.variable).name);
  auto main = module.lookupSymbol<func::FuncOp>("main");
  mlir::Builder builder(module.getContext());
  for (mlir::BlockArgument argument : main.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto type = llvm::cast<mlir::RankedTensorType>(argument.getType());
    StringAttr name = graph::givenName(main, number, /*isResult=*/false);
    if (!fixed.count(name.str()) || !type.hasStaticShape())
      continue;
    main.setArgAttr(number, graph::GraphDialect::kInitialAttr,
                    graph::makeSplat(type, 1));
    main.setArgAttr(number, graph::kFixedAttr, builder.getUnitAttr());
  }
}

OwningOpRef<ModuleOp> dlc::mxnet::importSymbol(MLIRContext &context,
                                               const symbol::Symbol &symbol,
                                               StringRef name,
                                               const ImportOptions &options) {
  auto location = NameLoc::get(StringAttr::get(&context, name));
  if (!symbol.isOk()) {
    mlir::emitError(location) << symbol.status().message();
    return {};
  }
  if (options.groups)
    for (const auto &[node, attributes] : symbol.allAttributes())
      if (auto group = attributes.find(symbol::attributeName("ctx_group"));
          group != attributes.end())
        options.groups->insert(group->second);
  symbol::LoweringOptions lowering;
  lowering.file = name.str();
  lowering.keepsConstants = options.keepsParameters;
  lowering.isTraining = options.isTraining;
  lowering.dropsUnreadInputs = !options.isTraining;
  for (const auto &[variable, shape] : options.inputShapes)
    lowering.shapes[variable] = shape;
  lowering.outputNames = rt::makeDistinct(symbol.listOutputs());
  bool isGood = true;
  Status symbolFault;
  std::vector<std::string> leftOver;
  if (!options.params.empty()) {
    rt::Result<Parameters> parameters =
        readParameters(symbol, lowering.shapes, options.params, options.layers);
    isGood = parameters.isOk();
    if (!isGood) {
      mlir::emitError(mlir::UnknownLoc::get(&context))
          << parameters.status().message();
      parameters = Parameters();
    }
    symbolFault = std::move(parameters->symbolFault);
    isGood = succeeded(addConstants(context, *parameters, options.params,
                                    lowering)) &&
             symbolFault.isOk() && isGood;
    if (!parameters->note.empty())
      mlir::emitWarning(location) << parameters->note;
    leftOver = parameters->leftOver;
    for (const std::string &array : leftOver)
      if (symbolFault.isOk())
        mlir::emitWarning(location)
            << "array '" << rt::toPrintable(array)
            << "' belongs to no variable and is left out";
  }
  // Goes on behind faults, to find them all.
  OwningOpRef<ModuleOp> module =
      symbol::lowerToGraph(context, symbol, lowering);
  if (module && isGood && !options.params.empty())
    warnOfMissing(location, symbol, lowering, leftOver);
  if (module && !symbolFault.isOk())
    mlir::emitError(location) << symbolFault.message();
  if (!isGood)
    return {};
  if (!module || !options.isTraining)
    return module;
  if (failed(addFactors(*module, symbol)))
    return {};
  fixGammas(*module, symbol);
  return module;
}

/// Reports what is wrong with the part of a network that depends on nothing
/// that is at fault already, and with what the user says of all. What is
/// missing because other nodes would tell it is no fault.
static void reportRest(MLIRContext &context, const symbol::FileFaults &faults,
                       StringRef name, const ImportOptions &options) {
  symbol::LoweringOptions lowering;
  lowering.file = name.str();
  lowering.isTraining = options.isTraining;
  lowering.outputNames = rt::makeDistinct(faults.rest.listOutputs());
  lowering.mayLackShapes = true;
  std::vector<std::string> ours = faults.rest.listInputs();
  std::set<std::string> inRest(ours.begin(), ours.end());
  std::set<std::string> inFile(faults.variables.begin(),
                               faults.variables.end());
  auto location = NameLoc::get(StringAttr::get(&context, name));
  for (const auto &[variable, shape] : options.inputShapes)
    if (inRest.contains(variable))
      lowering.shapes[variable] = shape;
    else if (!inFile.contains(variable))
      mlir::emitError(location)
          << "expected a variable of the symbol, got '" << variable
          << "'; it has " << rt::listSome(faults.variables);
  rt::Result<Parameters> parameters =
      options.params.empty() ? Parameters()
                             : readNamedParameters(faults.rest, options.params);
  if (!parameters.isOk())
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << parameters.status().message();
  else
    (void)addConstants(context, *parameters, options.params, lowering);
  (void)symbol::lowerToGraph(context, faults.rest, lowering);
}

OwningOpRef<ModuleOp>
dlc::mxnet::importSymbolFile(MLIRContext &context, StringRef path,
                             const ImportOptions &options) {
  StringRef name = llvm::sys::path::filename(path);
  auto location = NameLoc::get(StringAttr::get(&context, name));
  rt::Result<rt::MappedFile> file = rt::MappedFile::open(path.str());
  if (!file.isOk()) {
    // The location names the file.
    StringRef message = file.status().message();
    message.consume_front((path + ": ").str());
    mlir::emitError(NameLoc::get(StringAttr::get(&context, path))) << message;
    return {};
  }
  std::span<const std::byte> bytes = file->bytes();
  symbol::FileFaults faults;
  rt::Result<symbol::Symbol> symbol = symbol::fromJson(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()}, &faults);
  for (const symbol::NodeFault &fault : faults.nodes) {
    std::optional<frontend::NodeScope> scope;
    if (!fault.node.empty() || !fault.op.empty())
      scope.emplace(context, fault.node, fault.op);
    mlir::InFlightDiagnostic error = mlir::emitError(location)
                                     << fault.status.message();
    frontend::addAlternative(error, fault.alternative);
  }
  if (!symbol.isOk()) {
    if (faults.nodes.empty())
      mlir::emitError(location) << symbol.status().message();
    else
      reportRest(context, faults, name, options);
    return {};
  }
  return importSymbol(context, *symbol, name, options);
}
