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

/// The names of dimensions without those that are static; null where there are
/// none.
static ArrayAttr withoutStatic(Attribute attribute, Type type) {
  auto dims = dyn_cast_or_null<ArrayAttr>(attribute);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!dims || !tensor || static_cast<int64_t>(dims.size()) != tensor.getRank())
    return {};
  SmallVector<Attribute> names(dims.begin(), dims.end());
  for (int64_t i = 0; i < tensor.getRank(); ++i)
    if (!tensor.isDynamicDim(i))
      names[i] = StringAttr::get(type.getContext(), "");
  return ArrayAttr::get(type.getContext(), names);
}

void dlc::graph::nameOpenDims(FunctionOpInterface function) {
  constexpr StringLiteral key = GraphDialect::kDimsAttr;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (ArrayAttr names = withoutStatic(function.getArgAttr(i, key), type))
      function.setArgAttr(i, key, names);
    else
      function.removeArgAttr(i, key);
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (ArrayAttr names = withoutStatic(
            function.getResultAttrOfType<ArrayAttr>(i, key), type))
      function.setResultAttr(i, key, names);
    else
      function.removeResultAttr(i, StringAttr::get(function.getContext(), key));
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

/// The attribute lists of new ports: each has its name, or one made of it that
/// no other has.
static SmallVector<DictionaryAttr> nameNew(FunctionOpInterface function,
                                           bool isResult,
                                           ArrayRef<std::string> names) {
  DenseSet<StringAttr> taken;
  unsigned count =
      isResult ? function.getNumResults() : function.getNumArguments();
  for (unsigned i = 0; i < count; ++i)
    if (StringAttr other = givenName(function, i, isResult))
      taken.insert(other);
  Builder builder(function.getContext());
  SmallVector<DictionaryAttr> lists;
  for (const std::string &name : names) {
    StringAttr unique = builder.getStringAttr(name);
    for (int number = 2; !taken.insert(unique).second; ++number)
      unique = builder.getStringAttr(name + " " + Twine(number));
    lists.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(GraphDialect::kNameAttr, unique)));
  }
  return lists;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

SmallVector<BlockArgument>
dlc::graph::addArguments(FunctionOpInterface function, TypeRange types,
                         ArrayRef<std::string> names) {
  unsigned first = function.getNumArguments();
  SmallVector<unsigned> places(types.size(), first);
  SmallVector<Location> locations(types.size(), function.getLoc());
  (void)function.insertArguments(
      places, types, nameNew(function, /*isResult=*/false, names), locations);
  return llvm::to_vector(function.getArguments().drop_front(first));
}

BlockArgument dlc::graph::addArgument(FunctionOpInterface function, Type type,
                                      const std::string &name) {
  return addArguments(function, type, name).front();
}

BlockArgument dlc::graph::addRandom(FunctionOpInterface function) {
  Builder builder(function.getContext());
  BlockArgument argument =
      addArgument(function, RankedTensorType::get({2}, builder.getI64Type()),
                  kRandomName.str());
  function.setArgAttr(argument.getArgNumber(), GraphDialect::kRandomAttr,
                      builder.getUnitAttr());
  return argument;
}

void dlc::graph::addResults(FunctionOpInterface function, ValueRange values,
                            ArrayRef<std::string> names,
                            ArrayRef<StringAttr> updates) {
  unsigned first = function.getNumResults();
  SmallVector<DictionaryAttr> lists =
      nameNew(function, /*isResult=*/true, names);
  for (auto [list, update] : llvm::zip(lists, updates))
    if (update) {
      NamedAttrList more(list);
      more.set(GraphDialect::kUpdatesAttr, update);
      list = more.getDictionary(function.getContext());
    }
  SmallVector<unsigned> places(values.size(), first);
  (void)function.insertResults(places, values.getTypes(), lists);
  Operation *end = function.getFunctionBody().front().getTerminator();
  end->insertOperands(end->getNumOperands(), values);
}

void dlc::graph::addResult(FunctionOpInterface function, Value value,
                           const std::string &name) {
  addResults(function, value, name);
}

void dlc::graph::addUpdates(FunctionOpInterface function,
                            ArrayRef<Update> updates) {
  SmallVector<Value> values;
  SmallVector<std::string> names;
  SmallVector<StringAttr> updated;
  for (auto [argument, value] : updates) {
    values.push_back(value);
    updated.push_back(
        givenName(function, argument.getArgNumber(), /*isResult=*/false));
    names.push_back("new " + updated.back().str());
  }
  addResults(function, values, names, updated);
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
