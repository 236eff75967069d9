// SPDX-License-Identifier: Apache-2.0
//
// What calls take, by measurement or by model.

#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Plain.h"

#include "mlir/IR/DialectInterface.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::library;

namespace {
/// The tuner of a context, beside the dialect whose operations are timed.
class TunerOfContext : public DialectInterface::Base<TunerOfContext> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TunerOfContext)
  explicit TunerOfContext(Dialect *graph) : Base(graph) {}
  tuning::Tuner *tuner = nullptr;
};
} // namespace

tuning::Call dlc::library::makeCall(const rt::LibraryEntry *entry,
                                    FunctionType type,
                                    const NamedAttrList &config) {
  tuning::Call call;
  call.entry = entry;
  for (Type input : type.getInputs())
    call.inputs.push_back(graph::toTensorType(input));
  for (Type result : type.getResults())
    call.outputs.push_back(graph::toTensorType(result));
  call.attributes =
      graph::toAttributes(config.getDictionary(type.getContext()));
  return call;
}

void dlc::library::setTuner(MLIRContext &context, tuning::Tuner *tuner) {
  auto *graph = context.getOrLoadDialect<graph::GraphDialect>();
  if (!graph->getRegisteredInterface<TunerOfContext>())
    graph->addInterface(std::make_unique<TunerOfContext>(graph));
  graph->getRegisteredInterface<TunerOfContext>()->tuner = tuner;
}

static tuning::Tuner *tunerOf(MLIRContext &context) {
  auto *graph = context.getLoadedDialect<graph::GraphDialect>();
  auto *own = graph ? graph->getRegisteredInterface<TunerOfContext>() : nullptr;
  return own ? own->tuner : nullptr;
}

bool dlc::library::isTuned(MLIRContext &context) {
  return tunerOf(context) != nullptr;
}

/// Parts of a hundred by which measurements of one call differ.
static constexpr uint64_t kNoise = 3;

/// The times that are known, and modelled ones as slow as the slowest of them.
static std::vector<uint64_t> completed(ArrayRef<std::optional<uint64_t>> known,
                                       ArrayRef<uint64_t> modelled) {
  double slowest = 0;
  for (auto [time, model] : llvm::zip_equal(known, modelled))
    if (time)
      slowest = std::max(slowest, static_cast<double>(*time) /
                                      static_cast<double>(model));
  std::vector<uint64_t> times;
  for (auto [time, model] : llvm::zip_equal(known, modelled))
    times.push_back(time.value_or(
        slowest > 0 ? static_cast<uint64_t>(slowest * model) : model));
  return times;
}

/// Those that are fast by the model come first: time may not do for all.
static std::vector<std::optional<uint64_t>>
measuredTimes(tuning::Tuner &tuner, ArrayRef<tuning::Call> calls,
              ArrayRef<uint64_t> modelled) {
  auto order = llvm::to_vector(llvm::seq(calls.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(modelled[a], a) < std::pair(modelled[b], b);
  });
  std::vector<tuning::Call> ordered;
  for (size_t i : order)
    ordered.push_back(calls[i]);
  std::vector<std::optional<uint64_t>> times(calls.size());
  for (auto [i, time] : llvm::zip_equal(order, tuner.timesOf(ordered)))
    times[i] = time;
  return times;
}

CallTimes dlc::library::timesOf(MLIRContext &context,
                                ArrayRef<tuning::Call> calls) {
  std::vector<uint64_t> modelled;
  for (const tuning::Call &call : calls)
    modelled.push_back(std::max<uint64_t>(
        rt::nanosecondsOf(call.entry->cost(call.view())), 1));
  tuning::Tuner *tuner = tunerOf(context);
  if (!tuner)
    return {.nanoseconds = modelled, .costs = modelled};
  std::vector<std::optional<uint64_t>> known =
      measuredTimes(*tuner, calls, modelled);
  auto isKnown = [](std::optional<uint64_t> time) { return time.has_value(); };
  std::vector<uint64_t> times = completed(known, modelled);
  CallTimes result{.nanoseconds = times, .costs = times};
  result.isMeasured = llvm::all_of(known, isKnown);
  result.isPartlyKnown = !result.isMeasured && llvm::any_of(known, isKnown);
  if (llvm::none_of(known, isKnown))
    return result;
  auto likely = std::ranges::min_element(modelled) - modelled.begin();
  for (auto [i, cost] : llvm::enumerate(result.costs))
    if (static_cast<std::ptrdiff_t>(i) != likely)
      cost += cost * kNoise / 100;
  return result;
}

tuning::Call dlc::library::callOf(const Match &match, FunctionType type) {
  NamedAttrList config = match.anchorConfig;
  std::vector<size_t> packed;
  for (NamedAttribute attribute : match.packedConfig)
    if (match.config.get(attribute.getName()) == attribute.getValue()) {
      packed.assign(match.packable.begin(), match.packable.end());
      config.set(attribute.getName(), attribute.getValue());
    }
  for (StringRef name : {StringRef(kAlgorithm), StringRef(rt::kBf16Parts)})
    if (Attribute value = match.config.get(name))
      config.set(name, value);
  tuning::Call call =
      makeCall(rt::lookupLibraryEntry(match.entry), type, config);
  if (call.inputs.size() > match.anchorOperands)
    call.inputs.resize(match.anchorOperands);
  while (call.inputs.back().type == DLC_INVALID_TYPE)
    call.inputs.pop_back();
  call.packed = std::move(packed);
  return call;
}
