// SPDX-License-Identifier: Apache-2.0
//
// graph-fuse-operators: which operations share a kernel. The decision is
// Planning/Fusion's, over plain data; legality is asked of the kernel
// libraries and of Codegen.

#include "dlc/KernelLibrary/Match.h"
#include "dlc/Planning/Fusion/Fusion.h"
#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/passes/Conversion/KernelToLinalg.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

#include <mutex>
#include <queue>

namespace dlc::graph {
#define GEN_PASS_DEF_FUSEOPERATORSPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
namespace fusion = dlc::planning::fusion;

namespace {

/// A node of the fusion problem: one operation, or an anchor with the
/// epilogue that a library computes with it.
using Node = SmallVector<Operation *>;

struct Graph {
  std::vector<Node> nodes; ///< In order of their last operations.
  fusion::Problem problem;
};

} // namespace

namespace {
/// Remembers which groups can be generated: asking plans a copy, networks
/// repeat their blocks, and what is tried with other budgets repeats most
/// groups. Lives as long as the context, which owns what fingerprints point to:
/// attributes and types are never freed before it, so that no pointer comes to
/// mean another constant.
class Legality : public DialectInterface::Base<Legality> {
public:
  explicit Legality(Dialect *graph) : Base(graph) {}
  bool canGenerate(ArrayRef<Operation *> group) {
    return !whyNotGenerated(group);
  }
  /// Nullopt if it can.
  std::optional<std::string> whyNotGenerated(ArrayRef<Operation *> group);

private:
  /// More than a compilation asks for: in a context of many models it begins
  /// anew.
  static constexpr size_t kMostKnown = 1 << 14;

  std::mutex mutex; ///< Functions may be on several threads.
  llvm::StringMap<std::optional<std::string>> known;
};
} // namespace

/// Something outside of the group reads `value`.
static bool isSeen(Value value, const DenseSet<Operation *> &inside) {
  return llvm::any_of(value.getUsers(),
                      [&](Operation *user) { return !inside.contains(user); });
}

/// Whether floats that `op` reads are computed with; of others, as a movement,
/// they may say where elements go.
static bool computes(Operation *op) {
  using graph::FusionKind;
  const FusionKind kind = graph::getFusionKind(op);
  return kind == FusionKind::Elementwise || kind == FusionKind::Reduction ||
         kind == FusionKind::Row || kind == FusionKind::Anchor;
}

/// Equal for groups that convertKernel() sees no difference between: the same
/// operations on one another's results, the same constants but for floats that
/// are computed with, and the same results with users outside, wherever and how
/// often they are computed.
static std::string fingerprint(ArrayRef<Operation *> group) {
  std::string text;
  DenseMap<Value, unsigned> numbers;
  DenseSet<Operation *> inside(group.begin(), group.end());
  auto add = [&](const void *unique) {
    text.append(reinterpret_cast<const char *>(&unique), sizeof(unique));
  };
  auto addNumber = [&](Value value) {
    unsigned next = numbers.size();
    auto [number, isNew] = numbers.try_emplace(value, next);
    text += std::to_string(number->second) + ' ';
    return isNew;
  };
  // What a device can compute is not the same for all.
  add(Attribute(graph::getDevice(group.front())).getAsOpaquePointer());
  for (Operation *op : group) {
    add(op->getName().getAsOpaquePointer());
    for (NamedAttribute attribute : op->getAttrDictionary())
      if (!llvm::is_contained(graph::kPlacementAttrs, attribute.getName())) {
        add(attribute.getName().getAsOpaquePointer());
        add(attribute.getValue().getAsOpaquePointer());
      }
    text += '<';
    for (Value operand : op->getOperands()) {
      if (!addNumber(operand))
        continue;
      add(operand.getType().getAsOpaquePointer());
      auto constant = operand.getDefiningOp<graph::ConstantOp>();
      if (!constant)
        continue;
      text += 'c';
      // Nothing depends on what is computed with: layers differ in that.
      if (!getElementTypeOrSelf(operand.getType()).isF32() || !computes(op))
        add(Attribute(constant.getValue()).getAsOpaquePointer());
    }
    text += '>';
    for (Value result : op->getResults()) {
      addNumber(result);
      add(result.getType().getAsOpaquePointer());
      text += isSeen(result, inside) ? '!' : '.';
    }
  }
  return text;
}

std::optional<std::string>
Legality::whyNotGenerated(ArrayRef<Operation *> group) {
  std::string key = fingerprint(group);
  {
    std::scoped_lock lock(mutex);
    if (auto answer = known.find(key); answer != known.end())
      return answer->second;
  }
  std::string why;
  std::optional<std::string> answer;
  if (!conversion::canGenerate(group, &why))
    answer = std::move(why);
  std::scoped_lock lock(mutex);
  if (known.size() >= kMostKnown)
    known.clear();
  known.try_emplace(key, answer);
  return answer;
}

/// What one kernel is on: a device, a group of those that placement knows, and
/// a part of the batch. Parts are computed apart so that not all are live.
using Place = std::tuple<Attribute, Attribute, Attribute>;
static Place placeOf(Operation *op) {
  return {graph::getDevice(op), op->getDiscardableAttr(graph::kGroupAttr),
          op->getDiscardableAttr(graph::kPartAttr)};
}

static bool isAnchor(Operation *op) {
  return graph::getFusionKind(op) == graph::FusionKind::Anchor;
}

/// What a library computes with `anchor`, but for what `taken` holds already:
/// what it, or generated code, takes as a whole, or producers that only the
/// anchor reads and the longest chain of epilogues; just the anchor when there
/// is nothing.
static Node growAnchor(Operation *anchor, const DenseSet<Operation *> &taken) {
  Node node{anchor};
  auto isFree = [&](Operation *op) {
    return op && op->getBlock() == anchor->getBlock() &&
           op->getNumResults() == 1 && !op->getNumRegions() &&
           !taken.contains(op) && placeOf(op) == placeOf(anchor);
  };
  if (Node whole = library::findGroup(anchor, isFree); !whole.empty())
    return whole;
  std::string why;
  if (Node whole = conversion::findGeneratedGroup(anchor, isFree, &why);
      !whole.empty())
    return whole;
  if (!why.empty())
    remark::missed(anchor->getLoc(), remark::RemarkOpts::name("FuseOperators")
                                         .category("graph-fuse-operators"))
        << remark::reason("attention is not one kernel: {0}", why);
  if (!library::matchGroup(node))
    return node;
  for (Value operand : anchor->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!operand.hasOneUse() || !isFree(producer) || isAnchor(producer))
      continue;
    node.insert(node.begin(), producer);
    if (!library::matchGroup(node))
      node.erase(node.begin());
  }
  while (true) {
    Value current = node.back()->getResult(0);
    if (!current.hasOneUse())
      return node;
    Operation *user = *current.user_begin();
    if (!isFree(user) || isAnchor(user))
      return node;
    node.push_back(user);
    if (!library::matchGroup(node)) {
      node.pop_back();
      return node;
    }
  }
}

/// Says why `op` is not in one kernel with the operation that it reads.
static void remarkApart(Operation *op, Operation *producer, const Twine &why) {
  remark::missed(op->getLoc(), remark::RemarkOpts::name("FuseOperators")
                                   .category("graph-fuse-operators"))
      << remark::reason("{0} stays apart from {1}: {2}",
                        op->getName().stripDialect(),
                        producer->getName().stripDialect(), why.str());
}

/// Operations that stay outside of kernels.
static bool isStructure(Operation *op) {
  return isa<graph::ConstantOp, graph::NoneOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

static std::vector<Node> collectNodes(Block &block) {
  std::vector<Node> nodes;
  DenseMap<Operation *, Node> anchored; // By their last operations.
  DenseSet<Operation *> inside;
  for (Operation &op : block) {
    if (!isAnchor(&op) || inside.contains(&op))
      continue;
    Node node = growAnchor(&op, inside);
    inside.insert(node.begin(), node.end());
    anchored[node.back()] = std::move(node);
  }
  for (Operation &op : block) {
    if (isStructure(&op))
      continue;
    if (auto at = anchored.find(&op); at != anchored.end())
      nodes.push_back(std::move(at->second));
    else if (!inside.contains(&op))
      nodes.push_back({&op});
  }
  return nodes;
}

/// Whether `node` may join a generated kernel.
static bool isFusible(const Node &node) {
  using graph::FusionKind;
  if (node.size() != 1)
    return false;
  if (!graph::hasStaticTypes(node.front()))
    return conversion::canBeOfAnyShape(node) &&
           !library::isRoundedByCall(node.front());
  FusionKind kind = graph::getFusionKind(node.front());
  if (kind == FusionKind::Anchor) // A host's are calls of its library.
    return !hasHostMemory(graph::getDevice(node.front()));
  return kind == FusionKind::Elementwise || kind == FusionKind::Movement ||
         kind == FusionKind::Reduction || kind == FusionKind::Row;
}

/// The only operand of an elementwise `op` that is not constant; null for
/// others.
static Value onlyOperand(Operation *op) {
  Value only;
  if (graph::getFusionKind(op) != graph::FusionKind::Elementwise)
    return only;
  for (Value operand : op->getOperands()) {
    if (operand.getDefiningOp<graph::ConstantOp>())
      continue;
    if (only)
      return {};
    only = operand;
  }
  return only;
}

/// Whether what reads `value`, or is made of it and constants, is computed in a
/// generated kernel with other values.
static bool isReadWithOthers(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isFusible({user}) &&
           (!onlyOperand(user) || isReadWithOthers(user->getResult(0)));
  });
}

/// Whether `op` widens a value that is in memory anyway, as a library reads it
/// or the function returns it, for a kernel that had better do so itself.
static bool isKeptNarrow(Operation *op) {
  auto widthOf = [](Value value) {
    Type type = getElementTypeOrSelf(value.getType());
    return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  };
  const Value narrow = onlyOperand(op);
  return narrow && widthOf(narrow) < widthOf(op->getResult(0)) &&
         llvm::any_of(narrow.getUsers(),
                      [](Operation *user) { return !isFusible({user}); }) &&
         isReadWithOthers(op->getResult(0));
}

/// For each node the first that may share its group: for repetitions the first
/// of those of the same round, so that no kernel in front of it makes their
/// value and keeps it; for what widens a value that is kept, the first behind
/// the kernel that makes that, so that it does not keep both.
static std::vector<uint32_t>
findBounds(ArrayRef<Node> nodes,
           const DenseMap<Operation *, uint32_t> &nodeOf) {
  DenseMap<Attribute, uint32_t> firstOfRound;
  std::vector<uint32_t> bounds;
  for (const Node &node : nodes) {
    Operation *op = node.front();
    Attribute round = op->getAttr(graph::kRepeatedAttr);
    uint32_t bound = 0;
    if (round)
      bound = firstOfRound.try_emplace(round, bounds.size()).first->second;
    if (isKeptNarrow(op))
      if (auto made = nodeOf.find(onlyOperand(op).getDefiningOp());
          made != nodeOf.end() && isFusible(nodes[made->second]))
        bound = std::max(bound, made->second + 1);
    bounds.push_back(bound);
  }
  return bounds;
}

static Graph collect(Block &block) {
  Graph graph;
  graph.nodes = collectNodes(block);
  DenseMap<Operation *, uint32_t> nodeOf;
  DenseMap<Place, uint32_t> places;
  for (auto [id, node] : llvm::enumerate(graph.nodes)) {
    llvm::SmallSetVector<uint32_t, 4> producers;
    for (Operation *op : node) {
      for (Value operand : op->getOperands())
        if (auto known = nodeOf.find(operand.getDefiningOp());
            known != nodeOf.end())
          producers.insert(known->second);
      for (Region &region : op->getRegions())
        region.walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            if (auto known = nodeOf.find(operand.getDefiningOp());
                known != nodeOf.end())
              producers.insert(known->second);
        });
    }
    for (Operation *op : node)
      nodeOf[op] = id;
    graph.problem.producers.emplace_back(producers.begin(), producers.end());
    graph.problem.isFusible.push_back(isFusible(node));
    graph.problem.devices.push_back(
        places.try_emplace(placeOf(node.front()), places.size()).first->second);
  }
  graph.problem.notBefore = findBounds(graph.nodes, nodeOf);
  return graph;
}

static SmallVector<Operation *> operationsOf(const std::vector<Node> &nodes,
                                             const fusion::Group &group) {
  SmallVector<Operation *> operations;
  for (uint32_t node : group)
    llvm::append_range(operations, nodes[node]);
  return operations;
}

/// Why `op` is not in the group of the library kernel `node`, which it reads.
static std::string whyNotEpilogue(Node node, Operation *op) {
  if (!node.back()->hasOneUse())
    return "its value has other uses";
  std::string why;
  node.push_back(op);
  (void)library::matchGroup(node, &why);
  return why;
}

/// Why the decision left two groups apart that could be on one device.
static std::string whyNotJoined(const Graph &graph, const fusion::Group &a,
                                const fusion::Group &b, Legality &legality) {
  if (a.size() + b.size() > graph.problem.maxGroupSize)
    return "a kernel of both would be too large";
  fusion::Group both;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return legality.whyNotGenerated(operationsOf(graph.nodes, both))
      .value_or("a kernel of both would wait for itself, or hold too much at "
                "once");
}

/// Remarks on every value that one kernel writes and another reads. Legality is
/// asked of what no group was to be, so this runs only when somebody listens.
static void remarkEdges(const Graph &graph, const fusion::Solution &solution,
                        Legality &legality) {
  std::vector<size_t> groupOf(graph.nodes.size());
  for (auto [i, group] : llvm::enumerate(solution.groups))
    for (uint32_t node : group)
      groupOf[node] = i;
  for (auto [id, node] : llvm::enumerate(graph.nodes)) {
    for (uint32_t from : graph.problem.producers[id]) {
      const Node &producer = graph.nodes[from];
      std::string why = "no kernel holds both";
      if (groupOf[from] == groupOf[id])
        continue;
      if (graph.problem.devices[from] != graph.problem.devices[id]) {
        remarkApart(node.front(), producer.back(),
                    "it is on another device, in another group or another part "
                    "of the batch");
        continue;
      }
      if (graph.problem.isFusible[from] && graph.problem.isFusible[id]) {
        why = whyNotJoined(graph, solution.groups[groupOf[from]],
                           solution.groups[groupOf[id]], legality);
      } else if (!llvm::all_of(node, graph::hasStaticTypes) ||
                 !llvm::all_of(producer, graph::hasStaticTypes)) {
        why = library::isRoundedByCall(producer.back())
                  ? "the call that makes the sums rounds them"
                  : "shapes that are not static";
      } else if (library::matchGroup(producer)) {
        why = whyNotEpilogue(producer, node.front());
      }
      remarkApart(node.front(), producer.back(), why);
    }
  }
}

namespace {
/// Operations of a block by their places, and the places of their users.
struct Order {
  explicit Order(Block &block);
  /// Calls `visit` with places, producers first; of those that may come next
  /// the one of the smallest `rank`.
  template <typename VisitFn>
  void walk(ArrayRef<unsigned> rank, VisitFn visit) const;

  SmallVector<Operation *> operations;
  SmallVector<SmallVector<unsigned, 2>> users;
  SmallVector<unsigned> operandCount; ///< Of those that are in the block.
};
} // namespace

Order::Order(Block &block) {
  DenseMap<Operation *, unsigned> places;
  for (Operation &op : block.without_terminator()) {
    places[&op] = operations.size();
    operations.push_back(&op);
  }
  users.resize(operations.size());
  operandCount.resize(operations.size());
  for (auto [place, op] : llvm::enumerate(operations))
    op->walk([&, place = place](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto known = places.find(operand.getDefiningOp());
            known != places.end() && known->second != place) {
          users[known->second].push_back(place);
          ++operandCount[place];
        }
    });
}

template <typename VisitFn>
void Order::walk(ArrayRef<unsigned> rank, VisitFn visit) const {
  using Entry = std::pair<unsigned, unsigned>; // Rank, place.
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  SmallVector<unsigned> waiting(operandCount);
  for (auto [place, count] : llvm::enumerate(waiting))
    if (count == 0)
      ready.push({rank[place], static_cast<unsigned>(place)});
  while (!ready.empty()) {
    unsigned place = ready.top().second;
    ready.pop();
    visit(place);
    for (unsigned user : users[place])
      if (--waiting[user] == 0)
        ready.push({rank[user], user});
  }
}

/// Makes the order topological again. A group stands where its first user did,
/// if that is in front of it, and with it what it reads; the rest keeps its
/// place: what a memory budget put late stays late.
static void sortInPlace(Block &block) {
  Order order(block);
  SmallVector<unsigned> rank = llvm::to_vector(
      llvm::seq<unsigned>(0, static_cast<unsigned>(order.operations.size())));
  SmallVector<unsigned> topological;
  order.walk(rank, [&](unsigned place) { topological.push_back(place); });
  for (unsigned place : llvm::reverse(topological))
    for (unsigned user : order.users[place])
      rank[place] = std::min(rank[place], rank[user]);
  order.walk(rank, [&](unsigned place) {
    order.operations[place]->moveBefore(block.getTerminator());
  });
}

/// True if a kernel of the group reads and writes more than `values` times its
/// largest value, and computes something again: all of that is live at once,
/// where one after the other would hand memory on.
static bool isWide(ArrayRef<Operation *> group, int64_t values) {
  auto isRepeated = [](Operation *op) {
    return op->hasAttr(graph::kRepeatedAttr);
  };
  if (values == 0 || llvm::none_of(group, isRepeated))
    return false;
  DenseSet<Operation *> inside(group.begin(), group.end());
  llvm::SmallSetVector<Value, 8> touched;
  for (Operation *op : group) {
    for (Value operand : op->getOperands())
      if (!inside.contains(operand.getDefiningOp()))
        touched.insert(operand);
    for (Value result : op->getResults())
      if (isSeen(result, inside))
        touched.insert(result);
  }
  int64_t sum = 0, largest = 0;
  for (Value value : touched) {
    int64_t bytes = graph::bytesOf(value.getType());
    sum += bytes;
    largest = std::max(largest, bytes);
  }
  return sum > values * largest;
}

/// Moves `operations` into one graph.fusion at the place of the last.
static void outline(ArrayRef<Operation *> operations) {
  DenseSet<Operation *> inside(operations.begin(), operations.end());
  SmallVector<Value> results;
  for (Operation *op : operations)
    for (Value result : op->getResults())
      if (isSeen(result, inside))
        results.push_back(result);
  OpBuilder builder(operations.back());
  SmallVector<Location> locations = llvm::map_to_vector(
      operations, [](Operation *op) { return op->getLoc(); });
  auto group = graph::FusionOp::create(
      builder, builder.getFusedLoc(locations),
      llvm::map_to_vector(results, [](Value v) { return v.getType(); }));
  Block *body = &group.getBody().emplaceBlock();
  for (Operation *op : operations)
    op->moveBefore(body, body->end());
  for (auto [inner, outer] : llvm::zip_equal(results, group.getResults()))
    inner.replaceUsesWithIf(outer, [&](OpOperand &use) {
      return !inside.contains(use.getOwner());
    });
  graph::copyPlacement(operations.front(), group);
  builder.setInsertionPointToEnd(body);
  graph::YieldOp::create(builder, group.getLoc(), results);
}

namespace {
struct FuseOperators
    : public dlc::graph::impl::FuseOperatorsPassBase<FuseOperators> {
  using FuseOperatorsPassBase::FuseOperatorsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    FuseOperatorsPassBase::getDependentDialects(registry);
    registry.addExtension(+[](MLIRContext *, dlc::graph::GraphDialect *graph) {
      graph->addInterfaces<Legality>();
    });
  }

  LogicalResult initialize(MLIRContext *context) override {
    if (values >= 0)
      return success();
    return emitError(UnknownLoc::get(context), "graph-fuse-operators: expected "
                                               "at least 0 values, got ")
           << values.getValue();
  }

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    Graph graph = collect(block);
    auto *legality = getContext()
                         .getLoadedDialect<dlc::graph::GraphDialect>()
                         ->getRegisteredInterface<Legality>();
    graph.problem.isLegal = [&](const fusion::Group &group) {
      SmallVector<Operation *> operations = operationsOf(graph.nodes, group);
      return !isWide(operations, values) && legality->canGenerate(operations);
    };
    fusion::Solution solution = fusion::solve(graph.problem);
    if (getContext().getRemarkEngine())
      remarkEdges(graph, solution, *legality);

    int64_t fused = 0, groups = 0;
    for (const fusion::Group &group : solution.groups) {
      SmallVector<Operation *> operations = operationsOf(graph.nodes, group);
      if (operations.size() < 2)
        continue;
      outline(operations);
      fused += operations.size();
      ++groups;
    }
    // Groups sit at their last operation; what used an earlier result may
    // now stand before it.
    sortInPlace(block);
    remark::passed(getOperation().getLoc(),
                   remark::RemarkOpts::name("FuseOperators")
                       .category("graph-fuse-operators"))
        << remark::add("fused") << remark::metric("Operations", fused)
        << remark::metric("Groups", groups);
  }
};
} // namespace
