// SPDX-License-Identifier: Apache-2.0
//
// Learning rates that change from update to update: functions of its number, as
// in MXNet 1.9.1 (python/mxnet/lr_scheduler.py). Plain C++.

#ifndef DLC_TRAINING_LEARNINGRATE_H
#define DLC_TRAINING_LEARNINGRATE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::training {

enum class RateKind {
  Constant,
  Factor,      ///< Times `factor` after every `step` updates.
  MultiFactor, ///< Times `factor` after each of `steps` updates.
  Poly,        ///< Down to `final` as (1 - n / total)^power.
  Cosine,      ///< Down to `final` along half a cosine.
};

/// Updates are counted from 1.
struct RateSchedule {
  RateKind kind = RateKind::Constant;
  double base = 0.01;
  double factor = 0.1;
  int64_t step = 1; ///< Factor.
  /// Factor: not below, and at most `base`; without one 1e-8, or a lower base.
  std::optional<double> least = {};
  std::vector<int64_t> steps = {}; ///< MultiFactor, ascending.
  int64_t total = 1;               ///< Poly and Cosine: updates until `final`.
  double power = 2;
  double final = 0;
  /// The first updates go from `warmUpBegin` to `base` in equal steps; for Poly
  /// and Cosine they are a part of `total`.
  int64_t warmUp = 0;
  double warmUpBegin = 0;
};

/// What is wrong with a schedule, or nothing.
std::optional<std::string> check(const RateSchedule &schedule);

/// The rate of update `number`, at least 1, of a schedule that check() accepts.
double rateOf(const RateSchedule &schedule, int64_t number);

/// "constant", "factor", ...; nullopt for other names.
std::optional<RateKind> rateKindOf(std::string_view name);
std::string rateKindNames();

} // namespace dlc::training

#endif // DLC_TRAINING_LEARNINGRATE_H
