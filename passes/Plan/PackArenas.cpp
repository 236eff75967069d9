// SPDX-License-Identifier: Apache-2.0
//
// plan-pack-arenas: Planning/Memory over the buffers of a program.

#include "dlc/Planning/Memory/InPlace.h"
#include "dlc/Planning/Memory/Solver.h"
#include "dlc/Planning/Memory/Validator.h"
#include "dlc/abi/Tensor.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/passes/Plan/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace dlc::plan {
#define GEN_PASS_DEF_PACKARENASPASS
#include "dlc/passes/Plan/Passes.h.inc"
} // namespace dlc::plan

using namespace mlir;
using namespace dlc::plan;
namespace planning = dlc::planning;

namespace {

/// The buffers of one device and their packing problem; buffer i of the
/// problem is `buffers[i]`.
struct DeviceProblem {
  SmallVector<BufferOp> buffers;
  planning::Problem problem;
  std::vector<planning::InPlaceCandidate> candidates;
};

using DeviceProblems = llvm::MapVector<StringAttr, DeviceProblem>;

/// Reads lives and in-place chances off a program. Step i is launch i.
class Collector {
public:
  explicit Collector(ProgramOp program)
      : program(program),
        symbols(program->getParentOfType<ModuleOp>()) {}
  DeviceProblems run();

private:
  struct Place {
    StringAttr device;
    size_t index;
  };
  void addBuffers();
  void addLives();
  void addCandidates();
  planning::Buffer *lookup(Value value);

  ProgramOp program;
  SymbolTable symbols;
  DeviceProblems devices;
  DenseMap<Value, Place> places;
};

struct PackArenas : public dlc::plan::impl::PackArenasPassBase<PackArenas> {
  using PackArenasPassBase::PackArenasPassBase;
  void runOnOperation() override;
  LogicalResult pack(StringAttr device, DeviceProblem &part);
};

} // namespace

planning::Buffer *Collector::lookup(Value value) {
  auto place = places.find(getBase(value).first);
  if (place == places.end())
    return nullptr;
  return &devices[place->second.device].problem.buffers[place->second.index];
}

void Collector::addBuffers() {
  for (BufferOp buffer : program.getBody().getOps<BufferOp>()) {
    DeviceProblem &part = devices[buffer.getDeviceAttr()];
    size_t index = part.buffers.size();
    places[buffer.getResult()] = {buffer.getDeviceAttr(), index};
    part.buffers.push_back(buffer);
    planning::Buffer &entry = part.problem.buffers.emplace_back();
    entry.id = std::to_string(index);
    entry.size = llvm::alignTo(*getByteSize(buffer.getType()), DLC_ALIGNMENT);
    entry.alignment = DLC_ALIGNMENT;
    entry.lower = -1; // Not live yet.
  }
}

void Collector::addLives() {
  int64_t step = 0;
  for (LaunchOp launch : program.getBody().getOps<LaunchOp>()) {
    for (Value value : launch->getOperands()) {
      planning::Buffer *buffer = lookup(value);
      if (!buffer)
        continue;
      if (buffer->lower < 0)
        buffer->lower = step;
      buffer->upper = step + 1;
    }
    ++step;
  }
  for (auto &[device, part] : devices)
    for (planning::Buffer &buffer : part.problem.buffers)
      if (buffer.lower < 0) { // Never used: anywhere will do.
        buffer.lower = 0;
        buffer.upper = 1;
        buffer.size = 0;
      }
}

void Collector::addCandidates() {
  int64_t step = 0;
  for (LaunchOp launch : program.getBody().getOps<LaunchOp>()) {
    Operation *kernel = symbols.lookup(launch.getKernel());
    ArrayRef<int64_t> pairs = dlc::kernel::getInPlacePairs(kernel);
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
      auto [operand, operandOffset] = getBase(launch.getReads()[pairs[i]]);
      auto [result, resultOffset] = getBase(launch.getWrites()[pairs[i + 1]]);
      auto from = places.find(operand), to = places.find(result);
      if (from == places.end() || to == places.end() ||
          from->second.device != to->second.device || operandOffset ||
          resultOffset || lookup(operand)->upper != step + 1)
        continue;
      // The kernel promises safety for one input; the same memory read
      // through another input could be overwritten too early.
      auto readsOperand = [&, base = operand](Value value) {
        return getBase(value).first == base;
      };
      if (llvm::count_if(launch.getReads(), readsOperand) == 1)
        devices[from->second.device].candidates.push_back(
            {from->second.index, to->second.index, step});
    }
    ++step;
  }
}

DeviceProblems Collector::run() {
  addBuffers();
  addLives();
  addCandidates();
  return std::move(devices);
}

/// "cpu:0" -> "cpu0".
static std::string arenaName(StringRef device) {
  std::string name;
  for (char c : device)
    if (llvm::isAlnum(c))
      name += c;
  return name;
}

LogicalResult PackArenas::pack(StringAttr device, DeviceProblem &part) {
  planning::Problem &problem = part.problem;
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
  for (auto [buffer, offset] : llvm::zip_equal(part.buffers, solution.offsets)) {
    builder.setInsertionPoint(buffer);
    auto slice = SliceOp::create(builder, buffer.getLoc(), buffer.getType(),
                                 name, offset, *getByteSize(buffer.getType()));
    buffer.replaceAllUsesWith(slice.getResult());
    buffer.erase();
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
static void placeConstants(ProgramOp program) {
  DenseMap<Attribute, int64_t> offsets;
  int64_t next = 0;
  Builder builder(program.getContext());
  for (ConstantOp constant : program.getBody().getOps<ConstantOp>()) {
    auto [entry, isNew] = offsets.try_emplace(constant.getValue(), next);
    if (isNew)
      next = llvm::alignTo(next + *getByteSize(constant.getType()),
                           DLC_ALIGNMENT);
    constant.setOffsetAttr(builder.getI64IntegerAttr(entry->second));
  }
}

void PackArenas::runOnOperation() {
  DeviceProblems devices = Collector(getOperation()).run();
  // Arenas are put in front one by one: the last first.
  for (auto &[device, part] : llvm::reverse(devices))
    if (failed(pack(device, part)))
      return signalPassFailure();
  placeConstants(getOperation());
}
