// SPDX-License-Identifier: Apache-2.0
//
// Runs of executors of parts, and what the devices send each other.

#include "DataParallelState.h"

#include <algorithm>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

/// Sends values to all devices but the first, whose they are; what they have
/// already is not copied.
Status DataParallelExecutor::State::scatter() {
  for (size_t p = 1; p < parts.size(); ++p) {
    const Executor &executor = *parts[p].executor;
    for (size_t i = 0; i != whole.arguments.size(); ++i) {
      Result<NDArray> source =
          isBatched[i] ? parts[p].take(whole.arguments[i]) : whole.arguments[i];
      if (!source.isOk())
        return std::move(source.status());
      DLC_RETURN_IF_ERROR(pushSend(*source, executor.arguments()[i],
                                   parts[p].sentArguments[i], priorityOf(i)));
    }
    for (size_t i = 0; i != whole.auxiliaryStates.size(); ++i)
      DLC_RETURN_IF_ERROR(pushSend(whole.auxiliaryStates[i],
                                   executor.auxiliaryStates()[i],
                                   parts[p].sentStates[i], priorityOf(0)));
  }
  return Status::ok();
}

Status DataParallelExecutor::State::gatherOutputs() {
  if (parts.size() == 1)
    return Status::ok();
  for (const BatchPart &part : parts)
    for (size_t i = 0; i != outputs.size(); ++i) {
      Result<NDArray> target = part.take(outputs[i]);
      if (!target.isOk())
        return std::move(target.status());
      DLC_RETURN_IF_ERROR(
          pushCopy(part.executor->outputs()[i], *target, priorityOf(0)));
    }
  return Status::ok();
}

/// Puts the gradient of a part into its rows of the whole, or adds it to them.
Status DataParallelExecutor::State::joinRows(const BatchPart &part,
                                             size_t argument) {
  Result<NDArray> target = part.take(whole.gradients[argument]);
  if (!target.isOk())
    return std::move(target.status());
  const NDArray &term = part.executor->gradients()[argument];
  int priority = priorityOf(argument);
  if (whole.requests[argument] == GradientRequest::Add)
    return pushSum({&term, 1}, *target, 1, priority);
  return pushCopy(term, *target, priority);
}

Status DataParallelExecutor::State::sumGradients() {
  std::span<const BatchPart> others = std::span(parts).subspan(1);
  for (size_t i = 0; i != whole.gradients.size() && !others.empty(); ++i) {
    if (whole.gradients[i].isNull())
      continue;
    std::vector<NDArray> terms;
    for (const BatchPart &part : others)
      if (isBatched[i])
        DLC_RETURN_IF_ERROR(joinRows(part, i));
      else
        terms.push_back(part.executor->gradients()[i]);
    if (!isBatched[i])
      DLC_RETURN_IF_ERROR(pushSum(terms, whole.gradients[i], 1, priorityOf(i)));
  }
  return Status::ok();
}

Status DataParallelExecutor::State::averageStates() {
  for (size_t i = 0; i != whole.auxiliaryStates.size() && parts.size() > 1;
       ++i) {
    std::vector<NDArray> terms;
    for (const BatchPart &part : std::span(parts).subspan(1))
      terms.push_back(part.executor->auxiliaryStates()[i]);
    DLC_RETURN_IF_ERROR(pushSum(terms, whole.auxiliaryStates[i],
                                static_cast<int>(parts.size()), priorityOf(0)));
  }
  return Status::ok();
}

Result<std::vector<std::vector<NDArray>>>
DataParallelExecutor::State::split(std::span<const NDArray> heads) const {
  std::vector<std::vector<NDArray>> all(parts.size());
  if (heads.empty())
    return all;
  DLC_RETURN_IF_ERROR(checkHeads(*network, outputs, heads));
  for (size_t p = 0; p != parts.size(); ++p)
    for (const NDArray &head : heads) {
      Result<NDArray> mine = head.isNull() ? NDArray() : parts[p].take(head);
      if (!mine.isOk())
        return std::move(mine.status());
      all[p].push_back(std::move(*mine));
    }
  return all;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

bool DataParallelExecutor::State::hasGradients() const {
  return std::ranges::any_of(whole.requests, [](GradientRequest request) {
    return request != GradientRequest::Null;
  });
}

/// For all parts, so that either all of them run or none.
Status DataParallelExecutor::State::compile(ProgramForm form) {
  if (hasMonitor && form != ProgramForm::Backward)
    DLC_RETURN_IF_ERROR(compileOne(form == ProgramForm::Inference
                                       ? ProgramForm::Internals
                                       : ProgramForm::TrainingInternals));
  return compileOne(form);
}

Status DataParallelExecutor::State::compileOne(ProgramForm form) {
  for (BatchPart &part : parts)
    DLC_RETURN_IF_ERROR(part.executor->compile(form));
  return Status::ok();
}

Status DataParallelExecutor::forward(bool isTraining) {
  DLC_RETURN_IF_ERROR(state->compile(isTraining ? ProgramForm::Forward
                                                : ProgramForm::Inference));
  DLC_RETURN_IF_ERROR(state->scatter());
  for (BatchPart &part : state->parts)
    DLC_RETURN_IF_ERROR(part.executor->forward(isTraining));
  DLC_RETURN_IF_ERROR(state->gatherOutputs());
  return isTraining ? state->averageStates() : Status::ok();
}

Status DataParallelExecutor::backward(std::span<const NDArray> heads) {
  auto split = state->split(heads);
  if (!split.isOk())
    return std::move(split.status());
  if (state->hasGradients())
    DLC_RETURN_IF_ERROR(state->compile(ProgramForm::Backward));
  for (size_t p = 0; p != state->parts.size(); ++p)
    DLC_RETURN_IF_ERROR(state->parts[p].executor->backward((*split)[p]));
  return state->sumGradients();
}

Status DataParallelExecutor::forwardBackward(std::span<const NDArray> heads) {
  auto split = state->split(heads);
  if (!split.isOk())
    return std::move(split.status());
  DLC_RETURN_IF_ERROR(state->compile(
      state->hasGradients() ? ProgramForm::Step : ProgramForm::Forward));
  DLC_RETURN_IF_ERROR(state->scatter());
  for (size_t p = 0; p != state->parts.size(); ++p)
    DLC_RETURN_IF_ERROR(state->parts[p].executor->forwardBackward((*split)[p]));
  DLC_RETURN_IF_ERROR(state->gatherOutputs());
  DLC_RETURN_IF_ERROR(state->sumGradients());
  return state->averageStates();
}

//===----------------------------------------------------------------------===//
// Looking inside
//===----------------------------------------------------------------------===//

const Network &DataParallelExecutor::network() const { return *state->network; }
std::span<const BatchRows> DataParallelExecutor::rows() const {
  return state->rows;
}
std::span<const NDArray> DataParallelExecutor::outputs() const {
  return state->outputs;
}
std::span<const NDArray> DataParallelExecutor::arguments() const {
  return state->whole.arguments;
}
std::span<const NDArray> DataParallelExecutor::gradients() const {
  return state->whole.gradients;
}
std::span<const NDArray> DataParallelExecutor::auxiliaryStates() const {
  return state->whole.auxiliaryStates;
}

uint64_t DataParallelExecutor::sentBytes() const {
  return state->sentBytes->load(std::memory_order_relaxed);
}

void DataParallelExecutor::setMonitor(Monitor monitor, bool tellsVariables) {
  state->hasMonitor = !!monitor;
  for (BatchPart &part : state->parts)
    part.executor->setMonitor(monitor, tellsVariables);
}

std::string DataParallelExecutor::describe() const {
  std::string text = state->network->describe();
  for (size_t p = 0; p != state->parts.size(); ++p) {
    const BatchPart &part = state->parts[p];
    text += toString(state->options.devices[p]) + ": rows " +
            std::to_string(part.rows.begin) + " to " +
            std::to_string(part.rows.end) + "\n" +
            part.executor->describePrograms();
  }
  if (state->parts.size() > 1)
    text += "sent " + std::to_string(sentBytes()) + " bytes to devices\n";
  return text;
}
