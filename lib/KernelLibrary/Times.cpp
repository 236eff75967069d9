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

CallTimes dlc::library::timesOf(MLIRContext &context,
                                ArrayRef<tuning::Call> calls) {
  CallTimes modelled;
  for (const tuning::Call &call : calls)
    modelled.nanoseconds.push_back(
        rt::nanosecondsOf(call.entry->cost(call.view())));
  modelled.costs = modelled.nanoseconds;
  tuning::Tuner *tuner = tunerOf(context);
  if (!tuner)
    return modelled;
  auto times = tuner->timesOf(calls);
  if (!times)
    return modelled;
  CallTimes measured{*times, /*isMeasured=*/true, std::move(*times)};
  auto likely = std::ranges::min_element(modelled.costs);
  for (auto [i, cost] : llvm::enumerate(measured.costs))
    if (i != static_cast<size_t>(likely - modelled.costs.begin()))
      cost += cost * kNoise / 100;
  return measured;
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
