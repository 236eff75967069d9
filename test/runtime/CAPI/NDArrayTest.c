/* SPDX-License-Identifier: Apache-2.0
 *
 * The C API of arrays from C, against the shared library, on each kind of
 * engine.
 */

#include "dlc-c/NDArray.h"
#include "Check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const DlcContext cpu = {DLC_DEVICE_CPU, 0};
static const int64_t shape[] = {2, 3};

static DlcNDArray makeArray(DlcArrayRuntime runtime, DlcContext context) {
  DlcNDArray array = NULL;
  CHECK_OK(dlcNDArrayCreate(runtime, DLC_F32, shape, 2, context, &array));
  return array;
}

static void testOperations(DlcArrayRuntime runtime) {
  DlcNDArray x = makeArray(runtime, cpu), y = makeArray(runtime, cpu);
  DlcContext far = {DLC_DEVICE_NULL, 1};
  DlcNDArray away = makeArray(runtime, far), row = NULL;
  DlcNDArray operands[] = {x, y};
  float in[6] = {1, 2, 3, 4, 5, 6}, out[6];
  uint64_t version = 0;
  CHECK_OK(dlcNDArrayCopyFromHost(x, in, sizeof(in)));
  CHECK_OK(dlcNDArrayFill(y, 10));
  CHECK_OK(dlcNDArrayApply("add", operands, 2, &y, 1));
  CHECK_OK(dlcNDArrayCopyTo(y, away));
  CHECK_OK(dlcNDArrayCopyToHost(away, out, sizeof(out)));
  CHECK(out[0] == 11 && out[5] == 16);
  CHECK_OK(dlcNDArrayVersion(y, &version));
  CHECK(version == 2);
  CHECK_OK(dlcNDArrayAt(y, 1, &row));
  CHECK_OK(dlcNDArrayFill(row, 0));
  CHECK_OK(dlcArrayRuntimeSeed(runtime, 1));
  CHECK_OK(dlcNDArrayFillUniform(away, 2, 3));
  CHECK_OK(dlcNDArrayCopyToHost(away, out, sizeof(out)));
  CHECK(out[0] >= 2 && out[0] < 3 && out[0] != out[1]);
  CHECK_OK(dlcNDArrayFillNormal(away, 7, 0));
  CHECK_OK(dlcNDArrayCopyToHost(away, out, sizeof(out)));
  CHECK(out[0] == 7 && out[5] == 7);
  CHECK_OK(dlcNDArrayWait(y, DLC_USE_READ));
  CHECK_OK(dlcNDArrayCopyToHost(y, out, sizeof(out)));
  CHECK(out[2] == 13 && out[3] == 0);
  void *data = NULL;
  CHECK_OK(dlcNDArrayHostAccess(row, DLC_USE_WRITE, &data));
  ((float *)data)[1] = 7;
  DlcNDArray flat = NULL, slice = NULL;
  int64_t all = -1;
  CHECK_OK(dlcNDArrayReshape(y, &all, 1, &flat));
  CHECK_OK(dlcNDArraySlice(flat, 4, 5, &slice));
  CHECK_OK(dlcNDArrayCopyToHost(slice, out, 4));
  CHECK(out[0] == 7);
  DlcTensor tensor;
  DlcContext context;
  DlcVariable first, second;
  CHECK_OK(dlcNDArrayDescribe(slice, &tensor));
  CHECK(tensor.rank == 1 && tensor.shape[0] == 1 && tensor.type == DLC_F32);
  CHECK_OK(dlcNDArrayGetContext(away, &context));
  CHECK(context.kind == DLC_DEVICE_NULL && context.index == 1);
  CHECK_OK(dlcNDArrayGetVariable(slice, &first));
  CHECK_OK(dlcNDArrayGetVariable(y, &second));
  CHECK(first.index == second.index && first.stamp == second.stamp);
  DlcNDArray arrays[] = {x, y, away, row, flat, slice};
  for (size_t i = 0; i != 6; ++i)
    dlcNDArrayDestroy(arrays[i]);
}

static void testTexts(DlcArrayRuntime runtime) {
  DlcNDArray array = NULL;
  DlcTextList list = NULL;
  DlcText in[6] = {{"one", 3}, {NULL, 0}, {"a\0b", 3}, {"", 0}, {"x", 1}};
  DlcText out;
  CHECK_OK(dlcNDArrayCreate(runtime, DLC_TEXT, shape, 2, cpu, &array));
  CHECK_ERROR(dlcNDArrayCopyToTexts(array, &list), DLC_INVALID_ARGUMENT,
              "never was");
  CHECK_OK(dlcNDArrayCopyFromTexts(array, in, 6));
  CHECK_OK(dlcNDArrayCopyToTexts(array, &list));
  in[0].bytes = "two";
  CHECK_OK(dlcNDArrayCopyFromTexts(array, in, 6));
  dlcNDArrayDestroy(array);
  CHECK(dlcTextListSize(list) == 6 && dlcTextListSize(NULL) == 0);
  CHECK_OK(dlcTextListGet(list, 0, &out));
  CHECK(out.length == 3 && strcmp(out.bytes, "one") == 0);
  CHECK_OK(dlcTextListGet(list, 1, &out));
  CHECK(out.length == 0 && out.bytes[0] == 0);
  CHECK_OK(dlcTextListGet(list, 2, &out));
  CHECK(out.length == 3 && memcmp(out.bytes, "a\0b", 4) == 0);
  CHECK_ERROR(dlcTextListGet(list, 6, &out), DLC_INVALID_ARGUMENT,
              "expected an index below 6, got 6");
  CHECK_ERROR(dlcTextListGet(NULL, 0, &out), DLC_INVALID_ARGUMENT, "a list");
  dlcTextListDestroy(list);
  dlcTextListDestroy(NULL);
  DlcNDArray numbers = makeArray(runtime, cpu);
  CHECK_ERROR(dlcNDArrayCopyFromTexts(numbers, in, 6), DLC_INVALID_ARGUMENT,
              "2x3xf32");
  CHECK_ERROR(dlcNDArrayCopyFromTexts(numbers, NULL, 6), DLC_INVALID_ARGUMENT,
              "expected texts, got null");
  in[5].length = 1;
  CHECK_ERROR(dlcNDArrayCopyFromTexts(numbers, in, 6), DLC_INVALID_ARGUMENT,
              "expected the bytes of a text, got null");
  CHECK_ERROR(dlcNDArrayCopyToTexts(numbers, &list), DLC_INVALID_ARGUMENT,
              "2x3xf32");
  CHECK_ERROR(dlcNDArrayCopyToTexts(NULL, &list), DLC_INVALID_ARGUMENT, "null");
  CHECK_ERROR(dlcNDArrayCopyToTexts(numbers, NULL), DLC_INVALID_ARGUMENT,
              "a place");
  dlcNDArrayDestroy(numbers);
  const int64_t many = (int64_t)1 << 59;
  CHECK_OK(dlcNDArrayCreate(runtime, DLC_TEXT, &many, 1, cpu, &numbers));
  CHECK_ERROR(dlcNDArrayCopyToTexts(numbers, &list), DLC_INVALID_ARGUMENT,
              "never was"); /* Found before memory for them is asked for. */
  dlcNDArrayDestroy(numbers);
}

static void testAttributes(DlcArrayRuntime runtime) {
  DlcNDArray x = makeArray(runtime, cpu), y = makeArray(runtime, cpu);
  DlcNDArray turned = NULL, none = NULL;
  const int64_t turnedShape[] = {3, 2}, permutation[] = {1, 0};
  const double slope = 0.5;
  float in[6] = {1, -2, 3, -4, 5, -6}, out[6];
  CHECK_OK(dlcNDArrayCreate(runtime, DLC_F32, turnedShape, 2, cpu, &turned));
  CHECK_OK(dlcNDArrayCopyFromHost(x, in, sizeof(in)));
  DlcAttribute alpha = {"alpha", DLC_ATTRIBUTE_FLOAT, 0, &slope};
  CHECK_OK(dlcNDArrayApplyWith("leaky_relu", &alpha, 1, 3, &x, 1, &y, 1));
  CHECK_OK(dlcNDArrayCopyToHost(y, out, sizeof(out)));
  CHECK(out[0] == 1 && out[1] == -1 && out[5] == -3);
  DlcAttribute order = {"perm", DLC_ATTRIBUTE_INTS, 2, permutation};
  CHECK_OK(dlcNDArrayApplyWith("transpose", &order, 1, 0, &x, 1, &turned, 1));
  CHECK_OK(dlcNDArrayCopyToHost(turned, out, sizeof(out)));
  CHECK(out[0] == 1 && out[1] == -4 && out[4] == 3);

  const DlcStatusCode bad = DLC_INVALID_ARGUMENT;
  DlcAttribute two[] = {alpha, alpha};
  CHECK_ERROR(dlcNDArrayApplyWith("leaky_relu", two, 2, 0, &x, 1, &y, 1), bad,
              "expected one attribute 'alpha', got two");
  CHECK_ERROR(dlcNDArrayApplyWith("leaky_relu", NULL, 1, 0, &x, 1, &y, 1), bad,
              "expected attributes, got null");
  DlcAttribute unknown = {"alhpa", DLC_ATTRIBUTE_FLOAT, 0, &slope};
  CHECK_ERROR(dlcNDArrayApplyWith("leaky_relu", &unknown, 1, 0, &x, 1, &y, 1),
              bad, "expected attributes of leaky_relu, alpha, got 'alhpa'");
  CHECK_ERROR(dlcNDArrayApplyWith("relu", &alpha, 1, 0, &x, 1, &y, 1), bad,
              "expected attributes of relu, which has none, got 'alpha'");
  DlcAttribute other = {"alpha", DLC_ATTRIBUTE_INT, 0, permutation};
  CHECK_ERROR(dlcNDArrayApplyWith("leaky_relu", &other, 1, 0, &x, 1, &y, 1),
              bad, "'alpha' of leaky_relu as a float, got an integer");
  DlcAttribute endless = {"perm", DLC_ATTRIBUTE_INTS, SIZE_MAX, permutation};
  CHECK_ERROR(dlcNDArrayApplyWith("transpose", &endless, 1, 0, &x, 1, &y, 1),
              bad, "expected less than 2^31 elements of attribute 'perm'");
  alpha.kind = (DlcAttributeKind)5;
  CHECK_ERROR(dlcNDArrayApplyWith("leaky_relu", &alpha, 1, 0, &x, 1, &y, 1),
              bad, "expected a kind of attribute, got 5");
  alpha.kind = DLC_ATTRIBUTE_TEXT;
  alpha.value = NULL;
  CHECK_ERROR(dlcNDArrayApplyWith("leaky_relu", &alpha, 1, 0, &x, 1, &y, 1),
              bad, "the value of an attribute");
  alpha.name = NULL;
  CHECK_ERROR(dlcNDArrayApplyWith("leaky_relu", &alpha, 1, 0, &x, 1, &y, 1),
              bad, "the name of an attribute");
  CHECK_ERROR(dlcNDArrayApplyWith(NULL, NULL, 0, 0, &x, 1, &y, 1), bad,
              "the name of an operation");
  CHECK_ERROR(dlcNDArrayApplyWith("transpose", &order, 1, 0, &x, 1, &none, 1),
              bad, "a null handle");
  CHECK_ERROR(dlcNDArrayApplyWith("transpose", &order, 1, 0, &x, 1, &y, 1), bad,
              "3x2xf32");
  dlcNDArrayDestroy(x);
  dlcNDArrayDestroy(y);
  dlcNDArrayDestroy(turned);
}

typedef struct Scaling {
  DlcNDArray from, to, other;
} Scaling;

/* An operation of the caller, on the elements of arrays. */
static DlcStatus scale(void *data, DlcContext context) {
  (void)context;
  const Scaling *it = data;
  void *from = NULL, *to = NULL, *none = NULL;
  CHECK_OK(dlcNDArrayHostAccess(it->from, DLC_USE_READ, &from));
  CHECK_OK(dlcNDArrayHostAccess(it->to, DLC_USE_WRITE, &to));
  CHECK_ERROR(dlcNDArrayHostAccess(it->from, DLC_USE_WRITE, &none),
              DLC_INVALID_ARGUMENT,
              "operation 'scale' would wait for itself over variable");
  CHECK_OK(dlcNDArrayHostAccess(it->other, DLC_USE_READ, &none));
  if (from && to)
    for (int i = 0; i != 6; ++i)
      ((float *)to)[i] = 2 * ((const float *)from)[i];
  return NULL;
}

static void testOwnOperations(DlcEngine engine, DlcArrayRuntime runtime) {
  Scaling it = {makeArray(runtime, cpu), makeArray(runtime, cpu),
                makeArray(runtime, cpu)};
  DlcVariable from, to;
  CHECK_OK(dlcNDArrayGetVariable(it.from, &from));
  CHECK_OK(dlcNDArrayGetVariable(it.to, &to));
  CHECK_OK(dlcNDArrayFill(it.from, 3));
  CHECK_OK(dlcNDArrayFill(it.other, 4));
  DlcPushOptions options = {
      sizeof(options), DLC_OPERATION_NORMAL, 0, "scale", NULL, 0};
  CHECK_OK(dlcEnginePushSync(engine, scale, &it, NULL, cpu, &from, 1, &to, 1,
                             &options));
  float out[6] = {0};
  CHECK_OK(dlcNDArrayCopyToHost(it.to, out, sizeof(out)));
  CHECK(out[0] == 6 && out[5] == 6);
  /* Nothing is held outside. */
  void *data = NULL;
  CHECK_OK(dlcNDArrayHostAccess(it.to, DLC_USE_WRITE, &data));
  dlcNDArrayDestroy(it.from);
  dlcNDArrayDestroy(it.to);
  dlcNDArrayDestroy(it.other);
}

static void testErrors(DlcEngine engine, DlcArrayRuntime runtime) {
  DlcNDArray x = makeArray(runtime, cpu), y = makeArray(runtime, cpu);
  DlcNDArray none = NULL;
  int64_t negative = -1;
  CHECK_OK(dlcNDArrayApply("exp", &x, 1, &y, 1));
  CHECK_ERROR(dlcNDArrayWait(y, DLC_USE_READ), DLC_INVALID_ARGUMENT,
              "operation 'exp': operand 0: expected an array that was written");
  CHECK_OK(dlcNDArrayWait(y, DLC_USE_READ));
  CHECK_ERROR(dlcNDArrayApply("exp", &x, (size_t)-1, &y, 1),
              DLC_INVALID_ARGUMENT,
              "expected at most 2147483647 arrays, got 18446744073709551615");
  CHECK_ERROR(dlcNDArrayApply("nothing", &x, 1, &y, 1), DLC_NOT_FOUND,
              "no operation is named 'nothing'");
  CHECK_ERROR(dlcNDArrayApply("exp", &x, 1, &none, 1), DLC_INVALID_ARGUMENT,
              "a null handle");
  CHECK_ERROR(dlcNDArrayCopyToHost(x, &negative, 8), DLC_INVALID_ARGUMENT,
              "expected host memory of 24 bytes, got 8");
  CHECK_ERROR(dlcNDArrayCreate(runtime, DLC_F32, &negative, 1, cpu, &none),
              DLC_INVALID_ARGUMENT, "expected dimensions of 0 or more, got -1");
  CHECK_ERROR(dlcNDArrayCreate(runtime, DLC_F32, shape, 17, cpu, &none),
              DLC_INVALID_ARGUMENT, "a rank of 0 to 16, got 17");
  CHECK_ERROR(dlcNDArrayWait(x, (DlcVariableUse)7), DLC_INVALID_ARGUMENT,
              "expected a read or a write, got 7");
  CHECK_ERROR(dlcNDArrayWait(NULL, DLC_USE_READ), DLC_INVALID_ARGUMENT,
              "a null handle");
  CHECK_ERROR(dlcNDArrayFill(NULL, 1), DLC_INVALID_ARGUMENT, "a null handle");
  CHECK_ERROR(dlcNDArrayFillUniform(x, 1, 1), DLC_INVALID_ARGUMENT, "[1, 1)");
  CHECK_ERROR(dlcNDArrayFillNormal(NULL, 0, 1), DLC_INVALID_ARGUMENT,
              "a null handle");
  CHECK_ERROR(dlcArrayRuntimeSeed(NULL, 1), DLC_INVALID_ARGUMENT, "a runtime");
  CHECK_ERROR(dlcNDArrayAt(x, 2, &none), DLC_INVALID_ARGUMENT, "got 2");
  CHECK_ERROR(dlcNDArraySlice(x, 2, 1, &none), DLC_INVALID_ARGUMENT,
              "expected rows that begin before or at their end, got 2 to 1");
  const int64_t below[] = {-2, 6};
  CHECK_ERROR(dlcNDArrayReshape(x, below, 2, &none), DLC_INVALID_ARGUMENT,
              "expected dimensions of -1 or more, got -2");
  CHECK_ERROR(dlcNDArrayApply("add", &x, 1, &y, 1), DLC_INVALID_ARGUMENT,
              "expected 2 operands, got 1");
  CHECK_ERROR(dlcNDArrayAt(x, 0, NULL), DLC_INVALID_ARGUMENT, "a place");
  const int64_t huge[] = {INT64_MAX, 3};
  CHECK_ERROR(dlcNDArrayCreate(runtime, (DlcDataType)99, shape, 2, cpu, &none),
              DLC_INVALID_ARGUMENT, "expected an element type, got 99");
  CHECK_ERROR(dlcNDArrayCreate(runtime, DLC_F32, huge, 2, cpu, &none),
              DLC_INVALID_ARGUMENT, "expected less than 2^63 bytes");
  DlcTextList texts = NULL;
  CHECK_ERROR(dlcNDArrayCopyToTexts(x, &texts), DLC_INVALID_ARGUMENT,
              "expected an array of text, got one of 2x3xf32");
  const DlcText text = {"a", 1};
  CHECK_ERROR(dlcNDArrayCopyFromTexts(x, &text, 1), DLC_INVALID_ARGUMENT,
              "expected an array of text, got one of 2x3xf32");
  DlcVariable variable;
  CHECK_OK(dlcNDArrayGetVariable(x, &variable));
  CHECK_ERROR(dlcEngineDeleteVariable(engine, NULL, NULL, cpu, variable),
              DLC_INVALID_ARGUMENT, "that of an array or a resource");
  CHECK(!none && !texts);
  dlcNDArrayDestroy(NULL);
  dlcNDArrayDestroy(x);
  dlcNDArrayDestroy(y);
}

/* The operations, and what is like none of their names. */
static void testNames(DlcArrayRuntime runtime) {
  DlcNDArray x = makeArray(runtime, cpu);
  size_t count = dlcOperationCount(), found = 0;
  CHECK(count > 100);
  for (size_t i = 0; i != count; ++i) {
    const char *names = NULL;
    CHECK(i == 0 || strcmp(dlcOperationName(i - 1), dlcOperationName(i)) < 0);
    CHECK_OK(dlcOperationAttributes(dlcOperationName(i), &names));
    if (!strcmp(dlcOperationName(i), "exp"))
      found += names && !strcmp(names, "");
    if (!strcmp(dlcOperationName(i), "softmax"))
      found += names && !strcmp(names, "axis");
  }
  CHECK(found == 2);
  CHECK(dlcOperationName(count) == NULL);
  const char *names = NULL;
  CHECK_ERROR(dlcOperationAttributes("Exp", &names), DLC_NOT_FOUND,
              "no operation is named 'Exp': did you mean 'exp'?");
  CHECK_ERROR(dlcOperationAttributes(NULL, &names), DLC_INVALID_ARGUMENT,
              "the name of an operation");
  CHECK(names == NULL);
  CHECK_ERROR(dlcNDArrayApply("sotfmax", &x, 1, &x, 1), DLC_NOT_FOUND,
              "no operation is named 'sotfmax': did you mean 'softmax'?");
  dlcNDArrayDestroy(x);
}

static void testFiles(DlcArrayRuntime runtime) {
  char path[] = "/tmp/dlc-ndarray-test-XXXXXX";
  close(mkstemp(path));
  DlcNDArray x = makeArray(runtime, cpu), loaded = NULL;
  DlcNDArrayList list = NULL;
  const char *name = "arg:x";
  float out[6];
  CHECK_OK(dlcNDArrayFill(x, 3));
  CHECK_ERROR(dlcNDArraySave(path, DLC_ARRAY_PARAMS, &name, &x, (size_t)-1),
              DLC_INVALID_ARGUMENT,
              "expected at most 2147483647 arrays, got 18446744073709551615");
  CHECK_OK(dlcNDArraySave(path, DLC_ARRAY_PARAMS, &name, &x, 1));
  CHECK_OK(dlcNDArrayLoad(runtime, path, cpu, &list));
  CHECK(dlcNDArrayListSize(list) == 1);
  CHECK(!strcmp(dlcNDArrayListName(list, 0), "arg:x"));
  CHECK(!strcmp(dlcNDArrayListName(list, 1), ""));
  CHECK_OK(dlcNDArrayListGet(list, 0, &loaded));
  CHECK_ERROR(dlcNDArrayListGet(list, 1, &loaded), DLC_INVALID_ARGUMENT,
              "expected an index below 1, got 1");
  dlcNDArrayListDestroy(list);
  CHECK_OK(dlcNDArrayCopyToHost(loaded, out, sizeof(out)));
  CHECK(out[5] == 3);
  dlcNDArrayDestroy(loaded);
  CHECK_ERROR(dlcNDArraySave(path, (DlcArrayFormat)9, &name, &x, 1),
              DLC_INVALID_ARGUMENT, "expected a format of 0 to 2, got 9");
  /* Without names in an .npz: those of NumPy. */
  DlcNDArray unwritten = makeArray(runtime, cpu);
  const char *names[] = {"a", "b"};
  DlcNDArray mixed[] = {x, unwritten};
  CHECK_ERROR(dlcNDArraySave(path, DLC_ARRAY_NPZ, names, mixed, 2),
              DLC_INVALID_ARGUMENT, ": array 'b': expected an array that was");
  CHECK_ERROR(dlcNDArraySave(path, DLC_ARRAY_NPZ, NULL, mixed, 2),
              DLC_INVALID_ARGUMENT, ": array 1: expected an array that was");
  dlcNDArrayDestroy(unwritten);
  CHECK_ERROR(dlcNDArrayLoad(runtime, "/tmp", cpu, &list), DLC_INVALID_ARGUMENT,
              "/tmp: expected a regular file, found a folder");
  DlcNDArray both[] = {x, x};
  CHECK_OK(dlcNDArraySave(path, DLC_ARRAY_NPZ, NULL, both, 2));
  CHECK_OK(dlcNDArrayLoad(runtime, path, cpu, &list));
  CHECK(!strcmp(dlcNDArrayListName(list, 0), "arr_0"));
  CHECK(!strcmp(dlcNDArrayListName(list, 1), "arr_1"));
  dlcNDArrayListDestroy(list);
  name = "../x";
  CHECK_ERROR(dlcNDArraySave(path, DLC_ARRAY_NPZ, &name, &x, 1),
              DLC_INVALID_ARGUMENT, "without '..', got '../x'");
  FILE *file = fopen(path, "w");
  CHECK(file && fputs("no arrays", file) >= 0 && fclose(file) == 0);
  CHECK_ERROR(dlcNDArrayLoad(runtime, path, cpu, &list), DLC_DATA_LOSS,
              "expected an .npy, .npz or .params file, got 9 bytes");
  unlink(path);
  CHECK_ERROR(dlcNDArrayLoad(runtime, path, cpu, &list), DLC_NOT_FOUND, path);
  dlcNDArrayDestroy(x);
}

/* Handles that outlive their runtime and their engine. */
static void testEnds(DlcEngineKind kind) {
  DlcEngineOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  options.kind = kind;
  options.cpuWorkers = 2;
  DlcEngine engine = NULL;
  DlcArrayRuntime runtime = NULL;
  CHECK_OK(dlcEngineCreate(&options, &engine));
  CHECK_OK(dlcArrayRuntimeCreate(engine, &runtime));
  testOperations(runtime);
  testTexts(runtime);
  testAttributes(runtime);
  testOwnOperations(engine, runtime);
  testErrors(engine, runtime);
  testNames(runtime);
  testFiles(runtime);
  DlcNDArray x = makeArray(runtime, cpu), y = NULL;
  struct DLManagedTensorVersioned *tensor = NULL;
  CHECK_OK(dlcNDArrayFill(x, 1));
  CHECK_OK(dlcNDArrayToDLPack(x, DLC_USE_WRITE, &tensor));
  CHECK_OK(dlcNDArrayFromDLPack(runtime, tensor, &y));
  struct DLManagedTensor *old = NULL;
  DlcNDArray z = NULL;
  CHECK_OK(dlcNDArrayToOldDLPack(y, DLC_USE_WRITE, &old));
  CHECK_OK(dlcNDArrayFromOldDLPack(runtime, old, &z));
  CHECK_OK(dlcNDArrayFill(z, 5));
  CHECK_OK(dlcNDArrayWait(z, DLC_USE_READ));
  float out[6];
  CHECK_OK(dlcNDArrayCopyToHost(x, out, sizeof(out)));
  CHECK(out[0] == 5);
  dlcNDArrayDestroy(z);
  dlcArrayRuntimeDestroy(runtime);
  dlcEngineDestroy(engine);
  CHECK_ERROR(dlcNDArrayFill(x, 2), DLC_UNAVAILABLE, "");
  CHECK_ERROR(dlcNDArrayCopyToHost(x, out, sizeof(out)), DLC_UNAVAILABLE, "");
  dlcNDArrayDestroy(x);
  dlcNDArrayDestroy(y);
}

/* Files get no memory beyond the cap of a storage. */
static void testCap(void) {
  char path[] = "/tmp/dlc-ndarray-test-XXXXXX";
  close(mkstemp(path));
  DlcEngineOptions options = {.structSize = sizeof(options)};
  DlcStorageOptions small = {.structSize = sizeof(small), .byteCap = 1 << 16};
  DlcEngine engine = NULL;
  DlcStorage storage = NULL;
  DlcArrayRuntime runtime = NULL, capped = NULL;
  DlcNDArray x = NULL;
  DlcNDArrayList list = NULL;
  int64_t shape[] = {1 << 15};
  CHECK_OK(dlcEngineCreate(&options, &engine));
  CHECK_OK(dlcStorageCreate(&small, &storage));
  CHECK_OK(dlcArrayRuntimeCreate(engine, &runtime));
  CHECK_OK(dlcArrayRuntimeCreateWith(engine, storage, NULL, &capped));
  CHECK_OK(dlcNDArrayCreate(runtime, DLC_F32, shape, 1, cpu, &x));
  CHECK_OK(dlcNDArrayFill(x, 1));
  CHECK_OK(dlcNDArraySave(path, DLC_ARRAY_NPY, NULL, &x, 1));
  CHECK_ERROR(dlcNDArrayLoad(capped, path, cpu, &list), DLC_OUT_OF_MEMORY,
              path);
  CHECK(list == NULL);
  CHECK_OK(dlcNDArrayLoad(runtime, path, cpu, &list));
  dlcNDArrayListDestroy(list);
  dlcNDArrayDestroy(x);
  dlcArrayRuntimeDestroy(capped);
  dlcArrayRuntimeDestroy(runtime);
  dlcStorageDestroy(storage);
  dlcEngineDestroy(engine);
  unlink(path);
}

int main(void) {
  testCap();
  testEnds(DLC_ENGINE_NAIVE);
  testEnds(DLC_ENGINE_THREADED);
  testEnds(DLC_ENGINE_PER_DEVICE);
  CHECK_ERROR(dlcArrayRuntimeCreate(NULL, NULL), DLC_INVALID_ARGUMENT,
              "an engine");
  if (!failures)
    printf("all checks passed\n");
  return failures != 0;
}
