// SPDX-License-Identifier: Apache-2.0

#include "dlc/Executor/Executor.h"

using namespace dlc;

rt::Result<std::unique_ptr<rt::Executor>>
dlc::bind(const symbol::Symbol &symbol, rt::Bindings bindings,
          const rt::ExecutorOptions &options,
          const NetworkOptions &networkOptions) {
  auto network = makeNetwork(symbol, networkOptions);
  if (!network.isOk())
    return std::move(network.status());
  return rt::Executor::bind(std::move(*network), std::move(bindings), options);
}

rt::Result<std::unique_ptr<rt::Executor>>
dlc::simpleBind(const symbol::Symbol &symbol,
                const std::shared_ptr<rt::ArrayRuntime> &runtime,
                const rt::KnownVariables &known, rt::GradientRequest otherwise,
                const std::map<std::string, rt::GradientRequest> &requests,
                rt::Context context, const rt::ExecutorOptions &options,
                const NetworkOptions &networkOptions) {
  auto network = makeNetwork(symbol, networkOptions);
  if (!network.isOk())
    return std::move(network.status());
  return rt::Executor::simpleBind(std::move(*network), runtime, known,
                                  otherwise, requests, context, options);
}
