// SPDX-License-Identifier: Apache-2.0
//
// DLPack in and out: the layout, the order, and who owns what when.

#include "dlc/runtime/NDArray/DLPack.h"
#include "NDArrayTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {
/// Somebody else's tensor of 2x3xf32.
struct Foreign {
  float values[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
  int deleted = 0;
  dlpack::ManagedTensorVersioned managed = {
      {1, 0},
      this,
      [](dlpack::ManagedTensorVersioned *self) {
        ++static_cast<Foreign *>(self->context)->deleted;
      },
      0,
      {values, {dlpack::CPU, 0}, 2, {dlpack::Float, 32, 1}, shape, strides, 0}};

  std::string failure(const std::shared_ptr<ArrayRuntime> &runtime) {
    Result<NDArray> array = fromDLPack(runtime, &managed);
    EXPECT_EQ(deleted, 0);
    return array.status().message();
  }
};
} // namespace

DLC_WITH_EVERY_ENGINE(DLPack);

TEST_P(DLPack, HandsOutWhatOperationsWrote) {
  NDArray x = makeArray(runtime, {2, 3});
  EXPECT_OK(x.fill(2));
  NDArray row = valueOf(valueOf(apply("add", {x, x})).at(1));
  dlpack::ManagedTensor *managed = valueOf(toDLPack(row));
  ASSERT_TRUE(managed);
  row = x = NDArray();
  runtime.reset(); // The tensor is the last owner of everything.
  const dlpack::Tensor &tensor = managed->tensor;
  EXPECT_EQ(tensor.rank, 1);
  EXPECT_EQ(tensor.shape[0], 3);
  EXPECT_EQ(tensor.strides[0], 1);
  EXPECT_EQ(tensor.byteOffset, 0u);
  EXPECT_EQ(tensor.device.type, dlpack::CPU);
  EXPECT_EQ(tensor.type.code, dlpack::Float);
  EXPECT_EQ(tensor.type.bits, 32);
  EXPECT_EQ(tensor.type.lanes, 1);
  EXPECT_EQ(static_cast<float *>(tensor.data)[2], 4);
  managed->deleter(managed);
}

TEST_P(DLPack, RoundTripsEveryTypeWithoutACopy) {
  for (int type = DLC_BOOL; type < DLC_TEXT; ++type) {
    NDArray x = makeArray(runtime, {2, 1, 3}, DataType(type));
    std::vector<std::byte> zeros(x.bytes());
    EXPECT_OK(x.copyFromHost(std::span(zeros)));
    auto *managed = valueOf(toDLPackVersioned(x, VariableUse::Write));
    void *data = managed->tensor.data;
    NDArray y = valueOf(fromDLPack(runtime, managed));
    EXPECT_EQ(y.type(), type);
    EXPECT_EQ(shapeOf(y), (Shape{2, 1, 3}));
    EXPECT_EQ(valueOf(y.hostAccess(VariableUse::Read)), data);
    EXPECT_FALSE(y.isReadOnly());
  }
}

TEST_P(DLPack, MarksWhatMayOnlyBeRead) {
  NDArray x = makeArray(runtime, {2});
  EXPECT_OK(x.fill(1));
  auto *managed = valueOf(toDLPackVersioned(x, VariableUse::Read));
  EXPECT_EQ(managed->version.major, 1u);
  EXPECT_EQ(managed->flags, dlpack::readOnly);
  NDArray y = valueOf(fromDLPack(runtime, managed));
  EXPECT_TRUE(y.isReadOnly());
  EXPECT_ERROR(toDLPack(y).status(), Unsupported, "read-only memory");
  EXPECT_ERROR(toDLPackVersioned(y, VariableUse::Write).status(),
               InvalidArgument, "read-only memory");
  EXPECT_OK(x.fill(5));
  EXPECT_OK(x.waitToRead());
  EXPECT_EQ(floatsOf(y)[1], 5); // Still the same memory.
}

TEST_P(DLPack, DeletesOnceAfterTheLastOperation) {
  Foreign foreign;
  NDArray result;
  {
    NDArray x = valueOf(fromDLPack(runtime, &foreign.managed));
    result = valueOf(apply("add", {x, valueOf(x.slice(0, 1))}));
  }
  EXPECT_EQ(floatsOf(result), (std::vector<float>{2, 4, 6, 5, 7, 9}));
  EXPECT_OK(runtime->engine().waitForAll());
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPackImport, TakesTheOldForm) {
  auto runtime = makeRuntime();
  static int deleted;
  deleted = 0;
  float values[3] = {0, 1, 2};
  int64_t shape[] = {2};
  dlpack::ManagedTensor managed = {
      {values, {dlpack::CPU, 0}, 1, {dlpack::Float, 32, 1}, shape, nullptr, 4},
      nullptr,
      [](dlpack::ManagedTensor *) { ++deleted; }};
  EXPECT_EQ(floatsOf(valueOf(fromDLPack(runtime, &managed))),
            (std::vector<float>{1, 2}));
  EXPECT_OK(runtime->engine().waitForAll());
  EXPECT_EQ(deleted, 1);
  managed.deleter = nullptr; // Allowed: nothing to be done.
  EXPECT_OK(fromDLPack(runtime, &managed).status());
}

TEST(DLPackImport, LeavesRefusedTensorsToTheCaller) {
  auto runtime = makeRuntime();
  dlpack::ManagedTensor *none = nullptr;
  EXPECT_ERROR(fromDLPack(runtime, none).status(), InvalidArgument, "null");
  auto refuse = [&](auto change) {
    Foreign foreign;
    change(foreign.managed);
    return foreign.failure(runtime);
  };
  using Managed = dlpack::ManagedTensorVersioned;
  EXPECT_EQ(refuse([](Managed &m) { m.version.major = 2; }),
            "expected DLPack of version 1, got 2");
  EXPECT_EQ(refuse([](Managed &m) { m.tensor.device.type = dlpack::CUDA; }),
            "expected memory of the host, got device type 2");
  EXPECT_EQ(refuse([](Managed &m) { m.tensor.type.lanes = 4; }),
            "element type of code 2, 32 bits and 4 lanes is not supported");
  EXPECT_EQ(refuse([](Managed &m) { m.tensor.type.bits = 8; }),
            "element type of code 2, 8 bits and 1 lanes is not supported");
  EXPECT_EQ(refuse([](Managed &m) { m.tensor.rank = -1; }),
            "expected a shape of 0 to 16 dimensions, got -1");
  EXPECT_EQ(refuse([](Managed &m) { m.tensor.shape = nullptr; }),
            "expected a shape of 2 dimensions, got null");
  EXPECT_EQ(refuse([](Managed &m) { m.tensor.shape[0] = -2; }),
            "expected dimensions of 0 or more, got -2");
  EXPECT_EQ(refuse([](Managed &m) { m.tensor.strides[0] = 4; }),
            "expected a row-major tensor, got stride 4 instead of 3 in "
            "dimension 0");
  EXPECT_EQ(refuse([](Managed &m) {
              m.tensor.type = {dlpack::Float4E2M1FN, 4, 1};
              m.flags = dlpack::isPadded;
            }),
            "expected packed elements of 4 bits, got some padded to bytes");
  EXPECT_EQ(
      refuse([](Managed &m) { m.tensor.type = {dlpack::Float4E2M1FN, 8, 1}; }),
      "element type of code 17, 8 bits and 1 lanes is not supported");
  EXPECT_NE(refuse([](Managed &m) { m.tensor.byteOffset = 2; }), "");
  EXPECT_EQ(refuse([](Managed &m) { m.tensor.data = nullptr; }),
            "expected memory of 24 bytes, got null");
  EXPECT_EQ(refuse([](Managed &m) {
              m.tensor.shape[0] = m.tensor.shape[1] = INT64_MAX;
            }),
            "expected less than 2^63 elements, got those of "
            "9223372036854775807x9223372036854775807xf32");
}

TEST(DLPackImport, TakesPackedElements) {
  auto runtime = makeRuntime();
  uint8_t bytes[] = {0xff, 0x21, 0x03};
  int64_t shape[] = {3}, strides[] = {1};
  dlpack::ManagedTensorVersioned managed = {
      {1, 1},
      nullptr,
      nullptr,
      0,
      {bytes, {dlpack::CPU, 0}, 1, {dlpack::Int, 4, 1}, shape, strides, 1}};
  NDArray array = valueOf(fromDLPack(runtime, &managed));
  EXPECT_EQ(array.type(), DLC_I4);
  uint8_t found[2];
  EXPECT_OK(array.copyToHost(std::span(found)));
  EXPECT_EQ(found[0], 0x21);
  EXPECT_EQ(found[1], 0x03);
}

TEST(DLPackImport, IgnoresStridesOfSingleRows) {
  auto runtime = makeRuntime();
  Foreign foreign;
  foreign.shape[0] = 1;
  foreign.strides[0] = 99;
  EXPECT_EQ(floatsOf(valueOf(fromDLPack(runtime, &foreign.managed))),
            (std::vector<float>{1, 2, 3}));
}
