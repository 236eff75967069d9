// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Pooling that break a rule of their description, which is the name of the
// function.

func.func @max_pool_with_indices_c1(%x: tensor<8x4x6x6xf32>) {
  // expected-error @+1 {{'graph.max_pool_with_indices' op expected result #1 of type 'tensor<8x4x5x5xi64>', got 'tensor<8x4x6x6xi64>'}}
  %out:2 = graph.max_pool_with_indices %x {kernel_shape = array<i64: 2, 2>} : (tensor<8x4x6x6xf32>) -> (tensor<8x4x5x5xf32>, tensor<8x4x6x6xi64>)
  return
}

// -----

func.func @max_pool_with_indices_c2(%x: tensor<8x4x6x6xf32>) {
  // expected-error @+1 {{'graph.max_pool_with_indices' op operand 0: expected rank 3, got 4}}
  %out:2 = graph.max_pool_with_indices %x {kernel_shape = array<i64: 2>} : (tensor<8x4x6x6xf32>) -> (tensor<8x4x5x5xf32>, tensor<8x4x5x5xi64>)
  return
}

// -----

func.func @max_pool_gradient_c1(%x: tensor<1x1x4xf32>, %g: tensor<1x1x2xf64>) {
  // expected-error @+1 {{'graph.max_pool_gradient' op operand 1: expected f32 as operand 0, got f64}}
  %out = graph.max_pool_gradient %x, %g {kernel_shape = array<i64: 3>} : (tensor<1x1x4xf32>, tensor<1x1x2xf64>) -> tensor<1x1x4xf32>
  return
}

// -----

func.func @max_pool_gradient_c2(%x: tensor<1x1x4xf32>, %g: tensor<1x1x3xf32>) {
  // expected-error @+1 {{'graph.max_pool_gradient' op operand 1: expected 1x1x2xf32, what the pooling of operand 0 gives, got 1x1x3xf32}}
  %out = graph.max_pool_gradient %x, %g {kernel_shape = array<i64: 3>} : (tensor<1x1x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  return
}

// -----

func.func @max_unpool_c1(%x: tensor<1x1x2x2xf32>, %i: tensor<1x1x3x2xi64>) {
  // expected-error @+1 {{'graph.max_unpool' op operand 1: expected the shape of 1x1x2x2xf32, got 1x1x3x2xi64}}
  %out = graph.max_unpool %x, %i {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x3x2xi64>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @max_unpool_c2(%x: tensor<1x1x2x2xf32>, %i: tensor<1x1x2x2xi64>) {
  %o = graph.constant dense<4> : tensor<3xi64>
  // expected-error @+1 {{'graph.max_unpool' op operand 2: expected 4 dimensions, got 3}}
  %out = graph.max_unpool %x, %i, %o {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<3xi64>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @max_roi_pool_c1(%x: tensor<1x3x8x8xf32>, %r: tensor<5x5xf64>) {
  // expected-error @+1 {{'graph.max_roi_pool' op operand 1: expected f32 as operand 0, got f64}}
  %out = graph.max_roi_pool %x, %r {pooled_shape = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<5x5xf64>) -> tensor<5x3x2x2xf32>
  return
}

// -----

func.func @max_roi_pool_c2(%x: tensor<1x3x8x8xf32>, %r: tensor<5x4xf32>) {
  // expected-error @+1 {{'graph.max_roi_pool' op operand 1: expected regions of 5 values, got 5x4xf32}}
  %out = graph.max_roi_pool %x, %r {pooled_shape = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<5x4xf32>) -> tensor<5x3x2x2xf32>
  return
}

// -----

func.func @roi_align_c1(%x: tensor<1x3x8x8xf32>, %r: tensor<5x4xf64>, %b: tensor<5xi64>) {
  // expected-error @+1 {{'graph.roi_align' op operand 1: expected f32 as operand 0, got f64}}
  %out = graph.roi_align %x, %r, %b {output_height = 2 : i64, output_width = 2 : i64} : (tensor<1x3x8x8xf32>, tensor<5x4xf64>, tensor<5xi64>) -> tensor<5x3x2x2xf32>
  return
}

// -----

func.func @roi_align_c2(%x: tensor<1x3x8x8xf32>, %r: tensor<5x4xf32>, %b: tensor<4xi64>) {
  // expected-error @+1 {{'graph.roi_align' op operand 2: expected a batch for each of 5 regions, got 4xi64}}
  %out = graph.roi_align %x, %r, %b {output_height = 2 : i64, output_width = 2 : i64} : (tensor<1x3x8x8xf32>, tensor<5x4xf32>, tensor<4xi64>) -> tensor<5x3x2x2xf32>
  return
}

// -----

func.func @max_pool_c1(%x: tensor<8x4x6x6xf32>) {
  // expected-error @+1 {{'graph.max_pool' op expected result #0 of type 'tensor<8x4x5x5xf32>', got 'tensor<8x4x5x5xf64>'}}
  %out = graph.max_pool %x {kernel_shape = array<i64: 2, 2>} : (tensor<8x4x6x6xf32>) -> tensor<8x4x5x5xf64>
  return
}
