#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of MXNet's zoo: what dlc answers, how fast it imports and runs them.

usage: zoo.py --dlc build/bin/dlc --mxnet PYTHON --folder FOLDER
              [--rounds 0] [--threads 2] [NETWORK...]

PYTHON can import mxnet 1.9.1 (Python 3.8, numpy<1.24). It makes the networks
with random values and exports them to FOLDER, where that was not done before.
dlc imports each with its parameters; printed are the largest difference of its
answers from MXNet's, as a part of the largest of these, and the least of three
times of `dlc import-report` with all values, its start included. Exits with 1
where a difference is above 1e-4. With rounds, both compute an image in turn,
1 s each (MXNet with its oneDNN; once with threads that spin and once with
threads that sleep, since on a machine with other work the former lose their
processors): the least of all runs of each, and the ratio.
"""
import argparse
import array
import json
import math
import os
import pathlib
import subprocess
import sys
import time
import zipfile

NETWORKS = ["resnet18_v1", "resnet50_v1", "resnet18_v2", "resnet50_v2", "vgg11_bn", "alexnet", "densenet121",
            "squeezenet1.0", "inceptionv3", "mobilenet1.0", "mobilenet0.25", "mobilenetv2_1.0"]
BAR = 1e-4

MAKE = """
import sys
import mxnet as mx
import numpy as np
folder, name = sys.argv[1:]
mx.random.seed(7)
random = np.random.RandomState(7)
network = mx.gluon.model_zoo.vision.get_model(name, pretrained=False)
network.initialize(mx.init.Xavier())
side = 299 if name == "inceptionv3" else 224
data = mx.nd.array(random.uniform(-1, 1, (1, 3, side, side)))
network(data)
# Statistics that are not 0 and 1.
for key, value in network.collect_params().items():
    if key.endswith("running_var"):
        value.set_data(mx.nd.array(random.uniform(0.5, 1.5, value.shape)))
    elif key.endswith(("running_mean", "beta", "bias")):
        value.set_data(mx.nd.array(random.uniform(-0.1, 0.1, value.shape)))
network.hybridize()
answer = network(data)
network.export(folder + "/" + name)
np.save(folder + "/" + name + "-data.npy", data.asnumpy())
np.save(folder + "/" + name + "-answer.npy", answer.asnumpy())
"""

TIME = """
import json, sys, time
import mxnet as mx
import numpy as np
prefix, seconds = sys.argv[1], float(sys.argv[2])
symbol, arguments, states = mx.model.load_checkpoint(prefix, 0)
data = mx.nd.array(np.load(prefix + "-data.npy"))
executor = symbol.bind(mx.cpu(), dict(arguments, data=data), aux_states=states, grad_req="null")
times = []
for i in range(1000000):
    begin = time.perf_counter()
    executor.forward(is_train=False)[0].wait_to_read()
    times.append((time.perf_counter() - begin) * 1e3)
    if i > 4 and sum(times[3:]) > seconds * 1e3:
        break
print(json.dumps(times[3:]))
"""


def run(command, **more):
    done = subprocess.run(command, text=True, capture_output=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command[:4]))}: {done.stderr.strip()}")
    return done.stdout


def read_npy(data):
    """The float32 elements of an .npy of version 1 as a list."""
    start = 10 + int.from_bytes(data[8:10], "little")
    assert b"'<f4'" in data[:start]
    values = array.array("f")
    values.frombytes(data[start:])
    return values


class Network:
    def __init__(self, name, options):
        self.name, self.options = name, options
        self.prefix = options.folder / name
        self.parts = [f"{self.prefix}-symbol.json", "--params", f"{self.prefix}-0000.params"]
        if not pathlib.Path(f"{self.prefix}-answer.npy").exists():
            run([options.mxnet, "-c", MAKE, str(options.folder), name])
        side = 299 if name == "inceptionv3" else 224
        self.shape = ["--shape", f"data=1x3x{side}x{side}"]

    def import_time(self):
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            run([self.options.dlc, "import-report", *self.parts, *self.shape])
            times.append(time.perf_counter() - begin)
        return min(times)

    def compile(self):
        run([self.options.dlc, "compile", *self.parts, *self.shape, "-o", f"{self.prefix}.dlc"])

    def difference(self):
        outputs = f"{self.prefix}-outputs.npz"
        run([self.options.dlc, "run", f"{self.prefix}.dlc", "--input", f"data={self.prefix}-data.npy",
             "--outputs", outputs, "--threads", str(self.options.threads)])
        with zipfile.ZipFile(outputs) as file:
            found = read_npy(file.read(file.namelist()[0]))
        expected = read_npy(pathlib.Path(f"{self.prefix}-answer.npy").read_bytes())
        assert len(found) == len(expected) > 0
        return max(abs(a - b) for a, b in zip(found, expected)) / max(map(abs, expected))

    def times(self):
        """The least milliseconds of a run of dlc, and of MXNet by how its threads wait."""
        threads = str(self.options.threads)
        ours, theirs = [], {}
        for _ in range(self.options.rounds):
            ours.append(json.loads(run([self.options.dlc, "bench", f"{self.prefix}.dlc", "--random", "--threads",
                                        threads, "--seconds", "1", "--json"])))
            for policy in "ACTIVE", "PASSIVE":
                environment = dict(os.environ, OMP_NUM_THREADS=threads, OMP_WAIT_POLICY=policy,
                                   MXNET_MKLDNN_ENABLED="1")
                times = json.loads(run([self.options.mxnet, "-c", TIME, str(self.prefix), "1"], env=environment))
                theirs[policy] = min(times + [theirs.get(policy, math.inf)])
        return min(each["min_ms"] for each in ours), theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dlc", required=True, type=os.path.abspath)
    parser.add_argument("--mxnet", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    is_wrong = False
    for name in options.networks:
        network = Network(name, options)
        network.compile()
        if options.rounds == 0:
            difference = network.difference()
            is_wrong |= not difference <= BAR
            print(f"{name}: difference {difference:.1e}, import {network.import_time() * 1e3:.0f} ms", flush=True)
            continue
        ours, theirs = network.times()
        print(f"{name}: dlc {ours:.2f} ms, MXNet {theirs['ACTIVE']:.2f} ms, with sleeping threads "
              f"{theirs['PASSIVE']:.2f} ms, ratio {ours / min(theirs.values()):.2f}", flush=True)
    return is_wrong


if __name__ == "__main__":
    sys.exit(main())
