// SPDX-License-Identifier: Apache-2.0
//
// What cpu.integer_matmul and cpu.integer_conv share: checks, the packed form
// and the grid.

#ifndef DLC_RUNTIME_KERNEL_CPU_INTEGERPACK_H
#define DLC_RUNTIME_KERNEL_CPU_INTEGERPACK_H

#include "Check.h"
#include "IntegerSet.h"

#include <algorithm>
#include <cstring>

namespace dlc::rt::cpu {

/// A tensor of i8 or u8; `role` names it.
Status checkByteFactor(const TensorType &type, const char *role);
/// One zero point, or one for each of `columns` columns, of type `factor`.
Status checkByteZeroPoint(const TensorType &type, DataType factor,
                          const char *role, int64_t columns);

/// Checks the output's type and, of a call with seven inputs, what requantizes
/// sums: inputs 4 to 6. Columns are their last dimension but `trailing`.
Status readRequantization(const KernelCall &call, int64_t columns,
                          int64_t trailing, IntegerPlan &plan);
/// That the call has operands at all; other checks rely on it.
Status checkIntegerOperands(const KernelCall &call);
/// The arguments behind a and b: `given` are those of the call.
IntegerArguments integerArguments(const IntegerPlan &plan, const void *a,
                                  const void *b, void *const *given);

/// Terms and columns of a packed b, of a plan whose sizes are known.
void sizePacked(IntegerPlan &plan);
/// Bytes of one packed matrix, INT64_MAX where there are more.
int64_t packedMatrixBytes(const IntegerPlan &plan);

/// Chooses the grid. Aims: many rows, which share what is copied of them in the
/// second cache; enough tiles for 16 workers, of some microseconds.
void planIntegerGrid(IntegerPlan &plan);

/// Of such calls: they are twice as fast as those of floats, with no more than
/// instructions for 16 bits.
KernelCost integerCost(const KernelCall &call, const IntegerPlan &plan);

/// Packs up to 64 columns of one matrix, from `first` on, of which
/// byteAt(l, j) is term l of column j; `group` terms of a column lie together.
/// `target` is where the matrix begins.
template <typename ByteAt>
void packByteColumns(const IntegerPlan &plan, int64_t group, int64_t first,
                     const ByteAt &byteAt, uint8_t *target) {
  const MatmulPlan &product = plan.product;
  const int64_t width = std::min(plan.columns - first, kPackedColumns);
  const int64_t columns = std::min(product.n - first, width);
  const uint8_t flip = plan.isSignedB ? 0 : 0x80;
  uint8_t *to = target + first * plan.terms;
  std::memset(to, 0, static_cast<size_t>(width * plan.terms));
  int32_t sums[kPackedColumns] = {};
  for (int64_t l = 0; l < product.k; ++l) {
    uint8_t *place = to + l / group * width * group + l % group;
    for (int64_t j = 0; j < columns; ++j) {
      const auto value = static_cast<uint8_t>(byteAt(l, first + j) ^ flip);
      place[j * group] = value;
      sums[j] += static_cast<int8_t>(value);
    }
  }
  constexpr auto sumBytes = int64_t{sizeof(int32_t)};
  std::memcpy(target + plan.columns * plan.terms + first * sumBytes, sums,
              static_cast<size_t>(width * sumBytes));
}

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERPACK_H
