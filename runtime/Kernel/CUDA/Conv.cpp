// SPDX-License-Identifier: Apache-2.0
//
// cudnn.conv: a convolution, and then the residual, the bias and the
// activation, in the order in which cuDNN has kernels that are compiled
// already.

#include "Conv.h"

#include "Operands.h"
#include "Session.h"

#include "dlc/abi/Tensor.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cuda;
using namespace dlc::rt::cuda::cudnn;

//===----------------------------------------------------------------------===//
// What the library has
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

static Status planWindows(const KernelCall &call, ConvPlan &plan) {
  DLC_RETURN_IF_ERROR(readList(call.attributes, "strides", 1, plan.strides));
  DLC_RETURN_IF_ERROR(
      readList(call.attributes, "dilations", 1, plan.dilations));
  int64_t pads[4] = {};
  DLC_RETURN_IF_ERROR(readList(call.attributes, "pads", 0, pads));
  plan.padsBegin = {pads[0], pads[1]};
  plan.padsEnd = {pads[2], pads[3]};
  return Status::ok();
}

static Status planShapes(const KernelCall &call, ConvPlan &plan) {
  bool isLast = false;
  DLC_RETURN_IF_ERROR(readFlag(call.attributes, "w_channels_last", isLast));
  const std::vector<int64_t> &x = call.inputs[0].shape,
                             &w = call.inputs[1].shape,
                             &y = call.outputs[0].shape;
  if (x[1] != 1 || y[1] != 1)
    return invalidShapes(call, "all channels last");
  plan.x = {x[0], x[4], x[2], x[3]};
  plan.y = {y[0], y[4], y[2], y[3]};
  plan.w = isLast ? std::array{w[0], w[3], w[1], w[2]}
                  : std::array{w[0], w[1], w[2], w[3]};
  if (!isLast && w[2] * w[3] != 1)
    return invalidShapes(call, "weights with channels last");
  for (const auto &dims : {plan.x, plan.w, plan.y})
    for (int64_t dim : dims)
      if (dim < 1 || dim > INT32_MAX)
        return invalidShapes(call,
                             "tensors with elements, of extents below 2^31");
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

static Status planEpilogue(const KernelCall &call, ConvPlan &plan) {
  plan.bias = hasBias(call);
  plan.residual = hasResidual(call);
  std::string_view name = call.attributes.getString("activation");
  if (!name.empty() && name != "relu")
    return makeError(StatusCode::InvalidArgument,
                     "cuDNN has no activation '%.*s' there", int(name.size()),
                     name.data());
  plan.relu = name == "relu";
  if ((plan.relu || plan.residual) && !plan.bias)
    return makeError(StatusCode::InvalidArgument,
                     "expected a bias with a residual or an activation");
  std::string_view compute = call.attributes.getString("compute");
  plan.mayRound = compute == "tf32" || compute == "bf16";
  if (plan.type == DLC_F32 && !plan.mayRound)
    return makeError(StatusCode::InvalidArgument,
                     "expected f16 or bf16, or f32 that may be rounded");
  return checkBiasAndResidual(call, call.outputs[0].shape.back());
}

Status cuda::planConv(const KernelCall &call, ConvPlan &plan) {
  using enum AttributeKind;
  DLC_RETURN_IF_ERROR(
      checkAttributes(call.attributes, {{"strides", Ints},
                                        {"pads", Ints},
                                        {"dilations", Ints},
                                        {"group", Int},
                                        {"w_channels_last", Int},
                                        {"compute", String}}));
  DLC_RETURN_IF_ERROR(checkOperands(call, {5, 5}, {4, 4}));
  if (call.attributes.getInt("group", 1) != 1)
    return makeError(StatusCode::InvalidArgument, "expected one group");
  plan.type = call.inputs[0].type;
  DLC_RETURN_IF_ERROR(planWindows(call, plan));
  DLC_RETURN_IF_ERROR(planShapes(call, plan));
  return planEpilogue(call, plan);
}

bool cuda::isConvSupported(const KernelCall &call, std::string &why) {
  ConvPlan plan;
  Status status = planConv(call, plan);
  why = status.message();
  return status.isOk();
}

/// Those that cuDNN advises first want some bytes; others, the image in another
/// layout.
size_t cuda::convWorkspaceBytes(const KernelCall &) { return size_t(16) << 20; }

/// What lies outside of an image is zeros there, which are multiplied.
bool cuda::convWantsFinite(const KernelCall &call, size_t input) {
  ConvPlan plan;
  constexpr size_t weights = 1;
  return input == weights && planConv(call, plan).isOk() &&
         (plan.padsBegin != std::array<int64_t, 2>() ||
          plan.padsEnd != std::array<int64_t, 2>());
}

KernelCost cuda::convCost(const KernelCall &call) {
  ConvPlan plan;
  if (!planConv(call, plan).isOk())
    return {};
  auto flops = static_cast<uint64_t>(
      saturatedProduct({2, plan.y[0], plan.y[1], plan.y[2], plan.y[3],
                        plan.w[1], plan.w[2], plan.w[3]}));
  return {.flops = flops, .bytes = bytesOf(call)};
}

/// As of products, for which there are measurements.
bool cuda::isConvFaster(const KernelCall &call) {
  return convCost(call).flops >= uint64_t(1) << 33;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

Status ConvGraph::add(Kind kind, Descriptor *&added) {
  parts.push_back(std::make_unique<Descriptor>());
  added = parts.back().get();
  return Descriptor::create(*library, kind, *added);
}

/// Strides are those of channels last. What is not in memory is f32.
Status ConvGraph::addTensor(int64_t id, const std::array<int64_t, 4> &dims,
                            bool isVirtual, Descriptor *&added) {
  const int real = isVirtual || plan.type == DLC_F32 ? realF32
                   : plan.type == DLC_F16            ? realF16
                                                     : realBF16;
  const int64_t strides[4] = {dims[1] * dims[2] * dims[3], 1, dims[3] * dims[1],
                              dims[1]};
  DLC_RETURN_IF_ERROR(add(Kind::Tensor, added));
  DLC_RETURN_IF_ERROR(added->set(Name::TensorId, Type::Int64, id));
  DLC_RETURN_IF_ERROR(added->set(Name::TensorType, Type::DataType, real));
  DLC_RETURN_IF_ERROR(
      added->set(Name::TensorAlignment, Type::Int64, int64_t(DLC_ALIGNMENT)));
  DLC_RETURN_IF_ERROR(added->set(Name::TensorDimensions, Type::Int64,
                                 std::span<const int64_t>(dims)));
  DLC_RETURN_IF_ERROR(added->set(Name::TensorStrides, Type::Int64,
                                 std::span<const int64_t>(strides)));
  DLC_RETURN_IF_ERROR(
      added->set(Name::TensorIsVirtual, Type::Boolean, isVirtual));
  return added->finalize();
}

/// The result of an operation: y of the last one.
Status ConvGraph::next(Descriptor *&result) {
  const bool isLast = --left == 0;
  return addTensor(isLast ? int64_t(Y) : ++lastId, plan.y, !isLast, result);
}

Status ConvGraph::addPointwise(int mode, const Descriptor &x,
                               const Descriptor *b, const Descriptor &y) {
  Descriptor *pointwise = nullptr, *operation = nullptr;
  DLC_RETURN_IF_ERROR(add(Kind::Pointwise, pointwise));
  DLC_RETURN_IF_ERROR(
      pointwise->set(Name::PointwiseMode, Type::PointwiseMode, mode));
  DLC_RETURN_IF_ERROR(
      pointwise->set(Name::PointwisePrecision, Type::DataType, realF32));
  if (mode == pointwiseRelu)
    DLC_RETURN_IF_ERROR(
        pointwise->set(Name::PointwiseNan, Type::Nan, propagateNan));
  DLC_RETURN_IF_ERROR(pointwise->finalize());
  DLC_RETURN_IF_ERROR(add(Kind::PointwiseOperation, operation));
  DLC_RETURN_IF_ERROR(operation->set(Name::PointwiseOf, *pointwise));
  DLC_RETURN_IF_ERROR(operation->set(Name::PointwiseX, x));
  if (b)
    DLC_RETURN_IF_ERROR(operation->set(Name::PointwiseB, *b));
  DLC_RETURN_IF_ERROR(operation->set(Name::PointwiseY, y));
  DLC_RETURN_IF_ERROR(operation->finalize());
  operations.push_back(operation->get());
  return Status::ok();
}

Status ConvGraph::addConvolution(Descriptor *&convolution) {
  auto put = [&](Name name, const auto &values) {
    return convolution->set(name, Type::Int64,
                            std::span<const int64_t>(values));
  };
  DLC_RETURN_IF_ERROR(add(Kind::Convolution, convolution));
  DLC_RETURN_IF_ERROR(
      convolution->set(Name::ConvolutionPrecision, Type::DataType, realF32));
  DLC_RETURN_IF_ERROR(convolution->set(
      Name::ConvolutionMode, Type::ConvolutionMode, crossCorrelation));
  DLC_RETURN_IF_ERROR(
      convolution->set(Name::ConvolutionRank, Type::Int64, int64_t(2)));
  DLC_RETURN_IF_ERROR(put(Name::ConvolutionDilations, plan.dilations));
  DLC_RETURN_IF_ERROR(put(Name::ConvolutionStrides, plan.strides));
  DLC_RETURN_IF_ERROR(put(Name::ConvolutionPadsBegin, plan.padsBegin));
  DLC_RETURN_IF_ERROR(put(Name::ConvolutionPadsEnd, plan.padsEnd));
  return convolution->finalize();
}

Status ConvGraph::addOperations() {
  left = 1 + int(plan.residual) + int(plan.bias) + int(plan.relu);
  Descriptor *x = nullptr, *w = nullptr, *convolution = nullptr,
             *result = nullptr, *forward = nullptr;
  DLC_RETURN_IF_ERROR(addTensor(X, plan.x, /*isVirtual=*/false, x));
  DLC_RETURN_IF_ERROR(addTensor(W, plan.w, /*isVirtual=*/false, w));
  DLC_RETURN_IF_ERROR(addConvolution(convolution));
  DLC_RETURN_IF_ERROR(next(result));
  DLC_RETURN_IF_ERROR(add(Kind::ConvolutionForward, forward));
  DLC_RETURN_IF_ERROR(forward->set(Name::ForwardAlpha, Type::Float, 1.0f));
  DLC_RETURN_IF_ERROR(forward->set(Name::ForwardBeta, Type::Float, 0.0f));
  DLC_RETURN_IF_ERROR(forward->set(Name::ForwardConvolution, *convolution));
  DLC_RETURN_IF_ERROR(forward->set(Name::ForwardX, *x));
  DLC_RETURN_IF_ERROR(forward->set(Name::ForwardW, *w));
  DLC_RETURN_IF_ERROR(forward->set(Name::ForwardY, *result));
  DLC_RETURN_IF_ERROR(forward->finalize());
  operations.push_back(forward->get());
  auto apply = [&](int mode, const Descriptor *b) -> Status {
    const Descriptor *before = result;
    DLC_RETURN_IF_ERROR(next(result));
    return addPointwise(mode, *before, b, *result);
  };
  Descriptor *added = nullptr;
  if (plan.residual) {
    DLC_RETURN_IF_ERROR(addTensor(Residual, plan.y, false, added));
    DLC_RETURN_IF_ERROR(apply(pointwiseAdd, added));
  }
  if (plan.bias) {
    DLC_RETURN_IF_ERROR(addTensor(Bias, {1, plan.y[1], 1, 1}, false, added));
    DLC_RETURN_IF_ERROR(apply(pointwiseAdd, added));
  }
  return plan.relu ? apply(pointwiseRelu, nullptr) : Status::ok();
}

//===----------------------------------------------------------------------===//
// Its plan
//===----------------------------------------------------------------------===//

/// Whether an engine with these notes sums products of floats as they are, in
/// f32, the same every time: what a note says that we don't know may be that it
/// doesn't.
static bool isExact(std::span<const int> notes, const ConvPlan &plan) {
  return std::ranges::all_of(notes, [&](int note) {
    switch (note) {
    case noteStrictNan:
      return true;
    case noteTensorCore:
    case noteDownConverts:
      return plan.type != DLC_F32 || plan.mayRound;
    default:
      return false;
    }
  });
}

/// Takes a plan of this configuration, if it will do.
Status ConvGraph::tryConfig(const Descriptor &config, bool &isChosen) {
  Descriptor engine, candidate;
  DLC_RETURN_IF_ERROR(Descriptor::create(*library, Kind::Engine, engine));
  RawDescriptor raw = engine.get();
  size_t count = 0;
  DLC_RETURN_IF_ERROR(config.get(Name::ConfigEngine, Type::Descriptor,
                                 std::span(&raw, 1), count));
  std::array<int, 32> notes;
  DLC_RETURN_IF_ERROR(
      engine.get(Name::EngineNotes, Type::Note, std::span<int>(notes), count));
  if (!isExact(std::span(notes).first(count), plan))
    return makeError(StatusCode::Unsupported, "it rounds more than it may");
  DLC_RETURN_IF_ERROR(Descriptor::create(*library, Kind::Plan, candidate));
  DLC_RETURN_IF_ERROR(candidate.set(Name::PlanConfig, config));
  DLC_RETURN_IF_ERROR(
      target.properties
          ? candidate.set(Name::PlanDevice, *target.properties)
          : candidate.set(Name::PlanHandle, Type::Handle, target.handle));
  DLC_RETURN_IF_ERROR(candidate.finalize());
  int64_t bytes = 0;
  DLC_RETURN_IF_ERROR(candidate.get(Name::PlanWorkspace, Type::Int64,
                                    std::span(&bytes, 1), count));
  if (bytes < 0 || uint64_t(bytes) > plan.workspaceBytes)
    return makeError(StatusCode::Unsupported,
                     "it wants a workspace of %lld bytes",
                     static_cast<long long>(bytes));
  execution = std::move(candidate);
  isChosen = true;
  return Status::ok();
}

/// The first of what a heuristic advises that will do.
Status ConvGraph::chooseBy(int mode, const Descriptor &graph,
                           std::string &reasons, bool &isChosen) {
  constexpr size_t most = 32;
  Descriptor heuristic;
  DLC_RETURN_IF_ERROR(Descriptor::create(*library, Kind::Heuristic, heuristic));
  DLC_RETURN_IF_ERROR(heuristic.set(Name::HeuristicGraph, graph));
  DLC_RETURN_IF_ERROR(
      heuristic.set(Name::HeuristicMode, Type::HeuristicMode, mode));
  if (target.properties)
    DLC_RETURN_IF_ERROR(
        heuristic.set(Name::HeuristicDevice, *target.properties));
  DLC_RETURN_IF_ERROR(heuristic.finalize());
  std::vector<Descriptor> configs(most);
  std::vector<RawDescriptor> raw;
  for (Descriptor &config : configs) {
    DLC_RETURN_IF_ERROR(
        Descriptor::create(*library, Kind::EngineConfig, config));
    raw.push_back(config.get());
  }
  size_t count = 0;
  DLC_RETURN_IF_ERROR(heuristic.get(Name::HeuristicResults, Type::Descriptor,
                                    std::span(raw), count));
  for (size_t i = 0; i != count && !isChosen; ++i)
    if (Status status = tryConfig(configs[i], isChosen); !status.isOk())
      reasons = status.message();
  if (isChosen)
    for (Descriptor &config : configs)
      parts.push_back(std::make_unique<Descriptor>(std::move(config)));
  return Status::ok();
}

Status ConvGraph::build(const Library &with, const ConvPlan &wanted,
                        const ConvTarget &on) {
  library = &with;
  plan = wanted;
  target = on;
  DLC_RETURN_IF_ERROR(addOperations());
  Descriptor *graph = nullptr;
  DLC_RETURN_IF_ERROR(add(Kind::Graph, graph));
  if (target.handle)
    DLC_RETURN_IF_ERROR(
        graph->set(Name::GraphHandle, Type::Handle, target.handle));
  DLC_RETURN_IF_ERROR(graph->set(Name::GraphOperations, Type::Descriptor,
                                 std::span<const RawDescriptor>(operations)));
  DLC_RETURN_IF_ERROR(graph->finalize());
  std::string reasons = "it advises none";
  bool isChosen = false;
  for (int mode : {heuristicA, heuristicFallback})
    if (!isChosen)
      DLC_RETURN_IF_ERROR(chooseBy(mode, *graph, reasons, isChosen));
  if (isChosen)
    return Status::ok();
  return makeError(StatusCode::Unsupported, "cuDNN has no plan for it: %s",
                   reasons.c_str());
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
  void *workspace = at(inputs + 1);
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

Status cuda::prepareConv(Device &device, const KernelCall &call,
                         std::shared_ptr<void> &library,
                         std::unique_ptr<DeviceCall> &prepared) {
  ConvPlan plan;
  DLC_RETURN_IF_ERROR(planConv(call, plan));
  DLC_RETURN_IF_ERROR(readWorkspace(call, plan.workspaceBytes));
  DLC_RETURN_IF_ERROR(Session<Library>::open(device, library));
  std::unique_ptr<ConvCall> ready(new (std::nothrow) ConvCall(
      std::static_pointer_cast<Session<Library>>(library), plan,
      call.inputs.size()));
  if (!ready)
    return makeError(StatusCode::OutOfMemory, "no memory for a call");
  DLC_RETURN_IF_ERROR(device.use([&] { return ready->prepare(); }));
  prepared = std::move(ready);
  return Status::ok();
}
