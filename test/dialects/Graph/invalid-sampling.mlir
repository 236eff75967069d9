// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Resampling that break a rule of their description, which is the name of the
// function.

func.func @resize_c1(%x: tensor<1x1x2x2xf32>) {
  %none = graph.none : none
  %s = graph.constant dense<[1, 1, 4, 4]> : tensor<4xi64>
  // expected-error @+1 {{'graph.resize' op expected result #0 of type 'tensor<1x1x4x4xf32>', got 'tensor<1x1x4x4xf64>'}}
  %out = graph.resize %x, %none, %none, %s : (tensor<1x1x2x2xf32>, none, none, tensor<4xi64>) -> tensor<1x1x4x4xf64>
  return
}

// -----

func.func @grid_sample_c1(%x: tensor<1x3x8x8xf32>, %g: tensor<1x4x4x2xf32>) {
  // expected-error @+1 {{'graph.grid_sample' op expected result #0 of type 'tensor<1x3x4x4xf32>', got 'tensor<1x3x4x4xf64>'}}
  %out = graph.grid_sample %x, %g : (tensor<1x3x8x8xf32>, tensor<1x4x4x2xf32>) -> tensor<1x3x4x4xf64>
  return
}

// -----

func.func @grid_sample_c2(%x: tensor<1x3x8x8xf32>, %g: tensor<1x4x4x3xf32>) {
  // expected-error @+1 {{'graph.grid_sample' op operand 1: expected a grid of 1x?x?x2xf32, got 1x4x4x3xf32}}
  %out = graph.grid_sample %x, %g : (tensor<1x3x8x8xf32>, tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  return
}

// -----

func.func @affine_grid_c1(%t: tensor<1x3x3xf32>) {
  %s = graph.constant dense<[1, 3, 8, 4]> : tensor<4xi64>
  // expected-error @+1 {{'graph.affine_grid' op operand 0: expected matrices of 1x2x3xf32, got 1x3x3xf32}}
  %out = graph.affine_grid %t, %s : (tensor<1x3x3xf32>, tensor<4xi64>) -> tensor<1x8x4x2xf32>
  return
}

// -----

func.func @affine_grid_c2(%t: tensor<1x2x3xf32>) {
  %s = graph.constant dense<[1, 3, 8]> : tensor<3xi64>
  // expected-error @+1 {{'graph.affine_grid' op operand 1: expected 4 or 5 values, got 3}}
  %out = graph.affine_grid %t, %s : (tensor<1x2x3xf32>, tensor<3xi64>) -> tensor<1x8x4x2xf32>
  return
}

// -----

func.func @col2im_c1(%x: tensor<1x5x5xf32>) {
  %i = graph.constant dense<5> : tensor<2xi64>
  %b = graph.constant dense<[1, 5]> : tensor<2xi64>
  // expected-error @+1 {{'graph.col2im' op expected result #0 of type 'tensor<1x1x5x5xf32>', got 'tensor<1x1x5x5xf64>'}}
  %out = graph.col2im %x, %i, %b : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x1x5x5xf64>
  return
}

// -----

func.func @col2im_c2(%x: tensor<1x5x5xf32>) {
  %i = graph.constant dense<5> : tensor<2xi64>
  %b = graph.constant dense<5> : tensor<1xi64>
  // expected-error @+1 {{'graph.col2im' op expected 1 to 14 extents and as many of a block, got 2 and 1}}
  %out = graph.col2im %x, %i, %b : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<1x1x5x5xf32>
  return
}

// -----

func.func @random_uniform_c1(%state: tensor<3xi64>, %shape: tensor<2xi64>) {
  // expected-error @+1 {{'graph.random_uniform' op operand 0: expected a vector of 2 values, got 3xi64}}
  %out = graph.random_uniform %state, %shape : (tensor<3xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @random_uniform_c2(%state: tensor<2xi64>) {
  %shape = graph.constant dense<[65536, 65537]> : tensor<2xi64>
  // expected-error @+1 {{'graph.random_uniform' op expected at most 2^32 random numbers, got 65536x65537xf32}}
  %out = graph.random_uniform %state, %shape : (tensor<2xi64>, tensor<2xi64>) -> tensor<65536x65537xf32>
  return
}

// -----

func.func @random_uniform_c3(%state: tensor<2xi64>, %shape: tensor<1xi64>) {
  // expected-error @+1 {{'graph.random_uniform' op expected a stream of 0 to 2^32 - 1, got -1}}
  %out = graph.random_uniform %state, %shape {stream = -1 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @random_gamma_c1(%state: tensor<3xi64>, %p: tensor<4xf32>) {
  // expected-error @+1 {{'graph.random_gamma' op operand 0: expected a vector of 2 values, got 3xi64}}
  %out = graph.random_gamma %state, %p : (tensor<3xi64>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @random_gamma_c2(%state: tensor<2xi64>, %p: tensor<65536x65537xf32>) {
  // expected-error @+1 {{'graph.random_gamma' op expected at most 2^32 random numbers, got 65536x65537xf32}}
  %out = graph.random_gamma %state, %p : (tensor<2xi64>, tensor<65536x65537xf32>) -> tensor<65536x65537xf32>
  return
}

// -----

func.func @random_gamma_c3(%state: tensor<2xi64>, %p: tensor<4xf32>) {
  // expected-error @+1 {{'graph.random_gamma' op expected a stream of 0 to 2^32 - 1, got -1}}
  %out = graph.random_gamma %state, %p {stream = -1 : i64} : (tensor<2xi64>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @random_poisson_c1(%state: tensor<3xi64>, %p: tensor<4xf32>) {
  // expected-error @+1 {{'graph.random_poisson' op operand 0: expected a vector of 2 values, got 3xi64}}
  %out = graph.random_poisson %state, %p : (tensor<3xi64>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @random_poisson_c2(%state: tensor<2xi64>, %p: tensor<65536x65537xf32>) {
  // expected-error @+1 {{'graph.random_poisson' op expected at most 2^32 random numbers, got 65536x65537xf32}}
  %out = graph.random_poisson %state, %p : (tensor<2xi64>, tensor<65536x65537xf32>) -> tensor<65536x65537xf32>
  return
}

// -----

func.func @random_poisson_c3(%state: tensor<2xi64>, %p: tensor<4xf32>) {
  // expected-error @+1 {{'graph.random_poisson' op expected a stream of 0 to 2^32 - 1, got -1}}
  %out = graph.random_poisson %state, %p {stream = -1 : i64} : (tensor<2xi64>, tensor<4xf32>) -> tensor<4xf32>
  return
}
