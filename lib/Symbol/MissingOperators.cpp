// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/MissingOperators.h"

#include "dlc/Frontend/Faults.h"
#include "dlc/Symbol/Operator.h"

#include <algorithm>

using namespace dlc;
using namespace dlc::symbol;

//===-- The table ---------------------------------------------------------===//

/// What is in no network.
static std::vector<MissingOperators> outsideOfNetworks() {
  return {
      {"code of a Python program that no file holds",
       "the same function of MXNet's own operators, exported again",
       {"Custom", "_CustomFunction", "_NDArray", "_Native", "_npi_Custom"}},
      {"an update of trained parameters, which no network holds",
       "dlc train --optimizer",
       {"_adamw_update",
        "_contrib_group_adagrad_update",
        "_mp_adamw_update",
        "_multi_adamw_update",
        "_multi_lamb_update",
        "_multi_mp_adamw_update",
        "_multi_mp_lamb_update",
        "_sparse_adagrad_update",
        "_sparse_adam_update",
        "_sparse_ftrl_update",
        "_sparse_sgd_mom_update",
        "_sparse_sgd_update",
        "adam_update",
        "ftml_update",
        "ftrl_update",
        "lamb_update_phase1",
        "lamb_update_phase2",
        "mp_lamb_update_phase1",
        "mp_lamb_update_phase2",
        "mp_nag_mom_update",
        "mp_sgd_mom_update",
        "mp_sgd_update",
        "multi_lars",
        "multi_mp_sgd_mom_update",
        "multi_mp_sgd_update",
        "multi_sgd_mom_update",
        "multi_sgd_update",
        "nag_mom_update",
        "preloaded_multi_mp_sgd_mom_update",
        "preloaded_multi_mp_sgd_update",
        "preloaded_multi_sgd_mom_update",
        "preloaded_multi_sgd_update",
        "reset_arrays",
        "rmsprop_update",
        "rmspropalex_update",
        "sgd_mom_update",
        "sgd_update",
        "signsgd_update",
        "signum_update"}},
      {"made by MXNet while it runs, and in no file that it saves",
       "the network as it was before",
       {"_CachedOp", "_CachedOpThreadSafe", "_CrossDeviceCopy", "_FusedOp",
        "_FusedOpHelper", "_FusedOpOutHelper", "_NoGradient",
        "_zeros_without_dtype"}},
      {"a function of arrays, which MXNet offers to programs and not to "
       "networks",
       "the arrays of the program that runs the network",
       {"_copyto", "_cvcopyMakeBorder", "_cvimdecode", "_cvimread",
        "_cvimresize", "_imdecode", "_npi_copyto", "_npi_cvimdecode",
        "_npi_cvimread", "_npi_cvimresize", "_npi_share_memory",
        "_onehot_encode", "_set_value", "fill_element_0index"}},
      {"a random change of images before training",
       "the same in the program that makes the examples",
       {"_image_random_brightness", "_image_random_color_jitter",
        "_image_random_contrast", "_image_random_flip_left_right",
        "_image_random_flip_top_bottom", "_image_random_hue",
        "_image_random_lighting", "_image_random_saturation",
        "_npx__image_random_brightness", "_npx__image_random_color_jitter",
        "_npx__image_random_contrast", "_npx__image_random_flip_left_right",
        "_npx__image_random_flip_top_bottom", "_npx__image_random_hue",
        "_npx__image_random_lighting", "_npx__image_random_saturation"}},
      {"a step of making quantised networks, which none of them has",
       "the network that it makes",
       {"_contrib_calibrate_entropy"}},
      {"a macro's text in the sources of MXNet, and no operator",
       "the operators that the macro makes, as dlc-operators lists them",
       {"__name", "_np_atleast_", "_npi_", "_random_pdf_", "_sample_",
        "dirichlet", "distr", "equal", "exponential",
        "generalized_negative_binomial", "greater", "greater_equal", "less",
        "less_equal", "name", "negative_binomial", "not_equal", "poisson"}},
  };
}

/// What MXNet's released builds have no code for, or another form of.
static std::vector<MissingOperators> ofOtherBuilds() {
  return {
      {"code of a library that released builds of MXNet lack",
       "operator FullyConnected of the network before quantisation",
       {"_contrib_intgemm_fully_connected", "_contrib_intgemm_maxabsolute",
        "_contrib_intgemm_prepare_data", "_contrib_intgemm_prepare_weight",
        "_contrib_intgemm_take_weight"}},
      {"an experiment that released builds of MXNet lack",
       "operator dot or broadcast_add",
       {"_contrib_tvm_dot", "_contrib_tvm_dot_fallback", "_contrib_tvm_vadd"}},
      {"a part of the network as another library compiled it",
       "the network saved before optimize_for",
       {"_TensorRT"}},
      {"only GPUs have it in MXNet 1.9.1, so that nothing here tells what it "
       "answers",
       "a product with a constant matrix",
       {"_contrib_count_sketch", "_contrib_fft", "_contrib_ifft"}},
      {"only GPUs have it in MXNet 1.9.1, so that nothing here tells what it "
       "answers",
       "operator _contrib_ROIAlign",
       {"_contrib_DeformablePSROIPooling"}},
  };
}

/// What results or arrays have that symbols cannot say.
static std::vector<MissingOperators> ofOtherArrays() {
  return {
      {"the shape of its result follows from values, and shapes of symbols do "
       "not",
       "operator where, with a result of one shape",
       {"_contrib_boolean_mask", "_npi_boolean_mask", "_npi_nonzero",
        "_npx_nonzero"}},
      {"the shape of its result follows from values, and shapes of symbols do "
       "not",
       "operator _unravel_index, slice or concat, with numbers that are known",
       {"_npi_bincount", "_npi_delete", "_npi_insert_scalar",
        "_npi_insert_slice", "_npi_insert_tensor", "_npi_unique"}},
      {"how an array is stored, where all are dense",
       "operators abs, _greater_scalar and sum",
       {"_contrib_getnnz"}},
      {"a walk over a graph in a sparse array, before a network",
       "the same in the program that makes the examples",
       {"_contrib_dgl_adjacency",
        "_contrib_dgl_csr_neighbor_non_uniform_sample",
        "_contrib_dgl_csr_neighbor_uniform_sample",
        "_contrib_dgl_graph_compact", "_contrib_dgl_subgraph",
        "_contrib_edge_id"}},
      {"a write into a part of an array, which programs do and networks do "
       "not",
       "operator where, concat or scatter_nd",
       {"_crop_assign", "_crop_assign_scalar",
        "_npi_boolean_mask_assign_scalar", "_npi_boolean_mask_assign_tensor",
        "_npi_scatter_set_nd", "_npi_slice_assign", "_npi_slice_assign_scalar",
        "_scatter_set_nd", "_slice_assign", "_slice_assign_scalar"}},
      {"a check of values, which stops a program",
       "the same check before the network",
       {"_contrib_allclose", "_npx_constraint_check"}},
  };
}

/// What there is no rule for yet.
static std::vector<MissingOperators> notWritten() {
  return {
      {"MXNet 1.9.1 ends the process there, so that nothing here tells what it "
       "answers",
       "the network before quantisation",
       {"_contrib_quantize_asym", "_contrib_quantized_rnn"}},
      {"there is no operation that finds singular values, or eigenvalues of "
       "matrices that are not symmetric",
       "operators _npi_eigh and _npi_inv, or the factors as a parameter",
       {"_npi_eig", "_npi_eigvals", "_npi_pinv", "_npi_pinv_scalar_rcond",
        "_npi_svd"}},
      {"there is no rule for images of bytes",
       "the same in the program that makes the examples",
       {"_image_adjust_lighting", "_npx__image_adjust_lighting"}},
      {"there is no rule for it",
       "operators slice, broadcast_mul and sum",
       {"_contrib_hawkesll"}},
  };
}

std::span<const MissingOperators> symbol::missingOperators() {
  static const std::vector<MissingOperators> groups = [] {
    std::vector<MissingOperators> all;
    for (auto part :
         {outsideOfNetworks, ofOtherBuilds, ofOtherArrays, notWritten})
      std::ranges::move(part(), std::back_inserter(all));
    return all;
  }();
  return groups;
}

//===-- Questions ---------------------------------------------------------===//

static const MissingOperators *findGroup(std::string_view name) {
  for (const MissingOperators &group : missingOperators())
    if (std::ranges::find(group.names, name) != group.names.end())
      return &group;
  return nullptr;
}

std::string_view symbol::reasonOfMissing(std::string_view name) {
  const MissingOperators *group = findGroup(name);
  return group ? group->reason : std::string_view();
}

std::string symbol::alternativeTo(std::string_view name) {
  if (const MissingOperators *group = findGroup(name))
    return std::string(group->alternative);
  std::vector<std::string_view> names;
  for (const Operator *op : allOperators()) {
    names.push_back(op->name);
    names.insert(names.end(), op->aliases.begin(), op->aliases.end());
  }
  // The same function in another namespace.
  std::string_view plain = name;
  for (std::string_view prefix :
       {"_contrib_", "_npi_", "_npx_", "_np_", "_sg_mkldnn_", "_sparse_", "_"})
    if (plain.starts_with(prefix)) {
      plain.remove_prefix(prefix.size());
      break;
    }
  std::string_view nearest = frontend::nearestName(name, names);
  if (nearest.empty())
    nearest = frontend::nearestName(plain, names);
  return nearest.empty() ? "" : "operator " + std::string(nearest);
}
