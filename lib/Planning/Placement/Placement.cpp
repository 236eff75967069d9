// SPDX-License-Identifier: Apache-2.0

#include "dlc/Planning/Placement/Placement.h"

#include <algorithm>
#include <set>

using namespace dlc::planning::placement;

static constexpr uint32_t kNobody = UINT32_MAX;

/// The operation that makes each value.
static std::vector<uint32_t> makersOf(const Problem &problem) {
  std::vector<uint32_t> makers(problem.valueCount, kNobody);
  for (uint32_t op = 0; op < problem.operations.size(); ++op)
    for (uint32_t value : problem.operations[op].results)
      makers[value] = op;
  return makers;
}

namespace {

/// Spreads devices along the edges between operations that are not constant.
class Propagation {
public:
  explicit Propagation(const Problem &problem)
      : problem(problem), makers(makersOf(problem)) {
    for (const Operation &op : problem.operations)
      devices.push_back(op.device);
  }
  std::vector<uint32_t> run();

private:
  bool forward();
  bool backward();
  void placeConstants();

  const Problem &problem;
  std::vector<uint32_t> makers, devices;
};

} // namespace

bool Propagation::forward() {
  bool changed = false;
  for (size_t i = 0; i < devices.size(); ++i) {
    const Operation &op = problem.operations[i];
    if (devices[i] != kAnyDevice || op.isConstant)
      continue;
    for (uint32_t value : op.operands) {
      uint32_t maker = makers[value];
      if (problem.operations[maker].isConstant || devices[maker] == kAnyDevice)
        continue;
      devices[i] = devices[maker];
      changed = true;
      break;
    }
  }
  return changed;
}

bool Propagation::backward() {
  bool changed = false;
  for (size_t i = devices.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    if (devices[i] == kAnyDevice || op.isConstant)
      continue;
    for (uint32_t value : op.operands) {
      uint32_t maker = makers[value];
      if (devices[maker] != kAnyDevice || problem.operations[maker].isConstant)
        continue;
      devices[maker] = devices[i];
      changed = true;
    }
  }
  return changed;
}

void Propagation::placeConstants() {
  for (size_t i = 0; i < devices.size(); ++i)
    for (uint32_t value : problem.operations[i].operands) {
      uint32_t maker = makers[value];
      if (devices[maker] == kAnyDevice)
        devices[maker] = devices[i];
    }
}

std::vector<uint32_t> Propagation::run() {
  bool changed = true;
  while (changed) {
    changed = forward();
    changed |= backward();
  }
  for (size_t i = 0; i < devices.size(); ++i)
    if (devices[i] == kAnyDevice && !problem.operations[i].isConstant)
      devices[i] = 0;
  placeConstants();
  std::replace(devices.begin(), devices.end(), kAnyDevice, 0u); // Unused ones.
  return devices;
}

std::vector<uint32_t> dlc::planning::placement::place(const Problem &problem) {
  return Propagation(problem).run();
}

std::vector<Copy>
dlc::planning::placement::planCopies(const Problem &problem,
                                     const std::vector<uint32_t> &devices) {
  std::vector<uint32_t> makers = makersOf(problem);
  std::vector<Copy> copies;
  for (size_t i = 0; i < devices.size(); ++i)
    for (uint32_t value : problem.operations[i].operands)
      if (devices[makers[value]] != devices[i])
        copies.push_back({value, devices[i]});
  std::sort(copies.begin(), copies.end());
  copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
  return copies;
}

/// Simulates: values are where they are made and where a copy brings them; an
/// operation takes each operand from its own device.
std::optional<std::string>
dlc::planning::placement::validate(const Problem &problem,
                                   const std::vector<uint32_t> &devices,
                                   const std::vector<Copy> &copies) {
  auto text = [](uint32_t number) { return std::to_string(number); };
  if (devices.size() != problem.operations.size())
    return "expected a device of each operation";
  std::set<Copy> present, unused;
  for (uint32_t i = 0; i < devices.size(); ++i) {
    const Operation &op = problem.operations[i];
    if (op.device != kAnyDevice && op.device != devices[i])
      return "operation " + text(i) + ": expected device " + text(op.device) +
             ", got " + text(devices[i]);
    for (uint32_t value : op.results)
      present.insert({value, devices[i]});
  }
  for (const Copy &copy : copies) {
    if (copy.value >= problem.valueCount || !present.insert(copy).second)
      return "value " + text(copy.value) + " is on device " +
             text(copy.device) + " without a copy, or is copied there twice";
    unused.insert(copy);
  }
  for (uint32_t i = 0; i < devices.size(); ++i)
    for (uint32_t value : problem.operations[i].operands) {
      if (!present.contains({value, devices[i]}))
        return "operation " + text(i) + ": expected a copy of value " +
               text(value) + " on device " + text(devices[i]);
      unused.erase({value, devices[i]});
    }
  if (!unused.empty())
    return "nobody uses the copy of value " + text(unused.begin()->value) +
           " on device " + text(unused.begin()->device);
  return std::nullopt;
}
