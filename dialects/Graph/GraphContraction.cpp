// SPDX-License-Identifier: Apache-2.0
//
// Contractions and convolutions.

#include "dlc/dialects/Graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphContraction.h.inc"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphContraction.cpp.inc"

void GraphDialect::addContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphContraction.cpp.inc"
      >();
}
