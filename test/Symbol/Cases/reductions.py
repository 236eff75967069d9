# SPDX-License-Identifier: Apache-2.0
"""Reductions and orders."""

import os

import numpy as np

from .recorder import distinct, normal, op, raw, whole


def reductions():
    data = normal(2, 3, 2)
    for name in "sum", "mean", "prod", "max", "min":
        op(name, data)
        op(name, data, axis=(0, 2), keepdims=True)
        op(name, data, axis=1, exclude=True)
        op(name, data, axis=-1)
    hole = data.copy()
    hole[0, 0, 0] = np.nan
    op("nansum", hole, axis=0)
    op("nanprod", hole, axis=0)
    op("norm", data)
    op("norm", data, ord=1, axis=(1, 2))
    op("norm", data, axis=1, keepdims=True)
    for name in "argmax", "argmin":
        op(name, data, axis=1)
        op(name, data, axis=-1, keepdims=True)
        op(name, data)
    op("argmax", np.array([1, 3, 3], "float32"), axis=0)
    op("argmax_channel", normal(2, 3))


def numpy_reductions():
    data = normal(2, 3, 2)
    for name in "_np_sum", "_np_prod", "_np_max", "_np_min", "_npi_mean", "_npi_std", "_npi_var":
        raw(name, data)
        raw(name, data, axis=(0, 2), keepdims=True)
        raw(name, data, axis=-1)
    raw("_np_sum", whole(2, 3, dtype="int32"), axis=0)
    raw("_np_sum", data, axis=1, dtype="float64")
    raw("_npi_mean", whole(2, 3, dtype="int32"), axis=0)
    raw("_npi_std", data, axis=1, ddof=1)
    for name in "_np_all", "_np_any":
        raw(name, whole(2, 3, high=2), axis=1)
        raw(name, whole(2, 3, high=2))
    for name in "_npi_argmax", "_npi_argmin":
        raw(name, data, axis=1)
        raw(name, data, axis=0, keepdims=True)
        raw(name, data)
    raw("moments", data, axes=(0, 2))
    raw("moments", data, axes=(1,), keepdims=True)


def orders():
    data = distinct(2, 4)
    for kind in "indices", "value", "both", "mask":
        raw("topk", data, k=2, ret_typ=kind)
        raw("topk", data, k=1, ret_typ=kind, axis=0, is_ascend=True, dtype="int32")
    raw("topk", data, k=3, ret_typ="both", axis="None")
    raw("sort", data)
    raw("sort", data, axis=0, is_ascend=False)
    raw("sort", data, axis="None")
    raw("argsort", data)
    raw("argsort", data, axis=0, is_ascend=False, dtype="int32")
    steps, lengths = normal(3, 2, 2), np.array([1, 3], "float32")
    raw("SequenceLast", steps)
    raw("SequenceLast", steps, lengths, use_sequence_length=True)
    raw("SequenceLast", normal(2, 3, 2), lengths, use_sequence_length=True, axis=1)
    raw("SequenceReverse", steps)
    raw("SequenceReverse", steps, lengths, use_sequence_length=True)
    raw("batch_take", normal(3, 2), np.array([0, 1, 1], "int32"))
    raw("scatter_nd", normal(2), np.array([[0, 1], [2, 0]], "float32"), shape=(2, 3))
    raw("scatter_nd", normal(2, 3), np.array([[2, 0]], "int32"), shape=(4, 3))
    raw("_ravel_multi_index", np.array([[0, 1], [2, 0]], "float32"), shape=(2, 3))
    raw("_unravel_index", np.array([5, 2], "float32"), shape=(2, 3))


def corners():
    """Axes from the end, bounds at infinity, and norms of another type."""
    op("slice_like", normal(2, 3, 4), normal(1, 2, 3, 5), axes=(-1,))
    op("slice_like", normal(2, 2, 3), normal(1, 2), axes=(-3,))
    op("clip", whole(2, 3, low=-4, dtype="int32"), a_min=-1, a_max=float("inf"))
    op("clip", whole(2, 3, low=-4, dtype="int32"), a_min=float("-inf"), a_max=1)
    # Otherwise MXNet refuses to give another type than it sums up in.
    os.environ["MXNET_SAFE_ACCUMULATION"] = "1"
    op("norm", normal(2, 3, dtype="float16"), out_dtype="float32")
    op("norm", np.full((3,), 300, "float16"), axis=0, out_dtype="float32")
    op("norm", normal(2, 3), ord=1, axis=1, out_dtype="float64")
    del os.environ["MXNET_SAFE_ACCUMULATION"]
