// SPDX-License-Identifier: Apache-2.0
//
// Pooling of regions of interest: max_roi_pool, roi_align. Coordinates are
// computed in f32 (f64 for f64 operands): a rounding decides how many samples
// a region has, so more precision would give other results.

#include "Element.h"
#include "Families.h"
#include "ShapeRule.h"
#include "Walk.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <span>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::ref;

namespace {
/// An image plane and where to read it.
struct Plane {
  const void *data;
  int64_t offset, height, width;
};
} // namespace

template <typename E>
using Coordinate = std::conditional_t<E::type == DLC_F64, double, float>;

/// Checks N C H W and regions of `columns` coordinates; gives n C h w.
static Status inferRegions(const InferContext &context, int64_t columns,
                           int64_t height, int64_t width, TensorType &result) {
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  DLC_RETURN_IF_ERROR(checkRank(context, 0, 4));
  const TensorType &x = context.operand(0).type;
  const TensorType &regions = context.operand(1).type;
  int64_t wanted[] = {kUnknownDim, columns};
  if (!mayHaveShape(regions, wanted))
    return DLC_INVALID("operand 1: expected regions of %" PRId64
                       " values, got %s",
                       columns, toString(regions).c_str());
  if (height < 1 || width < 1)
    return DLC_INVALID("expected a pooled extent of at least 1, got %" PRId64
                       " x %" PRId64,
                       height, width);
  if (x.hasRank && (x.shape[2] == 0 || x.shape[3] == 0))
    return DLC_INVALID("operand 0: expected images that are not empty, got %s",
                       toString(x).c_str());
  result = {x.type,
            {regions.hasRank ? regions.shape[0] : kUnknownDim,
             x.hasRank ? x.shape[1] : kUnknownDim, height, width}};
  return Status::ok();
}

static Status checkBatch(int64_t batch, int64_t batches, int64_t region) {
  if (batch >= 0 && batch < batches)
    return Status::ok();
  return DLC_INVALID("region %" PRId64 ": expected a batch in [0, %" PRId64
                     "), got %" PRId64,
                     region, batches, batch);
}

//===----------------------------------------------------------------------===//
// max_roi_pool
//===----------------------------------------------------------------------===//

static Status pooledExtents(const Attributes &attributes, int64_t &height,
                            int64_t &width) {
  std::span<const int64_t> shape = attributes.getInts("pooled_shape");
  if (shape.size() != 2)
    return DLC_INVALID("attribute pooled_shape: expected 2 values, got %zu",
                       shape.size());
  height = shape[0];
  width = shape[1];
  return Status::ok();
}

static Status inferMaxRoiPool(const InferContext &context,
                              std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  int64_t height, width;
  DLC_RETURN_IF_ERROR(pooledExtents(context.attrs(), height, width));
  TensorType result;
  DLC_RETURN_IF_ERROR(inferRegions(context, 5, height, width, result));
  return addResult(results, std::move(result));
}

namespace {
/// The pixels [begin, end) that one bin covers along a dimension.
struct Bin {
  int64_t begin, end;
};
} // namespace

/// Bin `index` of `count` over the pixels first..last, cut to the image.
template <typename Real>
static Bin binOf(Real first, Real last, int64_t index, int64_t count,
                 int64_t extent) {
  Real size = std::max<Real>(last - first + 1, 1) / count;
  Real limit = static_cast<Real>(extent);
  auto cut = [&](Real value) {
    return static_cast<int64_t>(std::clamp<Real>(value + first, 0, limit));
  };
  return {cut(std::floor(index * size)), cut(std::ceil((index + 1) * size))};
}

/// The greatest element of a rectangle; 0 when it is empty.
template <typename E>
static double maxOf(const Plane &plane, Bin rows, Bin columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end)
    return 0;
  double best = -std::numeric_limits<double>::infinity();
  for (int64_t y = rows.begin; y < rows.end; ++y) {
    for (int64_t x = columns.begin; x < columns.end; ++x) {
      double value =
          loadElement<E>(plane.data, plane.offset + y * plane.width + x);
      best = value > best || value != value ? value : best;
    }
  }
  return best;
}

template <typename E>
static Status poolRegion(ComputeContext &context, int64_t region) {
  using Real = Coordinate<E>;
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  Real scale = static_cast<Real>(context.attrs().getFloat("spatial_scale", 1));
  Real corners[4];
  double batch = loadElement<E>(context.input(1).data, region * 5);
  DLC_RETURN_IF_ERROR(
      checkBatch(convertTo<int64_t>(batch), x.shape[0], region));
  for (int64_t i = 0; i < 4; ++i) {
    Real value = static_cast<Real>(
        loadElement<E>(context.input(1).data, region * 5 + 1 + i));
    corners[i] = std::round(value * scale);
    if (!std::isfinite(corners[i]))
      return DLC_INVALID("region %" PRId64 ": expected finite corners, got %g",
                         region, static_cast<double>(value));
  }
  int64_t at = region * y.shape[1] * y.shape[2] * y.shape[3];
  for (int64_t c = 0; c < x.shape[1]; ++c) {
    Plane plane{x.data,
                (convertTo<int64_t>(batch) * x.shape[1] + c) * x.shape[2] *
                    x.shape[3],
                x.shape[2], x.shape[3]};
    for (int64_t i = 0; i < y.shape[2]; ++i) {
      Bin rows = binOf(corners[1], corners[3], i, y.shape[2], plane.height);
      for (int64_t j = 0; j < y.shape[3]; ++j) {
        Bin columns = binOf(corners[0], corners[2], j, y.shape[3], plane.width);
        storeElement<E>(y.data, at++, maxOf<E>(plane, rows, columns));
      }
    }
  }
  return Status::ok();
}

static Status computeMaxRoiPool(ComputeContext &context) {
  return dispatchFloat(context.input(0).type, [&]<typename E>(E) {
    for (int64_t region = 0; region < context.output(0).shape[0]; ++region)
      DLC_RETURN_IF_ERROR(poolRegion<E>(context, region));
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// roi_align
//===----------------------------------------------------------------------===//

static Status checkChoice(const Attributes &attributes, const char *name,
                          const char *first, const char *second) {
  std::string_view value = attributes.getString(name, first);
  if (value == first || value == second)
    return Status::ok();
  return DLC_INVALID("attribute %s: expected %s or %s, got %s", name, first,
                     second, std::string(value).c_str());
}

/// More samples than this in one dimension of a bin are a mistake.
static constexpr int64_t mostSamples = 1 << 16;

static Status inferRoiAlign(const InferContext &context,
                            std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3));
  const Attributes &attributes = context.attrs();
  DLC_RETURN_IF_ERROR(checkChoice(attributes, "mode", "avg", "max"));
  DLC_RETURN_IF_ERROR(checkChoice(attributes, "coordinate_transformation_mode",
                                  "half_pixel", "output_half_pixel"));
  int64_t samples = attributes.getInt("sampling_ratio", 0);
  if (samples < 0 || samples > mostSamples)
    return DLC_INVALID("expected a sampling_ratio in [0, %" PRId64
                       "], got %" PRId64,
                       mostSamples, samples);
  TensorType result;
  DLC_RETURN_IF_ERROR(
      inferRegions(context, 4, attributes.getInt("output_height", 1),
                   attributes.getInt("output_width", 1), result));
  DLC_RETURN_IF_ERROR(checkType(context, 2, indexTypes));
  const TensorType &batches = context.operand(2).type;
  int64_t count[] = {result.shape[0]};
  if (!mayHaveShape(batches, count))
    return DLC_INVALID("operand 2: expected a batch for each of %" PRId64
                       " regions, got %s",
                       count[0], toString(batches).c_str());
  if (batches.hasRank)
    mergeDim(result.shape[0], batches.shape[0]);
  return addResult(results, std::move(result));
}

namespace {
/// One dimension of a region: where it starts, the size of a bin, and the
/// number of samples in each bin.
template <typename Real> struct RegionAxis {
  Real start, binSize;
  int64_t samples;

  Real sampleAt(int64_t bin, int64_t sample) const {
    return start + bin * binSize +
           (sample + Real(0.5)) * binSize / static_cast<Real>(samples);
  }
};

/// The two pixels around a coordinate and the weight of the second.
template <typename Real> struct Neighbors {
  int64_t low, high;
  Real weight;
};
} // namespace

template <typename Real>
static Status makeAxis(Real first, Real last, int64_t bins, int64_t samples,
                       const Attributes &attributes, RegionAxis<Real> &axis) {
  Real scale = static_cast<Real>(attributes.getFloat("spatial_scale", 1));
  bool isHalf = attributes.getString("coordinate_transformation_mode",
                                     "half_pixel") == "half_pixel";
  Real offset = isHalf ? Real(0.5) : Real(0);
  axis.start = first * scale - offset;
  Real extent = last * scale - offset - axis.start;
  if (!isHalf)
    extent = std::max<Real>(extent, 1); // regions of at least one pixel
  axis.binSize = extent / static_cast<Real>(bins);
  Real wanted = samples ? static_cast<Real>(samples)
                        : std::ceil(extent / static_cast<Real>(bins));
  if (!(std::fabs(axis.start) < Real(0x1p60)) ||
      !(wanted <= static_cast<Real>(mostSamples)))
    return DLC_INVALID(
        "expected a region of at most %" PRId64 " samples, got [%g, %g]",
        mostSamples, static_cast<double>(first), static_cast<double>(last));
  axis.samples = std::max<int64_t>(static_cast<int64_t>(wanted), 0);
  return Status::ok();
}

/// False outside of the image and its border of one pixel.
template <typename Real>
static bool findNeighbors(Real at, int64_t extent, Neighbors<Real> &found) {
  if (!(at >= Real(-1) && at <= static_cast<Real>(extent)))
    return false;
  at = std::max<Real>(at, 0);
  found.low = std::min(static_cast<int64_t>(at), extent - 1);
  found.high = std::min(found.low + 1, extent - 1);
  found.weight =
      found.high > found.low ? at - static_cast<Real>(found.low) : Real(0);
  return true;
}

namespace {
/// The two pixels around a sample along one axis, the same in every channel.
struct AxisSample {
  int64_t places[2] = {};
  double weights[2] = {};
  bool isInside = false;
};
} // namespace

template <typename Real>
static void findSamples(const RegionAxis<Real> &axis, int64_t bin,
                        int64_t extent, int64_t step,
                        std::vector<AxisSample> &samples) {
  samples.assign(axis.samples, {});
  for (int64_t i = 0; i < axis.samples; ++i) {
    Neighbors<Real> found;
    if (!findNeighbors(axis.sampleAt(bin, i), extent, found))
      continue;
    const double second = found.weight;
    samples[i] = {
        {found.low * step, found.high * step}, {1 - second, second}, true};
  }
}

/// One bin of a channel: the mean of its samples, or the greatest of their
/// weighted pixels (ONNX takes the maximum before the sum of the four). Outside
/// of the image there are zeros.
template <typename E>
static double poolBin(const TensorView &x, int64_t channel,
                      std::span<const AxisSample> rows,
                      std::span<const AxisSample> columns, bool isMax) {
  double sum = 0, best = 0;
  bool isFirst = true;
  for (const AxisSample &row : rows)
    for (const AxisSample &column : columns)
      for (int64_t k = 0; k < 4; ++k) {
        const int64_t i = k / 2, j = k % 2;
        double value = 0;
        if (row.isInside && column.isInside)
          value = row.weights[i] * column.weights[j] *
                  loadElement<E>(x.data,
                                 channel + row.places[i] + column.places[j]);
        sum += value;
        best = isFirst ? value : std::max(best, value);
        isFirst = false;
      }
  const auto count = static_cast<double>(rows.size() * columns.size());
  return isMax ? best : sum / std::max(count, 1.0);
}

namespace {
/// A region, which lies in one of the images.
template <typename E> struct Region {
  int64_t batch;
  RegionAxis<Coordinate<E>> axes[2];
};
} // namespace

template <typename E>
static Status readRegion(ComputeContext &context, int64_t index,
                         Region<E> &region) {
  using Real = Coordinate<E>;
  const TensorView &x = context.input(0), &batches = context.input(2);
  region.batch = batches.type == DLC_I32 ? batches.as<int32_t>()[index]
                                         : batches.as<int64_t>()[index];
  DLC_RETURN_IF_ERROR(checkBatch(region.batch, x.shape[0], index));
  const Attributes &attributes = context.attrs();
  Real corners[4];
  for (int64_t i = 0; i < 4; ++i)
    corners[i] =
        static_cast<Real>(loadElement<E>(context.input(1).data, index * 4 + i));
  for (int64_t d = 0; d < 2; ++d) // the regions name x before y
    DLC_RETURN_IF_ERROR(makeAxis(
        corners[1 - d], corners[3 - d], context.output(0).shape[2 + d],
        attributes.getInt("sampling_ratio", 0), attributes, region.axes[d]));
  return Status::ok();
}

template <typename E>
static void alignRegion(ComputeContext &context, int64_t index,
                        const Region<E> &region) {
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  const bool isMax = context.attrs().getString("mode", "avg") == "max";
  const int64_t channels = x.shape[1], height = y.shape[2], width = y.shape[3],
                plane = x.shape[2] * x.shape[3];
  std::vector<std::vector<AxisSample>> rows(height), columns(width);
  for (int64_t i = 0; i < height; ++i)
    findSamples(region.axes[0], i, x.shape[2], x.shape[3], rows[i]);
  for (int64_t j = 0; j < width; ++j)
    findSamples(region.axes[1], j, x.shape[3], 1, columns[j]);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < height; ++i)
      for (int64_t j = 0; j < width; ++j)
        storeElement<E>(y.data,
                        ((index * channels + c) * height + i) * width + j,
                        poolBin<E>(x, (region.batch * channels + c) * plane,
                                   rows[i], columns[j], isMax));
}

static Status computeRoiAlign(ComputeContext &context) {
  return dispatchFloat(context.input(0).type, [&]<typename E>(E) {
    const TensorView &x = context.input(0), &y = context.output(0);
    std::vector<Region<E>> regions(y.shape[0]);
    int64_t samples = 0;
    for (int64_t i = 0; i < y.shape[0]; ++i) {
      DLC_RETURN_IF_ERROR(readRegion<E>(context, i, regions[i]));
      samples = std::max(samples, regions[i].axes[0].samples *
                                      regions[i].axes[1].samples);
    }
    const double elements = static_cast<double>(x.shape[1]) *
                            static_cast<double>(y.shape[2] * y.shape[3]);
    context.inParts(y.shape[0],
                    elements * (3 + 8 * static_cast<double>(samples)),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i)
                        alignRegion<E>(context, i, regions[i]);
                    });
    return Status::ok();
  });
}

std::span<const Operation> ref::regionPoolingOperations() {
  static constexpr Operation table[] = {
      {"max_roi_pool", inferMaxRoiPool, computeMaxRoiPool},
      {"roi_align", inferRoiAlign, computeRoiAlign},
  };
  return table;
}
