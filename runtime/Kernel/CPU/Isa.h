// SPDX-License-Identifier: Apache-2.0
//
// From instruction sets to the kernels compiled for them.

#ifndef DLC_RUNTIME_KERNEL_CPU_ISA_H
#define DLC_RUNTIME_KERNEL_CPU_ISA_H

#include "AttentionSet.h"
#include "IntegerSet.h"
#include "KernelSet.h"
#include "RecurrentSet.h"
#include "RowSet.h"

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"

namespace dlc::rt::cpu {

/// The kernels of that set. Errors: Unsupported when this machine cannot run
/// them.
Status findKernels(Isa isa, const KernelSet *&kernels);
Status findKernels(Isa isa, const AttentionKernels *&kernels);
/// Those by products of bfloat16, of what is rounded. Null where the set has
/// none.
Status findRoundedAttention(Isa isa, const AttentionKernels *&kernels);
Status findKernels(Isa isa, const RecurrentKernels *&kernels);
Status findKernels(Isa isa, const RowKernels *&kernels);
Status findKernels(Isa isa, const PairKernels *&kernels);
/// Those on tiles. Null where the set has none.
Status findPairTiles(Isa isa, const PairKernels *&kernels);
Status findKernels(Isa isa, const IntegerKernels *&kernels);
/// Those on tiles. Null where the set has none.
Status findIntegerTiles(Isa isa, const IntegerKernels *&kernels);
/// Null where the set has none.
Status findKernels(Isa isa, const SplitKernels *&kernels);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ISA_H
