// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Reductions, normalizations and recurrences that break a rule of their description, which is the name of the
// function.

func.func @batch_norm_c1(%x: tensor<8xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{'graph.batch_norm' op operand 0: expected rank at least 2, got 1}}
  %out = graph.batch_norm %x, %s, %s, %s, %s : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @layer_norm_c1(%x: tensor<8x16xf32>, %s: tensor<16xf64>) {
  // expected-error @+1 {{'graph.layer_norm' op expected result #0 of type 'tensor<8x16xf32>', got 'tensor<8x16xf64>'}}
  %out = graph.layer_norm %x, %s : (tensor<8x16xf32>, tensor<16xf64>) -> tensor<8x16xf64>
  return
}

// -----

func.func @rms_norm_c1(%x: tensor<8x16xf32>, %s: tensor<16xf64>) {
  // expected-error @+1 {{'graph.rms_norm' op expected result #0 of type 'tensor<8x16xf32>', got 'tensor<8x16xf64>'}}
  %out = graph.rms_norm %x, %s : (tensor<8x16xf32>, tensor<16xf64>) -> tensor<8x16xf64>
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<8x16xf32>, %s: tensor<16xf32>) {
  // expected-error @+1 {{'graph.rms_norm' op expected an axis in [-2, 2), got 2}}
  %out = graph.rms_norm %x, %s {axis = 2 : i64} : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @group_norm_c1(%x: tensor<8x4x5xf32>, %s: tensor<5xf32>) {
  // expected-error @+1 {{'graph.group_norm' op operand 1: expected 4 elements, one for each channel, got 5}}
  %out = graph.group_norm %x, %s, %s {num_groups = 2 : i64} : (tensor<8x4x5xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<8x4x5xf32>
  return
}

// -----

func.func @lrn_c1(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.lrn' op operand 0: expected rank at least 2, got 1}}
  %out = graph.lrn %x {size = 3 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @lrn_c2(%x: tensor<8x4x5x5xf32>) {
  // expected-error @+1 {{'graph.lrn' op attribute 'size' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %out = graph.lrn %x {size = 0 : i64} : (tensor<8x4x5x5xf32>) -> tensor<8x4x5x5xf32>
  return
}

// -----

func.func @softmax_c1(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.softmax' op expected result #0 of type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %out = graph.softmax %x : (tensor<8xf32>) -> tensor<8xf64>
  return
}

// -----

func.func @reduce_sum_c1(%x: tensor<8x16xi1>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  // expected-error @+1 {{'graph.reduce_sum' op operand #0 must be tensor of integers or floats, but got 'tensor<8x16xi1>'}}
  %out = graph.reduce_sum %x, %a : (tensor<8x16xi1>, tensor<1xi64>) -> tensor<8xi1>
  return
}

// -----

func.func @arg_max_c1(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{'graph.arg_max' op result #0 must be tensor of i64, but got 'tensor<1x16xi32>'}}
  %out = graph.arg_max %x : (tensor<8x16xf32>) -> tensor<1x16xi32>
  return
}

// -----

func.func @cumsum_c1(%x: tensor<8xf32>) {
  %a = graph.constant dense<0> : tensor<i64>
  // expected-error @+1 {{'graph.cumsum' op expected result #0 of type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %out = graph.cumsum %x, %a : (tensor<8xf32>, tensor<i64>) -> tensor<8xf64>
  return
}

// -----

func.func @lstm_c1(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf64>, %r: tensor<1x16x4xf32>) {
  %none = graph.none : none
  // expected-error @+1 {{'graph.lstm' op operand 1: expected f32 as operand 0, got f64}}
  %out:3 = graph.lstm %x, %w, %r, %none, %none, %none, %none, %none {hidden_size = 4 : i64} : (tensor<5x2x3xf32>, tensor<1x16x3xf64>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @lstm_c2(%x: tensor<5x2x3xf32>, %w: tensor<1x15x3xf32>, %r: tensor<1x16x4xf32>) {
  %none = graph.none : none
  // expected-error @+1 {{'graph.lstm' op operand 1: expected dimension 1 to be 16, got 15}}
  %out:3 = graph.lstm %x, %w, %r, %none, %none, %none, %none, %none {hidden_size = 4 : i64} : (tensor<5x2x3xf32>, tensor<1x15x3xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  return
}
