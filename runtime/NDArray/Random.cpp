// SPDX-License-Identifier: Apache-2.0
//
// Random elements. An operation draws while it runs, guarded by the variable of
// its device's sequence.

#include "Chunk.h"
#include "dlc/runtime/Base/Half.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

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

/// 16-bit elements are rounded from floats, some at a time.
static void fillHalves(const Distribution &distribution,
                       const RandomDraws &draws, std::span<uint16_t> out,
                       uint16_t (*convert)(float), float largest) {
  float block[256];
  for (size_t first = 0; first < out.size(); first += std::size(block)) {
    size_t count = std::min(std::size(block), out.size() - first);
    distribution.fill(draws, first, std::span<float>(block, count));
    std::transform(block, block + count, out.begin() + first,
                   [&](float number) {
                     return convert(std::clamp(number, -largest, largest));
                   });
  }
}

static Status runFill(const ArrayPiece &piece, const Distribution &distribution,
                      const RandomResource &random) {
  Result<std::byte *> start = piece.writable();
  if (!start.isOk() || piece.bytes == 0)
    return std::move(start.status());
  size_t count = piece.bytes / sizeOf(piece.type);
  RandomDraws draws = random.take(blocksFor(count));
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
    fillHalves(distribution, draws, halvesOf(piece, *start), halfFromFloat,
               65504);
    break;
  default: // bf16: others were refused.
    fillHalves(distribution, draws, halvesOf(piece, *start), bfloat16FromFloat,
               0x1.fep127f);
  }
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
  // Others than f64 are drawn as floats.
  auto fits = [](double number) { return std::abs(number) <= FLT_MAX; };
  if (array.type() != DLC_F64 &&
      !(fits(distribution.a) && fits(distribution.b) &&
        fits(distribution.b - distribution.a)))
    return makeError(StatusCode::InvalidArgument,
                     "expected numbers in the range of f32, got %g and %g",
                     distribution.a, distribution.b);
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
