// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Schedule/Schedule.h"

#include <algorithm>
#include <numeric>

using namespace dlc::planning::schedule;

static constexpr uint32_t kNobody = UINT32_MAX;

namespace {

/// Who writes, reads and overwrites each buffer; each pair once.
struct Uses {
  explicit Uses(const Problem &problem);
  /// Who comes after `task` because it overwrites `buffer`, which it reads.
  uint32_t overwriterAfter(uint32_t task, uint32_t buffer) const {
    return overwriter[buffer] == task ? kNobody : overwriter[buffer];
  }
  std::vector<uint32_t> writer;                 // buffer -> task or kNobody
  std::vector<uint32_t> overwriter;             // buffer -> task or kNobody
  std::vector<std::vector<uint32_t>> readers;   // buffer -> tasks
  std::vector<std::vector<uint32_t>> taskReads; // task -> distinct buffers
};

/// List scheduling: repeatedly runs the ready task with the least growth of
/// live bytes, the earliest of the given order among equals.
class ListScheduler {
public:
  ListScheduler(const Problem &problem, const Uses &uses)
      : problem(problem), uses(uses) {}
  std::vector<uint32_t> forwards() const;
  std::vector<uint32_t> backwards() const;
  std::vector<uint32_t> late(const std::vector<uint32_t> &order) const;

private:
  int64_t bytesOf(uint32_t buffer) const {
    return uses.writer[buffer] == kNobody ? 0 : problem.bufferBytes[buffer];
  }
  const Problem &problem;
  const Uses &uses;
};

} // namespace

Uses::Uses(const Problem &problem)
    : writer(problem.bufferBytes.size(), kNobody),
      overwriter(problem.bufferBytes.size(), kNobody),
      readers(problem.bufferBytes.size()), taskReads(problem.tasks.size()) {
  for (uint32_t task = 0; task < problem.tasks.size(); ++task) {
    for (uint32_t buffer : problem.tasks[task].writes)
      writer[buffer] = task;
    for (uint32_t buffer : problem.tasks[task].overwrites)
      overwriter[buffer] = task;
    std::vector<uint32_t> &reads = taskReads[task];
    reads = problem.tasks[task].reads;
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    for (uint32_t buffer : reads)
      readers[buffer].push_back(task);
  }
}

namespace {
/// Bytes that are live, as buffers begin and end; those of a whole together.
class LiveBytes {
public:
  LiveBytes(const Problem &problem, const Uses &uses)
      : bytes(problem.bufferBytes), wholeOf(bytes.size(), kNobody),
        partsLeft(problem.wholes.size()) {
    for (uint32_t whole = 0; whole < problem.wholes.size(); ++whole)
      for (uint32_t part : problem.wholes[whole])
        if (uses.writer[part] != kNobody) {
          wholeOf[part] = whole;
          ++partsLeft[whole];
        }
    wholeBytes.resize(partsLeft.size());
    isOpen.resize(partsLeft.size());
    for (size_t buffer = 0; buffer < bytes.size(); ++buffer)
      if (wholeOf[buffer] != kNobody)
        wholeBytes[wholeOf[buffer]] += bytes[buffer];
  }

  void begin(uint32_t buffer) {
    uint32_t whole = wholeOf[buffer];
    if (whole == kNobody) {
      live += bytes[buffer];
    } else if (!isOpen[whole]) {
      isOpen[whole] = true;
      live += wholeBytes[whole];
    }
  }
  void end(uint32_t buffer) {
    uint32_t whole = wholeOf[buffer];
    if (whole == kNobody)
      live -= bytes[buffer];
    else if (--partsLeft[whole] == 0)
      live -= wholeBytes[whole];
  }

  int64_t live = 0;

private:
  const std::vector<int64_t> &bytes;
  std::vector<uint32_t> wholeOf; // buffer -> whole or kNobody
  std::vector<size_t> partsLeft; // of each whole: parts that have not ended
  std::vector<int64_t> wholeBytes;
  std::vector<bool> isOpen;
};
} // namespace

static int64_t peakOf(const Problem &problem, const Uses &uses,
                      const std::vector<uint32_t> &order) {
  std::vector<size_t> left(problem.bufferBytes.size());
  for (size_t i = 0; i < left.size(); ++i)
    left[i] = uses.readers[i].size();
  LiveBytes bytes(problem, uses);
  int64_t peak = 0;
  for (uint32_t task : order) {
    for (uint32_t buffer : problem.tasks[task].writes)
      bytes.begin(buffer);
    peak = std::max(peak, bytes.live);
    for (uint32_t buffer : problem.tasks[task].writes)
      if (left[buffer] == 0) // Nobody reads it: dead at once.
        bytes.end(buffer);
    for (uint32_t buffer : uses.taskReads[task])
      if (--left[buffer] == 0 && uses.writer[buffer] != kNobody)
        bytes.end(buffer);
  }
  return peak;
}

int64_t dlc::planning::schedule::peakBytes(const Problem &problem,
                                           const std::vector<uint32_t> &order) {
  return peakOf(problem, Uses(problem), order);
}

/// Index into `ready` of the smallest (growth, tie).
template <typename GrowthFn, typename TieFn>
static size_t pickReady(const std::vector<uint32_t> &ready, GrowthFn growth,
                        TieFn tie) {
  size_t best = 0;
  int64_t bestGrowth = growth(ready[0]);
  for (size_t i = 1; i < ready.size(); ++i) {
    int64_t candidate = growth(ready[i]);
    if (candidate < bestGrowth ||
        (candidate == bestGrowth && tie(ready[i]) < tie(ready[best]))) {
      best = i;
      bestGrowth = candidate;
    }
  }
  return best;
}

std::vector<uint32_t> ListScheduler::forwards() const {
  size_t count = problem.tasks.size();
  std::vector<size_t> waiting(count), left(problem.bufferBytes.size());
  for (size_t i = 0; i < left.size(); ++i)
    left[i] = uses.readers[i].size();
  std::vector<uint32_t> ready, order;
  for (uint32_t task = 0; task < count; ++task) {
    for (uint32_t buffer : uses.taskReads[task])
      waiting[task] += uses.writer[buffer] != kNobody;
    for (uint32_t buffer : problem.tasks[task].overwrites)
      for (uint32_t reader : uses.readers[buffer])
        waiting[task] += reader != task;
    if (waiting[task] == 0)
      ready.push_back(task);
  }
  auto growth = [&](uint32_t task) {
    int64_t bytes = 0;
    for (uint32_t buffer : problem.tasks[task].writes)
      bytes += left[buffer] ? problem.bufferBytes[buffer] : 0;
    for (uint32_t buffer : uses.taskReads[task])
      bytes -= left[buffer] == 1 ? bytesOf(buffer) : 0;
    return bytes;
  };
  while (!ready.empty()) {
    size_t at = pickReady(ready, growth, [](uint32_t task) { return task; });
    uint32_t task = ready[at];
    ready.erase(ready.begin() + at);
    order.push_back(task);
    for (uint32_t buffer : uses.taskReads[task]) {
      --left[buffer];
      uint32_t next = uses.overwriterAfter(task, buffer);
      if (next != kNobody && --waiting[next] == 0)
        ready.push_back(next);
    }
    for (uint32_t buffer : problem.tasks[task].writes)
      for (uint32_t reader : uses.readers[buffer])
        if (--waiting[reader] == 0)
          ready.push_back(reader);
  }
  return order;
}

std::vector<uint32_t> ListScheduler::backwards() const {
  // Time reversed, a buffer becomes live at its last reader and dies at its
  // writer; a task is ready when all readers of its results have run.
  size_t count = problem.tasks.size();
  std::vector<size_t> waiting(count);
  std::vector<bool> live(problem.bufferBytes.size());
  std::vector<uint32_t> ready, order;
  for (uint32_t task = 0; task < count; ++task) {
    for (uint32_t buffer : problem.tasks[task].writes)
      waiting[task] += uses.readers[buffer].size();
    for (uint32_t buffer : uses.taskReads[task])
      waiting[task] += uses.overwriterAfter(task, buffer) != kNobody;
    if (waiting[task] == 0)
      ready.push_back(task);
  }
  auto growth = [&](uint32_t task) {
    int64_t bytes = 0;
    for (uint32_t buffer : uses.taskReads[task])
      bytes += live[buffer] ? 0 : bytesOf(buffer);
    for (uint32_t buffer : problem.tasks[task].writes)
      bytes -= live[buffer] ? problem.bufferBytes[buffer] : 0;
    return bytes;
  };
  auto latest = [&](uint32_t task) { return count - task; };
  while (!ready.empty()) {
    size_t at = pickReady(ready, growth, latest);
    uint32_t task = ready[at];
    ready.erase(ready.begin() + at);
    order.push_back(task);
    for (uint32_t buffer : problem.tasks[task].writes)
      live[buffer] = false;
    for (uint32_t buffer : problem.tasks[task].overwrites)
      for (uint32_t reader : uses.readers[buffer])
        if (reader != task && --waiting[reader] == 0)
          ready.push_back(reader);
    for (uint32_t buffer : uses.taskReads[task]) {
      live[buffer] = true;
      uint32_t writer = uses.writer[buffer];
      if (writer != kNobody && --waiting[writer] == 0)
        ready.push_back(writer);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// The order with tasks right before what needs them where they write more than
/// they read of what is live by then: what is made of a program's inputs alone,
/// like transposed weights, does not wait in memory for its reader.
std::vector<uint32_t>
ListScheduler::late(const std::vector<uint32_t> &order) const {
  enum class State : uint8_t { Ahead, Put, Done };
  std::vector<State> states(problem.tasks.size(), State::Ahead);
  auto isWorthPuttingOff = [&](uint32_t task) {
    int64_t bytes = 0;
    for (uint32_t buffer : problem.tasks[task].writes)
      bytes += problem.bufferBytes[buffer];
    for (uint32_t buffer : uses.taskReads[task]) {
      // What was put off for this task alone is not live yet.
      uint32_t writer = uses.writer[buffer];
      bool isLater = writer != kNobody && states[writer] == State::Put &&
                     uses.readers[buffer].size() == 1;
      bytes -= isLater ? 0 : bytesOf(buffer);
    }
    return bytes > 0;
  };
  std::vector<uint32_t> result, work;
  // Without recursion: chains are long.
  auto run = [&](uint32_t last) {
    work.push_back(last);
    while (!work.empty()) {
      uint32_t task = work.back();
      size_t depth = work.size();
      auto need = [&](uint32_t other) {
        if (other != kNobody && other != task && states[other] == State::Put)
          work.push_back(other);
      };
      for (uint32_t buffer : uses.taskReads[task])
        need(uses.writer[buffer]);
      for (uint32_t buffer : problem.tasks[task].overwrites)
        for (uint32_t reader : uses.readers[buffer])
          need(reader);
      if (work.size() > depth)
        continue;
      work.pop_back();
      if (states[task] != State::Done)
        result.push_back(task);
      states[task] = State::Done;
    }
  };
  for (uint32_t task : order) {
    if (isWorthPuttingOff(task))
      states[task] = State::Put;
    else
      run(task);
  }
  for (uint32_t task : order)
    if (states[task] == State::Put)
      run(task);
  return result;
}

Solution dlc::planning::schedule::solve(const Problem &problem) {
  Solution best;
  best.order.resize(problem.tasks.size());
  std::iota(best.order.begin(), best.order.end(), 0);
  Uses uses(problem);
  best.peakBytes = peakOf(problem, uses, best.order);
  best.how = "given order";

  ListScheduler scheduler(problem, uses);
  auto consider = [&](std::vector<uint32_t> order, const char *how) {
    int64_t peak = peakOf(problem, uses, order);
    if (order.size() == problem.tasks.size() && peak < best.peakBytes)
      best = {std::move(order), peak, how};
  };
  auto considerLateToo = [&](std::vector<uint32_t> order, const char *how,
                             const char *howLate) {
    std::vector<uint32_t> late = scheduler.late(order);
    consider(std::move(order), how);
    consider(std::move(late), howLate);
  };
  considerLateToo(best.order, "given order", "given order, late");
  considerLateToo(scheduler.forwards(), "forward list", "forward list, late");
  considerLateToo(scheduler.backwards(), "backward list",
                  "backward list, late");
  return best;
}

std::optional<std::string>
dlc::planning::schedule::validate(const Problem &problem,
                                  const Solution &solution) {
  size_t count = problem.tasks.size();
  if (solution.order.size() != count)
    return "expected " + std::to_string(count) + " steps, got " +
           std::to_string(solution.order.size());
  std::vector<size_t> stepOf(count, count);
  for (size_t step = 0; step < count; ++step) {
    uint32_t task = solution.order[step];
    if (task >= count || stepOf[task] != count)
      return "task " + std::to_string(task) + " at step " +
             std::to_string(step) + " is unknown or runs twice";
    stepOf[task] = step;
  }
  // Live ranges as intervals, summed per step: unlike the solver's bookkeeping
  // on purpose.
  size_t buffers = problem.bufferBytes.size();
  std::vector<size_t> first(buffers, count), last(buffers, 0);
  for (size_t task = 0; task < count; ++task)
    for (uint32_t buffer : problem.tasks[task].writes)
      first[buffer] = last[buffer] = stepOf[task];
  for (size_t task = 0; task < count; ++task) {
    for (uint32_t buffer : problem.tasks[task].reads) {
      if (first[buffer] == count)
        continue; // Lives outside.
      if (stepOf[task] <= first[buffer])
        return "buffer " + std::to_string(buffer) + " is read at step " +
               std::to_string(stepOf[task]) + " but written at step " +
               std::to_string(first[buffer]);
      last[buffer] = std::max(last[buffer], stepOf[task]);
    }
  }
  std::vector<size_t> overwritten(buffers, count);
  for (size_t task = 0; task < count; ++task)
    for (uint32_t buffer : problem.tasks[task].overwrites)
      overwritten[buffer] = stepOf[task];
  for (size_t task = 0; task < count; ++task)
    for (uint32_t buffer : problem.tasks[task].reads)
      if (stepOf[task] > overwritten[buffer])
        return "buffer " + std::to_string(buffer) + " is read at step " +
               std::to_string(stepOf[task]) + " but overwritten at step " +
               std::to_string(overwritten[buffer]);
  for (const std::vector<uint32_t> &parts : problem.wholes) {
    size_t begin = count, end = 0;
    for (uint32_t part : parts)
      if (first[part] != count) {
        begin = std::min(begin, first[part]);
        end = std::max(end, last[part]);
      }
    for (uint32_t part : parts)
      if (first[part] != count) {
        first[part] = begin;
        last[part] = end;
      }
  }
  std::vector<int64_t> change(count + 1, 0);
  for (size_t buffer = 0; buffer < buffers; ++buffer) {
    if (first[buffer] == count)
      continue;
    change[first[buffer]] += problem.bufferBytes[buffer];
    change[last[buffer] + 1] -= problem.bufferBytes[buffer];
  }
  int64_t live = 0, peak = 0;
  for (int64_t delta : change)
    peak = std::max(peak, live += delta);
  if (peak != solution.peakBytes)
    return "expected a peak of " + std::to_string(peak) + " bytes, got " +
           std::to_string(solution.peakBytes);
  return std::nullopt;
}
