// SPDX-License-Identifier: Apache-2.0
//
// The Graph dialect, its types and the base classes of its operations.

#ifndef DLC_DIALECTS_GRAPH_GRAPHBASE_TD
#define DLC_DIALECTS_GRAPH_GRAPHBASE_TD

include "dlc/dialects/Base/ElementTypes.td"
include "dlc/dialects/Graph/GraphInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::dlc::graph";
  let summary = "What a neural network computes";
  // Devices: an operation without one is on the default.
  let dependentDialects = ["::dlc::BaseDialect"];
  let description = [{
    Immutable tensors and pure operations: one normal form for every front end
    and every opset. The meaning of an operation is its Reference kernel
    (`runtime/Kernel/Reference`), which holds both its shape rule and its
    computation; the semantics follow the newest ONNX operator of that name.

    Functions are `func.func`. Their arguments and results may carry
    `graph.name` (the model's name of that input or output, a non-empty string)
    and `graph.dims` (one string per dimension, the name of a symbolic
    dimension or empty; names are allowed on dynamic dimensions only).

    State keeps value semantics: it comes in as an argument and goes out as a
    result with `graph.updates`, the name of that argument, of the same type.
    The program then writes the new value over the old one, after everything
    that reads it. `graph.initial` is the value that a model's file gives an
    argument, for whoever runs the program. `graph.random` marks the argument, two i64, that is the state
    of random numbers: a seed and the number of the run.

    Tensors have plain element types: i1 (bool), i8 to i64 (signed), ui8 to
    ui64, f16, bf16, f32, f64. Dimensions may be dynamic, the rank may be
    unknown. Parameters such as shapes and axes are i64 operands. An absent
    optional operand at the end of the list is left out; operations with
    several optional operands take the result of `graph.none` instead.

    Constraint (any_c1), of every operation: result types are compatible with
    those that the shape rule gives: same element type, same rank and
    dimensions where both are known.
  }];
  let usePropertiesForAttributes = 0;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kNameAttr = "graph.name";
    static constexpr ::llvm::StringLiteral kDimsAttr = "graph.dims";
    static constexpr ::llvm::StringLiteral kInitialAttr = "graph.initial";
    static constexpr ::llvm::StringLiteral kUpdatesAttr = "graph.updates";
    static constexpr ::llvm::StringLiteral kRandomAttr = "graph.random";
  private:
    void addUnaryOps(); void addBinaryOps(); void addContractionOps();
    void addPoolingOps(); void addReductionOps(); void addNormalizationOps();
    void addMatrixOps(); void addMovementOps();
    void addIndexingOps(); void addSequenceOps(); void addStructureOps();
  }];
}

// Element types.

defvar Graph_SignedTypes = Base_SignedTypes;
defvar Graph_IntTypes = Base_IntTypes;
defvar Graph_FloatTypes = Base_FloatTypes;
defvar Graph_NumberTypes = Base_NumberTypes;
defvar Graph_PlainTypes = Base_PlainTypes;

def Graph_ElementType : AnyTypeOf<Graph_PlainTypes, "a plain element type">;

def Graph_Tensor : TensorOf<Graph_PlainTypes> {
  let summary = "tensor of bool, integers or floats";
}
def Graph_NumberTensor : TensorOf<Graph_NumberTypes> {
  let summary = "tensor of integers or floats";
}
def Graph_FloatTensor : TensorOf<Graph_FloatTypes> {
  let summary = "tensor of floats";
}
def Graph_IntTensor : TensorOf<Graph_IntTypes> {
  let summary = "tensor of integers";
}
def Graph_BoolTensor : TensorOf<[I1]> { let summary = "tensor of bool"; }
def Graph_I64Tensor : TensorOf<[I64]> { let summary = "tensor of i64"; }
def Graph_IndexTensor : TensorOf<[I32, I64]> {
  let summary = "tensor of i32 or i64";
}
class Graph_OrNone<Type tensor>
    : AnyTypeOf<[tensor, NoneType], tensor.summary # " or none">;

// Attributes.

class Graph_Choice<list<string> choices> : ConfinedAttr<StrAttr, [
    AttrConstraint<Or<!foreach(choice, choices, CPred<
      "::llvm::cast<::mlir::StringAttr>($_self).getValue() == \"" # choice
      # "\"">)>, "that is one of " # !interleave(choices, ", ")>]>;
class Graph_Bool<string value> : DefaultValuedAttr<BoolAttr, value>;
class Graph_Int<string value> : DefaultValuedAttr<I64Attr, value>;
class Graph_Float<string value> : DefaultValuedAttr<F32Attr, value>;
def Graph_Ints : DefaultValuedAttr<DenseI64ArrayAttr, "{}">;
def Graph_Floats : DefaultValuedAttr<DenseF32ArrayAttr, "{}">;
def Graph_TypeAttr : TypeAttrOf<Graph_ElementType>;
def Graph_AutoPad : DefaultValuedStrAttr<
    Graph_Choice<["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]>, "NOTSET">;

// Result types come from the shape rule of the operation's Reference kernel.
def Graph_ReferenceInferenceTrait
    : NativeOpTrait<"ReferenceInference", [], [{
      static ::llvm::LogicalResult inferReturnTypes(
          ::mlir::MLIRContext *, ::std::optional<::mlir::Location>,
          ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
          ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &);
      static ::llvm::LogicalResult refineReturnTypes(
          ::mlir::MLIRContext *, ::std::optional<::mlir::Location>,
          ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
          ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &);
      static bool isCompatibleReturnTypes(::mlir::TypeRange, ::mlir::TypeRange);
    }], [{
      ::llvm::LogicalResult $cppClass::inferReturnTypes(
          ::mlir::MLIRContext *context,
          ::std::optional<::mlir::Location> location,
          ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
          ::mlir::OpaqueProperties, ::mlir::RegionRange,
          ::llvm::SmallVectorImpl<::mlir::Type> &types) {
        return ::dlc::graph::inferTypes(
            getOperationName(), context, location, operands, attributes,
            ::dlc::graph::detail::resultCount<$cppClass>(operands), types);
      }
      // The trait's own verifier compares, with one error for one failure.
      ::llvm::LogicalResult $cppClass::refineReturnTypes(
          ::mlir::MLIRContext *, ::std::optional<::mlir::Location>,
          ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
          ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
        return ::llvm::success();
      }
      bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                              ::mlir::TypeRange declared) {
        return ::dlc::graph::areCompatible(inferred, declared);
      }
    }]> {
  let cppNamespace = "::dlc::graph";
}
def ReferenceInference : TraitList<[
    InferTypeOpInterface, Graph_ReferenceInferenceTrait]>;

// An operation of the Graph dialect. `fusion` is a FusionKind; `selects` says
// that results hold elements of the first operand only; `methods` are further
// members of the class.
class Graph_OpBase<string mnemonic, string fusion, list<Trait> traits>
    : Op<Graph_Dialect, mnemonic, [Pure, FusionOpInterface] # traits> {
  bit selects = 0;
  code methods = "";
  let extraClassDeclaration =
      "::dlc::graph::FusionKind getFusionKind() { return "
      "::dlc::graph::FusionKind::" # fusion # "; }\n"
      # !if(selects, "bool selectsElements() { return true; }\n", "") # methods;
}

class Graph_Op<string mnemonic, string fusion = "Opaque",
               list<Trait> traits = []>
    : Graph_OpBase<mnemonic, fusion, [ReferenceInference] # traits> {
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

// The first result has the first operand's elements in the same order.
class Graph_ViewOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, "Movement", [
          GradientOpInterface, InPlaceOpInterface, PositionedOpInterface]
          # traits> {
  let selects = 1;
  let methods = [{
    bool isView() { return true; }
    bool isShapeParameter(unsigned operand) { return operand > 0; }
    ::llvm::LogicalResult buildGradients(::dlc::graph::Gradients &gradients) {
      return ::dlc::graph::detail::buildViewGradient(*this, gradients);
    }
    ::mlir::Value buildElementAt(::dlc::graph::ElementReader &reader, unsigned,
                                 ::llvm::ArrayRef<::dlc::graph::Index> at) {
      return ::dlc::graph::detail::buildViewAt(*this, reader, at);
    }
    ::llvm::SmallVector<std::pair<unsigned, unsigned>> getInPlacePairs() { return {{0, 0}}; }
  }];
}

#endif // DLC_DIALECTS_GRAPH_GRAPHBASE_TD
