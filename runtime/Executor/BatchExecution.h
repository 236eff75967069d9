// SPDX-License-Identifier: Apache-2.0
//
// The execution of a batch of any size: those of its programs run over the
// examples one after the other.

#ifndef DLC_RUNTIME_EXECUTOR_BATCHEXECUTION_H
#define DLC_RUNTIME_EXECUTOR_BATCHEXECUTION_H

#include "BatchRuns.h"
#include "PartExecutions.h"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace dlc::rt {

class BatchExecution {
public:
  /// `parts` are the executions of the program's parts: borrowed. Errors:
  /// OutOfMemory.
  static Result<std::unique_ptr<BatchExecution>>
  create(const Program::State &program, const PartExecutions &parts);

  /// The number of examples, by the shapes of all values. Errors:
  /// InvalidArgument (inputs do not agree).
  Result<int64_t>
  countExamples(std::span<const std::vector<int64_t>> shapes) const;
  /// The shape of output `index` for so many examples, until the next call.
  /// Errors: OutOfMemory.
  Result<std::span<const int64_t>> shapeOfOutput(size_t index, int64_t count);
  /// Computes `count` examples; `addresses` of all values has those of inputs
  /// and outputs.
  Status run(int64_t count, std::span<void *const> addresses);

private:
  /// An input or an output, as one example has it.
  struct PortRows {
    std::vector<int64_t> shape; ///< Of one example, or of all.
    bool isShared;              ///< The same for all examples.
    uint64_t bytes;             ///< Of `shape`.
    uint64_t padded;            ///< Where a batch with more rows is, in `pad`.
  };
  BatchExecution(const Program::State &program, const PartExecutions &parts);
  Status allocate();
  bool findRows(std::span<const Port> whole, std::span<const Port> one,
                std::vector<PortRows> &rows, uint64_t &end);
  Status runOnce(const BatchRun &run, std::span<void *const> addresses);
  Status runPadded(const BatchRun &run);
  Status runAt(uint32_t program);

  const Program::State &program;
  std::vector<BatchProgram> programs;
  const PartExecutions &executions;
  std::vector<PortRows> inputRows, outputRows;
  /// For what is computed of a batch that is smaller than its program: pages
  /// that are not touched before.
  PageBuffer pad;
  std::vector<void *> inputs, outputs; ///< Of the run under way.
  std::array<int64_t, DLC_MAX_RANK> shape;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_BATCHEXECUTION_H
