// SPDX-License-Identifier: Apache-2.0

#include "Curve.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace dlc::tool;

namespace {
constexpr double width = 720, height = 400, left = 70, right = 20, top = 40,
                 bottom = 50;

/// An axis: values between two ends, maybe by their logarithms.
struct Axis {
  double least = INFINITY, most = -INFINITY;
  bool isLogarithmic = false;

  void take(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  /// From 0 to 1 along the axis.
  double place(double value) const {
    auto scale = [&](double v) { return isLogarithmic ? std::log10(v) : v; };
    double range = scale(most) - scale(least);
    return range > 0 ? (scale(value) - scale(least)) / range : 0.5;
  }
  double valueAt(double place) const {
    if (!isLogarithmic)
      return least + (most - least) * place;
    return std::pow(10, std::log10(least) +
                            (std::log10(most) - std::log10(least)) * place);
  }
};
} // namespace

static std::string format(const char *text, auto... values) {
  char line[512];
  std::snprintf(line, sizeof line, text, values...);
  return line;
}

static std::string escape(const std::string &text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '<'   ? "&lt;"
               : c == '>' ? "&gt;"
               : c == '&' ? "&amp;"
                          : std::string(1, c);
  return escaped;
}

static std::string drawAxes(const Axis &x, const Axis &y) {
  std::string text;
  for (int i = 0; i <= 4; ++i) {
    double place = i / 4.0;
    double at = left + place * (width - left - right);
    double level = height - bottom - place * (height - top - bottom);
    text += format("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' "
                   "stroke='#ddd'/>\n",
                   left, level, width - right, level);
    text += format("<text x='%.1f' y='%.1f' text-anchor='end'>%.3g</text>\n",
                   left - 6, level + 4, y.valueAt(place));
    text += format("<text x='%.1f' y='%.1f' text-anchor='middle'>%.4g</text>\n",
                   at, height - bottom + 18, x.valueAt(place));
  }
  return text;
}

std::string dlc::tool::drawCurves(const std::string &title,
                                  const std::vector<Curve> &curves) {
  static constexpr const char *colours[] = {"#1f77b4", "#d62728", "#2ca02c",
                                            "#9467bd"};
  Axis x, y;
  for (const Curve &curve : curves)
    for (size_t i = 0; i != curve.x.size(); ++i) {
      x.take(curve.x[i]);
      y.take(curve.y[i]);
    }
  y.isLogarithmic = y.least > 0;
  std::string text =
      format("<svg xmlns='http://www.w3.org/2000/svg' "
             "width='%.0f' height='%.0f' font-family='sans-serif' "
             "font-size='12'>\n<rect width='100%%' "
             "height='100%%' fill='white'/>\n",
             width, height);
  text += format("<text x='%.0f' y='22' font-size='15'>", left) +
          escape(title) + "</text>\n" + drawAxes(x, y);
  for (size_t c = 0; c != curves.size(); ++c) {
    const Curve &curve = curves[c];
    const char *colour = colours[c % std::size(colours)];
    text += format("<polyline fill='none' stroke='%s' points='", colour);
    for (size_t i = 0; i != curve.x.size(); ++i)
      text += format(
          "%.1f,%.1f ", left + x.place(curve.x[i]) * (width - left - right),
          height - bottom - y.place(curve.y[i]) * (height - top - bottom));
    text += format("'/>\n<text x='%.0f' y='%.0f' fill='%s'>", left + 10,
                   top + 16 + 16 * double(c), colour) +
            escape(curve.name) + "</text>\n";
  }
  return text + format("<text x='%.0f' y='%.0f'>update</text>\n</svg>\n",
                       width / 2, height - 12);
}
