// SPDX-License-Identifier: Apache-2.0

#include "CublasLt.h"

#include <dlfcn.h>
#include <new>
#include <string_view>

using namespace dlc::rt;
using namespace dlc::rt::cuda::cublaslt;

/// The name that the library exports for a member, for messages.
static const char *symbolOf(std::string_view member) {
#define DLC_CUBLASLT_NAME(name, symbol, result, arguments)                     \
  if (member == #name)                                                         \
    return #symbol;
  DLC_CUBLASLT_FUNCTIONS(DLC_CUBLASLT_NAME)
#undef DLC_CUBLASLT_NAME
  return "the library";
}

Status Library::error(const char *function, Code code) const {
  StatusCode status = code == allocationFailed ? StatusCode::OutOfMemory
                      : code == notSupported   ? StatusCode::Unsupported
                                               : StatusCode::Unavailable;
  const char *text = getStatusString(code);
  return makeError(status, "%s failed with error %d (%s)", symbolOf(function),
                   code, text ? text : "no description");
}

Result<std::shared_ptr<const Library>> Library::open() {
  std::shared_ptr<Library> opened(new (std::nothrow) Library);
  if (!opened)
    return makeError(StatusCode::OutOfMemory, "no memory for a library");
  // It is never closed: like the driver's, its threads may outlive us.
  for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"})
    if (!opened->library)
      opened->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!opened->library)
    return makeError(StatusCode::Unavailable,
                     "there is neither libcublasLt.so.13 nor "
                     "libcublasLt.so.12");
#define DLC_CUBLASLT_RESOLVE(name, symbol, result, arguments)                  \
  opened->name = reinterpret_cast<decltype(opened->name)>(                     \
      dlsym(opened->library, #symbol));                                        \
  if (!opened->name)                                                           \
    return makeError(StatusCode::Unavailable, "libcublasLt has no " #symbol);
  DLC_CUBLASLT_FUNCTIONS(DLC_CUBLASLT_RESOLVE)
#undef DLC_CUBLASLT_RESOLVE
  return std::shared_ptr<const Library>(std::move(opened));
}
