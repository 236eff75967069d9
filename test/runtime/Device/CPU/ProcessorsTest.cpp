// SPDX-License-Identifier: Apache-2.0
//
// Threads for machines that are described by folders made here.

#include "dlc/runtime/Device/CPU/Processors.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <thread>

using namespace dlc::rt;

namespace {

/// A folder with files such as Linux has below "/".
class Machine {
public:
  Machine() {
    std::string name = testing::TempDir() + "dlc-machine-XXXXXX";
    root = mkdtemp(name.data());
  }
  ~Machine() { std::filesystem::remove_all(root); }

  void put(const std::string &path, const std::string &text) {
    std::filesystem::path file = root + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  /// A core with these hardware threads, "0,4".
  void putCore(const std::string &siblings,
               std::initializer_list<unsigned> processors) {
    for (unsigned processor : processors)
      put("sys/devices/system/cpu/cpu" + std::to_string(processor) +
              "/topology/thread_siblings_list",
          siblings + "\n");
  }

  std::string root;
};

/// Two nodes of two cores of two hardware threads: 0-3 are the first ones of
/// the cores, 4-7 the second ones.
void describeTwoNodes(Machine &machine) {
  for (unsigned core : {0u, 1u, 2u, 3u})
    machine.putCore(std::to_string(core) + "," + std::to_string(core + 4),
                    {core, core + 4});
  machine.put("sys/devices/system/node/online", "0-1\n");
  machine.put("sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
  machine.put("sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
}

constexpr unsigned eight[] = {0, 1, 2, 3, 4, 5, 6, 7};
using Numbers = std::vector<unsigned>;

} // namespace

TEST(Processors, AreDescribedByTheSystem) {
  Machine machine;
  describeTwoNodes(machine);
  std::vector<Processor> expected = {{0, 0, 0}, {1, 1, 0}, {2, 2, 1},
                                     {3, 3, 1}, {4, 0, 0}, {5, 1, 0},
                                     {6, 2, 1}, {7, 3, 1}};
  EXPECT_EQ(describeProcessors(eight, machine.root), expected);
}

TEST(Processors, AreCoresOfOneNodeWithoutDescription) {
  Machine machine;
  std::vector<Processor> expected = {{3, 3, 0}, {5, 5, 0}};
  EXPECT_EQ(describeProcessors(std::vector{3u, 5u}, machine.root), expected);
  // What is no list says nothing.
  machine.putCore("yes", {3});
  machine.putCore("0-", {5});
  machine.put("sys/devices/system/node/online", "-");
  EXPECT_EQ(describeProcessors(std::vector{3u, 5u}, machine.root), expected);
  machine.putCore("7-9", {3}); // Not a core of 3.
  machine.put("sys/devices/system/node/online", "0-18446744073709551615");
  EXPECT_EQ(describeProcessors(std::vector{3u, 5u}, machine.root), expected);
}

TEST(Processors, ThreadsTakeTheCoresOfTheirNode) {
  Machine machine;
  describeTwoNodes(machine);
  std::vector<Processor> all = describeProcessors(eight, machine.root);
  ThreadPlacement placement = placeThreads(all, 6, std::nullopt);
  EXPECT_EQ(placement.threads, 2u);
  EXPECT_EQ(placement.order, (Numbers{2, 3, 0, 1, 6, 7, 4, 5}));
  EXPECT_EQ(placement.node, (Numbers{2, 3, 6, 7}));
  placement = placeThreads(all, 0, 1u);
  EXPECT_EQ(placement.threads, 1u);
  EXPECT_EQ(placement.order.front(), 0u);
  placement = placeThreads(all, 0, 16u);
  EXPECT_EQ(placement.threads, 2u);
}

TEST(Processors, ThreadsKeepToTheProcessorsThatAProcessMayUse) {
  Machine machine;
  describeTwoNodes(machine);
  // The first hardware thread of core 1 is not ours: its second is.
  constexpr unsigned some[] = {0, 4, 5};
  ThreadPlacement placement =
      placeThreads(describeProcessors(some, machine.root), 4, std::nullopt);
  EXPECT_EQ(placement.threads, 2u);
  EXPECT_EQ(placement.order, (Numbers{0, 5, 4}));
  EXPECT_TRUE(placement.node.empty()); // There is no other.
}

TEST(Processors, OneThreadAtLeast) {
  ThreadPlacement placement = placeThreads({}, 0, std::nullopt);
  EXPECT_EQ(placement.threads, 1u);
}

TEST(Processors, QuotasOfVersionTwo) {
  Machine machine;
  EXPECT_EQ(processorQuota(machine.root), std::nullopt);
  machine.put("proc/self/cgroup", "0::/service/job\n");
  EXPECT_EQ(processorQuota(machine.root), std::nullopt);
  machine.put("sys/fs/cgroup/service/job/cpu.max", "max 100000\n");
  EXPECT_EQ(processorQuota(machine.root), std::nullopt);
  machine.put("sys/fs/cgroup/service/cpu.max", "350000 100000\n");
  EXPECT_EQ(processorQuota(machine.root), 3u);
  machine.put("sys/fs/cgroup/service/job/cpu.max", "50000 100000\n");
  EXPECT_EQ(processorQuota(machine.root), 1u);
}

TEST(Processors, QuotasOfVersionOne) {
  Machine machine;
  machine.put("proc/self/cgroup", "9:name=systemd:/\n"
                                  "4:cpuset:/\n"
                                  "3:cpu,cpuacct:/docker/0a1b\n"
                                  "0::/\n");
  machine.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  machine.put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(processorQuota(machine.root), std::nullopt);
  // In a container the group of the path is mounted as the root.
  machine.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(processorQuota(machine.root), 2u);
}

TEST(Processors, DamagedQuotasAreNone) {
  Machine machine;
  machine.put("proc/self/cgroup", "0::\n:\n::/a//\nx\n0::/../..\n");
  for (const char *text : {"", "\n", "100000", "100000 0", "a b", "-1 100000",
                           "99999999999999999999999 1"}) {
    machine.put("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(processorQuota(machine.root), std::nullopt) << text;
  }
  machine.put("sys/fs/cgroup/cpu.max", "18446744073709551615 1");
  EXPECT_EQ(processorQuota(machine.root), UINT32_MAX);
}

/// A machine whose kernel may know of 4,096 processors.
static int affinityOfMany(pid_t, size_t bytes, cpu_set_t *set) {
  if (bytes < 4096 / 8) {
    errno = EINVAL;
    return -1;
  }
  CPU_ZERO_S(bytes, set);
  for (unsigned number : {3, 1023, 1024, 2000, 4095})
    CPU_SET_S(number, bytes, set);
  return 0;
}

TEST(Processors, MayBeMoreThanASetHolds) {
  EXPECT_EQ(allowedProcessors(affinityOfMany),
            (Numbers{3, 1023, 1024, 2000, 4095}));
  auto none = [](pid_t, size_t, cpu_set_t *) { return -1; };
  EXPECT_GE(allowedProcessors(none).size(), 1u);
  EXPECT_EQ(allowedProcessors(none)[0], 0u);
  ProcessorSet set(2001);
  set.add(2000);
  EXPECT_TRUE(set.contains(2000));
  EXPECT_FALSE(set.contains(1999));
  EXPECT_GE(set.bytes, 2001u / 8);
}

TEST(Processors, AreThoseOfTheThread) {
  std::thread([] {
    unsigned all = usableProcessors();
    EXPECT_GE(all, 1u);
    EXPECT_LE(all, std::thread::hardware_concurrency());
    EXPECT_LE(placeThreads().threads, all);
    int here = sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(here, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(usableProcessors(), 1u);
    EXPECT_EQ(placeThreads().order, (Numbers{unsigned(here)}));
  }).join();
}
