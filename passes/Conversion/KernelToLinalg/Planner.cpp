// SPDX-License-Identifier: Apache-2.0
//
// A value is computed where it is used, inside the loops of a stage, unless it
// is a reduction, or costly and needed by several stages: those are written
// once, into an output or into scratch. All such values share the loops of the
// grid, so that one tile computes its part of everything. Stages are planned
// from the results backwards: how a value is read decides how it is laid out.

#include "PlannerImpl.h"

#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;

/// A stage cut into more parts than this is not worth having.
static constexpr size_t kMaxParts = 64;

/// True if a NaN that a maximum misses shows up all the same: each use of the
/// maximum is x - max x, which only exponentials and the end of a log-softmax
/// read, and their sum is NaN.
static bool mayMissNaN(Operation *op) {
  auto readsPowers = [](Operation *user) {
    auto sub = dyn_cast<graph::SubOp>(user);
    return isa<graph::ExpOp>(user) ||
           (sub && sub.getB().getDefiningOp<graph::LogOp>());
  };
  return isa<graph::ReduceMaxOp>(op) &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           auto sub = dyn_cast<graph::SubOp>(user);
           return sub && sub.getA() == op->getOperand(0) &&
                  sub.getB() == op->getResult(0) &&
                  llvm::all_of(sub->getUsers(), readsPowers) &&
                  llvm::any_of(sub->getUsers(), llvm::IsaPred<graph::ExpOp>);
         });
}

/// Combines an old value and a term as the reduction does.
static Value combine(Operation *op, OpBuilder &builder, Value old, Value term) {
  Value value = cast<graph::ReductionOpInterface>(op).buildFold(
      builder, op->getLoc(), old, term);
  auto maximum = value.getDefiningOp<arith::MaximumFOp>();
  if (maximum && mayMissNaN(op))
    maximum.setFastmath(arith::FastMathFlags::nnan);
  return value;
}

Planner::Outcome Planner::fail(const llvm::Twine &why) {
  reason = why.str();
  return Outcome::Failed;
}

//===----------------------------------------------------------------------===//
// Loops of values
//===----------------------------------------------------------------------===//

/// Where a value that nobody reads back lies in the grid: as the leader does,
/// dimension by dimension. Of another rank, each loop is that of the last
/// dimension that has its extent: what a reduction leaves of images is channels
/// rather than a batch. A wrong guess costs loops of the grid and nothing else,
/// as readers must agree.
SmallVector<int> Planner::guessBinding(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value), first = gridShape();
  SmallVector<int> binding(shape.size(), -1);
  for (size_t i = gridDims.size(); i-- > 0;) {
    unsigned dim = gridDims[i];
    if (shape.size() == first.size()) {
      if (shape[dim] == first[dim])
        binding[dim] = static_cast<int>(i);
      continue;
    }
    for (int at = static_cast<int>(shape.size()); at-- > 0;) {
      if (binding[at] >= 0 || shape[at] != first[dim])
        continue;
      binding[at] = static_cast<int>(i);
      break;
    }
  }
  return binding;
}

/// Loops over `value`: the grid, one loop per other dimension, and, when it is
/// a reduction, one per reduced dimension.
Domain Planner::makeDomain(Value value, ArrayRef<int> binding) {
  Domain domain;
  ArrayRef<int64_t> shape = shapeOf(value);
  domain.loops.grid = plan.grid.size();
  domain.loops.extents = plan.grid;
  auto addLoop = [&](int64_t extent) {
    domain.loops.extents.push_back(extent);
    return static_cast<unsigned>(domain.loops.extents.size() - 1);
  };
  SmallVector<int> loops; // By dimension of value; -1: extent 1.
  for (auto [dim, extent] : llvm::enumerate(shape))
    loops.push_back(binding[dim] >= 0 ? binding[dim]
                    : extent == 1     ? -1
                                      : static_cast<int>(addLoop(extent)));
  domain.reduced.resize(domain.loops.extents.size());

  SmallVector<int> folded;
  if (isReduction(value.getDefiningOp())) {
    // Held: a loop over what a call gives does not keep the optional around it.
    auto extents = cast<graph::ReductionOpInterface>(value.getDefiningOp())
                       .getFoldedExtents();
    for (int64_t extent : *extents) {
      folded.push_back(static_cast<int>(addLoop(extent)));
      domain.reduced.push_back(true);
    }
  }
  // A block of a grid dimension has a loop of its own.
  SmallVector<std::optional<unsigned>> inner(plan.grid.size());
  for (auto [dim, grid] : llvm::enumerate(binding)) {
    if (grid < 0 || plan.blocks[grid] == 1)
      continue;
    unsigned before = llvm::count_if(llvm::seq<unsigned>(dim), [&](unsigned d) {
      return loops[d] >= static_cast<int>(plan.grid.size()) ||
             (binding[d] >= 0 && inner[binding[d]]);
    });
    unsigned at = plan.grid.size() + before;
    domain.loops.extents.insert(domain.loops.extents.begin() + at,
                                plan.blocks[grid]);
    domain.reduced.insert(domain.reduced.begin() + at, false);
    for (SmallVector<int> *each : {&loops, &folded})
      for (int &loop : *each)
        loop += loop >= static_cast<int>(at);
    inner[grid] = at;
  }
  auto toIndex = [&](int loop) {
    if (loop < 0)
      return Index::number(domain.loops, 0);
    Index index = Index::loop(domain.loops, loop);
    if (loop < static_cast<int>(plan.grid.size()) && inner[loop])
      return index * plan.blocks[loop] +
             Index::loop(domain.loops, *inner[loop]);
    return index;
  };
  for (int loop : loops)
    domain.at.push_back(toIndex(loop));
  for (int loop : folded)
    domain.folded.push_back(toIndex(loop));
  return domain;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// The grid loop that walks a dimension of `extent` whose index is `index`, in
/// blocks or not; -1 for none.
int Planner::gridLoopOf(const Index &index, int64_t extent,
                        const Loops &loops) {
  for (unsigned loop = 0; loop < plan.grid.size(); ++loop) {
    const int64_t block = plan.blocks[loop];
    if (index.coefficients[loop] != block || plan.grid[loop] * block != extent)
      continue;
    Index inside = index;
    inside.coefficients[loop] = 0;
    std::optional<unsigned> own = inside.asLoop();
    if (block == 1
            ? index.asLoop() == loop
            : own && *own >= plan.grid.size() && loops.extents[*own] == block)
      return static_cast<int>(loop);
  }
  return -1;
}

/// Remembers which dimensions of a written value a reader takes from the grid.
void Planner::noteRead(Value value, const Position &at, const Loops &loops) {
  SmallVector<int> binding;
  ArrayRef<int64_t> shape = shapeOf(value);
  for (auto [index, extent] : llvm::zip_equal(at, shape)) {
    binding.push_back(gridLoopOf(index, extent, loops));
  }
  bindings[value].push_back(std::move(binding));
}

/// True if each element of `value` is met exactly once by `domain`'s own loops.
bool Planner::coversLoops(Value value, const Position &at,
                          const Domain &domain) {
  llvm::SmallDenseSet<unsigned> seen;
  for (auto [index, extent] : llvm::zip_equal(at, shapeOf(value))) {
    std::optional<unsigned> loop = index.asLoop();
    if (!loop && extent == 1)
      continue;
    if (!loop || domain.loops.extents[*loop] != extent ||
        !seen.insert(*loop).second)
      return false;
  }
  return seen.size() == domain.loops.extents.size();
}

/// A stage over one part of a value's domain. `isWhole`: the only part, so
/// that written values it needs may be written here.
bool Planner::buildPart(Value value, const Domain &domain, bool isRoot,
                        bool isWhole, Stage &stage, StageProblem &problem) {
  SmallVector<std::pair<Value, Position>> reads;
  SmallVector<Value> producedHere;
  auto policy = [&](Value tensor, const Position &at) {
    if (!stored.contains(tensor))
      return Treatment::Compute;
    reads.emplace_back(tensor, at);
    bool isFirst =
        !isRoot && isWhole && !isReduction(tensor.getDefiningOp()) &&
        !neverJoin.contains(tensor) &&
        (firstReader.lookup(tensor) == value ||
         llvm::is_contained(producedHere, firstReader.lookup(tensor)));
    if (!isFirst || produced.contains(tensor) ||
        llvm::is_contained(producedHere, tensor) ||
        !coversLoops(tensor, at, domain))
      return Treatment::Read;
    producedHere.push_back(tensor);
    return Treatment::ComputeAndStore;
  };
  StageBuilder builder(kernel.getContext(), value.getLoc(), domain, policy,
                       isForGPU);
  Operation *op = value.getDefiningOp();
  Value element;
  if (!isRoot && isReduction(op)) {
    element = cast<graph::ReductionOpInterface>(op).buildTermAt(
        builder, domain.at, domain.folded);
    // Over no dimension, each element is the only one of its fold.
    if (element && !llvm::is_contained(domain.reduced, true))
      builder.store(value, domain.at, element);
    else if (element)
      builder.accumulate(value, domain.at, element,
                         [&](OpBuilder &b, Value old, Value term) {
                           return combine(op, b, old, term);
                         });
  } else {
    element = builder.element(value, domain.at,
                              /*compute=*/!isRoot || !stored.contains(value));
    if (element)
      builder.store(value, domain.at, element);
  }
  problem = builder.getProblem();
  if (!element)
    return false;
  for (auto &[tensor, at] : reads)
    noteRead(tensor, at, domain.loops);
  produced.insert_range(producedHere);
  stage = builder.take();
  stage.isWhole = isWhole;
  return true;
}

Planner::Outcome Planner::buildParts(Value value, Domain domain, bool isRoot,
                                     std::vector<Stage> &parts) {
  std::vector<Domain> todo = {std::move(domain)};
  bool isWhole = true;
  while (!todo.empty()) {
    Domain part = std::move(todo.back());
    todo.pop_back();
    Stage stage;
    StageProblem problem;
    if (buildPart(value, part, isRoot, isWhole, stage, problem)) {
      parts.push_back(std::move(stage));
      continue;
    }
    if (!problem.split || parts.size() + todo.size() >= kMaxParts)
      return fail(problem.reason);
    if (problem.split->loop < plan.grid.size())
      return cutGridDim(*problem.split);
    isWhole = false;
    std::vector<Domain> pieces = cut(part, *problem.split);
    todo.insert(todo.end(), pieces.rbegin(), pieces.rend());
  }
  return Outcome::Done;
}

/// All readers of a value agree on the dimensions that the grid gives, and all
/// grid loops are among them: else tiles would compute it several times.
Planner::Outcome Planner::checkBinding(Value value) {
  auto &all = bindings[value];
  if (all.empty())
    all.push_back(guessBinding(value));
  for (unsigned loop = 0; loop < plan.grid.size(); ++loop)
    for (const SmallVector<int> &binding : all)
      if (llvm::count(binding, static_cast<int>(loop)) != 1 ||
          llvm::find(binding, static_cast<int>(loop)) - binding.begin() !=
              llvm::find(all[0], static_cast<int>(loop)) - all[0].begin())
        return dropGridDim(loop);
  plan.storage[value].grid = all[0];
  return Outcome::Done;
}

/// Whether it is known what is folded for `value`, if anything is.
static bool hasKnownExtents(Value value) {
  auto reduction =
      dyn_cast_or_null<graph::ReductionOpInterface>(value.getDefiningOp());
  return !reduction || reduction.getFoldedExtents();
}

Planner::Outcome Planner::planStored(Value value) {
  if (Outcome outcome = checkBinding(value); outcome != Outcome::Done)
    return outcome;
  if (produced.contains(value))
    return Outcome::Done;
  if (!hasKnownExtents(value))
    return fail("a reduction over axes that are not known");
  std::vector<Stage> parts;
  Outcome outcome =
      buildParts(value, makeDomain(value, plan.storage[value].grid),
                 /*isRoot=*/false, parts);
  for (Stage &part : llvm::reverse(parts))
    plan.stages.push_back(std::move(part));
  return outcome;
}

/// Results that no stage writes on its own. Small ones run last: the loops of
/// large ones often read an operand that a small one is to replace, as a step
/// of training does with parameters.
Planner::Outcome Planner::planRoots() {
  auto order = llvm::to_vector(llvm::seq<unsigned>(sources.size()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return ShapedType::getNumElements(shapeOf(sources[a])) <
           ShapedType::getNumElements(shapeOf(sources[b]));
  });
  for (unsigned i : order) {
    Value source = sources[i];
    bool isFirst =
        !llvm::is_contained(ArrayRef<Value>(sources).take_front(i), source);
    if (stored.contains(source) && isFirst) {
      plan.storage[source].result = i;
      continue;
    }
    SmallVector<int> binding = guessBinding(source);
    for (unsigned loop = 0; loop < plan.grid.size(); ++loop)
      if (!llvm::is_contained(binding, static_cast<int>(loop)))
        return dropGridDim(loop);
    if (!hasKnownExtents(source))
      return fail("a reduction over axes that are not known");
    std::vector<Stage> parts;
    Outcome outcome = buildParts(source, makeDomain(source, binding),
                                 /*isRoot=*/true, parts);
    if (outcome != Outcome::Done)
      return outcome;
    for (Stage &part : llvm::reverse(parts)) {
      // Several results may have one source: name the result, not the value.
      part.outputs.back().tensor =
          kernel.getBody().front().getTerminator()->getOperand(i);
      plan.stages.push_back(std::move(part));
    }
  }
  return Outcome::Done;
}

/// Puts each stage behind those that write what it reads, which are not always
/// planned in that order: a value may be written by one of its readers, and
/// that one may read more. Where stages wait for each other, such a value gets
/// a stage of its own.
Planner::Outcome Planner::orderStages() {
  std::vector<Stage> rest = std::move(plan.stages);
  plan.stages.clear();
  llvm::DenseMap<Value, unsigned> unwritten; // By how many stages.
  for (const Stage &stage : rest)
    for (const StageOutput &out : stage.outputs)
      ++unwritten[out.tensor];
  auto waits = [&](const Stage &stage) {
    auto isMissing = [&](Value tensor) {
      return tensor && unwritten.lookup(tensor) > 0 &&
             llvm::none_of(stage.outputs, [&](const StageOutput &out) {
               return out.tensor == tensor;
             });
    };
    return llvm::any_of(
               stage.inputs,
               [&](const StageInput &in) { return isMissing(in.tensor); }) ||
           llvm::any_of(stage.captures, [&](const StageCapture &capture) {
             return isMissing(capture.tensor);
           });
  };
  auto isLeft = [](const Stage &stage) { return stage.body != nullptr; };
  auto first = rest.begin(); // Of those that are left.
  while ((first = std::find_if(first, rest.end(), isLeft)) != rest.end()) {
    auto next = std::find_if(first, rest.end(), [&](const Stage &stage) {
      return isLeft(stage) && !waits(stage);
    });
    if (next != rest.end()) {
      for (const StageOutput &out : next->outputs)
        --unwritten[out.tensor];
      plan.stages.push_back(std::move(*next));
      continue;
    }
    for (const Stage &stage : llvm::make_filter_range(rest, isLeft))
      for (const StageOutput &out : stage.outputs)
        if (produced.contains(out.tensor)) {
          neverJoin.insert(out.tensor);
          return Outcome::Retry;
        }
    return fail("stages that wait for each other");
  }
  return Outcome::Done;
}

Planner::Outcome Planner::attempt() {
  plan = KernelPlan();
  bindings.clear();
  produced.clear();
  for (auto [dim, block] : llvm::zip_equal(gridDims, gridBlocks)) {
    plan.grid.push_back(gridShape()[dim] / block);
    plan.blocks.push_back(block);
  }
  if (Outcome outcome = planRoots(); outcome != Outcome::Done)
    return outcome;
  for (Value value : llvm::reverse(stored))
    if (Outcome outcome = planStored(value); outcome != Outcome::Done)
      return outcome;
  std::reverse(plan.stages.begin(), plan.stages.end());
  if (Outcome outcome = orderStages(); outcome != Outcome::Done)
    return outcome;
  return checkScratch();
}

/// True if a tensor that is computed with has no elements. The axes of a
/// reduction and the like are none of those.
static bool hasEmptyTensor(Operation &op) {
  auto isEmpty = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && llvm::is_contained(type.getShape(), 0);
  };
  auto fusion = dyn_cast<graph::FusionOpInterface>(op);
  for (OpOperand &operand : op.getOpOperands())
    if (isEmpty(operand.get()) &&
        !(fusion && fusion.isParameter(operand.getOperandNumber())))
      return true;
  return !isa<graph::ConstantOp>(op) && llvm::any_of(op.getResults(), isEmpty);
}

/// What a stage can hold the computation of; reductions are stages themselves.
static bool hasForm(Operation &op) {
  return isa<graph::ConstantOp, graph::NoneOp, graph::ElementwiseOpInterface,
             graph::PositionedOpInterface, graph::ReductionOpInterface>(op);
}

/// Why there is no plan for `body`, as far as each of its operations tells;
/// empty for nothing. A program gains nothing by code for no elements, and no
/// position or loop has to think of it.
static std::string whyNotPlanned(Block &body) {
  for (Operation &op : body.without_terminator())
    if (!hasForm(op))
      return ("no generated form of " + op.getName().getStringRef()).str();
  for (BlockArgument argument : body.getArguments()) {
    if (isa<NoneType>(argument.getType()))
      return "an operand that is left out";
    if (!graph::isStatic(argument.getType()))
      return "shapes that are not static";
    if (llvm::is_contained(shapeOf(argument), 0))
      return "no elements";
  }
  for (Operation &op : body) {
    if (!graph::hasStaticTypes(&op))
      return "shapes that are not static";
    if (hasEmptyTensor(op))
      return "no elements";
  }
  return "";
}

FailureOr<KernelPlan> Planner::run() {
  reason = whyNotPlanned(kernel.getBody().front());
  if (!reason.empty())
    return failure();
  chooseSources(/*seesThroughViews=*/true);
  if (std::optional<int64_t> size = flatSize()) {
    if (planFlat(*size) != Outcome::Done)
      return failure();
  } else {
    if (failed(planStages()))
      return failure();
    // One tile for all: in the shapes of the results there may be more.
    if (plan.grid.empty() &&
        ShapedType::getNumElements(gridShape()) > kTileElements) {
      chooseSources(/*seesThroughViews=*/false);
      if (failed(planStages()) || plan.grid.empty()) {
        chooseSources(/*seesThroughViews=*/true);
        if (failed(planStages()))
          return failure();
      }
    }
  }
  plan.sources = sources;
  if (!kernel.getAnyShape()) // Whose launches write memory of their own.
    findInPlace();
  return std::move(plan);
}

LogicalResult Planner::planStages() {
  neverStore.clear();
  neverJoin.clear();
  do {
    chooseStored();
  } while (dropCheapStored());
  chooseGrid();
  // Each retry drops a dimension of the grid or a written value, or widens
  // tiles.
  for (int retries = 0; retries < 64; ++retries) {
    Outcome outcome = attempt();
    if (outcome == Outcome::Failed)
      return failure();
    if (outcome != Outcome::Retry && !widenToSquares())
      return success();
  }
  reason = "no common loops";
  return failure();
}

FailureOr<KernelPlan> dlc::conversion::planKernel(kernel::FuncOp kernel,
                                                  std::string &reason) {
  return Planner(kernel, reason).run();
}
