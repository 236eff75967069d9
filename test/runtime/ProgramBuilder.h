// SPDX-License-Identifier: Apache-2.0
//
// Small plans by hand, for the tests of the runtime.

#ifndef DLC_TEST_RUNTIME_PROGRAMBUILDER_H
#define DLC_TEST_RUNTIME_PROGRAMBUILDER_H

#include "dlc/abi/Artifact_generated.h"
#include "dlc/abi/Kernel.h"
#include "dlc/runtime/Artifact/Loader.h"
#include "dlc/runtime/Artifact/Writer.h"
#include "dlc/runtime/Base/Tensor.h"
#include "dlc/runtime/Device/Context.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace dlc::rt::test {

// `abi` alone is ambiguous outside of dlc: the C++ library has one too.
using abi::KernelKind;
using abi::Storage;
using abi::ValueT;

/// Collects a plan, at first for one CPU. Values are numbered in the order of
/// their creation, alike kernels and launches; tests may change `program`
/// freely before they write it.
class ProgramBuilder {
public:
  ProgramBuilder() {
    auto device = std::make_unique<abi::DeviceT>();
    device->kind = abi::DeviceKind::CPU;
    program.devices.push_back(std::move(device));
  }

  int input(const std::string &name, DataType type,
            std::vector<int64_t> shape) {
    int value = add(type, shape, abi::Storage::Input, program.inputs.size());
    program.inputs.push_back(bind(name, value));
    return value;
  }

  int output(const std::string &name, DataType type,
             std::vector<int64_t> shape) {
    int value = add(type, shape, abi::Storage::Output, program.outputs.size());
    program.outputs.push_back(bind(name, value));
    return value;
  }

  int device(DeviceKind kind, int index) {
    auto device = std::make_unique<abi::DeviceT>();
    device->kind = static_cast<abi::DeviceKind>(kind);
    device->index = index;
    program.devices.push_back(std::move(device));
    return program.devices.size() - 1;
  }

  /// A transient value at the end of the arena of a device.
  int arena(DataType type, std::vector<int64_t> shape, int device = 0) {
    int value = add(type, shape, abi::Storage::Arena, 0);
    uint64_t &end = program.devices[device]->arena_bytes;
    program.values[value]->device = device;
    program.values[value]->offset = end;
    end = alignUp(end + program.values[value]->bytes, DLC_ALIGNMENT);
    return value;
  }

  int pool(DataType type, std::vector<int64_t> shape) {
    return add(type, shape, abi::Storage::Pool, 0);
  }

  template <typename T>
  int constant(DataType type, std::vector<int64_t> shape,
               const std::vector<T> &data) {
    int value = add(type, shape, abi::Storage::Constant, 0);
    std::span<const std::byte> bytes = std::as_bytes(std::span(data));
    constantBytes = alignUp(constantBytes, DLC_ALIGNMENT);
    program.values[value]->offset = constantBytes;
    program.values[value]->bytes = bytes.size();
    copies.emplace_back(bytes.begin(), bytes.end());
    constants.push_back({constantBytes, copies.back()});
    constantBytes += bytes.size();
    return value;
  }

  int kernel(abi::KernelKind kind, const std::string &name, int64_t tiles = 1) {
    auto kernel = std::make_unique<abi::KernelT>();
    kernel->kind = kind;
    kernel->name = name;
    kernel->tiles = tiles;
    program.kernels.push_back(std::move(kernel));
    return program.kernels.size() - 1;
  }

  int launch(int kernel, std::vector<int> inputs, std::vector<int> outputs,
             const std::string &label = "") {
    auto launch = std::make_unique<abi::LaunchT>();
    launch->kernel = kernel;
    launch->inputs = inputs.size();
    launch->arguments.assign(inputs.begin(), inputs.end());
    launch->arguments.insert(launch->arguments.end(), outputs.begin(),
                             outputs.end());
    launch->label = label;
    program.launches.push_back(std::move(launch));
    return program.launches.size() - 1;
  }

  /// Puts a launch on another stream than 0 of device 0.
  int on(int device, int stream, int launch) {
    program.launches[launch]->device = device;
    program.launches[launch]->stream = stream;
    return launch;
  }

  /// One launch of the operation `name`.
  int reference(const std::string &name, std::vector<int> inputs,
                std::vector<int> outputs, const std::string &label = "") {
    return launch(kernel(abi::KernelKind::Reference, "reference." + name),
                  inputs, outputs, label);
  }

  void setInt(int kernel, const std::string &name, int64_t value) {
    auto attribute = std::make_unique<abi::AttributeT>();
    attribute->name = name;
    attribute->kind = abi::AttributeKind::Int;
    attribute->i = value;
    program.kernels[kernel]->attributes.push_back(std::move(attribute));
  }

  void setInts(int kernel, const std::string &name,
               std::vector<int64_t> values) {
    auto attribute = std::make_unique<abi::AttributeT>();
    attribute->name = name;
    attribute->kind = abi::AttributeKind::Ints;
    attribute->ints = std::move(values);
    program.kernels[kernel]->attributes.push_back(std::move(attribute));
  }
  void setString(int kernel, const std::string &name,
                 const std::string &value) {
    auto attribute = std::make_unique<abi::AttributeT>();
    attribute->name = name;
    attribute->kind = abi::AttributeKind::String;
    attribute->s = value;
    program.kernels[kernel]->attributes.push_back(std::move(attribute));
  }

  void setFloat(int kernel, const std::string &name, double value) {
    auto attribute = std::make_unique<abi::AttributeT>();
    attribute->name = name;
    attribute->kind = abi::AttributeKind::Float;
    attribute->f = value;
    program.kernels[kernel]->attributes.push_back(std::move(attribute));
  }

  int object(std::span<const std::byte> bytes,
             std::vector<std::string> features = {}) {
    auto variant = std::make_unique<abi::ObjectVariantT>();
    variant->features = features;
    variant->kernel_abi = DLC_KERNEL_ABI_VERSION;
    program.objects.push_back(std::move(variant));
    objects.push_back(bytes);
    return program.objects.size() - 1;
  }

  /// A program of a batch of any size, for `rows` examples; without constants
  /// and objects of its own.
  void byRows(int64_t rows, ProgramBuilder part) {
    takeKernels(part.program);
    part.program.rows = rows;
    program.by_rows.push_back(
        std::make_unique<abi::ProgramT>(std::move(part.program)));
  }

  /// A program for some shapes, maybe by rows; likewise.
  void byShape(ProgramBuilder part) {
    takeKernels(part.program);
    program.by_shape.push_back(
        std::make_unique<abi::ProgramT>(std::move(part.program)));
  }

  /// Those of `part` and of the programs that it runs.
  void takeKernels(abi::ProgramT &part) {
    const size_t first = program.kernels.size();
    auto renumber = [&](abi::ProgramT &from) {
      for (auto &launch : from.launches)
        launch->kernel += first;
    };
    renumber(part);
    for (auto &rows : part.by_rows)
      renumber(*rows);
    for (auto &kernel : part.kernels)
      program.kernels.push_back(std::move(kernel));
    part.kernels.clear();
  }

  ArtifactContents contents() {
    return {program, objects, constants, constantBytes};
  }

  /// The file in memory; the plan is good.
  AlignedBuffer write() {
    Result<AlignedBuffer> bytes = writeArtifact(contents());
    if (!bytes.isOk()) {
      std::fprintf(stderr, "bad plan: %s\n", bytes.status().message().c_str());
      std::abort();
    }
    return std::move(*bytes);
  }

  abi::ProgramT program;
  std::vector<std::span<const std::byte>> objects;
  std::vector<ArtifactConstant> constants;
  uint64_t constantBytes = 0;

private:
  int add(DataType type, const std::vector<int64_t> &shape,
          abi::Storage storage, uint32_t index) {
    auto value = std::make_unique<abi::ValueT>();
    value->type = type;
    value->shape = shape;
    value->storage = storage;
    value->index = index;
    value->bytes = elementCount(shape).value_or(0) * sizeOf(type);
    program.values.push_back(std::move(value));
    return program.values.size() - 1;
  }

  static std::unique_ptr<abi::BindingT> bind(const std::string &name,
                                             int value) {
    auto binding = std::make_unique<abi::BindingT>();
    binding->name = name;
    binding->value = value;
    return binding;
  }

  std::deque<std::vector<std::byte>> copies;
};

/// y = relu(x + w) over 2x3, with a transient value, as every test knows it.
inline ProgramBuilder addReluBuilder() {
  ProgramBuilder builder;
  int x = builder.input("x", DLC_F32, {2, 3});
  int w = builder.constant<float>(DLC_F32, {3}, {1, -2, 3});
  int sum = builder.arena(DLC_F32, {2, 3});
  int y = builder.output("y", DLC_F32, {2, 3});
  builder.reference("add", {x, w}, {sum}, "add1");
  builder.reference("relu", {sum}, {y}, "relu1");
  return builder;
}

/// y = relu(x + w) over rows of 3, as many as there are, by programs for 4 and
/// for 1; and the sum of all rows' w.
inline ProgramBuilder batchBuilder(std::vector<int64_t> sizes = {4, 1}) {
  ProgramBuilder builder;
  builder.input("x", DLC_F32, {-1, 3});
  builder.input("w", DLC_F32, {3});
  builder.output("y", DLC_F32, {-1, 3});
  builder.output("v", DLC_F32, {3});
  for (int64_t rows : sizes) {
    ProgramBuilder part;
    int x = part.input("x", DLC_F32, {rows, 3});
    int w = part.input("w", DLC_F32, {3});
    int sum = part.arena(DLC_F32, {rows, 3});
    int y = part.output("y", DLC_F32, {rows, 3});
    int v = part.output("v", DLC_F32, {3});
    part.reference("add", {x, w}, {sum}, "add" + std::to_string(rows));
    part.reference("relu", {sum}, {y}, "relu" + std::to_string(rows));
    part.reference("add", {w, w}, {v}, "double" + std::to_string(rows));
    builder.byRows(rows, std::move(part));
  }
  return builder;
}

/// y = relu(x) over 2 or 7 rows of 3, y = x + x over any rows of 5.
inline ProgramBuilder shapesBuilder() {
  ProgramBuilder builder;
  builder.input("x", DLC_F32, {-1, -1});
  builder.output("y", DLC_F32, {-1, -1});
  for (int64_t rows : {2, 7}) {
    ProgramBuilder part;
    int x = part.input("x", DLC_F32, {rows, 3});
    int y = part.output("y", DLC_F32, {rows, 3});
    part.reference("relu", {x}, {y}, "relu" + std::to_string(rows));
    builder.byShape(std::move(part));
  }
  ProgramBuilder batch;
  batch.input("x", DLC_F32, {-1, 5});
  batch.output("y", DLC_F32, {-1, 5});
  for (int64_t rows : {4, 1}) {
    ProgramBuilder part;
    int x = part.input("x", DLC_F32, {rows, 5});
    int y = part.output("y", DLC_F32, {rows, 5});
    part.reference("add", {x, x}, {y}, "double" + std::to_string(rows));
    batch.byRows(rows, std::move(part));
  }
  builder.byShape(std::move(batch));
  return builder;
}

/// y = relu(x), n = minus the number of rows, w = -z, over up to 4 rows of up
/// to 3 columns and up to 6 of 5; z has 2.
inline ProgramBuilder paddedBuilder(bool takesAny = false) {
  ProgramBuilder builder;
  builder.input("x", DLC_F32, {-1, -1});
  builder.input("z", DLC_I8, {-1, 2});
  builder.output("y", DLC_F32, {-1, -1});
  builder.output("n", DLC_I64, {});
  builder.output("w", DLC_I8, {-1, 2});
  builder.program.inputs[0]->padded = {0, 1};
  builder.program.inputs[1]->padded = {0, -1};
  builder.program.outputs[0]->padded = {0, 1};
  builder.program.outputs[2]->padded = {0, -1};
  std::vector<std::pair<int64_t, int64_t>> sizes{{6, 5}, {4, 3}};
  if (takesAny)
    sizes.emplace_back(-1, -1);
  for (auto [rows, columns] : sizes) {
    ProgramBuilder part;
    int x = part.input("x", DLC_F32, {rows, columns});
    int z = part.input("z", DLC_I8, {rows, 2});
    int n = part.input("rows", DLC_I64, {});
    part.input("columns", DLC_I64, {});
    int y = part.output("y", DLC_F32, {rows, columns});
    int m = part.output("n", DLC_I64, {});
    int w = part.output("w", DLC_I8, {rows, 2});
    const std::string suffix = std::to_string(rows);
    part.reference("relu", {x}, {y}, "relu" + suffix);
    part.reference("neg", {n}, {m}, "neg" + suffix);
    part.reference("neg", {z}, {w}, "negative" + suffix);
    builder.byShape(std::move(part));
  }
  return builder;
}

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_PROGRAMBUILDER_H
