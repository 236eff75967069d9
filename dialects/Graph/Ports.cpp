// SPDX-License-Identifier: Apache-2.0

#include "Ports.h"

#include "dlc/dialects/Graph/GraphDialect.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

std::string dlc::graph::nameOf(StringAttr name, unsigned number) {
  return name ? name.str() : "#" + std::to_string(number);
}

StringAttr dlc::graph::givenName(func::FuncOp function, unsigned number,
                                 bool isResult) {
  StringRef attribute = GraphDialect::kNameAttr;
  return isResult ? function.getResultAttrOfType<StringAttr>(number, attribute)
                  : function.getArgAttrOfType<StringAttr>(number, attribute);
}

BlockArgument dlc::graph::updatedArgument(func::FuncOp function,
                                          unsigned number) {
  auto name = function.getResultAttrOfType<StringAttr>(
      number, GraphDialect::kUpdatesAttr);
  for (BlockArgument argument : function.getArguments())
    if (name && name == givenName(function, argument.getArgNumber(), false))
      return argument;
  return {};
}

/// A name that no other has.
static StringAttr uniqueName(func::FuncOp function, bool isResult,
                             std::string name) {
  llvm::StringSet<> taken;
  unsigned count =
      isResult ? function.getNumResults() : function.getNumArguments();
  for (unsigned i = 0; i < count; ++i)
    if (StringAttr other = givenName(function, i, isResult))
      taken.insert(other.getValue());
  std::string unique = name;
  for (int number = 2; taken.contains(unique); ++number)
    unique = name + " " + std::to_string(number);
  return StringAttr::get(function.getContext(), unique);
}

Value dlc::graph::addArgument(func::FuncOp function, Type type,
                              const std::string &name) {
  unsigned number = function.getNumArguments();
  StringAttr unique = uniqueName(function, /*isResult=*/false, name);
  auto attributes = DictionaryAttr::get(
      function.getContext(),
      NamedAttribute(
          StringAttr::get(function.getContext(), GraphDialect::kNameAttr),
          unique));
  (void)function.insertArgument(number, type, attributes, function.getLoc());
  return function.getArgument(number);
}

void dlc::graph::addResult(func::FuncOp function, Value value,
                           const std::string &name) {
  unsigned number = function.getNumResults();
  StringAttr unique = uniqueName(function, /*isResult=*/true, name);
  (void)function.insertResult(number, value.getType(), /*resultAttrs=*/{});
  function.setResultAttr(number, GraphDialect::kNameAttr, unique);
  Operation *end = function.getBody().front().getTerminator();
  end->insertOperands(end->getNumOperands(), value);
}
