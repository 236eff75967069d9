// SPDX-License-Identifier: Apache-2.0
//
// For builds that found no headers of oneDNN 2.

#include "Command.h"
#include "Peer.h"

using namespace dlc::tool;

struct PeerLibrary::State {};

PeerLibrary::PeerLibrary(unsigned) {
  throw Failure{"this dlc was built without the headers of oneDNN 2"};
}

PeerLibrary::~PeerLibrary() = default;

std::string PeerLibrary::name() const { return ""; }

std::optional<double> PeerLibrary::microsecondsOf(const PeerCall &, unsigned) {
  return std::nullopt;
}
