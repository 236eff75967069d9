// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/OperandTypes.h"

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Shapes.h"

using namespace mlir;
using namespace dlc::graph;

#include "dlc/dialects/Graph/OperandTypes.cpp.inc"

static constexpr int64_t kUnknown = ShapedType::kDynamic;

//===----------------------------------------------------------------------===//
// OperandShapes
//===----------------------------------------------------------------------===//

static PartialShape shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  return SmallVector<int64_t>(tensor.getShape());
}

OperandShapes::OperandShapes(Operation *op) : types(op->getOperandTypes()) {
  for (Type type : op->getOperandTypes())
    operands.push_back(shapeOf(type));
  for (Type type : op->getResultTypes())
    results.push_back(shapeOf(type));
}

static int64_t dimOf(const PartialShape &shape, int64_t axis) {
  if (!shape)
    return kUnknown;
  auto rank = static_cast<int64_t>(shape->size());
  axis = wrapAxis(axis, rank);
  return axis >= 0 && axis < rank ? (*shape)[axis] : kUnknown;
}

int64_t OperandShapes::operandDim(unsigned index, int64_t axis) const {
  return index < operands.size() ? dimOf(operands[index], axis) : kUnknown;
}

int64_t OperandShapes::resultDim(unsigned index, int64_t axis) const {
  return index < results.size() ? dimOf(results[index], axis) : kUnknown;
}

void OperandShapes::setRank(unsigned operand, size_t rank) {
  // What is left out has no type of a tensor.
  if (operand < operands.size() && isa<UnrankedTensorType>(types[operand]) &&
      !operands[operand])
    operands[operand] = SmallVector<int64_t>(rank, kUnknown);
}

void OperandShapes::setDim(unsigned operand, int64_t axis, int64_t dim) {
  if (operand >= operands.size() || !operands[operand] || dim == kUnknown)
    return;
  auto rank = static_cast<int64_t>(operands[operand]->size());
  axis = wrapAxis(axis, rank);
  if (axis >= 0 && axis < rank && (*operands[operand])[axis] == kUnknown)
    (*operands[operand])[axis] = dim;
}

void OperandShapes::set(unsigned operand, const PartialShape &shape) {
  if (!shape)
    return;
  setRank(operand, shape->size());
  if (operand >= operands.size() || !operands[operand] ||
      operands[operand]->size() != shape->size())
    return;
  for (auto [axis, dim] : llvm::enumerate(*shape))
    setDim(operand, static_cast<int64_t>(axis), dim);
}

void OperandShapes::equate(unsigned a, int64_t axisA, unsigned b,
                           int64_t axisB) {
  setDim(a, axisA, operandDim(b, axisB));
  setDim(b, axisB, operandDim(a, axisA));
}

Type OperandShapes::typeOf(unsigned operand) const {
  if (!operands[operand])
    return types[operand];
  return RankedTensorType::get(
      *operands[operand], cast<TensorType>(types[operand]).getElementType());
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// A dimension of the result other than 1 is that of an operand which is known
/// not to be 1, and that of the only operand which may be other than 1.
static void inferBroadcast(OperandShapes &shapes) {
  const PartialShape &result = shapes.result(0);
  // An operand of unknown rank may lack dimensions.
  if (shapes.operandCount() == 1)
    return shapes.set(0, result);
  for (unsigned i = 0; result && i < shapes.operandCount(); ++i)
    if (!shapes.operand(i))
      return;
  auto rank = static_cast<int64_t>(result ? result->size() : 0);
  for (int64_t back = -1; back >= -rank; --back) {
    int64_t dim = shapes.resultDim(0, back);
    SmallVector<unsigned> open; // Which have the dimension and may not be 1.
    bool isGiven = false;       // Another has it.
    for (unsigned i = 0; i < shapes.operandCount(); ++i) {
      bool hasAxis = -back <= static_cast<int64_t>(shapes.operand(i)->size());
      if (hasAxis && shapes.operandDim(i, back) == kUnknown)
        open.push_back(i);
      isGiven |= hasAxis && shapes.operandDim(i, back) == dim;
    }
    if (dim == 1)
      for (unsigned i : open)
        shapes.setDim(i, back, 1);
    else if (open.size() == 1 && !isGiven)
      shapes.setDim(open.front(), back, dim);
  }
}

namespace {

/// Operand 0 has the shape of result 0.
template <typename Op>
struct SameShape : OperandTypesOpInterface::ExternalModel<SameShape<Op>, Op> {
  void inferOperandTypes(Operation *, OperandShapes &shapes) const {
    shapes.set(0, shapes.result(0));
  }
};

struct Matmul : OperandTypesOpInterface::ExternalModel<Matmul, MatmulOp> {
  void inferOperandTypes(Operation *, OperandShapes &shapes) const {
    shapes.equate(0, -1, 1, -2);
    shapes.setDim(0, -2, shapes.resultDim(0, -2));
    shapes.setDim(1, -1, shapes.resultDim(0, -1));
  }
};

/// The operands of a convolution; all three ranks are one.
struct Filtered {
  OperandShapes &shapes;
  int64_t group;

  void inferRanks() const {
    for (const PartialShape &known :
         {shapes.operand(0), shapes.operand(1), shapes.result(0)})
      for (unsigned operand : {0, 1})
        if (known)
          shapes.setRank(operand, known->size());
    shapes.setRank(2, 1);
    shapes.setDim(0, 0, shapes.resultDim(0, 0));
    shapes.setDim(2, 0, shapes.resultDim(0, 1));
  }
  int64_t timesGroup(int64_t dim) const {
    int64_t product = 0;
    return dim == kUnknown || __builtin_mul_overflow(dim, group, &product)
               ? kUnknown
               : product;
  }
  int64_t byGroup(int64_t dim) const {
    return dim == kUnknown || dim % group ? kUnknown : dim / group;
  }
};

/// True unless an operand or the result has its channels in blocks.
static bool isPlain(ConvOp conv, const OperandShapes &shapes) {
  const PartialShape &x = shapes.operand(0), &w = shapes.operand(1);
  return conv.getChannelBlock() == 0 && (!x || !w || x->size() == w->size());
}

/// Where windows of these extents move in steps of one, the extents of the
/// result tell those of operand 0.
template <typename Op>
void inferExtents(Op op, ArrayRef<int64_t> kernel, OperandShapes &shapes) {
  size_t count = kernel.size();
  const PartialShape &result = shapes.result(0);
  if (!result || result->size() != count + 2 || op.getAutoPad() != "NOTSET")
    return;
  auto valueOr = [](ArrayRef<int64_t> values, size_t i, int64_t fallback) {
    return i < values.size() ? values[i] : fallback;
  };
  for (size_t i = 0; i < count; ++i) {
    int64_t extent = (*result)[i + 2];
    if (extent == kUnknown || kernel[i] == kUnknown ||
        valueOr(op.getStrides(), i, 1) != 1)
      continue;
    extent += valueOr(op.getDilations(), i, 1) * (kernel[i] - 1) -
              valueOr(op.getPads(), i, 0) - valueOr(op.getPads(), i + count, 0);
    if (extent > 0)
      shapes.setDim(0, static_cast<int64_t>(i + 2), extent);
  }
}

struct Conv : OperandTypesOpInterface::ExternalModel<Conv, ConvOp> {
  void inferOperandTypes(Operation *op, OperandShapes &shapes) const {
    Filtered filtered{shapes,
                      static_cast<int64_t>(cast<ConvOp>(op).getGroup())};
    shapes.setRank(2, 1);
    shapes.equate(1, 0, 2, 0);
    if (filtered.group < 1 || !isPlain(cast<ConvOp>(op), shapes))
      return;
    filtered.inferRanks();
    shapes.setDim(0, 1, filtered.timesGroup(shapes.operandDim(1, 1)));
    shapes.setDim(1, 1, filtered.byGroup(shapes.operandDim(0, 1)));
    shapes.setDim(1, 0, shapes.resultDim(0, 1));
    if (const PartialShape &w = shapes.operand(1); w && w->size() > 2)
      inferExtents(cast<ConvOp>(op), ArrayRef(*w).drop_front(2), shapes);
  }
};

/// Batch and channels are those of the result.
template <typename Op>
struct Pool : OperandTypesOpInterface::ExternalModel<Pool<Op>, Op> {
  void inferOperandTypes(Operation *op, OperandShapes &shapes) const {
    if (!shapes.result(0))
      return;
    shapes.setRank(0, shapes.result(0)->size());
    for (int64_t axis : {0, 1})
      shapes.setDim(0, axis, shapes.resultDim(0, axis));
    inferExtents(cast<Op>(op), cast<Op>(op).getKernelShape(), shapes);
  }
};

struct ConvTranspose
    : OperandTypesOpInterface::ExternalModel<ConvTranspose, ConvTransposeOp> {
  void inferOperandTypes(Operation *op, OperandShapes &shapes) const {
    Filtered filtered{
        shapes, static_cast<int64_t>(cast<ConvTransposeOp>(op).getGroup())};
    if (filtered.group < 1)
      return;
    filtered.inferRanks();
    shapes.equate(0, 1, 1, 0);
    shapes.setDim(2, 0, filtered.timesGroup(shapes.operandDim(1, 1)));
    shapes.setDim(1, 1, filtered.byGroup(shapes.resultDim(0, 1)));
    shapes.setDim(1, 1, filtered.byGroup(shapes.operandDim(2, 0)));
  }
};

struct BatchNorm
    : OperandTypesOpInterface::ExternalModel<BatchNorm, BatchNormOp> {
  void inferOperandTypes(Operation *, OperandShapes &shapes) const {
    shapes.set(0, shapes.result(0));
    for (unsigned i = 1; i < shapes.operandCount(); ++i) {
      shapes.setRank(i, 1);
      shapes.equate(0, 1, i, 0);
    }
  }
};

struct Transpose
    : OperandTypesOpInterface::ExternalModel<Transpose, TransposeOp> {
  void inferOperandTypes(Operation *op, OperandShapes &shapes) const {
    const PartialShape &result = shapes.result(0);
    if (!result)
      return;
    shapes.setRank(0, result->size());
    ArrayRef<int64_t> places = cast<TransposeOp>(op).getPerm();
    if (places.size() != result->size())
      return;
    for (auto [axis, place] : llvm::enumerate(places))
      shapes.setDim(0, place, (*result)[axis]);
  }
};

/// The one dimension that is not known, as the result has as many elements.
struct Reshape : OperandTypesOpInterface::ExternalModel<Reshape, ReshapeOp> {
  void inferOperandTypes(Operation *, OperandShapes &shapes) const {
    const PartialShape &x = shapes.operand(0), &y = shapes.result(0);
    if (!x || !y || llvm::is_contained(*y, kUnknown) ||
        llvm::count(*x, kUnknown) != 1)
      return;
    int64_t others = 1, all = 1;
    for (int64_t dim : *x)
      if (dim != kUnknown && __builtin_mul_overflow(others, dim, &others))
        return;
    for (int64_t dim : *y)
      if (__builtin_mul_overflow(all, dim, &all))
        return;
    if (others != 0 && all % others == 0)
      shapes.setDim(0, llvm::find(*x, kUnknown) - x->begin(), all / others);
  }
};

/// All but the axis are alike everywhere, and of the axis an operand has what
/// the others leave of the result.
struct Concat : OperandTypesOpInterface::ExternalModel<Concat, ConcatOp> {
  void inferOperandTypes(Operation *op, OperandShapes &shapes) const {
    SmallVector<PartialShape> known = {shapes.result(0)};
    for (unsigned i = 0; i < shapes.operandCount(); ++i)
      known.push_back(shapes.operand(i));
    for (PartialShape &each : known) {
      if (!each)
        continue;
      auto rank = static_cast<int64_t>(each->size());
      int64_t axis =
          wrapAxis(static_cast<int64_t>(cast<ConcatOp>(op).getAxis()), rank);
      if (axis < 0 || axis >= rank)
        return;
      (*each)[axis] = kUnknown;
      for (unsigned i = 0; i < shapes.operandCount(); ++i)
        shapes.set(i, each);
    }
    int64_t axis = static_cast<int64_t>(cast<ConcatOp>(op).getAxis());
    int64_t left = shapes.resultDim(0, axis);
    SmallVector<unsigned> open;
    for (unsigned i = 0; i < shapes.operandCount(); ++i) {
      int64_t dim = shapes.operandDim(i, axis);
      if (dim == kUnknown)
        open.push_back(i);
      else if (left != kUnknown)
        left -= dim;
    }
    if (open.size() == 1 && left != kUnknown && left >= 0)
      shapes.setDim(open.front(), axis, left);
  }
};
} // namespace

template <typename... Ops> static void attachSameShape(MLIRContext *context) {
  (Ops::template attachInterface<SameShape<Ops>>(*context), ...);
}

void dlc::graph::attachOperandTypes(MLIRContext *context) {
  attachSameShape<SoftmaxOp, LogSoftmaxOp, HardmaxOp, LayerNormOp, RmsNormOp,
                  GroupNormOp, LrnOp, CumsumOp, CumprodOp, TriluOp, CholeskyOp,
                  InverseOp>(context);
  MatmulOp::attachInterface<Matmul>(*context);
  ConvOp::attachInterface<Conv>(*context);
  ConvTransposeOp::attachInterface<ConvTranspose>(*context);
  BatchNormOp::attachInterface<BatchNorm>(*context);
  TransposeOp::attachInterface<Transpose>(*context);
  ConcatOp::attachInterface<Concat>(*context);
  ReshapeOp::attachInterface<Reshape>(*context);
  MaxPoolOp::attachInterface<Pool<MaxPoolOp>>(*context);
  AvgPoolOp::attachInterface<Pool<AvgPoolOp>>(*context);
  LpPoolOp::attachInterface<Pool<LpPoolOp>>(*context);
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

bool dlc::graph::refineOperands(Operation *op,
                                llvm::function_ref<bool(Value)> mayRefine) {
  if (llvm::all_of(op->getOperandTypes(), isStatic))
    return false;
  OperandShapes shapes(op);
  if (auto rule = dyn_cast<OperandTypesOpInterface>(op))
    rule.inferOperandTypes(shapes);
  else if (isa<ElementwiseOpInterface>(op))
    inferBroadcast(shapes);
  bool changed = false;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    Type type = shapes.typeOf(operand.getOperandNumber());
    // One value may be several operands, of which each says something.
    if (!isCompatible(type, value.getType()) || !mayRefine(value))
      continue;
    type = mergeTypes(value.getType(), type);
    changed |= type != value.getType();
    value.setType(type);
  }
  return changed;
}
