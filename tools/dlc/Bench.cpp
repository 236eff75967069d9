// SPDX-License-Identifier: Apache-2.0
//
// dlc bench: how long a run takes.

#include "Command.h"

#include "dlc/runtime/Device/CPU/WorkerPool.h"

#include <algorithm>
#include <cstdio>

using namespace dlc;
using namespace dlc::tool;

namespace {
struct BenchCommand {
  ModelOptions model;
  InputOptions inputs;
  double seconds = 2;
  unsigned warmup = 3;
  bool json = false;
  bool pinsWorkers = false;
  bool plainLaunches = false;

  int run();
};
} // namespace

/// The value below which the given share of `sorted` lies.
static double quantile(const std::vector<double> &sorted, double share) {
  auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(share * last + 0.5)];
}

int BenchCommand::run() {
  checkOutputs(filesRead(model, inputs),
               {{"--tuning-cache", model.tuningOutput()},
                {"--reproducer", model.reproducer}});
  NamedTensors values = inputs.read();
  inputs.random = true; // What is not given does not matter for the time.
  LoadedModel loaded = loadModel(model, inputs, values);
  const rt::Program &program = *loaded.program;
  std::vector<HostTensor> tensors =
      makeInputs(program, model, inputs, std::move(values));
  std::unique_ptr<rt::WorkerPool> pool = take(rt::WorkerPool::create(
      {.threads = model.threads, .pinsWorkers = pinsWorkers}));
  std::unique_ptr<rt::Execution> execution =
      makeExecution(program, {.workers = pool.get(),
                              .streamThreads = model.threads,
                              .recordsLaunches = !plainLaunches});
  for (size_t i = 0; i < tensors.size(); ++i)
    check(execution->bindInput(i, tensors[i].view()));

  for (unsigned i = 0; i < warmup; ++i)
    check(execution->run());
  (void)execution->takeQueueTime();
  std::vector<double> times;
  double end = now() + seconds * 1e3;
  while (times.size() < 3 || (now() < end && times.size() < 1000000)) {
    double begin = now();
    check(execution->run());
    times.push_back(now() - begin);
  }
  const rt::QueueTime queue = execution->takeQueueTime();
  const double perLaunch =
      queue.launches ? double(queue.nanoseconds) / double(queue.launches) / 1e3
                     : 0;
  std::sort(times.begin(), times.end());
  double min = times.front(), median = quantile(times, 0.5),
         p99 = quantile(times, 0.99);
  const rt::ProgramStatistics &statistics = program.statistics();
  if (json)
    std::printf("{\"min_ms\": %.6f, \"median_ms\": %.6f, \"p99_ms\": %.6f, "
                "\"runs\": %zu, \"threads\": %u, \"compile_ms\": %.3f, "
                "\"load_ms\": %.3f, \"arena_bytes\": %llu, "
                "\"lower_bound_bytes\": %llu, \"constant_bytes\": %llu, "
                "\"queue_us_per_launch\": %.4f}\n",
                min, median, p99, times.size(), pool->threads(),
                loaded.compileMs, loaded.loadMs,
                static_cast<unsigned long long>(statistics.arenaBytes),
                static_cast<unsigned long long>(statistics.lowerBoundBytes),
                static_cast<unsigned long long>(statistics.constantBytes),
                perLaunch);
  else
    std::printf("min %.3f ms  median %.3f ms  p99 %.3f ms  (%zu runs, "
                "%u threads)\n",
                min, median, p99, times.size(), pool->threads());
  if (!json && queue.launches)
    std::printf("queued %llu launches a run, in %.3f us each\n",
                static_cast<unsigned long long>(queue.launches / times.size()),
                perLaunch);
  return kOk;
}

void dlc::tool::addBench(CommandLine &line) {
  auto command = std::make_shared<BenchCommand>();
  Syntax syntax = line.add("bench", "Measure a model's run time",
                           [command] { return command->run(); });
  command->model.add(syntax, /*acceptsArtifact=*/true);
  command->inputs.add(syntax);
  syntax.positive("--seconds", command->seconds, "Time to measure for");
  syntax.option("--warmup", command->warmup, "Runs before measuring");
  syntax.flag("--pin-workers", command->pinsWorkers,
              "Keep each worker on a processor of its own");
  syntax.flag("--plain-launches", command->plainLaunches,
              "Queue each launch on a GPU by itself, not what was recorded of "
              "them");
  syntax.flag("--json", command->json, "Print one JSON object");
}
