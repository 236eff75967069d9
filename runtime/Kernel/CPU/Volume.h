// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv_volume and cpu.pool_volume: over depth, height and width, by those
// over two dimensions. For shapes that are found while running; where they are
// known, the compiler does this.

#ifndef DLC_RUNTIME_KERNEL_CPU_VOLUME_H
#define DLC_RUNTIME_KERNEL_CPU_VOLUME_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

/// Weights that are not packed are taken where no window reaches beyond the
/// image in depth: they may be infinite, and would meet zeros there.
bool isConvVolumeSupported(const KernelCall &call, std::string &why);
/// 0 and no effect unless the call is supported and `operand` is w. Whether
/// the call says already that the operand is packed does not matter.
size_t packedConvVolumeBytes(const KernelCall &call, size_t operand);
void packConvVolume(const KernelCall &call, size_t operand, const void *source,
                    void *target);
/// As LibraryEntry::packsFinite.
bool packsFiniteVolumeWeights(const KernelCall &call, size_t operand);
size_t convVolumeWorkspaceBytes(const KernelCall &call);
KernelCost convVolumeCost(const KernelCall &call);

bool isPoolVolumeSupported(const KernelCall &call, std::string &why);
size_t poolVolumeWorkspaceBytes(const KernelCall &call);
KernelCost poolVolumeCost(const KernelCall &call);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_VOLUME_H
