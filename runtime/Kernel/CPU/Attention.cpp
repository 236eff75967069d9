// SPDX-License-Identifier: Apache-2.0

#include "Attention.h"

#include "Check.h"
#include "Isa.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

namespace {

class PreparedAttention final : public PreparedKernel {
public:
  PreparedAttention(const AttentionPlan &plan, const AttentionKernels &kernels)
      : plan(plan), kernels(kernels) {}

  int64_t tiles() const override { return plan.batch * plan.rowBlocks; }

  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    kernels.run(plan, arguments, begin, end);
  }

private:
  const AttentionPlan plan;
  const AttentionKernels &kernels;
};

/// The matrices of an operand.
struct Matrices {
  int64_t count, rows, columns;
};

} // namespace

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

/// The order of an operand's dimensions; as they are by default.
static Status readOrder(const KernelCall &call, const char *name, int64_t rank,
                        int64_t (&order)[kMaxBatchRank]) {
  std::span<const int64_t> given = call.attributes.getInts(name);
  std::iota(order, order + rank, 0);
  if (given.empty())
    return Status::ok();
  if (static_cast<int64_t>(given.size()) != rank ||
      !std::is_permutation(given.begin(), given.end(), order))
    return invalid("expected attribute '" + std::string(name) +
                   "' to be an order of " + std::to_string(rank) +
                   " dimensions");
  std::copy(given.begin(), given.end(), order);
  return Status::ok();
}

/// `type` with its dimensions in the order that attribute `name` says.
static Status readMatrices(const KernelCall &call, const TensorType &type,
                           DataType element, const char *role, const char *name,
                           MatrixView &view, Matrices &matrices) {
  DLC_RETURN_IF_ERROR(checkTensor(type, element, role, 2, kMaxBatchRank));
  const int64_t rank = type.rank();
  int64_t order[kMaxBatchRank], strides[kMaxBatchRank];
  DLC_RETURN_IF_ERROR(readOrder(call, name, rank, order));
  int64_t stride = 1;
  for (int64_t d = rank - 1; d >= 0; --d) {
    if (type.shape[d] == 0)
      return invalid("expected " + std::string(role) +
                     " to have elements, got " + toString(type));
    strides[d] = stride;
    stride *= type.shape[d];
  }
  view.rank = static_cast<int>(rank - 2);
  matrices.count = 1;
  for (int64_t d = 0; d < rank - 2; ++d) {
    view.dims[d] = type.shape[order[d]];
    view.steps[d] = strides[order[d]];
    matrices.count *= view.dims[d];
  }
  matrices.rows = type.shape[order[rank - 2]];
  matrices.columns = type.shape[order[rank - 1]];
  view.rowStep = strides[order[rank - 2]];
  view.columnStep = strides[order[rank - 1]];
  return Status::ok();
}

/// The shape of the scores that masks broadcast to.
static Status readScores(const KernelCall &call, const AttentionPlan &plan,
                         std::span<const int64_t> &scores) {
  scores = call.attributes.getInts("scores");
  auto rank = static_cast<int64_t>(scores.size());
  int64_t count = 1;
  for (int64_t d = 0; d < rank - 2; ++d)
    if (__builtin_mul_overflow(count, scores[d], &count))
      count = -1;
  if (rank < 2 || rank > kMaxBatchRank || count != plan.batch ||
      scores[rank - 2] != plan.rows || scores[rank - 1] != plan.keys ||
      std::ranges::any_of(scores, [](int64_t dim) { return dim < 1; }))
    return makeError(StatusCode::InvalidArgument,
                     "expected attribute 'scores' to be the shape of %lld "
                     "matrices of %lldx%lld",
                     static_cast<long long>(plan.batch),
                     static_cast<long long>(plan.rows),
                     static_cast<long long>(plan.keys));
  return Status::ok();
}

static Status planMask(const TensorType &type, MaskForm form,
                       std::span<const int64_t> scores, MatrixView &view) {
  const DataType element = form == MaskForm::Add ? DLC_F32 : DLC_BOOL;
  const auto rank = static_cast<int64_t>(scores.size());
  DLC_RETURN_IF_ERROR(checkTensor(type, element, "a mask", 0, rank));
  int64_t steps[kMaxBatchRank] = {};
  int64_t stride = 1;
  for (int64_t d = rank - 1, own = type.rank() - 1; own >= 0; --d, --own) {
    if (type.shape[own] != 1 && type.shape[own] != scores[d])
      return invalid("expected a mask that broadcasts to the scores, got " +
                     toString(type));
    steps[d] = type.shape[own] == 1 ? 0 : stride;
    stride *= type.shape[own];
  }
  view.rank = static_cast<int>(rank - 2);
  std::copy(scores.begin(), scores.end() - 2, view.dims);
  std::copy(steps, steps + rank - 2, view.steps);
  view.rowStep = steps[rank - 2];
  view.columnStep = steps[rank - 1];
  return Status::ok();
}

static Status planMasks(const KernelCall &call, AttentionPlan &plan) {
  std::span<const int64_t> forms = call.attributes.getInts("masks");
  if (forms.size() > kMaxMasks)
    return makeError(StatusCode::InvalidArgument,
                     "expected at most %d masks, got %zu", kMaxMasks,
                     forms.size());
  std::span<const int64_t> scores;
  size_t input = 3;
  for (int64_t code : forms) {
    if (code < 0 || code > static_cast<int64_t>(MaskForm::Causal))
      return invalid("expected attribute 'masks' to hold 0 to 3, got " +
                     std::to_string(code));
    const auto form = static_cast<MaskForm>(code);
    if (form != MaskForm::Causal) {
      if (input == call.inputs.size())
        return invalid("expected an input for each mask");
      if (scores.empty())
        DLC_RETURN_IF_ERROR(readScores(call, plan, scores));
      DLC_RETURN_IF_ERROR(planMask(call.inputs[input++], form, scores,
                                   plan.masks[plan.maskCount]));
    }
    plan.forms[plan.maskCount++] = form;
  }
  if (input != call.inputs.size())
    return makeError(StatusCode::InvalidArgument,
                     "expected %zu inputs, got %zu", input, call.inputs.size());
  plan.causalOffset = call.attributes.getInt("causal_offset");
  if (plan.causalOffset < -plan.rows || plan.causalOffset > plan.keys)
    return makeError(StatusCode::InvalidArgument,
                     "expected attribute 'causal_offset' from %lld to %lld, "
                     "got %lld",
                     static_cast<long long>(-plan.rows),
                     static_cast<long long>(plan.keys),
                     static_cast<long long>(plan.causalOffset));
  return Status::ok();
}

/// Tiles of enough rows to pay for packing the keys, and enough tiles to
/// balance 8 workers.
static void planGrid(AttentionPlan &plan) {
  constexpr int64_t wantedTiles = 32, fewRows = 96;
  int64_t blocks = ceilDiv(wantedTiles, plan.batch);
  blocks = std::min(blocks, std::max<int64_t>(plan.rows / fewRows, 1));
  blocks = std::max(blocks, ceilDiv(plan.rows, kMaxAttentionRows));
  plan.rowBlock = ceilDiv(ceilDiv(plan.rows, blocks), 6) * 6;
  plan.rowBlocks = ceilDiv(plan.rows, plan.rowBlock);
}

static Status planAttention(const KernelCall &call, AttentionPlan &plan) {
  using enum AttributeKind;
  const Attributes &attributes = call.attributes;
  DLC_RETURN_IF_ERROR(checkAttributes(attributes, {{"q_order", Ints},
                                                   {"k_order", Ints},
                                                   {"v_order", Ints},
                                                   {"y_order", Ints},
                                                   {"masks", Ints},
                                                   {"scores", Ints},
                                                   {"fill", Float},
                                                   {"causal_offset", Int},
                                                   {"query_scale", Float},
                                                   {"scale", Float},
                                                   {kBf16Parts, Int}}));
  if (!attributes.getString("activation").empty())
    return invalid("expected no activation");
  if (call.inputs.size() < 3)
    return makeError(StatusCode::InvalidArgument,
                     "expected at least 3 inputs, got %zu", call.inputs.size());
  if (call.outputs.size() != 1)
    return makeError(StatusCode::InvalidArgument, "expected 1 output, got %zu",
                     call.outputs.size());
  int64_t parts = 0;
  DLC_RETURN_IF_ERROR(readParts(attributes, parts));
  plan.isRounded = parts == 1;
  plan.isShort = plan.isRounded && call.inputs[0].type == DLC_BF16;
  const DataType element = plan.isShort ? DLC_BF16 : DLC_F32;
  Matrices q, k, v, y;
  DLC_RETURN_IF_ERROR(readMatrices(call, call.inputs[0], element, "input 0",
                                   "q_order", plan.q, q));
  DLC_RETURN_IF_ERROR(readMatrices(call, call.inputs[1], element, "input 1",
                                   "k_order", plan.k, k));
  DLC_RETURN_IF_ERROR(readMatrices(call, call.inputs[2], element, "input 2",
                                   "v_order", plan.v, v));
  DLC_RETURN_IF_ERROR(readMatrices(call, call.outputs[0], DLC_F32, "the output",
                                   "y_order", plan.y, y));
  if (k.rows != q.columns || v.rows != k.columns || v.count != k.count ||
      q.count % k.count != 0 || y.count != q.count || y.rows != q.rows ||
      y.columns != v.columns)
    return invalid("expected queries [.., M, K], keys [.., K, N], values "
                   "[.., N, P] and an output [.., M, P], got " +
                   toString(call.inputs[0]) + ", " + toString(call.inputs[1]) +
                   ", " + toString(call.inputs[2]) + " and " +
                   toString(call.outputs[0]));
  if (plan.y.columnStep != 1)
    return invalid("expected rows of the output to be dense");
  if (k.rows > kMaxFeatures || v.columns > kMaxFeatures)
    return makeError(StatusCode::InvalidArgument,
                     "expected keys and values of at most %lld elements, got "
                     "%lld and %lld",
                     static_cast<long long>(kMaxFeatures),
                     static_cast<long long>(k.rows),
                     static_cast<long long>(v.columns));
  plan.batch = q.count;
  plan.shared = q.count / k.count;
  plan.rows = q.rows;
  plan.keys = k.columns;
  plan.features = k.rows;
  plan.values = v.columns;
  plan.queryScale = static_cast<float>(attributes.getFloat("query_scale", 1));
  plan.scale = static_cast<float>(attributes.getFloat("scale", 1));
  plan.fill = static_cast<float>(
      attributes.getFloat("fill", -std::numeric_limits<double>::infinity()));
  DLC_RETURN_IF_ERROR(planMasks(call, plan));
  // Fewer rows, and fewer elements of each, do not pay for rounding keys and
  // values.
  constexpr int64_t fewestRows = 16, fewestElements = 32;
  if (plan.isRounded &&
      (plan.rows < fewestRows || plan.features < fewestElements ||
       plan.values < fewestElements))
    return makeError(StatusCode::InvalidArgument,
                     "expected at least %lld rows, and keys and values of at "
                     "least %lld elements, where 'bf16_parts' is 1, got %lld, "
                     "%lld and %lld",
                     static_cast<long long>(fewestRows),
                     static_cast<long long>(fewestElements),
                     static_cast<long long>(plan.rows),
                     static_cast<long long>(plan.features),
                     static_cast<long long>(plan.values));
  if (plan.isRounded) {
    plan.scale *= plan.queryScale;
    plan.queryScale = 1;
  }
  planGrid(plan);
  return Status::ok();
}

bool cpu::isAttentionSupported(const KernelCall &call, std::string &why) {
  AttentionPlan plan = {};
  Status status = planAttention(call, plan);
  why = status.message();
  return status.isOk();
}

Status cpu::prepareAttention(const KernelCall &call, Isa isa,
                             std::unique_ptr<PreparedKernel> &prepared) {
  const AttentionKernels *kernels = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, kernels));
  const AttentionKernels *rounded = nullptr;
  DLC_RETURN_IF_ERROR(findRoundedAttention(isa, rounded));
  AttentionPlan plan = {};
  DLC_RETURN_IF_ERROR(planAttention(call, plan));
  if (plan.isRounded && rounded)
    kernels = rounded;
  prepared = std::make_unique<PreparedAttention>(plan, *kernels);
  return Status::ok();
}

KernelCost cpu::attentionCost(const KernelCall &call) {
  AttentionPlan plan = {};
  if (!planAttention(call, plan).isOk())
    return {};
  const auto scores = static_cast<uint64_t>(plan.batch) * plan.rows * plan.keys;
  return {2 * scores * (plan.features + plan.values), bytesOf(call)};
}
