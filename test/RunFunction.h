// SPDX-License-Identifier: Apache-2.0
//
// Functions of Graph operations on plain numbers, by their Reference kernels.

#ifndef DLC_TEST_RUNFUNCTION_H
#define DLC_TEST_RUNFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"

#include <map>
#include <string>
#include <vector>

using Numbers = std::vector<double>;

/// The elements, of floats or of i64; none of other types.
Numbers numbersOf(mlir::ElementsAttr elements);

/// The results of `function`, given its arguments; empty ones for those that
/// are neither of floats nor of i64. Fails the test and returns none where an
/// operation cannot be computed.
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
