// SPDX-License-Identifier: Apache-2.0
//
// Which of an entry's algorithms a call gets, and which arithmetic.

#include "dlc/KernelLibrary/Match.h"

#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::library;

static void setParts(Match &match, FunctionType type, int64_t parts) {
  auto i64 = IntegerType::get(type.getContext(), 64);
  match.config.set(rt::kBf16Parts, IntegerAttr::get(i64, parts));
}

/// Has floats rounded, if `parts` says so and the entry can.
static void roundIfAsked(Match &match, const rt::LibraryEntry &entry,
                         FunctionType type, int64_t parts) {
  if (parts != kRounded || entry.roundedOperands == 0)
    return;
  Match rounded = match;
  setParts(rounded, type, kRounded);
  for (NamedAttribute form : match.roundedPackedConfig)
    if (match.config.get(form.getName())) { // It is packed.
      rounded.config.set(form.getName(), form.getValue());
      rounded.packedConfig.set(form.getName(), form.getValue());
    }
  std::string why;
  if (entry.isSupported(callOf(rounded, type).view(), why))
    match = std::move(rounded);
}

/// As roundIfAsked(), but for what only measured times may round: that is
/// returned.
static std::optional<Match> roundUntimed(Match &match,
                                         const rt::LibraryEntry &entry,
                                         FunctionType type, int64_t parts) {
  Match rounded = match;
  roundIfAsked(rounded, entry, type, parts);
  if (entry.roundsByTime && rounded.config.get(rt::kBf16Parts) &&
      entry.roundsByTime(callOf(rounded, type).view()))
    return rounded;
  match = std::move(rounded);
  return std::nullopt;
}

/// "winograd", "direct in 3 parts".
static std::string nameOf(const Match &match) {
  auto algorithm = dyn_cast_or_null<StringAttr>(match.config.get(kAlgorithm));
  std::string name = algorithm ? algorithm.getValue().str() : "direct";
  auto parts = dyn_cast_or_null<IntegerAttr>(match.config.get(rt::kBf16Parts));
  if (parts)
    name += parts.getInt() == kExactParts ? " in 3 parts" : " rounded";
  return name;
}

/// Appends the algorithms that a call can take beside the first, of floats and,
/// where `parts` says so, of rounded ones.
static void addAlgorithms(const Match &plain, const rt::LibraryEntry &entry,
                          FunctionType type, int64_t parts,
                          std::vector<Match> &candidates,
                          std::vector<tuning::Call> &calls) {
  for (std::string_view algorithm : entry.algorithms) {
    Match candidate = plain;
    candidate.config.set(
        kAlgorithm, StringAttr::get(type.getContext(), StringRef(algorithm)));
    auto add = [&](const Match &match) {
      tuning::Call call = callOf(match, type);
      std::string why;
      if (!entry.isSupported(call.view(), why))
        return;
      candidates.push_back(match);
      calls.push_back(std::move(call));
    };
    add(candidate);
    roundIfAsked(candidate, entry, type, parts);
    if (candidate.config.get(rt::kBf16Parts))
      add(candidate);
  }
}

uint64_t dlc::library::modelledTimeOf(const Match &match,
                                      const rt::LibraryEntry &entry,
                                      FunctionType type, int64_t parts) {
  std::vector<Match> candidates{match};
  roundUntimed(candidates.front(), entry, type, parts);
  std::vector<tuning::Call> calls{callOf(candidates.front(), type)};
  addAlgorithms(match, entry, type, parts, candidates, calls);
  uint64_t least = UINT64_MAX;
  for (const tuning::Call &call : calls)
    least = std::min(least, rt::nanosecondsOf(entry.cost(call.view())));
  return least;
}

void dlc::library::chooseAlgorithm(Match &match, const rt::LibraryEntry &entry,
                                   FunctionType type, int64_t parts) {
  const Match plain = match;
  const std::optional<Match> roundedByTime =
      roundUntimed(match, entry, type, parts);
  if (!entry.cost)
    return;
  std::vector<Match> candidates{match};
  std::vector<tuning::Call> calls{callOf(match, type)};
  addAlgorithms(plain, entry, type, parts, candidates, calls);
  // What tiles reach differs too much from one machine to the next, and from
  // one moment to the next where others use them, for a model.
  const size_t modelled = candidates.size();
  if (roundedByTime && isTuned(*type.getContext())) {
    calls.push_back(callOf(*roundedByTime, type));
    candidates.push_back(*roundedByTime);
  }
  if (parts == kExactParts && entry.paysInParts && isTuned(*type.getContext()))
    for (size_t i = 0; i < modelled; ++i)
      if (entry.paysInParts(calls[i].view())) {
        Match candidate = candidates[i];
        setParts(candidate, type, kExactParts);
        calls.push_back(callOf(candidate, type));
        candidates.push_back(std::move(candidate));
      }
  if (calls.size() == 1)
    return;
  CallTimes times = timesOf(*type.getContext(), calls);
  const size_t count = times.isMeasured ? calls.size() : modelled;
  if (count == 1)
    return;
  size_t best = 0;
  std::string note = times.isMeasured      ? ", measured:"
                     : times.isPartlyKnown ? ", measured in part:"
                                           : ", modelled:";
  for (size_t i = 0; i < count; ++i) {
    if (times.costs[i] < times.costs[best])
      best = i;
    note += llvm::formatv("{0} {1} {2:F1} us", i ? "," : "",
                          nameOf(candidates[i]), times.nanoseconds[i] / 1e3);
  }
  match = std::move(candidates[best]);
  match.note += note;
}
