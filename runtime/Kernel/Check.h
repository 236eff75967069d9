// SPDX-License-Identifier: Apache-2.0
//
// Checks of calls that all libraries share. Nothing is taken on trust: calls
// come from files.

#ifndef DLC_LIB_RUNTIME_KERNEL_CHECK_H
#define DLC_LIB_RUNTIME_KERNEL_CHECK_H

#include "dlc/runtime/Kernel/Library.h"

#include <cstdint>
#include <initializer_list>

namespace dlc::rt {

/// Of numbers that are not negative; INT64_MAX where it is more.
inline int64_t saturatedProduct(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (int64_t factor : factors)
    if (__builtin_mul_overflow(product, factor, &product))
      product = INT64_MAX;
  return product;
}

enum class AttributeKind { Int, Float, String, Ints };

struct AttributeRule {
  std::string_view name;
  AttributeKind kind;
};

/// Each attribute of the call is known and of its kind. The attributes of the
/// epilogue are known without a rule.
Status checkAttributes(const Attributes &attributes,
                       std::initializer_list<AttributeRule> rules);

/// A static tensor of `type` with at most 2^45 elements; `role` names it.
Status checkTensor(const TensorType &tensor, DataType type, const char *role,
                   int64_t minRank, int64_t maxRank);

bool hasBias(const KernelCall &call);
bool hasResidual(const KernelCall &call);

/// bias [channels] and residual [c's shape] where present.
Status checkBiasAndResidual(const KernelCall &call, int64_t channels);

/// An attribute that is 0 or 1.
Status readFlag(const Attributes &attributes, std::string_view name,
                bool &value);

/// The call has that many results, and behind them a workspace of at least so
/// many bytes when that is any at all.
Status checkWorkspace(const KernelCall &call, size_t bytes, size_t results = 1);

/// Each operand once.
uint64_t bytesOf(const KernelCall &call);

} // namespace dlc::rt

#endif // DLC_LIB_RUNTIME_KERNEL_CHECK_H
