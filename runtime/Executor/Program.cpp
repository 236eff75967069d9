// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Executor/Program.h"

#include "ProgramState.h"

#include <new>

using namespace dlc::rt;

Program::Program(std::unique_ptr<State> state) : state(std::move(state)) {}
Program::~Program() = default;

Result<std::unique_ptr<Program>> Program::load(const std::string &path,
                                               const ProgramOptions &options) {
  Result<Artifact> artifact = Artifact::open(path);
  if (!artifact.isOk())
    return std::move(artifact.status());
  Result<std::unique_ptr<Program>> program =
      create(std::move(*artifact), options);
  if (!program.isOk())
    return std::move(program.status()).withContext(path);
  return program;
}

Result<std::unique_ptr<Program>>
Program::create(Artifact artifact, const ProgramOptions &options) {
  auto file = std::make_shared<ProgramFile>(std::move(artifact));
  const abi::Program &plan = file->whole();
  return State::make(std::move(file), plan, options);
}

Result<std::unique_ptr<Program>>
Program::State::make(std::shared_ptr<ProgramFile> file,
                     const abi::Program &plan, const ProgramOptions &options) {
  std::unique_ptr<State> state(new (std::nothrow) State(std::move(file), plan));
  if (!state)
    return makeError(StatusCode::OutOfMemory, "no memory for a program");
  DLC_RETURN_IF_ERROR(buildProgram(*state, options));
  std::unique_ptr<Program> program(new (std::nothrow)
                                       Program(std::move(state)));
  if (!program)
    return makeError(StatusCode::OutOfMemory, "no memory for a program");
  return program;
}

std::span<const Port> Program::inputs() const { return state->inputs; }
std::span<const Port> Program::outputs() const { return state->outputs; }

static std::optional<size_t> findPort(std::span<const Port> ports,
                                      std::string_view name) {
  for (size_t i = 0; i != ports.size(); ++i)
    if (ports[i].name == name)
      return i;
  return std::nullopt;
}

std::optional<size_t> Program::findInput(std::string_view name) const {
  return findPort(state->inputs, name);
}

std::optional<size_t> Program::findOutput(std::string_view name) const {
  return findPort(state->outputs, name);
}

const ProgramStatistics &Program::statistics() const {
  return state->statistics;
}

std::vector<int64_t> Program::batches() const {
  std::vector<int64_t> rows;
  if (!state->isByShape)
    for (const PartProgram &part : state->parts)
      rows.push_back(part.rows);
  return rows;
}

std::vector<const Program *> Program::shapes() const {
  std::vector<const Program *> programs;
  if (state->isByShape)
    for (const PartProgram &part : state->parts)
      programs.push_back(part.program.get());
  return programs;
}

size_t Program::launchCount() const {
  size_t count = state->launches.size();
  for (const PartProgram &part : state->parts)
    count += part.program->launchCount();
  return count;
}

LaunchInfo Program::launch(size_t index) const {
  for (const PartProgram &part : state->parts) {
    if (index < part.program->launchCount())
      return part.program->launch(index);
    index -= part.program->launchCount();
  }
  const LaunchNames &names = state->names[index];
  return {names.label,
          names.kernel,
          names.flops,
          names.bytes,
          state->devices[names.device],
          names.stream,
          state->launches[index].kind == LaunchKind::Copy};
}

const Artifact &Program::artifact() const { return state->file->artifact; }
