// SPDX-License-Identifier: Apache-2.0
//
// Images as files hold them, rows of pixels of channels, and what Gluon's
// transformations do with them (MXNet 1.9.1: src/operator/image).

#include "Rules.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

/// The number of dimensions, 3 or 4; fails the node.
static int64_t imageRank(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0));
  if (rank != 3 && rank != 4)
    n.fail("expected data of 3 or 4 dimensions, got " + Twine(rank));
  return rank;
}

/// Channels in front, and 255 as 1.
static void lowerToTensor(LoweringContext &n) {
  int64_t rank = imageRank(n);
  if (n.b.failed())
    return;
  Ints order = rank == 3 ? Ints{2, 0, 1} : Ints{0, 3, 1, 2};
  Value x = n.b.cast(n.b.transpose(n.in(0), order), n.b.f32());
  n.set(0, n.b.div(x, n.scalarLike(x, 255)));
}

static void givesF32(TypeRelation &r) { r.setOutput(0, DLC_F32); }

/// One number for each channel, or one for all.
static Value channelNumbers(LoweringContext &n, const char *parameter,
                            int64_t channels) {
  const std::vector<double> &given = n.p.getFloats(parameter);
  auto count = static_cast<int64_t>(given.size());
  if (count != 1 && count != channels) {
    n.fail("parameter '" + Twine(parameter) + "': expected 1 or " +
           Twine(channels) + " values, got " + Twine(count));
    return {};
  }
  std::vector<float> values(given.begin(), given.end());
  return floats(n, {count, 1, 1}, values);
}

static void lowerNormalize(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = imageRank(n);
  Ints shape = n.shape(x, "channels");
  if (n.b.failed())
    return;
  int64_t channels = shape[rank - 3];
  Value mean = channelNumbers(n, "mean", channels),
        deviation = channelNumbers(n, "std", channels);
  if (n.b.failed())
    return;
  Value y = n.b.sub(n.b.cast(x, n.b.f32()), mean);
  n.set(0, n.b.castLike(n.b.div(y, deviation), x));
}

static void lowerCrop(LoweringContext &n) {
  int64_t rank = imageRank(n);
  Ints shape = n.shape(n.in(0), "a part of images");
  if (n.b.failed())
    return;
  auto cut = [&](Value image, int64_t axis, const char *from,
                 const char *extent) {
    int64_t begin = n.p.getInt(from), end = begin + n.p.getInt(extent);
    if (end > shape[axis])
      n.fail("parameters '" + Twine(from) + "' and '" + extent +
             "': expected at most " + Twine(shape[axis]) + " together, got " +
             Twine(end));
    return n.b.slice(image, axis, begin, end);
  };
  Value rows = cut(n.in(0), rank - 3, "y", "height");
  n.set(0, cut(rows, rank - 2, "x", "width"));
}

template <int64_t axis> static void lowerFlip(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0));
  if (rank != 3)
    return n.fail("expected data of 3 dimensions, got " + Twine(rank));
  n.set(0, n.b.slice(n.in(0), axis, INT64_MAX, INT64_MIN, -1));
}

//===-- Other sizes -------------------------------------------------------===//

namespace {
/// What each element along an axis is between: OpenCV's, which MXNet calls.
struct Taps {
  Ints first, second;
  std::vector<float> share; ///< That of the second one.
};
} // namespace

/// Centres of pixels are at halves. Rows behind the ends repeat the last one;
/// columns are the last one itself, which tells in small integers.
static Taps tapsOf(int64_t from, int64_t to, bool isColumns) {
  Taps taps;
  double scale = 1 / (static_cast<double>(to) / static_cast<double>(from));
  for (int64_t i = 0; i < to; ++i) {
    auto at = static_cast<float>((static_cast<double>(i) + 0.5) * scale - 0.5);
    auto place = static_cast<int64_t>(std::floor(at));
    float share = at - static_cast<float>(place);
    if (isColumns && (place < 0 || place >= from - 1))
      share = 0;
    taps.first.push_back(std::clamp<int64_t>(place, 0, from - 1));
    taps.second.push_back(isColumns && place < 0
                              ? std::min<int64_t>(1, from - 1)
                              : std::clamp<int64_t>(place + 1, 0, from - 1));
    taps.share.push_back(share);
  }
  return taps;
}

/// Shares of 2048 as integers, for those of images of bytes.
static Value sharesLike(LoweringContext &n, llvm::ArrayRef<float> shares,
                        const Ints &shape, Value like) {
  Value whole = floats(n, shape, shares);
  if (llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(like)))
    return whole;
  std::vector<float> rounded;
  for (float share : shares)
    rounded.push_back(std::nearbyint(share * 2048));
  return n.b.castLike(floats(n, shape, rounded), like);
}

/// The two summands of each element along `axis`.
static std::pair<Value, Value> split(LoweringContext &n, Value x, int64_t axis,
                                     const Taps &taps, bool isRows) {
  Ints shape(n.rank(x), 1);
  shape[axis] = static_cast<int64_t>(taps.share.size());
  std::vector<float> rest;
  for (float share : taps.share)
    rest.push_back(1 - share);
  // So that products with shares fit 32 bits.
  if (isRows && !llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(x)))
    x = n.b.div(x, n.scalarLike(x, 16));
  auto part = [&](const Ints &places, llvm::ArrayRef<float> shares) {
    Value y = n.b.op("gather", {x, n.b.ints(places)}, {{"axis", axis}});
    return n.b.mul(y, sharesLike(n, shares, shape, x));
  };
  return {part(taps.first, rest), part(taps.second, taps.share)};
}

/// Sums of two rows and two columns, a quarter of them, and halves to even: as
/// OpenCV halves bytes of channels that it has no vectors for.
static Value halve(LoweringContext &n, Value image, int64_t rows,
                   const Ints &from) {
  Value sum = n.b.cast(image, n.b.elementType(DLC_I32));
  for (int64_t axis : {0, 1}) {
    auto everyOther = [&](int64_t first) {
      return n.b.slice(sum, rows + axis, first, from[axis], 2);
    };
    sum = n.b.add(everyOther(0), everyOther(1));
  }
  Value quarter = n.b.div(sum, n.scalarLike(sum, 4));
  Value isOdd = n.b.op("mod", {quarter, n.scalarLike(sum, 2)});
  sum = n.b.add(n.b.add(sum, isOdd), n.scalarLike(sum, 1));
  return n.b.castLike(n.b.div(sum, n.scalarLike(sum, 4)), image);
}

static Value resizeLinear(LoweringContext &n, Value image, int64_t rows,
                          const Ints &from, const Ints &to) {
  if (from == to)
    return image;
  int64_t channels = GraphBuilder::dimOf(image, rows + 2);
  bool isHalf = from[0] == 2 * to[0] && from[1] == 2 * to[1];
  bool hasVectors = channels == 1 || channels == 3 || channels == 4;
  bool isBytes = !llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(image));
  if (isBytes && isHalf && !hasVectors)
    return halve(n, image, rows, from);
  Value x = isBytes ? n.b.cast(image, n.b.elementType(DLC_I32)) : image;
  // Shares of 0 are not nothing of infinities.
  if (isBytes || from[1] != to[1]) {
    auto [left, right] =
        split(n, x, rows + 1, tapsOf(from[1], to[1], true), /*isRows=*/false);
    x = n.b.add(left, right);
  }
  if (!isBytes && from[0] == to[0])
    return x;
  auto [above, below] =
      split(n, x, rows, tapsOf(from[0], to[0], false), /*isRows=*/true);
  if (!isBytes)
    return n.b.add(above, below);
  // 22 bits of shares, less 4 and 16, each part cut off.
  auto high = [&](Value part) {
    return n.b.div(part, n.scalarLike(part, 1 << 16));
  };
  Value sum = n.b.add(high(above), high(below));
  sum = n.b.div(n.b.add(sum, n.scalarLike(sum, 2)), n.scalarLike(sum, 4));
  return n.b.castLike(sum, image);
}

static Value resizeNearest(LoweringContext &n, Value x, int64_t axis,
                           int64_t from, int64_t to) {
  Ints places;
  double scale = 1 / (static_cast<double>(to) / static_cast<double>(from));
  for (int64_t i = 0; i < to; ++i)
    places.push_back(std::min(
        static_cast<int64_t>(std::floor(static_cast<double>(i) * scale)),
        from - 1));
  return n.b.op("gather", {x, n.b.ints(places)}, {{"axis", axis}});
}

static constexpr int64_t kMostPixels = 1 << 20;

/// Height and width out of parameter `size`, a width and a height or one for
/// both; none after a failure.
static std::optional<Ints> wantedSize(LoweringContext &n, const Ints &from) {
  Ints size = n.ints("size"), to;
  if (size.size() != 1 && size.size() != 2) {
    n.fail("parameter 'size': expected 1 or 2 values, got " +
           Twine(size.size()));
    return std::nullopt;
  }
  if (size.size() == 2)
    to = {size[1], size[0]};
  else if (!n.p.getBool("keep_ratio"))
    to = {size[0], size[0]};
  else if (from[0] > from[1])
    to = {from[0] * size[0] / from[1], size[0]};
  else
    to = {size[0], from[1] * size[0] / from[0]};
  for (int64_t extent : to)
    if (extent < 1 || extent > kMostPixels) {
      n.fail("parameter 'size': expected rows and columns from 1 to " +
             Twine(kMostPixels) + ", got " + Twine(extent));
      return std::nullopt;
    }
  return to;
}

static void lowerResize(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rows = imageRank(n) - 3, kind = n.p.getInt("interp");
  Ints shape = n.shape(x, "images");
  if (n.b.failed())
    return;
  Ints from = {shape[rows], shape[rows + 1]};
  if (from[0] < 1 || from[1] < 1)
    return n.fail("expected data of at least one pixel, got none");
  std::optional<Ints> to = wantedSize(n, from);
  if (!to)
    return;
  if (kind == 1)
    return n.set(0, resizeLinear(n, x, rows, from, *to));
  if (kind != 0)
    return n.unsupported("parameter 'interp' of " + Twine(kind) +
                         ", expected 0 or 1");
  Value y = resizeNearest(n, x, rows, from[0], (*to)[0]);
  n.set(0, resizeNearest(n, y, rows + 1, from[1], (*to)[1]));
}

static void relateResize(TypeRelation &r) {
  r.equateAll();
  rt::DataType type = r.input(0);
  if (type != DLC_INVALID_TYPE && type != DLC_U8 && type != DLC_F32)
    r.fail("expected images of uint8 or float32, got " + toText(type));
}

//===-- Declarations ------------------------------------------------------===//

std::span<const Operator> dlc::symbol::imageOperators() {
  auto numbers = [](std::string_view name, std::string_view fallback,
                    std::string_view summary) {
    return optional(name, ParameterKind::Floats, fallback, summary);
  };
  auto place = [](std::string_view name, int64_t least,
                  std::string_view summary) {
    return required(name, ParameterKind::Int, summary)
        .within(least, kMaxExtent);
  };
  static const std::vector<Operator> rows = {
      {.name = "_image_to_tensor",
       .aliases = {"_npx__image_to_tensor"},
       .summary = "Images with channels in front, as floats up to 1",
       .details = "The data are (height, width, channels), maybe several.",
       .relateTypes = givesF32,
       .lower = lowerToTensor},
      {.name = "_image_normalize",
       .aliases = {"_npx__image_normalize"},
       .summary = "Channels less their mean, by their deviation",
       .details = "The data are (channels, height, width), maybe several.",
       .parameters = {numbers("mean", "(0, 0, 0, 0)",
                              "One for all or each channel."),
                      numbers("std", "(1, 1, 1, 1)",
                              "One for all or each channel.")},
       .relateShapes = sameShapes,
       .lower = lowerNormalize},
      {.name = "_image_crop",
       .aliases = {"_npx__image_crop"},
       .summary = "A part of images",
       .details = "The data are (height, width, channels), maybe several.",
       .parameters = {place("x", 0, "Its first column."),
                      place("y", 0, "Its first row."),
                      place("width", 1, "Its columns."),
                      place("height", 1, "Its rows.")},
       .lower = lowerCrop},
      {.name = "_image_resize",
       .aliases = {"_npx__image_resize"},
       .summary = "Images of another size",
       .details = "The data are (height, width, channels), maybe several; "
                  "bytes are computed with as OpenCV does, which MXNet calls.",
       .parameters = {optional("size", ParameterKind::Ints, "()",
                               "Width and height, or one for both.")
                          .within(1, kMostPixels),
                      optional("keep_ratio", ParameterKind::Bool, "False",
                               "One size is that of the shorter edge."),
                      optional("interp", ParameterKind::Int, "1",
                               "1: between pixels; 0: the nearest one; others "
                               "are not supported.")},
       .relateTypes = relateResize,
       .lower = lowerResize},
      {.name = "_image_flip_left_right",
       .aliases = {"_npx__image_flip_left_right"},
       .summary = "An image with columns in reverse order",
       .details = "The data are (height, width, channels).",
       .relateShapes = sameShapes,
       .lower = lowerFlip<1>},
      {.name = "_image_flip_top_bottom",
       .aliases = {"_npx__image_flip_top_bottom"},
       .summary = "An image with rows in reverse order",
       .details = "The data are (height, width, channels).",
       .relateShapes = sameShapes,
       .lower = lowerFlip<0>},
  };
  return rows;
}
