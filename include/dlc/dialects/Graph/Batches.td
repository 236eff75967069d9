// SPDX-License-Identifier: Apache-2.0
//
// The interface of operations that can compute a batch in parts.

#ifndef DLC_DIALECTS_GRAPH_BATCHES_TD
#define DLC_DIALECTS_GRAPH_BATCHES_TD

include "mlir/IR/OpBase.td"

def BatchOpInterface : OpInterface<"BatchOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = [{
    Operations, most of one result, that can compute each part of a batch, the first
    dimension of some operands, by itself. Elementwise operations need no rule
    of their own: theirs is that of broadcasting.
  }];
  let methods = [InterfaceMethod<[{
      What belongs to the batch; nullopt where each result needs all of it.
    }],
    "std::optional<::dlc::graph::Batched>", "getBatched", (ins)>,
    InterfaceMethod<[{
      Where the batch is in operands and results of an operation that has it in
      other dimensions, too, and computes each example by itself; nullopt for
      others.
    }],
    "std::optional<::dlc::graph::BatchDims>", "getBatchDims", (ins), "",
    "return std::nullopt;">,
    InterfaceMethod<[{
      Has an operation of getBatched(), whose operands of the batch have `examples`
      now, compute so many, where another operand says how many there are.
      Results get their types from whoever asks.
    }],
    "void", "setExamples", (ins "::mlir::OpBuilder &":$builder,
                                "int64_t":$examples), "", "return;">];
}

#endif // DLC_DIALECTS_GRAPH_BATCHES_TD
