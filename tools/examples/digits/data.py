#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the digits of the example as arrays to train and test with.

usage: data.py FOLDER     writes train.npz and test.npz: image, label
"""
import os
import sys

import numpy as np

from train import held_out_split


def write(folder):
    images, labels, held_images, held_labels = held_out_split()
    for name, image, label in (("train", images, labels), ("test", held_images, held_labels)):
        np.savez(os.path.join(folder, name + ".npz"), image=image, label=label.astype(np.int64))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    write(sys.argv[1])
