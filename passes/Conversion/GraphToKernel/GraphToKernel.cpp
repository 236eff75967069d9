// SPDX-License-Identifier: Apache-2.0
//
// convert-graph-to-kernel: every computation becomes a call of a kernel.

#include "Joins.h"

#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Conversion/KernelToLinalg.h"
#include "dlc/passes/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace dlc::conversion {
#define GEN_PASS_DEF_CONVERTGRAPHTOKERNELPASS
#include "dlc/passes/Conversion/Passes.h.inc"
} // namespace dlc::conversion

using namespace mlir;
using namespace dlc;

namespace {

/// Outlines the operations of one module's functions.
class Outliner {
public:
  explicit Outliner(ModuleOp module)
      : module(module), symbols(module), builder(module.getContext()) {}
  void convert(Operation *op);
  size_t calls() const { return callCount; }
  size_t kernels() const { return nameOfText.size(); }
  bool hasFailed = false;

private:
  void outline(Operation *op, ArrayRef<Operation *> group, ValueRange results);
  void callReference(Operation *op, StringRef why);
  void replaceByCall(Operation *op, Operation *kernel, ValueRange operands);
  /// The kernel equal to `kernel`, which is `kernel` itself, named and
  /// inserted, when it is the first of its kind.
  Operation *unify(Operation *kernel, StringRef name);

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  llvm::StringMap<StringAttr> nameOfText;
  size_t callCount = 0;
};

struct ConvertGraphToKernel
    : public conversion::impl::ConvertGraphToKernelPassBase<
          ConvertGraphToKernel> {
  void runOnOperation() override;
};

} // namespace

/// "k.conv_add_relu": the mnemonics, at most four, of many operations those
/// that compute. The names are symbols of the object; with a dot they never
/// meet those of the C library (`exp`).
static std::string makeName(ArrayRef<Operation *> group) {
  constexpr size_t most = 4;
  SmallVector<Operation *> named(group);
  if (group.size() > most)
    llvm::erase_if(named, [](Operation *op) {
      return graph::getFusionKind(op) == graph::FusionKind::Movement;
    });
  if (named.empty())
    named.assign(group.begin(), group.end());
  std::string name = "k";
  for (auto [i, op] : llvm::enumerate(ArrayRef(named).take_front(most)))
    name += (i ? "_" : ".") + op->getName().stripDialect().str();
  return group.size() > std::min(most, named.size()) ? name + "_etc" : name;
}

Operation *Outliner::unify(Operation *kernel, StringRef name) {
  auto setName = [&](StringRef text) {
    kernel->setAttr(SymbolTable::getSymbolAttrName(),
                    builder.getStringAttr(text));
  };
  setName("k");
  std::string text;
  llvm::raw_string_ostream(text) << *kernel;
  StringAttr &known = nameOfText[text];
  if (known) {
    kernel->erase();
    return symbols.lookup(known);
  }
  setName(name);
  symbols.insert(kernel, Block::iterator(module.getBody()->begin()));
  // Kernels stand in front of the functions, in the order of their first use.
  for (Operation &op : *module.getBody())
    if (isa<func::FuncOp>(op)) {
      kernel->moveBefore(&op);
      break;
    }
  known = SymbolTable::getSymbolName(kernel);
  return kernel;
}

void Outliner::replaceByCall(Operation *op, Operation *kernel,
                             ValueRange operands) {
  builder.setInsertionPoint(op);
  auto call = kernel::CallOp::create(
      builder, op->getLoc(), op->getResultTypes(),
      FlatSymbolRefAttr::get(SymbolTable::getSymbolName(kernel)), operands);
  graph::copyPlacement(op, call);
  op->replaceAllUsesWith(call);
  op->erase();
  ++callCount;
}

/// Pairs (argument, result) of equal type when each element of the results
/// depends only on the same element of the arguments.
static DenseI64ArrayAttr getInPlaceAttr(ArrayRef<Operation *> group,
                                        FunctionType type) {
  auto isElementwise = [](Operation *op) {
    return graph::getFusionKind(op) == graph::FusionKind::Elementwise;
  };
  SmallVector<int64_t> pairs;
  if (type.getNumResults() == 1 && llvm::all_of(group, isElementwise))
    for (auto [i, input] : llvm::enumerate(type.getInputs()))
      if (input == type.getResult(0))
        pairs.append({static_cast<int64_t>(i), 0});
  return pairs.empty() ? DenseI64ArrayAttr()
                       : DenseI64ArrayAttr::get(type.getContext(), pairs);
}

/// Equal kernels are one, on whichever device of a kind and how often they run.
static void dropPlacement(Operation *op) {
  for (StringRef name : graph::kPlacementAttrs)
    op->removeDiscardableAttr(name);
}

void Outliner::outline(Operation *op, ArrayRef<Operation *> group,
                       ValueRange results) {
  DenseSet<Operation *> inside(group.begin(), group.end());
  llvm::SetVector<Value> arguments, inlined;
  for (Operation *member : group)
    for (Value operand : member->getOperands()) {
      if (inside.contains(operand.getDefiningOp()))
        continue;
      (conversion::isPartOfKernel(operand, group) ? inlined : arguments)
          .insert(operand);
    }
  const bool hasKnownShapes = llvm::all_of(group, graph::hasStaticTypes);
  auto typeOf = [&](Value value) {
    return hasKnownShapes ? value.getType()
                          : conversion::withAnyShape(value.getType());
  };
  auto type = FunctionType::get(builder.getContext(),
                                llvm::map_to_vector(arguments, typeOf),
                                llvm::map_to_vector(results, typeOf));
  OpBuilder detached(builder.getContext());
  auto kernel = kernel::FuncOp::create(
      detached, op->getLoc(), "k", type, /*sym_visibility=*/StringAttr(),
      /*outputs=*/IntegerAttr(), /*grid=*/DenseI64ArrayAttr(),
      /*anyShape=*/IntegerAttr(), /*epilogue=*/DictionaryAttr(),
      hasKnownShapes ? getInPlaceAttr(group, type) : DenseI64ArrayAttr(),
      /*entry=*/StringAttr(),
      /*config=*/DictionaryAttr(), /*entryOperands=*/DenseI64ArrayAttr(),
      /*workspace=*/IntegerAttr(), /*arg_attrs=*/ArrayAttr(),
      /*res_attrs=*/ArrayAttr());
  Block *body = &kernel.getBody().emplaceBlock();
  detached.setInsertionPointToEnd(body);
  IRMapping mapping;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    mapping.map(argument,
                body->addArgument(typeOf(argument), argument.getLoc()));
    if (argument.getDefiningOp<graph::ConstantOp>())
      kernel.setArgAttr(i, "kernel.constant", detached.getUnitAttr());
  }
  for (Value value : inlined) {
    Operation *constant = detached.clone(*value.getDefiningOp());
    dropPlacement(constant);
    mapping.map(value, constant->getResult(0));
  }
  for (Operation *member : group) {
    Operation *copy = detached.clone(*member, mapping);
    dropPlacement(copy);
    for (Value result : copy->getResults())
      result.setType(typeOf(result));
  }
  SmallVector<Value> returned =
      llvm::map_to_vector(results, [&](Value v) { return mapping.lookup(v); });
  kernel::ReturnOp::create(detached, op->getLoc(), returned);
  // A copy is the runtime's, on whichever device.
  if (DeviceAttr device = graph::getDevice(op);
      !hasHostMemory(device) && !isa<graph::CopyOp>(group.front()))
    kernel->setDiscardableAttr(
        kernel::kRunsOnAttr,
        detached.getStringAttr(stringifyDeviceKind(device.getKind())));
  replaceByCall(op, unify(kernel, makeName(group)), arguments.getArrayRef());
}

void Outliner::callReference(Operation *op, StringRef why) {
  NamedAttrList config;
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().strref().contains('.') &&
        attribute.getName() != graph::kDeviceAttr)
      config.append(attribute);
  StringRef mnemonic = op->getName().stripDialect();
  auto type = FunctionType::get(builder.getContext(), op->getOperandTypes(),
                                op->getResultTypes());
  OpBuilder detached(builder.getContext());
  auto kernel = kernel::LibraryOp::create(
      detached, op->getLoc(), "k", ("reference." + mnemonic).str(),
      config.getDictionary(builder.getContext()), type,
      /*workspace=*/IntegerAttr(), /*inPlace=*/DenseI64ArrayAttr(),
      builder.getStringAttr(why));
  remark::missed(op->getLoc(), remark::RemarkOpts::name("GraphToKernel")
                                   .category("convert-graph-to-kernel"))
      << remark::reason("{0} runs as Reference kernel: {1}", mnemonic, why);
  replaceByCall(op, unify(kernel, makeName(op)), op->getOperands());
}

static bool isStaticView(Operation *op) {
  auto view = dyn_cast<graph::InPlaceOpInterface>(op);
  auto isStatic = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape();
  };
  return view && view.isView() && isStatic(op->getOperand(0)) &&
         isStatic(op->getResult(0));
}

void Outliner::convert(Operation *op) {
  if (isa<graph::ConstantOp, graph::NoneOp>(op) || isStaticView(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return;
  if (auto group = dyn_cast<graph::FusionOp>(op)) {
    Block &body = group.getBody().front();
    SmallVector<Operation *> members;
    for (Operation &member : body.without_terminator())
      members.push_back(&member);
    return outline(op, members, body.getTerminator()->getOperands());
  }
  std::string why;
  if (library::matchGroup({op}) || conversion::canGenerate({op}, &why))
    return outline(op, {op}, op->getResults());
  if (DeviceAttr device = graph::getDevice(op);
      !isa<graph::CopyOp>(op) && !hasHostMemory(device)) {
    op->emitOpError("unsupported: no kernel for ")
        << toString(device) << ": " << why;
    hasFailed = true;
    return;
  }
  callReference(op, why);
}

void ConvertGraphToKernel::runOnOperation() {
  Outliner outliner(getOperation());
  size_t joinCount = 0;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    llvm::DenseSet<Operation *> joins = conversion::findJoins(function);
    joinCount += joins.size();
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
      if (!joins.contains(&op))
        outliner.convert(&op);
    if (outliner.hasFailed)
      return signalPassFailure();
    // Constants that are part of kernels now, and parameters of views.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, function.getBody());
  }
  remark::passed(getOperation().getLoc(),
                 remark::RemarkOpts::name("GraphToKernel")
                     .category("convert-graph-to-kernel"))
      << remark::add("outlined") << remark::metric("Calls", outliner.calls())
      << remark::metric("Kernels", outliner.kernels())
      << remark::metric("Joins", joinCount);
}
