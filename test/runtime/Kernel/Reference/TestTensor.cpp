// SPDX-License-Identifier: Apache-2.0

#include "TestTensor.h"

#include "dlc/runtime/Base/Half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;
using namespace dlc::rt::ref::test;

template <typename T, typename From>
static void put(std::vector<unsigned char> &bytes, From value) {
  T stored = static_cast<T>(value);
  const auto *raw = reinterpret_cast<const unsigned char *>(&stored);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

template <typename From>
static void putAs(DataType type, std::vector<unsigned char> &bytes,
                  From value) {
  switch (type) {
  case DLC_I8:
    return put<int8_t>(bytes, value);
  case DLC_I16:
    return put<int16_t>(bytes, value);
  case DLC_I32:
    return put<int32_t>(bytes, value);
  case DLC_I64:
    return put<int64_t>(bytes, value);
  case DLC_BOOL:
  case DLC_U8:
    return put<uint8_t>(bytes, value);
  case DLC_U16:
    return put<uint16_t>(bytes, value);
  case DLC_U32:
    return put<uint32_t>(bytes, value);
  case DLC_U64:
    return put<uint64_t>(bytes, value);
  case DLC_F16:
    return put<uint16_t>(bytes, halfFromDouble(value));
  case DLC_BF16:
    return put<uint16_t>(bytes, bfloat16FromDouble(value));
  case DLC_F32:
    return put<float>(bytes, value);
  case DLC_F64:
    return put<double>(bytes, value);
  case DLC_INVALID_TYPE:
    break;
  }
}

template <typename T, typename To>
static To get(const unsigned char *bytes, size_t i) {
  T stored;
  std::memcpy(&stored, bytes + i * sizeof(T), sizeof(T));
  return static_cast<To>(stored);
}

template <typename To>
static To getAs(DataType type, const unsigned char *bytes, size_t i) {
  switch (type) {
  case DLC_I8:
    return get<int8_t, To>(bytes, i);
  case DLC_I16:
    return get<int16_t, To>(bytes, i);
  case DLC_I32:
    return get<int32_t, To>(bytes, i);
  case DLC_I64:
    return get<int64_t, To>(bytes, i);
  case DLC_BOOL:
  case DLC_U8:
    return get<uint8_t, To>(bytes, i);
  case DLC_U16:
    return get<uint16_t, To>(bytes, i);
  case DLC_U32:
    return get<uint32_t, To>(bytes, i);
  case DLC_U64:
    return get<uint64_t, To>(bytes, i);
  case DLC_F16:
    return floatFromHalf(get<uint16_t, uint16_t>(bytes, i));
  case DLC_BF16:
    return floatFromBFloat16(get<uint16_t, uint16_t>(bytes, i));
  case DLC_F32:
    return get<float, To>(bytes, i);
  case DLC_F64:
    return get<double, To>(bytes, i);
  case DLC_INVALID_TYPE:
    break;
  }
  return 0;
}

template <typename To> static std::vector<To> getAll(const TestTensor &tensor) {
  std::vector<To> values;
  size_t size = sizeOf(tensor.type);
  for (size_t i = 0; size && i < tensor.bytes.size() / size; ++i)
    values.push_back(getAs<To>(tensor.type, tensor.bytes.data(), i));
  return values;
}

std::vector<double> TestTensor::values() const { return getAll<double>(*this); }

std::vector<int64_t> TestTensor::ints() const { return getAll<int64_t>(*this); }

template <typename From>
static TestTensor build(DataType type, std::vector<int64_t> shape,
                        const std::vector<From> &values) {
  TestTensor result{type, std::move(shape), {}};
  EXPECT_EQ(elementCount(result.shape), static_cast<int64_t>(values.size()));
  for (From value : values)
    putAs(type, result.bytes, value);
  return result;
}

TestTensor test::tensor(DataType type, std::vector<int64_t> shape,
                        const std::vector<double> &values) {
  return build(type, std::move(shape), values);
}

TestTensor test::intTensor(DataType type, std::vector<int64_t> shape,
                           const std::vector<int64_t> &values) {
  return build(type, std::move(shape), values);
}

Attributes test::attributes(std::initializer_list<Attribute> entries) {
  Attributes result;
  for (const Attribute &entry : entries)
    result.set(entry.name, entry.value);
  return result;
}

static TestTensor copyOf(const OwnedTensor &tensor) {
  TensorView view = tensor.view();
  const auto *bytes = view.as<unsigned char>();
  return {view.type,
          {view.shape.begin(), view.shape.end()},
          {bytes, bytes + view.bytes()}};
}

Outcome test::run(std::string_view name, std::vector<TestTensor> inputs,
                  const Attributes &attributes, size_t resultCount) {
  Outcome outcome;
  const Operation *operation = lookup(name);
  if (!operation) {
    outcome.error = "no operation " + std::string(name);
    return outcome;
  }
  std::vector<TensorView> views;
  for (TestTensor &input : inputs)
    views.push_back(input.view());
  std::vector<OwnedTensor> results;
  Status status = evaluate(*operation, views, attributes, resultCount, results);
  outcome.error = status.message();
  for (const OwnedTensor &result : results)
    outcome.results.push_back(copyOf(result));
  return outcome;
}

static bool isClose(double actual, double expected, double tolerance) {
  if (std::isnan(expected))
    return std::isnan(actual);
  if (std::isinf(expected))
    return actual == expected;
  double error = std::fabs(actual - expected);
  return error <= tolerance * std::fmax(1, std::fabs(expected));
}

void test::expectEqual(const TestTensor &actual, const TestTensor &expected,
                       double tolerance) {
  EXPECT_EQ(nameOf(actual.type), nameOf(expected.type));
  EXPECT_EQ(actual.shape, expected.shape);
  if (!isFloat(expected.type)) {
    EXPECT_EQ(actual.ints(), expected.ints());
    return;
  }
  std::vector<double> found = actual.values(), wanted = expected.values();
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(isClose(found[i], wanted[i], tolerance))
        << "element " << i << ": expected " << wanted[i] << ", got "
        << found[i];
}

void test::expectResult(std::string_view name, std::vector<TestTensor> inputs,
                        const Attributes &attributes,
                        const TestTensor &expected, double tolerance) {
  SCOPED_TRACE(std::string(name));
  Outcome outcome = run(name, std::move(inputs), attributes);
  ASSERT_EQ(outcome.error, "");
  ASSERT_FALSE(outcome.results.empty());
  expectEqual(outcome.results[0], expected, tolerance);
}

void test::expectFailure(std::string_view name, std::vector<TestTensor> inputs,
                         const Attributes &attributes,
                         std::string_view fragment) {
  Outcome outcome = run(name, std::move(inputs), attributes);
  EXPECT_NE(outcome.error.find(fragment), std::string::npos)
      << name << ": expected a failure with \"" << fragment << "\", got \""
      << outcome.error << "\"";
}

std::string test::inferred(std::string_view name, std::vector<Operand> operands,
                           const Attributes &attributes, size_t resultCount) {
  const Operation *operation = lookup(name);
  if (!operation)
    return "error: no operation " + std::string(name);
  std::vector<TensorType> types;
  InferContext context(operands, attributes, resultCount);
  Status status = operation->infer(context, types);
  if (!status.isOk())
    return "error: " + status.message();
  std::string text;
  for (const TensorType &type : types)
    text += (text.empty() ? "" : ", ") + toString(type);
  return text;
}

Operand test::typed(DataType type, std::vector<int64_t> shape) {
  return {{type, std::move(shape), true}, nullptr};
}

Operand test::unranked(DataType type) { return {{type, {}, false}, nullptr}; }

Operand test::known(TestTensor &tensor) {
  return {{tensor.type, tensor.shape, true}, tensor.bytes.data()};
}
