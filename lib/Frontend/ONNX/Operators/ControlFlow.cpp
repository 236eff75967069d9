// SPDX-License-Identifier: Apache-2.0
//
// Control flow without regions: branches on constants, both branches on data
// and a choice of their values, scans and loops of few steps, which are known.
// Others need regions in Graph first.

#include "Simple.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"

using namespace dlc::onnx;
using mlir::Value;

/// Whether an operation fails for some data, and not only for shapes.
static bool dependsOnChecks(mlir::Operation &op) {
  if (auto indexed = mlir::dyn_cast<::dlc::graph::IndexedOpInterface>(op))
    return !indexed.isInBounds() && !::dlc::graph::getConstantElements(
                                        indexed.getIndicesOperand().get());
  return mlir::isa<::dlc::graph::ResolveIndicesOp,
                   ::dlc::graph::ScatterElementsOp, ::dlc::graph::ScatterNDOp,
                   ::dlc::graph::TensorScatterOp, ::dlc::graph::MaxUnpoolOp>(
      op);
}

/// The values of a branch that is computed whether it is taken or not: a
/// condition may be there to guard an index.
static llvm::SmallVector<Value> importUnguarded(NodeContext &n,
                                                std::string_view branch) {
  mlir::Block *block = n.b.opBuilder().getInsertionBlock();
  mlir::Operation *before = block->empty() ? nullptr : &block->back();
  llvm::SmallVector<Value> results = n.importGraph(branch, {});
  if (n.b.failed())
    return results;
  mlir::Operation *op = before ? before->getNextNode()
                               : (block->empty() ? nullptr : &block->front());
  for (; op; op = op->getNextNode())
    if (dependsOnChecks(*op)) {
      n.unsupported("If with a condition that is not constant and a branch "
                    "that reads or writes at computed indices (" +
                    op->getName().getStringRef() + ")");
      break;
    }
  return results;
}

/// Computes both branches, of which nothing but their values is seen, and
/// selects these. Their shapes have to be known, and the same: a selection
/// broadcasts.
static void importBothBranches(NodeContext &n, std::string_view taken,
                               std::string_view other) {
  llvm::SmallVector<Value> results = importUnguarded(n, taken);
  if (n.b.failed())
    return;
  llvm::SmallVector<Value> others = importUnguarded(n, other);
  if (n.b.failed())
    return;
  if (results.size() != others.size())
    return n.fail("expected branches with as many outputs, got " +
                  llvm::Twine(results.size()) + " and " +
                  llvm::Twine(others.size()));
  Value condition = asScalar(n, n.in(0));
  for (auto [result, value] : llvm::zip_equal(results, others)) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape() || type != value.getType())
      return n.b.fail("unsupported: If with a condition that is not constant "
                      "and outputs that are not known to be of one shape",
                      "inputs of known shapes (--shape) or that always are one "
                      "number (--constant) may make either known; where values "
                      "of inputs decide, cut the model in front of it"),
             void();
    result = n.b.op("select", {condition, result, value});
  }
  n.setAll(results);
}

/// The number that a value is known to be. Nothing where it is not known;
/// several fail the node.
static std::optional<int64_t> knownNumber(NodeContext &n, Value value,
                                          llvm::StringRef what) {
  std::optional<Ints> values = GraphBuilder::intsOf(value);
  if (!values)
    return std::nullopt;
  if (values->size() == 1)
    return values->front();
  n.fail("expected one " + what + ", got " + llvm::Twine(values->size()));
  return std::nullopt;
}

static void importIf(NodeContext &n) {
  const std::optional<int64_t> condition = knownNumber(n, n.in(0), "condition");
  if (n.b.failed())
    return;
  std::string_view taken = n.getGraph("then_branch");
  std::string_view other = n.getGraph("else_branch");
  if (!condition)
    return importBothBranches(n, taken, other);
  llvm::SmallVector<Value> results =
      n.importGraph(*condition ? taken : other, {});
  n.setAll(results);
}

/// Scans and loops are unrolled; longer ones need a loop in Graph.
static constexpr int64_t kMaxUnrolledSteps = 64;

/// An attribute with one number per scan input or output, 0 by default.
static Ints perValue(NodeContext &n, llvm::StringRef name, size_t count) {
  Ints values = n.getInts(name);
  if (values.empty())
    values.assign(count, 0);
  if (values.size() != count)
    n.fail("expected " + llvm::Twine(count) + " values in attribute '" + name +
           "', got " + llvm::Twine(values.size()));
  values.resize(count);
  return values;
}

/// The results of a step, of which there have to be so many.
static llvm::SmallVector<Value> importStep(NodeContext &n,
                                           std::string_view body,
                                           llvm::ArrayRef<Value> operands,
                                           size_t count) {
  llvm::SmallVector<Value> results = n.importGraph(body, operands);
  if (!n.b.failed() && results.size() != count)
    n.fail("expected " + llvm::Twine(count) + " outputs of the body, got " +
           llvm::Twine(results.size()));
  return results;
}

static void importScan(NodeContext &n) {
  int64_t scanned = n.getInt("num_scan_inputs", 0);
  auto inputs = static_cast<int64_t>(n.inputCount());
  auto outputs = static_cast<int64_t>(n.node.outputs.size());
  if (scanned < 1 || scanned > inputs || outputs < inputs - scanned)
    return n.fail("expected attribute 'num_scan_inputs' from 1 to " +
                  llvm::Twine(inputs) + ", and an output per state");
  int64_t states = inputs - scanned, stacked = outputs - states;
  Ints axes = perValue(n, "scan_input_axes", scanned);
  Ints backwards = perValue(n, "scan_input_directions", scanned);
  Ints outputAxes = perValue(n, "scan_output_axes", stacked);
  Ints outputBackwards = perValue(n, "scan_output_directions", stacked);
  std::string_view body = n.getGraph("body");
  int64_t steps = -1;
  for (int64_t i = 0; i < scanned; ++i) {
    Value x = n.in(states + i);
    axes[i] = n.axis(axes[i], n.rank(x));
    steps = GraphBuilder::dimOf(x, axes[i]);
    if (steps < 1 || steps > kMaxUnrolledSteps)
      return n.unsupported("Scan whose number of steps is not known to be "
                           "from 1 to " +
                           llvm::Twine(kMaxUnrolledSteps));
  }
  llvm::SmallVector<Value> current;
  for (int64_t i = 0; i < states; ++i)
    current.push_back(n.in(i));
  llvm::SmallVector<llvm::SmallVector<Value>> rows(stacked);
  for (int64_t step = 0; step < steps && !n.b.failed(); ++step) {
    llvm::SmallVector<Value> operands = current;
    for (int64_t i = 0; i < scanned; ++i) {
      int64_t at = backwards[i] ? steps - 1 - step : step;
      Value row = n.b.slice(n.in(states + i), axes[i], at, at + 1);
      operands.push_back(n.b.squeeze(row, {axes[i]}));
    }
    llvm::SmallVector<Value> results = importStep(n, body, operands, outputs);
    if (n.b.failed())
      return;
    current.assign(results.begin(), results.begin() + states);
    for (int64_t i = 0; i < stacked; ++i)
      rows[i].push_back(n.b.unsqueeze(results[states + i], {outputAxes[i]}));
  }
  for (int64_t i = 0; i < states; ++i)
    n.set(i, current[i]);
  for (int64_t i = 0; i < stacked; ++i) {
    if (outputBackwards[i])
      std::reverse(rows[i].begin(), rows[i].end());
    n.set(states + i, n.b.concat(rows[i], outputAxes[i]));
  }
}

/// Whether a loop goes on, if that is known; without an operand it does.
static std::optional<bool> holds(NodeContext &n, Value condition) {
  if (!condition)
    return true;
  const std::optional<int64_t> known = knownNumber(n, condition, "condition");
  if (!known && !n.b.failed())
    n.unsupported("Loop whose condition is known only while running");
  return known ? std::optional(*known != 0) : std::nullopt;
}

/// How many steps a loop has at most; without an operand any.
static std::optional<int64_t> mostSteps(NodeContext &n) {
  if (!n.has(0))
    return INT64_MAX;
  const std::optional<int64_t> known =
      knownNumber(n, n.in(0), "number of steps");
  if (!known && !n.b.failed())
    n.unsupported("Loop whose number of steps is known only while running");
  return known;
}

static void importLoop(NodeContext &n) {
  const size_t states = std::max<size_t>(n.inputCount(), 2) - 2;
  const size_t outputs = n.node.outputs.size();
  if (outputs < states)
    return n.fail("expected an output per state, of which there are " +
                  llvm::Twine(states) + ", got " + llvm::Twine(outputs));
  std::string_view body = n.getGraph("body");
  const std::optional<int64_t> most = mostSteps(n);
  llvm::SmallVector<Value> current;
  for (size_t i = 0; i < states; ++i)
    current.push_back(n.in(2 + i));
  llvm::SmallVector<llvm::SmallVector<Value>> rows(outputs - states);
  Value condition = n.in(1);
  auto flag = mlir::RankedTensorType::get({}, n.b.opBuilder().getI1Type());
  if (!most)
    return;
  for (int64_t step = 0; step < *most; ++step) {
    const std::optional<bool> goesOn = holds(n, condition);
    if (!goesOn)
      return;
    if (!*goesOn)
      break;
    if (step == kMaxUnrolledSteps)
      return n.unsupported("Loop of more than " +
                           llvm::Twine(kMaxUnrolledSteps) + " steps");
    llvm::SmallVector<Value> operands{
        n.b.intScalar(step),
        n.b.constant(mlir::DenseElementsAttr::get(flag, true))};
    llvm::append_range(operands, current);
    llvm::SmallVector<Value> results =
        importStep(n, body, operands, 1 + outputs);
    if (n.b.failed())
      return;
    condition = results.front();
    auto own = llvm::ArrayRef(results).drop_front();
    current.assign(own.begin(), own.begin() + states);
    for (size_t i = states; i < outputs; ++i)
      rows[i - states].push_back(n.b.unsqueeze(own[i], {0}));
  }
  for (size_t i = 0; i < states; ++i)
    n.set(i, current[i]);
  for (size_t i = states; i < outputs; ++i) {
    if (rows[i - states].empty())
      return n.unsupported("Loop of no steps that stacks results");
    n.set(i, n.b.concat(rows[i - states], 0));
  }
}

static constexpr Operator rows[] = {
    {"If", 1, 1, 1, kAny, importIf},
    {"Loop", 1, 0, kAny, kAny, importLoop},
    {"Scan", 8, 0, kAny, kAny, nullptr, "Scan of opset 8"},
    {"Scan", 9, 1, kAny, kAny, importScan},
};

llvm::ArrayRef<Operator> dlc::onnx::controlFlowOperators() { return rows; }
