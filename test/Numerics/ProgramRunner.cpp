// SPDX-License-Identifier: Apache-2.0

#include "ProgramRunner.h"

#include "RandomGraphs.h"

#include "dlc/Compiler/Compiler.h"
#include "dlc/runtime/Executor/Execution.h"
#include "dlc/runtime/Executor/Program.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace mlir;
using namespace dlc;
using namespace dlc::test;
using numerics::Tensor;
namespace fs = std::filesystem;

/// The module in a file, as a compilation reads it.
static fs::path writeModule(ModuleOp module) {
  fs::path path = fs::temp_directory_path() /
                  ("dlc-program-" + std::to_string(getpid()) + ".mlir");
  std::ofstream(path) << textOf(module);
  return path;
}

static std::string compile(ModuleOp module, rt::AlignedBuffer &bytes) {
  fs::path path = writeModule(module);
  CompileOptions options;
  options.threads = 1;
  options.verifyNumerics = true;
  Compilation compilation(options);
  LogicalResult imported = compilation.import(path);
  fs::remove(path);
  if (failed(imported))
    return compilation.messages();
  FailureOr<rt::AlignedBuffer> program = compilation.toMemory();
  if (failed(program))
    return compilation.messages();
  bytes = std::move(*program);
  return "";
}

/// A copy with memory of its own, which a program may write.
static rt::Status copy(const rt::TensorView &view, Tensor &tensor) {
  rt::ref::OwnedTensor memory;
  DLC_RETURN_IF_ERROR(
      rt::ref::OwnedTensor::allocate(view.type, view.shape, memory));
  if (view.bytes())
    std::memcpy(memory.data(), view.data, view.bytes());
  tensor = numerics::toTensor(std::move(memory));
  return rt::Status::ok();
}

static rt::Status run(const rt::AlignedBuffer &bytes, ArrayRef<Tensor> inputs,
                      std::vector<Tensor> &outputs) {
  auto artifact = rt::Artifact::fromMemory(bytes.bytes());
  if (!artifact.isOk())
    return std::move(artifact.status());
  auto program = rt::Program::create(std::move(*artifact));
  if (!program.isOk())
    return std::move(program.status());
  auto execution = rt::Execution::create(**program);
  if (!execution.isOk())
    return std::move(execution.status());
  std::vector<Tensor> copies(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    DLC_RETURN_IF_ERROR(copy(inputs[i].view(), copies[i]));
    DLC_RETURN_IF_ERROR((*execution)->bindInput(i, copies[i].view()));
  }
  DLC_RETURN_IF_ERROR((*execution)->run());
  outputs.resize((*program)->outputs().size());
  for (size_t i = 0; i < outputs.size(); ++i)
    DLC_RETURN_IF_ERROR(copy((*execution)->output(i), outputs[i]));
  return rt::Status::ok();
}

std::string dlc::test::runProgram(ModuleOp module, ArrayRef<Tensor> inputs,
                                  std::vector<Tensor> &outputs) {
  rt::AlignedBuffer bytes;
  if (std::string failure = compile(module, bytes); !failure.empty())
    return failure;
  rt::Status status = run(bytes, inputs, outputs);
  return status.isOk() ? "" : "the program cannot be run: " + status.message();
}
