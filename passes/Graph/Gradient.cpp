// SPDX-License-Identifier: Apache-2.0
//
// graph-gradient: reverse-mode differentiation of a function. Which operations
// are visited is decided over plain data (Planning/Gradient); what each of them
// builds, the operations know.

#include "dlc/dialects/Graph/Gradients.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Passes.h"

#include "dlc/Planning/Gradient/Activity.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSet.h"

namespace dlc::graph {
#define GEN_PASS_DEF_GRADIENTPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;
namespace activity = dlc::planning::gradient;

namespace {

/// What is differentiated by what. Numbers are those of the function's results
/// and arguments.
struct Task {
  SmallVector<unsigned> heads, sources;
  SmallVector<bool> isAdded; ///< One per source: there is a former gradient.
};

/// The operations of a block as an activity problem.
struct Numbered {
  activity::Problem problem;
  SmallVector<Operation *> operations;
  DenseMap<Value, uint32_t> numbers;
};

/// Gradients while they are summed up.
using Sums = DenseMap<Value, Value>;

} // namespace

//===----------------------------------------------------------------------===//
// Collect: what is asked for
//===----------------------------------------------------------------------===//

/// The name of an argument or result, or "#3".
static std::string nameOf(StringAttr name, unsigned number) {
  return name ? name.str() : "#" + std::to_string(number);
}

/// The name that the model gives argument or result `number`, or null.
static StringAttr givenName(func::FuncOp function, unsigned number,
                            bool isResult) {
  StringRef attribute = GraphDialect::kNameAttr;
  return isResult ? function.getResultAttrOfType<StringAttr>(number, attribute)
                  : function.getArgAttrOfType<StringAttr>(number, attribute);
}

/// The numbers of the arguments or results that are called for: those of
/// floats where nothing is.
static FailureOr<SmallVector<unsigned>>
find(func::FuncOp function, ArrayRef<std::string> names, bool isResult) {
  TypeRange types(isResult ? function.getResultTypes()
                           : function.getArgumentTypes());
  SmallVector<unsigned> found;
  std::string known;
  llvm::StringMap<unsigned> numbers;
  for (auto [i, type] : llvm::enumerate(types)) {
    if (!isContinuous(type))
      continue;
    std::string name = nameOf(givenName(function, i, isResult), i);
    known += (known.empty() ? "" : ", ") + name;
    numbers.try_emplace(name, i);
    numbers.try_emplace("#" + std::to_string(i), i);
    if (names.empty())
      found.push_back(i);
  }
  if (known.empty())
    return function.emitError("expected ")
           << (isResult ? "a result" : "an argument")
           << " of floats, found none";
  for (const std::string &name : names) {
    auto number = numbers.find(name);
    if (number == numbers.end())
      return function.emitError("expected ")
             << (isResult ? "a result" : "an argument") << " of floats ("
             << known << "), got '" << name << "'";
    if (!llvm::is_contained(found, number->second))
      found.push_back(number->second);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Decide: which operations are visited
//===----------------------------------------------------------------------===//

static Numbered number(Block &block, const Task &task) {
  Numbered numbered;
  auto numberOf = [&](Value value) {
    auto [at, isNew] =
        numbered.numbers.try_emplace(value, numbered.numbers.size());
    if (isNew)
      numbered.problem.isContinuous.push_back(isContinuous(value.getType()));
    return at->second;
  };
  for (Operation &op : block.without_terminator()) {
    activity::Operation plain;
    for (Value operand : op.getOperands())
      plain.operands.push_back(numberOf(operand));
    for (Value result : op.getResults())
      plain.results.push_back(numberOf(result));
    numbered.problem.operations.push_back(std::move(plain));
    numbered.operations.push_back(&op);
  }
  for (unsigned head : task.heads)
    numbered.problem.heads.push_back(
        numberOf(block.getTerminator()->getOperand(head)));
  for (unsigned source : task.sources)
    numbered.problem.sources.push_back(numberOf(block.getArgument(source)));
  return numbered;
}

/// Puts simpler operations in the place of those on the way that know no
/// gradient of their own. True when there were some.
static bool decomposeOnWay(const Numbered &numbered,
                           const activity::Solution &solution) {
  bool changed = false;
  for (const activity::Step &step : solution.steps) {
    Operation *op = numbered.operations[step.operation];
    auto composite = dyn_cast<DecomposeOpInterface>(op);
    if (!composite || isa<GradientOpInterface>(op))
      continue;
    OpBuilder builder(op);
    auto values = composite.decompose(builder);
    if (failed(values))
      continue; // Reported where it is differentiated.
    op->replaceAllUsesWith(*values);
    op->erase();
    changed = true;
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// Rewrite: the way back
//===----------------------------------------------------------------------===//

/// What is built for an operation stays on its device.
static void keepDevice(Operation *op, Operation *before, Block &block) {
  Attribute device = op->getDiscardableAttr("device");
  auto begin = before ? std::next(before->getIterator()) : block.begin();
  for (Operation &built :
       llvm::make_range(begin, block.getTerminator()->getIterator()))
    if (device && !built.getDiscardableAttr("device"))
      built.setDiscardableAttr("device", device);
}

/// A sum is made as soon as there are two terms, so that none waits in memory
/// for the others.
static void addTerm(OpBuilder &builder, Location loc, Sums &sums, Value of,
                    Value term) {
  Value &sum = sums[of];
  sum = sum ? AddOp::create(builder, loc, sum, term).getY() : term;
}

static LogicalResult visit(OpBuilder &builder, Operation *op,
                           const activity::Step &step, Sums &sums) {
  SmallVector<Value> ofResults;
  for (Value result : op->getResults())
    ofResults.push_back(sums.lookup(result));
  // Stopped, or not connected with a head after all.
  if (llvm::none_of(ofResults, [](Value value) { return !!value; }))
    return success();
  Block &block = *op->getBlock();
  Operation *before = block.getTerminator()->getPrevNode();
  SmallVector<bool> wanted(step.wanted.begin(), step.wanted.end());
  auto ofOperands = buildGradients(builder, op, ofResults, wanted);
  if (failed(ofOperands))
    return failure();
  for (auto [operand, gradient] :
       llvm::zip_equal(op->getOperands(), *ofOperands))
    if (gradient)
      addTerm(builder, op->getLoc(), sums, operand, gradient);
  keepDevice(op, before, block);
  return success();
}

/// A name that no other has.
static StringAttr uniqueName(func::FuncOp function, bool isResult,
                             std::string name) {
  llvm::StringSet<> taken;
  unsigned count =
      isResult ? function.getNumResults() : function.getNumArguments();
  for (unsigned i = 0; i < count; ++i)
    if (StringAttr other = givenName(function, i, isResult))
      taken.insert(other.getValue());
  std::string unique = name;
  for (int number = 2; taken.contains(unique); ++number)
    unique = name + " " + std::to_string(number);
  return StringAttr::get(function.getContext(), unique);
}

static std::string gradientName(func::FuncOp function, unsigned number,
                                bool isResult) {
  return "grad of " + nameOf(givenName(function, number, isResult), number);
}

/// Adds an argument that holds a gradient.
static Value addArgument(func::FuncOp function, Type type,
                         const std::string &name) {
  unsigned number = function.getNumArguments();
  StringAttr unique = uniqueName(function, /*isResult=*/false, name);
  auto attributes = DictionaryAttr::get(
      function.getContext(),
      NamedAttribute(
          StringAttr::get(function.getContext(), GraphDialect::kNameAttr),
          unique));
  (void)function.insertArgument(number, type, attributes, function.getLoc());
  return function.getArgument(number);
}

static void addResult(func::FuncOp function, Value value,
                      const std::string &name) {
  unsigned number = function.getNumResults();
  StringAttr unique = uniqueName(function, /*isResult=*/true, name);
  (void)function.insertResult(number, value.getType(), /*resultAttrs=*/{});
  function.setResultAttr(number, GraphDialect::kNameAttr, unique);
  Operation *end = function.getBody().front().getTerminator();
  end->insertOperands(end->getNumOperands(), value);
}

/// The sums that the way back begins with: the gradients of the heads, as new
/// arguments.
static Sums addHeads(OpBuilder &builder, func::FuncOp function,
                     const Task &task) {
  Sums sums;
  Operation *end = function.getBody().front().getTerminator();
  for (unsigned head : task.heads) {
    Value value = end->getOperand(head);
    Value gradient =
        addArgument(function, value.getType(),
                    gradientName(function, head, /*isResult=*/true));
    addTerm(builder, function.getLoc(), sums, value, gradient);
  }
  return sums;
}

/// The gradient of a source: what was summed, or zeros, and the former one.
static FailureOr<Value> finishSource(OpBuilder &builder, func::FuncOp function,
                                     unsigned source, bool isAdded,
                                     Sums &sums) {
  Value argument = function.getArgument(source);
  std::string name = gradientName(function, source, /*isResult=*/false);
  if (isAdded)
    addTerm(builder, function.getLoc(), sums, argument,
            addArgument(function, argument.getType(), "sum of " + name));
  if (Value sum = sums.lookup(argument))
    return sum;
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || !type.hasStaticShape())
    return function.emitError("expected a static shape of argument '")
           << nameOf(givenName(function, source, false), source)
           << "', whose gradient is zero, got " << argument.getType();
  return ConstantOp::create(builder, function.getLoc(), makeSplat(type, 0))
      .getY();
}

static LogicalResult differentiate(func::FuncOp function, const Task &task) {
  Block &block = function.getBody().front();
  Numbered numbered = number(block, task);
  activity::Solution solution = activity::solve(numbered.problem);
  while (decomposeOnWay(numbered, solution)) {
    numbered = number(block, task);
    solution = activity::solve(numbered.problem);
  }
  OpBuilder builder(block.getTerminator());
  Sums sums = addHeads(builder, function, task);
  for (const activity::Step &step : solution.steps)
    if (failed(visit(builder, numbered.operations[step.operation], step, sums)))
      return failure();
  unsigned zeros = 0;
  for (auto [source, isAdded] : llvm::zip_equal(task.sources, task.isAdded)) {
    zeros += !sums.lookup(function.getArgument(source));
    auto sum = finishSource(builder, function, source, isAdded, sums);
    if (failed(sum))
      return failure();
    addResult(function, *sum,
              gradientName(function, source, /*isResult=*/false));
  }
  remark::passed(function.getLoc(), remark::RemarkOpts::name("Gradient")
                                        .category("graph-gradient")
                                        .function(function.getName()))
      << remark::add("differentiated")
      << remark::metric("Operations", solution.steps.size())
      << remark::metric("Zeros", zeros);
  return success();
}

namespace {
struct Gradient : graph::impl::GradientPassBase<Gradient> {
  using GradientPassBase::GradientPassBase;

  /// What the options ask for.
  FailureOr<Task> readTask(func::FuncOp function) {
    auto heads = find(function, llvm::to_vector(this->heads), true);
    if (failed(heads))
      return failure();
    auto sources = find(function, llvm::to_vector(this->wrt), false);
    if (failed(sources))
      return failure();
    Task task{*heads, *sources, SmallVector<bool>(sources->size(), false)};
    if (this->add.empty())
      return task;
    auto added = find(function, llvm::to_vector(this->add), false);
    if (failed(added))
      return failure();
    for (unsigned argument : *added) {
      const auto *at = llvm::find(task.sources, argument);
      if (at == task.sources.end())
        return function.emitError("expected an argument of 'wrt' to add to, "
                                  "got '")
               << nameOf(givenName(function, argument, false), argument) << "'";
      task.isAdded[at - task.sources.begin()] = true;
    }
    return task;
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (!function.getBody().hasOneBlock()) {
      function.emitError("expected one block to differentiate");
      return signalPassFailure();
    }
    FailureOr<Task> task = readTask(function);
    if (failed(task) || failed(differentiate(function, *task)))
      signalPassFailure();
  }
};
} // namespace
