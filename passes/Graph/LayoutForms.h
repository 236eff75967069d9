// SPDX-License-Identifier: Apache-2.0
//
// The layouts that values may be kept in, and the forms that operations then
// have. Private to graph-alter-layout and what asks for times behind it.

#ifndef DLC_PASSES_GRAPH_LAYOUTFORMS_H
#define DLC_PASSES_GRAPH_LAYOUTFORMS_H

#include "dlc/KernelLibrary/Match.h"
#include "dlc/Planning/Layout/Layout.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/passes/Graph/Passes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <map>
#include <optional>

namespace dlc::graph {

/// A value in layout `p` is kept as `transpose(value, p)`.
using Permutation = llvm::SmallVector<int64_t>;

/// What a choice costs, in units of the time in which a byte moves.
using LayoutCost = planning::layout::Cost;

/// Each layout more is a choice more for every value; programs have two.
inline constexpr unsigned kMostPermutations = 4;
/// The number of the layout N, C/b, D1..Dn, b of a value N, C, D1..Dn; those
/// below are permutations.
inline constexpr unsigned kBlocked = kMostPermutations;

/// The rank of a value, -1 where it has none or is no tensor.
int64_t rankOf(mlir::Value value);

/// What costs are those of where the batch and other extents are found while
/// running.
inline constexpr int64_t kAssumedBatch = 1, kAssumedExtent = 32;
/// A tensor of known rank, with assumed extents where they are unknown.
mlir::RankedTensorType withAssumedExtents(mlir::RankedTensorType type);

/// Channels of a block of a tensor N, C, D1..Dn, of which `block` may be
/// kAllChannels.
int64_t channelsOfBlock(mlir::RankedTensorType type, int64_t block);
/// N, C/b, D1..Dn, b of such a tensor, C/b rounded up.
mlir::RankedTensorType blockedType(mlir::RankedTensorType type, int64_t block);

/// What it costs to move a value of rank at least 0 to another layout.
LayoutCost costOfMoving(mlir::Value value);

/// What a convolution, or the gradient of its weights, does with channels in
/// blocks or without: of its image, and of its result or the gradient of that.
struct ConvForm {
  bool isImageBlocked = false, isResultBlocked = false;
  LayoutCost cost = 0;
};

/// What of convolutions is compared.
struct ConvOptions {
  int64_t block = 0;     ///< Channels of a block, or kAllChannels; 0: none are.
  bool isStrict = false; ///< No algorithm but sums of products as defined.
  int64_t bf16Parts = library::kExactParts; ///< As chooseAlgorithm() has them.
  bool plainGradients = false; ///< Those of weights take no blocks.
  bool isGenerated = false;    ///< By generated code, not by a library.

  /// Whether channels may end within a block: libraries of floats leave out
  /// what lies behind them.
  bool mayEndWithin() const { return block > 0 && !isGenerated; }
  /// Whether the batch and extents of images may be found while running: the
  /// libraries are called for those that come, but for rounded floats.
  bool mayBeOpen() const {
    return (mayEndWithin() && bf16Parts != library::kRounded) ||
           (block == kAllChannels && !isGenerated);
  }
};

/// Whether the channels of a tensor N, C, D1..Dn fill blocks, or may end within
/// the last one, of floats, where no more than a third is beside them.
bool fitsBlocks(mlir::RankedTensorType type, int64_t block, bool mayEndWithin);

/// The forms of a convolution or its ConvWeightGradientOp that a library
/// computes; the first is without blocks and always there; of others there are
/// none.
llvm::SmallVector<ConvForm> convFormsOf(mlir::Operation *op,
                                        const ConvOptions &options);

/// Nanoseconds by the model, on one thread, of a convolution in the form that
/// it has, with so many examples; nullopt where no library has it.
std::optional<uint64_t> timeOfConvolution(mlir::Operation *op, int64_t examples,
                                          const ConvOptions &options);

/// The same of a convolution with so many channels, in blocks on both sides or
/// on none, which is faster.
std::optional<uint64_t> timeOfChannels(ConvOp conv, int64_t inChannels,
                                       int64_t outChannels,
                                       const ConvOptions &options);

/// What has an image, weights and a result, whose channels may be in blocks as
/// the attribute kChannelBlockAttr says.
inline bool isConvolution(mlir::Operation *op) {
  return llvm::isa<ConvOp, IntegerConvOp>(op);
}
inline constexpr llvm::StringLiteral kChannelBlockAttr = "channel_block";

/// Whether libraries of the maker of a GPU are the faster ones for convolutions
/// that have most of the multiplications, with all channels last.
bool areMostForGPULibraries(mlir::Block &body);
/// Whether convolutions of integers have most of the multiplications.
bool areMostOfIntegers(mlir::Block &body);

/// The layouts that values may have: row-major, those that transposes lead to
/// and from, and channels in blocks where a convolution gains by them.
class Layouts {
public:
  Layouts(mlir::Block &body, const ConvOptions &options);

  /// Permutations of a rank that has several, row-major first.
  llvm::ArrayRef<Permutation> of(int64_t rank) const;
  /// The numbers of the layouts of `value`.
  llvm::SmallVector<unsigned> of(mlir::Value value) const;
  /// The number of `p` among those of its rank.
  std::optional<unsigned> find(llvm::ArrayRef<int64_t> p) const;

  /// Whether something gains by blocks.
  bool haveBlocks() const { return blockSize != 0; }
  /// Channels of a block of `value`, N, C, D1..Dn.
  int64_t blockOf(mlir::Value value) const;
  /// Channels of a block where `op` computes in them: of the widest of the
  /// tensors that have them.
  int64_t blockOf(mlir::Operation *op) const;
  /// Whether the channels of `value`, in blocks, end within one.
  bool endsWithin(mlir::Value value) const;
  /// Blocks of `value` may be worth it: what computes in them leads from it to
  /// a convolution, which is not so of what becomes weights.
  bool isBlockable(mlir::Value value) const;
  llvm::ArrayRef<ConvForm> of(mlir::Operation *convolution) const;

private:
  void addPermutations(mlir::Block &body);
  void addConvolutions(mlir::Block &body, const ConvOptions &options);
  void addBlockable(mlir::Block &body);
  bool hasBlocks(mlir::Value value) const;
  bool hasKnownChannels(mlir::Operation *op) const;

  std::map<int64_t, llvm::SmallVector<Permutation>> byRank;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<ConvForm>> convolutions;
  int64_t blockSize = 0;
  bool mayEndWithin = false, mayBeOpen = false; ///< As ConvOptions have them.
  llvm::DenseSet<mlir::Value> blockable;
};

/// What an operation does when its results are in one layout.
struct Form {
  unsigned layout = 0;                    ///< Of results.
  llvm::SmallVector<unsigned> operands{}; ///< The layout of each operand.
  std::optional<PermutedOp> change{};     ///< Nullopt: the operation stays.
  /// Of the tensors that it computes in blocks, as they were; 0 without blocks.
  int64_t blockedRank = 0;
  int64_t block = 0; ///< Channels of its blocks.
  LayoutCost cost = 0;
};

/// All forms of `op`, that of row-major tensors first.
llvm::SmallVector<Form> formsOf(mlir::Operation *op, const Layouts &layouts);

/// True if operand number `i` takes part in the order of dimensions.
bool isData(mlir::Operation *op, unsigned i);

/// True where both ends of a transpose have a rank.
bool hasRank(TransposeOp transpose);
/// What transposes that move elements move. Constants are transposed while
/// compiling, and nothing is known of what has no rank.
bool isMoved(TransposeOp transpose);
/// True unless the transpose, which has a rank, moves elements in this form.
bool isView(TransposeOp transpose, const Form &form, const Layouts &layouts);

/// The extent of the dimension of channels of what broadcasts to a tensor of
/// rank `rank`; nullopt if it is not known.
std::optional<int64_t> channelsOf(mlir::Value value, int64_t rank);
/// True where all dimensions behind that of channels are 1, so that blocks of
/// channels have the elements in the same order.
bool hasNoSpace(llvm::ArrayRef<int64_t> shape);

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_LAYOUTFORMS_H
