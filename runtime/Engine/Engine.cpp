// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Engine/Engine.h"

#include "Core.h"
#include "Naive.h"

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

Status dlc::rt::refuseVariable(Variable variable) {
  if (!variable)
    return makeError(StatusCode::InvalidArgument,
                     "expected a variable, got null");
  return makeError(StatusCode::InvalidArgument,
                   "expected a variable of this engine, got one that was "
                   "deleted or belongs to another (%u/%08x)",
                   variable.index, variable.stamp);
}

Status dlc::rt::refuseOperator(Operator operation) {
  if (!operation)
    return makeError(StatusCode::InvalidArgument,
                     "expected an operator, got null");
  return makeError(StatusCode::InvalidArgument,
                   "expected an operator of this engine, got one that was "
                   "deleted or belongs to another (%u/%08x)",
                   operation.index, operation.stamp);
}

Status dlc::rt::refuseDuplicate(Variable variable) {
  return makeError(StatusCode::InvalidArgument,
                   "expected each variable once, got variable %u twice",
                   variable.index);
}

Status dlc::rt::refuseContext(Context context) {
  return makeError(StatusCode::InvalidArgument,
                   "expected a device, got kind %d with number %d",
                   int(context.kind), int(context.index));
}

Status dlc::rt::refuseTask() {
  return makeError(StatusCode::OutOfMemory, "no memory for the function");
}

Status dlc::rt::refuseClosed() {
  return makeError(StatusCode::Unavailable, "the engine is closed");
}

Status dlc::rt::refuseStopped() {
  return makeError(StatusCode::Unavailable, "the engine is stopped");
}

Status dlc::rt::refuseChild() {
  return makeError(StatusCode::Unavailable,
                   "this process is a fork of the engine's; start() makes a "
                   "fresh engine in it");
}

Status dlc::rt::refuseInside(const char *what) {
  return makeError(StatusCode::InvalidArgument,
                   "expected %s outside of operations, got it inside one",
                   what);
}

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

Completion::~Completion() {
  if (!sink)
    return;
  if (!isAnswered.load(std::memory_order_relaxed))
    (void)complete(makeError(StatusCode::Internal,
                             "its completion was dropped without a result"))
        .isOk();
  sink->release();
}

Status Completion::complete(Status result) {
  if (!sink)
    return makeError(StatusCode::InvalidArgument,
                     "expected the completion of an operation, got none");
  isAnswered.store(true, std::memory_order_relaxed);
  return sink->complete(operation, run, std::move(result));
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::create(const EngineOptions &options) {
  switch (options.kind) {
  case EngineKind::Naive:
    return createNaiveEngine(options);
  case EngineKind::Threaded:
  case EngineKind::PerDevice:
    return createThreadedEngine(options);
  }
  return makeError(StatusCode::InvalidArgument,
                   "expected a kind of engine, got %d", int(options.kind));
}
