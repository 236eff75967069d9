// SPDX-License-Identifier: Apache-2.0
//
// Initializers as the variables of MXNet's networks say them (`__init__`).

#ifndef DLC_TRAINING_INITIALIZERTEXT_H
#define DLC_TRAINING_INITIALIZERTEXT_H

#include "dlc/Training/Initializer.h"

#include "llvm/ADT/StringRef.h"

namespace dlc::training {

/// Reads "zeros" or '["normal", {"sigma": 0.1}]'. Null, with what was expected
/// and found in `problem`, for what is no such text, and for classes and
/// options of MXNet's that are none of ours.
std::optional<InitializerOptions> parseInitializer(llvm::StringRef text,
                                                   std::string &problem);

} // namespace dlc::training

#endif // DLC_TRAINING_INITIALIZERTEXT_H
