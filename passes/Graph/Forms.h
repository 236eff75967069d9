// SPDX-License-Identifier: Apache-2.0
//
// What passes share that follow elements to those that they are made of.

#ifndef DLC_PASSES_GRAPH_FORMS_H
#define DLC_PASSES_GRAPH_FORMS_H

#include "Knowledge.h"

#include "dlc/dialects/Graph/Position.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace dlc::graph {

/// "gather of node 'Gather_3'", for reasons.
std::string describeForReason(mlir::Operation *op);

/// Calls `infer`, which infers the types of `function`; nothing is said of
/// sizes that a model cannot have.
llvm::LogicalResult
inferQuietly(mlir::func::FuncOp function,
             llvm::function_ref<llvm::LogicalResult(mlir::func::FuncOp)> infer);

/// The same of a function that is in `module` only meanwhile.
llvm::LogicalResult
inferProbe(mlir::ModuleOp module, mlir::func::FuncOp function,
           llvm::function_ref<llvm::LogicalResult(mlir::func::FuncOp)> infer);

/// Whether readElement() may tell what results are made of.
bool hasForm(mlir::Operation *op);

/// Reads what an element of `result` is made of, at a position and, of what is
/// folded, at one of its terms; null where it cannot be told.
mlir::Value readElement(ElementReader &reader, mlir::OpResult result,
                        llvm::ArrayRef<Index> at, llvm::ArrayRef<Index> folded);

/// Stands for an element of `tensor`: a scalar that is signless.
mlir::Value placeholderOf(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value tensor);

/// Builds what `op` decomposes to in front of it, visits the parts in their
/// order, and puts their results where those of `op` are used; `op` stays.
/// False where it does not decompose, or `visit` says so of a part.
bool visitParts(mlir::Operation *op,
                llvm::function_ref<bool(mlir::Operation *)> visit);

/// Makes forms of `op`, which is for this alone, known: its parameters that
/// `knowledge` knows become constants, but for those that `isExcluded`, and its
/// indices are taken for checked.
void prepareForm(mlir::Operation *op, const Knowledge &knowledge,
                 llvm::function_ref<bool(mlir::Value)> isExcluded);

} // namespace dlc::graph

#endif // DLC_PASSES_GRAPH_FORMS_H
