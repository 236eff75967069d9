// SPDX-License-Identifier: Apache-2.0
//
// Random elements. An operation draws while it runs, guarded by the variable of
// its device's sequence.

#include "Chunk.h"
#include "dlc/runtime/Base/Half.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

using namespace dlc::rt;

namespace {

/// Fills elements `first` on of the sequence that `draws` names; for float and
/// double elements.
struct Distribution {
  enum Kind { Uniform, Normal } kind;
  double a, b; ///< Low and high, or mean and deviation.

  template <typename T>
  void fill(const RandomDraws &draws, uint64_t first, std::span<T> out) const {
    if (kind == Uniform)
      fillUniform(draws, first, out, T(a), T(b));
    else
      fillNormal(draws, first, out, T(a), T(b));
  }
};

} // namespace

static std::span<uint16_t> halvesOf(const ArrayPiece &piece, std::byte *start) {
  return {reinterpret_cast<uint16_t *>(start), piece.bytes / 2};
}

/// The 16-bit number (of either type) before or after one that is finite.
static uint16_t neighbour(uint16_t bits, int step) {
  int rank = (bits & 0x8000 ? -(bits & 0x7fff) : bits) + step;
  return uint16_t(rank < 0 ? 0x8000 - rank : rank);
}

namespace {

/// A 16-bit type.
struct HalfType {
  uint16_t (*fromFloat)(float);
  float (*toFloat)(uint16_t);
  float largest;

  /// The least and the largest number that elements of `distribution` may be,
  /// both of the type; the least is above the largest where there is none.
  std::pair<float, float> boundsOf(const Distribution &distribution) const {
    if (distribution.kind != Distribution::Uniform)
      return {-largest, largest};
    float low = float(distribution.a), high = float(distribution.b);
    auto nearest = [&](float number) {
      return fromFloat(std::clamp(number, -largest, largest));
    };
    uint16_t least = nearest(low), most = nearest(high);
    if (toFloat(least) < low)
      least = neighbour(least, 1);
    if (toFloat(most) >= high)
      most = neighbour(most, -1);
    return {toFloat(least), toFloat(most)};
  }
};

constexpr HalfType halfType{halfFromFloat, floatFromHalf, 65504};
constexpr HalfType bfloatType{bfloat16FromFloat, floatFromBFloat16,
                              0x1.fep127f};

} // namespace

/// 16-bit elements are rounded from floats, some at a time. Between bounds of
/// the type rounding leads to none beyond them.
static void fillHalves(const Distribution &distribution,
                       const RandomDraws &draws, std::span<uint16_t> out,
                       const HalfType &type) {
  auto [least, most] = type.boundsOf(distribution);
  float block[256];
  for (size_t first = 0; first < out.size(); first += std::size(block)) {
    size_t count = std::min(std::size(block), out.size() - first);
    distribution.fill(draws, first, std::span<float>(block, count));
    for (size_t i = 0; i != count; ++i)
      out[first + i] = type.fromFloat(std::clamp(block[i], least, most));
  }
}

static Status runFill(const ArrayPiece &piece, const Distribution &distribution,
                      const RandomResource &random) {
  Result<std::byte *> start = piece.writable();
  if (!start.isOk() || piece.bytes == 0)
    return std::move(start.status());
  size_t count = piece.bytes / sizeOf(piece.type);
  Result<RandomDraws> taken = random.take(blocksFor(count));
  if (!taken.isOk())
    return std::move(taken.status());
  const RandomDraws &draws = *taken;
  switch (piece.type) {
  case DLC_F32:
    distribution.fill(draws, 0,
                      std::span(reinterpret_cast<float *>(*start), count));
    break;
  case DLC_F64:
    distribution.fill(draws, 0,
                      std::span(reinterpret_cast<double *>(*start), count));
    break;
  case DLC_F16:
    fillHalves(distribution, draws, halvesOf(piece, *start), halfType);
    break;
  default: // bf16: others were refused.
    fillHalves(distribution, draws, halvesOf(piece, *start), bfloatType);
  }
  return Status::ok();
}

/// Others than f64 are drawn as floats, so the parameters are floats too.
static Status checkParameters(const Distribution &distribution, DataType type) {
  if (type == DLC_F64)
    return Status::ok();
  auto [kind, a, b] = distribution;
  auto fits = [](double number) { return std::abs(number) <= FLT_MAX; };
  bool isUniform = kind == Distribution::Uniform;
  if (!fits(a) || !fits(b) || (isUniform && !fits(b - a)))
    return makeError(StatusCode::InvalidArgument,
                     "expected %s in the range of f32, got %g and %g",
                     isUniform ? "numbers and their difference" : "numbers", a,
                     b);
  std::pair<float, float> bounds = {float(a),
                                    std::nextafter(float(b), -FLT_MAX)};
  if (type == DLC_F16)
    bounds = halfType.boundsOf(distribution);
  else if (type == DLC_BF16)
    bounds = bfloatType.boundsOf(distribution);
  if (isUniform && bounds.first > bounds.second)
    return makeError(StatusCode::InvalidArgument,
                     "expected a range with numbers of %s, got [%.15g, %.15g)",
                     std::string(nameOf(type)).c_str(), a, b);
  return Status::ok();
}

static Status pushFill(const NDArray &array, const Distribution &distribution,
                       const char *name, int priority) {
  DLC_RETURN_IF_ERROR(checkWritable(array));
  DLC_RETURN_IF_ERROR(checkHost(array.context()));
  if (!isFloat(array.type()))
    return makeError(StatusCode::InvalidArgument,
                     "expected an array of floats, got %s",
                     toString(typeOf(array)).c_str());
  DLC_RETURN_IF_ERROR(checkParameters(distribution, array.type()));
  Result<RandomResource> random =
      array.runtime()->resources().random(array.context());
  if (!random.isOk())
    return std::move(random.status());
  PushOptions options;
  options.name = name;
  options.priority = priority;
  return array.runtime()->engine().pushSync(
      [piece = ArrayPiece(array), distribution, random = *random] {
        return runFill(piece, distribution, random);
      },
      array.context(), {}, {array.variable(), random->variable()}, options);
}

Status NDArray::fillUniform(double low, double high, int priority) const {
  if (!(low < high) || !std::isfinite(high - low))
    return makeError(StatusCode::InvalidArgument,
                     "expected numbers of a finite range, got [%g, %g)", low,
                     high);
  return pushFill(*this, {Distribution::Uniform, low, high}, "fill uniform",
                  priority);
}

Status NDArray::fillNormal(double mean, double deviation, int priority) const {
  if (!(deviation >= 0) || !std::isfinite(mean) || !std::isfinite(deviation))
    return makeError(StatusCode::InvalidArgument,
                     "expected a finite mean and a deviation of 0 or more, got "
                     "%g and %g",
                     mean, deviation);
  return pushFill(*this, {Distribution::Normal, mean, deviation}, "fill normal",
                  priority);
}
