/* SPDX-License-Identifier: Apache-2.0
 *
 * The calling convention of generated kernels. Versioned like a schema.
 */

#ifndef DLC_ABI_KERNEL_H
#define DLC_ABI_KERNEL_H

#include <stdint.h>

/* Bumped when the convention below changes. */
#define DLC_KERNEL_ABI_VERSION 1

/* Of an object for a device whose kernels are launched as the object itself says
 * (ObjectVariant.grids), not the plan: readers that do not know of that take
 * another one. */
#define DLC_KERNEL_ABI_OWN_GRIDS 2

/* Of a kernel of any shape, at most: inputs, and elements of a tile. */
#define DLC_KERNEL_ANY_SHAPE_INPUTS 16
#define DLC_KERNEL_ANY_SHAPE_TILE 256

/* A generated kernel. `args` are the base addresses of its tensors in the
 * order of the kernel's signature, inputs before outputs; shapes are compiled
 * in, but of a kernel of any shape, whose tensors are vectors. The call
 * computes tiles [begin, end) of the kernel's grid; tiles are independent, so
 * that disjoint ranges may run at the same time on several threads. */
typedef void (*DlcKernelFunction)(void *const *args, int64_t begin,
                                  int64_t end);

#endif /* DLC_ABI_KERNEL_H */
