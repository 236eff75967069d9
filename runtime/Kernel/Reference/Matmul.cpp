// SPDX-License-Identifier: Apache-2.0
//
// Matrix products over batches that broadcast.

#include "Centered.h"
#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

/// The dimensions before the matrix.
static TensorType batchOf(const TensorType &type) {
  TensorType batch = type;
  if (batch.hasRank)
    batch.shape.resize(batch.shape.size() - 2);
  return batch;
}

/// Gives `type` the shape of the product of operands 0 and 1.
static Status inferProduct(const InferContext &context, TensorType &type) {
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 2));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 1, 2));
  const TensorType &a = context.operand(0).type, &b = context.operand(1).type;
  type = batchOf(a);
  DLC_RETURN_IF_ERROR(broadcastInto(type, batchOf(b)));
  if (!type.hasRank)
    return Status::ok();
  int64_t depth = a.shape[a.rank() - 1];
  if (!mergeDim(depth, b.shape[b.rank() - 2]))
    return DLC_INVALID("operand 1: expected %" PRId64 " rows, got %" PRId64,
                       depth, b.shape[b.rank() - 2]);
  type.shape.push_back(a.shape[a.rank() - 2]);
  type.shape.push_back(b.shape[b.rank() - 1]);
  return Status::ok();
}

static Status inferMatmul(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  TensorType type;
  DLC_RETURN_IF_ERROR(inferProduct(context, type));
  return addResult(results, std::move(type));
}

static Status inferIntegerMatmul(const InferContext &context,
                                 std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 4));
  for (size_t factor : {0, 1}) {
    const size_t zeroPoint = factor + 2;
    DLC_RETURN_IF_ERROR(checkType(context, factor, byteTypes));
    DLC_RETURN_IF_ERROR(checkSameType(context, factor, zeroPoint));
    const TensorType &type = context.operand(factor).type;
    TensorType together = type;
    DLC_RETURN_IF_ERROR(
        broadcastInto(together, context.operand(zeroPoint).type));
    if (type.hasRank && together.hasRank && !mayHaveShape(type, together.shape))
      return DLC_INVALID(
          "operand %zu: expected a shape that broadcasts to that of %s, got %s",
          zeroPoint, toString(type).c_str(),
          toString(context.operand(zeroPoint).type).c_str());
  }
  TensorType type;
  DLC_RETURN_IF_ERROR(inferProduct(context, type));
  type.type = DLC_I32;
  return addResult(results, std::move(type));
}

namespace {
struct MatrixSizes {
  int64_t rows, depth, columns;
};
} // namespace

/// c = a b for dense row-major matrices, a block of columns at a time.
template <typename E>
static void multiply(const typename E::Storage *a, const typename E::Storage *b,
                     typename E::Storage *c, const MatrixSizes &sizes) {
  constexpr int64_t blockSize = 64;
  using Acc = Accumulator<E>;
  for (int64_t i = 0; i < sizes.rows; ++i) {
    for (int64_t begin = 0; begin < sizes.columns; begin += blockSize) {
      int64_t count = std::min(blockSize, sizes.columns - begin);
      Acc sums[blockSize] = {};
      for (int64_t k = 0; k < sizes.depth; ++k) {
        Acc factor = static_cast<Acc>(E::decode(a[i * sizes.depth + k]));
        const auto *row = b + k * sizes.columns + begin;
        for (int64_t j = 0; j < count; ++j)
          sums[j] += factor * static_cast<Acc>(E::decode(row[j]));
      }
      for (int64_t j = 0; j < count; ++j)
        c[i * sizes.columns + begin + j] = E::encode(sums[j]);
    }
  }
}

/// The product of elements of a and b, which have the shapes of the inputs.
template <typename E>
static void multiplyAll(ComputeContext &context, const typename E::Storage *a,
                        const typename E::Storage *b) {
  using Extents = std::span<const int64_t>;
  const TensorView &c = context.output(0);
  const Extents left = context.input(0).shape, right = context.input(1).shape;
  const size_t rank = c.shape.size();
  MatrixSizes sizes{c.shape[rank - 2], left.back(), c.shape[rank - 1]};
  auto batches = broadcastLoop<2>(
      c.shape.first(rank - 2),
      {left.first(left.size() - 2), right.first(right.size() - 2)});
  batches.forEach([&](int64_t at, const auto &offsets) {
    multiply<E>(a + offsets[0] * sizes.rows * sizes.depth,
                b + offsets[1] * sizes.depth * sizes.columns,
                c.as<typename E::Storage>() + at * sizes.rows * sizes.columns,
                sizes);
  });
}

static Status computeMatmul(ComputeContext &context) {
  return dispatch(context.output(0).type, [&](auto element) {
    using Storage = typename decltype(element)::Storage;
    multiplyAll<decltype(element)>(context, context.input(0).as<Storage>(),
                                   context.input(1).as<Storage>());
    return Status::ok();
  });
}

static Status computeIntegerMatmul(ComputeContext &context) {
  const std::vector<int32_t> a = center(context.input(0), context.input(2));
  const std::vector<int32_t> b = center(context.input(1), context.input(3));
  multiplyAll<Element<DLC_I32>>(context, a.data(), b.data());
  return Status::ok();
}

std::span<const Operation> ref::matmulOperations() {
  static constexpr Operation operations[] = {
      {"integer_matmul", inferIntegerMatmul, computeIntegerMatmul},
      {"matmul", inferMatmul, computeMatmul},
  };
  return operations;
}
