// SPDX-License-Identifier: Apache-2.0

#include "BatchParts.h"

#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;
namespace layout = dlc::planning::layout;

namespace {
/// Values of an operation that belong to the batch.
class BatchedValues {
public:
  BatchedValues(Operation *op, const Batched &batched) {
    for (unsigned k : batched.operands)
      values.push_back(op->getOperand(k));
    if (!batched.isSummed)
      values.push_back(op->getResult(0));
  }

  int64_t largest() const {
    int64_t bytes = 0;
    for (Value value : values)
      bytes = std::max(bytes, bytesOf(value.getType()));
    return bytes;
  }

  /// The batch of all, or 0 if they differ.
  int64_t batch() const {
    int64_t common = -1;
    for (Value value : values) {
      auto type = typeOf(value);
      int64_t own = type.getRank() > 0 ? type.getDimSize(0) : 0;
      common = common < 0 || common == own ? own : 0;
    }
    return std::max<int64_t>(common, 0);
  }

private:
  SmallVector<Value, 4> values;
};

/// The operations that know how to compute parts of the batch.
struct Candidates {
  explicit Candidates(Block &block);

  llvm::MapVector<Operation *, Batched> operations;
  int64_t batch = 0;   ///< Of the convolution that touches
  int64_t largest = 0; ///< the largest value, of so many bytes.
};
} // namespace

Candidates::Candidates(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!isComputed(&op) || !hasStaticTypes(&op))
      continue;
    std::optional<Batched> batched = batchedOf(&op);
    if (!batched)
      continue;
    const BatchedValues values(&op, *batched);
    if (values.batch() < 2)
      continue;
    // Weights have first dimensions, too: convolutions tell the batch.
    if (getFusionKind(&op) == FusionKind::Anchor &&
        values.largest() > largest) {
      largest = values.largest();
      batch = values.batch();
    }
    operations.insert({&op, std::move(*batched)});
  }
  operations.remove_if([&](const auto &each) {
    return BatchedValues(each.first, each.second).batch() != batch;
  });
}

BatchParts dlc::graph::partsForMemory(Block &block, int64_t wanted) {
  Candidates known(block);
  known.operations.remove_if([&](const auto &each) {
    return BatchedValues(each.first, each.second).largest() <=
           known.largest / wanted;
  });
  if (known.operations.empty())
    return {};
  const int64_t least = std::min(wanted, known.batch);
  int64_t parts = least;
  while (known.batch % parts != 0 && parts < 4 * least)
    ++parts;
  if (known.batch % parts != 0)
    parts = least; // They differ by an example.
  return {std::move(known.operations), known.batch, parts};
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

/// Nanoseconds to read or write a value, beside those that products take by the
/// models of libraries, which are of one thread: the more it is, the less of it
/// is in caches when it is read. Measured where resnet50 computes eight images,
/// on two processors with 1 MB of cache each and 32 MB that they share.
static layout::Cost nanosecondsToTouch(int64_t bytes) {
  constexpr int64_t inMemory = 16 << 20, each = 16;
  return bytes < inMemory ? bytes * bytes / (inMemory * each) : bytes / each;
}
/// Weights are no longer near when the next part comes; and each thread reads
/// many, or what the others have transformed.
static layout::Cost nanosecondsToReadAgain(int64_t bytes) {
  constexpr int64_t fewBytes = 1 << 20;
  return bytes <= fewBytes ? bytes / 32 : bytes / 16;
}
static constexpr layout::Cost kNanosecondsOfCall = 5000;

/// Of a copy, there and back.
static layout::Cost nanosecondsToCopy(Value value) {
  return costOfMoving(value) / 10;
}

namespace {
/// What an operation computes, and what of its result is there: a PBQP's
/// alternatives, of which values that nobody in parts makes have the first two.
enum Alternative : uint32_t { Whole, WholeAndParts, Parts, PartsAndWhole };
constexpr uint32_t kAlternatives = 4;

constexpr bool isInParts(uint32_t alternative) { return alternative >= Parts; }
constexpr bool hasParts(uint32_t alternative) { return alternative != Whole; }
constexpr bool hasWhole(uint32_t alternative) { return alternative != Parts; }

/// What the candidates take, whatever the number of parts.
class CacheTimes {
public:
  CacheTimes(Block &block, const Candidates &known, const ConvOptions &options);

  /// Of an operation that computes so many examples.
  layout::Cost of(Operation *op, const Batched &batched, int64_t examples);
  /// Whether a kernel of several operations of a library keeps it for itself.
  bool isKept(Value value) const { return kept.contains(value); }

private:
  layout::Cost compute(Operation *op, const Batched &batched,
                       int64_t examples) const;

  const Candidates &known;
  const ConvOptions &options;
  DenseSet<Value> kept;
  DenseMap<std::pair<Operation *, int64_t>, layout::Cost> times;
};

/// Which of the candidates take less time in so many parts.
class CacheProblem {
public:
  CacheProblem(Block &block, const Candidates &known, CacheTimes &times,
               int64_t parts);

  layout::Problem problem;
  using Operations = DenseSet<Operation *>;
  /// The operations in parts, and those that lie between some of them: one in
  /// one piece would wait for all parts of what is before it, and caches would
  /// not hold these.
  Operations withoutGaps(ArrayRef<uint32_t> choices) const;
  layout::Cost costOf(const Operations &inParts) const;
  /// Whether copies of what is cut out and joined may take more memory than
  /// what is in parts saves.
  bool isMostlyCopied(const Operations &inParts) const;

private:
  Alternative alternativeOf(Value value, const Operations &inParts) const;
  /// What memory takes where something that needs the whole batch stands
  /// between parts: those of what is read behind it are all kept until then.
  layout::Cost costOfWaiting(const Operations &inParts) const;
  uint32_t addValue(Value value);
  void addOperation(Operation *op, const Batched &batched);
  void addOperand(Operation *op, OpOperand &operand, bool isBatched);

  Block &block;
  const Candidates &known;
  CacheTimes &times;
  const int64_t parts;
  DenseMap<Value, uint32_t> nodes;
};
} // namespace

/// It is in the kernel of what makes its first operand, mostly.
static bool isFused(Operation *op) {
  return getFusionKind(op) == FusionKind::Elementwise;
}

CacheTimes::CacheTimes(Block &block, const Candidates &known,
                       const ConvOptions &options)
    : known(known), options(options) {
  DenseSet<Operation *> taken;
  auto isFree = [&](Operation *op) {
    return op && op->getBlock() == &block && op->getNumResults() == 1 &&
           op->getNumRegions() == 0 && !taken.contains(op);
  };
  for (const auto &[op, batched] : known.operations) {
    if (taken.contains(op))
      continue;
    const SmallVector<Operation *> group = library::findGroup(op, isFree);
    taken.insert_range(group);
    for (size_t i = 0; i + 1 < group.size(); ++i)
      kept.insert(group[i]->getResult(0));
  }
}

layout::Cost CacheTimes::of(Operation *op, const Batched &batched,
                            int64_t examples) {
  auto [place, isNew] = times.try_emplace({op, examples}, 0);
  if (isNew)
    place->second = compute(op, batched, examples);
  return place->second;
}

layout::Cost CacheTimes::compute(Operation *op, const Batched &batched,
                                 int64_t examples) const {
  auto nanosecondsToTouchOwn = [&](Value value) {
    return nanosecondsToTouch(bytesOf(value.getType()) / known.batch *
                              examples);
  };
  const Value result = op->getResult(0);
  layout::Cost sum = 0;
  if (!isFused(op)) {
    if (!kept.contains(result))
      sum = kNanosecondsOfCall + nanosecondsToTouchOwn(result);
    if (auto time = timeOfConvolution(op, examples, options))
      sum += static_cast<layout::Cost>(*time);
  }
  for (OpOperand &operand : op->getOpOperands()) {
    const unsigned k = operand.getOperandNumber();
    if (!llvm::is_contained(batched.operands, k))
      sum += nanosecondsToReadAgain(bytesOf(operand.get().getType()));
    else if (!kept.contains(operand.get()) &&
             (!isFused(op) || k != batched.operands.front()))
      sum += nanosecondsToTouchOwn(operand.get());
  }
  return sum;
}

CacheProblem::CacheProblem(Block &block, const Candidates &known,
                           CacheTimes &times, int64_t parts)
    : block(block), known(known), times(times), parts(parts) {
  for (auto &[op, batched] : known.operations)
    addOperation(op, batched);
}

/// What no candidate makes is there as a whole.
uint32_t CacheProblem::addValue(Value value) {
  auto [place, isNew] =
      nodes.try_emplace(value, static_cast<uint32_t>(problem.nodes.size()));
  if (isNew)
    problem.nodes.push_back({0, nanosecondsToCopy(value)});
  return place->second;
}

void CacheProblem::addOperation(Operation *op, const Batched &batched) {
  const layout::Cost whole = times.of(op, batched, known.batch),
                     copy = nanosecondsToCopy(op->getResult(0));
  std::vector<layout::Cost> costs(kAlternatives, layout::kForbidden);
  costs[Whole] = whole;
  if (!batched.isSummed) {
    // So many parts have an example more.
    const int64_t longer = known.batch % parts, least = known.batch / parts;
    layout::Cost inParts = (parts - longer) * times.of(op, batched, least);
    if (longer > 0)
      inParts += longer * times.of(op, batched, least + 1);
    const bool isReadByOthers =
        llvm::any_of(op->getUsers(), [&](Operation *user) {
          return !known.operations.contains(user);
        });
    costs[WholeAndParts] = whole + copy;
    costs[Parts] = isReadByOthers ? layout::kForbidden : inParts;
    costs[PartsAndWhole] = inParts + copy;
  }
  // Operands come first: their nodes are there.
  const auto node = static_cast<uint32_t>(problem.nodes.size());
  problem.nodes.push_back(std::move(costs));
  nodes[op->getResult(0)] = node;
  for (OpOperand &operand : op->getOpOperands())
    addOperand(
        op, operand,
        llvm::is_contained(batched.operands, operand.getOperandNumber()));
}

void CacheProblem::addOperand(Operation *op, OpOperand &operand,
                              bool isBatched) {
  const Value value = operand.get();
  if (!isBatched && !nodes.contains(value))
    return; // Each part needs all of it.
  const uint32_t from = addValue(value), to = nodes.lookup(op->getResult(0));
  const size_t choices = problem.nodes[from].size();
  layout::Edge edge{from, to, {}};
  for (uint32_t own = 0; own < choices; ++own)
    for (uint32_t user = 0; user < kAlternatives; ++user) {
      const bool takesParts = isBatched && isInParts(user);
      layout::Cost cost = 0;
      if (takesParts ? !hasParts(own) : !hasWhole(own))
        cost = layout::kForbidden;
      else if ((isFused(op) || times.isKept(value)) &&
               choices == kAlternatives && isInParts(own) != isInParts(user))
        cost = nanosecondsToCopy(value); // It is no longer in one kernel.
      edge.costs.push_back(cost);
    }
  problem.edges.push_back(std::move(edge));
}

CacheProblem::Operations
CacheProblem::withoutGaps(ArrayRef<uint32_t> choices) const {
  Operations inParts, behind, before;
  for (const auto &each : known.operations)
    if (isInParts(choices[nodes.lookup(each.first->getResult(0))]))
      inParts.insert(each.first);
  auto mark = [&](Operation *op, Operations &marked, auto &&others) {
    if (llvm::any_of(others, [&](Operation *other) {
          return inParts.contains(other) || marked.contains(other);
        }))
      marked.insert(op);
  };
  for (Operation &op : block)
    mark(&op, behind, llvm::map_range(op.getOperands(), [](Value value) {
      return value.getDefiningOp();
    }));
  for (Operation &op : llvm::reverse(block))
    mark(&op, before, llvm::map_range(op.getUsers(), [&](Operation *user) {
      return block.findAncestorOpInBlock(*user);
    }));
  for (const auto &[op, batched] : known.operations)
    if (!batched.isSummed && behind.contains(op) && before.contains(op))
      inParts.insert(op);
  return inParts;
}

layout::Cost CacheProblem::costOf(const Operations &inParts) const {
  std::vector<uint32_t> choices(problem.nodes.size());
  for (auto [value, node] : nodes)
    choices[node] = alternativeOf(value, inParts);
  return layout::costOf(problem, choices) + costOfWaiting(inParts);
}

Alternative CacheProblem::alternativeOf(Value value,
                                        const Operations &inParts) const {
  bool readsWhole = false, readsParts = false;
  for (OpOperand &use : value.getUses()) {
    auto user = known.operations.find(use.getOwner());
    const bool takesParts =
        inParts.contains(use.getOwner()) &&
        llvm::is_contained(user->second.operands, use.getOperandNumber());
    (takesParts ? readsParts : readsWhole) = true;
  }
  if (Operation *op = value.getDefiningOp(); op && inParts.contains(op))
    return readsWhole ? PartsAndWhole : Parts;
  return readsParts ? WholeAndParts : Whole;
}

layout::Cost CacheProblem::costOfWaiting(const Operations &inParts) const {
  // Of parts the stage in which they are computed, of others that in which all
  // that they need is there.
  DenseMap<Operation *, int64_t> stages;
  layout::Cost cost = 0;
  llvm::SmallDenseSet<Value> waiting;
  for (Operation &op : block) {
    const bool isPart = inParts.contains(&op);
    int64_t stage = 0;
    auto stageOf = [&](OpOperand &operand) {
      Operation *maker = operand.get().getDefiningOp();
      const bool takesParts =
          isPart && inParts.contains(maker) &&
          llvm::is_contained(known.operations.find(&op)->second.operands,
                             operand.getOperandNumber());
      return stages.lookup(maker) + (inParts.contains(maker) && !takesParts);
    };
    for (OpOperand &operand : op.getOpOperands())
      stage = std::max(stage, stageOf(operand));
    stages[&op] = stage;
    for (OpOperand &operand : op.getOpOperands())
      if (isPart && inParts.contains(operand.get().getDefiningOp()) &&
          stageOf(operand) < stage && waiting.insert(operand.get()).second)
        cost += 2 * nanosecondsToTouch(bytesOf(operand.get().getType()));
  }
  return cost;
}

bool CacheProblem::isMostlyCopied(const Operations &inParts) const {
  int64_t copied = 0, largest = 0;
  for (const auto &node : nodes) {
    const Value value = node.first;
    const int64_t bytes = bytesOf(value.getType());
    Operation *op = value.getDefiningOp();
    const Alternative own = alternativeOf(value, inParts);
    // Arguments are in no arena.
    if ((own == WholeAndParts && op) || own == PartsAndWhole)
      copied += bytes;
    if (::isInParts(own) && !times.isKept(value))
      largest = std::max(largest, bytes);
  }
  return copied > largest;
}

FailureOr<BatchParts> dlc::graph::partsForCaches(Block &block,
                                                 const ConvOptions &options) {
  constexpr int64_t mostParts = 16, mostOperations = 4000;
  // Threads that are far from each other have images of their own.
  constexpr int64_t fewestExamples = 2, fewestSums = 8;
  // Less is not worth as many more launches.
  constexpr layout::Cost leastGain = 100;
  Candidates known(block);
  // Threads share a sum of all elements of an example in another way where
  // there are so few of them, which has been decided (hasFasterParts).
  known.operations.remove_if([&](const auto &each) {
    return getFusionKind(each.first) == FusionKind::Reduction &&
           typeOf(each.first->getResult(0)).getNumElements() <
               fewestSums * known.batch;
  });
  // Threads share parts of as many examples as there are threads more evenly.
  bool hasEqualParts = false;
  for (int64_t parts = 2; parts <= mostParts; ++parts)
    hasEqualParts |=
        known.batch % parts == 0 && known.batch / parts >= fewestExamples;
  CacheTimes times(block, known, options);
  BatchParts best;
  layout::Cost leastCost = 0;
  for (int64_t parts = 2; parts <= mostParts; ++parts) {
    if (known.batch / parts < fewestExamples ||
        (known.batch % parts != 0 && hasEqualParts) ||
        parts * static_cast<int64_t>(known.operations.size()) > mostOperations)
      continue;
    const CacheProblem own(block, known, times, parts);
    if (best.parts == 1 && leastCost == 0)
      leastCost = own.costOf({});
    const layout::Solution solution = layout::solve(own.problem);
    if (auto wrong = layout::validate(own.problem, solution))
      return block.getParentOp()->emitError("parts of a batch: ") << *wrong;
    const CacheProblem::Operations inParts = own.withoutGaps(solution.choices);
    const layout::Cost cost = own.costOf(inParts);
    if (cost >= leastCost - leastCost / leastGain ||
        own.isMostlyCopied(inParts))
      continue;
    leastCost = cost;
    best = {{}, known.batch, parts};
    for (const auto &each : known.operations)
      if (inParts.contains(each.first))
        best.operations.insert(each);
  }
  return best;
}
