// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Attributes.h"

using namespace dlc::rt;

const AttributeValue *Attributes::find(std::string_view name) const {
  for (const Attribute &entry : entries)
    if (entry.name == name)
      return &entry.value;
  return nullptr;
}

void Attributes::set(std::string_view name, AttributeValue value) {
  for (Attribute &entry : entries) {
    if (entry.name == name) {
      entry.value = std::move(value);
      return;
    }
  }
  entries.push_back({std::string(name), std::move(value)});
}

int64_t Attributes::getInt(std::string_view name, int64_t defaultValue) const {
  const AttributeValue *value = find(name);
  const int64_t *held = value ? std::get_if<int64_t>(value) : nullptr;
  return held ? *held : defaultValue;
}

double Attributes::getFloat(std::string_view name, double defaultValue) const {
  const AttributeValue *value = find(name);
  const double *held = value ? std::get_if<double>(value) : nullptr;
  return held ? *held : defaultValue;
}

std::string_view Attributes::getString(std::string_view name,
                                       std::string_view defaultValue) const {
  const AttributeValue *value = find(name);
  const std::string *held = value ? std::get_if<std::string>(value) : nullptr;
  return held ? std::string_view(*held) : defaultValue;
}

std::span<const int64_t> Attributes::getInts(std::string_view name) const {
  const AttributeValue *value = find(name);
  const auto *held = value ? std::get_if<std::vector<int64_t>>(value) : nullptr;
  return held ? std::span<const int64_t>(*held) : std::span<const int64_t>();
}

std::span<const double> Attributes::getFloats(std::string_view name) const {
  const AttributeValue *value = find(name);
  const auto *held = value ? std::get_if<std::vector<double>>(value) : nullptr;
  return held ? std::span<const double>(*held) : std::span<const double>();
}
