/* SPDX-License-Identifier: Apache-2.0
 *
 * What all of DLC's C API shares: visibility, status, errors.
 *
 * Rules of the API:
 *   - Handles are opaque; dlcXCreate or dlcXLoad makes one, dlcXDestroy ends
 *     it and takes null. It is a pointer of C: from then on neither it nor what
 *     belongs to it may be given to any function. (Variables and operators of
 *     an engine are no pointers, and are refused when they are gone.)
 *   - Functions that can fail return a DlcStatus; results come through the
 *     pointers at the end, which are left alone on failure.
 *   - Structures that may grow start with `structSize`, set by the caller to
 *     their sizeof.
 *   - Enumerations that callers pass end in a LIMIT, so that any int is a value
 *     of theirs and a wrong one can be refused; it is no value to pass.
 *   - Functions that callers give, to be called back, must not throw nor jump
 *     out (longjmp): an exception that leaves one ends the process.
 *   - Text is UTF-8 and ends in a zero; text handed out belongs to its handle.
 */

#ifndef DLC_C_COMMON_H
#define DLC_C_COMMON_H

#include "dlc/abi/Tensor.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define DLC_EXTERN_C extern "C"
#else
#define DLC_EXTERN_C extern
#endif

/* In front of every function of the API. */
#define DLC_API DLC_EXTERN_C __attribute__((visibility("default")))

/* What kind of failure a status reports. Appended to, never reordered. */
typedef enum DlcStatusCode {
  DLC_OK = 0,
  DLC_INVALID_ARGUMENT = 1, /* the caller's values are at fault */
  DLC_NOT_FOUND = 2,        /* a file, name or symbol does not exist */
  DLC_OUT_OF_MEMORY = 3,    /* an allocation failed */
  DLC_UNSUPPORTED = 4,      /* well formed, but this build cannot do it */
  DLC_DATA_LOSS = 5,        /* a file is truncated or corrupt */
  DLC_INTERNAL = 6,         /* a fault of DLC itself */
  DLC_UNAVAILABLE = 7,      /* a device or a file cannot be used now */
  DLC_STATUS_CODE_LIMIT = 0x7fffffff
} DlcStatusCode;

/* The outcome of a call: null when all is well; otherwise an error, which the
 * caller ends with dlcStatusDestroy. */
typedef struct DlcError *DlcStatus;

/* An error with a copy of `message`, for code that implements a part of the API
 * or stands between it and a caller; null for DLC_OK. A number that is no code
 * makes a DLC_INVALID_ARGUMENT that says so. Since 0.1 (unstable) */
DLC_API DlcStatus dlcStatusCreate(DlcStatusCode code, const char *message);

/* The name of a code without its prefix, in lower case: "ok", "data loss";
 * null for a number that is no code. Lives forever. Since 0.1 (unstable) */
DLC_API const char *dlcStatusCodeName(DlcStatusCode code);

/* The kind of failure; DLC_OK for null. Since 0.1 (unstable) */
DLC_API DlcStatusCode dlcStatusCode(DlcStatus status);

/* What was expected and what was found, in lower case; "" for null. Belongs to
 * the status. Since 0.1 (unstable) */
DLC_API const char *dlcStatusMessage(DlcStatus status);

/* Ends a status; null is ignored. Since 0.1 (unstable) */
DLC_API void dlcStatusDestroy(DlcStatus status);

/* DLC's version, "MAJOR.MINOR.PATCH". Since 0.1 (unstable) */
DLC_API const char *dlcVersion(void);

#endif /* DLC_C_COMMON_H */
