// SPDX-License-Identifier: Apache-2.0
//
// graph-alter-layout: in which order of its dimensions each value is kept, so
// that transposes vanish, and which have their channels in blocks, so that
// convolutions are fast. The decision is Planning/Layout's.

#include "Extents.h"
#include "LayoutForms.h"

#include "dlc/Analysis/IndexedGraph.h"
#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace dlc::graph {
#define GEN_PASS_DEF_ALTERLAYOUTPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;
namespace layout = dlc::planning::layout;

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

namespace {

/// What one of several equal transposes is equal in.
using Moved = llvm::SetVector<std::pair<Value, Attribute>>;

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
  LayoutProblem(Layouts layouts, const analysis::IndexedGraph &graph);

  /// What the operations cost as they are, but for transposes.
  layout::Cost costOfRowMajor() const;

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

static void insert(Moved &moved, TransposeOp transpose) {
  moved.insert({transpose.getX(), transpose.getPermAttr()});
}

static layout::Cost costOf(const Moved &moved) {
  layout::Cost sum = 0;
  for (auto [value, perm] : moved)
    sum = std::min(layout::kForbidden, sum + costOfMoving(value));
  return sum;
}

LayoutProblem::LayoutProblem(Layouts known, const analysis::IndexedGraph &graph)
    : layouts(std::move(known)), graph(graph) {
  addValues();
  addOperations();
  for (uint32_t argument : llvm::seq(graph.argumentCount()))
    demand(argument, 0);
  for (uint32_t output : graph.outputs())
    demand(output, 0);
}

/// What it costs to keep a value in both layouts.
static layout::Cost costOfBoth(Value value, unsigned a, unsigned b) {
  auto type = cast<RankedTensorType>(value.getType());
  if (a == 0 && b == kBlocked && hasNoSpace(type.getShape()))
    return 1; // Nothing moves.
  return costOfMoving(value);
}

void LayoutProblem::addValues() {
  for (uint32_t id : llvm::seq(graph.entryCount())) {
    Value value = graph.entry(id);
    kept.emplace_back();
    SmallVector<unsigned> own = layouts.of(value);
    if (own.size() < 2) {
      valueNodes.push_back(kNone);
      continue;
    }
    valueNodes.push_back(static_cast<uint32_t>(problem.nodes.size()));
    std::vector<layout::Cost> costs;
    for (unsigned a : own) {
      kept.back().push_back({{a}});
      costs.push_back(0);
    }
    for (unsigned a = 0; a < own.size(); ++a)
      for (unsigned b = a + 1; b < own.size(); ++b) {
        kept.back().push_back({{own[a], own[b]}});
        costs.push_back(costOfBoth(value, own[a], own[b]));
      }
    problem.nodes.push_back(std::move(costs));
  }
}

layout::Cost LayoutProblem::costOfRowMajor() const {
  layout::Cost sum = 0;
  for (auto [node, own] : llvm::zip_equal(opNodes, forms))
    if (node != kNone && own.front().layout == 0)
      sum = std::min(layout::kForbidden, sum + own.front().cost);
  return sum;
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
        layout::Cost cost = form.cost;
        if (isMoving && !isView(transpose, form, layouts))
          cost = std::min(layout::kForbidden,
                          cost + costOfMoving(transpose.getX()));
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
  LogicalResult run(Block &body);

  /// Values that went into blocks or out of them, and convolutions in blocks.
  unsigned blocked = 0, convolutions = 0;
  layout::Cost blockedBytes = 0;

private:
  /// `value` in a layout of its rank: as it was made, or moved once.
  Value get(Value value, unsigned layout);
  Value move(Value value, Value kept, unsigned from, unsigned to);
  Value getOperand(OpOperand &operand, const Form &form, int64_t rank);
  LogicalResult build(Operation *op, const Form &form);
  Type refined(Value result, Type type, const Form &form) const;
  LogicalResult setResults(Operation *op, Operation *built, const Form &form);

  LayoutProblem &decided;
  ArrayRef<uint32_t> choices;
  /// In which layout each value was made, if not row-major, and its copies.
  DenseMap<Value, std::pair<unsigned, Value>> made;
  DenseMap<std::pair<Value, unsigned>, Value> moved;
};

/// Builds what moves a value, placed as `model` is, if any.
class Mover {
public:
  Mover(OpBuilder &builder, Location loc, Operation *model)
      : builder(builder), loc(loc), model(model) {}
  Value transpose(Value value, ArrayRef<int64_t> perm);
  /// Extents that are found while running are as many as those of `value`, in
  /// the same order.
  Value reshape(Value value, ArrayRef<int64_t> shape);
  /// N, C, D1..Dn, in the order `p`, in blocks, the last with zeros behind the
  /// channels; and back.
  Value block(Value value, ArrayRef<int64_t> p, int64_t size);
  Value unblock(Value value, ArrayRef<int64_t> p, int64_t channels);
  /// What is row-major, or has been reduced to N, C or C in blocks.
  Value unblockReduced(Value value, ArrayRef<int64_t> shape);

private:
  /// The dimensions, and whether 0 is the extent where it is one of them.
  std::pair<Value, bool> listOf(Value value, ArrayRef<int64_t> shape);
  Value placed(Operation *op) {
    if (model)
      copyPlacement(model, op);
    return op->getResult(0);
  }
  Value withExtent(Value value, int64_t axis, int64_t extent) {
    return graph::withExtent(builder, loc, model, value, axis, extent);
  }

  OpBuilder &builder;
  Location loc;
  Operation *model;
};

} // namespace

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static SmallVector<int64_t> identityOf(int64_t rank) {
  return llvm::to_vector(llvm::seq(rank));
}

Value Mover::transpose(Value value, ArrayRef<int64_t> perm) {
  return placed(TransposeOp::create(builder, loc, value, perm));
}

/// Constant where each dimension that is not known is at its place.
std::pair<Value, bool> Mover::listOf(Value value, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(value);
  assert(llvm::count(from, ShapedType::kDynamic) ==
             llvm::count(shape, ShapedType::kDynamic) &&
         "expected as many unknown extents");
  SmallVector<int64_t> constants, origins; // -1: not of `value`.
  bool isInPlace = true;
  for (size_t i = 0, next = 0; i < shape.size(); ++i) {
    const bool isOpen = ShapedType::isDynamic(shape[i]);
    while (isOpen && !ShapedType::isDynamic(from[next]))
      ++next;
    origins.push_back(isOpen ? static_cast<int64_t>(next++) : -1);
    constants.push_back(isOpen ? 0 : shape[i]);
    isInPlace &= !isOpen || origins.back() == static_cast<int64_t>(i);
  }
  auto constantOf = [&](ArrayRef<int64_t> ints) -> Value {
    return ConstantOp::create(builder, loc,
                              makeInts(builder.getContext(), ints));
  };
  if (isInPlace) // 0 says that the extent stays.
    return {constantOf(constants),
            !llvm::is_contained(origins, 0) && llvm::is_contained(shape, 0)};
  SmallVector<Value> parts;
  for (size_t i = 0, end; i < shape.size(); i = end) {
    const int64_t first = origins[i];
    for (end = i + 1; end < shape.size(); ++end)
      if (origins[end] !=
          (first < 0 ? -1 : first + static_cast<int64_t>(end - i)))
        break;
    const auto count = static_cast<int64_t>(end - i);
    if (first < 0) {
      parts.push_back(constantOf(ArrayRef(constants).slice(i, end - i)));
      continue;
    }
    auto type = RankedTensorType::get({count}, builder.getI64Type());
    parts.push_back(placed(
        ShapeOp::create(builder, loc, type, value, first, first + count)));
  }
  auto type = RankedTensorType::get({static_cast<int64_t>(shape.size())},
                                    builder.getI64Type());
  return {placed(ConcatOp::create(builder, loc, type, parts, /*axis=*/0)),
          true};
}

Value Mover::reshape(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  auto [list, allowsZero] = listOf(value, shape);
  return placed(ReshapeOp::create(builder, loc, type, value, list, allowsZero));
}

/// How the dimensions in the order `p`, that of channels in two, are permuted
/// to those of blocks.
static SmallVector<int64_t> permutationToBlocks(ArrayRef<int64_t> p) {
  SmallVector<int64_t> at = invertPermutationVector(p);
  int64_t channels = at[1];
  for (int64_t &position : at)
    position += position > channels;
  at.push_back(channels + 1);
  return at;
}

Value Mover::block(Value value, ArrayRef<int64_t> p, int64_t size) {
  SmallVector<int64_t> perm = permutationToBlocks(p);
  int64_t channels = perm[1];
  value = withExtent(value, channels,
                     llvm::alignTo(shapeOf(value)[channels], size));
  SmallVector<int64_t> split(shapeOf(value));
  split[channels] /= size;
  split.insert(split.begin() + channels + 1, size);
  if (isIdentityPermutation(p) && hasNoSpace(shapeOf(value)))
    return reshape(value, applyPermutation(split, perm));
  return transpose(reshape(value, split), perm);
}

Value Mover::unblock(Value value, ArrayRef<int64_t> p, int64_t channels) {
  SmallVector<int64_t> perm = permutationToBlocks(p), joined(shapeOf(value));
  joined[1] *= joined.pop_back_val();
  bool isInOrder = isIdentityPermutation(p) && hasNoSpace(joined);
  if (!isInOrder)
    value = transpose(value, invertPermutationVector(perm));
  return withExtent(reshape(value, applyPermutation(joined, p)), perm[1],
                    channels);
}

Value Mover::unblockReduced(Value value, ArrayRef<int64_t> result) {
  ArrayRef<int64_t> own = shapeOf(value);
  // What is in front of channels is there, and may be known better.
  SmallVector<int64_t> shape(result);
  for (size_t i = 0; i + 1 < shape.size() && own.size() > shape.size(); ++i)
    shape[i] = own[i];
  if (own.size() == shape.size())
    shape.assign(own.begin(), own.end());
  auto placesOf = [](ArrayRef<int64_t> dims) {
    return llvm::product_of(llvm::map_range(dims, [](int64_t extent) {
      return ShapedType::isDynamic(extent) ? 1 : extent;
    }));
  };
  if (placesOf(own) == placesOf(shape))
    return reshape(value, shape);
  SmallVector<int64_t> joined(shape);
  const int64_t axis = static_cast<int64_t>(shape.size()) - 1;
  joined[axis] = own.back() * own[own.size() - 2];
  return withExtent(reshape(value, joined), axis, shape.back());
}

/// `value`, which is there as `kept`, in another layout.
Value Rewrite::move(Value value, Value kept, unsigned from, unsigned to) {
  const int64_t rank = rankOf(value);
  OpBuilder builder(kept.getContext());
  builder.setInsertionPointAfterValue(kept);
  Mover mover(builder, kept.getLoc(), value.getDefiningOp());
  auto permutationOf = [&](unsigned layout) {
    return layout == 0 ? Permutation(identityOf(rank))
                       : decided.layouts.of(rank)[layout];
  };
  if (to == kBlocked)
    return mover.block(kept, permutationOf(from),
                       decided.layouts.blockOf(value));
  if (from == kBlocked)
    return mover.unblock(kept, permutationOf(to), shapeOf(value)[1]);
  return mover.transpose(
      kept, applyPermutation(invertPermutationVector(permutationOf(from)),
                             permutationOf(to)));
}

Value Rewrite::get(Value value, unsigned layout) {
  auto [from, kept] = made.lookup_or(value, std::pair(0u, value));
  if (from == layout)
    return kept;
  Value &result = moved[{value, layout}];
  if (result)
    return result;
  if (std::max(from, layout) == kBlocked && !getConstantElements(value) &&
      (std::min(from, layout) != 0 || !hasNoSpace(shapeOf(value)))) {
    ++blocked;
    blockedBytes += costOfMoving(value) / 2;
  }
  result = move(value, kept, from, layout);
  // Whose shape may be known better than that of blocks.
  if (layout == 0 && from == kBlocked)
    result.setType(value.getType());
  return result;
}

/// Operands of lower rank, or that come into blocks for this operation only,
/// broadcast as they did before dimensions move.
Value Rewrite::getOperand(OpOperand &operand, const Form &form, int64_t rank) {
  Operation *op = operand.getOwner();
  unsigned k = operand.getOperandNumber();
  Value value = get(operand.get(), form.operands[k]);
  int64_t own = rankOf(operand.get());
  bool isLower =
      form.blockedRank > 0 ? form.operands[k] != kBlocked : own != rank;
  // A convolution takes its image in blocks or as it is.
  if (!form.change || !isData(op, k) || own < 1 || !isLower ||
      !decided.layouts.of(op).empty())
    return value;
  OpBuilder builder(op);
  Mover mover(builder, op->getLoc(), op);
  if (form.blockedRank == 0) {
    SmallVector<int64_t> leading = identityOf(rank - own);
    Value axes = ConstantOp::create(builder, op->getLoc(),
                                    makeInts(builder.getContext(), leading));
    Operation *wide = UnsqueezeOp::create(builder, op->getLoc(), value, axes);
    copyPlacement(op, wide);
    return mover.transpose(wide->getResult(0),
                           decided.layouts.of(rank)[form.layout]);
  }
  SmallVector<int64_t> shape(form.blockedRank - own, 1);
  llvm::append_range(shape, shapeOf(value));
  if (shape[1] != 1)
    return mover.block(mover.reshape(value, shape),
                       identityOf(form.blockedRank), form.block);
  shape.push_back(1);
  return mover.reshape(value, shape);
}

/// What is known of `result`, of which `type` was inferred where it is kept:
/// shapes of blocks may be known less well.
Type Rewrite::refined(Value result, Type type, const Form &form) const {
  auto own = cast<RankedTensorType>(result.getType());
  auto now = dyn_cast<RankedTensorType>(type);
  if (!now)
    return type;
  Type known = form.layout == kBlocked
                   ? blockedType(own, decided.layouts.blockOf(result))
                   : own;
  return isCompatible(known, type) ? mergeTypes(known, type) : type;
}

/// Types of what `op` became, and where its results are then.
LogicalResult Rewrite::setResults(Operation *op, Operation *built,
                                  const Form &form) {
  SmallVector<Type> types;
  if (form.blockedRank > 0) {
    if (failed(inferTypes(built->getName().getStringRef(), built->getContext(),
                          built->getLoc(), built->getOperands(),
                          built->getAttrDictionary(), built->getNumResults(),
                          types)))
      return failure();
  } else {
    for (Value result : op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      types.push_back(type.clone(applyPermutation(
          type.getShape(), decided.layouts.of(type.getRank())[form.layout])));
    }
  }
  OpBuilder builder(op);
  for (auto [result, now, type] :
       llvm::zip_equal(op->getResults(), built->getResults(), types)) {
    now.setType(form.blockedRank > 0 ? refined(result, type, form) : type);
    Value value = now;
    if (form.layout == 0) {
      value =
          Mover(builder, op->getLoc(), op).unblockReduced(now, shapeOf(result));
      // Whatever is known besides: functions return it.
      value.setType(result.getType());
    }
    made[result] = {form.layout, value};
  }
  return success();
}

LogicalResult Rewrite::build(Operation *op, const Form &form) {
  auto transpose = dyn_cast<TransposeOp>(op);
  if (transpose && hasRank(transpose) &&
      isView(transpose, form, decided.layouts)) {
    made[transpose.getY()] = {form.layout,
                              get(transpose.getX(), form.operands[0])};
    return success();
  }
  int64_t rank = op->getNumResults() ? rankOf(op->getResult(0)) : -1;
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(getOperand(operand, form, rank));
  if (!form.change) {
    op->setOperands(operands);
    return success();
  }
  convolutions += !decided.layouts.of(op).empty();
  OpBuilder builder(op);
  for (auto &[k, value] : form.change->constants)
    operands[k] = ConstantOp::create(builder, op->getLoc(), value);
  Operation *built = builder.clone(*op);
  built->setOperands(operands);
  for (NamedAttribute attribute : form.change->attributes)
    built->setAttr(attribute.getName(), attribute.getValue());
  return setResults(op, built, form);
}

LogicalResult Rewrite::run(Block &body) {
  const analysis::IndexedGraph &graph = decided.graph;
  for (uint32_t id : llvm::seq(graph.nodeCount())) {
    Operation *op = graph.node(id);
    op->walk([&](Operation *inner) {
      for (OpOperand &use : inner->getOpOperands())
        if (inner != op && made.contains(use.get()))
          use.set(get(use.get(), 0));
    });
    uint32_t node = decided.opNodes[id];
    uint32_t choice = node == LayoutProblem::kNone ? 0 : choices[node];
    if (failed(build(op, decided.forms[id][choice])))
      return failure();
  }
  for (OpOperand &use : body.getTerminator()->getOpOperands())
    use.set(get(use.get(), 0));
  for (uint32_t id = graph.nodeCount(); id-- > 0;)
    if (isOpTriviallyDead(graph.node(id)))
      graph.node(id)->erase();
  return success();
}

/// Makes shapes whose channels are known ones of what is around these: images
/// are in blocks then as well as without.
static bool splitShapes(Block &body) {
  bool hasSplit = false;
  for (auto shape : llvm::make_early_inc_range(body.getOps<ShapeOp>())) {
    auto type = dyn_cast<RankedTensorType>(shape.getX().getType());
    auto list = dyn_cast<RankedTensorType>(shape.getY().getType());
    if (!type || type.getRank() < 3 || type.isDynamicDim(1) ||
        type.hasStaticShape() || !list || !list.hasStaticShape())
      continue;
    const int64_t first = shape.getFirst(), last = shape.getLast();
    if (first > 1 || last < 2)
      continue;
    OpBuilder builder(shape);
    auto of = [&](int64_t begin, int64_t end) -> Value {
      auto part = RankedTensorType::get({end - begin}, builder.getI64Type());
      Operation *op = ShapeOp::create(builder, shape.getLoc(), part,
                                      shape.getX(), begin, end);
      copyPlacement(shape, op);
      return op->getResult(0);
    };
    SmallVector<Value> parts;
    if (first == 0)
      parts.push_back(of(0, 1));
    parts.push_back(
        ConstantOp::create(builder, shape.getLoc(),
                           makeInts(builder.getContext(), {type.getDimSize(1)}))
            .getResult());
    if (last > 2)
      parts.push_back(of(2, last));
    Operation *joined = ConcatOp::create(builder, shape.getLoc(),
                                         shape.getY().getType(), parts, 0);
    copyPlacement(shape, joined);
    shape.replaceAllUsesWith(joined->getResult(0));
    shape.erase();
    hasSplit = true;
  }
  return hasSplit;
}

static Moved findMoved(Block &body) {
  Moved moved;
  for (auto transpose : body.getOps<TransposeOp>())
    if (isMoved(transpose))
      insert(moved, transpose);
  return moved;
}

namespace {

struct AlterLayout : graph::impl::AlterLayoutPassBase<AlterLayout> {
  using AlterLayoutPassBase::AlterLayoutPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (channelBlock >= 0 || (channelBlock == kAllChannels && isGenerated))
      return success();
    return emitError(UnknownLoc::get(context),
                     "graph-alter-layout: expected at least 0 channels of a "
                     "block, or "
                     "-1 with generated, got ")
           << channelBlock.getValue();
  }

  void runOnOperation() override;
};

} // namespace

static void remarkTransposes(func::FuncOp function, const Moved &before,
                             layout::Cost bytes) {
  Moved left = findMoved(function.front());
  remark::passed(
      function.getLoc(),
      remark::RemarkOpts::name("AlterLayout").category("graph-alter-layout"))
      << remark::add("transposes of {0} values, {1} bytes, became {2}, {3} "
                     "bytes",
                     before.size(), bytes, left.size(), costOf(left) / 2);
}

static void remarkBlocks(func::FuncOp function, const Rewrite &rewrite,
                         int64_t block) {
  const std::string channels =
      block == kAllChannels ? "all" : std::to_string(block);
  remark::passed(
      function.getLoc(),
      remark::RemarkOpts::name("AlterLayout").category("graph-alter-layout"))
      << remark::add("{0} convolutions compute in blocks of {1} channels; {2} "
                     "values, {3} bytes, go into blocks or out of them",
                     rewrite.convolutions, channels, rewrite.blocked,
                     rewrite.blockedBytes);
}

void AlterLayout::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!function.getBody().hasOneBlock())
    return;
  Block &body = function.front();
  const bool isOfAllChannels =
      isGenerated ? asksLibraries && areMostForGPULibraries(body)
                  : channelBlock > 0 && areMostOfIntegers(body);
  const int64_t block = isOfAllChannels ? kAllChannels : channelBlock;
  const ConvOptions options{block, isStrict, bf16Parts, plainGradients,
                            isGenerated};
  Layouts layouts(body, options);
  if (options.mayBeOpen() && layouts.haveBlocks() && splitShapes(body))
    layouts = Layouts(body, options);
  Moved moved = findMoved(body);
  if (moved.empty() && !layouts.haveBlocks())
    return;
  layout::Cost before = costOf(moved);
  analysis::IndexedGraph graph(body);
  LayoutProblem decided(std::move(layouts), graph);
  layout::Solution solution =
      layout::solve(decided.problem, /*maxBranches=*/16);
  if (auto wrong = layout::validate(decided.problem, solution)) {
    function.emitError("layouts: ") << *wrong;
    return signalPassFailure();
  }
  if (solution.cost >=
      before - costOf(decided.unavoidable) + decided.costOfRowMajor())
    return;
  Rewrite rewrite(decided, solution.choices);
  if (failed(rewrite.run(body)))
    return signalPassFailure();
  if (!moved.empty())
    remarkTransposes(function, moved, before / 2);
  if (rewrite.convolutions > 0)
    remarkBlocks(function, rewrite, block);
}
