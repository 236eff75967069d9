// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Status.h"

#include <cstdarg>
#include <cstdio>

using namespace dlc::rt;

const std::string &Status::message() const {
  static const std::string empty;
  return state ? state->message : empty;
}

Status Status::withContext(std::string_view context) && {
  if (state)
    state->message.insert(0, std::string(context) + ": ");
  return std::move(*this);
}

Status dlc::rt::makeError(StatusCode code, const char *format, ...) {
  va_list args, copy;
  va_start(args, format);
  va_copy(copy, args);
  int size = std::vsnprintf(nullptr, 0, format, args);
  va_end(args);
  std::string message(size > 0 ? size : 0, '\0');
  std::vsnprintf(message.data(), message.size() + 1, format, copy);
  va_end(copy);
  return Status(code, std::move(message));
}
