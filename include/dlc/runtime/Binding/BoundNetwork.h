// SPDX-License-Identifier: Apache-2.0
//
// What all executors are to those who run them: a network whose variables and
// outputs have arrays.

#ifndef DLC_RUNTIME_BINDING_BOUNDNETWORK_H
#define DLC_RUNTIME_BINDING_BOUNDNETWORK_H

#include "dlc/runtime/Binding/Network.h"
#include "dlc/runtime/NDArray/NDArray.h"

#include <functional>
#include <map>
#include <span>
#include <string>

namespace dlc::rt {

/// Runs are pushed to the engine of the arrays and return at once, in order
/// with all other operations on them. Errors found by compiling or checking are
/// returned; those of a run travel with the arrays that it writes. For one
/// thread at a time; may be destroyed while its runs are under way.
class BoundNetwork {
public:
  virtual ~BoundNetwork();
  BoundNetwork(const BoundNetwork &) = delete;
  BoundNetwork &operator=(const BoundNetwork &) = delete;

  virtual const Network &network() const = 0;

  /// Pushes a run forward. For training, auxiliary states are updated, and what
  /// backward() needs is saved. Errors: those of compiling a program, once.
  virtual Status forward(bool isTraining = false) = 0;

  /// Pushes a run backward, from the last forward(true). `heads` are the
  /// gradients of the outputs, one each and null for those that are not of
  /// floats; none at all stand for ones. Outputs of loss layers do not read
  /// theirs. Errors: InvalidArgument (no forward(true) before, heads that do
  /// not fit).
  virtual Status backward(std::span<const NDArray> heads = {}) = 0;

  /// Both at once, as one program: it needs less memory and time.
  virtual Status forwardBackward(std::span<const NDArray> heads = {}) = 0;

  // The arrays, in the order of the network's names; the same from run to run.
  virtual std::span<const NDArray> outputs() const = 0;
  virtual std::span<const NDArray> arguments() const = 0;
  /// One for each argument, null where it was not requested.
  virtual std::span<const NDArray> gradients() const = 0;
  virtual std::span<const NDArray> auxiliaryStates() const = 0;

  /// By name. Errors: NotFound, which lists the names.
  Result<NDArray> output(const std::string &name) const;
  Result<NDArray> argument(const std::string &name) const;
  Result<NDArray> gradient(const std::string &name) const;
  Result<NDArray> auxiliaryState(const std::string &name) const;

  /// Copies values into the arrays of those names, which are all checked before
  /// one is written. Errors: InvalidArgument (another type or shape), NotFound
  /// (an unknown name, unless `allowsUnknown`).
  Status copyParameters(const std::map<std::string, NDArray> &arguments,
                        const std::map<std::string, NDArray> &states = {},
                        bool allowsUnknown = false);

  /// Is told of the outputs of every node, by name, in each forward() and
  /// forwardBackward(), as soon as they are pushed; of variables too when
  /// `tellsVariables`. They come from one more program, which is run in front
  /// of the run's, computes the same to rounding, draws the same random numbers
  /// and updates nothing. An empty function ends that.
  using Monitor = std::function<void(const std::string &, const NDArray &)>;
  virtual void setMonitor(Monitor monitor, bool tellsVariables = false) = 0;

  /// The network, and what is planned for it, for people.
  virtual std::string describe() const = 0;

protected:
  BoundNetwork() = default;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BINDING_BOUNDNETWORK_H
