// SPDX-License-Identifier: Apache-2.0
//
// All Graph operations, for the generated reference. The C++ classes are
// generated family by family.

#ifndef DLC_DIALECTS_GRAPH_GRAPHOPS_TD
#define DLC_DIALECTS_GRAPH_GRAPHOPS_TD

include "dlc/dialects/Graph/GraphBinary.td"
include "dlc/dialects/Graph/GraphContraction.td"
include "dlc/dialects/Graph/GraphIndexing.td"
include "dlc/dialects/Graph/GraphMatrix.td"
include "dlc/dialects/Graph/GraphMovement.td"
include "dlc/dialects/Graph/GraphNormalization.td"
include "dlc/dialects/Graph/GraphPlacement.td"
include "dlc/dialects/Graph/GraphPooling.td"
include "dlc/dialects/Graph/GraphQuantization.td"
include "dlc/dialects/Graph/GraphRecurrent.td"
include "dlc/dialects/Graph/GraphReduction.td"
include "dlc/dialects/Graph/GraphSampling.td"
include "dlc/dialects/Graph/GraphSignal.td"
include "dlc/dialects/Graph/GraphStructure.td"
include "dlc/dialects/Graph/GraphUnary.td"

#endif // DLC_DIALECTS_GRAPH_GRAPHOPS_TD
