#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which points F(4x4, 3x3) loses least with: 0, p, -p, q, -q and infinity for p
and q in eighths, products and sums in f32 as the kernels of plain tensors have them.

usage: winograd_points.py [CHANNELS]

Prints the ten pairs of the least error over random tiles, and 1 and 2: the
largest difference from the definition in double over the largest value.
"""
import itertools
import sys

import numpy as np


def matrices(p, q):
    """The transforms of inputs and outputs in f32, and of weights in double."""
    pp, qq = p * p, q * q
    inputs = [
        [pp * qq, 0, -(pp + qq), 0, 1, 0],
        [0, -p * qq, -qq, p, 1, 0],
        [0, p * qq, -qq, -p, 1, 0],
        [0, -q * pp, -pp, q, 1, 0],
        [0, q * pp, -pp, -q, 1, 0],
        [0, pp * qq, 0, -(pp + qq), 0, 1],
    ]
    outputs = [
        [1, 1, 1, 1, 1, 0],
        [0, p, -p, q, -q, 0],
        [0, pp, pp, qq, qq, 0],
        [0, p * pp, -p * pp, q * qq, -q * qq, 1],
    ]
    of_p, of_q = 2 * pp * (pp - qq), 2 * qq * (qq - pp)
    weights = [
        [1 / (pp * qq), 0, 0],
        [1 / of_p, p / of_p, pp / of_p],
        [1 / of_p, -p / of_p, pp / of_p],
        [1 / of_q, q / of_q, qq / of_q],
        [1 / of_q, -q / of_q, qq / of_q],
        [0, 0, 1],
    ]
    return (np.array(inputs, np.float32), np.array(outputs, np.float32),
            np.array(weights))


def error(p, q, x, w, expected):
    """Of tiles x [C, 6, 6, T] and weights w [C, 3, 3]."""
    inputs, outputs, weights = matrices(p, q)
    points = np.einsum("ia,cab,jb->cij", weights, w, weights).astype(np.float32)
    half = np.einsum("ia,cabt->cibt", inputs, x)
    transformed = np.einsum("jb,cibt->cijt", inputs, half)
    sums = np.zeros(transformed.shape[1:], np.float32)
    for channel in range(len(x)):  # One after the other, as the kernels do.
        sums += points[channel][:, :, None] * transformed[channel]
    half = np.einsum("ai,ijt->ajt", outputs, sums)
    found = np.einsum("bj,ajt->abt", outputs, half)
    return np.abs(found - expected).max() / np.abs(expected).max()


def main():
    channels = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, (channels, 6, 6, 64)).astype(np.float32)
    w = (random.uniform(-1, 1, (channels, 3, 3)) / np.sqrt(9 * channels)).astype(
        np.float32).astype(np.float64)
    expected = np.zeros((4, 4, 64))
    for i, j in itertools.product(range(3), range(3)):
        expected += np.einsum("c,cabt->abt", w[:, i, j],
                              x[:, i:i + 4, j:j + 4].astype(np.float64))
    pairs = [(p / 8, q / 8) for p in range(2, 17) for q in range(p + 1, 17)]
    errors = sorted((error(p, q, x, w, expected), p, q) for p, q in pairs)
    for found, p, q in errors[:10] + [e for e in errors if e[1:] == (1, 2)]:
        print(f"{p:5} {q:5}  {found:.1e}")


if __name__ == "__main__":
    main()
