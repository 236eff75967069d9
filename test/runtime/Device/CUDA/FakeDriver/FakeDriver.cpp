// SPDX-License-Identifier: Apache-2.0

#include "FakeDriver.h"

#include "Ptx.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace {

using Code = int;
using Address = unsigned long long;

constexpr Code invalidValue = 1, outOfMemory = 2, noDevice = 100,
               invalidDevice = 101, noBinary = 209, invalidPtx = 218,
               notFound = 500, invalidContext = 201, invalidHandle = 400,
               illegalAddress = 700;
constexpr size_t granule = size_t(2) << 20;
constexpr Address firstAddress = Address(1) << 48; // Above the host's.

struct Machine {
  int devices = 1, capability = 90, driver = 13000;
  size_t memory = size_t(1) << 30;
  bool peers = true;               ///< Devices reach each other's memory.
  size_t locked = size_t(1) << 30; ///< Bytes of the host that may be.
};

struct Stream;
/// Work that a stream does later.
using Work = std::function<Code()>;

struct Event {
  int device;
  Stream *stream = nullptr;
  uint64_t position = 0; ///< All work of the stream below this one.
};

struct Graph {
  std::vector<Work> work;
};

struct Stream {
  int device;
  std::deque<Work> work;
  uint64_t done = 0; ///< How much was ever done.
  std::unique_ptr<Graph> capture;
};

struct Function {
  const fake::Kernel *kernel;
};
struct LoadedModule {
  fake::Module module;
  std::map<std::string, Function> functions;
};

/// A piece of reserved addresses.
struct Granule {
  int owner = -1;      ///< The device whose memory it is; -1 for none.
  std::set<int> users; ///< Devices that reach it.
};
/// Reserved addresses, and host memory that stands behind them.
struct Reservation {
  size_t bytes;
  uint8_t *host;
  std::vector<Granule> granules;
};

/// CUmemAccessDesc.
struct AccessDescription {
  int isDevice, device, flags;
};

struct Failure {
  int nth;
  Code code;
  bool isSticky;
};

struct State {
  std::recursive_mutex mutex; ///< Guards what follows.
  Machine machine;
  std::string log;
  std::map<std::string, Failure> failures;
  std::map<Address, Reservation> reservations;
  std::map<Address, int> handles; ///< Of memory, not mapped yet: its device.
  std::map<uintptr_t, size_t> locked; ///< Memory of the host: its size.
  Address nextAddress = firstAddress, nextHandle = 1;
  size_t mapped = 0, created = 0, objects = 0;
  Code lost = 0; ///< What all calls fail with once the device has failed.
};

State &state() {
  static State theState;
  return theState;
}

thread_local std::vector<int> contexts; // Of devices; the last one is current.

constexpr int anyDevice = -1;

/// Whose context is current.
int currentDevice() { return contexts.empty() ? -1 : contexts.back() - 1; }

/// Where mapped memory really is; null for what `user` does not reach, and for
/// what is not memory of `owner`.
uint8_t *hostOf(Address address, size_t bytes, int user = anyDevice,
                int owner = anyDevice) {
  auto after = state().reservations.upper_bound(address);
  if (after == state().reservations.begin())
    return nullptr;
  auto &[start, reservation] = *std::prev(after);
  size_t offset = address - start;
  if (offset > reservation.bytes || bytes > reservation.bytes - offset)
    return nullptr;
  for (size_t i = offset / granule; i * granule < offset + bytes; ++i) {
    const Granule &piece = reservation.granules[i];
    if (piece.owner < 0 || (owner != anyDevice && piece.owner != owner) ||
        (user != anyDevice && !piece.users.contains(user)))
      return nullptr;
  }
  return reservation.host + offset;
}

/// Whether all of it is memory of the host that the driver has locked.
bool isLocked(Address address, size_t bytes) {
  auto after = state().locked.upper_bound(address);
  if (after == state().locked.begin())
    return false;
  auto [start, size] = *std::prev(after);
  return address - start <= size && bytes <= size - (address - start);
}

bool isDevice(Address address) {
  return address >= firstAddress && address < firstAddress << 1;
}

/// Does the first `count` pieces of work that are not done.
Code drain(Stream &stream, uint64_t position) {
  while (stream.done < position && !stream.work.empty()) {
    Work work = std::move(stream.work.front());
    stream.work.pop_front();
    ++stream.done;
    if (state().lost)
      continue;
    if (Code code = work()) {
      state().lost = code;
      return code;
    }
  }
  return state().lost;
}

Code push(Stream *stream, Work work) {
  if (!stream)
    return invalidValue;
  if (stream->capture)
    stream->capture->work.push_back(std::move(work));
  else
    stream->work.push_back(std::move(work));
  return 0;
}

/// Notes a call and says whether it is to fail; the mutex is held after it.
class Call {
public:
  Call(const char *symbol, bool needsContext = true, std::string detail = "")
      : lock(state().mutex) {
    state().log += symbol + (detail.empty() ? "" : " " + detail) + "\n";
    auto known = state().failures.find(symbol);
    if (known != state().failures.end()) {
      Failure &failure = known->second;
      if (--failure.nth <= 0 && (failure.nth == 0 || failure.isSticky))
        code = failure.code;
    }
    if (!code && needsContext && contexts.empty())
      code = invalidContext;
    if (!code && needsContext)
      code = state().lost;
  }
  Code code = 0;

private:
  std::lock_guard<std::recursive_mutex> lock;
};

void readMachine() {
  Machine machine;
  const char *text = getenv("DLC_FAKE_CUDA");
  std::string rest = text ? text : "";
  while (!rest.empty()) {
    size_t comma = rest.find(','), equals = rest.find('=');
    std::string name = rest.substr(0, equals);
    size_t value = std::stoull(rest.substr(equals + 1));
    (name == "devices"      ? (void)(machine.devices = int(value))
     : name == "capability" ? (void)(machine.capability = int(value))
     : name == "driver"     ? (void)(machine.driver = int(value))
     : name == "peers"      ? (void)(machine.peers = value != 0)
     : name == "locked"     ? (void)(machine.locked = value)
                            : (void)(machine.memory = value));
    rest = comma == rest.npos ? "" : rest.substr(comma + 1);
  }
  state().machine = machine;
}

} // namespace

#define FAKE(symbol, ...)                                                      \
  Call call(#symbol __VA_OPT__(, ) __VA_ARGS__);                               \
  if (call.code)                                                               \
  return call.code

extern "C" {

void fakeCudaReset() {
  std::lock_guard lock(state().mutex);
  state().log.clear();
  state().failures.clear();
  state().lost = 0;
}
void fakeCudaFail(const char *symbol, int nth, int code, bool isSticky) {
  std::lock_guard lock(state().mutex);
  state().failures[symbol] = {nth, code, isSticky};
}
const char *fakeCudaLog() { return state().log.c_str(); }
size_t fakeCudaBytes() { return state().mapped; }
int fakeCudaCall(const char *symbol, const char *detail) {
  return Call(symbol, /*needsContext=*/true, detail).code;
}
int fakeCudaEnqueue(void *stream, const std::function<int()> &work) {
  std::lock_guard lock(state().mutex);
  return push(static_cast<Stream *>(stream), work);
}
void *fakeCudaMemory(unsigned long long address, size_t bytes) {
  std::lock_guard lock(state().mutex);
  return hostOf(address, bytes);
}
void fakeCudaCount(int more) {
  std::lock_guard lock(state().mutex);
  state().objects += size_t(more);
}
size_t fakeCudaHandles() {
  return state().objects + state().reservations.size() +
         state().handles.size() + state().locked.size();
}

Code cuInit(unsigned) {
  readMachine();
  FAKE(cuInit, false);
  return state().machine.devices ? 0 : noDevice;
}
Code cuDriverGetVersion(int *version) {
  readMachine();
  FAKE(cuDriverGetVersion, false);
  *version = state().machine.driver;
  return 0;
}
Code cuGetErrorName(Code code, const char **name) {
  *name = code == outOfMemory      ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == illegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == noBinary       ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : code == invalidPtx     ? "CUDA_ERROR_INVALID_PTX"
                                   : "CUDA_ERROR_UNKNOWN";
  return 0;
}
Code cuGetErrorString(Code, const char **text) {
  *text = "says the fake driver";
  return 0;
}
Code cuDeviceGetCount(int *count) {
  FAKE(cuDeviceGetCount, false);
  *count = state().machine.devices;
  return 0;
}
Code cuDeviceGet(int *device, int index) {
  FAKE(cuDeviceGet, false);
  *device = index;
  return index < state().machine.devices ? 0 : invalidDevice;
}
Code cuDeviceGetName(char *name, int length, int) {
  FAKE(cuDeviceGetName, false);
  snprintf(name, length, "Fake GPU");
  return 0;
}
Code cuDeviceGetAttribute(int *value, int attribute, int) {
  FAKE(cuDeviceGetAttribute, false);
  const int mostShared = (state().machine.capability == 90 ? 227 : 163) << 10;
  *value = attribute == 75    ? state().machine.capability / 10
           : attribute == 76  ? state().machine.capability % 10
           : attribute == 97  ? mostShared
           : attribute == 102 ? 1
                              : 0;
  return 0;
}
Code cuDevicePrimaryCtxRetain(void **context, int device) {
  FAKE(cuDevicePrimaryCtxRetain, false);
  *context = reinterpret_cast<void *>(uintptr_t(device) + 1);
  ++state().objects;
  return 0;
}
Code cuDevicePrimaryCtxRelease_v2(int) {
  FAKE(cuDevicePrimaryCtxRelease_v2, false);
  --state().objects;
  return 0;
}
Code cuCtxPushCurrent_v2(void *context) {
  std::lock_guard lock(state().mutex);
  contexts.push_back(int(reinterpret_cast<uintptr_t>(context)));
  return 0;
}
Code cuCtxPopCurrent_v2(void **context) {
  std::lock_guard lock(state().mutex);
  if (contexts.empty())
    return invalidContext;
  *context = reinterpret_cast<void *>(uintptr_t(contexts.back()));
  contexts.pop_back();
  return 0;
}

Code cuModuleLoadData(LoadedModule **module, const void *image) {
  FAKE(cuModuleLoadData);
  if (!std::memcmp(image, "\177ELF", 4))
    return noBinary;
  try {
    auto loaded = std::make_unique<LoadedModule>();
    loaded->module = fake::parse(static_cast<const char *>(image));
    const int needed = loaded->module.capability,
              given = state().machine.capability;
    if (loaded->module.isSpecific ? needed != given : needed > given)
      return noBinary;
    for (auto &[name, kernel] : loaded->module.kernels)
      loaded->functions[name] = {&kernel};
    *module = loaded.release();
    ++state().objects;
    return 0;
  } catch (const std::string &message) {
    fprintf(stderr, "fake driver: %s\n", message.c_str());
    return invalidPtx;
  }
}
Code cuModuleUnload(LoadedModule *module) {
  FAKE(cuModuleUnload);
  delete module;
  --state().objects;
  return 0;
}
Code cuModuleGetFunction(Function **function, LoadedModule *module,
                         const char *name) {
  FAKE(cuModuleGetFunction);
  auto known = module->functions.find(name);
  if (known == module->functions.end())
    return notFound;
  *function = &known->second;
  return 0;
}
Code cuFuncGetAttribute(int *value, int attribute, Function *function) {
  FAKE(cuFuncGetAttribute);
  *value = attribute == 0 ? int(function->kernel->maxThreads) : 0;
  return 0;
}
Code cuFuncSetAttribute(Function *, int, int) {
  FAKE(cuFuncSetAttribute);
  return 0;
}

Code cuDeviceCanAccessPeer(int *can, int device, int peer) {
  FAKE(cuDeviceCanAccessPeer, false);
  if (std::max(device, peer) >= state().machine.devices)
    return invalidDevice;
  *can = state().machine.peers && device != peer;
  return 0;
}
Code cuMemHostAlloc(void **start, size_t bytes, unsigned flags) {
  FAKE(cuMemHostAlloc, true, std::to_string(bytes));
  if (!bytes || flags != 1) // For one context alone: of no use with several.
    return invalidValue;
  size_t sum = bytes;
  for (auto [known, size] : state().locked)
    sum += size;
  if (sum > state().machine.locked)
    return outOfMemory;
  *start = std::aligned_alloc(512, (bytes + 511) & ~size_t(511));
  std::memset(*start, 0xCD, bytes);
  state().locked[reinterpret_cast<uintptr_t>(*start)] = bytes;
  return 0;
}
Code cuMemFreeHost(void *start) {
  FAKE(cuMemFreeHost);
  if (!state().locked.erase(reinterpret_cast<uintptr_t>(start)))
    return invalidValue;
  std::free(start);
  return 0;
}
Code cuMemGetInfo_v2(size_t *free, size_t *total) {
  FAKE(cuMemGetInfo_v2);
  *free = state().machine.memory - state().created;
  *total = state().machine.memory;
  return 0;
}
Code cuMemGetAllocationGranularity(size_t *bytes, const void *, int) {
  FAKE(cuMemGetAllocationGranularity);
  *bytes = granule;
  return 0;
}
Code cuMemAddressReserve(Address *start, size_t bytes, size_t, Address,
                         unsigned long long) {
  FAKE(cuMemAddressReserve);
  if (bytes == 0 || bytes % granule)
    return invalidValue;
  void *host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (host == MAP_FAILED)
    return outOfMemory;
  *start = state().nextAddress;
  state().nextAddress += bytes + granule;
  state().reservations[*start] = {bytes, static_cast<uint8_t *>(host),
                                  std::vector<Granule>(bytes / granule)};
  return 0;
}
Code cuMemAddressFree(Address start, size_t bytes) {
  FAKE(cuMemAddressFree);
  auto known = state().reservations.find(start);
  if (known == state().reservations.end() || known->second.bytes != bytes)
    return invalidValue;
  for (const Granule &piece : known->second.granules)
    if (piece.owner >= 0)
      return invalidValue;
  munmap(known->second.host, bytes);
  state().reservations.erase(known);
  return 0;
}
Code cuMemCreate(Address *handle, size_t bytes, const void *properties,
                 unsigned long long) {
  FAKE(cuMemCreate);
  int device; // Behind two numbers and the kind of place.
  std::memcpy(&device, static_cast<const char *>(properties) + 12, 4);
  if (bytes != granule || device >= state().machine.devices)
    return invalidValue;
  if (state().machine.memory - state().created < bytes)
    return outOfMemory;
  state().created += bytes;
  *handle = state().nextHandle++;
  state().handles[*handle] = device;
  return 0;
}
/// Of what is not mapped; a mapping has its own hold on memory.
Code cuMemRelease(Address handle) {
  FAKE(cuMemRelease);
  if (!state().handles.erase(handle))
    return invalidValue;
  state().created -= granule;
  return 0;
}
/// Calls `change` with each granule and the memory behind it.
static Code
forGranules(Address start, size_t bytes,
            const std::function<Code(Granule &, uint8_t *)> &change) {
  auto after = state().reservations.upper_bound(start);
  if (after == state().reservations.begin() || start % granule ||
      bytes % granule)
    return invalidValue;
  auto &[first, reservation] = *std::prev(after);
  for (size_t i = 0; i != bytes / granule; ++i) {
    size_t index = (start - first) / granule + i;
    if (index >= reservation.granules.size())
      return invalidValue;
    if (Code code = change(reservation.granules[index],
                           reservation.host + index * granule))
      return code;
  }
  return 0;
}
/// Mapped memory is nobody's to reach before cuMemSetAccess().
static Code setMapped(Address start, size_t bytes, int owner) {
  const bool isMapped = owner >= 0;
  return forGranules(start, bytes, [&](Granule &piece, uint8_t *memory) {
    if ((piece.owner >= 0) == isMapped)
      return invalidValue;
    piece = {owner, {}};
    state().created += isMapped ? granule : -granule;
    state().mapped += isMapped ? granule : -granule;
    if (isMapped) // Whoever reads what nobody wrote shall notice.
      std::memset(memory, 0xCD, granule);
    return 0;
  });
}
Code cuMemMap(Address start, size_t bytes, size_t, Address handle,
              unsigned long long) {
  FAKE(cuMemMap);
  auto known = state().handles.find(handle);
  return known == state().handles.end()
             ? invalidValue
             : setMapped(start, bytes, known->second);
}
Code cuMemUnmap(Address start, size_t bytes) {
  FAKE(cuMemUnmap);
  return setMapped(start, bytes, -1);
}
Code cuMemSetAccess(Address start, size_t bytes, const AccessDescription *users,
                    size_t count) {
  FAKE(cuMemSetAccess, true, std::to_string(count));
  return forGranules(start, bytes, [&](Granule &piece, uint8_t *) {
    if (piece.owner < 0)
      return invalidValue;
    for (size_t i = 0; i != count; ++i) {
      const int user = users[i].device;
      if (users[i].isDevice != 1 || users[i].flags != 3 ||
          user >= state().machine.devices ||
          (user != piece.owner && !state().machine.peers))
        return invalidDevice;
      piece.users.insert(user);
    }
    return 0;
  });
}

Code cuStreamCreate(Stream **stream, unsigned) {
  FAKE(cuStreamCreate);
  *stream = new Stream{currentDevice(), {}, 0, nullptr};
  ++state().objects;
  return 0;
}
Code cuStreamDestroy_v2(Stream *stream) {
  FAKE(cuStreamDestroy_v2);
  drain(*stream, UINT64_MAX);
  delete stream;
  --state().objects;
  return 0;
}
Code cuStreamSynchronize(Stream *stream) {
  FAKE(cuStreamSynchronize);
  return drain(*stream, UINT64_MAX);
}
Code cuStreamWaitEvent(Stream *stream, Event *event, unsigned) {
  FAKE(cuStreamWaitEvent);
  if (!event->stream)
    return 0;
  // The work recorded now, whatever the event is later.
  return push(stream, [target = event->stream, position = event->position] {
    return drain(*target, position);
  });
}
Code cuEventCreate(Event **event, unsigned) {
  FAKE(cuEventCreate);
  *event = new Event{currentDevice()};
  ++state().objects;
  return 0;
}
Code cuEventDestroy_v2(Event *event) {
  FAKE(cuEventDestroy_v2);
  delete event;
  --state().objects;
  return 0;
}
Code cuEventRecord(Event *event, Stream *stream) {
  FAKE(cuEventRecord);
  if (event->device != stream->device)
    return invalidHandle;
  *event = {event->device, stream, stream->done + stream->work.size()};
  return 0;
}
/// A millisecond, whatever lies between.
Code cuEventElapsedTime(float *milliseconds, Event *, Event *) {
  FAKE(cuEventElapsedTime);
  *milliseconds = 1;
  return 0;
}

Code cuEventSynchronize(Event *event) {
  FAKE(cuEventSynchronize);
  return event->stream ? drain(*event->stream, event->position) : 0;
}

Code cuMemcpyAsync(Address target, Address source, size_t bytes,
                   Stream *stream) {
  auto isOrdinary = [&](Address address) {
    return !isDevice(address) && !isLocked(address, bytes);
  };
  const char *how =
      isOrdinary(target) || isOrdinary(source) ? " synchronous" : "";
  FAKE(cuMemcpyAsync, true, std::to_string(bytes) + how);
  return push(stream, [=, device = stream->device]() -> Code {
    auto place = [&](Address address) -> uint8_t * {
      return isDevice(address) ? hostOf(address, bytes, device, device)
                               : reinterpret_cast<uint8_t *>(address);
    };
    uint8_t *to = place(target), *from = place(source);
    if (!to || !from)
      return illegalAddress;
    std::memmove(to, from, bytes);
    return 0;
  });
}
Code cuMemcpyPeerAsync(Address target, void *targetContext, Address source,
                       void *sourceContext, size_t bytes, Stream *stream) {
  const int to = int(reinterpret_cast<uintptr_t>(targetContext)) - 1,
            from = int(reinterpret_cast<uintptr_t>(sourceContext)) - 1;
  std::unique_lock lock(state().mutex);
  // Through the host, unless the device that copies reaches both.
  const bool isDirect = stream && hostOf(source, bytes, stream->device) &&
                        hostOf(target, bytes, stream->device);
  lock.unlock();
  FAKE(cuMemcpyPeerAsync, true,
       std::to_string(bytes) + (isDirect ? "" : " through the host"));
  return push(stream, [=]() -> Code {
    uint8_t *into = hostOf(target, bytes, to, to),
            *out = hostOf(source, bytes, from, from);
    if (!into || !out)
      return illegalAddress;
    std::memmove(into, out, bytes);
    return 0;
  });
}
Code cuLaunchKernel(Function *function, unsigned blocks, unsigned y, unsigned z,
                    unsigned threads, unsigned ty, unsigned tz, unsigned shared,
                    Stream *stream, void **parameters, void **) {
  FAKE(cuLaunchKernel, true,
       function->kernel->name + " " + std::to_string(blocks) + "x" +
           std::to_string(threads));
  const fake::Kernel &kernel = *function->kernel;
  if (y * z * ty * tz != 1 || !blocks || !threads ||
      threads > kernel.maxThreads)
    return invalidValue;
  fake::Launch launch{&kernel, blocks, threads, shared, {}, nullptr};
  launch.parameters.resize(kernel.parameterBytes);
  for (size_t i = 0; i != kernel.parameters.size(); ++i)
    std::memcpy(launch.parameters.data() + kernel.offsets[i], parameters[i],
                kernel.parameters[i]);
  launch.memory = [device = stream->device](uint64_t address, unsigned bytes) {
    return hostOf(address, bytes, device);
  };
  return push(stream, [launch]() -> Code {
    try {
      fake::run(launch);
      return 0;
    } catch (const std::string &message) {
      fprintf(stderr, "fake driver: %s\n", message.c_str());
      return illegalAddress;
    }
  });
}

Code cuStreamBeginCapture_v2(Stream *stream, int) {
  FAKE(cuStreamBeginCapture_v2);
  stream->capture = std::make_unique<Graph>();
  return 0;
}
Code cuStreamEndCapture(Stream *stream, Graph **graph) {
  // It ends in any case.
  std::unique_ptr<Graph> captured = std::move(stream->capture);
  FAKE(cuStreamEndCapture);
  *graph = captured.release();
  ++state().objects;
  return 0;
}
Code cuGraphInstantiateWithFlags(Graph **exec, Graph *graph,
                                 unsigned long long) {
  FAKE(cuGraphInstantiateWithFlags);
  *exec = new Graph(*graph);
  ++state().objects;
  return 0;
}
Code cuGraphLaunch(Graph *graph, Stream *stream) {
  FAKE(cuGraphLaunch);
  for (const Work &work : graph->work)
    push(stream, work);
  return 0;
}
Code cuGraphDestroy(Graph *graph) {
  FAKE(cuGraphDestroy);
  delete graph;
  --state().objects;
  return 0;
}
Code cuGraphExecDestroy(Graph *graph) {
  FAKE(cuGraphExecDestroy);
  delete graph;
  --state().objects;
  return 0;
}

} // extern "C"
