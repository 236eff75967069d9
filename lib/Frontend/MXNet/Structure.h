// SPDX-License-Identifier: Apache-2.0
//
// Parameters that blocks saved have names by structure ("features.0.weight"),
// which no symbol has. They are matched by what both sides have: layers, with
// the kinds and shapes of their parameters; LayerOrder.h tells those apart that
// have the same.

#ifndef DLC_LIB_FRONTEND_MXNET_STRUCTURE_H
#define DLC_LIB_FRONTEND_MXNET_STRUCTURE_H

#include "dlc/Frontend/MXNet/LayerHints.h"
#include "dlc/Symbol/Inference.h"
#include "dlc/runtime/IO/Params.h"

#include <map>

namespace dlc::mxnet {

struct StructureMatch {
  /// The variable of each array. Copies of what blocks share are left out.
  std::map<std::string, std::string> variableOf;
  /// Layers that were guessed, "body.0 as net0_dense1".
  std::vector<std::string> guessed;
  /// Paths of layers that are of no use, as `hints` say.
  std::vector<std::string> leftOver;
};

/// `known` has the shapes of inputs, from which those of all parameters must
/// follow in `shapes`. InvalidArgument where layers are left over on one side,
/// or where more than one of the other fits and nothing tells which.
rt::Result<StructureMatch>
matchByStructure(const symbol::Symbol &symbol, const symbol::KnownShapes &known,
                 const symbol::Inferred<symbol::Shape> &shapes,
                 const LayerHints &hints, const rt::ParamsList &list);

} // namespace dlc::mxnet

#endif // DLC_LIB_FRONTEND_MXNET_STRUCTURE_H
