// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Movements that break a rule of their description, which is the name of the
// function.

func.func @shape_c1(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{'graph.shape' op expected result #0 of type 'tensor<2xi64>', got 'tensor<3xi64>'}}
  %out = graph.shape %x : (tensor<8x16xf32>) -> tensor<3xi64>
  return
}

// -----

func.func @size_c1(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{'graph.size' op expected result #0 of type 'tensor<i64>', got 'tensor<1xi64>'}}
  %out = graph.size %x : (tensor<8x16xf32>) -> tensor<1xi64>
  return
}

// -----

func.func @flatten_c1(%x: tensor<8x4x4xf32>) {
  // expected-error @+1 {{'graph.flatten' op expected result #0 of type 'tensor<8x16xf32>', got 'tensor<8x4x4xf32>'}}
  %out = graph.flatten %x : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  return
}

// -----

func.func @squeeze_c1(%x: tensor<8x1xf32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  // expected-error @+1 {{'graph.squeeze' op expected result #0 of type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %out = graph.squeeze %x, %a : (tensor<8x1xf32>, tensor<1xi64>) -> tensor<8xf64>
  return
}

// -----

func.func @unsqueeze_c1(%x: tensor<8xf32>) {
  %a = graph.constant dense<0> : tensor<1xi64>
  // expected-error @+1 {{'graph.unsqueeze' op expected result #0 of type 'tensor<1x8xf32>', got 'tensor<1x8xf64>'}}
  %out = graph.unsqueeze %x, %a : (tensor<8xf32>, tensor<1xi64>) -> tensor<1x8xf64>
  return
}

// -----

func.func @transpose_c1(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{'graph.transpose' op expected result #0 of type 'tensor<16x8xf32>', got 'tensor<16x8xf64>'}}
  %out = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf64>
  return
}

// -----

func.func @expand_c1(%x: tensor<8x1xf32>) {
  %s = graph.constant dense<[8, 16]> : tensor<2xi64>
  // expected-error @+1 {{'graph.expand' op expected result #0 of type 'tensor<8x16xf32>', got 'tensor<8x16xf64>'}}
  %out = graph.expand %x, %s : (tensor<8x1xf32>, tensor<2xi64>) -> tensor<8x16xf64>
  return
}

// -----

func.func @tile_c1(%x: tensor<8x16xf32>) {
  %r = graph.constant dense<[2, 1]> : tensor<2xi64>
  // expected-error @+1 {{'graph.tile' op expected result #0 of type 'tensor<16x16xf32>', got 'tensor<16x16xf64>'}}
  %out = graph.tile %x, %r : (tensor<8x16xf32>, tensor<2xi64>) -> tensor<16x16xf64>
  return
}

// -----

func.func @concat_c1(%a: tensor<8x16xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{'graph.concat' op operand 1: expected rank 2, got 1}}
  %out = graph.concat %a, %b {axis = 0 : i64} : (tensor<8x16xf32>, tensor<8xf32>) -> tensor<16x16xf32>
  return
}

// -----

func.func @split_c1(%x: tensor<4xf32>) {
  %s = graph.constant dense<2> : tensor<2xi64>
  // expected-error @+1 {{'graph.split' op expected result #1 of type 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %out:2 = graph.split %x, %s : (tensor<4xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<2xf64>)
  return
}

// -----

func.func @split_c2(%x: tensor<4xf32>) {
  %s = graph.constant dense<2> : tensor<2xi64>
  // expected-error @+1 {{'graph.split' op expected an axis in [-1, 1), got 1}}
  %out:2 = graph.split %x, %s {axis = 1 : i64} : (tensor<4xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @pad_c1(%x: tensor<8xf32>, %v: tensor<f64>) {
  %p = graph.constant dense<1> : tensor<2xi64>
  %a = graph.constant dense<0> : tensor<1xi64>
  // expected-error @+1 {{'graph.pad' op operand 2: expected f32 as operand 0, got f64}}
  %out = graph.pad %x, %p, %v, %a : (tensor<8xf32>, tensor<2xi64>, tensor<f64>, tensor<1xi64>) -> tensor<10xf32>
  return
}

// -----

func.func @reverse_sequence_c1(%x: tensor<4xf32>, %l: tensor<4xi64>) {
  // expected-error @+1 {{'graph.reverse_sequence' op operand 0: expected rank at least 2, got 1}}
  %out = graph.reverse_sequence %x, %l : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @reverse_sequence_c2(%x: tensor<4x8xf32>, %l: tensor<8xi64>) {
  // expected-error @+1 {{'graph.reverse_sequence' op expected distinct axes, got 1 twice}}
  %out = graph.reverse_sequence %x, %l {batch_axis = 1 : i64, time_axis = -1 : i64} : (tensor<4x8xf32>, tensor<8xi64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @trilu_c1(%x: tensor<8xf32>) {
  %k = graph.constant dense<0> : tensor<i64>
  // expected-error @+1 {{'graph.trilu' op operand 0: expected rank at least 2, got 1}}
  %out = graph.trilu %x, %k : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
  return
}

// -----

func.func @trilu_c2(%x: tensor<8x8xf32>) {
  %k = graph.constant dense<0> : tensor<2xi64>
  // expected-error @+1 {{'graph.trilu' op operand 1: expected one value, got 2}}
  %out = graph.trilu %x, %k : (tensor<8x8xf32>, tensor<2xi64>) -> tensor<8x8xf32>
  return
}

// -----

func.func @eye_like_c1(%x: tensor<3xi64>) {
  // expected-error @+1 {{'graph.eye_like' op operand 0: expected rank 2, got 1}}
  %out = graph.eye_like %x {dtype = f32} : (tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @range_c1(%a: tensor<i64>, %b: tensor<i32>, %c: tensor<i64>) {
  // expected-error @+1 {{'graph.range' op operand 1: expected i64 as operand 0, got i32}}
  %out = graph.range %a, %b, %c : (tensor<i64>, tensor<i32>, tensor<i64>) -> tensor<?xi64>
  return
}

// -----

func.func @depth_to_space_c1(%x: tensor<8x4x4xf32>) {
  // expected-error @+1 {{'graph.depth_to_space' op operand 0: expected rank 4, got 3}}
  %out = graph.depth_to_space %x {blocksize = 2 : i64} : (tensor<8x4x4xf32>) -> tensor<2x8x8xf32>
  return
}
