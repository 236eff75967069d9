// SPDX-License-Identifier: Apache-2.0

#include "DynamicCalls.h"

#include <algorithm>

using namespace dlc::rt;

static std::vector<TensorType> typesOf(std::span<const TensorView> tensors) {
  std::vector<TensorType> types;
  for (const TensorView &tensor : tensors)
    types.push_back(
        tensor.type == DLC_INVALID_TYPE
            ? TensorType()
            : TensorType{tensor.type,
                         {tensor.shape.begin(), tensor.shape.end()}});
  return types;
}

/// Without a kernel where the library does not take the call, or there is
/// nothing to compute.
static DynamicCall makeCall(const LibraryEntry &entry,
                            std::string_view operation,
                            std::span<const TensorView> inputs,
                            std::span<const TensorView> outputs,
                            const Attributes &given) {
  DynamicCall made;
  auto hasElements = [](const TensorView &tensor) {
    return tensor.type == DLC_INVALID_TYPE || tensor.size() > 0;
  };
  if (!std::ranges::all_of(inputs, hasElements) ||
      !std::ranges::all_of(outputs, hasElements))
    return made;
  const std::vector<TensorType> inputTypes = typesOf(inputs);
  std::vector<TensorType> outputTypes = typesOf(outputs);
  Attributes attributes;
  if (!entry.fromOperation(operation, {inputTypes, outputTypes, given},
                           attributes))
    return made;
  std::string why;
  if (entry.isSupported &&
      !entry.isSupported({inputTypes, outputTypes, attributes}, why))
    return made;
  if (entry.workspaceBytes)
    made.workspaceBytes =
        entry.workspaceBytes({inputTypes, outputTypes, attributes});
  if (made.workspaceBytes)
    outputTypes.push_back(
        {DLC_I8, {static_cast<int64_t>(made.workspaceBytes)}});
  const KernelCall call{inputTypes, outputTypes, attributes};
  std::unique_ptr<PreparedKernel> prepared;
  if (!entry.prepare(call, prepared).isOk())
    return made;
  uint64_t steps = 0;
  for (const PreparedKernel *kernel = prepared.get(); kernel;
       kernel = kernel->next())
    ++steps;
  if (entry.cost)
    made.nanoseconds = nanosecondsOf(entry.cost(call)) / steps;
  made.kernel = std::move(prepared);
  return made;
}

const DynamicCall *DynamicCalls::find(const LibraryEntry &entry,
                                      std::string_view operation,
                                      std::span<const TensorView> inputs,
                                      std::span<const TensorView> outputs,
                                      const Attributes &attributes) {
  wanted.clear();
  for (const TensorView &tensor : inputs) {
    wanted.push_back(tensor.type == DLC_INVALID_TYPE ? -1 : tensor.rank());
    if (tensor.type != DLC_INVALID_TYPE)
      wanted.insert(wanted.end(), tensor.shape.begin(), tensor.shape.end());
  }
  auto found = std::ranges::find(known, wanted, &Known::shapes);
  if (found == known.end()) {
    Known made{wanted, makeCall(entry, operation, inputs, outputs, attributes)};
    if (known.size() < mostKnown) {
      known.push_back(std::move(made));
      found = known.end() - 1;
    } else {
      found = known.begin() + static_cast<ptrdiff_t>(oldest);
      *found = std::move(made);
      oldest = (oldest + 1) % mostKnown;
    }
  }
  return found->call.kernel ? &found->call : nullptr;
}
