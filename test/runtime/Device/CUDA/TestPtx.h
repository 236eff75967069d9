// SPDX-License-Identifier: Apache-2.0
//
// Two kernels by hand: "k.scale" multiplies by `factor`, "k.add" adds; 256
// threads to a block, `count` elements of f32.

#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_TESTPTX_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_TESTPTX_H

#include <span>
#include <string>

namespace dlc::rt::test {

/// The index of the thread in %r1, and out with it past the end; the address of
/// its element in parameter p is %rd(p + 4).
inline std::string ptxKernel(const std::string &name, int parameters, int count,
                             const std::string &work) {
  std::string text = ".visible .entry " + name + "(\n";
  for (int i = 0; i != parameters; ++i)
    text += std::string(i ? ",\n" : "") + "  .param .u64 p" + std::to_string(i);
  text += ")\n.maxntid 256\n{\n  .reg .pred %p<2>;\n  .reg .b32 %r<9>;\n"
          "  .reg .b64 %rd<9>;\n"
          "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %tid.x;\n"
          "  mad.lo.s32 %r1, %r2, 256, %r3;\n"
          "  setp.ge.u32 %p1, %r1, " +
          std::to_string(count) +
          ";\n"
          "  @%p1 bra $L__END;\n  mul.wide.u32 %rd1, %r1, 4;\n";
  for (int i = 0; i != parameters; ++i) {
    std::string at = std::to_string(i), place = "%rd" + std::to_string(i + 4);
    text += "  ld.param.u64 " + place + ", [p" + at + "];\n  add.s64 " + place +
            ", " + place + ", %rd1;\n";
  }
  return text + work + "$L__END:\n  ret;\n}\n";
}

inline std::string testPtx(int count, const std::string &factor = "2.0") {
  char bits[16];
  snprintf(bits, sizeof bits, "0f%08X",
           factor == "2.0" ? 0x40000000u : 0x40400000u);
  return ".version 7.0\n.target sm_80\n.address_size 64\n" +
         ptxKernel("k$scale", 2, count,
                   std::string("  ld.global.f32 %r4, [%rd4];\n"
                               "  mul.rn.f32 %r4, %r4, ") +
                       bits + ";\n  st.global.f32 [%rd5], %r4;\n") +
         ptxKernel("k$add", 3, count,
                   "  ld.global.f32 %r4, [%rd4];\n"
                   "  ld.global.f32 %r5, [%rd5];\n"
                   "  add.rn.f32 %r4, %r4, %r5;\n"
                   "  st.global.f32 [%rd6], %r4;\n");
}

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_DEVICE_CUDA_TESTPTX_H
