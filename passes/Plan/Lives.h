// SPDX-License-Identifier: Apache-2.0
//
// The memory of a program as a packing problem: who is live when.

#ifndef DLC_PASSES_PLAN_LIVES_H
#define DLC_PASSES_PLAN_LIVES_H

#include "dlc/Planning/Memory/InPlace.h"
#include "dlc/dialects/Plan/PlanDialect.h"

#include "llvm/ADT/MapVector.h"

namespace dlc::plan {

/// What shares one arena; buffer i of the problem is the memory that
/// `operations[i]` names. Lives are counted in launches: step i is launch i.
/// Memory that no launch uses is not part of it.
struct ArenaProblem {
  llvm::SmallVector<mlir::Operation *> operations;
  planning::Problem problem;
  std::vector<planning::InPlaceCandidate> candidates;
};

using ArenaProblems = llvm::MapVector<mlir::Attribute, ArenaProblem>;

/// Reads the problems off a program. `arenaOf` gives the arena of an operation
/// that names memory, by any attribute; null for what lies elsewhere.
ArenaProblems collectArenas(
    ProgramOp program,
    llvm::function_ref<mlir::Attribute(mlir::Operation &)> arenaOf);

} // namespace dlc::plan

#endif // DLC_PASSES_PLAN_LIVES_H
