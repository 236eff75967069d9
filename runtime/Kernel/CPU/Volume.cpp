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

/// All that is computed has elements, and is less than any memory.
static Status checkVolume(const TensorType &type, const char *role) {
  DLC_RETURN_IF_ERROR(checkTensor(type, DLC_F32, role, kRank, kRank));
  if (elementCount(type.shape).value_or(0) > 0)
    return Status::ok();
  return makeError(StatusCode::InvalidArgument, "expected elements, got %s",
                   toString(type).c_str());
}

namespace {

/// Another call, of values of its own.
struct PlaneCall {
  std::vector<TensorType> inputs;
  TensorType output;
  Attributes attributes;
  TensorType workspace = {}; ///< Absent unless it wants one.

  KernelCall view() const {
    outputs.assign(1, output);
    if (workspace.type != DLC_INVALID_TYPE)
      outputs.push_back(workspace);
    return {inputs, outputs, attributes};
  }

private:
  mutable std::vector<TensorType> outputs;
};

} // namespace

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

/// Makes each position of depth an image, with the planes of its window as
/// channels: [image][channel][depth][plane] to
/// [image][position][channel][kernel element][plane].
class GatherPlanes final : public PreparedKernel {
public:
  explicit GatherPlanes(const DepthPlan &plan) : plan(plan) {}

  int64_t tiles() const override {
    return plan.images * plan.out * plan.channels;
  }
  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    const auto *x = static_cast<const float *>(arguments[0]);
    auto *to =
        static_cast<float *>(arguments[1]) + begin * plan.kernel * plan.plane;
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t image = tile / plan.channels / plan.out;
      const int64_t channel = tile % plan.channels;
      const int64_t first =
          tile / plan.channels % plan.out * plan.stride - plan.padBegin;
      const float *from =
          x + (image * plan.channels + channel) * plan.in * plan.plane;
      for (int64_t k = 0; k < plan.kernel; ++k, to += plan.plane) {
        const int64_t at = first + k * plan.dilation;
        if (at >= 0 && at < plan.in)
          std::memcpy(to, from + at * plan.plane, plan.plane * sizeof(float));
        else
          std::fill_n(to, plan.plane, 0.0f);
      }
    }
  }

private:
  const DepthPlan plan;
};

struct ConvVolume {
  DepthPlan depth;
  PlaneCall planes;
  bool hasBias = false, isPacked = false;
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
  if (call.inputs.size() < 2 || call.inputs.size() > 3 || call.outputs.empty())
    return makeError(StatusCode::InvalidArgument,
                     "expected two or three inputs and an output, got %zu and "
                     "%zu",
                     call.inputs.size(), call.outputs.size());
  const TensorType &x = call.inputs[0], &w = call.inputs[1],
                   &y = call.outputs[0];
  DLC_RETURN_IF_ERROR(checkVolume(x, "x"));
  DLC_RETURN_IF_ERROR(checkVolume(w, "w"));
  DLC_RETURN_IF_ERROR(checkVolume(y, "y"));
  read.hasBias =
      call.inputs.size() == 3 && call.inputs[2].type != DLC_INVALID_TYPE;
  if (read.hasBias)
    DLC_RETURN_IF_ERROR(checkTensor(call.inputs[2], DLC_F32, "a bias", 1, 1));
  DLC_RETURN_IF_ERROR(checkByShapeRule("conv", call));
  ref::Window window;
  DLC_RETURN_IF_ERROR(ref::readWindow(attributes, kRank - 2, window));
  const std::vector<int64_t> &in = x.shape, &out = y.shape, &taps = w.shape;
  read.depth = {in[0],
                in[1],
                in[2],
                out[2],
                in[3] * in[4],
                taps[2],
                window.strides[0],
                window.dilations[0],
                window.padBegin[0]};
  PlaneCall &planes = read.planes;
  planes.inputs = {{DLC_F32, {in[0] * out[2], in[1] * taps[2], in[3], in[4]}},
                   {DLC_F32, {taps[0], taps[1] * taps[2], taps[3], taps[4]}}};
  if (read.hasBias)
    planes.inputs.push_back(call.inputs[2]);
  planes.output = {DLC_F32, {in[0] * out[2], out[1], out[3], out[4]}};
  dropDepth(attributes, planes.attributes);
  for (const char *name : {"group", "packed_w"})
    if (attributes.has(name))
      planes.attributes.set(name, attributes.getInt(name));
  if (attributes.has("algorithm"))
    planes.attributes.set("algorithm",
                          std::string(attributes.getString("algorithm")));
  std::string why;
  if (!isConvSupported(planes.view(), why))
    return Status(StatusCode::InvalidArgument, std::move(why));
  if (const size_t bytes = convWorkspaceBytes(planes.view()))
    planes.workspace = {DLC_I8, {static_cast<int64_t>(bytes)}};
  return Status::ok();
}

static Status checkWeights(const ConvVolume &read) {
  if (read.isPacked || !read.depth.isPadded())
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected packed weights, or no padding in depth");
}

/// Without the convolution where `kernel` is null.
static Steps stepsOf(const KernelCall &call, const ConvVolume &read,
                     std::unique_ptr<PreparedKernel> kernel) {
  const PlaneCall &planes = read.planes;
  const std::vector<int64_t> &y = call.outputs[0].shape;
  // [image][position][channel] are [image][channel][position].
  const bool isInOrder = y[1] == 1 || y[2] == 1;
  Steps steps(call.inputs.size());
  const StepOperand images = steps.reserve(bytesOfTensor(planes.inputs[0]));
  steps.add(std::make_unique<GatherPlanes>(read.depth), {{0}, images});
  const StepOperand result =
      isInOrder ? steps.result : steps.reserve(bytesOfTensor(planes.output));
  std::vector<StepOperand> operands = {images, {1}};
  if (read.hasBias)
    operands.push_back({2});
  operands.push_back(result);
  if (planes.workspace.type != DLC_INVALID_TYPE)
    operands.push_back(steps.reserve(bytesOfTensor(planes.workspace)));
  if (kernel)
    steps.add(std::move(kernel), std::move(operands));
  if (isInOrder)
    return steps;
  const int64_t plane = y[3] * y[4];
  const int64_t shape[] = {y[0], y[1], y[2], plane};
  const int64_t source[] = {y[0], y[2], y[1], plane};
  ref::Walk from = ref::rowMajorWalk(source);
  std::swap(from.strides[1], from.strides[2]);
  steps.addCopy({ref::rowMajorWalk(shape), from, shape, sizeof(float)}, result,
                steps.result);
  return steps;
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
  ConvVolume read;
  if (!readConvVolume(call, read).isOk())
    return 0;
  return stepsOf(call, read, nullptr).workspaceBytes();
}

Status cpu::prepareConvVolume(const KernelCall &call, Isa isa,
                              std::unique_ptr<PreparedKernel> &prepared) {
  ConvVolume read;
  DLC_RETURN_IF_ERROR(readConvVolume(call, read));
  DLC_RETURN_IF_ERROR(checkWeights(read));
  std::unique_ptr<PreparedKernel> kernel;
  DLC_RETURN_IF_ERROR(prepareConv(read.planes.view(), isa, kernel));
  Steps steps = stepsOf(call, read, std::move(kernel));
  DLC_RETURN_IF_ERROR(checkWorkspace(call, steps.workspaceBytes()));
  prepared = std::move(steps).finish();
  return Status::ok();
}

KernelCost cpu::convVolumeCost(const KernelCall &call) {
  ConvVolume read;
  if (!readConvVolume(call, read).isOk())
    return {};
  KernelCost cost = convCost(read.planes.view());
  cost.bytes += 2 * bytesOfTensor(read.planes.inputs[0]) +
                2 * bytesOfTensor(read.planes.output);
  return cost;
}

//===----------------------------------------------------------------------===//
// cpu.pool_volume
//===----------------------------------------------------------------------===//

namespace {

/// Windows of planes, and of what those give, windows along depth: a maximum of
/// maxima, or a mean of means, since all of a window's planes count alike.
struct PoolVolume {
  PlaneCall planes, depths;
};

} // namespace

static Status readPoolVolume(const KernelCall &call, PoolVolume &read) {
  if (call.inputs.size() != 1 || call.outputs.empty())
    return makeError(StatusCode::InvalidArgument,
                     "expected one input and an output, got %zu and %zu",
                     call.inputs.size(), call.outputs.size());
  const TensorType &x = call.inputs[0], &y = call.outputs[0];
  DLC_RETURN_IF_ERROR(checkVolume(x, "x"));
  DLC_RETURN_IF_ERROR(checkVolume(y, "y"));
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
  for (PlaneCall *part : {&read.planes, &read.depths})
    for (const Attribute &attribute : attributes)
      part->attributes.set(attribute.name, attribute.value);
  read.planes.inputs = {{DLC_F32, {in[0] * in[1], in[2], in[3], in[4]}}};
  read.planes.output = {DLC_F32, {in[0] * in[1], in[2], out[3], out[4]}};
  dropDepth(attributes, read.planes.attributes);
  read.depths.inputs = {{DLC_F32, {in[0], in[1], in[2], out[3] * out[4]}}};
  read.depths.output = {DLC_F32, {in[0], in[1], out[2], out[3] * out[4]}};
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

bool cpu::isPoolVolumeSupported(const KernelCall &call, std::string &why) {
  PoolVolume read;
  Status status = readPoolVolume(call, read);
  why = status.message();
  return status.isOk();
}

size_t cpu::poolVolumeWorkspaceBytes(const KernelCall &call) {
  PoolVolume read;
  if (!readPoolVolume(call, read).isOk())
    return 0;
  Steps steps(call.inputs.size());
  steps.reserve(bytesOfTensor(read.planes.output));
  return steps.workspaceBytes();
}

Status cpu::preparePoolVolume(const KernelCall &call, Isa isa,
                              std::unique_ptr<PreparedKernel> &prepared) {
  PoolVolume read;
  DLC_RETURN_IF_ERROR(readPoolVolume(call, read));
  Steps steps(call.inputs.size());
  const StepOperand between = steps.reserve(bytesOfTensor(read.planes.output));
  DLC_RETURN_IF_ERROR(checkWorkspace(call, steps.workspaceBytes()));
  std::unique_ptr<PreparedKernel> planes, depths;
  DLC_RETURN_IF_ERROR(preparePool(read.planes.view(), isa, planes));
  DLC_RETURN_IF_ERROR(preparePool(read.depths.view(), isa, depths));
  steps.add(std::move(planes), {{0}, between});
  steps.add(std::move(depths), {between, steps.result});
  prepared = std::move(steps).finish();
  return Status::ok();
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
