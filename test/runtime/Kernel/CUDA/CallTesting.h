// SPDX-License-Identifier: Apache-2.0
//
// A call of a library's entry on the fake driver: operands of few bits, so that
// sums of their products are exact.

#ifndef DLC_TEST_RUNTIME_KERNEL_CUDA_CALLTESTING_H
#define DLC_TEST_RUNTIME_KERNEL_CUDA_CALLTESTING_H

#include "FakeFloats.h"

#include "dlc/runtime/Kernel/Library.h"
#include "dlc/runtime/Storage/DeviceSource.h"
#include "dlc/runtime/Storage/Manager.h"
#include "test/runtime/Device/CUDA/FakeCuda.h"

#include <deque>
#include <gtest/gtest.h>
#include <random>

namespace dlc::rt::test {

inline Real realOf(DataType type) {
  return type == DLC_F32 ? Real::F32 : type == DLC_F16 ? Real::F16 : Real::BF16;
}

inline int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

/// A tensor in the memory of a device and in the test's.
struct CallTensor {
  TensorType type = {};
  std::vector<float> values = {};
  Allocation memory = {};
  void *address = nullptr;
};

class TestedCall {
public:
  TestedCall(const char *entry, DataType type) : entry(entry), type(type) {
    auto opened = openDevice(Context::cuda());
    EXPECT_TRUE(opened.isOk()) << opened.status().message();
    device = std::move(*opened);
    manager = createNaiveManager(Context::cuda(), createDeviceSource(device));
    auto made = device->createQueue();
    EXPECT_TRUE(made.isOk());
    queue = std::move(*made);
  }

  /// An operand; absent without a shape.
  void add(const std::vector<int64_t> &shape) {
    CallTensor &tensor = tensors.emplace_back();
    if (shape.empty())
      return;
    std::uniform_int_distribution<int> values(-8, 8);
    tensor.values.resize(size_t(countOf(shape)));
    for (float &value : tensor.values)
      value = float(values(random)) / 8;
    tensor.type = {type, shape};
    allocate(tensor, tensor.values.size() * sizeOf(type));
    write(tensor);
  }
  void addWorkspace() {
    constexpr int64_t bytes = 1 << 20;
    tensors.emplace_back().type = {DLC_I8, {bytes}};
    // As little aligned as values in arenas are.
    allocate(tensors.back(), bytes + DLC_ALIGNMENT);
    tensors.back().address =
        static_cast<std::byte *>(tensors.back().address) + DLC_ALIGNMENT;
  }
  void write(CallTensor &tensor) {
    const size_t step = sizeOf(type);
    std::vector<std::byte> bytes(tensor.values.size() * step);
    for (size_t i = 0; i != tensor.values.size(); ++i)
      storeReal(realOf(type), bytes.data() + i * step, tensor.values[i]);
    EXPECT_TRUE(queue->copy(tensor.address, bytes.data(), bytes.size()).isOk());
    EXPECT_TRUE(queue->synchronize().isOk());
  }

  /// With two outputs, the last ones.
  Status prepare() {
    std::vector<TensorType> types;
    for (CallTensor &tensor : tensors) {
      types.push_back(tensor.type);
      parameters.push_back(tensor.address ? &tensor.address : nullptr);
    }
    std::span<const TensorType> all(types);
    const size_t inputs = types.size() - 2;
    return lookupLibraryEntry(entry)->prepareOn(
        *device, {all.first(inputs), all.subspan(inputs), attributes}, library,
        call);
  }
  Status launch() { return queue->launch(*call, parameters.data()); }
  std::vector<float> answer() {
    CallTensor &y = tensors[tensors.size() - 2];
    const size_t step = sizeOf(type);
    std::vector<std::byte> bytes(y.values.size() * step);
    EXPECT_TRUE(queue->copy(bytes.data(), y.address, bytes.size()).isOk());
    EXPECT_TRUE(queue->synchronize().isOk());
    std::vector<float> values(y.values.size());
    for (size_t i = 0; i != values.size(); ++i)
      values[i] = loadReal(realOf(type), bytes.data() + i * step);
    return values;
  }

  const char *const entry;
  const DataType type;
  std::shared_ptr<Device> device;
  StorageManagerPtr manager;
  std::unique_ptr<DeviceQueue> queue;
  std::deque<CallTensor> tensors;
  Attributes attributes;
  std::vector<void *> parameters;
  std::shared_ptr<void> library;
  std::unique_ptr<DeviceCall> call;

private:
  void allocate(CallTensor &tensor, size_t bytes) {
    auto memory = manager->allocate(bytes);
    EXPECT_TRUE(memory.isOk());
    tensor.memory = std::move(*memory);
    tensor.address = tensor.memory.data();
  }
  std::mt19937 random{7};
};

inline void expectNear(std::span<const float> got,
                       std::span<const double> expected, double bound) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i != got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], bound) << "element " << i;
}

/// Launches a call while the queue records, and replays that.
inline void expectRecorded(TestedCall &tested) {
  ASSERT_TRUE(tested.prepare().isOk());
  ASSERT_TRUE(tested.queue->beginRecording().isOk());
  ASSERT_TRUE(tested.launch().isOk());
  auto recording = tested.queue->endRecording();
  ASSERT_TRUE(recording.isOk());
  ASSERT_TRUE(tested.queue->replay(**recording).isOk());
}

/// Each function of a library fails in turn; `makeCall` gives a call that calls
/// all of them.
template <typename Make>
void expectFailures(std::span<const char *const> symbols, const char *says,
                    std::span<const std::pair<int, StatusCode>> codes,
                    Make &&makeCall) {
  for (const char *symbol : symbols)
    for (auto [code, expected] : codes) {
      FakeCuda fake;
      {
        auto tested = makeCall();
        fake.fail(symbol, 1, code, /*isSticky=*/true);
        Status status = tested->prepare();
        if (status.isOk())
          status = tested->launch();
        EXPECT_EQ(status.code(), expected) << symbol << status.message();
        EXPECT_EQ(status.message(),
                  std::string(symbol) + " failed with error " +
                      std::to_string(code) + " (" + says + ")");
        fake.reset();
      }
      EXPECT_EQ(fake.handles(), 0u) << symbol;
    }
}

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_KERNEL_CUDA_CALLTESTING_H
