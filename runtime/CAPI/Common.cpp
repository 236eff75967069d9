// SPDX-License-Identifier: Apache-2.0

#include "dlc-c/Common.h"

#include "dlc/runtime/CAPI/Status.h"

#include <bit>
#include <iterator>

using namespace dlc::rt;

static_assert(int(StatusCode::Unavailable) == DLC_UNAVAILABLE &&
              int(StatusCode::DataLoss) == DLC_DATA_LOSS);

struct DlcError {
  Status status;
};

DlcStatus dlc::rt::wrap(Status status) {
  return status.isOk() ? nullptr : new DlcError{std::move(status)};
}

Status dlc::rt::unwrap(DlcStatus status) {
  std::unique_ptr<DlcError> error(status);
  return error ? std::move(error->status) : Status::ok();
}

DlcStatus dlcStatusCreate(DlcStatusCode code, const char *message) {
  // Any number may come from C.
  auto number = std::bit_cast<int32_t>(code);
  if (number == DLC_OK)
    return nullptr;
  std::string text = message ? message : "";
  if (number > DLC_OK && number <= DLC_UNAVAILABLE)
    return wrap(Status(static_cast<StatusCode>(number), std::move(text)));
  return wrap(Status(StatusCode::InvalidArgument,
                     "expected a code of an error, got " +
                         std::to_string(number) +
                         (text.empty() ? "" : ": " + text)));
}

const char *dlcStatusCodeName(DlcStatusCode code) {
  static constexpr const char *names[] = {
      "ok",          "invalid argument", "not found", "out of memory",
      "unsupported", "data loss",        "internal",  "unavailable"};
  static_assert(std::size(names) == DLC_UNAVAILABLE + 1);
  // Any number may come from C.
  auto number = std::bit_cast<uint32_t>(code);
  return number < std::size(names) ? names[number] : nullptr;
}

DlcStatusCode dlcStatusCode(DlcStatus status) {
  return status ? static_cast<DlcStatusCode>(status->status.code()) : DLC_OK;
}

const char *dlcStatusMessage(DlcStatus status) {
  return status ? status->status.message().c_str() : "";
}

void dlcStatusDestroy(DlcStatus status) { delete status; }

const char *dlcVersion(void) { return DLC_VERSION; }
