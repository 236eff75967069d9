// SPDX-License-Identifier: Apache-2.0

#include "Trainer.h"

#include "Elements.h"

#include "dlc/Training/InitializerText.h"
#include "dlc/Training/Step.h"
#include "dlc/runtime/Base/Names.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

using namespace dlc;
using namespace dlc::tool;

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// Where values come from, or "".
static const std::string &valuesOf(const TrainerOptions &options) {
  return options.resumed.empty() ? options.model.params : options.resumed;
}

/// Whether the import replaces initializers by those values: parameters become
/// inputs all the same, but what says how to compute is in the program.
static bool importsValues(const TrainerOptions &options) {
  const std::string &model = options.model.path;
  return !valuesOf(options).empty() && !model.ends_with(".json") &&
         !model.ends_with(".mlir");
}

/// Inputs of the model that the data has, in the shape of a batch, which a
/// --shape of them may only repeat.
static CompileOptions optionsFor(const TrainerOptions &options,
                                 const TrainData &data,
                                 const std::string &label) {
  CompileOptions compile = makeCompileOptions(options.model);
  if (options.model.guessesLayers || !options.model.layers.empty())
    throw Failure{"expected --layer and --guess-layers with dlc export, whose "
                  "NAME-0000.params this takes, got them here",
                  kBadUsage};
  compile.params.clear(); // Values of parameters, which are read later.
  if (importsValues(options))
    compile.params = valuesOf(options);
  compile.takesSomeParams = true;
  compile.keepsParameters = true;
  for (const auto &[name, tensor] : data.arrays()) {
    if (name == label)
      continue;
    std::vector<int64_t> shape = TrainData::batchShape(tensor, options.batch);
    auto [asked, isNew] = compile.shapes.try_emplace(name, shape);
    if (!isNew && !mayBe(asked->second, shape))
      throw Failure{
          data.path() + ": expected examples of '" + name +
          "' that make a batch of " +
          rt::toString(rt::TensorType{tensor.type, asked->second}) +
          ", as --shape says, got " +
          rt::toString(rt::TensorType{tensor.type, std::move(shape)})};
    asked->second = std::move(shape);
  }
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
  printRemarks(loaded.program->statistics().remarks);
  return loaded;
}

Trainer::Trainer(const TrainerOptions &given, TrainData &data)
    : options(given), size{data.examples(), given.batch} {
  pool = take(rt::WorkerPool::create({.threads = options.model.threads}));
  compileStep(data);
  if (!options.emit.empty())
    return;
  stepExecution = makeExecution(*stepModel.program, tensors);
}

/// Throws where an array of the data is no input of the model but a parameter,
/// whose value it has; `labels` of a loss that is added are no input.
static void checkArrays(const TrainerOptions &options, const TrainData &data,
                        const std::string &labels,
                        const Compilation &compilation) {
  const std::vector<ModelPort> inputs = compilation.inputs();
  for (const InitialValue &value : compilation.initialValues())
    if (data.arrays().contains(value.name) && value.name != labels)
      throw Failure{data.path() +
                    ": expected arrays for inputs of the model, got '" +
                    value.name + "', which is a parameter"};
  for (const auto &[name, tensor] : data.arrays()) {
    auto isIt = [&, &name = name](const ModelPort &port) {
      return port.name == name;
    };
    if (name != labels && llvm::none_of(inputs, isIt))
      throw Failure{
          data.path() + ": expected arrays for inputs of the model, got '" +
          name + "'; " +
          (options.step.loss.empty()
               ? "labels need a --loss, or a network that ends in one"
           : labels.empty() ? "--loss " + options.step.loss + " has no labels"
           : data.arrays().contains(labels)
               ? "the labels are '" + labels + "'"
               : "no array is '" + labels +
                     "', which --label names: give --label " + name +
                     " where it has the labels")};
  }
}

/// Throws where a model whose shapes are given takes another batch.
static void checkBatch(const TrainerOptions &options,
                       const std::map<std::string, std::vector<int64_t>> &asked,
                       const std::vector<ModelPort> &inputs) {
  for (const ModelPort &port : inputs) {
    auto found = asked.find(port.name);
    if (found == asked.end() || !port.type.isStatic() ||
        port.type.shape.empty() || found->second.empty() ||
        port.type.shape[0] == found->second[0])
      continue;
    throw Failure{options.model.path + ": expected --batch " +
                  std::to_string(port.type.shape[0]) + ", as the model has '" +
                  port.name + "' as " + rt::toString(port.type) +
                  ", got --batch " + std::to_string(options.batch)};
  }
}

/// Says what is wrong with a model that cannot be imported with the shapes of
/// the data: where it can be without, arrays that it does not take, or another
/// batch.
static void checkImported(llvm::LogicalResult imported,
                          const Compilation &compilation,
                          CompileOptions compile, const TrainerOptions &options,
                          const TrainData &data, const std::string &labels) {
  if (failed(imported)) {
    std::map<std::string, std::string> files;
    for (const auto &[name, tensor] : data.arrays())
      if (name != labels)
        files[name] = data.path();
    checkVariables(compilation, files);
    auto asked = std::exchange(compile.shapes, {});
    Compilation unshaped(compile);
    if (succeeded(unshaped.import(options.model.path))) {
      checkArrays(options, data, labels, unshaped);
      checkBatch(options, asked, unshaped.inputs());
    }
  }
  check(imported, compilation);
}

void Trainer::compileStep(TrainData &data) {
  double begin = now();
  // The labels of a loss that is added are no input of the model.
  std::string added = training::lossHasLabels(options.step.loss).value_or(false)
                          ? options.step.label
                          : "";
  CompileOptions compile = optionsFor(options, data, added);
  compile.isTraining = true;
  Compilation compilation(compile);
  checkImported(compilation.import(options.model.path), compilation, compile,
                options, data, added);
  checkArrays(options, data, added, compilation);
  for (const auto &[name, tensor] : data.arrays())
    options.step.data.insert(name);
  std::vector<InitialValue> values = compilation.initialValues();
  llvm::FailureOr<training::Step> built =
      compilation.buildTrainingStep(options.step);
  check(llvm::success(succeeded(built)), compilation);
  step = *built;
  if (data.examples() < options.batch)
    throw Failure{data.path() + ": expected at least --batch " +
                  std::to_string(options.batch) + " examples, got " +
                  std::to_string(data.examples())};
  if (!added.empty())
    (void)data.array(added); // Throws where there are no labels.
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
  flattenLabels(data);
  convert(data, program);
  makeJudge();
  checkOwnLabels(data);
  std::set<std::string> own(step.states.begin(), step.states.end());
  own.insert(step.parameters.begin(), step.parameters.end());
  own.insert({step.count, step.learningRate});
  for (const rt::Port &port : program.outputs()) {
    if (!port.updates || own.count(program.inputs()[*port.updates].name))
      continue;
    const rt::Port &input = program.inputs()[*port.updates];
    if (input.isRandomState)
      randomName = input.name;
    else
      auxiliary.push_back(input.name);
  }
  initialize(values);
}

std::unique_ptr<rt::Execution>
Trainer::makeExecution(const rt::Program &program, NamedTensors &batch) {
  std::unique_ptr<rt::Execution> execution =
      tool::makeExecution(program, {pool.get(), options.model.threads});
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

/// That which is asked for, else what the network says of this parameter.
training::InitializerOptions
Trainer::initializerOf(const std::string &name) const {
  if (options.initializer)
    return *options.initializer;
  auto own = step.initializers.find(name);
  if (own == step.initializers.end())
    return {};
  std::string problem;
  std::optional<training::InitializerOptions> initializer =
      training::parseInitializer(own->second, problem);
  if (!initializer)
    throw Failure{options.model.path + ": variable '" + name +
                  "': __init__: " + problem};
  initializer->isOwn = true;
  return *initializer;
}

void Trainer::initializeOne(const std::string &name, uint32_t stream) {
  HostTensor &tensor = tensors.at(name);
  if (tensor.type != DLC_F32)
    throw Failure{"expected parameters of f32 to give first values, got '" +
                  name + "' of " +
                  rt::toString(rt::TensorType{tensor.type, tensor.shape})};
  rt::TensorView view = tensor.view();
  training::InitializerOptions initializer = initializerOf(name);
  tool::check(training::initialize(initializer, name, tensor.shape,
                                   options.seed, stream,
                                   std::span(view.as<float>(), view.size())));
}

/// Reads those first values that --params has, which come before others but
/// those that are fixed, and adds their names to `known`.
void Trainer::readParameters(const std::vector<InitialValue> &values,
                             std::set<std::string> &known) {
  if (options.model.params.empty())
    return;
  std::vector<NamedArray> wanted = arrays(false);
  std::vector<std::string> missing =
      readSomeArrays(options.model.params, wanted);
  if (options.initializer && missing.empty())
    throw Failure{"expected no --initializer beside --params, got " +
                      options.model.params + " with all values",
                  kBadUsage};
  for (const std::string &name : missing)
    std::fprintf(stderr, "note: %s: no array '%s'; its first value is %s\n",
                 options.model.params.c_str(), name.c_str(),
                 known.count(name) ? "the model's own" : "an initializer's");
  for (const NamedArray &array : wanted)
    if (std::string name = parameterOf(array);
        !llvm::is_contained(missing, name))
      known.insert(name);
  for (const InitialValue &value : values)
    if (value.isFixed && tensors.count(value.name))
      copyValue(value, tensors.at(value.name));
}

/// Whether an initializer that is asked for leaves a parameter what the model
/// says: a vector is no weight but a scale, a shift or a statistic, and which,
/// only its name can tell.
static bool keepsOwnValue(const InitialValue &value) {
  return value.type.shape.size() < 2 && !training::tellsFirstValue(value.name);
}

/// What --params or the model's file says, the latter unless an initializer is
/// asked for; what neither says gets the initializer's values.
void Trainer::initialize(const std::vector<InitialValue> &values) {
  std::set<std::string> known;
  std::vector<std::string> kept;
  for (const InitialValue &value : values) {
    auto tensor = tensors.find(value.name);
    if (tensor == tensors.end())
      continue;
    if (options.initializer && !value.isFixed) {
      if (!keepsOwnValue(value))
        continue;
      kept.push_back(value.name);
    }
    copyValue(value, tensor->second);
    known.insert(value.name);
  }
  if (!randomName.empty())
    tensors.at(randomName).view().as<int64_t>()[0] =
        static_cast<int64_t>(options.seed);
  if (!kept.empty())
    std::fprintf(stderr,
                 "note: vectors keep the model's values, as --initializer is "
                 "for weights: %s\n",
                 rt::listSome(kept).c_str());
  if (!step.numbers.empty())
    std::fprintf(stderr, "note: single numbers stay as they are: %s\n",
                 rt::listSome(step.numbers).c_str());
  if (importsValues(options))
    settings = readOthers(valuesOf(options), arrays(false));
  if (!options.resumed.empty()) // restore() gives the others, all of them.
    return;
  readParameters(values, known);
  uint32_t stream = 0;
  for (const std::vector<std::string> *names : {&step.parameters, &auxiliary})
    for (const std::string &name : *names) {
      ++stream; // Also for those that are known: others do not depend on it.
      if (!known.count(name))
        initializeOne(name, stream);
    }
  for (const std::string &name : step.frozen)
    if (!known.count(name) && tensors.count(name))
      initializeOne(name, ++stream);
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

size_t Trainer::keptBytes() const {
  size_t bytes = 0;
  for (const auto &[name, tensor] : tensors)
    if (!options.step.data.count(name) && name != step.learningRate)
      bytes += tensor.data.size();
  return bytes;
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

/// A column of classes is as good as a vector.
void Trainer::flattenLabels(TrainData &data) const {
  if (step.classes && tensors.at(step.labels).shape.size() == 1)
    data.flattenColumn(step.labels);
}

void Trainer::convert(TrainData &data, const rt::Program &program) const {
  for (const rt::Port &port : program.inputs())
    if (data.arrays().count(port.name))
      data.convert(port.name, port.type, options.batch);
  if (step.labels.empty())
    return;
  const HostTensor &labels = tensors.at(step.labels);
  data.convert(step.labels, {labels.type, labels.shape}, options.batch);
  if (step.classes)
    data.checkClasses(step.labels, step.classes);
  if (training::lossHasFractions(options.step.loss))
    data.checkFractions(step.labels);
}

/// What the layer ignores is among them, so that whole numbers only deserve a
/// note.
void Trainer::checkOwnLabels(const TrainData &data) const {
  if (!step.loss.empty() || !judge.isByClass())
    return;
  std::string others = data.describeOthers(step.labels, judge.classCount());
  if (!others.empty())
    std::fprintf(stderr, "note: %s: %s; what is shown leaves them out\n",
                 data.path().c_str(), others.c_str());
}

const HostTensor *Trainer::labelsOf(const TrainData &data) const {
  return step.labels.empty() ? nullptr : &data.array(step.labels);
}

void Trainer::makeJudge() {
  rt::TensorType labels;
  if (!step.labels.empty())
    labels = {tensors.at(step.labels).type, tensors.at(step.labels).shape};
  judge =
      Judge(step, options.step.loss, options.batch, program().outputs()[0].type,
            step.labels.empty() ? nullptr : &labels);
}

void Trainer::noteNotFinite() {
  notFinite = "";
  for (const std::vector<std::string> *names :
       {&step.parameters, &step.frozen, &auxiliary, &step.states})
    for (const std::string &name : *names)
      if (auto own = tensors.find(name);
          own != tensors.end() && notFinite->empty() && !isFinite(own->second))
        notFinite = name;
}

std::string Trainer::explainNotFinite(const TrainData &data) const {
  std::string name = notFinite.value_or("");
  for (const auto &[array, tensor] : data.arrays())
    if (name.empty() && !isFinite(tensor))
      name = array;
  return name.empty()
             ? "values and data are finite: look at the attributes of the "
               "network, and at how large the data are"
             : "'" + name + "' is not finite";
}

Score Trainer::update(const TrainData &data, std::span<const int64_t> examples,
                      double learningRate) {
  for (const auto &[name, tensor] : data.arrays())
    if (auto own = tensors.find(name); own != tensors.end())
      data.gather(name, examples, own->second);
  tensors.at(step.learningRate).view().as<float>()[0] =
      static_cast<float>(learningRate);
  if (!notFinite)
    noteNotFinite();
  tool::check(stepExecution->run());
  Score score;
  if (step.loss.empty() || judge.isByClass())
    judge.judge(stepExecution->output(0), labelsOf(data), examples, score);
  if (step.loss.empty())
    return score;
  // What is made small is the loss that was added.
  size_t loss = *program().findOutput(step.loss);
  score.loss = stepExecution->output(loss).as<float>()[0];
  score.losses = 1;
  return score;
}

void Trainer::prepareEvaluation(TrainData &data) {
  // Examples are like those that it trains with: parameters have their shapes.
  flattenLabels(data);
  for (const auto &[name, array] : data.arrays())
    if (auto own = tensors.find(name); own != tensors.end())
      data.convert(name, {own->second.type, own->second.shape}, options.batch);
  CompileOptions compile = optionsFor(options, data, step.labels);
  // Layers that are losses do not read labels then.
  Compilation compilation(compile);
  checkImported(compilation.import(options.model.path), compilation, compile,
                options, data, step.labels);
  evaluationModel = load(compilation);
  const rt::Program &program = *evaluationModel.program;
  for (const rt::Port &port : program.inputs()) {
    if (data.arrays().count(port.name))
      evaluationBatch[port.name] = makeZeros(port.type);
    else if (!tensors.count(port.name) || options.step.data.count(port.name))
      throw Failure{data.path() + ": expected an array for input '" +
                    port.name + "'"};
  }
  convert(data, program);
  checkOwnLabels(data);
  if (!judge.canJudge())
    throw Failure{data.path() +
                  ": expected a network whose first output is a "
                  "loss or is like labels to test, got " +
                  rt::toString(program.outputs()[0].type)};
  if (!judge.isByExample() && data.examples() % options.batch)
    throw Failure{data.path() + ": expected whole batches of " +
                  std::to_string(options.batch) +
                  " examples for a loss of the batch, got " +
                  std::to_string(data.examples()) + " examples"};
  evaluationExecution = makeExecution(program, evaluationBatch);
}

/// The last batch is filled up with examples that do not count.
Score Trainer::evaluate(const TrainData &data) {
  Score score;
  std::vector<int64_t> examples(options.batch);
  for (int64_t first = 0; first < data.examples(); first += options.batch) {
    int64_t count = std::min(options.batch, data.examples() - first);
    for (int64_t i = 0; i != options.batch; ++i)
      examples[i] = first + std::min(i, count - 1);
    for (auto &[name, batch] : evaluationBatch)
      data.gather(name, examples, batch);
    tool::check(evaluationExecution->run());
    judge.judge(evaluationExecution->output(0), labelsOf(data),
                std::span(examples).first(count), score);
  }
  return score;
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

std::vector<NamedArray> Trainer::arrays(bool ofStates) {
  std::vector<NamedArray> arrays;
  auto isOneOf = [](const std::vector<std::string> &names,
                    const std::string &name) {
    return llvm::is_contained(names, name);
  };
  for (const rt::Port &port : program().inputs()) {
    const std::string &name = port.name;
    HostTensor *tensor = &tensors.at(name);
    bool isState =
        isOneOf(step.states, name) || name == step.count || name == randomName;
    if (ofStates && isState)
      arrays.push_back({name, tensor});
    else if (!ofStates &&
             (isOneOf(step.parameters, name) || isOneOf(step.frozen, name)))
      arrays.push_back({"arg:" + name, tensor});
    else if (!ofStates && isOneOf(auxiliary, name))
      arrays.push_back({"aux:" + name, tensor});
  }
  if (!ofStates)
    for (auto &[name, tensor] : settings)
      arrays.push_back({"arg:" + name, &tensor});
  return arrays;
}

namespace {
/// Scalars that a checkpoint has beside what the next step reads.
class Notes {
public:
  /// Those of this run, which hold for what a file does not have.
  Notes(const TrainerOptions &options, const EpochSize &size)
      : options(options) {
    examples.view().as<int64_t>()[0] = size.examples;
    batch.view().as<int64_t>()[0] = size.batch;
    seed.view().as<int64_t>()[0] = static_cast<int64_t>(options.seed);
    for (const auto &[name, value] : options.noted) {
      noted.push_back(makeZeros({DLC_F64, {}}));
      noted.back().view().as<double>()[0] = value;
    }
  }

  std::vector<NamedArray> arrays() {
    std::vector<NamedArray> arrays = {
        {"examples", &examples}, {"batch size", &batch}, {"seed", &seed}};
    for (size_t i = 0; i < noted.size(); ++i)
      arrays.push_back({options.noted[i].first, &noted[i]});
    return arrays;
  }
  /// What is another one now than it was read.
  Restored read() {
    Restored restored;
    restored.size = {examples.view().as<int64_t>()[0],
                     batch.view().as<int64_t>()[0]};
    restored.seed = static_cast<uint64_t>(seed.view().as<int64_t>()[0]);
    for (size_t i = 0; i < noted.size(); ++i) {
      const auto &[name, now] = options.noted[i];
      double before = noted[i].view().as<double>()[0];
      if (before != now && !(std::isnan(before) && std::isnan(now)))
        restored.changed.push_back({name, before, now});
    }
    return restored;
  }

private:
  const TrainerOptions &options;
  HostTensor examples = makeZeros({DLC_I64, {}});
  HostTensor batch = makeZeros({DLC_I64, {}});
  HostTensor seed = makeZeros({DLC_I64, {}}); // Its bits.
  std::vector<HostTensor> noted;
};
} // namespace

/// States first: where there is a file of parameters, the checkpoint is whole.
void Trainer::save(const std::string &prefix, int64_t epoch) {
  std::vector<NamedArray> states = arrays(true);
  Notes notes(options, size);
  llvm::append_range(states, notes.arrays());
  writeArrays(checkpointPath(prefix, epoch, ".states"), states);
  writeArrays(checkpointPath(prefix, epoch, ".params"), arrays(false));
}

Restored Trainer::restore(const std::string &prefix, int64_t epoch) {
  readArrays(checkpointPath(prefix, epoch, ".params"), arrays(false));
  std::string states = checkpointPath(prefix, epoch, ".states");
  Notes notes(options, size);
  // Checkpoints of before they were written go on without.
  try {
    readArrays(states, arrays(true), notes.arrays());
  } catch (Failure &failure) {
    failure.message += "; --params " +
                       checkpointPath(prefix, epoch, ".params") +
                       " without --resume begins with its values";
    throw;
  }
  // Schedules compute with doubles.
  constexpr int64_t most = int64_t(1) << 53;
  if (updates() < 0 || updates() > most)
    throw Failure{states + ": expected '" + step.count + "' from 0 to " +
                  std::to_string(most) + ", got " + std::to_string(updates())};
  return notes.read();
}
