// SPDX-License-Identifier: Apache-2.0
//
// Errors on their way from the operation that failed to the wait that returns
// them.

#ifndef DLC_RUNTIME_ENGINE_FAILURE_H
#define DLC_RUNTIME_ENGINE_FAILURE_H

#include "dlc/runtime/Base/Status.h"

#include <cstdint>
#include <string>

namespace dlc::rt {

/// The error of one operation.
struct Failure {
  uint32_t references = 0;
  bool isDelivered = false;
  bool isOfGivenUp = false; ///< The operation was given up.
  StatusCode code = StatusCode::Ok;
  std::string text; ///< Names the operation and its origin.
  Failure *previous = nullptr, *next = nullptr; ///< Among the undelivered.
};

/// An error at one variable or operation that it has reached: which, and over
/// which skipped operations. Shared, immutable.
struct Poison {
  uint32_t references = 0;
  Failure *failure = nullptr;
  std::string way; ///< "'relu' (net: 7), 'pool'"
  uint32_t length = 0;
};

/// All errors of an engine. Guarded by the engine's lock. Where memory for an
/// error is missing, one that says so takes its place.
class FailureBook {
public:
  FailureBook();
  FailureBook(const FailureBook &) = delete;
  FailureBook &operator=(const FailureBook &) = delete;
  ~FailureBook();

  /// The poison of an operation that failed with `status`, one reference for
  /// the caller. Texts may be null.
  Poison *fail(const Status &status, const char *name, const char *origin);

  /// The poison that a skipped operation hands on, one reference for the
  /// caller. Texts may be null.
  Poison *extend(Poison *poison, const char *name, const char *origin);

  static Poison *retain(Poison *poison) {
    ++poison->references;
    return poison;
  }
  void release(Poison *poison); ///< Null is ignored.

  /// Nobody has returned the error yet.
  static bool isAlive(const Poison *poison) {
    return poison && !poison->failure->isDelivered;
  }

  /// The error of `poison`, and OK for null or when it was returned before.
  Status deliver(const Poison *poison);

  /// The first error not yet returned, counting the others; all are returned
  /// by this.
  Status deliverAll();

  /// The error of an operation that was given up.
  void markGivenUp(Poison *poison);
  /// All those were returned in another way.
  void deliverGivenUp();

private:
  /// Names of skipped operations that one text shows.
  static constexpr uint32_t shownNames = 8;

  void append(Failure *failure);
  void unlink(Failure *failure);
  void release(Failure *failure);

  Failure *first = nullptr, *last = nullptr; ///< In the order of failing.
  Failure missingFailure;
  Poison missingPoison; ///< Used where memory for another is missing.
};

/// What a close gives up, for its error.
class GivenUp {
public:
  /// An operation that has not completed.
  void addHanging(const std::string &title);
  /// One that has not started, with what holds it up; the first is told.
  void nameWaiting(const std::string &title);
  /// One that is passed over, because it had not started.
  void addSkipped() { ++skippedCount; }
  /// Ok when nothing was given up.
  Status status() const;

private:
  static constexpr size_t shownNames = 8;
  std::string hanging, waiting;
  size_t hangingCount = 0, skippedCount = 0;
};

/// "operation 'conv' (net.onnx: 3)", for messages. Texts may be null.
std::string describeOperation(const char *name, const char *origin);

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_FAILURE_H
