// SPDX-License-Identifier: Apache-2.0

#include "IntegerMatmul.h"

#include "Check.h"
#include "Isa.h"
#include "Matmul.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

namespace {

/// Packs b into the workspace, some columns of a matrix a tile.
class PackBefore final : public PreparedKernel {
public:
  PackBefore(const IntegerPlan &plan, int64_t matrices, size_t workspace,
             std::unique_ptr<PreparedKernel> following)
      : plan(plan), matrices(matrices), workspace(workspace),
        following(std::move(following)) {}

  int64_t tiles() const override {
    return matrices * ceilDiv(plan.columns, kPackedColumns);
  }
  void run(void *const *arguments, int64_t begin, int64_t end) const override;
  const PreparedKernel *next() const override { return following.get(); }

private:
  const IntegerPlan plan;
  const int64_t matrices;
  const size_t workspace;
  const std::unique_ptr<PreparedKernel> following;
};

class PreparedIntegers final : public PreparedKernel {
public:
  PreparedIntegers(const IntegerPlan &plan, const IntegerKernels &kernels,
                   std::optional<size_t> workspace)
      : plan(plan), kernels(kernels), workspace(workspace) {}

  int64_t tiles() const override {
    const MatmulPlan &product = plan.product;
    return product.batch * product.rowBlocks * product.columnBlocks;
  }
  void run(void *const *given, int64_t begin, int64_t end) const override {
    const IntegerArguments arguments = {
        static_cast<const uint8_t *>(given[0]),
        static_cast<const int8_t *>(given[workspace.value_or(1)]), given[2],
        given[3], static_cast<int32_t *>(given[4])};
    kernels.matmul(plan, arguments, begin, end);
  }

private:
  const IntegerPlan plan;
  const IntegerKernels &kernels;
  const std::optional<size_t> workspace; ///< Which argument b is packed in.
};

} // namespace

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static int64_t paddedTerms(int64_t k) {
  return std::max(roundUp(k, kByteTerms), kByteTerms);
}

/// Of one matrix. Those of 2^45 elements and its padding are less than 2^63.
static int64_t packedBytesOf(const MatmulPlan &product) {
  const int64_t columns = roundUp(product.n, kPanelWidth);
  return saturatedProduct(
      {columns, paddedTerms(product.k) + int64_t{sizeof(int32_t)}});
}

static Status checkFactor(const TensorType &type, const char *role) {
  if (type.type != DLC_I8 && type.type != DLC_U8)
    return makeError(StatusCode::InvalidArgument,
                     "expected %s to be i8 or u8, got %s", role,
                     toString(type).c_str());
  return checkTensor(type, type.type, role, 2, kMaxBatchRank);
}

/// One zero point, or one for each of `columns` columns.
static Status checkZeroPoint(const TensorType &type, DataType factor,
                             const char *role, int64_t columns) {
  DLC_RETURN_IF_ERROR(checkTensor(type, factor, role, 0, kMaxBatchRank));
  const int64_t count = elementCount(type.shape).value_or(0);
  if (count == 1 || (count == columns && type.shape.back() == columns))
    return Status::ok();
  return makeError(
      StatusCode::InvalidArgument, "expected %s of 1 element%s, got %s", role,
      columns == 1 ? "" : " or one for each column", toString(type).c_str());
}

/// Chooses the grid. Aims: many rows, which share what is copied of them in the
/// second cache; enough tiles for 16 workers, of some microseconds.
static void planGrid(IntegerPlan &plan) {
  constexpr int64_t wantedTiles = 32, minTileWork = 1 << 18, fewestRows = 32;
  // Beside the gap between rows.
  constexpr int64_t mostTerms = kByteRowsBytes / fewestRows - kByteTerms;
  MatmulPlan &product = plan.product;
  plan.termBlock = std::min(plan.terms, mostTerms);
  plan.termBlocks = ceilDiv(plan.terms, plan.termBlock);
  const int64_t fitting =
      kByteRowsBytes / (plan.termBlock + kByteTerms) / fewestRows * fewestRows;
  const int64_t mostRows = std::min(fitting, kMostByteRows);
  product.rowBlocks = std::max<int64_t>(ceilDiv(product.m, mostRows), 1);
  product.rowBlock = ceilDiv(product.m, product.rowBlocks);
  product.rowBlocks = product.m == 0 ? 0 : product.rowBlocks;
  const int64_t groups = ceilDiv(product.n, kPackedColumns);
  const int64_t outer = std::max<int64_t>(product.batch * product.rowBlocks, 1);
  const int64_t work =
      std::max<int64_t>(product.rowBlock * kPackedColumns * plan.termBlock, 1);
  const int64_t perTile = std::max(
      {groups * outer / wantedTiles, ceilDiv(minTileWork, work), int64_t{1}});
  product.columnBlock =
      std::min(perTile, std::max(groups, int64_t{1})) * kPackedColumns;
  product.columnBlocks = ceilDiv(product.n, product.columnBlock);
}

static Status planIntegerMatmul(const KernelCall &call, IntegerPlan &plan) {
  DLC_RETURN_IF_ERROR(
      checkAttributes(call.attributes, {{"packed_b", AttributeKind::Int}}));
  if (call.inputs.size() != 4 || call.outputs.empty())
    return makeError(StatusCode::InvalidArgument,
                     "expected 4 inputs and an output, got %zu and %zu",
                     call.inputs.size(), call.outputs.size());
  bool isPacked = false;
  DLC_RETURN_IF_ERROR(readFlag(call.attributes, "packed_b", isPacked));
  TensorType b = call.inputs[1];
  const DataType typeOfB = call.inputs[3].type;
  if (isPacked && b.type == DLC_F32) // Of packed bytes only the shape is known.
    b.type = typeOfB;
  DLC_RETURN_IF_ERROR(checkFactor(call.inputs[0], "a"));
  DLC_RETURN_IF_ERROR(checkFactor(b, "b"));
  DLC_RETURN_IF_ERROR(
      checkTensor(call.outputs[0], DLC_I32, "c", 2, kMaxBatchRank));
  plan.isSignedA = call.inputs[0].type == DLC_I8;
  plan.isSignedB = typeOfB == DLC_I8;
  plan.product.packedB = true; // By whoever packs it.
  DLC_RETURN_IF_ERROR(planProduct(call, packedBytesOf, plan.product));
  const int64_t columns = plan.product.n;
  DLC_RETURN_IF_ERROR(checkZeroPoint(call.inputs[2], call.inputs[0].type,
                                     "a zero point of a", 1));
  DLC_RETURN_IF_ERROR(
      checkZeroPoint(call.inputs[3], b.type, "a zero point of b", columns));
  plan.hasZeroOfColumns = elementCount(call.inputs[3].shape) != 1;
  plan.terms = paddedTerms(plan.product.k);
  plan.columns = roundUp(columns, kPanelWidth);
  foldBatches(plan.product);
  planGrid(plan);
  return Status::ok();
}

/// The matrices of b.
static int64_t matricesOf(const KernelCall &call) {
  const std::vector<int64_t> &shape = call.inputs[1].shape;
  return elementCount({shape.data(), shape.size() - 2}).value_or(0);
}

static int64_t packedBytes(const KernelCall &call, const IntegerPlan &plan) {
  return saturatedProduct({matricesOf(call), packedBytesOf(plan.product)});
}

bool cpu::isIntegerMatmulSupported(const KernelCall &call, std::string &why) {
  IntegerPlan plan = {};
  Status status = planIntegerMatmul(call, plan);
  why = status.message();
  return status.isOk();
}

size_t cpu::packedIntegerMatmulBytes(const KernelCall &call, size_t operand) {
  IntegerPlan plan = {};
  if (operand != 1 || !planIntegerMatmul(call, plan).isOk())
    return 0;
  return static_cast<size_t>(packedBytes(call, plan));
}

size_t cpu::integerMatmulWorkspaceBytes(const KernelCall &call) {
  const bool isPacked = call.attributes.getInt("packed_b", 0) != 0;
  return isPacked ? 0 : packedIntegerMatmulBytes(call, 1);
}

KernelCost cpu::integerMatmulCost(const KernelCall &call) {
  IntegerPlan plan = {};
  if (!planIntegerMatmul(call, plan).isOk())
    return {};
  const MatmulPlan &product = plan.product;
  KernelCost cost{2 * static_cast<uint64_t>(product.batch) * product.m *
                      product.n * product.k,
                  bytesOf(call)};
  cost.saved = cost.flops / 2; // With no more than instructions for 16 bits.
  return cost;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Packs up to 64 columns of one matrix, from `first` on; `source` and `target`
/// are where the matrices begin.
static void packColumns(const IntegerPlan &plan, int64_t first,
                        const uint8_t *source, uint8_t *target) {
  const MatmulPlan &product = plan.product;
  const int64_t width = std::min(plan.columns - first, kPackedColumns);
  const int64_t columns = std::min(product.n - first, width);
  const uint8_t flip = plan.isSignedB ? 0 : 0x80;
  uint8_t *to = target + first * plan.terms;
  std::memset(to, 0, static_cast<size_t>(width * plan.terms));
  int32_t sums[kPackedColumns] = {};
  for (int64_t l = 0; l < product.k; ++l) {
    const uint8_t *row = source + l * product.ldb + first;
    uint8_t *place = to + l / kByteGroup * width * kByteGroup + l % kByteGroup;
    for (int64_t j = 0; j < columns; ++j) {
      const auto value = static_cast<uint8_t>(row[j] ^ flip);
      place[j * kByteGroup] = value;
      sums[j] += static_cast<int8_t>(value);
    }
  }
  std::memcpy(target + plan.columns * plan.terms +
                  first * int64_t{sizeof(int32_t)},
              sums, static_cast<size_t>(width) * sizeof(int32_t));
}

/// Columns of all matrices, [begin, end) of parts of 64.
static void packParts(const IntegerPlan &plan, const void *source, void *target,
                      int64_t begin, int64_t end) {
  const MatmulPlan &product = plan.product;
  const int64_t parts = ceilDiv(plan.columns, kPackedColumns);
  for (int64_t part = begin; part < end; ++part) {
    const int64_t matrix = part / parts;
    packColumns(
        plan, part % parts * kPackedColumns,
        static_cast<const uint8_t *>(source) + matrix * product.k * product.n,
        static_cast<uint8_t *>(target) + matrix * packedBytesOf(product));
  }
}

void cpu::packIntegerMatmul(const KernelCall &call, size_t operand,
                            const void *source, void *target) {
  IntegerPlan plan = {};
  if (operand == 1 && planIntegerMatmul(call, plan).isOk())
    packParts(plan, source, target, 0,
              matricesOf(call) * ceilDiv(plan.columns, kPackedColumns));
}

void PackBefore::run(void *const *arguments, int64_t begin, int64_t end) const {
  packParts(plan, arguments[1], arguments[workspace], begin, end);
}

//===----------------------------------------------------------------------===//
// The entry
//===----------------------------------------------------------------------===//

Status cpu::prepareIntegerMatmul(const KernelCall &call, Isa isa,
                                 std::unique_ptr<PreparedKernel> &prepared) {
  const IntegerKernels *kernels = nullptr, *tiles = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, kernels));
  DLC_RETURN_IF_ERROR(findIntegerTiles(isa, tiles));
  IntegerPlan plan = {};
  DLC_RETURN_IF_ERROR(planIntegerMatmul(call, plan));
  const size_t workspaceBytes = integerMatmulWorkspaceBytes(call);
  DLC_RETURN_IF_ERROR(checkWorkspace(call, workspaceBytes));
  // Fewer rows leave tiles empty.
  constexpr int64_t fewestRows = 16;
  if (tiles && plan.product.m >= fewestRows)
    kernels = tiles;
  if (workspaceBytes == 0) {
    prepared = std::make_unique<PreparedIntegers>(plan, *kernels, std::nullopt);
    return Status::ok();
  }
  const size_t workspace = call.inputs.size() + 1;
  prepared = std::make_unique<PackBefore>(
      plan, matricesOf(call), workspace,
      std::make_unique<PreparedIntegers>(plan, *kernels, workspace));
  return Status::ok();
}
