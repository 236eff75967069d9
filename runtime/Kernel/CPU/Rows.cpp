// SPDX-License-Identifier: Apache-2.0

#include "Rows.h"

#include "../Reference/Window.h"
#include "Check.h"
#include "Isa.h"
#include "PreparedPlan.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static Status checkTensors(const KernelCall &call, int64_t minRank,
                           int64_t maxRank) {
  if (call.inputs.size() != 1 || call.outputs.size() != 1)
    return makeError(StatusCode::InvalidArgument,
                     "expected one input and one output, got %zu and %zu",
                     call.inputs.size(), call.outputs.size());
  DLC_RETURN_IF_ERROR(
      checkTensor(call.inputs[0], DLC_F32, "x", minRank, maxRank));
  DLC_RETURN_IF_ERROR(
      checkTensor(call.outputs[0], DLC_F32, "y", minRank, maxRank));
  if (call.inputs[0].rank() != call.outputs[0].rank())
    return makeError(StatusCode::InvalidArgument,
                     "expected as many dimensions, got %s and %s",
                     toString(call.inputs[0]).c_str(),
                     toString(call.outputs[0]).c_str());
  return Status::ok();
}

/// Elements of a tile, about.
static constexpr int64_t wantedElements = 4096;

/// Divides rows into tiles; those beside each other into whole vectors, of
/// `line` elements.
static void planTiles(RowsPlan &plan, int64_t line) {
  const int64_t wanted =
      std::max<int64_t>(1, wantedElements / std::max<int64_t>(plan.length, 1));
  plan.rowBlock = wanted;
  plan.columnBlock = std::max(line, wanted / line * line);
  plan.columnBlocks = ceilDiv(plan.inner, plan.columnBlock);
}

static int64_t tilesOf(const RowsPlan &plan) {
  return plan.inner > 1 ? plan.rows * plan.columnBlocks
                        : ceilDiv(plan.rows, plan.rowBlock);
}

static int64_t tilesOf(const PoolPlan &plan) {
  return ceilDiv(plan.planes, plan.planeBlock) * plan.rowBlocks;
}

template <typename Plan>
using MakePlan = Status (*)(const KernelCall &call, Plan &plan);

template <typename Plan, MakePlan<Plan> makePlan>
static bool isPlanned(const KernelCall &call, std::string &why) {
  Plan plan = {};
  Status status = makePlan(call, plan);
  why = status.message();
  return status.isOk();
}

/// Readies the call for the member `run` of RowKernels.
template <typename Plan, MakePlan<Plan> makePlan, auto run>
static Status prepareRows(const KernelCall &call, Isa isa,
                          std::unique_ptr<PreparedKernel> &prepared) {
  const RowKernels *kernels = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, kernels));
  Plan plan = {};
  DLC_RETURN_IF_ERROR(makePlan(call, plan));
  prepared =
      std::make_unique<PreparedPlan<Plan>>(plan, tilesOf(plan), kernels->*run);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// cpu.pool
//===----------------------------------------------------------------------===//

static Status readExtent(const KernelCall &call, const ref::Window &window,
                         int64_t d, PoolExtent &extent) {
  extent = {call.inputs[0].shape[d + 2],
            call.outputs[0].shape[d + 2],
            window.kernel[d],
            window.strides[d],
            window.dilations[d],
            window.padBegin[d],
            window.padEnd[d],
            false};
  // Whatever the windows are, no position of an element overflows.
  constexpr int64_t most = int64_t(1) << 50;
  if (saturatedProduct({extent.out, extent.stride}) > most ||
      saturatedProduct({extent.kernel, extent.dilation}) > most)
    return makeError(StatusCode::InvalidArgument,
                     "expected windows that reach less far");
  return Status::ok();
}

static void planBlocks(PoolPlan &plan) {
  const PoolExtent &width = plan.width, &height = plan.height;
  auto wanted = [&](std::initializer_list<int64_t> extents, int64_t most) {
    return std::clamp<int64_t>(
        wantedElements / std::max<int64_t>(saturatedProduct(extents), 1), 1,
        std::max<int64_t>(most, 1));
  };
  plan.rowBlock = wanted({width.out, plan.inner}, height.out);
  plan.rowBlocks = ceilDiv(height.out, plan.rowBlock);
  plan.planeBlock = 1;
  if (plan.rowBlocks == 1)
    plan.planeBlock =
        std::min(wanted({height.in, width.in, plan.inner}, plan.planes),
                 wanted({height.out, width.out, plan.inner}, plan.planes));
}

/// How windows that follow each other in rows are combined.
static void planColumns(PoolPlan &plan) {
  PoolExtent &width = plan.width, &height = plan.height;
  auto isAll = [](const PoolExtent &extent) {
    return extent.out == 1 && extent.kernel == extent.in && extent.begin == 0 &&
           (extent.dilation == 1 || extent.kernel == 1);
  };
  plan.isWhole = plan.inner == 1 && isAll(width) && isAll(height);
  const int64_t span = (width.kernel - 1) * width.dilation + 1;
  const int64_t most = PoolPlan::mostPitch / plan.inner;
  if (span > most || width.stride > most || width.out == 0)
    return;
  plan.columns = std::min(width.out, (most - span) / width.stride + 1);
  plan.pitch = ceilDiv((plan.columns - 1) * width.stride + span, width.stride) *
               width.stride;
  plan.isOneRow = height.kernel == 1 && height.stride == 1 &&
                  height.begin == 0 && height.out <= height.in &&
                  width.begin == 0 && plan.columns == width.out &&
                  plan.pitch == width.in &&
                  plan.pitch == width.out * width.stride;
  width.isTwice = width.stride == 1 && width.kernel >= 4;
  const int64_t rowSize = plan.pitch * plan.inner;
  const int64_t shared = height.kernel - 1;
  height.isTwice = height.stride == 1 && height.kernel >= 8 &&
                   height.dilation == 1 &&
                   shared < PoolPlan::scratch / rowSize / 2;
  const int64_t rows = plan.rowBlock + (height.isTwice ? shared : 0);
  plan.planesAtOnce = std::clamp<int64_t>(PoolPlan::scratch / rowSize / rows, 1,
                                          plan.planeBlock);
}

static Status planPool(const KernelCall &call, PoolPlan &plan) {
  DLC_RETURN_IF_ERROR(checkAttributes(
      call.attributes, {{"count_include_pad", AttributeKind::Int},
                        {"dilations", AttributeKind::Ints},
                        {"kernel_shape", AttributeKind::Ints},
                        {"mean", AttributeKind::Int},
                        {"pads", AttributeKind::Ints},
                        {"strides", AttributeKind::Ints}}));
  DLC_RETURN_IF_ERROR(checkTensors(call, 3, 5));
  const TensorType &x = call.inputs[0], &y = call.outputs[0];
  if (x.shape[0] != y.shape[0] || x.shape[1] != y.shape[1])
    return makeError(StatusCode::InvalidArgument,
                     "expected as many images and channels, got %s and %s",
                     toString(x).c_str(), toString(y).c_str());
  bool isMean = false;
  DLC_RETURN_IF_ERROR(readFlag(call.attributes, "mean", isMean));
  DLC_RETURN_IF_ERROR(
      readFlag(call.attributes, "count_include_pad", plan.countsPadding));
  plan.isMax = !isMean;
  plan.planes = x.shape[0] * x.shape[1];
  int64_t rank = x.rank() - 2;
  ref::Window window;
  DLC_RETURN_IF_ERROR(ref::readWindow(call.attributes, rank, window));
  DLC_RETURN_IF_ERROR(ref::readExtents(call.attributes, "kernel_shape", rank, 1,
                                       1, window.kernel));
  plan.inner = 1;
  if (rank == 3) {
    if (window.kernel[2] != 1 || window.strides[2] != 1 ||
        window.padBegin[2] != 0 || x.shape[4] != y.shape[4] || x.shape[4] == 0)
      return makeError(StatusCode::InvalidArgument,
                       "expected windows of one element in dimension 4, got "
                       "%" PRId64 " in steps of %" PRId64
                       ", padded by %" PRId64,
                       window.kernel[2], window.strides[2], window.padBegin[2]);
    plan.inner = x.shape[4];
    rank = 2;
  }
  plan.height = {1, 1, 1, 1, 1, 0, 0, false};
  if (rank == 2)
    DLC_RETURN_IF_ERROR(readExtent(call, window, 0, plan.height));
  DLC_RETURN_IF_ERROR(readExtent(call, window, rank - 1, plan.width));
  planBlocks(plan);
  planColumns(plan);
  return Status::ok();
}

bool cpu::isPoolSupported(const KernelCall &call, std::string &why) {
  return isPlanned<PoolPlan, planPool>(call, why);
}

Status cpu::preparePool(const KernelCall &call, Isa isa,
                        std::unique_ptr<PreparedKernel> &prepared) {
  return prepareRows<PoolPlan, planPool, &RowKernels::pool>(call, isa,
                                                            prepared);
}

bool cpu::poolFromOperation(std::string_view operation, const KernelCall &call,
                            ConstantOperands, Attributes &attributes) {
  const Attributes &given = call.attributes;
  const auto rank = static_cast<int64_t>(given.getInts("kernel_shape").size());
  ref::Window window;
  if (call.inputs.empty() || call.inputs[0].type != DLC_F32 ||
      rank < 1 || call.inputs[0].rank() != rank + 2 ||
      !ref::readWindow(given, rank, window).isOk() ||
      !ref::readExtents(given, "kernel_shape", rank, 1, 1, window.kernel)
           .isOk() ||
      !setWindow(call.inputs[0], window, given.getInt("ceil_mode", 0) != 0,
                 attributes))
    return false;
  attributes.set("kernel_shape",
                 std::vector<int64_t>(window.kernel.begin(),
                                      window.kernel.begin() + rank));
  attributes.set("mean", int64_t(operation == "avg_pool"));
  attributes.set("count_include_pad",
                 int64_t(given.getInt("count_include_pad", 0) != 0));
  return true;
}

KernelCost cpu::poolCost(const KernelCall &call) {
  PoolPlan plan = {};
  if (!planPool(call, plan).isOk())
    return {};
  const auto results =
      static_cast<uint64_t>(elementCount(call.outputs[0].shape).value_or(0));
  return {results * static_cast<uint64_t>(plan.height.kernel) *
              static_cast<uint64_t>(plan.width.kernel),
          bytesOf(call)};
}

//===----------------------------------------------------------------------===//
// cpu.softmax
//===----------------------------------------------------------------------===//

static Status planSoftmax(const KernelCall &call, SoftmaxPlan &plan) {
  DLC_RETURN_IF_ERROR(
      checkAttributes(call.attributes, {{"axis", AttributeKind::Int},
                                        {"log", AttributeKind::Int}}));
  DLC_RETURN_IF_ERROR(checkTensors(call, 1, DLC_MAX_RANK));
  const std::vector<int64_t> &shape = call.inputs[0].shape;
  if (shape != call.outputs[0].shape)
    return makeError(
        StatusCode::InvalidArgument, "expected one shape, got %s and %s",
        toString(call.inputs[0]).c_str(), toString(call.outputs[0]).c_str());
  DLC_RETURN_IF_ERROR(readFlag(call.attributes, "log", plan.isLog));
  const int64_t axis = call.attributes.getInt("axis", -1);
  const int64_t rank = call.inputs[0].rank();
  if (axis < -1 || axis >= rank)
    return makeError(StatusCode::InvalidArgument,
                     "expected an axis of %s, got %" PRId64,
                     toString(call.inputs[0]).c_str(), axis);
  const int64_t along = axis < 0 ? rank - 1 : axis;
  plan.length = shape[along];
  plan.rows = plan.inner = 1;
  for (int64_t d = 0; d < rank; ++d)
    if (d != along)
      (d < along ? plan.rows : plan.inner) *= shape[d];
  planTiles(plan, /*line=*/16);
  return Status::ok();
}

bool cpu::isSoftmaxSupported(const KernelCall &call, std::string &why) {
  return isPlanned<SoftmaxPlan, planSoftmax>(call, why);
}

Status cpu::prepareSoftmax(const KernelCall &call, Isa isa,
                           std::unique_ptr<PreparedKernel> &prepared) {
  return prepareRows<SoftmaxPlan, planSoftmax, &RowKernels::softmax>(call, isa,
                                                                     prepared);
}

bool cpu::softmaxFromOperation(std::string_view operation,
                               const KernelCall &call, ConstantOperands,
                               Attributes &attributes) {
  if (call.inputs.empty() || call.inputs[0].type != DLC_F32)
    return false;
  const int64_t axis = call.attributes.getInt("axis", -1);
  attributes.set("axis", axis < 0 ? axis + call.inputs[0].rank() : axis);
  attributes.set("log", int64_t(operation == "log_softmax"));
  return true;
}

KernelCost cpu::softmaxCost(const KernelCall &call) {
  constexpr uint64_t flopsOfPower = 20;
  SoftmaxPlan plan = {};
  if (!planSoftmax(call, plan).isOk())
    return {};
  return {flopsOfPower * static_cast<uint64_t>(plan.rows) *
              static_cast<uint64_t>(plan.length) *
              static_cast<uint64_t>(plan.inner),
          bytesOf(call)};
}

//===----------------------------------------------------------------------===//
// cpu.reduce
//===----------------------------------------------------------------------===//

namespace {
struct ReduceFacts {
  std::string_view operation;
  ReducePlan::Fold fold;
  bool isMean;
};
} // namespace

static const ReduceFacts *factsOf(std::string_view operation) {
  static constexpr ReduceFacts facts[] = {
      {"reduce_sum", ReducePlan::Fold::Sum, false},
      {"reduce_mean", ReducePlan::Fold::Sum, true},
      {"reduce_max", ReducePlan::Fold::Greatest, false},
      {"reduce_min", ReducePlan::Fold::Least, false},
  };
  const auto *found =
      std::ranges::find(facts, operation, &ReduceFacts::operation);
  return found == std::end(facts) ? nullptr : found;
}

/// What the axes leave apart: rows, what each is folded of, and rows that lie
/// beside each other.
static Status planAxes(const KernelCall &call, ReducePlan &plan) {
  const TensorType &x = call.inputs[0];
  std::vector<bool> isFolded(x.shape.size(), false);
  for (int64_t axis : call.attributes.getInts("axes")) {
    if (axis < 0 || axis >= x.rank() || isFolded[axis])
      return makeError(StatusCode::InvalidArgument,
                       "expected different axes of %s, got %" PRId64,
                       toString(x).c_str(), axis);
    isFolded[axis] = true;
  }
  plan.rows = plan.length = plan.inner = 1;
  bool hasFolded = false, isBehind = false;
  for (int64_t d = 0; d < x.rank(); ++d) {
    const int64_t extent = x.shape[d];
    if (extent == 1)
      continue;
    if (isFolded[d] && isBehind)
      return makeError(StatusCode::InvalidArgument,
                       "expected axes that follow each other, got %" PRId64
                       " behind others of %s",
                       d, toString(x).c_str());
    hasFolded |= isFolded[d];
    isBehind |= hasFolded && !isFolded[d];
    (isFolded[d] ? plan.length : isBehind ? plan.inner : plan.rows) *= extent;
  }
  return Status::ok();
}

static Status planReduce(const KernelCall &call, ReducePlan &plan) {
  DLC_RETURN_IF_ERROR(
      checkAttributes(call.attributes, {{"axes", AttributeKind::Ints},
                                        {"operation", AttributeKind::String}}));
  if (call.inputs.empty() || call.inputs.size() > 2 || call.outputs.size() != 1)
    return makeError(StatusCode::InvalidArgument,
                     "expected one or two inputs and one output, got %zu and "
                     "%zu",
                     call.inputs.size(), call.outputs.size());
  DLC_RETURN_IF_ERROR(
      checkTensor(call.inputs[0], DLC_F32, "x", 0, DLC_MAX_RANK));
  DLC_RETURN_IF_ERROR(
      checkTensor(call.outputs[0], DLC_F32, "y", 0, DLC_MAX_RANK));
  const std::string_view operation = call.attributes.getString("operation");
  const ReduceFacts *facts = factsOf(operation);
  if (!facts)
    return makeError(StatusCode::InvalidArgument,
                     "expected a known reduction, got '%.*s'",
                     int(operation.size()), operation.data());
  plan.fold = facts->fold;
  plan.isMean = facts->isMean;
  plan.resultAt = static_cast<uint8_t>(call.inputs.size());
  DLC_RETURN_IF_ERROR(checkElements(call.inputs.first(1)));
  DLC_RETURN_IF_ERROR(planAxes(call, plan));
  if (elementCount(call.outputs[0].shape) != plan.rows * plan.inner)
    return makeError(StatusCode::InvalidArgument,
                     "expected %" PRId64 " results, got %s",
                     plan.rows * plan.inner, toString(call.outputs[0]).c_str());
  planTiles(plan, /*line=*/64); // Several vectors at once.
  return Status::ok();
}

bool cpu::isReduceSupported(const KernelCall &call, std::string &why) {
  return isPlanned<ReducePlan, planReduce>(call, why);
}

Status cpu::prepareReduce(const KernelCall &call, Isa isa,
                          std::unique_ptr<PreparedKernel> &prepared) {
  return prepareRows<ReducePlan, planReduce, &RowKernels::reduce>(call, isa,
                                                                  prepared);
}

bool cpu::reduceFromOperation(std::string_view operation,
                              const KernelCall &call,
                              ConstantOperands constants,
                              Attributes &attributes) {
  if (call.inputs.empty() || call.inputs[0].type != DLC_F32)
    return false;
  const int64_t rank = call.inputs[0].rank();
  std::vector<int64_t> axes;
  const bool hasAxes =
      call.inputs.size() > 1 && call.inputs[1].type != DLC_INVALID_TYPE;
  if (hasAxes) {
    if (constants.size() < 2 || !constants[1] ||
        call.inputs[1].type != DLC_I64 || call.inputs[1].rank() != 1)
      return false;
    const auto *values = static_cast<const int64_t *>(constants[1]);
    for (int64_t i = 0; i < call.inputs[1].shape[0]; ++i)
      axes.push_back(values[i] < 0 ? values[i] + rank : values[i]);
  } else {
    for (int64_t d = 0; d < rank; ++d)
      axes.push_back(d);
  }
  attributes.set("axes", std::move(axes));
  attributes.set("operation", std::string(operation));
  return true;
}

KernelCost cpu::reduceCost(const KernelCall &call) {
  ReducePlan plan = {};
  if (!planReduce(call, plan).isOk())
    return {};
  return {static_cast<uint64_t>(plan.rows) *
              static_cast<uint64_t>(plan.length) *
              static_cast<uint64_t>(plan.inner),
          bytesOf(call)};
}
