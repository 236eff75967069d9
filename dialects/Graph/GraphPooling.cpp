// SPDX-License-Identifier: Apache-2.0
//
// Pooling over windows: its elements, and the forms that are reductions.

#include "Chain.h"
#include "ElementBuilder.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Position.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphPooling.cpp.inc"

void GraphDialect::addPoolingOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphPooling.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {

/// The windows of a pooling operation, per spatial dimension.
struct Windows {
  SmallVector<int64_t> kernel, strides, dilations, begins, ends;
  int64_t taps = 1;
};

/// Where a tap of all windows of a domain lies.
struct Tap {
  SmallVector<Index> position;
  bool isInside = true;  ///< Within the operand.
  bool isCounted = true; ///< Within its padding at least.
};

} // namespace

/// Windows of more taps than this are not written out.
static constexpr int64_t kMaxTaps = 25;
/// Windows of more taps are separated where that makes less of them.
static constexpr int64_t kMostJointTaps = 16;

template <typename Op> static std::optional<Windows> windowsOf(Op op) {
  Windows windows;
  windows.kernel.assign(op.getKernelShape().begin(), op.getKernelShape().end());
  size_t dims = windows.kernel.size();
  auto orOnes = [&](ArrayRef<int64_t> list) {
    return list.empty() ? SmallVector<int64_t>(dims, 1)
                        : SmallVector<int64_t>(list);
  };
  windows.strides = orOnes(op.getStrides());
  windows.dilations = orOnes(op.getDilations());
  windows.begins.assign(dims, 0);
  windows.ends.assign(dims, 0);
  if (op.getAutoPad() == "NOTSET" && !op.getPads().empty()) {
    windows.begins = SmallVector<int64_t>(op.getPads().take_front(dims));
    windows.ends = SmallVector<int64_t>(op.getPads().drop_front(dims));
  } else if (op.getAutoPad() != "NOTSET" && op.getAutoPad() != "VALID") {
    return std::nullopt;
  }
  for (int64_t extent : windows.kernel)
    windows.taps *= extent;
  if (windows.taps > kMaxTaps)
    return std::nullopt;
  return windows;
}

/// Tap number `tap` of the windows at `at`; nullopt when it is not the same
/// side of a border in all of them.
static std::optional<Tap> findTap(ElementReader &reader, const Windows &windows,
                                  int64_t tap, ArrayRef<int64_t> shape,
                                  ArrayRef<Index> at) {
  Tap found{SmallVector<Index>(at)};
  for (size_t dim = windows.kernel.size(); dim-- > 0;) {
    int64_t offset = tap % windows.kernel[dim] * windows.dilations[dim] -
                     windows.begins[dim];
    tap /= windows.kernel[dim];
    Index &index = found.position[dim + 2];
    index = index * windows.strides[dim] + offset;
    // Both borders, and the end of the padding.
    int64_t extent = shape[dim + 2];
    int low = reader.compare(index, 0);
    int high = low ? reader.compare(index, extent) : 0;
    int end = high ? reader.compare(index, extent + windows.ends[dim]) : 0;
    if (!end)
      return std::nullopt;
    found.isInside &= low > 0 && high < 0;
    found.isCounted &= end < 0;
  }
  return found;
}

/// The taps of a window written out and folded. Which of them fall into the
/// padding is known for whole loops: the borders are cut off. `inside` and
/// `counted` become the numbers of taps.
static Value foldWindow(ElementReader &reader, const Windows &windows, Value x,
                        ArrayRef<Index> at,
                        function_ref<Value(Value, Value)> fold, int64_t &inside,
                        int64_t &counted) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(x.getType()).getShape();
  Value sum;
  for (int64_t number = 0; number < windows.taps; ++number) {
    std::optional<Tap> tap = findTap(reader, windows, number, shape, at);
    if (!tap)
      return reader.fail("a border within a loop");
    inside += tap->isInside;
    counted += tap->isCounted;
    if (!tap->isInside)
      continue;
    Value term = reader.read(x, tap->position);
    if (!term)
      return {};
    sum = sum ? fold(sum, term) : term;
  }
  return sum ? sum : reader.fail("a window without elements");
}

/// The taps of a window written out and folded, those in the padding moved to
/// the border, which is in the window, too: for folds where an element counts
/// once however often it is there. Null where that is not so, or `x` is not in
/// memory.
static Value foldClamped(ElementReader &reader, const Windows &windows, Value x,
                         ArrayRef<Index> at,
                         function_ref<Value(Value, Value)> fold) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(x.getType()).getShape();
  OpBuilder &builder = reader.getBuilder();
  Location loc = reader.getLoc();
  const size_t dims = windows.kernel.size();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  for (size_t dim = 0; dim < dims; ++dim) {
    auto [low, high] = reader.rangeOf(at[dim + 2] * windows.strides[dim] +
                                      -windows.begins[dim]);
    if (windows.dilations[dim] != 1 || low + windows.kernel[dim] <= 0 ||
        high >= shape[dim + 2])
      return {};
  }
  Value sum;
  for (int64_t tap = 0; tap < windows.taps; ++tap) {
    SmallVector<Index> position(at);
    int64_t rest = tap;
    for (size_t dim = dims; dim-- > 0; rest /= windows.kernel[dim])
      position[dim + 2] = at[dim + 2] * windows.strides[dim] +
                          (rest % windows.kernel[dim] - windows.begins[dim]);
    SmallVector<Value> coordinates;
    for (auto [dim, index] : llvm::enumerate(position)) {
      Value place = reader.materialize(index);
      auto [low, high] = reader.rangeOf(index);
      if (low < 0)
        place = arith::MaxSIOp::create(builder, loc, place, number(0));
      if (high >= shape[dim])
        place =
            arith::MinSIOp::create(builder, loc, place, number(shape[dim] - 1));
      coordinates.push_back(place);
    }
    Value term = reader.load(x, coordinates);
    if (!term)
      return {};
    sum = sum ? fold(sum, term) : term;
  }
  return sum;
}

Value MaxPoolOp::buildElementAt(ElementReader &reader, unsigned,
                                ArrayRef<Index> at) {
  std::optional<Windows> windows = windowsOf(*this);
  if (!windows)
    return reader.fail("a window that is too large or padded automatically");
  Type type = getX().getType().getElementType();
  OpBuilder &builder = reader.getBuilder();
  Location loc = reader.getLoc();
  auto fold = [&](Value a, Value b) -> Value {
    return foldAs<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(
        type, builder, loc, a, b);
  };
  if (reader.prefersWhole())
    if (Value maximum = foldClamped(reader, *windows, getX(), at, fold))
      return maximum;
  int64_t inside = 0, counted = 0;
  return foldWindow(reader, *windows, getX(), at, fold, inside, counted);
}

Value AvgPoolOp::buildElementAt(ElementReader &reader, unsigned,
                                ArrayRef<Index> at) {
  std::optional<Windows> windows = windowsOf(*this);
  if (!windows)
    return reader.fail("a window that is too large or padded automatically");
  Type type = getX().getType().getElementType();
  if (!type.isF32() && !type.isF64())
    return reader.fail("a mean of short floats");
  OpBuilder &builder = reader.getBuilder();
  Location loc = reader.getLoc();
  auto fold = [&](Value a, Value b) -> Value {
    return arith::AddFOp::create(builder, loc, a, b);
  };
  int64_t inside = 0, counted = 0;
  Value sum = foldWindow(reader, *windows, getX(), at, fold, inside, counted);
  if (!sum)
    return {};
  Value count = arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(
          type, static_cast<double>(getCountIncludePad() ? counted : inside)));
  return arith::DivFOp::create(builder, loc, sum, count);
}

//===----------------------------------------------------------------------===//
// The gradient of the largest element
//===----------------------------------------------------------------------===//

namespace {

/// Builds one element of it: what the windows pass on that have chosen the
/// element at its place.
class ChosenSum {
public:
  ChosenSum(ElementReader &reader, const Windows &windows, MaxPoolGradientOp op,
            ArrayRef<Index> at);
  /// Windows that may hold the element, and taps of all of them.
  int64_t windowCount() const { return llvm::product_of(candidates); }
  int64_t tapCount() const { return windowCount() * windows.taps; }
  Value build();

private:
  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value both(Value a, Value b) {
    return a && b ? arith::AndIOp::create(builder, loc, a, b) : a ? a : b;
  }
  Value either(Value a, Value b) {
    return a && b ? arith::OrIOp::create(builder, loc, a, b) : a ? a : b;
  }
  Value clamp(Value index, int64_t extent) {
    Value low = arith::MaxSIOp::create(builder, loc, index, number(0));
    return arith::MinSIOp::create(builder, loc, low, number(extent - 1));
  }
  bool isTrivial(size_t dim) const {
    return windows.kernel[dim] == 1 && windows.strides[dim] == 1 &&
           windows.begins[dim] == 0 && windows.ends[dim] == 0;
  }
  /// The position along `dim` of window number `which` of those that may hold
  /// the element, and whether there is such a window; null for always.
  std::pair<Value, Value> windowAt(size_t dim, int64_t which);
  /// Whether tap number `tap` of the window whose elements begin at `start` is
  /// taken before the element; null for never.
  Value isBeatenBy(int64_t tap, ArrayRef<Value> start);

  ElementReader &reader;
  OpBuilder &builder;
  Location loc;
  const Windows &windows;
  Value x, g;
  ArrayRef<int64_t> shape, pooled; ///< Of x and of g.
  SmallVector<Value> place;        ///< Of the element.
  SmallVector<int64_t> candidates; ///< Windows per spatial dimension.
  Value element, isNumber;         ///< It, and whether it is not NaN.
};

} // namespace

ChosenSum::ChosenSum(ElementReader &reader, const Windows &windows,
                     MaxPoolGradientOp op, ArrayRef<Index> at)
    : reader(reader), builder(reader.getBuilder()), loc(reader.getLoc()),
      windows(windows), x(op.getX()), g(op.getG()), shape(shapeOf(x)),
      pooled(shapeOf(g)) {
  for (const Index &index : at)
    place.push_back(reader.materialize(index));
  for (size_t dim = 0; dim < windows.kernel.size(); ++dim) {
    int64_t reach = (windows.kernel[dim] - 1) * windows.dilations[dim] + 1;
    candidates.push_back(llvm::divideCeil(reach, windows.strides[dim]));
  }
}

std::pair<Value, Value> ChosenSum::windowAt(size_t dim, int64_t which) {
  Value at = place[dim + 2];
  if (isTrivial(dim))
    return {at, {}};
  const int64_t stride = windows.strides[dim],
                dilation = windows.dilations[dim];
  // Of the image with its padding, so that nothing here is negative but windows
  // in front of the first.
  Value padded =
      arith::AddIOp::create(builder, loc, at, number(windows.begins[dim]));
  Value last = arith::DivUIOp::create(builder, loc, padded, number(stride));
  Value window = arith::SubIOp::create(builder, loc, last, number(which));
  Value behind = arith::SubIOp::create(
      builder, loc, padded,
      arith::MulIOp::create(builder, loc, window, number(stride)));
  Value holds =
      both(compare(arith::CmpIPredicate::sge, window, number(0)),
           compare(arith::CmpIPredicate::slt, window, number(pooled[dim + 2])));
  const int64_t reach = (windows.kernel[dim] - 1) * dilation + 1;
  holds =
      both(holds, compare(arith::CmpIPredicate::slt, behind, number(reach)));
  if (dilation != 1) {
    Value rest = arith::RemUIOp::create(builder, loc, behind, number(dilation));
    holds = both(holds, compare(arith::CmpIPredicate::eq, rest, number(0)));
  }
  return {window, holds};
}

Value ChosenSum::isBeatenBy(int64_t tap, ArrayRef<Value> start) {
  SmallVector<Value> coordinates(place);
  Value isInside, isBefore;
  // The last dimension decides where those in front of it are equal.
  for (size_t dim = windows.kernel.size(); dim-- > 0;) {
    const int64_t extent = windows.kernel[dim];
    const int64_t offset = tap % extent * windows.dilations[dim];
    tap /= extent;
    if (isTrivial(dim))
      continue;
    Value at = arith::AddIOp::create(builder, loc, start[dim], number(offset));
    Value own = place[dim + 2];
    Value below = compare(arith::CmpIPredicate::slt, at, own);
    Value same = compare(arith::CmpIPredicate::eq, at, own);
    isBefore = isBefore ? either(below, both(same, isBefore)) : below;
    Value clamped = clamp(at, shape[dim + 2]);
    isInside = both(isInside, compare(arith::CmpIPredicate::eq, clamped, at));
    coordinates[dim + 2] = clamped;
  }
  if (!isBefore)
    return {}; // A window of one element.
  Value other = reader.load(x, coordinates);
  if (!other)
    return {};
  Value isOtherNaN = compare(arith::CmpFPredicate::UNO, other, other);
  Value ifBefore =
      either(compare(arith::CmpFPredicate::OGE, other, element), isOtherNaN);
  Value ifBehind = either(compare(arith::CmpFPredicate::OGT, other, element),
                          both(isOtherNaN, isNumber));
  Value isTaken =
      arith::SelectOp::create(builder, loc, isBefore, ifBefore, ifBehind);
  return both(isInside, isTaken);
}

Value ChosenSum::build() {
  element = reader.load(x, place);
  if (!element)
    return {};
  isNumber = compare(arith::CmpFPredicate::ORD, element, element);
  Type type = element.getType(), wide = computeType(type);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getFloatAttr(wide, 0));
  Value sum = zero;
  const size_t dims = windows.kernel.size();
  // From the last candidate on, which is the first window.
  for (int64_t number = windowCount(); number-- > 0;) {
    SmallVector<Value> coordinates(place), start(dims);
    Value isChosen;
    int64_t rest = number;
    for (size_t dim = dims; dim-- > 0; rest /= candidates[dim]) {
      auto [window, holds] = windowAt(dim, rest % candidates[dim]);
      isChosen = both(isChosen, holds);
      coordinates[dim + 2] = holds ? clamp(window, pooled[dim + 2]) : window;
      start[dim] = arith::SubIOp::create(
          builder, loc,
          arith::MulIOp::create(builder, loc, window,
                                this->number(windows.strides[dim])),
          this->number(windows.begins[dim]));
    }
    Value isBeaten;
    for (int64_t tap = 0; tap < windows.taps; ++tap)
      isBeaten = either(isBeaten, isBeatenBy(tap, start));
    Value given = reader.load(g, coordinates);
    if (!given)
      return {};
    if (type != wide)
      given = arith::ExtFOp::create(builder, loc, wide, given);
    if (isChosen)
      given = arith::SelectOp::create(builder, loc, isChosen, given, zero);
    if (isBeaten)
      given = arith::SelectOp::create(builder, loc, isBeaten, zero, given);
    sum = arith::AddFOp::create(builder, loc, sum, given);
  }
  return type == wide ? sum : arith::TruncFOp::create(builder, loc, type, sum);
}

Value MaxPoolGradientOp::buildElementAt(ElementReader &reader, unsigned,
                                        ArrayRef<Index> at) {
  // More than that is too much to write out.
  constexpr int64_t mostTaps = 256;
  std::optional<Windows> windows = windowsOf(*this);
  if (!windows)
    return reader.fail("a window that is too large or padded automatically");
  ChosenSum sum(reader, *windows, *this, at);
  if (sum.tapCount() > mostTaps)
    return reader.fail("windows that overlap too much");
  return sum.build();
}

//===----------------------------------------------------------------------===//
// Other forms
//===----------------------------------------------------------------------===//

/// One window over all of each image, nothing of which is padding.
template <typename Op> static bool isWholeImage(Op op) {
  auto type = dyn_cast<RankedTensorType>(op.getX().getType());
  bool isPadded =
      llvm::any_of(op.getPads(), [](int64_t pad) { return pad != 0; }) ||
      op.getAutoPad() == "SAME_UPPER" || op.getAutoPad() == "SAME_LOWER";
  return type && type.hasStaticShape() && !isPadded &&
         type.getShape().drop_front(2) == op.getKernelShape() &&
         llvm::all_of(op.getDilations(),
                      [](int64_t step) { return step == 1; });
}

/// `Reduce` over the dimensions of an image.
template <typename Reduce, typename Op>
static SmallVector<Value> reduceImage(Op op, OpBuilder &builder) {
  int64_t rank = cast<RankedTensorType>(op.getX().getType()).getRank();
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  Value list = ConstantOp::create(builder, op.getLoc(),
                                  makeInts(builder.getContext(), axes));
  return {Reduce::create(builder, op.getLoc(), op.getX(), list,
                         /*keepdims=*/true)};
}

/// Many taps over several dimensions: a window of k * k is one of k of windows
/// of k, which are 2k taps.
template <typename Op> static bool isWorthSeparating(Op op) {
  int64_t taps = 1, widest = 1;
  for (int64_t extent : op.getKernelShape()) {
    // Extents come from files: a product of them may be too large.
    if (llvm::MulOverflow(taps, extent, taps))
      return true;
    widest = std::max(widest, extent);
  }
  return taps > kMostJointTaps && taps > widest;
}

/// The operation along one spatial dimension after the other.
template <typename Op>
static FailureOr<SmallVector<Value>> separate(Op op, OpBuilder &builder) {
  if (!hasStaticTypes(op))
    return failure();
  size_t dims = op.getKernelShape().size();
  Value x = op.getX();
  for (size_t dim = 0; dim < dims; ++dim) {
    // Of a list with `groups` numbers for each dimension, those of this one;
    // the others are `rest`.
    auto along = [&](ArrayRef<int64_t> list, size_t groups, int64_t rest) {
      SmallVector<int64_t> own(list.empty() ? 0 : groups * dims, rest);
      for (size_t i = dim; i < own.size(); i += dims)
        own[i] = list[i];
      return builder.getDenseI64ArrayAttr(own);
    };
    NamedAttrList attributes(op->getAttrs());
    attributes.set("kernel_shape", along(op.getKernelShape(), 1, 1));
    attributes.set("strides", along(op.getStrides(), 1, 1));
    attributes.set("dilations", along(op.getDilations(), 1, 1));
    attributes.set("pads", along(op.getPads(), 2, 0));
    Operation *part = createInferred(builder, op.getLoc(),
                                     Op::getOperationName(), {x}, attributes);
    x = part->getResult(0);
  }
  return SmallVector<Value>{x};
}

bool MaxPoolOp::hasFasterParts() {
  return isWorthSeparating(*this) && !isWholeImage(*this);
}

FailureOr<SmallVector<Value>> MaxPoolOp::decompose(OpBuilder &builder) {
  if (isWholeImage(*this))
    return reduceImage<ReduceMaxOp>(*this, builder);
  if (!isWorthSeparating(*this))
    return failure();
  return separate(*this, builder);
}

/// Short floats would be rounded in between.
static bool isSeparable(AvgPoolOp op) {
  Type type = cast<TensorType>(op.getX().getType()).getElementType();
  return (type.isF32() || type.isF64()) && isWorthSeparating(op);
}

bool AvgPoolOp::hasFasterParts() {
  return isSeparable(*this) && !isWholeImage(*this);
}

FailureOr<SmallVector<Value>> AvgPoolOp::decompose(OpBuilder &builder) {
  if (isWholeImage(*this))
    return reduceImage<ReduceMeanOp>(*this, builder);
  if (!isSeparable(*this))
    return failure();
  return separate(*this, builder);
}
