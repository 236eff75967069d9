/* SPDX-License-Identifier: Apache-2.0
 *
 * The C API of resources from C, against the shared library, on each kind of
 * engine.
 */

#include "dlc-c/Resource.h"
#include "Check.h"
#include "dlc-c/NDArray.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const DlcContext cpu = {DLC_DEVICE_CPU, 0};

static DlcEngine makeEngine(DlcEngineKind kind) {
  DlcEngineOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.kind = kind;
  options.cpuWorkers = 2;
  DlcEngine engine = NULL;
  CHECK_OK(dlcEngineCreate(&options, &engine));
  return engine;
}

static DlcResources makeResources(DlcEngine engine, DlcStorage storage,
                                  uint64_t seed) {
  DlcResourceOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.hostSpaces = 2;
  options.seed = seed;
  DlcResources resources = NULL;
  CHECK_OK(dlcResourcesCreate(engine, storage, &options, &resources));
  return resources;
}

static uint64_t liveBytes(DlcStorage storage, DlcContext context) {
  DlcStorageStatistics now;
  memset(&now, 0, sizeof(now));
  now.structSize = sizeof(now);
  CHECK_OK(dlcStorageGetStatistics(storage, context, &now));
  return now.liveBytes;
}

static DlcStatus useSpace(void *data, DlcContext context) {
  DlcTemporarySpace space = data;
  void *first = NULL, *second = NULL, *host = NULL;
  DlcStatus status = dlcTemporarySpaceReserve(space, 1000, &first);
  if (!status)
    status = dlcTemporarySpaceReserve(space, 500, &second);
  if (!status)
    status = dlcTemporarySpaceReserveHost(space, 64, &host);
  if (status)
    return status;
  CHECK(first && first == second && host && host != first);
  memset(first, context.index, 1000);
  memset(host, 1, 64);
  return NULL;
}

static void testSpace(DlcEngine engine, DlcStorage storage) {
  DlcResources resources = makeResources(engine, storage, 0);
  const DlcContext devices[] = {cpu, {DLC_DEVICE_NULL, 1}};
  for (int i = 0; i != 2; ++i) {
    DlcTemporarySpace spaces[4];
    DlcVariable variables[4];
    for (int s = 0; s != 4; ++s) {
      CHECK_OK(dlcResourcesTemporarySpace(resources, devices[i], &spaces[s]));
      CHECK_OK(dlcTemporarySpaceVariable(spaces[s], &variables[s]));
    }
    /* Two, in turn. */
    CHECK(variables[0].index == variables[2].index);
    CHECK(variables[0].index != variables[1].index);
    for (int n = 0; n != 20; ++n)
      CHECK_OK(dlcEnginePushSync(engine, useSpace, spaces[n % 4], NULL,
                                 devices[i], NULL, 0, &variables[n % 4], 1,
                                 NULL));
    CHECK_OK(dlcEngineWaitForAll(engine));
    CHECK(liveBytes(storage, devices[i]) != 0);
  }
  CHECK_OK(dlcResourcesTrim(resources));
  CHECK_OK(dlcEngineWaitForAll(engine));
  CHECK(liveBytes(storage, cpu) == 0);
  CHECK(liveBytes(storage, devices[1]) == 0);
  dlcResourcesDestroy(resources);
}

/* What a function asks for that does not write the variable. */
typedef struct {
  DlcTemporarySpace space;
  DlcRandom random;
} Borrowed;

static DlcStatus borrowWrongly(void *data, DlcContext context) {
  Borrowed *borrowed = data;
  void *memory = NULL;
  DlcRandomDraws draws;
  (void)context;
  CHECK_ERROR(dlcTemporarySpaceReserve(borrowed->space, 10, &memory),
              DLC_INVALID_ARGUMENT,
              "expected an operation that writes the variable of the resource");
  CHECK_ERROR(dlcTemporarySpaceReserveHost(borrowed->space, 10, &memory),
              DLC_INVALID_ARGUMENT, "expected an operation that writes");
  CHECK_ERROR(dlcRandomTake(borrowed->random, 1, &draws), DLC_INVALID_ARGUMENT,
              "expected an operation that writes");
  CHECK(memory == NULL);
  return NULL;
}

/* Their variables are not the caller's to delete either. */
static void testGuards(DlcEngine engine, DlcStorage storage) {
  DlcResources resources = makeResources(engine, storage, 0);
  Borrowed borrowed;
  DlcVariable own, guards[2];
  CHECK_OK(dlcEngineNewVariable(engine, &own));
  CHECK_OK(dlcResourcesTemporarySpace(resources, cpu, &borrowed.space));
  CHECK_OK(dlcResourcesRandom(resources, cpu, &borrowed.random));
  CHECK_OK(dlcTemporarySpaceVariable(borrowed.space, &guards[0]));
  CHECK_OK(dlcRandomVariable(borrowed.random, &guards[1]));
  borrowWrongly(&borrowed, cpu);
  CHECK_OK(dlcEnginePushSync(engine, borrowWrongly, &borrowed, NULL, cpu, NULL,
                             0, &own, 1, NULL));
  /* To read it is not enough. */
  CHECK_OK(dlcEnginePushSync(engine, borrowWrongly, &borrowed, NULL, cpu,
                             guards, 2, &own, 1, NULL));
  CHECK_OK(dlcEngineWaitForAll(engine));
  for (int i = 0; i != 2; ++i)
    CHECK_ERROR(dlcEngineDeleteVariable(engine, NULL, NULL, cpu, guards[i]),
                DLC_INVALID_ARGUMENT,
                "expected a variable that the caller made, got that of an "
                "array or a resource");
  CHECK_OK(dlcEnginePushSync(engine, useSpace, borrowed.space, NULL, cpu, NULL,
                             0, guards, 1, NULL));
  CHECK_OK(dlcEngineWaitForAll(engine));
  CHECK_OK(dlcEngineDeleteVariable(engine, NULL, NULL, cpu, own));
  dlcResourcesDestroy(resources);
}

enum { drawn = 64 };
typedef struct {
  DlcRandom random;
  float numbers[drawn];
} Draw;

static DlcStatus draw(void *data, DlcContext context) {
  Draw *to = data;
  DlcRandomDraws draws;
  (void)context;
  DlcStatus status = dlcRandomTake(to->random, drawn, &draws);
  if (!status)
    status =
        dlcRandomFill(draws, DLC_UNIFORM, 0, 1, 0, DLC_F32, to->numbers, drawn);
  return status;
}

/* The numbers of the first `count` operations that draw. */
static void drawInOperations(DlcEngine engine, DlcResources resources,
                             Draw *draws, int count) {
  for (int i = 0; i != count; ++i) {
    DlcVariable variable;
    CHECK_OK(dlcResourcesRandom(resources, cpu, &draws[i].random));
    CHECK_OK(dlcRandomVariable(draws[i].random, &variable));
    CHECK_OK(dlcEnginePushSync(engine, draw, &draws[i], NULL, cpu, NULL, 0,
                               &variable, 1, NULL));
  }
  CHECK_OK(dlcEngineWaitForAll(engine));
}

/* The same numbers as of a naive engine, whatever the threads. */
static void testRandom(DlcEngine engine, DlcStorage storage) {
  static Draw first[10], second[10];
  DlcEngine naive = makeEngine(DLC_ENGINE_NAIVE);
  DlcResources serial = makeResources(naive, storage, 5);
  DlcResources resources = makeResources(engine, storage, 5);
  drawInOperations(naive, serial, first, 10);
  drawInOperations(engine, resources, second, 10);
  for (int i = 0; i != 10; ++i)
    CHECK(!memcmp(first[i].numbers, second[i].numbers, sizeof(first->numbers)));
  CHECK(memcmp(first[0].numbers, first[1].numbers, sizeof(first->numbers)));
  CHECK_OK(dlcResourcesSeed(resources, 6));
  drawInOperations(engine, resources, second, 1);
  CHECK(memcmp(first[0].numbers, second[0].numbers, sizeof(first->numbers)));
  CHECK_OK(dlcResourcesSeedDevice(resources, cpu, 5));
  drawInOperations(engine, resources, second, 1);
  CHECK(!memcmp(first[0].numbers, second[0].numbers, sizeof(first->numbers)));
  dlcResourcesDestroy(serial);
  dlcResourcesDestroy(resources);
  dlcEngineDestroy(naive);
}

/* Each request has a sequence of its own, the same in each run. */
static void testParallelRandom(DlcEngine engine, DlcStorage storage) {
  uint32_t words[2][3][4];
  for (int run = 0; run != 2; ++run) {
    DlcResources resources = makeResources(engine, storage, 9);
    DlcParallelRandom sequences[2];
    for (int i = 0; i != 2; ++i)
      CHECK_OK(dlcResourcesParallelRandom(resources, cpu, &sequences[i]));
    DlcRandomDraws draws;
    CHECK_ERROR(
        dlcParallelRandomTake(sequences[0], ((uint64_t)1 << 40) + 1, &draws),
        DLC_INVALID_ARGUMENT, "at most 2^40 blocks");
    for (int i = 0; i != 3; ++i) {
      CHECK_OK(dlcParallelRandomTake(sequences[i % 2], 10, &draws));
      CHECK_OK(dlcRandomBlock(draws, 0, words[run][i]));
    }
    dlcResourcesDestroy(resources);
  }
  CHECK(!memcmp(words[0], words[1], sizeof(words[0])));
  CHECK(memcmp(words[0][0], words[0][1], sizeof(words[0][0])));
  CHECK(memcmp(words[0][0], words[0][2], sizeof(words[0][0])));
}

static void testDropout(DlcEngine engine, DlcStorage storage) {
  enum { count = 1000 };
  DlcResources resources = makeResources(engine, storage, 1);
  DlcDropoutState state = NULL;
  DlcDropoutMask mask, next;
  float ones[count], kept[count], parts[count];
  for (int i = 0; i != count; ++i)
    ones[i] = 1;
  CHECK_OK(dlcResourcesDropoutState(resources, cpu, &state));
  CHECK_OK(dlcDropoutStateNext(state, count, 0.25, &mask));
  CHECK_OK(dlcDropoutMaskApply(mask, 0, ones, kept, count));
  CHECK_OK(dlcDropoutMaskApply(mask, 0, ones, parts, 300));
  CHECK_OK(
      dlcDropoutMaskApply(mask, 300, ones + 300, parts + 300, count - 300));
  CHECK(!memcmp(kept, parts, sizeof(kept)));
  int survivors = 0;
  for (int i = 0; i != count; ++i) {
    CHECK(kept[i] == 0 || kept[i] == 4);
    survivors += kept[i] != 0;
  }
  CHECK(survivors > 180 && survivors < 320); /* 5 deviations of 13.7 */
  CHECK_OK(dlcDropoutStateNext(state, count, 0.25, &next));
  CHECK_OK(dlcDropoutMaskApply(next, 0, ones, parts, count));
  CHECK(memcmp(kept, parts, sizeof(kept)));
  CHECK_ERROR(dlcDropoutStateNext(state, 1, 0, &next), DLC_INVALID_ARGUMENT,
              "expected a probability in (0, 1], got 0");
  mask.keepProbability = NAN;
  CHECK_ERROR(dlcDropoutMaskApply(mask, 0, ones, kept, 1), DLC_INVALID_ARGUMENT,
              "expected a probability in (0, 1], got nan");
  CHECK_ERROR(dlcDropoutMaskApply(next, 0, NULL, kept, 1), DLC_INVALID_ARGUMENT,
              "memory");
  dlcResourcesDestroy(resources);
}

static void testDistributions(void) {
  enum { count = 4000 };
  static float floats[count];
  static double doubles[count];
  static unsigned char bits[count];
  static int64_t integers[count];
  const DlcRandomDraws draws = {3, 100, 7};
  const struct {
    DlcDistribution distribution;
    double a, b, mean, tolerance, badA, badB;
    const char *name;
  } cases[] = {
      {DLC_UNIFORM, -1, 3, 1, 0.1, 1, 1,
       "a uniform distribution as f32, a < b"},
      {DLC_NORMAL, 2, 3, 2, 0.25, 2, -1,
       "a normal distribution as f32, b >= 0"},
      {DLC_EXPONENTIAL, 4, 0, 0.25, 0.03, 0, 0, "an exponential distribution"},
      {DLC_GAMMA, 2, 3, 6, 0.35, 2, 0, "a gamma distribution, a > 0 and b > 0"},
      {DLC_POISSON, 5, 0, 5, 0.2, -1, 0, "a Poisson distribution, a >= 0"},
      {DLC_NEGATIVE_BINOMIAL, 6, 0.5, 6, 0.3, 6, 2,
       "a negative binomial distribution, a > 0 and b in (0, 1]"},
  };
  for (size_t i = 0; i != sizeof(cases) / sizeof(*cases); ++i) {
    double sum = 0, wideSum = 0;
    CHECK_OK(dlcRandomFill(draws, cases[i].distribution, cases[i].a, cases[i].b,
                           0, DLC_F32, floats, count));
    for (int n = 0; n != count; ++n)
      sum += floats[n];
    CHECK(fabs(sum / count - cases[i].mean) < cases[i].tolerance);
    /* Any part of the sequence by itself. */
    float part[10];
    CHECK_OK(dlcRandomFill(draws, cases[i].distribution, cases[i].a, cases[i].b,
                           123, DLC_F32, part, 10));
    CHECK(!memcmp(part, floats + 123, sizeof(part)));
    CHECK_ERROR(dlcRandomFill(draws, cases[i].distribution, cases[i].badA,
                              cases[i].badB, 0, DLC_F32, floats, count),
                DLC_INVALID_ARGUMENT, cases[i].name);
    CHECK_ERROR(dlcRandomFill(draws, cases[i].distribution, NAN, cases[i].b, 0,
                              DLC_F32, floats, count),
                DLC_INVALID_ARGUMENT, cases[i].name);
    if (cases[i].distribution > DLC_NORMAL) {
      CHECK_ERROR(dlcRandomFill(draws, cases[i].distribution, cases[i].a,
                                cases[i].b, 0, DLC_F64, doubles, count),
                  DLC_UNSUPPORTED, "expected f32 for a");
      continue;
    }
    CHECK_OK(dlcRandomFill(draws, cases[i].distribution, cases[i].a, cases[i].b,
                           0, DLC_F64, doubles, count));
    for (int n = 0; n != count; ++n)
      wideSum += doubles[n];
    CHECK(fabs(wideSum / count - cases[i].mean) < cases[i].tolerance);
  }
  int ones = 0;
  CHECK_OK(
      dlcRandomFill(draws, DLC_BERNOULLI, 0.3, 0, 0, DLC_BOOL, bits, count));
  for (int n = 0; n != count; ++n)
    ones += bits[n];
  CHECK(ones > 1050 && ones < 1350);
  CHECK_ERROR(
      dlcRandomFill(draws, DLC_BERNOULLI, 0.3, 0, 0, DLC_F32, floats, count),
      DLC_UNSUPPORTED, "expected bool for a Bernoulli distribution, got f32");
  CHECK_ERROR(dlcRandomFill(draws, DLC_UNIFORM, 0, 1, 0, (DlcDataType)99,
                            floats, count),
              DLC_INVALID_ARGUMENT, "expected an element type, got 99");
  CHECK_ERROR(dlcRandomFill(draws, DLC_UNIFORM, 1, 1 + 1e-12, 0, DLC_F32,
                            floats, count),
              DLC_INVALID_ARGUMENT,
              "as f32, a < b and b - a finite, got 1 and 1.000000000001");
  CHECK_ERROR(
      dlcRandomFill(draws, DLC_UNIFORM, -3e38, 3e38, 0, DLC_F32, floats, count),
      DLC_INVALID_ARGUMENT, "got -3e+38 and 3e+38");
  CHECK_ERROR(
      dlcRandomFill(draws, DLC_NORMAL, 0, 1e300, 0, DLC_F32, floats, count),
      DLC_INVALID_ARGUMENT, "as f32, b >= 0, got 0 and 1e+300");
  CHECK_ERROR(dlcRandomFill(draws, DLC_EXPONENTIAL, 1e-50, 0, 0, DLC_F32,
                            floats, count),
              DLC_INVALID_ARGUMENT, "as f32, a > 0, got 1e-50 and 0");
  CHECK_ERROR(dlcRandomFill(draws, DLC_UNIFORM, -1e308, 1e308, 0, DLC_F64,
                            doubles, count),
              DLC_INVALID_ARGUMENT, "parameters");
  CHECK_OK(dlcRandomFill(draws, DLC_UNIFORM, -3e38, 3e38, 0, DLC_F64, doubles,
                         count));
  CHECK_ERROR(
      dlcRandomFill(draws, (DlcDistribution)7, 0, 1, 0, DLC_F32, floats, count),
      DLC_INVALID_ARGUMENT, "expected a distribution, got 7");
  CHECK_ERROR(dlcRandomFill(draws, DLC_UNIFORM, 0, 1, 0, DLC_F32, NULL, 1),
              DLC_INVALID_ARGUMENT, "memory for the numbers");
  CHECK_OK(dlcRandomFillIntegers(draws, INT64_MIN, INT64_MAX, 0, integers, 1));
  CHECK_OK(dlcRandomFillIntegers(draws, -2, 3, 0, integers, count));
  for (int n = 0; n != count; ++n)
    CHECK(integers[n] >= -2 && integers[n] < 3);
  CHECK_ERROR(dlcRandomFillIntegers(draws, 3, 3, 0, integers, count),
              DLC_INVALID_ARGUMENT, "expected low < high, got 3 and 3");
  /* Philox 4x32-10 of zeros, from the paper's known answers. */
  const DlcRandomDraws zero = {0, 0, 0};
  uint32_t words[4];
  CHECK_OK(dlcRandomBlock(zero, 0, words));
  CHECK(words[0] == 0x6627e8d5 && words[1] == 0xe169c58d &&
        words[2] == 0xbc57ac4c && words[3] == 0x9b00dbd8);
}

/* Whatever finite parameters ask for is a finite number. */
static void testExtremes(void) {
  enum { count = 500 };
  static float floats[count];
  static double doubles[count];
  const DlcRandomDraws draws = {11, 5, 2};
  const double most = FLT_MAX, least = 1e-45;
  const struct {
    DlcDistribution distribution;
    double a, b;
  } cases[] = {
      {DLC_NORMAL, 0, most},
      {DLC_NORMAL, most, most},
      {DLC_NORMAL, -most, 1},
      {DLC_EXPONENTIAL, least, 0},
      {DLC_EXPONENTIAL, 1e-38, 0},
      {DLC_EXPONENTIAL, most, 0},
      {DLC_GAMMA, most, most},
      {DLC_GAMMA, 1, most},
      {DLC_GAMMA, least, most},
      {DLC_GAMMA, least, least},
      {DLC_GAMMA, most, least},
      /* These are computed in double: no float need hold the parameters. */
      {DLC_GAMMA, 1e-50, 1},
      {DLC_GAMMA, 1e300, 1e300},
      {DLC_GAMMA, 1e50, 1e-40},
      {DLC_POISSON, 1e300, 0},
      {DLC_NEGATIVE_BINOMIAL, 1e300, 1e-300},
      {DLC_POISSON, most, 0},
      {DLC_POISSON, 1e30, 0},
      {DLC_NEGATIVE_BINOMIAL, most, least},
      {DLC_NEGATIVE_BINOMIAL, 1, 1},
      {DLC_NEGATIVE_BINOMIAL, most, 1},
      {DLC_NEGATIVE_BINOMIAL, least, least},
  };
  for (size_t i = 0; i != sizeof(cases) / sizeof(*cases); ++i) {
    CHECK_OK(dlcRandomFill(draws, cases[i].distribution, cases[i].a, cases[i].b,
                           0, DLC_F32, floats, count));
    int good = 0;
    for (int n = 0; n != count; ++n)
      good += isfinite(floats[n]) &&
              (cases[i].distribution == DLC_NORMAL || floats[n] >= 0);
    if (good != count)
      fprintf(stderr, "case %zu: %d of %d\n", i, good, count);
    CHECK(good == count);
  }
  CHECK_OK(dlcRandomFill(draws, DLC_NORMAL, -DBL_MAX, DBL_MAX, 0, DLC_F64,
                         doubles, count));
  for (int n = 0; n != count; ++n)
    CHECK(isfinite(doubles[n]));
}

static void testBadCalls(DlcEngine engine, DlcStorage storage) {
  const DlcStatusCode bad = DLC_INVALID_ARGUMENT;
  DlcResources resources = makeResources(engine, storage, 0), none = NULL;
  DlcContext nowhere = {DLC_DEVICE_CPU, -1}, far = {DLC_DEVICE_CUDA, 0};
  DlcTemporarySpace space = NULL;
  DlcRandom random = NULL;
  DlcParallelRandom parallel = NULL;
  DlcDropoutState state = NULL;
  DlcVariable variable = {7, 7};
  DlcRandomDraws draws = {0, 0, 0};
  DlcDropoutMask mask;
  uint32_t words[4];
  void *memory = NULL;
  CHECK_ERROR(dlcResourcesCreate(NULL, storage, NULL, &none), bad, "an engine");
  CHECK_ERROR(dlcResourcesCreate(engine, NULL, NULL, &none), bad, "a storage");
  CHECK_ERROR(dlcResourcesCreate(engine, storage, NULL, NULL), bad, "a place");
  DlcResourceOptions options;
  memset(&options, 0, sizeof(options));
  CHECK_ERROR(dlcResourcesCreate(engine, storage, &options, &none), bad,
              "structSize");
  CHECK_ERROR(dlcResourcesSeed(NULL, 1), bad, "resources");
  CHECK_ERROR(dlcResourcesSeedDevice(NULL, cpu, 1), bad, "resources");
  CHECK_ERROR(dlcResourcesSeedDevice(resources, nowhere, 1), bad, "number -1");
  CHECK_ERROR(dlcResourcesTrim(NULL), bad, "resources");
  CHECK_ERROR(dlcResourcesTemporarySpace(NULL, cpu, &space), bad, "resources");
  CHECK_ERROR(dlcResourcesTemporarySpace(resources, cpu, NULL), bad, "a place");
  CHECK_ERROR(dlcResourcesTemporarySpace(resources, nowhere, &space), bad,
              "number -1");
  CHECK_ERROR(dlcResourcesTemporarySpace(resources, far, &space),
              DLC_UNSUPPORTED, "cuda:0");
  CHECK_ERROR(dlcResourcesRandom(NULL, cpu, &random), bad, "resources");
  CHECK_ERROR(dlcResourcesParallelRandom(NULL, cpu, &parallel), bad,
              "resources");
  CHECK_ERROR(dlcResourcesDropoutState(resources, far, &state), DLC_UNSUPPORTED,
              "cuda:0");
  CHECK_ERROR(dlcTemporarySpaceVariable(NULL, &variable), bad, "null");
  CHECK_ERROR(dlcTemporarySpaceReserve(NULL, 1, &memory), bad, "null");
  CHECK_ERROR(dlcTemporarySpaceReserveHost(NULL, 1, &memory), bad, "null");
  CHECK_ERROR(dlcRandomVariable(NULL, &variable), bad, "null");
  CHECK_ERROR(dlcRandomTake(NULL, 1, &draws), bad, "null");
  CHECK_ERROR(dlcParallelRandomTake(NULL, 1, &draws), bad, "null");
  CHECK_ERROR(dlcDropoutStateNext(NULL, 1, 1, &mask), bad, "null");
  CHECK_ERROR(dlcRandomBlock(draws, 0, NULL), bad, "null");
  CHECK_OK(dlcRandomBlock(draws, 0, words));
  CHECK(!space && !random && !parallel && !state && !memory && !none);
  CHECK(variable.index == 7 && variable.stamp == 7);
  dlcResourcesDestroy(NULL);
  dlcResourcesDestroy(resources);
}

/* Resources, storage and engine end in any order, with operations under way
 * that use them. */
static void testEnds(DlcEngineKind kind) {
  DlcEngine engine = makeEngine(kind);
  DlcStorage storage = NULL;
  CHECK_OK(dlcStorageCreate(NULL, &storage));
  DlcResources resources = makeResources(engine, storage, 0);
  DlcTemporarySpace space = NULL;
  DlcVariable variable;
  CHECK_OK(dlcResourcesTemporarySpace(resources, cpu, &space));
  CHECK_OK(dlcTemporarySpaceVariable(space, &variable));
  for (int i = 0; i != 200; ++i)
    CHECK_OK(dlcEnginePushSync(engine, useSpace, space, NULL, cpu, NULL, 0,
                               &variable, 1, NULL));
  dlcStorageDestroy(storage);
  dlcResourcesDestroy(resources);
  CHECK_OK(dlcEngineWaitForAll(engine));
  CHECK_ERROR(dlcEngineWaitForVariable(engine, variable, DLC_USE_READ),
              DLC_INVALID_ARGUMENT, "deleted");
  CHECK_OK(dlcStorageCreate(NULL, &storage));
  resources = makeResources(engine, storage, 0);
  dlcEngineDestroy(engine);
  CHECK_ERROR(dlcResourcesTemporarySpace(resources, cpu, &space),
              DLC_UNAVAILABLE, "closed");
  dlcResourcesDestroy(resources);
  dlcStorageDestroy(storage);
}

/* Those of arrays: memory that the caller bounds, looks at and gives back. */
static void testArrays(DlcEngine engine) {
  DlcStorageOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.byteCap = (uint64_t)16 << 20;
  DlcStorage storage = NULL, same = NULL;
  DlcResources resources = NULL;
  DlcArrayRuntime runtime = NULL;
  DlcNDArray x = NULL, large = NULL;
  const int64_t shape = 1 << 18, much = (int64_t)1 << 30;
  CHECK_OK(dlcStorageCreate(&options, &storage));
  CHECK_OK(dlcArrayRuntimeCreateWith(engine, storage, NULL, &runtime));
  CHECK_OK(dlcArrayRuntimeGetStorage(runtime, &same));
  CHECK_OK(dlcArrayRuntimeGetResources(runtime, &resources));
  CHECK_OK(dlcNDArrayCreate(runtime, DLC_F32, &shape, 1, cpu, &x));
  CHECK_OK(dlcNDArrayFill(x, 1));
  CHECK_OK(dlcNDArrayWait(x, DLC_USE_READ));
  CHECK(liveBytes(storage, cpu) == 4u << 18);
  CHECK(liveBytes(same, cpu) == 4u << 18);
  CHECK_OK(dlcNDArrayCreate(runtime, DLC_F32, &much, 1, cpu, &large));
  CHECK_OK(dlcNDArrayFill(large, 1));
  CHECK_ERROR(dlcNDArrayWait(large, DLC_USE_READ), DLC_OUT_OF_MEMORY,
              "cannot allocate");
  dlcNDArrayDestroy(large);
  /* The seed of the resources is that of the arrays. */
  float first[4], second[4];
  DlcNDArray part = NULL;
  CHECK_OK(dlcNDArraySlice(x, 0, 4, &part));
  CHECK_OK(dlcResourcesSeed(resources, 3));
  CHECK_OK(dlcNDArrayFillUniform(part, 0, 1));
  CHECK_OK(dlcNDArrayCopyToHost(part, first, sizeof(first)));
  CHECK_OK(dlcArrayRuntimeSeed(runtime, 3));
  CHECK_OK(dlcNDArrayFillUniform(part, 0, 1));
  CHECK_OK(dlcNDArrayCopyToHost(part, second, sizeof(second)));
  CHECK(!memcmp(first, second, sizeof(first)));
  dlcNDArrayDestroy(part);
  dlcNDArrayDestroy(x);
  dlcArrayRuntimeDestroy(runtime);
  CHECK_OK(dlcResourcesTrim(resources));
  CHECK_OK(dlcEngineWaitForAll(engine));
  CHECK(liveBytes(storage, cpu) == 0);
  dlcResourcesDestroy(resources);
  dlcStorageDestroy(same);
  dlcStorageDestroy(storage);
  CHECK_ERROR(dlcArrayRuntimeGetStorage(NULL, &same), DLC_INVALID_ARGUMENT,
              "a runtime");
  CHECK_ERROR(dlcArrayRuntimeGetResources(NULL, &resources),
              DLC_INVALID_ARGUMENT, "a runtime");
  DlcResourceOptions wrong;
  memset(&wrong, 0, sizeof(wrong));
  runtime = NULL;
  CHECK_ERROR(dlcArrayRuntimeCreateWith(engine, NULL, &wrong, &runtime),
              DLC_INVALID_ARGUMENT, "structSize");
  CHECK(runtime == NULL);
}

int main(void) {
  for (int kind = DLC_ENGINE_PER_DEVICE; kind <= DLC_ENGINE_NAIVE; ++kind) {
    DlcEngine engine = makeEngine((DlcEngineKind)kind);
    DlcStorage storage = NULL;
    CHECK_OK(dlcStorageCreate(NULL, &storage));
    testSpace(engine, storage);
    testGuards(engine, storage);
    testRandom(engine, storage);
    testParallelRandom(engine, storage);
    testDropout(engine, storage);
    testBadCalls(engine, storage);
    testArrays(engine);
    dlcEngineDestroy(engine);
    dlcStorageDestroy(storage);
    testEnds((DlcEngineKind)kind);
  }
  testDistributions();
  testExtremes();
  return failures != 0;
}
