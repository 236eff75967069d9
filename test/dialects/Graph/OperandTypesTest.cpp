// SPDX-License-Identifier: Apache-2.0
//
// Whatever is forgotten of the operands of an operation with known types, what
// is found again out of the rest is what was forgotten, or less: over all
// operations of ops.mlir and of the functions that gradients are tested with.

#include "dlc/dialects/Graph/OperandTypes.h"
#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Inference.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

using namespace mlir;
using namespace dlc::graph;

namespace {

enum class Loss { FirstDimension, Dimensions, Rank };

/// Checks what is found of `op` without the shapes of those operands that
/// `isLost` names; constants, which say how to compute, stay.
class Forgetter {
public:
  explicit Forgetter(Operation *op) : op(op) {}

  void check(Loss loss, llvm::function_ref<bool(unsigned)> isLost) {
    Block block;
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (value.getDefiningOp<ConstantOp>())
        continue;
      Type type = isLost(operand.getOperandNumber())
                      ? forget(value.getType(), loss)
                      : value.getType();
      mapping.map(value, block.addArgument(type, op->getLoc()));
    }
    OpBuilder builder(op->getContext());
    builder.setInsertionPointToEnd(&block);
    Operation *copy = builder.clone(*op, mapping);
    auto refine = [&] {
      return refineOperands(copy, [](Value) { return true; });
    };
    changed = refine();
    // Types become more precise only, so it ends.
    bool isMore = changed;
    for (int round = 0; isMore && round < 10; ++round)
      isMore = refine();
    EXPECT_FALSE(isMore);
    for (auto [value, known] :
         llvm::zip_equal(copy->getOperands(), op->getOperands())) {
      EXPECT_TRUE(isCompatible(value.getType(), known.getType()))
          << text(value.getType()) << " for " << text(known.getType());
    }
  }

  bool changed = false;

private:
  static Type forget(Type type, Loss loss) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return type;
    if (loss == Loss::Rank)
      return UnrankedTensorType::get(tensor.getElementType());
    SmallVector<int64_t> dims(tensor.getShape());
    size_t lost = loss == Loss::Dimensions ? dims.size() : 1;
    for (int64_t &dim : MutableArrayRef(dims).take_front(lost))
      dim = ShapedType::kDynamic;
    return RankedTensorType::get(dims, tensor.getElementType());
  }
  static std::string text(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  Operation *op;
};

} // namespace

/// Operations of known types that have no regions.
static bool isKnown(Operation *op) {
  return isa<GraphDialect>(op->getDialect()) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return !isa<TensorType>(type) || (tensor && tensor.hasStaticShape());
         });
}

/// Forgets each operand, and all at once; true when some type was found again.
static bool findsSome(Operation *op) {
  Forgetter forgetter(op);
  bool found = false;
  for (Loss loss : {Loss::FirstDimension, Loss::Dimensions, Loss::Rank}) {
    forgetter.check(loss, [](unsigned) { return true; });
    found |= forgetter.changed;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      forgetter.check(loss, [&](unsigned operand) { return operand == i; });
      found |= forgetter.changed;
    }
  }
  return found;
}

/// Files with functions of all kinds of operations.
static std::vector<std::string> listFiles() {
  std::vector<std::string> files = {DLC_TEST_DIR "/dialects/Graph/ops.mlir"};
  for (const auto &entry :
       std::filesystem::directory_iterator(DLC_TEST_DIR "/passes/Graph/Inputs"))
    files.push_back(entry.path().string());
  return files;
}

TEST(OperandTypes, FindsNothingButWhatHolds) {
  MLIRContext context;
  context.loadDialect<dlc::BaseDialect, GraphDialect, func::FuncDialect>();
  size_t operations = 0;
  std::map<std::string, bool> isFound; // Of operations with a rule.
  for (const std::string &path : listFiles()) {
    auto module = parseSourceFile<ModuleOp>(path, &context);
    ASSERT_TRUE(module) << path;
    module->walk([&](Operation *op) {
      if (!isKnown(op))
        return;
      std::string name = op->getName().getStringRef().str();
      SCOPED_TRACE(name);
      ++operations;
      bool found = findsSome(op);
      if (isa<OperandTypesOpInterface>(op))
        isFound[name] |= found;
      else if (!isa<ElementwiseOpInterface>(op))
        EXPECT_FALSE(found);
    });
  }
  EXPECT_GT(operations, 200u);
  EXPECT_GE(isFound.size(), 10u);
  for (const auto &[name, found] : isFound)
    EXPECT_TRUE(found) << name << " has a rule that tells nothing";
}
