// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Position.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc::graph;

Index Index::number(const Loops &loops, int64_t value) {
  Index index;
  index.coefficients.resize(loops.extents.size());
  index.constant = value;
  return index;
}

Index Index::loop(const Loops &loops, unsigned which) {
  Index index = number(loops, 0);
  index.coefficients[which] = 1;
  return index;
}

Index Index::operator+(const Index &other) const {
  Index sum = *this;
  for (auto [a, b] : llvm::zip_equal(sum.coefficients, other.coefficients))
    a += b;
  sum.constant += other.constant;
  return sum;
}

Index Index::operator*(int64_t factor) const {
  Index product = *this;
  for (int64_t &coefficient : product.coefficients)
    coefficient *= factor;
  product.constant *= factor;
  return product;
}

Index Index::operator+(int64_t offset) const {
  Index sum = *this;
  sum.constant += offset;
  return sum;
}

std::pair<int64_t, int64_t> Index::range(const Loops &loops) const {
  int64_t low = constant, high = constant;
  for (auto [coefficient, extent] :
       llvm::zip_equal(coefficients, loops.extents)) {
    if (coefficient == 0)
      continue;
    (coefficient < 0 ? low : high) += coefficient * (extent - 1);
  }
  return {low, high};
}

std::optional<unsigned> Index::asLoop() const {
  std::optional<unsigned> found;
  for (auto [i, coefficient] : llvm::enumerate(coefficients)) {
    if (coefficient == 0)
      continue;
    if (coefficient != 1 || found)
      return std::nullopt;
    found = i;
  }
  return constant == 0 ? found : std::nullopt;
}

AffineExpr Index::toAffine(const Loops &loops, MLIRContext *context) const {
  AffineExpr sum = getAffineConstantExpr(constant, context);
  for (auto [i, coefficient] : llvm::enumerate(coefficients)) {
    if (coefficient == 0)
      continue;
    AffineExpr loop = i < loops.grid
                          ? getAffineSymbolExpr(i, context)
                          : getAffineDimExpr(i - loops.grid, context);
    sum = sum + loop * coefficient;
  }
  return sum;
}

/// Of blocks, one loop is two: outer * at + inner.
Index LoopPart::at(const Index &whole) const {
  Index index = whole;
  const int64_t coefficient = whole.coefficients[split.loop];
  if (split.isFactor) {
    index.coefficients[split.loop] = coefficient * split.at;
    index.coefficients.insert(index.coefficients.begin() + split.loop + 1,
                              coefficient);
    return index;
  }
  return isHigh ? index + coefficient * split.at : index;
}

SmallVector<LoopPart, 2> dlc::graph::cut(const Loops &loops,
                                         const LoopSplit &split) {
  const unsigned loop = split.loop;
  LoopPart first{loops, split, false};
  auto &extents = first.loops.extents;
  if (split.isFactor) {
    extents[loop] /= split.at;
    extents.insert(extents.begin() + loop + 1, split.at);
    return {std::move(first)};
  }
  extents[loop] = split.at;
  LoopPart high{loops, split, true};
  high.loops.extents[loop] -= split.at;
  return {std::move(first), std::move(high)};
}

/// The loop to cut so that `rest`, one loop times a factor, splits at
/// multiples of `divisor`.
static std::optional<LoopSplit> splitFor(const Index &rest, int64_t divisor,
                                         const Loops &loops) {
  for (auto [i, coefficient] : llvm::enumerate(rest.coefficients)) {
    if (coefficient <= 0 || divisor % coefficient)
      continue;
    int64_t factor = divisor / coefficient;
    if (factor > 1 && loops.extents[i] > factor &&
        loops.extents[i] % factor == 0)
      return LoopSplit{static_cast<unsigned>(i), factor, /*isFactor=*/true};
  }
  return std::nullopt;
}

std::optional<std::pair<Index, Index>>
dlc::graph::divide(const Index &index, int64_t divisor, const Loops &loops,
                   std::optional<LoopSplit> &split) {
  if (divisor == 0) // Of a value without elements: nothing reads there.
    return std::nullopt;
  Index quotient = Index::number(loops, 0), rest = quotient;
  for (auto [i, coefficient] : llvm::enumerate(index.coefficients)) {
    if (coefficient % divisor == 0)
      quotient.coefficients[i] = coefficient / divisor;
    else
      rest.coefficients[i] = coefficient;
  }
  quotient.constant = llvm::divideFloorSigned(index.constant, divisor);
  rest.constant = index.constant - quotient.constant * divisor;
  auto [low, high] = rest.range(loops);
  if (low >= 0 && high < divisor)
    return std::pair(quotient, rest);
  split = splitFor(rest, divisor, loops);
  return std::nullopt;
}

int dlc::graph::compareTo(const Index &index, int64_t bound, const Loops &loops,
                          std::optional<LoopSplit> &split) {
  auto [low, high] = index.range(loops);
  if (high < bound)
    return -1;
  if (low >= bound)
    return 1;
  // Cut the slowest loop that has several iterations, as near to the bound as
  // it comes: index = constant + c * i + faster loops.
  std::optional<unsigned> slowest;
  for (auto [i, coefficient] : llvm::enumerate(index.coefficients))
    if (coefficient && loops.extents[i] > 1 &&
        (!slowest ||
         std::abs(coefficient) > std::abs(index.coefficients[*slowest])))
      slowest = i;
  int64_t c = index.coefficients[*slowest];
  int64_t at = c > 0 ? llvm::divideCeilSigned(bound - index.constant, c)
                     : (index.constant - bound) / -c + 1;
  at = std::clamp<int64_t>(at, 1, loops.extents[*slowest] - 1);
  split = LoopSplit{*slowest, at, /*isFactor=*/false};
  return 0;
}

SmallVector<Index> dlc::graph::broadcastPosition(ArrayRef<Index> position,
                                                 ArrayRef<int64_t> shape,
                                                 const Loops &loops) {
  SmallVector<Index> result(position.take_back(shape.size()));
  for (auto [index, extent] : llvm::zip_equal(result, shape))
    if (extent == 1)
      index = Index::number(loops, 0);
  return result;
}

std::optional<SmallVector<Index>>
dlc::graph::reshapeIndex(ArrayRef<Index> index, ArrayRef<int64_t> from,
                         ArrayRef<int64_t> to, const Loops &loops,
                         std::optional<LoopSplit> &split) {
  // The linear position within the dimensions passed so far, from the last
  // one on; `known` of its values are possible.
  SmallVector<Index> result(to.size(), Index::number(loops, 0));
  Index position = Index::number(loops, 0);
  int64_t known = 1;
  size_t source = from.size();
  for (size_t target = to.size(); target-- > 0;) {
    int64_t extent = to[target];
    if (extent == 1)
      continue;
    while (source > 0 && known % extent != 0) {
      --source;
      position = position + index[source] * known;
      known *= from[source];
    }
    if (known == extent) {
      result[target] = position;
      position = Index::number(loops, 0);
      known = 1;
      continue;
    }
    auto parts = divide(position, extent, loops, split);
    if (!parts)
      return std::nullopt;
    result[target] = parts->second;
    position = parts->first;
    known /= extent;
  }
  return result;
}
