// SPDX-License-Identifier: Apache-2.0
//
// What the files of libdlc.so share: handles and statuses.

#ifndef DLC_LIB_CAPI_HANDLES_H
#define DLC_LIB_CAPI_HANDLES_H

#include "dlc-c/Symbol.h"

#include "dlc/Compiler/Compiler.h"
#include "dlc/runtime/Base/Status.h"

#include <map>
#include <string>

struct DlcCompilerImpl {
  explicit DlcCompilerImpl(dlc::CompileOptions options)
      : compilation(std::move(options)) {}

  dlc::Compilation compilation;
  std::vector<dlc::ModelPort> inputs, outputs;
  std::string text;
  dlc::Phase reached = dlc::Phase::Import;
  enum { Empty, HasModel, Failed } state = Empty;
};

namespace dlc::capi {

DlcStatus invalid(const std::string &message);
/// "expected <what>, got null".
DlcStatus missing(const char *what);
/// The same failure as a status of libdlc_rt.so.
DlcStatus toStatus(const rt::Status &status);

/// Notes devices in `devices`, by group. Errors: InvalidArgument (null, two
/// devices of a group).
rt::Status noteGroups(const DlcGroupDevice *groups, size_t count,
                      std::map<std::string, std::string> &devices);

/// Runs `import` on a compiler without a model.
DlcStatus
importModel(DlcCompiler compiler,
            llvm::function_ref<llvm::LogicalResult(Compilation &)> import);

} // namespace dlc::capi

#endif // DLC_LIB_CAPI_HANDLES_H
