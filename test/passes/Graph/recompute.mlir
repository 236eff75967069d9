// RUN: dlc-opt %s --graph-recompute | FileCheck %s
// RUN: dlc-opt %s --graph-recompute --remarks-filter='graph-recompute' -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: dlc-opt %s --graph-recompute=budget=100000 | FileCheck %s --check-prefix=AMPLE
// RUN: dlc-opt %s --graph-recompute=budget=0 | FileCheck %s --check-prefix=LEAST
// A differentiated function keeps what is dear and computes again what is cheap,
// right in front of its reader; another one is left alone without a budget.

// Both tanh are made of products, which are kept; each is repeated once, and
// views of them are looked at again.
// COUNT: Nanoseconds={{.*}}, Operations=2, PeakBytes={{.*}}, PeakBytesBefore=
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32>, %[[W:.*]]: tensor<8x8xf32>, %[[G:.*]]: tensor<8x8xf32>
// AMPLE-LABEL: func.func @chain
// AMPLE-COUNT-2: graph.tanh
// AMPLE-NOT: graph.tanh
// LEAST-LABEL: func.func @chain
func.func @chain(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {graph.gradient} {
  %s = graph.constant dense<[64]> : tensor<1xi64>
  %square = graph.constant dense<[8, 8]> : tensor<2xi64>
  // CHECK: %[[A:.*]] = graph.matmul %[[X]], %[[W]]
  %a = graph.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: graph.tanh %[[A]]
  %t = graph.tanh %a : tensor<8x8xf32>
  %view = graph.reshape %t, %s : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<64xf32>
  // CHECK: %[[B:.*]] = graph.matmul
  %b = graph.matmul %t, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %u = graph.tanh %b : tensor<8x8xf32>
  %c = graph.matmul %u, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = graph.matmul %c, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: %[[E:.*]] = graph.matmul %{{.*}}, %[[G]]
  %e = graph.matmul %d, %g : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: %[[U:.*]] = graph.tanh %[[B]]
  // CHECK-NEXT: %[[F:.*]] = graph.mul %[[E]], %[[U]]
  %f = graph.mul %e, %u : tensor<8x8xf32>
  %f2 = graph.mul %f, %b : tensor<8x8xf32>
  // CHECK: %[[T:.*]] = graph.tanh %[[A]]
  // CHECK-NEXT: %[[V:.*]] = graph.reshape %[[T]]
  // CHECK-NEXT: graph.add %{{.*}}, %[[V]]
  %flat = graph.reshape %f2, %s : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<64xf32>
  %h = graph.add %flat, %view : tensor<64xf32>
  %i = graph.reshape %h, %square : (tensor<64xf32>, tensor<2xi64>) -> tensor<8x8xf32>
  %j = graph.mul %i, %a : tensor<8x8xf32>
  return %j : tensor<8x8xf32>
}

// AMPLE-LABEL: func.func @other
// CHECK-LABEL: func.func @other
// CHECK-COUNT-1: graph.tanh
// CHECK-NOT: graph.tanh
func.func @other(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = graph.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = graph.tanh %a : tensor<8x8xf32>
  %b = graph.matmul %t, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = graph.matmul %b, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = graph.mul %c, %t : tensor<8x8xf32>
  %e = graph.mul %d, %a : tensor<8x8xf32>
  return %e : tensor<8x8xf32>
}

// A copy between devices is no reason to keep what it copies: the value is made
// again where it was, and copied again.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32>, %{{.*}}: tensor<8x8xf32>
func.func @copies(%x: tensor<8x8xf32>, %w: tensor<8x8xf32> {graph.device = #dlc.device<cpu:1>}) -> tensor<8x8xf32> attributes {graph.gradient} {
  // CHECK: %[[A:.*]] = graph.matmul %[[X]], %[[X]]
  %a = graph.matmul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: graph.tanh %[[A]]
  // CHECK-NEXT: graph.copy
  %t = graph.tanh %a : tensor<8x8xf32>
  %c = graph.copy %t {device = #dlc.device<cpu:1>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = graph.matmul %c, %w {device = #dlc.device<cpu:1>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %u = graph.tanh %b {device = #dlc.device<cpu:1>} : tensor<8x8xf32>
  %d = graph.matmul %u, %w {device = #dlc.device<cpu:1>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = graph.matmul %d, %w {device = #dlc.device<cpu:1>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %f = graph.mul %e, %u {device = #dlc.device<cpu:1>} : tensor<8x8xf32>
  %f2 = graph.mul %f, %b {device = #dlc.device<cpu:1>} : tensor<8x8xf32>
  // CHECK: %[[T:.*]] = graph.tanh %[[A]]
  // CHECK-NEXT: %[[C:.*]] = graph.copy %[[T]] {device = #dlc.device<cpu:1>, graph.repeated = 0 : i64}
  // CHECK-NEXT: graph.add %{{.*}}, %[[C]]
  %g = graph.add %f2, %c {device = #dlc.device<cpu:1>} : tensor<8x8xf32>
  %v = graph.copy %a {device = #dlc.device<cpu:1>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %h = graph.mul %g, %v {device = #dlc.device<cpu:1>} : tensor<8x8xf32>
  return %h : tensor<8x8xf32>
}
