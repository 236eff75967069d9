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

bool cpu::canRun(Isa isa) {
  switch (isa) {
  case Isa::Baseline:
    return true;
#ifdef DLC_KERNELS_X86
  case Isa::AVX2:
    return hasAvx2();
  case Isa::AVX512:
    return hasAvx512();
#endif
  default:
    return false;
  }
}

/// Of the tables of each set, worst first, the one of `isa`.
template <typename Kernels, size_t count>
static Status chooseKernels(Isa isa, const Kernels *const (&tables)[count],
                            const Kernels *&kernels) {
  if (!canRun(isa))
    return makeError(StatusCode::Unsupported, "this machine cannot run %s",
                     std::string(nameOf(isa)).c_str());
  kernels = tables[static_cast<size_t>(isa)];
  return Status::ok();
}

Status cpu::findKernels(Isa isa, const KernelSet *&kernels) {
  static constexpr const KernelSet *tables[] = {
      &baselineKernels,
#ifdef DLC_KERNELS_X86
      &avx2Kernels,
      &avx512Kernels,
#endif
  };
  return chooseKernels(isa, tables, kernels);
}

Status cpu::findKernels(Isa isa, const AttentionKernels *&kernels) {
  static constexpr const AttentionKernels *tables[] = {
      &baselineAttention,
#ifdef DLC_KERNELS_X86
      &avx2Attention,
      &avx512Attention,
#endif
  };
  return chooseKernels(isa, tables, kernels);
}

Status cpu::findKernels(Isa isa, const RecurrentKernels *&kernels) {
  static constexpr const RecurrentKernels *tables[] = {
      &baselineRecurrent,
#ifdef DLC_KERNELS_X86
      &avx2Recurrent,
      &avx512Recurrent,
#endif
  };
  return chooseKernels(isa, tables, kernels);
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
