// SPDX-License-Identifier: Apache-2.0
//
// Finds depthwise convolutions with the convolution in front of them and the
// one of single pixels behind, whose intermediate values nothing else reads.

#include "DepthwiseChain.h"

#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::library;

static constexpr unsigned kBias = 2, kResidual = 3, kChainResidual = 7;

namespace {

/// A convolution with what a library computes in one call with it.
struct Stage {
  SmallVector<Operation *> members;
  Match match;

  graph::ConvOp conv() const { return cast<graph::ConvOp>(members.front()); }
  Value result() const { return members.back()->getResult(0); }
  Value operand(unsigned i) const {
    return i < match.operands.size() ? match.operands[i] : Value();
  }
};

/// What a stage is in a chain, by its prefix of attributes.
enum Role : unsigned { Front, Depthwise, Last };

} // namespace

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static bool isDepthwise(graph::ConvOp conv) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  return w.size() == 4 && w[1] == 1 && w[0] > 1 &&
         static_cast<int64_t>(conv.getGroup()) == w[0];
}

static bool isPointwise(graph::ConvOp conv) {
  // Steps and padding may leave extents as they are: 1x1 of steps of three and
  // pads of one, on 2x2.
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  auto isOne = [](int64_t stride) { return stride == 1; };
  auto isZero = [](int64_t pad) { return pad == 0; };
  return w.size() == 4 && w[2] == 1 && w[3] == 1 && conv.getGroup() == 1 &&
         llvm::all_of(conv.getStrides(), isOne) &&
         llvm::all_of(conv.getPads(), isZero);
}

/// The only reader of `value` if it is free, or null.
static Operation *readerOf(Value value,
                           function_ref<bool(Operation *)> isFree) {
  if (!value.hasOneUse())
    return nullptr;
  Operation *reader = *value.user_begin();
  return isFree(reader) ? reader : nullptr;
}

static std::optional<Stage> makeStage(graph::ConvOp conv,
                                      function_ref<bool(Operation *)> isFree) {
  if (!graph::hasStaticTypes(conv))
    return std::nullopt;
  Stage stage{{conv}, {}};
  std::optional<Match> match = matchGroup(stage.members);
  while (match) {
    stage.match = std::move(*match);
    Operation *reader = readerOf(stage.result(), isFree);
    if (!reader || isa<graph::ConvOp>(reader))
      return stage;
    stage.members.push_back(reader);
    match = matchGroup(stage.members);
    if (!match)
      stage.members.pop_back();
  }
  return stage.match.entry.empty() ? std::nullopt : std::optional(stage);
}

/// Convolutions that read one another's results, from `first` on; three at
/// most, of which the first or the second is depthwise.
static SmallVector<Stage, 3>
collectStages(graph::ConvOp first, function_ref<bool(Operation *)> isFree) {
  SmallVector<Stage, 3> stages;
  const unsigned most = isDepthwise(first) ? 2 : 3;
  for (graph::ConvOp conv = first; conv;) {
    std::optional<Stage> stage = makeStage(conv, isFree);
    if (!stage)
      break;
    stages.push_back(std::move(*stage));
    Operation *reader = readerOf(stages.back().result(), isFree);
    auto next = dyn_cast_if_present<graph::ConvOp>(reader);
    // What is added to a stage in between would be read where it is computed.
    if (stages.size() == most || stages.back().operand(kResidual) || !next ||
        next.getX() != stages.back().result())
      break;
    const bool isLast = stages.size() + 1 == most;
    if (isLast ? !isPointwise(next) : !isDepthwise(next))
      break;
    conv = next;
  }
  return stages;
}

/// The call that computes `stages` as one; nullopt where the library has none.
static std::optional<Match> matchStages(ArrayRef<Stage> stages,
                                        std::string *why) {
  if (stages.size() < 2)
    return std::nullopt;
  static constexpr StringRef prefixes[] = {"front_", "", "last_"};
  static constexpr StringRef epilogue[] = {"activation", "alpha", "beta"};
  Match match;
  match.entry = "cpu.depthwise_chain";
  match.note = "library kernel for a depthwise convolution and its neighbours";
  match.operands.assign(kChainResidual + 1, Value());
  match.operands[0] = stages.front().operand(0);
  unsigned role = isDepthwise(stages.front().conv()) ? Depthwise : Front;
  SmallVector<NamedAttribute> epilogues;
  for (const Stage &stage : stages) {
    const unsigned weights = 1 + 2 * role;
    match.operands[weights] = stage.operand(1);
    match.operands[weights + 1] = stage.operand(kBias);
    match.packable.push_back(weights);
    Builder builder(stage.members.front()->getContext());
    for (NamedAttribute attribute : stage.match.config) {
      StringRef name = attribute.getName();
      NamedAttribute own(builder.getStringAttr(prefixes[role] + name),
                         attribute.getValue());
      if (llvm::is_contained(epilogue, name))
        epilogues.push_back(own);
      else if (name != "group" && name != "channel_block" && role != Last)
        match.config.push_back(own);
    }
    ++role;
  }
  const Stage &last = stages.back();
  if (Attribute block = last.match.config.get("channel_block"))
    match.config.set("channel_block", block);
  match.packedConfig = last.match.packedConfig;
  match.roundedPackedConfig = last.match.roundedPackedConfig;
  match.packedForm = stages.front().match.packedForm;
  match.anchorOperands = kChainResidual;
  match.anchorConfig = match.config;
  match.config.append(epilogues);
  match.operands[kChainResidual] = last.operand(kResidual);
  // Rows of x are read after rows of y are written.
  if (last.operand(kResidual) &&
      last.operand(kResidual) != match.operands.front())
    match.inPlaceOperand = kChainResidual;
  if (!isSupportedMatch(match, last.result().getType(), why))
    return std::nullopt;
  return match;
}

std::optional<Match>
dlc::library::matchDepthwiseChain(ArrayRef<Operation *> group,
                                  std::string *why) {
  auto isMember = [&](Operation *op) { return llvm::is_contained(group, op); };
  auto first = dyn_cast<graph::ConvOp>(group.front());
  if (!first || llvm::count_if(group, llvm::IsaPred<graph::ConvOp>) < 2)
    return std::nullopt;
  SmallVector<Stage, 3> stages = collectStages(first, isMember);
  size_t members = 0;
  for (const Stage &stage : stages)
    members += stage.members.size();
  if (members == group.size())
    return matchStages(stages, why);
  if (why)
    *why = "expected convolutions that read one another's results, the first "
           "or the second of them depthwise";
  return std::nullopt;
}

/// The call of what computes `result`, with packed weights.
static tuning::Call callOfConstants(Match match, Value result,
                                    bool choosesAlgorithm) {
  while (!match.operands.back())
    match.operands.pop_back();
  MLIRContext *context = result.getContext();
  SmallVector<Type> types =
      llvm::map_to_vector(match.operands, [&](Value operand) -> Type {
        return operand ? operand.getType() : NoneType::get(context);
      });
  auto type = FunctionType::get(context, types, result.getType());
  match.config.append(match.packedConfig);
  if (choosesAlgorithm) // In any precision.
    chooseAlgorithm(match, *rt::lookupLibraryEntry(match.entry), type,
                    /*parts=*/0);
  return callOf(match, type);
}

SmallVector<Operation *>
dlc::library::findDepthwiseChain(graph::ConvOp first,
                                 function_ref<bool(Operation *)> isFree) {
  SmallVector<Stage, 3> stages = collectStages(first, isFree);
  auto hasConstants = [](const Stage &stage) {
    return graph::getConstantElements(stage.operand(1)) != nullptr;
  };
  if (!llvm::all_of(stages, hasConstants))
    return {};
  std::vector<tuning::Call> calls;
  for (const Stage &stage : stages)
    calls.push_back(callOfConstants(stage.match, stage.result(), true));
  // Parts of the stages that are chains: [begin, end).
  SmallVector<std::pair<size_t, size_t>> chains;
  for (auto [begin, end] : {std::pair<size_t, size_t>(0, 2), {1, 3}, {0, 3}}) {
    if (end > stages.size())
      continue;
    auto part = ArrayRef(stages).slice(begin, end - begin);
    std::optional<Match> match = matchStages(part, nullptr);
    if (!match)
      continue;
    chains.push_back({begin, end});
    calls.push_back(callOfConstants(*match, part.back().result(), false));
  }
  if (chains.empty())
    return {};
  CallTimes times = timesOf(*first.getContext(), calls);
  uint64_t apart = 0;
  for (size_t i = 0; i < stages.size(); ++i)
    apart += times.costs[i];
  uint64_t best = apart;
  std::pair<size_t, size_t> chosen;
  for (auto [i, chain] : llvm::enumerate(chains)) {
    uint64_t time = apart + times.costs[stages.size() + i];
    for (size_t stage = chain.first; stage < chain.second; ++stage)
      time -= times.costs[stage];
    // Sums that differ by rounding are equal: then the fewest launches are
    // best, which the last has.
    if (time < apart && time <= best + best / 100) {
      best = time;
      chosen = chain;
    }
  }
  SmallVector<Operation *> members;
  if (chosen.first != 0) // One that begins later is found from there.
    return {};
  for (const Stage &stage : ArrayRef(stages).take_front(chosen.second)) {
    // Alone, a convolution is computed as it is defined where it must be.
    if (!graph::areFiniteFloats(graph::getConstantElements(stage.operand(1))))
      return {};
    llvm::append_range(members, stage.members);
  }
  return members;
}
