// SPDX-License-Identifier: Apache-2.0
//
// Kernels of any shape that add to the result of an operation and compute an
// activation, or round it: a library that computes the operation may do that,
// too, before it writes its sums.

#include "ProgramState.h"

#include <algorithm>

using namespace dlc::rt;

namespace {

/// Who makes and who reads the values of a program whose launches run in order.
class Uses {
public:
  explicit Uses(const Program::State &state);
  /// The last launch that makes `value`; nothing of inputs and constants.
  std::optional<size_t> makerOf(int32_t value) const { return makers[value]; }
  bool isReadOnce(int32_t value) const { return readers[value].size() == 1; }
  /// Whether a launch from `first` on, but in front of `last`, reads it.
  bool isReadWithin(int32_t value, size_t first, size_t last) const {
    return std::ranges::any_of(readers[value], [&](size_t launch) {
      return first <= launch && launch < last;
    });
  }

private:
  std::vector<std::optional<size_t>> makers;
  std::vector<std::vector<size_t>> readers;
};

} // namespace

Uses::Uses(const Program::State &state)
    : makers(state.values.size()), readers(state.values.size()) {
  for (size_t i = 0; i != state.launches.size(); ++i) {
    const LaunchRecord &launch = state.launches[i];
    std::span<const int32_t> arguments = state.argumentsOf(launch);
    for (size_t k = 0; k != arguments.size(); ++k)
      if (k >= launch.inputCount)
        makers[arguments[k]] = i;
      else if (arguments[k] >= 0)
        readers[arguments[k]].push_back(i);
  }
}

/// Whether the memory of `value` is nobody else's before it is written.
static bool isOwn(const Program::State &state, const ValueRecord &value) {
  return value.place == Place::Pool ||
         (value.place == Place::Output && !value.isStatic &&
          !state.outputs[value.index].updates);
}

/// The operation that may compute sum `launch`, the last one of those that make
/// what it adds, so that the rest is there by then.
static void giveSum(Program::State &state, const Uses &uses, size_t launch) {
  const LaunchRecord &sum = state.launches[launch];
  std::span<const int32_t> values = state.argumentsOf(sum);
  std::span<const int32_t> inputs = values.first(sum.inputCount);
  if (!isOwn(state, state.values[values.back()]))
    return;
  auto last = std::ranges::max_element(
      inputs, {}, [&](int32_t value) { return uses.makerOf(value); });
  std::optional<size_t> maker = uses.makerOf(*last);
  if (!maker || *maker >= launch) // Plans may write a value again.
    return;
  auto entry = state.dynamicEntries.find(*maker);
  if (entry == state.dynamicEntries.end() || !entry->second.entry->epilogue ||
      entry->second.sum || state.values[*last].place != Place::Pool ||
      !uses.isReadOnce(*last) ||
      state.argumentsOf(state.launches[*maker]).back() != *last)
    return;
  FollowingSum following{launch, {}, sum.attributes};
  for (int32_t value : inputs) {
    if (value == *last)
      continue;
    const Place place = state.values[value].place;
    if (!uses.makerOf(value) && place != Place::Input &&
        place != Place::Constant)
      return; // A part of another value.
    following.added.push_back({static_cast<uint32_t>(value),
                               !uses.isReadWithin(value, *maker, launch)});
  }
  entry->second.sum = std::move(following);
}

void dlc::rt::findSums(Program::State &state) {
  if (state.streamCount > 1)
    return;
  const Uses uses(state);
  for (size_t i = 0; i != state.launches.size(); ++i)
    if (state.launches[i].kind == LaunchKind::AnyShape &&
        state.launches[i].attributes->has("activation"))
      giveSum(state, uses, i);
}
