// RUN: dlc-opt %s --pass-pipeline='builtin.module(convert-graph-to-plan,plan.program(plan-schedule-launches,plan-pack-arenas,plan-verify))' -o /dev/null
// RUN: dlc-opt %s --convert-graph-to-plan | FileCheck %s
// Results that update an argument are written over it, after all that reads it.

kernel.library @k "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
kernel.library @add "reference.add" {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
kernel.library @step "cpu.step" {} inPlace([0, 0]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// The launch that works in place goes behind the other reader.
// CHECK-LABEL: plan.program @in_place
func.func @in_place(%w: tensor<4xf32> {graph.name = "w"}, %g: tensor<4xf32>) -> (tensor<4xf32> {graph.updates = "w"}, tensor<4xf32>) {
  // CHECK: %[[W:.*]] = plan.input 0 "w"
  // CHECK: %[[N:.*]] = plan.output 0 "output0" updates(0)
  // CHECK: %[[Y:.*]] = plan.output 1
  // CHECK-NOT: plan.buffer
  // CHECK: plan.launch @k reads(%[[W]] {{.*}} writes(%[[Y]] :
  // CHECK-NEXT: plan.launch @step reads(%[[W]], {{.*}} writes(%[[N]] :
  // CHECK-NEXT: }
  %0 = kernel.call @step(%w, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = kernel.call @k(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A kernel that may not write where it reads writes elsewhere first.
// CHECK-LABEL: plan.program @not_in_place
func.func @not_in_place(%w: tensor<4xf32> {graph.name = "w"}) -> (tensor<4xf32> {graph.updates = "w"}) {
  // CHECK: %[[N:.*]] = plan.output 0 "output0" updates(0)
  // CHECK: %[[T:.*]] = plan.buffer
  // CHECK: plan.launch @k {{.*}} writes(%[[T]] :
  // CHECK-NEXT: plan.launch @copy reads(%[[T]] {{.*}} writes(%[[N]] :
  %0 = kernel.call @k(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// It reads the argument twice, of which one is in place only.
// CHECK-LABEL: plan.program @twice
func.func @twice(%w: tensor<4xf32> {graph.name = "w"}) -> (tensor<4xf32> {graph.updates = "w"}) {
  // CHECK: %[[T:.*]] = plan.buffer
  // CHECK: plan.launch @step {{.*}} writes(%[[T]] :
  %0 = kernel.call @step(%w, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Each of the two would have to come before the other: the second is held back.
// CHECK-LABEL: plan.program @circle
func.func @circle(%a: tensor<4xf32> {graph.name = "a"}, %b: tensor<4xf32> {graph.name = "b"})
    -> (tensor<4xf32> {graph.updates = "a"}, tensor<4xf32> {graph.updates = "b"}) {
  // CHECK: %[[A:.*]] = plan.output 0 "output0" updates(0)
  // CHECK: %[[B:.*]] = plan.output 1 "output1" updates(1)
  // CHECK: %[[T:.*]] = plan.buffer
  // CHECK: plan.launch @step {{.*}} writes(%[[T]] :
  // CHECK-NEXT: plan.launch @step {{.*}} writes(%[[A]] :
  // CHECK-NEXT: plan.launch @copy reads(%[[T]] {{.*}} writes(%[[B]] :
  %0 = kernel.call @step(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = kernel.call @step(%b, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Arguments trade places: both are read before one is written.
// CHECK-LABEL: plan.program @swap
func.func @swap(%a: tensor<4xf32> {graph.name = "a"}, %b: tensor<4xf32> {graph.name = "b"})
    -> (tensor<4xf32> {graph.updates = "a"}, tensor<4xf32> {graph.updates = "b"}) {
  // CHECK: %[[A:.*]] = plan.input 0 "a"
  // CHECK: %[[B:.*]] = plan.input 1 "b"
  // CHECK: plan.launch @copy reads(%[[B]] {{.*}} writes(%[[T:.*]] : memref<4xf32>)
  // CHECK: plan.launch @copy reads(%[[A]] {{.*}} writes(%[[S:.*]] : memref<4xf32>)
  // CHECK-DAG: plan.launch @copy reads(%[[T]] {{.*}}
  // CHECK-DAG: plan.launch @copy reads(%[[S]] {{.*}}
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// Nothing moves where nothing changes.
// CHECK-LABEL: plan.program @same
func.func @same(%a: tensor<4xf32> {graph.name = "a"}) -> (tensor<4xf32> {graph.updates = "a"}) {
  // CHECK: %[[A:.*]] = plan.input 0 "a"
  // CHECK: %[[N:.*]] = plan.output 0 "output0" updates(0)
  // CHECK-NEXT: plan.launch @copy reads(%[[A]] {{.*}} writes(%[[N]] :
  return %a : tensor<4xf32>
}
