/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine's C API from C, against the shared library, on each kind of
 * engine.
 */

#include "dlc-c/Engine.h"
#include "Check.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const DlcContext cpu = {DLC_DEVICE_CPU, 0};

static DlcStatus addOne(void *data, DlcContext context) {
  CHECK(context.kind == DLC_DEVICE_CPU && context.index == 0);
  ++*(int *)data;
  return NULL;
}

static DlcStatus fail(void *data, DlcContext context) {
  (void)data, (void)context;
  return dlcStatusCreate(DLC_DATA_LOSS, "no such weight");
}

static void completeTwice(void *data, DlcContext context,
                          DlcCompletion completion) {
  (void)context;
  ++*(int *)data;
  CHECK_OK(dlcCompletionComplete(completion, NULL));
  CHECK_ERROR(
      dlcCompletionComplete(completion, dlcStatusCreate(DLC_INTERNAL, "again")),
      DLC_INVALID_ARGUMENT, "another");
  dlcCompletionDestroy(completion);
}

static void forget(void *data, DlcContext context, DlcCompletion completion) {
  (void)data, (void)context;
  dlcCompletionDestroy(completion);
}

static void countEnds(void *data) { *(int *)data += 100; }

/* What belongs to a function ends once, refused or not. */
static void testEnds(DlcEngine engine) {
  static DlcVariable many[1 << 17];
  DlcVariable v[2];
  for (int i = 0; i != 2; ++i)
    CHECK_OK(dlcEngineNewVariable(engine, &v[i]));
  int ends = 0;
  CHECK_OK(dlcEnginePushSync(engine, addOne, &ends, countEnds, cpu, NULL, 0, v,
                             1, NULL));
  CHECK_OK(dlcEngineWaitForAll(engine));
  CHECK(ends == 101);
  DlcOperator operation = {7, 7};
  const struct {
    const DlcVariable *reads, *writes;
    int32_t readCount, writeCount;
    const char *message;
  } bad[] = {
      {v, NULL, -1, 0, "expected a number of variables, got -1"},
      {NULL, v, 0, -2, "expected a number of variables, got -2"},
      {v, NULL, 1, -1, "expected a number of variables, got -1"},
      {NULL, NULL, 2, 0, "expected variables, got null"},
      {v, NULL, 1, 2, "expected variables, got null"},
      {v, v, 1, 1, "twice"},
      {NULL, many, 0, 1 << 17, "expected at most 65536 variables, got 131072"},
  };
  for (size_t i = 0; i != sizeof(bad) / sizeof(*bad); ++i) {
    ends = 0;
    CHECK_ERROR(dlcEnginePushSync(engine, addOne, &ends, countEnds, cpu,
                                  bad[i].reads, bad[i].readCount, bad[i].writes,
                                  bad[i].writeCount, NULL),
                DLC_INVALID_ARGUMENT, bad[i].message);
    CHECK(ends == 100);
    CHECK_ERROR(dlcEnginePushAsync(engine, completeTwice, &ends, countEnds, cpu,
                                   bad[i].reads, bad[i].readCount,
                                   bad[i].writes, bad[i].writeCount, NULL),
                DLC_INVALID_ARGUMENT, bad[i].message);
    CHECK(ends == 200);
    CHECK_ERROR(dlcEngineNewOperator(engine, addOne, &ends, countEnds,
                                     bad[i].reads, bad[i].readCount,
                                     bad[i].writes, bad[i].writeCount, NULL,
                                     &operation),
                DLC_INVALID_ARGUMENT, bad[i].message);
    CHECK(ends == 300);
    CHECK_ERROR(dlcEngineNewAsyncOperator(engine, completeTwice, &ends,
                                          countEnds, bad[i].reads,
                                          bad[i].readCount, bad[i].writes,
                                          bad[i].writeCount, NULL, &operation),
                DLC_INVALID_ARGUMENT, bad[i].message);
    CHECK(ends == 400);
  }
  CHECK(operation.index == 7 && operation.stamp == 7);
  CHECK_ERROR(dlcEnginePushSync(engine, NULL, &ends, countEnds, cpu, NULL, 0, v,
                                1, NULL),
              DLC_INVALID_ARGUMENT, "null");
  CHECK(ends == 500);
  for (int i = 0; i != 2; ++i)
    CHECK_OK(dlcEngineDeleteVariable(engine, NULL, NULL, cpu, v[i]));
}

static void testPushes(DlcEngine engine) {
  DlcVariable v[3];
  for (int i = 0; i != 3; ++i)
    CHECK_OK(dlcEngineNewVariable(engine, &v[i]));
  int count = 0;
  for (int i = 0; i != 10; ++i)
    CHECK_OK(dlcEnginePushSync(engine, addOne, &count, NULL, cpu, v, 1, v + 1,
                               2, NULL));
  CHECK_OK(dlcEngineWaitForVariable(engine, v[2], DLC_USE_READ));
  CHECK(count == 10);
  uint64_t version = 7;
  CHECK_OK(dlcEngineVersion(engine, v[1], &version));
  CHECK(version == 10);
  CHECK_OK(dlcEngineVersion(engine, v[0], &version));
  CHECK(version == 0);

  int completions = 0;
  CHECK_OK(dlcEnginePushAsync(engine, completeTwice, &completions, NULL, cpu,
                              NULL, 0, v, 1, NULL));
  CHECK_OK(dlcEngineWaitForVariable(engine, v[0], DLC_USE_WRITE));
  CHECK(completions == 1);
  CHECK_OK(
      dlcEnginePushAsync(engine, forget, NULL, NULL, cpu, NULL, 0, v, 1, NULL));
  CHECK_ERROR(dlcEngineWaitForAll(engine), DLC_INVALID_ARGUMENT, "dropped");
  for (int i = 0; i != 3; ++i) { /* which share no variable: one at a time */
    CHECK_OK(dlcEngineDeleteVariable(engine, addOne, &count, cpu, v[i]));
    CHECK_OK(dlcEngineWaitForAll(engine));
  }
  CHECK_ERROR(dlcEngineDeleteVariable(engine, NULL, NULL, cpu, v[0]),
              DLC_INVALID_ARGUMENT, "deleted");
  CHECK_OK(dlcEngineWaitForAll(engine));
  CHECK(count == 13);
}

static void testErrors(DlcEngine engine) {
  DlcVariable x;
  CHECK_OK(dlcEngineNewVariable(engine, &x));
  char name[] = "load";
  DlcPushOptions options = {
      sizeof(options), DLC_OPERATION_NORMAL, 0, name, "net: 3", 64};
  CHECK_OK(dlcEnginePushSync(engine, fail, NULL, NULL, cpu, NULL, 0, &x, 1,
                             &options));
  memset(name, 'x', 4); /* It was copied. */
  CHECK_ERROR(dlcEngineWaitForVariable(engine, x, DLC_USE_READ), DLC_DATA_LOSS,
              "operation 'load' (net: 3): no such weight");
  CHECK_OK(dlcEngineWaitForVariable(engine, x, DLC_USE_READ));
  options.property = (DlcOperationProperty)99;
  CHECK_ERROR(dlcEnginePushSync(engine, fail, NULL, NULL, cpu, NULL, 0, &x, 1,
                                &options),
              DLC_INVALID_ARGUMENT, "expected a property, got 99");
  DlcContext nowhere = {DLC_DEVICE_CUDA, -3};
  CHECK_ERROR(dlcEnginePushSync(engine, fail, NULL, NULL, nowhere, NULL, 0, &x,
                                1, NULL),
              DLC_INVALID_ARGUMENT, "number -3");
  CHECK_OK(dlcEngineDeleteVariable(engine, NULL, NULL, cpu, x));
}

static void testOperators(DlcEngine engine) {
  DlcVariable x;
  CHECK_OK(dlcEngineNewVariable(engine, &x));
  DlcOperator operation;
  int count = 0;
  CHECK_OK(dlcEngineNewOperator(engine, addOne, &count, countEnds, NULL, 0, &x,
                                1, NULL, &operation));
  uint32_t previous = 7;
  CHECK_OK(dlcEngineSetBulkSize(engine, 5, &previous));
  CHECK(previous == 0);
  for (int i = 0; i != 3; ++i)
    CHECK_OK(dlcEnginePush(engine, operation, cpu, 0));
  CHECK_OK(dlcEngineSetBulkSize(engine, 0, NULL));
  CHECK_OK(dlcEngineDeleteOperator(engine, operation));
  CHECK_ERROR(dlcEnginePush(engine, operation, cpu, 0), DLC_INVALID_ARGUMENT,
              "operator");
  CHECK_OK(dlcEngineWaitForAll(engine));
  CHECK(count == 103);
  CHECK_OK(dlcEngineNewAsyncOperator(engine, completeTwice, &count, countEnds,
                                     NULL, 0, &x, 1, NULL, &operation));
  for (int i = 0; i != 3; ++i)
    CHECK_OK(dlcEnginePush(engine, operation, cpu, 0));
  CHECK_OK(dlcEngineDeleteOperator(engine, operation));
  CHECK_OK(dlcEngineWaitForAll(engine));
  CHECK(count == 206);
  CHECK_OK(dlcEngineDeleteVariable(engine, NULL, NULL, cpu, x));
}

/* What an operation gives back early is free for others while it runs. */
typedef struct {
  DlcEngine engine;
  DlcVariable early, late, other;
  atomic_int seen; /* by the reader of `early` */
  int isThreaded;
} Releasing;

static DlcStatus see(void *data, DlcContext context) {
  (void)context;
  ((Releasing *)data)->seen = 1;
  return NULL;
}

static DlcStatus releaseEarly(void *data, DlcContext context) {
  (void)context;
  Releasing *it = data;
  DlcRun run = dlcRunCurrent();
  CHECK(run != NULL && dlcRunWorker(run) < 1000);
  CHECK_ERROR(dlcRunRelease(run, it->other), DLC_INVALID_ARGUMENT, "hold");
  CHECK_OK(dlcRunRelease(run, it->early));
  CHECK_ERROR(dlcRunRelease(run, it->early), DLC_INVALID_ARGUMENT, "hold");
  while (it->isThreaded && !it->seen)
    ; /* The reader runs beside this. */
  return dlcStatusCreate(DLC_DATA_LOSS, "too late for it");
}

static void testReleases(DlcEngine engine, int isThreaded) {
  static Releasing it; /* which operations may outlive a failed check */
  memset(&it, 0, sizeof(it));
  it.engine = engine;
  it.isThreaded = isThreaded;
  DlcVariable *all[] = {&it.early, &it.late, &it.other};
  for (int i = 0; i != 3; ++i)
    CHECK_OK(dlcEngineNewVariable(engine, all[i]));
  DlcVariable held[] = {it.early, it.late};
  CHECK(dlcRunCurrent() == NULL);
  CHECK_OK(dlcEnginePushSync(engine, releaseEarly, &it, NULL, cpu, NULL, 0,
                             held, 2, NULL));
  CHECK_OK(dlcEnginePushSync(engine, see, &it, NULL, cpu, &it.early, 1, NULL, 0,
                             NULL));
  CHECK_OK(dlcEngineWaitForVariable(engine, it.early, DLC_USE_WRITE));
  CHECK(it.seen);
  CHECK_ERROR(dlcEngineWaitForVariable(engine, it.late, DLC_USE_READ),
              DLC_DATA_LOSS, "too late");
  CHECK(dlcRunCurrent() == NULL);
  CHECK_ERROR(dlcRunRelease(NULL, it.early), DLC_INVALID_ARGUMENT,
              "expected a run of an operation, got null");
  CHECK(dlcRunWorker(NULL) == 0);
  for (int i = 0; i != 3; ++i)
    CHECK_OK(dlcEngineDeleteVariable(engine, NULL, NULL, cpu, *all[i]));
}

/* A variable of a resource bears no errors. */
static void testKindsOfVariables(DlcEngine engine) {
  DlcVariable v[2];
  int count = 0;
  for (int kind = 0; kind != 2; ++kind)
    CHECK_OK(
        dlcEngineNewVariableOfKind(engine, (DlcVariableKind)kind, &v[kind]));
  CHECK_OK(
      dlcEnginePushSync(engine, fail, NULL, NULL, cpu, NULL, 0, v, 2, NULL));
  CHECK_OK(dlcEnginePushSync(engine, addOne, &count, NULL, cpu, NULL, 0, v + 1,
                             1, NULL));
  CHECK_OK(dlcEngineWaitForVariable(engine, v[1], DLC_USE_READ));
  CHECK(count == 1);
  CHECK_ERROR(dlcEngineWaitForVariable(engine, v[0], DLC_USE_READ),
              DLC_DATA_LOSS, "no such weight");
  for (int i = 0; i != 2; ++i)
    CHECK_OK(dlcEngineDeleteVariable(engine, NULL, NULL, cpu, v[i]));
  DlcVariable none = {7, 7};
  CHECK_ERROR(dlcEngineNewVariableOfKind(engine, (DlcVariableKind)2, &none),
              DLC_INVALID_ARGUMENT, "expected a kind of variable, got 2");
  CHECK_ERROR(dlcEngineNewVariableOfKind(NULL, DLC_VARIABLE_VALUE, &none),
              DLC_INVALID_ARGUMENT, "null");
  CHECK(none.index == 7 && none.stamp == 7);
}

typedef struct {
  atomic_int starts, finishes, failures;
  _Atomic uint64_t last;
} Seen;

static void onStart(void *data, const DlcOperationInfo *operation) {
  Seen *seen = data;
  CHECK(operation->name && !strcmp(operation->name, "watched"));
  CHECK(operation->origin && !strcmp(operation->origin, "net: 3"));
  CHECK(operation->priority == 4 && operation->context.kind == DLC_DEVICE_CPU);
  CHECK(operation->property == DLC_OPERATION_NO_SKIP);
  seen->last = operation->id;
  ++seen->starts;
}

static void onFinish(void *data, const DlcOperationInfo *operation,
                     DlcStatusCode code, const char *message) {
  Seen *seen = data;
  (void)operation;
  ++seen->finishes;
  seen->failures += code == DLC_DATA_LOSS && !strcmp(message, "no such weight");
  CHECK(code == DLC_DATA_LOSS || (code == DLC_OK && !strcmp(message, "")));
}

static void testObservers(DlcEngineOptions options) {
  static Seen seen;
  memset(&seen, 0, sizeof(seen));
  options.onStart = onStart;
  options.onFinish = onFinish;
  options.observerData = &seen;
  DlcEngine engine = NULL;
  DlcVariable x;
  CHECK_OK(dlcEngineCreate(&options, &engine));
  CHECK_OK(dlcEngineNewVariable(engine, &x));
  DlcPushOptions watched = {
      sizeof(watched), DLC_OPERATION_NO_SKIP, 4, "watched", "net: 3", 0};
  int count = 0;
  uint64_t before = 0;
  for (int i = 0; i != 10; ++i) {
    CHECK_OK(dlcEnginePushSync(engine, i == 5 ? fail : addOne, &count, NULL,
                               cpu, NULL, 0, &x, 1, &watched));
    dlcStatusDestroy(dlcEngineWaitForAll(engine));
    CHECK(i == 0 || seen.last > before);
    before = seen.last;
  }
  CHECK(seen.starts == 10 && seen.finishes == 10 && seen.failures == 1);
  dlcEngineDestroy(engine);
}

static void keepLength(void *data, const char *text) {
  *(size_t *)data = strlen(text);
}

static void testLife(DlcEngine engine) {
  CHECK_OK(dlcEngineStop(engine));
  DlcVariable x;
  CHECK_OK(dlcEngineNewVariable(engine, &x));
  int count = 0;
  CHECK_ERROR(dlcEnginePushSync(engine, addOne, &count, NULL, cpu, NULL, 0, &x,
                                1, NULL),
              DLC_UNAVAILABLE, "stopped");
  uint32_t previous = 7;
  CHECK_ERROR(dlcEngineSetBulkSize(engine, 10, &previous), DLC_UNAVAILABLE,
              "stopped");
  CHECK(previous == 7);
  CHECK_OK(dlcEngineSetBulkSize(engine, 0, &previous));
  CHECK(previous == 0);
  CHECK_OK(dlcEngineStart(engine));
  size_t length = 0;
  CHECK_OK(dlcEngineDump(engine, keepLength, &length));
  CHECK(length > 0);
  DlcEngineStatistics numbers = {sizeof(numbers), 0, 0, 0, 0, 0, 0, 0, 0};
  CHECK_OK(dlcEngineGetStatistics(engine, &numbers));
  CHECK(numbers.inFlight == 0 && numbers.failed == 4);
  CHECK_OK(dlcEngineClose(engine));
  CHECK_ERROR(dlcEnginePushSync(engine, addOne, &count, NULL, cpu, NULL, 0, &x,
                                1, NULL),
              DLC_UNAVAILABLE, "closed");
  CHECK_OK(dlcEngineDeleteVariable(engine, addOne, &count, cpu, x));
  CHECK(count == 1);
}

/* Every function that takes a variable or an operator, with one that names
 * none of `engine`'s. */
static void refuseHandles(DlcEngine engine, DlcVariable v, DlcOperator op,
                          const char *text) {
  int ends = 0;
  uint64_t version = 7;
  DlcOperator made = {7, 7};
  CHECK_ERROR(dlcEngineDeleteVariable(engine, addOne, &ends, cpu, v),
              DLC_INVALID_ARGUMENT, text);
  CHECK_ERROR(dlcEngineVersion(engine, v, &version), DLC_INVALID_ARGUMENT,
              text);
  CHECK_ERROR(dlcEngineWaitForVariable(engine, v, DLC_USE_WRITE),
              DLC_INVALID_ARGUMENT, text);
  CHECK_ERROR(dlcEnginePushSync(engine, addOne, &ends, countEnds, cpu, &v, 1,
                                NULL, 0, NULL),
              DLC_INVALID_ARGUMENT, text);
  CHECK_ERROR(dlcEnginePushAsync(engine, forget, &ends, countEnds, cpu, NULL, 0,
                                 &v, 1, NULL),
              DLC_INVALID_ARGUMENT, text);
  CHECK_ERROR(dlcEngineNewOperator(engine, addOne, &ends, countEnds, NULL, 0,
                                   &v, 1, NULL, &made),
              DLC_INVALID_ARGUMENT, text);
  CHECK_ERROR(dlcEnginePush(engine, op, cpu, 0), DLC_INVALID_ARGUMENT, text);
  CHECK_ERROR(dlcEngineDeleteOperator(engine, op), DLC_INVALID_ARGUMENT, text);
  /* Ended where that was promised, and never called. */
  CHECK(ends == 300 && version == 7 && made.index == 7 && made.stamp == 7);
}

static void testHandles(DlcEngine engine) {
  DlcVariable v, none = {0, 0}, wild = {UINT32_MAX, 5};
  DlcOperator op, noOperator = {0, 0}, wildOperator = {UINT32_MAX, 5};
  CHECK_OK(dlcEngineNewVariable(engine, &v));
  CHECK_OK(dlcEngineNewOperator(engine, addOne, NULL, NULL, NULL, 0, &v, 1,
                                NULL, &op));
  DlcEngine other = NULL;
  CHECK_OK(dlcEngineCreate(NULL, &other));
  refuseHandles(engine, none, noOperator, "got null");
  refuseHandles(engine, wild, wildOperator, "belongs to another");
  refuseHandles(other, v, op, "belongs to another");
  CHECK_OK(dlcEngineDeleteOperator(engine, op));
  CHECK_OK(dlcEngineDeleteVariable(engine, NULL, NULL, cpu, v));
  refuseHandles(engine, v, op, "deleted");
  CHECK_OK(dlcEngineWaitForAll(engine));
  /* Others that take their places are others. */
  DlcVariable next;
  DlcOperator nextOperator;
  CHECK_OK(dlcEngineNewVariable(engine, &next));
  CHECK_OK(dlcEngineNewOperator(engine, addOne, NULL, NULL, NULL, 0, &next, 1,
                                NULL, &nextOperator));
  CHECK(next.index == v.index && nextOperator.index == op.index);
  refuseHandles(engine, v, op, "deleted");
  CHECK_OK(dlcEngineDeleteOperator(engine, nextOperator));
  CHECK_OK(dlcEngineDeleteVariable(engine, NULL, NULL, cpu, next));
  dlcEngineDestroy(other);
}

static void testNulls(void) {
  DlcVariable none = {0, 0};
  DlcOperator noOperator = {0, 0};
  DlcEngineStatistics numbers = {sizeof(numbers), 0, 0, 0, 0, 0, 0, 0, 0};
  size_t length = 0;
  refuseHandles(NULL, none, noOperator, "an engine");
  CHECK_ERROR(dlcEngineCreate(NULL, NULL), DLC_INVALID_ARGUMENT, "null");
  CHECK_ERROR(dlcEngineNewVariable(NULL, &none), DLC_INVALID_ARGUMENT, "null");
  CHECK_ERROR(dlcEngineWaitForAll(NULL), DLC_INVALID_ARGUMENT, "null");
  CHECK_ERROR(dlcEngineSetBulkSize(NULL, 2, NULL), DLC_INVALID_ARGUMENT,
              "null");
  CHECK_ERROR(dlcEngineDump(NULL, keepLength, &length), DLC_INVALID_ARGUMENT,
              "null");
  CHECK_ERROR(dlcEngineGetStatistics(NULL, &numbers), DLC_INVALID_ARGUMENT,
              "null");
  CHECK_ERROR(dlcEngineStop(NULL), DLC_INVALID_ARGUMENT, "null");
  CHECK_ERROR(dlcEngineStart(NULL), DLC_INVALID_ARGUMENT, "null");
  CHECK_ERROR(dlcEngineClose(NULL), DLC_INVALID_ARGUMENT, "null");
  CHECK_ERROR(dlcCompletionComplete(NULL, dlcStatusCreate(DLC_INTERNAL, "x")),
              DLC_INVALID_ARGUMENT, "null");
  dlcCompletionDestroy(NULL);
  dlcEngineDestroy(NULL);
}

static void keep(void *data, DlcContext context, DlcCompletion completion) {
  (void)context;
  atomic_store((_Atomic(DlcCompletion) *)data, completion);
}

static void noteStall(void *data, const char *report) {
  if (strstr(report, "'stuck'"))
    atomic_store((atomic_int *)data, 1);
}

/* An operation that never completes is named by the watchdog and holds up
 * nobody for ever, and its handle is good for longer than the engine. */
static void testLateCompletion(DlcEngineOptions options) {
  atomic_int isNamed = 0;
  options.closePatienceMilliseconds = 1;
  options.watchdogMilliseconds = 5;
  options.onStall = noteStall;
  options.stallData = &isNamed;
  DlcEngine engine = NULL;
  _Atomic(DlcCompletion) completion = NULL;
  CHECK_OK(dlcEngineCreate(&options, &engine));
  DlcPushOptions name = {
      sizeof(name), DLC_OPERATION_ASYNC, 0, "stuck", NULL, 0};
  CHECK_OK(dlcEnginePushAsync(engine, keep, &completion, NULL, cpu, NULL, 0,
                              NULL, 0, &name));
  while (!atomic_load(&completion))
    ; /* Its function has not started. */
  while (!atomic_load(&isNamed))
    ; /* The watchdog looks again. */
  CHECK_ERROR(dlcEngineClose(engine), DLC_UNAVAILABLE, "'stuck'");
  for (int i = 0; i != 2; ++i) {
    CHECK_ERROR(dlcCompletionComplete(completion, NULL), DLC_UNAVAILABLE,
                "is closed: it has completed before or was given up");
    dlcEngineDestroy(engine);
    engine = NULL; /* Which is harmless to destroy. */
  }
  dlcCompletionDestroy(completion);
}

/* One thread that takes a random operation among those that are ready. */
static int *place;
static DlcStatus notePlace(void *data, DlcContext context) {
  (void)context;
  *place++ = (int)(intptr_t)data;
  return NULL;
}

static DlcStatus waitForGate(void *data, DlcContext context) {
  (void)context;
  while (!*(atomic_int *)data)
    ;
  return NULL;
}

static void recordOrder(DlcEngineOptions options, uint64_t seed, int *order) {
  atomic_int gate = 0;
  options.cpuWorkers = 1;
  options.callerHelp = DLC_HELP_NEVER;
  options.fuzzSeed = seed;
  place = order;
  DlcEngine engine = NULL;
  CHECK_OK(dlcEngineCreate(&options, &engine));
  if (options.kind == DLC_ENGINE_NAIVE)
    gate = 1;
  DlcVariable x; /* which holds the others up */
  CHECK_OK(dlcEngineNewVariable(engine, &x));
  CHECK_OK(dlcEnginePushSync(engine, waitForGate, &gate, NULL, cpu, NULL, 0, &x,
                             1, NULL));
  for (intptr_t i = 0; i != 100; ++i)
    CHECK_OK(dlcEnginePushSync(engine, notePlace, (void *)i, NULL, cpu, &x, 1,
                               NULL, 0, NULL));
  gate = 1;
  CHECK_OK(dlcEngineWaitForAll(engine));
  dlcEngineDestroy(engine);
}

static void testOptions(DlcEngineOptions options) {
  int first[100], second[100], third[100];
  recordOrder(options, 1, first);
  recordOrder(options, 1, second);
  recordOrder(options, 2, third);
  CHECK(!memcmp(first, second, sizeof(first)));
  CHECK(options.kind == DLC_ENGINE_NAIVE ||
        memcmp(first, third, sizeof(first)));
  DlcEngine engine = NULL;
  options.priorityWorkers = 2;
  options.maxSpareWorkers = 3;
  options.queueSlots = 32;
  CHECK_OK(dlcEngineCreate(&options, &engine));
  dlcEngineDestroy(engine);
  if (options.kind == DLC_ENGINE_NAIVE) /* which has no threads */
    return;
  engine = NULL;
  options.priorityWorkers = 2000;
  CHECK_ERROR(dlcEngineCreate(&options, &engine), DLC_INVALID_ARGUMENT, "2000");
  CHECK(engine == NULL);
}

/* What no wait was told of comes out of the close, and once. */
static void testClose(DlcEngineOptions options) {
  DlcEngine engine = NULL;
  CHECK_OK(dlcEngineCreate(&options, &engine));
  DlcPushOptions push = {
      sizeof(push), DLC_OPERATION_NORMAL, 0, "load", NULL, 0};
  CHECK_OK(dlcEnginePushSync(engine, fail, NULL, NULL, cpu, NULL, 0, NULL, 0,
                             &push));
  CHECK_OK(dlcEngineStop(engine));
  CHECK_OK(dlcEngineStart(engine));
  CHECK_ERROR(dlcEngineClose(engine), DLC_DATA_LOSS,
              "operation 'load': no such weight");
  CHECK_OK(dlcEngineClose(engine));
  CHECK_OK(dlcEngineWaitForAll(engine));
  dlcEngineDestroy(engine);
}

static DlcStatus destroyInside(void *data, DlcContext context) {
  (void)context;
  dlcEngineDestroy(data);
  return NULL;
}

/* The process of that ends with one line. */
static void testDestroyInside(DlcEngineOptions options) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    DlcEngine engine = NULL;
    DlcPushOptions named = {
        sizeof(named), DLC_OPERATION_NORMAL, 0, "last", NULL, 0};
    dup2(ends[1], STDERR_FILENO);
    alarm(20);
    dlcStatusDestroy(dlcEngineCreate(&options, &engine));
    dlcStatusDestroy(dlcEnginePushSync(engine, destroyInside, engine, NULL, cpu,
                                       NULL, 0, NULL, 0, &named));
    dlcStatusDestroy(dlcEngineWaitForAll(engine));
    _exit(0);
  }
  close(ends[1]);
  char text[4096];
  size_t size = 0;
  for (ssize_t got;
       (got = read(ends[0], text + size, sizeof(text) - 1 - size)) > 0;)
    size += (size_t)got;
  text[size] = 0;
  close(ends[0]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
        WTERMSIG(status) == SIGABRT);
  CHECK(strstr(text, "dlc: expected the end of an engine outside of its "
                     "operations, got it inside operation 'last'\n") != NULL);
}

int main(void) {
  for (int kind = DLC_ENGINE_PER_DEVICE; kind <= DLC_ENGINE_NAIVE; ++kind) {
    DlcEngineOptions options;
    memset(&options, 0, sizeof(options));
    options.structSize = sizeof(options);
    options.kind = (DlcEngineKind)kind;
    options.cpuWorkers = 2;
    DlcEngine engine = NULL;
    CHECK_OK(dlcEngineCreate(&options, &engine));
    if (!engine)
      return 1;
    testPushes(engine);
    testEnds(engine);
    testErrors(engine);
    testOperators(engine);
    testReleases(engine, kind != DLC_ENGINE_NAIVE);
    testKindsOfVariables(engine);
    testHandles(engine);
    testLife(engine);
    dlcEngineDestroy(engine);
    testDestroyInside(options);
    testClose(options);
    testObservers(options);
    testOptions(options);
    if (kind != DLC_ENGINE_NAIVE) /* which completes inside the push */
      testLateCompletion(options);
  }
  DlcEngineOptions wrong;
  memset(&wrong, 0, sizeof(wrong));
  DlcEngine engine = NULL;
  CHECK_ERROR(dlcEngineCreate(&wrong, &engine), DLC_INVALID_ARGUMENT,
              "structSize");
  wrong.structSize = sizeof(wrong);
  wrong.kind = (DlcEngineKind)3;
  CHECK_ERROR(dlcEngineCreate(&wrong, &engine), DLC_INVALID_ARGUMENT,
              "a kind of engine, got 3");
  CHECK(engine == NULL);
  testNulls();
  CHECK_ERROR(dlcStatusCreate((DlcStatusCode)99, "odd"), DLC_INVALID_ARGUMENT,
              "expected a code of an error, got 99: odd");
  CHECK_ERROR(dlcStatusCreate((DlcStatusCode)-1, NULL), DLC_INVALID_ARGUMENT,
              "expected a code of an error, got -1");
  return failures != 0;
}
