// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Ports.h"

#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string dlc::graph::nameOf(StringAttr name, unsigned number) {
  return name ? name.str() : "#" + std::to_string(number);
}

StringAttr dlc::graph::givenName(FunctionOpInterface function, unsigned number,
                                 bool isResult) {
  StringRef attribute = GraphDialect::kNameAttr;
  return isResult ? function.getResultAttrOfType<StringAttr>(number, attribute)
                  : function.getArgAttrOfType<StringAttr>(number, attribute);
}

SmallVector<BlockArgument>
dlc::graph::findUpdates(FunctionOpInterface function) {
  DenseMap<StringAttr, BlockArgument> named;
  for (BlockArgument argument : function.getArguments())
    if (StringAttr name =
            givenName(function, argument.getArgNumber(), /*isResult=*/false))
      named.try_emplace(name, argument);
  SmallVector<BlockArgument> updates(function.getNumResults());
  for (auto [i, argument] : llvm::enumerate(updates))
    if (auto name = function.getResultAttrOfType<StringAttr>(
            i, GraphDialect::kUpdatesAttr))
      argument = named.lookup(name);
  return updates;
}

/// A name that no other has.
static StringAttr uniqueName(FunctionOpInterface function, bool isResult,
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

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

BlockArgument dlc::graph::addArgument(FunctionOpInterface function, Type type,
                                      const std::string &name) {
  unsigned number = function.getNumArguments();
  Builder builder(function.getContext());
  auto attributes = builder.getDictionaryAttr(builder.getNamedAttr(
      GraphDialect::kNameAttr, uniqueName(function, /*isResult=*/false, name)));
  (void)function.insertArgument(number, type, attributes, function.getLoc());
  return function.getArgument(number);
}

BlockArgument dlc::graph::addRandom(FunctionOpInterface function) {
  Builder builder(function.getContext());
  BlockArgument argument = addArgument(
      function, RankedTensorType::get({2}, builder.getI64Type()), "random");
  function.setArgAttr(argument.getArgNumber(), GraphDialect::kRandomAttr,
                      builder.getUnitAttr());
  return argument;
}

void dlc::graph::addResult(FunctionOpInterface function, Value value,
                           const std::string &name) {
  unsigned number = function.getNumResults();
  Builder builder(function.getContext());
  auto attributes = builder.getDictionaryAttr(builder.getNamedAttr(
      GraphDialect::kNameAttr, uniqueName(function, /*isResult=*/true, name)));
  (void)function.insertResult(number, value.getType(), attributes);
  Operation *end = function.getFunctionBody().front().getTerminator();
  end->insertOperands(end->getNumOperands(), value);
}

void dlc::graph::addUpdate(FunctionOpInterface function, BlockArgument argument,
                           Value value) {
  StringAttr name =
      givenName(function, argument.getArgNumber(), /*isResult=*/false);
  addResult(function, value, "new " + name.str());
  function.setResultAttr(function.getNumResults() - 1,
                         GraphDialect::kUpdatesAttr, name);
}

size_t dlc::graph::eraseDead(Block &block) {
  size_t erased = 0;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op)) {
      op.erase();
      ++erased;
    }
  return erased;
}
