// SPDX-License-Identifier: Apache-2.0

#include "ConvCall.h"

#include "Operands.h"
#include "Session.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cuda;
using namespace dlc::rt::cuda::cudnn;

//===----------------------------------------------------------------------===//
// What a call says
//===----------------------------------------------------------------------===//

/// Two or four numbers of at least `least`.
static Status readList(const Attributes &attributes, std::string_view name,
                       int64_t least, std::span<int64_t> values) {
  const std::span<const int64_t> list = attributes.getInts(name);
  if (list.empty())
    return Status::ok();
  if (list.size() != values.size() ||
      *std::min_element(list.begin(), list.end()) < least ||
      *std::max_element(list.begin(), list.end()) > INT32_MAX)
    return makeError(StatusCode::InvalidArgument,
                     "attribute %.*s: expected %zu numbers from %lld on",
                     int(name.size()), name.data(), values.size(),
                     static_cast<long long>(least));
  std::ranges::copy(list, values.begin());
  return Status::ok();
}

static Status readWindows(const KernelCall &call, ConvPlan &plan) {
  DLC_RETURN_IF_ERROR(readList(call.attributes, "strides", 1, plan.strides));
  DLC_RETURN_IF_ERROR(
      readList(call.attributes, "dilations", 1, plan.dilations));
  int64_t pads[4] = {};
  DLC_RETURN_IF_ERROR(readList(call.attributes, "pads", 0, pads));
  plan.padsBegin = {pads[0], pads[1]};
  plan.padsEnd = {pads[2], pads[3]};
  return Status::ok();
}

Status cuda::readConvAttributes(const KernelCall &call, ConvPlan &plan) {
  using enum AttributeKind;
  DLC_RETURN_IF_ERROR(
      checkAttributes(call.attributes, {{"strides", Ints},
                                        {"pads", Ints},
                                        {"dilations", Ints},
                                        {"group", Int},
                                        {"w_channels_last", Int},
                                        {"compute", String}}));
  if (call.attributes.getInt("group", 1) != 1)
    return makeError(StatusCode::InvalidArgument, "expected one group");
  plan.type = call.inputs[0].type;
  std::string_view compute = call.attributes.getString("compute");
  plan.mayRound = compute == "tf32" || compute == "bf16";
  if (plan.type == DLC_F32 && !plan.mayRound)
    return makeError(StatusCode::InvalidArgument,
                     "expected f16 or bf16, or f32 that may be rounded");
  return readWindows(call, plan);
}

/// Products of two extents fit in 64 bits.
static Status checkExtents(const KernelCall &call,
                           const std::array<int64_t, 4> &dims) {
  for (int64_t dim : dims)
    if (dim < 1 || dim > INT32_MAX)
      return invalidShapes(call,
                           "tensors with elements, of extents below 2^31");
  return Status::ok();
}

Status cuda::readConvImage(const KernelCall &call, const TensorType &type,
                           std::array<int64_t, 4> &dims, bool &isPlain) {
  const std::vector<int64_t> &shape = type.shape;
  isPlain = shape.size() == 4;
  if (!isPlain && shape[1] != 1)
    return invalidShapes(call, "all channels last");
  dims = isPlain ? std::array{shape[0], shape[1], shape[2], shape[3]}
                 : std::array{shape[0], shape[4], shape[2], shape[3]};
  return checkExtents(call, dims);
}

Status cuda::readConvWeights(const KernelCall &call, ConvPlan &plan) {
  bool isLast = false;
  DLC_RETURN_IF_ERROR(readFlag(call.attributes, "w_channels_last", isLast));
  std::span<const int64_t> w = call.inputs[1].shape;
  if (w.size() == 5) {
    if (w[0] != 1)
      return invalidShapes(call, "weights of one group");
    w = w.subspan(1);
  }
  if (!isLast && w[2] * w[3] != 1)
    return invalidShapes(call, "weights with channels last");
  plan.w = isLast ? std::array{w[0], w[3], w[1], w[2]}
                  : std::array{w[0], w[1], w[2], w[3]};
  return checkExtents(call, plan.w);
}

Status cuda::checkConvShapes(const KernelCall &call, const ConvPlan &plan) {
  bool fits = plan.w[0] == plan.y[1] && plan.w[1] == plan.x[1] &&
              plan.x[0] == plan.y[0];
  for (size_t i = 0; i != 2; ++i) {
    const int64_t room = plan.x[2 + i] + plan.padsBegin[i] + plan.padsEnd[i] -
                         (plan.w[2 + i] - 1) * plan.dilations[i] - 1;
    fits &= room >= 0 && room / plan.strides[i] + 1 == plan.y[2 + i];
  }
  if (!fits)
    return invalidShapes(call,
                         "an image, weights and result of one convolution");
  constexpr int64_t together = 8;
  if (plan.x[1] % together || plan.y[1] % together)
    return invalidShapes(call, "multiples of 8 channels");
  return Status::ok();
}

bool cuda::isPadded(const ConvPlan &plan) {
  constexpr std::array<int64_t, 2> none = {};
  return plan.padsBegin != none || plan.padsEnd != none;
}

KernelCost cuda::costOf(const KernelCall &call, const ConvPlan &plan) {
  auto flops = static_cast<uint64_t>(
      saturatedProduct({2, plan.y[0], plan.y[1], plan.y[2], plan.y[3],
                        plan.w[1], plan.w[2], plan.w[3]}));
  return {.flops = flops, .bytes = bytesOf(call)};
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {

class ConvCall final : public DeviceCall {
public:
  ConvCall(std::shared_ptr<Session<Library>> session, const ConvPlan &plan,
           size_t inputs)
      : session(std::move(session)), library(*this->session->library),
        plan(plan), inputs(inputs), graph(this->session->device) {}

  /// With the device in use.
  Status prepare() {
    graph.held.reset(new (std::nothrow) ConvGraph);
    if (!graph.held)
      return makeError(StatusCode::OutOfMemory, "no memory for a call");
    return graph.held->build(library, plan, {.handle = session->handle});
  }
  Status queue(void *stream, void *const *parameters) const override;

private:
  const std::shared_ptr<Session<Library>> session;
  const Library &library;
  const ConvPlan plan;
  const size_t inputs;
  OnDevice<ConvGraph> graph;
};

} // namespace

Status ConvCall::queue(void *stream, void *const *parameters) const {
  auto at = [&](size_t index) {
    return *static_cast<void *const *>(parameters[index]);
  };
  std::array<int64_t, 5> ids = {ConvGraph::X, ConvGraph::W, ConvGraph::Y};
  if (plan.result == ConvResult::X)
    ids = {ConvGraph::Y, ConvGraph::W, ConvGraph::X};
  if (plan.result == ConvResult::W)
    ids = {ConvGraph::X, ConvGraph::Y, ConvGraph::W};
  std::array<void *, 5> pointers = {at(0), at(1), at(inputs)};
  size_t count = 3;
  auto add = [&](int64_t id, size_t index) {
    ids[count] = id;
    pointers[count++] = at(index);
  };
  if (plan.bias)
    add(ConvGraph::Bias, 2);
  if (plan.residual)
    add(ConvGraph::Residual, 3);
  Descriptor arguments;
  DLC_RETURN_IF_ERROR(Descriptor::create(library, Kind::Arguments, arguments));
  DLC_RETURN_IF_ERROR(
      arguments.set(Name::ArgumentIds, Type::Int64,
                    std::span<const int64_t>(ids).first(count)));
  DLC_RETURN_IF_ERROR(
      arguments.set(Name::ArgumentPointers, Type::Pointer,
                    std::span<void *const>(pointers).first(count)));
  void *workspace = alignWorkspace(at(inputs + 1));
  DLC_RETURN_IF_ERROR(
      arguments.set(Name::ArgumentWorkspace, Type::Pointer, workspace));
  DLC_RETURN_IF_ERROR(arguments.finalize());
  // A handle has one stream at a time.
  std::lock_guard lock(session->mutex);
  DLC_LIBRARY_CHECK(library, setStream, session->handle,
                    static_cast<Stream>(stream));
  DLC_LIBRARY_CHECK(library, execute, session->handle,
                    graph.held->executionPlan().get(), arguments.get());
  return Status::ok();
}

Status cuda::prepareConvPlan(Device &device, const KernelCall &call,
                             ConvPlan plan, std::shared_ptr<void> &library,
                             std::unique_ptr<DeviceCall> &prepared) {
  DLC_RETURN_IF_ERROR(readWorkspace(call, plan.workspaceBytes));
  return prepareCall<Library, ConvCall>(device, plan, call.inputs.size(),
                                        library, prepared);
}
