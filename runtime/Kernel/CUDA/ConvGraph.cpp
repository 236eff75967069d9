// SPDX-License-Identifier: Apache-2.0
//
// A convolution, and then the residual, the bias and the activation, in the
// order in which cuDNN has kernels that are compiled already; or one of its
// gradients.

#include "ConvGraph.h"

#include "dlc/abi/Tensor.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cuda;
using namespace dlc::rt::cuda::cudnn;

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

Status ConvGraph::add(Kind kind, Descriptor *&added) {
  parts.push_back(std::make_unique<Descriptor>());
  added = parts.back().get();
  return Descriptor::create(*library, kind, *added);
}

/// What is not in memory is f32.
Status ConvGraph::addTensor(int64_t id, const std::array<int64_t, 4> &dims,
                            bool isPlain, bool isVirtual, Descriptor *&added) {
  const int real = isVirtual || plan.type == DLC_F32 ? realF32
                   : plan.type == DLC_F16            ? realF16
                                                     : realBF16;
  const int64_t batch = dims[1] * dims[2] * dims[3];
  const std::array<int64_t, 4> strides =
      isPlain ? std::array{batch, dims[2] * dims[3], dims[3], int64_t(1)}
              : std::array{batch, int64_t(1), dims[3] * dims[1], dims[1]};
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
  return addTensor(isLast ? int64_t(Y) : ++lastId, plan.y, plan.isPlainY,
                   !isLast, result);
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

namespace {
/// What an operation and its attributes are called.
struct AnchorNames {
  Kind kind;
  Name alpha, beta, convolution, x, w, y;
};
} // namespace

static AnchorNames namesOf(ConvResult result) {
  using enum Name;
  if (result == ConvResult::X)
    return {Kind::ConvolutionBackwardData,
            DataAlpha,
            DataBeta,
            DataConvolution,
            DataX,
            DataW,
            DataY};
  if (result == ConvResult::W)
    return {Kind::ConvolutionBackwardFilter,
            FilterAlpha,
            FilterBeta,
            FilterConvolution,
            FilterX,
            FilterW,
            FilterY};
  return {Kind::ConvolutionForward,
          ForwardAlpha,
          ForwardBeta,
          ForwardConvolution,
          ForwardX,
          ForwardW,
          ForwardY};
}

/// The convolution or the gradient alone; `y`: what is or goes with its result.
Status ConvGraph::addAnchor(Descriptor *&y) {
  Descriptor *x = nullptr, *w = nullptr, *convolution = nullptr,
             *anchor = nullptr;
  const AnchorNames names = namesOf(plan.result);
  DLC_RETURN_IF_ERROR(
      addTensor(X, plan.x, plan.isPlainX, /*isVirtual=*/false, x));
  DLC_RETURN_IF_ERROR(
      addTensor(W, plan.w, plan.isPlainW, /*isVirtual=*/false, w));
  DLC_RETURN_IF_ERROR(addConvolution(convolution));
  DLC_RETURN_IF_ERROR(next(y));
  DLC_RETURN_IF_ERROR(add(names.kind, anchor));
  DLC_RETURN_IF_ERROR(anchor->set(names.alpha, Type::Float, 1.0f));
  DLC_RETURN_IF_ERROR(anchor->set(names.beta, Type::Float, 0.0f));
  DLC_RETURN_IF_ERROR(anchor->set(names.convolution, *convolution));
  DLC_RETURN_IF_ERROR(anchor->set(names.x, *x));
  DLC_RETURN_IF_ERROR(anchor->set(names.w, *w));
  DLC_RETURN_IF_ERROR(anchor->set(names.y, *y));
  DLC_RETURN_IF_ERROR(anchor->finalize());
  operations.push_back(anchor->get());
  return Status::ok();
}

Status ConvGraph::addOperations() {
  left = 1 + int(plan.residual) + int(plan.bias) + int(plan.relu);
  Descriptor *result = nullptr;
  DLC_RETURN_IF_ERROR(addAnchor(result));
  auto apply = [&](int mode, const Descriptor *b) -> Status {
    const Descriptor *before = result;
    DLC_RETURN_IF_ERROR(next(result));
    return addPointwise(mode, *before, b, *result);
  };
  Descriptor *added = nullptr;
  if (plan.residual) {
    DLC_RETURN_IF_ERROR(
        addTensor(Residual, plan.y, plan.isPlainY, false, added));
    DLC_RETURN_IF_ERROR(apply(pointwiseAdd, added));
  }
  if (plan.bias) {
    DLC_RETURN_IF_ERROR(
        addTensor(Bias, {1, plan.y[1], 1, 1}, false, false, added));
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
