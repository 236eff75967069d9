// SPDX-License-Identifier: Apache-2.0
//
// A device through the fake driver: memory, queues, events, code, recordings,
// and every way in which opening one can fail.

#include "../../InChild.h"
#include "FakeCuda.h"
#include "TestPtx.h"
#include "dlc/runtime/Device/CUDA/CUDADevice.h"
#include "dlc/runtime/Storage/DeviceSource.h"
#include "dlc/runtime/Storage/Manager.h"

#include <bit>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

std::string openFailure(const std::string &machine, int index = 0) {
  FakeCuda fake(machine);
  Result<std::shared_ptr<Device>> device = openDevice(Context::cuda(index));
  if (device.isOk())
    return "";
  EXPECT_EQ(device.status().code(), StatusCode::Unavailable);
  return device.status().message();
}

std::shared_ptr<Device> open(int index = 0) {
  Result<std::shared_ptr<Device>> device =
      openDevice(Context::cuda(int16_t(index)));
  EXPECT_TRUE(device.isOk()) << device.status().message();
  return std::move(*device);
}

std::unique_ptr<DeviceQueue> queueOf(Device &device) {
  Result<std::unique_ptr<DeviceQueue>> queue = device.createQueue();
  EXPECT_TRUE(queue.isOk()) << queue.status().message();
  return std::move(*queue);
}

std::unique_ptr<DeviceCode> codeOf(Device &device, const std::string &ptx) {
  Result<std::unique_ptr<DeviceCode>> code =
      device.load(std::as_bytes(std::span(ptx)));
  EXPECT_TRUE(code.isOk()) << code.status().message();
  return code.isOk() ? std::move(*code) : nullptr;
}

/// 300 elements on a device, and a kernel that doubles them.
struct Doubling {
  Doubling()
      : device(open()), manager(createNaiveManager(Context::cuda(),
                                                   createDeviceSource(device))),
        queue(queueOf(*device)), code(codeOf(*device, testPtx(300))) {
    Result<Allocation> block = manager->allocate(300 * sizeof(float));
    EXPECT_TRUE(block.isOk()) << block.status().message();
    memory = std::move(*block);
    host.resize(300);
    std::iota(host.begin(), host.end(), 1.0f);
    Result<void *> found = code->find("k.scale", grid);
    EXPECT_TRUE(found.isOk()) << found.status().message();
    function = *found;
  }
  Status upload() { return queue->copy(memory.data(), host.data(), 1200); }
  Status twice() {
    void *data = memory.data();
    void *parameters[] = {&data, &data};
    return queue->launch(function, grid, parameters);
  }
  Status download() { return queue->copy(host.data(), memory.data(), 1200); }

  const DeviceGrid grid{.blocks = 2, .threads = 256};
  std::shared_ptr<Device> device;
  StorageManagerPtr manager;
  std::unique_ptr<DeviceQueue> queue;
  std::unique_ptr<DeviceCode> code;
  Allocation memory;
  std::vector<float> host;
  void *function = nullptr;
};

} // namespace

TEST(CUDADevice, SaysWhatIsMissing) {
  EXPECT_EQ(
      openFailure("driver=11040"),
      "cuda:0: expected a CUDA driver of version 11.8 or newer, got 11.4");
  EXPECT_EQ(openFailure("devices=0"),
            "cuda:0: the CUDA driver finds no device");
  EXPECT_EQ(openFailure("devices=2", 2),
            "cuda:2: expected a CUDA device below 2, got 2");
  EXPECT_EQ(openFailure("capability=75"),
            "cuda:0: Fake GPU: expected compute capability 8.0 or newer, got "
            "7.5");
  EXPECT_EQ(openFailure("capability=86"), "");
  Result<std::shared_ptr<Device>> host = openDevice(Context::cpu(1));
  ASSERT_FALSE(host.isOk());
  EXPECT_EQ(host.status().message(),
            "expected a device with memory of its own, got cpu:1");
}

/// Each call in turn fails: that is said, by its name, and nothing is left.
TEST(CUDADevice, OpeningFailsCleanly) {
  for (const char *symbol :
       {"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet",
        "cuDeviceGetName", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
        "cuMemGetAllocationGranularity"}) {
    FakeCuda fake;
    fake.fail(symbol, 1, 999);
    Result<std::shared_ptr<Device>> device = openDevice(Context::cuda());
    ASSERT_FALSE(device.isOk()) << symbol;
    EXPECT_EQ(device.status().message(),
              std::string("cuda:0: ") + symbol +
                  " failed with CUDA_ERROR_UNKNOWN (says the fake driver)");
    EXPECT_EQ(fake.handles(), 0u) << symbol;
  }
}

TEST(CUDADevice, ComputesInOrder) {
  FakeCuda fake;
  {
    Doubling work;
    EXPECT_EQ(work.device->name(), "Fake GPU (sm_90)");
    ASSERT_TRUE(work.upload().isOk());
    ASSERT_TRUE(work.twice().isOk());
    ASSERT_TRUE(work.twice().isOk());
    ASSERT_TRUE(work.download().isOk());
    EXPECT_EQ(work.host[2], 3.0f) << "nothing is done before somebody waits";
    ASSERT_TRUE(work.queue->synchronize().isOk());
    EXPECT_EQ(work.host[2], 12.0f);
    EXPECT_EQ(work.host[299], 1200.0f);
    EXPECT_EQ(fake.count("cuLaunchKernel k$scale 2x256"), 2u);
  }
  EXPECT_EQ(fake.handles(), 0u);
  EXPECT_EQ(fake.bytes(), 0u);
}

/// As sm_90 does two whole numbers of a register.
TEST(CUDADevice, ComputesPairs) {
  for (bool isSigned : {false, true}) {
    FakeCuda fake;
    Doubling work;
    const std::string type = isSigned ? "s16x2" : "u16x2";
    std::unique_ptr<DeviceCode> code = codeOf(
        *work.device, ".version 8.0\n.target sm_90\n" +
                          ptxKernel("k$scale", 2, 300,
                                    "  ld.global.b32 %r4, [%rd4];\n"
                                    "  max." +
                                        type +
                                        " %r4, %r4, 131065;\n"
                                        "  st.global.b32 [%rd5], %r4;\n"));
    const uint32_t bits = 0x80010003; // Beside 1 and -7.
    std::memcpy(work.host.data(), &bits, 4);
    work.function = *code->find("k.scale", work.grid);
    ASSERT_TRUE(work.upload().isOk());
    ASSERT_TRUE(work.twice().isOk());
    ASSERT_TRUE(work.download().isOk());
    ASSERT_TRUE(work.queue->synchronize().isOk());
    EXPECT_EQ(std::bit_cast<uint32_t>(work.host[0]),
              isSigned ? 0x00010003u : 0x8001fff9u);
  }
}

TEST(CUDADevice, QueuesWaitForEvents) {
  FakeCuda fake;
  Doubling work;
  std::unique_ptr<DeviceQueue> other = queueOf(*work.device);
  Result<std::unique_ptr<DeviceEvent>> event = work.device->createEvent();
  ASSERT_TRUE(event.isOk());
  // An event that was never recorded holds nobody up.
  ASSERT_TRUE(other->wait(**event).isOk());
  ASSERT_TRUE((*event)->synchronize().isOk());
  ASSERT_TRUE(work.upload().isOk());
  ASSERT_TRUE(work.twice().isOk());
  ASSERT_TRUE(work.queue->record(**event).isOk());
  ASSERT_TRUE(work.twice().isOk()); // After the event: not waited for.
  ASSERT_TRUE(other->wait(**event).isOk());
  std::vector<float> result(300);
  ASSERT_TRUE(other->copy(result.data(), work.memory.data(), 1200).isOk());
  ASSERT_TRUE(other->synchronize().isOk());
  EXPECT_EQ(result[2], 6.0f);
  ASSERT_TRUE((*event)->synchronize().isOk());
  ASSERT_TRUE(work.queue->synchronize().isOk());
}

TEST(CUDADevice, RecordsAndReplays) {
  FakeCuda fake;
  {
    Doubling work;
    ASSERT_TRUE(work.upload().isOk());
    ASSERT_TRUE(work.queue->beginRecording().isOk());
    ASSERT_TRUE(work.twice().isOk());
    ASSERT_TRUE(work.twice().isOk());
    Result<std::unique_ptr<DeviceRecording>> recording =
        work.queue->endRecording();
    ASSERT_TRUE(recording.isOk()) << recording.status().message();
    for (int i = 0; i != 2; ++i)
      ASSERT_TRUE(work.queue->replay(**recording).isOk());
    ASSERT_TRUE(work.download().isOk());
    ASSERT_TRUE(work.queue->synchronize().isOk());
    EXPECT_EQ(work.host[0], 16.0f);
    EXPECT_EQ(fake.count("cuLaunchKernel"), 2u);
  }
  EXPECT_EQ(fake.handles(), 0u);
}

TEST(CUDADevice, FailuresOnTheDeviceAreTold) {
  FakeCuda fake;
  Doubling work;
  void *nowhere = work.host.data(); // The host's: no kernel may touch it.
  void *parameters[] = {&nowhere, &nowhere};
  ASSERT_TRUE(work.queue->launch(work.function, work.grid, parameters).isOk());
  testing::internal::CaptureStderr();
  Status status = work.queue->synchronize();
  testing::internal::GetCapturedStderr();
  ASSERT_FALSE(status.isOk());
  EXPECT_EQ(status.code(), StatusCode::Unavailable);
  EXPECT_EQ(status.message(),
            "cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS (says "
            "the fake driver)");
  // A device that failed stays so, and says it every time.
  EXPECT_EQ(work.twice().code(), StatusCode::Unavailable);
  fake.reset();
}

TEST(CUDADevice, SaysHowMuchMemoryIsFree) {
  FakeCuda fake("memory=8388608");
  std::shared_ptr<Device> device = open();
  StorageManagerPtr manager =
      createNaiveManager(Context::cuda(), createDeviceSource(device));
  Result<Allocation> first = manager->allocate(4 << 20);
  ASSERT_TRUE(first.isOk()) << first.status().message();
  Result<Allocation> second = manager->allocate(6 << 20);
  ASSERT_FALSE(second.isOk());
  EXPECT_EQ(second.status().code(), StatusCode::OutOfMemory);
  EXPECT_EQ(second.status().message(),
            "cannot allocate 6291456 bytes on cuda:0: Fake GPU (sm_90): "
            "expected 6291456 bytes of free memory, got 4194304 of 8388608");
  EXPECT_EQ(fake.bytes(), size_t(4) << 20) << "a failed request keeps nothing";
  first = Allocation();
  EXPECT_TRUE(manager->allocate(6 << 20).isOk());
}

/// Each call of an allocation fails in turn.
TEST(CUDADevice, AllocationsFailCleanly) {
  for (const char *symbol :
       {"cuMemAddressReserve", "cuMemCreate", "cuMemMap", "cuMemSetAccess"}) {
    FakeCuda fake;
    std::shared_ptr<Device> device = open();
    StorageManagerPtr manager =
        createNaiveManager(Context::cuda(), createDeviceSource(device));
    size_t before = fake.handles();
    fake.fail(symbol, symbol == std::string("cuMemMap") ? 2 : 1, 999);
    Result<Allocation> block = manager->allocate(4 << 20);
    EXPECT_FALSE(block.isOk()) << symbol;
    EXPECT_EQ(fake.bytes(), 0u) << symbol;
    EXPECT_EQ(fake.handles(), before) << symbol;
    EXPECT_TRUE(manager->allocate(4 << 20).isOk()) << symbol;
  }
}

TEST(CUDADevice, PoolsOverItsMemory) {
  FakeCuda fake;
  {
    StorageManagerPtr pool =
        createPooledManager(Context::cuda(), createDeviceSource(open()));
    std::vector<Allocation> blocks;
    for (size_t bytes : {100u, 5000000u, 300u, 9000000u}) {
      Result<Allocation> block = pool->allocate(bytes);
      ASSERT_TRUE(block.isOk()) << block.status().message();
      blocks.push_back(std::move(*block));
    }
    blocks.erase(blocks.begin() + 1);
    pool->trim();
    Result<Allocation> again = pool->allocate(5000000);
    ASSERT_TRUE(again.isOk());
  }
  EXPECT_EQ(fake.bytes(), 0u);
  EXPECT_EQ(fake.handles(), 0u);
}

//===----------------------------------------------------------------------===//
// Memory of the host, and of other devices
//===----------------------------------------------------------------------===//

/// A driver holds up who copies ordinary memory, and not who copies locked one.
TEST(CUDADevice, CopiesLockedMemoryAside) {
  FakeCuda fake;
  {
    Doubling work;
    StorageManagerPtr locked = createNaiveManager(
        Context::cpuPinned(), createLockedSource(work.device));
    Result<Allocation> block = locked->allocate(1200 + 64);
    ASSERT_TRUE(block.isOk()) << block.status().message();
    auto *data = static_cast<float *>(block->data()) + 16;
    std::iota(data, data + 300, 5.0f);
    DeviceQueue &queue = *work.queue;
    ASSERT_TRUE(queue.copy(work.memory.data(), data, 1200).isOk());
    ASSERT_TRUE(work.twice().isOk());
    ASSERT_TRUE(queue.copy(data, work.memory.data(), 1200).isOk());
    EXPECT_EQ(data[0], 5.0f) << "nothing is done before somebody waits";
    ASSERT_TRUE(queue.synchronize().isOk());
    EXPECT_EQ(data[0], 10.0f);
    EXPECT_EQ(data[299], 608.0f);
    EXPECT_EQ(fake.count("cuMemcpyAsync 1200\n"), 2u);
    EXPECT_EQ(fake.count("cuMemcpyAsync 1200 synchronous"), 0u);
    // More than what is locked, and what never was.
    ASSERT_TRUE(queue.copy(work.memory.data(), data - 16, 1200).isOk());
    ASSERT_TRUE(work.upload().isOk());
    EXPECT_EQ(fake.count("cuMemcpyAsync 1200\n"), 3u);
    EXPECT_EQ(fake.count("cuMemcpyAsync 1200 synchronous"), 1u);
    ASSERT_TRUE(queue.synchronize().isOk());
  }
  EXPECT_EQ(fake.handles(), 0u);
  EXPECT_EQ(fake.count("cuMemFreeHost"), 1u);
}

TEST(CUDADevice, LockingIsRefusedCleanly) {
  {
    FakeCuda fake("locked=4096");
    std::shared_ptr<Device> device = open();
    StorageManagerPtr locked =
        createNaiveManager(Context::cpuPinned(), createLockedSource(device));
    const size_t before = fake.handles();
    EXPECT_EQ(locked->allocate(4097).status().message(),
              "cannot allocate 4097 bytes on cpu_pinned:0: cuMemHostAlloc "
              "failed with CUDA_ERROR_OUT_OF_MEMORY (says the fake driver)");
    EXPECT_EQ(locked->allocate(SIZE_MAX / 8).status().code(),
              StatusCode::OutOfMemory);
    EXPECT_EQ(fake.handles(), before);
    EXPECT_TRUE(locked->allocate(4096).isOk());
  }
  FakeCuda fake;
  std::shared_ptr<Device> device = open();
  fake.fail("cuMemHostAlloc", 1, 999);
  EXPECT_EQ(device->allocateLocked(64).status().code(),
            StatusCode::Unavailable);
}

namespace {

/// 300 elements on each of two devices.
struct Pair {
  explicit Pair(bool isOpen) {
    for (int i = 0; i != 2; ++i)
      devices[i] = open(i);
    if (isOpen) {
      Result<bool> opened = devices[0]->openTo(*devices[1]);
      EXPECT_TRUE(opened.isOk()) << opened.status().message();
      reaches = opened.isOk() && *opened;
    }
    for (int i = 0; i != 2; ++i) {
      managers[i] = createNaiveManager(Context::cuda(int16_t(i)),
                                       createDeviceSource(devices[i]));
      Result<Allocation> block = managers[i]->allocate(1200);
      EXPECT_TRUE(block.isOk()) << block.status().message();
      blocks[i] = std::move(*block);
      queues[i] = queueOf(*devices[i]);
    }
    host.resize(300);
    std::iota(host.begin(), host.end(), 1.0f);
  }
  /// From the host to one, to the other, and back.
  Status pass() {
    Result<std::unique_ptr<DeviceEvent>> event = devices[0]->createEvent();
    DLC_RETURN_IF_ERROR(std::move(event.status()));
    DLC_RETURN_IF_ERROR(queues[0]->copy(blocks[0].data(), host.data(), 1200));
    DLC_RETURN_IF_ERROR(queues[0]->record(**event));
    DLC_RETURN_IF_ERROR(queues[1]->wait(**event));
    DLC_RETURN_IF_ERROR(queues[1]->copyFrom(*devices[0], blocks[1].data(),
                                            blocks[0].data(), 1200));
    back.assign(300, 0);
    DLC_RETURN_IF_ERROR(queues[1]->copy(back.data(), blocks[1].data(), 1200));
    return queues[1]->synchronize();
  }

  std::shared_ptr<Device> devices[2];
  StorageManagerPtr managers[2];
  Allocation blocks[2];
  std::unique_ptr<DeviceQueue> queues[2];
  std::vector<float> host, back;
  bool reaches = false;
};

} // namespace

/// Through the host unless memory was opened, and that could be done.
TEST(CUDADevice, CopiesFromOthers) {
  struct Case {
    const char *machine;
    bool isOpen, isDirect;
  };
  for (auto [machine, isOpen, isDirect] :
       {Case{"devices=2", true, true}, Case{"devices=2", false, false},
        Case{"devices=2,peers=0", true, false}}) {
    FakeCuda fake(machine);
    {
      Pair pair(isOpen);
      EXPECT_EQ(pair.reaches, isDirect);
      Status status = pair.pass();
      ASSERT_TRUE(status.isOk()) << status.message();
      EXPECT_EQ(pair.back, pair.host);
      EXPECT_EQ(fake.count("cuMemcpyPeerAsync 1200\n"), isDirect ? 1u : 0u);
      EXPECT_EQ(fake.count("cuMemcpyPeerAsync 1200 through the host"),
                isDirect ? 0u : 1u);
      // Only what is read is open, and once however often that is asked for.
      EXPECT_EQ(fake.count("cuMemSetAccess 1\n"), isDirect ? 1u : 2u);
      EXPECT_TRUE(pair.devices[0]->openTo(*pair.devices[1]).isOk());
      Result<Allocation> more = pair.managers[0]->allocate(1);
      EXPECT_TRUE(more.isOk());
      EXPECT_EQ(fake.count("cuMemSetAccess 3"), 0u);
    }
    EXPECT_EQ(fake.handles(), 0u);
    EXPECT_EQ(fake.bytes(), 0u);
  }
}

TEST(CUDADevice, CopiesFromOthersFailCleanly) {
  FakeCuda fake("devices=2");
  Pair pair(/*isOpen=*/true);
  fake.fail("cuDeviceCanAccessPeer", 1, 999);
  Result<bool> opened = pair.devices[1]->openTo(*pair.devices[0]);
  ASSERT_FALSE(opened.isOk());
  EXPECT_EQ(opened.status().message(),
            "cuDeviceCanAccessPeer failed with CUDA_ERROR_UNKNOWN (says the "
            "fake driver)");
  fake.fail("cuMemcpyPeerAsync", 1, 999);
  EXPECT_NE(pair.pass().message().find("cuMemcpyPeerAsync failed"),
            std::string::npos);
  EXPECT_TRUE(pair.pass().isOk());
  EXPECT_EQ(pair.back, pair.host);
  // A copy that goes by addresses alone finds no memory of another device.
  ASSERT_TRUE(pair.queues[1]
                  ->copy(pair.blocks[1].data(), pair.blocks[0].data(), 1200)
                  .isOk());
  EXPECT_FALSE(pair.queues[1]->synchronize().isOk());
  fake.reset();
}

TEST(CUDADevice, KnowsWhichCodeFits) {
  FakeCuda fake("capability=86");
  std::shared_ptr<Device> device = open();
  auto misfit = [&](const std::string &feature) {
    return device->misfitOf(std::vector<std::string>{feature});
  };
  EXPECT_TRUE(device->isFor("nvptx64-nvidia-cuda"));
  EXPECT_FALSE(device->isFor("x86_64-unknown-linux-gnu"));
  EXPECT_EQ(misfit("sm_80"), "");
  EXPECT_EQ(misfit("sm_86"), "");
  EXPECT_EQ(misfit("sm_90"), "sm_90");
  EXPECT_EQ(misfit("sm_86a"), "");
  EXPECT_EQ(misfit("sm_80a"), "sm_80a");
  EXPECT_EQ(misfit("avx2"), "avx2");
  EXPECT_EQ(misfit("sm_"), "sm_");

  auto loadCode = [&](const std::string &text) {
    return device->load(std::as_bytes(std::span(text))).status().code();
  };
  EXPECT_EQ(loadCode("\177ELF..."), StatusCode::Unsupported);
  testing::internal::CaptureStderr();
  EXPECT_EQ(loadCode("no ptx"), StatusCode::DataLoss);
  testing::internal::GetCapturedStderr();
  std::unique_ptr<DeviceCode> code = codeOf(*device, testPtx(4));
  EXPECT_EQ(code->find("k.other", {}).status().message(),
            "the object has no kernel 'k.other'");
  EXPECT_EQ(code->find("k.add", {.blocks = 1, .threads = 512}).status().code(),
            StatusCode::Unsupported);
}

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

// The driver of the parent does not work in its child, where calls may hang:
// none is made, whatever is asked for and whatever ends there.
TEST(CUDA, RefusesInAChild) {
  FakeCuda fake;
  auto doubling = std::make_unique<Doubling>();
  EXPECT_TRUE(doubling->upload().isOk());
  Device &device = *doubling->device;
  auto event = std::move(*device.createEvent());
  auto recorder = queueOf(device);
  EXPECT_TRUE(recorder->beginRecording().isOk());
  auto recording = std::move(*recorder->endRecording());
  std::byte *start = *device.reserve(device.granule());
  std::byte *locked = *device.allocateLocked(64);
  std::string log = fake.log();
  int result = inChild([&] {
    auto isRefused = [](Status status) {
      return status.code() == StatusCode::Unavailable &&
             status.message().find("fork") != std::string::npos;
    };
    DeviceQueue &queue = *doubling->queue;
    DeviceGrid grid{1, 32, 0};
    std::string ptx = testPtx(300);
    const bool refusals[] = {
        isRefused(doubling->upload()),
        isRefused(doubling->twice()),
        isRefused(queue.record(*event)),
        isRefused(queue.wait(*event)),
        isRefused(queue.synchronize()),
        isRefused(queue.beginRecording()),
        isRefused(std::move(queue.endRecording().status())),
        isRefused(queue.replay(*recording)),
        isRefused(event->synchronize()),
        isRefused(std::move(doubling->code->find("k.scale", grid).status())),
        isRefused(std::move(device.createQueue().status())),
        isRefused(std::move(device.createEvent().status())),
        isRefused(
            std::move(device.load(std::as_bytes(std::span(ptx))).status())),
        isRefused(std::move(device.memory().status())),
        isRefused(std::move(device.reserve(device.granule()).status())),
        isRefused(device.commit(start, device.granule())),
        isRefused(queue.copyFrom(device, start, start, 64)),
        isRefused(std::move(device.openTo(device).status())),
        isRefused(std::move(device.allocateLocked(64).status())),
        !device.decommit(start, device.granule())};
    for (size_t i = 0; i != std::size(refusals); ++i)
      if (!refusals[i])
        return 1 + int(i);
    device.unreserve(start, device.granule());
    device.releaseLocked(locked);
    recording.reset();
    recorder.reset();
    event.reset();
    doubling.reset();
    return fake.log() == log ? 0 : 100;
  });
  EXPECT_EQ(result, 0);
  // The parent goes on.
  EXPECT_TRUE(doubling->twice().isOk());
  EXPECT_TRUE(doubling->queue->synchronize().isOk());
  device.unreserve(start, device.granule());
  device.releaseLocked(locked);
}
