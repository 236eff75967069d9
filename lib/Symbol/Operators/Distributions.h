// SPDX-License-Identifier: Apache-2.0
//
// Random numbers of standard distributions out of uniform, gamma and Poisson
// ones, f32 as those. The numbers are other ones in each run.

#ifndef DLC_LIB_SYMBOL_OPERATORS_DISTRIBUTIONS_H
#define DLC_LIB_SYMBOL_OPERATORS_DISTRIBUTIONS_H

#include "../LoweringContext.h"
#include "dlc/Symbol/Operator.h"

namespace dlc::symbol {

/// Of (0, 1], which have a logarithm.
mlir::Value drawPositive(LoweringContext &n, llvm::ArrayRef<int64_t> shape);

/// Of mean 0 and deviation 1 (Box and Muller).
mlir::Value drawNormal(LoweringContext &n, llvm::ArrayRef<int64_t> shape);

/// Of mean 1.
mlir::Value drawExponential(LoweringContext &n, llvm::ArrayRef<int64_t> shape);

/// Of [0, 1), f64 of 48 bits: few are equal even of millions.
mlir::Value drawFine(LoweringContext &n, llvm::ArrayRef<int64_t> shape);

/// The numbers that drawInteger() reaches.
inline constexpr int64_t kMostIntegers = int64_t(1) << 48;

/// Of 0 up to `count`, exclusive, i64.
mlir::Value drawInteger(LoweringContext &n, llvm::ArrayRef<int64_t> shape,
                        int64_t count);

/// Classes, i64: `draws` for each of the rows of `weights`, whose dimensions
/// without the last one are `rows`. A class is the first one up to which the
/// probabilities add up to more than a uniform number of their sum: never one
/// of probability 0 where that is a number that f64 has exactly enough, as of
/// probabilities.
mlir::Value drawClasses(LoweringContext &n, mlir::Value weights,
                        llvm::ArrayRef<int64_t> rows, int64_t draws);

// One number for each element of the parameters, which are f32 and of one
// shape; NaN where they are of no distribution.

/// Failures before `k` successes of probability `p`: a Poisson variable of
/// gamma distributed rate.
mlir::Value drawNegativeBinomial(LoweringContext &n, mlir::Value k,
                                 mlir::Value p);

/// The same by its mean and its dispersion 1/k, with which 0 is a Poisson
/// distribution.
mlir::Value drawGeneralizedNegativeBinomial(LoweringContext &n, mlir::Value mu,
                                            mlir::Value alpha);

// Checks of parameters.

/// Fails unless the parameter is a number above 0, or also 0 itself.
bool checkPositive(LoweringContext &n, std::string_view parameter,
                   bool allowsZero = false);

/// Fails unless f32, which distributions of parameters take, has the number and
/// tells it from 0, or also has 0 for it.
bool checkHeld(LoweringContext &n, std::string_view parameter, double number,
               bool allowsZero = false);

/// Those that tell densities of samples (Densities.cpp).
std::vector<Operator> densityOperators();

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_OPERATORS_DISTRIBUTIONS_H
