// SPDX-License-Identifier: Apache-2.0
//
// Which inputs of a kernel may share memory with its outputs.

#include "PlannerImpl.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;

/// True if writing `output`, in the last stage, cannot spoil a read of `input`:
/// the last stage reads it where it writes, and earlier ones read it within
/// their tile. What else the last stage writes at that place lies elsewhere.
bool Planner::readsAllow(unsigned input, unsigned output) {
  Value argument = kernel.getArgument(input);
  Value result = kernel.getBody().front().getTerminator()->getOperand(output);
  const Stage &last = plan.stages.back();
  const auto *written = llvm::find_if(
      last.outputs,
      [&](const StageOutput &out) { return out.tensor == result; });
  if (written == last.outputs.end() || written->old)
    return false;
  for (const Stage &stage : ArrayRef<Stage>(plan.stages).drop_back())
    for (const StageOutput &out : stage.outputs)
      if (out.tensor == result)
        return false;
  for (const Stage &stage : plan.stages) {
    if (llvm::any_of(stage.captures, [&](const StageCapture &capture) {
          return capture.tensor == argument;
        }))
      return false;
    for (const StageInput &in : stage.inputs) {
      if (in.tensor != argument)
        continue;
      if (&stage == &last) {
        if (in.at != written->at)
          return false;
        continue;
      }
      for (unsigned dim = 0; dim < gridDims.size(); ++dim)
        if (gridDims[dim] >= in.at.size() ||
            in.at[gridDims[dim]].asLoop() != dim)
          return false;
    }
  }
  return true;
}

void Planner::findInPlace() {
  Operation *terminator = kernel.getBody().front().getTerminator();
  for (unsigned output = 0; output < sources.size(); ++output)
    for (unsigned input = 0; input < kernel.getNumArguments(); ++input)
      if (kernel.getArgument(input).getType() ==
              terminator->getOperand(output).getType() &&
          sources[output].getType() == kernel.getArgument(input).getType() &&
          readsAllow(input, output))
        plan.inPlace.append({input, output});
}
