// SPDX-License-Identifier: Apache-2.0
//
// A chart of the loss over the updates, as SVG.

#ifndef DLC_TOOLS_DLC_CURVE_H
#define DLC_TOOLS_DLC_CURVE_H

#include <string>
#include <vector>

namespace dlc::tool {

/// One line of the chart; `x` ascends and is as long as `y`.
struct Curve {
  std::string name;
  std::vector<double> x, y;
};

/// The text of an SVG file with the curves over a logarithmic axis where all
/// values are positive. Byte-equal for equal arguments.
std::string drawCurves(const std::string &title,
                       const std::vector<Curve> &curves);

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_CURVE_H
