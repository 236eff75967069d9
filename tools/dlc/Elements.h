// SPDX-License-Identifier: Apache-2.0
//
// Elements of tensors as numbers, and in another type.

#ifndef DLC_TOOLS_DLC_ELEMENTS_H
#define DLC_TOOLS_DLC_ELEMENTS_H

#include "Command.h"

namespace dlc::tool {

/// Element `i` as a double, which holds every element of all types but large
/// 64-bit integers; nullopt of types that are no numbers.
std::optional<double> numberAt(const rt::TensorView &tensor, size_t i);

/// Whether all elements are finite, as those of no floats are.
bool isFinite(const HostTensor &tensor);

/// Gives the elements another type. Of numbers, types of floats take the
/// nearest; integers must stay what they are. Throws a Failure with `what` in
/// front ("a.npz: expected 'label'") where that cannot be.
void convertElements(HostTensor &tensor, rt::DataType type,
                     const std::string &what);

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_ELEMENTS_H
