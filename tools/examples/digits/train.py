#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the small CNN of the digits example and writes it as ONNX.

usage: train.py OUT.onnx

The data are scikit-learn's digits: 1,797 handwritten digits of 8x8 pixels
(a part of the UCI Optical Recognition of Handwritten Digits data set). Every
fifth digit is held out. Training is plain NumPy: convolutions as products over
gathered patches, cross entropy, Adam.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

EPOCHS, BATCH, RATE = 40, 32, 2e-3


def held_out_split():
    """(train images, train labels, held-out images, held-out labels)"""
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]
    held = np.arange(len(images)) % 5 == 0
    return images[~held], digits.target[~held], images[held], digits.target[held]


def patches(x):
    """[N, C, H, W] -> [N, H, W, C*9]: the 3x3 neighbourhood of each pixel."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    taps = [padded[:, :, i:i + h, j:j + w] for i in range(3) for j in range(3)]
    return np.stack(taps, 2).reshape(n, c * 9, h, w).transpose(0, 2, 3, 1)


def scatter_patches(grad, shape):
    """The adjoint of patches()."""
    n, c, h, w = shape
    grad = grad.transpose(0, 3, 1, 2).reshape(n, c, 9, h, w)
    padded = np.zeros((n, c, h + 2, w + 2), np.float32)
    for tap in range(9):
        i, j = divmod(tap, 3)
        padded[:, :, i:i + h, j:j + w] += grad[:, :, tap]
    return padded[:, :, 1:-1, 1:-1]


def initial_parameters(random):
    def normal(*shape, fan):
        return (random.standard_normal(shape) * (2 / fan) ** 0.5).astype(np.float32)

    return {
        "conv1.weight": normal(16, 1, 3, 3, fan=9), "conv1.bias": np.zeros(16, np.float32),
        "conv2.weight": normal(32, 16, 3, 3, fan=144), "conv2.bias": np.zeros(32, np.float32),
        "fc.weight": normal(512, 10, fan=512), "fc.bias": np.zeros(10, np.float32),
    }


def forward(p, x):
    """Logits, and what backward() needs."""
    p1 = patches(x)
    h1 = np.maximum(p1 @ p["conv1.weight"].reshape(16, -1).T + p["conv1.bias"], 0)
    h1 = h1.transpose(0, 3, 1, 2)
    p2 = patches(h1)
    h2 = np.maximum(p2 @ p["conv2.weight"].reshape(32, -1).T + p["conv2.bias"], 0)
    h2 = h2.transpose(0, 3, 1, 2)
    n = len(x)
    blocks = h2.reshape(n, 32, 4, 2, 4, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, 32, 4, 4, 4)
    winner = blocks.argmax(-1)
    flat = blocks.max(-1).reshape(n, 512)
    return flat @ p["fc.weight"] + p["fc.bias"], (p1, h1, p2, h2, winner, flat)


def backward(p, x, kept, grad):
    """Gradients of the parameters, given that of the logits."""
    p1, h1, p2, h2, winner, flat = kept
    n = len(x)
    g = {"fc.weight": flat.T @ grad, "fc.bias": grad.sum(0)}
    pooled = (grad @ p["fc.weight"].T).reshape(n, 32, 4, 4, 1)
    blocks = (np.arange(4) == winner[..., None]) * pooled
    d2 = blocks.reshape(n, 32, 4, 4, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(h2.shape)
    d2 = (d2 * (h2 > 0)).transpose(0, 2, 3, 1)
    g["conv2.weight"] = np.einsum("nhwo,nhwk->ok", d2, p2, optimize=True).reshape(32, 16, 3, 3)
    g["conv2.bias"] = d2.sum((0, 1, 2))
    d1 = scatter_patches(d2 @ p["conv2.weight"].reshape(32, -1), h1.shape) * (h1 > 0)
    d1 = d1.transpose(0, 2, 3, 1)
    g["conv1.weight"] = np.einsum("nhwo,nhwk->ok", d1, p1, optimize=True).reshape(16, 1, 3, 3)
    g["conv1.bias"] = d1.sum((0, 1, 2))
    return g


def train(images, labels):
    random = np.random.default_rng(0)
    p = initial_parameters(random)
    first = {k: np.zeros_like(v) for k, v in p.items()}
    second = {k: np.zeros_like(v) for k, v in p.items()}
    step = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(images))
        for begin in range(0, len(order), BATCH):
            batch = order[begin:begin + BATCH]
            x, y = images[batch], labels[batch]
            logits, kept = forward(p, x)
            prob = np.exp(logits - logits.max(1, keepdims=True))
            prob /= prob.sum(1, keepdims=True)
            prob[np.arange(len(y)), y] -= 1
            step += 1
            for key, g in backward(p, x, kept, prob / len(y)).items():
                first[key] = 0.9 * first[key] + 0.1 * g
                second[key] = 0.999 * second[key] + 0.001 * g * g
                scale = RATE * (1 - 0.999 ** step) ** 0.5 / (1 - 0.9 ** step)
                p[key] -= (scale * first[key] / (second[key] ** 0.5 + 1e-8)).astype(np.float32)
    return p


def to_onnx(p):
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["c1"],
                         kernel_shape=[3, 3], pads=[1] * 4),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "conv2.weight", "conv2.bias"], ["c2"],
                         kernel_shape=[3, 3], pads=[1] * 4),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("MaxPool", ["r2"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "fc.weight", "fc.bias"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["probability"], axis=-1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(v, k) for k, v in p.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    images, labels, held_images, held_labels = held_out_split()
    p = train(images, labels)
    accuracy = (forward(p, held_images)[0].argmax(1) == held_labels).mean()
    onnx.save(to_onnx(p), sys.argv[1])
    print(f"accuracy on {len(held_labels)} held-out digits: {100 * accuracy:.1f} %")


if __name__ == "__main__":
    main()
