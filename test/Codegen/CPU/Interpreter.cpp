// SPDX-License-Identifier: Apache-2.0

#include "Interpreter.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/runtime/Kernel/Reference/Reference.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using namespace mlir;
using namespace dlc;
using namespace dlc::test;

namespace {

/// Uniform words from a counter: the same on every run.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
};

double readReal(const Tensor &tensor, size_t i) {
  const char *data = tensor.bytes.data();
  auto as = [&]<typename T>(T) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
  };
  switch (tensor.type.type) {
  case DLC_F64:
    return as(double());
  case DLC_F32:
    return as(float());
  case DLC_F16:
    return llvm::APFloat(llvm::APFloat::IEEEhalf(),
                         llvm::APInt(16, as(uint16_t())))
        .convertToDouble();
  case DLC_BF16:
    return llvm::APFloat(llvm::APFloat::BFloat(),
                         llvm::APInt(16, as(uint16_t())))
        .convertToDouble();
  default:
    return 0;
  }
}

void writeReal(Tensor &tensor, size_t i, double value) {
  auto put = [&](auto number) {
    std::memcpy(tensor.bytes.data() + i * sizeof(number), &number,
                sizeof(number));
  };
  bool lossy;
  llvm::APFloat number(value);
  switch (tensor.type.type) {
  case DLC_F64:
    return put(value);
  case DLC_F32:
    return put(static_cast<float>(value));
  case DLC_F16:
  case DLC_BF16:
    number.convert(tensor.type.type == DLC_F16 ? llvm::APFloat::IEEEhalf()
                                               : llvm::APFloat::BFloat(),
                   llvm::APFloat::rmNearestTiesToEven, &lossy);
    return put(static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue()));
  default:
    return;
  }
}

/// Numbers of a few units around zero; some NaN and infinities for floats
/// when `special`; all bit patterns for integers.
Tensor makeTensor(Type type, uint64_t seed, bool special) {
  Tensor tensor{graph::toTensorType(type), {}};
  size_t count = *rt::elementCount(tensor.type.shape);
  tensor.bytes.resize(count * rt::sizeOf(tensor.type.type));
  Random random{seed};
  bool isReal = rt::isFloat(tensor.type.type);
  for (size_t i = 0; i < count; ++i) {
    if (isReal) {
      double value = random.uniform() * 6 - 3;
      uint64_t pick = special ? random.next() % 23 : 99;
      if (pick < 3)
        value = pick == 0   ? std::numeric_limits<double>::quiet_NaN()
                : pick == 1 ? std::numeric_limits<double>::infinity()
                            : -std::numeric_limits<double>::infinity();
      if (pick == 3)
        value = 0;
      writeReal(tensor, i, value);
      continue;
    }
    uint64_t word = random.next();
    if (tensor.type.type == DLC_BOOL)
      word &= 1;
    else if (word % 5 == 0)
      word = word / 5 % 3;
    std::memcpy(tensor.bytes.data() + i * rt::sizeOf(tensor.type.type), &word,
                rt::sizeOf(tensor.type.type));
  }
  return tensor;
}

/// Indices within `extents`, one for all or one per place along the last
/// dimension.
Tensor makeIndices(Type type, uint64_t seed, ArrayRef<int64_t> extents) {
  Tensor tensor{graph::toTensorType(type), {}};
  size_t count = *rt::elementCount(tensor.type.shape);
  size_t size = rt::sizeOf(tensor.type.type);
  tensor.bytes.resize(count * size);
  Random random{seed};
  for (size_t i = 0; i < count; ++i) {
    uint64_t index = random.next() % extents[i % extents.size()];
    std::memcpy(tensor.bytes.data() + i * size, &index, size);
  }
  return tensor;
}

} // namespace

Tensor dlc::test::makeArgument(BlockArgument argument, bool special) {
  uint64_t seed = argument.getArgNumber() * 77 + 5;
  for (Operation *user : argument.getUsers())
    if (auto indexed = dyn_cast<graph::IndexedOpInterface>(user))
      if (indexed.getIndicesOperand().get() == argument)
        return makeIndices(argument.getType(), seed,
                           *indexed.getIndexedExtents());
  return makeTensor(argument.getType(), seed, special);
}

std::vector<Tensor> dlc::test::interpret(Block &body,
                                         std::vector<Tensor> &inputs) {
  std::map<void *, Tensor> values;
  for (BlockArgument argument : body.getArguments())
    values[argument.getAsOpaquePointer()] = inputs[argument.getArgNumber()];
  for (Operation &op : body.without_terminator()) {
    if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
      auto raw = graph::RawElements::get(constant.getValue());
      values[constant.getResult().getAsOpaquePointer()] = {
          graph::toTensorType(constant.getType()),
          std::vector<char>(raw.data().begin(), raw.data().end())};
      continue;
    }
    if (isa<graph::NoneOp>(op)) {
      values[op.getResult(0).getAsOpaquePointer()] = {};
      continue;
    }
    std::vector<rt::TensorView> operands, results;
    for (Value operand : op.getOperands())
      operands.push_back(values[operand.getAsOpaquePointer()].view());
    for (Value result : op.getResults()) {
      Tensor &tensor = values[result.getAsOpaquePointer()];
      tensor.type = graph::toTensorType(result.getType());
      tensor.bytes.resize(*rt::elementCount(tensor.type.shape) *
                          rt::sizeOf(tensor.type.type));
      results.push_back(tensor.view());
    }
    rt::Attributes attributes = graph::toAttributes(op.getAttrDictionary());
    rt::ref::ComputeContext context(operands, results, attributes);
    const auto *definition = rt::ref::lookup(op.getName().stripDialect());
    EXPECT_TRUE(definition) << op.getName().getStringRef().str();
    rt::Status status = definition->run(context);
    EXPECT_TRUE(status.isOk()) << status.message();
  }
  std::vector<Tensor> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(values[result.getAsOpaquePointer()]);
  return results;
}

static double toleranceOf(rt::DataType type) {
  return type == DLC_BF16  ? 2e-2
         : type == DLC_F16 ? 3e-3
         : type == DLC_F64 ? 1e-12
                           : 4e-6;
}

void dlc::test::compare(const std::string &name, Tensor &actual,
                        Tensor &expected, bool areSums) {
  ASSERT_EQ(actual.bytes.size(), expected.bytes.size());
  if (!rt::isFloat(expected.type.type)) {
    EXPECT_EQ(actual.bytes, expected.bytes) << name;
    return;
  }
  double tolerance = toleranceOf(expected.type.type);
  size_t count = *rt::elementCount(expected.type.shape);
  double scale = 1;
  for (size_t i = 0; areSums && i < count; ++i)
    if (double e = readReal(expected, i); std::isfinite(e))
      scale = std::max(scale, std::abs(e));
  for (size_t i = 0; i < count; ++i) {
    double a = readReal(actual, i), e = readReal(expected, i);
    if (std::isnan(e) ? std::isnan(a) : a == e)
      continue;
    if (!(std::abs(a - e) <= tolerance * std::max(scale, std::abs(e)))) {
      ADD_FAILURE() << name << " at " << i << ": expected " << e << ", got "
                    << a;
      return;
    }
  }
}
