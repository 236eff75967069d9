// RUN: dlc-opt %s --graph-fuse-operators | FileCheck %s
// RUN: dlc-opt %s --graph-fuse-operators --remarks-filter='graph-fuse-.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// Operations that one kernel computes are in one graph.fusion, and a remark
// says why neighbours are not.

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: %[[R:.*]] = graph.fusion -> tensor<8x16xf32> {
  // CHECK-NEXT: %[[M:.*]] = graph.mul
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[M]]
  // CHECK-NEXT: graph.yield %[[A]] : tensor<8x16xf32>
  // CHECK: return %[[R]]
  // WHY: Groups=1, Operations=2
  %0 = graph.mul %x, %y : tensor<8x16xf32>
  %1 = graph.add %0, %x : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// A reduction carries the elementwise work in front of it.
// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<4x16xf32>, %s: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // CHECK: graph.fusion
  // CHECK: graph.mul
  // CHECK-NEXT: graph.softmax
  // CHECK-NEXT: graph.yield
  %0 = graph.mul %x, %s : tensor<4x16xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// Values that are used outside are results of the group.
// CHECK-LABEL: func.func @results
func.func @results(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  // CHECK: %[[R:.*]]:2 = graph.fusion
  // CHECK: graph.yield %{{.*}}, %{{.*}} : tensor<8x16xf32>, tensor<8x16xf32>
  // CHECK: return %[[R]]#0, %[[R]]#1
  %0 = graph.exp %x : tensor<8x16xf32>
  %1 = graph.tanh %0 : tensor<8x16xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
}

// A library computes a convolution with its residual and activation; what it
// cannot, another kernel does. Constants stay outside.
// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x16x8x8xf32>, %r: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  // CHECK-COUNT-2: graph.constant
  // CHECK: %[[G:.*]] = graph.fusion
  // CHECK-NEXT: graph.conv
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.relu
  // CHECK-NEXT: graph.yield
  // CHECK: graph.exp %[[G]]
  %w = graph.constant dense<0.5> : tensor<32x16x1x1xf32>
  %b = graph.constant dense<1.0> : tensor<32xf32>
  %0 = graph.conv %x, %w, %b : (tensor<1x16x8x8xf32>, tensor<32x16x1x1xf32>, tensor<32xf32>) -> tensor<1x32x8x8xf32>
  %1 = graph.add %0, %r : tensor<1x32x8x8xf32>
  %2 = graph.relu %1 : tensor<1x32x8x8xf32>
  // WHY: exp stays apart from relu: the activation is the last step
  %3 = graph.exp %2 : tensor<1x32x8x8xf32>
  return %3 : tensor<1x32x8x8xf32>
}

// Transposes that a product alone reads are part of it; the library reads their
// operands the other way round.
// CHECK-LABEL: func.func @transposed
func.func @transposed(%x: tensor<16x4xf32>, %w: tensor<8x16xf32>, %z: tensor<2x16x8xf32>) -> (tensor<4x8xf32>, tensor<2x8x8xf32>) {
  // CHECK: graph.fusion
  // CHECK-NEXT: graph.transpose
  // CHECK-NEXT: graph.transpose
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.relu
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<16x4xf32>) -> tensor<4x16xf32>
  %1 = graph.transpose %w {perm = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %2 = graph.matmul %0, %1 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %y = graph.relu %2 : tensor<4x8xf32>
  // CHECK: graph.fusion
  // CHECK-NEXT: graph.transpose
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.yield
  %3 = graph.transpose %z {perm = array<i64: 0, 2, 1>} : (tensor<2x16x8xf32>) -> tensor<2x8x16xf32>
  %4 = graph.matmul %3, %z : (tensor<2x8x16xf32>, tensor<2x16x8xf32>) -> tensor<2x8x8xf32>
  return %y, %4 : tensor<4x8xf32>, tensor<2x8x8xf32>
}

// -----

// CHECK-LABEL: func.func @matmul
func.func @matmul(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: graph.fusion
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.gelu
  // CHECK-NEXT: graph.yield
  %0 = graph.matmul %x, %w : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %1 = graph.add %0, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = graph.gelu %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// The product itself is needed, so the activation cannot overwrite it.
// CHECK-LABEL: func.func @two_uses
func.func @two_uses(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NOT: graph.fusion
  // CHECK: return
  %0 = graph.matmul %x, %w : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  // WHY: relu stays apart from matmul: its value has other uses
  %1 = graph.relu %0 : tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// exp and mul are neighbours, but the product between them reads one and feeds
// the other: one kernel would wait for itself.
// CHECK-LABEL: func.func @convex
func.func @convex(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[E:.*]] = graph.exp
  // CHECK-NEXT: %[[P:.*]] = graph.matmul %[[E]], %[[E]]
  // CHECK-NEXT: graph.fusion
  // CHECK-NEXT: graph.mul %[[E]], %[[P]]
  // CHECK-NEXT: graph.tanh
  %0 = graph.exp %x : tensor<4x4xf32>
  %1 = graph.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // WHY: mul stays apart from exp: a kernel of both would wait for itself
  %2 = graph.mul %0, %1 : tensor<4x4xf32>
  %3 = graph.tanh %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// Where shapes are not static, elementwise operations of one shape share a
// kernel of any, with one result.
// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?x16xf32>, %y: tensor<16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  // CHECK: %[[L:.*]] = graph.log
  // CHECK-NEXT: graph.fusion
  // CHECK-NEXT: graph.exp
  // CHECK-NEXT: graph.tanh
  // CHECK-NEXT: graph.add %{{.*}}, %[[L]]
  // CHECK-NEXT: graph.neg
  // CHECK-NEXT: graph.yield
  // CHECK: graph.softmax
  // CHECK-NEXT: %[[R:.*]] = graph.relu
  // CHECK-NEXT: graph.sigmoid %[[R]]
  %0 = graph.exp %x : tensor<?x16xf32>
  %1 = graph.tanh %0 : tensor<?x16xf32>
  %2 = graph.log %y : tensor<16xf32>
  // WHY: add stays apart from log: results of different shapes, which are not static
  %3 = graph.add %1, %2 : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  %4 = graph.neg %3 : tensor<?x16xf32>
  %5 = graph.softmax %4 : tensor<?x16xf32>
  // WHY: relu stays apart from softmax: shapes that are not static
  %6 = graph.relu %5 : tensor<?x16xf32>
  // WHY: sigmoid stays apart from relu: several results of shapes that are not static
  %7 = graph.sigmoid %6 : tensor<?x16xf32>
  return %6, %7 : tensor<?x16xf32>, tensor<?x16xf32>
}

// CHECK-LABEL: func.func @left_out
func.func @left_out(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x8x8xf32> {
  // CHECK-NOT: graph.fusion
  // CHECK: return
  %roi = graph.none : none
  %sizes = graph.constant dense<[1, 1, 8, 8]> : tensor<4xi64>
  %0 = graph.exp %x : tensor<1x1x4x4xf32>
  // WHY: resize stays apart from exp: no kernel holds both
  %1 = graph.resize %0, %roi, %roi, %sizes {antialias = true} : (tensor<1x1x4x4xf32>, none, none, tensor<4xi64>) -> tensor<1x1x8x8xf32>
  return %1 : tensor<1x1x8x8xf32>
}

// Kernels keep within groups, on one device too, so that they are the same
// wherever groups run; the epilogue of a product as well.
// CHECK-LABEL: func.func @grouped
func.func @grouped(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: graph.fusion
  // CHECK-NEXT: graph.exp
  // CHECK-NEXT: graph.tanh
  // CHECK-NEXT: graph.yield
  // CHECK-NEXT: } {graph.group = "a"}
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.relu
  %0 = graph.exp %x {graph.group = "a"} : tensor<4x4xf32>
  %1 = graph.tanh %0 {graph.group = "a"} : tensor<4x4xf32>
  // WHY: matmul stays apart from tanh: it is on another device, in another group or another part of the batch
  %2 = graph.matmul %1, %1 {graph.group = "b"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // WHY: relu stays apart from matmul: it is on another device, in another group or another part of the batch
  %3 = graph.relu %2 {graph.group = "c"} : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// Two products have one sum: it is in the kernel of the first. What that reads
// shares no kernel with what reads the sum.
// CHECK-LABEL: func.func @two_anchors
func.func @two_anchors(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK: %[[T:.*]] = graph.tanh
  // CHECK: %[[M:.*]] = graph.matmul
  // CHECK: graph.fusion
  // CHECK-NEXT: graph.matmul %[[T]]
  // CHECK-NEXT: graph.add %{{.*}}, %[[M]]
  // CHECK: graph.fusion
  // CHECK-NEXT: graph.exp
  // CHECK-NEXT: graph.mul %{{.*}}, %[[T]]
  %0 = graph.tanh %x : tensor<8x8xf32>
  %1 = graph.matmul %0, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = graph.matmul %y, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = graph.add %1, %2 : tensor<8x8xf32>
  %4 = graph.exp %3 : tensor<8x8xf32>
  %5 = graph.mul %4, %0 : tensor<8x8xf32>
  return %5, %4 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Sums over parts of a batch are apart, so that not all parts are live at once.

// CHECK-LABEL: func @parts
// CHECK: %[[A:.*]] = graph.fusion
// CHECK: graph.relu
// CHECK: graph.reduce_sum
// CHECK: }
// CHECK: graph.fusion
// CHECK: graph.relu
// CHECK: graph.reduce_sum
// CHECK: graph.add
// CHECK-NOT: graph.fusion
func.func @parts(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<64xf32> {
  %axes = graph.constant dense<0> : tensor<1xi64>
  %0 = graph.relu %x {graph.part = 0 : i64} : tensor<4x64xf32>
  %1 = graph.reduce_sum %0, %axes {graph.part = 0 : i64, keepdims = false} : (tensor<4x64xf32>, tensor<1xi64>) -> tensor<64xf32>
  %2 = graph.relu %y {graph.part = 1 : i64} : tensor<4x64xf32>
  %3 = graph.reduce_sum %2, %axes {graph.part = 1 : i64, keepdims = false} : (tensor<4x64xf32>, tensor<1xi64>) -> tensor<64xf32>
  %4 = graph.add %1, %3 {graph.part = 1 : i64} : tensor<64xf32>
  return %4 : tensor<64xf32>
}

// The CPU's library computes attention as a whole; a GPU has no such library.
// CHECK-LABEL: func.func @attention_on_a_gpu
func.func @attention_on_a_gpu(%q: tensor<1x2x64x8xf32>, %k: tensor<1x2x8x64xf32>, %v: tensor<1x2x64x8xf32>) -> tensor<1x2x64x8xf32> {
  // CHECK: graph.fusion
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.mul
  // CHECK-NEXT: graph.yield
  // CHECK-NOT: graph.fusion
  // CHECK: graph.softmax
  // CHECK-NEXT: graph.matmul
  %c = graph.constant dense<0.25> : tensor<f32>
  %0 = graph.matmul %q, %k {device = #dlc.device<cuda:0>} : (tensor<1x2x64x8xf32>, tensor<1x2x8x64xf32>) -> tensor<1x2x64x64xf32>
  %1 = graph.mul %0, %c {device = #dlc.device<cuda:0>} : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<1x2x64x64xf32>
  %2 = graph.softmax %1 {axis = 3 : i64, device = #dlc.device<cuda:0>} : tensor<1x2x64x64xf32>
  %3 = graph.matmul %2, %v {device = #dlc.device<cuda:0>} : (tensor<1x2x64x64xf32>, tensor<1x2x64x8xf32>) -> tensor<1x2x64x8xf32>
  return %3 : tensor<1x2x64x8xf32>
}

// What does not feed a contraction joins it, wherever it is written.
// CHECK-LABEL: func.func @written_before_a_product
func.func @written_before_a_product(%a: tensor<80x40xf32>, %b: tensor<40x96xf32>, %c: tensor<80x96xf32>) -> tensor<80x96xf32> {
  // CHECK-NEXT: graph.fusion
  // CHECK-NEXT: graph.exp
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.add
  %e = graph.exp %c {device = #dlc.device<cuda:0>} : tensor<80x96xf32>
  %0 = graph.matmul %a, %b {device = #dlc.device<cuda:0>} : (tensor<80x40xf32>, tensor<40x96xf32>) -> tensor<80x96xf32>
  %1 = graph.add %0, %e {device = #dlc.device<cuda:0>} : tensor<80x96xf32>
  return %1 : tensor<80x96xf32>
}

// What feeds it does not.
// CHECK-LABEL: func.func @feeds_a_product
// WHY: matmul stays apart from exp: operands of a contraction are computed before it
func.func @feeds_a_product(%a: tensor<80x40xf32>, %b: tensor<40x96xf32>) -> tensor<80x96xf32> {
  // CHECK-NOT: graph.fusion
  // CHECK: return
  %e = graph.exp %a {device = #dlc.device<cuda:0>} : tensor<80x40xf32>
  %0 = graph.matmul %e, %b {device = #dlc.device<cuda:0>} : (tensor<80x40xf32>, tensor<40x96xf32>) -> tensor<80x96xf32>
  return %0 : tensor<80x96xf32>
}

// Tiles of a product are tiles of what follows.
// CHECK-LABEL: func.func @larger_than_its_product
// WHY: add stays apart from matmul: a contraction and what follows are of different shapes
func.func @larger_than_its_product(%a: tensor<1x512xf32>, %w: tensor<512x2048xf32>, %p: tensor<256x2048xf32>) -> tensor<256x2048xf32> {
  // CHECK-NOT: graph.fusion
  // CHECK: return
  %0 = graph.matmul %a, %w {device = #dlc.device<cuda:0>} : (tensor<1x512xf32>, tensor<512x2048xf32>) -> tensor<1x2048xf32>
  %1 = graph.add %0, %p {device = #dlc.device<cuda:0>} : (tensor<1x2048xf32>, tensor<256x2048xf32>) -> tensor<256x2048xf32>
  return %1 : tensor<256x2048xf32>
}

// A table is converted once, not where each of its rows is read.
// CHECK-LABEL: func.func @gather_of_a_cast
// WHY: gather stays apart from cast: a place given by data in a value that is computed here
func.func @gather_of_a_cast(%t: tensor<1000x16xf16>, %i: tensor<4000xi64>) -> tensor<4000x16xf32> {
  // CHECK-NOT: graph.fusion
  // CHECK: return
  %0 = graph.cast %t {to = f32} : (tensor<1000x16xf16>) -> tensor<1000x16xf32>
  %r = graph.resolve_indices %i {extents = array<i64: 1000>} : (tensor<4000xi64>) -> tensor<4000xi64>
  %1 = graph.gather %0, %r {axis = 0 : i64, in_bounds = true} : (tensor<1000x16xf32>, tensor<4000xi64>) -> tensor<4000x16xf32>
  return %1 : tensor<4000x16xf32>
}

// A GPU computes an attention of short floats as a whole, with what cuts its
// operands out.
// CHECK-LABEL: func.func @attention_on_gpu
func.func @attention_on_gpu(%x: tensor<2x8x32xf16>, %v: tensor<2x8x16xf16>) -> tensor<2x8x16xf16> {
  // CHECK: %[[Y:.*]] = graph.fusion -> tensor<2x8x16xf16> {
  // CHECK-NEXT: graph.slice
  // CHECK-NEXT: graph.slice
  // CHECK-NEXT: graph.transpose
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.softmax
  // CHECK-NEXT: graph.matmul
  // CHECK: return %[[Y]]
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %i2 = graph.constant dense<2> : tensor<1xi64>
  %i16 = graph.constant dense<16> : tensor<1xi64>
  %i32 = graph.constant dense<32> : tensor<1xi64>
  %q = graph.slice %x, %i0, %i16, %i2, %i1 {device = #dlc.device<cuda:0>} : (tensor<2x8x32xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x8x16xf16>
  %k = graph.slice %x, %i16, %i32, %i2, %i1 {device = #dlc.device<cuda:0>} : (tensor<2x8x32xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x8x16xf16>
  %0 = graph.transpose %k {device = #dlc.device<cuda:0>, perm = array<i64: 0, 2, 1>} : (tensor<2x8x16xf16>) -> tensor<2x16x8xf16>
  %1 = graph.matmul %q, %0 {device = #dlc.device<cuda:0>} : (tensor<2x8x16xf16>, tensor<2x16x8xf16>) -> tensor<2x8x8xf16>
  %2 = graph.softmax %1 {device = #dlc.device<cuda:0>} : tensor<2x8x8xf16>
  %y = graph.matmul %2, %v {device = #dlc.device<cuda:0>} : (tensor<2x8x8xf16>, tensor<2x8x16xf16>) -> tensor<2x8x16xf16>
  return %y : tensor<2x8x16xf16>
}

// Not of f32,
// CHECK-LABEL: func.func @attention_of_floats(
func.func @attention_of_floats(%q: tensor<2x8x16xf32>, %k: tensor<2x8x16xf32>, %v: tensor<2x8x16xf32>) -> tensor<2x8x16xf32> {
  // WHY: attention is not one kernel: attention as one kernel is of f16 and bf16
  // CHECK: graph.matmul
  // CHECK: graph.softmax {{.*}} : tensor<2x8x8xf32>
  // CHECK-NEXT: %{{.*}} = graph.matmul
  %0 = graph.transpose %k {device = #dlc.device<cuda:0>, perm = array<i64: 0, 2, 1>} : (tensor<2x8x16xf32>) -> tensor<2x16x8xf32>
  %1 = graph.matmul %q, %0 {device = #dlc.device<cuda:0>} : (tensor<2x8x16xf32>, tensor<2x16x8xf32>) -> tensor<2x8x8xf32>
  %3 = graph.softmax %1 {device = #dlc.device<cuda:0>} : tensor<2x8x8xf32>
  %y = graph.matmul %3, %v {device = #dlc.device<cuda:0>} : (tensor<2x8x8xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  return %y : tensor<2x8x16xf32>
}

// of rows that are no multiples of 8,
// CHECK-LABEL: func.func @attention_of_odd_rows(
func.func @attention_of_odd_rows(%q: tensor<2x8x20xf16>, %k: tensor<2x8x20xf16>, %v: tensor<2x8x20xf16>) -> tensor<2x8x20xf16> {
  // CHECK: graph.matmul
  // CHECK: graph.softmax {{.*}} : tensor<2x8x8xf16>
  // CHECK-NEXT: %{{.*}} = graph.matmul
  %0 = graph.transpose %k {device = #dlc.device<cuda:0>, perm = array<i64: 0, 2, 1>} : (tensor<2x8x20xf16>) -> tensor<2x20x8xf16>
  %1 = graph.matmul %q, %0 {device = #dlc.device<cuda:0>} : (tensor<2x8x20xf16>, tensor<2x20x8xf16>) -> tensor<2x8x8xf16>
  %3 = graph.softmax %1 {device = #dlc.device<cuda:0>} : tensor<2x8x8xf16>
  %y = graph.matmul %3, %v {device = #dlc.device<cuda:0>} : (tensor<2x8x8xf16>, tensor<2x8x20xf16>) -> tensor<2x8x20xf16>
  return %y : tensor<2x8x20xf16>
}

// of keys that lie across,
// CHECK-LABEL: func.func @attention_of_turned_keys(
func.func @attention_of_turned_keys(%q: tensor<2x8x16xf16>, %k: tensor<2x16x8xf16>, %v: tensor<2x8x16xf16>) -> tensor<2x8x16xf16> {
  // CHECK: graph.matmul
  // CHECK: graph.softmax {{.*}} : tensor<2x8x8xf16>
  // CHECK-NEXT: %{{.*}} = graph.matmul
  %1 = graph.matmul %q, %k {device = #dlc.device<cuda:0>} : (tensor<2x8x16xf16>, tensor<2x16x8xf16>) -> tensor<2x8x8xf16>
  %3 = graph.softmax %1 {device = #dlc.device<cuda:0>} : tensor<2x8x8xf16>
  %y = graph.matmul %3, %v {device = #dlc.device<cuda:0>} : (tensor<2x8x8xf16>, tensor<2x8x16xf16>) -> tensor<2x8x16xf16>
  return %y : tensor<2x8x16xf16>
}

// where all scores are masked alike,
// CHECK-LABEL: func.func @attention_of_one_mask(
func.func @attention_of_one_mask(%q: tensor<2x8x16xf16>, %k: tensor<2x8x16xf16>, %v: tensor<2x8x16xf16>) -> tensor<2x8x16xf16> {
  // WHY: attention is not one kernel: masks of one element
  // CHECK: graph.matmul
  // CHECK: graph.softmax {{.*}} : tensor<2x8x8xf16>
  // CHECK-NEXT: %{{.*}} = graph.matmul
  %c = graph.constant dense<-1.0> : tensor<1x1xf16>
  %0 = graph.transpose %k {device = #dlc.device<cuda:0>, perm = array<i64: 0, 2, 1>} : (tensor<2x8x16xf16>) -> tensor<2x16x8xf16>
  %1 = graph.matmul %q, %0 {device = #dlc.device<cuda:0>} : (tensor<2x8x16xf16>, tensor<2x16x8xf16>) -> tensor<2x8x8xf16>
  %2 = graph.add %1, %c {device = #dlc.device<cuda:0>} : (tensor<2x8x8xf16>, tensor<1x1xf16>) -> tensor<2x8x8xf16>
  %3 = graph.softmax %2 {device = #dlc.device<cuda:0>} : tensor<2x8x8xf16>
  %y = graph.matmul %3, %v {device = #dlc.device<cuda:0>} : (tensor<2x8x8xf16>, tensor<2x8x16xf16>) -> tensor<2x8x16xf16>
  return %y : tensor<2x8x16xf16>
}

// or seen.
// CHECK-LABEL: func.func @attention_seen(
func.func @attention_seen(%q: tensor<2x8x16xf16>, %k: tensor<2x8x16xf16>, %v: tensor<2x8x16xf16>) -> (tensor<2x8x16xf16>, tensor<2x8x8xf16>) {
  // CHECK: graph.matmul
  // CHECK: graph.softmax {{.*}} : tensor<2x8x8xf16>
  // CHECK-NEXT: %{{.*}} = graph.matmul
  %0 = graph.transpose %k {device = #dlc.device<cuda:0>, perm = array<i64: 0, 2, 1>} : (tensor<2x8x16xf16>) -> tensor<2x16x8xf16>
  %1 = graph.matmul %q, %0 {device = #dlc.device<cuda:0>} : (tensor<2x8x16xf16>, tensor<2x16x8xf16>) -> tensor<2x8x8xf16>
  %3 = graph.softmax %1 {device = #dlc.device<cuda:0>} : tensor<2x8x8xf16>
  %y = graph.matmul %3, %v {device = #dlc.device<cuda:0>} : (tensor<2x8x8xf16>, tensor<2x8x16xf16>) -> tensor<2x8x16xf16>
  return %y, %1 : tensor<2x8x16xf16>, tensor<2x8x8xf16>
}

// Few rows that see many keys are few tiles, which would read all of them.
// CHECK-LABEL: func.func @attention_of_few_rows
func.func @attention_of_few_rows(%q: tensor<8x1x64xf16>, %k: tensor<8x8192x64xf16>, %v: tensor<8x8192x64xf16>) -> tensor<8x1x64xf16> {
  // WHY: attention is not one kernel: few rows of queries, and many keys for each
  // CHECK: graph.softmax {{.*}} : tensor<8x1x8192xf16>
  // CHECK-NEXT: graph.matmul
  %0 = graph.transpose %k {device = #dlc.device<cuda:0>, perm = array<i64: 0, 2, 1>} : (tensor<8x8192x64xf16>) -> tensor<8x64x8192xf16>
  %1 = graph.matmul %q, %0 {device = #dlc.device<cuda:0>} : (tensor<8x1x64xf16>, tensor<8x64x8192xf16>) -> tensor<8x1x8192xf16>
  %2 = graph.softmax %1 {device = #dlc.device<cuda:0>} : tensor<8x1x8192xf16>
  %y = graph.matmul %2, %v {device = #dlc.device<cuda:0>} : (tensor<8x1x8192xf16>, tensor<8x8192x64xf16>) -> tensor<8x1x64xf16>
  return %y : tensor<8x1x64xf16>
}

// A slice whose rows begin at no multiple of 8 stays in front of the kernel.
// CHECK-LABEL: func.func @attention_of_odd_slice
func.func @attention_of_odd_slice(%q: tensor<2x8x16xf16>, %k: tensor<2x8x16xf16>, %x: tensor<2x8x18xf16>) -> tensor<2x8x16xf16> {
  // CHECK: graph.slice
  // CHECK: graph.fusion
  // CHECK-NOT: graph.slice
  // CHECK-COUNT-2: graph.matmul
  // CHECK-NEXT: graph.yield
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %i2 = graph.constant dense<2> : tensor<1xi64>
  %i17 = graph.constant dense<17> : tensor<1xi64>
  %v = graph.slice %x, %i1, %i17, %i2, %i1 {device = #dlc.device<cuda:0>} : (tensor<2x8x18xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x8x16xf16>
  %0 = graph.transpose %k {device = #dlc.device<cuda:0>, perm = array<i64: 0, 2, 1>} : (tensor<2x8x16xf16>) -> tensor<2x16x8xf16>
  %1 = graph.matmul %q, %0 {device = #dlc.device<cuda:0>} : (tensor<2x8x16xf16>, tensor<2x16x8xf16>) -> tensor<2x8x8xf16>
  %2 = graph.softmax %1 {device = #dlc.device<cuda:0>} : tensor<2x8x8xf16>
  %y = graph.matmul %2, %v {device = #dlc.device<cuda:0>} : (tensor<2x8x8xf16>, tensor<2x8x16xf16>) -> tensor<2x8x16xf16>
  return %y : tensor<2x8x16xf16>
}

// What rows are folded to is folded, and used, in kernels behind that of the
// rows: in one, a thread would compute all of it.
// CHECK-LABEL: func.func @folds_of_rows(
func.func @folds_of_rows(%x: tensor<32x1536xf32>) -> tensor<32x1536xf32> {
  // WHY: reduce_max stays apart from reduce_max: one thread would compute all of it
  // WHY: div stays apart from add: one thread would compute all of it
  // CHECK: graph.fusion -> tensor<32x1536xf32>, tensor<32x1xf32> {
  // CHECK-NEXT: graph.gelu
  // CHECK-NEXT: graph.reduce_max
  // CHECK: graph.fusion -> tensor<f32> {
  // CHECK-NEXT: graph.reduce_max
  // CHECK-NEXT: graph.add
  // CHECK: graph.div
  %c = graph.constant dense<1.0> : tensor<f32>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.gelu %x : tensor<32x1536xf32>
  %1 = graph.reduce_max %0, %i1 {keepdims = true} : (tensor<32x1536xf32>, tensor<1xi64>) -> tensor<32x1xf32>
  %2 = graph.reduce_max %1 {keepdims = false} : (tensor<32x1xf32>) -> tensor<f32>
  %3 = graph.add %2, %c : tensor<f32>
  %y = graph.div %0, %3 : (tensor<32x1536xf32>, tensor<f32>) -> tensor<32x1536xf32>
  return %y : tensor<32x1536xf32>
}

// What is one tile, as folds of the channels of one block are, gives no result
// that several tiles could.
// CHECK-LABEL: func.func @folds_of_one_block(
func.func @folds_of_one_block(%x: tensor<1x1x32x80x24xf32>) -> (tensor<f32>, tensor<1x1x32x80x24xui8>) {
  // WHY: reduce_max stays apart from silu: one thread would compute all of it
  // CHECK: graph.silu
  // CHECK-NEXT: graph.fusion -> tensor<f32>, tensor<f32> {
  // CHECK-NEXT: graph.reduce_max
  // CHECK: graph.yield
  // CHECK: graph.fusion -> tensor<1x1x32x80x24xui8> {
  // CHECK-NEXT: graph.div
  // CHECK-NEXT: graph.round
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.cast
  %spatial = graph.constant dense<[2, 3]> : tensor<2xi64>
  %0 = graph.silu %x : tensor<1x1x32x80x24xf32>
  %1 = graph.reduce_max %0, %spatial {keepdims = true} : (tensor<1x1x32x80x24xf32>, tensor<2xi64>) -> tensor<1x1x1x1x24xf32>
  %2 = graph.reduce_max %1 {keepdims = false} : (tensor<1x1x1x1x24xf32>) -> tensor<f32>
  %3 = graph.reduce_min %0, %spatial {keepdims = true} : (tensor<1x1x32x80x24xf32>, tensor<2xi64>) -> tensor<1x1x1x1x24xf32>
  %4 = graph.reduce_min %3 {keepdims = false} : (tensor<1x1x1x1x24xf32>) -> tensor<f32>
  %5 = graph.sub %2, %4 : tensor<f32>
  %6 = graph.div %4, %5 : tensor<f32>
  %7 = graph.round %6 : tensor<f32>
  %8 = graph.div %0, %5 : (tensor<1x1x32x80x24xf32>, tensor<f32>) -> tensor<1x1x32x80x24xf32>
  %9 = graph.round %8 : tensor<1x1x32x80x24xf32>
  %10 = graph.add %9, %7 : (tensor<1x1x32x80x24xf32>, tensor<f32>) -> tensor<1x1x32x80x24xf32>
  %y = graph.cast %10 {to = ui8} : (tensor<1x1x32x80x24xf32>) -> tensor<1x1x32x80x24xui8>
  return %5, %y : tensor<f32>, tensor<1x1x32x80x24xui8>
}

// Sums of integers whose shapes stay open are rounded by what makes them, which
// is so by itself: others would read them.
// CHECK-LABEL: func.func @open_sums(
func.func @open_sums(%a: tensor<?x4xui8>, %b: tensor<4x8xi8>) -> (tensor<?x8xf32>, tensor<?x8xi32>, tensor<?x8xf32>) {
  // WHY: cast stays apart from requantize: the call that makes the sums rounds them
  // CHECK: %[[SUMS:.*]] = graph.integer_matmul
  // CHECK-NEXT: graph.requantize %[[SUMS]]
  // CHECK-NEXT: graph.cast
  // CHECK-NEXT: %[[READ:.*]] = graph.integer_matmul
  // CHECK-NEXT: graph.fusion
  // CHECK-NEXT: graph.requantize %[[READ]]
  // CHECK-NEXT: graph.cast
  %z = graph.constant dense<1> : tensor<ui8>
  %w = graph.constant dense<0> : tensor<i8>
  %m = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.integer_matmul %a, %b, %z, %w : (tensor<?x4xui8>, tensor<4x8xi8>, tensor<ui8>, tensor<i8>) -> tensor<?x8xi32>
  %1 = graph.requantize %0, %m, %m, %z : (tensor<?x8xi32>, tensor<f32>, tensor<f32>, tensor<ui8>) -> tensor<?x8xui8>
  %2 = graph.cast %1 {to = f32} : (tensor<?x8xui8>) -> tensor<?x8xf32>
  %3 = graph.integer_matmul %a, %b, %z, %w : (tensor<?x4xui8>, tensor<4x8xi8>, tensor<ui8>, tensor<i8>) -> tensor<?x8xi32>
  %4 = graph.requantize %3, %m, %m, %z : (tensor<?x8xi32>, tensor<f32>, tensor<f32>, tensor<ui8>) -> tensor<?x8xui8>
  %5 = graph.cast %4 {to = f32} : (tensor<?x8xui8>) -> tensor<?x8xf32>
  return %2, %3, %5 : tensor<?x8xf32>, tensor<?x8xi32>, tensor<?x8xf32>
}
