// SPDX-License-Identifier: Apache-2.0

#include "LayerOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace dlc::mxnet;
using llvm::ArrayRef;
using llvm::StringRef;

/// Bounds a recursion over words, and what is spent on exchanges: of n layers
/// a round takes O(n^3).
static constexpr int kMaxWords = 64;
static constexpr int kMaxRounds = 8;
static constexpr size_t kMostToExchange = 128;
/// Letters of a word that another one may begin with and mean the same.
static constexpr size_t kLeastWord = 3;

using Words = llvm::SmallVector<StringRef>;
using Numbers = std::vector<size_t>; ///< Of paths or scopes.

//===-- Words -------------------------------------------------------------===//

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

/// What Gluon calls its own layers, so that a number behind it counts them.
static bool isCounted(StringRef stem) {
  static const std::set<StringRef> stems = {
      "batchnorm", "conv",     "dense",        "embedding",
      "groupnorm", "gru",      "grucell",      "layernorm",
      "lstm",      "lstmcell", "instancenorm", "prelu",
      "rnn",       "rnncell",  "sequential",   "hybridsequential"};
  return stems.contains(stem) || isDirection(stem);
}

static size_t commonWords(const Words &a, const Words &b) {
  size_t i = 0;
  while (i < std::min(a.size(), b.size()) && a[i] == b[i])
    ++i;
  return i;
}

static StringRef wordAt(const Words &words, size_t i) {
  return i < words.size() ? words[i] : StringRef();
}

/// An attribute and a name without its number mean the same.
static bool agree(StringRef attribute, StringRef name) {
  return attribute == name ||
         (attribute.size() >= kLeastWord && name.starts_with(attribute)) ||
         (name.size() >= kLeastWord && attribute.starts_with(name)) ||
         attribute.ends_with(("_" + name).str()) ||
         attribute.starts_with((name + "_").str());
}

namespace {
class Matcher {
public:
  explicit Matcher(const AlikeLayers &layers);
  LayerOrder run();

private:
  bool flows(size_t from, size_t to) const {
    return layers.reached[to][from] && !layers.reached[from][to];
  }
  bool areOfOneContainer(size_t p, size_t q) const;
  bool areCounted(size_t from, size_t to) const;
  int fit(size_t path, size_t otherPath, size_t scope, size_t otherScope) const;
  int agreement(size_t p, size_t q, size_t a, size_t b) const {
    return fit(p, q, a, b) + fit(q, p, b, a);
  }
  /// Above 0: words tell that the scopes of two paths are as they are; below:
  /// that they are each other's.
  int preference(size_t p, size_t q) const {
    return agreement(p, q, scopeOf[p], scopeOf[q]) -
           agreement(p, q, scopeOf[q], scopeOf[p]);
  }

  bool assignByWholeWords();
  void orderByNames(ArrayRef<size_t> some, size_t depth, Numbers &order) const;
  int gainOfExchange(size_t p, size_t q) const;
  void exchangeByWords(const Numbers &order);
  bool isChain(ArrayRef<size_t> some) const;
  StringRef beginning(size_t path, size_t words) const;
  bool areWhole(ArrayRef<size_t> some, size_t words);
  bool mayInterleave(size_t p, size_t q);
  std::optional<Doubt::Reason> doubtOf(size_t p, size_t q);
  std::vector<Doubt> findDoubts();

  const AlikeLayers &layers;
  std::vector<Words> paths, scopes;
  Numbers freePaths, freeScopes; ///< That the caller does not know.
  Numbers scopeOf;
  /// Paths by their first words.
  std::map<StringRef, Numbers> below;
  /// Of some paths, the first and how many: words that their scopes have in
  /// common, and whether they are a chain.
  std::map<std::pair<size_t, size_t>, std::pair<size_t, bool>> whole;
};
} // namespace

Matcher::Matcher(const AlikeLayers &layers)
    : layers(layers), paths(layers.paths.size()), scopes(layers.scopes.size()),
      scopeOf(layers.paths.size()) {
  llvm::BitVector isTaken(scopes.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    layers.paths[i].split(paths[i], '.', kMaxWords, /*KeepEmpty=*/false);
    layers.scopes[i].split(scopes[i], '_', kMaxWords, /*KeepEmpty=*/false);
    if (layers.known[i])
      isTaken.set(scopeOf[i] = *layers.known[i]);
    else
      freePaths.push_back(i);
  }
  for (size_t i = 0; i < scopes.size(); ++i)
    if (!isTaken[i])
      freeScopes.push_back(i);
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
  StringRef attribute = wordAt(paths[path], i);
  auto [stem, number] = numberOf(wordAt(scopes[scope], j));
  if (attribute.empty() || stem.empty())
    return 0;
  bool isBlock = number && j + 1 < scopes[scope].size();
  if (isBlock && !isDirection(stem) && i + 1 == paths[path].size())
    return -1;
  if (!number)
    return agree(attribute, stem);
  if (isDirection(stem)) // "l_cell" and "l0".
    return attribute.starts_with((stem + "_").str());
  return stem != numberOf(wordAt(scopes[otherScope], j)).first &&
         agree(attribute, stem);
}

//===-- Orders ------------------------------------------------------------===//

/// Whether all scopes end with the words of all paths.
bool Matcher::assignByWholeWords() {
  std::map<std::string, size_t> byEnd; ///< Scopes; those of two are none.
  std::set<size_t> lengths;
  auto join = [](ArrayRef<StringRef> words) { return llvm::join(words, "_"); };
  std::vector<std::string> wanted;
  for (size_t path : freePaths) {
    wanted.push_back(join(paths[path]));
    StringRef whole = wanted.back();
    auto [stem, number] = numberOf(
        whole.rsplit('_').second.empty() ? whole : whole.rsplit('_').second);
    if (stem.empty() || (number && isCounted(stem)))
      return false;
    lengths.insert(whole.count('_') + 1);
  }
  std::set<std::string> twice;
  for (size_t scope : freeScopes)
    for (size_t length : lengths)
      if (ArrayRef<StringRef> words = scopes[scope]; words.size() >= length)
        if (std::string end = join(words.take_back(length));
            !byEnd.try_emplace(end, scope).second)
          twice.insert(end);
  llvm::BitVector isTaken(scopes.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto found = byEnd.find(wanted[i]);
    if (found == byEnd.end() || twice.contains(wanted[i]) ||
        isTaken[found->second])
      return false;
    isTaken.set(scopeOf[freePaths[i]] = found->second);
  }
  return true;
}

namespace {
/// Scopes with a common beginning.
struct Branch {
  StringRef word; ///< The next one.
  Numbers scopes;
};
} // namespace

/// Appends scopes that agree up to word `depth`: branches of one stem by
/// number, in the places that the flow of data gives these branches.
void Matcher::orderByNames(ArrayRef<size_t> some, size_t depth,
                           Numbers &order) const {
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
  std::map<StringRef, Numbers> counted; // Places by stem.
  for (size_t i = 0; i < branches.size(); ++i)
    if (auto [stem, number] = numberOf(branches[i].word); number)
      counted[stem].push_back(i);
  Numbers places(branches.size());
  std::iota(places.begin(), places.end(), size_t(0));
  for (auto &[stem, ofStem] : counted) {
    Numbers sorted = ofStem;
    std::ranges::sort(sorted, {}, [&](size_t i) {
      return *numberOf(branches[i].word).second;
    });
    for (size_t i = 0; i < sorted.size(); ++i)
      places[ofStem[i]] = sorted[i];
  }
  for (size_t place : places)
    orderByNames(branches[place].scopes, depth + 1, order);
}

/// By how much words agree better, with those of all others, where two paths
/// exchange their scopes.
int Matcher::gainOfExchange(size_t p, size_t q) const {
  size_t a = scopeOf[p], b = scopeOf[q];
  int gain = -preference(p, q);
  for (size_t other : freePaths)
    if (size_t c = scopeOf[other]; other != p && other != q)
      gain += agreement(p, other, b, c) + agreement(q, other, a, c) -
              agreement(p, other, a, c) - agreement(q, other, b, c);
  return gain;
}

/// Words come before everything else, and `order` where they tell nothing.
void Matcher::exchangeByWords(const Numbers &order) {
  if (freePaths.size() > kMostToExchange)
    return;
  Numbers rank(scopes.size());
  for (size_t i = 0; i < order.size(); ++i)
    rank[order[i]] = i;
  bool hasChanged = true;
  for (int round = 0; hasChanged && round < kMaxRounds; ++round) {
    hasChanged = false;
    for (size_t i = 0; i < freePaths.size(); ++i)
      for (size_t j = i + 1; j < freePaths.size(); ++j) {
        size_t p = freePaths[i], q = freePaths[j];
        int gain = gainOfExchange(p, q);
        if (gain < 0 || (gain == 0 && rank[scopeOf[p]] < rank[scopeOf[q]]))
          continue;
        std::swap(scopeOf[p], scopeOf[q]);
        hasChanged = true;
      }
  }
}

//===-- Doubts ------------------------------------------------------------===//

/// Data flows through all of them, one after the other.
bool Matcher::isChain(ArrayRef<size_t> some) const {
  for (size_t i = 1; i < some.size(); ++i)
    if (!flows(scopeOf[some[i - 1]], scopeOf[some[i]]))
      return false;
  return true;
}

/// The first words of a path.
StringRef Matcher::beginning(size_t path, size_t words) const {
  const char *begin = layers.paths[path].data();
  return StringRef(begin, paths[path][words - 1].end() - begin);
}

/// Scopes have more than some words in common, or data flows through all.
bool Matcher::areWhole(ArrayRef<size_t> some, size_t words) {
  auto [known, isNew] = whole.try_emplace({some.front(), some.size()});
  auto &[common, areInChain] = known->second;
  if (isNew) {
    areInChain = isChain(some);
    common = scopes[scopeOf[some.front()]].size();
    for (size_t path : some.drop_front())
      common = std::min(common, commonWords(scopes[scopeOf[path]],
                                            scopes[scopeOf[some.front()]]));
  }
  return areInChain || common > words;
}

/// Two blocks that registered several layers each may have been made in turns,
/// one layer of each at a time, unless scopes or the flow of data hold those of
/// each together.
bool Matcher::mayInterleave(size_t p, size_t q) {
  size_t common = commonWords(paths[p], paths[q]);
  if (common == paths[p].size() || common == paths[q].size())
    return false; // One is the block that has the other.
  const Numbers &ofP = below[beginning(p, common + 1)];
  const Numbers &ofQ = below[beginning(q, common + 1)];
  if (ofP.size() < 2 || ofQ.size() < 2)
    return false;
  size_t words = commonWords(scopes[scopeOf[p]], scopes[scopeOf[q]]);
  return !(areWhole(ofP, words) && areWhole(ofQ, words));
}

/// Whether q, which comes behind p in the file, could have the scope of p.
std::optional<Doubt::Reason> Matcher::doubtOf(size_t p, size_t q) {
  size_t a = scopeOf[p], b = scopeOf[q];
  bool isContained = areOfOneContainer(p, q);
  if (!isContained && preference(p, q) > 0)
    return std::nullopt;
  size_t word = commonWords(scopes[a], scopes[b]);
  bool isOfDirections = isDirection(numberOf(wordAt(scopes[a], word)).first);
  if (areCounted(a, b) && isContained && isOfDirections)
    return std::nullopt; // Counted by what contains them.
  if (isContained && flows(a, b) && !areCounted(b, a))
    return std::nullopt;
  if ((areCounted(a, b) && flows(b, a)) || (areCounted(b, a) && flows(a, b)))
    return Doubt::Reason::NumbersAgainstFlow;
  if (areCounted(a, b) && (isContained || !mayInterleave(p, q)))
    return Doubt::Reason::OnlyNumbers;
  return flows(a, b) ? Doubt::Reason::OnlyFlow : Doubt::Reason::Nothing;
}

/// One for each path that has any, the worst.
std::vector<Doubt> Matcher::findDoubts() {
  for (size_t path = 0; path < paths.size(); ++path)
    for (size_t words = 1; words <= paths[path].size(); ++words)
      below[beginning(path, words)].push_back(path);
  std::vector<Doubt> doubts;
  for (size_t j = 1; j < freePaths.size(); ++j) {
    std::optional<Doubt::Reason> worst;
    for (size_t i = 0; i < j; ++i)
      worst = std::max(worst, doubtOf(freePaths[i], freePaths[j]));
    if (worst)
      doubts.push_back({freePaths[j], *worst});
  }
  return doubts;
}

LayerOrder Matcher::run() {
  if (freePaths.empty() || assignByWholeWords())
    return {std::move(scopeOf), {}};
  Numbers order;
  orderByNames(freeScopes, 0, order);
  for (size_t i = 0; i < order.size(); ++i)
    scopeOf[freePaths[i]] = order[i];
  exchangeByWords(order);
  std::vector<Doubt> doubts = findDoubts();
  return {std::move(scopeOf), std::move(doubts)};
}

LayerOrder dlc::mxnet::orderAlikeLayers(const AlikeLayers &layers) {
  return Matcher(layers).run();
}
