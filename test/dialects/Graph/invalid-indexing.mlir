// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Operations on places given by data that break a rule of their description, which is the name of the
// function.

func.func @gather_c1(%x: tensor<8x16xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{'graph.gather' op expected result #0 of type 'tensor<3x16xf32>', got 'tensor<3x16xf64>'}}
  %out = graph.gather %x, %i : (tensor<8x16xf32>, tensor<3xi64>) -> tensor<3x16xf64>
  return
}

// -----

func.func @gather_elements_c1(%x: tensor<8x16xf32>, %i: tensor<3x16xi64>) {
  // expected-error @+1 {{'graph.gather_elements' op expected result #0 of type 'tensor<3x16xf32>', got 'tensor<8x16xf32>'}}
  %out = graph.gather_elements %x, %i : (tensor<8x16xf32>, tensor<3x16xi64>) -> tensor<8x16xf32>
  return
}

// -----

func.func @gather_nd_c1(%x: tensor<8x16xf32>, %i: tensor<3x2xi32>) {
  // expected-error @+1 {{'graph.gather_nd' op operand #1 must be tensor of i64, but got 'tensor<3x2xi32>'}}
  %out = graph.gather_nd %x, %i : (tensor<8x16xf32>, tensor<3x2xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_nd_c2(%x: tensor<8x16xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{'graph.gather_nd' op operand 1: expected dimension 0 to be 8, got 3}}
  %out = graph.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<8x16xf32>, tensor<3x1xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @scatter_elements_c1(%x: tensor<8x16xf32>, %i: tensor<3x16xi64>, %u: tensor<3x16xf64>) {
  // expected-error @+1 {{'graph.scatter_elements' op operand 2: expected f32 as operand 0, got f64}}
  %out = graph.scatter_elements %x, %i, %u : (tensor<8x16xf32>, tensor<3x16xi64>, tensor<3x16xf64>) -> tensor<8x16xf32>
  return
}

// -----

func.func @scatter_nd_c1(%x: tensor<8x16xf32>, %i: tensor<3x1xi64>, %u: tensor<3x16xf64>) {
  // expected-error @+1 {{'graph.scatter_nd' op operand 2: expected f32 as operand 0, got f64}}
  %out = graph.scatter_nd %x, %i, %u : (tensor<8x16xf32>, tensor<3x1xi64>, tensor<3x16xf64>) -> tensor<8x16xf32>
  return
}

// -----

func.func @tensor_scatter_c1(%c: tensor<2x8x4xf32>, %u: tensor<2x1x4xf64>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'graph.tensor_scatter' op operand 1: expected f32 as operand 0, got f64}}
  %out = graph.tensor_scatter %c, %u, %i : (tensor<2x8x4xf32>, tensor<2x1x4xf64>, tensor<2xi64>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @tensor_scatter_c2(%c: tensor<2x8x4xf32>, %u: tensor<2x1x4xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'graph.tensor_scatter' op expected a sequence axis other than 0, the batch}}
  %out = graph.tensor_scatter %c, %u, %i {axis = 0 : i64} : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<2xi64>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @one_hot_c1(%i: tensor<3xi64>, %v: tensor<3xf32>) {
  %d = graph.constant dense<10> : tensor<i64>
  // expected-error @+1 {{'graph.one_hot' op operand 2: expected a vector of 2 values, got 3xf32}}
  %out = graph.one_hot %i, %d, %v : (tensor<3xi64>, tensor<i64>, tensor<3xf32>) -> tensor<3x10xf32>
  return
}

// -----

func.func @top_k_c1(%x: tensor<8x16xi1>) {
  %k = graph.constant dense<3> : tensor<1xi64>
  // expected-error @+1 {{'graph.top_k' op operand #0 must be tensor of integers or floats, but got 'tensor<8x16xi1>'}}
  %out:2 = graph.top_k %x, %k : (tensor<8x16xi1>, tensor<1xi64>) -> (tensor<8x3xi1>, tensor<8x3xi64>)
  return
}

// -----

func.func @non_zero_c1(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{'graph.non_zero' op expected result #0 of type 'tensor<2x?xi64>', got 'tensor<3x?xi64>'}}
  %out = graph.non_zero %x : (tensor<8x16xf32>) -> tensor<3x?xi64>
  return
}

// -----

func.func @unique_c1(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.unique' op expected result #0 of type 'tensor<?xf32>', got 'tensor<?xf64>'}}
  %out:4 = graph.unique %x : (tensor<8xf32>) -> (tensor<?xf64>, tensor<?xi64>, tensor<8xi64>, tensor<?xi64>)
  return
}

// -----

func.func @unique_c2(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.unique' op expected an axis in [-1, 1), got 1}}
  %out:4 = graph.unique %x {axis = 1 : i64} : (tensor<8xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<8xi64>, tensor<?xi64>)
  return
}

// -----

func.func @compress_c1(%x: tensor<8x16xf32>, %c: tensor<8xi1>) {
  // expected-error @+1 {{'graph.compress' op expected result #0 of type 'tensor<?x16xf32>', got 'tensor<?x16xf64>'}}
  %out = graph.compress %x, %c {axis = 0 : i64} : (tensor<8x16xf32>, tensor<8xi1>) -> tensor<?x16xf64>
  return
}

// -----

func.func @non_max_suppression_c1(%boxes: tensor<1x6x5xf32>, %scores: tensor<1x1x6xf32>, %max: tensor<i64>, %iou: tensor<f32>, %score: tensor<f32>) {
  // expected-error @+1 {{'graph.non_max_suppression' op operand 0: expected boxes of shape 1x6x4xf32, got 1x6x5xf32}}
  %out = graph.non_max_suppression %boxes, %scores, %max, %iou, %score : (tensor<1x6x5xf32>, tensor<1x1x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x3xi64>
  return
}

// -----

func.func @non_max_suppression_c2(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x1x6xf32>, %max: tensor<2xi64>, %iou: tensor<f32>, %score: tensor<f32>) {
  // expected-error @+1 {{'graph.non_max_suppression' op operand 2: expected one value, got 2}}
  %out = graph.non_max_suppression %boxes, %scores, %max, %iou, %score : (tensor<1x6x4xf32>, tensor<1x1x6xf32>, tensor<2xi64>, tensor<f32>, tensor<f32>) -> tensor<?x3xi64>
  return
}

// -----

func.func @suppress_boxes_c1(%boxes: tensor<2x6x4xf32>, %all: tensor<2x5xi1>, %iou: tensor<f32>) {
  // expected-error @+1 {{'graph.suppress_boxes' op operand 1: expected 6 in dimension 1, got 5}}
  %out = graph.suppress_boxes %boxes, %all, %iou : (tensor<2x6x4xf32>, tensor<2x5xi1>, tensor<f32>) -> tensor<2x6xi1>
  return
}

// -----

func.func @suppress_boxes_c2(%boxes: tensor<2x6x4xf32>, %all: tensor<2x6xi1>, %iou: tensor<f32>) {
  // expected-error @+1 {{'graph.suppress_boxes' op expected corners to be inclusive, got centers}}
  %out = graph.suppress_boxes %boxes, %all, %iou {center_point_box = 1 : i64, inclusive = true} : (tensor<2x6x4xf32>, tensor<2x6xi1>, tensor<f32>) -> tensor<2x6xi1>
  return
}

// -----

func.func @match_pairs_c1(%scores: tensor<2x6x3xf32>, %t: tensor<f32>) {
  // expected-error @+1 {{'graph.match_pairs' op expected result #1 of type 'tensor<2x3xi64>', got 'tensor<2x6xi64>'}}
  %out:2 = graph.match_pairs %scores, %t : (tensor<2x6x3xf32>, tensor<f32>) -> (tensor<2x6xi64>, tensor<2x6xi64>)
  return
}

// -----

func.func @match_pairs_c2(%scores: tensor<2x6x3xf32>, %t: tensor<f32>) {
  // expected-error @+1 {{'graph.match_pairs' op expected a limit of at least 0, got -1}}
  %out:2 = graph.match_pairs %scores, %t {limit = -1 : i64} : (tensor<2x6x3xf32>, tensor<f32>) -> (tensor<2x6xi64>, tensor<2x3xi64>)
  return
}
