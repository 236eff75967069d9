// SPDX-License-Identifier: Apache-2.0
//
// What a plan must satisfy beyond being a well-formed table.

#ifndef DLC_RUNTIME_ARTIFACT_VALIDATE_H
#define DLC_RUNTIME_ARTIFACT_VALIDATE_H

#include "dlc/abi/Version.h"
#include "dlc/runtime/Base/Status.h"

namespace dlc::abi {
struct Program;
} // namespace dlc::abi

namespace dlc::rt {

/// Checks that every index, offset, size, kind and order in `program` is
/// legal for a file with `header`, so that code behind it need not check:
///   values    a known type, at most DLC_MAX_RANK dimensions, memory inside
///             its section, bytes that match the shape
///   kernels   known kinds of kernels and attributes
///   launches  operands that exist; writes to Arena, Pool and Output alone;
///             static shapes for Generated and Library kernels
///   order     Pool and Output values are written before they are read, and
///             every output is written
///   bindings  unique names; value I of inputs is input I, alike for outputs
///   objects   inside the file
/// `program` is verified as a table. Takes O(size) time. Errors: DataLoss.
Status validatePlan(const abi::Program &program,
                    const DlcArtifactHeader &header);

} // namespace dlc::rt

#endif // DLC_RUNTIME_ARTIFACT_VALIDATE_H
