# SPDX-License-Identifier: Apache-2.0
"""Compiles networks with dlc and times them beside ONNX Runtime and OpenVINO.

All peers run in this process, in interleaved rounds, with the same inputs and
number of threads. Exits with 1 when an output differs from ONNX Runtime's, in fp32, by
more than the tolerance; times are reported and fail nothing.
"""

import argparse
import ctypes
import itertools
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import onnx

from models import NETWORKS, OPEN, OTHERS, QUANTIZED, open_batch

# Largest time of dlc over ONNX Runtime's.
BARS = {"resnet50": 1.5, "mobilenetv2": 1.5, "bert_base": 1.5,
        "minilm_l6_s32": 1.5, "mlp": 1.5, "elementwise": 1.0}
# What dlc and OpenVINO compile for: OpenVINO's hint, and the tolerance, of the
# largest output.
PRECISIONS = {"fp32": ("f32", 1e-4), "bf16": ("bf16", 5e-2)}

# DlcDataType of include/dlc/abi/Tensor.h.
TYPES = {4: np.int32, 5: np.int64, 12: np.float32}
CODES = {np.dtype(v): k for k, v in TYPES.items()}


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("rank", ctypes.c_int32), ("type", ctypes.c_int32)]


class Port(ctypes.Structure):
    _fields_ = [("structSize", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("type", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64))]


class Statistics(ctypes.Structure):
    _fields_ = [("structSize", ctypes.c_size_t)] + [
        (name, ctypes.c_uint64) for name in
        ("arenaBytes", "lowerBoundBytes", "constantBytes", "codeBytes",
         "launches")]


class PoolOptions(ctypes.Structure):
    _fields_ = [("structSize", ctypes.c_size_t), ("threads", ctypes.c_uint32),
                ("spinMicroseconds", ctypes.c_uint32)]


class Runtime:
    """dlc-c/Runtime.h."""

    def __init__(self, path, threads):
        self.lib = ctypes.CDLL(str(path))
        self.lib.dlcStatusMessage.restype = ctypes.c_char_p
        self.lib.dlcProgramInputCount.restype = ctypes.c_size_t
        self.lib.dlcProgramOutputCount.restype = ctypes.c_size_t
        self.pool = ctypes.c_void_p()
        options = PoolOptions(ctypes.sizeof(PoolOptions), threads, 50)
        self.call("dlcPoolCreate", ctypes.byref(options),
                  ctypes.byref(self.pool))

    def call(self, name, *arguments):
        function = getattr(self.lib, name)
        function.restype = ctypes.c_void_p
        status = function(*arguments)
        if status:
            message = self.lib.dlcStatusMessage(ctypes.c_void_p(status))
            raise RuntimeError(f"{name}: {message.decode()}")


class Execution:
    def __init__(self, runtime, path):
        self.runtime = runtime
        self.program, self.execution = ctypes.c_void_p(), ctypes.c_void_p()
        begin = time.perf_counter()
        runtime.call("dlcProgramLoad", str(path).encode(),
                     ctypes.byref(self.program))
        self.load_ms = 1e3 * (time.perf_counter() - begin)
        runtime.call("dlcExecutionCreate", self.program, runtime.pool,
                     ctypes.byref(self.execution))
        self.statistics = Statistics(ctypes.sizeof(Statistics))
        runtime.call("dlcProgramGetStatistics", self.program,
                     ctypes.byref(self.statistics))
        self.kept = []

    def bind(self, feed):
        runtime = self.runtime
        count = runtime.lib.dlcProgramInputCount(self.program)
        for index in range(count):
            port = Port(ctypes.sizeof(Port))
            runtime.call("dlcProgramInput", self.program,
                         ctypes.c_size_t(index), ctypes.byref(port))
            value = np.asarray(feed[port.name.decode()], order="C")
            shape = (ctypes.c_int64 * value.ndim)(*value.shape)
            tensor = Tensor(value.ctypes.data, shape, value.ndim,
                            CODES[value.dtype])
            self.kept.append((value, shape, tensor))
            runtime.call("dlcExecutionBindInput", self.execution,
                         ctypes.c_size_t(index), ctypes.byref(tensor))

    def run(self):
        self.runtime.call("dlcExecutionRun", self.execution)

    def outputs(self):
        count = self.runtime.lib.dlcProgramOutputCount(self.program)
        return [self.output(index) for index in range(count)]

    def output(self, index=0):
        tensor = Tensor()
        self.runtime.call("dlcExecutionOutput", self.execution,
                          ctypes.c_size_t(index), ctypes.byref(tensor))
        shape = tensor.shape[:tensor.rank]
        bytes_ = ctypes.string_at(
            tensor.data, int(np.prod(shape)) *
            np.dtype(TYPES[tensor.type]).itemsize)
        return np.frombuffer(bytes_, TYPES[tensor.type]).reshape(shape)

    def close(self):
        self.runtime.lib.dlcExecutionDestroy(self.execution)
        self.runtime.lib.dlcProgramDestroy(self.program)


# A child's peak starts at that of the process it is forked from, and this one
# is large: a small interpreter forks in its place.
LAUNCHER = """
import os, sys, time
begin = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), time.perf_counter() - begin,
      usage.ru_maxrss, file=sys.stderr)
"""


def measured(*command):
    """Runs a program; its seconds and peak resident bytes."""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", LAUNCHER,
                           *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=True)
    *messages, last = done.stderr.splitlines()
    status, seconds, kilobytes = last.split()
    if status != "0":
        raise RuntimeError(f"{' '.join(command)}: status {status}: "
                           f"{' '.join(messages)}")
    return float(seconds), int(kilobytes) * 1024


def inputs_of(session, batch=1, length=None):
    """Random inputs, of `batch` examples where the model leaves that open, and
    of `length` where it leaves its `sequence` open."""
    random, feed = np.random.default_rng(1), {}
    for port in session.get_inputs():
        shape = [length if dim == "sequence" else
                 batch if isinstance(dim, str) else dim for dim in port.shape]
        if "int64" not in port.type:
            value = random.standard_normal(shape).astype(np.float32)
        elif "mask" in port.name:
            value = np.ones(shape, np.int64)
        else:
            value = random.integers(0, 1000, shape)
        feed[port.name] = value
    return feed


def interleave(peers, rounds, seconds, clock, pause=0):
    """Milliseconds of each peer's runs by a clock, that many seconds apart; peers
    take turns in every round."""
    times = {name: [] for name in peers}
    for run in peers.values():
        run()
        run()
    for _ in range(rounds):
        for name, run in peers.items():
            # ONNX Runtime's threads spin on for 50 ms behind its last run.
            time.sleep(0.08)
            begin, count = time.perf_counter(), 0
            while count < 3 or (time.perf_counter() - begin < seconds
                                and count < 200):
                if pause:
                    time.sleep(pause)
                start = clock()
                run()
                times[name].append(1e3 * (clock() - start))
                count += 1
    return times


def step_of_output(model):
    """By how much the first output of a quantised network differs from the
    next number that it may be; 0 where it is not rounded at last."""
    graph = onnx.load(str(model)).graph
    scales = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    for node in graph.node:
        if node.op_type == "DequantizeLinear" and node.output[0] == graph.output[0].name:
            return float(scales[node.input[1]].max())
    return 0


def compare(name, options, runtime, batch=None, length=None):
    """With `batch`, of a network that leaves the size of its batch open; with
    `length`, of minilm_open, which leaves that of sequences open, too."""
    import onnxruntime
    import openvino
    model = options.models / f"{name}.onnx"
    artifact = str(options.models / f"{name}.dlc")
    again = str(options.models / f"{name}.again.dlc")
    if batch and not length:
        plain, model = model, options.models / f"{name}.open.onnx"
        open_batch(plain, model)
    dlc = str(options.dlc)
    hint, tolerance = PRECISIONS[options.precision]
    compile_ = (dlc, "compile", str(model), "--precision", options.precision)
    if options.tune:
        compile_ += ("--tune", "--tuning-cache",
                     str(options.models / "times.txt"))
    if length:
        compile_ += ("--extent", "sequence=" + (options.extent or ",".join(
            map(str, options.length))))
    seconds, peak = measured(*compile_, "-o", artifact)
    measured(*compile_, "-o", again)
    equal = pathlib.Path(artifact).read_bytes() == \
        pathlib.Path(again).read_bytes()
    os.unlink(again)

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = onnxruntime.InferenceSession(
        str(model), settings, providers=["CPUExecutionProvider"])
    feed = inputs_of(session, batch or 1, length)
    shapes = [f"--shape={port}={'x'.join(map(str, value.shape))}"
              for port, value in feed.items()] if batch or length else []
    _, resident = measured(dlc, "run", artifact, "--random", "--threads",
                           str(options.threads), *shapes)
    compiled = openvino.Core().compile_model(str(model), "CPU", {
        "INFERENCE_PRECISION_HINT": hint,
        "INFERENCE_NUM_THREADS": options.threads,
        "PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    execution = Execution(runtime, artifact)
    execution.bind(feed)
    times = interleave({
        "dlc": execution.run,
        "ort": lambda: session.run(None, feed),
        "openvino": lambda: request.infer(feed, share_inputs=True,
                                          share_outputs=True),
    }, options.rounds, options.seconds,
        time.process_time if options.processor_time else time.perf_counter,
        options.pause * 1e-3)
    expected = session.run(None, feed)[0]
    if name in QUANTIZED:  # Where two round differently, steps are large.
        tolerance = max(0.1, 1.01 * step_of_output(model) / float(np.abs(expected).max()))

    def error_of(output):
        if output.shape != expected.shape:
            return float("nan")
        return float(np.abs(output - expected).max() / np.abs(expected).max())

    # What lies between runs makes some of them longer, not the others faster.
    typical = np.median if options.pause else min
    error = error_of(execution.output())
    other = request.infer(feed)[compiled.output(0)]
    statistics = execution.statistics
    network = name + (f" x {batch}" if batch else "")
    result = {
        "network": network + (f" of {length}" if length else ""),
        "error": error, "tolerance": tolerance, "precision": options.precision,
        "error_openvino": error_of(other),
        "times": {peer: {"min_ms": min(t), "median_ms": float(np.median(t)),
                         "runs": len(t)} for peer, t in times.items()},
        "ratio_ort": typical(times["dlc"]) / typical(times["ort"]),
        "ratio_openvino": typical(times["dlc"]) / typical(times["openvino"]),
        "compile_s": seconds, "compile_peak_mb": peak / 1e6,
        "load_ms": execution.load_ms, "run_peak_mb": resident / 1e6,
        "arena_bytes": statistics.arenaBytes,
        "lower_bound_bytes": statistics.lowerBoundBytes,
        "constant_bytes": statistics.constantBytes,
        "launches": statistics.launches, "byte_equal": equal}
    # Beside inputs and outputs, a small network's own memory says nothing.
    own = statistics.arenaBytes + statistics.constantBytes
    result["resident_ratio"] = resident / own if own > 1e6 else None
    bound = statistics.lowerBoundBytes
    result["plan_ratio"] = statistics.arenaBytes / bound if bound else 1.0
    execution.close()
    return result


def row(result):
    times = result["times"]
    cells = [result["network"]]
    cells += [f"{times[p]['min_ms']:.2f} / {times[p]['median_ms']:.2f}"
              for p in ("dlc", "ort", "openvino")]
    cells += [f"{result['ratio_ort']:.2f}",
              str(BARS.get(result["network"], "-")),
              f"{result['ratio_openvino']:.2f}", f"{result['error']:.1e}",
              f"{result['error_openvino']:.1e}",
              f"{result['compile_s']:.2f}", f"{result['compile_peak_mb']:.0f}",
              f"{result['load_ms']:.1f}",
              "-" if result["resident_ratio"] is None
              else f"{result['resident_ratio']:.2f}",
              f"{result['plan_ratio']:.3f}",
              "yes" if result["byte_equal"] else "no"]
    return "| " + " | ".join(cells) + " |"


HEADER = """\
| network | dlc ms (min / median) | ORT ms | OpenVINO ms | dlc/ORT | bar | dlc/OV | error | OV error | compile s | peak MB | load ms | RSS/(weights+arena) | planned/bound | byte-equal |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dlc", required=True, type=pathlib.Path)
    parser.add_argument("--runtime", required=True, type=pathlib.Path)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--tune", action="store_true",
                        help="kernels chosen by their times on this machine "
                             "(models/times.txt), for which the first compile "
                             "takes longer")
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32",
                        help="of dlc and of OpenVINO; ONNX Runtime has fp32")
    parser.add_argument("--processor-time", action="store_true",
                        help="time the processor, not the wall: with --threads "
                        "1 other work on the machine disturbs less")
    parser.add_argument("--seconds", type=float, default=0.3,
                        help="of each peer in a round")
    parser.add_argument("--pause", type=float, default=0, metavar="MS",
                        help="milliseconds between runs, as a service has them: "
                        "ratios are those of the medians then")
    parser.add_argument("--others", action="store_true",
                        help="the networks of models.py --others by default")
    parser.add_argument("--batch", type=lambda text: [
        int(size) for size in text.split(",")], default=[None], metavar="N,...",
                        help="the networks with the size of their batch open, "
                        "for each of these sizes")
    parser.add_argument("--length", type=lambda text: [
        int(size) for size in text.split(",")], default=[None], metavar="N,...",
                        help="minilm_open with sequences of each of these "
                        "lengths, by one artifact")
    parser.add_argument("--extent", metavar="SIZES",
                        help="the lengths that it has programs for, as dlc "
                        "compile has them (8-128/8), where these are others")
    parser.add_argument("networks", nargs="*")
    options = parser.parse_args()
    runtime = Runtime(options.runtime.resolve(), options.threads)
    results, failed = [], False
    print(HEADER, flush=True)
    default = OTHERS if options.others else NETWORKS
    if options.length != [None]:
        default = OPEN
    for name, batch, length in itertools.product(
            options.networks or default, options.batch, options.length):
        try:
            result = compare(name, options, runtime, batch, length)
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
            continue
        results.append(result)
        print(row(result), flush=True)
        if not result["error"] <= result["tolerance"]:  # NaN fails too.
            print(f"{name}: expected an error of at most "
                  f"{result['tolerance']}, found {result['error']}",
                  file=sys.stderr)
            failed = True
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
