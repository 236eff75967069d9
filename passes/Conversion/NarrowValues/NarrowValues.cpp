// SPDX-License-Identifier: Apache-2.0
//
// kernel-narrow-values: what kernels hand to those that round it is bfloat16.

#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Conversion/KernelToLinalg.h"
#include "dlc/passes/Conversion/Passes.h"
#include "dlc/runtime/Kernel/Library.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace dlc::conversion {
#define GEN_PASS_DEF_NARROWVALUESPASS
#include "dlc/passes/Conversion/Passes.h.inc"
} // namespace dlc::conversion

using namespace mlir;
using namespace dlc;

namespace {

/// Where the elements of a value of bfloat16 lie: as those of the floats, or in
/// blocks of 32 channels, [N][C/32][...][32], in place of two of 16.
enum class Form { Same, Blocks };

/// The values of one module that are narrowed, and the kernels that then read
/// and write them.
class Narrowing {
public:
  explicit Narrowing(ModuleOp module);

  /// Chooses values for which all that make and read them know the form, and
  /// which a kernel rounds, or all add to what is chosen.
  void choose(Form form);
  void rewrite();
  size_t count() const { return narrow.size(); }
  uint64_t savedBytes() const;

private:
  bool isCandidate(Value value, Form form) const;
  /// Drops candidates until every call knows its types.
  void settle();
  bool settle(kernel::CallOp call);
  void dropUseless();
  bool isUseful(OpOperand &use, const llvm::SmallDenseSet<Value> &useful);
  bool isHarmless(OpOperand &use, const llvm::SmallDenseSet<Value> &useful);
  void drop(ArrayRef<Value> values);
  /// Types of a call's inputs and results, but for `without`.
  FunctionType typeOf(kernel::CallOp call, ArrayRef<Value> without = {}) const;
  bool isSupported(kernel::CallOp call, FunctionType type);
  bool isGenerated(kernel::FuncOp kernel, FunctionType type);
  Operation *kernelOf(kernel::CallOp call) const {
    return symbols.lookup(call.getCallee());
  }
  /// A kernel like `kernel`, of such types; not yet in the module.
  Operation *narrowed(Operation *kernel, FunctionType type) const;

  ModuleOp module;
  mutable SymbolTable symbols;
  SmallVector<kernel::CallOp> calls;
  /// Values that are narrowed, and those that may be.
  llvm::MapVector<Value, Type> narrow, candidates;
  DenseMap<std::pair<Operation *, Type>, bool> generated;
};

} // namespace

Narrowing::Narrowing(ModuleOp module) : module(module), symbols(module) {
  module.walk([&](kernel::CallOp call) { calls.push_back(call); });
}

/// The type of `type`'s elements in that form; null where they have none.
static RankedTensorType shortType(RankedTensorType type, Form form) {
  constexpr int64_t block = 16;
  SmallVector<int64_t> shape(type.getShape());
  if (form == Form::Blocks) {
    if (shape.size() < 4 || shape.back() != block || shape[1] % 2 != 0)
      return {};
    shape[1] /= 2;
    shape.back() *= 2;
  }
  return RankedTensorType::get(shape, BFloat16Type::get(type.getContext()));
}

/// Whether `use` is a call, or leaves the elements as they are for its result.
static bool isReader(OpOperand &use, Form form) {
  if (isa<kernel::CallOp>(use.getOwner()))
    return true;
  auto view = dyn_cast<graph::InPlaceOpInterface>(use.getOwner());
  return form == Form::Same && view && view.isView() &&
         use.getOperandNumber() == 0;
}

bool Narrowing::isCandidate(Value value, Form form) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isF32() &&
         !narrow.contains(value) && !value.use_empty() &&
         shortType(type, form) &&
         llvm::all_of(value.getUses(),
                      [&](OpOperand &use) { return isReader(use, form); });
}

FunctionType Narrowing::typeOf(kernel::CallOp call,
                               ArrayRef<Value> without) const {
  auto now = [&](Value value) -> Type {
    if (Type type = narrow.lookup(value))
      return type;
    Type type =
        llvm::is_contained(without, value) ? Type() : candidates.lookup(value);
    return type ? type : value.getType();
  };
  return FunctionType::get(call.getContext(),
                           llvm::map_to_vector(call.getInputs(), now),
                           llvm::map_to_vector(call.getResults(), now));
}

static ArrayRef<int64_t> shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

/// Whether some operand or result has its channels in other blocks.
static bool isMoved(kernel::FuncOp kernel, FunctionType type) {
  auto differ = [](TypeRange now, TypeRange before) {
    return llvm::any_of(llvm::zip_equal(now, before), [](auto types) {
      auto [a, b] = types;
      return shapeOf(a) != shapeOf(b);
    });
  };
  return differ(type.getInputs(), kernel.getArgumentTypes()) ||
         differ(type.getResults(), kernel.getResultTypes());
}

/// The type in larger blocks; null where it has none.
static RankedTensorType movedType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  RankedTensorType moved =
      tensor ? shortType(tensor, Form::Blocks) : RankedTensorType();
  return moved ? tensor.clone(moved.getShape()) : RankedTensorType();
}

static bool hasAnyBlocks(Operation &op) {
  auto layout = dyn_cast<graph::LayoutOpInterface>(op);
  return layout && layout.hasAnyBlocks();
}

/// Whether the kernel computes the same in the blocks that `type` has, which
/// all of its operands and results are in.
static bool canMove(kernel::FuncOp kernel, FunctionType type) {
  auto areMoved = [](TypeRange now, TypeRange before) {
    return llvm::all_of(llvm::zip_equal(now, before), [](auto types) {
      auto [a, b] = types;
      RankedTensorType moved = movedType(b);
      return moved && shapeOf(a) == moved.getShape();
    });
  };
  if (!areMoved(type.getInputs(), kernel.getArgumentTypes()) ||
      !areMoved(type.getResults(), kernel.getResultTypes()))
    return false;
  auto keepsBlocks = [](Operation &op) {
    if (op.getNumResults() != 1)
      return false;
    Type result = op.getResult(0).getType();
    if (isa<graph::ConstantOp, graph::NoneOp>(op)) {
      auto constant = dyn_cast<RankedTensorType>(result);
      return !constant || constant.getNumElements() == 1;
    }
    auto isLike = [&](Type other) {
      auto tensor = dyn_cast<RankedTensorType>(other);
      return !tensor || tensor.getNumElements() == 1 ||
             tensor.getShape() == shapeOf(result);
    };
    return movedType(result) &&
           (hasAnyBlocks(op) ||
            (graph::getFusionKind(&op) == graph::FusionKind::Elementwise &&
             llvm::all_of(op.getOperandTypes(), isLike)));
  };
  return llvm::all_of(kernel.getBody().front().without_terminator(),
                      keepsBlocks);
}

bool Narrowing::isGenerated(kernel::FuncOp kernel, FunctionType type) {
  auto [known, isNew] = generated.try_emplace({kernel, type}, false);
  if (!isNew)
    return known->second;
  if (isMoved(kernel, type) && !canMove(kernel, type))
    return false;
  OwningOpRef<Operation *> copy(narrowed(kernel, type));
  SmallVector<Operation *> group;
  for (Operation &op :
       cast<kernel::FuncOp>(*copy).getBody().front().without_terminator())
    if (!isa<graph::ConstantOp, graph::NoneOp>(op))
      group.push_back(&op);
  return generated[{kernel, type}] = conversion::canGenerate(group);
}

bool Narrowing::isSupported(kernel::CallOp call, FunctionType type) {
  Operation *symbol = kernelOf(call);
  if (auto kernel = dyn_cast<kernel::FuncOp>(symbol))
    return !kernel.isDestinationStyle() && !kernel::isForGPU(kernel) &&
           isGenerated(kernel, type);
  auto library = cast<kernel::LibraryOp>(symbol);
  const rt::LibraryEntry *entry = rt::lookupLibraryEntry(library.getEntry());
  std::string why;
  return entry && entry->isSupported &&
         entry->isSupported(
             library::makeCall(entry, type, library.getConfig()).view(), why);
}

void Narrowing::drop(ArrayRef<Value> values) {
  for (Value value : values)
    candidates.erase(value);
}

/// Drops candidates of the call, as few as it takes for the call to be known;
/// true if it did.
bool Narrowing::settle(kernel::CallOp call) {
  SmallVector<Value> own;
  for (Value value : llvm::concat<Value>(llvm::to_vector(call.getInputs()),
                                         llvm::to_vector(call.getResults())))
    if (candidates.contains(value) && !llvm::is_contained(own, value))
      own.push_back(value);
  if (own.empty() || isSupported(call, typeOf(call)))
    return false;
  // Any of them may depend on each other, as a residual and a result do. Calls
  // of more, as of long concatenations, are not worth all those that there are.
  constexpr size_t most = 6;
  for (size_t count = 1; count < own.size() && own.size() <= most; ++count)
    for (unsigned which = 1; which < 1u << own.size(); ++which) {
      if (static_cast<size_t>(llvm::popcount(which)) != count)
        continue;
      SmallVector<Value> without;
      for (auto [i, value] : llvm::enumerate(own))
        if (which >> i & 1)
          without.push_back(value);
      if (isSupported(call, typeOf(call, without))) {
        drop(without);
        return true;
      }
    }
  drop(own);
  return true;
}

void Narrowing::settle() {
  // What a view reads is narrowed exactly with what it gives.
  auto settleView = [&](graph::InPlaceOpInterface view) {
    Value from = view->getOperand(0), to = view->getResult(0);
    if (candidates.contains(from) == candidates.contains(to))
      return false;
    drop({from, to});
    return true;
  };
  bool hasChanged = true;
  while (hasChanged) {
    hasChanged = false;
    for (kernel::CallOp call : calls)
      hasChanged |= settle(call);
    module.walk([&](graph::InPlaceOpInterface view) {
      if (view.isView() && isa<func::FuncOp>(view->getParentOp()))
        hasChanged |= settleView(view);
    });
  }
}

/// Whether the call rounds the floats of its input number `operand`.
static bool rounds(kernel::LibraryOp library, unsigned operand) {
  auto parts = library.getConfig().getAs<IntegerAttr>(rt::kBf16Parts);
  return parts && parts.getInt() == library::kRounded &&
         operand < rt::lookupLibraryEntry(library.getEntry())->roundedOperands;
}

bool Narrowing::isUseful(OpOperand &use,
                         const llvm::SmallDenseSet<Value> &useful) {
  auto call = dyn_cast<kernel::CallOp>(use.getOwner());
  if (!call) // A view.
    return useful.contains(use.getOwner()->getResult(0));
  auto library = dyn_cast<kernel::LibraryOp>(kernelOf(call));
  return library && rounds(library, use.getOperandNumber());
}

/// Whether `use` gives no more than another error of what is rounded all the
/// same: as a residual of it, or as an element of its windows.
bool Narrowing::isHarmless(OpOperand &use,
                           const llvm::SmallDenseSet<Value> &useful) {
  auto call = dyn_cast<kernel::CallOp>(use.getOwner());
  if (!call || !llvm::all_of(call.getResults(), [&](Value result) {
        return useful.contains(result);
      }))
    return false;
  auto generated = dyn_cast<kernel::FuncOp>(kernelOf(call));
  return !generated ||
         llvm::all_of(generated.getBody().front().without_terminator(),
                      hasAnyBlocks);
}

void Narrowing::dropUseless() {
  llvm::SmallDenseSet<Value> useful;
  bool hasChanged = true;
  while (hasChanged) {
    hasChanged = false;
    for (auto [value, type] : candidates) {
      auto isOne = [&](OpOperand &use) { return isUseful(use, useful); };
      auto isOther = [&](OpOperand &use) { return isHarmless(use, useful); };
      if (!useful.contains(value) && (llvm::any_of(value.getUses(), isOne) ||
                                      llvm::all_of(value.getUses(), isOther)))
        hasChanged |= useful.insert(value).second;
    }
  }
  candidates.remove_if(
      [&](auto &entry) { return !useful.contains(entry.first); });
}

void Narrowing::choose(Form form) {
  candidates.clear();
  auto add = [&](Value value) {
    if (isCandidate(value, form))
      candidates[value] =
          shortType(cast<RankedTensorType>(value.getType()), form);
  };
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.getBody().getOps())
      if (auto view = dyn_cast<graph::InPlaceOpInterface>(op);
          isa<kernel::CallOp>(op) ||
          (form == Form::Same && view && view.isView()))
        llvm::for_each(op.getResults(), add);
  settle();
  // What goes may have been what others were of one type with.
  for (size_t before = 0; before != candidates.size();) {
    before = candidates.size();
    dropUseless();
    settle();
  }
  for (auto &candidate : candidates)
    narrow.insert(candidate);
  candidates.clear();
}

uint64_t Narrowing::savedBytes() const {
  uint64_t bytes = 0;
  for (auto [value, type] : narrow)
    bytes += 2 * cast<ShapedType>(type).getNumElements();
  return bytes;
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

static Value castTo(OpBuilder &builder, Value value, Type type) {
  return graph::CastOp::create(
      builder, value.getLoc(), type, value,
      TypeAttr::get(cast<ShapedType>(type).getElementType()));
}

/// Keeps the pairs (input, output) of `inPlace` that still have one type.
template <typename Kernel>
static void keepInPlace(Kernel kernel, FunctionType type) {
  DenseI64ArrayAttr pairs = kernel.getInPlaceAttr();
  SmallVector<int64_t> kept;
  for (int64_t i = 0; pairs && i < pairs.size(); i += 2)
    if (type.getInput(pairs[i]) == type.getResult(pairs[i + 1]))
      kept.append({pairs[i], pairs[i + 1]});
  if (kept.empty())
    kernel.removeInPlaceAttr();
  else
    kernel.setInPlace(kept);
}

/// Floats inside, whatever there is outside.
static void narrowFunction(kernel::FuncOp kernel, FunctionType type) {
  Block &body = kernel.getBody().front();
  if (isMoved(kernel, type))
    for (Operation &op : body.without_terminator())
      for (Value result : op.getResults())
        if (RankedTensorType moved = movedType(result.getType()))
          result.setType(moved);
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (auto [argument, now] :
       llvm::zip_equal(body.getArguments(), type.getInputs())) {
    Type before = argument.getType();
    if (before == now)
      continue;
    argument.setType(now);
    Value floats = castTo(builder, argument,
                          cast<RankedTensorType>(before).clone(shapeOf(now)));
    argument.replaceAllUsesExcept(floats, floats.getDefiningOp());
  }
  Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  for (auto [use, now] :
       llvm::zip_equal(end->getOpOperands(), type.getResults()))
    if (use.get().getType() != now)
      use.set(castTo(builder, use.get(), now));
  kernel.setFunctionType(type);
  keepInPlace(kernel, type);
}

Operation *Narrowing::narrowed(Operation *kernel, FunctionType type) const {
  Operation *copy = kernel->clone();
  if (auto generated = dyn_cast<kernel::FuncOp>(copy)) {
    narrowFunction(generated, type);
    return copy;
  }
  auto library = cast<kernel::LibraryOp>(copy);
  library.setFunctionType(type);
  keepInPlace(library, type);
  library.removeWorkspaceAttr();
  const rt::LibraryEntry *entry = rt::lookupLibraryEntry(library.getEntry());
  if (entry->workspaceBytes)
    if (size_t bytes = entry->workspaceBytes(
            library::makeCall(entry, type, library.getConfig()).view()))
      library.setWorkspace(static_cast<int64_t>(bytes));
  return copy;
}

void Narrowing::rewrite() {
  // One kernel for each of a kernel's types, in the order of the calls.
  llvm::MapVector<std::pair<Operation *, Type>, SmallVector<kernel::CallOp>>
      callsOf;
  llvm::SmallSetVector<Operation *, 16> changed;
  for (kernel::CallOp call : calls) {
    Operation *kernel = kernelOf(call);
    FunctionType type = typeOf(call);
    callsOf[{kernel, type}].push_back(call);
    if (type != FunctionType::get(type.getContext(),
                                  llvm::to_vector(call.getOperandTypes()),
                                  llvm::to_vector(call.getResultTypes())))
      changed.insert(kernel);
  }
  for (auto [value, type] : narrow)
    value.setType(type);
  SmallVector<std::pair<Operation *, ArrayRef<kernel::CallOp>>> copies;
  for (auto &[key, own] : callsOf) {
    auto [kernel, type] = key;
    if (!changed.contains(kernel))
      continue;
    Operation *copy = narrowed(kernel, cast<FunctionType>(type));
    module.insert(kernel, copy);
    copies.push_back({copy, own});
  }
  // The first copy has the name of what it replaces.
  for (Operation *kernel : changed)
    symbols.erase(kernel);
  for (auto [copy, own] : copies) {
    const StringAttr name = symbols.insert(copy);
    for (kernel::CallOp call : own)
      call.setCallee(name);
  }
}

namespace {
struct NarrowValues
    : public conversion::impl::NarrowValuesPassBase<NarrowValues> {
  void runOnOperation() override {
    Narrowing narrowing(getOperation());
    narrowing.choose(Form::Blocks);
    narrowing.choose(Form::Same);
    if (narrowing.count() == 0)
      return markAllAnalysesPreserved();
    narrowing.rewrite();
    remark::passed(getOperation().getLoc(),
                   remark::RemarkOpts::name("NarrowValues")
                       .category("kernel-narrow-values"))
        << remark::reason("{0} values are of bfloat16, {1} bytes less",
                          narrowing.count(), narrowing.savedBytes());
  }
};
} // namespace
