// SPDX-License-Identifier: Apache-2.0

#include "Trainer.h"

#include "dlc/runtime/IO/Params.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace dlc;
using namespace dlc::tool;

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// Inputs of the model that the data has, in the shape of a batch.
static CompileOptions optionsFor(const TrainerOptions &options,
                                 const TrainData &data,
                                 const std::string &label) {
  CompileOptions compile = makeCompileOptions(options.model);
  compile.params.clear(); // Values, which are read later.
  compile.keepsParameters = true;
  for (const auto &[name, tensor] : data.arrays())
    if (name != label)
      compile.shapes[name] = TrainData::batchShape(tensor, options.batch);
  return compile;
}

static LoadedModel load(Compilation &compilation) {
  LoadedModel loaded;
  llvm::FailureOr<rt::AlignedBuffer> bytes = compilation.toMemory();
  tool::check(llvm::success(succeeded(bytes)), compilation);
  printWarnings(compilation);
  loaded.bytes = std::move(*bytes);
  loaded.program = take(rt::Program::create(
      take(rt::Artifact::fromMemory(loaded.bytes.bytes()))));
  return loaded;
}

Trainer::Trainer(const TrainerOptions &given, TrainData &data)
    : options(given) {
  if (data.examples() < options.batch)
    throw Failure{data.path() + ": expected at least one batch of " +
                  std::to_string(options.batch) + " examples, got " +
                  std::to_string(data.examples())};
  pool = take(rt::WorkerPool::create({.threads = options.model.threads}));
  compileStep(data);
  if (!options.emit.empty())
    return;
  stepExecution = makeExecution(*stepModel.program, tensors);
}

void Trainer::compileStep(TrainData &data) {
  double begin = now();
  // The labels of a loss that is added are no input of the model.
  std::string added = options.step.loss.empty() || options.step.loss == "output"
                          ? ""
                          : options.step.label;
  if (!added.empty())
    (void)data.array(added);
  CompileOptions compile = optionsFor(options, data, added);
  compile.isTraining = true;
  Compilation compilation(compile);
  check(compilation.import(options.model.path), compilation);
  for (const auto &[name, tensor] : data.arrays()) {
    auto isIt = [&, &name = name](const ModelPort &port) {
      return port.name == name;
    };
    if (name != added && llvm::none_of(compilation.inputs(), isIt))
      throw Failure{data.path() +
                    ": expected arrays for inputs of the model, "
                    "got '" +
                    name + "'" +
                    (options.step.loss.empty()
                         ? ""
                         : "; --label says which one has the labels")};
    options.step.data.insert(name);
  }
  // As MXNet does: no decay of what is added after a product or a
  // normalisation.
  for (const ModelPort &port : compilation.inputs())
    if (port.name.ends_with("bias") || port.name.ends_with("beta"))
      options.step.factors[port.name].decay = 0;
  std::vector<InitialValue> values = compilation.initialValues();
  llvm::FailureOr<training::Step> built =
      compilation.buildTrainingStep(options.step);
  check(llvm::success(succeeded(built)), compilation);
  step = *built;
  labelName = added;
  if (!options.emit.empty()) {
    check(compilation.runTo(*pipeline::phaseOf(options.emit)), compilation);
    llvm::raw_string_ostream os(emitted);
    compilation.print(os);
    return;
  }
  stepModel = load(compilation);
  stepModel.compileMs = now() - begin;

  const rt::Program &program = *stepModel.program;
  for (const rt::Port &port : program.inputs())
    tensors[port.name] = makeZeros(port.type);
  for (const auto &[name, tensor] : data.arrays())
    if (auto input = program.findInput(name))
      data.convert(name, program.inputs()[*input].type);
  std::set<std::string> own(step.states.begin(), step.states.end());
  own.insert(step.parameters.begin(), step.parameters.end());
  own.insert({step.count, step.learningRate});
  for (const rt::Port &port : program.outputs()) {
    if (!port.updates || own.count(program.inputs()[*port.updates].name))
      continue;
    const rt::Port &input = program.inputs()[*port.updates];
    // The only state of integers is that of random numbers.
    if (input.type.type == DLC_I64)
      randomName = input.name;
    else
      auxiliary.push_back(input.name);
  }
  initialize(values);
}

std::unique_ptr<rt::Execution>
Trainer::makeExecution(const rt::Program &program, NamedTensors &batch) {
  std::unique_ptr<rt::Execution> execution =
      take(rt::Execution::create(program, {pool.get(), options.model.threads}));
  for (size_t i = 0; i != program.inputs().size(); ++i) {
    const std::string &name = program.inputs()[i].name;
    auto own = batch.find(name);
    const HostTensor &tensor =
        own == batch.end() ? tensors.at(name) : own->second;
    tool::check(execution->bindInput(i, tensor.view()));
  }
  return execution;
}

//===----------------------------------------------------------------------===//
// First values
//===----------------------------------------------------------------------===//

void Trainer::initializeOne(const std::string &name, uint32_t stream) {
  HostTensor &tensor = tensors.at(name);
  if (tensor.type != DLC_F32)
    throw Failure{"expected parameters of f32 to give first values, got '" +
                  name + "' of " +
                  rt::toString(rt::TensorType{tensor.type, tensor.shape})};
  rt::TensorView view = tensor.view();
  training::InitializerOptions initializer =
      options.initializer.value_or(training::InitializerOptions());
  tool::check(training::initialize(initializer, name, tensor.shape,
                                   options.seed, stream,
                                   std::span(view.as<float>(), view.size())));
}

/// What the model's file says, unless an initializer is asked for; what it does
/// not say gets the initializer's values.
void Trainer::initialize(const std::vector<InitialValue> &values) {
  std::set<std::string> known;
  if (!options.initializer)
    for (const InitialValue &value : values) {
      auto tensor = tensors.find(value.name);
      if (tensor == tensors.end())
        continue;
      std::span<std::byte> to = tensor->second.data.bytes();
      // One element stands for all where they are equal.
      for (size_t at = 0; at + value.bytes.size() <= to.size();
           at += value.bytes.size())
        std::memcpy(to.data() + at, value.bytes.data(), value.bytes.size());
      known.insert(value.name);
    }
  uint32_t stream = 0;
  for (const std::vector<std::string> *names : {&step.parameters, &auxiliary})
    for (const std::string &name : *names) {
      ++stream; // Also for those that are known: others do not depend on it.
      if (!known.count(name))
        initializeOne(name, stream);
    }
  for (const std::string &name : options.step.frozen)
    if (!known.count(name) && tensors.count(name))
      initializeOne(name, ++stream);
  if (!randomName.empty())
    tensors.at(randomName).view().as<int64_t>()[0] =
        static_cast<int64_t>(options.seed);
  if (!options.model.params.empty())
    read(options.model.params, /*isComplete=*/false);
}

int64_t Trainer::updates() const {
  return tensors.at(step.count).view().as<int64_t>()[0];
}

size_t Trainer::parameterCount() const {
  size_t count = 0;
  for (const std::string &name : step.parameters)
    count += tensors.at(name).view().size();
  return count;
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

const HostTensor *Trainer::labelsOf(const TrainData &data) const {
  if (!labelName.empty())
    return &data.array(labelName);
  // MXNet's convention for layers that are losses.
  for (const auto &[name, tensor] : data.arrays())
    if (name.ends_with("label"))
      return &tensor;
  return nullptr;
}

namespace {
/// Compares outputs with labels, example by example.
struct Judge {
  const rt::TensorView output;
  const HostTensor &labels;
  const int64_t batch;

  bool hasClasses() const;
  int64_t labelOf(int64_t example) const;
  void judge(int64_t row, int64_t example, BatchResult &result) const;
};
} // namespace

/// The output has numbers for classes, and each example one label.
bool Judge::hasClasses() const {
  return output.type == DLC_F32 && output.rank() == 2 &&
         output.shape[0] == batch && labels.view().size() == labels.shape[0] &&
         output.shape[1] > 1 &&
         (labels.type == DLC_F32 || labels.type == DLC_I64);
}

/// -1 for a number that cannot be that of a class.
int64_t Judge::labelOf(int64_t example) const {
  rt::TensorView view = labels.view();
  if (labels.type == DLC_I64)
    return view.as<int64_t>()[example];
  float label = view.as<float>()[example];
  return label >= 0 && label < static_cast<float>(output.shape[1])
             ? static_cast<int64_t>(label)
             : -1;
}

/// Adds -ln of the label's output, taken as a probability.
void Judge::judge(int64_t row, int64_t example, BatchResult &result) const {
  int64_t classes = output.shape[1];
  const float *values = output.as<float>() + row * classes;
  int64_t label = labelOf(example);
  result.right += std::max_element(values, values + classes) - values == label;
  if (label >= 0 && label < classes) // std::max keeps a NaN that is first.
    result.loss -= std::log(std::max(values[label], 1e-37f));
}

BatchResult Trainer::update(const TrainData &data,
                            std::span<const int64_t> examples,
                            double learningRate) {
  for (const auto &[name, tensor] : data.arrays())
    if (auto own = tensors.find(name); own != tensors.end())
      data.gather(name, examples, own->second);
  tensors.at(step.learningRate).view().as<float>()[0] =
      static_cast<float>(learningRate);
  tool::check(stepExecution->run());
  BatchResult result;
  const rt::Program &program = *stepModel.program;
  const HostTensor *labels = labelsOf(data);
  if (labels && !program.outputs().empty()) {
    Judge judge{stepExecution->output(0), *labels, options.batch};
    result.hasClasses = judge.hasClasses();
    for (size_t i = 0; result.hasClasses && i != examples.size(); ++i)
      judge.judge(static_cast<int64_t>(i), examples[i], result);
    result.loss /= static_cast<double>(examples.size());
  }
  if (!step.loss.empty())
    result.loss =
        stepExecution->output(*program.findOutput(step.loss)).as<float>()[0];
  return result;
}

void Trainer::prepareEvaluation(TrainData &data) {
  CompileOptions compile = optionsFor(options, data, labelName);
  // Layers that are losses do not read labels then.
  Compilation compilation(compile);
  check(compilation.import(options.model.path), compilation);
  evaluationModel = load(compilation);
  const rt::Program &program = *evaluationModel.program;
  for (const rt::Port &port : program.inputs()) {
    if (!data.arrays().count(port.name)) {
      if (!tensors.count(port.name) || options.step.data.count(port.name))
        throw Failure{data.path() + ": expected an array for input '" +
                      port.name + "'"};
      continue;
    }
    data.convert(port.name, port.type);
    evaluationBatch[port.name] = makeZeros(port.type);
  }
  if (!labelName.empty()) {
    const HostTensor &label = tensors.at(labelName);
    data.convert(labelName, {label.type, label.shape});
  }
  evaluationExecution = makeExecution(program, evaluationBatch);
}

/// The last batch is filled up with examples that do not count.
BatchResult Trainer::evaluate(const TrainData &data) {
  BatchResult result;
  const HostTensor *labels = labelsOf(data);
  if (!labels)
    throw Failure{data.path() + ": expected labels to evaluate with"};
  std::vector<int64_t> examples(options.batch);
  for (int64_t first = 0; first < data.examples(); first += options.batch) {
    int64_t count = std::min(options.batch, data.examples() - first);
    for (int64_t i = 0; i != options.batch; ++i)
      examples[i] = first + std::min(i, count - 1);
    for (auto &[name, batch] : evaluationBatch)
      data.gather(name, examples, batch);
    tool::check(evaluationExecution->run());
    Judge judge{evaluationExecution->output(0), *labels, options.batch};
    result.hasClasses = judge.hasClasses();
    for (int64_t i = 0; result.hasClasses && i != count; ++i)
      judge.judge(i, first + i, result);
  }
  result.loss /= static_cast<double>(data.examples());
  return result;
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

static std::string checkpointPath(const std::string &prefix, int64_t epoch,
                                  const char *suffix) {
  char number[32];
  std::snprintf(number, sizeof number, "-%04lld",
                static_cast<long long>(epoch));
  return prefix + number + suffix;
}

/// An array of a file, which borrows the tensor.
static rt::ParamsArray arrayOf(const std::string &name,
                               const HostTensor &tensor) {
  rt::ParamsArray array;
  array.name = name;
  array.version =
      tensor.shape.empty() ? rt::ParamsVersion::V3 : rt::ParamsVersion::V2;
  array.type = {tensor.type, tensor.shape};
  array.values = {tensor.type, tensor.shape, tensor.data.data()};
  return array;
}

void Trainer::save(const std::string &prefix, int64_t epoch) const {
  std::vector<rt::ParamsArray> values, states;
  auto isArgument = [&](const std::string &name) {
    return llvm::is_contained(step.parameters, name) ||
           options.step.frozen.count(name);
  };
  for (const rt::Port &port : program().inputs()) {
    const HostTensor &tensor = tensors.at(port.name);
    if (isArgument(port.name))
      values.push_back(arrayOf("arg:" + port.name, tensor));
    else if (llvm::is_contained(auxiliary, port.name))
      values.push_back(arrayOf("aux:" + port.name, tensor));
    else if (llvm::is_contained(step.states, port.name) ||
             port.name == step.count || port.name == randomName)
      states.push_back(arrayOf(port.name, tensor));
  }
  // States first: a file of parameters is a checkpoint that is whole.
  tool::check(rt::writeParams(checkpointPath(prefix, epoch, ".states"), states,
                              /*isNamed=*/true));
  tool::check(rt::writeParams(checkpointPath(prefix, epoch, ".params"), values,
                              /*isNamed=*/true));
}

void Trainer::restore(const std::string &prefix, int64_t epoch) {
  read(checkpointPath(prefix, epoch, ".params"), /*isComplete=*/true);
  read(checkpointPath(prefix, epoch, ".states"), /*isComplete=*/true);
}

void Trainer::read(const std::string &path, bool isComplete) {
  rt::ParamsList list = take(rt::readParams(path));
  if (!list.isNamed)
    throw Failure{path + ": expected arrays with names, got a list without"};
  for (const rt::ParamsArray &array : list.arrays) {
    std::string name = array.name;
    if (name.starts_with("arg:") || name.starts_with("aux:"))
      name = name.substr(4);
    auto tensor = tensors.find(name);
    if (tensor == tensors.end()) {
      if (isComplete)
        throw Failure{path +
                      ": expected values of the network's parameters, "
                      "got '" +
                      array.name + "'"};
      std::fprintf(stderr,
                   "dlc: warning: %s: array '%s' belongs to no parameter and "
                   "is left out\n",
                   path.c_str(), array.name.c_str());
      continue;
    }
    rt::TensorType wanted{tensor->second.type, tensor->second.shape};
    if (!array.isDefined() || rt::toString(array.type) != rt::toString(wanted))
      throw Failure{path + ": expected '" + array.name + "' of " +
                    rt::toString(wanted) + ", got " +
                    (array.isDefined() ? rt::toString(array.type)
                                       : std::string("no value"))};
    HostTensor dense =
        take(rt::toDense(array, tensor->second.data.bytes().size()));
    std::memcpy(tensor->second.data.data(), dense.data.data(),
                dense.view().bytes());
  }
}
