// RUN: dlc-opt %s --graph-offload-operations --split-input-file --verify-diagnostics | FileCheck %s
// RUN: dlc-opt %s --graph-offload-operations --graph-place-devices --graph-insert-copies --graph-verify=phase=placed --split-input-file 2>/dev/null | FileCheck %s --check-prefix=COPIES
// RUN: dlc-opt %s --graph-offload-operations=groups=a=cuda:1 --split-input-file 2>/dev/null | FileCheck %s --check-prefix=GROUPS
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

// -----

// What has no form as a whole is put there in its parts, if all have one.
// CHECK-LABEL: func.func @steps
func.func @steps(%x: tensor<2x3x4xf32>, %w: tensor<1x5x4xf32>, %r: tensor<1x5x5xf32>, %d: tensor<2x3x4xf64>, %v: tensor<1x5x4xf64>, %u: tensor<1x5x5xf64>) -> (tensor<1x3x5xf32>, tensor<1x3x5xf64>) {
  %none = graph.none : none
  // CHECK-NOT: f32>, none
  // CHECK: graph.matmul {{.*}}cuda:0
  // CHECK: graph.tanh {{.*}}cuda:0
  // CHECK: graph.tanh {{.*}}cuda:0
  %y, %h = graph.rnn %x, %w, %r, %none, %none, %none {hidden_size = 5 : i64} : (tensor<2x3x4xf32>, tensor<1x5x4xf32>, tensor<1x5x5xf32>, none, none, none) -> (tensor<2x1x3x5xf32>, tensor<1x3x5xf32>)
  // CHECK: graph.rnn {{.*}}cpu:0
  // CHECK-NOT: graph.{{matmul|tanh}}
  // CHECK: return
  // expected-warning @+1 {{rnn runs on cpu:0 and not on cuda:0: its tanh: a GPU has no tanh of f64}}
  %z, %g = graph.rnn %d, %v, %u, %none, %none, %none {hidden_size = 5 : i64} : (tensor<2x3x4xf64>, tensor<1x5x4xf64>, tensor<1x5x5xf64>, none, none, none) -> (tensor<2x1x3x5xf64>, tensor<1x3x5xf64>)
  return %h, %g : tensor<1x3x5xf32>, tensor<1x3x5xf64>
}

// -----

// In a group, too, on the device of the group; checks of indices are the host's.
// GROUPS-LABEL: func.func @group
func.func @group(%t: tensor<8x4xf32>, %i: tensor<2x3xi64>, %w: tensor<1x5x4xf32>, %r: tensor<1x5x5xf32>) -> tensor<1x3x5xf32> {
  %none = graph.none : none
  %0 = graph.resolve_indices %i {extents = array<i64: 8>, graph.group = "a"} : (tensor<2x3xi64>) -> tensor<2x3xi64>
  // GROUPS: graph.resolve_indices {{.*}}cpu:0
  // GROUPS: graph.gather {{.*}}cuda:1>, graph.group = "a"
  %1 = graph.gather %t, %0 {in_bounds = true, graph.group = "a"} : (tensor<8x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  // GROUPS-NOT: graph.rnn
  // GROUPS: graph.tanh {{.*}}cuda:1>, graph.group = "a"
  %y, %h = graph.rnn %1, %w, %r, %none, %none, %none {hidden_size = 5 : i64, graph.group = "a"} : (tensor<2x3x4xf32>, tensor<1x5x4xf32>, tensor<1x5x5xf32>, none, none, none) -> (tensor<2x1x3x5xf32>, tensor<1x3x5xf32>)
  return %h : tensor<1x3x5xf32>
}

// -----

// So many steps are not worth having one by one.
func.func @long(%x: tensor<4000x1x4xf32>, %w: tensor<1x5x4xf32>, %r: tensor<1x5x5xf32>) -> tensor<1x1x5xf32> {
  %none = graph.none : none
  // expected-warning @+1 {{rnn runs on cpu:0 and not on cuda:0: it is made of more than 16384 operations}}
  %y, %h = graph.rnn %x, %w, %r, %none, %none, %none {hidden_size = 5 : i64} : (tensor<4000x1x4xf32>, tensor<1x5x4xf32>, tensor<1x5x5xf32>, none, none, none) -> (tensor<4000x1x1x5xf32>, tensor<1x1x5xf32>)
  return %h : tensor<1x1x5xf32>
}

// -----

// Results of more steps than a kernel joins are joined some at a time.
// CHECK-LABEL: func.func @hundred
func.func @hundred(%x: tensor<100x1x4xf32>, %w: tensor<1x5x4xf32>, %r: tensor<1x5x5xf32>) -> tensor<100x1x1x5xf32> {
  %none = graph.none : none
  // CHECK: graph.concat {{.*}}cuda:0{{.*}} -> tensor<64x1x1x5xf32>
  // CHECK: graph.concat {{.*}}cuda:0{{.*}} -> tensor<36x1x1x5xf32>
  // CHECK: graph.concat {{.*}}cuda:0{{.*}} -> tensor<100x1x1x5xf32>
  %y, %h = graph.rnn %x, %w, %r, %none, %none, %none {hidden_size = 5 : i64} : (tensor<100x1x4xf32>, tensor<1x5x4xf32>, tensor<1x5x5xf32>, none, none, none) -> (tensor<100x1x1x5xf32>, tensor<1x1x5xf32>)
  return %y : tensor<100x1x1x5xf32>
}
