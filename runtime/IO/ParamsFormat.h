// SPDX-License-Identifier: Apache-2.0
//
// Shared by the reader and the writer of MXNet's lists of arrays.

#ifndef DLC_RUNTIME_IO_PARAMSFORMAT_H
#define DLC_RUNTIME_IO_PARAMSFORMAT_H

#include "dlc/runtime/IO/Params.h"

namespace dlc::rt {

inline constexpr uint64_t paramsListMagic = 0x112;
inline constexpr uint64_t dictionaryMagic = 0xF7E58D4F05049CB7;
inline constexpr uint64_t tensorMagic = 0xDD5E40F096B4A13F;
inline constexpr uint32_t paramsMagicV1 = 0xF993FAC8;
inline constexpr uint32_t paramsMagicV2 = 0xF993FAC9;
inline constexpr uint32_t paramsMagicV3 = 0xF993FACA;

/// Element types in the order of MXNet's numbers (mshadow/base.h, TypeFlag).
inline constexpr DataType paramsTypes[] = {
    DLC_F32,  DLC_F64, DLC_F16, DLC_U8,  DLC_I32, DLC_I8,  DLC_I64,
    DLC_BOOL, DLC_I16, DLC_U16, DLC_U32, DLC_U64, DLC_BF16};

/// Whether an array of that shape is undefined.
bool isUndefinedShape(ParamsVersion version, const TensorType &type);

/// How many index blocks an array has.
size_t indexBlocksOf(ParamsLayout layout);

/// Checks the blocks of a defined array: shapes, and with them all that
/// indices say. Reports with `code`.
Status checkBlocks(const ParamsArray &array, StatusCode code);

/// Checks that no two arrays have one name. Reports with `code`.
Status checkUniqueNames(std::span<const ParamsArray> arrays, StatusCode code);

} // namespace dlc::rt

#endif // DLC_RUNTIME_IO_PARAMSFORMAT_H
