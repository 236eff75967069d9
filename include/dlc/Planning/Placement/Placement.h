// SPDX-License-Identifier: Apache-2.0
//
// On which device each operation runs, and which values are copied between
// devices: problems over plain data. Devices follow from those that were asked
// for as in NNVM's PlaceDevice (src/pass/place_device.cc): forward from
// operands, then backward from users. Unlike there, both are repeated until
// nothing changes, so that what has any placed relative follows it.

#ifndef DLC_PLANNING_PLACEMENT_PLACEMENT_H
#define DLC_PLANNING_PLACEMENT_PLACEMENT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlc::planning::placement {

inline constexpr uint32_t kAnyDevice = UINT32_MAX;

/// One operation. Values are numbers below Problem::valueCount.
struct Operation {
  std::vector<uint32_t> operands;
  std::vector<uint32_t> results;
  uint32_t device = kAnyDevice; ///< Asked for; it is pinned there.
  /// Its value is known and can be had on every device without a copy. It says
  /// nothing about where its users run.
  bool isConstant = false;
};

/// Operations in an order in which each value is made before it is used; what
/// comes from outside is made by an operation without operands. Devices are
/// numbered from 0, which is where runs what nothing is known of.
struct Problem {
  uint32_t valueCount = 0;
  std::vector<Operation> operations;
};

/// The device of each operation. Those that ask for one have it; the others:
///  - that of the first operand that has one;
///  - else that of the last user that has one;
///  - again, until nothing changes; then device 0.
/// A constant that asks for none is where its first user is.
/// Cost: O(r e) for e operands and r rounds; each places an operation at least.
std::vector<uint32_t> place(const Problem &problem);

/// A value that is also needed on a device other than its operation's.
struct Copy {
  uint32_t value;
  uint32_t device; ///< Where it is needed.

  auto operator<=>(const Copy &) const = default;
};

/// The copies that make every operation find its operands on its own device,
/// in ascending order: one for each pair that is needed, which is the least
/// number, since every copy brings one value to one device. `devices` is one
/// of each operation.
/// Cost: O(e log e).
std::vector<Copy> planCopies(const Problem &problem,
                             const std::vector<uint32_t> &devices);

/// What is wrong, or nullopt: pinned operations are where they ask to be, each
/// operand is on the device of its operation or has one copy there, and without
/// any copy some operand would be missing.
std::optional<std::string> validate(const Problem &problem,
                                    const std::vector<uint32_t> &devices,
                                    const std::vector<Copy> &copies);

} // namespace dlc::planning::placement

#endif // DLC_PLANNING_PLACEMENT_PLACEMENT_H
