// SPDX-License-Identifier: Apache-2.0
//
// Complete search for a packing within a capacity ("valley search").
//
// It follows MiniMalloc (ASPLOS 2024) in filling the address space from the
// bottom, in working on sections of time, in solving independent parts apart
// and in inferring lower bounds of offsets. It departs from it in where it
// branches. For each section keep a floor: no unplaced piece of the section
// can start lower. A valley is a maximal run of sections of equal floor with
// higher floors on both sides. In a packing in which nothing can slide down,
// for any section of a valley either a piece that can start on the floor does
// so and covers the section, or the floor is wasted there. That holds anywhere
// in time, so the section with fewest options is taken: sections without slack
// have no floor to waste and few candidates, and most branches are forced.

#ifndef DLC_LIB_PLANNING_MEMORY_VALLEYSEARCH_H
#define DLC_LIB_PLANNING_MEMORY_VALLEYSEARCH_H

#include "SearchState.h"

#include <array>
#include <span>

namespace dlc::planning {

enum class SearchResult {
  Found,      ///< offsets() is a packing within the capacity.
  Infeasible, ///< Proved: there is none.
  OutOfSteps, ///< Neither found nor disproved.
};

class ValleySearch {
public:
  ValleySearch(const Instance &instance, uint64_t seed);

  /// Expands at most `nodes` branches. May be called again.
  SearchResult run(int64_t capacity, int64_t nodes);

  Offsets offsets() const { return state.offsets(); }
  /// Divides the height of some smallest packing.
  int64_t unit() const { return state.unit(); }
  /// Branches expanded by the last run.
  int64_t nodesUsed() const { return nodes; }

private:
  /// The order in which candidates are tried; restarts go round.
  enum class ValueOrder { Width, LoadArea, LoadWidth, Flush };
  static constexpr int kValueOrders = 4;
  enum class Descent { Found, Exhausted, OutOfSteps };

  struct Part {
    int first = 0, last = 0; // sections [first, last)
  };

  /// A branch being expanded: its options are the candidates, then the rise.
  struct Frame {
    Part part;
    int section = 0;
    bool mayRise = false;
    uint64_t key = 0;
    size_t candidates = 0, candidatesEnd = 0; // in candidatePool
    size_t next = 0;                          // option
    size_t parts = 0, nextPart = 0;           // in partPool
    SearchState::Mark mark{};
  };

  void classify();
  void rankPieces(uint64_t round);
  Descent descend();
  bool pushFrame(Part part);
  void popFrame(bool failed);
  bool tryNextOption(Frame &frame);
  void splitIntoParts(Part part);
  void choose(Frame &frame);
  void orderCandidates(const Frame &frame);
  bool isTwinOfEarlier(const Frame &frame, size_t k) const;
  bool isKnownDeadEnd(uint64_t key) const;
  uint64_t stateKey(Part part) const;
  void blame(int section) {
    if (section >= 0)
      weights[section] += 1.0;
  }

  const Instance &instance;
  SearchState state;
  uint64_t seed;
  ValueOrder valueOrder = ValueOrder::Width;
  int64_t nodes = 0, nodeLimit = 0;

  std::vector<int> classes;   // per piece; equal when interchangeable
  std::vector<int> ranks;     // per piece
  std::vector<int64_t> loads; // per piece: largest it meets
  std::vector<std::vector<int>> startingAt; // per section
  std::vector<double> weights;              // per section: how often it failed
  std::vector<uint64_t> deadEnds; // keys of states that failed; a cache

  std::vector<Frame> frames;
  std::vector<int> candidatePool;
  std::vector<Part> partPool;
};

} // namespace dlc::planning

#endif // DLC_LIB_PLANNING_MEMORY_VALLEYSEARCH_H
