/* SPDX-License-Identifier: Apache-2.0
 *
 * The C API of the profiler from C, against the shared library, on each kind of
 * engine. Launches of programs are in RuntimeTest.c.
 */

#include "dlc-c/Profiler.h"
#include "dlc-c/Storage.h"
#include "Check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const DlcContext cpu = {DLC_DEVICE_CPU, 0};

static DlcStatus nothing(void *data, DlcContext context) {
  (void)data, (void)context;
  return NULL;
}

static DlcStatus fail(void *data, DlcContext context) {
  (void)data, (void)context;
  return dlcStatusCreate(DLC_DATA_LOSS, "no such weight");
}

static DlcEngine makeEngine(DlcEngineKind kind, DlcProfiler profiler) {
  DlcEngineOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.kind = kind;
  options.cpuWorkers = 2;
  options.profiler = profiler;
  DlcEngine engine = NULL;
  CHECK_OK(dlcEngineCreate(&options, &engine));
  return engine;
}

static void push(DlcEngine engine, DlcFunction function, const char *name,
                 DlcOperationProperty property) {
  DlcPushOptions options = {sizeof(options), property, 0, name, "net: 3", 0};
  CHECK_OK(dlcEnginePushSync(engine, function, NULL, NULL, cpu, NULL, 0, NULL,
                             0, &options));
}

static void testEngine(DlcEngineKind kind) {
  DlcProfiler profiler = NULL;
  CHECK_OK(dlcProfilerCreate(0, &profiler));
  DlcEngine engine = makeEngine(kind, profiler);
  for (int i = 0; i != 3; ++i)
    push(engine, nothing, "conv", DLC_OPERATION_NORMAL);
  push(engine, nothing, "load", DLC_OPERATION_COPY_TO_DEVICE);
  CHECK_OK(dlcEngineWaitForAll(engine));
  CHECK(dlcProfilerEventCount(profiler) == 4);
  CHECK_OK(dlcProfilerStop(profiler));
  for (int i = 0; i != 5; ++i)
    push(engine, nothing, "unseen", DLC_OPERATION_NORMAL);
  CHECK_OK(dlcEngineWaitForAll(engine));
  CHECK(dlcProfilerEventCount(profiler) == 4);
  DlcProfileEvent early = {.structSize = sizeof(early), .name = "unseen"};
  early.begin = early.end = dlcProfilerNow();
  CHECK_OK(dlcProfilerStart(profiler));
  CHECK_OK(dlcProfilerAdd(profiler, &early));
  push(engine, fail, "relu", DLC_OPERATION_NORMAL);
  CHECK_ERROR(dlcEngineWaitForAll(engine), DLC_DATA_LOSS, "relu");
  CHECK(dlcProfilerEventCount(profiler) == 5);

  const char *text = NULL;
  size_t size = 0;
  CHECK_OK(dlcProfilerTrace(profiler, &text, &size));
  CHECK(size == strlen(text) && strstr(text, "\"traceEvents\"") != NULL);
  CHECK(strstr(text, "\"conv\"") && strstr(text, "\"net: 3\""));
  CHECK(strstr(text, "\"copy\"") && strstr(text, "\"failed\""));
  CHECK(!strstr(text, "unseen"));
  CHECK_OK(dlcProfilerTable(profiler, &text));
  CHECK(strstr(text, "conv") && strstr(text, "load") && strstr(text, "relu"));

  int found = 0;
  DlcProfileSummary line;
  for (size_t i = 0; i != 3; ++i) {
    memset(&line, 0, sizeof(line));
    line.structSize = sizeof(line);
    CHECK_OK(dlcProfilerSummary(profiler, i, &line));
    CHECK(line.device.kind == DLC_DEVICE_CPU && line.total >= line.most);
    CHECK(line.least <= line.most);
    if (!strcmp(line.name, "conv"))
      found += line.count == 3 && line.kind == DLC_PROFILE_OPERATION;
    if (!strcmp(line.name, "load"))
      found += line.count == 1 && line.kind == DLC_PROFILE_COPY;
  }
  CHECK(found == 2);
  CHECK_ERROR(dlcProfilerSummary(profiler, 3, &line), DLC_NOT_FOUND,
              "has 3 summaries, none with number 3");
  CHECK_OK(dlcProfilerClear(profiler));
  CHECK(dlcProfilerEventCount(profiler) == 0);
  push(engine, nothing, "again", DLC_OPERATION_NORMAL);
  CHECK_OK(dlcEngineWaitForAll(engine));
  CHECK(dlcProfilerEventCount(profiler) == 1);
  dlcProfilerDestroy(profiler); /* The engine goes on. */
  push(engine, nothing, "after", DLC_OPERATION_NORMAL);
  CHECK_OK(dlcEngineWaitForAll(engine));
  dlcEngineDestroy(engine);
}

static void testStorage(void) {
  DlcProfiler profiler = NULL, next = NULL;
  DlcStorage storage = NULL;
  DlcBlock block = NULL, late = NULL;
  const char *text = NULL;
  CHECK_OK(dlcProfilerCreate(100, &profiler));
  CHECK_OK(dlcStorageCreate(NULL, &storage));
  CHECK_OK(dlcStorageSetProfiler(storage, profiler));
  CHECK_OK(dlcStorageAllocate(storage, cpu, 12345, 0, &block));
  dlcBlockDestroy(block);
  CHECK_OK(dlcStorageAllocate(storage, cpu, 10, 0, &late));
  CHECK_OK(dlcProfilerTable(profiler, &text));
  CHECK(strstr(text, "storage of cpu:0: at most 12345 bytes") != NULL);
  CHECK_OK(dlcProfilerTrace(profiler, &text, NULL));
  CHECK(strstr(text, "reserved storage") != NULL);
  CHECK_OK(dlcProfilerCreate(100, &next));
  CHECK_OK(dlcStorageSetProfiler(storage, next));
  dlcProfilerDestroy(profiler);
  CHECK_OK(dlcStorageAllocate(storage, cpu, 77777, 0, &block));
  dlcBlockDestroy(block);
  CHECK_OK(dlcProfilerTable(next, &text));
  CHECK(strstr(text, "storage of cpu:0: at most 77787 bytes") != NULL);
  dlcProfilerDestroy(next);
  dlcStorageDestroy(storage);
  dlcBlockDestroy(late); /* Which nobody is told of any more. */
}

static void testEvents(void) {
  const DlcStatusCode bad = DLC_INVALID_ARGUMENT;
  DlcProfiler profiler = NULL;
  CHECK_OK(dlcProfilerCreate(2, &profiler));
  uint64_t now = dlcProfilerNow();
  CHECK(dlcProfilerNow() >= now);
  char name[] = "read \"batch\"";
  DlcProfileEvent event = {sizeof(event), name, NULL, "file 3", now, now + 5,
                           DLC_PROFILE_WAIT, cpu, 0};
  CHECK_OK(dlcProfilerAdd(profiler, &event));
  memset(name, 'x', 4); /* It was copied. */
  const char *text = NULL;
  CHECK_OK(dlcProfilerTrace(profiler, &text, NULL));
  CHECK(strstr(text, "\"read \\\"batch\\\"\"") && strstr(text, "\"file 3\""));
  CHECK(strstr(text, "\"application\"") && strstr(text, "\"wait\""));
  event.end = now - 1;
  CHECK_ERROR(dlcProfilerAdd(profiler, &event), bad,
              "expected an end after the begin, got 1 ns before");
  event.end = now;
  event.kind = (DlcProfileKind)4;
  CHECK_ERROR(dlcProfilerAdd(profiler, &event), bad,
              "expected a kind of event, got 4");
  event.kind = DLC_PROFILE_LAUNCH;
  event.device.index = -1;
  CHECK_ERROR(dlcProfilerAdd(profiler, &event), bad, "number -1");
  event.device.index = 0;
  event.name = NULL;
  CHECK_ERROR(dlcProfilerAdd(profiler, &event), bad, "the name of the event");
  event.structSize = 0;
  CHECK_ERROR(dlcProfilerAdd(profiler, &event), bad, "structSize");
  CHECK(dlcProfilerEventCount(profiler) == 1);
  event.structSize = sizeof(event);
  event.name = "more";
  for (int i = 0; i != 4; ++i)
    CHECK_OK(dlcProfilerAdd(profiler, &event));
  CHECK(dlcProfilerEventCount(profiler) == 2);
  CHECK(dlcProfilerDropped(profiler) == 3);

  char path[] = "/tmp/dlc-profiler-test-XXXXXX";
  close(mkstemp(path));
  CHECK_OK(dlcProfilerWriteTrace(profiler, path));
  size_t size = 0;
  CHECK_OK(dlcProfilerTrace(profiler, &text, &size));
  char *written = calloc(size + 2, 1);
  FILE *file = fopen(path, "r");
  CHECK(file && fread(written, 1, size + 1, file) == size);
  CHECK(!strcmp(written, text));
  if (file)
    fclose(file);
  free(written);
  unlink(path);
  CHECK_ERROR(dlcProfilerWriteTrace(profiler, "/no/such/folder/t.json"),
              DLC_UNAVAILABLE, "/no/such/folder");
  dlcProfilerDestroy(profiler);
}

static void testBadCalls(void) {
  const DlcStatusCode bad = DLC_INVALID_ARGUMENT;
  DlcProfiler profiler = NULL;
  const char *text = NULL;
  DlcProfileSummary line;
  memset(&line, 0, sizeof(line));
  CHECK_ERROR(dlcProfilerCreate(0, NULL), bad, "a place");
  CHECK_ERROR(dlcProfilerCreate(SIZE_MAX, &profiler), DLC_OUT_OF_MEMORY,
              "no memory for a profile of");
  CHECK_ERROR(dlcProfilerCreate((size_t)1 << 50, &profiler), DLC_OUT_OF_MEMORY,
              "no memory for a profile of");
  CHECK(profiler == NULL);
  CHECK_ERROR(dlcProfilerStop(NULL), bad, "a profiler");
  CHECK_ERROR(dlcProfilerStart(NULL), bad, "a profiler");
  CHECK_ERROR(dlcProfilerClear(NULL), bad, "a profiler");
  CHECK_ERROR(dlcProfilerAdd(NULL, NULL), bad, "a profiler");
  CHECK_ERROR(dlcProfilerTrace(NULL, &text, NULL), bad, "a profiler");
  CHECK_ERROR(dlcProfilerTable(NULL, &text), bad, "a profiler");
  CHECK_ERROR(dlcProfilerWriteTrace(NULL, "t.json"), bad, "a profiler");
  CHECK_ERROR(dlcProfilerSummary(NULL, 0, &line), bad, "a profiler");
  CHECK(dlcProfilerEventCount(NULL) == 0 && dlcProfilerDropped(NULL) == 0);
  dlcProfilerDestroy(NULL);
  CHECK_OK(dlcProfilerCreate(0, &profiler));
  CHECK_ERROR(dlcProfilerTrace(profiler, NULL, NULL), bad, "a place");
  CHECK_ERROR(dlcProfilerTable(profiler, NULL), bad, "a place");
  CHECK_ERROR(dlcProfilerWriteTrace(profiler, NULL), bad, "a path");
  CHECK_ERROR(dlcProfilerAdd(profiler, NULL), bad, "an event");
  CHECK_ERROR(dlcProfilerSummary(profiler, 0, NULL), bad, "a place");
  CHECK_ERROR(dlcProfilerSummary(profiler, 0, &line), DLC_NOT_FOUND,
              "has 0 summaries");
  dlcProfilerDestroy(profiler);
}

int main(void) {
  testEngine(DLC_ENGINE_PER_DEVICE);
  testEngine(DLC_ENGINE_THREADED);
  testEngine(DLC_ENGINE_NAIVE);
  testStorage();
  testEvents();
  testBadCalls();
  return failures != 0;
}
