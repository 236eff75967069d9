// SPDX-License-Identifier: Apache-2.0
//
// The measurements of dlc-engine-bench.

#ifndef DLC_TOOLS_BENCHMARKS_ENGINE_MEASURE_H
#define DLC_TOOLS_BENCHMARKS_ENGINE_MEASURE_H

#include "Peer.h"
#include "Report.h"

namespace dlc::bench {

using Peers = std::vector<std::unique_ptr<Peer>>;

struct Settings {
  unsigned workers = 2;
  unsigned passes = 20;
  size_t operations = 20'000;
};

/// Empty operations: each pass runs every peer once. MXNet's figures, when it
/// is among the peers, are what the ratios are taken of.
void measurePatterns(const Peers &peers, const Settings &settings,
                     Report &report);
/// The same from two threads, for the peers that bear it; MXNet, the library
/// `mxnet`, in a process of its own.
void measureTwoPushers(const Peers &peers, const Settings &settings,
                       const std::string &mxnet, Report &report);
/// Runs MXNet with two pushing threads and prints nothing; it may hang.
int runTwoPushers(Peer &peer, const Settings &settings);

/// The parts of the threaded engine, for simulate.py.
void measureCosts(const Settings &settings, Report &report);
void measureSchedules(const Settings &settings, Report &report);
/// From the push to the start of an operation, after a pause.
void measureStarts(const Settings &settings, Report &report);
/// Processor time of engines without work.
void measureIdle(const Settings &settings, Report &report);
/// The length of tasks that are done half as fast as by bare threads ("minimum
/// effective task granularity", Slaughter et al., Task Bench, SC 2020).
void measureGranularity(const Peers &peers, const Settings &settings,
                        Report &report);

} // namespace dlc::bench

#endif // DLC_TOOLS_BENCHMARKS_ENGINE_MEASURE_H
