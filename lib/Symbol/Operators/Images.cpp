// SPDX-License-Identifier: Apache-2.0
//
// Images as files hold them, rows of pixels of channels, and what Gluon's
// transformations do with them (MXNet 1.9.1: src/operator/image).

#include "Rules.h"

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
