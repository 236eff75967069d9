// SPDX-License-Identifier: Apache-2.0

#include "IntegerConv.h"

#include "ConvShape.h"
#include "IntegerPack.h"
#include "Isa.h"

#include <utility>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

namespace {

/// What the steps of a call share.
struct ConvCall {
  IntegerConvPlan plan;
  const IntegerKernels *kernels;
  size_t workspace; ///< Which argument it is.
  bool isPacked;
  /// Of what is made of x, at the workspace's beginning; 0 where x is there so.
  int64_t imageBytes;

  uint8_t *images(void *const *arguments) const {
    return static_cast<uint8_t *>(arguments[imageBytes > 0 ? workspace : 0]);
  }
  /// Behind the images where w is not packed.
  uint8_t *weights(void *const *arguments) const {
    return isPacked ? static_cast<uint8_t *>(arguments[1])
                    : static_cast<uint8_t *>(arguments[workspace]) + imageBytes;
  }
};

class PreparedConv final : public PreparedKernel {
public:
  explicit PreparedConv(const ConvCall &call) : call(call) {}
  int64_t tiles() const override {
    const MatmulPlan &product = call.plan.integers.product;
    return product.batch * product.rowBlocks * product.columnBlocks;
  }
  void run(void *const *given, int64_t begin, int64_t end) const override {
    const IntegerArguments arguments = integerArguments(
        call.plan.integers, call.images(given), call.weights(given), given);
    const auto run = call.plan.isDepthwise ? call.kernels->depthwiseConv
                                           : call.kernels->conv;
    run(call.plan, arguments, begin, end);
  }

private:
  const ConvCall call;
};

/// Packs w into the workspace, some channels of the result a tile.
class PackWeights final : public PreparedKernel {
public:
  explicit PackWeights(const ConvCall &call) : call(call), following(call) {}
  int64_t tiles() const override {
    return ceilDiv(call.plan.integers.columns, kPackedColumns);
  }
  void run(void *const *arguments, int64_t begin, int64_t end) const override;
  const PreparedKernel *next() const override { return &following; }

private:
  const ConvCall call;
  const PreparedConv following;
};

/// Makes images of x, rows of them a tile.
class ArrangeImages final : public PreparedKernel {
public:
  ArrangeImages(const ConvCall &call, std::unique_ptr<PreparedKernel> following)
      : call(call), following(std::move(following)) {}
  int64_t tiles() const override {
    return call.plan.integers.product.batch * call.plan.windows.inH;
  }
  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    call.kernels->arrange(call.plan, static_cast<uint8_t *>(arguments[0]),
                          call.images(arguments), begin, end);
  }
  const PreparedKernel *next() const override { return following.get(); }

private:
  const ConvCall call;
  const std::unique_ptr<PreparedKernel> following;
};

} // namespace

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static Status planIntegerConv(const KernelCall &call, IntegerConvPlan &plan) {
  DLC_RETURN_IF_ERROR(checkIntegerOperands(call));
  const TensorType &x = call.inputs[0];
  TensorType w = call.inputs[1];
  const DataType typeOfW = call.inputs[3].type;
  const bool isPacked = call.attributes.getInt("packed_w", 0) == 1;
  if (isPacked && w.type == DLC_F32) // Of packed bytes only the shape is known.
    w.type = typeOfW;
  DLC_RETURN_IF_ERROR(checkByteFactor(x, "x"));
  DLC_RETURN_IF_ERROR(checkByteFactor(w, "w"));
  DLC_RETURN_IF_ERROR(checkTensor(x, x.type, "x", 3, 5));
  DLC_RETURN_IF_ERROR(
      checkTensor(call.outputs[0], call.outputs[0].type, "the output", 3, 5));
  ConvShape shape = {};
  DLC_RETURN_IF_ERROR(readIntegerConv(call, shape));
  DLC_RETURN_IF_ERROR(
      checkByteZeroPoint(call.inputs[2], x.type, "a zero point of x", 1));
  DLC_RETURN_IF_ERROR(checkByteZeroPoint(
      call.inputs[3], w.type, "a zero point of w", shape.outChannels));
  plan.windows = windowsOf(shape);
  plan.channels = shape.inChannels;
  const Windows &windows = plan.windows;
  plan.run = windows.dilationW == 1 ? windows.kernelW : 1;
  plan.isPlainY = !shape.blockedY;
  plan.isDepthwise = shape.group != 1;
  IntegerPlan &integers = plan.integers;
  integers.isSignedA = x.type == DLC_I8;
  integers.isSignedB = typeOfW == DLC_I8;
  integers.hasZeroOfColumns = elementCount(call.inputs[3].shape) != 1;
  MatmulPlan &product = integers.product;
  product.batch = shape.batch;
  product.m = shape.pixels();
  product.n = shape.outChannels;
  product.k = shape.groupIn() * shape.taps();
  product.lda = shape.inChannels; // Of pixels.
  DLC_RETURN_IF_ERROR(readRequantization(
      call, product.n, plan.isPlainY ? call.outputs[0].rank() - 2 : 0,
      integers));
  sizePacked(integers);
  if (plan.isDepthwise)
    integers.terms = product.k; // Nothing multiplies several of them at once.
  planIntegerGrid(integers);
  return Status::ok();
}

/// Of what is made of x. It comes first, which leaves what is behind it
/// aligned.
static int64_t imageBytesOf(const KernelCall &call) {
  constexpr int64_t alignment = 64;
  const TensorType &x = call.inputs[0];
  const bool isPlain = x.rank() == call.inputs[1].rank();
  return isPlain ? roundUp(elementCount(x.shape).value_or(0), alignment) : 0;
}

bool cpu::isIntegerConvSupported(const KernelCall &call, std::string &why) {
  IntegerConvPlan plan = {};
  Status status = planIntegerConv(call, plan);
  why = status.message();
  return status.isOk();
}

size_t cpu::packedIntegerConvBytes(const KernelCall &call, size_t operand) {
  IntegerConvPlan plan = {};
  if (operand != 1 || !planIntegerConv(call, plan).isOk())
    return 0;
  return static_cast<size_t>(packedMatrixBytes(plan.integers));
}

static size_t workspaceBytesOf(const KernelCall &call,
                               const IntegerConvPlan &plan) {
  const bool isPacked = call.attributes.getInt("packed_w", 0) != 0;
  return static_cast<size_t>(imageBytesOf(call) +
                             (isPacked ? 0 : packedMatrixBytes(plan.integers)));
}

size_t cpu::integerConvWorkspaceBytes(const KernelCall &call) {
  IntegerConvPlan plan = {};
  return planIntegerConv(call, plan).isOk() ? workspaceBytesOf(call, plan) : 0;
}

KernelCost cpu::integerConvCost(const KernelCall &call) {
  IntegerConvPlan plan = {};
  if (!planIntegerConv(call, plan).isOk())
    return {};
  KernelCost cost = integerCost(call, plan.integers);
  // As many flops as there are in the time in which a byte moves.
  constexpr uint64_t flopsOfByte = 10;
  const auto bytes = [](const TensorType &type) {
    return byteCount(type.type, type.shape).value_or(0);
  };
  cost.overhead += 2 * flopsOfByte * imageBytesOf(call);
  if (plan.isPlainY)
    cost.overhead += flopsOfByte * bytes(call.outputs[0]);
  return cost;
}

bool cpu::integerConvFromOperation(std::string_view, const KernelCall &call,
                                   ConstantOperands, Attributes &attributes) {
  if (call.attributes.getString("auto_pad", "NOTSET") != "NOTSET")
    return false;
  attributes.set("group", call.attributes.getInt("group", 1));
  attributes.set("channel_block", call.attributes.getInt("channel_block"));
  for (const char *name : {"strides", "pads", "dilations"})
    if (std::span<const int64_t> held = call.attributes.getInts(name);
        !held.empty())
      attributes.set(name, std::vector<int64_t>(held.begin(), held.end()));
  return true;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Channels of the result, [begin, end) of parts of 64.
static void packParts(const IntegerConvPlan &plan, const void *source,
                      void *target, int64_t begin, int64_t end) {
  const auto *w = static_cast<const uint8_t *>(source);
  const int64_t taps = plan.windows.kernelH * plan.windows.kernelW;
  const int64_t channels = plan.isDepthwise ? 1 : plan.channels;
  const auto byteAt = [&](int64_t l, int64_t j) {
    return w[(j * channels + l % channels) * taps + l / channels];
  };
  for (int64_t part = begin; part < end; ++part)
    packByteColumns(plan.integers, plan.isDepthwise ? 1 : kByteGroup,
                    part * kPackedColumns, byteAt,
                    static_cast<uint8_t *>(target));
}

void cpu::packIntegerConv(const KernelCall &call, size_t operand,
                          const void *source, void *target) {
  IntegerConvPlan plan = {};
  if (operand == 1 && planIntegerConv(call, plan).isOk())
    packParts(plan, source, target, 0,
              ceilDiv(plan.integers.columns, kPackedColumns));
}

void PackWeights::run(void *const *arguments, int64_t begin,
                      int64_t end) const {
  packParts(call.plan, arguments[1], call.weights(arguments), begin, end);
}

//===----------------------------------------------------------------------===//
// The entry
//===----------------------------------------------------------------------===//

Status cpu::prepareIntegerConv(const KernelCall &call, Isa isa,
                               std::unique_ptr<PreparedKernel> &prepared) {
  const IntegerKernels *kernels = nullptr, *tiles = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, kernels));
  DLC_RETURN_IF_ERROR(findIntegerTiles(isa, tiles));
  IntegerConvPlan plan = {};
  DLC_RETURN_IF_ERROR(planIntegerConv(call, plan));
  DLC_RETURN_IF_ERROR(checkWorkspace(call, workspaceBytesOf(call, plan)));
  // Fewer rows leave tiles empty.
  constexpr int64_t fewestRows = 16;
  if (tiles && plan.integers.product.m >= fewestRows)
    kernels = tiles;
  const bool isPacked = call.attributes.getInt("packed_w", 0) != 0;
  const ConvCall shared = {plan, kernels, call.inputs.size() + 1, isPacked,
                           imageBytesOf(call)};
  std::unique_ptr<PreparedKernel> following;
  if (isPacked)
    following = std::make_unique<PreparedConv>(shared);
  else
    following = std::make_unique<PackWeights>(shared);
  prepared = shared.imageBytes > 0
                 ? std::make_unique<ArrangeImages>(shared, std::move(following))
                 : std::move(following);
  return Status::ok();
}
