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
                                Factors factors) const {
  return std::max(flops / flopsPerMicrosecond[static_cast<int>(factors)],
                  bytes / bytesPerMicrosecond);
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

static double measureFlops(rt::WorkerPool &pool, Factors factors) {
  constexpr int64_t m = 96, n = 64, k = 192;
  const bool isOfBytes = factors == Factors::Bytes;
  const char *name = isOfBytes ? "cpu.integer_matmul" : "cpu.matmul";
  const rt::LibraryEntry *entry = rt::lookupLibraryEntry(name);
  if (!entry)
    throw Failure{std::string("internal: this build lacks ") + name};
  std::vector<rt::TensorType> inputs = {{DLC_F32, {m, k}}, {DLC_F32, {k, n}}};
  std::vector<rt::TensorType> outputs = {{DLC_F32, {m, n}}};
  rt::Attributes attributes;
  if (isOfBytes) {
    inputs = {{DLC_U8, {m, k}}, {DLC_I8, {k, n}}, {DLC_U8, {}}, {DLC_I8, {}}};
    outputs[0].type = DLC_I32;
    attributes.set("packed_b", int64_t{1});
  } else if (factors == Factors::Rounded) {
    attributes.set("packed_b", int64_t{2});
    attributes.set(std::string(rt::kBf16Parts), int64_t{1});
  }
  if (factors != Factors::Floats) {
    const rt::TensorType b = inputs[1];
    attributes.set("packed_shape", b.shape);
    const size_t bytes =
        entry->packedBytes({inputs, outputs, attributes}, /*operand=*/1);
    inputs[1] = {DLC_F32, {static_cast<int64_t>(bytes / sizeof(float))}};
  }
  std::unique_ptr<rt::PreparedKernel> kernel;
  check(entry->prepare({inputs, outputs, attributes}, kernel));
  std::vector<rt::TensorType> types = inputs;
  types.push_back(outputs[0]);
  std::vector<std::vector<HostTensor>> memory(pool.threads());
  for (std::vector<HostTensor> &own : memory)
    for (const rt::TensorType &type : types)
      own.push_back(makeZeros(type));
  return 2.0 * m * n * k * rateOfAll(pool, 1000, [&](int64_t thread, int) {
           void *arguments[5];
           for (size_t i = 0; i < types.size(); ++i)
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
  return {{measureFlops(pool, Factors::Floats),
           measureFlops(pool, Factors::Rounded),
           measureFlops(pool, Factors::Bytes)},
          measureBytes(pool)};
}
