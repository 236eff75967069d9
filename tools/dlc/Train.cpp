// SPDX-License-Identifier: Apache-2.0
//
// dlc train: a network and examples to a trained network.

#include "Curve.h"
#include "Trainer.h"

#include "dlc/Frontend/MXNet/Save.h"
#include "dlc/Training/LearningRate.h"
#include "dlc/Training/Optimizer.h"
#include "dlc/Training/Step.h"
#include "dlc/Training/Text.h"
#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Base/Random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <unistd.h>

using namespace dlc;
using namespace dlc::tool;

namespace {
struct TrainCommand {
  TrainerOptions options;
  std::string data, test, checkpoint, curve, initializer;
  std::string schedule = "constant", scheduleSteps;
  std::vector<std::string> frozen, rateFactors, decayFactors;
  double learningRate = NAN, leastRate = NAN, initializerScale = NAN,
         rescale = NAN;
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
  void noteOptions(const training::Optimizer &optimizer);
  void readOptimizer();
  void readFactors(const std::string &option,
                   const std::vector<std::string> &texts,
                   std::optional<double> training::Factors::*factor);
  void checkSchedule() const;
  void checkUsed(const training::Optimizer &optimizer) const;
  void checkSources() const;
  void readOptions();
  void readSchedule();
  void prepareCheckpoints() const;
  void train(Trainer &trainer, TrainData &examples);
  void trainEpoch(Trainer &trainer, const TrainData &examples, int64_t epoch);
  void checkUse(const Trainer &trainer) const;

  std::optional<Syntax> syntax; ///< To ask what was given.
  int64_t firstUpdate = 1;      ///< Of this process.
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

/// "fc1_weight=0.1".
void TrainCommand::readFactors(
    const std::string &option, const std::vector<std::string> &texts,
    std::optional<double> training::Factors::*factor) {
  for (const std::string &text : texts) {
    std::string expected = option + " NAME=0.1, of at least 0";
    auto [name, number] = splitNamed(text, expected);
    char *end = nullptr;
    double value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end || !std::isfinite(value) || value < 0)
      throw Failure{"expected " + expected + ", got '" + text + "'", kBadUsage};
    std::optional<double> &known = options.step.factors[name].*factor;
    if (known)
      throw Failure{"expected one " + option + " of '" + name + "', got two",
                    kBadUsage};
    known = value;
  }
}

[[noreturn]] static void refuse(const std::string &what) {
  throw Failure{"expected " + what, kBadUsage};
}

/// Refuses options of other schedules, and a schedule without those that no
/// default can give: they are a matter of how long the training is.
void TrainCommand::checkSchedule() const {
  using training::RateKind;
  struct Row {
    const char *option;
    std::vector<RateKind> kinds;
    bool isRequired = false;
  };
  static const Row rows[] = {
      {"--schedule-factor", {RateKind::Factor, RateKind::MultiFactor}},
      {"--schedule-step", {RateKind::Factor}, true},
      {"--least-rate", {RateKind::Factor}},
      {"--schedule-steps", {RateKind::MultiFactor}, true},
      {"--schedule-total", {RateKind::Poly, RateKind::Cosine}, true},
      {"--schedule-power", {RateKind::Poly}},
      {"--final-rate", {RateKind::Poly, RateKind::Cosine}}};
  for (const auto &[option, kinds, isRequired] : rows) {
    bool isGiven = syntax->firstGiven({option});
    bool isOfKind = std::ranges::find(kinds, rates.kind) != kinds.end();
    if (isGiven && !isOfKind)
      refuse(std::string("another --schedule for ") + option + ", got " +
             schedule);
    if (isOfKind && isRequired && !isGiven)
      refuse(std::string(option) + " with --schedule " + schedule);
  }
  if (syntax->firstGiven({"--warm-up-begin"}) && rates.warmUp == 0)
    refuse("--warm-up with --warm-up-begin");
}

/// Refuses options that change nothing beside the others.
void TrainCommand::checkUsed(const training::Optimizer &optimizer) const {
  checkSchedule();
  if (syntax->firstGiven({"--label"}) &&
      !training::lossHasLabels(options.step.loss).value_or(false))
    refuse("a --loss that has labels with --label");
  if (syntax->firstGiven({"--decay-factor"}) &&
      options.step.optimizer.weightDecay == 0)
    refuse("a --weight-decay above 0 with --decay-factor");
  if (initializer.empty() && syntax->firstGiven({"--initializer-scale"}))
    refuse("--initializer with --initializer-scale");
  const training::OptimizerOptions &o = options.step.optimizer;
  if (rescale == 0 && o.weightDecay == 0 && o.decoupledDecay.value_or(0) == 0)
    refuse("--rescale other than 0, or a weight decay: else nothing changes");
  bool ends = rates.kind == training::RateKind::Poly ||
              rates.kind == training::RateKind::Cosine;
  if (optimizer.dividesByRate() && ends && rates.final == 0)
    refuse("--final-rate above 0 with --schedule " + schedule +
           ": optimizer '" + o.name + "' divides by the learning rate");
  if (optimizer.hasLearningRate())
    return;
  if (const char *option = syntax->firstGiven(
          {"--learning-rate", "--rate-factor", "--schedule", "--warm-up"}))
    refuse("an optimizer with a learning rate for " + std::string(option) +
           ", got '" + options.step.optimizer.name + "'");
}

/// Refuses values and files that would not be used.
void TrainCommand::checkSources() const {
  if (resume && checkpoint.empty())
    throw Failure{"expected --checkpoint PREFIX to resume from", kBadUsage};
  if (resume)
    if (const char *option = syntax->firstGiven(
            {"--params", "--initializer", "--initializer-scale"}))
      throw Failure{"expected no " + std::string(option) +
                        " beside --resume: a checkpoint has all values",
                    kBadUsage};
  if (!curve.empty() && !curve.ends_with(".svg"))
    throw Failure{"expected --curve FILE.svg, got '" + curve + "'", kBadUsage};
  if (!options.emit.empty())
    if (const char *option = syntax->firstGiven(
            {"--checkpoint", "--resume", "--curve", "--test", "--epochs"}))
      throw Failure{"expected no " + std::string(option) +
                        " beside --emit, which trains nothing",
                    kBadUsage};
}

/// What checkpoints are to have, so that a run that goes on from one can say
/// what is another one.
void TrainCommand::noteOptions(const training::Optimizer &optimizer) {
  const training::OptimizerOptions &o = optimizer.completeOptions();
  const std::pair<const char *, std::optional<double>> numbers[] = {
      {"--momentum", o.momentum},
      {"--beta1", o.beta1},
      {"--beta2", o.beta2},
      {"--epsilon", o.epsilon},
      {"--rho", o.rho},
      {"--gamma1", o.gamma1},
      {"--gamma2", o.gamma2},
      {"--l1", o.l1},
      {"--beta", o.beta},
      {"--clip-gradient", o.clip},
      {"--lower-bound", o.lowerBound},
      {"--upper-bound", o.upperBound},
      {"--decoupled-decay", o.decoupledDecay},
      {"--weight-decay", o.weightDecay},
      {"--rescale", given(rescale)}};
  for (auto [option, value] : numbers)
    options.noted.emplace_back(option, value.value_or(NAN));
  // Several optimizers keep the same.
  std::string all = training::Optimizer::names();
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(all).split(names, ", ");
  for (llvm::StringRef name : names)
    options.noted.emplace_back("--optimizer " + name.str(), name == o.name);
}

void TrainCommand::readOptimizer() {
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
  noteOptions(*optimizer);
  readSchedule();
  checkUsed(*optimizer);
  rates.base = given(learningRate).value_or(optimizer->defaultLearningRate());
  // The gradients of losses that are layers are sums over the batch; those that
  // are added are means.
  o.rescale = given(rescale).value_or(
      options.step.loss.empty() ? 1.0 / static_cast<double>(options.batch) : 1);
  if (std::optional<std::string> problem = training::check(rates))
    throw Failure{*problem, kBadUsage};
}

void TrainCommand::readOptions() {
  const std::string &loss = options.step.loss;
  if (!loss.empty() && !training::lossHasLabels(loss))
    throw Failure{"expected --loss " + training::lossNames() + ", got '" +
                      loss + "'",
                  kBadUsage};
  readOptimizer();
  readFactors("--rate-factor", rateFactors, &training::Factors::rate);
  readFactors("--decay-factor", decayFactors, &training::Factors::decay);
  options.step.frozen.insert(frozen.begin(), frozen.end());
  if (!initializer.empty()) {
    options.initializer = {initializer, given(initializerScale)};
    if (std::optional<std::string> problem =
            training::check(*options.initializer))
      throw Failure{*problem, kBadUsage};
  }
  if (!options.emit.empty()) {
    std::optional<Phase> phase = pipeline::phaseOf(options.emit);
    if (!phase || *phase > Phase::Plan)
      throw Failure{"expected --emit=PHASE from import to plan, got '" +
                        options.emit + "'",
                    kBadUsage};
  }
  checkSources();
  if (options.model.isArtifact())
    throw Failure{options.model.path + ": expected a model to train, got an "
                                       "artifact, which is compiled already",
                  kBadUsage};
}

void TrainCommand::readSchedule() {
  std::optional<training::RateKind> kind = training::rateKindOf(schedule);
  if (!kind)
    throw Failure{"expected --schedule " + training::rateKindNames() +
                      ", got '" + schedule + "'",
                  kBadUsage};
  rates.kind = *kind;
  rates.least = given(leastRate);
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
}

void TrainCommand::addOptimizer(Syntax &syntax) {
  training::OptimizerOptions &o = options.step.optimizer;
  syntax.option("--optimizer", o.name,
                "Optimizer: " + training::Optimizer::names());
  syntax.option("--learning-rate", learningRate,
                "Learning rate; the optimizer's own without it");
  syntax.option("--momentum", momentum, "Momentum: sgd, nag, signum");
  syntax.option("--weight-decay", o.weightDecay,
                "Weight decay: of weights and gammas of an MXNet network, by "
                "their names, and of other models all but bias and beta");
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
  syntax.option("--least-rate", leastRate,
                "Rate below which it does not fall: factor (default: 1e-8)");
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
  this->syntax = syntax;
  options.model.add(syntax, /*acceptsArtifact=*/false);
  syntax.option("--data", data, "Examples to train with (.npz)");
  syntax.option("--test", test,
                "Examples to test with after each epoch (.npz)");
  syntax.option("--loss", options.step.loss,
                "Loss of a network without one: " + training::lossNames());
  syntax.option("--label", options.step.label,
                "Array of the labels of --loss (default: label)");
  syntax.positive("--epochs", epochs,
                  "Passes over the examples, those before --resume included "
                  "(default: 1)");
  syntax.positive("--batch", options.batch,
                  "Examples of one update (default: 32)");
  syntax.option("--seed", options.seed,
                "Seed of first values, of the order and of dropout");
  syntax.option("--initializer", initializer,
                "First values of parameters: " + training::initializerNames() +
                    "; without it those of the model, else xavier");
  syntax.option("--initializer-scale", initializerScale,
                "Number that the initializer takes");
  syntax.option("--freeze", frozen, "Parameter that stays (repeatable)");
  syntax.option("--rate-factor", rateFactors,
                "NAME=F: factor of a parameter's learning rate (repeatable)");
  syntax.option("--decay-factor", decayFactors,
                "NAME=F: factor of a parameter's weight decay (repeatable)");
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

/// "epoch 3: loss 0.1234, accuracy 97.12 %, test loss 0.1300, test accuracy
/// 96.94 %, 0.42 s".
static void report(int64_t epoch, const Score &trained, const Score &tested,
                   double milliseconds) {
  std::string text;
  for (const std::string &part :
       {trained.describe(""), tested.describe("test ")})
    text += part.empty() ? "" : part + ", ";
  std::printf("epoch %lld: %s%.2f s\n", static_cast<long long>(epoch),
              text.c_str(), milliseconds / 1e3);
  std::fflush(stdout);
}

void TrainCommand::trainEpoch(Trainer &trainer, const TrainData &examples,
                              int64_t epoch) {
  double begin = now();
  std::vector<int64_t> order =
      orderOf(examples.examples(), options.seed, epoch);
  Score total;
  int64_t batches = examples.examples() / options.batch;
  for (int64_t batch = 0; batch != batches; ++batch) {
    int64_t number = trainer.updates() + 1;
    Score score = trainer.update(
        examples,
        std::span(order).subspan(batch * options.batch, options.batch),
        training::rateOf(rates, number));
    total.add(score);
    if (std::optional<double> loss = score.objective()) {
      if (!std::isfinite(*loss))
        throw Failure{"expected a finite loss, got " + training::toText(*loss) +
                      " in epoch " + std::to_string(epoch) + ", update " +
                      std::to_string(number) + "; " +
                      (number == firstUpdate
                           ? trainer.explainNotFinite(examples)
                           : "a smaller --learning-rate or --clip-gradient may "
                             "help")};
      curveOfLoss.x.push_back(double(number));
      curveOfLoss.y.push_back(*loss);
    }
    if (isatty(STDERR_FILENO))
      std::fprintf(stderr, "\r\033[Kepoch %lld: batch %lld of %lld",
                   static_cast<long long>(epoch),
                   static_cast<long long>(batch + 1),
                   static_cast<long long>(batches));
  }
  if (isatty(STDERR_FILENO))
    std::fputs("\r\033[K", stderr);
  double milliseconds = now() - begin;
  report(epoch, total, testData ? trainer.evaluate(*testData) : Score(),
         milliseconds);
}

/// A checkpoint goes on with other numbers of the optimizer, which is said.
static void noteOtherOptions(const Restored &before, uint64_t seed) {
  auto text = [](double value) {
    std::array<char, 32> digits;
    std::snprintf(digits.data(), digits.size(), "%.9g", value);
    return std::isnan(value) ? std::string("none") : std::string(digits.data());
  };
  if (before.seed != seed)
    std::printf("note: --seed is %llu, and in the epoch before it was %llu\n",
                static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(before.seed));
  std::string optimizer, other; // One of "--optimizer adam" and others is 1.
  for (const ChangedOption &option : before.changed)
    if (option.name.find(' ') != std::string::npos)
      (option.now != 0 ? optimizer : other) = option.name;
    else
      std::printf("note: %s is %s, and in the epoch before it was %s\n",
                  option.name.c_str(), text(option.now).c_str(),
                  text(option.before).c_str());
  if (!optimizer.empty())
    std::printf("note: it is %s, and in the epoch before it was %s\n",
                optimizer.c_str(), other.c_str());
}

/// The same of any batches.
static void noteOtherBatches(const EpochSize &before, const EpochSize &now) {
  if (before == now)
    return;
  std::printf("note: the epoch before was of %lld examples in batches of %lld, "
              "those from here on are of %lld in batches of %lld\n",
              static_cast<long long>(before.examples),
              static_cast<long long>(before.batch),
              static_cast<long long>(now.examples),
              static_cast<long long>(now.batch));
}

/// Before the first one: says what is there of other runs, and writes the
/// network for MXNet's load_checkpoint.
void TrainCommand::prepareCheckpoints() const {
  if (int64_t newest = newestCheckpoint(checkpoint); newest > epochs)
    std::printf("note: %s is of another run, and newer than this one's: "
                "--resume would go on from there\n",
                checkpointPath(checkpoint, newest, ".params").c_str());
  const std::string &model = options.model.path;
  std::string own = checkpoint + "-symbol.json";
  std::error_code error;
  if (!model.ends_with("-symbol.json") ||
      std::filesystem::equivalent(model, own, error))
    return;
  auto network = mxnet::readNetwork(model, {});
  if (!network.isOk())
    throw Failure{network.status().message()};
  if (!std::filesystem::exists(own, error))
    return writeOutput(own, network->json);
  rt::MappedFile file = take(rt::MappedFile::open(own));
  std::span<const std::byte> bytes = file.bytes();
  if (std::string_view(reinterpret_cast<const char *>(bytes.data()),
                       bytes.size()) != network->json)
    std::printf("note: %s is of another network, and left as it is\n",
                own.c_str());
}

void TrainCommand::train(Trainer &trainer, TrainData &examples) {
  int64_t first = 1;
  if (resume) {
    first = newestCheckpoint(checkpoint) + 1;
    Restored before = trainer.restore(checkpoint, first - 1);
    std::printf("resumed from epoch %lld\n", static_cast<long long>(first - 1));
    noteOtherBatches(before.size, trainer.epochSize());
    noteOtherOptions(before, options.seed);
  }
  if (!resume && !checkpoint.empty())
    prepareCheckpoints();
  if (first > epochs) { // Files of the epochs before stay what they are.
    std::printf("nothing to train: --epochs is %lld\n",
                static_cast<long long>(epochs));
    return;
  }
  if (checkpoint.empty())
    std::fputs("note: nothing keeps what is trained: give --checkpoint\n",
               stderr);
  firstUpdate = trainer.updates() + 1;
  for (int64_t epoch = first; epoch <= epochs; ++epoch) {
    trainEpoch(trainer, examples, epoch);
    if (!checkpoint.empty())
      trainer.save(checkpoint, epoch);
  }
  if (!curve.empty())
    writeOutput(curve,
                drawCurves("loss of " + options.model.path, {curveOfLoss}));
}

/// Says before training what there will be to see of it.
void TrainCommand::checkUse(const Trainer &trainer) const {
  if (trainer.hasObjective())
    return;
  const char *what = "the network's first output is neither a loss, nor a "
                     "softmax or as large as labels";
  if (!curve.empty())
    throw Failure{std::string("expected a loss to draw as --curve, but ") +
                  what};
  std::printf("note: no loss to show: %s\n", what);
}

int TrainCommand::run() {
  if (data.empty())
    throw Failure{"expected --data FILE.npz with examples", kBadUsage};
  readOptions();
  checkOutputs({{"the model", options.model.path},
                {"--params", options.model.params},
                {"--data", data},
                {"--test", test}},
               {{"--curve", curve},
                {"--tuning-cache", options.model.tuningOutput()},
                {"--reproducer", options.model.reproducer}});
  if (!checkpoint.empty())
    checkCheckpointFolder(checkpoint);
  if (resume) {
    int64_t newest = newestCheckpoint(checkpoint);
    if (newest < 0)
      throw Failure{"expected a checkpoint " + checkpoint +
                    "-NNNN.params to resume from, got none"};
    options.resumed = checkpointPath(checkpoint, newest, ".params");
  }
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
  const rt::ProgramStatistics &statistics = trainer.program().statistics();
  std::printf("memory: planned %llu bytes, lower bound %llu; parameters and "
              "states %llu\n",
              static_cast<unsigned long long>(statistics.arenaBytes),
              static_cast<unsigned long long>(statistics.lowerBoundBytes),
              static_cast<unsigned long long>(trainer.keptBytes()));
  if (left)
    std::printf("note: %lld examples that fill no batch are left out of each "
                "epoch, other ones each time\n",
                static_cast<long long>(left));
  checkUse(trainer);
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
