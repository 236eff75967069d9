// SPDX-License-Identifier: Apache-2.0
//
// Normalisations: a reduction followed by elementwise operations.

#ifndef DLC_DIALECTS_GRAPH_GRAPHNORMALIZATION_TD
#define DLC_DIALECTS_GRAPH_GRAPHNORMALIZATION_TD

include "dlc/dialects/Graph/GraphBase.td"

class Graph_SoftmaxOp<string mnemonic, string meaning, string formula,
                      list<Trait> traits = []>
    : Graph_Op<mnemonic, "Row", [
          InPlaceOpInterface, LayoutOpInterface] # traits> {
  let methods = [{
    std::optional<::dlc::graph::PermutedOp>
    permute(::llvm::ArrayRef<int64_t> perm) {
      return ::dlc::graph::detail::permuteAxis(*this, perm);
    }
  }];
  let summary = meaning;
  let description = "Computes `" # formula # "` along `axis`.\n\n"
    "Constraints:\n- (" # mnemonic # "_c1) `y` has the type of `x`, floats.\n"
    "- (" # mnemonic # "_c2) `axis` is in [-rank, rank).\n\n"
    "```mlir\n%y = graph." # mnemonic # " %x : tensor<8x16xf32>\n```";
  let arguments = (ins Graph_FloatTensor:$x, Graph_Int<"-1">:$axis);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat =
      "$x attr-dict `:` custom<ElementwiseTypes>(type($x), type($y))";
}

def SoftmaxOp : Graph_SoftmaxOp<"softmax", "Normalised exponential",
    "e^(x - max) / sum of e^(x - max)",
    [DeclareOpInterfaceMethods<DecomposeOpInterface>,
     DeclareOpInterfaceMethods<GradientOpInterface>]>;
def LogSoftmaxOp : Graph_SoftmaxOp<"log_softmax",
    "Logarithm of the normalised exponential",
    "x - max - ln(sum of e^(x - max))",
    [DeclareOpInterfaceMethods<DecomposeOpInterface>,
     DeclareOpInterfaceMethods<GradientOpInterface>]>;
def HardmaxOp : Graph_SoftmaxOp<"hardmax", "One at the largest element",
    "1 for the first of the largest elements, else 0",
    [DeclareOpInterfaceMethods<GradientOpInterface>]>;

def BatchNormOp : Graph_Op<"batch_norm", "Elementwise", [
    DeclareOpInterfaceMethods<DecomposeOpInterface>, InPlaceOpInterface]> {
  let summary = "Batch normalisation with known statistics";
  let description = [{
    Computes `(x - mean) / sqrt(var + epsilon) * scale + bias`, where dimension
    1 of `x` is the channel.

    Constraints:
    - (batch_norm_c1) `x` is a tensor of floats of rank at least 2, `y` has its
      type.
    - (batch_norm_c2) the other operands are vectors of floats with one element
      per channel.

    ```mlir
    %y = graph.batch_norm %x, %scale, %bias, %mean, %var : (tensor<8x4x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4x5xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias, Graph_FloatTensor:$mean,
                       Graph_FloatTensor:$var, Graph_Float<"1e-5f">:$epsilon);
  let results = (outs Graph_FloatTensor:$y);
}

def LayerNormOp : Graph_Op<"layer_norm", "Row", [
    DeclareOpInterfaceMethods<DecomposeOpInterface>, InPlaceOpInterface]> {
  let summary = "Layer normalisation";
  let description = [{
    Computes `(x - mean) / sqrt(variance + epsilon) * scale + bias`, mean and
    variance over dimensions `axis` to the last; f16 and bf16 in f32.

    Constraints:
    - (layer_norm_c1) all tensors have float elements; `y` has the type of `x`.
    - (layer_norm_c2) `axis` is in [-rank, rank).
    - (layer_norm_c3) `scale` and `bias` broadcast to the shape of `x`.

    ```mlir
    %y = graph.layer_norm %x, %scale, %bias : (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale,
                       Optional<Graph_FloatTensor>:$bias,
                       Graph_Int<"-1">:$axis, Graph_Float<"1e-5f">:$epsilon);
  let results = (outs Graph_FloatTensor:$y);
}

def RmsNormOp : Graph_Op<"rms_norm", "Row", [
    DeclareOpInterfaceMethods<DecomposeOpInterface>, InPlaceOpInterface]> {
  let summary = "Normalisation by the root of the mean square";
  let description = [{
    Computes `x / sqrt(mean of x^2 + epsilon) * scale`, the mean over dimensions
    `axis` to the last; f16 and bf16 in f32.

    Constraints:
    - (rms_norm_c1) all tensors have float elements; `y` has the type of `x`.
    - (rms_norm_c2) `axis` is in [-rank, rank).
    - (rms_norm_c3) `scale` broadcasts to the shape of `x`.

    ```mlir
    %y = graph.rms_norm %x, %scale : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale,
                       Graph_Int<"-1">:$axis, Graph_Float<"1e-5f">:$epsilon);
  let results = (outs Graph_FloatTensor:$y);
}

def GroupNormOp : Graph_Op<"group_norm", "Row", [
    DeclareOpInterfaceMethods<DecomposeOpInterface>, InPlaceOpInterface]> {
  let summary = "Group normalisation";
  let description = [{
    Splits the channels (dimension 1) into `num_groups` groups, normalises each
    to mean 0 and variance 1 as `graph.layer_norm` does, then scales and shifts
    per channel. As many groups as channels make an instance normalisation.

    Constraints:
    - (group_norm_c1) `x` is a tensor of floats of rank at least 2, `y` has its
      type; `scale` and `bias` are vectors with one element per channel.
    - (group_norm_c2) `num_groups` is positive and divides the channels.

    ```mlir
    %y = graph.group_norm %x, %scale, %bias {num_groups = 2 : i64} : (tensor<8x4x5xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4x5xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias,
                       ConfinedAttr<I64Attr, [IntPositive]>:$num_groups,
                       Graph_Float<"1e-5f">:$epsilon);
  let results = (outs Graph_FloatTensor:$y);
}

def LrnOp : Graph_Op<"lrn", "Row", [
    DeclareOpInterfaceMethods<DecomposeOpInterface>]> {
  let summary = "Local response normalisation";
  let description = [{
    Computes `x / (bias + alpha / size * s) ^ beta`, where `s` is the sum of
    squares over the `size` channels around that of `x`.

    Constraints:
    - (lrn_c1) `x` is a tensor of floats of rank at least 2, `y` has its type.
    - (lrn_c2) `size` is positive.

    ```mlir
    %y = graph.lrn %x {size = 3 : i64} : (tensor<8x4x5x5xf32>) -> tensor<8x4x5x5xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x,
                       ConfinedAttr<I64Attr, [IntPositive]>:$size,
                       Graph_Float<"1e-4f">:$alpha, Graph_Float<"0.75f">:$beta,
                       Graph_Float<"1.0f">:$bias);
  let results = (outs Graph_FloatTensor:$y);
}

#endif // DLC_DIALECTS_GRAPH_GRAPHNORMALIZATION_TD
