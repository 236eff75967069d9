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

typedef struct {
  DlcEngine engine;
  DlcStorage storage;
  DlcProfiler profiler;
  DlcResources resources;
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

static void *addEvents(void *data) {
  DlcProfileEvent event = someEvent();
  (void)data;
  while (!isOver)
    dlcStatusDestroy(dlcProfilerAdd(handles.profiler, &event));
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

/* What was the parent's is empty here, or made anew; all can be destroyed. */
static int useInChild(void) {
  DlcProfileEvent event = someEvent();
  const char *text = NULL;
  DlcTemporarySpace space = NULL;
  DlcVariable variable;
  DlcProfiler own = NULL;
  DlcBlock block = NULL;
  failures = 0;
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
  CHECK_OK(dlcEngineStart(handles.engine));
  CHECK_OK(dlcResourcesTemporarySpace(handles.resources, cpu, &space));
  CHECK_OK(dlcTemporarySpaceVariable(space, &variable));
  CHECK_OK(dlcResourcesSeed(handles.resources, 3));
  CHECK_OK(dlcResourcesTrim(handles.resources));
  dlcResourcesDestroy(handles.resources);
  dlcEngineDestroy(handles.engine);
  dlcBlockDestroy(block);
  dlcStorageDestroy(handles.storage);
  dlcProfilerDestroy(handles.profiler);
  dlcProfilerDestroy(own);
  return failures;
}

static void forkDuring(void *(*use)(void *), int times) {
  pthread_t thread;
  isOver = 0;
  CHECK(pthread_create(&thread, NULL, use, NULL) == 0);
  for (int i = 0; i != times && !failures; ++i) {
    usleep(100 * (unsigned)(i % 8));
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(useInChild());
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  isOver = 1;
  pthread_join(thread, NULL);
}

int main(void) {
  DlcEngineOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.kind = DLC_ENGINE_NAIVE;
  CHECK_OK(dlcEngineCreate(&options, &handles.engine));
  CHECK_OK(dlcStorageCreate(NULL, &handles.storage));
  CHECK_OK(dlcProfilerCreate(1 << 10, &handles.profiler));
  CHECK_OK(dlcResourcesCreate(handles.engine, handles.storage, NULL,
                              &handles.resources));
  forkDuring(changeProfiler, 60);
  forkDuring(addEvents, 60);
  forkDuring(askForSpace, 60);
  CHECK(dlcProfilerEventCount(handles.profiler) != 0);
  dlcResourcesDestroy(handles.resources);
  dlcEngineDestroy(handles.engine);
  dlcStorageDestroy(handles.storage);
  dlcProfilerDestroy(handles.profiler);
  if (!failures)
    printf("all checks passed\n");
  return failures != 0;
}
