// SPDX-License-Identifier: Apache-2.0
//
// Stands for libcudnn.so.9 on the fake driver: graphs of a convolution and
// pointwise operations, or of a gradient of one, computed as they are defined
// when the stream comes to them. A descriptor keeps what it is given and may
// not change once it is final; what refers to another one needs that final.
// Heuristics advise three engines: one that sums in less than f32, one that
// wants too large a workspace, and one that will do. fakeCudaFail() makes
// functions fail.

#include "FakeCudnnGraph.h"

#include "test/runtime/Device/CUDA/FakeDriver/FakeDriver.h"

#include <cstdio>
#include <iterator>

using namespace dlc::rt::test::cudnn;

namespace {

constexpr int success = 0, notInitialized = 1001, badParameter = 2000;

struct Context {
  void *stream = nullptr;
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
