// SPDX-License-Identifier: Apache-2.0
//
// Operations of the Kernel dialect.

#ifndef DLC_DIALECTS_KERNEL_KERNELOPS_TD
#define DLC_DIALECTS_KERNEL_KERNELOPS_TD

include "dlc/dialects/Base/BaseInterfaces.td"
include "dlc/dialects/Kernel/KernelDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<Kernel_Dialect, mnemonic, traits>;

def FuncOp : Kernel_Op<"func", [
    FunctionOpInterface, IsolatedFromAbove, AutomaticAllocationScope,
    SingleBlock, DeclareOpInterfaceMethods<LaunchableOpInterface>]> {
  let summary = "A kernel whose body becomes machine code";
  let description = [{
    First form (value semantics): arguments and results are tensors, the body
    holds Graph operations and ends in `kernel.return` of the results. Where all
    are unranked, the kernel computes tensors of any shapes that broadcast, which
    are found while running; its operations are elementwise.

    Second form (destination style, after `convert-kernel-to-linalg`):
    arguments are memrefs, inputs before outputs, the last `outputs` of them
    are written; the body holds linalg operations, or a `kernel.attention`, and
    returns nothing.
    The leading `grid` parallel dimensions of every operation of the body are
    the kernel's tiles; the runtime spreads them over its workers.

    `anyShape` is there in the second form of a kernel of any shape: arguments
    are vectors, of which each tile is `anyShape` elements. The runtime calls it
    with runs of elements, and with however many tiles these are.

    `epilogue` says of a kernel of any shape that it computes the activation
    `activation`, of `alpha` and `beta`, none where it is empty, of the sum of
    its arguments, each of which counts once; or that it is the `requantize` of
    its first argument, of which `multiplier`, `offset` and `zero_point` are
    those constants, or, where there is none, the next argument. A library call
    that makes one of the arguments, or the first, may do that itself.

    `inPlace` lists pairs (input, output): the output may overwrite the memory
    of that input, because each element is read before it is written and never
    again.

    `entry` names a call of a library that the device's maker has, which
    computes the same: the runtime takes it where it finds that library, and
    else the body. `config` holds the entry's attributes; `entryOperands` are the
    inputs that it takes, in its order, -1 for one that is absent; `workspace` is
    the number of bytes of scratch memory that one launch needs, as of
    `kernel.library`.

    Constraints:
    - (func_c1) either no argument is a memref or all are.
    - (func_c2) in destination style there are no results and
      0 < `outputs` <= number of arguments; otherwise `outputs` is absent.
    - (func_c3) `inPlace` pairs are in range.
    - (func_c4) `config`, `entryOperands` and `workspace` are there exactly with
      `entry`; `entryOperands` are in range, `workspace` is not negative.
    - (func_c5) `anyShape` is at least 1, and all arguments are vectors of as many
      elements, a multiple of it; there is nothing in place.
    - (func_c6) `epilogue` is of kernels of any shape alone; it has a string
      `activation` and may have floats `alpha` and `beta`, or, of `requantize`,
      floats `multiplier` and `offset` and an integer `zero_point`, nothing else.

    ```mlir
    kernel.func @matmul(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>) -> tensor<8x16xf32> attributes {config = {}, entry = "cublaslt.matmul", entryOperands = array<i64: 0, 1>, workspace = 1024 : i64} {
      kernel.return %a : tensor<8x16xf32>
    }
    kernel.func @add_any(%a: tensor<*xf32>, %b: tensor<*xf32>) -> tensor<*xf32> attributes {epilogue = {activation = ""}} {
      %0 = graph.add %a, %b : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
      kernel.return %0 : tensor<*xf32>
    }
    kernel.func @add_relu(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>) -> tensor<8x16xf32> attributes {inPlace = array<i64: 0, 0>} {
      kernel.return %a : tensor<8x16xf32>
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<StrAttr>:$sym_visibility,
    OptionalAttr<I64Attr>:$outputs,
    OptionalAttr<DenseI64ArrayAttr>:$grid,
    OptionalAttr<I64Attr>:$anyShape,
    OptionalAttr<DictionaryAttr>:$epilogue,
    OptionalAttr<DenseI64ArrayAttr>:$inPlace,
    OptionalAttr<StrAttr>:$entry,
    OptionalAttr<DictionaryAttr>:$config,
    OptionalAttr<DenseI64ArrayAttr>:$entryOperands,
    OptionalAttr<I64Attr>:$workspace,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// FunctionOpInterface.
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// True once arguments are memrefs.
    bool isDestinationStyle();
    /// True of a kernel of shapes that are found while running, in either form.
    bool isOfAnyShape();
  }];
}

def ReturnOp : Kernel_Op<"return", [
    Pure, HasParent<"FuncOp">, ReturnLike, Terminator]> {
  let summary = "Ends a kernel's body";
  let description = [{
    Returns the results of a kernel in value semantics; nothing in destination
    style. Constraint (return_c1): operand types equal the kernel's result
    types.

    ```mlir
    kernel.func @first(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
      kernel.return %a : tensor<8x16xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let hasVerifier = 1;
}

class Kernel_Matrix<list<MemoryEffect> effects>
    : Arg<MemRefRankOf<[F16, BF16], [2]>, "", effects>;

def AttentionOp : Kernel_Op<"attention"> {
  let summary = "Rows of an attention";
  let description = [{
    `y = softmax(masks(scale * q k^T)) v`, the softmax along rows: M rows of `q`
    (M x K), all of `k` (N x K) and `v` (N x P), and the rows of `y` (M x P) that
    belong to them; M may be dynamic, and is at most `rows`. Scores are of f32,
    and never in memory: those of some keys at once, while the greatest one and
    the sum of a row so far are kept (online softmax: Milakov and Gimelshein,
    2018; Dao, FlashAttention-2, 2023).

    Masks, M x N, which broadcast as NumPy's, are applied in their order as
    `forms` says: "add", an addition; "keep" and "drop", of booleans: where they
    are false, or true, scores become `fill`. "causal" takes no mask: scores
    beyond column `first` + row + `causal` become `fill`, `first` being the number
    of the first row. What weights of 0 are multiplied by may be left out.

    Constraints:
    - (attention_c1) `q`, `k`, `v` and `y` have one element type, and shapes as
      above.
    - (attention_c2) each mask has a form; "add" is of floats, others of i1.
    - (attention_c3) `rows` is at least 1, and all of a static M.
    - (attention_c4) `causal` is there exactly with one "causal".
    - (attention_c5) there are keys; K and P are multiples of 8, and so are the
      distances of rows, whose elements are neighbours: 16 bytes are copied at
      once.

    ```mlir
    kernel.func @attention(%q: memref<8x64xf16>, %k: memref<32x64xf16>, %v: memref<32x64xf16>, %m: memref<32xf16>, %y: memref<8x64xf16>) attributes {outputs = 1 : i64} {
      %first = arith.constant 0 : index
      kernel.attention %q, %k, %v masked(%m) into %y from %first {forms = ["add"], rows = 8 : i64, scale = 1.250000e-01 : f32} : memref<8x64xf16>, memref<32x64xf16>, memref<32x64xf16> masked(memref<32xf16>) into memref<8x64xf16>
      kernel.return
    }
    ```
  }];
  let arguments = (ins
    Kernel_Matrix<[MemRead]>:$q,
    Kernel_Matrix<[MemRead]>:$k,
    Kernel_Matrix<[MemRead]>:$v,
    Arg<Variadic<MemRefRankOf<[F16, BF16, F32, I1], [0, 1, 2]>>, "", [MemRead]>:$masks,
    Kernel_Matrix<[MemWrite]>:$y,
    Index:$first,
    F32Attr:$scale,
    DefaultValuedAttr<StrArrayAttr, "{}">:$forms,
    DefaultValuedAttr<F32Attr, "-std::numeric_limits<float>::infinity()">:$fill,
    OptionalAttr<I64Attr>:$causal,
    I64Attr:$rows);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`masked` `(` $masks^ `)`)? `into` $y `from` $first
    attr-dict
    `:` type($q) `,` type($k) `,` type($v) (`masked` `(` type($masks)^ `)`)?
    `into` type($y)
  }];
  let hasVerifier = 1;
}

def LibraryOp : Kernel_Op<"library", [
    Symbol, DeclareOpInterfaceMethods<LaunchableOpInterface>]> {
  let summary = "A kernel that is one call into a kernel library";
  let description = [{
    `entry` names the library and its entry (`cpu.conv`), or the Reference
    definition of a Graph operation (`reference.gather`), or `copy`, which
    moves one tensor between devices or into an output. `config` holds the
    entry's attributes. `workspace` is the number of bytes of scratch memory
    that one launch needs, planned in the arena like any buffer. `note` says
    why this kernel was chosen.

    ```mlir
    kernel.library @conv_relu "cpu.conv" {activation = "relu"} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
    kernel.library @gather "reference.gather" {axis = 0 : i64} workspace(256) note("no generated form") : (tensor<9xf32>, tensor<2xi64>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrAttr:$entry,
    DictionaryAttr:$config,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<I64Attr>:$workspace,
    OptionalAttr<DenseI64ArrayAttr>:$inPlace,
    OptionalAttr<StrAttr>:$note);
  let assemblyFormat = [{
    $sym_name $entry $config (`workspace` `(` $workspace^ `)`)?
    (`inPlace` `(` $inPlace^ `)`)? (`note` `(` $note^ `)`)?
    `:` $function_type attr-dict
  }];
  let hasVerifier = 1;
}

def CallOp : Kernel_Op<"call", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Applies a kernel to tensors";
  let description = [{
    The kernel phase of a program: every computation is a call of a kernel.
    Constraints:
    - (call_c1) `callee` names a `kernel.func` in value semantics, or in
      destination style, or a `kernel.library`.
    - (call_c2) the call's types are the kernel's types.

    ```mlir
    kernel.library @add_relu "reference.add" {} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %y = kernel.call @add_relu(%a, %b) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)
  }];
}

#endif // DLC_DIALECTS_KERNEL_KERNELOPS_TD
