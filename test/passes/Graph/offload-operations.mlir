// RUN: dlc-opt %s --graph-offload-operations --split-input-file --verify-diagnostics | FileCheck %s
// RUN: dlc-opt %s --graph-offload-operations --graph-place-devices --graph-insert-copies --graph-verify=phase=placed --split-input-file 2>/dev/null | FileCheck %s --check-prefix=COPIES
// RUN: not dlc-opt %s --graph-offload-operations=device=gpu 2>&1 | FileCheck %s --check-prefix=DEVICE
// What a GPU has kernels for goes there, with a copy of what it reads from the
// host and of what it leaves to the caller; the rest stays, and that is said.

// DEVICE: expected a device like cuda:0, got 'gpu'

// CHECK-LABEL: func.func @part
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32> {graph.device = #dlc.device<cpu:0>}
// COPIES-LABEL: func.func @part
// COPIES-SAME: %[[X:.*]]: tensor<4x8xf32>
func.func @part(%x: tensor<4x8xf32>, %d: tensor<4x8xf64>) -> (tensor<8x4xf32>, tensor<4x8xf64>) {
  // CHECK: graph.exp {{.*}}cuda:0
  // COPIES: %[[XC:.*]] = graph.copy %[[X]] {device = #dlc.device<cuda:0>}
  // COPIES: %[[E:.*]] = graph.exp %[[XC]]
  %0 = graph.exp %x : tensor<4x8xf32>
  %shape = graph.constant dense<[8, 4]> : tensor<2xi64>
  // A view is where its value is.
  // CHECK: graph.reshape
  // CHECK-NOT: device
  // CHECK-SAME: tensor<8x4xf32>
  // COPIES: %[[R:.*]] = graph.reshape %[[E]], {{.*}}cuda:0
  %1 = graph.reshape %0, %shape : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  // COPIES: %[[T:.*]] = graph.tanh %[[R]] {{.*}}cuda:0
  // COPIES: %[[TC:.*]] = graph.copy %[[T]] {device = #dlc.device<cpu:0>}
  %2 = graph.tanh %1 : tensor<8x4xf32>
  // CHECK: graph.exp {{.*}}cpu:0
  // expected-warning @+1 {{exp runs on cpu:0 and not on cuda:0: a GPU has no exp of f64, as does 1 other}}
  %3 = graph.exp %d : tensor<4x8xf64>
  %4 = graph.exp %3 : tensor<4x8xf64>
  // COPIES: return %[[TC]], %{{.*}}
  return %2, %4 : tensor<8x4xf32>, tensor<4x8xf64>
}

// -----

// One warning for each reason, with how many there are.
// CHECK-LABEL: func.func @several
func.func @several(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  // expected-warning @+1 {{exp runs on cpu:0 and not on cuda:0: a GPU has no exp of f64, as do 2 others}}
  %0 = graph.exp %x : tensor<4xf64>
  %1 = graph.exp %0 : tensor<4xf64>
  %2 = graph.exp %1 : tensor<4xf64>
  // expected-warning-re @+1 {{tanh runs on cpu:0 and not on cuda:0: a GPU has no tanh of f64{{$}}}}
  %3 = graph.tanh %x : tensor<4xf64>
  return %2, %3 : tensor<4xf64>, tensor<4xf64>
}

// -----

// Who asks for a device has it.
// CHECK-LABEL: func.func @asked
func.func @asked(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.exp {{.*}}null:1
  %0 = graph.exp %x {device = #dlc.device<null:1>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Weights are no parameters, of whichever type.
// CHECK-LABEL: func.func @product_of_integers
func.func @product_of_integers(%a: tensor<4x3xi64>) -> tensor<4x2xi64> {
  // CHECK: graph.matmul {{.*}}cuda:0
  %w = graph.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %0 = graph.matmul %a, %w : (tensor<4x3xi64>, tensor<3x2xi64>) -> tensor<4x2xi64>
  return %0 : tensor<4x2xi64>
}
