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
  int64_t imageBytes; ///< Of all images, at the workspace's beginning.

  uint8_t *images(void *const *arguments) const {
    return static_cast<uint8_t *>(arguments[workspace]);
  }
  /// Behind the images where w is not packed.
  uint8_t *weights(void *const *arguments) const {
    return isPacked ? static_cast<uint8_t *>(arguments[1])
                    : images(arguments) + imageBytes;
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
    call.kernels->conv(call.plan, arguments, begin, end);
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
    return call.plan.integers.product.batch * call.plan.height;
  }
  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    call.kernels->arrange(call.plan, static_cast<uint8_t *>(arguments[0]),
                          arguments[2], call.images(arguments), begin, end);
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

/// What windows reach along a dimension, from the first border on.
static int64_t reachOf(int64_t out, int64_t stride, int64_t kernel,
                       int64_t dilation) {
  return out > 0 ? (out - 1) * stride + (kernel - 1) * dilation + 1 : 0;
}

static int64_t imageBytesOf(const IntegerConvPlan &plan) {
  return saturatedProduct(
      {plan.integers.product.batch, plan.height, plan.width, plan.channels});
}

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
  DLC_RETURN_IF_ERROR(checkTensor(x, x.type, "x", 3, 4));
  DLC_RETURN_IF_ERROR(
      checkTensor(call.outputs[0], call.outputs[0].type, "the output", 3, 4));
  ConvShape shape = {};
  DLC_RETURN_IF_ERROR(readIntegerConv(call, shape));
  DLC_RETURN_IF_ERROR(
      checkByteZeroPoint(call.inputs[2], x.type, "a zero point of x", 1));
  DLC_RETURN_IF_ERROR(checkByteZeroPoint(
      call.inputs[3], w.type, "a zero point of w", shape.outChannels));
  plan.windows = windowsOf(shape);
  plan.channels = shape.inChannels;
  const Windows &windows = plan.windows;
  plan.height = reachOf(windows.outH, windows.strideH, windows.kernelH,
                        windows.dilationH);
  plan.width = reachOf(windows.outW, windows.strideW, windows.kernelW,
                       windows.dilationW);
  plan.run = std::max<int64_t>(
      windows.dilationW == 1 ? windows.kernelW * plan.channels : plan.channels,
      1);
  IntegerPlan &integers = plan.integers;
  integers.isSignedA = x.type == DLC_I8;
  integers.isSignedB = typeOfW == DLC_I8;
  integers.hasZeroOfColumns = elementCount(call.inputs[3].shape) != 1;
  MatmulPlan &product = integers.product;
  product.batch = shape.batch;
  product.m = shape.pixels();
  product.n = shape.outChannels;
  product.k = shape.inChannels * shape.taps();
  DLC_RETURN_IF_ERROR(
      readRequantization(call, product.n, x.rank() - 2, integers));
  sizePacked(integers);
  // Borders, and what is between windows, are no part of any tensor.
  constexpr int64_t fewBytes = 1 << 20, most = 4;
  const int64_t usual =
      std::max(saturatedProduct({elementCount(x.shape).value_or(0), most}),
               saturatedProduct({product.batch, product.m, product.k, most}));
  if (imageBytesOf(plan) > std::max(usual, fewBytes))
    return makeError(StatusCode::InvalidArgument,
                     "expected windows that reach no further than %lld bytes, "
                     "got %s of %lld by %lld with borders",
                     static_cast<long long>(std::max(usual, fewBytes)),
                     toString(x).c_str(), static_cast<long long>(plan.height),
                     static_cast<long long>(plan.width));
  planIntegerGrid(integers);
  return Status::ok();
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

/// Images first, which leaves what is behind them aligned.
static int64_t alignedImageBytes(const IntegerConvPlan &plan) {
  constexpr int64_t alignment = 64;
  return roundUp(imageBytesOf(plan), alignment);
}

static size_t workspaceBytesOf(const KernelCall &call,
                               const IntegerConvPlan &plan) {
  const bool isPacked = call.attributes.getInt("packed_w", 0) != 0;
  return static_cast<size_t>(alignedImageBytes(plan) +
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
  return integerCost(call, plan.integers);
}

bool cpu::integerConvFromOperation(std::string_view, const KernelCall &call,
                                   Attributes &attributes) {
  if (call.attributes.getString("auto_pad", "NOTSET") != "NOTSET" ||
      call.attributes.getInt("group", 1) != 1)
    return false;
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
  const int64_t channels = plan.channels;
  for (int64_t part = begin; part < end; ++part)
    packByteColumns(
        plan.integers, part * kPackedColumns,
        [&](int64_t l, int64_t j) {
          return w[(j * channels + l % channels) * taps + l / channels];
        },
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
                           alignedImageBytes(plan)};
  std::unique_ptr<PreparedKernel> following;
  if (isPacked)
    following = std::make_unique<PreparedConv>(shared);
  else
    following = std::make_unique<PackWeights>(shared);
  prepared = std::make_unique<ArrangeImages>(shared, std::move(following));
  return Status::ok();
}
