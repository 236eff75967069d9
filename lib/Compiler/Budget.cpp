// SPDX-License-Identifier: Apache-2.0
//
// The search for what graph-recompute and the graph phase are told, so that the
// arenas keep within the memory budget of the user.

#include "State.h"

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Plan/PlanDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <array>
#include <limits>

using namespace mlir;
using namespace dlc;
using pipeline::GradientOptions;

/// The programs that are to keep within a budget: a part of a gradient saves
/// what the other one is compiled for, so that both decide with both.
static SmallVector<GradientOptions::Part, 2>
partsOf(const std::optional<GradientOptions> &gradient) {
  using Part = GradientOptions::Part;
  if (!gradient || gradient->part == Part::Whole)
    return {Part::Whole};
  return {Part::Forward, Part::Backward};
}

/// Brings the placed module into the plan phase, unless another budget left
/// the same to compute again; the bytes of its arenas, with what is saved
/// between the parts of a gradient.
FailureOr<int64_t> Compilation::State::planArenas() {
  if (failed(runPasses(Phase::Fused, pipeline::addRecompute)))
    return failure();
  bool isKept = recomputeBudget < 0; // Fusion bounds what is repeated.
  for (Planned &known : planned)
    if (known.isKept == isKept &&
        OperationEquivalence::isEquivalentTo(
            *module, *known.module, OperationEquivalence::IgnoreLocations))
      return known.bytes;
  OwningOpRef<ModuleOp> recomputed = module->clone();
  FailureOr<int64_t> bytes = 0;
  for (GradientOptions::Part part : partsOf(options.gradient)) {
    module = recomputed->clone();
    FailureOr<int64_t> ofPart = planPart(part);
    if (failed(ofPart))
      return failure();
    bytes = std::max(*bytes, *ofPart);
  }
  planned.push_back({std::move(recomputed), isKept, *bytes});
  return bytes;
}

/// The bytes of arenas of one part of the recomputed module, and of what the
/// other one saves for it or gets of it.
FailureOr<int64_t> Compilation::State::planPart(GradientOptions::Part part) {
  auto split = [&](OpPassManager &manager,
                   pipeline::PipelineOptions passOptions) {
    if (passOptions.gradient)
      passOptions.gradient->part = part;
    pipeline::addSplit(manager, passOptions);
  };
  if (failed(runPasses(Phase::Fused, split)))
    return failure();
  int64_t bytes = 0;
  for (auto function : module->getOps<func::FuncOp>())
    if (auto saved = function->getAttrOfType<IntegerAttr>(graph::kSavedAttr))
      bytes += saved.getInt();
  if (failed(runPasses(Phase::Fused, pipeline::addFusion)) ||
      failed(runPasses(Phase::Kernel)) || failed(runPasses(Phase::Plan)))
    return failure();
  // Programs of a batch run one after the other, in the same memory.
  int64_t most = 0;
  for (auto program : module->getOps<plan::ProgramOp>()) {
    int64_t own = 0;
    for (auto arena : program.getBody().getOps<plan::ArenaOp>())
      own += arena.getSize();
    most = std::max(most, own);
  }
  return bytes + most;
}

/// What graph-recompute may be told for the least memory. It counts before
/// fusion and packing, so that the least it can do need not make the least
/// arenas: factors of that, and no budget. A model is refused exactly where
/// none of them fits, whatever the budget is.
static constexpr double leastFactors[] = {0, 1.05, 1.15, 1.3};

namespace {
/// While it lives, what passes make is only looked at.
class Trial {
public:
  Trial(bool &isTrial, std::unique_ptr<MLIRContext> &context,
        std::function<void()> startRemarks)
      : isTrial(isTrial), context(context),
        startRemarks(std::move(startRemarks)) {
    isTrial = true;
    // Passes find out more where somebody listens.
    context->setRemarkEngine(nullptr);
  }
  ~Trial() {
    isTrial = false;
    if (context) // No crash took it.
      startRemarks();
  }
  Trial(const Trial &) = delete;
  Trial &operator=(const Trial &) = delete;

private:
  bool &isTrial;
  std::unique_ptr<MLIRContext> &context;
  std::function<void()> startRemarks;
};
} // namespace

/// Whether the placed module, which stays as it is, fits in the budget of the
/// user with what graph-recompute is told.
FailureOr<bool> Compilation::State::tryBudget(int64_t budget, int64_t &least) {
  OwningOpRef<ModuleOp> placed = module->clone();
  recomputeBudget = budget;
  FailureOr<int64_t> bytes = [&] {
    Trial trial(isTrial, context, [this] { startRemarks(); });
    return planArenas();
  }();
  module = std::move(placed);
  if (failed(bytes))
    return failure();
  least = std::min(least, *bytes);
  return *bytes <= options.memoryBudget;
}

/// Finds what graph-recompute is to be told, so that the arenas keep within the
/// budget of the user: the whole way is tried, and what is kept grows while the
/// plan fits, over a few steps, since each takes as long as planning does.
FailureOr<bool> Compilation::State::fitBudget(int64_t &leastOfAll) {
  int64_t least = std::numeric_limits<int64_t>::max();
  auto tryOne = [&](int64_t budget) {
    FailureOr<bool> fits = tryBudget(budget, least);
    leastOfAll = std::min(leastOfAll, least);
    return fits;
  };
  FailureOr<bool> fits = tryOne(-1);
  if (failed(fits) || *fits)
    return fits;
  int64_t low = 0; // Fits.
  double scale = 0;
  for (double factor : leastFactors) {
    low = static_cast<int64_t>(factor * scale);
    fits = tryOne(low);
    if (failed(fits))
      return failure();
    if (*fits)
      break;
    if (factor == 0)
      scale = static_cast<double>(least);
  }
  if (!*fits)
    return false;
  // Little more than fits in the model may fit: fusion keeps less than that.
  auto high = static_cast<int64_t>(1.5 * options.memoryBudget);
  for (int step = 0; step < 5 && low + 1 < high; ++step) {
    bool isFirst = step == 0 && low < options.memoryBudget;
    int64_t middle = isFirst ? options.memoryBudget : low + (high - low) / 2;
    fits = tryOne(middle);
    if (failed(fits))
      return failure();
    (*fits ? low : high) = middle;
  }
  recomputeBudget = low;
  return true;
}

/// From the beginning to the placed phase, with what the graph phase is told
/// now, to be looked at.
LogicalResult Compilation::State::tryPlacing() {
  Trial trial(isTrial, context, [this] { startRemarks(); });
  return placeAgain();
}

/// From the beginning to the placed phase, with what the graph phase is told
/// now.
LogicalResult Compilation::State::placeAgain() {
  planned.clear();
  module = imported->clone();
  return success(succeeded(runPasses(Phase::Graph)) &&
                 succeeded(runPasses(Phase::Placed)));
}

static size_t countOperations(ModuleOp module) {
  size_t count = 0;
  module->walk([&](Operation *) { ++count; });
  return count;
}

/// Parts of the batch that are tried; the same for each budget, so that one
/// that is said to be enough is.
static constexpr std::array<int64_t, 3> partsOfBatch = {2, 4, 8};

/// As fitBudget(), with the batch in parts where it takes most memory. The
/// module has `whole` operations where it is in one.
FailureOr<bool> Compilation::State::fitBudgetInParts(size_t whole,
                                                     int64_t &least) {
  // The most parts show whether it helps at all.
  batchParts = partsOfBatch.back();
  if (failed(tryPlacing()))
    return failure();
  if (countOperations(*module) == whole)
    return false; // There are none.
  int64_t before = least;
  if (failed(tryBudget(0, least)))
    return failure();
  if (least == before)
    return false;
  for (int64_t parts : partsOfBatch) {
    batchParts = parts;
    if (failed(tryPlacing()))
      return failure();
    FailureOr<bool> fits = fitBudget(least);
    if (failed(fits) || *fits)
      return fits;
  }
  return false;
}

/// As fitBudget() for the placed phase, and where nothing fits, for that with
/// plain gradients of weights, then for that with the batch in parts.
LogicalResult Compilation::State::fitBudgetSomehow() {
  int64_t least = std::numeric_limits<int64_t>::max();
  FailureOr<bool> fits = fitBudget(least);
  if (failed(fits) || *fits)
    return fits;
  size_t operations = countOperations(*module);
  bool hasGradients = false;
  module->walk([&](graph::ConvWeightGradientOp) { hasGradients = true; });
  if (hasGradients) {
    plainGradients = true;
    if (failed(tryPlacing()))
      return failure();
    fits = fitBudget(least);
    if (failed(fits))
      return failure();
    if (*fits)
      return placeAgain();
    plainGradients = false;
  }
  fits = fitBudgetInParts(operations, least);
  if (failed(fits))
    return failure();
  if (*fits)
    return placeAgain();
  return emitError(module->getLoc(), "expected a memory budget of at least ")
         << least << " bytes, got " << options.memoryBudget;
}
