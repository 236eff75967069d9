// SPDX-License-Identifier: Apache-2.0

#include "Padding.h"

#include "Forms.h"
#include "Knowledge.h"
#include "NumberReads.h"
#include "Rows.h"

#include "dlc/dialects/Graph/Batches.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Masks.h"
#include "dlc/dialects/Graph/Numbers.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Position.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace dlc::graph;

namespace {

/// A dimension that has the extent in it: coordinate c is at place
/// c / inner % size of it.
struct Padding {
  unsigned dim = 0;
  int64_t inner = 1;
  TypedAttr filled; ///< What is behind the elements, where that is known.
};

using Paddings = SmallVector<Padding, 2>;
using PaddingsOfValues = llvm::DenseMap<Value, Paddings>;

/// A number that is linear in the loops, and whether it has the size in it:
/// multiples of this are as much smaller in a smaller one.
struct SizedNumber {
  Index index;
  bool isSized = false;
};

/// Looks at the places that an element is computed from.
class PlaceReader : public ElementReader {
public:
  /// What is known of an element for each size.
  using NumberAt = llvm::function_ref<std::optional<SizedNumber>(
      ElementReader &, Value, ArrayRef<Index>)>;

  /// `places` has the extent's loops of the result, `outer` those over whole
  /// extents, whose steps are as long as the extent is. `numberAt` is called
  /// for as long as this lives.
  PlaceReader(OpBuilder builder, Location loc, Loops loops,
              ArrayRef<Index> places, ArrayRef<Index> outer, int64_t size,
              const PaddingsOfValues &known, NumberAt numberAt)
      : ElementReader(builder, loc, std::move(loops)), places(places),
        outer(outer), size(size), known(known), numberAt(numberAt) {}

  Value read(Value tensor, ArrayRef<Index> position) override {
    for (auto [dim, index] : llvm::enumerate(position))
      check(tensor, dim, index);
    Value element = placeholder(tensor);
    if (auto number = numberAt(*this, tensor, position))
      numbers.emplace_back(element, *number);
    return element;
  }
  /// Of padded dimensions, coordinates that data gives may be anywhere; others
  /// are the same for each size.
  Value load(Value tensor, ValueRange coordinates) override {
    for (auto [dim, coordinate] : llvm::enumerate(coordinates))
      if (std::optional<SizedNumber> number = numberOf(coordinate)) {
        check(tensor, dim, number->index);
        isApart &= !number->isSized || paddingIn(tensor, dim);
      } else {
        isApart &= !paddingIn(tensor, dim);
      }
    return placeholder(tensor);
  }
  Value materialize(const Index &index) override {
    Value value = arith::ConstantIndexOp::create(builder, loc, 0);
    made.emplace_back(value, index);
    return value;
  }

  std::optional<LoopSplit> getSplit() const { return split; }
  /// Whether all that was read is at a place of the result, and nothing was
  /// computed with a position that another size has elsewhere.
  bool keepsApart() const {
    return isApart && llvm::all_of(made, [&](const auto &each) {
             return each.first.use_empty() ||
                    llvm::none_of(outer, [&](const Index &loop) {
                      return sharesLoop(each.second, loop);
                    });
           });
  }

private:
  const Padding *paddingIn(Value tensor, unsigned dim) const {
    auto own = known.find(tensor);
    if (own == known.end())
      return nullptr;
    for (const Padding &each : own->second)
      if (each.dim == dim)
        return &each;
    return nullptr;
  }
  /// Along a padded dimension elements are at places of the result; along
  /// others where they are does not depend on how many of these there are, as
  /// it does with steps that have the size in them.
  void check(Value tensor, unsigned dim, const Index &index) {
    if (const Padding *padding = paddingIn(tensor, dim)) {
      isApart &= isAtPlace(index, padding->inner);
      return;
    }
    for (const Index &loop : outer)
      for (auto [step, own] :
           llvm::zip_equal(index.coefficients, loop.coefficients))
        isApart &= step == 0 || own == 0 || std::gcd(step, size) == 1;
  }
  /// What a coordinate is, where data does not decide.
  std::optional<SizedNumber> numberOf(Value coordinate) const {
    for (const auto &[value, index] : made)
      if (value == coordinate)
        return SizedNumber{index};
    auto cast = coordinate.getDefiningOp<arith::IndexCastOp>();
    for (const auto &[value, number] : numbers)
      if (cast && cast.getIn() == value)
        return number;
    return std::nullopt;
  }
  static bool sharesLoop(const Index &index, const Index &loop) {
    return llvm::any_of(
        llvm::zip_equal(index.coefficients, loop.coefficients),
        [](auto both) { return std::get<0>(both) && std::get<1>(both); });
  }
  /// At place 0, which every size has, or at one of the result's.
  bool isAtPlace(const Index &index, int64_t inner) const {
    return isFirst(index, inner) ||
           llvm::any_of(places, [&](const Index &place) {
             return isFirst(index + place * -inner, inner);
           });
  }
  bool isFirst(Index index, int64_t inner) const {
    const int64_t period = size * inner;
    for (int64_t &coefficient : index.coefficients)
      if (coefficient % period == 0)
        coefficient = 0;
    // A number that is as large as some extents is so for this size alone.
    auto [low, high] = rangeOf(index);
    return low >= 0 && high < inner;
  }
  Value placeholder(Value tensor) {
    return placeholderOf(builder, loc, tensor);
  }

  const ArrayRef<Index> places, outer;
  const int64_t size;
  const PaddingsOfValues &known;
  const NumberAt numberAt;
  SmallVector<std::pair<Value, Index>> made;          ///< Positions as values.
  SmallVector<std::pair<Value, SizedNumber>> numbers; ///< Elements that are.
  bool isApart = true;
};

/// Loops over a result, and where its elements lie in them.
struct ResultLoops {
  Loops loops;
  SmallVector<Index> at, folded;
  SmallVector<Index> places, outer; ///< As PlaceReader has them.
};

class PaddingFinder {
public:
  PaddingFinder(PaddingProbes &probes, std::string &why)
      : probes(probes), size(probes.size), why(why) {}

  bool run(func::FuncOp function,
           ArrayRef<std::pair<unsigned, unsigned>> places);
  FoundPadding found;

private:
  void findNumbers(func::FuncOp function);
  bool visit(Operation *original);
  bool visitPart(Operation *op);
  bool visitNumbers(Operation *op, ArrayRef<SmallVector<unsigned>> varying);
  bool checkUse(Operation *original, Operation *op, bool &isInvolved);
  bool isOfOthers(Operation *original);
  void prepare(Operation *op) {
    prepareForm(op, knowledge,
                [&](Value each) { return known.contains(each); });
  }
  bool addMasks(Operation *original, Operation *op);
  bool maskIndices(Operation *original, Operation *op);
  bool areNumbers(Operation *op, bool mayBeSized = true);
  bool areNumbers(OpOperand &indices);
  std::optional<SizedNumber> numberAt(ElementReader &reader, Value tensor,
                                      ArrayRef<Index> position);
  const LinearNumbers *findLinear(Value original, ArrayRef<int64_t> fixed);
  std::optional<LinearNumbers> linearIn(const FunctionCopy &copy,
                                        const Knowledge &ofCopy, Value original,
                                        ArrayRef<int64_t> fixed);
  std::optional<SmallVector<unsigned>> findVarying(Value original);
  bool keepsApart(OpResult result, ArrayRef<Padding> paddings);
  ResultLoops makeLoops(RankedTensorType type, ArrayRef<Padding> paddings,
                        ArrayRef<int64_t> folded) const;
  template <typename Try>
  bool tryForms(RankedTensorType type, ArrayRef<unsigned> dims, bool mayLeave,
                Paddings &chosen, Try attempt);
  bool findMasked(Operation *op, ArrayRef<SmallVector<unsigned>> varying);
  bool findBackwards(Operation *op, ArrayRef<unsigned> varying);
  bool findByBatch(Operation *op, ArrayRef<SmallVector<unsigned>> varying);
  bool decompose(Operation *op);
  bool refuse(Operation *op, const llvm::Twine &reason);

  PaddingProbes &probes;
  const int64_t size;
  std::string &why;
  /// Numbers that are known at each place for each size, of which there are
  /// others than some for each place of the extent.
  llvm::DenseSet<Value> numbersOnly;
  Operation *visited = nullptr; ///< Of the function.
  SizedValues sized;            ///< In `probes.own`.
  SizedValues ofOthers;         ///< Numbers of other extents, of the function.
  PaddingsOfValues known;
  Knowledge knowledge;
  llvm::DenseMap<Value, Value> originals; ///< Of values of `probes.own`.
  Knowledge ofOwn;                        ///< Before it is changed.
  std::vector<Knowledge> ofSmaller; ///< Of the first ones, as far as asked.
  std::map<std::pair<void *, std::vector<int64_t>>,
           std::optional<LinearNumbers>>
      linear;
};

} // namespace

bool PaddingFinder::refuse(Operation *op, const llvm::Twine &reason) {
  if (why.empty())
    why = describeForReason(op) + " " + reason.str();
  return false;
}

//===----------------------------------------------------------------------===//
// What one operation reads
//===----------------------------------------------------------------------===//

/// A loop for each dimension of more than one element and for each that is
/// folded; three for one that has the extent in it.
ResultLoops PaddingFinder::makeLoops(RankedTensorType type,
                                     ArrayRef<Padding> paddings,
                                     ArrayRef<int64_t> folded) const {
  ResultLoops result;
  auto &extents = result.loops.extents;
  struct Term {
    unsigned dim;
    unsigned loop;
    int64_t step;
  };
  SmallVector<Term> terms;
  SmallVector<unsigned> placeLoops, outerLoops;
  auto addLoop = [&](unsigned dim, int64_t extent, int64_t step) {
    if (extent != 1)
      terms.push_back({dim, static_cast<unsigned>(extents.size()), step});
    extents.push_back(extent);
    return static_cast<unsigned>(extents.size() - 1);
  };
  const auto rank = static_cast<unsigned>(type.getRank());
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    const auto *own = llvm::find_if(
        paddings, [dim = dim](const Padding &each) { return each.dim == dim; });
    if (own == paddings.end()) {
      addLoop(dim, extent, 1);
      continue;
    }
    outerLoops.push_back(
        addLoop(dim, extent / (size * own->inner), size * own->inner));
    placeLoops.push_back(addLoop(dim, size, own->inner));
    addLoop(dim, own->inner, 1);
  }
  for (auto [i, extent] : llvm::enumerate(folded))
    addLoop(rank + i, extent, 1);
  for (unsigned dim = 0; dim < rank + folded.size(); ++dim) {
    Index index = Index::number(result.loops, 0);
    for (const Term &term : terms)
      if (term.dim == dim)
        index = index + Index::loop(result.loops, term.loop) * term.step;
    (dim < rank ? result.at : result.folded).push_back(index);
  }
  for (unsigned loop : placeLoops)
    result.places.push_back(Index::loop(result.loops, loop));
  for (unsigned loop : outerLoops)
    result.outer.push_back(Index::loop(result.loops, loop));
  return result;
}

/// Whether elements of `result`, which has the extent in `paddings`, are each
/// computed from such as are at a place of theirs. Loops are cut where forms of
/// elements differ.
bool PaddingFinder::keepsApart(OpResult result, ArrayRef<Padding> paddings) {
  constexpr size_t mostParts = 256;
  Operation *op = result.getOwner();
  SmallVector<int64_t> folded;
  if (auto reduction = dyn_cast<ReductionOpInterface>(op)) {
    auto extents = reduction.getFoldedExtents();
    if (!extents)
      return false;
    folded = *extents;
  }
  // Loops go over something, and what is empty here may not be in smaller ones.
  auto isEmpty = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && llvm::is_contained(tensor.getShape(), 0);
  };
  if (llvm::any_of(op->getOperandTypes(), isEmpty) ||
      isEmpty(result.getType()) || llvm::is_contained(folded, 0))
    return false;
  Block scratch;
  std::set<double> formula;
  auto numberFor = [&](ElementReader &by, Value tensor,
                       ArrayRef<Index> position) {
    return numberAt(by, tensor, position);
  };
  SmallVector<ResultLoops, 2> todo{makeLoops(typeOf(result), paddings, folded)};
  for (size_t parts = 0; !todo.empty(); ++parts) {
    ResultLoops at = todo.pop_back_val();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointToEnd(&scratch);
    PlaceReader reader(builder, op->getLoc(), at.loops, at.places, at.outer,
                       size, known, numberFor);
    const bool isRead =
        readElement(reader, result, at.at, at.folded) != nullptr;
    if (!reader.keepsApart() || parts == mostParts)
      return false;
    for (auto constant : scratch.getOps<arith::ConstantOp>())
      if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
        formula.insert(real.getValueAsDouble());
    if (isRead)
      continue;
    std::optional<LoopSplit> split = reader.getSplit();
    if (!split)
      return false;
    for (const LoopPart &part : cut(at.loops, *split)) {
      auto map = [&](ArrayRef<Index> whole) {
        return llvm::map_to_vector(
            whole, [&](const Index &index) { return part.at(index); });
      };
      todo.push_back({part.loops, map(at.at), map(at.folded), map(at.places),
                      map(at.outer)});
    }
  }
  if (!formula.empty())
    found.formulas[visited].merge(formula);
  return true;
}

/// Tries what lies under the extent in each of `dims`, and, with `mayLeave`,
/// whether it is there at all, until `attempt` takes it.
template <typename Try>
bool PaddingFinder::tryForms(RankedTensorType type, ArrayRef<unsigned> dims,
                             bool mayLeave, Paddings &chosen, Try attempt) {
  if (dims.empty())
    return attempt(chosen);
  if (mayLeave && tryForms(type, dims.drop_front(), mayLeave, chosen, attempt))
    return true;
  const int64_t most = type.getDimSize(dims.front()) / size;
  for (int64_t inner = 1; inner <= most; ++inner) {
    if (most % inner != 0)
      continue;
    chosen.push_back({dims.front(), inner, {}});
    if (tryForms(type, dims.drop_front(), mayLeave, chosen, attempt))
      return true;
    chosen.pop_back();
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The numbers of a value in one copy, where they are linear along all
/// dimensions that are not `fixed` (-1), in all pieces alike.
std::optional<LinearNumbers> PaddingFinder::linearIn(const FunctionCopy &copy,
                                                     const Knowledge &ofCopy,
                                                     Value original,
                                                     ArrayRef<int64_t> fixed) {
  return linearOf(readNumber(copy.mapping.lookup(original), ofCopy, fixed),
                  fixed.size());
}

/// The same in all copies, but for what are multiples of their sizes.
const LinearNumbers *PaddingFinder::findLinear(Value original,
                                               ArrayRef<int64_t> fixed) {
  auto [entry, isNew] = linear.try_emplace(
      {original.getAsOpaquePointer(), {fixed.begin(), fixed.end()}});
  std::optional<LinearNumbers> &found = entry->second;
  if (!isNew)
    return found ? &*found : nullptr;
  std::optional<LinearNumbers> own =
      linearIn(probes.own, ofOwn, original, fixed);
  if (!own)
    return nullptr;
  auto isAlike = [&](int64_t here, int64_t there, int64_t smaller) {
    if (here == 0 || here % size != 0)
      return here == there;
    own->isSized = true;
    return there == here / size * smaller;
  };
  for (auto [i, copy, smaller] :
       llvm::enumerate(probes.smaller, probes.sizes)) {
    if (i == ofSmaller.size())
      ofSmaller.emplace_back().learn(*copy.function);
    std::optional<LinearNumbers> there =
        linearIn(copy, ofSmaller[i], original, fixed);
    if (!there || !isAlike(own->first, there->first, smaller))
      return nullptr;
    // A dimension of one element has no step.
    for (auto [here, other, extent] :
         llvm::zip_equal(own->steps, there->steps,
                         typeOf(copy.mapping.lookup(original)).getShape()))
      if (extent != 1 && !isAlike(here, other, smaller))
        return nullptr;
  }
  found = std::move(own);
  return &*found;
}

std::optional<SizedNumber> PaddingFinder::numberAt(ElementReader &reader,
                                                   Value tensor,
                                                   ArrayRef<Index> position) {
  // The same integer all over is a number that is known.
  if (auto ints = getConstantInts(tensor);
      ints && !ints->empty() && llvm::all_equal(*ints))
    return SizedNumber{reader.number(ints->front())};
  auto original = originals.find(tensor);
  if (original == originals.end())
    return std::nullopt;
  SmallVector<int64_t> fixed;
  for (const Index &index : position)
    fixed.push_back(
        llvm::all_of(index.coefficients, [](int64_t each) { return each == 0; })
            ? index.constant
            : -1);
  const LinearNumbers *numbers = findLinear(original->second, fixed);
  if (!numbers)
    return std::nullopt;
  Index sum = reader.number(numbers->first);
  for (auto [index, step, at] :
       llvm::zip_equal(position, numbers->steps, fixed))
    if (at < 0)
      sum = sum + index * step;
  return SizedNumber{sum, numbers->isSized};
}

/// Whether results are such numbers, that nobody has to know the size for: if
/// they have it in them, from places alone.
bool PaddingFinder::areNumbers(Operation *op, bool mayBeSized) {
  return llvm::all_of(op->getResults(), [&](Value result) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    auto original = originals.find(result);
    if (!type || !type.hasStaticShape() || original == originals.end())
      return false;
    const LinearNumbers *numbers =
        findLinear(original->second, SmallVector<int64_t>(type.getRank(), -1));
    return numbers && (mayBeSized || !numbers->isSized);
  });
}

/// Whether indices, or, where the last dimension tells of coordinates, each of
/// these, are such numbers.
bool PaddingFinder::areNumbers(OpOperand &indices) {
  auto original = originals.find(indices.get());
  if (original == originals.end())
    return false;
  RankedTensorType type = typeOf(indices.get());
  SmallVector<int64_t> fixed(type.getRank(), -1);
  if (!isa<GatherNDOp>(indices.getOwner()))
    return findLinear(original->second, fixed);
  for (int64_t i = 0; i < type.getShape().back(); ++i) {
    fixed.back() = i;
    if (!findLinear(original->second, fixed))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// A function
//===----------------------------------------------------------------------===//

/// The dimensions of a value that have the extent in them: those that are as
/// much smaller in the functions for smaller sizes. Nullopt where some depend
/// on it otherwise.
std::optional<SmallVector<unsigned>>
PaddingFinder::findVarying(Value original) {
  auto typeIn = [&](const FunctionCopy &copy) {
    return dyn_cast<RankedTensorType>(copy.mapping.lookup(original).getType());
  };
  RankedTensorType own = typeIn(probes.own);
  if (!own)
    return std::nullopt;
  SmallVector<unsigned> varying;
  RankedTensorType next = typeIn(probes.smaller.front());
  if (!next || next.getRank() != own.getRank())
    return std::nullopt;
  for (unsigned dim = 0; dim < own.getRank(); ++dim)
    if (own.getDimSize(dim) != next.getDimSize(dim))
      varying.push_back(dim);
  for (auto [copy, smaller] : llvm::zip_equal(probes.smaller, probes.sizes)) {
    SmallVector<int64_t> expected(own.getShape());
    for (unsigned dim : varying) {
      if (expected[dim] % size != 0)
        return std::nullopt;
      expected[dim] = expected[dim] / size * smaller;
    }
    RankedTensorType found = typeIn(copy);
    if (!found || found.getShape() != ArrayRef(expected))
      return std::nullopt;
  }
  return varying;
}

/// Refuses what computes with the size. `isInvolved` becomes true of what has
/// padded operands, a shape by the size, or places that have it in them.
bool PaddingFinder::checkUse(Operation *original, Operation *op,
                             bool &isInvolved) {
  auto fusion = dyn_cast<FusionOpInterface>(op);
  auto indexed = dyn_cast<IndexedOpInterface>(op);
  bool isPadded = false, takesSize = false, isShapedBySize = false,
       takesPlaces = false;
  for (OpOperand &operand : op->getOpOperands()) {
    isPadded |= known.contains(operand.get());
    if (!sized.all.contains(operand.get()))
      continue;
    if (indexed && &indexed.getIndicesOperand() == &operand)
      (areNumbers(operand) ? takesPlaces : takesSize) = true;
    else if (!fusion || !fusion.isShapeParameter(operand.getOperandNumber()))
      takesSize = true;
    else if (sized.linear.contains(operand.get()))
      isShapedBySize = true;
    else
      return refuse(op, "has a shape that is computed of the size");
  }
  if (isPadded && takesSize && !areNumbers(op))
    return refuse(op, "computes with the size");
  isInvolved = isPadded || isShapedBySize || takesPlaces;
  if (isInvolved && isOfOthers(original))
    return refuse(op, "depends on another size than that of the extent");
  return true;
}

/// Whether what an operation takes, or how large its results are along the
/// extent, is not the same for each size of other extents, of which only one
/// was looked at.
bool PaddingFinder::isOfOthers(Operation *original) {
  if (llvm::any_of(original->getOperands(), [&](Value operand) {
        return ofOthers.all.contains(operand) &&
               !ofOthers.linear.contains(operand);
      }))
    return true;
  auto isSizeIn = [&](const FunctionCopy &copy, Value result, unsigned dim) {
    if (!copy.function)
      return false;
    auto type =
        dyn_cast<RankedTensorType>(copy.mapping.lookup(result).getType());
    return type && type.getDimSize(dim) == size;
  };
  return llvm::any_of(original->getResults(), [&](Value result) {
    auto varying = findVarying(result);
    if (!varying)
      return false; // It is refused.
    // Where types do not tell it, it is so for two sizes of the others.
    return llvm::any_of(*varying, [&](unsigned dim) {
      return isSizeIn(probes.own, result, dim) &&
             !isSizeIn(probes.others, result, dim) &&
             !isSizeIn(probes.least, result, dim);
    });
  });
}

/// Indices behind those that there are may be anywhere; 0 is one of any tensor
/// that has elements. Inputs have copies of valid ones there, and what follows
/// from places alone is valid for the own size.
bool PaddingFinder::maskIndices(Operation *original, Operation *op) {
  auto indexed = dyn_cast<IndexedOpInterface>(op);
  if (!indexed)
    return true;
  OpOperand &operand = indexed.getIndicesOperand();
  auto own = known.find(operand.get());
  if (own == known.end() || isa<BlockArgument>(operand.get()) ||
      areNumbers(operand))
    return true;
  RankedTensorType type = typeOf(operand.get());
  for (const Padding &each : own->second) {
    if (each.inner != 1 || type.getDimSize(each.dim) != size)
      return false;
    found.masks.push_back({original, operand.getOperandNumber(), each.dim,
                           IntegerAttr::get(type.getElementType(), 0)});
  }
  return true;
}

/// Where elements meet along a padded dimension and there is a number that
/// counts nothing, operands get it there, and are not padded any more.
bool PaddingFinder::addMasks(Operation *original, Operation *op) {
  auto rule = dyn_cast<MaskOpInterface>(op);
  if (!rule)
    return true;
  for (OpOperand &operand : op->getOpOperands()) {
    auto own = known.find(operand.get());
    if (own == known.end())
      continue;
    Paddings left;
    bool isMasked = false;
    for (const Padding &each : own->second) {
      TypedAttr neutral = rule.getNeutral(operand.getOperandNumber(), each.dim);
      const bool isWhole =
          each.inner == 1 && typeOf(operand.get()).getDimSize(each.dim) == size;
      if (!neutral || !isWhole) {
        left.push_back(each);
        continue;
      }
      // An operation that the model has not may go with a number of the size.
      if (!original)
        return false;
      isMasked = true;
      if (each.filled == neutral)
        continue;
      found.masks.push_back(
          {original, operand.getOperandNumber(), each.dim, neutral});
    }
    if (!isMasked)
      continue;
    // Stands for the masked value: an operation that nobody visits.
    OpBuilder builder(op);
    Value masked = UnrealizedConversionCastOp::create(builder, op->getLoc(),
                                                      operand.get().getType(),
                                                      operand.get())
                       .getResult(0);
    if (!left.empty())
      known[masked] = left;
    operand.set(masked);
  }
  return true;
}

/// What it decomposes to is visited in its place.
bool PaddingFinder::decompose(Operation *op) {
  return visitParts(op, [&](Operation *part) { return visitPart(part); });
}

/// An operation that the model has not: what of its result is padded shows by
/// what it reads.
bool PaddingFinder::visitPart(Operation *op) {
  if (isa<ConstantOp, NoneOp>(op))
    return true;
  if (!isComputed(op) || op->getNumRegions() || !hasStaticTypes(op))
    return false;
  knowledge.learn(op);
  if (llvm::none_of(op->getOperands(),
                    [&](Value each) { return known.contains(each); }))
    return true;
  prepare(op);
  if (!addMasks(nullptr, op))
    return false;
  if (!hasForm(op)) {
    const bool isDone = decompose(op);
    if (isDone)
      op->erase();
    return isDone;
  }
  for (OpResult result : op->getResults()) {
    RankedTensorType type = typeOf(result);
    SmallVector<unsigned> dims;
    for (unsigned dim = 0; dim < type.getRank(); ++dim)
      if (type.getDimSize(dim) > 0 && type.getDimSize(dim) % size == 0)
        dims.push_back(dim);
    Paddings chosen;
    if (!tryForms(type, dims, /*mayLeave=*/true, chosen,
                  [&](ArrayRef<Padding> paddings) {
                    return keepsApart(result, paddings);
                  }))
      return false;
    if (!chosen.empty())
      known[result] = chosen;
  }
  return true;
}

/// Of an operation all of whose operands are masked, wherever it reads them.
bool PaddingFinder::findMasked(Operation *op,
                               ArrayRef<SmallVector<unsigned>> varying) {
  if (!isa<MaskOpInterface>(op) ||
      llvm::any_of(op->getOperands(), [&](Value operand) {
        return known.contains(operand) || sized.all.contains(operand);
      }))
    return false;
  for (auto [result, dims] : llvm::zip_equal(op->getResults(), varying))
    for (unsigned dim : dims)
      if (typeOf(result).getDimSize(dim) != size)
        return false;
  for (auto [result, dims] : llvm::zip_equal(op->getResults(), varying))
    for (unsigned dim : dims)
      known[result].push_back({dim, 1, {}});
  return true;
}

/// Of an operation that reads nothing behind its own place.
bool PaddingFinder::findBackwards(Operation *op, ArrayRef<unsigned> varying) {
  auto rule = dyn_cast<MaskOpInterface>(op);
  if (!rule || !rule.readsBackwards() ||
      llvm::any_of(op->getOperands().drop_front(),
                   [&](Value each) { return known.contains(each); }))
    return false;
  const Paddings paddings = known.lookup(op->getOperand(0));
  auto isOf = [&](const Padding &each) {
    return llvm::is_contained(varying, each.dim);
  };
  if (paddings.size() != varying.size() || !llvm::all_of(paddings, isOf))
    return false;
  // Behind a place that comes several times there is padding between.
  if (llvm::any_of(paddings, [&](const Padding &each) {
        return typeOf(op->getOperand(0)).getDimSize(each.dim) !=
               size * each.inner;
      }))
    return false;
  Paddings &own = known[op->getResult(0)] = paddings;
  for (Padding &each : own)
    each.filled = {};
  return true;
}

/// Of an operation that computes each example of a batch by itself, where the
/// extent is the batch.
bool PaddingFinder::findByBatch(Operation *op,
                                ArrayRef<SmallVector<unsigned>> varying) {
  auto rule = dyn_cast<BatchOpInterface>(op);
  std::optional<BatchDims> dims = rule ? rule.getBatchDims() : std::nullopt;
  if (!dims) {
    std::optional<Batched> batched = rule ? rule.getBatched() : std::nullopt;
    if (!batched || batched->isSummed || op->getNumResults() != 1)
      return false;
    dims.emplace();
    dims->operands.assign(op->getNumOperands(), -1);
    for (unsigned operand : batched->operands)
      dims->operands[operand] = 0;
    dims->results = {0};
  }
  auto isBatch = [&](const Padding &each, int dim, Value value) {
    return static_cast<int>(each.dim) == dim && each.inner == 1 &&
           typeOf(value).getDimSize(each.dim) == size;
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const Paddings own = known.lookup(operand);
    const int dim = i < dims->operands.size() ? dims->operands[i] : -1;
    const bool isThere = own.size() == 1 && isBatch(own.front(), dim, operand);
    if (!isa<NoneType>(operand.getType()) &&
        (dim < 0 ? !own.empty() : !isThere))
      return false;
  }
  for (auto [result, own, dim] :
       llvm::zip_equal(op->getResults(), varying, dims->results)) {
    const Padding padding{static_cast<unsigned>(dim), 1, {}};
    if (own.size() != 1 || own.front() != padding.dim ||
        !isBatch(padding, dim, result))
      return false;
    known[result].assign({padding});
  }
  return true;
}

/// Of such numbers, where results are some, too, with one for each place.
bool PaddingFinder::visitNumbers(Operation *op,
                                 ArrayRef<SmallVector<unsigned>> varying) {
  if (!areNumbers(op))
    return refuse(op,
                  "computes with an extent that is no multiple of the size");
  for (auto [result, dims] : llvm::zip_equal(op->getResults(), varying))
    for (unsigned dim : dims) {
      if (typeOf(result).getDimSize(dim) != size)
        return refuse(op, "has an extent that is no multiple of the size");
      known[result].push_back({dim, 1, {}});
    }
  return true;
}

bool PaddingFinder::visit(Operation *original) {
  visited = original;
  Operation *op = probes.own.mapping.lookup(original);
  if (isa<ConstantOp, NoneOp>(op))
    return true;
  if (!isComputed(op) || op->getNumRegions())
    return refuse(op, "is no plain operation");
  if (!hasStaticTypes(op))
    return refuse(op, "has shapes that are found while running");
  knowledge.learn(op);
  if (isa<ShapeOp, SizeOp>(op))
    return true; // In `sized`, or known.
  bool isInvolved = false;
  if (!checkUse(original, op, isInvolved))
    return false;
  const bool takesNumbers = llvm::any_of(op->getOperands(), [&](Value each) {
    return numbersOnly.contains(each);
  });
  if (!isInvolved && !takesNumbers)
    return true;
  SmallVector<SmallVector<unsigned>> varying;
  for (Value result : original->getResults()) {
    auto dims = findVarying(result);
    if (dims) {
      varying.push_back(std::move(*dims));
      continue;
    }
    if (!areNumbers(op, /*mayBeSized=*/false))
      return refuse(op, "has an extent that is no multiple of the size");
    numbersOnly.insert(op->result_begin(), op->result_end());
    return true;
  }
  if (takesNumbers)
    return visitNumbers(op, varying);
  prepare(op);
  (void)addMasks(original, op);
  if (!maskIndices(original, op))
    return refuse(op, "has indices that cannot be padded");
  if (findMasked(op, varying) || findBackwards(op, varying.front()) ||
      (!hasForm(op) && findByBatch(op, varying)))
    return true;
  const SmallVector<Value> results(op->getResults());
  if (hasForm(op)) {
    for (auto [result, dims] : llvm::zip_equal(op->getResults(), varying)) {
      Paddings chosen;
      if (!tryForms(typeOf(result), dims, /*mayLeave=*/false, chosen,
                    [&](ArrayRef<Padding> paddings) {
                      return keepsApart(result, paddings);
                    }))
        return findByBatch(op, varying) ||
               refuse(op, "does not keep what there is apart from padding");
      if (!chosen.empty())
        known[result] = chosen;
    }
    return true;
  }
  SmallVector<SmallVector<OpOperand *>> uses;
  for (Value result : results)
    uses.push_back(llvm::map_to_vector(result.getUses(),
                                       [](OpOperand &use) { return &use; }));
  if (!decompose(op))
    return refuse(op, "does not keep what there is apart from padding");
  for (auto [i, dims] : llvm::enumerate(varying)) {
    // Readers see the whole again, with the dimensions that its type tells of.
    Value parts = uses[i].empty() ? Value() : uses[i].front()->get();
    Paddings all = parts ? known.lookup(parts) : Paddings();
    for (const Padding &each : all)
      if (!llvm::is_contained(dims, each.dim))
        return refuse(op, "does not keep what there is apart from padding");
    auto rule = dyn_cast<MaskOpInterface>(op);
    for (unsigned dim : dims) {
      if (llvm::any_of(all,
                       [&](const Padding &each) { return each.dim == dim; }))
        continue;
      if (typeOf(results[i]).getDimSize(dim) != size)
        return refuse(op, "does not keep what there is apart from padding");
      all.push_back({dim, 1, rule ? rule.getNeutralResult() : TypedAttr()});
    }
    for (OpOperand *use : uses[i])
      use->set(results[i]);
    if (!all.empty())
      known[results[i]] = all;
  }
  return true;
}

/// Finds the values that differ by the size; indices that are known for each
/// size make no number of what they are the places of.
void PaddingFinder::findNumbers(func::FuncOp function) {
  ofOwn.learn(*probes.own.function);
  ofSmaller.reserve(probes.smaller.size()); // They stay where they are.
  ofSmaller.emplace_back().learn(*probes.smaller.front().function);
  // Those of a copy in which extents are open, as values of the function.
  auto sizedIn = [&](const FunctionCopy &copy) {
    const SizedValues there = findSized(*copy.function);
    SizedValues found;
    for (Operation &op : function.getBody().front().without_terminator())
      for (Value result : op.getResults()) {
        Value value = copy.mapping.lookup(result);
        if (there.all.contains(value))
          found.all.insert(result);
        if (there.linear.contains(value))
          found.linear.insert(result);
      }
    return found;
  };
  auto elementsIn = [](const FunctionCopy &copy, const Knowledge &of) {
    return
        [&](Value value) { return of.elementsOf(copy.mapping.lookup(value)); };
  };
  for (Operation &op : function.getBody().front().without_terminator())
    for (Value result : op.getResults())
      originals[probes.own.mapping.lookup(result)] = result;
  ofOthers = sizedIn(probes.others);
  if (probes.least.function) {
    Knowledge least;
    least.learn(*probes.least.function);
    ofOthers = findDiffering(function, ofOthers, elementsIn(probes.own, ofOwn),
                             elementsIn(probes.least, least),
                             [](OpOperand &) { return false; });
  }
  const SizedValues differing = findDiffering(
      function, sizedIn(probes.open), elementsIn(probes.own, ofOwn),
      elementsIn(probes.smaller.front(), ofSmaller.front()),
      [&](OpOperand &operand) {
        Operation *op = probes.own.mapping.lookup(operand.getOwner());
        auto indexed = dyn_cast<IndexedOpInterface>(op);
        if (!indexed || indexed.getIndicesOperand().getOperandNumber() !=
                            operand.getOperandNumber())
          return false;
        return areNumbers(indexed.getIndicesOperand());
      });
  for (Value value : differing.all)
    sized.all.insert(probes.own.mapping.lookup(value));
  for (Value value : differing.linear)
    sized.linear.insert(probes.own.mapping.lookup(value));
}

bool PaddingFinder::run(func::FuncOp function,
                        ArrayRef<std::pair<unsigned, unsigned>> places) {
  Block &block = function.getBody().front();
  findNumbers(function);
  for (auto [argument, dim] : places)
    known[probes.own.function->getArgument(argument)].push_back({dim, 1, {}});
  for (Operation &op : block.without_terminator())
    if (!visit(&op))
      return false;
  Operation *end = block.getTerminator();
  Operation *ownEnd = probes.own.function->getBody().front().getTerminator();
  for (auto [original, value] :
       llvm::zip_equal(end->getOperands(), ownEnd->getOperands())) {
    if (sized.all.contains(value) || numbersOnly.contains(value))
      return refuse(end, "gives the size");
    SmallVector<unsigned> &dims = found.results.emplace_back();
    auto varying = findVarying(original);
    if (!varying)
      return refuse(end, "has an extent that is no multiple of the size");
    for (unsigned dim : *varying) {
      if (typeOf(value).getDimSize(dim) != size)
        return refuse(end, "has the extent together with others");
      dims.push_back(dim);
    }
  }
  return true;
}

std::optional<FoundPadding>
dlc::graph::findPadding(func::FuncOp function, PaddingProbes &probes,
                        ArrayRef<std::pair<unsigned, unsigned>> places,
                        std::string &why) {
  PaddingFinder finder(probes, why);
  if (!finder.run(function, places))
    return std::nullopt;
  return std::move(finder.found);
}
