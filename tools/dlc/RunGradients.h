// SPDX-License-Identifier: Apache-2.0
//
// What dlc run --train adds to a run: gradients in, gradients out.

#ifndef DLC_TOOLS_DLC_RUNGRADIENTS_H
#define DLC_TOOLS_DLC_RUNGRADIENTS_H

#include "Command.h"

namespace dlc::tool {

/// The options of dlc run that gradients need.
struct GradientFiles {
  bool train = false;
  std::string heads;   ///< Gradients of outputs, by their names (.npz).
  std::string results; ///< Where those of inputs go, by their names (.npz).

  void add(Syntax &syntax);
  /// Throws a Failure (usage) where an option lacks another.
  void checkUsage() const;
  /// The gradients of outputs that were given; none without a file.
  NamedTensors readHeads() const;
  /// Writes the gradients of the model's inputs and parameters of floats.
  void write(const LoadedModel &loaded, rt::Execution &execution) const;
};

/// The names, in order.
std::vector<std::string> namesOf(const NamedTensors &tensors);

/// Adds the values of the program's inputs that hold gradients of outputs to
/// `values`: `heads`, for which the program was compiled, or ones.
void addHeads(const LoadedModel &loaded, const std::string &file,
              NamedTensors heads, NamedTensors &values);

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_RUNGRADIENTS_H
