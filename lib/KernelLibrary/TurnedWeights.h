// SPDX-License-Identifier: Apache-2.0
//
// Weights for the way back of a convolution.

#ifndef DLC_LIB_KERNELLIBRARY_TURNEDWEIGHTS_H
#define DLC_LIB_KERNELLIBRARY_TURNEDWEIGHTS_H

#include "dlc/dialects/Graph/GraphOps.h"

namespace dlc::library {

/// The weights, of one tap, that become those of `conv` when the channels of
/// the image and of the result are exchanged, by exactly the operations of
/// `front`: a transpose and reshapes that nobody else reads. Null where those
/// are others.
mlir::Value findTurned(graph::ConvOp conv,
                       llvm::ArrayRef<mlir::Operation *> front);

} // namespace dlc::library

#endif // DLC_LIB_KERNELLIBRARY_TURNEDWEIGHTS_H
