// SPDX-License-Identifier: Apache-2.0
//
// Commands of the design that do nothing yet, and say so.

#include "Command.h"

using namespace dlc::tool;

void dlc::tool::addLater(CommandLine &line) {
  static constexpr std::pair<const char *, const char *> commands[] = {
      {"export", "Export a model as ONNX (not yet)"}};
  for (auto [name, summary] : commands)
    line.add(name, summary,
             [name = std::string(name)]() -> int {
               throw Failure{"dlc " + name + ": not yet", kBadUsage};
             })
        .anything();
}
