// SPDX-License-Identifier: Apache-2.0
//
// Executors of symbols: MXNet's bind and simple_bind. A symbol is compiled when
// a run first needs a program of it; rt::Executor does the rest.
//
//   auto runtime = std::make_shared<rt::ArrayRuntime>(std::move(engine));
//   auto executor = *simpleBind(d, runtime, {.shapes = {{"a", {2}}}});
//   executor->argument("a")->copyFromHost(values);
//   executor->forward(/*isTraining=*/true);
//   executor->backward();
//   executor->gradient("a")->copyToHost(values);

#ifndef DLC_EXECUTOR_EXECUTOR_H
#define DLC_EXECUTOR_EXECUTOR_H

#include "dlc/Symbol/Symbol.h"
#include "dlc/runtime/Binding/Executor.h"

#include <memory>

namespace dlc {

struct NetworkOptions {
  /// Stands for the symbol in messages.
  std::string name = "symbol";
  /// As CompilerOptions::target.
  std::string target = "host";
  /// Threads that generate code; 0 means one per processor.
  unsigned threads = 0;
  /// MXNet's group2ctx: the devices of groups (attribute ctx_group), of kind
  /// CPU or Null. Nodes of a group run there, others near them or on cpu(0).
  /// Without any, one device runs all; with some, each group of the symbol
  /// needs one; those that it does not have may be there too, as in MXNet, so
  /// that one map serves many symbols. What is computed does not depend on the
  /// devices, to the bit.
  std::map<std::string, rt::Context> groups;
};

/// A symbol as a network that executors run; they share its programs when they
/// are made of the same network. The symbol is copied: what is done to its
/// nodes later does not count. Errors: the symbol's own; InvalidArgument (two
/// outputs or two variables of one name). What is wrong with groups and their
/// devices is found when an executor is bound.
rt::Result<std::shared_ptr<const rt::Network>>
makeNetwork(const symbol::Symbol &symbol, const NetworkOptions &options = {});

/// makeNetwork() and rt::Executor::bind() in one.
rt::Result<std::unique_ptr<rt::Executor>>
bind(const symbol::Symbol &symbol, rt::Bindings bindings,
     const rt::ExecutorOptions &options = {},
     const NetworkOptions &network = {});

/// makeNetwork() and rt::Executor::simpleBind() in one.
rt::Result<std::unique_ptr<rt::Executor>>
simpleBind(const symbol::Symbol &symbol,
           const std::shared_ptr<rt::ArrayRuntime> &runtime,
           const rt::KnownVariables &known,
           rt::GradientRequest otherwise = rt::GradientRequest::Write,
           const std::map<std::string, rt::GradientRequest> &requests = {},
           rt::Context context = rt::Context::cpu(),
           const rt::ExecutorOptions &options = {},
           const NetworkOptions &network = {});

} // namespace dlc

#endif // DLC_EXECUTOR_EXECUTOR_H
