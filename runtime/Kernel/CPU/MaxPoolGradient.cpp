// SPDX-License-Identifier: Apache-2.0

#include "MaxPoolGradient.h"

#include "ConvShape.h"
#include "Isa.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

namespace {

class PreparedMaxPoolGradient final : public PreparedKernel {
public:
  PreparedMaxPoolGradient(const MaxPoolPlan &plan, const KernelSet &kernels)
      : plan(plan), kernels(kernels) {}

  int64_t tiles() const override {
    return ceilDiv(plan.planes, plan.planeBlock);
  }

  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    kernels.maxPoolGradient(plan, arguments, begin, end);
  }

private:
  const MaxPoolPlan plan;
  const KernelSet &kernels;
};

} // namespace

static MaxPoolPlan planMaxPoolGradient(const ConvShape &shape) {
  constexpr int64_t wantedTiles = 64, minTileWork = 1 << 16;
  MaxPoolPlan plan = {};
  plan.planes = shape.batch * shape.inChannels;
  plan.inH = shape.in[0];
  plan.inW = shape.in[1];
  plan.outH = shape.out[0];
  plan.outW = shape.out[1];
  plan.kernelH = shape.kernel[0];
  plan.kernelW = shape.kernel[1];
  plan.strideH = shape.stride[0];
  plan.strideW = shape.stride[1];
  plan.dilationH = shape.dilation[0];
  plan.dilationW = shape.dilation[1];
  plan.padTop = shape.padBegin[0];
  plan.padLeft = shape.padBegin[1];
  // A window may be far larger than the image.
  const int64_t taps = std::min(shape.kernel[0], shape.in[0]) *
                       std::min(shape.kernel[1], shape.in[1]);
  const int64_t work = std::clamp<int64_t>(shape.pixels(), 1, minTileWork) *
                       std::clamp<int64_t>(taps, 1, minTileWork);
  plan.planeBlock = std::max(
      {plan.planes / wantedTiles, ceilDiv(minTileWork, work), int64_t{1}});
  return plan;
}

bool cpu::isMaxPoolGradientSupported(const KernelCall &call, std::string &why) {
  ConvShape shape = {};
  Status status = readMaxPoolGradient(call, shape);
  why = status.message();
  return status.isOk();
}

Status cpu::prepareMaxPoolGradient(const KernelCall &call, Isa isa,
                                   std::unique_ptr<PreparedKernel> &prepared) {
  const KernelSet *kernels = kernelSetOf(isa);
  if (!kernels)
    return makeError(StatusCode::Unsupported, "this machine cannot run %s",
                     std::string(nameOf(isa)).c_str());
  ConvShape shape = {};
  DLC_RETURN_IF_ERROR(readMaxPoolGradient(call, shape));
  prepared = std::make_unique<PreparedMaxPoolGradient>(
      planMaxPoolGradient(shape), *kernels);
  return Status::ok();
}

KernelCost cpu::maxPoolGradientCost(const KernelCall &call) {
  ConvShape shape = {};
  if (!readMaxPoolGradient(call, shape).isOk())
    return {};
  const auto planes = static_cast<uint64_t>(shape.batch) * shape.inChannels;
  return {planes * shape.pixels() * shape.taps(), bytesOf(call)};
}
