// SPDX-License-Identifier: Apache-2.0
//
// What the tests of cpu.matmul share: cases, their calls, and the definition of
// a product in double.

#ifndef DLC_TEST_RUNTIME_KERNEL_CPU_MATMULTESTING_H
#define DLC_TEST_RUNTIME_KERNEL_CPU_MATMULTESTING_H

#include "KernelTesting.h"

namespace dlc::rt::cpu::testing {

struct MatmulCase {
  Shape aBatch, bBatch;
  int64_t m, n, k;
  bool transA = false, transB = false, packed = false;
  bool bias = false, residual = false;
  std::string activation = {};
  int64_t parts = 0;
};

inline std::string textOf(const MatmulCase &c) {
  auto dims = [](const Shape &shape) {
    std::string text;
    for (int64_t dim : shape)
      text += std::to_string(dim) + ".";
    return text;
  };
  return dims(c.aBatch) + "|" + dims(c.bBatch) + " " + std::to_string(c.m) +
         "x" + std::to_string(c.n) + "x" + std::to_string(c.k) +
         (c.transA ? " trans_a" : "") + (c.transB ? " trans_b" : "") +
         (c.packed ? " packed" : "") + (c.bias ? " bias" : "") +
         (c.residual ? " residual " : " ") + c.activation +
         (c.parts ? " in parts" : "");
}

inline Shape broadcast(const Shape &a, const Shape &b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    auto dim = [&](const Shape &shape) {
      size_t skipped = result.size() - shape.size();
      return i < skipped ? 1 : shape[i - skipped];
    };
    result[i] = dim(a) == 1 ? dim(b) : dim(a);
  }
  return result;
}

inline Shape with(Shape shape, int64_t rows, int64_t columns, bool swapped) {
  shape.push_back(swapped ? columns : rows);
  shape.push_back(swapped ? rows : columns);
  return shape;
}

inline Call makeCall(const MatmulCase &c) {
  Random random(c.m * 31 + c.n * 7 + c.k);
  Call call;
  call.output = f32(with(broadcast(c.aBatch, c.bBatch), c.m, c.n, false));
  call.addInput(f32(with(c.aBatch, c.m, c.k, c.transA)), random);
  // Sums near one: the slope of an activation must not magnify their errors
  // over its largest value.
  for (int64_t i = 0; i < call.values[0].size(); ++i)
    call.values[0].data()[i] /= std::sqrt(static_cast<float>(c.k));
  call.addInput(f32(with(c.bBatch, c.k, c.n, c.transB)), random);
  if (c.bias || c.residual)
    call.addInput(c.bias ? f32({c.n}) : TensorType{}, random);
  if (c.residual)
    call.addInput(call.output, random);
  call.attributes.set("trans_a", int64_t{c.transA});
  call.attributes.set("trans_b", int64_t{c.transB});
  call.attributes.set("bf16_parts", c.parts);
  setActivation(call.attributes, c.activation);
  return call;
}

/// Batch `index` of an operand, in matrices.
inline int64_t matrixOf(const Shape &batch, const Shape &whole, int64_t index) {
  int64_t matrix = 0, scale = 1;
  for (size_t i = 0; i < whole.size(); ++i) {
    int64_t position = index % whole[whole.size() - 1 - i];
    index /= whole[whole.size() - 1 - i];
    if (i >= batch.size())
      continue;
    int64_t dim = batch[batch.size() - 1 - i];
    matrix += (dim == 1 ? 0 : position) * scale;
    scale *= dim;
  }
  return matrix;
}

inline std::vector<double> reference(const MatmulCase &c, Call &call) {
  Shape batch = broadcast(c.aBatch, c.bBatch);
  int64_t batches = *elementCount(batch);
  std::vector<double> result;
  for (int64_t index = 0; index < batches; ++index) {
    const float *a =
        call.values[0].data() + matrixOf(c.aBatch, batch, index) * c.m * c.k;
    const float *b =
        call.values[1].data() + matrixOf(c.bBatch, batch, index) * c.k * c.n;
    for (int64_t i = 0; i < c.m; ++i) {
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < c.k; ++l)
          sum += double(a[c.transA ? l * c.m + i : i * c.k + l]) *
                 b[c.transB ? j * c.k + l : l * c.n + j];
        if (c.bias)
          sum += call.values[2].data()[j];
        if (c.residual)
          sum += call.values[3].data()[result.size()];
        result.push_back(activate(sum, call.attributes));
      }
    }
  }
  return result;
}

/// The forms of today and of older artifacts.
inline constexpr int64_t kForms[] = {2, 1};

inline void packB(Call &call, int64_t form = kForms[0]) {
  call.attributes.set("packed_b", form);
  const LibraryEntry *entry = lookupLibraryEntry("cpu.matmul");
  size_t bytes = entry->packedBytes(call.view(), 1);
  GuardedBuffer packed(bytes / sizeof(float));
  entry->pack(call.view(), 1, call.values[1].data(), packed.data());
  ASSERT_TRUE(packed.guardsIntact());
  call.values[1] = std::move(packed);
}

} // namespace dlc::rt::cpu::testing

#endif // DLC_TEST_RUNTIME_KERNEL_CPU_MATMULTESTING_H
