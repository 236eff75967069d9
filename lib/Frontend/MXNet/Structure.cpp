// SPDX-License-Identifier: Apache-2.0
//
// A block names its variables after the order in which layers were made, scope
// by scope: resnetv10_stage2_conv0_weight. A file has its arrays in that order.
// So layers with the same kinds and shapes of parameters are matched in order;
// where names do not tell it, the flow of data does, and where that does not
// either, the match is refused.

#include "Structure.h"

#include "dlc/Symbol/IndexedGraph.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <set>

using namespace dlc;
using namespace dlc::mxnet;
using llvm::StringRef;
using rt::Result;
using rt::Status;
using rt::StatusCode;
using symbol::IndexedGraph;

/// Bounds of what is compared with each other, and of a recursion.
static constexpr size_t kMaxLayers = 4096;
static constexpr int kMaxWords = 64;

namespace {
/// The parameters that one block has itself.
struct Layer {
  std::string scope;                       ///< "features.0", "net0_conv0".
  std::map<std::string, std::string> name; ///< By kind.
  std::string form;                        ///< Kinds and shapes, as text.
  IndexedGraph::NodeId first = 0;          ///< A variable of it, in a symbol.
};
using Layers = std::vector<Layer>;
} // namespace

template <typename... Parts> static Status bad(const Parts &...parts) {
  std::string message;
  ((message += parts), ...);
  return Status(StatusCode::InvalidArgument, std::move(message));
}

static Layer &layerOf(Layers &layers, std::map<std::string, size_t> &numbers,
                      const std::string &scope) {
  auto [found, isNew] = numbers.try_emplace(scope, layers.size());
  if (isNew)
    layers.push_back({scope, {}, {}, 0});
  return layers[found->second];
}

static void addForm(Layer &layer, const std::string &kind,
                    const std::vector<int64_t> &shape) {
  layer.form += (layer.form.empty() ? "" : ", ") + kind + " " +
                symbol::toText(symbol::Shape(shape));
}

//===-- The file ----------------------------------------------------------===//

/// Layers in the order of the file; `kinds` gets the last parts of all names.
static Layers readFile(const rt::ParamsList &list,
                       std::set<std::string> &kinds) {
  Layers layers;
  std::map<std::string, size_t> numbers;
  std::map<std::pair<size_t, std::string>, std::vector<int64_t>> shapes;
  for (const rt::ParamsArray &array : list.arrays) {
    auto [scope, kind] = StringRef(array.name).rsplit('.');
    if (kind.empty())
      std::swap(scope, kind); // Of the outermost block.
    Layer &layer = layerOf(layers, numbers, scope.str());
    layer.name[kind.str()] = array.name;
    shapes[{static_cast<size_t>(&layer - layers.data()), kind.str()}] =
        array.type.shape;
    kinds.insert(kind.str());
  }
  for (auto &[key, shape] : shapes)
    addForm(layers[key.first], key.second, shape);
  return layers;
}

//===-- The symbol --------------------------------------------------------===//

/// What operators call it that blocks call otherwise.
static StringRef kindOfVariable(StringRef kind) {
  return kind == "moving_mean"  ? "running_mean"
         : kind == "moving_var" ? "running_var"
                                : kind;
}

/// The longest kind that ends a name behind "_"; "" for none.
static StringRef endOf(StringRef name, const std::set<std::string> &kinds) {
  StringRef best;
  for (const std::string &kind : kinds)
    for (StringRef each :
         {StringRef(kind), kind == "running_mean"  ? StringRef("moving_mean")
                           : kind == "running_var" ? StringRef("moving_var")
                                                   : StringRef(kind)})
      if (each.size() > best.size() && name.ends_with(each) &&
          name.drop_back(each.size()).ends_with("_"))
        best = each;
  return best;
}

static Result<Layers> readSymbol(const IndexedGraph &graph,
                                 const symbol::Symbol &symbol,
                                 const symbol::KnownShapes &known,
                                 const std::set<std::string> &kinds) {
  Result<symbol::Inferred<symbol::Shape>> shapes =
      symbol::inferShapes(symbol, known, symbol::Completeness::Partial);
  if (!shapes.isOk())
    return std::move(shapes.status());
  std::map<std::string, symbol::Shape> shapeOf;
  auto collect = [&](auto names, const std::vector<symbol::Shape> &found) {
    for (size_t i = 0; i < names.size(); ++i)
      shapeOf[names[i]] = found[i];
  };
  collect(symbol.listArguments(), shapes->arguments);
  collect(symbol.listAuxiliaryStates(), shapes->auxiliaryStates);
  Layers layers;
  std::map<std::string, size_t> numbers;
  std::map<std::pair<size_t, std::string>, std::vector<int64_t>> forms;
  for (IndexedGraph::NodeId id : graph.inputNodes()) {
    const std::string &name = graph.node(id).name;
    StringRef end = endOf(name, kinds);
    if (end.empty() || known.contains(name))
      continue; // Data and labels.
    const symbol::Shape &shape = shapeOf[name];
    if (!symbol::isStatic(shape))
      return bad("expected the shapes of the network's data (--shape), so that "
                 "arrays can be matched by theirs, got none for variable '",
                 name, "'");
    std::string kind = kindOfVariable(end).str();
    Layer &layer = layerOf(layers, numbers,
                           StringRef(name).drop_back(end.size() + 1).str());
    if (layer.name.empty())
      layer.first = id;
    layer.name[kind] = name;
    forms[{static_cast<size_t>(&layer - layers.data()), kind}] = *shape;
  }
  for (auto &[key, shape] : forms)
    addForm(layers[key.first], key.second, shape);
  return layers;
}

//===-- The order in which layers were made -------------------------------===//

/// "conv12" is number 12 of "conv".
static std::pair<StringRef, std::optional<unsigned>> numberOf(StringRef part) {
  StringRef stem = part.rtrim("0123456789");
  unsigned number = 0;
  if (part.drop_front(stem.size()).getAsInteger(10, number))
    return {stem, std::nullopt};
  return {stem, number};
}

namespace {
/// Layers below a common beginning of their scopes.
struct Branch {
  std::string part; ///< The next word of the scopes.
  std::vector<size_t> layers;
};
} // namespace

/// Appends `layers`, which agree up to word `depth`, in the order in which they
/// were made: branches of one stem by number, in the places that the flow of
/// data gives these branches.
static void orderLayers(const std::vector<llvm::SmallVector<StringRef>> &words,
                        const std::vector<size_t> &layers, size_t depth,
                        std::vector<size_t> &order) {
  std::vector<Branch> branches;
  std::map<StringRef, size_t> numbers;
  for (size_t layer : layers) {
    StringRef part =
        depth < words[layer].size() ? words[layer][depth] : StringRef();
    auto [known, isNew] = numbers.try_emplace(part, branches.size());
    if (isNew)
      branches.push_back({part.str(), {}});
    branches[known->second].layers.push_back(layer);
  }
  if (branches.size() == 1 && depth >= words[layers.front()].size()) {
    order.insert(order.end(), layers.begin(), layers.end());
    return;
  }
  std::map<std::string, std::vector<size_t>> numbered; // Places by stem.
  for (size_t i = 0; i < branches.size(); ++i)
    if (auto [stem, number] = numberOf(branches[i].part); number)
      numbered[stem.str()].push_back(i);
  std::vector<size_t> places(branches.size());
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = i;
  for (auto &[stem, ofStem] : numbered) {
    std::vector<size_t> sorted = ofStem;
    std::ranges::sort(sorted, {}, [&](size_t i) {
      return *numberOf(branches[i].part).second;
    });
    for (size_t i = 0; i < sorted.size(); ++i)
      places[ofStem[i]] = sorted[i];
  }
  for (size_t place : places)
    orderLayers(words, branches[place].layers, depth + 1, order);
}

/// Names tell which of the two was made first.
static bool isToldByNames(llvm::ArrayRef<StringRef> a,
                          llvm::ArrayRef<StringRef> b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] != b[i]) {
      auto [stemA, numberA] = numberOf(a[i]);
      auto [stemB, numberB] = numberOf(b[i]);
      return numberA && numberB && stemA == stemB;
    }
  return false;
}

/// What the readers of a layer's parameters give reaches those of the other.
static bool reaches(const IndexedGraph &graph, const Layer &from,
                    const Layer &to) {
  std::vector<bool> isReached(graph.nodeCount(), false);
  for (const IndexedGraph::Reader &reader :
       graph.readers(graph.entryId(from.first, 0)))
    isReached[reader.node] = true;
  for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id) {
    bool isReader = false;
    for (const IndexedGraph::Use &use : graph.inputs(id)) {
      isReached[id] = isReached[id] || isReached[use.node];
      isReader |= use.node == to.first;
    }
    if (isReader && isReached[id])
      return true;
  }
  return false;
}

//===-- Matching ----------------------------------------------------------===//

/// The numbers of layers by form, each list in the order of `order`.
static std::map<std::string, std::vector<size_t>>
groupByForm(const Layers &layers, const std::vector<size_t> &order) {
  std::map<std::string, std::vector<size_t>> groups;
  for (size_t i : order)
    groups[layers[i].form].push_back(i);
  return groups;
}

static std::vector<size_t> inOrder(const Layers &layers) {
  std::vector<size_t> order(layers.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  return order;
}

/// A form has as many layers on both sides.
static Status
checkCounts(const Layers &ours, const Layers &theirs,
            const std::map<std::string, std::vector<size_t>> &variables,
            const std::map<std::string, std::vector<size_t>> &arrays) {
  auto find = [](const auto &groups, const std::string &form) {
    auto found = groups.find(form);
    return found == groups.end() ? std::vector<size_t>() : found->second;
  };
  for (const auto &[form, layers] : variables)
    if (size_t count = find(arrays, form).size(); count != layers.size())
      return bad("expected ", std::to_string(layers.size()), " layers with ",
                 form, ", as '", ours[layers.front()].scope, "' has them, got ",
                 std::to_string(count));
  for (const auto &[form, layers] : arrays)
    if (!variables.contains(form))
      return bad("expected a layer of the network for '",
                 theirs[layers.front()].scope, "' with ", form, ", got none");
  return Status::ok();
}

Result<std::map<std::string, std::string>>
mxnet::matchByStructure(const symbol::Symbol &symbol,
                        const symbol::KnownShapes &known,
                        const rt::ParamsList &list) {
  std::set<std::string> kinds;
  Layers theirs = readFile(list, kinds);
  IndexedGraph graph(symbol);
  Result<Layers> ours = readSymbol(graph, symbol, known, kinds);
  if (!ours.isOk())
    return std::move(ours.status());
  if (std::max(ours->size(), theirs.size()) > kMaxLayers)
    return Status(StatusCode::Unsupported, "unsupported: more than " +
                                               std::to_string(kMaxLayers) +
                                               " layers");
  std::vector<llvm::SmallVector<StringRef>> words(ours->size());
  for (size_t i = 0; i < ours->size(); ++i)
    StringRef((*ours)[i].scope)
        .split(words[i], '_', kMaxWords, /*KeepEmpty=*/false);
  std::vector<size_t> order;
  if (!ours->empty())
    orderLayers(words, inOrder(*ours), 0, order);
  auto variables = groupByForm(*ours, order);
  auto arrays = groupByForm(theirs, inOrder(theirs));
  DLC_RETURN_IF_ERROR(checkCounts(*ours, theirs, variables, arrays));
  std::map<std::string, std::string> result;
  for (const auto &[form, layers] : variables) {
    const std::vector<size_t> &others = arrays[form];
    for (size_t i = 0; i < layers.size(); ++i) {
      const Layer &layer = (*ours)[layers[i]];
      if (i > 0) {
        const Layer &before = (*ours)[layers[i - 1]];
        if (!isToldByNames(words[layers[i - 1]], words[layers[i]]) &&
            !reaches(graph, before, layer))
          return bad("expected one layer for '", theirs[others[i]].scope,
                     "', got '", before.scope, "' and '", layer.scope,
                     "', both with ", form,
                     ", of which nothing tells the order");
      }
      for (const auto &[kind, array] : theirs[others[i]].name) {
        auto variable = layer.name.find(kind);
        if (variable == layer.name.end()) // A name that looks like a list.
          return bad("expected a variable for array '", array, "', got none");
        result[array] = variable->second;
      }
    }
  }
  return result;
}
