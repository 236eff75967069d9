// SPDX-License-Identifier: Apache-2.0
//
// Which instruction sets this machine has.

#include "Isa.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;

std::string_view cpu::nameOf(Isa isa) {
  switch (isa) {
  case Isa::Baseline:
    return "baseline";
  case Isa::AVX2:
    return "avx2";
  case Isa::AVX512:
    return "avx512";
  }
  return "unknown";
}

#ifdef DLC_KERNELS_X86
/// The compiler's builtin also asks the operating system (XGETBV).
static bool hasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool hasAvx512() {
  return hasAvx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#endif

/// Null when this machine cannot run them.
static const KernelSet *kernelSetOf(Isa isa) {
  if (isa == Isa::Baseline)
    return &baselineKernels;
#ifdef DLC_KERNELS_X86
  if (isa == Isa::AVX2)
    return hasAvx2() ? &avx2Kernels : nullptr;
  if (isa == Isa::AVX512)
    return hasAvx512() ? &avx512Kernels : nullptr;
#endif
  return nullptr;
}

bool cpu::canRun(Isa isa) { return kernelSetOf(isa) != nullptr; }

Status cpu::findKernels(Isa isa, const KernelSet *&kernels) {
  kernels = kernelSetOf(isa);
  return kernels
             ? Status::ok()
             : makeError(StatusCode::Unsupported, "this machine cannot run %s",
                         std::string(nameOf(isa)).c_str());
}

static Isa detectBest() {
  for (Isa isa : {Isa::AVX512, Isa::AVX2})
    if (canRun(isa))
      return isa;
  return Isa::Baseline;
}

Isa cpu::bestIsa() {
  static const Isa best = detectBest();
  return best;
}
