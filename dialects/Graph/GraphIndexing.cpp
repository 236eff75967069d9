// SPDX-License-Identifier: Apache-2.0
//
// Indexing and resampling.

#include "dlc/dialects/Graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphIndexing.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphSampling.h.inc"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphIndexing.cpp.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphSampling.cpp.inc"

void GraphDialect::addIndexingOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphIndexing.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphSampling.cpp.inc"
      >();
}
