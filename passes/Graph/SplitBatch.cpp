// SPDX-License-Identifier: Apache-2.0
//
// graph-split-batch: what takes much memory for a whole batch, or is too large
// for caches, is computed for one part of it after the other.

#include "BatchParts.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/IR/Remarks.h"

namespace dlc::graph {
#define GEN_PASS_DEF_SPLITBATCHPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {
/// Operations in an order in which chosen ones stand together.
struct Stage {
  SmallVector<Operation *> before;  ///< None needs a chosen one of the stage.
  SmallVector<Operation *> chosen;  ///< Part by part.
  SmallVector<Operation *> delayed; ///< What needs all parts.
};

/// Finds stages: those that are chosen wait until one needs what comes of all
/// their parts, and so does what needs them.
class Order {
public:
  Order(Block &block, const BatchParts &chosen);

  SmallVector<Stage> stages;

private:
  bool mustWait(Operation *op) const;
  bool needsAll(Operation *op, const Batched &batched) const;

  const BatchParts &chosen;
  DenseSet<Operation *> waiting; ///< What the stage computes but for `before`.
};
} // namespace

/// Where all parts have to be there more often, statistics of the batch stand
/// between the convolutions: what they are of is kept in all its parts, which
/// no cache holds.
static constexpr size_t kMostStages = 8;

Order::Order(Block &block, const BatchParts &chosen)
    : stages(1), chosen(chosen) {
  for (Operation &op : block.without_terminator()) {
    auto own = chosen.operations.find(&op);
    bool isChosen = own != chosen.operations.end();
    if (isChosen && needsAll(&op, own->second)) {
      stages.emplace_back();
      waiting.clear();
    }
    Stage &stage = stages.back();
    if (isChosen)
      stage.chosen.push_back(&op);
    else if (mustWait(&op))
      stage.delayed.push_back(&op);
    else {
      stage.before.push_back(&op);
      continue;
    }
    waiting.insert(&op);
  }
}

/// What `op` or its regions read is not there yet.
bool Order::mustWait(Operation *op) const {
  return op
      ->walk([&](Operation *inner) {
        auto isWaiting = [&](Value value) {
          return waiting.contains(value.getDefiningOp());
        };
        return llvm::any_of(inner->getOperands(), isWaiting)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a chosen operation reads something that is there when all parts of
/// what waits have been computed only.
bool Order::needsAll(Operation *op, const Batched &batched) const {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    Operation *producer = operand.get().getDefiningOp();
    if (!waiting.contains(producer))
      return false;
    auto own = chosen.operations.find(producer);
    return own == chosen.operations.end() || own->second.isSummed ||
           !llvm::is_contained(batched.operands, operand.getOperandNumber());
  });
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

namespace {
/// Builds the parts of chosen operations.
class Splitter {
public:
  Splitter(Block &block, const BatchParts &chosen)
      : end(block.getTerminator()), chosen(chosen), builder(end) {}
  void build(const Stage &stage);

private:
  void buildPart(Operation *op, const Batched &batched, int64_t part);
  Value &placeOf(Value whole, int64_t part) {
    SmallVector<Value> &known = parts[whole];
    known.resize(static_cast<size_t>(chosen.parts));
    return known[static_cast<size_t>(part)];
  }
  Value partOf(Value whole, int64_t part, Operation *model);
  void join(Operation *op);
  Value make(Operation *model, StringRef name, ValueRange operands,
             ArrayRef<NamedAttribute> attributes = {});
  void setPart(Operation *built, int64_t part) {
    built->setDiscardableAttr(kPartAttr, builder.getI64IntegerAttr(part));
  }
  Value makeInt(Operation *model, int64_t value) {
    return ConstantOp::create(builder, model->getLoc(),
                              makeInts(builder.getContext(), {value}));
  }

  Operation *end;
  const BatchParts &chosen;
  OpBuilder builder;
  DenseMap<Value, SmallVector<Value>> parts;
  DenseMap<Value, Value> sums;
};
} // namespace

Value Splitter::make(Operation *model, StringRef name, ValueRange operands,
                     ArrayRef<NamedAttribute> attributes) {
  Operation *built =
      createInferred(builder, model->getLoc(), name, operands, attributes);
  copyPlacement(model, built);
  return built->getResult(0);
}

/// A part of a value; where only all of it exists it is cut out, for `model`.
Value Splitter::partOf(Value whole, int64_t part, Operation *model) {
  Value &result = placeOf(whole, part);
  if (!result) {
    result = make(model, SliceOp::getOperationName(),
                  {whole, makeInt(model, chosen.beginOf(part)),
                   makeInt(model, chosen.beginOf(part + 1)), makeInt(model, 0),
                   makeInt(model, 1)});
    setPart(result.getDefiningOp(), part);
  }
  return result;
}

void Splitter::buildPart(Operation *op, const Batched &batched, int64_t part) {
  SmallVector<Value> operands(op->getOperands());
  for (unsigned k : batched.operands)
    operands[k] = partOf(operands[k], part, op);
  Operation *built = builder.clone(*op);
  built->setOperands(operands);
  if (auto rule = dyn_cast<BatchOpInterface>(built))
    rule.setExamples(builder, chosen.examplesOf(part));
  setPart(built, part);
  Value whole = op->getResult(0), own = built->getResult(0);
  if (batched.isSummed) {
    Value &sum = sums[whole];
    if (sum)
      own = make(op, AddOp::getOperationName(), {sum, own});
    setPart(own.getDefiningOp(), part);
    sum = own;
    return;
  }
  auto type = cast<RankedTensorType>(whole.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = chosen.examplesOf(part);
  own.setType(type.clone(shape));
  placeOf(whole, part) = own;
}

/// The whole result, for those that read it as such.
void Splitter::join(Operation *op) {
  Value whole = op->getResult(0);
  auto isOther = [&](OpOperand &use) {
    // What is chosen takes parts, of what it does not need all of.
    auto user = chosen.operations.find(use.getOwner());
    return user == chosen.operations.end() ||
           !llvm::is_contained(user->second.operands, use.getOperandNumber());
  };
  if (Value sum = sums.lookup(whole)) {
    whole.replaceAllUsesWith(sum);
    return;
  }
  if (!llvm::any_of(whole.getUses(), isOther))
    return;
  Builder attributes(builder.getContext());
  Value joined =
      make(op, ConcatOp::getOperationName(), parts[whole],
           attributes.getNamedAttr("axis", attributes.getI64IntegerAttr(0)));
  whole.replaceUsesWithIf(joined, isOther);
}

void Splitter::build(const Stage &stage) {
  for (Operation *op : stage.before)
    op->moveBefore(end);
  for (int64_t part = 0; part < chosen.parts; ++part)
    for (Operation *op : stage.chosen)
      buildPart(op, chosen.operations.find(op)->second, part);
  for (Operation *op : stage.chosen)
    join(op);
  for (Operation *op : stage.delayed)
    op->moveBefore(end);
}

namespace {
struct SplitBatch : graph::impl::SplitBatchPassBase<SplitBatch> {
  using SplitBatchPassBase::SplitBatchPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (parts >= 0)
      return success();
    return emitError(UnknownLoc::get(context),
                     "graph-split-batch: expected at least 0 parts, got ")
           << parts.getValue();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (parts == 1 || !function.getBody().hasOneBlock())
      return;
    Block &block = function.front();
    if (parts == 0 && llvm::any_of(block, [](Operation &op) {
          return op.hasAttr(kPartAttr);
        }))
      return;
    FailureOr<BatchParts> chosen =
        parts > 1 ? partsForMemory(block, parts)
                  : partsForCaches(
                        block, {.isStrict = isStrict, .bf16Parts = bf16Parts});
    if (failed(chosen))
      return signalPassFailure();
    if (chosen->parts == 1)
      return;
    const Order order(block, *chosen);
    if (order.stages.size() <= kMostStages)
      split(function, *chosen, order);
  }

private:
  static void split(func::FuncOp function, const BatchParts &chosen,
                    const Order &order) {
    Splitter splitter(function.front(), chosen);
    for (const Stage &stage : order.stages)
      splitter.build(stage);
    auto count = chosen.operations.size();
    for (const auto &each : llvm::reverse(chosen.operations))
      each.first->erase();
    remark::passed(function.getLoc(), remark::RemarkOpts::name("SplitBatch")
                                          .category("graph-split-batch")
                                          .function(function.getName()))
        << remark::add("split") << remark::metric("Operations", count)
        << remark::metric("Parts", chosen.parts);
  }
};
} // namespace
