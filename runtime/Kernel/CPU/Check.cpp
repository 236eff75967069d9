// SPDX-License-Identifier: Apache-2.0

#include "Check.h"

#include <limits>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

Status cpu::checkOperands(const KernelCall &call, int64_t minRank,
                          int64_t maxRank) {
  if (call.inputs.size() < 2 || call.inputs.size() > 4)
    return makeError(StatusCode::InvalidArgument,
                     "expected 2 to 4 inputs, got %zu", call.inputs.size());
  if (call.outputs.size() != 1)
    return makeError(StatusCode::InvalidArgument, "expected 1 output, got %zu",
                     call.outputs.size());
  DLC_RETURN_IF_ERROR(
      checkTensor(call.inputs[0], DLC_F32, "input 0", minRank, maxRank));
  DLC_RETURN_IF_ERROR(
      checkTensor(call.inputs[1], DLC_F32, "input 1", minRank, maxRank));
  if (hasBias(call))
    DLC_RETURN_IF_ERROR(checkTensor(call.inputs[2], DLC_F32, "the bias", 1, 1));
  if (hasResidual(call))
    DLC_RETURN_IF_ERROR(
        checkTensor(call.inputs[3], DLC_F32, "the residual", minRank, maxRank));
  return checkTensor(call.outputs[0], DLC_F32, "the output", minRank, maxRank);
}

Status cpu::checkElements(std::span<const TensorType> types) {
  for (const TensorType &type : types)
    if (elementCount(type.shape).value_or(0) == 0)
      return makeError(StatusCode::InvalidArgument, "expected elements, got %s",
                       toString(type).c_str());
  return Status::ok();
}

Status cpu::checkStepOperands(const KernelCall &call, int64_t minRank,
                              int64_t maxRank) {
  if (call.inputs.size() < 2 || call.inputs.size() > 3)
    return makeError(StatusCode::InvalidArgument,
                     "expected two or three inputs, got %zu",
                     call.inputs.size());
  const KernelCall own = withoutWorkspace(call);
  DLC_RETURN_IF_ERROR(checkOperands(own, minRank, maxRank));
  DLC_RETURN_IF_ERROR(checkElements(own.inputs.first(2)));
  return checkElements(own.outputs);
}

namespace {
struct ActivationFacts {
  std::string_view name;
  Activation activation;
  double alpha, beta; ///< Defaults.
};
} // namespace

Status cpu::readParts(const Attributes &attributes, int64_t &parts) {
  parts = attributes.getInt(kBf16Parts, 0);
  if (parts == 0 || parts == 1 || parts == 3)
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected attribute 'bf16_parts' to be 0, 1 or 3, got %lld",
                   static_cast<long long>(parts));
}

Status cpu::readEpilogue(const Attributes &attributes, Epilogue &epilogue) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr ActivationFacts facts[] = {
      {"", Activation::None, 0, 0},
      {"relu", Activation::Relu, 0, 0},
      {"clamp", Activation::Clamp, -infinity, infinity},
      {"leaky_relu", Activation::LeakyRelu, 0.01, 0},
      {"sigmoid", Activation::Sigmoid, 0, 0},
      {"tanh", Activation::Tanh, 0, 0},
      {"gelu", Activation::Gelu, 0, 0},
      {"gelu_tanh", Activation::GeluTanh, 0, 0},
      {"silu", Activation::Silu, 0, 0},
      {"hard_swish", Activation::HardSwish, 0, 0},
      {"hard_sigmoid", Activation::HardSigmoid, 0.2, 0.5},
  };
  std::string_view name = attributes.getString("activation");
  for (const ActivationFacts &fact : facts) {
    if (fact.name != name)
      continue;
    epilogue.activation = fact.activation;
    epilogue.alpha =
        static_cast<float>(attributes.getFloat("alpha", fact.alpha));
    epilogue.beta = static_cast<float>(attributes.getFloat("beta", fact.beta));
    return Status::ok();
  }
  return makeError(StatusCode::InvalidArgument, "unknown activation '%.*s'",
                   int(name.size()), name.data());
}

void cpu::setRounded(const KernelCall &call, KernelCost &cost) {
  const TensorType &packed = call.inputs[1];
  cost.bytes -= byteCount(packed.type, packed.shape).value_or(0) / 2;
  cost.saved = cost.flops / 2;
}

bool cpu::setWindow(const TensorType &x, ref::Window window, bool ceilMode,
                    Attributes &attributes) {
  const int64_t rank = window.rank;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t positions; // What automatic padding depends on.
    if (!ref::countPositions(window, d, x.shape[d + 2], ceilMode, positions)
             .isOk())
      return false;
  }
  auto listOf = [&](const ref::Window::Extents &extents) {
    return std::vector<int64_t>(extents.begin(), extents.begin() + rank);
  };
  std::vector<int64_t> pads = listOf(window.padBegin);
  std::ranges::copy(listOf(window.padEnd), std::back_inserter(pads));
  attributes.set("strides", listOf(window.strides));
  attributes.set("dilations", listOf(window.dilations));
  attributes.set("pads", std::move(pads));
  return true;
}

Status cpu::checkByShapeRule(std::string_view operation,
                             const KernelCall &call) {
  std::vector<ref::Operand> operands;
  for (const TensorType &type : call.inputs)
    operands.push_back({type});
  std::vector<TensorType> results;
  DLC_RETURN_IF_ERROR(
      ref::lookup(operation)->infer({operands, call.attributes, 1}, results));
  const TensorType &y = call.outputs[0];
  if (results[0].type == y.type && results[0].shape == y.shape)
    return Status::ok();
  return makeError(StatusCode::InvalidArgument, "expected an output %s, got %s",
                   toString(results[0]).c_str(), toString(y).c_str());
}

KernelCall cpu::withoutWorkspace(const KernelCall &call) {
  const size_t results = std::min<size_t>(call.outputs.size(), 1);
  return {call.inputs, call.outputs.first(results), call.attributes};
}

Status FloatView::read(const KernelCall &call, bool areRounded) {
  const KernelCall own = withoutWorkspace(call);
  inputs.assign(own.inputs.begin(), own.inputs.end());
  outputs.assign(own.outputs.begin(), own.outputs.end());
  attributes = &call.attributes;
  if (!areRounded || inputs.empty() || outputs.empty())
    return Status::ok();
  if (hasResidual(call) && outputs[0].type == DLC_BF16 &&
      inputs[3].type != DLC_BF16)
    return makeError(StatusCode::InvalidArgument,
                     "expected a residual of the output's type %s, got %s",
                     toString(outputs[0]).c_str(), toString(inputs[3]).c_str());
  auto widen = [](TensorType &type) {
    const bool isShort = type.type == DLC_BF16;
    if (isShort)
      type.type = DLC_F32;
    return isShort;
  };
  isShortX = widen(inputs[0]);
  isShortY = widen(outputs[0]);
  isShortResidual = hasResidual(call) && widen(inputs[3]);
  return Status::ok();
}

FiveArguments::FiveArguments(const KernelCall &call)
    : inputs(static_cast<int64_t>(call.inputs.size())), bias(hasBias(call)),
      residual(hasResidual(call)) {}

void FiveArguments::fill(void *const *arguments, void **five) const {
  five[0] = arguments[0];
  five[1] = arguments[1];
  five[2] = bias ? arguments[2] : nullptr;
  five[3] = residual ? arguments[3] : nullptr;
  five[4] = arguments[inputs];
}
