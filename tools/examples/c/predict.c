/* SPDX-License-Identifier: Apache-2.0
 *
 * What programs over MXNet's c_predict_api.h do, with a network that dlc
 * compile made of MXNet's files: one batch in, scores out.
 *
 * usage: predict NET.dlc DATA.npy
 *
 * The network takes 2x2x8x8 floats, which end the file, and gives 2x3.
 */

#include <dlc-c/Runtime.h>

#include <stdio.h>

static float image[2 * 2 * 8 * 8], scores[2 * 3];

/* The elements of an array are the end of its file. */
static int readImage(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return 0;
  int ok = fseek(file, -(long)sizeof(image), SEEK_END) == 0 &&
           fread(image, sizeof(image), 1, file) == 1;
  fclose(file);
  return ok;
}

static DlcStatus predict(const char *path) {
  DlcProgram program = NULL;
  DlcExecution execution = NULL;
  int64_t inShape[] = {2, 2, 8, 8}, outShape[] = {2, 3};
  DlcTensor in = {image, inShape, 4, DLC_F32};
  DlcTensor out = {scores, outShape, 2, DLC_F32};
  DlcStatus status = dlcProgramLoad(path, &program); /* MXPredCreate */
  if (!status)
    status = dlcExecutionCreate(program, NULL, &execution);
  if (!status)
    status = dlcExecutionBindInput(execution, 0, &in); /* MXPredSetInput */
  if (!status)
    status = dlcExecutionBindOutput(execution, 0, &out); /* MXPredGetOutput */
  if (!status)
    status = dlcExecutionRun(execution); /* MXPredForward */
  dlcExecutionDestroy(execution);
  dlcProgramDestroy(program); /* MXPredFree */
  return status;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s NET.dlc DATA.npy\n", argv[0]);
    return 2;
  }
  if (!readImage(argv[2])) {
    fprintf(stderr, "error: %s: expected an array of 2x2x8x8 floats\n",
            argv[2]);
    return 1;
  }
  DlcStatus status = predict(argv[1]);
  if (status) {
    fprintf(stderr, "error: %s\n", dlcStatusMessage(status));
    dlcStatusDestroy(status);
    return 1;
  }
  for (int i = 0; i < 2; ++i)
    printf("%.4f %.4f %.4f\n", scores[3 * i], scores[3 * i + 1],
           scores[3 * i + 2]);
  return 0;
}
