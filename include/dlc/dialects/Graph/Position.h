// SPDX-License-Identifier: Apache-2.0
//
// Positions in tensors as linear expressions of the loops around them, and who
// gives the elements that lie there.

#ifndef DLC_DIALECTS_GRAPH_POSITION_H
#define DLC_DIALECTS_GRAPH_POSITION_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace dlc::graph {

/// The loops of a stage: those of the kernel's grid, shared by all stages, and
/// its own. Loop `i` is a grid loop when i < grid. None is empty.
struct Loops {
  unsigned grid = 0;
  llvm::SmallVector<int64_t> extents;
};

/// constant + sum of coefficients[i] * loop i.
struct Index {
  llvm::SmallVector<int64_t> coefficients;
  int64_t constant = 0;

  static Index number(const Loops &loops, int64_t value);
  static Index loop(const Loops &loops, unsigned which);

  Index operator+(const Index &other) const;
  Index operator*(int64_t factor) const;
  Index operator+(int64_t offset) const;
  bool operator==(const Index &other) const = default;
  bool operator<(const Index &other) const {
    return std::tie(coefficients, constant) <
           std::tie(other.coefficients, other.constant);
  }

  /// The smallest and the largest value.
  std::pair<int64_t, int64_t> range(const Loops &loops) const;
  /// The loop that this index is, if it is one.
  std::optional<unsigned> asLoop() const;
  /// With the loops of the grid as symbols, the others as dimensions.
  mlir::AffineExpr toAffine(const Loops &loops,
                            mlir::MLIRContext *context) const;
};

/// What keeps an index from being linear: loop `loop` must be cut at `at`
/// (isFactor: into blocks of `at` iterations).
struct LoopSplit {
  unsigned loop = 0;
  int64_t at = 0;
  bool isFactor = false;
};

/// A part of loops that were cut: `at` gives indices of the whole in its loops.
struct LoopPart {
  Loops loops;
  LoopSplit split;
  bool isHigh = false; ///< Behind a split that is at a place.

  Index at(const Index &whole) const;
};

/// The parts into which `split` cuts `loops`.
llvm::SmallVector<LoopPart, 2> cut(const Loops &loops, const LoopSplit &split);

/// Quotient and remainder of `index` by `divisor`, when both are linear. Else
/// nullopt, and `split` says which loop to cut if that helps.
std::optional<std::pair<Index, Index>> divide(const Index &index,
                                              int64_t divisor,
                                              const Loops &loops,
                                              std::optional<LoopSplit> &split);

/// -1, 0 or 1 as `index` is always below `bound`, neither, or never below. For
/// 0, `split` says where to cut.
int compareTo(const Index &index, int64_t bound, const Loops &loops,
              std::optional<LoopSplit> &split);

/// The position in an operand of that shape that is broadcast to a result at
/// `position`.
llvm::SmallVector<Index> broadcastPosition(llvm::ArrayRef<Index> position,
                                           llvm::ArrayRef<int64_t> shape,
                                           const Loops &loops);

/// The position in a tensor of shape `to` of the element at `index` in one of
/// shape `from`, both row-major with equally many elements.
std::optional<llvm::SmallVector<Index>>
reshapeIndex(llvm::ArrayRef<Index> index, llvm::ArrayRef<int64_t> from,
             llvm::ArrayRef<int64_t> to, const Loops &loops,
             std::optional<LoopSplit> &split);

/// Gives the elements that an element is computed from. Where an answer is not
/// the same for all iterations of the loops, it remembers which loop to cut.
class ElementReader {
public:
  using Value = mlir::Value;

  ElementReader(mlir::OpBuilder builder, mlir::Location loc, Loops loops)
      : builder(builder), loc(loc), loops(std::move(loops)) {}
  virtual ~ElementReader() = default;

  /// The element of `tensor` at `position`, as a scalar that is signless; null
  /// on failure.
  virtual Value read(Value tensor, llvm::ArrayRef<Index> position) = 0;
  /// The same at coordinates of type `index` that are known only when the
  /// kernel runs and lie within the tensor; null unless the tensor is in
  /// memory.
  virtual Value load(Value tensor, mlir::ValueRange coordinates) = 0;
  /// The value of `index`, a scalar of type `index`.
  virtual Value materialize(const Index &index) = 0;

  /// As divide() and compareTo().
  std::optional<std::pair<Index, Index>> divide(const Index &index,
                                                int64_t divisor) {
    return graph::divide(index, divisor, loops, split);
  }
  /// The same where no loop is to be cut for it.
  std::optional<std::pair<Index, Index>> divideWhole(const Index &index,
                                                     int64_t divisor) const {
    std::optional<LoopSplit> ignored;
    return graph::divide(index, divisor, loops, ignored);
  }
  int compare(const Index &index, int64_t bound) {
    return compareTo(index, bound, loops, split);
  }
  /// As reshapeIndex().
  std::optional<llvm::SmallVector<Index>>
  reshape(llvm::ArrayRef<Index> position, llvm::ArrayRef<int64_t> from,
          llvm::ArrayRef<int64_t> to) {
    return reshapeIndex(position, from, to, loops, split);
  }
  /// As Index::range().
  std::pair<int64_t, int64_t> rangeOf(const Index &index) const {
    return index.range(loops);
  }
  Index number(int64_t value) const { return Index::number(loops, value); }
  /// As broadcastPosition().
  llvm::SmallVector<Index> broadcast(llvm::ArrayRef<Index> position,
                                     llvm::ArrayRef<int64_t> shape) const {
    return broadcastPosition(position, shape, loops);
  }

  /// Whether threads that go different ways wait for each other, so that loops
  /// are better whole, with choices in them, than cut.
  bool prefersWhole() const { return isForThreads; }
  /// Whether a thread for each element computes it: what they all look at costs
  /// little then.
  bool hasManyThreads() const { return isForThreads; }

  /// Remembers the first reason, in words for a note. Gives null.
  Value fail(const llvm::Twine &why) {
    if (reason.empty())
      reason = why.str();
    return {};
  }

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }

protected:
  mlir::OpBuilder builder;
  mlir::Location loc;
  Loops loops;
  std::optional<LoopSplit> split;
  std::string reason;
  bool isForThreads = false;
};

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_POSITION_H
