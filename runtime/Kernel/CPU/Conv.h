// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.conv: checks, plan and packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_CONV_H
#define DLC_RUNTIME_KERNEL_CPU_CONV_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

struct ConvShape;

bool isConvSupported(const KernelCall &call, std::string &why);
/// 0 and no effect unless the call is supported and `operand` is w. Whether
/// the call says already that the operand is packed does not matter.
size_t packedConvBytes(const KernelCall &call, size_t operand);
void packConv(const KernelCall &call, size_t operand, const void *source,
              void *target);
/// As LibraryEntry::packsFinite.
bool packsFiniteWeights(const KernelCall &call, size_t operand);
/// 0 unless the call is supported and needs some.
size_t convWorkspaceBytes(const KernelCall &call);
/// As LibraryEntry::roundsByTime: of a plain input, whose rows are written down
/// for each window, where f32 reads them in place; of one block of results,
/// whose sums wait for each other, of floats.
bool convRoundsByTime(const KernelCall &call);
/// Whether tiles of bfloat16 compute the supported call faster.
bool convPaysInParts(const KernelCall &call);
KernelCost convCost(const KernelCall &call);
/// As LibraryEntry::fromOperation, of a conv.
bool convFromOperation(std::string_view operation, const KernelCall &call,
                       ConstantOperands, Attributes &attributes);
/// Of operands of `bytes`, without an algorithm.
KernelCost directConvCost(const ConvShape &shape, uint64_t bytes);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_CONV_H
