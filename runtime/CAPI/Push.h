// SPDX-License-Identifier: Apache-2.0
//
// The arguments of functions of the C API that push an operation.

#ifndef DLC_RUNTIME_CAPI_PUSH_H
#define DLC_RUNTIME_CAPI_PUSH_H

#include "Handles.h"
#include "dlc/runtime/CAPI/Options.h"

#include <utility>

namespace dlc::rt {

/// The engine's own list, which has the same layout.
inline Status toList(const DlcVariable *list, int32_t count,
                     VariableList &result) {
  static_assert(sizeof(DlcVariable) == sizeof(Variable));
  if (count < 0)
    return outOfRange("a number of variables", count);
  if (count && !list)
    return missing("variables");
  result = {reinterpret_cast<const Variable *>(list), size_t(count)};
  return Status::ok();
}

/// Null: the defaults. Texts are copied to where the engine keeps them.
inline Status toOptions(Engine &engine, const DlcPushOptions *given,
                        PushOptions &options) {
  if (!given)
    return Status::ok();
  DlcPushOptions known = {
      sizeof(known), DLC_OPERATION_NORMAL, 0, nullptr, nullptr, 0};
  DLC_RETURN_IF_ERROR(readOptions(*given, known));
  if (unsigned(known.property) > DLC_OPERATION_NO_SKIP)
    return outOfRange("a property", known.property);
  options.property = OperationProperty(known.property);
  options.priority = known.priority;
  options.bytes = known.bytes;
  for (auto [text, kept] : {std::pair(known.name, &options.name),
                            std::pair(known.origin, &options.origin)})
    if (text && !(*kept = engine.keepText(text)))
      return makeError(StatusCode::OutOfMemory, "no memory for a name");
  return Status::ok();
}

/// The arguments of a push; an operator gets its context later.
struct PushArguments {
  Context context;
  VariableList reads, writes;
  PushOptions options;

  Status read(Engine &engine, const DlcVariable *givenReads, int32_t readCount,
              const DlcVariable *givenWrites, int32_t writeCount,
              const DlcPushOptions *givenOptions) {
    DLC_RETURN_IF_ERROR(toList(givenReads, readCount, reads));
    DLC_RETURN_IF_ERROR(toList(givenWrites, writeCount, writes));
    return toOptions(engine, givenOptions, options);
  }
  Status read(Engine &engine, DlcContext givenContext,
              const DlcVariable *givenReads, int32_t readCount,
              const DlcVariable *givenWrites, int32_t writeCount,
              const DlcPushOptions *givenOptions) {
    DLC_RETURN_IF_ERROR(toContext(givenContext, context));
    return read(engine, givenReads, readCount, givenWrites, writeCount,
                givenOptions);
  }
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_CAPI_PUSH_H
