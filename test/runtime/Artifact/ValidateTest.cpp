// SPDX-License-Identifier: Apache-2.0
//
// One bad plan for each rule.

#include "dlc/runtime/Artifact/Validate.h"

#include "../ProgramBuilder.h"
#include "dlc/runtime/Artifact/Loader.h"
#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

// Values of addReluBuilder().
enum { X, W, Sum, Y };

/// Why the plan of addReluBuilder() with `change` is refused.
template <typename Change> std::string failureWith(Change change) {
  ProgramBuilder builder = addReluBuilder();
  change(builder);
  Result<AlignedBuffer> file = writeArtifact(builder.contents());
  return file.isOk() ? "" : file.status().message();
}

using B = ProgramBuilder;

ValueT &valueOf(B &b, int index) { return *b.program.values[index]; }

} // namespace

TEST(Validate, AcceptsTheGoodPlan) {
  EXPECT_EQ(failureWith([](B &) {}), "");
}

TEST(Validate, Devices) {
  EXPECT_EQ(failureWith([](B &b) { b.program.devices.clear(); }),
            "expected at least one device, got none");
  EXPECT_EQ(failureWith([](B &b) { b.program.devices[0]->index = -1; }),
            "device 0: expected an index, got -1");
  EXPECT_EQ(failureWith([](B &b) { b.program.devices[0]->lower_bound = 65; }),
            "device 0: the lower bound 65 exceeds the arena of 64 bytes");
  EXPECT_EQ(failureWith([](B &b) {
              b.program.devices[0]->kind = dlc::abi::DeviceKind(9);
            }),
            "device 0: unknown kind 9");
}

TEST(Validate, TypesAndShapes) {
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, X).type = 0; }),
            "value 0: unknown element type 0");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, X).type = 14; }),
            "value 0: unknown element type 14");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, X).shape.assign(17, 1); }),
            "value 0: expected at most 16 dimensions, got 17");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, X).shape[0] = -2; }),
            "value 0: dimension 0 is -2");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, X).unranked = true; }),
            "value 0: unranked, but has 2 dimensions");
  EXPECT_EQ(
      failureWith([](B &b) { valueOf(b, X).shape = {1l << 40, 1l << 40}; }),
      "value 0: its size overflows");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, X).bytes = 20; }),
            "value 0: expected 24 bytes, got 20");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, X).shape[0] = -1; }),
            "value 0: expected 0 bytes, got 24");
  EXPECT_EQ(failureWith([](B &b) {
              valueOf(b, Sum).shape[0] = -1;
              valueOf(b, Sum).bytes = 0;
            }),
            "value 2: expected a static shape");
}

TEST(Validate, Places) {
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, X).storage = Storage(5); }),
            "value 0: unknown storage 5");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, X).device = 1; }),
            "value 0: device 1 does not exist");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, Sum).offset = 44; }),
            "value 2: 24 bytes at 44 leave the Arena of 64 bytes");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, Sum).offset = -24; }),
            "value 2: 24 bytes at 18446744073709551592 leave the Arena of 64 "
            "bytes");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, Sum).offset = 2; }),
            "value 2: offset 2 is not a multiple of 4");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, W).offset = 4; }),
            "value 1: offset 4 is not a multiple of 64");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, W).offset = 64; }),
            "value 1: 12 bytes at 64 leave the Constant of 12 bytes");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, Y).offset = 4; }),
            "value 3: expected offset 0, got 4");
  EXPECT_EQ(
      failureWith([](B &b) { valueOf(b, b.pool(DLC_F32, {1})).offset = 4; }),
      "value 4: expected offset 0 in the pool");
}

TEST(Validate, ViewsOfInputs) {
  auto withView = [](DataType type, uint64_t offset, int64_t count) {
    return failureWith([=](B &b) {
      auto view = std::make_unique<ValueT>();
      view->type = type;
      view->shape = {count};
      view->bytes = count * sizeOf(type);
      view->offset = offset;
      b.program.values.push_back(std::move(view));
    });
  };
  EXPECT_EQ(withView(DLC_F32, 12, 3), "");
  EXPECT_EQ(withView(DLC_U8, 23, 1), "");
  EXPECT_EQ(withView(DLC_F32, 12, 4), "value 4: a view that leaves input 0");
  EXPECT_EQ(withView(DLC_F32, 1 << 20, 1),
            "value 4: a view that leaves input 0");
  EXPECT_EQ(withView(DLC_F32, 2, 1), "value 4: a misaligned view of input 0");
  EXPECT_EQ(withView(DLC_F64, 0, 1), "value 4: a misaligned view of input 0");
  EXPECT_EQ(failureWith([](B &b) { valueOf(b, X).index = 1; }),
            "value 0: input 1 does not exist");
}

TEST(Validate, Kernels) {
  EXPECT_EQ(
      failureWith([](B &b) { b.program.kernels[0]->kind = KernelKind(7); }),
      "kernel 0: unknown kind 7");
  EXPECT_EQ(failureWith([](B &b) { b.program.kernels[0]->name = ""; }),
            "kernel 0: expected a name");
  EXPECT_EQ(failureWith([](B &b) { b.program.kernels[0]->tiles = -1; }),
            "kernel 0: expected a grid size, got -1");
  EXPECT_EQ(failureWith([](B &b) {
              b.program.kernels[0]->kind = KernelKind::Generated;
            }),
            "kernel 0: generated, but there is no object");
  EXPECT_EQ(failureWith([](B &b) {
              b.setInt(0, "a", 1);
              b.program.kernels[0]->attributes[0]->kind =
                  dlc::abi::AttributeKind(9);
            }),
            "kernel 0: attribute of unknown kind 9");
  EXPECT_EQ(failureWith([](B &b) {
              for (int i = 0; i != 257; ++i)
                b.setInt(0, "a", 1);
            }),
            "kernel 0: expected at most 256 attributes, got 257");
  // FlatBuffers leaves empty strings out.
  EXPECT_EQ(failureWith([](B &b) {
              b.setInt(0, "a", 1);
              b.program.kernels[0]->attributes[0]->kind =
                  dlc::abi::AttributeKind::String;
            }),
            "");
}

TEST(Validate, Launches) {
  auto launchOf = [](B &b, int i) { return b.program.launches[i].get(); };
  EXPECT_EQ(failureWith([&](B &b) { launchOf(b, 0)->kernel = 2; }),
            "launch 0: kernel 2 does not exist");
  EXPECT_EQ(failureWith([&](B &b) { launchOf(b, 0)->device = 1; }),
            "launch 0: device 1 does not exist");
  EXPECT_EQ(failureWith([&](B &b) { launchOf(b, 0)->arguments[0] = 4; }),
            "launch 0: value 4 does not exist");
  EXPECT_EQ(failureWith([&](B &b) { launchOf(b, 0)->arguments[0] = -2; }),
            "launch 0: value -2 does not exist");
  EXPECT_EQ(failureWith([&](B &b) { launchOf(b, 0)->arguments[1] = -1; }), "");
  EXPECT_EQ(failureWith([&](B &b) { launchOf(b, 0)->arguments[2] = -1; }),
            "launch 0: value -1 does not exist");
  EXPECT_EQ(failureWith([&](B &b) { launchOf(b, 0)->inputs = 3; }),
            "launch 0: expected outputs after 3 inputs, got 3 arguments");
  EXPECT_EQ(failureWith([&](B &b) { launchOf(b, 0)->inputs = 1; }),
            "launch 0: writes to value 1 of storage Constant");
  EXPECT_EQ(failureWith([&](B &b) { launchOf(b, 0)->arguments[2] = X; }),
            "launch 0: writes to value 0 of storage Input");
  EXPECT_EQ(
      failureWith([&](B &b) { launchOf(b, 0)->arguments.push_back(Sum); }),
      "launch 0: writes a value twice");
}

TEST(Validate, KernelsThatNeedStaticShapes) {
  auto withKind = [](KernelKind kind) {
    return failureWith([=](B &b) {
      std::vector<std::byte> object(64);
      b.object({}, {});
      valueOf(b, X).shape[0] = -1;
      valueOf(b, X).bytes = 0;
      b.program.kernels[0]->kind = kind;
    });
  };
  EXPECT_EQ(withKind(KernelKind::Reference), "");
  EXPECT_EQ(withKind(KernelKind::Generated),
            "launch 0: expected a static shape for value 0");
  EXPECT_EQ(withKind(KernelKind::Library),
            "launch 0: expected a static shape for value 0");
}

TEST(Validate, KernelsOfAnyShape) {
  auto changedBy = [](auto change) {
    return failureWith([=](B &b) {
      b.object({}, {});
      valueOf(b, X).shape[0] = -1;
      valueOf(b, X).bytes = 0;
      b.program.kernels[0]->kind = KernelKind::AnyShape;
      b.program.kernels[0]->tiles = 64;
      change(b);
    });
  };
  auto launchOf = [](B &b) { return b.program.launches[0].get(); };
  EXPECT_EQ(changedBy([](B &) {}), "");
  for (int64_t tile : {0, 257})
    EXPECT_EQ(changedBy([=](B &b) { b.program.kernels[0]->tiles = tile; }),
              "kernel 0: expected tiles of 1 to 256 elements, got " +
                  std::to_string(tile));
  EXPECT_EQ(changedBy([&](B &b) { launchOf(b)->arguments[1] = -1; }),
            "launch 0: expected all inputs of a kernel of any shape");
  EXPECT_EQ(changedBy([&](B &b) {
              launchOf(b)->inputs = 0;
              launchOf(b)->arguments = {launchOf(b)->arguments[2]};
            }),
            "launch 0: expected 1 to 16 inputs and one output of a kernel of "
            "any shape, got 0 of 1 arguments");
  EXPECT_EQ(changedBy([&](B &b) {
              auto &arguments = launchOf(b)->arguments;
              arguments.insert(arguments.begin(), 15, X);
              launchOf(b)->inputs = 17;
            }),
            "launch 0: expected 1 to 16 inputs and one output of a kernel of "
            "any shape, got 17 of 18 arguments");
  EXPECT_EQ(changedBy([&](B &b) {
              b.device(DeviceKind::CUDA, 0);
              launchOf(b)->device = 1;
              b.program.devices[1]->arena_bytes =
                  b.program.devices[0]->arena_bytes;
              for (auto &value : b.program.values)
                value->device = 1;
            }),
            "launch 0: a kernel of any shape is not on the host");
}

TEST(Validate, PackedConstantsAreForLibraries) {
  auto withKind = [](KernelKind kind) {
    return failureWith([=](B &b) {
      valueOf(b, W).bytes = 8;
      b.program.kernels[0]->kind = kind;
    });
  };
  EXPECT_EQ(withKind(KernelKind::Library), "");
  EXPECT_EQ(withKind(KernelKind::Reference),
            "launch 0: the packed value 1 is for library kernels only");
}

TEST(Validate, Copies) {
  auto withCopy = [](std::vector<int> inputs, int target) {
    return failureWith([=](B &b) {
      int bytes = b.arena(DLC_U8, {24});
      b.launch(b.kernel(KernelKind::Copy, "copy"), inputs,
               {target < 0 ? bytes : target});
    });
  };
  EXPECT_EQ(withCopy({Sum}, Y), "");
  EXPECT_EQ(withCopy({Sum}, -1),
            "launch 2: a copy between element types 12 and 6");
  EXPECT_EQ(withCopy({W}, Y), "launch 2: a copy of 12 bytes to 24");
  EXPECT_EQ(withCopy({W, Sum}, Y),
            "launch 2: a copy has one input and one output");
  EXPECT_EQ(withCopy({-1}, Y), "launch 2: a copy has one input and one output");
}

TEST(Validate, DevicesOfArguments) {
  auto onSecondDevice = [](KernelKind kind) {
    return failureWith([=](B &b) {
      b.program.devices.push_back(std::make_unique<dlc::abi::DeviceT>());
      b.program.devices[1]->arena_bytes = 64;
      valueOf(b, b.arena(DLC_F32, {2, 3})).device = 1;
      valueOf(b, 4).offset = 0;
      b.launch(b.kernel(kind, "reference.relu"), {Sum}, {4});
    });
  };
  EXPECT_EQ(onSecondDevice(KernelKind::Copy), "");
  EXPECT_EQ(onSecondDevice(KernelKind::Reference),
            "launch 2: expected value 4 on device 0, got device 1");
}

TEST(Validate, OrderOfPoolAndOutputs) {
  EXPECT_EQ(failureWith(
                [](B &b) { b.reference("relu", {b.pool(DLC_F32, {3})}, {Y}); }),
            "launch 2: reads value 4 before it is written");
  EXPECT_EQ(failureWith([](B &b) {
              int p = b.pool(DLC_F32, {3});
              b.reference("relu", {W}, {p});
              b.reference("relu", {W}, {p});
            }),
            "launch 3: writes value 4 a second time");
  EXPECT_EQ(failureWith([](B &b) { b.output("z", DLC_F32, {1}); }),
            "output 1 is never written");
  EXPECT_EQ(failureWith([](B &b) { b.program.launches[0]->arguments[0] = Y; }),
            "launch 0: reads value 3 before it is written");
}

TEST(Validate, Bindings) {
  EXPECT_EQ(failureWith([](B &b) { b.program.inputs[0]->value = 9; }),
            "input 0: value 9 does not exist");
  EXPECT_EQ(failureWith([](B &b) { b.program.inputs[0]->value = Sum; }),
            "input 0: expected a value of storage Input 0, got Arena 0");
  EXPECT_EQ(failureWith([](B &b) { b.input("x", DLC_F32, {1}); }),
            "two inputs are named 'x'");
  EXPECT_EQ(failureWith([](B &b) {
              b.input("y", DLC_F32, {1});
              b.program.inputs[1]->value = X;
            }),
            "input 1: expected a value of storage Input 1, got Input 0");
  EXPECT_EQ(failureWith([](B &b) { b.input("y", DLC_F32, {1}); }), "");
}

namespace {

/// x is read, then updated by y.
ProgramBuilder updateBuilder() {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {2, 3});
  int w = builder.constant<float>(DLC_F32, {3}, {1, -2, 3});
  int sum = builder.arena(DLC_F32, {2, 3});
  int y = builder.output("y", DLC_F32, {2, 3});
  builder.reference("add", {x, w}, {sum}, "add1");
  builder.reference("relu", {sum}, {y}, "relu1");
  builder.program.outputs[0]->updates = 0;
  return builder;
}

template <typename Change> std::string updateFailureWith(Change change) {
  ProgramBuilder builder = updateBuilder();
  change(builder);
  Result<AlignedBuffer> file = writeArtifact(builder.contents());
  return file.isOk() ? "" : file.status().message();
}

} // namespace

TEST(Validate, Roles) {
  auto failureOf = [](std::vector<int64_t> shape, DataType type) {
    return failureWith([&](B &b) {
      b.input("state", type, shape);
      b.program.inputs[1]->role = dlc::abi::BindingRole::RandomState;
    });
  };
  EXPECT_EQ(failureOf({2}, DLC_I64), "");
  EXPECT_EQ(failureOf({3}, DLC_I64),
            "input 1: expected a state of random numbers of 2xi64");
  EXPECT_EQ(failureOf({2}, DLC_F64),
            "input 1: expected a state of random numbers of 2xi64");
}

TEST(Validate, Updates) {
  EXPECT_EQ(updateFailureWith([](B &) {}), "");
  EXPECT_EQ(updateFailureWith([](B &b) { b.program.outputs[0]->updates = 1; }),
            "output 0: updates input 1, which does not exist");
  EXPECT_EQ(updateFailureWith([](B &b) { b.program.outputs[0]->updates = -2; }),
            "output 0: updates input -2, which does not exist");
  EXPECT_EQ(updateFailureWith([](B &b) { valueOf(b, X).shape = {3, 2}; }),
            "output 0: expected the static type of input 0, which it updates");
  EXPECT_EQ(updateFailureWith([](B &b) {
              int z = b.output("z", DLC_F32, {2, 3});
              b.reference("relu", {Sum}, {z}, "relu2");
              b.program.outputs[1]->updates = 0;
            }),
            "output 1: updates input 0 a second time");
  EXPECT_EQ(updateFailureWith([](B &b) {
              int z = b.output("z", DLC_F32, {2, 3});
              b.reference("relu", {X}, {z}, "relu2");
            }),
            "launch 2: reads input 0 after it is updated");
}

namespace {
/// Why what `builder` makes is refused with `change`.
template <typename Change>
std::string failureWith(ProgramBuilder builder, Change change) {
  change(builder);
  Result<AlignedBuffer> file = writeArtifact(builder.contents());
  return file.isOk() ? "" : file.status().message();
}

template <typename Change> std::string batchFailureWith(Change change) {
  return failureWith(batchBuilder(), change);
}

template <typename Change> std::string shapesFailureWith(Change change) {
  return failureWith(shapesBuilder(), change);
}

dlc::abi::ProgramT &partOf(B &b, size_t index) {
  return *b.program.by_rows[index];
}

dlc::abi::ProgramT &shapeOf(B &b, size_t index) {
  return *b.program.by_shape[index];
}
} // namespace

TEST(Validate, SeveralShapes) {
  auto make = [] { return std::make_unique<dlc::abi::ProgramT>(); };
  EXPECT_EQ(shapesFailureWith([](B &) {}), "");
  EXPECT_EQ(
      shapesFailureWith([](B &b) { shapeOf(b, 1).inputs[0]->name = "z"; }),
      "program 1 of several shapes: input 0: expected the name 'x', got 'z'");
  EXPECT_EQ(
      shapesFailureWith([](B &b) { b.program.values[0]->shape[1] = 3; }),
      "program 2 of several shapes: input 0: expected a type that is left "
      "open");
  EXPECT_EQ(shapesFailureWith([](B &b) { b.program.values[1]->shape = {-1}; }),
            "program 0 of several shapes: output 0: expected a type that is "
            "left open");
  EXPECT_EQ(
      shapesFailureWith([](B &b) { b.program.values[0]->type = DLC_I32; }),
      "program 0 of several shapes: input 0: expected a type that is left "
      "open");
  EXPECT_EQ(shapesFailureWith([](B &b) {
              std::swap(b.program.by_rows, shapeOf(b, 2).by_rows);
            }),
            "expected programs by shape or by rows, got both");
  EXPECT_EQ(shapesFailureWith(
                [&](B &b) { shapeOf(b, 0).by_shape.push_back(make()); }),
            "program 0 of several shapes: has kernels, objects or programs of "
            "its own");
  EXPECT_EQ(
      shapesFailureWith(
          [&](B &b) { shapeOf(b, 2).by_rows[0]->by_rows.push_back(make()); }),
      "program 2 of several shapes: program 0 of a batch: has programs of "
      "its own");
  EXPECT_EQ(shapesFailureWith([](B &b) { shapeOf(b, 2).by_rows.pop_back(); }),
            "program 2 of several shapes: expected a program of one row at "
            "last");
  EXPECT_EQ(
      shapesFailureWith([](B &b) { shapeOf(b, 0).launches[0]->kernel = 99; }),
      "program 0 of several shapes: launch 0: kernel 99 does not "
      "exist");
  EXPECT_EQ(shapesFailureWith([](B &b) {
              b.program.launches.push_back(
                  std::make_unique<dlc::abi::LaunchT>());
            }),
            "a program for several shapes has at most 1024 programs, and "
            "launches nothing");
}

TEST(Validate, ShapesThatMayBeSmaller) {
  auto failure = [](auto change) {
    return failureWith(paddedBuilder(), change);
  };
  EXPECT_EQ(failure([](B &) {}), "");
  EXPECT_EQ(failure([](B &b) { b.program.inputs[0]->padded = {0}; }),
            "input 0: expected numbers of extents that it leaves open as what "
            "is padded");
  EXPECT_EQ(failure([](B &b) { b.program.inputs[1]->padded = {0, 1}; }),
            "input 1: expected numbers of extents that it leaves open as what "
            "is padded");
  EXPECT_EQ(failure([](B &b) { b.program.inputs[0]->padded = {0, -2}; }),
            "input 0: expected numbers of extents that it leaves open as what "
            "is padded");
  EXPECT_EQ(failure([](B &b) { b.program.inputs[0]->padded = {0, 1 << 30}; }),
            "input 0: expected numbers of extents that it leaves open as what "
            "is padded");
  EXPECT_EQ(failure([](B &b) { b.program.inputs[0]->padded = {0, 2}; }),
            "no input tells the size of a padded extent");
  EXPECT_EQ(failure([](B &b) { b.program.outputs[0]->padded = {0, 2}; }),
            "output 0: expected numbers of extents that it leaves open as what "
            "is padded");
  EXPECT_EQ(failure([](B &b) {
              b.program.inputs[0]->padded = {};
              b.program.outputs[0]->padded = {};
            }),
            "program 0 of several shapes: expected 3 inputs, got 4");
  EXPECT_EQ(failure([](B &b) { b.program.inputs[0]->padded = {1, 0}; }),
            "program 0 of several shapes: expected one size of padded extent "
            "0");
  EXPECT_EQ(failure([](B &b) { shapeOf(b, 1).values[3]->type = DLC_F64; }),
            "program 1 of several shapes: input 3: expected the size of an "
            "extent, a number of i64");
  EXPECT_EQ(failure([](B &b) { shapeOf(b, 1).values[3]->shape = {1}; }),
            "program 1 of several shapes: input 3: expected the size of an "
            "extent, a number of i64");
  EXPECT_EQ(failure([](B &b) { shapeOf(b, 0).inputs[0]->padded = {0, 1}; }),
            "program 0 of several shapes: input 0: expected what is padded in "
            "a program for several shapes");
}

TEST(Validate, ProgramsForAnyOtherShape) {
  auto failure = [](auto change) {
    return failureWith(paddedBuilder(/*takesAny=*/true), change);
  };
  EXPECT_EQ(failure([](B &) {}), "");
  EXPECT_EQ(failure([](B &b) {
              auto &z = shapeOf(b, 2).values[1];
              z->shape = {3, 2};
              z->bytes = 6;
            }),
            "program 2 of several shapes: expected one size of padded extent "
            "0");
}

TEST(Validate, BatchesOfAnySize) {
  EXPECT_EQ(batchFailureWith([](B &) {}), "");
  EXPECT_EQ(batchFailureWith([](B &b) { partOf(b, 1).rows = 4; }),
            "program 1 of a batch: expected fewer rows than 4, got 4");
  EXPECT_EQ(batchFailureWith([](B &b) { partOf(b, 0).rows = 0; }),
            "program 0 of a batch: expected fewer rows than 4294967296, got 0");
  EXPECT_EQ(batchFailureWith([](B &b) { b.program.by_rows.pop_back(); }),
            "expected a program of one row at last");
  EXPECT_EQ(batchFailureWith([](B &b) { partOf(b, 0).rows = 3; }),
            "program 0 of a batch: input 0: expected a multiple of 3 rows, got "
            "4");
  EXPECT_EQ(batchFailureWith([](B &b) { partOf(b, 0).rows = 2; }),
            "program 1 of a batch: input 0: expected a multiple of 1 rows, got "
            "1");
  EXPECT_EQ(
      batchFailureWith([](B &b) { partOf(b, 0).inputs[1]->name = "weight"; }),
      "program 0 of a batch: input 1: expected the name 'w', got "
      "'weight'");
  EXPECT_EQ(batchFailureWith([](B &b) {
              partOf(b, 0).values[1]->type = DLC_I32;
              partOf(b, 0).launches[0]->arguments[1] = 0;
              partOf(b, 0).launches[2]->arguments = {0, 0, 4};
            }),
            "program 0 of a batch: input 1: expected the type of the whole "
            "batch's");
  EXPECT_EQ(batchFailureWith([](B &b) { partOf(b, 1).outputs.pop_back(); }),
            "program 1 of a batch: value 4: output 1 does not exist");
  EXPECT_EQ(batchFailureWith([](B &b) { b.reference("relu", {0}, {2}); }),
            "a batch of any size has at most 1024 programs, and launches "
            "nothing");
  EXPECT_EQ(batchFailureWith([](B &b) {
              partOf(b, 0).kernels.push_back(
                  std::make_unique<dlc::abi::KernelT>());
              partOf(b, 0).kernels[0]->name = "k";
            }),
            "program 0 of a batch: has kernels, objects or programs of its "
            "own");
  EXPECT_EQ(
      batchFailureWith([](B &b) { partOf(b, 0).launches[0]->kernel = 9; }),
      "program 0 of a batch: launch 0: kernel 9 does not exist");
  EXPECT_EQ(batchFailureWith([](B &b) { partOf(b, 1).launches.pop_back(); }),
            "program 1 of a batch: output 1 is never written");
  EXPECT_EQ(batchFailureWith([](B &b) {
              b.program.values[0]->shape[0] = 4;
              b.program.values[0]->bytes = 48;
            }),
            "program 1 of a batch: input 0: expected the type of the whole "
            "batch's");
}

TEST(Validate, WhoTellsTheSizeOfABatch) {
  ProgramBuilder builder;
  builder.output("y", DLC_F32, {-1});
  ProgramBuilder part;
  int y = part.output("y", DLC_F32, {1});
  part.reference("still", {}, {y});
  builder.byRows(1, std::move(part));
  Result<AlignedBuffer> file = writeArtifact(builder.contents());
  EXPECT_EQ(file.status().message(), "no input tells the size of the batch");
}

TEST(Validate, VersionsSayWhoCanRead) {
  Result<AlignedBuffer> plain = writeArtifact(addReluBuilder().contents());
  Result<AlignedBuffer> batch = writeArtifact(batchBuilder().contents());
  Result<AlignedBuffer> shapes = writeArtifact(shapesBuilder().contents());
  Result<AlignedBuffer> padded = writeArtifact(paddedBuilder().contents());
  Result<AlignedBuffer> any =
      writeArtifact(paddedBuilder(/*takesAny=*/true).contents());
  ASSERT_TRUE(plain.isOk() && batch.isOk() && shapes.isOk() && padded.isOk() &&
              any.isOk());
  EXPECT_EQ(Artifact::fromMemory(plain->bytes())->header().version, 1u);
  EXPECT_EQ(Artifact::fromMemory(batch->bytes())->header().version, 2u);
  EXPECT_EQ(Artifact::fromMemory(shapes->bytes())->header().version, 3u);
  EXPECT_EQ(Artifact::fromMemory(padded->bytes())->header().version, 4u);
  EXPECT_EQ(Artifact::fromMemory(any->bytes())->header().version, 5u);
}
