// SPDX-License-Identifier: Apache-2.0
//
// Empty operations on variables, engine beside engine.

#include "Measure.h"

#include <algorithm>
#include <csignal>
#include <numeric>
#include <random>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dlc::bench;

static Peer *findMXNet(const Peers &peers) {
  for (const std::unique_ptr<Peer> &peer : peers)
    if (peer->name().starts_with("MXNet"))
      return peer.get();
  return nullptr;
}

/// Another order in each pass: what one leaves in the caches, and threads of it
/// that still spin, are not always the same one's.
static std::vector<size_t> orderOf(unsigned pass, size_t peers) {
  std::vector<size_t> order(peers);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(pass));
  return order;
}

/// One series a peer; empty for those that do not support `mode`.
static std::vector<Series> measure(const Peers &peers, const Pattern &pattern,
                                   const Mode &mode, unsigned passes) {
  std::vector<Series> series(peers.size());
  // The first pass warms up.
  for (unsigned pass = 0; pass <= passes; ++pass)
    for (size_t i : orderOf(pass, peers.size())) {
      if (!peers[i]->supports(mode))
        continue;
      Sample sample = peers[i]->run(pattern, mode);
      // The threads of this peer go to sleep before the next one starts.
      usleep(500);
      if (pass)
        series[i].add(sample, pattern.size());
    }
  return series;
}

static void report(const Peers &peers, const std::string &name,
                   const std::vector<Series> &series, double reference,
                   Report &report) {
  for (size_t i = 0; i != peers.size(); ++i)
    if (!series[i].total.empty())
      report.addSeries(name, peers[i]->name(), series[i], reference);
}

static double medianOfMXNet(const Peers &peers,
                            const std::vector<Series> &series) {
  for (size_t i = 0; i != peers.size(); ++i)
    if (peers[i].get() == findMXNet(peers) && !series[i].total.empty())
      return medianOf(series[i].total);
  return 0;
}

void dlc::bench::measurePatterns(const Peers &peers, const Settings &settings,
                                 Report &out) {
  out.beginTable("empty operations", "ns an operation");
  size_t n = settings.operations;
  const struct {
    Pattern pattern;
    unsigned bulk;
  } cases[] = {
      {independentWrites(n), 1}, {chain(n), 1},  {randomReads(n, 2), 1},
      {randomReads(n, 10), 1},   {chain(n), 15}, {randomReads(n, 2), 15}};
  for (auto &[pattern, bulk] : cases) {
    std::vector<Series> series =
        measure(peers, pattern, {.bulk = bulk}, settings.passes);
    std::string name = pattern.name;
    if (bulk > 1)
      name += " bulk " + std::to_string(bulk);
    report(peers, name, series, medianOfMXNet(peers, series), out);
  }
}

//===----------------------------------------------------------------------===//
// Two pushing threads
//===----------------------------------------------------------------------===//

static std::vector<Pattern> patternsOfTwoPushers(size_t n) {
  return {independentWrites(n), chain(n), randomReads(n, 2),
          randomReads(n, 10)};
}

/// Runs this program again as `--push-mxnet`, which takes below a second when
/// nothing hangs, for at most 20 seconds.
static std::string tryMXNet(const std::string &library) {
  std::string self = "/proc/self/exe";
  std::vector<std::string> texts = {self,   "--push-mxnet", "--operations",
                                    "2000", "--mxnet",      library};
  std::vector<char *> arguments;
  for (std::string &text : texts)
    arguments.push_back(text.data());
  arguments.push_back(nullptr);
  pid_t child;
  if (posix_spawn(&child, self.c_str(), nullptr, nullptr, arguments.data(),
                  environ))
    return "cannot be started";
  for (int tenths = 0; tenths != 200; ++tenths) {
    int status;
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "ended" : "failed";
    usleep(100'000);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return "hung: not done after 20 s with 2,000 operations a pattern";
}

int dlc::bench::runTwoPushers(Peer &peer, const Settings &settings) {
  // r x w y against r y w x, which orders their variables differently, too.
  Pattern crossing{"crossing", 1, {}, {}};
  for (size_t i = 0; i != settings.operations; ++i) {
    crossing.reads.push_back(i % 2);
    crossing.writes.push_back(1 - i % 2);
  }
  std::vector<Pattern> patterns = patternsOfTwoPushers(settings.operations);
  patterns.push_back(crossing);
  for (unsigned pass = 0; pass != settings.passes; ++pass)
    for (const Pattern &pattern : patterns)
      peer.run(pattern, {.pushers = 2});
  return 0;
}

void dlc::bench::measureTwoPushers(const Peers &peers, const Settings &settings,
                                   const std::string &mxnet, Report &out) {
  out.beginTable("two pushing threads; ratios of MXNet with one",
                 "ns an operation");
  // MXNet with two pushers may never return: it runs alone, with one for the
  // ratios here.
  for (const Pattern &pattern : patternsOfTwoPushers(settings.operations)) {
    std::vector<Series> series(peers.size());
    Series reference;
    for (unsigned pass = 0; pass <= settings.passes; ++pass)
      for (size_t i : orderOf(pass, peers.size())) {
        bool isMXNet = peers[i].get() == findMXNet(peers);
        Mode mode{.pushers = isMXNet ? 1u : 2u};
        if (!peers[i]->supports(mode))
          continue;
        Sample sample = peers[i]->run(pattern, mode);
        usleep(500);
        if (pass)
          (isMXNet ? reference : series[i]).add(sample, pattern.size());
      }
    report(peers, "2 pushers, " + pattern.name, series,
           reference.total.empty() ? 0 : medianOf(reference.total), out);
  }
  if (findMXNet(peers))
    out.addNote("2 pushers, all patterns", findMXNet(peers)->name(),
                tryMXNet(mxnet));
}
