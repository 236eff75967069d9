// SPDX-License-Identifier: Apache-2.0
//
// Times the entries of the CPU kernel library:
//
//   dlc-bench-cpu-kernels [threads] [isa] < cases
//
// One case a line, `#` starts a comment:
//   matmul BATCHxMxNxK [const] [trans_b] [split] [rounded]
//          const: b is packed beforehand; split: bf16_parts = 3, rounded: 1,
//          also of conv and chain
//   conv   [B:]CxHxW OC KHxKW sS pP gG [winograd] [blocked_x]
//          [blocked_y] [unpacked] [split] [rounded]: B images, 1 without; the
//          input or the output is [N][C/16][H][W][16]; weights are not constant
//   chain  BxCxHxW / OC KHxKW sS pP / KHxKW sS pP / OC [blocked_x]
//          [blocked_y]: convolutions, of which the first or the last may be -
//   weight BxCxHxW OC KHxKW sS pP gG [blocked] [winograd]
//          the gradient of a conv's weights; both operands are in blocks
//   max_pool, avg_pool, max_pool_gradient   BxCxHxW KHxKW sS pP
// Any case may end with `cold`: its operands are in no cache when it begins.
// Prints "case TAB microseconds TAB GF/s TAB percent of the multiply-add
// peak", the best of several runs. The peak is measured first, on one thread,
// and with several how long they take to hear from each other.
// cpu_kernels_ort.py compares products and convolutions with ONNX Runtime.

#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Kernel/CPU/CPULibrary.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace dlc::rt;

namespace {

/// Time of this thread alone where there are no others: other programs on the
/// machine disturb it less. With several it is that of the wall, since what
/// they do while this one has no processor would count nothing.
struct Clock {
  static inline clockid_t id = CLOCK_THREAD_CPUTIME_ID;
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static time_point now() {
    timespec time;
    clock_gettime(id, &time);
    return time_point(std::chrono::seconds(time.tv_sec) +
                      std::chrono::nanoseconds(time.tv_nsec));
  }
};

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

#if defined(__x86_64__)
/// Ten chains of multiply-adds, enough to fill two units.
#define DLC_PEAK_SECONDS                                                       \
  Vec sums[10] = {};                                                           \
  Vec factor = Vec{} + 0.5f;                                                   \
  auto start = Clock::now();                                                   \
  for (int64_t i = 0; i < rounds; ++i)                                         \
    for (Vec &sum : sums)                                                      \
      asm volatile("vfmadd231ps %1, %1, %0" : "+v"(sum) : "v"(factor));        \
  return secondsSince(start);

[[gnu::target("avx2,fma")]] double peakSeconds256(int64_t rounds) {
  typedef float Vec __attribute__((vector_size(32)));
  DLC_PEAK_SECONDS
}
[[gnu::target("avx512f")]] double peakSeconds512(int64_t rounds) {
  typedef float Vec __attribute__((vector_size(64)));
  DLC_PEAK_SECONDS
}

/// Of the vectors that `isa` has; some processors halve the wide ones.
double measurePeak(cpu::Isa isa) {
  if (!__builtin_cpu_supports("fma"))
    return 0;
  const bool isWide = isa >= cpu::Isa::AVX512 && isa != cpu::Isa::AMXModel;
  constexpr int64_t rounds = 2000000;
  double best = 1e9;
  for (int i = 0; i < 8; ++i)
    best = std::min(best,
                    isWide ? peakSeconds512(rounds) : peakSeconds256(rounds));
  return rounds * 10 * (isWide ? 32 : 16) / best;
}
#else
double measurePeak(cpu::Isa) { return 0; }
#endif

/// Nanoseconds in which a thread hears from another one what that was told: a
/// virtual machine's processors may be neighbours at one time and lie on two
/// chips at another, and what threads read of each other then takes longer.
double measureRoundTrip() {
  constexpr int rounds = 1000, tries = 20;
  alignas(64) static std::atomic<int> asked = 0;
  alignas(64) static std::atomic<int> answered = 0;
  // Threads that share a processor would wait for the end of a time slice.
  auto await = [](std::atomic<int> &number, int wanted) {
    for (int spins = 0; number.load() != wanted; ++spins)
      if (spins > 10'000)
        std::this_thread::yield();
  };
  std::thread other([&] {
    for (int i = 1; i <= rounds * tries; ++i) {
      await(asked, i);
      answered = i;
    }
  });
  std::chrono::duration<double, std::nano> best = std::chrono::seconds(1);
  for (int i = 1; i <= rounds * tries;) {
    const auto start = std::chrono::steady_clock::now();
    for (int last = i + rounds; i != last; ++i) {
      asked = i;
      await(answered, i);
    }
    best = std::min<decltype(best)>(best,
                                    std::chrono::steady_clock::now() - start);
  }
  other.join();
  return best.count() / rounds;
}

/// As programs run a kernel: every step is a grid that threads share.
void run(WorkerPool &pool, const PreparedKernel &kernel,
         void *const *arguments) {
  for (const PreparedKernel *step = &kernel; step; step = step->next()) {
    const int64_t ranges = step->ranges(pool.threads());
    pool.parallelFor(ranges, UINT64_MAX, [&](int64_t begin, int64_t end) {
      step->runRanges(arguments, begin, end, ranges);
    });
  }
}

struct Case {
  std::string_view entry;
  std::vector<TensorType> inputs;
  TensorType output;
  Attributes attributes;
  bool packs = false;
  bool isCold = false; ///< Operands are in no cache when it begins.
  double flops = 0;
};

TensorType f32(std::vector<int64_t> shape) {
  return {DLC_F32, std::move(shape)};
}

void block(TensorType &type) {
  type.shape[1] = (type.shape[1] + 15) / 16;
  type.shape.push_back(16);
}

void setParts(const char *options, Case &c) {
  if (std::strstr(options, "split"))
    c.attributes.set("bf16_parts", int64_t{3});
  if (std::strstr(options, "rounded"))
    c.attributes.set("bf16_parts", int64_t{1});
}

bool parseMatmul(const char *text, Case &c) {
  long batch, m, n, k;
  int used = 0;
  if (std::sscanf(text, "matmul %ldx%ldx%ldx%ld%n", &batch, &m, &n, &k,
                  &used) != 4)
    return false;
  const bool constant = std::strstr(text + used, "const") != nullptr;
  const bool transposed = std::strstr(text + used, "trans_b") != nullptr;
  c.entry = "cpu.matmul";
  std::vector<int64_t> b = {transposed ? n : k, transposed ? k : n};
  if (!constant)
    b.insert(b.begin(), batch);
  c.inputs = {f32({batch, m, k}), f32(b)};
  c.output = f32({batch, m, n});
  c.attributes.set("trans_b", int64_t{transposed});
  c.attributes.set("packed_b", int64_t{constant ? 2 : 0});
  c.packs = constant;
  setParts(text + used, c);
  return true;
}

bool parseConv(const char *text, Case &c) {
  long batch = 1, channels, h, w, oc, kh, kw, s, p, g;
  int used = 0;
  if (std::sscanf(text, "conv %ld: %n", &batch, &used) != 1 || used == 0) {
    batch = 1;
    if (std::sscanf(text, "conv %n", &used) == EOF || used == 0)
      return false;
  }
  text += used;
  if (std::sscanf(text, "%ldx%ldx%ld %ld %ldx%ld s%ld p%ld g%ld", &channels, &h,
                  &w, &oc, &kh, &kw, &s, &p, &g) != 9)
    return false;
  c.entry = "cpu.conv";
  c.inputs = {f32({batch, channels, h, w}), f32({oc, channels / g, kh, kw}),
              f32({oc})};
  c.output =
      f32({batch, oc, (h + 2 * p - kh) / s + 1, (w + 2 * p - kw) / s + 1});
  c.packs = !std::strstr(text, "unpacked");
  c.attributes.set("strides", std::vector<int64_t>{s, s});
  c.attributes.set("pads", std::vector<int64_t>{p, p, p, p});
  c.attributes.set("group", int64_t{g});
  c.attributes.set("packed_w", int64_t{c.packs});
  if (std::strstr(text, "winograd"))
    c.attributes.set("algorithm", std::string("winograd"));
  setParts(text, c);
  if (std::strstr(text, "blocked_x"))
    block(c.inputs[0]);
  if (std::strstr(text, "blocked_y")) {
    block(c.output);
    c.attributes.set("channel_block", int64_t{16});
  }
  c.attributes.set("activation", std::string("relu"));
  if (c.packs && std::strstr(text, "rounded")) // Always of blocks.
    c.attributes.set("packed_w", int64_t{2});
  return true;
}

int64_t extentOf(int64_t in, long kernel, long stride, long pad) {
  return (in + 2 * pad - kernel) / stride + 1;
}

bool parseChain(const char *text, Case &c) {
  long batch, channels, h, w, kh, kw, s, p, oc;
  int used = 0;
  if (std::sscanf(text, "chain %ldx%ldx%ldx%ld / %n", &batch, &channels, &h, &w,
                  &used) != 4 ||
      used == 0)
    return false;
  text += used;
  c.entry = "cpu.depthwise_chain";
  c.inputs = std::vector<TensorType>(7);
  c.inputs[0] = f32({batch, channels, h, w});
  auto set = [&](const std::string &prefix) {
    c.attributes.set(prefix + "strides", std::vector<int64_t>{s, s});
    c.attributes.set(prefix + "pads", std::vector<int64_t>{p, p, p, p});
    c.attributes.set(prefix + "activation", std::string("relu"));
    h = extentOf(h, kh, s, p);
    w = extentOf(w, kw, s, p);
  };
  if (std::sscanf(text, "%ld %ldx%ld s%ld p%ld", &oc, &kh, &kw, &s, &p) == 5) {
    c.inputs[1] = f32({oc, channels, kh, kw});
    c.inputs[2] = f32({oc});
    channels = oc;
    set("front_");
  }
  text = std::strchr(text, '/');
  if (!text || std::sscanf(text, "/ %ldx%ld s%ld p%ld", &kh, &kw, &s, &p) != 4)
    return false;
  c.inputs[3] = f32({channels, 1, kh, kw});
  c.inputs[4] = f32({channels});
  set("");
  text = std::strchr(text + 1, '/');
  if (text && std::sscanf(text, "/ %ld", &oc) == 1) {
    c.inputs[5] = f32({oc, channels, 1, 1});
    c.inputs[6] = f32({oc});
    channels = oc;
  }
  c.output = f32({batch, channels, h, w});
  c.packs = true;
  const bool isRounded = text && std::strstr(text, "rounded");
  c.attributes.set("packed_w", int64_t{isRounded ? 2 : 1});
  if (text)
    setParts(text, c);
  if (text && std::strstr(text, "blocked_x"))
    block(c.inputs[0]);
  if (text && std::strstr(text, "blocked_y")) {
    block(c.output);
    c.attributes.set("channel_block", int64_t{16});
  }
  return true;
}

bool parseWeight(const char *text, Case &c) {
  long batch, channels, h, w, oc, kh, kw, s, p, g;
  if (std::sscanf(text, "weight %ldx%ldx%ldx%ld %ld %ldx%ld s%ld p%ld g%ld",
                  &batch, &channels, &h, &w, &oc, &kh, &kw, &s, &p, &g) != 10)
    return false;
  c.entry = "cpu.conv_weight_gradient";
  c.inputs = {
      f32({batch, channels, h, w}),
      f32({batch, oc, (h + 2 * p - kh) / s + 1, (w + 2 * p - kw) / s + 1})};
  c.output = f32({oc, channels / g, kh, kw});
  if (std::strstr(text, "winograd"))
    c.attributes.set("algorithm", std::string("winograd"));
  if (std::strstr(text, "blocked"))
    for (TensorType &input : c.inputs)
      block(input);
  c.attributes.set("strides", std::vector<int64_t>{s, s});
  c.attributes.set("pads", std::vector<int64_t>{p, p, p, p});
  c.attributes.set("group", int64_t{g});
  return true;
}

bool parsePool(const char *text, Case &c) {
  char kind[32];
  long batch, channels, h, w, kh, kw, s, p;
  if (std::sscanf(text, "%31s %ldx%ldx%ldx%ld %ldx%ld s%ld p%ld", kind, &batch,
                  &channels, &h, &w, &kh, &kw, &s, &p) != 9)
    return false;
  const std::string_view name = kind;
  const TensorType image = f32({batch, channels, h, w});
  const TensorType windows = f32(
      {batch, channels, (h + 2 * p - kh) / s + 1, (w + 2 * p - kw) / s + 1});
  if (name == "max_pool_gradient") {
    c.entry = "cpu.max_pool_gradient";
    c.inputs = {image, windows};
    c.output = image;
  } else if (name == "max_pool" || name == "avg_pool") {
    c.entry = "cpu.pool";
    c.inputs = {image};
    c.output = windows;
    c.attributes.set("mean", int64_t(name == "avg_pool"));
  } else {
    return false;
  }
  c.attributes.set("kernel_shape", std::vector<int64_t>{kh, kw});
  c.attributes.set("strides", std::vector<int64_t>{s, s});
  c.attributes.set("pads", std::vector<int64_t>{p, p, p, p});
  return true;
}

Status prepare(const Case &c, const KernelCall &call, cpu::Isa isa,
               std::unique_ptr<PreparedKernel> &kernel) {
  if (c.entry == "cpu.matmul")
    return cpu::prepareMatmul(call, isa, kernel);
  if (c.entry == "cpu.conv")
    return cpu::prepareConv(call, isa, kernel);
  if (c.entry == "cpu.depthwise_chain")
    return cpu::prepareDepthwiseChain(call, isa, kernel);
  if (c.entry == "cpu.conv_weight_gradient")
    return cpu::prepareConvWeightGradient(call, isa, kernel);
  if (c.entry == "cpu.pool")
    return cpu::preparePool(call, isa, kernel);
  return cpu::prepareMaxPoolGradient(call, isa, kernel);
}

/// Best seconds of one launch.
double timeCase(const Case &c, cpu::Isa isa, WorkerPool &pool) {
  std::vector<TensorType> outputs = {c.output};
  KernelCall call{c.inputs, outputs, c.attributes};
  const LibraryEntry *entry = nullptr;
  for (const LibraryEntry &candidate : cpu::libraryEntries())
    if (candidate.name == c.entry)
      entry = &candidate;
  size_t workspaceBytes = 0;
  if (entry && entry->workspaceBytes)
    workspaceBytes = entry->workspaceBytes(call);
  if (workspaceBytes) {
    outputs.push_back({DLC_I8, {static_cast<int64_t>(workspaceBytes)}});
    call.outputs = outputs;
  }
  std::unique_ptr<PreparedKernel> kernel;
  Status status = entry ? prepare(c, call, isa, kernel)
                        : makeError(StatusCode::NotFound, "no such entry");
  if (!status.isOk()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  }
  std::vector<std::vector<float>> memory;
  std::vector<void *> arguments;
  // As programs have it, operands begin where cache lines do.
  auto add = [&](std::span<const float> values) {
    constexpr size_t line = 64;
    std::vector<float> &own =
        memory.emplace_back(values.size() + line / sizeof(float));
    void *at = own.data();
    size_t room = own.size() * sizeof(float);
    std::align(line, values.size_bytes(), at, room);
    std::copy(values.begin(), values.end(), static_cast<float *>(at));
    arguments.push_back(at);
  };
  for (size_t i = 0; i <= c.inputs.size(); ++i) {
    const TensorType &type = i < c.inputs.size() ? c.inputs[i] : c.output;
    if (type.type == DLC_INVALID_TYPE) {
      arguments.push_back(nullptr);
      continue;
    }
    std::vector<float> values(*elementCount(type.shape));
    for (size_t j = 0; j < values.size(); ++j)
      values[j] = static_cast<float>(j * 2654435761u % 1000) * 1e-3f - 0.5f;
    if (size_t bytes = c.packs ? entry->packedBytes(call, i) : 0) {
      std::vector<float> packed(bytes / sizeof(float));
      entry->pack(call, i, values.data(), packed.data());
      values = std::move(packed);
    }
    add(values);
  }
  add(std::vector<float>(workspaceBytes / sizeof(float)));
  // More than caches hold.
  std::vector<char> other(c.isCold ? 128 << 20 : 0);
  double best = 1e9, total = 0;
  for (int i = 0; i < 5 || (total < 0.15 && i < 1000); ++i) {
    for (size_t line = 0; line < other.size(); line += 64)
      ++other[line];
    auto start = Clock::now();
    run(pool, *kernel, arguments.data());
    double seconds = secondsSince(start);
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

} // namespace

int main(int argc, char **argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  cpu::Isa isa = cpu::bestIsa();
  bool isKnown = argc <= 2;
  for (cpu::Isa candidate :
       {cpu::Isa::Baseline, cpu::Isa::AVX2, cpu::Isa::AVX512, cpu::Isa::AMX,
        cpu::Isa::AMXModel})
    if (argc > 2 && cpu::nameOf(candidate) == argv[2]) {
      isa = candidate;
      isKnown = true;
    }
  if (argc > 3 || threads < 1 || !isKnown) {
    std::fprintf(stderr, "usage: %s [threads] [isa] < cases\n", argv[0]);
    return 2;
  }
  const double peak = measurePeak(isa) * threads;
  std::printf("# %s, %d threads, peak %.1f GF/s",
              std::string(cpu::nameOf(isa)).c_str(), threads, peak * 1e-9);
  if (threads > 1) {
    Clock::id = CLOCK_MONOTONIC;
    std::printf(", %.0f ns from thread to thread and back", measureRoundTrip());
  }
  std::putchar('\n');
  WorkerPoolOptions options;
  options.threads = static_cast<unsigned>(threads);
  Result<std::unique_ptr<WorkerPool>> pool = WorkerPool::create(options);
  if (!pool.isOk()) {
    std::fprintf(stderr, "%s\n", pool.status().message().c_str());
    return 1;
  }
  char line[512];
  while (std::fgets(line, sizeof(line), stdin)) {
    line[std::strcspn(line, "#\n")] = 0;
    if (!*line)
      continue;
    Case c;
    if (!parseMatmul(line, c) && !parseConv(line, c) && !parseChain(line, c) &&
        !parseWeight(line, c) && !parsePool(line, c)) {
      std::fprintf(stderr, "cannot read case '%s'\n", line);
      return 2;
    }
    c.isCold = std::strstr(line, "cold");
    KernelCall call{c.inputs, {&c.output, 1}, c.attributes};
    double flops = 0;
    for (const LibraryEntry &entry : cpu::libraryEntries())
      if (entry.name == c.entry)
        flops = static_cast<double>(entry.cost(call).flops);
    double seconds = timeCase(c, isa, **pool);
    std::printf("%s\t%.1f\t%.1f\t%.1f\n", line, seconds * 1e6,
                flops / seconds * 1e-9, 100 * flops / seconds / peak);
    std::fflush(stdout);
  }
}
