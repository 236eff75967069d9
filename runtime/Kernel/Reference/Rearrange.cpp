// SPDX-License-Identifier: Apache-2.0
//
// Operations that put elements into other places of a like tensor: pad,
// reverse_sequence, depth_to_space, space_to_depth, trilu.

#include "Families.h"
#include "Loop.h"
#include "Parameter.h"
#include "ShapeRule.h"
#include "Walk.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

namespace {
/// What pad adds to one dimension; negative counts crop.
struct Margin {
  int64_t before = 0, after = 0;
};
} // namespace

static bool isConstantPad(const Attributes &attributes) {
  return attributes.getString("mode", "constant") == "constant";
}

/// Cropping comes first: what is left is then padded.
static int64_t croppedExtent(int64_t dim, Margin margin) {
  return dim + std::min<int64_t>(margin.before, 0) +
         std::min<int64_t>(margin.after, 0);
}

static Status padDim(int64_t dim, Margin margin, bool isConstant,
                     int64_t &padded) {
  padded = kUnknownDim;
  // Dimensions are at most 2^63 - 1 and margins at least -2^63.
  __int128 kept = static_cast<__int128>(dim) +
                  std::min<int64_t>(margin.before, 0) +
                  std::min<int64_t>(margin.after, 0);
  __int128 total = static_cast<__int128>(dim) + margin.before + margin.after;
  if (dim < 0)
    return Status::ok();
  if (kept < 0 || total > INT64_MAX)
    return DLC_INVALID("expected pads that fit a dimension of %" PRId64
                       ", got %" PRId64 " and %" PRId64,
                       dim, margin.before, margin.after);
  if (!isConstant && kept == 0 && total > 0)
    return DLC_INVALID("expected elements to pad with, got a dimension of 0");
  padded = static_cast<int64_t>(total);
  return Status::ok();
}

static Status readMargins(std::span<const int64_t> pads,
                          std::span<const int64_t> axes, size_t rank,
                          std::vector<Margin> &margins) {
  if (pads.size() != 2 * axes.size())
    return DLC_INVALID("expected %zu pads for %zu axes, got %zu",
                       2 * axes.size(), axes.size(), pads.size());
  margins.assign(rank, {});
  for (size_t i = 0; i < axes.size(); ++i)
    margins[axes[i]] = {pads[i], pads[axes.size() + i]};
  return Status::ok();
}

static Status checkPadOperands(const InferContext &context) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 4));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 2));
  const TensorType &value = context.operand(2).type;
  bool isScalar =
      !value.hasRank || value.shape.empty() ||
      (value.rank() == 1 && value.shape[0] <= 1 && value.shape[0] != 0);
  if (!isScalar)
    return DLC_INVALID("operand 2: expected a scalar, got %s",
                       toString(value).c_str());
  std::string_view mode = context.attrs().getString("mode", "constant");
  for (std::string_view known : {"constant", "reflect", "edge", "wrap"})
    if (mode == known)
      return Status::ok();
  return DLC_INVALID("expected mode constant, reflect, edge or wrap, got %s",
                     std::string(mode).c_str());
}

static Status inferPad(const InferContext &context,
                       std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkPadOperands(context));
  const TensorType &x = context.operand(0).type;
  Parameter pads, axes;
  DLC_RETURN_IF_ERROR(readParameter(context, 1, pads));
  DLC_RETURN_IF_ERROR(readParameter(context, 3, axes));
  TensorType result = x;
  if (!x.hasRank)
    return addResult(results, std::move(result));
  if (axes.values)
    DLC_RETURN_IF_ERROR(normalizeAxes(*axes.values, x.rank()));
  if (axes.values && pads.values) {
    std::vector<Margin> margins;
    DLC_RETURN_IF_ERROR(
        readMargins(*pads.values, *axes.values, x.shape.size(), margins));
    for (size_t i = 0; i < margins.size(); ++i)
      DLC_RETURN_IF_ERROR(padDim(x.shape[i], margins[i],
                                 isConstantPad(context.attrs()),
                                 result.shape[i]));
    return addResult(results, std::move(result));
  }
  for (int64_t i = 0; i < x.rank(); ++i)
    if (!axes.values || std::ranges::count(*axes.values, i) > 0)
      result.shape[i] = kUnknownDim;
  return addResult(results, std::move(result));
}

/// The element of [0, extent) that a position outside it repeats.
static int64_t foldPosition(int64_t position, int64_t extent,
                            std::string_view mode) {
  if (mode == "edge")
    return std::clamp<int64_t>(position, 0, extent - 1);
  int64_t period = mode == "wrap" ? extent : 2 * (extent - 1);
  if (period == 0)
    return 0;
  int64_t folded = position % period;
  if (folded < 0)
    folded += period;
  return folded < extent ? folded : period - folded;
}

/// The value everywhere, and over it what is left of the operand.
static void padConstant(ComputeContext &context,
                        std::span<const Margin> margins) {
  const TensorView &x = context.input(0), &y = context.output(0);
  const size_t size = sizeOf(x.type);
  fillElements(context, y.data, y.size(), context.input(2).data, size);
  Walk from = rowMajorWalk(x.shape), to = rowMajorWalk(y.shape);
  std::vector<int64_t> kept;
  for (size_t i = 0; i < margins.size(); ++i) {
    kept.push_back(croppedExtent(x.shape[i], margins[i]));
    from.start += from.strides[i] * std::max<int64_t>(-margins[i].before, 0);
    to.start += to.strides[i] * std::max<int64_t>(margins[i].before, 0);
  }
  copyElements(context, y.data, to, x.data, from, kept, size);
}

/// For each position of a padded dimension the position in the operand.
static std::vector<int64_t> padSources(int64_t dim, Margin margin,
                                       int64_t padded, std::string_view mode) {
  int64_t kept = croppedExtent(dim, margin);
  int64_t cropped = std::max<int64_t>(-margin.before, 0);
  std::vector<int64_t> sources(padded);
  for (int64_t i = 0; i < padded; ++i) {
    int64_t position = i - std::max<int64_t>(margin.before, 0);
    bool isInside = position >= 0 && position < kept;
    sources[i] =
        cropped + (isInside ? position : foldPosition(position, kept, mode));
  }
  return sources;
}

/// Row by row: what is left of the operand's lies behind each other.
static void copyPadded(ComputeContext &context,
                       std::span<const std::vector<int64_t>> sources,
                       std::span<const Margin> margins) {
  const TensorView &x = context.input(0), &y = context.output(0);
  const size_t size = sizeOf(x.type), rank = sources.size();
  if (rank == 0) {
    std::memcpy(y.data, x.data, size);
    return;
  }
  const Walk from = rowMajorWalk(x.shape);
  const std::vector<int64_t> &row = sources.back();
  const int64_t width = y.shape.back();
  const int64_t first = std::max<int64_t>(margins.back().before, 0);
  const int64_t kept = croppedExtent(x.shape.back(), margins.back());
  auto copyRow = [&](int64_t at) {
    char *target = y.as<char>() + at * width * size;
    uint64_t offset = 0;
    for (size_t i = rank - 1; i-- > 0; at /= y.shape[i])
      offset += from.strides[i] * sources[i][at % y.shape[i]];
    const char *source = x.as<char>() + offset * size;
    auto copy = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        std::memcpy(target + i * size, source + row[i] * size, size);
    };
    copy(0, first);
    if (kept > 0)
      std::memcpy(target + first * size, source + row[first] * size,
                  kept * size);
    copy(first + std::max<int64_t>(kept, 0), width);
  };
  forEachInParts(context, extentOf(y.shape, 0, rank - 1),
                 static_cast<double>(width * size) / 10 + 10, copyRow);
}

static Status computePad(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferPad));
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  if (y.size() == 0)
    return Status::ok();
  std::vector<int64_t> axes = context.intsOf(3);
  DLC_RETURN_IF_ERROR(normalizeAxes(axes, x.rank()));
  std::vector<Margin> margins;
  DLC_RETURN_IF_ERROR(
      readMargins(context.intsOf(1), axes, x.shape.size(), margins));
  if (isConstantPad(context.attrs())) {
    padConstant(context, margins);
    return Status::ok();
  }
  std::string_view mode = context.attrs().getString("mode", "constant");
  std::vector<std::vector<int64_t>> sources;
  for (size_t i = 0; i < margins.size(); ++i)
    sources.push_back(padSources(x.shape[i], margins[i], y.shape[i], mode));

  copyPadded(context, sources, margins);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// reverse_sequence
//===----------------------------------------------------------------------===//

static Status readSequenceAxes(const Attributes &attributes, int64_t rank,
                               int64_t &batch, int64_t &time) {
  int64_t axes[] = {attributes.getInt("batch_axis", 1),
                    attributes.getInt("time_axis", 0)};
  DLC_RETURN_IF_ERROR(normalizeAxes(axes, rank));
  batch = axes[0];
  time = axes[1];
  return Status::ok();
}

static Status inferReverseSequence(const InferContext &context,
                                   std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 2));
  DLC_RETURN_IF_ERROR(checkRank(context, 1, 1));
  Parameter lens;
  DLC_RETURN_IF_ERROR(readParameter(context, 1, lens));
  TensorType result = context.operand(0).type;
  if (result.hasRank) {
    int64_t batch, time;
    DLC_RETURN_IF_ERROR(
        readSequenceAxes(context.attrs(), result.rank(), batch, time));
    if (!mergeDim(result.shape[batch], lens.length))
      return DLC_INVALID("expected %" PRId64 " lengths, got %" PRId64,
                         result.shape[batch], lens.length);
  }
  return addResult(results, std::move(result));
}

static Status computeReverseSequence(ComputeContext &context) {
  const TensorView &x = context.input(0);
  std::vector<int64_t> lens = context.intsOf(1);
  int64_t batch, time;
  DLC_RETURN_IF_ERROR(readSequenceAxes(context.attrs(), x.rank(), batch, time));
  Walk dense = rowMajorWalk(x.shape);
  std::vector<int64_t> rest(x.shape.begin(), x.shape.end());
  rest[batch] = rest[time] = 1;
  for (int64_t b = 0; b < x.shape[batch]; ++b) {
    if (lens[b] < 0 || lens[b] > x.shape[time])
      return DLC_INVALID("sequence %" PRId64
                         ": expected a length in [0, %" PRId64
                         "], got %" PRId64,
                         b, x.shape[time], lens[b]);
    for (int64_t t = 0; t < x.shape[time]; ++t) {
      Walk from = dense, to = dense;
      int64_t source = t < lens[b] ? lens[b] - 1 - t : t;
      to.start = dense.strides[batch] * b + dense.strides[time] * t;
      from.start = dense.strides[batch] * b + dense.strides[time] * source;
      copyElements(context, context.output(0).data, to, x.data, from, rest,
                   sizeOf(x.type));
    }
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// depth_to_space, space_to_depth
//===----------------------------------------------------------------------===//

static Status readBlockSize(const InferContext &context, int64_t &block) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkRank(context, 0, 4));
  block = context.attrs().getInt("blocksize", 0);
  // Larger blocks could not divide a dimension, and their square overflows.
  if (block < 1 || block > INT32_MAX)
    return DLC_INVALID("expected a blocksize in [1, 2^31), got %" PRId64,
                       block);
  return Status::ok();
}

static Status divideDim(int64_t &dim, int64_t divisor) {
  if (dim >= 0 && dim % divisor != 0)
    return DLC_INVALID("expected a dimension that %" PRId64
                       " divides, got %" PRId64,
                       divisor, dim);
  if (dim >= 0)
    dim /= divisor;
  return Status::ok();
}

static Status scaleDim(int64_t &dim, int64_t factor) {
  std::optional<int64_t> product = multiplyDims(dim, factor);
  if (!product)
    return DLC_INVALID("%" PRId64 " times %" PRId64 " overflows", dim, factor);
  dim = *product;
  return Status::ok();
}

static TensorType withRank4(const TensorType &x) {
  return x.hasRank ? x : TensorType{x.type, {-1, -1, -1, -1}};
}

static Status inferDepthToSpace(const InferContext &context,
                                std::vector<TensorType> &results) {
  int64_t block;
  DLC_RETURN_IF_ERROR(readBlockSize(context, block));
  std::string_view mode = context.attrs().getString("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return DLC_INVALID("expected mode DCR or CRD, got %s",
                       std::string(mode).c_str());
  TensorType result = withRank4(context.operand(0).type);
  DLC_RETURN_IF_ERROR(divideDim(result.shape[1], block * block));
  DLC_RETURN_IF_ERROR(scaleDim(result.shape[2], block));
  DLC_RETURN_IF_ERROR(scaleDim(result.shape[3], block));
  return addResult(results, std::move(result));
}

static Status computeDepthToSpace(ComputeContext &context) {
  const TensorView &x = context.input(0);
  int64_t block = context.attrs().getInt("blocksize", 0);
  int64_t n = x.shape[0], c = x.shape[1] / (block * block), h = x.shape[2],
          w = x.shape[3];
  bool depthFirst = context.attrs().getString("mode", "DCR") == "DCR";
  using Dims = std::vector<int64_t>;
  Dims shape = depthFirst ? Dims{n, block, block, c, h, w}
                          : Dims{n, c, block, block, h, w};
  Dims permutation =
      depthFirst ? Dims{0, 3, 4, 1, 5, 2} : Dims{0, 1, 4, 2, 5, 3};
  copyTransposed(context, context.output(0).data, x.data, shape, permutation,
                 sizeOf(x.type));
  return Status::ok();
}

static Status inferSpaceToDepth(const InferContext &context,
                                std::vector<TensorType> &results) {
  int64_t block;
  DLC_RETURN_IF_ERROR(readBlockSize(context, block));
  TensorType result = withRank4(context.operand(0).type);
  DLC_RETURN_IF_ERROR(scaleDim(result.shape[1], block * block));
  DLC_RETURN_IF_ERROR(divideDim(result.shape[2], block));
  DLC_RETURN_IF_ERROR(divideDim(result.shape[3], block));
  return addResult(results, std::move(result));
}

static Status computeSpaceToDepth(ComputeContext &context) {
  const TensorView &x = context.input(0);
  int64_t block = context.attrs().getInt("blocksize", 0);
  int64_t shape[] = {x.shape[0], x.shape[1],         x.shape[2] / block,
                     block,      x.shape[3] / block, block};
  static constexpr int64_t permutation[] = {0, 3, 5, 1, 2, 4};
  copyTransposed(context, context.output(0).data, x.data, shape, permutation,
                 sizeOf(x.type));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// trilu
//===----------------------------------------------------------------------===//

static Status inferTrilu(const InferContext &context,
                         std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 2));
  std::optional<int64_t> diagonal;
  DLC_RETURN_IF_ERROR(readScalar(context, 1, diagonal));
  return addResultLike(context, results);
}

static Status computeTrilu(ComputeContext &context) {
  const TensorView &x = context.input(0);
  int64_t diagonal = context.intsOf(1).front();
  bool upper = context.attrs().getInt("upper", 1) != 0;
  size_t size = sizeOf(x.type), rank = x.shape.size();
  const char *source = x.as<char>();
  char *target = context.output(0).as<char>();
  for (IndexCounter at(x.shape); !at.isDone(); at.next()) {
    int64_t distance = at[rank - 1] - at[rank - 2];
    bool keep = upper ? distance >= diagonal : distance <= diagonal;
    if (keep)
      std::memcpy(target, source, size);
    else
      std::memset(target, 0, size);
    source += size;
    target += size;
  }
  return Status::ok();
}

std::span<const Operation> ref::rearrangeOperations() {
  static constexpr Operation table[] = {
      {"depth_to_space", inferDepthToSpace, computeDepthToSpace},
      {"pad", inferPad, computePad},
      {"reverse_sequence", inferReverseSequence, computeReverseSequence},
      {"space_to_depth", inferSpaceToDepth, computeSpaceToDepth},
      {"trilu", inferTrilu, computeTrilu},
  };
  return table;
}
