// SPDX-License-Identifier: Apache-2.0

#include "LayerOrder.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace dlc::mxnet;
using llvm::StringRef;

/// Bounds a recursion over words, and how often neighbours change places.
static constexpr int kMaxWords = 64;
static constexpr int kMaxRounds = 8;

using Words = llvm::SmallVector<StringRef>;
using Order = std::vector<size_t>; ///< Scopes, in the order of the paths.

/// "conv12" is number 12 of "conv".
static std::pair<StringRef, std::optional<unsigned>> numberOf(StringRef word) {
  StringRef stem = word.rtrim("0123456789");
  unsigned number = 0;
  if (word.drop_front(stem.size()).getAsInteger(10, number))
    return {stem, std::nullopt};
  return {stem, number};
}

/// "l0" and "r0" are the two directions of layer 0 of a recurrent network.
static bool isDirection(StringRef stem) { return stem == "l" || stem == "r"; }

static size_t commonWords(const Words &a, const Words &b) {
  size_t i = 0;
  while (i < std::min(a.size(), b.size()) && a[i] == b[i])
    ++i;
  return i;
}

static StringRef wordAt(const Words &words, size_t i) {
  return i < words.size() ? words[i] : StringRef();
}

namespace {
class Matcher {
public:
  explicit Matcher(const AlikeLayers &layers);
  LayerOrder run() const;

private:
  enum class Told { Certain, Likely, ByFlow, Not };

  bool flows(size_t from, size_t to) const {
    return layers.reached[to][from] && !layers.reached[from][to];
  }
  bool areOfOneContainer(size_t p, size_t q) const;
  bool areCounted(size_t from, size_t to) const;
  int fit(size_t path, size_t otherPath, size_t scope, size_t otherScope) const;
  int preference(const Order &order, size_t p, size_t q) const;

  void orderByNames(llvm::ArrayRef<size_t> some, size_t depth,
                    Order &order) const;
  Order orderByFlow(const Order &byNames) const;
  void exchangeByWords(Order &order) const;
  bool contradictsContainers(const Order &order) const;
  bool isChain(const Order &order, llvm::ArrayRef<size_t> some) const;
  bool mayInterleave(const Order &order, size_t p, size_t q) const;
  Told judge(const Order &order, size_t p) const;
  void check(LayerOrder &result) const;

  const AlikeLayers &layers;
  std::vector<Words> paths, scopes;
};
} // namespace

Matcher::Matcher(const AlikeLayers &layers)
    : layers(layers), paths(layers.paths.size()), scopes(layers.scopes.size()) {
  for (size_t i = 0; i < paths.size(); ++i) {
    layers.paths[i].split(paths[i], '.', kMaxWords, /*KeepEmpty=*/false);
    layers.scopes[i].split(scopes[i], '_', kMaxWords, /*KeepEmpty=*/false);
  }
}

//===-- What tells two layers from each other -----------------------------===//

bool Matcher::areOfOneContainer(size_t p, size_t q) const {
  size_t i = commonWords(paths[p], paths[q]);
  auto isNumber = [](StringRef word) {
    return !word.empty() && llvm::all_of(word, llvm::isDigit);
  };
  return isNumber(wordAt(paths[p], i)) && isNumber(wordAt(paths[q], i));
}

/// Names say that the one was made before the other.
bool Matcher::areCounted(size_t from, size_t to) const {
  size_t i = commonWords(scopes[from], scopes[to]);
  auto [stemA, numberA] = numberOf(wordAt(scopes[from], i));
  auto [stemB, numberB] = numberOf(wordAt(scopes[to], i));
  return numberA && numberB && *numberA < *numberB &&
         (stemA == stemB || (isDirection(stemA) && isDirection(stemB)));
}

/// How well a scope goes with a path where each parts from another one: 1 where
/// words agree, -1 where a block that contains others would be a layer.
int Matcher::fit(size_t path, size_t otherPath, size_t scope,
                 size_t otherScope) const {
  size_t i = commonWords(paths[path], paths[otherPath]),
         j = commonWords(scopes[scope], scopes[otherScope]);
  StringRef attribute = wordAt(paths[path], i), name = wordAt(scopes[scope], j);
  auto [stem, number] = numberOf(name);
  if (attribute.empty() || stem.empty())
    return 0;
  if (!number)
    return name.starts_with(attribute) ||
           attribute.ends_with(("_" + name).str());
  if (isDirection(stem)) // "l_cell" and "l0".
    return attribute.starts_with((stem + "_").str());
  // A word with a number says nothing: the attribute "conv1" has "conv0".
  bool isBlock = j + 1 < scopes[scope].size();
  return isBlock && i + 1 == paths[path].size() ? -1 : 0;
}

/// Above 0: words tell that two scopes are as `order` has them; below: that
/// they are each other's.
int Matcher::preference(const Order &order, size_t p, size_t q) const {
  size_t a = order[p], b = order[q];
  return fit(p, q, a, b) + fit(q, p, b, a) - fit(p, q, b, a) - fit(q, p, a, b);
}

//===-- Orders ------------------------------------------------------------===//

namespace {
/// Scopes with a common beginning.
struct Branch {
  StringRef word; ///< The next one.
  std::vector<size_t> scopes;
};
} // namespace

/// Appends scopes that agree up to word `depth`: branches of one stem by
/// number, in the places that the flow of data gives these branches.
void Matcher::orderByNames(llvm::ArrayRef<size_t> some, size_t depth,
                           Order &order) const {
  std::vector<Branch> branches;
  std::map<StringRef, size_t> numbers;
  for (size_t scope : some) {
    StringRef word = wordAt(scopes[scope], depth);
    auto [known, isNew] = numbers.try_emplace(word, branches.size());
    if (isNew)
      branches.push_back({word, {}});
    branches[known->second].scopes.push_back(scope);
  }
  if (branches.size() == 1 && depth >= scopes[some.front()].size()) {
    order.insert(order.end(), some.begin(), some.end());
    return;
  }
  std::map<StringRef, std::vector<size_t>> counted; // Places by stem.
  for (size_t i = 0; i < branches.size(); ++i)
    if (auto [stem, number] = numberOf(branches[i].word); number)
      counted[stem].push_back(i);
  std::vector<size_t> places(branches.size());
  std::iota(places.begin(), places.end(), size_t(0));
  for (auto &[stem, ofStem] : counted) {
    std::vector<size_t> sorted = ofStem;
    std::ranges::sort(sorted, {}, [&](size_t i) {
      return *numberOf(branches[i].word).second;
    });
    for (size_t i = 0; i < sorted.size(); ++i)
      places[ofStem[i]] = sorted[i];
  }
  for (size_t place : places)
    orderByNames(branches[place].scopes, depth + 1, order);
}

/// As data flows; as `byNames` has them where it flows through neither.
Order Matcher::orderByFlow(const Order &byNames) const {
  size_t count = byNames.size();
  std::vector<size_t> waitsFor(count, 0), rank(count);
  for (size_t i = 0; i < count; ++i) {
    rank[byNames[i]] = i;
    for (size_t from = 0; from < count; ++from)
      waitsFor[i] += flows(from, i);
  }
  std::set<size_t> ready; // Ranks.
  for (size_t scope = 0; scope < count; ++scope)
    if (waitsFor[scope] == 0)
      ready.insert(rank[scope]);
  Order order;
  while (!ready.empty()) {
    size_t scope = byNames[*ready.begin()];
    ready.erase(ready.begin());
    order.push_back(scope);
    for (size_t to = 0; to < count; ++to)
      if (flows(scope, to) && --waitsFor[to] == 0)
        ready.insert(rank[to]);
  }
  return order.size() == count ? order : byNames; // Layers that take turns.
}

/// Words come before everything else.
void Matcher::exchangeByWords(Order &order) const {
  bool hasChanged = true;
  for (int round = 0; hasChanged && round < kMaxRounds; ++round) {
    hasChanged = false;
    for (size_t p = 0; p < order.size(); ++p)
      for (size_t q = p + 1; q < order.size(); ++q)
        if (!areOfOneContainer(p, q) && preference(order, p, q) < 0) {
          std::swap(order[p], order[q]);
          hasChanged = true;
        }
  }
}

//===-- Checks ------------------------------------------------------------===//

bool Matcher::contradictsContainers(const Order &order) const {
  for (size_t p = 0; p < order.size(); ++p)
    for (size_t q = p + 1; q < order.size(); ++q)
      if (areOfOneContainer(p, q) && flows(order[q], order[p]))
        return true;
  return false;
}

/// Data flows through all of them, one after the other.
bool Matcher::isChain(const Order &order, llvm::ArrayRef<size_t> some) const {
  for (size_t i = 1; i < some.size(); ++i)
    if (!flows(order[some[i - 1]], order[some[i]]))
      return false;
  return true;
}

/// Two blocks that registered several layers each may have been made in turns,
/// one layer of each at a time, unless scopes or the flow of data hold those of
/// each together.
bool Matcher::mayInterleave(const Order &order, size_t p, size_t q) const {
  size_t common = commonWords(paths[p], paths[q]);
  std::vector<size_t> ofP, ofQ;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (commonWords(paths[i], paths[p]) > common)
      ofP.push_back(i);
    if (commonWords(paths[i], paths[q]) > common)
      ofQ.push_back(i);
  }
  size_t word = commonWords(scopes[order[p]], scopes[order[q]]);
  auto areWhole = [&](llvm::ArrayRef<size_t> some) {
    return isChain(order, some) || llvm::all_of(some, [&](size_t i) {
             return commonWords(scopes[order[i]], scopes[order[some[0]]]) >
                    word;
           });
  };
  return ofP.size() > 1 && ofQ.size() > 1 && !(areWhole(ofP) && areWhole(ofQ));
}

/// What tells that path p + 1 has the scope that it has, and not that of p.
Matcher::Told Matcher::judge(const Order &order, size_t p) const {
  size_t a = order[p], b = order[p + 1];
  bool isContained = areOfOneContainer(p, p + 1);
  if (!isContained && preference(order, p, p + 1) > 0)
    return Told::Certain;
  if (isContained && flows(a, b))
    return Told::Certain;
  if (areCounted(a, b) && (isContained || !mayInterleave(order, p, p + 1)))
    return flows(a, b) ? Told::Certain : Told::Likely;
  return flows(a, b) ? Told::ByFlow : Told::Not;
}

void Matcher::check(LayerOrder &result) const {
  const Order &order = result.scopeOf;
  auto refuse = [&](size_t p, size_t q, const char *reason) {
    result.unclear = {p, q};
    result.reason = reason;
  };
  for (size_t p = 0; p + 1 < order.size(); ++p)
    switch (judge(order, p)) {
    case Told::Certain:
      break;
    case Told::Likely:
      ++result.guesses;
      break;
    case Told::ByFlow:
      return refuse(p, p + 1, "of which only the flow of data tells the order");
    case Told::Not:
      return refuse(p, p + 1, "of which nothing tells the order");
    }
  for (size_t p = 0; p < order.size(); ++p)
    for (size_t q = p + 1; q < order.size(); ++q)
      if (flows(order[q], order[p]) &&
          (areOfOneContainer(p, q) || preference(order, p, q) <= 0))
        return refuse(p, q,
                      "of which names tell one order and the flow of data the "
                      "other");
}

LayerOrder Matcher::run() const {
  LayerOrder result;
  if (scopes.empty())
    return result;
  Order all(scopes.size()), byNames;
  std::iota(all.begin(), all.end(), size_t(0));
  orderByNames(all, 0, byNames);
  Order byFlow = orderByFlow(byNames);
  exchangeByWords(byNames);
  exchangeByWords(byFlow);
  bool isByFlow =
      contradictsContainers(byNames) && !contradictsContainers(byFlow);
  result.scopeOf = std::move(isByFlow ? byFlow : byNames);
  check(result);
  return result;
}

LayerOrder dlc::mxnet::orderAlikeLayers(const AlikeLayers &layers) {
  return Matcher(layers).run();
}
