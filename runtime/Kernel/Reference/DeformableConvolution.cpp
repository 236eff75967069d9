// SPDX-License-Identifier: Apache-2.0
//
// Convolution of images whose sampling points are displaced by an operand and
// weighted by another (deformable convolution, version 2). Two spatial
// dimensions; points between pixels are interpolated linearly, pixels outside
// are 0.

#include "ConvolutionShape.h"
#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// Shape rule
//===----------------------------------------------------------------------===//

static Status checkOperandShape(const InferContext &context, size_t index,
                                std::vector<int64_t> shape) {
  TensorType expected{context.operand(index).type.type, std::move(shape)};
  const TensorType &type = context.operand(index).type;
  if (!context.isPresent(index) || mayHaveShape(type, expected.shape))
    return Status::ok();
  return DLC_INVALID("operand %zu: expected %s, got %s", index,
                     toString(expected).c_str(), toString(type).c_str());
}

/// The product of dimensions, an overflow being as good as unknown: no operand
/// of that size exists.
static int64_t product(std::initializer_list<int64_t> dims) {
  int64_t all = 1;
  for (int64_t dim : dims)
    all = multiplyDims(all, dim).value_or(kUnknownDim);
  return all;
}

static Status checkOperandShapes(const InferContext &context,
                                 const ConvolutionShape &shape,
                                 int64_t offsetGroup,
                                 const TensorType &result) {
  const Window::Extents &kernel = shape.window.kernel;
  int64_t points = product({offsetGroup, kernel[0], kernel[1]});
  DLC_RETURN_IF_ERROR(checkOperandShape(context, 2,
                                        {result.shape[0], product({points, 2}),
                                         result.shape[2], result.shape[3]}));
  DLC_RETURN_IF_ERROR(checkVector(context, 3, shape.weights[0]));
  return checkOperandShape(
      context, 4, {result.shape[0], points, result.shape[2], result.shape[3]});
}

static Status inferDeformConv(const InferContext &context,
                              std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3, 5));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  for (size_t i = 1; i < 5; ++i)
    DLC_RETURN_IF_ERROR(checkSameType(context, 0, i));
  DLC_RETURN_IF_ERROR(checkRank(context, 0, 4));
  DLC_RETURN_IF_ERROR(checkRank(context, 1, 4));
  int64_t offsetGroup = context.attrs().getInt("offset_group", 1);
  if (offsetGroup < 1)
    return DLC_INVALID("expected an offset_group of at least 1, got %" PRId64,
                       offsetGroup);
  ConvolutionShape shape;
  DLC_RETURN_IF_ERROR(readConvolution(context, shape));
  DataType element = context.operand(0).type.type;
  if (!shape.hasRank)
    return addResult(results, unrankedOf(element));
  DLC_RETURN_IF_ERROR(checkChannels(shape));
  DLC_RETURN_IF_ERROR(
      checkDivides(offsetGroup, shape.input[1], "input channels"));
  TensorType type{element, {shape.input[0], shape.weights[0]}};
  for (int64_t d = 0; d < 2; ++d) {
    int64_t positions;
    DLC_RETURN_IF_ERROR(countPositions(shape.window, d, shape.input[d + 2],
                                       /*ceilMode=*/false, positions));
    type.shape.push_back(positions);
  }
  DLC_RETURN_IF_ERROR(checkOperandShapes(context, shape, offsetGroup, type));
  return addResult(results, std::move(type));
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

namespace {

/// One convolution, with everything that its sums need.
template <typename E> struct DeformableSampler {
  using Storage = typename E::Storage;
  const Storage *x, *w, *offsets, *mask; ///< `mask` may be null.
  ConvolutionShape shape;
  int64_t offsetGroups, outHeight, outWidth, outChannels;

  /// The value of a plane at a point between pixels.
  double sample(const Storage *plane, double row, double column) const {
    int64_t height = shape.input[2], width = shape.input[3];
    // Written so that NaN is outside, too.
    if (!(row > -1 && row < height && column > -1 && column < width))
      return 0;
    double top = std::floor(row), left = std::floor(column);
    double down = row - top, right = column - left;
    auto pixel = [&](int64_t r, int64_t c) -> double {
      bool inside = r >= 0 && r < height && c >= 0 && c < width;
      return inside ? E::decode(plane[r * width + c]) : 0.0;
    };
    int64_t r = static_cast<int64_t>(top), c = static_cast<int64_t>(left);
    return (1 - down) * ((1 - right) * pixel(r, c) + right * pixel(r, c + 1)) +
           down * ((1 - right) * pixel(r + 1, c) + right * pixel(r + 1, c + 1));
  }

  /// The sampled and masked value under kernel element `k` of channel `c` of
  /// image `n` for the result at (row, column).
  double valueAt(int64_t n, int64_t c, int64_t k, int64_t row,
                 int64_t column) const {
    const Window &window = shape.window;
    int64_t kernelSize = window.kernel[0] * window.kernel[1];
    int64_t group = c / (shape.input[1] / offsetGroups);
    int64_t point = (n * offsetGroups + group) * kernelSize + k;
    int64_t plane = outHeight * outWidth, at = row * outWidth + column;
    double y = row * window.strides[0] - window.padBegin[0] +
               k / window.kernel[1] * window.dilations[0];
    double x0 = column * window.strides[1] - window.padBegin[1] +
                k % window.kernel[1] * window.dilations[1];
    y += E::decode(offsets[2 * point * plane + at]);
    x0 += E::decode(offsets[(2 * point + 1) * plane + at]);
    int64_t image = n * shape.input[1] + c;
    double value = sample(x + image * shape.input[2] * shape.input[3], y, x0);
    return mask ? value * E::decode(mask[point * plane + at]) : value;
  }

  /// The sum for output channel `m`.
  double sum(int64_t n, int64_t m, int64_t row, int64_t column) const {
    int64_t kernelSize = shape.window.kernel[0] * shape.window.kernel[1];
    int64_t depth = shape.weights[1];
    int64_t first = m / (outChannels / shape.group) * depth;
    double total = 0;
    for (int64_t c = 0; c < depth; ++c)
      for (int64_t k = 0; k < kernelSize; ++k)
        total += valueAt(n, first + c, k, row, column) *
                 E::decode(w[(m * depth + c) * kernelSize + k]);
    return total;
  }
};

} // namespace

static Status computeDeformConv(ComputeContext &context) {
  const TensorView &y = context.output(0), &bias = context.input(3);
  if (y.size() == 0)
    return Status::ok();
  ConvolutionShape shape;
  DLC_RETURN_IF_ERROR(readConvolution(context, shape));
  for (int64_t d = 0; d < 2; ++d) {
    int64_t positions;
    DLC_RETURN_IF_ERROR(countPositions(shape.window, d, shape.input[d + 2],
                                       /*ceilMode=*/false, positions));
  }
  int64_t groups = context.attrs().getInt("offset_group", 1);
  return dispatchFloat(y.type, [&](auto element) {
    using E = decltype(element);
    using Storage = typename E::Storage;
    DeformableSampler<E> sampler{context.input(0).as<Storage>(),
                                 context.input(1).as<Storage>(),
                                 context.input(2).as<Storage>(),
                                 context.input(4).as<Storage>(),
                                 shape,
                                 groups,
                                 y.shape[2],
                                 y.shape[3],
                                 y.shape[1]};
    int64_t plane = y.shape[2] * y.shape[3];
    for (int64_t i = 0, e = y.size(); i < e; ++i) {
      int64_t m = i / plane % y.shape[1], at = i % plane;
      double sum = sampler.sum(i / plane / y.shape[1], m, at / y.shape[3],
                               at % y.shape[3]);
      if (context.isPresent(3))
        sum += loadElement<E>(bias.data, m);
      storeElement<E>(y.data, i, sum);
    }
    return Status::ok();
  });
}

std::span<const Operation> ref::deformableConvolutionOperations() {
  static constexpr Operation operations[] = {
      {"deform_conv", inferDeformConv, computeDeformConv},
  };
  return operations;
}
