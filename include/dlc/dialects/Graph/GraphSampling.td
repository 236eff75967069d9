// SPDX-License-Identifier: Apache-2.0
//
// Resampling of images, and random numbers.

#ifndef DLC_DIALECTS_GRAPH_GRAPHSAMPLING_TD
#define DLC_DIALECTS_GRAPH_GRAPHSAMPLING_TD

include "dlc/dialects/Graph/GraphBase.td"

def ResizeOp : Graph_Op<"resize", "Opaque", [
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>,
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<LayoutOpInterface, [
      "block", "keepsChannelsApart"]>,
    DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let summary = "Resampling to another size";
  let description = [{
    Interpolates `x` to the extents `sizes`, or `scales` times its own, along
    `axes` (all when empty). `roi` is used by `tf_crop_and_resize` only.

    Constraints:
    - (resize_c1) `y` has the element type and rank of `x`, numbers.
    - (resize_c2) exactly one of `scales` and `sizes` is present, a vector with
      one number per resized dimension; the rest may be none.

    ```mlir
    %none = graph.none : none
    %sizes = graph.constant dense<[1, 1, 4, 4]> : tensor<4xi64>
    %y = graph.resize %x, %none, %none, %sizes {mode = "linear"} : (tensor<1x1x2x2xf32>, none, none, tensor<4xi64>) -> tensor<1x1x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x,
    Graph_OrNone<Graph_FloatTensor>:$roi,
    Graph_OrNone<TensorOf<[F32]>>:$scales,
    Graph_OrNone<Graph_I64Tensor>:$sizes,
    DefaultValuedStrAttr<Graph_Choice<["nearest", "linear", "cubic"]>,
                         "nearest">:$mode,
    DefaultValuedStrAttr<Graph_Choice<[
      "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
      "align_corners", "asymmetric", "tf_crop_and_resize"]>,
      "half_pixel">:$coordinate_transformation_mode,
    DefaultValuedStrAttr<Graph_Choice<[
      "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]>,
      "round_prefer_floor">:$nearest_mode,
    Graph_Float<"-0.75f">:$cubic_coeff_a,
    Graph_Bool<"false">:$exclude_outside,
    Graph_Float<"0.0f">:$extrapolation_value, Graph_Bool<"false">:$antialias,
    Graph_Ints:$axes,
    DefaultValuedStrAttr<Graph_Choice<[
      "stretch", "not_larger", "not_smaller"]>,
      "stretch">:$keep_aspect_ratio_policy);
  let results = (outs Graph_NumberTensor:$y);
  // Stretched to `sizes`, that is all that these say.
  let methods = [{
    bool isShapeParameter(unsigned operand) {
      return operand == 3 && getKeepAspectRatioPolicy() == "stretch";
    }
  }];
  let hasCanonicalizer = 1;
}

def GridSampleOp : Graph_Op<"grid_sample", "Opaque", [
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>]> {
  let summary = "Sampling at given coordinates";
  let description = [{
    Interpolates `x` (N, C, D1..Dn) at the coordinates of `grid` (N, G1..Gn, n),
    which are -1 to 1 across the tensor.

    Constraints:
    - (grid_sample_c1) `y` has the element type of `x`, a float.
    - (grid_sample_c2) both ranks are equal and at least 3; the last dimension of
      `grid` is the number of spatial dimensions.

    ```mlir
    %y = graph.grid_sample %x, %grid : (tensor<1x3x8x8xf32>, tensor<1x4x4x2xf32>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$grid,
    DefaultValuedStrAttr<Graph_Choice<["linear", "nearest", "cubic"]>,
                         "linear">:$mode,
    DefaultValuedStrAttr<Graph_Choice<["zeros", "border", "reflection"]>,
                         "zeros">:$padding_mode,
    Graph_Bool<"false">:$align_corners);
  let results = (outs Graph_FloatTensor:$y);
}

def AffineGridOp : Graph_Op<"affine_grid", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = "Coordinates of an affine map";
  let description = [{
    The coordinates for `graph.grid_sample` that the matrices `theta` map those
    of an image of the given `size` (N, C, D1..Dn) to.

    Constraints:
    - (affine_grid_c1) `theta` is N x n x n+1, floats; `y` has its element type.
    - (affine_grid_c2) `size` is a vector of 4 or 5 numbers.

    ```mlir
    %size = graph.constant dense<[1, 3, 8, 4]> : tensor<4xi64>
    %y = graph.affine_grid %theta, %size : (tensor<1x2x3xf32>, tensor<4xi64>) -> tensor<1x8x4x2xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$theta, Graph_I64Tensor:$size,
                       Graph_Bool<"false">:$align_corners);
  let results = (outs Graph_FloatTensor:$y);
}

def Col2ImOp : Graph_Op<"col2im", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = "Sum of blocks into an image";
  let description = [{
    Adds the columns of `x` (N, C * block, L) into an image of `image_shape` at
    the places where blocks of `block_shape` lie.

    Constraints:
    - (col2im_c1) `y` has the element type of `x`, numbers.
    - (col2im_c2) `image_shape` and `block_shape` are vectors of one number per
      spatial dimension, the lists as for `graph.conv`.

    ```mlir
    %i5_5 = graph.constant dense<5> : tensor<2xi64>
    %i1_5 = graph.constant dense<[1, 5]> : tensor<2xi64>
    %y = graph.col2im %x, %i5_5, %i1_5 : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x1x5x5xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, Graph_I64Tensor:$image_shape,
                       Graph_I64Tensor:$block_shape, Graph_Ints:$dilations,
                       Graph_Ints:$pads, Graph_Ints:$strides);
  let results = (outs Graph_NumberTensor:$y);
}

def RandomUniformOp : Graph_Op<"random_uniform"> {
  let summary = "Random numbers from 0 to 1";
  let description = [{
    Numbers of [0, 1), each with the same probability, that are a function of
    the operands and `stream` alone: Philox 4x32-10 (runtime/Base/Random.h)
    keyed by the seed `state[0]`, whose element i is made of word i mod 4 of
    block `state[1] * 2^32 + i / 4` of the stream. The result does not depend on
    who computes it, and no two runs, numbered by `state[1]`, share a block.

    Constraints:
    - (random_uniform_c1) `state` has two elements; `shape` is a vector.
    - (random_uniform_c2) `y` has at most 2^32 elements, f32.
    - (random_uniform_c3) `stream` is in [0, 2^32).

    ```mlir
    %shape = graph.constant dense<[8, 16]> : tensor<2xi64>
    %y = graph.random_uniform %state, %shape {stream = 1 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_I64Tensor:$state, Graph_I64Tensor:$shape,
                       Graph_Int<"0">:$stream);
  let results = (outs TensorOf<[F32]>:$y);
}

// One random number for each element of a parameter.
class Graph_RandomOfOp<string mnemonic, string what, string parameter,
                       string how, string range>
    : Graph_Op<mnemonic> {
  let summary = "Random numbers of " # what;
  let description = "Numbers of " # what # ", one for each element of `"
    # parameter # "`: " # how # [{ Element i is a function of `state`, `stream`
    and its parameter alone, as that of `graph.random_uniform`, and made of block
    `state[1] * 2^32 + i` of the stream, of as many words as it takes. }]
    # range # [{

    Constraints:
    - (}] # mnemonic # [{_c1) `state` has two elements.
    - (}] # mnemonic # "_c2) `" # parameter # [{` has at most 2^32 elements, f32; `y` is like it.
    - (}] # mnemonic # [{_c3) `stream` is in [0, 2^32).

    ```mlir
    %y = graph.}] # mnemonic # [{ %state, %p {stream = 1 : i64} : (tensor<2xi64>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_I64Tensor:$state, TensorOf<[F32]>:$parameter,
                       Graph_Int<"0">:$stream);
  let results = (outs TensorOf<[F32]>:$y);
}

def RandomGammaOp : Graph_RandomOfOp<"random_gamma",
    "gamma distributions of scale 1", "parameter",
    "their shape (Marsaglia and Tsang, TOMS 2000).",
    "Where that is 0, so is the number; below, infinite or NaN, it is NaN.">;
def RandomPoissonOp : Graph_RandomOfOp<"random_poisson",
    "Poisson distributions", "parameter",
    "their mean (Hoermann 1993, by products below 10).",
    "Where that is below 0, infinite or NaN, the number is NaN.">;

#endif // DLC_DIALECTS_GRAPH_GRAPHSAMPLING_TD
