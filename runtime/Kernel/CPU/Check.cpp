// SPDX-License-Identifier: Apache-2.0

#include "Check.h"

#include <limits>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

static bool isOfKind(const AttributeValue &value, AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Int:
    return std::holds_alternative<int64_t>(value);
  case AttributeKind::Float:
    return std::holds_alternative<double>(value);
  case AttributeKind::String:
    return std::holds_alternative<std::string>(value);
  case AttributeKind::Ints:
    return std::holds_alternative<std::vector<int64_t>>(value);
  }
  return false;
}

static const char *textOf(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Int:
    return "an integer";
  case AttributeKind::Float:
    return "a float";
  case AttributeKind::String:
    return "a string";
  case AttributeKind::Ints:
    return "a list of integers";
  }
  return "";
}

Status cpu::checkAttributes(const Attributes &attributes,
                            std::initializer_list<AttributeRule> rules) {
  static constexpr AttributeRule ofEpilogue[] = {
      {"activation", AttributeKind::String},
      {"alpha", AttributeKind::Float},
      {"beta", AttributeKind::Float}};
  auto find = [&](std::string_view name) -> const AttributeRule * {
    for (const AttributeRule &rule : rules)
      if (rule.name == name)
        return &rule;
    for (const AttributeRule &rule : ofEpilogue)
      if (rule.name == name)
        return &rule;
    return nullptr;
  };
  for (const Attribute &attribute : attributes) {
    const AttributeRule *rule = find(attribute.name);
    if (!rule)
      return invalid("unknown attribute '" + attribute.name + "'");
    if (!isOfKind(attribute.value, rule->kind))
      return invalid("expected attribute '" + attribute.name + "' to be " +
                     textOf(rule->kind));
  }
  return Status::ok();
}

Status cpu::checkTensor(const TensorType &type, DataType element,
                        const char *role, int64_t minRank, int64_t maxRank) {
  auto fail = [&](const std::string &expected) {
    return invalid("expected " + std::string(role) + " to " + expected +
                   ", got " + toString(type));
  };
  if (type.type != element)
    return fail("be " + std::string(nameOf(element)));
  if (!type.isStatic())
    return fail("have a static shape");
  if (type.rank() < minRank || type.rank() > maxRank)
    return fail("have rank " + std::to_string(minRank) + " to " +
                std::to_string(maxRank));
  // More than any address space holds, little enough that no product of a few
  // dimensions and a padding overflows, whatever dimension is zero.
  constexpr int64_t maxElements = int64_t{1} << 45;
  int64_t elements = 1;
  for (int64_t dim : type.shape) {
    if (__builtin_mul_overflow(elements, dim > 0 ? dim : 1, &elements) ||
        elements > maxElements)
      return fail("have at most 2^45 elements");
  }
  return Status::ok();
}

static bool isPresent(const KernelCall &call, size_t input) {
  return input < call.inputs.size() &&
         call.inputs[input].type != DLC_INVALID_TYPE;
}

bool cpu::hasBias(const KernelCall &call) { return isPresent(call, 2); }
bool cpu::hasResidual(const KernelCall &call) { return isPresent(call, 3); }

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

Status cpu::checkBiasAndResidual(const KernelCall &call, int64_t channels) {
  if (hasBias(call) && call.inputs[2].shape[0] != channels)
    return makeError(
        StatusCode::InvalidArgument, "expected a bias of %lld elements, got %s",
        static_cast<long long>(channels), toString(call.inputs[2]).c_str());
  if (hasResidual(call) && call.inputs[3].shape != call.outputs[0].shape)
    return makeError(StatusCode::InvalidArgument,
                     "expected a residual of the output's type %s, got %s",
                     toString(call.outputs[0]).c_str(),
                     toString(call.inputs[3]).c_str());
  return Status::ok();
}

Status cpu::readFlag(const Attributes &attributes, std::string_view name,
                     bool &value) {
  int64_t held = attributes.getInt(name, 0);
  if (held != 0 && held != 1)
    return invalid("expected attribute '" + std::string(name) +
                   "' to be 0 or 1, got " + std::to_string(held));
  value = held == 1;
  return Status::ok();
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
  return invalid("unknown activation '" + std::string(name) + "'");
}

Status cpu::checkWorkspace(const KernelCall &call, size_t bytes,
                           size_t results) {
  const bool hasWorkspace =
      call.outputs.size() == results + 1 && call.outputs[results].isStatic() &&
      call.outputs[results].rank() == 1 &&
      sizeOf(call.outputs[results].type) == 1 &&
      static_cast<uint64_t>(call.outputs[results].shape[0]) >= bytes;
  if (hasWorkspace ? bytes > 0 : bytes == 0 && call.outputs.size() == results)
    return Status::ok();
  if (bytes == 0)
    return makeError(StatusCode::InvalidArgument, "expected no workspace");
  return makeError(StatusCode::InvalidArgument,
                   "expected a workspace of %zu bytes", bytes);
}

uint64_t cpu::bytesOf(const KernelCall &call) {
  uint64_t bytes = 0;
  auto add = [&](const TensorType &type) {
    if (type.type != DLC_INVALID_TYPE)
      bytes += byteCount(type.type, type.shape).value_or(0);
  };
  for (const TensorType &type : call.inputs)
    add(type);
  for (const TensorType &type : call.outputs)
    add(type);
  return bytes;
}

void cpu::setRounded(const KernelCall &call, KernelCost &cost) {
  const TensorType &packed = call.inputs[1];
  cost.bytes -= byteCount(packed.type, packed.shape).value_or(0) / 2;
  cost.saved = cost.flops / 2;
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
