// SPDX-License-Identifier: Apache-2.0
//
// Functions of Graph operations on plain numbers, by their Reference kernels.

#ifndef DLC_TEST_TRAINING_RUNFUNCTION_H
#define DLC_TEST_TRAINING_RUNFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>
#include <vector>

using Numbers = std::vector<double>;

/// The results of `function` by name, given its arguments by name; fails the
/// test where one is missing or an operation cannot be computed.
std::map<std::string, Numbers>
runFunction(mlir::func::FuncOp function,
            const std::map<std::string, Numbers> &arguments);

/// Within `tolerance` of the largest of `expected`, or of 1.
void expectNear(const Numbers &found, const Numbers &expected,
                double tolerance);

#endif // DLC_TEST_TRAINING_RUNFUNCTION_H
