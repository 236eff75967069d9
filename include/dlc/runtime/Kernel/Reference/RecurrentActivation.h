// SPDX-License-Identifier: Apache-2.0
//
// The activation functions that recurrent operations take by name, for the
// Reference kernel and for gradients. Thread-safe.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_RECURRENTACTIVATION_H
#define DLC_RUNTIME_KERNEL_REFERENCE_RECURRENTACTIVATION_H

#include "dlc/runtime/Base/Status.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace dlc::rt::ref {

/// One activation of ONNX with its parameters.
struct RecurrentActivation {
  std::string_view name; ///< In lower case; static.
  double (*function)(double x, double alpha, double beta) = nullptr;
  double alpha = 0, beta = 0;

  double operator()(double x) const { return function(x, alpha, beta); }
};

/// What the attributes of a layer say.
struct RecurrentActivationNames {
  std::string_view names; ///< Separated by commas; empty means the defaults.
  /// Values that go in order to the activations that have such a parameter.
  std::span<const double> alphas, betas;
};

/// Appends the activations of all directions, of each as many as `defaults` has
/// names. Errors: InvalidArgument (other numbers of names, unknown ones).
Status readRecurrentActivations(const RecurrentActivationNames &given,
                                std::span<const std::string_view> defaults,
                                int64_t directions,
                                std::vector<RecurrentActivation> &activations);

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_RECURRENTACTIVATION_H
