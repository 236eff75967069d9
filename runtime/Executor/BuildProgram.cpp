// SPDX-License-Identifier: Apache-2.0
//
// From the checked plan to the executor's arrays. The plan has passed
// validatePlan(), so indices are not checked again here; what is checked is
// what this machine and this build can do.

#include "ProgramState.h"

#include "dlc/abi/Artifact_generated.h"
#include "dlc/runtime/Device/CPU/Features.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc;
using namespace dlc::rt;

static_assert(int(Place::Pool) == int(abi::Storage::Pool) &&
              int(Place::Arena) == int(abi::Storage::Arena) &&
              int(Place::Constant) == int(abi::Storage::Constant));
static_assert(int(DeviceKind::Null) == int(abi::DeviceKind::Null) &&
              int(DeviceKind::CPU) == int(abi::DeviceKind::CPU) &&
              int(DeviceKind::CUDA) == int(abi::DeviceKind::CUDA));

template <typename T>
static size_t countOf(const flatbuffers::Vector<T> *vector) {
  return vector ? vector->size() : 0;
}

static std::string textOf(const flatbuffers::String *text) {
  return text ? text->str() : std::string();
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

static std::string_view hostArchitecture() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown";
#endif
}

/// What a machine needs for `variant` that one with `features` lacks, as a
/// list; empty when it fits.
static std::string misfitOf(const abi::ObjectVariant &variant,
                            const CPUFeatures &features) {
  if (variant.kernel_abi() != DLC_KERNEL_ABI_VERSION)
    return "kernel convention " + std::to_string(variant.kernel_abi());
  std::string triple = textOf(variant.triple());
  if (!triple.empty() && !triple.starts_with(hostArchitecture()))
    return triple;
  std::string missing;
  auto add = [&](const std::string &name) {
    missing += (missing.empty() ? "" : ", ") + name;
  };
  bool hasTiles = false;
  for (size_t i = 0; i != countOf(variant.features()); ++i) {
    std::string name = variant.features()->Get(i)->str();
    if (!features.has(name))
      add(name);
    hasTiles |= name.starts_with("amx-");
  }
  if (missing.empty() && hasTiles && !enableAMX().isOk())
    add("AMX tiles (not granted)");
  return missing;
}

/// Whether there are objects, and kernels for more than other devices.
static bool needsCode(const Program::State &state) {
  const abi::Program &plan = state.plan, &whole = state.file->whole();
  if (countOf(plan.by_rows()) || countOf(plan.by_shape()))
    return false; // The programs that it runs do.
  bool isElsewhere = false, isHere = false;
  for (size_t i = 0; i != countOf(plan.launches()); ++i) {
    const abi::Launch &launch = *plan.launches()->Get(i);
    const abi::KernelKind kind = whole.kernels()->Get(launch.kernel())->kind();
    if (kind == abi::KernelKind::Generated || kind == abi::KernelKind::AnyShape)
      (state.devices[launch.device()].isHost() ? isHere : isElsewhere) = true;
  }
  return countOf(whole.objects()) && (isHere || !isElsewhere);
}

/// Loads the first object that fits, unless another program of the file did.
static Status loadCode(Program::State &state, const CPUFeatures &features) {
  ProgramFile &file = *state.file;
  const Artifact &artifact = file.artifact;
  std::string reasons;
  for (size_t i = 0; !file.object && i != countOf(file.whole().objects());
       ++i) {
    const abi::ObjectVariant &variant = *file.whole().objects()->Get(i);
    std::string misfit = misfitOf(variant, features);
    if (!misfit.empty()) {
      reasons += (reasons.empty() ? "" : ", or ") + misfit;
      continue;
    }
    DLC_RETURN_IF_ERROR(artifact.verifyObject(i));
    Result<CodeObject> loaded = CodeObject::load(artifact.object(i));
    if (!loaded.isOk())
      return std::move(loaded.status());
    file.code = std::move(*loaded);
    file.object = i;
  }
  if (!file.object)
    return makeError(StatusCode::Unsupported,
                     "no object fits this machine: expected %s",
                     reasons.c_str());
  state.statistics.codeBytes += artifact.object(*file.object).size();
  state.statistics.object = file.object;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static Status readDevices(Program::State &state) {
  for (const abi::Device *device : *state.plan.devices()) {
    if (device->index() > INT16_MAX)
      return makeError(StatusCode::Unsupported,
                       "expected a device below %d, got %d", INT16_MAX + 1,
                       device->index());
    state.devices.push_back({static_cast<DeviceKind>(device->kind()),
                             static_cast<int16_t>(device->index())});
    state.arenaBytes.push_back(device->arena_bytes());
    state.statistics.arenaBytes += device->arena_bytes();
    state.statistics.lowerBoundBytes += device->lower_bound();
  }
  return Status::ok();
}

static TensorType typeOf(const abi::Value &value) {
  TensorType type;
  type.type = static_cast<DataType>(value.type());
  type.hasRank = !value.unranked();
  if (value.shape())
    type.shape.assign(value.shape()->begin(), value.shape()->end());
  return type;
}

static void readValues(Program::State &state) {
  const abi::Program &plan = state.plan;
  state.values.reserve(countOf(plan.values()));
  for (size_t i = 0; i != countOf(plan.values()); ++i) {
    const abi::Value &value = *plan.values()->Get(i);
    ValueRecord record{typeOf(value),      static_cast<Place>(value.storage()),
                       /*isStatic=*/false, value.device(),
                       value.index(),      value.offset(),
                       value.bytes()};
    record.isStatic = record.type.isStatic();
    state.statistics.dynamicValues += record.place == Place::Pool;
    state.values.push_back(std::move(record));
  }
}

static void
readPorts(const flatbuffers::Vector<flatbuffers::Offset<abi::Binding>> *from,
          const std::vector<ValueRecord> &values, std::vector<Port> &ports,
          std::vector<uint32_t> &portValues) {
  for (size_t i = 0; i != countOf(from); ++i) {
    const abi::Binding &binding = *from->Get(i);
    ports.push_back({binding.name()->str(), values[binding.value()].type});
    if (binding.updates() >= 0)
      ports.back().updates = size_t(binding.updates());
    ports.back().isRandomState =
        binding.role() == abi::BindingRole::RandomState;
    if (const auto *padded = binding.padded())
      ports.back().padded.assign(padded->begin(), padded->end());
    portValues.push_back(binding.value());
  }
}

/// Files that do not say what an input is have states of random numbers all the
/// same: by the name and type that compilers gave them, and with a new value
/// after each run.
static void findUnsaidRoles(const abi::Program &plan,
                            std::span<const Port> outputs,
                            std::vector<Port> &inputs) {
  for (const Port &output : outputs) {
    if (!output.updates ||
        plan.inputs()->Get(*output.updates)->role() != abi::BindingRole::Unsaid)
      continue;
    Port &input = inputs[*output.updates];
    input.isRandomState = input.name.starts_with("random") &&
                          input.type.type == DLC_I64 &&
                          input.type.shape == std::vector<int64_t>{2};
  }
}

static AttributeValue valueOf(const abi::Attribute &attribute) {
  switch (attribute.kind()) {
  case abi::AttributeKind::Int:
    return attribute.i();
  case abi::AttributeKind::Float:
    return attribute.f();
  case abi::AttributeKind::String:
    return textOf(attribute.s());
  case abi::AttributeKind::Ints:
    if (!attribute.ints())
      return std::vector<int64_t>();
    return std::vector<int64_t>(attribute.ints()->begin(),
                                attribute.ints()->end());
  case abi::AttributeKind::Floats:
    break;
  }
  if (!attribute.floats())
    return std::vector<double>();
  return std::vector<double>(attribute.floats()->begin(),
                             attribute.floats()->end());
}

static Attributes attributesOf(
    const flatbuffers::Vector<flatbuffers::Offset<abi::Attribute>> *from) {
  Attributes attributes;
  for (size_t i = 0; i != countOf(from); ++i)
    attributes.set(from->Get(i)->name()->string_view(), valueOf(*from->Get(i)));
  return attributes;
}

Attributes dlc::rt::entryAttributesOf(const abi::Kernel &kernel) {
  return attributesOf(kernel.entry_attributes());
}

/// Once for all programs of the file.
static void readAttributes(ProgramFile &file) {
  const abi::Program &whole = file.whole();
  for (size_t i = file.attributes.size(); i != countOf(whole.kernels()); ++i)
    file.attributes.push_back(std::make_unique<Attributes>(
        attributesOf(whole.kernels()->Get(i)->attributes())));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {

/// One launch while it is being made ready.
struct LaunchBuilder {
  Program::State &state;
  const ProgramOptions &options;
  const abi::Launch &launch;
  const abi::Kernel &kernel;
  LaunchRecord &record;

  Status build();

private:
  Status buildGenerated(LaunchKind kind);
  Status buildLibrary();
  Status buildReference();
  Status checkResults(std::span<const TensorType> results);
  const void *constantOf(int32_t argument) const;
  std::vector<TensorType> typesOf(size_t begin, size_t end) const;
  uint64_t modelTime() const;
};

} // namespace

std::string dlc::rt::describeLaunch(const Program::State &state,
                                    size_t launch) {
  const LaunchNames &names = state.names[launch];
  return "launch " + std::to_string(launch) + " (" +
         (names.label.empty() ? names.kernel : names.label) + ")";
}

bool dlc::rt::shapeMatches(const TensorType &type,
                           std::span<const int64_t> shape) {
  if (!type.hasRank)
    return true;
  if (type.shape.size() != shape.size())
    return false;
  for (size_t i = 0; i != shape.size(); ++i)
    if (type.shape[i] != kUnknownDim && type.shape[i] != shape[i])
      return false;
  return true;
}

uint64_t LaunchBuilder::modelTime() const {
  uint64_t bytes = kernel.bytes();
  if (!kernel.flops() && !bytes)
    for (int32_t argument : state.argumentsOf(record))
      bytes += argument < 0 ? 0 : state.values[argument].bytes;
  return nanosecondsOf({kernel.flops(), bytes});
}

std::vector<TensorType> LaunchBuilder::typesOf(size_t begin, size_t end) const {
  std::vector<TensorType> types;
  for (int32_t argument : state.argumentsOf(record).subspan(begin, end - begin))
    types.push_back(argument < 0 ? TensorType() : state.values[argument].type);
  return types;
}

const void *LaunchBuilder::constantOf(int32_t argument) const {
  const ValueRecord &value = state.values[argument];
  if (value.place != Place::Constant)
    return nullptr;
  return state.file->artifact.constants().data() + value.offset;
}

Status LaunchBuilder::buildGenerated(LaunchKind kind) {
  record.kind = kind;
  record.tiles = kernel.tiles();
  if (!state.hasCode)
    return Status::ok();
  Result<DlcKernelFunction> function =
      state.file->code.find(kernel.name()->str());
  if (!function.isOk())
    return std::move(function.status());
  record.function = *function;
  return Status::ok();
}

Status LaunchBuilder::buildLibrary() {
  record.kind = LaunchKind::Library;
  std::string name = kernel.name()->str();
  const LibraryEntry *entry = options.findLibraryEntry(name);
  if (!entry)
    return makeError(StatusCode::Unsupported,
                     "this runtime has no library kernel '%s'", name.c_str());
  std::vector<TensorType> inputs = typesOf(0, record.inputCount);
  std::vector<TensorType> outputs =
      typesOf(record.inputCount, record.argumentCount);
  KernelCall call{inputs, outputs, *record.attributes};
  std::unique_ptr<PreparedKernel> prepared;
  DLC_RETURN_IF_ERROR(entry->prepare(call, prepared));
  record.steps = 0;
  for (const PreparedKernel *kernel = prepared.get(); kernel;
       kernel = kernel->next(), ++record.steps)
    record.tiles = std::max(record.tiles, kernel->tiles());
  record.library = prepared.get();
  state.prepared.push_back(std::move(prepared));
  return Status::ok();
}

Status LaunchBuilder::checkResults(std::span<const TensorType> results) {
  size_t outputCount = record.argumentCount - record.inputCount;
  if (results.size() != outputCount)
    return makeError(StatusCode::DataLoss, "expected %zu results, got %zu",
                     outputCount, results.size());
  for (size_t i = 0; i != outputCount; ++i) {
    const TensorType &declared =
        state.values[state.argumentsOf(record)[record.inputCount + i]].type;
    if (results[i].type != declared.type ||
        (results[i].isStatic() && !shapeMatches(declared, results[i].shape)))
      return makeError(StatusCode::DataLoss, "result %zu: expected %s, got %s",
                       i, toString(results[i]).c_str(),
                       toString(declared).c_str());
  }
  return Status::ok();
}

/// Asks the shape rule: computations rely on what it checks. A launch with
/// every shape known now need not ask again.
Status LaunchBuilder::buildReference() {
  constexpr std::string_view prefix = "reference.";
  std::string_view name = kernel.name()->string_view();
  if (name.starts_with(prefix))
    record.operation = options.findOperation(name.substr(prefix.size()));
  if (!name.starts_with(prefix) || !record.operation)
    return makeError(StatusCode::Unsupported,
                     "this runtime has no operation '%.*s'", int(name.size()),
                     name.data());
  std::vector<ref::Operand> operands;
  std::vector<const void *> constants;
  std::span<const int32_t> arguments = state.argumentsOf(record);
  bool isStatic = true;
  for (int32_t argument : arguments.first(record.inputCount)) {
    operands.emplace_back();
    constants.push_back(argument < 0 ? nullptr : constantOf(argument));
    if (argument < 0)
      continue;
    operands.back() = {state.values[argument].type, constants.back()};
    isStatic &= state.values[argument].isStatic;
  }
  ref::InferContext context(operands, *record.attributes,
                            record.argumentCount - record.inputCount);
  std::vector<TensorType> results;
  DLC_RETURN_IF_ERROR(record.operation->infer(context, results));
  DLC_RETURN_IF_ERROR(checkResults(results));
  for (const TensorType &result : results)
    isStatic &= result.isStatic();
  for (int32_t argument : arguments.subspan(record.inputCount))
    isStatic &= state.values[argument].isStatic;
  record.kind = isStatic ? LaunchKind::Reference : LaunchKind::Dynamic;
  if (!isStatic)
    if (const LibraryEntry *entry =
            options.findEntryOfOperation(record.operation->name))
      state.dynamicEntries.emplace(
          &record - state.launches.data(),
          DynamicEntry{entry, record.operation->name, record.attributes,
                       std::move(constants), kernel.any_algorithm()});
  return Status::ok();
}

Status LaunchBuilder::build() {
  record.nanoseconds = modelTime();
  for (int32_t argument :
       state.argumentsOf(record).subspan(record.inputCount)) {
    const ValueRecord &value = state.values[argument];
    record.allocates |= value.place == Place::Pool || !value.isStatic;
  }
  switch (kernel.kind()) {
  case abi::KernelKind::Generated:
    return buildGenerated(LaunchKind::Generated);
  case abi::KernelKind::AnyShape:
    return buildGenerated(LaunchKind::AnyShape);
  case abi::KernelKind::Library:
    return buildLibrary();
  case abi::KernelKind::Reference:
    return buildReference();
  case abi::KernelKind::Copy:
    break;
  }
  record.kind = LaunchKind::Copy;
  return Status::ok();
}

static Status readLaunches(Program::State &state,
                           const ProgramOptions &options) {
  const abi::Program &plan = state.plan;
  size_t count = countOf(plan.launches());
  state.launches.resize(count);
  state.names.resize(count);
  for (size_t i = 0; i != count; ++i) {
    const abi::Launch &launch = *plan.launches()->Get(i);
    const abi::Kernel &kernel =
        *state.file->whole().kernels()->Get(launch.kernel());
    LaunchRecord &record = state.launches[i];
    record.firstArgument = state.arguments.size();
    record.inputCount = launch.inputs();
    record.argumentCount = launch.arguments()->size();
    record.attributes = state.file->attributes[launch.kernel()].get();
    state.arguments.insert(state.arguments.end(), launch.arguments()->begin(),
                           launch.arguments()->end());
    state.mostArguments =
        std::max<size_t>(state.mostArguments, record.argumentCount);
    state.names[i] = {textOf(launch.label()), kernel.name()->str(),
                      kernel.flops(),         kernel.bytes(),
                      launch.device(),        launch.stream()};
    LaunchBuilder builder{state, options, launch, kernel, record};
    bool isQueued = false;
    Status status = options.loadsCode ? queueLaunch(state, options, i, isQueued)
                                      : Status::ok();
    if (status.isOk() && !isQueued)
      status = builder.build();
    if (!status.isOk())
      return std::move(status).withContext(describeLaunch(state, i));
  }
  return Status::ok();
}

/// Gives each pool value to the last launch that touches it.
static void findReleases(Program::State &state) {
  std::vector<bool> isSeen(state.values.size(), false);
  for (size_t i = state.launches.size(); i-- != 0;) {
    LaunchRecord &launch = state.launches[i];
    launch.firstReleased = state.released.size();
    for (int32_t argument : state.argumentsOf(launch)) {
      if (argument < 0 || isSeen[argument] ||
          state.values[argument].place != Place::Pool)
        continue;
      isSeen[argument] = true;
      state.released.push_back(argument);
    }
    launch.releasedCount = state.released.size() - launch.firstReleased;
  }
}

/// Loads the programs that this one runs. Statistics are those of the largest,
/// but for what all have together.
static Status readParts(Program::State &state, const ProgramOptions &options) {
  state.isByShape = countOf(state.plan.by_shape());
  const auto *parts =
      state.isByShape ? state.plan.by_shape() : state.plan.by_rows();
  for (size_t i = 0; i != countOf(parts); ++i) {
    const abi::Program &part = *parts->Get(i);
    const int64_t rows = state.isByShape ? 0 : int64_t(part.rows());
    Result<std::unique_ptr<Program>> program =
        Program::State::make(state.file, part, options);
    if (!program.isOk())
      return std::move(program.status())
          .withContext(rows ? "batches of " + std::to_string(rows)
                            : "shapes " + std::to_string(i));
    const ProgramStatistics &own = (*program)->statistics();
    ProgramStatistics &all = state.statistics;
    all.arenaBytes = std::max(all.arenaBytes, own.arenaBytes);
    all.lowerBoundBytes = std::max(all.lowerBoundBytes, own.lowerBoundBytes);
    all.codeBytes = std::max(all.codeBytes, own.codeBytes);
    all.object = own.object ? own.object : all.object;
    all.deviceObjects = own.deviceObjects;
    all.launches += own.launches;
    all.dynamicValues += own.dynamicValues;
    if (i == 0)
      all.remarks = own.remarks;
    state.parts.push_back({rows, std::move(*program)});
  }
  return Status::ok();
}

/// What only keeps the bytes of an input that no run changes is where that is,
/// and what has those of an output is made there. Plans write values of the
/// pool and outputs of any shape once: others are refused.
static void findSharedPorts(Program::State &state) {
  state.shownInputs.assign(state.values.size(), -1);
  state.madeOutputs = state.shownInputs;
  for (const LaunchRecord &launch : state.launches) {
    if (launch.kind != LaunchKind::Dynamic || !launch.operation->keepsBytes)
      continue;
    const int32_t from = state.argumentsOf(launch).front();
    const int32_t to = state.argumentsOf(launch).back();
    const ValueRecord &source = state.values[from], &result = state.values[to];
    const bool isInput =
        source.place == Place::Input && !state.updatedBy[source.index];
    if (result.type.type != source.type.type || result.device != source.device)
      continue;
    if (result.place == Place::Pool)
      state.shownInputs[to] = isInput ? from : state.shownInputs[from];
    // One of known shape may be in memory that the caller uses otherwise.
    else if (result.place == Place::Output && !result.isStatic &&
             source.place == Place::Pool && state.shownInputs[from] < 0)
      state.madeOutputs[from] = to;
  }
}

Status dlc::rt::buildProgram(Program::State &state,
                             const ProgramOptions &options) {
  const abi::Program &plan = state.plan;
  DLC_RETURN_IF_ERROR(readDevices(state));
  readValues(state);
  readPorts(plan.inputs(), state.values, state.inputs, state.inputValues);
  readPorts(plan.outputs(), state.values, state.outputs, state.outputValues);
  findUnsaidRoles(plan, state.outputs, state.inputs);
  state.updatedBy.resize(state.inputs.size());
  for (size_t i = 0; i != state.outputs.size(); ++i)
    if (state.outputs[i].updates) {
      state.updatedBy[*state.outputs[i].updates] = i;
      state.hasUpdates = true;
    }
  readAttributes(*state.file);
  if (options.loadsCode && needsCode(state))
    DLC_RETURN_IF_ERROR(loadCode(state, options.features));
  DLC_RETURN_IF_ERROR(openDevices(state, options.loadsCode));
  state.hasCode = options.loadsCode;
  DLC_RETURN_IF_ERROR(readLaunches(state, options));
  for (const auto &[reason, launches] : state.work.remarks)
    state.statistics.remarks.push_back(
        reason + " (" + std::to_string(launches) +
        (launches == 1 ? " launch)" : " launches)"));
  findReleases(state);
  findSharedPorts(state);
  DLC_RETURN_IF_ERROR(scheduleProgram(state));
  findBorders(state);
  joinLaunches(state);
  findSums(state);
  state.statistics.constantBytes = state.file->artifact.constants().size();
  state.statistics.kernels = countOf(state.file->whole().kernels());
  state.statistics.launches = state.launches.size();
  return readParts(state, options);
}
