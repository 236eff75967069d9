// SPDX-License-Identifier: Apache-2.0

#include "dlc/Training/Initializer.h"

#include "dlc/Training/Text.h"

#include "dlc/runtime/Base/Random.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace dlc;
using namespace dlc::training;
using rt::Status;
using rt::StatusCode;

namespace {
/// One parameter that gets its first value.
struct Target {
  std::string_view name;
  std::span<const int64_t> shape;
  rt::RandomDraws draws;
  std::span<float> out;
  std::optional<double> scale;

  double scaleOr(double fallback) const { return scale.value_or(fallback); }
  Status expect(const std::string &what) const;
};
} // namespace

Status Target::expect(const std::string &what) const {
  std::string text;
  for (int64_t dim : shape)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return Status(StatusCode::InvalidArgument,
                "parameter '" + std::string(name) + "': expected " + what +
                    ", got a shape of " +
                    (text.empty() ? "no dimension" : text));
}

static Status fillConstant(const Target &t, double value) {
  std::ranges::fill(t.out, float(value));
  return Status::ok();
}

static Status fillUniform(const Target &t, double largest) {
  if (largest > 0)
    rt::fillUniform(t.draws, 0, t.out, float(-largest), float(largest));
  else
    std::ranges::fill(t.out, 0.0f);
  return Status::ok();
}

static Status fillNormal(const Target &t, double deviation) {
  rt::fillNormal(t.draws, 0, t.out, 0, float(deviation));
  return Status::ok();
}

/// Values that go in and out of one place of the result.
static std::optional<std::pair<double, double>> fansOf(const Target &t) {
  if (t.shape.size() < 2)
    return std::nullopt;
  double field = 1;
  for (int64_t dim : t.shape.subspan(2))
    field *= double(dim);
  return std::pair(double(t.shape[1]) * field, double(t.shape[0]) * field);
}

/// Glorot and Bengio (AISTATS 2010): uniform, by the mean of both fans.
static Status fillXavier(const Target &t) {
  auto fans = fansOf(t);
  if (!fans)
    return t.expect("at least 2 dimensions for xavier");
  return fillUniform(
      t, std::sqrt(t.scaleOr(3) / ((fans->first + fans->second) / 2)));
}

/// He et al. (ICCV 2015), for rectifiers with this slope: normal, by the mean
/// of both fans, as MXNet's default is.
static Status fillMsra(const Target &t) {
  auto fans = fansOf(t);
  if (!fans)
    return t.expect("at least 2 dimensions for msra");
  double slope = t.scaleOr(0.25);
  double magnitude = 2 / (1 + slope * slope);
  return fillNormal(t,
                    std::sqrt(magnitude / ((fans->first + fans->second) / 2)));
}

/// Saxe et al. (ICLR 2014): rows, or columns where there are fewer, that are
/// orthogonal and of one length. Gram-Schmidt, done twice for the digits.
static Status fillOrthogonal(const Target &t) {
  if (t.shape.size() < 2)
    return t.expect("at least 2 dimensions for orthogonal");
  size_t rows = t.shape[0], columns = rows ? t.out.size() / rows : 0;
  size_t count = std::min(rows, columns), length = std::max(rows, columns);
  std::vector<double> vectors(count * length);
  rt::fillNormal(t.draws, 0, vectors);
  for (size_t i = 0; i != count; ++i) {
    std::span<double> own(vectors.data() + i * length, length);
    auto dot = [&](std::span<const double> other) {
      double sum = 0;
      for (size_t k = 0; k != length; ++k)
        sum += own[k] * other[k];
      return sum;
    };
    for (int pass = 0; pass != 2; ++pass)
      for (size_t j = 0; j != i; ++j) {
        std::span<const double> other(vectors.data() + j * length, length);
        double along = dot(other);
        for (size_t k = 0; k != length; ++k)
          own[k] -= along * other[k];
      }
    double norm = std::sqrt(dot(own));
    for (double &each : own)
      each /= norm;
  }
  double scale = t.scaleOr(1.414);
  for (size_t i = 0; i != rows; ++i)
    for (size_t j = 0; j != columns; ++j)
      t.out[i * columns + j] =
          float(scale * (rows <= columns ? vectors[i * length + j]
                                         : vectors[j * length + i]));
  return Status::ok();
}

/// The weights of a transposed convolution that interpolates.
static Status fillBilinear(const Target &t) {
  if (t.shape.size() != 4)
    return t.expect("4 dimensions for bilinear");
  auto height = t.shape[2], width = t.shape[3];
  double f = std::ceil(double(width) / 2);
  double c = (2 * f - 1 - std::fmod(f, 2)) / (2 * f);
  for (size_t i = 0; i != t.out.size(); ++i) {
    double x = double(int64_t(i) % width);
    double y = double(int64_t(i) / width % height);
    t.out[i] = float((1 - std::abs(x / f - c)) * (1 - std::abs(y / f - c)));
  }
  return Status::ok();
}

/// MXNet's LSTMBias: 0, but for the gate that forgets, which is the second of
/// four.
static Status fillLstmBias(const Target &t) {
  if (t.shape.size() != 1 || t.shape[0] % 4 != 0)
    return t.expect("a vector of four gates for lstmbias");
  std::ranges::fill(t.out, 0.0f);
  size_t length = t.out.size() / 4;
  std::ranges::fill(t.out.subspan(length, length), float(t.scaleOr(1)));
  return Status::ok();
}

namespace {
/// What scales an initializer takes.
enum class Scale { None, Any, Required, AtLeast0, Above0 };

struct Row {
  std::string_view name;
  Status (*fill)(const Target &);
  Scale scale;
};
} // namespace

static constexpr Row rows[] = {
    {"zero", [](const Target &t) { return fillConstant(t, 0); }, Scale::None},
    {"one", [](const Target &t) { return fillConstant(t, 1); }, Scale::None},
    {"constant", [](const Target &t) { return fillConstant(t, *t.scale); },
     Scale::Required},
    {"uniform", [](const Target &t) { return fillUniform(t, t.scaleOr(0.07)); },
     Scale::AtLeast0},
    {"normal", [](const Target &t) { return fillNormal(t, t.scaleOr(0.01)); },
     Scale::AtLeast0},
    {"xavier", fillXavier, Scale::Above0},
    {"msra", fillMsra, Scale::Any},
    {"orthogonal", fillOrthogonal, Scale::Any},
    {"bilinear", fillBilinear, Scale::None},
    {"lstmbias", fillLstmBias, Scale::Any},
};

/// What names say of first values (initializer.py, Initializer.__call__).
static constexpr std::pair<std::string_view, double> endings[] = {
    {"bias", 0},         {"gamma", 1},       {"beta", 0},
    {"moving_mean", 0},  {"moving_var", 1},  {"moving_avg", 0},
    {"running_mean", 0}, {"running_var", 1},
};

static std::optional<double> valueOfName(std::string_view name) {
  for (auto [ending, value] : endings)
    if (name.ends_with(ending))
      return value;
  return std::nullopt;
}

bool dlc::training::tellsFirstValue(std::string_view name) {
  return valueOfName(name).has_value();
}

std::string dlc::training::initializerNames() {
  std::string names;
  for (const Row &row : rows)
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

static const Row *findRow(std::string_view name) {
  for (const Row &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

std::optional<std::string>
dlc::training::check(const InitializerOptions &options) {
  const Row *row = findRow(options.name);
  if (!row)
    return "expected initializer " + initializerNames() + ", got '" +
           options.name + "'";
  if (!options.scale && row->scale == Scale::Required)
    return "expected a scale, which is the value, for initializer '" +
           options.name + "'";
  if (!options.scale)
    return std::nullopt;
  double scale = *options.scale;
  auto expect = [&](const std::string &what) {
    return "expected " + what + " for initializer '" + options.name +
           "', got " + toText(scale);
  };
  if (row->scale == Scale::None)
    return expect("no scale");
  if (!std::isfinite(scale))
    return expect("a finite scale");
  if (row->scale == Scale::Above0 && !(scale > 0))
    return expect("a scale above 0");
  if (row->scale == Scale::AtLeast0 && !(scale >= 0))
    return expect("a scale of at least 0");
  return std::nullopt;
}

Status dlc::training::initialize(const InitializerOptions &options,
                                 std::string_view name,
                                 std::span<const int64_t> shape, uint64_t seed,
                                 uint32_t stream, std::span<float> out) {
  if (std::optional<std::string> problem = check(options))
    return Status(StatusCode::InvalidArgument, *problem);
  Target target{name, shape, {seed, stream, 0}, out, options.scale};
  if (std::optional<double> value = valueOfName(name); value && !options.isOwn)
    return fillConstant(target, *value);
  return findRow(options.name)->fill(target);
}
