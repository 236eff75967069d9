// SPDX-License-Identifier: Apache-2.0
//
// A depthwise convolution, with the convolution in front of it, the one of
// single pixels behind it, or both, a few rows at a time: what lies between
// them never leaves the caches.
//
// A strip is some output rows of an image. Its front convolution computes the
// rows that the depthwise one reads and the strip before has not left in a ring
// of rows; the depthwise one computes rows from which the last one computes
// those of y. The stages are the kernels of cpu.conv, so that the numbers are
// the same. What a front convolution of rounded floats gives is bfloat16, as
// depthwise convolutions read it elsewhere: a ring of half the size.
//
// A run computes the strips of its tiles one after the other and leaves the
// ring to whoever computes the next tile, if that has not begun: so the rows
// that strips share are computed again only where threads meet.

#include "DepthwiseChain.h"

#include "BlockedConv.h"
#include "Conv.h"
#include "ConvShape.h"
#include "Isa.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static constexpr int64_t kFloat = sizeof(float);
/// Operands: x, then weights and bias of each stage, then the residual.
static constexpr size_t kFirstWeights = 1, kResidual = 7, kMostInputs = 8;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {

/// The stages in their order.
enum Stage : size_t { Front, Depthwise, Last, kStages };

/// A checked call.
struct ChainShape {
  ConvShape stages[kStages];
  bool hasStage[kStages];
  bool hasBias[kStages], hasResidual;
  bool isRounded; ///< Where stages can be.
  int64_t form;   ///< The attribute packed_w.

  const ConvShape &depthwise() const { return stages[Depthwise]; }
};

/// One stage as a call of cpu.conv.
struct StageCall {
  std::vector<TensorType> inputs{4};
  TensorType output;
  Attributes attributes;

  KernelCall view() const { return {inputs, {&output, 1}, attributes}; }
};

} // namespace

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

static size_t weightsOf(size_t stage) { return kFirstWeights + 2 * stage; }

static const TensorType *inputOf(const KernelCall &call, size_t operand) {
  if (operand >= call.inputs.size() ||
      call.inputs[operand].type == DLC_INVALID_TYPE)
    return nullptr;
  return &call.inputs[operand];
}

/// Deals the attributes out to the stages, without the names that say which.
static Status splitAttributes(const KernelCall &call,
                              StageCall (&stages)[kStages]) {
  static constexpr std::string_view windows[] = {"strides", "pads",
                                                 "dilations"};
  static constexpr std::string_view epilogue[] = {"activation", "alpha",
                                                  "beta"};
  static constexpr std::string_view prefixes[] = {"front_", "", "last_"};
  for (const Attribute &attribute : call.attributes) {
    std::string_view name = attribute.name;
    if (name == "packed_w" || name == "channel_block" || name == kBf16Parts)
      continue;
    size_t stage = Depthwise;
    for (size_t i : {Front, Last})
      if (name.starts_with(prefixes[i]))
        stage = i;
    name.remove_prefix(prefixes[stage].size());
    const bool isKnown =
        std::ranges::find(epilogue, name) != std::end(epilogue) ||
        (stage != Last &&
         std::ranges::find(windows, name) != std::end(windows));
    if (!isKnown)
      return invalid("unknown attribute '" + attribute.name + "'");
    if (stage != Depthwise && !inputOf(call, weightsOf(stage)))
      return invalid("expected attribute '" + attribute.name +
                     "' with weights of its convolution");
    stages[stage].attributes.set(std::string(name), attribute.value);
  }
  return Status::ok();
}

/// The extent of a convolution's result; 0 where there is none, or where
/// readConv() refuses the numbers that it is of.
static int64_t outputExtent(const StageCall &stage, const TensorType &x,
                            size_t dim) {
  auto valueOf = [&](const char *name, size_t index, int64_t otherwise) {
    std::span<const int64_t> held = stage.attributes.getInts(name);
    return index < held.size() ? held[index] : otherwise;
  };
  const int64_t kernel = stage.inputs[1].shape[2 + dim];
  const int64_t stride = valueOf("strides", dim, 1);
  int64_t reach = 0, padded = 0;
  if (stride < 1 ||
      __builtin_mul_overflow(kernel - 1, valueOf("dilations", dim, 1),
                             &reach) ||
      __builtin_add_overflow(valueOf("pads", dim, 0),
                             valueOf("pads", 2 + dim, 0), &padded) ||
      __builtin_add_overflow(padded, x.shape[2 + dim], &padded) ||
      padded <= reach)
    return 0;
  return (padded - reach - 1) / stride + 1;
}

/// What a stage of x is packed as: depthwise weights, and those of before,
/// have one form. Artifacts of before have floats of plain inputs in any case.
static void setForm(const ChainShape &shape, size_t index, bool isBlocked,
                    Attributes &attributes) {
  const bool isRounded =
      shape.isRounded && index != Depthwise && (isBlocked || shape.form == 2);
  attributes.set("packed_w", isRounded ? shape.form : int64_t{1});
  if (isRounded)
    attributes.set(std::string(kBf16Parts), int64_t{1});
}

/// Reads a stage of x, all of whose results but that of the last are blocked.
static Status readStage(const KernelCall &call, size_t index, bool isEnd,
                        StageCall &stage, const TensorType &x,
                        ChainShape &shape) {
  const size_t operand = weightsOf(index);
  stage.inputs[0] = x;
  stage.inputs[1] = *inputOf(call, operand);
  const TensorType &w = stage.inputs[1];
  const char *role = index == Front       ? "weights in front"
                     : index == Depthwise ? "depthwise weights"
                                          : "weights behind";
  DLC_RETURN_IF_ERROR(checkTensor(w, DLC_F32, role, 4, 4));
  shape.hasBias[index] = inputOf(call, operand + 1);
  if (shape.hasBias[index])
    stage.inputs[2] = *inputOf(call, operand + 1);
  int64_t block = kChannelBlock;
  if (isEnd) {
    stage.output = call.outputs[0];
    block = call.attributes.getInt("channel_block", 0);
    shape.hasResidual = inputOf(call, kResidual);
    if (shape.hasResidual)
      stage.inputs[3] = *inputOf(call, kResidual);
  } else {
    if (w.shape[0] % kChannelBlock != 0)
      return invalid("expected blocks of 16 channels between stages, got " +
                     toString(w));
    stage.output = {DLC_F32,
                    {x.shape[0], w.shape[0] / kChannelBlock,
                     outputExtent(stage, x, 0), outputExtent(stage, x, 1),
                     kChannelBlock}};
  }
  if (block != 0)
    stage.attributes.set("channel_block", block);
  if (index == Depthwise)
    stage.attributes.set("group", w.shape[0]);
  setForm(shape, index, x.rank() > w.rank(), stage.attributes);
  DLC_RETURN_IF_ERROR(readConv(stage.view(), shape.stages[index]));
  shape.stages[index].packed = shape.form != 0;
  return Status::ok();
}

/// That x and y are floats, or bfloat16 where a stage that is rounded reads and
/// writes them.
static Status checkEnds(const KernelCall &call, const ChainShape &shape) {
  auto check = [&](const TensorType &type, size_t stage, const char *role) {
    const bool isShort =
        type.type == DLC_BF16 && shape.form == 2 && shape.hasStage[stage];
    return checkTensor(type, isShort ? DLC_BF16 : DLC_F32, role, 4, 5);
  };
  DLC_RETURN_IF_ERROR(check(call.inputs[0], Front, "input 0"));
  return check(call.outputs[0], Last, "the output");
}

static Status readForm(const KernelCall &call, ChainShape &shape) {
  int64_t parts = 0;
  DLC_RETURN_IF_ERROR(readParts(call.attributes, parts));
  if (parts > 1)
    return invalid("expected attribute 'bf16_parts' to be 0 or 1, got " +
                   std::to_string(parts));
  shape.isRounded = parts == 1;
  shape.form = call.attributes.getInt("packed_w", 0);
  const int64_t most = shape.isRounded ? 2 : 1;
  if (shape.form < 0 || shape.form > most)
    return invalid("expected attribute 'packed_w' to be 0 to " +
                   std::to_string(most) + ", got " +
                   std::to_string(shape.form));
  if (shape.isRounded && shape.form == 0)
    return invalid("expected attribute 'packed_w' to be 1 or 2 where "
                   "'bf16_parts' is 1");
  return Status::ok();
}

/// What the stages demand of one another.
static Status checkStages(const ChainShape &shape) {
  const ConvShape &depthwise = shape.depthwise();
  if (!depthwise.blockedX || !depthwise.blockedY || !depthwise.isDepthwise())
    return invalid("expected a depthwise convolution from blocked channels to "
                   "blocked channels");
  const ConvShape &front = shape.stages[Front], &last = shape.stages[Last];
  if (shape.hasStage[Front] && (front.group != 1 || !front.isBlocked()))
    return invalid("expected one group in front");
  const bool isPointwise = last.taps() == 1 && last.stride[0] == 1 &&
                           last.stride[1] == 1 && last.padBegin[0] == 0 &&
                           last.padBegin[1] == 0 && last.in[0] == last.out[0] &&
                           last.in[1] == last.out[1];
  if (shape.hasStage[Last] && !isPointwise)
    return invalid("expected windows of one pixel behind");
  return Status::ok();
}

static Status readChain(const KernelCall &call, ChainShape &shape) {
  shape = {};
  if (call.inputs.size() > kMostInputs || !inputOf(call, 0) ||
      !inputOf(call, weightsOf(Depthwise)) ||
      (call.outputs.size() != 1 && call.outputs.size() != 2))
    return invalid("expected an input, depthwise weights and one output");
  shape.hasStage[Depthwise] = true;
  for (size_t stage : {Front, Last}) {
    shape.hasStage[stage] = inputOf(call, weightsOf(stage));
    if (!shape.hasStage[stage] && inputOf(call, weightsOf(stage) + 1))
      return invalid("expected a bias with weights of its convolution");
  }
  if (!shape.hasStage[Front] && !shape.hasStage[Last])
    return invalid("expected another convolution beside the depthwise one");
  DLC_RETURN_IF_ERROR(readForm(call, shape));
  DLC_RETURN_IF_ERROR(checkEnds(call, shape));
  StageCall stages[kStages];
  DLC_RETURN_IF_ERROR(splitAttributes(call, stages));
  TensorType x = call.inputs[0];
  for (size_t stage = 0; stage != kStages; ++stage) {
    if (!shape.hasStage[stage])
      continue;
    const bool isEnd =
        stage == (shape.hasStage[Last] ? size_t{Last} : size_t{Depthwise});
    DLC_RETURN_IF_ERROR(readStage(call, stage, isEnd, stages[stage], x, shape));
    x = stages[stage].output;
  }
  return checkStages(shape);
}

bool cpu::isDepthwiseChainSupported(const KernelCall &call, std::string &why) {
  ChainShape shape;
  Status status = readChain(call, shape);
  why = status.message();
  return status.isOk();
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

namespace {

/// How a chain is computed. A workspace is slots and, in front of them, a mark
/// for each tile; and behind, packed weights that come unpacked.
struct ChainPlan {
  int64_t rows, strips;      ///< Output rows of a strip; strips of an image.
  int64_t allStrips;         ///< Of all images.
  int64_t tileStrips, tiles; ///< Strips of a tile, the last one's may be fewer.
  int64_t ringRows;          ///< In a slot, of the front convolution's result.
  int64_t ringFloats;        ///< What they take; 0 without one.
  int64_t slotFloats;
  int64_t markFloats;
  int64_t packedFloats[kStages];

  int64_t workspaceFloats() const {
    int64_t floats = markFloats + tiles * slotFloats;
    for (int64_t packed : packedFloats)
      floats += packed;
    return floats;
  }
};

} // namespace

/// A whole number of cache lines.
static int64_t roundToLine(int64_t floats) {
  constexpr int64_t line = 16;
  return roundUp(floats, line);
}

/// Of a batch there are fewer than twice as many.
static constexpr int64_t kWantedTiles = 16;

/// Aims: a strip's rows and weights in L2; enough pixels to use weights again;
/// tiles that balance 16 workers.
static ChainPlan planChain(const ChainShape &shape) {
  constexpr int64_t stripBytes = 384 * 1024, fewestPixels = 24;
  const ConvShape &depthwise = shape.depthwise();
  const int64_t outH = depthwise.out[0], channels = depthwise.outChannels;
  const int64_t inRow = channels * depthwise.in[1];
  const int64_t outRow = channels * depthwise.out[1];
  ChainPlan plan = {};
  auto ringRowsOf = [&](int64_t rows) {
    // Bounded: taps outside of the image need no row.
    const int64_t reach =
        saturatedProduct({depthwise.kernel[0] - 1, depthwise.dilation[0]});
    const int64_t steps = saturatedProduct({rows - 1, depthwise.stride[0]});
    return std::min(depthwise.in[0], std::min(reach, depthwise.in[0]) +
                                         std::min(steps, depthwise.in[0]) + 1);
  };
  auto ringFloatsOf = [&](int64_t rows) {
    return shape.hasStage[Front] ? roundToLine(ringRowsOf(rows) * inRow) : 0;
  };
  auto slotFloatsOf = [&](int64_t rows) {
    return ringFloatsOf(rows) +
           (shape.hasStage[Last] ? roundToLine(rows * outRow) : 0);
  };
  const int64_t wanted = std::max<int64_t>(
      ceilDiv(outH * depthwise.batch, kWantedTiles),
      ceilDiv(fewestPixels, std::max<int64_t>(depthwise.out[1], 1)));
  plan.rows = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(outH, 1));
  while (plan.rows > 1 && slotFloatsOf(plan.rows) * kFloat > stripBytes)
    --plan.rows;
  plan.strips = ceilDiv(outH, plan.rows);
  plan.rows =
      std::max<int64_t>(ceilDiv(outH, std::max<int64_t>(plan.strips, 1)), 1);
  plan.strips = ceilDiv(outH, plan.rows);
  if (depthwise.out[1] > 0)
    plan.allStrips = depthwise.batch * plan.strips;
  plan.tileStrips = std::max<int64_t>(plan.allStrips / kWantedTiles, 1);
  plan.tiles = ceilDiv(plan.allStrips, plan.tileStrips);
  plan.ringRows = ringRowsOf(plan.rows);
  plan.ringFloats = ringFloatsOf(plan.rows);
  plan.slotFloats = slotFloatsOf(plan.rows);
  plan.markFloats = roundToLine(plan.tiles);
  for (size_t stage = 0; stage != kStages; ++stage)
    if (shape.hasStage[stage] && !shape.stages[stage].packed)
      plan.packedFloats[stage] = roundToLine(static_cast<int64_t>(
          packedBlockedBytes(shape.stages[stage]) / sizeof(float)));
  return plan;
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

namespace {

/// What both links of the chain of kernels know.
struct ChainCall {
  ChainCall(const KernelCall &call, const ChainShape &shape)
      : shape(shape), plan(planChain(shape)), inputs(call.inputs.size()) {}

  float *workspace(void *const *given) const {
    return static_cast<float *>(given[inputs + 1]);
  }
  float *packedWeights(void *const *given, size_t stage) const {
    float *at =
        workspace(given) + plan.markFloats + plan.tiles * plan.slotFloats;
    for (size_t i = 0; i != stage; ++i)
      at += plan.packedFloats[i];
    return at;
  }
  void *weights(void *const *given, size_t stage) const {
    return plan.packedFloats[stage] ? packedWeights(given, stage)
                                    : given[weightsOf(stage)];
  }
  void *bias(void *const *given, size_t stage) const {
    return shape.hasBias[stage] ? given[weightsOf(stage) + 1] : nullptr;
  }

  const ChainShape shape;
  const ChainPlan plan;
  const size_t inputs;
};

/// Computes strips, one after the other.
class PreparedChain final : public PreparedKernel {
public:
  PreparedChain(const KernelCall &call, const ChainShape &shape,
                const KernelSet &kernels, const PairKernels &pairs);

  int64_t tiles() const override { return own.plan.tiles; }
  void run(void *const *given, int64_t begin, int64_t end) const override;

private:
  /// The rows [begin, end) of the front convolution of an image, to a ring.
  void computeFront(void *const *given, int64_t image, int64_t begin,
                    int64_t end, float *ring) const;
  void computeRows(void *const *given, int64_t image, int64_t strip,
                   const float *ring, float *rows) const;
  /// Rows are of bfloat16 where the last stage rounds them.
  void computeLast(void *const *given, int64_t image, int64_t strip,
                   const float *rows) const;
  /// The rows under strip `index` of an image: of the first of them, or of the
  /// one behind the last.
  int64_t inBegin(int64_t index) const;
  int64_t inEnd(int64_t index) const;
  int64_t outEnd(int64_t strip) const {
    return std::min((strip + 1) * own.plan.rows, depthwise.outH);
  }
  int64_t sizeOfX() const;
  int64_t sizeOfY() const;

  const ChainCall own;
  /// The plan of a stage that is not depthwise, and what runs it.
  BlockedPlan planStage(const ChainShape &shape, size_t stage,
                        const PairKernels &pairs);

  const KernelSet &kernels;
  BlockedPlan front = {}, last = {};
  BlockedDepthwisePlan depthwise = {};
  int64_t mostPixels[kStages] = {}; ///< Of a tile of a stage.
  decltype(KernelSet::blockedConv) functions[kStages] = {};
  decltype(KernelSet::blockedDepthwise) depthwiseRows;
};

/// Clears the marks, and packs weights that come unpacked.
class StartChain final : public PreparedKernel {
public:
  StartChain(const KernelCall &call, const ChainShape &shape,
             std::unique_ptr<PreparedKernel> following)
      : own(call, shape), following(std::move(following)) {}

  int64_t tiles() const override { return own.plan.tiles ? 1 : 0; }

  void run(void *const *given, int64_t, int64_t) const override {
    std::fill_n(own.workspace(given), own.plan.markFloats, 0.0f);
    for (size_t stage = 0; stage != kStages; ++stage)
      if (own.plan.packedFloats[stage])
        packBlocked(own.shape.stages[stage],
                    static_cast<const float *>(given[weightsOf(stage)]),
                    own.packedWeights(given, stage));
  }

  const PreparedKernel *next() const override { return following.get(); }

private:
  const ChainCall own;
  const std::unique_ptr<PreparedKernel> following;
};

} // namespace

/// Marks of tiles, zero at first: the tile has begun with a slot of its own, or
/// 1 + the slot that holds what it needs.
using Mark = std::atomic_ref<uint32_t>;
static constexpr uint32_t kBegun = UINT32_MAX;

/// The first slot that nobody holds: so few are ever touched, and those stay in
/// caches. The mark of the first tile, which no other leaves a slot to, has a
/// bit for each that is held, by a tile or for one, and so never by all.
static int64_t takeSlot(uint32_t *marks) {
  static_assert(2 * kWantedTiles <= 32); // There are fewer: planChain().
  Mark held(marks[0]);
  uint32_t seen = held.load(std::memory_order_relaxed), first;
  // Acquire: who held it before is done with it.
  do
    first = ~seen & (seen + 1);
  while (!held.compare_exchange_weak(seen, seen | first,
                                     std::memory_order_acquire,
                                     std::memory_order_relaxed));
  return std::countr_zero(first);
}

static void giveBack(uint32_t *marks, int64_t slot) {
  Mark(marks[0]).fetch_and(~(uint32_t(1) << slot), std::memory_order_release);
}

/// Whether the last stage reads rows of bfloat16, whose last block of channels
/// may be half of one, but on tiles. They have room where floats would be, as
/// the ring has, whose blocks may be halves everywhere.
static bool fitsShortRows(const ChainShape &shape, const PairKernels &pairs) {
  const int64_t channels = shape.depthwise().outChannels;
  const bool areTiles = pairs.roundPixels != nullptr;
  return channels % (2 * kChannelBlock) == 0 ||
         (!areTiles && channels > kChannelBlock);
}

PreparedChain::PreparedChain(const KernelCall &call, const ChainShape &shape,
                             const KernelSet &kernels, const PairKernels &pairs)
    : own(call, shape), kernels(kernels),
      depthwiseRows(kernels.blockedDepthwise) {
  const ChainPlan &plan = own.plan;
  depthwise = planBlockedDepthwise(shape.depthwise());
  depthwise.rowBlock = plan.rows;
  depthwise.rowBlocks = plan.strips;
  if (shape.hasStage[Front]) {
    front = planStage(shape, Front, pairs);
    depthwise.inRows = plan.ringRows;
    front.outPlane = plan.ringRows * front.outW;
    if (shape.stages[Front].bf16Parts == 1) {
      front.isShortY = depthwise.isShortX = true;
      depthwiseRows = pairs.blockedDepthwise;
    }
  }
  if (shape.hasStage[Last]) {
    last = planStage(shape, Last, pairs);
    depthwise.outRows = plan.rows;
    last.inH = plan.rows;
    if (shape.stages[Last].bf16Parts == 1 && fitsShortRows(shape, pairs)) {
      depthwise.isShortY = last.isShortX = last.hasPairedBlocks = true;
      depthwiseRows = pairs.blockedDepthwise;
    }
  }
  for (BlockedPlan *stage : {&front, &last})
    stage->batch = 1;
  depthwise.batch = 1;
}

BlockedPlan PreparedChain::planStage(const ChainShape &shape, size_t stage,
                                     const PairKernels &pairs) {
  const ConvShape &conv = shape.stages[stage];
  const bool isRounded = conv.bf16Parts == 1;
  functions[stage] = kernels.blockedConv;
  if (isRounded)
    functions[stage] = pairs.blockedConv;
  mostPixels[stage] = isRounded       ? mostPixelsOfSplit(conv)
                      : conv.blockedX ? mostPixelsOfTile(conv)
                                      : std::max<int64_t>(conv.out[1], 1);
  return isRounded ? planSplit(conv) : planBlocked(conv);
}

/// Element `at` of an operand or result, of which some are bfloat16.
static void *elementOf(void *first, int64_t at, bool isShort) {
  const int64_t size = isShort ? sizeof(uint16_t) : sizeof(float);
  return first ? static_cast<char *>(first) + at * size : nullptr;
}

int64_t PreparedChain::inBegin(int64_t index) const {
  const int64_t row =
      index * own.plan.rows * depthwise.strideH - depthwise.padTop;
  return std::clamp<int64_t>(row, 0, depthwise.inH);
}

int64_t PreparedChain::inEnd(int64_t index) const {
  const int64_t row = (outEnd(index) - 1) * depthwise.strideH -
                      depthwise.padTop +
                      (depthwise.kernelH - 1) * depthwise.dilationH + 1;
  return std::clamp<int64_t>(row, inBegin(index), depthwise.inH);
}

int64_t PreparedChain::sizeOfX() const {
  const ConvShape &first =
      own.shape.stages[own.shape.hasStage[Front] ? Front : Depthwise];
  return first.inPlaces() * first.in[0] * first.in[1];
}

int64_t PreparedChain::sizeOfY() const {
  const ConvShape &end =
      own.shape.stages[own.shape.hasStage[Last] ? Last : Depthwise];
  return end.outPlaces() * end.pixels();
}

void PreparedChain::computeFront(void *const *given, int64_t image,
                                 int64_t begin, int64_t end,
                                 float *ring) const {
  const int64_t ringRows = own.plan.ringRows;
  while (begin < end) {
    const int64_t at = begin % ringRows;
    const int64_t rows = std::min(end - begin, ringRows - at);
    BlockedPlan plan = front;
    plan.padTop -= begin * plan.strideH;
    plan.outH = rows;
    plan.pixels = rows * plan.outW;
    // Of plain rows one at a time, or parts of them.
    plan.pixelBlocks = plan.isPlainX
                           ? rows * ceilDiv(plan.outW, mostPixels[Front])
                           : ceilDiv(plan.pixels, mostPixels[Front]);
    void *arguments[] = {elementOf(given[0], image * sizeOfX(), plan.isShortX),
                         own.weights(given, Front), own.bias(given, Front),
                         nullptr, ring + at * plan.outW * kChannelBlock};
    functions[Front](plan, arguments, 0, plan.pixelBlocks * plan.groupBlocks);
    begin += rows;
  }
}

void PreparedChain::computeRows(void *const *given, int64_t image,
                                int64_t strip, const float *ring,
                                float *rows) const {
  BlockedDepthwisePlan plan = depthwise;
  const int64_t offset = image * sizeOfY();
  const bool isLast = !own.shape.hasStage[Last];
  auto *residual = static_cast<float *>(
      isLast && own.shape.hasResidual ? given[kResidual] : nullptr);
  const float *x = own.shape.hasStage[Front]
                       ? ring
                       : static_cast<float *>(given[0]) + image * sizeOfX();
  if (!isLast)
    plan.outFirst = strip * own.plan.rows;
  void *arguments[] = {
      const_cast<float *>(x), own.weights(given, Depthwise),
      own.bias(given, Depthwise), residual ? residual + offset : nullptr,
      isLast ? static_cast<float *>(given[own.inputs]) + offset : rows};
  depthwiseRows(plan, arguments, strip * plan.blocks,
                (strip + 1) * plan.blocks);
}

void PreparedChain::computeLast(void *const *given, int64_t image,
                                int64_t strip, const float *rows) const {
  BlockedPlan plan = last;
  const int64_t begin = strip * own.plan.rows;
  plan.outH = outEnd(strip) - begin;
  plan.pixels = plan.outH * plan.outW;
  plan.pixelBlocks = ceilDiv(plan.pixels, mostPixels[Last]);
  auto at = [&](void *first, bool isShort) {
    const int64_t block = plan.isPlainY ? 1 : kChannelBlock * (1 + isShort);
    return elementOf(first, image * sizeOfY() + begin * plan.outW * block,
                     isShort);
  };
  void *residual = own.shape.hasResidual ? given[kResidual] : nullptr;
  void *arguments[] = {const_cast<float *>(rows), own.weights(given, Last),
                       own.bias(given, Last),
                       at(residual, plan.isShortResidual),
                       at(given[own.inputs], plan.isShortY)};
  functions[Last](plan, arguments, 0, plan.pixelBlocks * plan.groupBlocks);
}

void PreparedChain::run(void *const *given, int64_t begin, int64_t end) const {
  const ChainPlan &plan = own.plan;
  if (begin == end) // Of no images, there are no marks.
    return;
  auto *marks = reinterpret_cast<uint32_t *>(own.workspace(given));
  // Acquire: what the one who left the slot has written; release: the same.
  const uint32_t found =
      begin ? Mark(marks[begin]).exchange(kBegun, std::memory_order_acq_rel)
            : 0;
  const int64_t slot = found ? found - 1 : takeSlot(marks);
  bool hasRows = found != 0; // Those of the strip in front of the tile.
  float *ring = own.workspace(given) + plan.markFloats + slot * plan.slotFloats;
  float *rows = ring + plan.ringFloats;
  const int64_t behind = std::min(end * plan.tileStrips, plan.allStrips);
  for (int64_t i = begin * plan.tileStrips; i < behind; ++i) {
    const int64_t image = i / plan.strips, strip = i % plan.strips;
    if (own.shape.hasStage[Front]) {
      int64_t from = inBegin(strip);
      if (hasRows && strip > 0)
        from = std::max(from, inEnd(strip - 1));
      computeFront(given, image, from, inEnd(strip), ring);
      hasRows = true;
    }
    computeRows(given, image, strip, ring, rows);
    if (own.shape.hasStage[Last])
      computeLast(given, image, strip, rows);
  }
  if (end == plan.tiles ||
      Mark(marks[end])
              .exchange(static_cast<uint32_t>(slot + 1),
                        std::memory_order_acq_rel) == kBegun)
    giveBack(marks, slot);
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

Status cpu::prepareDepthwiseChain(const KernelCall &call, Isa isa,
                                  std::unique_ptr<PreparedKernel> &prepared) {
  const KernelSet *kernels = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, kernels));
  const PairKernels *pairs = nullptr, *tiles = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, pairs));
  DLC_RETURN_IF_ERROR(findPairTiles(isa, tiles));
  if (tiles)
    pairs = tiles;
  ChainShape shape;
  DLC_RETURN_IF_ERROR(readChain(call, shape));
  DLC_RETURN_IF_ERROR(checkWorkspace(call, depthwiseChainWorkspaceBytes(call)));
  prepared = std::make_unique<StartChain>(
      call, shape,
      std::make_unique<PreparedChain>(call, shape, *kernels, *pairs));
  return Status::ok();
}

/// The stage whose weights an operand is; nullopt for others.
static std::optional<size_t> stageOf(const ChainShape &shape, size_t operand) {
  for (size_t stage = 0; stage != kStages; ++stage)
    if (shape.hasStage[stage] && operand == weightsOf(stage))
      return stage;
  return std::nullopt;
}

size_t cpu::packedDepthwiseChainBytes(const KernelCall &call, size_t operand) {
  ChainShape shape;
  if (!readChain(call, shape).isOk())
    return 0;
  auto stage = stageOf(shape, operand);
  return stage ? packedBlockedBytes(shape.stages[*stage]) : 0;
}

void cpu::packDepthwiseChain(const KernelCall &call, size_t operand,
                             const void *source, void *target) {
  ChainShape shape;
  if (!readChain(call, shape).isOk())
    return;
  if (auto stage = stageOf(shape, operand))
    packBlocked(shape.stages[*stage], static_cast<const float *>(source),
                static_cast<float *>(target));
}

size_t cpu::depthwiseChainWorkspaceBytes(const KernelCall &call) {
  ChainShape shape;
  if (!readChain(call, shape).isOk())
    return 0;
  const int64_t floats = planChain(shape).workspaceFloats();
  return static_cast<size_t>(floats * kFloat);
}

static uint64_t sizeOfInput(const ConvShape &shape) {
  return static_cast<uint64_t>(shape.batch) * shape.inChannels * shape.in[0] *
         shape.in[1];
}

static uint64_t sizeOfOutput(const ConvShape &shape) {
  return static_cast<uint64_t>(shape.batch) * shape.outChannels *
         shape.pixels();
}

/// The stages' own, but for what lies between them. What processors have in
/// their own caches anyhow moves no faster, and threads compute rows again
/// where they meet: then there is nothing to gain. Else, by measurement, it
/// moves several times as fast.
KernelCost cpu::depthwiseChainCost(const KernelCall &call) {
  constexpr uint64_t flopsOfByte = 10, timesFaster = 4, cached = 1 << 20;
  ChainShape shape;
  if (!readChain(call, shape).isOk())
    return {};
  KernelCost cost;
  cost.bytes = bytesOf(call);
  for (size_t stage = 0; stage != kStages; ++stage) {
    if (!shape.hasStage[stage])
      continue;
    const KernelCost alone = directConvCost(shape.stages[stage], 0);
    cost.flops += alone.flops;
    if (shape.stages[stage].bf16Parts == 1)
      cost.saved += alone.flops / 2;
    cost.overhead += alone.overhead;
  }
  const uint64_t in = kFloat * sizeOfInput(shape.depthwise());
  const uint64_t out = kFloat * sizeOfOutput(shape.depthwise());
  const uint64_t between =
      (shape.hasStage[Front] ? in : 0) + (shape.hasStage[Last] ? out : 0);
  cost.overhead +=
      flopsOfByte * (in + out) / (between > cached ? timesFaster : 1);
  return cost;
}
