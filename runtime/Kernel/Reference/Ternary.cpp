// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations on three operands that broadcast.

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;

/// The result has the element type of operand `like`.
static Status inferTernary(const InferContext &context, size_t like,
                           std::vector<TensorType> &results) {
  TensorType type = context.operand(0).type;
  DLC_RETURN_IF_ERROR(broadcastInto(type, context.operand(1).type));
  DLC_RETURN_IF_ERROR(broadcastInto(type, context.operand(2).type));
  type.type = context.operand(like).type.type;
  return addResult(results, std::move(type));
}

static Status inferSelect(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3));
  DLC_RETURN_IF_ERROR(checkType(context, 0, boolType));
  DLC_RETURN_IF_ERROR(checkSameType(context, 1, 2));
  return inferTernary(context, 1, results);
}

static Status inferClamp(const InferContext &context,
                         std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 2));
  return inferTernary(context, 0, results);
}

/// All operands have one type.
static Status inferReplaceGradient(const InferContext &context,
                                   std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  TensorType type = context.operand(0).type;
  for (size_t i : {1, 2}) {
    DLC_RETURN_IF_ERROR(checkSameType(context, 0, i));
    const TensorType &other = context.operand(i).type;
    if (other.hasRank && !mayHaveShape(type, other.shape))
      return DLC_INVALID("operand %zu: expected %s as operand 0, got %s", i,
                         toString(type).c_str(), toString(other).c_str());
    if (!type.hasRank && other.hasRank)
      type = other;
    for (size_t k = 0; other.hasRank && k != other.shape.size(); ++k)
      (void)mergeDim(type.shape[k], other.shape[k]);
  }
  return addResult(results, std::move(type));
}

static Status computeReplaceGradient(ComputeContext &context) {
  const TensorView &value = context.input(0);
  if (size_t bytes = value.bytes())
    std::memcpy(context.output(0).data, value.data, bytes);
  return Status::ok();
}

static Status computeSelect(ComputeContext &context) {
  return dispatchWide(context.input(1).type, [&](auto wide) {
    using T = decltype(wide);
    mapElements<T, T, 3>(
        context, [](T condition, T a, T b) { return condition != 0 ? a : b; });
    return Status::ok();
  });
}

/// min(max(x, lo), hi): hi wins when the bounds cross. NaN stays NaN.
static Status computeClamp(ComputeContext &context) {
  return dispatchWide(context.input(0).type, [&](auto wide) {
    using T = decltype(wide);
    mapElements<T, T, 3>(context, [](T x, T lo, T hi) {
      T raised = x < lo ? lo : x;
      return raised > hi ? hi : raised;
    });
    return Status::ok();
  });
}

std::span<const Operation> ref::ternaryOperations() {
  static constexpr Operation operations[] = {
      {"clamp", inferClamp, computeClamp},
      {"replace_gradient", inferReplaceGradient, computeReplaceGradient},
      {"select", inferSelect, computeSelect},
  };
  return operations;
}
