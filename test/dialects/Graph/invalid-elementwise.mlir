// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Elementwise operations and groups that break a rule of their description, which is the name of the
// function.

func.func @fusion_c1(%x: tensor<8xf32>) {
  %out = graph.fusion -> tensor<8xf64> {
    %0 = graph.relu %x : tensor<8xf32>
    // expected-error @+1 {{'graph.yield' op expected the types of the group's results 'tensor<8xf64>', got 'tensor<8xf32>'}}
    graph.yield %0 : tensor<8xf32>
  }
  return
}

// -----

func.func @is_inf_c1(%x: tensor<8xi32>) {
  // expected-error @+1 {{'graph.is_inf' op operand #0 must be tensor of floats, but got 'tensor<8xi32>'}}
  %out = graph.is_inf %x : (tensor<8xi32>) -> tensor<8xi1>
  return
}

// -----

func.func @bit_cast_c1(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.bit_cast' op expected result #0 of type 'tensor<8xi32>', got 'tensor<8xi64>'}}
  %out = graph.bit_cast %x {to = i32} : (tensor<8xf32>) -> tensor<8xi64>
  return
}

// -----

func.func @bit_cast_c2(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.bit_cast' op expected a type of 4 bytes in attribute to, got i64}}
  %out = graph.bit_cast %x {to = i64} : (tensor<8xf32>) -> tensor<8xi64>
  return
}

// -----

func.func @pow_c1(%a: tensor<8xf32>, %b: tensor<i64>) {
  // expected-error @+1 {{'graph.pow' op expected result #0 of type 'tensor<8xf32>', got 'tensor<8xi64>'}}
  %out = graph.pow %a, %b : (tensor<8xf32>, tensor<i64>) -> tensor<8xi64>
  return
}

// -----

func.func @pow_c2(%a: tensor<8xf32>, %b: tensor<7xf32>) {
  // expected-error @+1 {{'graph.pow' op expected shapes that broadcast, got 8 and 7 in dimension 0}}
  %out = graph.pow %a, %b : (tensor<8xf32>, tensor<7xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @select_c1(%c: tensor<8xi1>, %a: tensor<8xf32>, %b: tensor<8xf64>) {
  // expected-error @+1 {{'graph.select' op operand 2: expected f32 as operand 1, got f64}}
  %out = graph.select %c, %a, %b : (tensor<8xi1>, tensor<8xf32>, tensor<8xf64>) -> tensor<8xf32>
  return
}

// -----

func.func @select_c2(%c: tensor<7xi1>, %a: tensor<8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{'graph.select' op expected shapes that broadcast, got 7 and 8 in dimension 0}}
  %out = graph.select %c, %a, %b : (tensor<7xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @clamp_c1(%x: tensor<8xf32>, %lo: tensor<f64>, %hi: tensor<f32>) {
  // expected-error @+1 {{'graph.clamp' op operand 1: expected f32 as operand 0, got f64}}
  %out = graph.clamp %x, %lo, %hi : (tensor<8xf32>, tensor<f64>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @clamp_c2(%x: tensor<8xf32>, %lo: tensor<7xf32>, %hi: tensor<f32>) {
  // expected-error @+1 {{'graph.clamp' op expected shapes that broadcast, got 8 and 7 in dimension 0}}
  %out = graph.clamp %x, %lo, %hi : (tensor<8xf32>, tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @stop_gradient_c1(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.stop_gradient' op expected result #0 of type 'tensor<8xf32>', got 'tensor<8xi1>'}}
  %out = graph.stop_gradient %x : (tensor<8xf32>) -> tensor<8xi1>
  return
}

// -----

func.func @relu_c2(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.relu' op expected result #0 of type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %out = graph.relu %x : (tensor<8xf32>) -> tensor<8xf64>
  return
}

// -----

func.func @less_c1(%a: tensor<8xf32>, %b: tensor<8xi32>) {
  // expected-error @+1 {{'graph.less' op operand 1: expected f32 as operand 0, got i32}}
  %out = graph.less %a, %b : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xi1>
  return
}

// -----

func.func @less_c2(%a: tensor<8xf32>, %b: tensor<7xf32>) {
  // expected-error @+1 {{'graph.less' op expected shapes that broadcast, got 8 and 7 in dimension 0}}
  %out = graph.less %a, %b : (tensor<8xf32>, tensor<7xf32>) -> tensor<8xi1>
  return
}

// -----

func.func @replace_gradient_c1(%v: tensor<8xf32>, %x: tensor<8xf32>, %g: tensor<7xf32>) {
  // expected-error @+1 {{'graph.replace_gradient' op operand 2: expected 8xf32 as operand 0, got 7xf32}}
  %out = graph.replace_gradient %v, %x, %g : (tensor<8xf32>, tensor<8xf32>, tensor<7xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @copy_c1(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.copy' op expected result #0 of type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %out = graph.copy %x : (tensor<8xf32>) -> tensor<8xf64>
  return
}
