// SPDX-License-Identifier: Apache-2.0

#include "Matmul.h"

#include "Check.h"
#include "Isa.h"
#include "RoundBefore.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

namespace {

class PreparedMatmul final : public PreparedKernel {
public:
  using Function = void (*)(const MatmulPlan &, void *const *, int64_t,
                            int64_t);

  PreparedMatmul(const KernelCall &call, const MatmulPlan &plan,
                 Function function)
      : plan(plan), function(function), arguments(call),
        workspace(call.inputs.size() + 1) {}

  int64_t tiles() const override {
    return plan.batch * plan.rowBlocks * plan.columnBlocks;
  }

  int64_t ranges(unsigned threads) const override {
    // Each range rounds its rows.
    const bool rounds =
        plan.bf16Parts == 1 && !plan.isShortA && !plan.isRoundedBefore;
    return rounds && plan.columnBlocks > 1
               ? std::min<int64_t>(tiles(), threads * plan.rowBlocks)
               : tiles();
  }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *five[5];
    arguments.fill(given, five);
    if (plan.isRoundedBefore)
      five[0] = given[workspace];
    function(plan, five, begin, end);
  }

private:
  const MatmulPlan plan;
  const Function function;
  const FiveArguments arguments;
  const size_t workspace; ///< Which argument it is, if there is one.
};

/// The dimensions of one operand: all but two of them batches.
struct MatrixShape {
  MatrixShape(const TensorType &type, bool transposed)
      : batchRank(type.rank() - 2), shape(type.shape.data()) {
    rows = shape[batchRank + (transposed ? 1 : 0)];
    columns = shape[batchRank + (transposed ? 0 : 1)];
    stride = shape[batchRank + 1];
  }

  /// Batch dimension `index` of `rank`, counted as NumPy aligns them.
  int64_t batchDim(int64_t index, int64_t rank) const {
    int64_t own = index - (rank - batchRank);
    return own < 0 ? 1 : shape[own];
  }
  int64_t elements() const { return rows * columns; }

  int64_t batchRank;
  const int64_t *shape;
  int64_t rows, columns, stride;
};

} // namespace

static Status shapeError(const KernelCall &call, const char *what) {
  return makeError(
      StatusCode::InvalidArgument, "expected %s, got %s times %s giving %s",
      what, toString(call.inputs[0]).c_str(), toString(call.inputs[1]).c_str(),
      toString(call.outputs[0]).c_str());
}

/// Floats of a packed b, of which each may hold a pair.
static int64_t packedElements(const MatmulPlan &plan) {
  return ceilDiv(plan.n, kPanelWidth) * kPanelWidth *
         (plan.bf16Parts == 1 ? ceilDiv(plan.k, 2) : plan.k);
}

/// Batch dimensions, broadcast, and the steps of a and b along them.
static Status planBatches(const KernelCall &call, const MatrixShape &a,
                          const MatrixShape &b, const MatrixShape &c,
                          int64_t bElements, MatmulPlan &plan) {
  const int64_t rank = std::max(a.batchRank, b.batchRank);
  if (c.batchRank != rank)
    return shapeError(call, "batch dimensions that broadcast");
  int64_t aStep = a.elements(), bStep = bElements;
  plan.batch = 1;
  plan.batchRank = static_cast<int>(rank);
  for (int64_t d = rank - 1; d >= 0; --d) {
    const int64_t aDim = a.batchDim(d, rank), bDim = b.batchDim(d, rank);
    const int64_t dim = aDim == 1 ? bDim : aDim;
    if ((bDim != 1 && bDim != dim) || c.batchDim(d, rank) != dim)
      return shapeError(call, "batch dimensions that broadcast");
    plan.batchDims[d] = dim;
    plan.aSteps[d] = aDim == 1 ? 0 : aStep;
    plan.bSteps[d] = bDim == 1 ? 0 : bStep;
    plan.batch *= dim;
    aStep *= aDim;
    bStep *= bDim;
  }
  return Status::ok();
}

void cpu::foldBatches(MatmulPlan &plan) {
  if (plan.transposedA || plan.batch == 0)
    return;
  int64_t step = plan.m * plan.k;
  for (int d = plan.batchRank - 1; d >= 0; --d) {
    if (plan.batchDims[d] == 1)
      continue;
    if (plan.bSteps[d] != 0 || plan.aSteps[d] != step)
      return;
    step *= plan.batchDims[d];
  }
  plan.m *= plan.batch;
  plan.batch = 1;
  plan.batchRank = 0;
}

/// Chooses the grid. Aims: panels of b in L1 and blocks of a in L2; tiles of
/// some microseconds at least; enough tiles to balance 16 workers.
static void planGrid(MatmulPlan &plan) {
  constexpr int64_t fewRows = 6, maxRows = 192;
  const int64_t maxTerms = plan.packedB ? 1024 : 384;
  constexpr int64_t wantedTiles = 48, minTileWork = 1 << 17;
  plan.kBlock = std::max<int64_t>(plan.k, 1);
  plan.isColumnSlowest = false;
  // Few rows in front of a row-major b: stay within few pages at a time.
  constexpr int64_t fewColumns = 256;
  if (plan.m < fewRows && !plan.packedB && !plan.transposedB &&
      plan.n > fewColumns)
    plan.kBlock = 8;
  else if (plan.k > maxTerms) {
    const int64_t blocks = ceilDiv(plan.k, maxTerms);
    plan.kBlock = ceilDiv(ceilDiv(plan.k, blocks), 8) * 8;
  }
  plan.rowBlocks = std::max<int64_t>(ceilDiv(plan.m, maxRows), 1);
  plan.rowBlock = ceilDiv(ceilDiv(plan.m, plan.rowBlocks), 6) * 6;
  plan.rowBlocks = plan.m == 0 ? 0 : ceilDiv(plan.m, plan.rowBlock);
  const int64_t panels = ceilDiv(plan.n, kPanelWidth);
  // Few rows walk four panels at once, and a row-major b in whole pages: a
  // narrower column block would touch as many, for a part of each.
  const bool pages = plan.m < fewRows && !plan.packedB && !plan.transposedB;
  const int64_t unit = pages ? 64 : 4;
  const int64_t outer = std::max<int64_t>(plan.batch * plan.rowBlocks, 1);
  const int64_t panelWork = std::max<int64_t>(
      std::min(plan.rowBlock, plan.m) * kPanelWidth * plan.k, 1);
  int64_t perTile = panels * outer / wantedTiles;
  perTile = std::max(perTile, ceilDiv(minTileWork, panelWork));
  perTile =
      std::min(ceilDiv(perTile, unit) * unit, std::max(panels, int64_t{1}));
  plan.columnBlock = perTile * kPanelWidth;
  plan.columnBlocks = ceilDiv(plan.n, plan.columnBlock);
  // Few columns: rows are shared out as well, as long as panels of b serve some
  // of them.
  constexpr int64_t manyTiles = 16;
  const int64_t fewest = plan.packedB ? 2 * fewRows : 4 * fewRows;
  const int64_t tiles =
      std::max<int64_t>(plan.batch * plan.rowBlocks * plan.columnBlocks, 1);
  const int64_t wanted = std::min(
      manyTiles,
      saturatedProduct({plan.batch, plan.m, plan.n, plan.k}) / minTileWork);
  if (tiles >= wanted || plan.rowBlock <= fewest)
    return;
  const int64_t parts = ceilDiv(wanted, tiles);
  plan.rowBlock =
      std::max(roundUp(ceilDiv(plan.rowBlock, parts), fewRows), fewest);
  // The same panels for all rows that a thread is handed.
  plan.isColumnSlowest = plan.packedB && plan.rowBlocks == 1;
  plan.rowBlocks = ceilDiv(plan.m, plan.rowBlock);
}

void cpu::finishMatmulPlan(MatmulPlan &plan) {
  foldBatches(plan);
  planGrid(plan);
}

/// Whether tiles of bfloat16 are faster: rows and columns pay for splitting the
/// other operand.
static bool paysToSplit(const MatmulPlan &plan) {
  constexpr int64_t fewestRows = 48, fewestColumns = 64, fewestTerms = 64;
  return !plan.transposedA && (plan.packedB || !plan.transposedB) &&
         plan.m >= fewestRows && plan.n >= fewestColumns &&
         plan.k >= fewestTerms;
}

/// Chooses the grid of a product on tiles of bfloat16. Aims: many rows, which
/// share the panels of b; enough tiles for 16 workers.
static void planSplitGrid(MatmulPlan &plan) {
  constexpr int64_t wantedTiles = 32, mostColumns = 4 * kSplitGranule;
  plan.isColumnSlowest = false;
  plan.rowBlocks = ceilDiv(plan.m, kSplitRows);
  plan.rowBlock = ceilDiv(plan.m, plan.rowBlocks);
  plan.rowBlocks = ceilDiv(plan.m, plan.rowBlock);
  const int64_t outer = plan.batch * plan.rowBlocks;
  const int64_t wide = plan.n / wantedTiles * std::min(outer, wantedTiles);
  plan.columnBlock = std::clamp(ceilDiv(wide, kSplitGranule) * kSplitGranule,
                                kSplitGranule, mostColumns);
  plan.columnBlocks = ceilDiv(plan.n, plan.columnBlock);
}

/// Chooses the grid of a product of rounded floats. Aims: each row rounded
/// once, as few blocks of rows as that takes; enough tiles for 16 workers.
static void planPairGrid(MatmulPlan &plan) {
  constexpr int64_t wantedTiles = 32, minTileWork = 1 << 18;
  plan.isColumnSlowest = false;
  plan.rowBlocks = std::max<int64_t>(ceilDiv(plan.m, kMostPairRows), 1);
  plan.rowBlock = ceilDiv(ceilDiv(plan.m, plan.rowBlocks), 6) * 6;
  plan.rowBlocks = plan.m == 0 ? 0 : ceilDiv(plan.m, plan.rowBlock);
  const int64_t groups = ceilDiv(plan.n, kPackedColumns);
  const int64_t outer = std::max<int64_t>(plan.batch * plan.rowBlocks, 1);
  const int64_t work = std::max<int64_t>(
      std::min(plan.rowBlock, plan.m) * kPackedColumns * plan.k, 1);
  const int64_t perTile = std::max(
      {groups * outer / wantedTiles, ceilDiv(minTileWork, work), int64_t{1}});
  plan.columnBlock =
      std::min(perTile, std::max(groups, int64_t{1})) * kPackedColumns;
  plan.columnBlocks = ceilDiv(plan.n, plan.columnBlock);
}

Status cpu::planProduct(const KernelCall &call,
                        int64_t (*packedElements)(const MatmulPlan &),
                        MatmulPlan &plan) {
  const MatrixShape a(call.inputs[0], plan.transposedA);
  const MatrixShape b(call.inputs[1], plan.transposedB);
  const MatrixShape c(call.outputs[0], false);
  if (a.columns != b.rows)
    return shapeError(call, "equal inner dimensions");
  if (c.rows != a.rows || c.columns != b.columns)
    return shapeError(call, "an output of M rows and N columns");
  plan.m = a.rows;
  plan.n = b.columns;
  plan.k = a.columns;
  plan.lda = a.stride;
  plan.ldb = b.stride;
  return planBatches(call, a, b, c,
                     plan.packedB ? packedElements(plan) : b.elements(), plan);
}

static Status readPacked(const Attributes &attributes, MatmulPlan &plan) {
  static constexpr int64_t widths[] = {0, kPanelWidth, kPackedColumns};
  const int64_t form = attributes.getInt("packed_b", 0);
  if (form < 0 || form > 2)
    return makeError(StatusCode::InvalidArgument,
                     "expected attribute 'packed_b' to be 0 to 2, got %lld",
                     static_cast<long long>(form));
  plan.packedB = form != 0;
  plan.packedWidth = widths[form];
  return Status::ok();
}

/// That rounded floats are where their kernels read them.
static Status checkRounded(const MatmulPlan &plan) {
  if (plan.bf16Parts != 1 ||
      (plan.packedWidth == kPackedColumns && !plan.transposedA))
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected attribute 'packed_b' to be 2 and 'trans_a' to be "
                   "0 where 'bf16_parts' is 1");
}

static Status planMatmul(const KernelCall &call, MatmulPlan &plan) {
  using enum AttributeKind;
  DLC_RETURN_IF_ERROR(checkAttributes(call.attributes, {{"trans_a", Int},
                                                        {"trans_b", Int},
                                                        {"packed_b", Int},
                                                        {kBf16Parts, Int}}));
  DLC_RETURN_IF_ERROR(readParts(call.attributes, plan.bf16Parts));
  FloatView floats;
  DLC_RETURN_IF_ERROR(floats.read(call, plan.bf16Parts == 1));
  plan.isShortA = floats.isShortX;
  plan.isShortC = floats.isShortY;
  plan.isShortResidual = floats.isShortResidual;
  DLC_RETURN_IF_ERROR(checkOperands(floats.view(), 2, kMaxBatchRank));
  DLC_RETURN_IF_ERROR(readFlag(call.attributes, "trans_a", plan.transposedA));
  DLC_RETURN_IF_ERROR(readFlag(call.attributes, "trans_b", plan.transposedB));
  DLC_RETURN_IF_ERROR(readPacked(call.attributes, plan));
  DLC_RETURN_IF_ERROR(readEpilogue(call.attributes, plan.epilogue));
  DLC_RETURN_IF_ERROR(checkRounded(plan));
  DLC_RETURN_IF_ERROR(planProduct(call, packedElements, plan));
  if (plan.k > 0)
    plan.rowsInMemory = elementCount(call.inputs[0].shape).value_or(0) / plan.k;
  DLC_RETURN_IF_ERROR(checkBiasAndResidual(floats.view(), plan.n));
  finishMatmulPlan(plan);
  return Status::ok();
}

/// Whether tiles read rows of bfloat16 where they are.
static bool readsRows(const MatmulPlan &plan) {
  constexpr int64_t lineTerms = 32;
  return plan.isShortA && plan.k > 0 && plan.k % lineTerms == 0;
}

/// Whether rows are rounded once for all tiles of the grid that read them,
/// where there are enough of both to pay for a step of its own, and not so many
/// blocks of rows that threads have some for themselves. It depends on the call
/// alone, which has the memory for it.
static bool roundsBefore(const MatmulPlan &plan) {
  if (readsRows(plan))
    return false;
  constexpr int64_t fewestRows = 16, fewestElements = 1 << 15;
  constexpr int64_t fewestColumns = 4 * kPackedColumns;
  constexpr int64_t mostRows = 8 * kSplitRows;
  return plan.bf16Parts == 1 && plan.batch == 1 && plan.m >= fewestRows &&
         plan.m <= mostRows && plan.n >= fewestColumns &&
         saturatedProduct({plan.m, plan.k}) >= fewestElements;
}

/// Of lines of rows, and behind them those of a tile that has more.
static size_t roundedRowsBytes(MatmulPlan plan) {
  if (!roundsBefore(plan))
    return 0;
  planSplitGrid(plan);
  constexpr int64_t lineTerms = 32, tileRows = 16;
  const int64_t lines = saturatedProduct({plan.rowBlocks * plan.rowBlock,
                                          ceilDiv(plan.k, lineTerms)}) +
                        tileRows;
  return static_cast<size_t>(lines * lineTerms) * sizeof(uint16_t);
}

size_t cpu::matmulWorkspaceBytes(const KernelCall &call) {
  MatmulPlan plan = {};
  return planMatmul(call, plan).isOk() ? roundedRowsBytes(plan) : 0;
}

bool cpu::isMatmulSupported(const KernelCall &call, std::string &why) {
  MatmulPlan plan = {};
  Status status = planMatmul(call, plan);
  why = status.message();
  return status.isOk();
}

Status cpu::prepareMatmul(const KernelCall &call, Isa isa,
                          std::unique_ptr<PreparedKernel> &prepared) {
  const KernelSet *kernels = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, kernels));
  const SplitKernels *split = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, split));
  MatmulPlan plan = {};
  DLC_RETURN_IF_ERROR(planMatmul(call, plan));
  // Artifacts of before have no memory for rows that are rounded before.
  const bool hasWorkspace = call.outputs.size() > 1;
  DLC_RETURN_IF_ERROR(
      checkWorkspace(call, hasWorkspace ? roundedRowsBytes(plan) : 0));
  PreparedMatmul::Function function = kernels->matmul;
  const PairKernels *pairs = nullptr, *pairTiles = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, pairs));
  DLC_RETURN_IF_ERROR(findPairTiles(isa, pairTiles));
  // Fewer rows leave tiles empty.
  constexpr int64_t fewestRows = 16;
  if (plan.bf16Parts == 1 && pairTiles && plan.m >= fewestRows) {
    planSplitGrid(plan);
    function = pairTiles->matmul;
    plan.readsRows = readsRows(plan);
    plan.isRoundedBefore = hasWorkspace && !plan.readsRows;
  } else if (plan.bf16Parts == 1) {
    planPairGrid(plan);
    function = pairs->matmul;
  } else if (split && plan.bf16Parts != 0 && paysToSplit(plan)) {
    planSplitGrid(plan);
    function = split->matmul;
  }
  prepared = std::make_unique<PreparedMatmul>(call, plan, function);
  if (plan.isRoundedBefore)
    prepared = std::make_unique<RoundBefore<MatmulPlan>>(
        call, plan, pairTiles->roundRows,
        plan.rowBlocks * ceilDiv(plan.rowBlock, kRoundedRows),
        std::move(prepared));
  return Status::ok();
}

/// The matrices of b and their number.
static bool batchesOfB(const KernelCall &call, size_t operand, MatmulPlan &plan,
                       int64_t &batches) {
  if (operand != 1 || !planMatmul(call, plan).isOk())
    return false;
  const std::vector<int64_t> &shape = call.inputs[1].shape;
  batches = elementCount({shape.data(), shape.size() - 2}).value_or(0);
  return true;
}

size_t cpu::packedMatmulBytes(const KernelCall &call, size_t operand) {
  MatmulPlan plan = {};
  int64_t batches = 0;
  if (!batchesOfB(call, operand, plan, batches))
    return 0;
  int64_t bytes = batches * static_cast<int64_t>(sizeof(float));
  const int64_t rows = plan.bf16Parts == 1 ? ceilDiv(plan.k, 2) : plan.k;
  for (int64_t factor : {ceilDiv(plan.n, kPanelWidth) * kPanelWidth, rows})
    if (__builtin_mul_overflow(bytes, factor, &bytes))
      return 0;
  return static_cast<size_t>(bytes);
}

float *cpu::packColumns(MatrixElements source, int64_t rows, int64_t columns,
                        int64_t width, float *target) {
  const int64_t padded = ceilDiv(columns, kPanelWidth) * kPanelWidth;
  for (int64_t first = 0; first < padded; first += width) {
    const int64_t end = std::min(first + width, padded);
    for (int64_t l = 0; l < rows; ++l)
      for (int64_t j = first; j < end; ++j)
        *target++ =
            j < columns
                ? source.data[l * source.rowStep + j * source.columnStep]
                : 0.0f;
  }
  return target;
}

uint32_t cpu::roundToBfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t size = bits & 0x7fffffffu;
  if (size > 0x7f800000u)
    return (bits | 0x400000u) >> 16;
  if (size < 0x00800000u)
    return (bits & 0x80000000u) >> 16;
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

uint32_t *cpu::packPairs(MatrixElements source, int64_t rows, int64_t columns,
                         uint32_t *target) {
  const int64_t padded = ceilDiv(columns, kPanelWidth) * kPanelWidth;
  auto rounded = [&](int64_t l, int64_t j) {
    if (l >= rows || j >= columns)
      return 0u;
    return roundToBfloat16(
        source.data[l * source.rowStep + j * source.columnStep]);
  };
  for (int64_t first = 0; first < padded; first += kPackedColumns) {
    const int64_t end = std::min(first + kPackedColumns, padded);
    for (int64_t l = 0; l < rows; l += 2)
      for (int64_t j = first; j < end; ++j)
        *target++ = rounded(l, j) | rounded(l + 1, j) << 16;
  }
  return target;
}

void cpu::packMatmul(const KernelCall &call, size_t operand, const void *source,
                     void *target) {
  MatmulPlan plan = {};
  int64_t batches = 0;
  if (!batchesOfB(call, operand, plan, batches))
    return;
  const auto *from = static_cast<const float *>(source);
  auto *to = static_cast<float *>(target);
  auto *pairs = static_cast<uint32_t *>(target);
  const int64_t width = plan.packedB ? plan.packedWidth : kPackedColumns;
  const int64_t rowStep = plan.transposedB ? 1 : plan.ldb;
  const int64_t columnStep = plan.transposedB ? plan.ldb : 1;
  for (int64_t batch = 0; batch < batches; ++batch) {
    if (plan.bf16Parts == 1)
      pairs = packPairs({from, rowStep, columnStep}, plan.k, plan.n, pairs);
    else
      to = packColumns({from, rowStep, columnStep}, plan.k, plan.n, width, to);
    from += plan.k * plan.n;
  }
}

bool cpu::matmulPaysInParts(const KernelCall &call) {
  MatmulPlan plan = {};
  return planMatmul(call, plan).isOk() && paysToSplit(plan);
}

KernelCost cpu::matmulCost(const KernelCall &call) {
  MatmulPlan plan = {};
  if (!planMatmul(call, plan).isOk())
    return {};
  const auto work = static_cast<uint64_t>(plan.batch) * plan.m * plan.n;
  KernelCost cost{2 * work * plan.k, bytesOf(call)};
  if (plan.bf16Parts == 1)
    setRounded(call, cost);
  return cost;
}
