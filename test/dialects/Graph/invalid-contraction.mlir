// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Contractions that break a rule of their description, which is the name of the
// function.

func.func @conv_transpose_c1(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf64>) {
  // expected-error @+1 {{'graph.conv_transpose' op operand 1: expected f32 as operand 0, got f64}}
  %out = graph.conv_transpose %x, %w : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf64>) -> tensor<1x3x9x9xf32>
  return
}

// -----

func.func @conv_transpose_c3(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op expected input channels in 3 equal groups, got 4}}
  %out = graph.conv_transpose %x, %w {group = 3 : i64} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x9x9x9xf32>
  return
}

// -----

func.func @conv_transpose_c4(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op attribute strides: expected 2 values, got 1}}
  %out = graph.conv_transpose %x, %w {strides = array<i64: 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
  return
}

// -----

func.func @deform_conv_c1(%x: tensor<1x1x3x3xf32>, %w: tensor<1x1x2x2xf32>, %o: tensor<1x8x2x2xf64>) {
  %none = graph.none : none
  // expected-error @+1 {{'graph.deform_conv' op operand 2: expected f32 as operand 0, got f64}}
  %out = graph.deform_conv %x, %w, %o, %none, %none : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x8x2x2xf64>, none, none) -> tensor<1x1x2x2xf32>
  return
}

// -----

func.func @deform_conv_c2(%x: tensor<1x1x3x3xf32>, %w: tensor<1x1x2x2xf32>, %o: tensor<1x8x2x2xf32>) {
  %none = graph.none : none
  // expected-error @+1 {{'graph.deform_conv' op attribute pads: expected 4 values, got 2}}
  %out = graph.deform_conv %x, %w, %o, %none, %none {pads = array<i64: 1, 1>} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x8x2x2xf32>, none, none) -> tensor<1x1x2x2xf32>
  return
}

// -----

func.func @deform_conv_c3(%x: tensor<1x1x3x3xf32>, %w: tensor<1x1x2x2xf32>, %o: tensor<1x16x2x2xf32>) {
  %none = graph.none : none
  // expected-error @+1 {{'graph.deform_conv' op expected input channels in 2 equal groups, got 1}}
  %out = graph.deform_conv %x, %w, %o, %none, %none {offset_group = 2 : i64} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x16x2x2xf32>, none, none) -> tensor<1x1x2x2xf32>
  return
}

// -----

func.func @einsum_c1(%a: tensor<2x3xf32>, %b: tensor<3x4xf64>) {
  // expected-error @+1 {{'graph.einsum' op operand 1: expected f32 as operand 0, got f64}}
  %out = graph.einsum %a, %b {equation = "ij,jk->ik"} : (tensor<2x3xf32>, tensor<3x4xf64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @conv_weight_gradient_c1(%x: tensor<1x4x8xf32>, %g: tensor<1x2x8xf64>) {
  // expected-error @+1 {{'graph.conv_weight_gradient' op operand 1: expected f32 as operand 0, got f64}}
  %out = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3>} : (tensor<1x4x8xf32>, tensor<1x2x8xf64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @conv_weight_gradient_c2(%x: tensor<1x4x8xf32>, %g: tensor<2x2x8xf32>) {
  // expected-error @+1 {{'graph.conv_weight_gradient' op operand 1: expected a batch of 1, got 2}}
  %out = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3>} : (tensor<1x4x8xf32>, tensor<2x2x8xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @conv_weight_gradient_c2_kernel(%x: tensor<1x4x8xf32>, %g: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'graph.conv_weight_gradient' op attribute kernel_shape: expected values in [1, 2^31), got 0}}
  %out = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<1x2x8xf32>) -> tensor<2x4x0xf32>
  return
}

// -----

func.func @conv_weight_gradient_c3(%x: tensor<1x4x8xf32>, %g: tensor<1x3x8xf32>) {
  // expected-error @+1 {{'graph.conv_weight_gradient' op expected output channels in 2 equal groups, got 3}}
  %out = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3>, group = 2 : i64} : (tensor<1x4x8xf32>, tensor<1x3x8xf32>) -> tensor<3x2x3xf32>
  return
}

// -----

func.func @conv_weight_gradient_c4(%x: tensor<1x4x8xf32>, %g: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'graph.conv_weight_gradient' op attribute strides: expected 1 values, got 2}}
  %out = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3>, strides = array<i64: 1, 1>} : (tensor<1x4x8xf32>, tensor<1x2x8xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @integer_matmul_c1(%a: tensor<2x3xi16>, %b: tensor<3x5xi8>, %za: tensor<i16>, %zb: tensor<i8>) {
  // expected-error @+1 {{'graph.integer_matmul' op operand 0: expected i8 or u8, got i16}}
  %y = graph.integer_matmul %a, %b, %za, %zb : (tensor<2x3xi16>, tensor<3x5xi8>, tensor<i16>, tensor<i8>) -> tensor<2x5xi32>
  return
}

// -----

func.func @integer_matmul_c1_zero_point(%a: tensor<2x3xui8>, %b: tensor<3x5xi8>, %za: tensor<i8>, %zb: tensor<i8>) {
  // expected-error @+1 {{'graph.integer_matmul' op operand 2: expected u8 as operand 0, got i8}}
  %y = graph.integer_matmul %a, %b, %za, %zb : (tensor<2x3xui8>, tensor<3x5xi8>, tensor<i8>, tensor<i8>) -> tensor<2x5xi32>
  return
}

// -----

func.func @integer_matmul_c2(%a: tensor<2x3xui8>, %b: tensor<4x5xi8>, %za: tensor<ui8>, %zb: tensor<i8>) {
  // expected-error @+1 {{'graph.integer_matmul' op operand 1: expected 3 rows, got 4}}
  %y = graph.integer_matmul %a, %b, %za, %zb : (tensor<2x3xui8>, tensor<4x5xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x5xi32>
  return
}

// -----

func.func @integer_matmul_c3(%a: tensor<2x3xui8>, %b: tensor<3x5xi8>, %za: tensor<4x1x1xui8>, %zb: tensor<i8>) {
  // expected-error @+1 {{'graph.integer_matmul' op operand 2: expected a shape that broadcasts to that of 2x3xu8, got 4x1x1xu8}}
  %y = graph.integer_matmul %a, %b, %za, %zb : (tensor<2x3xui8>, tensor<3x5xi8>, tensor<4x1x1xui8>, tensor<i8>) -> tensor<2x5xi32>
  return
}

// -----

func.func @integer_conv_c1(%x: tensor<1x3x8x8xui8>, %w: tensor<4x3x3x3xf32>, %zx: tensor<ui8>, %zw: tensor<i8>) {
  // expected-error @+1 {{'graph.integer_conv' op operand #1 must be tensor of integers}}
  %y = "graph.integer_conv"(%x, %w, %zx, %zw) : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xf32>, tensor<ui8>, tensor<i8>) -> tensor<1x4x6x6xi32>
  return
}

// -----

func.func @integer_conv_c2(%x: tensor<1x3x8x8xui8>, %w: tensor<4x2x3x3xi8>, %zx: tensor<ui8>, %zw: tensor<i8>) {
  // expected-error @+1 {{'graph.integer_conv' op expected weights of 3 channels / 1 groups, got 2}}
  %y = graph.integer_conv %x, %w, %zx, %zw : (tensor<1x3x8x8xui8>, tensor<4x2x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x6x6xi32>
  return
}

// -----

func.func @integer_conv_c3(%x: tensor<1x3x8x8xui8>, %w: tensor<4x3x3x3xi8>, %zx: tensor<3xui8>, %zw: tensor<i8>) {
  // expected-error @+1 {{'graph.integer_conv' op operand 2: expected one element, got 3xu8}}
  %y = graph.integer_conv %x, %w, %zx, %zw : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<3xui8>, tensor<i8>) -> tensor<1x4x6x6xi32>
  return
}

// -----

func.func @integer_conv_c3_channels(%x: tensor<1x3x8x8xui8>, %w: tensor<4x3x3x3xi8>, %zx: tensor<ui8>, %zw: tensor<3xi8>) {
  // expected-error @+1 {{'graph.integer_conv' op operand 3: expected 4 elements, one for each output channel, got 3}}
  %y = graph.integer_conv %x, %w, %zx, %zw : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8>, tensor<3xi8>) -> tensor<1x4x6x6xi32>
  return
}

// -----

func.func @requantize_c1(%x: tensor<4xi32>, %m: tensor<f64>, %o: tensor<f32>, %z: tensor<ui8>) {
  // expected-error @+1 {{'graph.requantize' op operand 1: expected f32, got f64}}
  %y = graph.requantize %x, %m, %o, %z : (tensor<4xi32>, tensor<f64>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  return
}

// -----

func.func @requantize_c2(%x: tensor<4xi32>, %m: tensor<3xf32>, %o: tensor<f32>, %z: tensor<ui8>) {
  // expected-error @+1 {{'graph.requantize' op expected shapes that broadcast, got 4 and 3 in dimension 0}}
  %y = graph.requantize %x, %m, %o, %z : (tensor<4xi32>, tensor<3xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  return
}
