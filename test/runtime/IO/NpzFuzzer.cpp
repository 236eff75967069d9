// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: any bytes as an .npz archive.

#include "dlc/runtime/IO/Numpy.h"

using namespace dlc::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto tensors =
      parseNpz(std::as_bytes(std::span(data, size)), ElementKinds::All);
  if (!tensors.isOk())
    return 0;
  for (const NamedTensor &member : *tensors)
    if (!member.tensor.texts &&
        member.tensor.view().bytes() != member.tensor.data.size())
      __builtin_trap();
  return 0;
}
