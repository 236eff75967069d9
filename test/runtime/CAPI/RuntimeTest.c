/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime's C API from C, against the shared library. The one argument is
 * the compiled program of WriteProgram.cpp: y = relu(x + [1, -2, 3]) over 2x3.
 */

#include "dlc-c/Runtime.h"
#include "Check.h"
#include "dlc-c/Profiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void testIntrospection(DlcProgram program) {
  CHECK(dlcProgramInputCount(program) == 1);
  CHECK(dlcProgramOutputCount(program) == 1);
  DlcPort port = {sizeof(port), NULL, DLC_INVALID_TYPE, 0, NULL};
  CHECK_OK(dlcProgramInput(program, 0, &port));
  CHECK(strcmp(port.name, "x") == 0);
  CHECK(port.type == DLC_F32 && port.rank == 2);
  CHECK(port.shape[0] == 2 && port.shape[1] == 3);
  CHECK_OK(dlcProgramOutput(program, 0, &port));
  CHECK(strcmp(port.name, "y") == 0);
  CHECK_ERROR(dlcProgramInput(program, 1, &port), DLC_INVALID_ARGUMENT,
              "expected an index below 1, got 1");
  port.structSize = 0;
  CHECK_ERROR(dlcProgramInput(program, 0, &port), DLC_INVALID_ARGUMENT,
              "expected structSize to be set, got 0");
  size_t index = 7;
  CHECK_OK(dlcProgramFindInput(program, "x", &index));
  CHECK(index == 0);
  CHECK_OK(dlcProgramFindOutput(program, "y", &index));
  CHECK_ERROR(dlcProgramFindInput(program, "z", &index), DLC_NOT_FOUND,
              "the program has no input 'z'");
}

/* A caller of an older version knows a prefix of the structure. */
static void testOlderStructures(DlcProgram program) {
  DlcProgramStatistics statistics;
  memset(&statistics, 0xee, sizeof(statistics));
  statistics.structSize = sizeof(size_t) + sizeof(uint64_t);
  CHECK_OK(dlcProgramGetStatistics(program, &statistics));
  CHECK(statistics.arenaBytes == 64);
  CHECK(statistics.constantBytes == 0xeeeeeeeeeeeeeeeeull);
  statistics.structSize = sizeof(statistics);
  CHECK_OK(dlcProgramGetStatistics(program, &statistics));
  CHECK(statistics.constantBytes == 12);
  CHECK(statistics.launches == 2);
}

/* What a newer caller sets is not dropped; what it leaves alone is no matter.
 */
static void testNewerOptions(void) {
  struct {
    DlcPoolOptions known;
    uint64_t unknown;
  } options = {{sizeof(options), 1, 50, 0}, 0};
  DlcPool pool = NULL;
  CHECK_OK(dlcPoolCreate(&options.known, &pool));
  dlcPoolDestroy(pool);
  pool = NULL;
  options.unknown = 1;
  char message[100];
  snprintf(message, sizeof(message),
           "expected options of at most %zu bytes, got a value at byte %zu: it "
           "needs a newer version",
           sizeof(DlcPoolOptions), sizeof(DlcPoolOptions));
  CHECK_ERROR(dlcPoolCreate(&options.known, &pool), DLC_UNSUPPORTED, message);
  CHECK(pool == NULL);
  options.known.structSize = 0;
  CHECK_ERROR(dlcPoolCreate(&options.known, &pool), DLC_INVALID_ARGUMENT,
              "expected structSize to be set, got 0");
  DlcPoolOptions many = {sizeof(many), 20000, 50, 0};
  CHECK_ERROR(dlcPoolCreate(&many, &pool), DLC_INVALID_ARGUMENT,
              "expected at most 1024 threads, got 20000");
}

static void testRun(DlcProgram program, DlcPool pool) {
  DlcExecution execution = NULL;
  CHECK_OK(dlcExecutionCreate(program, pool, &execution));
  CHECK_ERROR(dlcExecutionRun(execution), DLC_INVALID_ARGUMENT,
              "input 'x' is not bound");
  DlcTensor output = {NULL, NULL, 0, DLC_INVALID_TYPE};
  CHECK_ERROR(dlcExecutionOutput(execution, 0, &output), DLC_INVALID_ARGUMENT,
              "expected an execution whose last run succeeded");
  float x[6] = {0, 1, -5, -2, 4, 0}, y[6] = {0};
  int64_t shape[2] = {2, 3}, wrongShape[2] = {2, 4};
  DlcTensor input = {x, wrongShape, 2, DLC_F32};
  CHECK_ERROR(dlcExecutionBindInput(execution, 0, &input), DLC_INVALID_ARGUMENT,
              "input 'x': expected 2x3xf32, got 2x4xf32");
  input.rank = -1;
  CHECK_ERROR(dlcExecutionBindInput(execution, 0, &input), DLC_INVALID_ARGUMENT,
              "expected a rank of 0 to 16, got -1");
  input.rank = 2;
  input.shape = shape;
  CHECK_OK(dlcExecutionBindInput(execution, 0, &input));
  CHECK_OK(dlcExecutionRun(execution));
  CHECK_OK(dlcExecutionOutput(execution, 0, &output));
  CHECK(output.rank == 2 && output.shape[1] == 3 && output.type == DLC_F32);
  const float *values = output.data;
  CHECK(values[0] == 1 && values[1] == 0 && values[4] == 2 && values[5] == 3);
  DlcTensor bound = {y, shape, 2, DLC_F32};
  CHECK_OK(dlcExecutionBindOutput(execution, 0, &bound));
  x[0] = 10;
  CHECK_OK(dlcExecutionRun(execution));
  CHECK(y[0] == 11);
  CHECK_OK(dlcExecutionBindOutput(execution, 0, NULL));
  CHECK_ERROR(dlcExecutionOutput(execution, 1, &output), DLC_INVALID_ARGUMENT,
              "expected an index below 1, got 1");
  dlcExecutionDestroy(execution);
}

static void testPush(DlcProgram program) {
  DlcExecution execution = NULL;
  DlcEngine engine = NULL;
  DlcVariable run;
  DlcContext cpu = {DLC_DEVICE_CPU, 0};
  CHECK_OK(dlcExecutionCreate(program, NULL, &execution));
  CHECK_OK(dlcEngineCreate(NULL, &engine));
  CHECK_OK(dlcEngineNewVariable(engine, &run));
  /* A run that fails poisons what it writes. */
  CHECK_OK(dlcExecutionPush(execution, engine, cpu, NULL, 0, &run, 1, NULL));
  DlcStatus status = dlcEngineWaitForVariable(engine, run, DLC_USE_READ);
  CHECK(strstr(dlcStatusMessage(status), "input 'x' is not bound") != NULL);
  dlcStatusDestroy(status);
  DlcTensor output = {NULL, NULL, 0, DLC_INVALID_TYPE};
  CHECK_ERROR(dlcExecutionOutput(execution, 0, &output), DLC_INVALID_ARGUMENT,
              "expected an execution whose last run succeeded");
  DlcVariable again;
  CHECK_OK(dlcEngineNewVariable(engine, &again));
  float x[6] = {0, 1, -5, -2, 4, 0};
  int64_t shape[2] = {2, 3};
  DlcTensor input = {x, shape, 2, DLC_F32};
  CHECK_OK(dlcExecutionBindInput(execution, 0, &input));
  DlcPushOptions options = {
      sizeof(options), DLC_OPERATION_NORMAL, 0, "run the model", NULL, 0};
  for (int i = 0; i != 3; ++i)
    CHECK_OK(
        dlcExecutionPush(execution, engine, cpu, NULL, 0, &again, 1, &options));
  CHECK_OK(dlcEngineWaitForVariable(engine, again, DLC_USE_READ));
  uint64_t version = 0;
  CHECK_OK(dlcEngineVersion(engine, again, &version));
  CHECK(version == 3);
  CHECK_OK(dlcExecutionOutput(execution, 0, &output));
  const float *values = output.data;
  CHECK(values[0] == 1 && values[1] == 0 && values[4] == 2 && values[5] == 3);
  CHECK_ERROR(dlcExecutionPush(execution, engine, cpu, NULL, 0, NULL, -1, NULL),
              DLC_INVALID_ARGUMENT, "expected a number of variables, got -1");
  DlcContext none = {DLC_DEVICE_KIND_LIMIT, 0};
  CHECK_ERROR(
      dlcExecutionPush(execution, engine, none, NULL, 0, &again, 1, NULL),
      DLC_INVALID_ARGUMENT,
      "expected a device, got kind 2147483647 with number 0");
  CHECK_ERROR(dlcExecutionPush(execution, NULL, cpu, NULL, 0, NULL, 0, NULL),
              DLC_INVALID_ARGUMENT, "expected an engine, got null");
  CHECK_ERROR(dlcExecutionPush(NULL, engine, cpu, NULL, 0, NULL, 0, NULL),
              DLC_INVALID_ARGUMENT, "expected an execution, got null");
  dlcEngineDestroy(engine);
  dlcExecutionDestroy(execution);
}

/* The two launches of a run, and nothing of what ran before and after. */
static void testProfiler(DlcProgram program, DlcPool pool) {
  DlcExecution execution = NULL;
  DlcProfiler profiler = NULL;
  float x[6] = {0, 1, -5, -2, 4, 0};
  int64_t shape[2] = {2, 3};
  DlcTensor input = {x, shape, 2, DLC_F32};
  const char *text = NULL;
  CHECK_OK(dlcExecutionCreate(program, pool, &execution));
  CHECK_OK(dlcExecutionBindInput(execution, 0, &input));
  CHECK_OK(dlcExecutionRun(execution));
  CHECK_OK(dlcProfilerCreate(0, &profiler));
  CHECK_OK(dlcExecutionSetProfiler(execution, profiler));
  CHECK_OK(dlcExecutionRun(execution));
  CHECK_OK(dlcExecutionSetProfiler(execution, NULL));
  CHECK_OK(dlcExecutionRun(execution));
  DlcProfileSummary line;
  int launches = 0;
  for (size_t i = 0;; ++i) {
    memset(&line, 0, sizeof(line));
    line.structSize = sizeof(line);
    DlcStatus end = dlcProfilerSummary(profiler, i, &line);
    if (end) {
      CHECK(dlcStatusCode(end) == DLC_NOT_FOUND);
      dlcStatusDestroy(end);
      break;
    }
    if (line.kind == DLC_PROFILE_LAUNCH)
      launches += (int)line.count;
  }
  CHECK(launches == 2);
  CHECK_OK(dlcProfilerTrace(profiler, &text, NULL));
  CHECK(strstr(text, "\"launch\"") && strstr(text, "\"memory\""));
  CHECK_OK(dlcExecutionSetProfiler(execution, profiler));
  dlcProfilerDestroy(profiler); /* The execution goes on. */
  CHECK_OK(dlcExecutionRun(execution));
  dlcExecutionDestroy(execution);
  CHECK_ERROR(dlcExecutionSetProfiler(NULL, NULL), DLC_INVALID_ARGUMENT,
              "expected an execution, got null");
}

static void testMemory(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  if (!file)
    return;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *bytes = aligned_alloc(DLC_ALIGNMENT, (size + 63) / 64 * 64 + 64);
  CHECK(fread(bytes, 1, size, file) == size);
  fclose(file);
  DlcProgram program = NULL;
  CHECK_OK(dlcProgramLoadMemory(bytes, size, &program));
  if (program)
    testRun(program, NULL);
  dlcProgramDestroy(program);
  CHECK_ERROR(dlcProgramLoadMemory(bytes + 1, size, &program),
              DLC_INVALID_ARGUMENT, "expected bytes aligned to 64");
  bytes[100] ^= 1;
  CHECK_ERROR(dlcProgramLoadMemory(bytes, size, &program), DLC_DATA_LOSS,
              "the checksum of header and plan differs");
  free(bytes);
}

static void testCodes(void) {
  CHECK(strcmp(dlcStatusCodeName(DLC_OK), "ok") == 0);
  CHECK(strcmp(dlcStatusCodeName(DLC_OUT_OF_MEMORY), "out of memory") == 0);
  CHECK(strcmp(dlcStatusCodeName(DLC_UNAVAILABLE), "unavailable") == 0);
  for (int code = DLC_OK; code <= DLC_UNAVAILABLE; ++code)
    CHECK(dlcStatusCodeName((DlcStatusCode)code) != NULL);
  CHECK(!dlcStatusCodeName((DlcStatusCode)(DLC_UNAVAILABLE + 1)));
  CHECK(!dlcStatusCodeName((DlcStatusCode)-1));
  CHECK(!dlcStatusCodeName(DLC_STATUS_CODE_LIMIT));
}

static void testNulls(void) {
  CHECK_ERROR(dlcProgramLoad(NULL, NULL), DLC_INVALID_ARGUMENT,
              "expected a path, got null");
  CHECK_ERROR(dlcExecutionRun(NULL), DLC_INVALID_ARGUMENT,
              "expected an execution, got null");
  CHECK(dlcStatusCode(NULL) == DLC_OK);
  CHECK(strcmp(dlcStatusMessage(NULL), "") == 0);
  dlcStatusDestroy(NULL);
  dlcProgramDestroy(NULL);
  dlcExecutionDestroy(NULL);
  dlcPoolDestroy(NULL);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  DlcProgram program = NULL;
  CHECK_ERROR(dlcProgramLoad("/no/such/file", &program), DLC_NOT_FOUND,
              "/no/such/file: cannot open the file: No such file or directory");
  CHECK(program == NULL);
  CHECK_OK(dlcProgramLoad(argv[1], &program));
  if (!program)
    return 1;
  testIntrospection(program);
  testOlderStructures(program);
  testRun(program, NULL);
  DlcPoolOptions options = {sizeof(options), 2, 50, 1};
  DlcPool pool = NULL;
  CHECK_OK(dlcPoolCreate(&options, &pool));
  testRun(program, pool);
  testPush(program);
  testProfiler(program, NULL);
  testProfiler(program, pool);
  dlcPoolDestroy(pool);
  dlcProgramDestroy(program);
  testMemory(argv[1]);
  testNewerOptions();
  testCodes();
  testNulls();
  CHECK(strlen(dlcVersion()) >= 5);
  return failures != 0;
}
