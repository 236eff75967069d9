// SPDX-License-Identifier: Apache-2.0

#include "PortEnds.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

using namespace dlc::rt;

/// The port in whose memory `value` is.
static std::optional<uint32_t> portOf(const Program::State &program,
                                      uint32_t value) {
  const int32_t shared =
      std::max(program.shownInputs[value], program.madeOutputs[value]);
  const ValueRecord &record = program.values[shared < 0 ? value : shared];
  uint32_t firstOutput = program.inputs.size();
  if (record.place == Place::Output)
    return firstOutput + record.index;
  if (record.place != Place::Input)
    return std::nullopt;
  if (std::optional<size_t> output = program.updatedBy[record.index])
    return firstOutput + *output;
  return record.index;
}

void PortEnds::find(const Program::State &program) {
  inputCount = program.inputs.size();
  size_t portCount = inputCount + program.outputs.size();
  // By port, device and stream: the last launch.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> last;
  for (uint32_t i = 0; i != program.launches.size(); ++i)
    for (int32_t value : program.argumentsOf(program.launches[i]))
      if (value >= 0)
        if (std::optional<uint32_t> port = portOf(program, value))
          last[{*port, program.names[i].device, program.names[i].stream}] = i;
  streams.assign(portCount, 0);
  firstEnd.assign(program.launches.size() + 1, 0);
  for (const auto &[use, launch] : last) {
    ++streams[std::get<0>(use)];
    ++firstEnd[launch + 1];
  }
  for (size_t i = 0; i != program.launches.size(); ++i)
    firstEnd[i + 1] += firstEnd[i];
  ends.resize(last.size());
  std::vector<uint32_t> next(firstEnd.begin(), firstEnd.end() - 1);
  for (const auto &[use, launch] : last)
    ends[next[launch]++] = std::get<0>(use);
  left.reset(new std::atomic<uint32_t>[portCount]);
}
