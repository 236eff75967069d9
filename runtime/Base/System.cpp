// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/System.h"

#include <algorithm>
#include <sys/resource.h>
#include <sys/sysinfo.h>

uint64_t dlc::rt::memoryLimit() {
  uint64_t limit = UINT64_MAX;
  struct sysinfo machine;
  if (sysinfo(&machine) == 0)
    limit = (uint64_t(machine.totalram) + machine.totalswap) *
            std::max(machine.mem_unit, 1u);
  struct rlimit process;
  if (getrlimit(RLIMIT_AS, &process) == 0)
    limit = std::min<uint64_t>(limit, process.rlim_cur);
  return limit;
}
