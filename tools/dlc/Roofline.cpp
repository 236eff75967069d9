// SPDX-License-Identifier: Apache-2.0

#include "Roofline.h"

#include "Command.h"

#include "dlc/runtime/Kernel/Library.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace dlc;
using namespace dlc::tool;

double Roofline::microsecondsOf(uint64_t flops, uint64_t bytes,
                                bool isRounded) const {
  const double rate = isRounded ? roundedPerMicrosecond : flopsPerMicrosecond;
  return std::max(flops / rate, bytes / bytesPerMicrosecond);
}

/// Calls `work(thread, i)` on all threads at once, for i from 0; the sum of the
/// threads' best rates, in calls a microsecond. The best call of each counts:
/// others may use the machine, too.
template <typename WorkFn>
static double rateOfAll(rt::WorkerPool &pool, int calls, WorkFn work) {
  std::vector<double> best(pool.threads(),
                           std::numeric_limits<double>::infinity());
  pool.parallelFor(pool.threads(), std::numeric_limits<uint64_t>::max(),
                   [&](int64_t first, int64_t last) {
                     for (int64_t thread = first; thread < last; ++thread)
                       for (int i = 0; i < calls; ++i) {
                         double begin = now();
                         work(thread, i);
                         best[thread] =
                             std::min(best[thread], (now() - begin) * 1e3);
                       }
                   });
  double rate = 0;
  for (double microseconds : best)
    rate += 1 / std::max(microseconds, 1e-3);
  return rate;
}

static double measureFlops(rt::WorkerPool &pool, bool isRounded) {
  constexpr int64_t m = 96, n = 64, k = 192;
  std::vector<rt::TensorType> inputs = {{DLC_F32, {m, k}}, {DLC_F32, {k, n}}};
  const std::vector<rt::TensorType> outputs = {{DLC_F32, {m, n}}};
  rt::Attributes attributes;
  if (isRounded) {
    attributes.set("packed_b", int64_t{2});
    attributes.set("packed_shape", inputs[1].shape);
    inputs[1].shape = {k / 2 * n}; // As pairs.
    attributes.set(std::string(rt::kBf16Parts), int64_t{1});
  }
  const rt::LibraryEntry *entry = rt::lookupLibraryEntry("cpu.matmul");
  if (!entry)
    throw Failure{"internal: this build lacks cpu.matmul"};
  std::unique_ptr<rt::PreparedKernel> kernel;
  check(entry->prepare({inputs, outputs, attributes}, kernel));
  std::vector<std::vector<HostTensor>> memory(pool.threads());
  for (std::vector<HostTensor> &own : memory)
    for (const rt::TensorType &type : {inputs[0], inputs[1], outputs[0]})
      own.push_back(makeZeros(type));
  return 2.0 * m * n * k * rateOfAll(pool, 1000, [&](int64_t thread, int) {
           void *arguments[3];
           for (int i = 0; i < 3; ++i)
             arguments[i] = memory[thread][i].view().data;
           kernel->run(arguments, 0, kernel->tiles());
         });
}

static double measureBytes(rt::WorkerPool &pool) {
  // All parts together are more than most last caches hold.
  constexpr int64_t part = 2 << 20, rounds = 4;
  const int64_t own = std::max<int64_t>(48 / pool.threads(), 1); // Of a thread.
  const rt::TensorType type{DLC_U8, {part * own * pool.threads()}};
  HostTensor from = makeZeros(type), to = makeZeros(type);
  return 2.0 * part * rateOfAll(pool, own * rounds, [&](int64_t thread, int i) {
           const int64_t at = (thread * own + i % own) * part;
           std::memcpy(to.view().as<char>() + at, from.view().as<char>() + at,
                       part);
         });
}

Roofline dlc::tool::measureRoofline(rt::WorkerPool &pool) {
  return {measureFlops(pool, false), measureFlops(pool, true),
          measureBytes(pool)};
}
