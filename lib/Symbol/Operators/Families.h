// SPDX-License-Identifier: Apache-2.0
//
// The families of operators: one file each, which declares its operators beside
// their rules.

#ifndef DLC_LIB_SYMBOL_OPERATORS_FAMILIES_H
#define DLC_LIB_SYMBOL_OPERATORS_FAMILIES_H

#include "dlc/Symbol/Operator.h"

namespace dlc::symbol {

using Family = std::span<const Operator>();

Family activationOperators;
Family binaryOperators;
Family boxOperators;
Family columnOperators;
Family contractionOperators;
Family contribOperators;
Family controlFlowOperators;
Family creationOperators;
Family ctcOperators;
Family detectionOperators;
Family factorOperators;
Family fusedAttentionOperators;
Family fusedOperators;
Family gradientOperators;
Family imageOperators;
Family indexingOperators;
Family joiningOperators;
Family lossOperators;
Family movementOperators;
Family normalizationOperators;
Family poolingOperators;
Family proposalOperators;
Family quantizationOperators;
Family randomOperators;
Family reductionOperators;
Family regionOperators;
Family samplingOperators;
Family shapeOperators;
Family linalgOperators;
Family numpyArithmeticOperators;
Family numpyContractionOperators;
Family numpyCreationOperators;
Family numpyElementwiseOperators;
Family numpyRandomOperators;
Family numpyReductionOperators;
Family numpyShapeOperators;
Family numpyStatisticsOperators;
Family recurrentOperators;
Family sortingOperators;
Family sparseOperators;
Family spatialOperators;
Family specialOperators;
Family unaryOperators;

inline constexpr Family *families[] = {
    activationOperators,
    binaryOperators,
    boxOperators,
    columnOperators,
    contractionOperators,
    contribOperators,
    controlFlowOperators,
    creationOperators,
    ctcOperators,
    detectionOperators,
    factorOperators,
    fusedAttentionOperators,
    fusedOperators,
    gradientOperators,
    imageOperators,
    indexingOperators,
    joiningOperators,
    lossOperators,
    movementOperators,
    normalizationOperators,
    poolingOperators,
    proposalOperators,
    quantizationOperators,
    randomOperators,
    reductionOperators,
    regionOperators,
    samplingOperators,
    shapeOperators,
    linalgOperators,
    numpyArithmeticOperators,
    numpyContractionOperators,
    numpyCreationOperators,
    numpyElementwiseOperators,
    numpyRandomOperators,
    numpyReductionOperators,
    numpyShapeOperators,
    numpyStatisticsOperators,
    recurrentOperators,
    sortingOperators,
    sparseOperators,
    spatialOperators,
    specialOperators,
    unaryOperators,
};

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_OPERATORS_FAMILIES_H
