// SPDX-License-Identifier: Apache-2.0
//
// What the tests of integer_matmul and integer_conv share: calls of bytes, and
// the comparison of a prepared kernel with what it is to give, under every
// instruction set and every way to split the grid.

#ifndef DLC_TEST_RUNTIME_KERNEL_CPU_INTEGERTESTING_H
#define DLC_TEST_RUNTIME_KERNEL_CPU_INTEGERTESTING_H

#include "KernelTesting.h"

namespace dlc::rt::cpu::testing {

/// Bytes in such memory, with nothing behind the last.
class Bytes {
public:
  explicit Bytes(size_t count)
      : count(count), memory(static_cast<int64_t>((count + sizeof(float) - 1) /
                                                  sizeof(float))) {}
  uint8_t *data() {
    return reinterpret_cast<uint8_t *>(memory.data() + memory.size()) - count;
  }
  size_t size() const { return count; }
  bool guardsIntact() const { return memory.guardsIntact(); }

private:
  size_t count;
  GuardedBuffer memory;
};

/// Of usual ones those of the second factor are small but for a few, extreme
/// ones.
enum class Values { Any, Extreme, Usual };

/// Zero points are the third and the fourth input.
struct IntegerCall {
  IntegerCall(const char *entry, std::vector<TensorType> types,
              PrepareFunction prepare)
      : inputs(std::move(types)), entry(*lookupLibraryEntry(entry)),
        prepare(prepare) {}

  KernelCall view() const { return {inputs, outputs, attributes}; }
  /// Fills the inputs there are.
  void fill(Values kind, bool hasZeros) {
    Random random(bytesOf(inputs[0]) + bytesOf(inputs[1]));
    for (const TensorType &type : inputs) {
      const bool isZeroPoint = values.size() >= 2;
      values.emplace_back(bytesOf(type));
      for (size_t i = 0; i < values.back().size(); ++i) {
        auto byte = static_cast<uint8_t>(random.below(256));
        const bool isSmall = kind == Values::Usual && values.size() == 2 &&
                             random.below(400) > 0;
        if (isSmall)
          byte = static_cast<uint8_t>((byte % 100 - 50) ^
                                      (type.type == DLC_U8 ? 0x80 : 0));
        else if (kind != Values::Any)
          byte = type.type == DLC_U8 ? (byte & 1 ? 255 : 0)
                                     : (byte & 1 ? 0x80 : 0x7f);
        values.back().data()[i] = isZeroPoint && !hasZeros ? 0 : byte;
      }
    }
  }
  int64_t valueOf(size_t input, int64_t at) {
    const uint8_t byte = values[input].data()[at];
    return inputs[input].type == DLC_U8 ? int64_t{byte}
                                        : static_cast<int8_t>(byte);
  }
  /// That of b's column or w's channel j.
  int64_t zeroOf(int64_t j) { return valueOf(3, values[3].size() > 1 ? j : 0); }

  /// Rounds the sums that are expected to `type`, which has one for all, or,
  /// where `shape` has some, one multiplier and offset for each channel of
  /// which `period` sums follow each other.
  void requantize(DataType type, const Shape &shape, int64_t period);

  /// The workspace, if the call has one.
  void addWorkspace() {
    const size_t bytes =
        entry.workspaceBytes ? entry.workspaceBytes(view()) : 0;
    if (bytes > 0)
      outputs.push_back({DLC_U8, {static_cast<int64_t>(bytes)}});
  }
  /// Packs the second input, as the compiler does.
  void pack(const char *attribute);
  /// On every instruction set that this machine can run.
  void check();

  static size_t bytesOf(const TensorType &type) {
    return static_cast<size_t>(*byteCount(type.type, type.shape));
  }

  std::vector<TensorType> inputs, outputs;
  Attributes attributes;
  std::vector<Bytes> values;
  std::vector<uint8_t> expected; ///< The output's bytes.
  const LibraryEntry &entry;
  const PrepareFunction prepare;

private:
  KernelCall logical(std::vector<TensorType> &types, Attributes &plain) const;
  void run(Isa isa);
};

inline void IntegerCall::requantize(DataType type, const Shape &shape,
                                    int64_t period) {
  Random random(expected.size());
  const int64_t count = *elementCount(shape);
  for (float scale : {0x1p-9f, 5.0f}) {
    inputs.push_back({DLC_F32, shape});
    values.emplace_back(count * sizeof(float));
    for (int64_t i = 0; i < count; ++i) {
      // Quarters: what is rounded is a tie now and then.
      const float value = std::nearbyint(random.next() * 8) / 4 * scale;
      std::memcpy(values.back().data() + i * sizeof(float), &value,
                  sizeof(float));
    }
  }
  inputs.push_back({type, {}});
  values.emplace_back(1);
  values.back().data()[0] = 3;
  auto floatOf = [&](size_t input, int64_t i) {
    float value;
    std::memcpy(&value, values[input].data() + i * sizeof(float),
                sizeof(float));
    return value;
  };
  std::vector<uint8_t> rounded;
  for (size_t i = 0; i < expected.size() / 4; ++i) {
    int32_t sum;
    std::memcpy(&sum, expected.data() + 4 * i, sizeof(sum));
    const int64_t channel =
        count > 1 ? static_cast<int64_t>(i) / period % count : 0;
    const float value = std::fma(static_cast<float>(sum), floatOf(4, channel),
                                 floatOf(5, channel));
    const double least = type == DLC_U8 ? 0 : -128,
                 most = type == DLC_U8 ? 255 : 127;
    rounded.push_back(static_cast<uint8_t>(static_cast<int>(
        std::clamp(std::nearbyint(double{value}) + 3, least, most))));
  }
  expected = std::move(rounded);
  outputs[0].type = type;
}

inline void IntegerCall::pack(const char *attribute) {
  attributes.set(attribute, int64_t{1});
  attributes.set("packed_shape", inputs[1].shape);
  Bytes packed(entry.packedBytes(view(), 1));
  entry.pack(view(), 1, values[1].data(), packed.data());
  EXPECT_TRUE(packed.guardsIntact());
  inputs[1] = {DLC_F32, {static_cast<int64_t>(packed.size() / sizeof(float))}};
  values[1] = std::move(packed);
}

/// As prepare() takes it, of operands as they were.
inline KernelCall IntegerCall::logical(std::vector<TensorType> &types,
                                       Attributes &plain) const {
  types = inputs;
  for (const Attribute &attribute : attributes)
    if (attribute.name != "packed_shape")
      plain.set(attribute.name, attribute.value);
  std::span<const int64_t> shape = attributes.getInts("packed_shape");
  if (!shape.empty())
    types[1].shape.assign(shape.begin(), shape.end());
  return {types, outputs, plain};
}

inline void IntegerCall::run(Isa isa) {
  std::vector<TensorType> types;
  Attributes plain;
  std::unique_ptr<PreparedKernel> kernel;
  Status status = prepare(logical(types, plain), isa, kernel);
  ASSERT_TRUE(status.isOk()) << status.message();
  for (bool isSplit : {false, true}) {
    SCOPED_TRACE(isSplit ? "split" : "whole");
    Bytes workspace(outputs.size() > 1 ? bytesOf(outputs[1]) : 0);
    Bytes result(expected.size());
    std::vector<void *> arguments;
    for (Bytes &value : values)
      arguments.push_back(value.data());
    arguments.push_back(result.data());
    arguments.push_back(workspace.data());
    for (const PreparedKernel *step = kernel.get(); step; step = step->next()) {
      Random random(step->tiles());
      for (int64_t end = step->tiles(); end > 0;) {
        const int64_t begin = isSplit ? random.below(end) : 0;
        spoilStack();
        step->run(arguments.data(), begin, end);
        end = begin;
      }
    }
    EXPECT_TRUE(result.guardsIntact());
    EXPECT_TRUE(workspace.guardsIntact());
    for (Bytes &value : values)
      EXPECT_TRUE(value.guardsIntact());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), result.data()));
  }
}

inline void IntegerCall::check() {
  for (Isa isa : {Isa::Baseline, Isa::AVX2, Isa::AVXVNNI, Isa::AVX512,
                  Isa::AVX512VNNI, Isa::AMX, Isa::AMXModel})
    if (canRun(isa)) {
      SCOPED_TRACE(std::string(nameOf(isa)));
      run(isa);
    }
}

/// Why the library refuses `call`, which it does twice: when it is asked, and
/// when it is to make it ready.
inline std::string refusalOf(const IntegerCall &call) {
  std::string why;
  EXPECT_FALSE(call.entry.isSupported(call.view(), why));
  std::unique_ptr<PreparedKernel> kernel;
  EXPECT_FALSE(call.entry.prepare(call.view(), kernel).isOk());
  return why;
}

} // namespace dlc::rt::cpu::testing

#endif // DLC_TEST_RUNTIME_KERNEL_CPU_INTEGERTESTING_H
