/* SPDX-License-Identifier: Apache-2.0 */

#include <dlc-c/Runtime.h>

#include <stdio.h>

int main(void) {
  DlcProgram program = NULL;
  DlcStatus status = dlcProgramLoad("/missing/program.dlc", &program);
  printf("%s %d\n", dlcVersion(), dlcStatusCode(status));
  dlcStatusDestroy(status);
  return program != NULL;
}
