// RUN: dlc-opt %s --convert-kernel-to-call=gpu-libraries=always | FileCheck %s
// RUN: dlc-opt %s --convert-kernel-to-call=gpu-compute=tf32 | FileCheck %s --check-prefix=AUTO
// RUN: dlc-opt %s --convert-kernel-to-call='gpu-libraries=always gpu-compute=tf32' | FileCheck %s --check-prefix=TF32
// RUN: dlc-opt %s --convert-kernel-to-call=gpu-libraries=never | FileCheck %s --check-prefix=NEVER
// RUN: dlc-opt %s --convert-kernel-to-call=gpu-libraries=always --remarks-filter='convert-.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// Kernels of a GPU keep their bodies, and name the call of a library that
// computes the same.
// NEVER-NOT: entry

// Operands have an order of their own in the entry.
// CHECK: kernel.func @linear({{.*}}config = {activation = "gelu_tanh", trans_b = 1 : i64}, entry = "cublaslt.matmul", entryOperands = array<i64: 1, 2, 0>, kernel.runs_on = "cuda", workspace = 33554624 : i64}
// CHECK: graph.matmul
// Little is left to what is generated.
// AUTO: kernel.func @linear({{.*}} attributes {kernel.compute = "tf32", kernel.runs_on = "cuda"}
kernel.func @linear(%b: tensor<32xf16>, %x: tensor<4x8x16xf16>, %w: tensor<32x16xf16>) -> tensor<4x8x32xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.transpose %w {perm = array<i64: 1, 0>} : (tensor<32x16xf16>) -> tensor<16x32xf16>
  %1 = graph.matmul %x, %0 : (tensor<4x8x16xf16>, tensor<16x32xf16>) -> tensor<4x8x32xf16>
  %2 = graph.add %1, %b : (tensor<4x8x32xf16>, tensor<32xf16>) -> tensor<4x8x32xf16>
  %3 = graph.gelu %2 {approximate = "tanh"} : tensor<4x8x32xf16>
  kernel.return %3 : tensor<4x8x32xf16>
}

// A product of one with itself, and what is added; no bias.
// CHECK: kernel.func @square({{.*}}config = {}, entry = "cublaslt.matmul", entryOperands = array<i64: 0, 0, -1, 1>
// AUTO: kernel.func @square({{.*}}config = {compute = "tf32"}, entry = "cublaslt.matmul"
kernel.func @square(%x: tensor<1024x1024xf32>, %r: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.matmul %x, %x : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = graph.add %r, %0 : tensor<1024x1024xf32>
  kernel.return %1 : tensor<1024x1024xf32>
}

// CHECK: kernel.func @erf({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: erf is generated: cublaslt.matmul: cuBLASLt has no activation 'gelu' there
kernel.func @erf(%x: tensor<8x16xf16>, %w: tensor<16x32xf16>) -> tensor<8x32xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.matmul %x, %w : (tensor<8x16xf16>, tensor<16x32xf16>) -> tensor<8x32xf16>
  %1 = graph.gelu %0 : tensor<8x32xf16>
  kernel.return %1 : tensor<8x32xf16>
}

// That of cuBLASLt makes zeros of NaN.
// CHECK: kernel.func @products({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: products is generated: cublaslt.matmul: cuBLASLt has no activation 'relu' there
kernel.func @products(%x: tensor<8x16xf16>, %w: tensor<16x32xf16>) -> tensor<8x32xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.matmul %x, %w : (tensor<8x16xf16>, tensor<16x32xf16>) -> tensor<8x32xf16>
  %1 = graph.relu %0 : tensor<8x32xf16>
  kernel.return %1 : tensor<8x32xf16>
}

// Of f64, and of a product whose batches differ.
// CHECK: kernel.func @wide({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: wide is generated: cublaslt.matmul: expected f32, f16 or bf16, got 8x16xf64
kernel.func @wide(%x: tensor<8x16xf64>, %w: tensor<16x32xf64>) -> tensor<8x32xf64> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.matmul %x, %w : (tensor<8x16xf64>, tensor<16x32xf64>) -> tensor<8x32xf64>
  kernel.return %0 : tensor<8x32xf64>
}
// CHECK: kernel.func @batches({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: batches is generated: cublaslt.matmul: expected equal dimensions in front of matrices
kernel.func @batches(%x: tensor<8x16xf16>, %w: tensor<3x16x32xf16>) -> tensor<3x8x32xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.matmul %x, %w : (tensor<8x16xf16>, tensor<3x16x32xf16>) -> tensor<3x8x32xf16>
  kernel.return %0 : tensor<3x8x32xf16>
}

// Nobody expects a library of what is no product.
// CHECK: kernel.func @relu({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY-NOT: relu is generated
kernel.func @relu(%x: tensor<8x16xf16>) -> tensor<8x16xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.relu %x : tensor<8x16xf16>
  kernel.return %0 : tensor<8x16xf16>
}

// Channels last, weights arranged so, and the residual in front of the bias.
// CHECK: kernel.func @conv({{.*}}config = {activation = "relu", group = 1 : i64, pads = array<i64: 1, 1, 1, 1>, w_channels_last = 1 : i64}, entry = "cudnn.conv", entryOperands = array<i64: 0, 1, 2, 3>, kernel.runs_on = "cuda", workspace = 16777408 : i64}
kernel.func @conv(%x: tensor<2x1x9x7x16xf16>, %w: tensor<32x3x3x16xf16>, %b: tensor<32xf16>, %r: tensor<2x1x9x7x32xf16>) -> tensor<2x1x9x7x32xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.transpose %w {perm = array<i64: 0, 3, 1, 2>} : (tensor<32x3x3x16xf16>) -> tensor<32x16x3x3xf16>
  %1 = graph.conv %x, %0, %b {channel_block = 32 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x1x9x7x16xf16>, tensor<32x16x3x3xf16>, tensor<32xf16>) -> tensor<2x1x9x7x32xf16>
  %2 = graph.add %r, %1 : tensor<2x1x9x7x32xf16>
  %3 = graph.relu %2 : tensor<2x1x9x7x32xf16>
  kernel.return %3 : tensor<2x1x9x7x32xf16>
}

// CHECK: kernel.func @blocks({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: blocks is generated: cudnn.conv: expected all channels last
kernel.func @blocks(%x: tensor<2x2x9x7x8xf16>, %w: tensor<32x16x1x1xf16>) -> tensor<2x4x9x7x8xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.conv %x, %w {channel_block = 8 : i64} : (tensor<2x2x9x7x8xf16>, tensor<32x16x1x1xf16>) -> tensor<2x4x9x7x8xf16>
  kernel.return %0 : tensor<2x4x9x7x8xf16>
}

// Floats, where they may be rounded.
// CHECK: kernel.func @floats({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: floats is generated: cudnn.conv: expected f16 or bf16, or f32 that may be rounded
// TF32: kernel.func @floats({{.*}}compute = "tf32"{{.*}}entry = "cudnn.conv"
kernel.func @floats(%x: tensor<2x1x9x7x16xf32>, %w: tensor<32x16x1x1xf32>) -> tensor<2x1x9x7x32xf32> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.conv %x, %w {channel_block = 32 : i64} : (tensor<2x1x9x7x16xf32>, tensor<32x16x1x1xf32>) -> tensor<2x1x9x7x32xf32>
  kernel.return %0 : tensor<2x1x9x7x32xf32>
}

// Zeros around an image are multiplied by weights that have to be finite then.
// CHECK: kernel.func @finite({{.*}}entry = "cudnn.conv"
kernel.func @finite(%x: tensor<1x1x4x4x8xf16>, %w: tensor<8x3x3x8xf16>) -> tensor<1x1x4x4x8xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.transpose %w {perm = array<i64: 0, 3, 1, 2>} : (tensor<8x3x3x8xf16>) -> tensor<8x8x3x3xf16>
  %1 = graph.conv %x, %0 {channel_block = 8 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x4x4x8xf16>, tensor<8x8x3x3xf16>) -> tensor<1x1x4x4x8xf16>
  kernel.return %1 : tensor<1x1x4x4x8xf16>
}
// CHECK: kernel.func @infinite({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: infinite is generated: a factor may not be finite, and taps lie outside
kernel.func @infinite(%x: tensor<1x1x4x4x8xf16>, %w: tensor<8x3x3x8xf16>) -> tensor<1x1x2x3x8xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.transpose %w {perm = array<i64: 0, 3, 1, 2>} : (tensor<8x3x3x8xf16>) -> tensor<8x8x3x3xf16>
  %1 = graph.conv %x, %0 {channel_block = 8 : i64, pads = array<i64: 0, 0, 0, 1>} : (tensor<1x1x4x4x8xf16>, tensor<8x8x3x3xf16>) -> tensor<1x1x2x3x8xf16>
  kernel.return %1 : tensor<1x1x2x3x8xf16>
}
// Nothing is known of what the caller gives.
// CHECK: kernel.func @given({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: given is generated: a factor may not be finite, and taps lie outside
kernel.func @given(%x: tensor<1x1x4x4x8xf16>, %w: tensor<8x3x3x8xf16>) -> tensor<1x1x3x2x8xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.transpose %w {perm = array<i64: 0, 3, 1, 2>} : (tensor<8x3x3x8xf16>) -> tensor<8x8x3x3xf16>
  %1 = graph.conv %x, %0 {channel_block = 8 : i64, pads = array<i64: 1, 0, 0, 0>} : (tensor<1x1x4x4x8xf16>, tensor<8x8x3x3xf16>) -> tensor<1x1x3x2x8xf16>
  kernel.return %1 : tensor<1x1x3x2x8xf16>
}
// The gradient of an image, with the weights as they are; of more than one tap
// they would be turned round, too, and reach beyond the gradient.
// CHECK: kernel.func @image({{.*}}config = {group = 1 : i64}, entry = "cudnn.conv_transpose", entryOperands = array<i64: 1, 0>, kernel.runs_on = "cuda", workspace = 16777408 : i64}
// AUTO: kernel.func @image({{.*}} attributes {kernel.compute = "tf32", kernel.runs_on = "cuda"}
kernel.func @image(%w: tensor<1x32x16x1x1xf16>, %g: tensor<2x1x9x7x32xf16>) -> tensor<2x1x9x7x16xf16> attributes {kernel.runs_on = "cuda"} {
  %s = graph.constant dense<[16, 32, 1, 1]> : tensor<4xi64>
  %0 = graph.transpose %w {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x32x16x1x1xf16>) -> tensor<1x16x32x1x1xf16>
  %1 = graph.reshape %0, %s : (tensor<1x16x32x1x1xf16>, tensor<4xi64>) -> tensor<16x32x1x1xf16>
  %2 = graph.conv %g, %1 {channel_block = 16 : i64} : (tensor<2x1x9x7x32xf16>, tensor<16x32x1x1xf16>) -> tensor<2x1x9x7x16xf16>
  kernel.return %2 : tensor<2x1x9x7x16xf16>
}
// CHECK: kernel.func @image_alone({{.*}}entry = "cudnn.conv_transpose", entryOperands = array<i64: 0, 1>
kernel.func @image_alone(%g: tensor<2x1x9x7x32xf16>, %w: tensor<32x16x1x1xf16>) -> tensor<2x1x9x7x16xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.transpose %w {perm = array<i64: 1, 0, 2, 3>} : (tensor<32x16x1x1xf16>) -> tensor<16x32x1x1xf16>
  %1 = graph.conv %g, %0 {channel_block = 16 : i64} : (tensor<2x1x9x7x32xf16>, tensor<16x32x1x1xf16>) -> tensor<2x1x9x7x16xf16>
  kernel.return %1 : tensor<2x1x9x7x16xf16>
}
// CHECK: kernel.func @image_masked({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: image_masked is generated: the library adds nothing to it
kernel.func @image_masked(%g: tensor<2x1x9x7x32xf16>, %w: tensor<32x16x1x1xf16>, %m: tensor<2x1x9x7x16xf16>) -> tensor<2x1x9x7x16xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.transpose %w {perm = array<i64: 1, 0, 2, 3>} : (tensor<32x16x1x1xf16>) -> tensor<16x32x1x1xf16>
  %1 = graph.conv %g, %0 {channel_block = 16 : i64} : (tensor<2x1x9x7x32xf16>, tensor<16x32x1x1xf16>) -> tensor<2x1x9x7x16xf16>
  %2 = graph.mul %1, %m : tensor<2x1x9x7x16xf16>
  kernel.return %2 : tensor<2x1x9x7x16xf16>
}
// CHECK: kernel.func @image_strided({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: image_strided is generated: the library exchanges channels in gradients only
kernel.func @image_strided(%g: tensor<2x1x9x7x32xf16>, %w: tensor<32x16x1x1xf16>) -> tensor<2x1x5x4x16xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.transpose %w {perm = array<i64: 1, 0, 2, 3>} : (tensor<32x16x1x1xf16>) -> tensor<16x32x1x1xf16>
  %1 = graph.conv %g, %0 {channel_block = 16 : i64, strides = array<i64: 2, 2>} : (tensor<2x1x9x7x32xf16>, tensor<16x32x1x1xf16>) -> tensor<2x1x5x4x16xf16>
  kernel.return %1 : tensor<2x1x5x4x16xf16>
}
// CHECK: kernel.func @image_of_taps({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: image_of_taps is generated: expected weights with channels last
kernel.func @image_of_taps(%g: tensor<2x1x9x7x32xf16>, %w: tensor<32x16x3x3xf16>) -> tensor<2x1x7x5x16xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.transpose %w {perm = array<i64: 1, 0, 2, 3>} : (tensor<32x16x3x3xf16>) -> tensor<16x32x3x3xf16>
  %1 = graph.conv %g, %0 {channel_block = 16 : i64} : (tensor<2x1x9x7x32xf16>, tensor<16x32x3x3xf16>) -> tensor<2x1x7x5x16xf16>
  kernel.return %1 : tensor<2x1x7x5x16xf16>
}
// A reshape alone exchanges nothing.
// CHECK: kernel.func @image_reshaped({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: image_reshaped is generated: no library of the GPU has this operation
kernel.func @image_reshaped(%g: tensor<2x1x9x7x32xf16>, %w: tensor<32x16x1x1xf16>) -> tensor<2x1x9x7x16xf16> attributes {kernel.runs_on = "cuda"} {
  %s = graph.constant dense<[16, 32, 1, 1]> : tensor<4xi64>
  %0 = graph.reshape %w, %s : (tensor<32x16x1x1xf16>, tensor<4xi64>) -> tensor<16x32x1x1xf16>
  %1 = graph.conv %g, %0 {channel_block = 16 : i64} : (tensor<2x1x9x7x32xf16>, tensor<16x32x1x1xf16>) -> tensor<2x1x9x7x16xf16>
  kernel.return %1 : tensor<2x1x9x7x16xf16>
}

// The gradient of weights, of windows that stay within the image.
// CHECK: kernel.func @weights({{.*}}config = {group = 1 : i64, strides = array<i64: 2, 2>}, entry = "cudnn.conv_weight_gradient", entryOperands = array<i64: 1, 0>, kernel.runs_on = "cuda", workspace = 16786624 : i64}
// AUTO: kernel.func @weights({{.*}} attributes {kernel.compute = "tf32", kernel.runs_on = "cuda"}
kernel.func @weights(%g: tensor<2x1x4x3x32xf16>, %x: tensor<2x1x9x8x16xf16>) -> tensor<32x16x3x3xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<2x1x9x8x16xf16>, tensor<2x1x4x3x32xf16>) -> tensor<32x16x3x3xf16>
  kernel.return %0 : tensor<32x16x3x3xf16>
}
// CHECK: kernel.func @weights_of_groups({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: weights_of_groups is generated: cudnn.conv_weight_gradient: expected one group
kernel.func @weights_of_groups(%g: tensor<2x32x9x8xf16>, %x: tensor<2x16x9x8xf16>) -> tensor<32x8x1x1xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 1, 1>, group = 2 : i64} : (tensor<2x16x9x8xf16>, tensor<2x32x9x8xf16>) -> tensor<32x8x1x1xf16>
  kernel.return %0 : tensor<32x8x1x1xf16>
}
// Beyond the image, zeros meet the gradient; that may be infinite.
// CHECK: kernel.func @weights_padded({{.*}} attributes {kernel.runs_on = "cuda"}
// WHY: weights_padded is generated: a factor may not be finite, and taps lie outside
kernel.func @weights_padded(%g: tensor<2x1x9x8x32xf16>, %x: tensor<2x1x9x8x16xf16>) -> tensor<32x16x3x3xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x1x9x8x16xf16>, tensor<2x1x9x8x32xf16>) -> tensor<32x16x3x3xf16>
  kernel.return %0 : tensor<32x16x3x3xf16>
}
// CHECK: kernel.func @weights_of_ones({{.*}}entry = "cudnn.conv_weight_gradient"
kernel.func @weights_of_ones(%g: tensor<2x1x9x8x32xf16>, %x: tensor<2x1x9x8x16xf16>) -> tensor<32x16x3x3xf16> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x1x9x8x16xf16>, tensor<2x1x9x8x32xf16>) -> tensor<32x16x3x3xf16>
  kernel.return %0 : tensor<32x16x3x3xf16>
}
func.func @gradients(%x: tensor<2x1x9x8x16xf16>, %g: tensor<2x1x9x8x32xf16>) -> (tensor<32x16x3x3xf16>, tensor<32x16x3x3xf16>) {
  %ones = graph.constant dense<1.0> : tensor<2x1x9x8x32xf16>
  %0 = kernel.call @weights_padded(%g, %x) : (tensor<2x1x9x8x32xf16>, tensor<2x1x9x8x16xf16>) -> tensor<32x16x3x3xf16>
  %1 = kernel.call @weights_of_ones(%ones, %x) : (tensor<2x1x9x8x32xf16>, tensor<2x1x9x8x16xf16>) -> tensor<32x16x3x3xf16>
  return %0, %1 : tensor<32x16x3x3xf16>, tensor<32x16x3x3xf16>
}

func.func @main(%x: tensor<1x1x4x4x8xf16>, %w: tensor<8x3x3x8xf16>) -> (tensor<1x1x4x4x8xf16>, tensor<1x1x2x3x8xf16>, tensor<1x1x3x2x8xf16>) {
  %some = graph.constant dense<0.5> : tensor<8x3x3x8xf16>
  %inf = graph.constant dense<0x7C00> : tensor<8x3x3x8xf16>
  %0 = kernel.call @finite(%x, %some) : (tensor<1x1x4x4x8xf16>, tensor<8x3x3x8xf16>) -> tensor<1x1x4x4x8xf16>
  %1 = kernel.call @infinite(%x, %inf) : (tensor<1x1x4x4x8xf16>, tensor<8x3x3x8xf16>) -> tensor<1x1x2x3x8xf16>
  %2 = kernel.call @given(%x, %w) : (tensor<1x1x4x4x8xf16>, tensor<8x3x3x8xf16>) -> tensor<1x1x3x2x8xf16>
  return %0, %1, %2 : tensor<1x1x4x4x8xf16>, tensor<1x1x2x3x8xf16>, tensor<1x1x3x2x8xf16>
}
