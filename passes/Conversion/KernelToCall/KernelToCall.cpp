// SPDX-License-Identifier: Apache-2.0
//
// convert-kernel-to-call: kernels that a library computes become calls of it.

#include "dlc/KernelLibrary/Attention.h"
#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Conversion/Passes.h"
#include "dlc/runtime/Kernel/Library.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"

namespace dlc::conversion {
#define GEN_PASS_DEF_CONVERTKERNELTOCALLPASS
#include "dlc/passes/Conversion/Passes.h.inc"
} // namespace dlc::conversion

using namespace mlir;
using namespace dlc;

namespace {

/// Rewrites the kernels of one module and their calls.
class Selector {
public:
  Selector(ModuleOp module,
           const conversion::ConvertKernelToCallPassOptions &options)
      : module(module), options(options) {
    module.walk([&](kernel::CallOp call) {
      callsOf[call.getCalleeAttr().getAttr()].push_back(call);
    });
  }
  LogicalResult select(kernel::FuncOp kernel);
  /// Names, for a kernel of a GPU, the call of a library that computes it.
  void tellTriangles(kernel::FuncOp kernel);
  void nameEntry(kernel::FuncOp kernel);
  /// Says of a kernel of any shape whether libraries may compute it with sums.
  static void nameEpilogue(kernel::FuncOp kernel);

private:
  LogicalResult pack(library::Match &match, const rt::LibraryEntry &entry,
                     ArrayRef<kernel::CallOp> calls, FunctionType &type);
  FailureOr<Value> packConstant(Value value, unsigned operand,
                                const library::Match &match,
                                const rt::LibraryEntry &entry,
                                const rt::KernelCall &call);

  ModuleOp module;
  const conversion::ConvertKernelToCallPassOptions options;
  DenseMap<StringAttr, SmallVector<kernel::CallOp>> callsOf;
  /// Constants packed already: (value, entry's call as text) -> packed value.
  DenseMap<std::pair<Attribute, Attribute>, ElementsAttr> packed;
};

struct ConvertKernelToCall
    : public conversion::impl::ConvertKernelToCallPassBase<
          ConvertKernelToCall> {
  using ConvertKernelToCallPassBase::ConvertKernelToCallPassBase;

  void runOnOperation() override {
    Selector selector(getOperation(),
                      {isStrict, bf16Parts, gpuLibraries, gpuCompute});
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<kernel::FuncOp>())) {
      if (kernel.isDestinationStyle())
        continue;
      if (kernel::isForGPU(kernel)) {
        selector.tellTriangles(kernel);
        selector.nameEntry(kernel);
      } else if (kernel.isOfAnyShape()) {
        Selector::nameEpilogue(kernel);
      } else if (failed(selector.select(kernel)))
        return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>())
      (void)runRegionDCE(rewriter, function.getBody());
  }
};

} // namespace

FailureOr<Value> Selector::packConstant(Value value, unsigned operand,
                                        const library::Match &match,
                                        const rt::LibraryEntry &entry,
                                        const rt::KernelCall &call) {
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  auto elements = cast<ElementsAttr>(constant.getValue());
  OpBuilder builder(constant);
  size_t bytes = entry.packedBytes(call, operand);
  auto floats = static_cast<int64_t>(bytes / sizeof(float));
  auto type = RankedTensorType::get({floats}, builder.getF32Type());
  std::string form = std::string(entry.name) + ":" +
                     rt::packedFormOf(call, operand, bytes) + ":" +
                     match.packedForm;
  std::pair<Attribute, Attribute> key(elements, builder.getStringAttr(form));
  ElementsAttr &known = packed[key];
  if (!known) {
    graph::RawElements raw = graph::RawElements::get(elements);
    if (!raw)
      return constant.emitOpError("expected a constant of known bytes that "
                                  "fit in memory, got one of ")
             << elements.getShapedType();
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(bytes, 64);
    entry.pack(call, operand, raw.data().data(), blob.getMutableData().data());
    known = graph::makeElements(type, std::move(blob), "packed");
  }
  return graph::ConstantOp::create(builder, constant.getLoc(), known)
      .getResult();
}

/// True if all packable operands are constants at every call of the kernel, and
/// finite where the entry asks for it.
static bool isPacked(const library::Match &match, const rt::LibraryEntry &entry,
                     ArrayRef<kernel::CallOp> calls, FunctionType type) {
  if (match.packable.empty() || !entry.pack)
    return false;
  tuning::Call plain = library::makeCall(&entry, type, match.config);
  return llvm::all_of(match.packable, [&](unsigned operand) {
    const bool isFinite =
        entry.packsFinite && entry.packsFinite(plain.view(), operand);
    return llvm::all_of(calls, [&](kernel::CallOp call) {
      ElementsAttr value =
          graph::getConstantElements(call.getInputs()[operand]);
      return value && (!isFinite || graph::areFiniteFloats(value));
    });
  });
}

/// Says how the operands of all calls are packed, where that depends on them.
static LogicalResult choosePacking(library::Match &match,
                                   const rt::LibraryEntry &entry,
                                   ArrayRef<kernel::CallOp> calls,
                                   FunctionType type) {
  if (!entry.packingOf)
    return success();
  tuning::Call plain = library::makeCall(&entry, type, match.config);
  std::optional<int64_t> packing;
  for (kernel::CallOp call : calls) {
    SmallVector<graph::RawElements> held(call.getInputs().size());
    SmallVector<const void *> values(call.getInputs().size());
    for (unsigned operand : match.packable) {
      held[operand] = graph::RawElements::get(
          graph::getConstantElements(call.getInputs()[operand]));
      if (!held[operand])
        return call.emitOpError("expected a constant of known bytes that fit "
                                "in memory as operand ")
               << operand;
      values[operand] = held[operand].data().data();
    }
    const int64_t own = entry.packingOf(plain.view(), values);
    if (packing && *packing != own)
      return success();
    packing = own;
  }
  if (packing)
    match.config.set(entry.constants.attribute,
                     Builder(type.getContext()).getI64IntegerAttr(*packing));
  return success();
}

/// Packs the packable operands at every call of the kernel; `type` becomes the
/// packed call's.
LogicalResult Selector::pack(library::Match &match,
                             const rt::LibraryEntry &entry,
                             ArrayRef<kernel::CallOp> calls,
                             FunctionType &type) {
  MLIRContext *context = type.getContext();
  Builder builder(context);
  for (unsigned operand : match.packable) {
    auto shape = cast<RankedTensorType>(type.getInput(operand)).getShape();
    match.config.set(rt::packedShapeName(operand),
                     builder.getDenseI64ArrayAttr(shape));
  }

  SmallVector<Type> types(type.getInputs());
  tuning::Call plain = library::makeCall(&entry, type, match.config);
  for (kernel::CallOp call : calls)
    for (unsigned operand : match.packable) {
      FailureOr<Value> value = packConstant(call.getInputs()[operand], operand,
                                            match, entry, plain.view());
      if (failed(value))
        return failure();
      call->setOperand(operand, *value);
      types[operand] = value->getType(); // The same for every call.
    }
  type = FunctionType::get(context, types, type.getResults());
  return success();
}

/// The values of operands that are the same constant at every call; null for
/// others.
static SmallVector<ElementsAttr> constantsOf(const library::Match &match,
                                             ArrayRef<kernel::CallOp> calls) {
  return llvm::map_to_vector(match.operands, [&](Value operand) {
    ElementsAttr known;
    auto argument = dyn_cast_if_present<BlockArgument>(operand);
    for (kernel::CallOp call : calls) {
      ElementsAttr value = argument
                               ? graph::getConstantElements(
                                     call.getInputs()[argument.getArgNumber()])
                               : ElementsAttr();
      if (!value || (known && value != known))
        return ElementsAttr();
      known = value;
    }
    return known;
  });
}

/// What `call` passes for the entry's `operands`, which are arguments of the
/// kernel, constants inside it, or null.
static SmallVector<Value> makeOperands(kernel::CallOp call,
                                       ArrayRef<Value> operands) {
  OpBuilder builder(call);
  return llvm::map_to_vector(operands, [&](Value operand) -> Value {
    if (!operand)
      return graph::NoneOp::create(builder, call.getLoc(),
                                   builder.getNoneType());
    if (auto argument = dyn_cast<BlockArgument>(operand))
      return call.getInputs()[argument.getArgNumber()];
    return builder.clone(*operand.getDefiningOp())->getResult(0);
  });
}

/// The operations of a kernel that gives the results of the last of them; empty
/// for others.
static SmallVector<Operation *> groupOf(kernel::FuncOp kernel) {
  SmallVector<Operation *> group;
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (!isa<graph::ConstantOp, graph::NoneOp>(op))
      group.push_back(&op);
  auto returned =
      cast<kernel::ReturnOp>(kernel.getBody().front().getTerminator());
  if (!group.empty() && returned.getOperands() != group.back()->getResults())
    group.clear();
  return group;
}

/// Of booleans that are the same triangle at every call (kernel.triangle), so
/// that attention finds out which keys nobody sees.
void Selector::tellTriangles(kernel::FuncOp kernel) {
  using library::MaskForm;
  ArrayRef<kernel::CallOp> calls = callsOf[kernel.getSymNameAttr()];
  for (BlockArgument argument : kernel.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    if (!type.getElementType().isInteger(1) || type.getRank() < 2 ||
        calls.empty())
      continue;
    std::optional<std::pair<int64_t, int64_t>> triangle;
    const bool isSame = llvm::all_of(calls, [&](kernel::CallOp call) {
      ElementsAttr value =
          graph::getConstantElements(call.getInputs()[argument.getArgNumber()]);
      for (MaskForm form : {MaskForm::Keep, MaskForm::Drop}) {
        std::optional<int64_t> offset;
        if (value)
          offset = library::getCausalOffset(
              value, form, type.getShape().end()[-2], type.getShape().back());
        if (!offset)
          continue;
        const std::pair<int64_t, int64_t> own(*offset, form == MaskForm::Keep);
        if (!triangle)
          triangle = own;
        return *triangle == own;
      }
      return false;
    });
    if (isSame && triangle)
      kernel.setArgAttr(
          argument.getArgNumber(), kernel::kTriangleAttr,
          DenseI64ArrayAttr::get(kernel.getContext(),
                                 {triangle->first, triangle->second}));
  }
}

/// Whether argument number `input` is a constant of finite floats at every
/// call.
static bool areFinite(ArrayRef<kernel::CallOp> calls, int64_t input) {
  return llvm::all_of(calls, [&](kernel::CallOp call) {
    ElementsAttr value = graph::getConstantElements(call.getInputs()[input]);
    return value && graph::areFiniteFloats(value);
  });
}

void Selector::nameEntry(kernel::FuncOp kernel) {
  using library::GPULibraries;
  if (!options.gpuCompute.empty())
    kernel->setDiscardableAttr(
        kernel::kComputeAttr,
        StringAttr::get(kernel.getContext(), options.gpuCompute));
  SmallVector<Operation *> group = groupOf(kernel);
  if (group.empty() || options.gpuLibraries == GPULibraries::Never)
    return;
  std::string why;
  std::optional<library::Match> match =
      library::matchGPUGroup(group, options.gpuCompute, &why);
  auto missed = [&](StringRef reason) {
    // Of what is no contraction, nobody expects a library.
    if (llvm::any_of(group, llvm::IsaPred<graph::MatmulOp, graph::ConvOp,
                                          graph::ConvWeightGradientOp>))
      remark::missed(kernel.getLoc(), remark::RemarkOpts::name("KernelToCall")
                                          .category("convert-kernel-to-call"))
          << remark::reason("{0} is generated: {1}", kernel.getSymName(),
                            reason);
  };
  if (!match)
    return missed(why);
  const rt::LibraryEntry *entry = rt::lookupLibraryEntry(match->entry);
  Builder builder(kernel);
  SmallVector<Type> types;
  SmallVector<int64_t> operands;
  while (!match->operands.back())
    match->operands.pop_back();
  for (Value operand : match->operands) {
    auto argument = dyn_cast_if_present<BlockArgument>(operand);
    if (operand && !argument)
      return; // A constant of the kernel's own.
    operands.push_back(argument ? static_cast<int64_t>(argument.getArgNumber())
                                : -1);
    types.push_back(operand ? operand.getType() : builder.getNoneType());
  }
  tuning::Call call = library::makeCall(
      entry, builder.getFunctionType(types, kernel.getResultTypes()),
      match->config);
  if (options.gpuLibraries == GPULibraries::WhereFaster &&
      !entry->isFaster(call.view()))
    return;
  ArrayRef<kernel::CallOp> calls = callsOf[kernel.getSymNameAttr()];
  for (unsigned i = 0; i < operands.size(); ++i)
    if (entry->packsFinite && entry->packsFinite(call.view(), i) &&
        !areFinite(calls, operands[i]))
      return missed("a factor may not be finite, and taps lie outside");
  kernel.setEntry(match->entry);
  kernel.setConfigAttr(match->config.getDictionary(kernel.getContext()));
  kernel.setEntryOperands(operands);
  kernel.setWorkspace(entry->workspaceBytes(call.view()));
}

void Selector::nameEpilogue(kernel::FuncOp kernel) {
  SmallVector<Operation *> group = groupOf(kernel);
  if (group.empty())
    return;
  if (std::optional<NamedAttrList> config = library::matchEpilogue(group))
    kernel.setEpilogueAttr(config->getDictionary(kernel.getContext()));
}

LogicalResult Selector::select(kernel::FuncOp kernel) {
  SmallVector<Operation *> group = groupOf(kernel);
  if (group.empty())
    return success();
  std::string why;
  std::optional<library::Match> match = library::matchGroup(group, &why);
  if (!match) {
    remark::missed(kernel.getLoc(), remark::RemarkOpts::name("KernelToCall")
                                        .category("convert-kernel-to-call"))
        << remark::reason("{0} is generated: {1}", kernel.getSymName(), why);
    return success();
  }

  SmallVector<kernel::CallOp> &calls = callsOf[kernel.getSymNameAttr()];
  library::foldConstants(*match, constantsOf(*match, calls));
  // The entry's operands in terms of the kernel's arguments, or of constants
  // inside it.
  OpBuilder builder(kernel);
  while (!match->operands.empty() && !match->operands.back())
    match->operands.pop_back();
  SmallVector<Type> types =
      llvm::map_to_vector(match->operands, [&](Value operand) -> Type {
        return operand ? operand.getType() : builder.getNoneType();
      });
  auto type = builder.getFunctionType(types, kernel.getResultTypes());
  for (kernel::CallOp call : calls)
    call.getInputsMutable().assign(makeOperands(call, match->operands));
  const rt::LibraryEntry *entry = rt::lookupLibraryEntry(match->entry);
  bool packs = entry && isPacked(*match, *entry, calls, type);
  if (packs) {
    match->config.append(match->packedConfig);
    if (failed(choosePacking(*match, *entry, calls, type)))
      return failure();
  }
  if (entry && !options.isStrict)
    library::chooseAlgorithm(*match, *entry, type, options.bf16Parts);
  if (packs && failed(pack(*match, *entry, calls, type)))
    return failure();
  IntegerAttr workspace;
  if (entry && entry->workspaceBytes)
    if (size_t bytes = entry->workspaceBytes(
            library::makeCall(entry, type, match->config).view()))
      workspace = builder.getI64IntegerAttr(static_cast<int64_t>(bytes));
  DenseI64ArrayAttr inPlace;
  if (match->inPlaceOperand)
    inPlace = builder.getDenseI64ArrayAttr({*match->inPlaceOperand, 0});
  kernel::LibraryOp::create(
      builder, kernel.getLoc(), kernel.getSymName(), match->entry,
      match->config.getDictionary(kernel.getContext()), type, workspace,
      inPlace, builder.getStringAttr(match->note));
  kernel.erase();
  return success();
}
