// RUN: dlc-opt %s --graph-multiply-integers --split-input-file | FileCheck %s
// Products of what was quantised are those of its integers.

// CHECK-LABEL: func.func @columns
// CHECK-SAME: %[[A:.*]]: tensor<8x16xui8>, %[[B:.*]]: tensor<16x4xi8>, %[[S:.*]]: tensor<f32>, %[[Z:.*]]: tensor<ui8>, %[[T:.*]]: tensor<4xf32>, %[[U:.*]]: tensor<4xi8>
func.func @columns(%a: tensor<8x16xui8>, %b: tensor<16x4xi8>, %s: tensor<f32>, %z: tensor<ui8>, %t: tensor<4xf32>, %u: tensor<4xi8>) -> tensor<8x4xf32> {
  // CHECK: %[[SUMS:.*]] = graph.integer_matmul %[[A]], %[[B]], %[[Z]], %[[U]]
  // CHECK: %[[FLOATS:.*]] = graph.cast %[[SUMS]] {to = f32}
  // CHECK: %[[SCALE:.*]] = graph.mul %[[S]], %[[T]]
  // CHECK: %[[Y:.*]] = graph.mul %[[FLOATS]], %[[SCALE]]
  // CHECK: return %[[Y]]
  %x = graph.dequantize_linear %a, %s, %z : (tensor<8x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<8x16xf32>
  %w = graph.dequantize_linear %b, %t, %u : (tensor<16x4xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<16x4xf32>
  %y = graph.matmul %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// What was turned round since is, before: columns were rows.
// CHECK-LABEL: func.func @turned
// CHECK: %[[B:.*]] = graph.transpose %{{.*}} {perm = array<i64: 1, 0>} : (tensor<4x16xi8>) -> tensor<16x4xi8>
// CHECK: graph.integer_matmul %{{.*}}, %[[B]]
func.func @turned(%a: tensor<8x16xi8>, %b: tensor<4x16xi8>, %s: tensor<1xf32>, %z: tensor<1xi8>, %t: tensor<4xf32>, %u: tensor<4xi8>) -> tensor<8x4xf32> {
  %x = graph.dequantize_linear %a, %s, %z : (tensor<8x16xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<8x16xf32>
  %w = graph.dequantize_linear %b, %t, %u {axis = 0 : i64} : (tensor<4x16xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<4x16xf32>
  %v = graph.transpose %w {perm = array<i64: 1, 0>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %y = graph.matmul %x, %v : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Scales along the summed dimension are no factor of sums.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: graph.integer_matmul
func.func @rows(%a: tensor<8x16xui8>, %b: tensor<16x4xi8>, %s: tensor<f32>, %z: tensor<ui8>, %t: tensor<16xf32>, %u: tensor<16xi8>) -> tensor<8x4xf32> {
  %x = graph.dequantize_linear %a, %s, %z : (tensor<8x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<8x16xf32>
  %w = graph.dequantize_linear %b, %t, %u {axis = 0 : i64} : (tensor<16x4xi8>, tensor<16xf32>, tensor<16xi8>) -> tensor<16x4xf32>
  %y = graph.matmul %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Nor one for each row of the first factor, blocks, 16 bits or doubles.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.integer_matmul
func.func @others(%a: tensor<8x16xui8>, %h: tensor<8x16xi16>, %b: tensor<16x4xi8>, %s: tensor<f32>, %d: tensor<f64>, %z: tensor<ui8>, %zh: tensor<i16>, %u: tensor<i8>, %r: tensor<8xf32>, %zr: tensor<8xui8>, %t: tensor<2x4xf32>, %zt: tensor<2x4xi8>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf64>) {
  %w = graph.dequantize_linear %b, %s, %u : (tensor<16x4xi8>, tensor<f32>, tensor<i8>) -> tensor<16x4xf32>
  %0 = graph.dequantize_linear %a, %r, %zr {axis = 0 : i64} : (tensor<8x16xui8>, tensor<8xf32>, tensor<8xui8>) -> tensor<8x16xf32>
  %1 = graph.matmul %0, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %2 = graph.dequantize_linear %a, %s, %z : (tensor<8x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<8x16xf32>
  %3 = graph.dequantize_linear %b, %t, %zt {axis = 0 : i64, block_size = 8 : i64} : (tensor<16x4xi8>, tensor<2x4xf32>, tensor<2x4xi8>) -> tensor<16x4xf32>
  %4 = graph.matmul %2, %3 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %5 = graph.dequantize_linear %h, %s, %zh : (tensor<8x16xi16>, tensor<f32>, tensor<i16>) -> tensor<8x16xf32>
  %6 = graph.matmul %5, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %7 = graph.dequantize_linear %a, %d, %z : (tensor<8x16xui8>, tensor<f64>, tensor<ui8>) -> tensor<8x16xf64>
  %8 = graph.dequantize_linear %b, %d, %u : (tensor<16x4xi8>, tensor<f64>, tensor<i8>) -> tensor<16x4xf64>
  %9 = graph.matmul %7, %8 : (tensor<8x16xf64>, tensor<16x4xf64>) -> tensor<8x4xf64>
  return %1, %4, %6, %9 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf64>
}

// -----

// Sums of more terms might wrap around.
// CHECK-LABEL: func.func @long
// CHECK-NOT: graph.integer_matmul
func.func @long(%a: tensor<1x32769xui8>, %b: tensor<32769x1xi8>, %s: tensor<f32>, %z: tensor<ui8>, %u: tensor<i8>) -> tensor<1x1xf32> {
  %x = graph.dequantize_linear %a, %s, %z : (tensor<1x32769xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x32769xf32>
  %w = graph.dequantize_linear %b, %s, %u : (tensor<32769x1xi8>, tensor<f32>, tensor<i8>) -> tensor<32769x1xf32>
  %y = graph.matmul %x, %w : (tensor<1x32769xf32>, tensor<32769x1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// -----

// A GPU's libraries have faster products of floats. The number of rows need not
// be known.
// CHECK-LABEL: func.func @placed
// CHECK: graph.matmul {{.*}} {device = #dlc.device<cuda:0>}
// CHECK: graph.integer_matmul {{.*}} {graph.group = "g"}
// CHECK: graph.mul {{.*}} {graph.group = "g"}
func.func @placed(%a: tensor<?x16xui8>, %b: tensor<16x4xi8>, %s: tensor<f32>, %z: tensor<ui8>, %u: tensor<i8>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %x = graph.dequantize_linear %a, %s, %z : (tensor<?x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x16xf32>
  %w = graph.dequantize_linear %b, %s, %u : (tensor<16x4xi8>, tensor<f32>, tensor<i8>) -> tensor<16x4xf32>
  %y = graph.matmul %x, %w {device = #dlc.device<cuda:0>} : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
  %t = graph.matmul %x, %w {graph.group = "g"} : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
  return %y, %t : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// A convolution in QDQ form, of which ReLU ends where small integers do.
// CHECK-LABEL: func.func @conv
// CHECK: %[[SUMS:.*]] = graph.integer_conv %arg0, %arg1, %{{.*}}, %{{.*}} {{{.*}}pads = array<i64: 1, 1, 1, 1>{{.*}}} : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8>, tensor<4xi8>) -> tensor<1x4x8x8xi32>
// CHECK: graph.requantize %[[SUMS]], %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x4x8x8xi32>, tensor<4x1x1xf32>, tensor<4x1x1xf32>, tensor<ui8>) -> tensor<1x4x8x8xui8>
func.func @conv(%a: tensor<1x3x8x8xui8>, %b: tensor<4x3x3x3xi8>, %s: tensor<f32>, %t: tensor<4xf32>, %z: tensor<4xi8>, %c: tensor<4xf32>) -> tensor<1x4x8x8xui8> {
  %zero = graph.constant dense<0> : tensor<ui8>
  %scale = graph.constant dense<0.5> : tensor<f32>
  %x = graph.dequantize_linear %a, %s, %zero : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x8x8xf32>
  %w = graph.dequantize_linear %b, %t, %z {axis = 0 : i64} : (tensor<4x3x3x3xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<4x3x3x3xf32>
  %0 = graph.conv %x, %w, %c {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %1 = graph.relu %0 : tensor<1x4x8x8xf32>
  %y = graph.quantize_linear %1, %scale, %zero : (tensor<1x4x8x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x8x8xui8>
  return %y : tensor<1x4x8x8xui8>
}

// -----

// ReLU that ends elsewhere, and a limit that does.
// CHECK-LABEL: func.func @limits
// CHECK: graph.relu
// CHECK: graph.quantize_linear
// CHECK: graph.requantize
// CHECK: graph.clamp
// CHECK: graph.quantize_linear
// CHECK-NOT: graph.requantize
func.func @limits(%a: tensor<2x4xui8>, %b: tensor<4x4xi8>, %s: tensor<f32>, %z: tensor<ui8>, %u: tensor<i8>) -> (tensor<2x4xui8>, tensor<2x4xui8>, tensor<2x4xui8>) {
  %zero = graph.constant dense<0> : tensor<ui8>
  %one = graph.constant dense<1> : tensor<ui8>
  %low = graph.constant dense<0.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %fine = graph.constant dense<0.0235294122> : tensor<f32>
  %coarse = graph.constant dense<0.5> : tensor<f32>
  %x = graph.dequantize_linear %a, %s, %z : (tensor<2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xf32>
  %w = graph.dequantize_linear %b, %s, %u : (tensor<4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<4x4xf32>
  %0 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = graph.relu %0 : tensor<2x4xf32>
  %2 = graph.quantize_linear %1, %coarse, %one : (tensor<2x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  %3 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %4 = graph.clamp %3, %low, %six : (tensor<2x4xf32>, tensor<f32>, tensor<f32>) -> tensor<2x4xf32>
  %5 = graph.quantize_linear %4, %fine, %zero : (tensor<2x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  %6 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %7 = graph.clamp %6, %low, %six : (tensor<2x4xf32>, tensor<f32>, tensor<f32>) -> tensor<2x4xf32>
  %8 = graph.quantize_linear %7, %coarse, %zero : (tensor<2x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  return %2, %5, %8 : tensor<2x4xui8>, tensor<2x4xui8>, tensor<2x4xui8>
}

// -----

// QLinearConv has its bias in front of the scale: it goes behind that where it is
// known to be small.
// CHECK-LABEL: func.func @bias_of_sums
// CHECK: %[[SUMS:.*]] = graph.integer_conv
// CHECK: graph.requantize %[[SUMS]]
func.func @bias_of_sums(%a: tensor<1x3x8x8xui8>, %b: tensor<4x3x3x3xi8>, %z: tensor<ui8>, %u: tensor<i8>) -> tensor<1x4x6x6xui8> {
  %scale = graph.constant dense<0.5> : tensor<f32>
  %bias = graph.constant dense<[[[1]], [[2]], [[-32768]], [[4]]]> : tensor<4x1x1xi32>
  %0 = graph.integer_conv %a, %b, %z, %u : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x6x6xi32>
  %1 = graph.add %0, %bias : (tensor<1x4x6x6xi32>, tensor<4x1x1xi32>) -> tensor<1x4x6x6xi32>
  %2 = graph.cast %1 {to = f32} : (tensor<1x4x6x6xi32>) -> tensor<1x4x6x6xf32>
  %3 = graph.mul %2, %scale : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %y = graph.quantize_linear %3, %scale, %z : (tensor<1x4x6x6xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x6x6xui8>
  return %y : tensor<1x4x6x6xui8>
}

// -----

// Large ones may cancel, and unknown ones may be large.
// CHECK-LABEL: func.func @large_bias
// CHECK-NOT: graph.requantize
func.func @large_bias(%a: tensor<1x3x8x8xui8>, %b: tensor<4x3x3x3xi8>, %bias: tensor<4x1x1xi32>, %z: tensor<ui8>, %u: tensor<i8>) -> (tensor<1x4x6x6xui8>, tensor<1x4x6x6xui8>) {
  %scale = graph.constant dense<0.5> : tensor<f32>
  %large = graph.constant dense<[[[1]], [[2]], [[-32769]], [[4]]]> : tensor<4x1x1xi32>
  %0 = graph.integer_conv %a, %b, %z, %u : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x6x6xi32>
  %1 = graph.add %0, %bias : (tensor<1x4x6x6xi32>, tensor<4x1x1xi32>) -> tensor<1x4x6x6xi32>
  %2 = graph.cast %1 {to = f32} : (tensor<1x4x6x6xi32>) -> tensor<1x4x6x6xf32>
  %3 = graph.mul %2, %scale : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %4 = graph.quantize_linear %3, %scale, %z : (tensor<1x4x6x6xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x6x6xui8>
  %5 = graph.integer_conv %a, %b, %z, %u : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x6x6xi32>
  %6 = graph.add %5, %large : (tensor<1x4x6x6xi32>, tensor<4x1x1xi32>) -> tensor<1x4x6x6xi32>
  %7 = graph.cast %6 {to = f32} : (tensor<1x4x6x6xi32>) -> tensor<1x4x6x6xf32>
  %8 = graph.mul %7, %scale : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %9 = graph.quantize_linear %8, %scale, %z : (tensor<1x4x6x6xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x6x6xui8>
  return %4, %9 : tensor<1x4x6x6xui8>, tensor<1x4x6x6xui8>
}

// -----

// So are channels by themselves; in other groups they stay.
// CHECK-LABEL: func.func @groups
// CHECK: graph.integer_conv %arg0, %arg1, {{.*}} {group = 4 : i64} : (tensor<1x4x8x8xui8>, tensor<4x1x3x3xi8>
// CHECK: graph.conv {{.*}} {group = 2 : i64}
// CHECK: graph.conv {{.*}} {group = 4 : i64} : (tensor<1x4x8x8xf32>, tensor<8x1x3x3xf32>)
func.func @groups(%a: tensor<1x4x8x8xui8>, %b: tensor<4x1x3x3xi8>, %c: tensor<4x2x3x3xi8>, %d: tensor<8x1x3x3xi8>, %s: tensor<f32>, %z: tensor<ui8>, %u: tensor<i8>) -> (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>, tensor<1x8x6x6xf32>) {
  %x = graph.dequantize_linear %a, %s, %z : (tensor<1x4x8x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x8x8xf32>
  %w = graph.dequantize_linear %b, %s, %u : (tensor<4x1x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<4x1x3x3xf32>
  %v = graph.dequantize_linear %c, %s, %u : (tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2x3x3xf32>
  %t = graph.dequantize_linear %d, %s, %u : (tensor<8x1x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<8x1x3x3xf32>
  %0 = graph.conv %x, %w {group = 4 : i64} : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = graph.conv %x, %v {group = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  %2 = graph.conv %x, %t {group = 4 : i64} : (tensor<1x4x8x8xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1, %2 : tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>, tensor<1x8x6x6xf32>
}

// -----

// Bytes that were made i32, as MXNet's operators have them; any number of terms.
// CHECK-LABEL: func.func @wide
// CHECK: %[[T:.*]] = graph.transpose %arg1
// CHECK: %[[Y:.*]] = graph.integer_matmul %arg0, %[[T]], %{{.*}}, %{{.*}} : (tensor<2x40000xui8>, tensor<40000x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
// CHECK: %[[SUMS:.*]] = graph.integer_conv %arg2, %arg3
// CHECK: %[[BIAS:.*]] = graph.reshape %arg4
// CHECK: %[[Z:.*]] = graph.add %[[SUMS]], %[[BIAS]]
// CHECK: return %[[Y]], %[[Z]]
func.func @wide(%a: tensor<2x40000xui8>, %b: tensor<4x40000xi8>, %x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xi8>, %bias: tensor<4xi32>) -> (tensor<2x4xi32>, tensor<1x4x6x6xi32>) {
  %0 = graph.cast %a {to = i32} : (tensor<2x40000xui8>) -> tensor<2x40000xi32>
  %1 = graph.cast %b {to = i32} : (tensor<4x40000xi8>) -> tensor<4x40000xi32>
  %2 = graph.transpose %1 {perm = array<i64: 1, 0>} : (tensor<4x40000xi32>) -> tensor<40000x4xi32>
  %3 = graph.matmul %0, %2 : (tensor<2x40000xi32>, tensor<40000x4xi32>) -> tensor<2x4xi32>
  %4 = graph.cast %x {to = i32} : (tensor<1x3x8x8xi8>) -> tensor<1x3x8x8xi32>
  %5 = graph.cast %w {to = i32} : (tensor<4x3x3x3xi8>) -> tensor<4x3x3x3xi32>
  %6 = graph.conv %4, %5, %bias : (tensor<1x3x8x8xi32>, tensor<4x3x3x3xi32>, tensor<4xi32>) -> tensor<1x4x6x6xi32>
  return %3, %6 : tensor<2x4xi32>, tensor<1x4x6x6xi32>
}
