// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers.

#ifndef DLC_DIALECTS_GRAPH_GRAPHRECURRENT_TD
#define DLC_DIALECTS_GRAPH_GRAPHRECURRENT_TD

include "dlc/dialects/Graph/GraphBase.td"

defvar Graph_RecurrentDoc = [{
`x` is (steps, batch, input) or, when `layout` is 1, (batch, steps, input).
`activations` is a comma-separated list of one set per direction, empty for the
usual ones. `clip` limits the arguments of activations; 0 means no limit.
Operands from `b` on may be none.

Constraints:
- (NAME_c1) all tensors have the same float element type, but `sequence_lens`,
  which is i32 with one number per batch.
- (NAME_c2) `x`, `w` and `r` have rank 3; `w` and `r` have one matrix per
  direction with rows of `hidden_size` times the number of gates.
}];

class Graph_RecurrentOp<string mnemonic, string meaning, string example>
    : Graph_Op<mnemonic, "Opaque", [
          DeclareOpInterfaceMethods<DecomposeOpInterface>]> {
  let summary = meaning;
  let description = meaning # " over a sequence, as in ONNX. "
    # !subst("NAME", mnemonic, Graph_RecurrentDoc) # "\n```mlir\n"
    # "%none = graph.none : none\n" # example # "\n```";
  // Shared by the three.
  dag operandsHead = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$w,
    Graph_FloatTensor:$r, Graph_OrNone<Graph_FloatTensor>:$b,
    Graph_OrNone<TensorOf<[I32]>>:$sequence_lens,
    Graph_OrNone<Graph_FloatTensor>:$initial_h);
  dag attributesHead = (ins
    DefaultValuedStrAttr<Graph_Choice<["forward", "reverse", "bidirectional"]>,
                         "forward">:$direction,
    ConfinedAttr<I64Attr, [IntPositive]>:$hidden_size,
    Graph_Int<"0">:$layout, DefaultValuedStrAttr<StrAttr, "">:$activations,
    Graph_Floats:$activation_alpha, Graph_Floats:$activation_beta,
    Graph_Float<"0.0f">:$clip);
  let results = (outs Graph_FloatTensor:$y, Graph_FloatTensor:$y_h);
}

def RnnOp : Graph_RecurrentOp<"rnn", "Simple recurrent layer",
    "%y, %h = graph.rnn %x, %w, %r, %none, %none, %none {hidden_size = 4 : i64} "
    ": (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, none, none, "
    "none) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)"> {
  let arguments = !con(operandsHead, attributesHead);
}

def GruOp : Graph_RecurrentOp<"gru", "Gated recurrent unit",
    "%y, %h = graph.gru %x, %w, %r, %none, %none, %none {hidden_size = 4 : i64} "
    ": (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, none, none, "
    "none) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)"> {
  let arguments = !con(operandsHead, attributesHead,
                       (ins Graph_Bool<"false">:$linear_before_reset));
}

def LstmOp : Graph_RecurrentOp<"lstm", "Long short-term memory",
    "%y, %h, %c = graph.lstm %x, %w, %r, %none, %none, %none, %none, %none "
    "{hidden_size = 4 : i64} : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, "
    "tensor<1x16x4xf32>, none, none, none, none, none) -> "
    "(tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)"> {
  let arguments = !con(operandsHead,
                       (ins Graph_OrNone<Graph_FloatTensor>:$initial_c,
                            Graph_OrNone<Graph_FloatTensor>:$p),
                       attributesHead,
                       (ins Graph_Bool<"false">:$input_forget));
  let results = (outs Graph_FloatTensor:$y, Graph_FloatTensor:$y_h,
                      Graph_FloatTensor:$y_c);
}

#endif // DLC_DIALECTS_GRAPH_GRAPHRECURRENT_TD
