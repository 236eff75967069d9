// SPDX-License-Identifier: Apache-2.0
//
// The kernel library of plain CPUs: contractions, compiled once per
// instruction set and chosen by CPUID when a call is prepared.
//
// cpu.matmul  inputs (a, b, bias?, residual?), output c
//   c = act(a * b + bias + residual); a [..., M, K], b [..., K, N], batch
//   dimensions broadcast as NumPy's; c [..., M, N].
//   trans_a, trans_b  1: the last two dimensions are swapped in memory,
//                     a [..., K, M], b [..., N, K]
//   packed_b          2: b holds what pack(call, 1) wrote, per batch
//                     [N/64][K][64], as a vector of floats; the last part is
//                     as wide as there are columns, zero padded to a multiple
//                     of 16; packed_shape holds its shape before packing
//                     1: [ceil(N/16)][K][16], of older artifacts
//   bias [N], residual as c.
//   bf16_parts  3: a product may be that of the three bfloat16 that each float
//               is the sum of, without the three smallest ones of nine, summed
//               in f32: where the machine multiplies these faster. What is not
//               finite, too large or too small for it gives what f32 gives.
//               1: a and b are rounded to the nearest bfloat16, of two the even
//               one, and their products summed in f32. What is nearer to 2^128
//               than to the largest bfloat16 becomes infinite, denormals become
//               zeros; sums that are denormal may. a and the residual may be
//               bf16, and so may c where the residual, if there is one, is: it
//               is rounded once more then. b is packed, as pairs of terms
//               [N/64][ceil(K/2)][64], which are stored as floats; a is not
//               transposed. Of one matrix of 16 to 1024 rows, with 256 columns
//               and 2^15 elements of a at least, rounded rows may have a
//               workspace, the second output, but where they are bf16 and K is
//               a multiple of 32; older artifacts have none.
//               default 0: f32 alone
// cpu.integer_matmul    inputs (a, b, a_zero_point, b_zero_point, multiplier?,
//   offset?, c_zero_point?), output c
//   c = (a - a_zero_point) * (b - b_zero_point) in i32, which wraps around; a
//   and b as above, each i8 or u8, and zero points of the same type. That of a
//   is one element, those of b one or as many as there are columns. With all
//   others c is i8 or u8, round(sums * multiplier + offset) + c_zero_point,
//   saturated: multiplier and offset are f32, one or one for each column, NaN
//   gives the zero point.
//   packed_b          1: b holds what pack(call, 1) wrote, per batch
//                     [N/64][K/4][64][4] of bytes with sign, of u8 less 128, K
//                     padded with zeros to a multiple of 64, the last part as
//                     wide as there are columns, padded to a multiple of 16;
//                     and the sums of the columns, i32. As a vector of floats;
//                     packed_shape holds its shape before packing. Without it a
//                     workspace for it is the second output.
// cpu.integer_conv    inputs (x, w, x_zero_point, w_zero_point, multiplier?,
//   offset?, y_zero_point?), output y, then a workspace
//   y = conv(x - x_zero_point, w - w_zero_point) in i32, which wraps around; x
//   and w as cpu.conv has them, each i8 or u8, and zero points of the same
//   type. That of x is one element, those of w one or as many as there are
//   output channels. The others as above, [OC, 1] or [OC, 1, 1], or with
//   channels last as y, where there is one for each channel. x may be
//   [N, 1, W, C] or [N, 1, H, W, C], with all channels last. A plain x is
//   turned round so in the workspace, which is also there for a w that is not
//   packed.
//   strides, pads, dilations    as cpu.conv has them
//   group             1 (default), or that of as many input and output
//                     channels, each by itself, with at most 512 taps
//   channel_block     OC: y has all channels last
//   packed_w          1: w holds what pack(call, 1) wrote, as a packed b of
//                     cpu.integer_matmul with the terms [KH][KW][C]; of
//                     channels by themselves [OC/64][KH*KW][64] and the sums
// cpu.conv    inputs (x, w, bias?, residual?), output y
//   y = act(conv(x, w) + bias + residual); x [N, C, W] or [N, C, H, W],
//   w [OC, C/group, KW] or [OC, C/group, KH, KW].
//   strides, dilations  one per spatial dimension, default 1
//   pads                begins, then ends, default 0; not negative
//   group               default 1
//   packed_w            1: w holds what pack(call, 1) wrote:
//                       [group][ceil(OC/group/4)][C/group*KH*KW][4], zero
//                       padded; with one input channel a group [OC][KH*KW]
//   channel_block       16: y is blocked, [N, OC/16, OW, 16] or
//                       [N, OC/16, OH, OW, 16], and so is residual. x is where
//                       it has a dimension more than w. C/16 and OC/16 are
//                       rounded up: places behind the last channel are not
//                       read, and have any value in y. Several groups have
//                       multiples of 16 channels, or one each; where only one
//                       of x and y is blocked there is one group, and the other
//                       one may have any positive number. At most 1365 taps;
//                       what windows of six pixels of a row read of a plain x,
//                       where some lie outside of it in rows of whole vectors,
//                       with 16 bytes a term, else 8 bytes a term, is at most
//                       176 KiB. packed_w is
//                       [group][OC/group/64][C/group/16][KH*KW][16][64], the
//                       last part as wide as there are channels, zero padded
//                       to a multiple of 16, the last block as many rows as
//                       there are channels; of an x that is not blocked
//                       [OC/64][C][KH*KW][64], depthwise [OC/16][KH*KW][16].
//                       Without it a workspace for it is the second output.
//                       What looks at weights that are not packed, in each run,
//                       is there, too: where one is not finite, and a tap may
//                       lie outside of x, y is summed as it is defined.
//   algorithm           default "": the sum of products. "winograd": as
//                       F(4x4, 3x3), of 2-D windows of 3x3 with steps of one
//                       in one group of at least 8 channels to 8. packed_w is
//                       [ceil(OC/16)][36][4][C][4], and then w as it was;
//                       blocked [OC/32][6][C][3][32], the last part as wide as
//                       there are channels, and then as without an algorithm;
//                       of four tiles of 4x4 pixels at most, blocked,
//                       [OC/16][C][9][16]. x and y blocked, also with steps of
//                       two, or 2x2 with steps of one, whose results tiles of
//                       four and three have to fill (3, 4, 6 and more);
//                       packed_w is as without an algorithm. Without it x and
//                       y are blocked, and w is packed in each run. A workspace
//                       is the second output. Inputs that are not finite give
//                       what the other one gives. Both of x and y are blocked,
//                       with all places filled, or none is; or y alone, with at
//                       most 4 channels of x, steps of two, and 5 to 8 taps in
//                       each direction, one more counted where padding in
//                       front is odd: 5 and 6 in both, or 7 and 8. Then
//                       packed_w is [OC/32][36][4*C][32], the last part as wide
//                       as there are channels, and behind it
//                       [OC/16][C][KH*KW][16], and there is no workspace.
//   bf16_parts          as cpu.matmul has it; 3 where x and y are blocked; 1,
//                       without an algorithm, in whole blocks, in one of three
//                       forms:
//                       x blocked, at most 49 taps, packed_w 2: pairs of terms
//                       [group][OC/group/64][C/group/32][KH*KW][16][64], the
//                       last of the third dimension half as many where there
//                       are 16 channels more. Where tiles share pixels, rounded
//                       ones may have a workspace, as those of cpu.matmul;
//                       the same, packed_w 1, of older artifacts and of chains:
//                       [group][OC/group/64][C/group/16][KH*KW][8][64];
//                       y alone blocked, rows of at most 32 taps without
//                       dilation, in steps of at most 8, packed_w 2: pairs
//                       [OC/64][lines][16][64] of rows of taps, C*KH of them,
//                       each padded with zeros to 4, 8, 16 or 32 terms
//                       x, with packed_w 2, residual and y may be bf16 as
//                       cpu.matmul has them, in blocks of 32 channels of one
//                       group in place of 16, [N, C/32, H, W, 32];
//                       channel_block is 16 all the same
//   bias [OC], residual as y.
// cpu.depthwise_chain    inputs (x, w0?, bias0?, w1, bias1?, w2?, bias2?,
//   residual?), output y, then a workspace
//   Convolutions of each other's results, one after the other, of two
//   dimensions: one of w0 in one group; a depthwise one of w1; and one of w2,
//   whose windows are one pixel. The first or the last may be left out. What
//   is between them has a multiple of 16 channels and is never in memory as a
//   whole. x and y are as cpu.conv takes and gives them, of w1 in blocks.
//   strides, pads, dilations, activation, alpha, beta    of w1
//   front_strides, ...  those of w0
//   last_activation, last_alpha, last_beta    of w2
//   channel_block       16: y is blocked, and so is residual
//   packed_w            1: all weights hold what pack() wrote, as cpu.conv
//                       packs them for blocked tensors; packed_shape,
//                       packed_shape_3 and packed_shape_5 their shapes before
//                       2, with bf16_parts: w0 and w2 as those of 2 there
//   bf16_parts          1, with packed_w: w0 and w2 as cpu.conv has them, and
//                       then what w0 gives is rounded, too. With packed_w 1,
//                       of older artifacts, not w0 of a plain x; with 2 a
//                       blocked x of w0, and y and a residual of w2, may be
//                       bf16, as there
//   residual is added in front of the last activation, of w2 or w1.
// cpu.attention inputs (q, k, v, masks...), output y
//   y = softmax(masks(scale * (query_scale * q) * k)) * v, the softmax along
//   rows; q [..., M, K], k [..., K, N], v [..., N, P], y [..., M, P], of which
//   K and P are at most 512. q and y have as many matrices, k and v each as
//   many or a part of them: then as many matrices of q, one after the other,
//   share one. The scores are never in memory as a whole. q_order, k_order,
//   v_order, y_order   dimension i above is dimension
//                       order[i] in memory; the last one of y is its last one
//   scale, query_scale  default 1
//   masks               what is done with the scores, in order, at most four:
//                       0: an f32 mask is added
//                       1: where a mask of booleans is false they become fill
//                       2: where it is true
//                       3: beyond column row + causal_offset; takes no input
//   scores              the shape that masks broadcast to, as NumPy's: [..., M,
//                       N] with the matrices of q
//   fill                default minus infinity
//   causal_offset       default 0
//   bf16_parts          1: q, k, v, which may be bf16, and the weights of rows
//                       are rounded as operands of cpu.matmul, weights after
//                       they sum to one over the keys so far, of which each
//                       instruction set takes as many as it has memory for;
//                       scores are scaled by both scales at once. M is at least
//                       16, K and P are at least 32. default 0: f32
//   Scores that are not finite give what the chain of operations gives: NaN
//   where a row has one, or plus infinity, or minus infinity alone. Weights
//   below e^-87 of the greatest one of their row are zero.
// cpu.recurrent    inputs (x, w, r, b?, sequence_lens?, initial_h?, initial_c?,
//   p?), outputs y, y_h and with cells y_c, then a workspace
//   The layer of a Graph operation, with its attributes and shapes.
//   cell                "rnn", "gru" or "lstm": the operation
//   packed_w            2: w and r hold what pack(call, 1) and pack(call, 2)
//                       wrote, for each direction [N/64][K][64], the last part
//                       as wide as there are columns, zero padded to a multiple
//                       of 16; of N gates times units and K inputs, and of r K
//                       units; the candidate of a gru follows the other gates
//                       of r by itself. Where threads share the units of a
//                       step, r is that of each 64 units after the other.
//                       packed_shape and packed_shape_2 hold their shapes
//                       before packing.
//                       3: the same, but r, of which each row is a number
//                       times signed bytes, is these and behind all of them the
//                       numbers, in the order of columns
//                       1: r has all units at once, of older artifacts
//   sequence_lens is i32; check() says whether its values fit. Inputs and units
//   are at least one.
// cpu.pool    input x, output y
//   The largest elements, NaN where there is one, or means, of windows of
//   x [N, C, W], [N, C, H, W] or [N, C, H, W, b], one element along the last
//   dimension of that, of which y has as many as it says; what lies outside of
//   x is in none.
//   kernel_shape, and strides, pads and dilations as above
//   mean                1: the mean, of nothing 0
//   count_include_pad   1: elements that are padded count as zeros of a mean
// cpu.einsum    inputs (a, b), output y, then a workspace
//   The products of elements of a and b, summed along all dimensions that y
//   does not have. Each of these is one of a and of b, and there is one with
//   several elements; neither has a label twice, or is broadcast.
//   equation            as that of Graph einsum
// cpu.conv_transpose    inputs (x, w, bias?), output y, then a workspace
//   The transposed convolution of Graph conv_transpose, with its attributes and
//   shapes, over any number of dimensions.
//   packed_w            1: w holds what pack(call, 1) wrote, as cpu.conv packs
//                       1x1 windows of C/group channels to OC/group*taps, for
//                       each group
// cpu.conv_volume    inputs (x, w, bias?), output y, then a workspace
//   y = conv(x, w) + bias, x [N, C, D, H, W], w [OC, C/group, KD, KH, KW].
//   strides, dilations, pads, group    as cpu.conv has them
//   packed_w            1: w holds what pack(call, 1) wrote, as cpu.conv packs
//                       [OC, C/group*KD, KH, KW]; needed where D is padded
//   algorithm           that of the planes, as cpu.conv has it
// cpu.pool_volume    input x, output y, then a workspace
//   As cpu.pool, of x [N, C, D, H, W].
// cpu.softmax    input x, output y
//   e^x along a dimension, over their sum. What is below e^-87 of the greatest
//   one is zero.
//   axis                which one, default the last
//   log                 1: the logarithm of that
// cpu.reduce    inputs (x, axes?), output y
//   x folded along axes that follow each other, but for those of one element,
//   which may be anywhere. The second input is not read.
//   operation           of Graph: "reduce_sum", "reduce_mean", "reduce_max",
//                       "reduce_min"
//   axes                which, from 0
// cpu.norm      inputs (x, scale, bias?), output y, then a workspace
//   Rows of x less their mean, over their deviation, times scale, plus bias.
//   operation           of Graph: "layer_norm", "rms_norm", which has no mean,
//                       or "group_norm"
//   axis                of the former two: the first dimension of a row; the
//                       last without it; scale and bias have its dimensions
//   num_groups          of the last: rows of an image; scale and bias are of
//                       channels
//   epsilon             default 1e-5, added to the squared deviation
// cpu.conv_weight_gradient    inputs (x, g), output dw
//   The gradient of w of the above, given g, that of y: g has any number of
//   positions, and what lies outside of x counts nothing. strides, pads,
//   dilations and group as above, of which the ends of pads mean nothing. x
//   and g may both be blocked, [N, C/16, ..., 16], with one dimension more
//   than dw; groups then have multiples of 16 channels, and there are at most
//   112 taps. Or g is alone, of one group, and what the windows of a row read
//   of x is at most 112 KiB with sums. algorithm "winograd", of blocked
//   tensors, windows of 3x3 with steps of one and one group: by the adjoint of
//   F(4x4, 3x3), with a workspace as the second output. What is not finite is
//   as without it.
// cpu.max_pool_gradient    inputs (x, g), output dx
//   The gradient of x [N, C, W] or [N, C, H, W], given g, that of its largest
//   elements in windows of kernel_shape; strides, pads and dilations as above.
//   The first of equal elements counts, NaN is the largest. Blocked tensors,
//   [N, C/16, H, W, 16], have windows of one element along the last dimension.
// cpu.matmul and cpu.conv: activation in "" | "relu" | "clamp" (alpha = lo,
//   beta = hi) | "leaky_relu" (alpha) | "sigmoid" | "tanh" | "gelu" |
//   "gelu_tanh" | "silu" | "hard_swish" | "hard_sigmoid" (alpha, beta). The
//   defaults of alpha and beta are those of the Graph ops. NaN passes through
//   every activation.
//
// All tensors but masks, lengths and those of products of integers are f32; all
// are dense, row-major and aligned to their elements. The output may be the
// same memory as the residual, and no other operand.

#ifndef DLC_RUNTIME_KERNEL_CPU_CPULIBRARY_H
#define DLC_RUNTIME_KERNEL_CPU_CPULIBRARY_H

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

/// The instruction sets that the kernels are compiled for, worst first.
enum class Isa {
  Baseline,   ///< 128-bit vectors; SSE2 on x86-64.
  AVX2,       ///< AVX2 and FMA.
  AVXVNNI,    ///< AVX2 and sums of products of four bytes.
  AVX512,     ///< AVX-512 F, BW, DQ and VL.
  AVX512VNNI, ///< AVX512 and sums of products of four bytes.
  AVX512BF16, ///< AVX512 and sums of products of pairs of bfloat16; of bytes,
              ///< where the machine has those.
  AMX,        ///< AVX512BF16 and tiles of bfloat16; of bytes as above.
  AMXModel,   ///< Baseline with such tiles in software: slow, for tests.
};

/// "baseline", "avx2", "avx-vnni", "avx512", "avx512-vnni", "avx512-bf16",
/// "amx" or "amx-model".
std::string_view nameOf(Isa isa);

/// Whether this build has the set and this machine can run it.
bool canRun(Isa isa);

/// The best set that canRun(); what the entries use. Not AVX512BF16 where its
/// instruction is slower than those of floats.
Isa bestIsa();

/// prepare() of the entries for a given instruction set, for tests and
/// benchmarks. Unsupported when it cannot run here.
Status prepareMatmul(const KernelCall &call, Isa isa,
                     std::unique_ptr<PreparedKernel> &prepared);
Status prepareIntegerMatmul(const KernelCall &call, Isa isa,
                            std::unique_ptr<PreparedKernel> &prepared);
Status prepareIntegerConv(const KernelCall &call, Isa isa,
                          std::unique_ptr<PreparedKernel> &prepared);
Status prepareConv(const KernelCall &call, Isa isa,
                   std::unique_ptr<PreparedKernel> &prepared);
Status prepareDepthwiseChain(const KernelCall &call, Isa isa,
                             std::unique_ptr<PreparedKernel> &prepared);
Status prepareAttention(const KernelCall &call, Isa isa,
                        std::unique_ptr<PreparedKernel> &prepared);
Status prepareRecurrent(const KernelCall &call, Isa isa,
                        std::unique_ptr<PreparedKernel> &prepared);
Status prepareConvVolume(const KernelCall &call, Isa isa,
                         std::unique_ptr<PreparedKernel> &prepared);
Status prepareConvTranspose(const KernelCall &call, Isa isa,
                            std::unique_ptr<PreparedKernel> &prepared);
Status prepareEinsum(const KernelCall &call, Isa isa,
                     std::unique_ptr<PreparedKernel> &prepared);
Status preparePoolVolume(const KernelCall &call, Isa isa,
                         std::unique_ptr<PreparedKernel> &prepared);
Status preparePool(const KernelCall &call, Isa isa,
                   std::unique_ptr<PreparedKernel> &prepared);
Status prepareReduce(const KernelCall &call, Isa isa,
                     std::unique_ptr<PreparedKernel> &prepared);
Status prepareNorm(const KernelCall &call, Isa isa,
                   std::unique_ptr<PreparedKernel> &prepared);
Status prepareSoftmax(const KernelCall &call, Isa isa,
                      std::unique_ptr<PreparedKernel> &prepared);
Status prepareConvWeightGradient(const KernelCall &call, Isa isa,
                                 std::unique_ptr<PreparedKernel> &prepared);
Status prepareMaxPoolGradient(const KernelCall &call, Isa isa,
                              std::unique_ptr<PreparedKernel> &prepared);

/// The entries of this library.
std::span<const LibraryEntry> libraryEntries();

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_CPULIBRARY_H
