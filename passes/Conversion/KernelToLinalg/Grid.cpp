// SPDX-License-Identifier: Apache-2.0
//
// Which loops of a kernel are its grid, and how much a tile holds.

#include "PlannerImpl.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;

/// The largest divisor of `extent` that is at most `most`.
static int64_t divisorOf(int64_t extent, int64_t most) {
  int64_t divisor = std::max<int64_t>(1, std::min(extent, most));
  while (extent % divisor)
    --divisor;
  return divisor;
}

int64_t dlc::conversion::divisorNear(int64_t extent, int64_t wanted,
                                     int64_t most) {
  constexpr int64_t little = 4;
  wanted = std::max<int64_t>(1, std::min(extent, wanted));
  const int64_t below = divisorOf(extent, wanted);
  if (below * little > wanted)
    return below;
  most = std::min({most, extent, (wanted * wanted - 1) / below});
  for (int64_t above = wanted + 1; above <= most; ++above)
    if (extent % above == 0)
      return above;
  return below;
}

/// A GPU has many blocks at work at once: small values are in smaller tiles.
int64_t Planner::tileElements(int64_t total) const {
  constexpr int64_t least = 256;
  return isForGPU
             ? std::clamp<int64_t>(total / kTilesOfGPU, least, kTileElements)
             : kTileElements;
}

/// With one stage: leading dimensions, until what is left is a tile. With
/// several: all dimensions to begin with, the innermost one apart, which is
/// for vectors; those that do not fit are dropped on the way.
void Planner::chooseGrid() {
  leader = sources[0];
  if (stored.empty())
    leader = *llvm::max_element(sources, [](Value a, Value b) {
      return ShapedType::getNumElements(shapeOf(a)) <
             ShapedType::getNumElements(shapeOf(b));
    });
  ArrayRef<int64_t> shape = gridShape();
  gridDims.clear();
  gridBlocks.clear();
  for (Value value : stored)
    if (auto dims = factorDimsOf(value.getDefiningOp());
        dims && shapeOf(value) == shape)
      return chooseBlocks(
          *dims, llvm::product_of(
                     *cast<graph::ReductionOpInterface>(value.getDefiningOp())
                          .getFoldedExtents()));
  auto addDim = [&](unsigned dim) {
    gridDims.push_back(dim);
    gridBlocks.push_back(1);
  };
  if (!stored.empty()) {
    int64_t rows = 1;
    for (unsigned dim = 0; dim + 1 < shape.size(); ++dim)
      if (shape[dim] != 1) {
        addDim(dim);
        rows *= shape[dim];
      }
    // A row for each warp, if all of a GPU has rows then.
    constexpr int64_t warps = 8;
    if (isForGPU && !gridDims.empty())
      gridBlocks.back() = divisorOf(shape[gridDims.back()],
                                    std::min(warps, rows / kTilesOfGPU));
    return;
  }
  int64_t left = ShapedType::getNumElements(shape);
  const int64_t tile = tileElements(left);
  for (unsigned dim = 0; dim + 1 < shape.size(); ++dim) {
    if (left <= tile)
      break;
    left /= shape[dim];
    if (shape[dim] != 1)
      addDim(dim);
  }
  if (gridDims.empty())
    return;
  // Rows that are short share a tile; squares can be transposed within it.
  int64_t extent = shape[gridDims.back()];
  int64_t most = std::min(extent, 2 * tile / left);
  for (int64_t block = 2; block <= most; ++block)
    if (extent % block == 0)
      gridBlocks.back() = block;
}

/// Gives the tile about `wanted` points of `dims`, and at most `most`; how many
/// it has.
static int64_t fillTile(ArrayRef<int64_t> shape, ArrayRef<unsigned> dims,
                        int64_t wanted, int64_t most,
                        SmallVectorImpl<int64_t> &tile) {
  int64_t points = 1;
  for (unsigned dim : llvm::reverse(dims)) {
    tile[dim] = divisorNear(shape[dim], wanted / points, most / points);
    points *= tile[dim];
    if (tile[dim] != shape[dim])
      break;
  }
  return points;
}

/// Rectangles of rows and columns, since the elements of a column share one
/// factor of their terms and those of a row the other: as large as leaves tiles
/// enough for all of a device, where parts of many terms count as tiles, and
/// with the most terms for what is read. Matrix units have squares of 16.
void Planner::chooseBlocks(const graph::FactorDims &dims, int64_t terms) {
  constexpr int64_t termsOfPart = 256, mostParts = 8;
  const int64_t parts = std::clamp<int64_t>(terms / termsOfPart, 1, mostParts);
  constexpr int64_t mostSide = 128, leastSide = 16, enoughTiles = 128,
                    mostColumns = 256, unit = 16;
  ArrayRef<int64_t> shape = gridShape();
  SmallVector<int64_t> blocks;
  // Of few terms most of the time is for what is stored: then several tiles at
  // once are better than large ones.
  constexpr int64_t manyTerms = 512;
  for (int64_t side = terms < manyTerms ? mostSide / 2 : mostSide;
       side >= leastSide; side /= 2) {
    // What is larger than a square costs tiles, where they are few.
    const int64_t most =
        std::min(mostSide * mostSide, (side >= 64 ? 2 : 1) * side * side);
    double best = 0;
    for (int64_t wanted = side; wanted > 0; wanted /= 2) {
      SmallVector<int64_t> tile(shape.size(), 1);
      const int64_t rows = fillTile(shape, dims.rows, wanted, 4 * side, tile);
      const int64_t columns =
          fillTile(shape, dims.columns,
                   std::min({mostColumns, 4 * side, side * side / rows}),
                   most / rows, tile);
      const auto results = static_cast<double>(rows * columns);
      const auto filled = static_cast<double>(llvm::alignTo(rows, unit) *
                                              llvm::alignTo(columns, unit));
      const double each =
          results / filled * results / static_cast<double>(rows + columns);
      if (each > best) {
        best = each;
        blocks = std::move(tile);
      }
    }
    int64_t tiles = ShapedType::getNumElements(shape);
    if (tiles / llvm::product_of(blocks) * parts >= enoughTiles)
      break;
  }
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (blocks[dim] == extent)
      continue;
    gridDims.push_back(dim);
    gridBlocks.push_back(blocks[dim]);
  }
}

/// How many rows of `extent` a tile has, all tiles as many: `least` if that is
/// more than a square's and can be. Else so many that squares of sixteen hold
/// the fewest rows beside them; or 0.
static int64_t squareRows(int64_t extent, int64_t least) {
  if (least > kSquareRows && extent % least == 0)
    return least;
  int64_t best = 0;
  auto heldBy = [](int64_t rows) { return llvm::alignTo(rows, kSquareRows); };
  for (int64_t rows = kSquareRows; rows <= std::min(extent, kMostSquareRows);
       ++rows)
    if (extent % rows == 0 &&
        (best == 0 || heldBy(rows) * best < heldBy(best) * rows))
      best = rows;
  return best;
}

/// Where neighbours in an input are of different tiles, and those of a row lie
/// far apart, a tile reads one element of each line. Makes it hold squares,
/// which are turned round in registers, if there are tiles enough, or they are
/// small; true if it did. Not with reductions, whose tiles end with their rows.
bool Planner::widenToSquares() {
  constexpr int64_t enoughTiles = 16;
  const unsigned grid = plan.grid.size();
  if (grid == 0 || !stored.empty() || plan.stages.size() != 1)
    return false;
  const Stage &stage = plan.stages.front();
  ArrayRef<int64_t> own = ArrayRef(stage.domain.loops.extents).drop_front(grid);
  auto followsRow = [](const Index &index) {
    return index.coefficients.back() != 0;
  };
  for (const StageInput &in : stage.inputs) {
    if (own.empty() || llvm::none_of(in.at, followsRow) ||
        followsRow(in.at.back()))
      continue;
    for (unsigned loop = 0; loop < grid; ++loop) {
      const bool isLast = loop + 1 == grid;
      const int64_t extent = gridShape()[gridDims[loop]];
      const int64_t rows = squareRows(extent, isForGPU ? 2 * kSquareRows : 0);
      if (in.at.back().coefficients[loop] == 0 || rows == 0 ||
          (isLast && gridBlocks.back() >= kSquareRows) ||
          (!isLast && rows != extent))
        continue;
      const int64_t more = isLast ? rows / gridBlocks.back() : rows;
      const bool isCut = rows == extent && !isForGPU;
      if (!isCut &&
          llvm::product_of(own) * more > enoughTiles * kTileElements &&
          llvm::product_of(plan.grid) < enoughTiles * more)
        continue;
      const unsigned dim = gridDims[loop];
      if (rows == extent)
        dropGridDim(loop);
      else
        gridBlocks.back() = rows;
      if (isCut)
        addInnerDims(dim);
      // Long rows are many tiles for a GPU.
      constexpr int64_t rowOfTile = 256;
      const auto last = static_cast<unsigned>(gridShape().size() - 1);
      if (const int64_t length = gridShape()[last];
          isForGPU && length > 2 * rowOfTile) {
        gridDims.push_back(last);
        gridBlocks.push_back(divisorNear(length, rowOfTile, 2 * rowOfTile));
      }
      return true;
    }
  }
  return false;
}

Planner::Outcome Planner::dropGridDim(unsigned dim) {
  gridDims.erase(gridDims.begin() + dim);
  gridBlocks.assign(gridDims.size(), 1);
  return Outcome::Retry;
}

/// Dimensions behind `dropped` and those of the grid are its next ones, as long
/// as tiles are large; of the innermost one, rows of vectors.
void Planner::addInnerDims(unsigned dropped) {
  constexpr int64_t leastRow = 64;
  ArrayRef<int64_t> shape = gridShape();
  const int64_t all = ShapedType::getNumElements(shape);
  const int64_t tile = tileElements(all);
  int64_t left = all;
  for (auto [dim, block] : llvm::zip_equal(gridDims, gridBlocks)) {
    left = left / shape[dim] * block;
    dropped = std::max(dropped, dim);
  }
  for (unsigned dim = dropped + 1; dim < shape.size() && left > tile; ++dim) {
    const int64_t least = dim + 1 < shape.size() ? 1 : leastRow;
    const int64_t others = left / shape[dim];
    const int64_t block = divisorOf(shape[dim], std::max(least, tile / others));
    if (block == shape[dim] || block < least)
      continue;
    gridDims.push_back(dim);
    gridBlocks.push_back(block);
    left = others * block;
  }
}

/// A tile takes the blocks of a dimension that is to be cut into such; one that
/// is to be cut at a place is no grid.
Planner::Outcome Planner::cutGridDim(const graph::LoopSplit &split) {
  if (!split.isFactor || split.at == plan.grid[split.loop]) {
    const unsigned dropped = gridDims[split.loop];
    dropGridDim(split.loop);
    if (stored.empty())
      addInnerDims(dropped);
    return Outcome::Retry;
  }
  gridBlocks[split.loop] *= split.at;
  return Outcome::Retry;
}

/// Scratch that does not fit the stack: costly values are computed again, or
/// tiles hold fewer rows.
Planner::Outcome Planner::checkScratch() {
  int64_t total = 0, largest = 0;
  Value candidate;
  for (auto &[value, storage] : plan.storage) {
    if (storage.result >= 0)
      continue;
    Type type = getElementTypeOrSelf(value.getType());
    int64_t bytes = (type.getIntOrFloatBitWidth() + 7) / 8;
    for (auto [grid, extent] : llvm::zip_equal(storage.grid, shapeOf(value)))
      bytes *= heldOf(plan, grid, extent);
    total += bytes;
    if (isReduction(value.getDefiningOp()) || bytes <= largest)
      continue;
    largest = bytes;
    candidate = value;
  }
  if (total <= kScratchBytes)
    return Outcome::Done;
  if (candidate) {
    neverStore.insert(candidate);
    chooseStored();
    return Outcome::Retry;
  }
  auto *block = llvm::max_element(gridBlocks);
  if (block == gridBlocks.end() || *block == 1)
    return fail("rows too long for scratch memory");
  *block = divisorOf(*block, *block / 2);
  return Outcome::Retry;
}
