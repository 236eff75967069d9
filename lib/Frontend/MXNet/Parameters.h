// SPDX-License-Identifier: Apache-2.0
//
// The arrays of a file of parameters and the variables that they are values of.

#ifndef DLC_LIB_FRONTEND_MXNET_PARAMETERS_H
#define DLC_LIB_FRONTEND_MXNET_PARAMETERS_H

#include "dlc/Symbol/Inference.h"
#include "dlc/Symbol/Json.h"
#include "dlc/runtime/IO/Params.h"

#include <map>
#include <memory>

namespace dlc::mxnet {

struct Parameters {
  std::shared_ptr<rt::ParamsList> list;
  std::map<std::string, const rt::ParamsArray *> byVariable;
  /// Names of arrays that are of no variable.
  std::vector<std::string> leftOver;
  /// Arrays that are at fault, by variable; these have no value then.
  std::vector<symbol::NodeFault> faults;
  /// Why a symbol has no shapes to match arrays with, if so.
  rt::Status symbolFault;
  /// How arrays with names by structure were matched, as a sentence; or "".
  std::string note;
};

/// Reads a file for a symbol: names of variables, also behind "arg:" and
/// "aux:", or names by structure, which need the shapes of the symbol's inputs;
/// `layers` are matchByStructure()'s `said`. Errors name the file and the
/// array.
rt::Result<Parameters>
readParameters(const symbol::Symbol &symbol, const symbol::KnownShapes &shapes,
               const std::string &path,
               const std::map<std::string, std::string> &layers = {});

} // namespace dlc::mxnet

#endif // DLC_LIB_FRONTEND_MXNET_PARAMETERS_H
