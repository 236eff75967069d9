// SPDX-License-Identifier: Apache-2.0
//
// What passes ask of Graph operations. A new operation answers these and needs
// no edit in any pass.

#ifndef DLC_DIALECTS_GRAPH_GRAPHINTERFACES_TD
#define DLC_DIALECTS_GRAPH_GRAPHINTERFACES_TD

include "mlir/IR/OpBase.td"

def GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = [{
    Operations that know their gradient as Graph operations, so that gradients
    fuse and differentiate again. An operation that others can express
    (DecomposeOpInterface) has the gradient of those where it does not know
    its own.
  }];
  let methods = [InterfaceMethod<[{
      Builds the gradients of the operands that `gradients` wants out of those
      of the results, and gives them. What is not given is zero. Fails, having
      said why with `gradients.fail`, where there is a gradient that cannot be
      built.
    }],
    "::llvm::LogicalResult", "buildGradients",
    (ins "::dlc::graph::Gradients &":$gradients)>,
    InterfaceMethod<[{
      False where the gradient of operand number `operand` is 0 on purpose:
      there the way back ends.
    }],
    "bool", "passesGradientTo", (ins "unsigned":$operand), "",
    "(void)operand; return true;">];
}

// Floats become a few integers, in steps. Their gradient is 0 almost
// everywhere, which is not what anybody wants who trains a quantised model, so
// they have none: a gradient that is asked for through such an operation is an
// error, unless it ends before (`passesGradientTo`).
def Graph_RoundsToIntegers : NativeOpTrait<"RoundsToIntegers"> {
  let cppNamespace = "::dlc::graph";
}

def FusionOpInterface : OpInterface<"FusionOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = "How an operation takes part in fusion.";
  let methods = [InterfaceMethod<
    "The kind of the operation's access to its operands.",
    "::dlc::graph::FusionKind", "getFusionKind", (ins), "",
    "return ::dlc::graph::FusionKind::Opaque;">,
    InterfaceMethod<[{
      True when every element of every result is an element of the first operand
      and the other operands only tell which: where that operand holds one value
      all over, so do the results.
    }],
    "bool", "selectsElements", (ins), "", "return false;">,
    InterfaceMethod<[{
      True when operand number `operand` only says how to compute, as axes do,
      rather than being computed with: then a constant is part of the kernel.
    }],
    "bool", "isParameter", (ins "unsigned":$operand), "", [{
      return operand > 0 &&
             $_op.getFusionKind() != ::dlc::graph::FusionKind::Elementwise &&
             $_op.getFusionKind() != ::dlc::graph::FusionKind::Anchor;
    }]>,
    InterfaceMethod<[{
      True when operand number `operand`, a parameter, decides about the shape of
      the result and nothing else: of a result of that shape each element is
      known without it.
    }],
    "bool", "isShapeParameter", (ins "unsigned":$operand), "",
    "(void)operand; return false;">];
}

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = [{
    Operations that compute each element of their only result from the elements
    of their operands at the same (broadcast) position.
  }];
  let methods = [InterfaceMethod<[{
      Builds the computation of one element, or of a vector of elements, with
      arith and math operations that map over vectors. `scalars` holds one value
      per operand: of the operand's element type or a vector of it, where
      unsigned integers are signless (arith knows no other) and bool is i1. The
      same holds for the value returned. f16 and bf16 are computed in f32.
    }],
    "::mlir::Value", "buildElement",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
         "::mlir::ValueRange":$scalars)>];
}

def PositionedOpInterface : OpInterface<"PositionedOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = [{
    Operations that can tell an element of a result by its position alone: it is
    an element of an operand at another position, or made of a few of those.
  }];
  let methods = [InterfaceMethod<[{
      Builds the element of result `result` at `position` from what `reader`
      gives, as a scalar that is signless. Null when it cannot be told; then
      `reader` knows why.
    }],
    "::mlir::Value", "buildElementAt",
    (ins "::dlc::graph::ElementReader &":$reader, "unsigned":$result,
         "::llvm::ArrayRef<::dlc::graph::Index>":$position)>];
}

def IndexedOpInterface : OpInterface<"IndexedOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = [{
    Operations that read at places given by data. Indices may be negative, and
    beyond the tensor, which is an error at run time, until `in_bounds`.
  }];
  let methods = [
    InterfaceMethod<[{
      The operand that holds the indices.
    }],
    "::mlir::OpOperand &", "getIndicesOperand", (ins)>,
    InterfaceMethod<[{
      What `graph.resolve_indices` takes as `extents`; nullopt when they are not
      all known.
    }],
    "std::optional<::llvm::SmallVector<int64_t>>", "getIndexedExtents", (ins)>,
    InterfaceMethod<"Tells that all indices are in [0, n).",
                    "void", "markInBounds", (ins)>,
    InterfaceMethod<"Whether that has been told.",
                    "bool", "isInBounds", (ins)>];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = [{
    Operations that fold terms in any order. Terms are elements of the first
    operand over the dimensions in the second (all, when there is none), unless
    an operation says otherwise.
  }];
  let methods = [
    InterfaceMethod<[{
      The extents of what is folded for each element of the result; nullopt when
      they are not known.
    }],
    "std::optional<::llvm::SmallVector<int64_t>>", "getFoldedExtents", (ins),
    "", "return ::dlc::graph::detail::getReducedExtents($_op);">,
    InterfaceMethod<[{
      Builds the term number `folded` of the element at `position`, as
      `PositionedOpInterface::buildElementAt` does.
    }],
    "::mlir::Value", "buildTermAt",
    (ins "::dlc::graph::ElementReader &":$reader,
         "::llvm::ArrayRef<::dlc::graph::Index>":$position,
         "::llvm::ArrayRef<::dlc::graph::Index>":$folded),
    "", [{
      return ::dlc::graph::detail::buildReducedAt($_op, reader, position,
                                                  folded);
    }]>,
    InterfaceMethod<[{
      Which dimensions of the result one factor of the terms changes with alone,
      and which the other; of channels in groups each takes one side for its own.
      Nullopt where terms are no products.
    }],
    "std::optional<::dlc::graph::FactorDims>", "getFactorDims", (ins), "",
    "return std::nullopt;">,
    InterfaceMethod<[{
      The element that a fold begins with, of the signless type of elements.
    }],
    "::mlir::TypedAttr", "getIdentity", (ins)>,
    InterfaceMethod<[{
      Builds the fold of two elements, as `buildElement` does.
    }],
    "::mlir::Value", "buildFold",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
         "::mlir::Value":$a, "::mlir::Value":$b)>,
    InterfaceMethod<[{
      Builds a fold that leaves so few elements that threads would be idle as
      one of the folds of parts, which they share, and one of floats of open
      shape along dimensions that others part as one for each of these. Fails,
      having built nothing, where the fold is small, leaves more or has no
      parts.
    }],
    "::llvm::FailureOr<::mlir::Value>", "foldInParts",
    (ins "::mlir::OpBuilder &":$builder), "", "return ::mlir::failure();">];
}

def DecomposeOpInterface : OpInterface<"DecomposeOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = "Operations that simpler Graph operations can express.";
  let methods = [
    InterfaceMethod<[{
      Builds the results from simpler Graph operations at the builder's
      insertion point; the operation itself stays. Fails, having built nothing,
      where the types are not known well enough.
    }],
    "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose",
    (ins "::mlir::OpBuilder &":$builder)>,
    InterfaceMethod<[{
      True for an operation that no kernel computes as a whole, while there are
      fast ones for its parts: `graph-decompose` puts these in its place.
    }],
    "bool", "hasFasterParts", (ins), "", "return false;">];
}

def InPlaceOpInterface : OpInterface<"InPlaceOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = "Operations whose results may use the memory of operands.";
  let methods = [
    InterfaceMethod<[{
      (operand, result) pairs: the result may overwrite the operand's memory,
      because each element is read before it is written and never again.
    }],
    "::llvm::SmallVector<std::pair<unsigned, unsigned>>", "getInPlacePairs",
    (ins), "", [{
      return ::dlc::graph::detail::sameTypePairs(this->getOperation());
    }]>,
    InterfaceMethod<[{
      True when the first result has the elements of the first operand in the
      same order, so that no byte needs to move.
    }],
    "bool", "isView", (ins), "", "return false;">,
    InterfaceMethod<[{
      True when the result has the elements of the operands one operand after
      the other, so that operands made in the result's memory need not move.
    }],
    "bool", "joinsOperands", (ins), "", "return false;">];
}

def LayoutOpInterface : OpInterface<"LayoutOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = [{
    Operations that can compute with their dimensions in another order, or with
    channels in blocks. In another order are then results and operands of their
    rank, but for parameters (`isParameter`); operands of lower rank get leading
    dimensions of extent 1 first.
  }];
  let methods = [InterfaceMethod<[{
      What else changes when dimension `i` is dimension `perm[i]` of what it is
      now; nullopt when it cannot be.
    }],
    "std::optional<::dlc::graph::PermutedOp>", "permute",
    (ins "::llvm::ArrayRef<int64_t>":$perm)>,
    InterfaceMethod<[{
      What else changes when channels come in blocks of `size`: operands (but
      parameters) and results are N, C/size, D1..Dn, size, where they were N, C,
      D1..Dn; operands that broadcast along channels are N, 1, D1..Dn, 1, and
      those of lower rank get leading dimensions first. Where `size` is all
      channels of the widest tensor, each tensor is one block of its own. A
      result N, C or C that
      lacks the other dimensions is N, C/size, size or C/size, size then; one of
      another rank is in blocks as one of that rank is. Nullopt when it cannot
      be.
    }],
    "std::optional<::dlc::graph::PermutedOp>", "block",
    (ins "int64_t":$size), "", "return std::nullopt;">,
    InterfaceMethod<[{
      Whether in blocks each element of results is one of its own channel alone,
      so that a last block may have places behind the last channel.
    }],
    "bool", "keepsChannelsApart", (ins), "", "return false;">,
    InterfaceMethod<[{
      Whether an operation on channels in blocks, N, C/size, D1..Dn, size,
      computes the same on blocks of another size, with the same attributes.
    }],
    "bool", "hasAnyBlocks", (ins), "", "return false;">];
}

def ShapeValueOpInterface : OpInterface<"ShapeValueOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = [{
    Operations that compute shapes: their value can be known in part, as the
    shape of a tensor with some unknown dimensions is.
  }];
  let methods = [InterfaceMethod<[{
      The elements of the only result, a scalar or vector of integers, as far as
      they are known, given what is known of the operands (null: nothing).
      Nullopt when not even their number is known.
    }],
    "std::optional<::dlc::graph::PartialInts>", "evaluatePartially",
    (ins "::llvm::ArrayRef<const ::dlc::graph::PartialInts *>":$operands)>];
}

def PartialShapeOpInterface : OpInterface<"PartialShapeOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = [{
    Operations whose result shape can be told in part from operand values that
    are known in part.
  }];
  let methods = [InterfaceMethod<[{
      The shape of the first result (`kDynamic` where unknown), given what is
      known of the operands' values (null: nothing). Nullopt when unknown.
    }],
    "std::optional<::llvm::SmallVector<int64_t>>", "inferPartially",
    (ins "::llvm::ArrayRef<const ::dlc::graph::PartialInts *>":$operands)>];
}

#endif // DLC_DIALECTS_GRAPH_GRAPHINTERFACES_TD
