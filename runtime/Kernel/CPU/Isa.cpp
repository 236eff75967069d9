// SPDX-License-Identifier: Apache-2.0
//
// Which instruction sets this machine has.

#include "Isa.h"

#include "dlc/runtime/Device/CPU/Features.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;

std::string_view cpu::nameOf(Isa isa) {
  switch (isa) {
  case Isa::Baseline:
    return "baseline";
  case Isa::AVX2:
    return "avx2";
  case Isa::AVXVNNI:
    return "avx-vnni";
  case Isa::AVX512:
    return "avx512";
  case Isa::AVX512VNNI:
    return "avx512-vnni";
  case Isa::AVX512BF16:
    return "avx512-bf16";
  case Isa::AMX:
    return "amx";
  case Isa::AMXModel:
    return "amx-model";
  }
  return "unknown";
}

#ifdef DLC_KERNELS_X86
/// The compiler's builtin also asks the operating system (XGETBV).
static bool hasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool hasAvxVnni() {
  return hasAvx2() && __builtin_cpu_supports("avxvnni");
}

static bool hasAvx512() {
  return hasAvx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

static bool hasAvx512Vnni() {
  return hasAvx512() && __builtin_cpu_supports("avx512vnni");
}

static bool hasAvx512Bf16() {
  return hasAvx512() && __builtin_cpu_supports("avx512bf16");
}

/// Intel's processors multiply pairs of bfloat16 at half the rate of floats, as
/// measured on Emerald Rapids, and AMD's at twice it: for the former, pairs are
/// better taken apart.
static bool isBf16Fast() { return !__builtin_cpu_is("intel"); }

static bool detectAmx() {
  const CPUFeatures features = CPUFeatures::ofHost();
  return hasAvx512Bf16() && features.has(CPUFeature::AMXBF16) &&
         enableAMX().isOk();
}

static bool hasAmx() {
  static const bool has = detectAmx();
  return has;
}

/// Beside the tiles of bfloat16.
static bool hasAmxInt8() {
  static const bool has = hasAmx() && canRun(Isa::AVX512VNNI) &&
                          CPUFeatures::ofHost().has(CPUFeature::AMXINT8);
  return has;
}
#endif

bool cpu::canRun(Isa isa) {
  switch (isa) {
  case Isa::Baseline:
  case Isa::AMXModel:
    return true;
#ifdef DLC_KERNELS_X86
  case Isa::AVX2:
    return hasAvx2();
  case Isa::AVXVNNI:
    return hasAvxVnni();
  case Isa::AVX512:
    return hasAvx512();
  case Isa::AVX512VNNI:
    return hasAvx512Vnni();
  case Isa::AVX512BF16:
    return hasAvx512Bf16();
  case Isa::AMX:
    return hasAmx();
#endif
  default:
    return false;
  }
}

/// The set whose vectors `isa` has.
static Isa vectorsOf(Isa isa) {
  switch (isa) {
  case Isa::AVXVNNI:
    return Isa::AVX2;
  case Isa::AVX512VNNI:
  case Isa::AVX512BF16:
  case Isa::AMX:
    return Isa::AVX512;
  case Isa::AMXModel:
    return Isa::Baseline;
  default:
    return isa;
  }
}

static Status checkRuns(Isa isa) {
  if (canRun(isa))
    return Status::ok();
  return makeError(StatusCode::Unsupported, "this machine cannot run %s",
                   std::string(nameOf(isa)).c_str());
}

/// Of the tables of each set of vectors, worst first, the one of `isa`.
template <typename Kernels, size_t count>
static Status chooseKernels(Isa isa, const Kernels *const (&tables)[count],
                            const Kernels *&kernels) {
  DLC_RETURN_IF_ERROR(checkRuns(isa));
  const Isa vectors = vectorsOf(isa);
  kernels = tables[vectors == Isa::AVX512 ? 2 : vectors == Isa::AVX2 ? 1 : 0];
  return Status::ok();
}

/// Those of AMX, which may be null, or of its model; null for other sets.
template <typename Kernels>
static Status chooseTiles(Isa isa, const Kernels *amx, const Kernels &model,
                          const Kernels *&kernels) {
  DLC_RETURN_IF_ERROR(checkRuns(isa));
  kernels = isa == Isa::AMX ? amx : isa == Isa::AMXModel ? &model : nullptr;
  return Status::ok();
}

#ifdef DLC_KERNELS_X86
#define DLC_OF_AMX(kernels) (&(kernels))
#else
#define DLC_OF_AMX(kernels) nullptr
#endif

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

Status cpu::findRoundedAttention(Isa isa, const AttentionKernels *&kernels) {
  DLC_RETURN_IF_ERROR(chooseTiles<AttentionKernels>(
      isa, DLC_OF_AMX(amxAttentionTiles), modelAttentionTiles, kernels));
#ifdef DLC_KERNELS_X86
  if (isa == Isa::AVX512BF16)
    kernels = &avx512bf16Attention;
#endif
  return Status::ok();
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

Status cpu::findKernels(Isa isa, const RowKernels *&kernels) {
  static constexpr const RowKernels *tables[] = {
      &baselineRows,
#ifdef DLC_KERNELS_X86
      &avx2Rows,
      &avx512Rows,
#endif
  };
  return chooseKernels(isa, tables, kernels);
}

Status cpu::findKernels(Isa isa, const PairKernels *&kernels) {
  static constexpr const PairKernels *tables[] = {
      &baselinePairs,
#ifdef DLC_KERNELS_X86
      &avx2Pairs,
      &avx512Pairs,
#endif
  };
  DLC_RETURN_IF_ERROR(chooseKernels(isa, tables, kernels));
#ifdef DLC_KERNELS_X86
  if (isa == Isa::AVX512BF16 || (isa == Isa::AMX && isBf16Fast()))
    kernels = &avx512bf16Pairs;
#endif
  return Status::ok();
}

Status cpu::findPairTiles(Isa isa, const PairKernels *&kernels) {
  return chooseTiles<PairKernels>(isa, DLC_OF_AMX(amxPairTiles), modelPairTiles,
                                  kernels);
}

Status cpu::findKernels(Isa isa, const IntegerKernels *&kernels) {
  static constexpr const IntegerKernels *tables[] = {
      &baselineIntegers,
#ifdef DLC_KERNELS_X86
      &avx2Integers,
      &avx512Integers,
#endif
  };
  DLC_RETURN_IF_ERROR(chooseKernels(isa, tables, kernels));
#ifdef DLC_KERNELS_X86
  if (vectorsOf(isa) == Isa::AVX512 && isa != Isa::AVX512 &&
      canRun(Isa::AVX512VNNI))
    kernels = &vnniIntegers;
  if (isa == Isa::AVXVNNI)
    kernels = &avxVnniIntegers;
#endif
  return Status::ok();
}

Status cpu::findIntegerTiles(Isa isa, const IntegerKernels *&kernels) {
  return chooseTiles<IntegerKernels>(
      isa, hasAmxInt8() ? DLC_OF_AMX(amxIntegers) : nullptr, modelIntegers,
      kernels);
}

Status cpu::findKernels(Isa isa, const SplitKernels *&kernels) {
  return chooseTiles<SplitKernels>(isa, DLC_OF_AMX(amxSplitKernels),
                                   modelSplitKernels, kernels);
}

static Isa detectBest() {
#ifdef DLC_KERNELS_X86
  for (Isa isa : {Isa::AMX, Isa::AVX512BF16, Isa::AVX512VNNI, Isa::AVX512,
                  Isa::AVXVNNI, Isa::AVX2})
    if (canRun(isa) && (isa != Isa::AVX512BF16 || isBf16Fast()))
      return isa;
#endif
  return Isa::Baseline;
}

Isa cpu::bestIsa() {
  static const Isa best = detectBest();
  return best;
}
