// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/Operator.h"

#include "Operators/Families.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

using namespace dlc;
using namespace dlc::symbol;

bool Condition::holds(const Parameters &parameters) const {
  bool isEqual =
      parameter.empty() || toText(parameters.get(parameter)) == value;
  return isEqual != isNegated &&
         (alsoNone.empty() || parameters.isNone(alsoNone));
}

//===-- Operands ----------------------------------------------------------===//

static std::vector<std::string> numberedNames(const char *stem, int64_t count) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i)
    names.push_back(stem + std::to_string(i));
  return names;
}

bool Operator::isVariadic(const Parameters &parameters) const {
  return !inputCount.empty() && countsInputs.holds(parameters);
}

std::vector<std::string>
Operator::inputNames(const Parameters &parameters) const {
  if (isVariadic(parameters))
    return numberedNames("arg", parameters.getInt(inputCount) * inputsOfEach -
                                    static_cast<int64_t>(bodyCount));
  std::vector<std::string> names;
  for (const Input &input : inputs)
    if (input.exists.holds(parameters))
      names.emplace_back(input.name);
  return names;
}

std::optional<int64_t>
Operator::countedOutputs(const Parameters &parameters) const {
  if (countOutputs)
    return countOutputs(parameters);
  if (!outputCount.empty())
    return parameters.getInt(outputCount);
  return std::nullopt;
}

std::vector<std::string>
Operator::outputNames(const Parameters &parameters) const {
  std::optional<int64_t> count = countedOutputs(parameters);
  if (count && outputs.size() > 1) {
    std::vector<std::string> names;
    for (const Output &output : std::span(outputs).first(*count))
      names.emplace_back(output.name);
    return names;
  }
  if (count)
    return *count == 1 && !numbersOneOutput ? std::vector<std::string>{"output"}
                                            : numberedNames("output", *count);
  std::vector<std::string> names;
  for (const Output &output : outputs)
    if (output.exists.holds(parameters))
      names.emplace_back(output.name);
  return names;
}

std::string Operator::outputName(const Parameters &parameters,
                                 size_t index) const {
  bool isNumbered =
      countedOutputs(parameters).value_or(1) > 1 && outputs.size() == 1;
  return isNumbered ? "output" + std::to_string(index)
                    : outputNames(parameters)[index];
}

size_t Operator::outputCountOf(const Parameters &parameters) const {
  if (std::optional<int64_t> count = countedOutputs(parameters))
    return *count;
  return std::ranges::count_if(outputs, [&](const Output &output) {
    return output.exists.holds(parameters);
  });
}

size_t Operator::visibleOutputCount(const Parameters &parameters) const {
  if (std::optional<int64_t> count = countedOutputs(parameters))
    return *count;
  return std::ranges::count_if(outputs, [&](const Output &output) {
    return output.exists.holds(parameters) &&
           output.isVisible.holds(parameters);
  });
}

const Input *Operator::declarationOf(const Parameters &parameters,
                                     size_t index) const {
  if (isVariadic(parameters))
    return nullptr;
  for (const Input &input : inputs)
    if (input.exists.holds(parameters) && index-- == 0)
      return &input;
  return nullptr;
}

InputRole Operator::roleOf(const Parameters &parameters, size_t index) const {
  const Input *input = declarationOf(parameters, index);
  return input ? input->role : InputRole::Argument;
}

//===-- The registry ------------------------------------------------------===//

namespace {
struct Registry {
  Registry();
  std::unordered_map<std::string_view, const Operator *> byName;
  std::vector<const Operator *> all;
};
} // namespace

Registry::Registry() {
  for (auto *family : families)
    for (const Operator &op : family()) {
      all.push_back(&op);
      bool isNew = byName.emplace(op.name, &op).second;
      for (std::string_view alias : op.aliases)
        isNew &= byName.emplace(alias, &op).second;
      if (!isNew) {
        std::fprintf(stderr, "internal: a name of operator %.*s is taken\n",
                     static_cast<int>(op.name.size()), op.name.data());
        std::abort();
      }
    }
  std::ranges::sort(all, {}, &Operator::name);
}

static const Registry &registry() {
  static const Registry instance;
  return instance;
}

const Operator *symbol::findOperator(std::string_view name) {
  auto find = [](std::string_view each) -> const Operator * {
    auto found = registry().byName.find(each);
    return found == registry().byName.end() ? nullptr : found->second;
  };
  const Operator *op = find(name);
  // The same on sparse arrays, which are dense ones here.
  constexpr std::string_view sparse = "_sparse_";
  if (!op && name.starts_with(sparse))
    op = find(name.substr(sparse.size()));
  return op;
}

std::span<const Operator *const> symbol::allOperators() {
  return registry().all;
}
