// SPDX-License-Identifier: Apache-2.0

#include "dlc/Frontend/MXNet/Import.h"

#include "dlc/Frontend/Faults.h"
#include "dlc/Symbol/FixedGammas.h"
#include "dlc/Symbol/Json.h"
#include "dlc/Symbol/Lowering.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/dialects/Graph/Training.h"
#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/IO/Params.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace dlc;
using namespace dlc::mxnet;
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

namespace {
/// Finds the variables that the arrays of a file are the values of.
class ParameterReader {
public:
  ParameterReader(const symbol::Symbol &symbol,
                  symbol::LoweringOptions &options)
      : arguments(symbol.listArguments()), states(symbol.listAuxiliaryStates()),
        options(options) {}

  Status read(const std::string &path);
  /// Names of arrays that are of no variable.
  std::vector<std::string> leftOver;

private:
  Status add(const rt::ParamsArray &array);
  Status addConstant(const std::string &name, const rt::ParamsArray &array);

  std::vector<std::string> arguments, states;
  symbol::LoweringOptions &options;
  std::shared_ptr<rt::ParamsList> list;
};
} // namespace

static bool contains(const std::vector<std::string> &names,
                     const std::string &name) {
  return std::ranges::find(names, name) != names.end();
}

Status ParameterReader::addConstant(const std::string &name,
                                    const rt::ParamsArray &array) {
  auto bad = [&](const std::string &message) {
    return Status(StatusCode::InvalidArgument,
                  "array '" + array.name + "': " + message);
  };
  if (!array.isDefined())
    return bad("expected a value, got an array that was never given one");
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
          .withContext("array '" + array.name + "'");
    auto owner = std::make_shared<rt::HostTensor>(std::move(*dense));
    rt::TensorView view = owner->view();
    constant.bytes = {static_cast<const std::byte *>(view.data), view.bytes()};
    constant.owner = std::move(owner);
  }
  if (!options.constants.emplace(name, std::move(constant)).second)
    return bad("expected one value of variable '" + name + "', got two");
  return Status::ok();
}

/// "arg:fc_weight", "aux:bn_moving_mean", or the name alone.
Status ParameterReader::add(const rt::ParamsArray &array) {
  StringRef name = array.name;
  bool isArgument = name.consume_front("arg:");
  bool isState = !isArgument && name.consume_front("aux:");
  std::string variable = name.str();
  bool hasArgument = contains(arguments, variable);
  if (!hasArgument && !contains(states, variable)) {
    leftOver.push_back(array.name);
    return Status::ok();
  }
  if (hasArgument ? isState : isArgument)
    return Status(StatusCode::InvalidArgument,
                  "expected '" + std::string(hasArgument ? "arg:" : "aux:") +
                      variable + "', got '" + array.name + "'");
  return addConstant(variable, array);
}

Status ParameterReader::read(const std::string &path) {
  rt::Result<rt::ParamsList> file = rt::readParams(path);
  if (!file.isOk())
    return std::move(file.status());
  auto fail = [&](Status status) {
    return std::move(status).withContext(llvm::sys::path::filename(path).str());
  };
  list = std::make_shared<rt::ParamsList>(std::move(*file));
  if (!list->isNamed && !list->arrays.empty())
    return fail(Status(StatusCode::InvalidArgument,
                       "expected arrays with names, got a list without"));
  for (const rt::ParamsArray &array : list->arrays)
    if (Status status = add(array); !status.isOk())
      return fail(std::move(status));
  // Parameters that blocks saved have names by structure.
  if (options.constants.empty() && !leftOver.empty())
    return fail(Status(StatusCode::InvalidArgument,
                       "expected the names of variables, got '" +
                           leftOver.front() + "' and others that are of none"));
  return Status::ok();
}

/// What variables say of how they are trained, as attributes of the arguments:
/// __lr_mult__ and __wd_mult__.
static mlir::LogicalResult addFactors(ModuleOp module,
                                      const symbol::Symbol &symbol) {
  static constexpr std::pair<const char *, StringRef> factors[] = {
      {"__lr_mult__", graph::kRateFactorAttr},
      {"__wd_mult__", graph::kDecayFactorAttr}};
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  auto attributes = symbol.allAttributes();
  mlir::Builder builder(module.getContext());
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    StringAttr name = graph::givenName(main, i, /*isResult=*/false);
    auto own = attributes.find(name.str());
    if (own == attributes.end())
      continue;
    for (auto [key, attribute] : factors) {
      auto found = own->second.find(key);
      if (found == own->second.end())
        continue;
      const std::string &text = found->second;
      double factor = 0;
      if (StringRef(text).trim().getAsDouble(factor) ||
          !(factor >= 0 && std::isfinite(factor)))
        return main.emitError("variable '")
               << name.getValue() << "': expected a number of at least 0 as "
               << key << ", got '" << text << "'";
      main.setArgAttr(i, attribute, builder.getF64FloatAttr(factor));
    }
  }
  return mlir::success();
}

/// MXNet writes ones to them where it trains, so they begin and stay so here.
static void fixGammas(ModuleOp module, const symbol::Symbol &symbol) {
  std::set<std::string> fixed;
  symbol::IndexedGraph graph(symbol);
  for (const symbol::FixedGamma &gamma : symbol::findFixedGammas(graph))
    fixed.insert(graph.node(gamma.variable).name);
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
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
  symbol::LoweringOptions lowering;
  lowering.file = name.str();
  lowering.keepsConstants = options.keepsParameters;
  lowering.isTraining = options.isTraining;
  lowering.dropsUnreadInputs = !options.isTraining;
  for (const auto &[variable, shape] : options.inputShapes)
    lowering.shapes[variable] = shape;
  if (!options.params.empty()) {
    ParameterReader reader(symbol, lowering);
    if (Status status = reader.read(options.params); !status.isOk()) {
      mlir::emitError(mlir::UnknownLoc::get(&context)) << status.message();
      return {};
    }
    for (const std::string &array : reader.leftOver)
      mlir::emitWarning(location)
          << "array '" << array << "' belongs to no variable and is left out";
  }
  OwningOpRef<ModuleOp> module =
      symbol::lowerToGraph(context, symbol, lowering);
  if (!module || !options.isTraining)
    return module;
  if (failed(addFactors(*module, symbol)))
    return {};
  fixGammas(*module, symbol);
  return module;
}

OwningOpRef<ModuleOp>
dlc::mxnet::importSymbolFile(MLIRContext &context, StringRef path,
                             const ImportOptions &options) {
  StringRef name = llvm::sys::path::filename(path);
  auto location = NameLoc::get(StringAttr::get(&context, name));
  rt::Result<rt::MappedFile> file = rt::MappedFile::open(path.str());
  if (!file.isOk()) {
    mlir::emitError(location) << file.status().message();
    return {};
  }
  std::span<const std::byte> bytes = file->bytes();
  std::vector<symbol::NodeFault> faults;
  rt::Result<symbol::Symbol> symbol = symbol::fromJson(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()}, &faults);
  for (const symbol::NodeFault &fault : faults) {
    frontend::NodeScope scope(context, fault.node, fault.op);
    mlir::InFlightDiagnostic error = mlir::emitError(location)
                                     << fault.status.message();
    frontend::addAlternative(error, fault.alternative);
  }
  if (!symbol.isOk()) {
    if (faults.empty())
      mlir::emitError(location) << symbol.status().message();
    return {};
  }
  return importSymbol(context, *symbol, name, options);
}
