// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// Signal processing and quantization that break a rule of their description, which is the name of the
// function.

func.func @dft_c1(%x: tensor<1x8x1xf32>) {
  %none = graph.none : none
  // expected-error @+1 {{'graph.dft' op expected result #0 of type 'tensor<1x8x2xf32>', got 'tensor<1x8x2xf64>'}}
  %out = graph.dft %x, %none, %none : (tensor<1x8x1xf32>, none, none) -> tensor<1x8x2xf64>
  return
}

// -----

func.func @dft_c2(%x: tensor<1x8x3xf32>) {
  %none = graph.none : none
  // expected-error @+1 {{'graph.dft' op operand 0: expected a last dimension of 1 to 2, got 1x8x3xf32}}
  %out = graph.dft %x, %none, %none : (tensor<1x8x3xf32>, none, none) -> tensor<1x8x2xf32>
  return
}

// -----

func.func @stft_c1(%x: tensor<1x16x1xf32>) {
  %none = graph.none : none
  %s = graph.constant dense<4> : tensor<i64>
  // expected-error @+1 {{'graph.stft' op expected result #0 of type 'tensor<1x4x3x2xf32>', got 'tensor<1x4x3x2xf64>'}}
  %out = graph.stft %x, %s, %none, %s : (tensor<1x16x1xf32>, tensor<i64>, none, tensor<i64>) -> tensor<1x4x3x2xf64>
  return
}

// -----

func.func @stft_c2(%x: tensor<1x16x3xf32>) {
  %none = graph.none : none
  %s = graph.constant dense<4> : tensor<i64>
  // expected-error @+1 {{'graph.stft' op operand 0: expected a last dimension of 1 to 1, got 1x16x3xf32}}
  %out = graph.stft %x, %s, %none, %s : (tensor<1x16x3xf32>, tensor<i64>, none, tensor<i64>) -> tensor<1x4x3x2xf32>
  return
}

// -----

func.func @mel_weight_matrix_c1(%b: tensor<2xi64>, %l: tensor<i64>, %r: tensor<i64>, %lo: tensor<f32>, %hi: tensor<f32>) {
  // expected-error @+1 {{'graph.mel_weight_matrix' op operand 0: expected one value, got 2}}
  %out = graph.mel_weight_matrix %b, %l, %r, %lo, %hi {dtype = f32} : (tensor<2xi64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @tfidf_vectorizer_c1(%x: tensor<2x2x6xi64>) {
  // expected-error @+1 {{'graph.tfidf_vectorizer' op operand 0: expected rank 1 or 2, got 2x2x6xi64}}
  %out = graph.tfidf_vectorizer %x {max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0, 1>, pool_int64s = array<i64: 5, 7>} : (tensor<2x2x6xi64>) -> tensor<2x2xf32>
  return
}

// -----

func.func @tfidf_vectorizer_c2(%x: tensor<6xi64>) {
  // expected-error @+1 {{'graph.tfidf_vectorizer' op expected result #0 of type 'tensor<3xf32>', got 'tensor<2xf32>'}}
  %out = graph.tfidf_vectorizer %x {max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0, 1, 2>, pool_int64s = array<i64: 5, 7>} : (tensor<6xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @quantize_linear_c1(%x: tensor<8x16xf32>, %s: tensor<f32>, %z: tensor<ui8>) {
  // expected-error @+1 {{'graph.quantize_linear' op expected result #0 of type 'tensor<8x16xui8>', got 'tensor<8x16xi8>'}}
  %out = graph.quantize_linear %x, %s, %z : (tensor<8x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<8x16xi8>
  return
}

// -----

func.func @dequantize_linear_c1(%x: tensor<8x16xui8>, %s: tensor<f32>, %z: tensor<i8>) {
  // expected-error @+1 {{'graph.dequantize_linear' op operand 2: expected u8 as operand 0, got i8}}
  %out = graph.dequantize_linear %x, %s, %z : (tensor<8x16xui8>, tensor<f32>, tensor<i8>) -> tensor<8x16xf32>
  return
}

// -----

func.func @dequantize_linear_c2(%x: tensor<8x16xui8>, %s: tensor<3xf32>, %z: tensor<3xui8>) {
  // expected-error @+1 {{'graph.dequantize_linear' op operand 1: expected a scale, or scales of shape 16xf32, got 3xf32}}
  %out = graph.dequantize_linear %x, %s, %z : (tensor<8x16xui8>, tensor<3xf32>, tensor<3xui8>) -> tensor<8x16xf32>
  return
}
