// RUN: dlc-opt %s --graph-infer-types --split-input-file --verify-diagnostics | FileCheck %s
// Types become as precise as shape rules and known values allow.

// CHECK-LABEL: func.func @chain
// CHECK-SAME: -> tensor<8x10xf32>
func.func @chain(%x: tensor<8x16xf32>, %w: tensor<16x10xf32>) -> tensor<?x?xf32> {
  // CHECK: graph.matmul {{.*}} -> tensor<8x10xf32>
  %0 = graph.matmul %x, %w : (tensor<8x16xf32>, tensor<16x10xf32>) -> tensor<*xf32>
  // CHECK: graph.relu {{.*}} : tensor<8x10xf32>
  %1 = graph.relu %0 : (tensor<*xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

// The declared type knows a dimension that the rule cannot, and the argument has
// it then.
// CHECK-LABEL: func.func @merge
// CHECK-SAME: (%{{.*}}: tensor<8x16xf32>)
func.func @merge(%x: tensor<?x16xf32>) -> tensor<8x?xf32> {
  // CHECK: graph.relu {{.*}} : tensor<8x16xf32>
  %0 = graph.relu %x : (tensor<?x16xf32>) -> tensor<8x?xf32>
  return %0 : tensor<8x?xf32>
}

// -----

// Shape arithmetic on static shapes is computed on the fly: 2 * 3, then -1.
// CHECK-LABEL: func.func @computed
// CHECK-SAME: -> tensor<2x12xf32>
func.func @computed(%x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %s = graph.shape %x : (tensor<2x3x4xf32>) -> tensor<3xi64>
  %i0 = graph.constant dense<[0]> : tensor<1xi64>
  %m1 = graph.constant dense<[-1]> : tensor<1xi64>
  %b = graph.gather %s, %i0 : (tensor<3xi64>, tensor<1xi64>) -> tensor<?xi64>
  %t = graph.concat %b, %m1 {axis = 0 : i64} : (tensor<?xi64>, tensor<1xi64>) -> tensor<?xi64>
  // CHECK: graph.reshape {{.*}} -> tensor<2x12xf32>
  %y = graph.reshape %x, %t : (tensor<2x3x4xf32>, tensor<?xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The batch is unknown, the rest is not: [?, 12, 64] from shape, gather,
// unsqueeze, mul and concat, as exporters of transformers write it.
// CHECK-LABEL: func.func @partial
// CHECK-SAME: -> tensor<?x12x64xf32>
func.func @partial(%x: tensor<?x768xf32>) -> tensor<*xf32> {
  %s = graph.shape %x : (tensor<?x768xf32>) -> tensor<2xi64>
  %i0 = graph.constant dense<0> : tensor<i64>
  %b = graph.gather %s, %i0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %ax = graph.constant dense<[0]> : tensor<1xi64>
  %u = graph.unsqueeze %b, %ax : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %two = graph.constant dense<[2]> : tensor<1xi64>
  %six = graph.constant dense<[6]> : tensor<1xi64>
  %twelve = graph.mul %two, %six : tensor<1xi64>
  %rest = graph.constant dense<[64]> : tensor<1xi64>
  %t = graph.concat %u, %twelve, %rest {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  // CHECK: graph.reshape {{.*}} -> tensor<?x12x64xf32>
  %y = graph.reshape %x, %t : (tensor<?x768xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A slice and a cast of a shape known in part, then expand.
// CHECK-LABEL: func.func @expand
// CHECK-SAME: -> tensor<?x5xf32>
func.func @expand(%x: tensor<?x5x7xf32>, %v: tensor<1xf32>) -> tensor<*xf32> {
  %s = graph.shape %x : (tensor<?x5x7xf32>) -> tensor<3xi64>
  %i0 = graph.constant dense<[0]> : tensor<1xi64>
  %i2 = graph.constant dense<[2]> : tensor<1xi64>
  %i1 = graph.constant dense<[1]> : tensor<1xi64>
  %t = graph.slice %s, %i0, %i2, %i0, %i1 : (tensor<3xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi64>
  %n = graph.cast %t {to = i32} : (tensor<?xi64>) -> tensor<?xi32>
  %w = graph.cast %n {to = i64} : (tensor<?xi32>) -> tensor<?xi64>
  // CHECK: graph.expand {{.*}} -> tensor<?x5xf32>
  %y = graph.expand %v, %w : (tensor<1xf32>, tensor<?xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The name of a dimension goes when the dimension is known.
// CHECK-LABEL: func.func @names
// CHECK-SAME: tensor<8x?xf32> {graph.dims = ["", "m"]}
func.func @names(%x: tensor<8x?xf32>) -> (tensor<?x?xf32> {graph.dims = ["n", "m"]}) {
  %0 = graph.relu %x : (tensor<8x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// An error that only known values reveal names the operation.
func.func @contradiction(%x: tensor<2x3xf32>, %z: tensor<4xf32>) -> tensor<*xf32> {
  %s = graph.shape %x : (tensor<2x3xf32>) -> tensor<2xi64>
  // expected-error @+1 {{'graph.reshape' op expected a shape for the elements of 4xf32: 4 can't be arranged as 6}}
  %y = graph.reshape %z, %s : (tensor<4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Back from a result and from the other operand: a matrix product.
// CHECK-LABEL: func.func @product
// CHECK-SAME: (%{{.*}}: tensor<8x16xf32>, %{{.*}}: tensor<16x4xf32>) -> tensor<8x4xf32>
func.func @product(%x: tensor<?x?xf32>, %w: tensor<16x?xf32>) -> tensor<8x4xf32> {
  // CHECK: graph.matmul {{.*}} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %y = graph.matmul %x, %w : (tensor<?x?xf32>, tensor<16x?xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Ranks and channels of a grouped convolution and a normalisation, through an
// activation; how large images are is not told.
// CHECK-LABEL: func.func @channels
// CHECK-SAME: (%{{.*}}: tensor<?x6x?x?xf32>, %{{.*}}: tensor<4x3x3x3xf32>, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>) -> tensor<?x4x?x?xf32>
func.func @channels(%x: tensor<*xf32>, %w: tensor<?x3x3x3xf32>, %b: tensor<*xf32>, %s: tensor<4xf32>) -> tensor<*xf32> {
  %0 = graph.conv %x, %w, %b {group = 2 : i64} : (tensor<*xf32>, tensor<?x3x3x3xf32>, tensor<*xf32>) -> tensor<*xf32>
  %1 = graph.relu %0 : tensor<*xf32>
  %2 = graph.batch_norm %1, %s, %s, %s, %s : (tensor<*xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// Of operands that broadcast: 1 where the result is 1, and what only one of
// them can give. Either of two may have the last dimension.
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%{{.*}}: tensor<1x?x7xf32>, %{{.*}}: tensor<5x?xf32>) -> tensor<1x5x7xf32>
func.func @broadcast(%x: tensor<?x?x7xf32>, %y: tensor<?x?xf32>) -> tensor<1x5x7xf32> {
  %c = graph.constant dense<0.0> : tensor<1x7xf32>
  %0 = graph.add %x, %c : (tensor<?x?x7xf32>, tensor<1x7xf32>) -> tensor<?x?x7xf32>
  %1 = graph.mul %y, %c : (tensor<?x?xf32>, tensor<1x7xf32>) -> tensor<5x7xf32>
  %2 = graph.sub %0, %1 : (tensor<?x?x7xf32>, tensor<5x7xf32>) -> tensor<1x5x7xf32>
  return %2 : tensor<1x5x7xf32>
}

// -----

// Movement, and forward again with what was found: the other result.
// CHECK-LABEL: func.func @moved
// CHECK-SAME: (%{{.*}}: tensor<3x2xf32>, %{{.*}}: tensor<2x4xf32>) -> (tensor<2x7xf32>, tensor<3x2xf32>)
func.func @moved(%x: tensor<?x?xf32>, %y: tensor<?x4xf32>) -> (tensor<2x7xf32>, tensor<?x?xf32>) {
  %t = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = graph.concat %t, %y {axis = 1 : i64} : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<2x7xf32>
  %e = graph.exp %x : tensor<?x?xf32>
  return %c, %e : tensor<2x7xf32>, tensor<?x?xf32>
}

// -----

// Windows in steps of one tell extents, others batch and channels.
// CHECK-LABEL: func.func @windows
// CHECK-SAME: (%{{.*}}: tensor<2x3x?x10xf32>, %{{.*}}: tensor<4x3x3x5xf32>) -> tensor<2x4x5x6xf32>
func.func @windows(%x: tensor<*xf32>, %w: tensor<4x3x3x5xf32>) -> tensor<2x4x5x6xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, pads = array<i64: 1, 2, 1, 2>} : (tensor<*xf32>, tensor<4x3x3x5xf32>) -> tensor<*xf32>
  // CHECK: graph.conv {{.*}} -> tensor<2x4x6x6xf32>
  %1 = graph.max_pool %0 {kernel_shape = array<i64: 2, 3>, pads = array<i64: 0, 1, 0, 1>} : (tensor<*xf32>) -> tensor<2x4x5x6xf32>
  return %1 : tensor<2x4x5x6xf32>
}

// -----

// The dimension of a reshape that others leave, and operands of a concatenation
// out of each other.
// CHECK-LABEL: func.func @elements
// CHECK-SAME: (%{{.*}}: tensor<4x6xf32>, %{{.*}}: tensor<3x?xf32>) -> tensor<3x?xf32>
func.func @elements(%x: tensor<?x6xf32>, %y: tensor<*xf32>) -> tensor<*xf32> {
  %s = graph.constant dense<[3, 8]> : tensor<2xi64>
  %0 = graph.reshape %x, %s : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<3x8xf32>
  %1 = graph.concat %0, %y {axis = 1 : i64} : (tensor<3x8xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// An argument that a result updates keeps its type, and what nobody reads asks
// for nothing.
// CHECK-LABEL: func.func @kept
// CHECK-SAME: %{{.*}}: tensor<?x?xf32>, %{{.*}}: tensor<?xf32> {graph.name = "s"})
func.func @kept(%x: tensor<?x?xf32>, %s: tensor<?xf32> {graph.name = "s"})
    -> (tensor<?xf32> {graph.name = "new s", graph.updates = "s"}, tensor<4xf32>) {
  %w = graph.constant dense<1.0> : tensor<16x16xf32>
  %v = graph.constant dense<1.0> : tensor<1xf32>
  %y = graph.matmul %x, %w : (tensor<?x?xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %t = graph.max %s, %v : (tensor<?xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %s, %t : tensor<?xf32>, tensor<4xf32>
}

// -----

// A value that is two operands: both say something, and neither takes it back.
// CHECK-LABEL: func.func @square
// CHECK-SAME: %{{.*}}: tensor<3x3xf32>
func.func @square(%x: tensor<?x?xf32>) -> tensor<3x?xf32> {
  %y = graph.matmul %x, %x : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<3x?xf32>
  return %y : tensor<3x?xf32>
}

// -----

// The types of what is called, and of what calls, are not this function's.
// CHECK-LABEL: func.func private @called
// CHECK-SAME: (%{{.*}}: tensor<?x?xf32>) -> tensor<?x?xf32>
func.func private @called(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %w = graph.constant dense<1.0> : tensor<16x4xf32>
  %y = graph.matmul %x, %w : (tensor<?x?xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
  return %x : tensor<?x?xf32>
}
// CHECK-LABEL: func.func @calls
// CHECK: call @called(%{{.*}}) : (tensor<?x?xf32>) -> tensor<?x?xf32>
func.func @calls(%x: tensor<?x?xf32>) -> tensor<?x4xf32> {
  %w = graph.constant dense<1.0> : tensor<16x4xf32>
  %0 = func.call @called(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = graph.matmul %0, %w : (tensor<?x?xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// What only such read that nobody reads asks for nothing, either.
// CHECK-LABEL: func.func @dead
// CHECK-SAME: %{{.*}}: tensor<?x?xf32>
func.func @dead(%x: tensor<?x?xf32>) -> tensor<1xf32> {
  %w = graph.constant dense<1.0> : tensor<16x4xf32>
  %v = graph.constant dense<1.0> : tensor<1xf32>
  %y = graph.matmul %x, %w : (tensor<?x?xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
  %z = graph.exp %y : tensor<?x4xf32>
  return %v : tensor<1xf32>
}

// -----

// Who contradicts whom: the operation, the operand, what it has and should.
func.func @contradiction(%x: tensor<8x?xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %e = graph.exp %x : (tensor<8x?xf32>) -> tensor<8x5xf32>
  // expected-error @+1 {{'graph.matmul' op operand 1: expected 5 rows, got 16}}
  %y = graph.matmul %e, %w : (tensor<8x5xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
