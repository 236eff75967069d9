// SPDX-License-Identifier: Apache-2.0

#include "IntegerMatmul.h"

#include "IntegerPack.h"
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
    const IntegerArguments arguments =
        integerArguments(plan, given[0], given[workspace.value_or(1)], given);
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

/// Of one matrix. Those of 2^45 elements and its padding are less than 2^63.
static int64_t packedBytesOf(const MatmulPlan &product) {
  IntegerPlan plan = {};
  plan.product = product;
  sizePacked(plan);
  return packedMatrixBytes(plan);
}

static Status planIntegerMatmul(const KernelCall &call, IntegerPlan &plan) {
  DLC_RETURN_IF_ERROR(
      checkAttributes(call.attributes, {{"packed_b", AttributeKind::Int}}));
  DLC_RETURN_IF_ERROR(checkIntegerOperands(call));
  bool isPacked = false;
  DLC_RETURN_IF_ERROR(readFlag(call.attributes, "packed_b", isPacked));
  TensorType b = call.inputs[1];
  const DataType typeOfB = call.inputs[3].type;
  if (isPacked && b.type == DLC_F32) // Of packed bytes only the shape is known.
    b.type = typeOfB;
  DLC_RETURN_IF_ERROR(checkByteFactor(call.inputs[0], "a"));
  DLC_RETURN_IF_ERROR(checkByteFactor(b, "b"));
  DLC_RETURN_IF_ERROR(checkTensor(call.outputs[0], call.outputs[0].type,
                                  "the output", 2, kMaxBatchRank));
  plan.isSignedA = call.inputs[0].type == DLC_I8;
  plan.isSignedB = typeOfB == DLC_I8;
  plan.product.packedB = true; // By whoever packs it.
  DLC_RETURN_IF_ERROR(planProduct(call, packedBytesOf, plan.product));
  const int64_t columns = plan.product.n;
  DLC_RETURN_IF_ERROR(checkByteZeroPoint(call.inputs[2], call.inputs[0].type,
                                         "a zero point of a", 1));
  DLC_RETURN_IF_ERROR(
      checkByteZeroPoint(call.inputs[3], b.type, "a zero point of b", columns));
  DLC_RETURN_IF_ERROR(readRequantization(call, columns, 0, plan));
  plan.hasZeroOfColumns = elementCount(call.inputs[3].shape) != 1;
  sizePacked(plan);
  foldBatches(plan.product);
  planIntegerGrid(plan);
  return Status::ok();
}

/// The matrices of b.
static int64_t matricesOf(const KernelCall &call) {
  const std::vector<int64_t> &shape = call.inputs[1].shape;
  return elementCount({shape.data(), shape.size() - 2}).value_or(0);
}

static int64_t packedBytes(const KernelCall &call, const IntegerPlan &plan) {
  return saturatedProduct({matricesOf(call), packedMatrixBytes(plan)});
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
  return integerCost(call, plan);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Columns of all matrices, [begin, end) of parts of 64.
static void packParts(const IntegerPlan &plan, const void *source, void *target,
                      int64_t begin, int64_t end) {
  const MatmulPlan &product = plan.product;
  const int64_t parts = ceilDiv(plan.columns, kPackedColumns);
  for (int64_t part = begin; part < end; ++part) {
    const int64_t matrix = part / parts;
    const auto *from =
        static_cast<const uint8_t *>(source) + matrix * product.k * product.n;
    packByteColumns(
        plan, kByteGroup, part % parts * kPackedColumns,
        [&](int64_t l, int64_t j) { return from[l * product.ldb + j]; },
        static_cast<uint8_t *>(target) + matrix * packedMatrixBytes(plan));
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
