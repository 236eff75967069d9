// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/Scope.h"

#include "dlc/Symbol/Symbol.h"

using namespace dlc::symbol;

static thread_local Attributes currentAttributes;
static thread_local NameScope *innermost = nullptr;

//===-- Attributes --------------------------------------------------------===//

AttributeScope::AttributeScope(const Attributes &attributes)
    : outer(currentAttributes) {
  for (const auto &[key, value] : attributes)
    currentAttributes[attributeName(key)] = value;
}

AttributeScope::~AttributeScope() { currentAttributes = std::move(outer); }

const Attributes &AttributeScope::current() { return currentAttributes; }

//===-- Names -------------------------------------------------------------===//

NameScope::NameScope(std::string prefix)
    : prefix(std::move(prefix)), outer(innermost) {
  innermost = this;
}

NameScope::~NameScope() { innermost = outer; }

std::string NameScope::nameFor(std::string_view op, std::string given) {
  // Where no scope is open, numbers go on as long as the thread lives.
  static thread_local std::map<std::string, unsigned, std::less<>> openCounts;
  std::string_view prefix = innermost ? innermost->prefix : std::string_view();
  if (given.empty()) {
    for (char c : op)
      given += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    given +=
        std::to_string((innermost ? innermost->counts : openCounts)[given]++);
  }
  return std::string(prefix) + given;
}
