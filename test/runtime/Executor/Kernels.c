/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels as the compiler would generate them, for the tests of the executor.
 */

#include <stdint.h>

/* y[i] = FACTOR * x[i] over tiles of 16 floats. */
void scale_tiles(void *const *args, int64_t begin, int64_t end) {
  const float *x = args[0];
  float *y = args[1];
  for (int64_t i = begin * 16; i < end * 16; ++i)
    y[i] = FACTOR * x[i];
}

/* y[i] = FACTOR * (a[i] + b[i]), likewise. */
void sum_tiles(void *const *args, int64_t begin, int64_t end) {
  const float *a = args[0], *b = args[1];
  float *y = args[2];
  for (int64_t i = begin * 16; i < end * 16; ++i)
    y[i] = FACTOR * (a[i] + b[i]);
}

/* y[i] = FACTOR, of bytes, likewise, behind one input and behind three. */
void round_tiles(void *const *args, int64_t begin, int64_t end) {
  unsigned char *y = args[1];
  for (int64_t i = begin * 16; i < end * 16; ++i)
    y[i] = FACTOR;
}
void round_tiles_by(void *const *args, int64_t begin, int64_t end) {
  round_tiles(args + 2, begin, end);
}

/* Does as little as a kernel can. */
void nothing(void *const *args, int64_t begin, int64_t end) {
  (void)args, (void)begin, (void)end;
}

/* Waits until the flag is not 0, though not for ever: four times 1 when it is,
 * 0 when it never was. */
void await_flag(void *const *args, int64_t begin, int64_t end) {
  const int32_t *flag = args[0];
  float *result = args[1];
  int64_t looks = 0;
  (void)begin, (void)end;
  while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE) && ++looks < 10000000000)
    ;
  for (int i = 0; i < 4; ++i)
    result[i] = looks < 10000000000;
}

/* Adds one to each tile's counter: shows that every tile runs once. */
void count_tiles(void *const *args, int64_t begin, int64_t end) {
  const int32_t *before = args[0];
  int32_t *after = args[1];
  for (int64_t i = begin; i < end; ++i)
    after[i] = before[i] + 1;
}
