// RUN: dlc-opt %s --split-input-file --graph-specialize-batch=sizes=1,4 | FileCheck %s
// RUN: dlc-opt %s --split-input-file --graph-specialize-batch=sizes=1,4 --remarks-filter=graph-specialize-batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Sequences in front of examples become one dimension, for a product, and two
// again: an example has elements at one distance.

// CHECK-LABEL: func.func private @main(tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
// CHECK-LABEL: func.func @main_4(
// CHECK: graph.reshape %{{.*}} -> tensor<12x8xf32>
// CHECK: graph.layer_norm %{{.*}} : (tensor<12x8xf32>
// CHECK: graph.reshape %{{.*}} -> tensor<3x4x8xf32>
// REMARK: specialized{{.*}}Sizes=2
func.func @main(%x: tensor<?x3x8xf32>) -> tensor<?x3x8xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8xf32>
  %b = graph.constant dense<1.0> : tensor<8xf32>
  %rows = graph.constant dense<[-1, 8]> : tensor<2xi64>
  %apart = graph.constant dense<[3, -1, 8]> : tensor<3xi64>
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x3x8xf32>) -> tensor<3x?x8xf32>
  %1 = graph.reshape %0, %rows : (tensor<3x?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %2 = graph.matmul %1, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %3 = graph.add %2, %b : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %4 = graph.layer_norm %3, %b, %b : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %5 = graph.reshape %4, %apart : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<3x?x8xf32>
  %6 = graph.transpose %5 {perm = array<i64: 1, 0, 2>} : (tensor<3x?x8xf32>) -> tensor<?x3x8xf32>
  return %6 : tensor<?x3x8xf32>
}

// -----

// Heads of examples lie next to each other in each place of the sequence.

// CHECK-LABEL: func.func private @main(
// CHECK-LABEL: func.func @main_4(
// CHECK: graph.softmax %{{.*}} : tensor<24x4xf32>
// REMARK: specialized{{.*}}Sizes=2
func.func @main(%x: tensor<?x3x8xf32>) -> tensor<?x3x2x4xf32> {
  %rows = graph.constant dense<[-1, 4]> : tensor<2xi64>
  %apart = graph.constant dense<[3, -1, 2, 4]> : tensor<4xi64>
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x3x8xf32>) -> tensor<3x?x8xf32>
  %1 = graph.reshape %0, %rows : (tensor<3x?x8xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %2 = graph.softmax %1 {axis = 1 : i64} : tensor<?x4xf32>
  %3 = graph.reshape %2, %apart : (tensor<?x4xf32>, tensor<4xi64>) -> tensor<3x?x2x4xf32>
  %4 = graph.transpose %3 {perm = array<i64: 1, 0, 2, 3>} : (tensor<3x?x2x4xf32>) -> tensor<?x3x2x4xf32>
  return %4 : tensor<?x3x2x4xf32>
}

// -----

// A result in such an order is no batch.

// CHECK-LABEL: func.func @main(
// CHECK-NOT: @main_4
// REMARK: a result has it elsewhere than in front
func.func @main(%x: tensor<?x3x8xf32>) -> tensor<?x8xf32> {
  %rows = graph.constant dense<[-1, 8]> : tensor<2xi64>
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x3x8xf32>) -> tensor<3x?x8xf32>
  %1 = graph.reshape %0, %rows : (tensor<3x?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// -----

// A sum along it goes over examples.

// CHECK-LABEL: func.func @main(
// CHECK-NOT: @main_4
// REMARK: cumsum{{.*}} does not keep the examples of a batch apart
func.func @main(%x: tensor<?x3x8xf32>) -> tensor<?x3x8xf32> {
  %rows = graph.constant dense<[-1, 8]> : tensor<2xi64>
  %apart = graph.constant dense<[3, -1, 8]> : tensor<3xi64>
  %zero = graph.constant dense<0> : tensor<i64>
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x3x8xf32>) -> tensor<3x?x8xf32>
  %1 = graph.reshape %0, %rows : (tensor<3x?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %2 = graph.cumsum %1, %zero : (tensor<?x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %3 = graph.reshape %2, %apart : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<3x?x8xf32>
  %4 = graph.transpose %3 {perm = array<i64: 1, 0, 2>} : (tensor<3x?x8xf32>) -> tensor<?x3x8xf32>
  return %4 : tensor<?x3x8xf32>
}

// -----

// What was one run of all examples is another one as three.

// CHECK-LABEL: func.func @main(
// CHECK-NOT: @main_4
// REMARK: reshape{{.*}} does not keep the examples of a batch apart
func.func @main(%x: tensor<?x3x8xf32>) -> tensor<?x3x8xf32> {
  %rows = graph.constant dense<[-1, 8]> : tensor<2xi64>
  %apart = graph.constant dense<[3, -1, 8]> : tensor<3xi64>
  %1 = graph.reshape %x, %rows : (tensor<?x3x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %2 = graph.relu %1 : tensor<?x8xf32>
  %3 = graph.reshape %2, %apart : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<3x?x8xf32>
  %4 = graph.transpose %3 {perm = array<i64: 1, 0, 2>} : (tensor<3x?x8xf32>) -> tensor<?x3x8xf32>
  return %4 : tensor<?x3x8xf32>
}

// -----

// Nor are pairs of examples apart, nor what was of others one place later.

// CHECK-LABEL: func.func @main(
// CHECK-NOT: @main_4
// REMARK: does not keep the examples of a batch apart
func.func @main(%x: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %rows = graph.constant dense<[-1, 16]> : tensor<2xi64>
  %apart = graph.constant dense<[4, -1, 8]> : tensor<3xi64>
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32>) -> tensor<4x?x8xf32>
  %1 = graph.reshape %0, %rows : (tensor<4x?x8xf32>, tensor<2xi64>) -> tensor<?x16xf32>
  %2 = graph.softmax %1 {axis = 1 : i64} : tensor<?x16xf32>
  %3 = graph.reshape %2, %apart : (tensor<?x16xf32>, tensor<3xi64>) -> tensor<4x?x8xf32>
  %4 = graph.transpose %3 {perm = array<i64: 1, 0, 2>} : (tensor<4x?x8xf32>) -> tensor<?x4x8xf32>
  return %4 : tensor<?x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK-NOT: @main_4
// REMARK: does not keep the examples of a batch apart
func.func @main(%x: tensor<?x3x8xf32>) -> tensor<?x3x8xf32> {
  %rows = graph.constant dense<[-1, 8]> : tensor<2xi64>
  %apart = graph.constant dense<[3, -1, 8]> : tensor<3xi64>
  %first = graph.constant dense<1> : tensor<1xi64>
  %last = graph.constant dense<9223372036854775807> : tensor<1xi64>
  %axis = graph.constant dense<0> : tensor<1xi64>
  %w = graph.constant dense<0.0> : tensor<1x8xf32>
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x3x8xf32>) -> tensor<3x?x8xf32>
  %1 = graph.reshape %0, %rows : (tensor<3x?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %2 = graph.slice %1, %first, %last, %axis, %first : (tensor<?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32>
  %3 = graph.concat %2, %w {axis = 0 : i64} : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
  %4 = graph.reshape %3, %apart : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<3x?x8xf32>
  %5 = graph.transpose %4 {perm = array<i64: 1, 0, 2>} : (tensor<3x?x8xf32>) -> tensor<?x3x8xf32>
  return %5 : tensor<?x3x8xf32>
}
