// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations of one operand.

#ifndef DLC_DIALECTS_GRAPH_GRAPHUNARY_TD
#define DLC_DIALECTS_GRAPH_GRAPHUNARY_TD

include "dlc/dialects/Graph/GraphElementwise.td"

// `meaning` is the summary, `formula` the computation of one element, `type`
// the type of the example.
class Graph_UnaryOp<string mnemonic, Type tensor, string meaning,
                    string formula, string type = "tensor<8x16xf32>",
                    string example = "", list<Trait> traits = []>
    : Graph_ElementwiseOp<mnemonic, traits> {
  let summary = meaning;
  let description = "Computes `" # formula # "` for each element `x`.\n\n"
    "Constraints:\n- (" # mnemonic # "_c1) `x` is a " # tensor.summary # ".\n"
    "- (" # mnemonic # "_c2) `y` has the type of `x`.\n\n"
    "```mlir\n%y = graph." # mnemonic # " %x" # example # " : " # type
    # "\n```";
  let arguments = (ins tensor:$x);
  let results = (outs tensor:$y);
  let assemblyFormat =
      "$x attr-dict `:` custom<ElementwiseTypes>(type($x), type($y))";
}

// One of these has a derivative, if only zero almost everywhere.
class Graph_SmoothUnaryOp<string mnemonic, Type tensor, string meaning,
                          string formula, string example = "">
    : Graph_UnaryOp<mnemonic, tensor, meaning, formula, "tensor<8x16xf32>",
                    example, [DeclareOpInterfaceMethods<GradientOpInterface>]>;

class Graph_FloatUnaryOp<string mnemonic, string meaning, string formula,
                         string example = "">
    : Graph_SmoothUnaryOp<mnemonic, Graph_FloatTensor, meaning, formula,
                          example>;

// Arithmetic.

def AbsOp : Graph_SmoothUnaryOp<"abs", Graph_NumberTensor, "Absolute value",
    "|x|; the smallest signed integer stays as it is">;
def NegOp : Graph_SmoothUnaryOp<"neg", Graph_NumberTensor, "Negation",
    "-x; integers wrap around">;
def SignOp : Graph_SmoothUnaryOp<"sign", Graph_NumberTensor, "Sign",
    "-1, 0 or 1 as x < 0, x == 0, x > 0">;
def CeilOp : Graph_FloatUnaryOp<"ceil", "Rounding up",
    "the smallest integer not below x">;
def FloorOp : Graph_FloatUnaryOp<"floor", "Rounding down",
    "the largest integer not above x">;
def RoundOp : Graph_FloatUnaryOp<"round", "Rounding to nearest",
    "the integer nearest to x, halves to even">;
def SqrtOp : Graph_FloatUnaryOp<"sqrt", "Square root", "sqrt(x)">;
def RsqrtOp : Graph_FloatUnaryOp<"rsqrt", "Reciprocal of the square root",
    "1 / sqrt(x)">;
def ReciprocalOp : Graph_FloatUnaryOp<"reciprocal", "Reciprocal", "1 / x">;

// Transcendental functions.

def ExpOp : Graph_FloatUnaryOp<"exp", "Exponential", "e^x">;
def LogOp : Graph_FloatUnaryOp<"log", "Natural logarithm", "ln x">;
def SinOp : Graph_FloatUnaryOp<"sin", "Sine", "sin x">;
def CosOp : Graph_FloatUnaryOp<"cos", "Cosine", "cos x">;
def TanOp : Graph_FloatUnaryOp<"tan", "Tangent", "tan x">;
def AsinOp : Graph_FloatUnaryOp<"asin", "Arc sine", "asin x">;
def AcosOp : Graph_FloatUnaryOp<"acos", "Arc cosine", "acos x">;
def AtanOp : Graph_FloatUnaryOp<"atan", "Arc tangent", "atan x">;
def SinhOp : Graph_FloatUnaryOp<"sinh", "Hyperbolic sine", "sinh x">;
def CoshOp : Graph_FloatUnaryOp<"cosh", "Hyperbolic cosine", "cosh x">;
def TanhOp : Graph_FloatUnaryOp<"tanh", "Hyperbolic tangent", "tanh x">;
def AsinhOp : Graph_FloatUnaryOp<"asinh", "Inverse hyperbolic sine",
    "asinh x">;
def AcoshOp : Graph_FloatUnaryOp<"acosh", "Inverse hyperbolic cosine",
    "acosh x">;
def AtanhOp : Graph_FloatUnaryOp<"atanh", "Inverse hyperbolic tangent",
    "atanh x">;
def ErfOp : Graph_FloatUnaryOp<"erf", "Error function",
    "2/sqrt(pi) * integral of e^(-t^2) from 0 to x">;

// Activations.

def ReluOp : Graph_SmoothUnaryOp<"relu", Graph_NumberTensor,
    "Rectified linear unit", "max(x, 0); NaN stays NaN">;
def SigmoidOp : Graph_FloatUnaryOp<"sigmoid", "Logistic function",
    "1 / (1 + e^-x)">;
def SoftplusOp : Graph_FloatUnaryOp<"softplus", "Smooth rectifier",
    "ln(1 + e^x)">;
def SoftsignOp : Graph_FloatUnaryOp<"softsign", "Soft sign",
    "x / (1 + |x|)">;
def SiluOp : Graph_FloatUnaryOp<"silu", "Sigmoid-weighted linear unit",
    "x / (1 + e^-x)">;
def MishOp : Graph_FloatUnaryOp<"mish", "Mish activation",
    "x * tanh(ln(1 + e^x))">;
def HardSwishOp : Graph_FloatUnaryOp<"hard_swish", "Piecewise linear swish",
    "x * max(0, min(1, x / 6 + 0.5))">;

def EluOp : Graph_FloatUnaryOp<"elu", "Exponential linear unit",
    "x < 0 ? alpha * (e^x - 1) : x", " {alpha = 5.000000e-01 : f32}"> {
  let arguments = (ins Graph_FloatTensor:$x, Graph_Float<"1.0f">:$alpha);
}
def SeluOp : Graph_FloatUnaryOp<"selu", "Scaled exponential linear unit",
    "x > 0 ? gamma * x : gamma * (alpha * e^x - alpha)"> {
  let arguments = (ins Graph_FloatTensor:$x,
                       Graph_Float<"1.67326319f">:$alpha,
                       Graph_Float<"1.05070102f">:$gamma);
}
def CeluOp : Graph_FloatUnaryOp<"celu", "Continuous exponential linear unit",
    "max(0, x) + min(0, alpha * (e^(x / alpha) - 1))"> {
  let arguments = (ins Graph_FloatTensor:$x, Graph_Float<"1.0f">:$alpha);
}
def LeakyReluOp : Graph_FloatUnaryOp<"leaky_relu", "Leaky rectifier",
    "x < 0 ? alpha * x : x", " {alpha = 1.000000e-01 : f32}"> {
  let arguments = (ins Graph_FloatTensor:$x, Graph_Float<"0.01f">:$alpha);
}
def HardSigmoidOp : Graph_FloatUnaryOp<"hard_sigmoid",
    "Piecewise linear sigmoid", "max(0, min(1, alpha * x + beta))"> {
  let arguments = (ins Graph_FloatTensor:$x, Graph_Float<"0.2f">:$alpha,
                       Graph_Float<"0.5f">:$beta);
}
def ThresholdedReluOp : Graph_FloatUnaryOp<"thresholded_relu",
    "Rectifier with a threshold", "x > alpha ? x : 0"> {
  let arguments = (ins Graph_FloatTensor:$x, Graph_Float<"1.0f">:$alpha);
}
def ShrinkOp : Graph_SmoothUnaryOp<"shrink", Graph_NumberTensor,
    "Shrinkage towards zero",
    "x < -lambd ? x + bias : x > lambd ? x - bias : 0"> {
  let arguments = (ins Graph_NumberTensor:$x, Graph_Float<"0.0f">:$bias,
                       Graph_Float<"0.5f">:$lambd);
}
def GeluOp : Graph_FloatUnaryOp<"gelu", "Gaussian error linear unit",
    "x/2 * (1 + erf(x / sqrt 2)), or, when `approximate` is \"tanh\", "
    "x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))",
    " {approximate = \"tanh\"}"> {
  let arguments = (ins Graph_FloatTensor:$x,
    DefaultValuedStrAttr<Graph_Choice<["none", "tanh"]>, "none">:$approximate);
}
def SwishOp : Graph_FloatUnaryOp<"swish", "Swish with a slope",
    "x * sigmoid(alpha * x)"> {
  let arguments = (ins Graph_FloatTensor:$x, Graph_Float<"1.0f">:$alpha);
}

def StopGradientOp : Graph_UnaryOp<"stop_gradient", Graph_Tensor,
    "Identity that ends gradients", "x", "tensor<8x16xf32>", "",
    [DeclareOpInterfaceMethods<GradientOpInterface, ["passesGradientTo"]>]> {
  let description = [{
    The elements of `x`. Nothing is differentiated through it: the gradient of
    `x` is 0.

    Constraints:
    - (stop_gradient_c1) `y` has the type of `x`.

    ```mlir
    %y = graph.stop_gradient %x : tensor<8x16xf32>
    ```
  }];
}

// Bits and predicates.

def LogicalNotOp : Graph_UnaryOp<"logical_not", Graph_BoolTensor,
    "Logical negation", "not x", "tensor<8xi1>">;
def BitwiseNotOp : Graph_UnaryOp<"bitwise_not", Graph_IntTensor,
    "Negation of every bit", "~x", "tensor<8xui8>">;

// Unary operations whose result has another element type. `what` says which.
class Graph_ConvertingOp<string mnemonic, Type from, Type to, string what,
                         list<Trait> traits = []>
    : Graph_UnaryOp<mnemonic, from, "", "", "", "", traits> {
  let description = what;
  let results = (outs to:$y);
}

def IsNanOp : Graph_ConvertingOp<"is_nan", Graph_FloatTensor,
    Graph_BoolTensor, [{
    Tells which elements are NaN.

    Constraint (is_nan_c1): `x` is a tensor of floats, `y` of bool.

    ```mlir
    %y = graph.is_nan %x : (tensor<8xf32>) -> tensor<8xi1>
    ```
  }]> {
  let summary = "Test for NaN";
}

def IsInfOp : Graph_ConvertingOp<"is_inf", Graph_FloatTensor,
    Graph_BoolTensor, [{
    Tells which elements are infinite, of the signs asked for.

    Constraint (is_inf_c1): `x` is a tensor of floats, `y` of bool.

    ```mlir
    %y = graph.is_inf %x {detect_negative = false} : (tensor<8xf32>) -> tensor<8xi1>
    ```
  }]> {
  let summary = "Test for infinity";
  let arguments = (ins Graph_FloatTensor:$x,
                       Graph_Bool<"true">:$detect_positive,
                       Graph_Bool<"true">:$detect_negative);
}

def CastOp : Graph_ConvertingOp<"cast", Graph_Tensor, Graph_Tensor, [{
    Converts every element to `to`. Floats become the nearest integer towards
    zero that the type holds, NaN becomes 0; integers wrap around; anything but
    zero becomes true. `saturate` concerns 8-bit floats, which are no plain
    types.

    Constraint (cast_c1): the element type of `y` is `to`.

    ```mlir
    %y = graph.cast %x {to = i64} : (tensor<8xf32>) -> tensor<8xi64>
    ```
  }], [DeclareOpInterfaceMethods<GradientOpInterface>,
       DeclareOpInterfaceMethods<ShapeValueOpInterface>]> {
  let summary = "Conversion of the element type";
  let arguments = (ins Graph_Tensor:$x, Graph_TypeAttr:$to,
                       Graph_Bool<"true">:$saturate);
  let hasFolder = 1;
}

def BitCastOp : Graph_ConvertingOp<"bit_cast", Graph_Tensor, Graph_Tensor, [{
    Reads the bits of every element as the type `to`.

    Constraints:
    - (bit_cast_c1) the element type of `y` is `to`.
    - (bit_cast_c2) both element types have the same size.

    ```mlir
    %y = graph.bit_cast %x {to = i32} : (tensor<8xf32>) -> tensor<8xi32>
    ```
  }]> {
  let summary = "Reinterpretation of the bits of elements";
  let arguments = (ins Graph_Tensor:$x, Graph_TypeAttr:$to);
  let hasFolder = 1;
}

#endif // DLC_DIALECTS_GRAPH_GRAPHUNARY_TD
