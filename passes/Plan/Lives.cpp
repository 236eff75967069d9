// SPDX-License-Identifier: Apache-2.0

#include "Lives.h"

#include "dlc/abi/Tensor.h"
#include "dlc/dialects/Kernel/KernelDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc::plan;
namespace planning = dlc::planning;

namespace {

class Collector {
public:
  explicit Collector(ProgramOp program)
      : program(program), symbols(program->getParentOfType<ModuleOp>()) {}
  void addBuffers(function_ref<Attribute(Operation &)> arenaOf);
  void addLives();
  void addCandidates();
  ArenaProblems take() { return std::move(arenas); }

private:
  struct Place {
    Attribute arena;
    size_t index;
  };
  planning::Buffer *lookup(Value value);

  ProgramOp program;
  SymbolTable symbols;
  ArenaProblems arenas;
  DenseMap<Value, Place> places;
};

} // namespace

planning::Buffer *Collector::lookup(Value value) {
  auto place = places.find(getBase(value).first);
  if (place == places.end())
    return nullptr;
  return &arenas[place->second.arena].problem.buffers[place->second.index];
}

void Collector::addBuffers(function_ref<Attribute(Operation &)> arenaOf) {
  llvm::DenseSet<Value> used;
  for (LaunchOp launch : program.getBody().getOps<LaunchOp>())
    for (Value value : launch->getOperands())
      used.insert(getBase(value).first);
  for (Operation &op : program.getBody().front()) {
    Attribute arena = arenaOf(op);
    if (!arena || !used.contains(op.getResult(0)))
      continue;
    ArenaProblem &part = arenas[arena];
    size_t index = part.operations.size();
    places[op.getResult(0)] = {arena, index};
    part.operations.push_back(&op);
    planning::Buffer &entry = part.problem.buffers.emplace_back();
    entry.id = std::to_string(index);
    entry.size = llvm::alignTo(*getByteSize(op.getResult(0).getType()),
                               DLC_ALIGNMENT);
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
          from->second.arena != to->second.arena || operandOffset ||
          resultOffset || lookup(operand)->upper != step + 1)
        continue;
      // The kernel promises safety for one input; the same memory read
      // through another input could be overwritten too early.
      auto readsOperand = [&, base = operand](Value value) {
        return getBase(value).first == base;
      };
      if (llvm::count_if(launch.getReads(), readsOperand) == 1)
        arenas[from->second.arena].candidates.push_back(
            {from->second.index, to->second.index, step});
    }
    ++step;
  }
}

ArenaProblems
dlc::plan::collectArenas(ProgramOp program,
                         function_ref<Attribute(Operation &)> arenaOf) {
  Collector collector(program);
  collector.addBuffers(arenaOf);
  collector.addLives();
  collector.addCandidates();
  return collector.take();
}
