// SPDX-License-Identifier: Apache-2.0

#include "dlc/Numerics/VerifyNumerics.h"

#include "dlc/Numerics/Comparison.h"
#include "dlc/Numerics/Inputs.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Inference.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::numerics;

namespace {

/// What a function computed.
struct Run {
  FunctionType type;
  std::vector<Tensor> inputs, results;
  std::vector<double> toleranceFactors; ///< Of each result.
  /// Why there are no results; empty where there are.
  std::string failure;
};

/// A function as it stood when it was run.
struct KnownRun {
  OperationFingerPrint print;
  std::shared_ptr<const Run> run;
};

class NumericsVerifier : public PassInstrumentation {
public:
  NumericsVerifier(uint64_t seed, bool allowsSteps)
      : seed(seed), allowsSteps(allowsSteps) {}

  void runBeforePass(Pass *pass, Operation *op) override;
  void runAfterPass(Pass *pass, Operation *op) override;
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    pending.erase({pass, op});
  }

private:
  using Functions = llvm::MapVector<StringAttr, std::shared_ptr<const Run>>;

  std::shared_ptr<const Run> run(func::FuncOp function,
                                 const Run *before = nullptr);
  bool isSame(Pass *pass, func::FuncOp function, const Run &before);
  bool isInsideOther(Operation *op) const;

  uint64_t seed;
  bool allowsSteps;
  llvm::DenseMap<std::pair<Pass *, Operation *>, Functions> pending;
  /// The last run of each function: most passes begin where one has ended. By
  /// the place of the operation too, as names are unique in a module only.
  llvm::DenseMap<Operation *, KnownRun> known;
};

} // namespace

static remark::RemarkOpts remarkOpts(func::FuncOp function) {
  return remark::RemarkOpts::name("NumbersNotCompared")
      .category("verify-numerics")
      .function(function.getName());
}

/// A pipeline within a pipeline is a pass of its own; those in it are checked
/// one by one.
static bool isPipeline(Pass *pass) {
  return pass->getName().contains("OpToOpPassAdaptor");
}

static std::string nameOf(Pass *pass) {
  StringRef argument = pass->getArgument();
  return (argument.empty() ? pass->getName() : argument).str();
}

static SmallVector<func::FuncOp> functionsOf(Operation *op) {
  SmallVector<func::FuncOp> functions;
  op->walk([&](func::FuncOp function) {
    if (function.getBody().hasOneBlock())
      functions.push_back(function);
  });
  return functions;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Runs a function on inputs of its own.
static std::shared_ptr<Run> runAfresh(func::FuncOp function, uint64_t seed) {
  auto run = std::make_shared<Run>();
  run->type = function.getFunctionType();
  for (Integers integers : {Integers::Small, Integers::Zero}) {
    rt::Status status = makeInputs(function, seed, integers, run->inputs);
    if (status.isOk())
      status = interpret(function.getBody().front(), run->inputs, run->results);
    run->failure = status.isOk() ? "" : status.message();
    if (status.isOk())
      break;
  }
  return run;
}

/// Runs a function on the inputs that it had before; those that are new are
/// made.
static std::shared_ptr<Run> runAgain(func::FuncOp function, const Run &before,
                                     uint64_t seed) {
  auto run = std::make_shared<Run>();
  run->type = function.getFunctionType();
  rt::Status status = rt::Status::ok();
  if (function.getNumArguments() > before.inputs.size())
    status = makeInputs(function, seed, Integers::Small, run->inputs);
  if (status.isOk()) {
    run->inputs.resize(function.getNumArguments());
    std::copy_n(before.inputs.begin(), before.inputs.size(),
                run->inputs.begin());
    status = interpret(function.getBody().front(), run->inputs, run->results);
  }
  run->failure = status.isOk() ? "" : status.message();
  return run;
}

std::shared_ptr<const Run> NumericsVerifier::run(func::FuncOp function,
                                                 const Run *before) {
  OperationFingerPrint print(function);
  auto last = known.find(function);
  if (last != known.end() && last->second.print == print)
    return last->second.run;
  std::shared_ptr<Run> run =
      before ? runAgain(function, *before, seed) : runAfresh(function, seed);
  Operation *end = function.getBody().front().getTerminator();
  for (Value result : end->getOperands())
    run->toleranceFactors.push_back(toleranceFactorOf(result, allowsSteps));
  known.erase(function);
  known.try_emplace(function, KnownRun{print, run});
  return run;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// True where `after` begins with `before`, up to what is known of shapes.
static bool beginsWith(TypeRange after, TypeRange before) {
  return after.size() >= before.size() &&
         llvm::all_of(llvm::zip(before, after), [](auto pair) {
           auto [a, b] = pair;
           return a == b || graph::isCompatible(a, b);
         });
}

/// Whether `inputs` have what is known of shapes by now.
static bool fitInputs(ArrayRef<Tensor> inputs, TypeRange types) {
  return llvm::all_of(llvm::zip(inputs, types), [](auto pair) {
    auto [input, type] = pair;
    auto ranked = dyn_cast<RankedTensorType>(type);
    return !ranked ||
           succeeded(verifyCompatibleShape(ArrayRef<int64_t>(input.type.shape),
                                           ranked.getShape()));
  });
}

static std::string describeResult(func::FuncOp function, unsigned number) {
  auto name = function.getResultAttrOfType<StringAttr>(
      number, graph::GraphDialect::kNameAttr);
  return "result #" + std::to_string(number) +
         (name ? " '" + name.str() + "'" : "");
}

/// True where nothing but Graph operations stands between arguments and
/// results.
static bool isGraph(func::FuncOp function) {
  return llvm::all_of(
      function.getBody().front().without_terminator(), [](Operation &op) {
        return isa_and_nonnull<graph::GraphDialect>(op.getDialect());
      });
}

bool NumericsVerifier::isSame(Pass *pass, func::FuncOp function,
                              const Run &before) {
  auto skip = [&](const std::string &reason) {
    remark::missed(function.getLoc(), remarkOpts(function))
        << remark::reason("{0}: {1}", nameOf(pass), reason);
    return true;
  };
  if (!before.failure.empty())
    return skip("the function cannot be run before: " + before.failure);
  FunctionType type = function.getFunctionType();
  if (!beginsWith(type.getInputs(), before.type.getInputs()) ||
      !beginsWith(type.getResults(), before.type.getResults()))
    return skip("the signature is another behind it");
  if (!fitInputs(before.inputs, type.getInputs()))
    return skip("its inputs have other shapes behind it");
  if (!isGraph(function))
    return skip("the function is not all Graph operations behind it");
  std::shared_ptr<const Run> after = run(function, &before);
  if (!after->failure.empty()) {
    function.emitError() << "pass '" << nameOf(pass) << "' left function @"
                         << function.getName()
                         << " that cannot be run: " << after->failure;
    return false;
  }
  for (size_t i = 0; i < before.results.size(); ++i)
    if (auto difference = findDifference(before.results[i], after->results[i],
                                         before.toleranceFactors[i])) {
      function.emitError() << "pass '" << nameOf(pass) << "' changed "
                           << describeResult(function, i) << " of function @"
                           << function.getName() << ": " << *difference;
      return false;
    }
  return true;
}

/// Whether a pass that runs on `op`, or on what has it, is under way: what it
/// runs itself, maybe for a million examples, is compared when it is over.
bool NumericsVerifier::isInsideOther(Operation *op) const {
  for (; op; op = op->getParentOp())
    if (llvm::any_of(pending, [&](const auto &entry) {
          return entry.first.second == op;
        }))
      return true;
  return false;
}

void NumericsVerifier::runBeforePass(Pass *pass, Operation *op) {
  if (isPipeline(pass) || isInsideOther(op))
    return;
  Functions &functions = pending[{pass, op}];
  for (func::FuncOp function : functionsOf(op))
    functions[function.getNameAttr()] = run(function);
}

void NumericsVerifier::runAfterPass(Pass *pass, Operation *op) {
  auto found = pending.find({pass, op});
  if (found == pending.end())
    return;
  Functions before = std::move(found->second);
  pending.erase(found);
  bool isGood = true;
  for (func::FuncOp function : functionsOf(op))
    if (auto run = before.find(function.getNameAttr()); run != before.end())
      isGood &= isSame(pass, function, *run->second);
  if (!isGood)
    signalPassFailure(pass);
}

std::unique_ptr<PassInstrumentation>
dlc::numerics::createNumericsVerifier(uint64_t seed, bool allowsSteps) {
  return std::make_unique<NumericsVerifier>(seed, allowsSteps);
}
