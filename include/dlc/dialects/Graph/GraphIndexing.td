// SPDX-License-Identifier: Apache-2.0
//
// Operations that read or write at places given by data, and those that choose
// such places.

#ifndef DLC_DIALECTS_GRAPH_GRAPHINDEXING_TD
#define DLC_DIALECTS_GRAPH_GRAPHINDEXING_TD

include "dlc/dialects/Graph/GraphBase.td"

defvar Graph_Reductions = ["none", "add", "mul", "max", "min"];

def ResolveIndicesOp : Graph_Op<"resolve_indices"> {
  let summary = "Indices counted from the beginning";
  let description = [{
    Adds `n` to the negative indices into a dimension of extent `n`, so that all
    of them are in [0, n). `extents` holds one such `n`, or one for each place
    along the last dimension, which then holds coordinates.

    Constraints:
    - (resolve_indices_c1) `indices` are i32 or i64; `y` has their type.
    - (resolve_indices_c2) `extents` has one number, or one per place along the
      last dimension.
    - (resolve_indices_c3) at run time, indices are in [-n, n).

    ```mlir
    %y = graph.resolve_indices %i {extents = array<i64: 8>} : (tensor<3xi64>) -> tensor<3xi64>
    ```
  }];
  let arguments = (ins Graph_IndexTensor:$indices, DenseI64ArrayAttr:$extents);
  let results = (outs Graph_IndexTensor:$y);
}

def GatherOp : Graph_Op<"gather", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<PositionedOpInterface>,
    DeclareOpInterfaceMethods<IndexedOpInterface>,
    DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let selects = 1;
  let methods = "bool isParameter(unsigned) { return false; }";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let summary = "Slices at given positions";
  let description = [{
    Takes the slices of `x` at `indices` along `axis`; negative indices count
    from the end.

    Constraints:
    - (gather_c1) `y` has the element type of `x`; `indices` are i32 or i64.
    - (gather_c2) `axis` is in [-rank, rank).
    - (gather_c3) at run time, indices are in [-n, n).
    - (gather_c4) when `in_bounds`, `indices` is the result of
      `graph.resolve_indices` or a constant that needs none.

    ```mlir
    %y = graph.gather %x, %i : (tensor<8x16xf32>, tensor<3xi64>) -> tensor<3x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices,
                       Graph_Int<"0">:$axis,
                       Graph_Bool<"false">:$in_bounds);
  let results = (outs Graph_Tensor:$y);
}

def GatherElementsOp : Graph_Op<"gather_elements", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<PositionedOpInterface>,
    DeclareOpInterfaceMethods<IndexedOpInterface>]> {
  let selects = 1;
  let methods = "bool isParameter(unsigned) { return false; }";
  let hasVerifier = 1;
  let summary = "Elements at given positions along one dimension";
  let description = [{
    Element (i, j, ...) of the result is that of `x` where the coordinate along
    `axis` is replaced by `indices` at (i, j, ...).

    Constraints:
    - (gather_elements_c1) `y` has the element type of `x` and the shape of
      `indices`, which are i32 or i64.
    - (gather_elements_c2) `x` and `indices` have the same rank; `axis` is in
      [-rank, rank).
    - (gather_elements_c3) at run time, indices are in [-n, n).
    - (gather_elements_c4) when `in_bounds`, `indices` is the result of
      `graph.resolve_indices` or a constant that needs none.

    ```mlir
    %y = graph.gather_elements %x, %i : (tensor<8x16xf32>, tensor<3x16xi64>) -> tensor<3x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices,
                       Graph_Int<"0">:$axis,
                       Graph_Bool<"false">:$in_bounds);
  let results = (outs Graph_Tensor:$y);
}

def GatherNDOp : Graph_Op<"gather_nd", "Movement", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<PositionedOpInterface>,
    DeclareOpInterfaceMethods<IndexedOpInterface>]> {
  let selects = 1;
  let methods = "bool isParameter(unsigned) { return false; }";
  let hasVerifier = 1;
  let summary = "Slices at given coordinates";
  let description = [{
    The last dimension of `indices` holds coordinates into the leading
    dimensions of `x`, after `batch_dims` shared ones.

    Constraints:
    - (gather_nd_c1) `y` has the element type of `x`; `indices` are i64.
    - (gather_nd_c2) `batch_dims` is at least 0 and below both ranks; the batch
      dimensions are equal.
    - (gather_nd_c3) at run time, indices are in [-n, n).
    - (gather_nd_c4) when `in_bounds`, `indices` is the result of
      `graph.resolve_indices` or a constant that needs none.

    ```mlir
    %y = graph.gather_nd %x, %i : (tensor<8x16xf32>, tensor<3x2xi64>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$indices,
                       Graph_Int<"0">:$batch_dims,
                       Graph_Bool<"false">:$in_bounds);
  let results = (outs Graph_Tensor:$y);
}

def ScatterElementsOp : Graph_Op<"scatter_elements", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>, InPlaceOpInterface]> {
  let methods = [{
    ::llvm::SmallVector<std::pair<unsigned, unsigned>> getInPlacePairs() { return {{0, 0}}; }
  }];
  let summary = "Elements written at given positions along one dimension";
  let description = [{
    `x` with the elements of `updates` written, or combined by `reduction`, at
    the places that `graph.gather_elements` would read.

    Constraints:
    - (scatter_elements_c1) `y` has the type of `x`; `updates` its element type
      and the shape of `indices`, which are i32 or i64.
    - (scatter_elements_c2) the ranks are equal; `axis` is in [-rank, rank).
    - (scatter_elements_c3) at run time, indices are in [-n, n).

    ```mlir
    %y = graph.scatter_elements %x, %i, %u {reduction = "add"} : (tensor<8x16xf32>, tensor<3x16xi64>, tensor<3x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices,
    Graph_Tensor:$updates, Graph_Int<"0">:$axis,
    DefaultValuedStrAttr<Graph_Choice<Graph_Reductions>, "none">:$reduction);
  let results = (outs Graph_Tensor:$y);
}

def ScatterNDOp : Graph_Op<"scatter_nd", "Opaque", [
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>,
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<IndexedOpInterface>, InPlaceOpInterface,
    DeclareOpInterfaceMethods<ReductionOpInterface,
                              ["getFoldedExtents", "buildTermAt"]>]> {
  let hasVerifier = 1;
  let methods = [{
    ::llvm::SmallVector<std::pair<unsigned, unsigned>> getInPlacePairs() { return {{0, 0}}; }
    bool isParameter(unsigned) { return false; }
  }];
  let summary = "Slices written at given coordinates";
  let description = [{
    `x` with the slices of `updates` written, or combined by `reduction`, at the
    places that `graph.gather_nd` would read.

    Constraints:
    - (scatter_nd_c1) `y` has the type of `x`, `updates` its element type;
      `indices` are i64.
    - (scatter_nd_c2) `updates` has the shape that gathering would give.
    - (scatter_nd_c3) at run time, indices are in [-n, n).
    - (scatter_nd_c4) when `in_bounds`, `indices` is the result of
      `graph.resolve_indices` or a constant that needs none.

    ```mlir
    %y = graph.scatter_nd %x, %i, %u : (tensor<8x16xf32>, tensor<3x1xi64>, tensor<3x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$indices,
    Graph_Tensor:$updates,
    DefaultValuedStrAttr<Graph_Choice<Graph_Reductions>, "none">:$reduction,
    Graph_Bool<"false">:$in_bounds);
  let results = (outs Graph_Tensor:$y);
}

def TensorScatterOp : Graph_Op<"tensor_scatter", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>, InPlaceOpInterface]> {
  let methods = [{
    ::llvm::SmallVector<std::pair<unsigned, unsigned>> getInPlacePairs() { return {{0, 0}}; }
  }];
  let summary = "Update of a cache";
  let description = [{
    `cache` with `update` written along `axis`, for each batch (dimension 0)
    from `write_indices` on (0 when absent), past the end in `linear` mode an
    error, in `circular` mode from the beginning again.

    Constraints:
    - (tensor_scatter_c1) `y` has the type of `cache`, `update` its element type
      and rank.
    - (tensor_scatter_c2) `axis` is in [-rank, rank) and not 0;
      `write_indices` is a vector with one number per batch.

    ```mlir
    %y = graph.tensor_scatter %cache, %update, %i : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<2xi64>) -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$cache, Graph_Tensor:$update,
    Optional<Graph_I64Tensor>:$write_indices, Graph_Int<"-2">:$axis,
    DefaultValuedStrAttr<Graph_Choice<["linear", "circular"]>,
                         "linear">:$mode);
  let results = (outs Graph_Tensor:$y);
}

def OneHotOp : Graph_Op<"one_hot", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>]> {
  let summary = "Indices as unit vectors";
  let description = [{
    Along a new dimension `axis` of extent `depth`, the place that an index
    names holds the second of `values`, every other place the first. Negative
    indices count from the end; others out of range name no place.

    Constraints:
    - (one_hot_c1) `depth` is a scalar, `values` has two elements of the element
      type of `y`.
    - (one_hot_c2) `axis` is in [-rank - 1, rank].

    ```mlir
    %i10 = graph.constant dense<10> : tensor<i64>
    %v = graph.constant dense<[0.0, 1.0]> : tensor<2xf32>
    %y = graph.one_hot %i, %i10, %v : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<3x10xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$indices, Graph_I64Tensor:$depth,
                       Graph_Tensor:$values, Graph_Int<"-1">:$axis);
  let results = (outs Graph_Tensor:$y);
}

def TopKOp : Graph_Op<"top_k", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = "The largest or smallest elements";
  let description = [{
    The `k` largest (or smallest) elements along `axis` and their indices,
    equals in the order of their indices.

    Constraints:
    - (top_k_c1) `values` has the element type of `x`, numbers; `indices` i64.
    - (top_k_c2) `axis` is in [-rank, rank); `k` is one number in [0, n].

    ```mlir
    %i3 = graph.constant dense<3> : tensor<1xi64>
    %v, %i = graph.top_k %x, %i3 : (tensor<8x16xf32>, tensor<1xi64>) -> (tensor<8x3xf32>, tensor<8x3xi64>)
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, Graph_I64Tensor:$k,
                       Graph_Int<"-1">:$axis, Graph_Bool<"true">:$largest,
                       Graph_Bool<"true">:$sorted);
  let results = (outs Graph_NumberTensor:$values, Graph_I64Tensor:$indices);
}

def NonZeroOp : Graph_Op<"non_zero"> {
  let summary = "Coordinates of elements that are not zero";
  let description = [{
    One column of coordinates per element of `x` that is not zero, row-major.

    Constraint (non_zero_c1): `y` is i64 of shape rank x ?.

    ```mlir
    %y = graph.non_zero %x : (tensor<8x16xf32>) -> tensor<2x?xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_I64Tensor:$y);
}

def UniqueOp : Graph_Op<"unique"> {
  let summary = "Distinct elements";
  let description = [{
    The distinct elements of `x` flattened, or its distinct slices along `axis`,
    sorted or in order of appearance; where each first appears; for each element
    which of them it is; and how often each appears.

    Constraints:
    - (unique_c1) `y` has the element type of `x`; the others are vectors of
      i64.
    - (unique_c2) `axis` is in [-rank, rank).

    ```mlir
    %y, %first, %inverse, %counts = graph.unique %x : (tensor<8xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<8xi64>, tensor<?xi64>)
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, OptionalAttr<I64Attr>:$axis,
                       Graph_Bool<"true">:$sorted);
  let results = (outs Graph_Tensor:$y, Graph_I64Tensor:$indices,
                      Graph_I64Tensor:$inverse, Graph_I64Tensor:$counts);
}

def CompressOp : Graph_Op<"compress", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = "Slices where a condition holds";
  let description = [{
    The slices of `x` along `axis` (or its elements, flattened) where
    `condition` is true; past the end of `condition` it is false.

    Constraints:
    - (compress_c1) `y` has the element type of `x`.
    - (compress_c2) `condition` is a vector of bool no longer than the dimension;
      `axis` is in [-rank, rank).

    ```mlir
    %y = graph.compress %x, %c {axis = 0 : i64} : (tensor<8x16xf32>, tensor<8xi1>) -> tensor<?x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_BoolTensor:$condition,
                       OptionalAttr<I64Attr>:$axis);
  let results = (outs Graph_Tensor:$y);
}

def NonMaxSuppressionOp : Graph_Op<"non_max_suppression"> {
  let summary = "Boxes that overlap no better box";
  let description = [{
    For each batch and class, takes boxes by falling score while they overlap no
    box taken before by more than `iou_threshold`. Rows of the result are
    (batch, class, box).

    Constraints:
    - (non_max_suppression_c1) `boxes` is N x B x 4, `scores` N x C x B, both
      f32; `y` is i64 of shape ? x 3.
    - (non_max_suppression_c2) the other operands hold one number each.

    ```mlir
    %y = graph.non_max_suppression %boxes, %scores, %max, %iou, %score : (tensor<1x6x4xf32>, tensor<1x1x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x3xi64>
    ```
  }];
  let arguments = (ins TensorOf<[F32]>:$boxes, TensorOf<[F32]>:$scores,
                       Graph_I64Tensor:$max_output_boxes_per_class,
                       TensorOf<[F32]>:$iou_threshold,
                       TensorOf<[F32]>:$score_threshold,
                       Graph_Int<"0">:$center_point_box);
  let results = (outs Graph_I64Tensor:$y);
}

def SuppressBoxesOp : Graph_Op<"suppress_boxes"> {
  let summary = "Boxes that overlap no kept box before them";
  let description = [{
    Goes through the boxes of each batch in their order, best first, and keeps a
    candidate unless the area that it shares with a box kept before, of its
    group where there are groups, is more than `iou_threshold` of what the two
    cover together.

    A box is two corners, the lower one first, or its center and its extents
    (`center_point_box`). One whose corners are the wrong way round has no area.
    With `inclusive`, corners are pixels inside of the box, so that extents are
    one more than their differences.

    Unlike `graph.non_max_suppression`, the result has a static shape; order and
    choice are those of other operations.

    Constraints:
    - (suppress_boxes_c1) `boxes` is N x B x 4, `candidates`, `groups` and `kept`
      are N x B; `iou_threshold` is one number of the element type of `boxes`,
      f32 or f64.
    - (suppress_boxes_c2) `inclusive` goes with corners.

    ```mlir
    %kept = graph.suppress_boxes %boxes, %candidates, %iou, %groups : (tensor<2x6x4xf32>, tensor<2x6xi1>, tensor<f32>, tensor<2x6xi64>) -> tensor<2x6xi1>
    ```
  }];
  let arguments = (ins TensorOf<[F32, F64]>:$boxes, Graph_BoolTensor:$candidates,
                       TensorOf<[F32, F64]>:$iou_threshold,
                       Optional<Graph_I64Tensor>:$groups,
                       Graph_Int<"0">:$center_point_box,
                       Graph_Bool<"false">:$inclusive);
  let results = (outs Graph_BoolTensor:$kept);
}

def MatchPairsOp : Graph_Op<"match_pairs"> {
  let summary = "Rows and columns in pairs, best scores first";
  let description = [{
    Goes through the scores above `threshold` of each batch from the greatest
    on, equals in row-major order, and pairs a row with a column when neither
    has one yet, at most `limit` times (0: without end). Gives the column of
    each row and the row of each column, -1 where there is none.

    Constraints:
    - (match_pairs_c1) `scores` is N x R x C, `columns` is i64 of shape N x R,
      `rows` of shape N x C; `threshold` is one number of the element type of
      `scores`, f32 or f64.
    - (match_pairs_c2) `limit` is at least 0.

    ```mlir
    %columns, %rows = graph.match_pairs %scores, %t : (tensor<2x6x3xf32>, tensor<f32>) -> (tensor<2x6xi64>, tensor<2x3xi64>)
    ```
  }];
  let arguments = (ins TensorOf<[F32, F64]>:$scores,
                       TensorOf<[F32, F64]>:$threshold, Graph_Int<"0">:$limit);
  let results = (outs Graph_I64Tensor:$columns, Graph_I64Tensor:$rows);
}

#endif // DLC_DIALECTS_GRAPH_GRAPHINDEXING_TD
