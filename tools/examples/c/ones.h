/* SPDX-License-Identifier: Apache-2.0
 *
 * What both examples share: running a program whose inputs are float tensors,
 * all ones, with 1 for every dimension that the model leaves open.
 */

#ifndef DLC_EXAMPLE_ONES_H
#define DLC_EXAMPLE_ONES_H

#include <dlc-c/Runtime.h>

#include <stdio.h>
#include <stdlib.h>

/* Prints an error and ends it; the exit status of the example. */
static int report(DlcStatus status) {
  if (!status)
    return 0;
  fprintf(stderr, "error: %s\n", dlcStatusMessage(status));
  dlcStatusDestroy(status);
  return 1;
}

static size_t elementCount(const int64_t *shape, int32_t rank) {
  size_t count = 1;
  for (int32_t i = 0; i < rank; ++i)
    count *= (size_t)shape[i];
  return count;
}

/* An input and what its tensor points to. */
typedef struct Ones {
  DlcTensor tensor;
  int64_t shape[DLC_MAX_RANK];
} Ones;

/* Makes input `index`, whose data the caller frees. */
static DlcStatus makeOnes(DlcProgram program, size_t index, Ones *ones) {
  DlcPort port = {.structSize = sizeof(port)};
  DlcStatus status = dlcProgramInput(program, index, &port);
  if (status)
    return status;
  if (port.rank < 0 || port.type != DLC_F32)
    return dlcStatusCreate(DLC_UNSUPPORTED,
                           "expected inputs of floats and of known rank");
  for (int32_t i = 0; i < port.rank; ++i)
    ones->shape[i] = port.shape[i] < 0 ? 1 : port.shape[i];
  size_t count = elementCount(ones->shape, port.rank);
  float *data = malloc((count ? count : 1) * sizeof(float));
  if (!data)
    return dlcStatusCreate(DLC_OUT_OF_MEMORY, "no memory for an input");
  for (size_t i = 0; i < count; ++i)
    data[i] = 1;
  ones->tensor = (DlcTensor){data, ones->shape, port.rank, port.type};
  return NULL;
}

/* Prints the shape and the first numbers of output `index`. */
static DlcStatus printOutput(DlcProgram program, DlcExecution execution,
                             size_t index) {
  DlcPort port = {.structSize = sizeof(port)};
  DlcTensor tensor;
  DlcStatus status = dlcProgramOutput(program, index, &port);
  if (!status)
    status = dlcExecutionOutput(execution, index, &tensor);
  if (status)
    return status;
  printf("%s:", port.name);
  for (int32_t i = 0; i < tensor.rank; ++i)
    printf(" %lld", (long long)tensor.shape[i]);
  printf(":");
  size_t count = elementCount(tensor.shape, tensor.rank);
  for (size_t i = 0; tensor.type == DLC_F32 && i < count && i < 10; ++i)
    printf(" %.4f", ((const float *)tensor.data)[i]);
  printf("\n");
  return NULL;
}

static DlcStatus bindAndRun(DlcProgram program, DlcExecution execution,
                            Ones *inputs) {
  DlcStatus status = NULL;
  for (size_t i = 0; !status && i < dlcProgramInputCount(program); ++i) {
    status = makeOnes(program, i, &inputs[i]);
    if (!status)
      status = dlcExecutionBindInput(execution, i, &inputs[i].tensor);
  }
  if (!status)
    status = dlcExecutionRun(execution);
  for (size_t i = 0; !status && i < dlcProgramOutputCount(program); ++i)
    status = printOutput(program, execution, i);
  return status;
}

static DlcStatus runOnOnes(DlcProgram program) {
  size_t count = dlcProgramInputCount(program);
  Ones *inputs = calloc(count ? count : 1, sizeof(Ones));
  if (!inputs)
    return dlcStatusCreate(DLC_OUT_OF_MEMORY, "no memory for the inputs");
  DlcExecution execution = NULL;
  DlcStatus status = dlcExecutionCreate(program, NULL, &execution);
  if (!status)
    status = bindAndRun(program, execution, inputs);
  dlcExecutionDestroy(execution); /* Before the inputs that it borrows. */
  for (size_t i = 0; i < count; ++i)
    free(inputs[i].tensor.data);
  free(inputs);
  return status;
}

#endif /* DLC_EXAMPLE_ONES_H */
