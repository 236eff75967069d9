// SPDX-License-Identifier: Apache-2.0
//
// Training in one process: the programs of a step and of an evaluation, and the
// memory that they share and change in place.

#ifndef DLC_TOOLS_DLC_TRAINER_H
#define DLC_TOOLS_DLC_TRAINER_H

#include "Checkpoint.h"
#include "CompilerCommand.h"
#include "Score.h"
#include "TrainData.h"

#include "dlc/Training/Initializer.h"
#include "dlc/Training/Options.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"

#include <optional>

namespace dlc::tool {

struct TrainerOptions {
  ModelOptions model;
  training::StepOptions step;
  std::optional<training::InitializerOptions> initializer;
  int64_t batch = 32;
  uint64_t seed = 1;
  /// The checkpoint's .params, where restore() is called before anything else.
  std::string resumed = {};
  /// A phase, to print the program at instead of training.
  std::string emit;
  /// What checkpoints note of the run beside its seed, by option; NaN: nothing.
  std::vector<std::pair<std::string, double>> noted = {};
};

/// What an epoch is of.
struct EpochSize {
  int64_t examples = 0, batch = 0;
  bool operator==(const EpochSize &) const = default;
};

/// An option that was another one in the epoch before; NaN: there was none.
struct ChangedOption {
  std::string name;
  double before = 0, now = 0;
};

/// What a checkpoint says of the epoch before; of what it does not say what is
/// so now.
struct Restored {
  EpochSize size;
  uint64_t seed = 0;
  std::vector<ChangedOption> changed;
};

class Trainer {
public:
  /// Compiles the step for batches of `data` and gives its parameters their
  /// first values. Throws a Failure.
  Trainer(const TrainerOptions &options, TrainData &data);

  /// The program at the phase `emit`; nothing else can be done then.
  const std::string &text() const { return emitted; }

  /// Whether scores of updates have an objective.
  bool hasObjective() const {
    return !step.loss.empty() || judge.hasObjective();
  }

  /// One update with these examples, as many as a batch.
  Score update(const TrainData &data, std::span<const int64_t> examples,
               double learningRate);

  /// Compiles the network for inference; then evaluate() may be called with
  /// data of the same arrays.
  void prepareEvaluation(TrainData &data);
  Score evaluate(const TrainData &data);

  /// Why the loss of the first update, before which nothing was learned, is not
  /// finite.
  std::string explainNotFinite(const TrainData &data) const;

  int64_t updates() const;
  size_t parameterCount() const;
  /// Bytes of what a step leaves to the next.
  size_t keptBytes() const;
  double compileMs() const { return stepModel.compileMs; }
  const rt::Program &program() const { return *stepModel.program; }

  /// Writes `prefix-NNNN.params`, as MXNet does, and beside it .states.
  void save(const std::string &prefix, int64_t epoch);
  /// Reads them back; throws where they are not what save() would write.
  Restored restore(const std::string &prefix, int64_t epoch);
  EpochSize epochSize() const { return size; }

private:
  void compileStep(TrainData &data);
  void initialize(const std::vector<InitialValue> &values);
  void readParameters(const std::vector<InitialValue> &values,
                      std::set<std::string> &known);
  training::InitializerOptions initializerOf(const std::string &name) const;
  void initializeOne(const std::string &name, uint32_t stream);
  /// What a checkpoint has of the network, or of the optimizer and the run.
  std::vector<NamedArray> arrays(bool ofStates);
  std::unique_ptr<rt::Execution> makeExecution(const rt::Program &program,
                                               NamedTensors &batch);
  void flattenLabels(TrainData &data) const;
  /// Checks the arrays of the data and gives them the types of batches.
  void convert(TrainData &data, const rt::Program &program) const;
  void noteNotFinite();
  void makeJudge();
  /// Of a layer that is the loss: says which labels are no class. Throws where
  /// one can be none.
  void checkOwnLabels(const TrainData &data) const;
  /// The labels of all examples; null where the step has none.
  const HostTensor *labelsOf(const TrainData &data) const;

  TrainerOptions options;
  EpochSize size;
  training::Step step;
  std::vector<std::string> auxiliary; ///< Moving statistics.
  std::string randomName;             ///< The state of random numbers.
  /// Initializers of an ONNX model that are no parameters, where a file of
  /// values has them: they are in the program, and in every checkpoint.
  NamedTensors settings;
  Judge judge;
  std::string emitted;
  LoadedModel stepModel, evaluationModel;
  std::unique_ptr<rt::WorkerPool> pool;
  NamedTensors tensors; ///< Memory of all inputs of the step.
  /// What the first update began with that is not finite, or "": later the
  /// parameters are others.
  std::optional<std::string> notFinite;
  NamedTensors evaluationBatch;
  std::unique_ptr<rt::Execution> stepExecution, evaluationExecution;
};

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_TRAINER_H
