// RUN: dlc-opt %s --split-input-file --graph-alter-layout | FileCheck %s
// RUN: dlc-opt %s --split-input-file --graph-alter-layout --remarks-filter=graph-alter-layout -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: dlc-opt %s --split-input-file --verify-numerics --graph-alter-layout -o /dev/null

// CHECK-LABEL: func @cancels
// CHECK-NOT: graph.transpose
// CHECK: graph.relu %{{.*}} : tensor<1x8x4x4xf32>
// CHECK-NOT: graph.transpose
// REMARK: transposes of 2 values, 1024 bytes, became 0, 0 bytes
func.func @cancels(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
  %1 = graph.relu %0 : tensor<1x4x4x8xf32>
  %y = graph.transpose %1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x8xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// -----

// Two convolutions of a network with channels last, and a sum around them: the
// ends are transposed, and what is small.

// CHECK-LABEL: func @channels_last
// CHECK: graph.transpose %{{.*}} {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x6x6x4xf32>)
// CHECK: graph.conv
// CHECK-NEXT: constant
// CHECK-NEXT: graph.unsqueeze %{{.*}} : (tensor<4xf32>, tensor<3xi64>) -> tensor<1x1x1x4xf32>
// CHECK-NEXT: graph.transpose %{{.*}} {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x1x1x4xf32>) -> tensor<1x4x1x1xf32>
// CHECK-NEXT: graph.add {{.*}} -> tensor<2x4x6x6xf32>
// CHECK-NEXT: graph.relu {{.*}} : tensor<2x4x6x6xf32>
// CHECK-NEXT: graph.conv
// CHECK-NEXT: graph.transpose %{{.*}} {perm = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: graph.add {{.*}} : tensor<2x6x6x4xf32>
// CHECK-NEXT: return
func.func @channels_last(%x: tensor<2x6x6x4xf32>, %v: tensor<4x4x1x1xf32>, %b: tensor<4xf32>) -> tensor<2x6x6x4xf32> {
  %0 = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %1 = graph.conv %0, %v : (tensor<2x4x6x6xf32>, tensor<4x4x1x1xf32>) -> tensor<2x4x6x6xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x4x6x6xf32>) -> tensor<2x6x6x4xf32>
  %3 = graph.add %2, %b : (tensor<2x6x6x4xf32>, tensor<4xf32>) -> tensor<2x6x6x4xf32>
  %4 = graph.relu %3 : tensor<2x6x6x4xf32>
  %5 = graph.transpose %4 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %6 = graph.conv %5, %v : (tensor<2x4x6x6xf32>, tensor<4x4x1x1xf32>) -> tensor<2x4x6x6xf32>
  %7 = graph.transpose %6 {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x4x6x6xf32>) -> tensor<2x6x6x4xf32>
  %y = graph.add %7, %x : tensor<2x6x6x4xf32>
  return %y : tensor<2x6x6x4xf32>
}

// -----

// Axes follow: attributes and constant operands.

// CHECK-LABEL: func @axes
// CHECK-NOT: graph.transpose
// CHECK: graph.softmax %{{.*}} {axis = 1 : i64}
// CHECK-SAME: tensor<1x8x4x6xf32>
// CHECK: %[[A:.*]] = graph.constant dense<[3, 1]>
// CHECK-NEXT: %[[P:.*]] = graph.pad %{{.*}}, %{{.*}}, %{{.*}}, %[[A]] : {{.*}} -> tensor<1x9x4x8xf32>
// CHECK: %[[S:.*]] = graph.slice %[[P]]{{.*}} -> tensor<1x9x2x8xf32>
// CHECK: graph.concat %[[S]], %[[S]] {axis = 2 : i64} : {{.*}} -> tensor<1x9x4x8xf32>
// CHECK: graph.split {{.*}} {axis = 3 : i64} : {{.*}} -> (tensor<1x9x4x3xf32>, tensor<1x9x4x5xf32>)
// CHECK: graph.reduce_sum {{.*}} -> tensor<1x9x4x1xf32>
// CHECK: graph.reduce_max %{{.*}} : (tensor<1x9x4x5xf32>) -> tensor<1x1x1x1xf32>
// CHECK-NEXT: graph.transpose {{.*}} : (tensor<1x1x1x1xf32>)
// CHECK: graph.arg_max %{{.*}} {axis = 1 : i64} : (tensor<1x9x4x5xf32>) -> tensor<1x1x4x5xi64>
// CHECK-NOT: graph.transpose
func.func @axes(%x: tensor<1x8x4x6xf32>) -> (tensor<1x9x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x4x5xi64>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %pads = graph.constant dense<[1, 1, 1, 0]> : tensor<4xi64>
  %axes = graph.constant dense<[2, -1]> : tensor<2xi64>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %i2 = graph.constant dense<2> : tensor<1xi64>
  %sizes = graph.constant dense<[3, 5]> : tensor<2xi64>
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32>
  %1 = graph.softmax %0 : tensor<1x4x6x8xf32>
  %2 = graph.pad %1, %pads, %zero, %axes : (tensor<1x4x6x8xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<1x4x8x9xf32>
  %3 = graph.slice %2, %i0, %i2, %i1, %i1 : (tensor<1x4x8x9xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x8x9xf32>
  %4 = graph.concat %3, %3 {axis = 1 : i64} : (tensor<1x2x8x9xf32>, tensor<1x2x8x9xf32>) -> tensor<1x4x8x9xf32>
  %5:2 = graph.split %4, %sizes {axis = -2 : i64} : (tensor<1x4x8x9xf32>, tensor<2xi64>) -> (tensor<1x4x3x9xf32>, tensor<1x4x5x9xf32>)
  %6 = graph.reduce_sum %5#0, %i2 : (tensor<1x4x3x9xf32>, tensor<1xi64>) -> tensor<1x4x1x9xf32>
  %7 = graph.reduce_max %5#1 : (tensor<1x4x5x9xf32>) -> tensor<1x1x1x1xf32>
  %8 = graph.arg_max %5#1 {axis = 3 : i64} : (tensor<1x4x5x9xf32>) -> tensor<1x4x5x1xi64>
  %9 = graph.transpose %6 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x1x9xf32>) -> tensor<1x9x4x1xf32>
  %10 = graph.transpose %8 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x1xi64>) -> tensor<1x1x4x5xi64>
  return %9, %7, %10 : tensor<1x9x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x4x5xi64>
}

// -----

// The transpose moves to where there are fewer elements.

// CHECK-LABEL: func @behind_the_reduction
// CHECK: graph.reduce_max
// CHECK: graph.transpose {{.*}} : (tensor<1x8x1x1xf32>)
// REMARK: transposes of 1 values, 16384 bytes, became 1, 32 bytes
func.func @behind_the_reduction(%x: tensor<1x8x16x32xf32>) -> tensor<1x1x1x8xf32> {
  %axes = graph.constant dense<[1, 2]> : tensor<2xi64>
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x8x16x32xf32>) -> tensor<1x16x32x8xf32>
  %y = graph.reduce_max %0, %axes : (tensor<1x16x32x8xf32>, tensor<2xi64>) -> tensor<1x1x1x8xf32>
  return %y : tensor<1x1x1x8xf32>
}

// -----

// Nothing is gained: both layouts are needed, and there is one transpose.

// CHECK-LABEL: func @both
// CHECK-NEXT: %[[T:.*]] = graph.transpose %arg0 {perm = array<i64: 1, 0>}
// CHECK-NEXT: %[[E:.*]] = graph.exp %[[T]] : tensor<6x4xf32>
// CHECK-NEXT: graph.matmul %arg0, %[[E]]
// REMARK-NOT: transposes of 1 values
func.func @both(%x: tensor<4x6xf32>) -> tensor<4x4xf32> {
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = graph.exp %0 : tensor<6x4xf32>
  %y = graph.matmul %x, %1 : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// A reduction that drops dimensions keeps its order; unknown extents do no harm.

// REMARK: transposes of 2 values, 1056 bytes, became 0, 0 bytes
// CHECK-LABEL: func @dynamic
// CHECK-NOT: graph.transpose
// CHECK: graph.exp %{{.*}} : tensor<?x8xf32>
// CHECK-NOT: graph.transpose
// CHECK: graph.reduce_sum {{.*}} -> tensor<?xf32>
func.func @dynamic(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<?x8xf32>) -> tensor<8x?xf32>
  %1 = graph.exp %0 : tensor<8x?xf32>
  %2 = graph.transpose %1 {perm = array<i64: 1, 0>} : (tensor<8x?xf32>) -> tensor<?x8xf32>
  %y = graph.reduce_sum %2, %i1 {keepdims = false} : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// More permutations than a rank has layouts: those that are left out move what
// they move, twice the same once, and the gain of the others is not refused.
// CHECK-LABEL: func.func @many
// CHECK: %[[R:.*]] = graph.relu %{{.*}} : tensor<2x3x4x5xf32>
// CHECK: graph.exp %[[R]]
func.func @many(%x: tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<3x2x5x4xf32>, tensor<3x2x5x4xf32>, tensor<4x2x3x5xf32>, tensor<2x4x3x5xf32>) {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = graph.relu %0 : tensor<2x4x5x3xf32>
  %2 = graph.exp %1 : tensor<2x4x5x3xf32>
  %3 = graph.transpose %2 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  %4 = graph.transpose %x {perm = array<i64: 2, 0, 1, 3>} : (tensor<2x3x4x5xf32>) -> tensor<4x2x3x5xf32>
  %5 = graph.transpose %x {perm = array<i64: 1, 0, 3, 2>} : (tensor<2x3x4x5xf32>) -> tensor<3x2x5x4xf32>
  %6 = graph.transpose %x {perm = array<i64: 1, 0, 3, 2>} : (tensor<2x3x4x5xf32>) -> tensor<3x2x5x4xf32>
  %7 = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x3x5xf32>
  return %3, %5, %6, %4, %7 : tensor<2x3x4x5xf32>, tensor<3x2x5x4xf32>, tensor<3x2x5x4xf32>, tensor<4x2x3x5xf32>, tensor<2x4x3x5xf32>
}

// -----

// Repetition: also of what has fewer dimensions.

// CHECK-LABEL: func @repeated
// CHECK-NOT: graph.transpose %{{.*}} : (tensor<2x8x4x6xf32>)
// CHECK: graph.expand {{.*}} -> tensor<2x8x4x6xf32>
// CHECK: graph.expand {{.*}} -> tensor<2x8x4x6xf32>
// CHECK-NOT: graph.transpose %{{.*}} -> tensor<2x8x4x6xf32>
// CHECK: return
func.func @repeated(%x: tensor<2x8x4x6xf32>, %b: tensor<8xf32>) -> tensor<2x8x4x6xf32> {
  %axes = graph.constant dense<[1, 2]> : tensor<2xi64>
  %shape = graph.constant dense<[2, 4, 6, 8]> : tensor<4xi64>
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x8x4x6xf32>) -> tensor<2x4x6x8xf32>
  %1 = graph.reduce_mean %0, %axes : (tensor<2x4x6x8xf32>, tensor<2xi64>) -> tensor<2x1x1x8xf32>
  %2 = graph.expand %1, %shape : (tensor<2x1x1x8xf32>, tensor<4xi64>) -> tensor<2x4x6x8xf32>
  %3 = graph.expand %b, %shape : (tensor<8xf32>, tensor<4xi64>) -> tensor<2x4x6x8xf32>
  %4 = graph.sub %0, %2 : tensor<2x4x6x8xf32>
  %5 = graph.mul %4, %3 : tensor<2x4x6x8xf32>
  %y = graph.transpose %5 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x4x6x8xf32>) -> tensor<2x8x4x6xf32>
  return %y : tensor<2x8x4x6xf32>
}
