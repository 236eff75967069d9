// RUN: dlc-opt %s --convert-kernel-to-linalg --codegen-cpu-emit-loops=target=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,V3
// RUN: dlc-opt %s --convert-kernel-to-linalg --codegen-cpu-emit-loops=target=x86-64-v4 | FileCheck %s --check-prefixes=CHECK,V4
// RUN: not dlc-opt %s --codegen-cpu-emit-loops=target=pdp-11 2>&1 | FileCheck %s --check-prefix=BAD
// Kernels become functions of abi/Kernel.h over vectors of the target's width.

// BAD: pdp-11

// Arguments in memory, then the range of tiles.
// CHECK-LABEL: llvm.func @exp(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
kernel.func @exp(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
  // V3: vector<8xf32>
  // V4: vector<16xf32>
  // exp is a polynomial, not a call.
  // CHECK-NOT: math.exp
  // CHECK-NOT: llvm.call
  // CHECK: llvm.return
  %0 = graph.exp %x : tensor<64x64xf32>
  kernel.return %0 : tensor<64x64xf32>
}

// Inputs that both lie across are turned round in registers: results are
// written as vectors, not element by element.
// CHECK-LABEL: llvm.func @turned
// V3: vector.shuffle
// V3-NOT: llvm.store %{{.*}} : f32
// V4: vector.shuffle
// V4-NOT: llvm.store %{{.*}} : f32
// CHECK: llvm.return
kernel.func @turned(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = graph.add %a, %b : tensor<64x64xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  kernel.return %1 : tensor<64x64xf32>
}

// A reduction along the vector is carried in registers.
// CHECK-LABEL: llvm.func @sum
kernel.func @sum(%x: tensor<8x1024xf32>) -> tensor<8xf32> {
  // V3: iter_args({{.*}}) -> ({{.*}}vector<8xf32>
  // V4: iter_args({{.*}}) -> ({{.*}}vector<16xf32>
  // CHECK: llvm.store
  %axes = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.reduce_sum %x, %axes {keepdims = false} : (tensor<8x1024xf32>, tensor<1xi64>) -> tensor<8xf32>
  kernel.return %0 : tensor<8xf32>
}

// Rows of seven windows in steps of two, whose elements no mask can leave out,
// are vectors of four that share one, not single elements.
// CHECK-LABEL: llvm.func @narrow
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT: llvm.store %{{.*}} : f32
// CHECK: llvm.store %{{.*}} : vector<4xf32>
// CHECK: llvm.store %{{.*}} : vector<4xf32>
// CHECK-NOT: llvm.store %{{.*}} : f32
// CHECK: llvm.return
kernel.func @narrow(%x: tensor<1x8x14x14xf32>) -> tensor<1x8x7x7xf32> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x14x14xf32>) -> tensor<1x8x7x7xf32>
  kernel.return %0 : tensor<1x8x7x7xf32>
}
