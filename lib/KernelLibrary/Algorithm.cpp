// SPDX-License-Identifier: Apache-2.0
//
// Which of an entry's algorithms a call gets, and which arithmetic.

#include "dlc/KernelLibrary/Match.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::library;

static void allowParts(Match &match, const rt::LibraryEntry &entry,
                       FunctionType type, int64_t parts) {
  auto setParts = [&](Match &own, int64_t count) {
    own.config.set(
        rt::kBf16Parts,
        IntegerAttr::get(IntegerType::get(type.getContext(), 64), count));
  };
  if (parts == kRounded && entry.roundedBound > 0) {
    Match rounded = match;
    setParts(rounded, kRounded);
    std::string why;
    if (entry.isSupported(callOf(rounded, type).view(), why)) {
      match = std::move(rounded);
      return;
    }
  }
  if (entry.paysInParts && entry.paysInParts(callOf(match, type).view()))
    setParts(match, kExactParts);
}

void dlc::library::chooseAlgorithm(Match &match, const rt::LibraryEntry &entry,
                                   FunctionType type, int64_t parts) {
  const Match plain = match;
  allowParts(match, entry, type, parts);
  if (entry.algorithms.empty() || !entry.cost)
    return;
  std::vector<Match> candidates{match};
  std::vector<tuning::Call> calls{callOf(match, type)};
  for (std::string_view algorithm : entry.algorithms) {
    Match candidate = plain;
    candidate.config.set(
        kAlgorithm, StringAttr::get(type.getContext(), StringRef(algorithm)));
    allowParts(candidate, entry, type, parts);
    tuning::Call call = callOf(candidate, type);
    std::string why;
    if (!entry.isSupported(call.view(), why))
      continue;
    candidates.push_back(std::move(candidate));
    calls.push_back(std::move(call));
  }
  if (calls.size() == 1)
    return;
  CallTimes times = timesOf(*type.getContext(), calls);
  size_t best = 0;
  std::string note = times.isMeasured ? ", measured:" : ", modelled:";
  for (auto [i, time] : llvm::enumerate(times.nanoseconds)) {
    if (times.costs[i] < times.costs[best])
      best = i;
    auto name = candidates[i].config.get(kAlgorithm);
    note += llvm::formatv("{0} {1} {2:F1} us", i ? "," : "",
                          name ? cast<StringAttr>(name).getValue() : "direct",
                          time / 1e3);
  }
  match = std::move(candidates[best]);
  match.note += note;
}
