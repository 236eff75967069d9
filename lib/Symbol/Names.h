// SPDX-License-Identifier: Apache-2.0
//
// Names with a meaning, and what text may be a name.

#ifndef DLC_LIB_SYMBOL_NAMES_H
#define DLC_LIB_SYMBOL_NAMES_H

#include "dlc/Symbol/Operator.h"
#include "dlc/Symbol/Symbol.h"

#include <array>
#include <string_view>

namespace dlc::symbol {

/// What users say of nodes without underscores; nodes hold `__ctx_group__`.
inline constexpr std::array<std::string_view, 6> kReservedKeys = {
    "ctx_group",       "lr_mult",      "wd_mult",
    "force_mirroring", "mirror_stage", "profiler_scope",
};

/// "1" on nodes of files with NumPy's shapes (is_np_shape): without dimensions
/// is a scalar, not what is unknown. "0" on NumPy's operators of other files.
inline constexpr std::string_view kNumpyShapeKey = "__np_shape__";

/// One that gives scalars: networks of its kind are written with that.
inline bool isNumpyOperator(const Node &node) {
  return node.op && node.op->name.starts_with("_np");
}

/// An error for text that files and C cannot hold: not UTF-8, or a zero inside.
rt::Status checkText(std::string_view what, std::string_view text);

/// checkText() of all keys and values.
rt::Status checkAttributes(const Attributes &attributes);

/// Replaces reserved keys by the names that nodes use: ctx_group, and
/// weight_lr_mult where `op` has an input called weight.
Attributes normalize(const Operator &op, const Attributes &attributes);

/// Moves `__weight_lr_mult__` of a node to its input weight, as `__lr_mult__`,
/// where that is a variable without one of its own.
void giveToInputs(Node &node);

/// Puts the initializers that the operator declares into variables among the
/// inputs of `node` that have none.
void setInitializers(Node &node);

/// InvalidArgument when `node` writes an input that is no variable.
rt::Status checkStates(const Node &node);

/// Gives the inputs of `node` the versions of their variables, after those that
/// it writes; fails as checkStates().
rt::Status setVersions(Node &node);

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_NAMES_H
