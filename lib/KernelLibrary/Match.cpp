// SPDX-License-Identifier: Apache-2.0
//
// Groups for the libraries. Of plain CPUs: cpu.conv and cpu.matmul, each with a
// bias, a residual and an activation; recurrent layers, gradients of weights
// and of pooling alone; attention (Attention.cpp); chains around depthwise
// convolutions (DepthwiseChain.cpp). Of GPUs: cublaslt.matmul,
// cudnn.conv and its gradients. Copies between devices are an entry of every
// runtime.

#include "Attention.h"
#include "DepthwiseChain.h"
#include "TurnedWeights.h"

#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/runtime/Kernel/Library.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::library;

namespace {

/// An activation of the library.
struct Activation {
  StringRef name;
  std::optional<double> alpha, beta;
};

/// Builds a match operation by operation.
class Matcher {
public:
  Matcher(MLIRContext *context, std::string *why)
      : builder(context), why(why) {}
  /// For a GPU.
  Matcher(MLIRContext *context, std::string *why, StringRef compute)
      : builder(context), why(why), isForGPU(true) {
    if (!compute.empty())
      match.config.set("compute", builder.getStringAttr(compute));
  }
  std::optional<Match> run(ArrayRef<Operation *> group);

private:
  bool anchor(Operation *op);
  bool anchorConv(graph::ConvOp conv);
  bool anchorGPUConv(graph::ConvOp conv);
  bool anchorTurned(graph::ConvOp conv);
  bool anchorWeightGradient(graph::ConvWeightGradientOp gradient);
  bool anchorMatmul(graph::MatmulOp matmul);
  bool anchorIntegers(Operation *op, StringRef packed);
  bool anchorIntegerConv(graph::IntegerConvOp conv);
  bool anchorRecurrent(Operation *layer);
  template <typename Op> bool anchorPool(Op pool);
  /// Takes the transposes in front of a product, or of weights that a GPU's
  /// library takes as they were, from `group`.
  bool prologue(ArrayRef<Operation *> &group);
  bool takeTurned(ArrayRef<Operation *> &group);
  template <typename Op> void setWindows(Op op);
  bool epilogue(Operation *op, Value current);
  bool epilogueAdd(graph::AddOp add, Value current);
  bool epilogueRequantize(graph::RequantizeOp op, Value current);
  bool refuse(const Twine &reason);
  void setInts(StringRef name, ArrayRef<int64_t> values);

  Builder builder;
  std::string *why;
  const bool isForGPU = false;
  Match match;
  graph::TransposeOp transposed[2]; ///< Operands of a product, or null.
  Value turned; ///< What exchanged channels make weights of, or null.
  bool isOfIntegers = false;
  bool hasEpilogue = true, hasResidual = false, hasActivation = false;
};

} // namespace

/// True if `transpose` turns matrices round that only `matmul` reads, once.
static bool isTransposedBy(graph::TransposeOp transpose, Operation *matmul) {
  auto rank = static_cast<int64_t>(transpose.getPerm().size());
  auto swapped = llvm::to_vector(llvm::seq<int64_t>(rank));
  if (rank < 2)
    return false;
  std::swap(swapped[rank - 2], swapped[rank - 1]);
  return transpose.getPerm() == ArrayRef(swapped) &&
         transpose.getY().hasOneUse() &&
         *transpose.getY().user_begin() == matmul;
}

/// True if `transpose` brings the channels of weights, which are last, to where
/// `conv`, which alone reads them, has them.
static bool isArrangedFor(graph::TransposeOp transpose, graph::ConvOp conv) {
  static constexpr int64_t back[] = {0, 3, 1, 2};
  return transpose.getY() == conv.getW() && transpose.getY().hasOneUse() &&
         transpose.getPerm() == ArrayRef(back);
}

static constexpr unsigned kBias = 2, kResidual = 3;

bool Matcher::refuse(const Twine &reason) {
  if (why)
    *why = reason.str();
  return false;
}

void Matcher::setInts(StringRef name, ArrayRef<int64_t> values) {
  if (!values.empty())
    match.config.set(name, builder.getDenseI64ArrayAttr(values));
}

template <typename Op> void Matcher::setWindows(Op op) {
  setInts("strides", op.getStrides());
  setInts("pads", op.getPads());
  setInts("dilations", op.getDilations());
}

bool Matcher::anchorConv(graph::ConvOp conv) {
  if (conv.getAutoPad() != "NOTSET")
    return refuse("automatic padding is not resolved");
  match.entry = "cpu.conv";
  match.operands = {conv.getX(), conv.getW(), conv.getBias(), Value()};
  setWindows(conv);
  match.config.set("group", builder.getI64IntegerAttr(conv.getGroup()));
  if (conv.getChannelBlock() != 0)
    match.config.set("channel_block",
                     builder.getI64IntegerAttr(conv.getChannelBlock()));
  match.packable = {1};
  match.packedConfig.set("packed_w", builder.getI64IntegerAttr(1));
  match.roundedPackedConfig.set("packed_w", builder.getI64IntegerAttr(2));
  if (cast<RankedTensorType>(conv.getX().getType()).getRank() >
      cast<RankedTensorType>(conv.getW().getType()).getRank())
    match.packedForm = "of blocks";
  return true;
}

/// With channels last: an image of one block, and weights that were arranged so
/// or have one tap.
bool Matcher::anchorGPUConv(graph::ConvOp conv) {
  if (conv.getAutoPad() != "NOTSET")
    return refuse("automatic padding is not resolved");
  if (turned)
    return anchorTurned(conv);
  match.entry = "cudnn.conv";
  match.operands = {conv.getX(), conv.getW(), conv.getBias(), Value()};
  setWindows(conv);
  match.config.set("group", builder.getI64IntegerAttr(conv.getGroup()));
  if (transposed[1]) {
    match.operands[1] = transposed[1].getX();
    match.config.set("w_channels_last", builder.getI64IntegerAttr(1));
  }
  return true;
}

/// The gradient of an image.
bool Matcher::anchorTurned(graph::ConvOp conv) {
  auto isOther = [](int64_t plain) {
    return [=](int64_t value) { return value != plain; };
  };
  if (llvm::any_of(conv.getStrides(), isOther(1)) ||
      llvm::any_of(conv.getPads(), isOther(0)) || conv.getBias())
    return refuse("the library exchanges channels in gradients only");
  hasEpilogue = false;
  match.entry = "cudnn.conv_transpose";
  match.operands = {conv.getX(), turned};
  match.config.set("group", builder.getI64IntegerAttr(conv.getGroup()));
  return true;
}

bool Matcher::anchorWeightGradient(graph::ConvWeightGradientOp gradient) {
  match.entry =
      isForGPU ? "cudnn.conv_weight_gradient" : "cpu.conv_weight_gradient";
  match.operands = {gradient.getX(), gradient.getG()};
  setWindows(gradient);
  match.config.set("group", builder.getI64IntegerAttr(gradient.getGroup()));
  return true;
}

bool Matcher::anchorMatmul(graph::MatmulOp matmul) {
  match.entry = isForGPU ? "cublaslt.matmul" : "cpu.matmul";
  match.operands = {matmul.getA(), matmul.getB(), Value(), Value()};
  static constexpr StringRef flags[] = {"trans_a", "trans_b"};
  for (unsigned i = 0; i < 2; ++i)
    if (transposed[i]) {
      match.operands[i] = transposed[i].getX();
      match.config.set(flags[i], builder.getI64IntegerAttr(1));
    }
  if (transposed[1] || isForGPU)
    return true;
  match.packable = {1};
  match.packedConfig.set("packed_b", builder.getI64IntegerAttr(2));
  return true;
}

/// All operands as they are, the second one packed as attribute `packed` says.
bool Matcher::anchorIntegers(Operation *op, StringRef packed) {
  isOfIntegers = true;
  match.entry = ("cpu." + op->getName().stripDialect()).str();
  match.operands = llvm::to_vector(op->getOperands());
  match.packable = {1};
  match.packedConfig.set(packed, builder.getI64IntegerAttr(1));
  return true;
}

bool Matcher::anchorIntegerConv(graph::IntegerConvOp conv) {
  if (conv.getAutoPad() != "NOTSET")
    return refuse("automatic padding is not resolved");
  setWindows(conv);
  if (conv.getGroup() != 1)
    match.config.set("group", builder.getI64IntegerAttr(conv.getGroup()));
  if (conv.getChannelBlock() != 0)
    match.config.set("channel_block",
                     builder.getI64IntegerAttr(conv.getChannelBlock()));
  return anchorIntegers(conv, "packed_w");
}

bool Matcher::anchorRecurrent(Operation *layer) {
  match.entry = "cpu.recurrent";
  match.note = "library kernel for a recurrent layer";
  for (Value operand : layer->getOperands())
    match.operands.push_back(isa<NoneType>(operand.getType()) ? Value()
                                                              : operand);
  StringRef cell = layer->getName().stripDialect();
  match.config.set("cell", builder.getStringAttr(cell));
  for (NamedAttribute attribute : layer->getAttrs())
    if (!attribute.getName().strref().contains('.') &&
        attribute.getName() != graph::kDeviceAttr)
      match.config.set(attribute.getName(), attribute.getValue());
  match.packable = {1, 2};
  match.packedConfig.set("packed_w", builder.getI64IntegerAttr(2));
  match.packedForm = cell.str();
  return true;
}

/// Whether the library combines windows of plain rows in less time than the
/// code that would be generated, which goes through a window tap by tap, and
/// leaves lanes free where rows are short and padded.
template <typename Op> static bool isPooledFaster(Op pool) {
  constexpr int64_t mostTaps = 8, mostStride = 2, fewestWindows = 9;
  auto last = [](ArrayRef<int64_t> list) {
    return list.empty() ? 1 : list.back();
  };
  const int64_t taps = last(pool.getKernelShape());
  const int64_t windows =
      cast<RankedTensorType>(pool.getY().getType()).getShape().back();
  ArrayRef<int64_t> pads = pool.getPads();
  const bool isPadded =
      !pads.empty() && (pads[pads.size() / 2 - 1] != 0 || pads.back() != 0);
  return taps > mostTaps ||
         (taps > 1 && (last(pool.getStrides()) > mostStride ||
                       (isPadded && windows < fewestWindows)));
}

template <typename Op> bool Matcher::anchorPool(Op pool) {
  if (pool.getAutoPad() != "NOTSET")
    return refuse("automatic padding is not resolved");
  // A third dimension is that of channels in blocks, which are vectors.
  if (pool.getKernelShape().size() > 2)
    return refuse("generated code pools volumes and channels in blocks");
  if (!isPooledFaster(pool))
    return refuse("generated code takes less time, or as little");
  match.entry = "cpu.pool";
  match.note = "library kernel for pooling";
  match.operands = {pool.getX()};
  setInts("kernel_shape", pool.getKernelShape());
  setWindows(pool);
  return true;
}

/// Takes what exchanges the channels of a convolution's weights from `group`.
bool Matcher::takeTurned(ArrayRef<Operation *> &group) {
  const auto *conv = llvm::find_if(group, llvm::IsaPred<graph::ConvOp>);
  if (conv == group.end())
    return false;
  ArrayRef<Operation *> front(group.begin(), conv);
  turned = findTurned(cast<graph::ConvOp>(*conv), front);
  if (turned)
    group = group.drop_front(front.size());
  return turned != nullptr;
}

bool Matcher::prologue(ArrayRef<Operation *> &group) {
  if (isForGPU && takeTurned(group))
    return true;
  SmallVector<graph::TransposeOp, 2> transposes;
  while (auto transpose = dyn_cast<graph::TransposeOp>(group.front())) {
    transposes.push_back(transpose);
    group = group.drop_front();
    if (group.empty())
      return refuse("the library has no transpose alone");
  }
  if (transposes.empty())
    return true;
  if (auto conv = dyn_cast<graph::ConvOp>(group.front()); conv && isForGPU) {
    if (transposes.size() != 1 || !isArrangedFor(transposes[0], conv))
      return refuse("expected weights with channels last");
    transposed[1] = transposes[0];
    return true;
  }
  if (!isa<graph::MatmulOp>(group.front()))
    return refuse("the library transposes operands of products only");
  for (graph::TransposeOp transpose : transposes) {
    if (!isTransposedBy(transpose, group.front()))
      return refuse("expected a matrix that is read by the product only");
    bool isB = group.front()->getOperand(1) == transpose.getY();
    transposed[isB] = transpose;
  }
  return true;
}

bool Matcher::anchor(Operation *op) {
  if (isForGPU &&
      !isa<graph::MatmulOp, graph::ConvOp, graph::ConvWeightGradientOp>(op))
    return refuse("no library of the GPU has this operation");
  if (auto conv = dyn_cast<graph::ConvOp>(op))
    return isForGPU ? anchorGPUConv(conv) : anchorConv(conv);
  if (auto matmul = dyn_cast<graph::MatmulOp>(op))
    return anchorMatmul(matmul);
  hasEpilogue = false;
  if (isa<graph::IntegerMatmulOp>(op))
    return anchorIntegers(op, "packed_b");
  if (auto conv = dyn_cast<graph::IntegerConvOp>(op))
    return anchorIntegerConv(conv);
  if (isa<graph::RnnOp, graph::GruOp, graph::LstmOp>(op))
    return anchorRecurrent(op);
  if (auto gradient = dyn_cast<graph::ConvWeightGradientOp>(op))
    return anchorWeightGradient(gradient);
  if (auto pool = dyn_cast<graph::MaxPoolOp>(op))
    return anchorPool(pool);
  if (auto pool = dyn_cast<graph::AvgPoolOp>(op)) {
    match.config.set("mean", builder.getI64IntegerAttr(1));
    if (pool.getCountIncludePad())
      match.config.set("count_include_pad", builder.getI64IntegerAttr(1));
    return anchorPool(pool);
  }
  if (auto gradient = dyn_cast<graph::MaxPoolGradientOp>(op)) {
    if (gradient.getAutoPad() != "NOTSET")
      return refuse("automatic padding is not resolved");
    match.entry = "cpu.max_pool_gradient";
    match.operands = {gradient.getX(), gradient.getG()};
    setInts("kernel_shape", gradient.getKernelShape());
    setWindows(gradient);
    return true;
  }
  return refuse("no library has this operation");
}

/// The value of a float constant of one distinct element.
static std::optional<double> getScalar(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() ||
      !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

static std::optional<Activation> getActivation(Operation *op) {
  using Result = std::optional<Activation>;
  auto plain = [](StringRef name) {
    return Result(Activation{name, std::nullopt, std::nullopt});
  };
  auto real = [](const APFloat &value) {
    return std::optional(double(value.convertToFloat()));
  };
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](graph::ReluOp) { return plain("relu"); })
      .Case([&](graph::SigmoidOp) { return plain("sigmoid"); })
      .Case([&](graph::TanhOp) { return plain("tanh"); })
      .Case([&](graph::SiluOp) { return plain("silu"); })
      .Case([&](graph::HardSwishOp) { return plain("hard_swish"); })
      .Case([&](graph::GeluOp gelu) {
        return plain(gelu.getApproximate() == "tanh" ? "gelu_tanh" : "gelu");
      })
      .Case([&](graph::LeakyReluOp leaky) -> Result {
        return Activation{"leaky_relu", real(leaky.getAlpha()), std::nullopt};
      })
      .Case([&](graph::HardSigmoidOp hard) -> Result {
        return Activation{"hard_sigmoid", real(hard.getAlpha()),
                          real(hard.getBeta())};
      })
      .Case([](graph::ClampOp clamp) -> Result {
        auto lo = getScalar(clamp.getLo()), hi = getScalar(clamp.getHi());
        if (!lo || !hi)
          return std::nullopt;
        return Activation{"clamp", lo, hi};
      })
      .Default([](Operation *) { return Result(); });
}

static void setActivation(const Activation &activation, MLIRContext *context,
                          NamedAttrList &config) {
  Builder builder(context);
  config.set("activation", builder.getStringAttr(activation.name));
  if (activation.alpha)
    config.set("alpha", builder.getF64FloatAttr(*activation.alpha));
  if (activation.beta)
    config.set("beta", builder.getF64FloatAttr(*activation.beta));
}

bool Matcher::epilogueAdd(graph::AddOp add, Value current) {
  if (add.getType() != current.getType())
    return refuse("the addition broadcasts the product");
  if (add.getA() == add.getB())
    return refuse("the addition doubles the product");
  Value other = add.getA() == current ? add.getB() : add.getA();
  auto type = cast<RankedTensorType>(other.getType());
  auto result = cast<RankedTensorType>(current.getType());
  bool isBias = match.entry.ends_with(".matmul") && type.getRank() == 1 &&
                type.getDimSize(0) == result.getShape().back();
  if (isBias && !match.operands[kBias] && !hasResidual) {
    match.operands[kBias] = other;
    return true;
  }
  if (type != result || hasResidual)
    return refuse("the addition is neither a bias nor a residual");
  match.operands[kResidual] = other;
  match.inPlaceOperand = kResidual;
  hasResidual = true;
  return true;
}

/// Sums of integers as small ones: the last step.
bool Matcher::epilogueRequantize(graph::RequantizeOp op, Value current) {
  if (op.getX() != current || op.getMultiplier() == current ||
      cast<TensorType>(op.getY().getType()).getShape() !=
          cast<TensorType>(current.getType()).getShape())
    return refuse("the rounding broadcasts the sums");
  llvm::append_range(match.operands, op->getOperands().drop_front());
  hasActivation = true;
  return true;
}

bool Matcher::epilogue(Operation *op, Value current) {
  if (isOfIntegers) {
    auto requantize = dyn_cast<graph::RequantizeOp>(op);
    if (!requantize || hasActivation)
      return refuse("sums of integers are rounded, and no more");
    return epilogueRequantize(requantize, current);
  }
  if (!hasEpilogue)
    return refuse("the library adds nothing to it");
  if (hasActivation)
    return refuse("the activation is the last step");
  if (auto add = dyn_cast<graph::AddOp>(op))
    return epilogueAdd(add, current);
  std::optional<Activation> activation = getActivation(op);
  if (!activation || op->getOperand(0) != current ||
      op->getResult(0).getType() != current.getType())
    return refuse("the library has no such epilogue");
  setActivation(*activation, op->getContext(), match.config);
  hasActivation = true;
  return true;
}

/// The operand `number` of a group's only operation is its argument `next`,
/// which is counted, or a number that `config` takes.
static bool takeRounding(graph::RequantizeOp op, unsigned number,
                         unsigned &next, NamedAttrList &config) {
  Value operand = op->getOperand(number);
  if (auto argument = dyn_cast<BlockArgument>(operand))
    return argument.getArgNumber() == next++;
  auto constant = dyn_cast_if_present<DenseElementsAttr>(
      graph::getConstantElements(operand));
  if (!constant || constant.getNumElements() != 1)
    return false;
  StringRef name = rt::kRoundingOperands[number - 1];
  if (isa<FloatType>(constant.getElementType())) {
    config.set(name, *constant.value_begin<FloatAttr>());
    return true;
  }
  const APInt value = *constant.value_begin<APInt>();
  config.set(name, Builder(op.getContext())
                       .getI64IntegerAttr(
                           constant.getElementType().isUnsignedInteger()
                               ? static_cast<int64_t>(value.getZExtValue())
                               : value.getSExtValue()));
  return true;
}

static std::optional<NamedAttrList> matchRounding(graph::RequantizeOp op) {
  NamedAttrList config;
  config.set("activation", StringAttr::get(op.getContext(), rt::kRequantize));
  auto sums = dyn_cast<BlockArgument>(op.getX());
  unsigned next = 1;
  if (!sums || sums.getArgNumber() != 0 || !sums.hasOneUse())
    return std::nullopt;
  for (unsigned number : {1, 2, 3})
    if (!takeRounding(op, number, next, config))
      return std::nullopt;
  return config;
}

bool dlc::library::isRoundedByCall(Operation *op) {
  auto rounding = dyn_cast<graph::RequantizeOp>(op);
  Operation *sums = rounding ? rounding.getX().getDefiningOp() : nullptr;
  const rt::LibraryEntry *entry =
      sums && sums->hasOneUse()
          ? rt::lookupEntryOfOperation(sums->getName().stripDialect().str())
          : nullptr;
  return entry && entry->epilogue && entry->epilogue->rounding >= 0;
}

std::optional<NamedAttrList>
dlc::library::matchEpilogue(ArrayRef<Operation *> group) {
  if (auto rounding = dyn_cast<graph::RequantizeOp>(group.front()))
    return group.size() == 1 ? matchRounding(rounding) : std::nullopt;
  Activation activation = {"", std::nullopt, std::nullopt};
  Value current;
  // An operand of the kernel, which is added once.
  auto isOther = [](Value value) {
    return getElementTypeOrSelf(value.getType()).isF32() &&
           !value.getDefiningOp() && value.hasOneUse();
  };
  for (Operation *op : group) {
    if (!activation.name.empty())
      return std::nullopt; // It is the last step.
    if (auto add = dyn_cast<graph::AddOp>(op)) {
      Value a = add.getA(), b = add.getB();
      if (current && a != current)
        std::swap(a, b);
      if (a == b || !isOther(b) || (current ? a != current : !isOther(a)))
        return std::nullopt;
    } else {
      std::optional<Activation> known = getActivation(op);
      if (!known || (current ? op->getOperand(0) != current
                             : !isOther(op->getOperand(0))))
        return std::nullopt;
      activation = *known;
    }
    if (current && !current.hasOneUse())
      return std::nullopt;
    current = op->getResult(0);
  }
  NamedAttrList config;
  setActivation(activation, group.front()->getContext(), config);
  return config;
}

bool library::isSupportedMatch(const Match &match, TypeRange results,
                               std::string *why) {
  auto refuse = [&](const Twine &reason) {
    if (why)
      *why = reason.str();
    return false;
  };
  const rt::LibraryEntry *entry = rt::lookupLibraryEntry(match.entry);
  if (!entry)
    return refuse("this build lacks " + Twine(match.entry));
  std::vector<rt::TensorType> inputs, outputs;
  for (Type result : results)
    outputs.push_back(graph::toTensorType(result));
  for (Value operand : match.operands)
    inputs.push_back(operand ? graph::toTensorType(operand.getType())
                             : rt::TensorType());
  rt::Attributes config = graph::toAttributes(
      match.config.getDictionary(match.operands.front().getContext()));
  std::string reason;
  if (entry->isSupported({inputs, outputs, config}, reason))
    return true;
  return refuse(match.entry + ": " + Twine(reason));
}

std::optional<Match> Matcher::run(ArrayRef<Operation *> group) {
  if (group.size() == 1 && isa<graph::CopyOp>(group.front())) {
    match.entry = "copy";
    match.operands = {group.front()->getOperand(0)};
    match.inPlaceOperand = 0; // On one memory there is nothing to move.
    match.note = "moves a value between devices";
    return std::move(match);
  }
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return isa<NoneType>(type) || (tensor && tensor.hasStaticShape());
  };
  for (Operation *op : group) {
    if ((group.size() > 1 && op->getNumResults() != 1) ||
        !llvm::all_of(op->getOperandTypes(), isStatic) ||
        !llvm::all_of(op->getResultTypes(), isStatic)) {
      refuse("expected static shapes, and one result of each of several");
      return std::nullopt;
    }
  }
  if (!prologue(group) || !anchor(group.front()))
    return std::nullopt;
  match.anchorOperands = hasEpilogue ? kResidual : match.operands.size();
  match.anchorConfig = match.config;
  Value current = group.front()->getResult(0);
  for (Operation *op : group.drop_front()) {
    if (!llvm::is_contained(op->getOperands(), current) ||
        !current.hasOneUse()) {
      refuse("a value in between has other uses");
      return std::nullopt;
    }
    if (!epilogue(op, current))
      return std::nullopt;
    current = op->getResult(0);
  }
  if (!isSupportedMatch(match, current.getDefiningOp()->getResultTypes(), why))
    return std::nullopt;
  return std::move(match);
}

std::optional<Match> dlc::library::matchGroup(ArrayRef<Operation *> group,
                                              std::string *why) {
  if (DeviceAttr device = graph::getDevice(group.front());
      !hasHostMemory(device) && !isa<graph::CopyOp>(group.front())) {
    if (why)
      *why = "no kernel library on " + toString(device);
    return std::nullopt;
  }
  if (auto match = matchAttention(group, why))
    return match;
  if (auto match = matchDepthwiseChain(group, why))
    return match;
  return Matcher(group.front()->getContext(), why).run(group);
}

std::optional<Match> dlc::library::matchGPUGroup(ArrayRef<Operation *> group,
                                                 StringRef compute,
                                                 std::string *why) {
  return Matcher(group.front()->getContext(), why, compute).run(group);
}

SmallVector<Operation *>
dlc::library::findGroup(Operation *anchor,
                        function_ref<bool(Operation *)> isFree) {
  SmallVector<Operation *> members;
  if (!hasHostMemory(graph::getDevice(anchor)))
    return members;
  if (auto scores = dyn_cast<graph::MatmulOp>(anchor))
    members = findAttention(scores, isFree);
  else if (auto conv = dyn_cast<graph::ConvOp>(anchor))
    members = findDepthwiseChain(conv, isFree);
  llvm::sort(members,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return members;
}
