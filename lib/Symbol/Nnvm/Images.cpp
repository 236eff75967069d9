// SPDX-License-Identifier: Apache-2.0
//
// Windows over images: convolutions, pools, and larger images.

#include "Translation.h"

using namespace dlc;
using namespace dlc::symbol;
using namespace dlc::symbol::nnvm;

//===-- Windows -----------------------------------------------------------===//

static bool checkPair(Translation &t, std::string_view parameter) {
  size_t count = t.p.getInts(parameter).size();
  if (count == 2)
    return true;
  t.fail("parameter '" + std::string(parameter) + "': expected 2 values, got " +
         std::to_string(count));
  return false;
}

namespace {
struct Padding {
  std::vector<int64_t> begins, ends;
  bool isEven() const { return begins == ends; }
};
} // namespace

/// One number for all sides, one for both of each dimension, or all four: top,
/// left, bottom, right.
static bool readPadding(Translation &t, Padding &padding) {
  const std::vector<int64_t> &given = t.p.getInts("padding");
  if (given.size() == 1)
    padding.begins = padding.ends = {given[0], given[0]};
  else if (given.size() == 2)
    padding.begins = padding.ends = given;
  else if (given.size() == 4)
    padding = {{given[0], given[1]}, {given[2], given[3]}};
  else
    t.fail("parameter 'padding': expected 1, 2 or 4 values, got " +
           std::to_string(given.size()));
  return t.status.isOk();
}

/// Images (NCHW) with more around them.
static Entry padded(Translation &t, std::string_view ending, Entry x,
                    const Padding &padding, const char *value) {
  std::vector<int64_t> widths = {0, 0, 0, 0};
  for (size_t i : {0, 1})
    widths.insert(widths.end(), {padding.begins[i], padding.ends[i]});
  return t.add(ending, "Pad", {std::move(x)},
               {{"mode", "constant"},
                {"pad_width", toText(widths)},
                {"constant_value", value}});
}

//===-- Convolutions ------------------------------------------------------===//

/// The operands, in the order and of the type that the sum is made in.
static std::vector<Entry> convolutionOperands(Translation &t) {
  std::vector<Entry> operands = t.inputs;
  operands[0] =
      ordered(t, "data_nchw", operands[0], t.p.getText("layout"), "NCHW");
  operands[1] = ordered(t, "weight_oihw", operands[1],
                        t.p.getText("kernel_layout"), "OIHW");
  const std::string &type = t.p.getText("out_dtype");
  if (type == "same")
    return operands;
  for (size_t i : {0, 1})
    operands[i] = t.add(i ? "weight_cast" : "data_cast", "Cast", {operands[i]},
                        {{"dtype", type}});
  return operands;
}

/// The parameters that both directions have; none after a failure.
static Attributes convolutionAttributes(Translation &t) {
  Padding padding;
  if (!checkLayout(t, "layout", "NCHW") ||
      !checkLayout(t, "kernel_layout", "OIHW") ||
      !checkPair(t, "kernel_size") || !checkPair(t, "strides") ||
      !checkPair(t, "dilation") || !readPadding(t, padding))
    return {};
  if (!padding.isEven())
    t.unsupported("parameter 'padding' of more at one side");
  return {{"num_filter", textOf(t, "channels")},
          {"kernel", textOf(t, "kernel_size")},
          {"stride", textOf(t, "strides")},
          {"dilate", textOf(t, "dilation")},
          {"pad", toText(padding.begins)},
          {"num_group", textOf(t, "groups")},
          {"no_bias", text(!t.p.getBool("use_bias"))}};
}

static void translateConvolution(Translation &t) {
  Attributes attributes = convolutionAttributes(t);
  std::string layout = t.p.getText("out_layout");
  if (layout == "__undef__")
    layout = t.p.getText("layout");
  else
    checkLayout(t, "out_layout", "NCHW");
  if (t.status.isOk())
    finishImages(t, "Convolution", convolutionOperands(t), attributes, layout);
}

static void translateDeconvolution(Translation &t) {
  Attributes attributes = convolutionAttributes(t);
  if (!t.status.isOk() || !checkPair(t, "output_padding"))
    return;
  attributes["adj"] = textOf(t, "output_padding");
  finishImages(t, "Deconvolution", convolutionOperands(t), attributes,
               t.p.getText("layout"));
}

//===-- Pooling -----------------------------------------------------------===//

/// The lowest number, of which no window takes anything.
static constexpr const char *kLowest = "-3.4028234663852886e+38";

/// Means of what is in the data: sums by numbers of elements.
static void finishUnevenMeans(Translation &t, const Entry &x,
                              const Padding &padding, Attributes attributes) {
  attributes["pool_type"] = "sum";
  Entry ones = t.add("ones", "ones_like", {x});
  Entry sum =
      t.add("sum", "Pooling", {padded(t, "pad", x, padding, "0")}, attributes);
  Entry count = t.add("count", "Pooling",
                      {padded(t, "ones_pad", ones, padding, "0")}, attributes);
  const std::string &layout = t.p.getText("layout");
  finishImages(t, "elemwise_div", {sum, count}, {}, layout);
}

template <bool isMax> static void translatePooling(Translation &t) {
  Padding padding;
  if (!checkLayout(t, "layout", "NCHW") || !checkPair(t, "pool_size") ||
      !checkPair(t, "strides") || !readPadding(t, padding))
    return;
  const std::string &layout = t.p.getText("layout");
  bool roundsUp = t.p.getBool("ceil_mode");
  bool countsPadding = !isMax && t.p.getBool("count_include_pad");
  Entry x = ordered(t, "data_nchw", t.inputs[0], layout, "NCHW");
  Attributes attributes = {{"kernel", textOf(t, "pool_size")},
                           {"stride", textOf(t, "strides")},
                           {"pool_type", isMax ? "max" : "avg"},
                           {"pooling_convention", roundsUp ? "full" : "valid"}};
  if (!isMax)
    attributes["count_include_pad"] = text(countsPadding);
  if (padding.isEven())
    attributes["pad"] = toText(padding.begins);
  else if (!isMax && !countsPadding)
    return finishUnevenMeans(t, x, padding, attributes);
  else
    x = padded(t, "pad", x, padding, isMax ? kLowest : "0");
  if (!roundsUp || !countsPadding)
    return finishImages(t, "Pooling", {x}, attributes, layout);
  // topi divides by the whole window, also where it ends behind the padding.
  attributes["pool_type"] = "sum";
  attributes.erase("count_include_pad");
  const std::vector<int64_t> &size = t.p.getInts("pool_size");
  double count = static_cast<double>(size[0]) * static_cast<double>(size[1]);
  Entry sum = t.add("sum", "Pooling", {x}, attributes);
  finishImages(t, "_div_scalar", {sum},
               {{"scalar", toText(ParameterValue(count))}}, layout);
}

template <bool isMax> static void translateGlobalPooling(Translation &t) {
  if (!checkLayout(t, "layout", "NCHW"))
    return;
  const std::string &layout = t.p.getText("layout");
  finishImages(t, "Pooling",
               {ordered(t, "data_nchw", t.inputs[0], layout, "NCHW")},
               {{"global_pool", "True"},
                {"kernel", "(1, 1)"},
                {"pool_type", isMax ? "max" : "avg"}},
               layout);
}

static void translateUpsampling(Translation &t) {
  if (!checkLayout(t, "layout", "NCHW"))
    return;
  if (t.p.getText("method") != "NEAREST_NEIGHBOR")
    return t.unsupported("parameter 'method' of BILINEAR");
  const std::string &layout = t.p.getText("layout");
  finishImages(t, "UpSampling",
               {ordered(t, "data_nchw", t.inputs[0], layout, "NCHW")},
               {{"scale", textOf(t, "scale")},
                {"sample_type", "nearest"},
                {"num_args", "1"}},
               layout);
}

//===-- Declarations ------------------------------------------------------===//

static std::vector<Parameter> convolutionParameters() {
  return {named("channels", ParameterKind::Int).within(1, kMaxExtent),
          named("kernel_size", ParameterKind::Ints).within(1, kMaxExtent),
          ints("strides", "(1, 1)", 1),
          ints("padding", "(0, 0)", 0),
          ints("dilation", "(1, 1)", 1),
          optional("groups", ParameterKind::Int, "1", "").within(1, kMaxExtent),
          layout(),
          optional("kernel_layout", ParameterKind::Text, "OIHW", ""),
          choice("out_dtype",
                 {"same", "float16", "float32", "float64", "int8", "int16",
                  "int32", "int64", "uint8", "uint16", "uint32", "uint64"},
                 "same", ""),
          flag("use_bias", "True")};
}

static std::vector<Parameter> poolingParameters() {
  return {named("pool_size", ParameterKind::Ints).within(1, kMaxExtent),
          ints("strides", "(1, 1)", 1), ints("padding", "(0, 0)", 0), layout(),
          flag("ceil_mode", "False")};
}

std::vector<Rule> nnvm::imageRules() {
  Parameter outLayout =
      optional("out_layout", ParameterKind::Text, "__undef__", "");
  return {
      rule("conv2d", with(convolutionParameters(), outLayout),
           translateConvolution, weighted()),
      rule("conv2d_transpose",
           with(convolutionParameters(), ints("output_padding", "(0, 0)", 0)),
           translateDeconvolution, weighted()),
      rule("max_pool2d", poolingParameters(), translatePooling<true>),
      rule("avg_pool2d",
           with(poolingParameters(), flag("count_include_pad", "False")),
           translatePooling<false>),
      rule("global_max_pool2d", {layout()}, translateGlobalPooling<true>),
      rule("global_avg_pool2d", {layout()}, translateGlobalPooling<false>),
      rule("upsampling",
           {named("scale", ParameterKind::Int).within(1, 1 << 15), layout(),
            choice("method", {"NEAREST_NEIGHBOR", "BILINEAR"},
                   "NEAREST_NEIGHBOR", "")},
           translateUpsampling),
  };
}
