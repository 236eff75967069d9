// SPDX-License-Identifier: Apache-2.0
//
// plan-verify: the contract of the plan phase.

#include "Lives.h"

#include "dlc/Planning/Memory/Validator.h"
#include "dlc/abi/Tensor.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/passes/Plan/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace dlc::plan {
#define GEN_PASS_DEF_VERIFYPLANPASS
#include "dlc/passes/Plan/Passes.h.inc"
} // namespace dlc::plan

using namespace mlir;
using namespace dlc;
using namespace dlc::plan;
namespace planning = dlc::planning;

namespace {
/// The bytes that launches have written so far, of each base.
class WrittenBytes {
public:
  void add(MemoryRange range);
  bool contains(Value base) const { return ranges.contains(base); }
  /// Whether all bytes of `range` are written.
  bool cover(const MemoryRange &range) const;

private:
  /// Ascending, with bytes between them that are not written.
  DenseMap<Value, SmallVector<MemoryRange>> ranges;
};
} // namespace

void WrittenBytes::add(MemoryRange range) {
  SmallVector<MemoryRange> &known = ranges[range.base];
  auto *first = llvm::find_if(known, [&](const MemoryRange &other) {
    return other.end >= range.begin;
  });
  auto *last = first;
  for (; last != known.end() && last->begin <= range.end; ++last) {
    range.begin = std::min(range.begin, last->begin);
    range.end = std::max(range.end, last->end);
  }
  known.insert(known.erase(first, last), range);
}

bool WrittenBytes::cover(const MemoryRange &range) const {
  auto known = ranges.find(range.base);
  return known != ranges.end() &&
         llvm::any_of(known->second, [&](const MemoryRange &other) {
           return other.begin <= range.begin && range.end <= other.end;
         });
}

/// Checks the reads and writes of one launch; `written` grows.
static LogicalResult verifyLaunch(LaunchOp launch, WrittenBytes &written) {
  for (Value value : launch.getReads()) {
    MemoryRange range = getRange(value);
    if (isa<NoneOp, InputOp, ConstantOp>(range.base.getDefiningOp()) ||
        written.cover(range))
      continue;
    InFlightDiagnostic diagnostic =
        launch.emitOpError("expected memory that is written before it is read");
    diagnostic.attachNote(range.base.getLoc()) << "the memory is here";
    return diagnostic;
  }
  for (Value value : launch.getWrites()) {
    MemoryRange range = getRange(value);
    if (range.base.getDefiningOp<OutputOp>() && written.contains(range.base))
      return launch.emitOpError("expected each output to be written once");
    written.add(range);
  }
  return success();
}

/// Each constant has a place of its own, or that of an equal one.
static LogicalResult verifyConstants(ProgramOp program) {
  DenseMap<int64_t, Attribute> known;
  int64_t end = 0;
  for (ConstantOp constant : program.getBody().getOps<ConstantOp>()) {
    std::optional<uint64_t> place = constant.getOffset();
    if (!place)
      return constant.emitOpError("expected an offset, got none");
    auto offset = static_cast<int64_t>(*place);
    int64_t bytes = *getByteSize(constant.getType());
    if (offset < 0 || offset % DLC_ALIGNMENT != 0)
      return constant.emitOpError("expected an offset aligned to ")
             << DLC_ALIGNMENT << ", got " << offset;
    if (bytes == 0)
      continue;
    auto [entry, isNew] = known.try_emplace(offset, constant.getValue());
    if (isNew ? offset < end : entry->second != constant.getValue())
      return constant.emitOpError("expected an offset of at least ")
             << end << ", or that of an equal constant, got " << offset;
    if (isNew && llvm::AddOverflow(offset, bytes, end))
      return constant.emitOpError("expected an end below 2^63, got offset ")
             << offset;
  }
  return success();
}

/// The pairs whose memory one launch hands on: at the same offset, the operand
/// older than the launch, the result made by it, and each in one pair only, so
/// that whatever they tie together lives one after the other.
static std::vector<planning::Alias> findHandOvers(const ArenaProblem &part,
                                                  ArrayRef<int64_t> offsets) {
  const std::vector<planning::Buffer> &buffers = part.problem.buffers;
  std::vector<planning::Alias> aliases;
  llvm::DenseSet<size_t> operands, results;
  for (const planning::InPlaceCandidate &candidate : part.candidates)
    if (offsets[candidate.operand] == offsets[candidate.result] &&
        buffers[candidate.operand].lower < candidate.step &&
        buffers[candidate.result].lower == candidate.step &&
        !operands.contains(candidate.operand) &&
        !results.contains(candidate.result)) {
      operands.insert(candidate.operand);
      results.insert(candidate.result);
      aliases.push_back({candidate.result, candidate.operand, /*delta=*/0});
    }
  return aliases;
}

/// Asks the validator about the slices of one arena.
static LogicalResult verifyArena(ProgramOp program, Attribute arena,
                                 ArenaProblem &part) {
  planning::Solution solution;
  for (auto [op, buffer] :
       llvm::zip_equal(part.operations, part.problem.buffers)) {
    auto slice = cast<SliceOp>(op);
    int64_t offset = slice.getOffset();
    buffer.size = slice.getSize();
    buffer.id += " at " + std::to_string(offset);
    solution.offsets.push_back(offset);
    solution.arenaBytes = std::max(solution.arenaBytes, offset + buffer.size);
  }
  part.problem.aliases = findHandOvers(part, solution.offsets);
  planning::Error fault = planning::checkProblem(part.problem);
  if (!fault)
    fault = planning::validate(part.problem, solution);
  if (fault)
    return program.emitOpError("expected slices of ")
           << arena << " that keep apart: " << *fault;
  return success();
}

static LogicalResult verifySlices(ProgramOp program) {
  auto arenaOf = [](Operation &op) -> Attribute {
    auto slice = dyn_cast<SliceOp>(op);
    return slice ? slice.getArenaAttr() : StringAttr();
  };
  for (auto &[arena, part] : collectArenas(program, arenaOf))
    if (failed(verifyArena(program, arena, part)))
      return failure();
  return success();
}

/// True if `launch` reads `input` only where it writes `output` in place.
static bool readsInPlace(LaunchOp launch, Operation *kernel, Value input,
                         Value output) {
  ArrayRef<int64_t> pairs = dlc::kernel::getInPlacePairs(kernel);
  auto isPaired = [&](size_t read) {
    for (size_t i = 0; i + 1 < pairs.size(); i += 2)
      if (pairs[i] == static_cast<int64_t>(read) &&
          getBase(launch.getWrites()[pairs[i + 1]]) ==
              std::pair<Value, int64_t>(output, 0))
        return getBase(launch.getReads()[read]).second == 0;
    return false;
  };
  unsigned count = 0;
  for (auto [i, value] : llvm::enumerate(launch.getReads())) {
    if (getBase(value).first != input)
      continue;
    if (!isPaired(i) || ++count > 1)
      return false;
  }
  return true;
}

namespace {
/// Where launches read inputs and write outputs.
struct LaunchPositions {
  explicit LaunchPositions(ProgramOp program);

  SmallVector<LaunchOp> launches;
  DenseMap<Value, SmallVector<size_t>> readers; ///< Of inputs, ascending.
  DenseMap<Value, size_t> writer;               ///< Of outputs.
};
} // namespace

LaunchPositions::LaunchPositions(ProgramOp program)
    : launches(program.getBody().getOps<LaunchOp>()) {
  for (auto [i, launch] : llvm::enumerate(launches)) {
    for (Value value : launch.getReads())
      if (Value base = getBase(value).first; base.getDefiningOp<InputOp>())
        readers[base].push_back(i);
    for (Value value : launch.getWrites())
      if (Value base = getBase(value).first; base.getDefiningOp<OutputOp>())
        writer[base] = i;
  }
}

/// What an output updates is read before it is written, or in place.
static LogicalResult verifyUpdate(const LaunchPositions &positions,
                                  OutputOp output, Value input,
                                  SymbolTable &symbols) {
  auto found = positions.readers.find(input);
  if (found == positions.readers.end())
    return success();
  size_t writer = positions.writer.lookup(output);
  for (size_t reader : found->second) {
    LaunchOp launch = positions.launches[reader];
    bool isLegal =
        reader == writer
            ? readsInPlace(launch, symbols.lookup(launch.getKernel()), input,
                           output)
            : reader < writer;
    if (isLegal)
      continue;
    InFlightDiagnostic diagnostic = launch.emitOpError(
        "expected to read what is updated before it is written");
    diagnostic.attachNote(output.getLoc()) << "the update is here";
    return diagnostic;
  }
  return success();
}

static LogicalResult verifyUpdates(ProgramOp program) {
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  SmallVector<InputOp> inputs(program.getBody().getOps<InputOp>());
  LaunchPositions positions(program);
  for (OutputOp output : program.getBody().getOps<OutputOp>())
    if (output.getUpdates() &&
        failed(verifyUpdate(positions, output, inputs[*output.getUpdates()],
                            symbols)))
      return failure();
  return success();
}

static LogicalResult verifyLaunches(ProgramOp program) {
  WrittenBytes written;
  for (Operation &op : program.getBody().front()) {
    if (isa<BufferOp>(op))
      return op.emitOpError("expected a packed buffer");
    auto launch = dyn_cast<LaunchOp>(op);
    if (launch && failed(verifyLaunch(launch, written)))
      return failure();
  }
  for (OutputOp output : program.getBody().getOps<OutputOp>())
    if (!written.contains(output.getResult()))
      return output.emitOpError("expected a launch that writes it");
  return success();
}

/// The device of a transient; null for memory that every device reads.
static DeviceAttr deviceOf(Value value,
                           const llvm::StringMap<DeviceAttr> &arenas) {
  Operation *source = getBase(value).first.getDefiningOp();
  if (auto slice = dyn_cast<SliceOp>(source))
    return arenas.lookup(slice.getArena());
  if (auto pool = dyn_cast<PoolOp>(source))
    return pool.getDevice();
  return {};
}

/// Launches use transients of their own device; copies read any.
static LogicalResult verifyDevices(ProgramOp program) {
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  llvm::StringMap<DeviceAttr> arenas;
  for (ArenaOp arena : program.getBody().getOps<ArenaOp>())
    arenas[arena.getSymName()] = arena.getDevice();
  for (LaunchOp launch : program.getBody().getOps<LaunchOp>()) {
    DeviceAttr device =
        launch.getDevice().value_or(getDefaultDevice(program.getContext()));
    auto library = symbols.lookup<kernel::LibraryOp>(launch.getKernel());
    bool isCopy = library && library.getEntry() == "copy";
    for (Value value : isCopy ? ValueRange(launch.getWrites())
                              : ValueRange(launch->getOperands()))
      if (DeviceAttr other = deviceOf(value, arenas); other && other != device)
        return launch.emitOpError("expected memory of ")
               << toString(device) << ", where it runs, got memory of "
               << toString(other);
  }
  return success();
}

namespace {
struct VerifyPlan : public dlc::plan::impl::VerifyPlanPassBase<VerifyPlan> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (program.getParts()) // Its parts are verified.
      return markAllAnalysesPreserved();
    if (failed(verifyLaunches(program)) || failed(verifyUpdates(program)) ||
        failed(verifyConstants(program)) || failed(verifySlices(program)) ||
        failed(verifyDevices(program)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
