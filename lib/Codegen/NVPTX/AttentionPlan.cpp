// SPDX-License-Identifier: Apache-2.0

#include "AttentionPlan.h"

#include "KernelEmitter.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace dlc::codegen;
using namespace dlc::codegen::gpu;

int64_t AttentionPlan::sharedBytes() const {
  constexpr int64_t warps = kThreads / kWarp;
  return std::max(stages * stageBytes(),
                  byKey > 1 ? warps * partBytes() : int64_t(0));
}

std::optional<AttentionPlan>
gpu::planAttention(int64_t rows, int64_t keys, int64_t depth, int64_t columns) {
  constexpr int64_t warps = kThreads / kWarp, rowsOfWarp = 16;
  constexpr int64_t fewKeys = 16, manyKeys = 64; // Of a warp.
  // What a block can have on all GPUs is 99 KB.
  constexpr int64_t mostBytes = 96 * 1024;
  constexpr int64_t unit = 16;
  AttentionPlan plan{.keys = keys,
                     .depth = static_cast<int64_t>(llvm::alignTo(depth, unit)),
                     .columns =
                         static_cast<int64_t>(llvm::alignTo(columns, unit))};
  while (plan.byRow < warps && plan.byRow * rowsOfWarp < rows)
    plan.byRow *= 2;
  plan.byKey = warps / plan.byRow;
  plan.keysOfWarp = std::max(fewKeys, manyKeys / plan.byKey);
  plan.steps = static_cast<int64_t>(llvm::divideCeil(keys, plan.step()));
  plan.stages = std::min<int64_t>(plan.steps, 2);
  if (plan.sharedBytes() > mostBytes)
    plan.stages = 1;
  if (plan.byRow * rowsOfWarp < rows || plan.sharedBytes() > mostBytes)
    return std::nullopt;
  return plan;
}
