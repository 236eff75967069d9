// SPDX-License-Identifier: Apache-2.0
//
// dlc run: one or more runs of a model on given inputs.

#include "Command.h"
#include "RunGradients.h"

#include "dlc/runtime/Base/Half.h"
#include "dlc/runtime/Base/Names.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/Executor/Observer.h"

#include <cstdio>
#include <optional>

using namespace dlc;
using namespace dlc::tool;

namespace {
struct RunCommand {
  ModelOptions model;
  InputOptions inputs;
  GradientFiles gradients;
  std::string outputs, trace, device = "cpu";
  bool profile = false;

  int run();
  std::vector<UsedFile> filesRead() const;
  void writeOutputs(const LoadedModel &loaded, rt::Execution &execution);
  void printOutputs(const rt::Program &program, rt::Execution &execution);
};
} // namespace

/// Element `i` of a tensor as text.
static std::string elementText(const rt::TensorView &tensor, int64_t i) {
  auto real = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return std::string(text);
  };
  switch (tensor.type) {
  case DLC_F16:
    return real(rt::floatFromHalf(tensor.as<uint16_t>()[i]));
  case DLC_BF16:
    return real(rt::floatFromBFloat16(tensor.as<uint16_t>()[i]));
  case DLC_F32:
    return real(tensor.as<float>()[i]);
  case DLC_F64:
    return real(tensor.as<double>()[i]);
  case DLC_BOOL:
    return tensor.as<uint8_t>()[i] ? "true" : "false";
  case DLC_I8:
    return std::to_string(tensor.as<int8_t>()[i]);
  case DLC_I16:
    return std::to_string(tensor.as<int16_t>()[i]);
  case DLC_I32:
    return std::to_string(tensor.as<int32_t>()[i]);
  case DLC_I64:
    return std::to_string(tensor.as<int64_t>()[i]);
  case DLC_U8:
    return std::to_string(tensor.as<uint8_t>()[i]);
  case DLC_U16:
    return std::to_string(tensor.as<uint16_t>()[i]);
  case DLC_U32:
    return std::to_string(tensor.as<uint32_t>()[i]);
  case DLC_U64:
    return std::to_string(tensor.as<uint64_t>()[i]);
  default:
    return "?";
  }
}

/// All elements of a short tensor as text, or the first of a long one.
static std::string preview(const rt::TensorView &tensor) {
  constexpr int64_t few = 16, first = 4;
  std::string text;
  const int64_t count = tensor.size(), shown = count > few ? first : count;
  for (int64_t i = 0; i < shown; ++i)
    text += (i ? " " : "") + elementText(tensor, i);
  return count > shown ? text + " ..." : text;
}

void RunCommand::printOutputs(const rt::Program &program,
                              rt::Execution &execution) {
  for (size_t i = 0; i < program.outputs().size(); ++i) {
    rt::TensorView tensor = execution.output(i);
    rt::TensorType type{tensor.type,
                        {tensor.shape.begin(), tensor.shape.end()}};
    std::printf("%s: %s  %s\n", program.outputs()[i].name.c_str(),
                rt::toString(type).c_str(), preview(tensor).c_str());
  }
}

void RunCommand::writeOutputs(const LoadedModel &loaded,
                              rt::Execution &execution) {
  const rt::Program &program = *loaded.program;
  size_t count = model.heads ? loaded.outputs : program.outputs().size();
  std::vector<rt::NamedView> tensors;
  for (size_t i = 0; i < count; ++i)
    tensors.push_back({program.outputs()[i].name, execution.output(i)});
  check(rt::writeNpz(outputs, tensors));
}

std::vector<UsedFile> RunCommand::filesRead() const {
  std::vector<UsedFile> used = tool::filesRead(model, inputs);
  used.push_back({"--head-grads", gradients.heads});
  return used;
}

/// What `--random` gives values to: a parameter may be among it.
static std::vector<std::string> randomInputs(const rt::Program &program,
                                             const NamedTensors &values) {
  std::vector<std::string> names;
  for (const rt::Port &port : program.inputs())
    if (!port.isRandomState && !values.count(port.name))
      names.push_back(port.name);
  return names;
}

int RunCommand::run() {
  gradients.checkUsage();
  if (device != "cpu")
    throw Failure{"expected cpu for --device, got '" + device +
                      "': a model is compiled for a GPU with --target",
                  kBadUsage};
  checkOutputs(filesRead(), {{"--outputs", outputs},
                             {"--grads", gradients.results},
                             {"--trace", trace},
                             {"--tuning-cache", model.tuningOutput()},
                             {"--reproducer", model.reproducer}});
  NamedTensors values = inputs.read(), heads;
  if (gradients.train) {
    heads = gradients.readHeads();
    model.heads = namesOf(heads);
  }
  LoadedModel loaded = loadModel(model, inputs, values);
  if (gradients.train)
    addHeads(loaded, gradients.heads, std::move(heads), values);
  // Given values come before those of files.
  for (auto &[name, value] : loaded.parameters)
    values.try_emplace(name, std::move(value));
  const rt::Program &program = *loaded.program;
  const std::vector<std::string> made = randomInputs(program, values);
  std::vector<HostTensor> tensors =
      makeInputs(program, model, inputs, std::move(values));
  if (inputs.random && !made.empty())
    std::fprintf(stderr, "note: random values for %s\n",
                 rt::listSome(made).c_str());

  std::unique_ptr<rt::WorkerPool> pool =
      take(rt::WorkerPool::create({.threads = model.threads}));
  std::unique_ptr<rt::Execution> execution =
      makeExecution(program, {pool.get(), model.threads});
  for (size_t i = 0; i < tensors.size(); ++i)
    check(execution->bindInput(i, tensors[i].view()));
  std::optional<rt::Profiler> profiler;
  std::optional<rt::TraceRecorder> recorder;
  if (!trace.empty() || profile)
    execution->setObserver(&recorder.emplace(program, profiler.emplace()));
  double begin = now();
  check(execution->run());
  double runMs = now() - begin;

  if (!trace.empty())
    check(profiler->write(trace));
  if (!outputs.empty())
    writeOutputs(loaded, *execution);
  if (gradients.train)
    gradients.write(loaded, *execution);
  printOutputs(program, *execution);
  if (profile)
    std::printf("%s", profiler->toTable().c_str());
  const rt::ProgramStatistics &statistics = program.statistics();
  if (loaded.compileMs > 0)
    std::printf("compiled in %.0f ms, ", loaded.compileMs);
  std::printf("loaded in %.2f ms, ran in %.3f ms (first run)\n", loaded.loadMs,
              runMs);
  std::printf("memory: planned %llu bytes, lower bound %llu, weights %llu\n",
              static_cast<unsigned long long>(statistics.arenaBytes),
              static_cast<unsigned long long>(statistics.lowerBoundBytes),
              static_cast<unsigned long long>(statistics.constantBytes));
  return kOk;
}

void dlc::tool::addRun(CommandLine &line) {
  auto command = std::make_shared<RunCommand>();
  Syntax syntax = line.add("run", "Run a model on given inputs",
                           [command] { return command->run(); });
  command->model.add(syntax, /*acceptsArtifact=*/true);
  command->inputs.add(syntax);
  syntax.option("--outputs", command->outputs, "Write the outputs (.npz)");
  syntax.option("--trace", command->trace,
                "Write a Chrome trace of launches, copies, waits and memory "
                "(.json)");
  syntax.flag("--profile", command->profile,
              "Print the time of each kernel and the memory in use");
  syntax.option("--device", command->device, "Device: cpu");
  command->gradients.add(syntax);
  command->model.addTraining(syntax);
}
