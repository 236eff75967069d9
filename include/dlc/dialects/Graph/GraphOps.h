// SPDX-License-Identifier: Apache-2.0
//
// All operations of the Graph dialect.

#ifndef DLC_DIALECTS_GRAPH_GRAPHOPS_H
#define DLC_DIALECTS_GRAPH_GRAPHOPS_H

#include "dlc/dialects/Graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphBinary.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphContraction.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphIndexing.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphMatrix.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphMovement.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphNormalization.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphPooling.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphQuantization.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphRecurrent.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphReduction.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphSampling.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphSignal.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphStructure.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphUnary.h.inc"

#endif // DLC_DIALECTS_GRAPH_GRAPHOPS_H
