// SPDX-License-Identifier: Apache-2.0
//
// Says whether a packing problem is well formed.

#include "dlc/Planning/Memory/Problem.h"

#include "BufferChecks.h"
#include "Instance.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <unordered_set>

namespace dlc::planning {
namespace {

constexpr int64_t kMaxTotal = int64_t{1} << 60;

Error checkBuffer(const Buffer &buffer) {
  auto fault = [&](const char *expected, int64_t got) {
    return "buffer " + quotedId(buffer) + ": expected " + expected + ", got " +
           std::to_string(got);
  };
  if (buffer.lower < 0)
    return fault("lower >= 0", buffer.lower);
  if (buffer.upper <= buffer.lower)
    return fault(("upper > lower " + std::to_string(buffer.lower)).c_str(),
                 buffer.upper);
  if (buffer.size < 0)
    return fault("size >= 0", buffer.size);
  if (buffer.alignment < 1 ||
      !std::has_single_bit(static_cast<uint64_t>(buffer.alignment)))
    return fault("an alignment that is a power of two", buffer.alignment);
  if (!buffer.pinnedOffset)
    return std::nullopt;
  if (*buffer.pinnedOffset < 0)
    return fault("offset >= 0", *buffer.pinnedOffset);
  if (*buffer.pinnedOffset % buffer.alignment)
    return fault(
        ("an offset aligned to " + std::to_string(buffer.alignment)).c_str(),
        *buffer.pinnedOffset);
  return std::nullopt;
}

/// Adds up non-negative terms and notices when they pass kMaxTotal.
class Total {
public:
  void add(int64_t term) {
    sum = term > kMaxTotal - sum ? kMaxTotal : sum + term;
  }
  bool isTooLarge() const { return sum >= kMaxTotal; }

private:
  int64_t sum = 0;
};

} // namespace

std::string quotedId(const Buffer &buffer) { return "'" + buffer.id + "'"; }

Error checkBuffers(const Problem &problem) {
  std::unordered_set<std::string_view> ids;
  Total bytes;
  int64_t highestPin = 0;
  for (const Buffer &buffer : problem.buffers) {
    if (Error error = checkBuffer(buffer))
      return error;
    if (!ids.insert(buffer.id).second)
      return "expected unique ids, got " + quotedId(buffer) + " twice";
    bytes.add(buffer.size);
    bytes.add(buffer.alignment);
    highestPin = std::max(highestPin, buffer.pinnedOffset.value_or(0));
  }
  bytes.add(highestPin);
  for (const Alias &alias : problem.aliases) {
    if (alias.view >= problem.buffers.size() ||
        alias.base >= problem.buffers.size())
      return "expected an alias between two of " +
             std::to_string(problem.buffers.size()) + " buffers, got " +
             std::to_string(alias.view) + " and " + std::to_string(alias.base);
    if (alias.delta == INT64_MIN)
      return "alias of buffer " + quotedId(problem.buffers[alias.view]) +
             " is too far from its base";
    bytes.add(alias.delta < 0 ? -alias.delta : alias.delta);
  }
  if (bytes.isTooLarge())
    return "sizes, alignments, pins and aliases overflow: expected a sum below "
           "2^60";
  if (problem.capacity && *problem.capacity < 0)
    return "expected capacity >= 0, got " + std::to_string(*problem.capacity);
  return std::nullopt;
}

Error checkProblem(const Problem &problem) {
  Instance instance;
  return buildInstance(problem, instance);
}

} // namespace dlc::planning
