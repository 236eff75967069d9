// SPDX-License-Identifier: Apache-2.0
//
// plan-pack-arenas: Planning/Memory over the buffers of a program.

#include "Lives.h"

#include "dlc/Planning/Memory/Solver.h"
#include "dlc/Planning/Memory/Validator.h"
#include "dlc/abi/Tensor.h"
#include "dlc/passes/Plan/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

namespace dlc::plan {
#define GEN_PASS_DEF_PACKARENASPASS
#include "dlc/passes/Plan/Passes.h.inc"
} // namespace dlc::plan

using namespace mlir;
using namespace dlc;
using namespace dlc::plan;
namespace planning = dlc::planning;

namespace {
struct PackArenas : public dlc::plan::impl::PackArenasPassBase<PackArenas> {
  using PackArenasPassBase::PackArenasPassBase;
  void runOnOperation() override;
  LogicalResult pack(DeviceAttr device, ArenaProblem &part);
};
} // namespace

static std::string arenaName(DeviceAttr device) {
  return (stringifyDeviceKind(device.getKind()) + Twine(device.getIndex()))
      .str();
}

LogicalResult PackArenas::pack(DeviceAttr device, ArenaProblem &part) {
  planning::Problem &problem = part.problem;
  if (planning::Error fault = planning::checkProblem(problem))
    return getOperation().emitOpError("cannot be packed: ") << *fault;
  problem.aliases = planning::decideInPlace(problem, part.candidates);
  planning::SolverOptions options;
  options.steps = searchSteps;
  planning::Solution solution = planning::solve(problem, options);
  if (planning::Error fault = planning::validate(problem, solution))
    return getOperation().emitOpError("internal: the packing of ")
           << device << " is wrong: " << *fault;

  OpBuilder builder(&getContext());
  builder.setInsertionPointToStart(&getOperation().getBody().front());
  std::string name = arenaName(device);
  ArenaOp::create(builder, getOperation().getLoc(), builder.getStringAttr(name),
                  device, builder.getI64IntegerAttr(solution.arenaBytes),
                  builder.getI64IntegerAttr(solution.lowerBound));
  for (auto [op, offset] : llvm::zip_equal(part.operations, solution.offsets)) {
    builder.setInsertionPoint(op);
    Type type = op->getResult(0).getType();
    auto slice = SliceOp::create(builder, op->getLoc(), type, name, offset,
                                 *getByteSize(type));
    op->replaceAllUsesWith(slice);
    op->erase();
  }
  remark::analysis(getOperation().getLoc(),
                   remark::RemarkOpts::name("PackArenas")
                       .category("plan-pack-arenas"))
      << remark::add("packed")
      << remark::metric("ArenaBytes", solution.arenaBytes)
      << remark::metric("LowerBound", solution.lowerBound)
      << remark::metric("Buffers", problem.buffers.size())
      << remark::metric("InPlace", problem.aliases.size());
  return success();
}

/// Gives each distinct constant its place in the artifact, in program order.
/// One without elements takes none: it is at the start, whatever is there.
static void placeConstants(ProgramOp program) {
  DenseMap<Attribute, int64_t> offsets;
  int64_t next = 0;
  Builder builder(program.getContext());
  for (ConstantOp constant : program.getBody().getOps<ConstantOp>()) {
    int64_t bytes = *getByteSize(constant.getType());
    auto [entry, isNew] =
        offsets.try_emplace(constant.getValue(), bytes ? next : 0);
    if (isNew)
      next = llvm::alignTo(next + bytes, DLC_ALIGNMENT);
    constant.setOffsetAttr(builder.getI64IntegerAttr(entry->second));
  }
}

/// Buffers that no launch uses need no place.
static void eraseUnused(ProgramOp program) {
  Block &body = program.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isa<BufferOp, ViewOp>(op) && op.use_empty())
      op.erase();
}

void PackArenas::runOnOperation() {
  eraseUnused(getOperation());
  ArenaProblems arenas =
      collectArenas(getOperation(), [](Operation &op) -> Attribute {
        auto buffer = dyn_cast<BufferOp>(op);
        return buffer ? buffer.getDevice() : DeviceAttr();
      });
  // Arenas are put in front one by one: the last first.
  for (auto &[device, part] : llvm::reverse(arenas))
    if (failed(pack(cast<DeviceAttr>(device), part)))
      return signalPassFailure();
  placeConstants(getOperation());
}
