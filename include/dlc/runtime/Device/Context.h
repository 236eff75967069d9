// SPDX-License-Identifier: Apache-2.0
//
// Names a device: where an operation runs and where its memory is.

#ifndef DLC_RUNTIME_DEVICE_CONTEXT_H
#define DLC_RUNTIME_DEVICE_CONTEXT_H

#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace dlc::rt {

/// Kinds of devices. The first three are those of the artifact (Artifact.fbs)
/// and all are part of the C API: append, never reorder.
enum class DeviceKind : uint8_t {
  Null = 0, ///< Executes at once in host memory; for tests of many devices.
  CPU = 1,  ///< The host.
  CUDA = 2, ///< A CUDA device.
  CPUPinned = 3, ///< The host, with memory that the system never pages out.
  CPUShared = 4, ///< The host, with memory that other processes can open.
};
inline constexpr unsigned deviceKindCount = 5;

/// A kind of device and a number below 2^15. A plain value.
struct Context {
  DeviceKind kind = DeviceKind::CPU;
  int16_t index = 0;

  static constexpr Context null(int16_t i = 0) { return {DeviceKind::Null, i}; }
  static constexpr Context cpu(int16_t i = 0) { return {DeviceKind::CPU, i}; }
  static constexpr Context cuda(int16_t i = 0) { return {DeviceKind::CUDA, i}; }
  static constexpr Context cpuPinned(int16_t i = 0) {
    return {DeviceKind::CPUPinned, i};
  }
  static constexpr Context cpuShared(int16_t i = 0) {
    return {DeviceKind::CPUShared, i};
  }

  /// Reads what toString() writes; without a number it is device 0. Errors:
  /// InvalidArgument.
  static Result<Context> parse(std::string_view text);

  /// The kind is a known one and the number is not negative; false for values
  /// that came from elsewhere and name no device.
  constexpr bool isValid() const {
    return unsigned(kind) < deviceKindCount && index >= 0;
  }
  /// Instructions of the host read and write this device's memory.
  constexpr bool isHost() const { return kind != DeviceKind::CUDA; }

  friend constexpr bool operator==(Context, Context) = default;
  /// An order for sorted containers and output: by kind, then number.
  friend constexpr auto operator<=>(Context, Context) = default;
};

/// "cpu", "cpu_pinned", "cpu_shared", "cuda", "null"; "invalid" for others.
std::string_view nameOf(DeviceKind kind);

/// "cuda:1": the spelling of the command line and of the device attribute.
std::string toString(Context context);

} // namespace dlc::rt

template <> struct std::hash<dlc::rt::Context> {
  size_t operator()(dlc::rt::Context context) const noexcept {
    return size_t(context.kind) << 16 | uint16_t(context.index);
  }
};

#endif // DLC_RUNTIME_DEVICE_CONTEXT_H
