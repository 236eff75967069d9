// SPDX-License-Identifier: Apache-2.0
//
// The functions of libcuda.so.1 that we call, with the names that the library
// exports: the driver's ABI is stable, names with _v2 are the versions that
// cuda.h means. They are declared here because a build must not need CUDA;
// test/runtime/Device/CUDA compares them with cuda.h where there is one.

#ifndef DLC_LIB_RUNTIME_DEVICE_CUDA_DRIVER_H
#define DLC_LIB_RUNTIME_DEVICE_CUDA_DRIVER_H

#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace dlc::rt::cuda {

using Code = int;                   ///< CUresult
using DeviceNumber = int;           ///< CUdevice
using Address = unsigned long long; ///< CUdeviceptr
using MemoryHandle = unsigned long long;
using ContextHandle = struct CUctx_st *;
using ModuleHandle = struct CUmod_st *;
using FunctionHandle = struct CUfunc_st *;
using StreamHandle = struct CUstream_st *;
using EventHandle = struct CUevent_st *;
using GraphHandle = struct CUgraph_st *;
using GraphExecHandle = struct CUgraphExec_st *;

// Values of CUresult.
inline constexpr Code success = 0;
inline constexpr Code errorOutOfMemory = 2;
inline constexpr Code errorNoDevice = 100;
inline constexpr Code errorInvalidDevice = 101;
inline constexpr Code errorNoBinary = 209;
inline constexpr Code errorInvalidPtx = 218;
inline constexpr Code errorUnsupportedPtx = 222;
inline constexpr Code errorNotFound = 500;

// Values of CUdevice_attribute and CUfunction_attribute.
inline constexpr int attributeSharedPerBlock = 8;
inline constexpr int attributeMajor = 75;
inline constexpr int attributeMinor = 76;
inline constexpr int attributeSharedOptIn = 97;
inline constexpr int attributeVirtualMemory = 102;
inline constexpr int functionMaxThreads = 0;
inline constexpr int functionMaxDynamicShared = 8;

inline constexpr unsigned streamNonBlocking = 1;
inline constexpr unsigned hostAllocPortable = 1; ///< For all contexts.
inline constexpr unsigned eventDisableTiming = 2;
inline constexpr int captureThreadLocal = 1;

/// CUmemLocation: `type` 1 is a device.
struct Location {
  int type;
  int id;
};
/// CUmemAllocationProp: `type` 1 is memory that stays where it is.
struct AllocationProperties {
  int type;
  int requestedHandleTypes;
  Location location;
  void *win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};
/// CUmemAccessDesc: `flags` 3 is reading and writing.
struct AccessDescription {
  Location location;
  int flags;
};

// X(name of the member, symbol, arguments)
#define DLC_CUDA_FUNCTIONS(X)                                                  \
  X(init, cuInit, (unsigned))                                                  \
  X(driverGetVersion, cuDriverGetVersion, (int *))                             \
  X(getErrorName, cuGetErrorName, (Code, const char **))                       \
  X(getErrorString, cuGetErrorString, (Code, const char **))                   \
  X(deviceGetCount, cuDeviceGetCount, (int *))                                 \
  X(deviceGet, cuDeviceGet, (DeviceNumber *, int))                             \
  X(deviceGetName, cuDeviceGetName, (char *, int, DeviceNumber))               \
  X(deviceGetAttribute, cuDeviceGetAttribute, (int *, int, DeviceNumber))      \
  X(primaryRetain, cuDevicePrimaryCtxRetain, (ContextHandle *, DeviceNumber))  \
  X(primaryRelease, cuDevicePrimaryCtxRelease_v2, (DeviceNumber))              \
  X(contextPush, cuCtxPushCurrent_v2, (ContextHandle))                         \
  X(contextPop, cuCtxPopCurrent_v2, (ContextHandle *))                         \
  X(moduleLoad, cuModuleLoadData, (ModuleHandle *, const void *))              \
  X(moduleUnload, cuModuleUnload, (ModuleHandle))                              \
  X(moduleGetFunction, cuModuleGetFunction,                                    \
    (FunctionHandle *, ModuleHandle, const char *))                            \
  X(functionGetAttribute, cuFuncGetAttribute, (int *, int, FunctionHandle))    \
  X(functionSetAttribute, cuFuncSetAttribute, (FunctionHandle, int, int))      \
  X(canAccessPeer, cuDeviceCanAccessPeer, (int *, DeviceNumber, DeviceNumber)) \
  X(hostAlloc, cuMemHostAlloc, (void **, size_t, unsigned))                    \
  X(hostFree, cuMemFreeHost, (void *))                                         \
  X(memoryInfo, cuMemGetInfo_v2, (size_t *, size_t *))                         \
  X(granularity, cuMemGetAllocationGranularity,                                \
    (size_t *, const AllocationProperties *, int))                             \
  X(addressReserve, cuMemAddressReserve,                                       \
    (Address *, size_t, size_t, Address, unsigned long long))                  \
  X(addressFree, cuMemAddressFree, (Address, size_t))                          \
  X(memoryCreate, cuMemCreate,                                                 \
    (MemoryHandle *, size_t, const AllocationProperties *,                     \
     unsigned long long))                                                      \
  X(memoryRelease, cuMemRelease, (MemoryHandle))                               \
  X(memoryMap, cuMemMap,                                                       \
    (Address, size_t, size_t, MemoryHandle, unsigned long long))               \
  X(memoryUnmap, cuMemUnmap, (Address, size_t))                                \
  X(memorySetAccess, cuMemSetAccess,                                           \
    (Address, size_t, const AccessDescription *, size_t))                      \
  X(streamCreate, cuStreamCreate, (StreamHandle *, unsigned))                  \
  X(streamDestroy, cuStreamDestroy_v2, (StreamHandle))                         \
  X(streamSynchronize, cuStreamSynchronize, (StreamHandle))                    \
  X(streamWaitEvent, cuStreamWaitEvent, (StreamHandle, EventHandle, unsigned)) \
  X(eventCreate, cuEventCreate, (EventHandle *, unsigned))                     \
  X(eventDestroy, cuEventDestroy_v2, (EventHandle))                            \
  X(eventRecord, cuEventRecord, (EventHandle, StreamHandle))                   \
  X(eventSynchronize, cuEventSynchronize, (EventHandle))                       \
  X(eventElapsedTime, cuEventElapsedTime, (float *, EventHandle, EventHandle)) \
  X(copyAsync, cuMemcpyAsync, (Address, Address, size_t, StreamHandle))        \
  X(copyPeerAsync, cuMemcpyPeerAsync,                                          \
    (Address, ContextHandle, Address, ContextHandle, size_t, StreamHandle))    \
  X(launchKernel, cuLaunchKernel,                                              \
    (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned,         \
     unsigned, unsigned, StreamHandle, void **, void **))                      \
  X(captureBegin, cuStreamBeginCapture_v2, (StreamHandle, int))                \
  X(captureEnd, cuStreamEndCapture, (StreamHandle, GraphHandle *))             \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (GraphExecHandle *, GraphHandle, unsigned long long))                      \
  X(graphLaunch, cuGraphLaunch, (GraphExecHandle, StreamHandle))               \
  X(graphDestroy, cuGraphDestroy, (GraphHandle))                               \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExecHandle))

/// The driver, open. Immutable.
class Driver {
public:
  /// Opens libcuda.so.1 and asks it to start. Errors: Unavailable (there is no
  /// driver, it lacks a function, it is too old, it finds no device).
  static Result<std::shared_ptr<const Driver>> open();
  ~Driver();

#define DLC_CUDA_MEMBER(name, symbol, arguments)                               \
  Code(*name) arguments = nullptr;
  DLC_CUDA_FUNCTIONS(DLC_CUDA_MEMBER)
#undef DLC_CUDA_MEMBER

  /// "cuMemCreate failed with CUDA_ERROR_OUT_OF_MEMORY (out of memory)" with
  /// the code that fits.
  Status error(const char *function, Code code) const;

private:
  Driver() = default;
  Status resolve();
  Status start() const;
  void *library = nullptr;
};

} // namespace dlc::rt::cuda

/// Returns from the enclosing function when a call of the driver fails.
#define DLC_CUDA_CHECK(driver, name, ...)                                      \
  do {                                                                         \
    if (::dlc::rt::cuda::Code dlcCode = (driver).name(__VA_ARGS__))            \
        [[unlikely]]                                                           \
      return (driver).error(#name, dlcCode);                                   \
  } while (false)

#endif // DLC_LIB_RUNTIME_DEVICE_CUDA_DRIVER_H
