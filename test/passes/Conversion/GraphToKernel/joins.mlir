// RUN: dlc-opt %s --convert-graph-to-kernel | FileCheck %s
// What joins its operands is no kernel where they can be made in its memory.

// CHECK-LABEL: func.func @parts
// CHECK: %[[A:.*]] = kernel.call @k.relu(
// CHECK: %[[B:.*]] = kernel.call @k.exp(
// CHECK: %[[Y:.*]] = graph.concat %[[A]], %[[B]]
// CHECK: kernel.call @k.softmax(%[[Y]])
func.func @parts(%x: tensor<1x4x16xf32>) -> tensor<1x8x16xf32> {
  %a = graph.relu %x : tensor<1x4x16xf32>
  %b = graph.exp %x : tensor<1x4x16xf32>
  %y = graph.concat %a, %b {axis = 1 : i64} : (tensor<1x4x16xf32>, tensor<1x4x16xf32>) -> tensor<1x8x16xf32>
  %z = graph.softmax %y : tensor<1x8x16xf32>
  return %z : tensor<1x8x16xf32>
}

// A dimension in front lies between the rows of one operand.
// CHECK-LABEL: func.func @rows
// CHECK: kernel.call @k.concat
func.func @rows(%x: tensor<2x4x16xf32>) -> tensor<2x8x16xf32> {
  %a = graph.relu %x : tensor<2x4x16xf32>
  %b = graph.exp %x : tensor<2x4x16xf32>
  %y = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x4x16xf32>, tensor<2x4x16xf32>) -> tensor<2x8x16xf32>
  %z = graph.softmax %y : tensor<2x8x16xf32>
  return %z : tensor<2x8x16xf32>
}

// An argument is where it is, and so is one value that is there twice.
// CHECK-LABEL: func.func @argument
// CHECK: kernel.call @k.concat
// CHECK: kernel.call @k.concat
func.func @argument(%x: tensor<4x16xf32>) -> tensor<16x16xf32> {
  %a = graph.relu %x : tensor<4x16xf32>
  %y = graph.concat %a, %x {axis = 0 : i64} : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %s = graph.softmax %y : tensor<8x16xf32>
  %t = graph.concat %s, %s {axis = 0 : i64} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %z = graph.softmax %t : tensor<16x16xf32>
  return %z : tensor<16x16xf32>
}

// What callers get is written where they want it.
// CHECK-LABEL: func.func @outputs
// CHECK: kernel.call @k.concat
// CHECK: kernel.call @k.concat
func.func @outputs(%x: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %a = graph.relu %x : tensor<4x16xf32>
  %b = graph.exp %x : tensor<4x16xf32>
  %c = graph.sigmoid %x : tensor<4x16xf32>
  %y = graph.concat %a, %b {axis = 0 : i64} : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %z = graph.softmax %y : tensor<8x16xf32>
  %w = graph.concat %b, %c {axis = 0 : i64} : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %a, %z, %w : tensor<4x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

// The second part would begin within a line of memory.
// CHECK-LABEL: func.func @unaligned
// CHECK: kernel.call @k.concat
func.func @unaligned(%x: tensor<3x5xf32>) -> tensor<6x5xf32> {
  %a = graph.relu %x : tensor<3x5xf32>
  %b = graph.exp %x : tensor<3x5xf32>
  %y = graph.concat %a, %b {axis = 0 : i64} : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<6x5xf32>
  %z = graph.softmax %y : tensor<6x5xf32>
  return %z : tensor<6x5xf32>
}

// Who knows how many rows there are?
// CHECK-LABEL: func.func @dynamic
// CHECK: kernel.call @k.concat
func.func @dynamic(%x: tensor<?x16xf32>) -> tensor<8x16xf32> {
  %a = graph.relu %x : tensor<?x16xf32>
  %b = graph.exp %x : tensor<?x16xf32>
  %y = graph.concat %a, %b {axis = 0 : i64} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<8x16xf32>
  %z = graph.softmax %y : tensor<8x16xf32>
  return %z : tensor<8x16xf32>
}

// Parts without bytes have no places.
// CHECK-LABEL: func.func @nothing
// CHECK: kernel.call @k.concat
func.func @nothing(%x: tensor<0x16xf32>) -> tensor<0x16xf32> {
  %a = graph.relu %x : tensor<0x16xf32>
  %b = graph.exp %x : tensor<0x16xf32>
  %y = graph.concat %a, %b {axis = 0 : i64} : (tensor<0x16xf32>, tensor<0x16xf32>) -> tensor<0x16xf32>
  %z = graph.softmax %y : tensor<0x16xf32>
  return %z : tensor<0x16xf32>
}

// The second part is made of the first one while much else is live: the room
// for it would be one piece too many.
// CHECK-LABEL: func.func @too_early
// CHECK: kernel.call @k.concat
func.func @too_early(%x: tensor<1x64xf32>, %w: tensor<64x4096xf32>, %v: tensor<4096x64xf32>) -> tensor<2x64xf32> {
  %a = graph.softmax %x : tensor<1x64xf32>
  %u = graph.matmul %a, %w : (tensor<1x64xf32>, tensor<64x4096xf32>) -> tensor<1x4096xf32>
  %t = graph.softmax %u : tensor<1x4096xf32>
  %b = graph.matmul %t, %v : (tensor<1x4096xf32>, tensor<4096x64xf32>) -> tensor<1x64xf32>
  %y = graph.concat %a, %b {axis = 0 : i64} : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  %z = graph.softmax %y : tensor<2x64xf32>
  return %z : tensor<2x64xf32>
}
