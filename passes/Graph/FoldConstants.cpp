// SPDX-License-Identifier: Apache-2.0
//
// graph-fold-constants: one walk in program order; each operation of constants
// becomes constants.

#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/passes/Graph/Evaluate.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dlc::graph {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

static remark::RemarkOpts remarkOpts(Operation *op, StringRef name) {
  auto function = op->getParentOfType<func::FuncOp>();
  return remark::RemarkOpts::name(name)
      .category("graph-fold-constants")
      .function(function ? function.getName() : "");
}

/// The values of all operands, null for absent ones; false when one is unknown.
static bool collectOperands(Operation *op,
                            SmallVectorImpl<ElementsAttr> &operands) {
  for (Value operand : op->getOperands()) {
    operands.push_back(getConstantElements(operand));
    if (!operands.back() && !isa<NoneType>(operand.getType()))
      return false;
  }
  return true;
}

/// Bytes of all results and of operands that must be repeated for computing;
/// nullopt when a result's shape depends on data.
static std::optional<int64_t> bytesOf(Operation *op,
                                      ArrayRef<ElementsAttr> operands) {
  int64_t bytes = 0;
  auto add = [&](ShapedType type) {
    std::optional<int64_t> size =
        rt::byteCount(toDataType(type.getElementType()), type.getShape());
    return !size || llvm::AddOverflow(bytes, *size, bytes);
  };
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || add(tensor))
      return std::nullopt;
  }
  for (ElementsAttr operand : operands)
    if (operand && operand.isSplat() && add(operand.getShapedType()))
      return std::nullopt;
  return bytes;
}

/// Multiplications of a contraction: its result times the elements of the
/// second operand that each of them meets.
static int64_t workOf(Operation *op, ArrayRef<ElementsAttr> operands) {
  if (getFusionKind(op) != FusionKind::Anchor)
    return 0;
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t depth = operands[1].getNumElements();
  int64_t columns = std::max<int64_t>(
      1, result.getRank() == 2 ? result.getShape().back()
                               : operands[1].getShapedType().getDimSize(0));
  int64_t work;
  return llvm::MulOverflow(result.getNumElements(),
                           std::max<int64_t>(1, depth / columns), work)
             ? INT64_MAX
             : work;
}

/// A result may only change its type where every user takes any tensor.
static bool mayReplace(Value result, ElementsAttr value) {
  return result.getType() == value.getShapedType() ||
         (isCompatible(result.getType(), value.getShapedType()) &&
          llvm::all_of(result.getUsers(),
                       [](Operation *user) { return isComputed(user); }));
}

/// Whether a result is far larger than what it is made of: an embedding of
/// tokens that are all alike, for each of a batch. Reading it takes longer than
/// making it where it is read.
static bool isRepetition(Operation *op, ArrayRef<ElementsAttr> operands) {
  constexpr int64_t largeBytes = 1 << 16, manyTimes = 16;
  int64_t results = 0, parts = 0;
  for (Type type : op->getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    results +=
        rt::byteCount(toDataType(tensor.getElementType()), tensor.getShape())
            .value_or(0);
  }
  for (ElementsAttr operand : operands)
    if (operand)
      parts += rt::byteCount(toDataType(operand.getElementType()),
                             operand.getShapedType().getShape())
                   .value_or(0);
  return getFusionKind(op) == FusionKind::Movement && results > largeBytes &&
         results / manyTimes > parts;
}

namespace {

class Folder {
public:
  Folder(int64_t maxBytes, int64_t maxWork)
      : maxBytes(maxBytes), maxWork(maxWork) {}

  void fold(Operation *op);

  int64_t folded = 0, erased = 0;

private:
  SmallVector<ElementsAttr> compute(Operation *op,
                                    ArrayRef<ElementsAttr> operands);
  int64_t maxBytes, maxWork;
};

} // namespace

SmallVector<ElementsAttr> Folder::compute(Operation *op,
                                          ArrayRef<ElementsAttr> operands) {
  auto bytes = bytesOf(op, operands);
  SmallVector<ElementsAttr> results;
  if (bytes) {
    results = evaluateSplat(op, operands);
    if (!results.empty())
      return results;
  }
  auto missed = [&](auto &&...reason) {
    remark::missed(op->getLoc(), remarkOpts(op, "KeepConstantOperation"))
        << remark::reason(std::forward<decltype(reason)>(reason)...);
  };
  if (bytes && *bytes > maxBytes) {
    missed("{0} bytes are more than max-bytes={1}", *bytes, maxBytes);
    return {};
  }
  if (bytes && isRepetition(op, operands)) {
    missed("its result repeats what it is made of");
    return {};
  }
  if (bytes && workOf(op, operands) > maxWork) {
    missed("{0} multiplications are more than max-work={1}",
           workOf(op, operands), maxWork);
    return {};
  }
  rt::Status status = evaluateOperation(op, operands, results);
  if (!status.isOk()) {
    missed("it cannot be computed: {0}", status.message());
    return {};
  }
  return results;
}

void Folder::fold(Operation *op) {
  if (isOpTriviallyDead(op)) {
    op->erase();
    ++erased;
    return;
  }
  SmallVector<ElementsAttr> operands;
  if (!isComputed(op) || op->getNumOperands() == 0 ||
      !collectOperands(op, operands))
    return;
  SmallVector<ElementsAttr> results = compute(op, operands);
  if (results.empty() ||
      !llvm::all_of(llvm::zip_equal(op->getResults(), results), [](auto pair) {
        return mayReplace(std::get<0>(pair), std::get<1>(pair));
      }))
    return;
  OpBuilder builder(op);
  Dialect *dialect = op->getDialect();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results)) {
    if (result.use_empty())
      continue;
    Operation *constant = dialect->materializeConstant(
        builder, value, value.getShapedType(), op->getLoc());
    result.replaceAllUsesWith(constant->getResult(0));
  }
  op->erase();
  ++folded;
}

namespace {
struct FoldConstants : dlc::graph::impl::FoldConstantsPassBase<FoldConstants> {
  using FoldConstantsPassBase::FoldConstantsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Folder folder(maxBytes, maxWork);
    for (Block &block : function.getBody()) {
      for (Operation &op : llvm::make_early_inc_range(block))
        if (isa_and_nonnull<GraphDialect>(op.getDialect()))
          folder.fold(&op);
      // Constants whose users are gone, and what led to them.
      folder.erased += eraseDead(block);
    }
    remark::analysis(function.getLoc(), remarkOpts(function, "FoldConstants"))
        << remark::metric("Folded", folder.folded)
        << remark::metric("Erased", folder.erased);
  }
};
} // namespace
