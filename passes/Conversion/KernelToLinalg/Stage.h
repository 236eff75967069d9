// SPDX-License-Identifier: Apache-2.0
//
// A stage of a kernel: one linalg.generic to be, as scalars over loops. Stages
// are built before it is known where their tensors lie.

#ifndef DLC_PASSES_CONVERSION_KERNELTOLINALG_STAGE_H
#define DLC_PASSES_CONVERSION_KERNELTOLINALG_STAGE_H

#include "dlc/dialects/Graph/Position.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <string>

namespace dlc::conversion {

using graph::Index;
using graph::Loops;
using graph::LoopSplit;
using Position = llvm::SmallVector<Index>;

/// Loops and where a tensor's elements are computed in them.
struct Domain {
  Loops loops;
  llvm::SmallVector<bool> reduced; ///< Per loop.
  Position at;                     ///< Of the stage's value.
  Position folded;                 ///< The term, when the value is a reduction.
};

/// The parts into which `split` cuts `domain`.
std::vector<Domain> cut(const Domain &domain, const LoopSplit &split);

struct StageInput {
  mlir::Value tensor;
  Position at;
  mlir::BlockArgument argument;
};

struct StageOutput {
  mlir::Value tensor;
  Position at;
  mlir::Value element; ///< In the type of memory.
  /// Null unless the element is combined with the old value.
  mlir::BlockArgument old;
};

/// A value of the body that is made outside of it, and the operation that
/// stands for it until then.
struct StageCapture {
  mlir::Value placeholder;
  mlir::Value tensor;    ///< Whose memory it is, or null:
  unsigned gridLoop = 0; ///< the index of this loop.
};

struct Stage {
  Domain domain;
  std::unique_ptr<mlir::Block> body;
  llvm::SmallVector<StageInput> inputs;
  llvm::SmallVector<StageOutput> outputs;
  llvm::SmallVector<StageCapture> captures;
  /// Covers the whole domain of its value.
  bool isWhole = true;
};

/// Why a stage cannot be built: a loop to cut, or a reason.
struct StageProblem {
  std::optional<LoopSplit> split;
  std::string reason;
};

/// Builds the body of a stage.
class StageBuilder : public graph::ElementReader {
public:
  /// What to do with a value that is not simply computed in place.
  enum class Treatment { Compute, Read, ComputeAndStore };
  using Policy =
      llvm::function_ref<Treatment(mlir::Value tensor, const Position &at)>;

  /// `isForThreads`: see prefersWhole().
  StageBuilder(mlir::MLIRContext *context, mlir::Location loc,
               const Domain &domain, Policy policy, bool isForThreads);

  /// The element of `tensor` at `at`, in signless type; null on failure.
  /// `policy` decides about every value but, when `compute`, this one.
  mlir::Value element(mlir::Value tensor, const Position &at,
                      bool compute = false);
  /// Adds outputs. `combine` gives the new value from old and term.
  void store(mlir::Value tensor, const Position &at, mlir::Value element);
  void accumulate(mlir::Value tensor, const Position &at, mlir::Value term,
                  llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value,
                                                 mlir::Value)>
                      combine);

  StageProblem getProblem() const { return {split, reason}; }
  /// The finished stage; the builder is spent.
  Stage take() { return std::move(stage); }

  // What operations ask when they build their elements.
  mlir::Value read(mlir::Value tensor,
                   llvm::ArrayRef<Index> position) override {
    return element(tensor, Position(position));
  }
  mlir::Value load(mlir::Value tensor, mlir::ValueRange coordinates) override;
  mlir::Value materialize(const Index &index) override;

private:
  mlir::Value readMemory(mlir::Value tensor, const Position &at);
  mlir::Value compute(mlir::Value tensor, const Position &at);
  mlir::Value constant(mlir::Operation *op);
  mlir::Value elementwise(mlir::Operation *op, const Position &at);
  mlir::Value capture(mlir::Type type, mlir::Value tensor, unsigned gridLoop);

  /// The elements that are there, by their tensors and hashes of positions.
  using Elements =
      llvm::DenseMap<std::pair<mlir::Value, size_t>,
                     llvm::SmallVector<std::pair<Position, mlir::Value>, 1>>;

  Policy policy;
  Stage stage;
  Elements cache;
};

/// `value` between the signless type that arith knows and the type in memory.
mlir::Value castSign(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value value, mlir::Type type);

/// The static shape of a ranked tensor.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor);

} // namespace dlc::conversion

#endif // DLC_PASSES_CONVERSION_KERNELTOLINALG_STAGE_H
