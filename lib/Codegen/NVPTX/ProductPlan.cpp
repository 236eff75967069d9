// SPDX-License-Identifier: Apache-2.0

#include "ProductPlan.h"

#include "KernelEmitter.h"
#include "Neighbours.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dlc::codegen;
using namespace dlc::codegen::gpu;

int64_t ProductPlan::bytesOf(const ProductSide &side) const {
  if (unit == ProductUnit::Group)
    return elementBytes() * step * side.padded;
  return elementBytes() * side.pitch * (side.isAlongTerms ? side.padded : step);
}

/// Of f16 or bf16, in a line of shared memory as wgmma reads it.
static constexpr int64_t kGroupTerms = 64;

namespace {

class Planner : Neighbours {
public:
  using Neighbours::Neighbours;

  std::optional<ProductPlan> plan(int64_t tiles, int64_t mostBlocks,
                                  bool roundsFloats, bool hasGroups);

private:
  int64_t countOf(ArrayRef<unsigned> dims) const {
    return *staticCount(loops, dims);
  }
  bool findFactors();
  bool splitDims();
  void orderTerms();
  int64_t widthAlong(const ProductSide &side, unsigned dim) const;
  void chooseNeighbours();
  void chooseSteps();
  bool isFilled(int64_t step, int64_t unit) const;
  void chooseBlocks(int64_t tiles, int64_t mostBlocks);
  struct Workers;
  bool spread(const Workers &workers);
  bool spreadGroups();
  bool choosePitches();

  ProductPlan result;
  Dims isReduced;
};

/// Warps or threads, and what they can do.
struct Planner::Workers {
  int64_t count;
  int64_t high, wide, terms;    ///< Of one part.
  int64_t columnsAtOnce;        ///< Parts of columns that are read together.
  int64_t mostParts;            ///< Of one worker: what registers hold.
  double readRows, readColumns; ///< Turns for a part.
  double add;                   ///< Turns for a part, of each other worker.

  /// Threads have squares of 4 x 4, warps tiles of 16 x 8.
  static Workers of(ProductUnit unit) {
    if (unit == ProductUnit::Vector)
      return {.count = kThreads,
              .high = 4,
              .wide = 4,
              .terms = 4,
              .columnsAtOnce = 1,
              .mostParts = 6,
              .readRows = 0.25,
              .readColumns = 0.25,
              .add = 4};
    return {.count = kThreads / kWarp,
            .high = 16,
            .wide = 8,
            .terms = 16,
            .columnsAtOnce = 2,
            .mostParts = 32,
            .readRows = 1,
            .readColumns = 0.5,
            .add = 2};
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// What `factor` is read as from memory; null when it is computed.
static Value elementOf(Value factor) {
  if (auto wide = factor.getDefiningOp<arith::ExtFOp>())
    if (Type type = wide.getIn().getType(); type.isF16() || type.isBF16())
      factor = wide.getIn();
  Operation *defined = factor.getDefiningOp();
  return !defined || isa<memref::LoadOp>(defined) ? factor : Value();
}

/// sum + a * b, or sum + (condition ? a * b : 0).
bool Planner::findFactors() {
  if (loops.accumulators.size() != 1 || op.getNumDpsInits() != 1)
    return false;
  Operation *sum = loops.accumulators[0].combiner;
  if (!isa_and_nonnull<arith::AddFOp>(sum) ||
      !sum->getResult(0).getType().isF32())
    return false;
  bool isFirst = operandOf(sum->getOperand(0)) ==
                 &loops.operands[loops.accumulators[0].operand];
  Value term = sum->getOperand(isFirst ? 1 : 0), condition;
  if (auto choice = term.getDefiningOp<arith::SelectOp>();
      choice && matchPattern(choice.getFalseValue(), m_AnyZeroFloat())) {
    condition = choice.getCondition();
    term = choice.getTrueValue();
  }
  auto product = term.getDefiningOp<arith::MulFOp>();
  if (!product || product->getBlock() != block)
    return false;
  result.rows.factor = product.getLhs();
  result.columns.factor = product.getRhs();
  for (ProductSide *side : {&result.rows, &result.columns})
    side->element = elementOf(side->factor);
  if (!condition)
    return true;
  // The condition belongs to the factor that has all of its dimensions.
  Dims wanted = dimsOf(condition);
  wanted.reset(isReduced);
  for (ProductSide *side : {&result.rows, &result.columns})
    if (!wanted.test(dimsOf(side->factor))) {
      side->condition = condition;
      return true;
    }
  return false;
}

/// Each parallel dimension is of one factor; those in which results lie side by
/// side are the columns.
bool Planner::splitDims() {
  const LoopOperand &output = loops.operands[loops.accumulators[0].operand];
  Dims rows = dimsOf(result.rows.factor),
       columns = dimsOf(result.columns.factor);
  for (unsigned dim : loops.parallel) {
    if (rows.test(dim) == columns.test(dim) && extentOf(dim) != 1)
      return false;
    if (rows.test(dim) && output.strides[dim] == 1 && extentOf(dim) != 1) {
      std::swap(result.rows, result.columns);
      std::swap(rows, columns);
    }
  }
  for (unsigned dim : loops.parallel)
    if (extentOf(dim) != 1)
      (rows.test(dim) ? result.rows : result.columns).dims.push_back(dim);
  for (ProductSide *side : {&result.rows, &result.columns}) {
    llvm::sort(side->dims, [&](unsigned a, unsigned b) {
      return output.strides[a] > output.strides[b];
    });
    side->count = countOf(side->dims);
    if (side->count > INT32_MAX)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Terms and neighbours
//===----------------------------------------------------------------------===//

/// How many elements of a factor are neighbours along `dim`.
int64_t Planner::widthAlong(const ProductSide &side, unsigned dim) const {
  if (!side.element || (side.condition && dimsOf(side.condition).test(dim)))
    return 1;
  return Neighbours::widthAlong(side.element, dim, 16 / result.elementBytes());
}

/// Dimensions of a padding, which say whether there is a term at all, are
/// outside of steps, as are short ones, if enough are left.
void Planner::orderTerms() {
  Dims conditional(loops.ranges.size());
  for (const ProductSide *side : {&result.rows, &result.columns})
    if (side->condition)
      conditional |= dimsOf(side->condition);
  constexpr int64_t least = 8, enough = 16;
  SmallVector<unsigned> all;
  for (unsigned dim : loops.reduced) {
    if (extentOf(dim) == 1)
      continue;
    all.push_back(dim);
    bool isInner = extentOf(dim) >= least && !conditional.test(dim);
    (isInner ? result.inner : result.outer).push_back(dim);
  }
  if (countOf(result.inner) < enough) {
    result.inner = all;
    result.outer.clear();
  }
  result.innerCount = countOf(result.inner);
  result.outerCount = countOf(result.outer);
}

void Planner::chooseNeighbours() {
  for (ProductSide *side : {&result.columns, &result.rows}) {
    if (!side->dims.empty())
      side->width = widthAlong(*side, side->dims.back());
    for (unsigned dim : result.inner) {
      // The dimension that the other factor has chosen is the fastest.
      bool isChosen = result.columns.isAlongTerms && side == &result.rows;
      if (isChosen && dim != result.inner.back())
        continue;
      int64_t width = widthAlong(*side, dim);
      if (width <= side->width)
        continue;
      side->width = width;
      side->isAlongTerms = true;
      llvm::erase(result.inner, dim);
      result.inner.push_back(dim);
      break;
    }
  }
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

void Planner::chooseSteps() {
  const bool isTensor = result.unit != ProductUnit::Vector;
  const int64_t unit = isTensor ? 16 : 4;
  const bool isSmall = result.rows.count * result.columns.count <= 64 * 64;
  result.step = isTensor ? (isSmall ? 64 : 32) : (isSmall ? 32 : 16);
  if (result.unit == ProductUnit::Group)
    result.step = kGroupTerms;
  else
    while (result.step > unit && !isFilled(result.step, unit))
      result.step /= 2;
  result.steps =
      result.outerCount * llvm::divideCeil(result.innerCount, result.step);
}

/// Whether steps have little that only fills them up, beside those of `unit`.
bool Planner::isFilled(int64_t step, int64_t unit) const {
  return llvm::alignTo(result.innerCount, step) * 4 <=
         llvm::alignTo(result.innerCount, unit) * 5;
}

/// As many blocks for a tile as all of a GPU has work then, each with steps
/// enough to have several on their way.
void Planner::chooseBlocks(int64_t tiles, int64_t mostBlocks) {
  constexpr int64_t enoughBlocks = 132, leastSteps = 3;
  while (result.blocks < mostBlocks && tiles * result.blocks < enoughBlocks &&
         result.steps / (2 * result.blocks) >= leastSteps)
    result.blocks *= 2;
  result.ownSteps = llvm::divideCeil(result.steps, result.blocks);
  while ((result.blocks - 1) * result.ownSteps >= result.steps) {
    result.blocks /= 2;
    result.ownSteps = llvm::divideCeil(result.steps, result.blocks);
  }
}

/// Shares out the parts of a tile, of `high` rows and `wide` columns each: so
/// that the fewest turns are taken, where a part of rows or of columns costs
/// something to read, and what several have of the terms to add up. False when
/// workers cannot hold them.
bool Planner::spread(const Workers &workers) {
  const auto rowParts = static_cast<int64_t>(
                 llvm::divideCeil(result.rows.count, workers.high)),
             columnParts = static_cast<int64_t>(
                 llvm::divideCeil(result.columns.count, workers.wide));
  const int64_t terms = result.step / workers.terms;
  constexpr double none = 1e30;
  double best = none;
  for (int64_t byTerm = 1; byTerm <= std::min(workers.count, terms);
       byTerm *= 2)
    for (int64_t byRow = 1; byRow <= workers.count / byTerm; byRow *= 2) {
      const int64_t byColumn = workers.count / byTerm / byRow;
      const auto rows = static_cast<int64_t>(llvm::divideCeil(rowParts, byRow)),
                 columns = static_cast<int64_t>(
                     llvm::divideCeil(columnParts, byColumn));
      if (rows * columns > workers.mostParts || terms % byTerm)
        continue;
      const auto products = static_cast<double>(rows * columns);
      const double reads = workers.readRows * static_cast<double>(rows) +
                           workers.readColumns * static_cast<double>(columns);
      const double cost =
          (products + reads) * static_cast<double>(terms / byTerm) *
              static_cast<double>(result.ownSteps) +
          workers.add * products * static_cast<double>(byTerm - 1);
      if (cost >= best)
        continue;
      best = cost;
      result.byTerm = byTerm;
      result.byRow = byRow;
      result.byColumn = byColumn;
      result.rowParts = rows;
      result.columnParts = columns;
    }
  result.rows.padded = result.byRow * result.rowParts * workers.high;
  const auto read = static_cast<int64_t>(
      llvm::alignTo(result.columnParts, workers.columnsAtOnce));
  result.columns.padded =
      ((result.byColumn - 1) * result.columnParts + read) * workers.wide;
  return best < none;
}

/// Two groups, of as many rows each, or of as many columns where there are 64
/// rows. False when products are too small, or have too many sums.
bool Planner::spreadGroups() {
  constexpr int64_t groups = kThreads / (4 * kWarp), high = 64, wide = 8;
  // Two blocks are at work at once: while one waits, the other multiplies.
  constexpr int64_t mostSums = 64, leastColumns = 32;
  const int64_t rows = result.rows.count, columns = result.columns.count;
  // Two thirds of the rows at least are there.
  const auto rowParts = static_cast<int64_t>(llvm::divideCeil(rows, high));
  if (rowParts * high * 2 > rows * 3 || columns < leastColumns)
    return false;
  result.byTerm = 1;
  result.byRow = rowParts % groups ? 1 : groups;
  result.byColumn = groups / result.byRow;
  result.rowParts = rowParts / result.byRow;
  // Where 64 neighbours lie together, a group has all of such, or stays within.
  const int64_t line = result.columns.isAlongTerms ? wide : kGroupTerms;
  auto own = static_cast<int64_t>(
      llvm::alignTo(llvm::divideCeil(columns, result.byColumn), wide));
  if (result.byColumn > 1 && line % own != 0)
    own = static_cast<int64_t>(llvm::alignTo(own, line));
  result.columnParts = own / wide;
  result.rows.padded = rowParts * high;
  result.columns.padded =
      static_cast<int64_t>(llvm::alignTo(own * result.byColumn, line));
  return result.columns.padded * 2 <= columns * 3 && result.sums() <= mostSums;
}

/// Rows begin an odd number of 16 bytes apart: eight neighbours, which are read
/// at once, are in banks of their own. False when even two steps take more
/// shared memory than a block can have on all GPUs, which is 99 KB.
bool Planner::choosePitches() {
  constexpr int64_t mostBytes = 96 * 1024, banks = 32, fourth = 8;
  const int64_t bank = 16 / result.elementBytes();
  for (ProductSide *side : {&result.rows, &result.columns}) {
    const int64_t length = side->isAlongTerms ? result.step : side->padded;
    if (result.unit == ProductUnit::Group)
      continue; // Lines are of 128 bytes.
    side->pitch = (llvm::divideCeil(length, bank) | 1) * bank;
    // Lanes read one float each: eight neighbours of four terms.
    if (result.isRounded() && !side->isAlongTerms)
      side->pitch = llvm::alignTo(length - fourth, banks) + fourth;
  }
  result.stages = 4;
  while (result.stages > 2 && (result.sharedBytes() > mostBytes ||
                               result.stages > result.ownSteps + 1))
    --result.stages;
  return result.sharedBytes() <= mostBytes;
}

std::optional<ProductPlan> Planner::plan(int64_t tiles, int64_t mostBlocks,
                                         bool roundsFloats, bool hasGroups) {
  constexpr int64_t leastSide = 8, leastResults = 32, leastTerms = 16;
  isReduced.resize(loops.ranges.size());
  for (OpFoldResult range : loops.ranges)
    if (!getConstantIntValue(range))
      return std::nullopt;
  for (unsigned dim : loops.reduced)
    isReduced.set(dim);
  if (!findFactors() || !splitDims())
    return std::nullopt;
  orderTerms();
  if (std::max(result.rows.count, result.columns.count) < leastSide ||
      result.rows.count * result.columns.count < leastResults ||
      result.innerCount < leastTerms)
    return std::nullopt;
  auto typeOf = [](const ProductSide &side) {
    return side.element ? side.element.getType() : side.factor.getType();
  };
  Type type = typeOf(result.rows);
  const bool isShort = type.isF16() || type.isBF16();
  const bool isTensor = (isShort || (roundsFloats && type.isF32())) &&
                        type == typeOf(result.columns);
  result.unit = isTensor ? ProductUnit::Tensor : ProductUnit::Vector;
  result.element = isTensor ? type : Float32Type::get(op.getContext());
  for (ProductSide *side : {&result.rows, &result.columns})
    if (side->element && side->element.getType() != result.element)
      side->element = {};
  if (result.innerCount > INT32_MAX || result.outerCount > INT32_MAX)
    return std::nullopt;
  chooseNeighbours();
  if (hasGroups && isTensor && isShort && isFilled(kGroupTerms, /*unit=*/1) &&
      spreadGroups())
    result.unit = ProductUnit::Group;
  chooseSteps();
  if (result.steps > INT32_MAX)
    return std::nullopt;
  chooseBlocks(tiles, mostBlocks);
  if ((result.unit != ProductUnit::Group &&
       !spread(Workers::of(result.unit))) ||
      !choosePitches())
    return std::nullopt;
  return std::move(result);
}

std::optional<ProductPlan> gpu::planProduct(linalg::LinalgOp op,
                                            const LoopPlan &plan,
                                            const ViewMap &views, int64_t tiles,
                                            int64_t mostBlocks,
                                            bool roundsFloats, bool hasGroups) {
  return Planner(op, plan, views)
      .plan(tiles, mostBlocks, roundsFloats, hasGroups);
}
