// SPDX-License-Identifier: Apache-2.0
//
// dlc-engine-bench: the dependency engine and static schedules, beside MXNet's
// engine, oneTBB's flow graph and OpenMP's depend, in one process and in turns.

#include "Measure.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <unistd.h>

using namespace dlc::bench;

namespace {
struct Options {
  Settings settings;
  std::string mxnet;
  bool isJSON = false, pushesMXNet = false;
  std::vector<std::string> parts, peers;

  bool has(const std::string &part) const {
    return parts.empty() ||
           std::find(parts.begin(), parts.end(), part) != parts.end();
  }
  bool wants(const Peer &peer) const {
    return peers.empty() ||
           std::find(peers.begin(), peers.end(), peer.name()) != peers.end();
  }
};
} // namespace

/// For CLI11: what is wrong with the peer of that name, or "".
static std::string checkBuilt(const std::string &name) {
  bool isBuilt = name == "oneTBB flow graph" ? hasFlowGraph()
                 : name == "OpenMP depend"   ? hasOpenMP()
                                             : true;
  return isBuilt ? "" : "expected a peer of this build, got '" + name + "'";
}

static void addPeer(Peers &peers, std::unique_ptr<Peer> peer,
                    const Options &options) {
  if (peer && options.wants(*peer))
    peers.push_back(std::move(peer));
}

static void run(const Options &options, Peers &peers, Report &report) {
  const Settings &settings = options.settings;
  if (options.has("patterns"))
    measurePatterns(peers, settings, report);
  if (options.has("pushers"))
    measureTwoPushers(peers, settings, options.mxnet, report);
  if (options.has("granularity"))
    measureGranularity(peers, settings, report);
}

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Measure the dependency engine beside others",
               "dlc-engine-bench");
  CLI::Option *mxnet = app.add_option("--mxnet", options.mxnet,
                                      "MXNet's library (libmxnet.so of its "
                                      "wheel)")
                           ->check(CLI::ExistingFile);
  app.add_option("--passes", options.settings.passes, "Passes over all peers")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
  app.add_option("--workers", options.settings.workers, "Threads of an engine")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--operations", options.settings.operations,
                 "Operations of a pattern")
      ->capture_default_str()
      ->check(CLI::Range(100, 10'000'000));
  app.add_option("--part", options.parts, "Measure this part only")
      ->check(CLI::IsMember({"costs", "idle", "starts", "static", "patterns",
                             "pushers", "granularity"}));
  app.add_option("--peer", options.peers,
                 "Measure this engine only, beside MXNet; the last two where "
                 "the build found them")
      ->check(CLI::IsMember({"PerDevice", "Threaded", "Naive",
                             "oneTBB flow graph", "OpenMP depend"}))
      ->check(checkBuilt);
  app.add_flag("--json", options.isJSON,
               "Print a line of JSON for each figure");
  app.add_flag("--push-mxnet", options.pushesMXNet,
               "Only push into MXNet from two threads, where it may hang")
      ->needs(mxnet);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    constexpr int badUsage = 2; // As dlc has it.
    return app.exit(error) ? badUsage : 0;
  }

  Report report(options.isJSON);
  // Before any library of others starts threads.
  if (!options.pushesMXNet) {
    if (options.has("costs"))
      measureCosts(options.settings, report);
    if (options.has("idle"))
      measureIdle(options.settings, report);
    if (options.has("starts"))
      measureStarts(options.settings, report);
    if (options.has("static"))
      measureSchedules(options.settings, report);
  }
  Peers peers;
  if (!options.mxnet.empty()) {
    std::unique_ptr<Peer> peer =
        makeMXNetPeer(options.mxnet, options.settings.workers);
    if (!peer)
      return 1;
    addPeer(peers, std::move(peer), {});
  }
  int exitCode = 0;
  if (options.pushesMXNet && !peers.empty()) {
    exitCode = runTwoPushers(*peers[0], options.settings);
  } else if (options.has("patterns") || options.has("pushers") ||
             options.has("granularity")) {
    for (std::unique_ptr<Peer> &peer : makeDLCPeers(options.settings.workers))
      addPeer(peers, std::move(peer), options);
    addPeer(peers, makeFlowGraphPeer(options.settings.workers), options);
    addPeer(peers, makeOpenMPPeer(options.settings.workers), options);
    run(options, peers, report);
  }
  std::fflush(stdout);
  peers.clear();
  // MXNet's exit handlers wait for threads that have ended.
  if (!options.mxnet.empty())
    _exit(exitCode);
  return exitCode;
}
