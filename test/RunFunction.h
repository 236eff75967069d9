// SPDX-License-Identifier: Apache-2.0
//
// Functions of Graph operations on plain numbers, by their definitions.

#ifndef DLC_TEST_RUNFUNCTION_H
#define DLC_TEST_RUNFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"

#include <map>
#include <string>
#include <vector>

using Numbers = std::vector<double>;

/// The elements of a constant.
Numbers numbersOf(mlir::ElementsAttr elements);

/// The results of `function`, given its arguments. Fails the test and returns
/// none where an operation cannot be computed.
std::vector<Numbers> runFunction(mlir::func::FuncOp function,
                                 const std::vector<Numbers> &arguments);

/// The same by names (`graph.name`); results without one are called by their
/// number. Fails the test where an argument is missing.
std::map<std::string, Numbers>
runFunction(mlir::func::FuncOp function,
            const std::map<std::string, Numbers> &arguments);

/// Within `tolerance` of the largest of `expected`, or of 1.
void expectNear(const Numbers &found, const Numbers &expected,
                double tolerance);

#endif // DLC_TEST_RUNFUNCTION_H
