// SPDX-License-Identifier: Apache-2.0
//
// The families of operations: one function each, defined at the end of the
// family's file. Reference.cpp gathers them; nothing registers itself.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_FAMILIES_H
#define DLC_RUNTIME_KERNEL_REFERENCE_FAMILIES_H

#include "dlc/runtime/Kernel/Reference/Reference.h"

namespace dlc::rt::ref {

std::span<const Operation> activationOperations();
std::span<const Operation> binaryOperations();
std::span<const Operation> comparisonOperations();
std::span<const Operation> conversionOperations();
std::span<const Operation> convolutionOperations();
std::span<const Operation> convolutionTransposeOperations();
std::span<const Operation> deformableConvolutionOperations();
std::span<const Operation> detectionOperations();
std::span<const Operation> einsumOperations();
std::span<const Operation> generateOperations();
std::span<const Operation> indexingOperations();
std::span<const Operation> matmulOperations();
std::span<const Operation> matrixOperations();
std::span<const Operation> movementOperations();
std::span<const Operation> normalizationOperations();
std::span<const Operation> poolingOperations();
std::span<const Operation> quantizationOperations();
std::span<const Operation> rearrangeOperations();
std::span<const Operation> recurrentOperations();
std::span<const Operation> reductionOperations();
std::span<const Operation> regionPoolingOperations();
std::span<const Operation> resizeOperations();
std::span<const Operation> scanOperations();
std::span<const Operation> scatterOperations();
std::span<const Operation> selectOperations();
std::span<const Operation> signalOperations();
std::span<const Operation> spatialOperations();
std::span<const Operation> ternaryOperations();
std::span<const Operation> unaryOperations();
std::span<const Operation> unpoolingOperations();
std::span<const Operation> vectorizerOperations();
std::span<const Operation> viewOperations();

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_FAMILIES_H
