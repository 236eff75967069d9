// SPDX-License-Identifier: Apache-2.0
//
// Signal processing: dft, stft, mel_weight_matrix. Transforms are sums in
// double over a table of roots of unity, O(n^2).

#include "Element.h"
#include "Families.h"
#include "Parameter.h"
#include "ShapeRule.h"
#include "Walk.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <complex>
#include <numbers>

using namespace dlc::rt;
using namespace dlc::rt::ref;

using Complex = std::complex<double>;
using Signal = std::vector<Complex>;

/// exp(sign * 2 pi i k / n) for k in [0, n); exact at quarters of a turn.
static Signal rootsOfUnity(int64_t n, double sign) {
  static constexpr double cosines[] = {1, 0, -1, 0}, sines[] = {0, 1, 0, -1};
  Signal roots(n);
  for (int64_t k = 0; k < n; ++k) {
    if (4 * k % n == 0) {
      int64_t quarter = 4 * k / n;
      roots[k] = {cosines[quarter], sign * sines[quarter]};
      continue;
    }
    double turns = static_cast<double>(k) / static_cast<double>(n);
    roots[k] = std::polar(1.0, sign * 2 * std::numbers::pi * turns);
  }
  return roots;
}

/// Component `k` of the transform of `signal`, which has as many elements as
/// `roots`.
static Complex transformAt(const Signal &signal, const Signal &roots,
                           int64_t k) {
  Complex sum = 0;
  int64_t n = static_cast<int64_t>(roots.size()), power = 0;
  for (const Complex &value : signal) {
    sum += value * roots[power];
    power += k;
    if (power >= n)
      power -= n;
  }
  return sum;
}

/// Reads a complex number from `components` (1 or 2) elements.
template <typename E>
static Complex loadComplex(const void *data, int64_t index,
                           int64_t components) {
  double real = loadElement<E>(data, index * components);
  return {real, components == 2 ? loadElement<E>(data, index * 2 + 1) : 0.0};
}

static Status checkComponents(const InferContext &context, size_t index,
                              int64_t least, int64_t most) {
  const TensorType &type = context.operand(index).type;
  if (!type.hasRank || type.shape.back() < 0 ||
      (type.shape.back() >= least && type.shape.back() <= most))
    return Status::ok();
  return DLC_INVALID("operand %zu: expected a last dimension of %" PRId64
                     " to %" PRId64 ", got %s",
                     index, least, most, toString(type).c_str());
}

/// readScalar() for an optional operand.
static Status readOptional(const InferContext &context, size_t index,
                           std::optional<int64_t> &value) {
  return context.isPresent(index) ? readScalar(context, index, value)
                                  : Status::ok();
}

//===----------------------------------------------------------------------===//
// dft
//===----------------------------------------------------------------------===//

static Status inferDft(const InferContext &context,
                       std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1, 3));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 2));
  bool inverse = context.attrs().getInt("inverse", 0) != 0;
  bool onesided = context.attrs().getInt("onesided", 0) != 0;
  DLC_RETURN_IF_ERROR(checkComponents(context, 0, onesided && inverse ? 2 : 1,
                                      onesided && !inverse ? 1 : 2));
  std::optional<int64_t> length, given;
  DLC_RETURN_IF_ERROR(readOptional(context, 1, length));
  DLC_RETURN_IF_ERROR(readOptional(context, 2, given));
  if (length && *length < 1)
    return DLC_INVALID("expected a dft_length of at least 1, got %" PRId64,
                       *length);
  TensorType result = context.operand(0).type;
  if (!result.hasRank)
    return addResult(results, std::move(result));
  result.shape.back() = onesided && inverse ? 1 : 2;
  if (context.isPresent(2) && !given) {
    std::fill(result.shape.begin(), result.shape.end() - 1, kUnknownDim);
    return addResult(results, std::move(result));
  }
  int64_t axis = given.value_or(-2);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, result.rank()));
  if (axis == result.rank() - 1)
    return DLC_INVALID("expected an axis before the last, got %" PRId64, axis);
  int64_t &dim = result.shape[axis], input = dim;
  if (context.isPresent(1))
    dim = length.value_or(kUnknownDim);
  else if (onesided && inverse && dim > 0)
    dim = dim <= INT64_MAX / 2 ? 2 * (dim - 1) : INT64_MAX;
  if (input >= 0 && dim == 0)
    return DLC_INVALID("expected a longer signal, got %" PRId64, input);
  if (onesided && !inverse && dim >= 0)
    dim = dim / 2 + 1;
  return addResult(results, std::move(result));
}

namespace {
struct Transform {
  int64_t axis, inputLength, length, outputLength, inner;
  int64_t inputComponents, outputComponents;
  bool inverse, fromHalf; ///< fromHalf: the operand is one-sided.
};
} // namespace

static Status planDft(ComputeContext &context, Transform &plan) {
  const TensorView &x = context.input(0);
  const TensorView &y = context.output(0);
  std::vector<int64_t> axis = context.intsOf(2), length = context.intsOf(1);
  plan.axis = axis.empty() ? -2 : axis[0];
  DLC_RETURN_IF_ERROR(normalizeAxis(plan.axis, x.rank()));
  plan.inputLength = x.shape[plan.axis];
  plan.outputLength = y.shape[plan.axis];
  plan.inner = extentOf(x.shape, plan.axis + 1, x.shape.size() - 1);
  plan.inputComponents = x.shape.back();
  plan.outputComponents = y.shape.back();
  plan.inverse = context.attrs().getInt("inverse", 0) != 0;
  plan.fromHalf = plan.inverse && context.attrs().getInt("onesided", 0) != 0;
  plan.length = !length.empty() ? length[0]
                : plan.fromHalf ? plan.outputLength
                                : plan.inputLength;
  return Status::ok();
}

/// The signal of one row, padded or cut; a half spectrum is mirrored.
template <typename E>
static void loadSignal(const TensorView &x, const Transform &plan,
                       int64_t first, Signal &signal) {
  int64_t wanted = plan.fromHalf ? plan.length / 2 + 1 : plan.length;
  for (int64_t t = 0; t < wanted; ++t)
    signal[t] = t < plan.inputLength
                    ? loadComplex<E>(x.data, first + t * plan.inner,
                                     plan.inputComponents)
                    : Complex();
  for (int64_t t = wanted; t < plan.length; ++t)
    signal[t] = std::conj(signal[plan.length - t]);
  // What has no partner in a mirrored spectrum is real.
  if (plan.fromHalf) {
    signal[0] = signal[0].real();
    if (plan.length % 2 == 0)
      signal[plan.length / 2] = signal[plan.length / 2].real();
  }
}

static Status computeDft(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferDft));
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  if (y.size() == 0)
    return Status::ok();
  Transform plan;
  DLC_RETURN_IF_ERROR(planDft(context, plan));
  Signal signal(plan.length),
      roots = rootsOfUnity(plan.length, plan.inverse ? 1 : -1);
  double scale = plan.inverse ? 1 / static_cast<double>(plan.length) : 1;
  int64_t rows = extentOf(x.shape, 0, plan.axis) * plan.inner;
  return dispatchFloat(x.type, [&]<typename E>(E) {
    for (int64_t row = 0; row < rows; ++row) {
      int64_t outer = row / plan.inner, within = row % plan.inner;
      loadSignal<E>(x, plan, outer * plan.inputLength * plan.inner + within,
                    signal);
      for (int64_t k = 0; k < plan.outputLength; ++k) {
        Complex value = transformAt(signal, roots, k) * scale;
        int64_t at = ((outer * plan.outputLength + k) * plan.inner + within) *
                     plan.outputComponents;
        storeElement<E>(y.data, at, value.real());
        if (plan.outputComponents == 2)
          storeElement<E>(y.data, at + 1, value.imag());
      }
    }
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// stft
//===----------------------------------------------------------------------===//

/// The length of frames: as given, or the window's, or the whole signal's.
static Status readFrameLength(const InferContext &context, int64_t signal,
                              int64_t &length) {
  const TensorType &window = context.operand(2).type;
  length = kUnknownDim;
  if (context.isPresent(3)) {
    std::optional<int64_t> given;
    DLC_RETURN_IF_ERROR(readScalar(context, 3, given));
    length = given.value_or(kUnknownDim);
    if (given && length < 1)
      return DLC_INVALID("expected a frame_length of at least 1, got %" PRId64,
                         length);
  } else if (!context.isPresent(2)) {
    length = signal;
  }
  if (context.isPresent(2) && window.hasRank &&
      !mergeDim(length, window.shape[0]))
    return DLC_INVALID("operand 2: expected a window of %" PRId64
                       " values, got %" PRId64,
                       length, window.shape[0]);
  return Status::ok();
}

static Status inferStft(const InferContext &context,
                        std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2, 4));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  DLC_RETURN_IF_ERROR(checkRank(context, 0, 3));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 2));
  DLC_RETURN_IF_ERROR(checkRank(context, 2, 1));
  bool onesided = context.attrs().getInt("onesided", 1) != 0;
  DLC_RETURN_IF_ERROR(checkComponents(context, 0, 1, onesided ? 1 : 2));
  const TensorType &x = context.operand(0).type;
  int64_t batch = x.hasRank ? x.shape[0] : kUnknownDim;
  int64_t signal = x.hasRank ? x.shape[1] : kUnknownDim, length;
  std::optional<int64_t> step;
  DLC_RETURN_IF_ERROR(readScalar(context, 1, step));
  if (step && *step < 1)
    return DLC_INVALID("expected a frame_step of at least 1, got %" PRId64,
                       *step);
  DLC_RETURN_IF_ERROR(readFrameLength(context, signal, length));
  if (length == 0 || (signal >= 0 && length > signal))
    return DLC_INVALID("expected frames of 1 to %" PRId64
                       " samples, got %" PRId64,
                       signal, length);
  int64_t frames = kUnknownDim;
  if (step && signal >= 0 && length >= 0)
    frames = (signal - length) / *step + 1;
  int64_t bins = onesided && length >= 0 ? length / 2 + 1 : length;
  return addResult(results, {x.type, {batch, frames, bins, 2}});
}

static Status computeStft(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferStft));
  const TensorView &x = context.input(0), &window = context.input(2);
  TensorView &y = context.output(0);
  if (y.size() == 0)
    return Status::ok();
  std::vector<int64_t> given = context.intsOf(3);
  int64_t step = context.intsOf(1).front();
  int64_t length = !given.empty()         ? given[0]
                   : context.isPresent(2) ? window.shape[0]
                                          : x.shape[1];
  Signal frame(length), roots = rootsOfUnity(length, -1);
  int64_t frames = y.shape[1], bins = y.shape[2];
  return dispatchFloat(x.type, [&]<typename E>(E) {
    for (int64_t row = 0; row < y.shape[0] * frames; ++row) {
      int64_t first = row / frames * x.shape[1] + row % frames * step;
      for (int64_t t = 0; t < length; ++t)
        frame[t] = loadComplex<E>(x.data, first + t, x.shape[2]) *
                   (context.isPresent(2) ? loadElement<E>(window.data, t) : 1.);
      for (int64_t k = 0; k < bins; ++k) {
        Complex value = transformAt(frame, roots, k);
        storeElement<E>(y.data, (row * bins + k) * 2, value.real());
        storeElement<E>(y.data, (row * bins + k) * 2 + 1, value.imag());
      }
    }
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// mel_weight_matrix
//===----------------------------------------------------------------------===//

static Status inferMelWeightMatrix(const InferContext &context,
                                   std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 5));
  std::optional<int64_t> bands, length, rate;
  DLC_RETURN_IF_ERROR(readScalar(context, 0, bands));
  DLC_RETURN_IF_ERROR(readScalar(context, 1, length));
  DLC_RETURN_IF_ERROR(readScalar(context, 2, rate));
  for (size_t i : {3, 4}) {
    DLC_RETURN_IF_ERROR(checkType(context, i, floatTypes));
    const TensorType &edge = context.operand(i).type;
    if (edge.hasRank &&
        !(edge.shape.empty() || (edge.rank() == 1 && edge.shape[0] == 1)))
      return DLC_INVALID("operand %zu: expected one value, got %s", i,
                         toString(edge).c_str());
  }
  if ((bands && *bands < 1) || (length && *length < 1) || (rate && *rate < 1))
    return DLC_INVALID("expected num_mel_bins, dft_length and sample_rate of "
                       "at least 1, got %" PRId64 ", %" PRId64 " and %" PRId64,
                       bands.value_or(1), length.value_or(1), rate.value_or(1));
  DataType type;
  DLC_RETURN_IF_ERROR(readType(context.attrs(), "dtype", DLC_F32, type));
  return addResult(results, {type,
                             {length ? *length / 2 + 1 : kUnknownDim,
                              bands.value_or(kUnknownDim)}});
}

static double melOf(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

static double readEdge(const TensorView &view) {
  double value = 0;
  Status status = dispatchFloat(view.type, [&]<typename E>(E) {
    value = loadElement<E>(view.data, 0);
    return Status::ok();
  });
  return status.isOk() ? value : 0;
}

/// The value at row `j` of the triangle with corners low, center, high.
static double triangleAt(int64_t j, int64_t low, int64_t center, int64_t high) {
  if (j == center && (center == low || high > center))
    return 1;
  if (j >= low && j <= center && center > low)
    return static_cast<double>(j - low) / static_cast<double>(center - low);
  if (j > center && j < high)
    return static_cast<double>(high - j) / static_cast<double>(high - center);
  return 0;
}

static Status computeMelWeightMatrix(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferMelWeightMatrix));
  TensorView &y = context.output(0);
  int64_t rows = y.shape[0], bands = y.shape[1];
  double length = static_cast<double>(context.intsOf(1).front());
  double rate = static_cast<double>(context.intsOf(2).front());
  double low = melOf(readEdge(context.input(3)));
  double step = (melOf(readEdge(context.input(4))) - low) /
                static_cast<double>(bands + 2);
  // Spectrogram rows of the triangles' corners; beyond the last all the same.
  auto corner = [&](int64_t i) {
    double mel = static_cast<double>(i) * step + low;
    double hertz = 700 * (std::pow(10, mel / 2595) - 1);
    double row = std::floor((length + 1) * hertz / rate);
    return std::isnan(row)
               ? int64_t(0)
               : static_cast<int64_t>(std::clamp(row, -0x1p52, 0x1p52));
  };
  return dispatch(y.type, [&]<typename E>(E) {
    for (int64_t i = 0; i < bands; ++i) {
      int64_t first = corner(i), center = corner(i + 1), last = corner(i + 2);
      for (int64_t j = 0; j < rows; ++j)
        storeElement<E>(y.data, j * bands + i,
                        triangleAt(j, first, center, last));
    }
    return Status::ok();
  });
}

std::span<const Operation> ref::signalOperations() {
  static constexpr Operation table[] = {
      {"dft", inferDft, computeDft},
      {"mel_weight_matrix", inferMelWeightMatrix, computeMelWeightMatrix},
      {"stft", inferStft, computeStft},
  };
  return table;
}
