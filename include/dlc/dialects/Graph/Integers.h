// SPDX-License-Identifier: Apache-2.0
//
// What integers of a type can be.

#ifndef DLC_DIALECTS_GRAPH_INTEGERS_H
#define DLC_DIALECTS_GRAPH_INTEGERS_H

#include "mlir/IR/BuiltinTypes.h"

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

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_INTEGERS_H
