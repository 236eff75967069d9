#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tour of `make run`: a trained network on real data, one that is trained
from nothing, then ResNet-50.

usage: run.py --dlc build/bin/dlc
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(ROOT, "tools", "examples", "digits")


def run(*command):
    """Runs a program, shows what it was, returns its output."""
    shown = [os.path.relpath(c, ROOT) if c.startswith(ROOT) else c for c in command]
    print("$", " ".join(shown), flush=True)
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode:
        sys.exit(done.stderr.strip() or f"{command[0]} failed")
    return done.stdout


def top(probabilities, count=3):
    order = np.argsort(-probabilities)[:count]
    return ", ".join(f"{i} ({100 * probabilities[i]:.1f} %)" for i in order)


def show_digits(dlc, folder):
    sys.path.insert(0, EXAMPLE)
    from train import held_out_split

    _, _, images, labels = held_out_split()
    np.save(os.path.join(folder, "image.npy"), images)
    output = os.path.join(folder, "digits.npz")
    artifact = os.path.join(folder, "digits.dlc")
    run(dlc, "compile", os.path.join(EXAMPLE, "digits.onnx"), "-o", artifact,
        "--shape", f"image={len(images)}x1x8x8")
    text = run(dlc, "run", artifact, "--input",
               f"image={folder}/image.npy", "--outputs", output)
    probability = np.load(output)["probability"]
    for i in (0, 1, 2):
        print(f"  digit {i}: really {labels[i]}; answers: {top(probability[i])}")
    accuracy = (probability.argmax(1) == labels).mean()
    print(f"  accuracy on {len(labels)} held-out digits: {100 * accuracy:.1f} %")
    print("  " + text.strip().splitlines()[-1])
    if accuracy < 0.97:
        sys.exit(f"expected an accuracy of at least 97 %, got {100 * accuracy:.1f} %")


def show_training(dlc, folder):
    """Trains the network of digits-symbol.json, then runs what came out."""
    from data import write

    write(folder)
    network = os.path.join(EXAMPLE, "digits-symbol.json")
    prefix, epochs = os.path.join(folder, "trained"), 10
    text = run(dlc, "train", network, "--data", f"{folder}/train.npz",
               "--test", f"{folder}/test.npz", "--optimizer", "sgd", "--momentum", "0.9",
               "--learning-rate", "0.1", "--epochs", str(epochs), "--checkpoint", prefix)
    print("  " + "\n  ".join(text.strip().splitlines()))
    labels = np.load(f"{folder}/test.npz")["label"]
    run(dlc, "run", network, "--params", f"{prefix}-{epochs:04}.params",
        "--input", f"image={folder}/image.npy", "--outputs", f"{folder}/trained.npz")
    found = np.load(f"{folder}/trained.npz")["softmax_output"]
    accuracy = (found.argmax(1) == labels).mean()
    print(f"  accuracy of the checkpoint on {len(labels)} held-out digits: "
          f"{100 * accuracy:.1f} %")
    if accuracy < 0.97:
        sys.exit(f"expected an accuracy of at least 97 %, got {100 * accuracy:.1f} %")


def show_resnet(dlc, folder):
    models = os.path.join(ROOT, "build", "models")
    model = os.path.join(models, "resnet50.onnx")
    if not os.path.exists(model):
        run(sys.executable, os.path.join(ROOT, "tools", "benchmarks", "models.py"),
            models, "resnet50")
    artifact = os.path.join(folder, "resnet50.dlc")
    run(dlc, "compile", model, "-o", artifact)
    output = os.path.join(folder, "resnet50.npz")
    text = run(dlc, "run", artifact, "--random", "--outputs", output)
    print(f"  top classes: {top(np.load(output)['prob'][0])}")
    times = json.loads(run(dlc, "bench", artifact, "--json", "--seconds", "3"))
    print(f"  min {times['min_ms']:.2f} ms, median {times['median_ms']:.2f} ms "
          f"with {times['threads']} threads; loads in {times['load_ms']:.2f} ms")
    planned, bound, weights = map(
        int, re.search(r"planned (\d+) bytes, lower bound (\d+), weights (\d+)",
                       text).groups())
    print(f"  memory: planned {planned / 2**20:.2f} MiB, lower bound "
          f"{bound / 2**20:.2f} MiB ({planned / max(bound, 1):.3f}x), "
          f"weights {weights / 2**20:.1f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dlc", required=True)
    dlc = os.path.abspath(parser.parse_args().dlc)
    with tempfile.TemporaryDirectory() as folder:
        print("Handwritten digits: a small CNN trained on real data")
        show_digits(dlc, folder)
        print("\nThe same, trained from nothing by DLC")
        show_training(dlc, folder)
        print("\nResNet-50 with generated weights: time and memory")
        show_resnet(dlc, folder)


if __name__ == "__main__":
    main()
