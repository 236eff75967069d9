// SPDX-License-Identifier: Apache-2.0
//
// Convolution, its transpose and the gradient of its weights as one relation,
// of which the gradient of each is made of the two others.

#ifndef DLC_DIALECTS_GRAPH_CORRELATION_H
#define DLC_DIALECTS_GRAPH_CORRELATION_H

#include "Formula.h"

namespace dlc::graph {

/// Ties an image (N, C, D1..Dn), weights (M, C/group, K1..Kn) and positions of
/// windows (N, M, O1..On): along each dimension, the window at position `o`
/// has its tap `k` at `o * stride + k * dilation - begin` of the image. Taps
/// outside of the image count nothing.
struct Correlation {
  llvm::SmallVector<int64_t> image, kernel, positions; ///< Spatial extents.
  llvm::SmallVector<int64_t> strides, dilations, begins;
  int64_t group = 1;

  size_t dims() const { return image.size(); }

  /// How far the taps of all windows along a dimension reach from the first.
  int64_t span(size_t dim) const {
    return (positions[dim] - 1) * strides[dim] +
           (kernel[dim] - 1) * dilations[dim] + 1;
  }

  /// The windows' sums of products, and `bias` (M), if there is one: of
  /// positions' shape.
  mlir::Value correlate(Formula &f, mlir::Value image, mlir::Value weights,
                        mlir::Value bias = {}) const;
  /// What windows hold, times the weights, added into an image: the transpose
  /// of the above. `bias` (C) is added to all of the image.
  mlir::Value spread(Formula &f, mlir::Value windows, mlir::Value weights,
                     mlir::Value bias = {}) const;
  /// The gradient of the weights: sums over the batch and all positions.
  mlir::Value weightGradient(Formula &f, mlir::Value image,
                             mlir::Value windows) const;

private:
  /// `spread` where all strides are 1.
  mlir::Value spreadDensely(Formula &f, mlir::Value windows,
                            mlir::Value weights, mlir::Value bias) const;
  /// `spread` of one window: a product, of which each element is one of the
  /// image, or beyond it.
  mlir::Value spreadWindow(Formula &f, mlir::Value windows, mlir::Value weights,
                           mlir::Value bias) const;
  /// What elements of an image with the same number modulo the stride need.
  struct Remainders {
    int64_t firstTap, lastTap; ///< Numbers modulo the stride, the last not.
    int64_t begin;             ///< As `begins`, without the stride.
  };
  /// Those of a dimension, in their order; with as many taps together if all
  /// begin at the same window, or each for itself.
  llvm::SmallVector<Remainders> remaindersOf(size_t dim, bool isEach) const;
  /// Whether more is saved than lost by computing each for itself, which has no
  /// elements beyond the image.
  bool gainsByEach() const;
  /// The images of all remainders modulo the strides (N, C, elements of each,
  /// remainders, ... of each dimension), where those of the first dimensions,
  /// as many as `remainders`, are channels of the weights already.
  mlir::Value spreadApart(Formula &f, mlir::Value windows, mlir::Value weights,
                          mlir::Value bias, llvm::ArrayRef<int64_t> remainders,
                          bool isEach) const;
};

/// `x` with zeros added, or elements taken away where `pads` are negative, at
/// the begins of `axes` and then at their ends.
mlir::Value padAxes(Formula &f, mlir::Value x, llvm::ArrayRef<int64_t> axes,
                    llvm::ArrayRef<int64_t> pads);

/// The correlation of windows with these attributes, of which empty ones are
/// defaults, over tensors of static shapes. Windows begin at the image.
Correlation makeCorrelation(llvm::ArrayRef<int64_t> image,
                            llvm::ArrayRef<int64_t> positions,
                            llvm::ArrayRef<int64_t> kernel,
                            llvm::ArrayRef<int64_t> strides,
                            llvm::ArrayRef<int64_t> dilations);

/// Sets where windows begin: what `pads` says, or what SAME takes, for which
/// they reach beyond the image by as little as its extent allows.
void setBegins(Correlation &correlation, llvm::ArrayRef<int64_t> pads,
               llvm::StringRef autoPad);

/// Of operations of static types. Nullopt with channels in blocks, and where
/// `output_padding` stands beside another way to give the extents.
std::optional<Correlation> correlationOf(ConvOp op);
std::optional<Correlation> correlationOf(ConvTransposeOp op);
std::optional<Correlation> correlationOf(ConvWeightGradientOp op);

/// Also with channels in blocks, as if they were in none.
Correlation unblockedCorrelationOf(ConvOp op);
Correlation unblockedCorrelationOf(IntegerConvOp op);
Correlation unblockedCorrelationOf(ConvWeightGradientOp op);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_CORRELATION_H
