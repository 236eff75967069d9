// SPDX-License-Identifier: Apache-2.0

#include "Roofline.h"

#include "Command.h"

#include "dlc/runtime/Kernel/Library.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace dlc;
using namespace dlc::tool;

double Roofline::microsecondsOf(uint64_t flops, uint64_t bytes) const {
  return std::max(flops / flopsPerMicrosecond, bytes / bytesPerMicrosecond);
}

/// Microseconds in which each thread calls `work` with its number, at best.
template <typename WorkFn>
static double timeOfAll(rt::WorkerPool &pool, WorkFn work) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 8; ++round) {
    double begin = now();
    pool.parallelFor(pool.threads(), std::numeric_limits<uint64_t>::max(),
                     [&](int64_t first, int64_t last) {
                       for (int64_t i = first; i < last; ++i)
                         work(i);
                     });
    best = std::min(best, (now() - begin) * 1e3);
  }
  return best;
}

static double measureFlops(rt::WorkerPool &pool) {
  constexpr int64_t m = 96, n = 64, k = 192;
  const std::vector<rt::TensorType> inputs = {{DLC_F32, {m, k}},
                                              {DLC_F32, {k, n}}};
  const std::vector<rt::TensorType> outputs = {{DLC_F32, {m, n}}};
  const rt::Attributes attributes;
  const rt::LibraryEntry *entry = rt::lookupLibraryEntry("cpu.matmul");
  if (!entry)
    throw Failure{"internal: this build lacks cpu.matmul"};
  std::unique_ptr<rt::PreparedKernel> kernel;
  check(entry->prepare({inputs, outputs, attributes}, kernel));
  std::vector<std::vector<HostTensor>> memory(pool.threads());
  for (std::vector<HostTensor> &own : memory)
    for (const rt::TensorType &type : {inputs[0], inputs[1], outputs[0]})
      own.push_back(makeZeros(type));
  constexpr int launches = 200;
  double time = timeOfAll(pool, [&](int64_t thread) {
    void *arguments[3];
    for (int i = 0; i < 3; ++i)
      arguments[i] = memory[thread][i].view().data;
    for (int i = 0; i < launches; ++i)
      kernel->run(arguments, 0, kernel->tiles());
  });
  return 2.0 * m * n * k * launches * pool.threads() / time;
}

static double measureBytes(rt::WorkerPool &pool) {
  // More than the last cache has.
  const int64_t share = (int64_t(96) << 20) / pool.threads();
  const rt::TensorType type{DLC_U8, {share * pool.threads()}};
  HostTensor from = makeZeros(type), to = makeZeros(type);
  double time = timeOfAll(pool, [&](int64_t thread) {
    std::memcpy(to.view().as<char>() + thread * share,
                from.view().as<char>() + thread * share, share);
  });
  return 2.0 * share * pool.threads() / time;
}

Roofline dlc::tool::measureRoofline(rt::WorkerPool &pool) {
  return {measureFlops(pool), measureBytes(pool)};
}
