// RUN: dlc-opt %s --graph-place-devices="groups=head=cpu:1,tail=null:2" --split-input-file --verify-diagnostics | FileCheck %s
// RUN: not dlc-opt %s --graph-place-devices="groups=head=cpu:1,tail=null:2" --graph-place-devices --split-input-file 2>/dev/null | FileCheck %s
// Operations are where they ask to be, others with their relatives, and a
// second run changes nothing.

// Without a word on devices there is none.
// CHECK-LABEL: func.func @nothing
// expected-warning @+2 {{no operation is in group 'head'}}
// expected-warning @+1 {{no operation is in group 'tail'}}
func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.exp %{{.*}} : tensor<4xf32>
  %0 = graph.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Arguments and the operations in front follow their user, those behind their
// operand, in its group; a device counts more than a group.
// CHECK-LABEL: func.func @propagate
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {graph.device = #dlc.device<cpu:1>, graph.group = "head", graph.name = "x"}
func.func @propagate(%x: tensor<4xf32> {graph.name = "x"}) -> tensor<4xf32> {
  // CHECK: graph.exp %[[X]] {device = #dlc.device<cpu:1>, graph.group = "head"} : tensor<4xf32>
  %0 = graph.exp %x : tensor<4xf32>
  // CHECK-NEXT: graph.tanh %{{.*}} {device = #dlc.device<cpu:1>, graph.group = "head"} : tensor<4xf32>
  %1 = graph.tanh %0 {graph.group = "head"} : tensor<4xf32>
  // CHECK-NEXT: graph.relu %{{.*}} {device = #dlc.device<cpu:1>, graph.group = "head"} : tensor<4xf32>
  %2 = graph.relu %1 : tensor<4xf32>
  // CHECK-NEXT: graph.abs %{{.*}} {device = #dlc.device<null:2>, graph.group = "tail"} : tensor<4xf32>
  %3 = graph.abs %2 {graph.group = "tail"} : tensor<4xf32>
  // CHECK-NEXT: graph.neg %{{.*}} {device = #dlc.device<cpu:0>, graph.group = "tail"} : tensor<4xf32>
  %4 = graph.neg %3 {device = #dlc.device<cpu:0>, graph.group = "tail"} : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// A constant says nothing about its users and is with the first of them; an
// argument that asks for a device is there.
// CHECK-LABEL: func.func @constants
// CHECK-SAME: graph.device = #dlc.device<null:2>
// expected-warning @+1 {{no operation is in group 'tail'}}
func.func @constants(%x: tensor<4xf32> {graph.device = #dlc.device<null:2>}, %y: tensor<4xf32> {graph.group = "head"}) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: graph.constant {device = #dlc.device<null:2>}
  %c = graph.constant dense<2.0> : tensor<4xf32>
  // CHECK-NEXT: graph.mul {{.*}} {device = #dlc.device<null:2>}
  %0 = graph.mul %c, %x : tensor<4xf32>
  // CHECK-NEXT: graph.mul {{.*}} {device = #dlc.device<cpu:1>, graph.group = "head"}
  %1 = graph.mul %c, %y : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// An argument that nobody places is where its new value is made; one that is
// placed stays.
// CHECK-LABEL: func.func @updates
// CHECK-SAME: {graph.device = #dlc.device<cpu:1>, graph.group = "head", graph.name = "w"}
// CHECK-SAME: {graph.device = #dlc.device<null:2>, graph.name = "s"}
func.func @updates(%w: tensor<4xf32> {graph.name = "w"}, %s: tensor<4xf32> {graph.device = #dlc.device<null:2>, graph.name = "s"}, %g: tensor<4xf32> {graph.group = "head"}, %t: tensor<4xf32> {graph.group = "tail"})
    -> (tensor<4xf32> {graph.updates = "w"}, tensor<4xf32> {graph.updates = "s"}) {
  // CHECK: graph.exp %{{.*}} {device = #dlc.device<cpu:1>, graph.group = "head"}
  %0 = graph.exp %g : tensor<4xf32>
  // CHECK-NEXT: graph.neg %{{.*}} {device = #dlc.device<null:2>, graph.group = "tail"}
  %1 = graph.neg %t : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @unknown_group(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a device of group 'other', got those of head, tail}}
  %0 = graph.exp %x {graph.group = "other"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
