// SPDX-License-Identifier: Apache-2.0

#include "DynamicCalls.h"

#include <algorithm>
#include <cmath>

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

namespace {

/// One way to compute an operation.
struct Candidate {
  std::vector<TensorType> inputs, outputs;
  Attributes attributes;
  PackedConstants::Packed packed = nullptr;

  KernelCall call() const { return {inputs, outputs, attributes}; }
};

} // namespace

static bool areFinite(std::span<const float> values) {
  return std::ranges::all_of(values,
                             [](float value) { return std::isfinite(value); });
}

static PackedConstants::Packed pack(const LibraryEntry &entry,
                                    const KernelCall &call, size_t bytes,
                                    const void *constant) {
  const std::optional<int64_t> count = elementCount(call.inputs[1].shape);
  if (!count || (entry.packsFinite && entry.packsFinite(call, 1) &&
                 !areFinite({static_cast<const float *>(constant),
                             static_cast<size_t>(*count)})))
    return nullptr;
  Result<AlignedBuffer> buffer = AlignedBuffer::allocate(bytes);
  if (!buffer.isOk())
    return nullptr;
  entry.pack(call, 1, constant, buffer->data());
  return std::make_shared<const AlignedBuffer>(std::move(*buffer));
}

/// `plain` by an algorithm, with its constant packed; nothing where the library
/// has no such call, or it takes longer.
static std::optional<Candidate> tryAlgorithm(const DynamicEntry &from,
                                             const Candidate &plain,
                                             std::string_view algorithm,
                                             PackedConstants &constants) {
  const LibraryEntry &entry = *from.entry;
  Candidate candidate = plain;
  candidate.attributes.set("algorithm", std::string(algorithm));
  candidate.attributes.set(entry.packedFlag, int64_t(1));
  std::string why;
  if (!entry.isSupported(candidate.call(), why) ||
      nanosecondsOf(entry.cost(candidate.call())) >=
          nanosecondsOf(entry.cost(plain.call())))
    return std::nullopt;
  const size_t bytes = entry.packedBytes(candidate.call(), 1);
  candidate.packed = constants.find(
      from.constant, std::string(algorithm) + ":" + std::to_string(bytes),
      [&] { return pack(entry, candidate.call(), bytes, from.constant); });
  if (!candidate.packed)
    return std::nullopt;
  candidate.attributes.set(packedShapeName(1), plain.inputs[1].shape);
  candidate.inputs[1].shape = {static_cast<int64_t>(bytes / sizeof(float))};
  return candidate;
}

DynamicCall dlc::rt::makeCall(const DynamicEntry &from,
                              std::span<const TensorView> inputs,
                              std::span<const TensorView> outputs,
                              PackedConstants &constants) {
  DynamicCall made;
  auto hasElements = [](const TensorView &tensor) {
    return tensor.type == DLC_INVALID_TYPE || tensor.size() > 0;
  };
  if (!std::ranges::all_of(inputs, hasElements) ||
      !std::ranges::all_of(outputs, hasElements))
    return made;
  const LibraryEntry &entry = *from.entry;
  Candidate best{typesOf(inputs), typesOf(outputs), {}};
  std::string why;
  if (!entry.fromOperation(from.operation,
                           {best.inputs, best.outputs, *from.attributes},
                           best.attributes) ||
      (entry.isSupported && !entry.isSupported(best.call(), why)))
    return made;
  if (from.anyAlgorithm && from.constant && !entry.packedFlag.empty())
    for (std::string_view algorithm : entry.algorithms)
      if (std::optional<Candidate> faster =
              tryAlgorithm(from, best, algorithm, constants)) {
        best = std::move(*faster);
        break;
      }
  if (entry.workspaceBytes)
    made.workspaceBytes = entry.workspaceBytes(best.call());
  if (made.workspaceBytes)
    best.outputs.push_back(
        {DLC_I8, {static_cast<int64_t>(made.workspaceBytes)}});
  std::unique_ptr<PreparedKernel> prepared;
  if (!entry.prepare(best.call(), prepared).isOk())
    return made;
  uint64_t steps = 0;
  for (const PreparedKernel *kernel = prepared.get(); kernel;
       kernel = kernel->next())
    ++steps;
  if (entry.cost)
    made.nanoseconds = nanosecondsOf(entry.cost(best.call())) / steps;
  made.packed = std::move(best.packed);
  made.kernel = std::move(prepared);
  return made;
}

const DynamicCall *
DynamicCalls::find(std::span<const TensorView> inputs,
                   const std::function<DynamicCall()> &make) {
  wanted.clear();
  for (const TensorView &tensor : inputs) {
    wanted.push_back(tensor.type == DLC_INVALID_TYPE ? -1 : tensor.rank());
    if (tensor.type != DLC_INVALID_TYPE)
      wanted.insert(wanted.end(), tensor.shape.begin(), tensor.shape.end());
  }
  auto found = std::ranges::find(known, wanted, &Known::shapes);
  if (found == known.end()) {
    Known made{wanted, make()};
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
