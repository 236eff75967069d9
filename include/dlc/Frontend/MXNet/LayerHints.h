// SPDX-License-Identifier: Apache-2.0
//
// Which layers of a network a file of parameters means, as its user says it.

#ifndef DLC_FRONTEND_MXNET_LAYERHINTS_H
#define DLC_FRONTEND_MXNET_LAYERHINTS_H

#include <map>
#include <string>

namespace dlc::mxnet {

/// What a user knows of a file that has names by structure ("body.0.weight"),
/// where these do not tell which layer is which.
struct LayerHints {
  /// Names of layers in the network ("net0_dense1") by their paths in the file
  /// ("body.0"); "" for a layer that is to be left out.
  std::map<std::string, std::string> scopeOf;
  /// Layers that only an order tells, not names, are believed to be in it: the
  /// one in which they were made or, where names do not count them, in which
  /// data flows.
  bool guesses = false;
};

} // namespace dlc::mxnet

#endif // DLC_FRONTEND_MXNET_LAYERHINTS_H
