// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the CPU kernels share: calls that own their operands,
// activations in double, and the comparison of a prepared kernel with a
// reference under every instruction set and every way to split the grid.

#ifndef DLC_TEST_RUNTIME_KERNEL_CPU_KERNELTESTING_H
#define DLC_TEST_RUNTIME_KERNEL_CPU_KERNELTESTING_H

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace dlc::rt::cpu::testing {

using Shape = std::vector<int64_t>;

inline TensorType f32(Shape shape) {
  return TensorType{DLC_F32, std::move(shape)};
}

/// The place of a tensor's elements, in floats.
inline int64_t floatsOf(const TensorType &type) {
  return (*byteCount(type.type, type.shape) + 3) / 4;
}

/// The bits of bfloat16, of which no bits of the floats are lost.
inline std::vector<uint16_t> shortsOf(const float *values, int64_t count) {
  std::vector<uint16_t> shorts(count);
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    EXPECT_EQ(bits & 0xffff, 0u);
    shorts[i] = static_cast<uint16_t>(bits >> 16);
  }
  return shorts;
}
inline std::vector<float> floatsOf(const void *shorts, int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(reinterpret_cast<char *>(&values[i]) + 2,
                static_cast<const char *>(shorts) + 2 * i, 2);
  return values;
}

/// A small generator: values in [-1, 1), the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 2 + 1) {}
  float next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<int32_t>(state >> 33)) * 0x1p-30f -
           1.0f;
  }
  int64_t below(int64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state >> 33) % limit);
  }

private:
  uint64_t state;
};

/// Memory with a guard in front, and a page behind that nobody may touch: what
/// is read there and left out again would not show in results. Its address is
/// aligned as the size has it: neither alignment nor slack may be relied on.
class GuardedBuffer {
public:
  explicit GuardedBuffer(int64_t count) : count(count) {
    const auto bytes = static_cast<size_t>(count + kGuard) * sizeof(float);
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped = (bytes + page - 1) / page * page + page;
    void *map = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
      std::abort();
    memory = static_cast<char *>(map);
    if (mprotect(memory + mapped - page, page, PROT_NONE) != 0)
      std::abort();
    begin = reinterpret_cast<float *>(memory + mapped - page) - count;
    std::fill_n(begin - kGuard, kGuard, guardValue());
    std::fill_n(begin, count, guardValue());
  }
  GuardedBuffer(const GuardedBuffer &other) : GuardedBuffer(other.count) {
    std::copy_n(other.begin, count, begin);
  }
  GuardedBuffer(GuardedBuffer &&other) { swap(other); }
  GuardedBuffer &operator=(GuardedBuffer other) {
    swap(other);
    return *this;
  }
  ~GuardedBuffer() {
    if (memory)
      munmap(memory, mapped);
  }

  float *data() { return begin; }
  void fill(Random &random) {
    for (int64_t i = 0; i < count; ++i)
      data()[i] = random.next();
  }
  bool guardsIntact() const {
    for (int64_t i = 1; i <= kGuard; ++i)
      if (!isGuard(begin[-i]))
        return false;
    return true;
  }
  int64_t size() const { return count; }

private:
  static constexpr int64_t kGuard = 17;
  /// NaN: a read past the operand shows in the result, too.
  static float guardValue() { return std::nanf("7"); }
  static bool isGuard(float value) {
    float guard = guardValue();
    return std::memcmp(&value, &guard, sizeof(float)) == 0;
  }
  void swap(GuardedBuffer &other) {
    std::swap(count, other.count);
    std::swap(mapped, other.mapped);
    std::swap(memory, other.memory);
    std::swap(begin, other.begin);
  }

  int64_t count = 0;
  size_t mapped = 0;
  char *memory = nullptr;
  float *begin = nullptr;
};

inline double activate(double x, const Attributes &attributes) {
  std::string_view kind = attributes.getString("activation");
  auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  auto hard = [&](double alpha, double beta) {
    return std::max(0.0, std::min(1.0, alpha * x + beta));
  };
  if (kind == "relu")
    return x < 0 ? 0 : x;
  if (kind == "clamp") {
    double low = attributes.getFloat("alpha"),
           high = attributes.getFloat("beta");
    return x < low ? low : x > high ? high : x;
  }
  if (kind == "leaky_relu")
    return x < 0 ? x * attributes.getFloat("alpha", 0.01) : x;
  if (kind == "sigmoid")
    return sigmoid(x);
  if (kind == "tanh")
    return std::tanh(x);
  if (kind == "gelu")
    return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
  if (kind == "gelu_tanh")
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  if (kind == "silu")
    return x * sigmoid(x);
  if (kind == "hard_swish")
    return x * hard(1.0 / 6, 0.5);
  if (kind == "hard_sigmoid")
    return hard(attributes.getFloat("alpha", 0.2),
                attributes.getFloat("beta", 0.5));
  EXPECT_EQ(kind, "");
  return x;
}

inline constexpr const char *kActivations[] = {
    "",     "relu",      "clamp", "leaky_relu", "sigmoid",     "tanh",
    "gelu", "gelu_tanh", "silu",  "hard_swish", "hard_sigmoid"};

inline void setActivation(Attributes &attributes, const std::string &kind) {
  attributes.set("activation", kind);
  if (kind == "clamp") {
    attributes.set("alpha", -0.5);
    attributes.set("beta", 0.75);
  } else if (kind == "leaky_relu") {
    attributes.set("alpha", 0.125);
  } else if (kind == "hard_sigmoid") {
    attributes.set("alpha", 0.25);
    attributes.set("beta", 0.375);
  }
}

/// A call with its operands' values.
struct Call {
  std::vector<TensorType> inputs;
  TensorType output;
  TensorType workspace; ///< Absent unless the call wants one.
  Attributes attributes;
  std::vector<GuardedBuffer> values;

  KernelCall view() const {
    outputs = {output};
    if (workspace.type != DLC_INVALID_TYPE)
      outputs.push_back(workspace);
    return {inputs, outputs, attributes};
  }
  size_t workspaceBytes() const {
    return workspace.type == DLC_INVALID_TYPE ? 0 : workspace.shape[0];
  }

  void addInput(TensorType type, Random &random) {
    bool present = type.type != DLC_INVALID_TYPE;
    values.emplace_back(present ? *elementCount(type.shape) : 0);
    values.back().fill(random);
    inputs.push_back(std::move(type));
  }

private:
  mutable std::vector<TensorType> outputs;
};

/// Leaves NaNs where a kernel's scratch will lie: what it reads there without
/// having written it shows in results, and as an index is out of every range.
[[gnu::noinline]] inline void spoilStack() {
  float values[size_t{512} << 8];
  std::fill(std::begin(values), std::end(values), std::nanf("7"));
  asm volatile("" ::"r"(values) : "memory");
}

using PrepareFunction = Status (*)(const KernelCall &, Isa,
                                   std::unique_ptr<PreparedKernel> &);

inline std::vector<Isa> runnableIsas() {
  std::vector<Isa> isas;
  for (Isa isa : {Isa::Baseline, Isa::AVX2, Isa::AVX512})
    if (canRun(isa))
      isas.push_back(isa);
  return isas;
}

/// Also those with bfloat16, which compute calls in parts in their own way: the
/// model of AMX everywhere, the instructions where this machine has them.
inline std::vector<Isa> runnableIsas(const Call &call) {
  std::vector<Isa> isas = runnableIsas();
  if (call.attributes.getInt(kBf16Parts, 0) != 0)
    for (Isa isa : {Isa::AVX512BF16, Isa::AMX, Isa::AMXModel})
      if (canRun(isa))
        isas.push_back(isa);
  return isas;
}

/// Runs the call whole, as a few threads share it out, then split at random and
/// out of order; the bits agree.
inline std::vector<float> runCall(Call &call, PrepareFunction prepare,
                                  Isa isa) {
  std::unique_ptr<PreparedKernel> kernel;
  Status status = prepare(call.view(), isa, kernel);
  EXPECT_TRUE(status.isOk()) << status.message();
  if (!status.isOk())
    return {};
  GuardedBuffer whole(floatsOf(call.output));
  GuardedBuffer shared(whole.size()), split(whole.size());
  GuardedBuffer workspace(call.workspaceBytes() / sizeof(float));
  auto argumentsOf = [&](GuardedBuffer &output) {
    std::vector<void *> arguments;
    for (size_t i = 0; i < call.inputs.size(); ++i)
      arguments.push_back(call.inputs[i].type == DLC_INVALID_TYPE
                              ? nullptr
                              : call.values[i].data());
    arguments.push_back(output.data());
    arguments.push_back(workspace.data());
    spoilStack();
    return arguments;
  };
  auto run = [&](const PreparedKernel &kernel, GuardedBuffer &output,
                 int64_t begin, int64_t end) {
    kernel.run(argumentsOf(output).data(), begin, end);
  };
  for (const PreparedKernel *step = kernel.get(); step; step = step->next())
    run(*step, whole, 0, step->tiles());
  workspace = GuardedBuffer(call.workspaceBytes() / sizeof(float));
  for (const PreparedKernel *step = kernel.get(); step; step = step->next()) {
    const int64_t ranges = step->ranges(3);
    EXPECT_TRUE(ranges <= step->tiles() && (ranges > 0) == (step->tiles() > 0));
    for (int64_t range = ranges; range--;)
      step->runRanges(argumentsOf(shared).data(), range, range + 1, ranges);
  }
  workspace = GuardedBuffer(call.workspaceBytes() / sizeof(float));
  for (const PreparedKernel *step = kernel.get(); step; step = step->next()) {
    Random random(step->tiles());
    for (int64_t end = step->tiles(); end > 0;) {
      int64_t begin = random.below(end);
      run(*step, split, begin, end);
      end = begin;
    }
  }
  EXPECT_TRUE(workspace.guardsIntact());
  EXPECT_TRUE(whole.guardsIntact() && shared.guardsIntact() &&
              split.guardsIntact());
  for (GuardedBuffer &value : call.values)
    EXPECT_TRUE(value.guardsIntact());
  EXPECT_EQ(
      std::memcmp(whole.data(), split.data(), whole.size() * sizeof(float)), 0)
      << "the result depends on how the grid is split";
  EXPECT_EQ(
      std::memcmp(whole.data(), shared.data(), whole.size() * sizeof(float)), 0)
      << "the result depends on how threads share the grid";
  if (call.output.type == DLC_BF16)
    return floatsOf(whole.data(), *elementCount(call.output.shape));
  return {whole.data(), whole.data() + whole.size()};
}

/// Largest error over the largest value, where NaN is expected of nothing.
inline double errorOf(const std::vector<float> &values,
                      const std::vector<double> &expected) {
  double error = 0, scale = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]))
      continue;
    if (!std::isfinite(values[i]))
      return std::numeric_limits<double>::infinity();
    error = std::max(error, std::fabs(values[i] - expected[i]));
    scale = std::max(scale, std::fabs(expected[i]));
  }
  return scale > 0 ? error / scale : error;
}

/// Every instruction set agrees with the reference within 4e-6 of the largest
/// value, a fifth of what the library promises, or so much.
inline void expectMatches(Call &call, PrepareFunction prepare,
                          const std::vector<double> &expected,
                          const std::string &label, double bound = 4e-6) {
  for (Isa isa : runnableIsas(call)) {
    SCOPED_TRACE(label + " " + std::string(nameOf(isa)));
    std::vector<float> values = runCall(call, prepare, isa);
    ASSERT_EQ(values.size(), expected.size());
    EXPECT_LE(errorOf(values, expected), bound);
  }
}

} // namespace dlc::rt::cpu::testing

#endif // DLC_TEST_RUNTIME_KERNEL_CPU_KERNELTESTING_H
