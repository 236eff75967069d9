// SPDX-License-Identifier: Apache-2.0
//
// What an executor asks of the network that it runs: its variables and outputs,
// their types, and programs. lib/Executor answers for symbols, by compiling.

#ifndef DLC_RUNTIME_BINDING_NETWORK_H
#define DLC_RUNTIME_BINDING_NETWORK_H

#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/Tensor.h"
#include "dlc/runtime/Device/Context.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlc::rt {

/// What becomes of the gradient of an argument. Values are part of the C API:
/// append, never reorder.
enum class GradientRequest : uint8_t {
  Null = 0,  ///< It is not computed.
  Write = 1, ///< It replaces what its array holds.
  Add = 2,   ///< It is added to that.
};

/// The parts of a network that programs compute.
enum class ProgramForm : uint8_t {
  Inference, ///< Arguments and states -> outputs.
  Forward,   ///< The same for training, with new states and what Backward
             ///< needs of it.
  Backward,  ///< What Forward saved, arguments, states and gradients of
             ///< outputs -> gradients of arguments.
  Step,      ///< Both in one, which is planned as one.
  Internals, ///< Outputs of every node, as Inference computes them.
  TrainingInternals, ///< The same as Forward and Step do. Neither of the two
                     ///< updates anything.
};
const char *nameOf(ProgramForm form);
/// Internals or TrainingInternals.
bool isOfInternals(ProgramForm form);

/// What an input or output of a program is.
enum class PortRole : uint8_t {
  Argument,       ///< The array bound as argument `index`.
  AuxiliaryState, ///< The array bound as auxiliary state `index`.
  Output,         ///< Output `index` of the network.
  HeadGradient,   ///< The gradient of output `index`.
  Gradient,       ///< The array of the gradient of argument `index`.
  Saved,          ///< What Forward saved `index`-th, for Backward.
  Random,         ///< The state of random numbers.
  Internal,       ///< Output `index` of those of all nodes.
};

struct PortUse {
  PortRole role;
  uint32_t index;
};

/// Types of a network's variables and outputs, in the order of their names.
struct NetworkTypes {
  std::vector<TensorType> arguments, auxiliaryStates, outputs;
};

/// What is known of some variables.
struct KnownVariables {
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, DataType> types;
};

/// What a program is made for: static types of all variables and, where the
/// form has gradients, which.
struct ProgramRequest {
  ProgramForm form = ProgramForm::Inference;
  std::vector<TensorType> arguments, auxiliaryStates;
  std::vector<GradientRequest> gradients; ///< One per argument.
  /// Bytes that the program may keep values in while it runs; 0: no limit.
  int64_t memoryBudget = 0;

  /// Equal for equal requests.
  std::string key() const;
};

/// A program as a file holds it, and what its ports are. Outputs that update an
/// input (Port::updates) are what that is, whatever is listed. Outputs of
/// Forward and inputs of Backward beyond those listed are what is saved, in
/// order.
struct NetworkProgram {
  AlignedBuffer bytes;
  std::vector<PortUse> inputs, outputs;
  std::vector<std::string> internals; ///< Names of outputs of all nodes.
};

/// A network of named variables and outputs. Immutable and shared; all
/// functions may be called by several threads at once. Failures name node,
/// operator and operand, what was expected and found.
class Network {
public:
  virtual ~Network();

  /// Names in order; those of arguments and states are distinct. Of outputs of
  /// one name, it means the first.
  virtual const std::vector<std::string> &arguments() const = 0;
  virtual const std::vector<std::string> &auxiliaryStates() const = 0;
  virtual const std::vector<std::string> &outputs() const = 0;

  /// Static types of everything out of those of some variables. Errors:
  /// InvalidArgument (contradictions, too little known, unknown names),
  /// Unsupported.
  virtual Result<NetworkTypes> infer(const KnownVariables &known) const = 0;

  /// Fails where compile() would for the request's sake, without most of the
  /// work. Errors: InvalidArgument, Unsupported.
  virtual Status check(const ProgramRequest &request) const = 0;

  /// Compiles. Errors: as check(), InvalidArgument where the budget cannot be
  /// kept to, which names the least one, and Internal.
  virtual Result<NetworkProgram>
  compile(const ProgramRequest &request) const = 0;

  /// Whether its programs run on several devices: groups of nodes have theirs.
  virtual bool isPlaced() const { return false; }

  /// The device of the group of a variable (Argument, AuxiliaryState) or of the
  /// node that makes an output (Output); none for what is in no group, and
  /// where groups have no devices.
  virtual std::optional<Context> groupContext(PortRole, size_t) const {
    return std::nullopt;
  }

  /// Arguments, by number in order, that the runs of an executor with these
  /// requests (one per argument) fill with ones: the network takes them as
  /// ones, whatever they hold, and nothing else reads them.
  virtual std::vector<size_t>
  fixedArguments(std::span<const GradientRequest>) const {
    return {};
  }

  /// Its nodes as text for people.
  virtual std::string describe() const = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BINDING_NETWORK_H
