// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Device/CPU/Features.h"

#include <iterator>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace dlc::rt;

static constexpr std::string_view featureNames[] = {
    "sse2",       "sse4.2",  "avx",      "avx2",     "fma",      "f16c",
    "bmi2",       "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vnni",
    "avx512bf16", "avxvnni", "amx-tile", "amx-bf16", "amx-int8", "sse3",
    "ssse3",      "sse4.1",  "popcnt",   "cx16",     "sahf",     "movbe",
    "xsave",      "bmi",     "lzcnt",    "avx512cd"};

std::string_view dlc::rt::nameOf(CPUFeature feature) {
  return featureNames[static_cast<size_t>(feature)];
}

bool CPUFeatures::has(std::string_view name) const {
  for (size_t i = 0; i != std::size(featureNames); ++i)
    if (featureNames[i] == name)
      return has(static_cast<CPUFeature>(i));
  return false;
}

std::vector<std::string_view> CPUFeatures::names() const {
  std::vector<std::string_view> result;
  for (size_t i = 0; i != std::size(featureNames); ++i)
    if (has(static_cast<CPUFeature>(i)))
      result.push_back(featureNames[i]);
  return result;
}

#if defined(__x86_64__)

namespace {

enum Register { EAX, EBX, ECX, EDX };

/// What must hold in the register state that the system saves (XCR0).
enum class State { None, AVX, AVX512, Tiles };

/// One bit of CPUID.
struct Bit {
  CPUFeature feature;
  uint32_t leaf, subleaf;
  Register reg;
  int bit;
  State state;
};

} // namespace

static constexpr Bit bitTable[] = {
    {CPUFeature::SSE2, 1, 0, EDX, 26, State::None},
    {CPUFeature::SSE42, 1, 0, ECX, 20, State::None},
    {CPUFeature::AVX, 1, 0, ECX, 28, State::AVX},
    {CPUFeature::AVX2, 7, 0, EBX, 5, State::AVX},
    {CPUFeature::FMA, 1, 0, ECX, 12, State::AVX},
    {CPUFeature::F16C, 1, 0, ECX, 29, State::AVX},
    {CPUFeature::BMI2, 7, 0, EBX, 8, State::None},
    {CPUFeature::AVX512F, 7, 0, EBX, 16, State::AVX512},
    {CPUFeature::AVX512BW, 7, 0, EBX, 30, State::AVX512},
    {CPUFeature::AVX512DQ, 7, 0, EBX, 17, State::AVX512},
    {CPUFeature::AVX512VL, 7, 0, EBX, 31, State::AVX512},
    {CPUFeature::AVX512VNNI, 7, 0, ECX, 11, State::AVX512},
    {CPUFeature::AVX512BF16, 7, 1, EAX, 5, State::AVX512},
    {CPUFeature::AVXVNNI, 7, 1, EAX, 4, State::AVX},
    {CPUFeature::AMXTile, 7, 0, EDX, 24, State::Tiles},
    {CPUFeature::AMXBF16, 7, 0, EDX, 22, State::Tiles},
    {CPUFeature::AMXINT8, 7, 0, EDX, 25, State::Tiles},
    {CPUFeature::SSE3, 1, 0, ECX, 0, State::None},
    {CPUFeature::SSSE3, 1, 0, ECX, 9, State::None},
    {CPUFeature::SSE41, 1, 0, ECX, 19, State::None},
    {CPUFeature::POPCNT, 1, 0, ECX, 23, State::None},
    {CPUFeature::CX16, 1, 0, ECX, 13, State::None},
    {CPUFeature::SAHF, 0x80000001, 0, ECX, 0, State::None},
    {CPUFeature::MOVBE, 1, 0, ECX, 22, State::None},
    {CPUFeature::XSAVE, 1, 0, ECX, 27, State::None},
    {CPUFeature::BMI, 7, 0, EBX, 3, State::None},
    {CPUFeature::LZCNT, 0x80000001, 0, ECX, 5, State::None},
    {CPUFeature::AVX512CD, 7, 0, EBX, 28, State::AVX512},
};

/// XCR0, or 0 when the system does not use XSAVE.
static uint64_t savedState() {
  uint32_t regs[4];
  constexpr uint32_t osxsave = 1u << 27;
  if (!__get_cpuid(1, &regs[EAX], &regs[EBX], &regs[ECX], &regs[EDX]) ||
      !(regs[ECX] & osxsave))
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

static bool isSaved(State state, uint64_t xcr0) {
  // Bits: 1 and 2 are XMM and YMM; 5 to 7 the AVX-512 registers; 17 and 18
  // the tiles.
  uint64_t needed = 0;
  if (state == State::AVX)
    needed = 0x6;
  if (state == State::AVX512)
    needed = 0xe6;
  if (state == State::Tiles)
    needed = 0x60000;
  return (xcr0 & needed) == needed;
}

std::string dlc::rt::cpuModel() {
  uint32_t regs[4];
  if (!__get_cpuid(0, &regs[EAX], &regs[EBX], &regs[ECX], &regs[EDX]))
    return "unknown";
  std::string text;
  for (Register part : {EBX, EDX, ECX})
    text.append(reinterpret_cast<const char *>(&regs[part]), sizeof regs[part]);
  __get_cpuid(1, &regs[EAX], &regs[EBX], &regs[ECX], &regs[EDX]);
  // The extended fields count where the plain ones are at their ends.
  uint32_t family = regs[EAX] >> 8 & 15, model = regs[EAX] >> 4 & 15;
  if (family == 6 || family == 15)
    model += (regs[EAX] >> 16 & 15) << 4;
  if (family == 15)
    family += regs[EAX] >> 20 & 255;
  return text + "-" + std::to_string(family) + "-" + std::to_string(model);
}

CPUFeatures CPUFeatures::ofHost() {
  CPUFeatures features;
  uint64_t xcr0 = savedState();
  for (const Bit &bit : bitTable) {
    uint32_t regs[4];
    // The highest subleaf of leaf 7 is in EAX of subleaf 0.
    if (bit.subleaf && (!__get_cpuid_count(bit.leaf, 0, &regs[EAX], &regs[EBX],
                                           &regs[ECX], &regs[EDX]) ||
                        regs[EAX] < bit.subleaf))
      continue;
    if (__get_cpuid_count(bit.leaf, bit.subleaf, &regs[EAX], &regs[EBX],
                          &regs[ECX], &regs[EDX]) &&
        (regs[bit.reg] >> bit.bit & 1) && isSaved(bit.state, xcr0))
      features.add(bit.feature);
  }
  return features;
}

Status dlc::rt::enableAMX() {
  constexpr long requestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr long tileData = 18;
  if (!CPUFeatures::ofHost().has(CPUFeature::AMXTile) ||
      syscall(SYS_arch_prctl, requestPermission, tileData))
    return makeError(StatusCode::Unsupported,
                     "this system does not grant AMX tiles");
  return Status::ok();
}

#else

CPUFeatures CPUFeatures::ofHost() { return CPUFeatures(); }

std::string dlc::rt::cpuModel() { return "unknown"; }

Status dlc::rt::enableAMX() {
  return makeError(StatusCode::Unsupported, "expected an x86-64 processor");
}

#endif
