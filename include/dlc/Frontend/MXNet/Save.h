// SPDX-License-Identifier: Apache-2.0
//
// A network of MXNet of any age as MXNet 1.9.1 writes it: operators and
// attributes in their present form, values under the names of variables.

#ifndef DLC_FRONTEND_MXNET_SAVE_H
#define DLC_FRONTEND_MXNET_SAVE_H

#include "dlc/Frontend/MXNet/Import.h"
#include "dlc/runtime/IO/Params.h"

namespace dlc::mxnet {

struct SavedNetwork {
  std::string json;
  /// "arg:NAME" and "aux:NAME", for rt::writeParams(); views of `list`.
  std::vector<rt::ParamsArray> arrays;
  std::shared_ptr<const rt::ParamsList> list;
  /// What the user should know, a sentence each.
  std::vector<std::string> notes;
};

/// Reads the file of a network and, where `options` name one, that of its
/// parameters. Errors, the first that there is, name the file, the node or the
/// array.
rt::Result<SavedNetwork> readNetwork(const std::string &path,
                                     const ImportOptions &options);

} // namespace dlc::mxnet

#endif // DLC_FRONTEND_MXNET_SAVE_H
