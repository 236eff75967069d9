// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.recurrent: checks, plan and packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_RECURRENT_H
#define DLC_RUNTIME_KERNEL_CPU_RECURRENT_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isRecurrentSupported(const KernelCall &call, std::string &why);
/// 0 and no effect unless the call is supported and `operand` is w or r.
/// Whether the call says already that they are packed does not matter.
size_t packedRecurrentBytes(const KernelCall &call, size_t operand);
void packRecurrent(const KernelCall &call, size_t operand, const void *source,
                   void *target);
/// As LibraryEntry::packingOf: R as bytes where there is much of it, all rows
/// of which are multiples of a number each, as those that were quantised are.
int64_t recurrentPacking(const KernelCall &call, ConstantOperands constants);
size_t recurrentWorkspaceBytes(const KernelCall &call);
KernelCost recurrentCost(const KernelCall &call);
/// As LibraryEntry::fromOperation, of rnn, gru and lstm.
bool recurrentFromOperation(std::string_view operation, const KernelCall &call,
                            ConstantOperands, Attributes &attributes);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_RECURRENT_H
