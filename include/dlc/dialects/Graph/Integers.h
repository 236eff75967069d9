// SPDX-License-Identifier: Apache-2.0
//
// What integers of a type can be.

#ifndef DLC_DIALECTS_GRAPH_INTEGERS_H
#define DLC_DIALECTS_GRAPH_INTEGERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace dlc::graph {

struct Limits {
  double least, most;
};

/// Those of an integer of at most 52 bits, so that they are doubles.
inline Limits limitsOf(mlir::IntegerType type) {
  const int bits = static_cast<int>(type.getWidth());
  if (type.isUnsigned())
    return {0, std::ldexp(1, bits) - 1};
  return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
}

/// Whether a library multiplies the bytes of such a convolution, with weights
/// M, C/group, K1..Kn: of one group over one or two dimensions, or of channels
/// by themselves that have not too many taps.
inline bool areBytesMultiplied(llvm::ArrayRef<int64_t> weights, int64_t group) {
  constexpr size_t mostRank = 4;
  constexpr int64_t mostTaps = 512;
  if (weights.size() > mostRank || group == 1)
    return weights.size() <= mostRank;
  return weights[1] == 1 && weights[0] == group &&
         llvm::product_of(weights.drop_front(2)) <= mostTaps;
}

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_INTEGERS_H
