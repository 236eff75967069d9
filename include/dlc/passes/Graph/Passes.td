// SPDX-License-Identifier: Apache-2.0
//
// Passes over the Graph dialect.

#ifndef DLC_PASSES_GRAPH_PASSES_TD
#define DLC_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def InferTypesPass : Pass<"graph-infer-types", "::mlir::func::FuncOp"> {
  let summary = "Refine types from operands, results and known values";
  let description = [{
    Requires: Graph operations in a function; any of their types may lack
    dimensions or a rank.
    Ensures: each result has the most precise type that its operation's shape
    rule gives for the types and known values of the operands, and each operand
    what its operations ask of it (OperandTypesOpInterface; elementwise ones that
    of broadcasting), down to the function's arguments, but those that a result
    updates. The function's signature follows. Values of shape arithmetic are known when they can be
    computed, or in part (`[?, 128]`), as ShapeValueOpInterface and
    PartialShapeOpInterface say; the operations themselves stay. Fails where a
    rule finds operands that do not fit, or a type that contradicts it; what a
    front end knows beside operations (an operator's parameter that gives a
    weight's shape) it uses before: `symbol::inferShapes`.
    Cost: one walk, one shape rule per operation; values of at most 4096 elements
    are computed. Another one for each walk back that found something.

    ```mlir
    %s = graph.shape %x : (tensor<?x128xf32>) -> tensor<2xi64>
    %y = graph.reshape %z, %s : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    ->
    %s = graph.shape %x : (tensor<?x128xf32>) -> tensor<2xi64>
    %y = graph.reshape %z, %s : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x128xf32>

    func.func @f(%x: tensor<?x?xf32>, %w: tensor<16x4xf32>)
    %y = graph.matmul %x, %w : (tensor<?x?xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    ->
    func.func @f(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>)
    ```
  }];
}

def FoldConstantsPass : Pass<"graph-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "Compute constant subgraphs with the Reference kernels";
  let description = [{
    Requires: inferred types (`graph-infer-types`).
    Ensures: no operation of known operands is left, unless its result is larger
    than `max-bytes`, or a movement's larger than 64 KiB and 16 times its operands,
    its work larger than `max-work`, it failed to compute, or its type could not be
    made precise; a remark says which. Results of one
    value all over stay splats and take no memory, so that weights made by
    expanding a scalar cost nothing. Operations without uses are gone.
    Cost: that of the computations, in portable code.

    ```mlir
    %a = graph.constant dense<[1, 2]> : tensor<2xi64>
    %b = graph.mul %a, %a : tensor<2xi64>
    ->
    %b = graph.constant dense<[1, 4]> : tensor<2xi64>
    ```
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"1073741824",
           "Bytes that the results of one operation may take">,
    Option<"maxWork", "max-work", "int64_t", /*default=*/"4294967296",
           "Multiplications that one contraction may take">];
}

def DecomposePass : Pass<"graph-decompose", "::mlir::func::FuncOp"> {
  let summary = "Put parts with fast kernels in the place of whole operations";
  let description = [{
    Requires: inferred types (`graph-infer-types`).
    Ensures: no operation of static shapes is left that says it has faster parts
    (DecomposeOpInterface, or ReductionOpInterface's foldInParts), nor are there
    such among the parts: transposed convolutions have become convolutions with
    the weights turned round, those over three dimensions such over two. Large
    reductions that leave a few elements, which one thread would compute, are
    reductions of parts. What stood for constants is to be folded after.
    Gradients are built before: those of the wholes are simpler.
    Cost: one walk; the work of the operations stays the same.

    ```mlir
    %y = graph.conv_transpose %x, %w : (tensor<1x4x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x3x8x8xf32>
    ->
    %v = graph.transpose %w {perm = array<i64: 1, 0, 2, 3>} : (tensor<4x3x1x1xf32>) -> tensor<3x4x1x1xf32>
    %y = graph.conv %x, %v : (tensor<1x4x8x8xf32>, tensor<3x4x1x1xf32>) -> tensor<1x3x8x8xf32>
    ```
  }];
  let dependentDialects = ["::dlc::graph::GraphDialect",
                           "::mlir::arith::ArithDialect"];
}

def ResolveIndicesPass : Pass<"graph-resolve-indices", "::mlir::func::FuncOp"> {
  let summary = "Check indices once, in front of the operations that use them";
  let description = [{
    Requires: inferred types (`graph-infer-types`).
    Ensures: operations that read at places given by data (IndexedOpInterface)
    and whose types are static are `in_bounds`: their indices are constants in
    [0, n), are there by what they are computed of, as what a clamp gives, or come from `graph.resolve_indices`, which is where an index beyond
    the tensor is an error. Such operations can be generated, since kernels
    cannot fail.
    Cost: one walk.

    ```mlir
    %y = graph.gather %x, %i : (tensor<8x16xf32>, tensor<3xi64>) -> tensor<3x16xf32>
    ->
    %j = graph.resolve_indices %i {extents = array<i64: 8>} : (tensor<3xi64>) -> tensor<3xi64>
    %y = graph.gather %x, %j {in_bounds = true} : (tensor<8x16xf32>, tensor<3xi64>) -> tensor<3x16xf32>
    ```
  }];
}

def OffloadOperationsPass
    : Pass<"graph-offload-operations", "::mlir::func::FuncOp"> {
  let summary = "Put operations that have kernels there on a device";
  let description = [{
    Requires: inferred types; indices that are data are checked
    (`graph-resolve-indices`), or what uses them stays on the host.
    Ensures: each operation that asks for no device and is in no group asks for
    `device`, if generated code can compute it there; what has no form as a
    whole, as a recurrent layer, is replaced by its parts
    (`DecomposeOpInterface`) where all of these have one, as long as they are no
    more than 16384. Others ask for cpu:0, with a warning that says why. What asks
    for another such device, by itself or by its group, is replaced likewise,
    and stays there. Checks of indices are the host's, and nothing
    is said of them. Arguments are on cpu:0. Constants and views, which follow
    others, ask for nothing.
    Cost: a conversion of each operation to a kernel.

    ```mlir
    %0 = graph.exp %x : tensor<8xf32>
    ->   // device=cuda:0
    %0 = graph.exp %x {device = #dlc.device<cuda:0>} : tensor<8xf32>
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", /*default=*/"\"cuda:0\"",
           "The device that operations are put on">,
    ListOption<"groups", "groups", "std::string",
               "Devices of groups, as of graph-place-devices">];
  // A copy of each operation is converted to a kernel.
  let dependentDialects = [
    "::dlc::BaseDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::dlc::kernel::KernelDialect"];
}

def ArrangeWeightsPass : Pass<"graph-arrange-weights", "::mlir::func::FuncOp"> {
  let summary = "Keep weights of convolutions on devices with channels last";
  let description = [{
    Requires: devices of operations (`graph-offload-operations`).
    Ensures: constant weights M, C, K1..Kn of a convolution that generated code
    computes on a device, where several taps part the channels from each other,
    are M, K1..Kn, C, and transposed back in front of it, which its kernel does
    as it reads (`graph-fuse-operators`). Nothing may fold constants behind this.
    Cost: one pass over those weights.

    ```mlir
    %w = graph.constant dense_resource<w> : tensor<64x32x3x3xf16>
    ->
    %0 = graph.constant dense_resource<w1> : tensor<64x3x3x32xf16>
    %w = graph.transpose %0 {perm = array<i64: 0, 3, 1, 2>} : (tensor<64x3x3x32xf16>) -> tensor<64x32x3x3xf16>
    ```
  }];
  let dependentDialects = ["::dlc::graph::GraphDialect"];
}

def MergeBranchesPass : Pass<"graph-merge-branches", "::mlir::func::FuncOp"> {
  let summary = "Sum convolutions of one image as one";
  let description = [{
    Requires: folded batch normalisations (`graph-simplify-inference`), inferred
    types.
    Ensures: in a sum, convolutions of one image with constant weights of f32 or
    f64, with steps and groups that are the same, are one with the sum of their
    weights and biases, where the taps of one include those of the others; so is
    the image itself times a constant per channel, and a constant per channel that
    is added. Networks that are trained with several branches and not put
    together for use, as RepVGG and MobileOne, have such sums. Values change by
    rounding only, and where parts overflow or elements are infinite: an infinity
    less another one, which is no number, may be one that is left over. What has
    other uses, and sums whose weights are not finite, stay.
    Cost: linear in the operations and in the weights that change.

    ```mlir
    %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x8xf32>, tensor<8x8x3x3xf32>, tensor<8xf32>) -> tensor<1x8x8x8xf32>
    %1 = graph.conv %x, %v : (tensor<1x8x8x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x8x8xf32>
    %y = graph.add %0, %1 : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    ->
    %y = graph.conv %x, %wv, %b {pads = array<i64: 1, 1, 1, 1>} : ...
    ```
  }];
  let dependentDialects = ["::dlc::graph::GraphDialect"];
}

def MergeProductsPass : Pass<"graph-merge-products", "::mlir::func::FuncOp"> {
  let summary = "Compute small products of one matrix together";
  let description = [{
    Requires: inferred types (`graph-infer-types`).
    Ensures: products of one value with several constant matrices that ask for the
    same device and have too few results to fill a GPU, as those that make
    queries, keys and values of attention, are slices of one product with the
    matrices side by side, or of a few that fill it; so is what is added to them,
    where something constant is to all, and on the same device.
    Cost: one pass over those matrices.

    ```mlir
    %a = graph.matmul %x, %u : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %b = graph.matmul %x, %v : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    ->
    %0 = graph.matmul %x, %uv : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    %a = graph.slice %0, ...  // columns 0 to 4
    %b = graph.slice %0, ...  // columns 4 to 8
    ```
  }];
  let dependentDialects = ["::dlc::graph::GraphDialect"];
}

def HoistQuantizationPass
    : Pass<"graph-hoist-quantization", "::mlir::func::FuncOp"> {
  let summary = "Quantise what is moved before, dequantize what is gathered after";
  let description = [{
    Requires: inferred types (`graph-infer-types`); that nobody asks for
    gradients.
    Ensures: where all that reads the results of an operation that only moves
    elements, as a concatenation or a reshape does, quantises them with one
    constant scale and zero point, they are quantised before, if those are no
    more elements, and integers are moved. So they are before the largest or the
    smallest are chosen, as pooling does, where they were quantised so before
    already. What quantises integers of 8 bits
    that were dequantized with the same scale and zero point is those integers:
    files in QDQ form have such pairs around every operation. What is gathered of
    a constant table that was dequantized, with one scale, is dequantized after, so
    that the table stays one of integers. Results are the same.
    Cost: linear in the operations, times those that move in a row.

    ```mlir
    %x = graph.dequantize_linear %a, %s, %z : (tensor<8x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<8x16xf32>
    %t = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %y = graph.quantize_linear %t, %s, %z : (tensor<16x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<16x8xui8>
    ->
    %y = graph.transpose %a {perm = array<i64: 1, 0>} : (tensor<8x16xui8>) -> tensor<16x8xui8>
    ```
  }];
  let dependentDialects = ["::dlc::graph::GraphDialect"];
}

def MultiplyIntegersPass
    : Pass<"graph-multiply-integers", "::mlir::func::FuncOp"> {
  let summary = "Multiply what was quantised before its scale";
  let description = [{
    Requires: inferred types (`graph-infer-types`); weights that are not folded
    yet, as those of at most 256 elements are while importing; that nobody asks
    for gradients, which integers have none of.
    Ensures: a product on the host of two factors of 8 bits that were
    dequantized to f32, as those of files in QDQ form, with one scale each or, of
    the second one, one for each column, is one of integers, times both scales;
    so is a convolution over one or two dimensions, of one group or of channels
    by themselves, of weights with one scale or one for each channel of the
    result. Sums are exact, where those
    of floats are rounded. Others stay: those of more than 2^15 terms, which
    might wrap around, scales of blocks, and what other devices compute, whose
    libraries have faster products of floats. What alone reads such sums, as
    scaled, with a bias, and as limited where small integers end, too, and
    quantises them with one scale is a `requantize` of the sums. Products and
    such convolutions of bytes that were made i32, as MXNet has them, are those
    of the bytes, too.
    Cost: linear in the operations.

    ```mlir
    %x = graph.dequantize_linear %a, %s, %z : (tensor<8x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<8x16xf32>
    %w = graph.dequantize_linear %b, %t, %u : (tensor<16x4xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<16x4xf32>
    %y = graph.matmul %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    ->
    %0 = graph.integer_matmul %a, %b, %z, %u : (tensor<8x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<4xi8>) -> tensor<8x4xi32>
    %1 = graph.cast %0 {to = f32} : (tensor<8x4xi32>) -> tensor<8x4xf32>
    %2 = graph.mul %s, %t : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    %y = graph.mul %1, %2 : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::dlc::graph::GraphDialect"];
}

def WidenShortFloatsPass
    : Pass<"graph-widen-short-floats", "::mlir::func::FuncOp"> {
  let summary = "Compute in f32 what has no fast kernel of f16 or bf16";
  let description = [{
    Requires: inferred types (`graph-infer-types`).
    Ensures: an operation with operands of f16 or bf16 that has no kernel, of the
    host's library or generated, or generated for `device`, and would have one, or
    parts with such, of f32, computes f32 of what it reads, and its results are
    rounded: Reference kernels sum short floats in f32, too, and round once.
    Weights are to be folded. Kernels of a GPU widen within themselves what they
    have no sums for (DecomposeOpInterface).
    Operations of open shapes are the host's, whose library may have them later.
    With `device`, operations that ask for one, or whose group may, stay.
    Cost: linear in the number of operations.

    ```mlir
    %y = graph.matmul %a, %b : (tensor<8x4xf16>, tensor<4x8xf16>) -> tensor<8x8xf16>
    ->
    %0 = graph.cast %a {to = f32} : (tensor<8x4xf16>) -> tensor<8x4xf32>
    %1 = graph.cast %b {to = f32} : (tensor<4x8xf16>) -> tensor<4x8xf32>
    %2 = graph.matmul %0, %1 : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %y = graph.cast %2 {to = f16} : (tensor<8x8xf32>) -> tensor<8x8xf16>
    ```
  }];
  let dependentDialects = [
    "::dlc::BaseDialect", "::dlc::graph::GraphDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::dlc::kernel::KernelDialect"];
  let options = [
    Option<"device", "device", "std::string", /*default=*/"",
           "Where generated code is to run, like cuda:0; empty: on the host, "
           "beside its library">,
  ];
}

def PadChannelsPass : Pass<"graph-pad-channels", "::mlir::func::FuncOp"> {
  let summary = "Give images of few channels as many as a block has";
  let description = [{
    Requires: inferred types (`graph-infer-types`).
    Ensures: a convolution with constant weights and at least nine taps, as the
    first one of most networks, whose image has fewer channels than `block` reads
    one with zeros behind its channels, and has zeros for their weights, which
    are to be folded: more is multiplied, and read in whole blocks
    (`graph-alter-layout`), which takes far less than element by element.
    With `between` a value of f32 that only convolutions with constant weights,
    and elementwise operations on such values alone, make and read has further
    channels up to a multiple of `block`, if it has a block of its own, these
    are at most a third more, and its convolutions, which then work on whole
    blocks, take less time for it with floats that are rounded to bfloat16.
    Their weights have zeros there, to be folded; where what they are multiplied
    with is not finite, other channels of its pixel become NaN.
    Cost: linear; with `between` the model times the convolutions of each such
    value with and without them, in each round that gives some up.

    ```mlir
    %y = graph.conv %x, %w : (tensor<1x3x8x8xf16>, tensor<16x3x3x3xf16>) -> tensor<1x16x6x6xf16>
    ->   // block=8
    %0 = graph.pad %x, [0, 5], 0, [1] : tensor<1x8x8x8xf16>
    %y = graph.conv %0, %w1 : (tensor<1x8x8x8xf16>, tensor<16x8x3x3xf16>) -> tensor<1x16x6x6xf16>
    ```
  }];
  let dependentDialects = ["::dlc::graph::GraphDialect"];
  let options = [
    Option<"block", "block", "int64_t", /*default=*/"8", "Channels of a block">,
    Option<"isBetween", "between", "bool", /*default=*/"false",
           "Values between convolutions instead of images of few channels">];
}

def PlaceDevicesPass : Pass<"graph-place-devices", "::mlir::func::FuncOp"> {
  let summary = "Decide on which device each operation runs";
  let description = [{
    Requires: a function of Graph operations, of which some may ask for a place:
    by `device`, or by a `graph.group` that `groups` gives a device; `device`
    counts where there are both. Without any `groups`, groups are on cpu:0.
    Ensures: what asks for a device is on it. Others follow their first operand
    that is placed, else their last user that is, else are on cpu:0; constants
    are with their first user and arguments with their last one, but on cpu:0
    where that one is on a device with memory of its own. An argument and
    the result that updates it are on one device where nothing else is asked.
    What follows a member of a group is in the group, too; that depends on
    groups alone, not on their devices. Each operation has its `device` and each
    argument its `graph.device`, and those in a group their `graph.group`;
    without groups, and with all on cpu:0, there are none of these.
    Fails where an operation's group has no device or a device's text is none;
    warns of groups that no operation is in. Running it again changes nothing.
    Cost: linear in the operations and their operands, for each of the few
    sweeps that still place an operation.

    ```mlir
    %0 = graph.exp %x {graph.group = "head"} : tensor<8xf32>
    %1 = graph.tanh %0 : tensor<8xf32>
    ->   // groups=head=cpu:1
    %0 = graph.exp %x {device = #dlc.device<cpu:1>, graph.group = "head"} : tensor<8xf32>
    %1 = graph.tanh %0 {device = #dlc.device<cpu:1>, graph.group = "head"} : tensor<8xf32>
    ```
  }];
  let options = [
    ListOption<"groups", "groups", "std::string",
               "Devices of groups, like head=cpu:1">,
    Option<"isOfGroups", "only-groups", "bool", /*default=*/"false",
           "Leave what is in no group without a device: others decide">];
  let dependentDialects = ["::dlc::BaseDialect"];
}

def InsertCopiesPass : Pass<"graph-insert-copies", "::mlir::func::FuncOp"> {
  let summary = "Copy values to the devices that need them";
  let description = [{
    Requires: devices (`graph-place-devices`).
    Ensures: each operation but `graph.copy` has its operands on its own device.
    There is one copy for each value and device, behind the value, and none that
    is not used; instead of a copy of a constant there is a second constant.
    What updates an argument is copied to the argument's device; other results
    stay where they are, but those in memory that is not the host's, which are
    copied to cpu:0: their memory is the caller's.
    Cost: O(e log e) for e operands.

    ```mlir
    %0 = graph.exp %x {device = #dlc.device<cpu:0>} : tensor<8xf32>
    %1 = graph.tanh %0 {device = #dlc.device<cpu:1>} : tensor<8xf32>
    ->
    %0 = graph.exp %x {device = #dlc.device<cpu:0>} : tensor<8xf32>
    %2 = graph.copy %0 {device = #dlc.device<cpu:1>} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = graph.tanh %2 {device = #dlc.device<cpu:1>} : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::dlc::BaseDialect"];
}

def RecomputePass : Pass<"graph-recompute", "::mlir::func::FuncOp"> {
  let summary = "Compute again what would take memory for long";
  let description = [{
    Requires: inferred types, operations in the order in which they are to run
    (`graph-gradient` puts the way back behind the way there).
    Ensures: values that are made before the point where most bytes are live and
    read behind it may be computed again there, right before they are read, once
    at most; `Planning/Recompute` decides which, by modelled time against bytes.
    Where the budget asks for more, this is done again with what it comes to.
    Without a budget, only in functions that `graph-gradient` has made
    (`graph.gradient`), only elementwise operations and movement, and those that
    carry `graph.recompute`. Repetitions carry `graph.repeated`, the number of
    the round. With a budget, in any function, the least time whose modelled
    peak is within it; where there is none, the least peak.
    Values that the function returns are never computed twice. Copies between
    devices count as views, and are made again of what is: devices do not change
    what is computed.
    Cost: 160 candidates a round, each linear in the operands, and in rounds
    that may repeat dear operations 6e7 steps for what is kept after all.

    ```mlir
    %y = graph.relu %c : tensor<8xf32>
    ...
    %d = graph.mul %g, %y : tensor<8xf32>
    ->
    %y = graph.relu %c : tensor<8xf32>
    ...
    %0 = graph.relu %c {graph.repeated = 0 : i64} : tensor<8xf32>
    %d = graph.mul %g, %0 : tensor<8xf32>
    ```
  }];
  let options = [
    Option<"budget", "budget", "int64_t", /*default=*/"-1",
           "Bytes that may be live at once, as modelled; -1: no budget">];
}

def FuseOperatorsPass : Pass<"graph-fuse-operators", "::mlir::func::FuncOp"> {
  let summary = "Group operations that one kernel computes";
  let description = [{
    Requires: inferred types (`graph-infer-types`).
    Ensures: operations that share a kernel are in one `graph.fusion`; groups
    are convex, on one device and in one `graph.group`, and each is legal for a
    kernel library (an anchor with transposes of its operands and its epilogue;
    or several that it computes as a whole, where that takes less time than one
    by one) or for Codegen, which refuses what one thread would compute though
    several could nearly all of it or, on the host, one of its results. With
    shapes that stay open what rounds sums of integers is by itself, for the call
    that makes them (library::isRoundedByCall). Repetitions
    (`graph.repeated`) are in groups with what stands behind the first of them
    only: else the kernel that made the value would make it again and keep it.
    Values keep their types; what is not grouped keeps its order as far as
    operands allow. With `values`, kernels that compute something again touch few
    large values at once, which a memory budget counts on.
    Cost: O(e r) for e edges that span at most r operations, less where long paths
    lead from one to the other, and one legality check per attempted merge of a
    kind.

    ```mlir
    %0 = graph.mul %x, %y : tensor<8x16xf32>
    %1 = graph.add %0, %x : tensor<8x16xf32>
    ->
    %1 = graph.fusion -> tensor<8x16xf32> {
      %0 = graph.mul %x, %y : tensor<8x16xf32>
      %2 = graph.add %0, %x : tensor<8x16xf32>
      graph.yield %2 : tensor<8x16xf32>
    }
    ```
  }];
  // Codegen's answer comes from converting a copy of the group.
  let dependentDialects = [
    "::dlc::BaseDialect", "::dlc::graph::GraphDialect",
    "::dlc::kernel::KernelDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
  let options = [
    Option<"values", "values", "int64_t", /*default=*/"0",
           "Largest values that a group with repetitions may read and write "
           "together; 0: any number">];
}

def GradientPass : Pass<"graph-gradient", "::mlir::func::FuncOp"> {
  let summary = "Differentiate a function in reverse mode";
  let description = [{
    Requires: inferred types (`graph-infer-types`); static shapes on the way
    from the arguments `wrt` to the results `heads`. Both are given by their
    name (`graph.name`) or number (`#0`), and are all of floats by default, but
    for results that update an argument.
    Ensures: the function has one more argument per head, for its gradient, and
    one more result per argument of `wrt`, its gradient: the sum over all paths
    of floats, 0 where there is none or `graph.stop_gradient` cuts it. To the
    gradient of an argument of `add` that of another new argument is added, which
    the result updates where there is a sum, so that it can be written there
    (`graph.updates`). The names are `grad of NAME` and `sum of grad of NAME`. Everything that is built
    is made of Graph operations, so that the pass can run again for higher
    derivatives, and stays on the device of the operation that it came from.
    Operations that know no gradient but can be decomposed are: recurrent layers
    become all of their steps. Fails where the way needs the gradient of an
    operation that has none, and says which and why: quantisation
    and `unique` have none yet, nor has `roi_align` in the mode max
    where regions, which are not constant, say how many samples they have.
    Cost: linear in the operations on the way and what their rules build; a
    step of an lstm with a bias becomes 50 operations both ways, one of a gru
    60, constants apart.

    ```mlir
    func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = graph.exp %x : tensor<8xf32>
      return %y : tensor<8xf32>
    }
    ->
    func.func @f(%x: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %y = graph.exp %x : tensor<8xf32>
      %0 = graph.mul %g, %y : tensor<8xf32>
      return %y, %0 : tensor<8xf32>, tensor<8xf32>
    }
    ```
  }];
  let options = [
    ListOption<"heads", "heads", "std::string",
               "Results whose gradients are given">,
    ListOption<"wrt", "wrt", "std::string",
               "Arguments whose gradients are computed">,
    ListOption<"add", "add", "std::string",
               "Arguments whose gradients are added to given ones">];
  let dependentDialects = ["::dlc::graph::GraphDialect"];
}

def SimplifyInferencePass
    : Pass<"graph-simplify-inference", "::mlir::func::FuncOp"> {
  let summary = "Merge scales, shifts and normalisation into weights";
  let description = [{
    Requires: folded constants (`graph-fold-constants`), inferred types.
    Ensures: a batch normalisation with known parameters is part of the weights
    of the convolution or product before it, else one multiplication and one
    addition; a known factor per channel before or after a convolution or
    product is part of its weights, a known summand after one of its bias;
    chains of transposes and of reshapes are one, a transposed product is one of
    transposed operands where these are smaller; second and third powers, and
    quotients by powers of two, are products; a product of x and its sigmoid is
    `silu`, what is written of `erf` or `tanh` as `gelu` is, that, and what is
    written of `clamp` or `hard_sigmoid` as `hard_swish` is, also beside other
    uses of its parts. Where what a fold
    would change has other uses or its weights are not known f32 or f64, it
    stays. Values change by rounding only, and where parts overflow.
    Cost: linear in the operations and in the weights that change.

    ```mlir
    %0 = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
    %1 = graph.batch_norm %0, %scale, %bias, %mean, %var : ...
    ->
    %1 = graph.conv %x, %w1, %b1 : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
    ```
  }];
  let dependentDialects = ["::dlc::graph::GraphDialect"];
}

def AlterLayoutPass : Pass<"graph-alter-layout", "::mlir::func::FuncOp"> {
  let summary = "Keep values in the layouts that cost least";
  let description = [{
    Requires: inferred types (`graph-infer-types`), a function of one block.
    Ensures: operations that can compute in any order of their dimensions
    (LayoutOpInterface) do so in one that transposes lead to or from, where
    fewer bytes are transposed then; arguments and results of the function keep
    theirs. `Planning/Layout` decides for all at once; what it finds is the
    least where the function is like a tree or a residual network. A value is
    kept in two layouts at most, and of a rank there are four; where nothing is
    gained, all stays as it is. Constants may be transposed and are to be folded
    after.
    With `channel-block` b, values N, C, D1..Dn of static shape, or of known
    channels where a library computes f32 or integers, that operations with such
    a form tie to an image or a result of a convolution may also be kept as
    N, C/b, D1..Dn, b: where a library computes convolutions faster so, by its own model, and
    that is worth what goes into blocks and out of them. Costs of what is found
    while running are those of one example and of some windows; a shape whose
    channels are known is then one of what is around these.
    C/b is rounded up where a library computes f32 and no more than a third is
    beside the channels, which only operations that keep channels apart read.
    With `channel-block` -1 a block has all channels: N, 1, D1..Dn, C; so it has
    with any other, unless with `generated`, where convolutions of integers have
    most of the multiplications, whose library takes no other blocks.
    With `generated`, each element of an image costs once per tap what it takes
    to read it, alone or beside those of its block; gradients of weights take
    blocks of all channels where these are there.
    Cost: O(n) for n operands where those of one value are few.

    ```mlir
    %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
    %1 = graph.relu %0 : tensor<1x4x4x8xf32>
    %y = graph.transpose %1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x8xf32>) -> tensor<1x8x4x4xf32>
    ->
    %y = graph.relu %x : tensor<1x8x4x4xf32>
    ```
  }];
  let dependentDialects = ["::dlc::graph::GraphDialect"];
  let options = [
    Option<"channelBlock", "channel-block", "int64_t", /*default=*/"0",
           "Channels of a block, -1 for all of a value; 0 keeps channels as they "
           "are">,
    Option<"isStrict", "strict", "bool", /*default=*/"false",
           "Compare convolutions by sums of products as they are defined, by no "
           "other algorithm">,
    Option<"bf16Parts", "bf16-parts", "int64_t", /*default=*/"3",
           "Compare convolutions that may take so many bfloat16 for a float: 3 "
           "hold all of its bits, 1 rounds it">,
    Option<"plainGradients", "plain-gradients", "bool", /*default=*/"false",
           "Leave channels as they are for gradients of weights: slower, but "
           "less is kept in two layouts at once in some networks">,
    Option<"isGenerated", "generated", "bool", /*default=*/"false",
           "Convolutions are generated, as for GPUs, and not a library's">,
    Option<"asksLibraries", "ask-libraries", "bool", /*default=*/"false",
           "With generated: blocks are of all channels where cuDNN is the faster "
           "one for most of the multiplications">,
  ];
}

def SpecializeShapesPass : Pass<"graph-specialize-shapes", "::mlir::ModuleOp"> {
  let summary = "Compute what is left open by functions for given sizes";
  let description = [{
    Requires: Graph operations in a function @main.
    Ensures: extents that arguments of @main leave open under the names in
    `extents` have the sizes given there: @main is a declaration whose
    `graph.by_shape` names copies of it, one for each combination of sizes, in
    which the last extent varies fastest. With one combination it is @main that
    has it. An extent without a name goes by that of its argument and its number,
    `x.2`. Combinations whose types do not fit are left out, as long as each size
    is in another one. Results of the declaration are known as far as they are the same in
    all. Where what there is of an extent can be kept apart from what is behind it,
    arguments and results name it as `graph.padded`: functions compute any smaller
    size of it, which each has as one more argument, and in front of operations in
    which elements along it meet there is a `graph.select` of what counts nothing
    there. A remark says of which extents, and which operation keeps others from it;
    those of one size are what they are. With `usual` and no extents, one that is
    open beside a batch, and can be padded, has the lengths that are usual, 8 to
    512; a function @main_any, the last one, takes what fits none of them. The batch
    stays open if it can be computed by rows. If its examples meet in what is
    quantised, it has the sizes `batches`, or is one example; so it is beside
    `extents`. Alone, one whose examples meet has those sizes, or 1 to 64 by twos.
    An error says which extents there are, where a name is of none; that
    types do not fit a size; that there are more than 1024 combinations.
    Cost: a copy and an inference of types for each combination, and for each size
    between them, and a walk over the forms of elements for each combination.

    ```mlir
    func.func @main(%x: tensor<?x8xf32> {graph.dims = ["length", ""]}) -> tensor<?x8xf32> {
      %y = graph.relu %x : tensor<?x8xf32> -> tensor<?x8xf32>
      return %y : tensor<?x8xf32>
    }
    -> extents=length=16|32
    func.func private @main(tensor<?x8xf32> {graph.dims = ["length", ""], graph.padded = array<i64: 0, -1>}) -> (tensor<?x8xf32> {graph.padded = array<i64: 0, -1>}) attributes {graph.by_shape = [@main_16, @main_32]}
    func.func @main_16(%x: tensor<16x8xf32>, %n: tensor<i64> {graph.name = "size of length"}) -> tensor<16x8xf32> {
      %y = graph.relu %x : tensor<16x8xf32> -> tensor<16x8xf32>
      return %y : tensor<16x8xf32>
    }
    func.func @main_32(%x: tensor<32x8xf32>, %n: tensor<i64> {graph.name = "size of length"}) -> tensor<32x8xf32> ...
    ```
  }];
  let options = [
    ListOption<"extents", "extents", "std::string",
               "Extents with their sizes, like length=16|32">,
    Option<"usual", "usual", "bool", /*default=*/"false",
           "Without extents, the usual lengths of what is open">,
    ListOption<"batches", "batches", "int64_t",
               "Sizes of a batch whose examples meet; without any 1, or alone 1 "
               "to 64 by twos">,
    Option<"byRows", "by-rows", "bool", /*default=*/"true",
           "Usual sizes of models with an open batch, too, which "
           "graph-specialize-batch computes by rows where examples do not meet">];
  let dependentDialects = ["::dlc::graph::GraphDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def SpecializeBatchPass : Pass<"graph-specialize-batch", "::mlir::ModuleOp"> {
  let summary = "Compute a batch of any size by functions for a few sizes";
  let description = [{
    Requires: Graph operations in a function @main, or in the functions that a
    declaration @main names as those for its shapes (graph-specialize-shapes).
    Ensures: where the only extent that the arguments of @main leave open is
    their first one, and examples of the batch do not meet, @main is a
    declaration whose `graph.by_rows` names copies of it, the largest first, each
    for a batch of `graph.rows`, one of `sizes`, or without any of 1, 4, 16 and,
    as long as reading constants of products takes a fifth of the time, 24, 32, 48
    and so on up to 256. Whoever runs it takes as many
    examples at once as one of these has. A result without an open extent is the
    same for all examples. Everything else stays as it is, and a remark says why:
    an operation that mixes examples, or computes with their number, states that
    runs leave to each other.
    Examples are told apart by what elements are computed from: in copies for two
    large primes and for each size, each row of a value is followed to the rows
    of the operands that it is made of. Rows of an example follow each other in
    a dimension, or do in each of several runs of it: a sequence in front of the
    batch that a reshape made one dimension with it.
    Cost: inference and one walk over operations and the forms of their elements
    for each of these, one copy more for each size.

    ```mlir
    func.func @main(%x: tensor<?x8xf32>, ...) -> tensor<?x4xf32> {
      %y = graph.matmul %x, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
      return %y : tensor<?x4xf32>
    }
    ->
    func.func private @main(tensor<?x8xf32>) -> tensor<?x4xf32> attributes {graph.by_rows = [@main_4, @main_1]}
    func.func @main_4(%x: tensor<4x8xf32>) -> tensor<4x4xf32> attributes {graph.rows = 4 : i64} {
      %y = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      return %y : tensor<4x4xf32>
    }
    func.func @main_1(%x: tensor<1x8xf32>) -> tensor<1x4xf32> ...
    ```
  }];
  let options = [
    ListOption<"sizes", "sizes", "int64_t",
               "Ascending sizes of batches that functions are made for, 1 first; "
               "without any 1,4,16 and more as long as weights take much of the time">];
  let dependentDialects = ["::dlc::graph::GraphDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def SplitBatchPass : Pass<"graph-split-batch", "::mlir::func::FuncOp"> {
  let summary = "Compute in parts of the batch what takes much memory";
  let description = [{
    Requires: inferred types (`graph-infer-types`).
    Ensures: operations that know how (BatchOpInterface, or elementwise) and
    touch a value whose first dimension is the batch, of more bytes than a part
    of the largest that a convolution touches, compute the batch in `parts`
    equal parts, or up to four times as many if that divides it; if nothing does,
    in parts that differ by an example. All of the first part are
    in front of all of the second, as far as none needs another one's whole
    result; values that others read are joined behind that, gradients of what
    all parts read are summed up. Sums change by rounding only. So the memory of
    the largest layers of a network, forward and back, is that of a part, where
    what one part needs is not kept for the way back (`graph-recompute`).
    Nothing is split where all parts have to be there more than a few times, as
    for statistics of the batch between layers: they would be kept all.
    With 0 parts it is what takes less time in parts that caches hold, and in how
    many, by the models of the libraries and of what memory takes; nothing where
    something is in parts already. Channels are in blocks then
    (`graph-alter-layout`), as libraries have them.
    Cost: linear in the operations, and in those that are split times the parts;
    with 0 parts a PBQP (`lib/Planning/Layout`) for each number of them.

    ```mlir
    %0 = graph.conv %x, %w : (tensor<8x3x6x6xf32>, tensor<4x3x3x3xf32>) -> tensor<8x4x4x4xf32>
    ->
    %0 = graph.slice %x, %i0, %i4, %i0, %i1 : ... -> tensor<4x3x6x6xf32>
    %1 = graph.conv %0, %w : (tensor<4x3x6x6xf32>, tensor<4x3x3x3xf32>) -> tensor<4x4x4x4xf32>
    %2 = graph.slice %x, %i4, %i8, %i0, %i1 : ... -> tensor<4x3x6x6xf32>
    %3 = graph.conv %2, %w : (tensor<4x3x6x6xf32>, tensor<4x3x3x3xf32>) -> tensor<4x4x4x4xf32>
    %4 = graph.concat %1, %3 {axis = 0 : i64} : (tensor<4x4x4x4xf32>, tensor<4x4x4x4xf32>) -> tensor<8x4x4x4xf32>
    ```
  }];
  let options = [
    Option<"parts", "parts", "int64_t", /*default=*/"1",
           "Parts of the batch that the largest values are computed in; 0 for what "
           "caches do not hold, in as many as take the least time">,
    Option<"isStrict", "strict", "bool", /*default=*/"false",
           "With 0 parts: times are those of sums of products as they are defined">,
    Option<"bf16Parts", "bf16-parts", "int64_t", /*default=*/"3",
           "With 0 parts: times are those of so many bfloat16 for a float">];
  let dependentDialects = ["::dlc::graph::GraphDialect"];
}

def SplitGradientPass : Pass<"graph-split-gradient", "::mlir::func::FuncOp"> {
  let summary = "Keep one part of a differentiated function, forward or back";
  let description = [{
    Requires: a function of one block, as `graph-gradient` leaves it: the first
    `arguments` of its arguments and `results` of its results are those that it
    had before, and these results follow from these arguments.
    Ensures: of the part `forward`, the function has these arguments only and,
    behind these results, one for each value that the way back needs (`saved 0`,
    `saved 1`, ...); of the part `backward`, it has the other results only and,
    behind all arguments, one for each of those values, in the same order. What
    the way back needs is saved, but for constants and for arguments, unless a
    result of the forward part updates these. An operation that no result of the
    forward part needs is part of the way back, unless more would have to be
    saved for it than its results; one that `graph-recompute` repeats is in any
    case, as what follows from it. `graph.saved` of the function is the bytes of those values. Both parts decide alike, from the same
    function.
    Cost: linear in the operations.

    ```mlir
    func.func @f(%x: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %0 = graph.exp %x : tensor<8xf32>
      %y = graph.exp %0 : tensor<8xf32>
      %1 = graph.mul %g, %y : tensor<8xf32>
      %2 = graph.mul %1, %0 : tensor<8xf32>
      return %y, %2 : tensor<8xf32>, tensor<8xf32>
    }
    ->
    func.func @f(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
      %0 = graph.exp %x : tensor<8xf32>
      %y = graph.exp %0 : tensor<8xf32>
      return %y, %0, %y : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    }
    ```
  }];
  let options = [
    Option<"part", "part", "::dlc::graph::GradientPart",
           /*default=*/"::dlc::graph::GradientPart::Forward",
           "The part that is kept", [{::llvm::cl::values(
             clEnumValN(::dlc::graph::GradientPart::Forward, "forward", ""),
             clEnumValN(::dlc::graph::GradientPart::Backward, "backward", "")
           )}]>,
    Option<"arguments", "arguments", "unsigned", /*default=*/"0",
           "How many arguments are not gradients">,
    Option<"results", "results", "unsigned", /*default=*/"0",
           "How many results are not gradients">];
}

def VerifyPass : Pass<"graph-verify", "::mlir::func::FuncOp"> {
  let summary = "Check the end of a phase of Graph operations";
  let description = [{
    Requires: nothing.
    Ensures: of each phase this, and what those before it ensure:
    - `import`: the body is one block of Graph operations and the return; names
      of arguments and of results (`graph.name`) are unique; each argument that
      a result says to update (`graph.updates`) is there, has its type and no
      other update; `device` attributes are `#dlc.device`s.
    - `graph`: every argument has a known rank; every operation but those of
      structure has a Reference kernel.
    - `placed`: devices are of kinds that programs can be compiled for; an
      operation without `device` is on `cpu:0`. Each operation but `graph.copy`
      has its operands on its own device.
    - `fused`: every `graph.fusion` stands in the function and holds two or more
      operations of static types that have a Reference kernel; each of its
      results is used.

    Reports every violation. Changes nothing. Groups are convex by construction:
    a group with a path that leaves and enters again has no place in its block.
    Cost: one walk.

    ```mlir
    func.func @f(%x: tensor<*xf32>) -> tensor<*xf32>
    ->
    error: expected a known rank for argument #0, got 'tensor<*xf32>'
    ```
  }];
  let options = [
    Option<"phase", "phase", "::dlc::graph::VerifiedPhase",
           /*default=*/"::dlc::graph::VerifiedPhase::Graph",
           "The phase whose end is checked", [{::llvm::cl::values(
             clEnumValN(::dlc::graph::VerifiedPhase::Import, "import", ""),
             clEnumValN(::dlc::graph::VerifiedPhase::Graph, "graph", ""),
             clEnumValN(::dlc::graph::VerifiedPhase::Placed, "placed", ""),
             clEnumValN(::dlc::graph::VerifiedPhase::Fused, "fused", "")
           )}]>];
  let dependentDialects = ["::dlc::BaseDialect"];
}

#endif // DLC_PASSES_GRAPH_PASSES_TD
