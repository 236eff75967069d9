// SPDX-License-Identifier: Apache-2.0
//
// The base dialect: attributes that every DLC dialect may carry.

#ifndef DLC_DIALECTS_BASE_BASEDIALECT_TD
#define DLC_DIALECTS_BASE_BASEDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Base_Dialect : Dialect {
  let name = "dlc";
  let cppNamespace = "::dlc";
  let summary = "Devices, targets and layouts";
  let description = [{
    Attributes shared by Graph, Kernel and Plan: on which device an operation
    runs, for which machine code is generated, and how the elements of a tensor
    are arranged in memory. The dialect has no operations and no types.

    Graph operations may carry `device`, a `#dlc.device`; those without it run
    on `cpu:0`.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Base_DeviceKind : I32EnumAttr<"DeviceKind", "kind of device", [
    I32EnumAttrCase<"Null", 0, "null">,
    I32EnumAttrCase<"CPU", 1, "cpu">,
    I32EnumAttrCase<"CUDA", 2, "cuda">]> {
  let cppNamespace = "::dlc";
  let genSpecializedAttr = 0;
}

class Base_Attr<string name, string attrMnemonic>
    : AttrDef<Base_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def DeviceAttr : Base_Attr<"Device", "device"> {
  let summary = "A device: its kind and its number";
  let description = [{
    The kinds are `null` (for tests of planning; this runtime computes for it on
    the processors), `cpu` and `cuda`. The values of the kinds are those of the artifact (`Artifact.fbs`).

    Constraint (device_c1): the number is from 0 to 32767.

    ```mlir
    #dlc.device<cuda:0>
    ```
  }];
  let parameters = (ins EnumParameter<Base_DeviceKind>:$kind,
                        "int64_t":$index);
  let assemblyFormat = "`<` $kind `` `:` `` $index `>`";
  let genVerifyDecl = 1;
}

def TargetAttr : Base_Attr<"Target", "target"> {
  let summary = "The machine that code is generated for";
  let description = [{
    A name that people read and the LLVM features it stands for, without `+`.
    Code generation uses the features, never the name.

    Constraints:
    - (target_c1) the name is not empty.
    - (target_c2) no feature is empty or starts with a sign.

    ```mlir
    #dlc.target<"x86-64-v3", features = ["avx2", "fma"]>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        OptionalArrayRefParameter<"::mlir::StringAttr">
                          :$features);
  let assemblyFormat = [{
    `<` $name (`,` `features` `=` `[` $features^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def LayoutAttr : Base_Attr<"Layout", "layout"> {
  let summary = "How the elements of a tensor are arranged in memory";
  let description = [{
    One letter per dimension, outermost first: capitals or small letters are
    whole dimensions; a number followed by a small letter at the end splits
    that dimension into blocks of that size, which are innermost.

    Constraints:
    - (layout_c1) every letter names one dimension once.
    - (layout_c2) a block has a size of at least 2 and names a dimension that
      is present.

    ```mlir
    #dlc.layout<"nchw">
    #dlc.layout<"nchw16c">
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$order);
  let assemblyFormat = "`<` $order `>`";
  let genVerifyDecl = 1;
}

#endif // DLC_DIALECTS_BASE_BASEDIALECT_TD
