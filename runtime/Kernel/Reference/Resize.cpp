// SPDX-License-Identifier: Apache-2.0
//
// resize: every result element is a weighted sum of operand elements; weights
// are a product of one factor per dimension, so that each dimension has a
// table of taps.

#include "Element.h"
#include "Families.h"
#include "Loop.h"
#include "Parameter.h"
#include "ShapeRule.h"
#include "Walk.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;

namespace {
/// How one dimension is resized.
struct ResizeDim {
  int64_t input = kUnknownDim, output = kUnknownDim;
  double scale = 1, roiStart = 0, roiEnd = 1;
  bool isResized = false;
};

struct Tap {
  int64_t index;
  double weight;
};

/// The taps of one position of a result dimension.
struct Taps {
  std::vector<Tap> taps;
  bool isOutside = false; ///< Takes extrapolation_value.
};
} // namespace

enum ResizeOperand { X, Roi, Scales, Sizes };

//===----------------------------------------------------------------------===//
// Shape rule
//===----------------------------------------------------------------------===//

static Status checkOneOf(const Attributes &attributes, const char *name,
                         std::initializer_list<std::string_view> choices) {
  std::string_view value = attributes.getString(name, *choices.begin());
  if (std::ranges::find(choices, value) != choices.end())
    return Status::ok();
  return DLC_INVALID("attribute %s: unexpected value %s", name,
                     std::string(value).c_str());
}

static Status checkAttributes(const Attributes &attributes) {
  DLC_RETURN_IF_ERROR(
      checkOneOf(attributes, "mode", {"nearest", "linear", "cubic"}));
  DLC_RETURN_IF_ERROR(
      checkOneOf(attributes, "coordinate_transformation_mode",
                 {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                  "align_corners", "asymmetric", "tf_crop_and_resize"}));
  DLC_RETURN_IF_ERROR(
      checkOneOf(attributes, "nearest_mode",
                 {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  return checkOneOf(attributes, "keep_aspect_ratio_policy",
                    {"stretch", "not_larger", "not_smaller"});
}

static Status readAxes(const Attributes &attributes, int64_t rank,
                       std::vector<int64_t> &axes) {
  std::span<const int64_t> given = attributes.getInts("axes");
  axes.assign(given.begin(), given.end());
  for (int64_t i = 0; given.empty() && i < rank; ++i)
    axes.push_back(i);
  return normalizeAxes(axes, rank);
}

/// Reads a vector of floats, when it is known; it must have `count` values.
static Status readFloats(const InferContext &context, size_t index,
                         size_t count,
                         std::optional<std::vector<double>> &values) {
  DLC_RETURN_IF_ERROR(checkType(context, index, floatTypes));
  const auto &[type, data] = context.operand(index);
  int64_t wanted[] = {static_cast<int64_t>(count)};
  if (!context.isPresent(index))
    return Status::ok();
  if (!mayHaveShape(type, wanted))
    return DLC_INVALID("operand %zu: expected %zu values, got %s", index, count,
                       toString(type).c_str());
  if (!data || !type.isStatic())
    return Status::ok();
  values.emplace(count);
  return dispatchFloat(type.type, [&, data = data]<typename E>(E) {
    for (size_t i = 0; i < count; ++i)
      (*values)[i] = loadElement<E>(data, static_cast<int64_t>(i));
    return Status::ok();
  });
}

static Status applyScales(std::span<const double> scales,
                          std::span<const int64_t> axes,
                          std::vector<ResizeDim> &dims) {
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeDim &dim = dims[axes[i]];
    dim.scale = scales[i];
    if (!(dim.scale > 0) || std::isinf(dim.scale))
      return DLC_INVALID("expected finite scales above 0, got %g", dim.scale);
    if (dim.input < 0)
      continue;
    // The product is rounded to f32, as the standard's own shape inference.
    float extent = std::floor(static_cast<float>(dim.input) *
                              static_cast<float>(dim.scale));
    if (!(extent < 0x1p62f))
      return DLC_INVALID("expected smaller scales, got %g for an extent of "
                         "%" PRId64,
                         dim.scale, dim.input);
    dim.output = static_cast<int64_t>(extent);
  }
  return Status::ok();
}

/// Makes all scales the least or the greatest of them.
static Status keepAspectRatio(const Attributes &attributes,
                              std::span<const int64_t> axes,
                              std::vector<ResizeDim> &dims) {
  std::string_view policy =
      attributes.getString("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || axes.empty())
    return Status::ok();
  double scale = dims[axes[0]].scale;
  for (int64_t axis : axes)
    scale = policy == "not_larger" ? std::min(scale, dims[axis].scale)
                                   : std::max(scale, dims[axis].scale);
  for (int64_t axis : axes) {
    ResizeDim &dim = dims[axis];
    double extent = std::floor(scale * static_cast<double>(dim.input) + 0.5);
    if (!(extent < 0x1p62))
      return DLC_INVALID("expected smaller sizes, got a scale of %g", scale);
    dim.scale = scale;
    dim.output = static_cast<int64_t>(extent);
  }
  return Status::ok();
}

static Status applySizes(const Attributes &attributes,
                         std::span<const int64_t> sizes,
                         std::span<const int64_t> axes,
                         std::vector<ResizeDim> &dims) {
  bool allKnown = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeDim &dim = dims[axes[i]];
    if (sizes[i] < 0 || (sizes[i] > 0 && dim.input == 0))
      return DLC_INVALID("expected a size for an extent of %" PRId64
                         ", got %" PRId64,
                         dim.input, sizes[i]);
    dim.output = sizes[i];
    allKnown &= dim.input >= 0;
    if (dim.input > 0)
      dim.scale =
          static_cast<double>(sizes[i]) / static_cast<double>(dim.input);
  }
  if (allKnown)
    return keepAspectRatio(attributes, axes, dims);
  if (attributes.getString("keep_aspect_ratio_policy", "stretch") != "stretch")
    for (int64_t axis : axes)
      dims[axis].output = kUnknownDim;
  return Status::ok();
}

/// Reads all that is known; needs the operand's rank.
static Status planResize(const InferContext &context,
                         std::vector<ResizeDim> &dims) {
  const TensorType &x = context.operand(X).type;
  std::vector<int64_t> axes;
  DLC_RETURN_IF_ERROR(readAxes(context.attrs(), x.rank(), axes));
  dims.resize(x.rank());
  for (int64_t i = 0; i < x.rank(); ++i)
    dims[i].input = dims[i].output = x.shape[i];
  for (int64_t axis : axes) {
    dims[axis].isResized = true;
    dims[axis].output = kUnknownDim;
  }
  std::optional<std::vector<double>> roi, scales;
  std::string_view mode =
      context.attrs().getString("coordinate_transformation_mode");
  if (mode == "tf_crop_and_resize") {
    if (!context.isPresent(Roi))
      return DLC_INVALID("expected a roi with tf_crop_and_resize, got none");
    DLC_RETURN_IF_ERROR(readFloats(context, Roi, 2 * axes.size(), roi));
  }
  for (size_t i = 0; roi && i < axes.size(); ++i) {
    dims[axes[i]].roiStart = (*roi)[i];
    dims[axes[i]].roiEnd = (*roi)[axes.size() + i];
  }
  DLC_RETURN_IF_ERROR(readFloats(context, Scales, axes.size(), scales));
  if (scales)
    return applyScales(*scales, axes, dims);
  if (!context.isPresent(Sizes))
    return Status::ok();
  Parameter sizes;
  DLC_RETURN_IF_ERROR(readParameter(context, Sizes, sizes));
  if (sizes.length >= 0 && sizes.length != static_cast<int64_t>(axes.size()))
    return DLC_INVALID("operand 3: expected %zu sizes, got %" PRId64,
                       axes.size(), sizes.length);
  return sizes.values ? applySizes(context.attrs(), *sizes.values, axes, dims)
                      : Status::ok();
}

static Status inferResize(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1, 4));
  DLC_RETURN_IF_ERROR(checkType(context, X, numericTypes));
  DLC_RETURN_IF_ERROR(checkAttributes(context.attrs()));
  if (context.isPresent(Scales) == context.isPresent(Sizes))
    return DLC_INVALID("expected either scales or sizes, got %s",
                       context.isPresent(Sizes) ? "both" : "none");
  TensorType result = context.operand(X).type;
  if (!result.hasRank)
    return addResult(results, std::move(result));
  std::vector<ResizeDim> dims;
  DLC_RETURN_IF_ERROR(planResize(context, dims));
  for (size_t i = 0; i < dims.size(); ++i)
    result.shape[i] = dims[i].output;
  return addResult(results, std::move(result));
}

//===----------------------------------------------------------------------===//
// Taps
//===----------------------------------------------------------------------===//

namespace {
/// The attributes that say what a result is made of, read once.
struct Sampling {
  explicit Sampling(const Attributes &attributes)
      : coordinates(attributes.getString("coordinate_transformation_mode",
                                         "half_pixel")),
        nearest(attributes.getString("nearest_mode", "round_prefer_floor")),
        isNearest(attributes.getString("mode", "nearest") == "nearest"),
        isCubic(attributes.getString("mode") == "cubic"),
        antialiases(attributes.getInt("antialias", 0) != 0),
        excludesOutside(attributes.getInt("exclude_outside", 0) != 0),
        a(attributes.getFloat("cubic_coeff_a", -0.75)) {}

  std::string_view coordinates, nearest;
  bool isNearest, isCubic, antialiases, excludesOutside;
  double a; ///< Of the cubic.
};
} // namespace

/// The operand's coordinate for position `at` of the result.
template <typename T>
static T sourceOf(std::string_view mode, const ResizeDim &dim, T at) {
  const T input = static_cast<T>(dim.input), scale = static_cast<T>(dim.scale);
  const T output = scale * input; // may be fractional
  if (mode == "align_corners")
    return output == 1 ? 0 : at * (input - 1) / (output - 1);
  if (mode == "asymmetric")
    return at / scale;
  if (mode == "tf_crop_and_resize") {
    const T start = static_cast<T>(dim.roiStart);
    const T extent = (static_cast<T>(dim.roiEnd) - start) * (input - 1);
    const T offset = output == 1 ? extent / 2 : at * extent / (output - 1);
    return start * (input - 1) + offset;
  }
  if (mode == "pytorch_half_pixel" && output == 1)
    return 0;
  T source = (at + T(0.5)) / scale - T(0.5);
  if (mode == "half_pixel_symmetric")
    source += input / 2 * (1 - static_cast<T>(dim.output) / output);
  return source;
}

/// Keys' cubic with coefficient `a` at distance `x`.
static double cubicWeight(double x, double a) {
  x = std::fabs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double linearWeight(double x) { return std::fmax(1 - std::fabs(x), 0); }

/// Which of the neighbours base and base + 1 is nearest; `ratio` is the
/// distance from base, in (0, 1].
static int64_t nearestOf(std::string_view mode, double ratio) {
  if (ratio == 1 || mode == "ceil")
    return 1;
  if (mode == "floor")
    return 0;
  return mode == "round_prefer_ceil" ? ratio >= 0.5 : ratio > 0.5;
}

/// Weights of the neighbours around `base`; stretched by 1 / scale when
/// antialiasing a smaller result.
static std::vector<Tap> filterTaps(const Sampling &sampling, int64_t base,
                                   double ratio, double scale) {
  double stretch = sampling.antialiases ? std::min(scale, 1.0) : 1;
  double reach = sampling.isCubic ? 2 : 1;
  int64_t first = static_cast<int64_t>(std::floor(-reach / stretch)) + 1;
  std::vector<Tap> taps;
  taps.reserve(2 - 2 * first);
  double sum = 0;
  for (int64_t i = first; i < 2 - first; ++i) {
    double distance = (static_cast<double>(i) - ratio) * stretch;
    double weight = sampling.isCubic ? cubicWeight(distance, sampling.a)
                                     : linearWeight(distance);
    taps.push_back({base + i, weight});
    sum += weight;
  }
  for (Tap &tap : taps)
    if (stretch < 1)
      tap.weight /= sum;
  return taps;
}

/// Drops the weights outside of [0, extent), or moves them to its ends.
static void bindTaps(std::vector<Tap> &taps, int64_t extent, bool exclude) {
  double sum = 0;
  for (Tap &tap : taps) {
    bool isOutside = tap.index < 0 || tap.index >= extent;
    if (exclude && isOutside)
      tap.weight = 0;
    tap.index = std::clamp<int64_t>(tap.index, 0, extent - 1);
    sum += tap.weight;
  }
  std::erase_if(taps, [](const Tap &tap) { return tap.weight == 0; });
  for (Tap &tap : taps)
    if (exclude && sum != 0)
      tap.weight /= sum;
}

static Taps tapsOf(const Sampling &sampling, const ResizeDim &dim, int64_t at) {
  bool isIdentity =
      !dim.isResized || (dim.scale == 1 && dim.input == dim.output &&
                         dim.roiStart == 0 && dim.roiEnd == 1);
  if (isIdentity)
    return {{{at, 1}}};
  const std::string_view mode = sampling.coordinates;
  const bool isNearest = sampling.isNearest;
  // What is a whole number in floats, in which others compute it, may be a
  // little less in doubles, and another element is the nearest one then.
  double source = isNearest ? sourceOf(mode, dim, static_cast<float>(at))
                            : sourceOf(mode, dim, static_cast<double>(at));
  bool isInside = source >= 0 && source <= static_cast<double>(dim.input - 1);
  if (mode == "tf_crop_and_resize" && !isInside)
    return {{}, true};
  source = std::clamp(source, -0x1p52, 0x1p52); // far outside all the same
  // The left neighbour; a whole coordinate counts as the right one.
  double left = std::ceil(source) - 1, ratio = source - left;
  int64_t base = static_cast<int64_t>(left);
  if (isNearest) {
    int64_t index = base + nearestOf(sampling.nearest, ratio);
    return {{{std::clamp<int64_t>(index, 0, dim.input - 1), 1}}};
  }
  Taps result{filterTaps(sampling, base, ratio, dim.scale)};
  bindTaps(result.taps, dim.input, sampling.excludesOutside);
  return result;
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

namespace {
/// A dimension of `input` elements, of which each result is made by taps.
struct ResizedDim {
  int64_t input, output;
  std::vector<Taps> table; ///< By position of the result.
  /// The same two by two, the second of weight 0 where there is one, if no
  /// position has more; else empty.
  std::vector<Tap> pairs;
  /// Of nearest elements: which one, any where none is.
  std::vector<int64_t> nearest;
  bool isDoubled = false; ///< Each of them is the nearest one twice in turn.
};
} // namespace

static std::vector<Tap> pairsOf(std::span<const Taps> table) {
  std::vector<Tap> pairs;
  pairs.reserve(2 * table.size());
  for (const Taps &at : table) {
    if (at.taps.empty() || at.taps.size() > 2)
      return {};
    Tap last = at.taps.back();
    if (at.taps.size() == 1)
      last.weight = 0;
    pairs.insert(pairs.end(), {at.taps.front(), last});
  }
  return pairs;
}

/// Integers are rounded to even before they saturate.
template <typename E>
static void storeRounded(void *y, int64_t at, double value) {
  if constexpr (!std::is_floating_point_v<typename E::Wide>)
    value = std::nearbyint(value);
  storeElement<E>(y, at, value);
}

/// Resizes the middle dimension of [outer, dim.input, inner]. What is outside
/// of the operand is 0 here.
template <typename From, typename To>
static void resizeDim(const ComputeContext &context, const ResizedDim &dim,
                      int64_t outer, int64_t inner, const void *from,
                      void *to) {
  auto resizeLine = [&](int64_t line) {
    constexpr int64_t most = 256;
    double sums[most];
    const int64_t source = line / dim.output * dim.input * inner;
    const std::vector<Tap> &taps = dim.table[line % dim.output].taps;
    for (int64_t begin = 0; begin < inner; begin += most) {
      const int64_t count = std::min(most, inner - begin);
      std::fill_n(sums, count, 0.0);
      for (const Tap &tap : taps) {
        const int64_t first = source + tap.index * inner + begin;
        for (int64_t i = 0; i < count; ++i)
          sums[i] += tap.weight * loadElement<From>(from, first + i);
      }
      for (int64_t i = 0; i < count; ++i)
        storeRounded<To>(to, line * inner + begin + i, sums[i]);
    }
  };
  auto resizeElements = [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      const int64_t source = at / dim.output * dim.input;
      const int64_t position = at % dim.output;
      const int64_t count = std::min(end - at, dim.output - position);
      const Tap *pair = dim.pairs.data() + 2 * position;
      for (int64_t i = 0; i < count && !dim.pairs.empty(); ++i, pair += 2) {
        double sum =
            pair[0].weight * loadElement<From>(from, source + pair[0].index);
        if (pair[1].weight != 0) // Nothing of what is infinite is no number.
          sum +=
              pair[1].weight * loadElement<From>(from, source + pair[1].index);
        storeRounded<To>(to, at + i, sum);
      }
      for (int64_t i = 0; i < count && dim.pairs.empty(); ++i) {
        double sum = 0;
        for (const Tap &tap : dim.table[position + i].taps)
          sum += tap.weight * loadElement<From>(from, source + tap.index);
        storeRounded<To>(to, at + i, sum);
      }
      at += count;
    }
  };
  const int64_t lines = outer * dim.output;
  if (inner == 1)
    return context.inParts(lines, 3, resizeElements);
  forEachInParts(context, lines, static_cast<double>(inner) * 1.5 + 10,
                 resizeLine);
}

/// The same with nearest elements, which are any where the result is outside of
/// the operand.
template <typename T>
static void takeNearest(const ResizedDim &dim, int64_t outer, int64_t inner,
                        const T *from, T *to) {
  if (inner == 1 && dim.isDoubled) {
    for (int64_t i = 0; i < outer * dim.input; ++i)
      to[2 * i] = to[2 * i + 1] = from[i];
    return;
  }
  for (int64_t o = 0; o < outer; ++o, from += dim.input * inner)
    for (int64_t index : dim.nearest) {
      if (inner == 1)
        *to = from[index];
      else
        std::copy_n(from + index * inner, inner, to);
      to += inner;
    }
}

static bool isIdentity(const ResizedDim &dim) {
  if (dim.input != dim.output)
    return false;
  for (int64_t i = 0; i < dim.output; ++i) {
    const Taps &taps = dim.table[i];
    if (taps.isOutside || taps.taps.size() != 1 || taps.taps[0].index != i ||
        taps.taps[0].weight != 1)
      return false;
  }
  return true;
}

namespace {
/// One dimension of a plane of which those behind it are resized already, and
/// those before it are not.
struct ResizeStep {
  const ResizedDim *dim;
  int64_t outer, inner;

  int64_t resultSize() const { return outer * dim->output * inner; }
};
} // namespace

/// All but dimensions that stay as they are, the last one first; one of them
/// where all do.
static std::vector<ResizeStep> stepsOf(std::span<const ResizedDim> dims) {
  std::vector<ResizeStep> steps;
  int64_t inner = 1, outer = 1;
  for (const ResizedDim &dim : dims)
    outer *= dim.input;
  for (size_t d = dims.size(); d-- > 0;) {
    outer /= dims[d].input;
    if (!isIdentity(dims[d]) || (d == 0 && steps.empty()))
      steps.push_back({&dims[d], outer, inner});
    inner *= dims[d].output;
  }
  return steps;
}

/// `resize` computes a step from one place to another; `From` and `To` say of
/// what elements both are. What is between steps is of elements `Between`.
template <typename E, typename Between, typename Resize>
static void resizePlane(std::span<const ResizeStep> steps, const void *x,
                        void *y, Resize resize) {
  using Element = typename Between::Storage;
  if (steps.empty()) // Of no dimension.
    std::memcpy(y, x, sizeof(typename E::Storage));
  std::vector<Element> last, next;
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool isFirst = i == 0, isLast = i + 1 == steps.size();
    if (!isLast)
      next.resize(steps[i].resultSize());
    if (isFirst && isLast)
      resize(E(), E(), steps[i], x, y);
    else if (isFirst)
      resize(E(), Between(), steps[i], x, next.data());
    else if (isLast)
      resize(Between(), E(), steps[i], last.data(), y);
    else
      resize(Between(), Between(), steps[i], last.data(), next.data());
    last.swap(next);
  }
}

/// Gives the elements that are outside of the operand in some dimension the
/// value for these.
template <typename E>
static void extrapolate(std::span<const ResizedDim> dims, double value,
                        TensorView &y) {
  int64_t position = 0;
  for (IndexCounter at(y.shape); !at.isDone(); at.next(), ++position)
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d].table[at[d]].isOutside) {
        storeRounded<E>(y.data, position, value);
        break;
      }
}

/// Plane by plane: those of the first dimensions that stay as they are.
template <typename E>
static void resizePlanes(const ComputeContext &context,
                         std::span<const ResizedDim> dims, bool isNearest,
                         TensorView &y) {
  using Storage = typename E::Storage;
  const TensorView &x = context.input(X);
  size_t first = 0;
  while (first + 1 < dims.size() && isIdentity(dims[first]))
    ++first;
  const int64_t planes = extentOf(y.shape, 0, first);
  const int64_t from = extentOf(x.shape, first, x.shape.size());
  const int64_t to = extentOf(y.shape, first, y.shape.size());
  const std::vector<ResizeStep> steps = stepsOf(dims.subspan(first));
  auto resizeOne = [&](int64_t plane) {
    const Storage *source = x.as<Storage>() + plane * from;
    Storage *target = y.as<Storage>() + plane * to;
    if (isNearest)
      resizePlane<E, E>(
          steps, source, target,
          [](E, E, const ResizeStep &step, const void *in, void *out) {
            takeNearest(*step.dim, step.outer, step.inner,
                        static_cast<const Storage *>(in),
                        static_cast<Storage *>(out));
          });
    else
      resizePlane<E, Element<DLC_F64>>(
          steps, source, target,
          [&]<typename From, typename To>(From, To, const ResizeStep &step,
                                          const void *in, void *out) {
            resizeDim<From, To>(context, *step.dim, step.outer, step.inner, in,
                                out);
          });
  };
  forEachInParts(context, planes, static_cast<double>(to) * (isNearest ? 1 : 2),
                 resizeOne);
}

static Status computeResize(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferResize));
  const TensorView &x = context.input(X);
  TensorView &y = context.output(0);
  const Attributes &attributes = context.attrs();
  if (y.size() == 0)
    return Status::ok();
  std::vector<Operand> operands;
  for (size_t i = 0; i < context.inputCount(); ++i) {
    const TensorView &view = context.input(i);
    operands.push_back(
        {{view.type, {view.shape.begin(), view.shape.end()}}, view.data});
  }
  std::vector<ResizeDim> plan;
  DLC_RETURN_IF_ERROR(planResize(InferContext(operands, attributes, 1), plan));
  std::vector<ResizedDim> dims;
  bool isOutside = false;
  const Sampling sampling(attributes);
  for (const ResizeDim &dim : plan) {
    ResizedDim &added = dims.emplace_back();
    added.input = dim.input;
    added.output = dim.output;
    added.table.reserve(dim.output);
    for (int64_t i = 0; i < dim.output; ++i) {
      const Taps &taps = added.table.emplace_back(tapsOf(sampling, dim, i));
      isOutside |= taps.isOutside;
      added.nearest.push_back(taps.taps.empty() ? 0 : taps.taps[0].index);
    }
    if (!sampling.isNearest)
      added.pairs = pairsOf(added.table);
    added.isDoubled = dim.output == 2 * dim.input;
    for (int64_t i = 0; i < dim.output; ++i)
      added.isDoubled &= added.nearest[i] == i / 2;
  }
  const bool isNearest = sampling.isNearest;
  return dispatch(x.type, [&]<typename E>(E) {
    resizePlanes<E>(context, dims, isNearest, y);
    if (isOutside)
      extrapolate<E>(dims, attributes.getFloat("extrapolation_value", 0), y);
    return Status::ok();
  });
}

std::span<const Operation> ref::resizeOperations() {
  static constexpr Operation table[] = {
      {"resize", inferResize, computeResize},
  };
  return table;
}
