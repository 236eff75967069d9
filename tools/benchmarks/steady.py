# SPDX-License-Identifier: Apache-2.0
"""How steady the times of dlc's programs are, without any peer.

For each network: the times of single runs (median, 99th percentile), those of two
programs that run at once on one pool of threads, over one alone (2 is an equal
share of the machine), and those of a program compiled with --tune over one
without, in turns. At the end the processor time of a pool that has nothing to do.
"""

import argparse
import pathlib
import subprocess
import sys
import threading
import time

import numpy as np

from compare import Execution, Runtime, inputs_of, interleave
from models import NETWORKS

HEADER = """\
| network | median ms | p99 / median | two at once, slower by | tuned / not, min | median |
|---|---|---|---|---|---|"""


def times_of(execution, seconds):
    """Milliseconds of runs, but for the first ones."""
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 20:
        start = time.perf_counter()
        execution.run()
        times.append(1e3 * (time.perf_counter() - start))
    return times[3:]


def measure(name, options, runtime):
    import onnxruntime
    model = str(options.models / f"{name}.onnx")
    plain = str(options.models / f"{name}.steady.dlc")
    tuned = str(options.models / f"{name}.tuned.dlc")
    for artifact, more in (plain, ()), (tuned, ("--tune",)):
        subprocess.run([options.dlc, "compile", model, "-o", artifact, *more],
                       check=True, capture_output=True)
    feed = inputs_of(onnxruntime.InferenceSession(
        model, providers=["CPUExecutionProvider"]))
    executions = [Execution(runtime, path) for path in (plain, plain, tuned)]
    for execution in executions:
        execution.bind(feed)
    first, second, other = executions

    alone = times_of(first, options.seconds)
    together = []
    threads = [threading.Thread(
        target=lambda e=e: together.append(times_of(e, options.seconds)))
        for e in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    turns = interleave({"plain": first.run, "tuned": other.run},
                       options.rounds, options.seconds / options.rounds,
                       time.perf_counter)
    median = np.median(alone)
    slower = max(np.median(times) for times in together) / median
    cells = [name, f"{median:.2f}", f"{np.percentile(alone, 99) / median:.2f}",
             f"{slower:.2f}",
             f"{min(turns['tuned']) / min(turns['plain']):.3f}",
             f"{np.median(turns['tuned']) / np.median(turns['plain']):.3f}"]
    for execution in executions:
        execution.close()
    for artifact in plain, tuned:
        pathlib.Path(artifact).unlink()
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dlc", required=True, type=pathlib.Path)
    parser.add_argument("--runtime", required=True, type=pathlib.Path)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=4,
                        help="of each measurement")
    parser.add_argument("networks", nargs="*")
    options = parser.parse_args()
    runtime = Runtime(options.runtime.resolve(), options.threads)
    print(HEADER, flush=True)
    for name in options.networks or NETWORKS:
        print(measure(name, options, runtime), flush=True)
    time.sleep(0.1)
    begin = time.process_time()
    time.sleep(2)
    idle = time.process_time() - begin
    print(f"processor time of a pool with nothing to do: "
          f"{100 * idle / 2:.2f} % of one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
