/* SPDX-License-Identifier: Apache-2.0
 *
 * The C API of executors from C: C = B * A; D = C + 1, forward and backward.
 */

#include "dlc-c/Symbol.h"

#include "../runtime/CAPI/Check.h"

static const DlcContext cpu = {DLC_DEVICE_CPU, 0};

static DlcSymbol variable(const char *name) {
  DlcSymbol symbol = NULL;
  CHECK_OK(dlcSymbolCreateVariable(name, &symbol));
  return symbol;
}

/* D = B * A + 1. */
static DlcSymbol makeSymbol(DlcSymbol a, DlcSymbol b) {
  DlcSymbol product = NULL, sum = NULL, operands[2];
  const char *key = "scalar", *value = "1";
  operands[0] = b;
  operands[1] = a;
  CHECK_OK(dlcSymbolCreateAtomic("elemwise_mul", NULL, NULL, 0, &product));
  CHECK_OK(dlcSymbolCompose(product, "C", NULL, operands, 2));
  CHECK_OK(dlcSymbolCreateAtomic("_plus_scalar", &key, &value, 1, &sum));
  CHECK_OK(dlcSymbolCompose(sum, "D", NULL, &product, 1));
  dlcSymbolDestroy(product);
  return sum;
}

static void set(DlcExecutor executor, const char *name, const float *values,
                size_t size) {
  DlcNDArray array = NULL;
  CHECK_OK(dlcExecutorFind(executor, DLC_ARRAYS_ARGUMENT, name, &array));
  CHECK_OK(dlcNDArrayCopyFromHost(array, values, size));
  dlcNDArrayDestroy(array);
}

static int is(DlcExecutor executor, DlcExecutorArrays kind, const char *name,
              float first, float second) {
  DlcNDArray array = NULL;
  float values[2] = {0, 0};
  CHECK_OK(dlcExecutorFind(executor, kind, name, &array));
  CHECK_OK(dlcNDArrayCopyToHost(array, values, sizeof(values)));
  dlcNDArrayDestroy(array);
  return values[0] == first && values[1] == second;
}

static int told;
static void countNodes(void *data, const char *name, DlcNDArray array) {
  CHECK(data == &told && array);
  told += strcmp(name, "C_output") == 0 || strcmp(name, "D_output") == 0;
}

static void testTraining(DlcNetwork network, DlcArrayRuntime runtime) {
  static const int64_t two = 2;
  static const float a[] = {1, 2}, b[] = {3, 4}, ten[] = {10, 10};
  DlcKnownVariable known[] = {{"A", &two, 1, DLC_F32}, {"B", &two, 1, DLC_F32}};
  DlcExecutor executor = NULL;
  CHECK_OK(dlcExecutorSimpleBind(network, runtime, cpu, known, 2,
                                 DLC_GRADIENT_WRITE, NULL, NULL, 0, NULL,
                                 &executor));
  CHECK(dlcExecutorArrayCount(executor, DLC_ARRAYS_ARGUMENT) == 2);
  CHECK(dlcExecutorArrayCount(executor, DLC_ARRAYS_AUXILIARY_STATE) == 0);
  CHECK(strcmp(dlcExecutorArrayName(executor, DLC_ARRAYS_OUTPUT, 0),
               "D_output") == 0);
  CHECK(strcmp(dlcExecutorArrayName(executor, DLC_ARRAYS_OUTPUT, 1), "") == 0);
  set(executor, "A", a, sizeof(a));
  set(executor, "B", b, sizeof(b));
  CHECK_ERROR(dlcExecutorBackward(executor, NULL, 0), DLC_INVALID_ARGUMENT,
              "expected a forward run");
  CHECK_OK(dlcExecutorForward(executor, 1));
  CHECK(is(executor, DLC_ARRAYS_OUTPUT, "D_output", 4, 9));
  CHECK_OK(dlcExecutorBackward(executor, NULL, 0));
  CHECK(is(executor, DLC_ARRAYS_GRADIENT, "A", 3, 4));
  CHECK(is(executor, DLC_ARRAYS_GRADIENT, "B", 1, 2));

  DlcNDArray head = NULL;
  CHECK_OK(dlcNDArrayCreate(runtime, DLC_F32, &two, 1, cpu, &head));
  CHECK_OK(dlcNDArrayCopyFromHost(head, ten, sizeof(ten)));
  CHECK_OK(dlcExecutorForwardBackward(executor, &head, 1));
  CHECK(is(executor, DLC_ARRAYS_GRADIENT, "A", 30, 40));
  const char *names[] = {"A"};
  CHECK_OK(dlcExecutorCopyParameters(executor, DLC_ARRAYS_ARGUMENT, names,
                                     &head, 1, 0));
  CHECK(is(executor, DLC_ARRAYS_ARGUMENT, "A", 10, 10));
  dlcNDArrayDestroy(head);

  CHECK_OK(dlcExecutorSetMonitor(executor, countNodes, &told, 0));
  CHECK_OK(dlcExecutorForward(executor, 0));
  CHECK(told == 2);
  CHECK_OK(dlcExecutorSetMonitor(executor, NULL, NULL, 0));
  const char *text = NULL;
  CHECK_OK(dlcExecutorDescribe(executor, &text));
  CHECK(strstr(text, "total ") != NULL);

  static const int64_t one = 1;
  DlcKnownVariable smaller[] = {{"A", &one, 1, DLC_INVALID_TYPE},
                                {"B", &one, 1, DLC_INVALID_TYPE}};
  DlcExecutor reshaped = NULL;
  DlcKnownVariable wrong = {"A", &one, 1, DLC_F64};
  CHECK_ERROR(dlcExecutorReshape(executor, &wrong, 1, NULL, &reshaped),
              DLC_INVALID_ARGUMENT,
              "'A': expected its element type to stay f32, got f64");
  CHECK_OK(dlcExecutorReshape(executor, smaller, 2, NULL, &reshaped));
  dlcExecutorDestroy(executor);
  CHECK_OK(dlcExecutorForward(reshaped, 0));
  DlcNDArray output = NULL;
  float value = 0;
  CHECK_OK(dlcExecutorArray(reshaped, DLC_ARRAYS_OUTPUT, 0, &output));
  CHECK_OK(dlcNDArrayCopyToHost(output, &value, sizeof(value)));
  CHECK(value == 31);
  dlcNDArrayDestroy(output);
  dlcExecutorDestroy(reshaped);
}

/* What is known of variables is checked as dlcSymbolInferTypes() does. */
static void testKnown(DlcNetwork network, DlcArrayRuntime runtime) {
  static const int64_t two = 2;
  static const struct {
    DlcKnownVariable known[2];
    const char *message;
  } wrong[] = {
      {{{"A", &two, 1, DLC_F32}, {"A", &two, 1, DLC_INVALID_TYPE}},
       "expected one shape for input 'A', got two"},
      {{{"A", NULL, -1, DLC_F32}, {"A", NULL, -1, DLC_F64}},
       "expected one type for input 'A', got two"},
      {{{"A", &two, -2, DLC_F32}, {"B", &two, 1, DLC_F32}},
       "for input 'A', got -2"},
      {{{"A", &two, 1, (DlcDataType)99}, {"B", &two, 1, DLC_F32}},
       "expected an element type of input 'A', got 99"},
      {{{"A", &two, 1, DLC_C64}, {"B", &two, 1, DLC_F32}},
       "expected an element type of programs for input 'A', got c64"},
      {{{"A", &two, 1, DLC_U4}, {"B", &two, 1, DLC_F32}},
       "expected an element type of programs for input 'A', got u4"},
      {{{"A", NULL, 1, DLC_F32}, {"B", &two, 1, DLC_F32}},
       "expected the shape of an input, got null"},
  };
  DlcExecutor executor = NULL;
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i)
    CHECK_ERROR(dlcExecutorSimpleBind(network, runtime, cpu, wrong[i].known, 2,
                                      DLC_GRADIENT_WRITE, NULL, NULL, 0, NULL,
                                      &executor),
                DLC_INVALID_ARGUMENT, wrong[i].message);
}

/* Executors of one seed draw the same, those of others do not. */
static void testSeeds(DlcArrayRuntime runtime) {
  static const int64_t many = 64;
  float drawn[3][64];
  const char *key = "p", *value = "0.5";
  DlcSymbol data = variable("A"), dropout = NULL;
  DlcNetwork network = NULL;
  CHECK_OK(dlcSymbolCreateAtomic("Dropout", &key, &value, 1, &dropout));
  CHECK_OK(dlcSymbolCompose(dropout, "d", NULL, &data, 1));
  CHECK_OK(dlcSymbolMakeNetwork(dropout, NULL, &network));
  for (int i = 0; i < 3; ++i) {
    DlcKnownVariable known = {"A", &many, 1, DLC_F32};
    DlcExecutorOptions options = {.structSize = sizeof(options),
                                  .seed = i == 2 ? 8 : 7};
    DlcExecutor executor = NULL;
    DlcNDArray array = NULL;
    CHECK_OK(dlcExecutorSimpleBind(network, runtime, cpu, &known, 1,
                                   DLC_GRADIENT_NULL, NULL, NULL, 0, &options,
                                   &executor));
    CHECK_OK(dlcExecutorFind(executor, DLC_ARRAYS_ARGUMENT, "A", &array));
    CHECK_OK(dlcNDArrayFill(array, 1));
    dlcNDArrayDestroy(array);
    CHECK_OK(dlcExecutorForward(executor, 1));
    CHECK_OK(dlcExecutorArray(executor, DLC_ARRAYS_OUTPUT, 0, &array));
    CHECK_OK(dlcNDArrayCopyToHost(array, drawn[i], sizeof(drawn[i])));
    dlcNDArrayDestroy(array);
    dlcExecutorDestroy(executor);
  }
  CHECK(memcmp(drawn[0], drawn[1], sizeof(drawn[0])) == 0);
  CHECK(memcmp(drawn[0], drawn[2], sizeof(drawn[0])) != 0);
  dlcNetworkDestroy(network);
  dlcSymbolDestroy(dropout);
  dlcSymbolDestroy(data);
}

static void testBind(DlcNetwork network, DlcArrayRuntime runtime) {
  static const int64_t two = 2;
  DlcNDArray arrays[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(dlcNDArrayCreate(runtime, DLC_F32, &two, 1, cpu, &arrays[i]));
    CHECK_OK(dlcNDArrayFill(arrays[i], i + 1));
  }
  DlcNDArray gradients[] = {arrays[2], NULL};
  DlcGradientRequest requests[] = {DLC_GRADIENT_ADD, DLC_GRADIENT_NULL};
  DlcBindings bindings = {.structSize = sizeof(bindings),
                          .arguments = arrays,
                          .argumentCount = 2,
                          .gradients = gradients,
                          .requests = requests};
  DlcExecutor executor = NULL;
  CHECK_OK(dlcExecutorBind(network, &bindings, NULL, &executor));
  CHECK_OK(dlcExecutorForwardBackward(executor, NULL, 0));
  /* Arguments are in the order of their first use: B, A. */
  CHECK(is(executor, DLC_ARRAYS_GRADIENT, "B", 5, 5));
  CHECK_ERROR(dlcExecutorArray(executor, DLC_ARRAYS_GRADIENT, 1, &gradients[1]),
              DLC_NOT_FOUND, "'A' was not requested");
  dlcExecutorDestroy(executor);
  bindings.argumentCount = 1;
  CHECK_ERROR(dlcExecutorBind(network, &bindings, NULL, &executor),
              DLC_INVALID_ARGUMENT, "expected 2 arguments (B, A), got 1");
  CHECK_ERROR(dlcExecutorBind(NULL, &bindings, NULL, &executor),
              DLC_INVALID_ARGUMENT, "got null");
  for (int i = 0; i < 3; ++i)
    dlcNDArrayDestroy(arrays[i]);
}

static void testGradientSymbol(DlcArrayRuntime runtime) {
  static const int64_t two = 2;
  static const float a[] = {1, 2}, b[] = {3, 4};
  DlcSymbol wrt[] = {variable("A"), variable("B")};
  DlcSymbol d = makeSymbol(wrt[0], wrt[1]), gradients = NULL;
  DlcNetwork network = NULL;
  DlcExecutor executor = NULL;
  CHECK_ERROR(dlcSymbolGradient(wrt[0], &wrt[1], 1, "g", &gradients),
              DLC_INVALID_ARGUMENT, "got 'B', which is not in it");
  CHECK_OK(dlcSymbolGradient(d, wrt, 2, "g", &gradients));
  CHECK_OK(dlcSymbolMakeNetwork(gradients, NULL, &network));
  DlcKnownVariable known[] = {{"A", &two, 1, DLC_F32}, {"B", &two, 1, DLC_F32}};
  CHECK_OK(dlcExecutorSimpleBind(network, runtime, cpu, known, 2,
                                 DLC_GRADIENT_NULL, NULL, NULL, 0, NULL,
                                 &executor));
  set(executor, "A", a, sizeof(a));
  set(executor, "B", b, sizeof(b));
  CHECK_OK(dlcExecutorForward(executor, 0));
  CHECK(is(executor, DLC_ARRAYS_OUTPUT, "g_output0", 3, 4));
  CHECK(is(executor, DLC_ARRAYS_OUTPUT, "g_output1", 1, 2));
  dlcExecutorDestroy(executor);
  dlcNetworkDestroy(network);
  dlcSymbolDestroy(gradients);
  dlcSymbolDestroy(d);
  dlcSymbolDestroy(wrt[0]);
  dlcSymbolDestroy(wrt[1]);
}

/* D = B * A + 1 with B, in a group, on another device. */
static void testGroups(DlcArrayRuntime runtime) {
  static const int64_t two = 2;
  static const float a[] = {1, 2}, b[] = {3, 4};
  DlcGroupDevice groups[] = {{"head", "cpu:1"}, {"head", "cpu:2"}};
  DlcNetworkOptions options = {
      .structSize = sizeof(options), .groups = groups, .groupCount = 1};
  DlcSymbol symbols[] = {variable("A"), variable("B")};
  CHECK_OK(dlcSymbolSetAttribute(symbols[1], "ctx_group", "head"));
  DlcSymbol d = makeSymbol(symbols[0], symbols[1]);
  DlcNetwork network = NULL;
  DlcExecutor executor = NULL;
  DlcNDArray array = NULL;
  DlcContext context = cpu;
  CHECK_OK(dlcSymbolMakeNetwork(d, &options, &network));
  DlcKnownVariable known[] = {{"A", &two, 1, DLC_F32}, {"B", &two, 1, DLC_F32}};
  CHECK_OK(dlcExecutorSimpleBind(network, runtime, cpu, known, 2,
                                 DLC_GRADIENT_WRITE, NULL, NULL, 0, NULL,
                                 &executor));
  CHECK_OK(dlcExecutorFind(executor, DLC_ARRAYS_GRADIENT, "B", &array));
  CHECK_OK(dlcNDArrayGetContext(array, &context));
  CHECK(context.kind == DLC_DEVICE_CPU && context.index == 1);
  dlcNDArrayDestroy(array);
  set(executor, "A", a, sizeof(a));
  set(executor, "B", b, sizeof(b));
  CHECK_OK(dlcExecutorForwardBackward(executor, NULL, 0));
  CHECK(is(executor, DLC_ARRAYS_OUTPUT, "D_output", 4, 9));
  CHECK(is(executor, DLC_ARRAYS_GRADIENT, "A", 3, 4));
  CHECK(is(executor, DLC_ARRAYS_GRADIENT, "B", 1, 2));
  options.groupCount = 2;
  CHECK_ERROR(dlcSymbolMakeNetwork(d, &options, &network), DLC_INVALID_ARGUMENT,
              "expected one device of group 'head', got two");
  groups[0].device = "gpu";
  options.groupCount = 1;
  CHECK_ERROR(dlcSymbolMakeNetwork(d, &options, &network), DLC_INVALID_ARGUMENT,
              "gpu");
  groups[0] = (DlcGroupDevice){"tail", "cpu:1"};
  CHECK_ERROR(
      dlcSymbolMakeNetwork(d, &options, &network), DLC_INVALID_ARGUMENT,
      "node 'B': expected a device of group 'head', got those of tail");
  options.groups = NULL;
  CHECK_ERROR(dlcSymbolMakeNetwork(d, &options, &network), DLC_INVALID_ARGUMENT,
              "expected devices of groups, got null");
  dlcExecutorDestroy(executor);
  dlcNetworkDestroy(network);
  dlcSymbolDestroy(d);
  dlcSymbolDestroy(symbols[0]);
  dlcSymbolDestroy(symbols[1]);
}

static void testBadParallel(DlcNetwork network, DlcArrayRuntime runtime,
                            const DlcParallelOptions *good) {
  static const int64_t shape[] = {5, 1};
  static const double workloads[] = {1, -1}, loads[] = {1, 1, 1, 1, 1, 1};
  DlcContext many[6], foreign[] = {cpu, {DLC_DEVICE_CUDA, 0}};
  const char *twice[] = {"x", "x"}, *unknown[] = {"y"}, *none[] = {NULL};
  DlcKnownVariable known = {"x", shape, 2, DLC_F32};
  DlcParallelOptions options[9];
  static const struct {
    DlcStatusCode code;
    const char *message;
  } expected[] = {
      {DLC_INVALID_ARGUMENT, "expected at least one device, got none"},
      {DLC_INVALID_ARGUMENT, "expected workloads above 0, got -1"},
      {DLC_INVALID_ARGUMENT, "a row for each of 6 devices, got none of 5"},
      {DLC_UNSUPPORTED, "device 1: "},
      {DLC_INVALID_ARGUMENT, "'x': expected each argument with the batch once"},
      {DLC_INVALID_ARGUMENT, "an argument (x, f_weight) with the batch, got "
                             "'y'"},
      {DLC_INVALID_ARGUMENT, "expected the name of an argument, got null"},
      {DLC_INVALID_ARGUMENT, "expected devices and names of arguments"},
      {DLC_INVALID_ARGUMENT, "expected structSize to be set"},
  };
  DlcExecutor executor = NULL;
  for (int i = 0; i < 6; ++i)
    many[i] = cpu;
  for (int i = 0; i < 9; ++i)
    options[i] = *good;
  options[0].deviceCount = 0;
  options[1].workloads = workloads;
  options[2].devices = many;
  options[2].deviceCount = 6;
  options[2].workloads = loads;
  options[3].devices = foreign;
  options[4].batched = twice;
  options[4].batchedCount = 2;
  options[5].batched = unknown;
  options[6].batched = none;
  options[7].devices = NULL;
  options[8].structSize = 0;
  for (int i = 0; i < 9; ++i)
    CHECK_ERROR(dlcExecutorSimpleBindParallel(network, runtime, &known, 1,
                                              DLC_GRADIENT_WRITE, NULL, NULL, 0,
                                              &options[i], &executor),
                expected[i].code, expected[i].message);
  CHECK_ERROR(dlcExecutorSimpleBindParallel(network, runtime, &known, 1,
                                            DLC_GRADIENT_WRITE, NULL, NULL, 0,
                                            NULL, &executor),
              DLC_INVALID_ARGUMENT, "expected options with devices, got null");
  CHECK(executor == NULL);
}

/* What executors of parts do not do, and those of the whole not. */
static void testPartsOnly(DlcNetwork network, DlcArrayRuntime runtime,
                          DlcExecutor parallel) {
  static const int64_t shape[] = {5, 1};
  DlcKnownVariable known = {"x", shape, 2, DLC_F32};
  DlcExecutorOptions options = {.structSize = sizeof(options),
                                .shared = parallel};
  DlcExecutor whole = NULL;
  int64_t begin = 0, end = 0;
  CHECK_ERROR(dlcExecutorSimpleBind(network, runtime, cpu, &known, 1,
                                    DLC_GRADIENT_NULL, NULL, NULL, 0, &options,
                                    &whole),
              DLC_UNSUPPORTED, "got one of parts");
  CHECK_ERROR(dlcExecutorPartRows(parallel, 2, &begin, &end),
              DLC_INVALID_ARGUMENT, "below 2, got 2");
  options.shared = NULL;
  options.memoryBudget = -1;
  CHECK_ERROR(dlcExecutorSimpleBind(network, runtime, cpu, &known, 1,
                                    DLC_GRADIENT_NULL, NULL, NULL, 0, &options,
                                    &whole),
              DLC_INVALID_ARGUMENT, "budget of at least 0 bytes, got -1");
  options.memoryBudget = 1 << 20;
  options.releasesEarly = 1;
  CHECK_OK(dlcExecutorSimpleBind(network, runtime, cpu, &known, 1,
                                 DLC_GRADIENT_NULL, NULL, NULL, 0, &options,
                                 &whole));
  CHECK_ERROR(dlcExecutorPartRows(whole, 0, &begin, &end), DLC_UNSUPPORTED,
              "got one of the whole batch");
  CHECK_OK(dlcExecutorForward(whole, 0));
  dlcExecutorDestroy(whole);
}

/* The rows that parts were told to have, at the number of their device. */
static int64_t toldRows[2];
static void noteRows(void *data, const char *name, DlcNDArray array) {
  DlcContext context;
  DlcTensor tensor;
  CHECK(data == toldRows && strcmp(name, "f_output") == 0);
  CHECK_OK(dlcNDArrayGetContext(array, &context));
  CHECK_OK(dlcNDArrayDescribe(array, &tensor));
  CHECK(context.index < 2);
  toldRows[context.index] += tensor.shape[0];
}

/* Four rows instead of five, of which each device is told about. */
static void testReshapedParts(DlcExecutor executor) {
  static const int64_t shape[] = {4, 1}, large[] = {6, 1};
  static const float x[] = {6, 7, 8, 9};
  DlcKnownVariable known = {"x", shape, 2, DLC_INVALID_TYPE};
  DlcExecutor four = NULL;
  CHECK_OK(dlcExecutorReshape(executor, &known, 1, NULL, &four));
  int64_t begin = -1, end = -1;
  CHECK_OK(dlcExecutorPartRows(four, 1, &begin, &end));
  CHECK(begin == 2 && end == 4);
  set(four, "x", x, sizeof(x));
  CHECK_OK(dlcExecutorSetMonitor(four, noteRows, toldRows, 0));
  CHECK_OK(dlcExecutorForward(four, 0));
  CHECK(toldRows[0] == 2 && toldRows[1] == 2);
  CHECK_OK(dlcExecutorSetMonitor(four, NULL, NULL, 0));
  CHECK_OK(dlcExecutorForward(four, 0));
  CHECK(toldRows[0] == 2 && toldRows[1] == 2);
  DlcNDArray output = NULL;
  float y[4] = {0};
  CHECK_OK(dlcExecutorArray(four, DLC_ARRAYS_OUTPUT, 0, &output));
  CHECK_OK(dlcNDArrayCopyToHost(output, y, sizeof(y)));
  for (int i = 0; i < 4; ++i)
    CHECK(y[i] == 2 * x[i]);
  dlcNDArrayDestroy(output);
  dlcExecutorDestroy(four);
  four = NULL;
  known.dims = large;
  CHECK_ERROR(dlcExecutorReshape(executor, &known, 1, NULL, &four),
              DLC_INVALID_ARGUMENT,
              "argument 'x': expected at most the memory");
  CHECK(four == NULL);
}

/* y = w x of five rows, on two devices. */
/* One that nothing fits, of whole batches and of parts. */
static void testBudgets(DlcArrayRuntime runtime) {
  static const int64_t shape[] = {8, 64};
  static const char *batched[] = {"x"};
  const char *key = "num_hidden", *value = "64";
  DlcContext devices[] = {cpu, {DLC_DEVICE_CPU, 1}};
  DlcExecutorOptions options = {.structSize = sizeof(options),
                                .memoryBudget = 100};
  DlcParallelOptions parallel = {.structSize = sizeof(parallel),
                                 .devices = devices,
                                 .deviceCount = 2,
                                 .batched = batched,
                                 .batchedCount = 1,
                                 .memoryBudget = 100};
  DlcKnownVariable known = {"x", shape, 2, DLC_F32};
  DlcSymbol layers[] = {variable("x"), NULL, NULL, NULL};
  DlcNetwork network = NULL;
  DlcExecutor executors[2] = {NULL, NULL};
  static const char *names[] = {"", "f", "g", "h"};
  for (int i = 1; i < 4; ++i) {
    CHECK_OK(
        dlcSymbolCreateAtomic("FullyConnected", &key, &value, 1, &layers[i]));
    CHECK_OK(dlcSymbolCompose(layers[i], names[i], NULL, &layers[i - 1], 1));
  }
  CHECK_OK(dlcSymbolMakeNetwork(layers[3], NULL, &network));
  CHECK_OK(dlcExecutorSimpleBind(network, runtime, cpu, &known, 1,
                                 DLC_GRADIENT_WRITE, NULL, NULL, 0, &options,
                                 &executors[0]));
  CHECK_OK(dlcExecutorSimpleBindParallel(network, runtime, &known, 1,
                                         DLC_GRADIENT_WRITE, NULL, NULL, 0,
                                         &parallel, &executors[1]));
  for (int i = 0; i < 2; ++i) {
    CHECK_ERROR(dlcExecutorForwardBackward(executors[i], NULL, 0),
                DLC_INVALID_ARGUMENT, "a memory budget of at least ");
    dlcExecutorDestroy(executors[i]);
  }
  dlcNetworkDestroy(network);
  for (int i = 0; i < 4; ++i)
    dlcSymbolDestroy(layers[i]);
}

static void testParallel(DlcArrayRuntime runtime) {
  static const int64_t shape[] = {5, 1};
  static const float x[] = {1, 2, 3, 4, 5}, two = 2;
  static const double workloads[] = {3, 2};
  static const char *batched[] = {"x"};
  const char *keys[] = {"num_hidden", "no_bias"}, *values[] = {"1", "True"};
  DlcContext devices[] = {cpu, {DLC_DEVICE_CPU, 1}};
  DlcParallelOptions options = {.structSize = sizeof(options),
                                .devices = devices,
                                .deviceCount = 2,
                                .workloads = workloads,
                                .batched = batched,
                                .batchedCount = 1};
  DlcKnownVariable known = {"x", shape, 2, DLC_F32};
  DlcSymbol data = variable("x"), dense = NULL;
  DlcNetwork network = NULL;
  DlcExecutor executor = NULL, other = NULL;
  CHECK_OK(dlcSymbolCreateAtomic("FullyConnected", keys, values, 2, &dense));
  CHECK_OK(dlcSymbolCompose(dense, "f", NULL, &data, 1));
  CHECK_OK(dlcSymbolMakeNetwork(dense, NULL, &network));
  testBadParallel(network, runtime, &options);
  CHECK_OK(dlcExecutorSimpleBindParallel(network, runtime, &known, 1,
                                         DLC_GRADIENT_WRITE, NULL, NULL, 0,
                                         &options, &executor));
  for (int i = 0; i < 2; ++i) {
    int64_t begin = -1, end = -1;
    CHECK_OK(dlcExecutorPartRows(executor, (size_t)i, &begin, &end));
    CHECK(begin == 3 * i && end == 3 + 2 * i);
  }
  testPartsOnly(network, runtime, executor);
  set(executor, "x", x, sizeof(x));
  set(executor, "f_weight", &two, sizeof(two));
  CHECK_OK(dlcExecutorForwardBackward(executor, NULL, 0));
  DlcNDArray arrays[3] = {NULL, NULL, NULL}, gradients[2] = {NULL, NULL};
  float y[5] = {0}, sum = 0;
  CHECK_OK(dlcExecutorArray(executor, DLC_ARRAYS_OUTPUT, 0, &arrays[0]));
  CHECK_OK(dlcNDArrayCopyToHost(arrays[0], y, sizeof(y)));
  for (int i = 0; i < 5; ++i)
    CHECK(y[i] == 2 * x[i]);
  CHECK_OK(dlcExecutorFind(executor, DLC_ARRAYS_GRADIENT, "f_weight",
                           &gradients[1]));
  CHECK_OK(dlcNDArrayCopyToHost(gradients[1], &sum, sizeof(sum)));
  CHECK(sum == 15);
  const char *text = NULL;
  CHECK_OK(dlcExecutorDescribe(executor, &text));
  CHECK(strstr(text, "cpu:1: rows 3 to 5") != NULL);
  CHECK(strstr(text, "sent 12 bytes to devices") != NULL);
  testReshapedParts(executor);
  set(executor, "x", x, sizeof(x)); /* In the same memory. */

  /* The same arrays; the sum is added to what the gradient holds. */
  CHECK_OK(dlcExecutorFind(executor, DLC_ARRAYS_ARGUMENT, "x", &arrays[1]));
  CHECK_OK(
      dlcExecutorFind(executor, DLC_ARRAYS_ARGUMENT, "f_weight", &arrays[2]));
  DlcGradientRequest requests[] = {DLC_GRADIENT_NULL, DLC_GRADIENT_ADD};
  DlcBindings bindings = {.structSize = sizeof(bindings),
                          .arguments = arrays + 1,
                          .argumentCount = 2,
                          .gradients = gradients,
                          .requests = requests};
  CHECK_OK(dlcExecutorBindParallel(network, &bindings, &options, &other));
  CHECK_OK(dlcExecutorForward(other, 1));
  CHECK_OK(dlcExecutorBackward(other, NULL, 0));
  CHECK_OK(dlcNDArrayCopyToHost(gradients[1], &sum, sizeof(sum)));
  CHECK(sum == 30);
  bindings.gradients = arrays;
  CHECK_ERROR(dlcExecutorBindParallel(network, &bindings, &options, &other),
              DLC_INVALID_ARGUMENT,
              "'f_weight': expected a gradient of 1x1xf32");
  CHECK_OK(dlcNDArrayCopyToHost(gradients[1], &sum, sizeof(sum)));
  CHECK(sum == 30);
  for (int i = 0; i < 3; ++i)
    dlcNDArrayDestroy(arrays[i]);
  dlcNDArrayDestroy(gradients[1]);
  dlcExecutorDestroy(executor);
  dlcExecutorDestroy(other);
  dlcNetworkDestroy(network);
  dlcSymbolDestroy(dense);
  dlcSymbolDestroy(data);
}

/* With gradients, a run writes ones to a gamma that is fixed. */
static void testFixedGamma(DlcArrayRuntime runtime) {
  static const int64_t shape[2] = {3, 2};
  static const float two[2] = {2, 3};
  DlcSymbol data = variable("A"), normal = NULL;
  DlcNetwork network = NULL;
  CHECK_OK(dlcSymbolCreateAtomic("BatchNorm", NULL, NULL, 0, &normal));
  CHECK_OK(dlcSymbolCompose(normal, "n", NULL, &data, 1));
  CHECK_OK(dlcSymbolMakeNetwork(normal, NULL, &network));
  for (int i = 0; i < 2; ++i) {
    DlcKnownVariable known = {"A", shape, 2, DLC_F32};
    DlcExecutor executor = NULL;
    CHECK_OK(dlcExecutorSimpleBind(network, runtime, cpu, &known, 1,
                                   i ? DLC_GRADIENT_WRITE : DLC_GRADIENT_NULL,
                                   NULL, NULL, 0, NULL, &executor));
    set(executor, "n_gamma", two, sizeof(two));
    CHECK_OK(dlcExecutorForward(executor, 1));
    CHECK(is(executor, DLC_ARRAYS_ARGUMENT, "n_gamma", i ? 1 : 2, i ? 1 : 3));
    dlcExecutorDestroy(executor);
  }
  dlcNetworkDestroy(network);
  dlcSymbolDestroy(normal);
  dlcSymbolDestroy(data);
}

int main(void) {
  DlcEngine engine = NULL;
  DlcArrayRuntime runtime = NULL;
  CHECK_OK(dlcEngineCreate(NULL, &engine));
  CHECK_OK(dlcArrayRuntimeCreate(engine, &runtime));
  DlcSymbol a = variable("A"), b = variable("B"), d = makeSymbol(a, b);
  DlcNetwork network = NULL;
  CHECK_OK(dlcSymbolMakeNetwork(d, NULL, &network));
  CHECK_ERROR(dlcSymbolMakeNetwork(NULL, NULL, &network), DLC_INVALID_ARGUMENT,
              "expected a symbol, got null");
  DlcNetworkOptions sparc = {.structSize = sizeof(sparc), .target = "sparc"};
  CHECK_ERROR(dlcSymbolMakeNetwork(d, &sparc, &network), DLC_INVALID_ARGUMENT,
              "got 'sparc'");
  DlcSymbol atomic = NULL;
  CHECK_OK(dlcSymbolCreateAtomic("relu", NULL, NULL, 0, &atomic));
  CHECK_ERROR(dlcSymbolMakeNetwork(atomic, NULL, &network),
              DLC_INVALID_ARGUMENT, "expected an operator that is applied");
  dlcSymbolDestroy(atomic);
  CHECK_ERROR(dlcNetworkAdopt(&network, "0.0", &network), DLC_UNSUPPORTED,
              "got one of 0.0");
  dlcSymbolDestroy(a);
  dlcSymbolDestroy(b);
  dlcSymbolDestroy(d);
  testTraining(network, runtime);
  testBind(network, runtime);
  testKnown(network, runtime);
  testSeeds(runtime);
  testFixedGamma(runtime);
  testGradientSymbol(runtime);
  testGroups(runtime);
  testBudgets(runtime);
  testParallel(runtime);
  dlcNetworkDestroy(network);
  dlcArrayRuntimeDestroy(runtime);
  dlcEngineDestroy(engine);
  return failures != 0;
}
