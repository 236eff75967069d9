// SPDX-License-Identifier: Apache-2.0

#ifndef DLC_KERNELLIBRARY_GPULIBRARIES_H
#define DLC_KERNELLIBRARY_GPULIBRARIES_H

namespace dlc::library {

/// Which kernels of a GPU libraries of its maker may compute. Where a runtime
/// finds no such library, generated code computes all.
enum class GPULibraries {
  /// Those that are faster by the model; layouts are theirs where these have
  /// most multiplications of the convolutions.
  WhereFaster,
  Always, ///< All that have an entry, in layouts that libraries want.
  Never,
};

} // namespace dlc::library

#endif // DLC_KERNELLIBRARY_GPULIBRARIES_H
