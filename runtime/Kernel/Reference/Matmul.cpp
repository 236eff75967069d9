// SPDX-License-Identifier: Apache-2.0
//
// Matrix products over batches that broadcast.

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

static Status inferMatmul(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 2));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 1, 2));
  const TensorType &a = context.operand(0).type, &b = context.operand(1).type;
  TensorType type = batchOf(a);
  DLC_RETURN_IF_ERROR(broadcastInto(type, batchOf(b)));
  if (!type.hasRank)
    return addResult(results, std::move(type));
  int64_t depth = a.shape[a.rank() - 1];
  if (!mergeDim(depth, b.shape[b.rank() - 2]))
    return DLC_INVALID("operand 1: expected %" PRId64 " rows, got %" PRId64,
                       depth, b.shape[b.rank() - 2]);
  type.shape.push_back(a.shape[a.rank() - 2]);
  type.shape.push_back(b.shape[b.rank() - 1]);
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

static Status computeMatmul(ComputeContext &context) {
  const TensorView &a = context.input(0), &b = context.input(1);
  const TensorView &c = context.output(0);
  int64_t rank = c.rank();
  MatrixSizes sizes{c.shape[rank - 2], a.shape[a.rank() - 1],
                    c.shape[rank - 1]};
  auto batches =
      broadcastLoop<2>(c.shape.first(rank - 2), {a.shape.first(a.rank() - 2),
                                                 b.shape.first(b.rank() - 2)});
  return dispatch(c.type, [&](auto element) {
    using E = decltype(element);
    using Storage = typename E::Storage;
    batches.forEach([&](int64_t at, const auto &offsets) {
      multiply<E>(a.as<Storage>() + offsets[0] * sizes.rows * sizes.depth,
                  b.as<Storage>() + offsets[1] * sizes.depth * sizes.columns,
                  c.as<Storage>() + at * sizes.rows * sizes.columns, sizes);
    });
    return Status::ok();
  });
}

std::span<const Operation> ref::matmulOperations() {
  static constexpr Operation operations[] = {
      {"matmul", inferMatmul, computeMatmul},
  };
  return operations;
}
