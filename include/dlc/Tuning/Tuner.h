// SPDX-License-Identifier: Apache-2.0
//
// Times of library calls, measured on this machine: what decides between
// algorithms and layouts where somebody asks for more than a model of them.

#ifndef DLC_TUNING_TUNER_H
#define DLC_TUNING_TUNER_H

#include "dlc/Tuning/Table.h"
#include "dlc/runtime/Kernel/Library.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace dlc::tuning {

/// A call as a compiler sees it: operands in the shapes they have in a graph,
/// no workspace.
struct Call {
  rt::KernelCall view() const { return {inputs, outputs, attributes}; }

  const rt::LibraryEntry *entry = nullptr; ///< Not null where it is timed.
  std::vector<rt::TensorType> inputs, outputs;
  rt::Attributes attributes;
  /// Operands that are handed over packed; the attributes say in which form.
  std::vector<size_t> packed;
};

/// The entry and everything of the call that its time depends on, in one line.
std::string keyOf(const Call &call);

/// Best nanoseconds of one launch of each call on one thread, on operands of
/// small numbers: of two launches at least, for 20 milliseconds, but none is
/// begun after `most`, other than the first of each. They take turns, as many
/// as have memory at a time, so that what slows down all of them for a while
/// decides nothing between them. Errors of a call: those of prepare(),
/// OutOfMemory, Unsupported (operands of more than a gigabyte).
std::vector<rt::Result<uint64_t>>
measure(std::span<const Call> calls,
        std::chrono::nanoseconds most = std::chrono::hours(1));

/// Answers with times that are known and measures others while its budget
/// lasts. Safe to use from several threads: one measures at a time.
class Tuner {
public:
  struct Options {
    bool measures = false; ///< Otherwise only what is known is told.
    std::chrono::nanoseconds budget = std::chrono::seconds(10);
  };
  struct Counts {
    size_t known = 0, measured = 0; ///< Before, and by this one.
    size_t missing = 0;             ///< Neither known nor measured.
  };

  Tuner(Times known, Options options)
      : options(options), known(std::move(known)) {}

  /// Nanoseconds of each call, as far as they are known or measured in time.
  std::vector<std::optional<uint64_t>> timesOf(std::span<const Call> calls);

  /// What was measured.
  Times measuredTimes() const;
  /// Of the calls that were asked for, each once.
  Counts counts() const;

private:
  void measureUnknown(std::span<const Call> calls);

  const Options options;
  mutable std::mutex mutex;
  Times known;
  std::map<std::string, bool, std::less<>> asked; ///< Whether it was measured.
  std::chrono::nanoseconds spent{0};
};

} // namespace dlc::tuning

#endif // DLC_TUNING_TUNER_H
