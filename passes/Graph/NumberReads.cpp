// SPDX-License-Identifier: Apache-2.0

#include "NumberReads.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Numbers.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

using namespace mlir;
using namespace dlc::graph;

SmallVector<NumberRead, 1> dlc::graph::readNumber(Value value,
                                                  const Knowledge &knowledge,
                                                  ArrayRef<int64_t> fixed) {
  struct Piece {
    Loops loops;
    SmallVector<Index> position;
  };
  Piece whole;
  SmallVector<int> loopOf;
  for (auto [extent, at] : llvm::zip_equal(typeOf(value).getShape(), fixed)) {
    auto &extents = whole.loops.extents;
    const bool isLoop = at < 0 && extent != 1;
    loopOf.push_back(isLoop ? static_cast<int>(extents.size()) : -1);
    if (isLoop)
      extents.push_back(extent);
  }
  for (auto [loop, at] : llvm::zip_equal(loopOf, fixed))
    whole.position.push_back(
        loop < 0 ? Index::number(whole.loops, std::max<int64_t>(at, 0))
                 : Index::loop(whole.loops, loop));
  // What several dimensions became is read in the loops of each.
  constexpr int mostCuts = 8;
  SmallVector<NumberRead, 1> found;
  SmallVector<Piece> todo = {std::move(whole)};
  for (int cuts = 0; !todo.empty();) {
    Piece piece = todo.pop_back_val();
    Block scratch;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointToEnd(&scratch);
    NumberReader reader(
        builder, value.getLoc(), piece.loops,
        [&](Value each) { return knowledge.elementsOf(each); },
        [](Value) { return false; });
    if (std::optional<Index> number = reader.numberAt(value, piece.position)) {
      auto [low, high] = reader.rangeOf(*number);
      found.push_back({*number, piece.position, low, high});
      // A loop over one place has no steps.
      auto leaveOut = [&](Index &index) {
        for (auto [step, extent] :
             llvm::zip_equal(index.coefficients, piece.loops.extents))
          if (extent == 1)
            step = 0;
      };
      leaveOut(found.back().number);
      llvm::for_each(found.back().position, leaveOut);
      continue;
    }
    std::optional<LoopSplit> split = reader.getSplit();
    if (!split || cuts++ == mostCuts)
      return {};
    for (const LoopPart &part : cut(piece.loops, *split))
      todo.push_back({part.loops, llvm::map_to_vector(piece.position,
                                                      [&](const Index &index) {
                                                        return part.at(index);
                                                      })});
  }
  return found;
}

/// `number` as steps along dimensions, whose coordinates are sums over loops of
/// their own; nullopt where the steps of these differ.
static std::optional<LinearNumbers> linearAlong(const Index &number,
                                                ArrayRef<Index> position) {
  LinearNumbers numbers{number.constant, {}, false};
  for (const Index &index : position) {
    std::optional<int64_t> step;
    for (auto [own, all] :
         llvm::zip_equal(index.coefficients, number.coefficients)) {
      if (own == 0)
        continue;
      if (all % own != 0 || (step && *step != all / own))
        return std::nullopt;
      step = all / own;
    }
    numbers.first -= step.value_or(0) * index.constant;
    // Of a dimension that is fixed nothing is left to step along.
    numbers.steps.push_back(step.value_or(0));
  }
  return numbers;
}

std::optional<LinearNumbers> dlc::graph::linearOf(ArrayRef<NumberRead> pieces,
                                                  size_t rank) {
  if (pieces.empty())
    return std::nullopt;
  LinearNumbers all{0, SmallVector<int64_t>(rank), false};
  SmallVector<bool> hasStep(rank);
  for (const NumberRead &piece : pieces) {
    auto own = linearAlong(piece.number, piece.position);
    if (!own)
      return std::nullopt;
    for (auto [step, found, is, index] :
         llvm::zip_equal(all.steps, own->steps, hasStep, piece.position)) {
      if (llvm::all_of(index.coefficients, [](int64_t c) { return c == 0; }))
        continue; // It says nothing of steps.
      if (is && step != found)
        return std::nullopt;
      step = found;
      is = true;
    }
  }
  // A dimension along which each piece has one place has the step between two.
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (hasStep[dim])
      continue;
    for (const NumberRead &piece : pieces.drop_front()) {
      const NumberRead &other = pieces.front();
      const int64_t distance =
          piece.position[dim].constant - other.position[dim].constant;
      int64_t rest = piece.number.constant - other.number.constant;
      for (unsigned i = 0; i < rank; ++i)
        rest -= all.steps[i] *
                (piece.position[i].constant - other.position[i].constant);
      if (distance != 0 && rest % distance == 0) {
        all.steps[dim] = rest / distance;
        break;
      }
    }
  }
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    int64_t first = piece.number.constant;
    for (auto [step, index] : llvm::zip_equal(all.steps, piece.position))
      first -= step * index.constant;
    if (i == 0)
      all.first = first;
    else if (first != all.first)
      return std::nullopt;
  }
  return all;
}

std::optional<OutsideIndex>
dlc::graph::findOutsideIndex(func::FuncOp function) {
  Knowledge knowledge;
  for (Operation &op : function.getBody().front()) {
    knowledge.learn(&op);
    auto indexed = dyn_cast<IndexedOpInterface>(op);
    if (!indexed || indexed.isInBounds() || !hasStaticTypes(&op))
      continue;
    Value indices = indexed.getIndicesOperand().get();
    RankedTensorType type = typeOf(indices);
    auto extents = indexed.getIndexedExtents();
    if (!extents || isa<BlockArgument>(indices) ||
        llvm::is_contained(type.getShape(), 0))
      continue;
    // Where there are several extents, the last dimension is that of them.
    for (auto [i, extent] : llvm::enumerate(*extents)) {
      SmallVector<int64_t> fixed(type.getRank(), -1);
      if (extents->size() > 1)
        fixed.back() = static_cast<int64_t>(i);
      for (const NumberRead &piece : readNumber(indices, knowledge, fixed)) {
        if (piece.high >= extent)
          return OutsideIndex{&op, piece.high, extent};
        if (piece.low < -extent)
          return OutsideIndex{&op, piece.low, extent};
      }
    }
  }
  return std::nullopt;
}
