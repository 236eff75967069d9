// SPDX-License-Identifier: Apache-2.0
//
// The attributes of the operations, as the Graph dialect declares them.

#include "dlc/runtime/Kernel/Reference/Reference.h"

#include <algorithm>
#include <iterator>
#include <string>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// The tables: names separated by spaces
//===----------------------------------------------------------------------===//

namespace {
struct Entry {
  std::string_view operation, names;
};
} // namespace

/// Operations that have attributes, sorted.
static constexpr Entry entries[] = {
    {"affine_grid", "align_corners"},
    {"arg_max", "axis keepdims select_last_index"},
    {"arg_min", "axis keepdims select_last_index"},
    {"avg_pool",
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads "
     "strides"},
    {"batch_norm", "epsilon"},
    {"bit_cast", "to"},
    {"cast", "saturate to"},
    {"celu", "alpha"},
    {"col2im", "dilations pads strides"},
    {"compress", "axis"},
    {"concat", "axis"},
    {"conv", "auto_pad channel_block dilations group pads strides"},
    {"conv_transpose",
     "auto_pad dilations group output_padding output_shape pads strides"},
    {"conv_weight_gradient", "dilations group kernel_shape pads strides"},
    {"cumprod", "exclusive reverse"},
    {"cumsum", "exclusive reverse"},
    {"deform_conv", "dilations group offset_group pads strides"},
    {"depth_to_space", "blocksize mode"},
    {"dequantize_linear", "axis block_size"},
    {"dft", "inverse onesided"},
    {"einsum", "equation"},
    {"elu", "alpha"},
    {"eye_like", "dtype k"},
    {"flatten", "axis"},
    {"gather", "axis in_bounds"},
    {"gather_elements", "axis in_bounds"},
    {"gather_nd", "batch_dims in_bounds"},
    {"gelu", "approximate"},
    {"grid_sample", "align_corners mode padding_mode"},
    {"group_norm", "epsilon num_groups"},
    {"gru", "activation_alpha activation_beta activations clip direction "
            "hidden_size layout linear_before_reset"},
    {"hard_sigmoid", "alpha beta"},
    {"hardmax", "axis"},
    {"integer_conv", "auto_pad channel_block dilations group pads strides"},
    {"is_inf", "detect_negative detect_positive"},
    {"layer_norm", "axis epsilon"},
    {"leaky_relu", "alpha"},
    {"log_softmax", "axis"},
    {"lp_pool", "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"lrn", "alpha beta bias size"},
    {"lstm", "activation_alpha activation_beta activations clip direction "
             "hidden_size input_forget layout"},
    {"match_pairs", "limit"},
    {"max_pool", "auto_pad ceil_mode dilations kernel_shape pads strides"},
    {"max_pool_gradient",
     "auto_pad ceil_mode dilations kernel_shape pads strides"},
    {"max_pool_with_indices",
     "auto_pad ceil_mode dilations kernel_shape pads storage_order "
     "strides"},
    {"max_roi_pool", "pooled_shape spatial_scale"},
    {"max_unpool", "kernel_shape pads strides"},
    {"mel_weight_matrix", "dtype"},
    {"mod", "fmod"},
    {"non_max_suppression", "center_point_box"},
    {"one_hot", "axis"},
    {"pad", "mode"},
    {"quantize_linear", "axis block_size precision saturate"},
    {"random_gamma", "stream"},
    {"random_poisson", "stream"},
    {"random_uniform", "stream"},
    {"reduce_max", "keepdims"},
    {"reduce_mean", "keepdims"},
    {"reduce_min", "keepdims"},
    {"reduce_prod", "keepdims"},
    {"reduce_sum", "keepdims"},
    {"replace_gradient", "scaled"},
    {"reshape", "allowzero"},
    {"resize",
     "antialias axes coordinate_transformation_mode cubic_coeff_a "
     "exclude_outside extrapolation_value keep_aspect_ratio_policy mode "
     "nearest_mode"},
    {"resolve_indices", "extents"},
    {"reverse_sequence", "batch_axis time_axis"},
    {"rms_norm", "axis epsilon"},
    {"rnn", "activation_alpha activation_beta activations clip direction "
            "hidden_size layout"},
    {"roi_align",
     "coordinate_transformation_mode mode output_height output_width "
     "sampling_ratio spatial_scale"},
    {"scatter_elements", "axis reduction"},
    {"scatter_nd", "in_bounds reduction"},
    {"selu", "alpha gamma"},
    {"shape", "end start"},
    {"shrink", "bias lambd"},
    {"softmax", "axis"},
    {"space_to_depth", "blocksize"},
    {"split", "axis"},
    {"stft", "onesided"},
    {"suppress_boxes", "center_point_box inclusive"},
    {"swish", "alpha"},
    {"tensor_scatter", "axis mode"},
    {"tfidf_vectorizer",
     "max_gram_length max_skip_count min_gram_length mode ngram_counts "
     "ngram_indexes pool_int64s weights"},
    {"thresholded_relu", "alpha"},
    {"top_k", "axis largest sorted"},
    {"transpose", "perm"},
    {"triangular_solve", "transposed upper"},
    {"trilu", "upper"},
    {"unique", "axis sorted"},
};

/// A name is of one kind in all operations: that of its place here is its place
/// in AttributeValue.
static constexpr std::string_view namesOfKinds[] = {
    // Int
    "align_corners allowzero antialias axis batch_axis batch_dims "
    "block_size blocksize ceil_mode center_point_box channel_block "
    "count_include_pad detect_negative detect_positive dtype end "
    "exclude_outside exclusive fmod group hidden_size in_bounds "
    "inclusive input_forget inverse k keepdims largest layout limit "
    "linear_before_reset max_gram_length max_skip_count min_gram_length "
    "num_groups "
    "offset_group onesided output_height output_width p precision "
    "reverse sampling_ratio saturate scaled select_last_index size "
    "sorted start storage_order stream time_axis to transposed upper",
    // Float
    "alpha beta bias clip cubic_coeff_a epsilon extrapolation_value "
    "gamma lambd spatial_scale",
    // Text
    "activations approximate auto_pad coordinate_transformation_mode "
    "direction equation keep_aspect_ratio_policy mode nearest_mode "
    "padding_mode reduction",
    // Ints
    "axes dilations extents kernel_shape ngram_counts ngram_indexes "
    "output_padding output_shape pads perm pool_int64s pooled_shape "
    "strides",
    // Floats
    "activation_alpha activation_beta weights",
};
static_assert(std::size(namesOfKinds) == std::variant_size_v<AttributeValue>);

static constexpr const char *kinds[] = {"an integer", "a float", "a text",
                                        "integers", "floats"};

//===----------------------------------------------------------------------===//
// Looking up
//===----------------------------------------------------------------------===//

static bool hasName(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    std::string_view first = names.substr(0, names.find(' '));
    if (first == name)
      return true;
    names.remove_prefix(std::min(first.size() + 1, names.size()));
  }
  return false;
}

std::string_view ref::attributeNames(std::string_view operation) {
  const Entry *found =
      std::lower_bound(std::begin(entries), std::end(entries), operation,
                       [](const Entry &entry, std::string_view name) {
                         return entry.operation < name;
                       });
  bool isThere = found != std::end(entries) && found->operation == operation;
  return isThere ? found->names : std::string_view();
}

int ref::attributeKind(std::string_view name) {
  for (size_t kind = 0; kind != std::size(namesOfKinds); ++kind)
    if (hasName(namesOfKinds[kind], name))
      return int(kind);
  return -1;
}

Status ref::checkAttributes(const Operation &operation,
                            const Attributes &attributes) {
  std::string_view names = attributeNames(operation.name);
  for (const auto &[name, value] : attributes) {
    if (!hasName(names, name))
      return makeError(StatusCode::InvalidArgument,
                       "expected attributes of %s, %s, got '%s'",
                       std::string(operation.name).c_str(),
                       names.empty() ? "which has none"
                                     : std::string(names).c_str(),
                       name.c_str());
    if (int kind = attributeKind(name); kind != int(value.index()))
      return makeError(StatusCode::InvalidArgument,
                       "expected attribute '%s' of %s as %s, got %s",
                       name.c_str(), std::string(operation.name).c_str(),
                       kinds[kind], kinds[value.index()]);
  }
  return Status::ok();
}
