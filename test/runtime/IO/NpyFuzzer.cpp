// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: any bytes as an .npy file.

#include "dlc/runtime/IO/Numpy.h"

using namespace dlc::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto bytes = std::as_bytes(std::span(data, size));
  Result<HostTensor> tensor = parseNpy(bytes, ElementKinds::All);
  if (!tensor.isOk())
    return 0;
  TensorView view = tensor->view();
  if (!tensor->texts) {
    if (view.bytes() != tensor->data.size())
      __builtin_trap();
    return 0;
  }
  if (parseNpy(bytes).isOk())
    __builtin_trap(); // Asked for elements that are no text.
  // No text holds more bytes than the file, and none ends in a zero.
  for (int64_t i = 0; i != view.size(); ++i) {
    std::string_view text = view.as<Text>()[i].view();
    if (text.size() > size || text.ends_with('\0'))
      __builtin_trap();
  }
  return 0;
}
