// SPDX-License-Identifier: Apache-2.0
//
// Images sampled at other places, and regions of images.

#include "Window.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Sizes -------------------------------------------------------------===//

/// Row i has the mean of elements floor(i n / m) to ceil((i + 1) n / m).
static Value meansMatrix(LoweringContext &n, int64_t from, int64_t to) {
  if (from * to > 1 << 24) {
    n.unsupported("adaptive pooling of " + Twine(from) + " to " + Twine(to));
    return {};
  }
  std::vector<float> values(from * to, 0.0f);
  for (int64_t i = 0; i < to; ++i) {
    int64_t begin = i * from / to, end = ((i + 1) * from + to - 1) / to;
    for (int64_t j = begin; j < end; ++j)
      values[i * from + j] = 1.0f / static_cast<float>(end - begin);
  }
  return floats(n, {to, from}, values);
}

/// Means along both axes, which are products with constant matrices.
static void lowerAdaptivePool(LoweringContext &n) {
  Value x = n.in(0);
  Ints size = n.ints("output_size");
  if (size.empty())
    size = {1};
  if (size.size() == 1)
    size.push_back(size[0]);
  if (size.size() != 2)
    return n.fail("parameter 'output_size': expected at most 2 values, got " +
                  Twine(size.size()));
  if (!isImage(n, x))
    return;
  Ints shape = n.shape(x, "adaptive pooling");
  if (n.b.failed())
    return;
  Value rows = meansMatrix(n, shape[2], size[0]),
        columns = meansMatrix(n, shape[3], size[1]);
  if (n.b.failed())
    return;
  Value wide = n.b.cast(x, n.b.f32());
  Value y = n.b.op("matmul", {wide, n.b.transpose(columns, {1, 0})});
  n.set(0, n.b.castLike(n.b.op("matmul", {rows, y}), x));
}

static int64_t resizedExtent(LoweringContext &n, int64_t extent,
                             bool isHeight) {
  const std::string &mode = n.p.getText("mode");
  const char *factor = isHeight ? "scale_height" : "scale_width";
  bool isOdd = extent % 2 != 0;
  if (mode == "to_even_down")
    return isOdd ? extent - 1 : extent;
  if (mode == "to_even_up")
    return isOdd ? extent + 1 : extent;
  if (mode == "to_odd_down")
    return isOdd ? extent : extent - 1;
  if (mode == "to_odd_up")
    return isOdd ? extent : extent + 1;
  if (n.p.isNone(factor))
    return n.p.getInt(isHeight ? "height" : "width");
  double scale = n.p.getFloat(factor);
  double resized = mode == "odd_scale" && isOdd
                       ? static_cast<double>(extent - 1) * scale + 1
                       : static_cast<double>(extent) * scale;
  // No integer is infinite or nan: 0, as any other size that is refused.
  return resized >= 1 && resized <= kMaxExtent ? static_cast<int64_t>(resized)
                                               : 0;
}

static void lowerBilinearResize(LoweringContext &n) {
  Value x = n.in(0);
  if (!isImage(n, x))
    return;
  Ints shape = n.shape(x, "resizing"), sizes = shape;
  if (n.b.failed())
    return;
  if (n.p.getText("mode") == "like") {
    Ints like = n.shape(n.in(1), "resizing");
    if (like.size() != 4)
      return n.fail("expected 'like' of 4 dimensions, got " +
                    Twine(like.size()));
    sizes[2] = like[2];
    sizes[3] = like[3];
  } else {
    sizes[2] = resizedExtent(n, shape[2], true);
    sizes[3] = resizedExtent(n, shape[3], false);
  }
  for (unsigned axis : {2, 3})
    if (sizes[axis] < 1 || sizes[axis] > kMaxExtent)
      return n.fail("expected a " + Twine(axis == 2 ? "height" : "width") +
                    " from 1 to " + Twine(kMaxExtent) + " after resizing");
  bool aligns = n.p.getBool("align_corners");
  n.set(0, n.b.op("resize", {x, n.b.none(), n.b.none(), n.b.ints(sizes)},
                  {{"mode", "linear"},
                   {"coordinate_transformation_mode",
                    aligns ? "align_corners" : "half_pixel"}}));
}

//===-- Grids -------------------------------------------------------------===//

/// Places from -1 to 1 that six numbers map an image to, y behind x.
static Value affineGrid(LoweringContext &n, Value theta) {
  Ints size = n.ints("target_shape"), shape = n.shape(theta, "a grid");
  if (n.b.failed())
    return {};
  if (size.size() != 2 || size[0] < 1 || size[1] < 1) {
    n.fail("parameter 'target_shape': expected two extents of at least 1");
    return {};
  }
  if (shape.size() != 2 || shape[1] != 6) {
    n.fail("expected an affine map of 6 numbers for each image");
    return {};
  }
  Value maps = n.b.reshape(theta, {shape[0], 2, 3});
  Value image = n.b.ints({shape[0], 1, size[0], size[1]});
  return n.b.op("affine_grid", {maps, image}, {{"align_corners", true}});
}

static void lowerGridGenerator(LoweringContext &n) {
  if (n.p.getText("transform_type") == "affine") {
    Value grid = affineGrid(n, n.in(0));
    return n.set(0, n.b.failed() ? Value() : n.b.transpose(grid, {0, 3, 1, 2}));
  }
  Value flow = n.in(0);
  if (!isImage(n, flow))
    return;
  Ints shape = n.shape(flow, "a grid");
  if (n.b.failed())
    return;
  if (shape[1] != 2 || shape[2] < 2 || shape[3] < 2 ||
      shape[2] * shape[3] > 1 << 24)
    return n.fail("expected a flow of 2 channels and extents of at least 2");
  std::vector<float> base, scale;
  for (int64_t axis : {3, 2})
    for (int64_t i = 0; i < shape[2] * shape[3]; ++i)
      base.push_back(
          static_cast<float>(axis == 3 ? i % shape[3] : i / shape[3]));
  scale = {2.0f / static_cast<float>(shape[3] - 1),
           2.0f / static_cast<float>(shape[2] - 1)};
  Value places = n.b.add(
      flow, n.b.castLike(floats(n, {1, 2, shape[2], shape[3]}, base), flow));
  Value scaled =
      n.b.mul(places, n.b.castLike(floats(n, {1, 2, 1, 1}, scale), flow));
  n.set(0, n.b.sub(scaled, n.scalarLike(flow, 1)));
}

static Value sample(LoweringContext &n, Value x, Value grid) {
  return n.b.op(
      "grid_sample", {x, grid},
      {{"mode", "linear"}, {"padding_mode", "zeros"}, {"align_corners", true}});
}

static void lowerBilinearSampler(LoweringContext &n) {
  if (isImage(n, n.in(0)) && isImage(n, n.in(1)))
    n.set(0, sample(n, n.in(0), n.b.transpose(n.in(1), {0, 2, 3, 1})));
}

static void lowerSpatialTransformer(LoweringContext &n) {
  Value grid = affineGrid(n, n.in(1));
  if (!n.b.failed() && isImage(n, n.in(0)))
    n.set(0, sample(n, n.in(0), grid));
}

static void relateTransform(ShapeRelation &r) {
  r.setInput(1, std::vector{r.inputDim(0, 0), int64_t(6)});
}

//===-- Deformable convolutions -------------------------------------------===//

/// `weight` is the number of that input.
template <size_t weight> static void relateDeformable(ShapeRelation &r) {
  const Parameters &p = r.parameters;
  int64_t channels = r.inputDim(0, 1), group = p.getInt("num_group");
  std::vector<int64_t> shape = {p.getInt("num_filter"),
                                channels == rt::kUnknownDim || channels % group
                                    ? rt::kUnknownDim
                                    : channels / group};
  const std::vector<int64_t> &kernel = p.getInts("kernel");
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  r.setInput(weight, shape);
  r.setInput(weight + 1, std::vector{p.getInt("num_filter")});
}

/// False after a fault.
static bool readDeformableWindow(LoweringContext &n, Window &window) {
  if (!isImage(n, n.in(0)))
    return false;
  if (!n.p.isNone("layout") && n.p.getText("layout") != "NCHW") {
    n.unsupported("parameter 'layout' of " + n.p.getText("layout"));
    return false;
  }
  if (!checkLength(n, "dilate", n.p.getInts("kernel").size()) ||
      !readWindow(n, n.in(0), window))
    return false;
  window.dilations = n.ints("dilate");
  return true;
}

static void lowerDeformable(LoweringContext &n) {
  Window window;
  if (!readDeformableWindow(n, window))
    return;
  llvm::SmallVector<NamedValue> attributes = window.attributes();
  attributes.push_back({"group", n.p.getInt("num_group")});
  attributes.push_back({"offset_group", n.p.getInt("num_deformable_group")});
  n.set(0, n.b.op("deform_conv",
                  {n.in(0), n.named("weight"), n.in(1),
                   n.b.orNone(n.named("bias")), n.in(2)},
                  attributes));
}

/// Where the windows of one axis look without offsets: an extent for each tap
/// of the kernel and each position of the result, in the order of `offset`.
static Value placesOfTaps(LoweringContext &n, const Window &window, size_t axis,
                          llvm::ArrayRef<int64_t> outputs) {
  int64_t taps = window.kernel[0] * window.kernel[1];
  int64_t stride = window.strides.empty() ? 1 : window.strides[axis];
  int64_t dilation = window.dilations.empty() ? 1 : window.dilations[axis];
  int64_t pad = window.pads.empty() ? 0 : window.pads[axis];
  std::vector<float> places;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t k = axis == 0 ? tap / window.kernel[1] : tap % window.kernel[1];
    for (int64_t out = 0; out < outputs[axis]; ++out)
      places.push_back(static_cast<float>(out * stride - pad + k * dilation));
  }
  return floats(n,
                {taps, axis == 0 ? outputs[0] : 1, axis == 0 ? 1 : outputs[1]},
                places);
}

/// The older operator: a sample inside of the image has no neighbours beyond
/// its last row and column but these, and one outside is 0. Said as an offset
/// that ends there, and a mask.
static void lowerOldDeformable(LoweringContext &n) {
  Window window;
  if (!readDeformableWindow(n, window))
    return;
  Ints image = n.shape(n.in(0), "a deformable convolution");
  Ints moved = n.shape(n.in(1), "a deformable convolution");
  int64_t groups = n.p.getInt("num_deformable_group");
  int64_t taps = window.kernel[0] * window.kernel[1];
  if (n.b.failed())
    return;
  if (moved.size() != 4 || moved[1] != groups * taps * 2)
    return n.fail("expected an 'offset' of 4 dimensions with " +
                  Twine(groups * taps * 2) + " channels");
  if (taps * (moved[2] + moved[3]) > 1 << 22)
    return n.unsupported("deformable convolutions of that size");
  Value pairs =
      n.b.reshape(n.in(1), {moved[0], groups, taps, 2, moved[2], moved[3]});
  Value mask;
  llvm::SmallVector<Value> offsets;
  for (int64_t axis = 0; axis < 2; ++axis) {
    Value offset = n.b.squeeze(n.b.slice(pairs, 3, axis, axis + 1), {3});
    Value place = n.b.castLike(
        placesOfTaps(n, window, axis, {moved[2], moved[3]}), offset);
    Value at = n.b.add(offset, place);
    auto end = static_cast<double>(image[axis + 2]);
    Value inside = n.b.op("logical_and",
                          {n.b.op("greater_equal", {at, n.scalarLike(at, 0)}),
                           n.b.op("less", {at, n.scalarLike(at, end)})});
    mask = mask ? n.b.op("logical_and", {mask, inside}) : inside;
    Value last = n.b.op("min", {at, n.scalarLike(at, end - 1)});
    offsets.push_back(n.b.unsqueeze(n.b.sub(last, place), {3}));
  }
  Value offset = n.b.reshape(n.b.concat(offsets, 3), moved);
  Value factors = n.b.reshape(n.b.castLike(mask, n.in(0)),
                              {moved[0], groups * taps, moved[2], moved[3]});
  llvm::SmallVector<NamedValue> attributes = window.attributes();
  attributes.push_back({"group", n.p.getInt("num_group")});
  attributes.push_back({"offset_group", groups});
  n.set(0, n.b.op("deform_conv",
                  {n.in(0), n.named("weight"), offset,
                   n.b.orNone(n.named("bias")), factors},
                  attributes));
}

static Operator makeDeformable(bool isOld) {
  Operator op = {.name = isOld ? "_contrib_DeformableConvolution"
                               : "_contrib_ModulatedDeformableConvolution",
                 .summary = "Convolution at places that data move",
                 .parameters = convolutionWindow(),
                 .inputs = {{"data"}, {"offset"}}};
  if (!isOld)
    op.inputs.push_back({"mask"});
  for (Parameter &parameter : std::vector<Parameter>{
           required("num_filter", ParameterKind::Int, "Number of filters.")
               .within(1, kMaxExtent),
           optional("num_group", ParameterKind::Int, "1", "Groups of channels.")
               .within(1, kMaxExtent),
           optional("num_deformable_group", ParameterKind::Int, "1",
                    "Groups of channels that move together.")
               .within(1, kMaxExtent),
           optional("no_bias", ParameterKind::Bool, "False",
                    "There is no bias."),
           layoutParameter(), ignored("workspace", ParameterKind::Int, "1024")})
    op.parameters.push_back(parameter);
  if (!isOld)
    op.parameters.push_back(ignored("im2col_step", ParameterKind::Int, "64"));
  op.inputs.push_back({"weight"});
  op.inputs.push_back({"bias", unless("no_bias")});
  op.relateShapes = isOld ? relateDeformable<2> : relateDeformable<3>;
  op.lower = isOld ? lowerOldDeformable : lowerDeformable;
  return op;
}

//===-- Correlation -------------------------------------------------------===//

/// For each displacement the mean, over channels and a window, of products (or
/// distances) of the first image and the displaced second one.
static void lowerCorrelation(LoweringContext &n) {
  if (!isImage(n, n.in(0)) || !isImage(n, n.in(1)))
    return;
  int64_t kernel = n.p.getInt("kernel_size"), pad = n.p.getInt("pad_size");
  int64_t far = n.p.getInt("max_displacement");
  int64_t stride = n.p.getInt("stride1"), step = n.p.getInt("stride2");
  Ints shape = n.shape(n.in(0), "a correlation");
  if (n.b.failed())
    return;
  if (kernel % 2 == 0)
    return n.fail("parameter 'kernel_size': expected an odd number, got " +
                  Twine(kernel));
  int64_t reach = far / step, border = far + kernel / 2;
  if ((2 * reach + 1) * (2 * reach + 1) > 4096)
    return n.unsupported("correlations of more than 4096 displacements");
  Ints extents;
  for (int64_t axis : {2, 3}) {
    int64_t inner = shape[axis] + 2 * pad - 2 * border;
    if (inner < 1)
      return n.fail("expected an image larger than twice the displacement, got "
                    "an extent of " +
                    Twine(shape[axis]) + " with a padding of " + Twine(pad));
    // What all windows cover.
    extents.push_back((inner + stride - 1) / stride * stride - stride + kernel);
  }
  auto padded = [&](Value x) {
    return n.b.op("pad", {x, n.b.ints({pad, pad, pad, pad}), n.scalarLike(x, 0),
                          n.b.ints({2, 3})});
  };
  auto cut = [&](Value x, int64_t y0, int64_t x0) {
    Value rows = n.b.slice(x, 2, y0, y0 + extents[0]);
    return n.b.slice(rows, 3, x0, x0 + extents[1]);
  };
  Value a = cut(padded(n.in(0)), far, far), b = padded(n.in(1));
  llvm::SmallVector<Value> maps;
  for (int64_t i = -reach; i <= reach; ++i)
    for (int64_t j = -reach; j <= reach; ++j) {
      Value other = cut(b, far + i * step, far + j * step);
      Value each = n.p.getBool("is_multiply")
                       ? n.b.mul(a, other)
                       : n.b.op("abs", {n.b.sub(a, other)});
      maps.push_back(n.b.reduce("reduce_mean", each, {1}, /*keepDims=*/true));
    }
  Value all = n.b.concat(maps, 1);
  n.set(0, n.b.op("avg_pool", {all},
                  {{"kernel_shape", llvm::ArrayRef<int64_t>({kernel, kernel})},
                   {"strides", llvm::ArrayRef<int64_t>({stride, stride})}}));
}

static Operator makeCorrelation() {
  auto extent = [](std::string_view name, std::string_view fallback,
                   int64_t least, std::string_view summary) {
    return optional(name, ParameterKind::Int, fallback, summary)
        .within(least, 1 << 15);
  };
  return {
      .name = "Correlation",
      .summary = "How alike two images are at each place, for each "
                 "displacement of the second one",
      .parameters = {extent("kernel_size", "1", 1, "Extent of windows, odd."),
                     extent("max_displacement", "1", 0,
                            "Largest displacement."),
                     extent("stride1", "1", 1, "Distance of places."),
                     extent("stride2", "1", 1, "Distance of displacements."),
                     extent("pad_size", "0", 0, "Zeros around both images."),
                     optional("is_multiply", ParameterKind::Bool, "True",
                              "Products; else distances.")},
      .inputs = {{"data1"}, {"data2"}},
      .relateShapes = [](ShapeRelation &r) { r.equateInputs(0, 1); },
      .lower = lowerCorrelation};
}

//===-- Declarations ------------------------------------------------------===//

static Parameter targetShape() {
  return optional("target_shape", ParameterKind::Ints, "(0, 0)",
                  "Extents of the result.")
      .within(0, 1 << 15);
}

static std::vector<Operator> makeSamplingRows() {
  return {
      {.name = "_contrib_AdaptiveAvgPooling2D",
       .summary = "Means of as many windows as the result has elements",
       .details = "Window i of n to m elements is from floor(i n / m) to "
                  "ceil((i + 1) n / m).",
       .parameters = {optional("output_size", ParameterKind::Ints, "()",
                               "Extents of the result; () means ones.")
                          .within(1, 1 << 15)},
       .lower = lowerAdaptivePool},
      {.name = "_contrib_BilinearResize2D",
       .summary = "Resizing of images between neighbours",
       .parameters = {optional("height", ParameterKind::Int, "1",
                               "Rows of the result.")
                          .within(1, kMaxExtent),
                      optional("width", ParameterKind::Int, "1", "Columns.")
                          .within(1, kMaxExtent),
                      optional("scale_height", ParameterKind::Float, "None",
                               "Rows as a multiple instead."),
                      optional("scale_width", ParameterKind::Float, "None",
                               "Columns as a multiple."),
                      choice("mode",
                             {"like", "odd_scale", "size", "to_even_down",
                              "to_even_up", "to_odd_down", "to_odd_up"},
                             "size", "How the extents are found."),
                      optional("align_corners", ParameterKind::Bool, "True",
                               "Corners keep their places.")},
       .inputs = {{"data"}, {"like", when("mode", "like")}},
       .relateTypes = keepsType,
       .lower = lowerBilinearResize},
      {.name = "GridGenerator",
       .summary = "Places to sample images at",
       .parameters = {requiredChoice("transform_type", {"affine", "warp"},
                                     "Six numbers for each image, or a move "
                                     "of each element."),
                      targetShape()},
       .lower = lowerGridGenerator},
      {.name = "BilinearSampler",
       .summary = "Images at given places, between neighbours",
       .parameters = {ignored("cudnn_off", ParameterKind::Bool, "None")},
       .inputs = {{"data"}, {"grid"}},
       .lower = lowerBilinearSampler},
      {.name = "SpatialTransformer",
       .summary = "Images that an affine map moves",
       .parameters = {targetShape(),
                      requiredChoice("transform_type", {"affine"},
                                     "What the numbers are."),
                      requiredChoice("sampler_type", {"bilinear"},
                                     "How elements between are made."),
                      ignored("cudnn_off", ParameterKind::Bool, "None")},
       .inputs = {{"data"}, {"loc"}},
       .relateShapes = relateTransform,
       .lower = lowerSpatialTransformer},
      makeCorrelation(),
      makeDeformable(/*isOld=*/false),
      makeDeformable(/*isOld=*/true),
  };
}

std::span<const Operator> dlc::symbol::spatialOperators() {
  static const std::vector<Operator> rows = makeSamplingRows();
  return rows;
}
