// SPDX-License-Identifier: Apache-2.0
//
// Pooling over windows and regions. Global pooling is a reduction.

#ifndef DLC_DIALECTS_GRAPH_GRAPHPOOLING_TD
#define DLC_DIALECTS_GRAPH_GRAPHPOOLING_TD

include "dlc/dialects/Graph/GraphBase.td"

defvar Graph_WindowConstraints = [{
- (NAME_c2) `x` has a rank of at least 3; `kernel_shape` has one positive number
  per spatial dimension.
- (NAME_c3) `strides` and `dilations` are empty (ones) or have one positive
  number per spatial dimension; `pads` is empty (zeros) or has two (begins, then
  ends), each smaller than the window.
}];

// `window` names the op in the constraints above.
class Graph_PoolOp<string mnemonic, Type tensor, string meaning,
                   string details, list<Trait> traits = []>
    : Graph_Op<mnemonic, "Opaque", traits> {
  let summary = meaning;
  let description = details # "\n\nConstraints:\n- (" # mnemonic
    # "_c1) `x` is a " # tensor.summary # "; `y` has its element type.\n"
    # !subst("NAME", mnemonic, Graph_WindowConstraints)
    # "\n```mlir\n%y = graph." # mnemonic # " %x {kernel_shape = "
    "array<i64: 2, 2>, strides = array<i64: 2, 2>} : "
    "(tensor<8x4x6x6xf32>) -> tensor<8x4x3x3xf32>\n```";
  let results = (outs tensor:$y);
}

def MaxPoolOp : Graph_PoolOp<"max_pool", Graph_NumberTensor,
    "Largest element of each window",
    "The largest element of each window, NaN where it has one; padding does "
    "not count.  With "
    "`ceil_mode` a last window may begin inside the padded input and reach "
    "beyond it.", [DeclareOpInterfaceMethods<DecomposeOpInterface,
                                             ["hasFasterParts"]>,
                   DeclareOpInterfaceMethods<GradientOpInterface>,
                   DeclareOpInterfaceMethods<LayoutOpInterface, [
                     "block", "keepsChannelsApart", "hasAnyBlocks"]>,
                   DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let arguments = (ins Graph_NumberTensor:$x,
                       DenseI64ArrayAttr:$kernel_shape, Graph_Ints:$strides,
                       Graph_Ints:$pads, Graph_Ints:$dilations,
                       Graph_Bool<"false">:$ceil_mode, Graph_AutoPad:$auto_pad);
}

def AvgPoolOp : Graph_PoolOp<"avg_pool", Graph_FloatTensor,
    "Mean of each window",
    "The mean of each window; padding counts as zeros when "
    "`count_include_pad`, else not at all.",
    [DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>,
     DeclareOpInterfaceMethods<GradientOpInterface>,
     DeclareOpInterfaceMethods<LayoutOpInterface, [
       "block", "keepsChannelsApart", "hasAnyBlocks"]>,
     DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let arguments = (ins Graph_FloatTensor:$x,
                       DenseI64ArrayAttr:$kernel_shape, Graph_Ints:$strides,
                       Graph_Ints:$pads, Graph_Ints:$dilations,
                       Graph_Bool<"false">:$ceil_mode, Graph_AutoPad:$auto_pad,
                       Graph_Bool<"false">:$count_include_pad);
}

def LpPoolOp : Graph_PoolOp<"lp_pool", Graph_FloatTensor,
    "Lp norm of each window",
    "The `p`-th root of the sum of the `p`-th powers of absolute values.",
    [DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let arguments = (ins Graph_FloatTensor:$x,
                       DenseI64ArrayAttr:$kernel_shape, Graph_Ints:$strides,
                       Graph_Ints:$pads, Graph_Ints:$dilations,
                       Graph_Bool<"false">:$ceil_mode, Graph_AutoPad:$auto_pad,
                       Graph_Int<"2">:$p);
}

def MaxPoolWithIndicesOp : Graph_Op<"max_pool_with_indices", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = "Largest element of each window and its place";
  let description = [{
    As `graph.max_pool`, and for each result the index of the element in `x`
    flattened as a whole, row-major or, when `storage_order` is 1,
    column-major.

    Constraints:
    - (max_pool_with_indices_c1) `x` is a tensor of numbers; `y` has its element
      type, `indices` i64 and the shape of `y`.
    - (max_pool_with_indices_c2) the attributes are as for `graph.max_pool`.

    ```mlir
    %y, %i = graph.max_pool_with_indices %x {kernel_shape = array<i64: 2, 2>} : (tensor<8x4x6x6xf32>) -> (tensor<8x4x5x5xf32>, tensor<8x4x5x5xi64>)
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x,
                       DenseI64ArrayAttr:$kernel_shape, Graph_Ints:$strides,
                       Graph_Ints:$pads, Graph_Ints:$dilations,
                       Graph_Bool<"false">:$ceil_mode, Graph_AutoPad:$auto_pad,
                       Graph_Int<"0">:$storage_order);
  let results = (outs Graph_NumberTensor:$y, Graph_I64Tensor:$indices);
}

def MaxPoolGradientOp : Graph_Op<"max_pool_gradient", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<LayoutOpInterface, ["block"]>,
    DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let methods = "bool isParameter(unsigned) { return false; }";
  let summary = "Gradient of max pooling";
  let description = [{
    What `graph.max_pool` of `x` with these attributes passes on to `x`, given
    `g`, the gradient of its result: each element of `g` is added to the element
    that its window chose, the first of equal ones.

    Constraints:
    - (max_pool_gradient_c1) `x` and `g` have the same element type, a float;
      `dx` has the type of `x`.
    - (max_pool_gradient_c2) the attributes are as for `graph.max_pool`, of
      which the result has the shape of `g`.

    ```mlir
    %dx = graph.max_pool_gradient %x, %g {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<8x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<8x4x6x6xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$g,
                       DenseI64ArrayAttr:$kernel_shape, Graph_Ints:$strides,
                       Graph_Ints:$pads, Graph_Ints:$dilations,
                       Graph_Bool<"false">:$ceil_mode, Graph_AutoPad:$auto_pad);
  let results = (outs Graph_FloatTensor:$dx);
}

def MaxUnpoolOp : Graph_Op<"max_unpool", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = "Partial inverse of max pooling";
  let description = [{
    Writes each element of `x` at its index into a tensor of zeros, of the shape
    `output_shape` or the smallest that pooling would map to that of `x`.

    Constraints:
    - (max_unpool_c1) `y` has the element type of `x`; `indices` is i64 of the
      shape of `x`.
    - (max_unpool_c2) the lists are as for `graph.max_pool`; `output_shape` is a
      vector with one number per dimension.

    ```mlir
    %y = graph.max_unpool %x, %indices {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>) -> tensor<1x1x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, Graph_I64Tensor:$indices,
                       Optional<Graph_I64Tensor>:$output_shape,
                       DenseI64ArrayAttr:$kernel_shape, Graph_Ints:$strides,
                       Graph_Ints:$pads);
  let results = (outs Graph_NumberTensor:$y);
}

def MaxRoiPoolOp : Graph_Op<"max_roi_pool", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = "Max pooling of regions of interest";
  let description = [{
    Splits each region (batch index, x1, y1, x2, y2, scaled by `spatial_scale`)
    into `pooled_shape` bins and takes the largest element of each. Of equal
    ones the first has the gradient; regions have a gradient of zero.

    Constraints:
    - (max_roi_pool_c1) `x`, `rois` and `y` have the same float element type.
    - (max_roi_pool_c2) `x` has rank 4, `rois` is N x 5, `pooled_shape` has two
      positive numbers.

    ```mlir
    %y = graph.max_roi_pool %x, %rois {pooled_shape = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<5x5xf32>) -> tensor<5x3x2x2xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$rois,
                       DenseI64ArrayAttr:$pooled_shape,
                       Graph_Float<"1.0f">:$spatial_scale);
  let results = (outs Graph_FloatTensor:$y);
}

def RoiAlignOp : Graph_Op<"roi_align", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = "Pooling of regions of interest with interpolation";
  let description = [{
    Splits each region (x1, y1, x2, y2 in the image that `batch_indices` names)
    into `output_height` x `output_width` bins and takes the mean or the largest
    of `sampling_ratio`^2 bilinear samples of each (the largest of the four
    weighted elements of all samples, of which equal ones leave the gradient to
    the first). Regions have a gradient of zero. Without a `sampling_ratio` a
    region's size says how many samples there are: the largest have a gradient
    then only where regions are constant.

    Constraints:
    - (roi_align_c1) `x`, `rois` and `y` have the same float element type;
      `batch_indices` is i64.
    - (roi_align_c2) `x` has rank 4, `rois` is N x 4, `batch_indices` N.

    ```mlir
    %y = graph.roi_align %x, %rois, %batch {output_height = 2 : i64, output_width = 2 : i64} : (tensor<1x3x8x8xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x3x2x2xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$rois,
    Graph_I64Tensor:$batch_indices,
    DefaultValuedStrAttr<Graph_Choice<["avg", "max"]>, "avg">:$mode,
    Graph_Int<"1">:$output_height, Graph_Int<"1">:$output_width,
    Graph_Int<"0">:$sampling_ratio, Graph_Float<"1.0f">:$spatial_scale,
    DefaultValuedStrAttr<Graph_Choice<["half_pixel", "output_half_pixel"]>,
                         "half_pixel">:$coordinate_transformation_mode);
  let results = (outs Graph_FloatTensor:$y);
}

#endif // DLC_DIALECTS_GRAPH_GRAPHPOOLING_TD
