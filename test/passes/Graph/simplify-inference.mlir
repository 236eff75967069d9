// RUN: dlc-opt %s --graph-simplify-inference --split-input-file | FileCheck %s
// RUN: dlc-opt %s --verify-numerics --graph-simplify-inference --split-input-file -o /dev/null
// RUN: dlc-opt %s --graph-simplify-inference --split-input-file --remarks-filter='graph-.*' 2>&1 | FileCheck %s --check-prefix=REMARK
// What is constant per channel becomes part of weights.

// REMARK: FoldBatchNorm
// REMARK-SAME: batch_norm became weights

// w * 2 / sqrt(3.99999 + 1e-5) = w; bias 1 - 3 * 1 = -2 (channel 0), and with
// scale 4: 2 w, bias 0 - 0 (channel 1).
// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]]], [[[5.0]]]]> : tensor<2x1x1x1xf32>
  %scale = graph.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %bias = graph.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %mean = graph.constant dense<[3.0, 0.0]> : tensor<2xf32>
  %var = graph.constant dense<3.99999> : tensor<2xf32>
  %0 = graph.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.batch_norm %0, %scale, %bias, %mean, %var : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[\[\[}}1.000000e+00{{\]\]\], \[\[\[}}1.000000e+01]]]]>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<[-2.000000e+00, 0.000000e+00]>
  // CHECK: %[[Y:.*]] = graph.conv %{{.*}}, %[[W]], %[[B]]
  // CHECK-NEXT: return %[[Y]]
  return %1 : tensor<1x2x4x4xf32>
}

// -----

// Two groups of a transposed convolution: channels 0, 1 | 2, 3 lie in dimension
// 1 of the weights of inputs 0 | 1.
// CHECK-LABEL: func.func @conv_transpose
func.func @conv_transpose(%x: tensor<1x2x4xf32>) -> tensor<1x4x4xf32> {
  %w = graph.constant dense<1.0> : tensor<2x2x1xf32>
  %s = graph.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %0 = graph.conv_transpose %x, %w {group = 2 : i64} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x4x4xf32>
  %1 = graph.mul %s, %0 : (tensor<4x1xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  // CHECK: %[[W:.*]] = graph.constant dense<{{\[\[\[}}1.000000e+00], [2.000000e+00]], {{\[\[}}3.000000e+00], [4.000000e+00]]]>
  // CHECK: graph.conv_transpose %{{.*}}, %[[W]] {group = 2 : i64}
  // CHECK-NEXT: return
  return %1 : tensor<1x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @matmul
func.func @matmul(%x: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %scale = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %bias = graph.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %mean = graph.constant dense<0.0> : tensor<2xf32>
  %var = graph.constant dense<0.99999> : tensor<2xf32>
  %0 = graph.matmul %x, %w : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %1 = graph.batch_norm %0, %scale, %bias, %mean, %var : (tensor<8x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}1.000000e+00, 4.000000e+00], [3.000000e+00, 8.000000e+00]]>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>
  // CHECK: %[[P:.*]] = graph.matmul %{{.*}}, %[[W]]
  // CHECK: graph.add %[[P]], %[[B]]
  return %1 : tensor<8x2xf32>
}

// -----

// Nothing before it has weights, or they have another use.
// REMARK: batch_norm became mul and add
// CHECK-LABEL: func.func @alone
func.func @alone(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %scale = graph.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %bias = graph.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %mean = graph.constant dense<[3.0, 0.0]> : tensor<2xf32>
  %var = graph.constant dense<3.99999> : tensor<2xf32>
  %1 = graph.batch_norm %x, %scale, %bias, %mean, %var : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-DAG: %[[F:.*]] = graph.constant dense<{{.*}}> : tensor<2x1x1xf32>
  // CHECK-DAG: %[[S:.*]] = graph.constant dense<{{.*}}-2.000000e+00{{.*}}> : tensor<2x1x1xf32>
  // CHECK: %[[M:.*]] = graph.mul %arg0, %[[F]]
  // CHECK: graph.add %[[M]], %[[S]]
  return %1 : tensor<1x2x4x4xf32>
}

// -----

// A summand, a factor and another summand: one bias, one scaled weight.
// CHECK-LABEL: func.func @affine
func.func @affine(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]]], [[[5.0]]]]> : tensor<2x1x1x1xf32>
  %a = graph.constant dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>
  %f = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.add %0, %a : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.mul %1, %f : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %3 = graph.add %a, %2 : (tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[\[\[}}2.000000e+00{{\]\]\], \[\[\[}}1.000000e+01]]]]>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<[3.000000e+00, 6.000000e+00]>
  // CHECK: graph.conv %{{.*}}, %[[W]], %[[B]]
  // CHECK-NEXT: return
  return %3 : tensor<1x2x4x4xf32>
}

// -----

// A factor of each channel in front: of the weights' second dimension, group by
// group; of their first, where they are transposed or a matrix.
// CHECK-LABEL: func.func @before
func.func @before(%x: tensor<1x4x4x4xf32>, %m: tensor<3x2xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<3x1xf32>) {
  %w = graph.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %t = graph.constant dense<[[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]]> : tensor<4x1x1x1xf32>
  %f = graph.constant dense<[[[[1.0]], [[10.0]], [[100.0]], [[1000.0]]]]> : tensor<1x4x1x1xf32>
  %b = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %g = graph.constant dense<[3.0, 5.0]> : tensor<2xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[\[\[}}1.000000e+00{{\]\], \[\[}}2.000000e+01{{\]\]\], \[\[\[}}3.000000e+02{{\]\], \[\[}}4.000000e+03]]]]>
  // CHECK-DAG: %[[T:.*]] = graph.constant dense<{{\[\[\[\[}}1.000000e+00{{\]\]\], \[\[\[}}2.000000e+01{{\]\]\], \[\[\[}}3.000000e+02{{\]\]\], \[\[\[}}4.000000e+03]]]]>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<{{\[\[}}3.000000e+00], [1.000000e+01]]>
  // CHECK-DAG: graph.conv %arg0, %[[W]]
  // CHECK-DAG: graph.conv_transpose %arg0, %[[T]]
  // CHECK-DAG: graph.matmul %arg1, %[[B]]
  // CHECK-NOT: graph.mul
  %0 = graph.mul %x, %f : (tensor<1x4x4x4xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x4x4xf32>
  %1 = graph.conv %0, %w {group = 2 : i64} : (tensor<1x4x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.mul %f, %x : (tensor<1x4x1x1xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %3 = graph.conv_transpose %2, %t {group = 2 : i64} : (tensor<1x4x4x4xf32>, tensor<4x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %4 = graph.mul %m, %g : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %5 = graph.matmul %4, %b : (tensor<3x2xf32>, tensor<2x1xf32>) -> tensor<3x1xf32>
  return %1, %3, %5 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<3x1xf32>
}

// -----

// A large product is not transposed, its small operands are.
// CHECK-LABEL: func.func @transposed_product
func.func @transposed_product(%g: tensor<64x2xf32>, %x: tensor<2x32xf32>) -> tensor<32x64xf32> {
  // CHECK-DAG: %[[X:.*]] = graph.transpose %arg1
  // CHECK-DAG: %[[G:.*]] = graph.transpose %arg0
  // CHECK: %[[Y:.*]] = graph.matmul %[[X]], %[[G]] : (tensor<32x2xf32>, tensor<2x64xf32>) -> tensor<32x64xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = graph.matmul %g, %x : (tensor<64x2xf32>, tensor<2x32xf32>) -> tensor<64x32xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0>} : (tensor<64x32xf32>) -> tensor<32x64xf32>
  return %1 : tensor<32x64xf32>
}

// CHECK-LABEL: func.func @small_product
func.func @small_product(%g: tensor<2x64xf32>, %x: tensor<64x3xf32>) -> tensor<3x2xf32> {
  // CHECK: graph.matmul %arg0, %arg1
  // CHECK-NEXT: graph.transpose
  %0 = graph.matmul %g, %x : (tensor<2x64xf32>, tensor<64x3xf32>) -> tensor<2x3xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// -----

// A residual is no bias, and a shared convolution keeps its weights.
// CHECK-LABEL: func.func @keep
func.func @keep(%x: tensor<1x1x4x4xf32>, %r: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = graph.constant dense<[[[[1.0]]], [[[5.0]]]]> : tensor<2x1x1x1xf32>
  %f = graph.constant dense<2.0> : tensor<f32>
  // CHECK: graph.conv
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.mul
  %0 = graph.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.add %0, %r : tensor<1x2x4x4xf32>
  %2 = graph.mul %0, %f : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  return %1, %2 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @power
func.func @power(%x: tensor<8xf32>) -> tensor<8xf32> {
  %three = graph.constant dense<3.0> : tensor<f32>
  // CHECK: %[[S:.*]] = graph.mul %arg0, %arg0
  // CHECK: %[[C:.*]] = graph.mul %[[S]], %arg0
  // CHECK: return %[[C]]
  %y = graph.pow %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// 1/8 is exact, 1/3 is not.
// CHECK-LABEL: func.func @quotient
func.func @quotient(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %eight = graph.constant dense<8.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  // CHECK-DAG: %[[E:.*]] = graph.constant dense<1.250000e-01>
  // CHECK-DAG: graph.mul %arg0, %[[E]]
  // CHECK-DAG: graph.div
  %y = graph.div %x, %eight : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %z = graph.div %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// -----

// Dimension 1 of blocks is not one channel each.

// CHECK-LABEL: func.func @blocked
// CHECK: %[[Y:.*]] = graph.conv {{.*}}channel_block = 2
// CHECK: graph.mul %[[Y]]
func.func @blocked(%x: tensor<1x1x3x2xf32>) -> tensor<1x2x3x2xf32> {
  %w = graph.constant dense<0.5> : tensor<4x2x1xf32>
  %f = graph.constant dense<[[[[2.0]], [[3.0]]]]> : tensor<1x2x1x1xf32>
  %0 = graph.conv %x, %w {channel_block = 2 : i64} : (tensor<1x1x3x2xf32>, tensor<4x2x1xf32>) -> tensor<1x2x3x2xf32>
  %1 = graph.mul %0, %f : (tensor<1x2x3x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x2xf32>
  return %1 : tensor<1x2x3x2xf32>
}

// -----

// In either order; the sigmoid stays for others.

// CHECK-LABEL: func.func @silu
// CHECK-DAG: %[[S:.*]] = graph.sigmoid %arg1
// CHECK-DAG: %[[A:.*]] = graph.silu %arg0
// CHECK-DAG: %[[B:.*]] = graph.silu %arg1
// CHECK: return %[[A]], %[[B]], %[[S]]
func.func @silu(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.sigmoid %x : tensor<8xf32>
  %1 = graph.mul %x, %0 : tensor<8xf32>
  %2 = graph.sigmoid %y : tensor<8xf32>
  %3 = graph.mul %2, %y : tensor<8xf32>
  return %1, %3, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// The gate of another value is none.

// CHECK-LABEL: func.func @gates
// CHECK-NOT: graph.silu
func.func @gates(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.sigmoid %y : tensor<8xf32>
  %1 = graph.mul %x, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Quotients and products, inside and outside; clamps to others stay.

// CHECK-LABEL: func.func @hard_swish
// CHECK-COUNT-4: graph.hard_swish %arg0
// CHECK: %[[C:.*]] = graph.clamp
// CHECK-NEXT: %[[D:.*]] = graph.mul %arg0, %[[C]]
// CHECK-NEXT: %[[E:.*]] = graph.div %[[D]]
// CHECK-NEXT: return %{{.*}}, %[[E]]
func.func @hard_swish(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<1xf32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %seven = graph.constant dense<7.0> : tensor<f32>
  %sixth = graph.constant dense<0.166666672> : tensor<f32>
  %0 = graph.add %x, %three : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  %1 = graph.clamp %0, %zero, %six : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.mul %x, %1 : tensor<8xf32>
  %3 = graph.div %2, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = graph.mul %sixth, %2 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %5 = graph.div %1, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %6 = graph.mul %5, %x : tensor<8xf32>
  %7 = graph.hard_sigmoid %x {alpha = 0.166666672 : f32} : tensor<8xf32>
  %8 = graph.mul %x, %7 : tensor<8xf32>
  %9 = graph.clamp %0, %zero, %seven : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %10 = graph.mul %x, %9 : tensor<8xf32>
  %11 = graph.div %10, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %3, %4, %6, %8, %11 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// As exporters write it; the half does not become part of weights behind.

// CHECK-LABEL: func.func @gelu
// CHECK-DAG: %[[W:.*]] = graph.constant dense<1.000000e+00> : tensor<8x8xf32>
// CHECK-DAG: %[[A:.*]] = graph.gelu %arg0 : tensor<8x8xf32>
// CHECK-DAG: %[[B:.*]] = graph.gelu %arg1 : tensor<8x8xf32>
// CHECK-DAG: %[[C:.*]] = graph.matmul %[[A]], %[[W]]
// CHECK: return %[[C]], %[[B]]
func.func @gelu(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %sqrt2 = graph.constant dense<1.41421354> : tensor<f32>
  %inverse = graph.constant dense<0.707106769> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %w = graph.constant dense<1.0> : tensor<8x8xf32>
  %0 = graph.div %x, %sqrt2 : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %1 = graph.erf %0 : tensor<8x8xf32>
  %2 = graph.add %1, %one : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %3 = graph.mul %x, %2 : tensor<8x8xf32>
  %4 = graph.mul %3, %half : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %5 = graph.matmul %4, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = graph.mul %inverse, %y : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = graph.erf %6 : tensor<8x8xf32>
  %8 = graph.add %one, %7 : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %9 = graph.mul %half, %8 : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %10 = graph.mul %y, %9 : tensor<8x8xf32>
  return %5, %10 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @gelu_by_tanh
// CHECK-NEXT: %[[A:.*]] = graph.gelu %arg0 {approximate = "tanh"} : tensor<8xf32>
// CHECK-NEXT: return %[[A]]
func.func @gelu_by_tanh(%x: tensor<8xf32>) -> tensor<8xf32> {
  %three = graph.constant dense<3.0> : tensor<f32>
  %third = graph.constant dense<0.044715> : tensor<f32>
  %scale = graph.constant dense<0.797884583> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.mul %x, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = graph.pow %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.mul %1, %third : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = graph.add %x, %2 : tensor<8xf32>
  %4 = graph.mul %3, %scale : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %5 = graph.tanh %4 : tensor<8xf32>
  %6 = graph.add %5, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %7 = graph.mul %0, %6 : tensor<8xf32>
  return %7 : tensor<8xf32>
}

// -----

// Short floats that are a neighbour of a number are another one.

// CHECK-LABEL: func.func @not_gelu_of_halves
// CHECK-NOT: graph.gelu
// CHECK: return
func.func @not_gelu_of_halves(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  %inverse = graph.constant dense<0.707106769> : tensor<bf16>
  %one = graph.constant dense<1.0078125> : tensor<bf16>
  %half = graph.constant dense<0.5> : tensor<bf16>
  %0 = graph.mul %x, %inverse : (tensor<8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  %1 = graph.erf %0 : tensor<8xbf16>
  %2 = graph.add %1, %one : (tensor<8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  %3 = graph.mul %x, %2 : tensor<8xbf16>
  %4 = graph.mul %3, %half : (tensor<8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  return %4 : tensor<8xbf16>
}

// -----

// Of another value, or by another number, it is none.

// CHECK-LABEL: func.func @not_gelu
// CHECK-NOT: graph.gelu
// CHECK: return
func.func @not_gelu(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %sqrt2 = graph.constant dense<1.41421354> : tensor<f32>
  %other = graph.constant dense<1.4142> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.div %x, %sqrt2 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = graph.erf %0 : tensor<8xf32>
  %2 = graph.add %1, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = graph.mul %y, %2 : tensor<8xf32>
  %4 = graph.mul %3, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %5 = graph.div %x, %other : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %6 = graph.erf %5 : tensor<8xf32>
  %7 = graph.add %6, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %8 = graph.mul %x, %7 : tensor<8xf32>
  %9 = graph.mul %8, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %4, %9 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Short floats: into weights, each rounded once, and not where these overflow.
// CHECK-LABEL: func.func @halves
// CHECK-DAG: graph.constant dense<{{.*}}2.0{{.*}}> : tensor<1x1x1x1xf16>
// CHECK: graph.conv
// CHECK-NOT: graph.batch_norm
// CHECK: return
func.func @halves(%x: tensor<1x1x4x4xf16>) -> tensor<1x1x4x4xf16> {
  %w = graph.constant dense<1.0> : tensor<1x1x1x1xf16>
  %scale = graph.constant dense<2.0> : tensor<1xf16>
  %zero = graph.constant dense<0.0> : tensor<1xf16>
  %one = graph.constant dense<1.0> : tensor<1xf16>
  %0 = graph.conv %x, %w : (tensor<1x1x4x4xf16>, tensor<1x1x1x1xf16>) -> tensor<1x1x4x4xf16>
  %1 = graph.batch_norm %0, %scale, %zero, %zero, %one {epsilon = 0.0 : f32} : (tensor<1x1x4x4xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x1x4x4xf16>
  return %1 : tensor<1x1x4x4xf16>
}

// -----

// CHECK-LABEL: func.func @beyond
// CHECK: graph.batch_norm
func.func @beyond(%x: tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16> {
  %w = graph.constant dense<[[[[4096.0]], [[1.0]]], [[[1.0]], [[2.0]]]]> : tensor<2x2x1x1xf16>
  %scale = graph.constant dense<[32.0, 1.0]> : tensor<2xf16>
  %zero = graph.constant dense<0.0> : tensor<2xf16>
  %one = graph.constant dense<1.0> : tensor<2xf16>
  %0 = graph.conv %x, %w : (tensor<1x2x4x4xf16>, tensor<2x2x1x1xf16>) -> tensor<1x2x4x4xf16>
  %1 = graph.batch_norm %0, %scale, %zero, %zero, %one {epsilon = 0.0 : f32} : (tensor<1x2x4x4xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<1x2x4x4xf16>
  return %1 : tensor<1x2x4x4xf16>
}

// -----

// A shift that overflows, weights that would have no bits left.
// CHECK-LABEL: func.func @shift
// CHECK: graph.batch_norm
func.func @shift(%x: tensor<1x1x4x4xf16>) -> tensor<1x1x4x4xf16> {
  %w = graph.constant dense<10.0> : tensor<1x1x1x1xf16>
  %number = graph.constant dense<300.0> : tensor<1xf16>
  %zero = graph.constant dense<0.0> : tensor<1xf16>
  %one = graph.constant dense<1.0> : tensor<1xf16>
  %0 = graph.conv %x, %w : (tensor<1x1x4x4xf16>, tensor<1x1x1x1xf16>) -> tensor<1x1x4x4xf16>
  %1 = graph.batch_norm %0, %number, %zero, %number, %one {epsilon = 0.0 : f32} : (tensor<1x1x4x4xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x1x4x4xf16>
  return %1 : tensor<1x1x4x4xf16>
}
// CHECK-LABEL: func.func @below
// CHECK: graph.batch_norm
func.func @below(%x: tensor<1x1x4x4xf16>) -> tensor<1x1x4x4xf16> {
  %w = graph.constant dense<0.001> : tensor<1x1x1x1xf16>
  %var = graph.constant dense<60000.0> : tensor<1xf16>
  %zero = graph.constant dense<0.0> : tensor<1xf16>
  %one = graph.constant dense<1.0> : tensor<1xf16>
  %0 = graph.conv %x, %w : (tensor<1x1x4x4xf16>, tensor<1x1x1x1xf16>) -> tensor<1x1x4x4xf16>
  %1 = graph.batch_norm %0, %one, %zero, %zero, %var {epsilon = 0.0 : f32} : (tensor<1x1x4x4xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x1x4x4xf16>
  return %1 : tensor<1x1x4x4xf16>
}
