// SPDX-License-Identifier: Apache-2.0

#include "dlc-c/Resource.h"

#include "Handles.h"
#include "dlc/runtime/CAPI/Options.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <iterator>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

namespace {

/// Resources that keep their engine.
struct OwnResources {
  OwnResources(std::shared_ptr<Engine> shared, std::shared_ptr<Storage> storage,
               const ResourceOptions &options)
      : engine(std::move(shared)),
        manager(*engine, std::move(storage), options) {}

  std::shared_ptr<Engine> engine;
  ResourceManager manager;
};

} // namespace

Status dlc::rt::readResourceOptions(const DlcResourceOptions *given,
                                    ResourceOptions &options) {
  if (!given)
    return Status::ok();
  DlcResourceOptions known = {};
  DLC_RETURN_IF_ERROR(readOptions(*given, known));
  for (auto [value, option] :
       {std::pair(known.hostSpaces, &options.hostSpaces),
        std::pair(known.deviceSpaces, &options.deviceSpaces)})
    if (value)
      *option = value;
  options.seed = known.seed;
  return Status::ok();
}

DlcStatus dlcResourcesCreate(DlcEngine engine, DlcStorage storage,
                             const DlcResourceOptions *options,
                             DlcResources *resources) {
  if (!engine || !storage || !resources)
    return wrap(
        missing("an engine, a storage and a place for their resources"));
  ResourceOptions known;
  if (Status status = readResourceOptions(options, known); !status.isOk())
    return wrap(std::move(status));
  auto own = makeShared<OwnResources>(engine->engine,
                                      storageOf(storage->shared), known);
  if (!own)
    return wrap(noMemory("resources"));
  ResourceManager *manager = &own->manager;
  return makeHandle(resources,
                    std::shared_ptr<ResourceManager>(std::move(own), manager));
}

void dlcResourcesDestroy(DlcResources resources) { delete resources; }

DlcStatus dlcResourcesSeed(DlcResources resources, uint64_t seed) {
  return wrap(resources ? resources->manager->seed(seed)
                        : missing("resources"));
}

DlcStatus dlcResourcesSeedDevice(DlcResources resources, DlcContext context,
                                 uint64_t seed) {
  if (!resources)
    return wrap(missing("resources"));
  Context place;
  if (Status status = toContext(context, place); !status.isOk())
    return wrap(std::move(status));
  return wrap(resources->manager->seed(place, seed));
}

DlcStatus dlcResourcesTrim(DlcResources resources) {
  return wrap(resources ? resources->manager->trim() : missing("resources"));
}

//===----------------------------------------------------------------------===//
// Handles: what the manager gives out is one address, and so is a handle
//===----------------------------------------------------------------------===//

template <typename Resource, typename Handle>
static DlcStatus request(DlcResources resources, DlcContext context,
                         Result<Resource> (ResourceManager::*give)(Context),
                         Handle *handle) {
  if (!resources || !handle)
    return wrap(missing("resources and a place for what they give"));
  Context place;
  if (Status status = toContext(context, place); !status.isOk())
    return wrap(std::move(status));
  Result<Resource> found = (resources->manager.get()->*give)(place);
  if (!found.isOk())
    return wrap(std::move(found.status()));
  *handle = std::bit_cast<Handle>(*found);
  return nullptr;
}

/// The resource of a handle that is not null.
template <typename Resource, typename Handle>
static Resource resourceOf(Handle handle) {
  return std::bit_cast<Resource>(handle);
}

DlcStatus dlcResourcesTemporarySpace(DlcResources resources, DlcContext context,
                                     DlcTemporarySpace *space) {
  return request(resources, context, &ResourceManager::temporarySpace, space);
}

DlcStatus dlcResourcesRandom(DlcResources resources, DlcContext context,
                             DlcRandom *random) {
  return request(resources, context, &ResourceManager::random, random);
}

DlcStatus dlcResourcesParallelRandom(DlcResources resources, DlcContext context,
                                     DlcParallelRandom *random) {
  return request(resources, context, &ResourceManager::parallelRandom, random);
}

DlcStatus dlcResourcesDropoutState(DlcResources resources, DlcContext context,
                                   DlcDropoutState *state) {
  return request(resources, context, &ResourceManager::dropoutState, state);
}

//===----------------------------------------------------------------------===//
// Temporary space
//===----------------------------------------------------------------------===//

DlcStatus dlcTemporarySpaceVariable(DlcTemporarySpace space,
                                    DlcVariable *variable) {
  if (!space || !variable)
    return wrap(missing("a temporary space and a place for its variable"));
  *variable = fromVariable(resourceOf<TemporarySpace>(space).variable());
  return nullptr;
}

static DlcStatus handOut(Result<void *> memory, void **place) {
  if (!memory.isOk())
    return wrap(std::move(memory.status()));
  *place = *memory;
  return nullptr;
}

DlcStatus dlcTemporarySpaceReserve(DlcTemporarySpace space, size_t bytes,
                                   void **memory) {
  if (!space || !memory)
    return wrap(missing("a temporary space and a place for the memory"));
  return handOut(resourceOf<TemporarySpace>(space).reserve(bytes), memory);
}

DlcStatus dlcTemporarySpaceReserveHost(DlcTemporarySpace space, size_t bytes,
                                       void **memory) {
  if (!space || !memory)
    return wrap(missing("a temporary space and a place for the memory"));
  return handOut(resourceOf<TemporarySpace>(space).reserveHost(bytes), memory);
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

static RandomDraws toDraws(const DlcRandomDraws &draws) {
  return {draws.seed, draws.stream, draws.position};
}

static DlcRandomDraws fromDraws(const RandomDraws &draws) {
  return {draws.seed, draws.position, draws.stream};
}

static DlcStatus handOut(Result<RandomDraws> taken, DlcRandomDraws *draws) {
  if (!taken.isOk())
    return wrap(std::move(taken.status()));
  *draws = fromDraws(*taken);
  return nullptr;
}

DlcStatus dlcRandomVariable(DlcRandom random, DlcVariable *variable) {
  if (!random || !variable)
    return wrap(missing("random numbers and a place for their variable"));
  *variable = fromVariable(resourceOf<RandomResource>(random).variable());
  return nullptr;
}

DlcStatus dlcRandomTake(DlcRandom random, uint64_t blocks,
                        DlcRandomDraws *draws) {
  if (!random || !draws)
    return wrap(missing("random numbers and a place for the draws"));
  return handOut(resourceOf<RandomResource>(random).take(blocks), draws);
}

DlcStatus dlcParallelRandomTake(DlcParallelRandom random, uint64_t blocks,
                                DlcRandomDraws *draws) {
  if (!random || !draws)
    return wrap(missing("random numbers and a place for the draws"));
  return handOut(resourceOf<ParallelRandom>(random).take(blocks), draws);
}

namespace {
/// What messages say of a distribution, in the order of DlcDistribution.
struct DistributionFacts {
  const char *name, *parameters, *types;
};
} // namespace

static constexpr DistributionFacts distributionFacts[] = {
    {"a uniform distribution", "a < b and b - a finite", "f32 or f64"},
    {"a normal distribution", "b >= 0", "f32 or f64"},
    {"an exponential distribution", "a > 0", "f32"},
    {"a gamma distribution", "a > 0 and b > 0", "f32"},
    {"a Poisson distribution", "a >= 0", "f32"},
    {"a negative binomial distribution", "a > 0 and b in (0, 1]", "f32"},
    {"a Bernoulli distribution", "a in [0, 1]", "bool"},
};
static_assert(std::size(distributionFacts) == DLC_BERNOULLI + 1);

/// The parameters of a distribution are as its declaration says, for numbers of
/// up to `largest`.
static bool areParameters(DlcDistribution distribution, double a, double b,
                          double largest) {
  if (!(std::abs(a) <= largest && std::abs(b) <= largest))
    return false;
  switch (distribution) {
  case DLC_UNIFORM:
    return a < b && b - a <= largest;
  case DLC_NORMAL:
    return b >= 0;
  case DLC_EXPONENTIAL:
    return a > 0;
  case DLC_GAMMA:
    return a > 0 && b > 0;
  case DLC_POISSON:
    return a >= 0;
  case DLC_NEGATIVE_BINOMIAL:
    return a > 0 && b > 0 && b <= 1;
  default: // DLC_BERNOULLI: others were refused.
    return a >= 0 && a <= 1;
  }
}

/// Numbers of `distribution` can be of `type`.
static bool isDrawnAs(DlcDistribution distribution, DataType type) {
  if (distribution == DLC_BERNOULLI)
    return type == DLC_BOOL;
  return type == DLC_F32 || (type == DLC_F64 && distribution <= DLC_NORMAL);
}

static Status checkParameters(DlcDistribution distribution, double a, double b,
                              const DataType &type) {
  if (uint32_t(distribution) > DLC_BERNOULLI)
    return outOfRange("a distribution", distribution);
  DLC_RETURN_IF_ERROR(checkElementType(type));
  const DistributionFacts &facts = distributionFacts[distribution];
  if (!isDrawnAs(distribution, type))
    return makeError(StatusCode::Unsupported, "expected %s for %s, got %s",
                     facts.types, facts.name,
                     std::string(nameOf(type)).c_str());
  // What is drawn with float parameters needs some that are good as floats.
  bool areFloats = type == DLC_F32 && distribution <= DLC_EXPONENTIAL;
  if (areParameters(distribution, a, b, areFloats ? FLT_MAX : DBL_MAX) &&
      (!areFloats || areParameters(distribution, float(a), float(b), FLT_MAX)))
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected finite parameters of %s%s, %s, got %.15g and "
                   "%.15g",
                   facts.name, areFloats ? " as f32" : "", facts.parameters, a,
                   b);
}

static void fillFloats(const RandomDraws &draws, DlcDistribution distribution,
                       double a, double b, uint64_t first,
                       std::span<float> out) {
  switch (distribution) {
  case DLC_UNIFORM:
    return fillUniform(draws, first, out, float(a), float(b));
  case DLC_NORMAL:
    return fillNormal(draws, first, out, float(a), float(b));
  case DLC_EXPONENTIAL:
    return fillExponential(draws, first, out, float(a));
  case DLC_GAMMA:
    return fillGamma(draws, first, out, a, b);
  case DLC_POISSON:
    return fillPoisson(draws, first, out, a);
  default:
    return fillNegativeBinomial(draws, first, out, a, b);
  }
}

DlcStatus dlcRandomFill(DlcRandomDraws given, DlcDistribution distribution,
                        double a, double b, uint64_t first, DlcDataType type,
                        void *out, size_t count) {
  if (count && !out)
    return wrap(missing("memory for the numbers"));
  if (Status status = checkParameters(distribution, a, b, type); !status.isOk())
    return wrap(std::move(status));
  RandomDraws draws = toDraws(given);
  std::span<double> wide{static_cast<double *>(out), count};
  if (type == DLC_BOOL)
    fillBernoulli(draws, first, {static_cast<uint8_t *>(out), count}, a);
  else if (type == DLC_F32)
    fillFloats(draws, distribution, a, b, first,
               {static_cast<float *>(out), count});
  else if (distribution == DLC_UNIFORM)
    fillUniform(draws, first, wide, a, b);
  else
    fillNormal(draws, first, wide, a, b);
  return nullptr;
}

DlcStatus dlcRandomFillIntegers(DlcRandomDraws draws, int64_t low, int64_t high,
                                uint64_t first, int64_t *out, size_t count) {
  if (count && !out)
    return wrap(missing("memory for the numbers"));
  if (low >= high)
    return wrap(makeError(
        StatusCode::InvalidArgument, "expected low < high, got %lld and %lld",
        static_cast<long long>(low), static_cast<long long>(high)));
  fillUniform(toDraws(draws), first, std::span(out, count), low, high);
  return nullptr;
}

DlcStatus dlcRandomBlock(DlcRandomDraws draws, uint64_t index,
                         uint32_t words[4]) {
  if (!words)
    return wrap(missing("a place for the words"));
  RandomWords block = toDraws(draws).block(index);
  std::copy(block.begin(), block.end(), words);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

DlcStatus dlcDropoutStateNext(DlcDropoutState state, uint64_t count,
                              double keepProbability, DlcDropoutMask *mask) {
  if (!state || !mask)
    return wrap(missing("a dropout state and a place for the mask"));
  Result<DropoutMask> next =
      resourceOf<DropoutState>(state).next(count, keepProbability);
  if (!next.isOk())
    return wrap(std::move(next.status()));
  *mask = {fromDraws(next->draws), next->keepProbability};
  return nullptr;
}

DlcStatus dlcDropoutMaskApply(DlcDropoutMask mask, uint64_t first,
                              const float *in, float *out, size_t count) {
  if (count && (!in || !out))
    return wrap(missing("memory for the elements"));
  if (!(mask.keepProbability > 0 && mask.keepProbability <= 1))
    return wrap(makeError(StatusCode::InvalidArgument,
                          "expected a probability in (0, 1], got %.15g",
                          mask.keepProbability));
  DropoutMask{toDraws(mask.draws), mask.keepProbability}.apply(
      first, {in, count}, {out, count});
  return nullptr;
}
