// SPDX-License-Identifier: Apache-2.0
//
// Parameter operands: shapes, axes, pads and the like, which a shape rule may
// know and a computation always does.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_PARAMETER_H
#define DLC_RUNTIME_KERNEL_REFERENCE_PARAMETER_H

#include "dlc/runtime/Kernel/Reference/Reference.h"

namespace dlc::rt::ref {

/// A list of integers given as an operand.
struct Parameter {
  /// The number of values, or kUnknownDim.
  int64_t length = kUnknownDim;
  std::optional<std::vector<int64_t>> values;
};

/// Reads operand `index`, which must hold i32 or i64 and be a vector, or a
/// scalar, which reads as a vector of one value.
Status readParameter(const InferContext &context, size_t index,
                     Parameter &parameter);

/// Reads operand `index` as one integer, nullopt when it is not known: a
/// scalar or a vector of one value, i32 or i64.
Status readScalar(const InferContext &context, size_t index,
                  std::optional<int64_t> &value);

/// Reads the element type that attribute `name` gives, or `fallback` without
/// the attribute.
Status readType(const Attributes &attributes, std::string_view name,
                DataType fallback, DataType &type);

/// Asks the shape rule once more, now that every value is known, and checks
/// that the outputs have the shapes it gives. A program may have been planned
/// before the values of its parameters were known; this keeps a computation
/// inside the memory of its operands whatever they turn out to be.
Status checkOutputs(ComputeContext &context, InferFunction rule);

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_PARAMETER_H
