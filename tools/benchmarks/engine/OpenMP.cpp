// SPDX-License-Identifier: Apache-2.0
//
// OpenMP tasks with `depend`, of the compiler's OpenMP library.

#include "Push.h"

using namespace dlc::bench;

namespace {

class OpenMP : public Peer {
public:
  explicit OpenMP(unsigned workers) : threads(workers) {}
  std::string name() const override { return "OpenMP depend"; }
  bool supports(const Mode &mode) const override {
    return mode.pushers == 1 && mode.bulk == 1;
  }
  Sample run(const Pattern &pattern, const Mode &mode) override;

private:
  void push(const Pattern &pattern, size_t i);
  unsigned threads;
  char variables[Pattern::variableCount];
};

} // namespace

void OpenMP::push(const Pattern &pattern, size_t i) {
  [[maybe_unused]] char *v = variables;
  [[maybe_unused]] const int *r = pattern.readsOf(i);
  [[maybe_unused]] int w = pattern.writes[i];
  switch (pattern.readCount) {
  case 0:
#pragma omp task depend(inout : v[w])
    task();
    break;
  case 2:
#pragma omp task depend(in : v[r[0]], v[r[1]]) depend(inout : v[w])
    task();
    break;
  default:
    int n = pattern.readCount;
#pragma omp task depend(iterator(k = 0 : n), in : v[r[k]]) depend(inout : v[w])
    task();
  }
}

Sample OpenMP::run(const Pattern &pattern, const Mode &) {
  Sample sample{};
#pragma omp parallel num_threads(threads)
#pragma omp single
  sample = measurePushes(
      pattern.size(), 1, [&](size_t i) { push(pattern, i); },
      [] {
#pragma omp taskwait
      });
  return sample;
}

bool dlc::bench::hasOpenMP() { return true; }

std::unique_ptr<Peer> dlc::bench::makeOpenMPPeer(unsigned workers) {
  return std::make_unique<OpenMP>(workers);
}
