// SPDX-License-Identifier: Apache-2.0

#include "ChannelConstants.h"

#include "dlc/runtime/Base/Half.h"

#include "dlc/dialects/Graph/Plain.h"

#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace dlc::graph;

namespace {

/// A short float, as a number.
template <float (*widen)(uint16_t), uint16_t (*round)(double)>
struct ShortFloat {
  uint16_t bits = 0;
  ShortFloat() = default;
  explicit ShortFloat(double value) : bits(round(value)) {}
  operator double() const { return widen(bits); }
};

using Half = ShortFloat<dlc::rt::floatFromHalf, dlc::rt::halfFromDouble>;
using BFloat =
    ShortFloat<dlc::rt::floatFromBFloat16, dlc::rt::bfloat16FromDouble>;

} // namespace

/// Calls `visit` with a value of the type of elements; false for others than
/// floats of 16, 32 and 64 bits.
template <typename Visit>
static bool visitFloat(Type element, const Visit &visit) {
  if (element.isF16())
    visit(Half());
  else if (element.isBF16())
    visit(BFloat());
  else if (element.isF32())
    visit(float());
  else if (element.isF64())
    visit(double());
  else
    return false;
  return true;
}

template <typename T> static Floats toFloats(ArrayRef<char> bytes) {
  Floats values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = value;
  }
  return values;
}

std::optional<Floats> dlc::graph::readFloats(Value value) {
  ElementsAttr elements = getConstantElements(value);
  if (!elements || elements.getNumElements() > (1 << 20))
    return std::nullopt;
  RawElements raw = RawElements::get(elements);
  if (!raw)
    return std::nullopt;
  std::optional<Floats> values;
  visitFloat(elements.getElementType(), [&](auto number) {
    values = toFloats<decltype(number)>(raw.data());
  });
  return values;
}

std::optional<Floats> dlc::graph::readPerChannel(Value value, int64_t rank,
                                                 int64_t axis,
                                                 int64_t channels) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getRank() > rank)
    return std::nullopt;
  int64_t shift = rank - type.getRank();
  for (auto [i, dim] : llvm::enumerate(type.getShape()))
    if (dim != 1 && static_cast<int64_t>(i) + shift != axis)
      return std::nullopt;
  auto values = readFloats(value);
  if (values && values->size() == 1)
    values->resize(channels, values->front());
  if (!values || static_cast<int64_t>(values->size()) != channels)
    return std::nullopt;
  return values;
}

/// The smallest number with all of its bits.
static double smallestNormal(Half) { return 0x1p-14; }
static double smallestNormal(BFloat) { return 0x1p-126; }
static double smallestNormal(double) { return 0; }

/// Rounds the product of the double factor and the element once; false when
/// that is more than the type holds, or all that one factor is for has lost
/// bits.
template <typename T>
static bool scale(ArrayRef<char> source, char *target, int64_t outer,
                  int64_t dim, int64_t inner, ArrayRef<double> factors,
                  int64_t groups) {
  const T *from = reinterpret_cast<const T *>(source.data());
  T *to = reinterpret_cast<T *>(target);
  bool fits = true;
  for (int64_t o = 0; o < outer; ++o) {
    int64_t group = o * groups / outer;
    for (int64_t d = 0; d < dim; ++d) {
      double factor = factors[group * dim + d], largest = 0;
      for (int64_t i = 0; i < inner; ++i, ++from, ++to) {
        double exact = *from * factor;
        *to = static_cast<T>(exact);
        largest = std::max(largest, std::abs(exact));
        if constexpr (sizeof(T) == 2)
          fits &= std::isfinite(double(*to)) || !std::isfinite(double(*from));
      }
      fits &= largest == 0 || largest >= smallestNormal(T());
    }
  }
  return fits;
}

bool dlc::graph::fitsFloats(Type element, ArrayRef<double> values) {
  bool fits = true;
  visitFloat(element, [&](auto number) {
    using T = decltype(number);
    for (double value : values)
      if constexpr (sizeof(T) == 2)
        fits &= std::isfinite(double(T(value))) || !std::isfinite(value);
  });
  return fits;
}

ElementsAttr dlc::graph::scaleWeights(ElementsAttr weights, int64_t axis,
                                      ArrayRef<double> factors,
                                      int64_t groups) {
  auto type = cast<RankedTensorType>(weights.getShapedType());
  Type element = type.getElementType();
  if (!visitFloat(element, [](auto) {}))
    return nullptr;
  if (weights.isSplat() && llvm::all_equal(factors) && !factors.empty()) {
    double value = cast<DenseElementsAttr>(weights)
                       .getSplatValue<APFloat>()
                       .convertToDouble();
    double scaled = value * factors.front();
    bool fits = fitsFloats(element, scaled);
    visitFloat(element, [&](auto number) {
      fits &= scaled == 0 || std::abs(scaled) >= smallestNormal(number);
    });
    return fits ? makeSplat(type, scaled) : nullptr;
  }
  RawElements raw = RawElements::get(weights);
  if (!raw)
    return nullptr;
  int64_t outer = 1, inner = 1, dim = type.getDimSize(axis);
  for (auto [i, extent] : llvm::enumerate(type.getShape())) {
    if (static_cast<int64_t>(i) < axis)
      outer *= extent;
    if (static_cast<int64_t>(i) > axis)
      inner *= extent;
  }
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(raw.data().size(), DLC_ALIGNMENT);
  char *target = blob.getMutableData().data();
  // Mapped files need not be aligned.
  unsigned size = element.getIntOrFloatBitWidth() / 8;
  bool isAligned = reinterpret_cast<uintptr_t>(raw.data().data()) % size == 0;
  ArrayRef<char> source = raw.data();
  if (!isAligned) {
    std::memcpy(target, source.data(), source.size());
    source = ArrayRef<char>(target, source.size());
  }
  bool fits = true;
  visitFloat(element, [&](auto number) {
    fits = scale<decltype(number)>(source, target, outer, dim, inner, factors,
                                   groups);
  });
  return fits ? makeElements(type, std::move(blob), "scaled") : nullptr;
}

//===----------------------------------------------------------------------===//
// Sums of weights
//===----------------------------------------------------------------------===//

WeightSum::WeightSum(RankedTensorType type)
    : type(type), sums(type.getNumElements()) {}

/// Where a tap is among those of a pair of channels.
static int64_t tapAt(RankedTensorType type, ArrayRef<int64_t> place) {
  int64_t at = 0;
  for (auto [extent, own] :
       llvm::zip_equal(type.getShape().drop_front(2), place))
    at = at * extent + own;
  return at;
}

static int64_t tapsOf(RankedTensorType type) {
  return ShapedType::getNumElements(type.getShape().drop_front(2));
}

bool WeightSum::add(ElementsAttr weights, ArrayRef<int64_t> place) {
  auto own = cast<RankedTensorType>(weights.getShapedType());
  RawElements raw = RawElements::get(weights);
  if (!raw || own.getElementType() != type.getElementType())
    return false;
  // For each tap, where it is in the sum.
  SmallVector<int64_t> taps, at(place);
  for (int64_t tap = 0; tap < tapsOf(own); ++tap) {
    int64_t left = tap;
    for (size_t d = place.size(); d-- > 0;) {
      const int64_t extent = own.getDimSize(static_cast<int64_t>(d) + 2);
      at[d] = place[d] + left % extent;
      left /= extent;
    }
    taps.push_back(tapAt(type, at));
  }
  visitFloat(own.getElementType(), [&](auto number) {
    const char *source = raw.data().data();
    for (size_t first = 0; first < sums.size(); first += tapsOf(type))
      for (int64_t tap : taps) {
        std::memcpy(&number, source, sizeof(number));
        source += sizeof(number);
        sums[first + tap] += number;
      }
  });
  return true;
}

void WeightSum::addDiagonal(ArrayRef<double> factors, ArrayRef<int64_t> place) {
  const int64_t channels = type.getDimSize(1);
  for (auto [out, factor] : llvm::enumerate(factors)) {
    const int64_t pair = static_cast<int64_t>(out) * channels +
                         static_cast<int64_t>(out) % channels;
    sums[pair * tapsOf(type) + tapAt(type, place)] += factor;
  }
}

ElementsAttr WeightSum::finish() const {
  const unsigned size = type.getElementTypeBitWidth() / 8;
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(sums.size() * size, DLC_ALIGNMENT);
  bool isFinite = true;
  visitFloat(type.getElementType(), [&](auto number) {
    char *target = blob.getMutableData().data();
    for (double sum : sums) {
      number = static_cast<decltype(number)>(sum);
      isFinite &= std::isfinite(double(number));
      std::memcpy(target, &number, sizeof(number));
      target += sizeof(number);
    }
  });
  return isFinite ? makeElements(type, std::move(blob), "summed") : nullptr;
}

ElementsAttr dlc::graph::makeFloats(RankedTensorType type,
                                    ArrayRef<double> values) {
  ElementsAttr elements;
  visitFloat(type.getElementType(), [&](auto number) {
    using T = decltype(number);
    auto rounded =
        llvm::map_to_vector(values, [](double value) { return T(value); });
    elements = makeElements(
        type, ArrayRef<char>(reinterpret_cast<const char *>(rounded.data()),
                             rounded.size() * sizeof(T)));
  });
  return elements;
}
