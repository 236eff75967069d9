// SPDX-License-Identifier: Apache-2.0
//
// The portfolio: single passes, best first, then the complete search at the
// lower bound and at capacities between the bound and the best packing so far.

#include "dlc/Planning/Memory/Solver.h"

#include "ValleySearch.h"

#include <algorithm>

namespace dlc::planning {
namespace {

/// Work that the passes after the first may cost, in about nanoseconds.
/// Counted, not timed, so that the answer does not depend on the machine.
constexpr double kPassBudget = 5e7;
/// Pieces up to which a branch of the search counts as one step.
constexpr int64_t kStepPieces = 256;

class Portfolio {
public:
  Portfolio(const Instance &instance, std::optional<int64_t> capacity,
            const SolverOptions &options)
      : instance(instance), capacity(capacity.value_or(0)), options(options) {}

  void run();

  Offsets offsets; // per item
  Solution best;   // without offsets

private:
  bool isDone() const {
    return best.arenaBytes < kInfinity &&
           best.arenaBytes <= std::max(best.lowerBound, capacity);
  }
  void offer(Offsets found, Method how);
  void runPasses();
  void runSearch();
  /// Steps a branch is charged: it costs about as much as there are pieces.
  int64_t charge() const {
    return std::max<int64_t>(1, instance.pieceCount() / kStepPieces);
  }
  SearchResult searchAt(int64_t bytes, int64_t steps);

  const Instance &instance;
  const int64_t capacity;
  const SolverOptions options;
  std::optional<ValleySearch> search;
};

void Portfolio::offer(Offsets found, Method how) {
  const int64_t height = heightOf(instance, found);
  if (height >= best.arenaBytes)
    return;
  best.arenaBytes = height;
  best.how = how;
  offsets = std::move(found);
}

void Portfolio::runPasses() {
  const auto pieces = static_cast<double>(instance.pieceCount());
  const bool pinned =
      std::any_of(instance.items.begin(), instance.items.end(),
                  [](const Item &item) { return item.isPinned(); });
  // What passes cost: with pins and in first fit the meetings count.
  const double firstFitCost =
      200 * pieces + 20 * static_cast<double>(countMeetings(instance));
  const double skylineCost = pinned ? firstFitCost : 500 * pieces;
  double left = kPassBudget;
  for (Order order : {Order::Load, Order::Width, Order::Area, Order::Size}) {
    if (isDone() || (left < skylineCost && order != Order::Load))
      break;
    const std::vector<int> items = makeOrder(instance, order);
    offer(pinned ? skylinePinned(instance, items) : skyline(instance, items),
          Method::Skyline);
    left -= skylineCost;
  }
  for (Order order : {Order::Size, Order::Area}) {
    if (isDone() || left < firstFitCost)
      break;
    offer(firstFit(instance, makeOrder(instance, order)), Method::FirstFit);
    left -= firstFitCost;
  }
}

SearchResult Portfolio::searchAt(int64_t bytes, int64_t steps) {
  const int64_t allowed = std::min(steps, options.steps - best.steps);
  const SearchResult result = search->run(bytes, allowed / charge());
  best.steps += std::max<int64_t>(1, search->nodesUsed()) * charge();
  if (result == SearchResult::Found)
    offer(search->offsets(), Method::Search);
  if (result == SearchResult::Infeasible)
    best.lowerBound = std::max(best.lowerBound,
                               (bytes / search->unit() + 1) * search->unit());
  return result;
}

/// First at the bound, then bisects between it and the best packing. Slices
/// start small, for a search that spends all at the bound starves the rest.
void Portfolio::runSearch() {
  // Fewer branches than twice the pieces would hardly ever reach a packing.
  const int64_t n = instance.pieceCount();
  if (options.steps / charge() < 2 * n)
    return;
  search.emplace(instance, options.seed);
  int64_t slice = std::max<int64_t>(4'000, 8 * n);
  auto hasSteps = [&] {
    return !isDone() && best.steps + charge() <= options.steps;
  };
  while (hasSteps()) {
    int64_t low = std::max(best.lowerBound, capacity);
    if (searchAt(low, slice) != SearchResult::OutOfSteps)
      continue; // solved, or the bound has risen
    while (hasSteps() && best.arenaBytes - low >
                             std::max<int64_t>(1, best.arenaBytes / 500)) {
      const int64_t middle = low + (best.arenaBytes - low) / 2;
      if (searchAt(middle, slice / 2) != SearchResult::Found)
        low = middle;
    }
    slice *= 2;
  }
}

void Portfolio::run() {
  best.arenaBytes = kInfinity;
  best.lowerBound = lowerBound(instance);
  runPasses();
  if (!isDone())
    runSearch();
}

} // namespace

std::string_view nameOf(Method method) {
  switch (method) {
  case Method::None:
    return "none";
  case Method::Skyline:
    return "skyline";
  case Method::FirstFit:
    return "first-fit";
  case Method::Search:
    return "search";
  }
  return "unknown";
}

Solution solve(const Problem &problem, const SolverOptions &options) {
  Instance instance;
  if (buildInstance(problem, instance))
    return {};
  Portfolio portfolio(instance, problem.capacity, options);
  portfolio.run();
  Solution solution = std::move(portfolio.best);
  solution.offsets.reserve(problem.buffers.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    solution.offsets.push_back(portfolio.offsets[instance.itemOf[i]] +
                               instance.relOf[i]);
  return solution;
}

} // namespace dlc::planning
