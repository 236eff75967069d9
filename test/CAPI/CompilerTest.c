/* SPDX-License-Identifier: Apache-2.0
 *
 * The compiler's C API from C, against the shared libraries.
 *
 * usage: CompilerTest DIGITS.onnx FOLDER, where the folder may be written to.
 */

#include "dlc-c/Compiler.h"
#include "../runtime/CAPI/Check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *digits;
static char model[1024], program[1024];

/* y = relu(x + x) over two floats. */
static const char graphText[] =
    "func.func @main(%x: tensor<2xf32> {graph.name = \"x\"})\n"
    "    -> (tensor<2xf32> {graph.name = \"y\"}) {\n"
    "  %a = graph.add %x, %x : tensor<2xf32>\n"
    "  %y = graph.relu %a : tensor<2xf32>\n"
    "  return %y : tensor<2xf32>\n"
    "}\n";

/* Four petabytes of ones. */
static const char hugeText[] =
    "func.func @main() -> tensor<1125899906842624xf32> {\n"
    "  %y = graph.constant dense<1.0> : tensor<1125899906842624xf32>\n"
    "  return %y : tensor<1125899906842624xf32>\n"
    "}\n";

static void writeText(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  CHECK(file != NULL);
  if (!file)
    return;
  fputs(text, file);
  fclose(file);
}

static void *readFile(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  void *bytes = malloc(*size ? *size : 1);
  *size = fread(bytes, 1, *size, file);
  fclose(file);
  return bytes;
}

static void runProgram(DlcProgram loaded) {
  DlcExecution execution = NULL;
  CHECK_OK(dlcExecutionCreate(loaded, NULL, &execution));
  int64_t shape[] = {2};
  float x[] = {1.5f, -2};
  DlcTensor input = {x, shape, 1, DLC_F32}, output;
  CHECK_OK(dlcExecutionBindInput(execution, 0, &input));
  CHECK_OK(dlcExecutionRun(execution));
  CHECK_OK(dlcExecutionOutput(execution, 0, &output));
  CHECK(((float *)output.data)[0] == 3 && ((float *)output.data)[1] == 0);
  dlcExecutionDestroy(execution);
}

/* The file and the memory hold the same program, and it runs. */
static void testWrite(void) {
  DlcCompiler compiler = NULL;
  CHECK_OK(dlcCompilerCreate(NULL, &compiler));
  CHECK(dlcCompilerInputCount(compiler) == 0);
  CHECK_OK(dlcCompilerImportFile(compiler, model));
  CHECK_OK(dlcCompilerWriteFile(compiler, program));
  DlcBuffer buffer = NULL;
  CHECK_OK(dlcCompilerWriteMemory(compiler, &buffer));
  CHECK(strcmp(dlcCompilerMessages(compiler), "") == 0);
  dlcCompilerDestroy(compiler);

  size_t size = 0;
  void *bytes = readFile(program, &size);
  CHECK(bytes && size == dlcBufferSize(buffer) &&
        memcmp(bytes, dlcBufferData(buffer), size) == 0);
  free(bytes);
  CHECK((uintptr_t)dlcBufferData(buffer) % DLC_ALIGNMENT == 0);

  DlcProgram loaded = NULL;
  CHECK_OK(dlcProgramLoadMemory(dlcBufferData(buffer), dlcBufferSize(buffer),
                                &loaded));
  runProgram(loaded);
  dlcProgramDestroy(loaded);
  dlcBufferDestroy(buffer);
  CHECK_OK(dlcProgramLoad(program, &loaded));
  runProgram(loaded);
  dlcProgramDestroy(loaded);
}

static void countCall(void *userData, const char *text) {
  CHECK(*text != '\0');
  ++*(int *)userData;
}

static void testOptions(void) {
  DlcCompiler compiler = NULL;
  size_t size = 0;
  void *bytes = readFile(digits, &size);
  CHECK(bytes != NULL);
  int calls = 0;
  DlcCompilerOptions options = {.structSize = sizeof(options)};
  options.target = "x86-64,x86-64-v3";
  options.threads = 1;
  options.onPhase = countCall;
  options.userData = &calls;
  DlcPort port = {.structSize = sizeof(port)};
  CHECK_OK(dlcCompilerCreate(&options, &compiler));
  CHECK_OK(dlcCompilerImportMemory(compiler, bytes, size, "digits"));
  CHECK_OK(dlcCompilerInput(compiler, 0, &port));
  int64_t shape[DLC_MAX_RANK];
  DlcInputShape given = {strcpy(malloc(strlen(port.name) + 1), port.name),
                         shape, port.rank};
  CHECK(port.rank == 4 && port.type == DLC_F32);
  memcpy(shape, port.shape, sizeof(int64_t) * 4);
  dlcCompilerDestroy(compiler);

  shape[0] = 3;
  options.shapes = &given;
  options.shapeCount = 1;
  CHECK_OK(dlcCompilerCreate(&options, &compiler));
  CHECK_OK(dlcCompilerImportMemory(compiler, bytes, size, "digits"));
  CHECK_OK(dlcCompilerInput(compiler, 0, &port));
  CHECK(port.shape[0] == 3);
  CHECK_OK(dlcCompilerOutput(compiler, 0, &port));
  CHECK(port.shape[0] == 3);
  CHECK_ERROR(dlcCompilerOutput(compiler, 1, &port), DLC_INVALID_ARGUMENT,
              "expected an index below 1, got 1");
  calls = 0;
  DlcBuffer buffer = NULL;
  CHECK_OK(dlcCompilerWriteMemory(compiler, &buffer));
  CHECK(calls == (int)dlcCompilerPhaseCount() - 1); /* import was before */
  dlcBufferDestroy(buffer);
  dlcCompilerDestroy(compiler);
  free((char *)given.name);
  free(bytes);
}

/* The digits' network compiled with `options`, in memory of `buffer`. */
static DlcProgram compileDigits(DlcCompilerOptions *options,
                                DlcBuffer *buffer) {
  DlcCompiler compiler = NULL;
  DlcProgram program = NULL;
  options->target = "x86-64";
  CHECK_OK(dlcCompilerCreate(options, &compiler));
  CHECK_OK(dlcCompilerImportFile(compiler, digits));
  CHECK_OK(dlcCompilerWriteMemory(compiler, buffer));
  dlcCompilerDestroy(compiler);
  CHECK_OK(dlcProgramLoadMemory(dlcBufferData(*buffer), dlcBufferSize(*buffer),
                                &program));
  return program;
}

/* A batch of any size, in memory of the caller and of the execution. */
static void testBatches(void) {
  const int64_t batches[] = {1, 2};
  DlcCompilerOptions options = {.structSize = sizeof(options)};
  options.batches = batches;
  options.batchCount = 2;
  DlcBuffer buffer = NULL;
  DlcProgram loaded = compileDigits(&options, &buffer);
  DlcPort port = {.structSize = sizeof(port)};
  CHECK_OK(dlcProgramOutput(loaded, 0, &port));
  CHECK(port.rank == 2 && port.shape[0] == -1 && port.shape[1] == 10);
  DlcExecution execution = NULL;
  CHECK_OK(dlcExecutionCreate(loaded, NULL, &execution));
  static float image[5 * 64], bound[5 * 10];
  for (int i = 0; i < 5 * 64; ++i)
    image[i] = (float)(i % 17) / 16;
  int64_t images[] = {5, 1, 8, 8}, rows[] = {5, 10}, fewer[] = {4, 10};
  DlcTensor input = {image, images, 4, DLC_F32}, output;
  DlcTensor own = {bound, rows, 2, DLC_F32}, other = {bound, fewer, 2, DLC_F32};
  CHECK_OK(dlcExecutionBindInput(execution, 0, &input));
  CHECK_OK(dlcExecutionRun(execution));
  CHECK_OK(dlcExecutionOutput(execution, 0, &output));
  CHECK(output.rank == 2 && output.shape[0] == 5 && output.shape[1] == 10);
  CHECK_OK(dlcExecutionBindOutput(execution, 0, &own));
  float before[5 * 10];
  memcpy(before, output.data, sizeof(before));
  CHECK_OK(dlcExecutionRun(execution));
  CHECK(memcmp(before, bound, sizeof(before)) == 0);
  CHECK_OK(dlcExecutionBindOutput(execution, 0, &other));
  CHECK_ERROR(dlcExecutionRun(execution), DLC_INVALID_ARGUMENT,
              "expected memory of 5x10xf32, got one of 4x10xf32");
  CHECK_OK(dlcExecutionBindOutput(execution, 0, NULL));
  CHECK_OK(dlcExecutionRun(execution));
  CHECK_OK(dlcExecutionOutput(execution, 0, &output));
  CHECK(memcmp(before, output.data, sizeof(before)) == 0);
  dlcExecutionDestroy(execution);
  dlcProgramDestroy(loaded);
  dlcBufferDestroy(buffer);
}

/* Programs for several sizes of an extent, which compute smaller ones, too. */
static void testExtents(void) {
  const int64_t sizes[] = {3, 5};
  DlcExtent extent = {"batch", sizes, 2};
  DlcCompilerOptions options = {.structSize = sizeof(options)};
  options.extents = &extent;
  options.extentCount = 1;
  DlcBuffer buffer = NULL;
  DlcProgram loaded = compileDigits(&options, &buffer);
  DlcPort port = {.structSize = sizeof(port)};
  CHECK_OK(dlcProgramOutput(loaded, 0, &port));
  CHECK(port.rank == 2 && port.shape[0] == -1 && port.shape[1] == 10);
  DlcExecution execution = NULL;
  CHECK_OK(dlcExecutionCreate(loaded, NULL, &execution));
  static float image[6 * 64];
  for (int64_t rows = 6; rows >= 1; --rows) {
    int64_t images[] = {rows, 1, 8, 8};
    DlcTensor input = {image, images, 4, DLC_F32}, output;
    CHECK_OK(dlcExecutionBindInput(execution, 0, &input));
    if (rows == 6) {
      CHECK_ERROR(dlcExecutionRun(execution), DLC_INVALID_ARGUMENT,
                  "expected image <=5x1x8x8xf32, got image 6x1x8x8xf32");
      continue;
    }
    CHECK_OK(dlcExecutionRun(execution));
    CHECK_OK(dlcExecutionOutput(execution, 0, &output));
    CHECK(output.rank == 2 && output.shape[0] == rows);
  }
  dlcExecutionDestroy(execution);
  dlcProgramDestroy(loaded);
  dlcBufferDestroy(buffer);
}

static void testBadExtents(void) {
  DlcCompiler compiler = NULL;
  DlcCompilerOptions options = {.structSize = sizeof(options)};
  options.extentCount = 1;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected extents, got null");
  const int64_t sizes[] = {3, 5, 3};
  DlcExtent extents[] = {{NULL, sizes, 2}, {"batch", sizes, 1}};
  options.extents = extents;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected the name of an extent, got null");
  extents[0].name = "batch";
  extents[0].count = 3;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected sizes of extent 'batch' from 1 up, each once");
  extents[0].count = 0;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected sizes of extent 'batch' from 1 up, each once");
  extents[0].count = 2;
  options.extentCount = 2;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected extent 'batch' once, got it again");
  extents[0].sizes = NULL;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected sizes of an extent, got null");
}

static void testBadOptions(void) {
  DlcCompiler compiler = NULL;
  struct {
    DlcCompilerOptions known;
    int unknown;
  } newer = {0};
  newer.known.structSize = sizeof(newer);
  CHECK_OK(dlcCompilerCreate(&newer.known, &compiler));
  dlcCompilerDestroy(compiler);
  newer.unknown = 1;
  CHECK_ERROR(dlcCompilerCreate(&newer.known, &compiler), DLC_UNSUPPORTED,
              "it needs a newer version");
  DlcCompilerOptions options = {0};
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected structSize to be set, got 0");
  options.structSize = sizeof(options);
  options.searchSteps = -2;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected searchSteps of at least -1, got -2");
  options.searchSteps = 0;
  const int64_t batches[] = {1, 4, 4};
  options.batchCount = 3;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected batches, got null");
  options.batches = batches;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected batches that ascend from 1 to at most 65536");
  options.batches = NULL;
  options.batchCount = 0;
  options.threads = 1025;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected at most 1024 threads, got 1025");
  options.threads = 0;
  options.shapeCount = 1;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected shapes, got null");
  int64_t shape[] = {1};
  DlcInputShape twice[] = {{"x", shape, 1}, {"x", shape, 1}};
  options.shapes = twice;
  options.shapeCount = 2;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected one shape for input 'x', got two");
  options.shapeCount = 0;
  options.groupCount = 1;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected devices of groups, got null");
  DlcGroupDevice groups[] = {{"head", "cpu:1"}, {"head", "cpu:2"}};
  options.groups = groups;
  options.groupCount = 2;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected one device of group 'head', got two");
  options.groupCount = 0;
  options.memoryBudget = -1;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected a memoryBudget of at least 0, got -1");
  options.memoryBudget = 0;
  options.precision = "fp16";
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected precision fp32, fp32-strict, bf16, tf32, got 'fp16'");
  options.precision = "fp32-strict";
  options.gpuLibraries = "all";
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected gpuLibraries auto, always, never, got 'all'");
  options.gpuLibraries = "never";
  options.tuneSeconds = -1;
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected tuneSeconds of at least 0, got -1");
  options.tuneSeconds = 1;
  options.target = "x86-64";
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected tuneSeconds with the target host, got 'x86-64'");
  options.target = NULL;
  options.shapeCount = 2;
  /* A caller of a version before `target`. */
  options.structSize = sizeof(size_t);
  CHECK_OK(dlcCompilerCreate(&options, &compiler));
  dlcCompilerDestroy(compiler);
}

static void testPrint(void) {
  DlcCompiler compiler = NULL;
  CHECK_OK(dlcCompilerCreate(NULL, &compiler));
  CHECK_OK(dlcCompilerImportFile(compiler, model));
  const char *text = NULL;
  size_t size = 0;
  CHECK_OK(dlcCompilerPrint(compiler, "import", DLC_PRINT_FULL, &text, &size));
  CHECK(strstr(text, "graph.relu") && strlen(text) == size);
  CHECK_OK(dlcCompilerPrint(compiler, "plan", DLC_PRINT_SHORT, &text, NULL));
  CHECK(strstr(text, "plan.launch") != NULL);
  CHECK_ERROR(dlcCompilerPrint(compiler, "graph", DLC_PRINT_SHORT, &text, NULL),
              DLC_INVALID_ARGUMENT, "expected phase 'plan', which is reached");
  CHECK_ERROR(
      dlcCompilerPrint(compiler, "artifact", DLC_PRINT_SHORT, &text, NULL),
      DLC_INVALID_ARGUMENT, "got 'artifact'");
  CHECK_OK(dlcCompilerWriteFile(compiler, program));
  dlcCompilerDestroy(compiler);
  CHECK(strcmp(dlcCompilerPhaseName(0), "import") == 0);
  size_t count = dlcCompilerPhaseCount();
  CHECK(strcmp(dlcCompilerPhaseName(count - 1), "artifact") == 0);
  CHECK(dlcCompilerPhaseName(count) == NULL);
}

static void testFailures(void) {
  DlcCompiler compiler = NULL;
  CHECK_OK(dlcCompilerCreate(NULL, &compiler));
  CHECK_ERROR(dlcCompilerWriteFile(compiler, program), DLC_INVALID_ARGUMENT,
              "got none imported");
  CHECK_ERROR(dlcCompilerImportMemory(compiler, "\xff\xff", 2, "junk"),
              DLC_INVALID_ARGUMENT, "junk");
  CHECK(strstr(dlcCompilerMessages(compiler), "error: ") != NULL);
  CHECK_ERROR(dlcCompilerImportFile(compiler, model), DLC_INVALID_ARGUMENT,
              "expected a compiler without a model");
  CHECK_ERROR(dlcCompilerWriteFile(compiler, program), DLC_INVALID_ARGUMENT,
              "did not fail before");
  dlcCompilerDestroy(compiler);

  CHECK_OK(dlcCompilerCreate(NULL, &compiler));
  CHECK_ERROR(dlcCompilerImportFile(compiler, "/missing/model.onnx"),
              DLC_INVALID_ARGUMENT, "/missing/model.onnx");
  dlcCompilerDestroy(compiler);

  /* A model that is well formed, as far as DLC knows: of IR version 99. */
  CHECK_OK(dlcCompilerCreate(NULL, &compiler));
  CHECK_ERROR(dlcCompilerImportMemory(compiler, "\x08\x63", 2, "future"),
              DLC_UNSUPPORTED, "IR version 99");
  dlcCompilerDestroy(compiler);

  /* A file that cannot be written leaves the compiler as it was. */
  CHECK_OK(dlcCompilerCreate(NULL, &compiler));
  CHECK_OK(dlcCompilerImportFile(compiler, model));
  CHECK_ERROR(dlcCompilerWriteFile(compiler, "/missing/program.dlc"),
              DLC_UNAVAILABLE, "/missing/program.dlc");
  CHECK_OK(dlcCompilerWriteFile(compiler, program));
  dlcCompilerDestroy(compiler);

  /* More memory than there is: an error, not the end of the process. */
  CHECK_OK(dlcCompilerCreate(NULL, &compiler));
  writeText(model, hugeText);
  CHECK_OK(dlcCompilerImportFile(compiler, model));
  DlcBuffer buffer = NULL;
  CHECK_ERROR(dlcCompilerWriteMemory(compiler, &buffer), DLC_OUT_OF_MEMORY,
              "expected constants that fit in");
  CHECK(buffer == NULL);
  writeText(model, graphText);
  dlcCompilerDestroy(compiler);

  DlcCompilerOptions options = {.structSize = sizeof(options)};
  options.target = "abacus";
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected target host, x86-64, x86-64-v2, x86-64-v3 or "
              "x86-64-v4, or a GPU like cuda:sm_90, got 'abacus'");
  options.target = "x86-64,x86-64-v3,x86-64";
  CHECK_ERROR(dlcCompilerCreate(&options, &compiler), DLC_INVALID_ARGUMENT,
              "expected each target once, got 'x86-64' twice");
}

static void testNull(void) {
  DlcCompiler compiler = NULL;
  CHECK_ERROR(dlcCompilerCreate(NULL, NULL), DLC_INVALID_ARGUMENT, "null");
  CHECK_ERROR(dlcCompilerImportFile(NULL, model), DLC_INVALID_ARGUMENT,
              "expected a compiler, got null");
  CHECK_ERROR(dlcCompilerWriteFile(NULL, model), DLC_INVALID_ARGUMENT,
              "expected a compiler, got null");
  CHECK_OK(dlcCompilerCreate(NULL, &compiler));
  CHECK_ERROR(dlcCompilerImportFile(compiler, NULL), DLC_INVALID_ARGUMENT,
              "expected a path, got null");
  CHECK_ERROR(dlcCompilerImportMemory(compiler, NULL, 0, "x"),
              DLC_INVALID_ARGUMENT, "expected bytes, got null");
  dlcCompilerDestroy(compiler);
  dlcCompilerDestroy(NULL);
  dlcBufferDestroy(NULL);
  CHECK(dlcBufferData(NULL) == NULL && dlcBufferSize(NULL) == 0);
  CHECK(dlcStatusCreate(DLC_OK, "ignored") == NULL);
}

/* The size of what this thread compiled; 0 for a failure. */
static void *compileInThread(void *unused) {
  (void)unused;
  DlcCompiler compiler = NULL;
  DlcBuffer buffer = NULL;
  DlcStatus status = dlcCompilerCreate(NULL, &compiler);
  if (!status)
    status = dlcCompilerImportFile(compiler, digits);
  if (!status)
    status = dlcCompilerWriteMemory(compiler, &buffer);
  dlcStatusDestroy(status);
  dlcCompilerDestroy(compiler);
  size_t size = dlcBufferSize(buffer);
  dlcBufferDestroy(buffer);
  return (void *)size;
}

static void testThreads(void) {
  pthread_t threads[2];
  void *sizes[2] = {NULL, NULL};
  for (int i = 0; i < 2; ++i)
    CHECK(pthread_create(&threads[i], NULL, compileInThread, NULL) == 0);
  for (int i = 0; i < 2; ++i)
    CHECK(pthread_join(threads[i], &sizes[i]) == 0);
  CHECK(sizes[0] && sizes[0] == sizes[1]);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  digits = argv[1];
  snprintf(model, sizeof(model), "%s/model.mlir", argv[2]);
  snprintf(program, sizeof(program), "%s/model.dlc", argv[2]);
  writeText(model, graphText);
  testWrite();
  testOptions();
  testBatches();
  testExtents();
  testBadExtents();
  testBadOptions();
  testPrint();
  testFailures();
  testNull();
  testThreads();
  return failures != 0;
}
