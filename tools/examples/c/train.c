/* SPDX-License-Identifier: Apache-2.0
 *
 * C = B * A; D = C + 1: the gradients of D by A and B, in two ways: an executor
 * runs backward, and the gradients are a symbol of their own.
 *
 * usage: train
 */

#include "dlc-c/Symbol.h"

#include <stdio.h>

static const DlcContext cpu = {DLC_DEVICE_CPU, 0};
static const int64_t shape[] = {3};

/* D, of the variables A and B. */
static DlcStatus compose(DlcSymbol a, DlcSymbol b, DlcSymbol *d) {
  DlcSymbol c = NULL, operands[] = {b, a};
  const char *key = "scalar", *one = "1";
  DlcStatus status = dlcSymbolCreateAtomic("elemwise_mul", NULL, NULL, 0, &c);
  if (!status)
    status = dlcSymbolCompose(c, "C", NULL, operands, 2);
  if (!status)
    status = dlcSymbolCreateAtomic("_plus_scalar", &key, &one, 1, d);
  if (!status)
    status = dlcSymbolCompose(*d, "D", NULL, &c, 1);
  dlcSymbolDestroy(c);
  return status;
}

/* An executor of a symbol of A and B, which it gives values. */
static DlcStatus bind(DlcSymbol symbol, DlcArrayRuntime runtime,
                      DlcGradientRequest request, DlcExecutor *executor) {
  static const float values[][3] = {{1, 2, 3}, {4, 5, 6}};
  static const char *const names[] = {"A", "B"};
  DlcKnownVariable known[] = {{"A", shape, 1, DLC_F32},
                              {"B", shape, 1, DLC_F32}};
  DlcNetwork network = NULL;
  DlcStatus status = dlcSymbolMakeNetwork(symbol, NULL, &network);
  if (!status)
    status = dlcExecutorSimpleBind(network, runtime, cpu, known, 2, request,
                                   NULL, NULL, 0, NULL, executor);
  for (int i = 0; i < 2 && !status; ++i) {
    DlcNDArray array = NULL;
    status = dlcExecutorFind(*executor, DLC_ARRAYS_ARGUMENT, names[i], &array);
    if (!status)
      status = dlcNDArrayCopyFromHost(array, values[i], sizeof(values[i]));
    dlcNDArrayDestroy(array);
  }
  dlcNetworkDestroy(network);
  return status;
}

static DlcStatus print(DlcExecutor executor, DlcExecutorArrays kind,
                       const char *what) {
  DlcStatus status = NULL;
  size_t count = dlcExecutorArrayCount(executor, kind);
  for (size_t i = 0; i < count && !status; ++i) {
    float values[3];
    DlcNDArray array = NULL;
    status = dlcExecutorArray(executor, kind, i, &array);
    if (!status)
      status = dlcNDArrayCopyToHost(array, values, sizeof(values));
    if (!status)
      printf("%s%s: %g %g %g\n", what, dlcExecutorArrayName(executor, kind, i),
             values[0], values[1], values[2]);
    dlcNDArrayDestroy(array);
  }
  return status;
}

/* Forward and backward. */
static DlcStatus train(DlcSymbol d, DlcArrayRuntime runtime) {
  DlcExecutor executor = NULL;
  DlcStatus status = bind(d, runtime, DLC_GRADIENT_WRITE, &executor);
  if (!status)
    status = dlcExecutorForward(executor, 1);
  if (!status)
    status = dlcExecutorBackward(executor, NULL, 0);
  if (!status)
    status = print(executor, DLC_ARRAYS_OUTPUT, "");
  if (!status)
    status = print(executor, DLC_ARRAYS_GRADIENT, "gradient of ");
  dlcExecutorDestroy(executor);
  return status;
}

/* The gradients as a function that is compiled. */
static DlcStatus differentiate(DlcSymbol d, DlcSymbol a, DlcSymbol b,
                               DlcArrayRuntime runtime) {
  DlcSymbol gradients = NULL, wrt[] = {a, b};
  DlcExecutor executor = NULL;
  DlcStatus status = dlcSymbolGradient(d, wrt, 2, "gradient", &gradients);
  if (!status)
    status = bind(gradients, runtime, DLC_GRADIENT_NULL, &executor);
  if (!status)
    status = dlcExecutorForward(executor, 0);
  if (!status)
    status = print(executor, DLC_ARRAYS_OUTPUT, "");
  dlcExecutorDestroy(executor);
  dlcSymbolDestroy(gradients);
  return status;
}

int main(void) {
  DlcEngine engine = NULL;
  DlcArrayRuntime runtime = NULL;
  DlcSymbol a = NULL, b = NULL, d = NULL;
  DlcStatus status = dlcEngineCreate(NULL, &engine);
  if (!status)
    status = dlcArrayRuntimeCreate(engine, &runtime);
  if (!status)
    status = dlcSymbolCreateVariable("A", &a);
  if (!status)
    status = dlcSymbolCreateVariable("B", &b);
  if (!status)
    status = compose(a, b, &d);
  if (!status)
    status = train(d, runtime);
  if (!status)
    status = differentiate(d, a, b, runtime);
  if (status)
    fprintf(stderr, "error: %s\n", dlcStatusMessage(status));
  int failed = status != NULL;
  dlcStatusDestroy(status);
  dlcSymbolDestroy(d);
  dlcSymbolDestroy(b);
  dlcSymbolDestroy(a);
  dlcArrayRuntimeDestroy(runtime);
  dlcEngineDestroy(engine);
  return failed;
}
