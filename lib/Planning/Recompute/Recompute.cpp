// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Recompute/Recompute.h"

#include <algorithm>
#include <limits>

using namespace dlc::planning::recompute;

static constexpr uint32_t kNobody = UINT32_MAX;

namespace {

/// How a candidate cuts what is in front of the turn.
struct Cut {
  Again most;           ///< Repeats operations up to this.
  int64_t segmentBytes; ///< Of what would be computed again, about.
  /// Segments share their bytes with what is kept in front of them, so that
  /// they shrink: the last one is computed again while all of that is live.
  bool shrinks;
};

/// Counts live bytes. Made once for all candidates, which are many.
class Counter {
public:
  explicit Counter(const Problem &problem);
  /// Bytes live during each step; borrowed until the next call.
  const std::vector<int64_t> &count(const std::vector<Step> &steps);
  int64_t peak(const std::vector<Step> &steps) {
    const std::vector<int64_t> &bytes = count(steps);
    return bytes.empty() ? 0 : *std::ranges::max_element(bytes);
  }

private:
  /// An operation reads a value that another one makes.
  struct Read {
    uint32_t value, maker;
    bool isInPlace; ///< The first result may take over its memory.
  };
  /// A value of the first run, or of the repetition.
  static uint32_t runOf(uint32_t value, bool isAgain) {
    return 2 * value + isAgain;
  }
  void findLast(const std::vector<Step> &steps);

  const Problem &problem;
  std::vector<Read> reads;
  std::vector<size_t> firstRead; // operation -> its first in `reads`
  std::vector<uint8_t> repeated; // operation -> it ran again
  std::vector<size_t> last;      // runOf(value) -> last step that reads it
  std::vector<uint32_t> runs;    // what steps read, in their order
  std::vector<int64_t> live;     // step -> bytes
};

/// What all candidates of one problem share.
class Search {
public:
  explicit Search(const Problem &problem);
  Solution build(const Cut &cut) { return finish(chooseDropped(cut)); }
  /// The candidate that keeps more, the dearest first, where no more bytes are
  /// live at once for that; `work` bounds the steps that are looked at.
  Solution refined(const Cut &cut, size_t work);
  /// Bytes that operations up to `most` would not keep.
  int64_t droppableBytes(Again most) const;

private:
  bool isAllowed(uint32_t op, Again most) const;
  std::vector<bool> chooseDropped(const Cut &cut) const;
  Solution finish(const std::vector<bool> &dropped);
  int64_t keepAcross(uint32_t begin, uint32_t end,
                     std::vector<bool> &dropped) const;
  std::vector<int64_t> bytesAcross(const std::vector<bool> &dropped) const;
  void emit(uint32_t op, const std::vector<bool> &dropped,
            std::vector<bool> &isMade, std::vector<Step> &steps) const;

  const Problem &problem;
  Counter counter;
  std::vector<uint32_t> maker;       // value -> operation or kNobody
  std::vector<uint32_t> lastInFront; // value -> last reader before the turn
  std::vector<bool> isReadBehind;    // value -> read at or behind the turn
  uint32_t turn = 0;                 // the first operation behind it
};

} // namespace

static std::vector<uint32_t> findMakers(const Problem &problem) {
  std::vector<uint32_t> maker(problem.bytes.size(), kNobody);
  for (uint32_t op = 0; op < problem.operations.size(); ++op)
    for (uint32_t value : problem.operations[op].writes)
      maker[value] = op;
  return maker;
}

Counter::Counter(const Problem &problem)
    : problem(problem), last(2 * problem.bytes.size()) {
  std::vector<uint32_t> maker = findMakers(problem);
  for (const Operation &op : problem.operations) {
    firstRead.push_back(reads.size());
    for (uint32_t value : op.reads)
      if (maker[value] != kNobody)
        reads.push_back(
            {value, maker[value],
             std::ranges::count(op.inPlace, value) > 0 &&
                 problem.bytes[value] == problem.bytes[op.writes[0]]});
  }
  firstRead.push_back(reads.size());
}

/// Finds `runs` and `last`. A run is made before it is read.
void Counter::findLast(const std::vector<Step> &steps) {
  repeated.assign(problem.operations.size(), 0);
  runs.clear();
  for (size_t i = 0; i < steps.size(); ++i) {
    auto [op, isAgain] = steps[i];
    for (size_t read = firstRead[op]; read < firstRead[op + 1]; ++read) {
      runs.push_back(runOf(reads[read].value, repeated[reads[read].maker]));
      last[runs.back()] = i;
    }
    for (uint32_t value : problem.operations[op].writes)
      last[runOf(value, isAgain)] = i;
    repeated[op] |= isAgain;
  }
}

const std::vector<int64_t> &Counter::count(const std::vector<Step> &steps) {
  findLast(steps);
  live.assign(steps.size() + 1, 0);
  for (size_t i = 0; i < steps.size(); ++i)
    for (uint32_t value : problem.operations[steps[i].operation].writes) {
      live[i] += problem.bytes[value];
      live[last[runOf(value, steps[i].isAgain)] + 1] -= problem.bytes[value];
    }
  for (size_t i = 1; i < live.size(); ++i)
    live[i] += live[i - 1];
  live.pop_back();
  // One operand's memory becomes that of the result.
  const uint32_t *run = runs.data();
  for (size_t i = 0; i < steps.size(); ++i) {
    uint32_t op = steps[i].operation;
    bool isShared = false;
    for (size_t read = firstRead[op]; read < firstRead[op + 1]; ++read, ++run)
      isShared |= reads[read].isInPlace && last[*run] == i;
    if (isShared)
      live[i] -= problem.bytes[problem.operations[op].writes[0]];
  }
  return live;
}

int64_t dlc::planning::recompute::peakBytes(const Problem &problem,
                                            const std::vector<Step> &steps) {
  return Counter(problem).peak(steps);
}

static std::vector<Step> givenOrder(const Problem &problem) {
  std::vector<Step> steps;
  for (uint32_t op = 0; op < problem.operations.size(); ++op)
    steps.push_back({op, false});
  return steps;
}

Search::Search(const Problem &problem)
    : problem(problem), counter(problem), maker(findMakers(problem)),
      lastInFront(problem.bytes.size(), 0), isReadBehind(problem.bytes.size()) {
  const std::vector<int64_t> &live = counter.count(givenOrder(problem));
  if (!live.empty())
    turn = std::max_element(live.begin(), live.end()) - live.begin();
  for (uint32_t op = 0; op < problem.operations.size(); ++op) {
    for (uint32_t value : problem.operations[op].writes)
      lastInFront[value] = op;
    for (uint32_t value : problem.operations[op].reads) {
      if (op < turn)
        lastInFront[value] = op;
      else
        isReadBehind[value] = true;
    }
  }
}

bool Search::isAllowed(uint32_t op, Again most) const {
  Again again = problem.operations[op].again;
  return again == Again::Asked || (again != Again::Never && again <= most);
}

int64_t Search::droppableBytes(Again most) const {
  int64_t bytes = 0;
  for (uint32_t op = 0; op < turn; ++op)
    if (isAllowed(op, most))
      for (uint32_t value : problem.operations[op].writes)
        bytes += isReadBehind[value] ? problem.bytes[value] : 0;
  return bytes;
}

/// Of each operation in front of the turn: bytes that are not to be kept and
/// that operations behind it, still in front of the turn, read.
std::vector<int64_t>
Search::bytesAcross(const std::vector<bool> &dropped) const {
  std::vector<int64_t> across(turn + 1);
  for (uint32_t op = 0; op < turn; ++op) {
    if (!dropped[op])
      continue;
    for (uint32_t value : problem.operations[op].writes) {
      across[op] += problem.bytes[value];
      across[lastInFront[value]] -= problem.bytes[value];
    }
  }
  for (uint32_t op = 1; op <= turn; ++op)
    across[op] += across[op - 1];
  return across;
}

/// What crosses the end of a segment is kept, by the operation that makes it;
/// the bytes of that.
int64_t Search::keepAcross(uint32_t begin, uint32_t end,
                           std::vector<bool> &dropped) const {
  int64_t bytes = 0;
  for (uint32_t op = begin; op <= end && op < turn; ++op) {
    if (!dropped[op] || problem.operations[op].again == Again::Asked)
      continue;
    for (uint32_t value : problem.operations[op].writes)
      if (lastInFront[value] > end) {
        dropped[op] = false;
        bytes += problem.bytes[value];
      }
  }
  return bytes;
}

/// The operations whose values are not kept. Segments end where the fewest
/// bytes cross, in the second half of what the cut allows.
std::vector<bool> Search::chooseDropped(const Cut &cut) const {
  std::vector<bool> dropped(problem.operations.size());
  for (uint32_t op = 0; op < turn; ++op)
    dropped[op] = isAllowed(op, cut.most);
  std::vector<int64_t> across = bytesAcross(dropped);
  uint32_t begin = 0;
  int64_t segmentBytes = cut.segmentBytes;
  while (begin < turn) {
    int64_t bytes = 0, fewest = std::numeric_limits<int64_t>::max();
    uint32_t end = turn, op = begin;
    for (; op < turn && (bytes <= segmentBytes || end == turn); ++op) {
      if (dropped[op])
        for (uint32_t value : problem.operations[op].writes)
          bytes += isReadBehind[value] ? problem.bytes[value] : 0;
      if (bytes > segmentBytes / 2 && across[op] <= fewest) {
        fewest = across[op];
        end = op;
      }
    }
    if (op == turn && bytes <= segmentBytes)
      break;
    int64_t kept = keepAcross(begin, end, dropped);
    if (cut.shrinks)
      segmentBytes = std::max(segmentBytes - kept, cut.segmentBytes / 16);
    begin = end + 1;
  }
  return dropped;
}

/// Appends the repetitions that `op` needs and its own run, operands first,
/// without recursion: chains are long.
void Search::emit(uint32_t op, const std::vector<bool> &dropped,
                  std::vector<bool> &isMade, std::vector<Step> &steps) const {
  auto isMissing = [&](uint32_t value) {
    uint32_t from = maker[value];
    return from != kNobody && dropped[from] && !isMade[from];
  };
  // Most need none.
  if (std::ranges::none_of(problem.operations[op].reads, isMissing)) {
    steps.push_back({op, false});
    return;
  }
  std::vector<std::pair<uint32_t, size_t>> work{{op, 0}};
  while (!work.empty()) {
    auto &[current, next] = work.back();
    const std::vector<uint32_t> &reads = problem.operations[current].reads;
    if (next < reads.size()) {
      uint32_t value = reads[next++];
      if (isMissing(value)) {
        isMade[maker[value]] = true;
        work.push_back({maker[value], 0});
      }
      continue;
    }
    steps.push_back({current, current != op});
    work.pop_back();
  }
}

Solution Search::finish(const std::vector<bool> &dropped) {
  std::vector<bool> isMade(problem.operations.size());
  Solution solution;
  solution.steps.reserve(2 * problem.operations.size());
  for (uint32_t op = 0; op < turn; ++op)
    solution.steps.push_back({op, false});
  for (uint32_t op = turn; op < problem.operations.size(); ++op)
    emit(op, dropped, isMade, solution.steps);
  for (const Step &step : solution.steps)
    if (step.isAgain)
      solution.nanoseconds += problem.operations[step.operation].nanoseconds;
  solution.peakBytes = counter.peak(solution.steps);
  return solution;
}

Solution Search::refined(const Cut &cut, size_t work) {
  std::vector<bool> dropped = chooseDropped(cut);
  Solution solution = finish(dropped);
  std::vector<std::pair<int64_t, uint32_t>> dearest;
  for (const Step &step : solution.steps)
    if (step.isAgain && problem.operations[step.operation].again == Again::Dear)
      dearest.push_back(
          {-problem.operations[step.operation].nanoseconds, step.operation});
  std::sort(dearest.begin(), dearest.end());
  size_t attempts = work / (solution.steps.size() + 1);
  if (dearest.size() > attempts)
    dearest.resize(attempts);
  int64_t limit = solution.peakBytes;
  for (auto [nanoseconds, op] : dearest) {
    dropped[op] = false;
    Solution next = finish(dropped);
    if (next.peakBytes <= limit && next.nanoseconds < solution.nanoseconds)
      solution = std::move(next);
    else
      dropped[op] = true;
  }
  return solution;
}

Solution dlc::planning::recompute::keepAll(const Problem &problem) {
  Solution solution;
  solution.steps = givenOrder(problem);
  solution.peakBytes = peakBytes(problem, solution.steps);
  return solution;
}

/// Calls `consider` with candidates, from whole segments to small ones.
template <typename ConsiderFn>
static void forEachCandidate(Search &search, Again most, ConsiderFn consider) {
  // Four sizes to each factor of two, over three powers of ten.
  double segment = static_cast<double>(search.droppableBytes(most));
  for (int i = 0; i < 40 && segment >= 1; ++i, segment /= 1.19)
    for (bool shrinks : {false, true})
      consider(Cut{most, static_cast<int64_t>(segment), shrinks});
}

static bool isBetter(const Solution &a, const Solution &b) {
  return a.peakBytes != b.peakBytes ? a.peakBytes < b.peakBytes
                                    : a.nanoseconds < b.nanoseconds;
}

Solution dlc::planning::recompute::solveCheap(const Problem &problem) {
  Search search(problem);
  Solution best = keepAll(problem);
  forEachCandidate(search, Again::Cheap, [&](const Cut &cut) {
    Solution next = search.build(cut);
    if (isBetter(next, best))
      best = std::move(next);
  });
  return best;
}

namespace {
/// A candidate and what it comes to.
struct Outcome {
  int64_t peakBytes, nanoseconds;
  Cut cut;
};
} // namespace

/// The candidates, but for those that take no less time than one with fewer
/// bytes; fewest bytes first.
static std::vector<Outcome> findFrontier(Search &search, Again most) {
  std::vector<Outcome> all, frontier;
  for (Again kind : {Again::Cheap, Again::Dear})
    if (kind <= most)
      forEachCandidate(search, kind, [&](const Cut &cut) {
        Solution solution = search.build(cut);
        all.push_back({solution.peakBytes, solution.nanoseconds, cut});
      });
  std::ranges::sort(all, {}, [](const Outcome &each) {
    return std::pair(each.peakBytes, each.nanoseconds);
  });
  for (const Outcome &each : all)
    if (frontier.empty() || each.nanoseconds < frontier.back().nanoseconds)
      frontier.push_back(each);
  return frontier;
}

Solution dlc::planning::recompute::solve(const Problem &problem, int64_t budget,
                                         Again most) {
  // Steps that all attempts to keep more together may look at.
  constexpr size_t mostWork = 60'000'000;
  Search search(problem);
  Solution best = keepAll(problem);
  std::vector<Outcome> frontier = findFrontier(search, most);
  for (const Outcome &each : frontier) {
    // More bytes leave all answers that fewer have, so they take no more time.
    if (each.peakBytes > budget && &each != &frontier.front())
      break;
    Solution next = search.refined(each.cut, mostWork / frontier.size());
    bool fits = next.peakBytes <= budget, bestFits = best.peakBytes <= budget;
    if (fits != bestFits ? fits
        : fits           ? next.nanoseconds < best.nanoseconds
                         : isBetter(next, best))
      best = std::move(next);
  }
  return best;
}
