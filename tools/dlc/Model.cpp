// SPDX-License-Identifier: Apache-2.0
//
// What the commands share: options, compiling or loading, inputs.

#include "Command.h"

#include "llvm/ADT/StringRef.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

using namespace dlc;
using namespace dlc::tool;

double dlc::tool::now() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch())
      .count();
}

void dlc::tool::check(rt::Status status) {
  if (!status.isOk())
    throw Failure{status.message()};
}

void dlc::tool::check(llvm::LogicalResult result,
                      const Compilation &compilation) {
  std::string messages = compilation.messages();
  if (failed(result)) {
    if (!messages.empty() && messages.back() == '\n')
      messages.pop_back();
    // The tool says "error:" itself.
    if (llvm::StringRef(messages).starts_with("error: "))
      messages.erase(0, 7);
    throw Failure{messages.empty() ? "internal: no reason given" : messages};
  }
  std::fputs(messages.c_str(), stderr);
}

std::vector<int64_t> dlc::tool::parseShape(const std::string &text) {
  std::vector<int64_t> shape;
  const char *at = text.data(), *end = at + text.size();
  while (at != end) {
    int64_t dim = 0;
    auto [next, error] = std::from_chars(at, end, dim);
    bool ok = error == std::errc() && dim >= 0 &&
              (next == end || (*next == 'x' && next + 1 != end));
    if (!ok)
      throw Failure{"expected a shape like 1x3x224x224, got '" + text + "'",
                    kBadUsage};
    shape.push_back(dim);
    at = next == end ? end : next + 1;
  }
  return shape;
}

void ModelOptions::add(CLI::App &app, bool acceptsArtifact) {
  app.add_option("model", path,
                 acceptsArtifact ? "Model (.onnx, .mlir) or artifact (.dlc)"
                                 : "Model (.onnx, .mlir)")
      ->required();
  app.add_option("--shape", shapes,
                 "Shape of an input, NAME=1x3x224x224 (repeatable)");
  app.add_option("--target", target,
                 "Machine: host, x86-64, x86-64-v3, x86-64-v4");
  app.add_option("--precision", precision, "Arithmetic: fp32");
  app.add_option("--threads", threads, "Threads; 0 means all processors");
  app.add_flag("--remarks", remarks, "Print what each pass did, and why not");
  app.add_flag("--timing", timing, "Print the time of each pass");
  app.add_option("--reproducer", reproducer,
                 "Where a failing pass leaves a reproducer for dlc-opt");
}

bool ModelOptions::isArtifact() const {
  return llvm::StringRef(path).ends_with(".dlc");
}

CompileOptions ModelOptions::compileOptions() const {
  if (precision != "fp32")
    throw Failure{"--precision " + precision +
                      ": not yet; fp32 is what there is",
                  kBadUsage};
  CompileOptions options;
  options.target = target;
  options.threads = threads;
  options.timing = timing;
  options.reproducer = reproducer;
  if (remarks)
    options.onRemark = [](const std::string &remark) {
      std::fprintf(stderr, "remark: %s\n", remark.c_str());
    };
  for (const std::string &text : shapes) {
    size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw Failure{"expected --shape NAME=1x3x224x224, got '" + text + "'",
                    kBadUsage};
    options.shapes[text.substr(0, equals)] =
        parseShape(text.substr(equals + 1));
  }
  return options;
}

HostTensor dlc::tool::makeZeros(const rt::TensorType &type) {
  std::optional<int64_t> count = rt::elementCount(type.shape);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, rt::sizeOf(type.type), &bytes))
    throw Failure{"expected a static shape, got " + rt::toString(type)};
  HostTensor tensor{type.type, type.shape,
                    take(rt::AlignedBuffer::allocate(bytes))};
  if (bytes > 0)
    std::memset(tensor.data.data(), 0, bytes);
  return tensor;
}

void InputOptions::add(CLI::App &app) {
  app.add_option("--input", files, "Value of an input, NAME=x.npy");
  app.add_option("--inputs", archive, "Values of inputs by name (.npz)");
  app.add_flag("--random", random, "Random values for inputs not given");
  app.add_option("--seed", seed, "Seed of --random");
}

NamedTensors InputOptions::read() const {
  NamedTensors values;
  if (!archive.empty())
    for (rt::NamedTensor &entry : take(rt::readNpz(archive)))
      values[entry.name] = std::move(entry.tensor);
  for (const std::string &text : files) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Failure{"expected --input NAME=x.npy, got '" + text + "'",
                    kBadUsage};
    values[text.substr(0, equals)] =
        take(rt::readNpy(text.substr(equals + 1)));
  }
  return values;
}

/// Normal floats, small integers, booleans.
static void fillRandom(HostTensor &tensor, std::mt19937_64 &random) {
  rt::TensorView view = tensor.view();
  std::normal_distribution<float> normal;
  int64_t count = view.size();
  if (tensor.type == DLC_F32) {
    for (int64_t i = 0; i < count; ++i)
      view.as<float>()[i] = normal(random);
  } else if (tensor.type == DLC_F64) {
    for (int64_t i = 0; i < count; ++i)
      view.as<double>()[i] = normal(random);
  } else if (!rt::isFloat(tensor.type)) {
    // 0 or 1: legal as data, as mask and as index of anything not empty.
    size_t step = rt::sizeOf(tensor.type);
    for (int64_t i = 0; i < count; ++i)
      tensor.data.data()[i * step] = static_cast<std::byte>(random() & 1);
  }
}

LoadedModel dlc::tool::loadModel(const ModelOptions &options,
                                 const NamedTensors &values) {
  LoadedModel loaded;
  double begin = now();
  if (options.isArtifact()) {
    if (!options.shapes.empty())
      throw Failure{"--shape: the shapes of an artifact are fixed", kBadUsage};
    loaded.program = take(rt::Program::load(options.path));
    loaded.loadMs = now() - begin;
    return loaded;
  }
  CompileOptions compile = options.compileOptions();
  auto first = std::make_unique<Compilation>(compile);
  check(first->import(options.path), *first);
  // Symbolic dimensions take the shapes of the values at hand.
  bool specialised = false;
  for (const ModelPort &port : first->inputs()) {
    auto value = values.find(port.name);
    if (port.type.isStatic() || value == values.end())
      continue;
    compile.shapes[port.name] = value->second.shape;
    specialised = true;
  }
  if (specialised) {
    first = std::make_unique<Compilation>(compile);
    check(first->import(options.path), *first);
  }
  llvm::FailureOr<rt::AlignedBuffer> bytes = first->toMemory();
  check(llvm::success(succeeded(bytes)), *first);
  loaded.bytes = std::move(*bytes);
  first.reset();
  loaded.compileMs = now() - begin;
  begin = now();
  loaded.program = take(rt::Program::create(
      take(rt::Artifact::fromMemory(loaded.bytes.bytes()))));
  loaded.loadMs = now() - begin;
  return loaded;
}

std::vector<HostTensor> dlc::tool::makeInputs(const rt::Program &program,
                                              const InputOptions &inputs,
                                              NamedTensors values) {
  for (const auto &[name, value] : values) {
    if (program.findInput(name))
      continue;
    std::string known;
    for (const rt::Port &port : program.inputs())
      known += (known.empty() ? "" : ", ") + port.name;
    throw Failure{"expected an input of the model (" + known + "), got '" +
                  name + "'"};
  }
  std::mt19937_64 random(inputs.seed);
  std::vector<HostTensor> result;
  for (const rt::Port &port : program.inputs()) {
    auto value = values.find(port.name);
    if (value != values.end()) {
      result.push_back(std::move(value->second));
      continue;
    }
    if (!inputs.random)
      throw Failure{"expected a value for input '" + port.name + "' (" +
                    rt::toString(port.type) +
                    "): give --input, --inputs or --random"};
    if (!port.type.isStatic())
      throw Failure{"expected a shape for input '" + port.name + "' (" +
                    rt::toString(port.type) + "): give --shape " + port.name +
                    "=..."};
    result.push_back(makeZeros(port.type));
    fillRandom(result.back(), random);
  }
  return result;
}
