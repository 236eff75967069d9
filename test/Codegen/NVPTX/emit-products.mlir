// RUN: dlc-opt %s --convert-kernel-to-linalg --codegen-nvptx-emit-threads | FileCheck %s --check-prefixes=CHECK,AMPERE
// RUN: dlc-opt %s --convert-kernel-to-linalg --codegen-nvptx-emit-threads=target=cuda:sm_90 | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: dlc-opt %s --convert-kernel-to-linalg --codegen-nvptx-emit-threads=target=cuda:sm_90a | FileCheck %s --check-prefix=GROUPS
// RUN: not dlc-opt %s --codegen-nvptx-emit-threads=target=cuda:sm_91 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: expected one of cuda:sm_80, {{.*}}cuda:sm_90a, {{.*}} got 'cuda:sm_91'
// Sums of products come from tiles in shared memory.

// Short floats: copied there 16 bytes at once, multiplied by tensor cores.
// CHECK-LABEL: llvm.func ptx_kernelcc @halves(
// CHECK: "nvvm.reqntid", "256"
// AMPERE-NOT: nvvm.cluster_dim
// HOPPER-NOT: nvvm.cluster_dim
// Groups of warps read both factors from shared memory, and copies for later
// steps are on their way meanwhile.
// GROUPS-LABEL: llvm.func ptx_kernelcc @halves(
// GROUPS: "nvvm.maxnreg", "128"
// GROUPS: llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"
// GROUPS: llvm.inline_asm has_side_effects "fence.proxy.async.shared::cta;"
// GROUPS: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
// GROUPS: llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;"
// GROUPS-COUNT-4: llvm.inline_asm has_side_effects "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {{.*}}, 1, 1, 0, 1;"
// GROUPS: llvm.inline_asm has_side_effects "wgmma.commit_group.sync.aligned;"
// GROUPS: llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16"
// GROUPS: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;"
// GROUPS: llvm.return
kernel.func @halves(%a: tensor<4096x64xf16>, %b: tensor<64x128xf16>) -> tensor<4096x128xf16> {
  // CHECK: llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16"
  // CHECK: llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"
  // CHECK: scf.for {{.*}} iter_args
  // CHECK: llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"
  // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3"
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3"
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
  // CHECK-NOT: llvm.nvvm.mma.{{.*}}bf16
  // CHECK: llvm.return
  %0 = graph.matmul %a, %b : (tensor<4096x64xf16>, tensor<64x128xf16>) -> tensor<4096x128xf16>
  kernel.return %0 : tensor<4096x128xf16>
}

// Floats: squares of 4 x 4 in registers.
// CHECK-LABEL: llvm.func ptx_kernelcc @floats(
// GROUPS-LABEL: llvm.func ptx_kernelcc @floats(
// GROUPS-NOT: wgmma
// GROUPS: llvm.return
kernel.func @floats(%a: tensor<4096x64xf32>, %b: tensor<64x128xf32>) -> tensor<4096x128xf32> {
  // CHECK-NOT: llvm.nvvm.mma
  // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
  // CHECK: llvm.intr.fma
  // CHECK: llvm.return
  %0 = graph.matmul %a, %b : (tensor<4096x64xf32>, tensor<64x128xf32>) -> tensor<4096x128xf32>
  kernel.return %0 : tensor<4096x128xf32>
}

// Few tiles of many terms: blocks of a cluster share them, and what follows.
// CHECK-LABEL: llvm.func ptx_kernelcc @long(
// HOPPER-SAME: "nvvm.cluster_dim", "8,1,1"
kernel.func @long(%a: tensor<64x4096xbf16>, %b: tensor<4096x64xbf16>) -> tensor<64x64xbf16> {
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"
  // AMPERE-NOT: llvm.nvvm.barrier.cluster
  // HOPPER: llvm.call_intrinsic "llvm.nvvm.barrier.cluster.arrive.aligned"
  // HOPPER: llvm.call_intrinsic "llvm.nvvm.barrier.cluster.wait.aligned"
  // HOPPER-COUNT-8: llvm.call_intrinsic "llvm.nvvm.mapa.shared.cluster"
  // HOPPER: llvm.call_intrinsic "llvm.nvvm.barrier.cluster.arrive.aligned"
  // HOPPER: llvm.store {{.*}} !llvm.ptr<1>
  // No block ends while another one reads its memory.
  // HOPPER: llvm.call_intrinsic "llvm.nvvm.barrier.cluster.wait.aligned"
  // CHECK: llvm.return
  %0 = graph.matmul %a, %b : (tensor<64x4096xbf16>, tensor<4096x64xbf16>) -> tensor<64x64xbf16>
  kernel.return %0 : tensor<64x64xbf16>
}

// Taps outside of the image are no bytes, which are zeros; one question tells
// whether a sum is to be computed again.
// CHECK-LABEL: llvm.func ptx_kernelcc @taps(
kernel.func @taps(%x: tensor<32x8x56x56x8xf16>, %w: tensor<64x64x3x3xf16>) -> tensor<32x8x56x56x8xf16> {
  // CHECK: llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
  // CHECK: %[[SPOILED:.*]] = arith.cmpf uno
  // CHECK: %[[ANY:.*]] = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.aligned.all"(%{{.*}}, %[[SPOILED]])
  // CHECK: scf.if %[[ANY]]
  // CHECK: llvm.return
  %0 = graph.conv %x, %w {channel_block = 8 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<32x8x56x56x8xf16>, tensor<64x64x3x3xf16>) -> tensor<32x8x56x56x8xf16>
  kernel.return %0 : tensor<32x8x56x56x8xf16>
}

// A row of more results than registers of a block hold is summed element by
// element.
// CHECK-LABEL: llvm.func ptx_kernelcc @many(
kernel.func @many(%x: tensor<32x1xf32>, %y: tensor<32x32768xf32>) -> tensor<32768xf32> {
  // CHECK-NOT: llvm.nvvm.cp.async
  // CHECK: llvm.return
  %0 = graph.mul %x, %y : (tensor<32x1xf32>, tensor<32x32768xf32>) -> tensor<32x32768xf32>
  %axes = graph.constant dense<0> : tensor<1xi64>
  %1 = graph.reduce_sum %0, %axes {keepdims = false} : (tensor<32x32768xf32>, tensor<1xi64>) -> tensor<32768xf32>
  kernel.return %1 : tensor<32768xf32>
}

// What lies the other way goes through squares in shared memory.
// CHECK-LABEL: llvm.func ptx_kernelcc @turned(
kernel.func @turned(%x: tensor<128x96xf32>) -> tensor<96x128xf32> {
  // CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> f32
  // CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
  // CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
  // CHECK: llvm.store {{.*}} : f32, !llvm.ptr<1>
  // CHECK: llvm.return
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<128x96xf32>) -> tensor<96x128xf32>
  kernel.return %0 : tensor<96x128xf32>
}

// Floats that may be rounded are, as they come from shared memory: two turns of
// 8 terms for each 16.
// CHECK-LABEL: llvm.func ptx_kernelcc @rounded
kernel.func @rounded(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {kernel.compute = "tf32", kernel.runs_on = "cuda"} {
  // CHECK: llvm.nvvm.cp.async.cg.shared.global.16
  // CHECK: llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"({{.*}}) : (f32) -> i32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"
  // CHECK-NOT: llvm.nvvm.mma.m16n8k16
  // CHECK-NOT: llvm.intr.fma
  // CHECK: llvm.return
  %0 = graph.matmul %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  kernel.return %0 : tensor<64x64xf32>
}
