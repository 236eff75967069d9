# SPDX-License-Identifier: Apache-2.0
"""Elements by place, arrays out of nothing, and sparse forms."""

import mxnet as mx
import numpy as np

from .recorder import case, normal, op, raw, whole


def indexing():
    case(mx.sym.Embedding(mx.sym.var("data"), input_dim=4, output_dim=2, name="e"),
         data=np.array([[0, 3], [9, 1.6]], "float32"))
    op("take", normal(3, 2), np.array([[0, 2], [5, -1]], "float32"))
    op("take", normal(3, 2), np.array([-1, 3, 2], "float32"), mode="wrap")
    op("take", normal(2, 3), np.array([2, 0], "int32"), axis=1)
    op("pick", normal(2, 3), np.array([2, 0], "float32"))
    op("pick", normal(2, 3), np.array([1, 0, 7], "float32"), axis=0, keepdims=True)
    op("pick", normal(2, 3), np.array([4, -1], "float32"), mode="wrap")
    op("gather_nd", normal(2, 3), np.array([[0, 1, 1], [2, 0, 1]], "float32"))
    op("gather_nd", normal(2, 3), np.array([[1, 0]], "int32"))
    op("one_hot", np.array([0, 2, 5, -1], "float32"), depth=3)
    op("one_hot", np.array([[1]], "int32"), depth=2, on_value=5, off_value=-1, dtype="int32")
    op("where", whole(2, 3, high=2), normal(2, 3), normal(2, 3))
    op("where", whole(2, high=2), normal(2, 3), normal(2, 3))
    op("SequenceMask", normal(3, 2, 2), np.array([1, 3], "float32"), use_sequence_length=True, value=-1)
    op("SequenceMask", normal(2, 3, 2), np.array([2, 0], "float32"), use_sequence_length=True, axis=1)
    op("SequenceMask", normal(2, 2))


def creation():
    op("_zeros", shape=(2, 3))
    op("_ones", shape=(2,), dtype="int32")
    op("_full", shape=(2, 2), value=1.5)
    op("_arange", start=1, stop=7, step=2)
    op("_arange", start=3, repeat=2, dtype="int32")


def numpy_creation():
    for name in "_npi_zeros", "_npi_ones":
        raw(name, shape=(2, 2), dtype="float32")
    raw("_npi_full_like", normal(2, 2), fill_value=1.5)
    raw("_npi_eye", N=2, M=3, k=1, dtype="float32")
    raw("_eye", N=3, k=-1)
    raw("_npi_identity", shape=(2, 2), dtype="float32")
    raw("_npi_indices", dimensions=(2, 3), dtype="int32")
    raw("_npi_arange", start=1, stop=7, step=2, dtype="float32")
    raw("_npi_arange", start=3, dtype="int32")
    raw("_linspace", start=1, stop=2, num=5)
    raw("_linspace", start=1, stop=2, num=5, endpoint=False)
    raw("_npi_logspace", start=0, stop=2, num=3, base=2, dtype="float32")
    for name in "hanning", "hamming", "blackman":
        raw("_npi_" + name, M=5, dtype="float32")
    raw("_contrib_arange_like", normal(2, 3), start=1, step=2)
    raw("_contrib_arange_like", normal(2, 3), axis=1)
    raw("_contrib_arange_like", normal(2, 3), repeat=2)
    raw("_contrib_index_array", normal(2, 2))
    raw("_contrib_index_array", normal(2, 3), axes=(1,))


def sparse_arrays():
    data = normal(4, 3) * whole(4, 1, high=2)
    for kind in "row_sparse", "csr", "default":
        raw("cast_storage", data, stype=kind)
    rows = mx.sym.cast_storage(mx.sym.var("data"), stype="row_sparse")
    retained = mx.sym.sparse.retain(rows, mx.sym.var("indices"), name="op")
    case(retained, data=normal(4, 3), indices=np.array([3, 1], "float32"))
    for options in {"axis": 1}, {"axis": 1, "keepdims": True}, {"axis": 0}:
        case(mx.sym._internal._square_sum(rows, name="op", **options), data=normal(4, 3))
    weight = mx.sym.cast_storage(mx.sym.var("weight"), stype="row_sparse")
    case(mx.sym.contrib.SparseEmbedding(mx.sym.var("data"), weight, input_dim=4, output_dim=2, name="op"),
         data=whole(2, 3), weight=normal(4, 2))
