// SPDX-License-Identifier: Apache-2.0
//
// Conversions between dialects: the only passes that see two of ours.

#ifndef DLC_PASSES_CONVERSION_PASSES_TD
#define DLC_PASSES_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertGraphToKernelPass
    : Pass<"convert-graph-to-kernel", "::mlir::ModuleOp"> {
  let summary = "Outline fused groups and single operations as kernels";
  let description = [{
    Requires: inferred types; groups as `graph.fusion`
    (`graph-fuse-operators`), other operations stand alone.
    Ensures: functions hold only `kernel.call`, `graph.constant`, `graph.none`
    and views of static shape. Groups that Codegen accepts are `kernel.func`s
    in value semantics, equal groups share one; operations with dynamic shapes
    or without a generated form are `kernel.library` calls of their Reference
    definition. Arguments that are constants at the call carry
    `kernel.constant`. What has its operands one after the other
    (`joinsOperands`) stays as it is where each operand can be made in the
    memory of the whole, by a call of its own, and the best order that is found
    (`plan-schedule-launches`) then needs no more memory.
    Cost: linear in the operations, a schedule of them for each such operation;
    one hash of each group's text.

    ```mlir
    %1 = graph.relu %0 : tensor<8x16xf32>
    ->
    kernel.func @relu(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %0 = graph.relu %arg0 : tensor<8x16xf32>
      kernel.return %0 : tensor<8x16xf32>
    }
    %1 = kernel.call @relu(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  // Codegen's answer comes from converting a copy of the group.
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::dlc::kernel::KernelDialect"];
}

def ConvertKernelToCallPass
    : Pass<"convert-kernel-to-call", "::mlir::ModuleOp"> {
  let summary = "Replace kernels that a library computes by library calls";
  let description = [{
    Requires: `convert-graph-to-kernel`.
    Ensures: each `kernel.func` whose body an entry of a kernel library covers
    (legal, and modelled as faster than generated code) is a `kernel.library`;
    constant operands that the entry wants packed are packed at its calls, once
    per constant. Of several algorithms for such a call the one of the least
    modelled time is chosen, unless `strict` is set, and a call that needs a
    workspace says how large. Products that machines with tiles of bfloat16
    compute faster so may split floats into three of them (`bf16_parts`), unless
    `strict` is set; with `bf16-parts=1` floats of products by constants are
    rounded to one.
    A `kernel.func` of a GPU keeps its body and names the entry of a library of
    the GPU's maker that computes the same, with a workspace, where that is
    modelled as faster (`gpu-libraries`); floats of products may be rounded as
    `gpu-compute` says, by libraries and by generated code.
    A `kernel.func` of any shape that is an activation of a sum, or rounds sums
    of integers (`graph.requantize`), says so (`epilogue`), for calls whose
    shapes are found while running.
    Cost: linear in the operations, plus packing the constants.

    ```mlir
    kernel.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32> {kernel.constant}) -> tensor<1x4x8x8xf32> { ... }
    ->
    kernel.library @conv "cpu.conv" {packed_w = 1 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<112xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let dependentDialects = ["::dlc::kernel::KernelDialect"];
  let options = [
    Option<"isStrict", "strict", "bool", /*default=*/"false",
           "Compute sums of products as they are defined, by no other algorithm">,
    Option<"bf16Parts", "bf16-parts", "int64_t", /*default=*/"3",
           "Bfloat16 that products may take a float for: 3 hold all of its bits, "
           "1 rounds it">,
    Option<"gpuLibraries", "gpu-libraries", "::dlc::library::GPULibraries",
           /*default=*/"::dlc::library::GPULibraries::WhereFaster",
           "Which kernels of a GPU may be computed by libraries",
           "::llvm::cl::values("
           "clEnumValN(::dlc::library::GPULibraries::WhereFaster, \"auto\", \"those that are faster by the model\"),"
           "clEnumValN(::dlc::library::GPULibraries::Always, \"always\", \"all that have an entry\"),"
           "clEnumValN(::dlc::library::GPULibraries::Never, \"never\", \"none\"))">,
    Option<"gpuCompute", "gpu-compute", "std::string", /*default=*/"",
           "What floats of products on a GPU may be rounded to: tf32, bf16">,
  ];
}

def NarrowValuesPass
    : Pass<"kernel-narrow-values", "::mlir::ModuleOp"> {
  let summary = "Keep what kernels round as bfloat16";
  let description = [{
    Requires: `convert-kernel-to-call`, which says which calls of a library round
    floats to bfloat16 (`bf16_parts` of 1).
    Ensures: a value of f32 that such a call rounds is one of bfloat16 where all
    that make and read it know that: entries of libraries that say so,
    generated kernels, which convert what they read and write, and views. So are
    values that are only added to such, as residuals are, or taken into their
    windows, as by pooling. Images in blocks of 16 channels between such entries
    are in blocks of 32, the terms that a tile reads at a time. Inputs and
    results of functions stay as they are. A kernel that is called with several
    types is one for each.
    Cost: linear in the calls, times the values that some call does not know.

    ```mlir
    kernel.library @k.matmul "cpu.matmul" {bf16_parts = 1 : i64, packed_b = 2 : i64, packed_shape = array<i64: 64, 64>} : (tensor<8x64xf32>, tensor<2048xf32>) -> tensor<8x64xf32>
    %1 = kernel.call @k.matmul(%0, %a) : (tensor<8x64xf32>, tensor<2048xf32>) -> tensor<8x64xf32>
    %2 = kernel.call @k.matmul(%1, %b) : (tensor<8x64xf32>, tensor<2048xf32>) -> tensor<8x64xf32>
    ->
    %1 = kernel.call @k.matmul(%0, %a) : (tensor<8x64xf32>, tensor<2048xf32>) -> tensor<8x64xbf16>
    %2 = kernel.call @k.matmul_0(%1, %b) : (tensor<8x64xbf16>, tensor<2048xf32>) -> tensor<8x64xf32>
    ```
  }];
  // Codegen's answer comes from converting a copy of a kernel.
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::dlc::kernel::KernelDialect"];
}

def ConvertKernelToLinalgPass
    : Pass<"convert-kernel-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Turn generated kernels into linalg operations on memrefs";
  let description = [{
    Requires: `kernel.func`s in value semantics with static shapes that
    `canGenerate` accepts; splat constants only.
    Ensures: destination style. The body is one `scf.forall` over the kernel's
    grid (none for a single tile); in it, composite operations are decomposed,
    and elementwise operations and movements are computed inside the loops of
    the stage that uses them: one `linalg.generic` per reduction, per result,
    and per costly value that several stages need, which lies in
    `memref.alloca` scratch and is written by the first stage that reads it.
    `inPlace` lists the inputs that an output may overwrite. An attention on a
    GPU is a `kernel.attention` for the rows of each tile.
    Cost: linear in the operations, times the dimensions of the result.

    ```mlir
    kernel.func @k(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %0 = graph.relu %x : tensor<8x16xf32>
      kernel.return %0 : tensor<8x16xf32>
    }
    ->
    kernel.func @k(%x: memref<8x16xf32>, %y: memref<8x16xf32>) attributes {grid = array<i64: 1>, inPlace = array<i64: 0, 0>, outputs = 1 : i64} {
      ... linalg.generic ... ins(%x) outs(%y)
      kernel.return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::dlc::kernel::KernelDialect"];
}

def VerifyKernelPass : Pass<"kernel-verify", "::mlir::ModuleOp"> {
  let summary = "Check the end of the kernel phase";
  let description = [{
    Requires: nothing.
    Ensures: the module holds kernels and functions; each function is one block
    of `kernel.call`, `graph.constant`, `graph.none` and views of static shape;
    each `kernel.func` is in destination style; each `kernel.library` names an
    entry of a kernel library, a Reference kernel, or `copy`; each kernel is
    called. Reports every violation. Changes nothing.
    Cost: one walk.

    ```mlir
    kernel.library @k "cpu.frob" {} : (tensor<4xf32>) -> tensor<4xf32>
    ->
    error: expected an entry of a kernel library, got "cpu.frob"
    ```
  }];
  let dependentDialects = ["::dlc::kernel::KernelDialect"];
}

def ConvertGraphToPlanPass
    : Pass<"convert-graph-to-plan", "::mlir::ModuleOp"> {
  let summary = "Turn functions of kernel calls into programs over memory";
  let description = [{
    Requires: `convert-graph-to-kernel`; every operation of a function is a
    `kernel.call`, `graph.constant`, `graph.none`, a view of static shape, or has
    the results of calls one after the other, each in one such place.
    Ensures: each function is a `plan.program` of the same name. Results are
    written straight into the outputs where one launch produces them; results
    that are inputs, constants, or the same value twice are copied. A result with
    `graph.updates` is written over that input: by the launch that makes it
    where that reads the input in place or not at all and all others that read
    it can run before, which they then do, else by a copy at the end. Values of
    static shape are `plan.buffer`s, or views of the one that they are joined in;
    others come from the pool. Launches and
    memory are on the device of their call; copies between devices are launches
    of stream 1 of the device that they write to, all others of stream 0.
    Cost: linear in the operations; for each updated argument that several
    launches read, linear in the launches that follow from its new value.

    ```mlir
    func.func @main(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
      %0 = kernel.call @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ->
    plan.program @main {
      %x = plan.input 0 "x" : memref<4xf32>
      %y = plan.output 0 "y" : memref<4xf32>
      plan.launch @relu reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
    }
    ```
  }];
  let dependentDialects = ["::dlc::kernel::KernelDialect",
                           "::dlc::plan::PlanDialect"];
}

#endif // DLC_PASSES_CONVERSION_PASSES_TD
