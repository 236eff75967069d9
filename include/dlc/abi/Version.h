/* SPDX-License-Identifier: Apache-2.0
 *
 * The version and the fixed header of compiled programs (.dlc files).
 */

#ifndef DLC_ABI_VERSION_H
#define DLC_ABI_VERSION_H

#include <stdint.h>

/* The newest artifact version that this code reads. Bumped when an older reader
 * would misread a file: a new storage class or kernel kind, a changed meaning.
 * Fields that old readers may ignore are appended to the schema without a bump.
 * A file has the oldest version that says all of it: 2 for a batch of any size
 * (Program.by_rows), 3 for programs for several shapes (Program.by_shape), 4
 * where these compute smaller ones (Binding.padded), 5 where one of them takes
 * any size of such an extent, 6 with kernels of any shape, else 1. */
#define DLC_ARTIFACT_VERSION 6

/* Programs that one program of a file runs (by rows or by shape), at most. */
#define DLC_ARTIFACT_PARTS 1024

#define DLC_ARTIFACT_MAGIC "DLCPROG" /* and its terminating zero: 8 bytes */

/* The alignment, in bytes, of the objects and of the constants section in a
 * file, so that pages can be mapped in place. */
#define DLC_ARTIFACT_PAGE 4096

/* The first 64 bytes of a file; integers are little-endian. Offsets count
 * bytes from the start of the file. */
typedef struct DlcArtifactHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_size; /* 64 */
  uint64_t file_size;
  uint64_t plan_offset;
  uint64_t plan_size;
  uint64_t constants_offset;
  uint64_t constants_size;
  /* XXH64 of the plan, seeded with the XXH64 (seed 0) of this header with 0
   * in this field. */
  uint64_t checksum;
} DlcArtifactHeader;

#endif /* DLC_ABI_VERSION_H */
