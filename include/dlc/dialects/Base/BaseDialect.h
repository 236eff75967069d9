// SPDX-License-Identifier: Apache-2.0
//
// The base dialect: device, target and layout attributes.

#ifndef DLC_DIALECTS_BASE_BASEDIALECT_H
#define DLC_DIALECTS_BASE_BASEDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "dlc/dialects/Base/BaseDialect.h.inc"
#include "dlc/dialects/Base/BaseEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dlc/dialects/Base/BaseAttributes.h.inc"

#include "dlc/dialects/Base/BaseInterfaces.h.inc"

namespace dlc {

/// "cuda:1", as on the command line.
std::string toString(DeviceAttr device);

/// cpu:0: where everything runs that names no device.
DeviceAttr getDefaultDevice(mlir::MLIRContext *context);

/// Whether a kernel that expects `expected` takes `type`: the same, or any
/// shape where it is unranked.
bool isTaken(mlir::Type type, mlir::Type expected);

} // namespace dlc

#endif // DLC_DIALECTS_BASE_BASEDIALECT_H
