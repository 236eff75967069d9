/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a compiled program once on inputs of ones and prints what came out.
 *
 * usage: run PROGRAM.dlc
 */

#include "ones.h"

#include <stdio.h>

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s PROGRAM.dlc\n", argv[0]);
    return 2;
  }
  DlcProgram program = NULL;
  DlcStatus status = dlcProgramLoad(argv[1], &program);
  if (!status)
    status = runOnOnes(program);
  int failed = report(status);
  dlcProgramDestroy(program);
  return failed;
}
