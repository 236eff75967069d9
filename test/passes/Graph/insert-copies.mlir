// RUN: dlc-opt %s --graph-insert-copies | FileCheck %s
// RUN: dlc-opt %s --graph-insert-copies --graph-verify=phase=placed -o /dev/null
// RUN: dlc-opt %s --graph-insert-copies --graph-insert-copies | FileCheck %s
// RUN: dlc-opt %s --graph-insert-copies --remarks-filter='graph-insert-.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// One copy for each value and device, none that is not used; a constant is
// written down again instead. A second run inserts nothing.

// COUNT: Constants=0, Copies=2
// COUNT: Constants=1, Copies=0
// COUNT: Constants=0, Copies=0
// COUNT: Constants=0, Copies=1

// Four uses on cpu:1 share one copy; what is returned stays.
// CHECK-LABEL: func.func @once
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @once(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[XC:.*]] = graph.copy %[[X]] {device = #dlc.device<cpu:1>}
  // CHECK-NEXT: %[[E:.*]] = graph.exp %[[X]] : tensor<4xf32>
  // CHECK-NEXT: %[[EC:.*]] = graph.copy %[[E]] {device = #dlc.device<cpu:1>}
  %0 = graph.exp %x : tensor<4xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.mul %[[EC]], %[[EC]] {device = #dlc.device<cpu:1>}
  %1 = graph.mul %0, %0 {device = #dlc.device<cpu:1>} : tensor<4xf32>
  // CHECK-NEXT: graph.add %[[M]], %[[EC]] {device = #dlc.device<cpu:1>}
  %2 = graph.add %1, %0 {device = #dlc.device<cpu:1>} : tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.sub %{{.*}}, %[[XC]] {device = #dlc.device<cpu:1>}
  %3 = graph.sub %2, %x {device = #dlc.device<cpu:1>} : tensor<4xf32>
  // CHECK-NEXT: %[[N:.*]] = graph.neg %[[E]] : tensor<4xf32>
  %4 = graph.neg %0 : tensor<4xf32>
  // CHECK-NEXT: return %[[E]], %[[S]], %[[N]]
  return %0, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @constant
func.func @constant(%x: tensor<4xf32> {graph.device = #dlc.device<cpu:1>}, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[C0:.*]] = graph.constant dense
  // CHECK-NEXT: %[[C1:.*]] = graph.constant {device = #dlc.device<cpu:1>} dense
  // CHECK-NOT: graph.copy
  %c = graph.constant dense<2.0> : tensor<4xf32>
  // CHECK: graph.mul %{{.*}}, %[[C1]]
  %0 = graph.mul %x, %c {device = #dlc.device<cpu:1>} : tensor<4xf32>
  // CHECK: graph.mul %{{.*}}, %[[C0]]
  %1 = graph.mul %y, %c : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @one_device
func.func @one_device(%x: tensor<4xf32> {graph.device = #dlc.device<cpu:1>}) -> tensor<4xf32> {
  // CHECK-NOT: graph.copy
  %0 = graph.exp %x {device = #dlc.device<cpu:1>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What updates an argument is written where that is, and returned from there;
// the other result stays.
// CHECK-LABEL: func.func @updates
func.func @updates(%w: tensor<4xf32> {graph.device = #dlc.device<cpu:1>, graph.name = "w"}, %x: tensor<4xf32>)
    -> (tensor<4xf32> {graph.updates = "w"}, tensor<4xf32>) {
  // CHECK: %[[E:.*]] = graph.exp
  // CHECK-NEXT: %[[C:.*]] = graph.copy %[[E]] {device = #dlc.device<cpu:1>}
  // CHECK-NEXT: return %[[C]], %[[E]]
  %0 = graph.exp %x : tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// Between devices with memory of their own a value goes directly, once to each;
// what is returned goes to the host.
// CHECK-LABEL: func.func @three_gpus
func.func @three_gpus(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[X0:.*]] = graph.copy %{{.*}} {device = #dlc.device<cuda:0>}
  // CHECK: %[[E:.*]] = graph.exp %[[X0]] {device = #dlc.device<cuda:0>}
  // CHECK-DAG: %[[E1:.*]] = graph.copy %[[E]] {device = #dlc.device<cuda:1>}
  // CHECK-DAG: %[[E2:.*]] = graph.copy %[[E]] {device = #dlc.device<cuda:2>}
  %0 = graph.exp %x {device = #dlc.device<cuda:0>} : tensor<4xf32>
  // CHECK: %[[T:.*]] = graph.tanh %[[E1]] {device = #dlc.device<cuda:1>}
  %1 = graph.tanh %0 {device = #dlc.device<cuda:1>} : tensor<4xf32>
  // CHECK-NEXT: %[[T2:.*]] = graph.copy %[[T]] {device = #dlc.device<cuda:2>}
  // CHECK-NEXT: %[[M:.*]] = graph.mul %[[E2]], %[[T2]] {device = #dlc.device<cuda:2>}
  // CHECK-NEXT: graph.copy %[[M]] {device = #dlc.device<cpu:0>}
  %2 = graph.mul %0, %1 {device = #dlc.device<cuda:2>} : tensor<4xf32>
  return %2 : tensor<4xf32>
}
