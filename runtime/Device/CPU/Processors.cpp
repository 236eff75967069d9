// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Device/CPU/Processors.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <sched.h>
#include <string_view>
#include <tuple>
#include <unistd.h>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Small files of the system
//===----------------------------------------------------------------------===//

/// The text of a small file; empty where there is none. Such files of Linux
/// have no size to ask for.
static std::string readText(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return {};
  char buffer[4096];
  std::string text;
  for (ssize_t count; (count = read(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(count));
  close(file);
  return text;
}

/// Takes a number from the front of `text`.
static std::optional<uint64_t> takeNumber(std::string_view &text) {
  uint64_t number;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc())
    return std::nullopt;
  text.remove_prefix(end - text.data());
  return number;
}

/// Takes `character` from the front of `text`, if it is there.
static bool take(std::string_view &text, char character) {
  if (!text.starts_with(character))
    return false;
  text.remove_prefix(1);
  return true;
}

/// The ranges of a list such as "0-3,8": pairs of its least and its largest
/// number. Stops at what is no list.
static std::vector<std::pair<uint64_t, uint64_t>>
readList(std::string_view text) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  do {
    std::optional<uint64_t> first = takeNumber(text), last = first;
    if (first && take(text, '-'))
      last = takeNumber(text);
    if (!first || !last)
      break;
    ranges.emplace_back(*first, *last);
  } while (take(text, ','));
  return ranges;
}

static bool contains(std::span<const std::pair<uint64_t, uint64_t>> ranges,
                     unsigned number) {
  return std::ranges::any_of(ranges, [&](const auto &range) {
    return range.first <= number && number <= range.second;
  });
}

//===----------------------------------------------------------------------===//
// Cores and nodes
//===----------------------------------------------------------------------===//

std::vector<Processor>
dlc::rt::describeProcessors(std::span<const unsigned> numbers,
                            const std::string &root) {
  std::string system = root + "/sys/devices/system/";
  std::vector<Processor> processors;
  for (unsigned number : numbers) {
    auto siblings =
        readList(readText(system + "cpu/cpu" + std::to_string(number) +
                          "/topology/thread_siblings_list"));
    unsigned core = number;
    if (contains(siblings, number))
      core = unsigned(siblings.front().first);
    processors.push_back({number, core, 0});
  }
  for (auto [first, last] : readList(readText(system + "node/online")))
    // No system has more; a file that says so must not keep us for ever.
    for (uint64_t node = first; node <= std::min<uint64_t>(last, 1024);
         ++node) {
      auto members = readList(
          readText(system + "node/node" + std::to_string(node) + "/cpulist"));
      for (Processor &processor : processors)
        if (contains(members, processor.number))
          processor.node = unsigned(node);
    }
  return processors;
}

//===----------------------------------------------------------------------===//
// Quotas
//===----------------------------------------------------------------------===//

/// Whole processors in `quota` of each `period`.
static std::optional<unsigned> wholeProcessors(std::optional<uint64_t> quota,
                                               std::optional<uint64_t> period) {
  if (!quota || !period || !*period)
    return std::nullopt;
  return unsigned(std::clamp<uint64_t>(*quota / *period, 1, UINT32_MAX));
}

/// Of the group in `folder`: "150000 100000" or "max 100000" in version 2, two
/// files in version 1, where -1 is no limit.
static std::optional<unsigned> quotaOf(const std::string &folder) {
  if (std::string text = readText(folder + "cpu.max"); !text.empty()) {
    std::string_view rest = text;
    std::optional<uint64_t> quota = takeNumber(rest);
    take(rest, ' ');
    return wholeProcessors(quota, takeNumber(rest));
  }
  std::string quota = readText(folder + "cpu.cfs_quota_us");
  std::string period = readText(folder + "cpu.cfs_period_us");
  std::string_view quotaText = quota, periodText = period;
  return wholeProcessors(takeNumber(quotaText), takeNumber(periodText));
}

/// Whether `list`, "cpu,cpuacct", names the controller of processor time.
static bool hasProcessorTime(std::string_view list) {
  while (!list.empty()) {
    std::string_view name = list.substr(0, list.find(','));
    if (name == "cpu")
      return true;
    list.remove_prefix(std::min(list.size(), name.size() + 1));
  }
  return false;
}

std::optional<unsigned> dlc::rt::processorQuota(const std::string &root) {
  std::optional<unsigned> least;
  // Lines "0::/group" in version 2, "4:cpu,cpuacct:/group" in version 1.
  std::string text = readText(root + "/proc/self/cgroup");
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string_view::npos)
      continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string mount = root + "/sys/fs/cgroup";
    if (!controllers.empty()) {
      if (!hasProcessorTime(controllers))
        continue;
      mount += "/cpu"; // A link to "cpu,cpuacct" where they are one.
    }
    // Upwards to the mount: in a container its own group may be mounted there
    // while the path is that of the host.
    for (std::string group(line.substr(second + 1));;) {
      while (group.ends_with('/'))
        group.pop_back();
      if (std::optional<unsigned> quota = quotaOf(mount + group + "/"))
        least = std::min(least.value_or(*quota), *quota);
      if (group.empty())
        break;
      group.resize(group.find_last_of('/') + 1);
    }
  }
  return least;
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

ThreadPlacement dlc::rt::placeThreads(std::span<const Processor> usable,
                                      unsigned current,
                                      std::optional<unsigned> quota) {
  unsigned node = usable.empty() ? 0 : usable.front().node;
  for (const Processor &processor : usable)
    if (processor.number == current)
      node = processor.node;

  struct Place {
    bool isFurther; // There is one of the same core before it.
    bool isElsewhere;
    Processor processor;
  };
  std::vector<Place> places;
  for (const Processor &processor : usable) {
    bool isFurther = std::ranges::any_of(usable, [&](const Processor &other) {
      return other.core == processor.core && other.number < processor.number;
    });
    places.push_back({isFurther, processor.node != node, processor});
  }
  std::ranges::sort(places, {}, [](const Place &place) {
    return std::tuple(place.isFurther, place.isElsewhere, place.processor.node,
                      place.processor.number);
  });

  ThreadPlacement placement;
  unsigned cores = 0;
  bool hasOthers = false;
  for (const Place &place : places) {
    placement.order.push_back(place.processor.number);
    cores += !place.isFurther && !place.isElsewhere;
    hasOthers |= place.isElsewhere;
  }
  for (const Place &place : places)
    if (hasOthers && !place.isElsewhere)
      placement.node.push_back(place.processor.number);
  placement.threads = std::max(1u, std::min(cores, quota.value_or(cores)));
  return placement;
}

std::vector<unsigned> dlc::rt::allowedProcessors(int (*get)(pid_t, size_t,
                                                            cpu_set_t *)) {
  std::vector<unsigned> numbers;
  // A set that is too small for the processors that the kernel may know of is
  // refused (sched_setaffinity(2)).
  constexpr unsigned most = 1 << 20;
  for (unsigned size = CPU_SETSIZE; numbers.empty() && size <= most;
       size *= 2) {
    ProcessorSet known(size);
    if (!known.set || get(0, known.bytes, known.set) != 0)
      continue;
    for (unsigned i = 0; i != size; ++i)
      if (known.contains(i))
        numbers.push_back(i);
  }
  if (numbers.empty()) // It has no such call.
    for (long i = 0; i < std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)); ++i)
      numbers.push_back(unsigned(i));
  return numbers;
}

ThreadPlacement dlc::rt::placeThreads() {
  return placeThreads(describeProcessors(allowedProcessors()),
                      unsigned(std::max(0, sched_getcpu())), processorQuota());
}

unsigned dlc::rt::usableProcessors() {
  unsigned count = unsigned(allowedProcessors().size());
  return std::min(count, processorQuota().value_or(count));
}
