// SPDX-License-Identifier: Apache-2.0
//
// In which forms a library computes a convolution, and for how much.

#include "LayoutForms.h"

#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Graph/Inference.h"
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

bool dlc::graph::fitsBlocks(RankedTensorType type, int64_t block,
                            bool mayEndWithin) {
  const int64_t channels = type.getDimSize(1),
                places = llvm::alignTo(channels, block);
  if (places == channels)
    return true;
  // Integers that nobody wrote may be divisors.
  return mayEndWithin && type.getElementType().isF32() &&
         (places - channels) * 3 <= channels;
}

static bool isBlockable(Value value, const ConvOptions &options) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  // Integers are those of IntegerConvOp, whose library has all channels last.
  const bool isTaken =
      options.isGenerated
          ? element.isF32() || element.isF16() || element.isBF16()
      : options.block == kAllChannels ? isa<IntegerType>(element)
                                      : element.isF32();
  if (!isTaken || type.isDynamicDim(1) ||
      llvm::is_contained(type.getShape(), 0))
    return false;
  if (options.block != kAllChannels)
    return fitsBlocks(type, options.block, options.mayEndWithin());
  // Of all channels there are enough to read several at once.
  constexpr int64_t together = 8;
  return options.isGenerated ? type.getDimSize(1) % together == 0
                             : type.getDimSize(1) >= together;
}

namespace {
/// What of a library computes something; constant weights are packed.
struct LibraryForm {
  library::Match match;
  const rt::LibraryEntry *entry;
  FunctionType type;
};

/// What a convolution and the gradient of its weights have in common.
struct Convolution {
  explicit Convolution(Operation *op);

  /// How the library computes it with its image and its result, or the gradient
  /// of that, of these types; nullopt if it has no such form.
  std::optional<LibraryForm> formWith(Type image, Type result,
                                      int64_t block) const;
  /// The same of operands of these types.
  std::optional<LibraryForm> formOf(TypeRange operands, Type result,
                                    int64_t block) const;
  /// The same by its fastest algorithm.
  std::optional<tuning::Call> callWith(Type image, Type result, int64_t block,
                                       const ConvOptions &options) const;
  /// The result of such an image, if weights and bias have known shapes.
  std::optional<RankedTensorType> resultOf(RankedTensorType image) const;

  Operation *op;
  Value image, result;
  Value weights; ///< Null of a gradient.
  int64_t rank = -1;
};
} // namespace

Convolution::Convolution(Operation *op) : op(op) {
  if (isConvolution(op)) {
    image = op->getOperand(0);
    weights = op->getOperand(1);
    result = op->getResult(0);
    rank = rankOf(weights);
  } else if (auto gradient = dyn_cast<ConvWeightGradientOp>(op)) {
    image = gradient.getX();
    result = gradient.getG();
    rank = rankOf(gradient.getW());
  }
}

/// Of the entry that computes `form`, without what it lacks behind the last
/// operand.
static FunctionType callTypeOf(library::Match &match, Operation *form) {
  while (!match.operands.back())
    match.operands.pop_back();
  return FunctionType::get(form->getContext(),
                           ValueRange(match.operands).getTypes(),
                           form->getResultTypes());
}

std::optional<LibraryForm>
Convolution::formWith(Type imageType, Type resultType, int64_t block) const {
  SmallVector<Type> types(op->getOperandTypes());
  types[0] = imageType;
  if (!weights)
    types[1] = resultType;
  return formOf(types, resultType, block);
}

std::optional<LibraryForm>
Convolution::formOf(TypeRange operands, Type resultType, int64_t block) const {
  // The operation as it would be, in a block of its own.
  Block scratch;
  Operation *form = op->clone();
  scratch.push_back(form);
  for (auto [operand, type] : llvm::zip_equal(form->getOpOperands(), operands))
    operand.set(scratch.addArgument(type, op->getLoc()));
  if (weights) {
    form->getResult(0).setType(resultType);
    form->setAttr(kChannelBlockAttr,
                  Builder(op->getContext()).getI64IntegerAttr(block));
  }
  auto match = library::matchGroup({form});
  const rt::LibraryEntry *entry =
      match ? rt::lookupLibraryEntry(match->entry) : nullptr;
  if (!entry || !entry->cost)
    return std::nullopt;
  FunctionType type = callTypeOf(*match, form);
  if (weights && getConstantElements(weights))
    match->config.append(match->packedConfig);
  return LibraryForm{std::move(*match), entry, type};
}

std::optional<tuning::Call>
Convolution::callWith(Type imageType, Type resultType, int64_t block,
                      const ConvOptions &options) const {
  std::optional<LibraryForm> form = formWith(imageType, resultType, block);
  if (!form)
    return std::nullopt;
  if (!options.isStrict)
    library::chooseAlgorithm(form->match, *form->entry, form->type,
                             options.bf16Parts);
  return library::callOf(form->match, form->type);
}

static uint64_t timeOf(const LibraryForm &form, const ConvOptions &options) {
  if (options.isStrict)
    return rt::nanosecondsOf(
        form.entry->cost(library::callOf(form.match, form.type).view()));
  return library::modelledTimeOf(form.match, *form.entry, form.type,
                                 options.bf16Parts);
}

std::optional<uint64_t> dlc::graph::timeOfChannels(ConvOp conv,
                                                   int64_t inChannels,
                                                   int64_t outChannels,
                                                   const ConvOptions &options) {
  auto withExtents = [](Value value, ArrayRef<int64_t> first, int64_t axis) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    llvm::copy(first, shape.begin() + axis);
    return typeOf(value).clone(shape);
  };
  SmallVector<Type> types(conv->getOperandTypes());
  types[1] = withExtents(
      conv.getW(),
      {outChannels, inChannels / static_cast<int64_t>(conv.getGroup())}, 0);
  if (types.size() > 2 && isa<RankedTensorType>(types[2]))
    types[2] = withExtents(conv->getOperand(2), outChannels, 0);
  const RankedTensorType image = withExtents(conv.getX(), inChannels, 1);
  const RankedTensorType result = withExtents(conv.getY(), outChannels, 1);
  std::optional<uint64_t> least;
  auto add = [&](Type imageType, Type resultType, int64_t block) {
    types[0] = imageType;
    if (auto form = Convolution(conv).formOf(types, resultType, block))
      least = std::min(least.value_or(UINT64_MAX), timeOf(*form, options));
  };
  add(image, result, 0);
  add(blockedType(image, options.block), blockedType(result, options.block),
      options.block);
  return least;
}

std::optional<uint64_t>
dlc::graph::timeOfConvolution(Operation *op, int64_t examples,
                              const ConvOptions &options) {
  if (!isConvolution(op))
    return std::nullopt;
  Convolution own(op);
  auto ofExamples = [&](Value value) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape[0] = examples;
    return typeOf(value).clone(shape);
  };
  auto block = op->getAttrOfType<IntegerAttr>(kChannelBlockAttr);
  std::optional<LibraryForm> form =
      own.formWith(ofExamples(own.image), ofExamples(own.result),
                   block ? block.getInt() : 0);
  if (!form)
    return std::nullopt;
  return timeOf(*form, options);
}

std::optional<RankedTensorType>
Convolution::resultOf(RankedTensorType imageType) const {
  SmallVector<Type> types(op->getOperandTypes()), results;
  types[0] = imageType;
  const SmallVector<ElementsAttr> values(types.size());
  if (failed(inferTypes(op->getName().getStringRef(), op->getContext(),
                        std::nullopt, types, values, op->getAttrDictionary(), 1,
                        results)))
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(results[0]);
  if (!type || !type.hasStaticShape() || type.getNumElements() == 0)
    return std::nullopt;
  return type;
}

/// With all channels last, those of the weights, too. First layers, whose
/// channels are a block, gain nothing.
static bool isForGPULibrary(ConvOp conv) {
  constexpr int64_t rankOfImages = 4, mostOfFirst = 8;
  if (rankOf(conv.getX()) != rankOfImages ||
      cast<RankedTensorType>(conv.getX().getType()).getDimSize(1) <=
          mostOfFirst ||
      !isBlockable(conv.getX(), {.block = kAllChannels, .isGenerated = true}) ||
      !isBlockable(conv.getY(), {.block = kAllChannels, .isGenerated = true}))
    return false;
  auto blockedTypeOf = [](Value value) {
    return blockedType(typeOf(value), kAllChannels);
  };
  Block scratch;
  auto form = cast<ConvOp>(conv->clone());
  scratch.push_back(form);
  for (OpOperand &operand : form->getOpOperands())
    operand.set(scratch.addArgument(operand.getOperandNumber() == 0
                                        ? Type(blockedTypeOf(conv.getX()))
                                        : operand.get().getType(),
                                    conv.getLoc()));
  auto weights = cast<RankedTensorType>(conv.getW().getType());
  SmallVector<int64_t> last(weights.getShape());
  std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  OpBuilder builder(form);
  auto arranged = TransposeOp::create(
      builder, conv.getLoc(), weights,
      scratch.addArgument(weights.clone(last), conv.getLoc()),
      builder.getDenseI64ArrayAttr({0, 3, 1, 2}));
  form.getWMutable().assign(arranged);
  form.getY().setType(blockedTypeOf(conv.getY()));
  form.setChannelBlock(
      cast<RankedTensorType>(conv.getY().getType()).getDimSize(1));
  auto match = library::matchGPUGroup({arranged, form}, /*compute=*/"");
  const rt::LibraryEntry *entry =
      match ? rt::lookupLibraryEntry(match->entry) : nullptr;
  if (!entry)
    return false;
  tuning::Call call = library::callOf(*match, callTypeOf(*match, form));
  constexpr size_t ofWeights = 1;
  if (entry->packsFinite && entry->packsFinite(call.view(), ofWeights)) {
    ElementsAttr values = getConstantElements(conv.getW());
    if (!values || !areFiniteFloats(values))
      return false;
  }
  return entry->isFaster(call.view());
}

/// Whether convolutions of which `isOwn` have most of the multiplications.
static bool areMost(Block &body, function_ref<bool(Operation *)> isOwn) {
  double all = 0, own = 0;
  for (Operation &op : body) {
    if (!isConvolution(&op) || rankOf(op.getResult(0)) < 0 ||
        !isStatic(op.getOperand(1).getType()))
      continue;
    RankedTensorType y = withAssumedExtents(typeOf(op.getResult(0))),
                     w = typeOf(op.getOperand(1));
    if (w.getNumElements() == 0)
      continue;
    const double products = static_cast<double>(y.getNumElements()) *
                            static_cast<double>(w.getNumElements()) /
                            static_cast<double>(w.getDimSize(0));
    all += products;
    own += isOwn(&op) ? products : 0;
  }
  return 2 * own > all;
}

bool dlc::graph::areMostForGPULibraries(Block &body) {
  return areMost(body, [](Operation *op) {
    auto conv = dyn_cast<ConvOp>(op);
    return conv && hasStaticTypes(op) && isForGPULibrary(conv);
  });
}

bool dlc::graph::areMostOfIntegers(Block &body) {
  return areMost(body, llvm::IsaPred<IntegerConvOp>);
}

/// Gradients of weights take what there is: all channels last are for libraries
/// of GPUs, which have them in that form, and generated code reads them as they
/// lie.
static void addGradientForms(const Convolution &own, const ConvOptions &options,
                             SmallVectorImpl<ConvForm> &forms) {
  auto gradient = dyn_cast<ConvWeightGradientOp>(own.op);
  if (options.block != kAllChannels || !gradient || gradient.getGroup() != 1)
    return;
  for (bool isImageBlocked : {false, true})
    for (bool isResultBlocked : {false, true})
      if ((isImageBlocked || isResultBlocked) &&
          (!isImageBlocked || isBlockable(own.image, options)) &&
          (!isResultBlocked || isBlockable(own.result, options)))
        forms.push_back({isImageBlocked, isResultBlocked});
}

/// What generated code does. It reads each element of the image once for each
/// tap, side by side in blocks and else one by one; channels of groups have no
/// neighbours, and lie as others like it.
static void addGeneratedForms(const Convolution &own,
                              const ConvOptions &options,
                              SmallVectorImpl<ConvForm> &forms) {
  constexpr LayoutCost together = 1, apart = 8;
  auto conv = dyn_cast<ConvOp>(own.op);
  if (!conv)
    return addGradientForms(own, options, forms);
  ArrayRef<int64_t> weights =
      cast<RankedTensorType>(own.weights.getType()).getShape();
  const int64_t taps = llvm::product_of(weights.drop_front(2));
  const auto groups = static_cast<int64_t>(conv.getGroup());
  const bool isDepthwise = weights[1] == 1 && groups == weights[0];
  const bool isImageBlockable = isBlockable(own.image, options),
             isResultBlockable = isBlockable(own.result, options);
  if (groups != 1 && !(isDepthwise && isImageBlockable))
    return;
  auto costWith = [&](LayoutCost each) {
    LayoutCost cost = costOfMoving(own.image) / 2;
    return llvm::MulOverflow(cost, each * taps, cost)
               ? kForbidden
               : std::min(cost, kForbidden);
  };
  if (isDepthwise) {
    forms.front().cost = costWith(together);
    forms.push_back({true, true, costWith(together)});
    return;
  }
  forms.front().cost = costWith(apart);
  for (bool isImageBlocked : {false, true})
    for (bool isResultBlocked : {false, true})
      if ((isImageBlocked || isResultBlocked) &&
          (!isImageBlocked || isImageBlockable) &&
          (!isResultBlocked || isResultBlockable))
        forms.push_back({isImageBlocked, isResultBlocked,
                         costWith(isImageBlocked ? together : apart)});
}

/// An image of which as many windows are computed as a result is assumed to
/// have: they may be far larger than an assumed image, or lie far apart.
template <typename Conv> static RankedTensorType assumedImageOf(Conv conv) {
  RankedTensorType type = typeOf(conv.getX()), weights = typeOf(conv.getW());
  SmallVector<int64_t> shape(withAssumedExtents(type).getShape());
  const size_t rank = shape.size() - 2;
  auto at = [](ArrayRef<int64_t> list, size_t i, int64_t otherwise) {
    return i < list.size() ? list[i] : otherwise;
  };
  for (size_t d = 0; d < rank; ++d) {
    const int64_t kernel = weights.getDimSize(d + 2);
    if (!type.isDynamicDim(d + 2) || ShapedType::isDynamic(kernel))
      continue;
    const int64_t extent = (kAssumedExtent - 1) * at(conv.getStrides(), d, 1) +
                           (kernel - 1) * at(conv.getDilations(), d, 1) + 1 -
                           at(conv.getPads(), d, 0) -
                           at(conv.getPads(), rank + d, 0);
    shape[d + 2] = std::max<int64_t>(extent, 1);
  }
  return type.clone(shape);
}

SmallVector<ConvForm> dlc::graph::convFormsOf(Operation *op,
                                              const ConvOptions &options) {
  const int64_t block = options.block;
  Convolution own(op);
  if (!own.image)
    return {};
  SmallVector<ConvForm> forms(1);
  if (own.rank < 0 || own.rank != rankOf(own.image) ||
      own.rank != rankOf(own.result))
    return forms;
  const bool isOpen = !hasStaticTypes(op);
  if (isOpen && (!options.mayBeOpen() || !isConvolution(op)))
    return forms;
  if (options.isGenerated) {
    addGeneratedForms(own, options, forms);
    return forms;
  }
  auto imageType = typeOf(own.image), resultType = typeOf(own.result);
  if (isOpen) {
    auto integers = dyn_cast<IntegerConvOp>(op);
    imageType =
        integers ? assumedImageOf(integers) : assumedImageOf(cast<ConvOp>(op));
    std::optional<RankedTensorType> assumed = own.resultOf(imageType);
    if (!assumed)
      return forms;
    resultType = *assumed;
  }
  SmallVector<tuning::Call> calls;
  auto plain = own.callWith(imageType, resultType, 0, options);
  if (!plain)
    return forms;
  calls.push_back(std::move(*plain));
  for (bool isResultBlocked : {true, false})
    for (bool isImageBlocked : {true, false}) {
      if ((!isResultBlocked && !isImageBlocked) ||
          (isResultBlocked && !isBlockable(own.result, options)) ||
          (isImageBlocked && !isBlockable(own.image, options)))
        continue;
      auto call = own.callWith(
          isImageBlocked ? blockedType(imageType, block) : imageType,
          isResultBlocked ? blockedType(resultType, block) : resultType,
          isResultBlocked ? channelsOfBlock(resultType, block) : 0, options);
      if (!call)
        continue;
      forms.push_back({isImageBlocked, isResultBlocked});
      calls.push_back(std::move(*call));
    }
  if (forms.size() == 1)
    return forms; // Nothing to compare.
  library::CallTimes times = library::timesOf(*op->getContext(), calls);
  for (auto [form, time] : llvm::zip_equal(forms, times.costs))
    form.cost = costOf(time);
  return forms;
}
