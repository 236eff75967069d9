// SPDX-License-Identifier: Apache-2.0
//
// What all engines ask of their arguments.

#ifndef DLC_RUNTIME_ENGINE_CHECK_H
#define DLC_RUNTIME_ENGINE_CHECK_H

#include "HandleTable.h"

#include "dlc/runtime/Engine/Engine.h"

#include <algorithm>

namespace dlc::rt {

Status refuseVariable(Variable variable);
Status refuseOperator(Operator operation);
Status refuseDuplicate(Variable variable);
Status refuseContext(Context context);
Status refuseTask(); ///< An empty one: its function found no memory.
Status refuseClosed();
Status refuseStopped();
Status refuseChild();
Status refuseInside(const char *what); ///< A verb: inside an operation.
/// `holder`: the operation, for people; "" for none.
Status refuseRelease(const std::string &holder, Variable variable);
Status refuseCompleted(); ///< A completion that has come before.
Status refuseGivenUp();   ///< One that came too late.

/// Whether operations run whatever became of their inputs.
constexpr bool isNeverSkipped(OperationProperty property) {
  return property == OperationProperty::NoSkip ||
         property == OperationProperty::DeleteVariable;
}

/// Variables of one operation.
inline constexpr size_t maxVariables = 1 << 16;

/// Finds a number that comes twice among those that are fed to it, mostly
/// without a comparison: 256 bits say which low bytes have come.
class DuplicateFinder {
public:
  /// For more numbers too many of the bits are set.
  static constexpr size_t few = 64;

  /// True when `index` may have come before.
  bool mayRepeat(uint32_t index) {
    uint64_t &word = seen[index >> 6 & 3];
    uint64_t bit = uint64_t(1) << (index & 63);
    bool isSeen = word & bit;
    word |= bit;
    return isSeen;
  }

private:
  uint64_t seen[4] = {};
};

/// That no variable comes twice, in time linear in their number. Of existing
/// ones, whose index says which. Errors: InvalidArgument; OutOfMemory, beyond
/// 256 of them.
Status checkDistinct(const VariableList &reads, const VariableList &writes);

/// That the variables of both lists exist in `table` and that none comes twice.
template <typename State>
Status checkVariables(const HandleTable<State> &table,
                      const VariableList &reads, const VariableList &writes) {
  if (reads.size() > maxVariables || writes.size() > maxVariables)
    return makeError(StatusCode::InvalidArgument,
                     "expected at most %zu variables, got %zu", maxVariables,
                     std::max(reads.size(), writes.size()));
  bool areFew = reads.size() + writes.size() <= DuplicateFinder::few;
  DuplicateFinder finder;
  auto check = [&](const Variable &variable, const VariableList &list,
                   const VariableList &before) {
    if (!table.isCurrent(variable.index, variable.stamp))
      return refuseVariable(variable);
    if (!areFew || !finder.mayRepeat(variable.index))
      return Status::ok();
    for (const Variable *other = list.begin(); other != &variable; ++other)
      if (*other == variable)
        return refuseDuplicate(variable);
    for (const Variable &other : before)
      if (other == variable)
        return refuseDuplicate(variable);
    return Status::ok();
  };
  for (const Variable &variable : writes)
    DLC_RETURN_IF_ERROR(check(variable, writes, {}));
  for (const Variable &variable : reads)
    DLC_RETURN_IF_ERROR(check(variable, reads, writes));
  return areFew ? Status::ok() : checkDistinct(reads, writes);
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_CHECK_H
