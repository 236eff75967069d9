// SPDX-License-Identifier: Apache-2.0
//
// What the commands share: options, loading, inputs.

#include "Command.h"

#include "dlc/runtime/Base/File.h"

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

void ModelOptions::add(Syntax &syntax, bool acceptsArtifact) {
  syntax.required("model", path,
                  acceptsArtifact ? "Model (.onnx, .mlir) or artifact (.dlc)"
                                  : "Model (.onnx, .mlir)");
  syntax.option("--shape", shapes,
                "Shape of an input, NAME=1x3x224x224 (repeatable)");
  syntax.option("--target", target,
                "Machine: host, x86-64, x86-64-v3, x86-64-v4");
  syntax.option("--precision", precision, "Arithmetic: fp32");
  syntax.option("--threads", threads, "Threads; 0 means all processors");
  syntax.flag("--remarks", remarks, "Print what each pass did, and why not");
  syntax.flag("--timing", timing, "Print the time of each pass");
  syntax.option("--reproducer", reproducer,
                "Where a failing pass leaves a reproducer for dlc-opt");
}

bool ModelOptions::isArtifact() const { return path.ends_with(".dlc"); }

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

void InputOptions::add(Syntax &syntax) {
  syntax.option("--input", files, "Value of an input, NAME=x.npy");
  syntax.option("--inputs", archive, "Values of inputs by name (.npz)");
  syntax.flag("--random", random, "Random values for inputs not given");
  syntax.option("--seed", seed, "Seed of --random");
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
    values[text.substr(0, equals)] = take(rt::readNpy(text.substr(equals + 1)));
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
  if (!options.isArtifact())
    return compileModel(options, values);
  if (!options.shapes.empty())
    throw Failure{"--shape: the shapes of an artifact are fixed", kBadUsage};
  LoadedModel loaded;
  double begin = now();
  loaded.program = take(rt::Program::load(options.path));
  loaded.loadMs = now() - begin;
  return loaded;
}

void dlc::tool::writeText(const std::string &path, std::string_view text) {
  rt::OutputFile file = take(rt::OutputFile::create(path));
  check(file.write(std::as_bytes(std::span(text.data(), text.size()))));
  check(file.commit());
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
