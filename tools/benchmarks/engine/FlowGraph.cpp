// SPDX-License-Identifier: Apache-2.0
//
// oneTBB's flow graph. It knows edges, not variables: for a pattern the edges
// are found here, as an engine would, while the graph is built.

#include "Push.h"

#include <deque>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

using namespace dlc::bench;
namespace flow = oneapi::tbb::flow;

namespace {

using Node = flow::continue_node<flow::continue_msg>;

oneapi::tbb::global_control limitThreads(unsigned threads) {
  return {oneapi::tbb::global_control::max_allowed_parallelism, threads};
}

class FlowGraph : public Peer {
public:
  explicit FlowGraph(unsigned workers) : threads(workers) {}
  std::string name() const override { return "oneTBB flow graph"; }
  bool supports(const Mode &mode) const override {
    return mode.pushers == 1 && mode.bulk == 1;
  }
  Sample run(const Pattern &pattern, const Mode &mode) override;

private:
  unsigned threads;
};

/// Who used a variable last.
struct Users {
  Node *writer = nullptr;
  std::vector<Node *> readers;
};

class RecordedFlowGraph : public RecordedSchedule {
public:
  RecordedFlowGraph(const Schedule &schedule, unsigned threads)
      : limit(limitThreads(threads)) {
    std::vector<bool> isRoot(schedule.tasks, true);
    for (uint32_t i = 0; i != schedule.tasks; ++i)
      nodes.emplace_back(graph, [](const flow::continue_msg &) { task(); });
    for (const Schedule::Edge &edge : schedule.edges) {
      flow::make_edge(nodes[edge.before], nodes[edge.after]);
      isRoot[edge.after] = false;
    }
    for (uint32_t i = 0; i != schedule.tasks; ++i)
      if (isRoot[i])
        roots.push_back(&nodes[i]);
  }

  std::string name() const override { return "oneTBB flow graph"; }
  void run() override {
    for (Node *root : roots)
      root->try_put(flow::continue_msg());
    graph.wait_for_all();
  }

private:
  oneapi::tbb::global_control limit;
  flow::graph graph;
  std::deque<Node> nodes;
  std::vector<Node *> roots;
};

} // namespace

/// Adds the edges of one operation; says whether it has none.
static bool connect(std::vector<Users> &users, Node &node, const int *reads,
                    int readCount, int write) {
  bool isRoot = true;
  auto follow = [&](Node *before) {
    if (!before)
      return;
    flow::make_edge(*before, node);
    isRoot = false;
  };
  for (int i = 0; i != readCount; ++i) {
    follow(users[reads[i]].writer);
    users[reads[i]].readers.push_back(&node);
  }
  Users &written = users[write];
  if (written.readers.empty())
    follow(written.writer);
  for (Node *reader : written.readers)
    follow(reader);
  written.readers.clear();
  written.writer = &node;
  return isRoot;
}

Sample FlowGraph::run(const Pattern &pattern, const Mode &) {
  oneapi::tbb::global_control limit = limitThreads(threads);
  flow::graph graph;
  std::deque<Node> nodes;
  std::vector<Node *> roots;
  std::vector<Users> users(Pattern::variableCount);
  return measurePushes(
      pattern.size(), 1,
      [&](size_t i) {
        Node &node = nodes.emplace_back(
            graph, [](const flow::continue_msg &) { task(); });
        if (connect(users, node, pattern.readsOf(i), pattern.readCount,
                    pattern.writes[i]))
          roots.push_back(&node);
      },
      [&] {
        for (Node *root : roots)
          root->try_put(flow::continue_msg());
        graph.wait_for_all();
      });
}

bool dlc::bench::hasFlowGraph() { return true; }

std::unique_ptr<Peer> dlc::bench::makeFlowGraphPeer(unsigned workers) {
  return std::make_unique<FlowGraph>(workers);
}

std::unique_ptr<RecordedSchedule>
dlc::bench::recordFlowGraph(const Schedule &schedule, unsigned threads) {
  return std::make_unique<RecordedFlowGraph>(schedule, threads);
}
