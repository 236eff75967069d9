// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms and features of text and sound.

#ifndef DLC_DIALECTS_GRAPH_GRAPHSIGNAL_TD
#define DLC_DIALECTS_GRAPH_GRAPHSIGNAL_TD

include "dlc/dialects/Graph/GraphBase.td"

def DftOp : Graph_Op<"dft", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>]> {
  let summary = "Discrete Fourier transform";
  let description = [{
    Transforms along `axis` (the last but one when none), of `dft_length`
    (the dimension when none). The last dimension is 1 (real) or 2 (complex).
    `onesided` gives the first half of the spectrum of real input, or takes it
    when `inverse`. Of other floats than f64 it decomposes into matrix products.

    Constraints:
    - (dft_c1) `y` has the element type of `x`, floats, and its rank of at least
      2.
    - (dft_c2) the last dimension of `x` is 1 or 2; `dft_length` and `axis` are
      scalars.

    ```mlir
    %none = graph.none : none
    %i1 = graph.constant dense<1> : tensor<i64>
    %y = graph.dft %x, %none, %i1 : (tensor<1x8x1xf32>, none, tensor<i64>) -> tensor<1x8x2xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x,
                       Graph_OrNone<Graph_IndexTensor>:$dft_length,
                       Graph_OrNone<Graph_I64Tensor>:$axis,
                       Graph_Bool<"false">:$inverse,
                       Graph_Bool<"false">:$onesided);
  let results = (outs Graph_FloatTensor:$y);
}

def StftOp : Graph_Op<"stft", "Opaque", [
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>]> {
  let summary = "Short-time Fourier transform";
  let description = [{
    Transforms windows of `frame_length` elements, each `frame_step` after the
    last, multiplied by `window`. `window` or `frame_length` may be none.

    Constraints:
    - (stft_c1) `y` has the element type of `signal`, floats, and rank 4.
    - (stft_c2) `signal` is N x L x 1 or 2; `frame_step` and `frame_length` are
      scalars, `window` a vector.

    ```mlir
    %none = graph.none : none
    %i4 = graph.constant dense<4> : tensor<i64>
    %y = graph.stft %x, %i4, %none, %i4 : (tensor<1x16x1xf32>, tensor<i64>, none, tensor<i64>) -> tensor<1x4x3x2xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$signal,
                       Graph_IndexTensor:$frame_step,
                       Graph_OrNone<Graph_FloatTensor>:$window,
                       Graph_OrNone<Graph_IndexTensor>:$frame_length,
                       Graph_Bool<"true">:$onesided);
  let results = (outs Graph_FloatTensor:$y);
}

def MelWeightMatrixOp : Graph_Op<"mel_weight_matrix"> {
  let summary = "Weights from a spectrum to the mel scale";
  let description = [{
    The matrix of (dft_length / 2 + 1) x num_mel_bins triangular weights.

    Constraint (mel_weight_matrix_c1): every operand is a scalar; `y` has the
    element type `dtype`.

    ```mlir
    %y = graph.mel_weight_matrix %bins, %length, %rate, %low, %high {dtype = f32} : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Graph_IndexTensor:$num_mel_bins,
                       Graph_IndexTensor:$dft_length,
                       Graph_IndexTensor:$sample_rate,
                       Graph_FloatTensor:$lower_edge_hertz,
                       Graph_FloatTensor:$upper_edge_hertz,
                       Graph_TypeAttr:$dtype);
  let results = (outs Graph_NumberTensor:$y);
}

def TfidfVectorizerOp : Graph_Op<"tfidf_vectorizer"> {
  let summary = "Frequencies of n-grams";
  let description = [{
    Counts the n-grams of `pool_int64s` in each row of `x`, of lengths from
    `min_gram_length` to `max_gram_length` with up to `max_skip_count` elements
    skipped, and weights them as `mode` says.

    Constraints:
    - (tfidf_vectorizer_c1) `x` is a vector or matrix of i32 or i64, `y` of f32.
    - (tfidf_vectorizer_c2) `ngram_counts` are offsets into `pool_int64s`;
      `ngram_indexes` has one number per n-gram, `weights` too or none.

    ```mlir
    %y = graph.tfidf_vectorizer %x {max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0, 1>, pool_int64s = array<i64: 5, 7>} : (tensor<6xi64>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Graph_IndexTensor:$x, I64Attr:$max_gram_length,
                       I64Attr:$max_skip_count, I64Attr:$min_gram_length,
                       Graph_Choice<["TF", "IDF", "TFIDF"]>:$mode,
                       DenseI64ArrayAttr:$ngram_counts,
                       DenseI64ArrayAttr:$ngram_indexes,
                       DenseI64ArrayAttr:$pool_int64s, Graph_Floats:$weights);
  let results = (outs TensorOf<[F32]>:$y);
}

#endif // DLC_DIALECTS_GRAPH_GRAPHSIGNAL_TD
