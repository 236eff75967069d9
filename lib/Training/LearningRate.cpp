// SPDX-License-Identifier: Apache-2.0

#include "dlc/Training/LearningRate.h"

#include "dlc/Training/Text.h"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace dlc::training;

static constexpr std::pair<std::string_view, RateKind> kinds[] = {
    {"constant", RateKind::Constant},
    {"factor", RateKind::Factor},
    {"multifactor", RateKind::MultiFactor},
    {"poly", RateKind::Poly},
    {"cosine", RateKind::Cosine}};

std::optional<RateKind> dlc::training::rateKindOf(std::string_view name) {
  for (auto [known, kind] : kinds)
    if (known == name)
      return kind;
  return std::nullopt;
}

std::string dlc::training::rateKindNames() {
  std::string names;
  for (auto [name, kind] : kinds)
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

std::optional<std::string> dlc::training::check(const RateSchedule &schedule) {
  auto expect = [](const std::string &what, double got) {
    return "expected " + what + ", got " + toText(got);
  };
  if (!(schedule.base > 0) || !std::isfinite(schedule.base))
    return expect("a learning rate above 0", schedule.base);
  if (schedule.warmUp < 0)
    return expect("a warm-up of at least 0 updates", double(schedule.warmUp));
  if (!(schedule.warmUpBegin >= 0 && schedule.warmUpBegin <= schedule.base))
    return expect("a warm-up that begins between 0 and the learning rate",
                  schedule.warmUpBegin);
  bool isFactor = schedule.kind == RateKind::Factor ||
                  schedule.kind == RateKind::MultiFactor;
  if (isFactor && !(schedule.factor > 0 && schedule.factor <= 1))
    return expect("a factor above 0 and at most 1", schedule.factor);
  if (schedule.kind == RateKind::Factor && schedule.step < 1)
    return expect("a step of at least 1 update", double(schedule.step));
  if (schedule.kind == RateKind::MultiFactor) {
    if (schedule.steps.empty())
      return std::string("expected the updates at which the rate changes");
    for (size_t i = 0; i != schedule.steps.size(); ++i)
      if (schedule.steps[i] < 1 ||
          (i && schedule.steps[i] <= schedule.steps[i - 1]))
        return expect("ascending updates at which the rate changes",
                      double(schedule.steps[i]));
  }
  bool isTimed =
      schedule.kind == RateKind::Poly || schedule.kind == RateKind::Cosine;
  if (isTimed && schedule.total <= schedule.warmUp)
    return expect("more updates than those of the warm-up, " +
                      std::to_string(schedule.warmUp),
                  double(schedule.total));
  if (isTimed && !(schedule.final >= 0 && schedule.final <= schedule.base))
    return expect("a last rate between 0 and the learning rate",
                  schedule.final);
  if (schedule.kind == RateKind::Poly &&
      !(schedule.power >= 0 && std::isfinite(schedule.power)))
    return expect("a finite power of at least 0", schedule.power);
  if (schedule.kind == RateKind::Factor && schedule.least &&
      !(*schedule.least >= 0 && *schedule.least <= schedule.base))
    return expect("a least rate between 0 and the learning rate",
                  *schedule.least);
  return std::nullopt;
}

double dlc::training::rateOf(const RateSchedule &s, int64_t number) {
  if (number < s.warmUp)
    return s.warmUpBegin +
           (s.base - s.warmUpBegin) * double(number) / double(s.warmUp);
  double part =
      double(std::min(number, s.total) - s.warmUp) / double(s.total - s.warmUp);
  switch (s.kind) {
  case RateKind::Constant:
    break;
  case RateKind::Factor: {
    double decays = double((number - 1) / s.step);
    return std::max(s.base * std::pow(s.factor, decays),
                    s.least.value_or(std::min(1e-8, s.base)));
  }
  case RateKind::MultiFactor: {
    auto passed = std::lower_bound(s.steps.begin(), s.steps.end(), number);
    return s.base * std::pow(s.factor, double(passed - s.steps.begin()));
  }
  case RateKind::Poly:
    return s.final + (s.base - s.final) * std::pow(1 - part, s.power);
  case RateKind::Cosine:
    return s.final +
           (s.base - s.final) * (1 + std::cos(std::numbers::pi * part)) / 2;
  }
  return s.base;
}
