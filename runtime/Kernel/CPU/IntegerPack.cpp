// SPDX-License-Identifier: Apache-2.0

#include "IntegerPack.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;

Status cpu::checkByteFactor(const TensorType &type, const char *role) {
  if (type.type != DLC_I8 && type.type != DLC_U8)
    return makeError(StatusCode::InvalidArgument,
                     "expected %s to be i8 or u8, got %s", role,
                     toString(type).c_str());
  return checkTensor(type, type.type, role, 2, kMaxBatchRank);
}

Status cpu::checkByteZeroPoint(const TensorType &type, DataType factor,
                               const char *role, int64_t columns) {
  DLC_RETURN_IF_ERROR(checkTensor(type, factor, role, 0, kMaxBatchRank));
  const int64_t count = elementCount(type.shape).value_or(0);
  if (count == 1 || (count == columns && type.shape.back() == columns))
    return Status::ok();
  return makeError(
      StatusCode::InvalidArgument, "expected %s of 1 element%s, got %s", role,
      columns == 1 ? "" : " or one for each column", toString(type).c_str());
}

void cpu::planIntegerGrid(IntegerPlan &plan) {
  constexpr int64_t wantedTiles = 32, minTileWork = 1 << 18, fewestRows = 32;
  MatmulPlan &product = plan.product;
  plan.termBlock = std::min(plan.terms, kMostByteTerms);
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

Status cpu::checkIntegerOperands(const KernelCall &call) {
  if ((call.inputs.size() == 4 || call.inputs.size() == 7) &&
      !call.outputs.empty())
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected 4 or 7 inputs and an output, got %zu and %zu",
                   call.inputs.size(), call.outputs.size());
}

/// One float for all columns or one for each.
static Status readFactor(const TensorType &type, const char *role,
                         int64_t columns, int64_t trailing, bool &hasColumns) {
  DLC_RETURN_IF_ERROR(checkTensor(type, DLC_F32, role, 0, kMaxBatchRank));
  const int64_t count = elementCount(type.shape).value_or(0);
  hasColumns = count != 1;
  const int64_t axis = type.rank() - 1 - trailing;
  if (count == 1 ||
      (count == columns && axis >= 0 && type.shape[axis] == columns))
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected %s of 1 element or one for each column, got %s",
                   role, toString(type).c_str());
}

Status cpu::readRequantization(const KernelCall &call, int64_t columns,
                               int64_t trailing, IntegerPlan &plan) {
  const TensorType &c = call.outputs[0];
  plan.requantizes = call.inputs.size() == 7;
  if (!plan.requantizes)
    return checkTensor(c, DLC_I32, "the output", 2, kMaxBatchRank);
  DLC_RETURN_IF_ERROR(checkByteFactor(c, "the output"));
  plan.isSignedC = c.type == DLC_I8;
  DLC_RETURN_IF_ERROR(readFactor(call.inputs[4], "a multiplier", columns,
                                 trailing, plan.hasMultiplierOfColumns));
  DLC_RETURN_IF_ERROR(readFactor(call.inputs[5], "an offset", columns, trailing,
                                 plan.hasOffsetOfColumns));
  return checkByteZeroPoint(call.inputs[6], c.type,
                            "a zero point of the output", 1);
}

IntegerArguments cpu::integerArguments(const IntegerPlan &plan, const void *a,
                                       const void *b, void *const *given) {
  IntegerArguments arguments = {static_cast<const uint8_t *>(a),
                                static_cast<const int8_t *>(b),
                                given[2],
                                given[3],
                                nullptr,
                                nullptr,
                                nullptr,
                                given[plan.requantizes ? 7 : 4]};
  if (plan.requantizes) {
    arguments.multiplier = static_cast<const float *>(given[4]);
    arguments.offset = static_cast<const float *>(given[5]);
    arguments.cZero = given[6];
  }
  return arguments;
}

void cpu::sizePacked(IntegerPlan &plan) {
  plan.terms = std::max(roundUp(plan.product.k, kByteTerms), kByteTerms);
  plan.columns = roundUp(plan.product.n, kPanelWidth);
}

int64_t cpu::packedMatrixBytes(const IntegerPlan &plan) {
  return saturatedProduct(
      {plan.columns, plan.terms + int64_t{sizeof(int32_t)}});
}

KernelCost cpu::integerCost(const KernelCall &call, const IntegerPlan &plan) {
  const MatmulPlan &product = plan.product;
  KernelCost cost{2 * static_cast<uint64_t>(product.batch) * product.m *
                      product.n * product.k,
                  bytesOf(call)};
  cost.saved = cost.flops / 2;
  return cost;
}
