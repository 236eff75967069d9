// RUN: dlc-opt %s --graph-fuse-operators | FileCheck %s
// RUN: dlc-opt %s --graph-fuse-operators --convert-graph-to-kernel --convert-kernel-to-call | FileCheck %s --check-prefix=CALL
// A library computes attention as a whole; in the forms that exporters write.

// BERT: [S, H, D] turned round, a divisor, an additive mask.
// CHECK-LABEL: func.func @bert
// CALL: kernel.library @[[BERT:.*]] "cpu.attention" {k_order = array<i64: 0, 2, 3, 1>, masks = array<i64: 0>, q_order = array<i64: 0, 2, 1, 3>, scale = 1.250000e-01 : f64, scores = array<i64: 1, 12, 32, 40>, v_order = array<i64: 0, 2, 1, 3>, y_order = array<i64: 0, 2, 1, 3>}
// CALL-SAME: (tensor<1x32x12x64xf32>, tensor<1x40x12x64xf32>, tensor<1x40x12x64xf32>, tensor<1x1x1x40xf32>) -> tensor<1x32x12x64xf32>
func.func @bert(%q: tensor<1x32x12x64xf32>, %k: tensor<1x40x12x64xf32>, %v: tensor<1x40x12x64xf32>, %mask: tensor<1x1x1x40xf32>) -> tensor<1x32x12x64xf32> {
  // CHECK: graph.fusion
  // CHECK-COUNT-3: graph.transpose
  // CHECK: graph.matmul
  // CHECK-NEXT: graph.div
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.softmax
  // CHECK-NEXT: graph.matmul
  // CHECK-NEXT: graph.transpose
  // CHECK-NEXT: graph.yield
  %c8 = graph.constant dense<8.0> : tensor<f32>
  %qt = graph.transpose %q {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x32x12x64xf32>) -> tensor<1x12x32x64xf32>
  %kt = graph.transpose %k {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x40x12x64xf32>) -> tensor<1x12x64x40xf32>
  %vt = graph.transpose %v {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x40x12x64xf32>) -> tensor<1x12x40x64xf32>
  %0 = graph.matmul %qt, %kt : (tensor<1x12x32x64xf32>, tensor<1x12x64x40xf32>) -> tensor<1x12x32x40xf32>
  %1 = graph.div %0, %c8 : (tensor<1x12x32x40xf32>, tensor<f32>) -> tensor<1x12x32x40xf32>
  %2 = graph.add %mask, %1 : (tensor<1x1x1x40xf32>, tensor<1x12x32x40xf32>) -> tensor<1x12x32x40xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : tensor<1x12x32x40xf32>
  %4 = graph.matmul %3, %vt : (tensor<1x12x32x40xf32>, tensor<1x12x40x64xf32>) -> tensor<1x12x32x64xf32>
  %y = graph.transpose %4 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x12x32x64xf32>) -> tensor<1x32x12x64xf32>
  return %y : tensor<1x32x12x64xf32>
}

// PyTorch's scaled_dot_product_attention: both operands are scaled, keys turned
// round once more, scores masked by a choice.
// CHECK-LABEL: func.func @sdpa
// CALL: kernel.library {{.*}} "cpu.attention" {fill = -3.4028234663852886E+38 : f64, k_order = array<i64: 0, 2, 3, 1>, masks = array<i64: 1>, q_order = array<i64: 0, 2, 1, 3>, query_scale = 2.500000e-01 : f64, scores = array<i64: 2, 4, 8, 8>}
// CALL-SAME: (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8x16xf32>, tensor<8x8xi1>) -> tensor<2x4x8x16xf32>
func.func @sdpa(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x4x8x16xf32>, %mask: tensor<8x8xi1>) -> tensor<2x4x8x16xf32> {
  // CHECK: graph.fusion
  // CHECK: graph.matmul
  // CHECK: graph.matmul
  // CHECK-NEXT: graph.yield
  %half = graph.constant dense<0.5> : tensor<f32>
  %lowest = graph.constant dense<-3.40282347E+38> : tensor<f32>
  %qt = graph.transpose %q {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %qs = graph.mul %qt, %half : (tensor<2x4x8x16xf32>, tensor<f32>) -> tensor<2x4x8x16xf32>
  %k1 = graph.transpose %k {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %k2 = graph.transpose %k1 {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x8x16xf32>) -> tensor<2x4x16x8xf32>
  %ks = graph.mul %k2, %half : (tensor<2x4x16x8xf32>, tensor<f32>) -> tensor<2x4x16x8xf32>
  %0 = graph.matmul %qs, %ks : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.select %mask, %0, %lowest : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %2 = graph.softmax %1 : tensor<2x4x8x8xf32>
  %y = graph.matmul %2, %v : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %y : tensor<2x4x8x16xf32>
}

// Products of rank 3, with masks of rank 4 in between.
// CHECK-LABEL: func.func @batched
// CALL: kernel.library {{.*}} "cpu.attention" {k_order = array<i64: 0, 2, 3, 1>, masks = array<i64: 0>, q_order = array<i64: 0, 2, 1, 3>, scores = array<i64: 2, 4, 8, 8>, v_order = array<i64: 0, 2, 1, 3>, y_order = array<i64: 0, 2, 1, 3>}
// CALL-SAME: (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x1x8x8xf32>) -> tensor<2x8x4x16xf32>
func.func @batched(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %mask: tensor<2x1x8x8xf32>) -> tensor<2x8x4x16xf32> {
  // CHECK: graph.fusion
  // CHECK: graph.matmul
  // CHECK: graph.matmul
  // CHECK: graph.transpose
  // CHECK-NEXT: graph.yield
  %s3 = graph.constant dense<[8, 8, 16]> : tensor<3xi64>
  %s4 = graph.constant dense<[2, 4, 8, 16]> : tensor<4xi64>
  %p3 = graph.constant dense<[8, 8, 8]> : tensor<3xi64>
  %p4 = graph.constant dense<[2, 4, 8, 8]> : tensor<4xi64>
  %q1 = graph.transpose %q {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %q2 = graph.reshape %q1, %s3 : (tensor<2x4x8x16xf32>, tensor<3xi64>) -> tensor<8x8x16xf32>
  %k1 = graph.transpose %k {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %k2 = graph.reshape %k1, %s3 : (tensor<2x4x8x16xf32>, tensor<3xi64>) -> tensor<8x8x16xf32>
  %k3 = graph.transpose %k2 {perm = array<i64: 0, 2, 1>} : (tensor<8x8x16xf32>) -> tensor<8x16x8xf32>
  %v1 = graph.transpose %v {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %v2 = graph.reshape %v1, %s3 : (tensor<2x4x8x16xf32>, tensor<3xi64>) -> tensor<8x8x16xf32>
  %0 = graph.matmul %q2, %k3 : (tensor<8x8x16xf32>, tensor<8x16x8xf32>) -> tensor<8x8x8xf32>
  %1 = graph.reshape %0, %p4 : (tensor<8x8x8xf32>, tensor<4xi64>) -> tensor<2x4x8x8xf32>
  %2 = graph.add %1, %mask : (tensor<2x4x8x8xf32>, tensor<2x1x8x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = graph.reshape %2, %p3 : (tensor<2x4x8x8xf32>, tensor<3xi64>) -> tensor<8x8x8xf32>
  %4 = graph.softmax %3 : tensor<8x8x8xf32>
  %5 = graph.matmul %4, %v2 : (tensor<8x8x8xf32>, tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  %6 = graph.reshape %5, %s4 : (tensor<8x8x16xf32>, tensor<4xi64>) -> tensor<2x4x8x16xf32>
  %y = graph.transpose %6 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x4x8x16xf32>) -> tensor<2x8x4x16xf32>
  return %y : tensor<2x8x4x16xf32>
}

// Heads of queries that share keys are rows of one product, as ONNX's Attention
// is imported.
// CHECK-LABEL: func.func @grouped
// CALL: kernel.library {{.*}} "cpu.attention" {k_order = array<i64: 0, 1, 3, 2>, masks = array<i64: 2>, query_scale = 2.500000e-01 : f64, scores = array<i64: 1, 6, 5, 7>}
// CALL-SAME: (tensor<1x6x5x16xf32>, tensor<1x2x7x16xf32>, tensor<1x2x7x8xf32>, tensor<5x7xi1>) -> tensor<1x6x5x8xf32>
func.func @grouped(%q: tensor<1x6x5x16xf32>, %k: tensor<1x2x7x16xf32>, %v: tensor<1x2x7x8xf32>, %mask: tensor<5x7xi1>) -> tensor<1x6x5x8xf32> {
  // CHECK: graph.fusion
  // CHECK: graph.matmul
  // CHECK: graph.matmul
  // CHECK-NEXT: graph.reshape
  // CHECK-NEXT: graph.yield
  %quarter = graph.constant dense<0.25> : tensor<f32>
  %none = graph.constant dense<0xFF800000> : tensor<f32>
  %rows = graph.constant dense<[0, 2, -1, 0]> : tensor<4xi64>
  %heads = graph.constant dense<[0, 6, -1, 0]> : tensor<4xi64>
  %qs = graph.mul %q, %quarter : (tensor<1x6x5x16xf32>, tensor<f32>) -> tensor<1x6x5x16xf32>
  %qr = graph.reshape %qs, %rows : (tensor<1x6x5x16xf32>, tensor<4xi64>) -> tensor<1x2x15x16xf32>
  %kt = graph.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x7x16xf32>) -> tensor<1x2x16x7xf32>
  %0 = graph.matmul %qr, %kt : (tensor<1x2x15x16xf32>, tensor<1x2x16x7xf32>) -> tensor<1x2x15x7xf32>
  %1 = graph.reshape %0, %heads : (tensor<1x2x15x7xf32>, tensor<4xi64>) -> tensor<1x6x5x7xf32>
  %2 = graph.select %mask, %none, %1 : (tensor<5x7xi1>, tensor<f32>, tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32>
  %3 = graph.softmax %2 : tensor<1x6x5x7xf32>
  %4 = graph.reshape %3, %rows : (tensor<1x6x5x7xf32>, tensor<4xi64>) -> tensor<1x2x15x7xf32>
  %5 = graph.matmul %4, %v : (tensor<1x2x15x7xf32>, tensor<1x2x7x8xf32>) -> tensor<1x2x15x8xf32>
  %y = graph.reshape %5, %heads : (tensor<1x2x15x8xf32>, tensor<4xi64>) -> tensor<1x6x5x8xf32>
  return %y : tensor<1x6x5x8xf32>
}

// A mask that is known and causal is a number: row i sees up to column i + 2.
// CHECK-LABEL: func.func @causal
// CALL: kernel.library {{.*}} "cpu.attention" {causal_offset = 2 : i64, masks = array<i64: 3>, scores = array<i64: 4, 3, 5>}
// CALL-SAME: (tensor<4x3x16xf32>, tensor<4x16x5xf32>, tensor<4x5x16xf32>) -> tensor<4x3x16xf32>
func.func @causal(%q: tensor<4x3x16xf32>, %k: tensor<4x16x5xf32>, %v: tensor<4x5x16xf32>) -> tensor<4x3x16xf32> {
  %none = graph.constant dense<0xFF800000> : tensor<f32>
  %mask = graph.constant dense<[[[true, true, true, false, false], [true, true, true, true, false], [true, true, true, true, true]]]> : tensor<1x3x5xi1>
  %0 = graph.matmul %q, %k : (tensor<4x3x16xf32>, tensor<4x16x5xf32>) -> tensor<4x3x5xf32>
  %1 = graph.select %mask, %0, %none : (tensor<1x3x5xi1>, tensor<4x3x5xf32>, tensor<f32>) -> tensor<4x3x5xf32>
  %2 = graph.softmax %1 : tensor<4x3x5xf32>
  %y = graph.matmul %2, %v : (tensor<4x3x5xf32>, tensor<4x5x16xf32>) -> tensor<4x3x16xf32>
  return %y : tensor<4x3x16xf32>
}

// Another mask that is known stays an operand.
// CHECK-LABEL: func.func @known
// CALL: kernel.library {{.*}} "cpu.attention" {masks = array<i64: 2>, scores = array<i64: 4, 3, 3>}
// CALL-SAME: (tensor<4x3x16xf32>, tensor<4x16x3xf32>, tensor<4x3x16xf32>, tensor<3x3xi1>) -> tensor<4x3x16xf32>
func.func @known(%q: tensor<4x3x16xf32>, %k: tensor<4x16x3xf32>, %v: tensor<4x3x16xf32>) -> tensor<4x3x16xf32> {
  %none = graph.constant dense<0xFF800000> : tensor<f32>
  %mask = graph.constant dense<[[false, true, true], [false, false, true], [true, false, false]]> : tensor<3x3xi1>
  %0 = graph.matmul %q, %k : (tensor<4x3x16xf32>, tensor<4x16x3xf32>) -> tensor<4x3x3xf32>
  %1 = graph.select %mask, %none, %0 : (tensor<3x3xi1>, tensor<f32>, tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
  %2 = graph.softmax %1 : tensor<4x3x3xf32>
  %y = graph.matmul %2, %v : (tensor<4x3x3xf32>, tensor<4x3x16xf32>) -> tensor<4x3x16xf32>
  return %y : tensor<4x3x16xf32>
}

// A gradient reads the weights, or a caller does: then they are computed.
// CHECK-LABEL: func.func @weights
// CALL-NOT: "cpu.attention"
func.func @weights(%q: tensor<4x8x16xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x8x16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8x8xf32>) {
  // CHECK-NOT: graph.fusion
  // CHECK: return
  %0 = graph.matmul %q, %k : (tensor<4x8x16xf32>, tensor<4x16x8xf32>) -> tensor<4x8x8xf32>
  %1 = graph.softmax %0 : tensor<4x8x8xf32>
  %y = graph.matmul %1, %v : (tensor<4x8x8xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  return %y, %1 : tensor<4x8x16xf32>, tensor<4x8x8xf32>
}

// Not attention: another axis, keys that broadcast over the first dimension,
// scores that are scaled after they are masked, weights on the right.
// CHECK-LABEL: func.func @others
func.func @others(%q: tensor<4x8x8xf32>, %k: tensor<4x8x8xf32>, %shared: tensor<1x3x8x8xf32>, %many: tensor<2x3x8x8xf32>) -> (tensor<4x8x8xf32>, tensor<2x3x8x8xf32>, tensor<4x8x8xf32>, tensor<4x8x8xf32>) {
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.matmul %q, %k : (tensor<4x8x8xf32>, tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : tensor<4x8x8xf32>
  %2 = graph.matmul %1, %k : (tensor<4x8x8xf32>, tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %3 = graph.matmul %many, %shared : (tensor<2x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<2x3x8x8xf32>
  %4 = graph.softmax %3 : tensor<2x3x8x8xf32>
  %5 = graph.matmul %4, %shared : (tensor<2x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<2x3x8x8xf32>
  %6 = graph.matmul %k, %q : (tensor<4x8x8xf32>, tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %7 = graph.add %6, %q : tensor<4x8x8xf32>
  %8 = graph.mul %7, %half : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x8x8xf32>
  %9 = graph.softmax %8 : tensor<4x8x8xf32>
  %10 = graph.matmul %9, %q : (tensor<4x8x8xf32>, tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %11 = graph.matmul %q, %q : (tensor<4x8x8xf32>, tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %12 = graph.softmax %11 : tensor<4x8x8xf32>
  %13 = graph.matmul %q, %12 : (tensor<4x8x8xf32>, tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  return %2, %5, %10, %13 : tensor<4x8x8xf32>, tensor<2x3x8x8xf32>, tensor<4x8x8xf32>, tensor<4x8x8xf32>
}

// Scaled values are computed in front, whatever queries are scaled by.
// CHECK-LABEL: func.func @scaled_values
// CALL: kernel.library {{.*}} "cpu.attention" {query_scale = 0.000000e+00 : f64}
// CALL: %[[V:.*]] = kernel.call {{.*}}(%{{.*}}) : (tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
// CALL: kernel.call {{.*}}(%{{.*}}, %{{.*}}, %[[V]])
func.func @scaled_values(%q: tensor<4x8x16xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  // CHECK: graph.mul %{{.*}} : (tensor<4x8x16xf32>, tensor<f32>)
  // CHECK: graph.fusion
  %none = graph.constant dense<0.0> : tensor<f32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.mul %q, %none : (tensor<4x8x16xf32>, tensor<f32>) -> tensor<4x8x16xf32>
  %1 = graph.mul %v, %two : (tensor<4x8x16xf32>, tensor<f32>) -> tensor<4x8x16xf32>
  %2 = graph.matmul %0, %k : (tensor<4x8x16xf32>, tensor<4x16x8xf32>) -> tensor<4x8x8xf32>
  %3 = graph.softmax %2 : tensor<4x8x8xf32>
  %y = graph.matmul %3, %1 : (tensor<4x8x8xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  return %y : tensor<4x8x16xf32>
}
