// SPDX-License-Identifier: Apache-2.0
//
// The table of NNVM's operators, and what each of them is in the registry.
// Meaning: nnvm/include/nnvm/top/{nn,tensor}.h and nnvm/src/top of TVM 0.2 to
// 0.5, with the kernels of topi where these decide.

#include "Nnvm.h"

#include "dlc/runtime/Base/Names.h"

#include <algorithm>
#include <unordered_map>

using namespace dlc;
using namespace dlc::symbol;
using rt::Status;
using rt::StatusCode;

static constexpr int64_t kMaxExtent = (int64_t(1) << 31) - 1;

//===-- Building ----------------------------------------------------------===//

namespace {
/// One node of NNVM while it is translated. Errors stick.
class Translation {
public:
  Translation(const Parameters &p, Node &node)
      : p(p), inputs(std::move(node.inputs)), node(node) {}

  const Parameters &p;
  std::vector<Entry> inputs;

  /// A node before the last one, `<name>_<ending>`.
  Entry add(std::string_view ending, std::string_view op,
            std::vector<Entry> operands, Attributes attributes = {});
  /// The last one, which has the name that the file gives.
  void finish(std::string_view op, std::vector<Entry> operands,
              Attributes attributes = {});

  void fail(std::string message) {
    if (status.isOk())
      status = Status(StatusCode::InvalidArgument, std::move(message));
  }
  void unsupported(const std::string &what) {
    if (status.isOk())
      status = Status(StatusCode::Unsupported,
                      "unsupported: " + node.describe() + ": " + what);
  }
  Status status;

private:
  void set(Node &made, std::string_view op, std::vector<Entry> operands,
           Attributes attributes);

  Node &node;
};

struct Rule {
  Operator op; ///< Name, parameters and inputs of NNVM's operator.
  bool isVariadic = false;
  void (*translate)(Translation &) = nullptr;
};
} // namespace

void Translation::set(Node &made, std::string_view op,
                      std::vector<Entry> operands, Attributes attributes) {
  made.op = findOperator(op);
  rt::Result<Parameters> parameters = Parameters::parse(*made.op, attributes);
  if (!parameters.isOk()) {
    if (status.isOk())
      status = std::move(parameters.status()).withContext(made.describe());
    return;
  }
  made.attributes.merge(attributes);
  made.parameters = std::move(*parameters);
  made.inputs = std::move(operands);
}

Entry Translation::add(std::string_view ending, std::string_view op,
                       std::vector<Entry> operands, Attributes attributes) {
  auto made = std::make_shared<Node>();
  made->name = node.name + "_" + std::string(ending);
  set(*made, op, std::move(operands), std::move(attributes));
  return {std::move(made)};
}

void Translation::finish(std::string_view op, std::vector<Entry> operands,
                         Attributes attributes) {
  set(node, op, std::move(operands), std::move(attributes));
}

static std::string text(bool value) { return value ? "True" : "False"; }

/// As a parameter of the registry has it.
static std::string textOf(const Translation &t, std::string_view name) {
  return toText(t.p.get(name));
}

//===-- Layouts -----------------------------------------------------------===//

/// The layouts name the same dimensions, each once.
static bool isOrderOf(std::string_view layout, std::string_view standard) {
  return layout.size() == standard.size() &&
         std::ranges::is_permutation(layout, standard);
}

static bool checkLayout(Translation &t, std::string_view parameter,
                        std::string_view standard) {
  const std::string &layout = t.p.getText(parameter);
  if (isOrderOf(layout, standard))
    return true;
  t.fail("parameter '" + std::string(parameter) +
         "': expected the dimensions of " + std::string(standard) +
         " in some order, got '" + rt::toPrintable(layout) + "'");
  return false;
}

static Attributes transposition(std::string_view from, std::string_view to) {
  std::vector<int64_t> axes;
  for (char dimension : to)
    axes.push_back(static_cast<int64_t>(from.find(dimension)));
  return {{"axes", toText(axes)}};
}

static Entry ordered(Translation &t, std::string_view ending, Entry x,
                     std::string_view from, std::string_view to) {
  if (from == to)
    return x;
  return t.add(ending, "transpose", {std::move(x)}, transposition(from, to));
}

/// finish() of an operator whose result is NCHW.
static void finishImages(Translation &t, std::string_view op,
                         std::vector<Entry> operands, Attributes attributes,
                         std::string_view layout) {
  if (layout == "NCHW")
    return t.finish(op, std::move(operands), std::move(attributes));
  Entry y = t.add("nchw", op, std::move(operands), std::move(attributes));
  t.finish("transpose", {y}, transposition("NCHW", layout));
}

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

//===-- Other layers ------------------------------------------------------===//

static void translateDense(Translation &t) {
  t.finish("FullyConnected", t.inputs,
           {{"num_hidden", textOf(t, "units")},
            {"no_bias", text(!t.p.getBool("use_bias"))},
            {"flatten", "False"}});
}

static void translateBatchNorm(Translation &t) {
  std::vector<Entry> operands = t.inputs;
  if (!t.p.getBool("center"))
    operands[2] = t.add("no_beta", "zeros_like", {operands[2]});
  t.finish("BatchNorm", operands,
           {{"axis", textOf(t, "axis")},
            {"eps", textOf(t, "epsilon")},
            {"momentum", textOf(t, "momentum")},
            {"fix_gamma", text(!t.p.getBool("scale"))}});
}

static void translateDropout(Translation &t) {
  t.finish("Dropout", t.inputs, {{"p", textOf(t, "rate")}});
}

static void translateLeakyRelu(Translation &t) {
  t.finish("LeakyReLU", t.inputs,
           {{"act_type", "leaky"}, {"slope", textOf(t, "alpha")}});
}

/// The data have 4 dimensions, whatever these are called.
static void translatePrelu(Translation &t) {
  constexpr std::string_view orders[] = {"CNHW", "NCHW", "NHCW", "NHWC"};
  std::string_view order = orders[t.p.getInt("axis")];
  std::vector<Entry> operands = t.inputs;
  operands[0] = ordered(t, "data_nchw", operands[0], order, "NCHW");
  finishImages(t, "LeakyReLU", operands, {{"act_type", "prelu"}}, order);
}

static void translateLrn(Translation &t) {
  int64_t axis = t.p.getInt("axis");
  std::string_view order = axis == 1 ? "NCHW" : "NHWC";
  if (axis != 1 && axis != 3)
    return t.fail("parameter 'axis': expected 1 or 3, got " +
                  std::to_string(axis));
  finishImages(t, "LRN", {ordered(t, "data_nchw", t.inputs[0], order, "NCHW")},
               {{"nsize", textOf(t, "size")},
                {"alpha", textOf(t, "alpha")},
                {"beta", textOf(t, "beta")},
                {"knorm", textOf(t, "bias")}},
               order);
}

/// By the root of the sum of squares, which is eps at least.
static void translateL2Normalize(Translation &t) {
  Entry x = t.inputs[0];
  Entry squares = t.add("square", "square", {x});
  Entry sum = t.add("sum", "sum", {squares},
                    {{"axis", textOf(t, "axis")}, {"keepdims", "True"}});
  Entry bounded =
      t.add("max", "_maximum_scalar", {sum}, {{"scalar", textOf(t, "eps")}});
  t.finish("broadcast_div", {x, t.add("norm", "sqrt", {bounded})});
}

//===-- Shapes ------------------------------------------------------------===//

/// Pad of MXNet, which leaves the first two of 4 or 5 dimensions alone.
static Attributes padAttributes(const Translation &t,
                                const std::vector<int64_t> &widths) {
  return {{"mode", "constant"},
          {"pad_width", toText(widths)},
          {"constant_value", textOf(t, "pad_value")}};
}

/// With dimensions in front of what has fewer.
static void padFew(Translation &t, std::vector<int64_t> widths) {
  size_t rank = widths.size() / 2, added = rank == 3 ? 2 : 4 - rank;
  Entry x = t.inputs[0];
  std::vector<int64_t> axes;
  for (size_t i = 0; i < added; ++i) {
    x = t.add("dim" + std::to_string(i), "expand_dims", {x}, {{"axis", "0"}});
    axes.push_back(static_cast<int64_t>(i));
  }
  widths.insert(widths.begin(), 2 * added, 0);
  Entry y = t.add("padded", "Pad", {x}, padAttributes(t, widths));
  t.finish("squeeze", {y}, {{"axis", toText(axes)}});
}

static void translatePad(Translation &t) {
  const std::string &text = t.p.getText("pad_width");
  std::optional<std::vector<int64_t>> widths = parsePairs(text, 0, kMaxExtent);
  if (!widths || widths->empty())
    return t.fail("parameter 'pad_width': expected pairs of numbers as ((1, "
                  "1), (0, 2)), got '" +
                  rt::toPrintable(text) + "'");
  size_t rank = widths->size() / 2;
  if (rank > 5)
    return t.unsupported("padding of more than 5 dimensions");
  if (rank < 4)
    return padFew(t, *widths);
  Entry x = t.inputs[0];
  std::vector<int64_t> first(widths->begin(), widths->begin() + 4);
  if (std::ranges::any_of(first, [](int64_t width) { return width != 0; })) {
    // The first two dimensions at the end, and back.
    std::vector<int64_t> there, back;
    for (size_t i = 0; i < rank; ++i) {
      there.push_back(static_cast<int64_t>((i + 2) % rank));
      back.push_back(static_cast<int64_t>((i + rank - 2) % rank));
    }
    first.insert(first.begin(), 2 * (rank - 2), 0);
    x = t.add("turned", "transpose", {x}, {{"axes", toText(there)}});
    x = t.add("first", "Pad", {x}, padAttributes(t, first));
    x = t.add("back", "transpose", {x}, {{"axes", toText(back)}});
    std::fill_n(widths->begin(), 4, 0);
  }
  t.finish("Pad", {x}, padAttributes(t, *widths));
}

static void translateConcatenate(Translation &t) {
  t.finish("Concat", t.inputs,
           {{"dim", textOf(t, "axis")},
            {"num_args", std::to_string(t.inputs.size())}});
}

/// A number of equal parts, or the places between them as a tuple, also of one.
static void translateSplit(Translation &t) {
  const std::string &given = t.p.getText("indices_or_sections");
  bool isCount = !given.empty() && given[0] >= '0' && given[0] <= '9';
  Parameter places =
      required("indices_or_sections", ParameterKind::Ints, "").atLeast(1);
  rt::Result<ParameterValue> value = parseValue(places, given);
  auto *indices =
      value.isOk() ? std::get_if<std::vector<int64_t>>(&*value) : nullptr;
  if (!indices || (isCount && indices->size() != 1) ||
      !std::ranges::is_sorted(*indices, std::less_equal()))
    return t.fail("parameter 'indices_or_sections': expected a number of parts "
                  "or rising places between them, got '" +
                  rt::toPrintable(given) + "'");
  if (isCount)
    return t.finish("SliceChannel", t.inputs,
                    {{"num_outputs", std::to_string(indices->front())},
                     {"axis", textOf(t, "axis")}});
  indices->insert(indices->begin(), 0);
  t.finish("_split_v2", t.inputs,
           {{"indices", toText(*indices)}, {"axis", textOf(t, "axis")}});
}

static void translateExpandDims(Translation &t) {
  Entry x = t.inputs[0];
  Attributes axis = {{"axis", textOf(t, "axis")}};
  for (int64_t i = 1; i < t.p.getInt("num_newaxis"); ++i)
    x = t.add("dim" + std::to_string(i), "expand_dims", {x}, axis);
  t.finish("expand_dims", {x}, axis);
}

static void translateSqueeze(Translation &t) {
  bool isAll = t.p.getInts("axis").empty();
  t.finish("squeeze", t.inputs, {{"axis", isAll ? "None" : textOf(t, "axis")}});
}

/// New dimensions at the axes, then as large as the other operand.
static void translateExpandLike(Translation &t) {
  std::vector<int64_t> axes = t.p.getInts("axis");
  if (t.p.getBool("exclude") || axes.empty())
    return t.unsupported("parameters without the axes that are new");
  std::ranges::sort(axes);
  Entry x = t.inputs[0];
  for (int64_t axis : axes)
    x = t.add("dim" + std::to_string(axis), "expand_dims", {x},
              {{"axis", std::to_string(axis)}});
  t.finish("broadcast_like", {x, t.inputs[1]});
}

static void translateFlip(Translation &t) {
  t.finish("reverse", t.inputs, {{"axis", textOf(t, "axis")}});
}

static void translateStridedSlice(Translation &t) {
  t.finish("slice", t.inputs,
           {{"begin", textOf(t, "begin")},
            {"end", textOf(t, "end")},
            {"step", textOf(t, "stride")}});
}

static void translateSliceLike(Translation &t) {
  t.finish("slice_like", t.inputs, {{"axes", textOf(t, "axis")}});
}

/// Without an axis of all elements in a row.
static void translateTake(Translation &t) {
  Entry x = t.inputs[0];
  if (t.p.isNone("axis"))
    x = t.add("flat", "Reshape", {x}, {{"shape", "(-1,)"}});
  t.finish("take", {x, t.inputs[1]},
           {{"axis", t.p.isNone("axis") ? "0" : textOf(t, "axis")}});
}

//===-- Reductions --------------------------------------------------------===//

/// Of the name that the node has in NNVM.
template <bool isMax> static void translateArg(Translation &t) {
  const std::vector<int64_t> &axes = t.p.getInts("axis");
  if (axes.size() > 1 || t.p.getBool("exclude"))
    return t.unsupported("places along more than one axis");
  Entry place =
      t.add("place", isMax ? "argmax" : "argmin", t.inputs,
            {{"axis", axes.empty() ? "None" : std::to_string(axes[0])},
             {"keepdims", textOf(t, "keepdims")}});
  t.finish("Cast", {place}, {{"dtype", textOf(t, "dtype")}});
}

//===-- Constants ---------------------------------------------------------===//

static void translateFull(Translation &t) {
  t.finish("_full", {},
           {{"shape", textOf(t, "shape")},
            {"dtype", textOf(t, "dtype")},
            {"value", textOf(t, "fill_value")}});
}

static void translateFullLike(Translation &t) {
  Entry zeros = t.add("zeros", "zeros_like", t.inputs);
  t.finish("_plus_scalar", {zeros}, {{"scalar", textOf(t, "fill_value")}});
}

//===-- The same under another name ---------------------------------------===//

/// NNVM's name, and what the registry calls the same with the same parameters.
static constexpr std::pair<std::string_view, std::string_view> sameOperators[] =
    {{"__add_scalar__", "_plus_scalar"},
     {"__add_symbol__", "elemwise_add"},
     {"__div_scalar__", "_div_scalar"},
     {"__div_symbol__", "elemwise_div"},
     {"__mul_scalar__", "_mul_scalar"},
     {"__mul_symbol__", "elemwise_mul"},
     {"__pow_scalar__", "_power_scalar"},
     {"__rdiv_scalar__", "_rdiv_scalar"},
     {"__rpow_scalar__", "_rpower_scalar"},
     {"__rsub_scalar__", "_rminus_scalar"},
     {"__sub_scalar__", "_minus_scalar"},
     {"__sub_symbol__", "elemwise_sub"},
     {"abs", "abs"},
     {"block_grad", "BlockGrad"},
     {"broadcast_add", "broadcast_add"},
     {"broadcast_div", "broadcast_div"},
     {"broadcast_equal", "broadcast_equal"},
     {"broadcast_greater", "broadcast_greater"},
     {"broadcast_greater_equal", "broadcast_greater_equal"},
     {"broadcast_less", "broadcast_lesser"},
     {"broadcast_less_equal", "broadcast_lesser_equal"},
     {"broadcast_max", "broadcast_maximum"},
     {"broadcast_min", "broadcast_minimum"},
     {"broadcast_mul", "broadcast_mul"},
     {"broadcast_not_equal", "broadcast_not_equal"},
     {"broadcast_pow", "broadcast_power"},
     {"broadcast_sub", "broadcast_sub"},
     {"broadcast_to", "broadcast_to"},
     {"cast", "Cast"},
     {"ceil", "ceil"},
     {"clip", "clip"},
     {"copy", "_copy"},
     {"elemwise_add", "elemwise_add"},
     {"elemwise_div", "elemwise_div"},
     {"elemwise_mul", "elemwise_mul"},
     {"elemwise_sub", "elemwise_sub"},
     {"elemwise_sum", "add_n"},
     {"exp", "exp"},
     {"flatten", "Flatten"},
     {"floor", "floor"},
     {"gather_nd", "gather_nd"},
     {"greater", "_greater"},
     {"less", "_lesser"},
     {"log", "log"},
     {"log_softmax", "log_softmax"},
     {"matmul", "dot"},
     {"max", "max"},
     {"mean", "mean"},
     {"min", "min"},
     {"negative", "negative"},
     {"ones", "_ones"},
     {"ones_like", "ones_like"},
     {"prod", "prod"},
     {"relu", "relu"},
     {"reshape", "Reshape"},
     {"reshape_like", "reshape_like"},
     {"round", "round"},
     {"sigmoid", "sigmoid"},
     {"softmax", "softmax"},
     {"sqrt", "sqrt"},
     {"sum", "sum"},
     {"tanh", "tanh"},
     {"transpose", "transpose"},
     {"trunc", "trunc"},
     {"where", "where"},
     {"zeros", "_zeros"},
     {"zeros_like", "zeros_like"}};

//===-- Declarations ------------------------------------------------------===//

static Parameter ints(std::string_view name, std::string_view fallback,
                      int64_t least) {
  return optional(name, ParameterKind::Ints, fallback, "")
      .within(least, kMaxExtent);
}

static Parameter flag(std::string_view name, std::string_view fallback) {
  return optional(name, ParameterKind::Bool, fallback, "");
}

static Parameter named(std::string_view name, ParameterKind kind) {
  return required(name, kind, "");
}

static Parameter layout() {
  return optional("layout", ParameterKind::Text, "NCHW", "");
}

static std::vector<Input> weighted() {
  return {{"data"}, {"weight"}, {"bias", when("use_bias")}};
}

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

static std::vector<Parameter> with(std::vector<Parameter> parameters,
                                   Parameter more) {
  parameters.push_back(std::move(more));
  return parameters;
}

using Translate = void (*)(Translation &);

static Rule rule(std::string_view name, std::vector<Parameter> parameters,
                 Translate translate, std::vector<Input> inputs = {{"data"}}) {
  Rule rule;
  rule.op.name = name;
  rule.op.parameters = std::move(parameters);
  rule.op.inputs = std::move(inputs);
  rule.translate = translate;
  return rule;
}

static std::vector<Rule> layerRules() {
  Parameter outLayout =
      optional("out_layout", ParameterKind::Text, "__undef__", "");
  return {
      rule("dense",
           {named("units", ParameterKind::Int).atLeast(1),
            flag("use_bias", "True")},
           translateDense, weighted()),
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

static std::vector<Rule> functionRules() {
  constexpr auto number = ParameterKind::Float;
  constexpr auto whole = ParameterKind::Int;
  return {
      rule("batch_norm",
           {optional("axis", whole, "1", ""),
            optional("epsilon", number, "1e-5", ""),
            optional("momentum", number, "0.9", ""), flag("center", "True"),
            flag("scale", "True")},
           translateBatchNorm,
           {{"data"}, {"gamma"}, {"beta"}, {"moving_mean"}, {"moving_var"}}),
      rule("dropout", {optional("rate", number, "0.5", "")}, translateDropout),
      rule("leaky_relu", {optional("alpha", number, "0.25", "")},
           translateLeakyRelu),
      rule("prelu", {optional("axis", whole, "1", "").within(0, 3)},
           translatePrelu, {{"data"}, {"alpha"}}),
      rule("lrn",
           {named("size", whole).atLeast(1), named("axis", whole),
            named("alpha", number), named("beta", number),
            named("bias", number)},
           translateLrn),
      rule("l2_normalize",
           {named("eps", number), named("axis", ParameterKind::Ints)},
           translateL2Normalize),
  };
}

static std::vector<Rule> shapeRules() {
  constexpr auto whole = ParameterKind::Int;
  constexpr auto list = ParameterKind::Ints;
  Rule concatenate = rule("concatenate", {optional("axis", whole, "1", "")},
                          translateConcatenate);
  concatenate.isVariadic = true;
  return {
      concatenate,
      rule("pad",
           {optional("pad_value", ParameterKind::Float, "0", ""),
            named("pad_width", ParameterKind::Text)},
           translatePad),
      rule("split",
           {named("indices_or_sections", ParameterKind::Text),
            optional("axis", whole, "1", "")},
           translateSplit),
      rule("expand_dims",
           {named("axis", whole),
            optional("num_newaxis", whole, "1", "").within(1, 32)},
           translateExpandDims),
      rule("squeeze", {optional("axis", list, "()", "")}, translateSqueeze),
      rule("expand_like", {ints("axis", "()", 0), flag("exclude", "False")},
           translateExpandLike, {{"input"}, {"shape_like"}}),
      rule("flip", {optional("axis", whole, "0", "")}, translateFlip),
      rule("strided_slice",
           {named("begin", list), named("end", list),
            optional("stride", list, "()", "")},
           translateStridedSlice),
      rule("slice_like", {optional("axis", list, "()", "")}, translateSliceLike,
           {{"data"}, {"slice_like"}}),
      rule("take", {optional("axis", whole, "None", "")}, translateTake,
           {{"data"}, {"indices"}}),
  };
}

static std::vector<Rule> otherRules() {
  Parameter type = optional("dtype", ParameterKind::Type, "int32", "");
  std::vector<Parameter> places = {
      optional("axis", ParameterKind::Ints, "()", ""),
      flag("keepdims", "False"), flag("exclude", "False"), type};
  type.fallback = "float32";
  Parameter value = named("fill_value", ParameterKind::Float);
  return {
      rule("argmax", places, translateArg<true>),
      rule("argmin", places, translateArg<false>),
      rule("full", {ints("shape", "()", 0), type, value}, translateFull, {}),
      rule("full_like", {value}, translateFullLike),
  };
}

//===-- The table ---------------------------------------------------------===//

namespace {
struct Table {
  Table();
  std::vector<Rule> rules;
  std::unordered_map<std::string_view, const Rule *> byName;
  std::unordered_map<std::string_view, std::string_view> same;
};
} // namespace

Table::Table() : same(std::begin(sameOperators), std::end(sameOperators)) {
  for (std::vector<Rule> more :
       {layerRules(), functionRules(), shapeRules(), otherRules()})
    for (Rule &rule : more)
      rules.push_back(std::move(rule));
  for (const Rule &rule : rules)
    byName.emplace(rule.op.name, &rule);
}

static const Table &table() {
  static const Table instance;
  return instance;
}

bool symbol::isOfNnvm(std::string_view op) {
  return table().byName.contains(op) || table().same.contains(op);
}

bool symbol::isOfNnvmOnly(std::string_view op) {
  return isOfNnvm(op) && !findOperator(op);
}

/// Operands in the number that the operator has.
static Status checkInputs(const Node &node, const Operator &op,
                          const Parameters &parameters) {
  std::vector<std::string> names = op.inputNames(parameters);
  if (names.size() == node.inputs.size())
    return Status::ok();
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? " (" : ", ") + name;
  return Status(StatusCode::InvalidArgument,
                "expected " + std::to_string(names.size()) + " inputs" + list +
                    (list.empty() ? "" : ")") + ", got " +
                    std::to_string(node.inputs.size()));
}

/// An operator that means the same here, with the parameters that NNVM has.
static Status applySame(const Operator &op, const Attributes &attributes,
                        Node &node) {
  rt::Result<Parameters> parameters = Parameters::parse(op, attributes);
  if (!parameters.isOk())
    return std::move(parameters.status());
  DLC_RETURN_IF_ERROR(checkInputs(node, op, *parameters));
  node.op = &op;
  node.attributes = attributes;
  node.parameters = std::move(*parameters);
  return Status::ok();
}

static bool isUsers(std::string_view attribute) {
  return attribute.starts_with("__");
}

const Operator *symbol::declarationOfNnvm(std::string_view op) {
  if (auto same = table().same.find(op); same != table().same.end())
    return findOperator(same->second);
  auto rule = table().byName.find(op);
  return rule == table().byName.end() ? nullptr : &rule->second->op;
}

static Status translate(const Rule &rule, const Attributes &attributes,
                        Node &node) {
  rt::Result<Parameters> parameters = Parameters::parse(rule.op, attributes);
  if (!parameters.isOk())
    return std::move(parameters.status());
  if (!rule.isVariadic)
    DLC_RETURN_IF_ERROR(checkInputs(node, rule.op, *parameters));
  if (node.inputs.empty() && !rule.op.inputs.empty())
    return Status(StatusCode::InvalidArgument,
                  "expected at least 1 input, got none");
  Translation translation(*parameters, node);
  rule.translate(translation);
  DLC_RETURN_IF_ERROR(std::move(translation.status));
  for (const auto &[key, value] : attributes)
    if (isUsers(key))
      node.attributes.emplace(key, value);
  return Status::ok();
}

Status symbol::applyNnvm(std::string_view op, const Attributes &attributes,
                         Node &node) {
  std::string what = node.describe();
  auto rule = table().byName.find(op);
  Status status = rule == table().byName.end()
                      ? applySame(*declarationOfNnvm(op), attributes, node)
                      : translate(*rule->second, attributes, node);
  // That it is unsupported stands first in such messages.
  if (status.isOk() || status.code() == StatusCode::Unsupported)
    return status;
  return std::move(status).withContext(what);
}
