// RUN: dlc-opt %s --convert-kernel-to-linalg --codegen-nvptx-emit-threads | FileCheck %s
// Kernels become functions that blocks of 256 threads run, one for each tile.

// CHECK: llvm.mlir.global external @dlc_shared() {addr_space = 3 : i32

// Tensors are in global memory; elements are taken 16 bytes at once where all
// addresses are multiples of that. exp is a polynomial.
// CHECK-LABEL: llvm.func ptx_kernelcc @k$exp(
// CHECK-SAME: %{{.*}}: !llvm.ptr
// CHECK-SAME: "nvvm.reqntid", "256"
kernel.func @k.exp(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK: llvm.addrspacecast %{{.*}} : !llvm.ptr to !llvm.ptr<1>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"()
  // CHECK-NOT: scf.if
  // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK-NOT: math.exp
  // CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  // CHECK: llvm.return
  %0 = graph.exp %x : tensor<64x64xf32>
  kernel.return %0 : tensor<64x64xf32>
}

// A row of a tile is summed by a warp, which exchanges by shuffles.
// CHECK-LABEL: llvm.func ptx_kernelcc @rows
kernel.func @rows(%x: tensor<64x100xf32>) -> tensor<64xf32> {
  // CHECK: scf.for {{.*}} iter_args
  // CHECK-COUNT-5: llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"
  // CHECK-NOT: llvm.nvvm.shfl
  // CHECK: llvm.store
  %axes = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.reduce_sum %x, %axes {keepdims = false} : (tensor<64x100xf32>, tensor<1xi64>) -> tensor<64xf32>
  kernel.return %0 : tensor<64xf32>
}

// All are summed by the block: warps meet in shared memory.
// CHECK-LABEL: llvm.func ptx_kernelcc @all
kernel.func @all(%x: tensor<5000xf32>) -> tensor<f32> {
  // CHECK: llvm.mlir.addressof @dlc_shared : !llvm.ptr<3>
  // CHECK-COUNT-5: llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"
  // CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
  // CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<3> -> f32
  %axes = graph.constant dense<0> : tensor<1xi64>
  %0 = graph.reduce_sum %x, %axes {keepdims = false} : (tensor<5000xf32>, tensor<1xi64>) -> tensor<f32>
  kernel.return %0 : tensor<f32>
}

// Many results take a thread each.
// CHECK-LABEL: llvm.func ptx_kernelcc @columns
kernel.func @columns(%x: tensor<16x4096xf32>) -> tensor<4096xf32> {
  // CHECK-NOT: llvm.nvvm.shfl
  // CHECK: scf.for
  // CHECK: scf.for {{.*}} iter_args
  // CHECK: llvm.return
  %axes = graph.constant dense<0> : tensor<1xi64>
  %0 = graph.reduce_sum %x, %axes {keepdims = false} : (tensor<16x4096xf32>, tensor<1xi64>) -> tensor<4096xf32>
  kernel.return %0 : tensor<4096xf32>
}

// The scratch memory of a tile is shared, and threads wait for what others
// wrote there.
// CHECK-LABEL: llvm.func ptx_kernelcc @softmax
kernel.func @softmax(%x: tensor<32x600xf32>) -> tensor<32x600xf32> {
  // CHECK: llvm.mlir.addressof @dlc_shared : !llvm.ptr<3>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
  // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
  // CHECK: llvm.return
  %0 = graph.softmax %x {axis = 1 : i64} : tensor<32x600xf32>
  kernel.return %0 : tensor<32x600xf32>
}

#rows = affine_map<(i, j, k) -> (i, k)>
#number = affine_map<(i, j, k) -> ()>
#results = affine_map<(i, j, k) -> (i, j)>

// Threads with several results each share operands that are numbers.
// CHECK-LABEL: llvm.func ptx_kernelcc @times_a_number
kernel.func @times_a_number(%x: memref<16x32xf32>, %y: memref<16x16xf32>) attributes {outputs = 1 : i64, grid = array<i64>} {
  // CHECK: scf.for {{.*}} iter_args
  // CHECK: arith.mulf
  %c = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#rows, #number, #results], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %c : memref<16x32xf32>, f32) outs(%y : memref<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  kernel.return
}

// A warp keeps its row: what is read once, and what the row is reduced to, is
// in registers until the results are stored.
// CHECK-LABEL: llvm.func ptx_kernelcc @kept
kernel.func @kept(%x: tensor<4096x256xf32>) -> tensor<4096x256xf32> attributes {kernel.runs_on = "cuda"} {
  // CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK-NOT: llvm.load
  // CHECK-COUNT-2: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
  // CHECK: llvm.return
  %y = graph.softmax %x : tensor<4096x256xf32>
  kernel.return %y : tensor<4096x256xf32>
}

// Or the block does.
// CHECK-LABEL: llvm.func ptx_kernelcc @kept_by_block
kernel.func @kept_by_block(%x: tensor<64x2048xf32>) -> tensor<64x2048xf32> attributes {kernel.runs_on = "cuda"} {
  // CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK-NOT: llvm.load {{.*}} : !llvm.ptr<1>
  // CHECK-COUNT-2: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
  // CHECK: llvm.return
  %y = graph.softmax %x : tensor<64x2048xf32>
  kernel.return %y : tensor<64x2048xf32>
}

// An attention keeps scores and weights in registers. Keys and values lie side
// by side in shared memory, and the next step is on its way there.
// CHECK-LABEL: llvm.func ptx_kernelcc @attention
// CHECK: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK: scf.for {{.*}} iter_args
// CHECK: "llvm.nvvm.cp.async.wait.group"
// CHECK: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3"
// CHECK: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK: "llvm.nvvm.shfl.sync.bfly.i32"
// CHECK: "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NOT: llvm.store
// CHECK: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3"
// CHECK: scf.yield
// CHECK: llvm.store {{.*}} : vector<2xf16>, !llvm.ptr<1>
kernel.func @attention(%q: tensor<140x128x16xf16>, %k: tensor<140x100x16xf16>, %v: tensor<140x100x16xf16>) -> tensor<140x128x16xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<140x100x16xf16>) -> tensor<140x16x100xf16>
  %1 = graph.matmul %q, %0 : (tensor<140x128x16xf16>, tensor<140x16x100xf16>) -> tensor<140x128x100xf16>
  %2 = graph.softmax %1 : tensor<140x128x100xf16>
  %y = graph.matmul %2, %v : (tensor<140x128x100xf16>, tensor<140x100x16xf16>) -> tensor<140x128x16xf16>
  kernel.return %y : tensor<140x128x16xf16>
}
