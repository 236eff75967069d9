// SPDX-License-Identifier: Apache-2.0
//
// Arrays: what they are made of, their views, memory and operations.

#include "NDArrayTesting.h"

#include <cmath>

using namespace dlc::rt;
using namespace dlc::rt::test;

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

TEST(NDArray, SaysWhyThereIsNone) {
  auto runtime = makeRuntime();
  auto failure = [&](DataType type, const Shape &shape, Context context) {
    return NDArray::create(runtime, type, shape, context).status().message();
  };
  EXPECT_EQ(failure(DLC_F32, {2, -1}, Context::cpu()),
            "expected dimensions of 0 or more, got -1");
  EXPECT_EQ(failure(DLC_INVALID_TYPE, {2}, Context::cpu()),
            "expected an element type, got 0");
  EXPECT_EQ(failure(DLC_F32, {int64_t(1) << 61}, Context::cpu()),
            "expected less than 2^63 bytes, got those of "
            "2305843009213693952xf32");
  EXPECT_EQ(failure(DLC_F32, Shape(17, 1), Context::cpu()),
            "expected at most 16 dimensions, got 17");
  EXPECT_EQ(
      NDArray::create(runtime, DLC_F32, {2}, Context::cuda()).status().code(),
      StatusCode::Unsupported);
  EXPECT_ERROR(NDArray::create(nullptr, DLC_F32, {2}).status(), InvalidArgument,
               "expected a runtime for arrays, got null");
}

TEST(NDArray, RefusesNullHandles) {
  NDArray none;
  float value;
  EXPECT_TRUE(none.isNull());
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_ERROR(none.waitToRead(), InvalidArgument, "a null handle");
  EXPECT_ERROR(none.waitToWrite(), InvalidArgument, "a null handle");
  EXPECT_ERROR(none.fill(1), InvalidArgument, "a null handle");
  EXPECT_ERROR(none.copyTo(none), InvalidArgument, "a null handle");
  EXPECT_ERROR(none.copy(Context::cpu()).status(), InvalidArgument, "a null");
  EXPECT_ERROR(none.slice(0, 0).status(), InvalidArgument, "a null handle");
  EXPECT_ERROR(none.at(0).status(), InvalidArgument, "a null handle");
  EXPECT_ERROR(none.reshape({1}).status(), InvalidArgument, "a null handle");
  EXPECT_ERROR(none.version().status(), InvalidArgument, "a null handle");
  EXPECT_ERROR(none.copyToHost(std::span(&value, 0)), InvalidArgument,
               "a null handle");
  EXPECT_ERROR(none.hostAccess(VariableUse::Read).status(), InvalidArgument,
               "a null handle");
  EXPECT_ERROR(apply("exp", {none}).status(), InvalidArgument,
               "null handles alone");
  EXPECT_FALSE(none.sharesMemoryWith(none));
}

TEST(NDArray, HoldsEveryType) {
  auto runtime = makeRuntime();
  for (int type = DLC_BOOL; type < DLC_TEXT; ++type) { // See TextTest.cpp.
    NDArray array = makeArray(runtime, {2, 3}, DataType(type));
    std::vector<std::byte> in(array.bytes()), out(array.bytes());
    for (size_t i = 0; i != in.size(); ++i)
      in[i] = std::byte(type == DLC_BOOL ? i % 2 : i + 1);
    EXPECT_OK(array.copyFromHost(std::span(in)));
    EXPECT_OK(array.copyToHost(std::span(out)));
    EXPECT_EQ(in, out);
  }
}

TEST(NDArray, OnlyHoldsSomeTypes) {
  auto runtime = makeRuntime();
  for (int type = DLC_C64; type < DLC_TEXT; ++type) {
    SCOPED_TRACE(type);
    NDArray array = makeArray(runtime, {2}, DataType(type));
    EXPECT_ERROR(array.fill(1), InvalidArgument, "");
    EXPECT_ERROR(array.fillNormal(), InvalidArgument, "expected an array of");
    for (const char *operation : {"neg", "add", "equal", "transpose"})
      EXPECT_FALSE(apply(operation, {array, array}).status().isOk());
    Attributes toFloat;
    toFloat.set("to", int64_t(DLC_F32));
    EXPECT_ERROR(apply("cast", {array}, toFloat).status(), InvalidArgument, "");
    alignas(2) std::byte memory[32] = {};
    ForeignMemory misaligned = {memory + 1};
    EXPECT_EQ(NDArray::adopt(runtime, DataType(type), Shape{1}, misaligned)
                  .status()
                  .isOk(),
              type > DLC_C128);
  }
}

TEST(NDArray, PacksElementsOfLessThanAByte) {
  auto runtime = makeRuntime();
  EXPECT_EQ(makeArray(runtime, {3, 3}, DLC_I4).bytes(), 5u);
  EXPECT_EQ(makeArray(runtime, {3, 3}, DLC_F4E2M1FN).bytes(), 5u);
  EXPECT_EQ(makeArray(runtime, {3, 3}, DLC_U2).bytes(), 3u);
  EXPECT_EQ(makeArray(runtime, {}, DLC_I2).bytes(), 1u);
  EXPECT_EQ(makeArray(runtime, {0, 3}, DLC_U4).bytes(), 0u);
  // More elements than bytes could be counted.
  EXPECT_EQ(makeArray(runtime, {INT64_MAX}, DLC_U2).bytes(), size_t(1) << 61);
  EXPECT_ERROR(NDArray::create(runtime, DLC_U4, {INT64_MAX, 2}).status(),
               InvalidArgument, "expected less than 2^63 bytes");
}

TEST(NDArray, ViewsOfPackedElementsAreOfWholeBytes) {
  auto runtime = makeRuntime();
  NDArray whole = makeArray(runtime, {5}, DLC_I4);
  uint8_t bytes[3] = {0x21, 0x43, 0x05};
  EXPECT_OK(whole.copyFromHost(std::span(bytes)));
  NDArray middle = valueOf(whole.slice(2, 4)), end = valueOf(whole.slice(2, 5));
  EXPECT_EQ(middle.bytes(), 1u);
  EXPECT_EQ(end.bytes(), 2u);
  uint8_t found[2];
  EXPECT_OK(end.copyToHost(std::span(found)));
  EXPECT_EQ(found[0], 0x43);
  EXPECT_EQ(found[1], 0x05);
  // Through a copy on another device, into a view.
  NDArray source = valueOf(middle.copy(Context::null(1)));
  EXPECT_OK(source.copyTo(valueOf(whole.slice(0, 2))));
  EXPECT_OK(whole.copyToHost(std::span(bytes)));
  EXPECT_EQ(bytes[0], 0x43);
  EXPECT_EQ(bytes[1], 0x43);
  EXPECT_ERROR(whole.slice(1, 5).status(), InvalidArgument,
               "expected a view of whole bytes, of 2 elements of i4 each, got "
               "elements 1 to 5");
  EXPECT_ERROR(whole.slice(0, 3).status(), InvalidArgument,
               "got elements 0 to 3");
  EXPECT_OK(whole.at(4).status()); // The last, alone in its byte.
  EXPECT_ERROR(whole.at(3).status(), InvalidArgument, "got elements 3 to 4");
  EXPECT_ERROR(end.slice(1, 3).status(), InvalidArgument, "got elements 1 to");
  EXPECT_OK(whole.slice(3, 3).status());
  NDArray rows = makeArray(runtime, {3, 4}, DLC_U2);
  EXPECT_EQ(valueOf(rows.at(1)).bytes(), 1u);
  EXPECT_ERROR(valueOf(rows.reshape({4, 3})).at(1).status(), InvalidArgument,
               "of 4 elements of u2 each, got elements 3 to 6");
}

TEST(NDArray, HasScalarsAndEmptyArrays) {
  auto runtime = makeRuntime();
  NDArray scalar = makeArray(runtime, {});
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_OK(scalar.fill(7));
  EXPECT_EQ(floatsOf(scalar), std::vector<float>{7});
  EXPECT_ERROR(scalar.slice(0, 1).status(), InvalidArgument,
               "expected an array with rows, got a scalar");
  NDArray empty = makeArray(runtime, {0, 3});
  EXPECT_EQ(floatsOf(empty), std::vector<float>()); // Nothing was written.
  EXPECT_OK(empty.fill(1));
  EXPECT_EQ(shapeOf(valueOf(empty.slice(0, 0))), (Shape{0, 3}));
  EXPECT_EQ(shapeOf(valueOf(empty.reshape({3, 0}))), (Shape{3, 0}));
  EXPECT_OK(apply("exp", {empty}).status());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

TEST(NDArray, ViewsShareMemoryAndVariable) {
  auto runtime = makeRuntime();
  NDArray whole = makeArray(runtime, {4, 3});
  NDArray rows = valueOf(whole.slice(1, 3));
  NDArray row = valueOf(rows.at(1));
  NDArray flat = valueOf(whole.reshape({-1}));
  EXPECT_EQ(shapeOf(rows), (Shape{2, 3}));
  EXPECT_EQ(shapeOf(row), Shape{3});
  EXPECT_EQ(shapeOf(flat), Shape{12});
  EXPECT_EQ(shapeOf(valueOf(whole.reshape({2, -1, 2}))), (Shape{2, 3, 2}));
  EXPECT_TRUE(rows.isView() && row.isView());
  EXPECT_FALSE(flat.isView());
  for (const NDArray &view : {rows, row, flat}) {
    EXPECT_TRUE(view.sharesMemoryWith(whole));
    EXPECT_EQ(view.variable(), whole.variable());
  }
  EXPECT_OK(row.fill(5)); // The first write: the rest is zero.
  EXPECT_EQ(floatsOf(flat),
            (std::vector<float>{0, 0, 0, 0, 0, 0, 5, 5, 5, 0, 0, 0}));
  EXPECT_OK(rows.fill(2));
  EXPECT_OK(valueOf(flat.at(11)).fill(9));
  EXPECT_EQ(floatsOf(whole),
            (std::vector<float>{0, 0, 0, 2, 2, 2, 2, 2, 2, 0, 0, 9}));
  EXPECT_EQ(valueOf(whole.version()), 3u);
  whole = NDArray(); // The views keep the memory.
  EXPECT_EQ(floatsOf(row), (std::vector<float>{2, 2, 2}));
}

TEST(NDArray, SaysWhichViewsThereAreNot) {
  auto runtime = makeRuntime();
  NDArray array = makeArray(runtime, {4, 3});
  EXPECT_ERROR(array.slice(3, 5).status(), InvalidArgument,
               "expected rows within 0 to 4, got 3 to 5");
  EXPECT_ERROR(array.slice(-1, 2).status(), InvalidArgument, "got -1 to 2");
  EXPECT_ERROR(array.slice(3, 2).status(), InvalidArgument,
               "expected rows that begin before or at their end, got 3 to 2");
  EXPECT_ERROR(array.at(4).status(), InvalidArgument,
               "expected a row from 0 to below 4, got 4");
  EXPECT_ERROR(array.at(INT64_MAX).status(), InvalidArgument, "below 4");
  for (const Shape &shape : {Shape{11}, {5, -1}, {0, -1}, {INT64_MAX, 12}})
    EXPECT_ERROR(array.reshape(shape).status(), InvalidArgument,
                 "expected a shape of 12 elements, got ");
  EXPECT_ERROR(array.reshape({-2, -6}).status(), InvalidArgument,
               "expected dimensions of -1 or more, got -2");
  EXPECT_ERROR(array.reshape({-1, 3, -1}).status(), InvalidArgument,
               "expected one dimension of -1 at most, got 2 in ");
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

TEST(NDArray, AppliesReferenceOperations) {
  auto runtime = makeRuntime();
  NDArray x = vectorOf(runtime, {1, 2, 3});
  NDArray y = valueOf(apply("add", {x, valueOf(x.reshape({3, 1}))}));
  EXPECT_EQ(shapeOf(y), (Shape{3, 3}));
  EXPECT_EQ(floatsOf(y), (std::vector<float>{2, 3, 4, 3, 4, 5, 4, 5, 6}));
  NDArray e = valueOf(apply("exp", {x}));
  EXPECT_NEAR(floatsOf(e)[2], std::exp(3.0f), 1e-5);
  Attributes attributes;
  attributes.set("to", int64_t(DLC_I8));
  NDArray cast = valueOf(apply("cast", {x}, attributes));
  EXPECT_EQ(cast.type(), DLC_I8);
  int8_t values[3];
  EXPECT_OK(cast.copyToHost(std::span(values)));
  EXPECT_EQ(values[2], 3);
}

TEST(NDArray, SaysWhyAnOperationIsRefused) {
  auto runtime = makeRuntime();
  NDArray x = vectorOf(runtime, {1, 2, 3}), y = vectorOf(runtime, {1, 2});
  NDArray whole = makeArray(runtime, {6});
  EXPECT_ERROR(apply("frobnicate", {x}).status(), NotFound,
               "no operation is named 'frobnicate'");
  EXPECT_ERROR(apply("add", {x, y}).status(), InvalidArgument, "add: ");
  EXPECT_ERROR(apply("add", {x}).status(), InvalidArgument, "add: ");
  EXPECT_ERROR(apply("exp", {&x, 1}, {}, {&y, 1}), InvalidArgument,
               "expected an output of 3xf32, got 2xf32");
  NDArray far = makeArray(runtime, {3}, DLC_F32, Context::null(1));
  EXPECT_ERROR(apply("add", {x, far}).status(), InvalidArgument,
               "expected arrays on cpu:0, got one on null:1");
  NDArray none;
  EXPECT_ERROR(apply("exp", {&x, 1}, {}, {&none, 1}), InvalidArgument,
               "got a null handle");
  NDArray foreign = vectorOf(makeRuntime(), {1, 2, 3});
  EXPECT_ERROR(apply("add", {x, foreign}).status(), InvalidArgument,
               "expected arrays of one engine");
  EXPECT_ERROR(apply("exp", {&x, 1}, {}, {&foreign, 1}), InvalidArgument,
               "expected arrays of one engine");
  EXPECT_ERROR(x.copyTo(foreign), InvalidArgument,
               "expected arrays of one engine");
  EXPECT_EQ(valueOf(x.version()), 1u);
}

TEST(NDArray, ComputesInPlaceAndOverItsOperands) {
  auto runtime = makeRuntime();
  NDArray x = vectorOf(runtime, {1, 2, 3, 4});
  NDArray head = valueOf(x.slice(0, 3)), tail = valueOf(x.slice(1, 4));
  NDArray operands[] = {head, tail};
  EXPECT_OK(apply("add", operands, {}, {&tail, 1}));
  EXPECT_EQ(floatsOf(x), (std::vector<float>{1, 3, 5, 7}));
  NDArray twice[] = {x, x};
  EXPECT_OK(apply("mul", twice, {}, {&x, 1}));
  EXPECT_EQ(floatsOf(x), (std::vector<float>{1, 9, 25, 49}));
  EXPECT_OK(head.copyTo(tail));
  EXPECT_EQ(floatsOf(x), (std::vector<float>{1, 1, 9, 25}));
}

TEST(NDArray, FillsAsCastsDo) {
  auto runtime = makeRuntime();
  NDArray ints = makeArray(runtime, {3}, DLC_I32);
  EXPECT_OK(ints.fill(-1.75));
  int32_t values[3];
  EXPECT_OK(ints.copyToHost(std::span(values)));
  EXPECT_EQ(values[0], -1);
  EXPECT_EQ(values[2], -1);
  NDArray bools = makeArray(runtime, {5}, DLC_BOOL);
  EXPECT_OK(bools.fill(7));
  uint8_t bytes[5];
  EXPECT_OK(bools.copyToHost(std::span(bytes)));
  EXPECT_EQ(bytes[4], 1);
}

TEST(NDArray, CopiesBetweenDevices) {
  auto runtime = makeRuntime();
  NDArray x = vectorOf(runtime, {1, 2, 3});
  for (Context context :
       {Context::cpu(1), Context::null(0), Context::null(3)}) {
    NDArray there = valueOf(x.copy(context));
    EXPECT_EQ(there.context(), context);
    NDArray doubled = valueOf(apply("add", {there, there}));
    EXPECT_EQ(doubled.context(), context);
    EXPECT_EQ(floatsOf(valueOf(doubled.copy(Context::cpu()))),
              (std::vector<float>{2, 4, 6}));
  }
  EXPECT_ERROR(x.copyTo(makeArray(runtime, {2})), InvalidArgument,
               "expected a target of 3xf32, got 2xf32");
  EXPECT_ERROR(x.copy(Context::cuda()).status(), Unsupported, "");
}

TEST(NDArray, ChecksHostMemory) {
  auto runtime = makeRuntime();
  NDArray x = makeArray(runtime, {3});
  float values[4] = {};
  EXPECT_ERROR(x.copyFromHost(std::span(values)), InvalidArgument,
               "expected host memory of 12 bytes, got 16");
  EXPECT_ERROR(x.copyToHost(std::span(values)), InvalidArgument,
               "expected host memory of 12 bytes, got 16");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(NDArray, TakesMemoryAtTheFirstWrite) {
  auto runtime = makeRuntime();
  auto live = [&] {
    return (*runtime->storage()->manager(Context::cpu()))
        ->statistics()
        .liveBytes;
  };
  {
    NDArray array = makeArray(runtime, {1000});
    std::vector<float> values(1000);
    EXPECT_EQ(live(), 0u);
    EXPECT_ERROR(array.copyToHost(std::span(values)), InvalidArgument,
                 "expected an array that was written, got one "
                 "of 4000 bytes that never was");
    EXPECT_OK(array.fill(1));
    EXPECT_OK(array.waitToRead());
    EXPECT_EQ(live(), 4000u);
    NDArray view = valueOf(array.slice(10, 20));
    array = NDArray();
    EXPECT_EQ(live(), 4000u);
  }
  EXPECT_OK(runtime->engine().waitForAll());
  EXPECT_EQ(live(), 0u);
}

TEST(NDArray, ReportsWhenThereIsNoMemory) {
  StorageOptions options;
  options.pool.byteCap = 1 << 20;
  auto runtime =
      std::make_shared<ArrayRuntime>(makeEngine({.kind = EngineKind::Naive}),
                                     std::make_shared<Storage>(options));
  NDArray large = makeArray(runtime, {1 << 20});
  EXPECT_OK(large.fill(1)); // Pushed; the error comes to the wait.
  EXPECT_ERROR(large.waitToRead(), OutOfMemory, "fill");
  EXPECT_OK(large.waitToRead());
  NDArray small = makeArray(runtime, {16});
  EXPECT_OK(small.fill(1));
  EXPECT_OK(small.waitToRead());
}

TEST(NDArray, AdoptsForeignMemory) {
  auto runtime = makeRuntime();
  float values[4] = {1, 2, 3, 4};
  int released = 0;
  auto release = [](void *owner) { ++*static_cast<int *>(owner); };
  Shape shape{2, 2};
  {
    NDArray array = valueOf(NDArray::adopt(
        runtime, DLC_F32, shape, {values, false, release, &released}));
    EXPECT_OK(valueOf(array.at(1)).fill(9));
    EXPECT_EQ(floatsOf(array), (std::vector<float>{1, 2, 9, 9}));
    EXPECT_EQ(released, 0);
  }
  EXPECT_OK(runtime->engine().waitForAll());
  EXPECT_EQ(released, 1);
  EXPECT_EQ(values[3], 9);
  NDArray locked = valueOf(NDArray::adopt(runtime, DLC_F32, shape,
                                          {values, true, release, &released}));
  EXPECT_ERROR(locked.fill(0), InvalidArgument, "read-only memory");
  EXPECT_ERROR(locked.copyFromHost(std::span(values)), InvalidArgument,
               "read-only memory");
  EXPECT_ERROR(locked.hostAccess(VariableUse::Write).status(), InvalidArgument,
               "read-only memory");
  NDArray operands[] = {locked, locked};
  EXPECT_ERROR(apply("add", operands, {}, {&locked, 1}), InvalidArgument,
               "read-only memory");
  EXPECT_EQ(floatsOf(locked)[0], 1);
}

TEST(NDArray, LeavesRefusedMemoryAlone) {
  auto runtime = makeRuntime();
  float values[4];
  int released = 0;
  ForeignMemory memory = {reinterpret_cast<char *>(values) + 1, false,
                          [](void *owner) { ++*static_cast<int *>(owner); },
                          &released};
  Shape shape{2};
  EXPECT_ERROR(NDArray::adopt(runtime, DLC_F32, shape, memory).status(),
               InvalidArgument, "expected memory aligned to 4 bytes");
  memory.data = nullptr;
  EXPECT_ERROR(NDArray::adopt(runtime, DLC_F32, shape, memory).status(),
               InvalidArgument, "expected memory of 8 bytes, got null");
  memory.data = values;
  EXPECT_ERROR(
      NDArray::adopt(runtime, DLC_F32, shape, memory, Context::cuda()).status(),
      Unsupported, "expected memory of the host, got cuda:0");
  EXPECT_OK(runtime->engine().close());
  EXPECT_ERROR(NDArray::adopt(runtime, DLC_F32, shape, memory).status(),
               Unavailable, "");
  EXPECT_EQ(released, 0);
}

TEST(NDArray, GivesHostAddresses) {
  auto runtime = makeRuntime();
  NDArray array = makeArray(runtime, {2, 2});
  EXPECT_ERROR(array.hostAccess(VariableUse::Read).status(), InvalidArgument,
               "never was");
  NDArray row = valueOf(array.at(1));
  auto *values =
      static_cast<float *>(valueOf(row.hostAccess(VariableUse::Write)));
  values[0] = 3;
  EXPECT_EQ(floatsOf(array), (std::vector<float>{0, 0, 3, 0}));
  EXPECT_EQ(valueOf(array.hostAccess(VariableUse::Read)), values - 2);
}

// An array needs a lane to end in.
TEST(NDArray, EndsWhereNothingElseRuns) {
  auto runtime = makeRuntime({.kind = EngineKind::PerDevice, .cpuWorkers = 1});
  Engine &engine = runtime->engine();
  NDArray array = makeArray(runtime, {3}, DLC_F32, Context::null(1000));
  Status status;
  for (int16_t i = 0; i != 100 && status.isOk(); ++i)
    status = engine.pushSync([] {}, Context::null(i), {}, {});
  EXPECT_ERROR(std::move(status), Unsupported, "lanes");
  uint64_t variables = engine.statistics().variables;
  array = NDArray();
  EXPECT_OK(engine.waitForAll());
  EXPECT_EQ(engine.statistics().variables, variables - 1);
}
