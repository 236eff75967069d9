// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Device/Context.h"

#include <charconv>
#include <iterator>

using namespace dlc::rt;

/// In the order of DeviceKind.
static constexpr std::string_view kindNames[] = {"null", "cpu", "cuda",
                                                 "cpu_pinned", "cpu_shared"};
static_assert(std::size(kindNames) == deviceKindCount);

std::string_view dlc::rt::nameOf(DeviceKind kind) {
  return unsigned(kind) < deviceKindCount ? kindNames[unsigned(kind)]
                                          : "invalid";
}

std::string dlc::rt::toString(Context context) {
  return std::string(nameOf(context.kind)) + ":" +
         std::to_string(context.index);
}

static Status noDevice(std::string_view text) {
  return makeError(StatusCode::InvalidArgument,
                   "expected a device such as cpu, cpu_pinned, cpu_shared, "
                   "cuda:0 or null:1, got '%.*s'",
                   int(text.size()), text.data());
}

Result<Context> Context::parse(std::string_view text) {
  size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon);
  Context context;
  unsigned kind = 0;
  while (kind != deviceKindCount && kindNames[kind] != name)
    ++kind;
  if (kind == deviceKindCount)
    return noDevice(text);
  context.kind = DeviceKind(kind);
  if (colon == text.npos)
    return context;
  const char *end = text.data() + text.size();
  auto [rest, error] =
      std::from_chars(text.data() + colon + 1, end, context.index);
  if (error != std::errc() || rest != end || context.index < 0)
    return noDevice(text);
  return context;
}
