// SPDX-License-Identifier: Apache-2.0
//
// First values of parameters, as in MXNet 1.9.1 (python/mxnet/initializer.py),
// from random numbers that are functions of a seed and a stream (Philox), not
// MXNet's own. Plain C++.

#ifndef DLC_TRAINING_INITIALIZER_H
#define DLC_TRAINING_INITIALIZER_H

#include "dlc/runtime/Base/Status.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dlc::training {

/// Numbers that are not given are the initializer's defaults.
struct InitializerOptions {
  /// zero, one, constant, uniform, normal, xavier, msra, orthogonal, bilinear
  /// or lstmbias.
  std::string name = "xavier";
  /// constant: the value, which it has to have. uniform: the largest one
  /// (0.07). normal: the deviation (0.01). xavier: the magnitude (3),
  /// orthogonal: the factor (1.414). msra: the slope of the leaky rectifier
  /// (0.25). lstmbias: that of the gate that forgets (1).
  std::optional<double> scale = {};
  /// For one parameter: what its name says counts for nothing.
  bool isOwn = false;
};

/// What is wrong with options, or nothing: the name, a scale that the
/// initializer does not take or that is out of its range.
std::optional<std::string> check(const InitializerOptions &options);

/// Writes a parameter's first value to `out`, row-major in `shape`. Names that
/// end as MXNet's states and vectors do (bias, beta, gamma, moving_mean,
/// running_var, ...) get the zeros or ones that these begin with, whatever the
/// options. `stream` tells parameters apart. Errors, which say what was
/// expected of the shape or the options: InvalidArgument.
rt::Status initialize(const InitializerOptions &options, std::string_view name,
                      std::span<const int64_t> shape, uint64_t seed,
                      uint32_t stream, std::span<float> out);

/// Whether initialize() gives a parameter of this name what such a name says.
bool tellsFirstValue(std::string_view name);

std::string initializerNames();

} // namespace dlc::training

#endif // DLC_TRAINING_INITIALIZER_H
