// SPDX-License-Identifier: Apache-2.0

#include "DefinedConv.h"

#include <algorithm>
#include <bit>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static constexpr int64_t kLine = 64;
/// Parts of the weights, each with a word in the workspace that says what it
/// holds.
static constexpr int64_t kMostParts = kLine / sizeof(uint32_t);

static size_t roundToLine(size_t bytes) {
  return static_cast<size_t>(roundUp(static_cast<int64_t>(bytes), kLine));
}

bool cpu::needsFiniteWeights(const ConvShape &shape) {
  if (shape.winograd) // It computes again what is not finite.
    return false;
  for (int i = 0; i < 2; ++i) {
    const int64_t last = (shape.out[i] - 1) * shape.stride[i] -
                         shape.padBegin[i] +
                         (shape.kernel[i] - 1) * shape.dilation[i];
    if (shape.out[i] > 0 && (shape.padBegin[i] > 0 || last >= shape.in[i]))
      return true;
  }
  return false;
}

size_t cpu::guardBytes(const ConvShape &shape, size_t before) {
  if (shape.packed || !needsFiniteWeights(shape))
    return 0;
  return roundToLine(before) - before + kLine;
}

namespace {

/// What all links of a guarded chain know.
class Guard {
public:
  Guard(const KernelCall &call, const ConvShape &shape,
        const KernelSet &kernels, size_t before)
      : plan(planOf<DefinedConvPlan>(shape)), kernels(kernels), arguments(call),
        flags(roundToLine(before)),
        weights(shape.outChannels * shape.groupIn() * shape.taps()) {
    plan.batch = shape.batch;
    plan.group = shape.group;
    plan.inChannels = shape.inChannels;
    plan.outChannels = shape.outChannels;
    plan.isBlockedX = shape.blockedX;
    plan.isBlockedY = shape.blockedY;
    auto planesOf = [](int64_t channels, bool isBlocked) {
      return isBlocked ? blocksOf(channels) : channels;
    };
    plan.inPlanes = planesOf(plan.inChannels, plan.isBlockedX);
    plan.outPlanes = planesOf(plan.outChannels, plan.isBlockedY);
    plan.epilogue = shape.epilogue;
  }

  int64_t parts() const {
    constexpr int64_t fewest = 1 << 16;
    return std::clamp<int64_t>(weights / fewest, 1, kMostParts);
  }
  /// Looks at part `part` of the weights.
  void look(void *const *given, int64_t part) const {
    const auto *w = static_cast<const float *>(given[1]);
    const int64_t end = weights * (part + 1) / parts();
    constexpr uint32_t exponent = 0x7f800000;
    uint32_t isInfinite = 0;
    for (int64_t i = weights * part / parts(); i < end; ++i)
      isInfinite |= (std::bit_cast<uint32_t>(w[i]) & exponent) == exponent;
    flagsOf(given)[part] = isInfinite;
  }
  bool areFinite(void *const *given) const {
    const uint32_t *found = flagsOf(given);
    return std::all_of(found, found + parts(),
                       [](uint32_t flag) { return flag == 0; });
  }
  /// Tiles [begin, end) of `count`, by definition.
  void compute(void *const *given, int64_t begin, int64_t end,
               int64_t count) const {
    const int64_t rows = plan.batch * plan.outPlanes * plan.outH;
    void *five[5];
    arguments.fill(given, five);
    kernels.definedConv(plan, five, rows * begin / count, rows * end / count);
  }

private:
  uint32_t *flagsOf(void *const *given) const {
    return reinterpret_cast<uint32_t *>(
        static_cast<char *>(given[arguments.inputs + 1]) + flags);
  }

  DefinedConvPlan plan;
  const KernelSet &kernels;
  const FiveArguments arguments;
  const size_t flags; ///< Where they are in the workspace.
  const int64_t weights;
};

/// A link of the chain that is guarded: of finite weights. The last one
/// computes all, where they are not.
class GuardedLink final : public PreparedKernel {
public:
  GuardedLink(const PreparedKernel &link, const Guard &guard)
      : link(link), guard(guard) {
    if (link.next())
      following = std::make_unique<GuardedLink>(*link.next(), guard);
  }

  int64_t tiles() const override { return link.tiles(); }

  int64_t ranges(unsigned threads) const override {
    return link.ranges(threads);
  }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    if (guard.areFinite(given))
      link.run(given, begin, end);
    else if (!following)
      guard.compute(given, begin, end, tiles());
  }

  const PreparedKernel *next() const override { return following.get(); }

private:
  const PreparedKernel &link;
  const Guard &guard;
  std::unique_ptr<PreparedKernel> following;
};

/// Looks at the weights.
class LookAtWeights final : public PreparedKernel {
public:
  LookAtWeights(const KernelCall &call, const ConvShape &shape,
                const KernelSet &kernels, size_t before,
                std::unique_ptr<PreparedKernel> guarded)
      : guard(call, shape, kernels, before), guarded(std::move(guarded)),
        following(*this->guarded, guard) {}

  int64_t tiles() const override { return guard.parts(); }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    for (int64_t part = begin; part < end; ++part)
      guard.look(given, part);
  }

  const PreparedKernel *next() const override { return &following; }

private:
  const Guard guard;
  const std::unique_ptr<PreparedKernel> guarded;
  const GuardedLink following;
};

} // namespace

void cpu::guardWeights(const KernelCall &call, const ConvShape &shape,
                       const KernelSet &kernels, size_t before,
                       std::unique_ptr<PreparedKernel> &prepared) {
  const size_t bytes = guardBytes(shape, before);
  if (bytes == 0 || call.outputs.size() != 2 ||
      static_cast<uint64_t>(call.outputs[1].shape[0]) < before + bytes)
    return;
  prepared = std::make_unique<LookAtWeights>(call, shape, kernels, before,
                                             std::move(prepared));
}
