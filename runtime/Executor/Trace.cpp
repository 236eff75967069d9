// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Executor/Observer.h"

#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Executor/Program.h"

using namespace dlc::rt;

/// A row for each stream of a device, where launches follow each other.
TraceRecorder::TraceRecorder(const Program &program, Profiler &profiler)
    : profiler(profiler), waitName(profiler.textId("wait")),
      threadRows(new std::atomic<uint32_t>[WorkerPool::maxThreads]()) {
  for (size_t i = 0; i != program.launchCount(); ++i) {
    LaunchInfo info = program.launch(i);
    ProfileEvent event;
    event.kind = info.isCopy ? ProfileKind::Copy : ProfileKind::Launch;
    event.device = info.device;
    event.name = profiler.textId(info.label.empty() ? info.kernel : info.label);
    event.row = profiler.textId("stream " + std::to_string(info.stream));
    event.detail = profiler.textId(info.kernel);
    event.flops = info.flops;
    event.bytes = info.bytes;
    declared.push_back(event);
  }
  launches = declared;
}

void TraceRecorder::onLaunch(size_t launch, unsigned, uint64_t begin,
                             uint64_t end) {
  ProfileEvent event = launches[launch];
  event.begin = begin;
  event.end = end;
  profiler.add(event);
  launches[launch] = declared[launch];
}

void TraceRecorder::onCall(size_t launch, const CallInfo &call) {
  launches[launch].flops = call.flops;
  launches[launch].bytes = call.bytes;
  if (!call.entry.empty())
    launches[launch].detail = profiler.textId(std::string(call.entry));
  if (call.sum)
    launches[*call.sum].flops = launches[*call.sum].bytes = 0;
}

void TraceRecorder::onWait(unsigned thread, uint64_t begin, uint64_t end) {
  ProfileEvent event;
  event.begin = begin;
  event.end = end;
  event.kind = ProfileKind::Wait;
  event.name = waitName;
  event.row = rowOf(thread);
  profiler.add(event);
}

uint32_t TraceRecorder::rowOf(unsigned thread) {
  // Relaxed: a number, which two threads would find alike.
  uint32_t row = threadRows[thread].load(std::memory_order_relaxed);
  if (!row) {
    row = profiler.textId("thread " + std::to_string(thread));
    threadRows[thread].store(row, std::memory_order_relaxed);
  }
  return row;
}

void TraceRecorder::onMemory(Context device, uint64_t bytes) {
  profiler.addMemory(device, bytes);
}
