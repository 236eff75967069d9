// SPDX-License-Identifier: Apache-2.0
//
// Contractions and convolutions.

#ifndef DLC_DIALECTS_GRAPH_GRAPHCONTRACTION_TD
#define DLC_DIALECTS_GRAPH_GRAPHCONTRACTION_TD

include "dlc/dialects/Graph/GraphBase.td"

/// A sum of products.
defvar Graph_Contraction = DeclareOpInterfaceMethods<ReductionOpInterface, [
    "getFoldedExtents", "buildTermAt", "getFactorDims"]>;

def MatmulOp : Graph_Op<"matmul", "Anchor", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<DecomposeOpInterface>,
    Graph_Contraction]> {
  let summary = "Matrix product";
  let description = [{
    The product of the last two dimensions, NumPy's matmul for ranks of at
    least 2; leading dimensions broadcast. Integers wrap around.

    Constraints:
    - (matmul_c1) `a`, `b` and `y` have the same element type, a number.
    - (matmul_c2) both ranks are at least 2.
    - (matmul_c3) the last dimension of `a` equals the last but one of `b`.
    - (matmul_c4) the leading dimensions broadcast.

    ```mlir
    %y = graph.matmul %a, %b : (tensor<2x8x16xf32>, tensor<16x4xf32>) -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$a, Graph_NumberTensor:$b);
  let results = (outs Graph_NumberTensor:$y);
}

def IntegerMatmulOp : Graph_Op<"integer_matmul", "Anchor", [
    Graph_Contraction]> {
  let summary = "Matrix product of small integers";
  let description = [{
    The sums of `(a - a_zero_point) * (b - b_zero_point)` over the last
    dimension of `a` and the last but one of `b`, in i32, where they wrap
    around; leading dimensions broadcast as those of `graph.matmul`. It has no
    gradient: integers have none.

    Constraints:
    - (integer_matmul_c1) `a` and `b` are tensors of i8 or ui8, not always the
      same; a zero point has the type of its factor; `y` is a tensor of i32.
    - (integer_matmul_c2) `a` and `b` fit together as those of `graph.matmul`.
    - (integer_matmul_c3) a zero point broadcasts to the shape of its factor.

    ```mlir
    %y = graph.integer_matmul %a, %b, %za, %zb : (tensor<2x8x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<4xi8>) -> tensor<2x8x4xi32>
    ```
  }];
  let arguments = (ins Graph_IntTensor:$a, Graph_IntTensor:$b,
                       Graph_IntTensor:$a_zero_point,
                       Graph_IntTensor:$b_zero_point);
  let results = (outs Graph_IntTensor:$y);
}

def ConvOp : Graph_Op<"conv", "Anchor", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>,
    Graph_Contraction]> {
  let summary = "Convolution";
  let description = [{
    Cross-correlation over the spatial dimensions: `x` is N, C, D1..Dn, `w` is
    M, C/group, K1..Kn. Empty lists mean ones (`strides`, `dilations`) or zeros
    (`pads`: begins, then ends). `auto_pad` other than NOTSET replaces `pads`.
    With one dimension more than `w`, `x` has its channels in blocks of the last
    extent b: N, C/b, D1..Dn, b. A `channel_block` b other than 0 gives `y` as
    N, M/b, D1..Dn, b; `w` and `bias` are the same for every form. C/b and M/b
    are rounded up: the last block may have places behind the last channel,
    which are not read, and of which nothing is said in `y`.
    With three spatial dimensions it decomposes into convolutions over two.

    Constraints:
    - (conv_c1) `x`, `w`, `bias` and `y` have the same element type, a number.
    - (conv_c2) `x` and `w` have the same rank of at least 3, or `x` one more;
      where either rank is not known, `x` is not in blocks. `bias` has rank 1
      and M elements.
    - (conv_c3) the channels of `x` are `group` times those of `w`, or in
      blocks as many blocks as hold these, and M is a multiple of `group`.
    - (conv_c4) `strides` and `dilations` have one positive number per spatial
      dimension, `pads` two.
    - (conv_c5) `channel_block` is at least 0; a block of `x` has at least 1
      channel.

    ```mlir
    %y = graph.conv %x, %w {strides = array<i64: 2, 2>} : (tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>) -> tensor<8x16x15x15xf32>
    %z = graph.conv %y_blocked, %v {channel_block = 16 : i64} : (tensor<8x1x15x15x16xf32>, tensor<32x16x1x1xf32>) -> tensor<8x2x15x15x16xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, Graph_NumberTensor:$w,
                       Optional<Graph_NumberTensor>:$bias,
                       Graph_Ints:$strides, Graph_Ints:$pads,
                       Graph_Ints:$dilations, Graph_Int<"1">:$group,
                       Graph_AutoPad:$auto_pad,
                       Graph_Int<"0">:$channel_block);
  let results = (outs Graph_NumberTensor:$y);
}

def IntegerConvOp : Graph_Op<"integer_conv", "Anchor", [
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>,
    Graph_Contraction]> {
  let summary = "Convolution of small integers";
  let description = [{
    As `graph.conv`, also of channels in blocks, of `x - x_zero_point` and
    `w - w_zero_point`, with sums in i32, where they wrap around. Outside of `x`
    is nothing, as if its zero point were there. It has no gradient: integers
    have none. In groups it decomposes into a convolution of f32, if sums are so
    short that they are exact, but for channels by themselves on the host.

    Constraints:
    - (integer_conv_c1) `x` and `w` are tensors of i8 or ui8, not always the
      same; a zero point has the type of its factor; `y` is a tensor of i32.
    - (integer_conv_c2) `x`, `w` and the attributes fit together as those of
      `graph.conv`.
    - (integer_conv_c3) `x_zero_point` has one element, `w_zero_point` one or M.

    ```mlir
    %y = graph.integer_conv %x, %w, %zx, %zw {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8>, tensor<4xi8>) -> tensor<1x4x8x8xi32>
    ```
  }];
  let arguments = (ins Graph_IntTensor:$x, Graph_IntTensor:$w,
                       Graph_IntTensor:$x_zero_point,
                       Graph_IntTensor:$w_zero_point,
                       Graph_Ints:$strides, Graph_Ints:$pads,
                       Graph_Ints:$dilations, Graph_Int<"1">:$group,
                       Graph_AutoPad:$auto_pad,
                       Graph_Int<"0">:$channel_block);
  let results = (outs Graph_IntTensor:$y);
}

def ConvTransposeOp : Graph_Op<"conv_transpose", "Anchor", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>]> {
  let summary = "Transposed convolution";
  let description = [{
    The gradient of a convolution with respect to its input: `x` is N, C,
    D1..Dn, `w` is C, M/group, K1..Kn. `output_shape` (spatial dimensions only)
    determines the padding when given.

    Constraints:
    - (conv_transpose_c1) `x`, `w`, `bias` and `y` have the same element type, a
      float.
    - (conv_transpose_c2) `x` and `w` have the same rank of at least 3 and as
      many channels; `bias` has rank 1 and M elements.
    - (conv_transpose_c3) C is a multiple of `group`.
    - (conv_transpose_c4) the lists have one number per spatial dimension,
      `pads` two.

    It decomposes into convolutions: along a dimension with a stride one for all
    remainders modulo the stride that have as many taps, or, where images are so
    small that much of that would be cut off, one for each. Of one window it is
    a product. Where extents of images are not known, over two dimensions of one
    stride, remainders are channels, which become space.

    ```mlir
    %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$w,
                       Optional<Graph_FloatTensor>:$bias,
                       Graph_Ints:$strides, Graph_Ints:$pads,
                       Graph_Ints:$dilations, Graph_Ints:$output_padding,
                       Graph_Ints:$output_shape, Graph_Int<"1">:$group,
                       Graph_AutoPad:$auto_pad);
  let results = (outs Graph_FloatTensor:$y);
}

def ConvWeightGradientOp : Graph_Op<"conv_weight_gradient", "Anchor", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>,
    Graph_Contraction]> {
  let summary = "Gradient of a convolution's weights";
  let description = [{
    What a convolution of `x` with these attributes and windows of
    `kernel_shape` passes on to its weights, given `g`, the gradient of its
    result: for each weight, the sum over the batch and all positions of `g`
    times the element of `x` that met it there. `g` may have any number of
    positions; elements outside of `x` count nothing, and the ends of `pads`
    mean nothing. With three dimensions more than `kernel_shape` has numbers,
    `x` or `g` has its channels in blocks of the last extent, as in `conv`.

    Constraints:
    - (conv_weight_gradient_c1) `x`, `g` and `w` have the same element type, a
      float.
    - (conv_weight_gradient_c2) `x` and `g` have the same batch, and two
      dimensions more than `kernel_shape` has numbers, which are positive, or
      three; blocks have at least 1 channel.
    - (conv_weight_gradient_c3) the channels of `x` and those of `g` are
      multiples of `group`.
    - (conv_weight_gradient_c4) `strides` and `dilations` have one positive
      number per spatial dimension, `pads` two.

    ```mlir
    %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<8x3x32x32xf32>, tensor<8x16x15x15xf32>) -> tensor<16x3x3x3xf32>
    %v = graph.conv_weight_gradient %x_blocked, %g_blocked {kernel_shape = array<i64: 1, 1>} : (tensor<8x1x15x15x16xf32>, tensor<8x2x15x15x16xf32>) -> tensor<32x16x1x1xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$g,
                       DenseI64ArrayAttr:$kernel_shape, Graph_Ints:$strides,
                       Graph_Ints:$pads, Graph_Ints:$dilations,
                       Graph_Int<"1">:$group);
  let results = (outs Graph_FloatTensor:$w);
}

def DeformConvOp : Graph_Op<"deform_conv", "Opaque", [
    DeclareOpInterfaceMethods<DecomposeOpInterface>]> {
  let summary = "Deformable convolution";
  let description = [{
    A convolution that samples `x` at positions moved by `offset`, each sample
    weighted by `mask`. `bias` and `mask` may be none.

    Constraints:
    - (deform_conv_c1) all tensors have the same element type, a float.
    - (deform_conv_c2) the lists are as for `graph.conv`.
    - (deform_conv_c3) the channels are multiples of `group` and
      `offset_group`.

    ```mlir
    %none = graph.none : none
    %y = graph.deform_conv %x, %w, %offset, %none, %none : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x8x2x2xf32>, none, none) -> tensor<1x1x2x2xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$w,
                       Graph_FloatTensor:$offset,
                       Graph_OrNone<Graph_FloatTensor>:$bias,
                       Graph_OrNone<Graph_FloatTensor>:$mask,
                       Graph_Ints:$strides, Graph_Ints:$pads,
                       Graph_Ints:$dilations, Graph_Int<"1">:$group,
                       Graph_Int<"1">:$offset_group);
  let results = (outs Graph_FloatTensor:$y);
}

def EinsumOp : Graph_Op<"einsum", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>]> {
  let summary = "Einstein summation";
  let description = [{
    Multiplies the operands and sums over the letters that the output of
    `equation` lacks; `...` stands for broadcast dimensions. It decomposes into
    matrix products, where no letter comes twice in one term.

    Constraints:
    - (einsum_c1) all operands and `y` have the same element type, a number.
    - (einsum_c2) `equation` has one term per operand with one letter per
      dimension; equal letters have equal extents or 1.

    ```mlir
    %y = graph.einsum %a, %b {equation = "ij,jk->ik"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_NumberTensor>:$inputs,
                       StrAttr:$equation);
  let results = (outs Graph_NumberTensor:$y);
}

#endif // DLC_DIALECTS_GRAPH_GRAPHCONTRACTION_TD
