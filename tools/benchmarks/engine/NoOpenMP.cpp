// SPDX-License-Identifier: Apache-2.0
//
// In place of OpenMP.cpp in a build without OpenMP.

#include "Peer.h"

using namespace dlc::bench;

bool dlc::bench::hasOpenMP() { return false; }

std::unique_ptr<Peer> dlc::bench::makeOpenMPPeer(unsigned) { return nullptr; }
