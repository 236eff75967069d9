// SPDX-License-Identifier: Apache-2.0
//
// Generated packing problems.

#include "Generators.h"

#include <algorithm>

namespace dlc::planning::testing {

uint64_t Random::next() { // xorshift64*
  state = state ? state : 88172645463325252ull;
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 2685821657736338717ull;
}

namespace {

size_t addBuffer(Problem &problem, int64_t lower, int64_t upper, int64_t size,
                 int64_t alignment = 1) {
  const size_t index = problem.buffers.size();
  problem.buffers.push_back(
      {"b" + std::to_string(index), lower, upper, size, alignment, {}});
  return index;
}

struct Rectangle {
  int64_t left, right, bottom, top;
  int64_t area() const { return (right - left) * (top - bottom); }
};

/// Replaces the rectangle by parts of it; false when it is too thin.
bool cut(std::vector<Rectangle> &all, size_t index, bool asPinwheel,
         Random &random) {
  const Rectangle r = all[index];
  const int64_t width = r.right - r.left, height = r.top - r.bottom;
  if (asPinwheel && width >= 3 && height >= 3) {
    const int64_t x1 = random.range(r.left + 1, r.right - 2);
    const int64_t x2 = random.range(x1 + 1, r.right - 1);
    const int64_t y1 = random.range(r.bottom + 1, r.top - 2);
    const int64_t y2 = random.range(y1 + 1, r.top - 1);
    all[index] = {r.left, x2, r.bottom, y1};
    all.push_back({x2, r.right, r.bottom, y2});
    all.push_back({x1, r.right, y2, r.top});
    all.push_back({r.left, x1, y1, r.top});
    all.push_back({x1, x2, y1, y2});
    return true;
  }
  const bool inTime = random.chance(50);
  if ((inTime ? width : height) < 2)
    return false;
  if (inTime) {
    const int64_t x = random.range(r.left + 1, r.right - 1);
    all[index].right = x;
    all.push_back({x, r.right, r.bottom, r.top});
  } else {
    const int64_t y = random.range(r.bottom + 1, r.top - 1);
    all[index].top = y;
    all.push_back({r.left, r.right, y, r.top});
  }
  return true;
}

} // namespace

Problem cutRectangle(int count, int64_t duration, int64_t height,
                     int pinwheelPercent, uint64_t seed) {
  Random random(seed);
  std::vector<Rectangle> all{{0, duration, 0, height}};
  for (int tries = 0; static_cast<int>(all.size()) < count && tries < 100'000;
       ++tries) {
    // Prefer large ones: take the largest of a few.
    size_t index = 0;
    int64_t largest = -1;
    for (int k = 0; k < 4; ++k) {
      const auto at = static_cast<size_t>(
          random.range(0, static_cast<int64_t>(all.size()) - 1));
      if (all[at].area() > largest) {
        largest = all[at].area();
        index = at;
      }
    }
    cut(all, index, random.chance(pinwheelPercent), random);
  }
  for (size_t k = all.size(); k > 1; --k)
    std::swap(all[k - 1], all[random.next() % k]);
  Problem problem;
  for (const Rectangle &r : all)
    addBuffer(problem, r.left, r.right, r.top - r.bottom);
  return problem;
}

namespace {

/// Records operations; a tensor lives from the step that makes it through the
/// last that reads it.
class Tape {
public:
  Tape(uint64_t seed, std::vector<InPlaceCandidate> *inPlace)
      : random(seed), inPlace(inPlace) {}

  size_t input(int64_t size) {
    return addBuffer(problem, step, step + 1, size, 64);
  }
  void read(size_t tensor) { problem.buffers[tensor].upper = step + 1; }
  int64_t sizeOf(size_t tensor) const { return problem.buffers[tensor].size; }

  size_t op(const std::vector<size_t> &operands, int64_t size) {
    ++step;
    for (size_t operand : operands)
      read(operand);
    const size_t result = input(size);
    ++made;
    if (inPlace)
      for (size_t operand : operands)
        if (sizeOf(operand) == size)
          inPlace->push_back({operand, result, step});
    if (random.chance(30))
      addBuffer(problem, step, step + 1, size * random.range(1, 9) / 4, 64);
    return result;
  }

  Random random;
  Problem problem;
  int made = 0; // tensors by operations

private:
  int64_t step = 0;
  std::vector<InPlaceCandidate> *inPlace;
};

int64_t bytesOf(int64_t channels, int64_t side) {
  return (channels * side * side * 4 + 63) / 64 * 64;
}

class NetworkBuilder {
public:
  NetworkBuilder(Network kind, int count, uint64_t seed,
                 std::vector<InPlaceCandidate> *inPlace)
      : kind(kind), budget(kind == Network::Training ? count / 2 : count),
        tape(seed, inPlace) {}

  Problem build() {
    current = tape.input(bytesOf(3, side));
    const int stage = std::max(2, budget / 5);
    for (int next = stage; tape.made < budget;) {
      if (tape.made >= next) {
        changeResolution();
        next += stage;
      }
      kind == Network::Inception ? addBranches() : addChain();
    }
    if (kind == Network::Training)
      addBackward();
    return std::move(tape.problem);
  }

private:
  size_t make(const std::vector<size_t> &operands, int64_t size) {
    forward.push_back(tape.op(operands, size));
    return forward.back();
  }
  int64_t shape() const { return bytesOf(channels, side); }

  void changeResolution() {
    const bool up = kind == Network::UNet && tape.made > budget / 2;
    if (!up)
      skips.push_back(current);
    side =
        up ? std::min<int64_t>(224, side * 2) : std::max<int64_t>(7, side / 2);
    channels = up ? std::max<int64_t>(32, channels / 2)
                  : std::min<int64_t>(1024, channels * 2);
    current = make({current}, shape());
    if (up && !skips.empty()) {
      current = make({current, skips.back()}, shape());
      skips.pop_back();
    }
  }
  void addBranches() {
    std::vector<size_t> outputs;
    int64_t total = 0;
    for (int64_t k = tape.random.range(2, 5); k > 0; --k) {
      const int64_t own =
          std::max<int64_t>(8, channels * tape.random.range(1, 8) / 16);
      size_t x = current;
      for (int64_t depth = tape.random.range(1, 3); depth > 0; --depth)
        x = make({x}, bytesOf(own, side));
      outputs.push_back(x);
      total += own;
    }
    current = make(outputs, bytesOf(total, side));
  }
  void addChain() {
    size_t x = current;
    for (int64_t depth = tape.random.range(1, 3); depth > 0; --depth)
      x = make({x}, tape.random.chance(40) ? bytesOf(channels / 4 + 1, side)
                                           : shape());
    current = tape.random.chance(70) ? make({x, current}, shape()) : x;
  }
  /// Reads each activation once more, in reverse, and makes its gradient.
  void addBackward() {
    size_t gradient = forward.back();
    const std::vector<size_t> saved = forward;
    for (size_t k = saved.size(); k-- > 0;)
      gradient = tape.op({gradient, saved[k]}, tape.sizeOf(saved[k]));
  }

  Network kind;
  int budget;
  Tape tape;
  size_t current = 0;
  int64_t side = 224, channels = 32;
  std::vector<size_t> forward, skips;
};

} // namespace

Problem networkLike(Network kind, int count, uint64_t seed,
                    std::vector<InPlaceCandidate> *inPlace) {
  return NetworkBuilder(kind, count, seed, inPlace).build();
}

namespace {

/// Ties some buffers to earlier ones; each is the view of one at most, so the
/// ties cannot contradict each other.
void addTies(Problem &problem, Tiny kind, Random &random) {
  for (size_t i = 1; i < problem.buffers.size(); ++i) {
    if (!random.chance(60))
      continue;
    const auto base =
        static_cast<size_t>(random.range(0, static_cast<int64_t>(i) - 1));
    if (kind == Tiny::Views) {
      problem.aliases.push_back({i, base, random.range(-2, 4)});
      continue;
    }
    // A result in place begins in the step in which its operand ends.
    Buffer &result = problem.buffers[i];
    const int64_t width = result.upper - result.lower;
    result.lower = problem.buffers[base].upper - random.range(0, 1);
    result.upper = result.lower + width;
    problem.aliases.push_back({i, base, 0});
  }
}

} // namespace

Problem tinyProblem(Tiny kind, uint64_t seed) {
  Random random(seed * 7919 + 17);
  Problem problem;
  const bool tied = kind == Tiny::InPlaceChains || kind == Tiny::Views;
  const int64_t count = random.range(2, tied ? 7 : 6);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t lower = random.range(0, 6);
    const int64_t alignment = kind == Tiny::Aligned || kind == Tiny::Pinned
                                  ? int64_t{1} << random.range(0, 2)
                                  : 1;
    addBuffer(problem, lower, lower + random.range(1, 4), random.range(1, 6),
              alignment);
  }
  if (kind == Tiny::Pinned)
    problem.buffers[0].pinnedOffset =
        problem.buffers[0].alignment * random.range(0, 3);
  if (tied)
    addTies(problem, kind, random);
  return problem;
}

} // namespace dlc::planning::testing
