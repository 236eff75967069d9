// SPDX-License-Identifier: Apache-2.0
//
// Stands for libcublasLt.so.13 on the fake driver: products as they are
// defined, of column-major matrices, done when the stream comes to them. Strict
// about what NVIDIA's library would refuse or compute wrongly: sizes of
// attributes, layouts that do not fit each other, memory that is not there. The
// driver's fakeCudaFail() makes its functions fail, too.

#include "FakeFloats.h"

#include "test/runtime/Device/CUDA/FakeDriver/FakeDriver.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

using namespace dlc::rt::test;

namespace {

constexpr int success = 0, notInitialized = 1, invalidValue = 7,
              notSupported = 15;
constexpr int realF32 = 0, realF16 = 2; // Else bfloat16.

struct Context {
  int unused = 0;
};
struct Operation {
  int compute, scale;
  int32_t transA = 0, transB = 0;
  uint32_t epilogue = 1;
  const void *bias = nullptr;
};
struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batch = 1;
  int64_t stride = 0;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};
};
struct Choice {
  uint64_t algorithm[8];
  size_t workspaceBytes;
  int code;
  float waves;
  int reserved[4];
};

/// What marks an algorithm that we gave.
constexpr uint64_t mark = 0x444c43;

bool readsAttribute(void *target, size_t wanted, const void *value,
                    size_t bytes) {
  if (!value || bytes != wanted)
    return false;
  std::memcpy(target, value, bytes);
  return true;
}

Real realOf(int type) {
  return type == realF32 ? Real::F32 : type == realF16 ? Real::F16 : Real::BF16;
}

uint32_t roundedBits(float value, unsigned dropped) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return bits | 0x400000;
  const uint32_t half = (1u << (dropped - 1)) - 1;
  return (bits + half + (bits >> dropped & 1)) & ~((1u << dropped) - 1);
}

/// What floats are rounded to before they are multiplied.
float rounded(int compute, float value) {
  const unsigned dropped = compute == 77 ? 13 : compute == 75 ? 16 : 0;
  if (!dropped)
    return value;
  uint32_t bits = roundedBits(value, dropped);
  std::memcpy(&value, &bits, 4);
  return value;
}

struct Matrix {
  Layout layout;
  unsigned long long address;
  uint8_t *memory = nullptr;

  uint64_t bytes() const {
    uint64_t elements = uint64_t(layout.leading) * (layout.columns - 1) +
                        layout.rows +
                        uint64_t(layout.stride) * uint64_t(layout.batch - 1);
    return elements * bytesOf(realOf(layout.type));
  }
  bool find() {
    memory = static_cast<uint8_t *>(fakeCudaMemory(address, bytes()));
    return memory;
  }
  bool overlaps(const Matrix &other) const {
    return address < other.address + other.bytes() &&
           other.address < address + bytes();
  }
  uint8_t *at(int64_t batch, uint64_t row, uint64_t column) const {
    return memory + (uint64_t(batch * layout.stride) +
                     column * uint64_t(layout.leading) + row) *
                        bytesOf(realOf(layout.type));
  }
  float value(int64_t batch, uint64_t row, uint64_t column) const {
    return loadReal(realOf(layout.type), at(batch, row, column));
  }
};

struct Product {
  Operation operation;
  Matrix a, b, c, d;
  float alpha, beta;
  unsigned long long workspace;
  size_t workspaceBytes;

  int run() {
    constexpr int illegalAddress = 700;
    // C is not read where it does not count.
    if (!a.find() || !b.find() || !d.find() || (beta != 0 && !c.find()) ||
        !fakeCudaMemory(workspace, workspaceBytes))
      return illegalAddress;
    // Tiles are written while others are still read; C alone may be D.
    if (d.overlaps(a) || d.overlaps(b) ||
        (beta != 0 && d.overlaps(c) && d.address != c.address))
      return illegalAddress;
    const uint8_t *bias = nullptr;
    if (operation.epilogue & 4) {
      bias = static_cast<const uint8_t *>(
          fakeCudaMemory(reinterpret_cast<uintptr_t>(operation.bias),
                         d.layout.rows * bytesOf(realOf(d.layout.type))));
      if (!bias)
        return illegalAddress;
    }
    // Content of the workspace is anybody's guess afterwards.
    std::memset(fakeCudaMemory(workspace, workspaceBytes), 0xa5,
                workspaceBytes);
    const uint64_t terms = operation.transA ? a.layout.rows : a.layout.columns;
    for (int64_t batch = 0; batch != d.layout.batch; ++batch)
      for (uint64_t column = 0; column != d.layout.columns; ++column)
        for (uint64_t row = 0; row != d.layout.rows; ++row) {
          double sum = 0;
          for (uint64_t k = 0; k != terms; ++k)
            sum += double(rounded(operation.compute,
                                  operation.transA ? a.value(batch, k, row)
                                                   : a.value(batch, row, k))) *
                   rounded(operation.compute, operation.transB
                                                  ? b.value(batch, column, k)
                                                  : b.value(batch, k, column));
          double value = alpha * sum;
          if (beta != 0)
            value += beta * c.value(batch, row, column);
          if (bias)
            value += loadReal(realOf(d.layout.type),
                              bias + row * bytesOf(realOf(d.layout.type)));
          if (operation.epilogue & 2 && operation.epilogue != 1)
            value = value < 0 ? 0 : value;
          if (operation.epilogue & 32)
            value = 0.5 * value *
                    (1 + std::tanh(0.7978845608028654 *
                                   (value + 0.044715 * value * value * value)));
          storeReal(realOf(d.layout.type), d.at(batch, row, column),
                    float(value));
        }
    return 0;
  }
};

/// Whether the layouts are those of one product.
bool fits(const Operation &operation, const Layout &a, const Layout &b,
          const Layout &c, const Layout &d) {
  const uint64_t m = operation.transA ? a.columns : a.rows;
  const uint64_t k = operation.transA ? a.rows : a.columns;
  const uint64_t n = operation.transB ? b.rows : b.columns;
  for (const Layout *layout : {&a, &b, &c, &d})
    if (layout->type != d.type || layout->batch != d.batch ||
        layout->leading < int64_t(layout->rows) || !layout->rows ||
        !layout->columns)
      return false;
  return (operation.transB ? b.columns : b.rows) == k && d.rows == m &&
         d.columns == n && c.rows == m && c.columns == n;
}

} // namespace

#define FAKE(symbol, detail)                                                   \
  if (int code = fakeCudaCall(#symbol, detail))                                \
  return code == 201 ? notInitialized : code

extern "C" {

const char *cublasLtGetStatusString(int code) {
  return code == success ? "success" : "says the fake cuBLASLt";
}
int cublasLtCreate(Context **handle) {
  FAKE(cublasLtCreate, "");
  *handle = new Context;
  fakeCudaCount(1);
  return success;
}
int cublasLtDestroy(Context *handle) {
  FAKE(cublasLtDestroy, "");
  delete handle;
  fakeCudaCount(-1);
  return success;
}

int cublasLtMatmulDescCreate(Operation **operation, int compute, int scale) {
  FAKE(cublasLtMatmulDescCreate, "");
  if ((compute != 68 && compute != 75 && compute != 77) || scale != realF32)
    return notSupported;
  *operation = new Operation{compute, scale};
  fakeCudaCount(1);
  return success;
}
int cublasLtMatmulDescDestroy(Operation *operation) {
  delete operation;
  fakeCudaCount(-1);
  return success;
}
int cublasLtMatmulDescSetAttribute(Operation *operation, int which,
                                   const void *value, size_t bytes) {
  FAKE(cublasLtMatmulDescSetAttribute, "");
  bool isRead =
      which == 3   ? readsAttribute(&operation->transA, 4, value, bytes)
      : which == 4 ? readsAttribute(&operation->transB, 4, value, bytes)
      : which == 7 ? readsAttribute(&operation->epilogue, 4, value, bytes)
                   : which == 8 && readsAttribute(&operation->bias,
                                                  sizeof(void *), value, bytes);
  return isRead ? success : invalidValue;
}

int cublasLtMatrixLayoutCreate(Layout **layout, int type, uint64_t rows,
                               uint64_t columns, int64_t leading) {
  FAKE(cublasLtMatrixLayoutCreate, "");
  *layout = new Layout{type, rows, columns, leading};
  fakeCudaCount(1);
  return success;
}
int cublasLtMatrixLayoutDestroy(Layout *layout) {
  delete layout;
  fakeCudaCount(-1);
  return success;
}
int cublasLtMatrixLayoutSetAttribute(Layout *layout, int which,
                                     const void *value, size_t bytes) {
  FAKE(cublasLtMatrixLayoutSetAttribute, "");
  bool isRead = which == 5 ? readsAttribute(&layout->batch, 4, value, bytes)
                           : which == 6 && readsAttribute(&layout->stride, 8,
                                                          value, bytes);
  return isRead ? success : invalidValue;
}

int cublasLtMatmulPreferenceCreate(Preference **preference) {
  FAKE(cublasLtMatmulPreferenceCreate, "");
  *preference = new Preference;
  fakeCudaCount(1);
  return success;
}
int cublasLtMatmulPreferenceDestroy(Preference *preference) {
  delete preference;
  fakeCudaCount(-1);
  return success;
}
int cublasLtMatmulPreferenceSetAttribute(Preference *preference, int which,
                                         const void *value, size_t bytes) {
  FAKE(cublasLtMatmulPreferenceSetAttribute, "");
  bool isRead = which == 1
                    ? readsAttribute(&preference->workspace, 8, value, bytes)
                    : which >= 5 && which <= 8 &&
                          readsAttribute(&preference->alignment[which - 5], 4,
                                         value, bytes);
  return isRead ? success : invalidValue;
}

int cublasLtMatmulAlgoGetHeuristic(Context *handle, Operation *operation,
                                   Layout *a, Layout *b, Layout *c, Layout *d,
                                   Preference *preference, int wanted,
                                   Choice *choices, int *found) {
  FAKE(cublasLtMatmulAlgoGetHeuristic, "");
  if (!handle || wanted < 1 || !fits(*operation, *a, *b, *c, *d))
    return invalidValue;
  for (uint32_t alignment : preference->alignment)
    if (alignment > 64) // More than our values have.
      return invalidValue;
  if (operation->epilogue & 4 && !operation->bias)
    return invalidValue;
  choices[0] = {{mark}, preference->workspace / 2, success, 1, {}};
  *found = 1;
  return success;
}

int cublasLtMatmul(Context *handle, Operation *operation, const float *alpha,
                   const void *a, Layout *aLayout, const void *b,
                   Layout *bLayout, const float *beta, const void *c,
                   Layout *cLayout, void *d, Layout *dLayout,
                   const uint64_t *algorithm, void *workspace,
                   size_t workspaceBytes, void *stream) {
  FAKE(cublasLtMatmul,
       (std::to_string(dLayout->columns) + "x" + std::to_string(dLayout->rows))
           .c_str());
  if (!handle || !algorithm || *algorithm != mark ||
      !fits(*operation, *aLayout, *bLayout, *cLayout, *dLayout) ||
      reinterpret_cast<uintptr_t>(workspace) % 256)
    return invalidValue;
  auto address = [](const void *pointer) {
    return static_cast<unsigned long long>(
        reinterpret_cast<uintptr_t>(pointer));
  };
  Product product{*operation,
                  {*aLayout, address(a)},
                  {*bLayout, address(b)},
                  {*cLayout, address(c)},
                  {*dLayout, address(d)},
                  *alpha,
                  *beta,
                  address(workspace),
                  workspaceBytes};
  return fakeCudaEnqueue(stream, [product]() mutable { return product.run(); })
             ? invalidValue
             : success;
}

} // extern "C"
