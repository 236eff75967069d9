// SPDX-License-Identifier: Apache-2.0
//
// The engine of MXNet 1.9.1, from the library in its wheel.

#include "Push.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace dlc::bench;

namespace {

using Handle = void *;
using Function = void (*)(void *runContext, void *parameter);
using Deleter = void (*)(void *parameter);

/// As mxnet/base.h has it: device type (1 is the CPU) and number.
struct Context {
  int32_t type = 1, id = 0;
};

/// What include/mxnet/c_api.h declares.
struct Library {
  int (*push)(Function, void *, Deleter, const void *context, Handle *reads,
              int readCount, Handle *writes, int writeCount, Handle property,
              int priority, const char *name);
  int (*create)(const uint32_t *shape, uint32_t rank, int deviceType,
                int deviceId, int delayAllocation, Handle *array);
  int (*waitAll)();
  int (*setBulkSize)(int size, int *previous);
  const char *(*lastError)();

  template <typename T> bool find(void *library, const char *name, T &target) {
    target = reinterpret_cast<T>(dlsym(library, name));
    if (!target)
      std::fprintf(stderr, "expected a function %s of MXNet\n", name);
    return target;
  }
  bool load(const std::string &path);
};

class MXNet : public Peer {
public:
  explicit MXNet(const Library &library) : library(library) {}

  bool makeVariables();
  std::string name() const override { return "MXNet 1.9.1"; }
  Sample run(const Pattern &pattern, const Mode &mode) override;

private:
  Library library;
  std::vector<Handle> arrays;
};

} // namespace

bool Library::load(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    std::fprintf(stderr, "cannot load MXNet: %s\n", dlerror());
    return false;
  }
  return find(library, "MXEnginePushSyncND", push) &&
         find(library, "MXNDArrayCreate", create) &&
         find(library, "MXNDArrayWaitAll", waitAll) &&
         find(library, "MXEngineSetBulkSize", setBulkSize) &&
         find(library, "MXGetLastError", lastError);
}

/// An array brings a variable of the engine.
bool MXNet::makeVariables() {
  const uint32_t shape[] = {1};
  arrays.resize(Pattern::variableCount);
  for (Handle &array : arrays)
    if (library.create(shape, 1, Context().type, Context().id, 0, &array)) {
      std::fprintf(stderr, "MXNet: %s\n", library.lastError());
      return false;
    }
  return library.waitAll() == 0;
}

Sample MXNet::run(const Pattern &pattern, const Mode &mode) {
  std::vector<Handle> reads, writes;
  for (int variable : pattern.reads)
    reads.push_back(arrays[variable]);
  for (int variable : pattern.writes)
    writes.push_back(arrays[variable]);
  int previous;
  library.setBulkSize(mode.bulk > 1 ? mode.bulk : 0, &previous);
  Context context;
  return measurePushes(
      pattern.size(), mode.pushers,
      [&](size_t i) {
        library.push([](void *, void *) { task(); }, nullptr, nullptr, &context,
                     reads.data() + i * pattern.readCount, pattern.readCount,
                     &writes[i], 1, nullptr, 0, "bench");
      },
      [&] { library.waitAll(); });
}

std::unique_ptr<Peer> dlc::bench::makeMXNetPeer(const std::string &path,
                                                unsigned workers) {
  setenv("MXNET_CPU_WORKER_NTHREADS", std::to_string(workers).c_str(), 1);
  setenv("OMP_NUM_THREADS", "1", 0); // Its kernels' threads play no part.
  Library library;
  if (!library.load(path))
    return nullptr;
  auto peer = std::make_unique<MXNet>(library);
  if (!peer->makeVariables())
    return nullptr;
  return peer;
}
