// SPDX-License-Identifier: Apache-2.0
//
// The operations that the interpreter knows, in the order of their numbers.

#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXOPS_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXOPS_H

#define DLC_PTX_OPS(X)                                                         \
  X(ld)                                                                        \
  X(st)                                                                        \
  X(mov)                                                                       \
  X(cvta)                                                                      \
  X(add)                                                                       \
  X(sub) X(mul) X(mad) X(div) X(rem) X(neg) X(abs) X(min) X(max) X(fma)        \
      X(sqrt) X(rcp) X(rsqrt) X(ex2) X(lg2) X(copysign) X(and) X(or) X(xor)    \
          X(not) X(shl) X(shr) X(setp) X(selp) X(cvt) X(bra) X(brx) X(ret)     \
              X(exit) X(bar) X(barrier) X(shfl) X(popc) X(clz) X(brev) X(shf)  \
                  X(bfe) X(prmt) X(lop3) X(testp) X(cp) X(ldmatrix) X(mma)     \
                      X(mapa) X(fence) X(wgmma)

#define DLC_PTX_ENUM(name) op_##name,
enum Op : int { DLC_PTX_OPS(DLC_PTX_ENUM) };
#undef DLC_PTX_ENUM
#define DLC_PTX_NAME(name) #name,
inline const char *const opNames[] = {DLC_PTX_OPS(DLC_PTX_NAME)};
#undef DLC_PTX_NAME

#endif // DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXOPS_H
