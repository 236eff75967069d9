// SPDX-License-Identifier: Apache-2.0
//
// graph-alter-layout: in which order of its dimensions each value is kept, so
// that transposes vanish. The decision is Planning/Layout's.

#include "dlc/Analysis/IndexedGraph.h"
#include "dlc/Planning/Layout/Layout.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

#include <map>

namespace dlc::graph {
#define GEN_PASS_DEF_ALTERLAYOUTPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;
namespace layout = dlc::planning::layout;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

namespace {

/// A value in layout `p` is kept as `transpose(value, p)`.
using Permutation = SmallVector<int64_t>;

/// The layouts that values of each rank may have. The first is row-major; the
/// others are those that transposes lead to and from.
class Layouts {
public:
  explicit Layouts(Block &body);

  ArrayRef<Permutation> of(int64_t rank) const;
  /// The number of `p` among those of its rank.
  std::optional<unsigned> find(ArrayRef<int64_t> p) const;

private:
  /// Each layout more is a choice more for every value; programs have two.
  static constexpr size_t maxLayouts = 4;

  std::map<int64_t, SmallVector<Permutation>> byRank;
};

} // namespace

static int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : -1;
}

Layouts::Layouts(Block &body) {
  for (auto transpose : body.getOps<TransposeOp>()) {
    ArrayRef<int64_t> perm = transpose.getPerm();
    SmallVector<Permutation> &known = byRank[static_cast<int64_t>(perm.size())];
    if (known.empty())
      known.push_back(llvm::to_vector(
          llvm::seq<int64_t>(static_cast<int64_t>(perm.size()))));
    for (const Permutation &p :
         {Permutation(perm), invertPermutationVector(perm)})
      if (known.size() < maxLayouts && !llvm::is_contained(known, p))
        known.push_back(p);
  }
}

ArrayRef<Permutation> Layouts::of(int64_t rank) const {
  auto at = byRank.find(rank);
  return at == byRank.end() ? ArrayRef<Permutation>() : ArrayRef(at->second);
}

std::optional<unsigned> Layouts::find(ArrayRef<int64_t> p) const {
  ArrayRef<Permutation> known = of(static_cast<int64_t>(p.size()));
  const auto *at = llvm::find(known, Permutation(p));
  if (at == known.end())
    return std::nullopt;
  return static_cast<unsigned>(at - known.begin());
}

namespace {

/// What an operation does when its results are in one layout.
struct Form {
  unsigned layout = 0;              ///< Of results.
  SmallVector<unsigned> operands;   ///< The layout of each operand.
  std::optional<PermutedOp> change; ///< Nullopt: the operation stays.
};

} // namespace

/// True if operand number `i` takes part in the order of dimensions.
static bool isData(Operation *op, unsigned i) {
  auto fusion = dyn_cast<FusionOpInterface>(op);
  return !(fusion && fusion.isParameter(i));
}

/// A transpose is nothing where its operand is in the right layout.
static SmallVector<Form> formsOf(TransposeOp transpose,
                                 const Layouts &layouts) {
  SmallVector<Form> forms;
  for (auto [i, p] : llvm::enumerate(layouts.of(rankOf(transpose.getY()))))
    if (auto from = layouts.find(applyPermutation(transpose.getPerm(), p)))
      forms.push_back({static_cast<unsigned>(i), {*from}, {}});
  return forms;
}

static bool hasRank(TransposeOp transpose) {
  return rankOf(transpose.getX()) >= 0 && rankOf(transpose.getY()) >= 0;
}

/// What transposes that move elements move. Constants are transposed while
/// compiling, and nothing is known of what has no rank.
static bool isMoved(TransposeOp transpose) {
  return hasRank(transpose) && !getConstantElements(transpose.getX());
}

/// What one of several equal transposes is equal in.
using Moved = llvm::SetVector<std::pair<Value, Attribute>>;

static void insert(Moved &moved, TransposeOp transpose) {
  moved.insert({transpose.getX(), transpose.getPermAttr()});
}

/// True unless the transpose, which has a rank, moves elements in this form.
static bool isView(TransposeOp transpose, const Form &form,
                   const Layouts &layouts) {
  ArrayRef<Permutation> known = layouts.of(rankOf(transpose.getY()));
  return applyPermutation(transpose.getPerm(), known[form.layout]) ==
         known[form.operands[0]];
}

/// All forms of `op`, that of row-major tensors first.
static SmallVector<Form> formsOf(Operation *op, const Layouts &layouts) {
  SmallVector<Form> forms;
  if (auto transpose = dyn_cast<TransposeOp>(op))
    forms = formsOf(transpose, layouts);
  // One whose permutation is too many is like any other operation.
  if (forms.empty() || forms.front().layout != 0)
    forms.insert(forms.begin(),
                 {0, SmallVector<unsigned>(op->getNumOperands(), 0), {}});
  auto permutable = dyn_cast<LayoutOpInterface>(op);
  int64_t rank = op->getNumResults() ? rankOf(op->getResult(0)) : -1;
  auto isOther = [&](Value y) { return rankOf(y) != rank; };
  if (!permutable || rank < 0 || llvm::any_of(op->getResults(), isOther))
    return forms;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    int64_t own = rankOf(op->getOperand(i));
    if (isData(op, i) && (own < 0 || own > rank))
      return forms;
  }
  ArrayRef<Permutation> known = layouts.of(rank);
  for (unsigned i = 1; i < known.size(); ++i) {
    Form form;
    form.layout = i;
    form.change = permutable.permute(known[i]);
    if (!form.change)
      continue;
    for (unsigned k = 0; k < op->getNumOperands(); ++k)
      form.operands.push_back(
          isData(op, k) && rankOf(op->getOperand(k)) == rank ? form.layout : 0);
    forms.push_back(std::move(form));
  }
  return forms;
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

namespace {

/// One or two layouts in which a value is there.
struct Kept {
  SmallVector<unsigned, 2> layouts;
  bool has(unsigned layout) const {
    return llvm::is_contained(layouts, layout);
  }
};

/// Nodes are the values that may have several layouts, then the operations that
/// have several forms. Numbers of others are kNone.
struct LayoutProblem {
  LayoutProblem(Block &body, const analysis::IndexedGraph &graph);

  static constexpr uint32_t kNone = UINT32_MAX;

  Layouts layouts;
  const analysis::IndexedGraph &graph;
  layout::Problem problem;
  SmallVector<SmallVector<Kept>> kept;  ///< Of each value's alternatives.
  SmallVector<SmallVector<Form>> forms; ///< Of each operation.
  SmallVector<uint32_t> valueNodes, opNodes;
  /// What transposes move that have no other form.
  Moved unavoidable;

private:
  void addValues();
  void addOperations();
  /// The value is there in the layout that form `i` of `op` gives with
  /// `layouts[i]`.
  void relate(uint32_t op, uint32_t value, ArrayRef<unsigned> layouts);
  void demand(uint32_t value, unsigned layout);
};

} // namespace

LayoutProblem::LayoutProblem(Block &body, const analysis::IndexedGraph &graph)
    : layouts(body), graph(graph) {
  addValues();
  addOperations();
  for (uint32_t argument : llvm::seq(graph.argumentCount()))
    demand(argument, 0);
  for (uint32_t output : graph.outputs())
    demand(output, 0);
}

/// What is not known counts as one element.
static layout::Cost bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  int64_t count = element.isIntOrFloat()
                      ? std::max(1u, element.getIntOrFloatBitWidth() / 8)
                      : 1;
  for (int64_t extent : type.getShape())
    if (!ShapedType::isDynamic(extent) &&
        llvm::MulOverflow(count, std::max<int64_t>(extent, 1), count))
      return layout::kForbidden;
  return std::min(count, layout::kForbidden);
}

void LayoutProblem::addValues() {
  for (uint32_t id : llvm::seq(graph.entryCount())) {
    Value value = graph.entry(id);
    kept.emplace_back();
    auto count = static_cast<unsigned>(layouts.of(rankOf(value)).size());
    if (count < 2) {
      valueNodes.push_back(kNone);
      continue;
    }
    valueNodes.push_back(static_cast<uint32_t>(problem.nodes.size()));
    std::vector<layout::Cost> costs;
    for (unsigned a = 0; a < count; ++a) {
      kept.back().push_back({{a}});
      costs.push_back(0);
    }
    for (unsigned a = 0; a < count; ++a)
      for (unsigned b = a + 1; b < count; ++b) {
        kept.back().push_back({{a, b}});
        costs.push_back(bytesOf(value));
      }
    problem.nodes.push_back(std::move(costs));
  }
}

void LayoutProblem::demand(uint32_t value, unsigned layout) {
  uint32_t node = valueNodes[value];
  for (auto [i, one] : llvm::enumerate(kept[value]))
    if (!one.has(layout))
      problem.nodes[node][i] = layout::kForbidden;
}

void LayoutProblem::relate(uint32_t op, uint32_t value,
                           ArrayRef<unsigned> needed) {
  if (valueNodes[value] == kNone)
    return;
  if (opNodes[op] == kNone)
    return demand(value, needed.front());
  layout::Edge edge{opNodes[op], valueNodes[value], {}};
  for (unsigned layout : needed)
    for (const Kept &one : kept[value])
      edge.costs.push_back(one.has(layout) ? 0 : layout::kForbidden);
  problem.edges.push_back(std::move(edge));
}

void LayoutProblem::addOperations() {
  for (uint32_t id : llvm::seq(graph.nodeCount())) {
    Operation *op = graph.node(id);
    forms.push_back(formsOf(op, layouts));
    opNodes.push_back(kNone);
    auto transpose = dyn_cast<TransposeOp>(op);
    bool isMoving = transpose && isMoved(transpose);
    if (isMoving && forms.back().size() == 1 &&
        !isView(transpose, forms.back().front(), layouts))
      insert(unavoidable, transpose);
    if (forms.back().size() > 1) {
      opNodes.back() = static_cast<uint32_t>(problem.nodes.size());
      std::vector<layout::Cost> costs;
      for (const Form &form : forms.back()) {
        // Row-major among equals; operands of lower rank are moved, too.
        layout::Cost cost = form.layout != 0;
        if (isMoving && !isView(transpose, form, layouts))
          cost = std::min(layout::kForbidden, cost + bytesOf(transpose.getX()));
        for (auto [k, operand] : llvm::enumerate(op->getOperands()))
          if (form.change && isData(op, k) && rankOf(operand) > 0 &&
              rankOf(operand) < rankOf(op->getResult(0)) &&
              !getConstantElements(operand))
            cost = std::min(layout::kForbidden, cost + bytesOf(operand));
        costs.push_back(cost);
      }
      problem.nodes.push_back(std::move(costs));
    }
    SmallVector<unsigned> needed;
    // What regions read stands behind the operands and is row-major.
    for (auto [k, value] : llvm::enumerate(graph.operands(id))) {
      needed.clear();
      for (const Form &form : forms.back())
        needed.push_back(k < form.operands.size() ? form.operands[k] : 0);
      relate(id, value, needed);
    }
    if (isa<ConstantOp>(op)) // Its layout costs nothing.
      continue;
    needed.clear();
    for (const Form &form : forms.back())
      needed.push_back(form.layout);
    for (uint32_t value : graph.results(id))
      relate(id, value, needed);
  }
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

namespace {

/// Builds operations in their chosen forms in front of what they replace.
class Rewrite {
public:
  explicit Rewrite(LayoutProblem &decided, ArrayRef<uint32_t> choices)
      : decided(decided), choices(choices) {}
  void run(Block &body);

private:
  /// `value` in a layout of its rank: as it was made, or transposed once.
  Value get(Value value, unsigned layout);
  Value getOperand(OpOperand &operand, const Form &form, int64_t rank);
  void build(Operation *op, const Form &form);

  LayoutProblem &decided;
  ArrayRef<uint32_t> choices;
  /// In which layout each value was made, if not row-major, and its copies.
  DenseMap<Value, std::pair<unsigned, Value>> made;
  DenseMap<std::pair<Value, unsigned>, Value> moved;
};

} // namespace

Value Rewrite::get(Value value, unsigned layout) {
  auto [from, kept] = made.lookup_or(value, std::pair(0u, value));
  if (from == layout)
    return kept;
  Value &result = moved[{value, layout}];
  if (result)
    return result;
  ArrayRef<Permutation> known = decided.layouts.of(rankOf(value));
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(kept);
  Operation *transpose = TransposeOp::create(
      builder, value.getLoc(), kept,
      applyPermutation(invertPermutationVector(known[from]), known[layout]));
  if (Operation *maker = value.getDefiningOp())
    copyPlacement(maker, transpose);
  return result = transpose->getResult(0);
}

/// Operands of lower rank broadcast as they did, before dimensions move.
Value Rewrite::getOperand(OpOperand &operand, const Form &form, int64_t rank) {
  Operation *op = operand.getOwner();
  unsigned k = operand.getOperandNumber();
  Value value = get(operand.get(), form.operands[k]);
  int64_t own = rankOf(value);
  if (!form.change || !isData(op, k) || own < 1 || own == rank)
    return value;
  OpBuilder builder(op);
  SmallVector<int64_t> leading =
      llvm::to_vector(llvm::seq<int64_t>(rank - own));
  Value axes = ConstantOp::create(builder, op->getLoc(),
                                  makeInts(builder.getContext(), leading));
  Operation *wide = UnsqueezeOp::create(builder, op->getLoc(), value, axes);
  copyPlacement(op, wide);
  Operation *transpose =
      TransposeOp::create(builder, op->getLoc(), wide->getResult(0),
                          decided.layouts.of(rank)[form.layout]);
  copyPlacement(op, transpose);
  return transpose->getResult(0);
}

void Rewrite::build(Operation *op, const Form &form) {
  auto transpose = dyn_cast<TransposeOp>(op);
  if (transpose && hasRank(transpose) &&
      isView(transpose, form, decided.layouts)) {
    made[transpose.getY()] = {form.layout,
                              get(transpose.getX(), form.operands[0])};
    return;
  }
  int64_t rank = op->getNumResults() ? rankOf(op->getResult(0)) : -1;
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(getOperand(operand, form, rank));
  if (!form.change) {
    op->setOperands(operands);
    return;
  }
  OpBuilder builder(op);
  for (auto &[k, value] : form.change->constants)
    operands[k] = ConstantOp::create(builder, op->getLoc(), value);
  Operation *built = builder.clone(*op);
  built->setOperands(operands);
  for (NamedAttribute attribute : form.change->attributes)
    built->setAttr(attribute.getName(), attribute.getValue());
  for (auto [result, now] :
       llvm::zip_equal(op->getResults(), built->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    now.setType(type.clone(applyPermutation(
        type.getShape(), decided.layouts.of(rank)[form.layout])));
    made[result] = {form.layout, now};
  }
}

void Rewrite::run(Block &body) {
  const analysis::IndexedGraph &graph = decided.graph;
  for (uint32_t id : llvm::seq(graph.nodeCount())) {
    Operation *op = graph.node(id);
    op->walk([&](Operation *inner) {
      for (OpOperand &use : inner->getOpOperands())
        if (inner != op && made.contains(use.get()))
          use.set(get(use.get(), 0));
    });
    uint32_t node = decided.opNodes[id];
    build(op,
          decided.forms[id][node == LayoutProblem::kNone ? 0 : choices[node]]);
  }
  for (OpOperand &use : body.getTerminator()->getOpOperands())
    use.set(get(use.get(), 0));
  for (uint32_t id = graph.nodeCount(); id-- > 0;)
    if (isOpTriviallyDead(graph.node(id)))
      graph.node(id)->erase();
}

static Moved findMoved(Block &body) {
  Moved moved;
  for (auto transpose : body.getOps<TransposeOp>())
    if (isMoved(transpose))
      insert(moved, transpose);
  return moved;
}

static layout::Cost bytesOf(const Moved &moved) {
  layout::Cost sum = 0;
  for (auto [value, perm] : moved)
    sum = std::min(layout::kForbidden, sum + bytesOf(value));
  return sum;
}

namespace {

struct AlterLayout : graph::impl::AlterLayoutPassBase<AlterLayout> {
  void runOnOperation() override;
};

} // namespace

void AlterLayout::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!function.getBody().hasOneBlock())
    return;
  Block &body = function.front();
  Moved moved = findMoved(body);
  if (moved.empty())
    return;
  layout::Cost before = bytesOf(moved);
  analysis::IndexedGraph graph(body);
  LayoutProblem decided(body, graph);
  layout::Solution solution =
      layout::solve(decided.problem, /*maxBranches=*/16);
  if (auto wrong = layout::validate(decided.problem, solution)) {
    function.emitError("layouts: ") << *wrong;
    return signalPassFailure();
  }
  if (solution.cost >= before - bytesOf(decided.unavoidable))
    return;
  Rewrite(decided, solution.choices).run(body);
  Moved left = findMoved(body);
  remark::passed(
      function.getLoc(),
      remark::RemarkOpts::name("AlterLayout").category("graph-alter-layout"))
      << remark::add("transposes of {0} values, {1} bytes, became {2}, {3} "
                     "bytes",
                     moved.size(), before, left.size(), bytesOf(left));
}
