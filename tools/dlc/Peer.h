// SPDX-License-Identifier: Apache-2.0
//
// What a peer's library takes for the calls of ours: oneDNN, by its C API of
// version 2, opened where it is asked for.

#ifndef DLC_TOOLS_DLC_PEER_H
#define DLC_TOOLS_DLC_PEER_H

#include "dlc/abi/Artifact_generated.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlc::tool {

/// act(x * w + bias + what is there), over windows or as matrices.
struct PeerCall {
  bool isConvolution = false;
  /// Convolution: x [N, C, ...], w [OC, C/group, ...], y [N, OC, ...].
  /// Product: x [..., M, K], w [..., K, N], y [..., M, N]; with batches as
  /// NumPy's.
  std::vector<int64_t> x, w, y;
  std::vector<int64_t> strides, dilations;
  std::vector<int64_t> pads; ///< Begins, then ends.
  int64_t group = 1;
  bool transposedX = false, transposedW = false; ///< In memory; products.
  bool isConstantW = false; ///< May be in the form that the peer likes best.
  bool hasBias = false, addsToY = false;
  std::string activation;
  float alpha = 0, beta = 0;
};

/// The calls that do what `launch` of `program`, with the kernels of `whole`,
/// does: a chain of convolutions is as many. None for kernels that are no
/// convolutions or products of a library.
std::vector<PeerCall> peerCallsOf(const abi::Program &whole,
                                  const abi::Program &program,
                                  const abi::Launch &launch);

class PeerLibrary {
public:
  /// Throws a Failure where the library is missing, or its headers were when
  /// this was built. Calls run on `threads` threads.
  explicit PeerLibrary(unsigned threads);
  ~PeerLibrary();

  /// "oneDNN 2.6.3"
  std::string name() const;

  /// The least of `runs` times, or of more in 20 ms, with operands in the
  /// layouts that the library asks for, in caches as far as they fit;
  /// reordering them is not counted. Nullopt for what the library does not
  /// compute.
  std::optional<double> microsecondsOf(const PeerCall &call, unsigned runs);

  struct State;

private:
  std::unique_ptr<State> state;
};

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_PEER_H
