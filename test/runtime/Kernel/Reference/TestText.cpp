// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <cstdio>

using namespace dlc::rt;
using namespace dlc::rt::ref;
using namespace dlc::rt::ref::test;

Arg test::iota(DataType type, Ints shape) {
  Floats values(elementCount(shape).value_or(0));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(i + 1);
  return tensor(type, std::move(shape), values);
}

static std::string print(const TestTensor &tensor, int digits) {
  std::string text = toString(TensorType{tensor.type, tensor.shape});
  if (!isFloat(tensor.type)) {
    for (int64_t value : tensor.ints())
      text += " " + std::to_string(value);
    return text;
  }
  for (double value : tensor.values()) {
    char number[40];
    std::snprintf(number, sizeof(number), " %.*g", digits, value);
    text += number;
  }
  return text;
}

template <typename T, typename F>
static std::string join(const std::vector<T> &items, F &&printed) {
  std::string text;
  for (const T &item : items)
    text += (text.empty() ? "" : "; ") + printed(item);
  return text;
}

static Attributes attributesOf(const Attrs &attrs) {
  Attributes attributes;
  for (const Attribute &attr : attrs)
    attributes.set(attr.name, attr.value);
  return attributes;
}

std::string test::evaluated(std::string_view name, std::vector<Arg> args,
                            const Attrs &attrs, size_t resultCount,
                            int digits) {
  std::vector<TestTensor> inputs;
  for (Arg &arg : args)
    inputs.push_back(std::move(arg.tensor));
  Outcome outcome =
      run(name, std::move(inputs), attributesOf(attrs), resultCount);
  if (!outcome.isOk())
    return "error: " + outcome.error;
  return join(outcome.results,
              [&](const TestTensor &result) { return print(result, digits); });
}

std::string test::shapesOf(std::string_view name, std::vector<Arg> args,
                           const Attrs &attrs, size_t resultCount) {
  const Operation *operation = lookup(name);
  if (!operation)
    return "no operation " + std::string(name);
  std::vector<Operand> operands;
  for (Arg &arg : args)
    operands.push_back(
        {arg.type, arg.isKnown ? arg.tensor.bytes.data() : nullptr});
  Attributes attributes = attributesOf(attrs);
  InferContext context(operands, attributes, resultCount);
  std::vector<TensorType> types;
  Status status = operation->infer(context, types);
  if (!status.isOk())
    return "error: " + status.message();
  return join(types, [](const TensorType &type) { return toString(type); });
}

std::string test::computed(std::string_view name, std::vector<Arg> args,
                           const Attrs &attrs,
                           const std::vector<TensorType> &types) {
  const Operation *operation = lookup(name);
  if (!operation)
    return "no operation " + std::string(name);
  std::vector<TestTensor> results;
  for (const TensorType &type : types) {
    size_t bytes = elementCount(type.shape).value_or(0) * sizeOf(type.type);
    results.push_back(
        {type.type, type.shape, std::vector<unsigned char>(bytes)});
  }
  std::vector<TensorView> inputs, outputs;
  for (Arg &arg : args)
    inputs.push_back(arg.tensor.view());
  for (TestTensor &result : results)
    outputs.push_back(result.view());
  Attributes attributes = attributesOf(attrs);
  ComputeContext context(inputs, outputs, attributes);
  Status status = operation->run(context);
  if (!status.isOk())
    return "error: " + status.message();
  return join(results,
              [](const TestTensor &result) { return print(result, 5); });
}
