// SPDX-License-Identifier: Apache-2.0

#include "ConvTranspose.h"

#include "../Reference/TransposePlan.h"
#include "Check.h"
#include "Conv.h"
#include "Steps.h"

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

namespace {

/// The sums of planes [image][channel] of the result: of each kernel element a
/// plane of products.
struct SpreadPlan {
  ref::TransposePlan taps;
  int64_t planes, channels;
  bool hasBias;
  int64_t planeBlock; ///< Planes of a tile.

  int64_t tiles() const { return ceilDiv(planes, planeBlock); }
};

/// Adds the products where they belong. Operands: products, the result, and the
/// bias if there is one.
class SpreadKernel final : public PreparedKernel {
public:
  explicit SpreadKernel(SpreadPlan plan) : plan(std::move(plan)) {}

  int64_t tiles() const override { return plan.tiles(); }
  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    const int64_t first = begin * plan.planeBlock;
    const int64_t last = std::min(end * plan.planeBlock, plan.planes);
    for (int64_t plane = first; plane < last; ++plane)
      runPlane(arguments, plane);
  }

private:
  void runPlane(void *const *arguments, int64_t plane) const;

  const SpreadPlan plan;
};

} // namespace

void SpreadKernel::runPlane(void *const *arguments, int64_t plane) const {
  const ref::TransposePlan &taps = plan.taps;
  const float *products = static_cast<const float *>(arguments[0]) +
                          plane * taps.kernelSize * taps.inputSize;
  float *y = static_cast<float *>(arguments[1]) + plane * taps.outputSize;
  const float start =
      plan.hasBias
          ? static_cast<const float *>(arguments[2])[plane % plan.channels]
          : 0.0f;
  std::fill_n(y, taps.outputSize, start);
  const int64_t step = taps.step();
  for (const ref::CarriedRun &run : taps.runs) {
    const float *from = products + run.k * taps.inputSize + run.source;
    float *to = y + run.target;
    if (step == 1)
      for (int64_t i = 0; i < run.count; ++i)
        to[i] += from[i];
    else
      for (int64_t i = 0; i < run.count; ++i)
        to[i * step] += from[i];
  }
}

namespace {

/// The products, as a convolution of single pixels: each channel of the result
/// has as many of it as there are kernel elements.
struct ProductCall {
  TensorType inputs[2], output;
  Attributes attributes;

  KernelCall view() const { return {inputs, {&output, 1}, attributes}; }
};

struct TransposeCall {
  SpreadPlan spread;
  ProductCall products;
  bool isPacked = false;
};

} // namespace

static bool hasBiasOf(const KernelCall &call) {
  return call.inputs.size() == 3 && call.inputs[2].type != DLC_INVALID_TYPE;
}

static Status readCall(const KernelCall &call, TransposeCall &read) {
  using enum AttributeKind;
  DLC_RETURN_IF_ERROR(
      checkAttributes(call.attributes, {{"auto_pad", String},
                                        {"dilations", Ints},
                                        {"group", Int},
                                        {"output_padding", Ints},
                                        {"output_shape", Ints},
                                        {"packed_w", Int},
                                        {"pads", Ints},
                                        {"strides", Ints}}));
  DLC_RETURN_IF_ERROR(readFlag(call.attributes, "packed_w", read.isPacked));
  if (call.inputs.size() < 2 || call.inputs.size() > 3 || call.outputs.empty())
    return makeError(StatusCode::InvalidArgument,
                     "expected two or three inputs and an output, got %zu and "
                     "%zu",
                     call.inputs.size(), call.outputs.size());
  const TensorType &x = call.inputs[0], &w = call.inputs[1],
                   &y = call.outputs[0];
  DLC_RETURN_IF_ERROR(checkTensor(x, DLC_F32, "x", 3, DLC_MAX_RANK));
  DLC_RETURN_IF_ERROR(checkTensor(w, DLC_F32, "w", 3, DLC_MAX_RANK));
  DLC_RETURN_IF_ERROR(checkTensor(y, DLC_F32, "y", 3, DLC_MAX_RANK));
  if (hasBiasOf(call))
    DLC_RETURN_IF_ERROR(checkTensor(call.inputs[2], DLC_F32, "a bias", 1, 1));
  DLC_RETURN_IF_ERROR(checkByShapeRule("conv_transpose", call));
  for (const TensorType *type : {&x, &w, &y})
    if (elementCount(type->shape).value_or(0) == 0)
      return makeError(StatusCode::InvalidArgument, "expected elements, got %s",
                       toString(*type).c_str());
  SpreadPlan &spread = read.spread;
  DLC_RETURN_IF_ERROR(ref::planTranspose(call.attributes, std::span(x.shape),
                                         std::span(w.shape), spread.taps));
  const int64_t group = spread.taps.shape.group;
  spread.channels = y.shape[1];
  spread.planes = y.shape[0] * y.shape[1];
  spread.hasBias = hasBiasOf(call);
  constexpr int64_t wantedElements = 1 << 14;
  spread.planeBlock = std::max<int64_t>(
      1, wantedElements /
             saturatedProduct({spread.taps.kernelSize, spread.taps.inputSize}));
  const int64_t maps =
      saturatedProduct({spread.channels, spread.taps.kernelSize});
  read.products = {{{DLC_F32, {x.shape[0], x.shape[1], spread.taps.inputSize}},
                    {DLC_F32, {maps, x.shape[1] / group, 1}}},
                   {DLC_F32, {x.shape[0], maps, spread.taps.inputSize}},
                   {}};
  read.products.attributes.set("group", group);
  if (read.isPacked)
    read.products.attributes.set("packed_w", int64_t(1));
  std::string why;
  if (isConvSupported(read.products.view(), why))
    return Status::ok();
  return Status(StatusCode::InvalidArgument, std::move(why));
}

/// From [group][channels][maps] to [group][maps][channels].
static ref::ElementCopy turnWeights(const TransposeCall &read) {
  const auto &group = read.spread.taps.shape.group;
  const std::vector<int64_t> &w = read.products.inputs[1].shape;
  const int64_t shape[] = {group, w[0] / group, w[1]};
  const int64_t source[] = {group, w[1], w[0] / group};
  ref::Walk from = ref::rowMajorWalk(source);
  std::swap(from.strides[1], from.strides[2]);
  return {ref::rowMajorWalk(shape), from, shape, sizeof(float)};
}

/// Without a kernel for the products where that is null.
static Steps stepsOf(const KernelCall &call, TransposeCall read,
                     std::unique_ptr<PreparedKernel> kernel) {
  Steps steps(call.inputs.size());
  StepOperand weights = {1};
  if (!read.isPacked) {
    weights = steps.reserve(bytesOfTensor(read.products.inputs[1]));
    steps.addCopy(turnWeights(read), {1}, weights);
  }
  const StepOperand products =
      steps.reserve(bytesOfTensor(read.products.output));
  if (kernel)
    steps.add(std::move(kernel), {{0}, weights, products});
  std::vector<StepOperand> operands = {products, steps.result};
  if (read.spread.hasBias)
    operands.push_back({2});
  steps.add(std::make_unique<SpreadKernel>(std::move(read.spread)),
            std::move(operands));
  return steps;
}

bool cpu::isConvTransposeSupported(const KernelCall &call, std::string &why) {
  TransposeCall read;
  Status status = readCall(call, read);
  why = status.message();
  return status.isOk();
}

size_t cpu::packedConvTransposeBytes(const KernelCall &call, size_t operand) {
  TransposeCall read;
  if (operand != 1 || !readCall(call, read).isOk())
    return 0;
  return packedConvBytes(read.products.view(), 1);
}

void cpu::packConvTranspose(const KernelCall &call, size_t operand,
                            const void *source, void *target) {
  TransposeCall read;
  if (operand != 1 || !readCall(call, read).isOk())
    return;
  std::vector<float> turned(bytesOfTensor(read.products.inputs[1]) /
                            sizeof(float));
  const ref::ElementCopy copy = turnWeights(read);
  copy.run(turned.data(), source, 0, copy.parts());
  packConv(read.products.view(), 1, turned.data(), target);
}

size_t cpu::convTransposeWorkspaceBytes(const KernelCall &call) {
  TransposeCall read;
  if (!readCall(call, read).isOk())
    return 0;
  return stepsOf(call, std::move(read), nullptr).workspaceBytes();
}

Status cpu::prepareConvTranspose(const KernelCall &call, Isa isa,
                                 std::unique_ptr<PreparedKernel> &prepared) {
  TransposeCall read;
  DLC_RETURN_IF_ERROR(readCall(call, read));
  std::unique_ptr<PreparedKernel> kernel;
  DLC_RETURN_IF_ERROR(prepareConv(read.products.view(), isa, kernel));
  Steps steps = stepsOf(call, std::move(read), std::move(kernel));
  DLC_RETURN_IF_ERROR(checkWorkspace(call, steps.workspaceBytes()));
  prepared = std::move(steps).finish();
  return Status::ok();
}

KernelCost cpu::convTransposeCost(const KernelCall &call) {
  TransposeCall read;
  if (!readCall(call, read).isOk())
    return {};
  KernelCost cost = convCost(read.products.view());
  // Each product is added where it belongs, in the time of some flops.
  constexpr uint64_t adding = 50;
  cost.overhead += adding * bytesOfTensor(read.products.output) / sizeof(float);
  return cost;
}

bool cpu::convTransposeFromOperation(std::string_view, const KernelCall &call,
                                     Attributes &attributes) {
  for (const Attribute &attribute : call.attributes)
    attributes.set(attribute.name, attribute.value);
  return true;
}
