// SPDX-License-Identifier: Apache-2.0
//
// What the fake cuDNN is given: descriptors, and the work that a graph of them
// is.

#ifndef DLC_TEST_RUNTIME_KERNEL_CUDA_FAKECUDNNGRAPH_H
#define DLC_TEST_RUNTIME_KERNEL_CUDA_FAKECUDNNGRAPH_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlc::rt::test::cudnn {

enum Kind {
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  EngineConfig = 3,
  Heuristic = 4,
  Plan = 5,
  Forward = 10,
  BackwardFilter = 11,
  BackwardData = 12,
  PointwiseOperation = 13,
  Graph = 15,
  Arguments = 16,
  TensorKind = 17,
};

struct Attribute {
  int type = 0;
  int64_t count = 0;
  std::vector<std::byte> bytes;
};

struct Descriptor {
  int kind = 0;
  bool isFinal = false;
  std::map<int, Attribute> attributes;
  int engine = 0; ///< Of what a heuristic gave.
};

template <typename T>
std::vector<T> valuesOf(const Descriptor &descriptor, int name) {
  auto known = descriptor.attributes.find(name);
  if (known == descriptor.attributes.end())
    throw std::string("missing attribute " + std::to_string(name));
  std::vector<T> values(size_t(known->second.count));
  if (known->second.bytes.size() != values.size() * sizeof(T))
    throw std::string("odd attribute " + std::to_string(name));
  std::memcpy(values.data(), known->second.bytes.data(),
              known->second.bytes.size());
  return values;
}

inline const Descriptor &oneOf(const Descriptor &descriptor, int name,
                               int kind) {
  auto *found = valuesOf<Descriptor *>(descriptor, name).at(0);
  if (!found || !found->isFinal || found->kind != kind)
    throw std::string("attribute " + std::to_string(name) +
                      ": not a final descriptor of its kind");
  return *found;
}

using Shape = std::array<int64_t, 4>;

/// A tensor as a graph has it.
struct Tensor {
  int64_t id = 0;
  int real = 0;
  bool isVirtual = false;
  Shape dims = {}, strides = {};
  explicit Tensor(const Descriptor &descriptor)
      : id(valuesOf<int64_t>(descriptor, 906).at(0)),
        real(valuesOf<int>(descriptor, 901).at(0)),
        isVirtual(valuesOf<uint8_t>(descriptor, 907).at(0)) {
    auto dimsOf = valuesOf<int64_t>(descriptor, 902),
         stridesOf = valuesOf<int64_t>(descriptor, 903);
    if (dimsOf.size() != 4 || stridesOf.size() != 4)
      throw std::string("expected tensors of four dimensions");
    std::ranges::copy(dimsOf, dims.begin());
    std::ranges::copy(stridesOf, strides.begin());
  }
  int64_t at(int64_t n, int64_t c, int64_t h, int64_t w) const {
    return n * strides[0] + c * strides[1] + h * strides[2] + w * strides[3];
  }
  size_t elements() const {
    return size_t(at(dims[0] - 1, dims[1] - 1, dims[2] - 1, dims[3] - 1)) + 1;
  }
};

/// Everything that a plan computes, copied: descriptors may be gone by then.
struct Work {
  int kind = Forward;
  std::vector<Tensor> tensors; ///< x, w, y.
  Shape windows = {};          ///< Strides, dilations.
  std::array<int64_t, 2> pads = {};
  struct Step {
    int mode;
    std::optional<Tensor> b;
    Tensor y;
    bool keepsNan = false;
  };
  std::vector<Step> steps;
  std::map<int64_t, unsigned long long> addresses;
  unsigned long long workspace = 0;

  /// Throws what is wrong.
  void run() const;

private:
  uint8_t *find(const Tensor &tensor) const;
  std::vector<float> load(const Tensor &tensor) const;
  const Tensor &computed() const {
    return tensors[kind == BackwardData ? 0 : kind == BackwardFilter ? 1 : 2];
  }
  std::vector<float> runAnchor() const;
  void refuseOverlaps(const Tensor &result) const;
};

/// What an operation graph computes; throws what is wrong with it.
Work workOf(const Descriptor &graph);

} // namespace dlc::rt::test::cudnn

#endif // DLC_TEST_RUNTIME_KERNEL_CUDA_FAKECUDNNGRAPH_H
