/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C API's tests check with: a check that fails is printed with its
 * line and counted, and the test goes on.
 */

#ifndef DLC_TEST_RUNTIME_CAPI_CHECK_H
#define DLC_TEST_RUNTIME_CAPI_CHECK_H

#include "dlc-c/Common.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int condition, const char *what, int line) {
  if (condition)
    return;
  fprintf(stderr, "line %d: %s\n", line, what);
  ++failures;
}
#define CHECK(condition) check((condition), #condition, __LINE__)

static void expectOk(DlcStatus status, int line) {
  if (status) {
    fprintf(stderr, "line %d: %s\n", line, dlcStatusMessage(status));
    ++failures;
  }
  dlcStatusDestroy(status);
}
#define CHECK_OK(call) expectOk((call), __LINE__)

/* The message holds `part`; an empty part stands for any. */
static void expectError(DlcStatus status, DlcStatusCode code, const char *part,
                        int line) {
  if (dlcStatusCode(status) != code ||
      !strstr(dlcStatusMessage(status), part)) {
    fprintf(stderr, "line %d: got %s '%s'\n", line,
            dlcStatusCodeName(dlcStatusCode(status)), dlcStatusMessage(status));
    ++failures;
  }
  dlcStatusDestroy(status);
}
#define CHECK_ERROR(call, code, part)                                          \
  expectError((call), (code), (part), __LINE__)

#endif
