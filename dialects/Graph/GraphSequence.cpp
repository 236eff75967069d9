// SPDX-License-Identifier: Apache-2.0
//
// Quantisation, recurrent layers and signals.

#include "dlc/dialects/Graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphQuantization.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphRecurrent.h.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphSignal.h.inc"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphQuantization.cpp.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphRecurrent.cpp.inc"
#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphSignal.cpp.inc"

void GraphDialect::addSequenceOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphQuantization.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphRecurrent.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphSignal.cpp.inc"
      >();
}
