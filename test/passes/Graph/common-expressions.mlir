// RUN: dlc-opt %s --cse | FileCheck %s
// Operations are pure, so that of equal ones one stays; what draws random
// numbers says by its stream whether it draws the same.

// CHECK-LABEL: func.func @equal
func.func @equal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[E:.*]] = graph.exp %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[E]], %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: %[[P:.*]] = graph.mul %[[S]], %[[S]] : tensor<4xf32>
  // CHECK-NEXT: return %[[P]]
  %0 = graph.exp %x : tensor<4xf32>
  %1 = graph.exp %x : tensor<4xf32>
  %2 = graph.add %0, %y : tensor<4xf32>
  %3 = graph.add %1, %y : tensor<4xf32>
  %4 = graph.mul %2, %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: graph.softmax {{.*}} {axis = 0 : i64}
  // CHECK: graph.softmax {{.*}} {axis = 1 : i64}
  %0 = graph.softmax %x {axis = 0 : i64} : tensor<2x3xf32>
  %1 = graph.softmax %x {axis = 1 : i64} : tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @random
func.func @random(%s: tensor<2xi64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[U:.*]] = graph.random_uniform
  // CHECK: %[[V:.*]] = graph.random_uniform {{.*}} {stream = 1 : i64}
  // CHECK: return %[[U]], %[[U]], %[[V]]
  %i = graph.constant dense<4> : tensor<1xi64>
  %0 = graph.random_uniform %s, %i {stream = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<4xf32>
  %1 = graph.random_uniform %s, %i {stream = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<4xf32>
  %2 = graph.random_uniform %s, %i {stream = 1 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
