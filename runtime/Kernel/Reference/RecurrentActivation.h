// SPDX-License-Identifier: Apache-2.0
//
// The activation functions that recurrent operations take by name.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_RECURRENTACTIVATION_H
#define DLC_RUNTIME_KERNEL_REFERENCE_RECURRENTACTIVATION_H

#include "dlc/runtime/Kernel/Reference/Reference.h"

namespace dlc::rt::ref {

/// One activation with its parameters.
struct RecurrentActivation {
  double (*function)(double x, double alpha, double beta) = nullptr;
  double alpha = 0, beta = 0;

  double operator()(double x) const { return function(x, alpha, beta); }
};

/// Reads attributes activations (names separated by commas; empty means
/// `defaults` for each direction), activation_alpha and activation_beta, whose
/// values go in order to the activations that have such a parameter.
Status readRecurrentActivations(const Attributes &attributes,
                                std::span<const std::string_view> defaults,
                                int64_t directions,
                                std::vector<RecurrentActivation> &activations);

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_RECURRENTACTIVATION_H
