// SPDX-License-Identifier: Apache-2.0
//
// The element types of values: those of tensors in Graph and of memory in Plan.

#ifndef DLC_DIALECTS_BASE_ELEMENTTYPES_TD
#define DLC_DIALECTS_BASE_ELEMENTTYPES_TD

include "mlir/IR/CommonTypeConstraints.td"

defvar Base_SignedTypes = [I8, I16, I32, I64];
defvar Base_UnsignedTypes = [UI8, UI16, UI32, UI64];
defvar Base_IntTypes = Base_SignedTypes # Base_UnsignedTypes;
defvar Base_FloatTypes = [F16, BF16, F32, F64];
defvar Base_NumberTypes = Base_IntTypes # Base_FloatTypes;
defvar Base_PlainTypes = [I1] # Base_NumberTypes;

#endif // DLC_DIALECTS_BASE_ELEMENTTYPES_TD
