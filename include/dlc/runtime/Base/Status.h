// SPDX-License-Identifier: Apache-2.0
//
// The error type of the runtime: one pointer, null when all is well, so that
// the success path costs one compare and no allocation.

#ifndef DLC_RUNTIME_BASE_STATUS_H
#define DLC_RUNTIME_BASE_STATUS_H

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dlc::rt {

/// What kind of failure a Status reports. Values are part of the C API:
/// append, never reorder.
enum class StatusCode : int {
  Ok = 0,
  InvalidArgument = 1, ///< The caller's values are at fault.
  NotFound = 2,        ///< A file, name or symbol does not exist.
  OutOfMemory = 3,     ///< An allocation failed.
  Unsupported = 4,     ///< Well formed, but this build cannot do it.
  DataLoss = 5,        ///< A file is truncated or corrupt.
  Internal = 6,        ///< A fault of DLC itself.
  Unavailable = 7,     ///< A device or a file cannot be used now.
};

/// The outcome of an operation: OK, or a code with a message in lower case
/// that says what was expected and what was found.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : state(std::make_unique<State>(State{code, std::move(message)})) {}

  static Status ok() { return Status(); }

  bool isOk() const { return !state; }
  StatusCode code() const { return state ? state->code : StatusCode::Ok; }
  const std::string &message() const;

  /// Returns the same failure with "context: " in front of its message.
  Status withContext(std::string_view context) &&;

private:
  struct State {
    StatusCode code;
    std::string message;
  };
  std::unique_ptr<State> state;
};

/// Builds a failure from a printf-like format.
Status makeError(StatusCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// A value or the Status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::move(value)) {}
  Result(Status status) : error(std::move(status)) {}

  bool isOk() const { return storage.has_value(); }
  Status &status() { return error; }
  T &operator*() { return *storage; }
  T *operator->() { return &*storage; }

private:
  std::optional<T> storage;
  Status error;
};

} // namespace dlc::rt

/// Returns from the enclosing function when `expr` is a failure.
#define DLC_RETURN_IF_ERROR(expr)                                              \
  do {                                                                         \
    if (::dlc::rt::Status dlcStatus = (expr); !dlcStatus.isOk())               \
      return dlcStatus;                                                        \
  } while (false)

#endif // DLC_RUNTIME_BASE_STATUS_H
