// SPDX-License-Identifier: Apache-2.0

#include "PartExecutions.h"

using namespace dlc::rt;

Status PartExecutions::create(const Program::State &program,
                              const ExecutionOptions &options) {
  SharedArenas own;
  ExecutionOptions each = options;
  each.arenas = options.arenas ? options.arenas : &own;
  // By rows, several of them are over with a port: the whole tells of it.
  each.tellsPorts = options.tellsPorts && program.isByShape;
  size_t first = 0;
  for (const PartProgram &part : program.parts) {
    Result<std::unique_ptr<Execution>> execution =
        Execution::create(*part.program, each);
    if (!execution.isOk())
      return std::move(execution.status());
    executions.push_back(std::move(*execution));
    observers.emplace_back().first = first;
    first += part.program->launchCount();
  }
  return Status::ok();
}

void PartExecutions::setObserver(LaunchObserver *observer) {
  for (size_t i = 0; i != executions.size(); ++i) {
    observers[i].observer = observer;
    executions[i]->setObserver(observer ? &observers[i] : nullptr);
  }
}

QueueTime PartExecutions::takeQueueTime() {
  QueueTime sum;
  for (const auto &execution : executions) {
    const QueueTime own = execution->takeQueueTime();
    sum.launches += own.launches;
    sum.nanoseconds += own.nanoseconds;
  }
  return sum;
}

const std::vector<std::string> &PartExecutions::remarks() const {
  return executions.front()->remarks();
}
