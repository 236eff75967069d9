// SPDX-License-Identifier: Apache-2.0
//
// Comparisons of two operands that broadcast; a comparison with NaN is false.

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <functional>

using namespace dlc::rt;
using namespace dlc::rt::ref;

template <const TypeSet &types>
static Status inferComparison(const InferContext &context,
                              std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, types));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  TensorType type = context.operand(0).type;
  DLC_RETURN_IF_ERROR(broadcastInto(type, context.operand(1).type));
  type.type = DLC_BOOL;
  return addResult(results, std::move(type));
}

template <typename Function>
static Status computeComparison(ComputeContext &context) {
  return dispatchWide(context.input(0).type, [&](auto wide) {
    using T = decltype(wide);
    mapElements<T, uint64_t, 2>(context, Function());
    return Status::ok();
  });
}

std::span<const Operation> ref::comparisonOperations() {
  static constexpr Operation operations[] = {
      {"equal", inferComparison<anyType>, computeComparison<std::equal_to<>>},
      {"greater", inferComparison<numericTypes>,
       computeComparison<std::greater<>>},
      {"greater_equal", inferComparison<numericTypes>,
       computeComparison<std::greater_equal<>>},
      {"less", inferComparison<numericTypes>, computeComparison<std::less<>>},
      {"less_equal", inferComparison<numericTypes>,
       computeComparison<std::less_equal<>>},
  };
  return operations;
}
