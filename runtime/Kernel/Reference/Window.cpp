// SPDX-License-Identifier: Apache-2.0

#include "Window.h"

#include "ShapeRule.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

static Status checkExtent(const char *name, int64_t value, int64_t least) {
  if (value >= least && value <= INT32_MAX)
    return Status::ok();
  return DLC_INVALID("attribute %s: expected values in [%" PRId64
                     ", 2^31), got %" PRId64,
                     name, least, value);
}

Status ref::readExtents(const Attributes &attributes, const char *name,
                        int64_t rank, int64_t defaultValue, int64_t least,
                        Window::Extents &values) {
  values.fill(defaultValue);
  std::span<const int64_t> given = attributes.getInts(name);
  if (given.empty())
    return Status::ok();
  if (static_cast<int64_t>(given.size()) != rank)
    return DLC_INVALID("attribute %s: expected %" PRId64 " values, got %zu",
                       name, rank, given.size());
  for (int64_t d = 0; d < rank; ++d) {
    DLC_RETURN_IF_ERROR(checkExtent(name, given[d], least));
    values[d] = given[d];
  }
  return Status::ok();
}

/// `pads` holds all begins, then all ends.
static Status readPads(const Attributes &attributes, Window &window) {
  window.padBegin.fill(0);
  window.padEnd.fill(0);
  std::span<const int64_t> pads = attributes.getInts("pads");
  if (pads.empty())
    return Status::ok();
  if (static_cast<int64_t>(pads.size()) != 2 * window.rank)
    return DLC_INVALID("attribute pads: expected %" PRId64 " values, got %zu",
                       2 * window.rank, pads.size());
  for (int64_t pad : pads)
    DLC_RETURN_IF_ERROR(checkExtent("pads", pad, 0));
  std::copy_n(pads.begin(), window.rank, window.padBegin.begin());
  std::copy_n(pads.begin() + window.rank, window.rank, window.padEnd.begin());
  return Status::ok();
}

static Status readAutoPad(const Attributes &attributes,
                          Window::AutoPad &autoPad) {
  std::string_view name = attributes.getString("auto_pad", "NOTSET");
  if (name == "NOTSET")
    autoPad = Window::AutoPad::NotSet;
  else if (name == "VALID")
    autoPad = Window::AutoPad::Valid;
  else if (name == "SAME_UPPER")
    autoPad = Window::AutoPad::SameUpper;
  else if (name == "SAME_LOWER")
    autoPad = Window::AutoPad::SameLower;
  else
    return DLC_INVALID("attribute auto_pad: expected NOTSET, VALID, "
                       "SAME_UPPER or SAME_LOWER, got \"%s\"",
                       std::string(name).c_str());
  return Status::ok();
}

Status ref::readWindow(const Attributes &attributes, int64_t rank,
                       Window &window) {
  if (rank < 0 || rank > DLC_MAX_RANK)
    return DLC_INVALID("expected at most %d spatial dims, got %" PRId64,
                       DLC_MAX_RANK, rank);
  window.rank = rank;
  DLC_RETURN_IF_ERROR(
      readExtents(attributes, "strides", rank, 1, 1, window.strides));
  DLC_RETURN_IF_ERROR(
      readExtents(attributes, "dilations", rank, 1, 1, window.dilations));
  DLC_RETURN_IF_ERROR(readPads(attributes, window));
  DLC_RETURN_IF_ERROR(readAutoPad(attributes, window.autoPad));
  if (window.autoPad != Window::AutoPad::NotSet) {
    window.padBegin.fill(0);
    window.padEnd.fill(0);
  }
  return Status::ok();
}

std::optional<int64_t> ref::spanOf(const Window &window, int64_t d) {
  int64_t span;
  if (__builtin_mul_overflow(window.kernel[d] - 1, window.dilations[d],
                             &span) ||
      __builtin_add_overflow(span, 1, &span))
    return std::nullopt;
  return span;
}

static bool isSame(Window::AutoPad autoPad) {
  return autoPad == Window::AutoPad::SameUpper ||
         autoPad == Window::AutoPad::SameLower;
}

/// ceil(input / stride) positions; the padding that this takes is split
/// evenly, its odd element at the end (upper) or the begin (lower).
static Status countSame(Window &window, int64_t d, int64_t input, int64_t span,
                        int64_t &positions) {
  int64_t stride = window.strides[d], total;
  positions = input / stride + (input % stride != 0);
  int64_t last = positions ? (positions - 1) * stride : 0; // below input
  if (__builtin_add_overflow(last, span, &total))
    return DLC_INVALID("dimension %" PRId64 " of the window overflows", d);
  total = std::max<int64_t>(0, total - input);
  bool upper = window.autoPad == Window::AutoPad::SameUpper;
  window.padBegin[d] = upper ? total / 2 : total - total / 2;
  window.padEnd[d] = total - window.padBegin[d];
  return Status::ok();
}

Status ref::countPositions(Window &window, int64_t d, int64_t input,
                           bool ceilMode, int64_t &positions) {
  positions = kUnknownDim;
  if (window.kernel[d] == 0)
    return DLC_INVALID(
        "expected a kernel of at least 1 in spatial dim %" PRId64 ", got 0", d);
  if (input < 0 || window.kernel[d] < 0)
    return Status::ok();
  std::optional<int64_t> span = spanOf(window, d);
  int64_t padded;
  if (!span || __builtin_add_overflow(
                   input, window.padBegin[d] + window.padEnd[d], &padded))
    return DLC_INVALID("dimension %" PRId64 " of the window overflows", d);
  if (isSame(window.autoPad))
    return countSame(window, d, input, *span, positions);
  // Rounded up, a window that is not much too large is one.
  int64_t stride = window.strides[d], room = padded - *span;
  const bool isOne = ceilMode && room < 0 && room > -stride;
  if (room < 0 && !isOne)
    return DLC_INVALID("expected a window of at most %" PRId64
                       ", the padded extent of spatial dim %" PRId64
                       ", got %" PRId64,
                       padded, d, *span);
  positions = room / stride + 1;
  if (!ceilMode)
    return Status::ok();
  positions += room > 0 && room % stride != 0;
  // As ONNX and PyTorch: a last window within the end padding is dropped.
  int64_t begun = input + window.padBegin[d];
  if (positions > begun / stride + (begun % stride != 0))
    --positions;
  return Status::ok();
}
