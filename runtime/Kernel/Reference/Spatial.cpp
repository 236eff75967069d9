// SPDX-License-Identifier: Apache-2.0
//
// Operations on images: grid_sample, affine_grid, col2im.

#include "Families.h"
#include "Loop.h"
#include "Parameter.h"
#include "ShapeRule.h"
#include "Walk.h"
#include "Window.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// grid_sample
//===----------------------------------------------------------------------===//

static Status inferGridSample(const InferContext &context,
                              std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(checkType(context, 1, floatTypes));
  const Attributes &attributes = context.attrs();
  std::string_view mode = attributes.getString("mode", "linear");
  std::string_view padding = attributes.getString("padding_mode", "zeros");
  if (mode != "linear" && mode != "nearest" && mode != "cubic")
    return DLC_INVALID("expected mode linear, nearest or cubic, got %s",
                       std::string(mode).c_str());
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return DLC_INVALID("expected padding_mode zeros, border or reflection, "
                       "got %s",
                       std::string(padding).c_str());
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 3));
  const TensorType &x = context.operand(0).type;
  const TensorType &grid = context.operand(1).type;
  if (!x.hasRank || !grid.hasRank)
    return addResult(results, unrankedOf(x.type));
  std::vector<int64_t> wanted(x.rank(), kUnknownDim);
  wanted.front() = x.shape[0];
  wanted.back() = x.rank() - 2;
  if (!mayHaveShape(grid, wanted))
    return DLC_INVALID("operand 1: expected a grid of %s, got %s",
                       toString({grid.type, wanted}).c_str(),
                       toString(grid).c_str());
  if (std::ranges::count(x.shape.begin() + 2, x.shape.end(), 0) > 0)
    return DLC_INVALID("operand 0: expected images that are not empty, got %s",
                       toString(x).c_str());
  TensorType result{x.type, {x.shape[0], x.shape[1]}};
  mergeDim(result.shape[0], grid.shape[0]);
  result.shape.insert(result.shape.end(), grid.shape.begin() + 1,
                      grid.shape.end() - 1);
  return addResult(results, std::move(result));
}

namespace {
enum class Padding { Zeros, Border, Reflection };
enum class Sampling { Nearest, Linear, Cubic };

struct Sampler {
  Sampling mode;
  Padding padding;
  bool alignCorners;
  bool isSingle; ///< Coordinates are rounded to f32.
};

/// An index of one dimension and its weight.
struct Sample {
  int64_t index;
  double weight;
};

/// Those of one coordinate.
struct Neighbours {
  Sample samples[4];
  int count;
};
} // namespace

/// Folds a coordinate at both borders until it lies between them.
static double reflect(double x, double low, double high) {
  double range = high - low;
  if (range <= 0)
    return low;
  double folded = std::fmod(std::fabs(x - low), 2 * range);
  return folded <= range ? low + folded : high - (folded - range);
}

/// Applies the padding mode to a coordinate outside of its borders.
static double padCoordinate(const Sampler &sampler, double x, double extent) {
  double low = sampler.alignCorners ? 0 : -0.5;
  double high = sampler.alignCorners ? extent - 1 : extent - 0.5;
  if (x >= low && x <= high)
    return x;
  if (sampler.padding == Padding::Border)
    return std::clamp(x, 0.0, extent - 1);
  return sampler.padding == Padding::Reflection ? reflect(x, low, high) : x;
}

/// The same for a whole index; -1 reads a zero.
static int64_t padIndex(const Sampler &sampler, double x, int64_t extent) {
  double last = static_cast<double>(extent - 1);
  if (x >= 0 && x <= last)
    return static_cast<int64_t>(x);
  if (sampler.padding == Padding::Zeros)
    return -1;
  if (sampler.padding == Padding::Reflection)
    x = padCoordinate(sampler, x, static_cast<double>(extent));
  return static_cast<int64_t>(std::clamp(x, 0.0, last));
}

/// The neighbours of a normalised coordinate along one dimension.
static Neighbours neighboursOf(const Sampler &sampler, double grid,
                               int64_t extent) {
  double size = static_cast<double>(extent);
  double x = sampler.alignCorners ? (grid + 1) / 2 * (size - 1)
                                  : ((grid + 1) * size - 1) / 2;
  // In f32, as grids usually are: a tie decides the nearest neighbour.
  if (sampler.isSingle || sampler.mode == Sampling::Nearest)
    x = static_cast<float>(x);
  if (!(std::fabs(x) < 0x1p40))
    x = -0x1p40; // NaN and the like lie outside
  if (sampler.mode == Sampling::Nearest)
    x = std::nearbyint(x);
  x = padCoordinate(sampler, x, size);
  if (sampler.mode == Sampling::Nearest)
    return {{{padIndex(sampler, std::trunc(x), extent), 1}}, 1};
  double base = std::floor(x), t = x - base;
  auto at = [&](int64_t i, double weight) {
    return Sample{padIndex(sampler, base + static_cast<double>(i), extent),
                  weight};
  };
  if (sampler.mode == Sampling::Linear)
    return {{at(0, 1 - t), at(1, t)}, 2};
  constexpr double a = -0.75;
  auto inner = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  auto outer = [&](double d) {
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  };
  return {{at(-1, outer(t + 1)), at(0, inner(t)), at(1, inner(1 - t)),
           at(2, outer(2 - t))},
          4};
}

/// Appends the elements at all neighbours of a point along `dims`, for what the
/// dimensions before give. Those of zeros are left out.
static void addSamples(std::span<const Neighbours> dims,
                       std::span<const int64_t> extents, int64_t index,
                       double weight, std::vector<Sample> &samples) {
  if (dims.empty())
    return samples.push_back({index, weight});
  for (int k = 0; k < dims[0].count; ++k) {
    const Sample &sample = dims[0].samples[k];
    if (sample.index >= 0 && sample.weight != 0)
      addSamples(dims.subspan(1), extents.subspan(1),
                 index * extents[0] + sample.index, weight * sample.weight,
                 samples);
  }
}

static Sampler readSampler(const Attributes &attributes, DataType grid) {
  std::string_view padding = attributes.getString("padding_mode", "zeros");
  std::string_view mode = attributes.getString("mode", "linear");
  return {mode == "nearest"  ? Sampling::Nearest
          : mode == "linear" ? Sampling::Linear
                             : Sampling::Cubic,
          padding == "zeros"    ? Padding::Zeros
          : padding == "border" ? Padding::Border
                                : Padding::Reflection,
          attributes.getInt("align_corners", 0) != 0, grid != DLC_F64};
}

template <typename X> static Status sampleGrid(ComputeContext &context) {
  const TensorView &x = context.input(0), &grid = context.input(1);
  TensorView &y = context.output(0);
  Sampler sampler = readSampler(context.attrs(), grid.type);
  size_t rank = x.shape.size() - 2;
  int64_t channels = x.shape[1];
  int64_t points = extentOf(y.shape, 2, y.shape.size());
  int64_t pixels = extentOf(x.shape, 2, x.shape.size());
  // Neighbours of some points are found once for all channels.
  constexpr int64_t most = 64;
  auto samplePoints = [&](int64_t at, int64_t count,
                          std::vector<Sample> &samples) {
    double point[DLC_MAX_RANK];
    Neighbours neighbours[DLC_MAX_RANK];
    size_t ends[most];
    const auto size = static_cast<int64_t>(rank);
    samples.clear();
    for (int64_t i = 0; i < count; ++i) {
      loadRun(grid, (at + i) * size, 1, size, point);
      for (size_t d = 0; d < rank; ++d) // the grid names the last one first
        neighbours[d] =
            neighboursOf(sampler, point[rank - 1 - d], x.shape[d + 2]);
      addSamples({neighbours, rank}, std::span(x.shape).subspan(2), 0, 1,
                 samples);
      ends[i] = samples.size();
    }
    const int64_t plane = at / points * channels;
    for (int64_t c = plane; c < plane + channels; ++c) {
      size_t next = 0;
      for (int64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (; next != ends[i]; ++next)
          sum += samples[next].weight *
                 static_cast<double>(
                     loadElement<X>(x.data, c * pixels + samples[next].index));
        storeElement<X>(y.data, c * points + at % points + i, sum);
      }
    }
  };
  context.inParts(y.shape[0] * points, 60 + 5 * static_cast<double>(channels),
                  [&](int64_t begin, int64_t end) {
                    std::vector<Sample> samples;
                    for (int64_t at = begin, count; at < end; at += count) {
                      count = std::min({most, end - at, points - at % points});
                      samplePoints(at, count, samples);
                    }
                  });
  return Status::ok();
}

static Status computeGridSample(ComputeContext &context) {
  if (context.output(0).size() == 0)
    return Status::ok();
  return dispatch(context.input(0).type,
                  [&]<typename X>(X) { return sampleGrid<X>(context); });
}

//===----------------------------------------------------------------------===//
// affine_grid
//===----------------------------------------------------------------------===//

static Status inferAffineGrid(const InferContext &context,
                              std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  DLC_RETURN_IF_ERROR(checkRank(context, 0, 3));
  const TensorType &theta = context.operand(0).type;
  Parameter size;
  DLC_RETURN_IF_ERROR(readParameter(context, 1, size));
  if (size.length < 0)
    return addResult(results, unrankedOf(theta.type));
  int64_t rank = size.length - 2;
  if (rank != 2 && rank != 3)
    return DLC_INVALID("operand 1: expected 4 or 5 values, got %" PRId64,
                       size.length);
  std::vector<int64_t> dims(size.length, kUnknownDim);
  if (size.values)
    dims = *size.values;
  int64_t wanted[] = {dims[0], rank, rank + 1};
  if (!mayHaveShape(theta, wanted))
    return DLC_INVALID(
        "operand 0: expected matrices of %s, got %s",
        toString({theta.type, {dims[0], rank, rank + 1}}).c_str(),
        toString(theta).c_str());
  for (int64_t i = 0; size.values && i < size.length; ++i)
    if (dims[i] < 0)
      return DLC_INVALID("expected sizes of at least 0, got %" PRId64, dims[i]);
  TensorType result{theta.type, {theta.hasRank ? theta.shape[0] : kUnknownDim}};
  mergeDim(result.shape[0], dims[0]);
  result.shape.insert(result.shape.end(), dims.begin() + 2, dims.end());
  result.shape.push_back(rank);
  return addResult(results, std::move(result));
}

/// Position `i` of `count` evenly spaced ones in [-1, 1]: the corners, or the
/// centres of `count` cells.
static double gridPosition(int64_t i, int64_t count, bool alignCorners) {
  double at = static_cast<double>(i), cells = static_cast<double>(count);
  if (!alignCorners)
    return (2 * at + 1) / cells - 1;
  return count > 1 ? 2 * at / (cells - 1) - 1 : -1;
}

static Status computeAffineGrid(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferAffineGrid));
  const TensorView &theta = context.input(0);
  TensorView &y = context.output(0);
  bool alignCorners = context.attrs().getInt("align_corners", 0) != 0;
  int64_t rank = y.shape.back(), position = 0;
  return dispatchFloat(theta.type, [&]<typename E>(E) {
    for (IndexCounter at(y.shape); !at.isDone(); at.next(), ++position) {
      int64_t row = (at[0] * rank + at[rank + 1]) * (rank + 1);
      double sum = loadElement<E>(theta.data, row + rank);
      for (int64_t d = 0; d < rank; ++d) // x is the innermost dimension
        sum += loadElement<E>(theta.data, row + d) *
               gridPosition(at[rank - d], y.shape[rank - d], alignCorners);
      storeElement<E>(y.data, position, sum);
    }
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// col2im
//===----------------------------------------------------------------------===//

/// Reads the window; the number of blocks along each dimension goes to
/// `blocks`.
static Status readBlocks(const Attributes &attributes,
                         std::span<const int64_t> image,
                         std::span<const int64_t> block, Window &window,
                         std::vector<int64_t> &blocks) {
  DLC_RETURN_IF_ERROR(
      readWindow(attributes, static_cast<int64_t>(image.size()), window));
  for (size_t d = 0; d < image.size(); ++d) {
    if (image[d] < 0 || block[d] < 1)
      return DLC_INVALID("expected extents of at least 0 and blocks of at "
                         "least 1, got %" PRId64 " and %" PRId64,
                         image[d], block[d]);
    window.kernel[d] = block[d];
    DLC_RETURN_IF_ERROR(countPositions(window, static_cast<int64_t>(d),
                                       image[d], /*ceilMode=*/false,
                                       blocks.emplace_back()));
  }
  return Status::ok();
}

static Status inferCol2Im(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(checkRank(context, 0, 3));
  const TensorType &x = context.operand(0).type;
  Parameter image, block;
  DLC_RETURN_IF_ERROR(readParameter(context, 1, image));
  DLC_RETURN_IF_ERROR(readParameter(context, 2, block));
  int64_t rank = image.length;
  if (!mergeDim(rank, block.length) || rank > DLC_MAX_RANK - 2 || rank == 0)
    return DLC_INVALID("expected 1 to %d extents and as many of a block, got "
                       "%" PRId64 " and %" PRId64,
                       DLC_MAX_RANK - 2, image.length, block.length);
  if (rank < 0)
    return addResult(results, unrankedOf(x.type));
  TensorType result{x.type, std::vector<int64_t>(rank + 2, kUnknownDim)};
  if (x.hasRank)
    result.shape[0] = x.shape[0];
  if (image.values)
    std::ranges::copy(*image.values, result.shape.begin() + 2);
  if (!image.values || !block.values)
    return addResult(results, std::move(result));
  Window window;
  std::vector<int64_t> blocks;
  DLC_RETURN_IF_ERROR(readBlocks(context.attrs(), *image.values, *block.values,
                                 window, blocks));
  std::optional<int64_t> count = elementCount(blocks);
  std::optional<int64_t> size = elementCount(*block.values);
  int64_t columns = count.value_or(-1);
  bool fits = count && size && *size > 0;
  if (x.hasRank && fits)
    fits = mergeDim(columns, x.shape[2]) &&
           (x.shape[1] < 0 || x.shape[1] % *size == 0);
  if (!fits)
    return DLC_INVALID(
        "operand 0: expected ?x(?*%" PRId64 ")x%" PRId64 ", got %s",
        size.value_or(-1), count.value_or(-1), toString(x).c_str());
  if (x.hasRank && x.shape[1] >= 0)
    result.shape[1] = x.shape[1] / *size;
  return addResult(results, std::move(result));
}

static Status computeCol2Im(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferCol2Im));
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  if (y.size() == 0)
    return Status::ok();
  std::vector<int64_t> block = context.intsOf(2), blocks;
  std::span<const int64_t> image = y.shape.subspan(2);
  Window window;
  DLC_RETURN_IF_ERROR(
      readBlocks(context.attrs(), image, block, window, blocks));
  int64_t pixels = extentOf(image, 0, image.size());
  int64_t rows = extentOf(block, 0, block.size());
  // Positions along the last dimension are neighbours.
  const size_t last = image.size() - 1;
  const std::span<const int64_t> outer = std::span(blocks).first(last);
  const int64_t run = blocks[last];
  return dispatch(x.type, [&]<typename E>(E) {
    using Sum = Accumulator<E>;
    auto addPlane = [&](int64_t plane, std::vector<Sum> &sums) {
      std::ranges::fill(sums, Sum(0));
      int64_t from = plane * rows * x.shape[2];
      for (IndexCounter in(block); !in.isDone(); in.next()) {
        auto placeOf = [&](size_t d, int64_t at) {
          return at * window.strides[d] - window.padBegin[d] +
                 in[d] * window.dilations[d];
        };
        for (IndexCounter at(outer); !at.isDone(); at.next(), from += run) {
          int64_t offset = 0;
          bool isInside = true;
          for (size_t d = 0; d < last; ++d) {
            const int64_t place = placeOf(d, at[d]);
            isInside &= place >= 0 && place < image[d];
            offset = isInside ? offset * image[d] + place : 0;
          }
          for (int64_t i = 0; isInside && i < run; ++i)
            if (const int64_t place = placeOf(last, i);
                place >= 0 && place < image[last])
              sums[offset * image[last] + place] +=
                  Sum(loadElement<E>(x.data, from + i));
        }
      }
      for (int64_t i = 0; i < pixels; ++i)
        storeElement<E>(y.data, plane * pixels + i, sums[i]);
    };
    context.inParts(y.shape[0] * y.shape[1],
                    static_cast<double>(pixels) +
                        5 * static_cast<double>(rows * x.shape[2]),
                    [&](int64_t begin, int64_t end) {
                      std::vector<Sum> sums(pixels);
                      for (int64_t plane = begin; plane < end; ++plane)
                        addPlane(plane, sums);
                    });
    return Status::ok();
  });
}

std::span<const Operation> ref::spatialOperations() {
  static constexpr Operation table[] = {
      {"affine_grid", inferAffineGrid, computeAffineGrid},
      {"col2im", inferCol2Im, computeCol2Im},
      {"grid_sample", inferGridSample, computeGridSample},
  };
  return table;
}
