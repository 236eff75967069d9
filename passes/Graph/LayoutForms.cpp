// SPDX-License-Identifier: Apache-2.0

#include "LayoutForms.h"

#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;
using planning::layout::kForbidden;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

int64_t dlc::graph::rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : -1;
}

RankedTensorType dlc::graph::withAssumedExtents(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [i, extent] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(extent))
      extent = i == 0 ? kAssumedBatch : kAssumedExtent;
  return type.clone(shape);
}

int64_t dlc::graph::channelsOfBlock(RankedTensorType type, int64_t block) {
  return block == kAllChannels ? type.getDimSize(1) : block;
}

RankedTensorType dlc::graph::blockedType(RankedTensorType type, int64_t block) {
  SmallVector<int64_t> shape(type.getShape());
  block = channelsOfBlock(type, block);
  shape[1] = llvm::divideCeil(shape[1], block);
  shape.push_back(block);
  return type.clone(shape);
}

LayoutCost dlc::graph::costOfMoving(Value value) {
  auto type = withAssumedExtents(cast<RankedTensorType>(value.getType()));
  Type element = type.getElementType();
  int64_t count = element.isIntOrFloat()
                      ? std::max(1u, element.getIntOrFloatBitWidth() / 8)
                      : 1;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(count, std::max<int64_t>(extent, 1), count))
      return kForbidden;
  // Each byte is read and written.
  return count < kForbidden / 2 ? 2 * count : kForbidden;
}

Layouts::Layouts(Block &body, const ConvOptions &options)
    : mayEndWithin(options.mayEndWithin()), mayBeOpen(options.mayBeOpen()) {
  addPermutations(body);
  if (options.block != 0)
    addConvolutions(body, options);
  if (haveBlocks())
    addBlockable(body);
}

int64_t Layouts::blockOf(Value value) const {
  return channelsOfBlock(cast<RankedTensorType>(value.getType()), blockSize);
}

int64_t Layouts::blockOf(Operation *op) const {
  if (blockSize != kAllChannels)
    return blockSize;
  int64_t rank = 0, channels = 1;
  auto add = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() < std::max<int64_t>(rank, 3))
      return;
    channels = type.getRank() > rank ? type.getDimSize(1)
                                     : std::max(channels, type.getDimSize(1));
    rank = type.getRank();
  };
  llvm::for_each(op->getOperands(), add);
  llvm::for_each(op->getResults(), add);
  return channels;
}

void Layouts::addPermutations(Block &body) {
  for (auto transpose : body.getOps<TransposeOp>()) {
    ArrayRef<int64_t> perm = transpose.getPerm();
    SmallVector<Permutation> &known = byRank[static_cast<int64_t>(perm.size())];
    if (known.empty())
      known.push_back(llvm::to_vector(
          llvm::seq<int64_t>(static_cast<int64_t>(perm.size()))));
    for (const Permutation &p :
         {Permutation(perm), invertPermutationVector(perm)})
      if (known.size() < kMostPermutations && !llvm::is_contained(known, p))
        known.push_back(p);
  }
}

void Layouts::addConvolutions(Block &body, const ConvOptions &options) {
  for (Operation &op : body) {
    if (options.plainGradients && isa<ConvWeightGradientOp>(op))
      continue;
    SmallVector<ConvForm> forms = convFormsOf(&op, options);
    if (forms.empty())
      continue;
    LayoutCost plain = forms.front().cost;
    if (llvm::any_of(forms, [&](const ConvForm &f) { return f.cost < plain; }))
      blockSize = options.block;
    convolutions[&op] = std::move(forms);
  }
}

bool Layouts::endsWithin(Value value) const {
  return cast<RankedTensorType>(value.getType()).getDimSize(1) %
             blockOf(value) !=
         0;
}

bool Layouts::hasBlocks(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (type.hasStaticShape() || mayBeOpen) && type.getRank() >= 3 &&
         !type.isDynamicDim(1) && !llvm::is_contained(type.getShape(), 0) &&
         fitsBlocks(type, blockOf(value), mayEndWithin);
}

/// Whether `op` has operands and results that may be in blocks: of known
/// shapes, but for the batch and extents of images.
bool Layouts::hasKnownChannels(Operation *op) const {
  auto isKnown = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return isStatic(type) ||
           (mayBeOpen && tensor &&
            (tensor.getRank() < 3 || !tensor.isDynamicDim(1)));
  };
  return llvm::all_of(op->getOperandTypes(), isKnown) &&
         llvm::all_of(op->getResultTypes(), isKnown);
}

/// Values that operations which compute in blocks tie to each other are so to
/// the images and results of convolutions, or are left out.
void Layouts::addBlockable(Block &body) {
  llvm::EquivalenceClasses<const void *> tied;
  SmallVector<Value> ends;
  for (Operation &op : body) {
    if (!of(&op).empty()) {
      // The image, and the result or the gradient of it.
      ends.push_back(op.getOperand(0));
      ends.push_back(isConvolution(&op) ? op.getResult(0) : op.getOperand(1));
      continue;
    }
    auto layout = dyn_cast<LayoutOpInterface>(op);
    if (!layout || !hasKnownChannels(&op) || !layout.block(blockOf(&op)))
      continue;
    SmallVector<Value> own(op.getResults());
    for (auto [k, operand] : llvm::enumerate(op.getOperands()))
      if (isData(&op, k))
        own.push_back(operand);
    llvm::erase_if(own, [&](Value it) { return !hasBlocks(it); });
    if (!layout.keepsChannelsApart())
      llvm::erase_if(own, [&](Value it) { return endsWithin(it); });
    for (Value value : own)
      tied.unionSets(own.front().getAsOpaquePointer(),
                     value.getAsOpaquePointer());
  }
  DenseSet<const void *> leaders;
  for (Value end : ends)
    if (hasBlocks(end)) {
      blockable.insert(end);
      leaders.insert(tied.getOrInsertLeaderValue(end.getAsOpaquePointer()));
    }
  for (const auto *value : tied)
    if (leaders.contains(tied.getLeaderValue(value->getData())))
      blockable.insert(Value::getFromOpaquePointer(value->getData()));
}

ArrayRef<Permutation> Layouts::of(int64_t rank) const {
  auto at = byRank.find(rank);
  return at == byRank.end() ? ArrayRef<Permutation>() : ArrayRef(at->second);
}

SmallVector<unsigned> Layouts::of(Value value) const {
  auto count = static_cast<unsigned>(of(rankOf(value)).size());
  auto numbers = llvm::to_vector(llvm::seq(std::max(1u, count)));
  if (isBlockable(value))
    numbers.push_back(kBlocked);
  return numbers;
}

std::optional<unsigned> Layouts::find(ArrayRef<int64_t> p) const {
  ArrayRef<Permutation> known = of(static_cast<int64_t>(p.size()));
  const auto *at = llvm::find(known, Permutation(p));
  if (at == known.end())
    return std::nullopt;
  return static_cast<unsigned>(at - known.begin());
}

bool Layouts::isBlockable(Value value) const {
  return blockable.contains(value);
}

ArrayRef<ConvForm> Layouts::of(Operation *convolution) const {
  auto at = convolutions.find(convolution);
  return at == convolutions.end() ? ArrayRef<ConvForm>() : ArrayRef(at->second);
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// A transpose is nothing where its operand is in the right layout.
static SmallVector<Form> transposeForms(TransposeOp transpose,
                                        const Layouts &layouts) {
  SmallVector<Form> forms;
  for (auto [i, p] : llvm::enumerate(layouts.of(rankOf(transpose.getY()))))
    if (auto from = layouts.find(applyPermutation(transpose.getPerm(), p)))
      forms.push_back({static_cast<unsigned>(i), {*from}});
  return forms;
}

bool dlc::graph::hasRank(TransposeOp transpose) {
  return rankOf(transpose.getX()) >= 0 && rankOf(transpose.getY()) >= 0;
}

bool dlc::graph::isMoved(TransposeOp transpose) {
  return hasRank(transpose) && !getConstantElements(transpose.getX());
}

bool dlc::graph::isView(TransposeOp transpose, const Form &form,
                        const Layouts &layouts) {
  ArrayRef<Permutation> known = layouts.of(rankOf(transpose.getY()));
  return applyPermutation(transpose.getPerm(), known[form.layout]) ==
         known[form.operands[0]];
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

bool dlc::graph::isData(Operation *op, unsigned i) {
  auto fusion = dyn_cast<FusionOpInterface>(op);
  return !(fusion && fusion.isParameter(i));
}

static void addCost(Form &form, LayoutCost cost) {
  form.cost = std::min(kForbidden, form.cost + cost);
}

/// Operands of lower rank are moved for each operation.
static LayoutCost costOfOperands(Operation *op, int64_t rank) {
  LayoutCost cost = 0;
  for (auto [k, operand] : llvm::enumerate(op->getOperands()))
    if (isData(op, k) && rankOf(operand) > 0 && rankOf(operand) < rank &&
        !getConstantElements(operand))
      cost = std::min(kForbidden, cost + costOfMoving(operand));
  return cost;
}

/// Those with dimensions in another order.
static void addPermuted(LayoutOpInterface op, const Layouts &layouts,
                        SmallVector<Form> &forms) {
  int64_t rank = op->getNumResults() ? rankOf(op->getResult(0)) : -1;
  auto isOther = [&](Value y) { return rankOf(y) != rank; };
  if (rank < 0 || llvm::any_of(op->getResults(), isOther))
    return;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    int64_t own = rankOf(op->getOperand(i));
    if (isData(op, i) && (own < 0 || own > rank))
      return;
  }
  ArrayRef<Permutation> known = layouts.of(rank);
  for (unsigned i = 1; i < known.size(); ++i) {
    Form form;
    form.layout = i;
    form.change = op.permute(known[i]);
    if (!form.change)
      continue;
    for (unsigned k = 0; k < op->getNumOperands(); ++k)
      form.operands.push_back(
          isData(op, k) && rankOf(op->getOperand(k)) == rank ? form.layout : 0);
    addCost(form, 1 + costOfOperands(op, rank)); // Row-major among equals.
    forms.push_back(std::move(form));
  }
}

std::optional<int64_t> dlc::graph::channelsOf(Value value, int64_t rank) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() > rank)
    return std::nullopt;
  int64_t axis = 1 - (rank - type.getRank());
  if (axis < 0)
    return 1;
  if (type.isDynamicDim(axis))
    return std::nullopt;
  return type.getDimSize(axis);
}

bool dlc::graph::hasNoSpace(ArrayRef<int64_t> shape) {
  return llvm::all_of(shape.drop_front(2),
                      [](int64_t extent) { return extent == 1; });
}

/// Adds to `form`, which computes in blocks, the layout of one more operand and
/// what it costs; false where it cannot be.
static bool addOperand(LayoutOpInterface op, unsigned k, const Layouts &layouts,
                       Form &form) {
  Value operand = op->getOperand(k);
  bool isBlockable =
      rankOf(operand) == form.blockedRank && layouts.isBlockable(operand);
  bool isRead = isData(op, k) && rankOf(operand) != 0;
  form.operands.push_back(isRead && isBlockable ? kBlocked : 0);
  if (!isRead || isBlockable)
    return !isRead || op.keepsChannelsApart() || !layouts.endsWithin(operand);
  // It is brought into blocks where it is read.
  auto channels = channelsOf(operand, form.blockedRank);
  if (!channels || (*channels != 1 && *channels % form.block != 0 &&
                    !op.keepsChannelsApart()))
    return false;
  if (*channels != 1 && !getConstantElements(operand))
    addCost(form, costOfMoving(operand));
  return true;
}

/// That with channels in blocks.
static void addBlocked(LayoutOpInterface op, const Layouts &layouts,
                       SmallVector<Form> &forms) {
  Form form;
  for (Value operand : op->getOperands())
    form.blockedRank = std::max(form.blockedRank, rankOf(operand));
  if (form.blockedRank < 3 || op->getNumResults() == 0)
    return;
  // Reductions may give N, C or C, which have nothing to be in blocks.
  int64_t rank = rankOf(op->getResult(0));
  bool isReduced = rank == 1 || rank == 2;
  auto isBlockable = [&](Value y) {
    return layouts.isBlockable(y) &&
           (op.keepsChannelsApart() || !layouts.endsWithin(y));
  };
  if (!isReduced && !llvm::all_of(op->getResults(), isBlockable))
    return;
  if (isReduced && typeOf(op->getResult(0)).isDynamicDim(rank - 1))
    return; // Of channels all are counted.
  form.layout = isReduced ? 0 : kBlocked;
  form.block = layouts.blockOf(op);
  for (unsigned k = 0; k < op->getNumOperands(); ++k)
    if (!addOperand(op, k, layouts, form))
      return;
  // What repeats or broadcasts has results in blocks of operands without any.
  if (isReduced && !llvm::is_contained(form.operands, kBlocked))
    return;
  form.change = op.block(form.block);
  if (!form.change)
    return;
  // Blocks among equals: next to a convolution it becomes a part of that.
  addCost(forms.front(), 1);
  forms.push_back(std::move(form));
}

static SmallVector<Form> convForms(Operation *op, const Layouts &layouts) {
  SmallVector<Form> forms;
  Builder builder(op->getContext());
  for (const ConvForm &own : layouts.of(op)) {
    Form form;
    form.operands.assign(op->getNumOperands(), 0);
    form.cost = own.cost;
    if (own.isImageBlocked)
      form.operands[0] = kBlocked;
    if (own.isImageBlocked || own.isResultBlocked) {
      form.blockedRank = rankOf(op->getOperand(0));
      form.change.emplace();
      addCost(form, 1); // Row-major among equals.
    }
    if (own.isResultBlocked && !isConvolution(op)) {
      form.operands[1] = kBlocked;
    } else if (own.isResultBlocked) {
      form.layout = kBlocked;
      form.change->attributes.push_back(builder.getNamedAttr(
          kChannelBlockAttr,
          builder.getI64IntegerAttr(layouts.blockOf(op->getResult(0)))));
    }
    forms.push_back(std::move(form));
  }
  return forms;
}

SmallVector<Form> dlc::graph::formsOf(Operation *op, const Layouts &layouts) {
  SmallVector<Form> forms;
  if (auto transpose = dyn_cast<TransposeOp>(op))
    forms = transposeForms(transpose, layouts);
  else if (layouts.haveBlocks())
    forms = convForms(op, layouts);
  // A transpose whose permutation is too many is like any other operation.
  if (forms.empty() || forms.front().layout != 0)
    forms.insert(forms.begin(),
                 Form{0, SmallVector<unsigned>(op->getNumOperands(), 0)});
  if (auto layout = dyn_cast<LayoutOpInterface>(op)) {
    addPermuted(layout, layouts, forms);
    if (layouts.haveBlocks())
      addBlocked(layout, layouts, forms);
  }
  return forms;
}
