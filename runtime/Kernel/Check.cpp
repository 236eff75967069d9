// SPDX-License-Identifier: Apache-2.0

#include "Check.h"

using namespace dlc::rt;

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

Status dlc::rt::checkAttributes(const Attributes &attributes,
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

Status dlc::rt::checkTensor(const TensorType &type, DataType element,
                            const char *role, int64_t minRank,
                            int64_t maxRank) {
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

bool dlc::rt::hasBias(const KernelCall &call) { return isPresent(call, 2); }
bool dlc::rt::hasResidual(const KernelCall &call) { return isPresent(call, 3); }

Status dlc::rt::checkBiasAndResidual(const KernelCall &call, int64_t channels) {
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

Status dlc::rt::readFlag(const Attributes &attributes, std::string_view name,
                         bool &value) {
  int64_t held = attributes.getInt(name, 0);
  if (held != 0 && held != 1)
    return invalid("expected attribute '" + std::string(name) +
                   "' to be 0 or 1, got " + std::to_string(held));
  value = held == 1;
  return Status::ok();
}

Status dlc::rt::checkWorkspace(const KernelCall &call, size_t bytes,
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

uint64_t dlc::rt::bytesOf(const KernelCall &call) {
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
