// SPDX-License-Identifier: Apache-2.0
//
// What the processor and the operating system can do, in LLVM's names.

#ifndef DLC_RUNTIME_DEVICE_CPU_FEATURES_H
#define DLC_RUNTIME_DEVICE_CPU_FEATURES_H

#include "dlc/runtime/Base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::rt {

/// The instruction sets that DLC's kernels tell apart. An entry counts as
/// present only when the system saves its registers.
enum class CPUFeature : uint8_t {
  SSE2,
  SSE42,
  AVX,
  AVX2,
  FMA,
  F16C,
  BMI2,
  AVX512F,
  AVX512BW,
  AVX512DQ,
  AVX512VL,
  AVX512VNNI,
  AVX512BF16,
  AVXVNNI,
  AMXTile,
  AMXBF16,
  AMXINT8,
  SSE3,
  SSSE3,
  SSE41,
  POPCNT,
  CX16,
  SAHF,
  MOVBE,
  XSAVE,
  BMI,
  LZCNT,
  AVX512CD,
};

/// A set of features. A value; empty on machines other than x86-64.
class CPUFeatures {
public:
  /// Those of this machine, from CPUID and XGETBV; about a microsecond. The
  /// AMX ones say that the machine has tiles; a process uses them only after
  /// enableAMX().
  static CPUFeatures ofHost();

  bool has(CPUFeature feature) const { return bits >> int(feature) & 1; }
  void add(CPUFeature feature) { bits |= 1u << int(feature); }

  /// True for the name in LLVM's spelling of a feature of this set. False for
  /// names that DLC does not know.
  bool has(std::string_view name) const;

  /// In LLVM's spelling, in the order of CPUFeature: "sse2", "sse4.2", ...
  std::vector<std::string_view> names() const;

private:
  uint32_t bits = 0;
};

/// LLVM's spelling.
std::string_view nameOf(CPUFeature feature);

/// The maker, family and model that CPUID tells of this processor,
/// "AuthenticAMD-25-1"; "unknown" on machines other than x86-64.
std::string cpuModel();

/// Asks the system for this process's right to use AMX tiles; harmless to
/// repeat. Must precede the first AMX instruction. Errors: Unsupported.
Status enableAMX();

} // namespace dlc::rt

#endif // DLC_RUNTIME_DEVICE_CPU_FEATURES_H
