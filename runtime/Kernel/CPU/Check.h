// SPDX-License-Identifier: Apache-2.0
//
// Checks that cpu.matmul and cpu.conv share. Nothing is taken on trust: calls
// come from files.

#ifndef DLC_RUNTIME_KERNEL_CPU_CHECK_H
#define DLC_RUNTIME_KERNEL_CPU_CHECK_H

#include "KernelSet.h"

#include "dlc/runtime/Kernel/Library.h"

#include <initializer_list>

namespace dlc::rt::cpu {

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
/// To a multiple of `step`.
inline int64_t roundUp(int64_t value, int64_t step) {
  return ceilDiv(value, step) * step;
}

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

/// The call has 2 to 4 inputs, of which bias and residual may be absent, and
/// one output; all are static f32 of at most 2^45 elements.
Status checkOperands(const KernelCall &call, int64_t minRank, int64_t maxRank);

bool hasBias(const KernelCall &call);
bool hasResidual(const KernelCall &call);

/// bias [channels] and residual [c's shape] where present.
Status checkBiasAndResidual(const KernelCall &call, int64_t channels);

/// An attribute that is 0 or 1.
Status readFlag(const Attributes &attributes, std::string_view name,
                bool &value);

/// The attribute kBf16Parts.
Status readParts(const Attributes &attributes, int64_t &parts);

Status readEpilogue(const Attributes &attributes, Epilogue &epilogue);

/// The call has that many results, and behind them a workspace of at least so
/// many bytes when that is any at all.
Status checkWorkspace(const KernelCall &call, size_t bytes, size_t results = 1);

/// Each operand once.
uint64_t bytesOf(const KernelCall &call);

/// Of a call whose floats are rounded and whose operand 1 is packed as pairs:
/// machines with instructions for it are twice as fast at least.
void setRounded(const KernelCall &call, KernelCost &cost);

/// Completes the arguments of a call to the five that the kernels take, null
/// where an operand is absent.
struct FiveArguments {
  FiveArguments(const KernelCall &call);
  void fill(void *const *arguments, void **five) const;
  int64_t inputs;
  bool bias, residual;
};

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_CHECK_H
