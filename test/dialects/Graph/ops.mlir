// RUN: dlc-opt %s --verify-roundtrip | FileCheck %s
// The forms operations print in. That every operation parses is tested from the
// examples of their descriptions (test/lint/op-examples.mlir).

// One type when all are equal, a function type otherwise.
// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<8x16xf32>, %v: tensor<16xf32>, %c: tensor<8x16xi1>) {
  // CHECK: graph.relu %{{.*}} : tensor<8x16xf32>
  %0 = graph.relu %x : tensor<8x16xf32>
  // CHECK: graph.add %{{.*}}, %{{.*}} : tensor<8x16xf32>
  %1 = graph.add %x, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  // CHECK: graph.add %{{.*}}, %{{.*}} : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %2 = graph.add %x, %v : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  // CHECK: graph.select %{{.*}} : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = graph.select %c, %1, %2 : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// Attributes of their default value are left out; others stay, also those that
// are not the operation's own.
// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: tensor<8x16xf32>) {
  // CHECK: graph.elu %{{[a-z0-9]*}} : tensor<8x16xf32>
  %0 = graph.elu %x {alpha = 1.0 : f32} : tensor<8x16xf32>
  // CHECK: graph.elu %{{.*}} {alpha = 5.000000e-01 : f32, device = #dlc.device<cuda:0>} : tensor<8x16xf32>
  %1 = graph.elu %x {alpha = 0.5 : f32, device = #dlc.device<cuda:0>} : tensor<8x16xf32>
  // CHECK: graph.gelu %{{[a-z0-9]*}} {approximate = "tanh"}
  %2 = graph.gelu %x {approximate = "tanh"} : tensor<8x16xf32>
  return
}

// Short integer constants are called what they are.
// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK: %i1_m3_224 = graph.constant dense<[1, -3, 224]> : tensor<3xi64>
  %0 = graph.constant dense<[1, -3, 224]> : tensor<3xi64>
  // CHECK: %i7 = graph.constant dense<7> : tensor<i32>
  %1 = graph.constant dense<7> : tensor<i32>
  // CHECK: %c = graph.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi64>
  %2 = graph.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi64>
  // CHECK: graph.constant dense<1.000000e+00> : tensor<2xf32>
  %3 = graph.constant dense<1.0> : tensor<2xf32>
  // CHECK: graph.constant dense_resource<weights> : tensor<2xf32>
  %4 = graph.constant dense_resource<weights> : tensor<2xf32>
  // CHECK: %none = graph.none : none
  %5 = graph.none : none
  // CHECK: graph.constant dense<255> : tensor<2xui8>
  %6 = graph.constant dense<255> : tensor<2xui8>
  return
}

// Where operations and arguments are.
// CHECK-LABEL: func.func @places
// CHECK-SAME: {graph.device = #dlc.device<cpu:1>, graph.group = "head"}
func.func @places(%x: tensor<4xf32> {graph.device = #dlc.device<cpu:1>, graph.group = "head"}) attributes {graph.gradient} {
  // CHECK: graph.copy %{{.*}} {device = #dlc.device<cpu:0>} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.copy %x {device = #dlc.device<cpu:0>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.exp %{{.*}} {graph.group = "head", graph.recompute} : tensor<4xf32>
  %1 = graph.exp %x {graph.group = "head", graph.recompute} : tensor<4xf32>
  return
}

// Unknown dimensions and ranks.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %{{.*}}: tensor<?x16xf32> {graph.dims = ["batch", ""], graph.name = "data"}
func.func @dynamic(%x: tensor<?x16xf32> {graph.name = "data", graph.dims = ["batch", ""]}, %s: tensor<2xi64>)
    -> (tensor<*xf32> {graph.name = "out"}) {
  // CHECK: graph.reshape %{{.*}} : (tensor<?x16xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %0 = graph.reshape %x, %s : (tensor<?x16xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: graph.relu %{{.*}} : (tensor<?x?xf32>) -> tensor<*xf32>
  %1 = graph.relu %0 : (tensor<?x?xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

{-#
  dialect_resources: { builtin: { weights: "0x040000000000803f00000040" } }
#-}
