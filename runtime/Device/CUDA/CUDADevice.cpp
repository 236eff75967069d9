// SPDX-License-Identifier: Apache-2.0
//
// A device: its context, memory, queues and code.

#include "dlc/runtime/Device/CUDA/CUDADevice.h"

#include "Driver.h"

#include "dlc/runtime/Base/ForkGuard.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::cuda;

namespace {

/// What everything of a device shares: it lives as long as the last of them.
struct Core {
  std::shared_ptr<const Driver> driver;
  Context place;
  DeviceNumber number = 0;
  ContextHandle context = nullptr;
  /// In the child of a fork() nothing of the driver works, and what it is asked
  /// for there may hang (CUDA C++ Programming Guide, Initialization): nothing
  /// of the device calls it.
  ForkGuard guard;
  std::mutex mutex; ///< Guards what follows until it is there.
  ModuleHandle delayModule = nullptr;
  FunctionHandle delay = nullptr;
  bool hasTriedDelay = false;

  ~Core() {
    if (!context || guard.isChild())
      return;
    if (delayModule)
      destroy(&Driver::moduleUnload, delayModule);
    driver->primaryRelease(number);
  }
  /// Afterwards there is `delay`, unless the driver cannot compile it. With the
  /// device's context current.
  void loadDelay();
  /// Gives a handle of the device back.
  template <typename Handle>
  void destroy(Code (*Driver::*function)(Handle), Handle handle) const;
  Status refuseChild() const {
    return makeError(StatusCode::Unavailable,
                     "this process is a fork of the one that opened %s, in "
                     "which alone it can be used",
                     toString(place).c_str());
  }
};

/// Makes a device's context that of the calling thread, for a while: callers
/// may have one of their own.
class Current {
public:
  explicit Current(const Core &core) : core(core), driver(*core.driver) {
    isChild = core.guard.isChild();
    if (!isChild)
      code = driver.contextPush(core.context);
  }
  Current(const Current &) = delete;
  ~Current() {
    ContextHandle old = nullptr;
    if (isOn())
      driver.contextPop(&old);
  }
  bool isOn() const { return code == success && !isChild; }
  Status status() const {
    if (isOn()) [[likely]]
      return Status::ok();
    return isChild ? core.refuseChild() : driver.error("contextPush", code);
  }

private:
  const Core &core;
  const Driver &driver;
  bool isChild;
  Code code = success;
};

template <typename Handle>
void Core::destroy(Code (*Driver::*function)(Handle), Handle handle) const {
  if (guard.isChild())
    return;
  Current current(*this);
  ((*driver).*function)(handle);
}

Address addressOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

class Event final : public DeviceEvent {
public:
  Event(std::shared_ptr<Core> core, EventHandle handle)
      : core(std::move(core)), handle(handle) {}
  ~Event() override { core->destroy(&Driver::eventDestroy, handle); }
  Status synchronize() override {
    Current current(*core);
    DLC_RETURN_IF_ERROR(current.status());
    DLC_CUDA_CHECK(*core->driver, eventSynchronize, handle);
    return Status::ok();
  }
  Result<uint64_t> nanosecondsSince(DeviceEvent &earlier) override {
    Current current(*core);
    DLC_RETURN_IF_ERROR(current.status());
    float milliseconds = 0;
    DLC_CUDA_CHECK(*core->driver, eventElapsedTime, &milliseconds,
                   static_cast<Event &>(earlier).handle, handle);
    return static_cast<uint64_t>(double(milliseconds) * 1e6);
  }

  const std::shared_ptr<Core> core;
  const EventHandle handle;
};

class Recording final : public DeviceRecording {
public:
  Recording(std::shared_ptr<Core> core, GraphExecHandle handle)
      : core(std::move(core)), handle(handle) {}
  ~Recording() override { core->destroy(&Driver::graphExecDestroy, handle); }

  const std::shared_ptr<Core> core;
  const GraphExecHandle handle;
};

class Queue final : public DeviceQueue {
public:
  Queue(std::shared_ptr<Core> core, StreamHandle stream)
      : core(std::move(core)), driver(*this->core->driver), stream(stream) {}
  ~Queue() override { core->destroy(&Driver::streamDestroy, stream); }

  Status launch(void *function, const DeviceGrid &grid,
                void *const *parameters) override;
  Status launch(const DeviceCall &call, void *const *parameters) override;
  Status copy(void *target, const void *source, size_t bytes) override;
  Status copyFrom(const Device &owner, void *target, const void *source,
                  size_t bytes) override;
  Status record(DeviceEvent &event) override;
  Status delay() override;
  Status wait(DeviceEvent &event) override;
  Status synchronize() override;
  Status beginRecording() override;
  Result<std::unique_ptr<DeviceRecording>> endRecording() override;
  Status replay(DeviceRecording &recording) override;

private:
  const std::shared_ptr<Core> core;
  const Driver &driver;
  const StreamHandle stream;
};

class ModuleCode final : public DeviceCode {
public:
  ModuleCode(std::shared_ptr<Core> core, ModuleHandle module, int mostShared)
      : core(std::move(core)), module(module), mostShared(mostShared) {}
  ~ModuleCode() override { core->destroy(&Driver::moduleUnload, module); }
  Result<void *> find(const std::string &symbol,
                      const DeviceGrid &grid) override;

private:
  const std::shared_ptr<Core> core;
  const ModuleHandle module;
  const int mostShared; ///< Bytes of shared memory that a block may ask for.
};

class CUDADevice final : public Device {
public:
  static Result<std::shared_ptr<Device>> open(int index);
  ~CUDADevice() override;

  Context context() const override { return core->place; }
  const std::string &name() const override { return text; }
  bool isFor(std::string_view triple) const override {
    return triple.starts_with("nvptx64");
  }
  std::string misfitOf(std::span<const std::string> features) const override;
  Result<std::unique_ptr<DeviceCode>>
  load(std::span<const std::byte> object) override;
  Result<std::unique_ptr<DeviceQueue>> createQueue() override;
  Result<std::unique_ptr<DeviceEvent>> createEvent(bool isTimed) override;
  Status use(const std::function<Status()> &work) override;
  Result<DeviceMemory> memory() override;
  size_t granule() const override { return granuleBytes; }
  Result<std::byte *> reserve(size_t bytes) override;
  Status commit(std::byte *start, size_t bytes) override;
  bool decommit(std::byte *start, size_t bytes) override;
  void unreserve(std::byte *start, size_t bytes) override;
  Result<bool> openTo(const Device &reader) override;
  Result<std::byte *> allocateLocked(size_t bytes) override;
  void releaseLocked(std::byte *start) override;

  const Core &shared() const { return *core; }

private:
  Status start(int index);
  Status findProperties();
  AllocationProperties properties() const {
    return {1, 0, {1, core->number}, nullptr, {}};
  }
  Status mapGranule(std::byte *start);
  Status noMemory(Status status, size_t bytes);

  std::shared_ptr<Core> core;
  std::string text;
  int capability = 0; ///< 90 for 9.0.
  int mostShared = 0;
  size_t granuleBytes = 0;
  std::mutex mutex; ///< Guards what follows.
  /// Who reaches what is committed: this device first.
  std::vector<AccessDescription> users;
};

} // namespace

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

/// Barriers take their time and cannot be left out.
static constexpr const char *delayCode = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry dlc_delay() {
  .reg .b32 %r<2>;
  .reg .pred %p<2>;
  mov.u32 %r1, 0;
$again:
  bar.sync 0;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 2048;
  @%p1 bra $again;
  ret;
}
)";

void Core::loadDelay() {
  std::lock_guard lock(mutex);
  if (std::exchange(hasTriedDelay, true) ||
      driver->moduleLoad(&delayModule, delayCode) != success)
    return;
  if (driver->moduleGetFunction(&delay, delayModule, "dlc_delay") != success)
    delay = nullptr;
}

Status Queue::delay() {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  core->loadDelay();
  if (!core->delay)
    return Status::ok();
  DLC_CUDA_CHECK(driver, launchKernel, core->delay, 1, 1, 1, 32, 1, 1, 0,
                 stream, nullptr, nullptr);
  return Status::ok();
}

Status Queue::launch(void *function, const DeviceGrid &grid,
                     void *const *parameters) {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  DLC_CUDA_CHECK(driver, launchKernel, static_cast<FunctionHandle>(function),
                 grid.blocks, 1, 1, grid.threads, 1, 1, grid.sharedBytes,
                 stream, const_cast<void **>(parameters), nullptr);
  return Status::ok();
}

Status Queue::launch(const DeviceCall &call, void *const *parameters) {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  return call.queue(stream, parameters);
}

/// With unified addresses the driver knows what is the host's.
Status Queue::copy(void *target, const void *source, size_t bytes) {
  if (!bytes)
    return Status::ok();
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  DLC_CUDA_CHECK(driver, copyAsync, addressOf(target), addressOf(source), bytes,
                 stream);
  return Status::ok();
}

/// Of memory that is mapped, not allocated, the driver finds the devices only
/// when it is told of both contexts, unless each reaches the other's.
Status Queue::copyFrom(const Device &owner, void *target, const void *source,
                       size_t bytes) {
  if (!bytes)
    return Status::ok();
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  DLC_CUDA_CHECK(driver, copyPeerAsync, addressOf(target), core->context,
                 addressOf(source),
                 static_cast<const CUDADevice &>(owner).shared().context, bytes,
                 stream);
  return Status::ok();
}

Status Queue::record(DeviceEvent &event) {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  DLC_CUDA_CHECK(driver, eventRecord, static_cast<Event &>(event).handle,
                 stream);
  return Status::ok();
}

Status Queue::wait(DeviceEvent &event) {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  DLC_CUDA_CHECK(driver, streamWaitEvent, stream,
                 static_cast<Event &>(event).handle, 0);
  return Status::ok();
}

Status Queue::synchronize() {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  DLC_CUDA_CHECK(driver, streamSynchronize, stream);
  return Status::ok();
}

Status Queue::beginRecording() {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  DLC_CUDA_CHECK(driver, captureBegin, stream, captureThreadLocal);
  return Status::ok();
}

Result<std::unique_ptr<DeviceRecording>> Queue::endRecording() {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  GraphHandle graph = nullptr;
  DLC_CUDA_CHECK(driver, captureEnd, stream, &graph);
  GraphExecHandle handle = nullptr;
  Code code = driver.graphInstantiate(&handle, graph, 0);
  driver.graphDestroy(graph);
  if (code != success)
    return driver.error("graphInstantiate", code);
  std::unique_ptr<DeviceRecording> recording(new (std::nothrow)
                                                 Recording(core, handle));
  if (recording)
    return recording;
  driver.graphExecDestroy(handle);
  return makeError(StatusCode::OutOfMemory, "no memory for a recording");
}

Status Queue::replay(DeviceRecording &recording) {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  DLC_CUDA_CHECK(driver, graphLaunch,
                 static_cast<Recording &>(recording).handle, stream);
  return Status::ok();
}

Result<std::unique_ptr<DeviceQueue>> CUDADevice::createQueue() {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  StreamHandle stream = nullptr;
  DLC_CUDA_CHECK(*core->driver, streamCreate, &stream, streamNonBlocking);
  std::unique_ptr<DeviceQueue> queue(new (std::nothrow) Queue(core, stream));
  if (queue)
    return queue;
  core->driver->streamDestroy(stream);
  return makeError(StatusCode::OutOfMemory, "no memory for a queue");
}

Result<std::unique_ptr<DeviceEvent>> CUDADevice::createEvent(bool isTimed) {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  EventHandle handle = nullptr;
  DLC_CUDA_CHECK(*core->driver, eventCreate, &handle,
                 isTimed ? 0 : eventDisableTiming);
  std::unique_ptr<DeviceEvent> event(new (std::nothrow) Event(core, handle));
  if (event)
    return event;
  core->driver->eventDestroy(handle);
  return makeError(StatusCode::OutOfMemory, "no memory for an event");
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// PTX has letters, digits, _ and $ in names: whatever else is $ there.
static std::string symbolInCode(std::string name) {
  for (char &c : name)
    if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') &&
        !(c >= 'A' && c <= 'Z') && c != '_')
      c = '$';
  return name;
}

Result<void *> ModuleCode::find(const std::string &symbol,
                                const DeviceGrid &grid) {
  const Driver &driver = *core->driver;
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  FunctionHandle function = nullptr;
  Code code =
      driver.moduleGetFunction(&function, module, symbolInCode(symbol).c_str());
  if (code == errorNotFound)
    return makeError(StatusCode::NotFound, "the object has no kernel '%s'",
                     symbol.c_str());
  if (code != success)
    return driver.error("moduleGetFunction", code);
  int threads = 0;
  DLC_CUDA_CHECK(driver, functionGetAttribute, &threads, functionMaxThreads,
                 function);
  if (grid.blocks > uint32_t(INT32_MAX) || grid.threads > uint32_t(threads) ||
      grid.sharedBytes > uint32_t(mostShared))
    return makeError(StatusCode::Unsupported,
                     "kernel '%s': expected at most %d blocks of %d threads "
                     "with %d bytes, got %u of %u with %u",
                     symbol.c_str(), INT32_MAX, threads, mostShared,
                     grid.blocks, grid.threads, grid.sharedBytes);
  if (grid.sharedBytes)
    DLC_CUDA_CHECK(driver, functionSetAttribute, function,
                   functionMaxDynamicShared, int(grid.sharedBytes));
  return static_cast<void *>(function);
}

std::string CUDADevice::misfitOf(std::span<const std::string> features) const {
  for (const std::string &feature : features) {
    int needed = 0;
    const char *first = feature.c_str(), *last = first + feature.size();
    bool isKnown = feature.starts_with("sm_");
    if (isKnown) {
      auto [rest, error] = std::from_chars(first + 3, last, needed);
      bool isExact = rest + 1 == last && *rest == 'a';
      isKnown = error == std::errc() && (rest == last || isExact) &&
                (isExact ? needed == capability : needed <= capability);
    }
    if (!isKnown)
      return feature;
  }
  return "";
}

Result<std::unique_ptr<DeviceCode>>
CUDADevice::load(std::span<const std::byte> object) {
  const Driver &driver = *core->driver;
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  // PTX is text, which the driver wants with a zero behind it.
  std::string text(reinterpret_cast<const char *>(object.data()),
                   object.size());
  ModuleHandle module = nullptr;
  DLC_CUDA_CHECK(driver, moduleLoad, &module, text.c_str());
  std::unique_ptr<DeviceCode> code(new (std::nothrow)
                                       ModuleCode(core, module, mostShared));
  if (code)
    return code;
  driver.moduleUnload(module);
  return makeError(StatusCode::OutOfMemory, "no memory for a module");
}

Status CUDADevice::use(const std::function<Status()> &work) {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  return work();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Result<DeviceMemory> CUDADevice::memory() {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  DeviceMemory memory;
  DLC_CUDA_CHECK(*core->driver, memoryInfo, &memory.free, &memory.total);
  return memory;
}

Result<std::byte *> CUDADevice::reserve(size_t bytes) {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  Address start = 0;
  DLC_CUDA_CHECK(*core->driver, addressReserve, &start, bytes, granuleBytes, 0,
                 0);
  return reinterpret_cast<std::byte *>(start);
}

/// Memory that is known by its addresses alone: a mapping keeps it.
Status CUDADevice::mapGranule(std::byte *start) {
  const Driver &driver = *core->driver;
  MemoryHandle handle = 0;
  AllocationProperties wanted = properties();
  DLC_CUDA_CHECK(driver, memoryCreate, &handle, granuleBytes, &wanted, 0);
  Code code = driver.memoryMap(addressOf(start), granuleBytes, 0, handle, 0);
  driver.memoryRelease(handle);
  return code == success ? Status::ok() : driver.error("memoryMap", code);
}

Status CUDADevice::noMemory(Status status, size_t bytes) {
  DeviceMemory now;
  if (status.code() != StatusCode::OutOfMemory ||
      core->driver->memoryInfo(&now.free, &now.total) != success)
    return status;
  return makeError(StatusCode::OutOfMemory,
                   "%s: expected %zu bytes of free memory, got %zu of %zu",
                   text.c_str(), bytes, now.free, now.total);
}

Status CUDADevice::commit(std::byte *start, size_t bytes) {
  const Driver &driver = *core->driver;
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  Status status;
  size_t done = 0;
  for (; done != bytes && status.isOk(); done += granuleBytes)
    status = mapGranule(start + done);
  if (!status.isOk()) {
    done -= granuleBytes;
    if (done)
      driver.memoryUnmap(addressOf(start), done);
    // Counted without what was taken for a moment.
    return noMemory(std::move(status), bytes);
  }
  std::unique_lock lock(mutex);
  const std::vector<AccessDescription> allowed = users;
  lock.unlock();
  Code code = driver.memorySetAccess(addressOf(start), bytes, allowed.data(),
                                     allowed.size());
  if (code == success)
    return Status::ok();
  driver.memoryUnmap(addressOf(start), bytes);
  return driver.error("memorySetAccess", code);
}

bool CUDADevice::decommit(std::byte *start, size_t bytes) {
  Current current(*core);
  return current.status().isOk() &&
         core->driver->memoryUnmap(addressOf(start), bytes) == success;
}

void CUDADevice::unreserve(std::byte *start, size_t bytes) {
  Current current(*core);
  if (current.isOn())
    core->driver->addressFree(addressOf(start), bytes);
}

Result<bool> CUDADevice::openTo(const Device &reader) {
  const DeviceNumber number =
      static_cast<const CUDADevice &>(reader).core->number;
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  int isPossible = 0;
  DLC_CUDA_CHECK(*core->driver, canAccessPeer, &isPossible, number,
                 core->number);
  if (!isPossible)
    return false;
  std::lock_guard lock(mutex);
  auto isKnown = [&](const AccessDescription &user) {
    return user.location.id == number;
  };
  if (std::ranges::none_of(users, isKnown))
    users.push_back({{1, number}, 3});
  return true;
}

Result<std::byte *> CUDADevice::allocateLocked(size_t bytes) {
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  void *start = nullptr;
  DLC_CUDA_CHECK(*core->driver, hostAlloc, &start, bytes, hostAllocPortable);
  return static_cast<std::byte *>(start);
}

void CUDADevice::releaseLocked(std::byte *start) {
  Current current(*core);
  if (current.isOn())
    core->driver->hostFree(start);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

CUDADevice::~CUDADevice() = default;

Status CUDADevice::findProperties() {
  const Driver &driver = *core->driver;
  char name[256] = {};
  DLC_CUDA_CHECK(driver, deviceGetName, name, int(sizeof(name)) - 1,
                 core->number);
  int major = 0, minor = 0, hasVirtualMemory = 0;
  for (auto [value, attribute] :
       {std::pair(&major, attributeMajor), std::pair(&minor, attributeMinor),
        std::pair(&mostShared, attributeSharedOptIn),
        std::pair(&hasVirtualMemory, attributeVirtualMemory)})
    DLC_CUDA_CHECK(driver, deviceGetAttribute, value, attribute, core->number);
  capability = major * 10 + minor;
  text = std::string(name) + " (sm_" + std::to_string(capability) + ")";
  if (capability < oldestComputeCapability)
    return makeError(
        StatusCode::Unavailable,
        "%s: expected compute capability %d.%d or newer, got %d.%d", name,
        oldestComputeCapability / 10, oldestComputeCapability % 10, major,
        minor);
  if (!hasVirtualMemory)
    return makeError(StatusCode::Unavailable,
                     "%s: expected a device with virtual memory management",
                     name);
  return Status::ok();
}

Status CUDADevice::start(int index) {
  const Driver &driver = *core->driver;
  int count = 0;
  DLC_CUDA_CHECK(driver, deviceGetCount, &count);
  if (index >= count)
    return makeError(StatusCode::Unavailable,
                     "expected a CUDA device below %d, got %d", count, index);
  DLC_CUDA_CHECK(driver, deviceGet, &core->number, index);
  DLC_RETURN_IF_ERROR(findProperties());
  DLC_CUDA_CHECK(driver, primaryRetain, &core->context, core->number);
  Current current(*core);
  DLC_RETURN_IF_ERROR(current.status());
  AllocationProperties wanted = properties();
  // 1: what is recommended for speed.
  DLC_CUDA_CHECK(driver, granularity, &granuleBytes, &wanted, 1);
  users = {{{1, core->number}, 3}};
  return Status::ok();
}

Result<std::shared_ptr<Device>> CUDADevice::open(int index) {
  Result<std::shared_ptr<const Driver>> driver = Driver::open();
  if (!driver.isOk())
    return std::move(driver.status());
  std::shared_ptr<CUDADevice> device(new (std::nothrow) CUDADevice);
  std::shared_ptr<Core> core(new (std::nothrow) Core);
  if (!device || !core)
    return makeError(StatusCode::OutOfMemory, "no memory for a device");
  core->driver = std::move(*driver);
  core->place = Context::cuda(int16_t(index));
  device->core = std::move(core);
  DLC_RETURN_IF_ERROR(device->start(index));
  return std::shared_ptr<Device>(std::move(device));
}

Result<std::shared_ptr<Device>> dlc::rt::openCUDADevice(int index) {
  Result<std::shared_ptr<Device>> device = CUDADevice::open(index);
  if (!device.isOk())
    return std::move(device.status())
        .withContext("cuda:" + std::to_string(index));
  return device;
}
