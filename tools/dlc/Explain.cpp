// SPDX-License-Identifier: Apache-2.0
//
// dlc explain: which kernel computes what, how fast, and where its memory
// lies: a table on stdout and, with -o, a page with pictures. A page that goes
// to stdout goes alone.

#include "Command.h"
#include "ExplainPage.h"
#include "Peer.h"
#include "Roofline.h"

#include "dlc/abi/Artifact_generated.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Kernel/CPU/CPULibrary.h"
#include "dlc/runtime/Kernel/Library.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

using namespace dlc;
using namespace dlc::tool;

namespace {

/// Keeps the shortest time of each launch, how often it ran, and what computed
/// those whose shapes were found while running.
class Timer : public rt::LaunchObserver {
public:
  explicit Timer(size_t launches)
      : nanoseconds(launches, UINT64_MAX), counts(launches), calls(launches),
        computedBy(launches) {}
  void onCall(size_t launch, const rt::CallInfo &call) override {
    if (counts[launch])
      return; // Shapes stay the same.
    calls[launch] = {std::string(call.entry), std::string(call.algorithm),
                     call.channelBlock, call.flops, call.bytes};
    if (call.sum)
      computedBy[*call.sum] = launch;
  }
  void onLaunch(size_t launch, unsigned, uint64_t begin,
                uint64_t end) override {
    nanoseconds[launch] = std::min(nanoseconds[launch], end - begin);
    ++counts[launch];
  }
  void onMemory(rt::Context device, uint64_t bytes) override {
    if (device.kind == rt::DeviceKind::CPU)
      peakBytes = std::max(peakBytes, bytes);
  }
  struct Call {
    std::string entry, algorithm;
    int64_t channelBlock;
    uint64_t flops, bytes;
  };
  std::vector<uint64_t> nanoseconds;
  std::vector<size_t> counts;
  std::vector<std::optional<Call>> calls;
  /// Of a sum: the launch in front of it whose call computes it.
  std::vector<std::optional<size_t>> computedBy;
  uint64_t peakBytes = 0; ///< With what is sized while running.
};

/// What is explained: a program, or of those that it is made of the largest
/// that ran.
struct Explained {
  const abi::Program &whole; ///< Has the kernels.
  const abi::Program &plan;
  size_t firstLaunch = 0; ///< In the numbers of the whole.
  std::string batch;      ///< What ran how often, in words; else empty.
};

struct ExplainCommand {
  ModelOptions model;
  InputOptions inputs;
  std::string page;
  unsigned runs = 10;
  bool train = false;
  bool asksPeer = false;
  int run();
};

} // namespace

/// Memory that launches read and write.
struct Place {
  abi::Storage storage;
  uint32_t number; ///< Of the device, or of the input or output.
  uint64_t offset;
  bool operator==(const Place &) const = default;
};

/// Where a value is: what updates an input is in its memory. Nullopt for what
/// has none of its own that a launch could write.
static std::optional<Place> placeOf(const abi::Program &program, int32_t id) {
  if (id < 0)
    return std::nullopt;
  const abi::Value &value = *program.values()->Get(id);
  if (value.bytes() == 0)
    return std::nullopt;
  switch (value.storage()) {
  case abi::Storage::Arena:
    return Place{abi::Storage::Arena, value.device(), value.offset()};
  case abi::Storage::Input:
    return Place{abi::Storage::Input, value.index(), value.offset()};
  case abi::Storage::Output: {
    int32_t updated = program.outputs()->Get(value.index())->updates();
    if (updated >= 0)
      return Place{abi::Storage::Input, static_cast<uint32_t>(updated),
                   value.offset()};
    return Place{abi::Storage::Output, value.index(), value.offset()};
  }
  default:
    return std::nullopt;
  }
}

/// What a launch does to its operands' memory. A contraction that writes over
/// what it reads adds its product to it: that is its only operand of the
/// result's type.
static const char *memoryOf(const abi::Program &program,
                            const abi::Launch &launch,
                            const abi::Kernel &kernel) {
  const auto *arguments = launch.arguments();
  for (unsigned in = 0; in < launch.inputs(); ++in) {
    std::optional<Place> from = placeOf(program, arguments->Get(in));
    for (unsigned out = launch.inputs(); from && out < arguments->size(); ++out)
      if (placeOf(program, arguments->Get(out)) == from)
        return kernel.kind() == abi::KernelKind::Library ? "add to"
                                                         : "in place";
  }
  return "";
}

static const abi::Attribute *findAttribute(const abi::Kernel &kernel,
                                           std::string_view name) {
  for (unsigned i = 0; kernel.attributes() && i < kernel.attributes()->size();
       ++i)
    if (kernel.attributes()->Get(i)->name()->string_view() == name)
      return kernel.attributes()->Get(i);
  return nullptr;
}

static const abi::Attribute *algorithmOf(const abi::Kernel &kernel) {
  const abi::Attribute *algorithm = findAttribute(kernel, "algorithm");
  return algorithm && algorithm->s() ? algorithm : nullptr;
}

static bool isRounded(const abi::Kernel &kernel) {
  const abi::Attribute *parts = findAttribute(kernel, rt::kBf16Parts);
  return parts && parts->i() == 1;
}

/// Of a depthwise convolution tensors may be of bfloat16, factors are not.
static bool isDepthwise(const abi::Kernel &kernel) {
  const abi::Attribute *weights = findAttribute(kernel, rt::packedShapeName(1));
  return weights && weights->ints() && weights->ints()->size() > 2 &&
         weights->ints()->Get(0) > 1 && weights->ints()->Get(1) == 1;
}

/// What it multiplies, if anything.
static Factors factorsOf(const abi::Kernel &kernel, std::string_view name) {
  if (isRounded(kernel))
    return isDepthwise(kernel) ? Factors::Floats : Factors::Rounded;
  return name.starts_with("cpu.integer_") ? Factors::Bytes : Factors::Floats;
}

/// Its name, the algorithm where the entry has several, the block of channels
/// of its result, if there is one, and bf16 where floats are rounded, or the
/// bfloat16 that they may be split to where this machine has tiles for them:
/// "cpu.conv (winograd, 16c, 3 parts)".
static std::string describe(std::string_view name, std::string_view algorithm,
                            int64_t channelBlock,
                            const std::string &parts = "") {
  std::string how(algorithm);
  auto add = [&](const std::string &text) {
    if (!text.empty())
      how += (how.empty() ? "" : ", ") + text;
  };
  add(channelBlock > 0 ? std::to_string(channelBlock) + "c" : "");
  add(parts);
  return std::string(name) + (how.empty() ? "" : " (" + how + ")");
}

static std::string describe(const abi::Kernel &kernel) {
  const abi::Attribute *algorithm = algorithmOf(kernel);
  const abi::Attribute *block = findAttribute(kernel, "channel_block");
  const abi::Attribute *parts = findAttribute(kernel, rt::kBf16Parts);
  std::string inParts;
  if (isRounded(kernel))
    inParts = "bf16";
  else if (parts && rt::cpu::bestIsa() == rt::cpu::Isa::AMX)
    inParts = std::to_string(parts->i()) + " parts";
  return describe(kernel.name()->string_view(),
                  algorithm ? algorithm->s()->string_view() : "",
                  block ? block->i() : 0, inParts);
}

static std::string boundText(float bound) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0e", bound);
  return bound > 0 ? text : "";
}

/// What the library says that results may be off by; "" where it says nothing.
static std::string boundOf(const abi::Kernel &kernel) {
  const rt::LibraryEntry *entry =
      rt::lookupLibraryEntry(kernel.name()->string_view());
  if (!entry || kernel.kind() != abi::KernelKind::Library)
    return "";
  const bool isOther = algorithmOf(kernel) != nullptr;
  if (isRounded(kernel))
    return boundText(isOther ? entry->roundedAlgorithmBound
                             : entry->roundedBound);
  return boundText(isOther ? entry->algorithmBound : entry->bound);
}

/// Visits the programs that run by themselves in `program`, in the order of the
/// numbers of their launches.
template <typename Visit>
static void forEachPart(const abi::Program &program, Visit visit) {
  const auto *parts =
      program.by_shape() ? program.by_shape() : program.by_rows();
  if (!parts)
    return visit(program);
  for (const abi::Program *part : *parts)
    forEachPart(*part, visit);
}

/// Finds what is explained of `loaded`, whose launches ran `counts` times in
/// `runs` runs.
static Explained explained(const rt::Program &loaded,
                           const std::vector<size_t> &counts, unsigned runs) {
  const abi::Program &whole = loaded.artifact().program();
  const abi::Program *largest = nullptr;
  size_t first = 0, next = 0;
  std::string batch;
  forEachPart(whole, [&](const abi::Program &part) {
    const size_t launches = part.launches() ? part.launches()->size() : 0;
    if (launches != 0 && counts[next] != 0) {
      first = largest ? first : next;
      largest = largest ? largest : &part;
      if (part.rows())
        batch += (batch.empty() ? "" : ", ") + std::string("a program for ") +
                 std::to_string(part.rows()) + " ran " +
                 std::to_string(counts[next] / runs) + " times";
    }
    next += launches;
  });
  return {whole, largest ? *largest : whole, first, batch};
}

/// What the call that computed a launch says of it.
static void describeCall(const Timer::Call &call, LaunchReport &report) {
  report.flops = call.flops;
  report.bytes = call.bytes;
  if (call.entry.empty())
    return;
  report.kind = abi::EnumNameKernelKind(abi::KernelKind::Library);
  report.note = "made ready for the shapes that come";
  report.kernel = describe(call.entry, call.algorithm, call.channelBlock);
  if (const rt::LibraryEntry *entry = rt::lookupLibraryEntry(call.entry))
    report.bound = boundText(call.algorithm.empty() ? entry->bound
                                                    : entry->algorithmBound);
}

static std::vector<LaunchReport> collect(const rt::Program &loaded,
                                         const Explained &from,
                                         const Timer &timer,
                                         const Roofline &roof) {
  const abi::Program &program = from.plan;
  std::vector<LaunchReport> reports;
  for (unsigned i = 0; program.launches() && i < program.launches()->size();
       ++i) {
    const abi::Launch &launch = *program.launches()->Get(i);
    const abi::Kernel &kernel = *from.whole.kernels()->Get(launch.kernel());
    const size_t number = from.firstLaunch + i;
    LaunchReport report;
    report.label = launch.label() ? launch.label()->str() : "";
    report.kernel = describe(kernel);
    report.kind = abi::EnumNameKernelKind(kernel.kind());
    report.note = kernel.note() ? kernel.note()->str() : "";
    if (kernel.entry() &&
        loaded.launch(number).kernel == kernel.entry()->string_view()) {
      report.kernel = kernel.entry()->str();
      report.kind = abi::EnumNameKernelKind(abi::KernelKind::Library);
      report.note = "instead of " + kernel.name()->str();
    }
    report.memory = memoryOf(program, launch, kernel);
    report.flops = kernel.flops();
    report.bytes = kernel.bytes();
    report.bound = boundOf(kernel);
    report.microseconds = timer.nanoseconds[number] / 1e3;
    if (const auto &call = timer.calls[number])
      describeCall(*call, report);
    const bool isDoneBefore = timer.computedBy[number].has_value();
    if (isDoneBefore) {
      report.flops = report.bytes = 0;
      report.memory = "done";
      report.note = "the library computes it with what it adds up";
    }
    const abi::Device &device = *program.devices()->Get(launch.device());
    if (device.kind() == abi::DeviceKind::CPU && !isDoneBefore)
      report.roof = roof.microsecondsOf(report.flops, report.bytes,
                                        factorsOf(kernel, report.kernel)) /
                    report.microseconds;
    reports.push_back(std::move(report));
  }
  return reports;
}

/// Asks a peer's library for the time of each launch, or of the calls that it
/// takes for one, if it has them all.
static void askPeer(PeerLibrary &peer, const Explained &from, unsigned runs,
                    ExplainReport &report) {
  report.peer = peer.name();
  for (size_t i = 0; i != report.launches.size(); ++i) {
    std::vector<PeerCall> calls =
        peerCallsOf(from.whole, from.plan, *from.plan.launches()->Get(i));
    std::optional<double> sum;
    for (const PeerCall &call : calls) {
      std::optional<double> time = peer.microsecondsOf(call, runs);
      sum = time && (sum || &call == calls.data())
                ? std::optional(sum.value_or(0) + *time)
                : std::nullopt;
    }
    report.launches[i].peer = sum;
  }
}

/// What no launch writes as a whole lives from the first of the launches that
/// wrote its bytes last: nothing else lies there meanwhile.
static void beginWithParts(std::vector<MemoryRange> &ranges,
                           const std::vector<bool> &isWritten) {
  const std::vector<MemoryRange> parts = ranges;
  for (size_t i = 0; i != ranges.size(); ++i) {
    if (isWritten[i])
      continue;
    MemoryRange &whole = ranges[i];
    const size_t read = whole.first;
    for (size_t k = 0; k != parts.size(); ++k) {
      auto isInside = [&](const MemoryRange &other) {
        return other.offset >= whole.offset &&
               other.offset + other.bytes <= whole.offset + whole.bytes;
      };
      auto isLater = [&](size_t other) {
        return isWritten[other] && parts[other].first < read &&
               parts[other].first > parts[k].first &&
               parts[other].offset < parts[k].offset + parts[k].bytes &&
               parts[k].offset < parts[other].offset + parts[other].bytes;
      };
      bool isPart = isWritten[k] && parts[k].first < read && isInside(parts[k]);
      for (size_t other = 0; isPart && other != parts.size(); ++other)
        isPart = !isLater(other);
      if (isPart)
        whole.first = std::min(whole.first, parts[k].first);
    }
  }
}

/// The life of each range of the first arena, in launches.
static std::vector<MemoryRange> collectMemory(const abi::Program &program) {
  std::vector<MemoryRange> ranges;
  std::vector<bool> isWritten; ///< By a launch, as it is.
  for (unsigned id = 0; id < program.values()->size(); ++id) {
    const abi::Value &value = *program.values()->Get(id);
    if (value.storage() != abi::Storage::Arena || value.device() != 0)
      continue;
    MemoryRange range{value.offset(), value.bytes(), SIZE_MAX, 0};
    bool isOutput = false;
    for (unsigned step = 0; step < program.launches()->size(); ++step) {
      const auto *arguments = program.launches()->Get(step)->arguments();
      for (unsigned i = 0; arguments && i < arguments->size(); ++i)
        if (arguments->Get(i) == static_cast<int32_t>(id)) {
          range.first = std::min<size_t>(range.first, step);
          range.last = step;
          isOutput |= i >= program.launches()->Get(step)->inputs();
        }
    }
    if (range.first != SIZE_MAX) {
      ranges.push_back(range);
      isWritten.push_back(isOutput);
    }
  }
  beginWithParts(ranges, isWritten);
  return ranges;
}

/// What machine code the program has, and which of it runs here.
static std::vector<std::string> collectCode(const rt::Program &program) {
  std::vector<std::string> lines;
  const auto *objects = program.artifact().program().objects();
  const std::optional<size_t> used = program.statistics().object;
  const std::vector<size_t> &onDevices = program.statistics().deviceObjects;
  const rt::CPUFeatures host = rt::CPUFeatures::ofHost();
  for (unsigned i = 0; objects && i < objects->size(); ++i) {
    const abi::ObjectVariant &object = *objects->Get(i);
    std::string features, missing;
    for (unsigned k = 0; object.features() && k < object.features()->size();
         ++k) {
      std::string name = object.features()->Get(k)->str();
      features += (k ? ", " : " with ") + name;
      if (!host.has(name))
        missing += (missing.empty() ? "" : ", ") + name;
    }
    std::string triple = object.triple() ? object.triple()->str() : "";
    const bool isUsed =
        i == used ||
        std::find(onDevices.begin(), onDevices.end(), i) != onDevices.end();
    lines.push_back(std::to_string(object.size()) + " bytes for " +
                    triple.substr(0, triple.find('-')) + features +
                    (isUsed ? ": used here"
                     : missing.empty() || triple.starts_with("nvptx")
                         ? ": not needed here"
                         : ": this machine lacks " + missing));
  }
  return lines;
}

/// In percent, or nothing.
static std::string roofColumn(const LaunchReport &launch) {
  char text[16] = "";
  if (launch.roof)
    std::snprintf(text, sizeof text, "%.0f", 100 * *launch.roof);
  return text;
}

/// The peer's column, where it was asked.
static std::string peerColumn(const ExplainReport &report,
                              const LaunchReport &launch) {
  if (report.peer.empty())
    return "";
  char text[32] = "";
  if (launch.peer)
    std::snprintf(text, sizeof text, "%.1f", *launch.peer);
  return std::string(11 - std::min<size_t>(std::strlen(text), 10), ' ') + text;
}

/// Of the launches that the peer computes, too.
static void printPeer(const ExplainReport &report) {
  double ours = 0, theirs = 0;
  size_t count = 0;
  for (const LaunchReport &launch : report.launches) {
    if (!launch.peer)
      continue;
    ours += launch.microseconds;
    theirs += *launch.peer;
    ++count;
  }
  std::printf("peer: %s takes %.1f us for the calls of %zu launches, which "
              "take %.1f here; with operands in caches, and without what would "
              "be between them\n",
              report.peer.c_str(), theirs, count, ours);
}

static void printTable(const ExplainReport &report) {
  const std::vector<LaunchReport> &launches = report.launches;
  std::printf("%10s %6s %8s %8s %6s%s  %-9s %-5s %-8s %-28s %s\n", "us", "%",
              "GF/s", "GB/s", "roof %",
              report.peer.empty() ? "" : "    peer us", "kind", "bound",
              "memory", "kernel", "node");
  double total = 0;
  size_t inPlace = 0, addTo = 0, done = 0;
  for (const LaunchReport &launch : launches) {
    total += launch.microseconds;
    inPlace += launch.memory == "in place";
    addTo += launch.memory == "add to";
    done += launch.memory == "done";
  }
  for (const LaunchReport &launch : launches)
    std::printf("%10.1f %6.1f %8.1f %8.1f %6s%s  %-9s %-5s %-8s %-28s %s\n",
                launch.microseconds, 100 * launch.microseconds / total,
                launch.flops / launch.microseconds / 1e3,
                launch.bytes / launch.microseconds / 1e3,
                roofColumn(launch).c_str(), peerColumn(report, launch).c_str(),
                launch.kind.c_str(), launch.bound.c_str(),
                launch.memory.c_str(), launch.kernel.c_str(),
                launch.label.c_str());
  std::printf("%10.1f us in %zu launches\n", total, launches.size());
  std::printf("memory: planned %llu bytes, lower bound %llu, weights %llu",
              static_cast<unsigned long long>(report.arenaBytes),
              static_cast<unsigned long long>(report.lowerBoundBytes),
              static_cast<unsigned long long>(report.constantBytes));
  if (report.peakBytes > report.arenaBytes)
    std::printf("; at most %llu with what is sized while running",
                static_cast<unsigned long long>(report.peakBytes));
  std::printf("\n");
  for (const std::string &code : report.code)
    std::printf("code: %s\n", code.c_str());
  std::printf("%zu launches work in place, %zu add to what is there", inPlace,
              addTo);
  if (done)
    std::printf(", %zu are done by the library with what they add up", done);
  std::printf("\n");
  std::printf(
      "kinds: Generated and AnyShape are code of the program, for known "
      "and for any shapes, Library kernels of the runtime, Reference "
      "operations as they are defined\n");
  std::printf("roof: %.1f GF/s in products, %.1f of floats rounded to bf16, "
              "%.1f of bytes, %.1f GB/s in copies; what the caches hold is "
              "faster\n",
              report.roof.gigaflops(Factors::Floats),
              report.roof.gigaflops(Factors::Rounded),
              report.roof.gigaflops(Factors::Bytes), report.roof.gigabytes());
  std::printf("roof %%: of the time at the roof, over 100 in caches; bound: of "
              "errors, over the largest value; (16c): channels in blocks of "
              "16\n");
  if (!report.peer.empty())
    printPeer(report);
  if (!report.batch.empty())
    std::printf("batch: %s; above is the first\n", report.batch.c_str());
}

int ExplainCommand::run() {
  bool isPrinted = isStandardOutput(page);
  checkOutputs(filesRead(model, inputs),
               {{"-o", isPrinted ? "" : page},
                {"--tuning-cache", model.tuningOutput()},
                {"--reproducer", model.reproducer}});
  NamedTensors values = inputs.read();
  inputs.random = true;
  if (train)
    model.heads.emplace();
  LoadedModel loaded = loadModel(model, inputs, values);
  const rt::Program &program = *loaded.program;
  std::vector<HostTensor> tensors =
      makeInputs(program, model, inputs, std::move(values));
  std::unique_ptr<rt::WorkerPool> pool =
      take(rt::WorkerPool::create({.threads = model.threads}));
  std::optional<PeerLibrary> peer; // Early: it may be missing.
  if (asksPeer)
    peer.emplace(pool->threads());
  std::unique_ptr<rt::Execution> execution =
      makeExecution(program, {pool.get(), model.threads});
  for (size_t i = 0; i < tensors.size(); ++i)
    check(execution->bindInput(i, tensors[i].view()));
  check(execution->run());
  Timer timer(program.launchCount());
  execution->setObserver(&timer);
  for (unsigned i = 0; i < runs; ++i)
    check(execution->run());

  const Roofline roof = measureRoofline(*pool);
  const Explained from = explained(program, timer.counts, runs);
  ExplainReport report;
  report.model = model.path;
  report.batch = from.batch;
  report.launches = collect(program, from, timer, roof);
  if (peer)
    askPeer(*peer, from, runs, report);
  report.roof = roof;
  report.ranges = collectMemory(from.plan);
  report.code = collectCode(program);
  for (const abi::Device *device : *from.plan.devices()) {
    report.arenaBytes += device->arena_bytes();
    report.lowerBoundBytes += device->lower_bound();
  }
  report.constantBytes = program.statistics().constantBytes;
  report.peakBytes = timer.peakBytes;
  if (!isPrinted)
    printTable(report);
  if (!page.empty())
    writeOutput(page, makePage(report));
  return kOk;
}

void dlc::tool::addExplain(CommandLine &line) {
  auto command = std::make_shared<ExplainCommand>();
  Syntax syntax =
      line.add("explain", "Show each kernel's time and the memory map",
               [command] { return command->run(); });
  command->model.add(syntax, /*acceptsArtifact=*/true);
  command->inputs.add(syntax);
  syntax.option("-o,--output", command->page, "Write a page (.html)");
  syntax.flag("--train", command->train,
              "The way back too: gradients of all inputs and parameters of "
              "floats");
  command->model.addTraining(syntax);
  syntax.flag("--peer", command->asksPeer,
              "Time oneDNN (libdnnl.so.2), too, for convolutions and products");
  syntax.positive("--runs", command->runs, "Runs to take the best time of");
}
