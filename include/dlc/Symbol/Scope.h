// SPDX-License-Identifier: Apache-2.0
//
// What is said of all symbols that a stretch of code makes: attributes and
// names. Scopes nest, belong to the thread that made them, and end in reverse
// order, as objects in blocks do.

#ifndef DLC_SYMBOL_SCOPE_H
#define DLC_SYMBOL_SCOPE_H

#include "dlc/Symbol/Parameter.h"

namespace dlc::symbol {

/// Gives its attributes, and those of the scopes around it, to all variables
/// and applications of operators; what these say of themselves counts more.
/// Text that is not UTF-8 makes them fail.
class AttributeScope {
public:
  explicit AttributeScope(const Attributes &attributes);
  ~AttributeScope();
  AttributeScope(const AttributeScope &) = delete;
  AttributeScope &operator=(const AttributeScope &) = delete;

  /// All attributes in force in this thread.
  static const Attributes &current();

private:
  Attributes outer;
};

/// Puts `prefix` in front of the names of applications, given and made up, and
/// counts the latter from 0. Names of variables stay as they are given.
class NameScope {
public:
  explicit NameScope(std::string prefix = {});
  ~NameScope();
  NameScope(const NameScope &) = delete;
  NameScope &operator=(const NameScope &) = delete;

  /// The name of an application of `op` in the innermost scope: `given`, or
  /// "convolution0" for the first Convolution without a name.
  static std::string nameFor(std::string_view op, std::string given);

private:
  std::string prefix;
  std::map<std::string, unsigned, std::less<>> counts;
  NameScope *outer;
};

} // namespace dlc::symbol

#endif // DLC_SYMBOL_SCOPE_H
