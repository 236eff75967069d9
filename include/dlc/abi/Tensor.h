/* SPDX-License-Identifier: Apache-2.0
 *
 * Element types and tensor descriptors that compiled programs, the runtime
 * and the C API share. Versioned like a schema: append, never reorder.
 */

#ifndef DLC_ABI_TENSOR_H
#define DLC_ABI_TENSOR_H

#include <stdint.h>

/* Element types of plain tensors. The values are stored in artifacts. */
typedef enum DlcDataType {
  DLC_INVALID_TYPE = 0,
  DLC_BOOL = 1, /* one byte, 0 or 1 */
  DLC_I8 = 2,
  DLC_I16 = 3,
  DLC_I32 = 4,
  DLC_I64 = 5,
  DLC_U8 = 6,
  DLC_U16 = 7,
  DLC_U32 = 8,
  DLC_U64 = 9,
  DLC_F16 = 10,
  DLC_BF16 = 11,
  DLC_F32 = 12,
  DLC_F64 = 13,
  /* What follows arrays hold, copy and exchange; nothing computes with it, and
   * programs have no such values. */
  DLC_C64 = 14,  /* complex: two f32, the real part first */
  DLC_C128 = 15, /* complex: two f64 */
  /* 8-bit floats (OCP OFP8; FNUZ: Graphcore, AMD; E8M0: OCP MX scales). */
  DLC_F8E4M3FN = 16,
  DLC_F8E4M3FNUZ = 17,
  DLC_F8E5M2 = 18,
  DLC_F8E5M2FNUZ = 19,
  DLC_F8E8M0FNU = 20,
  /* Elements of less than a byte are packed: each byte is filled from its
   * lowest bits on, and what is left of the last one has no meaning. */
  DLC_I4 = 21,
  DLC_U4 = 22,
  DLC_F4E2M1FN = 23, /* OCP MX */
  DLC_I2 = 24,
  DLC_U2 = 25,
  /* Text: references to bytes, usually UTF-8, that only functions of arrays
   * read and write. */
  DLC_TEXT = 26
} DlcDataType;

/* The largest rank that any part of DLC accepts. */
#define DLC_MAX_RANK 16

/* The alignment, in bytes, of arenas, constants and bound buffers that DLC
 * allocates itself. Buffers bound by a caller need only the alignment of
 * their element type. */
#define DLC_ALIGNMENT 64

/* A dense row-major tensor. `data` is borrowed. */
typedef struct DlcTensor {
  void *data;
  const int64_t *shape;
  int32_t rank;
  DlcDataType type;
} DlcTensor;

#endif /* DLC_ABI_TENSOR_H */
