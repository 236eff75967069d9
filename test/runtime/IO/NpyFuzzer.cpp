// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: any bytes as an .npy file.

#include "dlc/runtime/IO/Numpy.h"

using namespace dlc::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<HostTensor> tensor = parseNpy(std::as_bytes(std::span(data, size)));
  if (tensor.isOk() && tensor->view().bytes() != tensor->data.size())
    __builtin_trap();
  return 0;
}
