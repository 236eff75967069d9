// SPDX-License-Identifier: Apache-2.0
//
// Reductions and scans.

#ifndef DLC_DIALECTS_GRAPH_GRAPHREDUCTION_TD
#define DLC_DIALECTS_GRAPH_GRAPHREDUCTION_TD

include "dlc/dialects/Graph/GraphBase.td"

class Graph_ReduceOp<string mnemonic, Type tensor, string meaning,
                     string details, list<Trait> traits = []>
    : Graph_Op<mnemonic, "Reduction", [LayoutOpInterface] # traits> {
  let methods = [{
    std::optional<::dlc::graph::PermutedOp>
    permute(::llvm::ArrayRef<int64_t> perm) {
      if (!getKeepdims())
        return std::nullopt;
      if (!getAxes())
        return ::dlc::graph::PermutedOp();
      return ::dlc::graph::detail::permuteAxes(getAxesMutable()[0], perm);
    }
    std::optional<::dlc::graph::PermutedOp> block(int64_t) {
      if (!getAxes())
        return std::nullopt;
      return ::dlc::graph::detail::blockReduction(getAxesMutable()[0],
                                                  getKeepdims());
    }
    bool keepsChannelsApart() { return true; }
  }];
  let summary = meaning;
  let description = details # " Reduces the dimensions in `axes`, all of them "
    "when the operand is absent and none when it is empty. Reduced dimensions "
    "stay as 1 when `keepdims`.\n\nConstraints:\n- (" # mnemonic
    # "_c1) `x` is a " # tensor.summary # "; `y` has its element type.\n- ("
    # mnemonic # "_c2) `axes` is a vector of distinct numbers in [-rank, rank)"
    ".\n\n```mlir\n%i1 = graph.constant dense<1> : tensor<1xi64>\n%y = graph."
    # mnemonic # " %x, %i1 {keepdims = false} : "
    "(tensor<8x16xf32>, tensor<1xi64>) -> tensor<8xf32>\n```";
  let arguments = (ins tensor:$x, Optional<Graph_I64Tensor>:$axes,
                       Graph_Bool<"true">:$keepdims);
  let results = (outs tensor:$y);
}

def ReduceSumOp : Graph_ReduceOp<"reduce_sum", Graph_NumberTensor, "Sum",
    "The sum of elements, 0 over none; integers wrap around.",
    [DeclareOpInterfaceMethods<GradientOpInterface>,
     DeclareOpInterfaceMethods<ReductionOpInterface, ["foldInParts"]>]>;
def ReduceMeanOp : Graph_ReduceOp<"reduce_mean", Graph_NumberTensor,
    "Arithmetic mean", "The sum of elements divided by their number.",
    [DeclareOpInterfaceMethods<DecomposeOpInterface, ["hasFasterParts"]>]>;
def ReduceMaxOp : Graph_ReduceOp<"reduce_max", Graph_Tensor, "Largest element",
    "The largest element; NaN if any is NaN; the type's lowest value over none; "
    "or, for bool. Of equal largest elements each has the whole gradient, as in "
    "MXNet 1.9.1 (PyTorch's amax divides it among them).",
    [DeclareOpInterfaceMethods<GradientOpInterface>,
     DeclareOpInterfaceMethods<ReductionOpInterface, ["foldInParts"]>]>;
def ReduceMinOp : Graph_ReduceOp<"reduce_min", Graph_Tensor,
    "Smallest element",
    "The smallest element; NaN if any is NaN; the type's highest value over "
    "none; and, for bool. Of equal smallest elements each has the whole "
    "gradient, as in MXNet 1.9.1 (PyTorch's amin divides it among them).",
    [DeclareOpInterfaceMethods<GradientOpInterface>,
     DeclareOpInterfaceMethods<ReductionOpInterface, ["foldInParts"]>]>;
def ReduceProdOp : Graph_ReduceOp<"reduce_prod", Graph_NumberTensor, "Product",
    "The product of elements, 1 over none; integers wrap around.",
    [DeclareOpInterfaceMethods<GradientOpInterface>,
     DeclareOpInterfaceMethods<ReductionOpInterface>]>;

class Graph_ArgOp<string mnemonic, string meaning>
    : Graph_Op<mnemonic, "Row", [
          DeclareOpInterfaceMethods<DecomposeOpInterface>,
          LayoutOpInterface]> {
  let methods = [{
    std::optional<::dlc::graph::PermutedOp>
    permute(::llvm::ArrayRef<int64_t> perm) {
      if (!getKeepdims())
        return std::nullopt;
      return ::dlc::graph::detail::permuteAxis(*this, perm);
    }
  }];
  let summary = meaning;
  let description = "The index along `axis`, the first of equals or, when "
    "`select_last_index`, the last.\n\nConstraints:\n- (" # mnemonic
    # "_c1) `x` is a tensor of numbers, `y` of i64.\n- (" # mnemonic
    # "_c2) `axis` is in [-rank, rank).\n\n```mlir\n%y = graph." # mnemonic
    # " %x {axis = 1 : i64, keepdims = false} : (tensor<8x16xf32>) -> "
    "tensor<8xi64>\n```";
  let arguments = (ins Graph_NumberTensor:$x, Graph_Int<"0">:$axis,
                       Graph_Bool<"true">:$keepdims,
                       Graph_Bool<"false">:$select_last_index);
  let results = (outs Graph_I64Tensor:$y);
}

def ArgMaxOp : Graph_ArgOp<"arg_max", "Index of the largest element">;
def ArgMinOp : Graph_ArgOp<"arg_min", "Index of the smallest element">;

class Graph_ScanOp<string mnemonic, string meaning, string initial>
    : Graph_Op<mnemonic, "Opaque", [
          DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = meaning;
  let description = "The " # mnemonic # " of the elements up to each one along "
    "`axis`, without itself when `exclusive` (the first is " # initial
    # "), from the end when `reverse`.\n\nConstraints:\n- (" # mnemonic
    # "_c1) `y` has the type of `x`, numbers.\n- (" # mnemonic
    # "_c2) `axis` is a scalar in [-rank, rank).\n\n```mlir\n"
    "%i0 = graph.constant dense<0> : tensor<i64>\n%y = graph." # mnemonic
    # " %x, %i0 {exclusive = true} : (tensor<8xf32>, tensor<i64>) -> "
    "tensor<8xf32>\n```";
  let arguments = (ins Graph_NumberTensor:$x, Graph_I64Tensor:$axis,
                       Graph_Bool<"false">:$exclusive,
                       Graph_Bool<"false">:$reverse);
  let results = (outs Graph_NumberTensor:$y);
}

def CumsumOp : Graph_ScanOp<"cumsum", "Running sum", "0">;
def CumprodOp : Graph_ScanOp<"cumprod", "Running product", "1">;

#endif // DLC_DIALECTS_GRAPH_GRAPHREDUCTION_TD
