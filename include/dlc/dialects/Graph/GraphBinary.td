// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations of two and three operands.

#ifndef DLC_DIALECTS_GRAPH_GRAPHBINARY_TD
#define DLC_DIALECTS_GRAPH_GRAPHBINARY_TD

include "dlc/dialects/Graph/GraphElementwise.td"

class Graph_BinaryOp<string mnemonic, Type tensor, string meaning,
                     string formula, string element = "f32",
                     list<Trait> traits = []>
    : Graph_ElementwiseOp<mnemonic, traits> {
  let summary = meaning;
  let description = "Computes `" # formula # "` for each pair of elements.\n\n"
    "Constraints:\n- (" # mnemonic # "_c1) `a` and `b` are " # tensor.summary
    # "s with the same element type, which is that of `y`.\n- (" # mnemonic
    # "_c2) the shapes broadcast.\n\n```mlir\n%y = graph." # mnemonic
    # " %a, %b : (tensor<8x16x" # element # ">, tensor<16x" # element
    # ">) -> tensor<8x16x" # element # ">\n```";
  let arguments = (ins tensor:$a, tensor:$b);
  let results = (outs tensor:$y);
  let assemblyFormat = [{
    $a `,` $b attr-dict `:`
    custom<ElementwiseTypes>(type($a), type($b), type($y))
  }];
}

class Graph_CompareOp<string mnemonic, Type tensor, string meaning,
                      string formula>
    : Graph_BinaryOp<mnemonic, tensor, meaning, formula> {
  let description = "Computes `" # formula # "` for each pair of elements; "
    "comparisons with NaN are false.\n\nConstraints:\n- (" # mnemonic
    # "_c1) `a` and `b` are " # tensor.summary
    # "s with the same element type; `y` is a tensor of bool.\n- (" # mnemonic
    # "_c2) the shapes broadcast.\n\n```mlir\n%y = graph." # mnemonic
    # " %a, %b : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xi1>\n```";
  let results = (outs Graph_BoolTensor:$y);
}

// Arithmetic.

def AddOp : Graph_BinaryOp<"add", Graph_NumberTensor, "Sum",
    "a + b; integers wrap around", "f32",
    [DeclareOpInterfaceMethods<GradientOpInterface>,
     DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let hasFolder = 1;
}
def SubOp : Graph_BinaryOp<"sub", Graph_NumberTensor, "Difference",
    "a - b; integers wrap around", "f32",
    [DeclareOpInterfaceMethods<GradientOpInterface>,
     DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let hasFolder = 1;
}
def MulOp : Graph_BinaryOp<"mul", Graph_NumberTensor, "Product",
    "a * b; integers wrap around", "f32",
    [DeclareOpInterfaceMethods<GradientOpInterface>,
     DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let hasFolder = 1;
}
def DivOp : Graph_BinaryOp<"div", Graph_NumberTensor, "Quotient",
    "a / b; integers truncate towards zero, x / 0 is 0, the smallest integer "
    "divided by -1 wraps around", "f32",
    [DeclareOpInterfaceMethods<GradientOpInterface>,
     DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let hasFolder = 1;
}
def ModOp : Graph_BinaryOp<"mod", Graph_NumberTensor, "Remainder",
    "a mod b with the sign of b, or with the sign of a when `fmod`; "
    "integers modulo 0 are 0", "f32",
    [DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let arguments = (ins Graph_NumberTensor:$a, Graph_NumberTensor:$b,
                       Graph_Bool<"false">:$fmod);
}
def MaxOp : Graph_BinaryOp<"max", Graph_NumberTensor, "Larger of two",
    "max(a, b); NaN if either is NaN", "f32",
    [DeclareOpInterfaceMethods<GradientOpInterface>]>;
def MinOp : Graph_BinaryOp<"min", Graph_NumberTensor, "Smaller of two",
    "min(a, b); NaN if either is NaN", "f32",
    [DeclareOpInterfaceMethods<GradientOpInterface>]>;

def PowOp : Graph_BinaryOp<"pow", Graph_NumberTensor, "Power", "", "f32",
    [DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let description = [{
    Computes `a ^ b` for each pair of elements.

    Constraints:
    - (pow_c1) `a` and `b` are tensors of integers or floats; `y` has the
      element type of `a`.
    - (pow_c2) the shapes broadcast.

    ```mlir
    %y = graph.pow %a, %b : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
    ```
  }];
}

def PreluOp : Graph_BinaryOp<"prelu", Graph_NumberTensor,
    "Rectifier with a slope per element", "a < 0 ? b * a : a", "f32",
    [DeclareOpInterfaceMethods<GradientOpInterface>]>;

// Bits.

def LogicalAndOp : Graph_BinaryOp<"logical_and", Graph_BoolTensor,
    "Logical and", "a and b", "i1">;
def LogicalOrOp : Graph_BinaryOp<"logical_or", Graph_BoolTensor,
    "Logical or", "a or b", "i1">;
def LogicalXorOp : Graph_BinaryOp<"logical_xor", Graph_BoolTensor,
    "Logical exclusive or", "a xor b", "i1">;
def BitwiseAndOp : Graph_BinaryOp<"bitwise_and", Graph_IntTensor,
    "And of every bit", "a & b", "i32">;
def BitwiseOrOp : Graph_BinaryOp<"bitwise_or", Graph_IntTensor,
    "Or of every bit", "a | b", "i32">;
def BitwiseXorOp : Graph_BinaryOp<"bitwise_xor", Graph_IntTensor,
    "Exclusive or of every bit", "a ^ b", "i32">;
def ShiftLeftOp : Graph_BinaryOp<"shift_left", Graph_IntTensor,
    "Shift to the left", "a << b; 0 when b is not below the width of a",
    "ui32">;
def ShiftRightOp : Graph_BinaryOp<"shift_right", Graph_IntTensor,
    "Shift to the right",
    "a >> b, arithmetic when signed; as if by the width of a less 1 (signed) "
    "or 0 (unsigned) when b is not below the width of a", "ui32">;

// Comparisons.

def EqualOp : Graph_CompareOp<"equal", Graph_Tensor, "Equality", "a == b">;
def LessOp : Graph_CompareOp<"less", Graph_NumberTensor, "Less than",
    "a < b">;
def LessEqualOp : Graph_CompareOp<"less_equal", Graph_NumberTensor,
    "Less than or equal", "a <= b">;
def GreaterOp : Graph_CompareOp<"greater", Graph_NumberTensor,
    "Greater than", "a > b">;
def GreaterEqualOp : Graph_CompareOp<"greater_equal", Graph_NumberTensor,
    "Greater than or equal", "a >= b">;

// Three operands.

def SelectOp : Graph_ElementwiseOp<"select", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = "Choice between two tensors";
  let description = [{
    Computes `cond ? a : b` for each element.

    Constraints:
    - (select_c1) `cond` is a tensor of bool; `a`, `b` and `y` have the same
      element type.
    - (select_c2) the three shapes broadcast.

    ```mlir
    %y = graph.select %cond, %a, %b : (tensor<8x1xi1>, tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_BoolTensor:$cond, Graph_Tensor:$a,
                       Graph_Tensor:$b);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = [{
    $cond `,` $a `,` $b attr-dict `:`
    custom<ElementwiseTypes>(type($cond), type($a), type($b), type($y))
  }];
  let hasFolder = 1;
}

def ClampOp : Graph_ElementwiseOp<"clamp", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = "Limitation to a range";
  let description = [{
    Computes `min(max(x, lo), hi)` for each element.

    Constraints:
    - (clamp_c1) all operands and `y` have the same element type, a number.
    - (clamp_c2) the three shapes broadcast.

    ```mlir
    %y = graph.clamp %x, %lo, %hi : (tensor<8x16xf32>, tensor<f32>, tensor<f32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, Graph_NumberTensor:$lo,
                       Graph_NumberTensor:$hi);
  let results = (outs Graph_NumberTensor:$y);
  let assemblyFormat = [{
    $x `,` $lo `,` $hi attr-dict `:`
    custom<ElementwiseTypes>(type($x), type($lo), type($hi), type($y))
  }];
}

def ReplaceGradientOp : Graph_ElementwiseOp<"replace_gradient", [
    DeclareOpInterfaceMethods<GradientOpInterface, ["passesGradientTo"]>]> {
  let summary = "A value with a gradient that is given";
  let description = [{
    The elements of `value`. Where it is differentiated, the gradient of `x` is
    `gradient`, whatever that of the result is, or with `scaled` their product;
    those of the other operands are 0. So layers end a network whose gradient is
    not the derivative of what they give forward (MXNet's `SoftmaxOutput`).

    Constraints:
    - (replace_gradient_c1) all operands and `y` have the same type, floats.

    ```mlir
    %y = graph.replace_gradient %value, %x, %gradient : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$value, Graph_FloatTensor:$x,
                       Graph_FloatTensor:$gradient,
                       Graph_Bool<"false">:$scaled);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = [{
    $value `,` $x `,` $gradient attr-dict `:`
    custom<ElementwiseTypes>(type($value), type($x), type($gradient), type($y))
  }];
}

#endif // DLC_DIALECTS_GRAPH_GRAPHBINARY_TD
