// RUN: dlc-opt %s --graph-merge-products --split-input-file | FileCheck %s
// Small products of one matrix with constant ones are one product.

// CHECK-LABEL: func.func @biased
// CHECK-SAME: %[[X:.*]]: tensor<2x2xf32>
func.func @biased(%x: tensor<2x2xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>) {
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}1.0{{.*}}, 3.0{{.*}}, 4.0{{.*}}], [2.0{{.*}}, 5.0{{.*}}, 6.0{{.*}}]]> : tensor<2x3xf32>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<[7.0{{.*}}, 8.0{{.*}}, 9.0{{.*}}]> : tensor<3xf32>
  %u = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %v = graph.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32>
  %a = graph.constant dense<[7.0]> : tensor<1xf32>
  %b = graph.constant dense<[8.0, 9.0]> : tensor<2xf32>
  // CHECK: %[[M:.*]] = graph.matmul %[[X]], %[[W]] {device = #dlc.device<cuda:0>}
  // CHECK: %[[S:.*]] = graph.add %[[M]], %[[B]] {device = #dlc.device<cuda:0>}
  // CHECK: %[[P:.*]] = graph.slice %[[S]], {{.*}} -> tensor<2x1xf32>
  // CHECK: %[[Q:.*]] = graph.slice %[[S]], {{.*}} -> tensor<2x2xf32>
  %0 = graph.matmul %x, %u {device = #dlc.device<cuda:0>} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %1 = graph.add %0, %a {device = #dlc.device<cuda:0>} : (tensor<2x1xf32>, tensor<1xf32>) -> tensor<2x1xf32>
  %2 = graph.matmul %x, %v {device = #dlc.device<cuda:0>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = graph.add %b, %2 {device = #dlc.device<cuda:0>} : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: return %[[P]], %[[Q]]
  return %1, %3 : tensor<2x1xf32>, tensor<2x2xf32>
}

// -----

// One has no bias: both are added behind.
// CHECK-LABEL: func.func @plain
// CHECK: graph.matmul
// CHECK-NOT: graph.matmul
// CHECK: graph.slice
// CHECK: graph.slice
// CHECK: graph.add
func.func @plain(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %u = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %v = graph.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32>
  %b = graph.constant dense<[8.0, 9.0]> : tensor<2xf32>
  %0 = graph.matmul %x, %u : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = graph.matmul %x, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = graph.add %1, %b : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %0, %2 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// Of several devices, of matrices that are data, or with results enough.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-6: graph.matmul
// CHECK-NOT: graph.slice
func.func @apart(%x: tensor<2x2xf32>, %d: tensor<2x2xf32>, %l: tensor<4096x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<4096x65xf32>, tensor<4096x65xf32>) {
  %u = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %w = graph.constant dense<1.0> : tensor<2x65xf32>
  %0 = graph.matmul %x, %u {device = #dlc.device<cuda:0>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = graph.matmul %x, %u {device = #dlc.device<cpu:0>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = graph.matmul %x, %d {device = #dlc.device<cuda:0>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = graph.matmul %d, %u {device = #dlc.device<cuda:0>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = graph.matmul %l, %w : (tensor<4096x2xf32>, tensor<2x65xf32>) -> tensor<4096x65xf32>
  %5 = graph.matmul %l, %w : (tensor<4096x2xf32>, tensor<2x65xf32>) -> tensor<4096x65xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<4096x65xf32>, tensor<4096x65xf32>
}

// -----

// Those that ask for the same, whichever comes first; what is added elsewhere
// stays behind.
// CHECK-LABEL: func.func @mixed
// CHECK-SAME: %[[X:.*]]: tensor<2x2xf32>
func.func @mixed(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %u = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = graph.constant dense<[8.0, 9.0]> : tensor<2xf32>
  // CHECK: graph.matmul %[[X]], %{{.*}} {device = #dlc.device<cpu:0>} : (tensor<2x2xf32>, tensor<2x2xf32>)
  // CHECK: graph.matmul %[[X]], %{{.*}} {device = #dlc.device<cuda:0>} : (tensor<2x2xf32>, tensor<2x4xf32>)
  // CHECK: %[[S:.*]] = graph.slice
  // CHECK: %[[T:.*]] = graph.slice
  // CHECK: graph.add %[[S]], %{{.*}} {device = #dlc.device<cpu:0>}
  // CHECK: graph.add %[[T]], %{{.*}} {device = #dlc.device<cpu:0>}
  %0 = graph.matmul %x, %u {device = #dlc.device<cpu:0>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = graph.matmul %x, %u {device = #dlc.device<cuda:0>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = graph.matmul %x, %u {device = #dlc.device<cuda:0>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = graph.add %1, %b {device = #dlc.device<cpu:0>} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %4 = graph.add %2, %b {device = #dlc.device<cpu:0>} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %0, %3, %4 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
