// SPDX-License-Identifier: Apache-2.0
//
// graph-split-batch: what takes much memory for a whole batch is computed for
// one part of it after the other.

#include "dlc/dialects/Graph/Batches.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace dlc::graph {
#define GEN_PASS_DEF_SPLITBATCHPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

//===----------------------------------------------------------------------===//
// What is split
//===----------------------------------------------------------------------===//

namespace {
/// Operations that are to be computed in parts, and in how many.
struct Chosen {
  Chosen(Block &block, int64_t wanted);

  llvm::MapVector<Operation *, Batched> operations;
  int64_t batch = 0, parts = 1;
};

/// Values of an operation that belong to the batch.
class BatchedValues {
public:
  BatchedValues(Operation *op, const Batched &batched) {
    for (unsigned k : batched.operands)
      values.push_back(op->getOperand(k));
    if (!batched.isSummed)
      values.push_back(op->getResult(0));
  }

  int64_t largest() const {
    int64_t bytes = 0;
    for (Value value : values)
      bytes = std::max(bytes, bytesOf(value.getType()));
    return bytes;
  }

  /// The batch of all, or 0 if they differ.
  int64_t batch() const {
    int64_t common = -1;
    for (Value value : values) {
      auto type = cast<RankedTensorType>(value.getType());
      int64_t own = type.getRank() > 0 ? type.getDimSize(0) : 0;
      common = common < 0 || common == own ? own : 0;
    }
    return std::max<int64_t>(common, 0);
  }

private:
  SmallVector<Value, 4> values;
};
} // namespace

Chosen::Chosen(Block &block, int64_t wanted) {
  int64_t largest = 0;
  for (Operation &op : block.without_terminator()) {
    if (!isComputed(&op) || !hasStaticTypes(&op))
      continue;
    std::optional<Batched> batched = batchedOf(&op);
    if (!batched)
      continue;
    const BatchedValues values(&op, *batched);
    if (values.batch() < 2)
      continue;
    // Weights have first dimensions, too: convolutions tell the batch.
    if (getFusionKind(&op) == FusionKind::Anchor &&
        values.largest() > largest) {
      largest = values.largest();
      batch = values.batch();
    }
    operations.insert({&op, std::move(*batched)});
  }
  operations.remove_if([&](const auto &each) {
    const BatchedValues values(each.first, each.second);
    return values.batch() != batch || values.largest() <= largest / wanted;
  });
  if (operations.empty())
    return;
  for (parts = std::min(wanted, batch); batch % parts != 0;)
    ++parts;
}

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
  Order(Block &block, const Chosen &chosen);

  SmallVector<Stage> stages;

private:
  bool mustWait(Operation *op) const;
  bool needsAll(Operation *op, const Batched &batched) const;

  const Chosen &chosen;
  DenseSet<Operation *> waiting; ///< What the stage computes but for `before`.
};
} // namespace

/// Where all parts have to be there more often, statistics of the batch stand
/// between the convolutions: what they are of is kept in all its parts.
static constexpr size_t kMostStages = 8;

Order::Order(Block &block, const Chosen &chosen) : stages(1), chosen(chosen) {
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
  Splitter(Block &block, const Chosen &chosen)
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
  const Chosen &chosen;
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
    int64_t extent = chosen.batch / chosen.parts;
    result = make(model, SliceOp::getOperationName(),
                  {whole, makeInt(model, part * extent),
                   makeInt(model, (part + 1) * extent), makeInt(model, 0),
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
  shape[0] = chosen.batch / chosen.parts;
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
    if (parts >= 1)
      return success();
    return emitError(UnknownLoc::get(context),
                     "graph-split-batch: expected at least 1 part, got ")
           << parts.getValue();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (parts == 1 || !function.getBody().hasOneBlock())
      return;
    Chosen chosen(function.front(), parts);
    if (chosen.parts == 1)
      return;
    const Order order(function.front(), chosen);
    if (order.stages.size() > kMostStages)
      return;
    Splitter splitter(function.front(), chosen);
    for (const Stage &stage : order.stages)
      splitter.build(stage);
    auto count = chosen.operations.size();
    for (auto &[op, batched] : llvm::reverse(chosen.operations))
      op->erase();
    remark::passed(function.getLoc(), remark::RemarkOpts::name("SplitBatch")
                                          .category("graph-split-batch")
                                          .function(function.getName()))
        << remark::add("split") << remark::metric("Operations", count)
        << remark::metric("Parts", chosen.parts);
  }
};
} // namespace
