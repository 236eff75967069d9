// SPDX-License-Identifier: Apache-2.0

#include "dlc/Compiler/Compiler.h"

#include "Guard.h"
#include "State.h"

#include "dlc/Export/ONNX/Export.h"
#include "dlc/Frontend/MXNet/Import.h"
#include "dlc/Frontend/ONNX/Import.h"
#include "dlc/InitAll.h"
#include "dlc/KernelLibrary/Match.h"
#include "dlc/Numerics/VerifyNumerics.h"
#include "dlc/Symbol/Lowering.h"
#include "dlc/Training/Step.h"
#include "dlc/abi/Version.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Parts.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Training.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/dialects/Plan/PlanDialect.h"

#include "dlc/passes/Graph/Passes.h"
#include "dlc/runtime/Device/CPU/Processors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <set>

using namespace mlir;
using namespace dlc;

/// "model.onnx: node 'Conv_1'": files and names of a location, outermost
/// first, without positions that are unknown.
static void printLocation(Location location, raw_ostream &os) {
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    if (!fused.getLocations().empty())
      printLocation(fused.getLocations().front(), os);
    return;
  }
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (!isa<UnknownLoc>(name.getChildLoc()))
      printLocation(name.getChildLoc(), os);
    os << name.getName().getValue() << ": ";
    return;
  }
  if (auto file = dyn_cast<FileLineColLoc>(location)) {
    os << file.getFilename().getValue();
    if (file.getLine())
      os << ':' << file.getLine() << ':' << file.getColumn();
    os << ": ";
    return;
  }
  if (auto call = dyn_cast<CallSiteLoc>(location))
    printLocation(call.getCallee(), os);
}

/// Names come from files of anyone: a message stays one line, and sends no
/// control sequence to a terminal.
static void printEscaped(StringRef text, raw_ostream &os) {
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      os << "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      os << "\\x" << llvm::hexdigit(byte >> 4) << llvm::hexdigit(byte & 15);
    else
      os << c;
  }
}

static void printLine(StringRef text, raw_ostream &os) {
  printEscaped(text, os);
  os << '\n';
}

namespace {

/// Hands remarks on as text, with the place in the model that they are about.
class RemarkStreamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  /// `reasons` gets those of what is left open.
  RemarkStreamer(std::function<void(const std::string &)> sink,
                 std::vector<std::string> &reasons)
      : sink(std::move(sink)), reasons(reasons) {}
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    if (remark.getCategoryName().starts_with(kSpecialize))
      for (const auto &argument : remark.getArgs())
        if (argument.key == "Reason" &&
            !llvm::is_contained(reasons, argument.val))
          reasons.push_back(argument.val);
    if (!sink)
      return;
    std::string text, line;
    llvm::raw_string_ostream os(text);
    os << remark.getCategoryName() << ": ";
    printLocation(remark.getLocation(), os);
    os << remark.getMsg();
    llvm::raw_string_ostream lineStream(line);
    printEscaped(text, lineStream);
    sink(line);
  }

  static constexpr llvm::StringLiteral kSpecialize = "graph-specialize-";

private:
  std::function<void(const std::string &)> sink;
  std::vector<std::string> &reasons;
};

} // namespace

static StringRef severityOf(const Diagnostic &diagnostic) {
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "";
}

/// The text without "'graph.conv' op ", which names our operation: the
/// location names the model's.
static StringRef withoutOperation(StringRef text) {
  constexpr llvm::StringLiteral end = "' op ";
  size_t at = text.find(end);
  bool isPrefix = text.starts_with("'") && at != StringRef::npos &&
                  text.substr(1, at - 1).find_first_of(" '") == StringRef::npos;
  return isPrefix ? text.drop_front(at + end.size()) : text;
}

void Compilation::State::addMessage(Diagnostic &diagnostic) {
  if (isTrial && diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return;
  llvm::raw_string_ostream os(messages);
  auto add = [&](const Diagnostic &part) {
    std::string line;
    llvm::raw_string_ostream lineStream(line);
    lineStream << severityOf(part) << ": ";
    printLocation(part.getLocation(), lineStream);
    std::string text = part.str();
    lineStream << withoutOperation(text);
    // Programs for several sizes of a batch have the same to say.
    if (part.getSeverity() != DiagnosticSeverity::Warning ||
        !StringRef(messages).contains(line))
      printLine(line, os);
  };
  add(diagnostic);
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
    faults.push_back(frontend::faultOf(diagnostic));
    std::string &reason = faults.back().reason;
    reason = withoutOperation(reason).str();
  }
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error && !hasFailed) {
    hasFailed = true;
    isUnsupported = StringRef(diagnostic.str()).starts_with("unsupported: ");
  }
  for (const Diagnostic &note : diagnostic.getNotes())
    add(note);
}

Compilation::State::State(CompileOptions options)
    : options(std::move(options)), target(splitTarget(this->options.target)) {
  times.setEnabled(this->options.timing);
  total = times.getRootScope();
  DialectRegistry registry;
  registerAllDialects(registry);
  // One function, one module: threads would cost more than they bring. Where
  // they are worth it, in Codegen, they share no context.
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  // The user's model is the subject of a message, not the IR made of it.
  context->printOpOnDiagnostic(false);
  context->getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    addMessage(diagnostic);
    return success();
  });
  startRemarks();
  startTuning();
}

Compilation::State::~State() {
  if (!module) // Nothing of it was compiled.
    times.setEnabled(false);
}

void Compilation::State::startRemarks() {
  remark::RemarkCategories wanted;
  if (options.onRemark)
    wanted = {".*", ".*", ".*", ".*", ".*"};
  else
    wanted.missed = (RemarkStreamer::kSpecialize + ".*").str();
  (void)remark::enableOptimizationRemarks(
      *context, std::make_unique<RemarkStreamer>(options.onRemark, whyOpen),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), wanted);
}

TimingScope Compilation::State::timeOf(Phase phase) {
  return isTrial ? TimingScope() : total.nest(nameOf(phase));
}

void Compilation::State::startTuning() {
  const CompileOptions::Tuning &tuning = options.tuning;
  if (tuning.cache.empty() && tuning.seconds <= 0)
    return;
  if (target.host != "host") {
    emitWarning(UnknownLoc::get(context.get()),
                "times of calls left out: expected those of the target ")
        << options.target << ", got those of this machine";
    return;
  }
  tuning::Times known;
  if (!tuning.cache.empty()) {
    auto table = tuning::readTable(tuning.cache);
    if (table.isOk())
      known = std::move((*table)[tuning::thisMachine()]);
    else if (table.status().code() != rt::StatusCode::NotFound ||
             tuning.seconds <= 0)
      emitWarning(UnknownLoc::get(context.get()), "times of calls left out: ")
          << table.status().message();
  }
  constexpr double day = 86400; // Nanoseconds of more need not fit.
  std::chrono::nanoseconds budget(
      static_cast<int64_t>(std::min(tuning.seconds, day) * 1e9));
  tuner = std::make_unique<tuning::Tuner>(
      std::move(known), tuning::Tuner::Options{tuning.seconds > 0, budget});
  library::setTuner(*context, tuner.get());
}

/// Beside what others wrote to the file in the meantime.
void Compilation::State::saveTimes() {
  if (!tuner || options.tuning.cache.empty() || !tuner->counts().measured)
    return;
  if (rt::Status status = tuning::updateTable(
          options.tuning.cache,
          {{tuning::thisMachine(), tuner->measuredTimes()}});
      !status.isOk())
    emitWarning(UnknownLoc::get(context.get()), "times of calls not kept: ")
        << status.message();
}

std::vector<ModelPort> Compilation::State::ports(bool wantInputs) {
  std::vector<ModelPort> result;
  auto function = module->lookupSymbol<func::FuncOp>("main");
  if (!function)
    return result;
  FunctionType type = function.getFunctionType();
  ArrayRef<Type> types = wantInputs ? type.getInputs() : type.getResults();
  for (auto [i, portType] : llvm::enumerate(types)) {
    StringRef attribute = graph::GraphDialect::kNameAttr;
    auto name = wantInputs
                    ? function.getArgAttrOfType<StringAttr>(i, attribute)
                    : function.getResultAttrOfType<StringAttr>(i, attribute);
    result.push_back(
        {name ? name.str() : std::to_string(i), graph::toTensorType(portType),
         wantInputs &&
             function.getArgAttr(i, graph::GraphDialect::kRandomAttr)});
  }
  return result;
}

Compilation::Compilation(CompileOptions options)
    : state(std::make_unique<State>(std::move(options))) {}

Compilation::~Compilation() = default;

const std::string &Compilation::messages() const { return state->messages; }
bool Compilation::isUnsupported() const { return state->isUnsupported; }
const std::vector<frontend::Fault> &Compilation::faults() const {
  return state->faults;
}
std::vector<ModelPort> Compilation::inputs() const { return state->inputs; }
std::vector<ModelPort> Compilation::outputs() const { return state->outputs; }

std::vector<InitialValue> Compilation::initialValues() const {
  std::vector<InitialValue> values;
  auto main = state->module->lookupSymbol<func::FuncOp>("main");
  for (unsigned i = 0; main && i < main.getNumArguments(); ++i) {
    auto value = main.getArgAttrOfType<ElementsAttr>(
        i, graph::GraphDialect::kInitialAttr);
    auto name =
        main.getArgAttrOfType<StringAttr>(i, graph::GraphDialect::kNameAttr);
    if (!value || !name)
      continue;
    graph::RawElements raw = graph::RawElements::get(value);
    auto *bytes = reinterpret_cast<const std::byte *>(raw.data().data());
    values.push_back({name.str(),
                      graph::toTensorType(value.getType()),
                      {bytes, bytes + raw.data().size()},
                      main.getArgAttr(i, graph::kFixedAttr) != nullptr});
  }
  return values;
}

FailureOr<training::Step>
Compilation::buildTrainingStep(const training::StepOptions &options) {
  FailureOr<training::Step> step = failure();
  auto build = [&] {
    auto main = state->module->lookupSymbol<func::FuncOp>("main");
    PassManager manager(state->context.get(), func::FuncOp::getOperationName());
    manager.addPass(graph::createInferTypesPass());
    if (succeeded(manager.run(main)))
      step = training::buildStep(main, options);
    return step;
  };
  bool crashed = false;
  LogicalResult result = dlc::runGuarded(
      state->options.guard, crashed, [&] { return LogicalResult(build()); });
  if (crashed) {
    state->messages += "error: " + state->modelName +
                       ": internal: a crash while a step was made\n";
    (void)state->module.release();
    (void)state->context.release();
  }
  if (failed(result))
    return failure();
  state->inputs = state->ports(true);
  state->outputs = state->ports(false);
  return step;
}

tuning::Tuner::Counts Compilation::tunedCalls() const {
  return state->tuner ? state->tuner->counts() : tuning::Tuner::Counts();
}

bool dlc::areBatches(ArrayRef<int64_t> batches) {
  if (batches.empty())
    return true;
  bool isAscending = batches.front() == 1 && batches.back() <= mostBatch;
  for (size_t i = 1; i < batches.size(); ++i)
    isAscending &= batches[i - 1] < batches[i];
  return isAscending;
}

bool dlc::isExtent(ArrayRef<int64_t> sizes) {
  return !sizes.empty() && sizes.size() <= DLC_ARTIFACT_PARTS &&
         *std::min_element(sizes.begin(), sizes.end()) > 0 &&
         std::set<int64_t>(sizes.begin(), sizes.end()).size() == sizes.size();
}

/// The names of what computes `whole`, a function or a program; null where it
/// does.
static ArrayAttr partsOf(Operation *whole, StringRef attribute) {
  auto program = dyn_cast_or_null<plan::ProgramOp>(whole);
  if (!program)
    return whole ? whole->getAttrOfType<ArrayAttr>(attribute) : ArrayAttr();
  return attribute == graph::kByShapeAttr ? program.getByShapeAttr()
                                          : program.getByRowsAttr();
}

static int64_t rowsOf(Operation *part) {
  auto program = dyn_cast<plan::ProgramOp>(part);
  return program ? program.getRows().value_or(0)
                 : part->getAttrOfType<IntegerAttr>(graph::kRowsAttr).getInt();
}

std::vector<int64_t> Compilation::batches() const {
  std::vector<int64_t> batches;
  if (!state->module)
    return batches;
  Operation *main = state->module->lookupSymbol("main");
  if (ArrayAttr shapes = partsOf(main, graph::kByShapeAttr))
    main = state->module->lookupSymbol(
        cast<FlatSymbolRefAttr>(shapes[0]).getAttr());
  if (ArrayAttr parts = partsOf(main, graph::kByRowsAttr))
    for (auto name : llvm::reverse(parts.getAsRange<FlatSymbolRefAttr>()))
      batches.push_back(rowsOf(state->module->lookupSymbol(name.getAttr())));
  return batches;
}

plan::ProgramOp dlc::findProgramForAny(ModuleOp module) {
  SymbolTable symbols(module);
  auto main = symbols.lookup<plan::ProgramOp>("main");
  ArrayAttr parts = partsOf(main, graph::kByShapeAttr);
  if (!parts)
    return {};
  auto last = symbols.lookup<plan::ProgramOp>(
      cast<FlatSymbolRefAttr>(parts.getValue().back()).getAttr());
  for (auto [whole, own] : llvm::zip(main.getBody().getOps<plan::InputOp>(),
                                     last.getBody().getOps<plan::InputOp>())) {
    auto type = dyn_cast<MemRefType>(own.getType());
    if (!type || !whole.getPadded())
      continue;
    for (auto [dim, number] : llvm::enumerate(*whole.getPadded()))
      if (number >= 0 && type.isDynamicDim(dim))
        return last;
  }
  return {};
}

bool Compilation::takesOtherShapes() const {
  return state->module && findProgramForAny(*state->module);
}

int64_t Compilation::largestSize() const {
  int64_t largest = 0;
  SymbolTable symbols(*state->module);
  auto main = symbols.lookup<plan::ProgramOp>("main");
  for (auto name :
       partsOf(main, graph::kByShapeAttr).getAsRange<FlatSymbolRefAttr>()) {
    auto part = symbols.lookup<plan::ProgramOp>(name.getAttr());
    for (auto [whole, own] :
         llvm::zip(main.getBody().getOps<plan::InputOp>(),
                   part.getBody().getOps<plan::InputOp>())) {
      auto type = dyn_cast<MemRefType>(own.getType());
      if (type && whole.getPadded())
        for (auto [dim, number] : llvm::enumerate(*whole.getPadded()))
          if (number >= 0)
            largest = std::max(largest, type.getDimSize(dim));
    }
  }
  return largest;
}

std::optional<int64_t> Compilation::onlySize() const {
  SymbolTable symbols(*state->module);
  auto main = symbols.lookup<plan::ProgramOp>("main");
  auto first = symbols.lookup<plan::ProgramOp>(
      cast<FlatSymbolRefAttr>(partsOf(main, graph::kByShapeAttr)[0]).getAttr());
  auto last = findProgramForAny(*state->module);
  for (auto [whole, one, any] :
       llvm::zip(main.getBody().getOps<plan::InputOp>(),
                 first.getBody().getOps<plan::InputOp>(),
                 last.getBody().getOps<plan::InputOp>())) {
    auto a = dyn_cast<MemRefType>(one.getType());
    auto b = dyn_cast<MemRefType>(any.getType());
    auto padded = whole.getPadded();
    for (int64_t dim = 0; a && b && dim < a.getRank(); ++dim)
      if (!a.isDynamicDim(dim) && b.isDynamicDim(dim) &&
          (!padded || (*padded)[dim] < 0))
        return a.getDimSize(dim);
  }
  return std::nullopt;
}

size_t Compilation::shapes() const {
  ArrayAttr parts;
  if (state->module)
    parts = partsOf(state->module->lookupSymbol("main"), graph::kByShapeAttr);
  return parts ? parts.size() : 1;
}

Compilation::SmallerSizes Compilation::smallerSizes() const {
  SymbolTable symbols(*state->module);
  auto main = symbols.lookup<plan::ProgramOp>("main");
  ArrayAttr parts = partsOf(main, graph::kByShapeAttr);
  if (!parts)
    return SmallerSizes::None;
  // Of each input, the sizes of its extents in the programs.
  auto inputsOf = [&](Attribute name) {
    auto part = symbols.lookup<plan::ProgramOp>(
        cast<FlatSymbolRefAttr>(name).getAttr());
    return llvm::to_vector(part.getBody().getOps<plan::InputOp>());
  };
  SmallVector<plan::InputOp> first = inputsOf(parts[0]);
  bool hasPadded = false, hasOthers = false;
  ArrayRef<Attribute> known = parts.getValue();
  for (Attribute name : takesOtherShapes() ? known.drop_back() : known)
    for (auto [whole, one, own] : llvm::zip(
             main.getBody().getOps<plan::InputOp>(), first, inputsOf(name))) {
      auto a = dyn_cast<MemRefType>(one.getType());
      auto b = dyn_cast<MemRefType>(own.getType());
      for (int64_t dim = 0; a && b && dim < a.getRank(); ++dim) {
        if (a.getDimSize(dim) == b.getDimSize(dim))
          continue;
        const bool isPadded =
            whole.getPadded() && (*whole.getPadded())[dim] >= 0;
        (isPadded ? hasPadded : hasOthers) = true;
      }
    }
  return !hasPadded  ? SmallerSizes::None
         : hasOthers ? SmallerSizes::OfSome
                     : SmallerSizes::OfAll;
}

size_t Compilation::unseenNodes() const { return state->unseenNodes; }

const std::vector<std::string> &Compilation::openExtents() const {
  return state->openExtents;
}

const std::vector<std::string> &Compilation::whyOpen() const {
  return state->whyOpen;
}

bool Compilation::leavesOpen() const {
  if (!state->module)
    return false;
  auto isOpen = [](plan::InputOp input) {
    auto type = dyn_cast<MemRefType>(input.getType());
    return !type || !type.hasStaticShape();
  };
  plan::ProgramOp any = findProgramForAny(*state->module);
  return llvm::any_of(
      state->module->getOps<plan::ProgramOp>(), [&](plan::ProgramOp program) {
        return !program.getParts() && program != any &&
               llvm::any_of(program.getBody().getOps<plan::InputOp>(), isOpen);
      });
}

static onnx::ImportOptions importOptions(const CompileOptions &options,
                                         size_t &unseenNodes) {
  onnx::ImportOptions result;
  for (const auto &[name, shape] : options.shapes)
    result.inputShapes[name].assign(shape.begin(), shape.end());
  result.inputConstants = options.constants;
  result.params = options.params;
  result.takesSomeParams = options.takesSomeParams;
  result.keepsParameters = options.keepsParameters || options.isTraining;
  result.isTraining = options.isTraining;
  result.unseenNodes = &unseenNodes;
  return result;
}

static mxnet::ImportOptions mxnetOptions(const CompileOptions &options,
                                         std::set<std::string> &groups) {
  return {.inputShapes = options.shapes,
          .params = options.params,
          .layers = options.layers,
          .keepsParameters = options.keepsParameters || options.isTraining,
          .isTraining = options.isTraining,
          .groups = &groups};
}

/// IR in text. MLIR's own reader of files does not say why one cannot be
/// opened.
static OwningOpRef<ModuleOp> parseText(MLIRContext &context,
                                       const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) {
    emitError(NameLoc::get(StringAttr::get(&context, path)))
        << "cannot open the file: " << file.getError().message();
    return {};
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
}

LogicalResult Compilation::import(const std::string &path) {
  if (state->options.onPhase)
    state->options.onPhase(Phase::Import);
  state->modelName = llvm::sys::path::filename(path).str();
  bool isText = StringRef(path).ends_with(".mlir");
  if (!state->options.constants.empty() &&
      (isText || StringRef(path).ends_with(".json")))
    return emitError(NameLoc::get(StringAttr::get(state->context.get(),
                                                  state->modelName)),
                     "expected an ONNX model to have constant inputs, as '")
           << state->options.constants.begin()->first << "'";
  if (isText && !state->options.params.empty())
    return emitError(NameLoc::get(StringAttr::get(state->context.get(),
                                                  state->modelName)),
                     "expected no parameters beside it, got ")
           << state->options.params;
  if (StringRef(path).ends_with(".json")) {
    state->module = mxnet::importSymbolFile(
        *state->context, path, mxnetOptions(state->options, state->groups));
  } else if (isText) {
    state->module = parseText(*state->context, path);
    return success(state->module && succeeded(state->checkImport()) &&
                   succeeded(state->checkShapes(path)) &&
                   succeeded(state->checkGroups()));
  } else {
    state->module =
        onnx::importOnnxFile(*state->context, path,
                             importOptions(state->options, state->unseenNodes));
  }
  return success(state->module && succeeded(state->checkImport()) &&
                 succeeded(state->checkRanks()) &&
                 succeeded(state->checkGroups()));
}

LogicalResult Compilation::import(const symbol::Symbol &symbol,
                                  const std::string &name) {
  if (state->options.onPhase)
    state->options.onPhase(Phase::Import);
  state->modelName = name;
  state->module =
      mxnet::importSymbol(*state->context, symbol, name,
                          mxnetOptions(state->options, state->groups));
  return success(state->module && succeeded(state->checkImport()) &&
                 succeeded(state->checkGroups()));
}

LogicalResult Compilation::import(const symbol::Symbol &symbol,
                                  const symbol::LoweringOptions &lowering) {
  if (state->options.onPhase)
    state->options.onPhase(Phase::Import);
  state->modelName = lowering.file;
  state->module = symbol::lowerToGraph(*state->context, symbol, lowering);
  return state->module ? state->checkImport() : failure();
}

LogicalResult Compilation::importOnnx(StringRef bytes,
                                      const std::string &name) {
  state->modelName = name;
  state->module =
      onnx::importOnnxBuffer(*state->context, bytes, nullptr, name,
                             importOptions(state->options, state->unseenNodes));
  return success(state->module && succeeded(state->checkImport()) &&
                 succeeded(state->checkRanks()) &&
                 succeeded(state->checkGroups()));
}

/// Makes the module that was read fit for passes: one function of Graph
/// operations, as far as import can promise it.
LogicalResult Compilation::State::checkImport() {
  noteGroups();
  Operation *main = module->lookupSymbol("main");
  for (Operation &op : *module->getBody())
    if (!isa<func::FuncOp>(op))
      return emitError(op.getLoc(), "expected functions of Graph operations, "
                                    "as up to the phase fused, got ")
             << op.getName();
  if (!isa_and_nonnull<func::FuncOp>(main))
    return emitError(module->getLoc(), "expected a function @main");
  auto isOne = [](const auto &extent) { return extent.second.size() == 1; };
  if (options.gradient && !llvm::all_of(options.extents, isOne))
    return emitError(module->getLoc(), "expected one size of each extent for a "
                                       "program with gradients");
  if (failed(runPasses(Phase::Import)))
    return failure();
  inputs = ports(true);
  outputs = ports(false);
  noteOpenExtents();
  return success();
}

void Compilation::State::noteOpenExtents() {
  auto function = cast<func::FuncOp>(module->lookupSymbol("main"));
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto names =
        function.getArgAttrOfType<ArrayAttr>(i, graph::GraphDialect::kDimsAttr);
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    for (int64_t dim = 0; type && dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim))
        continue;
      auto name = names ? cast<StringAttr>(names[dim]).str() : std::string();
      if (name.empty())
        name = inputs[i].name + "." + std::to_string(dim);
      if (!llvm::is_contained(openExtents, name))
        openExtents.push_back(name);
    }
  }
}

/// Models may leave the shape of an input out, but no program can.
LogicalResult Compilation::State::checkRanks() {
  LogicalResult result = success();
  auto main = cast<func::FuncOp>(module->lookupSymbol("main"));
  for (BlockArgument argument : main.getArguments()) {
    auto name = main.getArgAttrOfType<StringAttr>(
        argument.getArgNumber(), graph::GraphDialect::kNameAttr);
    if (!name || isa<RankedTensorType>(argument.getType()))
      continue;
    auto error = emitError(module->getLoc())
                 << "expected the shape of input '" << name.getValue()
                 << "', which the model does not have";
    frontend::addAlternative(error,
                             ("--shape " + name.getValue() + "=...").str());
    result = failure();
  }
  return result;
}

/// Graph text has shapes of its own, which those asked for may repeat.
LogicalResult Compilation::State::checkShapes(const std::string &path) {
  auto refuse = [&] {
    return emitError(FileLineColLoc::get(context.get(), path, 0, 0));
  };
  for (const auto &[name, shape] : options.shapes) {
    auto input =
        llvm::find_if(inputs, [&, &name = name](const ModelPort &port) {
          return port.name == name;
        });
    if (input == inputs.end())
      return refuse() << "expected shapes of its inputs, got one of '" << name
                      << "'";
    rt::TensorType asked{input->type.type, shape};
    if (!input->type.hasRank || input->type.shape != shape)
      return refuse() << "expected shapes as Graph text has them, '" << name
                      << "' is " << rt::toString(input->type) << ", got "
                      << rt::toString(asked);
  }
  return success();
}

/// Before passes drop operations.
void Compilation::State::noteGroups() {
  auto note = [&](Attribute group) {
    if (auto name = dyn_cast_or_null<StringAttr>(group))
      groups.insert(name.getValue().str());
  };
  module->walk([&](Operation *op) {
    note(op->getDiscardableAttr(graph::kGroupAttr));
    if (auto function = dyn_cast<func::FuncOp>(op))
      for (unsigned i = 0; i != function.getNumArguments(); ++i)
        note(function.getArgAttr(i, graph::kGroupAttr));
  });
}

/// A device is of a group that the model has: a slip of the pen would leave all
/// where it was. Symbols of executors come past this, for what MXNet calls
/// group2ctx serves many networks.
LogicalResult Compilation::State::checkGroups() {
  for (const auto &[group, device] : options.groups)
    if (!groups.count(group))
      return emitError(NameLoc::get(StringAttr::get(context.get(), modelName)))
             << "expected a group of the model to give a device ("
             << (groups.empty() ? "it has none" : llvm::join(groups, ", "))
             << "), got '" << group << "'";
  return success();
}

bool Compilation::State::takesUsualSizes() const {
  return options.hasUsualSizes && options.extents.empty() &&
         !options.gradient && !options.isTraining && !options.keepsParameters &&
         target.gpu.empty();
}

LogicalResult Compilation::State::runPasses(Phase phase) {
  return runPasses(phase, [&](OpPassManager &manager, const auto &passOptions) {
    pipeline::addPhase(manager, phase, passOptions);
  });
}

LogicalResult Compilation::State::runPasses(Phase phase, AddPasses add) {
  PassManager manager(context.get(), ModuleOp::getOperationName());
  pipeline::PipelineOptions passOptions;
  passOptions.searchSteps = options.searchSteps;
  passOptions.gradient = options.gradient;
  if (passOptions.gradient) {
    passOptions.gradient->arguments = inputs.size();
    passOptions.gradient->results = outputs.size();
  }
  passOptions.recomputeBudget = recomputeBudget;
  passOptions.keepsAll = options.keepsAll;
  passOptions.wholeBatches = options.wholeBatches;
  passOptions.precision = options.precision;
  passOptions.gpuLibraries = options.gpuLibraries;
  passOptions.plainGradients = plainGradients;
  passOptions.batchParts = batchParts;
  passOptions.batches = options.batches;
  for (const auto &[name, sizes] : options.extents)
    passOptions.extents.push_back(llvm::formatv(
        "{0}={1:$[|]}", name, llvm::make_range(sizes.begin(), sizes.end())));
  passOptions.hasUsualSizes = takesUsualSizes();
  for (const auto &[group, device] : options.groups)
    passOptions.groups.push_back(group + "=" + device);
  if (!target.gpu.empty())
    passOptions.offload = "cuda:0";
  add(manager, passOptions);
  if (manager.empty())
    return success();
  // What a trial makes is made once more, and verified, if it is taken.
  manager.enableVerifier(!isTrial);
  TimingScope time = timeOf(phase);
  if (time)
    manager.enableTiming(time);
  if (options.verifyNumerics && !isTrial)
    manager.addInstrumentation(numerics::createNumericsVerifier(
        /*seed=*/0, /*allowsSteps=*/true));
  std::string passes;
  llvm::raw_string_ostream os(passes);
  manager.printAsTextualPipeline(os);
  return runGuarded(phase, passes, [&] { return manager.run(*module); });
}

/// The work of a phase on the module, repeatable by running `passes`.
LogicalResult
Compilation::State::runGuarded(Phase phase, const std::string &passes,
                               function_ref<LogicalResult()> work) {
  // What the model says is refused by the placed phase at the latest.
  bool isOurs = options.guard && phase > Phase::Placed;
  std::optional<Reproducer> reproducer;
  if (options.guard || !options.reproducer.empty())
    reproducer.emplace(*module, passes);
  bool crashed = false;
  if (succeeded(dlc::runGuarded(options.guard, crashed, work)))
    return success();
  llvm::raw_string_ostream os(messages);
  if (crashed) {
    printLine("error: " + modelName + ": internal: a crash in the phase " +
                  nameOf(phase).str(),
              os);
    // Half-done work may hold on to them: nothing is safe but to leave them.
    (void)module.release();
    (void)context.release();
  }
  if (isOurs || crashed || !options.reproducer.empty())
    printLine("note: " + reproducer->write(options.reproducer), os);
  return failure();
}

/// Without a target for them, kernels that devices were asked to run fail.
LogicalResult Compilation::State::generateGPUCode() {
  for (auto function : module->getOps<kernel::FuncOp>())
    if (kernel::isForGPU(function) && target.gpu.empty())
      return emitError(function.getLoc(), "expected a target for a GPU like ")
             << "cuda:sm_90, got '" << options.target << "'";
  if (target.gpu.empty())
    return success();
  std::string why;
  auto gpus = codegen::GPUTarget::getList(target.gpu, why);
  for (const codegen::GPUTarget &gpu : *gpus) {
    auto generate = [&] {
      FailureOr<codegen::GPUCode> result =
          codegen::compileGPUKernels(*module, gpu);
      if (failed(result))
        return failure();
      gpuCode.push_back(std::move(*result));
      return success();
    };
    if (failed(runGuarded(Phase::Codegen,
                          "builtin.module(codegen-nvptx-emit-threads)",
                          generate)))
      return failure();
  }
  return success();
}

LogicalResult Compilation::State::generateCode() {
  if (std::string wrong = checkTarget(options.target); !wrong.empty())
    return emitError(UnknownLoc::get(context.get()), wrong);
  TimingScope time = timeOf(Phase::Codegen);
  if (failed(generateGPUCode()))
    return failure();
  if (llvm::all_of(module->getOps<kernel::FuncOp>(), kernel::isForGPU))
    return success(); // Nothing, or library kernels alone.
  unsigned threads = options.threads ? options.threads : rt::usableProcessors();
  std::string why;
  auto hosts = codegen::TargetOptions::getList(target.host, why);
  for (const codegen::TargetOptions &host : *hosts) {
    std::string passes =
        "builtin.module(codegen-cpu-emit-loops{target=" + host.name + "})";
    auto generate = [&] {
      FailureOr<codegen::ObjectCode> result =
          codegen::compileKernels(*module, host, threads);
      if (failed(result))
        return failure();
      code.push_back(std::move(*result));
      return success();
    };
    if (failed(runGuarded(Phase::Codegen, passes, generate)))
      return failure();
  }
  return success();
}

LogicalResult Compilation::runTo(Phase phase) {
  if (!state->module)
    return failure();
  while (state->reached < phase && state->reached < Phase::Codegen) {
    auto next = static_cast<Phase>(static_cast<int>(state->reached) + 1);
    if (next == Phase::Graph && state->options.memoryBudget > 0)
      state->imported = state->module->clone();
    if (next == Phase::Fused && state->options.memoryBudget > 0) {
      LogicalResult fits = state->fitBudgetSomehow();
      state->planned.clear();
      if (failed(fits))
        return failure();
    }
    if (state->options.onPhase)
      state->options.onPhase(next);
    LogicalResult result =
        next == Phase::Codegen ? state->generateCode() : state->runPasses(next);
    if (failed(result))
      return failure();
    state->reached = next;
    if (next == Phase::Graph && !state->options.gradient &&
        (!state->options.extents.empty() || state->takesUsualSizes())) {
      state->inputs = state->ports(true);
      state->outputs = state->ports(false);
    }
    if (next == Phase::Kernel)
      state->saveTimes();
  }
  return success();
}

void Compilation::print(llvm::raw_ostream &os, bool withConstants,
                        bool withLocations) const {
  OpPrintingFlags flags;
  flags.enableDebugInfo(withLocations);
  if (!withConstants) {
    flags.useLocalScope(); // Leaves resources out.
    flags.elideLargeElementsAttrs(16);
    flags.elideLargeResourceString(64);
  }
  state->module->print(os, flags);
}

artifact::ExportInfo Compilation::State::exportInfo() const {
  std::string text = "target=" + options.target;
  for (const auto &[name, shape] : options.shapes) {
    text += " " + name + "=";
    for (auto [i, dim] : llvm::enumerate(shape))
      text += (i ? "x" : "") + std::to_string(dim);
  }
  for (const auto &[name, sizes] : options.extents)
    text += llvm::formatv(" {0}={1:$[|]}", name,
                          llvm::make_range(sizes.begin(), sizes.end()));
  for (const auto &[group, device] : options.groups)
    text += " " + group + "@" + device;
  if (options.precision != pipeline::Precision::FP32)
    text += " precision=" + pipeline::nameOf(options.precision).str();
  return {modelName, text, options.precision == pipeline::Precision::FP32Strict,
          gpuCode};
}

FailureOr<std::string> Compilation::toOnnx(int64_t opset) {
  if (!state->module || state->reached != Phase::Import)
    return failure();
  return exporter::toOnnx(
      *state->module, {opset, llvm::sys::path::stem(state->modelName).str()});
}

LogicalResult Compilation::write(const std::string &path) {
  if (failed(runTo(Phase::Codegen)))
    return failure();
  if (state->options.onPhase)
    state->options.onPhase(Phase::Artifact);
  TimingScope time = state->timeOf(Phase::Artifact);
  return artifact::writeProgram(*state->module, state->code,
                                state->exportInfo(), path);
}

FailureOr<rt::AlignedBuffer> Compilation::toMemory() {
  if (failed(runTo(Phase::Codegen)))
    return failure();
  if (state->options.onPhase)
    state->options.onPhase(Phase::Artifact);
  TimingScope time = state->timeOf(Phase::Artifact);
  return artifact::writeProgram(*state->module, state->code,
                                state->exportInfo());
}
