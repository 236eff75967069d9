// SPDX-License-Identifier: Apache-2.0

#include "Structure.h"

#include "LayerOrder.h"

#include "dlc/Symbol/IndexedGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstring>
#include <set>

using namespace dlc;
using namespace dlc::mxnet;
using llvm::StringRef;
using rt::Result;
using rt::Status;
using rt::StatusCode;
using symbol::IndexedGraph;

/// Bounds what is compared with each other.
static constexpr size_t kMaxLayers = 2048;

namespace {
/// The parameters that one block has itself.
struct Layer {
  std::string scope;                       ///< "features.0", "net0_conv0".
  std::map<std::string, std::string> name; ///< By kind.
  std::string form;                        ///< Kinds and shapes, as text.
  std::map<std::string, const rt::ParamsArray *> arrays; ///< In a file.
  std::vector<IndexedGraph::NodeId> variables;           ///< In a symbol.
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
    layers.push_back({scope, {}, {}, {}, {}});
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
    layer.arrays[kind.str()] = &array;
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
                                 const symbol::Inferred<symbol::Shape> &shapes,
                                 const std::set<std::string> &kinds) {
  std::map<std::string, symbol::Shape> shapeOf;
  auto collect = [&](auto names, const std::vector<symbol::Shape> &found) {
    for (size_t i = 0; i < names.size(); ++i)
      shapeOf[names[i]] = found[i];
  };
  collect(symbol.listArguments(), shapes.arguments);
  collect(symbol.listAuxiliaryStates(), shapes.auxiliaryStates);
  Layers layers;
  std::map<std::string, size_t> numbers;
  std::map<std::pair<size_t, std::string>, std::vector<int64_t>> forms;
  for (IndexedGraph::NodeId id : graph.inputNodes()) {
    const std::string &name = graph.node(id).name;
    StringRef end = endOf(name, kinds);
    if (end.empty() || known.contains(name))
      continue; // Data and labels.
    const symbol::Shape &shape = shapeOf[name];
    if (!symbol::isStatic(shape) && !known.empty())
      return bad("expected a shape for variable '", name,
                 "' that follows from those of --shape, so that arrays can be "
                 "matched by theirs, got none");
    if (!symbol::isStatic(shape))
      return bad("expected the shapes of the network's data (--shape), so that "
                 "arrays can be matched by theirs, got none for variable '",
                 name, "'");
    std::string kind = kindOfVariable(end).str();
    Layer &layer = layerOf(layers, numbers,
                           StringRef(name).drop_back(end.size() + 1).str());
    layer.variables.push_back(id);
    layer.name[kind] = name;
    forms[{static_cast<size_t>(&layer - layers.data()), kind}] = *shape;
  }
  for (auto &[key, shape] : forms)
    addForm(layers[key.first], key.second, shape);
  return layers;
}

//===-- Flow --------------------------------------------------------------===//

namespace {
/// Layers whose results a value depends on, and those of whose parameters it is
/// computed.
struct Dependences {
  bool isOfData = false;
  llvm::BitVector layers;
};
} // namespace

/// AlikeLayers::reached for some layers of a symbol.
static std::vector<llvm::BitVector> findReached(const IndexedGraph &graph,
                                                const Layers &layers,
                                                llvm::ArrayRef<size_t> some) {
  std::map<IndexedGraph::NodeId, size_t> owner;
  for (size_t i = 0; i < some.size(); ++i)
    for (IndexedGraph::NodeId variable : layers[some[i]].variables)
      owner[variable] = i;
  std::set<IndexedGraph::NodeId> parameters;
  for (const Layer &layer : layers)
    parameters.insert(layer.variables.begin(), layer.variables.end());
  std::vector<llvm::BitVector> reached(some.size(),
                                       llvm::BitVector(some.size()));
  std::vector<Dependences> nodes(graph.nodeCount());
  for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id) {
    Dependences &node = nodes[id];
    node.layers.resize(some.size());
    if (graph.node(id).isVariable()) {
      node.isOfData = !parameters.contains(id);
      if (auto found = owner.find(id); found != owner.end())
        node.layers.set(found->second);
      continue;
    }
    llvm::BitVector before(some.size()), own(some.size());
    for (const IndexedGraph::Use &use : graph.inputs(id)) {
      const Dependences &input = nodes[use.node];
      node.isOfData |= input.isOfData;
      (input.isOfData ? before : own) |= input.layers;
    }
    // A layer is where its parameters meet data.
    if (node.isOfData)
      for (unsigned layer : own.set_bits())
        reached[layer] |= before;
    node.layers = std::move(before);
    node.layers |= own;
  }
  return reached;
}

//===-- Matching ----------------------------------------------------------===//

using Group = std::vector<size_t>; ///< Layers of one form.

/// Those without a place in `said`.
static std::map<std::string, Group>
groupByForm(const Layers &layers, const std::set<std::string> &said) {
  std::map<std::string, Group> groups;
  for (size_t i = 0; i < layers.size(); ++i)
    if (!said.contains(layers[i].scope))
      groups[layers[i].form].push_back(i);
  return groups;
}

static bool areEqual(const rt::ParamsArray &a, const rt::ParamsArray &b) {
  if (a.layout != rt::ParamsLayout::Dense || b.layout != a.layout ||
      a.type.type != b.type.type || a.type.shape != b.type.shape ||
      !a.isDefined() || !b.isDefined())
    return false;
  rt::TensorView x = a.values.view(), y = b.values.view();
  return x.bytes() == y.bytes() &&
         (x.bytes() == 0 || std::memcmp(x.data, y.data, x.bytes()) == 0);
}

/// Blocks that share their parameters are saved one by one. Where a file has
/// more layers of a form than a symbol, those with the values of another one
/// are left out; that leaves as many, or the group as it was.
static void dropCopies(const Layers &theirs, size_t count, Group &group) {
  auto isCopy = [&](size_t a, size_t b) {
    return llvm::all_of(theirs[a].arrays, [&](const auto &entry) {
      return areEqual(*entry.second, *theirs[b].arrays.at(entry.first));
    });
  };
  Group kept;
  for (size_t layer : group)
    if (llvm::none_of(kept, [&](size_t k) { return isCopy(layer, k); }))
      kept.push_back(layer);
  if (kept.size() == count)
    group = std::move(kept);
}

namespace {
class Matcher {
public:
  Matcher(const IndexedGraph &graph, const Layers &ours, const Layers &theirs)
      : graph(graph), ours(ours), theirs(theirs) {}

  Status take(const std::map<std::string, std::string> &said);
  Status run();
  StructureMatch result;

private:
  Status pair(const Layer &layer, const Layer &variables);
  Status match(const Group &variables, const Group &arrays);

  const IndexedGraph &graph;
  const Layers &ours, &theirs;
  std::set<std::string> saidScopes, saidPaths;
};
} // namespace

Status Matcher::pair(const Layer &layer, const Layer &variables) {
  for (const auto &[kind, array] : layer.name) {
    auto variable = variables.name.find(kind);
    if (variable == variables.name.end()) // A name that looks like a list.
      return bad("expected a variable for array '", array, "', got none");
    result.variableOf[array] = variable->second;
  }
  return Status::ok();
}

/// What the user says comes before all else.
Status Matcher::take(const std::map<std::string, std::string> &said) {
  auto find = [](const Layers &layers, const std::string &scope) {
    return llvm::find_if(
        layers, [&](const Layer &each) { return each.scope == scope; });
  };
  for (const auto &[path, scope] : said) {
    auto layer = find(theirs, path);
    auto variables = find(ours, scope);
    if (layer == theirs.end())
      return bad("--layer ", path, "=", scope,
                 ": expected a layer of the file, got '", path, "'");
    if (variables == ours.end())
      return bad("--layer ", path, "=", scope,
                 ": expected a layer of the network, got '", scope, "'");
    if (layer->form != variables->form)
      return bad("--layer ", path, "=", scope, ": expected ", variables->form,
                 ", got ", layer->form);
    if (!saidScopes.insert(scope).second)
      return bad("--layer ", path, "=", scope,
                 ": expected each layer of the network once, got '", scope,
                 "' twice");
    saidPaths.insert(path);
    DLC_RETURN_IF_ERROR(pair(*layer, *variables));
  }
  return Status::ok();
}

Status Matcher::match(const Group &variables, const Group &arrays) {
  AlikeLayers alike;
  for (size_t layer : arrays)
    alike.paths.push_back(theirs[layer].scope);
  for (size_t layer : variables)
    alike.scopes.push_back(ours[layer].scope);
  if (variables.size() > 1)
    alike.reached = findReached(graph, ours, variables);
  else
    alike.reached.resize(1, llvm::BitVector(1));
  LayerOrder order = orderAlikeLayers(alike);
  auto scopeOf = [&](size_t path) -> const std::string & {
    return ours[variables[order.scopeOf[path]]].scope;
  };
  if (order.unclear) {
    auto [p, q] = *order.unclear;
    return bad("expected one layer for '", theirs[arrays[q]].scope, "', got '",
               scopeOf(p), "' and '", scopeOf(q), "', both with ",
               ours[variables[0]].form, ", ", order.reason,
               "; dlc export --layer ", theirs[arrays[q]].scope,
               "=NAME -o NEW-symbol.json says which");
  }
  result.guesses += order.guesses;
  for (size_t i = 0; i < arrays.size(); ++i)
    DLC_RETURN_IF_ERROR(
        pair(theirs[arrays[i]], ours[variables[order.scopeOf[i]]]));
  return Status::ok();
}

Status Matcher::run() {
  auto variables = groupByForm(ours, saidScopes);
  auto arrays = groupByForm(theirs, saidPaths);
  for (const auto &[form, layers] : variables) {
    Group &saved = arrays[form];
    if (saved.size() > layers.size())
      dropCopies(theirs, layers.size(), saved);
    if (saved.size() != layers.size())
      return bad("expected ", std::to_string(layers.size()), " layers with ",
                 form, ", as '", ours[layers.front()].scope, "' has them, got ",
                 std::to_string(saved.size()));
  }
  for (const auto &[form, layers] : arrays)
    if (!variables.contains(form))
      return bad("expected a layer of the network for '",
                 theirs[layers.front()].scope, "' with ", form, ", got none");
  for (const auto &[form, layers] : variables)
    DLC_RETURN_IF_ERROR(match(layers, arrays[form]));
  return Status::ok();
}

Result<StructureMatch>
mxnet::matchByStructure(const symbol::Symbol &symbol,
                        const symbol::KnownShapes &known,
                        const symbol::Inferred<symbol::Shape> &shapes,
                        const std::map<std::string, std::string> &said,
                        const rt::ParamsList &list) {
  std::set<std::string> kinds;
  Layers theirs = readFile(list, kinds);
  IndexedGraph graph(symbol);
  Result<Layers> ours = readSymbol(graph, symbol, known, shapes, kinds);
  if (!ours.isOk())
    return std::move(ours.status());
  if (std::max(ours->size(), theirs.size()) > kMaxLayers)
    return Status(StatusCode::Unsupported, "unsupported: more than " +
                                               std::to_string(kMaxLayers) +
                                               " layers");
  Matcher matcher(graph, *ours, theirs);
  DLC_RETURN_IF_ERROR(matcher.take(said));
  DLC_RETURN_IF_ERROR(matcher.run());
  return std::move(matcher.result);
}
