// SPDX-License-Identifier: Apache-2.0

#include "Structure.h"

#include "LayerOrder.h"

#include "dlc/Symbol/IndexedGraph.h"
#include "dlc/runtime/Base/Names.h"

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

/// Shapes by kind.
using Form = std::map<std::string, std::vector<int64_t>>;

namespace {
/// The parameters that one block has itself.
struct Layer {
  std::string scope;                       ///< "features.0", "net0_conv0".
  std::map<std::string, std::string> name; ///< By kind.
  Form form;
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

/// "bias (4,), weight (4, 4)".
static std::string toText(const Form &form) {
  std::string text;
  for (const auto &[kind, shape] : form)
    text += (text.empty() ? "" : ", ") + rt::toPrintable(kind) + " " +
            symbol::toText(symbol::Shape(shape));
  return text;
}

//===-- The file ----------------------------------------------------------===//

/// Layers in the order of the file; `kinds` gets the last parts of all names.
static Layers readFile(const rt::ParamsList &list,
                       std::set<std::string, std::less<>> &kinds) {
  Layers layers;
  std::map<std::string, size_t> numbers;
  for (const rt::ParamsArray &array : list.arrays) {
    auto [scope, kind] = StringRef(array.name).rsplit('.');
    if (kind.empty())
      std::swap(scope, kind); // Of the outermost block.
    Layer &layer = layerOf(layers, numbers, scope.str());
    layer.name[kind.str()] = array.name;
    layer.arrays[kind.str()] = &array;
    layer.form[kind.str()] = array.type.shape;
    kinds.insert(kind.str());
  }
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
static StringRef endOf(StringRef name,
                       const std::set<std::string, std::less<>> &kinds) {
  for (size_t at = name.find('_'); at != StringRef::npos;
       at = name.find('_', at + 1))
    if (StringRef end = name.substr(at + 1);
        !end.empty() && kinds.contains(std::string_view(kindOfVariable(end))))
      return end;
  return {};
}

static Result<Layers>
readSymbol(const IndexedGraph &graph, const symbol::Symbol &symbol,
           const symbol::KnownShapes &known,
           const symbol::Inferred<symbol::Shape> &shapes,
           const std::set<std::string, std::less<>> &kinds) {
  std::map<std::string, symbol::Shape> shapeOf;
  auto collect = [&](auto names, const std::vector<symbol::Shape> &found) {
    for (size_t i = 0; i < names.size(); ++i)
      shapeOf[names[i]] = found[i];
  };
  collect(symbol.listArguments(), shapes.arguments);
  collect(symbol.listAuxiliaryStates(), shapes.auxiliaryStates);
  Layers layers;
  std::map<std::string, size_t> numbers;
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
    layer.form[kind] = *shape;
  }
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
  std::set<unsigned> met;
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
    // A layer is where its parameters meet data, for the first time if shared.
    if (node.isOfData)
      for (unsigned layer : own.set_bits())
        if (met.insert(layer).second)
          reached[layer] = before;
    node.layers = std::move(before);
    node.layers |= own;
  }
  return reached;
}

//===-- Matching ----------------------------------------------------------===//

using Group = std::vector<size_t>; ///< Layers of one form.

static std::map<Form, Group> groupByForm(const Layers &layers) {
  std::map<Form, Group> groups;
  for (size_t i = 0; i < layers.size(); ++i)
    groups[layers[i].form].push_back(i);
  return groups;
}

static std::string listScopes(const Layers &layers, const Group &group) {
  std::vector<std::string> names;
  for (size_t layer : group)
    names.push_back("'" + rt::toPrintable(layers[layer].scope) + "'");
  return rt::listSome(names, 6);
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

namespace {
/// Layers of one form that are not told from each other.
struct OpenGroup {
  std::vector<Doubt> doubts;
  Group variables, arrays;
};

class StructureMatcher {
public:
  StructureMatcher(const IndexedGraph &graph, const Layers &ours,
                   const Layers &theirs, const LayerHints &hints)
      : graph(graph), ours(ours), theirs(theirs), hints(hints) {}

  Status run();
  StructureMatch result;

private:
  Status readHints();
  void dropCopies(size_t count, Group &group) const;
  Status dropUnused(const Group &variables, Group &group);
  Status pair(const Layer &layer, const Layer &variables);
  Status match(const Group &variables, const Group &arrays);
  Status describeDoubts() const;

  const IndexedGraph &graph;
  const Layers &ours, &theirs;
  const LayerHints &hints;
  /// Layers of the symbol by those of the file.
  std::map<size_t, size_t> known;
  std::set<size_t> dropped; ///< Of the file.
  std::vector<OpenGroup> doubts;
};
} // namespace

/// What the user says comes before all else.
Status StructureMatcher::readHints() {
  auto find = [](const Layers &layers, const std::string &scope) {
    auto has = [&](const Layer &each) { return each.scope == scope; };
    return static_cast<size_t>(llvm::find_if(layers, has) - layers.begin());
  };
  auto all = [](const Layers &layers) {
    Group group;
    for (size_t i = 0; i < layers.size(); ++i)
      group.push_back(i);
    return listScopes(layers, group);
  };
  std::set<size_t> taken;
  for (const auto &[path, scope] : hints.scopeOf) {
    auto fail = [&, what = "--layer " + path + "=" + scope + ": "](
                    const auto &...parts) { return bad(what, parts...); };
    size_t droppedBefore = dropped.size();
    for (size_t i = 0; scope.empty() && i < theirs.size(); ++i)
      if (StringRef each = theirs[i].scope;
          each == path || each.starts_with(path + "."))
        dropped.insert(i);
    if (dropped.size() > droppedBefore)
      continue;
    size_t layer = find(theirs, path), variables = find(ours, scope);
    if (layer == theirs.size())
      return fail("expected a layer of the file, got '", path, "'; it has ",
                  all(theirs));
    if (variables == ours.size())
      return fail("expected a layer of the network, got '", scope, "'; it has ",
                  all(ours));
    if (theirs[layer].form != ours[variables].form)
      return fail("expected ", toText(ours[variables].form), ", got ",
                  toText(theirs[layer].form));
    if (!taken.insert(variables).second)
      return fail("expected each layer of the network once, got '", scope,
                  "' twice");
    known[layer] = variables;
  }
  return Status::ok();
}

/// Blocks that share their parameters are saved one by one. Where a file has
/// more layers of a form than a symbol, those with the values of another one
/// are left out; that leaves as many, or the group as it was.
void StructureMatcher::dropCopies(size_t count, Group &group) const {
  auto isCopy = [&](size_t a, size_t b) {
    return llvm::all_of(theirs[a].arrays, [&](const auto &entry) {
      return areEqual(*entry.second, *theirs[b].arrays.at(entry.first));
    });
  };
  Group kept;
  for (size_t layer : group)
    if (known.contains(layer) ||
        llvm::none_of(kept, [&](size_t k) { return isCopy(layer, k); }))
      kept.push_back(layer);
  if (kept.size() == count)
    group = std::move(kept);
}

/// Leaves layers out that the network has no use for: those that the user says,
/// and all that are left where he says all others.
Status StructureMatcher::dropUnused(const Group &variables, Group &group) {
  auto isOf = [](const auto &set) {
    return [&set](size_t layer) { return set.contains(layer); };
  };
  for (size_t layer : group)
    if (dropped.contains(layer))
      result.leftOver.push_back(theirs[layer].scope);
  llvm::erase_if(group, isOf(dropped));
  if (group.size() > variables.size())
    dropCopies(variables.size(), group);
  if (group.size() > variables.size() && !variables.empty() &&
      static_cast<size_t>(llvm::count_if(group, isOf(known))) ==
          variables.size()) {
    for (size_t layer : group)
      if (!known.contains(layer))
        result.leftOver.push_back(theirs[layer].scope);
    llvm::erase_if(group, [&](size_t layer) { return !known.contains(layer); });
  }
  if (group.size() == variables.size())
    return Status::ok();
  const Layer &first =
      group.empty() ? ours[variables.front()] : theirs[group.front()];
  std::string expected = variables.empty()
                             ? "no layer"
                             : std::to_string(variables.size()) + " (" +
                                   listScopes(ours, variables) + ")";
  std::string got = group.empty() ? "none"
                                  : std::to_string(group.size()) + " (" +
                                        listScopes(theirs, group) + ")";
  std::string hint =
      group.size() > variables.size()
          ? "; --layer " + theirs[group.back()].scope + "= leaves one out"
          : "";
  return bad("layers with ", toText(first.form), ": expected ", expected,
             ", got ", got, hint);
}

Status StructureMatcher::pair(const Layer &layer, const Layer &variables) {
  for (const auto &[kind, array] : layer.name) {
    auto variable = variables.name.find(kind);
    if (variable == variables.name.end()) // A name that looks like a list.
      return bad("expected a variable for array '", rt::toPrintable(array),
                 "', got none");
    result.variableOf[array] = variable->second;
  }
  return Status::ok();
}

/// What a doubt is called where it is told of.
static StringRef nameOf(Doubt::Reason reason) {
  switch (reason) {
  case Doubt::Reason::OnlyNumbers:
    return "only numbers in names tell it";
  case Doubt::Reason::OnlyFlow:
    return "only the flow of data tells it";
  case Doubt::Reason::NumbersAgainstFlow:
    return "numbers in names tell another one than the flow of data";
  case Doubt::Reason::Nothing:
    break;
  }
  return "nothing tells it";
}

/// All doubts at once: who answers one must answer the others, too.
Status StructureMatcher::describeDoubts() const {
  if (doubts.empty())
    return Status::ok();
  const OpenGroup &first = doubts.front();
  auto layersOf = [](const OpenGroup &group) {
    Group open;
    for (const Doubt &doubt : group.doubts)
      open.push_back(group.arrays[doubt.path]);
    return open;
  };
  Group open = layersOf(first), others;
  bool canGuess = !hints.guesses;
  for (const OpenGroup &group : doubts) {
    if (&group != &first)
      llvm::append_range(others, layersOf(group));
    for (const Doubt &doubt : group.doubts)
      canGuess &= doubt.reason != Doubt::Reason::Nothing;
  }
  auto worst = std::ranges::max_element(first.doubts, {}, &Doubt::reason);
  return bad(
      "layers with ", toText(ours[first.variables[0]].form), ": ",
      listScopes(theirs, open), " may be any of ",
      listScopes(ours, first.variables), ": ", nameOf(worst->reason).str(),
      others.empty() ? "" : "; open besides: " + listScopes(theirs, others),
      "; --layer ", rt::toPrintable(theirs[open[0]].scope), "=NAME says which",
      canGuess ? ", --guess-layers believes the numbers, or else the flow"
               : "");
}

Status StructureMatcher::match(const Group &variables, const Group &arrays) {
  AlikeLayers alike;
  for (size_t layer : variables)
    alike.scopes.push_back(ours[layer].scope);
  for (size_t layer : arrays) {
    alike.paths.push_back(theirs[layer].scope);
    auto found = known.find(layer);
    alike.known.push_back(
        found == known.end()
            ? std::nullopt
            : std::optional(static_cast<size_t>(
                  llvm::find(variables, found->second) - variables.begin())));
  }
  alike.reached = findReached(graph, ours, variables);
  LayerOrder order = orderAlikeLayers(alike);
  bool isTold = llvm::none_of(order.doubts, [&](const Doubt &doubt) {
    return !hints.guesses || doubt.reason == Doubt::Reason::Nothing;
  });
  if (!isTold)
    doubts.push_back({order.doubts, variables, arrays});
  if (!isTold)
    return Status::ok(); // All are told of at once.
  for (const Doubt &doubt : order.doubts)
    result.guessed.push_back(theirs[arrays[doubt.path]].scope + " as " +
                             ours[variables[order.scopeOf[doubt.path]]].scope);
  for (size_t i = 0; i < arrays.size(); ++i)
    DLC_RETURN_IF_ERROR(
        pair(theirs[arrays[i]], ours[variables[order.scopeOf[i]]]));
  return Status::ok();
}

Status StructureMatcher::run() {
  DLC_RETURN_IF_ERROR(readHints());
  auto variables = groupByForm(ours), arrays = groupByForm(theirs);
  for (const auto &[form, layers] : variables)
    arrays.try_emplace(form);
  for (auto &[form, layers] : arrays) {
    const Group &wanted = variables[form];
    DLC_RETURN_IF_ERROR(dropUnused(wanted, layers));
    if (!wanted.empty())
      DLC_RETURN_IF_ERROR(match(wanted, layers));
  }
  return describeDoubts();
}

Result<StructureMatch>
mxnet::matchByStructure(const symbol::Symbol &symbol,
                        const symbol::KnownShapes &known,
                        const symbol::Inferred<symbol::Shape> &shapes,
                        const LayerHints &hints, const rt::ParamsList &list) {
  std::set<std::string, std::less<>> kinds;
  Layers theirs = readFile(list, kinds);
  IndexedGraph graph(symbol);
  auto checkCount = [](const Layers &layers) {
    return layers.size() <= kMaxLayers
               ? Status::ok()
               : Status(StatusCode::Unsupported,
                        "unsupported: more than " + std::to_string(kMaxLayers) +
                            " layers");
  };
  DLC_RETURN_IF_ERROR(checkCount(theirs));
  Result<Layers> ours = readSymbol(graph, symbol, known, shapes, kinds);
  if (!ours.isOk())
    return std::move(ours.status());
  DLC_RETURN_IF_ERROR(checkCount(*ours));
  StructureMatcher matcher(graph, *ours, theirs, hints);
  DLC_RETURN_IF_ERROR(matcher.run());
  return std::move(matcher.result);
}
