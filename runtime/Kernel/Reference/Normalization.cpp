// SPDX-License-Identifier: Apache-2.0
//
// Softmax and the normalisations. All are computed in double.

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <cinttypes>
#include <numeric>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// Softmax and relatives: along one axis
//===----------------------------------------------------------------------===//

/// The greatest element of a line and the sum of exp(element - greatest).
namespace {
struct LineSummary {
  double greatest = -std::numeric_limits<double>::infinity();
  double sum = 0;
};
} // namespace

template <typename E>
static LineSummary summarize(const void *x, const Lines &lines, int64_t start) {
  LineSummary summary;
  for (int64_t i = 0; i < lines.length; ++i) {
    double value = loadElement<E>(x, start + i * lines.stride);
    summary.greatest = std::max(summary.greatest, value);
  }
  for (int64_t i = 0; i < lines.length; ++i)
    summary.sum += std::exp(loadElement<E>(x, start + i * lines.stride) -
                            summary.greatest);
  return summary;
}

/// Result i of a line is function(x_i, summary of the line).
template <typename F>
static Status mapLines(ComputeContext &context, F function) {
  const TensorView &x = context.input(0), &y = context.output(0);
  int64_t axis = context.attrs().getInt("axis", -1);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  Lines lines = linesOf(x.shape, axis);
  return dispatchFloat(x.type, [&](auto element) {
    using E = decltype(element);
    auto mapLine = [&](int64_t, const auto &offsets) {
      LineSummary summary = summarize<E>(x.data, lines, offsets[0]);
      for (int64_t i = 0; i < lines.length; ++i) {
        int64_t at = offsets[0] + i * lines.stride;
        double value = loadElement<E>(x.data, at);
        storeElement<E>(y.data, at, function(value, summary));
      }
    };
    context.inParts(lines.starts.size(), static_cast<double>(lines.length) * 20,
                    [&](int64_t begin, int64_t end) {
                      lines.starts.forEach(begin, end, mapLine);
                    });
    return Status::ok();
  });
}

static Status computeSoftmax(ComputeContext &context) {
  return mapLines(context, [](double x, const LineSummary &line) {
    return std::exp(x - line.greatest) / line.sum;
  });
}

static Status computeLogSoftmax(ComputeContext &context) {
  return mapLines(context, [](double x, const LineSummary &line) {
    return x - line.greatest - std::log(line.sum);
  });
}

//===----------------------------------------------------------------------===//
// Normalisation by given or computed statistics
//===----------------------------------------------------------------------===//

/// Checks that operand `index` is a vector of as many elements as dimension 1
/// of operand 0, the channels.
static Status checkChannelVector(const InferContext &context, size_t index) {
  DLC_RETURN_IF_ERROR(checkType(context, index, floatTypes));
  DLC_RETURN_IF_ERROR(checkRank(context, index, 1));
  const TensorType &x = context.operand(0).type;
  const TensorType &vector = context.operand(index).type;
  if (!x.hasRank || !vector.hasRank)
    return Status::ok();
  int64_t channels = x.shape[1];
  if (!mergeDim(channels, vector.shape[0]))
    return DLC_INVALID("operand %zu: expected %" PRId64
                       " elements, one for each channel, got %" PRId64,
                       index, channels, vector.shape[0]);
  return Status::ok();
}

static Status inferPerChannel(const InferContext &context, size_t operands,
                              std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, operands));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 2));
  for (size_t i = 1; i < operands; ++i)
    DLC_RETURN_IF_ERROR(checkChannelVector(context, i));
  return addResultLike(context, results);
}

static Status inferBatchNorm(const InferContext &context,
                             std::vector<TensorType> &results) {
  return inferPerChannel(context, 5, results);
}

static Status inferGroupNorm(const InferContext &context,
                             std::vector<TensorType> &results) {
  int64_t groups = context.attrs().getInt("num_groups");
  if (groups < 1)
    return DLC_INVALID("expected num_groups of at least 1, got %" PRId64,
                       groups);
  DLC_RETURN_IF_ERROR(inferPerChannel(context, 3, results));
  const TensorType &x = context.operand(0).type;
  if (x.hasRank && x.shape[1] > 0 && x.shape[1] % groups != 0)
    return DLC_INVALID("expected channels in %" PRId64
                       " equal groups, got %" PRId64 " channels",
                       groups, x.shape[1]);
  return Status::ok();
}

/// Scale and bias broadcast to the operand, and may not enlarge it.
static Status checkBroadcastsTo(const InferContext &context, size_t index) {
  DLC_RETURN_IF_ERROR(checkType(context, index, floatTypes));
  const TensorType &x = context.operand(0).type;
  if (!context.isPresent(index) || !x.hasRank)
    return Status::ok();
  TensorType joint = x;
  DLC_RETURN_IF_ERROR(broadcastInto(joint, context.operand(index).type));
  if (!joint.hasRank || mayHaveShape(x, joint.shape))
    return Status::ok();
  return DLC_INVALID("operand %zu: expected a shape that broadcasts to %s, "
                     "got %s",
                     index, toString(x).c_str(),
                     toString(context.operand(index).type).c_str());
}

static Status inferTrailing(const InferContext &context, size_t least,
                            size_t most, std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, least, most));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  for (size_t i = 1; i < most; ++i)
    DLC_RETURN_IF_ERROR(checkBroadcastsTo(context, i));
  const TensorType &x = context.operand(0).type;
  int64_t axis = context.attrs().getInt("axis", -1);
  if (x.hasRank)
    DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  return addResultLike(context, results);
}

static Status inferLayerNorm(const InferContext &context,
                             std::vector<TensorType> &results) {
  return inferTrailing(context, 2, 3, results);
}

static Status inferRmsNorm(const InferContext &context,
                           std::vector<TensorType> &results) {
  return inferTrailing(context, 2, 2, results);
}

/// Element `i` of a float tensor, whatever its type.
static double floatAt(const TensorView &view, int64_t i) {
  double value;
  loadRun(view, i, 0, 1, &value);
  return value;
}

static Status computeBatchNorm(ComputeContext &context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  double epsilon = context.attrs().getFloat("epsilon", 1e-5f);
  int64_t channels = x.shape[1], inner = 1;
  for (int64_t dim : x.shape.subspan(2))
    inner *= dim;
  return dispatchFloat(x.type, [&](auto element) {
    using E = decltype(element);
    auto normalizeRow = [&](int64_t row) {
      int64_t c = row % channels;
      double scale = floatAt(context.input(1), c) /
                     std::sqrt(floatAt(context.input(4), c) + epsilon);
      double bias = floatAt(context.input(2), c);
      double mean = floatAt(context.input(3), c);
      for (int64_t i = row * inner; i < (row + 1) * inner; ++i)
        storeElement<E>(y.data, i,
                        (loadElement<E>(x.data, i) - mean) * scale + bias);
    };
    forEachInParts(context, x.shape[0] * channels,
                   static_cast<double>(inner) * 1.5, normalizeRow);
    return Status::ok();
  });
}

/// Mean and 1 / standard deviation of `count` consecutive elements.
namespace {
struct Moments {
  double mean = 0, factor = 0;
};
} // namespace

/// The sum of term(i), i < count.
template <typename F> static double sumOf(int64_t count, F term) {
  Parts<double> sums = {};
  stepParts(sums, count, [&](double sum, int64_t i) { return sum + term(i); });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// The sum of sumOfSome(begin, end) over all of some thousands of [0, count),
/// whoever computes which.
template <typename F>
static double sumInParts(const ComputeContext &context, int64_t count,
                         F sumOfSome) {
  constexpr int64_t size = 1 << 14;
  if (count <= size)
    return sumOfSome(0, count);
  std::vector<double> sums((count - 1) / size + 1);
  forEachInParts(
      context, static_cast<int64_t>(sums.size()), size, [&](int64_t i) {
        sums[i] = sumOfSome(i * size, std::min((i + 1) * size, count));
      });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// With `centered` false the mean counts as 0: root mean square.
template <typename E>
static Moments momentsOf(const ComputeContext &context, int64_t start,
                         int64_t count, double epsilon, bool centered) {
  const void *x = context.input(0).data;
  Moments moments;
  if (centered)
    moments.mean = sumInParts(context, count, [&](int64_t begin, int64_t end) {
      return sumOf(end - begin, [&](int64_t i) {
        return static_cast<double>(loadElement<E>(x, start + begin + i));
      });
    });
  moments.mean /= count;
  const double squares =
      sumInParts(context, count, [&](int64_t begin, int64_t end) {
        return sumOf(end - begin, [&](int64_t i) {
          const double difference =
              loadElement<E>(x, start + begin + i) - moments.mean;
          return difference * difference;
        });
      });
  moments.factor = 1 / std::sqrt(squares / count + epsilon);
  return moments;
}

/// Normalises segments of the trailing dimensions, then scales and shifts by
/// operands that broadcast to x.
static Status normalizeTrailing(ComputeContext &context, bool centered) {
  const TensorView &x = context.input(0), &y = context.output(0);
  double epsilon = context.attrs().getFloat("epsilon", 1e-5f);
  int64_t axis = context.attrs().getInt("axis", -1);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  int64_t count = 1;
  for (int64_t dim : x.shape.subspan(axis))
    count *= dim;
  bool hasBias = context.isPresent(2);
  auto loop = broadcastLoop<2>(
      x.shape, {context.input(1).shape, context.input(2).shape});
  return dispatchFloat(x.type, [&](auto element) {
    using E = decltype(element);
    // Runs of elements that scale and bias go along with evenly: whole
    // segments, parts of one, or several.
    constexpr int64_t mostAtOnce = 128;
    auto normalizeSegments = [&](int64_t begin, int64_t end) {
      double scales[mostAtOnce], biases[mostAtOnce] = {};
      Moments moments;
      loop.forEachRun(
          begin * count, end * count,
          [&](int64_t at, auto offsets, const auto &steps, int64_t run) {
            while (run > 0) {
              const int64_t within = at % count;
              if (within == 0)
                moments = momentsOf<E>(context, at, count, epsilon, centered);
              const int64_t some = std::min({run, count - within, mostAtOnce});
              loadRun(context.input(1), offsets[0], steps[0], some, scales);
              if (hasBias)
                loadRun(context.input(2), offsets[1], steps[1], some, biases);
              for (int64_t i = 0; i < some; ++i) {
                const double value =
                    (loadElement<E>(x.data, at + i) - moments.mean) *
                    moments.factor;
                storeElement<E>(y.data, at + i, value * scales[i] + biases[i]);
              }
              at += some;
              run -= some;
              offsets[0] += some * steps[0];
              offsets[1] += some * steps[1];
            }
          });
    };
    if (count > 0)
      context.inParts(x.size() / count, static_cast<double>(count) * 2.5,
                      normalizeSegments);
    return Status::ok();
  });
}

static Status computeLayerNorm(ComputeContext &context) {
  return normalizeTrailing(context, /*centered=*/true);
}

static Status computeRmsNorm(ComputeContext &context) {
  return normalizeTrailing(context, /*centered=*/false);
}

static Status computeGroupNorm(ComputeContext &context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  double epsilon = context.attrs().getFloat("epsilon", 1e-5f);
  int64_t groups = context.attrs().getInt("num_groups");
  int64_t size = x.size(), channels = x.shape[1];
  if (size == 0)
    return Status::ok();
  int64_t inner = size / x.shape[0] / channels;
  int64_t segment = channels / groups * inner;
  return dispatchFloat(x.type, [&](auto element) {
    using E = decltype(element);
    auto normalizeRow = [&](int64_t row, const Moments &moments) {
      const int64_t c = row % channels;
      const double scale = floatAt(context.input(1), c);
      const double bias = floatAt(context.input(2), c);
      for (int64_t i = row * inner; i < (row + 1) * inner; ++i) {
        const double value =
            (loadElement<E>(x.data, i) - moments.mean) * moments.factor;
        storeElement<E>(y.data, i, value * scale + bias);
      }
    };
    // Groups are shared out, and so are the rows of one, of which there may be
    // few.
    const int64_t rows = segment / inner;
    auto normalizeGroup = [&](int64_t group) {
      const Moments moments =
          momentsOf<E>(context, group * segment, segment, epsilon, true);
      forEachInParts(
          context, rows, static_cast<double>(inner),
          [&](int64_t row) { normalizeRow(group * rows + row, moments); });
    };
    forEachInParts(context, size / segment, static_cast<double>(segment) * 2.5,
                   normalizeGroup);
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// Local response normalisation
//===----------------------------------------------------------------------===//

static Status inferLrn(const InferContext &context,
                       std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 2));
  int64_t size = context.attrs().getInt("size");
  if (size < 1)
    return DLC_INVALID("expected a size of at least 1, got %" PRId64, size);
  return addResultLike(context, results);
}

/// Divides by a power of the mean square over `size` channels around.
static Status computeLrn(ComputeContext &context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  const Attributes &attrs = context.attrs();
  double alpha = attrs.getFloat("alpha", 1e-4f);
  double beta = attrs.getFloat("beta", 0.75f);
  double bias = attrs.getFloat("bias", 1);
  int64_t size = attrs.getInt("size"), channels = x.shape[1];
  // The window can reach past the channels at either end, but no farther.
  int64_t before = std::min((size - 1) / 2, channels);
  int64_t after = std::min(size / 2, channels);
  Lines lines = linesOf(x.shape, 1);
  return dispatchFloat(x.type, [&](auto element) {
    using E = decltype(element);
    lines.starts.forEach([&](int64_t, const auto &offsets) {
      auto load = [&](int64_t c) {
        return loadElement<E>(x.data, offsets[0] + c * lines.stride);
      };
      for (int64_t c = 0; c < channels; ++c) {
        double squares = 0;
        int64_t end = std::min(channels, c + after + 1);
        for (int64_t k = std::max<int64_t>(0, c - before); k < end; ++k)
          squares += load(k) * load(k);
        double divisor = std::pow(bias + alpha / size * squares, beta);
        storeElement<E>(y.data, offsets[0] + c * lines.stride,
                        load(c) / divisor);
      }
    });
    return Status::ok();
  });
}

std::span<const Operation> ref::normalizationOperations() {
  static constexpr Operation operations[] = {
      {"batch_norm", inferBatchNorm, computeBatchNorm},
      {"group_norm", inferGroupNorm, computeGroupNorm},
      {"layer_norm", inferLayerNorm, computeLayerNorm},
      {"log_softmax", inferAlongAxis, computeLogSoftmax},
      {"lrn", inferLrn, computeLrn},
      {"rms_norm", inferRmsNorm, computeRmsNorm},
      {"softmax", inferAlongAxis, computeSoftmax},
  };
  return operations;
}
