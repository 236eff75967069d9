// SPDX-License-Identifier: Apache-2.0
//
// How the warps of a block share out the rows of an attention and its keys: a
// decision over numbers, made before anything is emitted.

#ifndef DLC_LIB_CODEGEN_NVPTX_ATTENTIONPLAN_H
#define DLC_LIB_CODEGEN_NVPTX_ATTENTIONPLAN_H

#include <cstdint>
#include <optional>

namespace dlc::codegen::gpu {

/// Warps have 16 rows each, and those with the same rows each their part of the
/// keys of a step, which add up what they have at the end.
struct AttentionPlan {
  int64_t keys = 0;               ///< N.
  int64_t depth = 0, columns = 0; ///< K and P, filled up to multiples of 16.
  int64_t byRow = 1, byKey = 1;   ///< Warps.
  int64_t keysOfWarp = 0;         ///< Of a step.
  int64_t steps = 0;
  int64_t stages = 1; ///< Steps that are in shared memory at once.

  int64_t step() const { return byKey * keysOfWarp; } ///< Keys.
  /// Elements from one row to the next: an odd number of 16 bytes, so that
  /// eight rows are in banks of their own.
  int64_t keyPitch() const { return depth + 8; }
  int64_t valuePitch() const { return columns + 8; }
  /// Bytes of a step: keys, and then values.
  int64_t keyBytes() const { return 2 * step() * keyPitch(); }
  int64_t stageBytes() const { return keyBytes() + 2 * step() * valuePitch(); }
  /// What a warp leaves for others: sums, and for each row the greatest score
  /// and the sum of weights, as f32.
  int64_t partBytes() const { return 16 * 4 * (columns + 2); }
  int64_t sharedBytes() const;
};

/// Of at most `rows` rows; absent where shared memory is too small. `depth` and
/// `columns` are at most 128.
std::optional<AttentionPlan> planAttention(int64_t rows, int64_t keys,
                                           int64_t depth, int64_t columns);

} // namespace dlc::codegen::gpu

#endif // DLC_LIB_CODEGEN_NVPTX_ATTENTIONPLAN_H
