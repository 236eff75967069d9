// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.pool, cpu.softmax and cpu.reduce: checks and plans.
// All compute operations whose shapes are found while running; where they are
// known, code is generated for them.

#ifndef DLC_RUNTIME_KERNEL_CPU_ROWS_H
#define DLC_RUNTIME_KERNEL_CPU_ROWS_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isPoolSupported(const KernelCall &call, std::string &why);
/// As LibraryEntry::fromOperation, of max_pool and avg_pool.
bool poolFromOperation(std::string_view operation, const KernelCall &call,
                       ConstantOperands, Attributes &attributes);
KernelCost poolCost(const KernelCall &call);

bool isSoftmaxSupported(const KernelCall &call, std::string &why);
/// As LibraryEntry::fromOperation, of softmax and log_softmax.
bool softmaxFromOperation(std::string_view operation, const KernelCall &call,
                          ConstantOperands, Attributes &attributes);
KernelCost softmaxCost(const KernelCall &call);

bool isReduceSupported(const KernelCall &call, std::string &why);
/// As LibraryEntry::fromOperation, of reductions whose axes are constant.
bool reduceFromOperation(std::string_view operation, const KernelCall &call,
                         ConstantOperands constants, Attributes &attributes);
KernelCost reduceCost(const KernelCall &call);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ROWS_H
