// SPDX-License-Identifier: Apache-2.0
//
// The state of planning one kernel, which Planner.cpp (stages), Grid.cpp
// (tiles), StoredValues.cpp (what is written), FlatPlan.cpp (elementwise
// kernels) and InPlace.cpp (shared memory) work on.

#ifndef DLC_PASSES_CONVERSION_KERNELTOLINALG_PLANNERIMPL_H
#define DLC_PASSES_CONVERSION_KERNELTOLINALG_PLANNERIMPL_H

#include "Planner.h"

#include "dlc/dialects/Graph/GraphOps.h"

#include "llvm/ADT/SetVector.h"

namespace dlc::conversion {

/// Tiles that give all of a large GPU work: two for each of its processors.
inline constexpr int64_t kTilesOfGPU = 264;

/// The largest divisor of `extent` that is at most `wanted`, unless that leaves
/// little of a tile, as of primes: then a divisor above, up to `most`, that is
/// nearer.
int64_t divisorNear(int64_t extent, int64_t wanted, int64_t most);

/// Rows of the largest square of elements that code generation turns round in
/// registers: lanes of AVX-512. Of two or four such squares fewer tiles remain.
inline constexpr int64_t kSquareRows = 16, kMostSquareRows = 64;

inline bool isReduction(mlir::Operation *op) {
  return mlir::isa_and_nonnull<graph::ReductionOpInterface>(op);
}

/// Absent of what is no contraction.
inline std::optional<graph::FactorDims> factorDimsOf(mlir::Operation *op) {
  auto reduction = mlir::dyn_cast_or_null<graph::ReductionOpInterface>(op);
  return reduction ? reduction.getFactorDims() : std::nullopt;
}

/// Plans one kernel.
class Planner {
public:
  Planner(kernel::FuncOp kernel, std::string &reason)
      : kernel(kernel), reason(reason), isForGPU(kernel::isForGPU(kernel)) {}

  llvm::FailureOr<KernelPlan> run();

private:
  using Treatment = StageBuilder::Treatment;
  enum class Outcome { Done, Retry, Failed };

  int64_t tileElements(int64_t total) const;
  /// The shape whose dimensions the grid divides.
  llvm::ArrayRef<int64_t> gridShape() const { return shapeOf(leader); }
  std::optional<int64_t> flatSize();
  Outcome planFlat(int64_t size);
  void chooseSources(bool seesThroughViews);
  llvm::LogicalResult planStages();
  void chooseStored();
  bool dropCheapStored();
  void chooseGrid();
  void chooseBlocks(const graph::FactorDims &dims, int64_t terms);
  bool widenToSquares();
  int64_t costOf(mlir::Operation *op);
  int64_t computeCost(mlir::Operation *op);
  Outcome attempt();
  Outcome planRoots();
  Outcome planStored(mlir::Value value);
  Outcome buildParts(mlir::Value value, Domain domain, bool isRoot,
                     std::vector<Stage> &parts);
  bool buildPart(mlir::Value value, const Domain &domain, bool isRoot,
                 bool isWhole, Stage &stage, StageProblem &problem);
  Domain makeDomain(mlir::Value value, llvm::ArrayRef<int> binding);
  llvm::SmallVector<int> guessBinding(mlir::Value value);
  int gridLoopOf(const Index &index, int64_t extent, const Loops &loops);
  void noteRead(mlir::Value value, const Position &at, const Loops &loops);
  bool coversLoops(mlir::Value value, const Position &at, const Domain &domain);
  Outcome checkBinding(mlir::Value value);
  Outcome orderStages();
  Outcome checkScratch();
  Outcome dropGridDim(unsigned dim);
  void addInnerDims(unsigned dropped);
  Outcome cutGridDim(const graph::LoopSplit &split);
  Outcome fail(const llvm::Twine &why);
  void findInPlace();
  bool readsAllow(unsigned input, unsigned output);

  kernel::FuncOp kernel;
  std::string &reason;
  const bool isForGPU;
  llvm::SmallVector<mlir::Value> sources;
  /// The source whose dimensions the grid divides: the largest one, or with
  /// reductions, whose sums depend on tiles, the first one.
  mlir::Value leader;
  /// By operation, see costOf().
  llvm::DenseMap<mlir::Operation *, int64_t> elementCosts;
  /// Values that are written, in order, and the stages that need each.
  llvm::SetVector<mlir::Value> stored;
  llvm::DenseMap<mlir::Value, llvm::SmallSetVector<mlir::Value, 4>> needs;
  /// The stage that needs a written value first.
  llvm::DenseMap<mlir::Value, mlir::Value> firstReader;
  llvm::SmallDenseSet<mlir::Value> neverStore;
  /// Written values that have a stage of their own, not that of a reader.
  llvm::SmallDenseSet<mlir::Value> neverJoin;

  /// Dimensions of the leader that are the grid, and in blocks of how many each
  /// is walked, which a tile holds.
  llvm::SmallVector<unsigned> gridDims;
  llvm::SmallVector<int64_t> gridBlocks;
  KernelPlan plan;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<llvm::SmallVector<int>>>
      bindings;
  llvm::SmallDenseSet<mlir::Value> produced;
};

} // namespace dlc::conversion

#endif // DLC_PASSES_CONVERSION_KERNELTOLINALG_PLANNERIMPL_H
