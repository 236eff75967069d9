// SPDX-License-Identifier: Apache-2.0
//
// Kernels in value semantics that ReferenceTest.cpp generates and compares with
// the definitions of their operations. Names that end in _special get NaN and
// infinities as input.

kernel.func @neg_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.neg %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @abs_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.abs %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @sign_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.sign %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @ceil_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.ceil %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @floor_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.floor %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @round_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.round %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @sqrt_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.sqrt %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @exp_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.exp %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @log_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.log %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @sin_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.sin %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @cos_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.cos %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @tan_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.tan %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @atan_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.atan %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @sinh_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.sinh %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @cosh_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.cosh %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @tanh_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.tanh %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @asinh_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.asinh %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @erf_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.erf %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @sigmoid_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.sigmoid %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @relu_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.relu %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @softplus_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.softplus %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @softsign_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.softsign %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @silu_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.silu %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @mish_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.mish %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @hard_swish_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.hard_swish %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @reciprocal_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.reciprocal %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @elu_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.elu %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @selu_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.selu %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @celu_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.celu %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @leaky_relu_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.leaky_relu %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @hard_sigmoid_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.hard_sigmoid %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @gelu_special(%x: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.gelu %x : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @exp_f16_special(%x: tensor<3x11xf16>) -> (tensor<3x11xf16>) {
  %y = graph.exp %x : tensor<3x11xf16>
  kernel.return %y : tensor<3x11xf16>
}
kernel.func @tanh_f16_special(%x: tensor<3x11xf16>) -> (tensor<3x11xf16>) {
  %y = graph.tanh %x : tensor<3x11xf16>
  kernel.return %y : tensor<3x11xf16>
}
kernel.func @sigmoid_f16_special(%x: tensor<3x11xf16>) -> (tensor<3x11xf16>) {
  %y = graph.sigmoid %x : tensor<3x11xf16>
  kernel.return %y : tensor<3x11xf16>
}
kernel.func @sqrt_f16_special(%x: tensor<3x11xf16>) -> (tensor<3x11xf16>) {
  %y = graph.sqrt %x : tensor<3x11xf16>
  kernel.return %y : tensor<3x11xf16>
}
kernel.func @relu_f16_special(%x: tensor<3x11xf16>) -> (tensor<3x11xf16>) {
  %y = graph.relu %x : tensor<3x11xf16>
  kernel.return %y : tensor<3x11xf16>
}
kernel.func @exp_bf16_special(%x: tensor<3x11xbf16>) -> (tensor<3x11xbf16>) {
  %y = graph.exp %x : tensor<3x11xbf16>
  kernel.return %y : tensor<3x11xbf16>
}
kernel.func @tanh_bf16_special(%x: tensor<3x11xbf16>) -> (tensor<3x11xbf16>) {
  %y = graph.tanh %x : tensor<3x11xbf16>
  kernel.return %y : tensor<3x11xbf16>
}
kernel.func @sigmoid_bf16_special(%x: tensor<3x11xbf16>) -> (tensor<3x11xbf16>) {
  %y = graph.sigmoid %x : tensor<3x11xbf16>
  kernel.return %y : tensor<3x11xbf16>
}
kernel.func @sqrt_bf16_special(%x: tensor<3x11xbf16>) -> (tensor<3x11xbf16>) {
  %y = graph.sqrt %x : tensor<3x11xbf16>
  kernel.return %y : tensor<3x11xbf16>
}
kernel.func @relu_bf16_special(%x: tensor<3x11xbf16>) -> (tensor<3x11xbf16>) {
  %y = graph.relu %x : tensor<3x11xbf16>
  kernel.return %y : tensor<3x11xbf16>
}
kernel.func @exp_f64_special(%x: tensor<3x11xf64>) -> (tensor<3x11xf64>) {
  %y = graph.exp %x : tensor<3x11xf64>
  kernel.return %y : tensor<3x11xf64>
}
kernel.func @tanh_f64_special(%x: tensor<3x11xf64>) -> (tensor<3x11xf64>) {
  %y = graph.tanh %x : tensor<3x11xf64>
  kernel.return %y : tensor<3x11xf64>
}
kernel.func @sigmoid_f64_special(%x: tensor<3x11xf64>) -> (tensor<3x11xf64>) {
  %y = graph.sigmoid %x : tensor<3x11xf64>
  kernel.return %y : tensor<3x11xf64>
}
kernel.func @sqrt_f64_special(%x: tensor<3x11xf64>) -> (tensor<3x11xf64>) {
  %y = graph.sqrt %x : tensor<3x11xf64>
  kernel.return %y : tensor<3x11xf64>
}
kernel.func @relu_f64_special(%x: tensor<3x11xf64>) -> (tensor<3x11xf64>) {
  %y = graph.relu %x : tensor<3x11xf64>
  kernel.return %y : tensor<3x11xf64>
}
kernel.func @add_i8(%a: tensor<4x1x9xi8>, %b: tensor<3x9xi8>) -> (tensor<4x3x9xi8>) {
  %y = graph.add %a, %b : (tensor<4x1x9xi8>, tensor<3x9xi8>) -> tensor<4x3x9xi8>
  kernel.return %y : tensor<4x3x9xi8>
}
kernel.func @sub_i8(%a: tensor<4x1x9xi8>, %b: tensor<3x9xi8>) -> (tensor<4x3x9xi8>) {
  %y = graph.sub %a, %b : (tensor<4x1x9xi8>, tensor<3x9xi8>) -> tensor<4x3x9xi8>
  kernel.return %y : tensor<4x3x9xi8>
}
kernel.func @mul_i8(%a: tensor<4x1x9xi8>, %b: tensor<3x9xi8>) -> (tensor<4x3x9xi8>) {
  %y = graph.mul %a, %b : (tensor<4x1x9xi8>, tensor<3x9xi8>) -> tensor<4x3x9xi8>
  kernel.return %y : tensor<4x3x9xi8>
}
kernel.func @div_i8(%a: tensor<4x1x9xi8>, %b: tensor<3x9xi8>) -> (tensor<4x3x9xi8>) {
  %y = graph.div %a, %b : (tensor<4x1x9xi8>, tensor<3x9xi8>) -> tensor<4x3x9xi8>
  kernel.return %y : tensor<4x3x9xi8>
}
kernel.func @max_i8(%a: tensor<4x1x9xi8>, %b: tensor<3x9xi8>) -> (tensor<4x3x9xi8>) {
  %y = graph.max %a, %b : (tensor<4x1x9xi8>, tensor<3x9xi8>) -> tensor<4x3x9xi8>
  kernel.return %y : tensor<4x3x9xi8>
}
kernel.func @min_i8(%a: tensor<4x1x9xi8>, %b: tensor<3x9xi8>) -> (tensor<4x3x9xi8>) {
  %y = graph.min %a, %b : (tensor<4x1x9xi8>, tensor<3x9xi8>) -> tensor<4x3x9xi8>
  kernel.return %y : tensor<4x3x9xi8>
}
kernel.func @equal_i8(%a: tensor<4x1x9xi8>, %b: tensor<3x9xi8>) -> (tensor<4x3x9xi1>) {
  %y = graph.equal %a, %b : (tensor<4x1x9xi8>, tensor<3x9xi8>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @less_i8(%a: tensor<4x1x9xi8>, %b: tensor<3x9xi8>) -> (tensor<4x3x9xi1>) {
  %y = graph.less %a, %b : (tensor<4x1x9xi8>, tensor<3x9xi8>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @greater_equal_i8(%a: tensor<4x1x9xi8>, %b: tensor<3x9xi8>) -> (tensor<4x3x9xi1>) {
  %y = graph.greater_equal %a, %b : (tensor<4x1x9xi8>, tensor<3x9xi8>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @cast_i8_f32(%a: tensor<4x1x9xi8>) -> (tensor<4x1x9xf32>) {
  %y = graph.cast %a {to = f32} : (tensor<4x1x9xi8>) -> tensor<4x1x9xf32>
  kernel.return %y : tensor<4x1x9xf32>
}
kernel.func @reduce_sum_middle_i8(%x: tensor<3x10x5xi8>) -> (tensor<3x5xi8>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<3x10x5xi8>, tensor<1xi64>) -> tensor<3x5xi8>
  kernel.return %y : tensor<3x5xi8>
}
kernel.func @reduce_max_middle_i8(%x: tensor<3x10x5xi8>) -> (tensor<3x5xi8>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<3x10x5xi8>, tensor<1xi64>) -> tensor<3x5xi8>
  kernel.return %y : tensor<3x5xi8>
}
kernel.func @reduce_min_middle_i8(%x: tensor<3x10x5xi8>) -> (tensor<3x5xi8>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<3x10x5xi8>, tensor<1xi64>) -> tensor<3x5xi8>
  kernel.return %y : tensor<3x5xi8>
}
kernel.func @reduce_prod_middle_i8(%x: tensor<3x10x5xi8>) -> (tensor<3x5xi8>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x10x5xi8>, tensor<1xi64>) -> tensor<3x5xi8>
  kernel.return %y : tensor<3x5xi8>
}
kernel.func @add_i16(%a: tensor<4x1x9xi16>, %b: tensor<3x9xi16>) -> (tensor<4x3x9xi16>) {
  %y = graph.add %a, %b : (tensor<4x1x9xi16>, tensor<3x9xi16>) -> tensor<4x3x9xi16>
  kernel.return %y : tensor<4x3x9xi16>
}
kernel.func @sub_i16(%a: tensor<4x1x9xi16>, %b: tensor<3x9xi16>) -> (tensor<4x3x9xi16>) {
  %y = graph.sub %a, %b : (tensor<4x1x9xi16>, tensor<3x9xi16>) -> tensor<4x3x9xi16>
  kernel.return %y : tensor<4x3x9xi16>
}
kernel.func @mul_i16(%a: tensor<4x1x9xi16>, %b: tensor<3x9xi16>) -> (tensor<4x3x9xi16>) {
  %y = graph.mul %a, %b : (tensor<4x1x9xi16>, tensor<3x9xi16>) -> tensor<4x3x9xi16>
  kernel.return %y : tensor<4x3x9xi16>
}
kernel.func @div_i16(%a: tensor<4x1x9xi16>, %b: tensor<3x9xi16>) -> (tensor<4x3x9xi16>) {
  %y = graph.div %a, %b : (tensor<4x1x9xi16>, tensor<3x9xi16>) -> tensor<4x3x9xi16>
  kernel.return %y : tensor<4x3x9xi16>
}
kernel.func @max_i16(%a: tensor<4x1x9xi16>, %b: tensor<3x9xi16>) -> (tensor<4x3x9xi16>) {
  %y = graph.max %a, %b : (tensor<4x1x9xi16>, tensor<3x9xi16>) -> tensor<4x3x9xi16>
  kernel.return %y : tensor<4x3x9xi16>
}
kernel.func @min_i16(%a: tensor<4x1x9xi16>, %b: tensor<3x9xi16>) -> (tensor<4x3x9xi16>) {
  %y = graph.min %a, %b : (tensor<4x1x9xi16>, tensor<3x9xi16>) -> tensor<4x3x9xi16>
  kernel.return %y : tensor<4x3x9xi16>
}
kernel.func @equal_i16(%a: tensor<4x1x9xi16>, %b: tensor<3x9xi16>) -> (tensor<4x3x9xi1>) {
  %y = graph.equal %a, %b : (tensor<4x1x9xi16>, tensor<3x9xi16>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @less_i16(%a: tensor<4x1x9xi16>, %b: tensor<3x9xi16>) -> (tensor<4x3x9xi1>) {
  %y = graph.less %a, %b : (tensor<4x1x9xi16>, tensor<3x9xi16>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @greater_equal_i16(%a: tensor<4x1x9xi16>, %b: tensor<3x9xi16>) -> (tensor<4x3x9xi1>) {
  %y = graph.greater_equal %a, %b : (tensor<4x1x9xi16>, tensor<3x9xi16>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @cast_i16_f32(%a: tensor<4x1x9xi16>) -> (tensor<4x1x9xf32>) {
  %y = graph.cast %a {to = f32} : (tensor<4x1x9xi16>) -> tensor<4x1x9xf32>
  kernel.return %y : tensor<4x1x9xf32>
}
kernel.func @reduce_sum_middle_i16(%x: tensor<3x10x5xi16>) -> (tensor<3x5xi16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<3x10x5xi16>, tensor<1xi64>) -> tensor<3x5xi16>
  kernel.return %y : tensor<3x5xi16>
}
kernel.func @reduce_max_middle_i16(%x: tensor<3x10x5xi16>) -> (tensor<3x5xi16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<3x10x5xi16>, tensor<1xi64>) -> tensor<3x5xi16>
  kernel.return %y : tensor<3x5xi16>
}
kernel.func @reduce_min_middle_i16(%x: tensor<3x10x5xi16>) -> (tensor<3x5xi16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<3x10x5xi16>, tensor<1xi64>) -> tensor<3x5xi16>
  kernel.return %y : tensor<3x5xi16>
}
kernel.func @reduce_prod_middle_i16(%x: tensor<3x10x5xi16>) -> (tensor<3x5xi16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x10x5xi16>, tensor<1xi64>) -> tensor<3x5xi16>
  kernel.return %y : tensor<3x5xi16>
}
kernel.func @add_i32(%a: tensor<4x1x9xi32>, %b: tensor<3x9xi32>) -> (tensor<4x3x9xi32>) {
  %y = graph.add %a, %b : (tensor<4x1x9xi32>, tensor<3x9xi32>) -> tensor<4x3x9xi32>
  kernel.return %y : tensor<4x3x9xi32>
}
kernel.func @sub_i32(%a: tensor<4x1x9xi32>, %b: tensor<3x9xi32>) -> (tensor<4x3x9xi32>) {
  %y = graph.sub %a, %b : (tensor<4x1x9xi32>, tensor<3x9xi32>) -> tensor<4x3x9xi32>
  kernel.return %y : tensor<4x3x9xi32>
}
kernel.func @mul_i32(%a: tensor<4x1x9xi32>, %b: tensor<3x9xi32>) -> (tensor<4x3x9xi32>) {
  %y = graph.mul %a, %b : (tensor<4x1x9xi32>, tensor<3x9xi32>) -> tensor<4x3x9xi32>
  kernel.return %y : tensor<4x3x9xi32>
}
kernel.func @div_i32(%a: tensor<4x1x9xi32>, %b: tensor<3x9xi32>) -> (tensor<4x3x9xi32>) {
  %y = graph.div %a, %b : (tensor<4x1x9xi32>, tensor<3x9xi32>) -> tensor<4x3x9xi32>
  kernel.return %y : tensor<4x3x9xi32>
}
kernel.func @max_i32(%a: tensor<4x1x9xi32>, %b: tensor<3x9xi32>) -> (tensor<4x3x9xi32>) {
  %y = graph.max %a, %b : (tensor<4x1x9xi32>, tensor<3x9xi32>) -> tensor<4x3x9xi32>
  kernel.return %y : tensor<4x3x9xi32>
}
kernel.func @min_i32(%a: tensor<4x1x9xi32>, %b: tensor<3x9xi32>) -> (tensor<4x3x9xi32>) {
  %y = graph.min %a, %b : (tensor<4x1x9xi32>, tensor<3x9xi32>) -> tensor<4x3x9xi32>
  kernel.return %y : tensor<4x3x9xi32>
}
kernel.func @equal_i32(%a: tensor<4x1x9xi32>, %b: tensor<3x9xi32>) -> (tensor<4x3x9xi1>) {
  %y = graph.equal %a, %b : (tensor<4x1x9xi32>, tensor<3x9xi32>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @less_i32(%a: tensor<4x1x9xi32>, %b: tensor<3x9xi32>) -> (tensor<4x3x9xi1>) {
  %y = graph.less %a, %b : (tensor<4x1x9xi32>, tensor<3x9xi32>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @greater_equal_i32(%a: tensor<4x1x9xi32>, %b: tensor<3x9xi32>) -> (tensor<4x3x9xi1>) {
  %y = graph.greater_equal %a, %b : (tensor<4x1x9xi32>, tensor<3x9xi32>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @cast_i32_f32(%a: tensor<4x1x9xi32>) -> (tensor<4x1x9xf32>) {
  %y = graph.cast %a {to = f32} : (tensor<4x1x9xi32>) -> tensor<4x1x9xf32>
  kernel.return %y : tensor<4x1x9xf32>
}
kernel.func @reduce_sum_middle_i32(%x: tensor<3x10x5xi32>) -> (tensor<3x5xi32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<3x10x5xi32>, tensor<1xi64>) -> tensor<3x5xi32>
  kernel.return %y : tensor<3x5xi32>
}
kernel.func @reduce_max_middle_i32(%x: tensor<3x10x5xi32>) -> (tensor<3x5xi32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<3x10x5xi32>, tensor<1xi64>) -> tensor<3x5xi32>
  kernel.return %y : tensor<3x5xi32>
}
kernel.func @reduce_min_middle_i32(%x: tensor<3x10x5xi32>) -> (tensor<3x5xi32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<3x10x5xi32>, tensor<1xi64>) -> tensor<3x5xi32>
  kernel.return %y : tensor<3x5xi32>
}
kernel.func @reduce_prod_middle_i32(%x: tensor<3x10x5xi32>) -> (tensor<3x5xi32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x10x5xi32>, tensor<1xi64>) -> tensor<3x5xi32>
  kernel.return %y : tensor<3x5xi32>
}
kernel.func @add_i64(%a: tensor<4x1x9xi64>, %b: tensor<3x9xi64>) -> (tensor<4x3x9xi64>) {
  %y = graph.add %a, %b : (tensor<4x1x9xi64>, tensor<3x9xi64>) -> tensor<4x3x9xi64>
  kernel.return %y : tensor<4x3x9xi64>
}
kernel.func @sub_i64(%a: tensor<4x1x9xi64>, %b: tensor<3x9xi64>) -> (tensor<4x3x9xi64>) {
  %y = graph.sub %a, %b : (tensor<4x1x9xi64>, tensor<3x9xi64>) -> tensor<4x3x9xi64>
  kernel.return %y : tensor<4x3x9xi64>
}
kernel.func @mul_i64(%a: tensor<4x1x9xi64>, %b: tensor<3x9xi64>) -> (tensor<4x3x9xi64>) {
  %y = graph.mul %a, %b : (tensor<4x1x9xi64>, tensor<3x9xi64>) -> tensor<4x3x9xi64>
  kernel.return %y : tensor<4x3x9xi64>
}
kernel.func @div_i64(%a: tensor<4x1x9xi64>, %b: tensor<3x9xi64>) -> (tensor<4x3x9xi64>) {
  %y = graph.div %a, %b : (tensor<4x1x9xi64>, tensor<3x9xi64>) -> tensor<4x3x9xi64>
  kernel.return %y : tensor<4x3x9xi64>
}
kernel.func @max_i64(%a: tensor<4x1x9xi64>, %b: tensor<3x9xi64>) -> (tensor<4x3x9xi64>) {
  %y = graph.max %a, %b : (tensor<4x1x9xi64>, tensor<3x9xi64>) -> tensor<4x3x9xi64>
  kernel.return %y : tensor<4x3x9xi64>
}
kernel.func @min_i64(%a: tensor<4x1x9xi64>, %b: tensor<3x9xi64>) -> (tensor<4x3x9xi64>) {
  %y = graph.min %a, %b : (tensor<4x1x9xi64>, tensor<3x9xi64>) -> tensor<4x3x9xi64>
  kernel.return %y : tensor<4x3x9xi64>
}
kernel.func @equal_i64(%a: tensor<4x1x9xi64>, %b: tensor<3x9xi64>) -> (tensor<4x3x9xi1>) {
  %y = graph.equal %a, %b : (tensor<4x1x9xi64>, tensor<3x9xi64>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @less_i64(%a: tensor<4x1x9xi64>, %b: tensor<3x9xi64>) -> (tensor<4x3x9xi1>) {
  %y = graph.less %a, %b : (tensor<4x1x9xi64>, tensor<3x9xi64>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @greater_equal_i64(%a: tensor<4x1x9xi64>, %b: tensor<3x9xi64>) -> (tensor<4x3x9xi1>) {
  %y = graph.greater_equal %a, %b : (tensor<4x1x9xi64>, tensor<3x9xi64>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @cast_i64_f32(%a: tensor<4x1x9xi64>) -> (tensor<4x1x9xf32>) {
  %y = graph.cast %a {to = f32} : (tensor<4x1x9xi64>) -> tensor<4x1x9xf32>
  kernel.return %y : tensor<4x1x9xf32>
}
kernel.func @reduce_sum_middle_i64(%x: tensor<3x10x5xi64>) -> (tensor<3x5xi64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<3x10x5xi64>, tensor<1xi64>) -> tensor<3x5xi64>
  kernel.return %y : tensor<3x5xi64>
}
kernel.func @reduce_max_middle_i64(%x: tensor<3x10x5xi64>) -> (tensor<3x5xi64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<3x10x5xi64>, tensor<1xi64>) -> tensor<3x5xi64>
  kernel.return %y : tensor<3x5xi64>
}
kernel.func @reduce_min_middle_i64(%x: tensor<3x10x5xi64>) -> (tensor<3x5xi64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<3x10x5xi64>, tensor<1xi64>) -> tensor<3x5xi64>
  kernel.return %y : tensor<3x5xi64>
}
kernel.func @reduce_prod_middle_i64(%x: tensor<3x10x5xi64>) -> (tensor<3x5xi64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x10x5xi64>, tensor<1xi64>) -> tensor<3x5xi64>
  kernel.return %y : tensor<3x5xi64>
}
kernel.func @add_ui8(%a: tensor<4x1x9xui8>, %b: tensor<3x9xui8>) -> (tensor<4x3x9xui8>) {
  %y = graph.add %a, %b : (tensor<4x1x9xui8>, tensor<3x9xui8>) -> tensor<4x3x9xui8>
  kernel.return %y : tensor<4x3x9xui8>
}
kernel.func @sub_ui8(%a: tensor<4x1x9xui8>, %b: tensor<3x9xui8>) -> (tensor<4x3x9xui8>) {
  %y = graph.sub %a, %b : (tensor<4x1x9xui8>, tensor<3x9xui8>) -> tensor<4x3x9xui8>
  kernel.return %y : tensor<4x3x9xui8>
}
kernel.func @mul_ui8(%a: tensor<4x1x9xui8>, %b: tensor<3x9xui8>) -> (tensor<4x3x9xui8>) {
  %y = graph.mul %a, %b : (tensor<4x1x9xui8>, tensor<3x9xui8>) -> tensor<4x3x9xui8>
  kernel.return %y : tensor<4x3x9xui8>
}
kernel.func @div_ui8(%a: tensor<4x1x9xui8>, %b: tensor<3x9xui8>) -> (tensor<4x3x9xui8>) {
  %y = graph.div %a, %b : (tensor<4x1x9xui8>, tensor<3x9xui8>) -> tensor<4x3x9xui8>
  kernel.return %y : tensor<4x3x9xui8>
}
kernel.func @max_ui8(%a: tensor<4x1x9xui8>, %b: tensor<3x9xui8>) -> (tensor<4x3x9xui8>) {
  %y = graph.max %a, %b : (tensor<4x1x9xui8>, tensor<3x9xui8>) -> tensor<4x3x9xui8>
  kernel.return %y : tensor<4x3x9xui8>
}
kernel.func @min_ui8(%a: tensor<4x1x9xui8>, %b: tensor<3x9xui8>) -> (tensor<4x3x9xui8>) {
  %y = graph.min %a, %b : (tensor<4x1x9xui8>, tensor<3x9xui8>) -> tensor<4x3x9xui8>
  kernel.return %y : tensor<4x3x9xui8>
}
kernel.func @equal_ui8(%a: tensor<4x1x9xui8>, %b: tensor<3x9xui8>) -> (tensor<4x3x9xi1>) {
  %y = graph.equal %a, %b : (tensor<4x1x9xui8>, tensor<3x9xui8>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @less_ui8(%a: tensor<4x1x9xui8>, %b: tensor<3x9xui8>) -> (tensor<4x3x9xi1>) {
  %y = graph.less %a, %b : (tensor<4x1x9xui8>, tensor<3x9xui8>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @greater_equal_ui8(%a: tensor<4x1x9xui8>, %b: tensor<3x9xui8>) -> (tensor<4x3x9xi1>) {
  %y = graph.greater_equal %a, %b : (tensor<4x1x9xui8>, tensor<3x9xui8>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @cast_ui8_f32(%a: tensor<4x1x9xui8>) -> (tensor<4x1x9xf32>) {
  %y = graph.cast %a {to = f32} : (tensor<4x1x9xui8>) -> tensor<4x1x9xf32>
  kernel.return %y : tensor<4x1x9xf32>
}
kernel.func @reduce_sum_middle_ui8(%x: tensor<3x10x5xui8>) -> (tensor<3x5xui8>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<3x10x5xui8>, tensor<1xi64>) -> tensor<3x5xui8>
  kernel.return %y : tensor<3x5xui8>
}
kernel.func @reduce_max_middle_ui8(%x: tensor<3x10x5xui8>) -> (tensor<3x5xui8>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<3x10x5xui8>, tensor<1xi64>) -> tensor<3x5xui8>
  kernel.return %y : tensor<3x5xui8>
}
kernel.func @reduce_min_middle_ui8(%x: tensor<3x10x5xui8>) -> (tensor<3x5xui8>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<3x10x5xui8>, tensor<1xi64>) -> tensor<3x5xui8>
  kernel.return %y : tensor<3x5xui8>
}
kernel.func @reduce_prod_middle_ui8(%x: tensor<3x10x5xui8>) -> (tensor<3x5xui8>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x10x5xui8>, tensor<1xi64>) -> tensor<3x5xui8>
  kernel.return %y : tensor<3x5xui8>
}
kernel.func @add_ui16(%a: tensor<4x1x9xui16>, %b: tensor<3x9xui16>) -> (tensor<4x3x9xui16>) {
  %y = graph.add %a, %b : (tensor<4x1x9xui16>, tensor<3x9xui16>) -> tensor<4x3x9xui16>
  kernel.return %y : tensor<4x3x9xui16>
}
kernel.func @sub_ui16(%a: tensor<4x1x9xui16>, %b: tensor<3x9xui16>) -> (tensor<4x3x9xui16>) {
  %y = graph.sub %a, %b : (tensor<4x1x9xui16>, tensor<3x9xui16>) -> tensor<4x3x9xui16>
  kernel.return %y : tensor<4x3x9xui16>
}
kernel.func @mul_ui16(%a: tensor<4x1x9xui16>, %b: tensor<3x9xui16>) -> (tensor<4x3x9xui16>) {
  %y = graph.mul %a, %b : (tensor<4x1x9xui16>, tensor<3x9xui16>) -> tensor<4x3x9xui16>
  kernel.return %y : tensor<4x3x9xui16>
}
kernel.func @div_ui16(%a: tensor<4x1x9xui16>, %b: tensor<3x9xui16>) -> (tensor<4x3x9xui16>) {
  %y = graph.div %a, %b : (tensor<4x1x9xui16>, tensor<3x9xui16>) -> tensor<4x3x9xui16>
  kernel.return %y : tensor<4x3x9xui16>
}
kernel.func @max_ui16(%a: tensor<4x1x9xui16>, %b: tensor<3x9xui16>) -> (tensor<4x3x9xui16>) {
  %y = graph.max %a, %b : (tensor<4x1x9xui16>, tensor<3x9xui16>) -> tensor<4x3x9xui16>
  kernel.return %y : tensor<4x3x9xui16>
}
kernel.func @min_ui16(%a: tensor<4x1x9xui16>, %b: tensor<3x9xui16>) -> (tensor<4x3x9xui16>) {
  %y = graph.min %a, %b : (tensor<4x1x9xui16>, tensor<3x9xui16>) -> tensor<4x3x9xui16>
  kernel.return %y : tensor<4x3x9xui16>
}
kernel.func @equal_ui16(%a: tensor<4x1x9xui16>, %b: tensor<3x9xui16>) -> (tensor<4x3x9xi1>) {
  %y = graph.equal %a, %b : (tensor<4x1x9xui16>, tensor<3x9xui16>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @less_ui16(%a: tensor<4x1x9xui16>, %b: tensor<3x9xui16>) -> (tensor<4x3x9xi1>) {
  %y = graph.less %a, %b : (tensor<4x1x9xui16>, tensor<3x9xui16>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @greater_equal_ui16(%a: tensor<4x1x9xui16>, %b: tensor<3x9xui16>) -> (tensor<4x3x9xi1>) {
  %y = graph.greater_equal %a, %b : (tensor<4x1x9xui16>, tensor<3x9xui16>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @cast_ui16_f32(%a: tensor<4x1x9xui16>) -> (tensor<4x1x9xf32>) {
  %y = graph.cast %a {to = f32} : (tensor<4x1x9xui16>) -> tensor<4x1x9xf32>
  kernel.return %y : tensor<4x1x9xf32>
}
kernel.func @reduce_sum_middle_ui16(%x: tensor<3x10x5xui16>) -> (tensor<3x5xui16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<3x10x5xui16>, tensor<1xi64>) -> tensor<3x5xui16>
  kernel.return %y : tensor<3x5xui16>
}
kernel.func @reduce_max_middle_ui16(%x: tensor<3x10x5xui16>) -> (tensor<3x5xui16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<3x10x5xui16>, tensor<1xi64>) -> tensor<3x5xui16>
  kernel.return %y : tensor<3x5xui16>
}
kernel.func @reduce_min_middle_ui16(%x: tensor<3x10x5xui16>) -> (tensor<3x5xui16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<3x10x5xui16>, tensor<1xi64>) -> tensor<3x5xui16>
  kernel.return %y : tensor<3x5xui16>
}
kernel.func @reduce_prod_middle_ui16(%x: tensor<3x10x5xui16>) -> (tensor<3x5xui16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x10x5xui16>, tensor<1xi64>) -> tensor<3x5xui16>
  kernel.return %y : tensor<3x5xui16>
}
kernel.func @add_ui32(%a: tensor<4x1x9xui32>, %b: tensor<3x9xui32>) -> (tensor<4x3x9xui32>) {
  %y = graph.add %a, %b : (tensor<4x1x9xui32>, tensor<3x9xui32>) -> tensor<4x3x9xui32>
  kernel.return %y : tensor<4x3x9xui32>
}
kernel.func @sub_ui32(%a: tensor<4x1x9xui32>, %b: tensor<3x9xui32>) -> (tensor<4x3x9xui32>) {
  %y = graph.sub %a, %b : (tensor<4x1x9xui32>, tensor<3x9xui32>) -> tensor<4x3x9xui32>
  kernel.return %y : tensor<4x3x9xui32>
}
kernel.func @mul_ui32(%a: tensor<4x1x9xui32>, %b: tensor<3x9xui32>) -> (tensor<4x3x9xui32>) {
  %y = graph.mul %a, %b : (tensor<4x1x9xui32>, tensor<3x9xui32>) -> tensor<4x3x9xui32>
  kernel.return %y : tensor<4x3x9xui32>
}
kernel.func @div_ui32(%a: tensor<4x1x9xui32>, %b: tensor<3x9xui32>) -> (tensor<4x3x9xui32>) {
  %y = graph.div %a, %b : (tensor<4x1x9xui32>, tensor<3x9xui32>) -> tensor<4x3x9xui32>
  kernel.return %y : tensor<4x3x9xui32>
}
kernel.func @max_ui32(%a: tensor<4x1x9xui32>, %b: tensor<3x9xui32>) -> (tensor<4x3x9xui32>) {
  %y = graph.max %a, %b : (tensor<4x1x9xui32>, tensor<3x9xui32>) -> tensor<4x3x9xui32>
  kernel.return %y : tensor<4x3x9xui32>
}
kernel.func @min_ui32(%a: tensor<4x1x9xui32>, %b: tensor<3x9xui32>) -> (tensor<4x3x9xui32>) {
  %y = graph.min %a, %b : (tensor<4x1x9xui32>, tensor<3x9xui32>) -> tensor<4x3x9xui32>
  kernel.return %y : tensor<4x3x9xui32>
}
kernel.func @equal_ui32(%a: tensor<4x1x9xui32>, %b: tensor<3x9xui32>) -> (tensor<4x3x9xi1>) {
  %y = graph.equal %a, %b : (tensor<4x1x9xui32>, tensor<3x9xui32>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @less_ui32(%a: tensor<4x1x9xui32>, %b: tensor<3x9xui32>) -> (tensor<4x3x9xi1>) {
  %y = graph.less %a, %b : (tensor<4x1x9xui32>, tensor<3x9xui32>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @greater_equal_ui32(%a: tensor<4x1x9xui32>, %b: tensor<3x9xui32>) -> (tensor<4x3x9xi1>) {
  %y = graph.greater_equal %a, %b : (tensor<4x1x9xui32>, tensor<3x9xui32>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @cast_ui32_f32(%a: tensor<4x1x9xui32>) -> (tensor<4x1x9xf32>) {
  %y = graph.cast %a {to = f32} : (tensor<4x1x9xui32>) -> tensor<4x1x9xf32>
  kernel.return %y : tensor<4x1x9xf32>
}
kernel.func @reduce_sum_middle_ui32(%x: tensor<3x10x5xui32>) -> (tensor<3x5xui32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<3x10x5xui32>, tensor<1xi64>) -> tensor<3x5xui32>
  kernel.return %y : tensor<3x5xui32>
}
kernel.func @reduce_max_middle_ui32(%x: tensor<3x10x5xui32>) -> (tensor<3x5xui32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<3x10x5xui32>, tensor<1xi64>) -> tensor<3x5xui32>
  kernel.return %y : tensor<3x5xui32>
}
kernel.func @reduce_min_middle_ui32(%x: tensor<3x10x5xui32>) -> (tensor<3x5xui32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<3x10x5xui32>, tensor<1xi64>) -> tensor<3x5xui32>
  kernel.return %y : tensor<3x5xui32>
}
kernel.func @reduce_prod_middle_ui32(%x: tensor<3x10x5xui32>) -> (tensor<3x5xui32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x10x5xui32>, tensor<1xi64>) -> tensor<3x5xui32>
  kernel.return %y : tensor<3x5xui32>
}
kernel.func @add_ui64(%a: tensor<4x1x9xui64>, %b: tensor<3x9xui64>) -> (tensor<4x3x9xui64>) {
  %y = graph.add %a, %b : (tensor<4x1x9xui64>, tensor<3x9xui64>) -> tensor<4x3x9xui64>
  kernel.return %y : tensor<4x3x9xui64>
}
kernel.func @sub_ui64(%a: tensor<4x1x9xui64>, %b: tensor<3x9xui64>) -> (tensor<4x3x9xui64>) {
  %y = graph.sub %a, %b : (tensor<4x1x9xui64>, tensor<3x9xui64>) -> tensor<4x3x9xui64>
  kernel.return %y : tensor<4x3x9xui64>
}
kernel.func @mul_ui64(%a: tensor<4x1x9xui64>, %b: tensor<3x9xui64>) -> (tensor<4x3x9xui64>) {
  %y = graph.mul %a, %b : (tensor<4x1x9xui64>, tensor<3x9xui64>) -> tensor<4x3x9xui64>
  kernel.return %y : tensor<4x3x9xui64>
}
kernel.func @div_ui64(%a: tensor<4x1x9xui64>, %b: tensor<3x9xui64>) -> (tensor<4x3x9xui64>) {
  %y = graph.div %a, %b : (tensor<4x1x9xui64>, tensor<3x9xui64>) -> tensor<4x3x9xui64>
  kernel.return %y : tensor<4x3x9xui64>
}
kernel.func @max_ui64(%a: tensor<4x1x9xui64>, %b: tensor<3x9xui64>) -> (tensor<4x3x9xui64>) {
  %y = graph.max %a, %b : (tensor<4x1x9xui64>, tensor<3x9xui64>) -> tensor<4x3x9xui64>
  kernel.return %y : tensor<4x3x9xui64>
}
kernel.func @min_ui64(%a: tensor<4x1x9xui64>, %b: tensor<3x9xui64>) -> (tensor<4x3x9xui64>) {
  %y = graph.min %a, %b : (tensor<4x1x9xui64>, tensor<3x9xui64>) -> tensor<4x3x9xui64>
  kernel.return %y : tensor<4x3x9xui64>
}
kernel.func @equal_ui64(%a: tensor<4x1x9xui64>, %b: tensor<3x9xui64>) -> (tensor<4x3x9xi1>) {
  %y = graph.equal %a, %b : (tensor<4x1x9xui64>, tensor<3x9xui64>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @less_ui64(%a: tensor<4x1x9xui64>, %b: tensor<3x9xui64>) -> (tensor<4x3x9xi1>) {
  %y = graph.less %a, %b : (tensor<4x1x9xui64>, tensor<3x9xui64>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @greater_equal_ui64(%a: tensor<4x1x9xui64>, %b: tensor<3x9xui64>) -> (tensor<4x3x9xi1>) {
  %y = graph.greater_equal %a, %b : (tensor<4x1x9xui64>, tensor<3x9xui64>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @cast_ui64_f32(%a: tensor<4x1x9xui64>) -> (tensor<4x1x9xf32>) {
  %y = graph.cast %a {to = f32} : (tensor<4x1x9xui64>) -> tensor<4x1x9xf32>
  kernel.return %y : tensor<4x1x9xf32>
}
kernel.func @reduce_sum_middle_ui64(%x: tensor<3x10x5xui64>) -> (tensor<3x5xui64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<3x10x5xui64>, tensor<1xi64>) -> tensor<3x5xui64>
  kernel.return %y : tensor<3x5xui64>
}
kernel.func @reduce_max_middle_ui64(%x: tensor<3x10x5xui64>) -> (tensor<3x5xui64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<3x10x5xui64>, tensor<1xi64>) -> tensor<3x5xui64>
  kernel.return %y : tensor<3x5xui64>
}
kernel.func @reduce_min_middle_ui64(%x: tensor<3x10x5xui64>) -> (tensor<3x5xui64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<3x10x5xui64>, tensor<1xi64>) -> tensor<3x5xui64>
  kernel.return %y : tensor<3x5xui64>
}
kernel.func @reduce_prod_middle_ui64(%x: tensor<3x10x5xui64>) -> (tensor<3x5xui64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x10x5xui64>, tensor<1xi64>) -> tensor<3x5xui64>
  kernel.return %y : tensor<3x5xui64>
}
kernel.func @add_f32(%a: tensor<4x1x9xf32>, %b: tensor<3x9xf32>) -> (tensor<4x3x9xf32>) {
  %y = graph.add %a, %b : (tensor<4x1x9xf32>, tensor<3x9xf32>) -> tensor<4x3x9xf32>
  kernel.return %y : tensor<4x3x9xf32>
}
kernel.func @sub_f32(%a: tensor<4x1x9xf32>, %b: tensor<3x9xf32>) -> (tensor<4x3x9xf32>) {
  %y = graph.sub %a, %b : (tensor<4x1x9xf32>, tensor<3x9xf32>) -> tensor<4x3x9xf32>
  kernel.return %y : tensor<4x3x9xf32>
}
kernel.func @mul_f32(%a: tensor<4x1x9xf32>, %b: tensor<3x9xf32>) -> (tensor<4x3x9xf32>) {
  %y = graph.mul %a, %b : (tensor<4x1x9xf32>, tensor<3x9xf32>) -> tensor<4x3x9xf32>
  kernel.return %y : tensor<4x3x9xf32>
}
kernel.func @div_f32(%a: tensor<4x1x9xf32>, %b: tensor<3x9xf32>) -> (tensor<4x3x9xf32>) {
  %y = graph.div %a, %b : (tensor<4x1x9xf32>, tensor<3x9xf32>) -> tensor<4x3x9xf32>
  kernel.return %y : tensor<4x3x9xf32>
}
kernel.func @max_f32(%a: tensor<4x1x9xf32>, %b: tensor<3x9xf32>) -> (tensor<4x3x9xf32>) {
  %y = graph.max %a, %b : (tensor<4x1x9xf32>, tensor<3x9xf32>) -> tensor<4x3x9xf32>
  kernel.return %y : tensor<4x3x9xf32>
}
kernel.func @min_f32(%a: tensor<4x1x9xf32>, %b: tensor<3x9xf32>) -> (tensor<4x3x9xf32>) {
  %y = graph.min %a, %b : (tensor<4x1x9xf32>, tensor<3x9xf32>) -> tensor<4x3x9xf32>
  kernel.return %y : tensor<4x3x9xf32>
}
kernel.func @equal_f32(%a: tensor<4x1x9xf32>, %b: tensor<3x9xf32>) -> (tensor<4x3x9xi1>) {
  %y = graph.equal %a, %b : (tensor<4x1x9xf32>, tensor<3x9xf32>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @less_f32(%a: tensor<4x1x9xf32>, %b: tensor<3x9xf32>) -> (tensor<4x3x9xi1>) {
  %y = graph.less %a, %b : (tensor<4x1x9xf32>, tensor<3x9xf32>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @greater_equal_f32(%a: tensor<4x1x9xf32>, %b: tensor<3x9xf32>) -> (tensor<4x3x9xi1>) {
  %y = graph.greater_equal %a, %b : (tensor<4x1x9xf32>, tensor<3x9xf32>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @cast_f32_f32(%a: tensor<4x1x9xf32>) -> (tensor<4x1x9xf32>) {
  %y = graph.cast %a {to = f32} : (tensor<4x1x9xf32>) -> tensor<4x1x9xf32>
  kernel.return %y : tensor<4x1x9xf32>
}
kernel.func @reduce_sum_middle_f32(%x: tensor<3x10x5xf32>) -> (tensor<3x5xf32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<3x10x5xf32>, tensor<1xi64>) -> tensor<3x5xf32>
  kernel.return %y : tensor<3x5xf32>
}
kernel.func @reduce_max_middle_f32(%x: tensor<3x10x5xf32>) -> (tensor<3x5xf32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<3x10x5xf32>, tensor<1xi64>) -> tensor<3x5xf32>
  kernel.return %y : tensor<3x5xf32>
}
kernel.func @reduce_min_middle_f32(%x: tensor<3x10x5xf32>) -> (tensor<3x5xf32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<3x10x5xf32>, tensor<1xi64>) -> tensor<3x5xf32>
  kernel.return %y : tensor<3x5xf32>
}
kernel.func @reduce_prod_middle_f32(%x: tensor<3x10x5xf32>) -> (tensor<3x5xf32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x10x5xf32>, tensor<1xi64>) -> tensor<3x5xf32>
  kernel.return %y : tensor<3x5xf32>
}
kernel.func @add_f64(%a: tensor<4x1x9xf64>, %b: tensor<3x9xf64>) -> (tensor<4x3x9xf64>) {
  %y = graph.add %a, %b : (tensor<4x1x9xf64>, tensor<3x9xf64>) -> tensor<4x3x9xf64>
  kernel.return %y : tensor<4x3x9xf64>
}
kernel.func @sub_f64(%a: tensor<4x1x9xf64>, %b: tensor<3x9xf64>) -> (tensor<4x3x9xf64>) {
  %y = graph.sub %a, %b : (tensor<4x1x9xf64>, tensor<3x9xf64>) -> tensor<4x3x9xf64>
  kernel.return %y : tensor<4x3x9xf64>
}
kernel.func @mul_f64(%a: tensor<4x1x9xf64>, %b: tensor<3x9xf64>) -> (tensor<4x3x9xf64>) {
  %y = graph.mul %a, %b : (tensor<4x1x9xf64>, tensor<3x9xf64>) -> tensor<4x3x9xf64>
  kernel.return %y : tensor<4x3x9xf64>
}
kernel.func @div_f64(%a: tensor<4x1x9xf64>, %b: tensor<3x9xf64>) -> (tensor<4x3x9xf64>) {
  %y = graph.div %a, %b : (tensor<4x1x9xf64>, tensor<3x9xf64>) -> tensor<4x3x9xf64>
  kernel.return %y : tensor<4x3x9xf64>
}
kernel.func @max_f64(%a: tensor<4x1x9xf64>, %b: tensor<3x9xf64>) -> (tensor<4x3x9xf64>) {
  %y = graph.max %a, %b : (tensor<4x1x9xf64>, tensor<3x9xf64>) -> tensor<4x3x9xf64>
  kernel.return %y : tensor<4x3x9xf64>
}
kernel.func @min_f64(%a: tensor<4x1x9xf64>, %b: tensor<3x9xf64>) -> (tensor<4x3x9xf64>) {
  %y = graph.min %a, %b : (tensor<4x1x9xf64>, tensor<3x9xf64>) -> tensor<4x3x9xf64>
  kernel.return %y : tensor<4x3x9xf64>
}
kernel.func @equal_f64(%a: tensor<4x1x9xf64>, %b: tensor<3x9xf64>) -> (tensor<4x3x9xi1>) {
  %y = graph.equal %a, %b : (tensor<4x1x9xf64>, tensor<3x9xf64>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @less_f64(%a: tensor<4x1x9xf64>, %b: tensor<3x9xf64>) -> (tensor<4x3x9xi1>) {
  %y = graph.less %a, %b : (tensor<4x1x9xf64>, tensor<3x9xf64>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @greater_equal_f64(%a: tensor<4x1x9xf64>, %b: tensor<3x9xf64>) -> (tensor<4x3x9xi1>) {
  %y = graph.greater_equal %a, %b : (tensor<4x1x9xf64>, tensor<3x9xf64>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @cast_f64_f32(%a: tensor<4x1x9xf64>) -> (tensor<4x1x9xf32>) {
  %y = graph.cast %a {to = f32} : (tensor<4x1x9xf64>) -> tensor<4x1x9xf32>
  kernel.return %y : tensor<4x1x9xf32>
}
kernel.func @reduce_sum_middle_f64(%x: tensor<3x10x5xf64>) -> (tensor<3x5xf64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<3x10x5xf64>, tensor<1xi64>) -> tensor<3x5xf64>
  kernel.return %y : tensor<3x5xf64>
}
kernel.func @reduce_max_middle_f64(%x: tensor<3x10x5xf64>) -> (tensor<3x5xf64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<3x10x5xf64>, tensor<1xi64>) -> tensor<3x5xf64>
  kernel.return %y : tensor<3x5xf64>
}
kernel.func @reduce_min_middle_f64(%x: tensor<3x10x5xf64>) -> (tensor<3x5xf64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<3x10x5xf64>, tensor<1xi64>) -> tensor<3x5xf64>
  kernel.return %y : tensor<3x5xf64>
}
kernel.func @reduce_prod_middle_f64(%x: tensor<3x10x5xf64>) -> (tensor<3x5xf64>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x10x5xf64>, tensor<1xi64>) -> tensor<3x5xf64>
  kernel.return %y : tensor<3x5xf64>
}
kernel.func @add_f16(%a: tensor<4x1x9xf16>, %b: tensor<3x9xf16>) -> (tensor<4x3x9xf16>) {
  %y = graph.add %a, %b : (tensor<4x1x9xf16>, tensor<3x9xf16>) -> tensor<4x3x9xf16>
  kernel.return %y : tensor<4x3x9xf16>
}
kernel.func @sub_f16(%a: tensor<4x1x9xf16>, %b: tensor<3x9xf16>) -> (tensor<4x3x9xf16>) {
  %y = graph.sub %a, %b : (tensor<4x1x9xf16>, tensor<3x9xf16>) -> tensor<4x3x9xf16>
  kernel.return %y : tensor<4x3x9xf16>
}
kernel.func @mul_f16(%a: tensor<4x1x9xf16>, %b: tensor<3x9xf16>) -> (tensor<4x3x9xf16>) {
  %y = graph.mul %a, %b : (tensor<4x1x9xf16>, tensor<3x9xf16>) -> tensor<4x3x9xf16>
  kernel.return %y : tensor<4x3x9xf16>
}
kernel.func @div_f16(%a: tensor<4x1x9xf16>, %b: tensor<3x9xf16>) -> (tensor<4x3x9xf16>) {
  %y = graph.div %a, %b : (tensor<4x1x9xf16>, tensor<3x9xf16>) -> tensor<4x3x9xf16>
  kernel.return %y : tensor<4x3x9xf16>
}
kernel.func @max_f16(%a: tensor<4x1x9xf16>, %b: tensor<3x9xf16>) -> (tensor<4x3x9xf16>) {
  %y = graph.max %a, %b : (tensor<4x1x9xf16>, tensor<3x9xf16>) -> tensor<4x3x9xf16>
  kernel.return %y : tensor<4x3x9xf16>
}
kernel.func @min_f16(%a: tensor<4x1x9xf16>, %b: tensor<3x9xf16>) -> (tensor<4x3x9xf16>) {
  %y = graph.min %a, %b : (tensor<4x1x9xf16>, tensor<3x9xf16>) -> tensor<4x3x9xf16>
  kernel.return %y : tensor<4x3x9xf16>
}
kernel.func @equal_f16(%a: tensor<4x1x9xf16>, %b: tensor<3x9xf16>) -> (tensor<4x3x9xi1>) {
  %y = graph.equal %a, %b : (tensor<4x1x9xf16>, tensor<3x9xf16>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @less_f16(%a: tensor<4x1x9xf16>, %b: tensor<3x9xf16>) -> (tensor<4x3x9xi1>) {
  %y = graph.less %a, %b : (tensor<4x1x9xf16>, tensor<3x9xf16>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @greater_equal_f16(%a: tensor<4x1x9xf16>, %b: tensor<3x9xf16>) -> (tensor<4x3x9xi1>) {
  %y = graph.greater_equal %a, %b : (tensor<4x1x9xf16>, tensor<3x9xf16>) -> tensor<4x3x9xi1>
  kernel.return %y : tensor<4x3x9xi1>
}
kernel.func @cast_f16_f32(%a: tensor<4x1x9xf16>) -> (tensor<4x1x9xf32>) {
  %y = graph.cast %a {to = f32} : (tensor<4x1x9xf16>) -> tensor<4x1x9xf32>
  kernel.return %y : tensor<4x1x9xf32>
}
kernel.func @reduce_sum_middle_f16(%x: tensor<3x10x5xf16>) -> (tensor<3x5xf16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<3x10x5xf16>, tensor<1xi64>) -> tensor<3x5xf16>
  kernel.return %y : tensor<3x5xf16>
}
kernel.func @reduce_max_middle_f16(%x: tensor<3x10x5xf16>) -> (tensor<3x5xf16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<3x10x5xf16>, tensor<1xi64>) -> tensor<3x5xf16>
  kernel.return %y : tensor<3x5xf16>
}
kernel.func @reduce_min_middle_f16(%x: tensor<3x10x5xf16>) -> (tensor<3x5xf16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<3x10x5xf16>, tensor<1xi64>) -> tensor<3x5xf16>
  kernel.return %y : tensor<3x5xf16>
}
kernel.func @reduce_prod_middle_f16(%x: tensor<3x10x5xf16>) -> (tensor<3x5xf16>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x10x5xf16>, tensor<1xi64>) -> tensor<3x5xf16>
  kernel.return %y : tensor<3x5xf16>
}
kernel.func @max_nan_special(%a: tensor<5x13xf32>, %b: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.max %a, %b : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @min_nan_special(%a: tensor<5x13xf32>, %b: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.min %a, %b : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @add_nan_special(%a: tensor<5x13xf32>, %b: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.add %a, %b : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @mul_nan_special(%a: tensor<5x13xf32>, %b: tensor<5x13xf32>) -> (tensor<5x13xf32>) {
  %y = graph.mul %a, %b : tensor<5x13xf32>
  kernel.return %y : tensor<5x13xf32>
}
kernel.func @logical_and(%a: tensor<3x7xi1>, %b: tensor<3x7xi1>) -> (tensor<3x7xi1>) {
  %y = graph.logical_and %a, %b : tensor<3x7xi1>
  kernel.return %y : tensor<3x7xi1>
}
kernel.func @logical_or(%a: tensor<3x7xi1>, %b: tensor<3x7xi1>) -> (tensor<3x7xi1>) {
  %y = graph.logical_or %a, %b : tensor<3x7xi1>
  kernel.return %y : tensor<3x7xi1>
}
kernel.func @logical_xor(%a: tensor<3x7xi1>, %b: tensor<3x7xi1>) -> (tensor<3x7xi1>) {
  %y = graph.logical_xor %a, %b : tensor<3x7xi1>
  kernel.return %y : tensor<3x7xi1>
}
kernel.func @select(%c: tensor<7xi1>, %a: tensor<3x7xf32>, %b: tensor<3x1xf32>) -> (tensor<3x7xf32>) {
  %y = graph.select %c, %a, %b : (tensor<7xi1>, tensor<3x7xf32>, tensor<3x1xf32>) -> tensor<3x7xf32>
  kernel.return %y : tensor<3x7xf32>
}
kernel.func @reduce_sum_last_f32(%x: tensor<4x37xf32>) -> (tensor<4x1xf32>) {
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a : (tensor<4x37xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  kernel.return %y : tensor<4x1xf32>
}
kernel.func @reduce_mean_last_f32(%x: tensor<4x37xf32>) -> (tensor<4x1xf32>) {
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.reduce_mean %x, %a : (tensor<4x37xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  kernel.return %y : tensor<4x1xf32>
}
kernel.func @reduce_max_last_f32(%x: tensor<4x37xf32>) -> (tensor<4x1xf32>) {
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.reduce_max %x, %a : (tensor<4x37xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  kernel.return %y : tensor<4x1xf32>
}
kernel.func @reduce_min_last_f32(%x: tensor<4x37xf32>) -> (tensor<4x1xf32>) {
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.reduce_min %x, %a : (tensor<4x37xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  kernel.return %y : tensor<4x1xf32>
}
kernel.func @reduce_sum_last_f16(%x: tensor<4x37xf16>) -> (tensor<4x1xf16>) {
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a : (tensor<4x37xf16>, tensor<1xi64>) -> tensor<4x1xf16>
  kernel.return %y : tensor<4x1xf16>
}
kernel.func @reduce_mean_last_f16(%x: tensor<4x37xf16>) -> (tensor<4x1xf16>) {
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.reduce_mean %x, %a : (tensor<4x37xf16>, tensor<1xi64>) -> tensor<4x1xf16>
  kernel.return %y : tensor<4x1xf16>
}
kernel.func @reduce_max_last_f16(%x: tensor<4x37xf16>) -> (tensor<4x1xf16>) {
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.reduce_max %x, %a : (tensor<4x37xf16>, tensor<1xi64>) -> tensor<4x1xf16>
  kernel.return %y : tensor<4x1xf16>
}
kernel.func @reduce_min_last_f16(%x: tensor<4x37xf16>) -> (tensor<4x1xf16>) {
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.reduce_min %x, %a : (tensor<4x37xf16>, tensor<1xi64>) -> tensor<4x1xf16>
  kernel.return %y : tensor<4x1xf16>
}
kernel.func @reduce_sum_all_f32(%x: tensor<5x23xf32>) -> (tensor<1x1xf32>) {
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %y = graph.reduce_sum %x, %a : (tensor<5x23xf32>, tensor<2xi64>) -> tensor<1x1xf32>
  kernel.return %y : tensor<1x1xf32>
}
kernel.func @reduce_mean_all_f32(%x: tensor<5x23xf32>) -> (tensor<1x1xf32>) {
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %y = graph.reduce_mean %x, %a : (tensor<5x23xf32>, tensor<2xi64>) -> tensor<1x1xf32>
  kernel.return %y : tensor<1x1xf32>
}
kernel.func @reduce_max_all_f32(%x: tensor<5x23xf32>) -> (tensor<1x1xf32>) {
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %y = graph.reduce_max %x, %a : (tensor<5x23xf32>, tensor<2xi64>) -> tensor<1x1xf32>
  kernel.return %y : tensor<1x1xf32>
}
kernel.func @reduce_min_all_f32(%x: tensor<5x23xf32>) -> (tensor<1x1xf32>) {
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %y = graph.reduce_min %x, %a : (tensor<5x23xf32>, tensor<2xi64>) -> tensor<1x1xf32>
  kernel.return %y : tensor<1x1xf32>
}
kernel.func @reduce_sum_all_f16(%x: tensor<5x23xf16>) -> (tensor<1x1xf16>) {
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %y = graph.reduce_sum %x, %a : (tensor<5x23xf16>, tensor<2xi64>) -> tensor<1x1xf16>
  kernel.return %y : tensor<1x1xf16>
}
kernel.func @reduce_mean_all_f16(%x: tensor<5x23xf16>) -> (tensor<1x1xf16>) {
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %y = graph.reduce_mean %x, %a : (tensor<5x23xf16>, tensor<2xi64>) -> tensor<1x1xf16>
  kernel.return %y : tensor<1x1xf16>
}
kernel.func @reduce_max_all_f16(%x: tensor<5x23xf16>) -> (tensor<1x1xf16>) {
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %y = graph.reduce_max %x, %a : (tensor<5x23xf16>, tensor<2xi64>) -> tensor<1x1xf16>
  kernel.return %y : tensor<1x1xf16>
}
kernel.func @reduce_min_all_f16(%x: tensor<5x23xf16>) -> (tensor<1x1xf16>) {
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %y = graph.reduce_min %x, %a : (tensor<5x23xf16>, tensor<2xi64>) -> tensor<1x1xf16>
  kernel.return %y : tensor<1x1xf16>
}
kernel.func @reduce_sum_first_f32(%x: tensor<6x19xf32>) -> (tensor<1x19xf32>) {
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a : (tensor<6x19xf32>, tensor<1xi64>) -> tensor<1x19xf32>
  kernel.return %y : tensor<1x19xf32>
}
kernel.func @reduce_mean_first_f32(%x: tensor<6x19xf32>) -> (tensor<1x19xf32>) {
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %y = graph.reduce_mean %x, %a : (tensor<6x19xf32>, tensor<1xi64>) -> tensor<1x19xf32>
  kernel.return %y : tensor<1x19xf32>
}
kernel.func @reduce_max_first_f32(%x: tensor<6x19xf32>) -> (tensor<1x19xf32>) {
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %y = graph.reduce_max %x, %a : (tensor<6x19xf32>, tensor<1xi64>) -> tensor<1x19xf32>
  kernel.return %y : tensor<1x19xf32>
}
kernel.func @reduce_min_first_f32(%x: tensor<6x19xf32>) -> (tensor<1x19xf32>) {
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %y = graph.reduce_min %x, %a : (tensor<6x19xf32>, tensor<1xi64>) -> tensor<1x19xf32>
  kernel.return %y : tensor<1x19xf32>
}
kernel.func @reduce_sum_first_f16(%x: tensor<6x19xf16>) -> (tensor<1x19xf16>) {
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a : (tensor<6x19xf16>, tensor<1xi64>) -> tensor<1x19xf16>
  kernel.return %y : tensor<1x19xf16>
}
kernel.func @reduce_mean_first_f16(%x: tensor<6x19xf16>) -> (tensor<1x19xf16>) {
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %y = graph.reduce_mean %x, %a : (tensor<6x19xf16>, tensor<1xi64>) -> tensor<1x19xf16>
  kernel.return %y : tensor<1x19xf16>
}
kernel.func @reduce_max_first_f16(%x: tensor<6x19xf16>) -> (tensor<1x19xf16>) {
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %y = graph.reduce_max %x, %a : (tensor<6x19xf16>, tensor<1xi64>) -> tensor<1x19xf16>
  kernel.return %y : tensor<1x19xf16>
}
kernel.func @reduce_min_first_f16(%x: tensor<6x19xf16>) -> (tensor<1x19xf16>) {
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %y = graph.reduce_min %x, %a : (tensor<6x19xf16>, tensor<1xi64>) -> tensor<1x19xf16>
  kernel.return %y : tensor<1x19xf16>
}
kernel.func @reduce_sum_outer_f32(%x: tensor<3x4x17xf32>) -> (tensor<1x4x1xf32>) {
  %a = graph.constant dense<[0, 2]> : tensor<2xi64>
  %y = graph.reduce_sum %x, %a : (tensor<3x4x17xf32>, tensor<2xi64>) -> tensor<1x4x1xf32>
  kernel.return %y : tensor<1x4x1xf32>
}
kernel.func @reduce_mean_outer_f32(%x: tensor<3x4x17xf32>) -> (tensor<1x4x1xf32>) {
  %a = graph.constant dense<[0, 2]> : tensor<2xi64>
  %y = graph.reduce_mean %x, %a : (tensor<3x4x17xf32>, tensor<2xi64>) -> tensor<1x4x1xf32>
  kernel.return %y : tensor<1x4x1xf32>
}
kernel.func @reduce_max_outer_f32(%x: tensor<3x4x17xf32>) -> (tensor<1x4x1xf32>) {
  %a = graph.constant dense<[0, 2]> : tensor<2xi64>
  %y = graph.reduce_max %x, %a : (tensor<3x4x17xf32>, tensor<2xi64>) -> tensor<1x4x1xf32>
  kernel.return %y : tensor<1x4x1xf32>
}
kernel.func @reduce_min_outer_f32(%x: tensor<3x4x17xf32>) -> (tensor<1x4x1xf32>) {
  %a = graph.constant dense<[0, 2]> : tensor<2xi64>
  %y = graph.reduce_min %x, %a : (tensor<3x4x17xf32>, tensor<2xi64>) -> tensor<1x4x1xf32>
  kernel.return %y : tensor<1x4x1xf32>
}
kernel.func @reduce_sum_outer_f16(%x: tensor<3x4x17xf16>) -> (tensor<1x4x1xf16>) {
  %a = graph.constant dense<[0, 2]> : tensor<2xi64>
  %y = graph.reduce_sum %x, %a : (tensor<3x4x17xf16>, tensor<2xi64>) -> tensor<1x4x1xf16>
  kernel.return %y : tensor<1x4x1xf16>
}
kernel.func @reduce_mean_outer_f16(%x: tensor<3x4x17xf16>) -> (tensor<1x4x1xf16>) {
  %a = graph.constant dense<[0, 2]> : tensor<2xi64>
  %y = graph.reduce_mean %x, %a : (tensor<3x4x17xf16>, tensor<2xi64>) -> tensor<1x4x1xf16>
  kernel.return %y : tensor<1x4x1xf16>
}
kernel.func @reduce_max_outer_f16(%x: tensor<3x4x17xf16>) -> (tensor<1x4x1xf16>) {
  %a = graph.constant dense<[0, 2]> : tensor<2xi64>
  %y = graph.reduce_max %x, %a : (tensor<3x4x17xf16>, tensor<2xi64>) -> tensor<1x4x1xf16>
  kernel.return %y : tensor<1x4x1xf16>
}
kernel.func @reduce_min_outer_f16(%x: tensor<3x4x17xf16>) -> (tensor<1x4x1xf16>) {
  %a = graph.constant dense<[0, 2]> : tensor<2xi64>
  %y = graph.reduce_min %x, %a : (tensor<3x4x17xf16>, tensor<2xi64>) -> tensor<1x4x1xf16>
  kernel.return %y : tensor<1x4x1xf16>
}
kernel.func @reduce_max_special(%x: tensor<9x70xf32>) -> (tensor<9x1xf32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a : (tensor<9x70xf32>, tensor<1xi64>) -> tensor<9x1xf32>
  kernel.return %y : tensor<9x1xf32>
}
kernel.func @reduce_any(%x: tensor<9x33xi1>) -> (tensor<9x1xi1>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a : (tensor<9x33xi1>, tensor<1xi64>) -> tensor<9x1xi1>
  kernel.return %y : tensor<9x1xi1>
}
kernel.func @softmax_7x64(%x: tensor<7x64xf32>) -> (tensor<7x64xf32>) {
  %y = graph.softmax %x : tensor<7x64xf32>
  kernel.return %y : tensor<7x64xf32>
}
kernel.func @softmax_3x5x31(%x: tensor<3x5x31xf32>) -> (tensor<3x5x31xf32>) {
  %y = graph.softmax %x : tensor<3x5x31xf32>
  kernel.return %y : tensor<3x5x31xf32>
}
kernel.func @softmax_1x1(%x: tensor<1x1xf32>) -> (tensor<1x1xf32>) {
  %y = graph.softmax %x : tensor<1x1xf32>
  kernel.return %y : tensor<1x1xf32>
}
kernel.func @softmax_2x3x4x9(%x: tensor<2x3x4x9xf32>) -> (tensor<2x3x4x9xf32>) {
  %y = graph.softmax %x : tensor<2x3x4x9xf32>
  kernel.return %y : tensor<2x3x4x9xf32>
}
kernel.func @softmax_64x3000(%x: tensor<64x3000xf32>) -> (tensor<64x3000xf32>) {
  %y = graph.softmax %x : tensor<64x3000xf32>
  kernel.return %y : tensor<64x3000xf32>
}
kernel.func @softmax_axis1(%x: tensor<2x6x11xf32>) -> (tensor<2x6x11xf32>) {
  %y = graph.softmax %x {axis = 1 : i64} : tensor<2x6x11xf32>
  kernel.return %y : tensor<2x6x11xf32>
}
kernel.func @softmax_axis0(%x: tensor<6x11xf32>) -> (tensor<6x11xf32>) {
  %y = graph.softmax %x {axis = 0 : i64} : tensor<6x11xf32>
  kernel.return %y : tensor<6x11xf32>
}
kernel.func @softmax_f16(%x: tensor<4x37xf16>) -> (tensor<4x37xf16>) {
  %y = graph.softmax %x : tensor<4x37xf16>
  kernel.return %y : tensor<4x37xf16>
}
kernel.func @softmax_long(%x: tensor<2x20000xf32>) -> (tensor<2x20000xf32>) {
  %y = graph.softmax %x : tensor<2x20000xf32>
  kernel.return %y : tensor<2x20000xf32>
}
kernel.func @log_softmax(%x: tensor<4x37xf32>) -> (tensor<4x37xf32>) {
  %y = graph.log_softmax %x : tensor<4x37xf32>
  kernel.return %y : tensor<4x37xf32>
}
kernel.func @layer_norm(%x: tensor<5x77xf32>, %g: tensor<77xf32>, %b: tensor<77xf32>) -> (tensor<5x77xf32>) {
  %y = graph.layer_norm %x, %g, %b : (tensor<5x77xf32>, tensor<77xf32>, tensor<77xf32>) -> tensor<5x77xf32>
  kernel.return %y : tensor<5x77xf32>
}
kernel.func @rms_norm(%x: tensor<5x77xf32>, %g: tensor<77xf32>) -> (tensor<5x77xf32>) {
  %y = graph.rms_norm %x, %g : (tensor<5x77xf32>, tensor<77xf32>) -> tensor<5x77xf32>
  kernel.return %y : tensor<5x77xf32>
}
kernel.func @group_norm(%x: tensor<2x6x5x7xf32>, %g: tensor<6xf32>, %b: tensor<6xf32>) -> (tensor<2x6x5x7xf32>) {
  %y = graph.group_norm %x, %g, %b {num_groups = 3 : i64} : (tensor<2x6x5x7xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x5x7xf32>
  kernel.return %y : tensor<2x6x5x7xf32>
}
kernel.func @elementwise_model(%x: tensor<6x100xf32>, %y: tensor<6x100xf32>, %g: tensor<100xf32>, %b: tensor<100xf32>) -> (tensor<6x100xf32>) {
  %c = graph.constant dense<0.3> : tensor<f32>
  %0 = graph.mul %x, %y : tensor<6x100xf32>
  %1 = graph.add %0, %x : tensor<6x100xf32>
  %2 = graph.tanh %1 : tensor<6x100xf32>
  %3 = graph.mul %2, %y : tensor<6x100xf32>
  %4 = graph.mul %x, %c : (tensor<6x100xf32>, tensor<f32>) -> tensor<6x100xf32>
  %5 = graph.sub %3, %4 : tensor<6x100xf32>
  %8 = graph.softmax %5 : tensor<6x100xf32>
  %9 = graph.add %8, %x : tensor<6x100xf32>
  %z = graph.layer_norm %9, %g, %b : (tensor<6x100xf32>, tensor<100xf32>, tensor<100xf32>) -> tensor<6x100xf32>
  kernel.return %z : tensor<6x100xf32>
}
kernel.func @transpose_10_f32(%x: tensor<19x23xf32>) -> (tensor<23x19xf32>) {
  %y = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<19x23xf32>) -> tensor<23x19xf32>
  kernel.return %y : tensor<23x19xf32>
}
kernel.func @transpose_10_i8(%x: tensor<19x23xi8>) -> (tensor<23x19xi8>) {
  %y = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<19x23xi8>) -> tensor<23x19xi8>
  kernel.return %y : tensor<23x19xi8>
}
kernel.func @transpose_10_f64(%x: tensor<19x23xf64>) -> (tensor<23x19xf64>) {
  %y = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<19x23xf64>) -> tensor<23x19xf64>
  kernel.return %y : tensor<23x19xf64>
}
kernel.func @transpose_of_long_rows(%x: tensor<1037x48xf32>, %b: tensor<48x1037xf32>) -> (tensor<48x1037xf32>) {
  %t = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<1037x48xf32>) -> tensor<48x1037xf32>
  %y = graph.add %t, %b : tensor<48x1037xf32>
  kernel.return %y : tensor<48x1037xf32>
}
kernel.func @transpose_of_sums(%a: tensor<2x1037x18xf32>, %b: tensor<2x1037x18xf32>) -> (tensor<2x18x1037xf32>) {
  %sum = graph.add %a, %b : tensor<2x1037x18xf32>
  %y = graph.transpose %sum {perm = array<i64: 0, 2, 1>} : (tensor<2x1037x18xf32>) -> tensor<2x18x1037xf32>
  kernel.return %y : tensor<2x18x1037xf32>
}
kernel.func @reduce_transposed(%x: tensor<16x64xf32>, %y: tensor<64x16xf32>) -> (tensor<64x1xf32>) {
  %t = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<16x64xf32>) -> tensor<64x16xf32>
  %sum = graph.add %t, %y : tensor<64x16xf32>
  %axes = graph.constant dense<[1]> : tensor<1xi64>
  %z = graph.reduce_max %sum, %axes {keepdims = true} : (tensor<64x16xf32>, tensor<1xi64>) -> tensor<64x1xf32>
  kernel.return %z : tensor<64x1xf32>
}
kernel.func @reduce_max_of_pad_special(%x: tensor<3x5x40xf32>) -> (tensor<3x1x1xf32>) {
  %p = graph.constant dense<[0, 0, 2, 2]> : tensor<4xi64>
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %z = graph.constant dense<0.5> : tensor<f32>
  %y = graph.pad %x, %p, %z, %a : (tensor<3x5x40xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<3x7x42xf32>
  %m = graph.reduce_max %y, %a {keepdims = true} : (tensor<3x7x42xf32>, tensor<2xi64>) -> tensor<3x1x1xf32>
  kernel.return %m : tensor<3x1x1xf32>
}
kernel.func @reduce_transposed_long(%x: tensor<100x200xf32>) -> (tensor<200xf32>) {
  %t = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<100x200xf32>) -> tensor<200x100xf32>
  %axes = graph.constant dense<[1]> : tensor<1xi64>
  %z = graph.reduce_min %t, %axes {keepdims = false} : (tensor<200x100xf32>, tensor<1xi64>) -> tensor<200xf32>
  kernel.return %z : tensor<200xf32>
}
kernel.func @transpose_0213_f32(%x: tensor<2x5x3x16xf32>) -> (tensor<2x3x5x16xf32>) {
  %y = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x16xf32>) -> tensor<2x3x5x16xf32>
  kernel.return %y : tensor<2x3x5x16xf32>
}
kernel.func @transpose_0213_i8(%x: tensor<2x5x3x16xi8>) -> (tensor<2x3x5x16xi8>) {
  %y = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x16xi8>) -> tensor<2x3x5x16xi8>
  kernel.return %y : tensor<2x3x5x16xi8>
}
kernel.func @transpose_0213_f64(%x: tensor<2x5x3x16xf64>) -> (tensor<2x3x5x16xf64>) {
  %y = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x16xf64>) -> tensor<2x3x5x16xf64>
  kernel.return %y : tensor<2x3x5x16xf64>
}
kernel.func @transpose_021_f32(%x: tensor<3x40x33xf32>) -> (tensor<3x33x40xf32>) {
  %y = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<3x40x33xf32>) -> tensor<3x33x40xf32>
  kernel.return %y : tensor<3x33x40xf32>
}
kernel.func @transpose_021_i8(%x: tensor<3x40x33xi8>) -> (tensor<3x33x40xi8>) {
  %y = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<3x40x33xi8>) -> tensor<3x33x40xi8>
  kernel.return %y : tensor<3x33x40xi8>
}
kernel.func @transpose_021_f64(%x: tensor<3x40x33xf64>) -> (tensor<3x33x40xf64>) {
  %y = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<3x40x33xf64>) -> tensor<3x33x40xf64>
  kernel.return %y : tensor<3x33x40xf64>
}
kernel.func @transpose_210_f32(%x: tensor<9x10x11xf32>) -> (tensor<11x10x9xf32>) {
  %y = graph.transpose %x {perm = array<i64: 2, 1, 0>} : (tensor<9x10x11xf32>) -> tensor<11x10x9xf32>
  kernel.return %y : tensor<11x10x9xf32>
}
kernel.func @transpose_210_i8(%x: tensor<9x10x11xi8>) -> (tensor<11x10x9xi8>) {
  %y = graph.transpose %x {perm = array<i64: 2, 1, 0>} : (tensor<9x10x11xi8>) -> tensor<11x10x9xi8>
  kernel.return %y : tensor<11x10x9xi8>
}
kernel.func @transpose_210_f64(%x: tensor<9x10x11xf64>) -> (tensor<11x10x9xf64>) {
  %y = graph.transpose %x {perm = array<i64: 2, 1, 0>} : (tensor<9x10x11xf64>) -> tensor<11x10x9xf64>
  kernel.return %y : tensor<11x10x9xf64>
}
kernel.func @transpose_add(%x: tensor<19x23xf32>, %y: tensor<23x19xf32>) -> (tensor<23x19xf32>) {
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<19x23xf32>) -> tensor<23x19xf32>
  %z = graph.add %0, %y : tensor<23x19xf32>
  kernel.return %z : tensor<23x19xf32>
}
kernel.func @heads(%x: tensor<2x6x24xf32>, %b: tensor<24xf32>) -> (tensor<2x3x6x8xf32>) {
  %s = graph.constant dense<[2, 6, 3, 8]> : tensor<4xi64>
  %0 = graph.add %x, %b : (tensor<2x6x24xf32>, tensor<24xf32>) -> tensor<2x6x24xf32>
  %1 = graph.reshape %0, %s : (tensor<2x6x24xf32>, tensor<4xi64>) -> tensor<2x6x3x8xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x6x3x8xf32>) -> tensor<2x3x6x8xf32>
  kernel.return %2 : tensor<2x3x6x8xf32>
}
kernel.func @unheads(%x: tensor<2x3x6x8xf32>, %r: tensor<2x6x24xf32>) -> (tensor<2x6x24xf32>) {
  %s = graph.constant dense<[2, 6, 24]> : tensor<3xi64>
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x6x8xf32>) -> tensor<2x6x3x8xf32>
  %1 = graph.reshape %0, %s : (tensor<2x6x3x8xf32>, tensor<3xi64>) -> tensor<2x6x24xf32>
  %2 = graph.add %1, %r : tensor<2x6x24xf32>
  kernel.return %2 : tensor<2x6x24xf32>
}
kernel.func @concat(%a: tensor<2x3x9xf32>, %b: tensor<2x1x9xf32>, %c: tensor<9xf32>) -> (tensor<2x4x9xf32>) {
  %0 = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x3x9xf32>, tensor<2x1x9xf32>) -> tensor<2x4x9xf32>
  %1 = graph.add %0, %c : (tensor<2x4x9xf32>, tensor<9xf32>) -> tensor<2x4x9xf32>
  kernel.return %1 : tensor<2x4x9xf32>
}
kernel.func @concat_last(%a: tensor<3x9xf32>, %b: tensor<3x20xf32>) -> (tensor<3x29xf32>) {
  %0 = graph.concat %a, %b {axis = -1 : i64} : (tensor<3x9xf32>, tensor<3x20xf32>) -> tensor<3x29xf32>
  kernel.return %0 : tensor<3x29xf32>
}
kernel.func @pad(%x: tensor<2x8x8xf32>) -> (tensor<2x10x11xf32>) {
  %p = graph.constant dense<[1, 2, 1, 1]> : tensor<4xi64>
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %z = graph.constant dense<0.5> : tensor<f32>
  %y = graph.pad %x, %p, %z, %a : (tensor<2x8x8xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<2x10x11xf32>
  kernel.return %y : tensor<2x10x11xf32>
}
kernel.func @pad_reflect(%x: tensor<2x8x8xf32>) -> (tensor<2x12x14xf32>) {
  %p = graph.constant dense<[3, 2, 1, 4]> : tensor<4xi64>
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %z = graph.constant dense<0.5> : tensor<f32>
  %y = graph.pad %x, %p, %z, %a {mode = "reflect"} : (tensor<2x8x8xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<2x12x14xf32>
  kernel.return %y : tensor<2x12x14xf32>
}
kernel.func @pad_edge(%x: tensor<2x8x8xf32>) -> (tensor<2x18x22xf32>) {
  %p = graph.constant dense<[9, 2, 1, 12]> : tensor<4xi64>
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %z = graph.constant dense<0.5> : tensor<f32>
  %y = graph.pad %x, %p, %z, %a {mode = "edge"} : (tensor<2x8x8xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<2x18x22xf32>
  kernel.return %y : tensor<2x18x22xf32>
}
kernel.func @pad_wrap(%x: tensor<2x8x8xf32>) -> (tensor<2x19x17xf32>) {
  %p = graph.constant dense<[3, 8, 8, 1]> : tensor<4xi64>
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %z = graph.constant dense<0.5> : tensor<f32>
  %y = graph.pad %x, %p, %z, %a {mode = "wrap"} : (tensor<2x8x8xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<2x19x17xf32>
  kernel.return %y : tensor<2x19x17xf32>
}
kernel.func @pad_wrap_cut(%x: tensor<2x8x8xf32>) -> (tensor<2x10x9xf32>) {
  %p = graph.constant dense<[3, -2, -1, 3]> : tensor<4xi64>
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %z = graph.constant dense<0.5> : tensor<f32>
  %y = graph.pad %x, %p, %z, %a {mode = "wrap"} : (tensor<2x8x8xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<2x10x9xf32>
  kernel.return %y : tensor<2x10x9xf32>
}
kernel.func @slices(%x: tensor<9x20xf32>) -> (tensor<4x9xf32>) {
  %s = graph.constant dense<[7, 1]> : tensor<2xi64>
  %e = graph.constant dense<[0, 19]> : tensor<2xi64>
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %t = graph.constant dense<[-2, 2]> : tensor<2xi64>
  %y = graph.slice %x, %s, %e, %a, %t : (tensor<9x20xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x9xf32>
  kernel.return %y : tensor<4x9xf32>
}
kernel.func @split(%x: tensor<5x24xf32>) -> (tensor<5x8xf32>, tensor<5x16xf32>) {
  %s = graph.constant dense<[8, 16]> : tensor<2xi64>
  %y:2 = graph.split %x, %s {axis = 1 : i64} : (tensor<5x24xf32>, tensor<2xi64>) -> (tensor<5x8xf32>, tensor<5x16xf32>)
  kernel.return %y#0, %y#1 : tensor<5x8xf32>, tensor<5x16xf32>
}
kernel.func @tile(%x: tensor<3x8xf32>) -> (tensor<6x24xf32>) {
  %r = graph.constant dense<[2, 3]> : tensor<2xi64>
  %y = graph.tile %x, %r : (tensor<3x8xf32>, tensor<2xi64>) -> tensor<6x24xf32>
  kernel.return %y : tensor<6x24xf32>
}
kernel.func @depth_to_space_DCR(%x: tensor<2x8x3x5xf32>) -> (tensor<2x2x6x10xf32>) {
  %y = graph.depth_to_space %x {blocksize = 2 : i64, mode = "DCR"} : (tensor<2x8x3x5xf32>) -> tensor<2x2x6x10xf32>
  kernel.return %y : tensor<2x2x6x10xf32>
}
kernel.func @depth_to_space_CRD(%x: tensor<2x8x3x5xf32>) -> (tensor<2x2x6x10xf32>) {
  %y = graph.depth_to_space %x {blocksize = 2 : i64, mode = "CRD"} : (tensor<2x8x3x5xf32>) -> tensor<2x2x6x10xf32>
  kernel.return %y : tensor<2x2x6x10xf32>
}
kernel.func @space_to_depth(%x: tensor<2x2x6x10xf32>) -> (tensor<2x8x3x5xf32>) {
  %y = graph.space_to_depth %x {blocksize = 2 : i64} : (tensor<2x2x6x10xf32>) -> tensor<2x8x3x5xf32>
  kernel.return %y : tensor<2x8x3x5xf32>
}
kernel.func @expand(%x: tensor<3x1xf32>) -> (tensor<2x3x9xf32>) {
  %s = graph.constant dense<[2, 3, 9]> : tensor<3xi64>
  %y = graph.expand %x, %s : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<2x3x9xf32>
  kernel.return %y : tensor<2x3x9xf32>
}
kernel.func @batch_norm(%x: tensor<2x3x5x7xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>) -> (tensor<2x3x5x7xf32>) {
  %v = graph.constant dense<0.7> : tensor<3xf32>
  %y = graph.batch_norm %x, %s, %b, %m, %v : (tensor<2x3x5x7xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x5x7xf32>
  kernel.return %y : tensor<2x3x5x7xf32>
}
kernel.func @two_results(%x: tensor<4x40xf32>) -> (tensor<4x40xf32>, tensor<4x1xf32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  %e = graph.exp %x : tensor<4x40xf32>
  %s = graph.reduce_sum %e, %a : (tensor<4x40xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  kernel.return %e, %s : tensor<4x40xf32>, tensor<4x1xf32>
}
kernel.func @scalar(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>) {
  %z = graph.mul %x, %y : tensor<f32>
  kernel.return %z : tensor<f32>
}
kernel.func @blocks(%x: tensor<5000xf32>, %y: tensor<5000xf32>) -> (tensor<5000xf32>) {
  %z = graph.add %x, %y : tensor<5000xf32>
  kernel.return %z : tensor<5000xf32>
}
kernel.func @max_pool(%x: tensor<1x3x14x17xf32>) -> (tensor<1x3x7x9xf32>) {
  %y = graph.max_pool %x {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x14x17xf32>) -> tensor<1x3x7x9xf32>
  kernel.return %y : tensor<1x3x7x9xf32>
}
kernel.func @max_pool_special(%x: tensor<1x3x14x17xf32>) -> (tensor<1x3x13x16xf32>) {
  %y = graph.max_pool %x {kernel_shape = array<i64: 2, 2>} : (tensor<1x3x14x17xf32>) -> tensor<1x3x13x16xf32>
  kernel.return %y : tensor<1x3x13x16xf32>
}
kernel.func @max_pool_gradient_special(%x: tensor<2x3x14x17xf32>, %g: tensor<2x3x7x9xf32>) -> (tensor<2x3x14x17xf32>) {
  %dx = graph.max_pool_gradient %x, %g {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x3x14x17xf32>, tensor<2x3x7x9xf32>) -> tensor<2x3x14x17xf32>
  kernel.return %dx : tensor<2x3x14x17xf32>
}
kernel.func @max_pool_gradient_dilated_special(%x: tensor<1x2x9x11xf64>, %g: tensor<1x2x7x9xf64>) -> (tensor<1x2x9x11xf64>) {
  %dx = graph.max_pool_gradient %x, %g {kernel_shape = array<i64: 2, 2>, dilations = array<i64: 2, 2>} : (tensor<1x2x9x11xf64>, tensor<1x2x7x9xf64>) -> tensor<1x2x9x11xf64>
  kernel.return %dx : tensor<1x2x9x11xf64>
}
kernel.func @max_pool_gradient_of_blocks_f16(%x: tensor<1x2x6x6x8xf16>, %g: tensor<1x2x3x3x8xf16>) -> (tensor<1x2x6x6x8xf16>) {
  %dx = graph.max_pool_gradient %x, %g {kernel_shape = array<i64: 2, 2, 1>, strides = array<i64: 2, 2, 1>} : (tensor<1x2x6x6x8xf16>, tensor<1x2x3x3x8xf16>) -> tensor<1x2x6x6x8xf16>
  kernel.return %dx : tensor<1x2x6x6x8xf16>
}
kernel.func @avg_pool(%x: tensor<1x3x14x17xf32>) -> (tensor<1x3x7x9xf32>) {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x14x17xf32>) -> tensor<1x3x7x9xf32>
  kernel.return %y : tensor<1x3x7x9xf32>
}
kernel.func @avg_pool_pad(%x: tensor<1x3x14x17xf32>) -> (tensor<1x3x7x9xf32>) {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, count_include_pad = true} : (tensor<1x3x14x17xf32>) -> tensor<1x3x7x9xf32>
  kernel.return %y : tensor<1x3x7x9xf32>
}

// The largest of a whole image is a reduction; windows of many taps are taken
// apart before there are kernels.

kernel.func @max_pool_of_all_special(%x: tensor<2x5x7x7xf32>) -> (tensor<2x5x1x1xf32>) {
  %y = graph.max_pool %x {kernel_shape = array<i64: 7, 7>} : (tensor<2x5x7x7xf32>) -> tensor<2x5x1x1xf32>
  kernel.return %y : tensor<2x5x1x1xf32>
}

// Windows along channels, and over whole images.

kernel.func @lrn(%x: tensor<2x7x5x9xf32>) -> (tensor<2x7x5x9xf32>) {
  %y = graph.lrn %x {size = 5 : i64, alpha = 0.5 : f32, bias = 2.0 : f32} : (tensor<2x7x5x9xf32>) -> tensor<2x7x5x9xf32>
  kernel.return %y : tensor<2x7x5x9xf32>
}
kernel.func @lrn_large(%x: tensor<1x96x13x13xf32>) -> (tensor<1x96x13x13xf32>) {
  %y = graph.lrn %x {size = 5 : i64} : (tensor<1x96x13x13xf32>) -> tensor<1x96x13x13xf32>
  kernel.return %y : tensor<1x96x13x13xf32>
}
kernel.func @lrn_even(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>) {
  %y = graph.lrn %x {size = 4 : i64, alpha = 0.5 : f32, beta = 0.6 : f32} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  kernel.return %y : tensor<3x4xf32>
}
kernel.func @lrn_relu(%x: tensor<1x6x4x4xf32>) -> (tensor<1x6x4x4xf32>) {
  %a = graph.relu %x : tensor<1x6x4x4xf32>
  %y = graph.lrn %a {size = 3 : i64, alpha = 0.9 : f32} : (tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32>
  kernel.return %y : tensor<1x6x4x4xf32>
}
kernel.func @avg_pool_of_all(%x: tensor<2x5x7x7xf32>) -> (tensor<2x5x1x1xf32>) {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 7, 7>} : (tensor<2x5x7x7xf32>) -> tensor<2x5x1x1xf32>
  kernel.return %y : tensor<2x5x1x1xf32>
}

// Resizing: repeated elements, weights that repeat, and those that do not.

kernel.func @resize_repeat_special(%x: tensor<2x3x5x7xf32>) -> (tensor<2x3x10x21xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[10, 21]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "nearest"} : (tensor<2x3x5x7xf32>, none, none, tensor<2xi64>) -> tensor<2x3x10x21xf32>
  kernel.return %y : tensor<2x3x10x21xf32>
}
kernel.func @resize_repeat_blocks(%x: tensor<1x2x5x7x16xf32>) -> (tensor<1x2x10x14x16xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[10, 14]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"} : (tensor<1x2x5x7x16xf32>, none, none, tensor<2xi64>) -> tensor<1x2x10x14x16xf32>
  kernel.return %y : tensor<1x2x10x14x16xf32>
}
kernel.func @resize_integers(%x: tensor<1x2x5x7xi32>) -> (tensor<1x2x10x7xi32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[10]> : tensor<1xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2>, mode = "nearest"} : (tensor<1x2x5x7xi32>, none, none, tensor<1xi64>) -> tensor<1x2x10x7xi32>
  kernel.return %y : tensor<1x2x10x7xi32>
}
kernel.func @resize_twice(%x: tensor<2x3x5x7xf32>) -> (tensor<2x3x10x14xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[10, 14]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "linear"} : (tensor<2x3x5x7xf32>, none, none, tensor<2xi64>) -> tensor<2x3x10x14xf32>
  kernel.return %y : tensor<2x3x10x14xf32>
}
kernel.func @resize_twice_special(%x: tensor<1x3x9x1xf32>) -> (tensor<1x3x18x2xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[18, 2]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "linear"} : (tensor<1x3x9x1xf32>, none, none, tensor<2xi64>) -> tensor<1x3x18x2xf32>
  kernel.return %y : tensor<1x3x18x2xf32>
}
kernel.func @resize_twice_blocks(%x: tensor<1x2x5x7x16xf32>) -> (tensor<1x2x10x14x16xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[10, 14]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "linear", coordinate_transformation_mode = "asymmetric"} : (tensor<1x2x5x7x16xf32>, none, none, tensor<2xi64>) -> tensor<1x2x10x14x16xf32>
  kernel.return %y : tensor<1x2x10x14x16xf32>
}
kernel.func @resize_four_times(%x: tensor<2x3x5x9xf32>) -> (tensor<2x3x5x36xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[36]> : tensor<1xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 3>, mode = "linear"} : (tensor<2x3x5x9xf32>, none, none, tensor<1xi64>) -> tensor<2x3x5x36xf32>
  kernel.return %y : tensor<2x3x5x36xf32>
}
kernel.func @resize_half(%x: tensor<1x2x6x10xf16>) -> (tensor<1x2x12x20xf16>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[12, 20]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "linear"} : (tensor<1x2x6x10xf16>, none, none, tensor<2xi64>) -> tensor<1x2x12x20xf16>
  kernel.return %y : tensor<1x2x12x20xf16>
}
kernel.func @resize_aligned_special(%x: tensor<2x3x5x7xf32>) -> (tensor<2x3x9x14xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[9, 14]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "linear", coordinate_transformation_mode = "align_corners"} : (tensor<2x3x5x7xf32>, none, none, tensor<2xi64>) -> tensor<2x3x9x14xf32>
  kernel.return %y : tensor<2x3x9x14xf32>
}
kernel.func @resize_aligned_one(%x: tensor<2x3x5x7xf32>) -> (tensor<2x3x1x13xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[1, 13]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "linear", coordinate_transformation_mode = "align_corners"} : (tensor<2x3x5x7xf32>, none, none, tensor<2xi64>) -> tensor<2x3x1x13xf32>
  kernel.return %y : tensor<2x3x1x13xf32>
}
kernel.func @resize_odd(%x: tensor<1x2x5x7x8xf32>) -> (tensor<1x2x12x11x8xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[12, 11]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "linear"} : (tensor<1x2x5x7x8xf32>, none, none, tensor<2xi64>) -> tensor<1x2x12x11x8xf32>
  kernel.return %y : tensor<1x2x12x11x8xf32>
}
kernel.func @resize_smaller(%x: tensor<2x3x15x17xf32>) -> (tensor<2x3x6x5xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[6, 5]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "linear", coordinate_transformation_mode = "pytorch_half_pixel"} : (tensor<2x3x15x17xf32>, none, none, tensor<2xi64>) -> tensor<2x3x6x5xf32>
  kernel.return %y : tensor<2x3x6x5xf32>
}
kernel.func @resize_to_one(%x: tensor<2x3x15x17xf32>) -> (tensor<2x3x1x1xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[1, 1]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "linear", coordinate_transformation_mode = "pytorch_half_pixel"} : (tensor<2x3x15x17xf32>, none, none, tensor<2xi64>) -> tensor<2x3x1x1xf32>
  kernel.return %y : tensor<2x3x1x1xf32>
}
kernel.func @resize_symmetric(%x: tensor<2x3x15x17xf32>) -> (tensor<2x3x20x25xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[20, 25]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "linear", coordinate_transformation_mode = "half_pixel_symmetric"} : (tensor<2x3x15x17xf32>, none, none, tensor<2xi64>) -> tensor<2x3x20x25xf32>
  kernel.return %y : tensor<2x3x20x25xf32>
}
kernel.func @resize_volume(%x: tensor<2x3x4x5xf32>) -> (tensor<2x6x5x9xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[6, 5, 9]> : tensor<3xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 1, 2, 3>, mode = "linear"} : (tensor<2x3x4x5xf32>, none, none, tensor<3xi64>) -> tensor<2x6x5x9xf32>
  kernel.return %y : tensor<2x6x5x9xf32>
}
kernel.func @resize_bytes(%x: tensor<2x3x15x17xui8>) -> (tensor<2x3x22x9xui8>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[22, 9]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "nearest", nearest_mode = "round_prefer_ceil"} : (tensor<2x3x15x17xui8>, none, none, tensor<2xi64>) -> tensor<2x3x22x9xui8>
  kernel.return %y : tensor<2x3x22x9xui8>
}
kernel.func @resize_nearest_floor(%x: tensor<1x2x6x9xf32>) -> (tensor<1x2x9x6xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[9, 6]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "nearest", nearest_mode = "floor"} : (tensor<1x2x6x9xf32>, none, none, tensor<2xi64>) -> tensor<1x2x9x6xf32>
  kernel.return %y : tensor<1x2x9x6xf32>
}
kernel.func @resize_nearest_ceil(%x: tensor<1x2x6x9xf32>) -> (tensor<1x2x9x6xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[9, 6]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "nearest", nearest_mode = "ceil"} : (tensor<1x2x6x9xf32>, none, none, tensor<2xi64>) -> tensor<1x2x9x6xf32>
  kernel.return %y : tensor<1x2x9x6xf32>
}
kernel.func @resize_nearest_round_prefer_floor(%x: tensor<1x2x6x9xf32>) -> (tensor<1x2x9x6xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[9, 6]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "nearest", nearest_mode = "round_prefer_floor"} : (tensor<1x2x6x9xf32>, none, none, tensor<2xi64>) -> tensor<1x2x9x6xf32>
  kernel.return %y : tensor<1x2x9x6xf32>
}
kernel.func @resize_nearest_round_prefer_ceil(%x: tensor<1x2x6x9xf32>) -> (tensor<1x2x9x6xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[9, 6]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "nearest", nearest_mode = "round_prefer_ceil"} : (tensor<1x2x6x9xf32>, none, none, tensor<2xi64>) -> tensor<1x2x9x6xf32>
  kernel.return %y : tensor<1x2x9x6xf32>
}
kernel.func @resize_nearest_aligned(%x: tensor<1x2x6x9xf32>) -> (tensor<1x2x11x5xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[11, 5]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "nearest", coordinate_transformation_mode = "align_corners"} : (tensor<1x2x6x9xf32>, none, none, tensor<2xi64>) -> tensor<1x2x11x5xf32>
  kernel.return %y : tensor<1x2x11x5xf32>
}
kernel.func @resize_cubic(%x: tensor<2x3x5x7xf32>) -> (tensor<2x3x10x12xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[10, 12]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "cubic"} : (tensor<2x3x5x7xf32>, none, none, tensor<2xi64>) -> tensor<2x3x10x12xf32>
  kernel.return %y : tensor<2x3x10x12xf32>
}
kernel.func @resize_cubic_special(%x: tensor<1x2x9x11xf32>) -> (tensor<1x2x17x6xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[17, 6]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {axes = array<i64: 2, 3>, mode = "cubic", coordinate_transformation_mode = "align_corners", cubic_coeff_a = -0.5 : f32} : (tensor<1x2x9x11xf32>, none, none, tensor<2xi64>) -> tensor<1x2x17x6xf32>
  kernel.return %y : tensor<1x2x17x6xf32>
}
kernel.func @resize_sum(%x: tensor<1x3x4x5xf32>, %z: tensor<1x3x8x10xf32>) -> (tensor<1x3x8x10xf32>) {
  %none = graph.none : none
  %sizes = graph.constant dense<[8, 10]> : tensor<2xi64>
  %a = graph.relu %x : tensor<1x3x4x5xf32>
  %y = graph.resize %a, %none, %none, %sizes {axes = array<i64: 2, 3>} : (tensor<1x3x4x5xf32>, none, none, tensor<2xi64>) -> tensor<1x3x8x10xf32>
  %s = graph.add %y, %z : tensor<1x3x8x10xf32>
  kernel.return %s : tensor<1x3x8x10xf32>
}

// A border in the last block of the grid.

kernel.func @concat_uneven(%x: tensor<1x256x14x14xf32>, %z: tensor<1x32x14x14xf32>) -> (tensor<1x288x14x14xf32>) {
  %y = graph.concat %x, %z {axis = 1 : i64} : (tensor<1x256x14x14xf32>, tensor<1x32x14x14xf32>) -> tensor<1x288x14x14xf32>
  kernel.return %y : tensor<1x288x14x14xf32>
}
kernel.func @concat_of_five(%a: tensor<1x512x7x7xf32>, %b: tensor<1x32x7x7xf32>, %c: tensor<1x32x7x7xf32>, %d: tensor<1x32x7x7xf32>, %e: tensor<1x32x7x7xf32>) -> (tensor<1x640x7x7xf32>) {
  %y = graph.concat %a, %b, %c, %d, %e {axis = 1 : i64} : (tensor<1x512x7x7xf32>, tensor<1x32x7x7xf32>, tensor<1x32x7x7xf32>, tensor<1x32x7x7xf32>, tensor<1x32x7x7xf32>) -> tensor<1x640x7x7xf32>
  kernel.return %y : tensor<1x640x7x7xf32>
}

// Places given by data. Arguments that are indices hold valid ones.

kernel.func @gather(%x: tensor<50x37xf32>, %i: tensor<3x5xi64>) -> (tensor<3x5x37xf32>) {
  %y = graph.gather %x, %i {in_bounds = true} : (tensor<50x37xf32>, tensor<3x5xi64>) -> tensor<3x5x37xf32>
  kernel.return %y : tensor<3x5x37xf32>
}
kernel.func @gather_large(%x: tensor<90x768xf32>, %i: tensor<1x32xi32>) -> (tensor<1x32x768xf32>) {
  %y = graph.gather %x, %i {in_bounds = true} : (tensor<90x768xf32>, tensor<1x32xi32>) -> tensor<1x32x768xf32>
  kernel.return %y : tensor<1x32x768xf32>
}
kernel.func @gather_last(%x: tensor<4x6x9xi8>, %i: tensor<11xi32>) -> (tensor<4x6x11xi8>) {
  %y = graph.gather %x, %i {axis = -1 : i64, in_bounds = true} : (tensor<4x6x9xi8>, tensor<11xi32>) -> tensor<4x6x11xi8>
  kernel.return %y : tensor<4x6x11xi8>
}
kernel.func @gather_scalar(%x: tensor<4x6x9xf16>, %i: tensor<i64>) -> (tensor<4x9xf16>) {
  %y = graph.gather %x, %i {axis = 1 : i64, in_bounds = true} : (tensor<4x6x9xf16>, tensor<i64>) -> tensor<4x9xf16>
  kernel.return %y : tensor<4x9xf16>
}
kernel.func @gather_transposed(%x: tensor<20x17xui8>, %i: tensor<24xi64>) -> (tensor<17x24xui8>) {
  %a = graph.gather %x, %i {in_bounds = true} : (tensor<20x17xui8>, tensor<24xi64>) -> tensor<24x17xui8>
  %y = graph.transpose %a {perm = array<i64: 1, 0>} : (tensor<24x17xui8>) -> tensor<17x24xui8>
  kernel.return %y : tensor<17x24xui8>
}
kernel.func @embedding(%word: tensor<70x64xf32>, %i: tensor<1x9xi64>, %type: tensor<2x64xf32>, %j: tensor<1x9xi64>, %s: tensor<64xf32>, %b: tensor<64xf32>) -> (tensor<1x9x64xf32>) {
  %a = graph.gather %word, %i {in_bounds = true} : (tensor<70x64xf32>, tensor<1x9xi64>) -> tensor<1x9x64xf32>
  %c = graph.gather %type, %j {in_bounds = true} : (tensor<2x64xf32>, tensor<1x9xi64>) -> tensor<1x9x64xf32>
  %d = graph.add %a, %c : tensor<1x9x64xf32>
  %y = graph.layer_norm %d, %s, %b : (tensor<1x9x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x9x64xf32>
  kernel.return %y : tensor<1x9x64xf32>
}
kernel.func @gather_constant(%x: tensor<5x33xf32>) -> (tensor<3x33xf32>) {
  %i = graph.constant dense<2> : tensor<3xi64>
  %y = graph.gather %x, %i {in_bounds = true} : (tensor<5x33xf32>, tensor<3xi64>) -> tensor<3x33xf32>
  kernel.return %y : tensor<3x33xf32>
}
kernel.func @gather_elements(%x: tensor<8x16xf32>, %i: tensor<3x16xi64>) -> (tensor<3x16xf32>) {
  %y = graph.gather_elements %x, %i {in_bounds = true} : (tensor<8x16xf32>, tensor<3x16xi64>) -> tensor<3x16xf32>
  kernel.return %y : tensor<3x16xf32>
}
kernel.func @gather_elements_last(%x: tensor<8x16xi32>, %i: tensor<8x19xi32>) -> (tensor<8x19xi32>) {
  %y = graph.gather_elements %x, %i {axis = 1 : i64, in_bounds = true} : (tensor<8x16xi32>, tensor<8x19xi32>) -> tensor<8x19xi32>
  kernel.return %y : tensor<8x19xi32>
}
kernel.func @gather_nd(%x: tensor<6x7x18xf32>, %i: tensor<5x2xi64>) -> (tensor<5x18xf32>) {
  %y = graph.gather_nd %x, %i {in_bounds = true} : (tensor<6x7x18xf32>, tensor<5x2xi64>) -> tensor<5x18xf32>
  kernel.return %y : tensor<5x18xf32>
}
kernel.func @gather_nd_batched(%x: tensor<3x7x18xf32>, %i: tensor<3x4x1xi64>) -> (tensor<3x4x18xf32>) {
  %y = graph.gather_nd %x, %i {batch_dims = 1 : i64, in_bounds = true} : (tensor<3x7x18xf32>, tensor<3x4x1xi64>) -> tensor<3x4x18xf32>
  kernel.return %y : tensor<3x4x18xf32>
}

// Elements that depend on their positions.

kernel.func @arg_max_special(%x: tensor<6x37xf32>) -> (tensor<6x1xi64>) {
  %y = graph.arg_max %x {axis = 1 : i64} : (tensor<6x37xf32>) -> tensor<6x1xi64>
  kernel.return %y : tensor<6x1xi64>
}
kernel.func @arg_max_rows(%x: tensor<12x40xf32>) -> (tensor<40xi64>) {
  %y = graph.arg_max %x {axis = 0 : i64, keepdims = false} : (tensor<12x40xf32>) -> tensor<40xi64>
  kernel.return %y : tensor<40xi64>
}
kernel.func @arg_max_last(%x: tensor<2x5x70xi8>) -> (tensor<2x5xi64>) {
  %y = graph.arg_max %x {axis = -1 : i64, keepdims = false, select_last_index = true} : (tensor<2x5x70xi8>) -> tensor<2x5xi64>
  kernel.return %y : tensor<2x5xi64>
}
kernel.func @arg_min_special(%x: tensor<6x37xf16>) -> (tensor<6xi64>) {
  %y = graph.arg_min %x {axis = 1 : i64, keepdims = false, select_last_index = true} : (tensor<6x37xf16>) -> tensor<6xi64>
  kernel.return %y : tensor<6xi64>
}
kernel.func @arg_min(%x: tensor<9x8x7xui32>) -> (tensor<9x1x7xi64>) {
  %y = graph.arg_min %x {axis = 1 : i64} : (tensor<9x8x7xui32>) -> tensor<9x1x7xi64>
  kernel.return %y : tensor<9x1x7xi64>
}
kernel.func @trilu(%x: tensor<3x9x21xf32>) -> (tensor<3x9x21xf32>) {
  %k = graph.constant dense<2> : tensor<i64>
  %y = graph.trilu %x, %k : (tensor<3x9x21xf32>, tensor<i64>) -> tensor<3x9x21xf32>
  kernel.return %y : tensor<3x9x21xf32>
}
kernel.func @trilu_lower(%x: tensor<90x90xi16>) -> (tensor<90x90xi16>) {
  %k = graph.constant dense<-1> : tensor<i64>
  %y = graph.trilu %x, %k {upper = false} : (tensor<90x90xi16>, tensor<i64>) -> tensor<90x90xi16>
  kernel.return %y : tensor<90x90xi16>
}
kernel.func @trilu_past_the_end(%x: tensor<5x9xf32>) -> (tensor<5x9xf32>) {
  %k = graph.constant dense<9223372036854775807> : tensor<i64>
  %y = graph.trilu %x, %k : (tensor<5x9xf32>, tensor<i64>) -> tensor<5x9xf32>
  kernel.return %y : tensor<5x9xf32>
}
kernel.func @trilu_before_the_start(%x: tensor<5x9xf32>) -> (tensor<5x9xf32>) {
  %k = graph.constant dense<-9223372036854775808> : tensor<i64>
  %y = graph.trilu %x, %k : (tensor<5x9xf32>, tensor<i64>) -> tensor<5x9xf32>
  kernel.return %y : tensor<5x9xf32>
}
kernel.func @range() -> (tensor<37xi32>) {
  %start = graph.constant dense<5> : tensor<i32>
  %limit = graph.constant dense<-106> : tensor<i32>
  %delta = graph.constant dense<-3> : tensor<i32>
  %y = graph.range %start, %limit, %delta : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<37xi32>
  kernel.return %y : tensor<37xi32>
}
kernel.func @eye_like(%x: tensor<9x21xf32>) -> (tensor<9x21xi16>) {
  %y = graph.eye_like %x {dtype = i16, k = -2 : i64} : (tensor<9x21xf32>) -> tensor<9x21xi16>
  kernel.return %y : tensor<9x21xi16>
}
kernel.func @eye_like_before_the_start(%x: tensor<9x21xf32>) -> (tensor<9x21xf32>) {
  %y = graph.eye_like %x {dtype = f32, k = -9223372036854775808 : i64} : (tensor<9x21xf32>) -> tensor<9x21xf32>
  kernel.return %y : tensor<9x21xf32>
}
// Over no dimension, an element stays as it is.
kernel.func @reduce_nothing(%x: tensor<7x9xf32>) -> (tensor<7x9xf32>) {
  %a = graph.constant dense<> : tensor<0xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<7x9xf32>, tensor<0xi64>) -> tensor<7x9xf32>
  kernel.return %y : tensor<7x9xf32>
}
kernel.func @reduce_nothing_in_between(%x: tensor<7x9xf32>) -> (tensor<7xf32>) {
  %a = graph.constant dense<> : tensor<0xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.reduce_sum %x, %a : (tensor<7x9xf32>, tensor<0xi64>) -> tensor<7x9xf32>
  %1 = graph.mul %0, %x : tensor<7x9xf32>
  %y = graph.reduce_sum %1, %i1 {keepdims = false} : (tensor<7x9xf32>, tensor<1xi64>) -> tensor<7xf32>
  kernel.return %y : tensor<7xf32>
}
kernel.func @reduce_scalar(%x: tensor<f32>) -> (tensor<f32>) {
  %0 = graph.neg %x : tensor<f32>
  %y = graph.reduce_max %0 : (tensor<f32>) -> tensor<f32>
  kernel.return %y : tensor<f32>
}
// Results of which one may take the place of an input, of more columns than a
// block of a GPU has threads.
kernel.func @tanh_and_its_sums(%x: tensor<8x300xf32>, %b: tensor<8x1xf32>) -> (tensor<8x300xf32>, tensor<1x300xf32>) {
  %a = graph.constant dense<0> : tensor<1xi64>
  %0 = graph.add %x, %b : (tensor<8x300xf32>, tensor<8x1xf32>) -> tensor<8x300xf32>
  %1 = graph.tanh %0 : tensor<8x300xf32>
  %2 = graph.reduce_sum %1, %a : (tensor<8x300xf32>, tensor<1xi64>) -> tensor<1x300xf32>
  kernel.return %1, %2 : tensor<8x300xf32>, tensor<1x300xf32>
}
