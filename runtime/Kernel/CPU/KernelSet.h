// SPDX-License-Identifier: Apache-2.0
//
// What the portable half of the library (checks, plans, packing) and the code
// compiled per instruction set share: plain plans and a table of functions.
// No inline function may live here: compiled with different flags, the linker
// would keep any one copy, perhaps one that this machine cannot run.

#ifndef DLC_RUNTIME_KERNEL_CPU_KERNELSET_H
#define DLC_RUNTIME_KERNEL_CPU_KERNELSET_H

#include <cstdint>

namespace dlc::rt::cpu {

enum class Activation : int {
  None,
  Relu,
  Clamp,
  LeakyRelu,
  Sigmoid,
  Tanh,
  Gelu,
  GeluTanh,
  Silu,
  HardSwish,
  HardSigmoid,
};

/// What follows the sum: y = act(sum + bias + residual).
struct Epilogue {
  Activation activation = Activation::None;
  float alpha = 0;
  float beta = 0;
};

/// Width of the panels of b; part of the packed format.
inline constexpr int64_t kPanelWidth = 16;
/// Columns that lie together in the packed format of today; of the last ones as
/// many panels as there are. Older artifacts have panels alone.
inline constexpr int64_t kPackedColumns = 64;
/// Rows of the panels of w; part of the packed format.
inline constexpr int64_t kPanelRows = 4;
/// Stack scratch for packed operands in one run(). The plans keep to it:
/// matmul 64 columns by 384 terms; conv 12 vectors by what makes a panel of
/// 24 KiB, and a tail of two pixels; the gradient of weights what
/// kMaxWeightRows says; sums of a product over the 36 points of F(4x4, 3x3) 768
/// of each.
inline constexpr int64_t kScratchBytes = 112 * 1024;
/// The gradient of a convolution's weights takes at most that many rows of that
/// many terms.
inline constexpr int64_t kMaxWeightRows = 48, kMaxWeightTerms = 512;

/// Channels of a block of a blocked tensor [N][C/16][H][W][16].
inline constexpr int64_t kChannelBlock = 16;
/// Blocks that hold so many channels; the last one may have places behind them,
/// which nobody reads.
[[gnu::always_inline]] constexpr int64_t blocksOf(int64_t channels) {
  return (channels + kChannelBlock - 1) / kChannelBlock;
}
/// Blocks of output channels whose packed weights lie together: rows of 64. The
/// last group of a convolution may have fewer.
inline constexpr int64_t kPanelGroup = 4;
/// Pixels that the kernels of blocked convolutions take at a time, at most.
inline constexpr int64_t kBlockedRows = 6;
/// Pixels of a tile of a blocked convolution, at most.
inline constexpr int64_t kMostPixelsOfTile = 84;
/// Weights of so many bytes stay in the second cache: one tile after the other
/// reads them there.
inline constexpr int64_t kCachedBytes = 1 << 19;
/// What a tile of a blocked convolution of a plain x has on the stack for its
/// offsets and borders of the image, at most.
inline constexpr int64_t kStripBytes = 176 * 1024;
/// Offsets of taps that a tile of a blocked convolution holds, at most.
inline constexpr int64_t kMostOffsets = 8 * 1024;

/// Output channels that lie together in transformed weights of plain tensors;
/// part of the packed format.
inline constexpr int64_t kWinogradRows = 16;
/// Its points beside 0 and infinity: p, -p, q and -q.
inline constexpr float kWinogradP = 0.625f, kWinogradQ = 1.5f;
/// Floats between one of the 36 numbers of a block of tiles and the next, in
/// blocked convolutions: they shall not all fall into one set of a cache.
inline constexpr int64_t kWinogradGap = 32;
/// Output channels that lie together in half transformed weights of blocked
/// tensors, and the numbers that those of a pair of channels are; part of the
/// packed format.
inline constexpr int64_t kHalfChannels = 32, kHalfPoints = 18;
/// Of products of blocked tensors over the 36 points: weights of a point, and
/// sums, in floats; on the stack are those of six points and of all, 317 KiB.
inline constexpr int64_t kWinogradWeights = 32 * 32, kWinogradSums = 64 * 32;
/// Of TwoTapWinogradTiles.h, in steps of two and of one: tiles of a block, at
/// most, and pixels of all products of one. Sums on the stack are 288 KiB, and
/// weights 25.
inline constexpr int64_t kTwoTapTiles[] = {28, 64}, kTwoTapPixels[] = {81, 25};
inline constexpr int64_t kTwoTapSums = kTwoTapTiles[0] * kTwoTapPixels[0];
static_assert(kTwoTapTiles[1] * kTwoTapPixels[1] <= kTwoTapSums);
/// Tiles of blocked tensors that weights are transformed for in registers, at
/// most. They are packed [OC/16][C][9][16].
inline constexpr int64_t kFewTiles = 4;
/// Of PhaseWinogradTiles.h: tiles that pass at a time, at most. On the stack
/// are 210 KiB.
inline constexpr int64_t kPhaseTiles = 24;
/// Vectors of tiles in a block.
inline constexpr int64_t kWinogradVectors = 3;

/// Of RoundedWinogradTiles.h: tiles of a block, at most. Their sums are 217 KiB
/// on the stack.
inline constexpr int64_t kMostSquares = 54;

/// Rows of a that products on tiles of bfloat16 split at a time, at most.
inline constexpr int64_t kSplitRows = 128;
/// Their columns come in multiples of that many.
inline constexpr int64_t kSplitGranule = 64;
/// Taps of their convolutions, at most.
inline constexpr int64_t kMostSplitTaps = 49;
/// Taps of a row and steps between pixels of those of a plain x, at most.
inline constexpr int64_t kMostPlainTaps = 32, kMostPlainStep = 8;
/// Rows that are rounded at a time in front of a product, and groups of 32
/// channels in front of a convolution.
inline constexpr int64_t kRoundedRows = 8, kRoundedGroups = 4;
/// Rows of rounded terms that a tile of the grid holds, 32 terms each, at most.
inline constexpr int64_t kMostTileRows = kSplitRows * 24;

/// Rows of a that products of rounded floats round at a time, at most.
inline constexpr int64_t kMostPairRows = 144;

inline constexpr int kMaxBatchRank = 16;

/// c[batch][M][N] = a * b. Tiles are numbered batch, row block, column block,
/// the last fastest, or batch, column block, row block where isColumnSlowest.
struct MatmulPlan {
  int64_t batch, m, n, k;
  int64_t lda, ldb; ///< Distance of rows in memory, in elements.
  bool transposedA, transposedB, packedB;
  int64_t packedWidth; ///< Columns of b that are packed together: 16 or 64.
  /// That floats may be split to, 1 that they are rounded to, or 0.
  int64_t bf16Parts;
  /// Of products on tiles: a has the lines of its rows that roundRows() writes,
  /// [row blocks][ceil(K/32)][rowBlock][32].
  bool isRoundedBefore;
  /// Matrices of bfloat16 in place of floats. A residual is where c is, and may
  /// be where it is not.
  bool isShortA, isShortC, isShortResidual;
  /// Of tiles: rows of a short a are whole lines, and read where they are, but
  /// for those of which tiles would read beyond its rows in memory.
  bool readsRows;
  int64_t rowsInMemory;
  /// Batch dimensions of c, and the elements by which one step moves a and b.
  int batchRank;
  int64_t batchDims[kMaxBatchRank];
  int64_t aSteps[kMaxBatchRank], bSteps[kMaxBatchRank];
  int64_t rowBlock, rowBlocks;       ///< Rows of a tile.
  int64_t columnBlock, columnBlocks; ///< Columns; multiple of kPanelWidth.
  bool isColumnSlowest;
  int64_t kBlock;
  Epilogue epilogue;
};

/// Windows of kernelH x kernelW taps over planes inH x inW, one for each
/// element of planes outH x outW.
struct Windows {
  int64_t inH, inW, outH, outW;
  int64_t kernelH, kernelW;
  int64_t strideH, strideW, dilationH, dilationW;
  int64_t padTop, padLeft;
};

/// A two-dimensional convolution as a product of w [OC/group][K] and the
/// columns [K][OH*OW] of x, K = C/group*KH*KW. Tiles are numbered image,
/// group, pixel block, channel block, the last fastest.
struct ConvPlan : Windows {
  int64_t batch, group;
  int64_t inChannels, outChannels; ///< Of one group.
  bool packedW;
  int64_t k, pixels;
  int64_t kBlock;
  int64_t vectors;      ///< Of pixels, without the tail.
  int64_t tailPixels;   ///< Last pixels that would waste most of a vector.
  int64_t pixelBlocks;  ///< The vectors are dealt out evenly to them.
  int64_t channelBlock; ///< Output channels; multiple of kPanelRows.
  int64_t channelBlocks;
  Epilogue epilogue;
};

/// Columns of a kernel that a FewChannelPlan has at most.
inline constexpr int64_t kMostFewTaps = 128;

/// A convolution with few output channels a group, in steps of one or two
/// columns, whose inputs are read where they are. Tiles are numbered image,
/// group, block of rows, block of columns, the last fastest.
struct FewChannelPlan : Windows {
  int64_t batch, group;
  int64_t inChannels, outChannels; ///< Of one group.
  int64_t k;                       ///< Terms of a result.
  /// How far weights are apart, of taps, output channels and groups.
  int64_t tapStep, channelStep, groupStep;
  int64_t rowBlock, rowBlocks;
  int64_t columnBlock; ///< In vectors.
  Epilogue epilogue;
};

/// A convolution with one input channel a group. Tiles are blocks of output
/// planes [image][channel].
struct DepthwisePlan : Windows {
  int64_t planes;   ///< Images times output channels.
  int64_t channels; ///< Output channels.
  int64_t multiplier;
  int64_t planeBlock;
  Epilogue epilogue;
};

/// The tensors of a convolution by Winograd's algorithm.
struct WinogradTensors {
  int64_t inH, inW, outH, outW, padTop, padLeft;
  int64_t inChannels, outChannels;
  int64_t images;
  int64_t tilesH, tilesW; ///< Of an image.
  Epilogue epilogue;
};

/// A convolution of 3x3 taps and steps of one as F(4x4, 3x3), or of steps of
/// two or 2x2 taps as TwoTapWinogradTiles.h has it, for some of its tiles of
/// 4x4 outputs, which are numbered image, row, column. Inputs of a block of
/// tiles are transformed to [36][C][tiles of the block], those of blocked
/// tensors to [36][C/16][tiles][16].
struct WinogradPlan : WinogradTensors {
  int64_t narrowH, narrowW;  ///< The last of them have 3 outputs; blocked.
  /// Those of this plan; of convolutions of blocked tensors, of all plans.
  int64_t firstTile, tiles;
  int64_t blocks;            ///< Of tiles, which are dealt out evenly.
  int64_t side, step;        ///< Of windows; blocked only.
  /// Blocked: block i of this plan is number firstBlock + i * blockStep of
  /// `allBlocks`. So the first threads have the first tiles in each plan, as
  /// they have where there is one, and in what comes before and behind.
  int64_t firstBlock, blockStep, allBlocks;
  /// Of TwoTapWinogradTiles.h: they are `columnBlocks` parts of the columns of
  /// tiles by `rowBlocks` of the rows of all images, the last fastest; and
  /// pixels of the 36 products of one, at most.
  int64_t columnBlocks, rowBlocks, blockPixels;
  int64_t vectors;           ///< Of tiles, plain; blocks have whole ones.
  bool isBlockSlowest;       ///< In the grid of products, plain.
  int64_t inBlock, outBlock; ///< Channels; the latter of kWinogradRows.
  int64_t kBlock;            ///< Input channels of a product at a time.
  bool hasFewWeights;        ///< Those for kFewTiles at most; blocked.
  bool isLarge;              ///< Tensors are in no cache of a processor's own.
};

/// A convolution of rounded floats as RoundedWinogradTiles.h has it. Tiles of
/// 2x2 outputs are numbered image, row, column and dealt out evenly to blocks,
/// and so are blocks and parts of the groups of panels, the latter the faster,
/// to the tiles of the grid.
struct RoundedWinogradPlan : WinogradTensors {
  int64_t tiles, blocks; ///< Of all images.
  int64_t groupParts, gridTiles;
  int64_t blockTiles;   ///< Of a block, at most.
  int64_t pointStride;  ///< Elements from one point to the next.
  bool hasLargeWeights; ///< The second cache does not hold them.
  bool isShortX, isShortY, isShortResidual; ///< As BlockedPlan has them.
};

/// A first layer as PhaseWinogradTiles.h has it: what is said of x is of the
/// plain image, and inChannels are phases of its channels. Tiles are numbered
/// image, block of tiles, part of the output channels, the last fastest.
struct PhaseWinogradPlan : WinogradPlan {
  int64_t channelParts; ///< Of which each transforms inputs for itself.
  int64_t channels, kernelH, kernelW; ///< Of the convolution.
  /// From the first row or column of phases to that of the image, an even
  /// number.
  int64_t phaseTop, phaseLeft;
};

/// A convolution that takes or gives a blocked tensor. Tiles are numbered, the
/// last fastest, image, pixel block, group and block of panels, or image, group,
/// block of panels and pixel block where isPanelSlowest; those of rounded or
/// split floats image and group, then pixel block and block of panels, or these
/// the other way round.
struct BlockedPlan : Windows {
  int64_t batch, group;
  int64_t inChannels, outChannels; ///< Of one group.
  bool isPlainX, isPlainY;         ///< Not blocked: one of them at most.
  /// Images of bfloat16 in blocks of 32 channels, [N][C/32][H][W][32], of plans
  /// of rounded floats. A residual is where y is, and may be where it is not.
  bool isShortX, isShortY, isShortResidual;
  /// Weights are [C/32][taps][32] in place of [C/16][taps][16]; rounded ones.
  bool hasPairedBlocks;
  /// Terms of a row of taps in the weights of a plain x that is rounded, with
  /// their padding: 4, 8, 16 or 32.
  int64_t rowTerms;
  /// Of tiles: x has the lines of its pixels that roundPixels() writes, [images
  /// and groups][pixel blocks][ceil(C/32)][blockLines][32].
  bool isRoundedBefore;
  int64_t blockLines;
  int64_t pixels;
  int64_t outPlane;    ///< Pixels from one plane of y to the next.
  int64_t pixelBlocks; ///< The pixels are dealt out evenly to them,
  int64_t pixelUnit;   ///< in multiples of that many.
  int64_t groupBlocks; ///< So are output channels,
  int64_t columnUnit; ///< in multiples of that many: a group of panels or half.
  int64_t kBlock;      ///< Blocks of input channels summed at a time.
  bool isPanelSlowest;
  Epilogue epilogue;
};

/// A depthwise convolution of a blocked tensor. Tiles are numbered image, block
/// of rows, block of channels, the last fastest: threads have the pixels that
/// they have of the convolutions before and behind.
struct BlockedDepthwisePlan : Windows {
  int64_t batch, channels, blocks;
  /// Rows of a plane of x that are in memory: row i is where i mod inRows says.
  int64_t inRows;
  int64_t outFirst, outRows; ///< Those of y, of which outFirst is the first.
  int64_t rowBlock, rowBlocks;
  /// As BlockedPlan has them, of plans of PairKernels: y is bfloat16, and x may
  /// be. The last block of 32 channels may have 16.
  bool isShortX, isShortY;
  Epilogue epilogue;
};

/// A convolution as it is defined, of weights [OC][C/group][KH][KW]. Tiles are
/// rows of y, of a channel or of a block of channels.
struct DefinedConvPlan : Windows {
  int64_t batch, group, inChannels, outChannels; ///< Channels of all groups.
  bool isBlockedX, isBlockedY;
  int64_t inPlanes, outPlanes; ///< Channels of an image, or blocks of them.
  Epilogue epilogue;
};

/// The gradient of a convolution's weights: the sums over images and pixels of
/// the products of the output's gradient [M][pixels] and the columns [rows]
/// [pixels] of x, rows = C/group*KH*KW. Tiles are numbered group, row block,
/// channel block, the last fastest.
struct ConvWeightPlan {
  ConvPlan columns; ///< What there is to know to pack columns of x.
  int64_t rowBlock, rowBlocks;
  int64_t channelBlock, channelBlocks; ///< Output channels.
  /// What a tile packs at a time: parts of images, or some images as a whole,
  /// each in `imageTerms` places, of which the last may be left over.
  int64_t pixelBlock, images, imageTerms;
};

/// The same of blocked tensors. Tiles are numbered group, part of the blocks of
/// x, part of those of the gradient, the last fastest. Of a plain x, blocks are
/// rows of taps of one channel each.
struct BlockedWeightPlan : Windows {
  int64_t batch, group;
  int64_t inBlocks, outBlocks; ///< Of channels, of one group.
  int64_t inTiles, outTiles;   ///< They are dealt out evenly to them.
  int64_t lineBlock;           ///< Lines of pixels that pass at a time.
};

/// Adds each element of a pooling's gradient to the element of x that its
/// window chose. Tiles are blocks of planes [image][channel].
struct MaxPoolPlan : Windows {
  int64_t planes, planeBlock;
};

/// The functions of one instruction set. `arguments` as PreparedKernel::run().
struct KernelSet {
  int64_t vectorWidth; ///< Floats.
  void (*matmul)(const MatmulPlan &plan, void *const *arguments, int64_t begin,
                 int64_t end);
  void (*conv)(const ConvPlan &plan, void *const *arguments, int64_t begin,
               int64_t end);
  void (*fewChannels)(const FewChannelPlan &plan, void *const *arguments,
                      int64_t begin, int64_t end);
  /// arguments: x, the output's gradient, the result.
  void (*convWeightGradient)(const ConvWeightPlan &plan, void *const *arguments,
                             int64_t begin, int64_t end);
  void (*blockedWeightGradient)(const BlockedWeightPlan &plan,
                                void *const *arguments, int64_t begin,
                                int64_t end);
  /// Of a plain x and one group.
  void (*stripWeightGradient)(const BlockedWeightPlan &plan,
                              void *const *arguments, int64_t begin,
                              int64_t end);
  /// arguments: as above, both transformed, and sums, null where those of all
  /// tiles are transformed at once.
  void (*winogradWeightInput)(const WinogradPlan &plan, void *const *arguments,
                              int64_t begin, int64_t end);
  void (*winogradWeightProduct)(const WinogradPlan &plan,
                                void *const *arguments, int64_t begin,
                                int64_t end);
  void (*winogradWeightResult)(const WinogradPlan &plan, void *const *arguments,
                               int64_t begin, int64_t end);
  void (*depthwise)(const DepthwisePlan &plan, void *const *arguments,
                    int64_t begin, int64_t end);
  /// arguments: x, transformed w, bias, residual, y, transformed inputs, w.
  void (*winogradInput)(const WinogradPlan &plan, void *const *arguments,
                        int64_t begin, int64_t end);
  void (*winogradProduct)(const WinogradPlan &plan, void *const *arguments,
                          int64_t begin, int64_t end);
  void (*blockedConv)(const BlockedPlan &plan, void *const *arguments,
                      int64_t begin, int64_t end);
  void (*blockedDepthwise)(const BlockedDepthwisePlan &plan,
                           void *const *arguments, int64_t begin, int64_t end);
  /// Packs weights of sixteen input channels: [channels][16][taps], rows
  /// `stride` apart, become [taps][16][channels], a multiple of sixteen.
  void (*packPanels)(const float *source, int64_t stride, int64_t channels,
                     int64_t taps, float *target);
  /// arguments: as winogradInput and winogradProduct; of two taps no weights
  /// are transformed.
  void (*blockedWinogradInput)(const WinogradPlan &plan, void *const *arguments,
                               int64_t begin, int64_t end);
  void (*blockedWinogradProduct)(const WinogradPlan &plan,
                                 void *const *arguments, int64_t begin,
                                 int64_t end);
  void (*twoTapWinogradInput)(const WinogradPlan &plan, void *const *arguments,
                              int64_t begin, int64_t end);
  void (*twoTapWinogradProduct)(const WinogradPlan &plan,
                                void *const *arguments, int64_t begin,
                                int64_t end);
  void (*phaseWinograd)(const PhaseWinogradPlan &plan, void *const *arguments,
                        int64_t begin, int64_t end);
  /// arguments: x, the gradient of its pooling, the result.
  void (*maxPoolGradient)(const MaxPoolPlan &plan, void *const *arguments,
                          int64_t begin, int64_t end);
  /// Of blocked tensors, whose planes are [image][block of channels].
  void (*blockedMaxPoolGradient)(const MaxPoolPlan &plan,
                                 void *const *arguments, int64_t begin,
                                 int64_t end);
  void (*definedConv)(const DefinedConvPlan &plan, void *const *arguments,
                      int64_t begin, int64_t end);
};

/// Those that compute f32 on tiles of bfloat16, of a set that has some. Tiles
/// of the grid with elements that have no such parts are left to the functions
/// above, of the same plan.
struct SplitKernels {
  /// Of plans whose columnBlock is a multiple of kSplitGranule, up to four of
  /// them, and rowBlock kSplitRows at most; a and a plain b are not transposed.
  void (*matmul)(const MatmulPlan &plan, void *const *arguments, int64_t begin,
                 int64_t end);
  /// Of plans of two blocked tensors whose tiles have kSplitRows pixels and
  /// four groups of panels at most, those of one pixel block next to each
  /// other, and kMostSplitTaps taps at most.
  void (*blockedConv)(const BlockedPlan &plan, void *const *arguments,
                      int64_t begin, int64_t end);
};

/// Those that round floats to one bfloat16 and sum their products in f32. b and
/// w are packed as pairs.
struct PairKernels {
  /// Of plans whose columnBlock is a multiple of kPackedColumns and rowBlock
  /// kMostPairRows at most, those on tiles as SplitKernels have them; a is not
  /// transposed.
  void (*matmul)(const MatmulPlan &plan, void *const *arguments, int64_t begin,
                 int64_t end);
  /// On tiles alone: rounds the rows of a, kRoundedRows of a row block by a
  /// tile, for matmul of a plan that isRoundedBefore. arguments: a, the rounded
  /// rows.
  void (*roundRows)(const MatmulPlan &plan, void *const *arguments,
                    int64_t begin, int64_t end);
  /// The same of the pixels of x for blockedConv: kRoundedGroups of a pixel
  /// block by a tile.
  void (*roundPixels)(const BlockedPlan &plan, void *const *arguments,
                      int64_t begin, int64_t end);
  /// Of plans as SplitKernels have them; y may be plain, in tiles of
  /// kMostPixelsOfTile.
  void (*blockedConv)(const BlockedPlan &plan, void *const *arguments,
                      int64_t begin, int64_t end);
  /// To y of bfloat16, by sums of floats.
  void (*blockedDepthwise)(const BlockedDepthwisePlan &plan,
                           void *const *arguments, int64_t begin, int64_t end);
  /// arguments: x, transformed weights, bias, residual, y, a workspace and
  /// weights that are not transformed.
  void (*winograd)(const RoundedWinogradPlan &plan, void *const *arguments,
                   int64_t begin, int64_t end);
};

extern const KernelSet baselineKernels;
extern const SplitKernels modelSplitKernels;
extern const PairKernels baselinePairs;
extern const PairKernels modelPairTiles;
#ifdef DLC_KERNELS_X86
extern const PairKernels avx2Pairs;
extern const PairKernels avx512Pairs;
extern const PairKernels avx512bf16Pairs;
extern const PairKernels amxPairTiles;
extern const KernelSet avx2Kernels;
extern const KernelSet avx512Kernels;
extern const SplitKernels amxSplitKernels;
#endif

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_KERNELSET_H
