// SPDX-License-Identifier: Apache-2.0
//
// In place of FlowGraph.cpp in a build without oneTBB.

#include "Peer.h"

using namespace dlc::bench;

bool dlc::bench::hasFlowGraph() { return false; }

std::unique_ptr<Peer> dlc::bench::makeFlowGraphPeer(unsigned) {
  return nullptr;
}

std::unique_ptr<RecordedSchedule> dlc::bench::recordFlowGraph(const Schedule &,
                                                              unsigned) {
  return nullptr;
}
