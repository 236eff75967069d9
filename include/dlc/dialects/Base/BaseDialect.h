// SPDX-License-Identifier: Apache-2.0
//
// The base dialect: device, target and layout attributes.

#ifndef DLC_DIALECTS_BASE_BASEDIALECT_H
#define DLC_DIALECTS_BASE_BASEDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "dlc/dialects/Base/BaseDialect.h.inc"
#include "dlc/dialects/Base/BaseEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dlc/dialects/Base/BaseAttributes.h.inc"

#endif // DLC_DIALECTS_BASE_BASEDIALECT_H
