// RUN: dlc-opt %s --graph-merge-branches --canonicalize --split-input-file | FileCheck %s
// In a sum, convolutions of one image are one.

// A window of 3 with a padding of one, a point, the image itself and a constant.
// CHECK-LABEL: func.func @branches
// CHECK-SAME: %[[X:.*]]: tensor<1x2x4xf32>
func.func @branches(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{.*}}1.0{{.*}}, 1.12{{.*}}, 3.0{{.*}}4.0{{.*}}, 2.5{{.*}}, 6.0{{.*}}7.0{{.*}}, 3.8{{.*}}, 9.0{{.*}}1.0{{.*}}, 2.51{{.*}}, 1.2{{.*}}> : tensor<2x2x3xf32>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<[5.5{{.*}}, 7.5{{.*}}]> : tensor<2xf32>
  // CHECK: %[[Y:.*]] = graph.conv %[[X]], %[[W]], %[[B]] {pads = array<i64: 1, 1>}
  // CHECK-NEXT: return %[[Y]]
  %w = graph.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]]> : tensor<2x2x3xf32>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %v = graph.constant dense<[[[10.0], [20.0]], [[30.0], [40.0]]]> : tensor<2x2x1xf32>
  %c = graph.constant dense<[4.0, 5.0]> : tensor<2xf32>
  %f = graph.constant dense<[[100.0], [200.0]]> : tensor<2x1xf32>
  %s = graph.constant dense<0.5> : tensor<1x1x1xf32>
  %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1>} : (tensor<1x2x4xf32>, tensor<2x2x3xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  %1 = graph.conv %x, %v, %c : (tensor<1x2x4xf32>, tensor<2x2x1xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  %2 = graph.mul %x, %f : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %3 = graph.add %2, %s : (tensor<1x2x4xf32>, tensor<1x1x1xf32>) -> tensor<1x2x4xf32>
  %4 = graph.add %1, %0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %5 = graph.add %3, %4 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %5 : tensor<1x2x4xf32>
}

// -----

// Two images, of which one has a single branch, and another summand. Steps,
// dilations and groups stay.
// CHECK-LABEL: func.func @images
// CHECK-SAME: %[[X:.*]]: tensor<?x4x?x?xf32>, %[[Z:.*]]: tensor<?x4x?x?xf32>, %[[R:.*]]: tensor<?x4x?x?xf32>
func.func @images(%x: tensor<?x4x?x?xf32>, %z: tensor<?x4x?x?xf32>, %r: tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32> {
  // CHECK: %[[A:.*]] = graph.conv %[[Z]], %{{.*}} {group = 4 : i64, pads = array<i64: 3, 3, 3, 3>, strides = array<i64: 2, 2>}
  // CHECK: %[[B:.*]] = graph.conv %[[X]], %{{.*}} {dilations = array<i64: 2, 2>, group = 4 : i64, pads = array<i64: 2, 2, 2, 2>, strides = array<i64: 2, 2>}
  // CHECK-NOT: graph.conv
  // CHECK: %[[C:.*]] = graph.add %[[B]], %[[R]]
  // CHECK: %[[D:.*]] = graph.add %[[C]], %[[A]]
  // CHECK: return %[[D]]
  %w = graph.constant dense<1.0> : tensor<4x1x3x3xf32>
  %v = graph.constant dense<2.0> : tensor<4x1x1x1xf32>
  %u = graph.constant dense<3.0> : tensor<4x1x7x7xf32>
  %0 = graph.conv %x, %w {group = 4 : i64, pads = array<i64: 2, 2, 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 2, 2>} : (tensor<?x4x?x?xf32>, tensor<4x1x3x3xf32>) -> tensor<?x4x?x?xf32>
  %1 = graph.conv %x, %v {group = 4 : i64, strides = array<i64: 2, 2>} : (tensor<?x4x?x?xf32>, tensor<4x1x1x1xf32>) -> tensor<?x4x?x?xf32>
  %2 = graph.conv %z, %u {group = 4 : i64, pads = array<i64: 3, 3, 3, 3>, strides = array<i64: 2, 2>} : (tensor<?x4x?x?xf32>, tensor<4x1x7x7xf32>) -> tensor<?x4x?x?xf32>
  %3 = graph.add %0, %r : (tensor<?x4x?x?xf32>, tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %4 = graph.add %3, %2 : (tensor<?x4x?x?xf32>, tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %5 = graph.add %4, %1 : (tensor<?x4x?x?xf32>, tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  return %5 : tensor<?x4x?x?xf32>
}

// -----

// Other steps, a window that reaches further, other groups, two uses, weights
// that are data or whose sum is infinite.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-11: graph.conv
// CHECK-NOT: graph.conv
func.func @apart(%x: tensor<1x2x8xf32>, %d: tensor<2x2x1xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>) {
  %w = graph.constant dense<1.0> : tensor<2x2x3xf32>
  %v = graph.constant dense<2.0> : tensor<2x2x1xf32>
  %g = graph.constant dense<2.0> : tensor<2x1x1xf32>
  %l = graph.constant dense<3.0e38> : tensor<2x2x1xf32>
  %k = graph.constant dense<2.0e38> : tensor<2x2x1xf32>
  %t = graph.constant dense<1.0> : tensor<2x2x2xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<1x2x8xf32>, tensor<2x2x3xf32>) -> tensor<1x2x4xf32>
  %1 = graph.conv %x, %t {dilations = array<i64: 4>} : (tensor<1x2x8xf32>, tensor<2x2x2xf32>) -> tensor<1x2x4xf32>
  %2 = graph.add %0, %1 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %3 = graph.conv %x, %w {pads = array<i64: 1, 1>} : (tensor<1x2x8xf32>, tensor<2x2x3xf32>) -> tensor<1x2x8xf32>
  %4 = graph.conv %x, %t {pads = array<i64: 2, 2>, dilations = array<i64: 4>} : (tensor<1x2x8xf32>, tensor<2x2x2xf32>) -> tensor<1x2x8xf32>
  %5 = graph.conv %x, %g {group = 2 : i64} : (tensor<1x2x8xf32>, tensor<2x1x1xf32>) -> tensor<1x2x8xf32>
  %6 = graph.add %3, %4 : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %7 = graph.add %6, %5 : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %8 = graph.conv %x, %v : (tensor<1x2x8xf32>, tensor<2x2x1xf32>) -> tensor<1x2x8xf32>
  %9 = graph.conv %x, %w {pads = array<i64: 1, 1>} : (tensor<1x2x8xf32>, tensor<2x2x3xf32>) -> tensor<1x2x8xf32>
  %10 = graph.add %8, %9 : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %11 = graph.conv %x, %d : (tensor<1x2x8xf32>, tensor<2x2x1xf32>) -> tensor<1x2x8xf32>
  %12 = graph.conv %x, %v : (tensor<1x2x8xf32>, tensor<2x2x1xf32>) -> tensor<1x2x8xf32>
  %13 = graph.add %11, %12 : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %14 = graph.conv %x, %l : (tensor<1x2x8xf32>, tensor<2x2x1xf32>) -> tensor<1x2x8xf32>
  %15 = graph.conv %x, %k : (tensor<1x2x8xf32>, tensor<2x2x1xf32>) -> tensor<1x2x8xf32>
  %16 = graph.add %14, %15 : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  return %2, %7, %8, %10, %13, %16 : tensor<1x2x4xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>
}

// -----

// A factor of each channel is what its output takes of it, of two groups of two
// channels in f64; windows lie apart by other paddings at the front. Constants
// stay where they might belong to either of two images.
// CHECK-LABEL: func.func @groups
// CHECK-DAG: graph.constant dense<{{.*}}1.1{{.*}}1.0{{.*}}1.0{{.*}}2.1{{.*}}3.1{{.*}}1.0{{.*}}1.0{{.*}}4.1{{.*}}> : tensor<4x2x1xf64>
// CHECK: graph.conv %{{.*}}, %{{[^,]*}} {group = 2 : i64}
// CHECK-NOT: graph.mul
// CHECK-LABEL: func.func @padded
// CHECK-DAG: graph.constant dense<{{.*}}1.0{{.*}}, 1.0{{.*}}, 6.0{{.*}}> : tensor<1x1x3xf32>
// CHECK: graph.conv %{{.*}}, %{{[^,]*}} {pads = array<i64: 2, 0>}
// CHECK-NOT: graph.conv
// CHECK-LABEL: func.func @of_two
// CHECK-COUNT-2: graph.conv
// CHECK-COUNT-2: graph.add
func.func @groups(%x: tensor<1x4x5xf64>) -> tensor<1x4x5xf64> {
  %w = graph.constant dense<1.0> : tensor<4x2x1xf64>
  %f = graph.constant dense<[[10.0], [20.0], [30.0], [40.0]]> : tensor<4x1xf64>
  %0 = graph.conv %x, %w {group = 2 : i64} : (tensor<1x4x5xf64>, tensor<4x2x1xf64>) -> tensor<1x4x5xf64>
  %1 = graph.mul %x, %f : (tensor<1x4x5xf64>, tensor<4x1xf64>) -> tensor<1x4x5xf64>
  %2 = graph.add %0, %1 : tensor<1x4x5xf64>
  return %2 : tensor<1x4x5xf64>
}
func.func @padded(%x: tensor<1x1x6xf32>) -> tensor<1x1x6xf32> {
  %w = graph.constant dense<1.0> : tensor<1x1x3xf32>
  %v = graph.constant dense<5.0> : tensor<1x1x1xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 2, 0>} : (tensor<1x1x6xf32>, tensor<1x1x3xf32>) -> tensor<1x1x6xf32>
  %1 = graph.conv %x, %v : (tensor<1x1x6xf32>, tensor<1x1x1xf32>) -> tensor<1x1x6xf32>
  %2 = graph.add %0, %1 : tensor<1x1x6xf32>
  return %2 : tensor<1x1x6xf32>
}
func.func @of_two(%x: tensor<1x1x6xf32>, %z: tensor<1x1x6xf32>) -> tensor<1x1x6xf32> {
  %w = graph.constant dense<1.0> : tensor<1x1x1xf32>
  %v = graph.constant dense<5.0> : tensor<1x1x1xf32>
  %c = graph.constant dense<7.0> : tensor<1x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x1x6xf32>, tensor<1x1x1xf32>) -> tensor<1x1x6xf32>
  %1 = graph.conv %x, %v : (tensor<1x1x6xf32>, tensor<1x1x1xf32>) -> tensor<1x1x6xf32>
  %2 = graph.conv %z, %v : (tensor<1x1x6xf32>, tensor<1x1x1xf32>) -> tensor<1x1x6xf32>
  %3 = graph.add %0, %1 : tensor<1x1x6xf32>
  %4 = graph.add %3, %2 : tensor<1x1x6xf32>
  %5 = graph.add %4, %c : (tensor<1x1x6xf32>, tensor<1x1x1xf32>) -> tensor<1x1x6xf32>
  return %5 : tensor<1x1x6xf32>
}
