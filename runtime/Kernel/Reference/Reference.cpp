// SPDX-License-Identifier: Apache-2.0
//
// The table of all operations, and the contexts they work in.

#include "dlc/runtime/Kernel/Reference/Reference.h"

#include "Families.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using Family = std::span<const Operation> (*)();

// One line each, so that changes merge.
// clang-format off
static constexpr Family families[] = {
    activationOperations,
    binaryOperations,
    comparisonOperations,
    conversionOperations,
    convolutionOperations,
    convolutionTransposeOperations,
    deformableConvolutionOperations,
    detectionOperations,
    einsumOperations,
    generateOperations,
    indexingOperations,
    matmulOperations,
    matrixOperations,
    movementOperations,
    normalizationOperations,
    poolingOperations,
    quantizationOperations,
    rearrangeOperations,
    recurrentOperations,
    reductionOperations,
    regionPoolingOperations,
    resizeOperations,
    scanOperations,
    scatterOperations,
    selectOperations,
    signalOperations,
    spatialOperations,
    ternaryOperations,
    unaryOperations,
    unpoolingOperations,
    vectorizerOperations,
    viewOperations,
};
// clang-format on

static bool isBefore(const Operation &a, const Operation &b) {
  return a.name < b.name;
}

static std::vector<Operation> gatherOperations() {
  std::vector<Operation> all;
  for (Family family : families) {
    std::span<const Operation> members = family();
    all.insert(all.end(), members.begin(), members.end());
  }
  std::sort(all.begin(), all.end(), isBefore);
  return all;
}

std::span<const Operation> ref::operations() {
  // Never destroyed: arrays of static lifetime may still be computed with while
  // the process ends.
  static const auto *const table =
      new std::vector<Operation>(gatherOperations());
  return *table;
}

const Operation *ref::lookup(std::string_view name) {
  std::span<const Operation> table = operations();
  auto it = std::lower_bound(table.begin(), table.end(),
                             Operation{name, nullptr, nullptr}, isBefore);
  return it != table.end() && it->name == name ? &*it : nullptr;
}

Status Operation::run(ComputeContext &context) const {
  bool isEmpty = !allocatesResults;
  for (size_t i = 0; isEmpty && i != context.outputCount(); ++i)
    isEmpty = std::ranges::count(context.output(i).shape, 0) > 0;
  return isEmpty ? Status::ok() : compute(context);
}

//===----------------------------------------------------------------------===//
// The contexts
//===----------------------------------------------------------------------===//

static std::vector<int64_t> readInts(DataType type, const void *data,
                                     int64_t count) {
  std::vector<int64_t> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = type == DLC_I64 ? static_cast<const int64_t *>(data)[i]
                                : static_cast<const int32_t *>(data)[i];
  return values;
}

const Operand &InferContext::operand(size_t index) const {
  static const Operand absent;
  return index < operands.size() ? operands[index] : absent;
}

std::optional<std::vector<int64_t>> InferContext::intsOf(size_t index) const {
  const auto &[type, data] = operand(index);
  bool isInt = type.type == DLC_I64 || type.type == DLC_I32;
  if (!isInt || !type.isStatic() || type.rank() > 1)
    return std::nullopt;
  int64_t count = type.rank() == 0 ? 1 : type.shape[0];
  if (!data && count > 0)
    return std::nullopt; // the value of an empty vector is always known
  return readInts(type.type, data, count);
}

const TensorView &ComputeContext::input(size_t index) const {
  static const TensorView absent;
  return index < inputViews.size() ? inputViews[index] : absent;
}

Status ComputeContext::allocate(size_t index, std::span<const int64_t> shape) {
  if (!elementCount(shape))
    return makeError(StatusCode::InvalidArgument,
                     "result %zu: the number of elements overflows", index);
  void *data = allocator ? (*allocator)(index, shape) : nullptr;
  if (!data)
    return makeError(StatusCode::OutOfMemory, "no memory for result %zu",
                     index);
  outputViews[index].shape = shape;
  outputViews[index].data = data;
  return Status::ok();
}

std::vector<int64_t> ComputeContext::intsOf(size_t index) const {
  const TensorView &view = input(index);
  if (view.type != DLC_I64 && view.type != DLC_I32)
    return {};
  return readInts(view.type, view.data, view.size());
}
