// SPDX-License-Identifier: Apache-2.0
//
// Devices as text, and whose memory they have.

#ifndef DLC_DIALECTS_BASE_DEVICES_H
#define DLC_DIALECTS_BASE_DEVICES_H

#include "dlc/dialects/Base/BaseDialect.h"

namespace dlc {

/// Reads what toString() writes, "cpu:1"; null for anything else.
DeviceAttr parseDevice(mlir::MLIRContext *context, llvm::StringRef text);

/// Its memory is the host's: cpu:i and null:i.
bool hasHostMemory(DeviceAttr device);

} // namespace dlc

#endif // DLC_DIALECTS_BASE_DEVICES_H
