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

/// Those that tell densities of samples (Densities.cpp).
std::vector<Operator> densityOperators();

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_OPERATORS_DISTRIBUTIONS_H
