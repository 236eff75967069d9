// SPDX-License-Identifier: Apache-2.0
//
// Stands for libcudnn.so.9 on the fake driver: graphs of a convolution and
// pointwise operations, computed as they are defined when the stream comes to
// them. A descriptor keeps what it is given and may not change once it is
// final; what refers to another one needs that final. Heuristics advise three
// engines: one that sums in less than f32, one that wants too large a
// workspace, and one that will do. fakeCudaFail() makes functions fail.

#include "FakeFloats.h"

#include "test/runtime/Device/CUDA/FakeDriver/FakeDriver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace dlc::rt::test;

namespace {

constexpr int success = 0, notInitialized = 1001, badParameter = 2000;
constexpr int realF32 = 0, realF16 = 2; // Else bfloat16.

enum Kind {
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  EngineConfig = 3,
  Heuristic = 4,
  Plan = 5,
  Forward = 10,
  PointwiseOperation = 13,
  Graph = 15,
  Arguments = 16,
  TensorKind = 17,
};

struct Context {
  void *stream = nullptr;
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

size_t sizeOfType(int type) {
  switch (type) {
  case 2: // CUDNN_TYPE_BOOLEAN
  case 24:
    return 1;
  case 1: // Enumerations, and CUDNN_TYPE_FLOAT.
  case 4:
  case 7:
  case 8:
  case 10:
  case 11:
  case 14:
    return 4;
  case 0: // CUDNN_TYPE_HANDLE, INT64, VOID_PTR, BACKEND_DESCRIPTOR
  case 3:
  case 6:
  case 15:
    return 8;
  default:
    return 0;
  }
}

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

const Descriptor &oneOf(const Descriptor &descriptor, int name, int kind) {
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

Real realOf(int real) {
  return real == realF32 ? Real::F32 : real == realF16 ? Real::F16 : Real::BF16;
}

/// Everything that a plan computes, copied: descriptors may be gone by then.
struct Work {
  std::vector<Tensor> tensors; ///< x, w, result of the convolution
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

  uint8_t *find(const Tensor &tensor) const {
    auto known = addresses.find(tensor.id);
    if (known == addresses.end())
      return nullptr;
    return static_cast<uint8_t *>(fakeCudaMemory(
        known->second, tensor.elements() * bytesOf(realOf(tensor.real))));
  }
  std::vector<float> load(const Tensor &tensor) const {
    const uint8_t *bytes = find(tensor);
    if (!bytes)
      throw std::string("no memory of tensor " + std::to_string(tensor.id));
    std::vector<float> values(tensor.elements());
    for (size_t i = 0; i != values.size(); ++i)
      values[i] = loadReal(realOf(tensor.real),
                           bytes + i * bytesOf(realOf(tensor.real)));
    return values;
  }
  void refuseOverlaps(const Tensor &result) const;
  void run() const;
};

/// A kernel writes its result while others of its blocks still read: only the
/// element that a thread replaces may be in the same place.
void Work::refuseOverlaps(const Tensor &result) const {
  auto bytes = [](const Tensor &tensor) {
    return tensor.elements() * bytesOf(realOf(tensor.real));
  };
  const uint8_t *begin = find(result), *end = begin + bytes(result);
  auto check = [&](const Tensor &read, bool isElementwise) {
    const uint8_t *at = find(read);
    if (at < end && begin < at + bytes(read) && !(isElementwise && at == begin))
      throw std::string("the result overlaps tensor ") +
          std::to_string(read.id);
  };
  check(tensors[0], false);
  check(tensors[1], false);
  for (const Step &step : steps)
    if (step.b)
      check(*step.b, step.b->dims == result.dims);
}

void Work::run() const {
  const Tensor &x = tensors[0], &w = tensors[1], &y = tensors[2];
  std::vector<float> image = load(x), weights = load(w);
  std::vector<float> result(y.elements());
  for (int64_t n = 0; n != y.dims[0]; ++n)
    for (int64_t oc = 0; oc != y.dims[1]; ++oc)
      for (int64_t oh = 0; oh != y.dims[2]; ++oh)
        for (int64_t ow = 0; ow != y.dims[3]; ++ow) {
          double sum = 0;
          for (int64_t c = 0; c != w.dims[1]; ++c)
            for (int64_t kh = 0; kh != w.dims[2]; ++kh)
              for (int64_t kw = 0; kw != w.dims[3]; ++kw) {
                int64_t h = oh * windows[0] - pads[0] + kh * windows[2];
                int64_t v = ow * windows[1] - pads[1] + kw * windows[3];
                bool isInside =
                    h >= 0 && h < x.dims[2] && v >= 0 && v < x.dims[3];
                sum += double(isInside ? image[size_t(x.at(n, c, h, v))] : 0) *
                       weights[size_t(w.at(oc, c, kh, kw))];
              }
          result[size_t(y.at(n, oc, oh, ow))] = float(sum);
        }
  const Tensor *last = &y;
  for (const Step &step : steps) {
    std::vector<float> b;
    if (step.b)
      b = load(*step.b);
    for (int64_t n = 0; n != y.dims[0]; ++n)
      for (int64_t c = 0; c != y.dims[1]; ++c)
        for (int64_t h = 0; h != y.dims[2]; ++h)
          for (int64_t v = 0; v != y.dims[3]; ++v) {
            float &value = result[size_t(y.at(n, c, h, v))];
            auto in = [&](int64_t index, int i) {
              return step.b->dims[size_t(i)] == 1 ? 0 : index;
            };
            value = step.mode == 100
                        ? (step.keepsNan && std::isnan(value)
                               ? value
                               : std::fmax(value, 0.0f))
                        : value + b[size_t(step.b->at(in(n, 0), in(c, 1),
                                                      in(h, 2), in(v, 3)))];
          }
    last = &step.y;
  }
  uint8_t *bytes = find(*last);
  if (!bytes)
    throw std::string("no memory of the result");
  refuseOverlaps(*last);
  for (size_t i = 0; i != result.size(); ++i)
    storeReal(realOf(last->real), bytes + i * bytesOf(realOf(last->real)),
              result[i]);
}

/// What an operation graph computes; throws what is wrong with it.
Work workOf(const Descriptor &graph) {
  Work work;
  int64_t before = 0;
  auto operations = valuesOf<Descriptor *>(graph, 801);
  for (size_t i = 0; i != operations.size(); ++i) {
    const Descriptor &operation = *operations[i];
    if (!operation.isFinal)
      throw std::string("an operation is not final");
    if (i == 0) {
      if (operation.kind != Forward)
        throw std::string("expected a convolution first");
      for (int name : {704, 703, 705})
        work.tensors.emplace_back(oneOf(operation, name, TensorKind));
      const Descriptor &convolution = oneOf(operation, 702, Convolution);
      auto strides = valuesOf<int64_t>(convolution, 103),
           dilations = valuesOf<int64_t>(convolution, 102),
           begins = valuesOf<int64_t>(convolution, 105),
           ends = valuesOf<int64_t>(convolution, 104);
      if (valuesOf<int>(convolution, 101).at(0) != 1 ||
          valuesOf<int64_t>(convolution, 106).at(0) != 2 ||
          valuesOf<float>(operation, 700).at(0) != 1 ||
          valuesOf<float>(operation, 701).at(0) != 0)
        throw std::string("expected a cross-correlation");
      work.windows = {strides.at(0), strides.at(1), dilations.at(0),
                      dilations.at(1)};
      work.pads = {begins.at(0), begins.at(1)};
      const Tensor &x = work.tensors[0], &w = work.tensors[1],
                   &y = work.tensors[2];
      for (size_t k = 0; k != 2; ++k)
        if ((x.dims[2 + k] + begins.at(k) + ends.at(k) -
             (w.dims[2 + k] - 1) * dilations.at(k) - 1) /
                    strides.at(k) +
                1 !=
            y.dims[2 + k])
          throw std::string("the shapes are not those of a convolution");
      if (x.dims[1] != w.dims[1] || w.dims[0] != y.dims[1] ||
          x.dims[0] != y.dims[0])
        throw std::string("the channels are not those of a convolution");
      before = y.id;
      continue;
    }
    if (operation.kind != PointwiseOperation)
      throw std::string("expected pointwise operations behind it");
    Tensor x(oneOf(operation, 751, TensorKind)),
        y(oneOf(operation, 753, TensorKind));
    if (x.id != before || !x.isVirtual || y.strides != work.tensors[2].strides)
      throw std::string("expected a chain");
    Work::Step step{
        valuesOf<int>(oneOf(operation, 750, Pointwise), 0).at(0), {}, y};
    const Descriptor &pointwise = oneOf(operation, 750, Pointwise);
    step.keepsNan = pointwise.attributes.contains(2) &&
                    valuesOf<int>(pointwise, 2).at(0) == 1;
    if (operation.attributes.contains(752))
      step.b.emplace(oneOf(operation, 752, TensorKind));
    if (step.mode != 100 && !(step.mode == 0 && step.b))
      throw std::string("an unknown pointwise operation");
    work.steps.push_back(step);
    before = y.id;
  }
  const Tensor &last =
      work.steps.empty() ? work.tensors.at(2) : work.steps.back().y;
  if (last.isVirtual)
    throw std::string("the last result is not in memory");
  return work;
}

int refuse(const std::string &why) {
  fprintf(stderr, "fake cuDNN: %s\n", why.c_str());
  return badParameter;
}

/// Of the engines that heuristics advise, in their order.
struct EngineFacts {
  std::vector<int> notes;
  int64_t workspace;
};
const EngineFacts engines[] = {
    {{0, 2}, 0}, {{0}, int64_t(1) << 40}, {{0}, 1000}};

} // namespace

#define FAKE(symbol, detail)                                                   \
  if (int code = fakeCudaCall(#symbol, detail))                                \
  return code == 201 ? notInitialized : code

extern "C" {

const char *cudnnGetErrorString(int code) {
  return code == success ? "success" : "says the fake cuDNN";
}
int cudnnCreate(Context **handle) {
  FAKE(cudnnCreate, "");
  *handle = new Context;
  fakeCudaCount(1);
  return success;
}
int cudnnDestroy(Context *handle) {
  FAKE(cudnnDestroy, "");
  delete handle;
  fakeCudaCount(-1);
  return success;
}
int cudnnSetStream(Context *handle, void *stream) {
  FAKE(cudnnSetStream, "");
  handle->stream = stream;
  return success;
}

int cudnnBackendCreateDescriptor(int kind, Descriptor **descriptor) {
  FAKE(cudnnBackendCreateDescriptor, "");
  *descriptor = new Descriptor{kind, false, {}, 0};
  fakeCudaCount(1);
  return success;
}
int cudnnBackendDestroyDescriptor(Descriptor *descriptor) {
  delete descriptor;
  fakeCudaCount(-1);
  return success;
}
int cudnnBackendSetAttribute(Descriptor *descriptor, int name, int type,
                             int64_t count, const void *values) {
  FAKE(cudnnBackendSetAttribute, "");
  if (descriptor->isFinal || !sizeOfType(type) || count < 1 || !values)
    return refuse("attribute " + std::to_string(name) + " cannot be set");
  auto *bytes = static_cast<const std::byte *>(values);
  descriptor->attributes[name] = {
      type, count, {bytes, bytes + size_t(count) * sizeOfType(type)}};
  return success;
}
int cudnnBackendFinalize(Descriptor *descriptor) {
  FAKE(cudnnBackendFinalize, std::to_string(descriptor->kind).c_str());
  try {
    switch (descriptor->kind) {
    case TensorKind:
      (void)Tensor(*descriptor);
      break;
    case Graph:
      valuesOf<Context *>(*descriptor, 800);
      (void)workOf(*descriptor);
      break;
    case Heuristic:
      oneOf(*descriptor, 201, Graph);
      break;
    case Plan:
      valuesOf<Context *>(*descriptor, 400);
      oneOf(*descriptor, 401, EngineConfig);
      break;
    default:
      break;
    }
  } catch (const std::string &why) {
    return refuse(why);
  }
  descriptor->isFinal = true;
  return success;
}

int cudnnBackendGetAttribute(Descriptor *descriptor, int name, int type,
                             int64_t most, int64_t *count, void *values) {
  FAKE(cudnnBackendGetAttribute, "");
  if (!descriptor->isFinal)
    return refuse("a descriptor is not final");
  if (descriptor->kind == Heuristic && name == 202) {
    auto *configs = static_cast<Descriptor **>(values);
    bool isFallback = valuesOf<int>(*descriptor, 200).at(0) == 2;
    *count = isFallback ? 0 : std::min<int64_t>(most, std::size(engines));
    for (int64_t i = 0; i != *count; ++i) {
      configs[i]->isFinal = true;
      configs[i]->engine = int(i);
      configs[i]->attributes = {{201, descriptor->attributes.at(201)}};
    }
    return success;
  }
  if (descriptor->kind == EngineConfig && name == 300) {
    Descriptor *engine = *static_cast<Descriptor **>(values);
    engine->isFinal = true;
    engine->engine = descriptor->engine;
    *count = 1;
    return success;
  }
  if (descriptor->kind == Engine && name == 1303) {
    const EngineFacts &facts = engines[descriptor->engine];
    *count = int64_t(facts.notes.size());
    std::copy(facts.notes.begin(), facts.notes.end(),
              static_cast<int *>(values));
    return success;
  }
  if (descriptor->kind == Plan && name == 402) {
    const Descriptor &config = oneOf(*descriptor, 401, EngineConfig);
    *static_cast<int64_t *>(values) = engines[config.engine].workspace;
    *count = 1;
    return success;
  }
  return refuse("attribute " + std::to_string(name) + " cannot be read");
}

int cudnnBackendExecute(Context *handle, Descriptor *plan,
                        Descriptor *arguments) {
  FAKE(cudnnBackendExecute, "");
  try {
    if (!plan->isFinal || !arguments->isFinal)
      throw std::string("a plan or its arguments are not final");
    const Descriptor &config = oneOf(*plan, 401, EngineConfig);
    Work work = workOf(oneOf(config, 201, Graph));
    auto ids = valuesOf<int64_t>(*arguments, 1000);
    auto pointers = valuesOf<unsigned long long>(*arguments, 1001);
    if (ids.size() != pointers.size())
      throw std::string("expected an address for each tensor");
    for (size_t i = 0; i != ids.size(); ++i)
      work.addresses[ids[i]] = pointers[i];
    work.workspace = valuesOf<unsigned long long>(*arguments, 1003).at(0);
    const auto bytes = size_t(engines[config.engine].workspace);
    return fakeCudaEnqueue(handle->stream,
                           [work, bytes]() -> int {
                             constexpr int illegalAddress = 700;
                             void *workspace =
                                 fakeCudaMemory(work.workspace, bytes);
                             if (!workspace)
                               return illegalAddress;
                             std::memset(workspace, 0xa5, bytes);
                             try {
                               work.run();
                             } catch (const std::string &why) {
                               refuse(why);
                               return illegalAddress;
                             }
                             return 0;
                           })
               ? badParameter
               : success;
  } catch (const std::string &why) {
    return refuse(why);
  }
}

} // extern "C"
