// SPDX-License-Identifier: Apache-2.0
//
// Training in one process: the programs of a step and of an evaluation, and the
// memory that they share and change in place.

#ifndef DLC_TOOLS_DLC_TRAINER_H
#define DLC_TOOLS_DLC_TRAINER_H

#include "CompilerCommand.h"
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
  /// A phase, to print the program at instead of training.
  std::string emit;
};

/// What a batch says of the network.
struct BatchResult {
  double loss = 0;   ///< 0 when there is none to compute.
  int64_t right = 0; ///< Examples whose largest output is that of the label.
  bool hasClasses = false;
};

class Trainer {
public:
  /// Compiles the step for batches of `data` and gives its parameters their
  /// first values. Throws a Failure.
  Trainer(const TrainerOptions &options, TrainData &data);

  /// The program at the phase `emit`; nothing else can be done then.
  const std::string &text() const { return emitted; }

  /// One update with these examples, as many as a batch.
  BatchResult update(const TrainData &data, std::span<const int64_t> examples,
                     double learningRate);

  /// Compiles the network for inference; then evaluate() may be called with
  /// data of the same arrays.
  void prepareEvaluation(TrainData &data);
  BatchResult evaluate(const TrainData &data);

  int64_t updates() const;
  size_t parameterCount() const;
  double compileMs() const { return stepModel.compileMs; }
  const rt::Program &program() const { return *stepModel.program; }

  /// Writes `prefix-NNNN.params`, as MXNet does, and beside it .states.
  void save(const std::string &prefix, int64_t epoch) const;
  /// Reads them back.
  void restore(const std::string &prefix, int64_t epoch);
  /// Values of parameters and states by name ("arg:" and "aux:" or none);
  /// throws for names or shapes that do not fit.
  void read(const std::string &path, bool isComplete);

private:
  void compileStep(TrainData &data);
  void initialize(const std::vector<InitialValue> &values);
  void initializeOne(const std::string &name, uint32_t stream);
  std::unique_ptr<rt::Execution> makeExecution(const rt::Program &program,
                                               NamedTensors &batch);
  /// The array of `data` whose values are the labels; null when there is none.
  const HostTensor *labelsOf(const TrainData &data) const;

  TrainerOptions options;
  training::Step step;
  std::vector<std::string> auxiliary; ///< Moving statistics.
  std::string randomName;             ///< The state of random numbers.
  std::string labelName;              ///< The array of labels.
  std::string emitted;
  LoadedModel stepModel, evaluationModel;
  std::unique_ptr<rt::WorkerPool> pool;
  NamedTensors tensors; ///< Memory of all inputs of the step.
  NamedTensors evaluationBatch;
  std::unique_ptr<rt::Execution> stepExecution, evaluationExecution;
};

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_TRAINER_H
