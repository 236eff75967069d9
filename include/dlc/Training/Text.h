// SPDX-License-Identifier: Apache-2.0
//
// How messages spell numbers.

#ifndef DLC_TRAINING_TEXT_H
#define DLC_TRAINING_TEXT_H

#include <cmath>
#include <cstdio>
#include <string>

namespace dlc::training {

/// "0.1", "5", "1000000", "nan".
inline std::string toText(double value) {
  if (std::isnan(value)) // Whatever its sign is, which says nothing.
    return "nan";
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

} // namespace dlc::training

#endif // DLC_TRAINING_TEXT_H
