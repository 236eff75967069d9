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

/// The sums of some planes [image][channel] of the result, of which the first
/// is of channel `firstChannel`: of each kernel element a plane of products.
struct SpreadPlan {
  std::shared_ptr<const ref::TransposePlan> taps;
  int64_t planes, firstChannel, channels;
  bool hasBias;

  /// Planes of a tile.
  int64_t planeBlock() const {
    constexpr int64_t wantedElements = 1 << 14;
    return std::max<int64_t>(
        1,
        wantedElements / saturatedProduct({taps->kernelSize, taps->inputSize}));
  }
};

/// Adds the products where they belong. Operands: products, the result, and the
/// bias if there is one.
class SpreadKernel final : public PreparedKernel {
public:
  explicit SpreadKernel(SpreadPlan plan) : plan(std::move(plan)) {}

  int64_t tiles() const override {
    return ceilDiv(plan.planes, plan.planeBlock());
  }
  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    const int64_t first = begin * plan.planeBlock();
    const int64_t last = std::min(end * plan.planeBlock(), plan.planes);
    for (int64_t plane = first; plane < last; ++plane)
      runPlane(arguments, plane);
  }

private:
  void runPlane(void *const *arguments, int64_t plane) const;

  const SpreadPlan plan;
};

} // namespace

void SpreadKernel::runPlane(void *const *arguments, int64_t plane) const {
  const ref::TransposePlan &taps = *plan.taps;
  const float *products = static_cast<const float *>(arguments[0]) +
                          plane * taps.kernelSize * taps.inputSize;
  float *y = static_cast<float *>(arguments[1]) + plane * taps.outputSize;
  const float start =
      plan.hasBias
          ? static_cast<const float *>(
                arguments[2])[(plan.firstChannel + plane) % plan.channels]
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

/// Some images, groups of channels, and output channels of each of these
/// groups.
struct Piece {
  int64_t images, groups, channels;
};

struct TransposeCall {
  std::shared_ptr<const ref::TransposePlan> taps;
  int64_t images, group, inChannels, outChannels; ///< Of a group.
  bool hasBias = false, isPacked = false;

  Piece all() const { return {images, group, outChannels}; }
  int64_t productsOf(const Piece &piece) const {
    return saturatedProduct({piece.images, piece.groups, piece.channels,
                             taps->kernelSize, taps->inputSize});
  }
  /// The products of a piece, as a convolution of single pixels: each channel
  /// of the result has as many of it as there are kernel elements.
  StepCall callOf(const Piece &piece) const;
  Piece choosePiece() const;
};

} // namespace

StepCall TransposeCall::callOf(const Piece &piece) const {
  const int64_t maps =
      saturatedProduct({piece.groups, piece.channels, taps->kernelSize});
  StepCall made;
  made.inputs = {
      {DLC_F32, {piece.images, piece.groups * inChannels, taps->inputSize}},
      {DLC_F32, {maps, inChannels, 1}}};
  made.outputs = {{DLC_F32, {piece.images, maps, taps->inputSize}}};
  made.attributes.set("group", piece.groups);
  if (isPacked)
    made.attributes.set("packed_w", int64_t(1));
  return made;
}

/// As much as the memory between steps is for: all channels of some images, or
/// of one some groups, or of one group some channels, whose packed weights
/// begin with a panel.
Piece TransposeCall::choosePiece() const {
  Piece piece = {1, group, outChannels};
  const int64_t ofImage = productsOf(piece);
  if (ofImage <= kStepFloats) {
    piece.images = std::min(images, kStepFloats / ofImage);
    return piece;
  }
  if (group > 1) {
    const int64_t ofGroup = productsOf({1, 1, outChannels});
    piece.groups = std::clamp<int64_t>(kStepFloats / ofGroup, 1, group);
    return piece;
  }
  const int64_t panels = kStepFloats / productsOf({1, 1, kPanelRows});
  piece.channels =
      std::min(std::max<int64_t>(panels, 1) * kPanelRows, outChannels);
  return piece;
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
  DLC_RETURN_IF_ERROR(checkStepOperands(call, 3, DLC_MAX_RANK));
  DLC_RETURN_IF_ERROR(checkByShapeRule("conv_transpose", call));
  const TensorType &x = call.inputs[0], &w = call.inputs[1];
  auto taps = std::make_shared<ref::TransposePlan>();
  DLC_RETURN_IF_ERROR(ref::planTranspose(call.attributes, std::span(x.shape),
                                         std::span(w.shape), *taps));
  read.images = x.shape[0];
  read.group = taps->shape.group;
  read.inChannels = x.shape[1] / read.group;
  read.outChannels = w.shape[1];
  read.hasBias = hasBias(call);
  read.taps = std::move(taps);
  std::string why;
  if (isConvSupported(read.callOf(read.all()).view(), why))
    return Status::ok();
  return Status(StatusCode::InvalidArgument, std::move(why));
}

/// From [group][channels][maps] to [group][maps][channels].
static ref::ElementCopy turnWeights(const TransposeCall &read) {
  const int64_t maps = read.outChannels * read.taps->kernelSize;
  const int64_t shape[] = {read.group, maps, read.inChannels};
  const int64_t source[] = {read.group, read.inChannels, maps};
  ref::Walk from = ref::rowMajorWalk(source);
  std::swap(from.strides[1], from.strides[2]);
  return {ref::rowMajorWalk(shape), from, shape, sizeof(float)};
}

static Status addTransposeSteps(const KernelCall &call, Steps &steps) {
  TransposeCall read;
  DLC_RETURN_IF_ERROR(readCall(call, read));
  const ref::TransposePlan &taps = *read.taps;
  const int64_t maps = read.outChannels * taps.kernelSize;
  // Of one channel, weights are packed as they are.
  const bool hasPanels = read.isPacked && read.inChannels > 1;
  const int64_t rows = hasPanels ? roundUp(maps, kPanelRows) : maps;
  StepOperand weights = {1};
  if (!read.isPacked) {
    weights = steps.reserve(bytesOfTensor(read.callOf(read.all()).inputs[1]));
    steps.addCopy(turnWeights(read), {1}, weights);
  }
  const Piece whole = read.choosePiece();
  const StepOperand products =
      steps.reserve(bytesOfTensor(read.callOf(whole).outputs[0]));
  const int64_t channels = read.group * read.outChannels;
  auto addPiece = [&](int64_t image, int64_t group, int64_t channel) {
    const Piece piece = {std::min(whole.images, read.images - image),
                         std::min(whole.groups, read.group - group),
                         std::min(whole.channels, read.outChannels - channel)};
    const int64_t firstChannel = group * read.outChannels + channel;
    const int64_t firstIn = (image * read.group + group) * read.inChannels;
    DLC_RETURN_IF_ERROR(steps.addCall(
        read.callOf(piece),
        {StepOperand{0}.behind(firstIn * taps.inputSize),
         weights.behind((group * rows + channel * taps.kernelSize) *
                        read.inChannels),
         products}));
    std::vector<StepOperand> operands = {
        products, steps.result.behind((image * channels + firstChannel) *
                                      taps.outputSize)};
    if (read.hasBias)
      operands.push_back({2});
    const SpreadPlan spread = {read.taps,
                               piece.images * piece.groups * piece.channels,
                               firstChannel, channels, read.hasBias};
    steps.add(std::make_unique<SpreadKernel>(spread), std::move(operands));
    return Status::ok();
  };
  for (int64_t image = 0; image < read.images; image += whole.images)
    for (int64_t group = 0; group < read.group; group += whole.groups)
      for (int64_t channel = 0; channel < read.outChannels;
           channel += whole.channels)
        DLC_RETURN_IF_ERROR(addPiece(image, group, channel));
  return Status::ok();
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
  return packedConvBytes(read.callOf(read.all()).view(), 1);
}

void cpu::packConvTranspose(const KernelCall &call, size_t operand,
                            const void *source, void *target) {
  TransposeCall read;
  if (operand != 1 || !readCall(call, read).isOk())
    return;
  const StepCall products = read.callOf(read.all());
  std::vector<float> turned(bytesOfTensor(products.inputs[1]) / sizeof(float));
  const ref::ElementCopy copy = turnWeights(read);
  copy.run(turned.data(), source, 0, copy.parts());
  packConv(products.view(), 1, turned.data(), target);
}

size_t cpu::convTransposeWorkspaceBytes(const KernelCall &call) {
  return workspaceOfSteps(call, addTransposeSteps);
}

Status cpu::prepareConvTranspose(const KernelCall &call, Isa isa,
                                 std::unique_ptr<PreparedKernel> &prepared) {
  return prepareSteps(call, addTransposeSteps, prepareConv, isa, prepared);
}

KernelCost cpu::convTransposeCost(const KernelCall &call) {
  TransposeCall read;
  if (!readCall(call, read).isOk())
    return {};
  KernelCost cost = convCost(read.callOf(read.all()).view());
  // Each product is added where it belongs, in the time of some flops.
  constexpr uint64_t adding = 50;
  cost.overhead += adding * static_cast<uint64_t>(read.productsOf(read.all()));
  return cost;
}

bool cpu::convTransposeFromOperation(std::string_view, const KernelCall &call,
                                     ConstantOperands, Attributes &attributes) {
  for (const Attribute &attribute : call.attributes)
    attributes.set(attribute.name, attribute.value);
  return true;
}
