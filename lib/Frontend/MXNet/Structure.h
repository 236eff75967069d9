// SPDX-License-Identifier: Apache-2.0
//
// Parameters that blocks saved have names by structure ("features.0.weight"),
// which no symbol has. They are matched by what both sides have: layers, with
// the kinds and shapes of their parameters, in the order in which they were
// made.

#ifndef DLC_LIB_FRONTEND_MXNET_STRUCTURE_H
#define DLC_LIB_FRONTEND_MXNET_STRUCTURE_H

#include "dlc/Symbol/Inference.h"
#include "dlc/runtime/IO/Params.h"

#include <map>

namespace dlc::mxnet {

/// The variable of each array of a list. `known` has the shapes of inputs, from
/// which those of all parameters must follow. InvalidArgument where layers are
/// left over on one side, or where more than one of the other fits and nothing
/// tells which.
rt::Result<std::map<std::string, std::string>>
matchByStructure(const symbol::Symbol &symbol, const symbol::KnownShapes &known,
                 const rt::ParamsList &list);

} // namespace dlc::mxnet

#endif // DLC_LIB_FRONTEND_MXNET_STRUCTURE_H
