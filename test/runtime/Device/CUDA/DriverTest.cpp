// SPDX-License-Identifier: Apache-2.0
//
// Our declarations of the driver's functions against those of cuda.h, which
// this machine has: by the compiler.

#include "runtime/Device/CUDA/Driver.h"

#include "Alike.h"

#include <cuda.h>
#include <gtest/gtest.h>

using namespace dlc::rt::cuda;
using dlc::rt::test::Alike;

#define DLC_CUDA_COMPARE(name, symbol, arguments)                              \
  static_assert(Alike<decltype(Driver::name), decltype(&::symbol)>::value,     \
                #symbol);
DLC_CUDA_FUNCTIONS(DLC_CUDA_COMPARE)

static_assert(sizeof(AllocationProperties) == sizeof(CUmemAllocationProp));
static_assert(offsetof(AllocationProperties, location) ==
              offsetof(CUmemAllocationProp, location));
static_assert(sizeof(AccessDescription) == sizeof(CUmemAccessDesc));
static_assert(offsetof(AccessDescription, flags) ==
              offsetof(CUmemAccessDesc, flags));
static_assert(sizeof(Location) == sizeof(CUmemLocation));

TEST(Driver, ConstantsAreThoseOfTheHeader) {
  EXPECT_EQ(errorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(errorNoDevice, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(errorInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(errorNoBinary, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(errorInvalidPtx, CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(errorUnsupportedPtx, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(errorNotFound, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(hostAllocPortable, unsigned(CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_EQ(attributeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(attributeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(attributeSharedOptIn,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(attributeVirtualMemory,
            CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
  EXPECT_EQ(functionMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  EXPECT_EQ(functionMaxDynamicShared,
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(streamNonBlocking, unsigned(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(eventDisableTiming, unsigned(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(captureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(1, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(1, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(3, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(1, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
}
