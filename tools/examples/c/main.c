/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles a model, runs it once in the same process on inputs of ones, and
 * prints what came out.
 *
 * usage: compile-and-run MODEL.onnx [PROGRAM.dlc]
 * With a second argument the program is also written to a file.
 */

#include <dlc-c/Compiler.h>

#include "ones.h"

#include <stdio.h>

static void onPhase(void *userData, const char *phase) {
  (void)userData;
  fprintf(stderr, "phase: %s\n", phase);
}

/* The bytes of the program; they must outlive what is loaded from them. */
static DlcStatus compileModel(const char *model, const char *output,
                              DlcBuffer *buffer) {
  DlcCompilerOptions options = {.structSize = sizeof(options)};
  options.onPhase = onPhase;
  DlcCompiler compiler = NULL;
  DlcStatus status = dlcCompilerCreate(&options, &compiler);
  if (!status)
    status = dlcCompilerImportFile(compiler, model);
  if (!status && output)
    status = dlcCompilerWriteFile(compiler, output);
  if (!status)
    status = dlcCompilerWriteMemory(compiler, buffer);
  if (status)
    fputs(dlcCompilerMessages(compiler), stderr);
  dlcCompilerDestroy(compiler);
  return status;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s MODEL.onnx [PROGRAM.dlc]\n", argv[0]);
    return 2;
  }
  DlcBuffer buffer = NULL;
  DlcProgram program = NULL;
  DlcStatus status = compileModel(argv[1], argc > 2 ? argv[2] : NULL, &buffer);
  if (!status)
    status = dlcProgramLoadMemory(dlcBufferData(buffer), dlcBufferSize(buffer),
                                  &program);
  if (!status)
    status = runOnOnes(program);
  int failed = report(status);
  dlcProgramDestroy(program);
  dlcBufferDestroy(buffer);
  return failed;
}
