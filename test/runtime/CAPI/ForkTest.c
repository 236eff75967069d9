/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles of the C API in the child of a fork() that happens while another
 * thread is inside of a function of theirs: whatever it holds, the child gets
 * on. Its alarm ends it where it does not.
 */

#include "Check.h"
#include "dlc-c/NDArray.h"
#include "dlc-c/Profiler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static const DlcContext cpu = {DLC_DEVICE_CPU, 0};

static const int64_t shape[] = {3};

typedef struct {
  DlcEngine engine;
  DlcStorage storage;
  DlcProfiler profiler;
  DlcResources resources;
  DlcRandom random;
  DlcParallelRandom numbers;
  DlcDropoutState dropout;
  DlcArrayRuntime runtime;
  DlcNDArray array;
} Handles;

static Handles handles;
static atomic_int isOver;

static DlcProfileEvent someEvent(void) {
  DlcProfileEvent event;
  memset(&event, 0, sizeof(event));
  event.structSize = sizeof(event);
  event.name = "event";
  event.device = cpu;
  return event;
}

static void *changeProfiler(void *data) {
  (void)data;
  while (!isOver) {
    dlcStatusDestroy(dlcStorageSetProfiler(handles.storage, handles.profiler));
    dlcStatusDestroy(dlcStorageSetProfiler(handles.storage, NULL));
  }
  return NULL;
}

/* Each with a name of its own, which the profiler keeps. */
static void *addEvents(void *data) {
  DlcProfileEvent event = someEvent();
  char name[64];
  (void)data;
  event.name = name;
  for (int i = 0; i == 0 || !isOver; ++i) {
    snprintf(name, sizeof(name), "an event with a long name, number %d", i);
    dlcStatusDestroy(dlcProfilerAdd(handles.profiler, &event));
  }
  return NULL;
}

static void *takeNumbers(void *data) {
  DlcRandomDraws draws;
  DlcDropoutMask mask;
  (void)data;
  while (!isOver) {
    dlcStatusDestroy(dlcRandomTake(handles.random, 1, &draws));
    dlcStatusDestroy(dlcParallelRandomTake(handles.numbers, 1, &draws));
    dlcStatusDestroy(dlcDropoutStateNext(handles.dropout, 1, 0.5, &mask));
  }
  return NULL;
}

static void *askForSpace(void *data) {
  DlcTemporarySpace space;
  (void)data;
  while (!isOver)
    dlcStatusDestroy(
        dlcResourcesTemporarySpace(handles.resources, cpu, &space));
  return NULL;
}

/* The parent's refuse, and say so, whether the engine was started or not. */
static void refuseArray(void) {
  const char *message = "the array belongs to another process";
  float values[3];
  DlcNDArray view = NULL;
  uint64_t version;
  CHECK_ERROR(dlcNDArrayFill(handles.array, 1), DLC_UNAVAILABLE, message);
  CHECK_ERROR(dlcNDArrayCopyToHost(handles.array, values, sizeof(values)),
              DLC_UNAVAILABLE, message);
  CHECK_ERROR(dlcNDArrayWait(handles.array, DLC_USE_READ), DLC_UNAVAILABLE,
              message);
  CHECK_ERROR(dlcNDArrayApply("exp", &handles.array, 1, &handles.array, 1),
              DLC_UNAVAILABLE, message);
  CHECK_ERROR(dlcNDArrayVersion(handles.array, &version), DLC_UNAVAILABLE,
              message);
  CHECK_ERROR(dlcNDArraySlice(handles.array, 0, 1, &view), DLC_UNAVAILABLE,
              message);
  CHECK_ERROR(
      dlcNDArraySave("/nowhere/x", DLC_ARRAY_NPY, NULL, &handles.array, 1),
      DLC_UNAVAILABLE, message);
  CHECK(view == NULL);
}

static void useArrays(void) {
  DlcNDArray own = NULL;
  float values[3];
  CHECK_OK(dlcNDArrayCreate(handles.runtime, DLC_F32, shape, 1, cpu, &own));
  CHECK_OK(dlcNDArrayFill(own, 4));
  CHECK_OK(dlcNDArrayCopyToHost(own, values, sizeof(values)));
  CHECK(values[2] == 4);
  CHECK_ERROR(dlcNDArrayCopyTo(handles.array, own), DLC_UNAVAILABLE,
              "the array belongs to another process");
  dlcNDArrayDestroy(own);
}

/* What was the parent's is empty here, or made anew; all can be destroyed. */
static int useInChild(void) {
  DlcProfileEvent event = someEvent();
  const char *text = NULL;
  DlcTemporarySpace space = NULL;
  DlcVariable variable;
  DlcProfiler own = NULL;
  DlcEngine engine = NULL;
  DlcEngineOptions options;
  DlcParallelRandom numbers = NULL;
  DlcRandomDraws draws;
  DlcDropoutMask mask;
  DlcBlock block = NULL;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.profiler = handles.profiler;
  failures = 0;
  CHECK_ERROR(dlcRandomTake(handles.random, 1, &draws), DLC_UNAVAILABLE,
              "a fork()");
  CHECK_ERROR(dlcParallelRandomTake(handles.numbers, 1, &draws),
              DLC_UNAVAILABLE, "a fork()");
  CHECK_ERROR(dlcDropoutStateNext(handles.dropout, 1, 0.5, &mask),
              DLC_UNAVAILABLE, "a fork()");
  CHECK_ERROR(dlcStorageSetProfiler(handles.storage, handles.profiler),
              DLC_UNAVAILABLE, "a fork()");
  CHECK_ERROR(dlcEngineCreate(&options, &engine), DLC_UNAVAILABLE, "a fork()");
  CHECK_OK(dlcStorageSetProfiler(handles.storage, NULL));
  CHECK_ERROR(dlcProfilerAdd(handles.profiler, &event), DLC_UNAVAILABLE,
              "a fork()");
  CHECK_ERROR(dlcProfilerStart(handles.profiler), DLC_UNAVAILABLE, "a fork()");
  CHECK_ERROR(dlcProfilerTrace(handles.profiler, &text, NULL), DLC_UNAVAILABLE,
              "a fork()");
  CHECK_ERROR(dlcProfilerTable(handles.profiler, &text), DLC_UNAVAILABLE,
              "a fork()");
  CHECK(dlcProfilerEventCount(handles.profiler) == 0);
  CHECK(dlcProfilerDropped(handles.profiler) == 0);
  CHECK_OK(dlcProfilerCreate(16, &own));
  CHECK_OK(dlcStorageSetProfiler(handles.storage, own));
  CHECK_OK(dlcStorageAllocate(handles.storage, cpu, 100, 0, &block));
  CHECK_OK(dlcProfilerAdd(own, &event));
  CHECK(dlcProfilerEventCount(own) == 1);
  CHECK_OK(dlcProfilerTable(own, &text));
  CHECK(text && strstr(text, "storage of cpu:0"));
  CHECK_ERROR(dlcResourcesTemporarySpace(handles.resources, cpu, &space),
              DLC_UNAVAILABLE, "fork");
  refuseArray();
  CHECK_OK(dlcEngineStart(handles.engine));
  refuseArray();
  useArrays();
  dlcNDArrayDestroy(handles.array);
  dlcArrayRuntimeDestroy(handles.runtime);
  CHECK_OK(dlcResourcesTemporarySpace(handles.resources, cpu, &space));
  CHECK_OK(dlcTemporarySpaceVariable(space, &variable));
  CHECK_OK(dlcResourcesSeed(handles.resources, 3));
  CHECK_OK(dlcResourcesTrim(handles.resources));
  CHECK_OK(dlcResourcesParallelRandom(handles.resources, cpu, &numbers));
  CHECK_OK(dlcParallelRandomTake(numbers, 1, &draws));
  dlcResourcesDestroy(handles.resources);
  dlcEngineDestroy(handles.engine);
  dlcBlockDestroy(block);
  dlcStorageDestroy(handles.storage);
  dlcProfilerDestroy(handles.profiler);
  dlcProfilerDestroy(own);
  return failures;
}

/* A fresh profiler each time: what it keeps is rearranged as it grows, which
 * is often at first. */
static void forkDuring(void *(*use)(void *), int times) {
  for (int i = 0; i != times && !failures; ++i) {
    pthread_t thread;
    CHECK_OK(dlcProfilerCreate(1 << 14, &handles.profiler));
    isOver = 0;
    CHECK(pthread_create(&thread, NULL, use, NULL) == 0);
    usleep(100 * (unsigned)(i % 8));
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(useInChild());
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    isOver = 1;
    pthread_join(thread, NULL);
    CHECK(use != addEvents || dlcProfilerEventCount(handles.profiler) != 0);
    dlcProfilerDestroy(handles.profiler);
  }
}

int main(void) {
  DlcEngineOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.kind = DLC_ENGINE_NAIVE;
  CHECK_OK(dlcEngineCreate(&options, &handles.engine));
  CHECK_OK(dlcStorageCreate(NULL, &handles.storage));
  CHECK_OK(dlcResourcesCreate(handles.engine, handles.storage, NULL,
                              &handles.resources));
  CHECK_OK(dlcResourcesRandom(handles.resources, cpu, &handles.random));
  CHECK_OK(
      dlcResourcesParallelRandom(handles.resources, cpu, &handles.numbers));
  CHECK_OK(dlcResourcesDropoutState(handles.resources, cpu, &handles.dropout));
  CHECK_OK(dlcArrayRuntimeCreate(handles.engine, &handles.runtime));
  CHECK_OK(dlcNDArrayCreate(handles.runtime, DLC_F32, shape, 1, cpu,
                            &handles.array));
  CHECK_OK(dlcNDArrayFill(handles.array, 2));
  forkDuring(changeProfiler, 60);
  forkDuring(addEvents, 200);
  forkDuring(askForSpace, 60);
  forkDuring(takeNumbers, 60);
  dlcNDArrayDestroy(handles.array);
  dlcArrayRuntimeDestroy(handles.runtime);
  dlcResourcesDestroy(handles.resources);
  dlcEngineDestroy(handles.engine);
  dlcStorageDestroy(handles.storage);
  if (!failures)
    printf("all checks passed\n");
  return failures != 0;
}
