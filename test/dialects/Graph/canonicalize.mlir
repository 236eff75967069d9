// RUN: dlc-opt %s --canonicalize | FileCheck %s
// Operations that change nothing go; chains become one.

// CHECK-LABEL: func.func @identities
func.func @identities(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = graph.constant dense<[2, 3]> : tensor<2xi64>
  %one = graph.constant dense<1.0> : tensor<f32>
  %mzero = graph.constant dense<-0.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %i2 = graph.constant dense<2> : tensor<1xi64>
  %i0_0 = graph.constant dense<0> : tensor<2xi64>
  %0 = graph.reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1 = graph.transpose %0 {perm = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.cast %1 {to = f32} : tensor<2x3xf32>
  %3 = graph.mul %2, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = graph.add %mzero, %3 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = graph.sub %4, %zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %6 = graph.expand %5, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %7 = graph.slice %6, %i0, %i2, %i0, %i1 : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  %8 = graph.pad %7, %i0_0, %one, %i1 : (tensor<2x3xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<2x3xf32>
  %9 = graph.concat %8 {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %arg0
  return %9 : tensor<2x3xf32>
}

// x + 0 is not x where x is -0; a reversal is not the identity; neither is a
// product that broadcasts.
// CHECK-LABEL: func.func @no_identities
func.func @no_identities(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %ones = graph.constant dense<1.0> : tensor<2x3xf32>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %im1 = graph.constant dense<-1> : tensor<1xi64>
  %im9 = graph.constant dense<-9> : tensor<1xi64>
  // CHECK: graph.add
  %0 = graph.add %x, %zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  // CHECK: graph.slice
  %1 = graph.slice %x, %im1, %im9, %i0, %im1 : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  // CHECK: graph.mul
  %2 = graph.mul %x, %ones : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<2xi32>) -> tensor<2xi32> {
  %zero = graph.constant dense<0> : tensor<i32>
  %one = graph.constant dense<1> : tensor<i32>
  %0 = graph.add %x, %zero : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %1 = graph.div %0, %one : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  // CHECK-NEXT: return %arg0
  return %1 : tensor<2xi32>
}

// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<2x3xf32>) {
  %a = graph.constant dense<[0, 2]> : tensor<2xi64>
  %m1 = graph.constant dense<[-1]> : tensor<1xi64>
  %0 = graph.unsqueeze %x, %a : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<1x2x1x3xf32>
  // CHECK: %[[Y:.*]] = graph.reshape %arg0, %i6
  %1 = graph.reshape %0, %m1 : (tensor<1x2x1x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  %2 = graph.squeeze %0 : (tensor<1x2x1x3xf32>) -> tensor<2x3xf32>
  // CHECK: return %[[Y]], %arg0
  return %1, %2 : tensor<6xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @transposes
func.func @transposes(%x: tensor<2x3x4xf32>, %y: tensor<1x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<3x1x4xf32>) {
  // CHECK: %[[T:.*]] = graph.transpose %arg0 {perm = array<i64: 2, 0, 1>}
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0, 2>} : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32>
  // Only a dimension of extent 1 moves.
  // CHECK: %[[R:.*]] = graph.reshape %arg1, %i3_1_4
  %2 = graph.transpose %y {perm = array<i64: 1, 0, 2>} : (tensor<1x3x4xf32>) -> tensor<3x1x4xf32>
  // CHECK: return %[[T]], %[[R]]
  return %1, %2 : tensor<4x2x3xf32>, tensor<3x1x4xf32>
}

// CHECK-LABEL: func.func @concats
func.func @concats(%x: tensor<2xf32>, %y: tensor<0xf32>) -> tensor<6xf32> {
  %0 = graph.concat %x, %y, %x {axis = 0 : i64} : (tensor<2xf32>, tensor<0xf32>, tensor<2xf32>) -> tensor<4xf32>
  // CHECK-NEXT: graph.concat %arg0, %arg0, %arg0 {axis = 0 : i64}
  %1 = graph.concat %0, %x {axis = 0 : i64} : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// CHECK-LABEL: func.func @select
func.func @select(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %false = graph.constant dense<false> : tensor<i1>
  %0 = graph.select %false, %a, %b : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: return %arg1
  return %0 : tensor<2xf32>
}

// Ratios of extents are sizes, of the dimensions that change.
// CHECK-LABEL: func.func @resizes
func.func @resizes(%x: tensor<1x3x4x5xf32>) -> (tensor<1x3x8x5xf32>, tensor<1x3x4x5xf32>, tensor<1x3x6x5xf32>) {
  %none = graph.none : none
  // CHECK-DAG: %[[SIZES:.*]] = graph.constant dense<8> : tensor<1xi64>
  // CHECK-DAG: %[[SCALES:.*]] = graph.constant dense<{{.*}}1.600000e+00{{.*}}> : tensor<4xf32>
  %twice = graph.constant dense<[1., 1., 2., 1.]> : tensor<4xf32>
  %same = graph.constant dense<1.> : tensor<4xf32>
  %odd = graph.constant dense<[1., 1., 1.6, 1.]> : tensor<4xf32>
  // CHECK: graph.resize %arg0, %{{.*}}, %{{.*}}, %[[SIZES]] {axes = array<i64: 2>}
  %0 = graph.resize %x, %none, %twice, %none : (tensor<1x3x4x5xf32>, none, tensor<4xf32>, none) -> tensor<1x3x8x5xf32>
  %1 = graph.resize %x, %none, %same, %none {mode = "cubic"} : (tensor<1x3x4x5xf32>, none, tensor<4xf32>, none) -> tensor<1x3x4x5xf32>
  // Of 6.4 elements six are left: the places are those of the scale.
  // CHECK: graph.resize %arg0, %{{.*}}, %[[SCALES]]
  %2 = graph.resize %x, %none, %odd, %none : (tensor<1x3x4x5xf32>, none, tensor<4xf32>, none) -> tensor<1x3x6x5xf32>
  // CHECK: return %{{.*}}, %arg0, %{{.*}}
  return %0, %1, %2 : tensor<1x3x8x5xf32>, tensor<1x3x4x5xf32>, tensor<1x3x6x5xf32>
}

// Gathers by known indices that follow each other are slices.
// CHECK-LABEL: func.func @gathers_that_are_slices
func.func @gathers_that_are_slices(%x: tensor<3x8xf32>) -> (tensor<8xf32>, tensor<3x3xf32>, tensor<3x4xf32>) {
  %last = graph.constant dense<-1> : tensor<i64>
  %some = graph.constant dense<[1, 3, 5]> : tensor<3xi64>
  %back = graph.constant dense<[3, 2, 1, 0]> : tensor<4xi32>
  // CHECK-DAG: %[[TWO:.*]] = graph.constant dense<2> : tensor<1xi64>
  // CHECK-DAG: %[[THREE:.*]] = graph.constant dense<3> : tensor<1xi64>
  // CHECK: %[[PART:.*]] = graph.slice %arg0, %[[TWO]], %[[THREE]],
  // CHECK-NEXT: graph.squeeze %[[PART]]
  %0 = graph.gather %x, %last : (tensor<3x8xf32>, tensor<i64>) -> tensor<8xf32>
  // CHECK-NEXT: graph.slice
  %1 = graph.gather %x, %some {axis = 1 : i64} : (tensor<3x8xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  // CHECK-NEXT: graph.slice
  %2 = graph.gather %x, %back {axis = -1 : i64} : (tensor<3x8xf32>, tensor<4xi32>) -> tensor<3x4xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<3x3xf32>, tensor<3x4xf32>
}

// These do not, are not there, or are one over and over.
// CHECK-LABEL: func.func @gathers_that_are_none
func.func @gathers_that_are_none(%x: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<1x8xf32>, tensor<2x8xf32>) {
  %turned = graph.constant dense<[1, 0, 2]> : tensor<3xi64>
  %beyond = graph.constant dense<3> : tensor<1xi64>
  %same = graph.constant dense<1> : tensor<2xi64>
  // CHECK-COUNT-3: graph.gather
  %0 = graph.gather %x, %turned : (tensor<3x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  %1 = graph.gather %x, %beyond : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
  %2 = graph.gather %x, %same : (tensor<3x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  return %0, %1, %2 : tensor<3x8xf32>, tensor<1x8xf32>, tensor<2x8xf32>
}

// -----

// Shapes that are known are constants.

// CHECK-LABEL: func.func @shapes
// CHECK-DAG: %[[DIMS:.*]] = graph.constant dense<[8, 16]> : tensor<2xi64>
// CHECK-DAG: %[[LAST:.*]] = graph.constant dense<16> : tensor<1xi64>
// CHECK-DAG: %[[SIZE:.*]] = graph.constant dense<128> : tensor<i64>
// CHECK-DAG: %[[OPEN:.*]] = graph.shape %arg1 : (tensor<?x16xf32>) -> tensor<2xi64>
// CHECK-DAG: %[[MANY:.*]] = graph.size %arg1 : (tensor<?x16xf32>) -> tensor<i64>
// CHECK: return %[[DIMS]], %[[LAST]], %[[SIZE]], %[[OPEN]], %[[LAST]], %[[MANY]]
func.func @shapes(%x: tensor<8x16xf32>, %z: tensor<?x16xf32>) -> (tensor<2xi64>, tensor<1xi64>, tensor<i64>, tensor<2xi64>, tensor<1xi64>, tensor<i64>) {
  %0 = graph.shape %x : (tensor<8x16xf32>) -> tensor<2xi64>
  %1 = graph.shape %x {start = -1 : i64} : (tensor<8x16xf32>) -> tensor<1xi64>
  %2 = graph.size %x : (tensor<8x16xf32>) -> tensor<i64>
  %3 = graph.shape %z : (tensor<?x16xf32>) -> tensor<2xi64>
  %4 = graph.shape %z {start = 1 : i64} : (tensor<?x16xf32>) -> tensor<1xi64>
  %5 = graph.size %z : (tensor<?x16xf32>) -> tensor<i64>
  return %0, %1, %2, %3, %4, %5 : tensor<2xi64>, tensor<1xi64>, tensor<i64>, tensor<2xi64>, tensor<1xi64>, tensor<i64>
}

// Extents of one name are equal, so that a product of two by one is the other.
// CHECK-LABEL: func.func @quotient_of_extents
func.func @quotient_of_extents(%x: tensor<?x?xf32> {graph.dims = ["batch", "length"]}, %m: tensor<?x?xi64> {graph.dims = ["batch", "length"]}) -> tensor<i64> {
  // CHECK: %[[N:.*]] = graph.shape %arg1 {end = 2 : i64, start = 1 : i64}
  // CHECK: %[[S:.*]] = graph.squeeze %[[N]]
  // CHECK-NEXT: return %[[S]]
  %0 = graph.shape %x {end = 1 : i64} : (tensor<?x?xf32>) -> tensor<1xi64>
  %1 = graph.squeeze %0 : (tensor<1xi64>) -> tensor<i64>
  %2 = graph.shape %m {end = 1 : i64} : (tensor<?x?xi64>) -> tensor<1xi64>
  %3 = graph.squeeze %2 : (tensor<1xi64>) -> tensor<i64>
  %4 = graph.shape %m {start = 1 : i64, end = 2 : i64} : (tensor<?x?xi64>) -> tensor<1xi64>
  %5 = graph.squeeze %4 : (tensor<1xi64>) -> tensor<i64>
  %6 = graph.mul %5, %3 : tensor<i64>
  %7 = graph.div %6, %1 : tensor<i64>
  return %7 : tensor<i64>
}

// Others are not, nor are those without a name.
// CHECK-LABEL: func.func @quotient_of_others
func.func @quotient_of_others(%x: tensor<?x?xf32> {graph.dims = ["batch", ""]}, %m: tensor<?x?xi64> {graph.dims = ["rows", ""]}) -> (tensor<1xi64>, tensor<1xi64>) {
  // CHECK: graph.div
  // CHECK: graph.div
  %0 = graph.shape %x {end = 1 : i64} : (tensor<?x?xf32>) -> tensor<1xi64>
  %1 = graph.shape %m {end = 1 : i64} : (tensor<?x?xi64>) -> tensor<1xi64>
  %2 = graph.shape %x {start = 1 : i64} : (tensor<?x?xf32>) -> tensor<1xi64>
  %3 = graph.shape %m {start = 1 : i64} : (tensor<?x?xi64>) -> tensor<1xi64>
  %4 = graph.mul %2, %1 : tensor<1xi64>
  %5 = graph.div %4, %0 : tensor<1xi64>
  %6 = graph.mul %0, %3 : tensor<1xi64>
  %7 = graph.div %6, %2 : tensor<1xi64>
  return %5, %7 : tensor<1xi64>, tensor<1xi64>
}
