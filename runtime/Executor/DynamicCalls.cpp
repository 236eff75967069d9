// SPDX-License-Identifier: Apache-2.0

#include "DynamicCalls.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

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
  std::vector<PackedOperand> packed = {};

  KernelCall call() const { return {inputs, outputs, attributes}; }
};

} // namespace

static bool areFinite(std::span<const float> values) {
  return std::ranges::all_of(values,
                             [](float value) { return std::isfinite(value); });
}

static PackedConstants::Packed pack(const LibraryEntry &entry,
                                    const KernelCall &call, size_t operand,
                                    size_t bytes, const void *constant) {
  const std::optional<int64_t> count = elementCount(call.inputs[operand].shape);
  if (!count || (entry.packsFinite && entry.packsFinite(call, operand) &&
                 !areFinite({static_cast<const float *>(constant),
                             static_cast<size_t>(*count)})))
    return nullptr;
  Result<AlignedBuffer> buffer = AlignedBuffer::allocate(bytes);
  if (!buffer.isOk())
    return nullptr;
  entry.pack(call, operand, constant, buffer->data());
  return std::make_shared<const AlignedBuffer>(std::move(*buffer));
}

/// Constants of equal bytes have one address, whatever their shapes.
static std::string formOf(const DynamicEntry &from, const KernelCall &call,
                          size_t operand, size_t bytes) {
  return std::string(from.operation) + ':' +
         packedFormOf(call, operand, bytes) + ':' +
         toString(call.inputs[operand]);
}

/// Packs the constants of `candidate`, of which the flag says that they are.
/// False where one cannot be.
static bool packConstants(const DynamicEntry &from, const LibraryEntry &entry,
                          PackedConstants &constants, Candidate &candidate) {
  const Candidate plain = candidate;
  for (size_t operand : entry.constants.operands) {
    const void *constant = from.constants[operand];
    const size_t bytes = entry.packedBytes(plain.call(), operand);
    if (!bytes)
      return false;
    PackedConstants::Packed packed = constants.find(
        constant, formOf(from, plain.call(), operand, bytes),
        [&] { return pack(entry, plain.call(), operand, bytes, constant); });
    if (!packed)
      return false;
    candidate.packed.push_back({operand, std::move(packed)});
    candidate.attributes.set(packedShapeName(operand),
                             plain.inputs[operand].shape);
    candidate.inputs[operand] = {DLC_F32,
                                 {static_cast<int64_t>(bytes / sizeof(float))}};
  }
  return true;
}

static bool hasConstants(const DynamicEntry &from, const LibraryEntry &entry) {
  const ConstantPacking &packing = entry.constants;
  return !packing.attribute.empty() &&
         std::ranges::all_of(packing.operands, [&](size_t operand) {
           return operand < from.constants.size() && from.constants[operand];
         });
}

/// How the constants are packed of a call that has all of them.
static int64_t packingOf(const DynamicEntry &from, const LibraryEntry &entry,
                         const Candidate &plain, PackedConstants &constants) {
  if (!entry.packingOf)
    return entry.constants.form;
  const size_t last = entry.constants.operands.back();
  return constants.packingOf(
      from.constants[last], formOf(from, plain.call(), last, 0),
      [&] { return entry.packingOf(plain.call(), from.constants); });
}

/// `plain` with the flag that its constants are packed, by an algorithm or
/// none; nothing where the library has no such call.
static std::optional<Candidate> withFlag(const LibraryEntry &entry,
                                         const Candidate &plain,
                                         std::string_view algorithm,
                                         int64_t packing) {
  Candidate candidate = plain;
  candidate.attributes.set(entry.constants.attribute, packing);
  if (!algorithm.empty())
    candidate.attributes.set("algorithm", std::string(algorithm));
  std::string why;
  if (!entry.isSupported(candidate.call(), why))
    return std::nullopt;
  return candidate;
}

/// The fastest way that the entry has to compute what `plain` does; nothing
/// where it has none.
static std::optional<Candidate> bestOf(const DynamicEntry &from,
                                       const LibraryEntry &entry,
                                       const Candidate &plain,
                                       PackedConstants &constants) {
  if (hasConstants(from, entry)) {
    const int64_t packing = packingOf(from, entry, plain, constants);
    std::vector<std::pair<uint64_t, Candidate>> candidates;
    auto add = [&](std::string_view algorithm) {
      if (auto candidate = withFlag(entry, plain, algorithm, packing))
        candidates.emplace_back(nanosecondsOf(entry.cost(candidate->call())),
                                std::move(*candidate));
    };
    add("");
    if (from.anyAlgorithm)
      std::ranges::for_each(entry.algorithms, add);
    std::ranges::sort(candidates, {}, &std::pair<uint64_t, Candidate>::first);
    for (auto &[time, candidate] : candidates)
      if (packConstants(from, entry, constants, candidate))
        return std::move(candidate);
  }
  std::string why;
  if (entry.isSupported && !entry.isSupported(plain.call(), why))
    return std::nullopt;
  return plain;
}

/// The call of `entry`, or none. `activation`: what it is to do with its sums,
/// or null.
static DynamicCall makeCallOf(const DynamicEntry &from,
                              const LibraryEntry &entry,
                              std::span<const TensorView> inputs,
                              std::span<const TensorView> outputs,
                              PackedConstants &constants,
                              const Attributes *activation = nullptr) {
  DynamicCall made;
  Candidate plain{typesOf(inputs), typesOf(outputs), {}};
  if (!entry.fromOperation(from.operation,
                           {plain.inputs, plain.outputs, *from.attributes},
                           from.constants, plain.attributes))
    return made;
  if (activation)
    for (const Attribute &attribute : *activation)
      if (attribute.name == "activation" || attribute.name == "alpha" ||
          attribute.name == "beta")
        plain.attributes.set(attribute.name, attribute.value);
  std::optional<Candidate> best = bestOf(from, entry, plain, constants);
  if (!best)
    return made;
  if (entry.workspaceBytes)
    made.workspaceBytes = entry.workspaceBytes(best->call());
  if (made.workspaceBytes)
    best->outputs.push_back(
        {DLC_I8, {static_cast<int64_t>(made.workspaceBytes)}});
  std::unique_ptr<PreparedKernel> prepared;
  if (!entry.prepare(best->call(), prepared).isOk())
    return made;
  uint64_t steps = 0;
  for (const PreparedKernel *kernel = prepared.get(); kernel;
       kernel = kernel->next())
    ++steps;
  if (entry.cost)
    made.cost = entry.cost(best->call());
  made.nanoseconds = nanosecondsOf(made.cost) / steps;
  made.entry = entry.name;
  made.algorithm = best->attributes.getString("algorithm");
  made.channelBlock = best->attributes.getInt("channel_block", 0);
  made.packed = std::move(best->packed);
  made.kernel = std::move(prepared);
  return made;
}

static bool haveElements(std::span<const TensorView> tensors) {
  return std::ranges::all_of(tensors, [](const TensorView &tensor) {
    return tensor.type == DLC_INVALID_TYPE || tensor.size() > 0;
  });
}

DynamicCall dlc::rt::makeCall(const DynamicEntry &from,
                              std::span<const TensorView> inputs,
                              std::span<const TensorView> outputs,
                              PackedConstants &constants) {
  if (!haveElements(inputs) || !haveElements(outputs))
    return {};
  DynamicCall made;
  for (const LibraryEntry *entry = from.entry; entry && !made.kernel;
       entry = lookupLibraryEntry(entry->otherwise))
    made = makeCallOf(from, *entry, inputs, outputs, constants);
  return made;
}

namespace {

/// What a call that computes a sum is given.
struct Placed {
  std::vector<int32_t> operands;      ///< DynamicCall::operands.
  std::vector<TensorView> tensors;    ///< Of each of them.
  std::vector<PackedOperand> numbers; ///< In place of some.

  /// Of the first `own` inputs, those of the operation, in their order.
  Placed(std::span<const TensorView> inputs, size_t own)
      : operands(own), tensors(inputs.begin(), inputs.begin() + own) {
    std::iota(operands.begin(), operands.end(), 0);
  }
};

} // namespace

/// What is added up to `result`, inputs from `own` on; nothing where the entry
/// has no place for one of them.
static std::optional<Placed> placeAdded(const SumEpilogue &epilogue, size_t own,
                                        std::span<const TensorView> inputs,
                                        const TensorView &result) {
  Placed placed(inputs, own);
  auto place = [&](int operand, size_t input) {
    if (operand < 0)
      return false;
    const auto at = static_cast<size_t>(operand);
    if (placed.operands.size() <= at) {
      placed.operands.resize(at + 1, -1);
      placed.tensors.resize(at + 1);
    }
    const bool isFree = placed.operands[at] < 0;
    if (isFree) {
      placed.operands[at] = static_cast<int32_t>(input);
      placed.tensors[at] = inputs[input];
    }
    return isFree;
  };
  for (size_t i = own; i != inputs.size(); ++i) {
    const TensorView &tensor = inputs[i];
    const bool isResidual = std::ranges::equal(tensor.shape, result.shape);
    const bool isBias = tensor.rank() == 1 && result.rank() > 1 &&
                        tensor.shape[0] == result.shape.back();
    if (tensor.type != result.type ||
        !(isResidual ? place(epilogue.residual, i)
                     : isBias && place(epilogue.bias, i)))
      return std::nullopt;
  }
  return placed;
}

template <typename T> static PackedConstants::Packed makeNumber(T value) {
  Result<AlignedBuffer> buffer = AlignedBuffer::allocate(sizeof(T));
  if (!buffer.isOk())
    return nullptr;
  std::memcpy(buffer->data(), &value, sizeof(T));
  return std::make_shared<const AlignedBuffer>(std::move(*buffer));
}

/// What sums of integers are rounded with: inputs from `own` on, or numbers.
/// Nothing where one is missing, or one too many, or there is no memory.
static std::optional<Placed>
placeRounding(const SumEpilogue &epilogue, const Attributes &numbers,
              size_t own, std::span<const TensorView> inputs, DataType result) {
  if (std::cmp_not_equal(own, epilogue.rounding) || sizeOf(result) != 1)
    return std::nullopt;
  Placed placed(inputs, own);
  size_t next = own;
  for (std::string_view name : kRoundingOperands) {
    if (!numbers.has(name)) {
      if (next == inputs.size())
        return std::nullopt;
      placed.operands.push_back(static_cast<int32_t>(next));
      placed.tensors.push_back(inputs[next++]);
      continue;
    }
    const bool isZeroPoint = name == kRoundingOperands[2];
    PackedConstants::Packed number =
        isZeroPoint ? makeNumber(static_cast<uint8_t>(numbers.getInt(name)))
                    : makeNumber(static_cast<float>(numbers.getFloat(name)));
    if (!number)
      return std::nullopt;
    placed.numbers.push_back({placed.operands.size(), std::move(number)});
    placed.operands.push_back(-1);
    placed.tensors.push_back({isZeroPoint ? result : DLC_F32, {}, nullptr});
  }
  return next == inputs.size() ? std::optional(std::move(placed))
                               : std::nullopt;
}

DynamicCall dlc::rt::makeSumCall(const DynamicEntry &from,
                                 std::span<const TensorView> inputs,
                                 std::span<const TensorView> outputs,
                                 PackedConstants &constants) {
  if (!haveElements(inputs) || !haveElements(outputs))
    return {};
  const SumEpilogue &epilogue = *from.entry->epilogue;
  const Attributes &activation = *from.sum->activation;
  const size_t own = inputs.size() - from.sum->added.size();
  const bool rounds = activation.getString("activation") == kRequantize;
  if (rounds != (epilogue.rounding >= 0))
    return {};
  std::optional<Placed> placed =
      rounds ? placeRounding(epilogue, activation, own, inputs, outputs[0].type)
             : placeAdded(epilogue, own, inputs, outputs[0]);
  if (!placed)
    return {};
  DynamicCall made = makeCallOf(from, *from.entry, placed->tensors, outputs,
                                constants, rounds ? nullptr : &activation);
  made.operands = std::move(placed->operands);
  std::ranges::move(placed->numbers, std::back_inserter(made.packed));
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
