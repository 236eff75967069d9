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
Family contractionOperators;
Family contribOperators;
Family controlFlowOperators;
Family creationOperators;
Family ctcOperators;
Family gradientOperators;
Family indexingOperators;
Family joiningOperators;
Family lossOperators;
Family movementOperators;
Family normalizationOperators;
Family poolingOperators;
Family randomOperators;
Family reductionOperators;
Family samplingOperators;
Family shapeOperators;
Family linalgOperators;
Family numpyContractionOperators;
Family numpyCreationOperators;
Family numpyElementwiseOperators;
Family numpyReductionOperators;
Family numpyShapeOperators;
Family recurrentOperators;
Family sortingOperators;
Family spatialOperators;
Family unaryOperators;

inline constexpr Family *families[] = {
    activationOperators,
    binaryOperators,
    contractionOperators,
    contribOperators,
    controlFlowOperators,
    creationOperators,
    ctcOperators,
    gradientOperators,
    indexingOperators,
    joiningOperators,
    lossOperators,
    movementOperators,
    normalizationOperators,
    poolingOperators,
    randomOperators,
    reductionOperators,
    samplingOperators,
    shapeOperators,
    linalgOperators,
    numpyContractionOperators,
    numpyCreationOperators,
    numpyElementwiseOperators,
    numpyReductionOperators,
    numpyShapeOperators,
    recurrentOperators,
    sortingOperators,
    spatialOperators,
    unaryOperators,
};

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_OPERATORS_FAMILIES_H
