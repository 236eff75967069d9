// SPDX-License-Identifier: Apache-2.0
//
// How large parameters that say sizes may be.

#ifndef DLC_LIB_SYMBOL_EXTENTS_H
#define DLC_LIB_SYMBOL_EXTENTS_H

#include <cstdint>

namespace dlc::symbol {

/// Extents of 31 bits: products of two do not overflow.
inline constexpr int64_t kMaxExtent = (int64_t(1) << 31) - 1;

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_EXTENTS_H
