// SPDX-License-Identifier: Apache-2.0
//
// Linear quantisation.

#ifndef DLC_DIALECTS_GRAPH_GRAPHQUANTIZATION_TD
#define DLC_DIALECTS_GRAPH_GRAPHQUANTIZATION_TD

include "dlc/dialects/Graph/GraphElementwise.td"

def QuantizeLinearOp : Graph_Op<"quantize_linear", "Opaque", [
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>,
    Graph_RoundsToIntegers]> {
  let summary = "Floats as small integers";
  let description = [{
    Computes `saturate(round(x / scale) + zero_point)`. `scale` and `zero_point`
    are scalars, vectors along `axis`, or, with `block_size`, one number per
    block of that many elements along `axis`.

    It has no gradient, by `x` or by `scale`: it moves in steps, and ONNX gives
    no other answer (as the identity within the range would be). To train
    through it, give one with `graph.replace_gradient`.

    Constraints:
    - (quantize_linear_c1) `x` is a tensor of floats or i32; `scale` of floats;
      `y` has the element type of `zero_point`, an integer.
    - (quantize_linear_c2) `scale` and `zero_point` have the same shape, which
      fits `x` as said above.

    ```mlir
    %y = graph.quantize_linear %x, %s, %z : (tensor<8x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<8x16xui8>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, Graph_FloatTensor:$scale,
                       Graph_IntTensor:$zero_point, Graph_Int<"1">:$axis,
                       Graph_Int<"0">:$block_size, Graph_Bool<"true">:$saturate,
                       OptionalAttr<Graph_TypeAttr>:$precision);
  let results = (outs Graph_IntTensor:$y);
}

def DequantizeLinearOp : Graph_Op<"dequantize_linear", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>]> {
  let summary = "Small integers as floats";
  let description = [{
    Computes `(x - zero_point) * scale`, shapes as for `graph.quantize_linear`.
    Differentiable by `scale`.

    Constraints:
    - (dequantize_linear_c1) `x` and `zero_point` have the same integer element
      type; `y` has that of `scale`, a float.
    - (dequantize_linear_c2) `scale` and `zero_point` have the same shape, which
      fits `x`.

    ```mlir
    %y = graph.dequantize_linear %x, %s, %z : (tensor<8x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_IntTensor:$x, Graph_FloatTensor:$scale,
                       Graph_IntTensor:$zero_point, Graph_Int<"1">:$axis,
                       Graph_Int<"0">:$block_size);
  let results = (outs Graph_FloatTensor:$y);
}

def RequantizeOp : Graph_ElementwiseOp<"requantize", [
    Graph_RoundsToIntegers]> {
  let summary = "Sums of integers as small integers";
  let description = [{
    Computes `saturate(round(x * multiplier + offset) + zero_point)` for each
    element, of f32, in which the product and the sum may be rounded once; NaN
    becomes the zero point. It is what follows an `integer_matmul` or an
    `integer_conv`: `multiplier` is the scales of both factors over that of the
    result, `offset` the bias over that. It has no gradient: it moves in steps.

    Constraints:
    - (requantize_c1) `x` is a tensor of i32, `multiplier` and `offset` are of
      f32; `y` has the element type of `zero_point`, i8 or ui8.
    - (requantize_c2) the four shapes broadcast.

    ```mlir
    %y = graph.requantize %x, %m, %o, %z : (tensor<1x4x8x8xi32>, tensor<4x1x1xf32>, tensor<4x1x1xf32>, tensor<ui8>) -> tensor<1x4x8x8xui8>
    ```
  }];
  let arguments = (ins Graph_IntTensor:$x, Graph_FloatTensor:$multiplier,
                       Graph_FloatTensor:$offset, Graph_IntTensor:$zero_point);
  let results = (outs Graph_IntTensor:$y);
}

#endif // DLC_DIALECTS_GRAPH_GRAPHQUANTIZATION_TD
