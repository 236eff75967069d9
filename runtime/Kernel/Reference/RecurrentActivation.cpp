// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Kernel/Reference/RecurrentActivation.h"

#include "ShapeRule.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

using namespace dlc::rt;
using namespace dlc::rt::ref;

namespace {
struct NamedActivation {
  std::string_view name; ///< In lower case: ONNX ignores the case.
  double (*function)(double x, double alpha, double beta);
  bool hasAlpha, hasBeta;
  double alpha, beta; ///< Defaults.
};
} // namespace

static const NamedActivation knownActivations[] = {
    {"affine", [](double x, double a, double b) { return a * x + b; }, true,
     true, 1, 0},
    {"elu",
     [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; },
     true, false, 1, 0},
    {"hardsigmoid",
     [](double x, double a, double b) {
       return std::fmin(std::fmax(a * x + b, 0), 1);
     },
     true, true, 0.2, 0.5},
    {"leakyrelu", [](double x, double a, double) { return x < 0 ? a * x : x; },
     true, false, 0.01, 0},
    {"relu", [](double x, double, double) { return x < 0 ? 0 : x; }, false,
     false, 0, 0},
    {"scaledtanh",
     [](double x, double a, double b) { return a * std::tanh(b * x); }, true,
     true, 1, 1},
    {"sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(-x)); },
     false, false, 0, 0},
    {"softplus",
     [](double x, double, double) {
       return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
     },
     false, false, 0, 0},
    {"softsign",
     [](double x, double, double) { return x / (1 + std::fabs(x)); }, false,
     false, 0, 0},
    {"tanh", [](double x, double, double) { return std::tanh(x); }, false,
     false, 0, 0},
    {"thresholdedrelu",
     [](double x, double a, double) { return x >= a ? x : 0; }, true, false, 1,
     0},
};

static const NamedActivation *findActivation(std::string_view name) {
  std::string lower(name);
  for (char &c : lower)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  auto it = std::ranges::find(knownActivations, lower, &NamedActivation::name);
  return it == std::end(knownActivations) ? nullptr : it;
}

static std::vector<std::string_view> splitNames(std::string_view names) {
  std::vector<std::string_view> parts;
  while (!names.empty()) {
    size_t comma = std::min(names.find(','), names.size());
    parts.push_back(names.substr(0, comma));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return parts;
}

/// Takes the next value of `values`, or `fallback` when there are no more.
static double takeNext(std::span<const double> &values, double fallback) {
  if (values.empty())
    return fallback;
  double value = values.front();
  values = values.subspan(1);
  return value;
}

Status
ref::readRecurrentActivations(const RecurrentActivationNames &given,
                              std::span<const std::string_view> defaults,
                              int64_t directions,
                              std::vector<RecurrentActivation> &activations) {
  std::vector<std::string_view> names = splitNames(given.names);
  for (int64_t i = 0; given.names.empty() && i < directions; ++i)
    names.insert(names.end(), defaults.begin(), defaults.end());
  size_t wanted = defaults.size() * directions;
  if (names.size() != wanted)
    return DLC_INVALID("attribute activations: expected %zu names, got %zu",
                       wanted, names.size());
  std::span<const double> alphas = given.alphas, betas = given.betas;
  for (std::string_view name : names) {
    const NamedActivation *known = findActivation(name);
    if (!known)
      return DLC_INVALID("attribute activations: expected the name of an "
                         "activation, got \"%s\"",
                         std::string(name).c_str());
    RecurrentActivation activation{known->name, known->function, known->alpha,
                                   known->beta};
    if (known->hasAlpha)
      activation.alpha = takeNext(alphas, known->alpha);
    if (known->hasBeta)
      activation.beta = takeNext(betas, known->beta);
    activations.push_back(activation);
  }
  return Status::ok();
}
