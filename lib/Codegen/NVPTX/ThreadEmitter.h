// SPDX-License-Identifier: Apache-2.0
//
// One structured operation, spread over the threads of a block.

#ifndef DLC_LIB_CODEGEN_NVPTX_THREADEMITTER_H
#define DLC_LIB_CODEGEN_NVPTX_THREADEMITTER_H

#include "../Common/LoopEmitterImpl.h"
#include "Instructions.h"
#include "KernelEmitter.h"

namespace dlc::codegen::gpu {

/// What a block has of the points of a tile, in their order.
struct Share {
  mlir::Value first; ///< i32.
  int64_t count = 0;
};

/// What threads have in registers of the rows of a tile, from one operation of
/// a kernel to the next: each warp, or the block, has the same rows in all,
/// each thread the same elements. What is kept was read from memory that the
/// kernel does not write, or is what a row was reduced to, and nobody has
/// written there since.
class KeptRows {
public:
  /// Extent and stride of a dimension.
  using Dim = std::pair<int64_t, int64_t>;
  /// Elements of an operand: those of turn `turn` of `threads` that share a
  /// row, in the rows of turn `rowTurn`; without columns, what there is of such
  /// a row.
  struct Place {
    mlir::Value base, offset;
    int64_t constant = 0;
    llvm::SmallVector<Dim> rows = {}, columns = {};
    int64_t width = 1, threads = 0, rowTurn = 0, turn = 0;
    bool operator==(const Place &other) const;
  };

  /// Memory that the kernel only reads.
  void addInput(mlir::Value base) { inputs.insert(base); }
  bool isInput(mlir::Value base) const { return inputs.contains(base); }

  /// Memory that is about to be written.
  void forget(mlir::Value base) {
    std::erase_if(kept,
                  [&](const auto &known) { return known.first.base == base; });
  }
  void keep(Place place, mlir::Value value) {
    kept.emplace_back(std::move(place), value);
  }
  /// What is kept of it and known where the builder is; null for nothing.
  mlir::Value find(const Place &place, mlir::OpBuilder &builder) const;

private:
  llvm::DenseSet<mlir::Value> inputs;
  std::vector<std::pair<Place, mlir::Value>> kept; ///< Some tens.
};

/// Emits loops as they are planned; vectors are along the last parallel
/// dimension.
class ThreadEmitter : public LoopEmitter, protected Words {
public:
  /// `exchange`: exchangeBytes() of shared memory.
  ThreadEmitter(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
                const LoopPlan &plan, const TargetOptions &target,
                const ViewMap &views, const ValueMap &outer,
                llvm::ArrayRef<mlir::Value> initial, const Threads &threads,
                mlir::Value exchange, KeptRows *kept = nullptr)
      : LoopEmitter(builder, op, plan, target, views, outer, initial),
        Words(builder, op.getLoc()), threads(threads), target(target),
        views(views), exchange(exchange), kept(kept) {}

  llvm::LogicalResult emit();
  /// Of elements without reductions, emits those of `share` alone.
  void setShare(const Share &own) { share = own; }

  /// What threads exchange through shared memory: sums of warps, elements that
  /// are read across the way in which they lie.
  static int64_t exchangeBytes(const LoopPlan &plan);

protected:
  void enterIf(mlir::Value condition) { gpu::enterIf(builder, loc, condition); }
  mlir::Value isZero(mlir::Value value) {
    return gpu::isZero(builder, loc, value);
  }
  Cursor locate(const Cursor &cursor, llvm::ArrayRef<unsigned> dims,
                mlir::Value index, int64_t width);
  /// `turn`: the number of it for this thread, where that is known.
  using AtElement =
      llvm::function_ref<void(const Cursor &, std::optional<int64_t> turn)>;
  void overResults(const Cursor &cursor, mlir::Value first, int64_t step,
                   int64_t width, AtElement emitElement);

  const Threads &threads;
  const TargetOptions &target;
  const ViewMap &views;

private:
  /// Results dealt out to the threads of a block as a rectangle of which each
  /// takes some rows and some columns, which lie `rowThreads` and
  /// `columnThreads` apart: what they share it reads once.
  struct Patches {
    llvm::ArrayRef<unsigned> rows, columns; ///< Dimensions, of plan.parallel.
    int64_t rowCount, columnCount, rowThreads, columnThreads;
    int64_t rowsOfOne() const { return llvm::divideCeil(rowCount, rowThreads); }
    int64_t columnsOfOne() const {
      return llvm::divideCeil(columnCount, columnThreads);
    }
  };

  /// Inputs that lie along `along`, and not along the last parallel dimension.
  struct Squares {
    unsigned along = 0;
    llvm::SmallVector<unsigned> operands;
  };

  mlir::Value countOf(llvm::ArrayRef<unsigned> dims, int64_t width);
  /// Whether all threads of a block sum for one result.
  static bool isForBlock(const LoopPlan &plan);
  static std::optional<Squares> findSquares(const LoopPlan &plan);
  void emitSquares(const Cursor &cursor, const Squares &squares);
  int64_t vectorWidth();
  int64_t reducedWidth();
  bool isForWarp();
  std::optional<mlir::Value> areAligned(const Cursor &cursor, int64_t width);
  void emitElements(const Cursor &cursor);
  std::optional<KeptRows::Place> placeOf(const LoopOperand &operand,
                                         llvm::ArrayRef<unsigned> rows,
                                         llvm::ArrayRef<unsigned> columns);
  void addKept(const Cursor &at, llvm::ArrayRef<unsigned> rows,
               llvm::ArrayRef<unsigned> columns, int64_t width,
               int64_t threadsOfRow, int64_t rowTurn, int64_t turn,
               ValueMap &values);
  /// How an operation without sums goes along rows: the first so many parallel
  /// dimensions are those of rows, each of which so many threads share.
  struct Rows {
    size_t dims = 0;
    int64_t threads = 0;
  };
  std::optional<Rows> findRows(int64_t width);
  void emitRows(const Cursor &cursor, const Rows &rows, int64_t width);
  std::optional<Patches> findPatches();
  void emitByPatch(const Cursor &cursor, const Patches &patches);
  Values sumPatch(unsigned depth, llvm::ArrayRef<Cursor> cursors,
                  const ValueMap &prepared, mlir::ValueRange carried);
  void emitByThread(const Cursor &cursor);
  void emitByWarp(const Cursor &cursor);
  void emitByBlock(const Cursor &cursor);
  Values reduceStrided(const Cursor &cursor, mlir::Value first, int64_t step,
                       std::optional<int64_t> rowTurn = std::nullopt);
  Values combineWarp(Values values);
  mlir::Value exchangeLane(mlir::Value value, int64_t distance);
  void writeBy(mlir::Value isWriter, const Cursor &cursor,
               mlir::ValueRange values);
  void writeTotals(mlir::Value isWriter, const Cursor &at,
                   mlir::ValueRange values, int64_t threadsOfRow,
                   std::optional<int64_t> rowTurn);
  void keepTotals(mlir::ValueRange totals, int64_t threadsOfRow,
                  int64_t rowTurn);

  mlir::Value exchange;
  KeptRows *kept = nullptr; ///< Or null.
  std::optional<Share> share;
};

} // namespace dlc::codegen::gpu

#endif // DLC_LIB_CODEGEN_NVPTX_THREADEMITTER_H
