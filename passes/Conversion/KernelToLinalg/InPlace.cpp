// SPDX-License-Identifier: Apache-2.0
//
// Which inputs of a kernel may share memory with its outputs.

#include "PlannerImpl.h"

#include "dlc/runtime/Kernel/Library.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;

/// The stage that alone writes `result`, and its output; null if there are
/// several, or the output is combined with what was there.
static std::pair<const Stage *, const StageOutput *>
findWriter(ArrayRef<Stage> stages, Value result) {
  std::pair<const Stage *, const StageOutput *> found = {};
  for (const Stage &stage : stages)
    for (const StageOutput &out : stage.outputs) {
      if (out.tensor != result)
        continue;
      if (found.first || out.old)
        return {};
      found = {&stage, &out};
    }
  return found;
}

/// True if writing `output` cannot spoil a read of `input`: the stage that
/// writes reads it where it writes, those before it read it, and it is written,
/// within their tile, and those after it do not. What else a stage writes lies
/// elsewhere.
bool Planner::readsAllow(unsigned input, unsigned output) {
  Value argument = kernel.getArgument(input);
  Value result = kernel.getBody().front().getTerminator()->getOperand(output);
  auto [writer, written] = findWriter(plan.stages, result);
  if (!writer)
    return false;
  auto areInOneTile = [&](const Position &read, const Position &write) {
    return llvm::all_of(llvm::seq<unsigned>(plan.grid.size()), [&](auto loop) {
      return llvm::any_of(llvm::zip(read, write), [&](auto indices) {
        auto [of, to] = indices;
        return of.asLoop() == loop && to.asLoop() == loop;
      });
    });
  };
  for (const Stage &stage : plan.stages) {
    if (llvm::any_of(stage.captures, [&](const StageCapture &capture) {
          return capture.tensor == argument;
        }))
      return false;
    for (const StageInput &in : stage.inputs) {
      if (in.tensor != argument)
        continue;
      if (&stage > writer)
        return false;
      if (&stage == writer) {
        if (in.at != written->at)
          return false;
        continue;
      }
      // A tile that is written across others would spoil what they read.
      if (!areInOneTile(in.at, written->at))
        return false;
    }
  }
  return true;
}

/// Whether the library that may compute the kernel, too, allows it: generated
/// code writes a tile when it has read what it needs, a library anything at any
/// time.
static bool entryAllows(kernel::FuncOp kernel, unsigned input) {
  if (!kernel.getEntry())
    return true;
  const rt::LibraryEntry *entry =
      rt::lookupLibraryEntry(std::string_view(*kernel.getEntry()));
  return entry &&
         llvm::all_of(llvm::enumerate(*kernel.getEntryOperands()),
                      [&](auto operand) {
                        return operand.value() != int64_t(input) ||
                               int(operand.index()) == entry->inPlaceOperand;
                      });
}

void Planner::findInPlace() {
  Operation *terminator = kernel.getBody().front().getTerminator();
  for (unsigned output = 0; output < sources.size(); ++output)
    for (unsigned input = 0; input < kernel.getNumArguments(); ++input)
      if (kernel.getArgument(input).getType() ==
              terminator->getOperand(output).getType() &&
          sources[output].getType() == kernel.getArgument(input).getType() &&
          entryAllows(kernel, input) && readsAllow(input, output))
        plan.inPlace.append({input, output});
}
