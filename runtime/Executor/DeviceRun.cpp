// SPDX-License-Identifier: Apache-2.0
//
// Launches on devices with queues: the host queues them in the order of the
// schedule and waits where it, or another queue, needs what they make.

#include "ExecutionState.h"

using namespace dlc::rt;

Status DeviceRun::prepare(const Program::State &program,
                          std::vector<void *> &arguments, bool records) {
  this->program = &program;
  work = &program.work;
  if (!work->isUsed())
    return Status::ok();
  guard.emplace();
  for (uint32_t device : work->queues) {
    Result<std::unique_ptr<DeviceQueue>> queue =
        work->devices[device].device->createQueue();
    if (!queue.isOk())
      return std::move(queue.status());
    queues.push_back(std::move(*queue));
  }
  for (const DeviceWork::Border &border : work->borders) {
    events.emplace_back();
    recordings.emplace_back();
    steps.push_back(border.queue && border.isRecorded && records ? Step::Plain
                                                                 : Step::Never);
    if (!border.isAwaited)
      continue;
    uint32_t device = work->queues[*border.queue];
    Result<std::unique_ptr<DeviceEvent>> event =
        work->devices[device].device->createEvent();
    if (!event.isOk())
      return std::move(event.status());
    events.back() = std::move(*event);
  }
  for (void *&argument : arguments)
    parameters.push_back(&argument);
  // Kernels on a device read its own copy of a constant.
  for (size_t i = 0; i != program.launches.size(); ++i) {
    const LaunchRecord &launch = program.launches[i];
    if (launch.kind != LaunchKind::Queued || launch.queued->isCopy())
      continue;
    const UsedDevice &device =
        work->devices[work->queues[launch.queued->queue]];
    for (uint32_t k = 0; k != launch.argumentCount; ++k) {
      auto known = device.constantAddresses.find(
          program.arguments[launch.firstArgument + k]);
      if (known != device.constantAddresses.end())
        arguments[launch.firstArgument + k] = known->second;
    }
    for (int32_t operand : launch.queued->operands)
      operands.push_back(
          operand < 0 ? nullptr : parameters[launch.firstArgument + operand]);
  }
  return Status::ok();
}

Status DeviceRun::checkProcess() const {
  if (!guard || !guard->isChild()) [[likely]]
    return Status::ok();
  return makeError(StatusCode::Unavailable,
                   "this process is a fork of the one that made the execution, "
                   "in which alone its devices can be used");
}

/// In front of a launch and behind it.
Status DeviceRun::recordTime(const LaunchRecord &record, bool isEnd) {
  const uint32_t queue = record.queued->queue;
  times.resize(queues.size());
  std::unique_ptr<DeviceEvent> &event = times[queue][isEnd];
  if (!event) {
    Device &device = *work->devices[work->queues[queue]].device;
    Result<std::unique_ptr<DeviceEvent>> created =
        device.createEvent(/*isTimed=*/true);
    if (!created.isOk())
      return std::move(created.status());
    event = std::move(*created);
  }
  // Else the time would have in it what it takes to queue the launch.
  if (!isEnd)
    DLC_RETURN_IF_ERROR(queues[queue]->delay());
  return queues[queue]->record(*event);
}

Status DeviceRun::launch(const LaunchRecord &record, bool isTimed) {
  const QueuedLaunch &queued = *record.queued;
  DeviceQueue &queue = *queues[queued.queue];
  if (!queued.isCopy()) {
    if (isTimed)
      DLC_RETURN_IF_ERROR(recordTime(record, /*isEnd=*/false));
    DLC_RETURN_IF_ERROR(
        queued.call
            ? queue.launch(*queued.call, operands.data() + queued.firstOperand)
            : queue.launch(queued.function, queued.grid,
                           parameters.data() + record.firstArgument));
    return isTimed ? recordTime(record, /*isEnd=*/true) : Status::ok();
  }
  void *const *slots = parameters.data() + record.firstArgument;
  void *target = *static_cast<void **>(slots[1]);
  const void *source = *static_cast<void **>(slots[0]);
  const size_t bytes =
      program->values[program->arguments[record.firstArgument]].bytes;
  DLC_RETURN_IF_ERROR(queued.owner
                          ? queue.copyFrom(*queued.owner, target, source, bytes)
                          : queue.copy(target, source, bytes));
  return queued.isAwaited ? queue.synchronize() : Status::ok();
}

/// Waits for what is before `segment`: its queue does, or the host.
Status DeviceRun::begin(uint32_t segment) {
  const DeviceWork::Border &border = work->borders[segment];
  for (uint32_t before : border.awaits) {
    DeviceEvent &event = *events[before];
    DLC_RETURN_IF_ERROR(border.queue ? queues[*border.queue]->wait(event)
                                     : event.synchronize());
  }
  return Status::ok();
}

Status DeviceRun::end(uint32_t segment) {
  const DeviceWork::Border &border = work->borders[segment];
  return border.isAwaited ? queues[*border.queue]->record(*events[segment])
                          : Status::ok();
}

Status DeviceRun::finish(const LaunchRecord &record, uint64_t &nanoseconds) {
  const uint32_t queue = record.queued->queue;
  DLC_RETURN_IF_ERROR(queues[queue]->synchronize());
  if (record.queued->isCopy() || times.empty() || !times[queue][1])
    return Status::ok();
  Result<uint64_t> spent = times[queue][1]->nanosecondsSince(*times[queue][0]);
  if (!spent.isOk())
    return std::move(spent.status());
  nanoseconds = *spent;
  return Status::ok();
}

/// Of all queues, whatever fails: nobody may be at work on memory that the
/// caller has back.
Status DeviceRun::finishAll() {
  Status first;
  for (const std::unique_ptr<DeviceQueue> &queue : queues)
    if (Status status = queue->synchronize(); first.isOk())
      first = std::move(status);
  return first;
}
