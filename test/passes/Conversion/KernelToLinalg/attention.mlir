// RUN: dlc-opt %s --convert-kernel-to-linalg | FileCheck %s
// An attention on a GPU is one operation for the rows of a tile.

// CHECK-DAG: #[[KEYS:.*]] = affine_map<()[s0] -> (s0 * 16 + (s0 floordiv 3) * 2832 + 48)>
// CHECK-DAG: #[[SHARED:.*]] = affine_map<()[s0] -> ((s0 floordiv 4) * 640)>

// Operands are matrices in one tensor, wherever they lie in it, and few rows are
// in small tiles, so that all of a GPU has work.
// CHECK-LABEL: kernel.func @heads
// CHECK-SAME: (%[[X:.*]]: memref<2x20x144xf16>, %[[M:.*]]: memref<2x1x1x20xf16>, %[[Y:.*]]: memref<2x20x3x16xf16>)
// CHECK-SAME: grid = array<i64: 6, 2>
// CHECK: scf.forall (%[[MATRIX:.*]], %[[TILE:.*]]) in (6, 2)
// CHECK: %[[ROWS:.*]] = arith.minsi
// CHECK: %[[Q:.*]] = memref.reinterpret_cast %[[X]] to offset: [%{{.*}}], sizes: [%[[ROWS]], 16], strides: [144, 1]
// CHECK: affine.apply #[[KEYS]]()[%[[MATRIX]]]
// CHECK: %[[K:.*]] = memref.reinterpret_cast %[[X]] {{.*}} sizes: [20, 16], strides: [144, 1]
// CHECK: %[[V:.*]] = memref.reinterpret_cast %[[X]] {{.*}} sizes: [20, 16], strides: [144, 1]
// CHECK: %[[OUT:.*]] = memref.reinterpret_cast %[[Y]] {{.*}} sizes: [%[[ROWS]], 16], strides: [48, 1]
// CHECK: %[[MASK:.*]] = memref.reinterpret_cast %[[M]] {{.*}} sizes: [1, 20], strides: [0, 1]
// CHECK: kernel.attention %[[Q]], %[[K]], %[[V]] masked(%[[MASK]]) into %[[OUT]] from %{{.*}} {forms = ["add"], rows = 16 : i64, scale = 2.500000e-01 : f32}
kernel.func @heads(%x: tensor<2x20x144xf16>, %m: tensor<2x1x1x20xf16>) -> tensor<2x20x3x16xf16> attributes {kernel.runs_on = "cuda"} {
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %i2 = graph.constant dense<2> : tensor<1xi64>
  %i48 = graph.constant dense<48> : tensor<1xi64>
  %i96 = graph.constant dense<96> : tensor<1xi64>
  %i144 = graph.constant dense<144> : tensor<1xi64>
  %heads = graph.constant dense<[2, 20, 3, 16]> : tensor<4xi64>
  %scale = graph.constant dense<4.0> : tensor<f16>
  %0 = graph.slice %x, %i0, %i48, %i2, %i1 : (tensor<2x20x144xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x20x48xf16>
  %1 = graph.slice %x, %i48, %i96, %i2, %i1 : (tensor<2x20x144xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x20x48xf16>
  %2 = graph.slice %x, %i96, %i144, %i2, %i1 : (tensor<2x20x144xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x20x48xf16>
  %3 = graph.reshape %0, %heads : (tensor<2x20x48xf16>, tensor<4xi64>) -> tensor<2x20x3x16xf16>
  %4 = graph.reshape %1, %heads : (tensor<2x20x48xf16>, tensor<4xi64>) -> tensor<2x20x3x16xf16>
  %5 = graph.reshape %2, %heads : (tensor<2x20x48xf16>, tensor<4xi64>) -> tensor<2x20x3x16xf16>
  %q = graph.transpose %3 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x20x3x16xf16>) -> tensor<2x3x20x16xf16>
  %k = graph.transpose %4 {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x20x3x16xf16>) -> tensor<2x3x16x20xf16>
  %v = graph.transpose %5 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x20x3x16xf16>) -> tensor<2x3x20x16xf16>
  %6 = graph.matmul %q, %k : (tensor<2x3x20x16xf16>, tensor<2x3x16x20xf16>) -> tensor<2x3x20x20xf16>
  %7 = graph.div %6, %scale : (tensor<2x3x20x20xf16>, tensor<f16>) -> tensor<2x3x20x20xf16>
  %8 = graph.add %7, %m : (tensor<2x3x20x20xf16>, tensor<2x1x1x20xf16>) -> tensor<2x3x20x20xf16>
  %9 = graph.softmax %8 : tensor<2x3x20x20xf16>
  %10 = graph.matmul %9, %v : (tensor<2x3x20x20xf16>, tensor<2x3x20x16xf16>) -> tensor<2x3x20x16xf16>
  %y = graph.transpose %10 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x20x16xf16>) -> tensor<2x20x3x16xf16>
  kernel.return %y : tensor<2x20x3x16xf16>
}

// Many rows are in large tiles. One matrix of keys is for four of queries.
// CHECK-LABEL: kernel.func @groups
// CHECK-SAME: grid = array<i64: 80, 2>
// CHECK: affine.apply #[[SHARED]]()
// CHECK: kernel.attention {{.*}} {rows = 128 : i64, scale = 1.000000e+00 : f32}
kernel.func @groups(%q: tensor<20x4x256x16xbf16>, %k: tensor<20x1x40x16xbf16>, %v: tensor<20x1x40x16xbf16>) -> tensor<20x4x256x16xbf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<20x1x40x16xbf16>) -> tensor<20x1x16x40xbf16>
  %1 = graph.matmul %q, %0 : (tensor<20x4x256x16xbf16>, tensor<20x1x16x40xbf16>) -> tensor<20x4x256x40xbf16>
  %2 = graph.softmax %1 : tensor<20x4x256x40xbf16>
  %y = graph.matmul %2, %v : (tensor<20x4x256x40xbf16>, tensor<20x1x40x16xbf16>) -> tensor<20x4x256x16xbf16>
  kernel.return %y : tensor<20x4x256x16xbf16>
}

// A mask of which the triangle is known is not read.
// CHECK-LABEL: kernel.func @causal
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: kernel.attention %{{.*}}, %{{.*}}, %{{.*}} masked(%{{.*}}) into %{{.*}} from %[[FIRST]] {causal = 3 : i64, fill = -1.000000e+04 : f32, forms = ["add", "causal"], rows = 16 : i64, scale = 1.000000e+00 : f32}
kernel.func @causal(%q: tensor<2x40x16xf16>, %k: tensor<2x43x16xf16>, %v: tensor<2x43x16xf16>, %m: tensor<43xf16>, %c: tensor<1x40x43xi1> {kernel.triangle = array<i64: 3, 0>}) -> tensor<2x40x16xf16> attributes {kernel.runs_on = "cuda"} {
  %fill = graph.constant dense<-1.0e+04> : tensor<f16>
  %0 = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x43x16xf16>) -> tensor<2x16x43xf16>
  %1 = graph.matmul %q, %0 : (tensor<2x40x16xf16>, tensor<2x16x43xf16>) -> tensor<2x40x43xf16>
  %2 = graph.add %1, %m : (tensor<2x40x43xf16>, tensor<43xf16>) -> tensor<2x40x43xf16>
  %3 = graph.select %c, %fill, %2 : (tensor<1x40x43xi1>, tensor<f16>, tensor<2x40x43xf16>) -> tensor<2x40x43xf16>
  %4 = graph.softmax %3 : tensor<2x40x43xf16>
  %y = graph.matmul %4, %v : (tensor<2x40x43xf16>, tensor<2x43x16xf16>) -> tensor<2x40x16xf16>
  kernel.return %y : tensor<2x40x16xf16>
}

// But one that keeps what a triangle hides is.
// CHECK-LABEL: kernel.func @other
// CHECK: forms = ["keep"]
kernel.func @other(%q: tensor<2x8x16xf16>, %k: tensor<2x8x16xf16>, %v: tensor<2x8x16xf16>, %c: tensor<8x8xi1> {kernel.triangle = array<i64: 0, 0>}) -> tensor<2x8x16xf16> attributes {kernel.runs_on = "cuda"} {
  %fill = graph.constant dense<-1.0e+04> : tensor<f16>
  %0 = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x8x16xf16>) -> tensor<2x16x8xf16>
  %1 = graph.matmul %q, %0 : (tensor<2x8x16xf16>, tensor<2x16x8xf16>) -> tensor<2x8x8xf16>
  %2 = graph.select %c, %1, %fill : (tensor<8x8xi1>, tensor<2x8x8xf16>, tensor<f16>) -> tensor<2x8x8xf16>
  %3 = graph.softmax %2 : tensor<2x8x8xf16>
  %y = graph.matmul %3, %v : (tensor<2x8x8xf16>, tensor<2x8x16xf16>) -> tensor<2x8x16xf16>
  kernel.return %y : tensor<2x8x16xf16>
}
