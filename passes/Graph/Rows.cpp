// SPDX-License-Identifier: Apache-2.0

#include "Rows.h"

#include "Forms.h"
#include "Knowledge.h"

#include "dlc/dialects/Graph/Batches.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Numbers.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Position.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dlc::graph;

static bool isParameter(OpOperand &operand) {
  auto fusion = dyn_cast<FusionOpInterface>(operand.getOwner());
  return fusion && fusion.isParameter(operand.getOperandNumber());
}

static bool isShapeParameter(OpOperand &operand) {
  auto fusion = dyn_cast<FusionOpInterface>(operand.getOwner());
  return fusion && fusion.isShapeParameter(operand.getOperandNumber());
}

//===----------------------------------------------------------------------===//
// What one operation reads
//===----------------------------------------------------------------------===//

namespace {

using RowsOfValues = llvm::DenseMap<Value, Rows>;

/// Looks at the positions that an element of one example is computed from. The
/// first loop is that over examples.
class RowReader : public ElementReader {
public:
  /// With `numbers`, where what is read are places to load from.
  RowReader(OpBuilder builder, Location loc, Loops loops,
            const RowsOfValues &known, function_ref<bool(Value)> isOfNumbers,
            NumberReader *numbers)
      : ElementReader(builder, loc, std::move(loops)), known(known),
        isOfNumbers(isOfNumbers), numbers(numbers) {}

  Value read(Value tensor, ArrayRef<Index> position) override {
    Value value = placeholder(tensor);
    if (numbers && !known.contains(tensor)) {
      if (auto number = numbers->numberAt(tensor, position)) {
        numbersRead.emplace_back(value, *number);
        return value;
      }
      if ((split = numbers->getSplit()))
        return {};
    }
    check(tensor, position);
    return value;
  }
  /// Other coordinates than that of rows may be given by data.
  Value load(Value tensor, ValueRange coordinates) override {
    auto own = known.find(tensor);
    for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
      const bool isRows = own != known.end() && own->second.dim == dim;
      if (const Index *index = indexOf(coordinate))
        checkIndex(*index, isRows ? own->second : kShared);
      else
        isApart &= !isRows && !isOfNumbers(tensor);
    }
    return placeholder(tensor);
  }
  Value materialize(const Index &index) override {
    Value value = arith::ConstantIndexOp::create(builder, loc, 0);
    made.emplace_back(value, index);
    return value;
  }

  void check(Value tensor, ArrayRef<Index> position);
  std::optional<LoopSplit> getSplit() const { return split; }
  /// Whether all that was read are rows of one example, and where they lie in
  /// the batch is not computed with.
  bool keepsApart() const {
    auto isUnused = [](Operation *user) {
      return isa<arith::IndexCastOp>(user) && user->use_empty();
    };
    return isApart &&
           llvm::all_of(made,
                        [](const auto &each) {
                          return each.second.coefficients.front() == 0 ||
                                 each.first.use_empty();
                        }) &&
           llvm::all_of(numbersRead, [&](const auto &each) {
             return each.second.coefficients.front() == 0 ||
                    llvm::all_of(each.first.getUsers(), isUnused);
           });
  }

private:
  /// Of rows, those of this example; of kShared, the same for all.
  void checkIndex(const Index &index, const Rows &rows);
  static constexpr Rows kShared = {};

  Value placeholder(Value tensor) {
    return placeholderOf(builder, loc, tensor);
  }
  /// Of a coordinate that is a position, or a number that was read.
  const Index *indexOf(Value coordinate) const {
    auto find = [](const auto &list, Value value) -> const Index * {
      const auto *found = llvm::find_if(
          list, [&](const auto &each) { return each.first == value; });
      return found == list.end() ? nullptr : &found->second;
    };
    if (auto cast = coordinate.getDefiningOp<arith::IndexCastOp>())
      return find(numbersRead, cast.getIn());
    return find(made, coordinate);
  }

  const RowsOfValues &known;
  function_ref<bool(Value)> isOfNumbers;
  NumberReader *numbers;
  SmallVector<std::pair<Value, Index>> made;        ///< Positions as values.
  SmallVector<std::pair<Value, Index>> numbersRead; ///< Numbers as values.
  bool isApart = true;
};

/// Loops over a result, and where its elements lie in them.
struct ResultLoops {
  Loops loops;
  SmallVector<Index> at, folded;
};

} // namespace

void RowReader::checkIndex(const Index &index, const Rows &rows) {
  if (index.coefficients.front() != rows.each) {
    isApart = false;
    return;
  }
  if (rows == kShared)
    return;
  Index inside = index;
  inside.coefficients.front() = 0;
  if (rows.runs > 1) { // Any of them.
    const int64_t run = rows.each * loops.extents.front();
    for (int64_t &coefficient : inside.coefficients)
      coefficient = coefficient % run == 0 ? 0 : coefficient;
    inside.constant = llvm::mod(inside.constant, run);
  }
  auto [low, high] = rangeOf(inside);
  isApart &= low >= 0 && high < rows.each;
}

void RowReader::check(Value tensor, ArrayRef<Index> position) {
  auto own = known.find(tensor);
  for (auto [dim, index] : llvm::enumerate(position)) {
    const bool isRows = own != known.end() && own->second.dim == dim;
    checkIndex(index, isRows ? own->second : kShared);
  }
}

/// One loop over examples, one for each dimension of more than one element, of
/// which that of `rows` goes over those of one example in a run, one for each
/// that is folded, and one over runs.
static ResultLoops makeLoops(RankedTensorType type, const Rows &rows,
                             ArrayRef<int64_t> folded) {
  ResultLoops result;
  auto &extents = result.loops.extents;
  const int64_t run = rows.runOf(type.getDimSize(rows.dim));
  extents.push_back(run / rows.each);
  SmallVector<int> loopOf;
  auto addLoop = [&](int64_t extent) {
    loopOf.push_back(extent == 1 ? -1 : static_cast<int>(extents.size()));
    if (extent != 1)
      extents.push_back(extent);
  };
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    addLoop(dim == rows.dim ? rows.each : extent);
  llvm::for_each(folded, addLoop);
  addLoop(rows.runs);
  auto toIndex = [&](int loop) {
    return loop < 0 ? Index::number(result.loops, 0)
                    : Index::loop(result.loops, loop);
  };
  const auto rank = static_cast<size_t>(type.getRank());
  for (auto [i, loop] : llvm::enumerate(ArrayRef(loopOf).drop_back()))
    (i < rank ? result.at : result.folded).push_back(toIndex(loop));
  result.at[rows.dim] = result.at[rows.dim] +
                        Index::loop(result.loops, 0) * rows.each +
                        toIndex(loopOf.back()) * run;
  return result;
}

/// Whether the rows `rows` of `result` are each computed from those of their
/// own examples. Loops are cut where forms of elements differ.
static bool keepsApart(OpResult result, const Rows &rows,
                       const RowsOfValues &known,
                       function_ref<bool(Value)> isOfNumbers,
                       const SizedValues &sized, const Knowledge &knowledge) {
  constexpr size_t mostParts = 256;
  Operation *op = result.getOwner();
  SmallVector<int64_t> folded;
  if (auto reduction = dyn_cast<ReductionOpInterface>(op)) {
    auto extents = reduction.getFoldedExtents();
    if (!extents)
      return false;
    folded = *extents;
  }
  Block scratch;
  SmallVector<ResultLoops> todo{makeLoops(typeOf(result), rows, folded)};
  for (size_t parts = 0; !todo.empty(); ++parts) {
    ResultLoops at = todo.pop_back_val();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointToEnd(&scratch);
    NumberReader numbers(
        builder, op->getLoc(), at.loops,
        [&](Value each) { return knowledge.elementsOf(each); },
        [&](Value each) { return sized.all.contains(each); });
    RowReader reader(builder, op->getLoc(), at.loops, known, isOfNumbers,
                     isa<IndexedOpInterface>(op) ? &numbers : nullptr);
    const bool isRead =
        readElement(reader, result, at.at, at.folded) != nullptr;
    if (!reader.keepsApart() || parts == mostParts)
      return false;
    if (isRead)
      continue;
    std::optional<LoopSplit> split = reader.getSplit();
    if (!split || split->loop == 0)
      return false;
    for (const LoopPart &part : cut(at.loops, *split)) {
      auto map = [&](const Index &index) { return part.at(index); };
      todo.push_back({part.loops, llvm::map_to_vector(at.at, map),
                      llvm::map_to_vector(at.folded, map)});
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// A function
//===----------------------------------------------------------------------===//

/// Smaller batches are no probes.
static constexpr int64_t kLeastProbe = 1'000'000;

namespace {

class RowFinder {
public:
  RowFinder(int64_t count, const SizedValues &sized, const FoundRows *like,
            std::string &why)
      : count(count), sized(sized), like(like), why(why) {}

  void addArgument(Value argument) { known[argument] = {0, 1}; }
  std::vector<Rows> takeFound() { return std::move(found); }
  std::string takeDividends() { return std::move(dividends); }
  bool visit(Block &block);
  std::optional<Rows> rowsOf(Value value) const {
    auto own = known.find(value);
    return own == known.end() ? std::nullopt : std::optional(own->second);
  }
  bool isSized(Value value) const {
    return sized.all.contains(value) || ofNumbers.contains(value);
  }
  /// Where examples are in what only numbers them.
  std::optional<Rows> numberedRowsOf(Value value) const {
    auto own = numbered.find(value);
    return own == numbered.end() ? std::nullopt : std::optional(own->second);
  }
  bool refuse(Operation *op, const llvm::Twine &reason) {
    if (why.empty())
      why = describeForReason(op) + " " + reason.str();
    return false;
  }

private:
  bool visit(Operation *op);
  bool add(Value value, const Rows &rows);
  bool isCandidate(const Rows &rows) const {
    return !like || (found.size() < like->found.size() &&
                     like->found[found.size()] == rows);
  }
  bool findByDims(Operation *op, const BatchDims &dims);
  bool findByRule(Operation *op);
  bool findByForm(Operation *op);
  bool findByForm(OpResult result);
  void findNumbered(Operation *op, bool isOfNumbers);
  void checkQuotients(Operation *op);
  bool isWhole(DivOp op);
  bool cutsOthers(SliceOp op);
  bool isLinearValue(Value value) const {
    return sized.linear.contains(value) ||
           (sized.divided.contains(value) && !notWhole.contains(value));
  }
  bool decompose(Operation *op);

  const int64_t count;
  const SizedValues &sized;
  const FoundRows *like;
  std::string &why;
  std::vector<Rows> found;
  RowsOfValues known;
  RowsOfValues numbered; ///< As many as there are examples, but not of them.
  ValueSet ofNumbers;    ///< Others that are made of these.
  ValueSet shared;       ///< With rows, which are the same for all examples.
  ValueSet notWhole;     ///< Quotients, and what is computed of them.
  std::string dividends; ///< Of a probe.
  Knowledge knowledge;
};

} // namespace

/// Of an operation that says where it has the batch.
bool RowFinder::findByDims(Operation *op, const BatchDims &dims) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    std::optional<Rows> own = rowsOf(operand);
    const int dim = i < dims.operands.size() ? dims.operands[i] : -1;
    const bool isThere =
        own && *own == Rows{static_cast<unsigned>(std::max(dim, 0)), 1};
    if (!isa<NoneType>(operand.getType()) &&
        (dim < 0 ? own.has_value() : !isThere))
      return false;
  }
  return llvm::all_of(llvm::zip_equal(op->getResults(), dims.results),
                      [&](auto each) {
                        auto [result, dim] = each;
                        return add(result, {static_cast<unsigned>(dim), 1});
                      });
}

bool RowFinder::findByRule(Operation *op) {
  if (llvm::any_of(op->getOperands(),
                   [&](Value each) { return numbered.contains(each); }))
    return false;
  auto rule = dyn_cast<BatchOpInterface>(op);
  if (std::optional<BatchDims> dims = rule ? rule.getBatchDims() : std::nullopt)
    return findByDims(op, *dims);
  std::optional<Batched> batched = rule ? rule.getBatched() : std::nullopt;
  if (!batched || batched->isSummed || op->getNumResults() != 1)
    return false;
  std::optional<Rows> common;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Rows> own = rowsOf(operand.get());
    bool isOfBatch =
        llvm::is_contained(batched->operands, operand.getOperandNumber());
    if (own.has_value() != isOfBatch ||
        (own && (own->dim != 0 || (common && own != common))))
      return false;
    common = own ? own : common;
  }
  RankedTensorType type = typeOf(op->getResult(0));
  if (!common || type.getRank() == 0 ||
      common->runOf(type.getDimSize(0)) != common->each * count)
    return false;
  return add(op->getResult(0), *common);
}

bool RowFinder::add(Value value, const Rows &rows) {
  if (!isCandidate(rows))
    return false;
  known[value] = rows;
  found.push_back(rows);
  return true;
}

bool RowFinder::findByForm(Operation *op) {
  return llvm::all_of(op->getResults(), [&](OpResult result) {
    return findByForm(result);
  });
}

/// The rows may be in any dimension that has as many elements for each, in one
/// run or in several.
bool RowFinder::findByForm(OpResult result) {
  RankedTensorType type = typeOf(result);
  auto isOfNumbers = [&](Value value) {
    return numbered.contains(value) || ofNumbers.contains(value);
  };
  // One example alone meets no other.
  auto isFound = [&](const Rows &rows) {
    return isCandidate(rows) &&
           (count == 1 ||
            keepsApart(result, rows, known, isOfNumbers, sized, knowledge));
  };
  constexpr int64_t mostRuns = 4096;
  for (const bool isInRuns : {false, true})
    for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
      if (extent == 0 || extent % count != 0)
        continue;
      const int64_t all = extent / count;
      const auto place = static_cast<unsigned>(dim);
      const int64_t last = isInRuns ? std::min(all, mostRuns) : 1;
      for (int64_t runs = isInRuns ? 2 : 1; runs <= last; ++runs)
        if (const Rows rows{place, all / runs, runs};
            all % runs == 0 && isFound(rows))
          return add(result, rows);
    }
  return false;
}

/// Whether a quotient of a number that is linear in the size is whole for any:
/// both what the size is multiplied by and what is added are multiples of the
/// divisor. A probe, which is far larger than what models add, tells both; that
/// the other one tells the same is for the caller to see.
bool RowFinder::isWhole(DivOp op) {
  if (count < kLeastProbe)
    return true;
  const PartialInts *dividend = knowledge.intsOf(op.getA());
  const PartialInts *divisor = knowledge.intsOf(op.getB());
  if (!dividend || !divisor || divisor->size() != 1 || !divisor->front() ||
      *divisor->front() == 0)
    return false;
  for (std::optional<int64_t> each : *dividend) {
    if (!each || *each < 0)
      return false;
    const int64_t factor = (*each + count / 2) / count;
    const int64_t added = *each - factor * count;
    if (factor % *divisor->front() != 0 || added % *divisor->front() != 0)
      return false;
    dividends += std::to_string(factor) + "N" + std::to_string(added) + " ";
  }
  return true;
}

/// Whether the size of the batch says where an extent that has nothing of it is
/// cut: what is left is not linear in the size, but none, or all, of a probe.
bool RowFinder::cutsOthers(SliceOp op) {
  if (count < kLeastProbe)
    return false;
  const PartialInts *axes = knowledge.intsOf(op.getAxes());
  for (Value ends : {op.getStarts(), op.getEnds()}) {
    const PartialInts *ints = knowledge.intsOf(ends);
    if (!sized.all.contains(ends))
      continue;
    if (!ints || (!axes && !isa<NoneType>(op.getAxes().getType())))
      return true;
    for (auto [i, end] : llvm::enumerate(*ints)) {
      std::optional<int64_t> axis =
          axes ? (*axes)[i] : std::optional<int64_t>(i);
      if (!end || !axis)
        return true;
      RankedTensorType type = typeOf(op.getX());
      const bool isOfSize = std::abs(*end) >= kLeastProbe / 2 &&
                            std::abs(*end) < INT32_MAX - 1; // No "to the end".
      if (isOfSize &&
          type.getDimSize(wrapAxis(*axis, type.getRank())) < kLeastProbe / 2)
        return true;
    }
  }
  return false;
}

void RowFinder::checkQuotients(Operation *op) {
  bool isLost = llvm::any_of(
      op->getOperands(), [&](Value each) { return notWhole.contains(each); });
  if (auto quotient = dyn_cast<DivOp>(op))
    isLost |= sized.divided.contains(quotient.getY()) && !isWhole(quotient);
  if (isLost)
    notWhole.insert(op->result_begin(), op->result_end());
}

/// Of an operation whose results are of no example: of those that have as many
/// elements as there are examples along a dimension, and, where it computes
/// with such, of the others.
void RowFinder::findNumbered(Operation *op, bool isOfNumbers) {
  for (Value result : op->getResults()) {
    bool isFound = false;
    if (sized.all.contains(result))
      continue;
    for (auto [dim, extent] : llvm::enumerate(typeOf(result).getShape())) {
      const Rows rows{static_cast<unsigned>(dim), extent / count};
      if (extent == 0 || extent % count != 0 || !isCandidate(rows))
        continue;
      numbered[result] = rows;
      found.push_back(rows);
      isFound = true;
      break;
    }
    if (!isFound && isOfNumbers)
      ofNumbers.insert(result);
  }
}

/// What it decomposes to is visited in its place.
bool RowFinder::decompose(Operation *op) {
  const bool isDone = visitParts(op, [&](Operation *part) {
    if (visit(part))
      return true;
    why.clear(); // The model has the whole.
    return false;
  });
  if (isDone)
    op->erase();
  return isDone;
}

bool RowFinder::visit(Operation *op) {
  if (isa<ConstantOp, NoneOp>(op))
    return true;
  if (!isComputed(op) || op->getNumRegions())
    return refuse(op, "is no plain operation");
  if (!hasStaticTypes(op))
    return refuse(op, "has shapes that are found while running");
  knowledge.learn(op);
  if (isa<ShapeOp, SizeOp>(op))
    return true; // In `sized`, or known.
  checkQuotients(op);
  bool isOfRows = false, takesSize = false, isShapedBySize = false;
  bool isOfNumbers = false, isShared = true;
  for (OpOperand &operand : op->getOpOperands()) {
    isOfRows |= known.contains(operand.get());
    isShared &=
        !known.contains(operand.get()) || shared.contains(operand.get());
    isOfNumbers |= numbered.contains(operand.get());
    isOfNumbers |= ofNumbers.contains(operand.get());
    takesSize |= ofNumbers.contains(operand.get());
    if (!sized.all.contains(operand.get()))
      continue;
    if (!isShapeParameter(operand))
      takesSize = true;
    else if (isLinearValue(operand.get()))
      isShapedBySize = true;
    else
      return refuse(op,
                    "has a shape that is computed of the size of the batch");
  }
  if (isOfRows && takesSize)
    return refuse(op, "computes with the size of the batch");
  if (auto slice = dyn_cast<SliceOp>(op); slice && cutsOthers(slice))
    return refuse(op, "cuts other extents at the size of the batch");
  const auto prepare = [&] {
    prepareForm(op, knowledge, // Each example's indices are checked with it.
                [&](Value each) { return known.contains(each); });
  };
  if (isOfNumbers && isShared) {
    // Of rows that are the same for all, the one of each example, or numbers
    // that are of none.
    prepare();
    if (isOfRows && hasForm(op) && findByForm(op))
      return true;
    isOfRows = false;
  }
  if (!isOfRows && !isShapedBySize) {
    if (isOfNumbers)
      findNumbered(op, /*isOfNumbers=*/true);
    return true; // The same for all, or a number that follows from the size.
  }
  prepare();
  const bool isFound = (hasForm(op) && findByForm(op)) || findByRule(op);
  if (isFound) {
    if (isShared && !isOfNumbers)
      shared.insert(op->result_begin(), op->result_end());
    return true;
  }
  if (decompose(op))
    return true;
  if (isOfRows)
    return refuse(op, "does not keep the examples of a batch apart");
  // Its shape may have nothing of the batch in spite of the size.
  findNumbered(op, isOfNumbers);
  return true;
}

bool RowFinder::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (!visit(&op))
      return false;
  return true;
}

/// A shape, with the rows of an example in place of those of all.
static void describe(Value value, const std::optional<Rows> &rows,
                     raw_ostream &os) {
  RankedTensorType type = typeOf(value);
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (rows && rows->dim == dim)
      os << rows->runs << '*' << rows->each << "Nx";
    else
      os << extent << 'x';
  os << type.getElementType() << ' ';
}

std::optional<FoundRows>
dlc::graph::findRows(func::FuncOp function, ArrayRef<unsigned> batched,
                     int64_t count, const SizedValues &sized,
                     const FoundRows *like, std::string &why) {
  RowFinder finder(count, sized, like, why);
  for (unsigned argument : batched)
    finder.addArgument(function.getArgument(argument));
  Block &block = function.getBody().front();
  if (!finder.visit(block))
    return std::nullopt;
  FoundRows found;
  llvm::raw_string_ostream all(found.all);
  for (Operation &op : block.without_terminator())
    for (Value value : op.getResults())
      // Constants are parameters, among others, which may be sizes.
      if (isa<RankedTensorType>(value.getType()) && !isa<ConstantOp>(op) &&
          !finder.isSized(value))
        describe(value,
                 finder.rowsOf(value) ? finder.rowsOf(value)
                                      : finder.numberedRowsOf(value),
                 all);
  for (Value value : block.getTerminator()->getOperands()) {
    if (finder.isSized(value) || finder.numberedRowsOf(value)) {
      finder.refuse(block.getTerminator(), "gives the size of the batch");
      return std::nullopt;
    }
    found.results.push_back(finder.rowsOf(value));
    describe(value, found.results.back(), all);
  }
  found.found = finder.takeFound();
  found.dividends = finder.takeDividends();
  return found;
}

/// Whether numbers of this type hold sizes and their sums as they are.
static bool holdsSizes(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF32() || element.isF64() || element.isInteger(32) ||
         element.isInteger(64);
}

/// Whether `op`, of which operands that are no parameters are linear in the
/// size of the batch or known, is linear, too: it moves numbers, adds them, or
/// multiplies them with such that are known. What rounds or wraps is not.
static bool isLinear(Operation *op, const SizedValues &sized,
                     function_ref<bool(Value)> isLinearValue) {
  if (!isa<ShapeValueOpInterface>(op) ||
      !llvm::all_of(op->getResultTypes(), holdsSizes))
    return false;
  if (auto cast = dyn_cast<CastOp>(op);
      cast && isa<FloatType>(getElementTypeOrSelf(cast.getX().getType())) &&
      !isa<FloatType>(getElementTypeOrSelf(cast.getY().getType())))
    return false;
  unsigned count = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!sized.all.contains(operand.get()))
      continue;
    if (isParameter(operand) || !isLinearValue(operand.get()))
      return false;
    ++count;
  }
  return count < 2 || !isa<MulOp>(op);
}

/// Whether `value` has nothing but extents and numbers that are known: what
/// moves them makes no others.
static bool hasExtents(Value value, Knowledge &knowledge) {
  constexpr unsigned mostOperations = 64;
  SmallVector<Value> todo{value};
  for (unsigned count = 0; !todo.empty(); ++count) {
    Value each = todo.pop_back_val();
    if (knowledge.elementsOf(each))
      continue;
    Operation *op = each.getDefiningOp();
    if (!op || count == mostOperations)
      return false;
    if (isa<ShapeOp, SizeOp>(op))
      continue;
    if (!isa<ShapeValueOpInterface>(op) || isa<AddOp, SubOp, MulOp, DivOp>(op))
      return false;
    for (OpOperand &operand : op->getOpOperands())
      if (!isParameter(operand))
        todo.push_back(operand.get());
  }
  return true;
}

/// A comparison of extents with -1, which none is: exporters guard with it.
static bool isGuard(Operation *op, Knowledge &knowledge) {
  if (!isa<EqualOp>(op))
    return false;
  auto isNone = [&](Value operand) {
    const PartialInts *ints = knowledge.intsOf(operand);
    return ints && !ints->empty() &&
           llvm::all_of(*ints,
                        [](std::optional<int64_t> each) { return each == -1; });
  };
  for (unsigned i : {0u, 1u})
    if (isNone(op->getOperand(i)))
      return hasExtents(op->getOperand(1 - i), knowledge);
  return false;
}

SizedValues dlc::graph::findSized(func::FuncOp function) {
  SizedValues sized;
  ValueSet guards;
  Knowledge knowledge;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (!isComputed(&op))
      continue;
    knowledge.learn(&op);
    bool isSized = isa<ShapeOp, SizeOp>(op) ||
                   llvm::any_of(op.getOpOperands(), [&](OpOperand &operand) {
                     return !isShapeParameter(operand) &&
                            sized.all.contains(operand.get());
                   });
    if (!isSized)
      continue;
    // Behind a guard the extents are what they are.
    bool isPassed = isa<SelectOp>(op) && guards.contains(op.getOperand(0)) &&
                    sized.linear.contains(op.getOperand(2));
    for (Value result : op.getResults()) {
      if (knowledge.elementsOf(result))
        continue;
      sized.all.insert(result);
      auto isKnown = [&](Value value) { return sized.linear.contains(value); };
      auto isDivided = [&](Value value) {
        return isKnown(value) || sized.divided.contains(value);
      };
      const bool isQuotient = isa<DivOp>(op);
      if (isa<ShapeOp, SizeOp>(op) || isPassed ||
          (!isQuotient && isLinear(&op, sized, isKnown)))
        sized.linear.insert(result);
      else if (isLinear(&op, sized, isDivided) &&
               !(isQuotient && sized.all.contains(op.getOperand(1))))
        sized.divided.insert(result);
      if (isGuard(&op, knowledge))
        guards.insert(result);
    }
  }
  return sized;
}

SizedValues dlc::graph::findDiffering(
    func::FuncOp function, const SizedValues &open,
    function_ref<ElementsAttr(Value)> one,
    function_ref<ElementsAttr(Value)> other,
    function_ref<bool(OpOperand &)> isPassed) {
  SizedValues found;
  for (Operation &op : function.getBody().front().without_terminator()) {
    const bool isSized =
        isa<ShapeOp, SizeOp>(op) ||
        llvm::any_of(op.getOpOperands(), [&](OpOperand &operand) {
          return found.all.contains(operand.get()) &&
                 !isShapeParameter(operand) && !isPassed(operand);
        });
    for (Value result : op.getResults()) {
      const bool isLinear = open.linear.contains(result);
      if (!isSized || !open.all.contains(result))
        continue;
      // Floats that are the same for two sizes may be rounded to that.
      ElementsAttr elements = one(result);
      if (isLinear && elements && !isa<FloatType>(elements.getElementType()) &&
          elements == other(result))
        continue;
      found.all.insert(result);
      if (isLinear)
        found.linear.insert(result);
      else if (open.divided.contains(result))
        found.divided.insert(result);
    }
  }
  return found;
}
