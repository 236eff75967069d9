// SPDX-License-Identifier: Apache-2.0
//
// Tests of operations as text: tensors go in as literals and come out as
// "2x3xf32 1 2 3 4 5 6", failures as "error: message".

#ifndef DLC_TEST_RUNTIME_KERNEL_REFERENCE_TESTTEXT_H
#define DLC_TEST_RUNTIME_KERNEL_REFERENCE_TESTTEXT_H

#include "TestTensor.h"

namespace dlc::rt::ref::test {

using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;
using Attrs = std::vector<Attribute>;

/// An operand: a tensor, or a type without a known value.
struct Arg {
  Arg(TestTensor tensor)
      : type{tensor.type, tensor.shape}, tensor(std::move(tensor)),
        isKnown(true) {}
  Arg(TensorType type) : type(std::move(type)) {}

  TensorType type;
  TestTensor tensor;
  bool isKnown = false;
};

/// A vector and a scalar of i64.
inline Arg ints(Ints values) {
  int64_t count = static_cast<int64_t>(values.size());
  return i64({count}, std::move(values));
}
inline Arg scalar(int64_t value) { return i64({}, {value}); }
/// An absent operand.
inline Arg none() { return TestTensor(); }
/// An operand of that type (-1: unknown dimension) without a known value.
inline Arg unknown(DataType type, Ints shape) {
  return TensorType{type, std::move(shape)};
}
inline Arg anyRank(DataType type) { return TensorType{type, {}, false}; }
/// 1, 2, 3, ... in row-major order.
Arg iota(DataType type, Ints shape);

/// Runs the operation and prints the results, separated by "; ". Floats are
/// printed with `digits` significant digits.
std::string evaluated(std::string_view name, std::vector<Arg> args,
                      const Attrs &attrs = {}, size_t resultCount = 1,
                      int digits = 5);

/// Asks the shape rule and prints the result types likewise.
std::string shapesOf(std::string_view name, std::vector<Arg> args,
                     const Attrs &attrs = {}, size_t resultCount = 1);

/// Runs the computation alone into results of the given types: what happens
/// when a program was planned with other shapes than the values then ask for.
std::string computed(std::string_view name, std::vector<Arg> args,
                     const Attrs &attrs, const std::vector<TensorType> &types);

} // namespace dlc::rt::ref::test

#endif // DLC_TEST_RUNTIME_KERNEL_REFERENCE_TESTTEXT_H
