// SPDX-License-Identifier: Apache-2.0
//
// The engines of this runtime.

#include "DLC.h"
#include "Push.h"

#include <cstdio>
#include <cstdlib>

using namespace dlc;
using namespace dlc::bench;

namespace {

class DLCEngine : public Peer {
public:
  DLCEngine(std::string name, std::unique_ptr<rt::Engine> engine);

  std::string name() const override { return title; }
  Sample run(const Pattern &pattern, const Mode &mode) override;

private:
  std::string title;
  std::unique_ptr<rt::Engine> engine;
  std::vector<rt::Variable> variables;
};

} // namespace

void dlc::bench::check(const rt::Status &status) {
  if (status.isOk())
    return;
  std::fprintf(stderr, "dlc-engine-bench: %s\n", status.message().c_str());
  std::exit(1);
}

DLCEngine::DLCEngine(std::string name, std::unique_ptr<rt::Engine> made)
    : title(std::move(name)), engine(std::move(made)) {
  for (int i = 0; i != Pattern::variableCount; ++i) {
    rt::Result<rt::Variable> variable = engine->newVariable();
    check(variable.status());
    variables.push_back(*variable);
  }
}

Sample DLCEngine::run(const Pattern &pattern, const Mode &mode) {
  std::vector<rt::Variable> reads, writes;
  for (int variable : pattern.reads)
    reads.push_back(variables[variable]);
  for (int variable : pattern.writes)
    writes.push_back(variables[variable]);
  rt::BulkScope bulk(*engine, mode.bulk);
  return measurePushes(
      pattern.size(), mode.pushers,
      [&](size_t i) {
        check(engine->pushSync(
            [] { task(); }, rt::Context::cpu(),
            {reads.data() + i * pattern.readCount, size_t(pattern.readCount)},
            {&writes[i], 1}, {.name = "bench"}));
      },
      [&] { check(engine->waitForAll()); });
}

std::vector<NamedEngine> dlc::bench::makeEngines(unsigned workers,
                                                 rt::CallerHelp help) {
  const struct {
    const char *name;
    rt::EngineKind kind;
  } kinds[] = {{"PerDevice", rt::EngineKind::PerDevice},
               {"Threaded", rt::EngineKind::Threaded},
               {"Naive", rt::EngineKind::Naive}};
  std::vector<NamedEngine> engines;
  for (auto &[name, kind] : kinds) {
    rt::EngineOptions options;
    options.kind = kind;
    options.cpuWorkers = workers;
    options.callerHelp = help;
    rt::Result<std::unique_ptr<rt::Engine>> engine =
        rt::Engine::create(options);
    check(engine.status());
    engines.push_back({name, std::move(*engine)});
  }
  return engines;
}

std::vector<std::unique_ptr<Peer>> dlc::bench::makeDLCPeers(unsigned workers) {
  std::vector<std::unique_ptr<Peer>> peers;
  for (NamedEngine &engine :
       makeEngines(workers, rt::EngineOptions().callerHelp))
    peers.push_back(
        std::make_unique<DLCEngine>(engine.name, std::move(engine.engine)));
  return peers;
}
