// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// What the dialect itself rejects: kinds of operands, attributes, constants,
// and results that contradict the shape rule (any_c1).

func.func @any_c1_shape(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.relu' op expected result #0 of type 'tensor<8xf32>', got 'tensor<9xf32>'}}
  %y = graph.relu %x : (tensor<8xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @any_c1_element(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected result #0 of type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %y = graph.sin %x : (tensor<8xf32>) -> tensor<8xf64>
  return
}

// -----

func.func @is_nan_c1(%x: tensor<8xf32>) {
  // expected-error @+1 {{result #0 must be tensor of bool, but got 'tensor<8xf32>'}}
  %y = graph.is_nan %x : tensor<8xf32>
  return
}

// -----

func.func @sin_c1(%x: tensor<8xi32>) {
  // expected-error @+1 {{operand #0 must be tensor of floats, but got 'tensor<8xi32>'}}
  %y = graph.sin %x : tensor<8xi32>
  return
}

// -----

func.func @abs_c1(%x: tensor<8xi1>) {
  // expected-error @+1 {{operand #0 must be tensor of integers or floats, but got 'tensor<8xi1>'}}
  %y = graph.abs %x : tensor<8xi1>
  return
}

// -----

func.func @logical_not_c1(%x: tensor<8xi8>) {
  // expected-error @+1 {{operand #0 must be tensor of bool, but got 'tensor<8xi8>'}}
  %y = graph.logical_not %x : tensor<8xi8>
  return
}

// -----

func.func @plain(%x: tensor<8xsi8>) {
  // expected-error @+1 {{operand #0 must be tensor of bool, integers or floats, but got 'tensor<8xsi8>'}}
  %y = graph.reshape %x, %x : (tensor<8xsi8>, tensor<8xsi8>) -> tensor<8xsi8>
  return
}

// -----

func.func @add_c1(%a: tensor<8xf32>, %b: tensor<8xf64>) {
  // expected-error @+1 {{'graph.add' op}}
  %y = graph.add %a, %b : (tensor<8xf32>, tensor<8xf64>) -> tensor<8xf32>
  return
}

// -----

func.func @add_c2(%a: tensor<8xf32>, %b: tensor<7xf32>) {
  // expected-error @+1 {{'graph.add' op}}
  %y = graph.add %a, %b : (tensor<8xf32>, tensor<7xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @gelu_choice(%x: tensor<8xf32>) {
  // expected-error @+1 {{that is one of none, tanh}}
  %y = graph.gelu %x {approximate = "fast"} : tensor<8xf32>
  return
}

// -----

func.func @cast_type(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'to' failed to satisfy constraint: type attribute of a plain element type}}
  %y = graph.cast %x {to = i3} : (tensor<8xf32>) -> tensor<8xi32>
  return
}

// -----

func.func @cast_c1(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected result #0 of type 'tensor<8xi64>', got 'tensor<8xi32>'}}
  %y = graph.cast %x {to = i64} : (tensor<8xf32>) -> tensor<8xi32>
  return
}

// -----

func.func @matmul_c3(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{'graph.matmul' op}}
  %y = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @conv_c3(%x: tensor<1x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op}}
  %y = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.transpose' op}}
  %y = graph.transpose %x {perm = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @split_c3(%x: tensor<4xf32>) {
  %sizes = graph.constant dense<[1, 2]> : tensor<2xi64>
  // expected-error @+1 {{'graph.split' op}}
  %y:2 = graph.split %x, %sizes : (tensor<4xf32>, tensor<2xi64>) -> (tensor<1xf32>, tensor<2xf32>)
  return
}

// -----

func.func @group_norm_groups(%x: tensor<1x4x4xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'num_groups' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %y = graph.group_norm %x, %s, %s {num_groups = 0 : i64} : (tensor<1x4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @types(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected 2 operand types and one result type}}
  %y = graph.add %x, %x : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @constant_c2_missing() {
  // expected-error @+1 {{expected a resource 'nowhere', found none of that name}}
  %y = graph.constant dense_resource<nowhere> : tensor<2xf32>
  return
}

// -----

func.func @constant_c2_size() {
  // expected-error @+1 {{expected the bytes of 'tensor<3xf32>' in resource 'short', got 8 bytes}}
  %y = graph.constant dense_resource<short> : tensor<3xf32>
  return
}

{-#
  dialect_resources: { builtin: { short: "0x040000000000803f00000040" } }
#-}

// -----

// expected-error @+1 {{expected 'graph.name' to be a string that is not empty, got ""}}
func.func @name(%x: tensor<8xf32> {graph.name = ""}) {
  return
}

// -----

// expected-error @+1 {{expected 2 names in 'graph.dims', got 1}}
func.func @dims_count(%x: tensor<?x8xf32> {graph.dims = ["n"]}) {
  return
}

// -----

// expected-error @+1 {{expected no name for dimension 1, which is 8, got "m"}}
func.func @dims_static(%x: tensor<?x8xf32> {graph.dims = ["n", "m"]}) {
  return
}

// -----

// expected-error @+1 {{'graph.other' is no attribute of arguments or results}}
func.func @other(%x: tensor<8xf32> {graph.other = 1 : i64}) {
  return
}

// -----

// expected-error @+1 {{'graph.name' is no attribute of operations}}
func.func @operation() attributes {graph.name = "f"} {
  return
}

// -----

// expected-error @+1 {{expected 'graph.random' on a tensor<2xi64>, got 'tensor<3xi64>'}}
func.func @random(%x: tensor<3xi64> {graph.random}) {
  return
}

// -----

// expected-error @+1 {{expected 'graph.initial' to be elements of the argument's type 'tensor<2xf32>', got dense<1.000000e+00> : tensor<3xf32>}}
func.func @initial(%x: tensor<2xf32> {graph.initial = dense<1.0> : tensor<3xf32>}) {
  return
}

// -----

// expected-error @+1 {{expected 'graph.updates' to be a string that is not empty, got ""}}
func.func @updates(%x: tensor<2xf32>) -> (tensor<2xf32> {graph.updates = ""}) {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{'graph.updates' is no attribute of arguments or results}}
func.func @updates_of_argument(%x: tensor<2xf32> {graph.updates = "x"}) {
  return
}

// -----

// expected-error @+1 {{expected 'graph.initial' beside 'graph.fixed'}}
func.func @fixed(%x: tensor<2xf32> {graph.fixed}) {
  return
}

// -----

// expected-error @+1 {{expected 'graph.rate_factor' to be a finite f64 of at least 0, got -1.000000e+00 : f64}}
func.func @rate(%x: tensor<2xf32> {graph.rate_factor = -1.0 : f64}) {
  return
}

// -----

// expected-error @+1 {{expected 'graph.decay_factor' to be a finite f64 of at least 0, got 1 : i64}}
func.func @decay(%x: tensor<2xf32> {graph.decay_factor = 1}) {
  return
}

// -----

func.func @group(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected 'graph.group' to be a string that is not empty, got ""}}
  %y = graph.relu %x {graph.group = ""} : tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{expected a #dlc.device in 'graph.device', got "cpu:1"}}
func.func @argument_device(%x: tensor<8xf32> {graph.device = "cpu:1"}) {
  return
}

// -----

func.func @recompute(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.recompute' is no attribute of operations}}
  %y = graph.relu %x {graph.recompute = 1 : i64} : tensor<8xf32>
  return
}

// -----

func.func @gradient(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.gradient' is no attribute of operations}}
  %y = graph.relu %x {graph.gradient} : tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{expected a number of rows in 'graph.rows', got 0 : i64}}
func.func @rows() attributes {graph.rows = 0 : i64} {
  return
}

// -----

// expected-error @+1 {{expected names of functions in 'graph.by_rows' of a declaration, got [@rows]}}
func.func @by_rows() attributes {graph.by_rows = [@rows]} {
  return
}

// -----

// expected-error @+1 {{expected names of functions in 'graph.by_shape' of a declaration, got [@rows]}}
func.func @by_shape() attributes {graph.by_shape = [@rows]} {
  return
}

// -----

// expected-error @+1 {{expected numbers of extents that are left open, and -1, in 'graph.padded', got array<i64: 0>}}
func.func private @padded(tensor<?x4xf32> {graph.padded = array<i64: 0>})

// -----

// expected-error @+1 {{expected numbers of extents that are left open, and -1, in 'graph.padded', got array<i64: -1, 0>}}
func.func private @padded() -> (tensor<?x4xf32> {graph.padded = array<i64: -1, 0>})

// -----

// expected-error @+1 {{expected names of functions in 'graph.by_rows' of a declaration, got ["rows"]}}
func.func private @by_rows() attributes {graph.by_rows = ["rows"]}
