// SPDX-License-Identifier: Apache-2.0

#include "Volume.h"

#include "../Reference/Window.h"
#include "Check.h"
#include "Conv.h"
#include "Rows.h"
#include "Steps.h"

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"

#include <algorithm>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

/// Dimensions of a volume: images, channels, depth, height, width.
static constexpr int64_t kRank = 5;

/// A number of each list for depth goes.
static void dropDepth(const Attributes &attributes, Attributes &planes) {
  for (const char *name : {"strides", "dilations", "kernel_shape"})
    if (std::span<const int64_t> held = attributes.getInts(name); !held.empty())
      planes.set(name, std::vector<int64_t>(held.begin() + 1, held.end()));
  if (std::span<const int64_t> pads = attributes.getInts("pads"); !pads.empty())
    planes.set("pads",
               std::vector<int64_t>{pads[1], pads[2], pads[4], pads[5]});
}

//===----------------------------------------------------------------------===//
// cpu.conv_volume
//===----------------------------------------------------------------------===//

namespace {

/// Windows along depth.
struct DepthPlan {
  int64_t images, channels, in, out, plane; ///< Elements of a plane.
  int64_t kernel, stride, dilation, padBegin;

  bool isPadded() const {
    return padBegin > 0 ||
           (out - 1) * stride - padBegin + (kernel - 1) * dilation >= in;
  }
};

/// Makes some positions of depth images, from number `first` on of all images,
/// with the planes of their windows as channels:
/// [image][channel][depth][plane] to [position][channel][kernel
/// element][plane].
class GatherPlanes final : public PreparedKernel {
public:
  GatherPlanes(const DepthPlan &plan, int64_t first, int64_t count)
      : plan(plan), first(first), count(count) {}

  int64_t tiles() const override { return count * plan.channels; }
  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    const auto *x = static_cast<const float *>(arguments[0]);
    auto *to =
        static_cast<float *>(arguments[1]) + begin * plan.kernel * plan.plane;
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t position = first + tile / plan.channels;
      const int64_t channel = tile % plan.channels;
      const int64_t top = position % plan.out * plan.stride - plan.padBegin;
      const float *from = x + (position / plan.out * plan.channels + channel) *
                                  plan.in * plan.plane;
      for (int64_t k = 0; k < plan.kernel; ++k, to += plan.plane) {
        const int64_t at = top + k * plan.dilation;
        if (at >= 0 && at < plan.in)
          std::memcpy(to, from + at * plan.plane, plan.plane * sizeof(float));
        else
          std::fill_n(to, plan.plane, 0.0f);
      }
    }
  }

private:
  const DepthPlan plan;
  const int64_t first, count;
};

struct ConvVolume {
  DepthPlan depth;
  StepCall planes; ///< Of all positions of all images.
  bool hasBias = false, isPacked = false;

  /// The same of so many positions.
  StepCall planesOf(int64_t positions) const {
    StepCall some = planes;
    some.inputs[0].shape[0] = some.outputs[0].shape[0] = positions;
    if (const size_t bytes = convWorkspaceBytes(some.view()))
      some.outputs.push_back({DLC_I8, {static_cast<int64_t>(bytes)}});
    return some;
  }
  /// As much as the memory between steps is for: positions of several images
  /// where one has less.
  int64_t positionsAtOnce() const {
    const int64_t one =
        saturatedProduct({depth.channels, depth.kernel, depth.plane});
    const int64_t most = std::max<int64_t>(kStepFloats / one, 1);
    if (most < depth.out)
      return most;
    return std::min(most / depth.out, depth.images) * depth.out;
  }
};

} // namespace

static Status readConvVolume(const KernelCall &call, ConvVolume &read) {
  using enum AttributeKind;
  const Attributes &attributes = call.attributes;
  DLC_RETURN_IF_ERROR(checkAttributes(attributes, {{"strides", Ints},
                                                   {"pads", Ints},
                                                   {"dilations", Ints},
                                                   {"group", Int},
                                                   {"packed_w", Int},
                                                   {"algorithm", String}}));
  DLC_RETURN_IF_ERROR(readFlag(attributes, "packed_w", read.isPacked));
  DLC_RETURN_IF_ERROR(checkStepOperands(call, kRank, kRank));
  DLC_RETURN_IF_ERROR(checkByShapeRule("conv", call));
  ref::Window window;
  DLC_RETURN_IF_ERROR(ref::readWindow(attributes, kRank - 2, window));
  const std::vector<int64_t> &in = call.inputs[0].shape;
  const std::vector<int64_t> &taps = call.inputs[1].shape;
  const std::vector<int64_t> &out = call.outputs[0].shape;
  read.depth = {in[0],
                in[1],
                in[2],
                out[2],
                in[3] * in[4],
                taps[2],
                window.strides[0],
                window.dilations[0],
                window.padBegin[0]};
  read.hasBias = hasBias(call);
  StepCall &planes = read.planes;
  planes.inputs = {{DLC_F32, {in[0] * out[2], in[1] * taps[2], in[3], in[4]}},
                   {DLC_F32, {taps[0], taps[1] * taps[2], taps[3], taps[4]}}};
  if (read.hasBias)
    planes.inputs.push_back(call.inputs[2]);
  planes.outputs = {{DLC_F32, {in[0] * out[2], out[1], out[3], out[4]}}};
  dropDepth(attributes, planes.attributes);
  for (const char *name : {"group", "packed_w"})
    if (attributes.has(name))
      planes.attributes.set(name, attributes.getInt(name));
  if (attributes.has("algorithm"))
    planes.attributes.set("algorithm",
                          std::string(attributes.getString("algorithm")));
  std::string why;
  if (isConvSupported(planes.view(), why))
    return Status::ok();
  return Status(StatusCode::InvalidArgument, std::move(why));
}

static Status checkWeights(const ConvVolume &read) {
  if (read.isPacked || !read.depth.isPadded())
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected packed weights, or no padding in depth");
}

/// From [image][position][channel][plane], some whole images or some positions
/// of one, to [image][channel][position][plane], of which there are more.
static ref::ElementCopy orderResults(const std::vector<int64_t> &y,
                                     int64_t positions) {
  const int64_t plane = y[3] * y[4], images = ceilDiv(positions, y[2]);
  const int64_t depth = positions / images;
  const int64_t shape[] = {images, y[1], depth, plane};
  const int64_t source[] = {images, depth, y[1], plane};
  ref::Walk from = ref::rowMajorWalk(source), to;
  std::swap(from.strides[1], from.strides[2]);
  to.strides = {uint64_t(y[1] * y[2] * plane), uint64_t(y[2] * plane),
                uint64_t(plane), 1};
  return {to, from, shape, sizeof(float)};
}

static Status addConvSteps(const KernelCall &call, Steps &steps) {
  ConvVolume read;
  DLC_RETURN_IF_ERROR(readConvVolume(call, read));
  const std::vector<int64_t> &y = call.outputs[0].shape;
  const int64_t plane = y[3] * y[4];
  // [image][position][channel] are [image][channel][position].
  const bool isInOrder = y[1] == 1 || y[2] == 1;
  const int64_t all = read.depth.images * read.depth.out;
  const int64_t atOnce = read.positionsAtOnce();
  const StepCall most = read.planesOf(atOnce);
  const StepOperand images = steps.reserve(bytesOfTensor(most.inputs[0]));
  const StepOperand between =
      isInOrder ? steps.result : steps.reserve(bytesOfTensor(most.outputs[0]));
  const bool hasWorkspace = most.outputs.size() > 1;
  const StepOperand workspace =
      steps.reserve(hasWorkspace ? bytesOfTensor(most.outputs[1]) : 0);
  for (int64_t first = 0, count; first < all; first += count) {
    count = std::min(atOnce, all - first);
    if (atOnce < read.depth.out) // Not of two images.
      count = std::min(count, read.depth.out - first % read.depth.out);
    steps.add(std::make_unique<GatherPlanes>(read.depth, first, count),
              {{0}, images});
    const StepOperand result =
        isInOrder ? steps.result.behind(first * y[1] * plane) : between;
    std::vector<StepOperand> operands = {images, {1}};
    if (read.hasBias)
      operands.push_back({2});
    operands.push_back(result);
    operands.push_back(workspace);
    DLC_RETURN_IF_ERROR(
        steps.addCall(read.planesOf(count), std::move(operands)));
    const int64_t image = first / y[2], position = first % y[2];
    if (!isInOrder)
      steps.addCopy(
          orderResults(y, count), between,
          steps.result.behind((image * y[1] * y[2] + position) * plane));
  }
  return Status::ok();
}

bool cpu::isConvVolumeSupported(const KernelCall &call, std::string &why) {
  ConvVolume read;
  Status status = readConvVolume(call, read);
  if (status.isOk())
    status = checkWeights(read);
  why = status.message();
  return status.isOk();
}

size_t cpu::packedConvVolumeBytes(const KernelCall &call, size_t operand) {
  ConvVolume read;
  if (operand != 1 || !readConvVolume(call, read).isOk())
    return 0;
  return packedConvBytes(read.planes.view(), 1);
}

void cpu::packConvVolume(const KernelCall &call, size_t operand,
                         const void *source, void *target) {
  ConvVolume read;
  if (operand == 1 && readConvVolume(call, read).isOk())
    packConv(read.planes.view(), 1, source, target);
}

bool cpu::packsFiniteVolumeWeights(const KernelCall &call, size_t operand) {
  ConvVolume read;
  return operand == 1 && readConvVolume(call, read).isOk() &&
         (read.depth.isPadded() || packsFiniteWeights(read.planes.view(), 1));
}

size_t cpu::convVolumeWorkspaceBytes(const KernelCall &call) {
  return workspaceOfSteps(call, addConvSteps);
}

Status cpu::prepareConvVolume(const KernelCall &call, Isa isa,
                              std::unique_ptr<PreparedKernel> &prepared) {
  ConvVolume read;
  DLC_RETURN_IF_ERROR(readConvVolume(call, read));
  DLC_RETURN_IF_ERROR(checkWeights(read));
  return prepareSteps(call, addConvSteps, prepareConv, isa, prepared);
}

KernelCost cpu::convVolumeCost(const KernelCall &call) {
  ConvVolume read;
  if (!readConvVolume(call, read).isOk())
    return {};
  KernelCost cost = convCost(read.planes.view());
  cost.bytes += 2 * bytesOfTensor(read.planes.inputs[0]) +
                2 * bytesOfTensor(read.planes.outputs[0]);
  return cost;
}

//===----------------------------------------------------------------------===//
// cpu.pool_volume
//===----------------------------------------------------------------------===//

namespace {

/// Windows of planes, and of what those give, windows along depth: a maximum of
/// maxima, or a mean of means, since all of a window's planes count alike.
struct PoolVolume {
  StepCall planes, depths;
};

} // namespace

static Status readPoolVolume(const KernelCall &call, PoolVolume &read) {
  if (call.inputs.size() != 1 || call.outputs.empty())
    return makeError(StatusCode::InvalidArgument,
                     "expected one input and an output, got %zu and %zu",
                     call.inputs.size(), call.outputs.size());
  const TensorType &x = call.inputs[0], &y = call.outputs[0];
  DLC_RETURN_IF_ERROR(checkTensor(x, DLC_F32, "x", kRank, kRank));
  DLC_RETURN_IF_ERROR(checkTensor(y, DLC_F32, "y", kRank, kRank));
  DLC_RETURN_IF_ERROR(checkElements(call.inputs));
  DLC_RETURN_IF_ERROR(checkElements(call.outputs.first(1)));
  ref::Window window;
  const Attributes &attributes = call.attributes;
  DLC_RETURN_IF_ERROR(ref::readWindow(attributes, kRank - 2, window));
  DLC_RETURN_IF_ERROR(ref::readExtents(attributes, "kernel_shape", kRank - 2, 1,
                                       1, window.kernel));
  const std::vector<int64_t> &in = x.shape, &out = y.shape;
  if (in[0] != out[0] || in[1] != out[1])
    return makeError(StatusCode::InvalidArgument,
                     "expected as many images and channels, got %s and %s",
                     toString(x).c_str(), toString(y).c_str());
  for (StepCall *part : {&read.planes, &read.depths})
    for (const Attribute &attribute : attributes)
      part->attributes.set(attribute.name, attribute.value);
  read.planes.inputs = {{DLC_F32, {in[0] * in[1], in[2], in[3], in[4]}}};
  read.planes.outputs = {{DLC_F32, {in[0] * in[1], in[2], out[3], out[4]}}};
  dropDepth(attributes, read.planes.attributes);
  read.depths.inputs = {{DLC_F32, {in[0], in[1], in[2], out[3] * out[4]}}};
  read.depths.outputs = {{DLC_F32, {in[0], in[1], out[2], out[3] * out[4]}}};
  auto set = [&](const char *name, std::vector<int64_t> values) {
    read.depths.attributes.set(name, std::move(values));
  };
  set("kernel_shape", {window.kernel[0], 1});
  set("strides", {window.strides[0], 1});
  set("dilations", {window.dilations[0], 1});
  set("pads", {window.padBegin[0], 0, window.padEnd[0], 0});
  std::string why;
  if (isPoolSupported(read.planes.view(), why) &&
      isPoolSupported(read.depths.view(), why))
    return Status::ok();
  return Status(StatusCode::InvalidArgument, std::move(why));
}

static Status addPoolSteps(const KernelCall &call, Steps &steps) {
  PoolVolume read;
  DLC_RETURN_IF_ERROR(readPoolVolume(call, read));
  const StepOperand between =
      steps.reserve(bytesOfTensor(read.planes.outputs[0]));
  DLC_RETURN_IF_ERROR(steps.addCall(read.planes, {{0}, between}));
  return steps.addCall(read.depths, {between, steps.result});
}

bool cpu::isPoolVolumeSupported(const KernelCall &call, std::string &why) {
  PoolVolume read;
  Status status = readPoolVolume(call, read);
  why = status.message();
  return status.isOk();
}

size_t cpu::poolVolumeWorkspaceBytes(const KernelCall &call) {
  return workspaceOfSteps(call, addPoolSteps);
}

Status cpu::preparePoolVolume(const KernelCall &call, Isa isa,
                              std::unique_ptr<PreparedKernel> &prepared) {
  return prepareSteps(call, addPoolSteps, preparePool, isa, prepared);
}

KernelCost cpu::poolVolumeCost(const KernelCall &call) {
  PoolVolume read;
  if (!readPoolVolume(call, read).isOk())
    return {};
  KernelCost cost = poolCost(read.planes.view());
  const KernelCost depths = poolCost(read.depths.view());
  cost.flops += depths.flops;
  cost.bytes += depths.bytes;
  return cost;
}
