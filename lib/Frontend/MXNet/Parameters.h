// SPDX-License-Identifier: Apache-2.0
//
// The arrays of a file of parameters and the variables that they are values of.

#ifndef DLC_LIB_FRONTEND_MXNET_PARAMETERS_H
#define DLC_LIB_FRONTEND_MXNET_PARAMETERS_H

#include "dlc/Frontend/MXNet/LayerHints.h"
#include "dlc/Symbol/Inference.h"
#include "dlc/Symbol/Json.h"
#include "dlc/runtime/IO/Params.h"

#include <map>
#include <memory>

namespace dlc::mxnet {

struct Parameters {
  std::shared_ptr<rt::ParamsList> list;
  std::map<std::string, const rt::ParamsArray *> byVariable;
  /// Names of arrays that are of no variable, or paths of their layers.
  std::vector<std::string> leftOver;
  /// Arrays that are at fault, by variable.
  std::vector<symbol::NodeFault> faults;
  /// Why a symbol has no shapes to match arrays with, if so.
  rt::Status symbolFault;
  /// What of names by structure was guessed, as a sentence; or "".
  std::string note;
};

/// Reads a file for a symbol: names of variables, also behind "arg:" and
/// "aux:", or names by structure, which need the shapes of the symbol's inputs.
/// Errors name the file and the array.
rt::Result<Parameters> readParameters(const symbol::Symbol &symbol,
                                      const symbol::KnownShapes &shapes,
                                      const std::string &path,
                                      const LayerHints &layers = {});

/// The same for a part of a symbol: only what has the name of a variable.
rt::Result<Parameters> readNamedParameters(const symbol::Symbol &symbol,
                                           const std::string &path);

} // namespace dlc::mxnet

#endif // DLC_LIB_FRONTEND_MXNET_PARAMETERS_H
