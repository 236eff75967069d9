// SPDX-License-Identifier: Apache-2.0
//
// Which of an entry's algorithms a call gets.

#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Graph/Plain.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::library;

PlainCall::PlainCall(FunctionType type, const NamedAttrList &config)
    : attributes(graph::toAttributes(config.getDictionary(type.getContext()))) {
  for (Type input : type.getInputs())
    inputs.push_back(graph::toTensorType(input));
  for (Type result : type.getResults())
    outputs.push_back(graph::toTensorType(result));
}

void dlc::library::chooseAlgorithm(Match &match, const rt::LibraryEntry &entry,
                                   FunctionType type) {
  if (entry.algorithms.empty() || !entry.cost)
    return;
  NamedAttrList best = match.config;
  uint64_t least = rt::nanosecondsOf(entry.cost(PlainCall(type, best).view()));
  for (std::string_view algorithm : entry.algorithms) {
    NamedAttrList config = match.config;
    config.set("algorithm",
               StringAttr::get(type.getContext(), StringRef(algorithm)));
    PlainCall call(type, config);
    std::string why;
    if (!entry.isSupported(call.view(), why))
      continue;
    uint64_t time = rt::nanosecondsOf(entry.cost(call.view()));
    if (time >= least)
      continue;
    least = time;
    best = std::move(config);
  }
  match.config = std::move(best);
}
