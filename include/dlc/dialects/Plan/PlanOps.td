// SPDX-License-Identifier: Apache-2.0
//
// Operations of the Plan dialect.

#ifndef DLC_DIALECTS_PLAN_PLANOPS_TD
#define DLC_DIALECTS_PLAN_PLANOPS_TD

include "dlc/dialects/Base/BaseDialect.td"
include "dlc/dialects/Base/BaseInterfaces.td"
include "dlc/dialects/Base/ElementTypes.td"
include "dlc/dialects/Plan/PlanDialect.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Plan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Plan_Dialect, mnemonic, traits>;

/// An operation that names memory inside a program.
class Plan_ValueOp<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, traits>;

// Memory: plain elements in row-major order, in the device's only space, whose
// bytes can be counted.
def Plan_RowMajor : CPred<
    "::dlc::plan::isRowMajor(::llvm::cast<::mlir::BaseMemRefType>($_self))">;
def Plan_Memory : ConfinedType<
    AnyTypeOf<[MemRefOf<Base_PlainTypes>, UnrankedMemRefOf<Base_PlainTypes>]>,
    [Plan_RowMajor], "row-major memory of bool, integers or floats",
    "::mlir::BaseMemRefType">;
def Plan_RankedMemory : ConfinedType<
    MemRefOf<Base_PlainTypes>, [Plan_RowMajor],
    "ranked row-major memory of bool, integers or floats",
    "::mlir::MemRefType">;
def Plan_StaticMemory : ConfinedType<
    StaticShapeMemRefOf<Base_PlainTypes>, [Plan_RowMajor],
    "static row-major memory of bool, integers or floats",
    "::mlir::MemRefType">;
def Plan_Operand : AnyTypeOf<[Plan_Memory, NoneType]>;

def ProgramOp : Plan_Op<"program", [
    Symbol, IsolatedFromAbove, NoTerminator, SingleBlock,
    NoRegionArguments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A program: memory and launches in execution order";
  let description = [{
    A program `by_rows` is a batch of any size: the programs that it names each
    compute `rows` examples, and it runs them over its inputs and outputs, whose
    first dimension it leaves open. Where theirs is known, all examples share
    the value. A program `by_shape` runs the one of the programs that it names
    whose inputs have the shapes that are bound; each may be one `by_rows`. Extents
    that its inputs and outputs name as `padded`, by numbers from 0 on, may be
    smaller than in all of these: what is bound then is followed by copies of
    its last elements, and what lies behind results is left out. Each of the programs takes the sizes of
    these extents as inputs of their own behind the others. One that leaves such
    an extent open takes what fits no other.

    Constraints:
    - (program_c1) inputs and outputs are numbered 0, 1, ... without gaps.
    - (program_c2) arenas have distinct names.
    - (program_c3) no device has two arenas.
    - (program_c4) an output that updates an input has its type, which is static,
      and no input has two of them.
    - (program_c5) a program `by_rows` or `by_shape` has inputs and outputs and
      nothing else, and updates nothing.
    - (program_c6) it names programs of descending `rows`, the last of one, with
      its inputs and outputs by name and type, but for the first dimension where
      it is open: there they have as many rows for each example.
    - (program_c7) a program `by_shape` names programs that are not, with its
      inputs and outputs by name and type, but for extents that it leaves open.
    - (program_c8) of a program `by_shape` alone inputs and outputs are `padded`;
      each of the programs that it names has an input of memref<i64> more for each
      of these extents, of which some input tells the size.

    ```mlir
    plan.program @main {
      plan.arena @cpu0 <cpu:0> size(64) lower_bound(64)
      %x = plan.input 0 "x" : memref<4xf32>
      %y = plan.output 0 "y" : memref<4xf32>
      %t = plan.slice @cpu0[0 for 16] : memref<4xf32>
    }
    plan.program @any by_rows([@main_16, @main_1]) {
      %x = plan.input 0 "x" : memref<?x4xf32>
      %y = plan.output 0 "y" : memref<?x4xf32>
    }
    plan.program @main_16 rows(16) {
      %x = plan.input 0 "x" : memref<16x4xf32>
      %y = plan.output 0 "y" : memref<16x4xf32>
    }
    plan.program @main_1 rows(1) {
      %x = plan.input 0 "x" : memref<1x4xf32>
      %y = plan.output 0 "y" : memref<1x4xf32>
    }
    plan.program @shapes by_shape([@main_1, @any]) {
      %x = plan.input 0 "x" : memref<?x4xf32>
      %y = plan.output 0 "y" : memref<?x4xf32>
    }
    plan.program @padded by_shape([@main_32]) {
      %x = plan.input 0 "x" padded([0, -1]) : memref<?x4xf32>
      %y = plan.output 0 "y" padded([0, -1]) : memref<?x4xf32>
    }
    plan.program @main_32 {
      %x = plan.input 0 "x" : memref<32x4xf32>
      %n = plan.input 1 "size of length" : memref<i64>
      %y = plan.output 0 "y" : memref<32x4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<I64Attr>:$rows,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$byRows,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$byShape);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`rows` `(` $rows^ `)`)? (`by_rows` `(` $byRows^ `)`)?
    (`by_shape` `(` $byShape^ `)`)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The names of the programs that it runs, instead of launches; null where
    /// it runs by itself.
    ::mlir::ArrayAttr getParts() {
      return getByShapeAttr() ? getByShapeAttr() : getByRowsAttr();
    }
  }];
}

def ArenaOp : Plan_Op<"arena", [HasParent<"ProgramOp">]> {
  let summary = "One block of memory on a device";
  let description = [{
    Every static transient of the device lies in it at a fixed offset.
    `lowerBound` is the peak of live bytes: no packing can be smaller.
    Constraint (arena_c1): 0 <= lowerBound <= size.

    ```mlir
    plan.arena @cpu0 <cpu:0> size(4194304) lower_bound(4194304)
    ```
  }];
  let arguments = (ins StrAttr:$sym_name, DeviceAttr:$device,
                       I64Attr:$size, I64Attr:$lowerBound);
  let assemblyFormat = [{
    custom<SymbolName>($sym_name) $device `size` `(` $size `)`
    `lower_bound` `(` $lowerBound `)` attr-dict
  }];
  let hasVerifier = 1;
}

def InputOp : Plan_ValueOp<"input", [HasParent<"ProgramOp">]> {
  let summary = "Memory that the caller binds and the program reads";
  let description = [{
    Not written but through an output that updates it. `random` marks the state
    of random numbers: a seed and the number of the run, which whoever runs the
    program may set.

    Constraint (input_c1): what is `random` is a memref<2xi64>.

    ```mlir
    %x = plan.input 0 "data" : memref<1x3x224x224xf32>
    %r = plan.input 1 "random" random : memref<2xi64>
    ```
  }];
  let arguments = (ins I64Attr:$index, StrAttr:$name, UnitAttr:$random,
                       OptionalAttr<DenseI64ArrayAttr>:$padded);
  let results = (outs Plan_Memory:$memory);
  let assemblyFormat = [{
    $index $name (`random` $random^)? (`padded` `(` $padded^ `)`)? attr-dict `:`
    type($memory)
  }];
  let hasVerifier = 1;
}

def OutputOp : Plan_ValueOp<"output", [HasParent<"ProgramOp">]> {
  let summary = "Memory that the caller binds and the program writes";
  let description = [{
    With `updates` it is the memory of the input of that number: state that one
    run leaves to the next. It is written after everything that reads the input
    has run, or by a launch that may do both in place (`plan-verify`).

    ```mlir
    %w = plan.input 0 "weight" : memref<16xf32>
    %y = plan.output 0 "prob" : memref<1x1000xf32>
    %n = plan.output 1 "new weight" updates(0) : memref<16xf32>
    ```
  }];
  let arguments = (ins I64Attr:$index, StrAttr:$name,
                       OptionalAttr<I64Attr>:$updates,
                       OptionalAttr<DenseI64ArrayAttr>:$padded);
  let results = (outs Plan_Memory:$memory);
  let assemblyFormat = [{
    $index $name (`updates` `(` $updates^ `)`)? (`padded` `(` $padded^ `)`)?
    attr-dict `:` type($memory)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$memory, "int64_t":$index,
                                 "::llvm::StringRef":$name), [{
    build($_builder, $_state, memory, index, name, /*updates=*/{},
          /*padded=*/{});
  }]>];
}

def ConstantOp : Plan_ValueOp<"constant", [HasParent<"ProgramOp">]> {
  let summary = "Memory inside the artifact";
  let description = [{
    `offset` is its place in the artifact's constants section, assigned by
    `plan-pack-arenas`. Constraint (constant_c1): the value has the memory's
    shape and element type.

    ```mlir
    %w = plan.constant dense<1.0> : tensor<4xf32> : memref<4xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value, OptionalAttr<I64Attr>:$offset);
  let results = (outs Plan_StaticMemory:$memory);
  let assemblyFormat = [{
    $value (`at` `(` $offset^ `)`)? attr-dict `:` type($memory)
  }];
  let hasVerifier = 1;
}

def NoneOp : Plan_ValueOp<"none", [HasParent<"ProgramOp">, Pure]> {
  let summary = "An absent optional operand";
  let description = [{
    ```mlir
    %none = plan.none
    ```
  }];
  let results = (outs NoneType:$result);
  let assemblyFormat = "attr-dict";
}

def BufferOp : Plan_ValueOp<"buffer", [HasParent<"ProgramOp">]> {
  let summary = "A transient that has no place yet";
  let description = [{
    `plan-pack-arenas` turns it into a `plan.slice` of its device's arena.

    ```mlir
    %t = plan.buffer <cpu:0> : memref<8x16xf32>
    ```
  }];
  let arguments = (ins DeviceAttr:$device);
  let results = (outs Plan_StaticMemory:$memory);
  let assemblyFormat = "$device attr-dict `:` type($memory)";
}

def SliceOp : Plan_ValueOp<"slice", [HasParent<"ProgramOp">]> {
  let summary = "A transient at its place in an arena";
  let description = [{
    Bytes [offset, offset + size) of the arena.
    Constraint (slice_c1): the range lies in the arena and holds the memory.

    ```mlir
    plan.arena @cpu0 <cpu:0> size(512) lower_bound(512)
    %t = plan.slice @cpu0[0 for 512] : memref<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$arena, I64Attr:$offset, I64Attr:$size);
  let results = (outs Plan_StaticMemory:$memory);
  let assemblyFormat = [{
    custom<SymbolName>($arena) `[` $offset `for` $size `]` attr-dict `:`
    type($memory)
  }];
}

def PoolOp : Plan_ValueOp<"pool", [HasParent<"ProgramOp">]> {
  let summary = "A transient whose shape is known only while running";
  let description = [{
    ```mlir
    %n = plan.pool <cpu:0> : memref<2x?xi64>
    ```
    The rank may be unknown too (`memref<*xf32>`).
  }];
  let arguments = (ins DeviceAttr:$device);
  let results = (outs Plan_Memory:$memory);
  let assemblyFormat = "$device attr-dict `:` type($memory)";
}

def ViewOp : Plan_ValueOp<"view", [HasParent<"ProgramOp">, Pure]> {
  let summary = "Bytes of other memory, under another shape";
  let description = [{
    Starts `offset` bytes into the source's memory. What several launches write
    side by side is views of one buffer. Constraint (view_c1): the element types
    agree, and the bytes lie in those of the source.

    ```mlir
    %v = plan.view %t : memref<8x16xf32> to memref<128xf32>
    %p = plan.view %t + 256 : memref<8x16xf32> to memref<4x16xf32>
    ```
  }];
  let arguments = (ins Plan_Memory:$source,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs Plan_Memory:$memory);
  let assemblyFormat = [{
    $source (`+` $offset^)? attr-dict `:` type($source) `to` type($memory)
  }];
  let hasVerifier = 1;
}

def LaunchOp : Plan_Op<"launch", [
    HasParent<"ProgramOp">, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel";
  let description = [{
    Arguments are the kernel's inputs, then its outputs; a workspace is the
    last output. Constraints:
    - (launch_c1) `kernel` names a kernel.
    - (launch_c2) the numbers of reads and writes are the kernel's.
    - (launch_c3) the types of reads and writes are the kernel's, or of any shape
      where those are unranked.
    - (launch_c4) no input, constant or absent operand is written.
    - (launch_c5) the stream is not negative.

    It runs on `device`, cpu:0 when it names none.

    ```mlir
    kernel.library @add "reference.add" {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    plan.launch @add reads(%a, %b : memref<4xf32>, memref<4xf32>) writes(%c : memref<4xf32>) stream(0)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       Variadic<Plan_Operand>:$reads, Variadic<Plan_Memory>:$writes,
                       DefaultValuedAttr<I64Attr, "0">:$stream,
                       OptionalAttr<DeviceAttr>:$device);
  let assemblyFormat = [{
    $kernel `reads` `(` ($reads^ `:` type($reads))? `)`
    `writes` `(` ($writes^ `:` type($writes))? `)`
    `stream` `(` $stream `)` (`on` $device^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // DLC_DIALECTS_PLAN_PLANOPS_TD
