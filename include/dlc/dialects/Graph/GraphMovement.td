// SPDX-License-Identifier: Apache-2.0
//
// Operations that ask for shapes or move elements to places known beforehand.

#ifndef DLC_DIALECTS_GRAPH_GRAPHMOVEMENT_TD
#define DLC_DIALECTS_GRAPH_GRAPHMOVEMENT_TD

include "dlc/dialects/Graph/GraphBase.td"

def ShapeOp : Graph_Op<"shape", "Opaque", [
    DeclareOpInterfaceMethods<LayoutOpInterface, ["block"]>,
    DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let summary = "The dimensions of a tensor";
  let description = [{
    The dimensions `start` to `end` (exclusive) of `x`; negative numbers count
    from the rank, and both are limited to [0, rank].

    Constraint (shape_c1): `y` is a vector of i64.

    ```mlir
    %y = graph.shape %x {start = 1 : i64} : (tensor<8x16xf32>) -> tensor<1xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Int<"0">:$start,
                       Graph_Int<"INT64_MAX">:$end);
  let results = (outs Graph_I64Tensor:$y);
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The dimensions that are asked for, [first, last), of an `x` of known
    /// rank.
    int64_t getFirst();
    int64_t getLast();
  }];
}

def SizeOp : Graph_Op<"size", "Opaque", [
    DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let summary = "The number of elements of a tensor";
  let description = [{
    The product of the dimensions of `x`.

    Constraint (size_c1): `y` is a scalar of i64.

    ```mlir
    %y = graph.size %x : (tensor<8x16xf32>) -> tensor<i64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_I64Tensor:$y);
  let hasFolder = 1;
}

def ReshapeOp : Graph_ViewOp<"reshape", [
    DeclareOpInterfaceMethods<LayoutOpInterface, ["block"]>,
    DeclareOpInterfaceMethods<PartialShapeOpInterface>,
    DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let summary = "The same elements in another shape";
  let description = [{
    A dimension of -1 is inferred from the number of elements; 0 copies the
    dimension of `x` at that place, or means 0 when `allowzero`.

    Constraints:
    - (reshape_c1) `y` has the element type and number of elements of `x`.
    - (reshape_c2) `shape` is a vector with at most one -1 and nothing below.

    ```mlir
    %i2_m1 = graph.constant dense<[2, -1]> : tensor<2xi64>
    %y = graph.reshape %x, %i2_m1 : (tensor<8x16xf32>, tensor<2xi64>) -> tensor<2x64xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$shape,
                       Graph_Bool<"false">:$allowzero);
  let results = (outs Graph_Tensor:$y);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def FlattenOp : Graph_ViewOp<"flatten"> {
  let summary = "The same elements as a matrix";
  let description = [{
    The dimensions before `axis` become the rows, those from it the columns.

    Constraints:
    - (flatten_c1) `y` has the element type of `x` and rank 2.
    - (flatten_c2) `axis` is in [-rank, rank].

    ```mlir
    %y = graph.flatten %x : (tensor<8x4x4xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Int<"1">:$axis);
  let results = (outs Graph_Tensor:$y);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def SqueezeOp : Graph_ViewOp<"squeeze", [
    DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let summary = "Removal of dimensions of extent 1";
  let description = [{
    Removes the dimensions `axes`, or every dimension of extent 1 when the
    operand is absent.

    Constraints:
    - (squeeze_c1) `y` has the element type of `x`.
    - (squeeze_c2) `axes` are distinct numbers in [-rank, rank) of dimensions of
      extent 1.

    ```mlir
    %i1 = graph.constant dense<1> : tensor<1xi64>
    %y = graph.squeeze %x, %i1 : (tensor<8x1xf32>, tensor<1xi64>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Optional<Graph_I64Tensor>:$axes);
  let results = (outs Graph_Tensor:$y);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def UnsqueezeOp : Graph_ViewOp<"unsqueeze", [
    DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let summary = "Insertion of dimensions of extent 1";
  let description = [{
    Inserts dimensions of extent 1, so that they stand at `axes` of the result.

    Constraints:
    - (unsqueeze_c1) `y` has the element type of `x`.
    - (unsqueeze_c2) `axes` are distinct numbers in [-rank, rank) of the result.

    ```mlir
    %i0 = graph.constant dense<0> : tensor<1xi64>
    %y = graph.unsqueeze %x, %i0 : (tensor<8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$axes);
  let results = (outs Graph_Tensor:$y);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TransposeOp : Graph_Op<"transpose", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let selects = 1;
  let summary = "Permutation of dimensions";
  let description = [{
    Dimension `i` of the result is dimension `perm[i]` of `x`.

    Constraints:
    - (transpose_c1) `y` has the element type of `x`.
    - (transpose_c2) `perm` is a permutation of the dimensions of `x`.

    ```mlir
    %y = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$perm);
  let results = (outs Graph_Tensor:$y);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ExpandOp : Graph_Op<"expand", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<LayoutOpInterface, ["block"]>,
    DeclareOpInterfaceMethods<PositionedOpInterface>,
    DeclareOpInterfaceMethods<PartialShapeOpInterface>,
    DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let selects = 1;
  let methods =
      "bool isShapeParameter(unsigned operand) { return operand == 1; }";
  let summary = "Repetition along dimensions of extent 1";
  let description = [{
    Broadcasts `x` and a tensor of shape `shape` against each other.

    Constraints:
    - (expand_c1) `y` has the element type of `x`.
    - (expand_c2) `shape` is a vector of numbers of at least 0 that broadcasts
      with the shape of `x`.

    ```mlir
    %i8_16 = graph.constant dense<[8, 16]> : tensor<2xi64>
    %y = graph.expand %x, %i8_16 : (tensor<8x1xf32>, tensor<2xi64>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$shape);
  let results = (outs Graph_Tensor:$y);
  let hasFolder = 1;
}

def TileOp : Graph_Op<"tile", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let selects = 1;
  let summary = "Repetition of the whole tensor";
  let description = [{
    Concatenates `repeats[i]` copies along each dimension `i`.

    Constraints:
    - (tile_c1) `y` has the element type and rank of `x`.
    - (tile_c2) `repeats` is a vector with one number of at least 0 per
      dimension.

    ```mlir
    %i2_1 = graph.constant dense<[2, 1]> : tensor<2xi64>
    %y = graph.tile %x, %i2_1 : (tensor<8x16xf32>, tensor<2xi64>) -> tensor<16x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$repeats);
  let results = (outs Graph_Tensor:$y);
  let methods = "bool isShapeParameter(unsigned operand) { return operand == 1; }";
  let hasFolder = 1;
}

def ConcatOp : Graph_Op<"concat", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<InPlaceOpInterface, ["getInPlacePairs", "joinsOperands"]>,
    DeclareOpInterfaceMethods<LayoutOpInterface, ["block"]>,
    DeclareOpInterfaceMethods<PositionedOpInterface>,
    DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let methods = "bool isParameter(unsigned) { return false; }";
  let summary = "Tensors side by side";
  let description = [{
    Joins the operands along `axis`.

    Constraints:
    - (concat_c1) there is at least one operand; all have the element type and
      rank of `y`.
    - (concat_c2) `axis` is in [-rank, rank); the other dimensions are equal.

    ```mlir
    %y = graph.concat %a, %b {axis = 1 : i64} : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<8x20xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Graph_Tensor:$y);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def SplitOp : Graph_Op<"split", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<LayoutOpInterface, ["block"]>,
    DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let selects = 1;
  let summary = "Parts of a tensor";
  let description = [{
    Cuts `x` along `axis` into parts of the given `sizes`, one per result.

    Constraints:
    - (split_c1) every result has the element type and rank of `x`.
    - (split_c2) `axis` is in [-rank, rank).
    - (split_c3) `sizes` is a vector with one number of at least 0 per result;
      their sum is the dimension.

    ```mlir
    %i4_12 = graph.constant dense<[4, 12]> : tensor<2xi64>
    %y:2 = graph.split %x, %i4_12 {axis = 1 : i64} : (tensor<8x16xf32>, tensor<2xi64>) -> (tensor<8x4xf32>, tensor<8x12xf32>)
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$sizes,
                       Graph_Int<"0">:$axis);
  let results = (outs Variadic<Graph_Tensor>:$parts);
  let hasFolder = 1;
}

def SliceOp : Graph_Op<"slice", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<LayoutOpInterface, [
      "block", "keepsChannelsApart"]>,
    DeclareOpInterfaceMethods<PositionedOpInterface>,
    DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let selects = 1;
  let methods = // Where it begins and its steps tell the elements.
      "bool isShapeParameter(unsigned operand) { return operand == 2; }";
  let summary = "Part of a tensor";
  let description = [{
    Takes the elements from `starts` to `ends` (exclusive) in `steps` along
    `axes`. Negative positions count from the end; positions are limited to the
    tensor as in ONNX; negative steps go backwards.

    Constraints:
    - (slice_c1) `y` has the element type and rank of `x`.
    - (slice_c2) the four vectors have the same length; `axes` are distinct
      numbers in [-rank, rank); no step is 0.

    ```mlir
    %i1 = graph.constant dense<1> : tensor<1xi64>
    %i5 = graph.constant dense<5> : tensor<1xi64>
    %y = graph.slice %x, %i1, %i5, %i1, %i1 : (tensor<8x16xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$starts,
                       Graph_I64Tensor:$ends, Graph_I64Tensor:$axes,
                       Graph_I64Tensor:$steps);
  let results = (outs Graph_Tensor:$y);
  let hasFolder = 1;
}

def PadOp : Graph_Op<"pad", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<LayoutOpInterface, [
      "block", "keepsChannelsApart"]>,
    DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let summary = "Elements around a tensor";
  let description = [{
    Adds `pads` elements (begins, then ends) along `axes`: `value`, a
    reflection, the edge, or the other end; negative numbers remove elements.

    Constraints:
    - (pad_c1) `y` has the element type and rank of `x`; `value` is a scalar of
      that type.
    - (pad_c2) `pads` is a vector twice as long as `axes`, which are distinct
      numbers in [-rank, rank).

    ```mlir
    %i1_1 = graph.constant dense<[1, 1]> : tensor<2xi64>
    %i0 = graph.constant dense<0> : tensor<1xi64>
    %zero = graph.constant dense<0.0> : tensor<f32>
    %y = graph.pad %x, %i1_1, %zero, %i0 : (tensor<8x16xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<10x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$pads,
    Graph_Tensor:$value, Graph_I64Tensor:$axes,
    DefaultValuedStrAttr<
      Graph_Choice<["constant", "reflect", "edge", "wrap"]>,
      "constant">:$mode);
  let results = (outs Graph_Tensor:$y);
  let hasFolder = 1;
}

class Graph_BlockOp<string mnemonic, string meaning, string example>
    : Graph_Op<mnemonic, "Movement", [
          DeclareOpInterfaceMethods<GradientOpInterface>,
          DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let selects = 1;
  let summary = meaning;
  let description = "Moves blocks of `blocksize` x `blocksize` elements between "
    "the channels and the two spatial dimensions.\n\nConstraints:\n- ("
    # mnemonic # "_c1) `x` has rank 4; `y` has its element type.\n- ("
    # mnemonic # "_c2) `blocksize` is positive and divides the dimensions that "
    "shrink.\n\n```mlir\n" # example # "\n```";
  let results = (outs Graph_Tensor:$y);
}

def DepthToSpaceOp : Graph_BlockOp<"depth_to_space", "Channels into space",
    "%y = graph.depth_to_space %x {blocksize = 2 : i64} : "
    "(tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>"> {
  let arguments = (ins Graph_Tensor:$x,
    ConfinedAttr<I64Attr, [IntPositive]>:$blocksize,
    DefaultValuedStrAttr<Graph_Choice<["DCR", "CRD"]>, "DCR">:$mode);
}

def SpaceToDepthOp : Graph_BlockOp<"space_to_depth", "Space into channels",
    "%y = graph.space_to_depth %x {blocksize = 2 : i64} : "
    "(tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>"> {
  let arguments = (ins Graph_Tensor:$x,
    ConfinedAttr<I64Attr, [IntPositive]>:$blocksize);
}

def ReverseSequenceOp : Graph_Op<"reverse_sequence", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let selects = 1;
  let summary = "Reversal of the beginning of each sequence";
  let description = [{
    Reverses the first `lens[b]` elements along `time_axis` of each batch `b`.

    Constraints:
    - (reverse_sequence_c1) `y` has the type of `x`, whose rank is at least 2.
    - (reverse_sequence_c2) `batch_axis` and `time_axis` are distinct numbers in
      [-rank, rank); `lens` is a vector with one number per batch.

    ```mlir
    %y = graph.reverse_sequence %x, %lens {batch_axis = 0 : i64, time_axis = 1 : i64} : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$lens,
                       Graph_Int<"1">:$batch_axis, Graph_Int<"0">:$time_axis);
  let results = (outs Graph_Tensor:$y);
}

def TriluOp : Graph_Op<"trilu", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let summary = "Triangle of matrices";
  let description = [{
    Keeps the elements of the last two dimensions on and above (`upper`) or on
    and below the `k`-th diagonal; the others become zero.

    Constraints:
    - (trilu_c1) `y` has the type of `x`, whose rank is at least 2.
    - (trilu_c2) `k` is a scalar.

    ```mlir
    %i0 = graph.constant dense<0> : tensor<i64>
    %y = graph.trilu %x, %i0 {upper = false} : (tensor<8x8xf32>, tensor<i64>) -> tensor<8x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$k,
                       Graph_Bool<"true">:$upper);
  let results = (outs Graph_Tensor:$y);
}

def EyeLikeOp : Graph_Op<"eye_like", "Movement", [
    DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let summary = "Ones on a diagonal";
  let description = [{
    A matrix of the shape of `x` and element type `dtype` with ones on the
    `k`-th diagonal.

    Constraint (eye_like_c1): `x` has rank 2.

    ```mlir
    %y = graph.eye_like %x {dtype = f32} : (tensor<3x3xi64>) -> tensor<3x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Int<"0">:$k,
                       Graph_TypeAttr:$dtype);
  let results = (outs Graph_Tensor:$y);
}

def RangeOp : Graph_Op<"range", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<PositionedOpInterface>]> {
  let methods = "bool isShapeParameter(unsigned operand) { return operand == 1; }";
  let summary = "Equidistant numbers";
  let description = [{
    The numbers from `start` towards `limit` (exclusive) in steps of `delta`.

    Constraints:
    - (range_c1) the operands are scalars of the element type of `y`, a vector.
    - (range_c2) `delta` is not 0.

    ```mlir
    %y = graph.range %start, %limit, %delta : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$start, Graph_NumberTensor:$limit,
                       Graph_NumberTensor:$delta);
  let results = (outs Graph_NumberTensor:$y);
}

#endif // DLC_DIALECTS_GRAPH_GRAPHMOVEMENT_TD
