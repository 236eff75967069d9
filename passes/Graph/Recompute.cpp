// SPDX-License-Identifier: Apache-2.0
//
// graph-recompute: what is computed again behind the point where most bytes are
// live. The decision is Planning/Recompute's.

#include "dlc/Planning/Recompute/Recompute.h"
#include "dlc/Analysis/IndexedGraph.h"
#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"
#include "dlc/runtime/Kernel/Library.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dlc::graph {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;
using dlc::analysis::IndexedGraph;
namespace recompute = dlc::planning::recompute;

namespace {

/// A block as a problem. Views are no operations of it: who reads one reads the
/// value whose bytes it shows. Neither are copies between devices, so that the
/// answer does not depend on devices.
struct Collected {
  explicit Collected(Block &block);

  IndexedGraph graph;
  recompute::Problem problem;          ///< Values are entries.
  SmallVector<Operation *> operations; ///< Of the problem.

private:
  void addOperation(IndexedGraph::NodeId node);

  std::vector<IndexedGraph::EntryId> shown; ///< The entry that a view shows.
  std::vector<bool> isReturned;
};

/// Puts repetitions into the block.
class Rewriter {
public:
  Rewriter(const Collected &collected, Attribute round)
      : collected(collected), round(round) {}
  void apply(ArrayRef<recompute::Step> steps);

private:
  Value resolve(OpBuilder &builder, Value value);

  const Collected &collected;
  Attribute round;
  IRMapping repeated;
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// The operation shows the bytes of its operand, here or on another device.
static bool isView(Operation *op) {
  if (isa<CopyOp>(op))
    return true;
  auto view = dyn_cast<InPlaceOpInterface>(op);
  return view && view.isView() && hasStaticTypes(op);
}

/// Modelled as the runtime does, of all operands and results.
static int64_t nanosecondsOf(Operation *op) {
  rt::KernelCost cost;
  for (Type type : op->getOperandTypes())
    cost.bytes += bytesOf(type);
  for (Type type : op->getResultTypes())
    cost.bytes += bytesOf(type);
  if (auto match = library::matchGroup(op)) {
    std::vector<rt::TensorType> inputs, outputs;
    for (Type result : op->getResultTypes())
      outputs.push_back(toTensorType(result));
    for (Value operand : match->operands)
      inputs.push_back(operand ? toTensorType(operand.getType())
                               : rt::TensorType());
    const rt::LibraryEntry *entry = rt::lookupLibraryEntry(match->entry);
    rt::Attributes config =
        toAttributes(match->config.getDictionary(op->getContext()));
    if (entry && entry->cost)
      cost.flops = entry->cost({inputs, outputs, config}).flops;
  }
  return static_cast<int64_t>(rt::nanosecondsOf(cost));
}

static recompute::Again againOf(Operation *op) {
  using recompute::Again;
  if (!isComputed(op) || !hasStaticTypes(op))
    return Again::Never;
  if (op->getDiscardableAttr(kRecomputeAttr))
    return Again::Asked;
  FusionKind kind = getFusionKind(op);
  return kind == FusionKind::Elementwise || kind == FusionKind::Movement
             ? Again::Cheap
             : Again::Dear;
}

Collected::Collected(Block &block)
    : graph(block), problem{std::vector<int64_t>(graph.entryCount()), {}},
      shown(graph.entryCount()), isReturned(graph.entryCount()) {
  for (IndexedGraph::EntryId entry : llvm::seq(graph.entryCount()))
    shown[entry] = entry;
  for (IndexedGraph::NodeId node : llvm::seq(graph.nodeCount()))
    if (isView(graph.node(node)))
      shown[*graph.results(node).begin()] = shown[graph.operands(node).front()];
  for (IndexedGraph::EntryId entry : graph.outputs())
    isReturned[shown[entry]] = true;
  for (IndexedGraph::NodeId node : llvm::seq(graph.nodeCount()))
    if (!isa<ConstantOp, NoneOp>(graph.node(node)) && !isView(graph.node(node)))
      addOperation(node);
}

void Collected::addOperation(IndexedGraph::NodeId node) {
  Operation *op = graph.node(node);
  recompute::Operation plain;
  for (IndexedGraph::EntryId entry : graph.operands(node))
    plain.reads.push_back(shown[entry]);
  plain.again = againOf(op);
  plain.nanoseconds = nanosecondsOf(op);
  if (auto inPlace = dyn_cast<InPlaceOpInterface>(op))
    for (auto [operand, result] : inPlace.getInPlacePairs())
      if (result == 0)
        plain.inPlace.push_back(shown[graph.operands(node)[operand]]);
  for (IndexedGraph::EntryId entry : graph.results(node)) {
    plain.writes.push_back(entry);
    // The caller's memory; nothing is gained by making it twice.
    if (isReturned[entry])
      plain.again = recompute::Again::Never;
    else
      problem.bytes[entry] = bytesOf(graph.entry(entry).getType());
  }
  problem.operations.push_back(std::move(plain));
  operations.push_back(op);
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// The newest form of `value` at the builder's place; views of what was
/// repeated are built again.
Value Rewriter::resolve(OpBuilder &builder, Value value) {
  if (Value known = repeated.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || !isView(op))
    return value;
  Value source = resolve(builder, op->getOperand(0));
  if (source == op->getOperand(0))
    return value;
  IRMapping operands;
  operands.map(op->getOperand(0), source);
  Operation *built = builder.clone(*op, operands);
  built->setAttr(kRepeatedAttr, round);
  repeated.map(value, built->getResult(0));
  return built->getResult(0);
}

void Rewriter::apply(ArrayRef<recompute::Step> steps) {
  SmallVector<Operation *> pending;
  for (const recompute::Step &step : steps) {
    Operation *op = collected.operations[step.operation];
    if (step.isAgain) {
      pending.push_back(op);
      continue;
    }
    OpBuilder builder(op);
    for (Operation *again : pending) {
      IRMapping operands;
      for (Value operand : again->getOperands())
        operands.map(operand, resolve(builder, operand));
      Operation *built = builder.clone(*again, operands);
      built->setAttr(kRepeatedAttr, round);
      repeated.map(again->getResults(), built->getResults());
    }
    pending.clear();
    for (OpOperand &operand : op->getOpOperands())
      operand.set(resolve(builder, operand.get()));
  }
}

namespace {
struct Recompute : graph::impl::RecomputePassBase<Recompute> {
  using RecomputePassBase::RecomputePassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (budget >= -1)
      return success();
    return emitError(UnknownLoc::get(context),
                     "graph-recompute: expected a budget of at least -1, got ")
           << budget.getValue();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    bool isDifferentiated = function->hasAttr(kGradientAttr);
    if (!function.getBody().hasOneBlock() || (budget < 0 && !isDifferentiated))
      return;
    Report report;
    unsigned dearRounds = 0;
    bool isDear = true;
    for (unsigned round = 0; round < kRounds; ++round) {
      int64_t repeated = report.operations;
      dearRounds += isDear;
      if (failed(runRound(round, isDear, report)))
        return signalPassFailure();
      bool isStuck = report.operations == repeated;
      if (budget < 0 || report.peakBytes <= budget ||
          (isStuck && (isDear || dearRounds == kDearRounds)))
        break;
      isDear = isStuck;
    }
    remark::passed(function.getLoc(), remark::RemarkOpts::name("Recompute")
                                          .category("graph-recompute")
                                          .function(function.getName()))
        << remark::add("recomputed")
        << remark::metric("Operations", report.operations)
        << remark::metric("Nanoseconds", report.nanoseconds)
        << remark::metric("NanosecondsBefore", report.nanosecondsBefore)
        << remark::metric("PeakBytesBefore", report.peakBefore)
        << remark::metric("PeakBytes", report.peakBytes);
  }

private:
  /// What rounds did together, what was before them, and the last one's peak.
  struct Report {
    int64_t operations = 0, nanoseconds = 0, nanosecondsBefore = 0;
    int64_t peakBefore = 0, peakBytes = 0;
  };
  /// Bound the time that long chains take, to compile and to run.
  static constexpr unsigned kRounds = 16, kDearRounds = 3;

  /// The first round repeats what the budget asks for. What it computes again
  /// is kept up to the last reader then, so that there is another point where
  /// most bytes are live, and operations in front of it may run once more:
  /// cheap ones in the rounds that follow, and dear ones where these do not
  /// help any more.
  LogicalResult runRound(unsigned round, bool isDear, Report &report) {
    Block &block = getOperation().getBody().front();
    Collected collected(block);
    const recompute::Problem &problem = collected.problem;
    recompute::Solution solution =
        budget < 0 ? recompute::solveCheap(problem)
                   : recompute::solve(problem, budget,
                                      isDear ? recompute::Again::Dear
                                             : recompute::Again::Cheap);
    if (auto fault = recompute::validate(problem, solution))
      return getOperation().emitOpError("internal: what is recomputed is "
                                        "wrong: ")
             << *fault;
    report.peakBytes = solution.peakBytes;
    report.operations += solution.steps.size() - problem.operations.size();
    report.nanoseconds += solution.nanoseconds;
    if (round == 0) {
      report.peakBefore = recompute::keepAll(problem).peakBytes;
      for (const recompute::Operation &op : problem.operations)
        report.nanosecondsBefore += op.nanoseconds;
    }
    Rewriter(collected, Builder(&getContext()).getI64IntegerAttr(round))
        .apply(solution.steps);
    // First runs that only their repetition was for.
    (void)eraseDead(block);
    return success();
  }
};
} // namespace
