// SPDX-License-Identifier: Apache-2.0
//
// In which forms a library computes a convolution, and for how much.

#include "LayoutForms.h"

#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;
using planning::layout::kForbidden;

/// A library tells times, layouts count bytes.
static constexpr LayoutCost kCostOfNanosecond = 10;
static_assert(rt::nanosecondsOf({.flops = 0, .bytes = kCostOfNanosecond}) == 1);

static LayoutCost costOf(uint64_t time) {
  return time < kForbidden / kCostOfNanosecond
             ? static_cast<LayoutCost>(time) * kCostOfNanosecond
             : kForbidden;
}

/// N, C/b, D1..Dn, b.
static RankedTensorType blockedType(RankedTensorType type, int64_t block) {
  SmallVector<int64_t> shape(type.getShape());
  shape[1] /= block;
  shape.push_back(block);
  return type.clone(shape);
}

static bool isBlockable(Value value, int64_t block) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getElementType().isF32() && type.getNumElements() > 0 &&
         type.getDimSize(1) % block == 0;
}

/// How the library computes `conv` with its image and result of these types;
/// nullopt if it has no such form.
static std::optional<tuning::Call> callOf(ConvOp conv, Type x, Type y,
                                          int64_t block, bool isStrict) {
  // The operation as it would be, in a block of its own.
  Block scratch;
  auto form = cast<ConvOp>(conv->clone());
  scratch.push_back(form);
  for (OpOperand &operand : form->getOpOperands())
    operand.set(scratch.addArgument(operand.get().getType(), conv.getLoc()));
  form.getX().setType(cast<TensorType>(x));
  form.getY().setType(cast<TensorType>(y));
  form.setChannelBlock(block);
  auto match = library::matchGroup({form.getOperation()});
  const rt::LibraryEntry *entry =
      match ? rt::lookupLibraryEntry(match->entry) : nullptr;
  if (!entry || !entry->cost)
    return std::nullopt;
  while (!match->operands.back())
    match->operands.pop_back();
  auto type = FunctionType::get(conv.getContext(),
                                ValueRange(match->operands).getTypes(), y);
  if (getConstantElements(conv.getW()))
    match->config.append(match->packedConfig);
  if (!isStrict)
    library::chooseAlgorithm(*match, *entry, type);
  return library::callOf(*match, type);
}

SmallVector<ConvForm> dlc::graph::formsOf(ConvOp conv, int64_t block,
                                          bool isStrict) {
  SmallVector<ConvForm> forms(1);
  if (!hasStaticTypes(conv) || conv.getChannelBlock() != 0)
    return forms;
  auto x = cast<RankedTensorType>(conv.getX().getType());
  auto y = cast<RankedTensorType>(conv.getY().getType());
  auto w = cast<RankedTensorType>(conv.getW().getType());
  if (x.getRank() != w.getRank())
    return forms;
  SmallVector<tuning::Call> calls;
  auto plain = callOf(conv, x, y, 0, isStrict);
  if (!plain)
    return forms;
  calls.push_back(std::move(*plain));
  for (bool isResultBlocked : {true, false})
    for (bool isInputBlocked : {true, false}) {
      if ((!isResultBlocked && !isInputBlocked) ||
          (isResultBlocked && !isBlockable(conv.getY(), block)) ||
          (isInputBlocked && !isBlockable(conv.getX(), block)))
        continue;
      auto call = callOf(conv, isInputBlocked ? blockedType(x, block) : x,
                         isResultBlocked ? blockedType(y, block) : y,
                         isResultBlocked ? block : 0, isStrict);
      if (!call)
        continue;
      forms.push_back({isInputBlocked, isResultBlocked});
      calls.push_back(std::move(*call));
    }
  if (forms.size() == 1)
    return forms; // Nothing to compare.
  library::CallTimes times = library::timesOf(*conv.getContext(), calls);
  for (auto [form, time] : llvm::zip_equal(forms, times.costs))
    form.cost = costOf(time);
  return forms;
}
