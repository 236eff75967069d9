// SPDX-License-Identifier: Apache-2.0
//
// Literal tensors and one-line evaluations for the tests of operations.

#ifndef DLC_TEST_RUNTIME_KERNEL_REFERENCE_TESTTENSOR_H
#define DLC_TEST_RUNTIME_KERNEL_REFERENCE_TESTTENSOR_H

#include "dlc/runtime/Kernel/Reference/Evaluate.h"

#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace dlc::rt::ref::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A tensor with its bytes; of DLC_INVALID_TYPE it stands for an absent one.
struct TestTensor {
  DataType type = DLC_INVALID_TYPE;
  std::vector<int64_t> shape;
  std::vector<unsigned char> bytes;

  TensorView view() {
    return {type, shape, type == DLC_INVALID_TYPE ? nullptr : bytes.data()};
  }
  /// The elements as numbers; exact up to 2^53.
  std::vector<double> values() const;
  std::vector<int64_t> ints() const;
};

/// Each value is converted to `type`; it must be representable for integers.
TestTensor tensor(DataType type, std::vector<int64_t> shape,
                  const std::vector<double> &values);
/// The same from integers, exact for 64-bit types.
TestTensor intTensor(DataType type, std::vector<int64_t> shape,
                     const std::vector<int64_t> &values);

inline TestTensor f32(std::vector<int64_t> shape, std::vector<double> values) {
  return tensor(DLC_F32, std::move(shape), values);
}
inline TestTensor i64(std::vector<int64_t> shape, std::vector<int64_t> values) {
  return intTensor(DLC_I64, std::move(shape), values);
}
inline TestTensor i32(std::vector<int64_t> shape, std::vector<int64_t> values) {
  return intTensor(DLC_I32, std::move(shape), values);
}
inline TestTensor boolean(std::vector<int64_t> shape,
                          std::vector<int64_t> values) {
  return intTensor(DLC_BOOL, std::move(shape), values);
}

Attributes attributes(std::initializer_list<Attribute> entries);

/// What an evaluation gave: results, or the message of its failure.
struct Outcome {
  std::string error; ///< Empty on success.
  std::vector<TestTensor> results;

  bool isOk() const { return error.empty(); }
};

/// Evaluates the operation of that name.
Outcome run(std::string_view name, std::vector<TestTensor> inputs,
            const Attributes &attributes = {}, size_t resultCount = 1);

/// Checks that the first result has the type, the shape and the values of
/// `expected`: bits for integers, and |a - b| <= tolerance * max(1, |b|) for
/// floats (NaN equals NaN).
void expectResult(std::string_view name, std::vector<TestTensor> inputs,
                  const Attributes &attributes, const TestTensor &expected,
                  double tolerance = 0);
/// The same for one tensor.
void expectEqual(const TestTensor &actual, const TestTensor &expected,
                 double tolerance = 0);

/// Checks that the evaluation fails and that the message holds `fragment`.
void expectFailure(std::string_view name, std::vector<TestTensor> inputs,
                   const Attributes &attributes, std::string_view fragment);

/// Runs the shape rule alone; "2x?xf32, *xi64", or "error: ...". Operands
/// without data are of unknown value.
std::string inferred(std::string_view name, std::vector<Operand> operands,
                     const Attributes &attributes = {}, size_t resultCount = 1);
/// An operand of unknown value.
Operand typed(DataType type, std::vector<int64_t> shape);
Operand unranked(DataType type);
/// An operand of known value; borrows `tensor`.
Operand known(TestTensor &tensor);

} // namespace dlc::rt::ref::test

#endif // DLC_TEST_RUNTIME_KERNEL_REFERENCE_TESTTENSOR_H
