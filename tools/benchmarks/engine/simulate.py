#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates the threaded engine with more workers than this machine has.

usage: simulate.py [--costs FILE] [--measured FILE] [--operations N]
                   [--workers N ...] [--json]

A discrete-event model of what docs/Rationale/Runtime.md describes: pushers
that write records into a bounded ring, and workers that take one lock, retire
what they ran, register records until something is ready, and take that.
Simulated are the order of events and what they cost; the costs come from
`dlc-engine-bench --json --part costs` (--costs) or are those of the machine
that docs/Benchmarks.md describes. --measured compares with figures of
`dlc-engine-bench --json --part patterns`, which are those of two workers.
"""

import argparse
import heapq
import json
import random
from collections import deque

# Nanoseconds; see Costs.cpp for what each is.
COSTS = {
    "push": 42.0,  # A record, and so much for each variable.
    "push_variable": 3.5,
    "schedule": 36.0,  # Register, take, run nothing, retire, by one thread.
    "schedule_variable": 8.0,
    "line": 46.0,  # A cache line from one processor to another.
    "pause": 24.0,  # Of a thread that spins.
    "system_call": 250.0,  # Of the thread that wakes another.
}
WAKE = 11000.0  # Until a thread that slept runs: the bare thread's in --part starts.
RUN = 8.0  # Of an empty operation, between two holds of the lock.
SPIN = 30000.0             # EngineOptions::spinMicroseconds
SLOTS, IN_FLIGHT = 4096, 4096 # EngineOptions::queueSlots, maxOperations
REGISTER_AT_ONCE = 64      # EngineCore::registerPushed()
MOST_OF_LINE = 10000.0     # What takes longer are turns on one processor.
OVERLAP = 3                # Lines of variables on their way at a time.
STATE_LINES = 3            # Of the lock's holder: lock, numbers, ready queue.


class Operation:
    __slots__ = ("reads", "writes", "length", "slots", "waiting", "home")

    def __init__(self, reads, writes, length=0.0):
        self.reads, self.writes, self.length = reads, writes, length
        self.slots = 1 if len(reads) + len(writes) <= 4 else 2
        self.waiting = 0
        self.home = None  # Whose caches it is in.


class Variable:
    __slots__ = ("readers", "writer", "queue", "home")

    def __init__(self):
        self.readers, self.writer, self.queue, self.home = 0, None, deque(), None


class Engine:
    """The threads are numbers: workers from 0, then the pusher, which helps
    when it has pushed all."""

    def __init__(self, operations, workers, costs, seed=1):
        self.operations, self.workers, self.costs = operations, workers, costs
        self.random = random.Random(seed)
        self.wake = WAKE if any(costs.values()) else 0.0
        self.run_time = RUN if any(costs.values()) else 0.0
        count = 1 + max((max(o.reads + o.writes, default=0) for o in operations), default=0)
        self.variables = [Variable() for _ in range(count)]
        self.events, self.order = [], 0
        self.ready = deque()
        self.pushed = self.registered = self.done = 0
        self.head = self.tail = self.retired_slots = 0  # In slots.
        self.lock_free_at, self.lock_home = 0.0, None
        self.finished = [None] * (workers + 1)
        self.searching, self.asleep, self.waking = {}, [], 0
        self.pusher_waits = False
        self.end = 0.0

    def at(self, time, action, *arguments):
        self.order += 1
        heapq.heappush(self.events, (time, self.order, action, arguments))

    def run(self):
        for worker in range(self.workers):
            self.at(0.0, self.search, worker)
        self.at(0.0, self.push)
        while self.events and self.done != len(self.operations):
            time, _, action, arguments = heapq.heappop(self.events)
            action(time, *arguments)
        assert self.done == len(self.operations), "the simulated engine hangs"
        return self.end

    # Pushing.

    def push(self, time):
        if self.pushed == len(self.operations):
            self.try_lock(time, self.workers)
            return
        operation = self.operations[self.pushed]
        end = self.tail + operation.slots
        if end > min(self.head + SLOTS, self.retired_slots + IN_FLIGHT):
            self.pusher_waits = True
            return
        count = len(operation.reads) + len(operation.writes)
        time += self.costs["push"] + count * self.costs["push_variable"]
        self.at(time, self.publish, operation)

    def publish(self, time, operation):
        self.tail += operation.slots
        self.pushed += 1
        self.at(self.notify(time), self.push)

    def notify(self, time):
        """Threads that search see the work; without any, one is woken."""
        if self.searching:
            for thread in list(self.searching):
                self.searching.pop(thread)
                delay = self.costs["line"] + self.random.random() * self.costs["pause"]
                self.at(time + delay, self.try_lock, thread)
        elif self.asleep and not self.waking:
            self.waking += 1
            time += self.costs["system_call"]
            self.at(time + self.wake, self.awake, self.asleep.pop(0))
        return time

    def awake(self, time, thread):
        self.waking -= 1
        self.try_lock(time, thread)

    # Looking for work.

    def has_work(self):
        return self.ready or self.registered != self.pushed

    def search(self, time, thread):
        if self.has_work():
            self.at(time, self.try_lock, thread)
            return
        self.order += 1
        self.searching[thread] = self.order
        self.at(time + SPIN, self.fall_asleep, thread, self.order)

    def fall_asleep(self, time, thread, since):
        if self.searching.get(thread) == since:
            del self.searching[thread]
            self.asleep.append(thread)

    # Under the lock.

    def try_lock(self, time, thread):
        if time < self.lock_free_at:
            # It looks again so much later as SpinLock pauses.
            pause = 4 * self.costs["pause"] * (0.5 + self.random.random())
            self.at(time + pause, self.try_lock, thread)
            return
        # In steps of time the state changes when the lock is let go.
        begin = time
        if self.lock_home != thread:
            time += STATE_LINES * self.costs["line"]
            self.lock_home = thread
        if (finished := self.finished[thread]) is not None:
            self.finished[thread] = None
            time = self.retire(time, finished, thread)
        budget = REGISTER_AT_ONCE
        while budget and self.registered != self.pushed and len(self.ready) < 1 + len(self.asleep):
            time = self.register(time, thread)
            budget -= 1
        operation = self.ready.popleft() if self.ready else None
        self.lock_free_at = time
        assert time >= begin
        self.at(time, self.unlocked, thread, operation)

    def touch(self, time, variable, thread):
        if variable.home != thread:
            time += self.costs["line"] / OVERLAP
            variable.home = thread
        return time + self.costs["schedule_variable"] / 2

    def register(self, time, thread):
        operation = self.operations[self.registered]
        self.registered += 1
        self.head += operation.slots
        time += self.costs["schedule"] / 2
        operation.home = thread
        operation.waiting = 1
        for index in operation.writes:
            variable = self.variables[index]
            time = self.touch(time, variable, thread)
            if variable.queue or variable.writer or variable.readers:
                variable.queue.append((operation, True))
                operation.waiting += 1
            else:
                variable.writer = operation
        for index in operation.reads:
            variable = self.variables[index]
            time = self.touch(time, variable, thread)
            if variable.queue or variable.writer:
                variable.queue.append((operation, False))
                operation.waiting += 1
            else:
                variable.readers += 1
        self.seal(operation)
        return time

    def seal(self, operation):
        operation.waiting -= 1
        if not operation.waiting:
            self.ready.append(operation)

    def retire(self, time, operation, thread):
        time += self.costs["schedule"] / 2
        if operation.home != thread:
            time += self.costs["line"]
        for index in operation.writes + operation.reads:
            variable = self.variables[index]
            time = self.touch(time, variable, thread)
            if variable.writer is operation:
                variable.writer = None
            else:
                variable.readers -= 1
            if not variable.readers:
                self.advance(variable)
        self.retired_slots += operation.slots
        self.done += 1
        self.end = max(self.end, time)
        return time

    def advance(self, variable):
        while variable.queue:
            operation, writes = variable.queue[0]
            if writes and variable.readers:
                return
            variable.queue.popleft()
            self.seal(operation)
            if writes:
                variable.writer = operation
                return
            variable.readers += 1

    # After the lock.

    def unlocked(self, time, thread, operation):
        if self.pusher_waits and self.tail + SLOTS // 4 <= min(
                self.head + SLOTS, self.retired_slots + IN_FLIGHT):
            self.pusher_waits = False
            self.at(time + self.costs["line"] + 8 * self.costs["pause"], self.push)
        if self.ready:
            time = self.notify(time)
        if operation is None:
            self.search(time, thread)
            return
        if operation.home != thread:
            time += self.costs["line"]
        self.finished[thread] = operation
        self.at(time + max(operation.length, self.run_time), self.try_lock, thread)


def pattern(name, count):
    """As Pattern.cpp makes them, with 100 variables."""
    rng = random.Random(1)
    make = {
        "independent": lambda i: Operation([], [i % 100]),
        "chain": lambda i: Operation([], [0]),
        "random 2r1w": lambda i: draw(rng, 2),
        "random 10r1w": lambda i: draw(rng, 10),
        "1 to 10 us alone": lambda i: Operation([], [i % 100], rng.uniform(1000, 10000)),
        "50 us alone": lambda i: Operation([], [i % 100], 50000.0),
        # MXNet's tests/cpp/engine/threaded_engine_test.cc
        "MXNet's workload": lambda i: draw(rng, rng.randint(2, 20), rng.uniform(1000, 10000)),
    }
    return [make[name](i) for i in range(count)]


def draw(rng, reads, length=0.0):
    *read, written = rng.sample(range(100), reads + 1)
    return Operation(read, [written], length)


def simulate(name, count, workers, costs):
    """Nanoseconds an operation, and the time that operations take by
    themselves."""
    operations = pattern(name, count)
    work = sum(o.length for o in operations)
    return Engine(operations, workers, costs).run() / count, work / count


PATTERNS = ["independent", "chain", "random 2r1w", "random 10r1w", "1 to 10 us alone",
            "50 us alone", "MXNet's workload"]


def read_costs(path):
    """Those of the file in the place of ours; it may have others."""
    lines = [json.loads(line) for line in open(path, encoding="utf-8")]
    found = {line["pattern"]: max(0.0, line["ns"]) for line in lines if "ns" in line}
    if not COSTS.keys() <= found.keys():
        raise SystemExit(f"{path}: expected the costs {sorted(COSTS)}, got {sorted(found)}")
    if found["line"] > MOST_OF_LINE:
        raise SystemExit(f"{path}: expected threads on processors of their own, got a line that "
                         f"takes {found['line']:.0f} ns from one to the other")
    return found


def read_measured(path):
    lines = [json.loads(line) for line in open(path, encoding="utf-8")]
    return {line["pattern"]: (line["total_min_ns"], line["total_ns"])
            for line in lines if line["engine"] == "PerDevice" and "total_ns" in line}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--costs", help="lines of dlc-engine-bench --json --part costs")
    parser.add_argument("--measured", help="lines of dlc-engine-bench --json --part patterns")
    parser.add_argument("--operations", type=int, default=3000)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4, 8, 16, 32, 64])
    parser.add_argument("--json", action="store_true", help="a line for each figure")
    options = parser.parse_args()
    costs = read_costs(options.costs) if options.costs else COSTS
    measured = read_measured(options.measured) if options.measured else {}
    for name in PATTERNS:
        for workers in options.workers:
            time, work = simulate(name, options.operations, workers, costs)
            row = {"pattern": name, "workers": workers, "ns": time}
            if work:
                free, _ = simulate(name, options.operations, workers, dict.fromkeys(costs, 0.0))
                row |= {"speedup": work / time, "without_costs": work / free}
            if workers == 2 and name in measured:
                least, median = measured[name]
                row |= {"measured_min_ns": least, "measured_ns": median,
                        "factor": max(least / time, time / median, 1.0)}
            print(json.dumps(row) if options.json else describe(row), flush=True)


def describe(row):
    text = f"{row['pattern']:16} {row['workers']:3} workers {row['ns']:8.1f} ns an operation"
    if "speedup" in row:
        text += f", speedup {row['speedup']:5.1f} of {row['without_costs']:5.1f}"
    if "factor" in row:
        text += (f", measured {row['measured_min_ns']:.0f} to {row['measured_ns']:.0f} "
                 f"(least, median): off by {row['factor']:.2f}")
    return text


if __name__ == "__main__":
    main()
