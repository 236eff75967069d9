// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// Every operation of the Kernel dialect prints as it parses.

// CHECK-LABEL: kernel.func @first(%{{.*}}: tensor<4xf32> {kernel.constant}) -> tensor<4xf32> attributes {inPlace = array<i64: 0, 0>}
kernel.func @first(%x: tensor<4xf32> {kernel.constant}) -> tensor<4xf32> attributes {inPlace = array<i64: 0, 0>} {
  // CHECK: kernel.return %{{.*}} : tensor<4xf32>
  kernel.return %x : tensor<4xf32>
}

// CHECK-LABEL: kernel.func @second(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>) attributes {outputs = 1 : i64}
kernel.func @second(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  // CHECK: kernel.return
  kernel.return
}

// CHECK-LABEL: kernel.func @any(%{{.*}}: tensor<*xf32>) -> tensor<*xf32>
kernel.func @any(%x: tensor<*xf32>) -> tensor<*xf32> {
  kernel.return %x : tensor<*xf32>
}

// CHECK-LABEL: kernel.func @any_second(%{{.*}}: memref<256xf32>, %{{.*}}: memref<256xf32>) attributes {anyShape = 64 : i64, outputs = 1 : i64}
kernel.func @any_second(%x: memref<256xf32>, %y: memref<256xf32>) attributes {anyShape = 64 : i64, outputs = 1 : i64} {
  kernel.return
}

// CHECK-LABEL: kernel.func @any_epilogue(%{{.*}}: tensor<*xf32>) -> tensor<*xf32> attributes {epilogue = {activation = "relu"}}
kernel.func @any_epilogue(%x: tensor<*xf32>) -> tensor<*xf32> attributes {epilogue = {activation = "relu"}} {
  kernel.return %x : tensor<*xf32>
}

// CHECK-LABEL: kernel.func @any_rounding
// CHECK-SAME: attributes {epilogue = {activation = "requantize", multiplier = 5.000000e-01 : f32, zero_point = 3 : i64}}
kernel.func @any_rounding(%x: tensor<*xi32>, %o: tensor<*xf32>) -> tensor<*xui8> attributes {epilogue = {activation = "requantize", multiplier = 0.5 : f32, zero_point = 3 : i64}} {
  %m = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %0 = graph.requantize %x, %m, %o, %z : (tensor<*xi32>, tensor<f32>, tensor<*xf32>, tensor<ui8>) -> tensor<*xui8>
  kernel.return %0 : tensor<*xui8>
}

// CHECK: kernel.library @third "cpu.conv" {group = 1 : i64} workspace(64) inPlace([0, 0]) note("because") : (tensor<4xf32>) -> tensor<4xf32>
kernel.library @third "cpu.conv" {group = 1 : i64} workspace(64) inPlace([0, 0]) note("because") : (tensor<4xf32>) -> tensor<4xf32>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: kernel.call @first(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = kernel.call @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: kernel.call @second
  %1 = kernel.call @second(%0) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: kernel.call @third
  %2 = kernel.call @third(%1) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: kernel.call @any(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = kernel.call @any(%2) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: kernel.call @any_second(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = kernel.call @any_second(%3) : (tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
