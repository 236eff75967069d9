// RUN: dlc-opt %s --graph-place-devices | FileCheck %s
// RUN: not dlc-opt %s --graph-place-devices="groups=head=cpu" 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not dlc-opt %s --graph-place-devices="groups=cuda:0" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: dlc-opt %s --graph-place-devices="groups=head=cuda:1 only-groups" | FileCheck %s --check-prefix=ONLY
// RUN: not dlc-opt %s --graph-place-devices="groups=head=cpu:1,head=cpu:2" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: dlc-opt %s --graph-place-devices="groups=head=cpu:0" | FileCheck %s
// Groups are on cpu:0 when none is given a device.
// What is no device is refused.

// TEXT: error: expected the device of a group like head=cpu:1, of kind cpu, cuda or null, got 'head=cpu'
// NAME: error: expected the device of a group like head=cpu:1, of kind cpu, cuda or null, got 'cuda:0'
// TWICE: error: expected one device of group 'head', got two

// CHECK-LABEL: func.func @f
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.exp %{{.*}} {device = #dlc.device<cpu:0>, graph.group = "head"} : tensor<4xf32>
  %0 = graph.exp %x {graph.group = "head"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Arguments are in the memory of the host; what is in no group waits for others.
// ONLY-LABEL: func.func @f
// ONLY-SAME: tensor<4xf32> {graph.device = #dlc.device<cpu:0>, graph.group = "head"}
// ONLY: graph.exp %{{.*}} {device = #dlc.device<cuda:1>, graph.group = "head"} : tensor<4xf32>
// ONLY-LABEL: func.func @g
// ONLY-SAME: %arg0: tensor<4xf32>, %arg1: tensor<4xf32> {
// ONLY-NEXT: graph.exp %arg0 : tensor<4xf32>
// ONLY-NEXT: graph.tanh %arg1 {device = #dlc.device<cuda:1>
func.func @g(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.exp %x : tensor<4xf32>
  %1 = graph.tanh %y {graph.group = "head"} : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
