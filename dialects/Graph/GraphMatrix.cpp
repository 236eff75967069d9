// SPDX-License-Identifier: Apache-2.0
//
// Factors, inverses and determinants of matrices.

#include "dlc/dialects/Graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphMatrix.h.inc"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphMatrix.cpp.inc"

void GraphDialect::addMatrixOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphMatrix.cpp.inc"
      >();
}
