// SPDX-License-Identifier: Apache-2.0
//
// graph-merge-branches: sums of convolutions of one image as one.

#include "ChannelConstants.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace dlc::graph {
#define GEN_PASS_DEF_MERGEBRANCHESPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {

/// A summand that is linear in an image: a convolution with known weights, or
/// the image times a number per channel.
struct Branch {
  size_t summand; ///< Which one.
  ConvOp conv;    ///< Null without one.
  Floats factors; ///< Else.
};

/// A sum of several values, of which some are linear in one image.
struct Sum {
  AddOp root;
  SmallVector<Value> summands;
  llvm::MapVector<Value, SmallVector<Branch>> branches; ///< By image.
};

/// Where a convolution reads, along each dimension: element
/// o * stride + k * dilation - padBegin for output o and tap k.
struct Windows {
  SmallVector<int64_t> taps, strides, dilations, padBegin, padEnd;
};

struct MergeBranches : graph::impl::MergeBranchesPassBase<MergeBranches> {
  using MergeBranchesPassBase::MergeBranchesPassBase;
  void runOnOperation() override;
};

} // namespace

static bool isFloat(Type element) { return element.isF32() || element.isF64(); }

/// Of a convolution of plain tensors whose weights are constant.
static bool isBranch(ConvOp conv, Value sum) {
  auto x = dyn_cast<RankedTensorType>(conv.getX().getType());
  auto w = dyn_cast<RankedTensorType>(conv.getW().getType());
  return conv->hasOneUse() && x && w && x.getRank() == w.getRank() &&
         conv.getChannelBlock() == 0 && conv.getAutoPad() == "NOTSET" &&
         isFloat(w.getElementType()) && getConstantElements(conv.getW()) &&
         (!conv.getBias() || readFloats(conv.getBias())) &&
         conv->getResult(0).getType() == sum.getType();
}

static Windows windowsOf(ConvOp conv) {
  Windows windows;
  windows.taps.assign(typeOf(conv.getW()).getShape().drop_front(2).begin(),
                      typeOf(conv.getW()).getShape().end());
  const size_t rank = windows.taps.size();
  auto of = [&](ArrayRef<int64_t> values, size_t from, int64_t otherwise) {
    return values.empty() ? SmallVector<int64_t>(rank, otherwise)
                          : SmallVector<int64_t>(values.slice(from, rank));
  };
  windows.strides = of(conv.getStrides(), 0, 1);
  windows.dilations = of(conv.getDilations(), 0, 1);
  windows.padBegin = of(conv.getPads(), 0, 0);
  windows.padEnd = of(conv.getPads(), conv.getPads().empty() ? 0 : rank, 0);
  return windows;
}

/// The image times a number per channel: as a window of one element.
static Windows pointsOf(size_t rank) {
  const SmallVector<int64_t> ones(rank, 1), zeros(rank, 0);
  return {ones, ones, ones, zeros, zeros};
}

/// The taps of `whole` that read what those of `part` do, for the same outputs:
/// the first of them. Nothing where there are none.
static std::optional<SmallVector<int64_t>> placeIn(const Windows &whole,
                                                   const Windows &part) {
  SmallVector<int64_t> place;
  for (size_t i = 0; i < whole.taps.size(); ++i) {
    const int64_t step = whole.dilations[i];
    const int64_t before = whole.padBegin[i] - part.padBegin[i];
    const int64_t behind = whole.padEnd[i] - part.padEnd[i];
    const int64_t more =
        (whole.taps[i] - 1) * step - (part.taps[i] - 1) * part.dilations[i];
    if (whole.strides[i] != part.strides[i] || before < 0 ||
        before % step != 0 || before + behind != more ||
        (part.taps[i] > 1 && part.dilations[i] != step) ||
        before / step + part.taps[i] > whole.taps[i])
      return std::nullopt;
    place.push_back(before / step);
  }
  return place;
}

/// What `value` is where it is a branch, and of which image.
static std::optional<std::pair<Value, Branch>> matchBranch(Value value,
                                                           Value sum) {
  if (auto conv = value.getDefiningOp<ConvOp>())
    if (isBranch(conv, sum))
      return std::pair(conv.getX(), Branch{0, conv, {}});
  auto mul = value.getDefiningOp<MulOp>();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!mul || !type || type != sum.getType() || type.getRank() < 3 ||
      type.isDynamicDim(1) || !value.hasOneUse())
    return std::nullopt;
  for (auto [x, factor] :
       {std::pair(mul.getA(), mul.getB()), std::pair(mul.getB(), mul.getA())})
    if (x.getType() == type)
      if (auto factors =
              readPerChannel(factor, type.getRank(), 1, type.getDimSize(1)))
        return std::pair(x, Branch{0, {}, std::move(*factors)});
  return std::nullopt;
}

/// The summands of the root, and of sums that are summands of nothing else, in
/// their order.
static void addSummands(Sum &sum) {
  SmallVector<Value> left(llvm::reverse(sum.root->getOperands()));
  while (!left.empty()) {
    Value value = left.pop_back_val();
    auto inner = value.getDefiningOp<AddOp>();
    if (inner && inner->hasOneUse() &&
        inner->getResultTypes() == sum.root->getResultTypes() &&
        inner->getDiscardableAttrDictionary() ==
            sum.root->getDiscardableAttrDictionary())
      llvm::append_range(left, llvm::reverse(inner->getOperands()));
    else
      sum.summands.push_back(value);
  }
}

static bool isSummand(AddOp add) {
  auto outer = add->hasOneUse() ? dyn_cast<AddOp>(*add->user_begin()) : AddOp();
  return outer && outer->getResultTypes() == add->getResultTypes() &&
         outer->getDiscardableAttrDictionary() ==
             add->getDiscardableAttrDictionary();
}

static Sum readSum(AddOp root) {
  Sum sum{root, {}, {}};
  addSummands(sum);
  for (auto [i, value] : llvm::enumerate(sum.summands))
    if (auto branch = matchBranch(value, root.getY());
        branch && value.getDefiningOp()->getDiscardableAttrDictionary() ==
                      root->getDiscardableAttrDictionary()) {
      branch->second.summand = i;
      sum.branches[branch->first].push_back(std::move(branch->second));
    }
  return sum;
}

/// The branch with the most taps, or null.
static ConvOp largestOf(ArrayRef<Branch> branches) {
  ConvOp largest;
  auto weightsOf = [](ConvOp conv) {
    return conv ? typeOf(conv.getW()).getNumElements() : 0;
  };
  for (const Branch &branch : branches)
    if (weightsOf(branch.conv) > weightsOf(largest))
      largest = branch.conv;
  return largest;
}

/// Whether it has the channels and groups of the other one, or can have them.
static bool isAlike(const Branch &branch, ConvOp other) {
  auto type = typeOf(other.getW());
  const auto group = static_cast<int64_t>(other.getGroup());
  ConvOp conv = branch.conv;
  if (!conv)
    return type.getDimSize(1) * group == type.getDimSize(0);
  return conv.getGroup() == other.getGroup() &&
         typeOf(conv.getW()).getDimSize(0) == type.getDimSize(0);
}

/// A branch of which the largest one has all taps, and where.
struct PlacedBranch {
  const Branch *branch;
  SmallVector<int64_t> place;
};

static SmallVector<PlacedBranch> placeBranches(ArrayRef<Branch> branches,
                                               ConvOp largest) {
  const Windows whole = windowsOf(largest);
  SmallVector<PlacedBranch> placed;
  for (const Branch &branch : branches) {
    if (!isAlike(branch, largest))
      continue;
    ConvOp conv = branch.conv;
    if (auto place = placeIn(whole, conv ? windowsOf(conv)
                                         : pointsOf(whole.taps.size())))
      placed.push_back({&branch, std::move(*place)});
  }
  return placed;
}

/// One convolution in the place of those branches that it can compute; the
/// summands that it replaces go to `replaced`. Null where that is fewer than
/// two. Constants per channel, `summands` of them all, become its bias.
static Value mergeBranches(OpBuilder &builder, const Sum &sum,
                           ArrayRef<Branch> branches,
                           SmallVectorImpl<size_t> &replaced) {
  ConvOp largest = largestOf(branches);
  if (!largest || branches.size() < 2)
    return {};
  SmallVector<PlacedBranch> placed = placeBranches(branches, largest);
  if (placed.size() < 2)
    return {};
  auto type = typeOf(largest.getW());
  const int64_t channels = type.getDimSize(0);
  WeightSum weights(type);
  Floats bias; // Empty without one.
  auto addBias = [&](ArrayRef<double> summands) {
    bias.resize(channels, 0);
    for (auto [sum, summand] : llvm::zip_equal(bias, summands))
      sum += summand;
  };
  SmallVector<Location> locations;
  for (const auto &[branch, place] : placed) {
    ConvOp conv = branch->conv;
    if (!conv)
      weights.addDiagonal(branch->factors, place);
    else if (!weights.add(getConstantElements(conv.getW()), place))
      return {};
    if (conv && conv.getBias())
      addBias(*readFloats(conv.getBias()));
    locations.push_back(sum.summands[branch->summand].getLoc());
    replaced.push_back(branch->summand);
  }
  const bool isOnly = sum.branches.size() == 1;
  for (auto [i, value] : llvm::enumerate(sum.summands))
    if (isOnly && getConstantElements(value))
      if (auto summands = readPerChannel(value, type.getRank(), 1, channels)) {
        addBias(*summands);
        replaced.push_back(i);
      }
  ElementsAttr elements = weights.finish();
  if (!elements)
    return {};
  Location loc = FusedLoc::get(builder.getContext(), locations);
  SmallVector<Value> operands = {largest.getX(),
                                 ConstantOp::create(builder, loc, elements)};
  if (!bias.empty())
    operands.push_back(ConstantOp::create(
        builder, loc,
        makeFloats(RankedTensorType::get(channels, type.getElementType()),
                   bias)));
  OperationState state(loc, largest->getName(), operands,
                       largest->getResultTypes(), largest->getAttrs());
  remark::passed(loc, remark::RemarkOpts::name("MergeBranches")
                          .category("graph-merge-branches"))
      << remark::add("{0} branches became one convolution", placed.size());
  return builder.create(state)->getResult(0);
}

static void mergeSum(const Sum &sum) {
  AddOp root = sum.root;
  OpBuilder builder(root);
  SmallVector<Value> merged;
  llvm::BitVector isReplaced(sum.summands.size());
  for (const auto &[image, branches] : sum.branches) {
    SmallVector<size_t> replaced;
    if (Value conv = mergeBranches(builder, sum, branches, replaced)) {
      merged.push_back(conv);
      for (size_t i : replaced)
        isReplaced.set(i);
    }
  }
  if (merged.empty())
    return;
  for (auto [i, value] : llvm::enumerate(sum.summands))
    if (!isReplaced.test(i))
      merged.push_back(value);
  Value whole = merged.front();
  for (Value value : ArrayRef(merged).drop_front()) {
    Operation *add =
        AddOp::create(builder, root.getLoc(), root->getResultTypes(),
                      ValueRange{whole, value});
    copyPlacement(root, add);
    whole = add->getResult(0);
  }
  root.getY().replaceAllUsesWith(whole);
}

void MergeBranches::runOnOperation() {
  if (!getOperation().getBody().hasOneBlock())
    return;
  SmallVector<AddOp> roots;
  for (auto add : getOperation().front().getOps<AddOp>())
    if (!isSummand(add))
      roots.push_back(add);
  for (AddOp root : roots)
    mergeSum(readSum(root));
}
