// SPDX-License-Identifier: Apache-2.0
//
// The table of entries.

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"

#include "Attention.h"
#include "Conv.h"
#include "ConvTranspose.h"
#include "DepthwiseChain.h"
#include "Einsum.h"
#include "Gradients.h"
#include "IntegerConv.h"
#include "IntegerMatmul.h"
#include "LogicalCall.h"
#include "Matmul.h"
#include "Norm.h"
#include "Recurrent.h"
#include "Rows.h"
#include "Volume.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;

// Each entry sees its call as it was before packing.

/// Of an entry of which some operands may be packed.
template <auto prepareFor, auto packedBytes, size_t... operands>
static Status prepareBest(const KernelCall &call,
                          std::unique_ptr<PreparedKernel> &prepared) {
  LogicalCall logical(call);
  std::unique_ptr<PreparedKernel> kernel;
  DLC_RETURN_IF_ERROR(prepareFor(logical.view(), bestIsa(), kernel));
  for (size_t operand : {operands...})
    DLC_RETURN_IF_ERROR(
        checkPackedSize(call, operand, packedBytes(logical.view(), operand)));
  prepared = std::move(kernel);
  return Status::ok();
}

template <auto packedBytes>
static size_t packedBytesOf(const KernelCall &call, size_t operand) {
  return packedBytes(LogicalCall(call).view(), operand);
}

template <auto pack>
static void packOf(const KernelCall &call, size_t operand, const void *source,
                   void *target) {
  pack(LogicalCall(call).view(), operand, source, target);
}

template <auto isSupported>
static bool isSupportedOf(const KernelCall &call, std::string &why) {
  return isSupported(LogicalCall(call).view(), why);
}

template <auto packsFinite>
static bool packsFiniteOf(const KernelCall &call, size_t operand) {
  return packsFinite(LogicalCall(call).view(), operand);
}

template <auto roundsByTime>
static bool roundsByTimeOf(const KernelCall &call) {
  return roundsByTime(LogicalCall(call).view());
}

template <auto paysInParts> static bool paysInPartsOf(const KernelCall &call) {
  return canRun(Isa::AMX) && paysInParts(LogicalCall(call).view());
}

template <auto cost> static KernelCost costOf(const KernelCall &call) {
  return cost(LogicalCall(call).view());
}

/// Of an entry that takes every operand as it is.
template <auto prepareFor>
static Status prepareUnpacked(const KernelCall &call,
                              std::unique_ptr<PreparedKernel> &prepared) {
  return prepareFor(call, bestIsa(), prepared);
}

template <auto workspaceBytes>
static size_t workspaceBytesOf(const KernelCall &call) {
  return workspaceBytes(LogicalCall(call).view());
}

/// Of sums of products as they are defined.
static constexpr float kSumBound = 4e-6f;

/// Of those of operands that are off by 2^-8 each.
static constexpr float kRoundedBound = 0x1.01p-7f + kSumBound;

static constexpr std::string_view convAlgorithms[] = {"winograd"};

static constexpr std::string_view products[] = {"matmul"};
static constexpr std::string_view integerProducts[] = {"integer_matmul"};
static constexpr std::string_view integerConvolutions[] = {"integer_conv"};
static constexpr std::string_view convolutions[] = {"conv"};
static constexpr std::string_view recurrentLayers[] = {"rnn", "gru", "lstm"};
static constexpr std::string_view transposedConvolutions[] = {"conv_transpose"};
static constexpr std::string_view einsteinSums[] = {"einsum"};
static constexpr std::string_view poolings[] = {"max_pool", "avg_pool"};
static constexpr std::string_view softmaxes[] = {"softmax", "log_softmax"};
static constexpr std::string_view reductions[] = {"reduce_sum", "reduce_mean",
                                                  "reduce_max", "reduce_min"};

static constexpr std::string_view norms[] = {"layer_norm", "rms_norm",
                                             "group_norm"};

static constexpr size_t secondOperand[] = {1};
static constexpr size_t layerWeights[] = {1, 2};

/// A product has no attributes.
static bool matmulFromOperation(std::string_view, const KernelCall &,
                                ConstantOperands, Attributes &) {
  return true;
}

static constexpr LibraryEntry entries[] = {
    {.name = "cpu.matmul",
     .prepare = prepareBest<prepareMatmul, packedMatmulBytes, 1>,
     .packedBytes = packedBytesOf<packedMatmulBytes>,
     .pack = packOf<packMatmul>,
     .isSupported = isSupportedOf<isMatmulSupported>,
     .bound = kSumBound,
     .roundedOperands = 1,
     .roundedBound = kRoundedBound,
     .workspaceBytes = workspaceBytesOf<matmulWorkspaceBytes>,
     .paysInParts = paysInPartsOf<matmulPaysInParts>,
     .cost = costOf<matmulCost>,
     .operations = products,
     .fromOperation = matmulFromOperation,
     .constants = {"packed_b", 2, secondOperand},
     .epilogue = SumEpilogue{.bias = 2, .residual = 3}},
    {.name = "cpu.integer_matmul",
     .prepare = prepareBest<prepareIntegerMatmul, packedIntegerMatmulBytes, 1>,
     .packedBytes = packedBytesOf<packedIntegerMatmulBytes>,
     .pack = packOf<packIntegerMatmul>,
     .isSupported = isSupportedOf<isIntegerMatmulSupported>,
     .workspaceBytes = workspaceBytesOf<integerMatmulWorkspaceBytes>,
     .cost = costOf<integerMatmulCost>,
     .operations = integerProducts,
     .fromOperation = matmulFromOperation,
     .constants = {"packed_b", 1, secondOperand},
     .epilogue = SumEpilogue{.rounding = 4}},
    {.name = "cpu.integer_conv",
     .prepare = prepareBest<prepareIntegerConv, packedIntegerConvBytes, 1>,
     .packedBytes = packedBytesOf<packedIntegerConvBytes>,
     .pack = packOf<packIntegerConv>,
     .isSupported = isSupportedOf<isIntegerConvSupported>,
     .workspaceBytes = workspaceBytesOf<integerConvWorkspaceBytes>,
     .cost = costOf<integerConvCost>,
     .operations = integerConvolutions,
     .fromOperation = integerConvFromOperation,
     .constants = {"packed_w", 1, secondOperand},
     .epilogue = SumEpilogue{.rounding = 4}},
    {.name = "cpu.conv",
     .prepare = prepareBest<prepareConv, packedConvBytes, 1>,
     .packedBytes = packedBytesOf<packedConvBytes>,
     .pack = packOf<packConv>,
     .packsFinite = packsFiniteOf<packsFiniteWeights>,
     .isSupported = isSupportedOf<isConvSupported>,
     .algorithms = convAlgorithms,
     .bound = kSumBound,
     .algorithmBound = 2e-5f,
     .roundedOperands = 1,
     .roundedBound = kRoundedBound,
     .roundedAlgorithmBound = 2 * kRoundedBound,
     .roundsByTime = roundsByTimeOf<convRoundsByTime>,
     .workspaceBytes = workspaceBytesOf<convWorkspaceBytes>,
     .paysInParts = paysInPartsOf<convPaysInParts>,
     .cost = costOf<convCost>,
     .operations = convolutions,
     .fromOperation = convFromOperation,
     .constants = {"packed_w", 1, secondOperand},
     .epilogue = SumEpilogue{.residual = 3},
     .otherwise = "cpu.conv_volume"},
    {.name = "cpu.conv_volume",
     .prepare = prepareBest<prepareConvVolume, packedConvVolumeBytes, 1>,
     .packedBytes = packedBytesOf<packedConvVolumeBytes>,
     .pack = packOf<packConvVolume>,
     .packsFinite = packsFiniteOf<packsFiniteVolumeWeights>,
     .isSupported = isSupportedOf<isConvVolumeSupported>,
     .algorithms = convAlgorithms,
     .bound = kSumBound,
     .algorithmBound = 2e-5f,
     .workspaceBytes = workspaceBytesOf<convVolumeWorkspaceBytes>,
     .cost = costOf<convVolumeCost>,
     .fromOperation = convFromOperation,
     .constants = {"packed_w", 1, secondOperand}},
    {.name = "cpu.depthwise_chain",
     .prepare =
         prepareBest<prepareDepthwiseChain, packedDepthwiseChainBytes, 1, 3, 5>,
     .packedBytes = packedBytesOf<packedDepthwiseChainBytes>,
     .pack = packOf<packDepthwiseChain>,
     .isSupported = isSupportedOf<isDepthwiseChainSupported>,
     .bound = kSumBound,
     .roundedOperands = 1,
     .roundedBound = kRoundedBound,
     .workspaceBytes = workspaceBytesOf<depthwiseChainWorkspaceBytes>,
     .cost = costOf<depthwiseChainCost>},
    {.name = "cpu.attention",
     .prepare = prepareUnpacked<prepareAttention>,
     .packedBytes = nullptr,
     .pack = nullptr,
     .isSupported = isAttentionSupported,
     .bound = kSumBound,
     .roundedOperands = 3,
     .cost = attentionCost},
    {.name = "cpu.recurrent",
     .prepare = prepareBest<prepareRecurrent, packedRecurrentBytes, 1, 2>,
     .packedBytes = packedBytesOf<packedRecurrentBytes>,
     .pack = packOf<packRecurrent>,
     .packingOf = recurrentPacking,
     .isSupported = isSupportedOf<isRecurrentSupported>,
     .bound = kSumBound,
     .workspaceBytes = workspaceBytesOf<recurrentWorkspaceBytes>,
     .cost = costOf<recurrentCost>,
     .operations = recurrentLayers,
     .fromOperation = recurrentFromOperation,
     .constants = {"packed_w", 2, layerWeights}},
    {.name = "cpu.conv_transpose",
     .prepare = prepareBest<prepareConvTranspose, packedConvTransposeBytes, 1>,
     .packedBytes = packedBytesOf<packedConvTransposeBytes>,
     .pack = packOf<packConvTranspose>,
     .isSupported = isSupportedOf<isConvTransposeSupported>,
     .bound = kSumBound,
     .workspaceBytes = workspaceBytesOf<convTransposeWorkspaceBytes>,
     .cost = costOf<convTransposeCost>,
     .operations = transposedConvolutions,
     .fromOperation = convTransposeFromOperation,
     .constants = {"packed_w", 1, secondOperand}},
    {.name = "cpu.einsum",
     .prepare = prepareUnpacked<prepareEinsum>,
     .packedBytes = nullptr,
     .pack = nullptr,
     .isSupported = isEinsumSupported,
     .bound = kSumBound,
     .workspaceBytes = einsumWorkspaceBytes,
     .cost = einsumCost,
     .operations = einsteinSums,
     .fromOperation = einsumFromOperation},
    {.name = "cpu.pool",
     .prepare = prepareUnpacked<preparePool>,
     .packedBytes = nullptr,
     .pack = nullptr,
     .isSupported = isPoolSupported,
     .cost = poolCost,
     .operations = poolings,
     .fromOperation = poolFromOperation,
     .otherwise = "cpu.pool_volume"},
    {.name = "cpu.pool_volume",
     .prepare = prepareUnpacked<preparePoolVolume>,
     .packedBytes = nullptr,
     .pack = nullptr,
     .isSupported = isPoolVolumeSupported,
     .workspaceBytes = poolVolumeWorkspaceBytes,
     .cost = poolVolumeCost,
     .fromOperation = poolFromOperation},
    {.name = "cpu.softmax",
     .prepare = prepareUnpacked<prepareSoftmax>,
     .packedBytes = nullptr,
     .pack = nullptr,
     .isSupported = isSoftmaxSupported,
     .cost = softmaxCost,
     .operations = softmaxes,
     .fromOperation = softmaxFromOperation},
    {.name = "cpu.reduce",
     .prepare = prepareUnpacked<prepareReduce>,
     .packedBytes = nullptr,
     .pack = nullptr,
     .isSupported = isReduceSupported,
     .bound = kSumBound,
     .cost = reduceCost,
     .operations = reductions,
     .fromOperation = reduceFromOperation},
    {.name = "cpu.norm",
     .prepare = prepareUnpacked<prepareNorm>,
     .packedBytes = nullptr,
     .pack = nullptr,
     .isSupported = isNormSupported,
     .bound = kSumBound,
     .workspaceBytes = normWorkspaceBytes,
     .cost = normCost,
     .operations = norms,
     .fromOperation = normFromOperation},
    {.name = "cpu.conv_weight_gradient",
     .prepare = prepareUnpacked<prepareConvWeightGradient>,
     .packedBytes = nullptr,
     .pack = nullptr,
     .isSupported = isConvWeightGradientSupported,
     .algorithms = convAlgorithms,
     .bound = kSumBound,
     .algorithmBound = 2e-5f,
     .workspaceBytes = convWeightGradientWorkspace,
     .cost = convWeightGradientCost},
    {.name = "cpu.max_pool_gradient",
     .prepare = prepareUnpacked<prepareMaxPoolGradient>,
     .packedBytes = nullptr,
     .pack = nullptr,
     .isSupported = isMaxPoolGradientSupported,
     .cost = maxPoolGradientCost},
};

std::span<const LibraryEntry> cpu::libraryEntries() { return entries; }
