// SPDX-License-Identifier: Apache-2.0
//
// dlc train: a network and examples to a trained network.

#include "Curve.h"
#include "Trainer.h"

#include "dlc/Training/LearningRate.h"
#include "dlc/Training/Optimizer.h"
#include "dlc/Training/Step.h"
#include "dlc/runtime/Base/Random.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <unistd.h>

using namespace dlc;
using namespace dlc::tool;

namespace {
/// Sums over the batches of an epoch.
struct EpochResult {
  double loss = 0;
  int64_t right = 0, batches = 0;
  bool hasClasses = false;
};

struct TrainCommand {
  TrainerOptions options;
  std::string data, test, checkpoint, curve, initializer;
  std::string schedule = "constant", scheduleSteps;
  std::vector<std::string> frozen;
  double learningRate = NAN, initializerScale = NAN, rescale = NAN;
  double momentum = NAN, beta1 = NAN, beta2 = NAN, epsilon = NAN, rho = NAN;
  double gamma1 = NAN, gamma2 = NAN, l1 = NAN, beta = NAN, clip = NAN;
  double lowerBound = NAN, upperBound = NAN, decoupled = NAN;
  training::RateSchedule rates;
  int64_t epochs = 1;
  bool resume = false;

  void add(Syntax &syntax);
  void addOptimizer(Syntax &syntax);
  void addSchedule(Syntax &syntax);
  int run();

private:
  void readOptions();
  void readSchedule();
  int64_t findCheckpoint() const;
  void train(Trainer &trainer, TrainData &examples);
  void trainEpoch(Trainer &trainer, const TrainData &examples, int64_t epoch);
  void report(int64_t epoch, const EpochResult &total, double milliseconds,
              const BatchResult *tested);

  std::unique_ptr<TrainData> testData;
  Curve curveOfLoss{"training", {}, {}};
};
} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static std::optional<double> given(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

void TrainCommand::readOptions() {
  training::OptimizerOptions &o = options.step.optimizer;
  o.momentum = given(momentum);
  o.beta1 = given(beta1);
  o.beta2 = given(beta2);
  o.epsilon = given(epsilon);
  o.rho = given(rho);
  o.gamma1 = given(gamma1);
  o.gamma2 = given(gamma2);
  o.l1 = given(l1);
  o.beta = given(beta);
  o.clip = given(clip);
  o.lowerBound = given(lowerBound);
  o.upperBound = given(upperBound);
  o.decoupledDecay = given(decoupled);
  std::string problem;
  std::optional<training::Optimizer> optimizer =
      training::Optimizer::create(o, problem);
  if (!optimizer)
    throw Failure{problem, kBadUsage};
  rates.base = given(learningRate).value_or(optimizer->defaultLearningRate());
  // The gradients of losses that are layers are sums over the batch; those that
  // are added are means.
  o.rescale = given(rescale).value_or(
      options.step.loss.empty() ? 1.0 / static_cast<double>(options.batch) : 1);
  options.step.frozen.insert(frozen.begin(), frozen.end());
  if (!initializer.empty())
    options.initializer = {initializer, given(initializerScale)};
  if (!options.emit.empty()) {
    std::optional<Phase> phase = pipeline::phaseOf(options.emit);
    if (!phase || *phase > Phase::Plan)
      throw Failure{"expected --emit=PHASE from import to plan, got '" +
                        options.emit + "'",
                    kBadUsage};
  }
  if (resume && checkpoint.empty())
    throw Failure{"expected --checkpoint PREFIX to resume from", kBadUsage};
  if (options.model.isArtifact())
    throw Failure{options.model.path + ": expected a model to train, got an "
                                       "artifact, which is compiled already"};
}

void TrainCommand::readSchedule() {
  std::optional<training::RateKind> kind = training::rateKindOf(schedule);
  if (!kind)
    throw Failure{"expected --schedule " + training::rateKindNames() +
                      ", got '" + schedule + "'",
                  kBadUsage};
  rates.kind = *kind;
  std::string text = scheduleSteps;
  while (!text.empty()) {
    char *end = nullptr;
    long long number = std::strtoll(text.c_str(), &end, 10);
    if (end == text.c_str() || (*end && *end != ','))
      throw Failure{"expected --schedule-steps like 1000,2000, got '" +
                        scheduleSteps + "'",
                    kBadUsage};
    rates.steps.push_back(number);
    text = *end ? end + 1 : end;
  }
  if (std::optional<std::string> problem = training::check(rates))
    throw Failure{*problem, kBadUsage};
}

void TrainCommand::addOptimizer(Syntax &syntax) {
  training::OptimizerOptions &o = options.step.optimizer;
  syntax.option("--optimizer", o.name,
                "Optimizer: " + training::Optimizer::names());
  syntax.option("--learning-rate", learningRate,
                "Learning rate; the optimizer's own without it");
  syntax.option("--momentum", momentum, "Momentum: sgd, nag, signum");
  syntax.option("--weight-decay", o.weightDecay,
                "Weight decay, of all parameters but bias and beta");
  syntax.option("--clip-gradient", clip,
                "Largest size of a gradient's element");
  syntax.option("--rescale", rescale,
                "Factor of gradients; 1/batch where layers are losses, else 1");
  syntax.option("--beta1", beta1, "Kept part of the mean: adam, adamw, lamb");
  syntax.option("--beta2", beta2, "Kept part of the square: adam, adamw, lamb");
  syntax.option("--epsilon", epsilon, "Keeps divisors from 0");
  syntax.option("--rho", rho, "Kept part of averages: adadelta");
  syntax.option("--gamma1", gamma1, "Kept part of the square: rmsprop");
  syntax.option("--gamma2", gamma2, "Momentum: rmsprop, centered");
  syntax.flag("--centered", o.isCentered, "Divide by the deviation: rmsprop");
  syntax.option("--l1", l1, "Size of z below which weights are 0: ftrl");
  syntax.option("--beta", beta, "Summand of the root: ftrl");
  syntax.option("--lower-bound", lowerBound, "Least norm of a weight: lamb");
  syntax.option("--upper-bound", upperBound, "Largest norm of a weight: lamb");
  syntax.option("--decoupled-decay", decoupled,
                "Weight decay apart from the gradient: signum");
}

void TrainCommand::addSchedule(Syntax &syntax) {
  syntax.option("--schedule", schedule,
                "Learning rate over updates: " + training::rateKindNames());
  syntax.option("--schedule-factor", rates.factor,
                "Factor of the rate: factor, multifactor");
  syntax.option("--schedule-step", rates.step, "Updates between: factor");
  syntax.option("--schedule-steps", scheduleSteps,
                "Updates, 1000,2000: multifactor");
  syntax.option("--schedule-total", rates.total,
                "Updates until the last rate: poly, cosine");
  syntax.option("--schedule-power", rates.power, "Exponent: poly");
  syntax.option("--final-rate", rates.final, "Last rate: poly, cosine");
  syntax.option("--warm-up", rates.warmUp,
                "Updates in which the rate rises to its first value");
  syntax.option("--warm-up-begin", rates.warmUpBegin, "Where it rises from");
}

void TrainCommand::add(Syntax &syntax) {
  options.model.add(syntax, /*acceptsArtifact=*/false);
  syntax.option("--data", data, "Examples to train with (.npz)");
  syntax.option("--test", test,
                "Examples to test with after each epoch (.npz)");
  syntax.option("--loss", options.step.loss,
                "Loss of a network without one: " + training::lossNames());
  syntax.option("--label", options.step.label,
                "Array of the labels of --loss (default: label)");
  syntax.positive("--epochs", epochs, "Passes over the examples");
  syntax.positive("--batch", options.batch, "Examples of one update");
  syntax.option("--seed", options.seed,
                "Seed of first values, of the order and of dropout");
  syntax.option("--initializer", initializer,
                "First values of parameters: " + training::initializerNames() +
                    "; without it those of the model, else xavier");
  syntax.option("--initializer-scale", initializerScale,
                "Number that the initializer takes");
  syntax.option("--freeze", frozen, "Parameter that stays (repeatable)");
  addOptimizer(syntax);
  addSchedule(syntax);
  syntax.option("--checkpoint", checkpoint,
                "Write PREFIX-NNNN.params and .states after each epoch");
  syntax.flag("--resume", resume, "Continue from the last checkpoint");
  syntax.option("--curve", curve, "Write the loss over the updates (.svg)");
  syntax.option("--emit", options.emit,
                "Print the program of a step at a phase and stop: import to "
                "plan");
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

/// The newest epoch of the prefix; throws a Failure when there is none.
int64_t TrainCommand::findCheckpoint() const {
  namespace fs = std::filesystem;
  fs::path prefix = checkpoint;
  fs::path folder = prefix.has_parent_path() ? prefix.parent_path() : ".";
  std::string start = prefix.filename().string() + "-";
  int64_t newest = -1;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(start) || !name.ends_with(".params"))
      continue;
    std::string number =
        name.substr(start.size(), name.size() - start.size() - 7);
    if (!number.empty() &&
        number.find_first_not_of("0123456789") == std::string::npos)
      newest = std::max<int64_t>(newest, std::atoll(number.c_str()));
  }
  if (newest < 0)
    throw Failure{"expected a checkpoint " + checkpoint +
                  "-NNNN.params to resume from, got none"};
  return newest;
}

/// The examples in another order in each epoch (Fisher and Yates).
static std::vector<int64_t> orderOf(int64_t count, uint64_t seed,
                                    int64_t epoch) {
  std::vector<int64_t> order(count), draw(1);
  std::iota(order.begin(), order.end(), 0);
  rt::RandomDraws draws{seed, UINT32_MAX, uint64_t(epoch) << 32};
  for (int64_t i = count - 1; i > 0; --i) {
    rt::fillUniform(draws, i, draw, 0, i + 1);
    std::swap(order[i], order[draw[0]]);
  }
  return order;
}

/// "epoch 3: loss 0.1234, accuracy 97.12 %, test accuracy 96.94 %, 0.42 s".
void TrainCommand::report(int64_t epoch, const EpochResult &total,
                          double milliseconds, const BatchResult *tested) {
  std::printf("epoch %lld: loss %.4f", static_cast<long long>(epoch),
              total.loss / double(total.batches));
  if (total.hasClasses)
    std::printf(", accuracy %.2f %%",
                100.0 * double(total.right) /
                    double(total.batches * options.batch));
  if (tested && tested->hasClasses)
    std::printf(", test accuracy %.2f %%",
                100.0 * double(tested->right) / double(testData->examples()));
  std::printf(", %.2f s\n", milliseconds / 1e3);
  std::fflush(stdout);
}

void TrainCommand::trainEpoch(Trainer &trainer, const TrainData &examples,
                              int64_t epoch) {
  double begin = now();
  std::vector<int64_t> order =
      orderOf(examples.examples(), options.seed, epoch);
  EpochResult total;
  int64_t batches = examples.examples() / options.batch;
  for (; total.batches != batches; ++total.batches) {
    int64_t number = trainer.updates() + 1;
    BatchResult result = trainer.update(
        examples,
        std::span(order).subspan(total.batches * options.batch, options.batch),
        training::rateOf(rates, number));
    if (!std::isfinite(result.loss))
      throw Failure{"expected a finite loss, got " +
                    std::to_string(result.loss) + " in epoch " +
                    std::to_string(epoch) + ", update " +
                    std::to_string(number) +
                    "; a smaller --learning-rate or --clip-gradient may help"};
    total.loss += result.loss;
    total.right += result.right;
    total.hasClasses = result.hasClasses;
    curveOfLoss.x.push_back(double(number));
    curveOfLoss.y.push_back(result.loss);
    if (isatty(STDERR_FILENO))
      std::fprintf(stderr, "\r\033[Kepoch %lld: batch %lld of %lld",
                   static_cast<long long>(epoch),
                   static_cast<long long>(total.batches + 1),
                   static_cast<long long>(batches));
  }
  if (isatty(STDERR_FILENO))
    std::fputs("\r\033[K", stderr);
  double milliseconds = now() - begin;
  std::optional<BatchResult> tested;
  if (testData)
    tested = trainer.evaluate(*testData);
  report(epoch, total, milliseconds, tested ? &*tested : nullptr);
}

void TrainCommand::train(Trainer &trainer, TrainData &examples) {
  int64_t first = 1;
  if (resume) {
    first = findCheckpoint() + 1;
    trainer.restore(checkpoint, first - 1);
    std::printf("resumed from epoch %lld\n", static_cast<long long>(first - 1));
  }
  for (int64_t epoch = first; epoch <= epochs; ++epoch) {
    trainEpoch(trainer, examples, epoch);
    if (!checkpoint.empty())
      trainer.save(checkpoint, epoch);
  }
  if (!curve.empty())
    writeOutput(curve,
                drawCurves("loss of " + options.model.path, {curveOfLoss}));
}

int TrainCommand::run() {
  if (data.empty())
    throw Failure{"expected --data FILE.npz with examples", kBadUsage};
  readOptions();
  readSchedule();
  checkOutputs(
      {{"the model", options.model.path},
       {"--params", options.model.params},
       {"--data", data},
       {"--test", test}},
      {{"--curve", curve}, {"--reproducer", options.model.reproducer}});
  TrainData examples(data);
  Trainer trainer(options, examples);
  if (!options.emit.empty()) {
    writeOutput("-", trainer.text());
    return kOk;
  }
  if (!test.empty()) {
    testData = std::make_unique<TrainData>(test);
    trainer.prepareEvaluation(*testData);
  }
  int64_t left = examples.examples() % options.batch;
  std::printf("%zu parameters, %lld examples in %lld batches; compiled in "
              "%.0f ms\n",
              trainer.parameterCount(),
              static_cast<long long>(examples.examples()),
              static_cast<long long>(examples.examples() / options.batch),
              trainer.compileMs());
  if (left)
    std::printf("note: %lld examples that fill no batch are left out of each "
                "epoch, other ones each time\n",
                static_cast<long long>(left));
  std::fflush(stdout);
  train(trainer, examples);
  return kOk;
}

void dlc::tool::addTrain(CommandLine &line) {
  auto command = std::make_shared<TrainCommand>();
  Syntax syntax =
      line.add("train", "Train a model", [command] { return command->run(); });
  command->add(syntax);
}
