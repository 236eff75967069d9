// SPDX-License-Identifier: Apache-2.0
//
// Constants that hold one float per channel, and weights scaled by them or
// summed. Private to graph-simplify-inference and graph-merge-branches.

#ifndef DLC_PASSES_GRAPH_CHANNELCONSTANTS_H
#define DLC_PASSES_GRAPH_CHANNELCONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace dlc::graph {

using Floats = llvm::SmallVector<double>;

/// The floats of a constant of at most 2^20 elements; nullopt when `value` is
/// no such constant. f16, bf16, f32 and f64 are exact.
std::optional<Floats> readFloats(mlir::Value value);

/// One factor or summand per channel, when `value` is a constant that
/// broadcasts over dimension `axis` of a tensor of rank `rank` only: a scalar,
/// or all dimensions 1 but that one.
std::optional<Floats> readPerChannel(mlir::Value value, int64_t rank,
                                     int64_t axis, int64_t channels);

/// A constant with the elements of `weights` (floats of 16 to 64 bits) where
/// those at position i along `axis` are multiplied by factors[i]. With
/// `groups`, the position is i modulo the dimension plus a multiple of it for
/// each group of dimension 0: the layout of transposed convolutions. Null when
/// the bytes are missing, the element type is another, or a short float cannot
/// hold a product. One pass over the weights; a splat scaled by equal factors
/// stays a splat.
mlir::ElementsAttr scaleWeights(mlir::ElementsAttr weights, int64_t axis,
                                llvm::ArrayRef<double> factors,
                                int64_t groups = 1);

/// Sums of weights M, C, K1..Kn of floats, in double, rounded once.
class WeightSum {
public:
  /// `type`: f32 or f64, with all taps.
  explicit WeightSum(mlir::RankedTensorType type);

  /// Adds those of as many channels, whose taps are the ones from `place` on.
  /// False when the bytes are missing.
  bool add(mlir::ElementsAttr weights, llvm::ArrayRef<int64_t> place);
  /// Adds factors of as many channels as there are outputs to what each output
  /// takes of its own channel, at one tap.
  void addDiagonal(llvm::ArrayRef<double> factors,
                   llvm::ArrayRef<int64_t> place);
  /// Null when a sum is no finite number of the type.
  mlir::ElementsAttr finish() const;

private:
  mlir::RankedTensorType type;
  std::vector<double> sums;
};

/// Whether short floats hold the values, but for those that are infinite
/// anyway.
bool fitsFloats(mlir::Type element, llvm::ArrayRef<double> values);

/// A constant of `type` (floats of 16 to 64 bits) from floats, each rounded.
mlir::ElementsAttr makeFloats(mlir::RankedTensorType type,
                              llvm::ArrayRef<double> values);

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_CHANNELCONSTANTS_H
