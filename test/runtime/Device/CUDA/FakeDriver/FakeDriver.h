// SPDX-License-Identifier: Apache-2.0
//
// What tests ask of the driver that stands for libcuda.so.1. It has no GPU:
// memory is the host's at other addresses, so that neither side can touch the
// other's by mistake; kernels in PTX are interpreted (Ptx.h), machine code is
// refused. Work of a stream is done as late as it may be: when somebody waits
// for it, so that what does not wait sees old data.
//
// The variable DLC_FAKE_CUDA sets the machine up, when cuInit is called:
// "devices=1,capability=90,driver=13000,memory=1073741824,peers=1,
// locked=1073741824", or less of it: with peers=0 no device reaches memory of
// another one, and `locked` are the bytes of the host that may be locked.

#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_FAKEDRIVER_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_FAKEDRIVER_H

#include <cstddef>
#include <functional>

extern "C" {
/// Forgets the log, failures and statistics.
void fakeCudaReset();
/// Lets call `nth` (from 1) of function `symbol` from now on fail with `code`,
/// and all that follow if `isSticky`.
void fakeCudaFail(const char *symbol, int nth, int code, bool isSticky);
/// Functions that were called, a line each, copies with their size, how many
/// devices reach memory, and launches with kernel and grid: "cuLaunchKernel
/// k.add 4x256". A copy of memory of the host that is not locked has
/// "synchronous" behind it, since a driver may hold up the caller until it is
/// done (here it is done late, too, which holds nothing up and hides nothing).
/// One between devices has "through the host" unless the device of its stream
/// reaches the memory of both.
const char *fakeCudaLog();
/// Memory that is mapped, and handles (streams, events, modules, graphs,
/// reservations, locked memory) that exist.
size_t fakeCudaBytes();
size_t fakeCudaHandles();

// For fakes of libraries, which are on the fake driver as NVIDIA's are on its
// own. Notes a call and says with what it is to fail; 201 without a context.
int fakeCudaCall(const char *symbol, const char *detail);
/// Work of a stream, or of what it records. 1 for no stream.
int fakeCudaEnqueue(void *stream, const std::function<int()> &work);
/// Where memory of the device really is; null where none is mapped.
void *fakeCudaMemory(unsigned long long address, size_t bytes);
/// Counts something that exists, among the handles.
void fakeCudaCount(int more);
}

#endif // DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_FAKEDRIVER_H
