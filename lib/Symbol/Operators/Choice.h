// SPDX-License-Identifier: Apache-2.0
//
// What operators share that choose boxes one by one: batches of rows in another
// order.

#ifndef DLC_LIB_SYMBOL_OPERATORS_CHOICE_H
#define DLC_LIB_SYMBOL_OPERATORS_CHOICE_H

#include "Boxes.h"

namespace dlc::symbol {

/// The places of the `count` greatest of each row of `scores` (N x B), equals
/// in their order.
mlir::Value placesOfGreatest(LoweringContext &n, mlir::Value scores,
                             int64_t count);

/// The same of the scores where `condition` holds, then all others.
mlir::Value placesOfGreatestWhere(LoweringContext &n, mlir::Value condition,
                                  mlir::Value scores, int64_t count);

/// The places of each row where `condition` (N x B) holds, in order, then all
/// others.
mlir::Value placesWhere(LoweringContext &n, mlir::Value condition);

/// Of `rows`, N x B or N x B x W, those at `places` (N x K).
mlir::Value rowsAt(LoweringContext &n, mlir::Value rows, mlir::Value places);

/// 0, 1, ..., count - 1 as i64.
mlir::Value countTo(LoweringContext &n, int64_t count);

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_OPERATORS_CHOICE_H
